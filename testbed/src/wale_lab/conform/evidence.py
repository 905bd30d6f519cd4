# SPDX-License-Identifier: GPL-2.0
"""What the guest observed in one experiment, and the result of a check."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from wale_lab.conform.experiments import Experiment
from wale_lab.conform.template import Asked


@dataclass(frozen=True)
class Tolerance:
    """How far a time may be from where it belongs.

    Virtual: the clock has steps of 256 ns, and is read four times at most between the stamps.
    Real: the machine has other work; the median counts, so that what happens to few does not.
    """

    late_ns: int
    share: float  # of the departures that keep to late_ns
    rate: float  # of a rate over a second and more
    exact: bool  # everything comes when it should

    @classmethod
    def of(cls, virtual: bool) -> Tolerance:
        """That of virtual or of real time."""
        return cls(1024, 1.0, 1e-5, True) if virtual else cls(2_000_000, 0.5, 1e-3, False)


@dataclass(frozen=True)
class Figure:
    """A number with its unit; or, without a value, why there is none."""

    name: str
    value: float | None
    unit: str = ""


@dataclass
class Finding:
    """Figures, and which expectations hold."""

    figures: list[Figure] = field(default_factory=list)
    holds: dict[str, bool] = field(default_factory=dict)

    def add(self, name: str, value: float, unit: str = "") -> None:
        """One more figure."""
        self.figures.append(Figure(name, value, unit))


class Unmeasurable(Exception):
    """Too little came out, or too late, to say anything."""


@dataclass(frozen=True)
class Departure:
    """A frame that came out."""

    time_ns: int
    number: int
    segment: int
    size: int  # bytes of IP
    damaged: bool
    marked: bool = False
    unseen: bool = False  # damaged, and its checksums are right


class Evidence:
    """An experiment and its observations."""

    def __init__(self, experiment: Experiment, found: dict[str, Any], asked: Asked) -> None:
        self.experiment = experiment
        self.delay_ns = int(asked.get("delay", 0))
        self.refused: str | None = found.get("refused")
        if self.refused is None:
            self.told: set[int] = set(found["told"])
            self.changes: list[tuple[int, int]] = [(a, b) for a, b in found["changes"]]
            self.shown: list[dict[str, Any]] = found["shown"]
            self.departures = [
                Departure(when, number, segment, size, *map(bool, flags))
                for when, number, segment, size, *flags in found["left"]
            ]
            self.arrivals: list[int] = found["arrivals"]
            #: How late plain timers were meanwhile, in real time.
            self.timers_ns: list[int] = found.get("timers_ns", [])

    @cached_property
    def first(self) -> dict[int, Departure]:
        """The first departure of each packet that came out whole."""
        result: dict[int, Departure] = {}
        for departure in self.departures:
            if not departure.damaged:
                result.setdefault(departure.number, departure)
        return result

    @cached_property
    def lost(self) -> list[bool]:
        """Of each packet, whether it never came out."""
        return [number not in self.first for number in range(len(self.arrivals))]

    @property
    def delays_ns(self) -> list[int]:
        """From arrival to departure, of those that came out."""
        return [one.time_ns - self.arrivals[number] for number, one in self.first.items()]

    @property
    def overtaken(self) -> int:
        """How many came out after one that was sent later."""
        count, last = 0, -1
        for number in self.first:
            count += number < last
            last = max(last, number)
        return count

    def held(self) -> Iterator[tuple[int, int]]:
        """Of each packet its number, and how many were inside when it came."""
        inside: list[int] = []
        for number, arrival_ns in enumerate(self.arrivals):
            del inside[: bisect_right(inside, arrival_ns)]
            yield number, len(inside)
            if number in self.first:
                insort(inside, self.first[number].time_ns)
