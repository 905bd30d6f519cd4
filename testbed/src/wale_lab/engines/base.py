# SPDX-License-Identifier: GPL-2.0
"""The interface between the testbed and the engines that run a kernel.

An engine does two things: prepare() finds or builds a kernel, run() runs one
command as root inside it and says how that ended.  The command sees the host's
programs, may write to only one directory of the host (OUT_DIR inside), and is
killed with everything it started when its limit of wall time is over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, Protocol

from wale_lab.errors import LabError

#: Where a job finds its output folder, in every engine.
OUT_DIR = "/run/wale/out"

#: Exit codes of `wale-lab exec` that are not the command's own.
EXIT_TIMEOUT = 124
EXIT_ENGINE = 125
EXIT_WARNING = 133
EXIT_PANIC = 134

#: A guest gets so far beyond what it has to do, in virtual seconds, only if it waits for
#: something that cannot come.
HUNG_AFTER_S = 10.0 * 86400

#: The day of the release. Virtual time begins with it, unless a job says otherwise.
RELEASED = datetime(2026, 11, 27, tzinfo=UTC)

#: The most guests of the uml engine that run at once: WIRE_GUESTS_MAX of kmod/wire.
GUESTS_MAX = 32

Time = Literal["virtual", "real"]

#: ok: exit code 0; exit: another one; panic: the kernel died; timeout: still busy
#: at the wall limit; hung: waiting for something that can never come.
Reason = Literal["ok", "exit", "panic", "timeout", "hung"]

Log = Callable[[str], None]


class Share(str):
    """A line of a log that says how far something is."""

    share: float

    def __new__(cls, text: str, share: float) -> Share:
        line = super().__new__(cls, text)
        line.share = share
        return line


_KERNEL_COMPLAINT = re.compile(
    r"WARNING: (?!can't)|BUG: |BUG \w+|Kernel panic|Oops|INFO: task|INFO: rcu|rcu: INFO"
    r"|list_(add|del) corruption|refcount_t: |unregister_netdevice: waiting|UBSAN: |KASAN: "
    r"|sleeping function called|scheduling while atomic|possible .* deadlock|Segfault with no mm"
    # lockdep (most of it says WARNING), debug objects, reference trackers, kmemleak, which
    # says so too when it gives up; its details are indented
    r"|INFO: trying to register non-static key|turning off the locking correctness validator"
    r"|DEBUG_LOCKS_WARN_ON|ODEBUG: |ref_tracker: |kmemleak: (?! |Kernel memory leak detector init)"
)


#: What the kernel of a guest says when its host refuses it a page: one is a mapping there.
MAPPINGS = "vm.max_map_count"


class EngineError(LabError):
    """A reason, in one sentence for the user, why an engine cannot carry out a request."""


class TimedOut(EngineError):
    """A job that had to be ended: it took too long, or waited for what cannot come."""


@dataclass(frozen=True)
class Kernel:
    """A kernel that is ready to run."""

    release: str  # what uname -r says inside
    source: str  # the package and version that it comes from
    image: Path | None = None  # the program to start, for an engine that starts one
    tree: Path | None = None  # what modules are built against
    arch: str | None = None  # ARCH for module builds, None: the machine's own
    flavour: str = ""  # what is added to find mistakes: "san", "cov"; a run takes far longer then

    @property
    def module_folder(self) -> str:
        """The folder below build/modules that has this kernel's modules."""
        return self.release + (f"-{self.arch}" if self.arch else "")


@dataclass
class Job:
    """One command to run as root inside."""

    argv: Sequence[str]
    out: Path | None = None  # the only host folder that it may write to
    seed: int = 1
    time: Time = "virtual"
    start: datetime | None = None  # on the clock inside; None: RELEASED, or in real time now
    memory_mb: int = 512
    wall_limit_s: float = 600.0
    hung_after_s: float = HUNG_AFTER_S  # in virtual time
    env: dict[str, str] = field(default_factory=dict)
    cwd: str = "/"
    modules: Sequence[Path] = ()
    shared: str | None = None  # what it does until copies may be made of it (copies.py)
    interactive: bool = False
    outside: bool = False  # a device leads to the outside network (engines/outside.py)
    on_output: Callable[[bytes], None] | None = None  # called with output as it comes


def _begun(text: bytes, end: bytes) -> int:
    """How many bytes at the end of a text are the beginning of `end`."""
    most = min(len(text), len(end) - 1)
    return next((n for n in range(most, 0, -1) if text.endswith(end[:n])), 0)


