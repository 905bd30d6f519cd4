# SPDX-License-Identifier: GPL-2.0
"""Verdicts: is a control better than, like or worse than another one, on the same seeds?

The difference is that of pairs: each seed's value of the one less that of the other, with
Student's 95 % interval of its mean.  One is worse if the whole interval is on that side of zero,
and the mean is beyond a margin below which nobody cares.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal

Verdict = Literal["better", "like", "worse"]
Better = Literal["higher", "lower"]


@dataclass(frozen=True)
class Interval:
    """A mean over seeds, and half the width of its 95 % interval."""

    mean: float
    half: float
    count: int

    @property
    def low(self) -> float:
        """Its lower end."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """Its upper end."""
        return self.mean + self.half


@dataclass(frozen=True)
class Margin:
    """A difference that matters: so much, or that share of what the other one has."""

    amount: float
    relative: bool = False

    def of(self, reference: float) -> float:
        """The difference itself."""
        return self.amount * abs(reference) if self.relative else self.amount


@dataclass(frozen=True)
class Comparison:
    """One control against another one in a cell."""

    difference: Interval
    """of pairs: ours less theirs"""
    margin: float
    verdict: Verdict
    settled: bool
    """would more seeds leave it as it is, as far as the interval tells?"""


def mean_interval(values: Sequence[float]) -> Interval:
    """Student's 95 % interval; of one value there is none, and its half is infinite."""
    if not values:
        raise ValueError("expected values, there are none")
    count = len(values)
    if count == 1:
        return Interval(values[0], math.inf, 1)
    from scipy import stats  # takes time to load

    half = float(stats.t.ppf(0.975, count - 1)) * stdev(values) / math.sqrt(count)
    return Interval(fmean(values), half, count)


def compare(
    ours: Sequence[float], theirs: Sequence[float], better: Better, margin: Margin
) -> Comparison:
    """Judge values of the same seeds, in the same order."""
    difference = mean_interval([x - y for x, y in zip(ours, theirs, strict=True)])
    limit = margin.of(fmean(theirs))
    found: Verdict = "like"
    if abs(difference.mean) > limit and (difference.low > 0 or difference.high < 0):
        found = "better" if (difference.mean > 0) == (better == "higher") else "worse"
    beyond = difference.low > limit or difference.high < -limit
    within = -limit <= difference.low and difference.high <= limit
    return Comparison(difference, limit, found, beyond or within)


def worst(verdicts: Sequence[Verdict]) -> Verdict | None:
    """Of several: worse if one is, else better if one is."""
    order: tuple[Verdict, ...] = ("worse", "better", "like")
    return next((verdict for verdict in order if verdict in verdicts), None)


def beside_deployed(verdicts: Sequence[Verdict]) -> Verdict | None:
    """Against all that is deployed: worse than each of them, better than each, or like."""
    if not verdicts:
        return None
    first = verdicts[0]
    return first if first != "like" and all(v == first for v in verdicts) else "like"
