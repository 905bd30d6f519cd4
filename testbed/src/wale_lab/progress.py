# SPDX-License-Identifier: GPL-2.0
"""Says on stderr what is being done: one live line with its elapsed time, or plain lines."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Any


class Progress:
    """A log(text) that engines call; use as a context manager.

    On a terminal the current step is one line with a spinner and its time; elsewhere each
    step is a line that begins with the seconds since the start.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.began = time.monotonic()
        self.live = sys.stderr.isatty() and not quiet and os.environ.get("TERM") != "dumb"
        self.status: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self.done()

    def __call__(self, text: str) -> None:
        if self.quiet:
            return
        if not self.live:
            print(f"[{time.monotonic() - self.began:6.1f} s] {text}", file=sys.stderr, flush=True)
            return
        if self.status is None:
            from rich.console import Console
            from rich.progress import Progress as Bar
            from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
            self.status = Bar(*columns, console=Console(stderr=True), transient=True)
            self.status.start()
            self.task = self.status.add_task(text, total=None)
        self.status.update(self.task, description=text)

    def done(self) -> None:
        """Take the live line away."""
        if self.status is not None:
            self.status.stop()
            self.status = None
