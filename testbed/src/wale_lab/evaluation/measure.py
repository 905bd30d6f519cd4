# SPDX-License-Identifier: GPL-2.0
"""The measures that a row of an evaluation may ask for, each taken from the files of a run."""

from __future__ import annotations

import csv
import fnmatch
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wale_lab.errors import LabError
from wale_lab.evaluation import metrics
from wale_lab.results.series import Curve, RunSeries, read_series

Values = NDArray[np.float64]

#: Why a link drops packets that a congestion control could have kept from it.
_CAUSED = ("buffer", "early", "child", "qdisc")
_DROPPED = tuple(f"dropped_{why}_packets" for why in _CAUSED)

#: What the name of a program begins with that serves the one which is a flow under test.
SERVER = "server-of-"


class NoValueError(LabError):
    """Why a run does not have a measure."""


@dataclass(frozen=True)
class Ask:
    """What is asked of a run: the parameters of a measure (evaluation/rows.py has them all)."""

    flows: str
    begin_s: float
    end_s: float
    percent: float
    since_s: float
    goal: float | None
    least_kb: float
    most_kb: float
    bin_s: float


class Seen:
    """A run, from its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.series = RunSeries(folder, "")

    def flows(self, pattern: str) -> list[dict[str, Any]]:
        """The flows of a pattern."""
        found = [
            flow
            for flow in self.series.flows
            if fnmatch.fnmatchcase(flow["name"], pattern) and not flow["name"].startswith(SERVER)
        ]
        if not found:
            raise NoValueError(f"no flow has a name such as {pattern}")
        return found

    def rate(self, flow: dict[str, Any], begin_s: float, end_s: float) -> float:
        """What a flow received in a time, Mbit/s."""
        curve = self._received(flow)
        return 0.0 if curve is None else metrics.throughput(*curve, begin_s, end_s) * 8

    def _received(self, flow: dict[str, Any]) -> Curve | None:
        """What a flow received until each time, MB; None if it was never started."""
        curve = self.series.received(flow)
        if curve is None and flow.get("tool") == "program":
            raise NoValueError(f"what {flow['name']} received is not known: its sockets are no TCP")
        return curve

    def rates(self, ask: Ask) -> list[float]:
        """That of each flow, in the window."""
        return [self.rate(flow, ask.begin_s, ask.end_s) for flow in self.flows(ask.flows)]

    def bins(self, ask: Ask, pattern: str) -> tuple[Values, Values]:
        """The beginnings of the bins of the window, and a row of rates for each flow, Mbit/s."""
        count = max(round((ask.end_s - ask.begin_s) / ask.bin_s), 1)
        edges = np.linspace(ask.begin_s, ask.end_s, count + 1)
        rows = []
        for flow in self.flows(pattern):
            curve = self._received(flow)
            got = np.zeros(count + 1) if curve is None else np.interp(edges, *curve)
            rows.append(np.diff(got) / np.diff(edges) * 8)
        return edges[:-1], np.array(rows)

    @cached_property
    def link(self) -> str:
        """The name of the forward link."""
        names = self.series.links
        if not names:
            raise NoValueError("no link was recorded")
        return names[0]

    @cached_property
    def counts(self) -> dict[str, list[float]]:
        """What the forward link counted until each sample: columns of links.csv."""
        columns = ["offered_packets", "offered_bytes", "sent_bytes", *_DROPPED]
        return read_series(self.folder / "links.csv", "link", columns)[self.link]

    def counted(self, column: str, ask: Ask) -> float:
        """By how much a count of the link grew in the window."""
        if not self.counts.get(column):
            return 0.0
        ends = np.interp([ask.begin_s, ask.end_s], self.counts[f"{column} at"], self.counts[column])
        return float(ends[1] - ends[0])

    def capacity_bytes(self, ask: Ask) -> float:
        """What the link could send in the window."""
        found = self.series.capacity(ask.bin_s)
        if found is None:
            raise NoValueError("the link has no rate that is known")
        edges, rates = found
        done = np.concatenate([[0.0], np.cumsum(rates[:-1] * np.diff(edges))])
        ends = np.interp([ask.begin_s, ask.end_s], edges, done)
        return float(ends[1] - ends[0]) * 1e6 / 8

    def frames(self, ask: Ask) -> tuple[Values, Values]:
        """Of video captured in the window: delay of each frame, ms, nan if one is incomplete; and
        what came of it, bytes. They are in frames.csv of its receivers (scenarios/media)."""
        found = []
        for flow in self.flows(ask.flows):
            path = self.folder / f"{flow['name']}.files/frames.csv"
            if not path.exists():
                raise NoValueError(f"{flow['name']} has left no frames.csv")
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    at_s = (flow["start_s"] or 0.0) + float(row["at_s"])
                    if ask.begin_s <= at_s < ask.end_s:
                        found.append((float(row["delay_ms"] or "nan"), float(row["bytes"])))
        if not found:
            raise NoValueError("no frame was captured in the window")
        delays, sizes = np.array(found).T
        return delays, sizes

    def sessions(self, ask: Ask) -> list[tuple[float, float]]:
        """Size and completion time of each file; of what did not arrive, the time until the end."""
        names = {flow["name"] for flow in self.flows(ask.flows)}
        found = []
        path = self.folder / "sessions.csv"
        if path.exists():
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    if row["flow"] in names:
                        end = float(row["end_s"] or self.series.end_s)
                        found.append((float(row["bytes"]), end - float(row["arrival_s"])))
        found += [
            (
                flow.get("bytes") or 0,
                (flow["end_s"] or self.series.end_s) - (flow["start_s"] or 0.0),
            )
            for flow in self.flows(ask.flows)
            if not flow.get("sessions")
        ]
        return found


def _waits(seen: Seen, ask: Ask) -> float:
    found = seen.series.waiting(seen.link)
    if found is None:
        raise NoValueError("the link does not tell what waits in it")
    used = (found[0] >= ask.begin_s) & (found[0] <= ask.end_s) & ~np.isnan(found[1])
    return metrics.percentile(found[1][used], ask.percent)


def _probe(seen: Seen, ask: Ask) -> float:
    """Of packets of a constant rate: what they took longer than the fastest of all."""
    late: list[Values] = []
    for flow in seen.flows(ask.flows):
        found = seen.series.delays(flow["name"])
        if found is None:
            raise NoValueError(f"no packet of {flow['name']} arrived")
        used = (found[0] > ask.begin_s) & (found[0] <= ask.end_s)
        late.append(found[2][used] - found[1].min())
    return metrics.percentile(np.concatenate(late), ask.percent)


def _lost_packets(seen: Seen, ask: Ask) -> float:
    sent, lost = 0.0, 0.0
    for flow in seen.flows(ask.flows):
        counts = flow.get("constant") or {}
        if counts.get("lost_packets") is None:
            raise NoValueError(f"it is not known what {flow['name']} lost")
        sent, lost = sent + counts["sent_packets"], lost + counts["lost_packets"]
    return 100 * lost / max(sent, 1)


def _frame_delay(seen: Seen, ask: Ask) -> float:
    """A frame that never came whole is later than any that did."""
    delays, _ = seen.frames(ask)
    every = np.where(np.isnan(delays), np.inf, delays)
    late = float(np.percentile(every, ask.percent, method="higher"))  # inf has no mean with others
    if not np.isfinite(late):
        raise NoValueError("too few frames came whole")
    return late


def _incomplete(seen: Seen, ask: Ask) -> float:
    return 100 * float(np.isnan(seen.frames(ask)[0]).mean())


def _media_rate(seen: Seen, ask: Ask) -> float:
    return float(seen.frames(ask)[1].sum()) * 8e-6 / (ask.end_s - ask.begin_s)


def _completion(seen: Seen, ask: Ask) -> float:
    low, high = ask.least_kb * 1e3, ask.most_kb * 1e3
    times = metrics.by_size(seen.sessions(ask), [low, high])[low, high]
    if not times:
        raise NoValueError(f"no file is from {ask.least_kb:g} to {ask.most_kb:g} kB")
    return metrics.percentile(np.array(times), ask.percent)


def _again(seen: Seen, ask: Ask) -> float:
    again, sent = 0.0, 0.0
    for flow in seen.flows(ask.flows):
        if flow.get("retransmits") is None or flow.get("data_segments") is None:
            raise NoValueError(f"{flow['name']} does not tell what it sent")
        again, sent = again + flow["retransmits"], sent + flow["data_segments"]
    return 100 * metrics.retransmitted_share(again, sent)


def _dropped(seen: Seen, _: Ask) -> float:
    link = next(found for found in seen.series.result["links"] if found["name"] == seen.link)
    dropped = sum(float(link["dropped_packets"].get(why, 0)) for why in _CAUSED)
    return 100 * dropped / max(float(link["offered_packets"]), 1.0)


def _sustained(seen: Seen, ask: Ask) -> float:
    """What a circuit breaker sees that counts for one bin after the other."""
    edges = np.arange(ask.begin_s, ask.end_s + ask.bin_s / 2, ask.bin_s)
    grown = {
        column: np.diff(np.interp(edges, seen.counts[f"{column} at"], seen.counts[column]))
        for column in ("offered_packets", *_DROPPED)
        if seen.counts.get(column)
    }
    offered = grown.pop("offered_packets")
    dropped = np.sum(list(grown.values()), axis=0)
    return 100 * float(np.max(dropped / np.maximum(offered, 1)))


def _converged(seen: Seen, ask: Ask) -> float:
    times, rates = seen.bins(ask, ask.flows)
    return metrics.convergence_time(times, metrics.jain_over_time(rates), ask.since_s)


def _recovered(seen: Seen, ask: Ask) -> float:
    if ask.goal is None:
        raise NoValueError("the row says no goal")
    times, rates = seen.bins(ask, ask.flows)
    return metrics.recovery_time(times, rates.sum(axis=0), ask.since_s, ask.goal)


def _share(seen: Seen, ask: Ask) -> float:
    every = sum(seen.rate(flow, ask.begin_s, ask.end_s) for flow in seen.flows("*"))
    return sum(seen.rates(ask)) / every if every else 0.0


def _contest(seen: Seen, ask: Ask) -> float:
    """Of the time in which all flows of the run were there."""
    every = seen.flows("*")
    begin = max(flow["start_s"] or 0.0 for flow in every)
    end = min(flow["end_s"] or seen.series.end_s for flow in every)
    if end <= begin:
        raise NoValueError("no two flows were there at a time")
    got = sum(seen.rate(flow, begin, end) for flow in seen.flows(ask.flows))
    return abs(got / (sum(seen.rate(flow, begin, end) for flow in every) or 1.0) - 0.5)


def _least_share(seen: Seen, ask: Ask) -> float:
    """The fair share is that of what the link carried."""
    every = [seen.rate(flow, ask.begin_s, ask.end_s) for flow in seen.flows("*")]
    return metrics.least_share(seen.rates(ask), sum(every) / len(every))


def _starved(seen: Seen, ask: Ask) -> float:
    _, every = seen.bins(ask, "*")
    _, rates = seen.bins(ask, ask.flows)
    return 100 * metrics.starved_time(rates, float(every.sum(axis=0).mean()) / len(every))


def _jain_mean(seen: Seen, ask: Ask) -> float:
    return float(np.mean(metrics.jain_over_time(seen.bins(ask, ask.flows)[1])))


@dataclass(frozen=True)
class Measure:
    """A measure, its unit, and whether more of it is good for whom it is of."""

    value: Callable[[Seen, Ask], float]
    unit: str
    more_is_better: bool
    text: str
    of_window: bool = True
    """does it need one?"""


MEASURES = {
    "throughput": Measure(
        lambda seen, ask: sum(seen.rates(ask)), "Mbit/s", True, "of all flows, in the window"
    ),
    "share": Measure(_share, "", True, "of what all flows of the run received in the window"),
    "share_from_half": Measure(
        _contest,
        "",
        False,
        "distance from a half of the share while all flows are there",
        of_window=False,
    ),
    "completion": Measure(
        _completion,
        "s",
        False,
        "percentile of the completion times of files from least to most kB",
        of_window=False,
    ),
    "queueing_delay": Measure(
        _waits, "ms", False, "percentile of the delay in the buffer of the forward link"
    ),
    "probe_delay": Measure(
        _probe, "ms", False, "percentile of what packets of a constant rate take beyond the fastest"
    ),
    "lost_packets": Measure(
        _lost_packets, "%", False, "of the packets of a constant rate", of_window=False
    ),
    "frame_delay": Measure(
        _frame_delay, "ms", False, "percentile of the time from a video's frame to its last packet"
    ),
    "incomplete_frames": Measure(
        _incomplete, "%", False, "of a video's frames, those that lack a packet"
    ),
    "media_rate": Measure(_media_rate, "Mbit/s", True, "what came of a video, in the window"),
    "retransmitted": Measure(
        _again, "%", False, "packets sent again, of all data packets", of_window=False
    ),
    "dropped": Measure(
        _dropped, "%", False, "packets that the buffer dropped, of all that came", of_window=False
    ),
    "sustained_drops": Measure(
        _sustained, "%", False, "the largest share of packets that the buffer dropped in a bin"
    ),
    "offered": Measure(
        lambda seen, ask: seen.counted("offered_bytes", ask) * 8e-6 / (ask.end_s - ask.begin_s),
        "Mbit/s",
        False,
        "what came to the forward link in the window",
    ),
    "utilisation": Measure(
        lambda seen, ask: (
            100 * metrics.utilisation(seen.counted("sent_bytes", ask), seen.capacity_bytes(ask))
        ),
        "%",
        True,
        "of the forward link in the window",
    ),
    "jain": Measure(
        lambda seen, ask: metrics.jain(seen.rates(ask)), "", True, "Jain's index over the window"
    ),
    "jain_mean": Measure(_jain_mean, "", True, "mean over time of Jain's index in bins"),
    "convergence_time": Measure(
        _converged, "s", False, "after `since`, until Jain's index stays at 0.9"
    ),
    "recovery_time": Measure(
        _recovered, "s", False, "after `since`, until the flows have 80 % of `goal` again"
    ),
    "least_share": Measure(_least_share, "", True, "what the flow with least has of a fair share"),
    "starved_time": Measure(
        _starved, "%", False, "of the time in which a flow has less than a tenth of its fair share"
    ),
    "variation": Measure(
        lambda seen, ask: metrics.variation(seen.bins(ask, ask.flows)[1].sum(axis=0)),
        "",
        False,
        "coefficient of variation of the rate over time, in bins",
    ),
}


def measure(name: str, seen: Seen, ask: Ask) -> float:
    """A measure of a run; NoValueError if the run does not have it."""
    return float(f"{MEASURES[name].value(seen, ask):.9g}")
