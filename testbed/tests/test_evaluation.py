# SPDX-License-Identifier: GPL-2.0
"""`wale-lab evaluate`: metrics, verdicts, rows, and a small evaluation of one control."""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wale_lab import yaml_lines
from wale_lab.cli import main
from wale_lab.engines import get_engine
from wale_lab.engines.base import Kernel
from wale_lab.engines.modules import build_folder
from wale_lab.errors import ScenarioError
from wale_lab.evaluation import command
from wale_lab.evaluation.outcome import Records
from wale_lab.evaluation.report import draft_text, write_report
from wale_lab.evaluation.rows import DEPLOYED, ROWS, choose, load_row
from wale_lab.evaluation.runs import Maker, Place, Point, make_point
from wale_lab.evaluation.scenes import Subject, scene
from wale_lab.files import alone
from wale_lab.progress import Progress
from wale_lab.scenario import check_scenario
from wale_lab.studies.points import Build
from wale_lab.tree import SOURCES
from wale_lab.workers import python_environment

ROW = """\
title: A row
source: {document: RFC 1, section: "2"}
question: What?
scenario:
  bottleneck:
    forward: {rate: 4mbit, delay: 10ms, limit: 20kB}
    reverse: {rate: 4mbit, delay: 10ms}
  record: {interval: 100ms}
groups:
  own: {count: 2, every: 1s, access_delay: [0ms, 5ms], flow: {cc: "{cc}", duration: 4s}}
cells:
  small: {set: {scenario.bottleneck.forward.limit: 10kB}, quick: true}
  large: {set: {scenario.bottleneck.forward.limit: 80kB, groups.own.count: 1}}
window: [1s, 4s]
spread: 100ms
seeds: {least: 2, most: 3}
metrics:
  rate: {measure: throughput, title: rate, better: higher, margin: 5%}
  delay: {measure: queueing_delay, title: delay, percent: 95, better: lower, margin: 10%}
"""


PLACE = Place(Path("out"), {None: Build(Kernel("6.12", "a"), "a digest")}, (), "x")


