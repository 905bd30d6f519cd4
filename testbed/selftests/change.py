#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Changes of a link that carries traffic lose no packet, no counter, no seed.

Topology: lib/pair.py.
"""

from __future__ import annotations

import random
import struct
from typing import Any

from wale_lab.options import NESTS
from wale_lab.selftest import net, netlink
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.tap import equal, main, true, virtual_time
from wale_lab.selftest.wale import DROPPED, LOSS_ALWAYS, POLICY, RATE_UNLIMITED, encode

BASE = {"rate": 10**6, "delay": 20 * MS, "limit_packets": 100_000, "seed": 424242}
SAME = RATE_UNLIMITED  # of a step: as the option says
TRACE = [(5 * MS, 10**6), (5 * MS, 2 * 10**6)]
SESSIONS = {"arrival": 1 << 30, "mean": 3 << 32, "max": 3, "step": MS}

CHANGES: list[dict[str, Any]] = [
    {"rate": 2 * 10**6},
    {"rate": RATE_UNLIMITED},
    {"rate": 3 * 10**5},
    {"delay": 100 * MS},
    {"delay": 0},
    {"delay": 7},
    {"limit_bytes": 10**8},
    {"limit_packets": 90_000},
    {"overhead": 1},
    {"overhead": 2},
    {"overhead": 0},
    {"drops": 1},
    {"drops": 0},
    {"slack": 20_000},
    {"slack": 0},
    {"gso": 1},
    {"gso": 0},
    {"line_packets": 90_000},
    {"line_bytes": RATE_UNLIMITED},
    {"trace": TRACE},
    {"trace": TRACE, "trace_end": 1},
    {"rate": 10**6},
    {"sessions": SESSIONS},
    {"rate": 10**7},
    {"sessions": {}},
    {"sessions": SESSIONS, "rate": 10**6},
    {"trace": TRACE, "trace_end": 2},
    {"trace": TRACE, "trace_end": 0},
    {"rate": RATE_UNLIMITED, "delay": MS},
    {"loss": 0},
    {"gemodel": {"p": 0, "r": 1 << 30, "good": 0}, "ecn": 1},
    {"state": {"p13": 0, "p14": 0}},
    {"jitter": {"time": 5 * MS}},
    {"jitter": {"table": [-8192, 0, 8192], "name": "three"}},
    {"jitter": {"time": 0, "table": []}},
    {"reorder": 0, "gap": 7, "duplicate": 0, "corrupt": 0},
    {"drop": [(0, 10**9, 10**9)]},
    {"drop": []},
    {"slot": {"min": MS, "max": 2 * MS, "packets": 9}},
    {"slot": {}},
    {"feedback": {"idle": 10**9}},
    {"feedback": {"idle": 10**6}, "rate": 10**6},
    {"scone": {"of": 1}},
    {"scone": {"rate": 10**6, "period": 10**8}},
    {"scone": {}, "feedback": {}},
    {"trace": [(5 * MS, 10**6, MS), (5 * MS, SAME, 30 * MS)], "trace_columns": 3},
    {"rate": 2 * 10**6},
    {"trace": [(MS, SAME, 0, 90_000), (MS, MS, SAME, SAME)], "trace_columns": 14},
    {"down_drops": 1},
    {"trace": [(MS, 10**8, SAME), (MS, 10**6, SAME)], "trace_columns": 17, "trace_end": 1},
    {"down_drops": 0},
    {"trace": b""},
    {},
]


def test_every_attribute_under_traffic() -> None:
    """Each attribute is changed while packets wait and are on the line."""
    pair = Pair()
    pair.add(**BASE)
    joined = 0  # segments that are not packets of their own
    for number in range(10 * len(CHANGES)):
        pair.send(10, 100 + number, gap_ns=(number % 3) * MS // 10)
        pair.send_gso(3, 300)
        joined += 2 * pair.get().options.get("gso", 0)
        before = pair.stats()
        pair.change(**CHANGES[number % len(CHANGES)])
        qdisc = pair.get()
        equal(qdisc.options["seed"], 424242, "seed")
        equal((qdisc.imbalance(), qdisc.imbalance_bytes()), (0, 0), "imbalance")
        for name in ("offered", *DROPPED):
            equal(qdisc.stats[f"{name}_packets"], before[f"{name}_packets"], name)
        true(qdisc.stats["sent_packets"] >= before["sent_packets"], "sent went down")
        net.sleep_ns(3 * MS)
    pair.change(rate=RATE_UNLIMITED, delay=0)
    pair.drain()
    stats = pair.stats()
    equal(stats["offered_packets"], pair.sent - joined, "offered")
    equal(stats["sent_packets"], pair.sent - joined, "sent")
    net.sleep_ns(MS)
    received = pair.received()
    if net.several_cpus():  # veth has a queue for each, and they are not in order
        received.sort()
    equal(received, list(range(pair.sent)), "packets, none lost, none reordered")
    pair.close()


# A link with a rate, a delay, a buffer and random loss alone has a path of its own.
PLAIN_AND_NOT: list[dict[str, Any]] = [
    {"feedback": {"idle": 10**9}},
    {"policy": POLICY["random_tail"]},
    {"feedback": {}},
    {"policy": POLICY["tail"]},
    {"delay": MS},
    {"policy": POLICY["epd"], "threshold": 4, "drops": 1},
    {"policy": POLICY["tail"], "delay": 20 * MS},
    {"drops": 0, "slack": 20_000},
    {"feedback": {"idle": 10**9}, "slack": 0},
    {"feedback": {}},
    {"scone": {"of": 0}},
    {"trace": [(2 * MS, SAME, 4), (MS, SAME - 1, SAME)], "trace_columns": 9, "down_drops": 1},
    {"trace": b"", "rate": 10**5},
    {"scone": {}},
]


def test_plain_and_not() -> None:
    """Losses and overflow are counted once, whether packets came before a change or after it."""
    pair = Pair()
    pair.add(rate=10**5, delay=20 * MS, limit_packets=10, loss=1 << 30, seed=3)
    for number in range(40 * len(PLAIN_AND_NOT)):
        pair.send(4, 500 + number, gap_ns=(number % 3) * MS // 10)
        pair.send_gso(2, 300)
        pair.change(**PLAIN_AND_NOT[number % len(PLAIN_AND_NOT)])
        pair.send(1 + number % 3)
        qdisc = pair.get()
        held = qdisc.stats["backlog_packets"] + qdisc.stats["line_packets"]
        equal((qdisc.imbalance(), qdisc.imbalance_bytes()), (0, 0), "imbalance")
        true(qdisc.qlen <= held, "qlen above what the link holds")
        net.sleep_ns(3 * MS)
    pair.drain()
    qdisc = pair.get()
    equal((qdisc.qlen, qdisc.backlog), (0, 0), "qlen and backlog of an empty link")
    equal(qdisc.stats["offered_packets"], pair.sent, "offered")
    equal(len(pair.received()), qdisc.stats["sent_packets"], "packets at the receiver")
    for reason in ("buffer", "loss", "early", "down"):
        true(qdisc.stats[f"dropped_{reason}_packets"] > 10, f"no {reason} in this test")
    pair.close()


@virtual_time("nothing may be sent between two requests")
def test_limit_below_the_backlog() -> None:
    """A smaller limit refuses newcomers and throws nobody out."""
    pair = Pair()
    pair.add(rate=10**5, limit_packets=50)
    pair.send(30)
    pair.change(limit_packets=5)
    stats = pair.stats()
    equal(stats["backlog_packets"], 30, "backlog after the change")
    pair.send(1)
    equal(pair.stats()["dropped_buffer_packets"], 1, "a newcomer's drop")
    net.wait_for(lambda: pair.stats()["backlog_packets"] == 4, "a backlog of 4")
    pair.send(2)
    stats = pair.stats()
    equal(stats["dropped_buffer_packets"], 2, "drops with a backlog of 4 and a limit of 5")
    pair.change(limit_bytes=5200)
    pair.send(1, 201)
    equal(pair.stats()["dropped_buffer_packets"], 3, "201 bytes into 200 free ones")
    pair.drain()
    equal(pair.received(), [*range(30), 31], "packets at the receiver")
    pair.close()


def test_replace_is_a_change() -> None:
    """`tc qdisc replace` with the same handle keeps packets, counters and seed."""
    pair = Pair()
    pair.add(**BASE)
    pair.send(50)
    pair.control.replace(pair.dev, {"rate": 10**7, "delay": MS})
    qdisc = pair.get()
    equal(qdisc.options["seed"], 424242, "seed")
    equal(qdisc.stats["offered_packets"], 50, "offered")
    equal(qdisc.options["limit_packets"], 100_000, "a limit that was not named")
    pair.drain()
    equal(pair.received(), list(range(50)), "packets at the receiver")
    pair.close()


REFUSED: list[tuple[dict[str, Any], list[str]]] = [
    ({"rate": 0}, ["rate"]),
    ({"rate": 10**15 + 1}, ["rate"]),
    ({"rate": RATE_UNLIMITED - 1}, ["rate"]),
    ({"delay": 86400 * 10**9 + 1}, ["delay"]),
    ({"limit_packets": 0}, ["limit"]),
    ({"limit_bytes": 0}, ["limit"]),
    ({"limit_bytes": (1 << 64) - 1}, ["limit in bytes"]),
    ({"limit_packets": 5, "limit_bytes": 5000}, ["limit"]),
    ({"overhead": 3}, ["overhead"]),
    ({"limit_cells": 1000}, ["overhead atm"]),
    ({"limit_cells": 31, "overhead": 2}, ["those of one packet"]),
    ({"limit_cells": 4194305, "overhead": 2}, ["4194304"]),
    ({"limit_packets": 5, "limit_cells": 1000, "overhead": 2}, ["one of them"]),
    ({"policy": 6}, ["policy"]),
    ({"mark": 1}, ["policy_ecn needs a policy"]),
    ({"policy": 4, "mark": 1}, ["policy_ecn needs a policy"]),
    ({"policy": 5, "mark": 2}, ["policy_ecn must be"]),
    ({"rem": {"phi": 2 * 10**6}}, ["parameters of policy rem"]),
    ({"policy": 5, "rem": {"interval": 999_999}}, ["interval of rem"]),
    ({"policy": 5, "rem": {"interval": 10**9 + 1}}, ["interval of rem"]),
    ({"policy": 5, "rem": {"gamma": 0}}, ["gamma of rem"]),
    ({"policy": 5, "rem": {"gamma": 10**9 + 1}}, ["gamma of rem"]),
    ({"policy": 5, "rem": {"alpha": 10**6 + 1}}, ["alpha of rem"]),
    ({"policy": 5, "rem": {"target": (1 << 40) + 1}}, ["target of rem"]),
    ({"policy": 5, "rem": {"phi": 1_000_999}}, ["phi of rem"]),
    ({"policy": 5, "rem": {"phi": 10**9 + 1}}, ["phi of rem"]),
    ({"policy": 5, "rem": netlink.attribute(6, b"")}, ["ttribute"]),
    ({"gemodel": {"r": 5}}, ["gemodel needs p", "one of them"]),
    ({"state": {}}, ["state needs p13", "one of them"]),
    ({"state": {"p13": 1 << 31, "p14": (1 << 31) + 1}}, ["exceed 1 together", "one of them"]),
    ({"state": {"p13": 5, "p31": LOSS_ALWAYS, "p32": 1}}, ["exceed 1 together", "one of them"]),
    ({"gemodel": {"p": 5}, "state": {"p13": 5}}, ["one of them"]),
    ({"loss": 5, "gemodel": {"p": 5}}, ["one of them"]),
    ({"gemodel": netlink.attribute(1, b"")}, ["ttribute", "one of them"]),
    ({"state": netlink.attribute(6, b"1234")}, ["ttribute", "one of them"]),
    ({"ecn": 2}, ["loss_ecn must be"]),
    ({"gap": 0}, ["gap of reorder"]),
    ({"slack": 10**9 + 1}, ["slack must be"]),
    ({"gso": 2}, ["gso must be"]),
    ({"gso": 1, "corrupt": 1}, ["needs gso split"]),
    ({"gso": 1, "limit_cells": 1000, "overhead": 2}, ["needs gso split"]),
    ({"slot": {"max": 5}}, ["slot needs min"]),
    ({"slot": {"min": 0}}, ["slot must have"]),
    ({"slot": {"min": 6, "max": 5}}, ["slot must have"]),
    ({"slot": {"min": 6, "max": 86400 * 10**9 + 1}}, ["max of slot"]),
    ({"slot": netlink.attribute(2, b"1234")}, ["ttribute"]),
    ({"drop": [(0, 0, 5)]}, ["numbered from 1"]),
    ({"drop": [(0, 6, 5)]}, ["numbered from 1"]),
    ({"drop": [(1, 5, 5)]}, ["tell apart"]),
    ({"drop": [(65535, 5, 5)]}, ["tell apart"]),
    ({"drop": [(0, 5, 5)] * 33}, ["32 ranges"]),
    ({"drop": b"1234567890123"}, ["32 ranges"]),
    ({"jitter": {"time": 86400 * 10**9 + 1}}, ["jitter must be"]),
    ({"jitter": {"reordering": 2}}, ["overtaking of jitter"]),
    ({"jitter": {"table": b"123"}}, ["table of jitter"]),
    ({"jitter": {"table": bytes(2 * 16385)}}, ["table of jitter"]),
    ({"jitter": {"name": "normal"}}, ["needs one"]),
    ({"jitter": {"table": [], "name": "normal"}}, ["needs one"]),
    ({"jitter": {"table": [1], "name": "n" * 128}}, ["ttribute"]),
    ({"policy": 0, "threshold": 5}, ["threshold"]),
    ({"policy": 4, "threshold_share": 5}, ["threshold"]),
    ({"policy": 1, "threshold": 5, "threshold_share": 5}, ["not both"]),
    ({"policy": 1, "threshold_share": 0}, ["millionths of the limit"]),
    ({"policy": 1, "threshold_share": 10**6 + 1}, ["millionths of the limit"]),
    ({"policy": 1, "limit_packets": 5, "threshold": 6}, ["at most the limit"]),
    ({"policy": 1, "z": 1}, ["share_factor is a parameter"]),
    ({"policy": 2, "z": 10**9 + 1}, ["share_factor must be"]),
    ({"policy": 3, "limit_bytes": 1 << 32}, ["4294967295"]),
    ({"policy": 4, "last": 0}, ["victims must be"]),
    ({"policy": 4, "last": 1025}, ["victims must be"]),
    ({"last": 5}, ["victims is a parameter"]),
    ({"flows": 0}, ["flows must be"]),
    ({"flows": 65535}, ["flows must be"]),
    ({"input_rate": 10**6}, ["input_rate"]),
    ({"input_rate": 999, "limit_cells": 1000, "overhead": 2}, ["input_rate"]),
    ({"input_rate": 53 * 10**9 + 1, "limit_cells": 1000, "overhead": 2}, ["input_rate"]),
    ({"drops": 2}, ["drop_report"]),
    ({"trace": [], "trace_end": 1}, ["trace"]),
    ({"trace_columns": 1}, ["trace"]),
    ({"trace": [(MS, 5, 5)], "trace_columns": 32}, ["1 to 31"]),
    ({"trace": [(MS, 5, 5, 5)], "trace_columns": 25}, ["packets or in bytes"]),
    ({"trace": [(MS, 5)], "trace_columns": 3}, ["trace"]),
    ({"trace": [(MS, 86400 * 10**9 + 1)], "trace_columns": 2}, ["delay"]),
    ({"trace": [(MS, 1 << 32)], "trace_columns": 4}, ["loss"]),
    ({"trace": [(MS, 0)], "trace_columns": 8}, ["limit"]),
    ({"trace": [(MS, 100)], "trace_columns": 16}, ["limit", "wire"]),
    ({"trace": [(MS, SAME - 1)]}, ["above 0"]),
    ({"down_drops": 2}, ["down_drops"]),
    ({"overhead_bytes": 4097}, ["overhead"]),
    ({"overhead_bytes": -4097}, ["overhead"]),
    ({"mpu": 65536}, ["mpu"]),
    ({"trace": [(0, 5)]}, ["trace"]),
    ({"trace": [(86400 * 10**9 + 1, 5)]}, ["trace"]),
    ({"trace": [(MS, 10**15 + 1)]}, ["trace"]),
    ({"trace": [(MS, 0)]}, ["trace"]),
    ({"trace": b"\0" * 17}, ["trace"]),
    ({"trace": [(MS, 5)] * 4001}, ["trace"]),
    ({"trace": TRACE, "trace_end": 3}, ["trace"]),
    ({"trace": TRACE, "rate": 5}, ["trace", "rate"]),
    ({"trace": TRACE, "sessions": SESSIONS}, ["trace", "sessions"]),
    ({"sessions": {"arrival": 1 << 30}}, ["sessions", "mean", "max", "step"]),
    ({"sessions": SESSIONS | {"max": 0}}, ["max"]),
    ({"sessions": SESSIONS | {"max": 64}}, ["max"]),
    ({"sessions": SESSIONS | {"step": MS - 1}}, ["step"]),
    ({"sessions": SESSIONS | {"mean": 0}}, ["mean"]),
    ({"feedback": {"idle": 0}}, ["feedback", "idle"]),
    ({"feedback": {"idle": MS - 1}}, ["feedback", "idle"]),
    ({"feedback": {"idle": 3600 * 10**9 + 1}}, ["feedback", "idle"]),
    ({"feedback": netlink.attribute(1, b"")}, ["feedback", "idle"]),
    ({"scone": {"period": 10**9}}, ["scone", "rate"]),
    ({"scone": {"of": 0, "rate": 10**6}}, ["scone", "one of the two"]),
    ({"scone": {"of": 2}}, ["scone", "link or share"]),
    ({"scone": {"of": 1}}, ["scone share", "feedback"]),
    ({"scone": {"rate": 12_499}}, ["rate of scone", "100 kbit/s"]),
    ({"scone": {"rate": 10**6, "average": 0}}, ["average of scone"]),
    ({"scone": {"of": 0, "period": 10**8 - 1}}, ["period of scone"]),
    ({"scone": {"of": 0, "average": 601 * 10**9}}, ["average of scone"]),
    ({"sessions": SESSIONS | {"arrival": (1 << 32) - 1}}, ["arrival"]),
    ({"sessions": SESSIONS | {"arrival": 15 << 28, "mean": 1 << 31, "max": 1}}, ["arrival"]),
]


def test_failed_change_changes_nothing() -> None:
    """Each refusal names the attribute, and leaves link and packets as they were."""
    pair = Pair()
    pair.add(**BASE, loss=1 << 20)
    for values, words in REFUSED:
        pair.send(3)
        before = pair.get().options
        for good in ({}, {"delay": 5 * MS, "seed": 1, "loss": 77}):
            if set(good) & set(values):
                continue
            try:
                pair.change(**good, **values)
            except netlink.Refused as refused:
                text = refused.message
                true(any(word in text for word in words), f"{values}: message {text!r}")
                true("wale" in text or "ttribute" in text, f"{values}: message {text!r}")
            else:
                raise AssertionError(f"accepted: {values}")
        equal(pair.get().options, before, f"configuration after {values}")
        equal(pair.get().imbalance(), 0, "imbalance")
    pair.drain()
    equal(pair.stats()["offered_packets"], pair.sent, "offered")
    pair.close()


def test_refused_at_creation() -> None:
    """A link that would be wrong is not made."""
    pair = Pair()
    for values, words in REFUSED:
        try:
            pair.add(**values)
        except netlink.Refused as refused:
            true(any(word in refused.message for word in words), f"{values}: {refused.message!r}")
        else:
            raise AssertionError(f"accepted: {values}")
    for lacking in ({"sessions": SESSIONS}, {"sessions": SESSIONS, "rate": RATE_UNLIMITED}):
        try:
            pair.add(**lacking)
        except netlink.Refused as refused:
            true("rate" in refused.message, f"{lacking}: {refused.message!r}")
        else:
            raise AssertionError(f"accepted: {lacking}")
    equal([q.kind for q in pair.control.list(pair.dev) if q.kind == "wale"], [], "links")
    pair.close()


def test_no_rate_under_sessions() -> None:
    """Running sessions always have a rate to share."""
    pair = Pair()
    pair.add(rate=10**6, sessions=SESSIONS)
    try:
        pair.change(rate=RATE_UNLIMITED)
    except netlink.Refused as refused:
        true("rate" in refused.message or "sessions" in refused.message, refused.message)
        equal(pair.get().options["rate"], 10**6, "rate")
    else:
        raise AssertionError("accepted: an unlimited rate under sessions")
    pair.close()


@virtual_time("it samples in the middle of each step of 1 ms")
def test_path_of_m_depends_on_the_seed_alone() -> None:
    """Two links with the same seed, one busy and one idle, have the same M."""
    one, two = Pair(), Pair()
    one.add(rate=10**6, sessions=SESSIONS, seed=7)
    two.add(rate=10**4, sessions=SESSIONS, seed=7, loss=LOSS_ALWAYS)
    shift = two.stats()["epoch_ns"] - one.stats()["epoch_ns"]
    true(0 <= shift < MS // 2, f"the links start {shift} ns apart")
    paths: tuple[list[int], list[int]] = ([], [])
    for _ in range(500):
        stats = two.stats()
        net.sleep_ns(3 * MS // 2 - (stats["now_ns"] - stats["epoch_ns"]) % MS)  # amid a step
        two.send(3, 1500)
        for pair, path in zip((one, two), paths, strict=True):
            path.append(pair.stats()["sessions"])
    equal(paths[0], paths[1], "path of M")
    true(len(set(paths[0])) > 1, "M never moved")
    one.close()
    two.close()


@virtual_time("it waits for a day")
def test_long_idle_on_a_fine_trace() -> None:
    """A day of silence on a trace of 1 us steps cost nothing to catch up."""
    pair = Pair()
    pair.add(trace=[(1000, 10**6), (1000, 2 * 10**6)], delay=MS)
    pair.send(1)
    net.sleep_ns(86400 * 10**9)
    pair.send(1)
    pair.drain()
    equal(pair.received(), [0, 1], "packets at the receiver")
    pair.close()


@virtual_time("it waits for 6 hours")
def test_long_idle_with_sessions() -> None:
    """Six hours of silence with a chain of 1 ms steps: M goes on, and a packet passes."""
    pair = Pair()
    pair.add(rate=10**6, sessions=SESSIONS, delay=MS, seed=1)
    pair.send(1)
    net.sleep_ns(6 * 3600 * 10**9)
    equal(pair.stats()["rate"], 10**6 // (pair.stats()["sessions"] + 1), "rate after the silence")
    pair.send(1)
    pair.drain()
    equal(pair.received(), [0, 1], "packets at the receiver")
    pair.delete()
    net.sleep_ns(100 * 10**9)
    pair.close()


@virtual_time("it waits for a day")
def test_long_outage() -> None:
    """A day's outage holds its packets, and no more."""
    pair = Pair()
    pair.add(trace=[(100 * MS, 10**6), (86400 * 10**9, 0)], limit_packets=10)
    net.sleep_ns(101 * MS)
    pair.send(15)
    equal(pair.stats()["dropped_buffer_packets"], 5, "drops")
    net.sleep_ns(86300 * 10**9)
    equal(pair.received(), [], "packets in the outage")
    net.sleep_ns(101 * 10**9)
    equal(pair.received(), list(range(10)), "packets after the outage")
    pair.close()


