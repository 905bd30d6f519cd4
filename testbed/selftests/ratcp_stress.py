#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Controllers that die or lie, and 10,000 senders: behaviour as specified, not a line in the log.

Topology: lib/pair.py.
"""

from __future__ import annotations

import functools
import os
import random
import signal
import time
from collections.abc import Callable

from wale_lab.selftest import net, rate
from wale_lab.selftest.pair import Pair
from wale_lab.selftest.rate import S, channel
from wale_lab.selftest.tap import KernelLog, equal, main, true

#: Level of the kernel's log; what is below is worse.
WARNING = 4

MS = 10**6
AGE = 400 * MS
ABSURD = [0, 1, 2, 1499, 10**5, 10**6, 10**9, 10**15, (1 << 50) - 1, 1 << 50, 1 << 63]
ABSURD += [rate.UNLIMITED - 1, rate.UNLIMITED]


def silent(test: Callable[[], None]) -> Callable[[], None]:
    """Let a test fail if the kernel says anything during it."""

    @functools.wraps(test)
    def watched() -> None:
        log = KernelLog()
        test()
        said = [line for line in log.news() if int(line.partition(",")[0]) & 7 <= WARNING]
        equal(said, [], "what the kernel said")

    return watched


class Controller:
    """A process that advises one flow every 100 ms."""

    def __init__(self, pair: Pair, sport: int) -> None:
        key = {"saddr": "10.0.0.1", "daddr": "10.0.0.2", "sport": sport, "dport": 5001}
        self.child = os.fork()
        if self.child:
            return
        ch = channel(pair.a)
        number = 0
        while True:
            ch.set(rate=60_000 + number % 7, age_limit=AGE, **key)
            number += 1
            time.sleep(0.1)

    def kill(self) -> int:
        """Kill it as it stands; return when."""
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        return rate.time_ns()


@silent
def test_controller_is_killed() -> None:
    """Its last advice holds until it is too old; then it is Reno, until there is another."""
    pair = Pair()
    rate.prepare(pair)
    rate.slow_link(pair, delay_ms=20, limit_packets=30)
    ch = channel(pair.a)
    sender = rate.Sender(pair)
    for round_ in range(1, 6):
        controller = Controller(pair, sender.sport)
        with rate.Trace() as trace:
            sender.step(2)
            flow = ch.flow(sender.sport)
            counts = (flow["found_advice"], flow["lost_advice"])
            equal(counts, (round_, round_ - 1), "advice found and lost")
            last = controller.kill()
            renewed = last - ch.paths()[0]["age"]
            sender.step(2)
        records = [r for r in trace.windows(sender.sport) if r["now_ns"] > last]
        for record in records:
            there = record["now_ns"] <= renewed + AGE + 10_000
            equal(record["phase"] == "reno", not there, f"phase, killed at {last}: {record}")
        true(any(r["phase"] != "reno" for r in records), "advice ended with its controller")
        true(sum(r["phase"] == "reno" for r in records) > 20, "hardly any record of reno")
        before = sender.received
        sender.step(2)
        true(sender.received - before > 150_000, "Reno does not use the link")
    ch.delete()
    sender.close()
    pair.close()


@silent
def test_wild_advice() -> None:
    """Advice jumps between absurd numbers every few ms, on a bad link: the sender obeys."""
    for seed in range(3):
        pair = Pair()
        rate.prepare(pair, tcp_sack=str(seed % 2))
        rate.slow_link(pair, rate=10**6, delay_ms=10, limit_packets=40, loss=1 << 26, seed=seed)
        ch = channel(pair.a)
        draw = random.Random(seed)
        sender = rate.Sender(pair, buffer=1 << 18)
        key = {"ifindex": pair.dev}
        with rate.Trace() as trace:
            for _ in range(600):
                lag = draw.choice(({"lag": "now"}, {"lag": "rtt"}, {"lag": "fixed", "lag_time": 9}))
                ch.set(
                    **key,
                    **lag,
                    rate=draw.choice(ABSURD),
                    meaning=draw.randrange(2),
                    beta=draw.choice((0, 1, 7, 10**6)),
                    base_rtt=draw.choice((0, 0, 1, S // 5)),
                    pace=draw.randrange(2),
                    layer=draw.randrange(4),
                    rise=draw.randrange(2),
                )
                sender.step(draw.choice((0.001, 0.02, 0.05)))
                if draw.random() < 0.05:
                    ch.delete()
            ch.delete()
            ch.set(**key, rate=800_000, pace=0)
            before = sender.received
            sender.step(10)
        for record in trace.windows(sender.sport):
            if record["rate_window"] and record["phase"] != "recovery":
                true(record["cwnd"] <= record["rate_window"], f"above W_rate: {record}")
        speed = (sender.received - before) / 10
        true(speed > 100_000, f"{speed} bytes/s after the advice became sane")
        sender.close()
        pair.close()


@silent
def test_pace_does_not_stall() -> None:
    """A sender that was told to pace at next to nothing sends again soon after that is over."""
    pair = Pair()
    rate.prepare(pair)
    rate.slow_link(pair, rate=10**6, delay_ms=10)
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=500_000)
    sender = rate.Sender(pair)
    sender.step(1)
    stalls = []
    for rate_, base_rtt in ((0, 0), (1, 0), (1, S), (0, 60 * S), (1, 60 * S)):
        ch.set(ifindex=pair.dev, rate=rate_, base_rtt=base_rtt, pace=1)
        sender.step(1)
        ch.set(ifindex=pair.dev, rate=500_000, base_rtt=0, pace=1)
        before, begin = sender.received, rate.time_ns()
        while sender.received - before < 100_000 and rate.time_ns() - begin < 100 * S:
            sender.step(0.1)
        stalls.append((rate_, base_rtt, round((rate.time_ns() - begin) / S, 1)))
    true(all(seconds < 3 for _, _, seconds in stalls), f"(rate, base RTT, seconds): {stalls}")
    sender.close()
    pair.close()


@silent
def test_advice_zero() -> None:
    """Rate 0 leaves beta packets in flight, and nothing times out because of it."""
    pair = Pair()
    rate.prepare(pair)
    rate.slow_link(pair, rate=10**6, delay_ms=20)
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=10**6, beta=3)
    sender = rate.Sender(pair)
    sender.step(2)
    ch.set(ifindex=pair.dev, rate=0)
    with rate.Trace() as trace:
        sender.step(5)
    records = trace.windows(sender.sport)
    late = [r for r in records if r["now_ns"] > records[0]["now_ns"] + S]
    true(len(late) > 50, f"{len(late)} acknowledgments")
    equal({r["rate_window"] for r in records}, {3}, "W_rate")
    true(max(r["in_flight"] for r in late) <= 3, "more than beta in flight")
    for ns, name in ((pair.a, "TCPTimeouts"), (pair.a, "TCPLostRetransmit")):
        with ns.entered():
            heads, values = net.read("/proc/thread-self/net/netstat").splitlines()[:2]
        equal(dict(zip(heads.split(), values.split(), strict=True))[name], "0", name)
    sender.close()
    pair.close()


@silent
def test_ten_thousand_sockets() -> None:
    """10,000 sockets listen while advice changes, comes and goes; all end."""
    count = 10_000
    pair = Pair()
    rate.prepare(pair)
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=10**9, meaning="link")
    crowd = rate.Crowd(pair, count)
    for number in range(4):
        ch.set(ifindex=pair.dev, rate=10**9 + number * count)
        crowd.send_each()
        path = ch.get(ifindex=pair.dev)
        if number % 2 == 0:
            equal((path["listeners"], path["flows"]), (count, count), "listeners and flows")
        flows = ch.flows()
        equal(len({flow["sport"] for flow in flows}), count, "flows in the dump")
        if number == 0:
            rates = {flow["rate"] for flow in flows}
            true(rates <= {10**9 // n for n in range(1, count + 1)}, "rates that are no share")
            ch.set(daddr="10.0.0.0", prefix_len=24, rate=12_345)
        elif number == 1:
            equal({flow["rate"] for flow in flows}, {12_345}, "rates of the other path")
            ch.delete(daddr="10.0.0.0", prefix_len=24)
        elif number == 2:
            ch.delete()
            ch.set(ifindex=pair.dev, rate=0)
        else:
            equal({flow["rate"] for flow in flows}, {10**9 + 3 * count}, "rates in the end")
    crowd.close()
    equal((ch.flows(), ch.get(ifindex=pair.dev)["listeners"]), ([], 0), "what is left")
    pair.close()


@silent
def test_namespace_goes_in_mid_flight() -> None:
    """A namespace is deleted with paths, and its sockets closed with data on their way."""
    for number in range(10):
        pair = Pair()
        rate.prepare(pair)
        rate.slow_link(pair, delay_ms=100)
        ch = channel(pair.a)
        ch.set(ifindex=pair.dev, rate=10**5, meaning="link", pace=number % 2)
        # ten of the usual buffers take 320 MB, which a guest of 512 MB with sanitizers has not
        senders = [rate.Sender(pair, port=5001 + n, buffer=1 << 20) for n in range(10)]
        rate.step(senders, 0.3)
        ch.close()
        if number % 3:
            for sender in senders:
                sender.socket.close()  # with FIN, and data that waits
        pair.close()
        net.sleep_ns(S // 10)
        for sender in senders:
            sender.close()
    net.wait_for(lambda: not net.run("rmmod tcp_ratcp", check=False), "the end of sockets", 2000)
    net.run("rmmod rate_feedback")
    for name in ("rate_feedback", "tcp_ratcp"):
        net.run(f"insmod {rate.module(name)}")


if __name__ == "__main__":
    main()
