# SPDX-License-Identifier: GPL-2.0
"""When the traces and sessions of a scenario's links begin."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from wale_lab import yaml_lines
from wale_lab.errors import ScenarioError
from wale_lab.results.result import problems, utilisation
from wale_lab.runner import run_scenario
from wale_lab.scenario import Scenario, check_scenario
from wale_lab.timeline import LEAD_NS
from wale_lab.topologies.planning import make_plan

TEXT = """
name: start
description: traces that start together
bottleneck:
  forward:
    trace: {steps: ["50ms:8mbit", "30ms:4mbit", "20ms:0bit"]}
    delay: 5ms
  reverse:
    trace: {steps: ["70ms:8mbit", "30ms:0bit"]}
    delay: 5ms
flows:
  - {name: one, duration: 1s, cc: reno}
record: {interval: 10ms}
"""
LEAD_S = LEAD_NS["virtual"] / 1e9
FORWARD = "bottleneck.forward"


def check(*overrides: str) -> Scenario:
    return check_scenario(yaml_lines.parse(TEXT, "s.yaml"), list(overrides), Path())


def epochs(out: Path, *overrides: str) -> dict[str, float]:
    """Run the scenario: when each link's trace or sessions started, on the scenario's clock."""
    result = run_scenario(check(*overrides), 1, out)
    assert problems(result) == []
    return {link["name"]: link["epoch_s"] for link in result["links"]}


def rates(out: Path, name: str) -> dict[int, int]:
    """The samples of a link's rate, in bytes/s, by the ms since the scenario's start."""
    with (out / "links.csv").open(encoding="utf-8", newline="") as file:
        rows: list[dict[str, Any]] = [row for row in csv.DictReader(file) if row["link"] == name]
    return {round(float(row["t_s"]) * 1000): int(row["rate_Bps"]) for row in rows}


@pytest.mark.guest
def test_links_begin_together(tmp_path: Path) -> None:
    """To the ns, of either direction and of each copy of the topology."""
    assert epochs(tmp_path / "one") == {"forward": -LEAD_S, "reverse": -LEAD_S}
    copies = "flows=[{name: a, duration: 1s, cc: reno}, {name: b, duration: 1s, cc: reno}]"
    found = epochs(tmp_path / "two", "isolate=true", copies)
    assert len(found) == 4
    assert set(found.values()) == {-LEAD_S}


@pytest.mark.guest
def test_a_link_that_began_before_and_one_that_will(tmp_path: Path) -> None:
    found = epochs(tmp_path, f"{FORWARD}.start=-1h", "bottleneck.reverse.start=500ms")
    assert found == {"forward": -3600, "reverse": 0.5}
    forward, reverse = rates(tmp_path, "forward"), rates(tmp_path, "reverse")
    for ms, rate in forward.items():
        assert rate == (1_000_000 if ms % 100 < 50 else 500_000 if ms % 100 < 80 else 0), ms
    for ms, rate in reverse.items():
        assert rate == (1_000_000 if ms < 500 or ms % 100 < 70 else 0), ms
    assert len(forward) > 90


def test_what_the_agent_is_told() -> None:
    plan = make_plan(check(f"{FORWARD}.start=-90s"), 1)
    told = {link.name: (link.start_ns, link.starts) for link in plan.links}
    assert told == {"forward": (-90 * 10**9, True), "reverse": (None, True)}
    plan = make_plan(check("bottleneck.reverse={rate: 1mbit}"), 1)
    assert not next(link for link in plan.links if link.name == "reverse").starts


def test_utilisation_counts_from_the_start() -> None:
    bytes_of_a_period = 50_000 + 15_000
    link = check(f"{FORWARD}.start=-30ms").bottleneck.forward
    assert utilisation(link, bytes_of_a_period, 0, 0.1) == pytest.approx(1)
    assert utilisation(link, 20_000 + 15_000, 0, 0.05) == pytest.approx(1)
    link = check(f"{FORWARD}.start=1s").bottleneck.forward
    assert utilisation(link, 500_000 + bytes_of_a_period, 0.5, 1.1) == pytest.approx(1)


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (["bottleneck.reverse={rate: 1mbit, start: 1s}"], "expected start with trace or sessions"),
        ([f"{FORWARD}.start=soon"], "a time such as"),
        (
            [
                "bottleneck.forward={rate: 1mbit, start: 1s,"
                " sessions: {arrival: 1%, mean: 20, max: 3, step: 1ms}}"
            ],
            "0 to 100000 of their steps ago",
        ),
    ],
)
def test_starts_that_are_refused(overrides: list[str], expected: str) -> None:
    with pytest.raises(ScenarioError, match=expected):
        check(*overrides)
