# SPDX-License-Identifier: GPL-2.0
"""Checks of GSO: what happens to segments that the sender passes as one packet."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise

from wale_lab.conform.evidence import Departure, Evidence, Finding, Tolerance
from wale_lab.conform.experiments import GSO_LOSS, LIMIT_PACKETS, PACKET, RATE_BPS, SEGMENT
from wale_lab.conform.statistics import binomial_interval

#: Bytes of headers of which a charge may consist.
MOST_OVERHEAD = 18


def _of_each(one: Evidence) -> dict[int, list[Departure]]:
    result: dict[int, list[Departure]] = defaultdict(list)
    for departure in one.departures:
        if not departure.damaged:
            result[departure.number].append(departure)
    return result


def _segments(departure: Departure) -> int:
    """How many segments came out together; each has SEGMENT bytes of data."""
    return (departure.size - 28) // SEGMENT


def spacing(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """How far apart the segments leave."""
    finding = Finding()
    each = _of_each(seen["gso"])
    gaps = [b.time_ns - a.time_ns for parts in each.values() for a, b in pairwise(parts)]
    parts = sum(len(parts) for parts in each.values()) / len(each)
    finding.add("leave as", parts, "packets of 10 segments")
    took = [parts[-1].time_ns - seen["gso"].arrivals[number] for number, parts in each.items()]
    finding.add("charged", statistics.median(took) * RATE_BPS / 8e9, "bytes for ten of 1000")
    due = [8e9 * (PACKET + extra) / RATE_BPS for extra in (0, MOST_OVERHEAD)]
    if gaps:
        finding.add("apart at least", min(gaps) / 1e3, "us")
        finding.add("apart, median", statistics.median(gaps) / 1e3, "us")
    checked = gaps if tolerance.exact or not gaps else [statistics.median(gaps)]
    finding.holds["one_by_one"] = parts == 10 and all(
        due[0] - tolerance.late_ns <= gap <= due[1] + tolerance.late_ns for gap in checked
    )
    return finding


def limit(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """All are sent at once: those that come out were held, except those that left meanwhile."""
    finding = Finding()
    one = seen["gso_limit"]
    last = max(one.arrivals)
    held = [d for d in one.departures if d.time_ns > last]
    count = sum(_segments(departure) for departure in held)
    finding.add("held", count, "segments")
    finding.holds["counted"] = 0 < count <= LIMIT_PACKETS
    return finding


def loss(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Whether packets lose some of their segments, or all."""
    finding = Finding()
    one = seen["gso_loss"]
    each = _of_each(one)
    left = [sum(map(_segments, each.get(number, []))) for number in range(len(one.arrivals))]
    lost, total = sum(10 - count for count in left), 10 * len(left)
    some = sum(0 < count < 10 for count in left)
    finding.add("segments lost", 100 * lost / total, "%")
    finding.add("packets that lost some", 100 * some / len(left), "%")
    finding.add("packets that lost all", 100 * left.count(0) / len(left), "%")
    low, high = binomial_interval(total, GSO_LOSS)
    finding.holds["one_by_one"] = some > 0 and low <= lost <= high
    return finding
