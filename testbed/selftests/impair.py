#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Impairments of a wale link, packet by packet as testbed/src/wale_lab/models/impair.py has them.

Topology: lib/pair.py.
"""

from __future__ import annotations

import itertools
import math
import random
import socket
import struct
from dataclasses import replace
from typing import Any

from switch import events
from wale_lab.models.impair import (
    Fate,
    FourStates,
    Gemodel,
    Independent,
    Losses,
    Model,
    Settings,
    fates,
)
from wale_lab.models.link import Config, Link
from wale_lab.selftest import net
from wale_lab.selftest.netstat import netstat
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.tap import equal, main, true
from wale_lab.selftest.wale import LOSS_ALWAYS

PERCENT = (1 << 32) // 100
ECT0 = 2
GE = Gemodel(2 * PERCENT, 20 * PERCENT, 90 * PERCENT, PERCENT // 10)
STATES = FourStates(3 * PERCENT, 10 * PERCENT, 30 * PERCENT, 40 * PERCENT, PERCENT)
COUNT = 4000
TABLE = tuple(round(8192 * math.tan(k / 100)) for k in range(-100, 101))
#: How late a release may be, ns: two quanta of the clock of the guest.
LATE_NS = 512

Stream = list[tuple[int, int]]


def option(model: Model) -> dict[str, dict[str, int]]:
    """Return the attributes of a model of losses."""
    return {"gemodel" if isinstance(model, Gemodel) else "state": dict(vars(model))}


def arrivals(pair: Pair, count: int, tos: int = 0) -> list[bool]:
    """Send packets; return of each whether it was lost."""
    pair.received()
    first = pair.sent
    pair.send(count, 100, tos=tos)
    pair.drain()
    net.sleep_ns(1000)
    came = set(pair.received())
    return [number not in came for number in range(first, first + count)]


def expected(model: Model, seed: int, count: int) -> list[bool]:
    """Return what the model loses."""
    losses = Losses(model, seed)
    return [losses.next() for _ in range(count)]


def within(share: float, probability: float, count: int, what: str, spread: float = 1) -> None:
    """Fail unless a share is that of a probability, but for 4.5 standard deviations."""
    bound = 4.5 * math.sqrt(spread * probability * (1 - probability) / count)
    true(abs(share - probability) <= bound, f"{what}: {share}, expected {probability} +- {bound}")


def attributes(settings: Settings) -> dict[str, Any]:
    """Return the options of a link with these impairments."""
    options: dict[str, Any] = {"seed": settings.seed, "delay": settings.delay_ns}
    if isinstance(settings.loss, Independent):
        options["loss"] = settings.loss.probability
        options["loss_correlation"] = settings.loss.correlation
    elif settings.loss:
        options |= option(settings.loss)
    options["jitter_correlation"] = settings.jitter_correlation
    if settings.jitter_ns:
        jitter = {"time": settings.jitter_ns, "reordering": int(settings.reordering)}
        options["jitter"] = jitter | {"table": settings.table}
    if settings.slot:
        options["slot"] = dict(zip(("min", "max", "packets", "bytes"), settings.slot, strict=True))
    options["corrupt_fix"] = int(settings.corrupt_fix)
    for name in ("reorder", "gap", "duplicate", "corrupt", "drop"):
        options[name] = getattr(settings, name)
    return options


def stream(seed: int, count: int, mean_gap_ns: int) -> Stream:
    """Return packets (gap in ns, bytes of IP), each of its own length."""
    rng = random.Random(seed)
    gaps = [0, 0, mean_gap_ns, mean_gap_ns // 3, 4 * mean_gap_ns]
    return [(rng.choice(gaps), 100 + number) for number in range(count)]


def compare(settings: Settings, packets: Stream, **limits: int) -> dict[str, int]:
    """Fail unless each packet leaves as the model has it; return the statistics."""
    pair = Pair()
    pair.add(**attributes(settings), **limits)
    tracing = net.Tracing()
    tracing.on()
    for gap_ns, length in packets:
        net.sleep_ns(gap_ns)
        net.send(pair.socket, "a0", net.ip_packet(length))
    pair.drain()
    found = events(tracing.text())
    arrived = [(int(f["now_ns"]), int(f["len"])) for kind, f in found if kind == "enqueue"]
    served = Link(Config(**limits)).run(arrived)
    left = [(f["departure_ns"], f["now_ns"], f["len"]) for kind, f in found if kind == "dequeue"]
    released = [(int(departure), int(now), int(length)) for departure, now, length in left]
    expected_fates = fates(served, settings)
    check_departures([length for _, length in arrived], expected_fates, released)
    stats = pair.stats()
    there = [fate for fate in expected_fates if fate and not fate.lost]
    doubled = sum(len(fate.departures_ns) - 1 for fate in there)
    equal(stats["duplicated_packets"], doubled, "duplicated")
    equal(stats["corrupted_packets"], sum(f.bit is not None for f in there), "corrupted")
    equal(pair.get().imbalance(), 0, "imbalance")
    equal((pair.get().qlen, pair.get().backlog), (0, 0), "qlen and backlog of an empty link")
    equal(stats["sent_packets"], len(released), "sent")
    pair.close()
    return stats


def check_departures(
    lengths: list[int], expected_fates: list[Fate | None], released: list[tuple[int, int, int]]
) -> None:
    """Fail unless packets left when the model says, in that order, and hardly late."""
    wanted = [
        (departure, length)
        for length, fate in zip(lengths, expected_fates, strict=True)
        if fate and not fate.lost
        for departure in fate.departures_ns
    ]
    wanted.sort(key=lambda one: one[0])
    equal([(d, length) for d, _, length in released], wanted, "departures, in their order")
    for departure, now, length in released:
        true(0 <= now - departure <= LATE_NS, f"packet {length}: {now - departure} ns late")


def test_losses_as_the_model() -> None:
    """Each model loses the packets that the independent one does; the counters say so."""
    for seed, model in enumerate((GE, STATES, Gemodel(PERCENT, 99 * PERCENT), FourStates(0, 0))):
        pair = Pair()
        pair.add(seed=seed, **option(model))
        lost = arrivals(pair, COUNT)
        equal(lost, expected(model, seed, COUNT), f"losses of {model}")
        stats = pair.stats()
        equal(stats["dropped_loss_packets"], sum(lost), "lost")
        equal(stats["sent_packets"], COUNT - sum(lost), "sent")
        equal(pair.get().imbalance(), 0, "imbalance")
        pair.close()


def test_bursts_have_the_lengths() -> None:
    """Simple Gilbert: a share p / (p + r) is lost, in bursts of 1 / r on the mean."""
    pair = Pair()
    pair.add(seed=1, gemodel={"p": 2 * PERCENT, "r": 20 * PERCENT})
    lost = arrivals(pair, 20_000)
    pair.close()
    runs = [len(list(run)) for is_lost, run in itertools.groupby(lost) if is_lost]
    # a sum of states of a chain with eigenvalue 1 - p - r varies by (2 - p - r) / (p + r) more
    within(sum(lost) / len(lost), 2 / 22, len(lost), "share", (2 - 0.22) / 0.22)
    within(len(runs) / sum(runs), 0.2, sum(runs), "ends of bursts")
    within(runs.count(1) / len(runs), 0.2, len(runs), "bursts of one")


def test_always_and_never() -> None:
    """Probabilities of one and zero are exact."""
    cases: list[tuple[Model, list[bool]]] = [
        (Gemodel(LOSS_ALWAYS, 0), [True] * 300),
        (Gemodel(0, LOSS_ALWAYS), [False] * 300),
        (Gemodel(LOSS_ALWAYS, LOSS_ALWAYS), [True, False] * 150),
        (FourStates(0, 0, p14=LOSS_ALWAYS), [True, False] * 150),
    ]
    for model, lost in cases:
        pair = Pair()
        pair.add(seed=5, rate=10**7, **option(model))
        equal(arrivals(pair, 300), lost, f"{model}")
        pair.close()


def test_defaults() -> None:
    """What is not given of a model is what the header says, and shown."""
    pair = Pair()
    pair.add(gemodel={"p": 7})
    shown = {"p": 7, "r": (1 << 32) - 7, "bad": LOSS_ALWAYS, "good": 0}
    equal(pair.get().options["gemodel"], shown, "gemodel")
    pair.change(state={"p13": 0})
    shown = {"p13": 0, "p31": LOSS_ALWAYS, "p32": 0, "p23": LOSS_ALWAYS, "p14": 0}
    equal(pair.get().options["state"], shown, "state")
    true("gemodel" not in pair.get().options and "loss" not in pair.get().options, "two losses")
    pair.change(loss=3)
    equal(pair.get().options["loss"], 3, "loss")
    true("state" not in pair.get().options, "a model beside loss")
    pair.close()


def test_change_of_losses() -> None:
    """The draws go on through changes; a model begins anew, and everything with the seed."""
    pair = Pair()
    pair.add(seed=3, gemodel=vars(GE))
    equal(arrivals(pair, 500), expected(GE, 3, 500), "before")
    pair.change(delay=10**6)
    losses = Losses(GE, 3)
    for _ in range(500):
        losses.next()
    equal(arrivals(pair, 500), [losses.next() for _ in range(500)], "after another change")
    pair.change(**option(STATES))
    losses = Losses(STATES, 3, drawn=1000)
    equal(arrivals(pair, 500), [losses.next() for _ in range(500)], "after a change of model")
    pair.change(seed=4)
    equal(arrivals(pair, 500), expected(STATES, 4, 500), "after a change of seed")
    pair.change(loss=0)
    equal(sum(arrivals(pair, 500)), 0, "losses without loss")
    pair.close()


def test_marks_in_place_of_losses() -> None:
    """With ecn, what would be lost gets a mark if it can have one."""
    losses = (option(GE), option(STATES), {"loss": 20 * PERCENT})
    for values, tos in itertools.product(losses, (0, ECT0)):
        pair = Pair()
        pair.add(seed=1, **values)
        wanted = sum(arrivals(pair, 1000, tos=tos))
        pair.change(ecn=1, seed=1)
        marked = sum(arrivals(pair, 1000, tos=tos))
        stats = pair.stats()
        true(wanted > 50, f"{values}: hardly any loss")
        equal(marked, 0 if tos else wanted, f"{values}, tos {tos}: lost")
        equal(stats["marked_packets"], wanted if tos else 0, "marked")
        equal(stats["marked_bytes"], 100 * wanted if tos else 0, "marked bytes")
        with pair.b.entered():
            equal(netstat("InCEPkts"), wanted if tos else 0, "marks that came")
        equal(pair.get().imbalance(), 0, "imbalance")
        pair.close()


def test_losses_with_cells_and_gso() -> None:
    """Whole packets are lost, by the same draws, with a limit in cells and of GSO packets."""
    pair = Pair()
    pair.add(seed=2, gemodel=vars(GE), overhead=2, limit_cells=100_000, rate=10**8)
    equal(arrivals(pair, 1000), expected(GE, 2, 1000), "with cells")
    pair.delete()
    pair.add(seed=2, gemodel=vars(GE), limit_packets=100_000)
    first = pair.sent
    for _ in range(50):
        pair.send_gso(20, 500)
    pair.drain()
    net.sleep_ns(1000)
    came = set(pair.received())
    equal([n not in came for n in range(first, first + 1000)], expected(GE, 2, 1000), "of GSO")
    pair.close()


JITTERS = {
    "uniform": Settings(seed=1, delay_ns=20 * MS, jitter_ns=5 * MS),
    "table": Settings(seed=2, delay_ns=20 * MS, jitter_ns=5 * MS, table=TABLE),
    "more than the delay": Settings(seed=3, delay_ns=3 * MS, jitter_ns=9 * MS),
    "without delay": Settings(seed=4, jitter_ns=9 * MS, table=TABLE, loss=GE),
    "a nanosecond": Settings(seed=5, delay_ns=5 * MS, jitter_ns=1),
}


def test_jitter_as_the_model() -> None:
    """Packets leave when the model says; in the order of arrival, unless reordering is on."""
    for name, settings in JITTERS.items():
        for reordering in (False, True):
            for limits in ({}, {"rate": 10**6}):
                try:
                    compare(replace(settings, reordering=reordering), stream(7, 400, MS), **limits)
                except AssertionError as error:
                    what = f"{name}, reordering {reordering}, {limits}"
                    raise AssertionError(f"{what}: {error}") from None


def test_order_of_arrival() -> None:
    """With jitter alone nothing overtakes; with reordering much does, and nothing is lost."""
    for reordering in (0, 1):
        pair = Pair()
        pair.add(delay=20 * MS, jitter={"time": 15 * MS, "reordering": reordering}, seed=1)
        pair.send(1000, 500, gap_ns=MS)
        pair.drain()
        net.sleep_ns(1000)
        came = pair.received()
        equal(sorted(came), list(range(1000)), "packets that came")
        equal(came == sorted(came), not reordering, "in order")
        pair.close()


def test_change_of_jitter() -> None:
    """Off and on while packets are on the line: in order again, and the table stays."""
    pair = Pair()
    on = {"time": 30 * MS, "table": [-8192, 8192], "name": "two", "reordering": 1}
    pair.add(delay=40 * MS, jitter=on, seed=1, flows=10)
    pair.send(100, 500, gap_ns=MS)
    pair.change(jitter={"time": 0})
    held = pair.held()
    true(held > 20, f"{held} held")
    pair.send(100, 500, gap_ns=MS)
    shown = {"time": 0, "name": "two", "reordering": 1}
    equal(pair.get().options["jitter"], shown, "jitter")
    pair.drain()
    net.sleep_ns(1000)
    came = pair.received()
    later = [number for number in came if number >= 100]
    equal(later, list(range(100, 200)), "packets without jitter")
    equal(sorted(came), list(range(200)), "packets that came")
    pair.change(jitter={"table": [], "reordering": 0})
    true("jitter" not in pair.get().options, "jitter is shown")
    pair.close()


MIXED = Settings(
    seed=6,
    delay_ns=20 * MS,
    loss=GE,
    jitter_ns=8 * MS,
    table=TABLE,
    reorder=10 * PERCENT,
    gap=4,
    duplicate=15 * PERCENT,
    corrupt=10 * PERCENT,
    drop=((0, 7, 9), (0, 20, 20), (0, 800, 5000)),
)


def test_all_of_them_as_the_model() -> None:
    """Reordering, duplication, corruption, jitter and losses together."""
    for reordering in (False, True):
        for limits in ({}, {"rate": 10**6}, {"rate": 10**6, "limit_packets": 15}):
            settings = replace(MIXED, reordering=reordering)
            stats = compare(settings, stream(8, 1000, MS), **limits)
            for name in ("duplicated", "corrupted", "reordered", "dropped_loss"):
                true(stats[f"{name}_packets"] > 10, f"{name}: {stats}")


CORRELATED = replace(
    MIXED,
    loss=Independent(10 * PERCENT, 60 * PERCENT),
    jitter_correlation=75 * PERCENT,
    drop=(),
)


def test_correlated_as_the_model() -> None:
    """Losses and jitter that depend on the packet before, each packet as the model has it."""
    for reordering in (False, True):
        settings = replace(CORRELATED, reordering=reordering)
        stats = compare(settings, stream(8, 1200, MS), rate=10**6)
        true(60 < stats["dropped_loss_packets"] < 180, f"a tenth of 1200: {stats}")
    settings = replace(CORRELATED, loss=Independent(LOSS_ALWAYS, LOSS_ALWAYS))
    equal(compare(settings, stream(8, 100, MS))["dropped_loss_packets"], 100, "all are lost")


def test_drop_list() -> None:
    """Exactly the packets of the list are lost, of the link and of flows, GSO or not."""
    pair = Pair()
    pair.add(seed=1, drop=[(0, 2, 4), (0, 10, 10)], ecn=1)
    wanted = [number in (1, 2, 3, 9) for number in range(30)]
    equal(arrivals(pair, 30, tos=ECT0), wanted, "lost")
    equal(pair.stats()["dropped_loss_packets"], 4, "counted as losses")
    equal(pair.stats()["marked_packets"], 0, "marked")
    equal(pair.get().options["drop"], [(0, 2, 4), (0, 10, 10)], "shown")
    pair.change(drop=[(0, 35, 36)])  # the numbers go on
    first = pair.sent
    pair.send_gso(20, 500)
    pair.drain()
    net.sleep_ns(1000)
    came = pair.received()
    equal([n for n in range(first, first + 20) if n not in came], [34, 35], "lost of GSO")
    pair.change(drop=[])
    equal(sum(arrivals(pair, 20)), 0, "lost without a list")
    true("drop" not in pair.get().options, "an empty list is shown")
    pair.delete()
    pair.add(seed=1, flows=3, drop=[(1, 2, 3), (3, 1, 1), (0, 12, 12)])
    lost = []
    for number in range(18):
        pair.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 0x10000 + number % 3 + 1)
        lost += [number] if arrivals(pair, 1)[0] else []
    equal(lost, [2, 3, 6, 11], "lost of flows")
    pair.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 0)
    classes = pair.control.classes(pair.dev)
    drops = {minor: one.stats["dropped_loss_packets"] for minor, one in classes.items()}
    equal(drops, {1: 2, 2: 0, 3: 2}, "lost of each class")
    pair.close()


def test_drop_list_with_cells() -> None:
    """With a limit in cells as well; what is on the list is never in a parent's count."""
    pair = Pair()
    options = {"overhead": 2, "limit_cells": 100_000, "rate": 10**6, "flows": 3}
    pair.add(seed=1, drop=[(0, 3, 5)], **options)
    pair.send(6, 500)
    equal(pair.get().qlen, 3, "qlen")
    pair.drain()
    net.sleep_ns(1000)
    equal(pair.received(), [0, 1, 5], "came")
    equal((pair.get().imbalance(), pair.get().qlen), (0, 0), "imbalance and qlen")
    pair.close()


