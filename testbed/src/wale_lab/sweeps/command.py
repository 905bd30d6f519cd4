# SPDX-License-Identifier: GPL-2.0
"""`wale-lab sweep`: make the runs of a grid that are missing, then its tables and its picture.

A run's file is runs/KEY.json; KEY is that of studies, over all that goes into a run.  What is
there is current, and is not made again: an interrupted sweep goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wale_lab.engines import get_engine
from wale_lab.engines.base import EngineError
from wale_lab.errors import ScenarioError
from wale_lab.files import make_folder, write_whole
from wale_lab.progress import Progress
from wale_lab.scenario import find_scenario, load_scenario
from wale_lab.studies.points import Build, find_build, point_key
from wale_lab.sweeps.grid import Grid, Order, parse_grid
from wale_lab.units import show_time_ns
from wale_lab.workers import Workers

#: Between two lines that say how far it is, where there is no terminal, seconds.
_SAY_EACH_S = 15


@dataclass(frozen=True)
class Point:
    """A run of the grid, and its file."""

    order: Order
    path: Path

    def record(self) -> dict[str, Any] | None:
        """The record of the run, if it was done."""
        try:
            found: dict[str, Any] = json.loads(self.path.read_text("utf-8"))
        except (OSError, ValueError):
            return None
        return found


class Sweep:
    """A scenario, a grid and a folder."""

    def __init__(self, args: argparse.Namespace, grid: Grid, out: Path) -> None:
        self.args = args
        self.grid = grid
        self.out = out
        self.failed: list[tuple[Order, str]] = []

    def points(self, build: Build) -> list[Point]:
        """All runs of the grid; ScenarioError if one of the scenarios is wrong."""
        path = find_scenario(self.args.scenario)
        found, overrides, scenario = [], None, None
        for order in self.grid:
            words = order.overrides(self.grid.fixed)
            if scenario is None or words != overrides:
                overrides, scenario = words, load_scenario(path, words)
            key = point_key(scenario, order.seed, {"sweep": 1}, build)
            found.append(Point(order, self.out / "runs" / f"{key}.json"))
        return found

    def words(self, order: Order) -> list[str]:
        """Of the `wale-lab run` that a run is."""
        words = [f"--set={o}" for o in order.overrides(self.grid.fixed)]
        words += [f"--kernel={self.args.kernel}"] if self.args.kernel else []
        return [*words, f"--seed={order.seed}", *(["--packets"] if self.args.packets else [])]

    def make(self, missing: list[Point], jobs: int, tell: Callable[[int], None]) -> None:
        """Make some runs, so many at once; `tell` is called with the number of those done."""
        workers = Workers()
        pool = ThreadPoolExecutor(jobs)
        waiting = iter(missing)
        running: dict[Future[None], Point] = {}
        done = 0
        try:
            while True:
                for point in waiting:
                    running[pool.submit(self._make, point, workers)] = point
                    if len(running) >= 2 * jobs:
                        break
                if not running:
                    return
                ended, _ = wait(running, timeout=1, return_when=FIRST_COMPLETED)
                for future in ended:
                    point = running.pop(future)
                    if (error := future.exception()) is not None:
                        if not isinstance(error, EngineError | ScenarioError | OSError):
                            raise error
                        self.failed.append((point.order, str(error)))
                    done += 1
                tell(done)
        finally:
            workers.end()
            pool.shutdown(cancel_futures=True)

    def _make(self, point: Point, workers: Workers) -> None:
        from wale_lab.sweeps.table import record_of

        with tempfile.TemporaryDirectory(prefix="wale-sweep-") as folder:
            words = ["run", "--quiet", f"--out={folder}", *self.words(point.order)]
            done = workers.do([*words, "--", self.args.scenario])
            if done.code not in (0, 1) or not Path(folder, "result.json").exists():
                said = done.said.strip().splitlines()
                raise EngineError(
                    said[-1].removeprefix("wale-lab: ") if said else "it said nothing"
                )
            record = record_of(Path(folder))
        write_whole(point.path, json.dumps(record) + "\n")


@contextmanager
def _told(total: int, there: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Say how far it is, and how long it will take: a bar in a terminal, elsewhere lines."""
    began, last = time.monotonic(), 0.0
    if quiet:
        yield lambda _: None
        return
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("runs", total=total, completed=there)
            yield lambda done: bar.update(task, completed=there + done)
        return

    def say(done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if not done or (now - last < _SAY_EACH_S and last):
            return
        last = now
        left_s = (now - began) / done * (total - there - done)
        left = show_time_ns(round(left_s) * 10**9)
        print(f"wale-lab: {there + done} of {total} runs, {left} left", file=sys.stderr, flush=True)

    yield say


def sweep_command(args: argparse.Namespace) -> int:
    """The subcommand."""
    grid = parse_grid(args.set, args.seeds)
    out = Path(args.out or f"out/sweep-{Path(args.scenario).stem}")
    _check_axes(args, grid)
    make_folder(out / "runs")
    with Progress(quiet=args.quiet) as progress:
        build = find_build(get_engine("uml").prepare(args.kernel, progress), progress)
        progress(f"checking {len(grid)} runs")
        sweep = Sweep(args, grid, out)
        points = sweep.points(build)
    missing = [point for point in points if point.record() is None]
    if not args.quiet:
        print(
            f"wale-lab: {len(points)} runs, {len(points) - len(missing)} of them are there, "
            f"{min(args.jobs, max(len(missing), 1))} at once",
            file=sys.stderr,
        )
    if missing:
        with _told(len(points), len(points) - len(missing), args.quiet) as tell:
            sweep.make(missing, args.jobs, tell)
    return _write(sweep, points, args)


def _check_axes(args: argparse.Namespace, grid: Grid) -> None:
    """ScenarioError if --x is nothing that varies."""
    if args.x and args.x not in grid.dimensions:
        known = ", ".join(grid.dimensions) or "nothing"
        raise ScenarioError(f"--x {args.x}: expected a KEY with several values; {known} varies")


def _write(sweep: Sweep, points: list[Point], args: argparse.Namespace) -> int:
    """The tables and the picture of what was made; 1 if a run failed or has a problem."""
    from wale_lab.style import save_picture
    from wale_lab.sweeps.picture import axis_of, picture
    from wale_lab.sweeps.table import summary, tidy

    found = [(point.order, record) for point in points if (record := point.record()) is not None]
    trouble = [(o, line) for o, record in found for line in record["problems"]] + sweep.failed
    if found:
        table = tidy([(order.parameters, order.seed, record) for order, record in found])
        means = summary(table)
        files = [sweep.out / name for name in ("sweep.csv", "sweep.parquet", "summary.csv")]
        table.to_csv(files[0], index=False)
        table.to_parquet(files[1], index=False)
        means.to_csv(files[2], index=False)
        names = list(sweep.grid.dimensions)
        if names:
            x = axis_of(sweep.grid.dimensions, args.x)
            names.sort(key=lambda name: name != x)
            files.append(sweep.out / "sweep.png")
            save_picture(picture(means, names, args.kind, args.y), files[-1])
        if args.json:
            print(means.to_json(orient="records"))
        else:
            print("\n".join(map(str, files)))
    for order, line in trouble:
        command = shlex.join(["wale-lab", "run", *sweep.words(order), args.scenario])
        print(f"wale-lab: {line}\n  to repeat it: {command}", file=sys.stderr)
    return 1 if trouble else 0
