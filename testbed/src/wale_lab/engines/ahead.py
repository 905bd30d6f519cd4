# SPDX-License-Identifier: GPL-2.0
"""Builds what a run needs while the launcher installs the Python packages of the testbed.

    python3 -m wale_lab.engines.ahead [VERSION]

The launcher (testbed/wale-lab) starts this with the system's Python, so it must not import what
pip installs.  The run itself then finds the guest's kernel in the cache, or waits for the lock of
the build and shows how far it is (kernel_tree.py).  What fails here fails again there, which says
why.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Thread

from wale_lab.engines import kernel_tree
from wale_lab.engines.base import EngineError, Kernel, wanted_kernel
from wale_lab.engines.modules import check_places, find_modules, find_userspace
from wale_lab.engines.processes import end_own_group


def build(version: str | None) -> None:
    """The programs, and concurrently the kernel and the modules."""
    programs = Thread(target=_quietly, args=(lambda: find_userspace(_silent),), daemon=True)
    programs.start()
    _quietly(lambda: find_modules(_kernel(version), ["sch_wale"], _silent))
    programs.join()


def _kernel(version: str | None) -> Kernel:
    """The guest's kernel."""
    check_places()
    return kernel_tree.find_or_build(wanted_kernel(version), _silent)


def _quietly(what: Callable[[], object]) -> None:
    """Do it as far as it can be done."""
    with suppress(EngineError, OSError):
        what()


def _silent(text: str) -> None:
    """A log that nobody reads."""


def _stop(*_: object) -> None:
    raise KeyboardInterrupt  # on which kernel_build ends make and all that it has started


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)  # which comes when the launcher ends, too
    try:
        with suppress(KeyboardInterrupt):
            build(sys.argv[1] if len(sys.argv) > 1 else None)
    finally:
        end_own_group()  # what the programs' build has started, compilers too
