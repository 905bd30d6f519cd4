# SPDX-License-Identifier: GPL-2.0
"""`wale-lab study`: what it says, what it does again and what not, and what is left of it."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import SLOWNESS
from wale_lab.cli import main as wale_lab
from wale_lab.engines import kernel_build
from wale_lab.studies import command as study_command
from wale_lab.studies import schedule
from wale_lab.studies.schedule import left_s

TESTBED = Path(__file__).resolve().parents[1]
LAB = TESTBED / "wale-lab"

#: A study of the documentation (Documentation/studies.rst), two or nine runs of a second each.
EXAMPLES = TESTBED.parent / "Documentation/examples/studies"
EXAMPLE = "mathis/loss"


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert wale_lab(["study", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[:2] == ["karnik-kumar/table1", "Throughput"] for line in lines)
    assert wale_lab(["study", "--list", "--json"]) == 0
    studies = json.loads(capsys.readouterr().out)
    assert [f"{study['name']:32} {study['title']}" for study in studies] == lines


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "expected a study, a paper, or all"),
        (["nobody"], "there is no study 'nobody'; `wale-lab study --list` names"),
        (["karnik-kumar/fig0"], "there is no study 'karnik-kumar/fig0'"),
    ],
)
def test_studies_that_are_not_there(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wale_lab(["study", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("words", [["-j", "0"], ["-j", "two"], ["--snakemake", "'open"]])
def test_options_that_cannot_be(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        wale_lab(["study", "all", *words])
    assert error.value.code == 2
    assert "study: error: argument" in capsys.readouterr().err


def test_results_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    results = str(tmp_path / "file/results")
    assert wale_lab(["study", "karnik-kumar/fig1", "--results", results]) == 2
    assert capsys.readouterr().err.endswith("/file is a file; expected a folder\n")


def test_a_wrong_scenario_is_told_before_anything_is_built(
    paper: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("wale_lab.studies.command.build_of", None)
    path = paper / "link.yaml"
    path.write_text(path.read_text().replace("bottleneck:", "bottlneck:"))
    assert wale_lab(["study", "paper/one", "--results", str(paper / "results")]) == 2
    assert "bottlneck: unknown key" in capsys.readouterr().err
    assert not (paper / "results").exists()


def test_what_is_left() -> None:
    assert left_s(10, 0, 0, 30) is None
    assert left_s(10, 2, 20, 20) == pytest.approx(80)
    assert left_s(10, 2, 20, 29) == pytest.approx(71)  # the end is expected at the same time
    assert left_s(10, 2, 20, 60) == pytest.approx(140)  # the third run takes long
    assert left_s(10, 9, 90, 200) is None  # the last one does
    assert left_s(10, 10, 90, 95) == 0


def study(
    results: Path, *words: str, papers: Path = EXAMPLES, name: str = EXAMPLE, **env: str
) -> subprocess.Popen[str]:
    """Start `wale-lab study` of the example, or of another."""
    return subprocess.Popen(
        [LAB, "study", name, "-j", "1", "--results", str(results), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "WALE_STUDIES": str(papers), **env},
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Its exit status, and what it said."""
    out, err = process.communicate(timeout=120 * SLOWNESS)
    return process.returncode, out, err


def runs_in(results: Path) -> dict[str, int]:
    """When each run was written."""
    return {path.name: path.stat().st_mtime_ns for path in results.glob("runs/*.json")}


def wait_for_a_run(results: Path) -> None:
    for _ in range(600):
        if runs_in(results):
            return
        time.sleep(0.1)
    raise AssertionError("no run was done within a minute")


def left_of(results: Path) -> list[str]:
    """Processes that have to do with this folder of results, their command lines."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                where = str((process / "cwd").readlink())
            except OSError:
                continue
            if str(results) in line or str(results) in where:
                found.append(line)
    return found


@pytest.mark.guest
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_interrupted_and_started_again(tmp_path: Path, number: signal.Signals) -> None:
    results = tmp_path / "the results"
    first = study(results)
    wait_for_a_run(results)
    first.send_signal(number)
    code, _, said = ended(first)
    assert code == (130 if number == signal.SIGTERM else -number)
    assert "9 runs to do, 0 done" in said
    for _ in range(100 * SLOWNESS):  # Snakemake ends after its runs, in its own time
        if not left_of(results):
            break
        time.sleep(0.1)
    assert left_of(results) == []
    before = runs_in(results)
    assert 0 < len(before) < 9
    if number == signal.SIGKILL:
        return
    code, out, said = ended(study(results, "--json"))
    assert (code, said.count("failed")) == (0, 0), said
    assert f"{9 - len(before)} runs to do, {len(before)} done" in said
    after = runs_in(results)
    assert len(after) == 9
    assert before.items() <= after.items()  # what was there was not done again
    (told,) = json.loads(out)
    assert told == json.loads((results / EXAMPLE / "study.json").read_text())
    assert told["runs"] == 9
    code, out, said = ended(study(results, "--quick"))
    assert code == 0
    assert "0 runs to do, 2 done" in said  # they are the same runs
    assert runs_in(results) == after
    assert out.count("  ok  ") == 2
    assert str(results / EXAMPLE / "summary.csv") in out


def test_an_older_table_does_not_outlive_an_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report would show it as that of the study as it is now."""
    table, run = tmp_path / "a/b/study.json", tmp_path / "runs/key.json"
    for path in (table, run):
        path.parent.mkdir(parents=True)
        path.write_text("{")
    os.utime(table, (1, 1))

    def interrupted(_: object, missing: list[Path], *__: object) -> None:
        assert missing == [run]  # half a file is none
        raise KeyboardInterrupt

    monkeypatch.setattr(schedule, "_watch", interrupted)
    monkeypatch.setattr(schedule, "SNAKEFILE", tmp_path / "Snakefile.in")
    (tmp_path / "Snakefile.in").write_text("rule all:\n    shell: 'sleep 60'\n")
    with pytest.raises(KeyboardInterrupt):
        schedule.make(
            tmp_path, {"studies": {"a/b": {"key": {}}}, "tables": True}, 1, [], quiet=True
        )
    assert not table.exists()
    assert not run.exists()


