# SPDX-License-Identifier: GPL-2.0
"""The picture of a run, or of several over each other: a panel for each quantity over time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from wale_lab.errors import ScenarioError
from wale_lab.results.series import Curve, RunSeries, bin_of, read_runs
from wale_lab.style import COLOURS, FAINT, INK, LINES, PICTURE, rc_context, save_picture, tint
from wale_lab.trace_format.step import as_step
from wale_lab.units import show_goodput, show_rate, show_time_ns

#: What a picture may be, by the end of its name.
FORMATS = (".png", ".svg", ".pdf")

#: Of a picture: flows that the legend names, at most.
_MOST_NAMES = 14

_CAPACITY = "#8a8a8a"
_SHARED = "#444444"


@dataclass(frozen=True)
class Look:
    """How a line is drawn."""

    color: Any
    linestyle: Any = "-"

    def of(self, width: float) -> dict[str, Any]:
        """For plot()."""
        return {"color": self.color, "ls": self.linestyle, "lw": width}


class Picture:
    """Runs, and how their flows look."""

    def __init__(self, runs: list[RunSeries]) -> None:
        self.runs = runs
        self.bin_s = bin_of(runs)
        self.looks: dict[tuple[str, str | None], Look] = {}
        for n, run in enumerate(runs):
            for m, flow in enumerate(run.flows):
                self.looks[run.label, flow["name"]] = self._look(n, m)
            alone = Look(_SHARED) if len(runs) == 1 else Look(COLOURS[n % len(COLOURS)])
            self.looks[run.label, None] = alone

    def _look(self, run: int, flow: int) -> Look:
        """One run: a colour for each flow. Several: one for each run, and lines for the flows."""
        if len(self.runs) == 1:
            return Look(COLOURS[flow % len(COLOURS)])
        shade = (1.0, 0.66, 0.45)[min(flow, 2)]
        return Look(tint(COLOURS[run % len(COLOURS)], shade), LINES[flow % len(LINES)])

    def flows(self) -> Iterator[tuple[RunSeries, dict[str, Any], Look]]:
        """Each flow of each run."""
        for run in self.runs:
            for flow in run.flows:
                yield run, flow, self.looks[run.label, flow["name"]]

    def links(self) -> Iterator[tuple[RunSeries, str, Look]]:
        """Each forward link of each run."""
        for run in self.runs:
            for link in run.links:
                yield run, link, self.looks[run.label, run.flow_of(link)]


def _line(axes: Axes, curve: Curve | None, look: Look, width: float = 1.3, **more: Any) -> None:
    if curve is not None:
        axes.plot(*curve, **look.of(width), **more)


def _draw_throughput(axes: Axes, picture: Picture) -> None:
    drawn: list[Curve] = []
    for run in picture.runs:
        capacity = run.capacity(picture.bin_s)
        if capacity is None or any(_same(capacity, other) for other in drawn):
            continue
        colour = picture.looks[run.label, None].color if drawn else _CAPACITY
        axes.plot(*capacity, color=colour, ls="--", lw=1, drawstyle="steps-post")
        if not drawn:
            axes.fill_between(*capacity, step="post", color="#f3f3f3", lw=0, zorder=0)
        drawn.append(capacity)
    for run, flow, look in picture.flows():
        _line(axes, run.throughput(flow, picture.bin_s), look, drawstyle="steps-post")


def _same(one: Curve, other: Curve) -> bool:
    """Are they one curve, as far as both go?"""
    return len(one[1]) == len(other[1]) and bool(np.allclose(one[1], other[1]))


def _draw_round_trips(axes: Axes, picture: Picture) -> None:
    for run, flow, look in picture.flows():
        names = run.samples_of(flow["name"])
        for name in names:
            _line(axes, run.round_trip(name), look, 1.3 if len(names) == 1 else 0.6)


def _draw_delays(axes: Axes, picture: Picture) -> None:
    """What crossing the link takes behind all that waits; and what packets took that were timed."""
    for run, link, look in picture.links():
        _line(axes, run.crossing(link), look, 1.1)
    for run, flow, look in picture.flows():
        found = run.delays(flow["name"])
        if found is not None:
            times, least, mean, largest = found
            axes.fill_between(times, least, largest, color=look.color, alpha=0.18, lw=0)
            axes.plot(times, mean, **look.of(1.3))


def _draw_queueing_delays(axes: Axes, picture: Picture) -> None:
    for run, link, look in picture.links():
        _line(axes, run.waiting(link), look, 1.1)


def _draw_windows(axes: Axes, picture: Picture) -> None:
    for run, flow, look in picture.flows():
        names = run.samples_of(flow["name"])
        for name in names:
            width = 1.1 if len(names) == 1 else 0.6
            _line(axes, run.window(name), look, width, drawstyle="steps-post")
        heard = Look(look.color, ":")
        _line(axes, run.rate_window(flow["name"]), heard, 1.6, drawstyle="steps-post")


def _draw_backlogs(axes: Axes, picture: Picture) -> None:
    for run, link, look in picture.links():
        _line(axes, run.backlog(link), look, 1.0, drawstyle="steps-post")
    limits = {run.link.get("limit") or "" for run in picture.runs if not run.link.get("queue")}
    for limit in sorted(limits):
        if limit.endswith("b") and any(run.links for run in picture.runs):
            size = int(limit[:-1]) / 1e3
            axes.axhline(size, color=_CAPACITY, ls="--", lw=1)
            axes.annotate(
                "buffer", (1, size), xycoords=("axes fraction", "data"),
                ha="right", va="bottom", color=FAINT, fontsize=8.5,
            )  # fmt: skip


#: By the name of their metric: title, unit, and what draws it; {bin} is what throughput is averaged
#: over, {timed} are flows whose packets were timed.
PANELS: dict[str, tuple[str, str, Callable[[Axes, Picture], None]]] = {
    "throughput": ("Throughput, means over {bin}", "Mbit/s", _draw_throughput),
    "rtt": ("Round-trip time, smoothed by the sender", "ms", _draw_round_trips),
    "one_way_delay": ("One-way delay{timed} behind the queue", "ms", _draw_delays),
    "queueing_delay": ("Queueing delay of the forward link", "ms", _draw_queueing_delays),
    "cwnd": ("Congestion window", "packets", _draw_windows),
    "queue": ("Queue of the forward link", "kB", _draw_backlogs),
}
#: Those that are drawn unless others are asked for.
_USUAL = [name for name in PANELS if name != "queueing_delay"]


def _label(run: RunSeries, flow: dict[str, Any], several: bool) -> str:
    """A flow and what it got, in the legend."""
    control = f" ({flow['cc']})" if flow["cc"] not in (flow["name"], "none") else ""
    said = f"{run.label}: {flow['name']}{control}" if several else f"{flow['name']}{control}"
    if flow["goodput_Bps"]:
        said += f", {show_goodput(flow['goodput_Bps'])}"
    if flow.get("ideal_share") and not flow.get("constant"):
        said += f", {flow['ideal_share']:.0%} of ideal"
    return said + ("" if flow["completed"] else ", failed")


def _entries(picture: Picture) -> list[tuple[Line2D, str]]:
    """What the legend has: the flows, then what else there are lines of."""
    several = len(picture.runs) > 1
    found = [
        (Line2D([], [], **look.of(1.8)), _label(run, flow, several))
        for run, flow, look in picture.flows()
    ]
    if len(found) > _MOST_NAMES:
        left = len(found) - _MOST_NAMES + 1
        found = [*found[: _MOST_NAMES - 1], (Line2D([], [], lw=0), f"and {left} more")]
    if any(run.is_graph for run in picture.runs):
        found.append((Line2D([], [], color=_SHARED, lw=1.1), "links in which packets waited"))
    elif not several and any(link == "forward" for _, link, _ in picture.links()):
        what = "the link that they share" if len(found) > 1 else "the link"
        found.append((Line2D([], [], color=_SHARED, lw=1.1), what))
    if any(run.capacity(picture.bin_s) is not None for run in picture.runs):
        found.append((Line2D([], [], color=_CAPACITY, lw=1, ls="--"), "capacity of the link"))
    if any(run.rate_window(flow["name"]) is not None for run, flow, _ in picture.flows()):
        found.append((Line2D([], [], color=_CAPACITY, lw=1.6, ls=":"), "rate window"))
    return found


def _legend(figure: Figure, picture: Picture) -> None:
    """All lines, above the panels, below the title."""
    handles, labels = zip(*_entries(picture), strict=True)
    columns = 1 if max(map(len, labels)) > 48 else 2
    legend = figure.legend(
        handles, labels, loc="outside upper left", ncols=columns, fontsize=9.5,
        title="\n".join(_titles(picture)), title_fontsize=12, alignment="left", borderaxespad=0.3,
    )  # fmt: skip
    legend.get_title().set_color(INK)


def _titles(picture: Picture) -> list[str]:
    """What the runs are of, in words: all in one line if that is the same."""
    texts = {
        run.label: (f"{run.bottleneck}, " if run.is_graph else "") + link_text(run.link)
        for run in picture.runs
    }
    if len(picture.runs) == 1:
        (run,) = picture.runs
        return [f"{run.result['scenario']}: {texts[run.label]}"]
    if len(set(texts.values())) == 1:
        return [f"{' and '.join(texts)}: {next(iter(texts.values()))}"]
    return [f"{label}: {text}" for label, text in texts.items()]


def _about(picture: Picture) -> str:
    """What made the runs."""
    found = [
        (f"{run.label}: " if len(picture.runs) > 1 else "")
        + f"seed {run.result['seed']}, Linux {run.result['kernel']}, "
        f"digest {run.result['digest'][:12]}"
        for run in picture.runs
    ]
    return "\n".join(found)


def _words(picture: Picture) -> dict[str, str]:
    """What the titles of panels have in braces."""
    flows = dict.fromkeys(f["name"] for run, f, _ in picture.flows() if run.delays(f["name"]))
    timed = f": packets of {', '.join(flows)}; and" if flows else ""
    return {"bin": show_time_ns(round(picture.bin_s * 1e9)), "timed": timed}


def _draw_events(rows: Sequence[Axes], picture: Picture) -> None:
    """A line across all panels where something happens to a network; what, if there is room."""
    several = len(picture.runs) > 1
    for run in picture.runs:
        colour = picture.looks[run.label, None].color if several else _CAPACITY
        for time, _ in run.events:
            for axes in rows:
                axes.axvline(time, color=colour, ls=(0, (1, 2)), lw=1, zorder=0)
        names = [] if several else run.event_names()
        for time, text in names:
            rows[0].annotate(
                text, (time, 0.04), xycoords=("data", "axes fraction"), xytext=(3, 0),
                textcoords="offset points", ha="left", va="bottom", rotation=90, color=FAINT,
                fontsize=7.5, clip_on=True,
            )  # fmt: skip


def _finish(axes: Axes, title: str, unit: str) -> None:
    axes.set_title(title)
    axes.set_ylabel(unit)
    axes.margins(x=0)
    axes.set_ylim(bottom=0, top=max(axes.get_ylim()[1], 1e-3))


def _shown(
    picture: Picture, names: list[str]
) -> list[tuple[str, str, Callable[[Axes, Picture], None]]]:
    """The panels that have something to show."""
    axes = Figure().subplots()
    found = []
    for panel in (PANELS[name] for name in names):
        axes.clear()
        panel[2](axes, picture)
        if any(np.size(line.get_xdata()) for line in axes.get_lines()):
            found.append(panel)
    return found


def figure_of(runs: list[RunSeries], names: list[str] | None = None) -> Figure:
    """The figure of some runs: all usual panels that have something to show, or those named."""
    picture = Picture(runs)
    panels = _shown(picture, names or _USUAL)
    if not panels:
        raise ScenarioError(f"the runs have nothing to draw for {', '.join(names or _USUAL)}")
    height = 0.8 + 0.25 * (len(runs) + len(_entries(picture)) / 2) + 1.75 * len(panels)
    with rc_context(PICTURE):
        figure = Figure(figsize=(9, height), layout="constrained")
        rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False)
        for axes, (title, unit, draw_panel) in zip(rows[:, 0], panels, strict=True):
            draw_panel(axes, picture)
            _finish(axes, title.format(**_words(picture)), unit)
        _draw_events(list(rows[:, 0]), picture)
        rows[-1, 0].set_xlim(0, max(run.end_s for run in runs))
        times = dict.fromkeys(run.result["settings"]["time"] for run in runs)
        rows[-1, 0].set_xlabel(f"{' and '.join(times)} time, s")
        _legend(figure, picture)
        figure.supxlabel(_about(picture), x=0.995, ha="right", color="#999999", fontsize=7.5)
    return figure


def draw(folders: list[Path], path: Path | None = None) -> Path:
    """Draw the runs in some folders; by default into the first."""
    path = path or folders[0] / ("result.png" if len(folders) == 1 else "comparison.png")
    figure = figure_of(read_runs(folders))
    save_picture(figure, path)
    return path


def _delay_text(link: dict[str, Any]) -> str:
    """The delay of a link, or the range of its trace's."""
    steps = [as_step(step) for step in (link["trace"] or {}).get("steps", [])]
    delays = {step.delay_ns for step in steps if step.delay_ns is not None}
    ends = (min(delays), max(delays)) if delays else (link["delay"],)
    return " to ".join(dict.fromkeys(show_time_ns(round(ns, -5)) for ns in ends))


def link_text(link: dict[str, Any]) -> str:
    """A link in a few words."""
    if link["qdisc"]:
        return str(link["qdisc"])
    words = ["changing rate" if link["trace"] else show_rate(link["rate"])]
    if link["sessions"]:
        words[0] += " shared with sessions"
    words.append(f"{_delay_text(link)} one way")
    limit = link["limit"]
    if link.get("queue"):
        words.append(str(link["queue"]))
    elif limit.endswith("b"):
        words.append(f"{int(limit[:-1]) / 1e3:g} kB buffer")
    elif limit.endswith(" cells"):
        words.append(limit)
    else:
        words.append(f"{limit[:-1]} packets of buffer")
    if link["loss"]:
        words.append(f"{link['loss'] * 100:.3g}% loss")
    return ", ".join(words)
