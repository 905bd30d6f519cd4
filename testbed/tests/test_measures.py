# SPDX-License-Identifier: GPL-2.0
"""The numbers that studies take from a run (results/measures.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wale_lab.models import sessions
from wale_lab.results.measures import MEASURES, curves, is_measure, measure, value_of
from wale_lab.scenario import Scenario, check_scenario
from wale_lab.topologies.plan import link_seed
from wale_lab.yaml_lines import parse

SESSIONS = """\
name: a
description: a
bottleneck:
  forward:
    rate: 100kB/s
    delay: 100ms
    limit: 10 packets
    sessions: {arrival: 2%, mean: 20, max: 3, step: 100ms}
  reverse: {delay: 0ms}
hosts: {all: {mtu: 500}}
isolate: true
flows:
  - {name: tcp, cc: reno, duration: 100s}
"""

FLOW: dict[str, Any] = {
    "name": "tcp",
    "bytes": 4_600_000,
    "goodput_Bps": 46_000.0,
    "retransmits": 20,
    "completed": True,
    "mss_bytes": 460,
    "start_s": 0.0,
    "end_s": 100.0,
}


def result_of(prefix: str = "tcp.", **more: Any) -> dict[str, Any]:
    link = {"dropped_packets": {"buffer": 5, "loss": 3}, "offered_packets": 10_000}
    return {
        "flows": [{**FLOW, **more}],
        "links": [{"name": f"{prefix}forward", **link}, {"name": f"{prefix}reverse", **link}],
    }


def scenario_of(text: str) -> Scenario:
    return check_scenario(parse(text, "a.yaml"), [], Path())


def test_measures_beside_sessions() -> None:
    scenario = scenario_of(SESSIONS)
    found = measure(result_of(), scenario, 7)["tcp"]
    assert found.keys() <= MEASURES.keys()
    assert found["throughput_kBps"] == pytest.approx(46 * 500 / 460)
    assert scenario.bottleneck.forward.sessions is not None
    chain = scenario.bottleneck.forward.sessions.chain()
    share = sessions.realised_share(chain, link_seed(7, "forward"), 0.001, 100.001)
    assert found["mean_fair_rate_kBps"] == pytest.approx(100 * sessions.mean_share(chain))
    assert found["fair_rate_kBps"] == pytest.approx(100 * share)
    assert found["efficiency"] == pytest.approx(50 / (100 * share))
    adjusted = 50 * sessions.mean_share(chain) / share
    assert found["adjusted_throughput_kBps"] == pytest.approx(adjusted)
    assert found["retransmits_per_1000"] == pytest.approx(20_000 / 10_020)
    assert found["buffer_drops_per_1000"] == pytest.approx(0.5)
    assert found["buffer_drops_per_1000_s"] == pytest.approx(50)
    sent = measure(result_of(data_segments=10_020), scenario, 7)["tcp"]
    assert sent["retransmits_per_1000"] == pytest.approx(20_000 / 10_020)
    other = measure(result_of(), scenario, 8)["tcp"]
    assert other["fair_rate_kBps"] != found["fair_rate_kBps"]


@pytest.mark.parametrize(
    ("overrides", "told", "epoch_s"),
    [
        (["time=real"], {}, -0.5),
        (["time=real"], {"epoch_s": -0.487}, -0.487),
        (["bottleneck.forward.start=-30s"], {}, -30.0),
    ],
)
def test_the_share_of_sessions_from_when_they_began(
    overrides: list[str], told: dict[str, float], epoch_s: float
) -> None:
    """As the link says; it is not that of virtual time in real time."""
    scenario = check_scenario(parse(SESSIONS, "a.yaml"), overrides, Path())
    result = result_of()
    result["links"][0] |= told
    assert scenario.bottleneck.forward.sessions is not None
    chain = scenario.bottleneck.forward.sessions.chain()
    seed = link_seed(7, "forward")
    share = sessions.realised_share(chain, seed, 0 - epoch_s, 100 - epoch_s)
    found = measure(result, scenario, 7)["tcp"]
    assert found["fair_rate_kBps"] == pytest.approx(100 * share, rel=1e-12)


def test_efficiency_is_of_full_packets_on_the_wire() -> None:
    """A packet of 500 bytes is 11 cells of ATM; 460 of its bytes are payload."""
    text = SESSIONS.replace("    sessions: {arrival: 2%, mean: 20, max: 3, step: 100ms}\n", "")
    text = text.replace("delay: 100ms", "overhead: atm")
    found = measure(result_of(), scenario_of(text), 1)["tcp"]
    assert found["fair_rate_kBps"] == pytest.approx(100 * 500 / (11 * 53))
    assert found["efficiency"] == pytest.approx(100 * (11 * 53) / 100e3)  # 100 packets/s


def test_measures_of_a_constant_rate() -> None:
    text = SESSIONS.replace("    sessions: {arrival: 2%, mean: 20, max: 3, step: 100ms}\n", "")
    found = measure(result_of(), scenario_of(text), 1)["tcp"]
    assert found["fair_rate_kBps"] == found["mean_fair_rate_kBps"] == 100
    assert found["efficiency"] == pytest.approx(0.5)


def test_measures_of_a_shared_link() -> None:
    scenario = scenario_of(SESSIONS.replace("isolate: true\n", ""))
    assert measure(result_of(prefix=""), scenario, 1)["tcp"]["buffer_drops_per_1000"] == 0.5


def test_measures_of_a_program() -> None:
    """What it said, and what became of the packets of its link."""
    scenario = scenario_of(SESSIONS)
    found = measure(result_of(metrics={"stalls": 2, "late": None}), scenario, 1)["tcp"]
    assert found == {"metrics.stalls": 2, "drops_per_1000": 0.8}
    assert value_of(found, "metrics.stalls") == 2
    assert is_measure("metrics.stalls") and is_measure("efficiency") and not is_measure("stalls")


def test_measures_of_transfers_that_arrive() -> None:
    told = {
        "mean_throughput_Bps": 50_000,
        "throughput_cv": 0.5,
        "retransmitted_bytes_per_session": 1500,
        "completed": 20,
    }
    found = measure(result_of(sessions=told), scenario_of(SESSIONS), 1)["tcp"]
    assert found["session_throughput_kBps"] == 50
    assert found["session_throughput_cv"] == 0.5
    assert found["retransmitted_kB_per_session"] == 1.5
    assert found["sessions_completed"] == 20


def test_a_flow_that_did_not_complete_has_no_numbers() -> None:
    with pytest.raises(ValueError, match="flow tcp: it was cut"):
        measure(result_of(completed=False, error="it was cut"), scenario_of(SESSIONS), 1)


FLOWS = """\
flow,t_s,cwnd_packets,bytes_received
tcp,0,1,
tcp,0.5,2,1000
other,0.5,9,9
tcp,1,4,2000
tcp.0,0,,0
tcp.1,0.5,,700
tcp.1,1,,1400
tcp.2,1,,5
"""


def curve_of(source: str, column: str, **more: Any) -> dict[str, Any]:
    given = {"source": source, "column": column, "scale": 1.0, "first": 0, "count": 20}
    return {**given, "from_s": 0.0, "until_s": None, **more}


def test_curves(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text(FLOWS)
    text = "link,t_s,backlog_packets\ntcp.forward,0,3\ntcp.reverse,0,8\n"
    (tmp_path / "links.csv").write_text(text)
    found = curves(tmp_path, "tcp", curve_of("flows", "bytes_received", scale=0.001), "tcp.")
    assert found == {"tcp": [[0.5, 1.0], [1.0, 2.0]]}
    found = curves(tmp_path, "tcp", curve_of("flows", "cwnd_packets", from_s=0.5, until_s=0.9), "")
    assert found == {"tcp": [[0.0, 2.0]]}
    found = curves(tmp_path, "tcp", curve_of("sessions", "bytes_received", first=1, count=1), "")
    assert found == {"tcp.1": [[0.5, 700.0], [1.0, 1400.0]]}
    found = curves(tmp_path, "tcp", curve_of("links", "backlog_packets"), "tcp.")
    assert found == {"tcp.forward": [[0.0, 3.0]]}
    with pytest.raises(ValueError, match="expected samples of cwnd_packets"):
        curves(tmp_path, "nobody", curve_of("flows", "cwnd_packets"), "")


# Of all flows on a link.

SHARED = """
name: shared
description: shared
bottleneck: {forward: {rate: 1060kB/s, overhead: atm}}
topology: {pairs: [{name: a}, {name: b}, {name: c}]}
flows:
  - {name: a, pair: a, duration: 1s}
  - {name: b, pair: b, duration: 1s}
  - {name: c, pair: c, duration: 1s}
