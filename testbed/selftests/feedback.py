#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A link with feedback publishes its rate and its flows, with the instants of changes.

Topology: lib/pair.py.  The channel, rate_feedback, is read through generic
netlink; what the link should publish follows from its configuration, the
packets that are sent here, and the kernel's clock.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import socket
import struct
import time
from typing import Any

from life import flush
from wale_lab.selftest import net, netlink
from wale_lab.selftest.faults import Failing
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.rate import Channel, load, loaded
from wale_lab.selftest.tap import equal, main, true
from wale_lab.selftest.wale import RATE_UNLIMITED

MODULE = "rate_feedback"
SECOND = 1000 * MS
FIN, SYN, RST, ACK = 1, 2, 4, 16
ETH_P_IPV6 = 0x86DD


def unload() -> None:
    """Unload it, once the namespaces of earlier tests are gone."""
    net.wait_for(
        lambda: not net.run(f"rmmod {MODULE}", check=False),
        "rate_feedback not in use",
        limit_s=5,
    )


class LinkChannel(Channel):
    """The channel of the sender's namespace, and in it the path of the link's device."""

    def __init__(self, pair: Pair) -> None:
        with pair.a.entered():
            super().__init__()
        self.dev = pair.dev

    def path(self) -> dict[str, Any] | None:
        """Return the path of the link's device."""
        try:
            return self.get(ifindex=self.dev)
        except netlink.Refused as refusal:
            equal(refusal.errno, errno.ENOENT, "errno")
            return None

    def there(self) -> dict[str, Any]:
        """Return it; it must be there."""
        path = self.path()
        if path is None:
            raise AssertionError("the device has no path")
        return path

    def watch(self, duration_ns: int) -> list[tuple[int, int, int]]:
        """Return the (time, rate, flows) that there were, looking every millisecond."""
        seen: list[tuple[int, int, int]] = []
        end = time.monotonic_ns() + duration_ns
        while time.monotonic_ns() < end:
            path = self.there()
            now = (path["time"], path["rate"], path["flows"])
            if not seen or seen[-1] != now:
                seen.append(now)
            net.sleep_ns(MS)
        return seen


def stage(**options: Any) -> tuple[Pair, LinkChannel]:
    """Return a link with feedback, and its channel."""
    load(MODULE)
    pair = Pair()
    pair.add(**{"feedback": {"idle": 2 * SECOND}, **options})
    return pair, LinkChannel(pair)


def leave(pair: Pair, channel: LinkChannel) -> None:
    """Take all away."""
    channel.close()
    pair.close()


def tcp(flags: int, payload: int = 0, port: int = 4000, words: int = 5) -> bytes:
    """Return a TCP header, with options up to so many words, and payload."""
    header = struct.pack("!HHIIBBHHH", port, 80, 1, 1, words << 4, flags, 1000, 0, 0)
    return header + b"\1" * (4 * words - 20) + b"x" * payload


def ipv4(segment: bytes, words: int = 5, fragment: int = 0, protocol: int = 6) -> bytes:
    """Return an IPv4 packet."""
    addresses = socket.inet_aton("10.0.0.1") + socket.inet_aton("10.0.0.2")
    length = 4 * words + len(segment)
    fields = (0x40 | words, 0, length, 0, fragment, 64, protocol, 0)
    return struct.pack("!BBHHHBBH", *fields) + addresses + b"\1" * (4 * words - 20) + segment


def ipv6(segment: bytes, extensions: bytes = b"", first: int = 6) -> bytes:
    """Return an IPv6 packet."""
    addresses = socket.inet_pton(socket.AF_INET6, "2001:db8::1")
    addresses += socket.inet_pton(socket.AF_INET6, "2001:db8::2")
    length = len(extensions) + len(segment)
    return struct.pack("!IHBB", 6 << 28, length, first, 64) + addresses + extensions + segment


def send(pair: Pair, packet: bytes) -> tuple[int, int]:
    """Send a packet; return the times before and after."""
    protocol = ETH_P_IPV6 if packet[0] >> 4 == 6 else net.ETH_P_IP
    before = time.monotonic_ns()
    pair.socket.sendto(packet, ("a0", protocol, 0, 1, b"\x02\0\0\0\0\x02"))
    return before, time.monotonic_ns()


def flows(pair: Pair) -> int:
    """Return how many flows the link counts."""
    return pair.stats()["active_flows"]


