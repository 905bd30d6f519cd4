# SPDX-License-Identifier: GPL-2.0
"""Feedback that is not ideal: what the channel makes of a rate, and that senders hear it."""

from __future__ import annotations

import csv
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy
import pytest

from wale_lab import yaml_lines
from wale_lab.errors import ScenarioError
from wale_lab.impaired_advice import link_rate
from wale_lab.models import feedback
from wale_lab.models.feedback import Numbers, Steps
from wale_lab.models.sessions import Chain, Parameters, mean_share, realised_share, walk_array
from wale_lab.models.streams import Purpose, Stream
from wale_lab.results.result import problems
from wale_lab.runner import run_scenario
from wale_lab.scenario import Scenario, check_scenario
from wale_lab.timeline import LEAD_NS
from wale_lab.topologies import plan as plans
from wale_lab.topologies.planning import make_plan

S, MS = 10**9, 10**6
LEAD = LEAD_NS["virtual"]

#: The paper's chain: sessions of 200 kB on 100 kB/s, steps of 100 ms, at most 3.
PAPER = Parameters(round(0.05 * 2**32), 20 << 32, 3, 100 * MS)


def numbers(*values: int) -> Numbers:
    return numpy.array(values, dtype=numpy.int64)


# The rate that is told: the chain of sessions


def test_draws_of_an_array_are_those_of_the_stream() -> None:
    for seed in (0, 1, 2**64 - 1):
        stream = Stream(seed, Purpose.SESSIONS)
        assert stream.draws64(100).tolist() == [stream.draw64(n) for n in range(100)]
    assert stream.draws64(0).tolist() == []


@pytest.mark.parametrize("seed", [1, 77, 2**64 - 1])
@pytest.mark.parametrize(
    "chain",
    [PAPER, Parameters(2**31, 5 << 32, 63, MS), Parameters(0, 1 << 32, 2, MS)],
    ids=["paper", "crowded", "nobody"],
)
def test_walk_of_an_array_is_that_of_the_chain(chain: Parameters, seed: int) -> None:
    assert walk_array(chain, seed, 3000).tolist() == list(islice(Chain(chain, seed).walk(), 3000))
    assert walk_array(chain, seed, 1).tolist() == [0]
    assert walk_array(chain, seed, 0).tolist() == []


def test_realised_share_is_the_mean_over_time() -> None:
    shares = [Fraction(1, int(m) + 1) for m in walk_array(PAPER, 3, 1000)]
    assert len(set(shares)) == 4
    assert realised_share(PAPER, 3, 0, 100) == pytest.approx(float(sum(shares) / 1000))
    # from the middle of a step to a quarter of another: 0.05 s of n, whole ones, 0.025 s
    n = next(k for k in range(1, 900) if shares[k] != shares[k + 1] and k > 5)
    parts = shares[n] / 2 + sum(shares[n + 1 : n + 50]) + shares[n + 50] / 4
    mean = realised_share(PAPER, 3, (n + 0.5) / 10, (n + 50.25) / 10)
    assert mean == pytest.approx(float(parts / Fraction(4975, 100)))
    assert realised_share(PAPER, 3, 0.0, 0.01) == 1  # M_0 = 0
    assert realised_share(PAPER, 3, 0, 40_000) == pytest.approx(mean_share(PAPER), rel=0.02)


@pytest.mark.parametrize("times", [(1.0, 1.0), (2.0, 1.0), (-1.0, 1.0)])
def test_realised_share_of_no_time(times: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="expected times 0 <= t0_s < t1_s"):
        realised_share(PAPER, 1, *times)


# Averages


