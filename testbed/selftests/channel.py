#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The channel's contract: what may be said, what is refused, and who may say it.

Topology: lib/pair.py.  The client is lib/rate.py, from the specification alone.
"""

from __future__ import annotations

import ctypes
import errno
import os
import random
import socket
import struct
import subprocess
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

from wale_lab.selftest import net, netlink, rate
from wale_lab.selftest.pair import Pair
from wale_lab.selftest.rate import S, channel, refused
from wale_lab.selftest.tap import Skip, equal, main, true

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
DAY = 86400 * S
FLOW = {"saddr": "10.0.0.1", "daddr": "10.0.0.2", "sport": 1000, "dport": 5001}
FLOW6 = {"saddr": "fd00::1", "daddr": "fd00::2", "sport": 1000, "dport": 5001}
DEFAULTS = {
    "meaning": "share",
    "layer": "ip",
    "flows": 1,
    "publisher": 0,
    "updates": 1,
    "lag": "now",
    "age_limit": 0,
    "beta": 1,
    "swing": 0,
    "phi": 1_100_000,
    "rise": "fast",
    "pace": 0,
    "base_rtt": 0,
    "listeners": 0,
}
_libc = ctypes.CDLL(None, use_errno=True)


def still(path: dict[str, Any]) -> dict[str, Any]:
    """Return what of a path does not change by itself."""
    return {name: value for name, value in path.items() if name != "age"}


def test_round_trip() -> None:
    """What is set is what is shown, at both edges of each attribute; the rest stays."""
    pair = Pair()
    ch = channel(pair.a)
    before = rate.time_ns()
    ch.set(ifindex=pair.dev, rate=1)
    path = ch.get(ifindex=pair.dev)
    true(before <= path["time"] <= rate.time_ns(), "time is when it was set")
    expected = {"id": path["id"], "ifindex": pair.dev, "rate": 1, "time": path["time"], **DEFAULTS}
    equal(still(path), expected, "a new path")
    edges: list[dict[str, Any]] = [
        {"rate": 0},
        {"rate": rate.UNLIMITED},
        {"age_limit": DAY},
        {"age_limit": 1},
        {"age_limit": 0},
        {"lag": "fixed", "lag_time": 0},
        {"lag": "fixed", "lag_time": DAY},
        {"lag_time": 5},
        {"beta": 0},
        {"beta": 10**6},
        {"swing": 100},
        {"swing": 0},
        {"phi": 1_001_000},
        {"phi": 10**9},
        {"base_rtt": 60 * S},
        {"base_rtt": 1},
        {"pace": 1},
        {"pace": 0},
        *({"rise": rise} for rise in rate.RISE),
        *({"layer": layer} for layer in rate.LAYER),
        *({"meaning": meaning} for meaning in rate.MEANING),
    ]
    for change in edges:
        ch.set(ifindex=pair.dev, **change)
        shown = ch.get(ifindex=pair.dev)
        expected |= change
        if change.keys() & {"rate", "meaning", "layer"}:  # its value
            count = {name: shown[name] for name in ("updates", "time")}
            true(count["updates"] == expected["updates"] + 1, f"updates after {change}")
            expected |= count
        equal(still(shown), expected, f"after {change}")
    ch.set(ifindex=pair.dev, lag="rtt")
    true("lag_time" not in ch.get(ifindex=pair.dev), "lag rtt with a lag-time")
    pair.close()


def test_all_at_once() -> None:
    """A new path may be given everything in one request."""
    pair = Pair()
    ch = channel(pair.a)
    whole = {
        "rate": 10**15,
        "meaning": "link",
        "time": 12345,
        "age_limit": S,
        "lag": "fixed",
        "lag_time": S // 5,
        "beta": 7,
        "swing": 50,
        "phi": 2 * 10**6,
        "rise": "additive",
        "pace": 1,
        "base_rtt": S // 10,
        "layer": "atm",
    }
    ch.set(**FLOW6, **whole)
    path = still(ch.get(**FLOW6))
    equal(path, {"id": path["id"], **FLOW6, **DEFAULTS, **whole}, "path")
    pair.close()


def test_kinds_of_keys() -> None:
    """Device, prefixes and flows are different paths; a name means one thing, however written."""
    pair = Pair()
    ch = channel(pair.a)
    keys: list[dict[str, Any]] = [
        {"ifindex": pair.dev},
        {"daddr": "0.0.0.0", "prefix_len": 0},
        {"daddr": "::", "prefix_len": 0},
        {"daddr": "10.0.0.0", "prefix_len": 8},
        {"daddr": "10.0.0.0", "prefix_len": 24},
        {"daddr": "10.0.0.0", "prefix_len": 32},
        {"daddr": "10.0.0.2", "prefix_len": 32},
        {"daddr": "fd00::", "prefix_len": 8},
        {"daddr": "fd00::", "prefix_len": 127},
        {"daddr": "fd00::2", "prefix_len": 128},
        {"daddr": "a00::", "prefix_len": 8},
        FLOW,
        {**FLOW, "sport": 1001},
        {**FLOW, "sport": 5001, "dport": 1000},
        {**FLOW, "saddr": "10.0.0.2", "daddr": "10.0.0.1"},
        FLOW6,
        {**FLOW6, "dport": 65535},
    ]
    for number, key in enumerate(keys):
        ch.set(rate=number + 1, **key)
    for number, key in enumerate(keys):
        path = ch.get(**key)
        equal({name: path.get(name) for name in key}, key, "key")
        equal(path["rate"], number + 1, f"rate of {key}")
        equal([name for name in rate.KEYS if name in path], [n for n in rate.KEYS if n in key], "")
    paths = ch.paths()
    equal([path["rate"] for path in paths], list(range(1, len(keys) + 1)), "dump, by age")
    equal(len({path["id"] for path in paths}), len(keys), "ids")

    same: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"daddr": "10.0.0.2"}, {"daddr": "10.0.0.2", "prefix_len": 32}),
        ({"daddr": "fd00::2"}, {"daddr": "fd00::2", "prefix_len": 128}),
        ({"daddr": "::ffff:10.0.0.2"}, {"daddr": "10.0.0.2"}),
        ({"daddr": "::ffff:10.0.0.0", "prefix_len": 120}, {"daddr": "10.0.0.0", "prefix_len": 24}),
        ({"daddr": "::ffff:0:0", "prefix_len": 96}, {"daddr": "0.0.0.0", "prefix_len": 0}),
        ({**FLOW, "saddr": "::ffff:10.0.0.1", "daddr": "::ffff:10.0.0.2"}, FLOW),
        ({**FLOW, "saddr": "::ffff:10.0.0.1"}, FLOW),
    ]
    for one, other in same:
        equal(ch.get(**one)["id"], ch.get(**other)["id"], f"{one} is {other}")
    pair.close()


def test_numbers() -> None:
    """What is changed keeps its number; what is created has one that no other had."""
    pair = Pair()
    ch = channel(pair.a)
    ch.set(rate=1, **FLOW)
    number = ch.get(**FLOW)["id"]
    ch.set(rate=3, **FLOW)
    equal((ch.get(**FLOW)["rate"], ch.get(**FLOW)["id"]), (3, number), "rate and id")
    ch.delete(**FLOW)
    ch.set(rate=4, **FLOW)
    true(ch.get(**FLOW)["id"] > number, "a new path has the number of an old one")
    pair.close()


def refusals(pair: Pair) -> list[tuple[int, str, dict[str, Any]]]:
    """Return requests that must be refused: error, what is said, attributes."""
    dev = {"ifindex": pair.dev}
    now = {"time": rate.time_ns()}
    one, all_of = "a path is named by one of", "a flow is named by all of"
    family, beyond = "of one family, and no port 0", "beyond prefix-len must be 0"
    length, fixed = "4 or 16 bytes", "lag fixed and lag-time belong together"
    key: list[tuple[int, str, dict[str, Any]]] = [
        (errno.EINVAL, one, {}),
        (errno.EINVAL, one, {"prefix_len": 8}),
        (errno.EINVAL, one, {**dev, "daddr": "10.0.0.2"}),
        (errno.EINVAL, one, {**dev, "prefix_len": 8}),
        (errno.EINVAL, one, {**dev, "sport": 1}),
        (errno.EINVAL, one, {**dev, **FLOW}),
        *(
            (errno.EINVAL, all_of, {k: v for k, v in FLOW.items() if k != name})
            for name in FLOW
            if name != "saddr"
        ),
        (errno.EINVAL, all_of, {k: v for k, v in FLOW.items() if k != "saddr"}),
        (errno.EINVAL, all_of, {"saddr": "10.0.0.1"}),
        (errno.EINVAL, all_of, {"sport": 1}),
        (errno.EINVAL, all_of, {"dport": 1, "daddr": "10.0.0.2"}),
        (errno.EINVAL, all_of, {**FLOW, "prefix_len": 32}),
        (errno.EINVAL, family, {**FLOW, "daddr": "fd00::2"}),
        (errno.EINVAL, family, {**FLOW, "saddr": "fd00::2"}),
        (errno.EINVAL, family, {**FLOW, "sport": 0}),
        (errno.EINVAL, family, {**FLOW6, "dport": 0}),
        *((errno.EINVAL, length, {"daddr": bytes(n)}) for n in (0, 1, 3, 5, 8, 15)),
        (errno.ERANGE, "", {"daddr": bytes(17)}),
        (errno.EINVAL, length, {**FLOW, "saddr": bytes(6)}),
        (errno.ERANGE, "ifindex must be 1 to 2147483647", {"ifindex": 0}),
        (errno.ERANGE, "ifindex must be 1 to 2147483647", {"ifindex": 1 << 31}),
        (errno.ERANGE, "prefix-len must be 0 to 32", {"daddr": "10.0.0.0", "prefix_len": 33}),
        (errno.ERANGE, "", {"daddr": "fd00::", "prefix_len": 129}),
        (errno.EINVAL, beyond, {"daddr": "10.0.0.2", "prefix_len": 24}),
        (errno.EINVAL, beyond, {"daddr": "10.0.0.2", "prefix_len": 0}),
        (errno.EINVAL, beyond, {"daddr": "fd00::2", "prefix_len": 126}),
        (errno.EINVAL, beyond, {"daddr": "::ffff:10.0.0.2", "prefix_len": 120}),
        (errno.ERANGE, "96 to 128", {"daddr": "::ffff:10.0.0.0", "prefix_len": 24}),
        (errno.ERANGE, "96 to 128", {"daddr": "::ffff:0:0", "prefix_len": 0}),
    ]
    value: list[tuple[int, str, dict[str, Any]]] = [
        (errno.EINVAL, "must come with rate", {**now}),
        (errno.ERANGE, "must not lie in the future", {"rate": 1, "time": now["time"] + 3600 * S}),
        (errno.ERANGE, "must not lie in the future", {"rate": 1, "time": rate.UNLIMITED}),
        (errno.ERANGE, "nor before the last change", {"rate": 1, "time": 1}),
        (errno.ERANGE, "age-limit must be 0 to 1 day", {"age_limit": DAY + 1}),
        (errno.ERANGE, "lag-time must be 0 to 1 day", {"lag": "fixed", "lag_time": DAY + 1}),
        (errno.EINVAL, fixed, {"lag": "fixed"}),
        (errno.EINVAL, fixed, {"lag": "now", "lag_time": 1}),
        (errno.EINVAL, fixed, {"lag": "rtt", "lag_time": 1}),
        (errno.EINVAL, fixed, {"lag_time": 1}),
        (errno.ERANGE, "beta must be 0 to 1000000", {"beta": 10**6 + 1}),
        (errno.ERANGE, "beta must be 0 to 1000000", {"beta": (1 << 32) - 1}),
        (errno.ERANGE, "swing must be 0 (off) to 100 percent", {"swing": 101}),
        # the next would be 50 if it were cut to a byte
        (errno.ERANGE, "swing must be 0 (off) to 100 percent", {"swing": 256 + 50}),
        (errno.ERANGE, "phi must be 1.001 to 1000", {"phi": 1_000_999}),
        (errno.ERANGE, "phi must be 1.001 to 1000", {"phi": 10**9 + 1}),
        (errno.ERANGE, "base-rtt must be 0", {"base_rtt": 60 * S + 1}),
        (errno.ERANGE, "base-rtt must be 0", {"base_rtt": rate.UNLIMITED}),
        (errno.ERANGE, "", {"meaning": 3}),
        (errno.ERANGE, "", {"lag": 3}),
        (errno.ERANGE, "", {"rise": 2}),
        (errno.ERANGE, "", {"pace": 2}),
        (errno.ERANGE, "", {"layer": 4}),
        (errno.EINVAL, "or follows another, not both", {"rate": 1, "follow": {"ifindex": 1}}),
        (errno.EINVAL, "or follows another, not both", {"layer": 1, "follow": {"ifindex": 1}}),
        (errno.EINVAL, "follow needs the ifindex", {"follow": {}}),
        (errno.ERANGE, "ifindex must be 1", {"follow": {"ifindex": 0}}),
        (errno.ERANGE, "ifindex must be 1", {"follow": {"ifindex": 1 << 31}}),
        (errno.ELOOP, "cannot follow itself", {"follow": {"ifindex": pair.dev}}),
        (errno.EBADF, "netns-fd must be", {"follow": {"ifindex": 1, "netns_fd": 10**6}}),
        (errno.EINVAL, "netns-fd must be", {"follow": {"ifindex": 1, "netns_fd": 0}}),
        *((errno.EINVAL, "", {name: b""}) for name in ("rate", "time", "beta", "lag", "meaning")),
        (errno.EINVAL, "", {"rate": bytes(4)}),
        (errno.EINVAL, "", {"beta": bytes(8)}),
        (errno.EINVAL, "", {"swing": bytes(1)}),
        *((errno.EINVAL, "", {name: bytes(4)}) for name in ("id", "flows", "publisher")),
    ]
    whole = [(code, text, {"rate": 5, "beta": 9, **values}) for code, text, values in key]
    return whole + [(code, text, {**dev, **values}) for code, text, values in value]


def fails(pair: Pair, code: int, text: str, values: dict[str, Any]) -> str:
    """Return what is wrong with the answer to a request; and fail if it changed anything."""
    ch = channel(pair.a)
    before = [still(path) for path in ch.paths()]
    ch.join("paths")
    try:
        refused(code, text, ch.set, **values)
        problem = ""
    except AssertionError as error:
        problem = str(error)
    if not problem:
        equal(ch.news(), [], f"events after refusing {values}")
        equal([still(path) for path in channel(pair.a).paths()], before, f"paths after {values}")
    ch.close()
    return problem


def test_refusals() -> None:
    """What is refused says why, changes nothing and tells nobody."""
    pair = Pair()
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=7)
    problems = [fails(pair, *case) for case in refusals(pair)]
    problems = [problem for problem in problems if problem]
    true(not problems, f"{len(problems)}: " + "; ".join(problems))
    refused(errno.ENODEV, "no device has this ifindex", ch.set, ifindex=9999, rate=1)
    refused(errno.ENOENT, "a new one needs rate or follow", ch.set, beta=3, **FLOW)
    refused(errno.ENOENT, "a new one needs rate or follow", ch.set, **FLOW)
    for name in ("meaning", "layer"):
        refused(errno.ENOENT, "needs rate or follow", ch.set, **FLOW, **{name: 1})
    equal(len(ch.paths()), 1, "paths")
    pair.close()


def test_refusals_of_others() -> None:
    """get and del take a key and nothing else; a dump takes none."""
    pair = Pair()
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=7)
    for action in (ch.get, ch.delete):
        refused(errno.ENOENT, "there is no such path", action, **FLOW)
        refused(errno.ENOENT, "there is no such path", action, ifindex=pair.dev + 1)
        refused(errno.EINVAL, "is named by", action, sport=4, ifindex=pair.dev)
        refused(errno.EINVAL, "", action, ifindex=pair.dev, rate=7)
        refused(errno.ERANGE, "", action, daddr="fd00::", prefix_len=129)
    refused(errno.EINVAL, "a path is named by one of", ch.get)
    refused(errno.EINVAL, "takes no key", ch.dump, rate.GET, rate.encode({"ifindex": pair.dev}))
    refused(errno.EINVAL, "", ch.dump, rate.FLOW_GET, rate.encode({"id": 1}, rate.FLOW))
    refused(errno.EINVAL, "", ch.dump, rate.FLOW_GET, netlink.attribute(8, b"\1"))
    refused(errno.EOPNOTSUPP, "", ch.request, 5)
    refused(errno.EOPNOTSUPP, "", ch.request, rate.FLOW_GET)
    refused(errno.EOPNOTSUPP, "", ch.dump, rate.SET)
    equal(ch.get(ifindex=pair.dev)["rate"], 7, "rate")
    pair.close()


def test_delete_all() -> None:
    """Without a key all paths go; each is told of, in order."""
    pair = Pair()
    ch, ear = channel(pair.a), channel(pair.a)
    for number in range(1, 51):
        ch.set(daddr=f"10.1.{number}.0", prefix_len=24, rate=number)
    ear.join("paths")
    ch.delete()
    equal(ch.paths(), [], "paths")
    news = ear.news()
    equal([(c, p["rate"]) for c, p in news], [(rate.PATH_DEL_NTF, n) for n in range(1, 51)], "")
    ch.delete()
    equal(ear.news(), [], "events of deleting nothing")
    pair.close()


def paths_of(sender: rate.Sender, ch: rate.Channel) -> int | None:
    """Return which path a sender listens to, after an acknowledgment."""
    sender.step(0.25)
    number: int | None = ch.flow(sender.sport).get("path")
    return number


def check_precedence(pair: Pair, sender: rate.Sender, keys: list[dict[str, Any]]) -> None:
    """Keys from the least specific to the most: the last one that exists counts."""
    ch = channel(pair.a)
    equal(paths_of(sender, ch), None, "path of none")
    ids = []
    for number, key in enumerate(keys):
        ch.set(rate=10**5 + number, **key)
        ids.append(ch.get(**key)["id"])
        equal(paths_of(sender, ch), ids[-1], f"after setting {key}")
        equal(ch.flow(sender.sport)["rate"], 10**5 + number, "rate in use")
    equal([path["listeners"] for path in ch.paths()], [0] * (len(keys) - 1) + [1], "listeners")
    for key in reversed(keys[1:]):
        ch.delete(**key)
        ids.pop()
        equal(paths_of(sender, ch), ids[-1], f"after deleting {key}")
    ch.delete()
    for key in reversed(keys):
        ch.set(rate=10**5, **key)
    equal(paths_of(sender, ch), ch.get(**keys[-1])["id"], "when set in the other order")
    ch.delete()
    equal(paths_of(sender, ch), None, "path of none, in the end")
    flow = ch.flow(sender.sport)
    equal((flow["phase"], flow["rate_window"], flow["rate"]), ("reno", 0, 0), "without a path")
    ch.close()
    sender.close()


def test_precedence() -> None:
    """Flow, then the longest prefix, then the device: IPv4, IPv6, and IPv4 in IPv6 sockets."""
    pair = Pair()
    rate.prepare(pair)
    rate.ipv6(pair)
    rate.slow_link(pair, delay_ms=10)
    ch = channel(pair.a)
    v4 = [{"ifindex": pair.dev}] + [
        {"daddr": daddr, "prefix_len": length}
        for daddr, length in (
            ("0.0.0.0", 0), ("0.0.0.0", 1), ("10.0.0.0", 8), ("10.0.0.0", 30), ("10.0.0.2", 31),
            ("10.0.0.2", 32),
        )
    ]  # fmt: skip
    v6 = [{"ifindex": pair.dev}] + [
        {"daddr": daddr, "prefix_len": length}
        for daddr, length in (
            ("::", 0), ("8000::", 1), ("fd00::", 32), ("fd00::", 33), ("fd00::", 64),
            ("fd00::", 65), ("fd00::2", 127), ("fd00::2", 128),
        )
    ]  # fmt: skip
    others: list[dict[str, Any]] = [
        {"daddr": "10.0.0.3"},
        {"daddr": "11.0.0.0", "prefix_len": 8},
        {"daddr": "fd00::3"},
        {"daddr": "fe00::", "prefix_len": 8},
        {**FLOW, "sport": 1},
        {**FLOW6, "sport": 1},
    ]
    mapped = ("::ffff:10.0.0.1", "::ffff:10.0.0.2")
    for family, ends, keys in (
        (socket.AF_INET, ("10.0.0.1", "10.0.0.2"), v4),
        (socket.AF_INET6, rate.V6, v6),
        (socket.AF_INET6, mapped, [*v4[:1], *v4[1:]]),
    ):
        ch.delete()
        for other in others:
            ch.set(rate=1, **other)
        for other in others:
            ch.delete(**other)
        sender = rate.Sender(pair, family=family, addresses=ends)
        flow = {"saddr": ends[0], "daddr": ends[1], "sport": sender.sport, "dport": 5001}
        check_precedence(pair, sender, [*keys, flow])
    pair.close()


def test_other_paths_do_not_count() -> None:
    """Paths beside a socket's own are not its; IPv4's and IPv6's prefixes are apart."""
    pair = Pair()
    rate.prepare(pair)
    rate.slow_link(pair, delay_ms=10)
    net.ip_batch(["link add other type dummy", "link set other up"], pair.a)
    ch = channel(pair.a)
    sender = rate.Sender(pair)
    flow = {"saddr": "10.0.0.1", "daddr": "10.0.0.2", "sport": sender.sport, "dport": 5001}
    beside: list[dict[str, Any]] = [
        {"ifindex": pair.a.index("other")},
        {"daddr": "10.0.0.3"},
        {"daddr": "10.0.0.1"},
        {"daddr": "11.0.0.0", "prefix_len": 8},
        {"daddr": "::", "prefix_len": 0},
        {"daddr": "a00:2::"},
        {**flow, "sport": sender.sport ^ 1},
        {**flow, "dport": 5002},
        {**flow, "saddr": "10.0.0.2"},
        {**flow, "daddr": "10.0.0.1"},
        {"saddr": "10.0.0.2", "daddr": "10.0.0.1", "sport": 5001, "dport": sender.sport},
    ]
    for key in beside:
        ch.set(rate=1, **key)
        equal(paths_of(sender, ch), None, f"path with {key}")
    sender.close()
    pair.close()


