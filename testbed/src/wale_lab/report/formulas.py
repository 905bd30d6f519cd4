# SPDX-License-Identifier: GPL-2.0
"""Makes Documentation/formulas.rst: all models beside all measurements, and which to trust.

    python -m wale_lab.report.formulas RESULTS > Documentation/formulas.rst

formulas.yaml says what there is; RESULTS are of `wale-lab study`, in full.  `make formulas-table`
does that.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from wale_lab.report.tested import table
from wale_lab.studies import compare
from wale_lab.studies.results import ResultError, Study, read_study
from wale_lab.studies.study import Strict, X, load_study, show_x
from wale_lab.studies.summary import model_values

FORMULAS = Path(__file__).with_suffix(".yaml")

HEADER = (
    "Where",
    "Cells",
    "Mean",
    "Worst",
    f"Within {compare.CELL_PERCENT:g} %",
    "Authors' mean",
    "Authors' worst",
    "Study",
)

_INTRODUCTION = """\
.. SPDX-License-Identifier: GPL-2.0
.. Made by `make formulas-table` from results of studies and report/formulas.yaml; do not edit.

=======================
Which formulas to trust
=======================

The formulas of the papers beside transfers through the TCP of Linux {kernel} over the emulated
link. Deviations are of the computed value from the measured one, in percent of the measured one,
over cells (a row at an x) of the studies; "authors'" are of their analysis from their own
simulation or experiment, where they print both. A cell is the mean over a study's seeds. The
tables are made by ``make formulas-table`` from ``wale-lab study`` in full; what is said below
each is a judgement. The models are described in :doc:`models`, the measurements in
:doc:`reproduction`.
"""


class Range(Strict):
    """Cells of a study in which a formula is asked."""

    where: str
    study: str
    rows: list[str] | dict[str, dict[str, Any]]
    """names, for the study's own model; or arguments by name, for others"""
    x: list[X] = Field(default_factory=list)


class Formula(Strict):
    """A formula of a paper, or several that give one number."""

    name: str
    source: str
    code: str
    ranges: list[Range]
    trust: str


@dataclass(frozen=True)
class Deviations:
    """Of a range: percent by cell."""

    of_model: list[float]
    of_authors: list[float]


def load_formulas(path: Path = FORMULAS) -> list[Formula]:
    """Read formulas.yaml; pydantic's ValidationError if it is not as expected."""
    return [Formula.model_validate(entry) for entry in yaml.safe_load(path.read_text())]


def computed(of: Range) -> dict[tuple[str, str], float]:
    """What the formula gives for each cell of a range: by row and x as it is written."""
    study = load_study(of.study)
    if study.model is None:
        raise ResultError(f"{of.study}: expected a study with a model")
    values: list[X] = of.x or [*study.x.means] or [*study.x.values]
    known = of.rows if isinstance(of.rows, dict) else study.model.rows
    if lacking := [name for name in of.rows if name not in known]:
        raise ResultError(f"{of.study}: expected a row with a model, got {lacking[0]!r}")
    model = study.model.model_copy(update={"rows": {name: known[name] for name in of.rows}})
    study = study.model_copy(update={"model": model})
    return {(name, show_x(x)): v for (name, x), v in model_values(study, values).items()}


def deviations(of: Range, study: Study) -> Deviations:
    """The formula against what is measured, the authors' analysis against their own measurement."""
    by_cell = compare.cells(study)
    of_model, of_authors = [], []
    for cell, value in computed(of).items():
        points = by_cell.get(cell, [])
        if not points or points[0].measured is None:
            raise ResultError(f"{of.study}: {cell[0]} at {cell[1]}: expected a measured value")
        percent = compare.deviation(value, points[0].measured)
        of_model += [percent] if percent is not None else []
        theirs = compare.authors_deviation(points)
        of_authors += [theirs] if theirs is not None else []
    return Deviations(of_model, of_authors)


def row(of: Range, found: Deviations) -> list[str]:
    """A range's line of the table."""
    near = sum(abs(percent) <= compare.CELL_PERCENT for percent in found.of_model)
    return [
        of.where,
        str(len(found.of_model)),
        *_mean_and_worst(found.of_model),
        str(near),
        *_mean_and_worst(found.of_authors),
        f"``{of.study}``",
    ]


def _mean_and_worst(percents: Sequence[float]) -> tuple[str, str]:
    mean = compare.mean_absolute(percents)
    if mean is None:
        return "", ""
    return f"{mean:.1f} %", f"{compare.percentage(max(percents, key=abs))} %"


def render(formulas: Sequence[Formula], results: Path) -> str:
    """The page.  ResultError if a study has no results, or only those of its quick form."""
    studies: dict[str, Study] = {}
    for name in sorted({of.study for formula in formulas for of in formula.ranges}):
        if not (results / name / "study.json").exists():
            raise ResultError(f"{results}: expected results of {name}: wale-lab study {name}")
        studies[name] = read_study(results / name)
        if studies[name].about.quick:
            raise ResultError(f"{name}: expected results in full, got those of --quick")
    kernels = ", ".join(sorted({study.about.kernel for study in studies.values()}))
    parts = [_INTRODUCTION.format(kernel=kernels)]
    for formula in formulas:
        parts += _section(formula, studies)
    return "\n".join(parts)


def _section(formula: Formula, studies: dict[str, Study]) -> Iterator[str]:
    yield f"{formula.name}\n{'=' * len(formula.name)}\n"
    yield f"{formula.source}; ``{formula.code}``.\n"
    lines = [row(of, deviations(of, studies[of.study])) for of in formula.ranges]
    yield table(HEADER, lines)
    yield textwrap.fill(formula.trust.strip(), 98, break_on_hyphens=False) + "\n"


def main(words: Sequence[str]) -> int:
    """Print the page made of a folder of results."""
    if len(words) != 1:
        print("report.formulas: expected a folder of results", file=sys.stderr)
        return 2
    try:
        print(render(load_formulas(), Path(words[0])), end="")
    except ResultError as error:
        print(f"report.formulas: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