def arguments(**words: Any) -> argparse.Namespace:
    """Of `evaluate cubic`."""
    usual: dict[str, Any] = dict.fromkeys(("kernel", "against", "program", "serve", "out"))
    usual |= {"cc": "cubic", "rows": [], "quick": False, "module_files": []}
    return argparse.Namespace(**{**usual, **words})


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of rows with the set `mine`, of ROW."""
    folder = tmp_path / "rows" / "mine"
    folder.mkdir(parents=True)
    (folder / "one.yaml").write_text(ROW)
    monkeypatch.setenv("WALE_ROWS", str(folder.parent))
    return folder


def test_rows_are_chosen_by_name_and_set(rows: Path) -> None:
    assert [named.name for named in choose(["mine"])] == ["one"]
    names = [named.name for named in choose([])]
    assert {"one", "bufferbloat", "harm"} <= set(names)
    found = choose(["one", "bufferbloat", "mine"])  # RFC 9743 comes first
    assert [named.name for named in found] == ["bufferbloat", "one"]
    with pytest.raises(ScenarioError, match="--rows nosuch: expected names of rows or of sets"):
        choose(["nosuch"])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("throughput", "thruput", "one.yaml:18: metrics.rate: expected a measure that is one of"),
        ("margin: 5%", "margin: much", "metrics.rate.margin: expected a share such as 10%"),
        ("better: higher", "better: up", "expected 'higher' or 'lower', got 'up'"),
        ("question: What?\n", "", "one.yaml:1: question: expected this key, it is missing"),
        ("least: 2", "least: 9", "seeds: expected at least 9 as most, got 3"),
        ("spread", "spred", "one.yaml:15: spred: unknown key; expected one of"),
        (
            "metrics:",
            "runs: {main: {without: [us]}}\nmetrics:",
            "runs.main.without: expected one of own",
        ),
        ("scenario:", "unable: nothing\nscenario:", "expected unable without scenario"),
        ("delay, percent", "delay, harm: true, percent", "expected a run with the name alone"),
        ("[0ms, 5ms]", "[]", "one.yaml:10: groups.own.access_delay: expected at least 1 item"),
        ("record:", "flows: 5\n  record:", "expected groups without flows and topology"),
        ("[1s, 4s]", "[4s, 1s]", "expected a window that ends after it begins, for rate of cell"),
        ("window: [1s, 4s]\n", "", "expected a window that ends after it begins, for rate of cell"),
        ("title: rate,", "title: rate, start: 5s,", "expected a window that ends after it begins"),
        ("title: rate,", "title: rate, bin: 0,", "metrics.rate: expected a bin above 0"),
        ("title: rate,", "title: rate, least: 5, most: 5,", "expected most above least, got 5 and"),
        ("throughput", "recovery_time", "metrics.rate: expected a goal, for recovery_time"),
    ],
)
def test_what_is_wrong_with_a_row(rows: Path, old: str, new: str, said: str) -> None:
    path = rows / "one.yaml"
    path.write_text(ROW.replace(old, new, 1))
    with pytest.raises(ScenarioError) as error:
        load_row(path)
    assert said in str(error.value)


OWN_FLOWS = ROW[ROW.index("groups:") : ROW.index("cells:")]
SMALL = "{scenario.bottleneck.forward.limit: 10kB}"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "duration: 4s",
            "start: soon, duration: 4s",
            "one.yaml: flow own-1: start: expected a time",
        ),
        (OWN_FLOWS, "  flows: 7\n", "one.yaml: run main: expected groups, or flows that each have"),
        (OWN_FLOWS, "  flows: [{cc: reno, size: 1kB}]\n", "or flows that each have a name"),
        (
            "window:",
            "runs: {main: {without: [own]}}\nwindow:",
            "run main: expected groups, or flows",
        ),
        (SMALL, "{scenario: 5}", "one.yaml, cell small: --set: scenario: expected a valid dict"),
        (SMALL, "{groups: 5}", "one.yaml, cell small: --set: groups: expected a valid dictionary"),
        (SMALL, "{groups.own.every: never}", "--set: groups.own.every: expected a time such as"),
        (SMALL, "{groups.x.count: 5}", "groups.x.flow: expected this key, it is missing"),
        ("[1s, 4s]", "[1s, 400000s]", "metrics.rate: expected a window that ends before virtual_"),
        (
            "title: rate,",
            "title: rate, flows: x*,",
            "metrics.rate.flows: expected a pattern for some",
        ),
    ],
)
def test_what_is_wrong_with_the_runs_of_a_row(rows: Path, old: str, new: str, said: str) -> None:
    path = rows / "one.yaml"
    assert old in ROW
    path.write_text(ROW.replace(old, new, 1))
    named = load_row(path)
    with pytest.raises(ScenarioError) as error:
        make_point(
            named, "small", named.row.cells["small"], "main", Subject("x", "cubic"), 1, PLACE
        )
    assert said in str(error.value)


def test_cells_do_not_share_a_file(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One would be run with the scenario of the other."""
    text = ROW.replace("  small:", "  +1 ms:").replace("  large:", "  1-ms:")
    (rows / "one.yaml").write_text(text)
    monkeypatch.setattr(command, "build_of", lambda *_: PLACE.builds[None])
    evaluation = command.Evaluation(arguments(rows=["one"]))
    with pytest.raises(
        ScenarioError, match="the cells '\\+1 ms' of one and '1-ms' of one have one"
    ):
        evaluation.prepare(Progress(quiet=True))


