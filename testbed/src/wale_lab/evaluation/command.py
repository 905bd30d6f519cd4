# SPDX-License-Identifier: GPL-2.0
"""`wale-lab evaluate`: make the runs of the rows, judge them, and write the report."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wale_lab.engines.base import Kernel
from wale_lab.engines.kernel_build import congestion_controls
from wale_lab.errors import ScenarioError
from wale_lab.evaluation.outcome import (
    CellJob,
    Records,
    cell_data,
    digest_of,
    judge,
    row_data,
)
from wale_lab.evaluation.rows import DEPLOYED, Named, choose
from wale_lab.evaluation.runs import Maker, Place, Point, make_point
from wale_lab.evaluation.scenes import Subject, slug
from wale_lab.files import alone, make_folder
from wale_lab.progress import Progress
from wale_lab.refusal import check_control
from wale_lab.studies.points import build_of
from wale_lab.studies.schedule import show_span
from wale_lab.units import show_count

#: Counts up when a key of evaluation.json changes its meaning.
FORMAT = 1

#: Between two lines that say how far it is, where there is no terminal, seconds.
_SAY_EACH_S = 15

#: --quick: so many seeds, and no more.
_QUICK_SEEDS = 3


class Evaluation:
    """A control, those that it is compared with, and the rows."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        chosen = choose(args.rows)
        self.rows = [named for named in chosen if named.row.unable or named.row.chosen(args.quick)]
        if not self.rows:
            names = ", ".join(named.name for named in chosen)
            raise ScenarioError(f"--quick: expected rows with a cell that is quick, got {names}")
        self.subject, self.references = _subjects(args)
        self.out = Path(args.out or "out/evaluation")
        self.jobs: list[CellJob] = []
        self.failed: dict[str, str] = {}
        self.optional: set[str] = set()

    @property
    def subjects(self) -> list[Subject]:
        """All that run: the control, then the others."""
        others = [one for one in self.references if one.label != self.subject.label]
        return [self.subject, *others]

    def prepare(self, progress: Progress) -> tuple[Place, Kernel]:
        """Have everything built, and look at each scenario."""
        versions = dict.fromkeys(one.kernel for one in self.subjects)
        builds = {version: build_of(version, progress) for version in versions}
        files = tuple(path.resolve() for path in self.args.module_files)
        place = Place(self.out, builds, files, self.subject.label)
        for named in self.rows:
            if named.row.unable is not None:
                continue
            progress(f"checking the row {named.name}")
            for name, cell in named.row.chosen(self.args.quick).items():
                seeds = self._seeds(named)
                job = CellJob(named, name, cell, 0)
                self._add_seeds(job, seeds, place)
                self.jobs.append(job)
        self._check_files()
        return place, builds[self.subject.kernel].kernel

    def _seeds(self, named: Named) -> int:
        least = named.row.seeds.least
        return min(least, _QUICK_SEEDS) if self.args.quick else least

    def _add_seeds(self, job: CellJob, seeds: int, place: Place) -> None:
        for seed in range(job.seeds + 1, seeds + 1):
            for subject in self.subjects:
                for run in job.named.row.runs:
                    point = make_point(job.named, job.name, job.cell, run, subject, seed, place)
                    job.points[subject.label, run, seed] = point
        job.seeds = seeds

    def _check_files(self) -> None:
        """Refuse cells whose scenarios would have one file."""
        found: dict[str, Point] = {}
        for job in self.jobs:
            for point in job.points.values():
                other = found.setdefault(point.file, point)
                if other is not point:
                    raise ScenarioError(
                        f"{job.named.document.name}: the cells {other.cell!r} of {other.row} and "
                        f"{point.cell!r} of {point.row} have one file, {point.file}; expected "
                        "names that differ in letters or digits"
                    )

    def make(self, records: Records) -> None:
        """Make what is missing; then more seeds where the intervals are wide, and so on."""
        place = records.place
        maker = Maker(place, self.args.jobs)
        maker.failed, maker.optional = self.failed, self.optional
        while True:
            missing = self._missing(place)
            if missing:
                maker.make(missing.values(), _teller(maker, missing, place, self.args.quiet))
            if self.args.quick or not self._more(records):
                return

    def _missing(self, place: Place) -> dict[str, Point]:
        every = [point for job in self.jobs for point in job.points.values()]
        return {
            point.key: point
            for point in every
            if point.key not in self.failed and not place.path(point).exists()
        }

    def _more(self, records: Records) -> bool:
        """Give more seeds to cells that are not settled; False if there are none."""
        more = False
        for job in self.jobs:
            most = job.named.row.seeds.most
            if job.seeds >= most:
                continue
            judged = [
                judge(job, name, metric, self.subject, self.references, records)
                for name, metric in job.named.row.metrics_of(job.cell).items()
            ]
            if not all(one.settled for one in judged):
                self._add_seeds(job, min(job.seeds + 2, most), records.place)
                more = True
        return more

    def judged(self, records: Records, kernel: Kernel) -> dict[str, Any]:
        """All of it as plain data."""
        labels = [one.label for one in self.references if one.label != self.subject.label]
        rows = []
        for named in self.rows:
            cells = [
                cell_data(job, self.subject, self.references, records)
                for job in self.jobs
                if job.named is named
            ]
            rows.append(row_data(named, cells, labels))
        return {
            "format": FORMAT,
            "subject": self.subject.label,
            "kernel": kernel.release,
            "against": labels,
            "quick": self.args.quick,
            "command": self._repeat(),
            "digest": digest_of(rows),
            "rows": rows,
        }

    def _repeat(self) -> str:
        """The command line, for the report; with WALE_ROWS if a row is from there."""
        own = [named for named in self.rows if not named.is_ours]
        rows = f"WALE_ROWS={shlex.quote(os.environ['WALE_ROWS'])} " if own else ""
        return rows + _command_line(self.args)


