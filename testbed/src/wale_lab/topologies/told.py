# SPDX-License-Identifier: GPL-2.0
"""Senders that follow a link of another guest: which, how old its rate may be, who tells them.

A step of the rate has the time since which it holds, and a sender reads the rate as it was its lag
ago.  So what takes less than that to reach the sender is read as if it had been there at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import networkx as nx


@dataclass(frozen=True)
class Told:
    """A link whose rate a wire takes to a guest."""

    wire: int
    netns: str
    dev: str
    guest: int


@dataclass(frozen=True)
class Followed:
    """The link that advice follows."""

    netns: str
    dev: str
    lag_ns: float  # how far back the rate is read


def followed(words: Sequence[str]) -> Followed | None:
    """The link of `wale rate set ... follow dev DEV netns NAME`; None: advice with its own rate."""
    if words[:1] != ["follow"]:
        return None
    lag = _after(words, "lag")
    if lag == "rtt":  # a base round trip is longer than the way back, unless it is given
        base_rtt = _after(words, "base-rtt")
        lag_ns = math.inf if base_rtt in (None, "measured") else _ns(base_rtt)
    else:
        lag_ns = 0 if lag in (None, "now") else _ns(lag)
    return Followed(_after(words, "netns") or "", words[2], lag_ns)


def following(wire: int, words: Sequence[str]) -> list[str]:
    """Such words, with the device of a wire, which is in the first namespace of the guest."""
    return ["follow", "dev", f"wire{wire}", "netns", "1", *words[5:]]


def _after(words: Sequence[str], key: str) -> str | None:
    return words[words.index(key) + 1] if key in words else None


def _ns(time: str | None) -> int:
    assert time is not None
    return int(time.removesuffix("ns"))


def network(ways: Iterable[tuple[str, str, int]]) -> nx.MultiDiGraph[str]:
    """The ways from a namespace to its neighbours, each with its delay in ns."""
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()  # the shorter of two side by side counts
    graph.add_weighted_edges_from(ways)
    return graph


def way_ns(ways: nx.MultiDiGraph[str], start: str, end: str) -> int | None:
    """The least sum of delays from a namespace to another; None: there is no way."""
    try:
        return int(nx.dijkstra_path_length(ways, start, end))
    except (nx.NetworkXNoPath, nx.NodeNotFound):
        return None
