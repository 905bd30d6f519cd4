# SPDX-License-Identifier: GPL-2.0
"""`wale-lab compare --bisect`: the commit of a tree that changed a number.

A file of the small history stands for what its kernel does: the rate of a flow, or that it does
not build.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from wale_lab.cli import main
from wale_lab.engines.base import EngineError, Kernel
from wale_lab.errors import ScenarioError
from wale_lab.evaluation import bisect as bisect_module
from wale_lab.evaluation import kernels
from wale_lab.studies.points import Build
from wale_lab.workers import Workers

#: What the flow gets with each commit; the change is planted in the eighth.
RATES = ["100.0", "100.1", "100.0", "broken", "100.1", "100.0", "100.0", "99.0", "99.1", "99.0"]


def git(tree: Path, *words: str) -> str:
    own = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *own, "-C", str(tree), *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def history(tree: Path, rates: list[str]) -> list[str]:
    """A commit for each rate."""
    tree.mkdir()
    git(tree, "init", "-q")
    (tree / "Kconfig").write_text("")
    found = []
    for number, rate in enumerate(rates):
        (tree / "rate").write_text(f"{rate}\n")
        (tree / "number").write_text(f"{number}\n")
        git(tree, "add", "-A")
        git(tree, "commit", "-q", "-m", f"commit {number}")
        found.append(git(tree, "rev-parse", "HEAD"))
    return found


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commits whose kernels were built, in their order."""
    commits: list[str] = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def build_of(version: str | None, _: Any) -> Build:
        tree = Path(version or "")
        commits.append(git(tree, "rev-parse", "HEAD"))
        if "broken" in (tree / "rate").read_text():
            raise EngineError(f"{tree} does not compile: rate:1: error: broken")
        return Build(Kernel("6.12", "a tree"), commits[-1])

    def run(words: list[str], _path: Path, _workers: Workers) -> dict[str, Any]:
        tree = next(word for word in words if word.startswith("--kernel=")).partition("=")[2]
        text = (Path(tree) / "rate").read_text()
        if "refused" in text:
            raise ScenarioError("flows.reno.cc: this kernel has none so called")
        rate = float(text)
        seed = int(next(word for word in words if word.startswith("--seed=")).partition("=")[2])
        measures = [["flow", "reno", "rate", rate + seed], ["flow", "reno", "other", 1.0]]
        return {"kernel": "6.12", "measures": measures}

    monkeypatch.setattr(kernels, "build_of", build_of)
    monkeypatch.setattr(kernels, "_run", run)
    return commits


def bisect(tree: Path, out: Path, *words: str) -> int:
    return main(["compare", "demo", "--tree", str(tree), "--out", str(out), "-q", *words])


