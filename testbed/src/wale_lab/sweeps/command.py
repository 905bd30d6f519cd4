# SPDX-License-Identifier: GPL-2.0
"""`wale-lab sweep`: make the runs of a grid that are missing, then its tables and its picture."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wale_lab.engines.base import EngineError
from wale_lab.errors import ScenarioError
from wale_lab.files import alone, make_folder
from wale_lab.progress import Progress
from wale_lab.scenario import find_scenario
from wale_lab.studies import schedule
from wale_lab.studies.points import build_of
from wale_lab.sweeps.grid import Grid, Order, parse_grid
from wale_lab.sweeps.live import Live
from wale_lab.sweeps.points import Point, points_of, scenarios_of, write_orders
from wale_lab.sweeps.results import Results
from wale_lab.tree import LAUNCHER
from wale_lab.units import show_count
from wale_lab.workers import Workers

#: The measure of the picture that is drawn unless another one is asked for.
GOODPUT = "goodput_Bps"


def sweep_command(args: argparse.Namespace) -> int:
    """The subcommand."""
    grid = parse_grid(args.set, args.seeds)
    out = Path(args.out or f"out/sweep-{Path(args.scenario).stem}")
    _check_axes(args, grid)
    options = schedule.options_of_cluster(args.cluster) + args.snakemake
    scenario = find_scenario(args.scenario)
    with Progress(quiet=args.quiet) as progress:
        progress(f"checking {show_count(len(grid), 'run')}")
        scenarios = scenarios_of(scenario, grid)
        make_folder(out)
        with alone(out):
            make_folder(out / "runs")
            build = build_of(args.kernel, progress)
            progress.done()
            points = points_of(scenarios, out / "runs", build, args.packets)
            write_orders(out / "sweep.json", scenario, grid, points, args.packets)
            results = Results(grid, points, args.x, args.kind, args.y)
            return _sweep(args, results, out, options)


def _sweep(args: argparse.Namespace, results: Results, out: Path, options: list[str]) -> int:
    """Make what is missing, and write what came out."""
    live = Live(results, out, args.quiet)
    # Runs with the same seed may be copies of one guest (engines/copies.py).
    missing = sorted(results.missing(), key=lambda point: point.order.seed)
    live.begin(missing, args.jobs)
    for point in missing:
        schedule.failure_of(point.path).unlink(missing_ok=True)
    failed: dict[str, str] = {}
    if missing and (args.cluster or args.snakemake):
        _make_on_cluster(args, out, missing, options, live)
    elif missing:
        with live.running():
            failed = make(missing, _words(args, out), args.jobs, live.tell)
    results.take(missing)
    return _finish(args, results, out, failed)


def _check_axes(args: argparse.Namespace, grid: Grid) -> None:
    """ScenarioError if --x is nothing that varies, or --y not told of links."""
    if args.x and args.x not in grid.dimensions:
        known = ", ".join(grid.dimensions) or "nothing"
        raise ScenarioError(f"--x {args.x}: expected a KEY with several values; {known} varies")
    if args.kind == "link" and args.y == GOODPUT:
        raise ScenarioError("--kind link: expected --y with it, such as utilisation")


def _options(args: argparse.Namespace) -> list[str]:
    """What `point` has to be told."""
    kernel = args.kernel or os.environ.get("WALE_KERNEL")
    return ["--kernel", kernel] if kernel else []


def _words(args: argparse.Namespace, out: Path) -> Callable[[Point], list[str]]:
    """The command line that makes a run."""
    options = _options(args)
    return lambda point: [
        "point", str(out / "sweep.json"), point.key, f"--out={point.path}", *options
    ]  # fmt: skip


def make(
    missing: list[Point],
    words: Callable[[Point], list[str]],
    jobs: int,
    tell: Callable[[int], None],
) -> dict[str, str]:
    """Make runs, so many at once; why some failed, by key.

    `tell` is called with the number of those done.  A run that fails or hangs, or a worker that
    is killed, costs that run alone.
    """
    workers = Workers()
    failed: dict[str, str] = {}
    done = 0

    def make_one(point: Point) -> None:
        made = workers.do(words(point))
        if made.code:
            raise EngineError(made.why)

    def ended(points: list[tuple[Point, BaseException | None]]) -> None:
        nonlocal done
        for point, error in points:
            if error is not None:
                failed[point.key] = str(error)
        done += len(points)
        tell(done)

    workers.do_all(missing, make_one, jobs, ended, (EngineError, ScenarioError, OSError))
    return failed


def _make_on_cluster(
    args: argparse.Namespace, out: Path, missing: list[Point], options: list[str], live: Live
) -> None:
    """Have Snakemake make them, as it makes those of studies."""
    schedule.check()
    needs = {p.key: schedule.needs(p.scenario.memory_mb, p.scenario.wall_limit) for p in missing}
    config: dict[str, Any] = {
        "launcher": LAUNCHER,
        "papers": str(out.resolve()),  # of no study
        "results": str(out.resolve()),
        "options": _options(args),
        "studies": {str((out / "sweep.json").resolve()): needs},
        "tables": False,
    }
    schedule.make(out, config, args.jobs, options, args.quiet, live.refresh)


def _finish(args: argparse.Namespace, results: Results, out: Path, failed: dict[str, str]) -> int:
    """The tables and the picture of what was made; 1 if a run failed or has a problem."""
    files = results.write(out, all_of_it=True)
    undrawn = None
    try:
        files += results.draw(out)
    except ScenarioError as error:
        undrawn = error
    trouble = results.problems()
    for point in results.missing():
        failure = schedule.failure_of(point.path)
        said = failed.get(point.key, "it was not made")
        if failure.exists():
            said = failure.read_text(encoding="utf-8").strip()
        trouble.append((point.order, said))
    if files and args.json:
        means = results.means()
        assert means is not None
        print(means.to_json(orient="records"))
    elif files:
        print("\n".join(map(str, files)))
    for order, line in trouble:
        print(f"wale-lab: {line}\n  to repeat it: {_repeat(args, results, order)}", file=sys.stderr)
    if undrawn:
        raise undrawn
    return 1 if trouble else 0


def _repeat(args: argparse.Namespace, results: Results, order: Order) -> str:
    """The `wale-lab run` that a run is."""
    words = [f"--set={o}" for o in results.grid.overrides(order)]
    words += [f"--kernel={args.kernel}"] if args.kernel else []
    words += [f"--seed={order.seed}", *(["--packets"] if args.packets else [])]
    return shlex.join(["wale-lab", "run", *words, args.scenario])
