# SPDX-License-Identifier: GPL-2.0
"""The plots of a cell: its metrics by control, and what the flows of one run did over time."""

from __future__ import annotations

import io
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wale_lab.style import ABOUT_SVG, COLOURS, FAINT, INK, LINES, PICTURE, rc_context

#: Flows that have a colour of their own in a plot over time.
_MOST_FLOWS = 6


def _svg(figure: Figure) -> str:
    text = io.StringIO()
    with rc_context(PICTURE):
        figure.savefig(text, format="svg", transparent=True, metadata=ABOUT_SVG)
    return text.getvalue()


def draw_cell(cell: dict[str, Any], subject: str, against: list[str]) -> str:
    """A cell as SVG: a panel for each metric, and one over time."""
    metrics = [metric for metric in cell["metrics"] if metric["subjects"]]
    runs = [
        run
        for run in cell["runs"]
        if run.get("series") and run["subject"] == subject and run["run"] == "main"
    ]
    count = len(metrics) + bool(runs)
    if not count:
        return ""
    labels = [subject, *against]
    with rc_context(PICTURE):
        columns = min(count, 4)
        rows = -(-count // columns)
        height = rows * (0.8 + 0.26 * max(len(labels), 4))
        figure = Figure(figsize=(3.3 * columns, height), layout="constrained")
        panels = list(figure.subplots(rows, columns, squeeze=False).flat)
        for axes, metric in zip(panels, metrics, strict=False):
            _dots(axes, metric, labels, subject)
        if runs:
            _over_time(panels[len(metrics)], runs[0]["series"])
        for axes in panels[count:]:
            axes.set_visible(False)
    return _svg(figure)


def _dots(axes: Axes, metric: dict[str, Any], labels: list[str], subject: str) -> None:
    """Means with their intervals, a line for each control."""
    for place, label in enumerate(labels):
        found = metric["subjects"].get(label)
        if not found or found["mean"] is None:
            axes.text(0.5, place, "cannot be judged", color=FAINT, ha="center",
                      transform=axes.get_yaxis_transform(), va="center", fontsize=8)  # fmt: skip
            continue
        colour = COLOURS[1] if label == subject else COLOURS[0]
        axes.errorbar(
            found["mean"], place, xerr=found["ci95"], fmt="o", color=colour, capsize=3, ms=5
        )
        axes.plot(found["values"], [place] * len(found["values"]), "|", color=colour, alpha=0.5)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.margins(x=0.15)
    good = "more" if metric["better"] == "higher" else "less"
    unit = f"{metric['unit']}; " if metric["unit"] else ""
    axes.set_title(f"{metric['title']}", fontsize=8.5)
    axes.set_xlabel(f"{unit}{good} is better", fontsize=8, color=INK)


def _over_time(axes: Axes, series: dict[str, Any]) -> None:
    """Throughput of the flows of one run."""
    for number, (name, curve) in enumerate(series["flows"].items()):
        if number >= _MOST_FLOWS:
            break
        axes.plot(
            *curve, drawstyle="steps-post", label=name, lw=1.1,
            color=COLOURS[number % len(COLOURS)], ls=LINES[number % len(LINES)],
        )  # fmt: skip
    axes.set_title("the control's run with seed 1", fontsize=8.5)
    axes.set_xlabel("s", fontsize=8)
    axes.set_ylabel("Mbit/s", fontsize=8)
    axes.set_ylim(bottom=0)
    if series["flows"]:
        axes.legend(fontsize=7, loc="best")
