# SPDX-License-Identifier: GPL-2.0
"""The model of a link's impairments: what it draws has the distributions that were asked for.

The link draws the same, packet by packet: selftests/impair.py.  All seeds are fixed.
"""

from __future__ import annotations

import math
from itertools import groupby

import numpy
import pytest

from wale_lab.models.impair import (
    ALWAYS,
    ONE,
    Again,
    FourStates,
    Gemodel,
    Independent,
    IndependentLosses,
    Losses,
    Settings,
    fates,
    jitter_offset,
)
from wale_lab.models.link import Config, Link
from wale_lab.models.streams import Purpose, Stream

MS = 10**6
COUNT = 40_000
PERCENT = ONE // 100
#: 1 in 1000 of samples from the distribution have a larger Kolmogorov-Smirnov distance.
KS = 1.95


def _lost(model: Gemodel | FourStates, seed: int = 1) -> numpy.ndarray:
    losses = Losses(model, seed)
    return numpy.array([losses.next() for _ in range(COUNT)])


def _distance(sample: list[int], quantiles: list[float]) -> float:
    """Return the Kolmogorov-Smirnov distance of a sample to equally likely values, scaled."""
    points = numpy.unique(numpy.concatenate([sample, quantiles]))
    of_sample = numpy.searchsorted(numpy.sort(sample), points, "right") / len(sample)
    expected = numpy.searchsorted(numpy.sort(quantiles), points, "right") / len(quantiles)
    return float(numpy.abs(of_sample - expected).max() * math.sqrt(len(sample)))


def _stationary(matrix: list[list[float]]) -> numpy.ndarray:
    size = len(matrix)
    equations = numpy.vstack([numpy.array(matrix).T - numpy.eye(size), numpy.ones(size)])
    right = numpy.append(numpy.zeros(size), 1)
    return numpy.linalg.lstsq(equations, right, rcond=None)[0]


@pytest.mark.parametrize("correlation", [0.25, 0.9])
def test_correlated_draws_keep_their_distribution(correlation: float) -> None:
    """Uniform whatever the correlation, which is corr^k from one draw to the k-th after it."""
    own = Stream(3, Purpose.JITTER)
    again = Again(3, Purpose.JITTER_AGAIN, round(correlation * ONE))
    draws = numpy.array([again.draw(own.draw64(n)) / 2**64 for n in range(COUNT)])
    # as many of them are independent as there would be with this variance of the mean
    thinned = draws[:: math.ceil((1 + correlation) / (1 - correlation))]
    steps = (numpy.arange(1000) + 0.5) / 1000
    assert _distance(list(thinned), list(steps)) < KS
    for k in (1, 2, 5):
        measured = numpy.corrcoef(draws[:-k], draws[k:])[0, 1]
        assert measured == pytest.approx(correlation**k, abs=0.03)


@pytest.mark.parametrize("correlation", [0.25, 0.9])
def test_correlated_losses_keep_their_share(correlation: float) -> None:
    """The share of losses is exact; netem's falls with the correlation."""
    share = 0.1
    losses = IndependentLosses(Independent(round(share * ONE), round(correlation * ONE)), 5)
    lost = numpy.array([losses.next() for _ in range(COUNT)])
    spread = (1 + correlation) / (1 - correlation)
    deviation = math.sqrt(spread * share * (1 - share) / COUNT)
    assert abs(lost.mean() - share) < 3.3 * deviation
    # a burst ends when a packet has a draw of its own that is no loss
    bursts = [len(list(run)) for is_lost, run in groupby(lost) if is_lost]
    expected = 1 / ((1 - correlation) * (1 - share))
    assert numpy.mean(bursts) == pytest.approx(expected, rel=0.1)


def test_jitter_between_two_ns_is_rounded_up() -> None:
    """As Documentation/sch_wale-impair.rst says."""
    for entry, ns in ((4096, 1), (-4096, 0), (12288, 2), (-12288, -1), (4095, 0), (-4097, -1)):
        assert jitter_offset(1, (entry,), 0) == ns


def test_gemodel_without_r_is_independent() -> None:
    lost = _lost(Gemodel(5 * PERCENT, ONE - 5 * PERCENT))
    assert abs(lost.mean() - 0.05) < 4 * math.sqrt(0.05 * 0.95 / COUNT)
    both = (lost[1:] & lost[:-1]).mean()
    assert abs(both - 0.05**2) < 4 * math.sqrt(0.05**2 / COUNT)


