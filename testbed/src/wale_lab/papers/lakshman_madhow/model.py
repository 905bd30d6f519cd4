# SPDX-License-Identifier: GPL-2.0
"""The throughput of Tahoe and Reno where the bandwidth-delay product exceeds the buffer.

T. V. Lakshman and U. Madhow, "The Performance of TCP/IP for Networks with High Bandwidth-Delay
Products and Random Loss", IEEE/ACM Transactions on Networking, 1997.  Equation numbers in this
file are those of the journal; where the preprint numbers the same equation otherwise, its number
stands in brackets, as in "(18) [25]".  The journal's own cross-references still are the
preprint's.

A source that always has packets to send, a link of mu packets/s with a buffer of B packets, and
a propagation delay tau of a round trip.  T = tau + 1 / mu is the round trip of a packet that finds
an empty queue, mu T the pipe, beta = B / (mu T) at most 1.  Windows and buffers are in packets,
times in seconds.  An ACK answers each packet; losses are detected at once.

Two readings:

printed
    The equations as they stand.
reproducing
    What gives the published numbers to the last digit, but for one of Table III (0.8295
    for 0.829):
    * n_b = ceil(log2(B)) in (4): that is what (3) leads to, and what Table II needs at
      beta = 0.32; printed is ceil(log2(B - 1));
    * of several Tahoe connections each spends tau_min log2(w_i) in slow start, not T_i log2(w_i),
      where tau_min is the least propagation delay (1 s in Table V: the published numbers may
      as well leave the factor out);
    * of several Reno connections T_i is tau_i, without the service time.

Misprints, and what is left open:

* The buffer of Table II is beta (mu tau + 1), not rounded to packets.
* W_0 of Tahoe, (7), is lost in the journal; the preprint has it, [14].
* Reno's window grows to W + 1 / [W] with an ACK; both print 1 + 1 / [W].
* (19) has the window at the end of a cycle as the next parameter: it is half of it.
* In (45), (46) the density of N is q (1 - q)^n: exact were -ln(1 - q) (1 - q)^n.
* n_ss counts in N_max, and w* tells one slow start from two: not said, but Table III needs it.
* Captions have 1 ms where the text has 1 s; only mu tau counts.
* 576 bytes leave no room for the trailer of AAL5 in 12 cells: 13 with it.
* Table IV, mu = 200, tau = 2: .995 for Reno is probably .915, as its neighbours.

The Markov chain (18)-(20) is sketched in the paper and not used: it is in
papers/lakshman_madhow/chain.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import brentq

TCPS = ("tahoe", "reno")
READINGS = ("printed", "reproducing")

#: c of (37): the window falls by 2^c in a congestion episode (section V-C).
HALVINGS = {"tahoe": 1, "reno": 2}


def _check_name(what: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        raise ValueError(f"{what}: expected {' or '.join(known)}, got {value!r}")


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not 0 < value < math.inf
        ):
            raise ValueError(f"{name}: expected a number above 0, got {value!r}")


def check_loss(loss_probability: float) -> None:
    """Raise ValueError if q is no probability below 1."""
    if isinstance(loss_probability, bool) or not isinstance(loss_probability, int | float):
        raise ValueError(f"loss_probability: expected a number, got {loss_probability!r}")
    if not 0 <= loss_probability < 1:
        raise ValueError(f"loss_probability: expected 0 to below 1, got {loss_probability!r}")


#: Above it timeouts are all that there is, which neither the formula nor the chain knows: beyond
#: one half the former rises with q, and the latter a little later.
LARGEST_LOSS = 0.3


def check_rare_loss(loss_probability: float) -> None:
    """Raise ValueError if q is no probability, or one that no analysis here is of."""
    check_loss(loss_probability)
    if loss_probability > LARGEST_LOSS:
        raise ValueError(
            f"loss_probability: expected at most {LARGEST_LOSS}, got {loss_probability!r}: the "
            "analysis has no timeouts, and there is little else then"
        )


@dataclass(frozen=True)
class Link:
    """A bottleneck and the way to it and back; ValueError if a value is out of range."""

    rate_packets_per_s: float = 100.0
    """mu"""
    delay_s: float = 1.0
    """tau: propagation, of a round trip"""
    buffer_packets: float = 80.8
    """B; it need not be whole"""

    def __post_init__(self) -> None:
        _check_positive(
            rate_packets_per_s=self.rate_packets_per_s,
            delay_s=self.delay_s,
            buffer_packets=self.buffer_packets,
        )
        if not self.beta <= 1 + 1e-9:
            raise ValueError(
                f"buffer_packets: expected at most the {self.pipe_packets:g} packets of a round "
                f"trip, got {self.buffer_packets:g}"
            )
        if self.buffer_packets < 2:
            raise ValueError(f"buffer_packets: expected 2 or more, got {self.buffer_packets:g}")

    @classmethod
    def of_beta(cls, beta: float, rate_packets_per_s: float = 100.0, delay_s: float = 1.0) -> Link:
        """A link whose buffer is beta times the pipe."""
        return cls(rate_packets_per_s, delay_s, beta * (rate_packets_per_s * delay_s + 1))

    @property
    def round_trip_s(self) -> float:
        """T = tau + 1 / mu."""
        return self.delay_s + 1 / self.rate_packets_per_s

    @property
    def pipe_packets(self) -> float:
        """mu T = mu tau + 1."""
        return self.rate_packets_per_s * self.delay_s + 1

    @property
    def beta(self) -> float:
        """B / (mu T), the normalized buffer."""
        return self.buffer_packets / self.pipe_packets

    @property
    def largest_window(self) -> float:
        """W_pipe = mu T + B, (1): more overflows the buffer."""
        return self.pipe_packets + self.buffer_packets


# III-A  Slow start


def slow_start_window(mini_cycle: int, acks: int) -> int:
    """W(n T + m / mu) = 2^n + m + 1, (2): packets, after ACK m (from 0) of mini-cycle n + 1."""
    _check_ack(mini_cycle, acks)
    return (1 << mini_cycle) + acks + 1


def slow_start_queue(mini_cycle: int, acks: int) -> int:
    """Q(n T + m / mu) = m + 2, (3): packets in the buffer at that time."""
    _check_ack(mini_cycle, acks)
    return acks + 2


def _check_ack(mini_cycle: int, acks: int) -> None:
    if mini_cycle < 0 or not 0 <= acks <= 2**mini_cycle - 1:
        raise ValueError(
            f"expected a mini-cycle n from 0 on and m from 0 to 2^n - 1, got {mini_cycle}, {acks}"
        )


def overflow_window(buffer_packets: float, reading: str = "reproducing") -> float:
    """W_b = 2^(n_b) + B, (4): the window at which slow start overflows the buffer."""
    _check_name("reading", reading, READINGS)
    if not buffer_packets >= 2:
        raise ValueError(f"buffer_packets: expected 2 or more, got {buffer_packets!r}")
    room = buffer_packets - 1 if reading == "printed" else buffer_packets
    return float(2 ** math.ceil(math.log2(room)) + buffer_packets)


def second_threshold(overflow: float, threshold: float) -> float:
    """min(W_b - 1, W_t / 2), (6) [10]: half of the window when the overflow is detected."""
    return min(overflow - 1, threshold / 2)


class SlowStart(NamedTuple):
    """The slow start phases of a cycle of Tahoe."""

    windows: tuple[float, ...]
    """at which they end: one, or W_b and the second threshold"""
    time_s: float
    """t_ss, with T for the detection of an overflow"""
    packets: float
    """n_ss"""

    @property
    def final_window(self) -> float:
        """W_0 of Tahoe, (7) [14]: where congestion avoidance begins."""
        return self.windows[-1]


def slow_start(link: Link, threshold: float, reading: str = "reproducing") -> SlowStart:
    """Return t_ss and n_ss of section III-A, [6]-[13], for W_t = `threshold` (packets).

    Raises ValueError if the threshold is below 1 or above the pipe and the buffer.
    """
    if not 1 <= threshold <= link.largest_window:
        raise ValueError(
            f"threshold: expected 1 to {link.largest_window:g} packets, got {threshold!r}"
        )
    overflow = overflow_window(link.buffer_packets, reading)
    trip = link.round_trip_s
    if overflow > threshold:  # not (5): case 1
        return SlowStart((threshold,), trip * math.log2(threshold), threshold)
    second = second_threshold(overflow, threshold)
    time = trip * (math.log2(overflow) + 1) + trip * math.log2(second)
    return SlowStart((overflow, second), time, overflow + second)


# III-B  Congestion avoidance


def growth_per_ack(window: float) -> float:
    """dW / da = 1 / W, (9) [16]: packets."""
    _check_positive(window=window)
    return 1 / window


def ack_rate(link: Link, window: float) -> float:
    """da / dt = lambda = min(W / T, mu), (10) [17]: ACKs per second."""
    _check_positive(window=window)
    return min(window / link.round_trip_s, link.rate_packets_per_s)


def window_growth(link: Link, window: float) -> float:
    """dW / dt, (11) [18]: 1 / T while the pipe is not full, then mu / W; packets per second."""
    return growth_per_ack(window) * ack_rate(link, window)


class Avoidance(NamedTuple):
    """Congestion avoidance from a window W_0 to W_max: without a queue (A), and with one (B)."""

    a_s: float
    """t_A"""
    a_packets: float
    """n_A"""
    b_s: float
    """t_B"""
    b_packets: float
    """n_B"""

    @property
    def time_s(self) -> float:
        """t_A + t_B."""
        return self.a_s + self.b_s

    @property
    def packets(self) -> float:
        """n_A + n_B."""
        return self.a_packets + self.b_packets


def congestion_avoidance(link: Link, start: float, end: float) -> Avoidance:
    """Return (12)-(15) [19]-[22] for the window from `start` to `end` (packets).

    Raises ValueError if not 0 < start <= end.
    """
    if not 0 < start <= end:
        raise ValueError(f"expected windows of 0 < start <= end, got {start!r}, {end!r}")
    trip, pipe, mu = link.round_trip_s, link.pipe_packets, link.rate_packets_per_s
    a_s = trip * max(0.0, min(pipe, end) - start)
    a_packets = (start * a_s + a_s**2 / (2 * trip)) / trip
    b_s = max(0.0, end**2 - max(pipe, start) ** 2) / (2 * mu)
    return Avoidance(a_s, a_packets, b_s, mu * b_s)


# III-C  The cycle


class Cycle(NamedTuple):
    """One cycle of the window."""

    slow_start: SlowStart | None
    """none with Reno"""
    first_window: float
    """W_0, where congestion avoidance begins"""
    last_window: float
    """W_max, where it ends"""
    avoidance: Avoidance

    @property
    def slow_starts(self) -> int:
        """How many there are in the cycle."""
        return len(self.slow_start.windows) if self.slow_start else 0

    @property
    def time_s(self) -> float:
        """T_c."""
        return self.avoidance.time_s + (self.slow_start.time_s if self.slow_start else 0)

    @property
    def packets(self) -> float:
        """N_c."""
        return self.avoidance.packets + (self.slow_start.packets if self.slow_start else 0)

    @property
    def throughput_packets_per_s(self) -> float:
        """(16), (17) [23], [24]."""
        return self.packets / self.time_s


def cycle(
    link: Link, tcp: str, threshold: float | None = None, reading: str = "reproducing"
) -> Cycle:
    """Return the cycle that begins with a threshold, by default W_pipe / 2, and ends at W_pipe.

    It is W_t for Tahoe and W_0 for Reno, (8) [15].  Raises ValueError for names that there are
    not, and for a threshold out of range.
    """
    _check_name("tcp", tcp, TCPS)
    _check_name("reading", reading, READINGS)
    end = link.largest_window
    half = end / 2 if threshold is None else threshold
    begin = slow_start(link, half, reading) if tcp == "tahoe" else None
    first = begin.final_window if begin else half
    return Cycle(begin, first, end, congestion_avoidance(link, first, end))


# IV  Random loss


def cycle_length_law(loss_probability: float, packets: int, longest: int) -> float:
    """P[N = n], (18) [25]: that a cycle has n successful packets, if overflow ends it at N_max."""
    check_loss(loss_probability)
    if not 0 <= packets <= longest:
        raise ValueError(f"packets: expected 0 to {longest}, got {packets!r}")
    survives: float = (1 - loss_probability) ** packets
    return survives if packets == longest else survives * loss_probability


def random_loss_window(loss_probability: float) -> float:
    """w_l = sqrt(2 / (3 q)), (25) [32]: half of the window at which a packet in 1 / q is lost.

    It solves (22)-(24).  Infinity without random loss.
    """
    check_loss(loss_probability)
    return math.sqrt(2 / (3 * loss_probability)) if loss_probability else math.inf


def typical_threshold(link: Link, loss_probability: float) -> float:
    """w* = min(W_pipe / 2, w_l), (26) [33]: packets; never below the 1 of a window."""
    return max(1.0, min(link.largest_window / 2, random_loss_window(loss_probability)))


def throughput(
    link: Link, tcp: str, loss_probability: float = 0.0, reading: str = "reproducing"
) -> float:
    """Return the throughput in packets/s: (45), (46) [52], [54], from (21), (27), (43), (44).

    Without random loss these are (16), (17).  Raises ValueError for bad arguments.
    """
    check_rare_loss(loss_probability)
    one = cycle(link, tcp, typical_threshold(link, loss_probability), reading)
    if loss_probability == 0:
        return one.throughput_packets_per_s
    before_s = one.slow_start.time_s if one.slow_start else 0.0
    before = one.slow_start.packets if one.slow_start else 0.0
    survives = 1 - loss_probability

    def integrand(window: float) -> float:
        part = congestion_avoidance(link, one.first_window, window)
        packets, time_s = before + part.packets, before_s + part.time_s
        if time_s == 0:  # packets / time is the rate, and only that, at the begin
            return loss_probability * ack_rate(link, window) * window
        # lambda dt = da = W dW
        chance: float = loss_probability * survives**packets
        return chance * packets / time_s * window

    # over the window, which grows with time: dt = dW / (dW / dt)
    first, pipe = one.first_window, link.pipe_packets
    integral = sum(
        quad(integrand, low, high, limit=200, epsrel=1e-8)[0]
        for low, high in _panels(first, pipe, one.last_window)
    )
    overflow: float = survives**one.packets
    return float(integral) + overflow * one.packets / one.time_s


def _panels(first: float, middle: float, last: float) -> list[tuple[float, float]]:
    """Pieces from first to last: windows a factor of 2 apart, and a border where a queue begins."""
    borders = [first]
    while borders[-1] * 2 < last:
        borders.append(borders[-1] * 2)
    if first < middle < last:
        borders.append(middle)
    borders = sorted({*borders, last})
    return list(pairwise(borders))


def utilisation(
    link: Link, tcp: str, loss_probability: float = 0.0, reading: str = "reproducing"
) -> float:
    """Return throughput over mu: Tables II and III."""
    return throughput(link, tcp, loss_probability, reading) / link.rate_packets_per_s


# V  Connections with different delays


def rate_of_window(window: float, round_trip_s: float, waiting_s: float) -> float:
    """lambda_i = W_i / (T_i + D_i), (28) [35]: Little's law; packets per second."""
    _check_positive(window=window, round_trip_s=round_trip_s)
    return window / (round_trip_s + waiting_s)


