# SPDX-License-Identifier: GPL-2.0
"""`wale-lab sweep`: its grid, its tables, its picture, and that it goes on where it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

import wale_lab
from wale_lab import yaml_lines
from wale_lab.cli import main
from wale_lab.errors import ScenarioError
from wale_lab.sweeps.grid import MOST_RUNS, parse_grid, parse_seeds, split_values
from wale_lab.sweeps.picture import axis_of, number_of, picture
from wale_lab.sweeps.table import summary, tidy
from wale_lab.workers import Workers, python_environment

LOSS = "bottleneck.forward.loss"
TEXT = """\
name: small
description: one flow
bottleneck:
  forward: {rate: 10mbit, delay: 5ms, limit: 50kB}
flows:
  - {name: tcp, cc: reno, size: 200kB}
  - {name: probe, constant: {packets_per_second: 10, packet: 100}, duration: 100ms}
record: {interval: 10ms}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a", ["a"]),
        ("reno, cubic,bbr", ["reno", "cubic", "bbr"]),
        ("[1, 2],[3]", ["[1, 2]", "[3]"]),
        ("{a: 1, b: 2},null", ["{a: 1, b: 2}", "null"]),
        ("'1,5',\"2,6\"", ["'1,5'", '"2,6"']),
        ("a,,b", ["a", "", "b"]),
    ],
)
def test_values(text: str, values: list[str]) -> None:
    assert split_values(text) == values


def test_seeds() -> None:
    assert parse_seeds("3") == [1, 2, 3]
    assert parse_seeds("3-5") == [3, 4, 5]
    assert parse_seeds("7,1-2,7") == [7, 1, 2]
    for text in ("0", "", "5-3", "1.5", "-3", f"{MOST_RUNS + 1}", "1-100000000000", "x"):
        with pytest.raises(ScenarioError, match=r"^--seeds .*expected"):
            parse_seeds(text)


