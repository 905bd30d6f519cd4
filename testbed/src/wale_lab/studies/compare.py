# SPDX-License-Identifier: GPL-2.0
"""Published, measured and computed numbers side by side: deviations, and how numbers are written.

Deviations are of the measured (or computed) value from the published one, in percent of the
published one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from wale_lab.studies.results import Point, Study

#: Cells that deviate by more than this are marked, and must have a reason.
BAND_PERCENT = 5.0

#: A cell whose authors print one number agrees if it deviates by no more than this.
CELL_PERCENT = 10.0

#: What authors measured, against which cells are held before what they computed.
_MEASURED_KINDS = ("simulation", "experiment")

MINUS = "\N{MINUS SIGN}"
NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"


def deviation(value: float | None, published: float | None) -> float | None:
    """Deviation of a value from the published one in percent; None if it has no meaning."""
    if value is None or not published:
        return None
    return (value - published) / abs(published) * 100


def measured_deviation(point: Point) -> float | None:
    """Of the measured value, in percent."""
    return deviation(point.measured, point.published)


def model_deviation(point: Point) -> float | None:
    """Of the computed value, in percent."""
    return deviation(point.model, point.published)


def beyond(percent: float | None) -> bool:
    """Whether a deviation must be marked."""
    return percent is not None and abs(percent) > BAND_PERCENT


def unexplained(point: Point) -> bool:
    """Whether the measured value needs a reason, and none is given."""
    return beyond(measured_deviation(point)) and not point.note


def places(values: Iterable[float | None]) -> int:
    """Digits after the point that give the median of some values four significant ones."""
    sizes = sorted(abs(v) for v in values if v)
    if not sizes:
        return 0
    return min(max(3 - math.floor(math.log10(sizes[len(sizes) // 2])), 0), 6)


def unit_places(points: Iterable[Point]) -> dict[str, int]:
    """Digits after the point for the values of each unit."""
    values: dict[str, list[float | None]] = {}
    for point in points:
        values.setdefault(point.unit, []).extend([point.published, point.measured, point.model])
    return {unit: places(found) for unit, found in values.items()}


def number(value: float, digits: int) -> str:
    """Write a number with so many digits after the point; a small one with two significant ones."""
    small = value and abs(value) < 10.0 ** (1 - digits)
    text = f"{value:.2g}" if small else _fixed(value, digits)
    return text.replace("-", MINUS)


def _fixed(value: float, digits: int) -> str:
    """So many digits after the point, and thousands apart from 10 000 on."""
    grouping = "," if abs(value) >= 10_000 else ""
    return f"{value:{grouping}.{digits}f}".replace(",", NARROW_SPACE)


def interval(ci95: float, digits: int) -> str:
    """Write half of the width of an interval, as digits of the value that it belongs to."""
    smallest = 10.0**-digits
    if 0 < ci95 < smallest / 2:
        return f"<{smallest:.{digits}f}"
    return _fixed(ci95, digits)


def percentage(percent: float) -> str:
    """Write a deviation, with its sign."""
    text = f"{percent:+.1f}"
    return text.replace("-", MINUS) if float(text) else "0.0"


@dataclass(frozen=True)
class Agreement:
    """How close a study comes to one kind of published values."""

    kind: str
    compared: int
    mean_percent: float
    """mean of the absolute deviations of measured values"""
    worst: Point
    """the measured value that deviates most"""
    worst_percent: float
    beyond: int
    """how many deviate by more than BAND_PERCENT"""
    unexplained: int
    """how many of these have no reason"""
    model_percent: float | None
    """mean of the absolute deviations of computed values; None if nothing was computed"""


def mean_absolute(deviations: Iterable[float | None]) -> float | None:
    """Mean of the absolute values of those that are there."""
    sizes = [abs(d) for d in deviations if d is not None]
    return sum(sizes) / len(sizes) if sizes else None


def cells(study: Study) -> dict[tuple[str, str], list[Point]]:
    """The points of each cell: a row at an x."""
    found: dict[tuple[str, str], list[Point]] = {}
    for point in study.points:
        found.setdefault((point.row, point.x), []).append(point)
    return found


def _authors_measured(points: Iterable[Point]) -> Point | None:
    """The point of a cell that has what its authors measured, if they print it."""
    by_kind = {point.kind: point for point in points if point.published}
    return next((by_kind[kind] for kind in _MEASURED_KINDS if kind in by_kind), None)


def authors_deviation(points: Iterable[Point]) -> float | None:
    """Of a cell's published analysis from what its authors measured, in percent."""
    points = list(points)
    measured = _authors_measured(points)
    analysis = next((point.published for point in points if point.kind == "analysis"), None)
    return deviation(analysis, measured.published) if measured else None


def cell_agrees(points: Iterable[Point]) -> bool | None:
    """Whether a cell agrees with the published value; None if nothing can be compared.

    It may deviate by 10 %, or as much as the authors' analysis deviates from their own simulation
    or experiment if that is more.  It is held against what they measured, where they print it.
    """
    points = list(points)
    point = _authors_measured(points) or next((p for p in points if p.published), None)
    found = measured_deviation(point) if point else None
    if found is None:
        return None
    return abs(found) <= max(CELL_PERCENT, abs(authors_deviation(points) or 0))


def cells_that_agree(study: Study) -> tuple[int, int]:
    """How many cells (a row at an x) agree with published values, out of how many."""
    answers = [cell_agrees(points) for points in cells(study).values()]
    found = [agrees for agrees in answers if agrees is not None]
    return sum(found), len(found)


def agreement(study: Study, kind: str) -> Agreement | None:
    """Compare with one kind of published values; None if nothing of it was measured."""
    points = [p for p in study.points if p.kind == kind]
    measured = [(p, d) for p in points if (d := measured_deviation(p)) is not None]
    if not measured:
        return None
    worst, percent = max(measured, key=lambda pair: abs(pair[1]))
    return Agreement(
        kind=kind,
        compared=len(measured),
        mean_percent=sum(abs(d) for _, d in measured) / len(measured),
        worst=worst,
        worst_percent=percent,
        beyond=sum(beyond(d) for _, d in measured),
        unexplained=sum(unexplained(p) for p in points),
        model_percent=mean_absolute(model_deviation(p) for p in points),
    )


def agreements(study: Study) -> list[Agreement]:
    """For each kind of published values of which something was measured."""
    return [found for kind in study.kinds if (found := agreement(study, kind))]
