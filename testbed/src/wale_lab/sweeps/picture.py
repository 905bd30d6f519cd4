# SPDX-License-Identifier: GPL-2.0
"""The picture of a sweep: a measure against one parameter, with 95 % intervals.

The next parameter and the flows are lines; each value of a third one, and of those behind it,
has a panel of its own.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wale_lab import units
from wale_lab.errors import ScenarioError
from wale_lab.style import COLOURS, LINES, MARKERS, STYLE, rc_context

#: Measures in the units that people read: factor and label.
_SHOWN = {
    "goodput_Bps": (8e-6, "goodput, Mbit/s"),
    "ideal_share": (1.0, "share of the ideal goodput"),
    "seconds": (1.0, "completion time, s"),
}


def number_of(text: str) -> float | None:
    """A value as a number for an axis: its unit counts; None if it is a word."""
    parsers = (float, units.parse_rate_bps, units.parse_time_ns, units.parse_size_bytes)
    for parse in parsers:
        try:
            found = float(parse(text.removesuffix("%")))
        except ValueError:
            continue
        return found if math.isfinite(found) else None
    return None


def axis_of(dimensions: dict[str, list[str]], x: str | None) -> str:
    """The parameter for the axis: the requested one, else the first with numbers."""
    numeric = (
        name
        for name, values in dimensions.items()
        if all(number_of(value) is not None for value in values)
    )
    return x or next(numeric, next(iter(dimensions)))


def label_of(measure: str) -> tuple[float, str]:
    """The factor of a measure, and the label of its axis."""
    if measure in _SHOWN:
        return _SHOWN[measure]
    name, _, unit = measure.rpartition("_")
    words = name if unit in ("ns", "us", "ms", "s") else measure
    label = words.replace("one_way", "one-way").replace("_", " ")
    return 1.0, label if words == measure else f"{label}, {unit}"


def picture(summary: pd.DataFrame, parameters: list[str], kind: str, measure: str) -> Figure:
    """The figure of a summary."""
    chosen = summary[(summary.kind == kind) & (summary.measure == measure)]
    if chosen.empty:
        known = ", ".join(sorted(summary[summary.kind == kind].measure.unique()))
        raise ScenarioError(f"--y {measure}: no {kind} has it; expected one of {known}")
    x, lines, panels = parameters[0], parameters[1:2], parameters[2:]
    each = [list(chosen[name].unique()) for name in panels]
    combinations = list(itertools.product(*each))
    columns = min(len(combinations), 3)
    count = -(-len(combinations) // columns)
    with rc_context(STYLE):
        figure = Figure(figsize=(1.5 + 4.3 * columns, 0.9 + 3.1 * count), layout="constrained")
        axes = figure.subplots(count, columns, squeeze=False, sharey=True, sharex=True)
        for place, values in itertools.zip_longest(axes.flat, combinations):
            if values is None:
                place.set_visible(False)
                continue
            rows = chosen
            for name, value in zip(panels, values, strict=True):
                rows = rows[rows[name] == value]
            _draw(place, rows, x, [*lines, "name"], measure)
            place.set_title(
                ", ".join(
                    f"{n.rpartition('.')[2]} {v}" for n, v in zip(panels, values, strict=True)
                )
            )
        handles, labels = axes.flat[0].get_legend_handles_labels()
        if len(labels) > 1:
            figure.legend(handles, labels, loc="outside upper left", ncols=min(len(labels), 4))
    return figure


def _below_each_other(places: dict[str, float | int]) -> list[str]:
    """Labels of an axis: one that would run into its neighbour stands on a lower line."""
    width = 0.02 * (max(places.values()) - min(places.values()))  # of a letter, in a panel
    ends: list[float] = []  # where each line is free
    labels = {}
    for text, at in sorted(places.items(), key=lambda place: place[1]):
        half = width * len(text) / 2
        line = next((n for n, end in enumerate(ends) if end <= at - half), len(ends))
        ends[line : line + 1] = [at + half + width]
        labels[text] = "\n" * line + text
    return [labels[text] for text in places]


def _draw(axes: Axes, rows: pd.DataFrame, x: str, lines: list[str], measure: str) -> None:
    factor, label = label_of(measure)
    values = list(rows[x].unique())
    numbers = [number_of(value) for value in values]
    numeric = all(number is not None for number in numbers)
    places = dict(zip(values, numbers if numeric else range(len(values)), strict=True))
    names = len(rows["name"].unique()) > 1
    for n, (key, line) in enumerate(rows.groupby(lines, sort=False, observed=True)):
        said = key if isinstance(key, tuple) else (key,)
        text = " ".join(map(str, said if names or len(said) == 1 else said[:-1]))
        at = np.array([places[value] for value in line[x]], float)
        order = np.argsort(at)
        look: dict[str, Any] = {
            "color": COLOURS[n % len(COLOURS)],
            "marker": MARKERS[n % len(MARKERS)],
        }
        axes.errorbar(
            at[order], factor * line["mean"].to_numpy()[order],
            yerr=factor * np.nan_to_num(line["ci95"].to_numpy()[order]),
            ls=LINES[n % len(LINES)] if numeric else "", capsize=3, ms=4.5, label=text, **look,
        )  # fmt: skip
    if not numeric or len(values) <= 8:
        axes.set_xticks(list(places.values()), _below_each_other(places))
    axes.set_xlabel(x)
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
