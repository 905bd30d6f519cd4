# SPDX-License-Identifier: GPL-2.0
"""The tables of the page: a matrix of rows and x for each kind of published values, and a list.

Everything is text here; the template only places it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from wale_lab.studies.compare import (
    beyond,
    interval,
    mean_absolute,
    measured_deviation,
    model_deviation,
    number,
    percentage,
    unexplained,
    unit_places,
)
from wale_lab.studies.results import Point, Study

#: With more values of x than this, there is only the list.
MATRIX_COLUMNS = 12
NO_REASON = "No reason is recorded."


@dataclass(frozen=True)
class Cell:
    """A number as it is shown, or a gap."""

    text: str = ""
    mark: str = ""
    """above or below, for a deviation beyond the band"""
    note: str = ""
    """letter of its footnote"""


GAP = Cell()


@dataclass(frozen=True)
class Numbers:
    """One line of a matrix: a kind of number, for all x."""

    name: str
    kind: str
    """for the style sheet"""
    cells: list[Cell]
    mean: str = ""
    """of absolute deviations"""


@dataclass(frozen=True)
class MatrixRow:
    """A row of the published table, with its lines of numbers."""

    label: str
    remark: str
    """its kind, and its unit if that is not the study's"""
    lines: list[Numbers]


@dataclass
class Matrix:
    """Rows times x, with one kind of published values; kind None is for rows without any."""

    kind: str | None
    anchor: str
    xs: list[str]
    rows: list[MatrixRow] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    """letters by their text"""


@dataclass(frozen=True)
class Line:
    """A point, written out."""

    label: str
    x: str
    published: str
    kind: str
    measured: str
    interval: str
    """half of the width of its 95 % confidence interval"""
    deviation: Cell
    model: str
    model_deviation: Cell
    unit: str
    note: str
    unexplained: bool


def _deviation_cell(percent: float | None, note: str = "") -> Cell:
    if percent is None:
        return GAP
    mark = ("above" if percent > 0 else "below") if beyond(percent) else ""
    return Cell(text=percentage(percent), mark=mark, note=note)


def _value_cell(value: float | None, digits: int) -> Cell:
    return GAP if value is None else Cell(number(value, digits))


def _interval_cell(point: Point | None, digits: dict[str, int]) -> Cell:
    if point is None or point.measured is None or point.ci95 is None:
        return GAP
    return Cell(interval(point.ci95, digits[point.unit]))


def _letter(n: int) -> str:
    """The n-th name of a footnote: a, b, ... z, aa, ab, ..."""
    head, last = divmod(n, 26)
    return (_letter(head - 1) if head else "") + chr(ord("a") + last)


def _footnote(matrix: Matrix, point: Point) -> str:
    """The letter of a point's note, a new one for a new text."""
    text = NO_REASON if unexplained(point) else point.note
    if not text:
        return ""
    return matrix.notes.setdefault(text, _letter(len(matrix.notes)))


def _deviations(
    points: list[Point | None], notes: list[str], name: str, of: Callable[[Point], float | None]
) -> Numbers:
    percents = [of(p) if p else None for p in points]
    mean = mean_absolute(percents)
    return Numbers(
        name=name,
        kind="deviation",
        cells=[_deviation_cell(d, note) for d, note in zip(percents, notes, strict=True)],
        mean="" if mean is None else f"{mean:.1f}",
    )


def _with_notes(line: Numbers, notes: list[str]) -> Numbers:
    """A line of values with footnotes, for points that have no deviation to put them at."""
    pairs = zip(line.cells, notes, strict=True)
    return replace(line, cells=[replace(cell, note=note) for cell, note in pairs])


def _lines(points: list[Point | None], notes: list[str], digits: dict[str, int]) -> list[Numbers]:
    """A row's lines of numbers, without those that would be empty."""

    def values(name: str, of: Callable[[Point], float | None]) -> Numbers:
        cells = [_value_cell(of(p), digits[p.unit]) if p else GAP for p in points]
        return Numbers(name=name, kind=name, cells=cells)

    deviations = _deviations(points, notes, "deviation, %", measured_deviation)
    elsewhere = [
        "" if cell.text else note for cell, note in zip(deviations.cells, notes, strict=True)
    ]
    lines = [
        values("published", lambda p: p.published),
        values("measured", lambda p: p.measured),
        Numbers("± 95 %", "interval", [_interval_cell(p, digits) for p in points]),
        deviations,
        values("model", lambda p: p.model),
        _deviations(points, [""] * len(points), "its deviation, %", model_deviation),
    ]
    shown = [line for line in lines if any(cell.text for cell in line.cells)]
    return [_with_notes(shown[0], elsewhere), *shown[1:]] if shown else []


def _cells(study: Study, row: str, kind: str | None) -> dict[str, Point]:
    """A row's points by x, with their published values of one kind alone."""
    found: dict[str, Point] = {}
    for point in study.points:
        if point.row == row and (point.kind == kind or point.x not in found):
            other = point.kind != kind and point.published is not None
            found[point.x] = replace(point, published=None, note="") if other else point
    return found


def _matrix_row(study: Study, matrix: Matrix, row: str, digits: dict[str, int]) -> MatrixRow:
    found = _cells(study, row, matrix.kind)
    points = [found.get(x) for x in matrix.xs]
    notes = [_footnote(matrix, p) if p else "" for p in points]
    about = study.about.rows[row]
    other = {p.unit for p in found.values()} - {study.about.y.unit}
    remark = ", ".join(word for word in [about.kind or "", *sorted(other)] if word)
    return MatrixRow(about.label, remark, _lines(points, notes, digits))


def matrices(study: Study) -> list[Matrix]:
    """A matrix for each kind of published values, and one for rows without any."""
    if not 1 < len(study.xs) <= MATRIX_COLUMNS:
        return []
    digits = unit_places(study.points)
    of_kind: dict[str | None, list[str]] = {
        kind: [p.row for p in study.points if p.kind == kind and p.published is not None]
        for kind in study.kinds
    }
    published = {row for rows in of_kind.values() for row in rows}
    of_kind[None] = [row for row in study.rows if row not in published]
    found: list[Matrix] = []
    for kind, members in of_kind.items():
        matrix = Matrix(kind=kind, anchor=f"{study.slug}-{len(found)}", xs=study.xs)
        rows = [row for row in study.rows if row in members]
        matrix.rows = [_matrix_row(study, matrix, row, digits) for row in rows]
        if rows:
            found.append(matrix)
    return found


def long_list(study: Study) -> list[Line]:
    """Every point, in the order of rows, x and kinds."""
    digits = unit_places(study.points)
    rows, xs = study.rows, study.xs
    ordered = sorted(study.points, key=lambda p: (rows.index(p.row), xs.index(p.x)))
    return [
        Line(
            label=study.label(p.row),
            x=p.x,
            published=_value_cell(p.published, digits[p.unit]).text,
            kind=p.kind if p.published is not None else "",
            measured=_value_cell(p.measured, digits[p.unit]).text,
            interval=_interval_cell(p, digits).text,
            deviation=_deviation_cell(measured_deviation(p)),
            model=_value_cell(p.model, digits[p.unit]).text,
            model_deviation=_deviation_cell(model_deviation(p)),
            unit=p.unit,
            note=p.note or (NO_REASON if unexplained(p) else ""),
            unexplained=unexplained(p),
        )
        for p in ordered
    ]
