# SPDX-License-Identifier: GPL-2.0
"""The page of a run, or of several over each other: one HTML file that needs no network.

The charts are Vega-Lite, made with Altair; the page has Vega's JavaScript inside.  All panels show
the same stretch of time.  Data are packed: times are ns, each as the difference from the one
before, so that a minute's packets take a megabyte; page.js unpacks them.
"""

from __future__ import annotations

import json
import sys
import tempfile
import webbrowser
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import altair as alt
import jinja2
import numpy as np
import vl_convert

from wale_lab.engines.kernel_build import cache_root
from wale_lab.files import write_whole
from wale_lab.results.packet_series import PacketSeries, Points, peaks
from wale_lab.results.plot import link_text
from wale_lab.results.series import Curve, RunSeries, bin_of, read_runs
from wale_lab.style import COLOURS
from wale_lab.units import show_goodput, show_time_ns

#: What of the bundle the page's script finds.
_EXPOSE = "window.vegaEmbed = vegaEmbed;"

HERE = Path(__file__).parent

#: Of a time-sequence graph: with more packets than this, only each n-th new one is drawn.
_MOST_PACKETS = 60_000
#: Of a queue by flow: stretches of time of which the largest value is drawn.
_MOST_QUEUE = 4000

#: Dash lengths, so that flows can be told apart without colours.
_DASHES = [[1, 0], [6, 3], [8, 3, 2, 3], [2, 2], [12, 3], [5, 2, 2, 2, 2, 2], [3, 3]]
#: The same colours, as they are legible on dark paper.
_LIGHT_COLOURS = ["#56B4E9", "#FF9B57", "#3FC9A0", "#E6A3CB", "#F0C04A", "#9AD0F5", "#E8E8E8"]


@dataclass
class Panel:
    """A chart over time."""

    key: str
    title: str
    unit: str
    shown: bool = True
    """at first; a box above the charts shows and hides it"""
    steps: bool = False
    """a value holds until the next one, instead of a line between the two"""
    lines: dict[str, list[tuple[str, Points | Curve]]] = field(default_factory=dict)
    """by their kind (solid, dashed, area, points ...): a series and what it has"""
    notes: dict[str, list[str]] = field(default_factory=dict)
    """for each point of a kind, what it says beside its values"""

    def most(self) -> float:
        """Of the axis: a little more than the largest value."""
        values = (_columns(curve)[1] for curves in self.lines.values() for _, curve in curves)
        return 1.06 * max(float(np.nanmax(value, initial=1e-9)) for value in values)

    def add(self, kind: str, series: str, curve: Points | Curve | None) -> None:
        """One more curve, unless there is none."""
        if curve is not None and len(_columns(curve)[0]):
            self.lines.setdefault(kind, []).append((series, curve))


def _columns(curve: Points | Curve) -> tuple[Any, Any]:
    """The times of a curve, ns, and its values."""
    if isinstance(curve, Points):
        return curve.times, curve.values
    return np.round(np.asarray(curve[0]) * 1e9).astype(np.int64), curve[1]


# What the panels show