def growth_of_window(round_trip_s: float, waiting_s: float) -> float:
    """dW_i / dt = 1 / (T_i + D_i), (29) [36]: packets per second."""
    _check_positive(round_trip_s=round_trip_s)
    return 1 / (round_trip_s + waiting_s)


def waiting_time(
    rate_packets_per_s: float, windows: Sequence[float], round_trips_s: Sequence[float]
) -> float:
    """Return D of (30) [37]: what fixed windows on a full link wait in the queue, in seconds.

    Raises ValueError if the windows do not fill the link.
    """
    sent = [rate_of_window(w, t, 0) for w, t in zip(windows, round_trips_s, strict=True)]
    if sum(sent) < rate_packets_per_s:
        raise ValueError(
            f"windows: expected to fill {rate_packets_per_s:g} packets/s, got {sum(sent):g}"
        )

    def missing(waiting_s: float) -> float:
        pairs = zip(windows, round_trips_s, strict=True)
        return sum(rate_of_window(w, t, waiting_s) for w, t in pairs) - rate_packets_per_s

    return float(brentq(missing, 0, sum(windows) / rate_packets_per_s, xtol=1e-12))


class Sharing(NamedTuple):
    """Connections that share a link, over a cycle of their windows."""

    shares: tuple[float, ...]
    """alpha_i: throughput over mu"""
    first_windows: tuple[float, ...]
    """w_i, after a congestion episode"""
    a_s: float
    """t_A: without a queue; 0 in case 2"""
    b_s: float
    """t_B: with a queue"""
    large_buffer: bool
    """case 2: the link is never idle"""


