# SPDX-License-Identifier: GPL-2.0
"""Flows of packets at a constant rate: what a scenario may say, and that they are exact."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from wale_lab import yaml_lines
from wale_lab.errors import ScenarioError
from wale_lab.guest.commands import send_command
from wale_lab.guest.flows import delays
from wale_lab.results import constant
from wale_lab.results import result as results
from wale_lab.results.measures import measure
from wale_lab.runner import run_scenario
from wale_lab.scenario import Scenario, check_scenario
from wale_lab.topologies.planning import make_plan

#: A link of 50 packets/s; `alone` has it for itself, the others come to twice what it carries.
TEXT = """\
name: constant
topology: {pairs: [{name: a}, {name: b}]}
bottleneck:
  forward: {rate: 200kbit, delay: 10ms, limit: 5 packets}
flows:
  - {name: alone, pair: a, constant: {packets_per_second: 33, packet: 500}, duration: 10s}
  - {name: one, pair: a, constant: {rate: 200kbit, packet: 500}, duration: 10s, start: 11s}
  - {name: other, pair: b, constant: {rate: 200kbit, packet: 500}, duration: 10s, start: 11005ms}
record: {links: off, flows: off}
"""


def check(*overrides: str) -> Scenario:
    return check_scenario(yaml_lines.parse(TEXT, "s.yaml"), list(overrides), Path())


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("flows.alone.cc=reno", "expected constant with a duration and without cc, tool and batch"),
        ("flows.alone.size=1MB", "expected either a size, a duration or arrivals"),
        ("flows.alone.constant.rate=1mbit", "expected either a rate or packets_per_second"),
        ("flows.alone.constant={packet: 500}", "expected either a rate or packets_per_second"),
        ("flows.one.constant.rate=unlimited", "expected a rate above 0 and below unlimited"),
        ("flows.one.constant.packet=60", "expected a packet of 72 to 65535 bytes, got 60"),
        ("flows.alone.constant.packets_per_second=0", "flows.0.constant.packets_per_second: "),
    ],
)
def test_refused(override: str, expected: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(expected)):
        check(override)


def test_what_wale_send_is_told() -> None:
    scenario = check()
    plan = results.plan_data(make_plan(scenario, 1), scenario, 1)
    alone, one, _ = (" ".join(send_command(flow, 10**10)) for flow in plan["flows"])
    assert "10.2.1.2 --port 5001 --json --packets-per-second 33 --size 500" in alone
    assert alone.endswith("--duration 10000000000ns --at 10000000000ns")
    assert "--rate 200000bit --size 500" in one
    assert {flow["cc"] for flow in plan["flows"]} == {"none"}


def test_what_is_written_down() -> None:
    """Each packet, if flows are recorded, and if the guest has room for that."""

    def logged(*overrides: str) -> list[bool]:
        scenario = check(*overrides)
        flows = make_plan(scenario, 1).flows
        return [flow.constant.logged for flow in flows if flow.constant]

    assert logged() == [False, False, False]
    assert logged("record.flows=on") == [True, True, True]
    fast = "record.flows=on", "flows.alone.constant.packets_per_second=200000"
    assert logged(*fast, "memory_mb=2048") == [True, True, True]  # 2,000,000 packets
    assert logged(*fast, "memory_mb=1999") == [False, True, True]


def test_delays_over_time(tmp_path: Path) -> None:
    """Packets count where they arrive; a rate of none is no row."""
    log = tmp_path / "log"
    lines = ["number,due_ns,arrived_ns", "1,1000,1400", "2,1500,1998", "3,1600,2300", "4,1100,5000"]
    log.write_text("\n".join(lines) + "\n")
    found = delays(log, 1000, 1000)
    assert found == [[0, 2, 400, 898, 498], [1, 1, 700, 700, 700], [4, 1, 3900, 3900, 3900]]
    rows = constant.delay_rows("probe", {"delays": found}, 1000)
    assert list(rows[0]) == list(constant.DELAY_COLUMNS)
    assert [row["t_s"] for row in rows] == ["0.000001", "0.000002", "0.000005"]
    assert rows[0]["mean_delay_s"] == "0.000000449"
    assert constant.delay_rows("tcp", {}, 1000) == []


def told(client: dict[str, Any], server: dict[str, Any], **record: Any) -> dict[str, Any]:
    said = {"client": json.dumps(client), "server": json.dumps(server), "client_errors": ""}
    return constant.flow_of_packets({"status": 0, **said, **record}, 28)


SENT = {"packets": 100, "packet_bytes": 500, "seconds": 2.0, "max_late_ns": 800}
CAME = {"packets": 90, "late_packets": 1, "overflowed_packets": 0, "min_delay_ns": 10_000_000}


def test_what_became_of_them() -> None:
    flow = told(SENT, CAME)
    assert flow["completed"]
    assert flow["goodput_Bps"] == 90 * 472 / 2
    counts = flow["constant"]
    assert (counts["sent_packets"], counts["lost_packets"]) == (100, 10)
    assert counts["least_delay_s"] == 0.01
    assert counts["mean_delay_s"] is None


def test_what_went_wrong() -> None:
    assert "no room for 3 packets" in told(SENT, {**CAME, "overflowed_packets": 3})["error"]
    assert not told(SENT, CAME, status=1)["completed"]
    assert told(SENT, CAME, client_errors="wale send: no\n")["error"] == "wale send: no"
    mute = told(SENT, {}, server_errors="wale receive: it broke\n")
    assert not mute["completed"]
    assert mute["error"] == "the receiver told nothing: wale receive: it broke"
    assert mute["constant"]["lost_packets"] is None
    silent = told({}, {})
    assert silent["goodput_Bps"] is None
    assert silent["constant"]["lost_packets"] is None


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    result = run_scenario(check(), 1, tmp_path_factory.mktemp("constant"))
    assert results.problems(result) == []
    return result


def counts(run: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(f for f in run["flows"] if f["name"] == name)["constant"]
    return found


@pytest.mark.guest
def test_departures_are_exact_in_virtual_time(run: dict[str, Any]) -> None:
    """33 packets/s on an empty link: all come, each at its own multiple, to a microsecond."""
    alone = counts(run, "alone")
    assert alone["sent_packets"] == alone["received_packets"] == 330
    assert alone["largest_lateness_s"] < 1e-6
    for which in ("least", "largest"):
        assert alone[f"{which}_gap_s"] == pytest.approx(1 / 33, abs=1e-6)
        assert alone[f"{which}_delay_s"] == pytest.approx(0.01 + 0.02, abs=1.5e-6)  # 20 ms service


@pytest.mark.guest
def test_what_a_full_link_drops_is_missing(run: dict[str, Any]) -> None:
    """Twice the link's rate: half is dropped, and each end and the link count the same."""
    both = [counts(run, name) for name in ("one", "other")]
    link = next(link for link in run["links"] if link["name"] == "forward")
    assert [c["sent_packets"] for c in both] == [500, 500]
    assert sum(c["lost_packets"] for c in both) == link["dropped_packets"]["buffer"]
    assert sum(c["received_packets"] for c in both) == pytest.approx(500, abs=6)
    assert link["offered_packets"] == 1330
    for c in both:
        assert c["out_of_order_packets"] == 0
        assert c["largest_delay_s"] <= 0.01 + 5 * 0.02 + 1.5e-6
        assert c["largest_lateness_s"] < 1e-6


