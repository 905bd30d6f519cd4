# SPDX-License-Identifier: GPL-2.0
"""When what happens in a run: times that the guest is told, and others count with."""

from __future__ import annotations

#: In virtual time: when the flows of a scenario may begin, on the guest's clock.
START_NS = 10_000_000_000

#: Links begin so long before the flows, by the scenario's `time`; in real time programs take
#: time to start.
LEAD_NS = {"virtual": 1_000_000, "real": 500_000_000}
