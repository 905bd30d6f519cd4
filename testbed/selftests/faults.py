#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Every call of the modules below which memory is allocated fails at least once.

The calls come from the text of the modules (lib/faults.py), not from a list.  Each
operation is done with the first, second ... allocation below each call failing, then
with all of them failing.  What is refused has changed nothing, says ENOMEM, and works
when it is asked for again; what is not refused is done.  The last case prints how often
each call failed, and fails if one never did.

Topology: lib/pair.py.  Needs a kernel with the filter of faults (+san).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import socket
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from feedback import RST, SYN, ipv4, tcp
from wale_lab.models import scone
from wale_lab.selftest import net, netlink, rate
from wale_lab.selftest.every import none_of, rest
from wale_lab.selftest.faults import Faults, Site, module_text, sites
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.tap import Skip, equal, kernel_warnings, main, true
from wale_lab.selftest.wale import new_trace_file, scone_action, trace_file

MODULES = ("rate_feedback", "sch_wale", "tcp_ratcp")
SYS_FINIT_MODULE = 313
#: Calls whose name promises an allocation, and why none need fail there.
NEVER = {
    "register_netdevice_notifier": "links the module's own structure into a list",
    "register_qdisc": "links the module's own structure into a list",
    "tcp_register_congestion_control": "links the module's own structure into a list",
    "kvfree_call_rcu": "RCU for one CPU queues the object itself",
    "rht_bucket_nested_insert": "in a table that could not grow, mended before the next request",
}

FULL: dict[str, Any] = {"rate": 10**6, "delay": 50 * MS, "loss": 1 << 28, "seed": 1}
TRACE: dict[str, Any] = {"trace": [(MS, 10**5), (MS, 0)] * 50, "delay": 50 * MS, "seed": 1}
COLUMNS: dict[str, Any] = {"trace": [(MS, 10**5, 9, 1, 5)] * 900, "trace_columns": 15, "seed": 1}
LONG_TRACE: dict[str, Any] = {"trace": [(MS, 10**5), (MS, 0)] * 2000, "seed": 1}
FILED_TRACE: dict[str, Any] = {"trace_fd": trace_file(struct.pack("QQ", MS, 10**5) * 9), "seed": 1}
SESSIONS: dict[str, Any] = {
    "rate": 10**6,
    "sessions": {"arrival": 1 << 30, "mean": 3 << 32, "max": 63, "step": MS},
    "seed": 1,
}
FEEDBACK: dict[str, Any] = {**FULL, "feedback": {"idle": 1000 * MS}}
SWITCH: dict[str, Any] = {"rate": 10**7, "delay": MS, "overhead": 2, "limit_cells": 1000}
SWITCH |= {"policy": 2, "flows": 20, "input_rate": 10**7, "seed": 1}
BURSTS: dict[str, Any] = {"rate": 10**6, "gemodel": {"p": 1 << 28, "r": 1 << 30}, "seed": 1}
BURSTS |= {"jitter": {"time": MS, "table": list(range(3000)), "name": "line", "reordering": 1}}
BURSTS |= {"reorder": 1 << 30, "duplicate": 1 << 30, "corrupt": 1 << 30}
LINKS = {
    "constant": FULL,
    "bursts": BURSTS,
    "switch": SWITCH,
    "trace": TRACE,
    "long trace": LONG_TRACE,
    "trace of columns": COLUMNS,
    "trace in a file": FILED_TRACE,
    "sessions": SESSIONS,
    "feedback": FEEDBACK,
    "scone": {**FULL, "scone": {"of": 0}},
}
#: What a new option allocates is not missed.
REST = rest(*LINKS.values())
SCONE = {"scone": {"rate": 10**6, "period": 10**9}}
LINKS["rest of the contract"] = {"flows": 20, "seed": 1, **SCONE, **REST}
FLOW = {"saddr": "10.0.0.1", "daddr": "10.0.0.2", "sport": 1000, "dport": 5001}
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass
class Operation:
    """Something that a user does, and how to see what it did."""

    module: str
    act: Callable[[], object]
    undo: Callable[[], object]
    state: Callable[[], Any]  # the same, whenever act or undo was done
    exact: Callable[[], Any]  # changes with everything that act or undo does
    #: Without memory it may do less, and not say so: advice is advice, news are lost.
    may_do_less: bool = False
    only: str = ""  # the calls of or to this function; others are for other operations
    most: int = 1000  # allocations that fail alone, the first of each call


