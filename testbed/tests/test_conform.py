# SPDX-License-Identifier: GPL-2.0
"""The conformance suite: its templates, promises and statistics; what it says of emulators."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy
import pytest

from wale_lab import cli
from wale_lab.conform import template
from wale_lab.conform.checks import CHECKS
from wale_lab.conform.command import judge, promised
from wale_lab.conform.evidence import Evidence, Tolerance, Unmeasurable
from wale_lab.conform.experiments import (
    GEMODEL_P,
    GEMODEL_R,
    LIMIT_BYTES,
    STATE_P13,
    STATE_P14,
    STATE_P31,
    experiments,
)
from wale_lab.conform.promises import find_template, load_emulators, load_promises
from wale_lab.conform.statistics import (
    Steps,
    _tails_of_rows,
    binomial_interval,
    burst_lengths,
    fits_normal,
    fits_uniform,
    four_states_hold,
    percentile,
    runs_test,
    two_states_hold,
)
from wale_lab.conform.template import parse
from wale_lab.errors import ScenarioError
from wale_lab.models.link import Change, Config, Link, Packet, Verdict

TESTBED = Path(__file__).resolve().parents[1]
TOP = TESTBED.parent
NETEM = "netem limit {limit} [delay {delay}] [{jitter}] [loss {loss}]"
TREE = "htb default 1; class htb rate {rate} burst {burst}; netem limit {limit} [delay {delay}]"
MS = 10**6
#: The iproute2 whose manual pages are quoted.
QUOTED = "6.1"


# Templates


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "netem limit 1000000"),
        ({"limit": 20}, "netem limit 20"),
        ({"loss": 0.015}, "netem limit 1000000 loss 1.5%"),
        ({"delay": 100 * MS}, "netem limit 1000000 delay 100000us"),
        (
            {"delay": 1_500, "jitter": 10, "loss": 1},
            "netem limit 1000000 delay 1.5us 0.01us loss 100%",
        ),
    ],
)
def test_words(asked: dict[str, float], words: str) -> None:
    assert parse(NETEM).commands(asked) == [("qdisc", "root handle 1:", words)]


def test_a_tree() -> None:
    assert parse(TREE).commands({"rate": 8_000_000, "delay": MS}) == [
        ("qdisc", "root handle 1:", "htb default 1"),
        ("class", "parent 1: classid 1:1", "htb rate 8000000bit burst 1600b"),
        ("qdisc", "parent 1:1 handle 2:", "netem limit 1000000 delay 1000us"),
    ]
    assert parse(TREE).kinds == ["htb", "netem"]
    two = parse("tbf rate {rate} burst 9k limit 1m;netem limit {limit}").commands({})
    assert [place for _, place, _ in two] == ["root handle 1:", "parent 1:1 handle 2:"]


def test_a_line_that_is_not_always_there() -> None:
    template = parse("wale rate {rate}; [pfifo limit {child_limit}]")
    assert template.kinds == ["wale", "pfifo"]
    assert template.commands({"rate": 8}) == [("qdisc", "root handle 1:", "wale rate 8bit")]
    assert template.commands({"rate": 8, "child_limit": 5})[1:] == [
        ("qdisc", "parent 1:1 handle 2:", "pfifo limit 5")
    ]


def test_what_a_template_offers() -> None:
    tbf = parse("tbf rate {rate} burst {burst} limit {limit_bytes}")
    assert [tbf.offers(name) for name in ("rate", "limit", "delay")] == [True, True, False]
    kinds = [(line.kind if (line := parse(TREE).line_of(name)) else None)
             for name in ("rate", "delay", "limit", "loss")]  # fmt: skip
    assert kinds == ["htb", "netem", "netem", None]
    asked = experiments(True)["limit"].values(tbf)
    assert (asked["limit"], asked["limit_bytes"]) == (20, LIMIT_BYTES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("netem delay {speed}", "unknown {speed}; expected one of rate, delay"),
        ("netem delay {}", "unknown {}"),
        ("netem [delay {delay}", "a bracket without its counterpart"),
        ("netem delay {delay", "a bracket without its counterpart"),
        ("netem [a [delay {delay}]]", "one within another"),
        ("netem gap 5", "has no placeholder"),
        ("fq_codel limit 50", "no value that is known to stand for one"),
        ("", "expected the name of a qdisc"),
        ("netem limit {limit};", "expected the name of a qdisc"),
        ("class htb rate {rate}", "expected a qdisc first"),
        ("nettem", "expected one of wale, netem, tbf"),
    ],
)
def test_mistakes_in_templates(text: str, expected: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(expected)):
        find_template(text)


def test_a_change_touches_what_differs() -> None:
    plan = experiments(True)["change_rate"].plan(parse(TREE))
    assert plan["changes"][0]["commands"] == [
        ("class", "parent 1: classid 1:1", "htb rate 4000000bit burst 1600b")
    ]


# Promises


def test_emulators_are_templates() -> None:
    for name, emulator in load_emulators().items():
        assert find_template(name) == parse(emulator.tc)


def test_promises_are_of_checks() -> None:
    kinds = {kind for name in load_emulators() for kind in find_template(name).kinds}
    for (qdisc, check), promise in load_promises().items():
        assert qdisc in kinds
        assert promise.expect in CHECKS[check].expectations
        assert re.fullmatch(rf"tc-{qdisc}\(8\)", promise.source)


def tc_version() -> str:
    return subprocess.run(["tc", "-V"], capture_output=True, text=True, check=True).stdout.strip()


def page_of(qdisc: str) -> str:
    """The text of a manual page, in one line, without hyphens of the line's end."""
    page = str(TOP / "userspace/man/tc-wale.8") if qdisc == "wale" else f"tc-{qdisc}"
    if qdisc != "wale" and f"iproute2-{QUOTED}." not in tc_version():
        pytest.skip(f"the quotations are of iproute2 {QUOTED}: {tc_version()}")
    words = ["man", "--no-hyphenation", "--no-justification", "-P", "cat", page]
    env = os.environ | {"MANWIDTH": "900", "LC_ALL": "C"}
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
    except FileNotFoundError:
        pytest.skip("man is not installed")
    if done.returncode:
        pytest.skip(f"the manual page tc-{qdisc}(8) is not installed")
    plain = re.sub(".\b", "", done.stdout)
    return " ".join(plain.split())


