# SPDX-License-Identifier: GPL-2.0
"""Results from a recorded run (tests/data): keys, CSV columns, digest, and what fails it."""

from __future__ import annotations

import copy
import csv
import io
import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from wale_lab import files
from wale_lab import runner as runs
from wale_lab.cli import main
from wale_lab.engines.base import EngineError, Outcome
from wale_lab.errors import ScenarioError
from wale_lab.guest import agent, links
from wale_lab.guest.flows import Flows
from wale_lab.guest.processes import Processes
from wale_lab.link import Link
from wale_lab.results import result as results
from wale_lab.results.plot import draw, link_text
from wale_lab.results.series import read_series
from wale_lab.results.table import print_result, sharing
from wale_lab.runner import run_scenario
from wale_lab.scenario import Scenario, find_scenario, load_scenario
from wale_lab.style import save_picture
from wale_lab.topologies.plan import Plan
from wale_lab.topologies.planning import make_plan

DATA = Path(__file__).with_name("data")
ABOUT: dict[str, Any] = {"engine": "uml", "versions": {}, "wall_s": 1.0, "warnings": []}


@pytest.fixture
def scenario() -> Scenario:
    sizes = [f"flows.{n}.size=200kB" for n in range(3)]
    return load_scenario(find_scenario("demo"), [*sizes, "record.interval=500ms"])


@pytest.fixture
def plan(scenario: Scenario) -> Plan:
    return make_plan(scenario, 1)


@pytest.fixture
def raw() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((DATA / "demo-raw.json").read_text())
    return data


def made(raw: dict[str, Any], scenario: Scenario, plan: Plan, **about: Any) -> dict[str, Any]:
    return results.make_result(raw, scenario, plan, 1, {**ABOUT, **about})[0]


def test_keys(raw: dict[str, Any], scenario: Scenario, plan: Plan) -> None:
    result = made(raw, scenario, plan)
    for key in "scenario seed kernel engine versions digest virtual_s wall_s flows links".split():
        assert key in result
    assert result["scenario"] == "demo"
    for flow in result["flows"]:
        for key in "name cc bytes seconds goodput_Bps retransmits completed".split():
            assert flow[key] is not None
        assert flow["completed"] is True
        assert flow["bytes"] == 200_000
        assert flow["sha256_ok"] is True
        assert flow["mss_bytes"] == 1448
        assert 0 < flow["ideal_share"] < 1
        assert flow["seconds"] <= flow["end_s"] - flow["start_s"]
    assert [f["cc"] for f in result["flows"]] == ["reno", "cubic", "bbr"]
    for link in result["links"]:
        assert set(link["dropped_packets"]) == {"buffer", "loss", "memory"}
        lost = sum(link["dropped_packets"].values())
        assert link["offered_packets"] == link["sent_packets"] + lost + link["held_packets"]
        assert link["balanced"] is True
        assert link["held_packets"] == 0
    assert results.problems(result) == []
    json.dumps(result)


def test_csv(raw: dict[str, Any], scenario: Scenario, plan: Plan) -> None:
    _, series = results.make_result(raw, scenario, plan, 1, ABOUT)
    assert series["channel.csv"] == ""
    flows = list(csv.DictReader(io.StringIO(series["flows.csv"])))
    links = list(csv.DictReader(io.StringIO(series["links.csv"])))
    assert list(flows[0]) == list(results.FLOW_COLUMNS)
    assert list(links[0]) == [
        c
        for c in results.LINK_COLUMNS
        if c
        not in (
            "dropped_line_packets",
            "dropped_down_packets",
            "dropped_policer_packets",
            "dropped_breaker_packets",
        )
    ]
    assert float(links[0]["t_s"]) == 0
    assert {r["flow"] for r in flows} == {"reno", "cubic", "bbr"}
    assert len({r["link"] for r in links}) == 6
    times = [float(r["t_s"]) for r in links]
    assert times == sorted(times)
    assert max(int(r["bytes_received"] or 0) for r in flows) <= 200_000 + 1000


