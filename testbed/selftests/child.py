#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A wale link whose buffer is another qdisc: an AQM, a fifo, or one that holds back.

Topology: lib/pair.py, with

    a0:  wale (handle 1:)  -- class 1:1 -- the child
"""

from __future__ import annotations

import contextlib
import json
import os
import random
from collections.abc import Sequence
from typing import Any

from switch import events
from wale_lab.models.link import Config, Link, Trace, TraceEnd, Verdict
from wale_lab.selftest import net, netlink
from wale_lab.selftest.netstat import netstat
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.tap import Skip, equal, main, true, virtual_time
from wale_lab.selftest.wale import POLICY, TC_H_ROOT, Qdisc

RATE = 10**6
CHILD = 0x10001
# What can stand there; those from fq on hold packets back.
KINDS = {
    "pfifo": "pfifo limit 20",
    "bfifo": "bfifo limit 9000",
    "pfifo_head_drop": "pfifo_head_drop limit 20",
    "codel": "codel limit 30 target 1ms interval 10ms",
    "fq_codel": "fq_codel limit 30 target 1ms interval 10ms",
    "red": "red limit 60kB min 5kB max 15kB avpkt 500 burst 15 bandwidth 8mbit",
    "sfq": "sfq limit 30 depth 10",
    "pie": "pie limit 30 target 1ms tupdate 5ms",
    "fq_pie": "fq_pie limit 30 target 1ms tupdate 5ms",
    "choke": "choke limit 60 min 5 max 15 bandwidth 8mbit",
    "hhf": "hhf limit 30",
    "sfb": "sfb limit 30 max 20 target 10",
    "ets": "ets bands 3 strict 3",
    "fq": "fq limit 30 flow_limit 20",
    "cake": "cake besteffort memlimit 200kB",
    "prio": "prio",
    "tbf": "tbf rate 4mbit burst 3kB limit 20kB",
    "cake, shaped": "cake bandwidth 4mbit memlimit 200kB",
    "htb": "htb default 1",
}


if tuple(map(int, os.uname().release.split(".")[:2])) >= (6, 17):
    KINDS["dualpi2"] = "dualpi2"


def graft(pair: Pair, words: str, parent: str = "1:1") -> None:
    """Have a qdisc be the buffer."""
    if words == "dualpi2":  # which tc of iproute2 6.1 does not know
        pair.control.replace(pair.dev, {}, CHILD, 0, words)
        return
    net.run(f"tc qdisc replace dev a0 parent {parent} {words}", pair.a)
    if words.startswith("htb"):
        major = f"{child_of(pair).handle >> 16:x}"
        words = f"parent {major}: classid {major}:1 htb rate 4mbit quantum 1514"
        net.run(f"tc class replace dev a0 {words}", pair.a)


def ungraft(pair: Pair, parent: str = "1:1") -> None:
    """Give the link its own buffer back."""
    net.run(f"tc qdisc del dev a0 parent {parent}", pair.a)


def child_of(pair: Pair) -> Qdisc:
    """Return the child."""
    return next(one for one in pair.control.list(pair.dev) if one.parent == CHILD)


def root_of(pair: Pair) -> Qdisc:
    """Return what is above the link, or the link."""
    return next(one for one in pair.control.list(pair.dev) if one.parent == TC_H_ROOT)


def balanced(pair: Pair) -> Qdisc:
    """Fail unless the counters add up; return the link."""
    link = pair.get()
    equal((link.imbalance(), link.imbalance_bytes()), (0, 0), "imbalance")
    return link


def burst(pair: Pair, draw: random.Random) -> None:
    """Send some packets and a GSO packet."""
    pair.send(draw.randrange(6), 60 + draw.randrange(1400))
    pair.send_gso(1 + draw.randrange(12), 100 + draw.randrange(1200))


whole_bursts = virtual_time("all of a burst is there before the first packet leaves")


def bursts(pair: Pair, draw: random.Random) -> None:
    """Send many, with pauses; at each, all adds up, and at most one is in service."""
    for _ in range(60):
        burst(pair, draw)
        link = balanced(pair)
        true(link.stats["backlog_packets"] - child_of(pair).qlen in (0, 1), "in service")
        net.sleep_ns(draw.choice((0, MS, 6 * MS, 9 * MS)))


def empty(pair: Pair) -> None:
    """Wait until all is gone; the receiver has what the link sent, parents have nothing."""
    pair.drain()
    link = balanced(pair)
    equal((link.qlen, link.backlog), (0, 0), "qlen and backlog at the end")
    equal(link.stats["backlog_bytes"], 0, "bytes in the buffer at the end")
    equal(link.stats["offered_packets"], pair.sent, "offered")
    equal(len(pair.received()), link.stats["sent_packets"], "received")


@whole_bursts
def test_every_kind() -> None:
    """Whatever is the buffer: what came is sent, held or dropped, in packets and in bytes."""
    for name, words in KINDS.items():
        draw = random.Random(name)
        for options in ({}, {"overhead": 1, "loss": 1 << 29, "duplicate": 1 << 29, "seed": 3}):
            pair = Pair()
            pair.add(rate=RATE, delay=5 * MS, **options)
            graft(pair, words)
            bursts(pair, draw)
            empty(pair)
            stats = pair.stats()
            true(stats["sent_packets"] > 200, f"{name}: hardly anything was sent: {stats}")
            if name not in ("prio", "htb", "ets", "dualpi2"):
                true(stats["dropped_child_packets"] > 20, f"{name}: hardly any drop: {stats}")
            equal(stats["dropped_buffer_packets"], 0, f"{name}: the link has no buffer")
            pair.close()


# Options of a link and of its model; the fifo has one place less: one packet is in service.
FIFOS: dict[str, dict[str, Any]] = {
    "pfifo limit 15": {"rate": RATE, "limit_packets": 16},
    "pfifo limit 999": {"rate": RATE, "loss": 1 << 30, "limit_packets": 1000},
    "pfifo limit 8": {"trace": [(5 * MS, RATE), (3 * MS, 0), (MS, 20 * RATE)], "limit_packets": 9},
    "fq_codel flows 1 target 1s interval 10s": {"rate": RATE // 3, "loss": 1 << 29},
}


@virtual_time("it asserts times of packets")
def test_fifo_as_the_model() -> None:
    """With a fifo, each packet fares to the ns as models/link.py has it with an own buffer."""
    for words, options in FIFOS.items():
        draw = random.Random(1)
        pair = Pair()
        values = {k: v for k, v in options.items() if k != "limit_packets"}
        tracing = net.Tracing()
        pair.add(delay=20 * MS, seed=4, **values)
        epoch = pair.stats().get("epoch_ns", 0)
        graft(pair, words)
        tracing.on()
        for number in range(500):
            pair.send(1, 100 + number)
            net.sleep_ns(draw.choice((0, 0, 256_000, 512_000, 1_024_000)))
        pair.drain()
        found = events(tracing.text())
        came = [(int(f["now_ns"]), int(f["len"])) for kind, f in found if kind == "enqueue"]
        got = {int(f["len"]): int(f["departure_ns"]) for kind, f in found if kind == "dequeue"}
        if "trace" in options:
            options = options | {"trace": Trace(tuple(options["trace"]), TraceEnd.LOOP)}
        options = {"limit_packets": 1000} | options
        model = Link(Config(delay_ns=20 * MS, seed=4, **options), start_ns=epoch).run(came)
        true(len(got) < 490, f"{words}: hardly any drop")
        for packet in model:
            expected = packet.departure_ns if packet.verdict is Verdict.SENT else None
            equal(got.get(packet.wire_len), expected, f"{words}: packet {packet.wire_len}")
        balanced(pair)
        pair.close()


def first_wait_of(target_ns: int, arrivals: Sequence[int], service_ns: int) -> int:
    """Return when a packet begins to be served that has waited for so long."""
    free = 0
    for arrival in arrivals:
        begin = max(arrival, free)
        if begin - arrival >= target_ns:
            return begin
        free = begin + service_ns
    raise AssertionError("no packet waits for so long")


@virtual_time("it asserts when packets are dropped")
def test_codel_sees_the_buffer_alone() -> None:
    """CoDel drops when packets wait too long, whatever the delay; not for the delay."""
    for delay in (0, 300 * MS):
        for kind in ("codel", "fq_codel"):
            pair = Pair()
            pair.add(rate=RATE, delay=delay)
            graft(pair, f"{kind} target 5ms interval 100ms limit 10000")
            for _ in range(500):  # 90 % of the rate: nothing waits
                pair.send(1, 900, gap_ns=MS)
            equal(pair.stats()["dropped_child_packets"], 0, f"{kind}: dropped at 90 %")
            pair.drain()
            tracing = net.Tracing()
            tracing.on()
            for _ in range(300):  # 120 %: 0.2 ms more to wait for each
                pair.send(1, 1200, gap_ns=MS)
            found = events(tracing.text())
            arrivals = [int(f["now_ns"]) for k, f in found if k == "enqueue"]
            drops = [int(f["now_ns"]) for k, f in found if k == "child_drop"]
            true(drops, f"{kind}: no drop")
            late = drops[0] - (first_wait_of(5 * MS, arrivals, 12 * MS // 10) + 100 * MS)
            # at the next end of a service; CoDel's clock has units of 1024 ns
            true(-2048 < late <= 12 * MS // 10 + 2048, f"{kind}, delay {delay}: {late} ns late")
            pair.drain()
            balanced(pair)
            pair.close()


@whole_bursts
def test_change_under_traffic() -> None:
    """A child comes, changes, is replaced and goes: no packet is lost, none is out of order."""
    pair = Pair()
    pair.add(rate=RATE, delay=7 * MS, limit_packets=10_000)
    steps = [
        lambda: graft(pair, "pfifo limit 10000"),
        lambda: graft(pair, "pfifo limit 9000"),
        lambda: graft(pair, "bfifo limit 10000000"),
        lambda: pair.change(rate=2 * RATE, delay=9 * MS, overhead=1),
        lambda: graft(pair, "fq_codel limit 10000 target 1s interval 10s"),
        lambda: ungraft(pair),
        lambda: graft(pair, "prio"),
        lambda: pair.change(rate=RATE // 2, loss=0, drop=[(0, 10**6, 10**6)]),
        lambda: ungraft(pair),
    ]
    for number, step in enumerate(steps * 2):
        pair.send(60, 200 + number)
        net.sleep_ns(2 * MS)
        before = balanced(pair).stats
        step()
        after = balanced(pair).stats
        equal(after["offered_packets"], before["offered_packets"], f"step {number}: offered")
        pair.send(5, 100)
        true(balanced(pair).stats["backlog_packets"] > 5, f"step {number}: no backlog")
        net.sleep_ns(3 * MS)
    pair.drain()
    equal(pair.received(), list(range(pair.sent)), "packets, in order")
    link = balanced(pair)
    equal((link.qlen, link.backlog, link.drops), (0, 0, 0), "qlen, backlog, drops")
    pair.close()


@whole_bursts
def test_old_child_drops() -> None:
    """What a child drops when it is made smaller, and what it holds back when it goes, counts."""
    pair = Pair()
    pair.add(rate=RATE, delay=7 * MS)
    graft(pair, "fq_codel limit 1000")
    pair.send(100, 1000)
    graft(pair, "fq_codel limit 10")
    stats = balanced(pair).stats
    equal((stats["dropped_child_packets"], stats["backlog_packets"]), (89, 11), "after the change")
    graft(pair, "tbf rate 8kbit burst 2000 limit 100000")
    pair.send(20, 1000)
    net.sleep_ns(60 * MS)
    held = child_of(pair).qlen
    true(held > 10, f"tbf holds {held}")
    ungraft(pair)
    equal(balanced(pair).stats["dropped_purge_packets"], held, "held back")
    empty(pair)
    pair.close()


@whole_bursts
def test_held_back() -> None:
    """The server is idle while a child has packets and gives none; then they leave in order."""
    pair = Pair()
    pair.add(rate=100 * RATE, delay=3 * MS)
    graft(pair, "tbf rate 8mbit burst 1600 limit 1000000")
    start = pair.stats()["now_ns"]
    pair.send(101, 986)  # with its Ethernet header it would be 1000; on this wire it is 986
    net.wait_for(lambda: pair.held() == 0, "an empty link")
    took = pair.stats()["now_ns"] - start
    expected = (101 * 986 - 1600) * 1000 + 3 * MS
    true(0 <= took - expected < 40 * MS, f"took {took} ns, expected {expected}")
    pair.drain()
    equal(pair.received(), list(range(101)), "packets")
    balanced(pair)
    pair.close()


@whole_bursts
def test_under_parents() -> None:
    """Below htb, prio and tbf, parents' counters are those of the link."""
    htb = "class: parent 2: classid 2:10 htb rate 1gbit quantum 1514"
    for setup, parent in (
        (("root handle 2: htb default 10", htb), "2:10"),
        (("root handle 2: prio priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",), "2:2"),
        (("root handle 2: tbf rate 1gbit burst 200kb latency 1s",), "2:1"),
    ):
        for words in (KINDS[name] for name in ("codel", "fq_codel", "red", "sfq", "tbf")):
            draw = random.Random(words)
            pair = Pair()
            for line in setup:
                what, _, rest = line.rpartition(": parent ")
                text = f"class add dev a0 parent {rest}" if what else f"qdisc add dev a0 {line}"
                net.run(f"tc {text}", pair.a)
            major, minor = (int(part, 16) for part in parent.split(":"))
            options = {"rate": RATE, "delay": 4 * MS, "loss": 1 << 30, "duplicate": 1 << 29}
            pair.control.add(pair.dev, options | {"seed": 5}, (major << 16) + minor)
            graft(pair, words)
            for _ in range(40):
                burst(pair, draw)
                link = balanced(pair)
                root = root_of(pair)
                equal((root.qlen, root.backlog), (link.qlen, link.backlog), f"{words}: parent")
                net.sleep_ns(draw.choice((0, MS, 9 * MS)))
            empty(pair)
            root = root_of(pair)
            equal((root.qlen, root.backlog), (0, 0), f"{words}: parent at the end")
            burst(pair, draw)
            pair.control.delete(pair.dev, (major << 16) + minor)
            root = root_of(pair)
            equal((root.qlen, root.backlog), (0, 0), f"{words}: parent without the link")
            pair.delete()
            pair.close()