def test_traces_that_are_shown() -> None:
    """Up to 100 steps are shown, of longer traces their number."""
    pair = Pair()
    for count in (1, 100, 101, 4000):
        trace = [(MS + k, 1000 + k) for k in range(count)]
        pair.control.replace(pair.dev, {"trace": trace})
        options = pair.get().options
        equal(options["trace_steps"], count, "number of steps")
        equal(options.get("trace", []), trace if count <= 100 else [], f"{count} steps")
        pair.send(1)
    pair.close()


def test_default_qdisc() -> None:
    """As net.core.default_qdisc: created without any option."""
    default = net.read("/proc/sys/net/core/default_qdisc").strip()
    net.write("/proc/sys/net/core/default_qdisc", "wale")
    try:
        pair = Pair(queues=2)
        net.run("tc qdisc add dev a0 root handle 1: mq", pair.a)
        links = [q for q in pair.control.list(pair.dev) if q.kind == "wale"]
        equal([link.options["limit_packets"] for link in links], [1000, 1000], "links below mq")
        true(links[0].options["seed"] != links[1].options["seed"], "the same random seed twice")
        pair.send(5)
        net.sleep_ns(100 * MS)
        equal(len(pair.received()), 5, "packets at the receiver")
        pair.close()
    finally:
        net.write("/proc/sys/net/core/default_qdisc", default)


