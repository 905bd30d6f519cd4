#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What a sender reads: the rate as it was then, of how many, in which packets.

Topology: lib/pair.py, with a link on a0.  Virtual time makes it exact: each
acknowledgment's record in the tracepoint is compared with the steps that were set.
"""

from __future__ import annotations

import bisect
import random
import select
import socket
import struct
from typing import Any

from wale_lab.selftest import net, rate
from wale_lab.selftest.pair import Pair
from wale_lab.selftest.rate import S, channel
from wale_lab.selftest.tap import equal, main, true

MS = 10**6


class Line:
    """A pair with a link, the channel of the sender's side, and its device's path."""

    def __init__(
        self, speed: int = 10**6, delay_ms: int = 20, limit: int = 100_000, **sysctls: str
    ) -> None:
        self.pair = Pair()
        rate.prepare(self.pair, **sysctls)
        rate.slow_link(self.pair, rate=speed, delay_ms=delay_ms, limit_packets=limit)
        self.channel = channel(self.pair.a)
        self.dev = self.pair.dev
        self.steps: list[tuple[int, int]] = []
        self.told: dict[int, int] = {}  # when a step was told, at the latest, by its time

    def set(self, **values: Any) -> None:
        """Set the device's path; remember the steps of its rate."""
        self.channel.set(ifindex=self.dev, **values)
        told_ns = rate.time_ns()
        if "rate" in values:
            shown = self.channel.get(ifindex=self.dev)
            step = (shown["time"], shown["rate"])
            if self.steps and self.steps[-1][0] == step[0]:
                self.steps.pop()
            self.steps.append(step)
            self.told[step[0]] = told_ns

    def rate_at(self, when: int) -> int | None:
        """Return the rate as it was."""
        place = bisect.bisect_right(self.steps, (when, rate.UNLIMITED))
        return self.steps[place - 1][1] if place else None

    def rate_before(self, when: int) -> int | None:
        """Return the rate before the present one, if that was just being told.

        The time of a step is when the channel was called; an acknowledgment can come then.
        """
        place = bisect.bisect_right(self.steps, (when, rate.UNLIMITED))
        if place < 2 or when > self.told[self.steps[place - 1][0]]:
            return None
        return self.steps[place - 2][1]

    def play(self, sender: rate.Sender, count: int, seed: int, gap_ms: int = 7) -> None:
        """Set a new random rate every few ms, while the sender sends."""
        draw = random.Random(seed)
        for _ in range(count):
            sender.step(gap_ms / 1000)
            self.set(rate=draw.randrange(10**5, 10**6))

    def close(self) -> None:
        """Delete all."""
        self.channel.close()
        self.pair.close()


def check_lag(line: Line, records: list[dict[str, Any]], lag_ns: int | None) -> int:
    """Compare each record with the steps; without a lag it is the record's base RTT."""
    right = 0
    for record in records:
        lag = record["base_rtt_ns"] if lag_ns is None else lag_ns
        now = record["now_ns"]
        expected = line.rate_at(now - lag)
        if lag == 0 and record["rate"] == line.rate_before(now):
            expected = record["rate"]
        equal(record["rate"], expected or 0, f"rate at {now} with lag {lag}")
        right += expected is not None
    return right


def lag_case(settings: dict[str, Any], lag_ns: int | None, seed: int) -> None:
    """A sender under a changing rate reads what it should, at each acknowledgment."""
    line = Line()
    sender = rate.Sender(line.pair)
    with rate.Trace() as trace:
        sender.step(0.3)
        line.set(rate=500_000, **settings)
        line.play(sender, 400, seed)
        sender.step(0.5)
        sender.close()
    records = trace.windows(sender.sport)
    right = check_lag(line, records, lag_ns)
    true(right > 100, f"only {right} of {len(records)} records with advice")
    line.close()


def test_lag_now() -> None:
    """lag now: the rate of this instant."""
    lag_case({}, 0, 1)


def test_lag_fixed() -> None:
    """lag fixed: as it was so long ago, and none before there was one."""
    lag_case({"lag": "fixed", "lag_time": 123 * MS}, 123 * MS, 2)
    lag_case({"lag": "fixed", "lag_time": 2 * S}, 2 * S, 3)