def test_parent_that_is_stopped() -> None:
    """Losses while the parent does not ask leave it a link that it asks again."""
    pair = Pair()
    net.run("tc qdisc add dev a0 root handle 2: htb default 10", pair.a)
    net.run("tc class add dev a0 parent 2: classid 2:10 htb rate 1gbit quantum 1514", pair.a)
    pair.control.add(pair.dev, {"rate": RATE, "loss": 3 << 30, "seed": 1}, 0x20010)
    graft(pair, "fq_codel")
    for _ in range(300):
        pair.send(1, 1000)
        net.sleep_ns(MS)
        pair.send(1, 1000)
        net.sleep_ns(30 * MS)
    empty(pair)
    true(pair.stats()["sent_packets"] > 100, "packets are stuck")
    pair.close()


def refused(act: Any, *words: str) -> None:
    """Fail unless the kernel refuses, and says why."""
    try:
        act()
    except (netlink.Refused, RuntimeError) as error:
        missing = [word for word in words if word not in str(error)]
        equal(missing, [], f"words missing in {str(error)!r}")
    else:
        raise AssertionError("was not refused")


def test_refused() -> None:
    """A child, and flows, a policy or a limit, exclude each other; a link is no buffer."""
    pair = Pair()
    pair.add(rate=RATE)
    for words in ("netem delay 1ms", "wale rate 1mbit"):
        refused(lambda words=words: graft(pair, words), "links themselves")
    refused(lambda: graft(pair, "pfifo", parent="1:2"), "class")
    pair.change(policy=POLICY["epd"])
    refused(lambda: graft(pair, "pfifo"), "policy tail")
    pair.change(policy=POLICY["tail"], limit_packets=77)
    graft(pair, "pfifo limit 5")
    before = pair.get().options
    true("limit_packets" not in before, "a limit is shown that is not used")
    for options in (
        *({name: 10**5} for name in ("limit_packets", "limit_bytes", "limit_cells")),
        {"policy": POLICY["rem"]},
        {"flows": 5},
        {"mark": 1},
        {"rem": {"interval": MS}},
    ):
        refused(lambda options=options: pair.change(rate=5, **options), "the child qdisc is the")
    equal(pair.get().options, before, "options after what was refused")
    ungraft(pair)
    equal(pair.get().options["limit_packets"], 77, "the limit is back")
    pair.change(flows=4)
    refused(lambda: graft(pair, "pfifo"), "tell flows apart")
    equal(pair.control.classes(pair.dev), {}, "classes")
    pair.close()