def test_grid() -> None:
    grid = parse_grid(["a=1,2", "b=x", "c=p,q"], "2")
    assert (grid.dimensions, grid.fixed) == ({"a": ["1", "2"], "c": ["p", "q"]}, ["b=x"])
    orders = list(grid)
    assert len(orders) == len(grid) == 8
    assert [(o.parameters["a"], o.parameters["c"], o.seed) for o in orders[:3]] == [
        ("1", "p", 1), ("1", "p", 2), ("1", "q", 1),
    ]  # fmt: skip
    assert orders[-1].overrides(grid.fixed) == ["b=x", "a=2", "c=q"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a"], "--set a: expected KEY=VALUE or KEY=V1,V2"),
        (["a=1,1"], "expected different values"),
        (["a=1,"], "none of them empty"),
        (["a=1,2", "a=3,4"], "a has values already"),
        (["a=1,2", "b=" + ",".join(map(str, range(600_000)))], "expected at most 1000000 runs"),
    ],
)
def test_grid_refuses(words: list[str], said: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        parse_grid(words, "1")
    assert said in str(refused.value)


def test_cc_is_that_of_all_flows_that_have_one() -> None:
    document = yaml_lines.parse(TEXT, "s.yaml")
    yaml_lines.override(document, "cc=bbr")
    assert [flow.get("cc") for flow in document.value["flows"]] == ["bbr", None]
    yaml_lines.override(document, "flows.*.start=1s")
    assert [flow["start"] for flow in document.value["flows"]] == ["1s", "1s"]
    with pytest.raises(ScenarioError, match=r"bottleneck\.forward\.rate is no list"):
        yaml_lines.override(document, "bottleneck.forward.rate.*.x=1")


def test_numbers_of_an_axis() -> None:
    values = ["1", "2.5%", "10mbit", "20ms", "50kB", "reno", ""]
    assert [number_of(v) for v in values] == [1, 2.5, 10e6, 20e6, 50e3, None, None]
    dimensions = {"cc": ["reno", "bbr"], "loss": ["0%", "1%"], "delay": ["1ms", "2ms"]}
    assert (axis_of(dimensions, None), axis_of(dimensions, "cc")) == ("loss", "cc")
    assert axis_of({"cc": ["reno", "bbr"]}, None) == "cc"


def table() -> pd.DataFrame:
    points = [
        (
            {"cc": cc, "loss": loss, "buffer": buffer},
            seed,
            {"measures": [["flow", "f", "m", n + seed]]},
        )
        for n, (cc, loss, buffer) in enumerate(
            (cc, loss, b) for cc in ("reno", "bbr") for loss in ("0%", "1%") for b in ("1p", "2p")
        )
        for seed in (1, 2, 3)
    ]
    return tidy(points)


def test_summary() -> None:
    means = summary(table())
    assert len(means) == 8 and set(means["count"]) == {3}
    assert list(means["mean"]) == [n + 2 for n in range(8)]
    assert list(means["ci95"]) == pytest.approx([4.302653 / 3**0.5] * 8)  # t of 2 degrees; s is 1


def test_picture() -> None:
    figure = picture(summary(table()), ["loss", "cc", "buffer"], "flow", "m")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["buffer 1p", "buffer 2p"]
    assert figure.axes[0].get_legend_handles_labels()[1] == ["reno", "bbr"]
    with pytest.raises(ScenarioError, match="--y x: no flow has it; expected one of m"):
        picture(summary(table()), ["loss"], "flow", "x")


def sweep(scenario: Path, out: Path, *words: str) -> int:
    return main(["sweep", str(scenario), "--out", str(out), *words])


@pytest.mark.guest
def test_sweep(scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    words = ["--set", f"{LOSS}=0%,3%", "--set", "cc=reno,cubic", "--seeds", "2", "-j", "2"]
    assert sweep(scenario, out, *words) == 0
    said = capsys.readouterr()
    assert "8 runs, 0 of them are there" in said.err
    assert said.out.split() == [
        str(out / name) for name in ("sweep.csv", "sweep.parquet", "summary.csv", "sweep.png")
    ]
    values = pd.read_csv(out / "sweep.csv")
    assert list(values.columns[:5]) == [LOSS, "cc", "seed", "kind", "name"]
    one = values[(values[LOSS] == "3%") & (values.cc == "cubic") & (values.seed == 2)]
    alone = wale_lab.run(scenario, seed=2, set={LOSS: "3%", "cc": "cubic"})
    goodput = one[(one.measure == "goodput_Bps") & (one.name == "tcp")].value.item()
    assert goodput == alone.flows.goodput_Bps[0]
    found = {json.loads(p.read_text())["digest"] for p in (out / "runs").glob("*.json")}
    assert alone.digest in found and len(found) == 8
    measures = set(one[one.name == "tcp"].measure)
    assert {"rtt_p95_ms", "queueing_delay_p50_ms", "retransmitted_share"} <= measures
    before = {path: path.stat().st_mtime_ns for path in (out / "runs").glob("*.json")}

    # only what is missing is made, and the tables are the same
    csv = (out / "sweep.csv").read_bytes()
    next(iter(before)).unlink()
    assert sweep(scenario, out, *words, "--quiet") == 0
    after = {path: path.stat().st_mtime_ns for path in (out / "runs").glob("*.json")}
    assert sum(before[path] != after[path] for path in before) == 1
    assert (out / "sweep.csv").read_bytes() == csv


@pytest.mark.guest
def test_runs_that_fail_are_told(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["--set", "flows.tcp.size=100kB,50MB", "--set", "virtual_limit=2s"]
    assert sweep(scenario, out, *words) == 1
    said = capsys.readouterr().err
    assert "flow tcp did not complete" in said
    assert "to repeat it: wale-lab run --set=virtual_limit=2s --set=flows.tcp.size=50MB" in said
    values = pd.read_csv(out / "sweep.csv")
    assert set(values["flows.tcp.size"]) == {"100kB", "50MB"}


@pytest.mark.guest
def test_an_interrupted_sweep_goes_on(scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "wale_lab", "sweep", str(scenario), "--out", str(out)]
    command += ["--seeds", "500", "-j", "2"]
    child = subprocess.Popen(command, env=python_environment(), stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 120
    while len(list(out.glob("runs/*.json"))) < 3 and time.monotonic() < end:
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert (child.returncode, said.splitlines()[-1]) == (130, "wale-lab: interrupted")
    there = len(list(out.glob("runs/*.json")))
    assert 3 <= there < 500
    assert sweep(scenario, out, "--seeds", "3", "--quiet") == 0
    assert len(pd.read_csv(out / "sweep.csv").seed.unique()) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "nosuch=1,2"], "nosuch: unknown key; expected one of"),
        (["--set", f"{LOSS}=0%,3x"], "expected a probability"),
        (
            ["--set", f"{LOSS}=0%,1%", "--x", "cc"],
            f"--x cc: expected a KEY with several values; {LOSS}",
        ),
    ],
)
def test_wrong_words_are_told_before_anything_runs(
    words: list[str], said: str, scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep(scenario, tmp_path / "out", "--quiet", *words) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.glob("out/runs/*"))


def test_workers_do_one_command_after_the_other() -> None:
    workers = Workers()
    try:
        first = workers.do(["--version"])
        assert (first.code, first.printed.startswith("wale-lab "), first.said) == (0, True, "")
        second = workers.do(["run", "nosuch"])
        assert second.code == 2 and second.said.startswith("there is no scenario 'nosuch'")
        assert workers.do(["run"]).code == 2
        assert len(workers._all) == 1
    finally:
        workers.end()
    with pytest.raises(wale_lab.EngineError, match="the runs were ended"):
        workers.do(["--version"])
