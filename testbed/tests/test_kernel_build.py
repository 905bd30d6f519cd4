# SPDX-License-Identifier: GPL-2.0
"""A build of the guest's kernel that is interrupted, with a source of three files.

The makefile stands for the kernel's: it writes down what it compiles, and waits where it is
told to. That one.kept is there shows that make knows that one.o is done: before, it would
remove it when it is interrupted.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import TESTBED
from wale_lab.engines import kernel_build
from wale_lab.engines.base import EngineError
from wale_lab.engines.kernel_source import Source

MAKEFILE = """\
.DELETE_ON_ERROR:
all: linux
allnoconfig:
\tmkdir -p include/config; echo 6.99.1 > include/config/kernel.release
\techo CONFIG_A=y > .config; echo configured >> ../said
one.o two.o: %.o: %.c
\techo $@ >> ../said; echo half > $@; $(WAIT_$*) cp $< $@
one.kept: one.o
\ttouch $@
linux: one.kept two.o
\tcat one.o two.o > $@; echo linked >> ../said
"""
BUILD = """\
import signal, sys
from pathlib import Path
from wale_lab.engines import kernel_build
from wale_lab.engines.kernel_source import Source
def stop(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGTERM, stop)
kernel_build.need_tools = lambda: None
source = Source("6.99", "6.99.1-1", Path(sys.argv[1]))
kernel_build._build(source, "CONFIG_A=y\\n", Path(sys.argv[2]), print)
"""


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """The source as a package has it."""
    top = tmp_path / "linux-source-6.99"
    for folder in ("Documentation", "include"):
        (top / folder).mkdir(parents=True)
    for name, text in (("Makefile", MAKEFILE), ("one.c", "1\n"), ("two.c", "2\n")):
        (top / name).write_text(text)
    path = tmp_path / "linux-source-6.99.tar.xz"
    with tarfile.open(path, "w:xz") as tar:
        tar.add(top, top.name)
    shutil.rmtree(top)
    return path


def start(archive: Path, folder: Path, **env: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", BUILD, str(archive), str(folder)],
        env={**os.environ, "PYTHONPATH": str(TESTBED / "src"), **env},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def comes(what: Callable[[], bool], within_s: float = 120) -> bool:
    end = time.monotonic() + within_s
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def wait_for(what: Callable[[], bool]) -> None:
    assert comes(what), "it never came"


def said(work: Path) -> list[str]:
    """What was made; of one.o and two.o, which make starts together, one.o first."""
    path = work / "said"
    words = path.read_text().split() if path.exists() else []
    if words[1:3] == ["two.o", "one.o"]:
        words[1:3] = ["one.o", "two.o"]
    return words


def interrupted(archive: Path, folder: Path, number: signal.Signals) -> Path:
    """Begin a build, and interrupt it within its second file.

    make removes what is half done; rarely, on a busy machine, it ends before: then again.
    """
    work = folder.with_name(f".{folder.name}.building")
    for _ in range(4):
        process = start(archive, folder, WAIT_two="sleep 20;")
        wait_for((work / "src/two.o").exists)
        wait_for((work / "src/one.kept").exists)
        process.send_signal(number)
        process.wait(30)
        if comes(lambda: not (work / "src/two.o").exists(), 5):
            assert (work / "src/one.o").read_text() == "1\n"
            return work
        shutil.rmtree(work)
    raise AssertionError("make left what is half done, four times")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_goes_on_where_it_was(archive: Path, tmp_path: Path, number: signal.Signals) -> None:
    folder = tmp_path / "cache/kernel"
    folder.parent.mkdir()
    work = interrupted(archive, folder, number)
    assert said(work) == ["configured", "one.o", "two.o"]
    assert not folder.exists()
    process = start(archive, folder)
    output, _ = process.communicate()
    assert process.returncode == 0, output
    assert said(folder) == ["configured", "one.o", "two.o", "two.o", "linked"]
    assert (folder / "linux").read_text() == "1\n2\n"
    assert "unpacking" not in output
    assert not work.exists()


def test_what_is_left_may_be_broken(archive: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache/kernel"
    folder.parent.mkdir()
    work = interrupted(archive, folder, signal.SIGTERM)
    (work / "src/Makefile").write_text("all:\n\tfalse\n")
    process = start(archive, folder)
    output, _ = process.communicate()
    assert process.returncode == 0
    assert "cannot be built: from the beginning" in output
    assert said(folder) == ["configured", "one.o", "two.o", "linked"]


def build(archive: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_build, "need_tools", lambda: None)
    folder.parent.mkdir(exist_ok=True)
    source = Source("6.99", "6.99.1-1", archive)
    kernel_build._build(source, "CONFIG_A=y\n", folder, lambda _: None)


def test_what_cannot_be_built_is_not_kept(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache/kernel"
    monkeypatch.setenv("WAIT_two", "exit 1;")
    with pytest.raises(EngineError, match=r"make KCFLAGS=.* failed for linux-source-6\.99"):
        build(archive, folder, monkeypatch)
    assert [path.name for path in folder.parent.iterdir()] == ["kernel.failed.log"]


def test_needs_room(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cache/kernel"
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=2 * 10**9))
    says = r"takes 3 GB in .*/cache, where 2\.0 GB are free; XDG_CACHE_HOME=DIR puts"
    with pytest.raises(EngineError, match=says):
        build(archive, folder, monkeypatch)
    monkeypatch.setattr(kernel_build, "ROOM_BYTES", 10**6)
    build(archive, folder, monkeypatch)
    assert (folder / "linux").exists()


def test_disk_that_becomes_full_keeps_what_is_compiled(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache/kernel"
    usage = shutil.disk_usage(tmp_path)
    free = iter([4 * 10**9, 1000])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=next(free)))
    monkeypatch.setenv("WAIT_two", "exit 1;")
    with pytest.raises(EngineError, match=r"the disk of .* is full; what is compiled is kept"):
        build(archive, folder, monkeypatch)
    monkeypatch.undo()
    build(archive, folder, monkeypatch)
    assert said(folder) == ["configured", "one.o", "two.o", "two.o", "linked"]


def test_what_nobody_went_on_with_is_removed(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache/kernel"
    for name, days in (("old", 15), ("new", 13)):
        other = folder.with_name(f".{name}.building")
        other.mkdir(parents=True)
        then = time.time() - days * 86400
        os.utime(other, (then, then))
    build(archive, folder, monkeypatch)
    assert {path.name for path in folder.parent.iterdir()} == {"kernel", ".new.building"}