def _subjects(args: argparse.Namespace) -> tuple[Subject, list[Subject]]:
    """What is judged, and what it is compared with."""
    kernels = args.kernel or []
    if len(kernels) > 2 or (len(kernels) == 2 and not args.against):
        raise ScenarioError(
            "--kernel: expected it once; or twice with --against, the second one for that"
        )
    first = kernels[0] if kernels else None
    second = kernels[1] if len(kernels) > 1 else first
    if (args.cc is None) == (args.program is None):
        raise ScenarioError("expected the name of a congestion control, or --program")
    if args.serve is not None and args.program is None:
        raise ScenarioError("--serve: expected it with --program, whose server it is")
    twice = first != second
    label = args.cc or "program"
    subject = Subject(
        f"{label} on {first}" if twice else label, args.cc or "", first, args.program, args.serve
    )
    names = list(dict.fromkeys(args.against or DEPLOYED))
    others = [Subject(f"{name} on {second}" if twice else name, name, second) for name in names]
    if not args.module_files and not any("/" in kernel for kernel in kernels):
        for option, name in (("CC", args.cc), *(("--against", name) for name in names)):
            if name:
                check_control(name, congestion_controls(), option)
    if all(one.label == subject.label for one in others):
        raise ScenarioError(f"--against: expected another control than {subject.label}")
    if args.module_files and any(one.label == subject.label for one in others):
        raise ScenarioError(
            f"--module: expected a control with a name of its own, not {subject.label}, with which "
            "it is compared"
        )
    return subject, others


def _command_line(args: argparse.Namespace) -> str:
    """The command that repeats an evaluation."""
    words = ["wale-lab", "evaluate", *([args.cc] if args.cc else [])]
    words += [f"--module={path}" for path in args.module_files]
    for option in ("against", "kernel"):
        words += [f"--{option}={value}" for value in getattr(args, option) or []]
    for option in ("program", "serve"):
        words += [f"--{option}={getattr(args, option)}"] if getattr(args, option) else []
    words += [f"--rows={','.join(args.rows)}"] if args.rows else []
    return shlex.join([*words, *(["--quick"] if args.quick else [])])