def find(value: Any, name: str) -> Any:
    """Return what has this name, at any depth; None: nothing has."""
    if not isinstance(value, dict):
        return None
    return value.get(name, next((x for v in value.values() if (x := find(v, name))), None))


@whole_bursts
def test_what_tc_shows() -> None:
    """The class of the child, its qdisc and its counters; drops and peak of the link."""
    pair = Pair()
    pair.add(rate=RATE)
    equal(pair.control.classes(pair.dev), {}, "classes without a child")
    graft(pair, "pfifo limit 7")
    pair.send(20, 1000)
    pair.drain()
    one = pair.control.classes(pair.dev)[1]
    equal((one.packets, one.drops, one.qlen), (8, 12, 0), "packets, drops, qlen of the class")
    text = net.run("tc -s class show dev a0", pair.a)
    true("class wale 1:1" in text and f"leaf {child_of(pair).handle >> 16:x}:" in text, text)
    text = net.run("tc -s qdisc show dev a0", pair.a)
    true("child 12p 12000b" in text and "limit 7p" in text, text)
    shown = json.loads(net.run("tc -s -j qdisc show dev a0 root", pair.a))[0]
    true("limit_packets" not in shown["options"], f"{shown}")
    equal(find(shown, "dropped_child_packets"), 12, "in JSON")
    equal(pair.stats()["peak_backlog_packets"], 8, "peak")
    equal(pair.get().drops, 12, "drops of the link")
    pair.close()


