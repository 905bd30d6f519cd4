# SPDX-License-Identifier: GPL-2.0
"""What is drawn of a run: its files as quantities over time, in the units of people.

A curve is a list of times, in seconds of the scenario, and one of values.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wale_lab.errors import ScenarioError
from wale_lab.link import Trace
from wale_lab.results.sessions import received_over_time
from wale_lab.results.stored import read_result
from wale_lab.results.trace_work import TraceWork
from wale_lab.units import UNLIMITED

if TYPE_CHECKING:
    from wale_lab.results.packet_series import PacketSeries

Series = dict[str, dict[str, list[float]]]
Values = NDArray[np.float64]
Curve = tuple[Values, Values]

#: Why links drop packets that they should carry: columns of links.csv.
DROPS = ("buffer", "loss", "early", "child")

#: Of a curve of capacity: steps of a trace beyond this are drawn as their means.
_MOST_STEPS = 400

#: What a flow has received that did not come over a link, as a share of what the link can send.
_MORE = 1.05

#: Times this close are one: what is between them is the rounding of their sums.
_SAME_TIME_S = 1e-6

#: How far apart events are that are named one by one, as a share of the run's time.
_ROOM = 0.035

#: Of a graph: links whose queues are drawn.
_MOST_LINKS = 6


def read_series(path: Path, name: str, columns: list[str]) -> Series:
    """Columns of a CSV file for each flow or link; samples without a value are left out."""
    series: Series = defaultdict(lambda: defaultdict(list))
    if not path.exists():
        return series
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        last = (reader.fieldnames or [name])[-1]
        for row in reader:
            if row[last] is None:
                raise ValueError(f"{path}:{reader.line_num}: this line is not whole")
            for column in columns:
                if row.get(column, "") not in ("", "inf"):
                    series[row[name]][column].append(float(row[column]))
                    series[row[name]][f"{column} at"].append(float(row["t_s"]))
    return series


def _curve(data: dict[str, list[float]], column: str, scale: float = 1.0) -> Curve | None:
    """A column of read_series(), times a factor; None if it has no values."""
    if not data.get(column):
        return None
    return np.array(data[f"{column} at"]), np.array(data[column]) * scale


@dataclass(frozen=True)
class RunSeries:
    """A run, read from its folder."""

    folder: Path
    label: str
    """what it is called beside other runs"""

    @cached_property
    def result(self) -> dict[str, Any]:
        """result.json."""
        return read_result(self.folder)

    @cached_property
    def packets(self) -> PacketSeries | None:
        """The log of packets, if there is one."""
        path = self.folder / "packets.parquet"
        if not path.exists():
            return None
        # not above: it loads pyarrow, which runs without a log do not need
        from wale_lab.results.packet_series import PacketSeries

        return PacketSeries(path)

    @property
    def flows(self) -> list[dict[str, Any]]:
        """The flows of result.json."""
        found: list[dict[str, Any]] = self.result["flows"]
        return found

    @property
    def link(self) -> dict[str, Any]:
        """The settings of the forward link; in a graph, of the one that was used most."""
        settings = self.result["settings"]
        found: dict[str, Any] = (
            directions_of(settings["topology"])[self.bottleneck]
            if self.is_graph
            else settings["bottleneck"]["forward"]
        )
        return found

    @property
    def is_graph(self) -> bool:
        """Is the topology no dumbbell?"""
        return bool(self.result["settings"]["topology"]["type"] == "graph")

    @cached_property
    def bottleneck(self) -> str:
        """The name of that link, without that of its copy."""
        if not self.is_graph:
            return "forward"
        best = max(self.result["links"], key=lambda link: link["utilisation"] or 0.0)
        return self._own_name(best["name"])

    def _own_name(self, link: str) -> str:
        """The name of a link in its copy of the topology."""
        return link.partition(".")[2] if self.result["settings"]["isolate"] else link

    @property
    def end_s(self) -> float:
        """When the run ended."""
        return float(max(self.result["virtual_s"], 0.1))

    @cached_property
    def _samples(self) -> Series:
        columns = ["bytes_received", "bytes_acked", "cwnd_packets", "srtt_us"]
        columns += ["pacing_rate_Bps", "delivery_rate_Bps"]
        return read_series(self.folder / "flows.csv", "flow", columns)

    @cached_property
    def _links(self) -> Series:
        columns = ["backlog_bytes", "rate_Bps", *(f"dropped_{why}_packets" for why in DROPS)]
        return read_series(self.folder / "links.csv", "link", columns)

    @cached_property
    def _delays(self) -> Series:
        columns = ["packets", "least_delay_s", "mean_delay_s", "largest_delay_s"]
        return read_series(self.folder / "delays.csv", "flow", columns)

    @cached_property
    def _advice(self) -> Series:
        return read_series(self.folder / "channel.csv", "flow", ["rate_window_packets"])

    @property
    def links(self) -> list[str]:
        """The forward links that were recorded: FLOW.forward, or forward if all share it.

        In a graph, all in which packets waited, those with the longest queues.
        """
        if not self.is_graph:
            return [name for name in self._links if name.rpartition(".")[2] == "forward"]
        peaks = {name: max(data["backlog_bytes"], default=0) for name, data in self._links.items()}
        longest = sorted((name for name in peaks if peaks[name]), key=lambda name: -peaks[name])
        return [name for name in self._links if name in longest[:_MOST_LINKS]]

    @property
    def forward_links(self) -> list[str]:
        """The same, recorded or not."""
        names = (link["name"] for link in self.result["links"])
        return [name for name in names if name.rpartition(".")[2] == "forward"]

    def flow_of(self, link: str) -> str | None:
        """Whose copy a link is; None if it is no copy."""
        return link.partition(".")[0] if self.result["settings"]["isolate"] else None

    # Events

    @cached_property
    def events(self) -> list[tuple[float, str]]:
        """What the scenario had happen to its network: when, s, and what, in a few words."""
        found = []
        for event in self.result["settings"].get("events", []):
            found.append((event["at"] / 1e9, _event_text(event)))
            if event.get("reroute"):
                found.append(((event["at"] + event["reroute"]) / 1e9, "new routes"))
        return sorted((time, text) for time, text in found if time <= self.end_s)

    def event_names(self) -> list[tuple[float, str]]:
        """The same as a chart names them: what comes soon after another has its place with it."""
        found: list[tuple[float, str]] = []
        for time, text in self.events:
            if found and time - found[-1][0] < _ROOM * self.end_s:
                found[-1] = found[-1][0], f"{found[-1][1]}; {text}"
            else:
                found.append((time, text))
        return found

    # Capacity

    @property
    def varies(self) -> bool:
        """Does the rate of the link change?"""
        return bool(self.link["trace"] or self.link["sessions"])

    @cached_property
    def _trace(self) -> TraceWork | None:
        """The forward link's trace, which begins when the link says it began."""
        settings = self.link["trace"]
        if not settings:
            return None
        trace = Trace.model_construct(steps=settings["steps"], end=settings["end"])
        if any(rate == UNLIMITED for _, rate in trace.rates(self.link["rate"])):
            return None
        planned = (self.link["start"] or 0) / 1e9
        began = (ln["epoch_s"] for ln in self.result["links"] if "epoch_s" in ln)
        return TraceWork(trace, self.link["rate"], next(began, planned))

    @cached_property
    def _changes(self) -> list[float] | None:
        """When the trace changes the rate; None without one, or if that is too often."""
        return self._trace.changes(self.end_s, _MOST_STEPS) if self._trace else None

    @cached_property
    def _work(self) -> Curve | None:
        """The bytes that the forward link could send until some times; None if unknown."""
        if self._trace:
            times = np.union1d(np.linspace(0, self.end_s, 2001), self._changes or [])
            return times, np.array([self._trace.bits_until(t) / 8 for t in times])
        sampled = (
            _curve(self._links[name], "rate_Bps")
            for name in self._links
            if self._own_name(name) == self.bottleneck
        )
        if rates := next(filter(None, sampled), None):
            times = np.concatenate([[0.0], rates[0], [max(self.end_s, rates[0][-1] + 1e-6)]])
            each = np.concatenate([rates[1][:1], rates[1]]) * np.diff(times)
            return times, np.concatenate([[0.0], np.cumsum(each)])
        rate = self.link["rate"]
        if not isinstance(rate, int) or self.link["qdisc"] or self.varies:
            return None
        return np.array([0.0, self.end_s]), np.array([0.0, rate / 8 * self.end_s])

    def capacity(self, bin_s: float) -> Curve | None:
        """The rate of the forward link, Mbit/s, as steps; None if it is unlimited or unknown."""
        if self._work is None:
            return None
        if self._trace and self._changes is not None:
            edges = np.array([0.0, *self._changes, self.end_s])
            edges = edges[np.diff(edges, prepend=-1.0) > _SAME_TIME_S]
        else:
            edges = _edges(0.0, self.end_s, bin_s if self.varies else self.end_s)
        done = np.interp(edges, *self._work)
        return edges, _steps(np.diff(done) / np.diff(edges)) * 8 / 1e6

    # Flows

    def throughput(self, flow: dict[str, Any], bin_s: float) -> Curve | None:
        """The throughput of a flow, Mbit/s, as means over time; None if it was never started."""
        if flow.get("end_s") is None or flow["end_s"] <= flow["start_s"]:
            return None
        received = self._received(flow)
        if received is None and flow["cc"] is None and not flow.get("goodput_Bps"):
            return None  # a program without a socket of TCP
        if received is None:
            edges = np.array([flow["start_s"], flow["end_s"]])
            return edges, np.full(2, (flow["goodput_Bps"] or 0.0) * 8 / 1e6)
        edges = _edges(flow["start_s"], flow["end_s"], bin_s)
        count = np.interp(edges, *self._as_it_came(flow, *received))
        return edges, _steps(np.diff(count) / np.diff(edges)) * 8 / 1e6

    def other_udp(self, link: str, bin_s: float) -> Curve | None:
        """What left a link of UDP packets of no flow, Mbit/s, as means over time."""
        found = self.packets and self.packets.other_udp(link)
        if not found:
            return None
        edges = _edges(0.0, self.end_s, bin_s)
        count = np.interp(edges, found.times / 1e9, found.values, left=0.0)
        return edges, _steps(np.diff(count) / np.diff(edges)) * 8 / 1e6

    def _received(self, flow: dict[str, Any]) -> Curve | None:
        """The bytes that a flow received until each sample; None if nothing was recorded."""
        name, start = flow["name"], flow["start_s"]
        if flow.get("sessions"):
            found = self._of_sessions(name)
        elif flow.get("constant"):
            packets = _curve(self._delays.get(name, {}), "packets", flow["mss_bytes"])
            found = packets and (packets[0], np.cumsum(packets[1]))
        elif name in self._samples:
            data = self._samples[name]
            found = _curve(data, "bytes_received") or _curve(data, "bytes_acked")
        else:
            found = self._of_sockets(name)
        if found is None:
            return None
        times, counts = np.append(start, found[0]), np.append(0.0, found[1])
        if flow["completed"]:
            times = np.append(times, max(flow["end_s"], times[-1]))
            counts = np.append(counts, max(counts[-1], flow["bytes"]))
        return times, counts

    def _of_sockets(self, program: str) -> Curve | None:
        """The bytes of all sockets of a program, one way: that in which there are more."""
        sockets = [self._samples[name] for name in self.samples_of(program)]
        ways = []
        for column in ("bytes_received", "bytes_acked"):
            curves = [curve for data in sockets if (curve := _curve(data, column))]
            if curves:
                times = np.unique(np.concatenate([curve[0] for curve in curves]))
                counts = (np.interp(times, *curve, left=0.0) for curve in curves)
                ways.append((times, np.sum(list(counts), axis=0)))
        return max(ways, key=lambda way: float(way[1][-1]), default=None)

    def _of_sessions(self, flow: str) -> Curve | None:
        """The bytes of all sessions of a flow."""
        path = self.folder / "sessions.csv"
        if not path.exists():
            return None
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["end_s"] and row["flow"] == flow]
        ends = [(f"{flow}.{r['session']}", float(r["end_s"]), float(r["bytes"])) for r in rows]
        samples = [
            (name, t_s, count)
            for name in sorted({name for name, _, _ in ends} & self._samples.keys())
            for t_s, count in zip(
                self._samples[name]["bytes_received at"],
                self._samples[name]["bytes_received"],
                strict=True,
            )
        ]
        times, counts = received_over_time(samples, ends)
        return (np.array(times), np.array(counts)) if times else None

    def _as_it_came(self, flow: dict[str, Any], times: Values, counts: Values) -> Curve:
        """Bytes received in order, counted when they came.

        What comes after a lost packet is counted all at once, when that one is there.  But it came
        no faster than the link is: what a count has more than the one before, and the link could not
        have sent in between, had come earlier.
        """
        if self._work is None:
            return times, counts
        possible = np.diff(np.interp(times, *self._work))
        if ideal := flow.get("ideal_goodput_Bps"):  # of payload, where that can be told
            begin, end = np.interp([flow["start_s"], flow["end_s"]], *self._work)
            possible *= ideal * (flow["end_s"] - flow["start_s"]) / max(end - begin, 1e-9)
        if counts[-1] - counts[0] > _MORE * possible.sum():  # it took other links of a graph
            return times, counts
        came = counts.copy()
        for n in range(len(times) - 2, -1, -1):
            came[n] = max(came[n], came[n + 1] - possible[n])
        return times, came

    def samples_of(self, flow: str) -> list[str]:
        """The names under which a flow has samples: its own, or those of its sessions."""
        sessions = [name for name in self._samples if name.rpartition(".")[0] == flow]
        return sessions or [name for name in [flow] if name in self._samples]

    def round_trip(self, name: str) -> Curve | None:
        """The smoothed round-trip time of a flow or session, ms."""
        found = _curve(self._samples[name], "srtt_us", 1e-3)
        return found and (found[0][found[1] > 0], found[1][found[1] > 0])  # 0: there is none yet

    def window(self, name: str) -> Curve | None:
        """The congestion window of a flow or session, packets."""
        return _curve(self._samples[name], "cwnd_packets")

    def rate(self, name: str, column: str) -> Curve | None:
        """A rate of a flow or session, Mbit/s; none if it is unlimited."""
        return _curve(self._samples[name], column, 8e-6)

    def received(self, flow: dict[str, Any]) -> Curve | None:
        """The data received by a flow until each sample, MB."""
        if flow.get("end_s") is None:
            return None
        found = self._received(flow)
        return found and (found[0], found[1] / 1e6)

    def rate_window(self, flow: str) -> Curve | None:
        """The rate window of a flow that listens to advice, packets."""
        return _curve(self._advice.get(flow, {}), "rate_window_packets")

    def delays(self, flow: str) -> tuple[Values, Values, Values, Values] | None:
        """Of packets at a constant rate: times; least, mean and largest delay, ms."""
        data = self._delays.get(flow, {})
        mean = _curve(data, "mean_delay_s", 1e3)
        if mean is None:
            return None
        least, largest = (np.array(data[f"{n}_delay_s"]) * 1e3 for n in ("least", "largest"))
        return mean[0], least, mean[1], largest

    # Links

    def backlog(self, link: str) -> Curve | None:
        """What waits in the buffer of a link, kB."""
        return self._in_use(link, _curve(self._links[link], "backlog_bytes", 1e-3))

    def drops(self, link: str) -> Iterator[tuple[str, Curve]]:
        """Why a link dropped packets, how often, and what waited: at each sample after a drop."""
        backlog = self.backlog(link)
        for why in DROPS:
            count = _curve(self._links[link], f"dropped_{why}_packets")
            if backlog is None or count is None:
                continue
            more = np.flatnonzero(np.diff(count[1], prepend=0.0) > 0)
            if len(more):
                times = count[0][more]
                yield why, (times, np.interp(times, *backlog))

    def _in_use(self, link: str, curve: Curve | None) -> Curve | None:
        """A curve of a link, of a copy while its flow ran."""
        name = self.flow_of(link)
        if name is None or curve is None:
            return curve
        flow = next(flow for flow in self.flows if flow["name"] == name)
        if flow.get("end_s") is None:
            return None
        used = (curve[0] >= flow["start_s"]) & (curve[0] <= flow["end_s"])
        return curve[0][used], curve[1][used]

    def waiting(self, link: str) -> Curve | None:
        """How long a packet waited at a link that came behind all that waited, ms."""
        found = self.crossing(link)
        return found and (found[0], found[1] - self.link["delay"] / 1e6)

    def crossing(self, link: str) -> Curve | None:
        """How long a packet was on its way over a link that came behind all that waited, ms.

        The times are those of its arrival.
        """
        backlog = _curve(self._links[link], "backlog_bytes")
        if backlog is None or self._work is None or self._own_name(link) != self.bottleneck:
            return None
        times, done = self._work
        goal = np.interp(backlog[0], times, done) + backlog[1]
        rate = (done[-1] - done[-2]) / (times[-1] - times[-2])
        if rate and goal.max() > done[-1]:  # the rest at the last rate
            times = np.append(times, times[-1] + (goal.max() - done[-1]) / rate)
            done = np.append(done, goal.max())
        # in an outage nothing is done: the earliest time at which so much is
        after = np.clip(np.searchsorted(done, goal), 1, len(done) - 1)
        share = (goal - done[after - 1]) / np.maximum(done[after] - done[after - 1], 1e-9)
        served = times[after - 1] + np.clip(share, 0, 1) * (times[after] - times[after - 1])
        served[goal > done[-1]] = np.nan
        waits = np.where(backlog[1] > 0, np.maximum(served - backlog[0], 0.0), 0.0)
        took = waits + self.link["delay"] / 1e9
        return self._in_use(link, (backlog[0] + took, took * 1e3))


