# SPDX-License-Identifier: GPL-2.0
"""What is loaded before anything is done: counted, since times differ from machine to machine."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from conftest import TESTBED

#: Packages that take longer to load than all that a short command needs.
HEAVY = {"pydantic", "numpy", "scipy", "rich", "matplotlib", "snakemake", "pyarrow", "jinja2"}
HEAVY |= {"pandas"}

#: `list` had 129 modules when this was written and `exec` 144; with pydantic it is over 400.
MOST = 180


def loaded(*words: str) -> list[str]:
    """The modules that a command of wale-lab loads."""
    command = [str(TESTBED / "wale-lab"), "python", "-X", "importtime", "-m", "wale_lab", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return [line.rpartition("|")[2].strip() for line in lines[1:]]


def few(modules: Sequence[str]) -> None:
    assert HEAVY & {name.partition(".")[0] for name in modules} == set()
    assert len(modules) <= MOST


def test_list_loads_little() -> None:
    few(loaded("list"))


@pytest.mark.guest
def test_exec_loads_little() -> None:
    few(loaded("exec", "--quiet", "--", "true"))


@pytest.mark.guest
def test_a_run_needs_the_packages_of_a_run(tmp_path: Path) -> None:
    """The launcher installs no others for these commands (requirements-run.txt)."""
    out = str(tmp_path / "out")
    size = [
        word for name in ("reno", "cubic", "bbr") for word in ("--set", f"flows.{name}.size=9kB")
    ]
    others = {"scipy", "pyarrow", "snakemake", "jinja2", "jsonschema", "virtme", "docutils"}
    for words in (
        ["run", "demo", *size, "--plot", "--out", out],
        ["run", "sessions", "--json", "--out", out],
        ["plot", out],
        ["schema"],
        ["shell", "demo", "-c", "true"],
        ["kernel"],
        ["exec", "-q", "--", "true"],
    ):
        assert others & {name.partition(".")[0] for name in loaded(*words)} == set(), words


def test_model_loads_its_options_alone() -> None:
    assert not [name for name in loaded("list") if name.startswith("wale_lab.papers")]
    assert "wale_lab.papers.command" in loaded("model", "--help")


def test_what_is_compiled_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else each start compiles all modules, those of the standard library too."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    command = [
        str(TESTBED / "wale-lab"),
        "python",
        "-c",
        "import sys; print(sys.flags, sys.pycache_prefix)",
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "dont_write_bytecode=0" in said and "wale/pycache" in said