def test_nothing_is_judged(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A kernel without what the rows need is no good result of a control."""

    def make(evaluation: command.Evaluation, records: Records) -> None:
        for job in evaluation.jobs:
            for point in job.points.values():
                evaluation.failed[point.key] = "the kernel has no dualpi2"
                evaluation.optional.add(point.key)

    monkeypatch.setattr(command, "build_of", lambda *_: PLACE.builds[None])
    monkeypatch.setattr(command.Evaluation, "make", make)
    words = ["evaluate", "cubic", "--rows", "one", "--quiet", "--out", str(tmp_path / "out")]
    assert main(words) == 1
    assert capsys.readouterr().err == "wale-lab: none of the rows could be judged\n"


def test_rows_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WALE_ROWS", str(tmp_path))
    with pytest.raises(ScenarioError, match="expected a folder of rows, SET"):
        choose([])


def test_rows_without_a_quick_cell(rows: Path) -> None:
    (rows / "one.yaml").write_text(ROW.replace(", quick: true", ""))
    with pytest.raises(ScenarioError, match="--quick: expected rows with a cell that is quick"):
        command.Evaluation(arguments(rows=["one"], quick=True))


def test_two_evaluations_do_not_share_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with alone(tmp_path):
        assert main(["evaluate", "cubic", "--rows", "harm", "--out", str(tmp_path)]) == 2
    assert "another run writes to it" in capsys.readouterr().err


def test_cells_have_keys_of_the_scenario_and_of_groups(rows: Path) -> None:
    path = rows / "one.yaml"
    path.write_text(ROW.replace("scenario.bottleneck", "bottleneck"))
    named = load_row(path)
    with pytest.raises(ScenarioError, match="expected keys that begin with scenario"):
        scene(named, "small", named.row.cells["small"], "main", Subject("reno", "reno"), 1)


def test_a_scene_is_a_scenario(rows: Path) -> None:
    named = load_row(rows / "one.yaml")
    texts = {
        (cell, seed): scene(named, cell, named.row.cells[cell], "main", Subject("x", "cubic"), seed)
        for cell in ("small", "large")
        for seed in (1, 2)
    }
    made = {
        key: check_scenario(yaml_lines.parse(text, "x"), [], rows) for key, text in texts.items()
    }
    small = made["small", 1]
    assert [flow.name for flow in small.flows] == ["own-1", "own-2"]
    assert [pair.access_delay for pair in small.pairs] == [0, 5_000_000]
    assert {flow.cc for flow in small.transfers} == {"cubic"}
    late = [flow.start for flow in small.flows]
    assert 0 <= late[0] < 100_000_000 and 1_000_000_000 <= late[1] < 1_100_000_000
    assert late != [flow.start for flow in made["small", 2].flows]
    assert [flow.name for flow in made["large", 1].flows] == ["own"]
    other = scene(named, "small", named.row.cells["small"], "main", Subject("y", "reno"), 1)
    assert other.replace("reno", "cubic") == texts["small", 1]  # but for the control, the same


def test_programs_instead_of_a_control(rows: Path) -> None:
    named = load_row(rows / "one.yaml")
    subject = Subject("program", program="get {server} {seconds}", serve="serve {client}")
    text = scene(named, "large", named.row.cells["large"], "main", subject, 1)
    made = check_scenario(yaml_lines.parse(text, "x"), [], rows)
    server, client = made.programs
    assert (server.sh, server.host, server.serve) == ("serve own-receiver", "own-sender", True)
    assert (client.sh, client.host) == ("get own-sender 4", "own-receiver")
    assert (client.after, client.until) == (server.name, 4_000_000_000)
    assert (server.name, client.name) == ("server-of-own", "own")


@pytest.mark.guest
def test_an_interrupted_evaluation_goes_on(rows: Path, tmp_path: Path) -> None:
    text = ROW.replace("least: 2, most: 3", "least: 200, most: 200")
    (rows / "one.yaml").write_text(text)
    out = tmp_path / "out"
    words = ["evaluate", "cubic", "--against", "reno", "--rows", "one", "--out", str(out)]
    child = subprocess.Popen(
        [sys.executable, "-m", "wale_lab", *words, "-j", "2"],
        env=python_environment(), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    end = time.monotonic() + 200
    while len(list(out.glob("runs/*.json"))) < 3 and time.monotonic() < end:
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert (child.returncode, said.splitlines()[-1]) == (130, "wale-lab: interrupted")
    there = {path: path.stat().st_mtime_ns for path in out.glob("runs/*.json")}
    assert 3 <= len(there) < 800
    (rows / "one.yaml").write_text(ROW)  # fewer seeds: the same runs
    assert main([*words, "--quick", "--quiet"]) in (0, 1)
    assert {path: path.stat().st_mtime_ns for path in there} == there


PROGRAMS = {
    "tcp": (
        "exec python3 -c 'import socket,sys; c=socket.create_connection((sys.argv[1],8000))\n"
        "while c.recv(1<<20): pass' {server}",
        'exec python3 -c \'import socket; s=socket.create_server(("",8000)); c,_=s.accept()\n'
        "while True: c.sendall(bytes(65536))'",
    ),
    "udp": (
        "exec python3 -c 'import socket,sys; s=socket.socket(type=socket.SOCK_DGRAM)\n"
        's.sendto(b"x", (sys.argv[1],8000))\n'
        "while s.recv(2000): pass' {server}",
        "exec python3 -c 'import socket,time; s=socket.socket(type=socket.SOCK_DGRAM)\n"
        's.bind(("",8000)); _,a=s.recvfrom(9)\n'
        "while True: s.sendto(bytes(1000),a); time.sleep(.01)'",
    ),
}


@pytest.mark.guest
@pytest.mark.parametrize("kind", ["tcp", "udp"])
def test_a_transport_in_user_space(
    kind: str, rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is known of it is judged; of UDP, that is what the link knows."""
    client, server = PROGRAMS[kind]
    words = ["evaluate", "--program", client, "--serve", server, "--against", "reno", "--quick"]
    assert main([*words, "--rows", "one", "--json", "--out", str(tmp_path), "-q"]) in (0, 1)
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    rate, delay = row["cells"][0]["metrics"]
    assert delay["verdict"] is not None
    if kind == "tcp":
        assert rate["subjects"]["program"]["mean"] == pytest.approx(3.6, rel=0.15)
    else:
        assert rate["verdict"] is None
        assert "what own-1 received is not known: its sockets are no TCP" in rate["unable"]


RATCP = Subject("ratcp", "ratcp")


@pytest.mark.parametrize("path", sorted(ROWS.glob("*/*.yaml")), ids=lambda path: path.stem)
def test_each_row_makes_scenarios(path: Path) -> None:
    named = load_row(path)
    if named.row.unable:
        assert named.row.unable[0].islower() and not named.row.unable.endswith(".")
        return
    assert named.row.chosen(True) or named.set != "rfc9743"
    for cell_name, cell in named.row.chosen(False).items():
        for run in named.row.runs:
            text = scene(named, cell_name, cell, run, Subject("reno", "reno"), 1)
            made = check_scenario(
                yaml_lines.parse(text, f"{path.name}, {cell_name}"), [], path.parent
            )
            make_point(named, cell_name, cell, run, Subject("reno", "reno"), 1, PLACE)
            assert not named.row.window or named.row.window[1] <= made.virtual_limit
        own = scene(named, cell_name, named.row.cells[cell_name], "main", RATCP, 1)
        assert "tcp_ratcp" in check_scenario(yaml_lines.parse(own, "x"), [], path.parent).modules()


def data(mean: float) -> dict[str, Any]:
    """What a small evaluation found."""
    verdict = "worse" if mean > 2 else "like"
    values = {"mean": mean, "ci95": 0.1, "values": [mean, mean]}
    metric = {
        "name": "delay", "title": "its <delay>", "unit": "ms", "better": "lower", "harm": False,
        "verdict": verdict, "unable": "", "subjects": {"x": values, "reno": {**values, "mean": 2.0}},
        "against": {"reno": {"verdict": verdict, "difference": mean - 2, "ci95": 0.1, "margin": 0.2, "settled": True}},
    }  # fmt: skip
    run = {
        "subject": "x", "run": "main", "seed": 1, "command": "wale-lab run x.yaml", "digest": "ab" * 32,
        "unfinished": [], "warnings": [], "failed": None,
        "series": {"flows": {"x": [[0.0, 1.0], [1.0, 1.0]]}},
    }  # fmt: skip
    row = {
        "name": "row", "set": "s", "title": "A row", "question": "What?", "applies": "", "unable": "",
        "source": {"document": "RFC 1", "section": "2", "weight": "MUST"}, "verdict": verdict,
        "count": {"worse": 0, "like": 0, "better": 0, verdict: 1}, "not_judged": 0,
        "against": {"reno": {"worse": 0, "like": 0, "better": 0, verdict: 1}},
        "cells": [{"name": "1 BDP", "victim": None, "seeds": 2, "verdict": verdict, "metrics": [metric], "runs": [run]}],
    }  # fmt: skip
    none = {
        **row,
        "name": "no",
        "title": "None",
        "verdict": None,
        "unable": "no <sender>",
        "cells": [],
    }
    return {
        "format": 1, "subject": "x", "kernel": "6.12", "against": ["reno"], "quick": True,
        "command": "wale-lab evaluate x", "digest": "cd" * 32, "rows": [row, none],
    }  # fmt: skip


def test_the_first_view_says_where_it_is_worse(tmp_path: Path) -> None:
    files = write_report(tmp_path, data(4.0))
    page = files[-1].read_text()
    first = page.partition('id="overview"')[0]
    assert "Worse than reno in 1 of 1 rows" in " ".join(first.split())
    assert "its &lt;delay&gt;" in first and "<b>4</b> ms, reno 2" in first
    assert "cannot be judged: no &lt;sender&gt;" in page
    assert "wale-lab run x.yaml" in page and "data:image/svg+xml" in page
    better = write_report(tmp_path, data(2.0))[-1].read_text()
    assert "In none of 1 rows worse than reno" in better


def test_the_other_forms(tmp_path: Path) -> None:
    found, table, text, _ = write_report(tmp_path, data(4.0))
    assert "series" not in found.read_text() and json.loads(found.read_text())["rows"]
    (line,) = csv.DictReader(table.open())
    assert (line["row"], line["verdict"], line["their_mean"]) == ("row", "worse", "2.0")
    lines = text.read_text().splitlines()
    assert max(map(len, lines)) <= 69  # as a draft has them
    assert "   Cannot be judged: no <sender>." in lines
    before = [path.read_bytes() for path in tmp_path.iterdir()]
    write_report(tmp_path, data(4.0))
    assert [path.read_bytes() for path in tmp_path.iterdir()] == before


def test_a_command_of_a_report_can_be_copied() -> None:
    told = data(4.0)
    for length in range(20, 60):
        told["command"] = f"wale-lab evaluate {'x' * length} --rows=short-flows,loss-own"
        assert "--rows=short-flows,loss-own" in draft_text(told)


#: Sections of RFC 9743 with a criterion or a domain.
SECTIONS = """\
5.1.1 Protection Against Congestion Collapse
5.1.2 Protection Against Bufferbloat
5.1.3 Protection Against High Packet Loss
5.1.4 Fairness within the Proposed Congestion Control Algorithm
5.1.5 Short Flows
5.2 Mixed Algorithm Behavior
5.2.1 Existing General-Purpose Congestion Control
5.2.2 Real-Time Congestion Control
5.2.3 Short and Long Flows
5.3.1 Differences with Congestion Control Principles
5.3.2 Incremental Deployment
6.1 Paths with Tail-drop Queues
6.2 Tunnel Behavior
6.3 Wired Paths
6.4 Wireless Paths
7.1 Active Queue Management (AQM)
7.2 Operation with the Envelope Set by Network Circuit Breakers
7.3 Paths with Varying Delay
7.4 Internet of Things and Constrained Nodes
7.5 Paths with High Delay
7.6 Misbehaving Nodes
7.7 Extreme Packet Reordering
7.8 Transient Events
7.9 Sudden Changes in the Path
7.10 Multipath Transport
7.11 Data Centers
"""


def test_sections_of_rfc_9743() -> None:
    """Each has a row, or the page on rows says that it has none."""
    known = dict(line.split(" ", 1) for line in SECTIONS.splitlines())
    covered = set()
    for path in ROWS.glob("rfc9743/*.yaml"):
        for section in load_row(path).row.source.section.split("; "):
            number, title = section.split(" ", 1)
            assert (path.stem, known.get(number)) == (path.stem, title)
            covered.add(number)
    page = (SOURCES / "Documentation/evaluation.rst").read_text(encoding="utf-8")
    told = page.partition("\nWhat is not covered\n")[2].partition("\nReports\n")[0]
    for number in set(known) - covered:
        assert re.search(rf"\b(?i:sections?) (.* and )?{re.escape(number)}\b", told), number


@pytest.mark.parametrize(
    "path",
    sorted((SOURCES / "Documentation/evaluations").glob("*.txt")),
    ids=lambda path: path.stem,
)
def test_reports_that_are_checked_in(path: Path) -> None:
    """They say how they were made, and of what rows that there are."""
    text = path.read_text(encoding="utf-8")
    joined = " ".join(text.split())
    command = re.search(r" To repeat it: (?:WALE_ROWS=(\S+) )?wale-lab evaluate ", joined)
    assert command
    assert command[1] is None or list((SOURCES / command[1]).glob("*/*.yaml"))
    assert re.search(r"^Digest: [0-9a-f]{32}$", text, re.M)
    sources = {load_row(row).row.source.section for row in ROWS.glob("*/*.yaml")}
    assert sum(f"{section} (" in joined for section in sources) >= 2


def test_how_far_an_evaluation_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "_SAY_EACH_S", 0)
    place = Place(tmp_path, {}, (), "cubic")
    points = {
        key: Point("one", "", "main", Subject("cubic"), 1, key, "", {})
        for key in map(str, range(30))
    }
    maker = Maker(place, 2)
    tell = command._teller(maker, points, place, quiet=False)
    tell()
    maker.seconds["one"] = [50.0]
    maker.failed["7"] = "it was refused"
    tell()
    assert capsys.readouterr().err.splitlines() == [
        "wale-lab: 30 runs, 2 at once",
        "wale-lab: 0 of 30 runs",
        "wale-lab: 1 of 30 runs, about 12 min left",
    ]


