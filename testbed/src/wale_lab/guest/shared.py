# SPDX-License-Identifier: GPL-2.0
"""What the parts of the agent share: the clock, files, and the error of a scenario.

Standard library only, and little of that: a guest pays for every page that it loads.
"""

import fcntl
import os
import time

TYPE_CHECKING = False  # typing takes time to load
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    #: What the host wrote for the agent (results/result.py, plan_data()), or a part of it.
    Plan: TypeAlias = dict[str, Any]

#: Where the agent has its files.
WORK = "/run/wale/agent"
#: The system call at which a guest can be copied (engines/guest_copy.c).
COPY_POINT = 0x57414C45

#: No file: a guest that looks for it gets its random numbers anew (engines/guest_preload.c).
RESEED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), ".reseed")
#: linux/random.h: the kernel seeds its generator now.
RNDRESEEDCRNG = 0x5207

#: Of a guest among several: how far it is is written; a read waits until all are (kmod/wire).
STAGE = "/sys/module/wale_wire/parameters/stage"
#: The same for an end before the time: it is written in one guest, and a read returns in all.
OVER = "/sys/module/wale_wire/parameters/over"
#: Which wire tells another guest the rate of a link, and which one publishes what it is told.
TELL = "/sys/module/wale_wire/parameters/tell"
PUBLISH = "/sys/module/wale_wire/parameters/publish"


class AgentError(Exception):
    """Why the scenario could not be run; `of` is the part of the plan to blame (refusal.py)."""

    def __init__(self, text: str, **of: "Any") -> None:
        super().__init__(text)
        self.of = of


def now() -> int:
    """Nanoseconds of the clock that all times refer to."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def sleep_until(when: int) -> None:
    """Sleep until this time of the clock."""
    wait = when - now()
    if wait > 0:
        time.sleep(wait / 1e9)


def reseed() -> None:
    """Have the kernel's random numbers follow from the seed alone, whatever ran before."""
    os.path.lexists(RESEED)
    with open("/dev/urandom", "wb") as file:
        fcntl.ioctl(file, RNDRESEEDCRNG)


def meet(plan: "Plan", stage: int) -> None:
    """Wait until all guests of the scenario are as far; stages are numbered."""
    if plan.get("guests", 1) > 1:
        write(STAGE, str(stage))
        read(STAGE)


def joined(lines: "Iterable[str]") -> str:
    """Lines as a text."""
    return "\n".join(lines) + "\n"


def read(path: str) -> str:
    """A file as text; no text if there is no such file."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def write(path: str, text: str) -> None:
    """Make a file with this text."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