def test_bursts_of_the_simple_gilbert_model_are_geometric() -> None:
    lost = _lost(Gemodel(2 * PERCENT, 25 * PERCENT))
    lengths = [len(list(run)) for is_lost, run in groupby(lost) if is_lost]
    assert abs(numpy.mean(lengths) - 4) < 4 * math.sqrt(12 / len(lengths))
    quantiles = [math.ceil(math.log(1 - (k + 0.5) / 5000, 0.75)) for k in range(5000)]
    assert _distance(lengths, quantiles) < KS
    gaps = [len(list(run)) for is_lost, run in groupby(lost) if not is_lost]
    assert abs(numpy.mean(gaps) - 50) < 4 * math.sqrt(50 * 49 / len(gaps))


def test_gilbert_elliott_loses_in_both_states() -> None:
    lost = _lost(Gemodel(2 * PERCENT, 25 * PERCENT, 60 * PERCENT, 3 * PERCENT))
    bad = 2 / 27
    share = 0.6 * bad + 0.03 * (1 - bad)
    correlation = 1 + 2 * 0.73 / 0.27
    assert abs(lost.mean() - share) < 4 * math.sqrt(correlation * share / COUNT)


def test_four_states_have_their_stationary_share() -> None:
    p13, p31, p32, p23, p14 = 0.03, 0.1, 0.3, 0.4, 0.02
    numbers = [round(ONE * p) for p in (p13, p31, p32, p23, p14)]
    lost = _lost(FourStates(*numbers))
    stationary = _stationary(
        [
            [1 - p13 - p14, 0, p13, p14],
            [0, 1 - p23, p23, 0],
            [p31, p32, 1 - p31 - p32, 0],
            [1, 0, 0, 0],
        ]
    )
    share = float(stationary[2] + stationary[3])
    # states are correlated over some 1 / (p31 + p13) packets
    assert abs(lost.mean() - share) < 4 * math.sqrt(20 * share * (1 - share) / COUNT)
    alone = sum(1 for is_lost, run in groupby(lost) if is_lost and len(list(run)) == 1)
    assert alone > COUNT * float(stationary[3]) / 2


@pytest.mark.parametrize("table", [(), (-8192, 0, 8192), tuple(range(-4000, 12_000, 7))])
def test_jitter_has_the_distribution_of_its_table(table: tuple[int, ...]) -> None:
    stream = Stream(7, Purpose.JITTER)
    sample = [jitter_offset(MS, table, stream.draw64(n)) for n in range(20_000)]
    uniform = [2 * MS * (k + 0.5) / 5000 - MS for k in range(5000)]
    quantiles = [round(entry * MS / 8192) for entry in table] or uniform
    assert _distance(sample, quantiles) < KS


def test_jitter_does_not_reorder_unless_asked() -> None:
    served = Link(Config()).run([(n * MS, 100) for n in range(2000)])
    for reordering in (False, True):
        settings = Settings(seed=3, delay_ns=9 * MS, jitter_ns=8 * MS, reordering=reordering)
        departures = [fate.departures_ns[0] for fate in fates(served, settings) if fate]
        assert (departures == sorted(departures)) != reordering
        ends = [packet.completion_ns or 0 for packet in served]
        waits = [d - e for d, e in zip(departures, ends, strict=True)]
        assert min(waits) >= MS
        if reordering:
            assert max(waits) <= 17 * MS


def test_shares() -> None:
    served = Link(Config()).run([(n * MS, 100) for n in range(COUNT)])
    settings = Settings(
        seed=5, reorder=10 * PERCENT, duplicate=20 * PERCENT, corrupt=30 * PERCENT, delay_ns=MS
    )
    found = [fate for fate in fates(served, settings) if fate]
    shares = {
        0.1: sum(f.departures_ns[0] == p.completion_ns for f, p in zip(found, served, strict=True)),
        0.2: sum(f.copies == 2 for f in found),
        0.3: sum(f.bit is not None for f in found),
    }
    for share, count in shares.items():
        assert abs(count / COUNT - share) < 4 * math.sqrt(share * (1 - share) / COUNT)
    bits = [f.bit for f in found if f.bit is not None]
    assert _distance(bits, [ONE * (k + 0.5) / 5000 for k in range(5000)]) < KS


def test_slots_have_room_for_so_many() -> None:
    served = Link(Config()).run([(n * MS, 100 + n % 1400) for n in range(5000)])
    settings = Settings(seed=6, slot=(5 * MS, 9 * MS, 4, 3000))
    departures = [fate.departures_ns[0] for fate in fates(served, settings) if fate]
    lengths = iter(packet.wire_len for packet in served)
    slots = [(at, [next(lengths) for _ in run]) for at, run in groupby(departures)]
    assert all(len(inside) <= 4 and sum(inside) <= 3000 for _, inside in slots)
    between = numpy.diff([at for at, _ in slots])
    assert between.min() >= 5 * MS
    assert between.max() <= 9 * MS  # never idle: packets come faster than they leave


def test_always_is_certain() -> None:
    assert _lost(Gemodel(ALWAYS, 0)).all()
    assert not _lost(Gemodel(0, 0)).any()
