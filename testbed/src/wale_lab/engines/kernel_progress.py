# SPDX-License-Identifier: GPL-2.0
"""How far a build of the guest's kernel is, for the process that builds it and those that wait.

All of them read the folder in which it is built: the steps that are done, and the log of make.
"""

from __future__ import annotations

import time
from pathlib import Path

from wale_lab.engines.base import Log, Share

#: Lines that the makefiles print, by version of the kernel; of a version that is not here, as many
#: as of the newest.
STEPS = {"6.1": 1300, "6.12": 1380, "7.2": 1470}

#: How often is said how far it is.
REPORT_S = 1

#: How often those who wait say for how long, where nobody knows how far it is.
WAITING_S = 5

#: How often they look.
POLL_S = 0.1


class KernelProgress:
    """What to say of the build in a folder."""

    def __init__(self, work: Path, version: str) -> None:
        self.work = work
        self.total = STEPS.get(version, max(STEPS.values()))
        self.began = time.monotonic()
        self.begin: int | None = None  # steps that were done when it began to compile

    def say(self, log: Log) -> None:
        """The state of now, if it can be told."""
        try:
            done = (self.work / "steps").read_text().split()
            steps = (self.work / "build.log").read_bytes().count(b"\n")
        except FileNotFoundError:  # it has just begun, or ended
            return
        if "configure" not in done:
            return
        if self.begin is None:
            self.began, self.begin = time.monotonic(), steps
        share = min(steps / self.total, 0.99)
        text = f"compiling: {steps} of about {max(self.total, steps)} steps"
        spent = time.monotonic() - self.began
        if steps - self.begin >= self.total // 20:
            left = (self.total - steps) * spent / (steps - self.begin)
            text += f", about {_in_words(max(left, 0))} left"
        log(Share(text, share))


def _in_words(seconds: float) -> str:
    """A time that is estimated."""
    return f"{seconds / 60:.0f} min" if seconds >= 100 else f"{max(10 * round(seconds / 10), 10)} s"
