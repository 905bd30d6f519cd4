# SPDX-License-Identifier: GPL-2.0
"""Tests of hypotheses, for what is random: shares, independence, bursts, distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from statistics import NormalDist

#: A right emulator is called wrong once in so many checks.
COVERAGE = 0.9999
SIGNIFICANCE = 1 - COVERAGE


def binomial_interval(n: int, p: float, coverage: float = COVERAGE) -> tuple[int, int]:
    """The central interval of a binomial count with at least this coverage."""
    from scipy import stats  # takes long to load

    low, high = stats.binom.interval(coverage, n, p)
    return int(low), int(high)


def runs_test(events: Sequence[bool]) -> float:
    """p of the runs test of Wald and Wolfowitz, two-sided: small if events hang together."""
    n, hits = len(events), sum(events)
    misses = n - hits
    if not hits or not misses:
        return math.nan
    runs = sum(1 for _ in groupby(events))
    mean = 1 + 2 * hits * misses / n
    variance = (mean - 1) * (mean - 2) / (n - 1)
    return 2 * NormalDist().cdf(-abs(runs - mean) / math.sqrt(variance))


def burst_lengths(events: Sequence[bool]) -> list[int]:
    """How long each row of events is."""
    return [len(list(group)) for hit, group in groupby(events) if hit]


def mean_of_geometric_holds(values: Sequence[int], p: float) -> bool:
    """Whether values are, in the mean, those of a geometric distribution from 1 on."""
    if not values:
        return False
    deviation = math.sqrt((1 - p) / p**2 / len(values))
    allowed = NormalDist().inv_cdf(1 - SIGNIFICANCE / 2) * deviation
    return abs(sum(values) / len(values) - 1 / p) <= allowed


def mean_holds(values: Sequence[int], mean: float, variance: float) -> bool:
    """Whether values are, in the mean, those of a distribution with this mean and variance."""
    if not values:
        return False
    allowed = NormalDist().inv_cdf(1 - SIGNIFICANCE / 2) * math.sqrt(variance / len(values))
    return abs(sum(values) / len(values) - mean) <= allowed


def fits_uniform(values: Sequence[float], low: float, high: float) -> float:
    """p of the Kolmogorov-Smirnov test against a uniform distribution."""
    from scipy import stats

    return float(stats.kstest(values, stats.uniform(low, high - low).cdf).pvalue)


def fits_normal(values: Sequence[float], mean: float, deviation: float) -> float:
    """p of the Kolmogorov-Smirnov test against a normal distribution."""
    from scipy import stats

    return float(stats.kstest(values, stats.norm(mean, deviation).cdf).pvalue)


def percentile(values: Sequence[float], share: float) -> float:
    """The value that a share of the values does not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]
