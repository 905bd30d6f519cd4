# SPDX-License-Identifier: GPL-2.0
"""Checks of times: delay, rate, the overhead of a packet, the schedule, a change of the rate."""

from __future__ import annotations

import statistics
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import pairwise

from wale_lab.conform.evidence import Evidence, Finding, Tolerance, Unmeasurable
from wale_lab.conform.experiments import (
    BREAKER_NS,
    OUTAGE_NS,
    OVERHEAD,
    PACKET,
    POLICE_BPS,
    POLICE_BURST,
    RATE_BPS,
    SLOT_NS,
    START_S,
)
from wale_lab.conform.statistics import percentile
from wale_lab.models.link import Change, Config, Link

SKIPPED = 10
NO_LIMIT = 1 << 30
NS_PER_S = 10**9


def _lateness(finding: Finding, late_ns: Sequence[int], tolerance: Tolerance) -> bool:
    """Figures of lateness; whether it is within the tolerance."""
    finding.add("earliest", min(late_ns) / 1e3, "us")
    for share in (0.5, 0.99, 0.999):
        finding.add(f"late p{100 * share:g}", percentile(late_ns, share) / 1e3, "us")
    finding.add("latest", max(late_ns) / 1e3, "us")
    latest = percentile(late_ns, tolerance.share)
    return min(late_ns) >= -tolerance.late_ns and latest <= tolerance.late_ns


