# SPDX-License-Identifier: GPL-2.0
"""What test runs write down (tested.py), and the page that is made of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tested
from wale_lab.report.tested import main, render

TOP = Path(__file__).resolve().parents[2]

RUN = """
import pytest

@pytest.mark.parametrize("name", ["kunit", "tdc", "tool-tc", "life"])
def test_elsewhere(name, tested_on):
    tested_on("vm", "6.1.0-56-amd64", "debug")

def test_bad():
    assert False

def test_not_now():
    pytest.skip("no such tool")

@pytest.fixture
def broken():
    raise RuntimeError

def test_error(broken):
    pass

def test_many(subtests):
    for n in range(3):
        with subtests.test(n):
            assert n != 1
"""


SIDE_BY_SIDE = pytest.param(["-n", "2"], id="side-by-side", marks=pytest.mark.slow)


@pytest.mark.parametrize("words", [pytest.param([], id="alone"), SIDE_BY_SIDE])
def test_counts_by_place(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "test_selftests.py").write_text(RUN)
    environment = {**os.environ, "PYTHONPATH": f"{TOP}/testbed/tests:{TOP}/testbed/src"}
    environment |= {"WALE_TESTED": str(tmp_path / "records")}
    environment |= {"WALE_LAST_LINES": str(tmp_path / "lines")}
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-c", "/dev/null"]
    command += ["-o", "verbosity_subtests=1", *words, "test_selftests.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert (tmp_path / "lines").read_text() == done.stdout.splitlines()[-1] + "\n"
    records = {p.name: json.loads(p.read_text()) for p in (tmp_path / "records").iterdir()}
    assert sorted(records) == ["host.json", "vm-6.1.0-56-amd64-debug.json"]
    host = records["host.json"]
    # the test whose subtest failed fails too
    assert host["suites"] == {"selftests": {"passed": 2, "failed": 4, "skipped": 1}}
    assert list(host["skips"].values()) == ["no such tool"]
    one = {"passed": 1, "failed": 0, "skipped": 0}
    kinds = ("KUnit", "behaviour", "tc-testing", "tools")
    suites = records["vm-6.1.0-56-amd64-debug.json"]["suites"]
    assert suites == {f"selftests: {kind}": one for kind in kinds}


def test_a_kernel_is_counted_once(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    """That some tests asked for by name, and the others had because it is the guest's."""
    san = tested.Place("uml", "6.12.9-san", "san")
    recorder = tested.Recorder(pytestconfig, tmp_path)
    recorder.counts[san] = {"a": {"passed": 1, "failed": 0, "skipped": 1}}
    recorder.skips[san] = {"x": "no tool"}
    recorder.counts[None] = {"a": {"passed": 2, "failed": 1, "skipped": 0}}
    recorder.join_guest(san)
    assert recorder.counts == {san: {"a": {"passed": 3, "failed": 1, "skipped": 1}}}
    assert recorder.skips == {san: {"x": "no tool"}}


def record(engine: str, release: str, flavour: str = "", **suites: tuple[int, int, int]) -> Any:
    skipped = ["testbed/tests/test_a.py::test_x"]
    if flavour:
        skipped = [f"testbed/tests/test_a.py::test_x[{case}]" for case in ("b", "c/d")]
    return {
        "engine": engine,
        "release": release,
        "flavour": flavour,
        "host": "Debian, of a kind",
        "date": "2020-02-29",
        "revision": "" if engine == "host" else f"1a2b3c4{'-dirty' if flavour else ''}",
        "suites": {
            name: dict(zip(tested.OUTCOMES, counts, strict=True)) for name, counts in suites.items()
        },
        "skips": dict.fromkeys(skipped, "no tool") if release else {},
    }


def test_page() -> None:
    records = [
        record("uml", "6.12.9", a=(3, 0, 1), b=(1, 0, 0)),
        record("uml", "6.1.10", a=(4, 1, 1)),
        record("vm", "6.1.0-5-amd64", "debug", b=(7, 0, 0)),
        record("host", "", c=(9, 0, 0)),
    ]
    _, runs, suites, *rest = render(records).split(".. csv-table::\n   :header-rows: 1\n\n")
    assert runs.splitlines()[:5] == [
        "   Kernel,Engine,Flavour,Host,Date,Revision,Passed,Failed,Skipped",
        '   none needed,host,plain,"Debian, of a kind",2020-02-29,unknown,9,0,0',
        '   6.1.10,uml,plain,"Debian, of a kind",2020-02-29,1a2b3c4,4,1,1',
        '   6.12.9,uml,plain,"Debian, of a kind",2020-02-29,1a2b3c4,4,0,1',
        '   6.1.0-5-amd64,vm,debug,"Debian, of a kind",2020-02-29,1a2b3c4-dirty,7,0,0',
    ]
    assert suites.splitlines() == [
        "   Suite,host,uml 6.1.10,uml 6.12.9,vm 6.1.0-5-amd64",
        '   a,–,"4, **1 failed**, 1 skipped","3, 1 skipped",–',
        "   b,–,–,1,7",
        "   c,9,–,–,–",
        "",
        "What was skipped, and why:",
        "",
        "* ``test_a.py::test_x``: no tool (uml 6.1.10, uml 6.12.9, vm 6.1.0-5-amd64: 2 cases)",
    ]
    assert rest == []


def test_a_record_takes_the_place_of_the_one_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of its line of kernels, engine and flavour; but not a part of it of the whole."""
    folder = tmp_path / "kept"

    def page(*new: Any) -> str:
        files = [tmp_path / f"{n}.json" for n in range(len(new))]
        for file, one in zip(files, new, strict=True):
            file.write_text(json.dumps(one))
        assert main([str(folder), *map(str, files)]) == 0
        return capsys.readouterr().out

    old = record("uml", "6.12.9-san", "san", a=(3, 0, 1), b=(1, 0, 0))
    vm = record("vm", "6.12.9+deb12-amd64", a=(1, 0, 0))
    host = record("host", "", a=(9, 0, 0))
    assert page(old, vm, host) == render([old, vm, host])
    assert {f.name for f in folder.iterdir()} == {"uml-6.12-san.json", "vm-6.12.json", "host.json"}
    new = record("uml", "6.12.10-san", "san", a=(2, 1, 1), b=(1, 0, 0), c=(0, 1, 0))
    assert page(new) == render([new, vm, host])
    assert page(record("uml", "6.12.10-san", "san", a=(4, 0, 0))) == render([new, vm, host])
    main([str(folder), str(tmp_path / "0.json")])
    assert "stays: the new record has no b, c" in capsys.readouterr().err


def test_without_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 1
    assert "make check" in capsys.readouterr().err


def test_page_of_the_tree_is_made_so() -> None:
    records = [json.loads(f.read_text()) for f in (TOP / "Documentation/tested").glob("*.json")]
    assert len(records) > 1
    assert (TOP / "Documentation/tested.rst").read_text() == render(records)


@pytest.mark.parametrize(
    ("nodeid", "suite"),
    [
        ("testbed/tests/test_engine.py::test_x[a-b]", "engine"),
        ("testbed/tests/test_selftests.py::test_selftest[tool-rate]", "selftests: tools"),
    ],
)
def test_suite(nodeid: str, suite: str) -> None:
    assert tested.suite_of(nodeid) == suite
