# SPDX-License-Identifier: GPL-2.0
"""How well does advice tell what a link will carry?  Computed from the rates of links.

    testbed/wale-lab python Documentation/examples/scone/forecast.py [--hours N]

Prints for each path and each kind of advice, over all moments, means and 95 % intervals of hours:
  used   how much of the mean rate of the next 30 s a sender may use that never exceeds the advice
  over   how often the advice is above that mean: a sender that trusts it gets stuck
A path is one link, or several in series, each of which tells its rate: the lowest arrives.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable

import numpy
from numpy.typing import NDArray

from wale_lab.evaluation.judge import mean_interval
from wale_lab.impaired_advice import link_rate
from wale_lab.link import Link
from wale_lab.models.feedback import Numbers, Steps, lose, quantise
from wale_lab.models.scone import SIGNALS_PER_DECADE
from wale_lab.traces.make import Wish, make_trace

Floats = NDArray[numpy.float64]

SECOND = 10**9
HOUR = 3600 * SECOND
#: One SCONE packet in so long, and what a sender can plan: about the buffer of a player.
EVERY = 2 * SECOND
AHEAD = 30 * SECOND

#: Links whose rate is that of a subscription, and how often it changes.
POLICIES = {"policy": 100, "slow": 600}
SUBSCRIPTION = ("2mbit", "700kbit", "1200kbit")

#: The links of each path.
PATHS = {name: [name] for name in ("slow", "policy", "markov", "lte", "leo")}
PATHS["series"] = ["policy", "lte"]

#: The rate of links in series is looked at so often.
GRID = SECOND // 50

#: What the link tells (the mean of so many seconds, or its rate at the moment), and what the
#: receiver makes of the signals of so many seconds.
KINDS: dict[str, tuple[int, str, int]] = {
    "mean 67 s, lowest of 67 s": (67, "min", 67),
    "mean 67 s, last": (67, "last", 0),
    "mean 10 s, lowest of 10 s": (10, "min", 10),
    "mean 10 s, last": (10, "last", 0),
    "exact, lowest of 67 s": (0, "min", 67),
    "exact, 25th percentile of 67 s": (0, "p25", 67),
    "exact, mean of 67 s": (0, "mean", 67),
    "exact, lowest of 10 s": (0, "min", 10),
    "exact, mean of 10 s": (0, "mean", 10),
    "exact, last": (0, "last", 0),
    "exact, last, half of them lost": (0, "lossy", 0),
}
NO_ADVICE = "80 % of the last 12 s"

_OF: dict[str, Callable[[Numbers], Floats]] = {
    "min": lambda many: many.min(axis=1),
    "p25": lambda many: numpy.percentile(many, 25, axis=1, method="lower"),
    "mean": lambda many: many.mean(axis=1),
}


def rates_of(name: str, seed: int) -> Steps:
    """The rates of an hour of a link."""
    if name == "markov":
        sessions = {"arrival": "1%", "mean": 20, "max": 3, "step": "100ms"}
        return link_rate(Link.model_validate({"rate": "2mbit", "sessions": sessions}), seed, HOUR)
    if name in POLICIES:
        lasts = POLICIES[name]
        phase = 1 + (37 * seed) % lasts
        rates = itertools.islice(itertools.cycle(SUBSCRIPTION), 1, 2 + HOUR // SECOND // lasts)
        steps = [f"{phase}s:{SUBSCRIPTION[0]}", *(f"{lasts}s:{rate}" for rate in rates)]
        return link_rate(Link.model_validate({"trace": {"steps": steps}}), seed, HOUR)
    trace = make_trace(Wish(name, seed, HOUR // SECOND, 1_500_000, (25_000_000, 45_000_000)))
    starts = numpy.cumsum([0, *(step.duration_ns for step in trace.steps[:-1])])
    rates = numpy.array([(step.rate_bps or 0) // 8 for step in trace.steps])
    return Steps(starts, rates)


def lowest(links: list[Steps]) -> Steps:
    """The rates of a path."""
    if len(links) == 1:
        return links[0]
    starts = numpy.arange(0, HOUR, GRID)
    return Steps(starts, numpy.min([steps.at(starts) for steps in links], axis=0))


def told(links: list[Steps], average: int, at: Numbers) -> Numbers:
    """What the links of a path tell at each moment, on the scale of the draft."""
    each = [
        steps.mean(at - average, at).astype(numpy.int64) if average else steps.at(at)
        for steps in links
    ]
    return quantise(numpy.min(each, axis=0), SIGNALS_PER_DECADE)


def heard(links: list[Steps], kind: str, at: Numbers) -> Floats:
    """What the receiver makes of it."""
    average_s, statistic, period_s = KINDS[kind]
    if statistic in ("last", "lossy"):
        each = told(links, average_s * SECOND, at)
        each = lose(each, 0.5, len(at)) if statistic == "lossy" else each
        return each.astype(numpy.float64)
    back = numpy.arange(period_s * SECOND // EVERY) * EVERY
    many = at[:, None] - back[None, :]
    return _OF[statistic](told(links, average_s * SECOND, many.ravel()).reshape(many.shape))


def measured(steps: Steps, at: Numbers) -> Floats:
    """What a player without advice goes by: 80 % of what it got, which is the whole link."""
    return 0.8 * steps.mean(at - 12 * SECOND, at)


def judge(advice: Floats, future: Floats) -> tuple[float, float]:
    """Percent used, and percent of moments at which it was too much."""
    used = numpy.minimum(advice, future).sum() / future.sum()
    return 100 * float(used), 100 * float((advice > future).mean())


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hours", type=int, default=10, help="of each link, one a seed (10)")
    args = parser.parse_args()
    seeds = range(1, args.hours + 1)
    paths = {
        path: [[rates_of(name, seed) for name in names] for seed in seeds]
        for path, names in PATHS.items()
    }
    at = numpy.arange(140 * SECOND, HOUR - AHEAD, EVERY)
    print(f"{'':32}" + "".join(f"{path:>24}" for path in paths))
    print(f"{'':32}" + f"{'used':>7}{'+-':>5}{'over':>7}{'+-':>5}" * len(paths))
    for kind in [*KINDS, NO_ADVICE]:
        cells = ""
        for hours in paths.values():
            judged = []
            for links in hours:
                rates = lowest(links)
                advice = heard(links, kind, at) if kind in KINDS else measured(rates, at)
                judged.append(judge(advice, rates.mean(at, at + AHEAD)))
            for values in zip(*judged, strict=True):
                interval = mean_interval(values)
                cells += f"{interval.mean:7.1f}{interval.half:5.1f}"
        print(f"{kind:32}{cells}", flush=True)


if __name__ == "__main__":
    main()
