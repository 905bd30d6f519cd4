# SPDX-License-Identifier: GPL-2.0
"""Processes that each do one `wale-lab` command line after the other.

A process of its own for each run would spend longer on its imports than many runs take.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from wale_lab.engines.base import EngineError
from wale_lab.engines.copies import end_originals
from wale_lab.once import keep
from wale_lab.tree import IMPORTS, IN_CHECKOUT

_T = TypeVar("_T")


@dataclass(frozen=True)
class Done:
    """How a command line ended."""

    code: int
    printed: str
    said: str
    """on stderr"""

    @property
    def why(self) -> str:
        """What it said, as the reason for a failure."""
        return self.said.strip().removeprefix("wale-lab: ") or "it said nothing"


def python_environment() -> dict[str, str]:
    """The environment in which `python -m wale_lab` finds this package."""
    env = dict(os.environ)
    if IN_CHECKOUT:
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(IMPORTS), env.get("PYTHONPATH")]))
    return env


@dataclass
class Workers:
    """Workers as they are needed, one for each thread that has something done at a time."""

    _free: SimpleQueue[subprocess.Popen[str]] = field(default_factory=SimpleQueue)
    _all: list[subprocess.Popen[str]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _ended: bool = False

    def do(self, words: Sequence[str]) -> Done:
        """Have a worker do a command line, and wait for it; EngineError if the worker is gone."""
        worker = self._take()
        assert worker.stdin is not None and worker.stdout is not None
        try:
            worker.stdin.write(json.dumps(list(words)) + "\n")
            worker.stdin.flush()
            answer = worker.stdout.readline()
        except (OSError, ValueError):  # gone, or closed by end()
            answer = ""
        if not answer:
            code = worker.wait()
            raise EngineError(
                "the runs were ended" if self._ended else f"a worker ended with {code}: {words}"
            )
        self._free.put(worker)
        return Done(**json.loads(answer))

    def _take(self) -> subprocess.Popen[str]:
        with self._lock:
            if self._ended:
                raise EngineError("the runs were ended")
            with contextlib.suppress(Empty):
                return self._free.get_nowait()
            worker = subprocess.Popen(
                [sys.executable, "-m", "wale_lab.workers"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                errors="replace",
                env=python_environment(),
            )
            self._all.append(worker)
        return worker

    def do_all(
        self,
        items: Iterable[_T],
        do: Callable[[_T], None],
        jobs: int,
        tell: Callable[[list[tuple[_T, BaseException | None]]], None] = lambda _: None,
        expected: tuple[type[Exception], ...] = (),
    ) -> None:
        """Do something with each item, so many at once, in threads that call do(); then end.

        `tell` is called at least once a second with the items that are done since then, each with
        its error if that is an `expected` one.  Any other error ends all, and is raised.
        """
        pool = ThreadPoolExecutor(jobs)
        waiting = iter(items)
        running: dict[Future[None], _T] = {}
        try:
            while True:
                for item in islice(waiting, 2 * jobs - len(running)):
                    running[pool.submit(do, item)] = item
                if not running:
                    return
                ended, _ = wait(running, timeout=1, return_when=FIRST_COMPLETED)
                done = [(running.pop(future), future.exception()) for future in ended]
                for _, error in done:
                    if error is not None and not isinstance(error, expected):
                        raise error
                tell(done)
        finally:
            self.end()
            pool.shutdown(cancel_futures=True)

    def end(self) -> None:
        """Have all workers end, with their guests."""
        with self._lock:
            self._ended = True
        for worker in self._all:
            worker.terminate()
        for worker in self._all:
            assert worker.stdin is not None and worker.stdout is not None
            with contextlib.suppress(OSError):
                worker.stdin.close()  # wakes one that got the signal just before it began to read
            worker.wait()
            with contextlib.suppress(OSError):
                worker.stdout.close()


def _answer(words: list[str]) -> dict[str, Any]:
    """Do a command line; what it printed and said is kept."""
    from wale_lab import cli

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = cli.main(words)
        except SystemExit as error:  # of argparse
            code = error.code if isinstance(error.code, int) else 1
    return {"code": code, "printed": out.getvalue(), "said": err.getvalue()}


def main() -> int:
    """A worker: a JSON list of words a line, answered by a JSON object a line."""
    keep()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what else is printed does not come between
    try:
        for line in sys.stdin:
            answers.write(json.dumps(_answer(json.loads(line))) + "\n")
            answers.flush()
    except (KeyboardInterrupt, BrokenPipeError):
        return 130
    finally:
        end_originals()
    return 0


if __name__ == "__main__":
    sys.exit(main())
