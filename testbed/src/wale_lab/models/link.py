# SPDX-License-Identifier: GPL-2.0
"""One direction of a wide-area link, computed exactly.

What the kernel's wale qdisc should do with a stream of packets, written from
its contract (kmod/include/uapi/linux/pkt_sched_wale.h) and not from its code.
All instants are integer nanoseconds, except the end of a service, which is an
exact fraction.

A packet of n wire bytes passes, in this order:

1. Admission.  The buffer holds the packets that are admitted and whose service
   has not ended, the one in service included.  A packet that would make it
   exceed the limit (packets or bytes) is dropped: verdict BUFFER.
2. The server, first come, first served.  Service starts at
   max(arrival, end of the previous service), and ends when the integral of the
   rate over time reaches n bytes.  The next service of a busy period starts at
   the exact end, so that nothing is lost by rounding; the packet leaves the
   buffer at the end rounded up to a nanosecond, its completion.
3. Random loss.  The n-th admitted packet is lost if the n-th number of the LOSS
   stream is below the probability: verdict LOSS.  It occupies buffer and server
   like any other and vanishes at its completion.  Numbers are used up only
   while there is a probability, the one in force at the arrival.
4. The line.  A packet for which it has no room (packets or bytes, of those that
   have not departed before this instant) vanishes at its completion: verdict LINE.
   Else departure = max(previous departure, completion + delay), so that a
   shorter delay never reorders packets.

The rate is a step function of time in units of 1/2520 byte/s (2520 is the
least common multiple of 1 .. 10, which makes the shares C / (M + 1) of up to
nine sessions exact).  A rate of r units does r units of work a nanosecond, and
a byte is 2520 * 10^9 units of work.  Constant and trace rates are in byte/s,
the rate with M sessions is floor(2520 C / (M + 1)) units.

A change at time t applies to services that end after t, and to arrivals from t
on.  The packet in service when the rate changes ends at the new rate.

A step of a trace may have more than a rate, and it applies like a change: the limit
and the loss of a packet are those of the step in which it arrives, its delay is that
of the step in which its service ends.  What a step has not, the configuration says.
What arrives while the link is down is dropped: verdict DOWN.  Of the rest, what exceeds
the policer (models/policer.py) is dropped before the buffer: verdict POLICER.  With `cuts`, so is a
packet, at its completion, if the link is down at any time from then until its
departure; the line does not hold it.  With `overtaking`, departure = completion +
delay where the trace has delays.
"""

from __future__ import annotations

import enum
import math
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from wale_lab.models import sessions
from wale_lab.models.policer import Parameters as PolicerParameters
from wale_lab.models.policer import Policer
from wale_lab.models.streams import Purpose, Stream

RATE_UNITS = 2520
NS_PER_S = 10**9
WORK_PER_BYTE = RATE_UNITS * NS_PER_S
LOSS_ALWAYS = 0xFFFFFFFF

# A step function: (start in ns, rate in units; None is no limit).
Step = tuple[int, "int | None"]