def directions_of(graph: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings of each direction of each link of a graph, as in the settings of a run."""
    found = {}
    for link in graph["links"]:
        name = link["name"] or "-".join(link["ends"])
        one_way = link["forward"] or link["reverse"]
        for end in ("forward", "reverse"):
            settings = link[end] or link["both"] or (None if one_way else graph["link"])
            if settings is not None:
                found[f"{name}.{end}"] = settings
    return found


def _edges(begin: float, end: float, bin_s: float) -> Values:
    """The ends of bins of about equal length."""
    return np.linspace(begin, end, max(round((end - begin) / bin_s), 1) + 1)


def _steps(values: Values) -> Values:
    """The means between edges as a value for each edge, of which the last one is not seen."""
    return np.append(values, values[-1])


def bin_of(runs: list[RunSeries]) -> float:
    """The time over which throughput is averaged: whole intervals of the samples, some 100."""
    interval = max(run.result["settings"]["record"]["interval"] for run in runs) / 1e9
    end = max(run.end_s for run in runs)
    return float(interval * max(round(end / 100 / interval), 1))


def read_runs(folders: list[Path]) -> list[RunSeries]:
    """The runs in some folders, each with a distinct name; ScenarioError if one has none."""
    places = [folder.resolve() for folder in folders]
    names = [place.name for place in places]
    runs = []
    for n, folder in enumerate(folders):
        if places[n] in places[:n]:
            raise ScenarioError(f"{folder}: expected different runs, this one is given twice")
        runs.append(RunSeries(folder, names[n] if names.count(names[n]) == 1 else str(folder)))
        _ = runs[n].result  # says what is wrong with it
    return runs


def _event_text(event: dict[str, Any]) -> str:
    """What happens at an event, as it is in result.json."""
    link = event["link"]
    if event["state"]:
        return f"{link} {'fails' if event['state'] == 'down' else 'is back'}"
    if event["cost"]:
        return f"cost of {link}: {event['cost']}"
    if (route := event["route"]) is not None:
        return f"{route['at']} sends to {route['to']} by way of {route['via']}"
    route = event["computed"]
    return f"{route['at']} sends to {route['to']} by the computed route"
