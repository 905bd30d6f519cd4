#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""ratcp whose rate comes in band: read from the share of its packets that have a mark.

Topology: lib/pair.py.  Nothing is drawn: a connection numbers its packets (the IP
identification), and a test says which of each 16 in a row get a mark.  A device that splits
no packets has each marked by itself.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket
import struct
from typing import Any

from wale_lab.selftest import net, rate
from wale_lab.selftest.netstat import netstat
from wale_lab.selftest.pair import Pair
from wale_lab.selftest.rate import S, channel
from wale_lab.selftest.tap import Skip, equal, main, true

PHI = 1.1
ONE = 10**9  # the price 1
ALLOWED = "/proc/sys/net/ipv4/tcp_allowed_congestion_control"
RENO = "reno"
# The packets of 16 that get a mark, by their numbers: the first one, or two, and so on;
# not evenly spread, so that there are marks in a row, and none.
MARKED = (5, 12, 6, 1, 13, 7, 10, 2, 14, 0, 8, 15, 3, 11, 9, 4)
Records = list[dict[str, Any]]


def price_of(sixteenths: int) -> float:
    """Return the price at which so many of 16 packets are marked."""
    return -math.log(1 - sixteenths / 16) / math.log(PHI)


def mark(pair: Pair, sixteenths: int) -> None:
    """Have a's device mark so many of each 16 packets that it sends.

    To be called when a connection has its ECN: a SYN may be refused in place of a mark, and is
    then sent again without ECN.
    """
    choose = "filter add dev a0 parent 1: protocol ip u32 flowid 1:2 match u16"
    lines = [
        "qdisc replace dev a0 root pfifo",  # and with it, what was there is gone
        f"qdisc replace dev a0 root handle 1: prio bands 2 priomap{16 * ' 0'}",
        "qdisc add dev a0 parent 1:2 netem loss 100% ecn limit 100000",
        *(f"{choose} {number} 0xf at 4" for number in MARKED[:sixteenths]),
    ]
    net.batch("tc", lines, pair.a)


def marked_pair(sixteenths: int, receiver: str = "ratcp_ecn", **sysctls: str) -> Pair:
    """Return two hosts; the one that receives echoes marks as this congestion control does."""
    net.write(ALLOWED, f"{RENO} ratcp ratcp_ecn")
    pair = Pair()
    rate.prepare(pair, tcp_congestion_control=receiver, **sysctls)
    net.run("ip link set a0 gso_max_segs 1", pair.a)
    net.run("tc qdisc add dev b0 root netem delay 50ms limit 100000", pair.b)
    mark(pair, sixteenths)
    return pair


def weigh(pair: Pair, weight: int, **settings: Any) -> rate.Channel:
    """Give a's device a path whose rate comes in band."""
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=weight, meaning="weight", phi=int(PHI * 1e6), **settings)
    return ch


def send(sender: rate.Sender, seconds: float) -> None:
    """Send; the receiver's application takes at once what has come."""
    rate.step([sender], seconds, 0.02)


def mean(records: Records, name: str) -> float:
    """Return the mean of a field at the ACKs of the second half of the time."""
    middle = (records[0]["now_ns"] + records[-1]["now_ns"]) // 2
    late = [r for r in records if r["now_ns"] > middle]
    return float(sum(r[name] for r in late) / len(late))


def near(value: float, expected: float, tolerance: float, what: str) -> None:
    """Fail unless a value is within this share of what was expected."""
    true(abs(value / expected - 1) < tolerance, f"{what}: {value:.4g}, expected {expected:.4g}")


