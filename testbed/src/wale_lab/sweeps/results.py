# SPDX-License-Identifier: GPL-2.0
"""What is known of a sweep so far: the records of its runs, its tables and its picture."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wale_lab.files import replaced, write_whole
from wale_lab.sweeps.grid import Grid, Order
from wale_lab.sweeps.points import Point, read_record

if TYPE_CHECKING:
    import pandas as pd


class Results:
    """The records of runs, each read once, and what is made of them."""

    def __init__(self, grid: Grid, points: list[Point], x: str | None, kind: str, y: str) -> None:
        self.grid = grid
        self.points = points
        self.x, self.kind, self.y = x, kind, y
        self._records: dict[str, dict[str, Any]] = {}
        self._made: tuple[pd.DataFrame, pd.DataFrame] | None = None
        self.take(points)

    def take(self, points: Iterable[Point]) -> None:
        """Read the records of those that are there by now."""
        for point in points:
            if point.key not in self._records and (record := read_record(point.path)) is not None:
                self._records[point.key] = record
                self._made = None

    def missing(self) -> list[Point]:
        """The runs that are not there."""
        return [point for point in self.points if point.key not in self._records]

    def problems(self) -> list[tuple[Order, str]]:
        """Of the runs that are there."""
        found = self._found()
        return [(order, line) for order, record in found for line in record["problems"]]

    def means(self) -> pd.DataFrame | None:
        """The summary of what is there, if anything is."""
        tables = self._tables()
        return None if tables is None else tables[1]

    def write(self, out: Path, *, all_of_it: bool) -> list[Path]:
        """Write tables of what is there; the files, none if nothing is there.

        While runs go on, the Parquet table is left out: nobody looks at it by eye.
        """
        tables = self._tables()
        if tables is None:
            return []
        table, means = tables
        files = [out / name for name in ("sweep.csv", "sweep.parquet", "summary.csv")]
        write_whole(files[0], table.to_csv(index=False))
        if all_of_it:
            parquet = io.BytesIO()
            table.to_parquet(parquet, index=False)
            write_whole(files[1], parquet.getvalue())
        write_whole(files[2], means.to_csv(index=False))
        return files

    def draw(self, out: Path) -> list[Path]:
        """Write the picture of what is there, if something varies; ScenarioError if no run has
        its measure."""
        means = self.means() if self.grid.dimensions else None
        if means is None:
            return []
        from wale_lab.style import save_picture
        from wale_lab.sweeps.picture import axis_of, picture

        x = axis_of(self.grid.dimensions, self.x)
        names = sorted(self.grid.dimensions, key=lambda name: name != x)
        figure = picture(means, names, self.kind, self.y)
        path = out / "sweep.png"
        with replaced(path) as partial:
            save_picture(figure, partial)
        return [path]

    def _found(self) -> list[tuple[Order, dict[str, Any]]]:
        records = self._records
        return [(p.order, records[p.key]) for p in self.points if p.key in records]

    def _tables(self) -> tuple[pd.DataFrame, pd.DataFrame] | None:
        """All numbers and their means, made once for the records that are there; None: none are."""
        found = self._found()
        if self._made is None and found:
            from wale_lab.sweeps.table import summary, tidy

            table = tidy([(order.parameters, order.seed, record) for order, record in found])
            self._made = table, summary(table)
        return self._made
