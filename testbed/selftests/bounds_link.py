#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What a link with many flows, cells or packets takes of a CPU, and for how long at a time.

    user namespace of uid 1000, with a network namespace of its own

        datagrams, each to a port of its own -> [wale] -> d0, a dummy

Times are compared with those of the same request where there is a tenth to do.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import struct
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wale_lab.netlink import NLM_F_DUMP
from wale_lab.selftest import bounds, net
from wale_lab.selftest.pair import MS
from wale_lab.selftest.rate import S
from wale_lab.selftest.tap import Skip, main, true
from wale_lab.selftest.wale import POLICY, RATE_UNLIMITED, RTM_GETTCLASS, Control, Qdisc

FLOWS_MAX = 65_534
FLOWS = 28_000  # each with a packet that takes 11 kB of memory
BUCKETS = 8192  # of 4096 flows
COLLIDING = 4000
EVENT = re.compile(r" (\d+\.\d+): (\w+: .*)")
#: What ten times as much may take: for each of the ten, less of it is in the cache.
LINEAR = 25
#: And what takes as long for ten times as much.
CONSTANT = 4


class Link:
    """A dummy device d0 with a link, and a socket that sends into it."""

    def __init__(self, **options: Any) -> None:
        net.ip_batch(
            [
                "link add d0 mtu 65535 arp off type dummy",
                "addr add 10.0.0.1/8 dev d0",
                "link set d0 up",
            ]
        )
        self.dev = socket.if_nametoindex("d0")
        self.control = Control()
        self.control.add(self.dev, options)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def send(self, count: int, length: int, first: int = 1) -> None:
        """Send datagrams of so many IP bytes, each of the next flow of 65,535."""
        data = bytes(length - 28)
        for number in range(first - 1, first - 1 + count):
            with contextlib.suppress(BlockingIOError):
                self.socket.sendto(data, ("10.0.0.2", 1 + number % 65535))

    def fill(self, length: int) -> None:
        """Send datagrams until all places in the buffer for cells are taken."""
        limit = self.get().options["limit_cells"]
        port = 60_000
        while self.get().stats["backlog_cells"] < limit:
            self.send(50, length, port)
            port += 50

    def get(self) -> Qdisc:
        """Return the link as it is now."""
        return self.control.get(self.dev)

    def backlog(self) -> int:
        """Return how many packets wait for the buffer, or in it."""
        return self.get().stats["backlog_packets"]

    def list_classes(self) -> int:
        """Have the kernel list the classes; return how many there are."""
        body = struct.pack("=B3xiIII", socket.AF_UNSPEC, self.dev, 0, 0, 0)
        return len(self.control.ask(RTM_GETTCLASS, NLM_F_DUMP, body))

    def close(self) -> None:
        """Delete the device, and with it what the link holds."""
        net.run("ip link del d0")


def quiet(**options: Any) -> Link:
    """Return a link with cells that is left alone: its next packet departs in 1000 s."""
    link = Link(delay=1000 * S, overhead=2, limit_cells=1000, flows=FLOWS)
    link.send(1, 100)
    link.control.change(link.dev, options)
    return link


