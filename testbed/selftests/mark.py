#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A wale link that marks (ECN): instead of early drops, and by a price (policy rem).

What becomes of random streams is compared with wale_lab/models/rem.py, packet by packet.
Topology: lib/pair.py.
"""

from __future__ import annotations

import random
from typing import Any

from switch import events
from wale_lab.models import breaker, policer
from wale_lab.models.link import Config, Trace, TraceEnd
from wale_lab.models.rem import MarkingLink, Parameters
from wale_lab.options import POLICER_EXCESS
from wale_lab.selftest import net
from wale_lab.selftest.netstat import netstat
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.tap import equal, main, true
from wale_lab.selftest.wale import POLICY

ECT0 = 2
REM = POLICY["rem"]
EARLY = ("epd", "seldrop", "fba")

Stream = list[tuple[int, int, bool]]


def stream(seed: int, count: int, gap_ns: int) -> Stream:
    """Return packets (gap_ns, IP bytes, can be marked): bursts and pauses, each of a length."""
    rng = random.Random(seed)
    gaps = [0, 0, gap_ns, gap_ns, gap_ns // 3, 6 * gap_ns]
    return [(rng.choice(gaps), 100 + number, rng.random() < 0.7) for number in range(count)]


def send(pair: Pair, packets: Stream) -> None:
    """Send a stream."""
    for number, (gap_ns, length, ect) in enumerate(packets):
        net.sleep_ns(gap_ns)
        tos = ECT0 if ect else 0
        net.send(pair.socket, "a0", net.ip_packet(length, number=number, tos=tos))


TRACE = [(30 * MS, 10**6), (20 * MS, 0), (25 * MS, 3 * 10**5)]
# name: (options, parameters, count of packets, mean gap in ns)
CASES: dict[str, tuple[dict[str, Any], Parameters, int, int]] = {
    "overload": (
        {"rate": 10**6, "limit_packets": 100},
        Parameters(interval_ns=MS, gamma=50_000, alpha=10**6, target=3000),
        800,
        400_000,
    ),
    "small-buffer": (
        {"rate": 10**6, "limit_bytes": 9000, "delay": 20 * MS},
        Parameters(interval_ns=5 * MS, gamma=20_000, target=3000, phi=2 * 10**6),
        800,
        400_000,
    ),
    "seldom": (
        {"rate": 3 * 10**5, "limit_packets": 50},
        Parameters(interval_ns=100 * MS, gamma=10**7, target=0, phi=1_001_000),
        600,
        500_000,
    ),
    "trace": (
        {"trace": TRACE, "limit_packets": 60},
        Parameters(interval_ns=3 * MS, gamma=30_000, alpha=300_000, target=5000),
        800,
        600_000,
    ),
    "pauses": (
        {"rate": 43_457, "limit_packets": 40},
        Parameters(interval_ns=1_700_001, gamma=100_000, target=1000),
        300,
        3 * MS,
    ),
}


def config_of(options: dict[str, Any], seed: int) -> Config:
    """Return the model's configuration of these options."""
    values: dict[str, Any] = {k: v for k, v in options.items() if k.startswith(("rate", "limit"))}
    if "limit_bytes" in values:
        values["limit_packets"] = None
    if "trace" in options:
        values["trace"] = Trace(tuple(options["trace"]), TraceEnd.LOOP)
    return Config(delay_ns=options.get("delay", 0), seed=seed, **values)


def rem_of(parameters: Parameters) -> dict[str, int]:
    """Return the attributes of these parameters."""
    return {
        "interval": parameters.interval_ns,
        "gamma": parameters.gamma,
        "alpha": parameters.alpha,
        "target": parameters.target,
        "phi": parameters.phi,
    }


def compare(name: str, mark: bool) -> None:
    """Fail unless a stream fares as the model has it, and the price is the model's."""
    options, parameters, count, gap_ns = CASES[name]
    pair = Pair()
    pair.add(policy=REM, rem=rem_of(parameters), mark=int(mark), seed=7, **options)
    start = pair.stats()["price_next_ns"] - parameters.interval_ns
    packets = stream(len(name), count, gap_ns)
    tracing = net.Tracing()
    tracing.on()
    send(pair, packets)
    pair.drain()
    stats = pair.stats()
    found = events(tracing.text())
    came = {int(f["len"]): int(f.get("arrival_ns") or f["now_ns"]) for _, f in found}
    came |= {int(f["len"]): int(f["now_ns"]) for kind, f in found if kind == "enqueue"}
    link = MarkingLink(config_of(options, 7), parameters, mark, start)
    fates = link.run([(came[length], length, ect) for _, length, ect in packets])
    drops = {int(f["len"]): f["reason"] for kind, f in found if kind == "drop"}
    left = {int(f["len"]): int(f["departure_ns"]) for kind, f in found if kind == "dequeue"}
    for (_, length, _), fate in zip(packets, fates, strict=True):
        equal(drops.get(length, "sent"), fate.verdict.value, f"packet {length}")
        equal(left.get(length), fate.departure_ns, f"departure of packet {length}")
    equal(stats["marked_packets"], sum(f.marked for f in fates), "marked")
    equal(stats["unmarkable_packets"], sum(f.unmarkable for f in fates), "unmarkable")
    equal(stats["dropped_early_packets"], list(drops.values()).count("early"), "early")
    lengths = [p[1] for p, f in zip(packets, fates, strict=True) if f.marked]
    equal(stats["marked_bytes"], sum(lengths), "marked bytes")
    with pair.b.entered():
        equal(netstat("InCEPkts"), len(lengths), "marks that came")
    link.advance(stats["now_ns"])
    equal(stats["price_next_ns"], link.next_ns, "next update")
    near = abs(stats["price"] - link.price) <= link.price / 10**5  # at the highest price
    true(near, f"price {stats['price']}, expected {link.price}")
    true(len(lengths) > 20 if mark else "early" in drops.values(), "hardly any")
    pair.close()


