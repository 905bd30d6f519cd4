# SPDX-License-Identifier: GPL-2.0
"""The metrics of an evaluation, and its verdicts, against numbers worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from wale_lab.evaluation import metrics
from wale_lab.evaluation.judge import Margin, beside_deployed, compare, mean_interval

TIMES = np.arange(10.0)


def test_throughput_is_that_of_the_window() -> None:
    assert metrics.throughput(np.array([0.0, 10]), np.array([0.0, 100]), 2, 4) == 10
    with pytest.raises(ValueError, match="an end after 4 s"):
        metrics.throughput(TIMES, TIMES, 4, 4)


def test_jain() -> None:
    assert metrics.jain([5, 5, 5, 5]) == 1
    assert metrics.jain([1, 0, 0, 0]) == 0.25
    assert metrics.jain([0, 0]) == 1  # nobody has more than another
    over = metrics.jain_over_time([np.array([1.0, 1]), np.array([1.0, 0])])
    assert list(over) == [1, 0.5]


@pytest.mark.parametrize(
    ("index", "since", "expected"),
    [
        ([1.0] * 10, 0, 0),
        ([0.5, 0.5, 0.5, *[1.0] * 7], 0, 3),
        ([0.5, 0.5, 0.5, *[1.0] * 7], 2, 1),
        ([0.5, 1, 0.5, *[1.0] * 7], 0, 3),  # it has to last
        ([0.5] * 10, 0, 9),  # never: until the end
        ([*[0.5] * 9, 1.0], 0, 9),
    ],
)
def test_convergence(index: list[float], since: float, expected: float) -> None:
    assert metrics.convergence_time(TIMES, np.array(index), since) == expected


def test_recovery() -> None:
    rate = np.array([10.0, 10, 0, 0, 5, 8, 9, 10, 10, 10])
    assert metrics.recovery_time(TIMES, rate, 2, 10) == 3
    assert metrics.recovery_time(TIMES, rate, 2, 100) == 7  # never


def test_harm_is_a_share_in_both_directions() -> None:
    assert metrics.harm(20, 5, True) == 0.75
    assert metrics.harm(10, 40, False) == 0.75
    assert metrics.harm(10, 12, True) == pytest.approx(-0.2)  # better off
    assert metrics.harm(0, 0, True) == metrics.harm(0, 0, False) == 0


def test_starvation() -> None:
    assert metrics.least_share([1, 9], 5) == 0.2
    rates = [np.array([5.0, 0.1, 5, 0.1]), np.array([5.0, 9.9, 5, 9.9])]
    assert metrics.starved_time(rates, 5) == 0.5
    assert metrics.starved_time(rates, 1) == 0


def test_the_others() -> None:
    assert metrics.variation(np.array([5.0, 5])) == 0
    assert metrics.variation(np.array([0.0, 10])) == 1
    assert metrics.utilisation(120, 100) == 1
    assert metrics.utilisation(50, 100) == 0.5
    assert metrics.retransmitted_share(0, 0) == 0
    assert metrics.retransmitted_share(1, 4) == 0.25
    found = metrics.by_size([(10, 1.0), (100, 2.0), (99, 3.0)], [0, 100, 1000])
    assert dict(found) == {(0, 100): [1.0, 3.0], (100, 1000): [2.0]}
    with pytest.raises(ValueError, match="there are none"):
        metrics.percentile(np.array([]), 50)


def test_an_interval_is_students() -> None:
    found = mean_interval([1, 2, 3])
    assert (found.mean, found.half) == (2, pytest.approx(4.302653 / 3**0.5))
    assert mean_interval([1.0]).half == math.inf
    assert mean_interval([4.0, 4, 4]).half == 0


@pytest.mark.parametrize(
    ("ours", "better", "margin", "verdict", "settled"),
    [
        ([10, 11, 12], "lower", Margin(0), "like", False),  # the same
        ([20, 21, 22], "lower", Margin(1), "worse", True),
        ([20, 21, 22], "higher", Margin(1), "better", True),
        ([20, 21, 22], "higher", Margin(20), "like", True),  # nobody cares
        ([10.5, 11.5, 12.5], "lower", Margin(0.1, relative=True), "like", True),
        ([12.5, 13.5, 14.5], "lower", Margin(0.1, relative=True), "worse", True),
        ([0, 30, 12], "lower", Margin(1), "like", False),  # the interval is wide
    ],
)
def test_verdicts(
    ours: list[float], better: Any, margin: Margin, verdict: str, settled: bool
) -> None:
    found = compare(ours, [10, 11, 12], better, margin)
    assert found.verdict == verdict
    assert found.settled == settled or ours == [10, 11, 12]


def test_pairs_of_seeds_tell_apart_what_means_do_not() -> None:
    """Seeds differ by much, the controls by little, but always by the same."""
    theirs = [10.0, 50, 90]
    assert compare([11.0, 51, 91], theirs, "lower", Margin(0.5)).verdict == "worse"


def test_against_all_that_is_deployed() -> None:
    assert beside_deployed(["worse", "worse"]) == "worse"
    assert beside_deployed(["worse", "like"]) == beside_deployed(["worse", "better"]) == "like"
    assert beside_deployed(["better"]) == "better"
    assert beside_deployed([]) is None