class _Phase(NamedTuple):
    """Windows that grow for a time, all with their own constant waiting time."""

    time_s: float
    first: NDArray[np.float64]  # windows
    trips: NDArray[np.float64]  # T_i + D

    def packets(self) -> NDArray[np.float64]:
        """Return the integral of W_i / (T_i + D)."""
        return (self.first * self.time_s + self.time_s**2 / (2 * self.trips)) / self.trips

    def last(self) -> NDArray[np.float64]:
        """Return the windows at the end, (33), (34), (38) [40], [41], [45]."""
        return self.first + self.time_s / self.trips


def _small_buffer(
    mu: float, buffer: float, trips: NDArray[np.float64], c: int
) -> tuple[_Phase, _Phase]:
    """Solve (31)-(37) [38]-[44] for t_A and t_B, on which the w_i depend linearly."""
    before, after = 1 / trips, 1 / (trips + buffer / (2 * mu))  # (32)
    full = 1 / (trips + buffer / mu)
    k = 2**c - 1  # (37): k w_i = t_A / T_i + t_B / (T_i + B / 2 mu)
    equations = [
        [(before**2).sum() * (1 + 1 / k), (before * after).sum() / k],  # (35)
        [2**c / k * (before * full).sum(), 2**c / k * (after * full).sum()],  # (36)
    ]
    a_s, b_s = np.linalg.solve(np.array(equations), np.array([mu, mu]))
    first = (a_s * before + b_s * after) / k
    phase_a = _Phase(float(a_s), first, trips)
    return phase_a, _Phase(float(b_s), phase_a.last(), 1 / after)


