# SPDX-License-Identifier: GPL-2.0
"""The times of a run: those passed to the guest, and used by other modules."""

from __future__ import annotations

#: In virtual time: when the flows of a scenario may begin, on the guest's clock.
START_NS = 10_000_000_000

#: Of devices whose other end comes up after them, the kernel lets so many send in a second.
_DEVICES_PER_S = 100

#: So many pairs of devices are ready by START_NS.
_MANY_WIRES = 450


def flows_begin_ns(wires: int) -> int:
    """In virtual time: when flows may begin in a network of so many pairs of devices."""
    if wires <= _MANY_WIRES:
        return START_NS
    return START_NS + -(-2 * wires // _DEVICES_PER_S) * 10**9


#: Links begin so long before the flows, by the scenario's `time`; in real time programs take
#: time to start.
LEAD_NS = {"virtual": 1_000_000, "real": 500_000_000}