def in_child(action: Callable[[], None]) -> None:
    """Run something in a process of its own; fail as it does."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            action()
            os.write(writer, b"ok")
        except BaseException:  # told to the parent
            os.write(writer, traceback.format_exc()[-2000:].encode())
        os._exit(0)
    os.close(writer)
    said = b""
    while part := os.read(reader, 4096):
        said += part
    os.close(reader)
    os.waitpid(child, 0)
    true(said == b"ok", said.decode())


def unshare(flags: int) -> None:
    """Leave namespaces, as user 1000 who is root in a new user namespace."""
    if _libc.unshare(flags):
        raise OSError(ctypes.get_errno(), "unshare")
    net.write("/proc/self/setgroups", "deny")
    net.write("/proc/self/uid_map", "0 1000 1")
    net.write("/proc/self/gid_map", "0 1000 1")


def user_namespaces() -> bool:
    """Tell whether one can be made; not in a chroot."""
    return not subprocess.run(
        ["unshare", "--user", "true"], check=False, stderr=subprocess.DEVNULL
    ).returncode


def become_nobody() -> None:
    """Give up every right."""
    os.setgroups([])
    os.setresgid(1000, 1000, 1000)
    os.setresuid(1000, 1000, 1000)
    _libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: own /proc/self is one's own again


def check_no_rights(ch: rate.Channel, dev: int, own: int) -> None:
    """What somebody without CAP_NET_ADMIN may do, and may not."""
    for action, values in (
        (ch.set, {"ifindex": dev, "rate": 1}),
        (ch.set, {"daddr": "10.9.0.0", "prefix_len": 16, "rate": 1}),
        (ch.delete, {"ifindex": dev}),
        (ch.delete, {}),
    ):
        refused(errno.EPERM, "", action, **values)
    for group in ("paths", "flows"):
        try:
            ch.join(group)
            raise AssertionError(f"joined {group}")
        except PermissionError:
            pass
    equal(sorted(p["rate"] for p in ch.paths()), [10**5, 10**5 + 1], "paths seen: no flow's")
    equal(ch.get(ifindex=dev)["rate"], 10**5, "a device's path")
    refused(errno.ENOENT, "there is no such path", ch.get, **FLOW)
    equal([flow["sport"] for flow in ch.flows()], [own] if own else [], "flows seen")


def test_without_rights() -> None:
    """Without CAP_NET_ADMIN: no change, no events, no flows or paths of flows of others."""
    pair = Pair()
    rate.prepare(pair)
    net.write("/proc/sys/net/ipv4/tcp_allowed_congestion_control", "reno ratcp")
    rate.slow_link(pair, delay_ms=10)
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=10**5)
    ch.set(daddr="10.7.0.0", prefix_len=16, rate=10**5 + 1)
    ch.set(rate=10**5 + 2, **FLOW)
    foreign = rate.Sender(pair)
    foreign.step(0.5)

    def nobody() -> None:
        become_nobody()
        mine = socket.socket()
        mine.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"ratcp")
        mine.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        check_no_rights(rate.Channel(), pair.dev, 0)
        mine.connect(("10.0.0.2", 5001))
        check_no_rights(rate.Channel(), pair.dev, mine.getsockname()[1])
        equal(rate.Channel().flows()[0]["uid"], 1000, "uid")
        mine.close()

    def root_of_nothing() -> None:
        become_nobody()
        unshare(CLONE_NEWUSER)
        equal(os.getuid(), 0, "uid")
        check_no_rights(rate.Channel(), pair.dev, 0)

    with pair.a.entered():
        in_child(nobody)
        if user_namespaces():
            in_child(root_of_nothing)
    equal(len(ch.paths()), 3, "paths that root sees")
    equal([flow["sport"] for flow in ch.flows()], [foreign.sport], "flows that root sees")
    foreign.close()
    pair.close()


def test_root_of_own_namespace() -> None:
    """Who made user and network namespace may do all in it, and nothing outside."""
    if not user_namespaces():
        raise Skip("no user namespace can be made here, as in a chroot")
    pair = Pair()
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=1)
    outside = os.open(f"/run/netns/{pair.a.name}", os.O_RDONLY)

    def own_root() -> None:
        become_nobody()
        unshare(CLONE_NEWUSER | CLONE_NEWNET)
        mine = rate.Channel()
        equal(mine.paths(), [], "paths of others")
        mine.join("paths")
        mine.join("flows")
        mine.close()
        mine = rate.Channel()
        mine.set(ifindex=1, rate=5)
        mine.set(rate=6, **FLOW)
        equal([path["rate"] for path in mine.paths()], [5, 6], "own paths")
        away = {"netns_fd": outside, "ifindex": pair.dev}
        text = "needs CAP_NET_ADMIN in its namespace, too"
        refused(errno.EPERM, text, mine.set, ifindex=1, follow=away)
        equal(mine.get(ifindex=1)["rate"], 5, "rate")
        mine.delete()
        equal(mine.paths(), [], "own paths, deleted")

    in_child(own_root)
    os.close(outside)
    equal([path["rate"] for path in ch.paths()], [1], "paths outside")
    pair.close()


def test_namespaces_are_apart() -> None:
    """The same name is another path in another namespace; so are numbers and events."""
    pair = Pair()
    a, b = channel(pair.a), channel(pair.b)
    b.join("paths")
    b.join("flows")
    a.set(rate=1, **FLOW)
    equal(b.news(), [], "events of another namespace")
    refused(errno.ENOENT, "no such path", channel(pair.b).get, **FLOW)
    channel(pair.b).set(rate=2, **FLOW)
    equal(a.get(**FLOW)["rate"], 1, "rate in a")
    equal([(command, path["rate"]) for command, path in b.news()], [(rate.PATH_NTF, 2)], "b's own")
    channel(pair.b).delete()
    equal(len(a.paths()), 1, "paths in a")
    rate.prepare(pair)
    rate.slow_link(pair, delay_ms=10)
    channel(pair.b).set(daddr="0.0.0.0", prefix_len=0, rate=10**5)
    a.delete()
    sender = rate.Sender(pair)
    equal(paths_of(sender, a), None, "path of another namespace")
    equal([f for f in channel(pair.b).flows() if f["sport"] == sender.sport], [], "flows in b")
    sender.close()
    pair.close()


def garbage(draw: random.Random, dev: int) -> tuple[int, bytes]:
    """Return a request that may be anything: a command, and attributes of some sense or none."""
    command = draw.choice((*[rate.SET] * 12, rate.DEL, rate.GET, draw.randrange(100)))
    keys: list[dict[str, Any]] = [{"ifindex": dev}, {"daddr": "10.0.0.2"}, FLOW, FLOW6, {}]
    payload = rate.encode(draw.choice(keys)) if draw.random() < 0.9 else b""
    eights = (7, 9, 10, 12, 16)
    for _ in range(draw.randrange(4)):
        number = draw.choice((*range(7, 19), *eights, draw.randrange(1 << 16)))
        length = 8 if number in eights else 4
        if draw.random() < 0.1:
            length = draw.choice((0, 1, 2, 4, 8, 16, 300))
        data = draw.choice((bytes(length), b"\xff" * length, draw.randbytes(length)))
        if draw.random() < 0.7:
            data = draw.randrange(3).to_bytes(max(length, 1), "little")
        if number == 18 and draw.random() < 0.7:
            number |= 0x8000
            data = b"".join(
                netlink.attribute(draw.randrange(4), draw.randbytes(4)) for _ in range(3)
            )
            if draw.random() < 0.5:
                data = rate.encode({"ifindex": dev}, rate.FOLLOW)
        payload += netlink.attribute(number, data)
    return command, payload[: None if draw.random() < 0.95 else len(payload) - 3]


def sane(path: dict[str, Any]) -> bool:
    """Tell whether a path is within its contract."""
    return (
        path["beta"] <= 10**6
        and path["swing"] <= 100
        and 1_001_000 <= path["phi"] <= 10**9
        and path["base_rtt"] <= 60 * S
        and path["age_limit"] <= DAY
        and path.get("lag_time", 0) <= DAY
        and ("lag_time" in path) == (path["lag"] == "fixed")
        and path["pace"] <= 1
        and path["id"] > 0
    )


def test_random_requests() -> None:
    """5,000 requests of any bytes: done or refused with a proper error; what is shown is sane."""
    pair = Pair()
    ch = channel(pair.a)
    draw = random.Random(11)
    proper = {errno.EINVAL, errno.ERANGE, errno.ENOENT, errno.ENODEV, errno.ELOOP, errno.EBADF}
    proper |= {errno.EOPNOTSUPP, errno.EMSGSIZE}
    codes: Counter[int] = Counter()
    for number in range(5000):
        command, payload = garbage(draw, pair.dev)
        try:
            ch.request(command, payload, draw.choice((0, 0, 0, 8)))
            codes[0] += 1
        except OSError as error:
            codes[error.errno or 0] += 1
            true(error.errno in proper, f"{error} to command {command}, {payload!r}")
        if number % 50 == 0:
            true(all(sane(path) for path in ch.paths()), f"paths {ch.paths()}")
    true(codes[0] > 200, f"hardly any was done: {codes}")
    common = {errno.EINVAL, errno.ERANGE, errno.ENOENT, errno.ELOOP, errno.EOPNOTSUPP}
    true(codes.keys() >= common, f"errors {codes}")
    ch.delete()
    equal(ch.paths(), [], "paths")
    pair.close()


if __name__ == "__main__":
    main()