@pytest.mark.parametrize("qdisc", ["wale", "netem", "tbf", "htb"])
def test_promises_quote_the_manual(qdisc: str) -> None:
    page = page_of(qdisc)
    for promise in load_promises().values():
        if promise.qdisc == qdisc:
            parts = [part.strip(" .") for part in re.split(r"\[[^]]*\]", promise.says)]
            assert any(parts)
            assert [part for part in parts if part not in page] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("promises: [{qdisc: tbf, check: rate}]", "promises.yaml:1: promises.0.says: expected"),
        ("promises: [{qdisc: tbf, sees: x}]", "promises.0.sees: unknown key; expected one of"),
        (
            "promises:\n- &a {qdisc: q, check: rate, says: x, source: tc(8), expect: e}\n- *a",
            "q, rate: promised twice",
        ),
        (
            "promises: [{qdisc: q, check: c, says: x, source: tc(8), expect: e, unless: ['(']}]",
            "promises.0.unless.0: expected a regular expression, got '('",
        ),
    ],
)
def test_mistakes_in_promises(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "promises.yaml"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=re.escape(expected)):
        load_promises(path)


UNLESS = [
    # check, the words of the emulator, and those with which something else is asked for
    ("rate", "wale rate {rate}", "wale rate {rate} overhead atm"),
    ("rate", "wale rate {rate} overhead ethernet", "wale [overhead atm] [rate {rate}]"),
    ("schedule", "wale rate {rate} [delay {delay}]", "wale rate {rate} slack 10us"),
    ("schedule", "wale rate {rate} slack 0", "wale rate {rate} overhead atm"),
    ("rate_step", "wale rate {rate}", "wale rate {rate} overhead atm"),
    ("overhead", "wale rate {rate}", "wale rate {rate} overhead ethernet"),
    ("delay", "wale delay {delay} slack 0us", "wale delay {delay} slack 1us"),
    ("gso", "wale rate {rate} gso split", "wale rate {rate} gso keep"),
    ("gso", "wale rate {rate}", "wale rate {rate} overhead ethernet"),
    ("gso_limit", "wale rate {rate} limit {limit}p", "wale rate {rate} limit {limit}p gso keep"),
    ("gso_loss", "wale loss {loss}", "wale loss {loss} gso keep"),
    ("jitter", "wale delay {delay} jitter {jitter} distribution uniform",
     "wale delay {delay} jitter {jitter} distribution normal"),
    ("jitter_order", "wale delay {delay} jitter {jitter} noovertaking",
     "wale delay {delay} [jitter {jitter} overtaking]"),
    ("jitter_order", "wale delay {delay} jitter {jitter} noreordering",
     "wale delay {delay} [jitter {jitter} reordering]"),
    # words in brackets that are not there in this experiment do not count
    ("jitter_order", "wale delay {delay} jitter {jitter} [reorder {reorder} overtaking]",
     "wale delay {delay} jitter {jitter} [overtaking]"),
    ("reorder", "wale delay {delay} reorder {reorder}",
     "wale delay {delay} reorder {reorder} gap 3"),
    ("jitter", "netem delay {delay} {jitter} distribution normal",
     "netem delay {delay} {jitter} distribution paretonormal"),
    ("overhead", "netem rate {rate} limit {limit}", "netem limit {limit} [rate {rate}] -14"),
    ("rate", "netem rate {rate} 38", "netem rate {rate} 0 48 5"),
    ("loss_runs", "netem loss random {loss}", "netem loss random {loss} 25%"),
    ("loss", "netem loss {loss} limit 9", "netem loss {loss} 25%"),
    ("reorder", "netem delay {delay} reorder {reorder}",
     "netem delay {delay} reorder {reorder} 50%"),
    ("loss_burst", "wale loss gemodel {gemodel_p} {gemodel_r} 100% 0%",
     "wale [loss gemodel {gemodel_p} {gemodel_r} 70%]"),
    ("loss_burst", "netem loss gemodel {gemodel_p} {gemodel_r}",
     "netem loss gemodel {gemodel_p} {gemodel_r} 100% 0.1%"),
    ("loss_state", "wale loss state {state_p13} {state_p31} 0% 9% {state_p14}",
     "wale loss state {state_p13} {state_p31} 3% 100% {state_p14}"),
    ("slot", "wale slot {slot} 20ms delay 3", "wale slot {slot} packets 3"),
    ("slot", "netem [slot {slot}]", "netem [slot distribution normal {slot} 1ms packets 3]"),
    ("jitter", "netem delay {delay} {jitter} limit 9", "netem delay {delay} {jitter} 25%"),
    ("rate", "tbf rate {rate} burst {burst}", "tbf rate {rate} burst {burst} linklayer atm"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "words", "others"), UNLESS)
