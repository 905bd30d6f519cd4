#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the packets on links take of the memory.

    user namespace of uid 1000, with a network namespace of its own

        datagrams -> [wale] -> d0, a dummy; d1, d2 ...

A link is filled until it refuses what comes.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Any

from wale_lab.selftest import bounds, net
from wale_lab.selftest.bounds import memory
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.tap import equal, main, true
from wale_lab.selftest.wale import Control, Qdisc

DAY = 86_400_000 * MS
LARGE, SMALL = 65_000, 0  # bytes of data in a datagram
UNLIMITED = 2**64 - 1
LINE_SPARE = 64 << 20


class Links:
    """Dummy devices d0, d1 ..., each with a link, and a socket that sends into all."""

    def __init__(self, count: int, **options: Any) -> None:
        lines = ["link set lo up"]
        for number in range(count):
            dev = f"d{number}"
            lines += [f"link add {dev} mtu 65535 arp off type dummy"]
            lines += [f"addr add 10.{number}.0.1/24 dev {dev}", f"link set {dev} up"]
        net.ip_batch(lines)
        self.control = Control()
        self.devs = [socket.if_nametoindex(f"d{number}") for number in range(count)]
        for dev in self.devs:
            self.control.add(dev, options)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def send(self, number: int, length: int = LARGE) -> None:
        """Send a datagram into one of the links."""
        with contextlib.suppress(BlockingIOError):
            self.socket.sendto(b"x" * length, (f"10.{number}.0.2", 9))

    def all(self) -> list[Qdisc]:
        """Return the links as they are now."""
        return [self.control.get(dev) for dev in self.devs]

    def fill(self, length: int = LARGE) -> list[dict[str, int]]:
        """Send into each link until it takes no more; return what they counted."""
        for number, dev in enumerate(self.devs):
            while not any(self.control.get(dev).stats[f"dropped_{why}_packets"] for why in FULL):
                for _ in range(200):
                    self.send(number, length)
                net.sleep_ns(MS)
        return [link.stats for link in self.all()]

    def delete(self) -> None:
        """Delete the links: the namespace goes later, and all with it."""
        for dev in self.devs:
            self.control.delete(dev)


FULL = ("line", "buffer", "child")


def filled(count: int, reason: str, length: int = LARGE, **options: Any) -> None:
    """A user's links take a quarter of the memory, all together, and say why they refuse."""

    def work() -> tuple[list[dict[str, int]], int]:
        links = Links(count, **options)
        before = memory("MemAvailable")
        stats, gone = links.fill(length), before - memory("MemAvailable")
        links.delete()
        return stats, gone

    stats, gone = bounds.as_user(work)
    share = memory("MemTotal") / 4
    taken = sum(one["memory"] for one in stats)
    true(0.8 * share < taken < 1.05 * share, f"packets take {taken} bytes, the share is {share}")
    true(gone < 1.3 * share, f"{gone} bytes are gone, the share is {share}")
    for one in stats:
        true(one[f"dropped_{reason}_packets"], f"none was dropped as {reason}: {one}")
        others = [f"dropped_{why}_packets" for why in FULL if why != reason]
        equal([one[name] for name in others], [0, 0], str(others))


def test_a_long_line_of_large_packets() -> None:
    """A day of delay, and no rate."""
    filled(1, "line", delay=DAY)


def test_a_long_line_of_small_packets() -> None:
    """Each takes 27 times as much memory as wire."""
    bounds.needs_plain_memory()
    filled(1, "line", SMALL, delay=DAY)


def test_a_long_line_with_a_rate() -> None:
    """The delay is too long for what it holds at that rate, too."""
    filled(1, "line", delay=DAY, rate=10**12, limit_packets=2**32 - 1)


def test_others_go_on_beside_a_long_line() -> None:
    """`ip link add` in another namespace, while a line is filled, and emptied."""

    def attack() -> None:
        links = Links(1, delay=DAY)
        links.fill(SMALL)
        links.delete()

    bounds.others_go_on(attack)


def test_many_long_lines() -> None:
    """All links of users have one share of the memory."""
    filled(20, "line", delay=DAY)


def test_a_long_line_of_copies_that_overtake() -> None:
    """Copies count, and so does what is in the tree of those that overtook others."""
    filled(1, "line", delay=DAY, duplicate=1 << 31, seed=1, jitter={"time": DAY, "reordering": 1})


def test_slots_that_let_few_leave() -> None:
    """What waits for its slot is on the line."""
    filled(1, "line", slot={"min": DAY, "max": DAY, "packets": 1})


def test_a_large_buffer_in_packets() -> None:
    """As large as can be, at 8 bit/s."""
    filled(1, "buffer", rate=1, limit_packets=2**32 - 1)


def test_a_large_buffer_in_bytes() -> None:
    """As large as can be."""
    filled(1, "buffer", rate=1, limit_bytes=UNLIMITED - 1)


