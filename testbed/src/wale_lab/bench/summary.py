# SPDX-License-Identifier: GPL-2.0
"""From rounds to rows: medians, and ratios of the same round with their middle half."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wale_lab.bench.packets import BASELINE, Case, Measured
from wale_lab.bench.qdiscs import holds_packets
from wale_lab.bench.sheets import Sheet, number

#: What the others are compared with.
REFERENCE = "netem"

COLUMNS = (
    "case,subject,kernel,packets_in_line,ns_per_packet,instructions_per_packet,"
    "ratio_to_netem,low,high"
).split(",")

ABOUT = (
    "Processor time, or instructions, that a qdisc adds for each packet on the wire, timers and "
    "softirqs included; of none: what the packets cost without a qdisc, which is taken off the "
    "others. Ratios are of the same round: their median, low and high are the ends of the middle "
    "half of the rounds. Instructions are those of a stock kernel in QEMU, counted once."
)


@dataclass(frozen=True)
class Row:
    """A line of summary.csv."""

    case: str
    subject: str
    kernel: str
    packets_in_line: int
    ns_per_packet: float | None  # without what the generator takes; of "none": that
    instructions_per_packet: float | None
    ratios: Sequence[float]  # to netem, of each round

    @property
    def ratio(self) -> float | None:
        """The median."""
        return statistics.median(self.ratios) if self.ratios else None

    @property
    def written(self) -> list[str]:
        """As text, for the file."""
        several = len(self.ratios) > 1
        ends = [quantile(self.ratios, share) if several else None for share in (1 / 4, 3 / 4)]
        return [
            self.case,
            self.subject,
            self.kernel,
            str(self.packets_in_line),
            number(self.ns_per_packet, ".1f"),
            number(self.instructions_per_packet, ".0f"),
            *(number(value, ".3f") for value in (self.ratio, *ends)),
        ]


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share of all values lies, the next one of them."""
    ordered = sorted(values)
    return ordered[round(share * (len(ordered) - 1))]


def _net(measured: Sequence[Measured]) -> dict[str, float]:
    """Of a round, what each subject added for a packet; of the baseline, what it took."""
    taken = {found.subject: found.per_packet for found in measured if not found.failed}
    base = taken[BASELINE]
    return {name: cost - (base if name != BASELINE else 0) for name, cost in taken.items()}


def rows(
    case: Case, kernel: str, rounds: Sequence[Sequence[Measured]], instructions: bool = False
) -> list[Row]:
    """The lines of one case; where instructions were counted, they are the cost."""
    costs = [_net(measured) for measured in rounds]
    found = []
    for subject in case.subjects:
        of_subject = [c for c in costs if subject in c]
        cost = statistics.median(c[subject] for c in of_subject) if of_subject else None
        ratios = [c[subject] / c[REFERENCE] for c in of_subject if c.get(REFERENCE, 0) > 0]
        found.append(
            Row(
                case.name,
                subject,
                kernel,
                case.traffic.packets_in_line if holds_packets(subject) else 0,
                None if instructions else cost,
                cost if instructions else None,
                ratios if subject != BASELINE else (),
            )
        )
    return found


def sheet(found: Sequence[Row]) -> Sheet:
    """summary.csv."""
    title = "Cost of a packet, by qdisc"
    return Sheet("summary", title, ABOUT, COLUMNS, [row.written for row in found])


def medians(
    rounds: Sequence[Sequence[Measured]], value: Callable[[Measured], float]
) -> dict[str, float]:
    """The median of a value over the rounds, by subject."""
    subjects = [found.subject for found in rounds[0]]
    return {
        name: statistics.median(
            value(m) for measured in rounds for m in measured if m.subject == name
        )
        for name in subjects
    }
