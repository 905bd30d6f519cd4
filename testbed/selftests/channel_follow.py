#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Paths that follow a device's path, and what goes with devices and namespaces.

Topology: lib/pair.py; a's paths follow those of b, as the namespace of a sender
follows that of a router.
"""

from __future__ import annotations

import errno
import os
from typing import Any

from wale_lab.selftest import net, rate
from wale_lab.selftest.pair import Pair
from wale_lab.selftest.rate import S, channel, refused
from wale_lab.selftest.tap import equal, main, true

PREFIX = {"daddr": "10.0.0.0", "prefix_len": 24}
IDLE = 2 * S


class Two:
    """The pair, and a channel in each namespace."""

    def __init__(self) -> None:
        self.pair = Pair()
        self.a, self.b = channel(self.pair.a), channel(self.pair.b)
        self.a0, self.b0 = self.pair.dev, self.pair.b.index("b0")
        self.fd = os.open(f"/run/netns/{self.pair.b.name}", os.O_RDONLY)
        self.far = {"netns_fd": self.fd, "ifindex": self.b0}

    def close(self) -> None:
        """Delete all."""
        os.close(self.fd)
        self.a.close()
        self.b.close()
        self.pair.close()

    def shown(self, **key: Any) -> tuple[Any, Any]:
        """Return what a path of a shows: (rate, ifindex that it follows)."""
        path = self.a.get(**(key or {"ifindex": self.a0}))
        return path.get("rate"), path.get("follow", {}).get("ifindex")


def add_dummy(ns: net.Namespace, name: str) -> int:
    """Return the index of a new device."""
    net.ip_batch([f"link add {name} type dummy"], ns)
    return ns.index(name)


def test_before_and_after() -> None:
    """A path may follow one that is not there yet; it has its value while that exists."""
    two = Two()
    a, b = two.a, two.b
    a.set(ifindex=two.a0, follow=two.far)
    path = a.get(ifindex=two.a0)
    equal(path["follow"], {"ifindex": two.b0}, "follow")
    equal(path["lag"], "rtt", "lag of a path that follows")
    values = ("rate", "meaning", "time", "layer", "flows", "publisher", "age", "updates")
    equal([name for name in values if name in path], [], "values before there is one")
    for round_ in range(3):
        b.set(ifindex=two.b0, rate=5 + round_, meaning="link", layer="atm", beta=9)
        path, leader = a.get(ifindex=two.a0), b.get(ifindex=two.b0)
        for name in ("rate", "meaning", "time", "layer", "flows", "publisher", "updates"):
            equal(path[name], leader[name], f"{name} of the path that follows")
        equal((path["beta"], path["lag"]), (1, "rtt"), "settings are its own")
        b.delete(ifindex=two.b0)
        equal(two.shown(), (None, two.b0), "after the followed path was deleted")
    two.close()


def test_own_settings_and_value() -> None:
    """Settings of a path that follows can be set; a rate of its own ends following."""
    two = Two()
    a, b = two.a, two.b
    b.set(ifindex=two.b0, rate=5)
    a.set(ifindex=two.a0, follow=two.far, beta=3, lag="fixed", lag_time=S)
    a.set(ifindex=two.a0, pace=1, age_limit=S, swing=50)
    path = a.get(ifindex=two.a0)
    names = ("beta", "pace", "age_limit", "lag_time", "swing")
    equal([path[n] for n in names], [3, 1, S, S, 50], "settings")
    for name in ("meaning", "layer"):
        refused(errno.EINVAL, "must come with rate", a.set, ifindex=two.a0, **{name: 1})
    refused(errno.EINVAL, "must come with rate", a.set, ifindex=two.a0, time=1)
    equal(two.shown(), (5, two.b0), "after refusals")
    gone = {"follow": two.far | {"ifindex": two.b0 + 100}}
    refused(errno.ENODEV, "no device has the ifindex to follow", a.set, ifindex=two.a0, **gone)
    equal(two.shown(), (5, two.b0), "after a device that is not there")
    a.set(ifindex=two.a0, rate=9)
    equal(two.shown(), (9, None), "with a rate of its own")
    b.set(ifindex=two.b0, rate=6)
    equal((two.shown(), b.get(ifindex=two.b0)["rate"]), ((9, None), 6), "both, apart")
    equal(a.get(ifindex=two.a0)["beta"], 3, "beta is kept")
    a.set(ifindex=two.a0, follow=two.far)
    equal(two.shown(), (6, two.b0), "following again")
    equal(a.get(ifindex=two.a0)["lag_time"], S, "lag-time is kept")
    a.delete(ifindex=two.a0)
    equal(b.get(ifindex=two.b0)["rate"], 6, "the followed path, afterwards")
    two.close()


def test_events_of_what_follows() -> None:
    """Who looks at a path hears of each change of its value, wherever that was made."""
    two = Two()
    two.a.set(ifindex=two.a0, follow=two.far)
    ear = channel(two.pair.a)
    ear.join("paths")
    told = []

    def tell(what: str, expected: object) -> None:
        news = ear.news()
        got = [path.get("rate") for _, path in news]
        if got != [expected] or news[0][0] != rate.PATH_NTF:
            told.append(f"{what}: events {news}, expected one with rate {expected}")

    two.b.set(ifindex=two.b0, rate=5)
    tell("the followed path comes", 5)
    two.b.set(ifindex=two.b0, rate=6)
    tell("its rate changes", 6)
    two.b.set(ifindex=two.b0, layer="atm")
    tell("its layer changes", 6)
    two.b.delete()
    tell("it is deleted", None)
    two.b.set(ifindex=two.b0, rate=7)
    tell("it comes again", 7)
    net.run("ip link del b0", two.pair.b)
    ear_news = [path for command, path in ear.news() if path.get("ifindex") != two.a0]
    equal(ear_news, [], "events of other paths")
    equal(told, [], "what was told")
    two.close()


def test_kinds_that_follow() -> None:
    """A prefix, a flow or a device may follow a device, also of its own namespace."""
    two = Two()
    other = add_dummy(two.pair.a, "other")
    flow = {"saddr": "fd00::1", "daddr": "fd00::2", "sport": 1, "dport": 2}
    keys: list[dict[str, Any]] = [{"ifindex": two.a0}, PREFIX, flow]
    for key in keys:
        two.a.set(**key, follow={"ifindex": other})
    two.a.set(ifindex=other, rate=4)
    for key in keys:
        equal(two.shown(**key), (4, other), f"{key}")
    net.run("ip link del other", two.pair.a)
    for key in keys:
        equal(two.shown(**key)[0], None, f"{key} without the device")
    two.close()


def test_chains() -> None:
    """A path that follows cannot be followed, whatever was there first."""
    two = Two()
    a = two.a
    one, other, third = (add_dummy(two.pair.a, f"d{number}") for number in range(3))
    problems = []

    def must_refuse(what: str, **values: Any) -> None:
        try:
            refused(errno.ELOOP, "follow", a.set, **values)
        except AssertionError as error:
            problems.append(f"{what}: {error}")

    must_refuse("a new path follows itself", ifindex=one, follow={"ifindex": one})
    a.delete()
    a.set(ifindex=one, rate=1)
    must_refuse("a path follows itself", ifindex=one, follow={"ifindex": one})
    a.set(ifindex=other, follow={"ifindex": one})
    must_refuse("following what follows", ifindex=third, follow={"ifindex": other})
    must_refuse("what is followed follows", ifindex=one, follow={"ifindex": third})
    must_refuse("two follow each other", ifindex=one, follow={"ifindex": other})
    a.delete()
    a.set(ifindex=other, follow={"ifindex": one})
    must_refuse("a new path that is followed", ifindex=one, follow={"ifindex": third})
    a.delete()
    a.set(ifindex=other, follow={"ifindex": one})
    must_refuse("new, each other", ifindex=one, follow={"ifindex": other})
    a.delete()
    equal(a.paths(), [], "paths")
    true(not problems, "; ".join(problems))
    two.close()


def test_device_goes() -> None:
    """A device takes its path with it, out of the system or into another namespace."""
    two = Two()
    ear = channel(two.pair.a)
    ear.join("paths")
    for command in ("link del gone", f"link set gone netns {two.pair.b.name}"):
        dev = add_dummy(two.pair.a, "gone")
        two.a.set(ifindex=dev, rate=1)
        two.a.set(rate=2, **PREFIX)
        ear.news()
        net.ip_batch([command], two.pair.a)
        equal([path["rate"] for path in two.a.paths()], [2], f"paths after {command}")
        news = [(c, path.get("ifindex")) for c, path in ear.news()]
        equal(news, [(rate.PATH_DEL_NTF, dev)], f"events of {command}")
    net.run("ip link set a0 down", two.pair.a)
    two.a.set(ifindex=two.a0, rate=3)
    net.run("ip link set a0 name new", two.pair.a)
    equal(two.a.get(ifindex=two.a0)["rate"], 3, "path of a device that is down, and renamed")
    two.close()


def test_followed_namespace_goes() -> None:
    """A namespace is deleted while paths of others follow its devices, and listen."""
    for number in range(10):
        two = Two()
        two.b.set(ifindex=two.b0, rate=5)
        two.a.set(ifindex=two.a0, follow=two.far)
        two.a.set(**PREFIX, follow=two.far)
        sender = rate.Sender(two.pair)
        sender.step(0.1)
        equal(two.a.flow(sender.sport)["phase"] != "reno", True, "listens to what follows")
        os.close(two.fd)
        two.b.close()
        two.pair.sink.close()
        sender.close()
        two.pair.b.delete()
        net.wait_for(lambda a=two.a: "rate" not in a.get(**PREFIX), "the end of b")
        equal(two.shown(**PREFIX)[0], None, "value after the namespace went")
        two.a.set(rate=number, **PREFIX)
        two.a.close()
        two.pair.control.close()
        two.pair.a.delete()


def test_following_namespace_goes() -> None:
    """The namespace that follows goes first; the followed path goes on."""
    two = Two()
    two.b.set(ifindex=two.b0, rate=5)
    for number in range(20):
        ns = net.Namespace("f")
        ch = channel(ns)
        ch.set(**PREFIX, follow=two.far)
        ch.set(ifindex=1, follow=two.far)
        equal(ch.get(**PREFIX)["rate"], 5 + number, "rate")
        ch.close()
        ns.delete()
        two.b.set(ifindex=two.b0, rate=6 + number)
    net.sleep_ns(S)
    two.b.set(ifindex=two.b0, rate=1)
    two.b.delete()
    two.close()


def test_socket_follows() -> None:
    """A sender loses its advice with the followed path, is Reno, and finds it again."""
    two = Two()
    rate.prepare(two.pair)
    rate.slow_link(two.pair, delay_ms=20)
    two.b.set(ifindex=two.b0, rate=50_000)
    two.a.set(ifindex=two.a0, follow=two.far)
    sender = rate.Sender(two.pair)
    for round_ in range(1, 4):
        sender.step(1)
        flow = two.a.flow(sender.sport)
        counts = (flow["found_advice"], flow["lost_advice"])
        equal((flow["rate"], *counts), (50_000, round_, round_ - 1), "with advice")
        true(flow["phase"] != "reno", "phase reno with advice")
        two.b.delete()
        sender.step(1)
        flow = two.a.flow(sender.sport)
        counts = (flow["found_advice"], flow["lost_advice"])
        equal((flow["phase"], flow["rate_window"], *counts), ("reno", 0, round_, round_), "without")
        two.b.set(ifindex=two.b0, rate=50_000)
        equal(two.b.get(ifindex=two.b0)["listeners"], 0, "listeners of the followed path")
        equal(two.a.get(ifindex=two.a0)["listeners"], 1, "listeners of what follows")
    sender.close()
    two.close()


def test_flows_of_all_that_follow() -> None:
    """A link's rate is divided by the flows that are active on all paths that have it."""
    two = Two()
    rate.prepare(two.pair)
    rate.slow_link(two.pair, rate=10**6, delay_ms=20)
    with two.pair.a.entered():
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    two.b.set(ifindex=two.b0, rate=300_000, meaning="link")
    two.a.set(ifindex=two.a0, follow=two.far)
    two.a.set(daddr="10.0.0.2", follow=two.far)
    two.b.set(ifindex=1, follow={"netns_fd": home, "ifindex": 1})  # which has no path
    os.close(home)
    senders = [rate.Sender(two.pair, port=5001 + n) for n in range(3)]
    rate.step(senders[:1], 0.3)
    equal(two.b.get(ifindex=two.b0)["flows"], 3, "just opened, and active")
    rate.step(senders, 0.5)
    equal([two.a.flow(s.sport)["rate"] for s in senders], [100_000] * 3, "shares")
    two.a.delete(daddr="10.0.0.2")
    rate.step(senders, 0.5)
    equal([two.a.flow(s.sport)["rate"] for s in senders], [100_000] * 3, "on another path")
    senders.pop().close()
    rate.step(senders, 0.5)
    equal([two.a.flow(s.sport)["rate"] for s in senders], [150_000] * 2, "of two")
    two.a.delete()
    equal(two.b.get(ifindex=two.b0)["flows"], 1, "flows when nobody follows")
    for sender in senders:
        sender.close()
    two.close()