def panels_of(runs: list[RunSeries]) -> list[Panel]:
    """All panels that have something to show."""
    bin_s = bin_of(runs)
    means = f"means over {show_time_ns(round(bin_s * 1e9))}"
    made = [
        Panel("throughput", f"Throughput, {means}", "Mbit/s", steps=True),
        Panel("rtt", "Round-trip time, smoothed by the sender", "ms"),
        Panel("delay", "One-way delay behind the queue", "ms"),
        Panel("cwnd", "Congestion window", "packets", steps=True),
        Panel("queue", "Queue at the link", "kB", steps=True),
        Panel("queue_by_flow", "Queue by flow, from the log of packets", "kB", steps=True),
        Panel("sequence", "Time-sequence graph, from the log of packets", "MB"),
        Panel("pacing", "Pacing rate", "Mbit/s", shown=False, steps=True),
        Panel("delivery", "Delivery rate, as the sender measures it", "Mbit/s", shown=False),
        Panel("received", "Received", "MB", shown=False),
    ]
    panels = {panel.key: panel for panel in made}
    several = len(runs) > 1
    for run in runs:
        before = f"{run.label}: " if several else ""
        capacity = f"{before}capacity" + (f" of {run.bottleneck}" if run.is_graph else "")
        panels["throughput"].add("capacity", capacity, run.capacity(bin_s))
        _add_flows(panels, run, before, bin_s)
        for link in run.links:
            series = before + (run.flow_of(link) or (link if run.is_graph else "the link"))
            panels["delay"].add("line", series, run.crossing(link))
            panels["queue"].add("line", series, run.backlog(link))
            for why, curve in run.drops(link):
                panels["queue"].add("drops", series, curve)
                panels["queue"].notes.setdefault("drops", []).extend([why] * len(curve[0]))
        if run.packets is not None:
            _add_packets(panels, run, run.packets, before)
            _add_other_udp(panels, run, run.packets, before, bin_s)
    drawn = [panel for panel in made if panel.lines]
    _add_events(drawn, runs)
    return drawn


def _add_events(panels: list[Panel], runs: list[RunSeries]) -> None:
    """What happened to the networks of runs: in all panels, with its name in the first."""
    for run in runs:
        before = f"{run.label}: " if len(runs) > 1 else ""
        for panel in panels:
            for time, text in run.events:
                panel.add("events", before + text, (np.array([time]), np.zeros(1)))
        for time, text in run.event_names():
            panels[0].add("event names", before + text, (np.array([time]), np.zeros(1)))


def _add_flows(panels: dict[str, Panel], run: RunSeries, before: str, bin_s: float) -> None:
    """What the sockets of a run's flows say."""
    for flow in run.flows:
        series = before + flow["name"]
        panels["throughput"].add("line", series, run.throughput(flow, bin_s))
        panels["received"].add("line", series, run.received(flow))
        for name in run.samples_of(flow["name"]):
            panels["rtt"].add("line", series, run.round_trip(name))
            panels["cwnd"].add("line", series, run.window(name))
            panels["pacing"].add("line", series, run.rate(name, "pacing_rate_Bps"))
            panels["delivery"].add("line", series, run.rate(name, "delivery_rate_Bps"))
        panels["cwnd"].add("advice", series, run.rate_window(flow["name"]))
        if (delays := run.delays(flow["name"])) is not None:
            panels["delay"].add("line", series, (delays[0], delays[2]))


