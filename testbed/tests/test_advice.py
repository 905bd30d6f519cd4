# SPDX-License-Identifier: GPL-2.0
"""Feedback and advice in a scenario: what is accepted, what is refused, what `wale` is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from wale_lab import yaml_lines
from wale_lab.engines.modules import in_load_order, needs
from wale_lab.errors import ScenarioError
from wale_lab.netlink import numbers_of
from wale_lab.scenario import Scenario, check_scenario
from wale_lab.topologies.planning import make_plan
from wale_lab.tree import SOURCES

TEXT = """\
name: advised
topology: {pairs: [{name: near}, {name: far}]}
bottleneck:
  forward: {rate: 2mbit, limit: 30kB, feedback: true}
flows:
  - {name: one, cc: ratcp, pair: near, size: 1MB}
"""
NO_FEEDBACK = "bottleneck.forward.feedback=off"
SENDERS = "hosts.senders.advice"


def check(*overrides: str) -> Scenario:
    return check_scenario(yaml_lines.parse(TEXT, "s.yaml"), list(overrides), Path())


def told(*overrides: str) -> dict[str, str]:
    """What `wale rate set` is told in each namespace."""
    plan = make_plan(check(*overrides), 1)
    return {a.netns: " ".join([*a.path, *a.rate]) for a in plan.advice}


def test_senders_follow_the_link() -> None:
    plan = make_plan(check(), 1)
    assert plan.links[0].words[-3:] == ["feedback", "idle", "2000000000ns"]
    assert "feedback" not in plan.links[1].words
    follow = "dev eth0 follow dev bottleneck netns left lag rtt"
    assert told() == {"near-sender": follow, "far-sender": follow}
    assert set(told("isolate=on")) == {"one.near-sender"}  # its only pair
    assert "netns one.left " in told("isolate=on")["one.near-sender"]


def test_settings_of_all_and_of_one() -> None:
    every = "{beta: 4, lag: now, rise: additive, swing: 7%, pace: on, base_rtt: 100ms, age: 1s}"
    own = "hosts.pairs={far: {sender: {advice: {beta: 1, lag: 2s, pace: off, age: none}}}}"
    words = told(f"{SENDERS}={every}", own)
    follow = "dev eth0 follow dev bottleneck netns left lag"
    rest = "rise additive swing 7%"
    assert words["near-sender"] == (
        f"{follow} now age 1000000000ns beta 4 {rest} pace base-rtt 100000000ns"
    )
    assert words["far-sender"] == (
        f"{follow} 2000000000ns age none beta 1 {rest} nopace base-rtt 100000000ns"
    )


def test_a_weight_and_the_base_of_the_marks() -> None:
    weight = "{rate: 32mbit, meaning: weight, phi: 1.25}"
    words = told(f"{SENDERS}={weight}")["near-sender"]
    assert words == "dev eth0 32000000bit weight phi 1.25"
    with pytest.raises(ScenarioError, match="expected meaning together with rate"):
        told(f"{SENDERS}={{meaning: weight}}")
    with pytest.raises(ScenarioError, match=r"1\.001"):
        told(f"{SENDERS}={{phi: 1}}")


@pytest.mark.parametrize(
    ("swing", "word"), [("50%", "50%"), ("0.29", "29%"), ("0", "0%"), ("1", "100%"), ("1%", "1%")]
)
def test_swing_is_a_share_or_percents(swing: str, word: str) -> None:
    words = told(f"{SENDERS}={{swing: {swing}}}")["near-sender"]
    assert words == f"dev eth0 follow dev bottleneck netns left lag rtt swing {word}"


def test_a_rate_of_their_own() -> None:
    words = told(NO_FEEDBACK, f"{SENDERS}={{rate: 8mbit, meaning: link, layer: ethernet, beta: 0}}")
    assert words["near-sender"] == "dev eth0 8000000bit link layer ethernet beta 0"
    assert told(NO_FEEDBACK) == {}
    assert told(f"{SENDERS}={{rate: unlimited}}")["far-sender"] == "dev eth0 unlimited"
    # a pair's own rate takes the place of steps for all
    own = "hosts.pairs={far: {sender: {advice: {rate: 1mbit}}}}"
    words = told(NO_FEEDBACK, f"{SENDERS}={{steps: [1s:2mbit], end: loop, meaning: link}}", own)
    assert words == {"near-sender": "dev eth0 2000000bit link", "far-sender": "dev eth0 1000000bit"}


def test_steps_are_played() -> None:
    steps = f"{SENDERS}={{steps: '1s:2mbit,500ms:0bit', end: delete, beta: 2}}"
    plan = make_plan(check(NO_FEEDBACK, steps), 1)
    advice = plan.advice[0]
    assert advice.rate == ["2000000bit", "beta", "2"]
    assert advice.trace == ["1000000000ns 2000000bit", "500000000ns 0bit"]
    assert advice.play == ["--delete"]


@pytest.mark.parametrize(
    ("overrides", "modules"),
    [
        ([NO_FEEDBACK, "flows.one.cc=cubic"], ["sch_wale"]),
        (["flows.one.cc=cubic"], ["sch_wale", "rate_feedback"]),
        ([NO_FEEDBACK, "flows.one.cc=tahoe"], ["sch_wale", "tcp_ratcp"]),
        (
            [NO_FEEDBACK, "flows.one.cc=cubic", "hosts.receivers.route.congctl=ratcp_ecn"],
            ["sch_wale", "tcp_ratcp"],
        ),
        ([], ["sch_wale", "rate_feedback", "tcp_ratcp"]),
    ],
)
def test_modules(overrides: list[str], modules: list[str]) -> None:
    assert check(*overrides).modules() == modules


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (
            ["bottleneck.reverse.feedback=on"],
            "bottleneck.reverse.feedback: expected feedback on the forward link alone",
        ),
        (
            [NO_FEEDBACK, f"{SENDERS}={{beta: 2}}"],
            "hosts.senders.advice: expected a rate, steps, or feedback on the forward link",
        ),
        (
            [NO_FEEDBACK, "hosts.pairs={far: {sender: {advice: {beta: 1}}}}"],
            "hosts.pairs.far.sender.advice: expected a rate, steps, or feedback",
        ),
        (["hosts.receivers={advice: {beta: 1}}"], "hosts.receivers.advice: unknown key"),
        ([f"{SENDERS}={{rate: 1mbit, steps: [1s:2mbit]}}"], "expected either a rate or steps"),
        ([f"{SENDERS}={{steps: [0s:2mbit]}}"], "advice.steps.0: expected a duration above 0"),
        ([f"{SENDERS}={{meaning: link}}"], "expected meaning together with rate or steps"),
        ([f"{SENDERS}={{end: loop}}"], "expected end together with steps"),
        ([f"{SENDERS}={{lag: 25h}}"], "advice.lag: expected now or rtt or a time up to 24 h, got"),
        ([f"{SENDERS}={{lag: soon}}"], "expected now or rtt or a time such as"),
        ([f"{SENDERS}={{base_rtt: 61s}}"], "expected measured or a time up to 1 min, got '61s'"),
        ([f"{SENDERS}={{age: 2d}}"], "expected none or a time up to 24 h, got '2d'"),
        ([f"{SENDERS}={{beta: 1000001}}"], "advice.beta: expected less than or equal to 1000000"),
        (
            [f"{SENDERS}={{swing: 101%}}"],
            'advice.swing: expected whole percents from 0% to 100%, such as "50%" or 0.5,'
            " got '101%'",
        ),
        ([f"{SENDERS}={{swing: 50}}"], "expected whole percents from 0% to 100%"),
        ([f"{SENDERS}={{swing: 12.5%}}"], "expected whole percents from 0% to 100%"),
        ([f"{SENDERS}={{rise: slow}}"], "advice.rise: expected 'fast' or 'additive', got 'slow'"),
        (
            ["bottleneck.forward.feedback={idle: 1us}"],
            "feedback.idle: expected a time from 1 ms to 1 hour",
        ),
        (
            ["bottleneck.forward={qdisc: netem, feedback: on}"],
            "expected qdisc alone, it comes with feedback",
        ),
    ],
)
def test_refused(overrides: list[str], expected: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        check(*overrides)
    assert expected in str(caught.value)


def test_numbers_of_the_contract() -> None:
    """The recorder and the benchmark read them from the UAPI header."""
    header = (SOURCES / "kmod/include/uapi/linux/rate_feedback.h").read_text()
    commands = numbers_of(header, "RATE_FEEDBACK_CMD_")
    assert list(commands)[:4] == ["set", "del", "get", "flow_get"]
    assert commands["set"] == 1
    assert numbers_of("enum {\n\tA_B = 1,\n\tA_C,\n\n\t__A_MAX,\n};", "A_") == {"b": 1, "c": 2}


def test_modules_are_loaded_after_what_they_need(tmp_path: Path) -> None:
    have = {}
    for name, depends in (("a", ""), ("b", "c,a"), ("c", "a"), ("d", "elsewhere")):
        have[name] = tmp_path / f"{name}.ko"
        have[name].write_bytes(f"\x7fELF\0depends={depends}\0name={name}\0".encode())
    assert needs(have["b"].read_bytes()) == ["c", "a"]
    order = [path.stem for path in in_load_order(["d", "b", "a"], have)]
    assert order == ["d", "a", "c", "b"]
