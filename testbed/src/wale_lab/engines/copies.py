# SPDX-License-Identifier: GPL-2.0
"""Guests that are started once and copied: each copy is a run that goes on from there.

A job says by a text (Job.shared) what it does up to the moment at which it can be copied.  The
first job with some text, seed, kernel and so on starts an original, which stops at that moment;
each such job is a copy of it, with the same result as if it had been started for itself.  After a
kind of which there was only one job, a new kind starts its original with its second job.  How a
guest is copied is told in guest_copy.c.

Only a process that does one job after the other has originals (once.py).
"""

from __future__ import annotations

import hashlib
import os
import select
import socket
import subprocess
import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path

from wale_lab.engines.base import Job, Kernel, ns_since_1970
from wale_lab.engines.kernel_source import version_key
from wale_lab.engines.processes import Process
from wale_lab.once import kept

#: Lines of the kernel whose guests can be copied.
LINES = {(6, 12)}
#: At most so many originals are kept: each takes its memory twice, its own and a copy's.
MOST = 2

#: Starts a guest, which listens to a socket; a context that ends it.
Start = Callable[[socket.socket], AbstractContextManager[Process]]


class Copy:
    """The process of a copy's kernel, a child of the original's; as subprocess has it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid  # stays its own until the next copy is asked for
        self._pidfd = os.pidfd_open(pid)
        weakref.finalize(self, os.close, self._pidfd)

    def poll(self) -> int | None:
        """0 if it has ended; how, the guest itself writes down."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        watch = select.poll()
        watch.register(self._pidfd, select.POLLIN)
        if not watch.poll(None if timeout is None else timeout * 1000):
            raise subprocess.TimeoutExpired("the copy of a guest", timeout or 0)
        return 0


class _Original:
    """A guest that stands still and is copied."""

    def __init__(self, start: Start, deadline: float) -> None:
        self._stack = ExitStack()
        ours, theirs = socket.socketpair()
        self._stack.callback(ours.close)
        with theirs:
            self.process = self._stack.enter_context(start(theirs))
        ours.settimeout(max(deadline - time.monotonic(), 0.1))
        self._answers = self._stack.enter_context(ours.makefile("r", encoding="ascii"))
        self._control = ours
        try:
            self.ready = self._answers.readline() == "ready\n"
        except OSError:
            self.ready = False

    def copy(self, cpu: int, folder: Path) -> Copy | None:
        """One more copy, on a CPU, with a folder of its own; None if there is none."""
        try:
            for name in ("console", "kernel-log"):
                (folder / name).touch()
            self._control.sendall(f"{cpu} {folder}\n".encode())
            return Copy(int(self._answers.readline()))
        except (OSError, ValueError):
            return None

    def end(self) -> None:
        """End it."""
        self._stack.close()


_seen: dict[str, int] = {}  # how many jobs of a kind there were; the last kind began last
_never: set[str] = set()  # their guests cannot be copied
_originals: dict[str, _Original] = {}  # the last one was used last


def _is_copied(kernel: Kernel, job: Job) -> bool:
    version = version_key(kernel.release)[:2]
    plain = job.time == "virtual" and not job.interactive and job.on_output is None
    return plain and kernel.flavour in ("", "net") and version in LINES


def _key(kernel: Kernel, job: Job) -> str:
    """Of all that shapes a guest until it is copied."""
    start = job.start and ns_since_1970(job.start)
    same: list[object] = [
        str(kernel.image),
        job.shared,
        job.seed,
        start,
        job.memory_mb,
        job.hung_after_s,
    ]
    same += [job.cwd, [*job.argv], sorted(job.env.items()), [str(path) for path in job.modules]]
    return hashlib.sha256(repr(same).encode()).hexdigest()


def _comes_again(key: str) -> bool:
    """Count a job; is it worth an original?"""
    if key not in _seen:
        of_the_last_kind = next(reversed(_seen.values()), 2)
        _seen[key] = 1
        return of_the_last_kind > 1
    _seen[key] += 1
    return True


def copy_for(
    kernel: Kernel, job: Job, start: Start, cpu: int, folder: Path, deadline: float
) -> Copy | None:
    """A copy that does this job; None if a guest has to be started for it."""
    if not kept() or job.shared is None or not _is_copied(kernel, job):
        return None
    key = _key(kernel, job)
    if not _comes_again(key) or key in _never:
        return None
    original = _originals.pop(key, None) or _Original(start, deadline)
    copied = original.copy(cpu, folder) if original.ready else None
    if copied is None:
        original.end()
        _never.add(key)
        return None
    _originals[key] = original
    while len(_originals) > MOST:
        _originals.pop(next(iter(_originals))).end()
    return copied


def end_originals() -> None:
    """End all guests that are kept to be copied."""
    while _originals:
        _originals.popitem()[1].end()