def test_what_a_promise_is_not_of(check: str, words: str, others: str) -> None:
    """It is one of the defaults; of other words its manual says something else."""
    one = CHECKS[check]
    found = {"refused": "not asked"}
    for text, is_promised in ((words, True), (others, False)):
        emulator = parse(text)
        seen = {
            name: Evidence(experiments(True)[name], found, {})
            for name in one.experiments
            if experiments(True)[name].runs_on(emulator)
        }
        assert seen
        assert (promised(one, emulator, seen) is not None) is is_promised, text


def verdict(check: str, text: str, seen: dict[str, Evidence]) -> str:
    return judge(CHECKS[check], parse(text), seen, virtual=True).verdict


def test_other_words_are_other_promises() -> None:
    seen = {"limit": through("limit", limit_packets=20)}
    assert verdict("drop_told", "wale limit {limit} rate {rate}", seen) == "pass"
    for word in ("drop_report", "drops"):
        told = f"wale limit {{limit}} rate {{rate}} {word} local"
        assert verdict("drop_told", told, seen) == "figure"
    assert verdict("drop_told", "netem limit {limit} rate {rate}", seen) == "figure"
    assert verdict("delay", "netem delay {delay}", seen) == "not offered"


def test_nothing_comes_out() -> None:
    found = {"arrivals": [1], "left": [], "told": [], "changes": [], "shown": []}
    seen = {"delay": Evidence(experiments(True)["delay"], found, {})}
    row = judge(CHECKS["delay"], parse("netem delay {delay}"), seen, virtual=True)
    assert (row.verdict, row.figures[0].name) == ("fail", "nothing came out")
    found = {"refused": 'What is "delay"?'}
    seen = {"delay": Evidence(experiments(True)["delay"], found, {})}
    row = judge(CHECKS["delay"], parse("netem delay {delay}"), seen, virtual=True)
    assert (row.verdict, row.says) == ("refused", 'What is "delay"?')


# Statistics


def test_binomial_interval() -> None:
    assert binomial_interval(10, 0.5, 0.9) == (2, 8)  # P(2 <= X <= 8) = 0.979, of 3 to 7 0.891
    assert binomial_interval(20_000, 0.05) == (882, 1122)


def test_runs() -> None:
    rng = random.Random(3)
    assert runs_test([rng.random() < 0.05 for _ in range(10_000)]) > 0.01
    assert runs_test([True, False] * 500) < 1e-9
    assert runs_test([True] * 50 + [False] * 50) < 1e-9
    # by hand: n1 = n2 = 5, 6 runs = mean, z = 0
    assert runs_test([bool(int(n)) for n in "1100101100"]) == pytest.approx(1)
    assert runs_test([False] * 9) != runs_test([False] * 9)  # not a number


