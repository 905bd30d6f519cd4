# SPDX-License-Identifier: GPL-2.0
"""The model of the link against hand-computed cases and against a naive twin."""

from __future__ import annotations

import math
import random
import re
from fractions import Fraction
from pathlib import Path

import numpy
import pytest

from wale_lab.models import arrivals, feedback, sessions, vectors
from wale_lab.models.link import Change, Config, Link, Overhead, Trace, TraceEnd, Verdict, counters
from wale_lab.models.streams import (
    FIRST_OF_USER_SPACE,
    KNOWN_ANSWER,
    KNOWN_SEED,
    Purpose,
    Stream,
    splitmix64,
)

TWO32 = 1 << 32
TABLE_I = [(0.0, 100.0), (0.05, 89.92), (0.1, 80.21), (0.2, 63.79), (0.5, 39.93)]
TABLE_I += [(1.0, 30.63), (2.0, 27.18)]


def test_splitmix64_known_answer() -> None:
    generator = splitmix64(KNOWN_SEED)
    assert tuple(next(generator) for _ in KNOWN_ANSWER) == KNOWN_ANSWER


def test_streams_are_splitmix64_from_their_key() -> None:
    stream = Stream(99, Purpose.SESSIONS)
    generator = splitmix64(stream.key)
    assert [stream.draw64(n) for n in range(9)] == [next(generator) for _ in range(9)]


def test_no_two_purposes_have_a_number() -> None:
    """Those of a link are the kernel's; one seed may serve a link, arrivals and announcements."""
    source = Path(__file__).parents[2] / "kmod/wale/wale_random.h"
    kernel = re.findall(r"WALE_PURPOSE_(\w+)\s*= (\d+),", source.read_text(encoding="ascii"))
    numbers = {name: int(number) for name, number in kernel}
    assert numbers.items() >= {purpose.name: purpose.value for purpose in Purpose}.items()
    assert max(numbers.values()) < FIRST_OF_USER_SPACE
    others = [*arrivals.Purpose, *feedback.Purpose]
    assert min(others) >= FIRST_OF_USER_SPACE
    assert len({purpose.value for purpose in others}) == len(others)


def test_vectors_are_what_the_models_give() -> None:
    for name, text in vectors.tables().items():
        assert (vectors.FOLDER / name).read_text(encoding="ascii") == text, name


@pytest.mark.parametrize(
    ("overhead", "ip_bytes", "wire_len"),
    [
        (Overhead.RAW, 40, 40),
        (Overhead.ETHERNET, 40, 84),
        (Overhead.ETHERNET, 46, 84),
        (Overhead.ETHERNET, 47, 85),
        (Overhead.ETHERNET, 1500, 1538),
        (Overhead.ATM, 32, 53),
        (Overhead.ATM, 33, 106),
        (Overhead.ATM, 40, 106),
        (Overhead.ATM, 1500, 32 * 53),
    ],
)
def test_overhead(overhead: Overhead, ip_bytes: int, wire_len: int) -> None:
    assert overhead.wire_length(ip_bytes) == wire_len


def test_constant_rate_keeps_the_fraction() -> None:
    link = Link(Config(rate=3 * 10**9, delay_ns=10))
    packets = link.run([(0, 1)] * 4)
    assert [packet.completion_ns for packet in packets] == [1, 1, 1, 2]
    assert [packet.departure_ns for packet in packets] == [11, 11, 11, 12]


def test_packet_in_service_ends_at_the_new_rate() -> None:
    link = Link(Config(rate=1000), [Change(500_000_000, {"rate": 2000})])
    assert link.run([(0, 1000)])[0].completion_ns == 750_000_000


def test_limit_counts_the_packet_in_service() -> None:
    link = Link(Config(rate=1000, limit_packets=2))
    arrivals = [0, 1, 2, 10**9 - 1, 10**9, 10**9]
    verdicts = [packet.verdict for packet in link.run([(t, 1000) for t in arrivals])]
    sent, full = Verdict.SENT, Verdict.BUFFER
    assert verdicts == [sent, sent, full, full, sent, full]


def test_limit_in_bytes_is_inclusive() -> None:
    link = Link(Config(rate=1000, limit_packets=None, limit_bytes=1500))
    verdicts = [p.verdict for p in link.run([(0, 1000), (0, 501), (0, 500), (0, 1)])]
    assert verdicts == [Verdict.SENT, Verdict.BUFFER, Verdict.SENT, Verdict.BUFFER]


def test_shorter_delay_does_not_reorder() -> None:
    link = Link(Config(delay_ns=1000), [Change(50, {"delay_ns": 10})])
    departures = [p.departure_ns for p in link.run([(0, 1), (60, 1), (2000, 1)])]
    assert departures == [1000, 1000, 2010]


@pytest.mark.parametrize(
    ("end", "completion_ns"),
    [(TraceEnd.LOOP, 45), (TraceEnd.HOLD, None), (TraceEnd.STOP, None)],
)
def test_trace_end(end: TraceEnd, completion_ns: int | None) -> None:
    trace = Trace(((10, 10**9), (10, 0)), end)
    link = Link(Config(), [Change(0, {"trace": trace})])
    assert link.run([(0, 25)])[0].completion_ns == completion_ns


def test_trace_hold_keeps_the_last_rate() -> None:
    trace = Trace(((10, 10**9), (10, 5 * 10**8)), TraceEnd.HOLD)
    link = Link(Config(), [Change(0, {"trace": trace})])
    assert link.run([(0, 25)])[0].completion_ns == 40


