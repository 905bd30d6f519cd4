# SPDX-License-Identifier: GPL-2.0
"""The state of senders from the tracepoints of TCP, to be joined with their packets.

`tcp_probe` fires for each segment that a socket receives, before the socket processes it: so
the window that it shows has been in effect since the previous segment, for the packets sent in
between.  `ratcp_window` fires for each ACK of a listening socket, with the values from then on.

`tcp_probe` has no time (reading a virtual clock would move it), and not the namespace of its
socket, which matters where copies of a topology use the same addresses.  But a segment is
received where and when a link releases it, or it arrives from another guest: the event of that
before it in the trace gives both.  A
busy socket gets its segments a little later, sometimes after another release: so the most
frequent namespace of a socket counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wale_lab.packets.heads import TCP, Bytes, connection_keys, keys_in_copies, sockaddr_address

Numbers = NDArray[np.int64]
Keys = NDArray[np.uint64]

#: In the place of a copy: no copy.
_NO_COPY = 2**32


@dataclass
class Series:
    """Values of many connections over time, found by connection."""

    key: Keys
    time_ns: Numbers
    values: list[NDArray[Any]]

    def __post_init__(self) -> None:
        order = np.lexsort((self.time_ns, self.key))
        self.key, self.time_ns = self.key[order], self.time_ns[order]
        self.values = [values[order] for values in self.values]

    @classmethod
    def joined(cls, parts: Sequence[Series]) -> Series:
        """Those of several guests."""
        return cls(
            np.concatenate([part.key for part in parts]),
            np.concatenate([part.time_ns for part in parts]),
            [np.concatenate(of) for of in zip(*(part.values for part in parts), strict=True)],
        )

    def find(self, key: Keys, time_ns: Numbers, after: bool) -> tuple[Numbers, NDArray[np.bool_]]:
        """For each connection and time, which value was next behind it, else the last; or
        (not after) last before or at it. Is there one?"""
        at = np.zeros(len(key), np.int64)
        there = np.zeros(len(key), np.bool_)
        different, inverse = np.unique(key, return_inverse=True)
        begins = np.searchsorted(self.key, different, "left")
        ends = np.searchsorted(self.key, different, "right")
        order = np.argsort(inverse, kind="stable")
        bounds = np.searchsorted(inverse[order], np.arange(len(different) + 1))
        for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            if begin == end:
                continue
            rows = order[bounds[number] : bounds[number + 1]]
            found = begin + np.searchsorted(self.time_ns[begin:end], time_ns[rows], "right")
            found = np.minimum(found, end - 1) if after else found - 1
            at[rows] = np.maximum(found, begin)
            there[rows] = found >= begin
        return at, there


@dataclass
class Senders:
    """Collects events in their order, then answers."""

    copies: dict[int, int]  # by the cookies of namespaces
    has_times: bool  # the trace has; else they are those of the releases
    probes: list[tuple[NDArray[Any], ...]] = field(default_factory=list)
    windows: list[tuple[NDArray[Any], ...]] = field(default_factory=list)
    last_release: tuple[int, int] = (0, _NO_COPY)  # time, copy

    def add_probes(
        self, probes: NDArray[Any], time_ns: Numbers, releases: NDArray[Any], before: Numbers
    ) -> None:
        """Events `tcp_probe`, and releases; so many of these were before each probe."""
        times = np.append(self.last_release[0], releases["now"].astype(np.int64))
        copy = np.append(self.last_release[1], self._copies(releases["netns_cookie"]))
        self.last_release = int(times[-1]), int(copy[-1])
        key = _keys(sockaddr_address, probes)
        when = time_ns if self.has_times else times[before]
        cwnd = probes["snd_cwnd"].copy()
        self.probes.append((key, when, probes["sock_cookie"].copy(), copy[before], cwnd))

    def add_windows(self, events: NDArray[Any]) -> None:
        """Events `ratcp_window`."""
        key = keys_in_copies(
            _keys(np.ascontiguousarray, events), self._copies(events["netns_cookie"])
        )
        time_ns = events["now_ns"].astype(np.int64)
        self.windows.append((key, time_ns, events["rate_window"].copy(), events["rate"].copy()))

    def _copies(self, cookie: NDArray[np.uint64]) -> Numbers:
        cookies, inverse = np.unique(cookie, return_inverse=True)
        copy = [self.copies.get(int(which), _NO_COPY) for which in cookies]
        return np.array(copy, np.int64)[inverse]

    def windows_of_tcp(self) -> Series:
        """cwnd."""
        if not self.probes:
            return _nothing(1)
        key, time_ns, socket, copy, cwnd = map(np.concatenate, zip(*self.probes, strict=True))
        return Series(keys_in_copies(key, _most_frequent(socket, copy)), time_ns, [cwnd])

    def rate_windows(self) -> Series:
        """W_rate and the advised rate."""
        if not self.windows:
            return _nothing(2)
        key, time_ns, *values = map(np.concatenate, zip(*self.windows, strict=True))
        return Series(key, time_ns, values)


def _most_frequent(socket: NDArray[np.uint64], copy: Numbers) -> Numbers:
    """Of each socket's copies, that which it has most often."""
    pairs, counts = np.unique(np.stack([socket.astype(np.int64), copy]), axis=1, return_counts=True)
    best: dict[int, tuple[int, int]] = {}
    for (which, where), count in zip(pairs.T, counts, strict=True):
        best[int(which)] = max(best.get(int(which), (0, 0)), (int(count), int(where)))
    sockets, inverse = np.unique(socket.astype(np.int64), return_inverse=True)
    return np.array([best[int(which)][1] for which in sockets], np.int64)[inverse]


def _keys(address: Callable[[Bytes], Bytes], events: NDArray[Any]) -> Keys:
    """The keys of connections, in the direction of what the events' sockets send."""
    source, target = (
        address(np.frombuffer(column.tobytes(), np.uint8).reshape(-1, column.itemsize))
        for column in (events["saddr"], events["daddr"])
    )
    protocol = np.full(len(events), TCP)
    return connection_keys(source, target, events["sport"], events["dport"], protocol)


def _nothing(values: int) -> Series:
    empty = np.zeros(0, np.int64)
    return Series(np.zeros(0, np.uint64), empty, [empty] * values)
