# SPDX-License-Identifier: GPL-2.0
"""`make upstream`: tc with the qdisc built in, as patches for iproute2."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tap import run_cases
from wale_lab.engines.kernel_build import cache_root
from wale_lab.engines.processes import without_make
from wale_lab.tree import SOURCES

sys.path.insert(0, str(SOURCES / "testbed/upstream"))

import iproute2
from checkpatch import OF_PROGRAMS, findings
from repository import Repository

pytestmark = pytest.mark.lint


def test_the_source_is_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that look for it at the same time: one fetches it, the other waits and finds it."""
    fetched = []

    def fetch(_package: str, work: Path, *_: object) -> str:
        fetched.append(work)
        assert not work.exists()
        work.mkdir(parents=True)
        time.sleep(0.2)
        return "9.9.0-1"

    monkeypatch.setattr(iproute2.debian, "update", lambda *_: None)
    monkeypatch.setattr(iproute2.debian, "fetch_source", fetch)
    with ThreadPoolExecutor() as threads:
        found = list(threads.map(lambda _: iproute2.find(tmp_path, print), range(2)))
    assert found == [tmp_path / "source/iproute2/9.9.0-1"] * 2
    assert len(fetched) == 1


@pytest.fixture(scope="module")
def patched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """The source of iproute2 to which `git am` has applied the patches, and these."""
    source = iproute2.at_hand(cache_root())
    if source is None:
        pytest.skip("there is no source of iproute2: `make upstream` fetches it")
    folder = tmp_path_factory.mktemp("iproute2")
    patches = iproute2.Iproute2Series(source, folder / "series").write()
    tree = folder / "tree"
    shutil.copytree(source, tree)
    Repository(tree).commit("base", {})
    command = ["git", "am", "--quiet", *map(str, patches[1:])]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return tree, patches


@pytest.fixture(scope="module")
def built(patched: tuple[Path, list[Path]]) -> Path:
    """tc of that tree."""
    tree, _ = patched
    command = ["make", f"-j{os.cpu_count()}", "CCOPTS=-O0 -pipe", "SUBDIRS=lib tc"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, env=without_make())
    assert done.returncode == 0, done.stderr[-3000:]
    assert [line for line in done.stderr.splitlines() if "wale" in line] == []
    return tree / "tc/tc"


def test_folders_of_the_system_keep_their_names(patched: tuple[Path, list[Path]]) -> None:
    tree, _ = patched
    assert '"/usr/lib/tc"' in (tree / "tc/wale/link_jitter.c").read_text()


def test_each_source_of_the_plugin_is_there(patched: tuple[Path, list[Path]]) -> None:
    tree, _ = patched
    makefile = (SOURCES / "userspace/Makefile").read_text()
    others = ("trace_lines.c", "trace_step.c", "units.c", "json.c", "utf8.c")
    assert all(f"lib/{name}" in makefile for name in others)
    wanted = {path.name for path in (SOURCES / "userspace/lib").glob("link_*.c")} | {*others}
    assert {path.name for path in (tree / "tc/wale").glob("*.c")} == wanted
    listed = (tree / "tc/Makefile").read_text()
    assert all(f"TCMODULES += wale/{name[:-2]}.o\n" in listed for name in wanted)


def test_nothing_of_the_plugin_is_left(patched: tuple[Path, list[Path]]) -> None:
    tree, _ = patched
    files = [tree / "tc/q_wale.c", *(tree / "tc/wale").iterdir(), tree / "man/man8/tc-wale.8"]
    for word in ("tc_abi.h", "TC_REQUEST_MAX", "visibility", r"(?<![\w/])lib/", "generated: "):
        assert [file.name for file in files if re.search(word, file.read_text())] == [], word


def test_checkpatch_finds_nothing(patched: tuple[Path, list[Path]], kernel_tree: Path) -> None:
    _, patches = patched
    script = kernel_tree / "scripts/checkpatch.pl"
    assert [line for patch in patches[1:] for line in findings(script, patch, *OF_PROGRAMS)] == []


def test_completion_knows_the_options(patched: tuple[Path, list[Path]]) -> None:
    tree, _ = patched
    script = f"""
source {tree}/bash-completion/tc
words=(tc qdisc add dev lo root wale '') cur='' COMPREPLY=()
_tc_qdisc_options wale; printf '%s\\n' "${{COMPREPLY[@]}}"; echo kinds: $QDISC_KIND
"""
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert done.stderr == ""
    assert {"rate", "delay", "limit", "loss", "trace", "seed"} <= set(done.stdout.split())
    assert "wale" in done.stdout.splitlines()[-1].split()


@pytest.mark.guest
def test_tc_says_what_the_plugin_says(built: Path, subtests: pytest.Subtests) -> None:
    script = SOURCES / "userspace/tests/guest/tc_same.py"
    words = [
        "exec",
        "--quiet",
        "--modules",
        "sch_wale,rate_feedback",
        "--env",
        f"TC_BUILT_IN={built}",
    ]
    words += ["--env", f"PYTHONPATH={SOURCES}/testbed/src", "--", "python3", str(script)]
    run_cases([str(SOURCES / "testbed/wale-lab"), *words], subtests)
