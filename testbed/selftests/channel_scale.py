#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Many paths, many events, many lives: dumps miss nothing, and nothing leaks.

Topology: lib/pair.py.
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct
from collections import Counter

import life
from wale_lab.selftest import net, netlink, rate
from wale_lab.selftest.faults import Failing
from wale_lab.selftest.pair import Pair
from wale_lab.selftest.rate import S, channel, refused
from wale_lab.selftest.tap import equal, main, true

MANY = 100_000
MODULES = ("tcp_ratcp", "rate_feedback")


def key(number: int) -> dict[str, object]:
    """Return the key of the n-th path: flows, and prefixes of IPv6 and IPv4."""
    ten = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    if number % 3 == 0:
        return {"saddr": "10.0.0.1", "daddr": ten, "sport": 1000, "dport": 5001}
    if number % 3 == 1:
        return {"daddr": ten}
    return {"daddr": f"fd00:{number >> 16:x}:{number & 0xFFFF:x}::", "prefix_len": 64}


def setting(number: int) -> bytes:
    """Return a request that sets it; its rate is its number."""
    return rate.encode({**key(number), "rate": number})


def rate_of(message: netlink.Message) -> int:
    """Return the rate in a message about a path, without looking at the rest."""
    data, place = message.payload, 0
    while place < len(data):
        length, number = struct.unpack_from("HH", data, place)
        if number == rate.PATH["rate"][0]:
            found: int = struct.unpack_from("Q", data, place + 4)[0]
            return found
        place += (length + 3) & ~3
    raise AssertionError("a path without rate")


def test_hundred_thousand() -> None:
    """100,000 paths: each once in a dump, found by name, all deleted by one request."""
    pair = Pair()
    ch = channel(pair.a)
    ch.many(rate.SET, [setting(n) for n in range(MANY)])
    steps = 0
    seen: Counter[int] = Counter()
    for messages in ch.dump_steps(rate.GET):
        steps += 1
        seen.update(rate_of(message) for message in messages if message.payload)
        true(not any(message.interrupted for message in messages), "a quiet dump, interrupted")
    true(steps > 100, f"a dump in {steps} steps does not test much")
    equal(len(seen), MANY, "paths in the dump")
    equal(set(seen.values()), {1}, "how often each is in it")
    for number in range(0, MANY, 997):
        equal(ch.get(**key(number))["rate"], number, "rate")
    ch.delete()
    equal(ch.paths(), [], "after deleting all")
    ch.many(rate.SET, [setting(n) for n in range(MANY)])
    pair.close()  # and with the namespace


