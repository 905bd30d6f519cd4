# SPDX-License-Identifier: GPL-2.0
"""Sessions that arrive at random: the draws of `wale get --arrivals`, in integer arithmetic.

A. Karnik and A. Kumar, "Performance of TCP Congestion Control With Explicit Rate
Feedback", IEEE/ACM Transactions on Networking, 2005, section V-D: sessions arrive in a
Poisson process, and each transfers a file of exponential size.  With e a draw of the
exponential law of mean 1,

    time between two arrivals = floor(e * interval) ns,  interval = 1 / rate to the ns,
    size                      = floor(e * mean) + 1 bytes,

the times from one stream of the seed and the sizes from another (streams.py), so that
another rate brings the same files.  The first session arrives one such time after the start.

e is -log(u) of u in (0, 1], good to 2^-55.  log2(u) comes digit by digit: u = m 2^-shift
with 1 <= m < 2, and the square of m is 2 or more where log2(m) has a one.  No logarithm
of a C library takes part, so that every machine draws the same sessions.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from wale_lab.models.streams import FIRST_OF_USER_SPACE, Stream

#: Bits behind the point of what exponential() returns.
FRACTION_BITS = 56

#: log(2) in 2^-64.
LOG_2 = 0xB17217F7D1CF79AB


class Purpose(enum.IntEnum):
    """The purpose of a stream; none is a link's."""

    TIMES = FIRST_OF_USER_SPACE
    SIZES = FIRST_OF_USER_SPACE + 1


def exponential(bits: int) -> int:
    """Return -log(u) in 2^-FRACTION_BITS, of u = (upper 63 bits + 1) / 2^63."""
    u = (bits >> 1) + 1
    shift = 64 - u.bit_length()
    m, log2_m = u << shift, 0
    for _ in range(FRACTION_BITS):
        square = m * m
        digit = square >> 127
        m = square >> (63 + digit)
        log2_m = log2_m << 1 | digit
    return ((shift << FRACTION_BITS) - log2_m) * LOG_2 >> 64


@dataclass(frozen=True)
class Session:
    """One session."""

    number: int  # 1, 2, ...
    arrival_ns: int  # after the start of the process
    size_bytes: int


@dataclass(frozen=True)
class Arrivals:
    """The process."""

    rate: float  # sessions per second
    mean_bytes: int
    seed: int

    @property
    def interval_ns(self) -> int:
        """Mean time between two arrivals."""
        return int(1e9 / self.rate + 0.5)

    def sessions(self) -> Iterator[Session]:
        """Yield sessions forever, in the order of their arrival."""
        times = Stream(self.seed, Purpose.TIMES)
        sizes = Stream(self.seed, Purpose.SIZES)
        n = arrival_ns = 0
        while True:
            arrival_ns += exponential(times.draw64(n)) * self.interval_ns >> FRACTION_BITS
            size = (exponential(sizes.draw64(n)) * self.mean_bytes >> FRACTION_BITS) + 1
            n += 1
            yield Session(n, arrival_ns, size)