"""


def flow(name: str, goodput_Bps: float | None) -> dict[str, Any]:
    return {
        "name": name,
        "completed": True,
        "goodput_Bps": goodput_Bps,
        "ideal_goodput_Bps": 800e3,
        "mss_bytes": 512,
        "bytes": 1000,
        "retransmits": 0,
        "start_s": 0.0,
        "end_s": 1.0,
    }


def link(**more: Any) -> dict[str, Any]:
    counters = {"offered_packets": 10, "peak_backlog_packets": 4, "peak_backlog_cells": 48}
    return {"name": "forward", "dropped_packets": {"buffer": 1}, **counters, **more}


def test_flows_that_share_a_link() -> None:
    goodputs = [300e3, 100e3, 200e3]
    flows = [flow(name, goodput) for name, goodput in zip("abc", goodputs, strict=True)]
    found = measure({"flows": flows, "links": [link()]}, scenario_of(SHARED), 1)
    assert found["a"].keys() <= MEASURES.keys()
    for one in found.values():
        assert one["total_throughput_kBps"] == 600
        assert one["total_efficiency"] == 0.75
        assert one["fairness_index"] == pytest.approx(600**2 / (3 * (300**2 + 100**2 + 200**2)))
        assert (one["peak_backlog_packets"], one["peak_backlog_cells"]) == (4, 48)


def test_a_flow_that_got_nothing() -> None:
    """It counts: one of three that has all is a third of fair."""
    flows = [flow("a", 300e3), flow("b", 0.0), flow("c", 0.0)]
    found = measure({"flows": flows, "links": [link()]}, scenario_of(SHARED), 1)
    assert found["b"]["fairness_index"] == pytest.approx(1 / 3)


def test_a_link_that_does_not_tell_its_backlog() -> None:
    flows = [flow(name, 1e5) for name in "abc"]
    told = link(peak_backlog_packets=None)
    found = measure({"flows": flows, "links": [told]}, scenario_of(SHARED), 1)
    assert "peak_backlog_cells" not in found["a"]
    assert found["a"]["fairness_index"] == pytest.approx(1)
