# SPDX-License-Identifier: GPL-2.0
"""How well does advice tell what a link will carry?  Computed from the rates of links.

    testbed/wale-lab python Documentation/examples/scone/forecast.py [--hours N]

Prints for each link and each kind of advice, over all moments:
  used   how much of the mean rate of the next 30 s a sender may use that never exceeds the advice
  over   how often the advice is above that mean: a sender that trusts it gets stuck
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy
from numpy.typing import NDArray

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
POLICIES = {"policy": "100s", "slow": "600s"}

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
        steps = [f"{POLICIES[name]}:{rate}" for rate in ("2mbit", "700kbit", "1200kbit")]
        return link_rate(Link.model_validate({"trace": {"steps": steps}}), seed, HOUR)
    trace = make_trace(Wish(name, seed, HOUR // SECOND, 1_500_000, (25_000_000, 45_000_000)))
    starts = numpy.cumsum([0, *(step.duration_ns for step in trace.steps[:-1])])
    rates = numpy.array([(step.rate_bps or 0) // 8 for step in trace.steps])
    return Steps(starts, rates)


def told(steps: Steps, average: int, at: Numbers) -> Numbers:
    """What the link tells at each moment, on the scale of the draft."""
    rates = steps.mean(at - average, at).astype(numpy.int64) if average else steps.at(at)
    return quantise(rates, SIGNALS_PER_DECADE)


def heard(steps: Steps, kind: str, at: Numbers) -> Floats:
    """What the receiver makes of it."""
    average_s, statistic, period_s = KINDS[kind]
    if statistic in ("last", "lossy"):
        each = told(steps, average_s * SECOND, at)
        each = lose(each, 0.5, len(at)) if statistic == "lossy" else each
        return each.astype(numpy.float64)
    back = numpy.arange(period_s * SECOND // EVERY) * EVERY
    many = at[:, None] - back[None, :]
    return _OF[statistic](told(steps, average_s * SECOND, many.ravel()).reshape(many.shape))


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
    links = {
        name: [rates_of(name, seed) for seed in range(1, args.hours + 1)]
        for name in ("slow", "policy", "markov", "lte", "leo")
    }
    at = numpy.arange(140 * SECOND, HOUR - AHEAD, EVERY)
    print(f"{'':32}" + "".join(f"{name:>16}" for name in links))
    print(f"{'':32}" + f"{'used':>9}{'over':>7}" * len(links))
    for kind in [*KINDS, NO_ADVICE]:
        cells = ""
        for hours in links.values():
            future = numpy.concatenate([steps.mean(at, at + AHEAD) for steps in hours])
            each = [heard(s, kind, at) if kind in KINDS else measured(s, at) for s in hours]
            used, over = judge(numpy.concatenate(each), future)
            cells += f"{used:9.1f}{over:7.1f}"
        print(f"{kind:32}{cells}")


if __name__ == "__main__":
    main()
