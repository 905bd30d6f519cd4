#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Impairments of a wale link, packet by packet as testbed/models/impair.py has them.

Topology: lib/pair.py.
"""

from __future__ import annotations

import itertools
import math
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from lib import net
from lib.netstat import netstat
from lib.pair import MS, Pair
from lib.tap import equal, main, true
from lib.wale import LOSS_ALWAYS
from switch import events

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from models.impair import Fate, FourStates, Gemodel, Losses, Model, Settings, fates
from models.link import Config, Link

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
    if settings.loss:
        options |= option(settings.loss)
    if settings.jitter_ns:
        jitter = {"time": settings.jitter_ns, "reordering": int(settings.reordering)}
        options["jitter"] = jitter | {"table": settings.table}
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
    equal(pair.get().options["jitter"], {"time": 0, "reordering": 0}, "uniform again")
    pair.close()


def test_purged_from_the_line() -> None:
    """A device that goes down drops what the line holds, also what overtakes; classes too."""
    for options in ({}, {"flows": 10}):
        pair = Pair()
        pair.add(delay=40 * MS, jitter={"time": 30 * MS, "reordering": 1}, seed=1, **options)
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
    main(
        [
            test_losses_as_the_model,
            test_bursts_have_the_lengths,
            test_always_and_never,
            test_defaults,
            test_change_of_losses,
            test_marks_in_place_of_losses,
            test_losses_with_cells_and_gso,
            test_jitter_as_the_model,
            test_order_of_arrival,
            test_change_of_jitter,
            test_purged_from_the_line,
        ]
    )
