# SPDX-License-Identifier: GPL-2.0
"""How accurate the links are in time, and how many packets per second they can handle."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wale_lab.bench import packets, summary
from wale_lab.bench.cases import flood_cases, lateness_cases, rate_error_case
from wale_lab.bench.packets import Case, Measured
from wale_lab.bench.sheets import Sheet
from wale_lab.engines import get_engine
from wale_lab.engines.base import Engine, EngineError, Kernel
from wale_lab.progress import Progress

#: Of the lateness of packets, as packets_guest.py calls them.
PLACES = ["p0", "p50", "p99", "p99.9", "p100", "mean"]


@dataclass(frozen=True)
class Where:
    """A kernel, and what it runs in."""

    engine: Engine
    kernel: Kernel

    @property
    def written(self) -> list[str]:
        """Cells of a row."""
        return [self.engine.name, self.kernel.release]


def find_places(
    asked: Sequence[str] | None, default: Sequence[str], kernel: str | None, progress: Progress
) -> list[Where]:
    """The engines that were asked for; else those of the default that work here."""
    places = []
    for name in asked or default:
        engine = get_engine(name)
        try:
            places.append(Where(engine, engine.prepare(kernel, progress)))
        except EngineError as error:
            if asked:
                raise
            print(f"bench: nothing is timed in {name}: {error}", file=sys.stderr)
    return places


def _place(name: str) -> Callable[[Measured], float]:
    return lambda measured: measured.lateness_ns[name]


def _lateness_of(
    where: Where, case: Case, rounds: int, progress: Progress
) -> Sequence[Sequence[str]]:
    found = packets.measure_rounds(where.engine, where.kernel, case, rounds, progress)
    by_place = [summary.medians(found, _place(name)) for name in PLACES]
    changes = summary.medians(found, lambda measured: measured.changes_per_s)[case.subjects[-1]]
    return [
        [case.name, subject, *where.written, case.time, f"{changes:.0f}"]
        + [f"{values[subject]:.0f}" for values in by_place]
        for subject in case.subjects
    ]


def lateness(places: Sequence[Where], rounds: int, quick: bool, progress: Progress) -> Sheet:
    """When packets came out, compared with an exact link."""
    rows = [
        row
        for where in places
        for case in lateness_cases(quick, where.engine.virtual_time)
        for row in _lateness_of(where, case, rounds, progress)
    ]
    return Sheet(
        "lateness",
        "Lateness of departures",
        "ns from the time at which a packet is to leave an exact link to that at which it left; "
        "medians of the rounds. fq is told each packet's time by the generator. Changes "
        "are those of the qdisc, and as many dumps, while packets are on their way.",
        [
            "case",
            "subject",
            "engine",
            "kernel",
            "time",
            "changes_per_s",
            *(f"{place}_ns" for place in PLACES),
        ],
        rows,
    )


def about_rate_error(case: Case) -> str:
    """A note on the table: how long the link sends, and the share of a packet in that."""
    traffic = case.traffic
    seconds = case.packets * traffic.size * 8 / (traffic.rate_bps * traffic.load)
    packet_ppm = traffic.size * 8e6 / (traffic.rate_bps * seconds)
    return (
        f"What a link that gets more than it can send has sent in {seconds:.1f} virtual seconds, "
        f"in bits of IP; a packet more or less in that time is {packet_ppm:.0f} ppm."
    )


def rate_error(where: Where, progress: Progress) -> Sheet:
    """What an always busy link sent, compared with its rate; virtual time has no other noise."""
    case = rate_error_case()
    (found,) = packets.measure_rounds(where.engine, where.kernel, case, 1, progress)
    rows = []
    for measured in found:
        sent_bps = measured.departed * case.traffic.size * 8e9 / measured.elapsed_ns
        error_ppm = (sent_bps / case.traffic.rate_bps - 1) * 1e6
        cells = [str(case.traffic.rate_bps), f"{sent_bps:.0f}", f"{error_ppm:.1f}"]
        rows.append([case.name, measured.subject, where.kernel.release, *cells])
    return Sheet(
        "rate_error",
        "Long-run error of the rate",
        about_rate_error(case),
        ["case", "subject", "kernel", "rate_bps", "sent_bps", "error_ppm"],
        rows,
    )


def _per_second(measured: Measured) -> float:
    return measured.departed / measured.elapsed_ns * 1e9


def median_ratio(found: Sequence[Sequence[Measured]], subject: str, to: str) -> float:
    """The median over the rounds of how many times as many packets as another's."""
    ratios = []
    for measured in found:
        rates = {m.subject: _per_second(m) for m in measured}
        ratios.append(rates[subject] / rates[to])
    return statistics.median(ratios)


def flood(places: Sequence[Where], rounds: int, quick: bool, progress: Progress) -> Sheet:
    """Packets per second that come out under overload."""
    rows = []
    for where in places:
        for case in flood_cases(quick):
            found = packets.measure_rounds(where.engine, where.kernel, case, rounds, progress)
            for subject, rate in summary.medians(found, _per_second).items():
                ratios = [f"{median_ratio(found, subject, to):.3f}" for to in ("netem", "pfifo")]
                cells = [f"{rate:.0f}", f"{rate * case.traffic.size * 8 / 1e9:.2f}", *ratios]
                rows.append([case.name, subject, *where.written, *cells])
    return Sheet(
        "flood",
        "Highest rate",
        "Packets that come out in a second of real time, generator and device included, through "
        "a link that is faster than the processor; medians of the rounds.",
        [
            "case",
            "subject",
            "engine",
            "kernel",
            "packets_per_s",
            "gbit_per_s",
            "ratio_to_netem",
            "ratio_to_pfifo",
        ],
        rows,
    )
