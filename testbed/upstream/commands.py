# SPDX-License-Identifier: GPL-2.0
"""Runs the commands of a check, and keeps what they print in the log of its step."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from fold import TOP
from wale_lab.engines.base import EngineError


def show(text: str) -> None:
    """A line for whoever waits."""
    print(text, flush=True)


class Commands:
    """Commands of one step after the other; without a folder for logs nothing is kept."""

    def __init__(self, log: Path | None) -> None:
        self.log = log
        self.file = Path(os.devnull)
        if log:
            log.mkdir(parents=True, exist_ok=True)

    def begin(self, step: str) -> None:
        """From now on, the log is that of a step."""
        if self.log:
            self.file = self.log / f"{step}.log"

    def say(self, text: str) -> None:
        """A line of the log."""
        with self.file.open("a") as file:
            file.write(f"{text}\n")

    def text(
        self,
        words: Sequence[str | Path],
        cwd: Path | None = None,
        inherited: Mapping[str, str] = os.environ,
        both: bool = False,
        **env: str,
    ) -> str:
        """Run a command that must succeed; return what it prints to stdout, or to `both`."""
        named = " ".join(map(str, words))
        self.say(f"$ {named}")
        with self.file.open("a") as errors:
            done = subprocess.run(
                words,
                cwd=cwd,
                env={**inherited, **env},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if both else errors,
                text=True,
                errors="replace",
                check=False,
            )
        self.say(done.stdout)
        if done.returncode:
            raise EngineError(f"{named[:120]} failed; its output is in {self.file}")
        return done.stdout


def tracked() -> list[Path]:
    """The files of this tree."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = Commands(None).text(command, TOP).splitlines()
    return [TOP / name for name in listed if (TOP / name).is_file()]