def test_what_a_switch_counts_is_in_the_csv(
    raw: dict[str, Any], scenario: Scenario, plan: Plan
) -> None:
    told = {"dropped_early_packets": "7", "marked_packets": "8", "backlog_cells": "9"}
    raw = copy.deepcopy(raw)
    for series in raw["series"]:
        lines = series["links"].splitlines()
        ends = [",".join(told), *[",".join(told.values())] * (len(lines) - 1)]
        series["links"] = "\n".join(map(",".join, zip(lines, ends, strict=False)))
    record = scenario.record.model_copy(update={"settled": 10**9})
    scenario = scenario.model_copy(update={"record": record})
    result, found = results.make_result(raw, scenario, plan, 1, ABOUT)
    assert result["links"][0]["settled"]["dropped_packets"]["early"] == 0
    assert "partial" not in result["links"][0]["settled"]["dropped_packets"]
    links = list(csv.DictReader(io.StringIO(found["links.csv"])))
    assert links
    assert all(told.items() <= row.items() and row["wasted_cells"] == "" for row in links)


def test_large_numbers_survive_json(raw: dict[str, Any], scenario: Scenario, plan: Plan) -> None:
    """A seed above 2^53 - 1 is text, so that jq 1.6 and JavaScript give the same one back."""
    for seed in (2**53 - 1, 2**53, 2**64 - 1):
        result = results.make_result(raw, scenario, plan, seed, ABOUT)[0]
        read = json.loads(json.dumps(result), parse_int=lambda text: int(float(text)))
        assert read == result
        assert int(read["seed"]) == seed
        assert isinstance(read["seed"], str) == (seed >= 2**53)


def test_digest_covers_observations_only(
    raw: dict[str, Any], scenario: Scenario, plan: Plan
) -> None:
    digest = made(raw, scenario, plan)["digest"]
    assert re.fullmatch(r"[0-9a-f]{64}", digest)
    again = made(copy.deepcopy(raw), scenario, plan, wall_s=99.0, versions={"tc": "7"})
    assert again["digest"] == digest

    other_seed = results.make_result(raw, scenario, plan, 2, ABOUT)[0]
    assert other_seed["digest"] != digest
    changed = copy.deepcopy(raw)
    changed["qdiscs"]["reno.forward"]["stats"]["sent_bytes"] += 1
    assert made(changed, scenario, plan)["digest"] != digest
    changed = copy.deepcopy(raw)
    changed["ended_ns"] += 1
    assert made(changed, scenario, plan)["digest"] != digest
    changed = copy.deepcopy(raw)
    changed["series"][0]["links"] = changed["series"][0]["links"].replace(",1500,", ",1499,", 1)
    if changed != raw:
        assert made(changed, scenario, plan)["digest"] != digest
    other = load_scenario(find_scenario("demo"), ["virtual_limit=1h", "memory_mb=600"])
    assert made(raw, other, plan)["digest"] != digest


def test_failed_flow(raw: dict[str, Any], scenario: Scenario, plan: Plan) -> None:
    raw["flows"]["cubic"] |= {"status": 1, "client": "", "client_errors": "wale get: no route\n"}
    result = made(raw, scenario, plan)
    flow = result["flows"][1]
    assert (flow["completed"], flow["error"]) == (False, "wale get: no route")
    assert results.problems(result) == ["flow cubic did not complete: wale get: no route"]
    assert result["flows"][0]["completed"] is True


def test_late_and_never_started_flows(raw: dict[str, Any], scenario: Scenario, plan: Plan) -> None:
    raw["flows"]["reno"]["late"] = True
    raw["flows"]["bbr"] |= {"started_ns": None, "ended_ns": None}
    found = results.problems(made(raw, scenario, plan))
    assert "still ran at the scenario's virtual_limit" in found[0]
    assert "never started" in found[1]


def test_unbalanced_link(raw: dict[str, Any], scenario: Scenario, plan: Plan) -> None:
    raw["qdiscs"]["bbr.forward"]["stats"]["offered_packets"] += 1
    assert "link bbr.forward" in results.problems(made(raw, scenario, plan))[0]


