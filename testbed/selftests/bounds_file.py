#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the longest traces take of the time of others, and of the memory.

    user namespace of uid 1000, with a network namespace of its own

        file of the family wale -> [wale] -> d0, a dummy

Times are compared with those of short traces, or with that of writing a long one.
"""

from __future__ import annotations

import os
import socket
import struct
import time

from wale_lab.selftest import bounds, net
from wale_lab.selftest.tap import main, true
from wale_lab.selftest.wale import Control, new_trace_file

US = 1000
PART = struct.pack("QQ", US, 1) * 65536
LONGEST = 256  # parts


#: Times as long as with a short trace.
MOST = 4


class Link:
    """A dummy device with a link, in the namespace of the task that makes it."""

    def __init__(self) -> None:
        net.ip_batch(["link add d0 type dummy"])
        self.control = Control()
        self.dev = socket.if_nametoindex("d0")
        self.control.add(self.dev, {})

    def hand_over(self, parts: int) -> tuple[float, float]:
        """Give the link a trace; return how long writing it took, and the request."""
        file = new_trace_file()
        begin = time.perf_counter()
        for _ in range(parts):
            true(os.write(file, PART) == len(PART), "not all was written")
        written = time.perf_counter()
        self.control.change(self.dev, {"trace_fd": file})
        done = time.perf_counter()
        os.close(file)
        return written - begin, done - written


def test_a_long_trace_is_taken_at_once() -> None:
    """16,777,216 steps, or 65,536: again and again, and their memory is there again."""
    bounds.needs_plain_memory()
    bounds.needs_real_time()

    def work() -> tuple[float, float]:
        link = Link()
        before = bounds.memory("MemAvailable")
        few = many = float("inf")
        for number in range(48):  # where the host is busy, it takes more than 12 to meet both alone
            few = min(few, link.hand_over(1)[1])
            many = min(many, link.hand_over(LONGEST)[1])
            if number >= 11 and many < MOST * few:
                break
        link.hand_over(1)
        net.wait_for(
            lambda: bounds.memory("MemAvailable") > before - 4 * len(PART),
            "the memory of the traces",
            10,
        )
        return few, many

    few, many = bounds.as_user(work)
    true(many < MOST * few, f"{many * 1e6:.0f} us, and {few * 1e6:.0f} us for a short trace")


def test_others_do_not_wait() -> None:
    """A request to another network is answered while long traces are handed over."""
    bounds.needs_real_time()

    def work() -> float:
        link = Link()
        return min(sum(link.hand_over(LONGEST)) for _ in range(6))

    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writer, struct.pack("d", bounds.as_user(work)))
        finally:
            os._exit(0)
    os.close(writer)
    others = net.Namespace("others")
    control, dev = others.control(), others.index("lo")
    worst = 0.0
    while not os.waitpid(child, os.WNOHANG)[0]:
        begin = time.perf_counter()
        control.add(dev, {})
        control.delete(dev)
        worst = max(worst, time.perf_counter() - begin)
        time.sleep(0.001)
    (whole,) = struct.unpack("d", os.read(reader, 8))
    true(worst < whole / 5, f"waited {worst:.3f} s; a trace is handed over in {whole:.3f} s")


def test_others_go_on_beside_long_traces() -> None:
    """`ip link add` in another namespace meanwhile."""
    bounds.others_go_on(lambda: [Link().hand_over(LONGEST)])


def test_a_file_that_is_closed_gives_back_its_memory() -> None:
    """Though no link got what was in it."""
    bounds.needs_plain_memory()

    def work() -> None:
        before = bounds.memory("MemAvailable")
        file = new_trace_file()
        for _ in range(LONGEST):
            os.write(file, PART)
        true(
            before - bounds.memory("MemAvailable") > 0.9 * LONGEST * len(PART),
            "the steps take no memory",
        )
        os.close(file)
        net.wait_for(
            lambda: bounds.memory("MemAvailable") > before - 4 * len(PART),
            "the memory of the steps",
            10,
        )

    bounds.as_user(work)


if __name__ == "__main__":
    main()
