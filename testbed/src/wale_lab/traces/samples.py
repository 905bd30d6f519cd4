# SPDX-License-Identifier: GPL-2.0
"""Measurements at times, turned into steps.

What was measured holds until the next measurement, and the last as long as is usual.  Rows of
the same time share the time until the next one.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from wale_lab.errors import ScenarioError
from wale_lab.trace_format.step import Step, show_time

#: A first time from here on, 11 days, is rather one of a clock.
CLOCK_NS = 10**15

#: A pause of so many usual ones is one in which nothing was measured.
GAP = 10

GAPS = ("refuse", "hold", "down")


class Sample(NamedTuple):
    """One measurement: its line, its time, and values as a step has them."""

    line: int
    time_ns: int
    values: Step  # its duration is that of nothing
    missing: str | None = None  # a value that the row has not


@dataclass(frozen=True)
class How:
    """What the user wants of times."""

    from_start: bool = False
    gaps: str = "refuse"
    interval_ns: int | None = None  # of measurements without a time, and of the only one


def steps_of(name: str, samples: list[Sample], how: How) -> Iterator[Step]:
    """The steps of measurements, in order of time."""
    if not samples:
        raise ScenarioError(f"{name}: there are no measurements in it")
    groups = _groups(name, samples)
    usual = _usual(name, groups, how)
    _check_start(name, samples[0], usual, how)
    held: Step | None = None
    for group, after in zip(groups, [*groups[1:], None], strict=True):
        time = group[0].time_ns
        length = after[0].time_ns - time if after else usual
        gap = after is not None and length > GAP * usual
        if gap and how.gaps == "refuse":
            raise ScenarioError(
                f"{name}:{after[0].line if after else 0}: {show_time(length)} after the row "
                f"before, where {show_time(usual)} is usual: --gaps hold keeps the values, "
                "--gaps down makes it an outage"
            )
        cut = usual if gap and how.gaps == "down" else length
        for number, sample in enumerate(group):
            held = _values(name, sample, held, how)
            share = cut * (number + 1) // len(group) - cut * number // len(group)
            yield held._replace(duration_ns=share)
        if cut < length:
            yield Step(length - cut, down=True)


def _values(name: str, sample: Sample, held: Step | None, how: How) -> Step:
    """What holds from a measurement on; a value that is missing may be that of before."""
    if sample.missing is None:
        return sample.values
    where = f"{name}:{sample.line}: no value of {sample.missing}"
    if how.gaps == "down":
        return Step(0, down=True)
    if how.gaps != "hold":
        raise ScenarioError(
            f"{where}: --gaps hold keeps the one before, --gaps down makes it an outage"
        )
    if held is None:
        raise ScenarioError(
            f"{where}, and no row before it has one: remove the row, or choose columns with --only"
        )
    found = [
        old if new is None else new for new, old in zip(sample.values[1:5], held[1:5], strict=True)
    ]
    return Step(0, *found)  # type: ignore[arg-type]


def _groups(name: str, samples: list[Sample]) -> list[list[Sample]]:
    """Measurements of the same time together; times must not fall."""
    groups: list[list[Sample]] = []
    for sample in samples:
        if groups and sample.time_ns < groups[-1][0].time_ns:
            raise ScenarioError(
                f"{name}:{sample.line}: expected times that do not fall, and "
                f"{show_time(sample.time_ns)} comes after {show_time(groups[-1][0].time_ns)}: "
                "sort the rows by their time"
            )
        if groups and sample.time_ns == groups[-1][0].time_ns:
            groups[-1].append(sample)
        else:
            groups.append([sample])
    return groups


def _usual(name: str, groups: list[list[Sample]], how: How) -> int:
    """The usual time between measurements."""
    times = [group[0].time_ns for group in groups]
    if len(times) > 1:
        pauses = [after - time for time, after in pairwise(times)]
        return statistics.median_low(pauses)
    if how.interval_ns is None:
        raise ScenarioError(
            f"{name}: all rows have the same time, so that it is not known how long they hold: "
            "give --interval"
        )
    return how.interval_ns


def _check_start(name: str, first: Sample, usual: int, how: How) -> None:
    """Refuse times of a clock, and a trace whose beginning is missing, unless it is to be shifted.

    A first time up to a usual pause is shifted: such rows have the end of each interval.
    """
    if how.from_start or 0 <= first.time_ns <= usual:
        return
    what = f"{name}:{first.line}: expected times from the start of the trace, and the first one is"
    if first.time_ns >= CLOCK_NS:
        raise ScenarioError(
            f"{what} {first.time_ns / 1e9:.15g} s, which looks like a time of day: "
            "--from-start subtracts it from each"
        )
    raise ScenarioError(f"{what} {first.time_ns / 1e9:.15g} s: --from-start subtracts it from each")
