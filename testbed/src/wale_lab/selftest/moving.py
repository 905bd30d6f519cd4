# SPDX-License-Identifier: GPL-2.0
"""A link whose rate, delay, loss and limit change each ms, and packets for it, from a seed.

The guest makes the link and sends the packets, the host tells the model of both.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from wale_lab.options import TRACE_DOWN, TRACE_SAME

MS = 10**6
COLUMNS = 1 | 2 | 4 | 8
#: Without what steps say.
OPTIONS = {"rate": 400_000, "delay": 25 * MS, "loss": 1 << 24, "limit_packets": 20, "seed": 11}

Step = tuple[int, int, int, int, int]


def steps(seed: int, count: int) -> Iterator[Step]:
    """Yield steps of a ms: duration, rate, delay, loss, limit; any of them may be the option's."""
    rng = random.Random(seed)
    for _ in range(count):
        rate = rng.choice((TRACE_DOWN, 0, TRACE_SAME, *(rng.randint(1, 10**6) for _ in range(9))))
        delay = rng.choice((TRACE_SAME, 0, rng.randint(0, 80 * MS), rng.randint(0, 80 * MS)))
        loss = rng.choice((TRACE_SAME, 0, 0, rng.getrandbits(32)))
        yield MS, rate, delay, loss, rng.choice((TRACE_SAME, rng.randint(1, 40)))


def packets(seed: int, count: int) -> Iterator[tuple[int, int]]:
    """Yield gap in ns and length of packets, 3.6 ms apart on average, some in bursts."""
    rng = random.Random(seed)
    for _ in range(count):
        gap = rng.choice((0, 0, 0, rng.randint(0, 28_800_000)))
        yield gap, rng.choice((40, 1500, rng.randint(40, 1500)))
