# SPDX-License-Identifier: GPL-2.0
"""The report: one page that shows published, measured and computed numbers side by side.

`build` reads the results of studies and writes index.html, the plots (SVG and PNG) and the
numbers (CSV).  It runs nothing, and the same results give the same bytes.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from matplotlib.figure import Figure

from wale_lab import style
from wale_lab.engines.modules import LAB
from wale_lab.files import errors_name, write_whole
from wale_lab.report import figures
from wale_lab.report.tables import Line, Matrix, long_list, matrices
from wale_lab.studies import compare
from wale_lab.studies.compare import (
    Agreement,
    agreements,
    mean_absolute,
    model_deviation,
    unexplained,
)
from wale_lab.studies.results import SUMMARY_COLUMNS, ResultError, Study, read_studies

_DEVIATIONS = ["deviation_percent", "model_deviation_percent"]


@dataclass(frozen=True)
class Section:
    """A study as the page shows it."""

    study: Study
    image: str | None
    """its plot, as a data URI"""
    agreements: list[Agreement]
    agreeing: tuple[int, int]
    """cells that agree with what is published, of how many"""
    matrices: list[Matrix]
    lines: list[Line]
    files: list[str]
    """what there is to download"""

    @property
    def failed(self) -> int:
        """Number of checks that fail, and of known deviations that are gone."""
        return sum(not check.as_expected for check in self.study.about.checks)

    @property
    def known(self) -> int:
        """Number of checks that do not hold, of which that is known."""
        return sum(check.verdict == "known" for check in self.study.about.checks)

    @property
    def passed(self) -> int:
        """Number of checks that hold."""
        return sum(check.verdict == "ok" for check in self.study.about.checks)

    @property
    def measured(self) -> int:
        """Number of measured points."""
        return len({(p.row, p.x) for p in self.study.points if p.measured is not None})

    @property
    def curves(self) -> int:
        """Number of measured curves."""
        return len(self.study.curves)


@dataclass(frozen=True)
class Totals:
    """All studies together."""

    measured: int
    """points and curves"""
    compared: int
    mean_percent: float | None
    model_percent: float | None
    beyond: int
    unexplained: int
    agreeing: int
    """cells that agree with what is published, see compare.cell_agrees()"""
    cells: int
    passed: int
    known: int
    failed: int
    quick: int
    """studies that ran in their quick form"""
    kernels: list[str]


def _totals(sections: list[Section]) -> Totals:
    found = [a for section in sections for a in section.agreements]
    points = [p for section in sections for p in section.study.points]
    return Totals(
        measured=sum(section.measured + section.curves for section in sections),
        compared=sum(a.compared for a in found),
        mean_percent=mean_absolute(compare.measured_deviation(p) for p in points),
        model_percent=mean_absolute(model_deviation(p) for p in points),
        beyond=sum(a.beyond for a in found),
        unexplained=sum(unexplained(p) for p in points),
        agreeing=sum(section.agreeing[0] for section in sections),
        cells=sum(section.agreeing[1] for section in sections),
        passed=sum(section.passed for section in sections),
        known=sum(section.known for section in sections),
        failed=sum(section.failed for section in sections),
        quick=sum(section.study.about.quick for section in sections),
        kernels=sorted({s.study.about.kernel for s in sections if s.study.about.kernel}),
    )


def _duration(seconds: float) -> str:
    """A time in words, with two units at most."""
    if seconds < 120:
        return f"{seconds:.3g} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def _ranges(numbers: Iterable[int]) -> str:
    """Numbers with neighbours drawn together: 1 to 5, 8."""
    words = []
    ordered = enumerate(sorted(set(numbers)))
    for _, run in groupby(ordered, key=lambda pair: pair[1] - pair[0]):
        found = [value for _, value in run]
        joint = " to " if len(found) > 2 else ", "
        words.append(str(found[0]) if len(found) == 1 else f"{found[0]}{joint}{found[-1]}")
    return ", ".join(words)


def _together(text: str) -> str:
    """What no line should break: β = 1, Fig. 4."""
    for words in (" = ", "Fig. ", "Figs. ", "Table "):
        text = text.replace(words, words.replace(" ", "\N{NO-BREAK SPACE}"))
    return text


def _image(figure: Figure | None, base: Path) -> str | None:
    """Save a figure as SVG and PNG; return the SVG as a data URI."""
    if figure is None:
        return None
    svg, _ = style.save(figure, base)
    return style.data_uri(svg.read_bytes())


def _written(percent: float | None) -> str:
    return "" if percent is None else f"{percent:.3f}"


def _rows(study: Study) -> list[list[str]]:
    """The lines of summary.csv, with their deviations."""
    return [
        [
            *point.written,
            _written(compare.measured_deviation(point)),
            _written(model_deviation(point)),
        ]
        for point in study.points
    ]


def _write_csv(path: Path, header: list[str], rows: Iterable[Iterable[Any]]) -> None:
    with errors_name(path), path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _write_study(study: Study, image: str | None, out: Path) -> list[str]:
    """Write a study's numbers; return the names of all its files."""
    names = [f"{study.slug}.svg", f"{study.slug}.png"] if image else []
    if study.points:
        _write_csv(out / f"{study.slug}.csv", [*SUMMARY_COLUMNS, *_DEVIATIONS], _rows(study))
        names.append(f"{study.slug}.csv")
    if study.curves:
        lines = (
            (curve.row, curve.name, *pair)
            for curve in study.curves
            for pair in zip(curve.x, curve.y, strict=True)
        )
        _write_csv(out / f"{study.slug}-curves.csv", ["row", "curve", "x", "y"], lines)
        names.append(f"{study.slug}-curves.csv")
    return names


def _section(study: Study, out: Path) -> Section:
    """Draw and write one study."""
    image = _image(figures.draw(study), out / study.slug)
    return Section(
        study=study,
        image=image,
        agreements=agreements(study),
        agreeing=compare.cells_that_agree(study),
        matrices=matrices(study),
        lines=long_list(study),
        files=_write_study(study, image, out),
    )


def _template() -> Any:
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {
        "percentage": compare.percentage,
        "duration": _duration,
        "ranges": _ranges,
        "together": _together,
    }
    return environment.get_template("page.html.j2")


def build(results_folder: Path, out_folder: Path) -> Path:
    """Write the report on all studies below a folder; return its index.html.

    Raises ResultError if results are missing or not as expected, OSError if they cannot be
    read or the report cannot be written.
    """
    studies = read_studies(Path(results_folder))
    out = Path(out_folder)
    out.mkdir(parents=True, exist_ok=True)
    sections = [_section(study, out) for study in studies]
    everything = ([s.about.name, *row] for s in studies for row in _rows(s))
    _write_csv(out / "summary.csv", ["study", *SUMMARY_COLUMNS, *_DEVIATIONS], everything)
    index = out / "index.html"
    page = _template().render(
        sections=sections,
        totals=_totals(sections),
        overview=_image(figures.draw_deviations(studies), out / "deviations"),
        band=compare.BAND_PERCENT,
        cell_band=compare.CELL_PERCENT,
        command=f"{LAB} report",
    )
    write_whole(index, page)
    return index


def main(args: argparse.Namespace) -> int:
    """`wale-lab report`: make the report, say where it is."""
    try:
        index = build(Path(args.results), Path(args.out or Path(args.results) / "report"))
    except ResultError as error:
        print(f"wale-lab: {error}", file=sys.stderr)
        return 2
    print(index)
    return 0