def test_lag_rtt() -> None:
    """lag rtt: as it was one base RTT ago, the socket's own or the one that is set."""
    lag_case({"lag": "rtt"}, None, 4)
    lag_case({"lag": "rtt", "base_rtt": 300 * MS}, 300 * MS, 5)


def test_long_memory() -> None:
    """1,000 steps within the lag are remembered."""
    line = Line()
    sender = rate.Sender(line.pair)
    line.set(rate=400_000, lag="fixed", lag_time=3 * S)
    line.play(sender, 1000, 6, gap_ms=2)
    with rate.Trace() as trace:
        sender.step(2.5)
        sender.close()
    true(check_lag(line, trace.windows(sender.sport), 3 * S) > 30, "hardly any record")
    line.close()


def test_time_of_the_past() -> None:
    """A rate that is told late, with its time, is read as if it had been told in time."""
    line = Line()
    sender = rate.Sender(line.pair)
    line.set(rate=300_000, lag="fixed", lag_time=200 * MS)
    draw = random.Random(7)
    with rate.Trace() as trace:
        sender.step(0.5)
        for _ in range(100):
            sender.step(0.03)
            last = line.steps[-1][0]
            line.set(rate=draw.randrange(10**5, 10**6), time=max(last, rate.time_ns() - 150 * MS))
        sender.close()
    true(check_lag(line, trace.windows(sender.sport), 200 * MS) > 50, "hardly any record")
    before = line.channel.get(ifindex=line.dev)["time"]
    line.set(rate=5, time=before)
    equal(line.channel.get(ifindex=line.dev)["time"], before, "a second rate of one instant")
    line.close()


def test_lag_changes() -> None:
    """The lag may be changed while a sender reads; what was remembered counts."""
    line = Line()
    sender = rate.Sender(line.pair)
    line.set(rate=400_000, lag="fixed", lag_time=S)
    line.play(sender, 100, 8, gap_ms=10)
    for lag, values in (
        (300 * MS, {"lag_time": 300 * MS}),
        (0, {"lag": "now"}),
        (500 * MS, {"lag": "fixed", "lag_time": 500 * MS}),
    ):
        line.set(**values)
        with rate.Trace() as trace:
            sender.step(0.2)
        true(check_lag(line, trace.windows(sender.sport), lag) > 5, "hardly any record")
    sender.close()
    line.close()


def test_rate_of_a_link_then() -> None:
    """A link publishes late, but tells since when: what is read with lag rtt is exact."""
    pair = Pair()
    rate.prepare(pair)
    steps = [(137 * MS, 400_000), (61 * MS, 900_000), (203 * MS, 150_000), (99 * MS, 1_000_003)]
    pair.add(trace=steps, delay=60 * MS, limit_packets=1000, feedback={"idle": 10 * S})
    epoch = pair.stats()["epoch_ns"]
    period = sum(duration for duration, _ in steps)

    def then(when: int) -> int:
        phase = (when - epoch) % period
        for duration, speed in steps:
            if phase < duration:
                return speed
            phase -= duration
        raise AssertionError(when)

    sender = rate.Sender(pair)
    sender.step(0.2)
    with rate.Trace() as trace:
        sender.step(20)
        sender.close()
    records = trace.windows(sender.sport)
    true(len(records) > 500, f"only {len(records)} records")
    wrong = [r for r in records if r["rate"] != then(r["now_ns"] - r["base_rtt_ns"])]
    equal(wrong[:3], [], f"{len(wrong)} of {len(records)} with another rate than that of the link")
    pair.close()


def test_age_limit() -> None:
    """Advice that is not renewed is used up to its age limit and no longer; renewing revives it."""
    line = Line()
    sender = rate.Sender(line.pair)
    limit = 300 * MS
    renewed: list[int] = []
    with rate.Trace() as trace:
        for number in range(6):
            line.set(rate=400_000 + number, age_limit=limit)
            renewed.append(line.steps[-1][0])
            sender.step((0.2, 0.7)[number % 2])
            sender.step(0.05)
        sender.close()
    seen = {True: 0, False: 0}
    for record in trace.windows(sender.sport):
        place = bisect.bisect_right(renewed, record["now_ns"])
        there = place > 0 and record["now_ns"] - renewed[place - 1] <= limit
        seen[there] += 1
        equal(record["rate"] > 0, there, f"advice at {record['now_ns']}, renewed at {renewed}")
        equal(record["phase"] == "reno", not there, "phase reno")
    true(min(seen.values()) >= 10, f"records with and without advice: {seen}")
    line.close()


