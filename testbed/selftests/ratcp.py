#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""ratcp as a congestion control among others: chosen, switched, with all of TCP's options.

Topology: lib/pair.py, with a link on a0.  What it does with the rate in plain
transfers is tested by scenarios; here is what surrounds it.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import random
import re
import socket
import termios
import time
from typing import Any

from wale_lab.selftest import net, rate
from wale_lab.selftest.pair import MAC_B, Pair
from wale_lab.selftest.rate import S, channel
from wale_lab.selftest.tap import Skip, equal, main, true

MS = 10**6
SO_MAX_PACING_RATE = 47
ALLOWED = "/proc/sys/net/ipv4/tcp_allowed_congestion_control"
OPTIONS = ("tcp_sack", "tcp_timestamps", "tcp_ecn")


def same_phase() -> None:
    """Wait until timers, whose wheel has slots of up to 512 ticks, tick as before."""
    period = 10 * 512 * 10 * MS
    now = rate.time_ns()
    net.sleep_ns((now // period + 2) * period - now)


def transfer_trace(congestion: str, seed: int, **sysctls: str) -> tuple[list[Any], dict[str, int]]:
    """Return each packet that was offered or dropped, and when; and the link's counters."""
    pair = Pair()
    rate.prepare(pair, **sysctls)
    rate.slow_link(pair, rate=250_000, delay_ms=25, limit_packets=25, loss=1 << 26, seed=seed)
    same_phase()
    with rate.Trace("wale/wale_enqueue", "wale/wale_drop") as trace:
        sender = rate.Sender(pair, congestion)
        sender.fill()
        net.sleep_ns(20 * S)  # and no program runs, which would take time
        stats = pair.stats()
        sender.close()
    packets = [
        (kind, r["len"], r["now_ns"])
        for kind in ("wale_enqueue", "wale_drop")
        for r in trace.records(kind)
    ]
    pair.close()
    stats.pop("now_ns")
    return packets, stats


def test_without_advice_it_is_reno() -> None:
    """The same counters and the same packets at the same times as reno, with any options."""
    cases = [("1", "1", "0"), ("0", "0", "0"), ("0", "1", "1"), ("1", "0", "1")]
    for seed, case in enumerate(cases, start=1):
        sysctls = dict(zip(OPTIONS, case, strict=True))
        reno, reno_stats = transfer_trace("reno", seed, **sysctls)
        mine, mine_stats = transfer_trace("ratcp", seed, **sysctls)
        equal(mine_stats, reno_stats, f"counters with {sysctls}")
        true(reno_stats["dropped_loss_packets"] > 20, "hardly any loss in this test")
        true([p[:2] for p in mine] == [p[:2] for p in reno], f"other packets with {sysctls}")
        shift = mine[0][2] - reno[0][2]
        late = max(abs(a[2] - b[2] - shift) for a, b in zip(mine, reno, strict=True))
        true(late < 20_000, f"packets differ by up to {late} ns")


def sockets_by(ch: rate.Channel) -> list[str]:
    """Return the congestion controls of the sockets that listen."""
    return [flow["congestion"] for flow in ch.flows()]


def test_chosen_by_sysctl_route_and_socket() -> None:
    """sysctl, ip route ... congctl and TCP_CONGESTION all work, for both ends."""
    pair = Pair()
    rate.prepare(pair)
    rate.slow_link(pair, delay_ms=5)
    a, b = channel(pair.a), channel(pair.b)
    # a namespace other than the first may choose only among the allowed
    net.write(ALLOWED, "reno ratcp")
    rate.prepare(pair, tcp_congestion_control="ratcp")
    sender = rate.Sender(pair, None)
    equal((sockets_by(a), sockets_by(b)), (["ratcp"], ["ratcp"]), "by sysctl, both ends")
    ends = [(f["saddr"], f["daddr"], f["sport"], f["dport"]) for f in (*a.flows(), *b.flows())]
    there = ("10.0.0.2", "10.0.0.1", 5001, sender.sport)
    equal(ends, [("10.0.0.1", "10.0.0.2", sender.sport, 5001), there], "both ends")
    sender.close()
    rate.prepare(pair, tcp_congestion_control="reno")
    net.ip_batch(["route change 10.0.0.0/24 dev a0 congctl ratcp"], pair.a)
    sender = rate.Sender(pair, None)
    equal((sockets_by(a), sockets_by(b)), (["ratcp"], []), "by route, one end")
    equal(sender.congestion(), "ratcp", "TCP_CONGESTION")
    sender.close()
    net.ip_batch(["route change 10.0.0.0/24 dev a0"], pair.a)
    sender = rate.Sender(pair, "ratcp")
    equal((sockets_by(a), sockets_by(b)), (["ratcp"], []), "by socket")
    sender.close()
    sender = rate.Sender(pair, None)
    equal(sockets_by(a), [], "by nothing")
    sender.close()
    pair.close()


def test_allowed() -> None:
    """Who has no rights may choose it only if tcp_allowed_congestion_control has it."""
    pair = Pair()
    for allowed, expected in (("reno", False), ("reno ratcp", True)):
        net.write(ALLOWED, allowed)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            with pair.a.entered():
                os.setgroups([])
                os.setresuid(1000, 1000, 1000)
                sock = socket.socket()
                try:
                    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"ratcp")
                    os.write(writer, b"yes")
                except PermissionError:
                    os.write(writer, b"no")
                os._exit(0)
        os.waitpid(child, 0)
        equal(os.read(reader, 8), b"yes" if expected else b"no", f"with {allowed}")
        os.close(reader)
        os.close(writer)
    pair.close()


def test_switch_in_mid_connection() -> None:
    """Another congestion control every few ms, with loss and advice: nothing is lost or left."""
    pair = Pair()
    rate.prepare(pair)
    rate.slow_link(pair, rate=500_000, delay_ms=10, limit_packets=30, loss=1 << 26)
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=400_000, pace=1)
    draw = random.Random(1)
    sender = rate.Sender(pair, "reno")
    names = ["ratcp", "reno", "cubic", "ratcp", "bbr", "ratcp"]
    for _ in range(300):
        name = draw.choice(names)
        sender.use(name)
        equal(sockets_by(ch), ["ratcp"] if name == "ratcp" else [], "sockets that listen")
        sender.step(draw.choice((0.003, 0.02, 0.1)))
    sender.use("ratcp")
    # A receiver that reads seldom, or a window of two packets, leaves the ACKs to the
    # delayed ACK timer, and which of the two flows has it worse to chance.
    ch.set(ifindex=pair.dev, rate=200_000, beta=3)
    fresh = rate.Sender(pair, port=5002)
    before = sender.received
    rate.step([sender, fresh], 20, grain=0.005)
    mine = sender.received - before
    true(mine > 0.9 * fresh.received, f"{mine} bytes in 20 s, a new connection {fresh.received}")
    fresh.close()
    sender.use("reno")
    equal((ch.flows(), ch.get(ifindex=pair.dev)["listeners"]), ([], 0), "what is left")
    sender.close()
    pair.close()


