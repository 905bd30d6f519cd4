#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A wale link as a switch: cells, input links, policies and flows as classes.

What the tracepoints say of random streams of several flows is compared with
testbed/src/wale_lab/models/switch.py, packet by packet and to the ns.  Topology: lib/pair.py.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

from wale_lab.models.discard import Policy, Sharing
from wale_lab.models.link import Config, Packet
from wale_lab.models.switch import Switch
from wale_lab.selftest import net
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.tap import equal, main, true, virtual_time
from wale_lab.selftest.wale import LOSS_ALWAYS, OVERHEAD, POLICY, RATE_UNLIMITED, Qdisc

EVENT = re.compile(r"wale_(enqueue|drop|child_drop|dequeue): (.*)")
CROWD = 0xFFFF
HALF = 1 << 31

# 155.52 Mbit/s; a cell takes 2726.3 ns.
OC3 = 19_440_000


def flow_packet(flow: int, length: int) -> bytes:
    """Return a UDP packet of so many IP bytes; the flow is its source port."""
    data = net.ip_packet(length)
    return data[:20] + (5000 + flow).to_bytes(2, "big") + data[22:]


def stream(seed: int, count: int, flows: int, gap_ns: int) -> list[tuple[int, int, int]]:
    """Return packets (gap_ns, IP bytes, flow): single ones, bursts and pauses."""
    rng = random.Random(seed)
    gaps = [0, 0, 0, gap_ns, gap_ns // 3, 6 * gap_ns]
    # no two lengths alike, so that a packet is known by its own
    return [(rng.choice(gaps), 100 + number, rng.randrange(flows)) for number in range(count)]


def events(text: str) -> list[tuple[str, dict[str, str]]]:
    """Return the tracepoints of a0."""
    found = []
    for line in text.splitlines():
        match = EVENT.search(line)
        if not match:
            continue
        fields = dict(item.split("=", 1) for item in match[2].split())
        if fields["dev"] == "a0":
            found.append((match[1], fields))
    return found


def send(pair: Pair, packets: Sequence[tuple[int, int, int]]) -> None:
    """Send a stream."""
    for gap_ns, length, flow in packets:
        net.sleep_ns(gap_ns)
        net.send(pair.socket, "a0", flow_packet(flow, length))
    pair.sent += len(packets)


def fates(found: Sequence[tuple[str, dict[str, str]]]) -> list[tuple[int, int, str, int]]:
    """Return (arrival, length, verdict, departure) of each packet, sorted."""
    result = []
    for kind, fields in found:
        arrival, length = int(fields.get("arrival_ns", 0)), int(fields["len"])
        if kind == "dequeue":
            result.append((arrival, length, "sent", int(fields["departure_ns"])))
        elif kind == "drop":
            result.append((arrival, length, fields["reason"], 0))
    return sorted(result)


def predicted(packets: Sequence[Packet]) -> list[tuple[int, int, str, int]]:
    """Return the same of the model."""
    return sorted((p.arrival_ns, p.wire_len, p.verdict.value, p.departure_ns or 0) for p in packets)


def arrivals(
    found: Sequence[tuple[str, dict[str, str]]], flows: Sequence[int], cells: bool
) -> list[tuple[int, int, int]]:
    """Return (arrival, length, flow) in order of arrival."""
    result: list[tuple[int, int, int]] = []
    entered: set[tuple[int, int]] = set()
    for kind, fields in found:
        length, now = int(fields["len"]), int(fields["now_ns"])
        if kind == "enqueue":
            entered.add((now, length))
            result.append((now, length, flows[len(result)]))
        elif kind == "drop" and not cells and fields["reason"] in ("buffer", "early"):
            arrival = int(fields["arrival_ns"])
            if (arrival, length) not in entered:  # else a victim
                result.append((arrival, length, flows[len(result)]))
    return result


# name: (options, count of packets, flows, mean gap in ns)
CASES: dict[str, tuple[dict[str, Any], int, int, int]] = {
    "tail": ({"limit_cells": 60}, 400, 5, 50_000),
    "tail-small": ({"limit_cells": 32}, 400, 5, 30_000),
    "tail-delay-loss": ({"limit_cells": 100, "delay": MS, "loss": HALF}, 400, 5, 50_000),
    "input": ({"limit_cells": 60, "input_rate": OC3}, 600, 5, 30_000),
    "input-slow": ({"limit_cells": 60, "input_rate": OC3 // 3}, 600, 5, 30_000),
    "input-fast": ({"limit_cells": 90, "input_rate": 10**9}, 600, 9, 30_000),
    "input-loss": ({"limit_cells": 200, "input_rate": OC3, "loss": HALF}, 400, 5, 30_000),
    "epd": ({"limit_cells": 120, "policy": "epd"}, 400, 5, 40_000),
    "epd-input": (
        {"limit_cells": 80, "policy": "epd", "threshold": 60, "input_rate": OC3},
        600,
        15,
        20_000,
    ),
    "seldrop": ({"limit_cells": 120, "policy": "seldrop", "threshold": 30}, 600, 5, 40_000),
    "seldrop-input": (
        {"limit_cells": 200, "policy": "seldrop", "threshold": 80, "input_rate": OC3},
        600,
        15,
        20_000,
    ),
    "fba": ({"limit_cells": 120, "policy": "fba", "threshold": 30}, 600, 5, 40_000),
    "fba-input": (
        {"limit_cells": 200, "policy": "fba", "threshold": 20, "input_rate": OC3 // 2},
        600,
        15,
        20_000,
    ),
    "random": ({"limit_cells": 60, "policy": "random_tail", "last": 5}, 400, 5, 50_000),
    "random-input": (
        {"limit_cells": 60, "policy": "random_tail", "last": 40, "input_rate": OC3},
        600,
        5,
        20_000,
    ),
    "random-input-loss": (
        {
            "limit_cells": 60,
            "policy": "random_tail",
            "last": 1000,
            "input_rate": OC3,
            "loss": HALF,
            "delay": 3 * MS,
        },
        600,
        5,
        20_000,
    ),
    "packets-epd": ({"limit_packets": 20, "policy": "epd"}, 400, 5, 8_000),
    "packets-seldrop": (
        {"limit_packets": 20, "policy": "seldrop", "threshold": 5, "z": 900_000},
        600,
        5,
        8_000,
    ),
    "bytes-seldrop": ({"limit_bytes": 20_000, "policy": "seldrop"}, 600, 5, 8_000),
    "bytes-fba": (
        {"limit_bytes": 20_000, "policy": "fba", "threshold_share": 500_000, "loss": HALF},
        600,
        5,
        8_000,
    ),
    "packets-random": ({"limit_packets": 8, "policy": "random_tail", "last": 3}, 600, 5, 8_000),
    "bytes-random": (
        {"limit_bytes": 9000, "policy": "random_tail", "last": 100, "loss": HALF, "seed": 7},
        600,
        5,
        8_000,
    ),
}


def model(options: dict[str, Any]) -> Switch:
    """Return the model of a case."""
    config = Config(
        rate=options["rate"],
        delay_ns=options.get("delay", 0),
        limit_packets=options.get("limit_packets"),
        limit_bytes=options.get("limit_bytes"),
        loss=options.get("loss", 0),
        seed=options["seed"],
    )
    share = None if "threshold" in options else options.get("threshold_share", 900_000)
    sharing = Sharing(
        Policy(options.get("policy", "tail")),
        options.get("threshold"),
        share,
        options.get("z", 800_000),
        options.get("last", 1),
    )
    return Switch(config, sharing, options.get("limit_cells"), options.get("input_rate"))


OF_THE_LINK = ("rate", "now_ns", "busy_flows", "crowded_packets", "line_limit", "memory")


def check_sums(pair: Pair, from_the_start: bool = True) -> None:
    """The counters of link and classes add up, and those of the classes to the link's."""
    link = pair.get()
    equal((link.imbalance(), link.imbalance_bytes()), (0, 0), "imbalance of the link")
    classes = pair.control.classes(pair.dev).values()
    for one in classes:
        what = f"class {one.handle & 0xFFFF:x}"
        equal((one.imbalance(), one.imbalance_bytes()), (0, 0), f"imbalance of {what}")
        equal(one.packets, one.stats["sent_packets"], f"packets of {what}")
    for name in link.stats if from_the_start else ():
        if name in OF_THE_LINK or "peak" in name:
            continue
        equal(sum(one.stats[name] for one in classes), link.stats[name], f"sum of {name}")
    if "backlog_cells" in link.stats:
        busy = sum(one.stats["backlog_cells"] > 0 for one in classes)
    else:
        busy = sum(one.stats["backlog_packets"] > 0 for one in classes)
    equal(link.stats["busy_flows"], busy, "busy flows")


def run_case(name: str) -> set[str]:
    """Run a case and compare; return the verdicts that occurred."""
    options, count, flows, gap_ns = CASES[name]
    return compare(name, options, stream(len(name), count, flows, gap_ns), 100)


def compare(
    name: str, options: dict[str, Any], packets: list[tuple[int, int, int]], look: int
) -> set[str]:
    """Send a stream, look at the sums after so many; compare it with the model."""
    count = len(packets)
    options = {"rate": OC3, "seed": 42, "flows": 20} | options
    given = dict(options)
    if "policy" in given:
        given["policy"] = POLICY[given["policy"]]
    if "limit_cells" in given:
        given["overhead"] = OVERHEAD["atm"]
    pair = Pair()
    tracing = net.Tracing()
    pair.add(**given)
    tracing.on()
    for start in range(0, count, look):
        send(pair, packets[start : start + look])
        check_sums(pair)
    pair.drain()
    found = events(tracing.text())
    check_sums(pair)
    came = arrivals(found, [flow for _, _, flow in packets], "limit_cells" in options)
    equal(len(came), count, f"{name}: arrivals")
    twin = model(options)
    expected, got = predicted(twin.run(came)), fates(found)
    for one, other in zip(got, expected, strict=True):
        equal(one, other, f"{name}: (arrival, length, verdict, departure)")
    stats = pair.stats()
    if "limit_cells" in options:
        equal(stats["peak_backlog_cells"], twin.peak, f"{name}: peak")
        equal(stats["backlog_cells"], 0, f"{name}: cells in an empty link")
    root = pair.get()
    equal((root.qlen, root.backlog), (0, 0), f"{name}: qlen and backlog of an empty link")
    pair.close()
    return {verdict for _, _, verdict, _ in got}


@virtual_time("it compares times to the ns")
def test_every_packet_is_where_the_model_says() -> None:
    """Each policy, in cells, packets and bytes, with and without input links."""
    for name, (options, *_) in CASES.items():
        verdicts = run_case(name)
        policy = options.get("policy", "tail")
        true("sent" in verdicts, f"{name}: nothing was sent")
        if "limit_cells" in options and policy in ("tail", "random_tail"):
            true("partial" in verdicts or "loss" in verdicts, f"{name}: {verdicts}")
        if policy in ("epd", "seldrop", "fba"):
            true("early" in verdicts, f"{name}: {verdicts}")
        if policy == "random_tail" and "limit_cells" not in options:
            true("buffer" in verdicts, f"{name}: {verdicts}")


#: So much later, all that came is due: more than is replayed at a time.
BACKLOGS: dict[str, dict[str, Any]] = {
    "backlog": {"limit_packets": 1200, "delay": 50_000 * MS},
    "backlog-random": {"limit_bytes": 8 * 10**5, "policy": "random_tail", "delay": 50_000 * MS},
    "backlog-cells": {"limit_cells": 12_000, "policy": "fba", "delay": 50_000 * MS},
    "backlog-input": {
        "limit_cells": 12_000,
        "input_rate": OC3 // 4,
        "policy": "seldrop",
        "delay": 50_000 * MS,
    },
}


@virtual_time("it compares times to the ns")
def test_packets_that_come_while_much_is_due() -> None:
    """They arrive when all is replayed that was due before, as if that took no time."""
    for name, options in BACKLOGS.items():
        packets = [
            (0 if number % 1400 else 10_000 * MS, 40 + number % 1400, number % 15)
            for number in range(3 * 1400)
        ]
        verdicts = compare(name, options, packets, len(packets))
        true({"sent"} < verdicts, f"{name}: {verdicts}")


def by_flow(pair: Pair, flows: int, count: int = 3) -> dict[int, Qdisc]:
    """Send some packets of each flow and return the classes."""
    for flow in range(flows):
        for _ in range(count):
            net.send(pair.socket, "a0", flow_packet(flow, 500))
    pair.sent += flows * count
    return pair.control.classes(pair.dev)


@virtual_time("nothing may be sent between two requests")
def test_flows_are_classes() -> None:
    """Each flow has a class of its own while it has packets on the link; others share one."""
    pair = Pair()
    pair.add(rate=10**5, limit_packets=10_000, flows=8, delay=100 * MS)
    classes = by_flow(pair, 8)
    equal(sorted(classes), list(range(1, 9)), "classes")
    equal({one.stats["offered_packets"] for one in classes.values()}, {3}, "packets of each")
    classes = by_flow(pair, 12, 1)
    equal(sorted(classes), [*range(1, 9), CROWD], "classes with a crowd")
    equal(classes[CROWD].stats["offered_packets"], 4, "packets of the crowd")
    equal(pair.stats()["crowded_packets"], 4, "crowded")
    check_sums(pair)
    pair.drain()
    check_sums(pair)

    # with nobody on the link there is room for others, oldest place first
    send(pair, [(0, 500, flow) for flow in range(100, 104)])
    classes = pair.control.classes(pair.dev)
    news = [minor for minor, one in classes.items() if one.stats["offered_packets"] == 1]
    equal(len(news), 4, "classes with a new flow")
    equal(pair.stats()["crowded_packets"], 4, "crowded")
    equal({classes[minor].imbalance() for minor in classes}, {0}, "imbalance")
    pair.close()


@virtual_time("each packet has left before the next one comes")
def test_many_flows_one_after_another() -> None:
    """Thousands of flows pass through a few places; none is without."""
    pair = Pair()
    pair.add(flows=5, limit_packets=100)
    send(pair, [(0, 200, flow) for flow in range(3000)])
    pair.drain()
    stats = pair.stats()
    equal(stats["sent_packets"], 3000, "sent")
    equal(stats["crowded_packets"], 0, "crowded")
    equal(sorted(pair.control.classes(pair.dev)), [1, 2, 3, 4, 5], "classes")
    pair.close()


def test_places_do_not_depend_on_who_looks() -> None:
    """A lost packet has its place until its service ends, and no longer."""
    for options in ({}, {"overhead": 2, "limit_cells": 1000}):
        pair = Pair()
        pair.add(rate=10**6, delay=100 * MS, loss=LOSS_ALWAYS, flows=1, **options)
        for flow in range(5):
            send(pair, [(0, 1000, flow)])
            net.sleep_ns(10 * MS)
        equal(pair.stats()["crowded_packets"], 0, f"{options}: crowded")
        pair.close()


def test_filters_name_classes() -> None:
    """A filter or the priority names the class; what nobody names is told apart by hash."""
    pair = Pair()
    pair.add(rate=10**6, limit_packets=1000, flows=100)
    match = "protocol ip parent 1: prio 1 u32 match ip sport"
    net.run(f"tc filter add dev a0 {match} 5000 0xffff flowid 1:32", pair.a)
    net.run(f"tc filter add dev a0 {match} 5001 0xffff flowid 1:33", pair.a)
    net.run(f"tc filter add dev a0 {match} 5002 0xffff action drop", pair.a)
    classes = by_flow(pair, 5)
    for minor in (50, 51):
        equal(classes[minor].stats["offered_packets"], 3, f"packets of class {minor}")
    equal(len(classes), 4, "classes")
    equal(pair.get().drops, 3, "drops, those of the filter included")
    equal(pair.stats()["offered_packets"], 12, "offered: without what the filter dropped")
    with pair.a.entered():
        pair.udp.setsockopt(1, 12, 0x10000 | 77)  # SO_PRIORITY
    pair.send_gso(5)
    classes = pair.control.classes(pair.dev)
    equal(classes[77].stats["offered_packets"], 5, "packets with the priority of class 77")
    pair.drain()
    check_sums(pair)
    net.run("tc filter del dev a0 parent 1:", pair.a)
    by_flow(pair, 5)
    pair.drain()
    check_sums(pair)
    pair.close()


def test_verdicts_of_filters() -> None:
    """Each of an action: who comes to the link, and what is a drop of the qdisc."""
    for action, came, drops in (
        ("ok", 3, 0),
        ("pipe", 3, 0),
        ("continue", 3, 0),
        ("drop", 0, 3),
        ("reclassify", 0, 3),  # without end
        ("trap", 0, 0),
        ("mirred egress redirect dev lo", 0, 0),
        ("mirred egress mirror dev lo", 3, 0),
    ):
        pair = Pair()
        pair.add(limit_packets=1000, flows=100)
        words = f"parent 1: protocol ip matchall classid 1:32 action {action}"
        net.run(f"tc filter add dev a0 {words}", pair.a)
        by_flow(pair, 1)
        link = pair.get()
        equal((link.stats["offered_packets"], link.drops), (came, drops), action)
        pair.drain()
        check_sums(pair)
        pair.close()


def test_filters_need_flows() -> None:
    """A link that does not tell flows apart says so."""
    pair = Pair()
    pair.add(rate=10**6)
    try:
        net.run("tc filter add dev a0 parent 1: protocol ip matchall classid 1:5", pair.a)
    except RuntimeError as refused:
        true("give it flows" in str(refused), str(refused))
    else:
        raise AssertionError("a filter without flows")
    equal(pair.control.classes(pair.dev), {}, "classes")
    pair.close()


@virtual_time("nothing may be sent between two requests")
def test_policies_change_under_load() -> None:
    """Policies, limits, flows and input links come and go; nothing is lost of what is held."""
    pair = Pair()
    pair.add(rate=3 * 10**5, limit_packets=50, delay=5 * MS, seed=3)
    changes: list[dict[str, Any]] = [
        {"policy": POLICY["epd"], "threshold_share": 500_000},
        {"policy": POLICY["seldrop"]},
        {"limit_bytes": 40_000},
        {"policy": POLICY["fba"], "z": 500_000, "threshold": 20_000},
        {"policy": POLICY["random_tail"], "last": 10},
        {"limit_packets": 20},
        {"policy": POLICY["tail"]},
    ]
    for number in range(60):
        send(pair, stream(number, 30, 5, MS // 2))
        pair.send_gso(5, 300)
        before = pair.stats()
        pair.change(**changes[number % len(changes)])
        qdisc = pair.get()
        for name in ("offered", "sent", "dropped_buffer", "dropped_early"):
            equal(qdisc.stats[f"{name}_packets"], before[f"{name}_packets"], name)
        if number:
            check_sums(pair, from_the_start=False)
    pair.drain()
    check_sums(pair, from_the_start=False)
    true(pair.stats()["dropped_early_packets"] > 50, "hardly anything was dropped early")
    pair.close()


@virtual_time("nothing may be sent between two requests")
def test_cells_change_under_load() -> None:
    """The limit in cells, the policy and the rate of the input links change meanwhile."""
    pair = Pair()
    pair.add(rate=OC3, overhead=2, limit_cells=100, input_rate=OC3, seed=3)
    changes: list[dict[str, Any]] = [
        {"limit_cells": 1000},
        {"input_rate": OC3 * 4},
        {"policy": POLICY["seldrop"], "threshold_share": 500_000},
        {"input_rate": RATE_UNLIMITED},
        {"limit_cells": 64, "policy": POLICY["random_tail"], "last": 100},
        {"input_rate": OC3 // 10},
        {"policy": POLICY["tail"]},
        {"limit_cells": 5000, "rate": 10**9},
        {"rate": OC3},
    ]
    for number in range(90):
        send(pair, stream(number, 40, 5, 20_000))
        pair.send_gso(5, 300)
        pair.change(**changes[number % len(changes)])
        equal(pair.get().imbalance(), 0, "imbalance")
        check_sums(pair)
    pair.drain()
    check_sums(pair)
    qdisc = pair.get()
    equal((qdisc.qlen, qdisc.backlog), (0, 0), "qlen and backlog of an empty link")
    true(qdisc.stats["dropped_partial_packets"] > 20, "hardly any packet was damaged")

    # the unit changes only while nothing is held
    pair.change(limit_packets=10)
    equal(pair.get().options["limit_packets"], 10, "limit")
    equal(pair.get().options["input_rate"], RATE_UNLIMITED, "input links without cells")
    send(pair, stream(1, 40, 5, 0))
    try:
        pair.change(limit_cells=100)
    except OSError as refused:
        true("while the buffer is empty" in str(refused), str(refused))
    else:
        raise AssertionError("cells among packets")
    pair.drain()
    pair.close()


@virtual_time("nothing may be sent between two requests")
def test_random_tail_above_the_limit() -> None:
    """In a buffer that became too small, an arrival takes the place of one victim."""
    pair = Pair()
    policy = {"policy": POLICY["random_tail"], "last": 1000}
    pair.add(rate=10**4, limit_packets=200, seed=5, **policy)
    send(pair, [(0, 500, 0)] * 150)
    pair.change(limit_packets=20)
    send(pair, [(0, 500, 0)] * 50)
    stats = pair.stats()
    equal((stats["backlog_packets"], stats["dropped_buffer_packets"]), (150, 50), "packets")
    pair.change(limit_bytes=2000)
    send(pair, [(0, 500, 0)] * 50)
    stats = pair.stats()
    equal((stats["backlog_packets"], stats["dropped_buffer_packets"]), (150, 100), "in bytes")
    pair.close()

    pair = Pair()
    pair.add(rate=10**4, overhead=2, limit_cells=2000, seed=5, flows=3, **policy)
    send(pair, [(0, 500, flow) for flow in range(3)] * 40)
    pair.change(limit_cells=100)
    before = pair.stats()
    send(pair, [(0, 500, flow) for flow in range(3)] * 10)
    stats = pair.stats()
    equal(stats["backlog_cells"], before["backlog_cells"], "cells")
    equal(stats["dropped_cells"], 30 * 11, "dropped cells")
    check_sums(pair)
    pair.close()


@virtual_time("nothing may be served between two packets")
def test_a_victim_without_cells_is_gone() -> None:
    """A packet that lost its last cell to others does not wait for the service of none."""
    pair = Pair()
    policy = {"policy": POLICY["random_tail"], "last": 50, "flows": 3, "seed": 1}
    pair.add(rate=10**4, overhead=2, limit_cells=210, **policy)
    send(pair, [(0, 100, flow) for flow in range(3)] * 1000)
    stats = pair.stats()
    equal(stats["backlog_cells"], 210, "cells in the buffer")
    true(stats["backlog_packets"] <= 210, f"{stats['backlog_packets']} packets have 210 cells")
    true(stats["dropped_buffer_packets"] > 2700, f"{stats['dropped_buffer_packets']} were dropped")
    check_sums(pair)
    pair.drain()
    check_sums(pair)
    pair.close()


@virtual_time("it asserts times of packets")
def test_random_tail_is_on_time() -> None:
    """Where a cell takes the place of others, what is ahead of it is complete earlier."""
    late = []
    for seed in range(1, 31):
        draw = random.Random(seed)
        pair = Pair()
        policy = {"policy": POLICY["random_tail"], "last": 40, "input_rate": 106_000, "flows": 32}
        pair.add(rate=53_000, overhead=2, limit_cells=40, seed=seed, **policy)
        tracing = net.Tracing()
        tracing.on()
        send(pair, [(0, draw.choice((32, 38, 628, 1328, 1428)), flow) for flow in range(12)])
        pair.drain()
        released = [fields for kind, fields in events(tracing.text()) if kind == "dequeue"]
        late += [(int(one["now_ns"]) - int(one["departure_ns"]), seed) for one in released]
        pair.close()
    true(len(late) > 12, f"only {len(late)} packets were sent")
    true(max(late)[0] < 1000, f"(ns, seed): {max(late)}")


@virtual_time("nothing may be served between two packets")
def test_local_drops() -> None:
    """With drops local the sender learns of each packet that is refused whole, and of no other."""
    for options in (
        {"overhead": 2, "limit_cells": 210},
        {"overhead": 2, "limit_cells": 220},  # a packet loses its end
        {"overhead": 2, "limit_cells": 210, "policy": POLICY["epd"], "threshold": 100},
        {"overhead": 2, "limit_cells": 210, "policy": POLICY["random_tail"], "last": 50},
        {"overhead": 2, "limit_cells": 210, "loss": HALF, "seed": 1},
        {"limit_packets": 10},
        {"limit_packets": 10, "policy": POLICY["epd"], "threshold": 5},
        {"limit_packets": 10, "policy": POLICY["seldrop"], "threshold": 5},
        # one that will be lost takes the place of another: it was not refused itself
        {"limit_packets": 10, "policy": POLICY["random_tail"], "last": 10, "loss": HALF, "seed": 1},
    ):
        pair = Pair()
        pair.add(rate=10**4, drops=1, **options)
        tracing = net.Tracing()
        tracing.on()
        errors = 0
        for _ in range(30):
            errors += pair.send_errors(1)
            net.sleep_ns(1000)  # so that the time of a drop tells of whose arrival it is
        found = events(tracing.text())
        if "limit_cells" in options:  # all come to the input link
            whole = [one for _, one in found if one.get("reason") in ("buffer", "early")]
            refused = sum(one["now_ns"] == one["arrival_ns"] for one in whole)  # no victims
        else:
            refused = 30 - sum(kind == "enqueue" for kind, _ in found)
        equal(errors, refused, f"{options}: errors")
        true(errors > 2 or "last" in options, f"{options}: hardly any was refused")
        pair.drain()
        pair.close()


@virtual_time("nothing may be served between two requests")
def test_what_is_shown_is_of_one_instant() -> None:
    """Packets that were damaged since the link was run last are in neither qlen nor backlog."""
    pair = Pair()
    pair.add(rate=10**5, overhead=2, limit_cells=130, input_rate=10**6, delay=50 * MS)
    send(pair, [(0, 500, flow) for flow in range(12)] * 2)
    net.sleep_ns(4 * MS)
    one = pair.get()
    true(0 < one.qlen < 24, f"nothing was damaged: {one.qlen}")
    equal(one.backlog, one.qlen * 514, "bytes of so many packets")
    pair.drain()
    check_sums(pair)
    pair.close()


def test_threshold_that_nobody_sees() -> None:
    """It is none any more when its unit is gone, or the limit is below it."""
    for middle in (
        [{"policy": POLICY["tail"]}, {"limit_bytes": 150_000}],
        [{"policy": POLICY["tail"], "limit_bytes": 150_000}],
        [{"policy": POLICY["tail"]}, {"limit_packets": 40}],
        [{"policy": POLICY["tail"], "limit_packets": 40}],
    ):
        pair = Pair()
        pair.add(policy=POLICY["epd"], limit_packets=100, threshold=50)
        for values in middle:
            pair.change(**values)
        pair.change(policy=POLICY["epd"])
        options = pair.get().options
        equal(options.get("threshold_share"), 900_000, f"share of {options}")
        pair.close()
    pair = Pair()  # in one step
    pair.add(policy=POLICY["epd"], limit_packets=100, threshold=50)
    pair.change(policy=POLICY["tail"])
    pair.change(limit_bytes=150_000, policy=POLICY["seldrop"])
    equal(pair.get().options.get("threshold_share"), 900_000, "share")
    pair.change(threshold=1500)
    pair.change(policy=POLICY["tail"])
    pair.change(limit_bytes=160_000)  # the same unit
    pair.change(policy=POLICY["epd"])
    equal(pair.get().options["threshold"], 1500, "threshold")
    pair.close()


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"overhead": 0}, "overhead atm"),
    ({"flows": 21}, "flows cannot be changed"),
    ({"limit_cells": 59}, "at most the limit"),
    ({"limit_packets": 100}, "another unit"),
    ({"limit_packets": 100, "threshold": 60, "input_rate": OC3}, "limit in cells"),
    ({"policy": POLICY["tail"], "threshold": 50}, "threshold is a parameter"),
]


def test_refused_changes() -> None:
    """What does not go with the link as it is, and the message that says why."""
    pair = Pair()
    pair.add(overhead=2, limit_cells=100, policy=POLICY["seldrop"], threshold=60, flows=20)
    before = pair.get().options
    for values, says in REFUSED:
        try:
            pair.change(**values)
        except OSError as refused:
            true(says in str(refused), f"{values}: {refused}")
        else:
            raise AssertionError(f"accepted: {values}")
        equal(pair.get().options, before, f"configuration after {values}")
    pair.change(limit_packets=100, threshold=60, flows=20)
    pair.close()


@virtual_time("the link is still full when it is purged")
def test_purge_with_cells() -> None:
    """A device that goes down takes what is in the buffer and on the input links."""
    pair = Pair()
    pair.add(rate=10**5, overhead=2, limit_cells=2000, input_rate=10**5, delay=50 * MS)
    for _ in range(5):
        send(pair, [(0, 500, flow) for flow in range(10)] * 3)
        net.sleep_ns(70 * MS)
        net.run("ip link set a0 down", pair.a)
        net.run("ip link set a0 up", pair.a)
        stats = pair.stats()
        equal(stats["backlog_packets"] + stats["line_packets"], 0, "held after down")
        equal(stats["backlog_cells"], 0, "cells after down")
        check_sums(pair)
    true(pair.stats()["dropped_purge_packets"] > 50, "hardly any packet was purged")
    net.run("ip neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev a0", pair.a)
    send(pair, [(0, 500, flow) for flow in range(10)])
    pair.drain()
    check_sums(pair)
    pair.close()


if __name__ == "__main__":
    main()