@whole_bursts
def test_local_drops() -> None:
    """With drops local the sender learns what the child says, else nothing."""
    for drops in (0, 1):
        pair = Pair()
        pair.add(rate=RATE, drops=drops)
        graft(pair, "pfifo limit 7")
        equal(pair.send_errors(20), 12 * drops, f"errors with drops {drops}")
        equal(pair.stats()["dropped_child_packets"], 12, "dropped")
        pair.drain()
        pair.close()


@whole_bursts
def test_marks_of_the_child() -> None:
    """An AQM marks instead of dropping, and counts that itself."""
    pair = Pair()
    pair.add(rate=RATE, delay=50 * MS)
    graft(pair, "fq_codel target 1ms interval 10ms ecn")
    for _ in range(300):
        pair.send(2, 1000, tos=2)
        net.sleep_ns(2 * MS - 10**5)
    pair.drain()
    shown = json.loads(net.run("tc -s -j qdisc show dev a0 parent 1:1", pair.a))[0]
    marks = shown["ecn_mark"]
    true(marks > 10, f"{marks} marks")
    with pair.b.entered():
        equal(netstat("InCEPkts"), marks, "marks that came")
    stats = balanced(pair).stats
    equal((stats["marked_packets"], stats["dropped_child_packets"]), (0, 0), "of the link")
    pair.close()


