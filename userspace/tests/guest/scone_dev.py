#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""wale scone dev: advice in what leaves by a device that has another qdisc than wale.

Topology: testbed/src/wale_lab/selftest/pair.py; the device is a0.
"""

from __future__ import annotations

import random
import socket
import struct
from typing import Any

from common import WALE, as_json, done, refused
from wale_lab.models import scone
from wale_lab.selftest import net
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.scone_wire import Wire, ipv4, ones_sum, packet, udp
from wale_lab.selftest.tap import equal, main, true

MBIT = 125_000
BATCH = 200
QDISCS = {
    "htb": "htb default 1",
    "fq_codel": "fq_codel",
    "tbf": "tbf rate 80mbit burst 9kb limit 1mb",
}


def tc(pair: Pair, words: str) -> str:
    """Run tc at the sender."""
    return done(pair.a, "tc", *words.split())


def told(pair: Pair, words: str = "") -> None:
    """Run wale scone dev a0."""
    done(pair.a, WALE, "scone", "dev", "a0", *words.split())


def shown(pair: Pair) -> list[dict[str, Any]]:
    """Return what wale scone show has."""
    found: list[dict[str, Any]] = as_json(pair.a, WALE, "scone", "show", "--json")
    return found


def exchange(wire: Wire, packets: list[bytes]) -> list[bytes]:
    """Send packets; return what arrives."""
    wire.receive()
    wire.send(packets)
    net.wait_for(lambda: net.backlog() == 0, "packets to arrive")
    net.sleep_ns(20 * MS)
    return wire.receive()


def signal(wire: Wire, number: int, sent: int = scone.UNKNOWN) -> int:
    """Return the signal of a new flow's packet when it arrives."""
    source = bytes((10, 0, 0, 1))
    data = scone.packet(signal=sent) + b"\x40data"
    body = udp(data, (2000 + number, 443), source + bytes((10, 0, 0, 2)))
    (got,) = exchange(wire, [ipv4(body, source)])
    equal(ones_sum(got[12:20] + struct.pack("!HH", 17, len(got) - 20) + got[20:]), 0xFFFF, "sum")
    return scone.read(got[28:])


