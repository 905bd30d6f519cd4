# SPDX-License-Identifier: GPL-2.0
"""The picture of a trace: a panel for each column over time, with outages in grey."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wale_lab.style import COLOURS, INK, PICTURE, rc_context, save_picture
from wale_lab.trace_format.step import Step, show_time
from wale_lab.trace_format.text import one_line

#: So many steps at most are drawn; of more, the least and the greatest in each part.
_MOST = 5_000

_DOWN = "#d9d9d9"


@dataclass
class Panel:
    """A column of a trace as numbers, nan where it is not given."""

    title: str
    unit: str
    color: str
    values: Any


def _numbers(values: list[float | None]) -> Any:
    return np.array([np.nan if value is None else value for value in values])


def _panels(steps: list[Step]) -> list[Panel]:
    """The columns that a trace has."""
    rates = [0 if step.down else step.rate_bps for step in steps]
    peak = max((rate for rate in rates if rate is not None), default=0)
    unit, size = next(
        ((name, size) for name, size in (("Gbit/s", 1e9), ("Mbit/s", 1e6)) if peak >= size),
        ("kbit/s", 1e3),
    )
    packets = any(step.limit and step.limit.endswith("p") for step in steps)
    limits = [
        None if s.limit is None else int(s.limit[:-1]) / (1 if packets else 1e3) for s in steps
    ]
    rows: list[tuple[str, str, list[Any]]] = [
        ("Rate", unit, [None if rate is None else rate / size for rate in rates]),
        ("Delay, one way", "ms", [None if s.delay_ns is None else s.delay_ns / 1e6 for s in steps]),
        ("Loss", "%", [None if s.loss is None else s.loss * 100 for s in steps]),
        ("Limit of the buffer", "packets" if packets else "kB", limits),
    ]
    has_rate = any(step.rate_bps is not None for step in steps)
    found = [
        Panel(title, unit, COLOURS[n % len(COLOURS)], _numbers(values))
        for n, (title, unit, values) in enumerate(rows)
        if any(value is not None for value in values) and (n or has_rate)
    ]
    return found or [Panel(*rows[0][:2], COLOURS[0], _numbers(rows[0][2]))]


def _thinned(edges: Any, values: Any) -> tuple[Any, Any]:
    """A curve of steps with few enough of them; peaks and troughs stay."""
    if len(values) <= _MOST:
        return edges, values
    size = -(-len(values) // (_MOST // 2))
    starts = np.arange(0, len(values), size)
    low, high = np.fmin.reduceat(values, starts), np.fmax.reduceat(values, starts)
    begins = edges[starts]
    middles = (begins + np.append(begins[1:], edges[-1])) / 2
    thin_edges = np.append(np.column_stack([begins, middles]).ravel(), edges[-1])
    return thin_edges, np.column_stack([low, high]).ravel()


def _shade(axes: Axes, edges: Any, down: Any) -> None:
    """Outages, as one area."""
    thin_edges, values = _thinned(edges, down.astype(float))
    axes.stairs(
        values,
        thin_edges,
        fill=True,
        color=_DOWN,
        lw=0,
        zorder=0.5,
        transform=axes.get_xaxis_transform(),
    )


def _about(steps: list[Step], seconds: float) -> str:
    up = [s for s in steps if s.rate_bps is not None]
    time = sum(s.duration_ns for s in up)
    words = [f"{seconds:.6g} s", f"{len(steps)} steps"]
    if time:
        mean = sum((s.rate_bps or 0) * s.duration_ns for s in up) / time
        words.append(f"mean rate {mean / 1e6:.4g} Mbit/s")
    down = sum(s.duration_ns for s in steps if s.down)
    if down:
        words.append(f"down {show_time(down)}")
    return ", ".join(words)


def figure_of(name: str, steps: list[Step]) -> Figure:
    """The figure of a trace."""
    edges = np.cumsum([0, *(step.duration_ns for step in steps)]) / 1e9
    down = np.array([step.down for step in steps])
    panels = _panels(steps)
    with rc_context(PICTURE):
        figure = Figure(figsize=(9, 0.9 + 1.75 * len(panels)), layout="constrained")
        rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False)
        for axes, panel in zip(rows[:, 0], panels, strict=True):
            thin_edges, values = _thinned(edges, panel.values)
            axes.stairs(values, thin_edges, color=panel.color, lw=1.2, baseline=None)
            _shade(axes, edges, down)
            axes.set_title(panel.title)
            axes.set_ylabel(panel.unit)
            axes.set_ylim(bottom=0, top=max(np.nanmax(panel.values) * 1.08, 1e-3))
            axes.margins(x=0)
        rows[-1, 0].set_xlabel("Time, s" + (" (grey: down)" if down.any() else ""))
        title = f"{one_line(name)}: {_about(steps, edges[-1])}"
        figure.suptitle(title, x=0.01, ha="left", color=INK, fontsize=11, parse_math=False)
    return figure


def draw(name: str, steps: list[Step], path: Path) -> None:
    """Write the picture of a trace."""
    save_picture(figure_of(name, steps), path)
