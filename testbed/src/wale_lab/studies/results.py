# SPDX-License-Identifier: GPL-2.0
"""The files of studies, read and checked: study.json, summary.csv, curves.csv.

`wale-lab study` writes them to RESULTS/PAPER/STUDY; the report uses nothing else.
"""

from __future__ import annotations

import csv
import json
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

SUMMARY_COLUMNS = "row x published published_kind measured ci95 model unit note".split()
CURVE_COLUMNS = "row curve x y".split()


class ResultError(Exception):
    """A file of a study is not as expected; the message says which, where and what was expected."""


class Axis(BaseModel):
    """What an axis shows."""

    label: str = ""
    unit: str = ""
    scale: Literal["linear", "log", "category"] = "linear"

    @property
    def title(self) -> str:
        """Label and unit, as shown at an axis."""
        return f"{self.label}, {self.unit}" if self.unit else self.label


class Panel(BaseModel):
    """One of the small multiples of a plot."""

    title: str = ""
    rows: list[str]
    ylim: tuple[float, float] | None = None


class Row(BaseModel):
    """A line of the published table or figure; `kind` is a word next to its label in tables."""

    label: str
    kind: str | None = None


class Check(BaseModel):
    """What must hold; `passed` is None if a quick run cannot tell."""

    text: str
    passed: bool | None
    value: str = ""
    known: str | None = None
    """why it does not hold, where that is known"""

    @property
    def as_expected(self) -> bool:
        """Whether it holds; or does not, and that is known."""
        return self.passed is None or self.passed is (self.known is None)

    @property
    def verdict(self) -> Literal["not asked", "ok", "known", "not ok", "gone"]:
        """What became of it; `gone` is a known deviation that is no more."""
        if self.passed is None:
            return "not asked"
        if self.known is None:
            return "ok" if self.passed else "not ok"
        return "gone" if self.passed else "known"


#: PAPER/NAME, a part of paths and of addresses.
STUDY_NAME = r"[a-z0-9][a-z0-9_-]*/[a-z0-9][a-z0-9_-]*"


class About(BaseModel):
    """study.json: what a study is, what was found, and how to repeat it."""

    name: str = Field(pattern=f"^{STUDY_NAME}$")
    title: str
    source: str
    question: str
    finding: str = ""
    order: float = 0
    x: Axis = Axis()
    y: Axis = Axis()
    plot: Literal["lines", "bars", "curves", "diagram", "table"]
    diagram: str | None = None
    panels: list[Panel] = []
    rows: dict[str, Row] = {}
    checks: list[Check] = []
    command: str
    digest: str = ""
    seeds: list[int] = []
    quick: bool = False
    kernel: str = ""
    virtual_s: float = 0
    wall_s: float = 0
    runs: int = 0


@dataclass(frozen=True)
class Point:
    """A line of summary.csv; missing values are None."""

    row: str
    x: str
    published: float | None
    kind: str
    """of the published value: analysis, experiment, ..."""
    measured: float | None
    ci95: float | None
    """half of the width of the 95 % confidence interval"""
    model: float | None
    unit: str
    note: str
    written: tuple[str, ...]
    """the line as it stands in the file"""


@dataclass(frozen=True)
class Curve:
    """A curve of curves.csv."""

    row: str
    name: str
    x: list[float]
    y: list[float]
    """a gap is not a number"""


@dataclass(frozen=True)
class Study:
    """A study with its results."""

    about: About
    points: list[Point]
    curves: list[Curve]

    @property
    def slug(self) -> str:
        """Its name, as a name of files and an anchor of the page."""
        return self.about.name.replace("/", "-")

    @cached_property
    def xs(self) -> list[str]:
        """The values of x: by size, or words in the order of the file."""
        values = list(dict.fromkeys(p.x for p in self.points))
        return values if self.about.x.scale == "category" else sorted(values, key=float)

    @cached_property
    def rows(self) -> list[str]:
        """Names of the rows with points or curves, in the order of study.json."""
        there = {p.row for p in self.points} | {c.row for c in self.curves}
        return [name for name in self.about.rows if name in there]

    @cached_property
    def kinds(self) -> list[str]:
        """Kinds of published values, in the order of the file."""
        return list(dict.fromkeys(p.kind for p in self.points if p.published is not None))

    def panels(self) -> list[Panel]:
        """The small multiples; one with everything if study.json names none."""
        return self.about.panels or [Panel(rows=self.rows)]

    def label(self, row: str) -> str:
        """The name of a row."""
        return self.about.rows[row].label