class Stage:
    """What the operations are done to."""

    def __init__(self) -> None:
        self.faults = Faults()
        self.pair = Pair()
        rate.prepare(self.pair)
        self.listen()
        self.sites = {name: sites(name, rate.module(name)) for name in MODULES}
        self.failed = {site: 0 for name in MODULES for site in self.sites[name]}

    def listen(self) -> None:
        """Open the channel, and have two listeners: a message is copied for the second."""
        self.channel = rate.channel(self.pair.a)
        self.listeners = [rate.channel(self.pair.a) for _ in range(2)]
        for listener in self.listeners:
            listener.join("paths")
            listener.join("flows")

    def close(self) -> None:
        """Close the channel: its module can go."""
        for channel in (self.channel, *self.listeners):
            channel.close()
        self.listeners = []

    def hear(self) -> None:
        """Take the news from the sockets, or they would be full."""
        for listener in self.listeners:
            with contextlib.suppress(AssertionError):  # some are lost, for want of memory
                listener.events()

    def reset(self) -> None:
        """Have neither links nor paths."""
        if self.links():
            self.pair.delete()
        if self.listeners:
            self.channel.delete()

    def links(self) -> list[Any]:
        """Return the wale links of a0: options and counters."""
        passing = ("rate", "sessions", "published")
        found = []
        for qdisc in self.pair.control.list(self.pair.dev):
            if qdisc.kind == "wale":
                stats = {
                    k: v for k, v in qdisc.stats.items() if "_ns" not in k and k not in passing
                }
                found.append((qdisc.options, stats))
        return found

    def paths(self, *, exact: bool) -> list[dict[str, Any]]:
        """Return the paths; what is in them by chance only if that is wanted."""
        never = {"age", "listeners"}
        unless_exact = {"id", "time", "updates"}
        hidden = never if exact else never | unless_exact
        paths = self.channel.paths()
        return [{k: v for k, v in path.items() if k not in hidden} for path in paths]

    def check(self, operation: Operation, refused: bool, expected: Any, exact: Any) -> None:
        """Compare what there is with what was said about it."""
        self.hear()
        if refused:
            equal(operation.exact(), exact, "refused, and not as before")
            return
        state = operation.state()
        if state != expected:
            true(operation.may_do_less, f"accepted, and not done: {state} is not {expected}")
        operation.undo()

    def fail_at(self, operation: Operation, site: Site, expected: Any) -> None:
        """Do the operation with failures below one call."""
        met = self.faults.count(site.text(), operation.act)
        self.check(operation, False, expected, None)
        for number in range(1, min(met, operation.most) + 1):
            exact = operation.exact()
            with self.faults.below(site.text()):
                _, refused = self.faults.attempt(number, operation.act)
            self.failed[site] += 1
            self.check(operation, refused, expected, exact)
        exact = operation.exact()
        failed, refused = self.faults.all_fail(site.text(), operation.act)
        self.failed[site] += failed
        self.check(operation, refused, expected, exact)

    def exercise(self, **operations: Operation) -> None:
        """Do each operation with failures below each call of its module."""
        for name, operation in operations.items():
            before = operation.state()
            operation.act()
            expected = operation.state()
            self.check(operation, False, expected, None)
            equal(operation.state(), before, f"{name} undone")
            for site in self.sites[operation.module]:
                if site.once or operation.only not in ("", site.callee, site.function):
                    continue
                try:
                    self.fail_at(operation, site, expected)
                except AssertionError as error:
                    raise AssertionError(f"{name}, {site}: {error}") from None
            if not operation.only:
                self.check_complete(name, operation)
            operation.act()
            equal(operation.state(), expected, f"{name} after all failures")
            operation.undo()

    def check_complete(self, name: str, operation: Operation) -> None:
        """Every allocation of the module is below a call that is known.

        Others allocate too: debug objects, KASAN and kmemleak, now and then, and slabs, which
        want new pages at every n-th act.  So there are more looks, each later than the one before,
        of which one must see no allocation but those below known calls.
        """
        others = "rate_feedback" if operation.module == "sch_wale" else ""
        whole = module_text(operation.module)
        calls = [site.text() for site in self.sites[operation.module] if not site.once]
        for look in range(16):
            with self.faults.but_below(others):
                self.count(operation, [whole] * look)
                met = self.count(operation, [whole])
                known = self.count(operation, calls)
            if known >= met:
                return
        raise AssertionError(f"{name}: {met} allocations, and {known} below known calls")

    def count(self, operation: Operation, texts: Sequence[tuple[int, int]]) -> int:
        """Return how many allocations an operation makes below these."""
        met = 0
        for text in texts:
            met += self.faults.count(text, operation.act)
            operation.undo()
            self.hear()
        return met


