# SPDX-License-Identifier: GPL-2.0
"""The cost of a path in the channel: set, set again, get and dump many, in a guest in real time."""

from __future__ import annotations

import json
from pathlib import Path

from wale_lab.bench.sheets import Sheet
from wale_lab.engines import get_engine
from wale_lab.engines.base import EngineError, Job
from wale_lab.engines.modules import find_modules, find_userspace
from wale_lab.progress import Progress
from wale_lab.tree import guest_program

SCRIPT = Path(__file__).with_name("paths_guest.py")


def measure(count: int, kernel_version: str | None, progress: Progress) -> dict[str, float]:
    """Seconds of wall time for each step, by name."""
    engine = get_engine("uml")
    kernel = engine.prepare(kernel_version, progress)
    job = Job(
        argv=[*guest_program(SCRIPT), str(count)],
        time="real",
        memory_mb=1024,
        wall_limit_s=120,
        env=find_userspace(progress),
        modules=find_modules(kernel, ["rate_feedback"], progress),
    )
    progress(f"paths: {count} of them")
    outcome = engine.run(kernel, job)
    if outcome.reason != "ok" or outcome.complaints:
        raise EngineError(f"the guest {outcome.describe()}\n{outcome.tail()}")
    result: dict[str, float] = json.loads(outcome.console)
    return result


def sheet(found: list[dict[str, float]]) -> Sheet:
    """paths.csv."""
    rows = []
    for times in found:
        for step in (s for s in times if s not in ("paths", "asked")):
            count = int(times["asked" if step == "get" else "paths"])
            each_us = times[step] / count * 1e6
            cells = [f"{times[step]:.4f}", f"{each_us:.2f}", f"{1e6 / each_us:.0f}"]
            rows.append([f"{times['paths']:.0f}", step, str(count), *cells])
    return Sheet(
        "paths",
        "Cost of paths in the channel",
        "Wall time of a guest in real time, for each path that is set, asked for, shown or "
        "deleted through netlink.",
        ["paths", "step", "times", "seconds", "us_each", "per_second"],
        rows,
    )
