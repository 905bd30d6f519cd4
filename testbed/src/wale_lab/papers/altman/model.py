# SPDX-License-Identifier: GPL-2.0
"""The throughput of a Tahoe connection beside traffic that nobody controls.

E. Altman, F. Boccara, J. Bolot, P. Nain, P. Brown, D. Collange and C. Fenzy, "Analysis of the
TCP/IP Flow Control in High-Speed Wide-Area Networks", INRIA and CNET, 1995.  Equation numbers in
this file are theirs.

A bottleneck serves mu packets/s and has a buffer of B packets.  Exogenous packets come at a
constant rate lambda < mu, whatever happens.  The connection's window W grows by one with an ACK in
slow start (SS), by 1 / W in congestion avoidance (CA), and falls to 1 after a loss, with half of
the last window as the threshold.  tau is a round trip without queue and service, T = tau + 1 / mu.
Windows and buffers are in packets, times in seconds (or both in services, with mu = 1).

Two readings:

printed
    Theorem 1 as it stands, but for the bracket in N_3 of (9), without which the throughput is
    more than twice what can be.  It has one slow start in a cycle, always.
    The buffer of (2) is B packets and the one in service, as that of the studies' link.
reproducing
    What gives the table of section 4: within 0.1 % with one slow start, 2.7 % with two.
    * W_max = (B / mu + tau) (mu - lambda), which is (2) less one packet: that in service is one
      of the B;
    * where (21) says that slow start overflows the buffer, there are two slow starts, with
      doublings of T, the second from a threshold of min(W_b - 1, W_th / 2), after a T in which
      the loss is detected: what Lakshman and Madhow have (lakshman_madhow/model.py).  The paper
      leaves that derivation to a manuscript.

Misprints, and what is left open:

* N_3 of (9): (W_max^2 - (T (mu - lambda))^2) / 2.
* dW / dt of (17), with a queue in CA: (mu - lambda) / W, as (18) has it.
* The proof has N_1 = T (mu - lambda); (4) takes off the packet of the first window, as here.
* log is the natural one: base 2 makes the throughput of section 4 smaller by 3 to 6 %.
* Where T (mu - lambda) is below 1, the logarithm of (4) is negative; a window is at least 1,
  and the queue begins at once: T_1 = N_1 = 0 (Fig. 4 at small tau and large lambda).
* Remark 2 has the lost packet found by a timer, and a window sent in the meantime.  It is not
  what the table has: 5 to 7 % more.
* The mean round trips of cases 1 and 3, 0.47 s and 1.93 s, are below tau + 1 / mu, which none can
  be.
* The text does not say for which lambda Figs. 4 and 5 are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

READINGS = ("printed", "reproducing")


@dataclass(frozen=True)
class Link:
    """A bottleneck that exogenous traffic shares; ValueError if a value is out of range."""

    rate_packets_per_s: float
    """mu"""
    exogenous_packets_per_s: float
    """lambda"""
    delay_s: float
    """tau"""
    buffer_packets: float
    """B"""

    def __post_init__(self) -> None:
        for name in ("rate_packets_per_s", "delay_s", "buffer_packets"):
            value = getattr(self, name)
            if not (_is_number(value) and value > 0):
                raise ValueError(f"{name}: expected a number above 0, got {value!r}")
        given = self.exogenous_packets_per_s
        if not (_is_number(given) and 0 <= given < self.rate_packets_per_s):
            raise ValueError(
                "exogenous_packets_per_s: expected 0 to below the rate of "
                f"{self.rate_packets_per_s:g}, got {given!r}"
            )
        if largest_window(self) / 2 < 1:
            raise ValueError(
                "delay_s, buffer_packets and exogenous_packets_per_s: expected room for a window "
                "of two packets beside the exogenous traffic, "
                f"got {largest_window(self):.3g}"
            )

    @property
    def round_trip_s(self) -> float:
        """T = tau + 1 / mu."""
        return self.delay_s + 1 / self.rate_packets_per_s

    @property
    def available_packets_per_s(self) -> float:
        """mu - lambda."""
        return self.rate_packets_per_s - self.exogenous_packets_per_s

    @property
    def pipe_packets(self) -> float:
        """T (mu - lambda): the window that leaves no rate, and no queue."""
        return self.round_trip_s * self.available_packets_per_s

    @property
    def beta(self) -> float:
        """B / ((mu - lambda) tau), the normalized buffer."""
        return self.buffer_packets / (self.available_packets_per_s * self.delay_s)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _check_reading(reading: str) -> None:
    if reading not in READINGS:
        raise ValueError(f"reading: expected {' or '.join(READINGS)}, got {reading!r}")


def largest_window(link: Link, reading: str = "reproducing") -> float:
    """W_max, (2): packets, at the end of CA."""
    _check_reading(reading)
    mu, available = link.rate_packets_per_s, link.available_packets_per_s
    window = (link.buffer_packets / mu + link.delay_s) * available
    if reading == "printed":  # T for tau, and lambda / mu: one packet more
        window += available / mu + link.exogenous_packets_per_s / mu
    return window


def shared_rates(link: Link, entering_packets_per_s: float) -> tuple[float, float]:
    """thp_out and lambda_out, (15): a queue shares the link by what comes in."""
    if not entering_packets_per_s > 0:
        raise ValueError(f"expected a rate above 0, got {entering_packets_per_s!r}")
    mu, exogenous = link.rate_packets_per_s, link.exogenous_packets_per_s
    total = entering_packets_per_s + exogenous
    return mu * entering_packets_per_s / total, mu * exogenous / total


def throughput_at(link: Link, window: float, threshold: float) -> float:
    """thp_out, (14) and (16), in packets/s: W / T without a queue, else by the phase."""
    if window <= link.pipe_packets:
        return window / link.round_trip_s
    exogenous = link.exogenous_packets_per_s
    return link.rate_packets_per_s - (exogenous / 2 if window < threshold else exogenous)


def window_growth(link: Link, window: float, threshold: float) -> float:
    """dW / dt, (13) with (14) and (16), which are (17) and (18): packets per second."""
    rate = throughput_at(link, window, threshold)
    return rate if window < threshold else rate / window


def slow_start_window(link: Link, time_s: float) -> float:
    """W(t) = exp(t / T), (20): packets, in SS without a queue."""
    return math.exp(time_s / link.round_trip_s)


def overflow_window(link: Link) -> float:
    """W_b = (2 mu - lambda) B / mu: the window at which SS overflows the buffer."""
    mu = link.rate_packets_per_s
    return (2 * mu - link.exogenous_packets_per_s) * link.buffer_packets / mu


def has_two_slow_starts(link: Link) -> bool:
    """Tell whether SS overflows the buffer, (21): beta <= 1 / (3 - lambda / mu)."""
    return link.beta <= 1 / (3 - link.exogenous_packets_per_s / link.rate_packets_per_s)


class Phase(NamedTuple):
    """A part of the cycle."""

    time_s: float
    """T_i"""
    packets: float
    """N_i"""
    window_s: float
    """integral of the window over time"""


def theorem_1(link: Link, largest: float, threshold: float) -> tuple[Phase, Phase, Phase]:
    """T_i and N_i of (4)-(9), from a window of 1 on; the SS threshold is W_th in the paper.

    Raises ValueError if not 1 <= threshold <= largest.
    """
    if not 1 <= threshold <= largest:
        raise ValueError(f"expected 1 <= threshold <= {largest:g}, got {threshold!r}")
    trip, pipe, available = link.round_trip_s, link.pipe_packets, link.available_packets_per_s
    if pipe < threshold:  # (i)
        begin = max(1.0, pipe)
        time_2 = (threshold - begin) / (link.rate_packets_per_s - link.exogenous_packets_per_s / 2)
        middle = Phase(time_2, threshold - begin, (begin + threshold) / 2 * time_2)
        queue_from = threshold
    else:  # (ii)
        begin = threshold
        time_2 = trip * (pipe - threshold)
        packets_2 = time_2**2 / (2 * trip**2) + threshold * time_2 / trip
        middle = Phase(time_2, packets_2, trip * packets_2)
        queue_from = pipe
    first = Phase(trip * math.log(begin), begin - 1, trip * (begin - 1))
    squares, cubes = largest**2 - queue_from**2, largest**3 - queue_from**3
    return first, middle, Phase(squares / (2 * available), squares / 2, cubes / (3 * available))


def _two_slow_starts(link: Link) -> list[Phase]:
    """Return both slow starts, the detection between them, and Theorem 1's other phases."""
    trip, largest = link.round_trip_s, largest_window(link)
    overflow = overflow_window(link)
    threshold = max(1.0, min(overflow - 1, largest / 4))
    phases = [
        Phase(trip * math.log2(window), window, trip * (window - 1) / math.log(2))
        for window in (max(1.0, overflow), threshold)
    ]
    detection = Phase(trip, 0.0, trip * overflow)
    return [*phases, detection, *theorem_1(link, largest, threshold)[1:]]


