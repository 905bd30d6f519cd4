#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Impairments of a wale link, packet by packet as testbed/models/impair.py has them.

Topology: lib/pair.py.
"""

from __future__ import annotations

import itertools
import math
import sys
from pathlib import Path

from lib import net
from lib.netstat import netstat
from lib.pair import Pair
from lib.tap import equal, main, true
from lib.wale import LOSS_ALWAYS

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from models.impair import FourStates, Gemodel, Losses, Model

PERCENT = (1 << 32) // 100
ECT0 = 2
GE = Gemodel(2 * PERCENT, 20 * PERCENT, 90 * PERCENT, PERCENT // 10)
STATES = FourStates(3 * PERCENT, 10 * PERCENT, 30 * PERCENT, 40 * PERCENT, PERCENT)
COUNT = 4000


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
        ]
    )