def test_list_of_losses() -> None:
    """Packets on the list are lost at the end of their service, by the number of their arrival."""
    pair = Pair()
    pair.add(rate=RATE, delay=5 * MS, drop=[(0, 3, 4), (0, 10, 10)])
    graft(pair, "pfifo limit 100")
    pair.send(12, 500)
    pair.drain()
    kept = [number for number in range(12) if number + 1 not in (3, 4, 10)]
    equal(pair.received(), kept, "packets")
    equal(balanced(pair).stats["dropped_loss_packets"], 3, "lost")
    pair.close()


def test_list_that_ends() -> None:
    """What came while it was on the list is lost, also if the list has gone when it is served."""
    pair = Pair()
    pair.add(rate=RATE, delay=5 * MS, drop=[(0, 5, 5), (0, 8, 8), (0, 12, 12)])
    graft(pair, "pfifo limit 100")
    pair.send(10, 500)
    pair.change(drop=[])
    pair.send(10, 500)
    pair.drain()
    kept = [number for number in range(20) if number + 1 not in (5, 8)]
    equal(pair.received(), kept, "packets")
    equal(balanced(pair).stats["dropped_loss_packets"], 2, "lost")
    pair.close()


def filter_all(pair: Pair, flow: str) -> None:
    """Have a bpf program of the child 2: put all packets into a class."""
    match = "protocol all bpf bytecode '1,6 0 0 4294967295,' flowid"
    try:
        net.batch("tc", [f"filter add dev a0 parent 2: {match} {flow}"], pair.a)
    except RuntimeError as error:
        if "classifier not found" not in str(error):
            raise
        pair.close()
        raise Skip("no cls_bpf in this kernel") from None


