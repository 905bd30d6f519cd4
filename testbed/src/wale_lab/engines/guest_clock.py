# SPDX-License-Identifier: GPL-2.0
"""What a guest that does not end is doing: its virtual time, and the process that runs.

A User-Mode Linux kernel is a process of the host, whose memory says so.  Where that cannot be
read nothing is told.
"""

from __future__ import annotations

import subprocess
import time
from collections import Counter
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


class Watch:
    """Tells, once, of a guest in virtual time that is busy without its time going on."""

    def __init__(self, image: Path | None, pid: int) -> None:
        self.image, self.pid = image, pid
        self.since = time.monotonic()
        self.at_s = 0.0
        self.symbols: dict[str, int] | None = None
        self.done = False

    def step(self) -> str:
        """Called now and then: a sentence, if there is something to tell."""
        waited = time.monotonic() - self.since
        if self.done or waited < CREEPS_S:
            return ""
        try:
            if self.symbols is None:
                self.symbols = _symbols(self.image) if self.image else {}
            with Path(f"/proc/{self.pid}/mem").open("rb", buffering=0) as file:
                now_s = _Memory(file, self.symbols).now_s()
        except (OSError, ValueError, KeyError):
            self.done = True
            return ""
        went_on_s, self.at_s = now_s - self.at_s, now_s
        self.since = time.monotonic()
        if went_on_s > CREEPS * waited:
            return ""
        self.done = True
        return look(self.image, self.pid)


def look(image: Path | None, pid: int) -> str:
    """A sentence on a guest in virtual time that is busy; none if its memory cannot be read."""
    try:
        symbols = _symbols(image) if image else {}
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as file:
            memory = _Memory(file, symbols)
            begin_s, names = memory.now_s(), Counter[str]()
            for _ in range(_LOOKS):
                names[memory.running()] += 1
                time.sleep(_FOR_S / _LOOKS)
            went_on_s = memory.now_s() - begin_s
    except (OSError, ValueError, KeyError, StopIteration):
        return ""
    processes = [name for name, _ in names.most_common() if not name.startswith("swapper")]
    busiest = processes[0] if processes else "the kernel"
    return f"virtual time went on by {went_on_s:.3g} s in the last second, in which {busiest} ran"
