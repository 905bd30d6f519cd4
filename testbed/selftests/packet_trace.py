#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The tracepoint wale_packet: one event for each packet, and what it says.

Topology: lib/pair.py.
"""

from __future__ import annotations

import re
from collections import Counter

from wale_lab.selftest import net
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.tap import equal, main, true

OVERHEAD_ETHERNET = 1

EVENT = re.compile(r" wale_(\w+): (.*)")

Fields = dict[str, str]


def events(text: str) -> dict[str, list[Fields]]:
    """The tracepoints of a0, by name."""
    found: dict[str, list[Fields]] = {}
    for match in EVENT.finditer(text):
        fields = dict(item.split("=", 1) for item in match[2].split())
        if fields.get("dev") == "a0":
            found.setdefault(match[1], []).append(fields)
    return found


def numbers(fields: Fields, *names: str) -> tuple[int, ...]:
    """Some fields as numbers."""
    return tuple(int(fields[name]) for name in names)


def test_one_event_for_each_packet() -> None:
    """A loaded link with loss and overflow: as the other tracepoints, and the counters, say."""
    trace = net.Tracing()
    pair = Pair()
    pair.add(rate=10**6, delay=20 * MS, limit_packets=10, loss=1 << 30, seed=3)
    trace.on()
    for number in range(300):
        pair.send(1 + number % 20, 100 + number, gap_ns=300_000)
    pair.drain()
    found, stats = events(trace.text()), pair.stats()
    packets = found["packet"]
    fates = Counter(fields["fate"] for fields in packets)
    equal(len(packets), stats["offered_packets"], "events")
    equal(fates["delivered"], stats["sent_packets"], "delivered")
    for reason in ("buffer", "loss"):
        equal(fates[reason], stats[f"dropped_{reason}_packets"], reason)
        true(fates[reason] > 10, f"no {reason} in this test")
    times = ("arrival_ns", "len", "departure_ns")
    equal(
        [numbers(f, *times) for f in packets if f["fate"] == "delivered"],
        [numbers(f, *times) for f in found["dequeue"]],
        "what was released",
    )
    times = ("arrival_ns", "len", "now_ns")
    equal(
        [(f["fate"], *numbers(f, *times)) for f in packets if f["fate"] != "delivered"],
        [(f["reason"], *numbers(f, *times)) for f in found["drop"]],
        "what was dropped",
    )
    equal({f["rate"] for f in packets}, {str(10**6)}, "rate")
    pair.close()


def test_fine_trace_with_a_long_delay() -> None:
    """Steps of 1 us: services end when they should, whenever the link is asked."""
    trace = net.Tracing()
    pair = Pair()
    pair.add(trace=[(1000, 1000), (1000, 2000)], delay=3600 * 1000 * MS)
    trace.on()
    pair.send(3)
    net.sleep_ns(4000 * MS)  # 2 s of service, and some more
    equal(pair.stats()["line_packets"], 3, "packets whose service is over")
    packets = events(trace.text())["packet"]
    equal(len(packets), 3, "ends of service")
    for fields in packets:
        start, end = numbers(fields, "start_ns", "now_ns")
        # 1500 bytes/s on average; where in a step it begins makes the rest
        true(abs(end - start - 2 * 10**9 // 3) <= 1000, f"a service of {end - start} ns")
    pair.close()


def test_service() -> None:
    """The server is never idle while a packet waits, and serves one at a time."""
    trace = net.Tracing()
    pair = Pair()
    pair.add(rate=10**6, delay=20 * MS, loss=1 << 30, seed=3)
    trace.on()
    for number in range(200):
        pair.send(1 + number % 4, 100 + number, gap_ns=300_000)
    pair.drain()
    end = 0
    packets = events(trace.text())["packet"]
    equal(len(packets), pair.sent, "events")
    for fields in packets:
        arrival, start, now, length = numbers(fields, "arrival_ns", "start_ns", "now_ns", "len")
        equal(start, max(arrival, end), "start of service")
        equal(now - start, length * 1000, "time of service")
        departure = now + 20 * MS if fields["fate"] == "delivered" else 0
        equal(int(fields["departure_ns"]), departure, "departure")
        end = now
    pair.close()


def test_bytes() -> None:
    """A packet begins with its IP header; of a long one there are 100 bytes."""
    trace = net.Tracing()
    pair = Pair()
    pair.add(delay=MS, overhead=OVERHEAD_ETHERNET)
    trace.on()
    for length in (28, 99, 100, 101, 1500):
        net.send(pair.socket, "a0", net.ip_packet(length))
        pair.sent += 1
    pair.drain()
    packets = events(trace.text())["packet"]
    equal([int(f["ip_len"]) for f in packets], [28, 99, 100, 101, 1500], "lengths")
    equal([int(f["len"]) for f in packets], [84, 137, 138, 139, 1538], "lengths on the wire")
    for fields in packets:
        data = net.ip_packet(int(fields["ip_len"]))
        equal(fields["head"], data[:100].hex(), "bytes")
        equal(fields["protocol"], "0x0800", "protocol")
    pair.close()


def test_purge() -> None:
    """What a device that goes down had: on the line, it has a second event."""
    trace = net.Tracing()
    pair = Pair()
    pair.add(rate=10**6, delay=10 * MS)
    trace.on()
    pair.send(40, 1000, gap_ns=0)  # 1 ms each
    net.sleep_ns(30 * MS)
    net.run("ip link set a0 down", pair.a)
    found, stats = events(trace.text()), pair.stats()
    served = [f for f in found["packet"] if f["fate"] == "delivered"]
    purged = [f for f in found["packet"] if f["fate"] == "purge"]
    left = len(found["dequeue"])
    true(10 <= left < len(served) < 40, f"{left} left of {len(served)} that were served")
    equal(len(purged), 40 - left, "purged")
    equal(stats["dropped_purge_packets"], 40 - left, "counted")
    times = ("arrival_ns", "departure_ns")
    equal(
        [numbers(f, *times) for f in purged if f["departure_ns"] != "0"],
        [numbers(f, *times) for f in served[left:]],
        "purged from the line",
    )
    equal({f["start_ns"] for f in purged}, {"0"}, "start of service")
    pair.close()


if __name__ == "__main__":
    main()