def test_bursts() -> None:
    lengths = burst_lengths([bool(int(n)) for n in "0111001011110"])
    assert lengths == [3, 1, 4]


def test_steps() -> None:
    steps = Steps.of([bool(int(n)) for n in "0111001011110"])
    # what the last packet did does not show
    assert steps == Steps(from_good=4, begun=3, from_bad=8, ended=3)
    assert Steps.of([True]) == Steps(0, 0, 0, 0)
    assert not two_states_hold(Steps(9999, 0, 0, 0), 0.01, 0.25)
    assert two_states_hold(Steps(9000, 90, 360, 90), 0.01, 0.25)
    assert not two_states_hold(Steps(9000, 90, 220, 90), 0.01, 0.25)
    assert not two_states_hold(Steps(9000, 140, 560, 140), 0.01, 0.25)


def test_tails_of_rows() -> None:
    """By hand: two rows are bursts with 1/2, which go on with 1/2."""
    lengths = {1: Fraction(3, 4), 2: Fraction(1, 8), 3: Fraction(1, 16)}
    at_most_3 = lengths[1] ** 2 + 2 * lengths[1] * lengths[2]
    at_least_3 = 1 - lengths[1] ** 2
    assert _tails_of_rows(2, 3, 0.5, 0.5) == pytest.approx((at_most_3, at_least_3))


def rows_until(good: Any, bad: Any, packets: int) -> Iterator[tuple[Steps, int]]:
    """Of chains that alternate between rows of packets: the steps, and the packets in rows of
    losses that ended, of the first so many packets of each."""
    rows = numpy.stack([good, bad], axis=2).reshape(len(good), -1)
    ends = numpy.cumsum(rows, axis=1)
    assert (ends[:, -1] > packets).all()
    left = (ends < packets).astype(int)  # with a packet behind it
    steps = numpy.diff(numpy.minimum(ends, packets - 1), axis=1, prepend=0)
    of_good, of_bad = numpy.s_[:, 0::2], numpy.s_[:, 1::2]
    counts = (steps[of_good], left[of_good], steps[of_bad], left[of_bad], (rows * left)[of_bad])
    for one in zip(*(count.sum(axis=1).tolist() for count in counts), strict=True):
        yield Steps(*one[:4]), one[4]


#: How often a right emulator may be called wrong in the tests below, and how often it is drawn.
OFTEN, DRAWN = 0.002, 40_000


