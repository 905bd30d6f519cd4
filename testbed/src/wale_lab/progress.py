# SPDX-License-Identifier: GPL-2.0
"""Shows progress on stderr: one live line with its elapsed time, or plain lines."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Any

from wale_lab.engines.base import Share


class Progress:
    """A log(text) that engines call; use as a context manager.

    On a terminal the current step is one line with a spinner, its time and, of a Share, a bar;
    elsewhere each step is a line that begins with the seconds since the start, and of a Share
    there is one for each quarter.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.began = time.monotonic()
        self.live = sys.stderr.isatty() and not quiet and os.environ.get("TERM") != "dumb"
        self.status: Any = None
        self.quarter = 0

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
        share = text.share if isinstance(text, Share) else None
        if not self.live:
            quarter = int(4 * (share or 0))
            if share is not None and quarter <= self.quarter:
                return
            self.quarter = quarter
            print(f"[{time.monotonic() - self.began:6.1f} s] {text}", file=sys.stderr, flush=True)
            return
        if self.status is None:
            self.status, self.task = _live(text)
        done = {} if share is None else {"total": 1.0, "completed": share}
        self.status.update(self.task, description=text, **{"total": None, **done})

    def done(self) -> None:
        """Take the live line away."""
        if self.status is not None:
            self.status.stop()
            self.status = None


def _live(text: str) -> tuple[Any, Any]:
    """A line on the terminal, and its task."""
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class Known(BarColumn):
        """A bar where it is known how far it is."""

        def render(self, task: Task) -> Any:
            return Text() if task.total is None else super().render(task)

    columns = (SpinnerColumn(), Known(), TextColumn("{task.description}"), TimeElapsedColumn())
    status = Bar(*columns, console=Console(stderr=True), transient=True)
    status.start()
    return status, status.add_task(text, total=None)