def _number(text: str, where: str, column: str) -> float | None:
    """A cell; an empty one is a gap."""
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ResultError(f"{where}: {column}: expected a number or nothing, got {text!r}")
    return value


def _plain(text: str, where: str) -> str:
    """A value of a numeric x in its shortest form: 0.0 is 0."""
    value = _number(text, where, "x")
    if value is None:
        raise ResultError(f"{where}: x: expected a number")
    return f"{value:.10g}"


def _lines(path: Path, columns: list[str]) -> list[tuple[str, dict[str, str]]]:
    """The lines of a CSV file, each with the words that say where it stands."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        names = reader.fieldnames or []
        if missing := [c for c in columns if c not in names]:
            raise ResultError(f"{path}: expected the columns {','.join(columns)}; no {missing[0]}")
        found = []
        for line in reader:
            where = f"{path}, line {reader.line_num}"
            if any(line[c] is None for c in columns):
                raise ResultError(f"{where}: expected {len(names)} columns")
            found.append((where, {c: line[c].strip() for c in columns}))
        return found


def _read_points(path: Path, about: About) -> list[Point]:
    points: dict[tuple[str, str, str], Point] = {}
    for where, line in _lines(path, SUMMARY_COLUMNS):
        row, kind = line["row"], line["published_kind"]
        if row not in about.rows:
            raise ResultError(f"{where}: row: expected one of study.json's, got {row!r}")
        x = line["x"] if about.x.scale == "category" else _plain(line["x"], where)
        if (row, x, kind) in points:
            raise ResultError(f"{where}: a second line for row {row!r}, x {x!r}, kind {kind!r}")
        columns = ("published", "measured", "ci95", "model")
        values = {c: _number(line[c], where, c) for c in columns}
        points[row, x, kind] = Point(
            **values,
            row=row,
            x=x,
            kind=kind,
            unit=line["unit"],
            note=line["note"],
            written=tuple(line.values()),
        )
    return list(points.values())


def _read_curves(path: Path, about: About) -> list[Curve]:
    curves: dict[tuple[str, str], Curve] = {}
    for where, line in _lines(path, CURVE_COLUMNS):
        row, name = line["row"], line["curve"]
        if row not in about.rows:
            raise ResultError(f"{where}: row: expected one of study.json's, got {row!r}")
        x, y = _number(line["x"], where, "x"), _number(line["y"], where, "y")
        curve = curves.setdefault((row, name), Curve(row, name, [], []))
        curve.x.append(math.nan if x is None else x)
        curve.y.append(math.nan if y is None else y)
    return list(curves.values())


def _check_panels(study: Study, path: Path) -> None:
    """Every row that has something to show is in a panel, and every panel's row is known."""
    drawn = [row for panel in study.panels() for row in panel.rows]
    if unknown := [row for row in drawn if row not in study.about.rows]:
        raise ResultError(f"{path}: panels: expected names of rows, got {unknown[0]!r}")
    if forgotten := [row for row in study.rows if row not in drawn]:
        raise ResultError(f"{path}: panels: expected every row in one, {forgotten[0]!r} is in none")


def read_study(folder: Path) -> Study:
    """Read RESULTS/PAPER/STUDY.

    Raises ResultError if a file does not say what it should, OSError if it cannot be read.
    """
    path = folder / "study.json"
    try:
        about = About.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except json.JSONDecodeError as error:
        raise ResultError(f"{path}: expected JSON: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ResultError(f"{path}: {key}: {first['msg']}") from None
    if about.name != f"{folder.parent.name}/{folder.name}":
        raise ResultError(f"{path}: name: expected {folder.parent.name}/{folder.name}")
    summary, curves = folder / "summary.csv", folder / "curves.csv"
    optional = about.plot in ("diagram", "curves") and not summary.exists()
    study = Study(
        about=about,
        points=[] if optional else _read_points(summary, about),
        curves=_read_curves(curves, about) if about.plot == "curves" else [],
    )
    _check_panels(study, path)
    return study


def read_studies(results: Path) -> list[Study]:
    """Read all studies below a folder, in their order."""
    folders = sorted(path.parent for path in results.glob("*/*/study.json"))
    if not folders:
        raise ResultError(
            f"{results}: expected results of studies, PAPER/STUDY/study.json; "
            "`wale-lab study` makes them"
        )
    studies = [read_study(folder) for folder in folders]
    return sorted(studies, key=lambda study: (study.about.order, study.about.name))
