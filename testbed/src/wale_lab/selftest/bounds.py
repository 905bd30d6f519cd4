# SPDX-License-Identifier: GPL-2.0
"""What an unprivileged user can make the kernel do, and how long that takes."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import re
import signal
import socket
import statistics
import struct
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from wale_lab.netlink import (
    NETLINK_ROUTE,
    NLM_F_ACK,
    NLM_F_CREATE,
    NLM_F_EXCL,
    Socket,
    attribute,
)
from wale_lab.selftest import net
from wale_lab.selftest.tap import Skip, in_virtual_time

UID = 1000
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
PR_SET_DUMPABLE = 4

RTM_NEWLINK, IFLA_IFNAME, IFLA_LINKINFO, IFLA_INFO_KIND = 16, 3, 18, 1
#: So long another namespace may wait for a device, whatever a user does in his own.
OTHERS_WAIT_S = 0.1

T = TypeVar("T")


def become_user() -> None:
    """Become an unprivileged user who is root in namespaces of its own."""
    libc = ctypes.CDLL(None, use_errno=True)
    os.setgroups([])
    os.setresgid(UID, UID, UID)
    os.setresuid(UID, UID, UID)
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # or /proc/self were still root's
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    net.write("/proc/self/setgroups", "deny")
    net.write("/proc/self/uid_map", f"0 {UID} 1")
    net.write("/proc/self/gid_map", f"0 {UID} 1")


def _start(
    work: Callable[[], T], stay: bool, leave: Callable[[T], object] | None = None
) -> tuple[int, Any]:
    """Do something as such a user; return the process, which may stay, and the result."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        answer: tuple[bool, object]
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
            become_user()
            made = work()
            answer = (True, None if stay else made)
        except BaseException:  # all of it is told to the parent
            answer = (False, traceback.format_exc())
        with open(writer, "wb") as file:
            pickle.dump(answer, file)
        if stay and answer[0]:
            signal.sigwait([signal.SIGTERM])
            if leave:
                leave(made)
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as file:
        good, value = pickle.load(file)
    if not good:
        os.waitpid(child, 0)
        raise AssertionError(value)
    return child, value


def as_user(work: Callable[[], T]) -> T:
    """Do something as such a user, in a separate process; return the result."""
    child, value = _start(work, stay=False)
    os.waitpid(child, 0)
    result: T = value
    return result


@contextlib.contextmanager
def user_who(work: Callable[[], T], leave: Callable[[T], object] | None = None) -> Iterator[None]:
    """Do something as such a user, keep the user and its result for a while, then leave."""
    child, _ = _start(work, stay=True, leave=leave)
    try:
        yield
    finally:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)


def needs_real_time() -> None:
    """Skip in virtual time, where the kernel's work takes no time."""
    if in_virtual_time():
        raise Skip("needs real time: it measures how long requests take")


def needs_plain_memory() -> None:
    """Skip with KASAN, whose own memory is charged to nobody."""
    if " __asan_" in net.read("/proc/kallsyms"):
        raise Skip("KASAN makes objects larger, and keeps those that are freed")


def durations_s(action: Callable[[], object], times: int, gap_s: float) -> list[float]:
    """Return how long something takes each time, with a pause in between."""
    took = []
    for _ in range(times):
        time.sleep(gap_s)
        start = time.perf_counter()
        action()
        took.append(time.perf_counter() - start)
    return took


def least_s(action: Callable[[], object], times: int = 30, gap_s: float = 0) -> float:
    """Return how long something takes undisturbed: the shortest of several times."""
    return min(durations_s(action, times, gap_s))


def usual_s(action: Callable[[], object], times: int = 41, gap_s: float = 0) -> float:
    """Return how long it usually takes, where the minimum may be chance: the lower quartile."""
    return statistics.quantiles(durations_s(action, times, gap_s))[0]


def _add_device(route: Socket, number: int) -> None:
    """Do what `ip link add` does, without starting it."""
    kind = attribute(IFLA_LINKINFO, attribute(IFLA_INFO_KIND, b"dummy"))
    body = struct.pack("BxHiII", socket.AF_UNSPEC, 0, 0, 0, 0)
    body += attribute(IFLA_IFNAME, f"other{number}".encode() + b"\0") + kind
    route.ask(RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, body)


