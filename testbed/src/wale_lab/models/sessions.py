# SPDX-License-Identifier: GPL-2.0
"""The chain of ephemeral sessions that modulates the rate of a link.

A. Karnik and A. Kumar, "Performance of TCP Congestion Control With Explicit
Rate Feedback", IEEE/ACM Transactions on Networking, 2005, section III-A.
M_k ephemeral sessions share a link of rate C with one persistent session,
which gets R_k = C / (M_k + 1) in the k-th step.  From M_k = i the chain

    goes up by one        with probability arrival          (only if i < max),
    goes down by d = 1..i with probability a(i, d)
                          = binomial(i, d) p^d (1 - p)^(i - d),
    stays                 otherwise,

where p = 1 - exp(-1 / (mean (i + 1))) is the probability that a session
served at C / (i + 1) ends within a step; sessions bring an exponential amount
of data with mean `mean`, in units of step * C bytes (the paper's Delta * C).
Arrivals and departures exclude each other in a step, as the paper's matrix
P_M has it.  The paper's chain is infinite and its numerical results bound it
by M_max (section IV); at the bound an arrival is turned away: the chain stays.

The paper prints p_n = 1 - exp(-mu / n); with mu the mean it cannot be meant,
with mu the rate 1 / mean it gives the mean fair rates of Table I.

The walk uses one 64-bit number u per step, against cumulative thresholds in
units of 2^-64: u < T_0 is an arrival (or, at the bound, no change), else
the first d with u < T_d takes d sessions away, else the chain stays.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

from wale_lab.models.streams import MASK64, Purpose, Stream

TWO32 = 1 << 32
TWO64 = 1 << 64

# Digits of the decimal arithmetic; 2^-64 needs 20.
PRECISION = 60


@dataclass(frozen=True)
class Parameters:
    """Parameters of the chain, in the units of the netlink attributes."""

    arrival: int  # fraction of 2^32, per step
    mean: int  # in 2^-32 of C * step bytes
    maximum: int  # 1 .. 63
    step_ns: int

    def departure(self, i: int) -> Decimal:
        """Return the probability that one of i sessions ends within a step."""
        with localcontext() as context:
            context.prec = PRECISION
            return 1 - (-(Decimal(TWO32) / (Decimal(self.mean) * (i + 1)))).exp()

    def down(self, i: int) -> list[Decimal]:
        """Return the probabilities that d = 1 .. i of i sessions end in a step."""
        with localcontext() as context:
            context.prec = PRECISION
            p = self.departure(i)
            # p may be 1, to 60 digits, and Decimal has no value for 0**0
            return [
                math.comb(i, d) * p**d * ((1 - p) ** (i - d) if d < i else 1)
                for d in range(1, i + 1)
            ]

    def row(self, i: int) -> list[Decimal]:
        """Return the row of the transition matrix for state i: to 0 .. max."""
        with localcontext() as context:
            context.prec = PRECISION
            row = [Decimal(0)] * (self.maximum + 1)
            for d, probability in enumerate(self.down(i), start=1):
                row[i - d] = probability
            if i < self.maximum:
                row[i + 1] = Decimal(self.arrival) / TWO32
            row[i] = 1 - sum(row, Decimal(0))
            return row

    def is_valid(self) -> bool:
        """Tell whether every row of the matrix is a probability law."""
        return all(entry >= 0 for i in range(self.maximum + 1) for entry in self.row(i))

    def fits_walk(self) -> bool:
        """Tell whether arrival and departures fit side by side in every row.

        Stricter than is_valid() in the last row, where the arrival is turned
        away but the walk still sets its share aside.
        """
        with localcontext() as context:
            context.prec = PRECISION
            share = Decimal(self.arrival) / TWO32
            return all(share + sum(self.down(i), Decimal(0)) <= 1 for i in range(self.maximum + 1))

    def thresholds(self, i: int) -> list[int]:
        """Return T_0 .. T_i of state i, in 2^-64, rounded up and cut at 2^64 - 1.

        Rounded up, because u < T and u < ceil(T) say the same of an integer u.
        """
        with localcontext() as context:
            context.prec = PRECISION
            total = Decimal(self.arrival) / TWO32
            result = [self.arrival << 32]
            for probability in self.down(i):
                total += probability
                result.append(min(math.ceil(total * TWO64), MASK64))
            return result


class Chain:
    """The walk: one value of M per step, from the seed alone."""

    def __init__(self, parameters: Parameters, seed: int) -> None:
        self.parameters = parameters
        self.stream = Stream(seed, Purpose.SESSIONS)
        self.table = [parameters.thresholds(i) for i in range(parameters.maximum + 1)]

    def next_state(self, i: int, u: int) -> int:
        """Return the state after i when u is drawn."""
        row = self.table[i]
        if u < row[0]:
            return min(i + 1, self.parameters.maximum)
        for d in range(1, i + 1):
            if u < row[d]:
                return i - d
        return i

    def margin(self, i: int, u: int) -> int:
        """Return how near u is to a threshold of state i, in 2^-64."""
        return min(abs(u - threshold) for threshold in self.table[i])

    def walk(self) -> Iterator[int]:
        """Yield M_0 = 0, M_1, M_2, ... forever."""
        state = 0
        k = 0
        while True:
            yield state
            state = self.next_state(state, self.stream.draw64(k))
            k += 1


def walk_array(parameters: Parameters, seed: int, steps: int) -> Any:
    """Return M_0 .. M_(steps - 1) as a numpy array: Chain.walk(), but fast."""
    import numpy

    chain = Chain(parameters, seed)
    # after[i][n]: the state after i when n of its thresholds are at or below the draw
    after = [
        [min(i + 1, parameters.maximum), *range(i - 1, -1, -1), i]
        for i in range(parameters.maximum + 1)
    ]
    states = numpy.zeros(steps, dtype=numpy.int64)
    state = 0
    for k, u in enumerate(chain.stream.draws64(max(steps - 1, 0)).tolist(), start=1):
        state = after[state][bisect_right(chain.table[state], u)]
        states[k] = state
    return states


def realised_share(parameters: Parameters, seed: int, t0_s: float, t1_s: float) -> float:
    """Return the mean over time of 1 / (M + 1) from t0_s to t1_s, in seconds since the chain began.

    What mean_share() is the expectation of.  ValueError unless 0 <= t0_s < t1_s.
    """
    import numpy

    if not 0 <= t0_s < t1_s:
        raise ValueError(f"expected times 0 <= t0_s < t1_s, got {t0_s} and {t1_s}")
    step_s = parameters.step_ns / 1e9
    states = walk_array(parameters, seed, math.ceil(t1_s / step_s))
    edges = numpy.clip(numpy.arange(len(states) + 1) * step_s, t0_s, t1_s)
    edges[-1] = t1_s
    return float(numpy.sum(numpy.diff(edges) / (states + 1)) / (t1_s - t0_s))


def transition_matrix(parameters: Parameters) -> Any:
    """Return the transition matrix as a numpy array of floats."""
    import numpy

    rows = [[float(entry) for entry in parameters.row(i)] for i in range(parameters.maximum + 1)]
    return numpy.array(rows)


def stationary_law(parameters: Parameters) -> Any:
    """Return the stationary law: pi P = pi, sum of pi = 1."""
    import numpy

    matrix = transition_matrix(parameters)
    size = len(matrix)
    system = numpy.vstack([matrix.T - numpy.eye(size), numpy.ones(size)])
    right = numpy.append(numpy.zeros(size), 1.0)
    return numpy.linalg.lstsq(system, right, rcond=None)[0]


def mean_share(parameters: Parameters) -> float:
    """Return the stationary mean of 1 / (M + 1), the fair share of the link."""
    law = stationary_law(parameters)
    return sum(float(weight) / (m + 1) for m, weight in enumerate(law))
