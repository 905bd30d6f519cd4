# SPDX-License-Identifier: GPL-2.0
"""wale-lab trace: a Mahimahi trace as steps of a rate."""

from __future__ import annotations

import math
import re
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from wale_lab import link, mahimahi, units
from wale_lab.errors import ScenarioError
from wale_lab.models.link import Config, Link, Trace

TESTBED = Path(__file__).resolve().parents[1]


def write(folder: Path, *lines: object) -> Path:
    path = folder / "phone.up"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def converted(path: Path, step: str = "10ms", packet: str = "1500") -> list[tuple[int, int]]:
    """The steps in ms and bytes/s, as a scenario would read them."""
    lines = [line.split() for line in list(mahimahi.convert(path, step, packet))[1:]]
    return [(units.parse_time_ns(t) // 10**6, units.parse_rate_bps(r) // 8) for t, r in lines]


def test_each_packet_is_in_the_step_that_ends_with_it(tmp_path: Path) -> None:
    path = write(tmp_path, 0, 1, 10, 11, 40)
    assert converted(path) == [(10, 450_000), (10, 150_000), (10, 0), (10, 150_000)]


def test_what_the_link_carries_is_what_the_trace_carries(tmp_path: Path) -> None:
    times = sorted((n * n) % 7919 for n in range(1, 3000))
    found = converted(write(tmp_path, *times), "100ms", "1504")
    assert sum(duration for duration, _ in found) == times[-1]
    carried = sum(duration * rate for duration, rate in found) / 1000
    # a rate is rounded down to a byte/s, in each step
    assert 0 <= len(times) * 1504 - carried <= times[-1] / 1000


def test_equal_neighbours_are_one_step(tmp_path: Path) -> None:
    assert converted(write(tmp_path, *range(1, 101))) == [(100, 1_500_000)]


def test_too_many_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mahimahi, "MAX_STEPS", 4000)
    with pytest.raises(ScenarioError, match=r"9998 steps, of 4000 .*: give a longer --step"):
        mahimahi.convert(write(tmp_path, *range(2, 10_000, 2)), "1ms", "1500")


def test_a_step_is_a_day_at_most(tmp_path: Path) -> None:
    day = 86_400_000
    path = write(tmp_path, 1, 2 * day + 10)
    assert converted(path, "1ms") == [(1, 1_500_000), (day, 0), (day, 0), (8, 0), (1, 1_500_000)]


@pytest.mark.slow
def test_ten_hours(tmp_path: Path) -> None:
    """Nothing is lost in a trace of a million packets, at the finest step."""
    times = [n * n % 36 + 36 * n for n in range(1, 10**6 + 1)]
    found = list(mahimahi.steps(mahimahi.read_times_ms(write(tmp_path, *times)), 1, 1500))
    assert sum(duration for duration, _ in found) == times[-1]
    assert sum(duration * rate for duration, rate in found) == len(times) * 1500 * 1000


def test_packets_leave_when_the_trace_says(tmp_path: Path) -> None:
    """Packets that wait leave in the ms of their opportunity, round after round.

    Where a ms has one of them, they leave at its end, to the ns; of more, evenly in it.
    """
    times = [3, 4, 4, 9, 20, 21, 21, 21, 30, 100]
    found = converted(write(tmp_path, *times), "1ms")
    trace = Trace(tuple((duration * 10**6, rate) for duration, rate in found))
    rounds = 50
    packets = [(0, 1500)] * (rounds * len(times))
    link = Link(Config(trace=trace, limit_packets=len(packets)))
    departures = [packet.departure_ns for packet in link.run(packets)]
    for number, departure_ns in enumerate(departures):
        turn, place = divmod(number, len(times))
        at_ms = times[place]
        before, of_ms = times[: place + 1].count(at_ms), times.count(at_ms)
        exact = Fraction(turn * times[-1] + at_ms - 1) + Fraction(before, of_ms)
        assert departure_ns == math.ceil(exact * 10**6)


def test_the_last_step_ends_with_the_trace(tmp_path: Path) -> None:
    assert converted(write(tmp_path, 5, 10, 12)) == [(10, 300_000), (2, 750_000)]


@pytest.mark.parametrize(
    ("lines", "step", "expected"),
    [
        (("5", "4"), "10ms", r"up:2: expected a time from 5 on, got 4"),
        (("5", "1.5"), "10ms", r"up:2: expected a time in whole ms, got '1.5'"),
        (("0", "0"), "10ms", r"expected a time above 0"),
        ((), "10ms", r"up: the trace has no steps"),
        (
            ("1575331420000", "1575331420010", "1575331421000"),
            "10ms",
            r"the first one is 1575331420000, which looks like a time of day: subtract it",
        ),
        (("1575331420", "1575331421"), "10ms", r"looks like a time of day"),
        (("5", "345600000001"), "10ms", r"at most 4000 days, and the last time is 345600000001"),
        (("5",), "1500us", r"--step: expected whole ms"),
    ],
)
def test_what_is_wrong_is_told(
    tmp_path: Path, lines: tuple[str, ...], step: str, expected: str
) -> None:
    with pytest.raises(ScenarioError, match=expected):
        mahimahi.convert(write(tmp_path, *lines), step, "1500")


@pytest.mark.parametrize(
    ("step", "packet", "expected"),
    [
        ("1d", "1", r"expected a step with a rate of at least 1 byte/s: give a shorter --step"),
        ("1ms", "2TiB", r"of 8000000000000000 that a link takes: give a longer --step"),
    ],
)
def test_rates_that_a_link_refuses(tmp_path: Path, step: str, packet: str, expected: str) -> None:
    with pytest.raises(ScenarioError, match=expected):
        mahimahi.convert(write(tmp_path, 5, 86_400_000), step, packet)


def test_the_longest_trace(tmp_path: Path) -> None:
    """What is written, a scenario takes; a ms more is refused."""
    lines = list(mahimahi.convert(write(tmp_path, 5, 345_600_000_000), "10ms", "1500"))
    steps = [tuple(line.split()) for line in lines[1:]]
    found = link.Link.model_validate({"trace": {"steps": steps}})
    assert found.trace and sum(duration for duration, _ in found.trace.steps) == 345_600 * 10**12


def test_what_is_refused_writes_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, 1575331420000, 1575331421000)
    command = [TESTBED / "wale-lab", "trace", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and not done.stdout
    assert "phone.up: expected times in ms from the start" in done.stderr


def test_the_limit_is_that_of_the_kernel() -> None:
    header = Path(__file__).parents[2] / "kmod/include/uapi/linux/pkt_sched_wale.h"
    found = re.search(r"#define WALE_TRACE_FD_STEPS_MAX\s+(\d+)", header.read_text())
    assert found and int(found[1]) == mahimahi.MAX_STEPS