def test_states_of_a_socket() -> None:
    """Chosen before, while and after connecting; refused; disconnected and used again."""
    pair = Pair()
    rate.prepare(pair)
    rate.slow_link(pair, delay_ms=50)
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=50_000)

    def count(expected: int, what: str) -> None:
        equal(len(ch.flows()), expected, f"flows {what}")
        equal(ch.get(ifindex=pair.dev)["listeners"], expected, f"listeners {what}")

    sender = rate.Sender(pair, "reno", connect=False)
    sender.use("ratcp")
    count(0, "before connecting")
    sender.socket.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        sender.socket.connect(sender.there)
    sender.use("reno")
    sender.use("ratcp")
    count(0, "while connecting")
    net.sleep_ns(S // 2)
    count(1, "when connected")
    sender.peer, _ = sender.listener.accept()
    sender.peer.setblocking(False)
    sender.step(1)
    equal(ch.flow(sender.sport)["base_rtt"] >= 50 * MS, True, "base RTT")
    rate.disconnect(sender.socket)
    count(0, "when disconnected")
    sender.peer.close()
    sender.socket.setblocking(True)
    sender.connect()
    count(1, "when connected again")
    sender.step(1)
    true(sender.received > 0, "nothing received")
    sender.close()
    count(0, "when closed")
    with pair.a.entered():
        refused = socket.socket()
    refused.setblocking(False)
    refused.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"ratcp")
    with contextlib.suppress(BlockingIOError):
        refused.connect(("10.0.0.2", 4444))
    refused.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    refused.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"ratcp")
    count(0, "before it is refused")
    net.sleep_ns(S)
    refused.close()
    count(0, "after it was refused")
    pair.close()


