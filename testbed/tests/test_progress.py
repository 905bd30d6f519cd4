# SPDX-License-Identifier: GPL-2.0
"""What is said while something is built: by the builder, and by anyone who waits for it."""

from __future__ import annotations

import fcntl
import io
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from conftest import TESTBED
from wale_lab import progress
from wale_lab.engines import kernel_build
from wale_lab.engines.base import Share
from wale_lab.engines.kernel_progress import KernelProgress


def test_share_is_a_line_for_each_quarter(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.Progress() as log:
        for percent in range(100):
            log(Share(f"compiling {percent}", percent / 100))
        log("pruning")
        log(Share("again 30", 0.3))
    said = re.findall(r"s\] (.*)", capsys.readouterr().err)
    assert said == ["compiling 25", "compiling 50", "compiling 75", "pruning", "again 30"]


def test_share_is_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress.Progress() as log:
        log("unpacking")
        steps = [log.status.tasks[0].percentage]
        log(Share("compiling", 0.25))
        log.status.refresh()
        steps.append(log.status.tasks[0].percentage)
    assert steps == [0, 25]
    assert "━" in terminal.getvalue() and "compiling" in terminal.getvalue()


def in_steps(work: Path, done: str, lines: int) -> None:
    (work / "steps").write_text(done)
    (work / "build.log").write_text("  CC      one.o\n" * lines)


def test_estimate_of_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    said: list[str] = []
    of = KernelProgress(tmp_path, "6.12")
    of.say(said.append)
    in_steps(tmp_path, "unpack\n", 10)
    of.say(said.append)
    assert said == []
    in_steps(tmp_path, "unpack\nconfigure\n", 30)
    of.say(said.append)
    assert said.pop() == "compiling: 30 of about 1380 steps"
    now += 60
    in_steps(tmp_path, "unpack\nconfigure\n", 480)
    of.say(said.append)
    assert said.pop() == "compiling: 480 of about 1380 steps, about 2 min left"  # 450 in 60 s
    in_steps(tmp_path, "unpack\nconfigure\n", 1500)
    of.say(said.append)
    (line,) = said
    assert isinstance(line, Share) and line.share == 0.99


def test_waiting_shows_the_progress_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_build, "REPORT_S", 0.01)
    calls: list[int] = []
    with (tmp_path / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)

        def meanwhile() -> None:
            calls.append(1)
            if len(calls) == 3:
                threading.Timer(0, fcntl.flock, (file, fcntl.LOCK_UN)).start()

        with kernel_build.locked(tmp_path / "lock", meanwhile=meanwhile):
            assert len(calls) >= 3


def test_waiting_shows_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is not known how far the other is, such as with modules."""
    monkeypatch.setattr(kernel_build, "WAITING_S", 0.01)
    said: list[str] = []
    with (tmp_path / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)

        def log(text: str) -> None:
            said.append(text)
            if len(said) == 3:
                fcntl.flock(file, fcntl.LOCK_UN)

        with kernel_build.locked(tmp_path / "lock", log):
            pass
    first = f"waiting for another process that builds the same ({tmp_path / 'lock'})"
    assert said == [first, f"{first}, 0 s", f"{first}, 0 s"]


def test_builder_ahead_needs_no_packages() -> None:
    """pip installs them at the same time."""
    command = [sys.executable, "-S", "-c", "import wale_lab.engines.ahead"]
    env = {"PYTHONPATH": str(TESTBED / "src"), "PYTHONDONTWRITEBYTECODE": "1"}  # clean checkouts
    subprocess.run(command, check=True, env=env)