def test_ideal_of_a_trace() -> None:
    link = Link.model_validate({"trace": {"steps": ["1s:8mbit", "1s:0bit"]}})
    assert results.ideal_goodput_Bps(link, 1500, 1500, 0, 2) == pytest.approx(500_000)
    assert results.ideal_goodput_Bps(link, 1500, 1500, 0, 1) == pytest.approx(1_000_000)
    assert results.ideal_goodput_Bps(link, 1500, 1500, 3, 4) == pytest.approx(0)
    hold = Link.model_validate({"trace": {"steps": ["1s:8mbit", "1s:4mbit"], "end": "hold"}})
    assert results.ideal_goodput_Bps(hold, 1500, 1500, 5, 6) == pytest.approx(500_000)
    netem = Link.model_validate({"qdisc": "netem delay 1ms"})
    assert results.ideal_goodput_Bps(netem, 1500, 1460, 0, 1) is None


def test_ideal_of_packets_of_their_own_size(
    raw: dict[str, Any], scenario: Scenario, plan: Plan
) -> None:
    """Packets of 500 bytes fill the link of 2 Mbit/s with 472 of 500; a receiver's MTU counts."""
    flow = {"constant": {"packet_bytes": 500}}
    assert results.full_packet_bytes(scenario, flow, scenario.transfers[0]) == 500
    link = Link.model_validate({"rate": "2mbit"})
    ideal = results.ideal_goodput_Bps(link, 500, 472, 0, 1)
    assert ideal == pytest.approx(250_000 * 472 / 500)
    small = load_scenario(find_scenario("demo"), ["hosts.receivers={mtu: 600}"])
    assert results.full_packet_bytes(small, {}, small.transfers[0]) == 600
    assert results.full_packet_bytes(small, {"constant": None}, small.transfers[0]) == 600
    assert results.full_packet_bytes(scenario, {}, scenario.transfers[0]) == 1500


def test_a_trace_counts_from_when_it_began(
    raw: dict[str, Any], scenario: Scenario, plan: Plan
) -> None:
    """What the link says: in real time that is half a second before the flows."""
    trace = {"steps": ["1s:8mbit", "700ms:0bit"]}
    link = Link.model_validate({"trace": trace})
    assert results.ideal_goodput_Bps(link, 1500, 1500, 0, 1, -0.5) == pytest.approx(500_000)
    assert results.utilisation(link, 500_000, 0, 1, -0.5) == pytest.approx(1)
    record = scenario.record.model_copy(update={"settled": 0})
    bottleneck = scenario.bottleneck.model_copy(update={"forward": link})
    changed = scenario.model_copy(update={"bottleneck": bottleneck, "record": record})
    ideals, uses, settled = [], [], []
    for epoch_ns in (raw["start_ns"], raw["start_ns"] - 10**9):
        for qdisc in (raw["qdiscs"]["reno.forward"], raw["qdiscs_at_end"]["reno.forward"]):
            qdisc["stats"]["epoch_ns"] = epoch_ns
        result = made(raw, changed, plan)
        forward = next(one for one in result["links"] if one["name"] == "reno.forward")
        assert forward["epoch_s"] == (epoch_ns - raw["start_ns"]) / 1e9
        ideals.append(result["flows"][0]["ideal_goodput_Bps"])
        uses.append(forward["utilisation"])
        settled.append(forward["settled"]["utilisation"])
    assert len(set(ideals)) == len(set(uses)) == len(set(settled)) == 2


def test_a_link_without_trace_and_sessions_has_no_epoch(
    raw: dict[str, Any], scenario: Scenario, plan: Plan
) -> None:
    assert not any("epoch_s" in link for link in made(raw, scenario, plan)["links"])


