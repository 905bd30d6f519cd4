# SPDX-License-Identifier: GPL-2.0
"""Checks of the buffer: its limit, whether drops are reported, counters, changes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from wale_lab.conform.evidence import Evidence, Finding, Tolerance
from wale_lab.conform.experiments import LIMIT_PACKETS


def told(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """How many of the drops were reported to senders."""
    (one,), finding = seen.values(), Finding()
    lost = {number for number, gone in enumerate(one.lost) if gone}
    finding.add("lost", len(lost), "packets")
    finding.add("told", len(one.told & lost), "packets")
    finding.holds["remote"] = bool(lost) and not one.told
    finding.holds["local"] = bool(lost) and one.told == lost
    return finding


def limit(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """How many are held at most, and at least when one is dropped."""
    finding, room = _room(seen["limit"])
    finding.holds["exact"] = room == (LIMIT_PACKETS, LIMIT_PACKETS)
    return finding


def child(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """The same with the limit in a child qdisc, which does not hold the packet in service."""
    finding, room = _room(seen["child"])
    finding.holds["buffer"] = room == (LIMIT_PACKETS + 1, LIMIT_PACKETS + 1)
    return finding


def _room(one: Evidence) -> tuple[Finding, tuple[int, int]]:
    """How many are held at most, and at least when one is dropped (0: none is)."""
    finding, held = Finding(), dict(one.held())
    admitted = max(count + 1 for number, count in held.items() if not one.lost[number])
    drops = [count for number, count in held.items() if one.lost[number]]
    finding.add("held at most", admitted, "packets")
    finding.add("held when one is dropped", min(drops, default=0), "packets")
    return finding, (admitted, min(drops, default=0))


def limit_line(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Packets slower than the rate, so that none is queued: the effect of the limit."""
    one, finding = seen["limit_line"], Finding()
    admitted = max(count + 1 for number, count in one.held() if not one.lost[number])
    finding.add("lost", 100 * sum(one.lost) / len(one.lost), "%")
    finding.add("held at most", admitted, "packets")
    finding.holds["line_apart"] = not any(one.lost)
    finding.holds["held_at_most"] = admitted <= LIMIT_PACKETS
    return finding


def counters(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Offered less sent, dropped and held, by the counters of the tree's root.

    The counters that every qdisc has, and those that wale has beside them.
    """
    one, finding = seen["counters"], Finding()
    missing, own = [], []
    for shown in one.shown:
        known = shown.get("packets", 0) + shown.get("drops", 0) + shown.get("qlen", 0)
        missing.append(shown["sends"] - known)
        own += [shown["sends"] - _known(stats) for stats in [shown.get("own")] if stats]
    middle, end = one.shown
    finding.add("held in the middle", middle.get("qlen", 0), "packets")
    finding.add("dropped", end.get("drops", 0), "packets")
    finding.add("not accounted for", max(missing, key=abs), "packets")
    finding.holds["balance"] = not any(missing) and end.get("drops", 0) == sum(one.lost)
    if own:
        finding.add("not accounted for by its own counters", max(own, key=abs), "packets")
    finding.holds["own_balance"] = bool(own) and not any(own)
    return finding


def _known(stats: Mapping[str, int]) -> int:
    """Packets of wale's own counters, dropped_REASON_packets among them."""
    held = ("sent_packets", "backlog_packets", "line_packets")
    return sum(
        count
        for name, count in stats.items()
        if name in held or re.fullmatch(r"dropped_.*_packets", name)
    )


def change(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """What happens to the packets inside."""
    (one,), finding = seen.values(), Finding()
    finding.add("lost", sum(one.lost), "packets")
    finding.add("overtaken", one.overtaken, "packets")
    finding.holds["none_lost"] = not any(one.lost)
    finding.holds["in_order"] = not any(one.lost) and not one.overtaken
    return finding
