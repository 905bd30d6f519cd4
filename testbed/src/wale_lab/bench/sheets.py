# SPDX-License-Identifier: GPL-2.0
"""A table of results: shown on a terminal, written as CSV, drawn into the page."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table


@dataclass(frozen=True)
class Sheet:
    """What one benchmark found; `name`.csv has it."""

    name: str
    title: str
    about: str  # a sentence or two: what is measured, and in what units
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def table(self) -> Table:
        """For a terminal."""
        table = Table(header_style="bold", title=self.title, title_justify="left")
        for number, column in enumerate(self.columns):
            numbers = self.rows and all(_is_number(row[number]) for row in self.rows)
            table.add_column(column, justify="right" if numbers else "left")
        for row in self.rows:
            table.add_row(*row)
        return table

    def write_csv(self, folder: Path) -> Path:
        """Write the file, and return its path."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows(self.rows)
        return path

    def records(self) -> list[dict[str, str]]:
        """Each row by the names of its columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def rst_table(lines: Sequence[Sequence[str]]) -> str:
    """Lines, of which the first has the heads, in reStructuredText."""
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    rule = " ".join("=" * width for width in widths)
    texts = [
        " ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join([rule, texts[0], rule, *texts[1:], rule])


def _is_number(text: str) -> bool:
    try:
        float(text or "0")
    except ValueError:
        return False
    return True


def number(value: float | None, form: str) -> str:
    """A number as text; a gap if there is none."""
    return "" if value is None else format(value, form)