@pytest.mark.guest
def test_delays_are_written_down(tmp_path: Path) -> None:
    """And are part of the digest."""
    told = run_scenario(check("record.flows=on"), 1, tmp_path)
    with (tmp_path / "delays.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for name in ("alone", "one", "other"):
        mine, whole = [row for row in rows if row["flow"] == name], counts(told, name)
        assert sum(int(row["packets"]) for row in mine) == whole["received_packets"]
        assert max(float(row["largest_delay_s"]) for row in mine) == whole["largest_delay_s"]
        assert min(float(row["least_delay_s"]) for row in mine) == whole["least_delay_s"]
    assert 0 < float(rows[0]["t_s"]) <= 0.1 and float(rows[-1]["t_s"]) > 20
    names = ("flows.csv", "links.csv", "delays.csv")
    series = {name: (tmp_path / name).read_text() for name in names}
    series |= {"channel.csv": "", "sessions.csv": ""}
    assert results.digest_of(told, series) == told["digest"]
    del series["delays.csv"]
    assert results.digest_of(told, series) != told["digest"]


@pytest.mark.guest
def test_measures_count_whole_packets(run: dict[str, Any]) -> None:
    found = measure(run, check(), 1)
    assert found["alone"]["throughput_kBps"] == pytest.approx(33 * 0.5, rel=1e-6)
    assert found["alone"]["throughput_packets_per_s"] == pytest.approx(33, rel=1e-6)
    assert found["alone"]["efficiency"] == pytest.approx(33 / 50, rel=1e-6)
    assert found["alone"]["mean_round_trip_s"] == pytest.approx(0.03, abs=1.5e-6)
    one = check("bottleneck.forward.rate=1mbit")
    left = 250 - 33 - 50 - 50
    fraction = measure(run, one, 1)["alone"]["available_fraction"]
    assert fraction == pytest.approx(33 / left, rel=1e-6)