def test_nobody_is_signalled_who_was_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PID that was waited for may be another process's by now."""
    processes = Processes()
    flows = Flows({"flows": [], "programs": [], "files": "", "terminal": None}, processes)
    signalled: list[int] = []
    kill = os.kill

    def noted(pid: int, number: int) -> None:
        signalled.append(pid)
        kill(pid, number)

    monkeypatch.setattr(os, "kill", noted)
    one, other = (os.posix_spawnp("sleep", ["sleep", "60"], os.environ) for _ in range(2))
    processes.children |= {one: "sleep", other: "sleep"}
    flows.records["late"] = {"client": other}
    assert processes.stop(one) == signal.SIGTERM
    flows.end_late()
    assert flows.records["late"]["status"] == -signal.SIGTERM
    assert processes.children == {}
    for pid in (one, other):
        assert processes.stop(pid, signal.SIGKILL) is None
    assert signalled == [one, other]


CHANNEL = """\
t_ns,netns,local_port,remote_port,cc,phase,rate,base_rtt_ns,rate_window_packets,cwnd_packets,\
in_flight_packets,packet_bytes,bytes_acked,lost_advice,found_advice
{at},reno.pair1-sender,5001,40000,ratcp,2,250000,100999999,17,16,15,1500,14480,0,1
{at},reno.pair1-sender,22,40001,ratcp,2,1,1,1,1,1,1500,99999,0,1
{at},reno.pair1-sender,5001,40002,ratcp,1,1,1,1,1,1,1500,0,0,1
{at},bbr.pair1-sender,5001,40000,ratcp,0,18446744073709551615,0,0,10,,,0,0,0
"""


def test_channel_csv(raw: dict[str, Any], scenario: Scenario, plan: Plan) -> None:
    """A flow's row is of its data connection: the one with its port, and with most bytes."""
    raw["channel"] = CHANNEL.format(at=raw["start_ns"] + 1_500_000_000)
    text = results.channel_csv(raw, plan)
    bbr, reno = csv.DictReader(io.StringIO(text))
    assert list(reno) == list(results.CHANNEL_COLUMNS)
    assert (reno["t_s"], reno["flow"], reno["phase"]) == ("1.500000", "reno", "avoidance")
    assert (reno["base_rtt_us"], reno["rate_window_packets"]) == ("100999", "17")
    assert (bbr["flow"], bbr["phase"], bbr["rate_Bps"]) == ("bbr", "reno", "inf")
    without = results.make_result({**raw, "channel": ""}, scenario, plan, 1, ABOUT)[0]
    assert made(raw, scenario, plan)["digest"] != without["digest"]


def test_utilisation_with_and_without_the_start(raw: dict[str, Any], plan: Plan) -> None:
    sizes = [f"flows.{n}.size=200kB" for n in range(3)]
    scenario = load_scenario(find_scenario("demo"), [*sizes, "record.settled=1s"])
    forward = made(raw, scenario, plan)["links"][0]
    assert 0 < forward["utilisation"] < 1
    counts = forward["settled"]
    assert counts["from_s"] == 1
    assert 0 < counts["sent_packets"] < forward["sent_packets"]
    assert counts["peak_backlog_packets"] <= forward["peak_backlog_packets"]
    expected = counts["sent_bytes"] / ((counts["until_s"] - 1) * 250_000)
    assert counts["utilisation"] == pytest.approx(expected)
    late = load_scenario(find_scenario("demo"), [*sizes, "record.settled=59min"])
    assert made(raw, late, plan)["links"][0]["settled"] == {}


def test_settled_needs_samples_of_links() -> None:
    with pytest.raises(ScenarioError, match="expected links: on together with settled"):
        load_scenario(find_scenario("demo"), ["record.settled=1s", "record.links=off"])


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ({"rate": "2mbit", "delay": "5ms"}, "2 Mbit/s, 5 ms one way, 1000 packets of buffer"),
        ({"rate": "2mbit", "limit": "30kB", "loss": "1%"}, "one way, 30 kB buffer, 1% loss"),
        ({"rate": "2mbit", "limit": "700 cells", "overhead": "atm"}, "one way, 700 cells"),
        ({"rate": "2mbit", "queue": "fq_codel"}, "one way, fq_codel"),
        ({"qdisc": "netem delay 1ms"}, "netem delay 1ms"),
    ],
)
def test_a_plot_says_what_its_link_is(link: dict[str, Any], said: str) -> None:
    assert link_text(Link.model_validate(link).model_dump(mode="json")).endswith(said)