class Console:
    """The file with a job's output, optionally shown while it grows.

    With an `end`, that follows what the job printed, in one piece.
    """

    def __init__(
        self, path: Path, on_output: Callable[[bytes], None] | None, end: bytes | None = None
    ) -> None:
        self.path = path
        self.complete = False  # the end was seen
        self._on_output = on_output
        self._end = end
        self._shown = 0

    def show(self) -> None:
        """Pass on new output."""
        if self.complete or (self._on_output is None and self._end is None):
            return
        with self.path.open("rb") as file:
            file.seek(self._shown)
            new = file.read()
        if self._end is not None:
            new, end, _ = new.partition(self._end)
            self.complete = bool(end)
            if not end:  # its beginning may be here, and the rest come later
                new = new[: len(new) - _begun(new, self._end)]
        self._shown += len(new)
        if new and self._on_output is not None:
            self._on_output(new)

    def text(self) -> str:
        """The whole output; new output has been passed on."""
        self.show()
        text = self.path.read_bytes()
        return (text[: self._shown] if self.complete else text).decode(errors="replace")


#: What to do about a guest in virtual time that is busy.
WHEN_BUSY = (
    "computing takes no virtual time, and waiting by looking again and again takes hardly any: "
    "`exec --real`, `with --real`, or `run --set time=real`"
)


def complaints(kernel_log: str) -> list[str]:
    """The first line of each of a kernel's own complaints (WARN, oops, ...)."""
    return [line for line in kernel_log.splitlines() if _KERNEL_COMPLAINT.search(line)]


@dataclass
class Outcome:
    """How a job ended."""

    exit_code: int  # the command's, or one of EXIT_*
    reason: Reason
    console: str  # what the command printed
    kernel_log: str  # what the kernel printed to its console
    wall_s: float
    virtual: bool = False  # the time inside
    busy: str = ""  # what a guest did that had to be ended, as far as that is known

    @property
    def complaints(self) -> list[str]:
        """The kernel's own, first lines only."""
        return complaints(self.kernel_log)

    def tail(self, lines: int = 20) -> str:
        """The last lines of both consoles, for an error message."""
        parts = self.complaints[:5]
        for title, text in (("console", self.console), ("kernel", self.kernel_log)):
            last = text.splitlines()[-lines:]
            if last:
                parts.append(f"--- {title}, last {len(last)} lines ---\n" + "\n".join(last))
        return "\n".join(parts)

    def describe(self) -> str:
        """One line that says how it ended."""
        wall = f"after {self.wall_s:.2f} s of wall time"
        busy = "while busy"
        if self.busy:
            busy += f": {self.busy}"
        if self.virtual:
            busy += f" ({WHEN_BUSY})"
        mappings = ""
        if MAPPINGS in self.kernel_log:
            mappings = f": this machine allows its process too few mappings ({MAPPINGS}; sysctl)"
        return {
            "ok": f"ended well {wall}",
            "exit": f"ended with exit code {self.exit_code} {wall}",
            "panic": f"the kernel died {wall}{mappings}",
            "timeout": f"killed at its wall limit, {wall}, {busy}",
            "hung": f"killed {wall}: it waited for something that cannot come",
        }[self.reason]


def ns_since_1970(date: datetime) -> int:
    """A date as the kernel counts it."""
    return (date - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000


def wanted_kernel(kernel: str | None) -> str | None:
    """What a caller names, a version or a path; else WALE_KERNEL; None: the engine's own choice."""
    wanted = kernel or os.environ.get("WALE_KERNEL") or None
    if wanted and "/" not in wanted and not re.match(r"\d+\.\d|\+", wanted):
        whose = "--kernel" if kernel else "WALE_KERNEL"
        raise EngineError(
            f"{whose}: there is no version {wanted!r}; expected one such as 6.12, or 6.12+san, or "
            "the path of a kernel's source, with a /"
        )
    return wanted


def is_of_line(release: str, version: str) -> bool:
    """Whether a release ("6.12.86+deb13-amd64") is of a version: "6.12", not "6.1"."""
    return re.match(rf"{re.escape(version)}(?!\d)", release) is not None


class Engine(Protocol):
    """A place where a kernel runs."""

    name: str
    virtual_time: bool  # can it run jobs in virtual time?

    def prepare(self, kernel: str | None, log: Log) -> Kernel:
        """Find or build a kernel; `kernel` selects a version ("6.12").

        None: that of WALE_KERNEL, or the newest.
        """
        ...

    def run(self, kernel: Kernel, job: Job) -> Outcome:
        """Run a job to its end; nothing of it is left running."""
        ...