def delay(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Each packet's delay."""
    one, finding = seen["delay"], Finding()
    asked = int(one.experiment.asked["delay"])
    finding.add("lost", sum(one.lost), "packets")
    finding.holds["exact"] = not any(one.lost) and _lateness(
        finding, [delay_ns - asked for delay_ns in one.delays_ns], tolerance
    )
    return finding


def _service_ns(one: Evidence, size: int) -> float:
    """How long a packet of a size takes, from a row of them.

    Those that leave while others are still sent do not count, nor some after them: the sender
    has the processor then, and a token bucket may still have something in it.
    """
    sends = one.experiment.sends
    sent_ns = max(when for when, (_, length, _) in zip(one.arrivals, sends, strict=True)
                  if length == size)  # fmt: skip
    times = [d.time_ns for d in one.first.values() if d.size == size and d.time_ns > sent_ns]
    times = times[SKIPPED:]
    apart = len(times) // 2
    if not apart:
        raise Unmeasurable(f"hardly a packet of {size} bytes waited and came out")
    # the median, because some may be late in real time
    return statistics.median(b - a for a, b in zip(times, times[apart:], strict=False)) / apart


def _fit(one: Evidence) -> tuple[float, float]:
    """Bytes per second, and bytes for each packet beyond those of IP."""
    small, large = 300, 1500
    times = _service_ns(one, small), _service_ns(one, large)
    bytes_per_ns = (large - small) / (times[1] - times[0])
    return bytes_per_ns * NS_PER_S, times[0] * bytes_per_ns - small


def rate(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """The rate, apart from the overhead of each packet."""
    finding = Finding()
    measured, _ = _fit(seen["rate"])
    error = measured * 8 / RATE_BPS - 1
    finding.add("rate", measured * 8 / 1e3, "kbit/s")
    finding.add("error", error * 1e6, "ppm")
    finding.holds["exact"] = abs(error) <= tolerance.rate
    return finding


def overhead(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """The overhead of each packet."""
    finding = Finding()
    _, extra = _fit(seen["rate"])
    finding.add("charged beyond IP", extra, "bytes")
    for name, expected in (("ip", 0), ("ethernet", 14)):
        finding.holds[name] = round(extra) == expected
    return finding


def overhead_bytes(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """The overhead of each packet that was asked for."""
    finding = Finding()
    _, extra = _fit(seen["overhead_bytes"])
    finding.add("charged beyond IP", extra, "bytes")
    for name, expected in (("added", OVERHEAD), ("beside", OVERHEAD + 14)):
        finding.holds[name] = round(extra) == expected
    return finding


def policer(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """What passes of a stream that exceeds a policer all the time."""
    one, finding = seen["policer"], Finding()
    passed = PACKET * (len(one.lost) - sum(one.lost))
    took_ns = one.arrivals[-1] - one.arrivals[0]
    most = POLICE_BURST + POLICE_BPS // 8 * took_ns // NS_PER_S
    finding.add("passed", passed, "bytes")
    finding.add("at most", most, "bytes")
    finding.holds["tokens"] = most - PACKET <= passed <= most
    return finding


def breaker(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """When a flow is cut that is above the rate of a circuit breaker all the time."""
    one, finding = seen["breaker"], Finding()
    passed = one.lost.index(True) if True in one.lost else len(one.lost)
    expected = bisect_left(one.arrivals, one.arrivals[0] + BREAKER_NS)
    finding.add("passed", passed, "packets")
    finding.add("until then", expected, "packets")
    finding.holds["cut"] = abs(passed - expected) <= 1 and all(one.lost[passed:])
    return finding


def _stream(seen: Mapping[str, Evidence], name: str) -> tuple[list[tuple[int, int]], list[int]]:
    """(arrival, bytes charged) and departure of each packet."""
    one = seen[name]
    extra = round(_fit(seen["rate"])[1])
    sends = one.experiment.sends
    numbers = sorted(one.first)
    arrivals = [(one.arrivals[number], sends[number][1] + extra) for number in numbers]
    return arrivals, [one.first[number].time_ns for number in numbers]


def _expected(
    arrivals: list[tuple[int, int]], delay_ns: int, changes: Sequence[Change] = ()
) -> list[int]:
    """The departures of a link of this rate and delay."""
    config = Config(rate=RATE_BPS // 8, delay_ns=delay_ns, limit_packets=NO_LIMIT)
    packets = Link(config, changes).run(arrivals)
    return [packet.departure_ns for packet in packets if packet.departure_ns is not None]


def schedule(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Each departure against that of the model (models/link.py)."""
    finding = Finding()
    one = seen["schedule"]
    arrivals, departures = _stream(seen, "schedule")
    expected = _expected(arrivals, one.delay_ns)
    late_ns = [got - due for got, due in zip(departures, expected, strict=True)]
    finding.holds["exact"] = _lateness(finding, late_ns, tolerance) and not any(one.lost)
    return finding


def slot(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """How far apart the instants are at which packets leave."""
    one, finding = seen["slot"], Finding()
    if not one.departures:
        raise Unmeasurable("nothing came out")
    times = sorted(departure.time_ns for departure in one.departures)
    begins = [b for a, b in pairwise([0, *times]) if b - a > SLOT_NS // 2]
    apart_ns = [b - a for a, b in pairwise(begins)] or [0]
    finding.add("slots", len(begins))
    finding.add("apart at least", min(apart_ns) / 1e6, "ms")
    finding.add("at most", max(apart_ns) / 1e6, "ms")
    early = [apart < SLOT_NS - tolerance.late_ns for apart in apart_ns]
    finding.holds["apart"] = sum(early) <= (1 - tolerance.share) * len(early) and not any(one.lost)
    return finding


def start(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Whether packets leave only while a trace that started at a time of day has a rate."""
    one, finding = seen["start"], Finding()
    if not one.departures:
        raise Unmeasurable("nothing came out")
    start_ns = START_S * NS_PER_S
    since = [(d.time_ns - start_ns) % (2 * OUTAGE_NS) for d in one.departures]
    late_ns = [max(ns - OUTAGE_NS, 0) for ns in since]
    finding.add("left in an outage", sum(ns > tolerance.late_ns for ns in late_ns), "packets")
    finding.add("latest", max(late_ns) / 1e3, "us")
    held = percentile(late_ns, tolerance.share) <= tolerance.late_ns
    finding.holds["in_step"] = held and not any(one.lost)
    return finding


#: What the steps of a trace add to a packet.
SHIFTS_NS = (5_000_000, 25_000_000)


def _steps(one: Evidence, tolerance: Tolerance) -> list[int | None]:
    """The step of a trace, of two, in which each packet comes; None: too close to tell."""
    since = [(when - START_S * NS_PER_S) % (2 * OUTAGE_NS) for when in one.arrivals]
    clear = [tolerance.late_ns < ns % OUTAGE_NS < OUTAGE_NS - tolerance.late_ns for ns in since]
    return [ns // OUTAGE_NS if sure else None for ns, sure in zip(since, clear, strict=True)]


def moving(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Whether each packet's delay is that of the step in which it came, but for the order."""
    one, finding = seen["moving"], Finding()
    late_ns, last_ns = [], 0
    for number, step in enumerate(_steps(one, tolerance)):
        departure = one.first.get(number)
        if departure is None:
            continue
        if step is not None:
            due_ns = max(last_ns, one.arrivals[number] + SHIFTS_NS[step])
            late_ns.append(departure.time_ns - due_ns)
        last_ns = max(last_ns, departure.time_ns)
    if not late_ns:
        raise Unmeasurable("nothing came out")
    finding.add("lost", sum(one.lost), "packets")
    finding.holds["by_step"] = _lateness(finding, late_ns, tolerance) and not any(one.lost)
    return finding


def down(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Whether packets are lost that come while the link is down, and no others."""
    one, finding = seen["down"], Finding()
    if not one.departures:
        raise Unmeasurable("nothing came out")
    pairs = [(step, lost) for step, lost in zip(_steps(one, tolerance), one.lost, strict=True)]
    finding.add("lost while down", sum(lost for step, lost in pairs if step == 1), "packets")
    finding.add("lost while up", sum(lost for step, lost in pairs if step == 0), "packets")
    finding.holds["drops"] = all(lost == bool(step) for step, lost in pairs if step is not None)
    return finding


def rate_step(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Each departure between those for a change when tc began, and when it had ended."""
    finding = Finding()
    arrivals, departures = _stream(seen, "rate_step")
    one = seen["rate_step"]
    new = int(one.experiment.changes[0].asked["rate"])
    bounds = [_expected(arrivals, 0, [Change(when, {"rate": new // 8})]) for when in one.changes[0]]
    after = [k for k, when in enumerate(departures) if when > one.changes[0][1]][2:-1]
    if len(after) < 2:
        raise Unmeasurable("no packet was waiting when tc had made the change")
    size = sum(arrivals[k][1] for k in after[1:])
    took_ns = departures[after[-1]] - departures[after[0]]
    finding.add("rate of those that wait", size * 8e6 / took_ns, "kbit/s")
    finding.add("asked for", new / 1e3, "kbit/s")
    finding.add("lost", sum(one.lost), "packets")
    ranges = [sorted(pair) for pair in zip(*bounds, strict=True)]
    late_ns = [max(got - high, 0) + min(got - low, 0)
               for got, (low, high) in zip(departures, ranges, strict=True)]  # fmt: skip
    held = percentile([abs(late) for late in late_ns], tolerance.share) <= tolerance.late_ns
    finding.holds["applies_to_waiting"] = held and not any(one.lost)
    return finding
