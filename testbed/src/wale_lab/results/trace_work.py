# SPDX-License-Identifier: GPL-2.0
"""What a link with a trace can send from one time to another."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from wale_lab.link import Trace


class TraceWork:
    """The integral of a trace's rate; times are seconds of the scenario."""

    def __init__(self, trace: Trace, rate: int | str, start_s: float) -> None:
        """`start_s` is when the trace began; before that, its rate is that of the first step.

        `rate` is that of steps which have none."""
        self.start_s, self.end = start_s, trace.end
        steps = trace.rates(rate)
        durations = [duration / 1e9 for duration, _ in steps]
        self.rates_bps = [int(rate) for _, rate in steps]
        self.ends_s = list(accumulate(durations))
        done = accumulate(d * r for d, r in zip(durations, self.rates_bps, strict=True))
        self.bits = [0.0, *done]  # at the begin of each step, and at the end of the last

    def bits_until(self, t_s: float) -> float:
        """The bits from the start of the trace on; below 0 before it."""
        t_s -= self.start_s
        if t_s < 0:
            return t_s * self.rates_bps[0]
        rounds, length = 0.0, self.ends_s[-1]
        if self.end == "loop":
            rounds, t_s = divmod(t_s, length)
        step = bisect_right(self.ends_s, t_s)
        if step == len(self.ends_s):
            after = self.rates_bps[-1] if self.end == "hold" else 0
            return self.bits[-1] * (rounds + 1) + (t_s - length) * after
        begun_s = self.ends_s[step - 1] if step else 0.0
        return rounds * self.bits[-1] + self.bits[step] + (t_s - begun_s) * self.rates_bps[step]

    def mean_bps(self, t0_s: float, t1_s: float) -> float:
        """The mean rate between two times."""
        return (self.bits_until(t1_s) - self.bits_until(t0_s)) / max(t1_s - t0_s, 1e-9)

    def changes(self, until_s: float, most: int) -> list[float] | None:
        """The times from 0 to another at which the rate may change; None if they are too many."""
        length = self.ends_s[-1]
        rounds = 1
        if self.end == "loop":
            rounds = max(int((until_s - self.start_s) / length) + 1, 1)
        if rounds * len(self.ends_s) > most:
            return None
        begins = [self.start_s + n * length for n in range(rounds)]
        times = {begin + end for begin in begins for end in (0.0, *self.ends_s)}
        return sorted(time for time in times if 0 < time < until_s)
