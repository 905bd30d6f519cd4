# SPDX-License-Identifier: GPL-2.0
"""`wale-lab kselftest`: the kernel's own tests in a guest, and how their results are told."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wale_lab.cli import main
from wale_lab.engines.base import EngineError, Kernel, Outcome
from wale_lab.kselftest import command, known
from wale_lab.kselftest.suite import SELFTESTS, Suite, find_suite
from wale_lab.progress import Progress
from wale_lab.workers import Done, Workers

MAKEFILE = """\
CFLAGS += -O2
TEST_PROGS := good.sh bad.sh \\
\t      skips.sh
TEST_PROGS += missing.sh
TEST_PROGS_EXTENDED := other.sh
"""


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """Four scripts and a file of cases; what they would print is faked."""
    for collection, names in {"net": ["good", "bad", "skips", "other"], "net/mptcp": []}.items():
        folder = tmp_path / SELFTESTS / collection
        folder.mkdir(parents=True)
        (folder / "Makefile").write_text(MAKEFILE if names else "")
        for name in names:
            (folder / f"{name}.sh").write_text("")
    cases = tmp_path / SELFTESTS / "tc-testing/tc-tests/qdiscs/tbf.json"
    cases.parent.mkdir(parents=True)
    cases.write_text("[]")
    found = Suite("6.12", tmp_path)

    class Engine:
        def run(self, _: Kernel, job: Any) -> Outcome:
            said = {"good.sh": (0, "fine"), "bad.sh": (1, "no"), "skips.sh": (4, "SKIP: no tool")}
            code, text = said[job.argv[-1].rpartition("/")[2]]
            return Outcome(code, "exit" if code else "ok", f"{text}\n", "", 0.1)

    kernel = Kernel("6.12.1", "a package")
    monkeypatch.setattr(command, "suite_of", lambda *_: found)
    monkeypatch.setattr(command, "prepare", lambda *_: kernel)
    monkeypatch.setattr(command, "get_engine", lambda _: Engine())
    return found


def test_tests_of_a_makefile(suite: Suite) -> None:
    names = ["net:bad.sh", "net:good.sh", "net:skips.sh", "tc-testing:qdiscs/tbf"]
    assert list(suite.tests) == names
    assert command.chosen(suite, ["net:*", "net:bad.sh"]) == names[:3]


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("good", 0, "# fine\nok 1 selftests: net: good.sh\n# 1 passed, 0 failed, 0 skipped"),
        ("bad", 1, "# no\nnot ok 1 selftests: net: bad.sh # exit=1"),
        ("skips", 0, "ok 1 selftests: net: skips.sh # SKIP no tool"),
    ],
)
def test_how_results_are_told(
    name: str, code: int, says: str, suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["kselftest", "-q", f"net:{name}.sh"]) == code
    said = capsys.readouterr().out
    assert said.startswith("TAP version 13\n1..1\n") and says in said
    assert main(["kselftest", "-q", "--json", f"net:{name}.sh"]) == code
    (found,) = json.loads(capsys.readouterr().out)
    assert found["result"] == {"good": "pass", "bad": "fail", "skips": "skip"}[name]


def test_output_that_differs() -> None:
    runs = [command.Result("net:x.sh", "pass", "", 1.0, digest, "") for digest in "aab"]
    assert command.together(runs[:2]) == runs[0]
    assert command.together(runs).result == "differs"
    bad = command.Result("net:x.sh", "fail", "exit=1", 1.0, "c", "")
    assert command.together([*runs, bad]) == bad
    assert command.together(runs).why == "2 different outputs in 3 runs"


def test_wrong_words(
    suite: Suite, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are refused before anything is built."""
    monkeypatch.setattr(command, "prepare", lambda *_: pytest.fail("it builds"))
    assert main(["kselftest", "-q", "net:none.sh"]) == 2
    assert "expected tests of Linux 6.12 such as" in capsys.readouterr().err


def test_a_test_that_cannot_be_run_costs_no_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def do(_: Workers, words: list[str]) -> Done:
        name = words[-1]
        if name == "net:gone":
            raise EngineError("a worker ended with -9")
        if name == "net:none":
            return Done(125, "", "wale-lab: no guest\nat all\n")
        result = {
            "test": name,
            "result": "pass",
            "why": "",
            "seconds": 1,
            "digest": "",
            "output": "",
        }
        return Done(0, json.dumps([result]), "")

    monkeypatch.setattr(Workers, "do", do)
    args = Namespace(wall_limit=1, kernel=None, jobs=1, json=False, times=1)
    results = command._run_several(["net:gone", "net:none", "net:good"], args)
    assert [(one.result, one.why) for one in results] == [
        ("fail", "a worker ended with -9"), ("fail", "no guest"), ("pass", ""),
    ]  # fmt: skip
    assert "ok 3 selftests: net: good" in capsys.readouterr().out


def test_kernel_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The tests are of the kernel that runs them."""
    found: list[str | None] = []
    prepared: list[str | None] = []
    engine = SimpleNamespace(prepare=lambda version, _: prepared.append(version))
    monkeypatch.setattr(command, "find_suite", lambda version, _: found.append(version))
    monkeypatch.setattr(command, "get_engine", lambda _: engine)
    monkeypatch.setattr(command, "build_suite", lambda *_: None)
    monkeypatch.setenv("WALE_KERNEL", "6.1")
    suite = command.suite_of(None, Progress(quiet=True))
    command.prepare(suite, None, Progress(quiet=True))
    assert (found, prepared) == (["6.1"], ["6.1+net"])
    assert main(["kselftest", "-q", "--kernel", "newest", "net:x.sh"]) == 125
    assert "--kernel: there is no version 'newest'" in capsys.readouterr().err


def test_kernel_of_a_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kselftest", "-q", "--kernel", "./linux", "net:x.sh"]) == 2
    assert "expected a version such as 6.12" in capsys.readouterr().err


def test_what_cannot_run_has_a_reason(
    suite: Suite, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    why = {"net:bad.sh": "it needs luck"}.get
    monkeypatch.setattr(command, "why_unable", why)
    assert main(["kselftest", "-q", "--list"]) == 0
    assert "cannot run: it needs luck" in capsys.readouterr().out
    assert "net:bad.sh" not in command.chosen(suite, [])


@pytest.mark.guest
def test_scripts_of_the_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    """They pass, unmodified, with the same output twice; what is said of others is about some."""
    names = ["net:netns-name.sh", "net:reuseport_addr_any.sh", "tc-testing:qdiscs/tbf"]
    names += ["tc-testing:qdiscs/teql"]  # its module is loaded for it
    names += ["net:txtimestamp.sh"]  # asks modprobe for ifb, which is built in
    assert main(["kselftest", "-q", "--json", "--kernel=6.12", "--times=2", *names]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["test"]: one["result"] for one in found} == dict.fromkeys(names, "pass")
    assert "not ok" not in found[2]["output"]
    every = find_suite("6.12", lambda _: None).tests
    assert [name for name in known.listed() if name not in every] == []
