# SPDX-License-Identifier: GPL-2.0
"""The table of a study, and what becomes of its checks."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

import wale_lab.papers as all_models
from study_cases import BUILD, changed
from wale_lab.errors import ScenarioError
from wale_lab.files import write_whole
from wale_lab.results.measures import MEASURES
from wale_lab.studies import results
from wale_lab.studies.points import points_of
from wale_lab.studies.study import Check, Published, Study, X
from wale_lab.studies.summary import COLUMNS, _against, outcomes_of, summarise
from wale_lab.yaml_lines import parse


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
    assert told["command"] == f"env WALE_STUDIES={paper.parent} testbed/wale-lab study paper/one"
    assert [check["passed"] for check in told["checks"]] == [True, True]


def test_means_over_several_x(paper: Path, tmp_path: Path) -> None:
    """Seed by seed, so that the interval is that of the mean; without all runs there is none."""
    means = "[1, 2, 4], scale: category, means: {few: [1, 2], all: [1, 2, 4]}"
    (paper / "one.csv").write_text("row,x,kind,value,note\nslow,few,analysis,150,\n")
    text = changed(
        ("[1, 2, 4]", means), ("x: [1], text", "x: [few], text"), ("x: [1, 2]", "x: [all]")
    )
    (paper / "one.yaml").write_text(text.replace("but: {slow: [4]}, ", "x: [few], "))
    make_runs(tmp_path)
    lines, told = table_of(tmp_path)
    assert [(line["row"], line["x"], line["published"]) for line in lines] == [
        ("slow", "few", "150"),
        ("slow", "all", ""),
        ("fast", "few", ""),
        ("fast", "all", ""),
    ]
    values = [sum(measured("slow", x, seed) for x in (1, 2)) / 2 for seed in (1, 2, 3)]
    assert float(lines[0]["measured"]) == pytest.approx(sum(values) / 3, rel=1e-4)
    half = stats.sem(values) * stats.t.ppf(0.975, 2)
    assert float(lines[0]["ci95"]) == pytest.approx(half, rel=1e-2)
    assert len(told["checks"]) == 2
    (tmp_path / "quick").mkdir()
    make_runs(tmp_path / "quick", quick=True)
    assert table_of(tmp_path / "quick", quick=True)[0] == []


def test_each_value_is_in_a_line(paper: Path, tmp_path: Path) -> None:
    """With its seed and measure; and each run has a name that says row, x and seed."""
    make_runs(tmp_path)
    _, told = table_of(tmp_path)
    with (tmp_path / "out/values.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == ["row", "x", "seed", "measure", "value"]
    expected = [
        (row, str(x), str(seed), "throughput_kBps", measured(row, x, seed))
        for row in ("slow", "fast")
        for x in (1, 2, 4)
        for seed in (1, 2, 3)
    ]
    assert [(*list(line.values())[:4], float(line["value"])) for line in lines] == expected
    assert told["measures"] == {"throughput_kBps": MEASURES["throughput_kBps"]}
    names = {path.name for path in (tmp_path / "out/runs").iterdir()}
    assert names == {f"{row}-x{x}-seed{seed}.json" for row, x, seed, _, _ in expected}
    run = json.loads((tmp_path / "out/runs/fast-x4-seed2.json").read_text())
    assert run["flows"]["fast"]["throughput_kBps"] == measured("fast", 4, 2)


def test_runs_of_an_x_that_no_file_can_have_in_its_name(paper: Path, tmp_path: Path) -> None:
    axis = 'x: {label: Rate, scale: category, values: ["1/2", "1:2"]}'
    text = changed(
        ("x: {label: Rate, unit: Mbit/s, values: [1, 2, 4]}", axis),
        ("{x}mbit", "{seed}mbit"),
        ("seeds: 3", "seeds: 1"),
        ("published: one.csv\n", ""),
    )
    (paper / "one.yaml").write_text(text[: text.index("notes:")])
    points = points_of("paper/one", BUILD)
    flows = {name: {"throughput_kBps": 1.0} for name in ("slow", "fast")}
    run = {"digest": "d", "seed": 1, "kernel": "6", "flow_s": 1, "wall_s": 1, "flows": flows}
    write_whole(tmp_path / "runs" / f"{points[0].key}.json", json.dumps(run))
    summarise("paper/one", points, tmp_path / "runs", tmp_path / "out", False)
    links = sorted((tmp_path / "out/runs").iterdir())
    key = points[0].key
    assert [link.name for link in links] == [
        f"fast-x1_2-seed1-{key}.json",
        "fast-x1_2-seed1.json",
        f"slow-x1_2-seed1-{key}.json",
        "slow-x1_2-seed1.json",
    ]
    assert all(link.resolve().exists() for link in links)


def test_rates_in_the_unit_of_links(paper: Path, tmp_path: Path) -> None:
    (paper / "one.yaml").write_text(changed(("throughput_kBps", "throughput_Mbps")))
    make_runs(tmp_path)
    values = [measured("slow", 1, seed) * 8 / 1e3 for seed in (1, 2, 3)]
    assert float(table_of(tmp_path)[0][0]["measured"]) == pytest.approx(sum(values) / 3, rel=1e-4)
    assert "slow,1,1,throughput_Mbps,0.808\n" in (tmp_path / "out/values.csv").read_text()
    assert "Mbit/s" in MEASURES["throughput_Mbps"] and "kB" not in MEASURES["throughput_Mbps"]


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
    assert told["command"].endswith(" testbed/wale-lab study paper/one --quick")
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
    checks = "checks:\n" + "".join(
        f"  - {{text: t, rows: [slow], at_most: {most}}}\n" for most in (1000000, 999999)
    )
    text = text[: text.index("checks:\n")] + checks + "quick: {x: [1]}\n"
    (paper / "one.yaml").write_text(text)
    curve = {"slow.1": [[0, 1.5], [0.25, 1e6], [0.5, 2]], "slow.2": [[0, 7]]}
    make_runs(tmp_path, quick=True, curves={"slow": curve})
    lines, about = table_of(tmp_path, quick=True)
    assert lines == []
    assert [check["passed"] for check in about["checks"]] == [True, False]
    assert {check["value"] for check in about["checks"]} == {"1e+06"}  # the highest of all
    assert (tmp_path / "out/curves.csv").read_text() == (
        "row,curve,x,y\nslow,slow.1,0,1.5\nslow,slow.1,0.25,1e+06\nslow,slow.1,0.5,2\nslow,slow.2,0,7\n"
        "fast,fast,0,0\nfast,fast,2,1\n"
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
    ("rows: [a], x: [1, 3], at_least: 1", False, "90; of 1 cells, 1 more are named and not there"),
    ("rows: [a, c], at_least: 1", False, "1 more are named"),
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


def test_of_rows_that_are_as_far_away_the_first_is_named() -> None:
    """A set of names has another order in each process."""
    names = [f"row {n}" for n in range(40)]
    cells: dict[tuple[str, X], float] = {(name, 1.0): 110.0 for name in names}
    known: dict[tuple[str, X], float] = {(name, 1.0): 100.0 for name in names}
    check = Check(text="it", to="known", mean=11)
    assert _against(check, cells, known) == (True, "largest mean 10.0 % (row 0)")


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


@pytest.mark.parametrize(("value", "said"), [(0.0, "inf %"), (-1.0, "at most 200.00 %")])
def test_an_interval_around_nothing_and_less(value: float, said: str) -> None:
    one = study_with("{text: it, rows: [a], interval: 2}")
    (outcome,) = outcomes_of(one, {("a", 1.0): (value, 2.0)}, {}, [], quick=False)
    assert outcome["passed"] is False
    assert said in outcome["value"]


@pytest.mark.parametrize(
    ("most", "known", "as_expected", "verdict"),
    [
        (104, "", True, "ok"),
        (103, "", False, "not ok"),
        (103, "{why: it is so, at_most: 105}", True, "known"),
        (102, "{why: it is so, at_most: 103}", False, "not ok"),  # it is worse than known
        (104, "{why: it is so, at_most: 105}", False, "gone"),
    ],
)
def test_a_check_that_is_known_not_to_hold(
    most: int, known: str, as_expected: bool, verdict: str
) -> None:
    """It is no failure, unless what is known to hold instead does not; nor may it hold again."""
    text = f"rows: [a], at_most: {most}" + (f", known: {known}" if known else "")
    (outcome,) = outcome_of(text)
    told = results.Check.model_validate(outcome)
    assert (told.as_expected, told.verdict) == (as_expected, verdict)
    (quick,) = outcome_of(text, quick=True)
    assert quick == {key: value for key, value in outcome.items() if key != "known"}


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
    (told,) = outcome_of("rows: [a], x: [1, 3], at_least: 1", quick=True)
    assert (told["passed"], "1 more are named" in told["value"]) == (True, True)
    assert outcome_of(check + "null", quick=False)[0]["passed"] is False