def _large_buffer(mu: float, buffer: float, trips: NDArray[np.float64], c: int) -> _Phase:
    """Solve (39)-(42) [46]-[49] for D_min; then w_i = K / (T_i + mean D), by (40)."""

    def weights(least_s: float) -> NDArray[np.float64]:
        return 1 / (trips + (least_s + buffer / mu) / 2)

    def difference(least_s: float) -> float:
        first, last = weights(least_s) / (trips + least_s), weights(least_s) / (trips + buffer / mu)
        return float(first.sum() - 2**c * last.sum())

    least_s = float(brentq(difference, 0, buffer / mu, xtol=1e-12))
    scale = mu / (weights(least_s) / (trips + least_s)).sum()
    first = scale * weights(least_s)
    return _Phase(float(scale * (2**c - 1)), first, 1 / weights(least_s))


def _round_trips(
    mu: float, delays_s: Sequence[float], tcp: str, reading: str
) -> NDArray[np.float64]:
    """T_i of each connection, in seconds."""
    if not delays_s:
        raise ValueError("delays_s: expected at least one")
    for delay in delays_s:
        _check_positive(delays_s=delay)
    serviced = tcp == "tahoe" or reading == "printed"
    return np.array(delays_s, float) + (1 / mu if serviced else 0)


def sharing(
    rate_packets_per_s: float,
    delays_s: Sequence[float],
    buffer_packets: float,
    tcp: str,
    reading: str = "reproducing",
    halvings: int | None = None,
) -> Sharing:
    """Return what connections with propagation delays tau_i get, section V-C: Tables V and VI.

    They lose together, `halvings` times in an episode, by default as HALVINGS says.  Raises
    ValueError for bad arguments.
    """
    _check_name("tcp", tcp, TCPS)
    _check_name("reading", reading, READINGS)
    _check_positive(rate_packets_per_s=rate_packets_per_s, buffer_packets=buffer_packets)
    if halvings is not None:
        _check_positive(halvings=halvings)
    mu, c = rate_packets_per_s, HALVINGS[tcp] if halvings is None else halvings
    trips = _round_trips(mu, delays_s, tcp, reading)
    phase_a, phase_b = _small_buffer(mu, buffer_packets, trips, c)
    large = phase_a.time_s < 0
    phases = [_large_buffer(mu, buffer_packets, trips, c)] if large else [phase_a, phase_b]
    first = phases[0].first
    packets = np.sum([phase.packets() for phase in phases], axis=0)
    time_s = np.full(len(trips), sum(phase.time_s for phase in phases))
    if tcp == "tahoe":  # the slow start before
        packets += first
        doubling_s = trips if reading == "printed" else min(delays_s)
        time_s += doubling_s * np.log2(np.maximum(1, first))
    return Sharing(
        shares=tuple(float(share) for share in packets / (mu * time_s)),
        first_windows=tuple(float(window) for window in first),
        a_s=0.0 if large else phase_a.time_s,
        b_s=phases[-1].time_s,
        large_buffer=large,
    )
