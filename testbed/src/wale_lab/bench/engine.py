# SPDX-License-Identifier: GPL-2.0
"""How fast the engine is: virtual seconds and packets for each second of wall time."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from wale_lab.bench.acks import cpu_s
from wale_lab.bench.sheets import Sheet
from wale_lab.engines.base import Engine, EngineError, Job, Kernel
from wale_lab.progress import Progress
from wale_lab.results.result import problems
from wale_lab.runner import run_scenario
from wale_lab.scenario import load_scenario

SCENARIO = Path(__file__).with_name("engine.yaml")


@dataclass(frozen=True)
class Case:
    """A link, and what crosses it."""

    mbit: int
    sessions: int
    kilobytes: int  # of all sessions together
    batch: str = ""  # of the flow, or the default


RUNS = [
    Case(10, 1, 25_000),
    Case(100, 1, 100_000),
    Case(1000, 1, 400_000),
    Case(1000, 100, 100_000),
    Case(1000, 100, 100_000, "1MB"),
    Case(1000, 10_000, 100_000),
    Case(1000, 10_000, 100_000, "1MB"),
]
QUICK_RUNS = [Case(100, 1, 25_000)]

#: Next to nothing: what it takes to make the hosts and to write down what happened.
NOTHING = Case(1000, 1, 1)


#: Of each run, that of the least processor time counts.
REPEATS = 3


@dataclass(frozen=True)
class Run:
    """What one guest took."""

    wall_s: float
    cpu_s: float
    packets: int = 0
    virtual_s: float = 0.0


def _boot(engine: Engine, kernel: Kernel) -> Run:
    """A guest that does nothing."""
    before = cpu_s()
    outcome = engine.run(kernel, Job(argv=["/bin/true"], wall_limit_s=60))
    if outcome.reason != "ok":
        raise EngineError(f"the guest {outcome.describe()}\n{outcome.tail()}")
    return Run(outcome.wall_s, cpu_s() - before)


def _settings(case: Case) -> list[str]:
    settings = [f"bottleneck.forward.rate={case.mbit}mbit"]
    if case.batch:
        settings.append(f"flows.transfer.batch={case.batch}")
    if case.sessions == 1:
        return [*settings, f"flows.transfer.size={case.kilobytes}kB"]
    mean = case.kilobytes // case.sessions
    arrivals = f"{{rate: 1e6, sessions: {case.sessions}, mean: {mean}kB}}"
    return [*settings, "flows.transfer.size=null", f"flows.transfer.arrivals={arrivals}"]


def _run(kernel_version: str | None, case: Case) -> Run:
    with tempfile.TemporaryDirectory(prefix="wale-bench-") as folder:
        scenario = load_scenario(SCENARIO, _settings(case))
        before = cpu_s()
        result = run_scenario(scenario, 1, Path(folder), kernel_version=kernel_version)
        used_s = cpu_s() - before
    if problems(result):
        raise RuntimeError("; ".join(problems(result)))
    forward = next(link for link in result["links"] if link["name"].endswith("forward"))
    return Run(result["wall_s"], used_s, forward["offered_packets"], result["virtual_s"])


def _least(kernel_version: str | None, case: Case) -> Run:
    """What it takes at least: what else the machine does only adds to it."""
    runs = (_run(kernel_version, case) for _ in range(REPEATS))
    return min(runs, key=lambda found: found.cpu_s)


def _row(case: Case, found: Run, nothing: Run) -> list[str]:
    row = ["transfer", str(case.mbit), str(case.sessions), case.batch]
    row += [str(found.packets), f"{found.virtual_s:.3f}"]
    busy_s = max(found.cpu_s - nothing.cpu_s, 1e-9)
    rates = [f"{found.virtual_s / busy_s:.2f}", f"{found.packets / busy_s:.0f}"]
    return [*row, f"{found.wall_s:.3f}", f"{found.cpu_s:.3f}", *rates]


def measure(
    engine: Engine, kernel: Kernel, version: str | None, quick: bool, progress: Progress
) -> Sheet:
    """Run links of several rates, with one session and with many."""
    progress("engine: boot")
    boot = min((_boot(engine, kernel) for _ in range(5)), key=lambda run: run.wall_s)
    nothing = _least(version, NOTHING)
    rows = [
        [name, "", "", "", "", "", f"{run.wall_s:.3f}", f"{run.cpu_s:.3f}", "", ""]
        for name, run in (("boot", boot), ("nothing", nothing))
    ]
    for case in QUICK_RUNS if quick else RUNS:
        progress(f"engine: {case.mbit} Mbit/s, sessions: {case.sessions}")
        rows.append(_row(case, _least(version, case), nothing))
    return Sheet(
        "engine",
        "Speed of the engine",
        "A guest that does nothing, a scenario with next to nothing to transfer, and scenarios in "
        "which TCP sessions fill a link, in virtual time. Packets are those of data. A guest keeps "
        "one processor busy: where it has one for itself, wall time is processor time. Virtual "
        "seconds and packets are for each second of processor time beyond that of nothing. Of "
        f"{REPEATS} runs each, the one that took the least.",
        "run,mbit_per_s,sessions,batch,packets,virtual_s,wall_s,cpu_s,virtual_s_per_cpu_s,"
        "packets_per_cpu_s".split(","),
        rows,
    )