@pytest.mark.parametrize("chosen", [["one"], []])
def test_the_command_of_a_report_has_rows_of_ones_own(
    chosen: list[str], rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is printed, it finds them, be they asked for or not."""
    (rows.parent / "a b").mkdir()
    rows.rename(rows.parent / "a b/mine")
    monkeypatch.setenv("WALE_ROWS", str(rows.parent / "a b"))
    evaluation = command.Evaluation(arguments(rows=chosen, quick=True))
    words = shlex.split(evaluation._repeat())
    told = ["--rows=one"] if chosen else []
    assert words[0] == f"WALE_ROWS={rows.parent}/a b"
    assert words[1:] == ["wale-lab", "evaluate", "cubic", *told, "--quick"]
    evaluation.rows = choose(["bufferbloat"])
    assert evaluation._repeat().startswith("wale-lab evaluate cubic")


@pytest.mark.guest
def test_evaluate(rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two rows, one control; then again, with nothing left to do."""
    (rows / "two.yaml").write_text(ROW.replace("A row", "Another").replace("count: 2", "count: 1"))
    out = tmp_path / "out"
    words = ["evaluate", "cubic", "--against", "reno", "--rows", "mine", "--quick", "--json"]
    assert main([*words, "--out", str(out)]) in (0, 1)
    first = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in first["rows"]] == ["one", "two"]
    (cell,) = first["rows"][0]["cells"]
    assert cell["name"] == "small" and len(cell["runs"]) == 4
    rate = cell["metrics"][0]["subjects"]["cubic"]
    assert rate["mean"] == pytest.approx(3.6, rel=0.15) and len(rate["values"]) == 2
    made = {path: path.stat().st_mtime_ns for path in out.glob("runs/*.json")}
    assert len(made) == 8
    assert main([*words, "--out", str(out), "--quiet"]) in (0, 1)
    again = json.loads(capsys.readouterr().out)
    assert again == first and len(first["digest"]) == 64
    assert {path: path.stat().st_mtime_ns for path in out.glob("runs/*.json")} == made
    assert (out / "cubic-quick" / "evaluation.html").exists()
    # the command of a run repeats it
    run = cell["runs"][0]
    command = [*run["command"].split()[1:-1], str(out / run["command"].split()[-1])]
    assert main([*command, "--out", str(tmp_path / "one"), "--quiet"]) == 0
    assert json.loads((tmp_path / "one/result.json").read_text())["digest"] == run["digest"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "expected the name of a congestion control, or --program"),
        (["cubic", "--program", "x"], "expected the name of a congestion control, or --program"),
        (["cubic", "--serve", "x"], "--serve: expected it with --program"),
        (["cubic", "--kernel", "6.1", "--kernel", "6.12"], "--kernel: expected it once; or twice"),
        (["cubic", "--rows", "nosuch"], "--rows nosuch: expected names"),
        (["reno", "--module", "x.ko"], "--module: expected a control with a name of its own"),
        (["nosuch"], "CC: expected one of bbr, "),
        (["cubic", "--against", "nosuch"], "--against: expected one of bbr, "),
        (["cubic", "--against", "cubic"], "--against: expected another control than cubic"),
    ],
)
def test_wrong_words(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", *words]) == 2
    assert said in capsys.readouterr().err


def test_controls_that_are_compared_with() -> None:
    assert DEPLOYED == ("reno", "cubic", "bbr")


@pytest.mark.guest
@pytest.mark.parametrize(
    ("row", "cell", "last", "least", "most"),
    [
        ("tunnels", "WireGuard", ["own-1.duration", "own-2.duration"], 0, 0),
        ("ecn-bleaching", "as it should be", ["own-1.duration", "own-2.duration"], 0, 0),
        ("ecn-bleaching", "cleared", ["own-1.duration", "own-2.duration"], 5, 500),
        ("optimistic-acks", "hides losses", ["victim.duration", "own.until"], 10_000, 10**6),
    ],
)
def test_nodes_that_misbehave(
    row: str, cell: str, last: list[str], least: int, most: int, tmp_path: Path
) -> None:
    """Marks pass a tunnel; without them the queue overflows; a lying receiver floods the link."""
    named = load_row(next(ROWS.glob(f"*/{row}.yaml")))
    file = tmp_path / "scene.yaml"
    file.write_text(scene(named, cell, named.row.cells[cell], "main", Subject("cubic", "cubic"), 1))
    shorter = [f"--set=flows.{key}=6s" for key in last]
    assert main(["run", "--quiet", f"--out={tmp_path}/out", *shorter, str(file)]) == 0
    link = json.loads((tmp_path / "out/result.json").read_text())["links"][0]
    assert link["name"] == "internet.forward"
    assert least <= sum(link["dropped_packets"].values()) <= most


@pytest.fixture(scope="module")
def controls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the controls that have a fault each, built for the guest's kernel."""
    folder = tmp_path_factory.mktemp("controls") / "controls"
    shutil.copytree(Path(__file__).with_name("controls"), folder)
    version = os.environ.get("WALE_KERNEL") or None
    done = build_folder(get_engine("uml").prepare(version, print), folder)
    assert done.returncode == 0, done.stdout
    return folder


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for evaluations that share the runs of reno."""
    return tmp_path_factory.mktemp("evaluated")


@pytest.mark.guest
@pytest.mark.slow
@pytest.mark.parametrize(
    ("control", "row", "worse"),
    [
        ("heedless", "loss-own", {("4 flows, 0.5 BDP", "again"), ("10 flows, 1 BDP", "again")}),
        ("nearsighted", "fairness-own", {("2 flows, RTT 1 to 5", "jain"), ("2 flows, RTT 1 to 5", "least")}),
        ("deaf", "aqm", {("FQ-CoDel", "delay"), ("FQ-CoDel", "p95")}),
        ("heedless", "real-time-adaptive", {("4 Mbit/s, 2.5 BDP", "incomplete")}),
        ("timid", "varying-delay", {("from 20 to 140 ms of round-trip time", "rate")}),
    ],
)  # fmt: skip
def test_planted_faults_are_found(
    control: str, row: str, worse: set[tuple[str, str]], controls: Path, evaluated: Path,
    capsys: pytest.CaptureFixture[str], not_on_san: Callable[[str], None],
) -> None:  # fmt: skip
    """By the row that should find them, and the first line of the report."""
    not_on_san("it takes twenty times as long")
    words = ["evaluate", control, "--module", str(controls / f"tcp_{control}.ko"), "--rows", row]
    words += ["--against", "reno", "--quick", "--json", "--out", str(evaluated)]
    assert main(words) == 1
    (found,) = json.loads(capsys.readouterr().out)["rows"]
    told = {
        (cell["name"], metric["name"])
        for cell in found["cells"]
        for metric in cell["metrics"]
        if metric["verdict"] == "worse"
    }
    assert worse <= told
    if control == "nearsighted":  # nor is anything wrong where the round trips are equal
        assert not [cell for cell, _ in told if cell == "2 flows, equal"]
    page = (evaluated / f"{control}-quick" / "evaluation.html").read_text()
    assert f'href="#{row}"' in page.partition('id="overview"')[0]
