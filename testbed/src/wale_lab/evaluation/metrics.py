# SPDX-License-Identifier: GPL-2.0
"""What tells congestion controls apart, each as a function of plain numbers, with its source.

Rates are in any one unit, times in seconds.  A time that something took which never happened is
that until the end of the observation, so that means exist: it is a lower bound then.

RFC 5166 is S. Floyd (ed.), "Metrics for the Evaluation of Congestion Control Mechanisms", 2008.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

#: Jain's index from which flows count as having converged.
CONVERGED = 0.9

#: A flow starves while it has less than this share of its fair share.
STARVED = 0.1

#: A flow has recovered when it has this share of the rate that it can have.
RECOVERED = 0.8


def throughput(times: Values, count: Values, begin: float, end: float) -> float:
    """The mean rate between two times, of a count that grows: RFC 5166, section 2.1.

    `count` is what was received until each of `times`.
    """
    if end <= begin:
        raise ValueError(f"expected a window with an end after {begin:g} s, got {end:g} s")
    before, after = np.interp([begin, end], times, count)
    return float((after - before) / (end - begin))


def percentile(values: Values, percent: float) -> float:
    """The value that a share of all is at most: of delays, RFC 5166, section 2.2."""
    if not len(values):
        raise ValueError("expected values, there are none")
    return float(np.percentile(values, percent))


def retransmitted_share(again: float, sent: float) -> float:
    """Packets sent again, of all that were sent: what losses cost the network (RFC 5166, 2.3)."""
    return again / sent if sent else 0.0


def jain(rates: Sequence[float] | Values) -> float:
    """(sum x)^2 / (n sum x^2): 1 if all have the same, 1/n if one has all.

    R. Jain, D. Chiu and W. Hawe, "A Quantitative Measure of Fairness and Discrimination for
    Resource Allocation in Shared Computer Systems", DEC-TR-301, 1984.
    """
    each = np.asarray(rates, float)
    squares = float(np.sum(each**2))
    if not len(each) or not squares:
        return 1.0  # nobody has more than another
    return float(np.sum(each)) ** 2 / (len(each) * squares)


def jain_over_time(rates: Sequence[Values] | Values) -> Values:
    """The index in each bin of time; a row of `rates` is a flow."""
    return np.array([jain(column) for column in np.asarray(rates, float).T])


def first_lasting(times: Values, holds: NDArray[np.bool_], hold_s: float) -> float | None:
    """The first of some times from which on something holds for so long, or to the end."""
    begin = None
    for at, good in zip(times, holds, strict=True):
        if not good:
            begin = None
        elif begin is None:
            begin = float(at)
        if begin is not None and at - begin >= hold_s:
            return begin
    return begin


def convergence_time(
    times: Values, index: Values, since: float, level: float = CONVERGED, hold_s: float = 3.0
) -> float:
    """From `since` until Jain's index is at a level and stays there: RFC 5166, section 2.4.

    `index` is that of the bins that begin at `times`.
    """
    used = times >= since
    return _time_until(times[used], index[used] >= level, since, hold_s)


def recovery_time(
    times: Values, rate: Values, since: float, goal: float, hold_s: float = 1.0
) -> float:
    """From an event until a rate is back at RECOVERED of what it can be: RFC 5166, section 2.5."""
    used = times >= since
    return _time_until(times[used], rate[used] >= RECOVERED * goal, since, hold_s)


def _time_until(times: Values, holds: NDArray[np.bool_], since: float, hold_s: float) -> float:
    found = first_lasting(times, holds, hold_s)
    if found is None:
        found = float(times[-1]) if len(times) else since
    return found - since


def harm(alone: float, beside: float, more_is_better: bool) -> float:
    """What a competitor takes from a flow, of what the flow had alone: 0 nothing, 1 everything.

    (alone - beside) / alone of what should be large, such as throughput; (beside - alone) / beside
    of what should be small, such as delay.  Below 0, the flow is better off with the competitor.
    R. Ware, M. K. Mukerjee, S. Seshan and J. Sherry, "Beyond Jain's Fairness Index: Setting the Bar
    For The Deployment of Congestion Control Algorithms", HotNets 2019, section 4.1.
    """
    worst = alone if more_is_better else beside
    if not worst:
        return 0.0
    return (alone - beside if more_is_better else beside - alone) / worst


def least_share(rates: Sequence[float] | Values, fair: float) -> float:
    """What the flow with least has of its fair share: starvation in the mean over time."""
    return float(np.min(np.asarray(rates, float))) / fair if fair else 1.0


def starved_time(rates: Sequence[Values] | Values, fair: float, level: float = STARVED) -> float:
    """The share of time in which at least one flow has less than `level` of its fair share.

    V. Arun, M. Alizadeh and H. Balakrishnan, "Starvation in End-to-End Congestion Control", SIGCOMM
    2022, have the ratio of rates grow without bound; here it is for how long it is large.
    """
    each = np.asarray(rates, float)
    return float(np.mean(np.any(each < level * fair, axis=0))) if each.size else 0.0


def utilisation(sent: float, capacity: float) -> float:
    """What a link sent, of what it could send in that time: RFC 5166, section 2.1.

    What it was still sending when the time began makes it a little more than 1 at times: 1 then.
    """
    return min(sent / capacity, 1.0) if capacity else 0.0


def variation(rates: Values) -> float:
    """The coefficient of variation of a rate over time, its oscillation: RFC 5166, section 2.4."""
    mean = float(np.mean(rates)) if len(rates) else 0.0
    return float(np.std(rates)) / mean if mean else 0.0


def by_size(
    files: Sequence[tuple[float, float]], edges: Sequence[float]
) -> Mapping[tuple[float, float], list[float]]:
    """Completion times of files by size; `files` are sizes and times.

    N. Dukkipati and N. McKeown, "Why Flow-Completion Time is the Right Metric for Congestion
    Control", CCR 2006: what a user sees of a short flow is when it ends.
    """
    return {
        (low, high): [seconds for size, seconds in files if low <= size < high]
        for low, high in pairwise(edges)
    }
