# SPDX-License-Identifier: GPL-2.0
"""Hypothesis tests for random behaviour: shares, independence, bursts, distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise
from statistics import NormalDist

#: A right emulator is called wrong once in so many checks.
COVERAGE = 0.9999
SIGNIFICANCE = 1 - COVERAGE


@cache
def binomial_interval(n: int, p: float, coverage: float = COVERAGE) -> tuple[int, int]:
    """The central interval of a binomial count with at least this coverage."""
    from scipy import stats  # takes long to load

    if not n:
        return 0, 0
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


@dataclass(frozen=True)
class Steps:
    """From each packet to the next: how often one passed or was lost, and what came next."""

    from_good: int  # packets that came through, but for the last of all
    begun: int  # of these, such that the next one was lost
    from_bad: int  # packets that were lost, but for the last of all
    ended: int  # of these, such that the next one came through

    @classmethod
    def of(cls, lost: Sequence[bool]) -> Steps:
        """Those of a row of packets."""
        pairs = list(pairwise(lost))
        return cls(
            from_good=sum(not a for a, _ in pairs),
            begun=sum(not a and b for a, b in pairs),
            from_bad=sum(a for a, _ in pairs),
            ended=sum(a and not b for a, b in pairs),
        )


def two_states_hold(steps: Steps, p: float, r: float, significance: float = SIGNIFICANCE) -> bool:
    """Whether steps fit a chain with two states: a burst begins with p and ends with r.

    Each step out of a state is a draw of its own, whatever was before; so the counts of those
    that leave it are binomial.  Lengths of bursts are geometric, whose means are far from normal
    in the tails that matter here: of a hundred bursts, a normal interval of 0.9999 is missed by
    more than three in 10,000.  There are two counts, and each has half of the significance.
    """
    each = 1 - significance / 2
    counts = ((steps.from_good, p, steps.begun), (steps.from_bad, r, steps.ended))
    intervals = ((binomial_interval(n, share, each), count) for n, share, count in counts)
    return all(low <= count <= high for (low, high), count in intervals)


@cache
def _tails_of_rows(n: int, packets: int, burst: float, end: float) -> tuple[float, float]:
    """P that n rows of losses have as many packets as this, or fewer; and as many, or more.

    A row is a burst with probability `burst`, geometric with `end`; else it is one packet.  What n
    rows have beyond a packet each, k bursts have: it is negative binomial, and k is binomial.
    """
    import numpy
    from scipy import stats

    k = numpy.arange(n + 1)
    weights = stats.binom.pmf(k, n, burst)
    beyond = packets - n
    fewer = numpy.where(k > 0, stats.nbinom.cdf(beyond, numpy.maximum(k, 1), end), beyond >= 0)
    more = numpy.where(k > 0, stats.nbinom.sf(beyond - 1, numpy.maximum(k, 1), end), beyond <= 0)
    return float(weights @ fewer), float(weights @ more)


def four_states_hold(
    steps: Steps,
    packets: int,
    p: tuple[float, float, float],
    significance: float = SIGNIFICANCE,
) -> bool:
    """Whether losses are those of four states, without the second: p13, p31, p14.

    Whether the packet after one that came through is lost is a draw with p13 + p14; of the rows
    of losses that ended, which had so many packets, see _tails_of_rows().
    """
    p13, p31, p14 = p
    low, high = binomial_interval(steps.from_good, p13 + p14, 1 - significance / 2)
    if not steps.ended or not low <= steps.begun <= high:
        return False
    tails = _tails_of_rows(steps.ended, packets, p13 / (p13 + p14), p31)
    return min(tails) >= significance / 4


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
