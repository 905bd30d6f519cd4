# SPDX-License-Identifier: GPL-2.0
"""The words for tc that the keys of a scenario's link become."""

from __future__ import annotations

import pytest

from test_scenario import GOOD, check
from wale_lab.topologies import plan as plans


@pytest.mark.parametrize(
    ("options", "tc"),
    [
        ("scone: link period 67s average 0", "scone link period 67000000000ns average 0ns"),
        ("scone: 10mbit", "scone 10000000bit"),
        ("feedback: on, scone: share period 5s", "scone share period 5000000000ns"),
    ],
)
def test_scone_options(options: str, tc: str) -> None:
    scenario = check(GOOD.replace("loss: 1%", options))
    assert " ".join(plans.wale_words(scenario.bottleneck.forward, 5)).endswith(tc)


@pytest.mark.parametrize(
    ("options", "tc"),
    [
        ("loss_gemodel: {p: 1%}", "loss gemodel 1% 99% 100% 0%"),
        ("loss_gemodel: {p: 1%, r: 10%, bad: 50%, good: 0.5%}", "loss gemodel 1% 10% 50% 0.5%"),
        ("loss_state: {p13: 5%}, loss_ecn: on", "loss state 5% 95% 0% 100% 0% loss_ecn"),
        ("jitter: {time: 5ms}", "jitter 5000000ns distribution uniform"),
        ("slot: {min: 5ms, packets: 3}", "slot 5000000ns 5000000ns packets 3 bytes 0"),
        (
            'flows: 3, drop_list: [{packets: "10, 20-25"}, {flow: 3, packets: 1}]',
            "flows 3 drop_list flow 0 packets 10,20-25 drop_list flow 3 packets 1",
        ),
        (
            "reorder: {share: 25%, gap: 5}, duplicate: 1%, corrupt: 0.1%",
            "reorder 25% gap 5 duplicate 1% corrupt 0.1%",
        ),
        (
            "jitter: {time: 5ms, distribution: normal, overtaking: on}",
            "jitter 5000000ns distribution normal overtaking",
        ),
    ],
)
def test_impairment_options(options: str, tc: str) -> None:
    scenario = check(GOOD.replace("loss: 1%", options))
    words = plans.wale_words(scenario.bottleneck.forward, 5)
    assert " ".join(words) == (
        f"wale rate 2000000bit delay 50000000ns limit 30000b {tc} overhead raw drop_report remote seed 5"
    )


@pytest.mark.parametrize(("fix", "word"), [("on", "corrupt_fix"), ("off", "nocorrupt_fix")])
def test_corruption_that_nobody_sees(fix: str, word: str) -> None:
    scenario = check(GOOD.replace("loss: 1%", f"corrupt: 1%, corrupt_fix: {fix}"))
    words = plans.wale_words(scenario.bottleneck.forward, 5)
    assert words[words.index("corrupt") + 1] == "1%" and words[-1] == word


def test_breaker() -> None:
    text = "flows: 8, breaker: {rate: 8mbit, after: 5s}"
    scenario = check(GOOD.replace("loss: 1%", text))
    words = plans.wale_words(scenario.bottleneck.forward, 5)
    assert " ".join(words).endswith(" breaker rate 8000000bit after 5000000000ns")


def test_policer() -> None:
    text = "policer: {rate: 8mbit, burst: 30kB, excess: mark}"
    scenario = check(GOOD.replace("loss: 1%", text))
    words = plans.wale_words(scenario.bottleneck.forward, 5)
    assert " ".join(words).endswith(" policer rate 8000000bit burst 30000b excess mark")