def test_published() -> None:
    """A link's own path: its settings can be set, its value cannot, and it can be followed."""
    two = Two()
    ch, dev = two.a, two.a0
    two.pair.add(rate=123_456, delay=0, feedback={"idle": IDLE})
    net.sleep_ns(S // 10)
    path = ch.get(ifindex=dev)
    names = ("rate", "meaning", "publisher", "lag", "flows", "layer")
    equal([path[n] for n in names], [123_456, "link", 1, "rtt", 1, "ip"], "published")
    text = "a link publishes the rate of this path"
    for values in (
        {"rate": 1}, {"meaning": 0}, {"layer": 0}, {"rate": 1, "time": 1},
        {"follow": {"ifindex": 1}}, {"beta": 5, "rate": 1},
    ):  # fmt: skip
        refused(errno.EBUSY, text, ch.set, ifindex=dev, **values)
    refused(errno.EBUSY, text, ch.delete, ifindex=dev)
    settings = {"beta": 5, "lag": "fixed", "lag_time": 7, "rise": "additive", "pace": 1}
    settings |= {"base_rtt": 9, "age_limit": S, "swing": 7}
    ch.set(ifindex=dev, **settings)
    path = ch.get(ifindex=dev)
    equal({n: path[n] for n in settings}, settings, "settings")
    ch.delete()
    equal(ch.get(ifindex=dev)["rate"], 123_456, "after deleting all that was set")
    home = os.open(f"/run/netns/{two.pair.a.name}", os.O_RDONLY)
    two.b.set(ifindex=two.b0, follow={"netns_fd": home, "ifindex": dev})
    two.pair.change(rate=654_321)
    net.sleep_ns(S // 10)
    equal(two.b.get(ifindex=two.b0)["rate"], 654_321, "followed, after a change")
    equal(two.b.get(ifindex=two.b0)["publisher"], 1, "publisher")
    equal(ch.get(ifindex=dev)["beta"], 5, "settings after a change of the link")
    two.pair.change(feedback={})
    equal(ch.paths(), [], "paths when it no longer publishes")
    equal(two.b.get(ifindex=two.b0).get("rate"), None, "what followed")
    os.close(home)
    two.close()


def test_link_takes_over() -> None:
    """A link begins to publish where a path was set, or follows: settings stay."""
    two = Two()
    for first in ({"rate": 5, "meaning": "share"}, {"follow": two.far}):
        two.a.set(ifindex=two.a0, beta=4, lag="now", **first)
        number = two.a.get(ifindex=two.a0)["id"]
        two.pair.add(rate=77_777, feedback={"idle": IDLE})
        net.sleep_ns(S // 10)
        path = two.a.get(ifindex=two.a0)
        equal([path[n] for n in ("rate", "beta", "lag", "id", "publisher")],
              [77_777, 4, "now", number, 1], "taken over")  # fmt: skip
        true("follow" not in path, "still follows")
        two.pair.delete()
        equal(two.a.paths(), [], "paths without the link")
    two.close()


if __name__ == "__main__":
    main()
