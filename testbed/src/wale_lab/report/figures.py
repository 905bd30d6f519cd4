# SPDX-License-Identifier: GPL-2.0
"""The plot of a study: published values as open marks, measured ones filled, the model a line.

Rows of a panel differ in mark, line style and colour, kinds of values in the filling of the
marks, so that plots are readable without colour.  `draw` returns a figure; style.py saves it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from wale_lab.report import diagrams
from wale_lab.studies.compare import BAND_PERCENT, measured_deviation
from wale_lab.studies.results import Panel, Point, Study
from wale_lab.style import COLOURS, FAINT, HATCHES, INK, LINES, MARKERS, PAPER, rc_context, tint

#: A logarithmic axis this short, in decades, has a tick for each value.
_SHORT_DECADES = 2
_OPEN: dict[str, Any] = {"ls": "", "mfc": "none", "mew": 1.0, "ms": 8}
_FILLED: dict[str, Any] = {"ms": 3.6, "capsize": 2.6, "elinewidth": 1.0, "capthick": 1.0}
#: A line that guides the eye along measured marks without a model.
_JOINT: dict[str, Any] = {"lw": 0.8, "alpha": 0.65}
#: What is drawn across an open mark, for the second kind of published values and the third.
_BARS = ["", "_", "|", "x"]
_FOOT: dict[str, Any] = {"ha": "right", "va": "bottom", "color": FAINT, "fontsize": 7}


def _positions(study: Study) -> dict[str, float]:
    """Where each value of x stands on the axis."""
    if study.about.x.scale == "category":
        return {x: float(n) for n, x in enumerate(study.xs)}
    return {x: float(x) for x in study.xs}


def _shared_limits(study: Study) -> tuple[float, float] | None:
    """Limits of y that hold every panel; they begin at 0 unless that would waste half the plot."""
    values = [
        value + side * (p.ci95 or 0)
        for p in study.points
        for value in (p.published, p.measured, p.model)
        if value is not None
        for side in (-1, 1)
    ]
    values += [v for c in study.curves for v in c.y if not math.isnan(v)]
    if not values:
        return None
    low, high = min(values), max(values)
    margin = 0.06 * (high - low or abs(high) or 1)
    if low >= 0 and (low < high / 2 or study.about.plot == "bars"):
        return 0, high + margin
    return low - margin, high + margin


def _scale_x(axes: Axes, study: Study) -> None:
    """The scale of the study, with a tick for each value where they would stand evenly."""
    places = _positions(study)
    positive = sorted(v for v in places.values() if v > 0)
    scale = study.about.x.scale
    even = scale == "category"
    if scale == "log" and positive:
        if len(positive) == len(places):
            axes.set_xscale("log")
        else:
            _log_with_zero(axes, positive[0])
        even = positive[-1] / positive[0] < 10**_SHORT_DECADES
    if even:
        axes.set_xticks(list(places.values()), list(places))
        axes.set_xticks([], minor=True)


def _log_with_zero(axes: Axes, smallest: float) -> None:
    """A logarithmic axis on which zero stands left of a break."""
    axes.set_xscale("symlog", linthresh=smallest, linscale=0.4)
    for at in (0.45, 0.55):
        axes.plot(
            smallest * at, 0, ls="", marker=(2, 0, -25), ms=7, mec="#888888", clip_on=False,
            transform=axes.get_xaxis_transform(), zorder=5,
        )  # fmt: skip


def _series(
    points: Iterable[Point], places: dict[str, float], value: Callable[[Point], float | None]
) -> tuple[list[float], list[float]]:
    """One value of each x, in their order; where there is none, a gap."""
    found = {p.x: v for p in points if (v := value(p)) is not None}
    return list(places.values()), [found.get(x, math.nan) for x in places]


def _open_marks(axes: Axes, x: list[float], y: list[float], kind: int, **look: Any) -> None:
    """Published values: open marks, from the second kind on with a bar across."""
    axes.plot(x, y, **_OPEN, marker=look["marker"], mec=look["color"], zorder=3)
    if bar := _BARS[min(kind, len(_BARS) - 1)]:
        axes.plot(x, y, ls="", marker=bar, ms=8, mew=1.0, mec=look["color"], zorder=3)


def _look(place: int) -> dict[str, Any]:
    """Colour, mark and line of the row at a place of its panel."""
    return {
        "color": COLOURS[place % len(COLOURS)],
        "marker": MARKERS[place % len(MARKERS)],
        "ls": LINES[place % len(LINES)],
    }


def _draw_row(axes: Axes, study: Study, row: str, place: int) -> None:
    """A row of a plot of lines: model, published values, measured values."""
    points = [p for p in study.points if p.row == row]
    places, look = _positions(study), _look(place)
    x, model = _series(points, places, lambda p: p.model)
    axes.plot(x, model, color=look["color"], ls=look["ls"], lw=1.2, zorder=2)
    for n, kind in enumerate(study.kinds):
        of_kind = [p for p in points if p.kind == kind]
        _open_marks(axes, *_series(of_kind, places, lambda p: p.published), n, **look)
    measured = _series(points, places, lambda p: p.measured)
    if all(math.isnan(v) for v in model):
        axes.plot(*measured, color=look["color"], ls=look["ls"], zorder=2, **_JOINT)
    _, ci95 = _series(points, places, lambda p: p.ci95)
    axes.errorbar(
        *measured, yerr=np.nan_to_num(ci95), fmt=look["marker"], color=look["color"], zorder=4,
        **_FILLED,
    )  # fmt: skip


def _lines(axes: Axes, study: Study, panel: Panel) -> None:
    for place, row in enumerate(panel.rows):
        _draw_row(axes, study, row, place)
    _scale_x(axes, study)
    axes.margins(x=0.06)


def _bars(axes: Axes, study: Study, panel: Panel) -> None:
    """Measured values as bars, side by side for the rows; published ones as open marks."""
    places = {x: float(n) for n, x in enumerate(study.xs)}
    width = 0.8 / len(panel.rows)
    for place, row in enumerate(panel.rows):
        points = [p for p in study.points if p.row == row]
        shift = (place - (len(panel.rows) - 1) / 2) * width
        moved = {x: at + shift for x, at in places.items()}
        x, measured = _series(points, moved, lambda p: p.measured)
        _, ci95 = _series(points, moved, lambda p: p.ci95)
        axes.bar(
            x, measured, width * 0.92, yerr=np.nan_to_num(ci95), zorder=2, **_bar_look(place),
            error_kw={"elinewidth": 1.1, "capsize": 2.5, "capthick": 1.1, "ecolor": INK},
        )  # fmt: skip
        for n, kind in enumerate(study.kinds):
            of_kind = [p for p in points if p.kind == kind]
            published = _series(of_kind, moved, lambda p: p.published)
            _open_marks(axes, *published, n, marker="D", color=INK)
        _, model = _series(points, moved, lambda p: p.model)
        axes.hlines(
            model, np.subtract(x, width * 0.46), np.add(x, width * 0.46), color=INK, lw=1.6,
            ls=(0, (3, 1.5)), zorder=3,
        )  # fmt: skip
    axes.set_xticks(list(places.values()), list(places))
    axes.grid(visible=False, axis="x")
    axes.tick_params(axis="x", length=0)


def _bar_look(place: int) -> dict[str, Any]:
    """Fill of the bars of the row at a place of its panel."""
    colour = COLOURS[place % len(COLOURS)]
    hatch = HATCHES[place % len(HATCHES)]
    face = tint(colour, 0.4)
    return {"facecolor": face, "edgecolor": colour, "hatch": hatch, "linewidth": 0.9}


def _curves(axes: Axes, study: Study, panel: Panel) -> None:
    """All curves of the panel's rows, thin; rows of one panel differ, else all curves do."""
    curves = [c for row in panel.rows for c in study.curves if c.row == row]
    for n, curve in enumerate(curves):
        colour, line = COLOURS[n % len(COLOURS)], LINES[n // len(COLOURS) % len(LINES)]
        look = {"color": colour, "ls": line}
        if len(panel.rows) > 1:
            look = _look(panel.rows.index(curve.row)) | {"marker": ""}
        axes.plot(curve.x, curve.y, lw=1.1, **look)
    axes.margins(x=0)
    if study.about.x.scale == "log":
        axes.set_xscale("log")


_DRAWERS = {"lines": _lines, "bars": _bars, "curves": _curves}


def _row_handles(study: Study, panel: Panel) -> list[tuple[Any, str]]:
    """Legend of a panel's rows."""
    handles: list[tuple[Any, str]] = []
    for place, row in enumerate(panel.rows):
        handle: Any = Line2D([], [], lw=1.2, ms=4.8, mew=0, **_look(place))
        if study.about.plot == "bars":
            handle = Patch(**_bar_look(place))
        elif study.about.plot == "curves":
            handle = Line2D([], [], lw=1.1, **{**_look(place), "marker": ""})
        handles.append((handle, study.label(row)))
    return handles


def _open_handle(marker: str, kind: int) -> Any:
    """An open mark; from the second kind on, with a bar across."""
    mark = Line2D([], [], **_OPEN, marker=marker, mec=INK)
    bar = _BARS[min(kind, len(_BARS) - 1)]
    return (mark, Line2D([], [], ls="", marker=bar, ms=8, mew=1.0, mec=INK)) if bar else mark


def _filled_handle() -> Any:
    """A filled mark with its interval, as a legend takes it: from axes that nobody sees."""
    axes = Figure().add_subplot()
    return axes.errorbar([0], [0], yerr=[1], fmt="o", color=INK, **_FILLED)


def _kind_handles(study: Study) -> list[tuple[Any, str]]:
    """Legend of what marks and lines mean, with those that occur."""
    bars, points = study.about.plot == "bars", study.points
    handles: list[tuple[Any, str]] = [
        (_open_handle("D" if bars else "o", n), f"published {kind}".strip())
        for n, kind in enumerate(study.kinds)
    ]
    if any(p.measured is not None for p in points):
        interval = ", 95 % interval" if any(p.ci95 is not None for p in points) else ""
        bar = Patch(facecolor="#bbbbbb", edgecolor=INK)
        handles.append((bar if bars else _filled_handle(), f"measured{interval}"))
    if any(p.model is not None for p in points):
        line = Line2D([], [], color=INK, lw=1.4, ls=(0, (3, 1.5)) if bars else "-")
        handles.append((line, "model"))
        with_model = {p.row for p in points if p.model is not None}
        if not bars and with_model != set(study.rows):
            joint = Line2D([], [], color=INK, **_JOINT)
            handles.append((joint, "no model: marks joined"))
    return handles


def _legend(place: Axes | Figure, handles: list[tuple[Any, str]], **where: Any) -> None:
    """A legend of handles with their words; an open mark and its bar share one place."""
    place.legend(
        [handle for handle, _ in handles],
        [label for _, label in handles],
        handler_map={tuple: HandlerTuple(ndivide=1)},
        handlelength=2.6,
        **where,
    )


def _panel_head(axes: Axes, study: Study, panel: Panel, lines: int) -> None:
    """Title of a panel, and above the data what its rows are, in so many lines (0: not here)."""
    if not lines:
        alone = study.label(panel.rows[0]) if len(panel.rows) == 1 else ""
        axes.set_title(panel.title or alone)
        return
    where: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (-0.02, 1.0)}
    look: dict[str, Any] = {"borderaxespad": 0.2, "labelspacing": 0.25, "alignment": "left"}
    heading: dict[str, Any] = {"weight": "bold", "size": 9.5}
    handles = _row_handles(study, panel)
    handles += [(Line2D([], [], ls=""), "")] * (lines - len(handles))
    _legend(
        axes, handles, title=panel.title, title_fontproperties=heading,
        **where, **look,
    )  # fmt: skip


