# SPDX-License-Identifier: GPL-2.0
"""The runs of an evaluation: made as they are needed, kept by what goes into them.

A run's file is runs/KEY.json, where KEY covers its scenario, seed and build (studies/points.py),
the modules that are loaded beside ours, what is measured, and the code that measures.  What is
there is current, whoever it was made for: an evaluation that was stopped goes on where it was, and
the next control finds the runs of Reno, CUBIC and BBR.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from wale_lab import yaml_lines
from wale_lab.errors import ScenarioError
from wale_lab.evaluation import metrics
from wale_lab.evaluation.measure import MEASURES, Ask, NoValueError, Seen, measure
from wale_lab.evaluation.rows import Cell, Metric, Named
from wale_lab.evaluation.scenes import Subject, scene, slug
from wale_lab.files import write_whole
from wale_lab.results.series import bin_of
from wale_lab.scenario import Scenario, check_scenario
from wale_lab.studies.points import Build, point_key
from wale_lab.tree import PACKAGE
from wale_lab.workers import Workers

#: The code that makes values of a run's files.
_CODE = (
    PACKAGE / "evaluation/measure.py",
    PACKAGE / "evaluation/metrics.py",
    PACKAGE / "evaluation/runs.py",
    PACKAGE / "results/series.py",
)

#: Programs of rows: the module that they are started by, and their code.
_MEDIA, _MEDIA_CODE = "wale_lab.scenarios.media", tuple((PACKAGE / "scenarios/media").glob("*.py"))

#: What is kept to draw a run: at most so many flows, and points of each.
_MOST_FLOWS, _MOST_POINTS = 8, 120


@dataclass(frozen=True)
class Point:
    """A run that is needed."""

    row: str
    cell: str
    run: str
    subject: Subject
    seed: int
    key: str
    text: str
    """the scenario"""
    asks: dict[str, tuple[str, Ask]]
    """measures by the metric that they are for"""
    optional: str = ""
    """why there may be no such run"""

    @property
    def file(self) -> str:
        """The name of its scenario's file."""
        parts = [self.row, slug(self.cell), "" if self.run == "main" else self.run]
        return "-".join(filter(None, [*parts, slug(self.subject.label), f"{self.seed}.yaml"]))


@dataclass(frozen=True)
class Place:
    """Where runs are made: the folder, and what each subject needs."""

    out: Path
    builds: dict[str | None, Build]
    """by the version of the kernel"""
    modules: tuple[Path, ...]
    """of the control under test"""
    loaded_by: str
    """the label of the subject that has them"""

    def path(self, point: Point) -> Path:
        """The file of a run."""
        return self.out / "runs" / f"{point.key}.json"

    def scenario_path(self, point: Point) -> Path:
        """The file of its scenario."""
        return self.out / "scenarios" / point.file

    def words(self, point: Point) -> list[str]:
        """Of the `wale-lab run` that it is, but for the scenario."""
        words = [f"--seed={point.seed}"]
        words += [f"--kernel={point.subject.kernel}"] if point.subject.kernel else []
        return words + [f"--module={path}" for path in self._modules(point.subject, point.run)]

    def _modules(self, subject: Subject, run: str) -> tuple[Path, ...]:
        return self.modules if subject.label == self.loaded_by and run == "main" else ()

    def loaded(self, subject: Subject, run: str) -> str:
        """What is in a key of the modules that are loaded."""
        return _digests(self._modules(subject, run))


def ask_of(metric: Metric, named: Named, cell: Cell) -> Ask:
    """What a metric asks of a run."""
    begin, end = named.row.window_of(cell, metric)
    since = begin if metric.since is None else metric.since
    return Ask(
        metric.flows, begin / 1e9, end / 1e9, metric.percent, since / 1e9, metric.goal,
        metric.least, metric.most, metric.bin / 1e9,
    )  # fmt: skip


@cache
def _digests(files: tuple[Path, ...]) -> str:
    return "".join(hashlib.sha256(path.read_bytes()).hexdigest() for path in files)


def make_point(
    named: Named, cell_name: str, cell: Cell, run: str, subject: Subject, seed: int, place: Place
) -> Point:
    """A run of a row; ScenarioError says what is wrong with it."""
    text = scene(named, cell_name, cell, run, subject, seed)
    where = f"{named.document.name}, cell {cell_name or named.name}"
    scenario = check_scenario(yaml_lines.parse(text, where), [], named.folder)
    if run == "main":
        _check_metrics(where, named, cell, scenario)
    asks = {
        name: (metric.measure, ask_of(metric, named, cell))
        for name, metric in named.row.metrics_of(cell).items()
        if run == "main" or metric.harm
    }
    extra = {
        "evaluation": _digests(_CODE),
        "asks": {name: [what, vars(ask)] for name, (what, ask) in asks.items()},
        "modules": place.loaded(subject, run),
    }
    if scenario.needs_net():
        extra["flavour"] = _digests((PACKAGE / "engines/kernel-net.config",))
    if _MEDIA in text:
        extra["programs"] = _digests(tuple(sorted(_MEDIA_CODE)))
    key = point_key(scenario, seed, extra, place.builds[subject.kernel])
    return Point(named.name, cell_name, run, subject, seed, key, text, asks, cell.optional)


