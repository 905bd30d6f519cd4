# SPDX-License-Identifier: GPL-2.0
"""`make bench-programs`: wall time against virtual time, for scenarios of real programs.

    python -m wale_lab.bench.programs [SCENARIO...]

Prints a table for the documentation.  A busy machine makes wall time longer, and processor time
hardly: both are there.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from wale_lab.bench.sheets import rst_table
from wale_lab.engines import get_engine
from wale_lab.engines.base import EngineError
from wale_lab.errors import ScenarioError
from wale_lab.progress import Progress
from wale_lab.results.result import problems
from wale_lab.runner import run_scenario, start
from wale_lab.scenario import find_scenario, load_scenario

#: Those of real programs in virtual time, and what is changed in them.
SCENARIOS: dict[str, tuple[str, ...]] = {
    "quic-aioquic": (),
    "quic-go": (),
    "quic-quinn": (),
    "quic-quiche": (),
    "nginx": (),
    "dns": (),
    "rtp": (),
    "iperf3": ("flows.iperf3.duration=30s", "bottleneck.forward.rate=10mbit"),
}


@dataclass
class Speed:
    """What a run took, s."""

    name: str
    virtual_s: float
    wall_s: float
    processor_s: float

    @property
    def cells(self) -> list[str]:
        """The line of the table."""
        times = [f"{self.virtual_s / taken:.1f}" for taken in (self.wall_s, self.processor_s)]
        taken = [f"{value:.1f}" for value in (self.virtual_s, self.wall_s, self.processor_s)]
        return [f"``{self.name}``", *taken, *times]


HEADS = ["Scenario", "Virtual s", "Wall s", "Processor s", "Virtual / wall", "Virtual / processor"]


def _processor_s() -> float:
    """That of processes that have ended: a guest, and what ran in it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(name: str) -> Speed:
    """Run a scenario; EngineError if it fails."""
    scenario = load_scenario(find_scenario(name), list(SCENARIOS.get(name, ())))
    start(scenario, get_engine("uml"), None, Progress(quiet=True))  # what is built does not count
    with tempfile.TemporaryDirectory() as out:
        before = _processor_s()
        result = run_scenario(scenario, 1, Path(out))
        used = _processor_s() - before
    if failed := problems(result):
        raise EngineError(failed[0])
    return Speed(name, result["virtual_s"], result["wall_s"], used)


def table(speeds: list[Speed]) -> str:
    """In reStructuredText."""
    return rst_table([HEADS, *(speed.cells for speed in speeds)])


def main(names: list[str]) -> int:
    """The command."""
    speeds, failed = [], False
    for name in names or SCENARIOS:
        try:
            speeds.append(measure(name))
        except (EngineError, ScenarioError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
    print(table(speeds))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
