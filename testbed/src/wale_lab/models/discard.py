# SPDX-License-Identifier: GPL-2.0
"""Which packets a shared buffer drops: policies, from their definitions.

R. Goyal and others, "Improving the performance of TCP over the ATM-UBR service",
Computer Communications 21 (1998), section 4, with exact fractions; and the
random discard of T. V. Lakshman and U. Madhow, IEEE/ACM Transactions on
Networking 5(3), 1997, section V-B.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from fractions import Fraction

MILLION = 10**6


class Policy(enum.Enum):
    """How the buffer is shared."""

    TAIL = "tail"
    EPD = "epd"
    SELDROP = "seldrop"
    FBA = "fba"
    RANDOM_TAIL = "random_tail"


@dataclass(frozen=True)
class Sharing:
    """A policy with its parameters; the defaults are those of a new qdisc."""

    policy: Policy = Policy.TAIL
    threshold: int | None = None  # R, in the unit of the limit
    share: int | None = 900_000  # or R in millionths of the limit
    z: int = 800_000  # millionths
    last: int = 1

    def threshold_of(self, limit: int) -> int:
        """Return R in a buffer with this limit."""
        if self.share is not None:
            return limit * self.share // MILLION
        assert self.threshold is not None
        return self.threshold

    def refuses(self, total: int, limit: int, flow: int, active: int) -> bool:
        """Tell whether a packet that would fit is refused.

        X = total is in the buffer, Y = flow of it by the packet's flow, and
        `active` flows have any there.
        """
        threshold = self.threshold_of(limit)
        if self.policy in (Policy.TAIL, Policy.RANDOM_TAIL) or total <= threshold:
            return False
        if self.policy is Policy.EPD:
            return True
        load = Fraction(flow * active, total)
        allowed = Fraction(self.z, MILLION)
        if self.policy is Policy.FBA:
            allowed *= Fraction(limit - threshold, total - threshold)
        return load > allowed


def victim(draw64: int, pool: int) -> int:
    """Return which packet is dropped: 0 the arrival, k the k-th from the tail."""
    return (draw64 >> 32) * (pool + 1) >> 32
