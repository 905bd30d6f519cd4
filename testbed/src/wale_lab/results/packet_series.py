# SPDX-License-Identifier: GPL-2.0
"""The log of packets as curves: the time-sequence graph of a TCP flow, and its share of the queue.

Sequence numbers count from the start of their connection, and go on where 32 bits end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

Times = NDArray[np.int64]
Sequence = NDArray[np.int64]

_TCP = 6
_UDP = 17
_COLUMNS = [
    "link", "fate", "flow", "protocol", "arrival_ns", "start_ns", "departure_ns", "dropped_ns",
    "wire_bytes", "source", "source_port", "seq", "ack", "tcp_flags", "payload_bytes",
]  # fmt: skip
_ACK = 0x10


@dataclass(frozen=True)
class Points:
    """Times, ns of the scenario, and bytes of a connection."""

    times: Times
    values: Sequence

    def __len__(self) -> int:
        return len(self.times)

    def thinned(self, step: int) -> Points:
        """Every `step`-th of them."""
        return Points(self.times[::step], self.values[::step])


@dataclass(frozen=True)
class TimeSequence:
    """The packets of a TCP flow on a link, by their fate, and what was acknowledged."""

    sent: Points
    again: Points
    """sent once more, by this packet"""
    dropped: Points
    fates: list[str]
    """for each that was dropped: why"""
    acked: Points
    """at the time at which the ACK is back at the link's sender"""


def unwrapped(numbers: NDArray[Any], first: int) -> Sequence:
    """32-bit sequence numbers as bytes since `first`, none of which is 2^31 away from the last."""
    before = np.concatenate([[first], numbers[:-1]]).astype(np.int64)
    away = numbers.astype(np.int64) - before
    away = (away + 2**31) % 2**32 - 2**31
    result: Sequence = np.cumsum(away)
    return result


class PacketSeries:
    """packets.parquet of a run."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _columns(self) -> dict[str, NDArray[Any]]:
        table = pq.read_table(self._path, columns=_COLUMNS)
        columns = {name: table[name].to_numpy() for name in _COLUMNS}
        return columns | {"unnamed": table["flow"].is_null().to_numpy()}

    def _rows(self, **equal: object) -> NDArray[np.bool_]:
        """Which rows have these values."""
        found = np.ones(len(self._columns["link"]), bool)
        for name, value in equal.items():
            found &= self._columns[name] == value
        return found

    def times_from_arrival(self, flow: str, links: list[str], end: str) -> NDArray[np.float64]:
        """From the arrival of each data packet to this time of it, ns, if it was delivered."""
        all_ = self._columns
        rows = self._rows(flow=flow, fate="delivered") & (all_["payload_bytes"] > 0)
        rows &= np.isin(all_["link"].astype(str), links)
        took = all_[end][rows].astype(float) - all_["arrival_ns"][rows].astype(float)
        found: NDArray[np.float64] = took[~np.isnan(took)]
        return found

    def time_sequence(self, flow: str, forward: str, reverse: str) -> TimeSequence | None:
        """The graph of a flow between two directions of a link; None if it sent no data by TCP."""
        all_ = self._columns
        data = self._rows(link=forward, flow=flow, protocol=_TCP) & (all_["payload_bytes"] > 0)
        if not data.any():
            return None
        first = int(all_["seq"][data][0])
        begin = unwrapped(all_["seq"][data], first)
        end = begin + all_["payload_bytes"][data]
        seen = np.maximum.accumulate(np.concatenate([[0], end]))[:-1]
        times = all_["arrival_ns"][data].astype(np.int64)
        fates = all_["fate"][data].astype(str)
        lost = fates != "delivered"
        again = begin < seen
        new = ~lost & ~again
        acks = self._rows(link=reverse, flow=flow, protocol=_TCP, fate="delivered")
        flags = np.nan_to_num(all_["tcp_flags"].astype(float)).astype(np.int64)  # of TCP alone
        acks &= (flags & _ACK > 0) & (flags & 0x02 == 0)
        acked = unwrapped(all_["ack"][acks], first)
        came = all_["departure_ns"][acks].astype(np.int64)
        moves = np.concatenate([[True], np.diff(np.maximum.accumulate(acked)) > 0])[: len(acked)]
        return TimeSequence(
            sent=Points(times[new], end[new]),
            again=Points(times[again & ~lost], end[again & ~lost]),
            dropped=Points(times[lost], end[lost]),
            fates=list(fates[lost]),
            acked=Points(came[moves], acked[moves]),
        )

    def other_udp(self, link: str) -> Points | None:
        """The payload of UDP packets of no flow, such as QUIC's, that left a link, bytes so far."""
        all_ = self._columns
        rows = self._rows(link=link, unnamed=True, protocol=_UDP, fate="delivered")
        if not rows.any():
            return None
        times = all_["departure_ns"][rows].astype(np.int64)
        order = np.argsort(times, kind="stable")
        return Points(times[order], np.cumsum(all_["payload_bytes"][rows].astype(np.int64)[order]))

    def queue(self, flow: str | None, link: str) -> Points | None:
        """A flow's queue at a link, bytes, each time that it changes; None: of UDP of no flow."""
        all_ = self._columns
        whose = {"unnamed": True, "protocol": _UDP} if flow is None else {"flow": flow}
        rows = self._rows(link=link, **whose)
        rows &= ~(np.isnan(all_["start_ns"]) | np.isnan(all_["arrival_ns"].astype(float)))
        if not rows.any():
            return None
        size = all_["wire_bytes"][rows].astype(np.int64)
        times = np.concatenate([all_["arrival_ns"][rows], all_["start_ns"][rows]]).astype(np.int64)
        change = np.concatenate([size, -size])
        order = np.argsort(times, kind="stable")
        return Points(times[order], np.cumsum(change[order]))


def peaks(points: Points, end_ns: int, most: int) -> Points:
    """At most so many of them: of each stretch of time the largest, so that no peak is lost."""
    if len(points) <= most:
        return points
    width = max(end_ns // most, 1)
    stretch = points.times // width
    begins = np.flatnonzero(np.diff(stretch, prepend=-1))
    return Points(stretch[begins] * width, np.maximum.reduceat(points.values, begins))
