#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Who pays for the memory that links are made of.

    control group: user namespace of uid 1000, with a network namespace of its own

        [wale] -> d0, a dummy; d1, d2 ...

What the control group is charged for is compared with the same links without what is asked for.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

from wale_lab.selftest import bounds, net
from wale_lab.selftest.pair import MS
from wale_lab.selftest.tap import Skip, main, true
from wale_lab.selftest.wale import Control, scone_action, trace_file

CGROUP = "/sys/fs/cgroup"
FOLDER = f"{CGROUP}/bounds"
STEPS = struct.pack("QQ", MS, 1) * 60_000
TABLE = {"time": MS, "table": [1] * 16384}
SESSIONS = {"arrival": 1, "mean": 3 << 32, "max": 63, "step": MS}
QUOTA = 4096 * 24  # of SCONE: 4096 flows


@contextlib.contextmanager
def control_group() -> Iterator[None]:
    """Be in a control group of one's own."""
    if not os.path.exists(f"{CGROUP}/cgroup.controllers"):
        if not os.path.exists(CGROUP):
            raise Skip("no control groups in this kernel: +san has them")
        net.run(f"mount -t cgroup2 none {CGROUP}")
    net.write(f"{CGROUP}/cgroup.subtree_control", "+memory")
    os.mkdir(FOLDER)
    net.write(f"{FOLDER}/cgroup.procs", "0")
    try:
        yield
    finally:
        net.write(f"{CGROUP}/cgroup.procs", "0")
        os.rmdir(FOLDER)


def charged(count: int, options: Callable[[], dict[str, Any]]) -> int:
    """Return what the control group of a user is charged for so many links."""

    def work() -> int:
        net.ip_batch([f"link add d{number} type dummy" for number in range(count)])
        control = Control()
        asked = [options() for _ in range(count)]
        before = int(net.read(f"{FOLDER}/memory.current"))
        for number, each in enumerate(asked):
            control.add(socket.if_nametoindex(f"d{number}"), each)
        return int(net.read(f"{FOLDER}/memory.current")) - before

    with control_group():
        return bounds.as_user(work)


def pays(size: int, options: Callable[[], dict[str, Any]], without: dict[str, Any]) -> None:
    """A control group is charged for at least so many bytes more than for links without."""
    count = max(1, min(50, (4 << 20) // size))
    took = charged(count, options) - charged(count, lambda: without)
    true(took > 0.9 * count * size, f"{took} bytes for {count} times {size}")


def test_for_a_trace() -> None:
    """Its steps, that came in a file."""
    pays(len(STEPS), lambda: {"trace_fd": trace_file(STEPS)}, {})


def test_for_flows() -> None:
    """A class for each."""
    pays(65534 * 300, lambda: {"flows": 65534}, {})


def test_for_cells() -> None:
    """A place for each in the buffer."""
    switch = {"overhead": 2, "flows": 1}
    pays(2 << 20, lambda: switch | {"limit_cells": 1 << 20}, switch | {"limit_cells": 1000})


def test_for_a_distribution_of_jitter() -> None:
    """Its table."""
    pays(2 * 16384, lambda: {"jitter": TABLE}, {"jitter": {"time": MS}})


def test_for_sessions() -> None:
    """What each number of them does next."""
    pays(8 * 64 * 64, lambda: {"rate": 1, "sessions": SESSIONS}, {"rate": 1})


def test_for_a_breaker() -> None:
    """What it knows of each flow."""
    flows = {"flows": 16384}
    pays(16384 * 40, lambda: flows | {"breaker": {"rate": 1, "after": 1}}, flows)


def test_for_scone() -> None:
    """The flows whose packets were changed, of a link."""
    pays(QUOTA, lambda: {"scone": {"rate": 10**6, "period": 100 * MS}}, {})


def test_for_actions() -> None:
    """The same of an action; only root of the first namespace may have some without a filter."""
    control = Control()
    control.add_action("scone", scone_action(1, 10**6))  # whatever the first one takes along
    with control_group():
        before = int(net.read(f"{FOLDER}/memory.current"))
        for index in range(2, 42):
            control.add_action("scone", scone_action(index, 10**6))
        took = int(net.read(f"{FOLDER}/memory.current")) - before
    for index in range(1, 42):
        control.delete_action("scone", index)
    true(took > 0.9 * 40 * QUOTA, f"{took} bytes for 40 actions of {QUOTA}")


if __name__ == "__main__":
    main()
