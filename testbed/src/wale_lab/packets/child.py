# SPDX-License-Identifier: GPL-2.0
"""The fate of packets whose link has another qdisc instead of its buffer.

The link reports each packet when its child qdisc gets it, and its fate once the child has
returned it; by then it does not know when the packet arrived.  It is never told which ones the
child drops, only how many are missing, and when (`wale_child_drop`).  But each event has the
packet's address in memory, and the kernel reports which addresses are freed as drops
(`kfree_skb`): so the events of one address, in order, give the whole history.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

#: What an event says of the packet at an address.
_CAME, _BACK, _FREED = range(3)


@dataclass(frozen=True)
class Fates:
    """What is known in addition to the packets' own events, by their position in the trace."""

    told_again: Numbers  # the child gave it back, or has it to the end
    back: Numbers
    arrival_ns: Numbers  # of those in `back`; 0: it is not known
    dropped: Numbers
    dropped_ns: Numbers  # of those in `dropped`; 0: purged, with all that the child had
    dropped_on: NDArray[np.int16]  # their links


def places_in(some: Numbers, at: Numbers) -> tuple[Numbers, Numbers]:
    """Which of `at` are in `some`, which is in order, and where."""
    where = np.searchsorted(some, at)
    there = np.flatnonzero(np.append(some, -1)[where] == at)
    return there, where[there]


@dataclass
class ChildPackets:
    """Collects events of links with a child, then answers."""

    has_times: bool  # the trace has, by which processors' events are put into order
    events: list[tuple[NDArray[Any], ...]] = field(default_factory=list)
    missing: list[tuple[NDArray[Any], ...]] = field(default_factory=list)

    def add_packets(
        self, at: Numbers, time_ns: Numbers, events: NDArray[Any], came: NDArray[np.bool_],
        link: NDArray[np.int16],
    ) -> None:  # fmt: skip
        """Events `wale_packet`; those in `came` say that the child gets one."""
        what = np.where(came, _CAME, _BACK)
        value = np.where(came, events["arrival"], events["copy"]).astype(np.int64)
        self.events.append((at, time_ns, what, events["skbaddr"].copy(), at, link, value))

    def add_freed(self, at: Numbers, time_ns: Numbers, events: NDArray[Any]) -> None:
        """Events `kfree_skb`."""
        none = np.zeros(len(at), np.int64)
        skb = events["skbaddr"].copy()
        self.events.append((at, time_ns, none + _FREED, skb, at, none - 1, none))

    def add_missing(
        self, at: Numbers, time_ns: Numbers, events: NDArray[Any], link: NDArray[np.int16]
    ) -> None:
        """Events `wale_child_drop`."""
        packets, now_ns = events["packets"].astype(np.int64), events["now"].astype(np.int64)
        self.missing.append((at, time_ns, link, packets, now_ns))

    def fates(self) -> Fates:
        """What became of all of them."""
        none = np.zeros(0, np.int64)
        if not self.events:
            return Fates(none, none, none, none, none, none.astype(np.int16))
        _, _, what, skb, at, link, value = self._in_order(self.events)
        by_skb = np.argsort(skb, kind="stable")
        has_next = np.append(skb[by_skb][1:] == skb[by_skb][:-1], False)
        first = np.flatnonzero((what[by_skb] == _CAME) & has_next)
        came, then = by_skb[first], by_skb[first + 1]
        was_back, was_freed = what[then] == _BACK, what[then] == _FREED
        arrival_ns = np.zeros(len(what), np.int64)
        arrival_ns[then[was_back]] = value[came[was_back]]
        back = np.flatnonzero(what == _BACK)
        self._date_copies(back, link, value, arrival_ns)
        dropped_ns = np.zeros(len(what), np.int64)
        self._date_drops(came[was_freed], then[was_freed], link, dropped_ns)
        dropped = came[was_freed]
        told_again = np.setdiff1d(np.flatnonzero(what == _CAME), dropped)
        back, dropped = (some[np.argsort(at[some], kind="stable")] for some in (back, dropped))
        return Fates(
            np.sort(at[told_again]),
            at[back],
            arrival_ns[back],
            at[dropped],
            dropped_ns[dropped],
            link[dropped],
        )

    def _in_order(self, parts: list[tuple[NDArray[Any], ...]]) -> list[NDArray[Any]]:
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        keys = (columns[0], columns[1]) if self.has_times else (columns[0],)
        order = np.lexsort(keys)
        return [column[order] for column in columns]

    @staticmethod
    def _date_copies(back: Numbers, link: Numbers, is_copy: Numbers, arrival_ns: Numbers) -> None:
        """The second of two came with the first, which is the one before it on its link."""
        for number in np.unique(link[back]):
            mine = back[link[back] == number]
            second = np.flatnonzero(is_copy[mine] > 0)
            second = second[second > 0]
            arrival_ns[mine[second]] = arrival_ns[mine[second - 1]]

    def _date_drops(
        self, came: Numbers, freed: Numbers, link: Numbers, dropped_ns: Numbers
    ) -> None:
        """When packets were found missing: the first that were freed are the first missing."""
        if not self.missing:
            return
        _, _, missing_on, packets, now_ns = self._in_order(self.missing)
        for number in np.unique(link[came]):
            mine = came[link[came] == number][np.argsort(freed[link[came] == number])]
            here = missing_on == number
            when = np.repeat(now_ns[here], np.maximum(packets[here], 0))[: len(mine)]
            dropped_ns[mine[: len(when)]] = when
