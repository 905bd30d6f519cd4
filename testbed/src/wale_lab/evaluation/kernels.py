# SPDX-License-Identifier: GPL-2.0
"""A scenario on several kernels, and what differs by more than its interval.

Nothing of the machine is in a number, so a difference of one seed is one of the kernels; over
seeds, the 95 % interval of the paired differences tells one that lasts from one of chance.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wale_lab.engines.base import EngineError
from wale_lab.errors import ScenarioError
from wale_lab.evaluation.judge import Interval, mean_interval
from wale_lab.evaluation.scenes import delayed
from wale_lab.files import write_whole
from wale_lab.progress import Progress
from wale_lab.scenario import Scenario, find_scenario, load_scenario
from wale_lab.studies.points import build_of, point_key
from wale_lab.sweeps.grid import parse_seeds
from wale_lab.sweeps.points import read_record
from wale_lab.units import parse_time_ns
from wale_lab.workers import Workers

#: A number of a run: whose it is (flow or link), its name, and what it is.
Cell = tuple[str, str, str]


@dataclass(frozen=True)
class Difference:
    """A number that differs."""

    cell: Cell
    before: float
    """mean with the first kernel"""
    after: float
    difference: Interval

    @property
    def percent(self) -> float:
        """The mean difference, of what it was; infinite if that was nothing."""
        return 100 * self.difference.mean / abs(self.before) if self.before else math.inf

    def data(self) -> dict[str, Any]:
        """As JSON has it."""
        half = self.difference.half
        return {
            "kind": self.cell[0],
            "name": self.cell[1],
            "measure": self.cell[2],
            "before": self.before,
            "after": self.after,
            "difference": self.difference.mean,
            "ci95": half if math.isfinite(half) else None,
            "percent": self.percent if math.isfinite(self.percent) else None,
        }


def shared(runs: list[dict[Cell, float]]) -> set[Cell]:
    """The numbers that all runs have."""
    return set.intersection(*map(set, runs))


def differences(
    before: list[dict[Cell, float]], after: list[dict[Cell, float]]
) -> list[Difference]:
    """What differs by more than its interval, of runs of the same seeds; the largest first.

    Of one seed there is no interval, and everything that is not the same differs.  A number that
    one of the kernels does not have is left out.
    """
    found = []
    for cell in sorted(shared([*before, *after])):
        pairs = [(x[cell], y[cell]) for x, y in zip(before, after, strict=True)]
        between = mean_interval([y - x for x, y in pairs])
        lasts = between.count == 1 or abs(between.mean) > between.half
        if between.mean and lasts:
            means = [sum(each) / len(pairs) for each in zip(*pairs, strict=True)]
            found.append(Difference(cell, means[0], means[1], between))
    return sorted(found, key=lambda one: -abs(one.percent))


def _run(words: list[str], path: Path, workers: Workers) -> dict[str, Any]:
    """The record of a run, from its file if it was made before."""
    from wale_lab.sweeps.table import record_of

    record = read_record(path)
    if record is None:
        with tempfile.TemporaryDirectory(prefix="wale-compare-") as folder:
            done = workers.do(["run", "--quiet", f"--out={folder}", *words])
            if not Path(folder, "result.json").exists():
                kind = ScenarioError if done.code == 2 else EngineError
                raise kind(done.why.splitlines()[0])
            record = record_of(Path(folder))
            write_whole(path, json.dumps(record) + "\n")
    return record


def _run_all(orders: list[tuple[list[str], Path]], jobs: int) -> list[dict[str, Any]]:
    """Their records, in their order; the first that fails ends all."""
    workers = Workers()
    records: dict[int, dict[str, Any]] = {}

    def run(number: int) -> None:
        records[number] = _run(*orders[number], workers)

    workers.do_all(range(len(orders)), run, jobs)
    return [records[number] for number in range(len(orders))]


def parse_spread(text: str) -> int:
    """The time of --spread, ns."""
    try:
        return parse_time_ns(text)
    except ValueError as error:
        raise ScenarioError(f"--spread {text}: {error}") from None


@dataclass(frozen=True)
class Wanted:
    """A run that each kernel makes."""

    path: Path
    overrides: list[str]
    scenario: Scenario
    seed: int


def wanted_of(args: argparse.Namespace) -> list[Wanted]:
    """The run of each seed; ScenarioError if an option or the scenario is wrong."""
    path = find_scenario(args.scenario)
    plain = load_scenario(path, args.set)
    spread_ns = parse_spread(args.spread)
    found = []
    for seed in parse_seeds(args.seeds):
        late = [
            f"flows.{flow.name}.start={flow.start + delayed(seed, flow.name, spread_ns)}ns"
            for flow in plain.flows
            if spread_ns and flow.after is None
        ]
        overrides = [*args.set, *late]
        found.append(
            Wanted(path, overrides, load_scenario(path, overrides) if late else plain, seed)
        )
    return found


def _orders(
    wanted: Sequence[Wanted], kernels: Sequence[str], out: Path, progress: Progress
) -> Iterator[tuple[list[str], Path]]:
    """The runs of each kernel: words of `wale-lab run`, and file."""
    for kernel in kernels:
        build = build_of(kernel, progress)
        for one in wanted:
            key = point_key(one.scenario, one.seed, {"compare": 1}, build)
            words = [f"--set={override}" for override in one.overrides]
            words += [f"--kernel={kernel}", f"--seed={one.seed}", "--", str(one.path)]
            yield words, out / "runs" / f"{key}.json"


def records_of(
    wanted: Sequence[Wanted], kernels: Sequence[str], out: Path, jobs: int, progress: Progress
) -> list[dict[str, Any]]:
    """The records of each kernel's seeds, kernel by kernel."""
    return _run_all(list(_orders(wanted, kernels, out, progress)), jobs)


def cells(records: list[dict[str, Any]]) -> list[dict[Cell, float]]:
    """The numbers of each record."""
    return [{(k, n, m): v for k, n, m, v in record["measures"]} for record in records]