def test_path_of_the_device() -> None:
    """The path has the link's rate and layer; a change is there at once, with its time."""
    pair, channel = stage(rate=10**6, overhead=1)
    path = channel.there()
    expected = {
        "rate": 10**6,
        "meaning": "link",
        "lag": "rtt",
        "layer": "ethernet",
        "publisher": 1,
        "flows": 1,
    }
    equal({name: path[name] for name in expected}, expected, "path")
    for rate in (123_457, 1, 10**15, RATE_UNLIMITED):
        before = time.monotonic_ns()
        pair.change(rate=rate)
        path = channel.there()
        equal(path["rate"], rate, "rate")
        true(before <= path["time"] <= time.monotonic_ns(), "time of the change")
    updates = path["updates"]
    pair.change(delay=MS, loss=1 << 20)
    equal(channel.there()["updates"], updates, "updates for a change of something else")
    stats = pair.stats()
    equal((stats["attached"], stats["published"]), (1, updates), "attached, published")
    pair.delete()
    equal(channel.path(), None, "path after the link")
    leave(pair, channel)


def test_steps_of_a_trace() -> None:
    """Each step is published with the instant at which it begins, though no packet moves."""
    # a step may be published two ticks of the kernel late: none is over by then
    durations = [30 * MS, 27 * MS + 1, 1234 * MS, 24 * MS + 999_999, 10 * SECOND]
    rates = [10**6, 0, 5, 7 * 10**8, 11]
    pair, channel = stage(trace=list(zip(durations, rates, strict=True)))
    start = pair.stats()["epoch_ns"]
    expected = []
    for step in range(12):
        expected.append((start, rates[step % 5], 1))
        start += durations[step % 5]
    seen = channel.watch(start - time.monotonic_ns() - MS)
    equal(seen, expected, "steps")
    leave(pair, channel)


