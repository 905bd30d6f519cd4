#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""When a trace or sessions start, and traces that come in a file.

Topology: lib/pair.py.  What a link with a start does to packets: testbed/tests/test_accuracy.py.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from wale_lab.selftest import net, netlink
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.tap import Skip, equal, main, true, virtual_time
from wale_lab.selftest.wale import TRACE_STEPS_MAX, new_trace_file, trace_file

S = 10**9
CLONE_NEWTIME = 0x80
TRACE = [(10 * MS, 10**6), (15 * MS, 2 * 10**6), (20 * MS, 3 * 10**6)]
PERIOD = sum(duration for duration, _ in TRACE)
SESSIONS = {"arrival": 1 << 30, "mean": 3 << 32, "max": 3, "step": 10 * MS}


def day_ns() -> int:
    """Return the time of day, in ns since 1970."""
    return time.clock_gettime_ns(time.CLOCK_REALTIME)


def rate_at(ns: int, end: int = 0, trace: Sequence[tuple[int, int]] = TRACE) -> int:
    """Return the rate of a trace so long after its start."""
    if ns < 0:
        return trace[0][1]
    if not end:
        ns %= sum(duration for duration, _ in trace)
    for duration, rate in trace:
        if ns < duration:
            return rate
        ns -= duration
    return trace[-1][1]


def refused(pair: Pair, says: str, **options: Any) -> None:
    """A request is refused for this reason, and the link is as before."""
    before = pair.get().options
    try:
        pair.change(**options)
    except netlink.Refused as error:
        true(says in str(error), f"{error}, and not {says}")
    else:
        raise AssertionError(f"{options} was accepted")
    equal(pair.get().options, before, "options after a refusal")


def test_where_the_trace_is() -> None:
    """Long ago, lately, soon: the rate is that of the trace at the instant of the report."""
    pair = Pair()
    pair.add(rate=10**5, seed=1)
    for ago in (-7 * S, -3, 0, 1, 12 * MS, PERIOD, 10 * PERIOD + 11 * MS, 10**6 * S):
        for end in (0, 1):
            start = day_ns() - ago
            pair.change(trace=TRACE, trace_end=end, start=start)
            qdisc = pair.get()
            equal(qdisc.options["start"], start, "the start")
            since = qdisc.stats["now_ns"] - qdisc.stats["epoch_ns"]
            true(ago <= since < ago + S, f"{since} ns and not {ago} after the start")
            equal(qdisc.stats["rate"], rate_at(since, end), f"{since} ns after the start")
    pair.close()


@virtual_time("it looks in the middle of each step")
def test_before_the_start_the_rate_is_the_first() -> None:
    """Until then at 10^6 bytes/s, whatever was before; a start can be moved."""
    pair = Pair()
    pair.add(rate=10**9, seed=1)
    pair.change(trace=TRACE, start=day_ns() + S)
    equal(pair.stats()["rate"], 10**6, "the rate before the start")
    net.sleep_ns(S - 5 * MS)
    equal(pair.stats()["rate"], 10**6, "the rate just before the start")
    net.sleep_ns(5 * MS + 12 * MS)
    equal(pair.stats()["rate"], 2 * 10**6, "the rate in the second step")
    pair.change(start=day_ns() + S)
    equal(pair.stats()["rate"], 10**6, "the rate when the start was moved")
    pair.change(start=day_ns() - PERIOD - 30 * MS)
    equal(pair.stats()["rate"], 3 * 10**6, "the rate when it was moved into the past")
    pair.change(rate=5 * 10**5)
    true("start" not in pair.get().options, "a constant rate has a start")
    pair.change(trace=TRACE)
    true("start" not in pair.get().options, "a trace that starts now shows a start")
    pair.close()