def test_price_as_the_model() -> None:
    """Each packet is refused, marked or let in as models/rem.py has it, and the price is its."""
    for name in CASES:
        for mark in (False, True):
            try:
                compare(name, mark)
            except AssertionError as error:
                raise AssertionError(f"{name}, mark {mark}: {error}") from None


def test_policer() -> None:
    """What exceeds the policer is dropped; or marked, if it can be; as models/policer.py has it."""
    for excess in POLICER_EXCESS.values():
        pair = Pair()
        parameters = policer.Parameters(400_000, 4000)
        pair.add(policer={**parameters._asdict(), "excess": excess}, rate=2 * 10**6, flows=3)
        packets = stream(11, 600, 300_000)
        tracing = net.Tracing()
        tracing.on()
        send(pair, packets)
        pair.drain()
        found = events(tracing.text())
        came = {int(f["len"]): int(f["now_ns"]) for kind, f in found if kind != "dequeue"}
        dropped = {int(f["len"]) for kind, f in found if f.get("reason") == "policer"}
        model = policer.Policer(parameters, min(came.values()))
        exceeding = [p for p in packets if not model.takes(came[p[1]], p[1])]
        marked = [p[1] for p in exceeding if excess and p[2]]
        equal(dropped, {p[1] for p in exceeding} - set(marked), "dropped")
        stats = pair.stats()
        equal(stats["dropped_policer_bytes"], sum(dropped), "bytes that were dropped")
        equal(stats["marked_bytes"], sum(marked), "bytes that were marked")
        classes = pair.control.classes(pair.dev).values()
        equal(
            sum(one.stats["dropped_policer_packets"] for one in classes), len(dropped), "of flows"
        )
        true(min(len(dropped), len(exceeding), len(packets) - len(exceeding)) > 50, "hardly any")
        equal((pair.get().imbalance(), pair.get().imbalance_bytes()), (0, 0), "imbalance")
        with pair.b.entered():
            equal(netstat("InCEPkts"), len(marked), "marks that came")
        pair.close()


def test_breaker() -> None:
    """A flow that stays above the rate is cut; as models/breaker.py has it; others are not."""
    pair = Pair()
    parameters = breaker.Parameters(200_000, 20 * MS)
    pair.add(breaker=parameters._asdict(), flows=4, rate=10**6, limit_packets=10_000)
    rng = random.Random(5)
    packets = [(rng.choice([0, MS, 2 * MS]), 100 + n, rng.choice([0, 0, 0, 1])) for n in range(300)]
    tracing = net.Tracing()
    tracing.on()
    for gap_ns, length, flow in packets:
        net.sleep_ns(gap_ns)
        net.send(pair.socket, "a0", net.ip_packet(length, f"10.0.0.{2 + flow}"))
    pair.drain()
    found = events(tracing.text())
    came = {int(f["len"]): int(f["now_ns"]) for kind, f in found if kind != "dequeue"}
    dropped = {int(f["len"]) for kind, f in found if f.get("reason") == "breaker"}
    model = breaker.Breaker(parameters)
    expected = {length for _, length, flow in packets if model.cut(flow, came[length], length)}
    equal(dropped, expected, "dropped")
    seen = pair.get()
    equal((seen.stats["cut_flows"], model.cuts), (1, 1), "flows that were cut")
    equal(seen.stats["dropped_breaker_bytes"], sum(dropped), "bytes")
    equal((seen.imbalance(), seen.imbalance_bytes()), (0, 0), "imbalance")
    pair.change(breaker=parameters._asdict())
    pair.send(1)
    equal(
        pair.stats()["dropped_breaker_packets"], len(dropped), "dropped, after the breaker was set"
    )
    pair.change(breaker={})
    true("cut_flows" not in pair.stats() and "breaker" not in pair.get().options, "no breaker")
    pair.close()


