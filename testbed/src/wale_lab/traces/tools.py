# SPDX-License-Identifier: GPL-2.0
"""Outputs of programs that measure: iperf3 (JSON), irtt (JSON) and ping.

Their times are those of the measurement, whose start is that of the trace.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

from wale_lab.errors import ScenarioError
from wale_lab.trace_format.step import Step
from wale_lab.trace_format.trace_file import Trace
from wale_lab.traces.samples import How, Sample
from wale_lab.traces.source import PING_TIME, Source
from wale_lab.units import TIMES_NS

#: Between pings, unless the output has times.
PING_INTERVAL_NS = 10**9

_REPLY = re.compile(
    r"^(?:\[(?P<clock>\d+\.\d+)\] )?.*?(?:seq[=: ]\s*(?P<seq>\d+).*?)?"
    rf"\b(?:{PING_TIME})[=<]\s*(?P<ms>\d+(?:[.,]\d+)?) ?(?P<unit>ms|us|usec|s)\b"
)
_SEQUENCES = 65536


def _number(source: Source, what: str, value: Any) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ScenarioError(f"{source.name}: {what}: expected a number, got {value!r}")
    number = Decimal(str(value))
    if not number.is_finite() or number < 0:
        raise ScenarioError(f"{source.name}: {what}: expected a number from 0 on, got {value!r}")
    return Fraction(number)


def _get(source: Source, what: str, value: Any, *keys: str) -> Any:
    """A value in an object of JSON."""
    for key in keys:
        what = f"{what}.{key}" if what else key
        if not isinstance(value, dict) or key not in value:
            raise ScenarioError(f"{source.name}: expected {what}, and there is none")
        value = value[key]
    return value


def read_iperf3(source: Source, direction: str) -> Trace:
    """The rate of each interval; what was omitted at the start is left out."""
    intervals, error = _report(source)
    sums = [interval for interval in intervals if isinstance(interval, dict)]
    name = _sum_name(source, sums, direction)
    steps = list(_rates(source, sums, name))
    if not steps and error is not None:
        raise ScenarioError(f"{source.name}: iperf3 failed: {error}")
    if not steps:
        raise ScenarioError(
            f"{source.name}: expected intervals with a rate, and there are none: "
            "run iperf3 with -J, and not with -i 0"
        )
    notes = [] if error is None else [f"iperf3 ended with an error, {error}: the trace ends there"]
    return Trace(steps, source.name, "iperf3", notes)


def _rates(source: Source, sums: Iterable[dict[str, Any]], name: str) -> Iterator[Step]:
    """The rates of the intervals that have a length."""
    end = Fraction(0)
    for number, interval in enumerate(sums):
        what = f"intervals[{number}]"
        total = _get(source, what, interval, name)
        if isinstance(total, dict) and total.get("omitted"):
            continue
        seconds, bits = (
            _number(source, f"{what}.{name}.{key}", _get(source, f"{what}.{name}", total, key))
            for key in ("seconds", "bits_per_second")
        )
        if not seconds:
            continue
        # the ends are rounded, not the lengths, which would add up
        start_ns, end = round(end * 10**9), end + seconds
        yield Step(round(end * 10**9) - start_ns, rate_bps=round(bits / 8) * 8)


def _report(source: Source) -> tuple[list[Any], str | None]:
    """The intervals of an output, and the error it ended with: an interrupt is one."""
    lines = source.rows
    if lines and '"event"' in lines[0][1]:
        return _events(source)
    error = source.json.get("error") if isinstance(source.json, dict) else None
    if error and "intervals" not in source.json:
        return [], str(error)
    intervals = _get(source, "", source.json, "intervals")
    if not isinstance(intervals, list):
        raise ScenarioError(f"{source.name}: intervals: expected a list")
    return intervals, str(error) if error else None


def _events(source: Source) -> tuple[list[Any], str | None]:
    """The same of an output with a line for each event (--json-stream)."""
    found: list[Any] = []
    error = None
    for number, line in source.rows:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            raise ScenarioError(f"{source.where(number)}: not valid JSON") from None
        kind = event.get("event") if isinstance(event, dict) else None
        if kind == "interval":
            found.append(event.get("data"))
        elif kind == "error":
            error = str(event.get("data"))
    return found, error


def _sum_name(source: Source, intervals: list[dict[str, Any]], direction: str) -> str:
    """Where the rate of a direction is: a run with --bidir has both."""
    if not any("sum_bidir_reverse" in interval for interval in intervals):
        return "sum"
    sends = all(_get(source, "", each, "sum").get("sender", True) for each in intervals[:1])
    return "sum" if sends == (direction == "up") else "sum_bidir_reverse"


def read_irtt(source: Source) -> list[Sample]:
    """Half of each round trip; a packet that was lost has none."""
    trips = _get(source, "", source.json, "round_trips")
    if not isinstance(trips, list):
        raise ScenarioError(f"{source.name}: round_trips: expected a list")
    samples: list[Sample] = []
    first = None
    for number, trip in enumerate(trips):
        what = f"round_trips[{number}]"
        if str(_get(source, what, trip, "lost")).lower() != "false":
            continue
        sent = _get(source, what, trip, "timestamps", "client", "send")
        clock = "monotonic" if isinstance(sent, dict) and "monotonic" in sent else "wall"
        time = _number(source, f"{what}: time", _get(source, what, sent, clock))
        rtt = _number(source, f"{what}: rtt", _get(source, what, trip, "delay", "rtt"))
        first = time if first is None else first
        samples.append(Sample(number + 1, round(time - first), Step(0, delay_ns=round(rtt / 2))))
    samples.sort(key=lambda sample: sample.time_ns)
    return samples


def read_ping(source: Source, how: How) -> list[Sample]:
    """Half of each round trip; the time is that of -D, or the number of the packet."""
    interval = how.interval_ns or PING_INTERVAL_NS
    samples: list[Sample] = []
    last = 0
    first: int | None = None
    for slot, (number, line) in enumerate(source.rows):
        match = _REPLY.match(line.strip())
        if not match or "DUP!" in line:
            continue
        if match["clock"]:
            time = round(Fraction(match["clock"]) * 10**9)
        elif match["seq"]:
            # numbers of packets have 16 bits: it is the one that is nearest to the last
            after = (int(match["seq"]) - last + _SEQUENCES // 2) % _SEQUENCES - _SEQUENCES // 2
            last += after if samples else int(match["seq"])
            time = last * interval
        else:
            time = slot * interval  # of Windows: a line for each packet, lost or not
        first = time if first is None else first
        rtt = Fraction(match["ms"].replace(",", ".")) * TIMES_NS[match["unit"]]
        samples.append(Sample(number, time - first, Step(0, delay_ns=round(rtt / 2))))
    if not samples:
        raise ScenarioError(f"{source.name}: expected replies to ping with their time, got none")
    samples.sort(key=lambda sample: sample.time_ns)
    return samples
