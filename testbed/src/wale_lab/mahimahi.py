# SPDX-License-Identifier: GPL-2.0
"""A Mahimahi trace as steps of a rate, `DURATION RATE` on each line.

A line of a Mahimahi trace is a time in ms at which one packet can be delivered; after the
last one the trace starts over.  Step k has the packets of ((k - 1) step, k step]; those of
time 0 count in the first one.  The last step ends with the trace.

Traces can have millions of lines: a time takes eight bytes here, and steps are written as
they are computed.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from wale_lab import units
from wale_lab.errors import ScenarioError
from wale_lab.fields import MAX_RATE_BPS
from wale_lab.options import TIME_MAX, TRACE_PERIOD_MAX
from wale_lab.trace_format.text import one_line, open_text

#: Steps that a link's trace may have, and how long one may be (linux/pkt_sched_wale.h).
MAX_STEPS = 16_777_216
MAX_DURATION_MS = TIME_MAX // 10**6

#: A first time from here on, 11 days, is rather one of a clock: 1e9 s after 1970 is in 2001.
LEAST_CLOCK_MS = 10**9

Step = tuple[int, int]  # ms, bytes/s


def read_times_ms(path: Path) -> Sequence[int]:
    """The times of a trace; ScenarioError says what is wrong and where."""
    with open_text(path) as file:
        return times_of(str(path), file)


def times_of(name: str, lines: Iterable[str]) -> Sequence[int]:
    """The times of the lines of a trace."""
    times = array("Q")
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if text:
            times.append(_time_ms(text, times[-1] if times else 0, f"{name}:{number}"))
    if not times:
        raise ScenarioError(f"{name}: the trace has no steps")
    if times[-1] == 0:
        raise ScenarioError(
            f"{name}: expected a time above 0: the last one is when it begins again"
        )
    return times


def _time_ms(text: str, last: int, where: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise ScenarioError(f"{where}: expected a time in whole ms, got {text!r}")
    if int(text) < last:
        raise ScenarioError(f"{where}: expected a time from {last} on, got {text}")
    return int(text)


def _each_step(times_ms: Sequence[int], step_ms: int, packet_bytes: int) -> Iterator[Step]:
    """The rate of each step that has packets, rounded down, and of the pauses between."""
    end = times_ms[-1]
    index = packets = 0

    def one() -> Step:
        duration = min(step_ms, end - index * step_ms)
        return duration, packets * packet_bytes * 1000 // duration

    for time in times_ms:
        here = max(0, -(-time // step_ms) - 1)
        if here != index:
            yield one()
            yield (here - index - 1) * step_ms, 0
            index, packets = here, 0
        packets += 1
    yield one()


def _merged(each: Iterable[Step]) -> Iterator[Step]:
    """Equal neighbours as one, as far as a step of a link can be so long."""
    length = held = 0
    for duration, rate in each:
        if duration and rate != held and length:
            yield length, held
            length = 0
        if duration:
            length, held = length + duration, rate
        while length > MAX_DURATION_MS:
            yield MAX_DURATION_MS, held
            length -= MAX_DURATION_MS
    yield length, held


def steps(times_ms: Sequence[int], step_ms: int, packet_bytes: int) -> Iterator[Step]:
    """Each step as (duration in ms, rate in bytes/s, rounded down); equal neighbours are one."""
    return _merged(_each_step(times_ms, step_ms, packet_bytes))


def _option(name: str, text: str, parse: Callable[[object], int]) -> int:
    try:
        return parse(text)
    except ValueError as error:
        raise ScenarioError(f"{name}: {error}") from None


def convert(path: Path, step: str, packet: str, from_start: bool = False) -> Iterator[str]:
    """The lines of a trace file of ours from one of Mahimahi's."""
    step_ms, packet_bytes = options_of(step, packet)
    found = converted(str(path), read_times_ms(path), step_ms, packet_bytes, from_start)
    return _lines(path.name, found, packet_bytes, step)


def options_of(step: str, packet: str) -> tuple[int, int]:
    """The length of steps in ms, and the bytes of a packet, from words of the user."""
    step_ns = _option("--step", step, units.parse_time_ns)
    packet_bytes = _option("--packet", packet, units.parse_size_bytes)
    if step_ns < 10**6 or step_ns % 10**6:
        raise ScenarioError(f"--step: expected whole ms, at least one, got {step!r}")
    if packet_bytes < 1:
        raise ScenarioError(f"--packet: expected a size above 0, got {packet!r}")
    return step_ns // 10**6, packet_bytes


def converted(
    name: str, times_ms: Sequence[int], step_ms: int, packet_bytes: int, from_start: bool
) -> Iterator[Step]:
    """The steps of a trace, all of which a link takes; its times may be shifted to begin at 0."""
    if from_start:
        first = times_ms[0]
        times_ms = array("Q", (time - first for time in times_ms))
        if not times_ms[-1]:
            raise ScenarioError(f"{name}: expected more than one time, to begin at the first one")
    _check_times(name, times_ms)
    _check_steps(name, steps(times_ms, step_ms, packet_bytes))
    return steps(times_ms, step_ms, packet_bytes)


def _check_times(name: str, times_ms: Sequence[int]) -> None:
    """Refuse times of a clock, and a trace that is too long for a link."""
    first, last = times_ms[0], times_ms[-1]
    if first >= LEAST_CLOCK_MS:
        raise ScenarioError(
            f"{name}: expected times in ms from the start of the trace, and the first one is "
            f"{first}, which looks like a time of day: subtract it from each, as --from-start does"
        )
    if last > TRACE_PERIOD_MAX // 10**6:
        raise ScenarioError(
            f"{name}: expected a trace of at most 4000 days, and the last time is {last} ms"
        )


def _check_steps(name: str, found: Iterable[Step]) -> None:
    """Refuse what a link would refuse."""
    count = peak_bps = 0
    for _, rate in found:
        count, peak_bps = count + 1, max(peak_bps, 8 * rate)
    if count > MAX_STEPS:
        raise ScenarioError(
            f"{name}: {count} steps, of {MAX_STEPS} that a link takes: give a longer --step"
        )
    if not peak_bps:
        raise ScenarioError(
            f"{name}: expected a step with a rate of at least 1 byte/s: give a shorter --step, "
            "or a larger --packet"
        )
    if peak_bps > MAX_RATE_BPS:
        raise ScenarioError(
            f"{name}: a step has {peak_bps} bit/s, of {MAX_RATE_BPS} that a link takes: give a "
            "longer --step, or a smaller --packet"
        )


def _lines(name: str, found: Iterable[Step], packet_bytes: int, step: str) -> Iterator[str]:
    yield f"# from {one_line(name)}: packets of {packet_bytes} bytes, steps of {step}\n"
    for duration, rate in found:
        yield f"{duration}ms {rate * 8}bit\n"
