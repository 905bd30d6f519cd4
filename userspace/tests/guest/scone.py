#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""wale scone listen: advice in SCONE packets becomes a path for TCP to who sent them.

Topology: testbed/src/wale_lab/selftest/pair.py; it runs at b, and a sends.
"""

from __future__ import annotations

import json
import random
import socket
import time
from typing import Any

from common import WALE, done, refused
from rate import Child, paths
from wale_lab.models import scone
from wale_lab.selftest import net
from wale_lab.selftest.pair import Pair
from wale_lab.selftest.scone_wire import Wire, packet
from wale_lab.selftest.tap import equal, main, true, virtual_time

SECOND = 10**9
TO = b"12345678"
NEXT = b"\x41" + TO + bytes(20)  # a packet with a short header


class Listener(Child):
    """A wale scone listen."""

    command = "scone"

    def __init__(self, ns: net.Namespace, *words: str) -> None:
        super().__init__(ns, "listen", *words)

    def counts(self) -> list[int]:
        """Return what it counted: with advice, unknown, malformed, not looked at."""
        self.end()
        self.err.seek(0)
        return [int(word) for word in self.err.read().split() if word.isdigit()]


def datagram(signal: int) -> bytes:
    """Return a SCONE packet, and another one."""
    return scone.packet(TO, b"", signal) + NEXT


def advise(pair: Pair, *signals: int) -> None:
    """Send them, and let them arrive."""
    for signal in signals:
        pair.udp.send(datagram(signal))
    time.sleep(0.05)


@virtual_time("it takes minutes")
def test_the_lowest_of_a_period() -> None:
    """It is a path for the peer; when the lowest is too old the next counts, and then none."""
    pair = Pair()
    listener = Listener(pair.b, "--json")
    advise(pair, 20)
    (path,) = paths(pair.b)
    expected: dict[str, Any] = {
        "dst": "10.0.0.1/32",
        "rate": 125_000,
        "meaning": "link",
        "lag": "rtt",
        "age_limit_ns": scone.PERIOD_NS,
    }
    equal({key: path[key] for key in expected}, expected, "path")
    advise(pair, 19, 40)
    equal(paths(pair.b)[0]["rate"], scone.rate_of(19), "the lowest")
    time.sleep(60)
    advise(pair, 40, scone.UNKNOWN)
    equal(paths(pair.b)[0]["rate"], scone.rate_of(19), "the lowest, a minute later")
    time.sleep(9)
    equal(paths(pair.b)[0]["rate"], 1_250_000, "after a period")
    time.sleep(60)
    equal(paths(pair.b), [], "after a period without advice")
    lines = [json.loads(line) for line in listener.end()]
    rates = [125_000, scone.rate_of(19), 1_250_000, None]
    equal(lines, [{"dst": "10.0.0.1/32", "rate": rate} for rate in rates], "what was printed")


def test_tcp_listens() -> None:
    """A connection to the peer with ratcp has the path, and the options are as said."""
    pair = Pair()
    listener = Listener(pair.b, "dev", "b0", "share", "beta", "3")
    with pair.a.entered():
        server = socket.create_server(("10.0.0.1", 80))
    advise(pair, 40)
    with pair.b.entered():
        client = socket.socket()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"ratcp")
        client.connect(("10.0.0.1", 80))
    (path,) = paths(pair.b)
    equal((path["listeners"], path["beta"], path["meaning"]), (1, 3, "share"), "path")
    equal(listener.end(), ["dst 10.0.0.1/32 10Mbit"], "printed")
    equal(paths(pair.b), [], "at the end")
    client.close()
    server.close()


def test_what_is_no_advice() -> None:
    """It is counted, if it has the version, and nothing is published."""
    pair = Pair()
    listener = Listener(pair.b)
    whole = scone.packet(TO, b"", 20)
    for at in range(len(whole)):
        pair.udp.send(whole[:at])
    pair.udp.send(whole)
    pair.udp.send(whole + b"\x41other!!!" + bytes(20))
    pair.udp.send(bytes([whole[0]]) + b"\x6e" + whole[2:] + NEXT)
    pair.udp.send(bytes([whole[0] & 0x7F]) + whole[1:] + NEXT)
    pair.udp.send(whole + NEXT + bytes(3000))  # fragments
    advise(pair, scone.UNKNOWN)
    equal(paths(pair.b), [], "paths")
    equal(listener.counts(), [0, 1, len(whole) - 5 + 2, 0], "counts")


def test_rubbish() -> None:
    """Packets of any kind, cut off or wrong; what is published came with the version of SCONE."""
    rng = random.Random(20261128)
    pair = Pair()
    listener = Listener(pair.b)
    wire = Wire(pair)
    sources: set[str] = set()
    for _ in range(40):
        sent = [packet(rng) for _ in range(50)]
        wire.send(sent)
        time.sleep(0.1)
        for one in sent:
            if (scone.VERSION & 0xFFFFFF).to_bytes(3, "big") in one:
                ipv4 = one[0] >> 4 == 4
                at = one[12:16] if ipv4 else one[8:24]
                sources.add(socket.inet_ntop(socket.AF_INET if ipv4 else socket.AF_INET6, at))
    advise(pair, 20)
    found = {path["dst"].split("/")[0]: path["rate"] for path in paths(pair.b)}
    equal(found.pop("10.0.0.1"), 125_000, "the rate of what is no rubbish")
    true(5 < len(found) and set(found) <= sources, f"{len(found)} paths: {set(found) - sources}")
    advice, _, malformed, skipped = listener.counts()
    true(advice > len(found) and malformed > 100 and not skipped, "too little of each kind")
    wire.close()
    pair.close()


def test_the_device_goes() -> None:
    """While it is down nothing comes; if it is deleted, or moved away, the command ends."""
    for words in ("link del b0", "link set b0 netns 1"):
        pair = Pair()
        listener = Listener(pair.b, "dev", "b0")
        for state in ("down", "up"):
            done(pair.b, "ip", "link", "set", "b0", state)
            time.sleep(1.5)
        advise(pair, 40)
        equal([path["rate"] for path in paths(pair.b)], [1_250_000], "after it was down")
        done(pair.b, "ip", *words.split())
        equal(listener.wait(status=1), ["dst 10.0.0.1/32 10Mbit"], "printed")
        listener.err.seek(0)
        said = listener.err.read().splitlines()
        equal(said[0], "wale scone: cannot listen: the device is gone", "said")
        equal(paths(pair.b), [], "paths")
        net.run("ip link del b0", check=False)
        pair.close()


@virtual_time("it counts packets of a second")
def test_a_flood() -> None:
    """A thousand packets in a second are looked at, and one of them changes what is published."""
    pair = Pair()
    listener = Listener(pair.b)
    for _ in range(25):
        advise(pair, *[50] * 100)
    (path,) = paths(pair.b)
    true(int(path["updates"]) <= 3, f"updates: {path['updates']}")
    advice, *_, skipped = listener.counts()
    equal(advice + skipped, 2500, "packets")
    true(1000 <= advice <= 2000, f"looked at: {advice}")


def test_show_publishes_nothing() -> None:
    """It prints only."""
    pair = Pair()
    listener = Listener(pair.b, "--show")
    advise(pair, 0)
    equal(paths(pair.b), [], "paths")
    equal(listener.end(), ["dst 10.0.0.1/32 100Kbit"], "printed")


def test_what_is_refused() -> None:
    """One sentence says why."""
    ns = net.Namespace("words")
    for words, why in (
        ("", "expected dev, show, del or listen"),
        ("hear", 'expected dev, show, del or listen, got "hear"'),
        ("listen dev", "dev: a device was expected"),
        ("listen dev none", 'there is no device "none"'),
        ("listen dev lo dev lo", "listen: dev is given twice"),
        ("listen 10mbit", "listen: rate, time, age and follow come from the advice"),
        ("listen age 3s", "listen: rate, time, age and follow come from the advice"),
        ("listen beta -1", "beta"),
        ("listen --what", 'no option "--what"'),
    ):
        said = refused(ns, WALE, "scone", *words.split(), status=2)
        true(said.startswith("wale scone: ") and why in said, f"{words}: {said}")
    true("wale scone listen" in done(ns, WALE, "scone", "--help"), "help")


if __name__ == "__main__":
    main()
