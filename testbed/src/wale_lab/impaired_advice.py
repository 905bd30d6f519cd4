# SPDX-License-Identifier: GPL-2.0
"""Imperfect advice: the steps that represent a link's rate as a poor channel announces it.

The rate of a link with sessions or a trace depends only on its settings and its seed, so the
announcements are known before the run (models/feedback.py), and are played.
"""

from __future__ import annotations

import numpy

from wale_lab import units
from wale_lab.advice import Advice
from wale_lab.link import Link
from wale_lab.models import feedback
from wale_lab.models.sessions import walk_array
from wale_lab.timeline import LEAD_NS

#: In virtual time links begin so long before the flows, to which steps are relative.
_LEAD_NS = LEAD_NS["virtual"]


def link_rate(link: Link, seed: int, until_ns: int) -> feedback.Steps:
    """The rate of a link with sessions or a trace, from its start until a time at least."""
    if link.sessions:
        assert isinstance(link.rate, int)
        states = walk_array(link.sessions.chain(), seed, until_ns // link.sessions.step + 1)
        starts_ns = numpy.arange(len(states)) * link.sessions.step
        return feedback.Steps(starts_ns, link.rate // 8 // (states + 1))
    assert link.trace
    durations, rates = zip(*link.trace.rates(link.rate), strict=True)
    starts_ns = numpy.cumsum([0, *durations])
    rates_Bps = numpy.array([*(int(rate) // 8 for rate in rates), 0])
    if link.trace.end == "stop":
        return feedback.Steps(starts_ns, rates_Bps)
    period_ns = int(starts_ns[-1]) if link.trace.end == "loop" else None
    return feedback.Steps(starts_ns[:-1], rates_Bps[:-1], period_ns)


def impaired(advice: Advice, link: Link, seed: int, until_ns: int) -> Advice:
    """Advice with `impair`, as steps from the scenario's start to a time after it.

    `seed` is that of the link.  What is told is the link's rate: a sender divides it by its
    own flows, and reads it one round trip late unless the advice says otherwise.
    """
    impair = advice.impair
    assert impair
    times_ns = numpy.arange(0, until_ns + _LEAD_NS + 1, impair.interval)
    rate = link_rate(link, seed, until_ns + _LEAD_NS)
    layer, _ = units.split_overhead(link.overhead)
    told = feedback.announce(
        rate,
        times_ns,
        seed,
        window_ns=impair.average,
        levels_per_decade=impair.levels_per_decade,
        loss=impair.loss,
    )
    kept = feedback.changes(told)
    return advice.merged_with(
        Advice.model_construct(
            steps=_steps(times_ns[kept], told[kept], until_ns),
            meaning="link",
            layer="ip" if layer == "raw" else layer,
            lag=advice.lag or "rtt",
        )
    )


def _steps(
    times_ns: feedback.Numbers, rates_Bps: feedback.Numbers, until_ns: int
) -> list[tuple[int, int | str]]:
    """Durations and rates in bit/s from the scenario's start on, of times on the link's clock."""
    starts_ns = numpy.maximum(times_ns - _LEAD_NS, 0)
    durations = numpy.diff(starts_ns, append=max(until_ns, int(starts_ns[-1]) + 1))
    steps = zip(durations.tolist(), (rates_Bps * 8).tolist(), strict=True)
    return [(duration, rate) for duration, rate in steps if duration]
