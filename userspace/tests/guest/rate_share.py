#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""wale rate share: every flow has its max-min share, and nothing is left behind.

   ns "a"                                          ns "b"
+-------------------------------------+         +---------------+
| senders (ratcp)   10.0.0.1/24       |         |  10.0.0.2/24  |
|   --> [wale 10 Mbit/s, 20 ms] a0 ===|== veth =|=== b0 sinks   |
| wale rate share a0                  |         |               |
+-------------------------------------+         +---------------+
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from typing import Any

from common import WALE, as_json, done, refused
from rate import Child, paths, rate
from wale_lab.selftest import net
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.tap import equal, main, true

CAPACITY = 1_250_000
PACKET, HEADERS = 1500, 52


def stage() -> Pair:
    """Return a pair with a link of the capacity, and buffers for any window."""
    pair = Pair()
    pair.add(rate=CAPACITY, delay=20 * MS, limit_packets=1000)
    for ns in (pair.a, pair.b):
        with ns.entered():
            net.write("/proc/sys/net/ipv4/tcp_rmem", "4096 4000000 8000000")
            net.write("/proc/sys/net/ipv4/tcp_wmem", "4096 4000000 8000000")
    return pair


class Sender:
    """A process that sends, as much as it may, or so many bytes every 10 ms."""

    def __init__(self, pair: Pair, port: int, bytes_each: int = 0) -> None:
        self.port = port
        with pair.b.entered():
            listener = socket.create_server(("10.0.0.2", port))
        with pair.a.entered():
            sender = socket.socket()
        sender.setsockopt(socket.IPPROTO_TCP, 13, b"ratcp")  # TCP_CONGESTION
        self.sink = os.fork()
        if self.sink == 0:
            self._drain(listener)
        self.process = os.fork()
        if self.process == 0:
            self._send(sender, bytes_each)
        listener.close()
        sender.close()

    @staticmethod
    def _drain(listener: socket.socket) -> None:
        peer, _ = listener.accept()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 16384)
        with contextlib.suppress(OSError):
            while peer.recv(1 << 20):
                pass
        os._exit(0)

    def _send(self, sender: socket.socket, bytes_each: int) -> None:
        sender.connect(("10.0.0.2", self.port))
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        data = bytes(bytes_each or 65536)
        while True:
            sender.sendall(data)
            if bytes_each:
                time.sleep(0.01)

    def stop(self) -> None:
        """End it, and what receives from it."""
        for process in (self.process, self.sink):
            if process:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
        self.process = self.sink = 0


def flows(pair: Pair) -> dict[int, dict[str, Any]]:
    """Return the flows that listen, by the port of the peer."""
    found = as_json(pair.a, WALE, "rate", "show", "--flows", "--json")["flows"]
    return {int(flow["peer"].rsplit(":", 1)[1]): flow for flow in found}


def goodput(pair: Pair, seconds: float) -> dict[int, float]:
    """Return the payload bytes per second of each flow, from now on."""
    before = flows(pair)
    time.sleep(seconds)
    after = flows(pair)
    return {
        port: (flow["bytes_acked"] - before[port]["bytes_acked"]) / seconds
        for port, flow in after.items()
        if port in before
    }


def near(got: float, expected: float, part: float, what: str) -> None:
    """Fail unless two numbers differ by no more than a part."""
    true(abs(got - expected) <= part * expected, f"{what}: {got}, not {expected}")


def never_more_than(capacity: int, lines: list[str]) -> int:
    """Fail if shares ever added up to more; return how many lines told of one."""
    shares: dict[str, int] = {}
    count = 0
    for line in lines:
        event = json.loads(line)
        name = event["local"] + event["peer"]
        if event["event"] == "share":
            count += 1
            shares[name] = event["rate"]
        elif event["event"] == "end":
            shares.pop(name, None)
        true(sum(shares.values()) <= capacity, f"shares of {sum(shares.values())} at {line}")
    return count


def controller(pair: Pair, *words: str) -> Child:
    """Start a controller of a0."""
    return Child(pair.a, "share", "a0", "--capacity", "10mbit", "--json", *words)


