# SPDX-License-Identifier: GPL-2.0
"""Random exponential marking on a link, from its definition.

S. Athuraliya, S. H. Low, V. H. Li and Q. Yin, "REM: Active Queue Management", IEEE
Network 15(3), 2001, as kmod/include/uapi/linux/pkt_sched_wale.h has it.  Every
interval, with b bytes in the buffer, x bytes that arrived in the interval and c that the
rate of then could serve in it,

    p <- max(0, p + gamma (alpha (b - target) + x - c))

and a packet that would fit is refused, or marked if it can be, with probability
1 - phi^-p, if the next number of the MARK stream is below that. Numbers are used up
only while there is a probability.

Prices are integers in 10^-9, amounts in thousandths of a byte, and quotients are
rounded towards zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from wale_lab.models.link import RATE_UNITS, WORK_PER_BYTE, Buffer, Config, Link, Verdict
from wale_lab.models.streams import Purpose, Stream

PRICE_ONE = 10**9
MOST_BYTES = 1 << 40


def quotient(number: int, divisor: int) -> int:
    """Divide, rounding towards zero."""
    return abs(number) // divisor * (1 if number >= 0 else -1)


@dataclass(frozen=True)
class Parameters:
    """How the price moves; the defaults are those of a new qdisc."""

    interval_ns: int = 10**7
    target: int = 20_000  # bytes
    gamma: int = 1000  # for each kB, millionths
    alpha: int = 100_000  # millionths
    phi: int = 1_100_000  # millionths

    def probability(self, price: int) -> float:
        """Return the probability of a mark at a price."""
        return -math.expm1(-price / PRICE_ONE * math.log(self.phi / 10**6))

    def price_of(self, probability: float) -> float:
        """Return the price at a probability, as a sender reads it."""
        return -math.log1p(-probability) / math.log(self.phi / 10**6)

    @property
    def most(self) -> int:
        """The price at which one packet in 2^32 has no mark: there is no higher one."""
        return int(PRICE_ONE * 32 * math.log(2) / math.log(self.phi / 10**6))

    def after(self, price: int, backlog: int, arrived: int, rate: int | None) -> int:
        """Return the price an interval later; the rate is in bytes/s."""
        most = 1000 * MOST_BYTES
        served = most
        if rate is not None:
            served = min(rate * self.interval_ns // 10**6, most)
        excess = min(backlog, MOST_BYTES) - self.target
        mismatch = quotient(excess * self.alpha, 1000) + 1000 * min(arrived, MOST_BYTES) - served
        return min(max(0, price + quotient(mismatch * self.gamma, 1000)), self.most)


@dataclass(frozen=True)
class Fate:
    """What became of a packet."""

    verdict: Verdict
    marked: bool = False
    unmarkable: bool = False
    departure_ns: int | None = None


@dataclass
class MarkingLink:
    """A link with a price, which is zero at `start_ns`."""

    config: Config
    parameters: Parameters = field(default_factory=Parameters)
    mark: bool = False
    start_ns: int = 0

    def __post_init__(self) -> None:
        self.price = 0
        self.next_ns = self.start_ns + self.parameters.interval_ns
        self._schedule = Link(self.config, start_ns=self.start_ns).schedule
        self._stream = Stream(self.config.seed, Purpose.MARK)
        self._drawn = 0
        self._buffer = Buffer()
        self._arrived = 0

    def advance(self, time_ns: int) -> None:
        """Let time pass; the instant is included."""
        while self.next_ns <= time_ns:
            self._buffer.advance(self.next_ns)
            units = self._schedule.rate_at(self.next_ns)
            self.price = self.parameters.after(
                self.price,
                self._buffer.bytes,
                self._arrived,
                None if units is None else units // RATE_UNITS,
            )
            self._arrived = 0
            self.next_ns += self.parameters.interval_ns
        self._buffer.advance(time_ns)

    def _is_drawn(self) -> bool:
        probability = self.parameters.probability(self.price)
        if probability * 2**32 < 1:
            return False
        self._drawn += 1
        return self._stream.draw32(self._drawn - 1) < probability * 2**32

    def run(self, packets: Iterable[tuple[int, int, bool]]) -> list[Fate]:
        """Send (arrival_ns, wire_len, can be marked) in order; return their fates."""
        fates = []
        free: Fraction | None = Fraction(0)
        for arrival_ns, wire_len, ect in packets:
            self.advance(arrival_ns)
            self._arrived += wire_len
            if not self._buffer.fits(self.config, wire_len):
                fates.append(Fate(Verdict.BUFFER))
                continue
            drawn = self._is_drawn()
            if drawn and not self.mark:
                fates.append(Fate(Verdict.EARLY))
                continue
            assert free is not None
            free = self._schedule.finish(max(Fraction(arrival_ns), free), wire_len * WORK_PER_BYTE)
            completion_ns = None if free is None else math.ceil(free)
            self._buffer.enter(completion_ns, wire_len)
            assert completion_ns is not None
            departure_ns = completion_ns + self.config.delay_ns
            fates.append(Fate(Verdict.SENT, drawn and ect, drawn and not ect, departure_ns))
        return fates
