#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Where a wale link can stand, and that what is above it counts right.

Topology: lib/pair.py, and for the classful parents

    a0:  parent 1:  -- class -- wale (handle 10:)

The parent's qlen and backlog are those of its leaves at all times, and zero
when the link is empty: with loss, with overflow and with GSO.
"""

from __future__ import annotations

import os
import random
import socket
import struct
from collections.abc import Mapping, Sequence

from wale_lab.selftest import net
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.tap import (
    KernelLog,
    Skip,
    equal,
    in_virtual_time,
    kernel_warnings,
    main,
    true,
    virtual_time,
)
from wale_lab.selftest.wale import POLICY, Qdisc

HANDLE = 0x100000  # 10:
LOSSY = {"rate": 10**6, "delay": 10 * MS, "limit_packets": 30, "loss": 1 << 30, "seed": 5}

# Packets that parents have counted are dropped later.
RANDOM_TAIL = LOSSY | {"policy": POLICY["random_tail"], "last": 20}
SWITCH = {"rate": 10**6, "overhead": 2, "limit_cells": 200, "input_rate": 4 * 10**5, "seed": 5}
SWITCHES = (
    RANDOM_TAIL,
    SWITCH,
    SWITCH | {"policy": POLICY["random_tail"], "last": 100, "loss": 1 << 30, "delay": 10 * MS},
    SWITCH | {"policy": POLICY["seldrop"], "threshold_share": 500_000, "delay": MS},
)


def tree(pair: Pair) -> tuple[Qdisc, list[Qdisc]]:
    """Return the root qdisc and the wale qdiscs."""
    qdiscs = pair.control.list(pair.dev)
    root = next(qdisc for qdisc in qdiscs if qdisc.parent == 0xFFFFFFFF)
    return root, [qdisc for qdisc in qdiscs if qdisc.kind == "wale"]


def traffic(pair: Pair, rounds: int = 60, compare: bool = True) -> None:
    """Send packets and GSO packets, and compare the counters of parent and child."""
    for number in range(rounds):
        pair.send(number % 5, 60 + 20 * number)
        pair.send_gso(1 + number % 20, 200 + number)
        root, leaves = tree(pair)
        for leaf in leaves:
            equal((leaf.imbalance(), leaf.imbalance_bytes()), (0, 0), "imbalance")
        # the kernel reads one after the other: what is sent meanwhile is in one of them
        if compare and in_virtual_time():
            equal(root.qlen, sum(leaf.qlen for leaf in leaves), f"{root.kind}: qlen")
            equal(root.backlog, sum(leaf.backlog for leaf in leaves), f"{root.kind}: backlog")
        net.sleep_ns(4 * MS)
    net.wait_for(lambda: tree(pair)[0].qlen == 0, "an empty parent")
    pair.drain()
    root, leaves = tree(pair)
    equal((root.qlen, root.backlog), (0, 0), f"{root.kind}: qlen and backlog at the end")
    for leaf in leaves:
        equal((leaf.qlen, leaf.backlog), (0, 0), "leaf: qlen and backlog at the end")
    offered = sum(leaf.stats["offered_packets"] for leaf in leaves)
    sent = sum(leaf.stats["sent_packets"] for leaf in leaves)
    equal(offered, pair.sent, "offered")
    equal(len(pair.received()), sent, "received")


def under(
    setup: Sequence[str],
    parents: Sequence[int],
    compare: bool = True,
    options: Mapping[str, int] = LOSSY,
) -> None:
    """Test wale below a parent made by tc commands."""
    pair = Pair(queues=2)
    for command in setup:
        net.run(f"tc {command}", pair.a)
    for number, parent in enumerate(parents):
        pair.control.add(pair.dev, options, parent, HANDLE + (number << 16))
    traffic(pair, compare=compare)
    pair.send(20)
    pair.send_gso(20)
    for number, parent in enumerate(parents):
        pair.control.delete(pair.dev, parent, HANDLE + (number << 16))
    if compare:
        root = tree(pair)[0]
        equal((root.qlen, root.backlog), (0, 0), "parent after the leaf was deleted")
    pair.delete()
    pair.close()


def test_root() -> None:
    """As root: traffic arrives, in order."""
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})  # each CPU has its own queue of what arrived
    pair = Pair()
    pair.add(rate=10**6, delay=10 * MS)
    pair.send(200, 700, gap_ns=MS // 2)
    pair.drain()
    os.sched_setaffinity(0, cpus)
    equal(pair.received(), list(range(200)), "packets at the receiver")
    pair.close()


def test_under_mq() -> None:
    """Under mq, one link for each queue."""
    setup = ["qdisc add dev a0 root handle 1: mq"]
    under(setup, [0x10001, 0x10002], compare=False)


def test_under_htb() -> None:
    """As a leaf of htb."""
    setup = [
        "qdisc add dev a0 root handle 1: htb default 10",
        "class add dev a0 parent 1: classid 1:10 htb rate 1gbit",
    ]
    under(setup, [0x10010])


def test_under_prio() -> None:
    """As a leaf of prio: all three bands."""
    setup = ["qdisc add dev a0 root handle 1: prio"]
    under(setup, [0x10001, 0x10002, 0x10003])


def test_under_htb_in_prio() -> None:
    """Two levels down."""
    setup = [
        "qdisc add dev a0 root handle 1: prio priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "qdisc add dev a0 parent 1:2 handle 2: htb default 10",
        "class add dev a0 parent 2: classid 2:10 htb rate 1gbit",
    ]
    under(setup, [0x20010])


def test_under_tbf() -> None:
    """Below a parent that peeks."""
    setup = ["qdisc add dev a0 root handle 1: tbf rate 1gbit burst 200kb latency 1s"]
    under(setup, [0x10001])


def under_a_class_of(kind: str, options: str, of_class: str) -> None:
    """Below a scheduler whose filter sends all to one class."""
    under(
        [
            f"qdisc add dev a0 root handle 1: {kind} {options}",
            f"class add dev a0 parent 1: classid 1:10 {kind} {of_class}",
            "filter add dev a0 parent 1: protocol all matchall flowid 1:10",
        ],
        [0x10010],
    )


def test_under_other_schedulers() -> None:
    """Below hfsc, drr and ets.  hfsc tells that a link holds packets back, as it does."""
    log = KernelLog()
    under_a_class_of("hfsc", "default 10", "sc rate 1gbit ul rate 1gbit")
    said = [line for line in log.news() if "wale qdisc" in line and "non-work-conserving" in line]
    equal(len(said), 1, "warnings that the link is not work-conserving")
    under_a_class_of("drr", "", "quantum 1514")
    under(["qdisc add dev a0 root handle 1: ets bands 3 strict 1"], [0x10001, 0x10002, 0x10003])


def test_under_qfq() -> None:
    """Below a scheduler that once took a leaf that delays for a mistake."""
    if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 12):
        raise Skip("qfq of this kernel warns of every qdisc below it that delays")
    under_a_class_of("qfq", "", "weight 1 maxpkt 2048")


def test_switches_under_parents() -> None:
    """Parents learn of packets that they counted and that do not come back."""
    for options in SWITCHES:
        under(
            [
                "qdisc add dev a0 root handle 1: htb default 10",
                "class add dev a0 parent 1: classid 1:10 htb rate 1gbit",
            ],
            [0x10010],
            options=options,
        )
        under(
            ["qdisc add dev a0 root handle 1: prio"],
            [0x10001, 0x10002, 0x10003],
            options=options,
        )
        under(
            ["qdisc add dev a0 root handle 1: tbf rate 1gbit burst 200kb latency 1s"],
            [0x10001],
            options=options,
        )


TWO_LEVELS = (
    "qdisc add dev a0 root handle 1: hfsc default 10",
    "class add dev a0 parent 1: classid 1:10 hfsc sc rate 1gbit ul rate 1gbit",
    "qdisc add dev a0 parent 1:10 handle 2: prio priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
)


def two_levels_down(options: Mapping[str, int], *below: str, packets: int, gap_ns: int) -> None:
    """Send single packets; none may stay on a link that nobody asks any more."""
    pair = Pair()
    for command in TWO_LEVELS:
        net.run(f"tc {command}", pair.a)
    pair.control.add(pair.dev, options, 0x20002, HANDLE)
    for command in below:
        net.run(f"tc {command}", pair.a)
    for _ in range(packets):
        pair.send(1)
        net.sleep_ns(gap_ns)
    net.wait_for(lambda: tree(pair)[1][0].qlen == 0, f"an empty link: {options}")
    pair.drain()
    root, leaves = tree(pair)
    equal((root.qlen, root.backlog), (0, 0), "root: qlen and backlog at the end")
    true(0 < leaves[0].stats["sent_packets"] == len(pair.received()), "received")
    pair.close()


def test_grandparent_goes_on_asking() -> None:
    """A loss that is known when another packet comes leaves no parent without any."""
    half = {"rate": 10**6, "delay": 100 * MS, "loss": 1 << 31, "seed": 1}
    pfifo = "qdisc add dev a0 parent 10:1 pfifo limit 20"
    two_levels_down(half, packets=20, gap_ns=10 * MS)
    two_levels_down(half, pfifo, packets=20, gap_ns=10 * MS)
    cells = half | {"overhead": 2, "limit_cells": 1000}
    two_levels_down(cells, packets=20, gap_ns=10 * MS)
    tail = {
        "rate": 10**5,
        "policy": POLICY["random_tail"],
        "last": 1,
        "limit_packets": 2,
        "seed": 3,
    }
    two_levels_down(tail, packets=60, gap_ns=9 * MS)
    for seed in range(4):  # copies are taken in calls within calls
        two_levels_down(
            half | {"loss": 3 << 30, "delay": 0, "seed": seed},
            "qdisc add dev a0 parent 10:1 handle 3: prio priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
            "qdisc add dev a0 parent 3:1 netem limit 1000 duplicate 100%",
            packets=60,
            gap_ns=MS + MS // 10,
        )


def test_under_netem() -> None:
    """As the child of netem."""
    setup = ["qdisc add dev a0 root handle 1: netem limit 10000"]
    pair = Pair()
    for command in setup:
        net.run(f"tc {command}", pair.a)
    pair.control.add(pair.dev, LOSSY, 0x10001, HANDLE)
    for number in range(60):
        pair.send(number % 5, 60 + 20 * number)
        pair.send_gso(1 + number % 20, 200 + number)
        net.sleep_ns(4 * MS)
    net.wait_for(lambda: tree(pair)[0].qlen == 0, "an empty parent")
    root, leaves = tree(pair)
    equal((root.qlen, root.backlog), (0, 0), "netem: qlen and backlog at the end")
    equal(leaves[0].imbalance(), 0, "imbalance")
    true(leaves[0].stats["sent_packets"] > 100, "nothing went through")
    equal(len(pair.received()), leaves[0].stats["sent_packets"], "received")
    pair.close()


@virtual_time("it looks before the delay is over")
def test_ingress_through_ifb() -> None:
    """On ingress: what comes in on b0 passes a link on an ifb."""
    pair = Pair()
    net.ip_batch(["link add ifb0 type ifb", "link set ifb0 up"], pair.b)
    net.run("tc qdisc add dev b0 ingress", pair.b)
    redirect = "matchall action mirred egress redirect dev ifb0"
    net.run(f"tc filter add dev b0 parent ffff: {redirect}", pair.b)
    control, dev = pair.b.control(), pair.b.index("ifb0")
    control.add(dev, {"rate": 10**6, "delay": 100 * MS, "overhead": 1})
    # until the kernel has seen its carrier, a0 sends nothing
    net.wait_for(lambda: "state UP" in net.run("ip link show a0", pair.a), "a0")
    pair.send(100, 500)
    net.sleep_ns(90 * MS)
    equal(len(pair.received()), 0, "packets before the delay")
    net.wait_for(lambda: control.get(dev).stats["sent_packets"] == 100, "100 packets")
    net.sleep_ns(MS)
    equal(pair.received(), list(range(100)), "packets at the receiver")
    stats = control.get(dev).stats
    equal(
        stats["sent_bytes"], 100 * 538, "bytes with the ethernet overhead: no header counted twice"
    )
    pair.close()


def test_each_namespace_its_own() -> None:
    """The same device name in two namespaces: two links."""
    one, two = Pair(), Pair()
    one.add(rate=10**6, seed=1)
    two.add(rate=10**5, seed=2)
    one.send(50)
    equal(two.stats()["offered_packets"], 0, "packets in the other namespace")
    two.change(rate=777)
    equal(one.get().options["rate"], 10**6, "rate after a change in the other namespace")
    two.delete()
    one.drain()
    equal(len(one.received()), 50, "packets after a deletion in the other namespace")
    one.close()
    two.close()


def test_replaced_by_another_kind() -> None:
    """Root replaced by pfifo and back while packets are held."""
    pair = Pair()
    for _ in range(50):
        pair.control.replace(pair.dev, {"rate": 10**5, "delay": 50 * MS}, handle=HANDLE)
        pair.send(20)
        pair.send_gso(20)
        net.run("tc qdisc replace dev a0 root handle 20: pfifo", pair.a)
        pair.send(2)
    equal(len(tree(pair)[1]), 0, "wale qdiscs")
    pair.close()


def test_frames_that_are_not_ip() -> None:
    """Frames of other protocols, down to one byte, have a length too."""
    pair = Pair()
    with pair.a.entered():
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        raw.bind(("a0", 0))
    header = bytes.fromhex("020000000002020000000001")
    frames = [b"\0", bytes(28), bytes(46), bytes(1500)]
    for overhead, expected in ((0, [1, 28, 46, 1500]), (1, [84, 84, 84, 1538])):
        pair.add(rate=10**6, overhead=overhead)
        for kind, payload in zip((0x88B5, 0x0806, 0x88B5, 0x88B5), frames, strict=True):
            raw.send(header + struct.pack("!H", kind) + payload)
        equal(pair.stats()["offered_bytes"], sum(expected), f"bytes with overhead {overhead}")
        pair.drain()
        equal(pair.stats()["sent_packets"], 4, "frames sent")
        pair.delete()
    raw.close()
    pair.close()


def stream(sender: net.Namespace, receiver: net.Namespace, address: str, size: int) -> None:
    """Send bytes by TCP, and check that they are the same at the other end."""
    data = random.Random(1).randbytes(size)
    with receiver.entered():
        listener = socket.create_server((address, 5001))
    with sender.entered():
        client = socket.socket()
    child = os.fork()
    if child == 0:
        client.connect((address, 5001))
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        client.recv(1)
        os._exit(0)
    client.close()
    peer, _ = listener.accept()
    peer.settimeout(600)
    got = b""
    while chunk := peer.recv(1 << 20):
        got += chunk
    peer.close()
    listener.close()
    os.waitpid(child, 0)
    true(got == data, "the data arrived changed")


def test_loopback() -> None:
    """On lo: TCP through a lossy link, large packets split."""
    ns = net.Namespace("a")
    control, dev = ns.control(), ns.index("lo")
    control.add(dev, {"rate": 10**7, "delay": MS, "loss": (1 << 32) // 100, "seed": 4})
    stream(ns, ns, "127.0.0.1", 10**6)
    qdisc = control.get(dev)
    equal(qdisc.imbalance(), 0, "imbalance")
    true(qdisc.stats["dropped_loss_packets"] > 0, "no loss")
    ns.delete()


def test_router() -> None:
    """On a router: GSO packets that are forwarded are split into wire packets.

    ns a: a0 --- veth --- b0 :ns b (router): c0 [wale] --- veth --- d0 :ns d
    """
    pair = Pair()
    far = net.Namespace("d")
    net.ip_batch(
        [
            f"link add c0 type veth peer name d0 netns {far.name}",
            "addr add 10.0.1.1/24 dev c0",
            "link set c0 up",
        ],
        pair.b,
    )
    net.ip_batch(
        [
            "addr add 10.0.1.2/24 dev d0",
            "link set d0 up",
            "route add default via 10.0.1.1",
        ],
        far,
    )
    net.ip_batch(["route add default via 10.0.0.2"], pair.a)
    with pair.b.entered():
        net.write("/proc/sys/net/ipv4/ip_forward", "1")
    control, dev = pair.b.control(), pair.b.index("c0")
    options = {"rate": 10**6, "delay": 10 * MS, "limit_bytes": 40_000, "loss": (1 << 32) // 100}
    control.add(dev, {**options, "seed": 1})
    stream(pair.a, far, "10.0.1.2", 2 * 10**6)
    qdisc = control.get(dev)
    stats = qdisc.stats
    equal((qdisc.imbalance(), qdisc.imbalance_bytes()), (0, 0), "imbalance")
    true(stats["dropped_loss_packets"] > 0, "no loss")
    true(stats["peak_backlog_bytes"] <= 40_000, "more in the buffer than its limit")
    mean = stats["offered_bytes"] / stats["offered_packets"]
    true(1200 < mean <= 1500, f"{mean} bytes in a wire packet on the mean")
    far.delete()
    pair.close()


def unexpected(lines: Sequence[str]) -> list[str]:
    """Return warnings; not that of hfsc, of any qdisc between it and a link that delays."""
    known = "prio qdisc 2: is non-work-conserving?"
    return [line for line in kernel_warnings(lines) if known not in line]


if __name__ == "__main__":
    main(warnings=unexpected)