def test_dump_under_change() -> None:
    """Paths come and go during a dump: it says so, and has each one that stays exactly once."""
    pair = Pair()
    ch, writer = channel(pair.a), channel(pair.a)
    count = 20_000
    writer.many(rate.SET, [setting(n) for n in range(count)])
    gone, come = set(), set()
    seen: Counter[int] = Counter()
    interrupted = 0
    for step, messages in enumerate(ch.dump_steps(rate.GET)):
        seen.update(rate_of(message) for message in messages if message.payload)
        interrupted += any(message.interrupted for message in messages)
        for number in (step * 7, count - 1 - step * 5, step):
            with contextlib.suppress(OSError):
                writer.delete(**key(number))
                gone.add(number)
        if step % 3 == 0 and len(seen) < count - 2000:
            writer.set(**key(count + step), rate=count + step)
            come.add(count + step)
        writer.set(**key(count // 2), rate=count // 2, beta=step)
    stay = set(range(count)) - gone
    true(interrupted > 0, "no message says that the dump was interrupted")
    true(len(gone) > 200, f"only {len(gone)} deleted")
    equal([n for n in stay if seen[n] != 1], [], "paths that stay, not exactly once")
    equal([n for n in seen if seen[n] > 1], [], "paths that come twice")
    true(set(seen) <= set(range(count)) | come, "paths that never were")
    pair.close()


def test_dump_ends() -> None:
    """A dump ends, also if paths are added as fast as it goes on."""
    pair = Pair()
    ch, writer = channel(pair.a), channel(pair.a)
    writer.many(rate.SET, [setting(n) for n in range(500)])
    for step, _ in enumerate(ch.dump_steps(rate.GET)):
        writer.set(**key(500 + step), rate=500 + step)
        true(step < 50, "a dump of 500 paths goes on after 50 steps")
    pair.close()


def test_dumps_side_by_side() -> None:
    """Two dumps at a time do not disturb each other, nor does one that is given up."""
    pair = Pair()
    ch, other, third = channel(pair.a), channel(pair.a), channel(pair.a)
    count = 3000
    ch.many(rate.SET, [setting(n) for n in range(count)])
    next(third.dump_steps(rate.GET))
    third.close()
    results: list[list[int]] = [[], []]
    steps = [c.dump_steps(rate.GET) for c in (ch, other)]
    for one, two in zip(*steps, strict=True):
        for result, messages in zip(results, (one, two), strict=True):
            result += [rate_of(message) for message in messages if message.payload]
    equal([len(result) for result in results], [count] * 2, "paths in both dumps")
    true(results == [list(range(count))] * 2, "not each path once, in order")
    pair.close()


def test_changed_rate_is_no_interruption() -> None:
    """A dump that meets new rates is as good as any: which paths there are did not change."""
    pair = Pair()
    ch, writer = channel(pair.a), channel(pair.a)
    ch.many(rate.SET, [setting(n) for n in range(2000)])
    for messages in ch.dump_steps(rate.GET):
        true(not any(m.interrupted for m in messages), "interrupted by a new rate")
        writer.set(**key(1999), rate=7)
    pair.close()


def test_path_events() -> None:
    """Every change is told, once, in order, with what it changed to."""
    pair = Pair()
    ear, ch = channel(pair.a, receive=1 << 25), channel(pair.a)
    ear.join("paths")
    expected: list[tuple[int, int, int | None]] = []
    alive: set[int] = set()
    for number in range(4000):
        which = number * 7919 % 257
        if number % 5 == 4 and which in alive:
            ch.delete(**key(which))
            alive.discard(which)
            expected.append((rate.PATH_DEL_NTF, which, None))
        else:
            ch.set(**key(which), rate=which, beta=number)
            alive.add(which)
            expected.append((rate.PATH_NTF, which, number))
    news = [
        (c, path["rate"], path["beta"] if c == rate.PATH_NTF else None) for c, path in ear.news()
    ]
    equal(len(news), len(expected), "events")
    wrong = [pair for pair in zip(news, expected, strict=True) if pair[0] != pair[1]]
    equal(wrong[:3], [], "events that are not what happened")
    pair.close()


def test_events_without_room() -> None:
    """A listener that does not listen loses events and is told; the writer is not held up."""
    pair = Pair()
    ear, ch = channel(pair.a, receive=4096), channel(pair.a)
    ear.join("paths")
    ch.many(rate.SET, [setting(n) for n in range(2000)])
    equal(len(ch.paths()), 2000, "paths")
    try:
        ear.news()
        raise RuntimeError("2000 events in 4 kB")
    except AssertionError as error:
        true("lost" in str(error), str(error))
    pair.close()


def test_flow_events() -> None:
    """A socket is told of when it begins to listen and when it ends, with its last state."""
    pair = Pair()
    rate.prepare(pair)
    rate.slow_link(pair, delay_ms=10)
    ear, ch = channel(pair.a), channel(pair.a)
    ear.join("flows")
    ch.set(ifindex=pair.dev, rate=10**5)
    number = ch.get(ifindex=pair.dev)["id"]
    for round_ in range(20):
        sender = rate.Sender(pair)
        begun = ear.news()
        equal([command for command, _ in begun], [rate.FLOW_NTF], "events of a connection")
        names = ("saddr", "daddr", "sport", "dport", "ifindex", "uid", "path", "congestion")
        expected = ("10.0.0.1", "10.0.0.2", sender.sport, 5001, pair.dev, 0, number, "ratcp")
        equal(tuple(begun[0][1].get(n) for n in names), expected, "who it is")
        sender.step(0.3)
        state = ch.flow(sender.sport)
        if round_ % 2:
            sender.close()
        else:
            sender.use("reno")
        ended = ear.news()
        equal([command for command, _ in ended], [rate.FLOW_DEL_NTF], "events of its end")
        equal(ended[0][1]["id"], begun[0][1]["id"], "number")
        true(ended[0][1]["bytes_acked"] >= state["bytes_acked"] > 0, "bytes acknowledged")
        if round_ % 2 == 0:
            sender.close()
            equal(ear.news(), [], "events of a socket that no longer listens")
    equal(ch.flows(), [], "flows")
    pair.close()


def test_many_flows() -> None:
    """1,000 sockets in a dump, each once, and by path."""
    pair = Pair()
    rate.prepare(pair)
    ch = channel(pair.a)
    ch.set(daddr="10.0.0.0", prefix_len=24, rate=10**5)
    crowd = rate.Crowd(pair, 1000)
    special = {"saddr": "10.0.0.1", "daddr": "10.0.0.2", "dport": 5001}
    ch.set(**special, sport=crowd.ports()[500], rate=1)
    crowd.send_each()
    flows = ch.flows()
    equal(sorted(flow["sport"] for flow in flows), sorted(crowd.ports()), "ports")
    both = ch.paths()
    equal([path["listeners"] for path in both], [999, 1], "listeners")
    for path in both:
        listening = ch.flows(path["id"])
        equal(len(listening), path["listeners"], "flows of a path")
        equal({flow["path"] for flow in listening}, {path["id"]}, "their path")
    equal(ch.flows(12345), [], "flows of a path that is not there")
    crowd.close()
    equal(ch.flows(), [], "flows in the end")
    equal([path["listeners"] for path in ch.paths()], [0, 0], "listeners in the end")
    pair.close()


def unload(name: str) -> bool:
    """Try to unload a module; tell whether it is gone."""
    said = net.run(f"rmmod {name}", check=False)
    true(not said or "in use" in said, said)
    return not said


def load_all() -> None:
    """Load both modules; a kernel of which they are a part may have loaded one for a link."""
    for name in reversed(MODULES):
        rate.load(name)


def test_allocation_failures() -> None:
    """Each allocation of a request fails once: it is done, or it left no trace."""
    failing = Failing()
    pair = Pair()
    ch = channel(pair.a)
    requests = (
        {"ifindex": pair.dev, "rate": 5, "beta": 3, "lag": 1},
        {"daddr": "10.0.0.0", "prefix_len": 24, "follow": {"ifindex": 1}, "beta": 3},
        {**key(0), "rate": 5, "beta": 3, "lag": 2, "lag_time": S},
    )
    tried = 0
    for request in requests * 3:
        name = {n: v for n, v in request.items() if n in rate.KEYS}

        def after(was_refused: bool, name: dict[str, object] = name) -> None:
            nonlocal ch
            ch.close()
            ch = channel(pair.a)
            paths = ch.paths()
            true(len(paths) <= 1 and (paths or was_refused), "no path, and no error")
            if paths:
                equal(paths[0]["beta"], 3, "beta of a path that was half made")
                true("follow" in paths[0] or paths[0]["rate"] == 5, "a path without a value")
                ch.delete(**name)

        def act(request: dict[str, object] = request) -> None:
            ch.set(**request)

        tried += failing.sweep(act, after)
    true(tried >= len(requests) * 3, "no allocation failed")
    pair.close()


def test_modules_come_and_go() -> None:
    """What is used stays: the channel for the senders, the senders' module for its sockets."""
    for number in range(6):
        pair = Pair()
        rate.prepare(pair)
        ch = channel(pair.a)
        ch.set(ifindex=pair.dev, rate=10**5)
        sender = rate.Sender(pair)
        sender.step(0.05)
        true(not unload("rate_feedback"), "the channel went before tcp_ratcp")
        true(not unload("tcp_ratcp"), "tcp_ratcp went before its socket")
        sender.close()
        net.sleep_ns(S // 10)
        true(unload("tcp_ratcp"), "tcp_ratcp is held after its sockets went")
        equal(len(ch.paths()), 1, "paths")
        if number % 3 == 0:
            pair.close()
        ch.close()
        true(unload("rate_feedback"), "the channel is held by nothing")
        load_all()
        if number % 3:
            equal(channel(pair.a).paths(), [], "paths of a channel that was away")
            pair.close()


def test_link_and_channel() -> None:
    """A link that publishes holds the channel; one that was first publishes when it comes."""
    pair = Pair()
    for name in MODULES:
        true(unload(name), f"{name} is in use")
    pair.add(rate=12_345, feedback={"idle": 2 * S})
    net.sleep_ns(S)
    load_all()
    net.sleep_ns(2 * S)
    equal(channel(pair.a).get(ifindex=pair.dev)["rate"], 12_345, "published afterwards")
    true(unload("tcp_ratcp"), "tcp_ratcp is held")
    true(not unload("rate_feedback"), "the channel went while a link publishes")
    pair.change(feedback={})
    true(unload("rate_feedback"), "the channel is held by a link that no longer publishes")
    load_all()
    pair.change(feedback={"idle": S})
    pair.close()
    net.wait_for(lambda: unload("tcp_ratcp") and unload("rate_feedback"), "unused modules")
    load_all()


class Leaks(life.Leaks):
    """The slab caches of paths, values, rings, flows and messages."""

    CACHES = (
        *("kmalloc-64", "kmalloc-128", "kmalloc-192", "kmalloc-256", "kmalloc-512"),
        *("kmalloc-cg-256", "kmalloc-cg-512", "kmalloc-1k", "kmalloc-2k", "skbuff_head_cache"),
    )

    def count(self) -> dict[str, int]:
        """Return the objects of each cache that there is."""
        found = {}
        for cache in self.CACHES:
            with contextlib.suppress(life.Skip):
                found[cache] = life.objects(cache)
        return found


def live(pair: Pair, number: int) -> None:
    """Have one of everything come and go."""
    ch = channel(pair.a)
    home = os.open(f"/run/netns/{pair.a.name}", os.O_RDONLY)
    far = channel(pair.b)
    ch.set(ifindex=pair.dev, rate=number, lag="fixed", lag_time=60 * S)
    far.set(daddr="10.0.0.0", prefix_len=24, follow={"netns_fd": home, "ifindex": pair.dev})
    for step in range(12):
        ch.set(ifindex=pair.dev, rate=step)
    sender = rate.Sender(pair)
    sender.step(0.02)
    ch.set(**key(number), rate=1)
    refused(errno.EINVAL, "", ch.set, **key(number), lag="fixed")
    ch.set(daddr="10.0.0.2", follow={"ifindex": pair.dev})
    if number % 2:
        sender.close()
        ch.delete()
    else:
        ch.delete()
        sender.step(0.02)
        sender.close()
    far.delete()
    os.close(home)
    ch.close()
    far.close()


def test_many_lives() -> None:
    """300 times paths, values, followers and sockets: no cache of the kernel grows."""
    pair = Pair()
    rate.prepare(pair)
    for number in range(20):
        live(pair, number)
    net.sleep_ns(S)
    leaks = Leaks()
    for number in range(300):
        live(pair, number)
    net.sleep_ns(S)
    leaks.check(300)
    pair.close()


if __name__ == "__main__":
    main()
