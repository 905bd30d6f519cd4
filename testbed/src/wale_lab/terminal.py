# SPDX-License-Identifier: GPL-2.0
"""What a program inside a guest shares with the user's terminal: streams, folder, Ctrl-C.

A guest in virtual time must not hear of the world outside, so the streams are files: standard
input is read before the start, and what the program prints is handed on as it is written.
"""

from __future__ import annotations

import os
import select
import signal
import stat
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

#: Beside the files of a run's programs.
STDIN, INTERRUPT = "stdin", "interrupt"

#: After Ctrl-C, how long a program may take to end; a second one does not wait.
PATIENCE_S = 5.0

#: For how long nothing may come from a pipe before that is said.
_SILENT_S = 1.0

#: Variables that mean nothing inside, or something else.
_LEFT_OUT = ("TMPDIR", "PYTHONPATH", "PYTHONPYCACHEPREFIX", "XDG_RUNTIME_DIR", "WALE_PYTHONPATH")


def own_environment() -> dict[str, str]:
    """The user's environment, as far as it is of use inside."""
    env = {k: v for k, v in os.environ.items() if k not in _LEFT_OUT}
    if theirs := os.environ.get("WALE_PYTHONPATH"):  # the launcher has put its own there
        env["PYTHONPATH"] = theirs
    return env | {"WALE_INSIDE": "1"}


def standard_input() -> bytes:
    """The input from a file or a pipe; nothing from a terminal or a device."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:  # closed
        return b""
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        return b""
    if not select.select([0], [], [], _SILENT_S)[0]:
        said = "reading standard input to its end, for the command; with </dev/null it has none"
        print(f"wale-lab: {said}", file=sys.stderr, flush=True)
    return sys.stdin.buffer.read()


class _Follower:
    """Hands on what is written to a file, as it grows."""

    def __init__(self, path: Path, to: int) -> None:
        self.path, self.to, self.done = path, to, 0

    def step(self) -> None:
        """Pass on new output."""
        try:
            with self.path.open("rb") as file:
                file.seek(self.done)
                new = file.read()
        except FileNotFoundError:
            return
        self.done += len(new)
        while new:
            new = new[os.write(self.to, new) :]


@dataclass
class Terminal:
    """Of a run: which program has the streams, and what it may write to."""

    program: str
    environment: dict[str, str]
    writable: str | None
    """a folder of the host"""
    flush_cs: int | None
    """how soon the guest writes to files of the host, in 1/100 s; None: as the kernel does"""
    stdin: bytes = b""
    interrupted: bool = False
    """Ctrl-C came, once the guest has ended"""

    def plan(self) -> dict[str, Any]:
        """The plan for the agent."""
        return {
            "program": self.program,
            "environment": self.environment,
            "writable": self.writable,
            "flush_cs": self.flush_cs,
            "interrupt": INTERRUPT,
        }

    @contextmanager
    def attached(self, folder: Path) -> Iterator[None]:
        """Hand on streams and Ctrl-C while the guest runs that has its files in the folder."""
        (folder / STDIN).write_bytes(self.stdin)
        followers = [
            _Follower(folder / f"{self.program}.out", 1),
            _Follower(folder / f"{self.program}.err", 2),
        ]
        broken: list[BrokenPipeError] = []
        ended = threading.Event()

        def follow() -> None:
            try:
                while not ended.wait(0.05):
                    for follower in followers:
                        follower.step()
            except BrokenPipeError as error:
                broken.append(error)
                os.kill(os.getpid(), signal.SIGTERM)  # cli.py ends the run

        before = signal.getsignal(signal.SIGINT)
        interrupts = _Interrupts(folder / INTERRUPT)
        if before is not signal.SIG_IGN:  # as in the background of a script
            signal.signal(signal.SIGINT, interrupts)
        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        try:
            yield
        except KeyboardInterrupt:
            if broken:
                raise broken[0] from None
            raise
        finally:
            ended.set()
            thread.join()
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGINT, before)
            self.interrupted = interrupts.first_s is not None
            if not broken:
                for follower in followers:
                    follower.step()


class _Interrupts:
    """Ctrl-C: the first goes to the program, the next one ends all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.first_s: float | None = None

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        if self.first_s is not None:
            raise KeyboardInterrupt
        self.first_s = time.monotonic()
        self.path.touch()
        signal.signal(signal.SIGALRM, _give_up)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)


def _give_up(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
