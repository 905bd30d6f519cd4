# SPDX-License-Identifier: GPL-2.0
"""The numbers of a run, the table of a study, and what becomes of its checks."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

import models as all_models
from lab.files import write_whole
from lab.measures import MEASURES, curves, measure
from lab.points import points_of
from lab.scenario import Scenario, check_scenario
from lab.study import Published, Study
from lab.summary import COLUMNS, outcomes_of, summarise
from lab.yaml_lines import ScenarioError, parse
from models import sessions
from study_cases import BUILD, changed
from topologies.dumbbell import link_seed

# The numbers of a run.

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
    assert found["retransmits_per_1000"] == pytest.approx(2)
    assert found["buffer_drops_per_1000"] == pytest.approx(0.5)
    assert found["buffer_drops_per_1000_s"] == pytest.approx(50)
    other = measure(result_of(), scenario, 8)["tcp"]
    assert other["fair_rate_kBps"] != found["fair_rate_kBps"]


def test_measures_of_a_constant_rate() -> None:
    text = SESSIONS.replace("    sessions: {arrival: 2%, mean: 20, max: 3, step: 100ms}\n", "")
    found = measure(result_of(), scenario_of(text), 1)["tcp"]
    assert found["fair_rate_kBps"] == found["mean_fair_rate_kBps"] == 100
    assert found["efficiency"] == pytest.approx(0.5)


def test_measures_of_a_shared_link() -> None:
    scenario = scenario_of(SESSIONS.replace("isolate: true\n", ""))
    assert measure(result_of(prefix=""), scenario, 1)["tcp"]["buffer_drops_per_1000"] == 0.5


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


# The table of a study.


def measured(row: str, x: float, seed: int) -> float:
    """What the runs below say."""
    return x * (100 if row == "slow" else 150) + seed**2


def make_runs(folder: Path, quick: bool = False, **more: Any) -> None:
    """The files of the runs of paper/one."""
    for point in points_of("paper/one", BUILD, quick):
        flows = {
            c.flow: {"throughput_kBps": measured(c.row, float(c.x), c.seed)} for c in point.cells
        }
        run = {"digest": point.key[::-1], "seed": point.seed, "kernel": "6.12.0", "flow_s": 1.5}
        run |= {"wall_s": 0.25, "flows": flows, "curves": {}, **more}
        write_whole(folder / "runs" / f"{point.key}.json", json.dumps(run))


def table_of(folder: Path, quick: bool = False) -> tuple[list[dict[str, str]], dict[str, Any]]:
    """The lines of summary.csv, and study.json."""
    points = points_of("paper/one", BUILD, quick)
    out = folder / "out"
    told = summarise("paper/one", points, folder / "runs", out, quick)
    assert json.loads((out / "study.json").read_text()) == told
    with (out / "summary.csv").open(encoding="utf-8", newline="") as file:
        assert file.readline().rstrip("\n") == ",".join(COLUMNS)
        return list(csv.DictReader(file, COLUMNS)), told


def test_summary(paper: Path, tmp_path: Path) -> None:
    make_runs(tmp_path)
    lines, told = table_of(tmp_path)
    cells = [(line["row"], line["x"], line["published_kind"], line["published"]) for line in lines]
    assert cells == [
        ("slow", "1", "analysis", "100"),
        ("slow", "1", "experiment", "90"),
        ("slow", "2", "analysis", "200"),
        ("slow", "4", "", ""),
        ("fast", "1", "", ""),
        ("fast", "2", "", ""),
        ("fast", "4", "", ""),
    ]
    values = [measured("slow", 1, seed) for seed in (1, 2, 3)]
    mean = sum(values) / 3
    low, high = stats.t.interval(0.95, 2, loc=mean, scale=stats.sem(values))
    assert float(lines[0]["measured"]) == pytest.approx(mean, rel=1e-4)
    assert float(lines[0]["ci95"]) == pytest.approx((high - low) / 2, rel=1e-2)
    assert [line["note"] for line in lines[:3]] == ["a reason", "by hand; a reason", ""]
    assert {line["unit"] for line in lines} == {"kB/s"}
    assert {line["model"] for line in lines} == {""}
    assert (told["runs"], told["seeds"], told["quick"]) == (9, [1, 2, 3], False)
    assert told["virtual_s"] == 13.5
    assert told["wall_s"] == 2.2
    assert told["command"] == "wale-lab study paper/one"
    assert [check["passed"] for check in told["checks"]] == [True, True]


def test_the_digest_is_that_of_all_runs(paper: Path, tmp_path: Path) -> None:
    make_runs(tmp_path)
    digests = sorted(point.key[::-1] for point in points_of("paper/one", BUILD))
    digest = hashlib.sha256("\n".join(digests).encode()).hexdigest()
    assert table_of(tmp_path)[1]["digest"] == digest


def test_summary_of_a_quick_run(paper: Path, tmp_path: Path) -> None:
    make_runs(tmp_path, quick=True)
    lines, told = table_of(tmp_path, quick=True)
    assert [(line["row"], line["x"]) for line in lines] == [("slow", "1"), ("slow", "1")]
    assert {line["ci95"] for line in lines} == {""}  # one seed
    assert told["command"] == "wale-lab study paper/one --quick"
    assert [check["text"] for check in told["checks"]] == ["enough"]  # the other needs more


def test_model_beside_the_measured(
    paper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def model(name: str, x: float, factor: float) -> float:
        assert name == "throughput_kBps"
        return factor * x

    monkeypatch.setitem(all_models.MODELS, "fake", model)
    text = "model: {name: fake, rows: {slow: {factor: 101}}}\nnotes:\n"
    (paper / "one.yaml").write_text(changed(("notes:\n", text)))
    make_runs(tmp_path)
    lines, _ = table_of(tmp_path)
    assert [line["model"] for line in lines] == ["101", "101", "202", "404", "", "", ""]


def test_a_note_for_all_cells_is_beside_those_that_deviate(paper: Path, tmp_path: Path) -> None:
    (paper / "one.yaml").write_text(changed(("x: [1], text: a reason", "text: a reason")))
    make_runs(tmp_path)
    notes = [line["note"] for line in table_of(tmp_path)[0]]
    assert notes == ["", "by hand; a reason", "", "", "", "", ""]  # +4.7, +16.3 and +2.3 %


def test_a_note_for_one_kind(paper: Path, tmp_path: Path) -> None:
    (paper / "one.yaml").write_text(changed(("x: [1], text", "x: [1], kind: analysis, text")))
    make_runs(tmp_path)
    notes = [line["note"] for line in table_of(tmp_path)[0]]
    assert notes[:2] == ["a reason", "by hand"]


def test_rows_that_are_not_shown(paper: Path, tmp_path: Path) -> None:
    text = changed(
        ("seeds: 3", "seeds: 3\nshow: [slow]"), ("  - {title: All, rows: [slow, fast]}\n", ""),
        ("panels:\n", ""),
    )  # fmt: skip
    (paper / "one.yaml").write_text(text)
    make_runs(tmp_path)
    lines, told = table_of(tmp_path)
    assert {line["row"] for line in lines} == {"slow"}
    assert told["panels"] == [{"title": "", "rows": ["slow"], "ylim": None}]


def test_the_spread_of_the_seeds(paper: Path, tmp_path: Path) -> None:
    text = "measure: throughput_kBps, statistic: spread"
    (paper / "one.yaml").write_text(changed(("measure: throughput_kBps", text)))
    make_runs(tmp_path)
    values = [measured("slow", 1, seed) for seed in (1, 2, 3)]
    spread = 100 * stats.variation(values, ddof=1)
    assert float(table_of(tmp_path)[0][0]["measured"]) == pytest.approx(spread, rel=1e-4)
    make_runs(tmp_path, quick=True)
    with pytest.raises(ScenarioError, match=r"y.statistic: expected several seeds"):
        table_of(tmp_path, quick=True)


def test_a_measure_that_a_flow_does_not_have(paper: Path, tmp_path: Path) -> None:
    (paper / "one.yaml").write_text(changed(("throughput_kBps", "sessions_completed")))
    make_runs(tmp_path)
    with pytest.raises(ScenarioError, match=r"that row slow has: throughput_kBps, got 'sessions_"):
        table_of(tmp_path)


def test_table_of_curves(paper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(all_models.MODELS, "fake", lambda end: [(0, 0), (end, 1)])
    text = changed(
        ("order: 1", "order: 1\nplot: curves\nmodel: {name: fake}"),
        ("cc: reno}", "cc: reno, curve: {column: bytes_received}}"),
        ("{label: Fast, cc: cubic}", "{label: The model, model: {end: 2}}"),
        (", measure: throughput_kBps", ""),
    )  # fmt: skip
    text = text[: text.index("checks:\n")] + "quick: {x: [1]}\n"
    (paper / "one.yaml").write_text(text)
    make_runs(tmp_path, quick=True, curves={"slow": {"slow.1": [[0, 1.5], [0.25, 1e6]]}})
    lines, _ = table_of(tmp_path, quick=True)
    assert lines == []
    assert (tmp_path / "out/curves.csv").read_text() == (
        "row,curve,x,y\nslow,slow.1,0,1.5\nslow,slow.1,0.25,1e+06\nfast,fast,0,0\nfast,fast,2,1\n"
    )


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "a/b.json"
    write_whole(path, "first")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "second \ud800")
    assert path.read_text() == "first"
    assert list(path.parent.iterdir()) == [path]


# Checks.

VALUES = {("a", 1.0): 90.0, ("a", 2.0): 104.0, ("b", 1.0): 50.0, ("b", 2.0): 0.0}
KNOWN = {("a", 1.0): 100.0, ("a", 2.0): 100.0, ("b", 1.0): 50.0}
MODEL = {("a", 1.0): 92.0, ("a", 2.0): 106.0}

CHECKS: list[tuple[str, bool, str]] = [
    ("rows: [a], at_least: 90", True, "90 to 104"),
    ("rows: [a], at_least: 91", False, "90 to 104"),
    ("rows: [a], at_most: 104", True, "90 to 104"),
    ("rows: [a], at_most: 103", False, "90 to 104"),
    ("rows: [a], x: [1], at_least: 89, at_most: 91", True, "90"),
    ("rows: [a], but: {a: [1]}, at_least: 104", True, "104"),
    ("rows: [a], x: [1], but: {a: [1]}, at_least: 1", False, "0 of 0"),
    ("rows: [a], x: [1], ratio: b, at_most: 1.8", True, "1.8"),
    ("rows: [a], x: [1], ratio: b, at_most: 1.7", False, "1.8"),
    ("rows: [a], x: [2], ratio: b, at_most: 100", False, "inf"),
    ("rows: [b], x: [2], ratio: b, at_most: 1", True, "1"),
    ("rows: [a], x: [2], over: 1, at_least: 1.15, at_most: 1.16", True, "1.156"),
    ("rows: [a], x: [2], over: 1, at_least: 1.16", False, "1.156"),
    ("rows: [a], to: known, each: 10", True, "2 of 2 cells, largest -10.0 % (a at 1)"),
    ("rows: [a], to: known, each: 9", False, "1 of 2 cells, largest -10.0 % (a at 1)"),
    ("rows: [a], to: known, each: 9, all_but: 1", True, "1 of 2 cells"),
    ("rows: [a], to: known, mean: 7.01", True, "largest mean 7.0 % (a)"),
    ("rows: [a], to: known, mean: 6.9", False, "largest mean 7.0 % (a)"),
    ("x: [1], to: known, mean: 7.01", False, "largest mean 10.0 % (a)"),
    ("x: [1], to: known, each: 10, mean: 9", False, "largest mean 10.0 % (a)"),
    ("x: [1], to: known, each: 9, mean: 10", False, "largest mean 10.0 % (a)"),
    ("rows: [b], to: known, each: 10", False, "1 of 2 cells have nothing beside"),
    ("value: model, to: known, each: 8", True, "2 of 2 cells, largest -8.0 % (a at 1)"),
    ("value: model, to: measured, each: 2.3", True, "largest +2.2 % (a at 1)"),
    ("value: model, to: measured, each: 2", False, "largest +2.2 % (a at 1)"),
    ("value: model, x: [2], over: 1, at_least: 1.152", True, "1.152"),
    ("rows: [a], interval: 3", True, "at most 2.22 % (a at 1)"),
    ("rows: [a], interval: 2", False, "at most 2.22 % (a at 1)"),
    ("rows: [b], interval: 2", False, "2 of 2 cells have no interval"),
]


def study_with(check: str) -> Study:
    data = parse(
        changed(
            (
                "{text: near, rows: [slow], but: {slow: [4]}, to: analysis, each: 5, quick: null}",
                check,
            )
        ),
        "a",
    ).value
    return Study.model_validate({**data, "checks": data["checks"][1:]})


def outcome_of(check: str, quick: bool = False) -> list[dict[str, Any]]:
    estimates = {(row, x): (v, 2.0 if row == "a" else None) for (row, x), v in VALUES.items()}
    published = [Published(row=r, x=x, kind="known", value=v) for (r, x), v in KNOWN.items()]
    one = study_with("{text: it, " + check + "}")
    return outcomes_of(one, estimates, MODEL, published, quick)


@pytest.mark.parametrize(("check", "passed", "said"), CHECKS)
def test_checks(check: str, passed: bool, said: str) -> None:
    (outcome,) = outcome_of(check)
    assert outcome["text"] == "it"
    assert said in outcome["value"]
    assert outcome["passed"] is passed


def test_checks_in_a_quick_run() -> None:
    check = "rows: [a], at_least: 91, quick: "
    assert outcome_of(check + "{at_least: 90}", quick=True)[0]["passed"] is True
    assert outcome_of(check + "{at_least: 90}", quick=False)[0]["passed"] is False
    assert outcome_of(check + "{}", quick=True)[0]["passed"] is False
    assert outcome_of(check + "null", quick=True) == []
    assert outcome_of(check + "null", quick=False)[0]["passed"] is False