def test_chosen_after_a_pause() -> None:
    """A socket that was quiet reads the advice of now when it begins to listen, not of then."""
    pair = Pair()
    rate.prepare(pair)
    rate.slow_link(pair, delay_ms=20)
    ch = channel(pair.a)
    sender = rate.Sender(pair, "reno")
    net.sleep_ns(2 * S)
    ch.set(ifindex=pair.dev, rate=50_000, age_limit=S)
    net.sleep_ns(S // 10)
    sender.use("ratcp")
    equal(ch.flow(sender.sport)["rate"], 50_000, "advice that is there")
    sender.use("reno")
    net.sleep_ns(3 * S)
    sender.use("ratcp")
    equal(ch.flow(sender.sport)["rate"], 0, "advice that is too old")
    sender.close()
    pair.close()


def obeys(records: list[dict[str, Any]]) -> int:
    """Fail if a window was above W_rate, but for recovery; return how many had advice."""
    count = 0
    for record in records:
        if record["rate"] and record["phase"] != "recovery":
            count += 1
            true(record["cwnd"] <= record["rate_window"], f"a window above W_rate: {record}")
    return count


def test_all_options() -> None:
    """IPv4 and IPv6, SACK, timestamps and ECN on and off, with loss: the rate is kept up."""
    for number in range(8):
        case = [str(number >> bit & 1) for bit in range(3)]
        sysctls = dict(zip(OPTIONS, case, strict=True))
        pair = Pair()
        rate.prepare(pair, **sysctls)
        rate.ipv6(pair)
        rate.slow_link(pair, rate=200_000, delay_ms=30, limit_packets=40, loss=1 << 25)
        ch = channel(pair.a)
        ch.set(ifindex=pair.dev, rate=200_000, beta=2)
        for family, ends in ((2, ("10.0.0.1", "10.0.0.2")), (10, rate.V6)):
            with rate.Trace() as trace:
                sender = rate.Sender(pair, family=family, addresses=ends)
                sender.step(10)
                flow = ch.flow(sender.sport)
                sender.close()
            true(obeys(trace.windows(sender.sport)) > 200, "hardly any record")
            equal((flow["found_advice"], flow["lost_advice"]), (1, 0), "advice")
            share = sender.received / (10 * 200_000 * flow["mss"] / 1500)
            true(share > 0.6, f"{share:.2f} of the link with {sysctls}, family {family}")
        pair.close()


def test_marks_halve_the_window() -> None:
    """A mark of ECN is congestion: the window is halved, and comes back to W_rate."""
    pair = Pair()
    rate.prepare(pair, tcp_ecn="1")
    net.run("tc qdisc add dev a0 root netem delay 30ms rate 8mbit loss 0.5% ecn", pair.a)
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=900_000)
    with rate.Trace() as trace:
        sender = rate.Sender(pair)
        sender.step(20)
        sender.close()
    records = trace.windows(sender.sport)
    obeys(records)
    settled = [r for r in records if r["phase"] == "avoidance"]
    whole = max(r["rate_window"] for r in settled)
    true(any(r["cwnd"] <= whole // 2 + 1 for r in settled), "no window was halved")
    back = sum(
        before["cwnd"] < after["cwnd"] == after["rate_window"]
        for before, after in itertools.pairwise(settled)
    )
    true(back > 1, "the window does not come back to W_rate")
    pair.close()


def test_multipath() -> None:
    """MPTCP's subflows listen like any socket."""
    if not os.path.exists("/proc/sys/net/mptcp/enabled"):
        raise Skip("the kernel has no MPTCP")
    pair = Pair()
    rate.prepare(pair)
    rate.slow_link(pair, delay_ms=5)
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=50_000)
    rate.prepare(pair, tcp_congestion_control="ratcp")
    with pair.b.entered():
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
        listener.bind(("10.0.0.2", 5001))
        listener.listen()
    with pair.a.entered():
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
        sock.connect(("10.0.0.2", 5001))
    sock.send(bytes(10_000))
    net.sleep_ns(S)
    equal(sockets_by(ch), ["ratcp"], "subflows that listen")
    equal(ch.flows()[0]["rate"], 50_000, "rate")
    pair.close()


def bursts(pace: int) -> tuple[float, int, rate.Sender]:
    """Send a window at once, several times; return how long it takes to leave, and W_rate."""
    pair = Pair()
    rate.prepare(pair, tcp_slow_start_after_idle="0")
    rate.slow_link(pair, rate=10**8, delay_ms=100)
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=750_000, pace=pace)
    sender = rate.Sender(pair)
    sender.step(3)
    window = ch.flow(sender.sport)["rate_window"]
    mss = ch.flow(sender.sport)["mss"]
    net.wait_for(lambda: drained(sender), "an empty buffer", 200)
    with rate.Trace("wale/wale_enqueue") as trace:
        sender.socket.send(bytes(window * mss))
        net.sleep_ns(S // 2)
        sender.drain()
    times = [r["now_ns"] for r in trace.records("wale_enqueue") if r["len"] > 1000]
    equal(len(times), window, "packets of a window")
    limit = sender.socket.getsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE)
    sender.use("reno")
    after = sender.socket.getsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE)
    equal(after, -1, "SO_MAX_PACING_RATE after ratcp")
    true(pace or limit == after, "a pacing rate without pace")
    sender.close()
    pair.close()
    return (times[-1] - times[0]) / S, window, sender