_stages: list[Stage] = []


def stage() -> Stage:
    """Return the stage of all cases."""
    if not _stages:
        _stages.append(Stage())
    _stages[0].reset()
    return _stages[0]


def but_stacks(lines: Sequence[str]) -> list[str]:
    """Return the lines that tell of trouble, without the stacks of failed allocations.

    Every other report has a line of its own, besides its stack.
    """
    return [line for line in kernel_warnings(lines) if not re.search(r"\[<|Call Trace:", line)]


def nothing() -> None:
    """Do nothing."""


def still(here: Stage) -> Callable[[], Any]:
    """Return what reads the paths, without what is in them by chance."""
    return lambda: here.paths(exact=False)


def test_paths_are_set() -> None:
    """A path is as it was asked for, or as before."""
    here = stage()
    channel = here.channel
    net.ip_batch(["link add followed type dummy"], here.pair.a)
    device = {"ifindex": here.pair.dev}
    kinds: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "device": (device, {"rate": 1}),
        "prefix": ({"daddr": "10.0.0.0", "prefix_len": 8}, {"rate": 1, "lag": "rtt"}),
        "flow": (FLOW, {"rate": 1, "meaning": "link", "lag": "fixed", "lag_time": 1000 * MS}),
        "follower": (FLOW, {"follow": {"ifindex": here.pair.a.index("followed")}}),
    }
    for name, (key, values) in kinds.items():
        make = Operation(
            "rate_feedback",
            lambda key=key, values=values: channel.set(**key, **values),  # type: ignore[misc]
            lambda key=key: channel.delete(**key),  # type: ignore[misc]
            still(here),
            lambda: here.paths(exact=True),
        )
        here.exercise(**{f"make {name}": make})

    def make_device() -> None:
        here.reset()
        channel.set(**device, rate=1)

    make_device()
    changes: dict[str, dict[str, Any]] = {
        "rate": {"rate": 7},
        "settings": {"beta": 7, "lag": "rtt"},
        "follow": {"follow": {"ifindex": here.pair.a.index("followed")}},
    }
    for name, values in changes.items():
        change = Operation(
            "rate_feedback",
            lambda values=values: channel.set(**device, **values),  # type: ignore[misc]
            make_device,
            still(here),
            lambda: here.paths(exact=True),
        )
        here.exercise(**{f"change {name}": change})
    channel.delete()


def test_paths_are_read_and_deleted() -> None:
    """An answer is whole, or there is an error; deletion needs no memory."""
    here = stage()
    channel = here.channel
    channel.set(**FLOW, rate=1)

    def get() -> None:
        equal(channel.get(**FLOW)["rate"], 1, "rate")

    reading = {"get": get, "dump": channel.paths, "flows": channel.flows}
    for name, act in reading.items():
        read = Operation("rate_feedback", act, nothing, still(here), lambda: here.paths(exact=True))
        here.exercise(**{name: read})
    for name, key in {"delete": FLOW, "delete all": {}}.items():
        delete = Operation(
            "rate_feedback",
            lambda key=key: channel.delete(**key),  # type: ignore[misc]
            lambda: channel.set(**FLOW, rate=1),
            still(here),
            lambda: here.paths(exact=True),
        )
        here.exercise(**{name: delete})
    channel.delete()