def test_average_over_the_window_before() -> None:
    steps = Steps(numbers(0, S), numbers(1000, 3000))
    times = numbers(0, S // 2, S, S + S // 2, 2 * S, 9 * S)
    assert feedback.average(steps, times, S).tolist() == [1000, 1000, 1000, 2000, 3000, 3000]


def test_average_before_a_whole_window_has_passed() -> None:
    steps = Steps(numbers(0, S), numbers(4000, 1000))
    told = feedback.average(steps, numbers(0, S, 2 * S, 3 * S), 67 * S)
    assert told.tolist() == [4000, 4000, 2500, 2000]


def test_average_of_a_constant_is_exact() -> None:
    steps = Steps(numbers(0), numbers(123_456_789))
    told = feedback.average(steps, numpy.arange(0, 3600 * S, 7 * S), 67 * S)
    assert set(told.tolist()) == {123_456_789}


def test_average_of_a_period() -> None:
    steps = Steps(numbers(0, S), numbers(1000, 0), period_ns=3 * S)
    assert steps.at(numbers(0, S, 3 * S, 4 * S)).tolist() == [1000, 0, 1000, 0]
    told = feedback.average(steps, numbers(3 * S, 4 * S, 60 * S), 3 * S)
    assert told.tolist() == [333, 333, 333]
    assert feedback.average(steps, numbers(31 * S), S).tolist() == [1000]


def test_averages_against_sums_of_milliseconds() -> None:
    random = numpy.random.default_rng(5)
    starts = numpy.concatenate([[0], numpy.sort(random.choice(numpy.arange(1, 500), 40, False))])
    steps = Steps(starts * MS, random.integers(0, 10**9, 41))
    each = steps.at(numpy.arange(600) * MS)
    for window in (1, 17, 400):
        told = feedback.average(steps, numpy.arange(1, 600) * MS, window * MS)
        naive = [each[max(t - window, 0) : t].mean() for t in range(1, 600)]
        assert numpy.abs(told - naive).max() <= 0.5 + 1e-6


# Levels


def test_the_scale_of_scone() -> None:
    """The examples that the draft prints, in kbit/s."""
    scale = feedback.levels(20) * 8 / 1000
    assert len(scale) == 127
    examples = {0: 100, 1: 112, 2: 126, 3: 141, 20: 1e3, 21: 1.12e3, 40: 1e4, 60: 1e5, 80: 1e6}
    examples |= {81: 1.12e6, 100: 1e7, 120: 1e8, 126: 1.995e8}
    for n, kbps in examples.items():
        assert scale[n] == pytest.approx(kbps, rel=0.005)


@pytest.mark.parametrize("per_decade", [1, 2, 5, 10, 20])
def test_decades_are_on_every_scale(per_decade: int) -> None:
    decades = feedback.levels(per_decade)[::per_decade]
    assert decades.tolist() == [12_500 * 10**n for n in range(7)]


@pytest.mark.parametrize("per_decade", [1, 2, 5, 10, 20, 1000])
def test_quantise_rounds_down(per_decade: int) -> None:
    rates = numpy.random.default_rng(1).integers(12_500, 10**9, 5000)
    told = feedback.quantise(rates, per_decade)
    assert (told <= rates).all()
    assert (rates < told * 10 ** (1 / per_decade) + 2).all()
    assert (feedback.quantise(told, per_decade) == told).all()
    assert set(told.tolist()) <= set(feedback.levels(per_decade).tolist())


def test_quantise_has_a_lowest_and_a_highest_level() -> None:
    told = feedback.quantise(numbers(0, 12_499, 12_500, 10**15), 20)
    assert told.tolist() == [12_500, 12_500, 12_500, int(feedback.levels(20)[-1])]


def test_quantise_of_the_papers_rates() -> None:
    """100 kB/s and its shares of 2, 3 and 4: by hand, 12.5 kB/s times powers of 10^(1/5)."""
    told = feedback.quantise(numbers(100_000, 50_000, 33_333, 25_000), 5)
    assert told.tolist() == [78_869, 49_763, 31_398, 19_811]


# Losses


def test_what_is_lost_leaves_what_was_known() -> None:
    told = numpy.arange(1000, 1200)
    known = feedback.lose(told, 0.3, seed=9)
    stream = Stream(9, feedback.Purpose.ANNOUNCEMENTS)
    last = told[0]
    for n, value in enumerate(told):
        if n == 0 or (stream.draw64(n) >> 11) / 2**53 >= 0.3:
            last = value
        assert known[n] == last


@pytest.mark.parametrize("probability", [0.0, 0.01, 0.1, 0.5, 1.0])
def test_so_many_are_lost(probability: float) -> None:
    told = numpy.arange(40_000)
    lost = feedback.lose(told, probability, seed=4) != told
    assert not lost[0]
    assert lost[1:].mean() == pytest.approx(probability, abs=4 * 0.5 / 200)
    if probability in (0, 1):
        assert lost[1:].mean() == probability


def test_losses_follow_from_the_seed() -> None:
    told = numpy.arange(1000)
    some, more = (feedback.lose(told, p, seed=4) != told for p in (0.1, 0.2))
    assert (some <= more).all()
    assert (feedback.lose(told, 0.1, seed=4) == feedback.lose(told, 0.1, seed=4)).all()
    assert (feedback.lose(told, 0.1, seed=4) != feedback.lose(told, 0.1, seed=5)).any()


def test_averaged_then_quantised_then_lost() -> None:
    steps = Steps(numpy.arange(0, 60 * S, S), numpy.arange(60) * 9_973 + 12_500)
    times = numpy.arange(0, 60 * S, S // 2)
    mean = feedback.average(steps, times, 5 * S)
    known = feedback.lose(feedback.quantise(mean, 2), 0.4, seed=1)
    told = feedback.announce(steps, times, 1, window_ns=5 * S, levels_per_decade=2, loss=0.4)
    assert told.tolist() == known.tolist()
    assert feedback.announce(steps, times, 1).tolist() == steps.at(times).tolist()


def test_changes() -> None:
    assert feedback.changes(numbers(5, 5, 3, 3, 3, 5)).tolist() == [0, 2, 5]
    assert feedback.changes(numbers(0)).tolist() == [0]


# Scenarios

TEXT = """\
name: poor
profile: newreno
topology: {pairs: [{name: near}, {name: far}]}
bottleneck:
  forward:
    rate: 100kB/s
    delay: 100ms
    limit: 10 packets
    sessions: {arrival: 5%, mean: 20, max: 3, step: 100ms}
hosts:
  all: {mtu: 500}
  senders: {advice: {beta: 4}}
flows:
  - {name: one, cc: ratcp, pair: near, duration: 20s}
"""
SENDERS = "hosts.senders.advice"
IMPAIR = f"{SENDERS}.impair"
LOSSY = f"{IMPAIR}={{loss: 10%}}"


def check(*overrides: str) -> Scenario:
    return check_scenario(yaml_lines.parse(TEXT, "s.yaml"), list(overrides), Path())


def advice_of(netns: str, *overrides: str, seed: int = 1) -> plans.PlannedAdvice:
    plan = make_plan(check(*overrides), seed)
    return next(advice for advice in plan.advice if advice.netns == netns)


def played(advice: plans.PlannedAdvice) -> list[tuple[int, int]]:
    """The lines of a trace: duration in ns, rate in bytes/s."""
    lines = [line.split() for line in advice.trace]
    return [(int(d.removesuffix("ns")), int(r.removesuffix("bit")) // 8) for d, r in lines]


def test_without_a_loss_the_rate_of_the_link_is_played() -> None:
    advice = advice_of("near-sender", f"{IMPAIR}={{loss: 0}}", seed=7)
    states = walk_array(PAPER, plans.link_seed(7, "forward"), 201)
    steps = played(advice)
    assert sum(duration for duration, _ in steps) == 20 * S
    assert len(steps) > 3
    assert all(a != b for (_, a), (_, b) in pairwise(steps))
    begin = 0
    for duration, rate in steps:
        # on the link's clock, in steps of 100 ms
        first, last = ((begin + n + LEAD) // (100 * MS) for n in (0, duration - 1))
        assert {100_000 // (int(m) + 1) for m in states[first : last + 1]} == {rate}
        assert begin == 0 or (begin + LEAD) % (100 * MS) == 0
        begin += duration


def test_what_wale_is_told() -> None:
    advice = advice_of("near-sender", LOSSY)
    assert advice.rate == ["800000bit", "link", "layer", "ip", "lag", "rtt", "beta", "4"]
    assert advice.play == []
    advice = advice_of("near-sender", LOSSY, f"{SENDERS}.lag=1s", "bottleneck.forward.overhead=atm")
    assert advice.rate[1:6] == ["link", "layer", "atm", "lag", "1000000000ns"]
    assert advice_of("near-sender", LOSSY, f"{SENDERS}.lag=0s").rate[4:6] == ["lag", "now"]
    # feedback of the link or none: the sender's path is its own
    assert advice_of("near-sender", LOSSY, "bottleneck.forward.feedback=on").rate[1] == "link"
    assert check(LOSSY).modules() == ["sch_wale", "rate_feedback", "tcp_ratcp"]


def test_all_senders_of_a_run_miss_the_same() -> None:
    flows = "flows=[{name: a, cc: ratcp, duration: 9s}, {name: b, cc: ratcp, duration: 20s}]"
    plan = make_plan(check(f"{IMPAIR}={{loss: 50%}}", flows, "isolate=on"), 3)
    assert [advice.netns for advice in plan.advice] == ["a.near-sender", "b.near-sender"]
    assert plan.advice[0].trace == plan.advice[1].trace
    other = make_plan(check(f"{IMPAIR}={{loss: 50%}}", flows, "isolate=on"), 4)
    assert other.advice[0].trace != plan.advice[0].trace


def test_announcements_of_the_first_moment() -> None:
    """With one at the link's start and one at the flows', the later is the first step."""
    steps = played(advice_of("near-sender", f"{IMPAIR}={{interval: 1ms, average: 1ms}}"))
    assert all(duration > 0 for duration, _ in steps)
    assert sum(duration for duration, _ in steps) == 20 * S


def test_what_is_more_special_wins() -> None:
    own = "hosts.pairs={far: {sender: {advice: {rate: 1mbit}}}}"
    assert advice_of("far-sender", LOSSY, own).rate == ["1000000bit", "beta", "4"]
    own = "hosts.pairs={far: {sender: {advice: {impair: {average: 5s}}}}}"
    advice = advice_of("far-sender", f"{SENDERS}={{steps: [1s:2mbit], end: loop, beta: 2}}", own)
    assert advice.rate == ["800000bit", "link", "layer", "ip", "lag", "rtt", "beta", "2"]
    assert advice.play == []


@pytest.mark.parametrize(
    ("end", "rates"),
    [
        ("loop", [100_000, 0, 50_000, 100_000, 0, 50_000, 100_000]),
        ("hold", [100_000, 0, 50_000, 50_000, 50_000, 50_000, 50_000]),
        ("stop", [100_000, 0, 50_000, 0, 0, 0, 0]),
    ],
)
def test_the_rate_of_a_trace(end: str, rates: list[int]) -> None:
    trace = {"steps": ["1s:800kbit", "1s:0bit", "2s:400kbit"], "end": end}
    link = check(f"bottleneck.forward={{trace: {trace}}}", LOSSY).bottleneck.forward
    times = numbers(0, S, 3 * S, 4 * S, 5 * S, 7 * S, 8 * S)
    assert link_rate(link, 1, 8 * S).at(times).tolist() == rates


@pytest.mark.parametrize(
    ("overrides", "seconds"),
    [
        ([], 20),
        (["flows.one.start=5s"], 25),
        (["flows.one.start=5s", "virtual_limit=10s"], 10),
        (["flows=[{name: a, duration: 1s}, {name: b, size: 1MB}]"], 3600),
        (["flows=[{name: a, duration: 1s}, {name: b, duration: 1s, after: a}]"], 3600),
    ],
)
def test_the_end_that_is_known(overrides: list[str], seconds: int) -> None:
    assert check(LOSSY, *overrides).ends_by() == seconds * S


CHAIN = "{arrival: 5%, mean: 20, max: 3, step: 1ms}"


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ([f"{IMPAIR}={{}}"], "advice.impair: expected at least one of levels_per_decade, average"),
        ([f"{IMPAIR}={{loss: 2}}"], "impair.loss: expected a probability such as"),
        ([f"{IMPAIR}={{levels_per_decade: 0}}"], "levels_per_decade: expected greater than"),
        ([f"{IMPAIR}={{average: 0s}}"], "impair: expected an average over a time above 0"),
        ([f"{IMPAIR}={{interval: 10us}}"], "impair: expected an interval of at least 1ms"),
        (
            [f"{IMPAIR}={{delay: 1s}}"],
            "impair.delay: unknown key; expected one of average, interval",
        ),
        ([f"{SENDERS}={{rate: 1mbit, impair: {{loss: 1%}}}}"], "expected either impair or a rate"),
        ([f"{SENDERS}={{steps: [1s:1mbit], impair: {{loss: 1%}}}}"], "expected either impair or"),
        ([f"{SENDERS}={{meaning: link, impair: {{loss: 1%}}}}"], "expected meaning together with"),
        ([LOSSY, "bottleneck.forward={rate: 1mbit}"], f"{IMPAIR}: expected sessions or a trace on"),
        (
            [LOSSY, "bottleneck.forward={qdisc: netem}"],
            f"{IMPAIR}: expected sessions or a trace on",
        ),
        ([LOSSY, "time=real"], f"{IMPAIR}: expected time: virtual"),
        (
            [LOSSY, "flows.one.duration=2d", "virtual_limit=2d"],
            f"{IMPAIR}: expected at most 1000000 steps: flows may last 48 h, a step 100 ms",
        ),
        (
            [LOSSY, "flows.one.duration=1001s", f"bottleneck.forward.sessions={CHAIN}"],
            "expected at most 1000000 steps: flows may last 1001 s, a step 1 ms",
        ),
        (
            [
                "bottleneck.forward={rate: 1mbit}",
                "hosts.pairs={far: {sender: {advice: {impair: {loss: 1%}}}}}",
            ],
            "hosts.pairs.far.sender.advice.impair: expected sessions or a trace",
        ),
    ],
)
def test_refused(overrides: list[str], expected: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        check(*overrides)
    assert expected in str(caught.value)


def test_where_it_was_refused() -> None:
    text = TEXT.replace("{beta: 4}", "{impair: {loss: 10%}}").replace("    sessions", "    # ")
    with pytest.raises(ScenarioError, match=r"^s.yaml:12: hosts.senders.advice.impair: expected"):
        check_scenario(yaml_lines.parse(text, "s.yaml"), [], Path())


# In a guest


def run(out: Path, *overrides: str) -> dict[str, Any]:
    """Run the scenario; it has to be a good run."""
    result = run_scenario(check("record.interval=10ms", *overrides), 1, out)
    assert problems(result) == []
    return result


def rows(path: Path, key: str, name: str) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row[key] == name]


@pytest.mark.guest
def test_a_channel_that_impairs_nothing_is_the_links_own(tmp_path: Path) -> None:
    """Whether the rate is played or followed, the sender does the same at the same times."""
    results = {}
    for name, how in (("played", f"{IMPAIR}={{loss: 0%}}"), ("followed", "record.flows=on")):
        feedback_of_link = f"bottleneck.forward.feedback={'off' if name == 'played' else 'on'}"
        results[name] = run(tmp_path / name, how, feedback_of_link)
    heard = [rows(tmp_path / name / "channel.csv", "flow", "one") for name in results]
    windows = [[(r["t_s"], r["rate_Bps"], r["cwnd_packets"]) for r in one] for one in heard]
    assert len({rate for _, rate, _ in windows[0]}) == 4
    assert windows[0] == windows[1]


@pytest.mark.guest
def test_a_sender_hears_what_the_channel_tells(tmp_path: Path) -> None:
    impair = "{levels_per_decade: 5, average: 2s, loss: 30%, interval: 200ms}"
    overrides = [f"{IMPAIR}={impair}", f"{SENDERS}.lag=now"]
    result = run(tmp_path, *overrides)
    (forward,) = (link for link in result["links"] if link["name"] == "forward")
    # the clock of the steps and that of the link agree
    assert forward["epoch_s"] == pytest.approx(-LEAD / S, abs=0.001)
    seed = plans.link_seed(1, "forward")
    rate = link_rate(check(*overrides).bottleneck.forward, seed, 30 * S)
    for row in rows(tmp_path / "links.csv", "link", "forward"):
        t_ns = round(float(row["t_s"]) * S) + LEAD
        assert int(row["rate_Bps"]) == rate.at(numbers(t_ns))[0]
    times = numpy.arange(0, 20 * S + LEAD, 200 * MS)
    told = feedback.announce(rate, times, seed, window_ns=2 * S, levels_per_decade=5, loss=0.3)
    known = Steps(times, told)
    heard = rows(tmp_path / "channel.csv", "flow", "one")
    assert len(heard) > 1900
    for row in heard:
        # as of the last acknowledgment: not long ago
        t_ns = round(float(row["t_s"]) * S) + LEAD
        recent = known.at(numpy.arange(max(t_ns - 250 * MS, 0), t_ns + 1, 5 * MS))
        assert int(row["rate_Bps"]) in recent, row
    assert {int(row["rate_Bps"]) for row in heard} == set(told.tolist())
