#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A wale link below a size table (tc-stab(8)), which says what a packet takes on the wire.

Topology: lib/pair.py.  Frames have 14 bytes of Ethernet below IP.
"""

from __future__ import annotations

import random
import socket
from typing import Any

from child import KINDS, balanced, burst, graft, root_of, whole_bursts
from gso import VLAN, empty
from switch import events
from wale_lab.selftest import net
from wale_lab.selftest.pair import MAC_A, MAC_B, MS, Pair
from wale_lab.selftest.tap import equal, main, true, virtual_time
from wale_lab.selftest.wale import OVERHEAD, Qdisc, size_table

RATE = 125_000  # 1 Mbit/s
SPLIT, KEEP = 0, 1
ETHERNET = 14
WIRE_LEN_MAX = (1 << 20) - 1  # of one packet; the kernel has one byte more
BY_1000 = size_table(overhead=1000, linklayer=1)


def link(stab: bytes, **options: Any) -> Pair:
    """Return a link with a size table."""
    pair = Pair()
    pair.control.add(pair.dev, options, stab=stab)
    return pair


def times(pair: Pair) -> list[int]:
    """Let the link run empty; return how long after the first arrival each packet left."""
    pair.drain()
    seen = events(net.Tracing().text())
    start = min(int(fields["now_ns"]) for kind, fields in seen if kind == "enqueue")
    return [int(fields["departure_ns"]) - start for kind, fields in seen if kind == "dequeue"]


def times_of(pair: Pair, *lengths: int) -> list[int]:
    """Send packets of these lengths; return when each left."""
    net.Tracing().on()
    for length in lengths:
        pair.send(1, length)
    return times(pair)


#: Options of a link, bytes of IP, and bytes on the wire.
BYTES: list[tuple[dict[str, int], int, int]] = [
    ({"overhead_bytes": 8}, 1000, 1008),
    ({"overhead_bytes": -8}, 1000, 992),
    ({"overhead_bytes": -4096}, 1000, 1),
    ({"overhead_bytes": 18, "mpu": 64}, 40, 64),
    ({"overhead_bytes": 18, "mpu": 64}, 100, 118),
    ({"overhead": OVERHEAD["ethernet"], "overhead_bytes": 8}, 1000, 1046),
    ({"overhead": OVERHEAD["ethernet"], "overhead_bytes": 8}, 30, 84),
    ({"overhead": OVERHEAD["ethernet"], "mpu": 60}, 30, 98),
    ({"overhead": OVERHEAD["atm"], "overhead_bytes": 10}, 40, 106),
    ({"overhead": OVERHEAD["atm"]}, 40, 106),
    ({"overhead": OVERHEAD["atm"], "overhead_bytes": -10}, 40, 53),
]


@virtual_time("it asserts times of packets")
def test_bytes_within_the_layer() -> None:
    """A number of bytes, and a least length, change what a packet takes."""
    pair = Pair()
    pair.add(rate=RATE)
    for options, length, wire in BYTES:
        pair.change(overhead=0, mpu=0)
        true("overhead_bytes" not in pair.get().options, "bytes are left of another layer")
        pair.change(**options)
        equal(pair.get().options | options, pair.get().options, "options as asked for")
        before = pair.stats()["offered_bytes"]
        equal(times_of(pair, length), [wire * 8000], f"{options}, {length} bytes")
        equal(pair.stats()["offered_bytes"] - before, wire, f"{options}: offered")
    pair.close()


def test_tags_of_vlans() -> None:
    """Ethernet counts the four bytes of each tag; no other layer does."""
    pair = Pair()
    pair.add(rate=RATE)
    with pair.a.entered():
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        sock.bind(("a0", 0))
    addresses = bytes.fromhex((MAC_B + MAC_A).replace(":", ""))
    for layer, beside in (("raw", 0), ("ethernet", 38)):
        pair.change(overhead=OVERHEAD[layer])
        for tags in (b"", VLAN, VLAN * 2):
            before = pair.stats()["offered_bytes"]
            sock.send(addresses + tags + b"\x08\0" + net.ip_packet(500))
            counted = len(tags) if layer == "ethernet" else 0
            took = pair.stats()["offered_bytes"] - before
            equal(took, 500 + beside + counted, f"{layer}, {len(tags)} bytes of tags")
    sock.close()
    pair.close()


@virtual_time("it asserts times of packets")
def test_length_is_that_of_the_table() -> None:
    """With overhead raw, as with any other qdisc: the frame, and what the table adds."""
    pair = link(BY_1000, rate=RATE)
    equal(times_of(pair, 1000), [16_112_000], "time of 2014 bytes")
    equal(times_of(pair, 1000, 100, 28), [16_112_000, 25_024_000, 33_360_000], "one by one")
    pair.control.change(pair.dev, {}, stab=size_table(overhead=-500, linklayer=1))
    equal(times_of(pair, 1000, 100), [4_112_000, 4_120_000], "a negative overhead; one byte")
    pair.change()
    equal(times_of(pair, 1000), [8_000_000], "without a table again")
    pair.close()


@virtual_time("it asserts times of packets")
def test_slots() -> None:
    """Slots of ADSL: 48 bytes of each cell of 53."""
    slots = [-(-(16 * slot + 16) // 48) * 53 for slot in range(100)]
    pair = link(size_table(slots, cell_log=4, cell_align=-1, linklayer=2, overhead=10), rate=RATE)
    for length in (28, 72, 73, 500, 1400):
        cells = -(-(-(-(length + ETHERNET + 10) // 16) * 16) // 48)
        equal(times_of(pair, length), [cells * 53 * 8000], f"{length} bytes")
    pair.close()


def test_as_the_kernel_counts() -> None:
    """Lengths of any packet by any table are those of the kernel."""
    draw = random.Random(1)
    for _ in range(60):
        slots = [
            draw.choice((0, 1, draw.randrange(2000), 65535)) for _ in range(draw.randrange(40))
        ]
        stab = size_table(
            slots,
            cell_log=draw.randrange(8),
            size_log=draw.randrange(4),
            cell_align=draw.randint(-40, 40),
            overhead=draw.choice((0, -30, -2000, 48, 100_000)),
            linklayer=1,
        )
        pair = link(stab)
        before = pair.get()
        for _ in range(30):
            length = draw.randint(28, 1500)
            pair.send(1, length)
            seen = balanced(pair)
            counted = seen.stats["sent_bytes"] - before.stats["sent_bytes"]
            equal(counted, min(seen.bytes - before.bytes, WIRE_LEN_MAX), f"{length} bytes")
            before = seen
        equal((before.packets, before.backlog), (30, 0), "packets sent, and backlog")
        pair.close()


@virtual_time("it asserts times of packets")
def test_beside_overhead() -> None:
    """What the table says stands for the packet: the overhead of the link is added."""
    stab = size_table(overhead=12, linklayer=1)
    pair = link(stab, rate=RATE, overhead=OVERHEAD["ethernet"])
    equal(times_of(pair, 1000), [1050 * 8000], "ethernet, 12 bytes more")
    equal(times_of(pair, 28), [84 * 8000], "the shortest frame of Ethernet")
    pair.control.change(pair.dev, {"overhead": OVERHEAD["atm"]}, stab=stab)
    equal(times_of(pair, 1000), [22 * 53 * 8000], "atm, 12 bytes more")
    pair.close()


@virtual_time("it asserts times of packets")
def test_cells() -> None:
    """A buffer in cells has whole cells of what the table says."""
    pair = link(
        size_table(overhead=100, linklayer=1),
        rate=RATE,
        overhead=OVERHEAD["atm"],
        limit_cells=100,
    )
    equal(times_of(pair, 1000, 28), [24 * 53 * 8000, 27 * 53 * 8000], "24 and 3 cells")
    pair.send(6, 1000)
    seen = balanced(pair).stats
    equal(seen["dropped_cells"], 6 * 24 - 100, "cells that did not fit")
    equal(seen["peak_backlog_cells"], 100, "cells in the buffer")
    pair.drain()
    balanced(pair)
    pair.close()


def test_limit_in_bytes() -> None:
    """A limit in bytes is one of what the table says."""
    pair = link(BY_1000, rate=1000, limit_bytes=5000)
    pair.send(3, 1000)
    seen = balanced(pair)
    equal((seen.stats["backlog_packets"], seen.stats["backlog_bytes"]), (2, 4028), "in the buffer")
    equal(seen.stats["dropped_buffer_bytes"], 2014, "dropped")
    equal((seen.qlen, seen.backlog), (2, 4028), "as tc shows it")
    pair.close()


@virtual_time("it asserts times of packets")
def test_gso() -> None:
    """Each packet of a GSO packet has a length of its own, split or kept."""
    pair = link(BY_1000, rate=RATE, limit_packets=1000)
    net.Tracing().on()
    pair.send_gso(10, 500)
    one = (500 + 28 + ETHERNET + 1000) * 8000
    equal(times(pair), [one * number for number in range(1, 11)], "split")
    split = balanced(pair)
    equal(split.stats["sent_bytes"], 10 * 1542, "bytes of the packets")
    equal((split.packets, split.bytes), (10, 10 * 1542), "as tc shows them")
    pair.control.change(pair.dev, {"gso": KEEP}, stab=BY_1000)
    net.Tracing().on()
    pair.send_gso(10, 500)
    equal(times(pair), [10 * one], "kept")
    seen = balanced(pair)
    equal(seen.stats["sent_bytes"] - split.stats["sent_bytes"], 10 * 1542, "bytes, kept")
    equal(pair.received(), list(range(20)), "packets")
    pair.close()


def check(pair: Pair, what: str) -> Qdisc:
    """The sums are right, and above the link the same packets are counted."""
    seen, root = balanced(pair), root_of(pair)
    equal((root.qlen, root.backlog), (seen.qlen, seen.backlog), f"{what}: parent")
    return seen


@whole_bursts
def test_children() -> None:
    """Children count what the table says; nothing is left behind in any count."""
    for gso in (SPLIT, KEEP):
        for name, words in KINDS.items():
            pair = link(BY_1000, rate=10**6, delay=MS, gso=gso)
            graft(pair, words)
            draw = random.Random(name)
            for _ in range(15):
                burst(pair, draw)
                pair.send_gso(3, 300)
                check(pair, name)
                net.sleep_ns(draw.choice((0, MS, 20 * MS)))
            empty(pair, name)
            seen = check(pair, name)
            true(seen.stats["sent_bytes"] > 1000 * seen.stats["sent_packets"], f"{name}: sent")
            pair.close()


@virtual_time("it asserts times of packets")
def test_child_measures_the_wire() -> None:
    """A bfifo has room for what the table says; it is served as long as that takes."""
    pair = link(BY_1000, rate=RATE)
    graft(pair, "bfifo limit 4100")
    equal(times_of(pair, 1000, 1000, 1000, 1000), [k * 16_112_000 for k in (1, 2, 3)], "times")
    seen = check(pair, "bfifo")
    equal(seen.stats["dropped_child_bytes"], 2014, "dropped")
    equal((seen.packets, seen.bytes), (3, 3 * 2014), "as tc shows them")
    pair.close()


@whole_bursts
def test_change_under_traffic() -> None:
    """A table comes, goes and is another: sums stay right."""
    draw = random.Random(3)
    for words in ("", "fq_codel", "cake split-gso memlimit 200kB"):
        pair = link(BY_1000, rate=10**6, limit_packets=100, gso=KEEP)
        if words:
            graft(pair, words)
        for _ in range(40):
            burst(pair, draw)
            pair.send_gso(draw.randrange(2, 9), 400)
            stab = draw.choice((b"", BY_1000, size_table(overhead=-60, linklayer=1)))
            options = {"overhead": draw.randrange(3), "gso": draw.randrange(2)}
            pair.control.change(pair.dev, options, stab=stab)
            balanced(pair)
            net.sleep_ns(draw.choice((0, MS, 9 * MS)))
        empty(pair, words)
        pair.close()


@virtual_time("it asserts times of packets")
def test_table_of_the_root() -> None:
    """Below another qdisc, the link counts what that one's table says, as its leaves do."""
    htb = "class add dev a0 parent 2: classid 2:10 htb rate 1gbit quantum 1514"
    for gso in (SPLIT, KEEP):
        pair = Pair()
        stab = "stab overhead 1000 linklayer ethernet"
        net.run(f"tc qdisc add dev a0 root handle 2: {stab} htb default 10", pair.a)
        net.run(f"tc {htb}", pair.a)
        pair.control.add(pair.dev, {"rate": RATE, "gso": gso}, 0x20010)
        equal(times_of(pair, 1000), [16_112_000], "time of 2014 bytes")
        pair.send(3, 1000)
        pair.send_gso(4, 300)
        check(pair, "htb")
        empty(pair, "htb")
        seen = check(pair, "htb")
        equal(seen.stats["sent_bytes"], 4 * 2014 + 4 * 1342, "bytes on the wire")
        pair.close()


if __name__ == "__main__":
    main()