def test_table_grows() -> None:
    """Many paths at once: each that is accepted is found, whatever the table did."""
    here = stage()
    channel = here.channel
    keys = [{**FLOW, "sport": port} for port in range(1, 400)]
    requests = [rate.encode({**key, "rate": 5}) for key in keys]

    def fill() -> None:
        with contextlib.suppress(netlink.Refused):  # some of them
            channel.many(rate.SET, requests)
        with contextlib.suppress(BlockingIOError):
            while True:
                channel.socket.recv(1 << 17, 0x40)  # errors of single requests

    def found() -> None:
        for path in channel.paths():
            key = {name: path[name] for name in FLOW}
            equal(channel.get(**key)["id"], path["id"], f"path {key}")

    def empty() -> None:
        found()
        channel.delete()
        net.sleep_ns(10 * MS)  # the table shrinks

    operation = Operation(
        "rate_feedback",
        fill,
        empty,
        lambda: sorted(path["sport"] for path in channel.paths()),
        nothing,
        may_do_less=True,
        only="rhashtable_insert_slow",
    )
    here.exercise(fill=operation)


def test_namespaces_are_made() -> None:
    """A namespace has a channel, or is not made."""
    here = stage()

    def make() -> None:
        if _libc.unshare(0x40000000):  # CLONE_NEWNET
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    home = os.open("/proc/self/ns/net", os.O_RDONLY)

    def back() -> None:
        rate.channel().delete()  # there is one
        if _libc.setns(home, 0):
            raise OSError(ctypes.get_errno(), "setns")

    def inode() -> bool:
        return os.fstat(home).st_ino == os.stat("/proc/self/ns/net").st_ino

    for module in ("rate_feedback", "tcp_ratcp", "sch_wale"):
        operation = Operation(module, make, back, inode, inode)
        here.exercise(**{f"namespace, {module}": operation})
    os.close(home)


def test_senders_listen() -> None:
    """A connection that finds no memory for the channel works, without advice."""
    here = stage()
    pair = here.pair
    pair.add(rate=10**6, delay=MS, limit_packets=1000)
    here.channel.set(ifindex=pair.dev, rate=10**5)
    senders: list[rate.Sender] = []

    def connect() -> None:
        senders.append(rate.Sender(pair))
        senders[-1].step(0.05)

    def close() -> None:
        sender = senders.pop()
        true(sender.received > 0, "the connection carried nothing")
        sender.close()

    operation = Operation(
        "rate_feedback",
        connect,
        close,
        lambda: [flow["congestion"] for flow in here.channel.flows()],
        nothing,
        may_do_less=True,
    )
    here.exercise(connect=operation)
    equal(here.channel.flows(), [], "flows that are left")
    pair.delete()
    here.channel.delete()


def test_links_are_added() -> None:
    """A link is there as it was asked for, or not at all."""
    here = stage()
    pair = here.pair
    for name, options in LINKS.items():
        for module in ("sch_wale", "rate_feedback"):
            operation = Operation(
                module,
                lambda options=options: pair.add(**options),  # type: ignore[misc]
                pair.delete,
                here.links,
                lambda: (here.links(), here.paths(exact=True)),
            )
            here.exercise(**{f"add {name}, {module}": operation})


def test_links_are_changed() -> None:
    """A link that carried packets is as it was, or as it should be; its counters stay."""
    here = stage()
    pair = here.pair
    base: dict[str, Any] = {"rate": 10**7, "delay": MS, "loss": 0, "seed": 9}
    base |= {"sessions": {}, "feedback": {}}
    base |= {"jitter": {"time": 0, "table": [], "reordering": 0}}
    base |= {"reorder": 0, "duplicate": 0, "corrupt": 0, **none_of({**SCONE, **REST})}
    base |= {"overhead": 0, "limit_packets": 1000, "policy": 0, "flows": 20}
    pair.add(**base)
    pair.send(20)
    pair.send_gso(3)
    pair.drain()
    for name, options in LINKS.items():
        for module in ("sch_wale", "rate_feedback"):
            for verb in (pair.change, pair.control.replace):
                words = (pair.dev, options) if verb == pair.control.replace else ()
                more = {} if words else options
                operation = Operation(
                    module,
                    lambda verb=verb, words=words, more=more: verb(*words, **more),  # type: ignore[misc]
                    lambda: pair.change(**base),
                    here.links,
                    lambda: (here.links(), here.paths(exact=True)),
                )
                here.exercise(**{f"{verb.__name__} {name}, {module}": operation})
    pair.delete()
    pair.received()


