# SPDX-License-Identifier: GPL-2.0
"""The policer of a link: a bucket of tokens, computed exactly.

Written from kmod/include/uapi/linux/pkt_sched_wale.h and not from the module.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

NS_PER_S = 10**9


class Parameters(NamedTuple):
    """As configured."""

    rate: int  # bytes/s
    burst: int  # bytes


class Policer:
    """Its tokens, in bytes: whole and fractions."""

    def __init__(self, parameters: Parameters, time_ns: int) -> None:
        self.parameters, self.time_ns = parameters, time_ns
        self.tokens = Fraction(parameters.burst)

    def _fill(self, time_ns: int) -> None:
        rate, burst = self.parameters
        came = Fraction(rate * (time_ns - self.time_ns), NS_PER_S)
        self.tokens = min(self.tokens + came, Fraction(burst))
        self.time_ns = time_ns

    def change(self, parameters: Parameters, time_ns: int) -> None:
        """Have other parameters from an instant on."""
        self._fill(time_ns)
        self.parameters = parameters
        self.tokens = min(self.tokens, Fraction(parameters.burst))

    def takes(self, time_ns: int, wire_len: int) -> bool:
        """Tell whether a packet that arrives has tokens; it then uses them up."""
        self._fill(time_ns)
        if self.tokens < wire_len:
            return False
        self.tokens -= wire_len
        return True