def took(act: Callable[[], object]) -> float:
    """Return how long something takes."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def least(count: int, measure: Callable[[int], float], times: int = 3) -> float:
    """Return how long so many take, at least, as a user without rights."""
    return min(bounds.as_user(lambda: measure(count)) for _ in range(times))


def linear(measure: Callable[[int], float], many: int) -> None:
    """So many take about ten times as long as a tenth of them."""
    bounds.needs_real_time()
    few_s = least(many // 10, measure)
    many_s = least(many, measure, 1)
    if many_s > LINEAR * few_s:  # a busy machine?
        many_s = least(many, measure, 2)
    true(many_s < LINEAR * few_s, f"{many} took {many_s:.3f} s, a tenth {few_s:.3f} s")


def constant(measure: Callable[[int], float], many: int) -> None:
    """So many take about as long as a tenth of them."""
    bounds.needs_real_time()
    few_s, many_s = least(many // 10, measure), least(many, measure)
    true(many_s < CONSTANT * few_s, f"{many} took {many_s:.6f} s, a tenth {few_s:.6f} s")


def test_faster_input_links() -> None:
    """The cells that are still to come on each of them come in the order of time."""

    def raised(flows: int) -> float:
        link = quiet(limit_cells=1 << 22, input_rate=1000)
        link.send(flows, 8000)
        waiting = link.backlog()
        true(waiting > flows / 4, f"of {flows} packets, {waiting} are on an input link")

        def change() -> None:
            link.control.change(link.dev, {"input_rate": 12_500_000})
            net.wait_for(lambda: not link.backlog(), "all cells")

        seconds = took(change)
        link.close()
        return seconds

    linear(raised, FLOWS)


def test_what_is_due_together_lets_others_run() -> None:
    """Some millions of cells are due at once: they are replayed a few at a time."""
    bounds.needs_real_time()

    def gap() -> float:
        link = quiet(limit_cells=1 << 22, input_rate=1000)
        link.send(FLOWS, 8000)
        link.control.change(link.dev, {"input_rate": 10**9})
        net.sleep_ns(100 * MS)  # nothing has the link run meanwhile
        longest = max(took(link.get), bounds.longest_gap_s(1))
        net.wait_for(lambda: not link.backlog(), "all cells")
        link.close()
        return longest

    gaps = [bounds.as_user(gap) for _ in range(3)]
    true(min(gaps) < 0.1, f"others waited for {min(gaps):.3f} s")


def runs() -> int:
    """Return how often a qdisc ran because it was time to."""
    line = re.search(r"NET_TX:(.*)", net.read("/proc/softirqs"))
    assert line
    return sum(map(int, line[1].split()))


def cells_of_1000_packets(link: Link, act: Callable[[], object]) -> tuple[int, int]:
    """Return how often it runs while 75,000 cells come and none is the last, and later."""
    link.send(1000, 8000)  # 168 cells each, one in 13.25 ms
    before = runs()
    act()
    amid = runs()
    true(link.backlog() == 1000, f"{link.backlog()} packets are there after a second")
    net.wait_for(lambda: not link.backlog(), "all packets")
    after = runs()
    true(link.get().stats["sent_packets"] >= 1000, "1000 packets departed")
    link.close()
    return amid - before, after - amid


def test_a_link_runs_for_packets_and_not_for_cells() -> None:
    """Of cells on the input links, only the last one of a packet is waited for."""

    def attack(policy: str) -> tuple[int, int]:
        link = Link(
            overhead=2, limit_cells=1 << 20, flows=1100, input_rate=4000, policy=POLICY[policy]
        )
        return cells_of_1000_packets(link, lambda: net.sleep_ns(S))

    for policy in ("tail", "random_tail", "epd"):
        amid, later = bounds.as_user(lambda policy=policy: attack(policy))
        true(amid < 75_000 / 20, f"{policy}: the link ran {amid} times while no packet ended")
        true(later < 4000 + 93_000 / 20, f"{policy}: it ran {later} times for 1000 packets")


def test_a_link_with_another_rate_of_inputs_runs_for_packets() -> None:
    """After the rate changes it is found out again, step by step, which packet ends first."""

    def attack() -> tuple[int, int]:
        link = Link(overhead=2, limit_cells=1 << 20, flows=1100, input_rate=4000)

        def change() -> None:
            for number in range(10):
                link.control.change(link.dev, {"input_rate": 4000 + number % 2})
                net.sleep_ns(100 * MS)

        return cells_of_1000_packets(link, change)

    amid, _ = bounds.as_user(attack)
    true(amid < 75_000 / 10, f"the link ran {amid} times while no packet ended")


def test_others_go_on_beside_many_cells() -> None:
    """`ip link add` in another namespace, while all these cells are due."""

    def attack() -> None:
        link = quiet(limit_cells=1 << 22, input_rate=1000)
        link.send(FLOWS, 8000)
        link.control.change(link.dev, {"input_rate": 10**9})
        net.wait_for(lambda: not link.backlog(), "all cells")
        link.close()

    bounds.others_go_on(attack)


def test_packets_that_lost_their_end() -> None:
    """Where they leave the buffer is found in the same time, however many packets are there."""

    def ends(count: int) -> float:
        flows = count // 4
        link = quiet(limit_cells=2 * count, input_rate=1000, rate=1)
        link.send(flows, 4000)
        link.send(count - flows, 32, flows + 1)  # one cell each
        link.fill(32)
        link.control.change(link.dev, {"input_rate": RATE_UNLIMITED})
        net.sleep_ns(100 * MS)  # the next cells are still due at the old rate
        seconds = took(link.get)
        stats = link.get().stats
        true(stats["dropped_cells"] > 60 * flows, f"{stats['dropped_cells']} cells were dropped")
        link.close()
        return seconds

    linear(ends, 24_000)


def test_flows_under_load() -> None:
    """A link that is full begins to tell flows apart as soon as an empty one."""

    def begin(count: int) -> float:
        link = Link(delay=1000 * S)
        link.send(count, 32)
        seconds = took(lambda: link.control.change(link.dev, {"flows": 1}))
        (crowd,) = link.control.classes(link.dev).values()
        true(crowd.stats["line_packets"] >= count, f"{crowd.stats['line_packets']} are the crowd's")
        link.close()
        return seconds

    constant(begin, 100_000)


def reset_s(act: Callable[[], object]) -> float:
    """Return how long the first reset of a qdisc takes at most.

    It ends before the next event: of a qdisc, or a switch to another task, since a lock is
    held meanwhile.  The work that frees packets may be that task.
    """
    events = [
        f"{net.TRACING}/events/{name}/enable"
        for name in ("qdisc/qdisc_reset", "qdisc/qdisc_destroy", "sched/sched_switch")
    ]
    net.write(f"{net.TRACING}/trace_clock", "mono")  # finer than a tick
    net.write(f"{net.TRACING}/trace", "")
    for event in events:
        net.write(event, "1")
    net.write(f"{net.TRACING}/tracing_on", "1")
    act()
    for event in events:
        net.write(event, "0")
    found = [EVENT.search(line) for line in net.read(f"{net.TRACING}/trace").splitlines()]
    times = [(float(event[1]), event[2]) for event in found if event]
    reset = next(i for i, (_, what) in enumerate(times) if "kind=wale" in what)
    return times[reset + 1][0] - times[reset][0]


def test_purge() -> None:
    """A link that is full is emptied as fast as one that is not, whatever holds its packets."""
    bounds.needs_real_time()

    def full(count: int, options: dict[str, Any]) -> Link:
        link = Link(**options)
        link.send(count, 32)
        return link

    def emptied(count: int, options: dict[str, Any]) -> None:
        with bounds.user_who(
            lambda: full(count, options), lambda link: link.control.delete(link.dev)
        ):
            pass

    def least_reset(count: int, options: dict[str, Any]) -> float:
        return min(reset_s(lambda: emptied(count, options)) for _ in range(3))

    jitter = {"time": 500 * S, "reordering": 1}
    for options in (
        {"delay": 1000 * S},
        {"delay": 1000 * S, "flows": 10},
        {"delay": 1000 * S, "jitter": jitter, "seed": 1},
        {"rate": 1, "limit_packets": 10**6},
        {"rate": 1, "overhead": 2, "limit_cells": 1 << 20, "flows": 10},
    ):
        few_s, many_s = least_reset(20_000, options), least_reset(200_000, options)
        what = f"{options}: 200,000 packets took {many_s:.6f} s, a tenth {few_s:.6f} s"
        true(many_s < CONSTANT * few_s, what)


def others(count: int) -> list[tuple[str, int]]:
    """Return destinations of flows; the last one is of datagrams in fragments."""
    return [("10.0.0.2", port) for port in range(1, count + 1)] + [("10.0.0.3", 0)]


def test_flows_that_would_collide() -> None:
    """The seed, which is shown, does not tell which flows are in one bucket."""
    bounds.needs_real_time()
    if not shutil.which("cc"):
        raise Skip("there is no compiler (cc)")

    def chosen(seed: int) -> list[tuple[str, int]]:
        lines = net.run(f"{program} {seed} {BUCKETS} {COLLIDING}").splitlines()
        return [(address, int(port)) for address, port in map(str.split, lines)]

    def last_of(flows_of: Callable[[int], list[tuple[str, int]]]) -> float:
        link = Link(delay=1000 * S, flows=BUCKETS // 2)
        net.run("ip link set d0 mtu 256")
        link.socket.bind(("10.0.0.1", 5000))
        flows = flows_of(link.get().options["seed"])
        for destination in flows[:-1]:
            link.socket.sendto(b"", destination)
        address, _ = flows[-1]
        data = bytes(60_000)  # 259 packets of one flow
        seconds = min(took(lambda: link.socket.sendto(data, (address, 9))) for _ in range(50))
        link.close()
        return seconds

    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = f"{folder}/collide"
        net.run(f"cc -O2 -o {program} {Path(__file__).with_name('collide.c')}")
        few_s = min(bounds.as_user(lambda: last_of(lambda _: others(COLLIDING))) for _ in range(2))
        many_s = min(bounds.as_user(lambda: last_of(chosen)) for _ in range(2))
    true(many_s < 5 * few_s, f"259 packets took {many_s:.6f} s, of other flows {few_s:.6f} s")


def test_list_of_classes() -> None:
    """However many there are, each takes the same time."""

    def list_all(count: int) -> float:
        link = Link(delay=1000 * S, flows=FLOWS_MAX)
        link.send(count, 32)
        listed = []
        seconds = took(lambda: listed.append(link.list_classes()))
        true(count <= listed[0] < count + 10, f"{listed} classes, {count} flows")  # IPv6's, too
        link.close()
        return seconds

    linear(list_all, 65_000)


if __name__ == "__main__":
    main()
