# SPDX-License-Identifier: GPL-2.0
"""Gets gcov's counters out of guests: of the modules, and of programs built with --coverage.

The counters of all guests are summed in build/coverage/guests, in files named after their
object files.  Only kernels of the flavour "coverage" have any.
`make coverage` (setup/coverage.py) generates the report.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

from wale_lab.engines.base import EngineError, Job, Kernel
from wale_lab.engines.kernel_build import locked
from wale_lab.engines.modules import BUILD

GUESTS = BUILD / "coverage" / "guests"

_INSIDE = "/run/wale/job/gcov"

#: Where programs in the guest write their counters.
ENV = {"GCOV_PREFIX": _INSIDE}

#: What copies the modules' counters beside them, after the job.
AFTER = (
    f"mkdir -p {_INSIDE} && cd /sys/kernel/debug/gcov && "
    f"find . -name '*.gcda' -exec cp --parents -t {_INSIDE} {{}} +"
)


def counts(kernel: Kernel) -> bool:
    """Does this kernel count lines?"""
    return kernel.release.endswith("-coverage")


def counted(kernel: Kernel, job: Job) -> tuple[Job, str | None]:
    """A job whose programs count where the kernel does, and what then follows it."""
    if not counts(kernel):
        return job, None
    return replace(job, env={**ENV, **job.env}), AFTER


def keep(exchange: Path) -> None:
    """Add the counts of a guest to those of the others."""
    new = exchange / "gcov"
    if not any(new.rglob("*.gcda")):
        return  # the guest died, or ran nothing that is counted
    with locked(GUESTS.with_suffix(".lock")):
        if not GUESTS.exists():
            shutil.copytree(new, GUESTS)
            return
        both = GUESTS.with_suffix(".new")
        shutil.rmtree(both, ignore_errors=True)
        command = ["gcov-tool", "merge", "-o", str(both), str(GUESTS), str(new)]
        # with it, gcov-tool would write elsewhere, and crash
        env = {name: value for name, value in os.environ.items() if name != "GCOV_PREFIX"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
        if done.returncode:
            raise EngineError(f"adding up what gcov counted failed:\n{done.stderr[-2000:]}")
        shutil.rmtree(GUESTS)
        both.rename(GUESTS)
