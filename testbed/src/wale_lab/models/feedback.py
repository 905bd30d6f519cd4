# SPDX-License-Identifier: GPL-2.0
"""The rate that a sender learns if announcements are averaged, rounded and lost.

Karnik and Kumar (2005) assume that the exact rate arrives, one round trip later.  Here a
network announces its rate at given instants, and each announcement goes through these steps:

1. average   the mean rate over the last window, instead of the rate at the instant;
2. quantise  the highest level of a logarithmic scale that is not above it;
3. lose      it may not arrive; the sender then uses the last one that did.

Scale and window are those of SCONE; wale_lab.models.scone names the draft and has its numbers.
Section "Rate Signals": 7 bits, of which n = 0 .. 126 mean 100 kbit/s * 10^(n / 20).  Section
"Monitoring Period": the advice applies to 67 s.  The draft leaves open how a network rounds: down,
here, because it announces a ceiling.  Its lowest level is also the lowest announcement; and in
the draft advice that is not renewed ends after 67 s, where here it stays in effect.

Times are ns since the start of the rate, rates are whole bytes/s, both as numpy arrays.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from wale_lab.models.scone import HIGHEST_SIGNAL, LOWEST_RATE, SIGNALS_PER_DECADE
from wale_lab.models.streams import FIRST_OF_USER_SPACE, Stream

Numbers = NDArray[numpy.int64]


class Purpose(enum.IntEnum):
    """The purpose of a stream; none is a link's, nor one of arrivals."""

    ANNOUNCEMENTS = FIRST_OF_USER_SPACE + 2


@dataclass(frozen=True)
class Steps:
    """A rate in steps: rates[i] bytes/s from starts_ns[i] on, the first from 0 on."""

    starts_ns: Numbers
    rates: Numbers
    period_ns: int | None = None  # then all again; None: the last rate holds for ever

    def at(self, times_ns: Numbers) -> Numbers:
        """Return the rate at some times; at a step, the new one."""
        return self.rates[self._index(self._within(times_ns))]

    def mean(self, from_ns: Numbers, to_ns: Numbers) -> NDArray[numpy.float64]:
        """Return the mean rate over some spans of time, in bytes/s; none may be empty."""
        return (self._bytes_until(to_ns) - self._bytes_until(from_ns)) / (to_ns - from_ns)

    def _within(self, times_ns: Numbers) -> Numbers:
        return times_ns if self.period_ns is None else times_ns % self.period_ns

    def _index(self, times_ns: Numbers) -> NDArray[numpy.intp]:
        return numpy.searchsorted(self.starts_ns, times_ns, side="right") - 1

    def _bytes_until(self, times_ns: Numbers) -> NDArray[numpy.float64]:
        """Return the integral of the rate from 0 to some times, in 10^-9 bytes."""
        rates = self.rates.astype(numpy.float64)
        until_next = numpy.cumsum(rates[:-1] * numpy.diff(self.starts_ns))
        until_start = numpy.concatenate([[0], until_next])
        within = self._within(times_ns)
        index = self._index(within)
        result = until_start[index] + rates[index] * (within - self.starts_ns[index])
        if self.period_ns is not None:
            last = self.period_ns - self.starts_ns[-1]
            result += times_ns // self.period_ns * (until_start[-1] + rates[-1] * last)
        return result


def average(steps: Steps, times_ns: Numbers, window_ns: int) -> Numbers:
    """Return the mean rate over the window before each time, to a byte/s.

    Before a whole window has passed, it is the mean since 0; and at 0, the rate itself.
    """
    begun = times_ns > 0
    told = steps.at(times_ns)
    ends = times_ns[begun]
    told[begun] = numpy.rint(steps.mean(numpy.maximum(ends - window_ns, 0), ends))
    return told


def levels(per_decade: int) -> Numbers:
    """Return the rates that can be told, from 100 kbit/s to SCONE's highest at the most."""
    n = numpy.arange(HIGHEST_SIGNAL * per_decade // SIGNALS_PER_DECADE + 1)
    return numpy.floor(LOWEST_RATE * 10.0 ** (n / per_decade)).astype(numpy.int64)


def quantise(rates: Numbers, levels_per_decade: int) -> Numbers:
    """Return for each rate the highest level that is not above it, or the lowest level."""
    scale = levels(levels_per_decade)
    index = numpy.searchsorted(scale, rates, side="right") - 1
    return scale[numpy.maximum(index, 0)]


def lose(announcements: Numbers, probability: float, seed: int) -> Numbers:
    """Return the known rate after each announcement: the last one that arrived.

    Each is lost independently, but for the first: a sender is told something to begin with.
    Which are lost follows from the seed; what is lost with one probability is lost with
    any higher one, too.
    """
    uniform = (Stream(seed, Purpose.ANNOUNCEMENTS).draws64(len(announcements)) >> 11) * 2.0**-53
    number = numpy.arange(len(announcements))
    last_arrived = numpy.maximum.accumulate(numpy.where(uniform < probability, 0, number))
    return announcements[last_arrived]


def announce(
    steps: Steps,
    times_ns: Numbers,
    seed: int,
    *,
    window_ns: int | None = None,
    levels_per_decade: int | None = None,
    loss: float = 0.0,
) -> Numbers:
    """Return the rate that the sender uses from each time on, after all three steps."""
    told = steps.at(times_ns) if window_ns is None else average(steps, times_ns, window_ns)
    if levels_per_decade is not None:
        told = quantise(told, levels_per_decade)
    return lose(told, loss, seed)


def changes(told: Numbers) -> NDArray[numpy.intp]:
    """Return the numbers of those that say something new, the first among them."""
    return numpy.flatnonzero(numpy.diff(told, prepend=told[0] - 1))
