# SPDX-License-Identifier: GPL-2.0
"""The analysis of Altman and others: against section 4, its own equations, and Figs. 4 and 5."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from pathlib import Path

import pytest
from scipy.integrate import quad, solve_ivp

from wale_lab.cli import main as wale_lab
from wale_lab.papers import MODELS
from wale_lab.papers.altman.model import (
    READINGS,
    Link,
    analyse,
    has_two_slow_starts,
    largest_window,
    overflow_window,
    shared_rates,
    slow_start_window,
    theorem_1,
    throughput_at,
    window_growth,
)
from wale_lab.papers.lakshman_madhow.model import Link as WithoutExogenous
from wale_lab.papers.lakshman_madhow.model import slow_start

PAGE = (Path(__file__).resolve().parents[2] / "Documentation" / "models.rst").read_text("utf-8")

#: Section 4: mu, lambda, tau, B; analysis and simulation, packets/s; slow starts in a cycle.
CASES = {
    1: (Link(166, 66, 0.5, 10), 57.4, 58.4, 2),
    2: (Link(80, 32, 1.0, 20), 39.2, 38.5, 1),
    3: (Link(125, 100, 2.0, 10), 13.0, 12.9, 2),
    4: (Link(200, 160, 1.0, 20), 29.4, 29.7, 1),
}
LOADS = [0.0, 0.2, 0.4, 0.6, 0.8]

every_case = pytest.mark.parametrize("case", CASES)


@every_case
def test_section_4(case: int) -> None:
    """Within 0.2 % with one slow start, 3 % with two; the criterion is right in all cases."""
    link, published, simulated, slow_starts = CASES[case]
    found = analyse(link)
    assert found.slow_starts == slow_starts == 1 + has_two_slow_starts(link)
    tolerance = 0.002 if slow_starts == 1 else 0.03
    assert found.throughput_packets_per_s == pytest.approx(published, rel=tolerance)
    assert found.throughput_packets_per_s == pytest.approx(simulated, rel=0.035)


@pytest.mark.parametrize(("case", "value"), [(1, 76.36), (2, 39.64), (3, 18.00), (4, 30.00)])
def test_theorem_1_as_printed(case: int, value: float) -> None:
    """With (2) as it stands, and one slow start always: right only where there is one."""
    link, published, _, slow_starts = CASES[case]
    found = analyse(link, "printed").throughput_packets_per_s
    assert found == pytest.approx(value, abs=0.005)
    assert (abs(found / published - 1) < 0.021) == (slow_starts == 1)
    assert largest_window(link, "printed") == pytest.approx(largest_window(link) + 1)


@pytest.mark.parametrize(("case", "published", "simulated"), [(2, 1.07, 1.08), (4, 1.02, 1.03)])
def test_mean_round_trip(case: int, published: float, simulated: float) -> None:
    found = analyse(CASES[case][0]).mean_round_trip_s
    assert found == pytest.approx(published, rel=0.005)
    assert found == pytest.approx(simulated, rel=0.015)


def test_no_round_trip_is_below_that_of_an_empty_queue() -> None:
    """So the published 0.47 s and 1.93 s cannot be."""
    for case, published in ((1, 0.47), (3, 1.93)):
        link = CASES[case][0]
        assert analyse(link).mean_round_trip_s > link.round_trip_s > published


@every_case
def test_criterion_is_that_of_the_windows(case: int) -> None:
    """(21) is W_b <= W_th with W_max = (B / mu + tau) (mu - lambda), to the edge."""
    link = CASES[case][0]
    assert has_two_slow_starts(link) == (overflow_window(link) <= largest_window(link) / 2)
    load = link.exogenous_packets_per_s / link.rate_packets_per_s
    edge = link.available_packets_per_s * link.delay_s / (3 - load)
    values = (link.rate_packets_per_s, link.exogenous_packets_per_s, link.delay_s)
    for factor, expected in ((0.999, True), (1.001, False)):
        near = Link(*values, edge * factor)
        assert has_two_slow_starts(near) is expected
        assert (overflow_window(near) <= largest_window(near) / 2) is expected


@pytest.mark.parametrize(
    ("link", "threshold"),
    [
        (Link(166, 66, 0.5, 80), 55.0),  # (i): slow start goes on with a queue
        (Link(80, 32, 1.0, 20), 30.0),  # (ii): congestion avoidance begins without one
        (Link(80, 0, 1.0, 20), 81.0),  # neither: just there
    ],
)
def test_theorem_solves_its_equations(link: Link, threshold: float) -> None:
    """(4)-(9) against (17), (18) integrated over time, and (19)."""
    largest = largest_window(link)
    phases = theorem_1(link, largest, threshold)
    ends = sorted({1.0, threshold, min(link.pipe_packets, largest), largest})
    time = packets = 0.0
    for low, high in pairwise(ends):  # smooth between these
        time += quad(lambda w: 1 / window_growth(link, w, threshold), low, high)[0]
        packets += quad(
            lambda w: throughput_at(link, w, threshold) / window_growth(link, w, threshold),
            low,
            high,
        )[0]
    assert sum(p.time_s for p in phases) == pytest.approx(time, rel=1e-3)
    assert sum(p.packets for p in phases) == pytest.approx(packets, rel=1e-3)


def test_slow_start_is_exponential() -> None:
    """(20) against (17)."""
    link = Link(80, 32, 1.0, 20)
    end = 0.9 * link.round_trip_s * math.log(link.pipe_packets)
    solved = solve_ivp(lambda _, w: [window_growth(link, w[0], 1e9)], (0, end), [1.0], rtol=1e-8)
    assert solved.y[0, -1] == pytest.approx(slow_start_window(link, end), rel=1e-6)


def test_a_queue_shares_by_what_comes_in() -> None:
    """(15); (16) follows for what enters twice as fast, and for what enters as it leaves."""
    link = Link(80, 32, 1.0, 20)
    mine, others = shared_rates(link, 96)
    assert (mine, others) == (60, 20)
    assert mine + others == link.rate_packets_per_s
    # slow start: two packets enter for each that leaves
    assert throughput_at(link, 60, 70) == 64
    assert shared_rates(link, 2 * 64)[0] == 64
    # congestion avoidance: as many as leave; Remark 1: the exogenous packets all get through
    assert throughput_at(link, 60, 30) == 48
    assert shared_rates(link, 48) == (48, 32)


def fractions(tau: float, buffer: float) -> list[float]:
    """Part of the available rate by load, in services: Theorem 1 alone, as in the figures."""
    return [analyse(Link(1, load, tau, buffer), slow_starts=1).available_fraction for load in LOADS]


def test_figure_4() -> None:
    """Buffer 20: with a short round trip more exogenous traffic gives more, above 1; else less."""
    short, long = fractions(1, 20), fractions(30, 20)
    assert short == sorted(short)
    assert long == sorted(long, reverse=True)
    assert short[-1] == pytest.approx(1.105, abs=0.001)
    by_delay = [fractions(tau, 20) for tau in (5, 10, 20, 30, 60, 100)]
    for load in range(len(LOADS)):
        falling = [row[load] for row in by_delay]
        assert falling == sorted(falling, reverse=True)
    drops = [a / b for a, b in zip(by_delay[0], by_delay[-1], strict=True)]
    assert drops == sorted(drops)  # faster with more exogenous traffic


def test_figure_5() -> None:
    """Round trip 30: less exogenous traffic is better, for buffers up to 50; never above 1.

    Up to a load of 0.8: with 0.9, there is more of what is left than with that.
    """
    for buffer in (5, 10, 20, 40):
        most, less = (analyse(Link(1, x, 30, buffer), slow_starts=1) for x in (0.9, 0.8))
        assert less.available_fraction < most.available_fraction < 1
    for buffer in (5, 10, 15, 20, 30, 40):
        row = fractions(30, buffer)
        assert row == sorted(row, reverse=True), buffer
        assert max(row) < 1
    assert fractions(30, 5)[-1] == pytest.approx(0.70, abs=0.005)


def test_without_exogenous_traffic_it_is_that_of_lakshman_and_madhow() -> None:
    """The second slow start begins from the same windows; the throughputs are close."""
    link, other = Link(100, 0, 1.0, 20.2), WithoutExogenous.of_beta(0.2)
    assert analyse(link).slow_starts == len(slow_start(other, other.largest_window / 2).windows)
    assert analyse(link).available_fraction == pytest.approx(0.660, rel=0.03)


def test_remark_2() -> None:
    """A timer instead of duplicate ACKs: a window more, and its time."""
    link = CASES[2][0]
    at_once, later = analyse(link), analyse(link, timeout_s=0.25)
    time = 1 / at_once.cycles_per_s
    packets = at_once.throughput_packets_per_s * time
    expected = (packets + at_once.largest_window) / (time + 0.25)
    assert later.throughput_packets_per_s == pytest.approx(expected)
    assert 1.03 < later.throughput_packets_per_s / 39.2 < 1.07


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("tau", [0.2, 1.0, 5.0])
def test_limits(reading: str, tau: float) -> None:
    """More buffer is better; a large one leaves nothing idle."""
    by_buffer = [
        analyse(Link(100, 40, tau, buffer), reading).throughput_packets_per_s
        for buffer in (10, 30, 100, 300, 1000)
    ]
    assert all(a < b * 1.02 for a, b in pairwise(by_buffer))
    assert by_buffer[-1] == pytest.approx(60, rel=0.08)
    short = analyse(Link(1, 0.8, 0.5, 15), reading)
    assert short.available_fraction > 0  # T (mu - lambda) below 1: no negative time
    assert all(phase.time_s >= 0 for phase in theorem_1(Link(1, 0.8, 0.5, 10), 3.0, 1.5))


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"rate_packets_per_s": 0}, "rate_packets_per_s: expected a number above 0"),
        ({"delay_s": math.inf}, "delay_s: expected a number above 0"),
        ({"buffer_packets": "20p"}, "buffer_packets: expected a number above 0, got '20p'"),
        ({"exogenous_packets_per_s": 80}, "expected 0 to below the rate of 80, got 80"),
        ({"exogenous_packets_per_s": -1}, "expected 0 to below the rate of 80, got -1"),
        ({"delay_s": 0.01, "buffer_packets": 1}, "room for a window of two packets"),
    ],
)
def test_link_refuses(wrong: dict[str, float], expected: str) -> None:
    values: dict[str, float] = {
        "rate_packets_per_s": 80,
        "exogenous_packets_per_s": 32,
        "delay_s": 1.0,
        "buffer_packets": 20,
    }
    with pytest.raises(ValueError, match=re.escape(expected)):
        Link(**{**values, **wrong})


def test_functions_refuse() -> None:
    link = CASES[1][0]
    with pytest.raises(ValueError, match="reading: expected printed or reproducing, got 'mine'"):
        analyse(link, "mine")
    with pytest.raises(ValueError, match="timeout_s: expected a time from 0 on"):
        analyse(link, timeout_s=-1)
    with pytest.raises(ValueError, match="slow_starts: expected 1 or nothing"):
        analyse(link, slow_starts=2)
    with pytest.raises(ValueError, match="expected 1 <= threshold <= 50"):
        theorem_1(link, 50, 60)
    with pytest.raises(ValueError, match="expected a rate above 0"):
        shared_rates(link, 0)


def test_what_a_study_measures() -> None:
    model = MODELS["altman"]
    values = {"rate_packets_per_s": 80, "exogenous_packets_per_s": 32, "delay_s": 1.0, "buffer_packets": 20}  # fmt: skip
    found = analyse(Link(**values))
    assert model("mean_round_trip_s", "2", cases={"2": values}) == found.mean_round_trip_s
    assert model("available_fraction", 32, **values) == found.available_fraction
    shorter = analyse(Link(80, 32, 0.5, 20)).throughput_packets_per_s
    assert model("throughput_packets_per_s", 0.5, of="delay_s", **values) == shorter
    with pytest.raises(ValueError, match="measure: expected one of throughput_packets_per_s, "):
        model("jitter", 32, **values)


def test_documented_table() -> None:
    rows = dict(re.findall(r'^   "(published analysis|printed|reproducing)", (.*)$', PAGE, re.M))
    for kind in READINGS:
        found = [analyse(link, kind).throughput_packets_per_s for link, *_ in CASES.values()]
        assert rows[kind] == ", ".join(f"{value:.1f}" for value in found)
    assert rows["published analysis"] == ", ".join(str(case[1]) for case in CASES.values())


def command(capsys: pytest.CaptureFixture[str], words: str) -> tuple[int, str, str]:
    """Run `wale-lab model altman`: exit code, what it printed, what it said."""
    code = wale_lab(["model", "altman", *words.split()])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = command(capsys, "--exogenous 0 147456 --reading both")
    assert code == 0
    found = [
        re.findall(r"[\d.]+", line) for line in out.splitlines() if "pri" in line or "repr" in line
    ]
    assert [(line[0], line[1], line[4]) for line in found] == [
        ("0", "1", "67.27"),
        ("0", "2", "53.22"),
        ("32", "1", "39.64"),
        ("32", "1", "39.21"),
    ]


def test_command_takes_units(capsys: pytest.CaptureFixture[str]) -> None:
    words = "--rate 10mbit --packet 1250 --delay 100ms --buffer 50kB --exogenous 2mbit"
    _, out, _ = command(capsys, f"{words} --timeout 250ms --json")
    found = json.loads(out)
    assert found["link"] == {"rate_packets_per_s": 1000, "delay_s": 0.1, "buffer_packets": 40}
    expected = analyse(Link(1000, 200, 0.1, 40), timeout_s=0.25)._asdict()
    assert found["points"] == [
        {"exogenous_packets_per_s": 200, "reading": "reproducing", **expected}
    ]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--rate 3furlongs", "--rate: expected a rate such as"),
        ("--packet 0", "--packet: expected a size above 0"),
        ("--exogenous 0 1gbit", "--exogenous: expected less than --rate, 368640bit, got '1gbit'"),
        ("--rate 0", "wale-lab: --rate: expected a number above 0, got '0'"),
        ("--delay 1ms --buffer 1", "--delay, --buffer and --exogenous: expected room for a window"),
        ("--timeout soon", "--timeout: expected a time such as"),
    ],
)
def test_command_refuses_in_one_line(
    words: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = command(capsys, words)
    assert (code, out) == (2, "")
    assert err.startswith("wale-lab: ")
    assert err.count("\n") == 1
    assert expected in err