class Analysis(NamedTuple):
    """What the analysis says of a connection."""

    throughput_packets_per_s: float
    """thp of (3)"""
    available_fraction: float
    """throughput over mu - lambda: Figs. 4 and 5"""
    mean_round_trip_s: float
    """mean window over throughput: Little's law"""
    cycles_per_s: float
    slow_starts: int
    """in a cycle"""
    largest_window: float
    """W_max"""
    overflow_window: float
    """W_b"""


def analyse(
    link: Link,
    reading: str = "reproducing",
    timeout_s: float | None = None,
    slow_starts: int | None = None,
) -> Analysis:
    """Analyse a connection; `timeout_s` is the rto of Remark 2, else losses are seen at once.

    `slow_starts` is 1 for Theorem 1 alone, as in Figs. 4 and 5; by default it follows the
    reading.  Raises ValueError for bad arguments.
    """
    _check_reading(reading)
    if slow_starts not in (None, 1):
        raise ValueError(f"slow_starts: expected 1 or nothing, got {slow_starts!r}")
    if timeout_s is not None and not (_is_number(timeout_s) and timeout_s >= 0):
        raise ValueError(f"timeout_s: expected a time from 0 on, got {timeout_s!r}")
    largest = largest_window(link, reading)
    two = reading == "reproducing" and slow_starts is None and has_two_slow_starts(link)
    phases = _two_slow_starts(link) if two else list(theorem_1(link, largest, largest / 2))
    if timeout_s is not None:  # Remark 2
        phases.append(Phase(timeout_s, largest, largest * timeout_s))
    time_s, packets, window_s = (sum(values) for values in zip(*phases, strict=True))
    rate = packets / time_s
    return Analysis(
        throughput_packets_per_s=rate,
        available_fraction=rate / link.available_packets_per_s,
        mean_round_trip_s=window_s / packets,
        cycles_per_s=1 / time_s,
        slow_starts=2 if two else 1,
        largest_window=largest,
        overflow_window=overflow_window(link),
    )


def study_value(
    measure: str,
    x: float | str,
    cases: Mapping[str, Mapping[str, float]] | None = None,
    of: str = "exogenous_packets_per_s",
    reading: str = "reproducing",
    slow_starts: int | None = None,
    **link: float,
) -> float:
    """Return what a study measures (results/measures.py), computed; ValueError for other measures.

    x is a case, for whose link `cases` has the values, or that field of Link that `of` names.
    """
    values = {**link, of: float(x)} if cases is None else dict(cases[str(x)])
    found = analyse(Link(**values), reading, slow_starts=slow_starts)
    measures = {
        "throughput_packets_per_s": found.throughput_packets_per_s,
        "available_fraction": found.available_fraction,
        "mean_round_trip_s": found.mean_round_trip_s,
    }
    if measure not in measures:
        raise ValueError(f"measure: expected one of {', '.join(measures)}, got {measure!r}")
    return measures[measure]