def drained(sender: rate.Sender) -> bool:
    """Tell whether everything was acknowledged."""
    sender.drain()
    net.sleep_ns(S // 10)
    left = fcntl.ioctl(sender.socket, termios.TIOCOUTQ, bytes(4))
    return left == bytes(4)


def test_pace() -> None:
    """With pace, a window that may leave at once leaves at the rate; without, at once."""
    (fast, window, _), (slow, _, _) = bursts(0), bursts(1)
    ideal = (window - 1) * 1500 / 750_000
    true(fast < 0.001, f"without pace a window took {fast} s")
    true(0.8 * ideal < slow < 1.1 * ideal, f"with pace a window took {slow} s, not {ideal}")


def test_limit_of_the_user() -> None:
    """SO_MAX_PACING_RATE, set before or while ratcp paces, holds then and afterwards."""
    pair = Pair()
    rate.prepare(pair)
    rate.slow_link(pair, rate=10**6, delay_ms=50)
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=500_000, pace=1)
    sender = rate.Sender(pair, "reno")

    def limit(value: int) -> None:
        sender.socket.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, value)

    def speed(seconds: int = 10) -> float:
        before = sender.received
        sender.step(seconds)
        return (sender.received - before) / seconds

    limit(50_000)
    sender.use("ratcp")
    true(speed() < 60_000, "faster than the user's limit")
    limit(10_000)
    speed(5)
    true(speed() < 15_000, "faster than the user's new limit")
    limit(2_000_000)
    speed(5)
    true(speed() > 200_000, "slower than both")
    ch.set(ifindex=pair.dev, pace=0)
    speed(1)
    now = sender.socket.getsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE)
    equal(now, 2_000_000, "limit of the user without pace")
    sender.close()
    pair.close()


