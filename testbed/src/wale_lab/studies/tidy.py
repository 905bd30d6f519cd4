# SPDX-License-Identifier: GPL-2.0
"""Each value of a study on a line, and its runs under descriptive names.

values.csv is row,x,seed,measure,value; MEASURES of results/measures.py has the meaning of each
measure and its unit.  runs/ROW-xX-seedSEED.json, next to it, is a link to the file of the run.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wale_lab.files import write_whole
from wale_lab.results.measures import value_of
from wale_lab.results.result import csv_text
from wale_lab.studies.points import Cell, Point
from wale_lab.studies.study import Study, show_x

COLUMNS = "row,x,seed,measure,value".split(",")


def write(study: Study, points: list[Point], runs: Path, found: dict[str, Any], out: Path) -> None:
    """Write values.csv and runs/ of a study; `found` are the files of `runs`, by key."""
    cells = _cells(study, points)
    lines = [line for cell, key in cells for line in _lines(study, cell, found[key]["flows"])]
    write_whole(out / "values.csv", csv_text(COLUMNS, lines))
    _link(cells, runs, out / "runs")


def _cells(study: Study, points: list[Point]) -> list[tuple[Cell, str]]:
    """Each cell that is shown, and the key of its run: by row, x and seed, in the study's order."""
    rows, values = list(study.rows()), study.x.values or [""]
    cells = [(c, point.key) for point in points for c in point.cells if c.row in rows]
    return sorted(cells, key=lambda c: (rows.index(c[0].row), values.index(c[0].x), c[0].seed))


def _lines(study: Study, cell: Cell, flows: dict[str, Any]) -> Iterator[dict[str, str]]:
    """The lines of a cell: all measures of its flow, and the study's own."""
    measures = flows[cell.flow]
    names = dict.fromkeys([*measures, *([study.y.measure] if study.y.measure else [])])
    for name in names:
        yield {
            "row": cell.row,
            "x": show_x(cell.x),
            "seed": str(cell.seed),
            "measure": name,
            "value": f"{value_of(measures, name):.10g}",
        }


def _link(cells: list[tuple[Cell, str]], runs: Path, folder: Path) -> None:
    """Give the file of each run a name in the study's folder: a link for each of its cells."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for cell, key in cells:
        x = f"-x{show_x(cell.x)}" if cell.x != "" else ""
        name = re.sub(r"[^\w.+-]", "_", f"{cell.row}{x}-seed{cell.seed}")
        path = folder / f"{name}.json"
        if path.is_symlink():  # words that differ in what a name of a file does not have
            path = folder / f"{name}-{key}.json"
        path.symlink_to(os.path.relpath(runs / f"{key}.json", folder))
