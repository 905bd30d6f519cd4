# SPDX-License-Identifier: GPL-2.0
"""Starting processes: their environment, waiting for their end, killing all of them."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)

#: How long an interrupted make may take to remove what it has half done.
GRACE_S = 10

_SESSION_FIELD = 3  # in /proc/PID/stat after the command name: state, ppid, pgrp, session


def without_make() -> dict[str, str]:
    """The environment for an independent make, not part of the one that may have started us."""
    theirs = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "ARCH")
    return {name: value for name, value in os.environ.items() if name not in theirs}


def for_kbuild() -> dict[str, str]:
    """The environment for a make of the kernel, which for User-Mode Linux adds flags of ours."""
    return {k: v for k, v in without_make().items() if k not in ("CFLAGS", "LDFLAGS")}


class Process(Protocol):
    """What is needed of a process to wait for its end; subprocess.Popen is one."""

    @property
    def pid(self) -> int:
        """Its number."""

    def poll(self) -> int | None:
        """How it ended, if it has."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; subprocess.TimeoutExpired if it does not come in time."""


def ended_before(
    process: Process,
    deadline: Callable[[], float],
    while_waiting: Callable[[], None],
) -> bool:
    """Wait for a process to end; tell whether it did before a time of time.monotonic().

    The time is asked for again and again: it may become known only on the way.
    """
    watch = select.poll()
    pidfd = os.pidfd_open(process.pid)
    watch.register(pidfd, select.POLLIN)
    try:
        while not watch.poll(100):
            while_waiting()
            if time.monotonic() > deadline():
                return False
        return True
    finally:
        os.close(pidfd)


def ended_within(process: Process, seconds: float) -> bool:
    """Wait for a process to end, but not longer than this; tell whether it did."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return process.poll() is not None


def end_with_parent() -> None:
    """In a child, before its program runs: it is to end when its parent dies."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def end_group(leader: subprocess.Popen[Any], grace_s: float) -> None:
    """Ask the processes of a group to end, and after `grace_s` do not ask."""
    try:
        with suppress(ProcessLookupError):
            os.killpg(leader.pid, signal.SIGTERM)
        ended_within(leader, grace_s)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(leader.pid, signal.SIGKILL)


def end_own_group() -> None:
    """Ask the others of our group to end, if we lead it."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGTERM)


def run_make(command: Sequence[str | Path], **options: Any) -> int:
    """Run make, whose exit code this is; if we end before it does, it ends what it has started.

    It stays in our session: it may install packages, for which sudo asks on the terminal.
    """
    process = subprocess.Popen(command, preexec_fn=end_with_parent, **options)
    try:
        while not ended_within(process, 1):  # a signal that comes just before a wait is seen
            pass
        return process.returncode
    except BaseException:
        process.terminate()
        ended_within(process, GRACE_S)
        raise


def _members(session: int) -> Iterator[tuple[int, str]]:
    """The processes of a session, with their state."""
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with suppress(OSError):
                text = (process / "stat").read_text()
                fields = text.rpartition(")")[2].split()
                if fields[_SESSION_FIELD] == str(session):
                    yield int(process.name), fields[0]


def end_session(leader: Process) -> None:
    """End every process of a session and wait until none is left."""
    for _ in range(100):
        left = [pid for pid, state in _members(leader.pid) if state != "Z"]
        if not left and leader.poll() is not None:
            break
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            leader.wait(0.05)
