#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A wale link that keeps GSO packets in one piece, beside one that splits them.

Topology: lib/pair.py.  Packets of other protocols come from a packet socket that says in
front of each how it is to be cut, as a virtual machine does.
"""

from __future__ import annotations

import contextlib
import random
import socket
import struct
from collections.abc import Callable
from typing import Any

from child import KINDS, balanced, burst, bursts, graft, refused, ungraft, whole_bursts
from switch import events
from wale_lab.selftest import net
from wale_lab.selftest.netstat import netstat
from wale_lab.selftest.pair import MAC_A, MAC_B, MS, Pair
from wale_lab.selftest.tap import equal, main, true, virtual_time
from wale_lab.selftest.wale import DROPS, LOSS_ALWAYS, OVERHEAD, POLICY

RATE = 10**6
SPLIT, KEEP = 0, 1
SOL_PACKET, PACKET_VNET_HDR = 263, 15
TCPV4, UFO, TCPV6, ECN = 1, 3, 4, 0x80  # of struct virtio_net_hdr
VLAN = bytes.fromhex("81000005")


def ipv4(payload: bytes, protocol: int, options: int = 0) -> bytes:
    """Return an IPv4 packet with so many bytes of options."""
    length = 20 + options + len(payload)
    head = struct.pack(
        "!BBHHHBBH4s4s", 0x45 + options // 4, 0, length, 7, 0, 64, protocol, 0,
        socket.inet_aton("10.0.0.1"), socket.inet_aton("10.0.0.2"),
    )  # fmt: skip
    return head + b"\1" * options + payload


def ipv6(payload: bytes, protocol: int) -> bytes:
    """Return an IPv6 packet."""
    address = socket.inet_pton(socket.AF_INET6, "2001:db8::1")
    return struct.pack("!IHBB", 6 << 28, len(payload), protocol, 64) + 2 * address + payload


def tcp(data: int, options: int = 0) -> bytes:
    """Return a TCP segment."""
    head = struct.pack("!HHIIBBHHH", 5000, 5001, 1, 1, (20 + options) << 2, 0x10, 99, 0, 0)
    return head + b"\1" * options + bytes(data)


def udp(data: int) -> bytes:
    """Return a UDP datagram."""
    return struct.pack("!HHHH", 5000, 9, 8 + data, 0) + bytes(data)


def send_frame(pair: Pair, packet: bytes, kind: int, size: int, headers: int, tag: bytes) -> None:
    """Send a GSO packet: how it is cut, Ethernet, IP."""
    ethertype = bytes.fromhex("86dd" if packet[0] >> 4 == 6 else "0800")
    ethernet = bytes.fromhex((MAC_B + MAC_A).replace(":", "")) + tag + ethertype
    begin = len(ethernet) + headers
    cut = struct.pack("=BBHHHH", 1, kind, begin + 20, size, begin, 6 if kind == UFO else 16)
    with pair.a.entered():
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    with sock:
        sock.bind(("a0", 0))
        sock.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        sock.send(cut + ethernet + packet)


Sender = Callable[[Pair], None]


def senders() -> dict[str, Sender]:
    """Return what sends a GSO packet each: protocols, headers, sizes."""
    found: dict[str, Sender] = {}
    for segments, size in ((2, 1400), (45, 1400), (64, 1000), (30, 1), (7, 20)):
        found[f"UDP socket {segments} x {size}"] = lambda pair, segments=segments, size=size: (
            pair.send_gso(segments, size)
        )
    for data, size in ((1449, 1448), (45 * 1448, 1448), (60_001, 1448), (5000, 30), (9000, 8948)):
        for options in (0, 12):
            for tag in (b"", VLAN):
                name = f"{data} in {size}, {options} bytes of options{', VLAN' if tag else ''}"
                found[f"TCP {name}"] = lambda pair, d=data, s=size, o=options, t=tag: send_frame(
                    pair, ipv4(tcp(d, o), 6, o), TCPV4, s, 20 + o, t
                )
                found[f"TCP, IPv6 {name}"] = lambda pair, d=data, s=size, o=options, t=tag: (
                    send_frame(pair, ipv6(tcp(d, o), 6), TCPV6, s, 40, t)
                )
    return found


def fate(pair: Pair, sender: Sender) -> tuple[int, int, int, int]:
    """Send through an idle link; return offered packets and bytes, bytes sent, time taken."""
    before = pair.stats()
    tracing = net.Tracing(4096)
    tracing.on()
    sender(pair)
    pair.drain()
    last = [fields for kind, fields in events(tracing.text()) if kind == "dequeue"][-1]
    after = balanced(pair).stats
    equal(pair.get().qlen, 0, "qlen at the end")
    equal(pair.get().backlog, 0, "backlog at the end")
    names = ("offered_packets", "offered_bytes", "sent_bytes")
    changes = [after[name] - before[name] for name in names]
    took = int(last["departure_ns"]) - int(last["arrival_ns"])
    return changes[0], changes[1], changes[2], took


@virtual_time("it asserts times of packets")
def test_same_bytes_and_time_as_split() -> None:
    """A block takes what its packets take, to the byte and to the ns, and counts as one."""
    for overhead in OVERHEAD.values():
        pair = Pair()
        pair.add(rate=RATE, delay=3 * MS, overhead=overhead, limit_packets=1000)
        for name, sender in senders().items():
            pair.change(gso=SPLIT)
            packets, *split = fate(pair, sender)
            true(packets > 1, f"{name}: was not split")
            pair.change(gso=KEEP)
            packets, *kept = fate(pair, sender)
            equal(packets, 1, f"{name}: packets")
            equal(kept, split, f"{name}, overhead {overhead}: bytes and time")
        stats = pair.stats()
        equal(stats["dropped_memory_packets"], 0, "could not be split")
        true(stats["peak_backlog_packets"] >= 64, "peak of the packets that were split")
        pair.close()


def test_what_cannot_be_kept() -> None:
    """Fragments of UDP are split all the same."""
    pair = Pair()
    pair.add(rate=RATE, gso=KEEP)
    send_frame(pair, ipv4(udp(9000), 17), UFO, 1480, 20, b"")
    pair.drain()
    stats = balanced(pair).stats
    equal((stats["offered_packets"], stats["sent_packets"]), (7, 7), "fragments")
    pair.close()


def test_place_in_the_buffer() -> None:
    """A block has one place in a buffer in packets, and its bytes in one in bytes."""
    pair = Pair()
    pair.add(rate=1000, limit_packets=3, gso=KEEP)
    for _ in range(5):
        pair.send_gso(10, 100)
    stats = balanced(pair).stats
    equal((stats["backlog_packets"], stats["backlog_bytes"]), (3, 30 * 128), "in packets")
    equal((stats["dropped_buffer_packets"], stats["dropped_buffer_bytes"]), (2, 2560), "dropped")
    equal(stats["peak_backlog_packets"], 3, "peak")
    pair.delete()
    pair.add(rate=1000, limit_bytes=2 * 10 * 128 + 100, gso=KEEP)
    for segments in (10, 10, 1, 10):
        pair.send_gso(segments, 100)
    pair.send(1, 100)
    stats = balanced(pair).stats
    equal((stats["backlog_packets"], stats["backlog_bytes"]), (3, 2660), "in bytes")
    equal(stats["dropped_buffer_packets"], 2, "dropped, one of them no block")
    pair.close()


def test_lost_marked_and_doubled_as_a_whole() -> None:
    """All of a block or nothing; numbers of a list count blocks."""
    pair = Pair()
    pair.add(rate=RATE, delay=MS, gso=KEEP, drop=[(0, 2, 2)], duplicate=LOSS_ALWAYS)
    for _ in range(3):
        pair.send_gso(10)
    pair.drain()
    stats = balanced(pair).stats
    first, third = list(range(10)), list(range(20, 30))
    equal(pair.received(), first + first + third + third, "packets at the receiver")
    equal((stats["dropped_loss_packets"], stats["duplicated_packets"]), (1, 2), "lost, doubled")
    equal(stats["dropped_loss_bytes"], 10 * 1028, "bytes that were lost")
    equal(pair.get().packets, 40, "tc counts packets of the wire")
    pair.delete()
    pair.add(rate=RATE, loss=1 << 31, seed=2, gso=KEEP)
    for _ in range(100):
        pair.send_gso(10)
        net.sleep_ns(11 * MS)
    pair.drain()
    stats = balanced(pair).stats
    equal(len(pair.received()), 10 * stats["sent_packets"], "blocks that came whole")
    true(30 < stats["sent_packets"] < 70, f"{stats['sent_packets']} blocks of 100 sent")
    pair.delete()
    pair.udp.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
    pair.add(rate=RATE, loss=LOSS_ALWAYS, ecn=1, gso=KEEP)
    with pair.b.entered():
        before = netstat("InCEPkts")
    pair.send_gso(10)
    pair.drain()
    stats = balanced(pair).stats
    equal((stats["marked_packets"], stats["sent_packets"]), (1, 1), "marked")
    equal(len(pair.received()), 10, "received")
    with pair.b.entered():
        equal(netstat("InCEPkts") - before, 10, "marks at the receiver")
    pair.close()


def test_change_under_traffic() -> None:
    """What comes from then on is split, or kept; what is held stays as it is."""
    pair = Pair()
    pair.add(rate=RATE, delay=20 * MS)
    for number in range(40):
        before = balanced(pair).stats["offered_packets"]
        pair.send_gso(5)
        pair.send(1)
        after = balanced(pair).stats["offered_packets"]
        equal(after - before, 2 if number % 2 else 6, "packets")
        pair.change(gso=KEEP if number % 2 == 0 else SPLIT)
        net.sleep_ns(3 * MS)
    pair.drain()
    equal(pair.received(), list(range(pair.sent)), "packets, in order")
    pair.change(gso=KEEP)
    pair.send_gso(5)
    pair.change(gso=SPLIT, corrupt=LOSS_ALWAYS)
    pair.drain()
    equal(balanced(pair).stats["corrupted_packets"], 0, "a block has no bit to turn")
    equal(len(pair.received()), 5, "received")
    pair.send_gso(5)
    pair.drain()
    equal(balanced(pair).stats["corrupted_packets"], 5, "corrupted")
    pair.close()


@whole_bursts
def test_flows_and_policies() -> None:
    """With flows, and whatever shares the buffer, all adds up."""
    for policy in ("tail", "epd", "seldrop", "fba", "random_tail", "rem"):
        draw = random.Random(policy)
        pair = Pair()
        pair.add(
            rate=RATE, delay=MS, gso=KEEP, limit_packets=9, policy=POLICY[policy], flows=5,
            loss=1 << 29, seed=1, jitter={"time": MS, "reordering": 1}, duplicate=1 << 29,
            slot={"min": MS, "packets": 3}, feedback={"idle": 10**9},
        )  # fmt: skip
        for _ in range(100):
            pair.send(draw.randrange(3), 60 + draw.randrange(1400))
            pair.send_gso(1 + draw.randrange(12), 100 + draw.randrange(1200))
            balanced(pair)
            net.sleep_ns(draw.choice((0, MS, 9 * MS)))
        pair.drain()
        link = balanced(pair)
        equal((link.qlen, link.backlog), (0, 0), f"{policy}: qlen and backlog at the end")
        stats = link.stats
        true(stats["dropped_buffer_packets"] + stats["dropped_early_packets"] > 9, f"{stats}")
        pair.close()


def test_refused() -> None:
    """What is about packets of the wire needs them split."""
    pair = Pair()
    pair.add(rate=RATE, overhead=OVERHEAD["atm"])
    refused(lambda: pair.change(gso=2), "gso must be 0 or 1")
    cells = {"limit_cells": 1000}
    refused(lambda: pair.change(gso=KEEP, **cells), "limit in cells needs gso split")
    refused(lambda: pair.change(gso=KEEP, corrupt=1), "corrupt turns a bit")
    pair.change(corrupt=1)
    refused(lambda: pair.change(gso=KEEP), "corrupt turns a bit")
    true("gso" not in pair.get().options, "split is not shown")
    pair.change(gso=KEEP, corrupt=0)
    equal(pair.get().options["gso"], KEEP, "gso")
    refused(lambda: pair.change(**cells), "limit in cells needs gso split")
    refused(lambda: pair.change(corrupt=5), "corrupt turns a bit")
    pair.change(gso=SPLIT, **cells)
    refused(lambda: pair.change(gso=KEEP), "limit in cells needs gso split")
    pair.change(gso=KEEP, limit_packets=5)
    pair.close()


# What splits blocks itself, always or some of them.
CHILDREN = KINDS | {
    "cake that keeps": "cake besteffort memlimit 200kB no-split-gso",
    "cake that splits": "cake besteffort memlimit 200kB split-gso",
    "fq_codel with much room": "fq_codel limit 10000 target 1s interval 10s",
    "tbf with large bursts": "tbf rate 4mbit burst 70kB limit 200kB",
}


def empty(pair: Pair, name: str) -> dict[str, int]:
    """Wait until all is gone, and nobody has anything left; return the statistics."""
    pair.drain()
    link = balanced(pair)
    equal((link.qlen, link.backlog), (0, 0), f"{name}: qlen and backlog at the end")
    stats = link.stats
    equal(stats["backlog_bytes"], 0, f"{name}: bytes in the buffer at the end")
    for what, value in stats.items():
        true(value < 1 << 62, f"{name}: {what} went below zero: {value}")
    return stats


@whole_bursts
def test_children() -> None:
    """Whatever is the buffer, and whether it splits blocks: all adds up."""
    for name, words in CHILDREN.items():
        for options in ({}, {"overhead": 1, "loss": 1 << 29, "duplicate": 1 << 29, "seed": 3}):
            draw = random.Random(name)
            pair = Pair()
            pair.add(rate=RATE, delay=5 * MS, gso=KEEP, **options)
            graft(pair, words)
            bursts(pair, draw)
            stats = empty(pair, name)
            true(stats["sent_packets"] > 50, f"{name}: hardly anything was sent: {stats}")
            pair.close()


def test_children_count_the_wire() -> None:
    """Without drops, what was offered is in bytes what it is if the link splits."""
    for overhead in OVERHEAD.values():
        found = {}
        for gso in (SPLIT, KEEP):
            for words in ("pfifo limit 5000", "fq_codel target 1s interval 10s", "cake rtt 100s"):
                draw = random.Random(overhead)
                pair = Pair()
                pair.add(rate=RATE, overhead=overhead, gso=gso)
                graft(pair, words)
                for _ in range(20):
                    burst(pair, draw)
                    net.sleep_ns(30 * MS)
                stats = empty(pair, words)
                equal(len(pair.received()), pair.sent, f"{words}: received")
                split = gso == SPLIT or words.startswith("cake")
                equal(stats["offered_packets"] == pair.sent, split, f"{words}: packets")
                found[gso, words] = [stats[f"{n}_bytes"] for n in ("offered", "sent")]
                pair.close()
        equal(len({tuple(one) for one in found.values()}), 1, f"bytes alike: {found}")


def test_overhead_in_the_child() -> None:
    """A packet is served with the overhead that the link has then, also a block."""
    sent = {}
    for gso in (SPLIT, KEEP):
        pair = Pair()
        pair.add(rate=100, gso=gso)  # the first packet takes 10 s
        graft(pair, "pfifo limit 1000")
        pair.send(1, 1000)
        for _ in range(2):
            pair.send_gso(10, 1000)
        pair.change(overhead=OVERHEAD["ethernet"], rate=RATE)
        sent[gso] = empty(pair, f"gso {gso}")["sent_bytes"]
        pair.close()
    equal(sent, dict.fromkeys(sent, 1000 + 20 * (1028 + 38)), "bytes on the wire")


PARENTS = {
    "hfsc": ("hfsc default 10", "hfsc ls m2 500mbit ul m2 500mbit"),
    "htb": ("htb default 10", "htb rate 500mbit quantum 1514"),
    "drr": ("drr", "drr quantum 1600"),
}


def test_child_that_drops_of_what_it_splits() -> None:
    """Below parents that have a list of who has something; what is dropped is counted."""
    for name, (root, class_) in PARENTS.items():
        pair = Pair()
        lines = [
            f"qdisc add dev a0 root handle 2: {root}",
            f"class add dev a0 parent 2: classid 2:10 {class_}",
            "filter add dev a0 parent 2: matchall classid 2:10",
        ]
        for line in lines:
            net.run(f"tc {line}", pair.a)
        pair.control.add(pair.dev, {"rate": RATE, "delay": 10 * MS, "gso": KEEP}, 0x20010)
        graft(pair, "cake unlimited besteffort memlimit 30kB")
        pair.send_gso(40, 1200)
        stats = pair.stats()
        equal(stats["offered_packets"], 40, f"{name}: offered")
        true(stats["dropped_child_packets"] > 0, f"{name}: the child dropped none")
        empty(pair, name)
        pair.send(3)
        stats = empty(pair, name)
        lost = stats["dropped_child_packets"]
        equal(stats["sent_packets"], 43 - lost, f"{name}: sent")
        equal(len(pair.received()), 43 - lost, f"{name}: received")
        pair.close()


def test_copies_and_drops_below_the_child() -> None:
    """netem has the link take copies of blocks in the middle of a call, and drops some."""
    pair = Pair()
    pair.add(rate=RATE, gso=KEEP)
    graft(pair, f"handle 5: prio bands 2 priomap{16 * ' 0'}")
    graft(pair, "netem duplicate 100% loss 50%", "5:1")
    for _ in range(40):
        pair.send_gso(10, 1000)
    stats = empty(pair, "netem")
    equal(stats["offered_bytes"], stats["offered_packets"] * 10 * 1028, "offered bytes")
    lost = stats["dropped_child_packets"]
    equal(stats["sent_packets"], stats["offered_packets"] - lost, "sent blocks")
    true(lost > 0, "nothing was dropped")
    pair.close()


def test_change_of_the_child() -> None:
    """A child comes and goes with blocks in it: nothing is lost, nothing overtakes."""
    pair = Pair()
    pair.add(rate=RATE, delay=7 * MS, limit_packets=10_000, gso=KEEP)
    steps: list[Callable[[], Any]] = [
        lambda: graft(pair, "pfifo limit 10000"),
        lambda: graft(pair, "fq_codel limit 10000 target 1s interval 10s"),
        lambda: pair.change(gso=SPLIT, overhead=1),
        lambda: graft(pair, "pfifo limit 10000"),
        lambda: pair.change(gso=KEEP, rate=2 * RATE),
        lambda: ungraft(pair),
    ]
    for step in steps * 3:
        pair.send(3, 200)
        pair.send_gso(7, 300)
        before = balanced(pair).stats
        step()
        after = balanced(pair).stats
        equal(after["offered_packets"], before["offered_packets"], "offered")
        net.sleep_ns(3 * MS)
    empty(pair, "all")
    equal(pair.received(), list(range(pair.sent)), "packets, in order")
    pair.close()


def root_of(pair: Pair) -> Any:
    """Return the root qdisc."""
    return next(q for q in pair.control.list(pair.dev) if q.parent == 0xFFFFFFFF)


@whole_bursts
def test_under_parents() -> None:
    """Parents' counters are those of the link, with children that split blocks and do not."""
    htb = "class add dev a0 parent 2: classid 2:10 htb rate 1gbit quantum 1514"
    tbf = "root handle 2: tbf rate 1gbit burst 200kb latency 1s"
    for setup, parent in (
        (("qdisc add dev a0 root handle 2: htb default 10", htb), 0x20010),
        ((f"qdisc add dev a0 {tbf}",), 0x20001),
    ):
        for words in ("", "fq_codel", "cake split-gso memlimit 200kB", "cake no-split-gso"):
            draw = random.Random(words)
            pair = Pair()
            for line in setup:
                net.run(f"tc {line}", pair.a)
            options = {"rate": RATE, "delay": 4 * MS, "loss": 1 << 30, "duplicate": 1 << 29}
            pair.control.add(pair.dev, options | {"seed": 5, "gso": KEEP}, parent)
            if words:
                graft(pair, words)
            for _ in range(40):
                burst(pair, draw)
                link, root = balanced(pair), root_of(pair)
                equal((root.qlen, root.backlog), (link.qlen, link.backlog), f"{words}: parent")
                net.sleep_ns(draw.choice((0, MS, 9 * MS)))
            empty(pair, words)
            root = root_of(pair)
            equal((root.qlen, root.backlog), (0, 0), f"{words}: parent at the end")
            pair.close()


