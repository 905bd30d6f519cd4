# SPDX-License-Identifier: GPL-2.0
"""From the records of runs to verdicts: plain data, which JSON, tables and the page are made of."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from wale_lab.evaluation.judge import (
    Comparison,
    Interval,
    Verdict,
    beside_deployed,
    compare,
    mean_interval,
    worst,
)
from wale_lab.evaluation.measure import MEASURES, NoValueError
from wale_lab.evaluation.rows import Cell, Metric, Named
from wale_lab.evaluation.runs import Place, Point, value_of
from wale_lab.evaluation.scenes import Subject
from wale_lab.sweeps.points import read_record

#: Points of a cell, by subject, run and seed.
CellPoints = dict[tuple[str, str, int], Point]


@dataclass
class CellJob:
    """A cell of a row, and the runs that it has so far."""

    named: Named
    name: str
    cell: Cell
    seeds: int
    points: CellPoints = field(default_factory=dict)


@dataclass(frozen=True)
class Judged:
    """A metric of a cell."""

    values: dict[str, list[float]]
    """of each seed, by subject"""
    intervals: dict[str, Interval]
    against: dict[str, Comparison]
    """by the one that the control is compared with"""
    verdict: Verdict | None
    """against what is deployed; None: it cannot be judged"""
    unable: str = ""
    """why not"""

    @property
    def settled(self) -> bool:
        """Would more seeds change nothing?"""
        return all(comparison.settled for comparison in self.against.values())


class Records:
    """The records of the runs that were made, each read once, and why others were not."""

    def __init__(self, place: Place, failed: dict[str, str]) -> None:
        self.place = place
        self.failed = failed
        self._known: dict[str, dict[str, Any]] = {}

    def of(self, point: Point) -> dict[str, Any]:
        """A record; NoValueError says why there is none."""
        if point.key not in self._known:
            record = read_record(self.place.path(point))
            if record is None:
                why = self.failed.get(point.key, "the run was not made")
                raise NoValueError(f"{point.subject.label}, seed {point.seed}: {why}")
            self._known[point.key] = record
        return self._known[point.key]


def values_of(job: CellJob, name: str, metric: Metric, label: str, records: Records) -> list[float]:
    """A metric for each seed; NoValueError says why one has none."""
    found = []
    for seed in range(1, job.seeds + 1):
        main = records.of(job.points[label, "main", seed])
        alone = records.of(job.points[label, "alone", seed]) if metric.harm else None
        try:
            found.append(value_of(name, metric, main, alone))
        except NoValueError as error:
            raise NoValueError(f"{label}, seed {seed}: {error}") from None
    return found


def judge(
    job: CellJob,
    name: str,
    metric: Metric,
    subject: Subject,
    references: list[Subject],
    records: Records,
) -> Judged:
    """A metric of a cell."""
    try:
        ours = values_of(job, name, metric, subject.label, records)
    except NoValueError as error:
        return Judged({}, {}, {}, None, str(error))
    values = {subject.label: ours}
    against, missing = {}, []
    better = "lower" if metric.harm else metric.better
    for reference in references:
        if reference.label == subject.label:
            continue
        try:
            theirs = values_of(job, name, metric, reference.label, records)
        except NoValueError as error:
            missing.append(str(error))
            continue
        values[reference.label] = theirs
        against[reference.label] = compare(ours, theirs, better, metric.margin)
    intervals = {label: mean_interval(each) for label, each in values.items()}
    own_kind = job.cell.victim
    if own_kind in against:
        verdict: Verdict | None = against[own_kind].verdict
    elif own_kind == subject.control and against:
        verdict = "like"  # it is that kind
    else:
        verdict = beside_deployed([one.verdict for one in against.values()])
    return Judged(values, intervals, against, verdict, "; ".join(missing[:1]))


def _number(value: float) -> float | None:
    """As JSON has it: no infinity."""
    return float(f"{value:.6g}") if abs(value) != float("inf") else None


def _metric_data(name: str, metric: Metric, judged: Judged) -> dict[str, Any]:
    unit = "" if metric.harm else metric.unit or MEASURES[metric.measure].unit
    return {
        "name": name,
        "title": metric.title,
        "unit": unit,
        "better": "lower" if metric.harm else metric.better,
        "harm": metric.harm,
        "verdict": judged.verdict,
        "unable": judged.unable,
        "subjects": {
            label: {
                "mean": _number(judged.intervals[label].mean),
                "ci95": _number(judged.intervals[label].half),
                "values": [_number(value) for value in each],
            }
            for label, each in judged.values.items()
        },
        "against": {
            label: {
                "verdict": one.verdict,
                "difference": _number(one.difference.mean),
                "ci95": _number(one.difference.half),
                "margin": _number(one.margin),
                "settled": one.settled,
            }
            for label, one in judged.against.items()
        },
    }


def _run_data(point: Point, records: Records) -> dict[str, Any]:
    place = records.place
    command = ["wale-lab", "run", *place.words(point), f"scenarios/{point.file}"]
    try:
        record = records.of(point)
    except NoValueError as error:
        record = {"failed": str(error)}
    found = {
        "subject": point.subject.label,
        "run": point.run,
        "seed": point.seed,
        "command": shlex.join(command),
        "digest": record.get("digest"),
        "unfinished": record.get("unfinished", []),
        "warnings": record.get("warnings", []),
        "failed": record.get("failed"),
    }
    return found | ({"series": record["series"]} if "series" in record else {})


def cell_data(
    job: CellJob, subject: Subject, references: list[Subject], records: Records
) -> dict[str, Any]:
    """A cell, with what was measured and judged."""
    judged = {
        name: judge(job, name, metric, subject, references, records)
        for name, metric in job.named.row.metrics_of(job.cell).items()
    }
    verdicts = [one.verdict for one in judged.values() if one.verdict is not None]
    return {
        "name": job.name,
        "victim": job.cell.victim,
        "seeds": job.seeds,
        "verdict": worst(verdicts),
        "metrics": [
            _metric_data(name, job.named.row.metrics[name], one) for name, one in judged.items()
        ],
        "runs": [_run_data(point, records) for point in job.points.values()],
    }


def row_data(named: Named, cells: list[dict[str, Any]], labels: list[str]) -> dict[str, Any]:
    """A row: its cells, and how often it is better, like and worse."""
    found = [metric for cell in cells for metric in cell["metrics"]]
    verdicts = [metric["verdict"] for metric in found if metric["verdict"]]
    reasons = [metric["unable"] for metric in found if metric["verdict"] is None]
    unable = named.row.unable or ("" if verdicts else "; ".join(sorted(set(reasons))[:2]))
    return {
        "name": named.name,
        "set": named.set,
        "title": named.row.title,
        "question": named.row.question,
        "applies": named.row.applies,
        "source": named.row.source.model_dump(),
        "unable": unable,
        "verdict": worst(verdicts),
        "count": {word: verdicts.count(word) for word in ("worse", "like", "better")},
        "not_judged": len(reasons),
        "against": {label: _against(found, label) for label in labels},
        "cells": cells,
    }


def _against(metrics: list[dict[str, Any]], label: str) -> dict[str, int]:
    verdicts = [m["against"][label]["verdict"] for m in metrics if label in m["against"]]
    return {word: verdicts.count(word) for word in ("worse", "like", "better")}


def digest_of(rows: Iterable[dict[str, Any]]) -> str:
    """One digest over those of all runs, in their order."""
    joined = hashlib.sha256()
    for row in rows:
        for cell in row["cells"]:
            for run in cell["runs"]:
                joined.update(f"{run['digest']}\n".encode())
    return joined.hexdigest()
