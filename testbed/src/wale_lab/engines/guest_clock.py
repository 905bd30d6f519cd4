# SPDX-License-Identifier: GPL-2.0
"""What a guest that does not end is doing: its virtual time, and the process that runs.

A User-Mode Linux kernel is a process of the host, whose memory says so.  Where that cannot be
read nothing is told.
"""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

#: How often it is looked, over how long.
_LOOKS, _FOR_S = 50, 1.0

#: A guest whose virtual time goes on by less than that part of wall time, for so many seconds of
#: wall time, is told of.
CREEPS, CREEPS_S = 0.001, 30.0

#: The name of the kernel's first task, which says where a task has its name.
_FIRST = b"swapper"
_TASK_BYTES = 16384
_NAME_BYTES = 16
#: Below this there is no memory of a kernel.
_LOWEST = 0x60000000

_WANTED = ("time_travel_time", "cpu_tasks", "init_task")


@cache
def _symbols(image: Path) -> dict[str, int]:
    """Where the kernel has what is looked at."""
    done = subprocess.run(["nm", image], capture_output=True, text=True, check=False)
    words = (line.split() for line in done.stdout.splitlines())
    return {parts[2]: int(parts[0], 16) for parts in words if parts[-1] in _WANTED}


class _Memory:
    """The memory of a guest's kernel."""

    def __init__(self, file: BinaryIO, symbols: dict[str, int]) -> None:
        self.file, self.symbols = file, symbols
        self.name_at = self._bytes(symbols["init_task"], _TASK_BYTES).index(_FIRST)

    def _bytes(self, address: int, count: int) -> bytes:
        self.file.seek(address)
        return self.file.read(count)

    def _number(self, address: int) -> int:
        return int.from_bytes(self._bytes(address, 8), "little")

    def now_s(self) -> float:
        """Virtual time."""
        return self._number(self.symbols["time_travel_time"]) / 1e9

    def running(self) -> str:
        """The name of the process that runs."""
        place = self.symbols["cpu_tasks"]
        # an older Linux has another number before it
        task = next(p for p in map(self._number, (place, place + 8)) if p >= _LOWEST)
        name = self._bytes(task + self.name_at, _NAME_BYTES)
        return name.partition(b"\0")[0].decode(errors="replace")


@dataclass(frozen=True)
class Clock:
    """Where a guest has its clock: the file of its kernel, and the process that this is."""

    image: Path | None
    pid: int


class Watch:
    """Tells, once, of guests of one virtual time that are busy without their time going on."""

    def __init__(self, clocks: Sequence[Clock]) -> None:
        self.clocks = clocks
        self.since = time.monotonic()
        self.at_s = 0.0
        self.done = not clocks

    def step(self) -> str:
        """Called now and then: a sentence, if there is something to tell."""
        waited = time.monotonic() - self.since
        if self.done or waited < CREEPS_S:
            return ""
        now_s = max(map(_now_s, self.clocks))
        went_on_s, self.at_s = now_s - self.at_s, now_s
        self.since = time.monotonic()
        if now_s and went_on_s > CREEPS * waited:
            return ""
        self.done = True
        return look(self.clocks)[1] if now_s else ""


@contextmanager
def _memory(clock: Clock) -> Iterator[_Memory]:
    """A guest's memory; OSError, ValueError, KeyError or StopIteration: it cannot be read."""
    symbols = _symbols(clock.image) if clock.image else {}
    with Path(f"/proc/{clock.pid}/mem").open("rb", buffering=0) as file:
        yield _Memory(file, symbols)


def _now_s(clock: Clock) -> float:
    """Virtual time; 0 if it cannot be read, or the guest has ended."""
    try:
        with _memory(clock) as memory:
            return memory.now_s()
    except (OSError, ValueError, KeyError):
        return 0.0


@dataclass(frozen=True)
class _Look:
    """What a guest did in the last second."""

    went_on_s: float
    names: Sequence[str]  # of processes that ran, those that did so most first

    def __str__(self) -> str:
        busiest = self.names[0] if self.names else "the kernel"
        last = "in the last second, in which"
        return f"virtual time went on by {self.went_on_s:.3g} s {last} {busiest} ran"


def _look(clock: Clock) -> _Look | None:
    try:
        with _memory(clock) as memory:
            begin_s, names = memory.now_s(), Counter[str]()
            for _ in range(_LOOKS):
                names[memory.running()] += 1
                time.sleep(_FOR_S / _LOOKS)
            went_on_s = memory.now_s() - begin_s
    except (OSError, ValueError, KeyError, StopIteration):
        return None
    return _Look(went_on_s, [n for n, _ in names.most_common() if not n.startswith("swapper")])


def look(clocks: Sequence[Clock]) -> tuple[int, str]:
    """Which of some guests in one virtual time is busy, and a sentence on it.

    Those that wait for it run no process.  The sentence is empty if its memory cannot be read.
    """
    with ThreadPoolExecutor(len(clocks)) as pool:
        looks = list(pool.map(_look, clocks))
    number = next((n for n, one in enumerate(looks) if one and one.names), 0)
    one = looks[number]
    return number, str(one) if one else ""