def test_long_traces_are_handed_over() -> None:
    """Steps are in the file, or the write says no; a link has all of them, or none."""
    here = stage()
    pair = here.pair
    pair.add(rate=10**6, seed=1)
    data = struct.pack("QQ", MS, 10**5) * 5000  # some pieces of memory

    def hand_over() -> None:
        file = new_trace_file()
        try:
            done = 0
            while done < len(data):
                done += os.write(file, data[done:])
            pair.change(trace_fd=file)
        finally:
            os.close(file)

    change = Operation(
        "sch_wale",
        hand_over,
        lambda: pair.change(rate=10**6),
        here.links,
        here.links,
    )
    here.exercise(**{"a trace of the family": change})
    pair.delete()


def test_packets_are_split() -> None:
    """A GSO packet that cannot be split is dropped, and counted as such."""
    here = stage()
    pair = here.pair
    pair.add(rate=10**7, feedback={"idle": 1000 * MS})

    def balance() -> tuple[int, int, int]:
        link = pair.get()
        held = link.stats["line_packets"] + link.stats["backlog_packets"]
        return link.imbalance(), link.imbalance_bytes(), held

    split = Operation(
        "sch_wale", lambda: pair.send_gso(10), pair.drain, lambda: (0, 0, 0), lambda: (0, 0, 0)
    )
    here.exercise(split=split)
    pair.drain()
    equal(balance(), (0, 0, 0), "imbalance in packets and bytes; held")
    dropped = pair.stats()["dropped_memory_packets"]
    true(dropped > 0, "no drop for want of memory")
    equal(len(pair.received()), pair.stats()["sent_packets"], "packets at the receiver")
    pair.delete()


def test_packets_are_copied_and_damaged() -> None:
    """Without memory there is no copy, or no damage, and it is not counted; parents are told."""
    here = stage()
    pair = here.pair

    def act() -> None:
        pair.send(3, 500)
        pair.send_gso(20)  # whose data are not where bits can be turned
        pair.drain()

    for fix in (0, 1):
        pair.add(duplicate=(1 << 32) - 1, corrupt=(1 << 32) - 1, corrupt_fix=fix, seed=1)
        copies = Operation("sch_wale", act, nothing, lambda: (0, 0, 0), lambda: (0, 0, 0))
        here.exercise(**{f"copies, corrupt_fix {fix}": copies})
        link = pair.get()
        equal((link.imbalance(), link.imbalance_bytes()), (0, 0), "imbalance in packets and bytes")
        equal((link.qlen, link.backlog), (0, 0), "qlen and backlog of an empty link")
        stats = link.stats
        for name in ("duplicated", "corrupted"):
            count = stats[f"{name}_packets"]
            true(0 < count < stats["offered_packets"], f"{name}: {count}")
        pair.delete()
        pair.received()


def test_links_publish() -> None:
    """A link whose rate changes publishes it, with less history if need be."""
    here = stage()
    pair = here.pair
    rates = [10**6 + step for step in range(6)]

    def make() -> None:
        here.reset()
        pair.add(**FEEDBACK)

    def publish() -> None:
        for value in rates:
            pair.change(rate=value)
            net.sleep_ns(MS)  # events are sent by a worker

    make()
    operation = Operation(
        "rate_feedback",
        publish,
        make,
        lambda: here.paths(exact=False),
        nothing,
    )
    here.exercise(publish=operation)
    pair.delete()


def test_links_count_flows() -> None:
    """A link that finds no memory for more flows counts those that it had room for."""
    here = stage()
    pair = here.pair
    pair.add(**FEEDBACK)
    flows = range(1, 400)  # more than a block of them

    def send(flags: int) -> None:
        for port in flows:
            net.send(pair.socket, "a0", ipv4(tcp(flags, port=port)))
        pair.drain()

    operation = Operation(
        "sch_wale",
        lambda: send(SYN),
        lambda: send(RST),
        lambda: pair.stats()["active_flows"],
        nothing,
        may_do_less=True,
        only="wale_feedback_see",
        most=3,
    )
    here.exercise(flows=operation)
    pair.delete()


