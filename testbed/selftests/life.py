#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Links come and go under traffic; nothing leaks and the kernel has no complaint.

Topology: lib/pair.py.  Leaks are looked for in /proc/slabinfo: each test
makes so many objects that one leaked for each would show.
"""

from __future__ import annotations

import contextlib
import functools
import socket
from typing import Any

from wale_lab.selftest import net, rate
from wale_lab.selftest.faults import Failing
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.tap import Skip, equal, main, true, virtual_time

FULL: dict[str, Any] = {"rate": 10**5, "delay": 50 * MS, "loss": 1 << 30}
TRACE: dict[str, Any] = {"trace": [(MS, 10**5), (MS, 0)] * 50, "delay": 50 * MS}
SESSIONS: dict[str, Any] = {
    "rate": 10**6,
    "sessions": {"arrival": 1 << 30, "mean": 3 << 32, "max": 63, "step": MS},
    "seed": 1,
}
KINDS = [FULL, TRACE, SESSIONS]


def objects(cache: str) -> int:
    """Return the objects in use of a slab cache, with those kept for each CPU."""
    with contextlib.suppress(OSError):
        net.write(f"/sys/kernel/slab/{cache}/shrink", "1")
    for line in net.read("/proc/slabinfo").splitlines():
        if line.startswith(cache + " "):
            return int(line.split()[1])
    raise Skip(f"no slab cache {cache}")


class Leaks:
    """Compares caches before and after."""

    CACHES = ("skbuff_head_cache", "skbuff_small_head", "kmalloc-512", "kmalloc-1k", "kmalloc-2k")

    def __init__(self) -> None:
        self.before = self.count()

    def count(self) -> dict[str, int]:
        """Return the objects of each cache."""
        return {cache: objects(cache) for cache in self.CACHES}

    def check(self, made: int) -> None:
        """Fail if some cache grew by one in four of the objects made, and stays so for 30 s."""
        for _ in range(300):  # a qdisc is freed after a grace period, and busy CPUs have long ones
            net.sleep_ns(100 * MS)
            grown = {cache: count - self.before[cache] for cache, count in self.count().items()}
            if all(objects < made / 4 for objects in grown.values()):
                return
        true(False, f"objects more than before: {grown}")


def test_thousand_lives() -> None:
    """1,000 times add, change, replace, delete under traffic."""
    pair = Pair()
    pair.add(**FULL)
    pair.send(200)
    pair.delete()
    leaks = Leaks()
    for number in range(1000):
        pair.add(**KINDS[number % 3])
        pair.send(2)
        pair.send_gso(2)
        pair.change(**KINDS[(number + 1) % 3])
        pair.send(1)
        pair.control.replace(pair.dev, {"sessions": {}, "rate": 10**6 + number})
        pair.control.replace(pair.dev, {**KINDS[(number + 2) % 3], "limit_packets": 5})
        equal(pair.get().imbalance(), 0, "imbalance")
        net.sleep_ns((number % 4) * MS)
        pair.delete()
    pair.received()
    leaks.check(1000)
    pair.close()


def test_module_comes_and_goes() -> None:
    """The module can be unloaded when no link is left, and not before."""
    path = rate.module("sch_wale")
    pair = Pair()
    for number in range(20):
        pair.add(**KINDS[number % 3])
        pair.send(10)
        true("in use" in net.run("rmmod sch_wale", check=False), "unloaded while in use")
        pair.delete()
        net.run("rmmod sch_wale")
        pair.send(1)
        net.run(f"insmod {path}")
    pair.close()


def test_namespace_goes_with_packets_in_flight() -> None:
    """A namespace is deleted while its link holds packets."""
    pair = Pair()
    pair.add(**FULL)
    pair.send(200)
    pair.close()
    leaks = Leaks()
    for number in range(40):
        pair = Pair()
        pair.add(**{**KINDS[number % 3], "limit_packets": 100})
        pair.send(50)
        pair.send_gso(30)
        net.sleep_ns((number % 3) * 10 * MS)
        pair.close()
    net.run("rmmod sch_wale")
    net.run(f"insmod {rate.module('sch_wale')}")
    leaks.check(40 * 80)


def test_device_down_and_up() -> None:
    """Packets held when the device goes down are purged, counted, and not sent."""
    pair = Pair()
    pair.add(rate=5 * 10**4, delay=50 * MS, loss=1 << 30, seed=3)
    sent = 0
    for _ in range(20):
        pair.send(100)
        net.sleep_ns(80 * MS)
        held = pair.held()
        true(held > 0, "no packet held")
        net.run("ip link set a0 down", pair.a)
        qdisc = pair.get()
        equal(pair.held(), 0, "packets held by a device that is down")
        equal(qdisc.imbalance(), 0, "imbalance")
        equal(qdisc.imbalance_bytes(), 0, "imbalance in bytes")
        equal((qdisc.qlen, qdisc.backlog), (0, 0), "qlen and backlog")
        sent = qdisc.stats["sent_packets"]
        net.sleep_ns(100 * MS)
        net.run("ip link set a0 up", pair.a)
        net.run("ip neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev a0", pair.a)
        equal(pair.stats()["sent_packets"], sent, "sent while down")
    pair.send(10)
    pair.drain()
    true(pair.stats()["sent_packets"] > sent, "nothing sent after the device came up")
    true(pair.stats()["dropped_purge_packets"] > 0, "no purged packet counted")
    equal(pair.stats()["dropped_memory_packets"], 0, "dropped for want of memory")
    equal(len(pair.received()), pair.stats()["sent_packets"], "packets at the receiver")
    pair.close()


def test_purge_forgets_departures() -> None:
    """After a purge there is nobody to overtake: a delay that was long is over."""
    pair = Pair()
    pair.add(delay=10**6 * MS)
    pair.send(3)
    net.run("ip link set a0 down", pair.a)
    pair.change(delay=MS)
    net.run("ip link set a0 up", pair.a)
    net.run("ip neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev a0", pair.a)
    pair.send(2)
    net.sleep_ns(100 * MS)
    equal(pair.stats()["sent_packets"], 2, "sent after the purge")
    pair.close()


def test_lost_packet_holds_no_namespace() -> None:
    """A packet that will be lost, with nothing behind it, must not keep a namespace."""
    before = len(net.run("ip -o link").splitlines())
    pair = Pair()
    net.run("ip link add outside type veth peer name inside")
    net.run(f"ip link set inside netns {pair.a.name}")
    pair.add(rate=1, loss=0xFFFFFFFF)
    with pair.a.entered():
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.sendto(b"lost", ("10.0.0.2", 9))
    sender.close()
    equal(pair.stats()["backlog_packets"], 1, "the packet is held")
    pair.close()
    net.sleep_ns(10_000 * MS)
    equal(len(net.run("ip -o link").splitlines()), before, "devices outside, afterwards")


@virtual_time("it waits for 2000 s")
def test_many_periods_of_a_trace() -> None:
    """A service over 10^9 steps of a trace takes no time of the processor worth noticing."""
    pair = Pair()
    pair.add(trace=[(1000, 1), (1000, 2)])
    pair.send(1)
    net.sleep_ns(2 * 10**6 * MS)
    equal(pair.stats()["sent_packets"], 1, "sent")
    pair.close()


def test_device_goes_with_packets_in_flight() -> None:
    """The device is deleted while the link holds packets, and made again."""
    leaks = Leaks()
    for number in range(30):
        pair = Pair()
        pair.add(**{**KINDS[number % 3], "limit_packets": 100})
        pair.send(60)
        net.run("ip link del a0", pair.a)
        pair.close()
    leaks.check(30 * 60)


def flush(pair: Pair) -> None:
    """A netlink socket that lost an answer is replaced."""
    pair.control.close()
    pair.control = pair.a.control()


def test_allocation_failure_in_add() -> None:
    """Each allocation of an add fails once: a link is made whole, or not at all."""
    failing = Failing()
    pair = Pair()
    leaks = Leaks()
    tried = 0
    for options in KINDS * 5:

        def after(refused: bool, options: dict[str, Any] = options) -> None:
            flush(pair)
            links = [q for q in pair.control.list(pair.dev) if q.kind == "wale"]
            true(bool(links) or refused, "no link, and no error")
            for link in links:
                equal(link.options.get("rate"), options.get("rate"), "rate of a half-made link")
                equal(link.options["delay"], options.get("delay", 0), "delay of a half-made link")
                pair.delete()

        tried += failing.sweep(functools.partial(pair.add, **options), after)
    true(tried >= len(KINDS) * 5, "no allocation failed")
    leaks.check(tried)
    pair.close()


def test_allocation_failure_in_change() -> None:
    """Each allocation of a change fails once: the configuration is the old or the new one."""
    failing = Failing()
    pair = Pair()
    base: dict[str, Any] = {"rate": 10**6, "delay": MS, "seed": 9, "sessions": {}}
    pair.add(**base)
    old = pair.get().options
    for options in KINDS[1:]:
        pair.change(**options)
        new = pair.get().options
        pair.change(**base)
        equal(pair.get().options, old, "configuration changed back")

        def after(refused: bool, new: dict[str, Any] = new) -> None:
            flush(pair)
            found = pair.get().options
            true(found in ((old, new) if refused else (new,)), f"half a change: {found}")
            pair.change(**base)
            equal(pair.get().imbalance(), 0, "imbalance")

        pair.send(5)
        tried = failing.sweep(functools.partial(pair.change, **options), after)
        true(tried > 0, "no allocation failed")
    pair.drain()
    equal(len(pair.received()), pair.sent, "packets at the receiver")
    pair.close()


def test_allocation_failure_in_split() -> None:
    """A GSO packet that cannot be split is dropped and counted as such."""
    failing = Failing()
    pair = Pair()
    pair.add(rate=10**6)
    leaks = Leaks()
    for _ in range(60):

        def after(_refused: bool) -> None:
            equal(pair.get().imbalance(), 0, "imbalance")
            pair.drain()

        failing.sweep(lambda: pair.send_gso(10), after)
    true(pair.stats()["dropped_memory_packets"] > 0, "no drop for want of memory")
    pair.received()
    leaks.check(600)  # 7.2 keeps up to 128 free ones at hand
    pair.close()


if __name__ == "__main__":
    main()