def test_lost_packets_use_buffer_and_service() -> None:
    link = Link(Config(rate=10**9, loss=1 << 31, seed=7))
    packets = link.run([(0, 100)] * 50)
    assert [p.completion_ns for p in packets] == [100 * (n + 1) for n in range(50)]
    stream = Stream(7, Purpose.LOSS)
    lost = [stream.draw32(n) < 1 << 31 for n in range(50)]
    assert [p.verdict is Verdict.LOSS for p in packets] == lost


def test_dropped_packets_draw_no_loss() -> None:
    config = Config(rate=10**9, loss=1 << 31, seed=7, limit_packets=1)
    some = Link(config).run([(100 * n, 100) for n in range(20)])
    more = Link(config).run([(100 * n + k, 100) for n in range(20) for k in (0, 1)])
    admitted = [p.verdict for p in more if p.verdict is not Verdict.BUFFER]
    assert admitted == [p.verdict for p in some]


def test_counters_add_up_at_every_instant() -> None:
    config = Config(rate=10**8, delay_ns=5000, loss=1 << 30, seed=3, limit_packets=5)
    packets = Link(config).run([(n * n * 3, 50 + n) for n in range(60)])
    for time_ns in range(0, 30_000, 7):
        count = counters(packets, time_ns)
        assert count["offered"] == sum(count.values()) - count["offered"]


def _naive(rates: list[int], packets: list[tuple[int, int]]) -> list[int | None]:
    """Serve byte/ns rates nanosecond by nanosecond, with exact fractions of one."""
    completions: list[int | None] = []
    free = Fraction(0)
    for arrival, length in packets:
        now = max(free, Fraction(arrival))
        left = Fraction(length)
        while left > 0 and now < len(rates):
            rate = rates[int(now)]
            edge = Fraction(int(now) + 1)
            if rate and now + left / rate <= edge:
                now += left / rate
                left = Fraction(0)
            else:
                left -= (edge - now) * rate
                now = edge
        free = now
        completions.append(math.ceil(now) if left == 0 else None)
    return completions


@pytest.mark.parametrize("seed", range(30))
def test_against_the_naive_twin(seed: int) -> None:
    rng = random.Random(seed)
    steps = [(rng.randint(1, 9), rng.randint(0, 7)) for _ in range(rng.randint(1, 8))]
    steps.append((5, 3))
    rates = [rate for duration, rate in steps for _ in range(duration)] * 60
    arrivals = sorted(rng.randint(0, 200) for _ in range(30))
    packets = [(time, rng.randint(1, 25)) for time in arrivals]
    trace = Trace(tuple((duration, rate * 10**9) for duration, rate in steps))
    link = Link(Config(), [Change(0, {"trace": trace})])
    assert [p.completion_ns for p in link.run(packets)] == _naive(rates, packets)


@pytest.mark.parametrize(("arrivals_per_s", "mean_rate"), TABLE_I)
def test_mean_fair_rate_of_table_one(arrivals_per_s: float, mean_rate: float) -> None:
    """The stationary mean of 100 kB/s / (M + 1), from the paper's parameters."""
    chain = sessions.Parameters(round(arrivals_per_s / 10 * TWO32), 20 * TWO32, 3, 10**8)
    assert 100 * sessions.mean_share(chain) == pytest.approx(mean_rate, abs=0.006)


def test_walk_follows_the_transition_matrix() -> None:
    chain = dict(vectors.chain_cases())["busy"]
    matrix = sessions.transition_matrix(chain)
    counts = numpy.zeros_like(matrix)
    walk = sessions.Chain(chain, 12345).walk()
    state = next(walk)
    for _ in range(200_000):
        following = next(walk)
        counts[state, following] += 1
        state = following
    for i, row in enumerate(counts):
        total = row.sum()
        if total < 1000:
            continue
        deviation = numpy.sqrt(total * matrix[i] * (1 - matrix[i])) + 1e-9
        assert numpy.all(numpy.abs(row - total * matrix[i]) < 5 * deviation), i


def test_refused_chains_have_no_law() -> None:
    too_many = sessions.Parameters(int(0.9 * TWO32), TWO32 // 2, 3, 10**6)
    assert not too_many.fits_walk()
    assert not too_many.is_valid()


def test_what_a_draw_of_the_sessions_means() -> None:
    """As Documentation/sch_wale.rst says: the arrival, one that leaves, two, and so on."""
    chain = sessions.Chain(sessions.Parameters(TWO32 // 50, 20 * TWO32, 3, 10**8), 1)
    cases = {
        0: [(0.019, 1), (0.021, 0)],
        2: [(0.0199, 3), (0.0201, 1), (0.0525, 1), (0.0526, 0), (0.0528, 2), (0.9, 2)],
        3: [(0.019, 3), (0.021, 2), (0.0563, 2), (0.0564, 1), (0.0569, 3)],
    }
    for state, draws in cases.items():
        after = [chain.next_state(state, int(u * 2**64)) for u, _ in draws]
        assert after == [expected for _, expected in draws]


def test_sessions_that_all_end_within_a_step() -> None:
    """The smallest mean that a link takes: exp(-1000) is nothing beside 1, to 60 digits."""
    chain = sessions.Parameters(arrival=1 << 20, mean=(1 << 32) // 1000, maximum=3, step_ns=10**6)
    assert chain.departure(1) == 1
    assert [chain.down(i) for i in range(4)] == [[], [1], [0, 1], [0, 0, 1]]
    assert not chain.fits_walk()