def test_links_in_step() -> None:
    """Links that are given the same start at different times are at the same point, to the ns."""
    pair = Pair()
    other = pair.b.control()
    dev = pair.b.index("b0")
    for what in ({"trace": TRACE}, {"rate": 10**6, "sessions": SESSIONS}):
        start = day_ns() - 123 * MS
        pair.add(seed=7, start=start, **what)
        net.sleep_ns(77 * MS + 1)
        other.add(dev, {"seed": 7, "start": start, **what})
        equal(pair.stats()["epoch_ns"], other.get(dev).stats["epoch_ns"], "epochs")
        for _ in range(20):
            # reports of the same instant say the same
            one, two = pair.stats(), other.get(dev).stats
            if what.get("trace"):
                for stats in (one, two):
                    since = stats["now_ns"] - stats["epoch_ns"]
                    equal(stats["rate"], rate_at(since), f"{since} ns after the start")
            else:
                step = SESSIONS["step"]
                place = [(s["now_ns"] - s["epoch_ns"]) // step for s in (one, two)]
                if place[0] == place[1]:
                    equal(one["sessions"], two["sessions"], f"sessions in step {place[0]}")
            net.sleep_ns(7 * MS)
        pair.delete()
        other.delete(dev)
    other.close()
    pair.close()


def in_time_namespace(action: Callable[[], None]) -> int:
    """Do something where CLOCK_MONOTONIC is a day ahead; 0, or an error of the kernel."""
    child = os.fork()
    if not child:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWTIME):
            os._exit(ctypes.get_errno())
        net.write("/proc/self/timens_offsets", "monotonic 86400 0")
        inner = os.fork()
        if inner:  # only children are in it
            os._exit(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]))
        try:
            action()
        except BaseException:  # must not go on with the tests
            traceback.print_exc()
            os._exit(255)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_time_namespace_changes_nothing() -> None:
    """The time of day is the same in each, unlike CLOCK_MONOTONIC."""
    pair = Pair()
    start = day_ns() - 12 * MS
    pair.add(trace=TRACE, start=start, seed=1)
    epoch = pair.stats()["epoch_ns"]

    def change() -> None:
        true(time.monotonic_ns() > 86400 * S, "the clock of the namespace")
        pair.change(trace=TRACE, start=start)

    error = in_time_namespace(change)
    found = pair.stats()["epoch_ns"]
    pair.close()
    if error == errno.EINVAL:
        raise Skip("this kernel has no time namespaces")
    equal(error, 0, "a change from the namespace")
    equal(found, epoch, "the epoch")


@virtual_time("it is the clock of the machine that is set")
def test_setting_the_time_of_day() -> None:
    """It moves no link that is there; one that comes later goes by the new time."""
    pair = Pair()
    start = day_ns() - 12 * MS
    pair.add(trace=TRACE, start=start, seed=1)
    epoch = pair.stats()["epoch_ns"]
    before = day_ns()
    time.clock_settime_ns(time.CLOCK_REALTIME, before + 3600 * S)
    try:
        equal(pair.stats()["epoch_ns"], epoch, "the epoch when the time was set")
        equal(pair.get().options["start"], start, "the start when the time was set")
        pair.change(start=start)
        moved = epoch - pair.stats()["epoch_ns"]
        true(abs(moved - 3600 * S) < S, f"the epoch moved by {moved} ns")
    finally:
        time.clock_settime_ns(time.CLOCK_REALTIME, day_ns() - 3600 * S)
    pair.close()


def test_a_start_under_traffic() -> None:
    """Nothing is lost or reordered while the start is moved about."""
    pair = Pair()
    pair.add(trace=TRACE, limit_packets=100_000, delay=20 * MS, seed=3)
    for number in range(100):
        pair.send(10, 200 + number)
        pair.change(start=day_ns() + (number - 50) * 7 * MS)
        if number % 10 == 5:
            pair.change(trace=TRACE, trace_end=1, start=day_ns() - number * MS)
        qdisc = pair.get()
        equal((qdisc.imbalance(), qdisc.imbalance_bytes()), (0, 0), "imbalance")
        net.sleep_ns(MS)
    pair.drain()
    equal(pair.stats()["sent_packets"], pair.sent, "sent")
    received = pair.received()
    if net.several_cpus():
        received.sort()
    equal(received, list(range(pair.sent)), "packets at the receiver")
    pair.close()


def test_starts_that_are_refused() -> None:
    """What has no start, a start too far ahead, a chain with too much behind it."""
    pair = Pair()
    pair.add(rate=10**6, seed=1)
    day = 86400 * S
    refused(pair, "there must be one", start=day_ns())
    refused(pair, "there must be one", rate=10**5, start=day_ns())
    for start in (0, day_ns() + 367 * day, (1 << 64) - 1):
        refused(pair, "at most 366 days", trace=TRACE, start=start)
    ago = 100_001 * SESSIONS["step"]
    refused(pair, "100000 of their steps", sessions=SESSIONS, start=day_ns() - ago)
    pair.change(sessions=SESSIONS, start=day_ns() - ago + 2 * S)
    refused(pair, "there must be one", sessions={}, start=day_ns())
    refused(pair, "100000 of their steps", start=day_ns() - ago)
    pair.change(sessions={})
    true("start" not in pair.get().options, "no sessions, but a start")
    pair.change(trace=TRACE, start=day_ns() + 365 * day)
    pair.close()


def steps(*trace: tuple[int, int]) -> bytes:
    """Return a trace as it is in a file."""
    return b"".join(struct.pack("QQ", *step) for step in trace)


def follows_to_its_end(pair: Pair, data: bytes) -> None:
    """After 30 ms, the link has the rate of the trace in a file, which holds its last one."""
    net.sleep_ns(30 * MS)
    stats = pair.stats()
    trace = [(duration, rate) for duration, rate in struct.iter_unpack("QQ", data)]
    equal(stats["rate"], rate_at(stats["now_ns"] - stats["epoch_ns"], 1, trace), "the rate")