def test_pace_with_large_packets() -> None:
    """The largest rate that is paced, with the packets of loopback, is no small one."""
    pair = Pair()
    ch = channel(pair.a)
    with pair.a.entered():
        listener = socket.create_server(("127.0.0.1", 5001))
        sock = socket.socket()
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"ratcp")
    sock.connect(("127.0.0.1", 5001))
    peer, _ = listener.accept()
    limits = []
    # the last of them, times 65483 bytes, is just above 2^64
    for huge in (10**9, 10**12, 1 << 48, (1 << 64) // 65483 + 1):
        ch.set(ifindex=1, rate=huge, pace=1, base_rtt=S)
        for _ in range(3):
            sock.send(bytes(1000))
            peer.recv(1000)
            net.sleep_ns(S // 10)
        flow = ch.flows()[0]
        equal(flow["rate"], huge, "rate in use")
        limits.append(sock.getsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE) & 0xFFFFFFFF)
    true(min(limits) > 9 * 10**8, f"pacing limits {limits}, packets of {flow['packet_size']}")
    for end in (sock, peer, listener):
        end.close()
    pair.close()


def test_before_the_first_rtt() -> None:
    """A connection whose SYN-ACK was sent twice has no RTT yet: no advice, and none is shown."""
    pair = Pair()
    rate.prepare(pair, tcp_timestamps="0")
    net.write(ALLOWED, "reno ratcp")
    rate.prepare(pair, tcp_congestion_control="ratcp")
    rate.slow_link(pair, delay_ms=20)
    ch = channel(pair.b)
    ch.set(ifindex=pair.b.index("b0"), rate=10**6)
    net.run("tc qdisc add dev b0 root netem loss 100%", pair.b)
    sender = rate.Sender(pair, None, connect=False)
    sender.socket.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        sender.socket.connect(sender.there)
    net.sleep_ns(S // 2)
    net.run("tc qdisc del dev b0 root", pair.b)
    net.sleep_ns(5 * S)
    sender.peer, _ = sender.listener.accept()
    flow = ch.flow(5001)
    equal((flow["phase"], flow["base_rtt"], flow["rate_window"]), ("reno", 0, 0), "before")
    text = net.run("ss -tinO sport 5001", pair.b)
    true("mrtt:4294967" not in text, f"ss says: {text}")
    sender.peer.send(bytes(1000))
    net.sleep_ns(S)
    flow = ch.flow(5001)
    true(flow["phase"] != "reno" and flow["base_rtt"] > 0, f"after the first: {flow}")
    sender.close()
    pair.close()


def test_short_segments() -> None:
    """The base RTT is that of full packets, with the time that one takes on the link."""
    pair = Pair()
    rate.prepare(pair)
    rate.slow_link(pair, rate=10**5, delay_ms=20)
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=10**5)
    sender = rate.Sender(pair)
    port = sender.socket.getsockname()[1]
    for size in (100, 50_000, 1, 100, 20_000):
        sender.socket.send(bytes(size))
        net.sleep_ns(2 * S)
        flow = ch.flow(port)
        if size == 100 and flow["bytes_acked"] < 1000:
            true(flow["base_rtt"] < 25_000_000, f"of the SYN: {flow}")
        else:
            true(35_000_000 <= flow["base_rtt"] < 36_000_000, f"of a full packet: {flow}")
    sender.close()
    pair.close()


def base_rtts(pair: Pair, sender: rate.Sender, steps: list[str]) -> list[float]:
    """Return the base RTT, ms, at first and after each step: an `ip` command, or a delay in ms."""
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=100_000)
    found = []
    for step in ["", *steps]:
        if step.isdigit():
            pair.change(delay=int(step) * MS)
        elif step:
            net.ip_batch([step], pair.a)
        sender.step(3)
        found.append(ch.flow(sender.sport)["base_rtt"] / MS)
    sender.close()
    return found


def test_new_route_new_base_rtt() -> None:
    """The base RTT is the least ever, until the connection gets another next hop."""
    for family, ends, host, via in (
        (socket.AF_INET, ("10.0.0.1", "10.0.0.2"), "10.0.0.2/32", "10.0.0.3"),
        (socket.AF_INET6, rate.V6, "fd00::2/128", "fd00::3"),
    ):
        pair = Pair()
        rate.prepare(pair)
        rate.ipv6(pair)
        rate.slow_link(pair, delay_ms=20)
        net.ip_batch([f"neigh replace {via} lladdr {MAC_B} dev a0"], pair.a)
        sender = rate.Sender(pair, family=family, addresses=ends)
        source = f"dev a0 src {ends[0]}"
        onlink = f"route add {host} {source} mtu 1500"
        gateway = f"route replace {host} via {via} {source}"
        first, longer, same, other, back = base_rtts(pair, sender, ["100", onlink, gateway, "20"])
        true(20 <= first < 40, f"base RTT {first} ms on a line of 20 ms")
        equal(longer, first, "base RTT of a route that got longer")
        equal(same, first, "base RTT after a change that is not of the next hop")
        true(100 <= other < 140, f"base RTT {other} ms on another route, of 100 ms")
        true(back < other, f"base RTT {back} ms when that got shorter")
        pair.close()