class Overhead(enum.Enum):
    """The layer at which the rate is meant."""

    RAW = "raw"
    ETHERNET = "ethernet"
    ATM = "atm"

    def wire_length(self, ip_bytes: int) -> int:
        """Return the length on the wire of an IP packet of this many bytes."""
        if self is Overhead.ETHERNET:
            # Header 14, FCS 4, preamble and delimiter 8, gap 12; frames of
            # 64 bytes at least (IEEE 802.3).
            return max(ip_bytes + 38, 84)
        if self is Overhead.ATM:
            # LLC/SNAP 8 (RFC 2684), AAL5 trailer 8, cells of 48 in 53.
            return -(-(ip_bytes + 16) // 48) * 53
        return ip_bytes


class TraceEnd(enum.Enum):
    """What comes after the last step of a trace."""

    LOOP = "loop"
    HOLD = "hold"
    STOP = "stop"


class Verdict(enum.Enum):
    """What became of a packet."""

    SENT = "sent"
    BUFFER = "buffer"
    LOSS = "loss"
    LINE = "line"
    DOWN = "down"
    POLICER = "policer"
    EARLY = "early"  # models.switch alone
    PARTIAL = "partial"


#: A rate of a step: none, and the link is down.
DOWN = -1


class TraceStep(NamedTuple):
    """A step; None stands for what the configuration says."""

    duration_ns: int
    rate: int | None = None  # bytes/s, or DOWN
    delay_ns: int | None = None
    loss: int | None = None  # fraction of 2^32
    limit: int | None = None  # in the unit of the trace


@dataclass(frozen=True)
class Trace:
    """Steps of (duration in ns, bytes/s), or with more of what a TraceStep has."""

    steps: tuple[tuple[int | None, ...], ...]
    end: TraceEnd = TraceEnd.LOOP
    limit_in_bytes: bool = False

    @cached_property
    def whole(self) -> list[TraceStep]:
        """The steps with all that they can have."""
        return [TraceStep(*step) for step in self.steps]  # type: ignore[arg-type]

    @cached_property
    def ends_ns(self) -> list[int]:
        """When each step is over, from the start of the trace."""
        return list(accumulate(step.duration_ns for step in self.whole))

    @cached_property
    def is_open(self) -> bool:
        """Does a step leave the rate to the configuration?"""
        return any(step.rate is None for step in self.whole)

    @cached_property
    def has_more(self) -> bool:
        """Is there more than rates?"""
        return any(step.rate == DOWN or step[2:] != (None, None, None) for step in self.whole)

    @cached_property
    def has_delays(self) -> bool:
        """Does a step say the delay?"""
        return any(step.delay_ns is not None for step in self.whole)

    def at(self, elapsed_ns: int) -> tuple[TraceStep, int | None]:
        """Return the step that holds so long after the start, and when it is over."""
        period_ns = self.ends_ns[-1]
        if elapsed_ns < 0:
            return self.whole[0], self.ends_ns[0]
        if self.end is not TraceEnd.LOOP and elapsed_ns >= period_ns:
            last = self.whole[-1]
            return last._replace(rate=0) if self.end is TraceEnd.STOP else last, None
        periods, rest = divmod(elapsed_ns, period_ns)
        number = bisect_right(self.ends_ns, rest)
        return self.whole[number], periods * period_ns + self.ends_ns[number]


@dataclass(frozen=True)
class Config:
    """A link's configuration; the defaults are those of a new qdisc."""

    rate: int | None = None  # bytes/s; None is no limit
    delay_ns: int = 0
    limit_packets: int | None = 1000  # one of the two limits is None
    limit_bytes: int | None = None
    line_packets: int | None = None  # most on the line; one of the two at least is None
    line_bytes: int | None = None
    loss: int = 0  # fraction of 2^32
    seed: int = 0
    trace: Trace | None = None
    sessions: sessions.Parameters | None = None
    cuts: bool = False  # what is on its way when the link goes down is dropped
    overtaking: bool = False
    policer: PolicerParameters | None = None  # that drops


@dataclass(frozen=True)
class Change:
    """A change of some attributes at an instant, as by one tc command.

    Only what is in `values` changes (names of Config).  A new trace, a new
    chain of sessions and a new seed start at time_ns; a rate ends a trace.
    With `start_ns` among the values, the trace or the chain, new or not, starts
    then: what is before time_ns has passed; before start_ns, its first rate holds.
    """

    time_ns: int
    values: dict[str, object] = field(default_factory=dict)

    def apply(self, config: Config) -> Config:
        """Return the configuration after this change."""
        values = {name: value for name, value in self.values.items() if name != "start_ns"}
        if "limit_bytes" in values:
            values.setdefault("limit_packets", None)
        elif "limit_packets" in values:
            values.setdefault("limit_bytes", None)
        if "line_bytes" in values:
            values.setdefault("line_packets", None)
        elif "line_packets" in values:
            values.setdefault("line_bytes", None)
        trace = values.get("trace", config.trace)
        if "rate" in values and not (isinstance(trace, Trace) and trace.is_open):
            values.setdefault("trace", None)
        if values.get("trace") is not None:
            values.setdefault("sessions", None)
        return replace(config, **values)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Packet:
    """The link's treatment of one packet."""

    arrival_ns: int
    wire_len: int
    verdict: Verdict
    completion_ns: int | None = None  # None: dropped at arrival, or never served
    departure_ns: int | None = None  # None: dropped, or never served


def _constant_steps(start_ns: int, rate: int | None) -> Iterator[Step]:
    yield start_ns, None if rate is None else rate * RATE_UNITS


def _trace_steps(epoch_ns: int, trace: Trace, open_rate: int | None) -> Iterator[Step]:
    time_ns = epoch_ns
    while True:
        for step in trace.whole:
            rate = open_rate if step.rate is None else max(step.rate, 0)
            yield time_ns, None if rate is None else rate * RATE_UNITS
            time_ns += step.duration_ns
        if trace.end is not TraceEnd.LOOP:
            break
    if trace.end is TraceEnd.STOP:
        yield time_ns, 0


def _session_steps(
    epoch_ns: int, rate: int | None, parameters: sessions.Parameters, seed: int
) -> Iterator[Step]:
    for k, m in enumerate(sessions.Chain(parameters, seed).walk()):
        units = None if rate is None else rate * RATE_UNITS // (m + 1)
        yield epoch_ns + k * parameters.step_ns, units


@dataclass(frozen=True)
class _Era:
    """From one change to the next: a configuration, and where its rate began."""

    start_ns: int
    config: Config
    epoch_ns: int
    chain_seed: int
    draws_restart: bool


class Schedule:
    """The rate as a function of time, through all changes."""

    def __init__(self, eras: Sequence[_Era]) -> None:
        self._generator = self._generate(eras)
        self._starts: list[int] = []
        self._rates: list[int | None] = []
        self._complete = False

    @staticmethod
    def _generate(eras: Sequence[_Era]) -> Iterator[Step]:
        for number, era in enumerate(eras):
            config = era.config
            until = eras[number + 1].start_ns if number + 1 < len(eras) else None
            if config.trace is not None:
                steps = _trace_steps(era.epoch_ns, config.trace, config.rate)
            elif config.sessions is not None:
                steps = _session_steps(era.epoch_ns, config.rate, config.sessions, era.chain_seed)
            else:
                steps = _constant_steps(era.start_ns, config.rate)
            current: int | None = None
            entered = False
            for number_of_step, (start_ns, rate) in enumerate(steps):
                if not number_of_step:
                    current = rate
                    start_ns = min(start_ns, era.start_ns)
                if until is not None and start_ns >= until:
                    break
                if start_ns <= era.start_ns:
                    current = rate
                    continue
                if not entered:
                    yield era.start_ns, current
                    entered = True
                yield start_ns, rate
            if not entered and (until is None or until > era.start_ns):
                yield era.start_ns, current

    def _extend(self) -> bool:
        step = next(self._generator, None)
        if step is None:
            self._complete = True
            return False
        self._starts.append(step[0])
        self._rates.append(step[1])
        return True

    def _index(self, time_ns: Fraction | int) -> int:
        while not self._complete and (not self._starts or self._starts[-1] <= time_ns):
            self._extend()
        return bisect_right(self._starts, time_ns) - 1

    def rate_at(self, time_ns: int) -> int | None:
        """Return the rate in units at an instant."""
        return self._rates[self._index(time_ns)]

    def finish(self, start: Fraction, work: int) -> Fraction | None:
        """Return when work that starts at `start` is done; None: never."""
        index = self._index(start)
        now = start
        left = Fraction(work)
        while True:
            rate = self._rates[index]
            if rate is None:
                return now
            if index + 1 == len(self._starts) and not self._complete:
                self._extend()
            until = self._starts[index + 1] if index + 1 < len(self._starts) else None
            if rate > 0:
                end = now + left / rate
                if until is None or end <= until:
                    return end
            elif until is None:
                return None
            left -= (until - now) * rate
            now = Fraction(until)
            index += 1


class Link:
    """A link with an initial configuration and changes at given times."""

    def __init__(self, config: Config, changes: Iterable[Change] = (), start_ns: int = 0) -> None:
        eras = [_Era(start_ns, config, start_ns, config.seed, True)]
        for change in sorted(changes, key=lambda item: item.time_ns):
            old = eras[-1]
            new = change.apply(old.config)
            restart = (
                change.values.get("trace") is not None
                or change.values.get("sessions") is not None
                or ("seed" in change.values and new.sessions is not None)
                or "start_ns" in change.values
            )
            epoch_ns = change.values.get("start_ns", change.time_ns)
            assert isinstance(epoch_ns, int)
            eras.append(
                _Era(
                    change.time_ns,
                    new,
                    epoch_ns if restart else old.epoch_ns,
                    new.seed,
                    "seed" in change.values,
                )
            )
        self._eras = eras
        self._era_starts = [era.start_ns for era in eras]
        self.schedule = Schedule(eras)
        self._configs: dict[tuple[int, TraceStep], tuple[Config, bool]] = {}

    def _era_before(self, time_ns: int) -> int:
        """Return the era in force just before an instant."""
        return max(bisect_left(self._era_starts, time_ns) - 1, 0)

    def _era_at(self, time_ns: int) -> int:
        """Return the era in force at an instant."""
        return max(bisect_right(self._era_starts, time_ns) - 1, 0)

    def run(self, packets: Iterable[tuple[int, int]]) -> list[Packet]:
        """Send (arrival_ns, wire_len) in order of arrival; return their fates."""
        results: list[Packet] = []
        buffer = Buffer()
        server_free: Fraction | None = Fraction(0)
        line = Line()
        last_departure = 0
        draws, policers = _LossDraws(self._eras), _Policers(self._eras)
        for arrival_ns, wire_len in packets:
            era = self._era_at(arrival_ns)
            arriving, down = self._config(era, arrival_ns)
            buffer.advance(arrival_ns)
            if down:
                results.append(Packet(arrival_ns, wire_len, Verdict.DOWN))
                continue
            policer = policers.of(era)
            if policer and not policer.takes(arrival_ns, wire_len):
                results.append(Packet(arrival_ns, wire_len, Verdict.POLICER))
                continue
            if not buffer.fits(arriving, wire_len):
                results.append(Packet(arrival_ns, wire_len, Verdict.BUFFER))
                continue
            if server_free is not None:
                server_free = self.schedule.finish(
                    max(Fraction(arrival_ns), server_free), wire_len * WORK_PER_BYTE
                )
            lost = draws.is_lost(era, arriving.loss)
            if server_free is None:
                buffer.enter(None, wire_len)
                results.append(Packet(arrival_ns, wire_len, Verdict.LOSS if lost else Verdict.SENT))
                continue
            completion_ns = math.ceil(server_free)
            buffer.enter(completion_ns, wire_len)
            if lost:
                results.append(Packet(arrival_ns, wire_len, Verdict.LOSS, completion_ns))
                continue
            era = self._era_before(completion_ns)
            config, _ = self._config(era, max(completion_ns - 1, self._eras[era].start_ns))
            if not line.fits(config, completion_ns, wire_len):
                results.append(Packet(arrival_ns, wire_len, Verdict.LINE, completion_ns))
                continue
            departure_ns = completion_ns + config.delay_ns
            if not (config.overtaking and config.trace and config.trace.has_delays):
                departure_ns = max(last_departure, departure_ns)
            if config.cuts and self._is_cut(era, completion_ns, departure_ns):
                results.append(Packet(arrival_ns, wire_len, Verdict.DOWN, completion_ns))
                continue
            last_departure = max(last_departure, departure_ns)
            line.enter(departure_ns, wire_len)
            results.append(Packet(arrival_ns, wire_len, Verdict.SENT, completion_ns, departure_ns))
        return results

    def _config(self, era: int, time_ns: int) -> tuple[Config, bool]:
        """Return the configuration at an instant, with what a step says; and is the link down?"""
        config, epoch_ns = self._eras[era].config, self._eras[era].epoch_ns
        trace = config.trace
        if trace is None or not trace.has_more:
            return config, False
        step, _ = trace.at(time_ns - epoch_ns)
        key = era, step
        if key not in self._configs:
            limit = "limit_bytes" if trace.limit_in_bytes else "limit_packets"
            values: dict[str, object] = {"delay_ns": step.delay_ns, "loss": step.loss}
            values |= {limit: step.limit}
            given = {name: value for name, value in values.items() if value is not None}
            self._configs[key] = Change(time_ns, given).apply(config), step.rate == DOWN
        return self._configs[key]

    def _is_cut(self, era: int, from_ns: int, to_ns: int) -> bool:
        """Is the link down at any time between two instants?"""
        trace, epoch_ns = self._eras[era].config.trace, self._eras[era].epoch_ns
        time_ns: int | None = from_ns
        while trace is not None and time_ns is not None and time_ns < to_ns:
            step, over_ns = trace.at(time_ns - epoch_ns)
            if step.rate == DOWN:
                return True
            time_ns = over_ns if over_ns is None else epoch_ns + over_ns
        return False


class _Policers:
    """The policer through all changes."""

    def __init__(self, eras: Sequence[_Era]) -> None:
        self._eras, self._era = eras, 0
        self._policer: Policer | None = None
        if first := eras[0].config.policer:
            self._policer = Policer(first, eras[0].start_ns)

    def of(self, era: int) -> Policer | None:
        """Return that of an era, not before the one asked for last."""
        while self._era < era:
            self._era += 1
            now = self._eras[self._era]
            if now.config.policer is None:
                self._policer = None
            elif self._policer is None:
                self._policer = Policer(now.config.policer, now.start_ns)
            else:
                self._policer.change(now.config.policer, now.start_ns)
        return self._policer


class _LossDraws:
    """The verdicts of random loss, in the order of admission."""

    def __init__(self, eras: Sequence[_Era]) -> None:
        self._eras = eras
        self._era = 0
        self._stream = Stream(eras[0].config.seed, Purpose.LOSS)
        self._count = 0

    def is_lost(self, era: int, loss: int) -> bool:
        """Return the verdict of the next packet, admitted in this era with this probability."""
        while self._era < era:
            self._era += 1
            if self._eras[self._era].draws_restart:
                self._stream = Stream(self._eras[self._era].config.seed, Purpose.LOSS)
                self._count = 0
        if loss == 0:
            return False
        value = self._stream.draw32(self._count)
        self._count += 1
        return loss == LOSS_ALWAYS or value < loss


class Buffer:
    """The packets that wait or are in service; they leave in order."""

    def __init__(self) -> None:
        self._content: deque[tuple[int | None, int]] = deque()  # completion_ns, wire_len
        self.bytes = 0

    @property
    def packets(self) -> int:
        """Return the number of packets."""
        return len(self._content)

    def advance(self, time_ns: int) -> None:
        """Release packets served up to an instant, inclusive."""
        while self._content:
            completion_ns, wire_len = self._content[0]
            if completion_ns is None or completion_ns > time_ns:
                break
            self.bytes -= wire_len
            self._content.popleft()

    def fits(self, config: Config, wire_len: int) -> bool:
        """Tell whether one more packet fits."""
        if config.limit_bytes is not None:
            return self.bytes + wire_len <= config.limit_bytes
        assert config.limit_packets is not None
        return self.packets + 1 <= config.limit_packets

    def enter(self, completion_ns: int | None, wire_len: int) -> None:
        """Take in a packet whose service ends then; None: never."""
        self._content.append((completion_ns, wire_len))
        self.bytes += wire_len


class Line:
    """The packets that are on their way; they leave in order."""

    def __init__(self) -> None:
        self._content: deque[tuple[int, int]] = deque()  # departure_ns, wire_len
        self._bytes = 0

    def fits(self, config: Config, time_ns: int, wire_len: int) -> bool:
        """Tell whether one more packet fits at an instant; one that leaves then is still there."""
        while self._content and self._content[0][0] < time_ns:
            self._bytes -= self._content.popleft()[1]
        if config.line_packets is not None and len(self._content) >= config.line_packets:
            return False
        return config.line_bytes is None or self._bytes + wire_len <= config.line_bytes

    def enter(self, departure_ns: int, wire_len: int) -> None:
        """Take in a packet."""
        self._content.append((departure_ns, wire_len))
        self._bytes += wire_len


def counters(packets: Iterable[Packet], time_ns: int) -> dict[str, int]:
    """Return the packet counters of a link at an instant, events of it included."""
    result = dict.fromkeys(
        ("offered", "sent", "dropped_buffer", "dropped_loss", "backlog", "line"), 0
    )
    for packet in packets:
        if packet.arrival_ns > time_ns:
            break
        result["offered"] += 1
        if packet.verdict is Verdict.BUFFER:
            result["dropped_buffer"] += 1
        elif packet.completion_ns is None or packet.completion_ns > time_ns:
            result["backlog"] += 1
        elif packet.verdict is Verdict.LOSS:
            result["dropped_loss"] += 1
        elif packet.departure_ns is not None and packet.departure_ns > time_ns:
            result["line"] += 1
        else:
            result["sent"] += 1
    return result
