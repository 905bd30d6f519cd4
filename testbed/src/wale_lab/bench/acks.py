# SPDX-License-Identifier: GPL-2.0
"""The cost of an ACK: processor time of a guest that sends a file, by congestion control.

In virtual time a guest never waits: the processor time of its process on the host is the
computation of its kernel.  The same transfer is run with each congestion control in turn, in
several rounds; the cost of a guest without a transfer is also measured in each round, and
subtracted.  Ratios are within a round, so that a temporarily slower machine affects both.
"""

from __future__ import annotations

import resource
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wale_lab.bench.sheets import Sheet
from wale_lab.bench.summary import quantile
from wale_lab.progress import Progress
from wale_lab.results.result import problems
from wale_lab.runner import run_scenario
from wale_lab.scenario import Scenario, load_scenario

SCENARIO = Path(__file__).with_name("acks.yaml")

#: A transfer with next to no ACKs.
NOTHING = "1kB"


@dataclass
class Cost:
    """What one congestion control was measured to cost in one round."""

    cc: str
    acks: int
    cpu_ns: float  # of the whole guest, without what it costs to start and end one

    @property
    def per_ack_ns(self) -> float:
        return self.cpu_ns / self.acks


def cpu_s() -> float:
    """Processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(scenario: Scenario, kernel: str | None) -> tuple[float, int]:
    """Processor time of a run, s, and how many packets came back."""
    with tempfile.TemporaryDirectory(prefix="wale-bench-") as folder:
        before = cpu_s()
        result = run_scenario(scenario, 1, Path(folder), kernel_version=kernel)
        used = cpu_s() - before
    if problems(result):
        raise RuntimeError("; ".join(problems(result)))
    reverse = next(link for link in result["links"] if link["name"] == "reverse")
    return used, reverse["offered_packets"]


def measure(
    controls: list[str], size: str, rounds: int, kernel: str | None, progress: Progress
) -> list[list[Cost]]:
    """The costs of each congestion control, round by round."""

    def scenario(cc: str, size: str) -> Scenario:
        return load_scenario(SCENARIO, [f"flows.transfer.cc={cc}", f"flows.transfer.size={size}"])

    _run(scenario(controls[0], NOTHING), kernel)  # builds what is to be built
    result = []
    for number in range(rounds):
        progress(f"ACKs: round {number + 1} of {rounds}")
        # what a guest costs without a transfer: the least of two, it cannot be less than it is
        empty = min(_run(scenario(controls[0], NOTHING), kernel)[0] for _ in range(2))
        costs = {}
        first = number % len(controls)  # another one each time: order must not matter
        for cc in [*controls[first:], *controls[:first]]:
            used, acks = _run(scenario(cc, size), kernel)
            costs[cc] = Cost(cc, acks, (used - empty) * 1e9)
        result.append([costs[cc] for cc in controls])
    return result


def summary(rounds: list[list[Cost]]) -> list[dict[str, float | str]]:
    """Medians; and the ratio to the first congestion control, with the middle half of it."""
    rows: list[dict[str, float | str]] = []
    for index, first in enumerate(rounds[0]):
        costs = [costs[index] for costs in rounds]
        ratios = [costs[index].per_ack_ns / costs[0].per_ack_ns for costs in rounds]
        rows.append(
            {
                "cc": first.cc,
                "acks": first.acks,
                "per_ack_ns": statistics.median(c.per_ack_ns for c in costs),
                "ratio": statistics.median(ratios),
                "ratio_from": quantile(ratios, 1 / 4),
                "ratio_to": quantile(ratios, 3 / 4),
            }
        )
    return rows


def sheet(rows: list[dict[str, Any]]) -> Sheet:
    """acks.csv; ratios are to the first congestion control."""
    first = rows[0]["cc"]
    return Sheet(
        "acks",
        "Cost of an acknowledgment, by congestion control",
        "Processor time of a guest that sends a file over a full link, for each acknowledgment: "
        "sender, link and receiver. Ratios are of the same round: their median, low and high "
        "are the ends of the middle half of the rounds.",
        ["control", "acks", "ns_per_ack", f"ratio_to_{first}", "low", "high"],
        [
            [
                row["cc"],
                str(row["acks"]),
                f"{row['per_ack_ns']:.0f}",
                *(f"{row[key]:.3f}" for key in ("ratio", "ratio_from", "ratio_to")),
            ]
            for row in rows
        ],
    )
