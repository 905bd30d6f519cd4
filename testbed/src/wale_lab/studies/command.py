# SPDX-License-Identifier: GPL-2.0
"""`wale-lab study`: the runs of studies, by Snakemake, then their tables.

Its rules call the subcommands `point` (one run) and `summary` (one table).
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from wale_lab.engines.base import EngineError
from wale_lab.errors import ScenarioError
from wale_lab.files import make_folder, write_whole
from wale_lab.progress import Progress
from wale_lab.results.measures import curves, measure
from wale_lab.results.result import problems
from wale_lab.runner import run_scenario
from wale_lab.studies import schedule
from wale_lab.studies.points import (
    Build,
    Point,
    build_of,
    drafts_of,
    find_build,
    made_with,
    points_of,
)
from wale_lab.studies.results import Check
from wale_lab.studies.study import (
    STUDIES,
    find_studies,
    load_study,
    options_of,
    repeat,
    show_x,
    study_names,
)
from wale_lab.studies.summary import summarise
from wale_lab.tree import LAUNCHER
from wale_lab.units import show_count

#: How many times its wall_limit a run may take on a kernel with sanitizers or counters, where it
#: takes tens of times as long as on the plain one that limits are made for.
PATIENCE = 4


@cache
def build(kernel: str | None) -> Build:
    """Kernel, modules and programs, built if need be."""
    return build_of(kernel, Progress(quiet=True))


def study_points(name: str, quick: bool, kernel: str | None) -> list[Point]:
    """The runs of a study."""
    return points_of(name, build(kernel), quick)


def make_point(args: argparse.Namespace) -> None:
    """One run of a study, for `wale-lab point`: its record, into its file."""
    point = _find_point(args)
    with tempfile.TemporaryDirectory(prefix="wale-point-") as temporary:
        record = _run(point, Path(args.keep or temporary), args)
    _check_build(args.kernel)
    write_whole(Path(args.out), json.dumps(record) + "\n")


def _find_point(args: argparse.Namespace) -> Point:
    for point in study_points(args.study, args.quick, args.kernel):
        if point.key == args.key:
            return point
    raise EngineError(
        f"{args.study} has no run {args.key}: what goes into it (scenario, sources, kernel) has "
        "changed since then; start `wale-lab study` again"
    )


def _check_build(kernel: str | None) -> None:
    """EngineError if what took part may be other than what the key of a run says."""
    before = build(kernel)
    if find_build(before.kernel, Progress(quiet=True)).digest != before.digest:
        raise EngineError(
            "modules, programs or sources changed while the run was made, which is not kept; "
            "start `wale-lab study` again"
        )


def _run(point: Point, folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """What is kept of the run; EngineError says which one failed, why, and how to repeat it."""
    try:
        limit_s = wall_limit_s(point, build(args.kernel))
        result = run_scenario(
            point.scenario, point.seed, folder, kernel_version=args.kernel, wall_limit_s=limit_s
        )
        if trouble := problems(result):
            raise EngineError("\n".join(trouble))
        return _record(point, result, folder)
    except (EngineError, ValueError) as error:
        rows = ", ".join(dict.fromkeys(cell.row for cell in point.cells))
        x = point.cells[0].x
        at = f" at {show_x(x)}" if x != "" else ""
        out = ["--out", "/tmp/run.json", "--keep", "/tmp/run"]
        command = repeat("point", args.study, point.key, *out, *_options(args))
        raise EngineError(
            f"{args.study}: scenario {point.scenario.name}{at}, seed {point.seed}, failed "
            f"(rows: {rows})\n{error}\nto repeat it: {command}"
        ) from None


def _record(point: Point, result: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What is kept of a run."""
    isolated = point.scenario.isolate
    flows = {cell.row: cell.flow for cell in point.cells}
    return {
        "scenario": point.scenario.name,
        "seed": point.seed,
        "kernel": result["kernel"],
        "digest": result["digest"],
        "warnings": result["warnings"],
        "wall_s": result["wall_s"],
        "flow_s": round(sum(flow["seconds"] or 0 for flow in result["flows"]), 3),
        "flows": measure(result, point.scenario, point.seed),
        "curves": {
            row: curves(folder, flows[row], curve, f"{flows[row]}." if isolated else "")
            for row, curve in point.curves.items()
        },
    }