def test_slow_input_links() -> None:
    """A packet that waits for its input link is in no limit in cells."""
    filled(1, "buffer", rate=1, overhead=2, limit_cells=1 << 22, input_rate=1000)


def test_a_child_without_a_limit() -> None:
    """What is in the child counts."""

    def work() -> dict[str, int]:
        links = Links(1, rate=1)
        net.run("tc qdisc add dev d0 parent 1:1 pfifo limit 4294967295")
        stats = links.fill()[0]
        links.delete()
        return stats

    stats = bounds.as_user(work)
    share = memory("MemTotal") / 4
    true(0.8 * share < stats["memory"] < 1.05 * share, f"{stats}, the share is {share}")
    true(stats["dropped_buffer_packets"] > 0, f"none was refused: {stats}")


def test_root_has_a_share_of_its_own() -> None:
    """What users fill is not missing to links that only root can make."""

    def fill() -> Links:
        links = Links(1, delay=DAY)
        links.fill()
        return links

    pair = Pair()
    pair.add(delay=MS)
    with bounds.user_who(fill):
        pair.send(1000)
    pair.drain()
    equal(len(pair.received()), 1000, "packets that came")
    equal(pair.stats()["dropped_line_packets"], 0, "dropped")
    pair.close()


def test_the_limit_of_the_line() -> None:
    """Twice what the line can hold, and some."""
    for options, bytes_ in (
        ({"rate": 10**6, "delay": 100 * MS}, 2 * 10**5),
        ({"rate": 10**6, "delay": 0}, 0),
        ({"rate": 10**6, "delay": 100 * MS, "jitter": {"time": 10 * MS}}, 2 * 140_000),
        ({"rate": 10**6, "slot": {"min": MS, "max": 50 * MS}}, 2 * 50_000),
        ({"trace": [(MS, 5), (MS, 10**6), (MS, 0)], "delay": 100 * MS}, 2 * 10**5),
        ({}, 0),
    ):
        pair = Pair()
        pair.add(**options)
        equal(pair.stats()["line_limit"], LINE_SPARE + bytes_, f"line_limit with {options}")
        pair.close()


def test_what_is_on_the_line_stays_beside_a_lower_limit() -> None:
    """A slower rate has a line of its own, behind what is still on its way."""
    pair = Pair()
    pair.add(rate=10**9, delay=1000 * MS)
    pair.send(10)
    net.sleep_ns(100 * MS)
    pair.change(rate=10**3)
    equal(pair.stats()["line_limit"], LINE_SPARE + 2 * 1000 + 10 * 1000, "line_limit")
    pair.close()


def test_an_empty_link_takes_nothing() -> None:
    """Whatever became of the packets, their memory is given back."""
    half = 1 << 31
    for options in (
        {},
        {"delay": MS, "loss": half, "seed": 1},
        {"rate": 10**6, "limit_packets": 5},
        {"rate": 10**6, "limit_bytes": 9000, "policy": 4, "last": 4, "seed": 1},
        {"rate": 10**6, "delay": MS, "duplicate": half, "corrupt": half, "seed": 1},
        {"rate": 10**6, "delay": MS, "duplicate": half, "reorder": half, "seed": 1},
        {"rate": 10**6, "flows": 4, "policy": 2, "limit_packets": 9, "seed": 1},
        {"rate": 10**6, "overhead": 2, "limit_cells": 130, "input_rate": 10**6},
        {"rate": 10**6, "gso": 1, "delay": MS, "duplicate": half, "seed": 1},
    ):
        pair = Pair()
        pair.add(**options)
        pair.send(40)
        pair.send_gso(20)
        if options:
            true(pair.stats()["memory"] > 0, f"packets take nothing with {options}")
        pair.drain()
        equal(pair.stats()["memory"], 0, f"memory of an empty link with {options}")
        pair.send(40)
        net.run("ip link set a0 down", pair.a)
        equal(pair.stats()["memory"], 0, f"memory of a link that was emptied, with {options}")
        equal(pair.get().imbalance(), 0, f"packets with {options}")
        pair.close()


def test_a_child_gives_back_what_its_packets_took() -> None:
    """Those that it drops, too, and those that it makes of one."""
    for child in ("pfifo limit 5", "sfq", "fq_codel limit 5 target 1us interval 2us", "cake"):
        for gso in (0, 1):
            pair = Pair()
            pair.add(rate=10**6, delay=MS, gso=gso)
            net.run(f"tc qdisc add dev a0 parent 1:1 {child}", pair.a)
            for _ in range(5):
                pair.send(20)
                pair.send_gso(20)
            true(pair.stats()["memory"] > 0, f"packets take nothing with {child}")
            pair.drain()
            equal(pair.stats()["memory"], 0, f"memory of an empty link with {child}, gso {gso}")
            pair.close()


if __name__ == "__main__":
    main()
