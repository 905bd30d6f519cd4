# SPDX-License-Identifier: GPL-2.0
"""The launcher: which packages a command needs, and what is said when they cannot be had."""

from __future__ import annotations

import re
import shutil
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

from conftest import TESTBED


@pytest.fixture
def launcher(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The launcher as a module."""
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    loader = SourceFileLoader("launcher", str(TESTBED / "wale-lab"))
    spec = spec_from_loader("launcher", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("words", "which"),
    [
        ("", "run"),
        ("--help", "run"),
        ("run demo --plot", "run"),
        ("list", "run"),
        ("exec -q --virtual -- python3 --packets vm", "run"),
        ("shell demo -c true", "run"),
        ("nosuch", "run"),
        ("run demo --packets csv", "all"),
        ("run demo --pack", "all"),
        ("run demo --html", "all"),
        ("run demo --open", "all"),
        ("plot out/demo", "run"),
        ("plot out/demo --out demo.html", "all"),
        ("exec --engine vm -- true", "all"),
        ("run demo --engine=vm", "all"),
        ("study all", "all"),
        ("model karnik-kumar", "all"),
        ("conform", "all"),
        ("evaluate", "all"),
        ("compare", "all"),
        ("compare --help", "run"),
        ("evaluate bbr -h", "run"),
        ("python -m pytest", "all"),
        ("python -m pytest --help", "all"),
    ],
)
def test_packages_that_a_command_needs(words: str, which: str, launcher: Any) -> None:
    assert launcher.wanted_set(words.split()) == which


@pytest.mark.parametrize(
    ("words", "kernel"),
    [
        ("run demo --plot", ""),
        ("run demo --kernel 6.1", "6.1"),
        ("run demo --kernel=+san --out x", "+san"),
        ("kernel --kernel 7.2", "7.2"),
        ("run demo --engine uml", None),
        ("run demo --engine=uml", ""),
        ("run demo --engine vm", None),
        ("run --help", None),
        ("list", None),
        ("python -m pytest", None),
    ],
)
def test_kernel_that_is_built_beside(words: str, kernel: str | None, launcher: Any) -> None:
    assert launcher.kernel_needed(words.split()) == kernel


def test_all_packages_do_for_a_run(tmp_path: Path, launcher: Any) -> None:
    assert not launcher.is_complete(str(tmp_path), "run")
    (tmp_path / "complete-run").touch()
    assert launcher.is_complete(str(tmp_path), "run")
    assert not launcher.is_complete(str(tmp_path), "all")
    (tmp_path / "complete-run").rename(tmp_path / "complete-all")
    assert launcher.is_complete(str(tmp_path), "run") and launcher.is_complete(str(tmp_path), "all")


def test_packages_for_sql_are_added(tmp_path: Path, launcher: Any) -> None:
    """To those of a run, and anew when their versions change; other packages do not have them."""
    assert launcher.wanted_set(["sql", "select 1"]) == "run"
    assert launcher.extras_of(["sql", "select 1"]) == ["sql"]
    assert launcher.extras_of(["sql", "--help"]) == launcher.extras_of(["run", "demo"]) == []
    (tmp_path / "complete-all").touch()
    assert not launcher.is_complete(str(tmp_path), "sql")
    marker = Path(launcher.marker_of(str(tmp_path), "sql"))
    marker.touch()
    assert launcher.is_complete(str(tmp_path), "sql")
    launcher.HERE = str(tmp_path)
    (tmp_path / "requirements-sql.txt").write_text("duckdb==1.0.0  # older\n")
    assert not launcher.is_complete(str(tmp_path), "sql")


def test_each_package_is_pinned_once(launcher: Any) -> None:
    """And those of a run are a small part of all."""
    pins = {}
    for name in (*launcher.LISTS, *launcher.EXTRAS.values()):
        found = re.findall(r"^([A-Za-z][\w-]*)==\S+ +# \w", (TESTBED / name).read_text(), re.M)
        lines = [
            line
            for line in (TESTBED / name).read_text().splitlines()
            if line and line[0] not in "#-"
        ]
        assert len(found) == len(lines)
        pins[name] = {package.lower() for package in found}
    assert pins["requirements-run.txt"] == {
        "pydantic",
        "pyyaml",
        "rich",
        "jmespath",
        "networkx",
        "matplotlib",
        "numpy",
    }
    assert len(set.union(*pins.values())) == sum(map(len, pins.values()))
    included = {f"-r {name}" for name in launcher.LISTS if name != "requirements.txt"}
    assert included < set((TESTBED / "requirements.txt").read_text().splitlines())


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "WARNING: Retrying ... NewConnectionError('...: Temporary failure in name resolution')",
            "wale-lab: Python packages cannot be fetched: is there a network? (pip: ",
        ),
        (
            "ERROR: Could not install packages: [Errno 28] No space left on device",
            "wale-lab: the disk of ",
        ),
        ("ERROR: something else", "wale-lab: pip install x failed:\nERROR: something else"),
    ],
)
def test_why_packages_cannot_be_installed(
    said: str, expected: str, tmp_path: Path, launcher: Any
) -> None:
    log = tmp_path / "log"
    log.write_text(f"{said}\n")
    assert launcher.why_it_failed(["pip", "install", "x"], str(log)).startswith(expected)


def test_needs_room_for_packages(
    tmp_path: Path, launcher: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "wale").mkdir()
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=500_000_000))
    launcher.check_room("run")
    with pytest.raises(SystemExit, match=r"Python packages take 1\.2 GB in .*, where 0\.5 GB are"):
        launcher.check_room("all")