@pytest.mark.parametrize(
    ("check", "code", "said"),
    [
        ({"passed": True}, 0, "  ok     [fair]: 1"),
        ({"passed": False}, 1, "  not ok [fair]: 1"),
        ({"passed": False, "known": "so"}, 0, "  known  [fair]: 1 (does not hold, as is known)"),
        ({"passed": True, "known": "so"}, 1, "  not ok [fair]: 1 (holds; its study has `known`"),
    ],
)
def test_exit_code_of_checks(
    check: dict[str, Any], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """1 for what nobody expects: a deviation that is not known, or a known one that is gone."""
    checks = [{"text": "[fair]", "value": "1", **check}]
    about = {"name": "a/b", "title": "A", "runs": 1, "virtual_s": 1, "wall_s": 1}
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/study.json").write_text(json.dumps({**about, "checks": checks}))
    args = argparse.Namespace(json=False, quiet=False)
    assert study_command._report(["a/b"], tmp_path, args) == code
    assert said in capsys.readouterr().out


def fresh_cache(folder: Path) -> str:
    """A cache that has the kernel and the Python packages, and nothing else."""
    cache = kernel_build.cache_root()
    (folder / "wale").mkdir(parents=True)
    for path in [cache / "kernel", *cache.glob("venv-*")]:
        (folder / "wale" / path.name).symlink_to(path)
    return str(folder)


@pytest.mark.guest
def test_two_fresh_folders_agree(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    for name in ("one", "two"):
        cache = fresh_cache(tmp_path / f"cache-{name}")
        code, out, said = ended(study(tmp_path / name, "--quick", "--json", XDG_CACHE_HOME=cache))
        assert code == 0, said
        told += json.loads(out)
    assert told[0]["digest"] == told[1]["digest"]
    tables = [(tmp_path / name / EXAMPLE / "summary.csv").read_bytes() for name in ("one", "two")]
    assert tables[0] == tables[1]
    assert tables[0].count(b"\n") == 5


@pytest.mark.guest
def test_two_at_once_wait_for_each_other(tmp_path: Path) -> None:
    both = [study(tmp_path, "--quick") for _ in range(2)]
    said = [ended(process) for process in both]
    assert [code for code, _, _ in said] == [0, 0], said
    errors = sorted(error for _, _, error in said)
    assert "0 runs to do, 2 done" in errors[0] + errors[1]
    assert "2 runs to do, 0 done" in errors[0] + errors[1]
    assert sum("waiting for another wale-lab" in error for error in errors) == 1


@pytest.mark.guest
def test_a_run_that_fails(tmp_path: Path, paper: Path) -> None:
    text = (paper / "one.yaml").read_text().replace("values: [1, 2, 4]", "values: [1, 2, 0.001]")
    text = text[: text.index("published:")] + text[text.index("panels:") : text.index("notes:")]
    (paper / "one.yaml").write_text(text.replace("seeds: 3\n", ""))
    papers, results = paper.parent, tmp_path / "results"
    old = results / "paper/one/study.json"
    old.parent.mkdir(parents=True)
    old.write_text("{}")
    code, out, said = ended(study(results, papers=papers, name="paper/one"))
    assert (code, out) == (1, "")
    assert not old.exists()  # no report shows it as that of these runs
    assert "paper/one: scenario link at 0.001, seed 1, failed (rows: slow, fast)" in said
    assert "flow slow did not complete: it still ran at the scenario's virtual_limit" in said
    assert len(runs_in(results)) == 2  # the others were done
    (failure,) = results.glob("runs/*.failed")
    command = next(line for line in said.splitlines() if line.startswith("to repeat it: "))
    words = command.removeprefix("to repeat it: ").replace("testbed/wale-lab", str(LAB)).split()
    words[words.index("/tmp/run.json")] = str(tmp_path / "again.json")
    words[words.index("/tmp/run")] = str(tmp_path / "kept")
    again = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert again.returncode == 125
    assert "flow slow did not complete" in again.stderr
    assert failure.read_text() in again.stderr + "\n"
    assert json.loads((tmp_path / "kept/result.json").read_text())["seed"] == 1
    assert not (tmp_path / "again.json").exists()
