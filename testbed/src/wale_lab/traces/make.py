# SPDX-License-Identifier: GPL-2.0
"""Traces from models: `wale-lab trace make MODEL`; the same seed gives the same bytes.

leo          A satellite in low orbit.  The terminal gets another satellite, and so another path,
             each 15 s: measured of Starlink by Tanveer et al., "Making Sense of Constellations"
             (CoNEXT companion, 2023), and Mohan et al., "A Multifaceted Look at Starlink
             Performance" (WWW, 2024), who also saw the loss around such a moment.  Each path has a
             delay, which drifts with the satellite, and a capacity, both drawn anew.
lte          A cell as Winstein et al. model it, "Stochastic Forecasts Achieve High Throughput and
             Low Delay over Cellular Networks" (NSDI, 2013): the rate is a Brownian motion that
             sticks at an outage, which it leaves at an exponential time.  The motion is
             reflected at twice its mean.  A handover interrupts for 49.5 ms (3GPP TR 36.881).
wifi         A station of IEEE 802.11n with one stream of 20 MHz: the rate is a Markov chain of its
             eight modulations, and losses are those of Gilbert (1960) and Elliott (1963): a good
             state and a bad one, which last for exponential times.
gnss-outage  A terminal that loses the satellites of its time and position for a while: it may not
             send until it has found them, and begins again at half its rate.  An outage for
             each minute, at a moment drawn in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from wale_lab.errors import ScenarioError
from wale_lab.trace_format.step import Step
from wale_lab.trace_format.trace_file import Trace

_SECOND = 10**9

#: Of IEEE 802.11n, one stream of 20 MHz, long guard interval: MCS 0 to 7, in Mbit/s.
_MCS = (6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0)

#: A step of each model, and how long a path of leo lasts.
_GRAIN_NS = {"leo": 500 * 10**6, "lte": 100 * 10**6, "wifi": 100 * 10**6, "gnss-outage": _SECOND}
_HANDOVER_NS = 15 * _SECOND


@dataclass(frozen=True)
class Wish:
    """What a trace is to be like."""

    model: str
    seed: int
    seconds: int
    mean_bps: int
    delay_ns: tuple[int, int]  # from, to


#: The usual rate and delay of each model.
USUAL: dict[str, tuple[int, tuple[int, int]]] = {
    "leo": (100 * 10**6, (25 * 10**6, 60 * 10**6)),
    "lte": (12 * 10**6, (25 * 10**6, 45 * 10**6)),
    "wifi": (25 * 10**6, (2 * 10**6, 8 * 10**6)),
    "gnss-outage": (20 * 10**6, (30 * 10**6, 30 * 10**6)),
}


def make_trace(wish: Wish) -> Trace:
    """The trace of a model, whose rate has the mean that is wanted while it is not down."""
    shapes = list(_MODELS[wish.model](wish, Random(wish.seed)))
    bits = sum(shape * (step.duration_ns) for step, shape in shapes if not step.down)
    time = sum(step.duration_ns for step, _ in shapes if not step.down)
    if not bits:
        raise ScenarioError(f"{wish.model}: {wish.seconds} s are one outage: give more, or a seed")
    scale = wish.mean_bps * time / bits
    steps = [
        step if step.down else step._replace(rate_bps=max(round(shape * scale / 1000), 0) * 1000)
        for step, shape in shapes
    ]
    return Trace(steps, "")


#: A step without its rate, and that in any unit.
Shape = tuple[Step, float]


def _exponential(random: Random, mean: float) -> float:
    return -mean * math.log(1 - random.random())


def _normal(random: Random) -> float:
    """A standard normal variable, of twelve uniform ones: no library changes it."""
    return sum(random.random() for _ in range(12)) - 6


def _between(random: Random, low: float, high: float) -> float:
    return low + (high - low) * random.random()


def _delay(ns: float) -> int:
    return round(ns / 10**4) * 10**4


def _lengths(wish: Wish) -> Iterator[tuple[int, int]]:
    """When each step begins, and how long it is."""
    grain, end = _GRAIN_NS[wish.model], wish.seconds * _SECOND
    for start in range(0, end, grain):
        yield start, min(grain, end - start)


def _leo(wish: Wish, random: Random) -> Iterator[Shape]:
    low, high = wish.delay_ns
    base = drift = capacity = 0.0
    for start, length in _lengths(wish):
        since = start % _HANDOVER_NS
        if not since:
            base = _between(random, low, high)
            # what a satellite at 550 km comes nearer or goes away in 15 s, seen from below
            drift = _between(random, -3e6, 3e6)
            capacity = _between(random, 0.5, 1.5)
        delay = min(max(base + drift * since / _HANDOVER_NS, low), high)
        shape = capacity * max(1 + 0.08 * _normal(random), 0.1)
        if start and not since:
            yield from _handover(random, delay, shape, length)
        else:
            yield Step(length, delay_ns=_delay(delay), loss=0.0), shape


def _handover(random: Random, delay: float, shape: float, length: int) -> Iterator[Shape]:
    """The first step of a path: a short break, then losses."""
    pause = min(round(_between(random, 50, 150)) * 10**6, length // 2)
    yield Step(pause, delay_ns=_delay(delay), down=True), 0
    loss = round(_between(random, 0.01, 0.05), 4)
    yield Step(length - pause, delay_ns=_delay(delay), loss=loss), shape


def _lte(wish: Wish, random: Random) -> Iterator[Shape]:
    low, high = wish.delay_ns
    rate, stuck = 1.0, 0.0
    delay = (low + high) / 2
    handover = _exponential(random, 30)
    for start, length in _lengths(wish):
        seconds = length / _SECOND
        stuck -= seconds
        if rate <= 0 and stuck <= 0:
            rate = 0.05
        if rate > 0:
            rate += 0.4 * _normal(random) * math.sqrt(seconds)
            rate = min(rate, 4 - rate)
            if rate <= 0:
                rate, stuck = 0.0, _exponential(random, 1)
        delay = min(max(delay + 2e6 * _normal(random), low), high)
        pause = 49_500_000 if start / _SECOND >= handover and length > 49_500_000 else 0
        if pause:
            handover = start / _SECOND + _exponential(random, 30)
            rate = max(rate, 0.3)
            yield Step(pause, delay_ns=_delay(delay), down=True), 0
        yield Step(length - pause, delay_ns=_delay(delay)), rate


def _wifi(wish: Wish, random: Random) -> Iterator[Shape]:
    low, high = wish.delay_ns
    mcs, bad, until = 5, False, _exponential(random, 2)
    for start, length in _lengths(wish):
        while start / _SECOND >= until:
            bad = not bad
            until += _exponential(random, 0.3 if bad else 2)
        move = random.random()
        down, up = (0.4, 0.45) if bad else (0.1, 0.25)
        mcs = max(mcs - 1, 0) if move < down else min(mcs + 1, 7) if move < up else mcs
        delay = high if bad else _between(random, low, (low + high) / 2)
        loss = round(_between(random, 0.05, 0.25), 4) if bad else 0.001
        yield Step(length, delay_ns=_delay(delay), loss=loss), _MCS[mcs]


def _gnss_outage(wish: Wish, random: Random) -> Iterator[Shape]:
    out = set[int]()
    for minute in range(0, wish.seconds, 60):
        begin = minute + int(_between(random, 5, 52))
        out |= {begin, begin + 1, begin + 2}
    for start, length in _lengths(wish):
        second, delay = start // _SECOND, _delay(_between(random, *wish.delay_ns))
        if second in out:
            yield Step(length, delay_ns=delay, down=True), 0
        elif {second - 1, second - 2} & out:
            yield Step(length, delay_ns=delay, loss=0.02), 0.5
        else:
            yield Step(length, delay_ns=delay, loss=0.0), 1


_MODELS: dict[str, Callable[[Wish, Random], Iterator[Shape]]] = {
    "leo": _leo,
    "lte": _lte,
    "wifi": _wifi,
    "gnss-outage": _gnss_outage,
}