def test_as_the_model() -> None:
    """Beside each qdisc, every packet comes out as the model says, and is counted."""
    rng = random.Random(20261128)
    for name, words in QDISCS.items():
        pair = Pair()
        tc(pair, f"qdisc add dev a0 root handle 5: {words}")
        wire = Wire(pair)
        changed = 0
        for _ in range(2):
            advice = rng.randrange(scone.HIGHEST_SIGNAL + 1)
            told(pair, f"rate {scone.rate_of(advice)}bps period 100ms")
            packets = [packet(rng) for _ in range(BATCH)]
            got = exchange(wire, packets)
            equal(len(got), BATCH, f"{name}: packets that arrived")
            for before, after in zip(packets, got, strict=True):
                want = scone.lower_packet(before, advice)
                changed += want != before
                equal(after.hex(), want.hex(), f"{name}: {before.hex()}")
        (now,) = shown(pair)
        true(changed > BATCH // 6, f"{name}: only {changed} were changed")
        equal((now["lowered"], now["limited"], now["signal"]), (changed, 0, advice), name)
        true(f"qdisc {name} 5: root" in tc(pair, "qdisc show dev a0"), f"{name} is gone")
        wire.close()
        pair.close()


def test_gso() -> None:
    """Each segment of a large datagram, whose checksum the device is to compute."""
    pair = Pair()
    told(pair, "rate 1mbit")
    data = b"".join((scone.packet() + b"\x40%d" % n).ljust(1000, b"\0") for n in range(4))
    pair.udp.setsockopt(socket.IPPROTO_UDP, net.UDP_SEGMENT, 1000)
    pair.udp.send(data)
    net.sleep_ns(20 * MS)
    got = pair.payloads()
    equal([scone.read(one) for one in got], [20] * 4, "signals")
    equal([one[7:9] for one in got], [b"\x40%d" % n for n in range(4)], "what follows")
    pair.close()


def test_path() -> None:
    """The rate of the device's path, or another's, as it is now; without one, no advice."""
    pair = Pair()
    wire = Wire(pair)
    told(pair)
    equal(shown(pair)[0]["path"], "a0", "path")
    equal(signal(wire, 1), scone.UNKNOWN, "without a path")
    done(pair.a, WALE, "rate", "set", "dev", "a0", "10mbit")
    equal(signal(wire, 2), 40, "with one")
    done(pair.a, WALE, "rate", "set", "dev", "a0", "1mbit", "link")
    equal(signal(wire, 3), 20, "with another rate")
    told(pair, "path lo")
    equal(signal(wire, 4), scone.UNKNOWN, "of another device")
    done(pair.a, WALE, "rate", "set", "dev", "lo", "5mbit")
    equal(signal(wire, 5), 33, "which has one now")
    told(pair, "share")
    equal(shown(pair)[0]["share"], "a0", "share")
    equal(signal(wire, 6), 20, "a share, without flows that listen")
    with pair.b.entered():
        server = socket.create_server(("10.0.0.2", 7))
    clients = []
    for _ in range(2):
        with pair.a.entered():
            client = socket.socket()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"ratcp")
        client.connect(("10.0.0.2", 7))
        clients.append(client)
    equal(signal(wire, 7), scone.signal_of(MBIT // 2), "a share of two")
    done(pair.a, WALE, "rate", "del", "dev", "a0")
    equal(signal(wire, 8), scone.UNKNOWN, "the path is gone")
    for one in (server, *clients):
        one.close()
    wire.close()
    pair.close()


def test_beside_others() -> None:
    """It comes before filters of others, passes packets on to them, and leaves them alone."""
    pair = Pair()
    wire = Wire(pair)
    tc(pair, "qdisc add dev a0 clsact")
    tc(pair, "filter add dev a0 egress pref 9 matchall action ok")
    tc(pair, "filter add dev a0 ingress pref 9 matchall action ok")
    before = [tc(pair, f"filter show dev a0 {hook}") for hook in ("egress", "ingress")]
    told(pair, "rate 10mbit")
    equal(signal(wire, 1), 40, "signal")
    true("pref 8 matchall" in tc(pair, "filter show dev a0 egress"), "it does not come first")
    counts = tc(pair, "-s filter show dev a0 egress pref 9")
    true("Sent 0 bytes" not in counts, f"no packet came to the filter behind: {counts}")
    done(pair.a, WALE, "scone", "del", "dev", "a0")
    equal(shown(pair), [], "it is gone")
    after = [tc(pair, f"filter show dev a0 {hook}") for hook in ("egress", "ingress")]
    equal(after, before, "filters of others")
    equal(signal(wire, 2), scone.UNKNOWN, "without it")
    true("clsact" in tc(pair, "qdisc show dev a0"), "clsact is gone")
    tc(pair, "qdisc del dev a0 clsact")
    told(pair, "rate 10mbit")
    tc(pair, "filter add dev a0 ingress pref 9 matchall action ok")
    done(pair.a, WALE, "scone", "del", "dev", "a0")
    true("clsact" in tc(pair, "qdisc show dev a0"), "clsact with a filter of others is gone")
    tc(pair, "qdisc del dev a0 clsact")
    told(pair, "rate 10mbit")
    done(pair.a, WALE, "scone", "del", "dev", "a0")
    true("clsact" not in tc(pair, "qdisc show dev a0"), "clsact stays")
    wire.close()
    pair.close()


def test_a_flood() -> None:
    """Of many packets of a flow in a moment, four are changed; another flow has its own four."""
    pair = Pair()
    wire = Wire(pair)
    told(pair, "rate 1mbit")
    source = bytes((10, 0, 0, 1))
    for port in (443, 444):
        ends = source + bytes((10, 0, 0, 2))
        one = ipv4(udp(scone.packet() + b"\x40data", (2000, port), ends), source)
        got = exchange(wire, [one] * 500)
        signals = [scone.read(arrived[28:]) for arrived in got]
        equal((len(got), signals.count(20)), (500, 4), "packets, and those that were changed")
        equal(signals.count(scone.UNKNOWN), 496, "the others")
    (now,) = shown(pair)
    equal((now["seen"], now["lowered"], now["limited"]), (1000, 8, 992), "counted")
    wire.close()
    pair.close()


def test_change() -> None:
    """What is set again is changed; the counters and the limit go on."""
    pair = Pair()
    wire = Wire(pair)
    for rate, period in (("10mbit", "67s"), ("5mbit", "10s")):
        told(pair, f"rate {rate} period {period}")
    equal([signal(wire, n) for n in range(3)], [33] * 3, "signals")
    told(pair, "rate 1mbit")
    equal(signal(wire, 3, 20), 20, "not higher")
    expected = {
        "dev": "a0",
        "rate": MBIT,
        "period_ns": scone.PERIOD_NS,
        "seen": 4,
        "lowered": 3,
        "limited": 0,
        "malformed": 0,
        "signal": 20,
    }
    equal(shown(pair), [expected], "shown")
    text = done(pair.a, WALE, "scone", "show", "dev", "a0").splitlines()
    true(text[0].startswith("dev a0 rate 1"), text[0])
    true(text[1].startswith("  seen 4 lowered 3 limited 0 malformed 0 told 1"), text[1])
    wire.close()
    pair.close()


def test_devices_that_go() -> None:
    """With a device goes its advice; a path whose device is gone has no rate."""
    pair = Pair()
    wire = Wire(pair)
    other = net.Namespace("c")
    net.ip_batch(["link add d0 type dummy", "link add d1 type dummy", "link set d0 up"], pair.a)
    done(pair.a, WALE, "scone", "dev", "d0", "rate", "1mbit")
    done(pair.a, WALE, "rate", "set", "dev", "d1", "10mbit")
    told(pair, "path d1")
    equal(signal(wire, 1), 40, "of the other device")
    done(pair.a, "ip", "link", "del", "d1")
    equal(signal(wire, 2), scone.UNKNOWN, "of a device that is gone")
    path = {one["dev"]: one.get("path") for one in shown(pair)}
    true(path.keys() == {"a0", "d0"} and str(path["a0"]).startswith("if"), f"shown: {path}")
    done(pair.a, "ip", "link", "set", "d0", "netns", other.name)
    equal([one["dev"] for one in shown(pair)], ["a0"], "without the one that moved")
    equal(as_json(other, WALE, "scone", "show", "--json"), [], "where it moved to")
    done(other, WALE, "scone", "dev", "d0", "rate", "2mbit")
    (now,) = as_json(other, WALE, "scone", "show", "--json")
    equal((now["dev"], now["rate"]), ("d0", 2 * MBIT), "set there")
    done(other, "ip", "link", "del", "d0")
    equal(as_json(other, WALE, "scone", "show", "--json"), [], "deleted")
    for verb in ("dev", "del dev", "show dev"):
        text = refused(other, WALE, "scone", *verb.split(), "d0", status=2)
        true('there is no device "d0"' in text and text.count("\n") == 1, text)
    told(pair, "rate 5mbit")
    wire.close()
    pair.close()
    other.delete()


def test_refused() -> None:
    """One sentence each, and nothing is left behind."""
    pair = Pair()
    for words, status, expected in (
        ("dev", 2, "dev: expected a device"),
        ("dev nothing", 2, 'there is no device "nothing"'),
        ("dev a0 rate", 2, "rate: expected a rate"),
        ("dev a0 rate 99kbit", 2, "a rate from 100kbit to 8000tbit"),
        ("dev a0 rate fast", 2, "a rate from 100kbit to 8000tbit"),
        ("dev a0 rate 1mbit share", 2, '"share" comes after another'),
        ("dev a0 path nothing", 2, 'there is no device "nothing"'),
        ("dev a0 period 99ms", 2, "expected a time from 100ms to 600s"),
        ("dev a0 period 10", 2, "expected a time from 100ms to 600s"),
        ("dev a0 period 1s period 2s", 2, "period is given twice"),
        ("dev a0 burst 9", 2, 'expected rate, path, share or period, got "burst"'),
        ("del", 2, "expected dev DEV"),
        ("del dev a0 now", 2, 'what is "now"?'),
        ("del dev a0", 1, "there is none at this device"),
        ("show a0", 2, 'expected dev DEV, got "a0"'),
        ("show dev a0 --json dev lo", 2, 'show: dev is given twice: "a0" and "lo"'),
    ):
        text = refused(pair.a, WALE, "scone", *words.split(), status=status)
        true(expected in text and text.count("\n") == 1, f"{words}: {text}")
    equal((shown(pair), "clsact" in tc(pair, "qdisc show dev a0")), ([], False), "left")
    tc(pair, "qdisc add dev a0 ingress")
    text = refused(pair.a, WALE, "scone", "dev", "a0", "rate", "1mbit")
    true("has an ingress qdisc" in text and text.count("\n") == 1, text)
    tc(pair, "qdisc del dev a0 ingress")
    tc(pair, "qdisc add dev a0 clsact")
    tc(pair, "filter add dev a0 egress pref 1 matchall action ok")
    text = refused(pair.a, WALE, "scone", "dev", "a0", "rate", "1mbit")
    true("has the highest priority" in text, text)
    pair.close()


if __name__ == "__main__":
    main()