def test_a_trace_in_a_file() -> None:
    """It is read at once: many steps, or one, and what becomes of the file is all the same."""
    pair = Pair()
    pair.add(seed=1)
    for data in (
        steps((MS, 10**6)),
        steps(*TRACE),
        steps(*((MS + k, 1000 + k) for k in range(16 * TRACE_STEPS_MAX))),
    ):
        file = trace_file(data)
        pair.change(trace_fd=file, trace_end=1)
        os.truncate(file, 0)
        os.close(file)
        options = pair.get().options
        equal(options["trace_steps"], len(data) // 16, "steps")
        if len(data) <= 1600:
            equal(steps(*options["trace"]), data, "trace")
        follows_to_its_end(pair, data)
    pair.close()


def test_a_long_trace_in_a_file() -> None:
    """Of the family: it is written in parts, a link takes all of it, and it can be filled again."""
    pair = Pair()
    pair.add(seed=1)
    family = new_trace_file()
    for count in (1, 3, 100_000, 5):
        data = steps(*((MS + k, 1000 + k) for k in range(count)))
        for begin in range(0, len(data), 16 * 7001):
            equal(os.write(family, part := data[begin : begin + 16 * 7001]), len(part), "written")
        refused(pair, "without rate", trace_fd=family, rate=10**5)
        refused(pair, "must be 0 to 1 day", trace_fd=family, delay=1 << 60)
        pair.change(trace_fd=family, trace_end=1)
        options = pair.get().options
        equal(options["trace_steps"], count, "steps")
        if count <= 100:
            equal(steps(*options["trace"]), data, "trace")
        refused(pair, "1 to 16777216 steps", trace_fd=family)
        equal(pair.get().options["trace_steps"], count, "steps that it had")
        follows_to_its_end(pair, data)
    os.close(family)
    pair.close()


def test_steps_that_are_refused() -> None:
    """By the write, which says how many were good; and those that are together no trace."""
    pair = Pair()
    pair.add(rate=10**6, seed=1)
    good = steps(*TRACE)
    for data, number, before in (
        (good[:-1], errno.EINVAL, 0),
        (steps((0, 10**6)), errno.ERANGE, 0),
        (good + steps((86400 * S + 1, 1)), errno.ERANGE, len(good)),
        (good * 50 + steps((MS, 10**15 + 1)), errno.ERANGE, 50 * len(good)),
        (steps(*[(86400 * S, 1)] * 4001), errno.EFBIG, 16 * 4000),
    ):
        file = new_trace_file()
        done = 0
        try:
            while data[done:]:
                done += os.write(file, data[done:])
        except OSError as error:
            equal(error.errno, number, f"error after {done} of {len(data)} bytes")
        equal(done, before, "bytes that were good")
        if not done:
            refused(pair, "1 to 16777216 steps", trace_fd=file)
        os.close(file)
    file = new_trace_file()
    os.write(file, steps((MS, 0), (2 * MS, 0)))
    refused(pair, "a rate above 0", trace_fd=file)
    equal(pair.get().options["rate"], 10**6, "the rate that it had")
    os.close(file)
    pair.close()


def test_files_that_are_refused() -> None:
    """What is no file in memory, no trace, or too long."""
    pair = Pair()
    pair.add(rate=10**6, seed=1)
    refused(pair, "descriptor of the sender", trace_fd=9999)
    refused(pair, "descriptor of the sender", trace_fd=0xFFFFFFFF)
    good = trace_file(steps(*TRACE))
    refused(pair, "not both", trace=TRACE, trace_fd=good)
    refused(pair, "without rate", trace_fd=good, rate=10**5)
    read_end, write_end = os.pipe()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as home:
        files = [
            os.open("/dev/zero", os.O_RDONLY),
            os.open(home, os.O_RDONLY),
            os.open("/proc/self/status", os.O_RDONLY),
            read_end,
            os.open(f"/proc/self/fd/{good}", os.O_WRONLY),
        ]
    for file in files:
        refused(pair, "must be one in memory", trace_fd=file)
    for data, says in (
        (b"", "1 to 65536 steps"),
        (steps(*TRACE)[:-1], "1 to 65536 steps"),
        (steps((0, 10**6)), "each duration"),
        (steps(*TRACE, (86400 * S + 1, 1)), "each duration"),
        (steps((MS, 10**15 + 1)), "each rate"),
        (steps((MS, 0), (2 * MS, 0)), "a rate above 0"),
        (steps(*[(86400 * S, 1)] * 4001), "4000 days"),
    ):
        bad = trace_file(data)
        refused(pair, says, trace_fd=bad)
        os.close(bad)
    bad = trace_file(b"")
    os.truncate(bad, 16 * (65536 + 1))
    refused(pair, "of the family wale", trace_fd=bad)
    for file in (*files, write_end, good, bad):
        os.close(file)
    pair.close()


if __name__ == "__main__":
    main()