def _check_metrics(where: str, named: Named, cell: Cell, scenario: Scenario) -> None:
    """Refuse metrics of no flow, or of a time that no run has."""
    names = [flow.name for flow in scenario.flows]
    for name, metric in named.row.metrics_of(cell).items():
        if named.row.window_of(cell, metric)[1] > scenario.virtual_limit:
            raise ScenarioError(
                f"{where}: metrics.{name}: expected a window that ends before virtual_limit does"
            )
        if not fnmatch.filter(names, metric.flows):
            raise ScenarioError(
                f"{where}: metrics.{name}.flows: expected a pattern for some of "
                f"{', '.join(names)}, got {metric.flows!r}"
            )


def record_of(folder: Path, point: Point, seconds: float) -> dict[str, Any]:
    """What is kept of a run."""
    seen = Seen(folder)
    values: dict[str, float | str] = {}
    for name, (what, ask) in point.asks.items():
        try:
            values[name] = measure(what, seen, ask)
        except NoValueError as error:
            values[name] = str(error)
    result = seen.series.result
    record = {
        "row": point.row,
        "cell": point.cell,
        "run": point.run,
        "subject": point.subject.label,
        "seed": point.seed,
        "kernel": result["kernel"],
        "digest": result["digest"],
        "warnings": result["warnings"],
        "unfinished": [flow["name"] for flow in result["flows"] if not flow["completed"]],
        "seconds": round(seconds, 3),
        "values": values,
    }
    return record | ({"series": _series(seen)} if point.seed == 1 else {})


def _series(seen: Seen) -> dict[str, Any]:
    """What a plot of the run takes: throughput of flows, and what waits at the link."""
    step = bin_of([seen.series])
    found: dict[str, Any] = {"flows": {}}
    for flow in seen.series.flows[:_MOST_FLOWS]:
        curve = seen.series.throughput(flow, step)
        if curve is not None:
            found["flows"][flow["name"]] = [_short(values) for values in curve]
    waits = seen.series.waiting(seen.link) if seen.series.links else None
    if waits is not None:
        found["queueing_delay_ms"] = [_short(values) for values in waits]
    return found


def _short(values: Any) -> list[float]:
    step = max(len(values) // _MOST_POINTS, 1)
    return [float(f"{value:.4g}") for value in values[::step] if value == value]


class Maker:
    """Makes runs, so many at once."""

    def __init__(self, place: Place, jobs: int) -> None:
        self.place = place
        self.jobs = jobs
        self.failed: dict[str, str] = {}
        """why a run has no record, by its key"""
        self.optional: set[str] = set()
        """keys of those of which that was to be expected"""
        self.seconds: dict[str, list[float]] = {}
        """what runs took, by row"""

    def make(self, points: Iterable[Point], tell: Callable[[], None]) -> None:
        """Make those that are not there; `tell` is called from time to time.

        ScenarioError if a guest refuses a scenario.
        """
        workers = Workers()
        workers.do_all(
            points, lambda point: self._make(point, workers), self.jobs, lambda _: tell()
        )

    def _make(self, point: Point, workers: Workers) -> None:
        began = time.monotonic()
        path = self.place.scenario_path(point)
        write_whole(path, point.text)
        with tempfile.TemporaryDirectory(prefix="wale-evaluate-") as folder:
            words = ["run", "--quiet", f"--out={folder}", *self.place.words(point), "--", str(path)]
            done = workers.do(words)
            said = done.why.splitlines()[0]
            if done.code == 2 and "or --module with yours" in said:
                raise ScenarioError(said)
            if done.code == 2 and point.optional:
                self.failed[point.key] = point.optional
                self.optional.add(point.key)
                return
            if done.code not in (0, 1) or not Path(folder, "result.json").exists():
                self.failed[point.key] = said
                return
            seconds = time.monotonic() - began
            record = record_of(Path(folder), point, seconds)
        write_whole(self.place.path(point), json.dumps(record) + "\n")
        self.seconds.setdefault(point.row, []).append(seconds)


def value_of(
    metric_name: str, metric: Metric, main: dict[str, Any], alone: dict[str, Any] | None
) -> float:
    """A metric of a seed, from its runs; NoValueError if there is none."""
    values = [record["values"][metric_name] for record in (alone, main) if record is not None]
    for value in values:
        if isinstance(value, str):
            raise NoValueError(value)
    if not metric.harm:
        return float(values[-1])
    return metrics.harm(
        float(values[0]), float(values[-1]), MEASURES[metric.measure].more_is_better
    )
