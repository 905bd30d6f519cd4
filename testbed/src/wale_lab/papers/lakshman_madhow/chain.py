# SPDX-License-Identifier: GPL-2.0
"""The Markov chain of Lakshman and Madhow for random loss, which they sketch and skip.

Section IV, (18)-(20) [preprint: 25-27].  A cycle begins with a parameter w, the slow start
threshold of Tahoe or the first window of Reno; it has N successful packets, where N is geometric
but for an overflow of the buffer at N_max(w); it ends with a window W(N, w) after T(N, w), and
the next w is W / 2 (the paper leaves the half out).  The throughput is E N / E T.

W and T are those of section III (lakshman_madhow/model.py), a loss in slow start included.  The
law of w is found on a grid: cells of windows, each standing for its middle, and the window
that an overflow leads to, which has a probability of its own.  For each cell, the law of the next
w and the mean time are in closed form.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, exp1

from wale_lab.papers.lakshman_madhow.model import Link, check_rare_loss, cycle

#: Cells of the grid that are alike, and as many in proportion: few windows are large where losses
#: are many, few are small where they are rare.  The result differs from that with four times as
#: many by less than 0.3 %; of the links of the papers by less than 3e-4.
CELLS = 200

Vector = NDArray[np.float64]


class Analysis(NamedTuple):
    """What the chain says of a connection."""

    throughput_packets_per_s: float
    utilisation: float
    """throughput over mu"""
    mean_threshold_packets: float
    """mean of w over cycles"""
    cycles_per_s: float
    """losses that are answered: random ones, and overflows"""
    overflows: float
    """which part of the cycles ends with an overflow"""


class _Cycles(NamedTuple):
    """Cycles that begin with one w."""

    law: Vector  # of the next w, by cell and the overflow's
    packets: float  # E N
    time_s: float  # E T


def _slow_start_s(link: Link, window: float, k: float) -> float:
    """Mean time in slow start to a window, if packets are lost at rate k: T log2(n) at packet n."""
    rest = exp1(k) - exp1(k * window)
    return float(link.round_trip_s / math.log(2) * rest)


def _avoidance_s(link: Link, first: float, last: float, k: float) -> float:
    """Mean time in congestion avoidance, where n = (W^2 - W_0^2) / 2 packets lead to W."""
    edge = min(link.pipe_packets, last)
    scale = math.sqrt(k / 2)
    to_edge = math.exp(-k * max(0.0, edge**2 - first**2) / 2)
    to_last = math.exp(-k * (last**2 - first**2) / 2)
    without_queue = 0.0
    if edge > first:  # the integral of T exp(-k n) over W
        inside = erfcx(first * scale) - to_edge * erfcx(edge * scale)
        without_queue = link.round_trip_s * math.sqrt(math.pi / (2 * k)) * float(inside)
    return without_queue + (to_edge - to_last) / (k * link.rate_packets_per_s)


def _cycles(link: Link, tcp: str, w: float, edges: Vector, q: float, reading: str) -> _Cycles:
    """Follow the cycles that begin with w, to a loss in each of their phases."""
    one = cycle(link, tcp, w, reading)
    phases = one.slow_start.windows if one.slow_start else ()
    k = -math.log1p(-q)
    survives, time_s = 1.0, 0.0
    below = np.zeros(len(edges))  # P[next w <= edge]
    for number, window in enumerate(phases):
        reached = np.clip(2 * edges, 0, window)  # W(n) = n
        below += survives * -np.expm1(-k * reached)
        time_s += survives * _slow_start_s(link, max(1.0, window), k)
        survives *= math.exp(-k * window)
        if number + 1 < len(phases):  # the overflow is detected
            time_s += survives * link.round_trip_s
    first, last = one.first_window, one.last_window
    reached = np.clip(2 * edges, first, last)
    below += survives * -np.expm1(-k * (reached**2 - first**2) / 2)
    time_s += survives * _avoidance_s(link, first, last, k)
    overflow = survives * math.exp(-k * (last**2 - first**2) / 2)
    law = np.append(np.diff(below), overflow)
    law[0] += below[0]  # a window is at least 1
    return _Cycles(law, (1 - overflow) * (1 - q) / q, time_s)


def _stationary(matrix: Vector) -> Vector:
    """Return pi with pi P = pi."""
    size = len(matrix)
    equations = matrix.T - np.eye(size)
    equations[0] = 1
    right = np.zeros(size)
    right[0] = 1
    return np.asarray(np.linalg.solve(equations, right), np.float64)


def analyse(
    link: Link,
    tcp: str,
    loss_probability: float,
    reading: str = "reproducing",
    cells: int = CELLS,
) -> Analysis:
    """Solve the chain; without random loss it is the periodic cycle.

    Raises ValueError for bad arguments.
    """
    check_rare_loss(loss_probability)
    mu = link.rate_packets_per_s
    periodic = cycle(link, tcp, None, reading)
    if loss_probability < 1e-12:
        rate = periodic.throughput_packets_per_s
        return Analysis(rate, rate / mu, periodic.last_window / 2, 1 / periodic.time_s, 1.0)
    largest = link.largest_window / 2
    alike, in_proportion = (space(1, largest, cells + 1) for space in (np.linspace, np.geomspace))
    edges = np.union1d(alike, in_proportion[1:-1])
    places = np.append((edges[1:] + edges[:-1]) / 2, edges[-1])
    found = [_cycles(link, tcp, float(w), edges, loss_probability, reading) for w in places]
    pi = _stationary(np.array([one.law for one in found]))
    packets = float(pi @ np.array([one.packets for one in found]))
    time_s = float(pi @ np.array([one.time_s for one in found]))
    return Analysis(
        throughput_packets_per_s=packets / time_s,
        utilisation=packets / time_s / mu,
        mean_threshold_packets=float(pi @ places),
        cycles_per_s=1 / time_s,
        overflows=float(pi @ np.array([one.law[-1] for one in found])),
    )