def test_renewing() -> None:
    """The same rate again is no step, but renews; a setting alone does not renew."""
    line = Line()
    sender = rate.Sender(line.pair)
    line.set(rate=400_000, age_limit=200 * MS)
    first = line.channel.get(ifindex=line.dev)
    for number in range(1, 11):
        sender.step(0.15)
        flow = line.channel.flow(sender.sport)
        equal((flow["lost_advice"], flow["rate"]), (0, 400_000), "advice is not lost")
        line.set(rate=400_000)
        path = line.channel.get(ifindex=line.dev)
        true(path["age"] < MS, f"age {path['age']}")
        equal((path["updates"], path["time"]), (1 + number, first["time"]), "updates and time")
    sender.step(0.15)
    line.set(beta=2)
    true(line.channel.get(ifindex=line.dev)["age"] > 100 * MS, "a setting renewed the advice")
    sender.step(0.15)
    flow = line.channel.flow(sender.sport)
    counts = (flow["lost_advice"], flow["found_advice"])
    equal((flow["phase"], counts), ("reno", (1, 1)), "too old")
    line.set(age_limit=0)
    sender.step(0.15)
    flow = line.channel.flow(sender.sport)
    equal((flow["rate"], flow["found_advice"]), (400_000, 2), "without a limit it counts again")
    sender.close()
    line.close()


def shares(line: Line, senders: list[rate.Sender]) -> list[int]:
    """Return the rate that each sender used last."""
    return [line.channel.flow(sender.sport)["rate"] for sender in senders]