def _grid(panels: int, heads: int, sharey: bool) -> tuple[Figure, Any]:
    """Axes for so many panels, with room for so many lines of a legend above each."""
    columns = {1: 1, 2: 2, 4: 2}.get(panels, 3)
    rows = math.ceil(panels / columns)
    width, height = {1: (6.6, 3.6), 2: (4.5, 2.7), 3: (3.15, 2.4)}[columns]
    size = (width * columns, (height + 0.15 * heads) * rows)
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, sharex=True, sharey=sharey, squeeze=False)


def _multiples(study: Study) -> Figure:
    """Small multiples with common axes, and one legend of what marks mean."""
    panels = study.panels()
    labels = [[study.label(row) for row in panel.rows] for panel in panels]
    common = len(panels) > 1 and all(names == labels[0] for names in labels)
    most = max(len(names) for names in labels)
    heads = 0 if common or most == 1 else most
    figure, grid = _grid(len(panels), heads, sharey=all(panel.ylim is None for panel in panels))
    limits = _shared_limits(study)
    for axes, panel in zip(grid.flat, panels, strict=False):
        _DRAWERS[study.about.plot](axes, study, panel)
        if panel.ylim or limits:
            axes.set_ylim(panel.ylim or limits)
        _panel_head(axes, study, panel, heads)
    _label_outer(grid, study, len(panels))
    shown = _kind_handles(study)
    if common and len(labels[0]) > 1:
        shown = _row_handles(study, panels[0]) + shown
    if shown:
        columns = 5 if len(panels) > 1 else 4 if len(shown) == 4 else 3
        _legend(figure, shown, loc="outside lower center", ncols=columns)
    return figure


