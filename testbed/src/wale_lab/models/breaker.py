# SPDX-License-Identifier: GPL-2.0
"""The circuit breaker of a link: which flows are cut, computed exactly.

Written from kmod/include/uapi/linux/pkt_sched_wale.h and not from the module.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

NS_PER_S = 10**9


class Parameters(NamedTuple):
    """As configured."""

    rate: int  # bytes/s
    after: int  # ns


@dataclass
class _Flow:
    """What is known of a flow."""

    since_ns: int  # when it began to send more than the rate
    sent: int = 0  # bytes since then
    cut: bool = False


class Breaker:
    """All flows of a link."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.flows: dict[int, _Flow] = {}

    @property
    def cuts(self) -> int:
        """Return how many flows were cut."""
        return sum(flow.cut for flow in self.flows.values())

    def cut(self, number: int, time_ns: int, wire_len: int) -> bool:
        """Tell whether a packet that arrives is dropped, because its flow is cut."""
        rate, after_ns = self.parameters
        flow = self.flows.setdefault(number, _Flow(time_ns))
        if flow.sent * NS_PER_S <= rate * (time_ns - flow.since_ns) and not flow.cut:
            flow.since_ns, flow.sent = time_ns, 0
        flow.cut = flow.cut or time_ns - flow.since_ns >= after_ns
        flow.sent += wire_len
        return flow.cut