def summary_command(args: argparse.Namespace) -> int:
    """`wale-lab summary`: the table of one study, from its runs."""
    results = Path(args.results)
    points = study_points(args.study, args.quick, args.kernel)
    if any(not (results / "runs" / f"{point.key}.json").is_file() for point in points):
        raise ScenarioError(
            f"--results {results}: expected all runs of {args.study}; `wale-lab study` makes them"
        )
    out = results / args.study
    summarise(args.study, points, results / "runs", out, args.quick, args.kernel)
    return 0


def study_command(args: argparse.Namespace) -> int:
    """`wale-lab study`: the missing runs of studies, and a line for each check."""
    if args.list:
        return _list(args.json)
    if not args.studies:
        raise ScenarioError("expected a study, a paper, or all; `wale-lab study --list` names them")
    names = find_studies(args.studies)
    schedule.check()
    results = Path(args.results)
    drafts = {name: drafts_of(name, args.quick) for name in names}
    make_folder(results / "runs", "--results")
    with Progress(quiet=args.quiet) as progress:
        built = build_of(args.kernel, progress)
    studies = {
        name: {p.key: _needs(p, built) for p in made_with(built, drafts[name])} for name in names
    }
    config = {
        "launcher": LAUNCHER,
        "papers": str(STUDIES),
        "results": str(results.resolve()),
        "options": _options(args),
        "studies": studies,
        "tables": True,
    }
    options = schedule.options_of_cluster(args.cluster) + args.snakemake
    if not schedule.make(results, config, args.jobs, options, args.quiet):
        return 1
    return _report(names, results, args)


def _list(as_json: bool) -> int:
    """`--list`: the studies that there are."""
    studies = [{"name": name, "title": load_study(name).title} for name in study_names()]
    if as_json:
        print(json.dumps(studies, indent=2))
        return 0
    for study in studies:
        print(f"{study['name']:32} {study['title']}")
    return 0


def _options(args: argparse.Namespace) -> list[str]:
    """What `point` and `summary` have to be told."""
    return options_of(args.quick, args.kernel or os.environ.get("WALE_KERNEL"))


def wall_limit_s(point: Point, built: Build) -> float:
    """How long a run may take on this kernel."""
    return point.scenario.wall_limit / 1e9 * (PATIENCE if built.kernel.flavour else 1)


def _needs(point: Point, built: Build) -> dict[str, int]:
    """What a run asks of a cluster: the guest and its programs; its limit, and some minutes."""
    return schedule.needs(point.scenario.memory_mb, wall_limit_s(point, built) * 1e9)


def _report(names: list[str], results: Path, args: argparse.Namespace) -> int:
    """A line for each check; 1 if one failed, or a known deviation is gone."""
    data = [json.loads((results / name / "study.json").read_text()) for name in names]
    checks = [Check.model_validate(check) for study in data for check in study["checks"]]
    if args.json:
        print(json.dumps(data, indent=2))
    elif not args.quiet:
        _print_checks(data, results)
    return 0 if all(check.as_expected for check in checks) else 1


#: How a line for a check begins, and what it says at its end.
_WORDS = {
    "not asked": "-     ",
    "ok": "[green]ok[/green]    ",
    "known": "[yellow]known[/yellow] ",
    "not ok": "[red]not ok[/red]",
    "gone": "[red]not ok[/red]",
}
_WHY = {
    "known": " (does not hold, as is known)",
    "gone": " (holds; its study has `known`, that it does not: take that out)",
}


def _print_checks(data: list[dict[str, Any]], results: Path) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    for study in data:
        runs = show_count(study["runs"], "run")
        console.print(
            f"[bold]{study['name']}[/bold] {escape(study['title'])}: {runs}, "
            f"{study['virtual_s']:.0f} virtual seconds in {study['wall_s']:.0f} wall seconds",
            soft_wrap=True,
        )
        for check in map(Check.model_validate, study["checks"]):
            said = escape(f"{check.text}: {check.value}{_WHY.get(check.verdict, '')}")
            console.print(f"  {_WORDS[check.verdict]} {said}", soft_wrap=True)
            if check.known:
                console.print(f"         {escape(check.known)}", soft_wrap=True)
        console.print(f"  {results / study['name'] / 'summary.csv'}", soft_wrap=True, markup=False)