def test_scone_packets_are_written() -> None:
    """A SCONE packet that there is no memory to make writable stays as it is."""
    here = stage()
    pair = here.pair
    pair.add(rate=10**7, gso=1, scone={"rate": 10**6, "period": 100 * MS})
    segments = b"".join((scone.packet() + b"\x40").ljust(1000, b"\0") for _ in range(4))
    pair.udp.setsockopt(socket.IPPROTO_UDP, net.UDP_SEGMENT, 1000)

    def send() -> None:
        pair.udp.send(segments)  # not linear: what is behind the headers is in pages
        pair.drain()

    operation = Operation(
        "sch_wale",
        send,
        lambda: net.sleep_ns(200 * MS),  # and the flow has its quota again
        lambda: pair.stats()["scone_malformed"],
        nothing,
        may_do_less=True,
        only="skb_ensure_writable",
    )
    here.exercise(scone=operation)
    pair.udp.setsockopt(socket.IPPROTO_UDP, net.UDP_SEGMENT, 0)
    pair.delete()


def test_actions_are_made() -> None:
    """An action scone is there as it was asked for, or not at all."""
    here = stage()
    control = here.pair.control

    def there() -> list[bool]:
        return [struct.pack("=Q", 10**6) in body for body in control.actions("scone")]

    operation = Operation(
        "sch_wale",
        lambda: control.add_action("scone", scone_action(7, 10**6)),
        lambda: control.delete_action("scone", 7),
        there,
        there,
    )
    here.exercise(action=operation)


def test_links_wait_for_the_channel() -> None:
    """A link with feedback asks for a channel that is not there; it may not find memory to."""
    here = stage()
    here.close()
    net.run("rmmod tcp_ratcp")
    net.run("rmmod rate_feedback")

    def add() -> None:
        here.pair.add(**FEEDBACK)
        net.sleep_ns(10 * MS)  # the module is asked for by a worker

    operation = Operation(
        "sch_wale",
        add,
        here.pair.delete,
        here.links,
        here.links,
        only="__request_module",
        most=2,  # each of them starts modprobe
    )
    here.exercise(wait=operation)


def insert_module(name: str) -> None:
    """Load a module, by a system call of this task."""
    with open(rate.module(name), "rb") as file:
        if _libc.syscall(SYS_FINIT_MODULE, file.fileno(), b"", 0):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


def test_modules_are_loaded() -> None:
    """A module that finds no memory is not there; it is when it is loaded again."""
    here = stage()

    def loaded() -> list[str]:
        names = [line.split()[0] for line in net.read("/proc/modules").splitlines()]
        return sorted(names)

    for name in ("rate_feedback", "tcp_ratcp", "sch_wale"):
        if name in loaded():
            net.run(f"rmmod {name}")
        operation = Operation(
            name,
            lambda name=name: insert_module(name),  # type: ignore[misc]
            lambda name=name: net.run(f"rmmod {name}"),  # type: ignore[misc]
            loaded,
            loaded,
            most=12,
        )
        for site in here.sites[name]:
            if site.once and site.callee not in NEVER:
                here.fail_at(operation, site, sorted([*loaded(), name]))
        insert_module(name)


def test_nothing_is_left_of_it() -> None:
    """The modules can go: no reference was lost."""
    here = stage()
    here.pair.close()
    for name in ("tcp_ratcp", "sch_wale", "rate_feedback"):
        net.wait_for(
            lambda name=name: not net.run(f"rmmod {name}", check=False),  # type: ignore[misc]
            f"{name} not in use",
            limit_s=5,
        )


def test_each_call_has_failed() -> None:
    """The table: each call below which the modules allocate, and how often it failed."""
    if not _stages:
        raise Skip("no call was made to fail")
    failed = _stages[0].failed
    for site, count in failed.items():
        print(f"# {count:6d}  {site}", f"({NEVER[site.callee]})" if site.callee in NEVER else "")
    never = [str(site) for site in failed if not failed[site] and site.callee not in NEVER]
    equal(never, [], "calls that never failed")


if __name__ == "__main__":
    chosen = [globals()[f"test_{name}"] for name in sys.argv[1:]]
    main(chosen or None, but_stacks)