def test_another_device() -> None:
    """A connection that is routed out of another device has its path, and a new base RTT."""
    pair = Pair()
    rate.prepare(pair)
    rate.slow_link(pair, delay_ms=20)
    net.ip_batch(
        [
            f"link add a1 type veth peer name b1 address {MAC_B} netns {pair.b.name}",
            "addr add 10.0.1.1/24 dev a1",
            "link set a1 up",
            f"neigh add 10.0.1.2 lladdr {MAC_B} dev a1",
        ],
        pair.a,
    )
    net.ip_batch(["addr add 10.0.1.2/24 dev b1", "link set b1 up"], pair.b)
    net.run("tc qdisc add dev a1 root netem delay 80ms rate 4mbit", pair.a)
    ch = channel(pair.a)
    devices = [pair.dev, pair.a.index("a1")]
    for number, dev in enumerate(devices):
        ch.set(ifindex=dev, rate=100_000 * (number + 1))
    sender = rate.Sender(pair)
    for _ in range(3):
        for number, command in enumerate(("del", "add")):
            if command == "add" or sender.received:
                net.ip_batch([f"route {command} 10.0.0.2/32 via 10.0.1.2 dev a1"], pair.a)
            sender.step(3)
            flow = ch.flow(sender.sport)
            equal((flow["ifindex"], flow["rate"]), (devices[number], 100_000 * (number + 1)), "")
            least = (20, 80)[number]
            true(least <= flow["base_rtt"] / MS < least + 40, f"base RTT {flow['base_rtt']}")
            listeners = [ch.get(ifindex=dev)["listeners"] for dev in devices]
            equal(listeners, [1 - number, number], "listeners")
    sender.close()
    pair.close()


#: Rates that are 50 and 10 packets of 1500 bytes in 100 ms.
HIGH, LOW = 750_000, 150_000


