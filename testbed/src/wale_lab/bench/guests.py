# SPDX-License-Identifier: GPL-2.0
"""`make bench-guests`: what an experiment costs in several guests, and on several machines.

    python -m wale_lab.bench.guests [--quick]

The same chain of links is cut into more and more guests, with windows of several lengths and with
one flow and many.  The table for the documentation has what each run took, and what a model
predicts that is fitted to all of them: a price for each guest, each window of a guest, each packet
on a link, and each packet that goes to another guest.  Windows are counted as if none was longer
than the delay of a link, which is the most that there are.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
from scipy.optimize import nnls

from wale_lab.bench.acks import cpu_s
from wale_lab.bench.sheets import rst_table
from wale_lab.engines.base import EngineError
from wale_lab.engines.machines import Fleet, parse_hosts
from wale_lab.results.result import problems
from wale_lab.runner import run_scenario
from wale_lab.scenario import Scenario, load_scenario

SCENARIO = Path(__file__).with_suffix(".yaml")
LINKS = 7
#: Of each case, the run that took the least processor time counts.
REPEATS = 3


@dataclass(frozen=True)
class Case:
    """How the chain is cut, and what crosses it."""

    guests: int
    delay_us: int  # of each link, and so the length of windows
    flows: int = 1
    machines: int = 1

    def scenario(self) -> Scenario:
        """It, with the same bytes whatever the number of flows."""
        settings = [f"topology.links.{n}.both.delay={self.delay_us}us" for n in range(LINKS)]
        settings.append(f"guests={self.guests}")
        if self.flows > 1:
            mean = 50_000 // self.flows
            arrivals = f"{{rate: 1e6, sessions: {self.flows}, mean: {mean}kB}}"
            settings += ["flows.transfer.size=null", f"flows.transfer.arrivals={arrivals}"]
        return load_scenario(SCENARIO, settings)


CASES = [
    *(Case(guests, delay) for delay in (100, 1000, 10_000) for guests in (1, 2, 4, 8)),
    *(Case(guests, 1000, flows=100) for guests in (1, 2, 4, 8)),
    *(Case(2, delay, machines=2) for delay in (100, 1000, 10_000)),
]
QUICK_CASES = [Case(1, 1000), Case(2, 1000), Case(2, 1000, machines=2)]


@dataclass(frozen=True)
class Run:
    """What a case took, and how much there was to do."""

    case: Case
    wall_s: float
    cpu_s: float
    virtual_s: float
    packets: int  # on all links
    crossed: int  # of these, those that went to another guest

    @property
    def work(self) -> list[float]:
        """What the model has a price for: PRICES."""
        windows = self.virtual_s * 1e6 / self.case.delay_us if self.case.guests > 1 else 0
        machines = self.case.machines if self.case.machines > 1 else 0
        of_guests = [self.case.guests, windows * self.case.guests, self.packets, self.crossed]
        return [*of_guests, machines, windows * machines]


PRICES = [
    "guest",
    "window of a guest",
    "packet on a link",
    "packet to another guest",
    "machine",
    "window of a machine",
]


def _run(case: Case) -> Run:
    fleet = Fleet(parse_hosts(",".join(["local"] * case.machines))) if case.machines > 1 else None
    with tempfile.TemporaryDirectory(prefix="wale-bench-") as folder:
        before = cpu_s()
        result = run_scenario(case.scenario(), 1, Path(folder), fleet=fleet)
        used_s = cpu_s() - before
    if trouble := problems(result):
        raise EngineError(trouble[0])
    guest_of = {ns: n for n, part in enumerate(result.get("cut", [])) for ns in part}
    packets = [(link["name"], link["offered_packets"]) for link in result["links"]]
    crossed = sum(count for name, count in packets if _parted(name, guest_of))
    total = sum(count for _, count in packets)
    return Run(case, result["wall_s"], used_s, result["virtual_s"], total, crossed)


def _parted(link: str, guest_of: dict[str, int]) -> bool:
    """Are the ends of a link, of which its name is made, in two guests?"""
    ends = link.partition(".")[0].split("-")
    return len({guest_of.get(end) for end in ends}) > 1


def _least(case: Case) -> Run:
    return min((_run(case) for _ in range(REPEATS)), key=lambda run: run.cpu_s)


def prices(runs: Sequence[Run]) -> list[float]:
    """Of PRICES, in seconds of processor time: those whose relative errors are the least."""
    work = numpy.array([[part / run.cpu_s for part in run.work] for run in runs])
    return [float(price) for price in nnls(work, numpy.ones(len(runs)))[0]]


def predicted_s(run: Run, of: Sequence[float]) -> float:
    """The processor time of a run, by the model."""
    return sum(part * price for part, price in zip(run.work, of, strict=True))


HEADS = "Guests,Machines,Windows us,Flows,Packets,Crossed,Virtual s,Wall s,Processor s,Model s"


def table(runs: Sequence[Run]) -> str:
    """What was found, and the prices, in reStructuredText."""
    found = prices(runs)
    lines = [HEADS.split(",")]
    for run in runs:
        case = run.case
        counts = (case.guests, case.machines, case.delay_us, case.flows, run.packets, run.crossed)
        times = (run.virtual_s, run.wall_s, run.cpu_s, predicted_s(run, found))
        lines.append([*map(str, counts), *(f"{time:.2f}" for time in times)])
    listed = (
        f"{1e6 * one:.2f} us for each {name}" for name, one in zip(PRICES, found, strict=True)
    )
    return f"{rst_table(lines)}\n\nThe model: {', '.join(listed)}."


def main(words: Sequence[str]) -> int:
    """The command."""
    runs = []
    for case in QUICK_CASES if "--quick" in words else CASES:
        print(f"bench: {case}", file=sys.stderr, flush=True)
        runs.append(_least(case))
    print(table(runs))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
