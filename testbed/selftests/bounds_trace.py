#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What traces of the shortest steps, sessions and prices take of a CPU.

    user namespace of uid 1000, with a network namespace of its own

        packets -> [wale: steps of 1 us, one packet in service] -> d0, a dummy; d1, d2 ...

Times are compared with those of the same request where there is little to do.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import time
from typing import Any

from wale_lab.selftest import bounds, net
from wale_lab.selftest.pair import MS
from wale_lab.selftest.tap import main, true
from wale_lab.selftest.wale import POLICY, Control, trace_file

US = 1000
STEPS = 660_000
#: 1 and 2 bytes/s: a packet is in service for longer than any of these tests.
FINE = b"".join(struct.pack("QQ", US, 1 + step % 2) for step in range(STEPS))
COARSE = struct.pack("QQQQ", 3600 * 1000 * MS, 1, 3600 * 1000 * MS, 2)
MIDDLE = struct.pack("QQQQ", MS, 1, MS, 2)
REM = {"policy": POLICY["rem"], "limit_bytes": 10**6, "rem": {"interval": MS, "target": 0}}
SESSIONS = {"arrival": 1 << 30, "mean": 3 << 32, "max": 63, "step": MS}
TIMER = f"{net.TRACING}/events/timer/timer_expire_entry"


class Links:
    """Dummy devices d0, d1 ..., each with a link on which a packet is in service."""

    def __init__(self, count: int, **options: Any) -> None:
        lines = ["link set lo up"]
        for number in range(count):
            lines += [f"link add d{number} type dummy", f"link set d{number} up"]
        net.ip_batch(lines)
        self.control = Control()
        steps = options.pop("steps", None)
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        for number in range(count):
            if steps:  # a file of the family is for one link
                options["trace_fd"] = trace_file(steps)
            self.control.add(socket.if_nametoindex(f"d{number}"), options)
            if steps:
                os.close(options["trace_fd"])
            net.send(sock, f"d{number}", net.ip_packet(1000))
        sock.close()
        self.count = count

    def close(self) -> None:
        """Delete them: a packet that is held would keep its namespace."""
        net.ip_batch([f"link del d{number}" for number in range(self.count)])

    def published(self) -> int:
        """Return how often the channel was told by the first of them."""
        return self.control.get(socket.if_nametoindex("d0")).stats["published"]

    def run(self) -> None:
        """Have them run up to now."""
        self.control.list(0)


def cost(**options: Any) -> float:
    """How long a request takes that runs 20 such links, 30 ms after they ran before."""

    def measure() -> float:
        with contextlib.closing(Links(20, **options)) as links:
            return bounds.usual_s(links.run, gap_s=0.03)

    return bounds.as_user(measure)


def not_longer(much: dict[str, Any], little: dict[str, Any]) -> None:
    """A request takes less than ten times as long as another."""
    bounds.needs_real_time()
    few, many = cost(**little), cost(**much)
    true(many < 10 * few, f"{many * 1e6:.0f} us, and {few * 1e6:.0f} us with little to do")


def test_a_service_passes_steps_at_once() -> None:
    """30,000 steps, or none."""
    not_longer({"steps": FINE}, {"steps": COARSE})


def test_a_price_on_a_fine_trace() -> None:
    """30 updates of the price while 30,000 steps pass, or 30 steps."""
    not_longer({"steps": FINE, **REM}, {"steps": MIDDLE, **REM})


def rings_in(seconds: float) -> int:
    """Count how often timers of links ring in so many seconds."""
    net.write(f"{net.TRACING}/trace", "")
    net.write(f"{net.TRACING}/tracing_on", "1")
    time.sleep(seconds)
    net.write(f"{net.TRACING}/tracing_on", "0")
    return net.read(f"{net.TRACING}/trace").count("function=wale_timer_ring")


def rings(seconds: float, **options: Any) -> int:
    """Count how often that of such a link does, when those of earlier tests are gone."""
    net.write(f"{net.TRACING}/buffer_size_kb", "8192")
    net.write(f"{TIMER}/enable", "1")
    net.wait_for(lambda: not rings_in(1.5), "the end of earlier links")
    with bounds.user_who(lambda: Links(1, **options), Links.close):
        count = rings_in(seconds)
    net.write(f"{TIMER}/enable", "0")
    return count


def test_a_fine_trace_rings_seldom() -> None:
    """Once a second, as any other."""
    count = rings(4, steps=FINE)
    true(count <= 5, f"{count} times in 4 s")


def test_a_fine_trace_is_published_seldom() -> None:
    """Every 10 ms at most, and of many steps that are due the last one."""
    options = {"steps": FINE, "feedback": {"idle": 1000 * MS}}
    count = rings(2, **options)
    true(20 <= count <= 210, f"{count} times in 2 s")

    def published() -> tuple[int, float]:
        with contextlib.closing(Links(1, **options)) as links:
            before, start = links.published(), time.monotonic()
            time.sleep(2)
            return links.published() - before, time.monotonic() - start

    count, seconds = bounds.as_user(published)
    true(0 < count <= 101 * seconds, f"{count} times in {seconds} s")


def test_what_adds_up_does_not_wait() -> None:
    """Steps of sessions and updates of a price: at most 256 of 1 ms at a time."""
    for name, options in (
        ("sessions", {"rate": 1, "sessions": SESSIONS}),
        ("rem", {"steps": FINE, **REM}),
    ):
        count = rings(4, **options)
        true(15 <= count <= 22, f"{count} times in 4 s for {name}")


def test_many_links() -> None:
    """150 of them leave the CPU to others."""
    bounds.needs_real_time()

    def share() -> float:
        with contextlib.closing(Links(150, steps=FINE[: len(FINE) // 10])):
            return bounds.softirq_share(3)

    busy = bounds.as_user(share)
    true(busy < 0.1, f"{busy:.0%} of the CPU is in softirqs")


def test_others_go_on_beside_many_links() -> None:
    """`ip link add` in another namespace, beside 150 of them, a fine price and sessions."""

    def attack() -> None:
        for count, options in (
            (150, {"steps": FINE[: len(FINE) // 10]}),
            (20, {"steps": FINE[: len(FINE) // 10], **REM}),
            (20, {"rate": 1, "sessions": SESSIONS}),
        ):
            with contextlib.closing(Links(count, **options)) as links:
                time.sleep(1)
                links.run()

    bounds.others_go_on(attack)


if __name__ == "__main__":
    main()
