# SPDX-License-Identifier: GPL-2.0
"""The report of an evaluation: a page, JSON, CSV, and text for the appendix of a draft.

It is made of plain data (outcome.py) and runs nothing; the same data give the same bytes.
"""

from __future__ import annotations

import csv
import io
import json
import textwrap
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from wale_lab.evaluation.drawing import draw_cell
from wale_lab.files import write_whole
from wale_lab.style import data_uri

#: Columns of evaluation.csv: a line for each comparison of a metric of a cell.
COLUMNS = (
    "set", "row", "document", "section", "cell", "metric", "unit", "better", "control", "mean",
    "ci95", "seeds", "against", "their_mean", "difference", "difference_ci95", "margin", "verdict",
)  # fmt: skip

#: How wide the text for a draft is.
_WIDTH = 69


def without_series(data: dict[str, Any]) -> dict[str, Any]:
    """Without what only plots take."""

    def less(run: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in run.items() if key != "series"}

    rows = [
        {
            **row,
            "cells": [
                {**cell, "runs": [less(run) for run in cell["runs"]]} for cell in row["cells"]
            ],
        }
        for row in data["rows"]
    ]
    return {**data, "rows": rows}


def csv_text(data: dict[str, Any]) -> str:
    """All numbers and verdicts, a comparison a line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in data["rows"]:
        source = row["source"]
        for cell in row["cells"]:
            for metric in cell["metrics"]:
                ours = metric["subjects"].get(data["subject"])
                for label, one in metric["against"].items():
                    writer.writerow([
                        row["set"], row["name"], source["document"], source["section"],
                        cell["name"], metric["name"], metric["unit"], metric["better"],
                        data["subject"], ours["mean"], ours["ci95"], len(ours["values"]), label,
                        metric["subjects"][label]["mean"], one["difference"], one["ci95"],
                        one["margin"], one["verdict"],
                    ])  # fmt: skip
    return text.getvalue()


def draft_text(data: dict[str, Any]) -> str:
    """Text for the appendix of a draft: a paragraph for each row, and what is not covered."""
    lines = [f"Evaluation of {data['subject']}", ""]
    lines += _wrapped(
        f"Linux {data['kernel']}, in virtual time; compared with {', '.join(data['against'])} on "
        "the same seeds. A metric of a cell is worse (or better) if the 95 % interval of the mean "
        "difference excludes zero and the mean is beyond the margin; here it counts if it is so "
        "against each of them."
    )
    lines += [*_wrapped(f"To repeat it: {data['command']}"), f"Digest: {data['digest'][:32]}", ""]
    for row in data["rows"]:
        source = row["source"]
        weight = f" ({source['weight']})" if source["weight"] else ""
        lines += _wrapped(f"{source['document']}, {source['section']}{weight}: {row['title']}")
        lines += ["", *_wrapped(_said(row), "   "), ""]
    return "\n".join(lines)


def _said(row: dict[str, Any]) -> str:
    if row["verdict"] is None:
        return f"Cannot be judged: {row['unable']}."
    count = row["count"]
    text = (
        f"{row['verdict'].capitalize()}: of {sum(count.values())} metrics of cells, "
        f"{count['worse']} are worse, {count['like']} like, {count['better']} better."
    )
    for one in worse_in(row):
        cell, metric = one["cell"], one["metric"]
        numbers = ", ".join(
            f"{label} {'unknown' if each['mean'] is None else format(each['mean'], '.3g')}"
            for label, each in metric["subjects"].items()
        )
        unit = f" {metric['unit']}" if metric["unit"] else ""
        text += f" Worse: {metric['title']}, {cell['name'] or 'the cell'} ({numbers}{unit})."
    return text


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def worse_in(row: dict[str, Any]) -> list[dict[str, Any]]:
    """What is worse in a row: cell, metric and numbers."""
    found = []
    for cell in row["cells"]:
        for metric in cell["metrics"]:
            if metric["verdict"] == "worse":
                found.append({"cell": cell, "metric": metric})
    return found


def _picture(cell: dict[str, Any], data: dict[str, Any]) -> str:
    svg = draw_cell(cell, data["subject"], data["against"])
    return data_uri(svg.encode()) if svg else ""


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}".replace("-", "\N{MINUS SIGN}")


def _page(data: dict[str, Any]) -> str:
    folder = Path(__file__).parent
    environment = Environment(
        loader=FileSystemLoader([folder, folder.parent / "report"]), autoescape=True,
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {"number": _number}
    pictures = {
        (row["name"], cell["name"]): _picture(cell, data)
        for row in data["rows"]
        for cell in row["cells"]
    }
    return environment.get_template("evaluation.html.j2").render(
        data=data, worse_in=worse_in, pictures=pictures
    )


def write_report(folder: Path, data: dict[str, Any]) -> list[Path]:
    """Write its files; return their paths."""
    texts = {
        "evaluation.json": json.dumps(without_series(data), indent=1) + "\n",
        "evaluation.csv": csv_text(data),
        "evaluation.txt": draft_text(data),
        "evaluation.html": _page(data),
    }
    for name, text in texts.items():
        write_whole(folder / name, text)
    return [folder / name for name in texts]