class Swinging:
    """A sender on a path of 100 ms, as far as it knows, with beta 1."""

    def __init__(self, congestion: str = "ratcp", buffer: int = 1 << 24) -> None:
        self.pair = Pair()
        rate.prepare(self.pair, tcp_sack="0")
        rate.slow_link(self.pair, rate=10**6, delay_ms=50)
        self.channel = channel(self.pair.a)
        self.set(rate=HIGH, base_rtt=S // 10, swing=50)
        self.sender = rate.Sender(self.pair, congestion, buffer=buffer)

    def set(self, **values: Any) -> None:
        """Set the path."""
        self.channel.set(ifindex=self.pair.dev, **values)

    def window(self, seconds: float = 2, **values: Any) -> int:
        """Set the path, send for so long; return W_rate."""
        if values:
            self.set(**values)
        self.sender.step(seconds)
        found: int = self.channel.flow(self.sender.sport)["rate_window"]
        return found

    def close(self) -> None:
        """End all."""
        self.sender.close()
        self.pair.close()


def test_swing() -> None:
    """Below its peak W_rate has so much of the gap more, at the peak not; for a minute."""
    for congestion in ("ratcp", "ratcp_oldtahoe"):
        path = Swinging(congestion)
        equal(path.window(), 51, "at the peak")
        equal(path.window(rate=LOW), 31, "10 + 1 + half of 40")
        flow = path.channel.flow(path.sender.sport)
        equal((flow["congestion"], flow["cwnd"]), (congestion, 31), "the window")
        equal([path.window(swing=n) for n in (0, 100, 33, 50)], [11, 51, 24, 31], "other swings")
        equal(path.window(base_rtt=S // 20), 16, "with half the base RTT: 5 + 1 + half of 20")
        equal(path.window(base_rtt=S // 10, beta=4), 34, "with beta 4")
        equal([path.window(rate=n) for n in (HIGH, LOW)], [54, 34], "up and down again")
        equal(path.window(57), 34, "59 s after the peak")
        equal(path.window(3), 14, "62 s after the peak, which is forgotten")
        equal(path.window(rate=LOW // 2), 5 + 4 + 2, "below the peak of now")
        path.close()


def test_swing_after_a_pause() -> None:
    """No ACK came for two minutes: the peak before them is forgotten with the first one."""
    path = Swinging(buffer=1 << 15)
    equal(path.window(), 51, "at the peak")
    net.sleep_ns(120 * S)
    equal(path.window(0.5, rate=LOW), 11, "after a pause")
    equal(path.window(rate=HIGH), 51, "at the peak again")
    net.sleep_ns(30 * S)
    equal(path.window(0.5, rate=LOW), 31, "after a shorter one")
    path.close()


def test_swing_on_another_route() -> None:
    """The peak is the old route's: with another next hop it begins anew."""
    path = Swinging()
    net.ip_batch([f"neigh replace 10.0.0.3 lladdr {MAC_B} dev a0"], path.pair.a)
    equal([path.window(rate=n) for n in (HIGH, LOW)], [51, 31], "on the first")
    net.ip_batch(["route add 10.0.0.2/32 via 10.0.0.3 dev a0 src 10.0.0.1"], path.pair.a)
    equal(path.window(), 11, "on the second")
    path.close()


def test_shown_by_ss() -> None:
    """ss -ti prints rate and base RTT as bw and mrtt."""
    pair = Pair()
    rate.prepare(pair)
    rate.slow_link(pair, delay_ms=20)
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=100_000)
    sender = rate.Sender(pair)
    sender.step(1)
    flow = ch.flow(sender.sport)
    text = net.run("ss -tinO dst 10.0.0.2", pair.a)
    found = re.search(r"\bratcp .*bbr:\(bw:(\S+?)bps,mrtt:([0-9.]+)", text)
    true(found, f"ss says: {text}")
    assert found
    equal(found[1] in ("800000", "800k", "0.8M"), True, f"bw {found[1]}")
    true(abs(float(found[2]) - flow["base_rtt"] / MS) < 0.1, f"mrtt {found[2]}, {flow}")
    ch.delete()
    sender.step(1)
    text = net.run("ss -tinO dst 10.0.0.2", pair.a)
    true("ratcp" in text and "bw:0bps" in text, f"without advice ss says: {text}")
    sender.close()
    pair.close()


def drops_after(cwnd_of: int, congestion: str = "ratcp") -> int:
    """Return what is dropped in 5 s after advice is gone, or another TCP has the window."""
    pair = Pair()
    rate.prepare(pair)
    rate.slow_link(pair, rate=2_000_000, delay_ms=25, limit_packets=40)
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=1_000_000)
    sender = rate.Sender(pair)
    rate.step([sender], 1, grain=0.01)
    ch.set(ifindex=pair.dev, rate=cwnd_of)
    rate.step([sender], 1, grain=0.01)
    if congestion == "ratcp":
        ch.delete()
    else:
        sender.use(congestion)
    before = pair.stats()["dropped_buffer_packets"]
    rate.step([sender], 5, grain=0.01)
    dropped = pair.stats()["dropped_buffer_packets"] - before
    sender.close()
    pair.close()
    return dropped


def test_what_a_huge_rate_leaves() -> None:
    """Advice of far too much, when it goes, leaves a window that was seen in flight."""
    for congestion in ("ratcp", "reno"):
        right = drops_after(2_000_000, congestion)
        true(right < 100, f"{congestion}: {right} drops after the right rate")
        for whole in (200_000_000, 10**15):
            dropped = drops_after(whole, congestion)
            true(dropped < 500, f"{congestion}: {dropped} drops after {whole} bytes/s")


def test_start() -> None:
    """It starts with one packet and is at W_rate after a few round trips, without a loss."""
    pair = Pair()
    rate.prepare(pair)
    rate.slow_link(pair, rate=10**6, delay_ms=100, limit_packets=50)
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=10**6)
    with rate.Trace("wale/wale_enqueue") as trace:
        sender = rate.Sender(pair)
        sender.step(2)
        sender.close()
    records = trace.windows(sender.sport)
    equal(records[0]["cwnd"], 1, "first window")
    full = next(r for r in records if r["cwnd"] == r["rate_window"] > 60)
    took = (full["now_ns"] - records[0]["now_ns"]) / S
    true(took < 1.5, f"at W_rate after {took} s")
    equal(pair.stats()["dropped_buffer_packets"], 0, "drops")
    data = [r["now_ns"] for r in trace.records("wale_enqueue") if r["len"] > 100]
    first = [when for when in data if when < data[0] + 90 * MS]
    equal(len(first), 1, "packets in the first round trip")
    pair.close()


# of NewReno, and nothing that came after it
NEWRENO = {"tcp_sack": "0", "tcp_timestamps": "0", "tcp_recovery": "0", "tcp_frto": "0"}


def test_random_loss_without_sack() -> None:
    """Of what an ACK covers, little has just arrived: no burst takes its place in the buffer."""
    for seed in (1, 2, 3):
        pair = Pair()
        rate.prepare(pair, **NEWRENO)
        net.run("ip route change 10.0.0.0/24 dev b0 quickack 1", pair.b)
        # 200 packets/s, and a buffer smaller than the window
        rate.slow_link(pair, 300_000, 100, limit_packets=10, loss=(1 << 32) // 100, seed=seed)
        channel(pair.a).set(ifindex=pair.dev, rate=300_000, rise="additive", beta=4)
        sender = rate.Sender(pair)
        sender.step(100)
        stats = pair.stats()
        lost, dropped = stats["dropped_loss_packets"], stats["dropped_buffer_packets"]
        true(lost > 150 and dropped < lost / 10, f"{dropped} dropped, {lost} lost (seed {seed})")
        true(sender.received > 0.85 * 100 * 290_000, f"{sender.received} bytes (seed {seed})")
        sender.close()
        pair.close()


def test_after_idle() -> None:
    """After a pause it starts slowly again if the stack says so, and keeps its window if not."""
    for knob in ("1", "0"):
        pair = Pair()
        rate.prepare(pair, tcp_slow_start_after_idle=knob)
        rate.slow_link(pair, rate=10**6, delay_ms=100)
        ch = channel(pair.a)
        ch.set(ifindex=pair.dev, rate=10**6)
        sender = rate.Sender(pair)
        sender.step(3)
        window = ch.flow(sender.sport)["cwnd"]
        true(window > 60, f"window {window}")
        net.wait_for(lambda s=sender: drained(s), "an empty buffer", 200)
        net.sleep_ns(10 * S)
        with rate.Trace() as trace:
            sender.step(0.35)
        records = trace.windows(sender.sport)
        phases = {r["phase"] for r in records}
        sender.step(2)
        if knob == "1":
            true(records[0]["cwnd"] <= 12, f"window after a pause: {records[0]}")
            true("slow-start" in phases, f"phases {phases}")
        else:
            true(records[0]["cwnd"] >= window - 1, f"window after a pause: {records[0]}")
            equal(phases, {"avoidance"}, "phases")
        flow = ch.flow(sender.sport)
        equal(flow["cwnd"], flow["rate_window"], "window, a few round trips later")
        sender.close()
        pair.close()


def test_bulk_ends() -> None:
    """A transfer of known length arrives whole, through changes of everything."""
    pair = Pair()
    rate.prepare(pair)
    rate.slow_link(pair, rate=10**6, delay_ms=20, limit_packets=50, loss=1 << 25)
    ch = channel(pair.a)
    draw = random.Random(3)
    sender = rate.Sender(pair)
    data = draw.randbytes(1 << 20)
    got = b""
    sent = 0
    assert sender.peer
    start = time.monotonic()
    while len(got) < len(data):
        with contextlib.suppress(BlockingIOError):
            sent += sender.socket.send(data[sent:])
        net.sleep_ns(20 * MS)
        with contextlib.suppress(BlockingIOError):
            got += sender.peer.recv(1 << 20)
        settings = {"pace": draw.randrange(2), "rise": draw.choice(("fast", "additive"))}
        ch.set(ifindex=pair.dev, rate=draw.randrange(10**5, 10**6), **settings)
        true(time.monotonic() - start < 100, f"{len(got)} bytes after 100 s")
    true(got == data, "other data than was sent")
    sender.close()
    pair.close()


if __name__ == "__main__":
    main()
