# SPDX-License-Identifier: GPL-2.0
"""What the checks of correlations, overhead and policers find out about links made for that."""

from __future__ import annotations

import random

from test_conform import evidence, holds, through, with_losses
from wale_lab.models.impair import Independent, IndependentLosses
from wale_lab.models.link import Packet, Verdict
from wale_lab.models.policer import Parameters as Policer

MS = 10**6


def test_overhead_that_is_asked_for() -> None:
    for extra, name in ((8, "added"), (22, "beside"), (0, "")):
        found = holds("overhead_bytes", through("overhead_bytes", extra=extra))
        assert [key for key, value in found.items() if value] == [name] * bool(name)


def test_correlated_losses() -> None:
    for correlation in (0.5, 0.0):
        losses = IndependentLosses(Independent(2**32 // 10, int(correlation * 2**32)), 5)
        one = with_losses([losses.next() for _ in range(10_000)], "loss_correlated")
        assert holds("loss_correlated", one)["share"] == (correlation == 0.5)


def test_correlated_jitter() -> None:
    rng = random.Random(1)
    for mixes in (False, True):
        packets, delay = [], 100.0 * MS
        for n in range(2000):
            new = rng.uniform(90 * MS, 110 * MS)
            delay = (new + delay) / 2 if mixes else rng.choice([new, delay])
            packets.append(Packet(n * 30 * MS, 1000, Verdict.SENT, 0, n * 30 * MS + int(delay)))
        found = holds("jitter_correlated", evidence("jitter_correlated", packets, 0, []))
        assert found["uniform"] != mixes


def test_a_policer() -> None:
    for burst in (5000, 4000, 8000):
        one = through("policer", policer=Policer(500_000, burst))
        assert holds("policer", one)["tokens"] == (burst == 5000)