def test_marks_in_place_of_drops() -> None:
    """epd, seldrop and fba mark what can be marked, and drop the rest as without mark."""
    for policy in EARLY:
        pair = Pair()
        z = {} if policy == "epd" else {"z": 1}
        pair.add(rate=10**5, limit_packets=20, policy=POLICY[policy], threshold=10, mark=1, **z)
        expected = {"marked": 0, "dropped_early": 0, "dropped_buffer": 0}
        held = 0
        for number in range(60):
            ect = number % 3 > 0
            net.send(pair.socket, "a0", net.ip_packet(1000, tos=ECT0 if ect else 0))
            if held == 20:
                expected["dropped_buffer"] += 1
            elif held > 10 and not ect:
                expected["dropped_early"] += 1
            else:
                expected["marked"] += held > 10
                held += 1
        stats = pair.stats()
        equal({name: stats[f"{name}_packets"] for name in expected}, expected, policy)
        equal(stats["unmarkable_packets"], 0, "what cannot be marked is dropped")
        pair.drain()
        with pair.b.entered():
            equal(netstat("InCEPkts"), expected["marked"], "marks that came")
        equal(pair.get().imbalance(), 0, "imbalance")
        pair.close()


def test_marks_with_cells() -> None:
    """A packet is marked or refused at its first cell."""
    for policy in (*EARLY, "rem"):
        for mark in (0, 1):
            pair = Pair()
            pair.add(
                **{"rate": 10**6, "overhead": 2, "limit_cells": 300, "input_rate": 4 * 10**6},
                **{"policy": POLICY[policy], "mark": mark, "seed": 3, "flows": 4},
            )
            if policy == "rem":
                pair.change(rem={"interval": MS, "gamma": 10**5, "target": 2000, "alpha": 10**6})
            else:
                pair.change(threshold=100)
            for _ in range(300):
                net.send(pair.socket, "a0", net.ip_packet(1000, tos=ECT0))
                net.sleep_ns(MS)
            pair.drain()
            stats = pair.stats()
            pair.received()
            name = "marked_packets" if mark else "dropped_early_packets"
            true(stats[name] > 10, f"{policy}: {name} {stats[name]}")
            other = "dropped_early_packets" if mark else "marked_packets"
            equal(stats[other], 0, f"{policy}: {other}")
            with pair.b.entered():
                equal(netstat("InCEPkts") <= stats["marked_packets"], True, "marks that came")
            equal(pair.get().imbalance(), 0, "imbalance")
            pair.close()


def test_change() -> None:
    """Parameters change and the price stays; it begins anew with the policy, not with a seed."""
    pair = Pair()
    params = {"interval": 10 * MS, "gamma": 10**5, "alpha": 10**6, "target": 0}
    pair.add(rate=10**5, limit_packets=100, policy=REM, rem=params, mark=1, seed=1)
    pair.send(50)
    net.sleep_ns(100 * MS)
    before = pair.stats()
    true(before["price"] > 0, "no price")
    pair.change(rem={"gamma": 1, "phi": 1_200_000}, seed=2)
    after = pair.stats()
    near = abs(after["price"] - before["price"]) < before["price"] / 20
    true(near and after["mark_probability"] != before["mark_probability"], f"{before} {after}")
    equal(after["price_next_ns"] % (10 * MS), before["price_next_ns"] % (10 * MS), "phase")
    equal(pair.get().options["rem"], params | {"gamma": 1, "phi": 1_200_000}, "parameters")
    pair.change(policy=0)
    true("price" not in pair.stats(), "policy tail has a price")
    net.sleep_ns(100 * MS)
    pair.change(policy=REM)
    again = pair.stats()
    equal((again["price"], again["mark_probability"]), (0, 0), "a new price")
    equal(pair.get().options["rem"]["phi"], 1_200_000, "parameters that were kept")
    pair.drain()
    pair.close()


def test_idle_and_outage() -> None:
    """An idle day is over at once and the price is 0; in an outage it rises to its limit."""
    pair = Pair()
    params = {"interval": MS, "gamma": 10**6, "target": 500, "alpha": 10**6}
    pair.add(trace=[(10 * MS, 10**6), (MS, 0)], policy=REM, rem=params, seed=1)
    pair.send(5)
    net.sleep_ns(86_400 * 10**9)
    equal(pair.stats()["price"], 0, "after a day")
    pair.change(trace=[(MS, 10**6), (MS, 0)], trace_end=2)
    net.sleep_ns(5 * MS)
    pair.send(20)
    net.sleep_ns(86_400 * 10**9)
    stats = pair.stats()
    equal(stats["mark_probability"], (1 << 32) - 1, "in an outage")
    true(stats["price_next_ns"] > stats["now_ns"], "updates are behind")
    pair.delete()
    pair.close()


if __name__ == "__main__":
    main()