def _add_packets(
    panels: dict[str, Panel], run: RunSeries, packets: PacketSeries, before: str
) -> None:
    """What the log of a run's packets says."""
    for link in run.forward_links:
        reverse = link.removesuffix("forward") + "reverse"
        for flow in run.flows:
            series = before + flow["name"]
            if (queue := packets.queue(flow["name"], link)) is not None:
                _add_queue(panels, run, series, queue)
            graph = packets.time_sequence(flow["name"], link, reverse)
            if graph is None:
                continue
            step = -(-max(len(graph.sent), len(graph.acked)) // _MOST_PACKETS)
            if step > 1:
                panels["sequence"].title += f" ({series}: one new packet in {step})"
            panel = panels["sequence"]
            panel.add("acked", series, graph.acked.thinned(step))
            panel.add("sent", series, graph.sent.thinned(step))
            panel.add("again", series, graph.again)
            panel.add("dropped", series, graph.dropped)
            panel.notes.setdefault("dropped", []).extend(graph.fates)


def _add_other_udp(
    panels: dict[str, Panel], run: RunSeries, packets: PacketSeries, before: str, bin_s: float
) -> None:
    """UDP packets of programs, which no flow is known for: QUIC's, say."""
    for link in run.forward_links:
        own = run.flow_of(link) or (link.rpartition(".")[0] if run.is_graph else "")
        series = before + (f"UDP ({own})" if own else "UDP")
        panels["throughput"].add("line", series, run.other_udp(link, bin_s))
        if (queue := packets.queue(None, link)) is not None:
            _add_queue(panels, run, series, queue)


def _add_queue(panels: dict[str, Panel], run: RunSeries, series: str, queue: Points) -> None:
    found = peaks(queue, round(run.end_s * 1e9), _MOST_QUEUE)
    curve = found.times / 1e9, found.values / 1e3
    panels["queue_by_flow"].add("line", series, curve)


def _series(panels: list[Panel]) -> list[str]:
    """What is drawn in a colour of its own, in the order of the legend."""
    coloured = (
        name
        for panel in panels
        for kind, curves in panel.lines.items()
        if kind not in ("capacity", "events", "event names")
        for name, _ in curves
    )
    return list(dict.fromkeys(coloured))


# Data as the page has them


def _packed(panel: Panel) -> dict[str, Any]:
    """By its kind, the curves of a panel: times as differences, ns, and values."""
    result: dict[str, Any] = {}
    for kind, curves in panel.lines.items():
        entries = []
        for series, curve in curves:
            times, values = _columns(curve)
            entry: dict[str, Any] = {"of": series, "t": _differences(times)}
            if isinstance(curve, Points):
                entry["d"] = _differences(values)
            else:
                entry["y"] = [None if np.isnan(v) else _short(v) for v in values]
            entries.append(entry)
        result[kind] = {"curves": entries}
        if panel.notes.get(kind):
            result[kind]["notes"] = panel.notes[kind]
    return result


def _differences(values: Any) -> list[int]:
    found: list[int] = np.diff(np.asarray(values, np.int64), prepend=np.int64(0)).tolist()
    return found


def _short(value: float) -> float | int:
    """A value without digits that nobody sees."""
    rounded = float(f"{value:.7g}")
    return int(rounded) if rounded.is_integer() else rounded


# Charts


class Chart:
    """How a panel is drawn.  `from` and `to` are what page.js shows of the time, s."""

    def __init__(self, panel: Panel, series: list[str]) -> None:
        self.panel = panel
        self.follows = panel.key == "sequence"  # its axis is that of the stretch that is shown
        bounds = alt.Scale(zero=False) if self.follows else alt.Scale(domain=[0, panel.most()])
        stretch = alt.Scale(domain=[alt.ExprRef("from"), alt.ExprRef("to")], nice=False)
        dashes = [_DASHES[n % len(_DASHES)] for n in range(len(series))]
        names = alt.Scale(domain=series)
        self.time = alt.X("t:Q", title=None, scale=stretch, axis=alt.Axis(format=".12~g"))
        self.value = alt.Y("y:Q", title=panel.unit, scale=bounds, axis=alt.Axis(minExtent=42))
        self.flow = alt.Color("of:N", legend=None, scale=names)
        self.dash = alt.StrokeDash(
            "of:N", legend=None, scale=alt.Scale(domain=series, range=dashes)
        )
        self.says: list[Any] = [
            alt.Tooltip("of:N", title="flow"),
            alt.Tooltip("t:Q", title="time, s", format=".11~g"),
            alt.Tooltip("y:Q", title=panel.unit, format=".9~g"),
        ]

    def specification(self) -> dict[str, Any]:
        """In Vega-Lite, without data."""
        draws = {
            "capacity": self._capacity,
            "line": self._line,
            "advice": self._advice,
            "acked": self._acked,
            "sent": self._sent,
            "again": self._again,
            "events": self._events,
            "event names": self._event_names,
        }
        layers = []
        for kind in self.panel.lines:
            base = alt.Chart(alt.NamedData(name=f"{self.panel.key}_{kind}"))
            if self.follows:
                base = base.transform_filter("datum.t >= from && datum.t <= to")
            layers += draws.get(kind, self._dropped)(base)
        title = alt.TitleParams(self.panel.title, anchor="start", fontSize=13, fontWeight=600)
        chart = alt.layer(*layers).properties(title=title, height=260 if self.follows else 130)
        spec: dict[str, Any] = chart.to_dict(context={"datasets": {}})
        ours = {k: v for k, v in spec.items() if k not in ("$schema", "config", "datasets")}
        return {**ours, "name": self.panel.key}

    @property
    def _shape(self) -> Any:
        return "step-after" if self.panel.steps else "linear"

    def _capacity(self, base: alt.Chart) -> list[alt.Chart]:
        mark = base.mark_area(
            interpolate="step-after", line={"strokeDash": [4, 3], "color": "#8a8a8a"},
            opacity=0.18, color="#8a8a8a", clip=True,
        )  # fmt: skip
        value = self.value.stack(None)  # else values of one time, at a step, are added up
        return [mark.encode(self.time, value, detail="line:N", tooltip=self.says)]

    def _line(self, base: alt.Chart) -> list[alt.Chart]:
        """With a point where the pointer is nearest, which has the exact values."""
        near = alt.selection_point(
            name=f"near_{self.panel.key}",
            on="pointermove", nearest=True, clear="pointerout", empty=False,
        )  # fmt: skip
        shown = alt.condition(near, alt.value(1.0), alt.value(0.0))
        line = base.mark_line(interpolate=self._shape, strokeWidth=1.6, clip=True)
        point = base.mark_point(size=40, filled=True, clip=True).add_params(near)
        return [
            line.encode(self.time, self.value, self.flow, self.dash, detail="line:N"),
            point.encode(self.time, self.value, self.flow, opacity=shown, tooltip=self.says),
        ]

    def _advice(self, base: alt.Chart) -> list[alt.Chart]:
        line = base.mark_line(interpolate="step-after", strokeDash=[1, 3], clip=True)
        return [line.encode(self.time, self.value, self.flow, detail="line:N", tooltip=self.says)]

    def _acked(self, base: alt.Chart) -> list[alt.Chart]:
        line = base.mark_line(interpolate="step-after", strokeWidth=1, clip=True)
        return [line.encode(self.time, self.value, self.flow, detail="line:N")]

    def _sent(self, base: alt.Chart) -> list[alt.Chart]:
        mark = base.mark_point(shape="circle", size=7, filled=True, clip=True)
        return [mark.encode(self.time, self.value, self.flow, tooltip=self.says)]

    def _again(self, base: alt.Chart) -> list[alt.Chart]:
        mark = base.mark_point(shape="triangle-up", size=45, strokeWidth=1.5, clip=True)
        return [mark.encode(self.time, self.value, self.flow, tooltip=self.says)]

    def _events(self, base: alt.Chart) -> list[alt.Chart]:
        mark = base.mark_rule(strokeDash=[1, 3], strokeWidth=2, color="#8a8a8a", clip=True)
        says = [alt.Tooltip("of:N", title="event"), self.says[1]]
        return [mark.encode(self.time, tooltip=says)]

    def _event_names(self, base: alt.Chart) -> list[alt.Chart]:
        name = base.mark_text(
            angle=270, align="left", baseline="top", dx=3, dy=3, fontSize=9.5, limit=124,
            color="#8a8a8a", clip=True,
        )  # fmt: skip
        return [name.encode(self.time, y=alt.value("height"), text="of:N")]

    def _dropped(self, base: alt.Chart) -> list[alt.Chart]:
        mark = base.mark_point(shape="cross", size=45, angle=45, filled=True, clip=True)
        says = [*self.says, alt.Tooltip("note:N", title="dropped")]
        return [mark.encode(self.time, self.value, color=alt.value("#D32F2F"), tooltip=says)]


# The page


def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed as a script, which takes seconds to put together."""
    major_minor = ".".join(alt.SCHEMA_VERSION.split(".")[:2])
    kept = cache_root() / f"vega-{version('vl-convert-python')}-{major_minor}.js"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=kept.parent, delete=False) as file:
            file.write(vl_convert.javascript_bundle(_EXPOSE, vl_version=major_minor))
        Path(file.name).rename(kept)
    return kept.read_text("utf-8")


def _facts(run: RunSeries) -> dict[str, Any]:
    """What the page says of a run in words."""
    result = run.result
    return {
        "label": run.label,
        "scenario": result["scenario"],
        "description": result["settings"]["description"],
        "link": link_text(run.link),
        "seed": result["seed"],
        "kernel": result["kernel"],
        "digest": result["digest"],
        "flows": [_flow_facts(flow) for flow in run.flows],
    }


def _amount(flow: dict[str, Any]) -> str:
    """What was received of a flow; by a program, or of one, whichever is more."""
    if flow["cc"] is None or flow.get("bytes") is None:
        return ""
    acked = (flow.get("sockets") or {}).get("bytes_acked") or 0
    return f"{max(flow['bytes'], acked) / 1e6:.2f} MB"


def _flow_facts(flow: dict[str, Any]) -> dict[str, str]:
    """A row of the table of flows."""
    share = flow.get("ideal_share")
    return {
        "name": flow["name"],
        "cc": flow["cc"] or "",
        "received": _amount(flow),
        "seconds": f"{flow['seconds']:.3f}" if flow.get("seconds") is not None else "",
        "goodput": show_goodput(flow["goodput_Bps"]) if flow.get("goodput_Bps") else "",
        "ideal": f"{share:.1%}" if share and not flow.get("constant") else "",
        "retransmits": "" if flow["cc"] is None else str(flow.get("retransmits") or 0),
        "state": "" if flow["completed"] else "did not complete",
    }


def _as_script(value: object) -> str:
    """JSON that may stand inside a <script>."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def page_of(runs: list[RunSeries]) -> str:
    """The HTML of some runs."""
    panels = panels_of(runs)
    series = _series(panels)
    end_s = max(run.end_s for run in runs)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    content = {
        "panels": [{"key": p.key, "title": p.title, "shown": p.shown} for p in panels],
        "charts": [Chart(panel, series).specification() for panel in panels],
        "series": [
            {"name": name, "dash": _DASHES[n % len(_DASHES)]} for n, name in enumerate(series)
        ],
        "data": {p.key: _packed(p) for p in panels},
        "scale": {p.key: 1e6 for p in panels if p.key == "sequence"},
        "colours": {"light": COLOURS, "dark": _LIGHT_COLOURS},
        "end": end_s,
    }
    return environment.get_template("page.html.j2").render(
        runs=[_facts(run) for run in runs],
        title=" and ".join(_unique(run.result["scenario"] for run in runs)),
        time=" and ".join(_unique(run.result["settings"]["time"] for run in runs)),
        panels=content["panels"],
        content=_as_script(content),
        vega=_vega().replace("</script", "<\\/script"),
        script=(HERE / "page.js").read_text("utf-8"),
        style=(HERE / "page.css").read_text("utf-8"),
    )


def _unique(words: Iterable[str]) -> Iterator[str]:
    yield from dict.fromkeys(words)


def write_page(folders: list[Path], path: Path | None = None) -> Path:
    """Write the page of the runs in some folders; by default into the first."""
    name = "result.html" if len(folders) == 1 else "comparison.html"
    path = path or folders[0] / name
    write_whole(path, page_of(read_runs(folders)))
    return path


def open_page(path: Path) -> None:
    """Show it in the user's browser, or say where it is if there is none."""
    if not webbrowser.open(path.resolve().as_uri()):
        print(f"wale-lab: no browser was found; open {path} in one", file=sys.stderr)