def test_table_and_plot(
    raw: dict[str, Any],
    scenario: Scenario,
    plan: Plan,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    raw["channel"] = CHANNEL.format(at=raw["start_ns"] + 1_500_000_000)
    settled = scenario.record.model_copy(update={"settled": 10**9})
    scenario = scenario.model_copy(update={"record": settled})
    parts = results.make_result(raw, scenario, plan, 1, ABOUT)
    results.write(tmp_path, *parts)
    print_result(parts[0], tmp_path)
    said = capsys.readouterr().out
    for word in (
        "link, from 1 s on",
        "channel.csv",
        "200.00 kB",
        "of ideal",
        "dropped: loss",
        "sha256 ok",
        parts[0]["digest"],
    ):
        assert word in said
    picture = draw([tmp_path])
    assert picture.read_bytes().startswith(b"\x89PNG")
    series = read_series(tmp_path / "links.csv", "link", ["backlog_bytes"])
    assert "reno.forward" in series


def test_the_table_leaves_out_what_is_zero_everywhere(
    raw: dict[str, Any], scenario: Scenario, plan: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    """And has one unit for the rates of links and flows; result.json has all."""
    result = made(raw, scenario, plan)
    assert result["links"][0]["dropped_packets"]["memory"] == 0
    flow = result["flows"][0]
    flow["goodput_Bps"] = 151_000.0
    for other in result["flows"]:
        other["retransmits"] = 0
    print_result(result, Path("out"))
    said = capsys.readouterr().out
    for word in ("memory", "held", "retransmits", "kB/s"):
        assert word not in said
    assert "1.208 Mbit/s" in said
    flow["completed"] = False
    result["links"][1]["dropped_packets"]["purge"] = 7
    print_result(result, Path("out"))
    said = capsys.readouterr().out
    assert "dropped: purge" in said and "memory" not in said and "failed" in said


def test_flows_that_share_the_link_are_named(
    raw: dict[str, Any], scenario: Scenario, plan: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    result = made(raw, scenario, plan)
    assert result["settings"]["isolate"] is True and sharing(result) is None
    result["settings"]["isolate"] = False
    print_result(result, Path("out"))
    line = (
        "reno, cubic and bbr share the link; with `isolate: true` each has a copy of it for itself"
    )
    assert line in capsys.readouterr().out.splitlines()
    reno, cubic, bbr = result["flows"]
    after = max(flow["end_s"] for flow in result["flows"])
    reno["start_s"], reno["end_s"] = after, after + 1
    assert str(sharing(result)).startswith("cubic and bbr share")
    del cubic["start_s"], cubic["end_s"]  # it was never started
    assert sharing(result) is None
    result["flows"] = [{**bbr, "name": f"bbr-{n}"} for n in range(20)]
    assert str(sharing(result)).startswith("20 flows share the link")


def test_output_folder(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("mine")
    folder = tmp_path / "out"
    files.make_folder(folder)
    for name in results.OUTPUT_FILES:
        (folder / name).symlink_to(kept)
    files.make_folder(folder)
    with results.replacing(folder, tmp_path / "aside"):
        assert list(folder.iterdir()) == []
    results.write(folder, {"a": 1}, {"flows.csv": "f", "links.csv": "l", "channel.csv": ""})
    assert {p.name for p in folder.iterdir()} == {"result.json", "flows.csv", "links.csv"}
    assert json.loads((folder / "result.json").read_text()) == {"a": 1}
    assert kept.read_text() == "mine"
    with pytest.raises(ScenarioError, match=r"--out .*/kept: is a file; expected a folder"):
        files.make_folder(kept)
    with pytest.raises(ScenarioError, match=r"kept is a file; expected a folder"):
        files.make_folder(kept / "below")
    with pytest.raises(ScenarioError, match=r"--out /proc/x: cannot be made \(No such file"):
        files.make_folder(Path("/proc/x"))
    with pytest.raises(ScenarioError, match=r"--results /proc/x: .* that can be written to"):
        files.make_folder(Path("/proc/x"), "--results")


def test_a_full_disk_says_which_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("x.png", "x.trace"):
        (tmp_path / name).symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"No space left on device: '.*/x.png'"):
        save_picture(Figure(), tmp_path / "x.png")
    assert main(["trace", "make", "lte", "--out", str(tmp_path / "x.trace")]) == 125
    assert re.fullmatch(r"wale-lab: .*/x.trace: No space left on device\n", capsys.readouterr().err)
    with pytest.raises(FileNotFoundError, match="'/proc/x'"):  # the result, not a part of it
        files.write_whole(Path("/proc/x"), "")


def test_one_run_in_a_folder(tmp_path: Path) -> None:
    with files.alone(tmp_path):
        (tmp_path / "result.json").write_text("mine")
        with (
            pytest.raises(ScenarioError, match=r"another run writes to it"),
            files.alone(tmp_path),
        ):
            pass
        with pytest.raises(ScenarioError, match=r"another run writes to it"):
            run_scenario(load_scenario(find_scenario("demo"), []), 1, tmp_path)
        assert (tmp_path / "result.json").read_text() == "mine"
    with files.alone(tmp_path):
        pass


def test_folders_with_brackets(
    raw: dict[str, Any], scenario: Scenario, plan: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    print_result(made(raw, scenario, plan), Path("out[/b][red]"))
    assert "in out[/b][red]:" in capsys.readouterr().out


def test_damaged_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "result.json").write_text("{")
    assert main(["plot", str(tmp_path)]) == 2
    assert "expected what a run writes, this is no JSON" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("end", "trace", "rate", "line", "looks"),
    [
        ("stop", ["1000000000ns 8000bit"], 0, 0, range(1, 2)),
        ("hold", ["1000000000ns 8000bit", "1ns 0bit"], 0, 0, range(1, 2)),
        ("loop", ["1000000000ns 0bit"], 0, 0, range(1, 2)),
        ("loop", ["1000000000ns 8000bit", "9ns 0bit"], 0, 0, range(15, 30)),
        ("stop", ["1000000000ns 8000bit"], 0, 1, range(15, 30)),
        ("stop", ["9000000000ns 8000bit"], 0, 0, range(5, 15)),  # an outage before the end
    ],
)
def test_a_link_that_stays_closed_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, end: str, trace: list[str], rate: int, line: int, looks: range
) -> None:
    clock, seen = [1_500_000_000], []
    link = {"name": "a", "netns": "one", "shown": True, "trace": {"lines": trace, "end": end}}
    installed = links.Links({"virtual": True, "links": [link]}, Processes())

    def statistics() -> dict[str, Any]:
        seen.append(clock[0])
        counts = {"backlog_packets": 5, "line_packets": line, "rate": rate}
        return {"a": {"stats": {**counts, "now_ns": clock[0], "epoch_ns": 0}}}

    def sleep(seconds: float) -> None:
        clock[0] += int(seconds * 1e9)

    monkeypatch.setattr(links, "now", lambda: clock[0])
    monkeypatch.setattr("time.sleep", sleep)
    monkeypatch.setattr(installed, "statistics", statistics)
    assert installed.drained_statistics()["a"]["stats"]["backlog_packets"] == 5
    assert len(seen) in looks


def test_full_disk(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    scenario: Scenario,
) -> None:
    """What the agent says in the guest is a sentence on the host."""
    plan = tmp_path / "plan.json"
    plan.write_text("{}")
    monkeypatch.setattr(agent, "WORK", str(tmp_path))
    monkeypatch.setattr(agent, "run_scenario", lambda *_: {})
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["agent.py", str(plan), "/dev/full"])
    with pytest.raises(SystemExit) as ended:
        agent.main()
    code = ended.value.code
    assert isinstance(code, int)
    outcome = Outcome(code, "exit", capsys.readouterr().out, "", 0.1)
    says = "^cannot write the result in out/demo: No space left on device$"
    with pytest.raises(EngineError, match=says), runs._written_in(Path("out/demo")):
        runs._observed(tmp_path / "raw.json", outcome, scenario)
