#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A wale link that writes a rate into SCONE packets, against the model, byte by byte.

Topology: lib/pair.py.  With SCONE_PACKETS=1000000, so many packets are compared.
"""

from __future__ import annotations

import os
import random
import socket
import struct
import time
from typing import Any

from child import graft, refused
from wale_lab.models import scone
from wale_lab.selftest import net
from wale_lab.selftest.pair import MAC_A, MAC_B, MS, Pair
from wale_lab.selftest.scone_wire import ETHERNET, Wire, ipv4, ones_sum, packet, udp
from wale_lab.selftest.tap import equal, main, true, virtual_time
from wale_lab.selftest.wale import RATE_UNLIMITED

LINK, SHARE = 0, 1
SECOND = 10**9
MBIT = 125_000
BATCH = 200
COUNT = int(os.environ.get("SCONE_PACKETS", "4000"))


def advised(rate: int, **more: Any) -> dict[str, Any]:
    """Return the options of a link that tells a rate."""
    return {"scone": {"rate": rate, "period": 100 * MS, **more}}


def quic(pair: Pair, wire: Wire, number: int = 1, count: int = 1, ports: int = 443) -> list[int]:
    """Send SCONE packets of one flow; return the signals that arrive."""
    source = bytes((10, 0, 0, 1))
    body = udp(scone.packet() + b"\x40data", (2000 + number, ports), source + bytes((10, 0, 0, 2)))
    wire.receive()
    wire.send([ipv4(body, source)] * count)
    pair.drain()
    return [scone.read(one[28:]) for one in wire.receive()]


def test_as_the_model() -> None:
    """Every packet comes out as the model says: changed where it must be, and only there."""
    rng = random.Random(20260820)
    pair = Pair()
    pair.add()
    wire = Wire(pair)
    changed = 0
    for sent in range(0, COUNT, BATCH):
        signal = rng.randrange(scone.HIGHEST_SIGNAL + 1)
        pair.change(**advised(scone.rate_of(signal)))
        packets = [packet(rng) for _ in range(BATCH)]
        wire.send(packets)
        net.sleep_ns(20 * MS)
        got = wire.receive()
        equal(len(got), BATCH, "packets that arrived")
        for number, (before, after) in enumerate(zip(packets, got, strict=True)):
            want = scone.lower_packet(before, signal)
            changed += want != before
            if after != want:
                equal(after.hex(), want.hex(), f"packet {sent + number}, {before.hex()}")
    stats = pair.stats()
    equal(stats["scone_lowered"], changed, "lowered")
    equal(stats["scone_limited"], 0, "limited")
    true(changed > COUNT // 6, f"only {changed} were changed")
    true(stats["scone_malformed"] > COUNT // 50, "too few were malformed")
    wire.close()
    pair.close()


def test_checksums_are_right() -> None:
    """Not only as the model has it: the sum over the datagram is still that of no error."""
    pair = Pair()
    pair.add(**advised(10 * MBIT))
    wire = Wire(pair)
    source = bytes((10, 0, 0, 1))
    for number in range(100):
        pseudo = source + bytes((10, 0, 0, 2))
        payload = scone.packet() + b"\x40" + struct.pack("!I", number * 0x9E3779B1 & 0xFFFFFFFF)
        wire.send([ipv4(udp(payload, (3000 + number, 443), pseudo), source)])
    pair.drain()
    for one in wire.receive():
        equal(scone.read(one[28:]), 40, "signal")
        equal(
            ones_sum(one[12:20] + struct.pack("!HH", 17, len(one) - 20) + one[20:]), 0xFFFF, "sum"
        )
    wire.close()
    pair.close()


def test_every_segment_of_gso() -> None:
    """Segments that are split, and those that stay together."""
    for keep in (0, 1):
        pair = Pair()
        pair.add(gso=keep, **advised(MBIT))
        data = b"".join((scone.packet() + b"\x40%d" % n).ljust(1000, b"\0") for n in range(4))
        pair.udp.setsockopt(socket.IPPROTO_UDP, net.UDP_SEGMENT, 1000)
        pair.udp.send(data)
        pair.drain()
        got = pair.payloads()
        equal([scone.read(one) for one in got], [20] * 4, f"signals, keep {keep}")
        equal([one[7:9] for one in got], [b"\x40%d" % n for n in range(4)], "what follows")
        equal(pair.stats()["scone_lowered"], 4, "lowered")
        pair.close()


def test_bad_input() -> None:
    """What is no SCONE packet of QUIC, or not a whole one, stays as it is, to the bit."""
    pair = Pair()
    pair.add(**advised(MBIT))
    wire = Wire(pair)
    source = bytes((10, 0, 0, 1))
    pseudo = source + bytes((10, 0, 0, 2))
    whole = scone.packet(b"to", b"from") + b"\x40"
    good = ipv4(udp(whole, (2000, 443), pseudo), source)
    beyond = [struct.pack("!H", 2 + length) for length in (len(good), len(good) - 20)]
    packets = {
        f"fragment {field:#x}": good[:6] + struct.pack("!H", field) + good[8:]
        for field in (0x2000, 0x2001, 0x0001)
    }
    for bit in range(31):  # the highest one is of the signal
        version = int.from_bytes(whole[1:5], "big") ^ 1 << bit
        other = whole[:1] + version.to_bytes(4, "big") + whole[5:]
        packets[f"bit {bit} of the version"] = ipv4(udp(other, (2000, 443), pseudo), source)
    packets |= {
        "short header": ipv4(udp(b"\x7f" + whole[1:], (2000, 443), pseudo), source),
        "TCP": ipv4(udp(whole, (2000, 443), pseudo), source, protocol=6),
        "no length of IP": good[:2] + b"\0\0" + good[4:],
        "a length of IP beyond the packet": good[:2] + beyond[0] + good[4:],
        "a length of UDP beyond that of IP": good[:24] + beyond[1] + good[26:],
        "a header of 16 bytes": b"\x44" + good[1:],
    }
    packets |= {f"cut to {length} bytes": good[:length] for length in range(20, len(good))}
    packets |= {
        f"{length} bytes of UDP": ipv4(udp(whole[:length], (2000, 443), pseudo), source)
        for length in range(len(whole))
    }
    for what, one in packets.items():
        equal(scone.lower_packet(one, 20).hex(), one.hex(), f"{what}: the model")
        wire.send([one])
        pair.drain()
        equal([got.hex() for got in wire.receive()], [one.hex()], what)
    stats = pair.stats()
    equal(stats["scone_seen"], 0, "seen")
    equal(stats["scone_malformed"], len(whole) - 5, "malformed: those with a version")
    wire.send([good])
    pair.drain()
    equal([scone.read(got[28:]) for got in wire.receive()], [20], "the good one")
    wire.close()
    pair.close()


def test_vlan() -> None:
    """Behind one tag, or two, as without; and no other bit changes."""
    pair = Pair()
    pair.add(**advised(MBIT))
    wire = Wire(pair)
    source = bytes((10, 0, 0, 1))
    whole = udp(scone.packet(b"to") + b"\x40", (2000, 443), source + bytes((10, 0, 0, 2)))
    good = ipv4(whole, source)
    addresses = bytes.fromhex((MAC_B + MAC_A).replace(":", ""))
    tags = {"0x8100": 1, "0x8100 0x8100": 2, "0x88a8 0x8100": 2}
    for number, (kinds, left) in enumerate(tags.items()):
        tag = b"".join(struct.pack("!HH", int(kind, 16), 5) for kind in kinds.split())
        wire.source.send(addresses + tag + struct.pack("!H", net.ETH_P_IP) + good)
        pair.drain()
        (got,) = wire.receive()  # the kernel has taken the first tag off
        equal(got[4 * (left - 1) :].hex(), scone.lower_packet(good, 20).hex(), kinds)
        equal(pair.stats()["scone_lowered"], number + 1, "lowered")
    wire.close()
    pair.close()


@virtual_time("it asserts how many packets come in a time")
def test_few_packets_of_a_flow() -> None:
    """Four at once, then one in each eighth of a period; more after another signal."""
    pair = Pair()
    pair.add(scone={"rate": 10 * MBIT, "period": 8 * SECOND})
    wire = Wire(pair)
    equal(quic(pair, wire, count=10).count(40), 4, "at once")
    net.sleep_ns(SECOND)
    equal(quic(pair, wire, count=10).count(40), 1, "after an eighth of the period")
    equal(quic(pair, wire, number=2, count=10).count(40), 4, "of another flow")
    pair.change(scone={"rate": 5 * MBIT, "period": 8 * SECOND})
    equal(quic(pair, wire, count=10).count(33), 1, "with a new signal")
    net.sleep_ns(8 * SECOND)
    equal(quic(pair, wire, count=1000).count(33), 4, "a period later")
    stats = pair.stats()
    equal(stats["scone_seen"], 1040, "seen")
    equal(stats["scone_lowered"], 14, "lowered")
    equal(stats["scone_limited"], 1026, "limited")
    wire.close()
    pair.close()


def test_many_flows_lift_no_limit() -> None:
    """A flood of flows takes all places, and then none is changed more often than it may."""
    pair = Pair()
    pair.add(scone={"rate": 10 * MBIT, "period": 600 * SECOND})
    wire = Wire(pair)
    source = bytes((10, 0, 0, 1))
    lowered = 0
    for flow in range(6000):
        body = udp(scone.packet() + b"\x40", (1000 + flow, 443), source, checksum=False)
        wire.send([ipv4(body, source)] * 2)
        if not flow % 500:
            net.sleep_ns(MS)
            lowered += sum(scone.read(one[28:]) == 40 for one in wire.receive())
    pair.drain()
    lowered += sum(scone.read(one[28:]) == 40 for one in wire.receive())
    true(7000 < lowered <= 2 * 4096, f"{lowered} of 12000 were changed: places of 4096 flows")
    stats = pair.stats()
    equal(stats["scone_lowered"], lowered, "lowered")
    equal(stats["scone_limited"], 12000 - lowered, "limited")
    wire.close()
    pair.close()


def test_never_higher() -> None:
    """A signal that is as low, or lower, stays; so does any while the link has no limit."""
    pair = Pair()
    pair.add(**advised(MBIT))
    wire = Wire(pair)
    source = bytes((10, 0, 0, 1))
    for signal, rate, want in ((20, MBIT, 20), (19, MBIT, 19), (21, MBIT, 20), (0, MBIT, 0)):
        pair.change(**advised(rate))
        payload = scone.packet(signal=signal) + b"\x40"
        wire.send([ipv4(udp(payload, (4000 + signal, 443), source), source)])
        pair.drain()
        equal([scone.read(one[28:]) for one in wire.receive()], [want], f"signal {signal}")
    pair.change(scone={"of": LINK})
    equal(pair.get().options["rate"], RATE_UNLIMITED, "rate")
    equal(quic(pair, wire, 9), [scone.UNKNOWN], "without a rate")
    equal(pair.stats()["scone_signal"], scone.UNKNOWN, "signal without a rate")
    pair.change(rate=10_000, scone={"of": LINK, "average": 0})
    equal(quic(pair, wire, 10), [0], "below all that can be told")
    wire.close()
    pair.close()


@virtual_time("it asserts how long packets take")
def test_before_another_shaper() -> None:
    """Without a rate of its own, a link adds SCONE to a qdisc that shapes, and no delay."""
    for words, mbit in (("tbf rate 8mbit burst 2kb limit 1mb", 8), ("htb default 1", 4)):
        pair = Pair()
        pair.add(**advised(mbit * MBIT))
        graft(pair, words)
        wire = Wire(pair)
        began = time.monotonic_ns()
        signals = quic(pair, wire, count=500)
        took = time.monotonic_ns() - began
        want = scone.signal_of(mbit * MBIT)
        equal(signals[:4], [want] * 4, f"{words}: signals")
        equal(len(signals), 500, f"{words}: packets")
        length = len(scone.packet() + b"\x40data") + 28 + ETHERNET
        least = (500 * length - 8000) * 8000 // mbit  # but for bursts
        true(least < took < least * 3 // 2 + 10 * MS, f"{words}: {took} ns, of {least}")
        wire.close()
        pair.close()


@virtual_time("it asserts the mean over a time")
def test_mean() -> None:
    """The mean over the last period, over a time, and no mean."""
    steps = [(2 * SECOND, 10 * MBIT), (2 * SECOND, 30 * MBIT)]
    pair = Pair()
    pair.add(trace=steps, scone={"of": LINK, "period": 4 * SECOND})
    net.sleep_ns(14 * SECOND)
    equal(pair.stats()["scone_signal"], scone.signal_of(20 * MBIT), "mean of a whole trace")
    pair.change(scone={"of": LINK, "average": 0})
    now = pair.get()
    equal(now.options["scone"]["period"], scone.PERIOD_NS, "period of those who say none")
    equal(now.stats["scone_signal"], scone.signal_of(now.stats["rate"]), "no mean")
    pair.change(scone={"of": LINK, "average": SECOND})
    net.sleep_ns(8 * SECOND)
    now = pair.get()
    true(40 <= now.stats["scone_signal"] <= 49, "within the two rates")
    pair.close()


def test_share() -> None:
    """The rate is divided by the flows: TCP by payload, QUIC by long headers."""
    pair = Pair()
    pair.add(rate=10 * MBIT, feedback={"idle": 2 * SECOND}, scone={"of": SHARE, "average": 0})
    wire = Wire(pair)
    equal(pair.stats()["scone_signal"], 40, "without a flow")
    for flows in range(1, 6):
        (signal,) = quic(pair, wire, flows)
        equal(signal, scone.signal_of(10 * MBIT // flows), f"{flows} flows")
    equal(pair.stats()["active_flows"], 5, "flows")
    net.sleep_ns(3 * SECOND)
    equal(pair.stats()["scone_signal"], 40, "after the idle time")
    refused(lambda: pair.change(feedback=b""), "share needs feedback")
    pair.change(feedback=b"", scone={"of": LINK})
    pair.close()


def test_off_and_on() -> None:
    """It can be set, shown, changed and taken away, while packets pass."""
    pair = Pair()
    pair.add()
    true("scone" not in pair.get().options and "scone_seen" not in pair.stats(), "not there")
    wire = Wire(pair)
    for value in ({"rate": 12_500}, {"of": LINK, "average": 0}, {"of": LINK}):
        pair.change(scone=value)
        shown = pair.get().options["scone"]
        equal(shown | value, shown, "as asked for")
        pair.change(scone=shown)
        equal(pair.get().options["scone"], shown, "as shown")
        quic(pair, wire)
    equal(pair.stats()["scone_seen"], 3, "seen")
    pair.change(scone=b"")
    true("scone" not in pair.get().options, "gone")
    equal(quic(pair, wire), [scone.UNKNOWN], "without")
    wire.close()
    pair.close()


if __name__ == "__main__":
    main()