def price_is_read(congestion: str, sixteenths: int, **sysctls: str) -> None:
    """Fail unless R is weight / price, and the window follows it, not the marks."""
    pair = marked_pair(0, **sysctls)
    weight = int(600_000 * price_of(sixteenths))
    ch = weigh(pair, weight)
    with rate.Trace() as trace:
        sender = rate.Sender(pair, congestion)
        mark(pair, sixteenths)
        send(sender, 10)
        flow = ch.flow(sender.sport)
        sender.close()
    records = trace.windows(sender.sport)
    near(mean(records, "price") / ONE, price_of(sixteenths), 0.02, f"price at {sixteenths}/16")
    near(mean(records, "rate"), 600_000, 0.02, f"rate at {sixteenths}/16")
    equal((flow["found_advice"], flow["lost_advice"]), (1, 0), "advice")
    near(flow["rate"], weight / (flow["price"] / ONE), 0.001, "rate of the price")
    told = [r for r in records if r["rate"]]
    small = sum(2 * r["cwnd"] < r["rate_window"] for r in told[len(told) // 2 :])
    true(small < len(told) / 50, f"{small} of {len(told)} windows are halved")
    true(all(r["phase"] != "recovery" for r in told), "a recovery without a loss")
    pair.close()


def test_the_price_is_read() -> None:
    """R is weight / price, at any share of marks; marks do not halve the window."""
    for sixteenths in (1, 8, 15):
        price_is_read("ratcp_ecn", sixteenths)


OLDTAHOE = {"tcp_ecn": "1", "tcp_sack": "0"}


def test_ratcp_oldtahoe_reads_the_price() -> None:
    """So does ratcp_oldtahoe, where the connection has ECN."""
    for sixteenths in (1, 8, 15):
        price_is_read("ratcp_oldtahoe", sixteenths, **OLDTAHOE)


def test_ratcp_oldtahoe_after_a_loss() -> None:
    """With marks in most round trips its window begins again from 1, and comes back to W_rate."""
    pair = marked_pair(0, **OLDTAHOE)
    weigh(pair, int(600_000 * price_of(8)))
    sender = rate.Sender(pair, "ratcp_oldtahoe")
    mark(pair, 8)
    send(sender, 5)
    with rate.Trace() as trace:
        net.run("tc qdisc replace dev a0 parent 1:2 handle 3: netem loss 100%", pair.a)
        send(sender, 0.06)
        mark(pair, 8)
        send(sender, 10)
        sender.close()
    records = trace.windows(sender.sport)
    true(min(r["cwnd"] for r in records) <= 2, "it did not begin again")  # seen with an ACK
    # W_rate moves a little, and it follows upwards by one packet in a round trip
    near(mean(records, "cwnd"), mean(records, "rate_window"), 0.1, "window")
    with pair.a.entered():
        true(netstat("TCPTimeouts", "TcpExt") > 0, "no timeout")
    pair.close()


def test_each_mark_is_echoed_once() -> None:
    """The sender counts as many marks as have come, with and without delayed ACKs."""
    for quickack in ("", " quickack 1"):
        pair = marked_pair(0)
        net.run(f"ip route change 10.0.0.0/24 dev b0{quickack}", pair.b)
        weigh(pair, 10**6)
        sender = rate.Sender(pair, "ratcp_ecn")
        mark(pair, 5)
        for _ in range(50):
            sender.socket.send(sender.chunk)
        while unacked(sender):
            net.sleep_ns(S // 100)
        with pair.b.entered():
            came = netstat("InCEPkts")
        equal(delivered_ce(sender), came, f"marks that are known{quickack}")
        true(came > 100, f"hardly any mark: {came}")
        sender.close()
        pair.close()


def unacked(sender: rate.Sender) -> int:
    """Return how many packets are not acknowledged."""
    sender.drain()
    return sender.info()[2 + 4]


def delivered_ce(sender: rate.Sender) -> int:
    """Return tcpi_delivered_ce."""
    data = sender.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return int(struct.unpack_from("I", data, 196)[0])


def test_who_negotiates() -> None:
    """ratcp has ECN by sysctl; ratcp_ecn by itself, with its like; without ECN it is Reno."""
    for congestion, receiver, tcp_ecn, told in (
        ("ratcp", "ratcp_ecn", "2", False),
        ("ratcp", "ratcp", "1", True),
        ("ratcp", "ratcp_ecn", "1", True),
        ("ratcp_ecn", "ratcp_ecn", "0", True),
        ("ratcp_ecn", "ratcp", "2", False),
    ):
        pair = marked_pair(0, receiver=receiver, tcp_ecn=tcp_ecn)
        ch = weigh(pair, 10**6)
        sender = rate.Sender(pair, congestion)
        mark(pair, 5)
        send(sender, 2)
        flow = ch.flow(sender.sport)
        what = f"{congestion} to {receiver} with tcp_ecn={tcp_ecn}"
        equal((flow["found_advice"], flow["lost_advice"]), (int(told), 0), what)
        equal(("price" in flow, flow["phase"] != RENO), (told, told), what)
        sender.close()
        pair.close()


def test_refused_ecn() -> None:
    """ratcp_ecn on a connection without ECN is ratcp, and its packets say that they have none."""
    pair = marked_pair(0, receiver="reno", tcp_ecn="0")
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=500_000)
    sender = rate.Sender(pair, "ratcp_ecn")
    send(sender, 2)
    flow = ch.flow(sender.sport)
    equal((flow["rate"], flow["congestion"], sender.congestion()), (500_000, "ratcp", "ratcp"), "")
    with pair.b.entered():
        equal((netstat("InECT0Pkts"), netstat("InCEPkts")), (1, 0), "only the SYN had ECT")
    sender.close()
    pair.close()


def test_ecn_that_is_only_asked_for() -> None:
    """ratcp_ecn chosen while the SYN is on its way is ratcp: the answer may be no."""
    for there, words in (("0", "none"), ("1", "ECN")):
        pair = marked_pair(0, receiver="reno", tcp_ecn="1")
        with pair.b.entered():
            net.write("/proc/sys/net/ipv4/tcp_ecn", there)
        ch = channel(pair.a)
        ch.set(ifindex=pair.dev, rate=500_000)
        sender = rate.Sender(pair, None, connect=False)
        sender.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            sender.socket.connect(sender.there)
        sender.use("ratcp_ecn")
        net.sleep_ns(S)
        sender.peer, _ = sender.listener.accept()
        sender.peer.setblocking(False)
        send(sender, 2)
        equal(sender.congestion(), "ratcp", f"the other end has {words}")
        with pair.b.entered():
            marked = netstat("InECT0Pkts")
        equal(marked > 100, there == "1", f"packets with ECT: {marked}; the other end has {words}")
        sender.close()
        pair.close()


def test_all_and_none() -> None:
    """With every packet marked it goes on, slowly; with no mark it grows; and comes back."""
    pair = marked_pair(16)
    weigh(pair, 500_000, beta=2)
    sender = rate.Sender(pair, "ratcp_ecn")
    windows = []
    for sixteenths in (16, 0, 5):
        mark(pair, sixteenths)
        with rate.Trace() as trace:
            send(sender, 10)
        records = trace.windows(sender.sport)
        true(len(records) > 50, f"{len(records)} ACKs at {sixteenths}/16")
        windows.append(mean(records, "rate_window"))
    sender.close()
    everything, nothing, some = windows
    true(2 <= everything < some / 2, f"W_rate {everything} with all marked, {some} with some")
    true(nothing > 10 * some, f"W_rate {nothing} without a mark, {some} with some")
    near(some, 500_000 / price_of(5) * 0.05 / 1500 + 2, 0.2, "W_rate")
    pair.close()


def test_weight_and_phi_change() -> None:
    """A new weight, phi or meaning is in use with the next ACK."""
    pair = marked_pair(8)
    ch = weigh(pair, 4 * 10**6)
    sender = rate.Sender(pair, "ratcp_ecn")
    send(sender, 5)
    for change, factor in (({"rate": 2 * 10**6}, 0.5), ({"phi": int(PHI**2 * 1e6)}, 2.0)):
        before = ch.flow(sender.sport)
        ch.set(ifindex=pair.dev, **change)
        send(sender, 0.1)
        after = ch.flow(sender.sport)
        near(after["rate"], factor * before["rate"], 0.1, f"rate after {change}")
    ch.set(ifindex=pair.dev, meaning="share")
    send(sender, 0.1)
    flow = ch.flow(sender.sport)
    equal((flow["rate"], "price" in flow), (2 * 10**6, False), "a share")
    ch.set(ifindex=pair.dev, meaning="weight")
    send(sender, 1)
    flow = ch.flow(sender.sport)
    equal(("price" in flow, flow["found_advice"]), (True, 2), "a weight again, read anew")
    sender.close()
    pair.close()


def test_a_drop_here_halves() -> None:
    """A drop in this host's own queue is no mark: the window is halved, and comes back."""
    pair = marked_pair(0)
    net.run("tc qdisc replace dev a0 root netem delay 50ms limit 40", pair.a)
    weigh(pair, 10**8)
    with rate.Trace() as trace:
        sender = rate.Sender(pair, "ratcp_ecn")
        send(sender, 5)
        sender.close()
    records = [r for r in trace.windows(sender.sport) if r["rate"]]
    true(any(r["phase"] == "recovery" for r in records), "no window is reduced")
    pair.close()


def test_an_old_receiver() -> None:
    """One that echoes a mark until it is answered makes the price look higher, not lower."""
    pair = marked_pair(0, receiver="reno", tcp_ecn="1")
    ch = weigh(pair, int(600_000 * price_of(1)))
    sender = rate.Sender(pair, "ratcp")
    mark(pair, 1)
    send(sender, 10)
    flow = ch.flow(sender.sport)
    true(flow["price"] > 2 * ONE * price_of(1), f"price {flow['price'] / ONE}")
    true(sender.received > 10 * 30_000, f"{sender.received} bytes: it stands")
    sender.close()
    pair.close()


def test_drop_of_ones_own() -> None:
    """It halves the window, which grows by a packet in a round trip, while marks go on."""
    for wait in (3, 3.013, 3.031):  # at another place between two marks
        pair = marked_pair(0)
        weigh(pair, int(600_000 * price_of(2)))
        with rate.Trace() as trace:
            sender = rate.Sender(pair, "ratcp_ecn")
            mark(pair, 2)
            send(sender, wait)
            net.run(
                "tc qdisc replace dev a0 parent 1:1 handle 9: tbf rate 1mbit burst 3000 limit 3000",
                pair.a,
            )
            send(sender, 0.04)
            net.run("tc qdisc replace dev a0 parent 1:1 handle 8: pfifo limit 100000", pair.a)
            send(sender, 20)
            sender.close()
        records = trace.windows(sender.sport)
        small = min(r["cwnd"] / r["rate_window"] for r in records if r["rate_window"] > 10)
        true(small < 0.6, f"the window was {small:.2f} W_rate at least: it was not halved")
        near(mean(records, "cwnd"), mean(records, "rate_window"), 0.05, "window")
        pair.close()


def test_accurate_ecn() -> None:
    """Where AccECN was negotiated, the receiver needs no congestion control that echoes."""
    if not os.path.exists("/proc/sys/net/ipv4/tcp_ecn_option"):
        raise Skip("the kernel has no AccECN")
    pair = marked_pair(0, receiver=RENO, tcp_ecn="3")
    weigh(pair, int(600_000 * price_of(5)))
    with rate.Trace() as trace:
        sender = rate.Sender(pair, "ratcp")
        mark(pair, 5)
        send(sender, 20)
        sender.close()
    records = trace.windows(sender.sport)
    near(mean(records, "price") / ONE, price_of(5), 0.1, "price")
    near(mean(records, "rate"), 600_000, 0.15, "rate")
    pair.close()


if __name__ == "__main__":
    main()
