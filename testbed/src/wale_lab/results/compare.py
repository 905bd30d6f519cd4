# SPDX-License-Identifier: GPL-2.0
"""Runs beside each other by one number or distribution, rather than over time.

`distribution` draws what share of the time, or of the packets, a quantity was at most so much;
`tradeoff` is the picture of Pantheon (Yan and others, USENIX ATC 2018): for each flow, throughput
against the 95th percentile of the one-way delay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from wale_lab.results.series import Curve, RunSeries, bin_of
from wale_lab.style import COLOURS, FAINT, LINES, MARKERS, STYLE, rc_context

Values = NDArray[np.float64]

#: What is written beside a distribution.
PERCENTILES = (50, 95, 99)
#: Pantheon's, of the delay.
_TAIL = 95


@dataclass(frozen=True)
class Metric:
    """A quantity of a flow that has a distribution."""

    title: str
    unit: str
    values: Callable[[RunSeries, str], Values]
    """of a run and the name of a flow; empty if it has none"""


def _throughput(run: RunSeries, name: str) -> Values:
    flow = next(flow for flow in run.flows if flow["name"] == name)
    found = run.throughput(flow, bin_of([run]))
    return np.array([]) if found is None else found[1][:-1]


def _round_trips(run: RunSeries, name: str) -> Values:
    curves = [run.round_trip(sampled) for sampled in run.samples_of(name)]
    return np.concatenate([np.array([]), *(curve[1] for curve in curves if curve is not None)])


def _packets(run: RunSeries, name: str, end: str) -> Values:
    """How long after its arrival each packet of a flow was there on the forward link, ms."""
    if run.packets is None:
        return np.array([])
    return run.packets.times_from_arrival(name, run.forward_links, end) / 1e6


def _queueing_delay(run: RunSeries, name: str) -> Values:
    """Of the packets, if there is a log; else of the link at each sample while the flow ran."""
    found = _packets(run, name, "start_ns")
    if len(found):
        return found
    return _on_the_link(run, name, run.waiting)


def _one_way_delay(run: RunSeries, name: str) -> Values:
    """Of the packets, if they were logged or timed; else of the link at each sample."""
    found = _packets(run, name, "departure_ns")
    if len(found):
        return found
    timed = run.delays(name)
    return _on_the_link(run, name, run.crossing) if timed is None else timed[2]


def _on_the_link(run: RunSeries, name: str, curve: Callable[[str], Curve | None]) -> Values:
    """What the forward link says at each sample while a flow ran."""
    flow = next(flow for flow in run.flows if flow["name"] == name)
    own = [link for link in run.links if run.flow_of(link) in (None, name)]
    if not own or flow.get("end_s") is None:
        return np.array([])
    found = next(filter(None, map(curve, own)), None)  # in a graph, of the bottleneck alone
    if found is None:
        return np.array([])
    used = (found[0] >= flow["start_s"]) & (found[0] <= flow["end_s"]) & ~np.isnan(found[1])
    chosen: Values = found[1][used]
    return chosen


METRICS = {
    "throughput": Metric("Throughput", "Mbit/s", _throughput),
    "rtt": Metric("Round-trip time, smoothed by the sender", "ms", _round_trips),
    "queueing_delay": Metric("Queueing delay", "ms", _queueing_delay),
    "one_way_delay": Metric("One-way delay", "ms", _one_way_delay),
}


def _flows(runs: list[RunSeries]) -> Iterator[tuple[RunSeries, str, str]]:
    """Each flow of each run, and what it is called."""
    for run in runs:
        for flow in run.flows:
            name = flow["name"]
            yield run, name, name if len(runs) == 1 else f"{run.label}: {name}"


def distribution(runs: list[RunSeries], names: list[str]) -> Figure:
    """A panel for each metric: its cumulative distribution by flow, with percentiles."""
    with rc_context(STYLE):
        height = max(2.9, 0.4 + 0.35 * len(list(_flows(runs))))  # of a panel, and its legend
        figure = Figure(figsize=(9, 0.6 + height * len(names)), layout="constrained")
        rows = figure.subplots(len(names), 1, squeeze=False)[:, 0]
        for axes, name in zip(rows, names, strict=True):
            _draw_distribution(axes, runs, METRICS[name])
    return figure


def _draw_distribution(axes: Axes, runs: list[RunSeries], metric: Metric) -> None:
    axes.set_title(metric.title)
    axes.set_xlabel(metric.unit)
    axes.set_ylabel("cumulative share")
    axes.set_ylim(0, 1.01)
    for n, (run, flow, label) in enumerate(_flows(runs)):
        values = np.sort(metric.values(run, flow))
        if not len(values):
            continue
        marks = np.percentile(values, PERCENTILES)
        said = ", ".join(f"p{p} {v:.4g}" for p, v in zip(PERCENTILES, marks, strict=True))
        shares = np.arange(1, len(values) + 1) / len(values)
        axes.plot(
            np.append(values[:1], values), np.append(0.0, shares), drawstyle="steps-post",
            color=COLOURS[n % len(COLOURS)], ls=LINES[n % len(LINES)], label=f"{label}\n{said}",
        )  # fmt: skip
    if axes.get_lines():
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8.5)
    else:
        axes.annotate("no flow has it", (0.5, 0.5), xycoords="axes fraction", color=FAINT)


def tradeoff(runs: list[RunSeries]) -> Figure:
    """For each flow a point: throughput against a high percentile of its one-way delay."""
    with rc_context(STYLE):
        figure = Figure(figsize=(7, 4.6), layout="constrained")
        axes = figure.subplots()
        for n, (run, name, label) in enumerate(_flows(runs)):
            delays = _one_way_delay(run, name)
            flow = next(flow for flow in run.flows if flow["name"] == name)
            if not len(delays) or not flow.get("goodput_Bps"):
                continue
            point = float(np.percentile(delays, _TAIL)), flow["goodput_Bps"] * 8e-6
            look: dict[str, Any] = {
                "color": COLOURS[n % len(COLOURS)],
                "marker": MARKERS[n % len(MARKERS)],
            }
            axes.plot(*point, ls="", ms=8, **look)
            axes.annotate(label, point, xytext=(7, 4), textcoords="offset points", fontsize=9)
        axes.set_title("Throughput and delay: better is up and to the right")
        axes.set_xlabel(f"{_TAIL}th percentile of the one-way delay, ms")
        axes.set_ylabel("goodput, Mbit/s")
        axes.margins(0.15)
        axes.set_ylim(bottom=0)
        axes.invert_xaxis()  # as Pantheon has it
    return figure