def test_link_is_shared() -> None:
    """meaning link: divided by the sockets that listen and were active in the last second."""
    line = Line()
    line.set(rate=600_007, meaning="link")
    senders: list[rate.Sender] = []
    for number in range(1, 5):
        senders.append(rate.Sender(line.pair, port=5000 + number))
        rate.step(senders, 0.4)
        path = line.channel.get(ifindex=line.dev)
        equal((path["flows"], path["listeners"]), (number, number), "flows and listeners")
        equal(shares(line, senders), [600_007 // number] * number, "shares")
    senders.pop().close()
    rate.step(senders, 0.3)
    equal(shares(line, senders), [200_002] * 3, "after one has left")
    other = rate.Sender(line.pair, "reno", port=5010)
    rate.step([*senders, other], 0.3)
    equal(shares(line, senders), [200_002] * 3, "beside one that does not listen")
    other.close()
    line.set(meaning="share")
    rate.step(senders, 0.3)
    equal(shares(line, senders), [600_007] * 3, "of each flow")
    for sender in senders:
        sender.close()
    equal(line.channel.get(ifindex=line.dev)["flows"], 1, "flows of none")
    line.close()


def test_idle_sockets_do_not_count() -> None:
    """A socket that was silent for a second has no share; it has one when it sends again."""
    line = Line(speed=2 * 10**6)
    line.set(rate=600_000, meaning="link")
    busy, lazy = (rate.Sender(line.pair, port=port) for port in (5001, 5002))
    lazy.socket.send(b"x")
    for _ in range(3):
        busy.step(0.5)
        equal(shares(line, [busy]), [300_000], "with a socket that was active lately")
        busy.step(2)
        equal(line.channel.get(ifindex=line.dev)["flows"], 1, "flows")
        equal(shares(line, [busy]), [600_000], "beside an idle socket")
        equal(line.channel.get(ifindex=line.dev)["listeners"], 2, "listeners")
        lazy.socket.send(b"x")
        busy.step(0.2)
        equal(shares(line, [busy, lazy]), [300_000] * 2, "when it sends again")
    busy.close()
    net.sleep_ns(5 * S)
    equal(line.channel.get(ifindex=line.dev)["flows"], 1, "flows when all are idle")
    lazy.close()
    line.close()


def test_half_a_byte() -> None:
    """Shares are whole bytes, rounded down; zero stays zero."""
    line = Line(limit=200)
    senders = [rate.Sender(line.pair, port=5001 + n) for n in range(2)]
    for whole, share in ((3, 1), (1, 0), (0, 0), (rate.UNLIMITED - 1, (1 << 63) - 1)):
        line.set(rate=whole, meaning="link")
        rate.step(senders, 1)
        equal(shares(line, senders), [share] * 2, f"shares of {whole}")
    for sender in senders:
        sender.close()
    line.close()


def rate_window(flow: dict[str, Any], beta: int, most: int = 1 << 30) -> int:
    """Return W_rate as the specification has it, of what a flow shows."""
    packets = flow["rate"] * flow["base_rtt"] // (flow["packet_size"] * S)
    return min(max(packets + beta, 1), most)


def test_extreme_rates() -> None:
    """W_rate = floor(R * base RTT / packet) + beta at all edges; the connection lives on."""
    line = Line()
    sender = rate.Sender(line.pair)
    line.set(rate=rate.UNLIMITED - 1)
    sender.step(0.3)
    most = line.channel.flow(sender.sport)["rate_window"]
    # two packets for each, in memory in powers of two, are no more than an int counts
    true(most * 2 * 2048 < 2**31 < most * 2 * 8192, f"the largest window is {most}")
    windows = set()
    for whole in (0, 1, 29_999, 10**6, 10**9, 10**12, 10**15, 1 << 50, (1 << 50) - 1, 1 << 63,
                  rate.UNLIMITED - 1, 0):  # fmt: skip
        for beta in (0, 1, 10**5, 1):
            line.set(rate=whole, beta=beta)
            before = sender.received
            sender.step(0.3)
            flow = line.channel.flow(sender.sport)
            equal(flow["rate"], whole, "rate in use")
            equal(flow["rate_window"], rate_window(flow, beta, most), f"W_rate of {whole}, {beta}")
            true(flow["cwnd"] <= flow["rate_window"], f"cwnd {flow['cwnd']}")
            true(sender.received > before, f"nothing came with rate {whole}, beta {beta}")
            windows.add(flow["rate_window"])
    true({1, 10**5, most} <= windows, f"windows {windows}")
    sender.close()
    line.close()


def test_send_buffer_of_a_large_window() -> None:
    """A rate beyond what can be buffered does not make the flow slower than the right one."""
    for whole in (2_000_000, 10**11, 10**15, rate.UNLIMITED - 1):
        line = Line(speed=2_000_000, delay_ms=100)
        line.set(rate=50_000)
        sender = rate.Sender(line.pair, buffer=0)
        rate.step([sender], 2, grain=0.01)
        line.set(rate=whole)
        rate.step([sender], 2, grain=0.01)
        before = sender.received
        rate.step([sender], 2, grain=0.01)
        goodput = (sender.received - before) / 2
        true(goodput > 1_700_000, f"advice {whole}: {goodput} bytes/s")
        sender.close()
        line.close()


def test_no_limit_is_no_advice() -> None:
    """A link without a limit says nothing of the others on the path: it is Reno."""
    line = Line(limit=100)
    sender = rate.Sender(line.pair)
    for meaning in ("share", "link"):
        line.set(rate=500_000, meaning=meaning)
        sender.step(1)
        equal(line.channel.flow(sender.sport)["rate"], 500_000, "with a limit")
        line.set(rate=rate.UNLIMITED)
        sender.step(1)
        flow = line.channel.flow(sender.sport)
        equal((flow["phase"], flow["rate"], flow["rate_window"]), ("reno", 0, 0), "without one")
        equal(line.channel.get(ifindex=line.dev)["rate"], rate.UNLIMITED, "shown")
    sender.close()
    line.close()


def test_meaning_and_layer_are_of_a_time() -> None:
    """With a lag, not only the rate is that of then, but also what it meant."""
    line = Line()
    sender = rate.Sender(line.pair)
    line.set(rate=400_000, lag="fixed", lag_time=S)
    sender.step(2)
    line.set(layer="ethernet")
    sender.step(0.5)
    equal(line.channel.flow(sender.sport)["packet_size"], 1500, "packet of a second ago")
    sender.step(1)
    equal(line.channel.flow(sender.sport)["packet_size"], 1538, "packet, a second later")
    sender.close()
    line.close()


def test_base_rtt_is_set() -> None:
    """base-rtt takes the place of what is measured; 0 gives that back."""
    line = Line(delay_ms=40)
    sender = rate.Sender(line.pair)
    line.set(rate=300_000)
    sender.step(1)
    measured = line.channel.flow(sender.sport)["base_rtt"]
    true(40 * MS <= measured <= 80 * MS, f"measured {measured}")
    for base in (1000, 10 * MS, 1234 * MS, 60 * S, 1, 999, 0):
        line.set(base_rtt=base)
        sender.step(0.5)
        flow = line.channel.flow(sender.sport)
        if base >= 1000:
            equal(flow["base_rtt"], base, "base RTT in use")
        elif base == 0:
            equal(flow["base_rtt"], measured, "what was measured before")
        else:
            equal(flow["base_rtt"], 1000, "rounded to the sender's clock")
        equal(flow["rate_window"], rate_window(flow, 1), f"W_rate with base RTT {base}")
    sender.close()
    line.close()


def check_layers(line: Line, ends: tuple[str, str], header: int) -> None:
    """Compare packet-size with what the layers make of a full packet."""
    sender = rate.Sender(line.pair, family=10 if ":" in ends[0] else 2, addresses=ends)
    for layer in rate.LAYER:
        line.set(layer=layer)
        sender.step(0.5)
        flow = line.channel.flow(sender.sport)
        length = flow["mss"] + header
        equal(length, 1500, "a full packet of the device")
        sizes = {"ip": 1500, "ethernet": 1538, "atm": 53 * -(-1516 // 48), "payload": flow["mss"]}
        equal(flow["packet_size"], sizes[layer], f"packet in layer {layer}")
        equal(flow["rate_window"], rate_window(flow, 1), f"W_rate in layer {layer}")
    sender.close()


def test_layers() -> None:
    """The rate counts packets of its layer: with headers, timestamps, IPv4 and IPv6."""
    for stamps in ("1", "0"):
        line = Line(tcp_timestamps=stamps)
        rate.ipv6(line.pair)
        line.set(rate=300_000, base_rtt=200 * MS)
        options = 12 if stamps == "1" else 0
        check_layers(line, ("10.0.0.1", "10.0.0.2"), 40 + options)
        check_layers(line, rate.V6, 60 + options)
        line.close()


def test_small_packets() -> None:
    """A path with a smaller MTU has smaller packets, and so more of them in the window."""
    line = Line()
    line.set(rate=300_000, base_rtt=200 * MS)
    for mtu in (1500, 500, 100):
        net.ip_batch([f"link set a0 mtu {mtu}"], line.pair.a)
        net.ip_batch([f"link set b0 mtu {mtu}"], line.pair.b)
        sender = rate.Sender(line.pair)
        sender.step(0.5)
        flow = line.channel.flow(sender.sport)
        equal(flow["packet_size"], mtu, "packet")
        equal(flow["rate_window"], 300_000 // 5 // mtu + 1, "W_rate")
        sender.close()
    line.close()


def tell_path_mtu(pair: Pair, sender: rate.Sender, mtu: int) -> None:
    """Have b tell a, for packets that are on their way, that they are too long for a path."""
    with pair.b.entered():
        heard = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(net.ETH_P_IP))
        teller = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    heard.bind(("b0", net.ETH_P_IP))
    sender.step(0.02)
    while select.select([heard], [], [], 0)[0]:
        head = heard.recv(28)
    (seq,) = struct.unpack("!I", head[24:])
    for n in range(1, 50):
        quote = head[:24] + struct.pack("!I", (seq + n * 1448) % 2**32)
        words = [0x0304, 0, mtu, *struct.unpack("!14H", quote)]
        check = ~(sum(words) % 0xFFFF) & 0xFFFF
        teller.sendto(struct.pack("!4H", 0x0304, check, 0, mtu) + quote, ("10.0.0.1", 0))
    heard.close()
    teller.close()


def test_path_mtu_is_no_other_route() -> None:
    """The base RTT stays when a neighbour has a smaller MTU, though packets wait at the link."""
    line = Line(speed=1_250_000, delay_ms=50)
    line.set(rate=1_250_000, beta=50)
    sender = rate.Sender(line.pair)
    sender.step(4)
    before = line.channel.flow(sender.sport)
    tell_path_mtu(line.pair, sender, 1400)
    sender.step(3)
    after = line.channel.flow(sender.sport)
    equal((before["mss"], after["mss"]), (1448, 1348), "MSS")
    equal(after["base_rtt"], before["base_rtt"], "base RTT")
    sender.close()
    line.close()


if __name__ == "__main__":
    main()