def test_short_steps() -> None:
    """Steps far shorter than a tick: what is published is true, and not too old."""
    pair, channel = stage(trace=[(100_000, rate) for rate in range(1, 100)])
    epoch = pair.stats()["epoch_ns"]
    for _ in range(200):
        net.sleep_ns(3 * MS + 333)
        path = channel.there()
        offset = (path["time"] - epoch) % (99 * 100_000)
        equal(offset % 100_000, 0, "time within a step")
        equal(path["rate"], 1 + offset // 100_000, "rate of that step")
        true(time.monotonic_ns() - path["time"] < 2 * SECOND // 50, "age of what is published")
    leave(pair, channel)


def test_sessions_without_traffic() -> None:
    """The chain moves, and is published, while the link is idle: C / (M + 1)."""
    sessions = {"arrival": 1 << 30, "mean": 3 << 32, "max": 63, "step": 100 * MS}
    pair, channel = stage(rate=10**6, sessions=sessions, seed=5)
    epoch = pair.stats()["epoch_ns"]
    met = set()
    for _ in range(300):
        net.sleep_ns(100 * MS)
        before, path = pair.stats(), channel.there()
        equal(path["rate"], 10**6 // (before["sessions"] + 1), "rate")
        equal((path["time"] - epoch) % (100 * MS), 0, "time")
        met.add(path["rate"])
    true(len(met) > 4, f"rates met: {met}")
    seen = channel.watch(30 * SECOND)
    true(len(seen) > 50, f"{len(seen)} changes in 30 s")
    leave(pair, channel)


def test_life_of_a_flow() -> None:
    """SYN or payload begins a flow, FIN or RST ends it, at the packet's arrival."""
    pair, channel = stage(rate=10**6)
    steps = [
        ("a pure ACK", tcp(ACK), 0),
        ("a FIN of nobody", tcp(FIN | ACK), 0),
        ("a SYN", tcp(SYN), 1),
        ("its second SYN", tcp(SYN), 1),
        ("a pure ACK with options", tcp(ACK, words=15), 1),
        ("payload", tcp(ACK, 100), 1),
        ("another port", tcp(ACK, 1, port=4001), 2),
        ("a SYN-ACK", tcp(SYN | ACK, port=4002), 3),
        ("an RST", tcp(RST, port=4001), 2),
        ("a FIN with payload", tcp(FIN | ACK, 50), 1),
        ("payload sent again", tcp(ACK, 100), 2),
        ("a FIN", tcp(FIN | ACK), 1),
        ("an RST-ACK", tcp(RST | ACK, port=4002), 0),
    ]
    count = 0
    for name, segment, after in steps:
        before, until = send(pair, ipv4(segment))
        equal(flows(pair), after, name)
        path = channel.there()
        equal(path["flows"], max(after, 1), f"{name}: flows of the path")
        if after != count:
            true(before <= path["time"] <= until, f"{name}: time of the path")
        count = after
        net.sleep_ns(10 * MS)
    leave(pair, channel)


def test_idle_flows_end() -> None:
    """A flow is over exactly when its idle time is, though no packet moves."""
    pair, channel = stage(rate=10**6, feedback={"idle": 70 * MS})
    started = []
    for port in (1, 2, 3):
        began = send(pair, ipv4(tcp(SYN, port=port)))
        started.append((port, began, channel.there()["time"]))
        net.sleep_ns(20 * MS)
    send(pair, ipv4(tcp(ACK, port=3)))  # a pure ACK does not keep a flow alive
    for left, (_, _, began_ns) in zip((2, 1, 0), started, strict=True):
        net.sleep_ns(began_ns + 70 * MS - time.monotonic_ns() - MS // 2)
        equal(flows(pair), left + 1, "flows before the idle time is over")
        net.sleep_ns(MS)
        equal(flows(pair), left, "flows after it")
        equal(channel.there()["time"], began_ns + 70 * MS, "time of the end")

    send(pair, ipv4(tcp(SYN)))
    began_ns = channel.there()["time"]
    seen = channel.watch(120 * MS)
    equal(seen[-1], (began_ns + 70 * MS, 10**6, 1), "the end, seen by the timer alone")

    pair.change(feedback={"idle": 3600 * SECOND})
    send(pair, ipv4(tcp(SYN)))
    net.sleep_ns(3599 * SECOND)
    equal(flows(pair), 1, "flows before a long idle time is over")
    before = time.monotonic_ns()
    pair.change(feedback={"idle": MS})
    equal(flows(pair), 0, "flows after it was made shorter")
    path = channel.there()
    true(path["time"] >= before, f"time of a shorter idle time: {path['time']} {before}")
    leave(pair, channel)


def test_headers() -> None:
    """Options, fragments, extension headers; what is cut short or no TCP is no flow."""
    pair, channel = stage()
    hop = bytes([43, 0, 1, 4, 0, 0, 0, 0])  # hop-by-hop, then routing
    routing = bytes([6, 0, 0, 0, 0, 0, 0, 0])
    first_fragment = bytes([6, 0, 0, 1, 0, 0, 0, 1])
    later_fragment = bytes([6, 0, 0x10, 0, 0, 0, 0, 1])
    good = [
        ipv4(tcp(SYN), words=15),
        ipv4(tcp(ACK, 8, words=15)),
        ipv4(tcp(ACK, 8), fragment=0x2000),
        ipv6(tcp(SYN)),
        ipv6(tcp(ACK, 1), hop + routing, first=0),
        ipv6(tcp(ACK, 1), first_fragment, first=44),
    ]
    wrong_version = bytearray(ipv4(tcp(SYN)))
    wrong_version[0] = 0x55
    bad = [
        ipv4(tcp(SYN), fragment=0x2010),
        ipv4(tcp(SYN), protocol=17),
        ipv4(tcp(SYN))[:39],
        ipv4(tcp(SYN), words=4),
        ipv4(tcp(SYN, words=4)),
        ipv4(tcp(ACK), words=15),
        bytes(wrong_version),
        ipv4(b""),
        ipv6(b""),
        ipv6(tcp(SYN))[:59],
        ipv6(tcp(SYN), later_fragment, first=44),
        ipv6(tcp(SYN), hop[:5], first=0),
        ipv6(tcp(ACK), hop + routing, first=0),
        ipv6(tcp(SYN), first=17),
        b"\x45",
        b"\x60",
    ]
    for number, packet in enumerate(bad):
        with contextlib.suppress(OSError):
            send(pair, packet)
        equal(flows(pair), 0, f"flows after the bad packet {number}")
    for number, packet in enumerate(good):
        # each with a source address of its own
        at = 15 if packet[0] >> 4 == 4 else 23
        send(pair, packet[:at] + bytes([100 + number]) + packet[at + 1 :])
        equal(flows(pair), number + 1, f"flows after the good packet {number}")
    leave(pair, channel)


def test_more_flows_than_are_told_apart() -> None:
    """Flows beyond the first 16384 are not counted, and their packets are."""
    pair, channel = stage(feedback={"idle": 3600 * SECOND}, limit_packets=1 << 20)
    for port in range(16384 + 10):
        send(pair, ipv4(tcp(SYN, port=port)))
    stats = pair.stats()
    equal((stats["active_flows"], stats["uncounted_packets"]), (16384, 10), "flows, uncounted")
    equal(channel.there()["flows"], 16384, "flows of the path")
    send(pair, ipv4(tcp(FIN, port=5)))
    send(pair, ipv4(tcp(SYN, port=16384)))
    stats = pair.stats()
    equal((stats["active_flows"], stats["uncounted_packets"]), (16384, 10), "after one left")
    leave(pair, channel)


def test_connections_of_tcp() -> None:
    """Real connections, with GSO, are counted while they send, at a full buffer too."""
    pair, channel = stage(rate=10**5, delay=10 * MS, limit_packets=5)
    with pair.b.entered():
        server = socket.create_server(("10.0.0.2", 80))
    ends = []
    for _ in range(3):
        with pair.a.entered():
            client = socket.create_connection(("10.0.0.2", 80))
        ends.append((client, server.accept()[0]))
        client.sendall(b"x" * 50_000)
        net.sleep_ns(100 * MS)
        equal(flows(pair), len(ends), "flows")
    for client, taken in ends:
        client.close()
        with contextlib.suppress(OSError):
            while taken.recv(1 << 20):
                pass
        taken.close()
    equal(flows(pair), 0, "flows after they were closed")
    true(pair.stats()["dropped_buffer_packets"] > 0, "no drop")
    equal(channel.there()["flows"], 1, "flows of the path")
    leave(pair, channel)
    server.close()


def test_channel_comes_later() -> None:
    """A link works without the channel, and publishes what holds once it is there."""
    load(MODULE)
    unload()
    pair = Pair()
    pair.add(rate=10**6, feedback={"idle": SECOND})
    equal((pair.stats()["attached"], pair.stats()["published"]), (0, 0), "attached, published")
    net.sleep_ns(5 * SECOND)
    before = time.monotonic_ns()
    pair.change(rate=2 * 10**6)
    changed = time.monotonic_ns()
    send(pair, ipv4(tcp(SYN)))
    equal(flows(pair), 1, "flows are counted")
    net.sleep_ns(3 * SECOND)
    load(MODULE)
    net.sleep_ns(2 * SECOND)
    channel = LinkChannel(pair)
    path = channel.there()
    equal((path["rate"], path["flows"]), (2 * 10**6, 1), "rate and flows")
    true(before <= changed < path["time"] < changed + 2 * SECOND, "since the flow was idle")
    equal(pair.stats()["attached"], 1, "attached")
    leave(pair, channel)


def test_module_is_held_while_attached() -> None:
    """rate_feedback stays as long as a link publishes, and no longer."""
    load(MODULE)
    unload()
    pair, channel = stage()
    channel.close()
    true("in use" in net.run(f"rmmod {MODULE}", check=False), "unloaded while in use")
    pair.change(feedback={})
    net.run(f"rmmod {MODULE}")
    load(MODULE)
    pair.change(feedback={"idle": SECOND})
    true("in use" in net.run(f"rmmod {MODULE}", check=False), "unloaded while in use")
    pair.delete()
    net.run(f"rmmod {MODULE}")
    pair.close()


def test_one_link_of_a_device() -> None:
    """A second link of the device is refused whole; the path goes with its own link alone."""
    load(MODULE)
    pair = Pair()
    channel = LinkChannel(pair)
    net.run("tc qdisc add dev a0 root handle 1: prio", pair.a)
    first, second = 0x10001, 0x10002
    pair.control.add(pair.dev, {"rate": 1, "feedback": {"idle": SECOND}}, first, 0x100000)
    with contextlib.suppress(netlink.Refused):
        pair.control.add(pair.dev, {"feedback": {"idle": SECOND}}, second, 0x110000)
        raise AssertionError("two links publish")
    links = [q for q in pair.control.list(pair.dev) if q.kind == "wale"]
    equal(len(links), 1, "links")
    pair.control.add(pair.dev, {"rate": 2}, second, 0x110000)
    try:
        pair.control.change(pair.dev, {"rate": 5, "feedback": {"idle": SECOND}}, second, 0x110000)
        raise AssertionError("two links publish after a change")
    except netlink.Refused as refusal:
        equal(refusal.errno, errno.EBUSY, "errno")
        true("another link" in refusal.message, refusal.message)
    rates = sorted(q.options["rate"] for q in pair.control.list(pair.dev) if q.kind == "wale")
    equal(rates, [1, 2], "rates")
    equal(channel.there()["rate"], 1, "rate of the path")
    pair.control.delete(pair.dev, second)
    equal(channel.there()["rate"], 1, "rate of the path, one link less")
    pair.control.delete(pair.dev, first)
    equal(channel.path(), None, "path after its link")
    leave(pair, channel)


def test_refused_link_leaves_the_path() -> None:
    """A link that is refused gives the path back: its value, its settings, whom it follows."""
    load(MODULE)
    pair = Pair()
    pair.add(rate=1000)
    channel = LinkChannel(pair)
    pair.send(5, 1000)

    def refuse() -> None:
        before = channel.there()
        try:
            pair.change(overhead=2, limit_cells=1000, feedback={"idle": SECOND})
            raise AssertionError("cells came into a buffer of packets")
        except netlink.Refused as refusal:
            equal(refusal.errno, errno.EBUSY, "errno")
        after = channel.there()
        equal({**after, "age": 0}, {**before, "age": 0}, "path after the refusal")

    channel.set(ifindex=pair.dev, rate=123456, beta=7)
    refuse()
    channel.set(ifindex=pair.dev, rate=654321)
    equal(channel.there()["rate"], 654321, "rate, set by hand")
    with pair.a.entered():
        loopback = socket.if_nametoindex("lo")
    channel.set(ifindex=loopback, rate=77)
    with pair.a.entered(), open("/proc/self/ns/net", "rb") as here:
        channel.set(ifindex=pair.dev, follow={"netns_fd": here.fileno(), "ifindex": loopback})
    refuse()
    channel.set(ifindex=loopback, rate=78)
    equal(channel.there()["rate"], 78, "rate that is followed")
    pair.change(feedback={"idle": SECOND})
    equal(channel.there()["rate"], 1000, "rate of the link")
    channel.delete(ifindex=loopback)
    pair.change(feedback={})
    equal(channel.path(), None, "path after its link")
    leave(pair, channel)


def test_settings_stay() -> None:
    """Settings of the path outlive every change but the end of feedback."""
    pair, channel = stage(rate=10**6)
    channel.set(ifindex=pair.dev, beta=7)
    for options in (
        {"rate": 5},
        {"trace": [(MS, 1), (MS, 2)]},
        {"feedback": {"idle": SECOND}},
        {"overhead": 2, "seed": 9, "delay": MS},
    ):
        pair.change(**options)
        equal(channel.there()["beta"], 7, f"beta after {options}")
    equal(channel.there()["layer"], "atm", "layer")
    pair.change(feedback={})
    equal(channel.path(), None, "path without feedback")
    true("active_flows" not in pair.stats(), "statistics without feedback")
    pair.change(feedback={"idle": SECOND})
    equal(channel.there()["layer"], "atm", "layer")
    leave(pair, channel)


def test_lives_under_traffic() -> None:
    """Links that publish come and go, with their devices and namespaces, channel or not."""
    load(MODULE)
    for number in range(60):
        if number % 20 == 10 and loaded(MODULE):
            unload()
        if number % 20 == 15:
            load(MODULE)
        pair = Pair()
        for _ in range(3):
            pair.add(rate=10**5, delay=MS, feedback={"idle": 5 * MS}, loss=1 << 30)
            for port in range(20):
                send(pair, ipv4(tcp(SYN, 100, port=port)))
            pair.change(feedback={} if number % 2 else {"idle": MS}, rate=10**4)
            net.sleep_ns((number % 5) * 3 * MS)
            equal(pair.get().imbalance(), 0, "imbalance")
            if number % 3:
                pair.delete()
            else:
                break
        if number % 3 == 0 and number % 2:
            net.run("ip link del a0", pair.a)
        pair.close()
        net.sleep_ns((number % 4) * 400 * MS)
    unload()
    load(MODULE)


def test_allocation_failures() -> None:
    """Each allocation fails once: feedback is on and published, or as it was before."""
    failing = Failing()
    load(MODULE)
    pair = Pair()
    channel = LinkChannel(pair)

    def after(refused: bool) -> None:
        flush(pair)
        links = [q for q in pair.control.list(pair.dev) if q.kind == "wale"]
        on = bool(links) and "feedback" in links[0].options
        true(on or refused, "no feedback, and no error")
        equal(channel.path() is not None, on, "path there")
        if links:
            pair.delete()

    options = {"rate": 10**6, "feedback": {"idle": SECOND}}
    tried = failing.sweep(functools.partial(pair.add, **options), after)
    true(tried > 2, f"{tried} allocations in add")

    def after_change(refused: bool) -> None:
        flush(pair)
        found = pair.get().options
        on = "feedback" in found
        true(on or refused, "no feedback, and no error")
        equal(found["rate"], 10**6 if on else 5, "rate")
        equal(channel.path() is not None, on, "path there")
        pair.change(rate=5, feedback={})

    pair.add(rate=5)
    tried = failing.sweep(functools.partial(pair.change, **options), after_change)
    true(tried > 2, f"{tried} allocations in change")
    leave(pair, channel)


if __name__ == "__main__":
    main()
