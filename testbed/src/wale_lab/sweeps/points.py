# SPDX-License-Identifier: GPL-2.0
"""The runs of a sweep, each with its file, and how one of them is made.

A run's file is runs/KEY.json; KEY is that of studies, over all that goes into a run.  What is
there is current, and is not made again: an interrupted sweep goes on where it was.  sweep.json
says what each run is, for whoever makes it: a worker on this machine, or a job of a cluster.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from wale_lab.engines.base import EngineError
from wale_lab.errors import ScenarioError, why
from wale_lab.files import write_whole
from wale_lab.once import once
from wale_lab.progress import Progress
from wale_lab.runner import run_scenario
from wale_lab.scenario import Scenario, find_scenario, load_scenario
from wale_lab.studies.points import Build, build_of, point_key
from wale_lab.sweeps.grid import Grid, Order


@dataclass(frozen=True)
class Point:
    """A run of the grid, and its file."""

    order: Order
    key: str
    path: Path
    scenario: Scenario


def read_record(path: Path) -> dict[str, Any] | None:
    """What is kept of a run, if it was made."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def scenarios_of(path: Path, grid: Grid) -> list[tuple[Order, Scenario]]:
    """The scenario of each run of a grid; ScenarioError if one of them is wrong."""
    found, overrides, scenario = [], None, None
    known: dict[bytes, list[str]] = {}
    for order in grid:
        words = grid.overrides(order)
        if scenario is None or words != overrides:
            overrides, scenario = words, load_scenario(path, words)
            resolved = json.dumps(scenario.resolved(), sort_keys=True)
            same = known.setdefault(hashlib.sha256(resolved.encode()).digest(), words)
            if same is not words:
                one = " ".join(word for word in same if word not in words)
                other = " ".join(word for word in words if word not in same)
                raise ScenarioError(
                    f"--set: {one} and {other} make the same run; expected values that differ, "
                    "and no key that overrides another"
                )
        found.append((order, scenario))
    return found


def points_of(
    scenarios: list[tuple[Order, Scenario]], runs: Path, build: Build, packets: bool
) -> list[Point]:
    """All runs of a grid, with what is built for them."""
    found = []
    for order, scenario in scenarios:
        key = _key(scenario, order.seed, packets, build)
        found.append(Point(order, key, runs / f"{key}.json", scenario))
    return found


def _key(scenario: Scenario, seed: int, packets: bool, build: Build) -> str:
    """A run with a log of packets has other measures."""
    what = {"sweep": 1} | ({"packets": True} if packets else {})
    return point_key(scenario, seed, what, build)


def write_orders(
    file: Path, scenario: Path, grid: Grid, points: list[Point], packets: bool
) -> None:
    """Write sweep.json."""
    runs = {p.key: {"set": grid.overrides(p.order), "seed": p.order.seed} for p in points}
    data = {"scenario": str(scenario.resolve()), "packets": packets, "runs": runs}
    write_whole(file, json.dumps(data, indent=1) + "\n")


@cache
def _orders(file: Path, _changed_ns: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return found


def make_point(args: argparse.Namespace) -> None:
    """One run of a sweep.json, for `wale-lab point`: its record, into its file."""
    file = Path(args.study)
    try:
        orders = _orders(file, file.stat().st_mtime_ns)
        order = orders["runs"].get(args.key)
    except OSError as error:
        raise ScenarioError(f"{file}: cannot be read: {why(error)}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ScenarioError(f"{file}: expected what `wale-lab sweep` wrote") from None
    if order is None:
        raise EngineError(f"{file} has no run {args.key}; start `wale-lab sweep` again")
    scenario = load_scenario(find_scenario(orders["scenario"]), order["set"])
    build = once(("build", args.kernel), lambda: build_of(args.kernel, Progress(quiet=True)))
    if _key(scenario, order["seed"], orders["packets"], build) != args.key:
        raise EngineError(
            f"what goes into run {args.key} of {file} (scenario, sources, kernel) has changed "
            "since then; start `wale-lab sweep` again"
        )
    with tempfile.TemporaryDirectory(prefix="wale-sweep-") as temporary:
        folder = Path(args.keep or temporary)
        run_scenario(
            scenario,
            order["seed"],
            folder,
            kernel_version=args.kernel,
            packets="parquet" if orders["packets"] else None,
        )
        from wale_lab.sweeps.table import record_of

        record = record_of(folder)
    write_whole(Path(args.out), json.dumps(record) + "\n")
