# SPDX-License-Identifier: GPL-2.0
"""What RATCP must show: full links, no queues, fair shares, and calm when advice goes wrong."""

from __future__ import annotations

import csv
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from wale_lab.results.measures import measure
from wale_lab.results.result import problems
from wale_lab.runner import run_scenario
from wale_lab.scenario import find_scenario, load_scenario

pytestmark = pytest.mark.guest

Rows = list[dict[str, str]]

ADVICE = "hosts.senders.advice"
#: Round trip of the scenarios, s; and the time between two of their samples.
RTT_S = 0.1
SAMPLE_S = 0.01


def run(name: str, out: Path, *overrides: str, seed: int = 1) -> dict[str, Any]:
    """Run a scenario; it has to be a good run."""
    result = run_scenario(load_scenario(find_scenario(name), list(overrides)), seed, out)
    assert problems(result) == []
    return result


def flows_of(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {flow["name"]: flow for flow in result["flows"]}


def forward_of(result: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    return next(link for link in result["links"] if link["name"] == prefix + "forward")


def channel(out: Path, flow: str = "ratcp") -> Rows:
    """The samples of a flow that listens."""
    with (out / "channel.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["flow"] == flow]


def between(rows: Rows, t0_s: float, t1_s: float) -> Rows:
    return [row for row in rows if t0_s <= float(row["t_s"]) <= t1_s]


def timeouts(out: Path) -> int:
    """How often the sender was in the state of a retransmission timeout, as sampled."""
    with (out / "flows.csv").open(encoding="utf-8", newline="") as file:
        return sum(row["state"] == "loss" for row in csv.DictReader(file))


def test_one_transfer_fills_the_link_without_a_queue(tmp_path: Path) -> None:
    result = run("ratcp", tmp_path)
    (flow,) = result["flows"]
    link = forward_of(result)
    assert flow["cc"] == "ratcp"
    assert flow["ideal_share"] >= 0.995
    assert link["settled"]["utilisation"] >= 0.995
    assert sum(link["dropped_packets"].values()) == 0
    assert flow["retransmits"] == 0


def test_the_queue_stays_at_beta_and_one(tmp_path: Path) -> None:
    """Samples are closer than the service of a packet (5 ms): none is missed."""
    overrides = ["flows.ratcp.duration=25s", "record.interval=1ms", "record.flows=off"]
    result = run("ratcp", tmp_path, *overrides)
    assert forward_of(result)["settled"]["peak_backlog_packets"] <= 1 + 1


def test_the_rate_window_is_what_the_rate_says(tmp_path: Path) -> None:
    """100 kB/s x 0.105 s (service of a packet included) / 500 B + beta."""
    run("ratcp", tmp_path, "flows.ratcp.duration=20s", "hosts.senders.advice.beta=4")
    rows = between(channel(tmp_path), 5, 20)
    assert {row["rate_window_packets"] for row in rows} == {str(int(100_000 * 0.105 / 500) + 4)}
    assert {row["packet_bytes"] for row in rows} == {"500"}
    assert {row["phase"] for row in rows} == {"avoidance"}


#: The paper's ephemeral sessions, 0.5 of them in a second: the rate is C, C/2, C/3 or C/4.
SESSIONS = "bottleneck.forward.sessions={arrival: 5%, mean: 20, max: 3, step: 100ms}"


def efficiency(out: Path, **advice: str | int) -> tuple[float, int]:
    """Throughput over the mean fair rate, and how many packets found the buffer full."""
    settings = [f"{ADVICE}.{key}={value}" for key, value in advice.items()]
    overrides = [SESSIONS, "flows.ratcp.duration=1000s", "record.interval=10s", *settings]
    scenario = load_scenario(find_scenario("ratcp"), overrides)
    result = run_scenario(scenario, 1, out)
    assert problems(result) == []
    share = measure(result, scenario, 1)["ratcp"]["efficiency"]
    return share, forward_of(result)["dropped_packets"]["buffer"]


def test_swing_gets_99_percent_of_a_rate_that_varies(tmp_path: Path) -> None:
    """And loses no more; a larger beta gets less, with more losses, the paper's rule much less."""
    swing, swing_drops = efficiency(tmp_path / "swing", swing="50%")
    plain, plain_drops = efficiency(tmp_path / "plain")
    larger, larger_drops = efficiency(tmp_path / "larger", beta=4)
    paper, _ = efficiency(tmp_path / "paper", rise="additive")
    assert swing >= 0.99
    assert paper < 0.95 < plain < 0.975 < larger < swing
    by_chance = 3 * math.sqrt(swing_drops + plain_drops)  # two counts of the same
    assert swing_drops <= plain_drops + by_chance
    assert plain_drops < larger_drops / 2


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_loss_costs_no_window(tmp_path: Path, seed: int) -> None:
    lengths = [f"flows.{name}.duration=400s" for name in ("ratcp", "reno")]
    result = run("ratcp-loss", tmp_path, *lengths, seed=seed)
    flows = flows_of(result)
    assert flows["ratcp"]["ideal_share"] >= 0.90
    assert flows["reno"]["ideal_share"] < 0.57


LENGTHS = ["flows.near.duration=400s", "flows.far.duration=400s"]


def test_shares_do_not_depend_on_the_round_trip(tmp_path: Path) -> None:
    result = run("ratcp-fairness", tmp_path, *LENGTHS)
    near, far = (flows_of(result)[name]["goodput_Bps"] for name in ("near", "far"))
    assert abs(near - far) / max(near, far) <= 0.02
    assert forward_of(result)["settled"]["utilisation"] >= 0.98


def test_renos_shares_do(tmp_path: Path) -> None:
    controls = ["flows.near.cc=reno", "flows.far.cc=reno"]
    result = run("ratcp-fairness", tmp_path, *LENGTHS, *controls)
    near, far = (flows_of(result)[name]["goodput_Bps"] for name in ("near", "far"))
    assert far < 0.6 * near


def changes_of_advice(rows: Rows) -> list[tuple[float, float]]:
    """From when to when the rate window was the same."""
    spans: list[tuple[float, float]] = []
    begin = float(rows[0]["t_s"])
    for before, row in pairwise(rows):
        if row["rate_window_packets"] != before["rate_window_packets"]:
            spans.append((begin, float(before["t_s"])))
            begin = float(row["t_s"])
    return [*spans, (begin, float(rows[-1]["t_s"]))]


def test_steps_are_followed_within_three_round_trips(tmp_path: Path) -> None:
    result = run("ratcp-steps", tmp_path)
    rows = between(channel(tmp_path), 5, 70)
    spans = [s for s in changes_of_advice(rows) if s[1] - s[0] > 1]
    assert len(spans) == 7
    for begin, end in spans:
        settled = between(rows, begin + 3 * RTT_S + SAMPLE_S, end)
        windows = {(row["cwnd_packets"], row["rate_window_packets"]) for row in settled}
        assert len(windows) == 1, f"from {begin} s on: {windows}"
        ((window, wanted),) = windows
        assert window == wanted
    assert result["flows"][0]["retransmits"] == 0
    assert timeouts(tmp_path) == 0


OWN = ["bottleneck.forward.feedback=off", "record.interval=50ms", "flows.ratcp.duration=20s"]


def advised(out: Path, *overrides: str) -> Rows:
    """Run `ratcp` with advice that is not the link's; its samples."""
    run("ratcp", out, *OWN, *overrides)
    return channel(out)


def test_advice_that_ends_leaves_reno(tmp_path: Path) -> None:
    rows = advised(tmp_path, f"{ADVICE}.steps=[5s:800kbit]", f"{ADVICE}.end=delete")
    assert {row["phase"] for row in between(rows, 2, 4.9)} == {"avoidance"}
    assert {row["phase"] for row in between(rows, 6, 20)} == {"reno"}
    assert (rows[-1]["lost_advice"], rows[-1]["rate_window_packets"]) == ("1", "0")


def test_advice_that_grew_too_old_leaves_reno(tmp_path: Path) -> None:
    """As after a controller that was killed: nobody deletes the path, nobody renews it."""
    rows = advised(tmp_path, f"{ADVICE}.rate=800kbit", f"{ADVICE}.age=3s")
    assert {row["phase"] for row in between(rows, 1, 2.9)} == {"avoidance"}
    assert {row["phase"] for row in between(rows, 4, 20)} == {"reno"}
    assert rows[-1]["lost_advice"] == "1"


def test_advice_that_comes_back(tmp_path: Path) -> None:
    steps = "[2s:800kbit,4s:800kbit]"
    rows = advised(tmp_path, f"{ADVICE}.steps={steps}", f"{ADVICE}.age=1s", f"{ADVICE}.end=loop")
    last = rows[-1]
    assert int(last["found_advice"]) >= 3
    assert abs(int(last["found_advice"]) - int(last["lost_advice"])) <= 1
    assert {row["phase"] for row in rows} >= {"reno", "avoidance"}


def test_a_rate_of_zero_leaves_beta_packets(tmp_path: Path) -> None:
    steps = "[5s:800kbit,5s:0bit,5s:800kbit]"
    rows = advised(tmp_path, f"{ADVICE}.steps={steps}", f"{ADVICE}.beta=2")
    assert {row["cwnd_packets"] for row in between(rows, 6, 9.9)} == {"2"}
    assert {row["cwnd_packets"] for row in between(rows, 11, 20)} == {"23"}
    assert timeouts(tmp_path) == 0


@pytest.mark.parametrize("rate", ["8e15", "unlimited", "8bit"])
def test_absurd_rates_are_survived(tmp_path: Path, rate: str) -> None:
    """The link is what it is: an absurd rate costs drops or time, and nothing else."""
    rows = advised(tmp_path, f"{ADVICE}.rate={rate}")
    assert int(rows[-1]["bytes_acked"]) > 10_000
    assert rows[-1]["lost_advice"] == "0"


def test_advice_of_another_namespace_is_not_heard(tmp_path: Path) -> None:
    """Two pairs; one is advised, the other one has no path and is Reno."""
    overrides = [
        "bottleneck.forward.feedback=off",
        "hosts.pairs={near: {sender: {advice: {rate: 400kbit}}}}",
        "flows.near.duration=20s",
        "flows.far.duration=20s",
        "record.interval=100ms",
    ]
    run("ratcp-fairness", tmp_path, *overrides)
    assert {row["phase"] for row in between(channel(tmp_path, "far"), 1, 20)} == {"reno"}
    assert "reno" not in {row["phase"] for row in between(channel(tmp_path, "near"), 2, 20)}


def test_two_runs_are_one(tmp_path: Path) -> None:
    digests = [
        run("ratcp-steps", tmp_path / str(n), "flows.ratcp.duration=15s")["digest"] for n in (1, 2)
    ]
    assert digests[0] == digests[1]