def test_reorder() -> None:
    """A packet that skips the delay overtakes as many as are on the line; gap says how often."""
    for share, gap, first in ((LOSS_ALWAYS, 5, 4), (50 * PERCENT, 1, None), (LOSS_ALWAYS, 1, 0)):
        settings = Settings(seed=3, delay_ns=10 * MS, reorder=share, gap=gap)
        stats = compare(settings, stream(3, 500, MS))
        expected = 0 if (share, gap) == (LOSS_ALWAYS, 1) else 50
        true(stats["reordered_packets"] >= expected, f"reordered: {stats}")
        if first is not None:
            line = fates(Link(Config()).run([(100 * MS * k, 100) for k in range(20)]), settings)
            early = [k for k, f in enumerate(line) if f and f.departures_ns[0] == 100 * MS * k]
            equal(early, list(range(first, 20, gap)), "packets that skip the delay")


def test_duplicates() -> None:
    """Two of a packet leave together, with the same data; without copies nothing is new."""
    pair = Pair()
    pair.add(seed=1, delay=5 * MS, duplicate=LOSS_ALWAYS, flows=5)
    pair.send(50, 700)
    pair.send_gso(30, 700)
    held = pair.get()
    equal(held.stats["duplicated_packets"], held.stats["line_packets"] // 2, "copies on the line")
    pair.drain()
    net.sleep_ns(1000)
    equal(pair.received(), [k for k in range(80) for _ in range(2)], "packets that came")
    stats = pair.stats()
    equal((stats["offered_packets"], stats["sent_packets"]), (80, 160), "offered and sent")
    equal(stats["duplicated_packets"], 80, "duplicated")
    for one in (pair.get(), *pair.control.classes(pair.dev).values()):
        equal((one.imbalance(), one.imbalance_bytes()), (0, 0), "imbalance")
        equal((one.qlen, one.backlog), (0, 0), "qlen and backlog")
    pair.close()


def differing_bits(one: bytes, other: bytes) -> int:
    """Return in how many bits two packets differ."""
    return sum((a ^ b).bit_count() for a, b in zip(one, other, strict=True))


def test_corruption() -> None:
    """One bit differs, anywhere in the packet, where the model has it; the MAC header stays."""
    pair = Pair()
    settings = Settings(seed=9, corrupt=30 * PERCENT)
    pair.add(**attributes(settings))
    with pair.b.entered():
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        tap.setsockopt(socket.SOL_SOCKET, 33, 1 << 27)
        tap.bind(("b0", 0))
        tap.setblocking(False)
    packets = [net.ip_packet(60 + number % 1400, number=number) for number in range(1000)]
    fate_list = fates(Link(Config()).run([(n, len(p)) for n, p in enumerate(packets)]), settings)
    turned = []
    for packet, fate in zip(packets, fate_list, strict=True):
        assert fate
        net.send(pair.socket, "a0", packet)
        net.sleep_ns(1000)
        frame = tap.recv(2048)
        equal(frame[:14], bytes.fromhex("0200000000020200000000010800"), "the MAC header")
        expected = bytearray(packet)
        if fate.bit is not None:
            bit = len(packet) * 8 * fate.bit >> 32
            expected[bit // 8] ^= 1 << bit % 8
            turned.append(bit / (len(packet) * 8))
        equal(differing_bits(frame[14:], bytes(expected)), 0, "bits other than the model's")
    within(len(turned) / 1000, 0.3, 1000, "corrupted")
    within(
        sum(share < 0.5 for share in turned) / len(turned), 0.5, len(turned), "in the first half"
    )
    stats = pair.stats()
    equal(stats["corrupted_packets"], len(turned), "corrupted")
    tap.close()
    pair.close()


def test_checksums_of_corrupted() -> None:
    """The receiver sees the damage: of packets that leave checksums to the device as well."""
    pair = Pair()
    pair.add(seed=2, corrupt=LOSS_ALWAYS)
    with pair.b.entered():
        other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        other.bind(("10.0.0.2", 4001))
    with pair.a.entered():
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sender.connect(("10.0.0.2", 9))
    for number in range(200):
        sender.send(struct.pack("!I", number).ljust(1000, b"\0"))
    pair.drain()
    equal(pair.received(), [], "packets whose damage nobody saw")
    equal(pair.stats()["corrupted_packets"], 200, "corrupted")
    with pair.b.entered():
        wrong = netstat("InCsumErrors", "Udp")
    true(wrong > 150, f"{wrong} wrong checksums of UDP")
    for sock in (other, sender):
        sock.close()
    pair.close()


def test_corruption_that_nobody_sees() -> None:
    """With fix, a bit of the data differs, where the model has it, and checksums are right."""
    pair = Pair()
    settings = Settings(seed=5, corrupt=50 * PERCENT, corrupt_fix=True)
    pair.add(**attributes(settings))
    with pair.b.entered():
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        receiver.bind(("10.0.0.2", 4001))
        listener = socket.create_server(("10.0.0.2", 4002))
    with pair.a.entered():
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sender.connect(("10.0.0.2", 4001))
    fate_list = fates(Link(Config()).run([(n, 100) for n in range(200)]), settings)
    turned = 0
    for number, fate in enumerate(fate_list):
        assert fate
        data = random.Random(number).randbytes(number % 50)
        sender.send(data)
        net.sleep_ns(1000)
        expected = bytearray(data)
        if fate.bit is not None and data:
            bit = len(data) * 8 * fate.bit >> 32
            expected[bit // 8] ^= 1 << bit % 8
            turned += 1
        equal(receiver.recv(2048), bytes(expected), f"datagram {number}")
    equal(pair.stats()["corrupted_packets"], turned, "corrupted")
    pair.change(corrupt=LOSS_ALWAYS)
    with pair.a.entered():
        client = socket.create_connection(("10.0.0.2", 4002))
    server = listener.accept()[0]
    client.sendall(bytes(200_000))
    client.shutdown(socket.SHUT_WR)
    came = b""
    while data := server.recv(1 << 20):
        came += data
    segments = pair.stats()["corrupted_packets"] - turned
    equal(len(came), 200_000, "bytes of TCP")
    equal(differing_bits(came, bytes(200_000)), segments, "bits, one of each segment")
    true(segments >= 200_000 // 1448, f"{segments} segments, as GSO packets are split")
    with pair.b.entered():
        equal([netstat("InCsumErrors", kind) for kind in ("Udp", "Tcp")], [0, 0], "wrong checksums")
    with pair.a.entered():
        equal(netstat("RetransSegs", "Tcp"), 0, "retransmissions")
    for sock in (receiver, listener, sender, client, server):
        sock.close()
    pair.close()


def test_slots() -> None:
    """Packets leave in the slots of the model, in their order, also with all of the rest."""
    for slot in ((5 * MS, 5 * MS, 0, 0), (MS, 9 * MS, 3, 0), (2 * MS, 4 * MS, 0, 3000)):
        for settings in (Settings(seed=4, delay_ns=7 * MS), MIXED):
            stats = compare(replace(settings, slot=slot), stream(9, 400, MS), rate=10**6)
            equal(stats["reordered_packets"], 0, "reordered")


def test_slots_that_begin() -> None:
    """What leaves in slots overtakes nothing that was on the line, whatever jitter there was."""
    pair = Pair()
    pair.add(delay=100 * MS, jitter={"time": 5 * MS, "reordering": 1}, reorder=50 * PERCENT, seed=1)
    pair.send(50, 500, gap_ns=MS)
    held = pair.held()
    true(held > 10, f"{held} held")
    pair.change(delay=0, slot={"min": 10 * MS})
    pair.send(50, 500, gap_ns=MS)
    pair.drain()
    net.sleep_ns(1000)
    came = pair.received()
    equal(came[50:], list(range(50, 100)), "packets in slots")
    equal(sorted(came[:50]), list(range(50)), "packets before")
    pair.close()


def test_slots_that_end() -> None:
    """Slots that are over leave the line in order."""
    pair = Pair()
    pair.add(delay=MS, slot={"min": 50 * MS, "packets": 2}, seed=1)
    shown = {"min": 50 * MS, "max": 50 * MS, "packets": 2, "bytes": 0}
    equal(pair.get().options["slot"], shown, "slot")
    pair.send(10, 500, gap_ns=MS)
    pair.change(slot={})
    true("slot" not in pair.get().options, "slots are shown")
    pair.send(10, 500, gap_ns=MS)
    pair.drain()
    net.sleep_ns(1000)
    equal(pair.received(), list(range(20)), "packets that came")
    pair.close()


def test_streams_are_apart() -> None:
    """An impairment that is switched on does not move the draws of the others."""
    packets = [(k * MS, 100) for k in range(500)]
    served = Link(Config()).run(packets)
    every = fates(served, MIXED)
    for name, value in (("corrupt", 0), ("duplicate", 0), ("jitter_ns", 0), ("loss", None)):
        without = replace(MIXED, **{name: value})
        compare(without, stream(8, 300, MS))
        some = fates(served, without)
        for attribute in ("bit", "lost", "copies"):
            if (name, attribute) in (("corrupt", "bit"), ("loss", "lost"), ("duplicate", "copies")):
                continue
            both = [(a, b) for a, b in zip(every, some, strict=True) if a and b]
            both = [(a, b) for a, b in both if attribute == "lost" or not (a.lost or b.lost)]
            values = [[getattr(f, attribute) for f in fs] for fs in zip(*both, strict=True)]
            equal(values[0], values[1], f"{attribute} without {name}")


def test_all_is_shown() -> None:
    """A link with as much of everything as there can be fits into one message."""
    pair = Pair()
    options: dict[str, Any] = {
        "trace": [(MS, 1000 + k) for k in range(100)],
        "policy": 5,
        "rem": {"phi": 1_200_000},
        "mark": 1,
        "flows": 10,
        "feedback": {"idle": 10**9},
        "state": dict(vars(STATES)),
        "ecn": 1,
        "jitter": {"time": 5, "table": [1, 2], "name": "n" * 127, "reordering": 1},
        "reorder": 1,
        "gap": 7,
        "duplicate": 2,
        "corrupt": 3,
        "corrupt_fix": 1,
        "drop": [(0, k + 1, k + 1) for k in range(32)],
        "slot": {"min": 1, "max": 2, "packets": 3, "bytes": 4},
        "seed": 5,
    }
    pair.add(**options)
    link = pair.control.ask_for(pair.dev)
    options["jitter"] = {k: v for k, v in options["jitter"].items() if k != "table"}
    options["rem"] = link.options["rem"] | options["rem"]
    equal({name: link.options.get(name) for name in options}, options, "options")
    true("reordered_bytes" in link.stats, "no statistics")
    pair.close()


def test_parents_count_copies() -> None:
    """A parent's qlen and backlog are those of the link at all times, and zero in the end."""
    for setup, parent in (
        ("tc qdisc add dev a0 root handle 1: prio", 0x10002),
        ("tc qdisc add dev a0 root handle 1: tbf rate 1gbit burst 200kb latency 1s", 0x10001),
    ):
        pair = Pair()
        net.run(setup, pair.a)
        options = attributes(replace(MIXED, reordering=True)) | {"rate": 10**6}
        pair.control.add(pair.dev, options | {"limit_packets": 20}, parent, 0x100000)
        for number in range(200):
            pair.send(number % 4, 60 + number)
            pair.send_gso(1 + number % 9, 200 + number)
            root, link = (pair.control.get(pair.dev, kind) for kind in (setup.split()[8], "wale"))
            equal((root.qlen, root.backlog), (link.qlen, link.backlog), f"{root.kind}: the queue")
            equal((link.imbalance(), link.imbalance_bytes()), (0, 0), "imbalance")
            net.sleep_ns(3 * MS)
        pair.drain()
        net.sleep_ns(100 * MS)
        root = pair.control.get(pair.dev, setup.split()[8])
        equal((root.qlen, root.backlog), (0, 0), f"{root.kind}: at the end")
        stats = pair.stats()
        true(stats["duplicated_packets"] > 20, f"{stats}")
        pair.send(30, 500)
        pair.control.delete(pair.dev, parent, 0x100000)
        root = pair.control.get(pair.dev, setup.split()[8])
        equal((root.qlen, root.backlog), (0, 0), f"{root.kind}: after the link was deleted")
        pair.close()


def test_purged_slots() -> None:
    """A device that goes down takes the slots of what it dropped along."""
    pair = Pair()
    pair.add(slot={"min": 50 * MS, "packets": 1}, seed=1)
    pair.send(50, 500)
    net.ip_batch(["link set a0 down"], pair.a)
    net.ip_batch(["link set a0 up"], pair.a)
    pair.send(1, 500)
    net.sleep_ns(60 * MS)
    stats = pair.stats()
    equal((stats["sent_packets"], stats["line_packets"]), (1, 0), "sent, on the line")
    pair.close()


def test_purged_from_the_line() -> None:
    """A device that goes down drops what the line holds, also what overtakes; classes too."""
    choices: list[dict[str, Any]] = [{}, {"flows": 10}]
    for options in choices:
        pair = Pair()
        options |= {"jitter": {"time": 30 * MS, "reordering": 1}, "duplicate": 1 << 31}
        pair.add(delay=40 * MS, seed=1, **options)
        pair.send(100, 500, gap_ns=MS)
        pair.change(flows=10)  # all that is held becomes the crowd's
        held = pair.held()
        net.ip_batch(["link set a0 down"], pair.a)
        stats = pair.stats()
        equal(stats["dropped_purge_packets"], held, "purged")
        equal((stats["line_packets"], stats["line_bytes"]), (0, 0), "on the line")
        equal(pair.get().imbalance(), 0, "imbalance")
        for one in pair.control.classes(pair.dev).values():
            equal((one.imbalance(), one.qlen), (0, 0), "imbalance of a class")
        net.ip_batch(["link set a0 up"], pair.a)
        pair.close()


if __name__ == "__main__":
    main()