def test_filters_of_the_child() -> None:
    """A bpf filter writes to the packet where the link notes what is on its list: none is lost."""
    for words, flows in (("prio", 3), ("ets bands 3", 3), ("fq_codel flows 8", 8)):
        for flow in range(1, flows + 1):
            pair = Pair()
            pair.add(rate=RATE, delay=5 * MS)
            graft(pair, f"handle 2: {words}")
            filter_all(pair, f"2:{flow}")
            pair.send(20, 500)
            pair.drain()
            equal(pair.received(), list(range(20)), f"{words}, class {flow}: packets")
            pair.change(drop=[(0, 21, 30)])
            pair.send(20, 500)
            pair.drain()
            equal(pair.received(), list(range(20, 40)), f"{words}, class {flow}: forgotten")
            balanced(pair)
            pair.close()


@whole_bursts
def test_copies_made_below_the_child() -> None:
    """netem below the child has its copies taken by the root: they are offered, not found."""
    for parent in ("", "htb default 10", "prio priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"):
        for loss in (0, 1 << 30):
            pair = Pair()
            options = {"rate": RATE, "delay": 5 * MS, "loss": loss, "seed": 1}
            place = TC_H_ROOT
            if parent:
                net.run(f"tc qdisc add dev a0 root handle 2: {parent}", pair.a)
                place = 0x20002
            if parent.startswith("htb"):
                net.run("tc class add dev a0 parent 2: classid 2:10 htb rate 1gbit", pair.a)
                place = 0x20010
            pair.control.add(pair.dev, options, place)
            graft(pair, "handle 3: prio priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0")
            net.run("tc qdisc add dev a0 parent 3:1 netem limit 1000 duplicate 100%", pair.a)
            for _ in range(10):
                pair.send(5, 500)
                link = balanced(pair)
                root = root_of(pair)
                equal((root.qlen, root.backlog), (link.qlen, link.backlog), f"{parent}: parent")
            pair.drain()
            stats = balanced(pair).stats
            names = ("offered", "dropped_child", "duplicated")
            equal([stats[f"{name}_packets"] for name in names], [100, 0, 0], "packets")
            sent, lost = stats["sent_packets"], stats["dropped_loss_packets"]
            equal((sent + lost, lost > 0), (100, loss > 0), "sent and lost")
            root = root_of(pair)
            equal((root.qlen, root.backlog), (0, 0), f"{parent}: parent at the end")
            equal((pair.get().qlen, pair.get().drops), (0, lost), "qlen and drops at the end")
            pair.close()


def test_life() -> None:
    """Down, up, reset and namespaces that go while packets are everywhere."""
    for words in KINDS.values():
        pair = Pair()
        pair.add(rate=RATE, delay=20 * MS)
        graft(pair, words)
        pair.send(25, 700)
        net.sleep_ns(6 * MS)
        net.run("ip link set a0 down", pair.a)
        link = balanced(pair)
        equal((link.qlen, link.backlog), (0, 0), "after the device went down")
        equal(link.stats["backlog_packets"], 0, "backlog")
        net.run("ip link set a0 up", pair.a)
        net.run("ip neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev a0", pair.a)
        pair.received()
        sent = balanced(pair).stats["sent_packets"]
        pair.send(5, 700)
        pair.drain()
        equal(balanced(pair).stats["sent_packets"] - sent, 5, f"{words}: after it came up")
        pair.send(25, 700)
        pair.close()  # with packets in it


def test_random_changes() -> None:
    """Children that come and go at random, under random traffic."""
    kinds = list(KINDS.values())
    for seed in range(4):
        draw = random.Random(seed)
        pair = Pair()
        pair.add(rate=RATE, delay=5 * MS, seed=seed, limit_packets=40)
        for _ in range(120):
            burst(pair, draw)
            what = draw.randrange(6)
            if what == 0:
                with contextlib.suppress(RuntimeError):
                    ungraft(pair)
            elif what == 1:
                with contextlib.suppress(RuntimeError):  # sfq and prio cannot be changed to that
                    graft(pair, draw.choice(kinds))
            elif what == 2:
                pair.change(loss=draw.choice((0, 1 << 30)), rate=draw.choice((RATE, 10 * RATE)))
            elif what == 3:
                pair.change(duplicate=draw.choice((0, 1 << 30)), reorder=draw.choice((0, 1 << 28)))
            balanced(pair)
            net.sleep_ns(draw.randrange(12 * MS))
        with contextlib.suppress(RuntimeError):
            ungraft(pair)
        empty(pair)
        pair.close()


if __name__ == "__main__":
    main()