def _teller(
    maker: Maker, missing: dict[str, Point], place: Place, quiet: bool
) -> Callable[[], None]:
    """What says how far it is, and how long it will take, from what runs of each row took."""
    last = time.monotonic()
    waiting = dict(missing)

    def left_s() -> float:
        known = [second for each in maker.seconds.values() for second in each]
        usual = sum(known) / len(known) if known else 0.0
        for key, point in list(waiting.items()):
            if key in maker.failed or place.path(point).exists():
                del waiting[key]
        means = {row: sum(each) / len(each) for row, each in maker.seconds.items()}
        return sum(means.get(point.row, usual) for point in waiting.values()) / maker.jobs

    def say() -> None:
        nonlocal last
        now = time.monotonic()
        if quiet or now - last < _SAY_EACH_S:
            return
        last = now
        seconds = left_s()
        left = f", about {show_span(seconds)} left" if maker.seconds else ""
        done = len(missing) - len(waiting)
        print(
            f"wale-lab: {done} of {show_count(len(missing), 'run')}{left}",
            file=sys.stderr,
            flush=True,
        )

    if not quiet:
        todo = show_count(len(missing), "run")
        print(f"wale-lab: {todo}, {maker.jobs} at once", file=sys.stderr, flush=True)
    return say


def evaluate_command(args: argparse.Namespace) -> int:
    """The subcommand."""
    if args.list:
        return _list(args)
    evaluation = Evaluation(args)
    make_folder(evaluation.out)
    with alone(evaluation.out):
        make_folder(evaluation.out / "runs")
        with Progress(quiet=args.quiet) as progress:
            place, kernel = evaluation.prepare(progress)
        records = Records(place, evaluation.failed)
        evaluation.make(records)
    data = evaluation.judged(records, kernel)
    from wale_lab.evaluation.report import without_series, write_report

    folder = evaluation.out / slug(evaluation.subject.label + (" quick" if args.quick else ""))
    files = write_report(folder, data)
    if args.json:
        print(json.dumps(without_series(data), indent=2))
    elif not args.quiet:
        _print(data)
        print("\n".join(map(str, files)))
    failed = {k: why for k, why in evaluation.failed.items() if k not in evaluation.optional}
    for why in dict.fromkeys(failed.values()):
        print(f"wale-lab: a run failed: {why}", file=sys.stderr)
    verdicts = {row["verdict"] for row in data["rows"]}
    if unjudged := verdicts == {None}:
        print("wale-lab: none of the rows could be judged", file=sys.stderr)
    return 1 if "worse" in verdicts or failed or unjudged else 0


def _list(args: argparse.Namespace) -> int:
    """`--list`: the rows that there are."""
    rows = choose(args.rows)
    if args.json:
        found = [{"name": r.name, "set": r.set, "title": r.row.title} for r in rows]
        print(json.dumps(found, indent=2))
        return 0
    for named in rows:
        source = named.row.source
        what = f"cannot be judged yet: {named.row.unable}" if named.row.unable else named.row.title
        print(f"{named.set}/{named.name:24} {source.document}, {source.section}: {what}")
    return 0


def _print(data: dict[str, Any]) -> None:
    """A line for each row."""
    from rich.console import Console
    from rich.markup import escape

    looks = {"worse": "[red]worse[/red] ", "better": "[green]better[/green]", "like": "like  "}
    console = Console(highlight=False, width=max(100, int(os.environ.get("COLUMNS", "100"))))
    for row in data["rows"]:
        count = row["count"]
        if row["verdict"] is None:
            said = f"      - {row['name']}: cannot be judged: {row['unable']}"
            console.print(escape(said), soft_wrap=True)
            continue
        said = f"worse {count['worse']}, like {count['like']}, better {count['better']}"
        line = f"{looks[row['verdict']]} {escape(row['name'])}: {escape(row['title'])} ({said})"
        console.print(f"  {line}", soft_wrap=True)
