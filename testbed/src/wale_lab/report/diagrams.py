# SPDX-License-Identifier: GPL-2.0
"""Drawings that explain, without data: studies of plot `diagram` name one of them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle

from wale_lab.studies.results import ResultError
from wale_lab.style import COLOURS, FAINT, INK, PAPER, rc_context

_BLUE, _ORANGE, _GREEN = COLOURS[:3]


def _canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty drawing, 10 units to the inch."""
    figure = Figure(figsize=(width / 10, height / 10))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.axis("off")
    return figure, axes


def _arrow(axes: Axes, *points: tuple[float, float], colour: str = INK, **look: Any) -> None:
    """A line through points, with a head at the last."""
    style = {"color": colour, "lw": 1.3, "shrinkA": 0, "shrinkB": 0, **look}
    for begin, end in pairwise(points[:-1]):
        line = {"solid_capstyle": "round", "ls": style.get("ls", "-"), "lw": style["lw"]}
        axes.plot(*zip(begin, end, strict=True), color=colour, **line)
    axes.add_patch(
        FancyArrowPatch(points[-2], points[-1], arrowstyle="-|>", mutation_scale=11, **style)
    )


def _box(axes: Axes, x: float, y: float, width: float, height: float, colour: str) -> None:
    """A rounded box; x and y are of its lower left corner."""
    look: dict[str, Any] = {"facecolor": (colour, 0.1), "edgecolor": colour, "lw": 1.3}
    style = "round,pad=0,rounding_size=1.1"
    axes.add_patch(FancyBboxPatch((x, y), width, height, boxstyle=style, **look))


def _words(axes: Axes, x: float, y: float, text: str, **look: Any) -> None:
    axes.text(x, y, text, **{"ha": "center", "va": "center", "fontsize": 9, **look})


def _note(axes: Axes, x: float, y: float, text: str, **look: Any) -> None:
    """Small explaining words."""
    _words(axes, x, y, text, **{"fontsize": 8, "color": "#555555", "linespacing": 1.35, **look})


def _source(axes: Axes) -> None:
    """The persistent session's sender, and the link without a limit behind it."""
    _box(axes, 2, 20, 17, 12, _BLUE)
    _words(axes, 10.5, 28.6, "persistent session", weight="bold")
    _words(axes, 10.5, 25.4, "TCP or RATCP")
    _words(axes, 10.5, 22.3, r"window $W(t)$")
    _arrow(axes, (19, 26), (32, 26))
    _note(axes, 25.5, 23.3, "infinitely\nfast link")


def _buffer(axes: Axes) -> None:
    """A queue, open at the left, with some packets in it, and what does not fit."""
    left, right, low, high, slots = 32.0, 50.0, 22.5, 29.5, 8
    slot = (right - left) / slots
    for n in range(3, slots):
        axes.add_patch(
            Rectangle((left + n * slot, low), slot, high - low, fc=(_BLUE, 0.25), ec=_BLUE, lw=0.8)
        )
    axes.plot([left, right, right, left], [high, high, low, low], color=INK, lw=1.4)
    _words(axes, (left + right) / 2, 33.6, "link buffer", weight="bold")
    _words(axes, (left + right) / 2, 31.3, r"at most $B_{\max}$ packets")
    _arrow(axes, (left + 0.6, low), (left + 0.6, 17.6), ls=(0, (3, 2)))
    _note(axes, left + 1.8, 18.8, r"lost when $B_{\max}$ are there", ha="left")


def _server(axes: Axes) -> None:
    """The link's server, whose rate the ephemeral sessions set."""
    axes.add_patch(Circle((54.6, 26), 4.6, fc=(_ORANGE, 0.1), ec=_ORANGE, lw=1.3))
    _words(axes, 54.6, 26, r"$\frac{C}{M(t)+1}$", fontsize=12)
    _note(axes, 56, 19.4, "server, packets/s", ha="left")
    _arrow(axes, (59.2, 26), (69, 26))


def _modulation(axes: Axes) -> None:
    """The chain of the number of ephemeral sessions, above the server."""
    _box(axes, 36.6, 38, 36, 11, _ORANGE)
    _words(axes, 54.6, 46.9, r"$M(t)$ ephemeral sessions", weight="bold")
    for n in range(4):
        at = 43.5 + 7.4 * n
        name = str(n) if n < 3 else r"$M_{\max}$"
        axes.add_patch(Circle((at, 41.8), 1.9, fc="none", ec=_ORANGE, lw=1.1))
        _words(axes, at, 41.8, name, fontsize=8.5 if n < 3 else 6)
        if n < 3:
            _step(axes, (at + 1.5, 42.8), (at + 5.9, 42.8), ls="-")
            _step(axes, (at + 5.9, 40.8), (at + 1.5, 40.8), ls="-")
    _arrow(axes, (54.6, 38), (54.6, 30.7), colour=_ORANGE, ls=(0, (4, 2)))
    _note(axes, 55.6, 34.8, "sets the rate", ha="left")
    _note(axes, 74, 43.4, "arrive at random, bring files\nof exponential size, leave;\n"
          "their packets are not\nin the buffer", ha="left")  # fmt: skip


def _step(axes: Axes, begin: tuple[float, float], end: tuple[float, float], ls: str) -> None:
    """A bent arrow between two states."""
    axes.add_patch(
        FancyArrowPatch(
            begin, end, connectionstyle="arc3,rad=-0.35", arrowstyle="-|>", mutation_scale=6,
            color=_ORANGE, lw=0.9, ls=ls, shrinkA=0, shrinkB=0,
        )
    )  # fmt: skip


def _delay(axes: Axes) -> None:
    """The fixed round trip delay: each packet has a server of its own."""
    _box(axes, 69, 20, 18, 12, _GREEN)
    _words(axes, 78, 29.7, r"delay $\Delta$", weight="bold")
    for y, begin in ((26.8, 71.5), (25.2, 74.5), (23.6, 72.6), (22.0, 75.6)):
        _arrow(axes, (begin, y), (begin + 9, y), colour=_GREEN, lw=0.9)
    _note(axes, 78, 34.4, "fixed round trip:\ninfinite server")


def _feedback(axes: Axes) -> None:
    """The way back: acknowledgments, and with them the rate of one delay ago."""
    _arrow(axes, (87, 26), (91.4, 26), (91.4, 7.6), (7, 7.6), (7, 20))
    _words(axes, 49.5, 9.5, "acknowledgments")
    _arrow(axes, (54.6, 21.4), (54.6, 14), (14, 14), (14, 20), colour=_ORANGE, ls=(0, (4, 2)))
    _words(axes, 26, 15.5, r"rate feedback $R(t-\Delta)$", color=_ORANGE)


def queueing_model() -> Figure:
    """The model of Karnik and Kumar's Section III (their Fig. 1): one session's closed queue."""
    with rc_context(PAPER):
        figure, axes = _canvas(94, 52)
        for part in (_source, _buffer, _server, _modulation, _delay, _feedback):
            part(axes)
        words = (
            r"$C$: link rate.  Without losses $W(t)$ packets are on their way: "
            "in the buffer, or in the delay as packets and acknowledgments."
        )
        _words(axes, 2, 3.2, words, ha="left", fontsize=8, color=FAINT)
        return figure


_DIAGRAMS = {"queueing_model": queueing_model}


def draw(name: str | None) -> Figure:
    """Draw by name; ResultError if there is no such diagram."""
    if name not in _DIAGRAMS:
        raise ResultError(f"diagram: expected one of {', '.join(_DIAGRAMS)}, got {name!r}")
    return _DIAGRAMS[name]()
