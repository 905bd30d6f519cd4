# SPDX-License-Identifier: GPL-2.0
"""`wale-lab sweep`: its grid, its tables, its picture, and that it goes on where it was."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pandas as pd
import pytest

import wale_lab
from wale_lab import yaml_lines
from wale_lab.cli import main
from wale_lab.errors import ScenarioError
from wale_lab.files import alone
from wale_lab.scenario import load_scenario
from wale_lab.studies import schedule
from wale_lab.studies.points import Build
from wale_lab.sweeps import live
from wale_lab.sweeps import results as sweep_results
from wale_lab.sweeps.command import make
from wale_lab.sweeps.grid import MOST_RUNS, parse_grid, parse_seeds, split_values
from wale_lab.sweeps.live import Live
from wale_lab.sweeps.picture import axis_of, number_of, picture
from wale_lab.sweeps.points import Point
from wale_lab.sweeps.results import Results
from wale_lab.sweeps.table import summary, tidy
from wale_lab.workers import Done, Workers, python_environment

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
    for text in (
        "0",
        "",
        "5-3",
        "1.5",
        "-3",
        f"{2**64}-{2**64}",
        f"{MOST_RUNS + 1}",
        "1-100000000000",
        "x",
    ):
        with pytest.raises(ScenarioError, match=r"^--seeds .*expected"):
            parse_seeds(text)


def test_grid() -> None:
    grid = parse_grid(["a=1,2", "b=x", "c=p,q"], "2")
    assert grid.dimensions == {"a": ["1", "2"], "c": ["p", "q"]}
    orders = list(grid)
    assert len(orders) == len(grid) == 8
    assert [(o.parameters["a"], o.parameters["c"], o.seed) for o in orders[:3]] == [
        ("1", "p", 1), ("1", "p", 2), ("1", "q", 1),
    ]  # fmt: skip
    assert grid.overrides(orders[-1]) == ["a=2", "b=x", "c=q"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a"], "--set a: expected KEY=VALUE or KEY=V1,V2"),
        (["a=1,1"], "expected different values"),
        (["a=1,"], "none of them empty"),
        (["a=1,2", "a=3,4"], "a has values already"),
        (["a=1,2", "a=3"], "--set a=3: a has values already"),
        (["a=3", "a=1,2"], "--set a=1,2: a has values already"),
        (["name=a,b"], "--set name=a,b: expected another key: name is a column of the tables"),
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
    values = [
        "1",
        "2.5%",
        "10mbit",
        "20ms",
        "50kB",
        "reno",
        "",
        "unlimited",
        "inf",
        "nan",
        "1.2.3%",
    ]
    assert [number_of(v) for v in values] == [1, 2.5, 10e6, 20e6, 50e3, *[None] * 6]
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


def test_labels_of_an_axis_do_not_run_into_each_other() -> None:
    rows = [("0%", 1), ("0.1%", 2), ("1%", 3), ("3%", 4)]
    values = [("flow", "tcp", "one_way_delay_p95_ms", mean, 0.0, loss) for loss, mean in rows]
    columns = ["kind", "name", "measure", "mean", "ci95", "loss"]
    (axes,) = picture(
        pd.DataFrame(values, columns=columns), ["loss"], "flow", "one_way_delay_p95_ms"
    ).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0%", "\n0.1%", "1%", "3%"]
    assert axes.get_ylabel() == "one-way delay p95, ms"


def sweep(scenario: Path, out: Path, *words: str) -> int:
    return main(["sweep", str(scenario), "--out", str(out), *words])


@pytest.mark.guest
def test_sweep(scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    words = ["--set", f"{LOSS}=0%,3%", "--set", "cc=reno,cubic", "--seeds", "2", "-j", "2"]
    assert sweep(scenario, out, *words) == 0
    said = capsys.readouterr()
    assert re.search(r"8 runs, 0 done, 2 at once, about \d+ s\n", said.err)
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
def test_comparison_of_the_documentation(tmp_path: Path) -> None:
    """The command of howto/sweep.rst, with fewer values, seeds and bytes."""
    page = (Path(__file__).parents[2] / "Documentation/howto/sweep.rst").read_text()
    command = page.partition("$ testbed/wale-lab sweep demo --set 'flows=")[2].partition("\n\n")[0]
    words = shlex.split("--set 'flows=" + command.replace("\\\n", " "))
    short = {"4MB": "100kB", "cc=reno,cubic,bbr,ratcp": "cc=reno,ratcp"}
    short |= {"loss=0%,0.1%,0.5%,1%,2%": "loss=0%,2%"}
    for long, less in short.items():
        assert any(long in word for word in words), words
        words = [word.replace(long, less) for word in words]
    words[words.index("--seeds") + 1] = "2"
    assert main(["sweep", "demo", *words, "--out", str(tmp_path), "-q", "--y", "seconds"]) == 0
    means = pd.read_csv(tmp_path / "summary.csv")
    chosen = means[(means.measure == "goodput_Bps") & (means.kind == "flow")]
    assert list(chosen["count"]) == [2] * 4 and set(chosen.cc) == {"reno", "ratcp"}


@pytest.mark.guest
def test_runs_that_fail_are_told(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["--set", "flows.tcp.size=100kB,50MB", "--set", "virtual_limit=2s"]
    assert sweep(scenario, out, *words) == 1
    said = capsys.readouterr().err
    assert "flow tcp did not complete" in said
    assert "to repeat it: wale-lab run --set=flows.tcp.size=50MB --set=virtual_limit=2s" in said
    values = pd.read_csv(out / "sweep.csv")
    assert set(values["flows.tcp.size"]) == {"100kB", "50MB"}


@pytest.mark.guest
def test_a_run_that_hangs_costs_no_other(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["--set", "flows.tcp.size=100kB,40GB,200kB", "--set", "wall_limit=15s", "-j", "3"]
    words += ["--set", "bottleneck.forward.rate=10gbit"]
    assert sweep(scenario, out, *words) == 1
    said = capsys.readouterr().err
    assert "the run failed: killed at its wall limit" in said
    assert said.count("to repeat it: ") == 1 and "--set=flows.tcp.size=40GB" in said
    assert set(pd.read_csv(out / "sweep.csv")["flows.tcp.size"]) == {"100kB", "200kB"}


def test_a_worker_that_dies_costs_one_run(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    do = Workers.do
    told: list[int] = []

    def die_once(self: Workers, words: Sequence[str]) -> Done:
        if words[0] == "die":
            self.do(["--version"])
            self._all[-1].kill()
            self._all[-1].wait()
        return do(self, words)

    monkeypatch.setattr(Workers, "do", die_once)
    loaded = load_scenario(scenario)
    points = [Point(o, str(o.seed), tmp_path, loaded) for o in parse_grid([], "4")]
    words = {"2": ["die"], "3": ["run", "nosuch"]}
    failed = make(points, lambda point: words.get(point.key, ["--version"]), 1, told.append)
    assert list(failed) == ["2", "3"] and told[-1] == 4
    assert failed["2"].startswith("a worker ended with -9")
    assert failed["3"].startswith("there is no scenario 'nosuch'")


def test_each_file_is_read_once(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[Path] = []
    record = {"problems": [], "measures": [["flow", "tcp", "goodput_Bps", 1.0]]}

    def read(path: Path) -> dict[str, Any] | None:
        reads.append(path)
        return record if path.exists() else None

    monkeypatch.setattr(sweep_results, "read_record", read)
    grid = parse_grid(["cc=reno,cubic"], "3")
    loaded = load_scenario(scenario)
    points = [Point(o, str(n), tmp_path / str(n), loaded) for n, o in enumerate(grid)]
    for point in points[:2]:
        point.path.touch()
    results = Results(grid, points, None, "flow", "goodput_Bps")
    assert results.missing() == points[2:]
    for point in points[2:]:
        point.path.touch()
    results.take(results.missing())
    assert [path.name for path in results.write(tmp_path, all_of_it=True)] == [
        "sweep.csv", "sweep.parquet", "summary.csv"
    ]  # fmt: skip
    assert results.draw(tmp_path) == [tmp_path / "sweep.png"]
    assert results.missing() == [] and results.problems() == []
    assert sorted(reads) == sorted(2 * [p.path for p in points[2:]] + [p.path for p in points[:2]])


def finished(scenario: Path, out: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """A sweep whose runs have all been made, without a guest."""
    record = {"problems": ["flow tcp did not complete"], "measures": [["flow", "tcp", "x", 1.0]]}
    monkeypatch.setattr("wale_lab.sweeps.command.build_of", lambda *_: Build(Mock(), "0"))
    monkeypatch.setattr(sweep_results, "read_record", lambda _: record)
    return sweep(scenario, out, "--quiet", "--set", "cc=reno,cubic", *words)


def test_a_picture_that_cannot_be_drawn_costs_no_table(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert finished(scenario, tmp_path, monkeypatch, "--y", "nosuch") == 2
    said = capsys.readouterr()
    assert said.out.split()[0] == str(tmp_path / "sweep.csv")
    assert "flow tcp did not complete" in said.err
    assert said.err.endswith("--y nosuch: no flow has it; expected one of x\n")
    assert finished(scenario, tmp_path, monkeypatch, "--y", "x") == 1


def test_two_sweeps_do_not_share_a_folder(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    with alone(tmp_path):
        assert finished(scenario, tmp_path, monkeypatch) == 2
    assert "another run writes to it" in capsys.readouterr().err
    assert not (tmp_path / "sweep.json").exists()


def test_first_results_are_there_while_the_rest_runs(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(live, "_REFRESH_EACH_S", 0)
    grid = parse_grid(["cc=reno,cubic"], "2")
    loaded = load_scenario(scenario)
    points = [Point(o, str(n), tmp_path / f"{n}.json", loaded) for n, o in enumerate(grid)]
    results = Results(grid, points, None, "flow", "goodput_Bps")
    shown = Live(results, tmp_path, quiet=False)
    shown.begin(points, 2)
    with shown.running():
        shown.tell(0)
        assert not (tmp_path / "sweep.csv").exists()
        record = {"problems": [], "measures": [["flow", "tcp", "goodput_Bps", 5.0]]}
        points[0].path.write_text(json.dumps(record))
        shown.refresh_at = 0
        shown.tell(1)
        assert len(pd.read_csv(tmp_path / "sweep.csv")) == 1
        points[2].path.write_text(json.dumps(record))
        shown.refresh_at = 0
        shown.tell(2)
    assert list(pd.read_csv(tmp_path / "summary.csv").cc) == ["reno", "cubic"]
    assert (tmp_path / "sweep.png").read_bytes().startswith(b"\x89PNG")
    said = capsys.readouterr().err
    assert "4 runs, 0 done, 2 at once, about 1 s" in said
    assert said.count(f"first results in {tmp_path / 'sweep.png'}") == 1
    means = results.means()
    assert means is not None
    table = live.table_of(means, results)
    assert [column.header for column in table.columns] == [
        "cc",
        "flow",
        "goodput_Bps",
        "± 95 %",
        "runs",
    ]
    assert list(table.columns[2].cells) == ["5", "5"]


@pytest.mark.parametrize(
    ("words", "least", "most"),
    [
        (["flows.tcp.size=125MB"], 10 * 1.4, 10 * 2.0),  # 83,333 packets
        (["flows=[{name: a, cc: reno, duration: 10s}]"], 10 * 0.5, 10 * 0.6),
        (["flows=[{name: a, duration: 10s}, {name: b, duration: 10s}]"], 10 * 0.5, 10 * 0.6),
    ],
)
def test_expected_time(
    words: list[str],
    least: float,
    most: float,
    scenario: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded = load_scenario(scenario, words)
    points = [Point(order, "", Path(), loaded) for order in parse_grid([], "10")]
    monkeypatch.setattr(live, "_packets", counted := Mock(wraps=live._packets))
    packets = live.packets_of(points)
    assert counted.call_count == 1  # of a scenario that ten runs have
    assert least < live.expected_s(packets, 1) < most
    assert live.expected_s(packets, 20) <= live.expected_s(packets, 1)


def test_time_left_follows_from_what_runs_took() -> None:
    """Four at a time; those that are left have ten times as many packets."""
    few, many = [1000.0] * 8, [10_000.0] * 8
    for setup_s in (0.1, 0.9):
        took_s = (8 * setup_s + 8000 * live._PACKET_S) / 4
        expected_s = (8 * setup_s + 80_000 * live._PACKET_S) / 4
        assert live.left_s(took_s, 4, few, many) == pytest.approx(expected_s)
    # on a machine that is faster than expected
    assert live.left_s(0.8, 1, many, many[:4]) == pytest.approx(0.4)
    assert live.left_s(2, 2, [0.0], [0.0] * 3) == pytest.approx(6)


@pytest.mark.guest
def test_runs_by_snakemake(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on a cluster, by another executor: the tables are the same, and failures are told."""
    words = ["--set", "flows.tcp.size=100kB,200kB", "-j", "2"]
    assert sweep(scenario, tmp_path / "a", *words, "--snakemake=--executor local") == 0
    assert sweep(scenario, tmp_path / "b", *words) == 0
    for name in ("sweep.csv", "summary.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    words = ["--set", "flows.tcp.cc=nosuch,reno", "--snakemake=--executor local"]
    capsys.readouterr()
    assert sweep(scenario, tmp_path / "a", *words) == 1
    said = capsys.readouterr().err
    assert said.count("nosuch") and said.count("to repeat it: wale-lab run") == 1
    assert "could not be completed" not in said
    assert set(pd.read_csv(tmp_path / "a/sweep.csv")["flows.tcp.cc"]) == {"reno"}


@pytest.mark.parametrize("command", [["sweep", "demo"], ["study", "karnik-kumar/fig9"]])
@pytest.mark.parametrize("cluster", ["slurm", "kubernetes"])
def test_a_cluster_needs_its_plugin(
    command: list[str], cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(schedule, "find_spec", lambda name: None if "plugin" in name else name)
    assert main([*command, "--quiet", "--cluster", cluster]) == 125
    said = capsys.readouterr().err
    assert f"--cluster {cluster}: the plugin snakemake-executor-plugin-{cluster} is not" in said
    monkeypatch.setattr(schedule, "find_spec", lambda name: name)
    assert schedule.options_of_cluster(cluster) == ["--executor", cluster]


def test_a_run_of_a_sweep_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, message in (
        (None, "cannot be read"),
        ("[]", "expected what `wale-lab sweep` wrote"),
        ('{"runs": {}}', "has no run k"),
    ):
        if text is not None:
            (tmp_path / "sweep.json").write_text(text)
        words = ["point", str(tmp_path / "sweep.json"), "k", "--out", str(tmp_path / "k.json")]
        assert main(words) == 125
        assert message in capsys.readouterr().err
        assert message in (tmp_path / "k.failed").read_text()


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
        (["--kind", "link"], "--kind link: expected --y with it"),
        (
            ["--set", "flows.tcp.cc=reno,cubic", "--set", "cc=reno,bbr"],
            "--set: flows.tcp.cc=reno and flows.tcp.cc=cubic make the same run; expected values",
        ),
        (["--set", f"{LOSS}=0,0%"], f"--set: {LOSS}=0 and {LOSS}=0% make the same run"),
    ],
)
def test_wrong_words_are_told_before_anything_is_built(
    words: list[str],
    said: str,
    scenario: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("wale_lab.sweeps.command.build_of", None)
    assert sweep(scenario, tmp_path / "out", "--quiet", *words) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


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


def test_a_worker_ends_even_if_the_signal_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """One may come just before the worker begins to read, where Python sees it only after that."""
    workers = Workers()
    workers.do(["--version"])
    monkeypatch.setattr(subprocess.Popen, "terminate", lambda _: None)
    workers.end()
    assert [worker.returncode for worker in workers._all] == [0]