def test_so_often_right_bursts_are_called_wrong() -> None:
    """By Monte Carlo: not more often than said, in the experiment's 10,000 packets, nor hardly
    ever; normal intervals of the mean lengths are missed three times as often."""
    rng = numpy.random.default_rng(5)
    wrong = 0
    for _ in range(DRAWN // 4000):
        good, bad = (rng.geometric(p, (4000, 200)) for p in (GEMODEL_P, GEMODEL_R))
        for steps, _ in rows_until(good, bad, 10_000):
            wrong += not two_states_hold(steps, GEMODEL_P, GEMODEL_R, OFTEN)
    assert 0.5 * OFTEN < wrong / DRAWN < 1.5 * OFTEN


@pytest.mark.slow
def test_so_often_right_losses_of_four_states_are_called_wrong() -> None:
    """The same of losses in bursts and by themselves."""
    rng = numpy.random.default_rng(6)
    out, wrong = STATE_P13 + STATE_P14, 0
    for _ in range(DRAWN // 4000):
        shape = (4000, 500)
        good, bad = rng.geometric(out, shape), rng.geometric(STATE_P31, shape)
        bad = numpy.where(rng.random(shape) < STATE_P13 / out, bad, 1)
        for steps, packets in rows_until(good, bad, 10_000):
            p = (STATE_P13, STATE_P31, STATE_P14)
            wrong += not four_states_hold(steps, packets, p, OFTEN)
    assert 0.5 * OFTEN < wrong / DRAWN < 1.5 * OFTEN


def test_distributions() -> None:
    rng = random.Random(5)
    flat = [rng.uniform(90, 110) for _ in range(3000)]
    bell = [rng.gauss(100, 10) for _ in range(3000)]
    assert fits_uniform(flat, 90, 110) > 0.01 > 1e-9 > fits_uniform(bell, 90, 110)
    assert fits_normal(bell, 100, 10) > 0.01 > 1e-9 > fits_normal(flat, 100, 10)


def test_percentiles() -> None:
    assert [percentile(range(1, 101), share) for share in (0.5, 0.99, 1)] == [50, 99, 100]
    assert percentile([7], 0.5) == 7


# Checks, on what a link does that is computed


def through(name: str, extra: int = 0, changes: tuple[Change, ...] = (), **config: Any) -> Evidence:
    """An experiment through a link of models/link.py that charges `extra` bytes a packet."""
    experiment = experiments(True)[name]
    asked = experiment.asked
    values: dict[str, Any] = {"delay_ns": int(asked.get("delay", 0)), "limit_packets": 1 << 30}
    if "rate" in asked:
        values["rate"] = int(asked["rate"]) // 8
    now, arrivals = 10**18, []
    for gap_ns, size, _ in experiment.sends:
        now += gap_ns + 1000
        arrivals.append((now, size + extra))
    packets = Link(Config(**values | config), changes).run(arrivals)
    return evidence(name, packets, extra, [[change.time_ns, change.time_ns] for change in changes])


def evidence(name: str, packets: list[Packet], extra: int, changes: list[list[int]]) -> Evidence:
    """What the guest would have seen of these packets."""
    left = [
        [packet.departure_ns, number, 0, packet.wire_len - extra, 0]
        for number, packet in enumerate(packets)
        if packet.verdict is Verdict.SENT
    ]
    found = {
        "arrivals": [packet.arrival_ns for packet in packets],
        "left": sorted(left),
        "told": [],
        "changes": changes,
        "shown": [],
    }
    return Evidence(experiments(True)[name], found, experiments(True)[name].asked)


def holds(check: str, *seen: Evidence, virtual: bool = True) -> dict[str, bool]:
    found = dict(zip(CHECKS[check].experiments, seen, strict=True))
    return CHECKS[check].judge(found, Tolerance.of(virtual)).holds


def with_losses(lost: list[bool], name: str) -> Evidence:
    packets = [
        Packet(n * MS, 200, Verdict.LOSS if gone else Verdict.SENT, n * MS, n * MS)
        for n, gone in enumerate(lost)
    ]
    return evidence(name, packets, 0, [])


def test_delay() -> None:
    assert holds("delay", through("delay"))["exact"]
    late = through("delay", delay_ns=100 * MS + 2000)
    assert not holds("delay", late)["exact"]
    assert holds("delay", late, virtual=False)["exact"]
    assert not holds("delay", through("delay", delay_ns=103 * MS), virtual=False)["exact"]
    assert not holds("delay", through("delay", delay_ns=97 * MS), virtual=False)["exact"]
    lossy = through("delay", loss=1 << 28, seed=1)
    assert not holds("delay", lossy)["exact"]


@pytest.mark.parametrize("extra", [0, 14, 24])
def test_rate_and_overhead(extra: int) -> None:
    right = through("rate", extra)
    assert holds("rate", right)["exact"]
    assert holds("overhead", right) == {"ip": extra == 0, "ethernet": extra == 14}
    assert holds("schedule", right, through("schedule", extra))["exact"]
    wrong = through("rate", extra, rate=1_000_100)
    assert not holds("rate", wrong)["exact"]
    assert holds("rate", wrong, virtual=False)["exact"]
    slow = through("schedule", extra, rate=999_000)
    assert not holds("schedule", right, slow)["exact"]


def test_rate_step() -> None:
    rate = through("rate")
    when = 10**18 + 10 * MS
    step = (Change(when, {"rate": 250_000}),)
    assert holds("rate_step", rate, through("rate_step", changes=step))["applies_to_waiting"]
    deaf = through("rate_step", changes=(Change(when, {"rate": 1_000_000}),))
    assert not holds("rate_step", rate, deaf)["applies_to_waiting"]


def test_limit() -> None:
    for limit in (19, 20, 21):
        one = through("limit", limit_packets=limit)
        assert holds("limit", one)["exact"] == (limit == 20)
        one = through("child", limit_packets=limit + 1)
        assert holds("child", one)["buffer"] == (limit == 20)
    roomy = through("limit_line", limit_packets=20)
    assert holds("limit_line", roomy) == {"line_apart": True, "held_at_most": False}


def test_who_is_told() -> None:
    one = through("limit", limit_packets=20)
    assert holds("drop_told", one) == {"remote": True, "local": False}
    one.told = {number for number, gone in enumerate(one.lost) if gone}
    assert holds("drop_told", one) == {"remote": False, "local": True}
    one.told.pop()
    assert holds("drop_told", one) == {"remote": False, "local": False}


def test_counters() -> None:
    one = through("limit", limit_packets=20)
    lost = sum(one.lost)
    one.shown = [
        {"sends": 60, "packets": 0, "drops": 40, "qlen": 20},
        {"sends": 100, "packets": 100 - lost, "drops": lost, "qlen": 0},
    ]
    assert holds("counters", one) == {"balance": True, "own_balance": False}
    one.shown[0]["own"] = {"sent_packets": 0, "dropped_buffer_packets": 40, "backlog_packets": 20}
    assert holds("counters", one)["own_balance"]
    one.shown[0]["own"]["line_packets"] = 1
    one.shown[0]["drops"] = 39
    assert holds("counters", one) == {"balance": False, "own_balance": False}


def test_change() -> None:
    one = through("change_delay", changes=(Change(10**18 + 50 * MS, {"delay_ns": 20 * MS}),))
    assert holds("change_delay", one) == {"none_lost": True, "in_order": True}
    one.departures[3], one.departures[4] = one.departures[4], one.departures[3]
    one.__dict__.pop("first", None)
    assert holds("change_delay", one) == {"none_lost": True, "in_order": False}
    del one.departures[5], one.__dict__["first"], one.__dict__["lost"]
    assert holds("change_delay", one) == {"none_lost": False, "in_order": False}


def test_losses() -> None:
    rng = random.Random(6)
    for share in (0.05, 0.06):
        one = with_losses([rng.random() < share for _ in range(20_000)], "loss")
        assert holds("loss", one)["share"] == (share == 0.05)
        assert holds("loss_runs", one)["independent"]
    pairs = [rng.random() < 0.05 for _ in range(10_000)]
    one = with_losses([gone for gone in pairs for _ in range(2)], "loss")
    assert not holds("loss_runs", one)["independent"]
    with pytest.raises(Unmeasurable, match="none was lost"):
        holds("loss_runs", with_losses([False] * 100, "loss"))


def test_bursty_losses() -> None:
    rng = random.Random(7)
    for out in (0.25, 0.35):
        bad, lost = False, []
        for _ in range(20_000):
            bad = rng.random() >= out if bad else rng.random() < 0.01
            lost.append(bad)
        one = with_losses(lost, "loss_burst")
        assert holds("loss_burst", one)["gilbert"] == (out == 0.25)


def test_losses_of_four_states() -> None:
    rng = random.Random(8)
    for alone in (0.02, 0.04):
        state, lost = 1, []
        for _ in range(40_000):
            draw = rng.random()
            if state == 1:
                state = 3 if draw < 0.01 else 4 if draw < 0.01 + alone else 1
            elif state == 4 or draw < 0.25:
                state = 1
            lost.append(state != 1)
        one = with_losses(lost, "loss_state")
        assert holds("loss_state", one)["four_states"] == (alone == 0.02)


def test_marks() -> None:
    one = with_losses([False] * 2000, "ecn")
    one.departures = [type(d)(d.time_ns, d.number, 0, d.size, False, n < 200)
                      for n, d in enumerate(one.departures)]  # fmt: skip
    assert holds("ecn", one)["marked"]
    del one.departures[1000], one.__dict__["first"], one.__dict__["lost"]
    assert not holds("ecn", one)["marked"]
    assert not holds("ecn", with_losses([False] * 2000, "ecn"))["marked"]


def test_a_list_of_losses() -> None:
    for first in (99, 98):
        one = with_losses([first <= number < first + 20 for number in range(200)], "drop_list")
        assert holds("drop_list", one)["exact"] == (first == 99)


def at_times(name: str, times_ns: list[int]) -> Evidence:
    packets = [Packet(0, 1000, Verdict.SENT, when, when) for when in times_ns]
    return evidence(name, packets, 0, [])


def test_slots() -> None:
    for apart in (10, 11, 9):
        one = at_times("slot", [10**18 + n // 7 * apart * MS for n in range(70)])
        assert holds("slot", one)["apart"] == (apart >= 10)


def test_a_start() -> None:
    begin = 10**6 * 10**9 + 7 * 100 * MS
    steps = [n * 100 * MS + k * MS for n in range(5) for k in range(1, 51)]
    assert holds("start", at_times("start", [begin + ns for ns in steps]))["in_step"]
    assert not holds("start", at_times("start", [begin + ns + 3 * MS for ns in steps]))["in_step"]


def test_a_delay_that_moves() -> None:
    begin = 10**6 * 10**9 + 10 * MS
    came = [begin + n * MS for n in range(30)] + [begin + (n + 45) * MS for n in range(60)]
    delays = [5 if (when - begin + 10 * MS) // (50 * MS) % 2 == 0 else 25 for when in came]
    for wrong in (0, 1):
        left = [
            when + (delay + wrong * (delay == 25)) * MS
            for when, delay in zip(came, delays, strict=True)
        ]
        ordered = list(accumulate(left, max))
        packets = [Packet(a, 1000, Verdict.SENT, d, d) for a, d in zip(came, ordered, strict=True)]
        assert holds("moving", evidence("moving", packets, 0, []))["by_step"] == (not wrong)


def test_a_link_that_is_down() -> None:
    begin = 10**6 * 10**9
    for moved in (0, 3):
        packets = [
            Packet(begin + n * MS + 1, 1000, Verdict.SENT, begin, begin + n * MS + 1)
            if (n + moved) // 50 % 2 == 0
            else Packet(begin + n * MS + 1, 1000, Verdict.LOSS, begin)
            for n in range(5, 200)
        ]
        assert holds("down", evidence("down", packets, 0, []))["drops"] == (not moved)


def test_seed() -> None:
    runs = [
        through(f"seed_{name}", loss=1 << 29, seed=seed)
        for name, seed in (("one", 7), ("again", 7), ("other", 8))
    ]
    assert holds("seed", *runs)["repeats"]
    assert not holds("seed", runs[0], runs[2], runs[1])["repeats"]
    assert not holds("seed", runs[0], runs[1], runs[1])["repeats"]
    late = through("seed_again", loss=1 << 29, seed=7, delay_ns=5000)
    assert not holds("seed", runs[0], late, runs[2])["repeats"]


def gso(name: str, parts: list[tuple[int, int, int]]) -> Evidence:
    """Two packets of ten segments at time 0; parts are (time, number, segments that are left)."""
    left = [[when, number, 0, 972 * count + 28, 0] for when, number, count in parts]
    found = {"arrivals": [0, 0], "left": left, "told": [], "changes": [], "shown": []}
    return Evidence(experiments(True)[name], found, {})


def test_segments() -> None:
    single = [(MS * n, n // 10, 1) for n in range(20)]
    assert holds("gso", gso("gso", single))["one_by_one"]
    assert not holds("gso", gso("gso", [(n // 10, n // 10, 1) for n in range(20)]))["one_by_one"]
    assert not holds("gso", gso("gso", [(MS, 0, 10), (2 * MS, 1, 10)]))["one_by_one"]
    assert holds("gso_limit", gso("gso_limit", [(MS, 0, 10), (MS, 1, 10)]))["counted"]
    assert not holds("gso_limit", gso("gso_limit", [(MS, 0, 10), (MS, 1, 11)]))["counted"]
    assert holds("gso_loss", gso("gso_loss", [*single[:8], *single[11:19]]))["one_by_one"]
    assert not holds("gso_loss", gso("gso_loss", single[:10]))["one_by_one"]


def test_duplicates_errors_and_those_that_overtake() -> None:
    for count, expected in ((400, True), (500, False)):
        one = with_losses([False] * 4000, "duplicate")
        one.departures += one.departures[:count]
        assert holds("duplicate", one)["share"] == expected
        one = with_losses([False] * 4000, "corrupt")
        one.departures = [type(d)(d.time_ns, d.number, 0, d.size, n < count)
                          for n, d in enumerate(one.departures)]  # fmt: skip
        assert holds("corrupt", one)["share"] == expected
        packets = [
            Packet(n * MS, 200, Verdict.SENT, n * MS, n * MS + 10 * MS * (n >= count))
            for n in range(4000)
        ]
        assert holds("reorder", evidence("reorder", packets, 0, []))["share"] == expected


def test_errors_that_checksums_show() -> None:
    for unseen, seen, expected in ((400, 0, True), (400, 1, False), (500, 0, False)):
        one = with_losses([False] * 4000, "corrupt_fix")
        one.departures = [
            type(d)(d.time_ns, d.number, 0, d.size, n < unseen + seen, False, n < unseen)
            for n, d in enumerate(one.departures)
        ]
        assert holds("corrupt_fix", one)["unseen"] == expected


@pytest.mark.parametrize(
    ("passed", "later", "expected"),
    [(200, 0, True), (201, 0, True), (203, 0, False), (200, 1, False)],
)
def test_a_flow_that_is_cut(passed: int, later: int, expected: bool) -> None:
    leave = [n < passed or n > 999 - later for n in range(1000)]
    verdicts = [Verdict.SENT if one else Verdict.LOSS for one in leave]
    packets = [Packet(n * MS, 1000, one, n * MS, n * MS) for n, one in enumerate(verdicts)]
    assert holds("breaker", evidence("breaker", packets, 0, []))["cut"] == expected


# What is found of emulators


def conform(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(TESTBED / "wale-lab"), "conform", "--quiet", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)


def known() -> dict[str, dict[str, str]]:
    """The verdicts that the documentation has, by emulator and check."""
    path = TOP / "Documentation/howto/conformance.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    emulators = [name for name in rows[0] if name != "check"]
    return {name: {row["check"]: row[name].partition(":")[0] for row in rows} for name in emulators}


KNOWN = known()
#: Of trees, which are made of the others, the checks that need few packets.
QUICK = [
    name
    for name, check in CHECKS.items()
    if set(check.experiments) & {"rate", "child"} or check.subject == "limit"
]


@pytest.mark.guest
@pytest.mark.parametrize("emulator", KNOWN)
def test_what_the_documentation_says(emulator: str) -> None:
    wanted = QUICK if "+" in emulator else list(CHECKS)
    done = conform("--qdisc", emulator, "--json", *(f"--check={name}" for name in wanted))
    found = {row["check"]: row["verdict"] for row in json.loads(done.stdout)["checks"]}
    if found.get("seed") == "figure":  # tc of iproute2 6.6 and later knows netem's seed
        found["seed"] = "refused"
    assert found == {name: KNOWN[emulator][name] for name in wanted}
    assert done.returncode == ("fail" in found.values())


@pytest.mark.guest
def test_a_command_line() -> None:
    done = conform("--qdisc", "pfifo limit {limit}; tbf rate {rate}", "--check", "limit")
    assert done.returncode == 2
    assert "tc refuses it" in done.stderr
    words = "tbf rate {rate} burst {burst} limit {limit_bytes}; pfifo limit {limit}"
    done = conform("--qdisc", words, "--check", "rate", "--check", "limit")
    assert done.returncode == 0, done.stderr
    assert "1 pass, 0 fail, 1 figure, 0 not offered, 0 refused" in done.stdout


@pytest.mark.guest
@pytest.mark.parametrize(
    "qdisc",
    [
        "wale rate {rate} delay {delay} limit {limit}p",
        "netem rate {rate} delay {delay}",
        "htb default 1; class htb rate 8mbit ceil 8mbit; netem delay 20ms",
        "wale rate 1mbit delay 20ms jitter 5ms overtaking loss gemodel 1% 10% 70% 0.1% slot 5ms 9ms "
        "drop_list packets 10,11 reorder 25% gap 5 sessions arrival 0.02 mean 20 max 3 step 100ms",
    ],
)
def test_a_rate_that_nobody_asks_for_takes_no_time(qdisc: str) -> None:
    done = conform("--qdisc", qdisc, "--check", "delay")
    assert "1 pass, 0 fail" in done.stdout, done.stdout + done.stderr
    assert ("chosen by the checks" in done.stdout) == ("{" not in qdisc)


@pytest.mark.guest
def test_what_an_aqm_drops_is_not_held_against_the_link() -> None:
    words = "wale rate 10mbit delay 20ms; fq_codel"
    done = conform("--qdisc", words, "--check", "rate", "--check", "rate_step")
    assert "1 pass, 0 fail, 1 figure" in done.stdout, done.stdout + done.stderr
    assert "fq_codel drops as it sees fit" in " ".join(done.stdout.split())


@pytest.mark.guest
def test_real_time() -> None:
    done = conform("--time", "real", "--check", "seed", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["checks"]
    assert (row["verdict"], row["figures"][0]["unit"]) == ("pass", "packets")


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["conform", "--list"]) == 0
    said = capsys.readouterr().out
    for name in (*load_emulators(), *template.PLACEHOLDERS, *CHECKS):
        assert name in said


def test_list_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["conform", "--list", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {kind: [one["name"] for one in some] for kind, some in shown.items()} == {
        "emulators": list(load_emulators()),
        "placeholders": list(template.PLACEHOLDERS),
        "checks": list(CHECKS),
    }
    assert all(len(one) == len(some[0]) > 1 for some in shown.values() for one in some)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--check", "speed"], "--check speed: expected one of delay, rate"),
        (["--qdisc", "netem {speed}"], "unknown {speed}"),
    ],
)
def test_usage(arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["conform", *arguments]) == 2
    assert expected in capsys.readouterr().err