def test_equal_shares() -> None:
    """Flows come and go: each has an equal share at once, and uses it."""
    pair = stage()
    child = controller(pair)
    senders = [Sender(pair, 5001)]
    time.sleep(1)
    equal(flows(pair)[5001]["rate"], CAPACITY, "the share of one flow")
    senders += [Sender(pair, 5002), Sender(pair, 5003)]
    time.sleep(0.3)
    shares = sorted(flow["rate"] for flow in flows(pair).values())
    equal(shares, [416_666, 416_667, 416_667], "the shares of three flows")
    time.sleep(1)
    used, whole = goodput(pair, 5), CAPACITY * (PACKET - HEADERS) / PACKET
    near(sum(used.values()), whole, 0.05, "goodput of all")
    for port, rate_ in used.items():  # a delayed ACK may keep one packet of a window of six
        near(rate_, whole / 3, 1 / 6, f"goodput of {port}")
    senders[0].stop()
    time.sleep(0.5)
    equal(len(paths(pair.a)), 2, "paths")
    equal({flow["rate"] for flow in flows(pair).values()}, {CAPACITY // 2}, "two flows")
    drops = pair.stats()["dropped_buffer_packets"]
    equal(drops, 0, "packets dropped")
    lines = child.end()
    true(never_more_than(CAPACITY, lines) >= 6, f"{len(lines)} lines")
    equal(paths(pair.a), [], "paths that are left behind")
    time.sleep(0.5)
    equal({flow["phase"] for flow in flows(pair).values()}, {"reno"}, "without advice")
    for sender in senders:
        sender.stop()


def test_demands() -> None:
    """Who sends less than his share leaves the rest to the others, and gets it back."""
    pair = stage()
    child = controller(pair)
    senders = [Sender(pair, 5001), Sender(pair, 5002, bytes_each=1000), Sender(pair, 5003)]
    time.sleep(3)
    found = flows(pair)
    share = found[5002]["rate"]
    true(120_000 <= share <= 320_000, f"the share of the flow that sends 100 kB/s is {share}")
    rest = (CAPACITY - share) / 2
    for port in (5001, 5003):
        near(found[port]["rate"], rest, 0.001, f"the share of {port}")
    rates = goodput(pair, 5)
    near(rates[5002], 100_000, 0.02, "what the limited flow sends")
    equal_payload = CAPACITY / 3 * (PACKET - HEADERS) / PACKET
    true(rates[5001] > equal_payload, f"{rates[5001]} is more than an equal share")
    for sender in senders:
        sender.stop()
    time.sleep(1)
    never_more_than(CAPACITY, child.end(signal.SIGTERM))
    equal(paths(pair.a), [], "paths that are left behind")


def test_idle_flow_wakes_up() -> None:
    """A flow that was idle has its share again within a second."""
    pair = stage()
    child = controller(pair, "--quiet")
    idle, busy = Sender(pair, 5001), Sender(pair, 5002)
    os.kill(idle.process, signal.SIGSTOP)
    time.sleep(4)
    true(flows(pair)[5002]["rate"] > 0.9 * CAPACITY, "the share of the other")
    os.kill(idle.process, signal.SIGCONT)
    time.sleep(1)
    equal({flow["rate"] for flow in flows(pair).values()}, {CAPACITY // 2}, "shares")
    equal(child.end(), [], "lines of a quiet controller")
    idle.stop()
    busy.stop()


def test_killed() -> None:
    """What a killed controller advised ends with its age; the next one takes over."""
    pair = stage()
    child = controller(pair, "--age", "1s", "--beta", "2", "--lag", "rtt")
    sender = Sender(pair, 5001)
    time.sleep(1)
    path = paths(pair.a)[0]
    equal((path["beta"], path["lag"], path["age_limit_ns"]), (2, "rtt", 1000 * MS), "options")
    child.end(signal.SIGKILL, -signal.SIGKILL)
    time.sleep(1.5)
    equal(len(paths(pair.a)), 1, "paths")
    equal(flows(pair)[5001]["phase"], "reno", "after the age limit")
    child = controller(pair, "--age", "1s")
    time.sleep(1)
    true(flows(pair)[5001]["phase"] != "reno", "with the next controller")
    child.end()
    equal(paths(pair.a), [], "paths that are left behind")
    sender.stop()


def test_only_one() -> None:
    """A second controller of a device is told; one of another device is not in the way."""
    pair = stage()
    child = controller(pair)
    words = "share a0 --capacity 1mbit"
    message = refused(pair.a, WALE, "rate", *words.split())
    true("another controller" in message, message)
    other = Child(pair.a, "share", "lo", "--capacity", "1mbit")
    other.end()
    elsewhere = Child(pair.b, "share", "b0", "--capacity", "1mbit")
    elsewhere.end()
    child.end()
    controller(pair).end()


def test_others_paths_stay() -> None:
    """A flow that somebody else advises is left alone, and so are all other paths."""
    pair = stage()
    rate(pair.a, "set dev a0 1mbit")
    rate(pair.a, "set dst 10.0.0.0/24 2mbit")
    sender = Sender(pair, 5001)
    time.sleep(0.5)
    flow = flows(pair)[5001]
    rate(pair.a, f"set flow {flow['local']} {flow['peer']} 3mbit")
    child = controller(pair)
    time.sleep(1)
    equal(flows(pair)[5001]["rate"], 375_000, "the share")
    lines = child.end()
    equal([json.loads(line)["event"] for line in lines], ["not-mine"], "lines")
    equal(len(paths(pair.a)), 3, "paths")
    sender.stop()


def test_other_devices() -> None:
    """Flows that leave by another device are none of the controller's."""
    pair = stage()
    child = Child(pair.a, "share", "lo", "--capacity", "10mbit", "--json")
    sender = Sender(pair, 5001)
    time.sleep(1)
    equal(paths(pair.a), [], "paths")
    equal(child.end(), [], "lines")
    sender.stop()


def test_device_vanishes() -> None:
    """Without its device the controller ends, with status 1 and without a trace."""
    pair = stage()
    child = controller(pair)
    sender = Sender(pair, 5001)
    time.sleep(1)
    equal(len(paths(pair.a)), 1, "paths")
    done(pair.a, "ip", "link", "del", "a0")
    child.wait(1)
    equal(paths(pair.a), [], "paths that are left behind")
    sender.stop()


def test_reader_vanishes() -> None:
    """When nobody reads what it prints, the controller ends, and leaves nothing behind."""
    pair = stage()
    sender = Sender(pair, 5001)
    words = ("share", "a0", "--capacity", "10mbit")
    child = subprocess.Popen(
        ["ip", "netns", "exec", pair.a.name, WALE, "rate", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout
    true("share 10.0.0.1:" in child.stdout.readline(), "the first line")
    child.stdout.close()
    second = Sender(pair, 5002)
    equal(child.wait(10), 1, "status")
    equal(paths(pair.a), [], "paths that are left behind")
    sender.stop()
    second.stop()


def test_many_flows() -> None:
    """Fifty flows at once, while the controller was stopped."""
    pair = stage()
    child = controller(pair)
    child.process.send_signal(signal.SIGSTOP)
    senders = [Sender(pair, 6000 + n) for n in range(50)]
    time.sleep(1)
    child.process.send_signal(signal.SIGCONT)
    shares: set[int] = set()
    for _ in range(20):  # some wait for their timers, and use no share until then
        time.sleep(1)
        shares = {flow["rate"] for flow in flows(pair).values()}
        if shares == {CAPACITY // 50}:
            break
    equal(shares, {CAPACITY // 50}, "shares")
    for sender in senders[10:]:
        sender.stop()
    time.sleep(1.5)
    equal(len(paths(pair.a)), 10, "paths")
    never_more_than(CAPACITY, child.end())
    for sender in senders:
        sender.stop()


if __name__ == "__main__":
    main()