def _label_outer(grid: Any, study: Study, used: int) -> None:
    """Labels at the left and below the lowest panel of each column; empty places vanish."""
    columns = grid.shape[1]
    for n, axes in enumerate(grid.flat):
        axes.set_visible(n < used)
        if n % columns == 0:
            axes.set_ylabel(study.about.y.title)
        if n + columns >= used:
            axes.set_xlabel(study.about.x.title)
            axes.tick_params(axis="x", labelbottom=True)


def draw(study: Study) -> Figure | None:
    """Draw a study; None if it has nothing to draw.

    Raises ResultError if it names a diagram that there is not.
    """
    about = study.about
    with rc_context(PAPER):
        if about.plot == "diagram":
            return diagrams.draw(about.diagram)
        if about.plot == "table" or not study.rows:
            return None
        figure = _multiples(study)
        if about.quick:
            figure.text(0.995, 0.003, "quick run: few seeds, short runs", **_FOOT)
        return figure


def draw_deviations(studies: list[Study]) -> Figure | None:
    """Every measured number's deviation from the published one, a line for each study."""
    compared = [s for s in studies if any(measured_deviation(p) is not None for p in s.points)]
    if not compared:
        return None
    kinds = list(dict.fromkeys(kind for study in compared for kind in study.kinds))
    with rc_context(PAPER):
        figure = Figure(figsize=(8.2, 0.9 + 0.34 * len(compared)), layout="constrained")
        axes = figure.subplots()
        for n, study in enumerate(compared):
            _deviation_marks(axes, study, n, kinds)
        axes.axvspan(-BAND_PERCENT, BAND_PERCENT, color="#e4e4e4", zorder=0, lw=0)
        axes.axvline(0, color="#888888", lw=0.8, zorder=1)
        axes.set_yticks(range(len(compared)), [study.about.source for study in compared])
        axes.set_ylim(len(compared) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(f"deviation of the measured number, %  (grey: within {BAND_PERCENT:g} %)")
        handles = [
            (_open_handle("o", n), f"from the published {kind or 'value'}")
            for n, kind in enumerate(kinds)
        ]
        _legend(figure, handles, loc="outside upper right", ncols=4)
        return figure


def _deviation_marks(axes: Axes, study: Study, line: int, kinds: list[str]) -> None:
    """One study's deviations; the kinds a little above each other."""
    for place, kind in enumerate(study.kinds):
        n = kinds.index(kind)
        found = [measured_deviation(p) for p in study.points if p.kind == kind]
        x = [d for d in found if d is not None]
        y = [line + (place - (len(study.kinds) - 1) / 2) * 0.34] * len(x)
        axes.plot(x, y, ls="", marker="o", ms=5, mfc="none", mew=0.9, mec=COLOURS[n % len(COLOURS)])
        if bar := _BARS[min(n, len(_BARS) - 1)]:
            axes.plot(x, y, ls="", marker=bar, ms=5, mew=0.9, mec=COLOURS[n % len(COLOURS)])