def test_the_planted_change_is_found(
    tmp_path: Path, built: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A shift of 1 % among smaller ones, past a commit that does not build."""
    tree = tmp_path / "linux"
    commits = history(tree, RATES)
    (tree / "rate").write_text("being edited\n")
    assert bisect(tree, tmp_path / "out", "--bisect", commits[0], "HEAD", "--json") == 1
    said = json.loads(capsys.readouterr().out)
    assert said["first"] == [commits[7]]
    assert said["number"]["before"] == 102 and said["number"]["after"] == 101
    assert len(built) <= 6 and set(built) <= set(commits)
    # the user's checkout is as it was, and no worktree is left
    assert (tree / "rate").read_text() == "being edited\n"
    assert git(tree, "status", "--porcelain") == "M rate"
    assert git(tree, "branch", "--show-current")
    assert len(git(tree, "worktree", "list").splitlines()) == 1
    assert not git(tree, "for-each-ref", "refs/bisect")

    assert bisect(tree, tmp_path / "out", "--bisect", commits[0], "HEAD") == 1
    assert "commit 7\n" in capsys.readouterr().out


def test_commits_that_do_not_build_are_said(
    tmp_path: Path, built: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    commits = history(tmp_path / "linux", ["100", "broken", "broken", "50"])
    words = ["--bisect", commits[0], commits[3], "--json"]
    assert bisect(tmp_path / "linux", tmp_path / "out", *words) == 1
    said = json.loads(capsys.readouterr().out)
    assert set(said["first"]) == set(commits[1:])
    assert {step["word"] for step in said["steps"]} == {"skip"}
    assert "error: broken" in said["steps"][0]["why"]


def test_a_kernel_that_refuses_the_scenario_is_skipped(
    tmp_path: Path, built: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    commits = history(tmp_path / "linux", ["100", "refused", "refused", "50"])
    words = ["--bisect", commits[0], commits[3], "--json"]
    assert bisect(tmp_path / "linux", tmp_path / "out", *words) == 1
    said = json.loads(capsys.readouterr().out)
    assert set(said["first"]) == set(commits[1:])
    assert "this kernel has none" in said["steps"][0]["why"]


def test_nothing_differs(
    tmp_path: Path, built: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    commits = history(tmp_path / "linux", ["100", "50", "100"])
    assert bisect(tmp_path / "linux", tmp_path / "out", "--bisect", commits[0], commits[2]) == 0
    assert "no number differs between" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--bisect", "none", "HEAD"], 2, "--bisect none: expected a commit of"),
        (
            ["--bisect", "HEAD", "HEAD~1"],
            2,
            "--bisect HEAD HEAD~1: expected GOOD BAD, of which BAD",
        ),
        (["--bisect", "HEAD", "HEAD"], 2, "--bisect HEAD HEAD: expected GOOD BAD, of which BAD"),
        (["--bisect", "HEAD~1", "HEAD", "--number", "x"], 2, "--number x: expected kind, name and"),
        (["--bisect", "HEAD~1", "HEAD", "--number", "flow x y"], 2, "flow x y: expected one of"),
        (["--bisect", "HEAD~1", "HEAD", "--kernel", "6.1"], 2, "--kernel: expected it without"),
        (["--kernel", "6.1", "--kernel", "6.12"], 2, "--tree: expected it with --bisect only"),
    ],
)
def test_what_is_wrong(
    words: list[str],
    code: int,
    said: str,
    tmp_path: Path,
    built: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    history(tmp_path / "linux", ["100", "50"])
    assert bisect(tmp_path / "linux", tmp_path / "out", *words) == code
    err = capsys.readouterr().err
    assert said in err and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "nosuch=1"], "nosuch: unknown key"),
        (["--seeds", "0"], "--seeds 0: expected"),
        (["--spread", "much"], "--spread much: expected"),
        (["--out", "{file}"], "is a file; expected a folder"),
    ],
)
def test_wrong_words_are_told_before_anything_is_checked_out(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(bisect_module, "_worktree", None)
    history(tmp_path / "linux", ["100", "50"])
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "another"))  # as in a hook of git
    file = tmp_path / "linux/rate"
    words = [word.format(file=file) for word in words]
    assert bisect(tmp_path / "linux", tmp_path / "out", "--bisect", "HEAD~1", "HEAD", *words) == 2
    assert said in capsys.readouterr().err


def test_a_repository_of_no_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history(tmp_path / "other", ["100"])
    git(tmp_path / "other", "rm", "-q", "Kconfig")
    git(tmp_path / "other", "commit", "-q", "-m", "no kernel")
    assert bisect(tmp_path / "other", tmp_path / "out", "--bisect", "HEAD~1", "HEAD") == 2
    assert "expected a kernel's source; HEAD has no Kconfig" in capsys.readouterr().err


def test_a_tree_without_git(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bisect(tmp_path, tmp_path / "out", "--bisect", "a", "b") == 2
    assert "expected a git repository" in capsys.readouterr().err
    assert main(["compare", "demo", "--bisect", "a", "b"]) == 2
    assert "expected --tree with it" in capsys.readouterr().err
