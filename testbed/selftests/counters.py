#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Statistics of a wale link: at every instant offered = sent + dropped + held.

Topology: lib/pair.py.
"""

from __future__ import annotations

from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.tap import equal, main, true

MONOTONE = [
    f"{what}_{unit}"
    for what in (
        "offered sent dropped_buffer dropped_loss dropped_memory dropped_purge peak_backlog"
    ).split()
    for unit in ("packets", "bytes")
]


def check(pair: Pair, before: dict[str, int], lossless: bool) -> dict[str, int]:
    """Check what holds at every instant; return the statistics."""
    qdisc = pair.get()
    stats = qdisc.stats
    equal(qdisc.imbalance(), 0, f"imbalance in packets of {stats}")
    equal(qdisc.imbalance_bytes(), 0, f"imbalance in bytes of {stats}")
    for name in MONOTONE:
        true(stats[name] >= before.get(name, 0), f"{name} went down")
    true(stats["peak_backlog_packets"] >= stats["backlog_packets"], "peak below backlog")
    true(stats["now_ns"] > before.get("now_ns", 0), "now_ns stands still")
    equal(qdisc.packets, stats["sent_packets"], "tc's packet counter")
    held = stats["backlog_packets"] + stats["line_packets"]
    if lossless:
        equal(qdisc.qlen, held, "qlen against backlog and line")
    true(qdisc.qlen <= held, "qlen above backlog and line")
    return stats


def test_identity_at_every_sample() -> None:
    """2,000 samples of a loaded link with loss and overflow."""
    pair = Pair()
    pair.add(rate=10**6, delay=20 * MS, limit_packets=10, loss=1 << 30, seed=3)
    stats: dict[str, int] = {}
    for number in range(2000):
        pair.send(1 + number % 3, 100 + number % 1400, gap_ns=300_000)
        stats = check(pair, stats, lossless=False)
    pair.drain()
    stats = check(pair, stats, lossless=False)
    for name in ("sent", "dropped_buffer", "dropped_loss"):
        true(stats[f"{name}_packets"] > 100, f"no {name} in this test")
    equal(len(pair.received()), stats["sent_packets"], "packets at the receiver")
    equal(stats["line_bytes"] + stats["backlog_bytes"], 0, "bytes on an empty link")
    equal(pair.get().qlen, 0, "qlen of an empty link")
    equal(pair.get().backlog, 0, "backlog of an empty link")
    pair.close()


def test_identity_without_loss_and_qlen() -> None:
    """Without loss qlen is what the link holds."""
    pair = Pair()
    pair.add(rate=10**6, delay=20 * MS, limit_bytes=20_000)
    stats: dict[str, int] = {}
    for number in range(500):
        pair.send(2, 100 + number % 1400, gap_ns=300_000)
        stats = check(pair, stats, lossless=True)
    pair.drain()
    check(pair, stats, lossless=True)
    pair.close()


def test_identity_under_gso() -> None:
    """The same when packets are split on entry."""
    pair = Pair()
    pair.add(rate=10**6, delay=20 * MS, limit_packets=50, loss=1 << 30, seed=3)
    stats: dict[str, int] = {}
    for number in range(300):
        pair.send_gso(1 + number % 40, 100 + number)
        pair.send(1, 500, gap_ns=5 * MS)
        stats = check(pair, stats, lossless=False)
    pair.drain()
    stats = check(pair, stats, lossless=False)
    equal(stats["offered_packets"], pair.sent, "wire packets")
    equal(len(pair.received()), stats["sent_packets"], "packets at the receiver")
    pair.close()


def test_outage_and_rate() -> None:
    """The statistics say the rate of now, also in an outage."""
    pair = Pair()
    pair.add(trace=[(10 * MS, 5000), (10 * MS, 0)], trace_end=1)
    equal(pair.stats()["rate"], 5000, "rate")
    pair.send(1, 100, gap_ns=15 * MS)
    equal(pair.stats()["rate"], 0, "rate in the outage")
    stats = check(pair, {}, lossless=True)
    equal(stats["backlog_packets"], 1, "backlog in the outage")
    pair.close()


def test_sessions_and_rate() -> None:
    """M and the rate of now go together."""
    pair = Pair()
    sessions = {"arrival": 1 << 31, "mean": 5 << 32, "max": 5, "step": MS}
    pair.add(rate=10**6, sessions=sessions, seed=9)
    seen = set()
    for _ in range(200):
        pair.send(1, 100, gap_ns=MS)
        stats = pair.stats()
        equal(stats["rate"], 10**6 // (stats["sessions"] + 1), "rate with sessions")
        seen.add(stats["sessions"])
    true(len(seen) > 3, f"M was only {seen}")
    pair.close()


if __name__ == "__main__":
    main()