def others_wait_s(attack: Callable[[], object]) -> float:
    """Return the longest time that another namespace waits for a device meanwhile."""
    ns = net.Namespace("other")
    took: list[float] = []
    with ns.entered():
        route = Socket(NETLINK_ROUTE)
    with ThreadPoolExecutor(1) as pool:
        attacked = pool.submit(as_user, attack)
        while not attacked.done():
            start = time.perf_counter()
            _add_device(route, len(took))
            took.append(time.perf_counter() - start)
            time.sleep(0.005)
        attacked.result()
    ns.delete()
    return max(took)


def others_go_on(attack: Callable[[], object]) -> None:
    """Fail if another namespace has to wait for a device while a user does something."""
    needs_real_time()
    if not net.several_cpus():
        raise Skip("needs two CPUs: one for the user, one for the task that adds devices")
    longest = others_wait_s(attack)
    if longest >= OTHERS_WAIT_S:
        raise AssertionError(f"another namespace waited for {longest:.3f} s")


def longest_gap_s(seconds: float) -> float:
    """Return the longest gap that a process sees which only reads the clock."""
    longest, last = 0.0, time.perf_counter()
    end = last + seconds
    while last < end:
        now = time.perf_counter()
        longest = max(longest, now - last)
        last = now
    return longest


def softirq_share(seconds: float) -> float:
    """Return the share of time that the CPUs spend in softirqs, while this process sleeps."""

    def ticks() -> list[int]:
        return [int(word) for word in net.read("/proc/stat").split("\n")[0].split()[1:8]]

    before = ticks()
    time.sleep(seconds)
    gone = [after - first for first, after in zip(before, ticks(), strict=True)]
    return gone[6] / max(sum(gone), 1)


class MemoryGroup:
    """A control group that counts the memory of its processes and their children."""

    MOUNT = Path("/run/memory-groups")

    def __init__(self, name: str) -> None:
        if not os.path.exists("/sys/fs/cgroup"):
            raise Skip("this kernel has no control groups that count memory (CONFIG_MEMCG)")
        self.MOUNT.mkdir(exist_ok=True)
        if not (self.MOUNT / "cgroup.procs").exists():
            net.run(f"mount -t cgroup2 none {self.MOUNT}")
        if "memory" not in net.read(str(self.MOUNT / "cgroup.controllers")):
            raise Skip("the memory controller is one of cgroup v1 here")
        net.write(str(self.MOUNT / "cgroup.subtree_control"), "+memory")
        self.path = self.MOUNT / name
        self.path.mkdir(exist_ok=True)

    def __enter__(self) -> MemoryGroup:
        net.write(str(self.path / "cgroup.procs"), str(os.getpid()))
        return self

    def __exit__(self, *_: object) -> None:
        net.write(str(self.MOUNT / "cgroup.procs"), str(os.getpid()))

    def charged(self) -> int:
        """Return the bytes charged to it."""
        return int(net.read(str(self.path / "memory.current")))

    def delete(self) -> None:
        """Delete it; it disappears with the last of what its members left behind."""
        self.path.rmdir()


def memory(name: str) -> int:
    """Return a number from /proc/meminfo, in bytes."""
    found = re.search(rf"^{name}: *(\d+) kB", net.read("/proc/meminfo"), re.MULTILINE)
    if not found:
        raise LookupError(name)
    return int(found[1]) * 1024


def taken_and_charged(prepare: Callable[[], T], work: Callable[[T], object]) -> tuple[int, int]:
    """Return the bytes that this takes from the machine, and those charged to the user.

    What exists before, such as devices, is made in `prepare` and not counted.
    """

    def measured() -> tuple[int, int]:
        made = prepare()
        free, charged = memory("MemFree"), group.charged()
        kept = work(made)
        result = free - memory("MemFree"), group.charged() - charged
        del kept
        return result

    group = MemoryGroup("user")
    with group:
        return as_user(measured)