def test_sender_is_told_once() -> None:
    """With drops local, of a block that does not fit as of a packet."""
    for drops in DROPS.values():
        pair = Pair()
        pair.add(rate=1000, limit_packets=1, drops=drops, gso=KEEP)
        pair.udp.setsockopt(socket.IPPROTO_IP, 11, 1)  # IP_RECVERR: errors are returned
        pair.udp.setsockopt(socket.IPPROTO_UDP, net.UDP_SEGMENT, 100)
        told = 0
        for _ in range(3):
            try:
                pair.udp.send(bytes(1000))
            except OSError as error:
                equal(error.errno, 105, "error")
                told += 1
        equal(told, 2 * drops, f"errors with drops {drops}")
        equal(balanced(pair).stats["dropped_buffer_packets"], 2, "dropped")
        pair.close()


def test_tcp_arrives() -> None:
    """A transfer over a link that keeps blocks comes whole, in fewer packets than segments."""
    pair = Pair()
    pair.add(rate=10**8, delay=MS, gso=KEEP, limit_packets=100, loss=1 << 26, seed=1)
    data = random.Random(1).randbytes(4_000_000)
    with pair.b.entered():
        server = socket.create_server(("10.0.0.2", 80))
    with pair.a.entered():
        client = socket.create_connection(("10.0.0.2", 80))
    peer, _ = server.accept()
    got = bytearray()
    sent = 0
    client.setblocking(False)
    peer.setblocking(False)
    while len(got) < len(data):
        with contextlib.suppress(BlockingIOError):
            sent += client.send(data[sent : sent + 65536])
        with contextlib.suppress(BlockingIOError):
            got += peer.recv(1 << 20)
        net.sleep_ns(MS // 10)
    true(bytes(got) == data, "data differ")
    pair.drain()
    stats = balanced(pair).stats
    true(stats["dropped_loss_packets"] > 0, "no loss in this test")
    true(stats["sent_packets"] < 2000, f"{stats['sent_packets']} packets")
    true(stats["offered_bytes"] > 4_000_000 + 52 * 2700, f"{stats['offered_bytes']} bytes")
    for sock in (client, peer, server):
        sock.close()
    pair.close()


if __name__ == "__main__":
    main()