def test_random_requests() -> None:
    """3,000 requests of random attributes: refused or obeyed, never harmful."""
    rng = random.Random(20050331)
    pair = Pair()
    pair.add(**BASE)
    obeyed = 0
    for _ in range(3000):
        body = b""
        for _ in range(rng.randint(0, 4)):
            number = rng.randint(0, 15) | rng.choice([0, 0, 0x8000, 0x4000])
            size = rng.choice([0, 1, 4, 8, 8, 16, 32, rng.randint(0, 200)])
            payload = rng.choice(
                [
                    rng.randbytes(size),
                    bytes(size),
                    rng.randint(0, 2**20).to_bytes(max(size, 4), "little"),
                ]
            )
            if number & 15 == 13 and rng.random() < 0.7:
                number = 13 | 0x8000
                nest = {
                    name: rng.choice([0, 1, 1 << 30, MS, rng.getrandbits(32)])
                    for name in SESSIONS
                    if rng.random() < 0.9
                }
                payload = encode(nest, NESTS["sessions"])
            body += netlink.attribute(number, payload)
        rest = netlink.attribute(1, b"wale\0") + netlink.attribute(
            2 | rng.choice([0, 0x8000]), body
        )
        head = struct.pack("=B3xiIII", 0, pair.dev, 0x10000, 0xFFFFFFFF, 0)
        try:
            pair.control.ask(36, 4, head + rest)
            obeyed += 1
        except netlink.Refused:
            pass
        pair.send(1, rng.randint(40, 1500), gap_ns=rng.choice([0, MS]))
        if rng.random() < 0.1:
            pair.send_gso(rng.randint(1, 10))
    true(obeyed > 300, f"only {obeyed} requests made sense")
    equal(pair.get().imbalance(), 0, "imbalance")
    pair.change(rate=RATE_UNLIMITED, delay=0, sessions={}, loss=0)
    net.sleep_ns(MS)
    equal(pair.stats()["offered_packets"], pair.sent, "offered")
    pair.close()


if __name__ == "__main__":
    main()
