# SPDX-License-Identifier: GPL-2.0
"""The rows of an evaluation: a YAML file each, rows/SET/NAME.yaml, and what it may say.

WALE_ROWS=DIR in the environment: sets of rows of one's own, DIR/SET/NAME.yaml, beside ours.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator

from wale_lab import yaml_lines
from wale_lab.checking import checked
from wale_lab.errors import ScenarioError
from wale_lab.evaluation.judge import Better, Margin
from wale_lab.evaluation.measure import MEASURES
from wale_lab.fields import STRICT, TimeNs, quantity
from wale_lab.tree import PACKAGE
from wale_lab.yaml_lines import Document

#: Ours.
ROWS = PACKAGE / "evaluation" / "rows"

#: What stands for the control under test.
CONTROL = "{cc}"

#: What a control is compared with.
DEPLOYED = ("reno", "cubic", "bbr")


class Strict(BaseModel):
    """Unknown keys are errors."""

    model_config = STRICT


def _margin(value: object) -> object:
    """A number, or a share of the reference's value such as 5%."""
    text = str(value).strip()
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", text)
    if isinstance(value, bool) or not match:
        raise ValueError(f"expected a share such as 10%, or a number, got {value!r}")
    return Margin(float(match[1]) / (100 if match[2] else 1), bool(match[2]))


class Source(Strict):
    """Where a row comes from."""

    document: str
    """such as RFC 9743"""
    section: str
    """number and heading there"""
    weight: str = ""
    """MUST, SHOULD ... or what else it is there"""


class Metric(Strict):
    """A number of a run, and which direction is good."""

    measure: str
    """one of evaluation/measure.py"""
    title: str
    """for people, with what it is of"""
    unit: str = ""
    better: Better
    """higher or lower"""
    margin: Annotated[Margin, *quantity(_margin, "share: 10%; a number: an amount")]
    """what matters: a share of the reference's value, or an amount in the metric's unit"""
    flows: str = "*"
    """a pattern for the names of the flows that it is of"""
    start: TimeNs | None = None
    """of the time that it is of (that of the row's window)"""
    end: TimeNs | None = None
    """its end"""
    percent: Annotated[float, Field(ge=0, le=100)] = 50
    """of measures that are percentiles"""
    since: TimeNs | None = None
    """of measures that are a time after something: when that was (start)"""
    goal: Annotated[float, Field(gt=0)] | None = None
    """of recovery_time: the rate to come back to, Mbit/s"""
    least: Annotated[float, Field(ge=0)] = 0
    """of completion times: the smallest file, kB"""
    most: Annotated[float, Field(gt=0)] = 1e12
    """of completion times: files are smaller than this, kB"""
    bin: TimeNs = 1_000_000_000
    """of measures over time: the length of a bin"""
    harm: bool = False
    """of two runs, `main` and `alone`: what the one is short of the other (Ware and others 2019)"""

    @model_validator(mode="after")
    def _check(self) -> Metric:
        if self.measure not in MEASURES:
            raise ValueError(
                f"expected a measure that is one of {', '.join(sorted(MEASURES))}, "
                f"got {self.measure!r}"
            )
        if self.bin <= 0:
            raise ValueError("expected a bin above 0")
        if self.least >= self.most:
            raise ValueError(f"expected most above least, got {self.least:g} and {self.most:g}")
        if self.measure == "recovery_time" and self.goal is None:
            raise ValueError("expected a goal, for recovery_time")
        return self


class Group(Strict):
    """Flows that are alike, each with its own pair of hosts: NAME-1, NAME-2 ..., or NAME if one."""

    count: Annotated[int, Field(ge=0, le=200)] = 1
    """how many"""
    flow: dict[str, Any]
    """keys of a scenario's flow, in which {cc} is the control under test"""
    every: TimeNs = 0
    """time between the starts of one and the next"""
    access_delay: Annotated[list[str | float], Field(min_length=1)] = ["0ms"]
    """one-way delays of the pairs' own access links, in turn"""
    sender: dict[str, Any] = {}
    """settings of their senders, as hosts.pairs.NAME.sender of a scenario"""
    receiver: dict[str, Any] = {}
    """settings of their receivers"""


class Cell(Strict):
    """One point of the row."""

    set: dict[str, Any] = {}
    """keys of `scenario` or `groups`, with a dot, and their values"""
    quick: bool = False
    """is it part of --quick?"""
    window: tuple[TimeNs, TimeNs] | None = None
    """instead of the row's"""
    only: list[str] = []
    """the metrics that the cell is for (all)"""
    optional: str = ""
    """why it cannot be judged if the kernel or tc refuses its scenario"""
    victim: str | None = None
    """the control of the flows that are harmed: harm counts against that of its own kind"""


class Variant(Strict):
    """One of the runs that a cell takes."""

    without: list[str] = []
    """groups that are left out"""
    set: dict[str, Any] = {}
    """as in a cell"""


class Seeds(Strict):
    """How many."""

    least: Annotated[int, Field(ge=2, le=1000)] = 3
    most: Annotated[int, Field(ge=2, le=1000)] = 6
    """where the interval of a difference is wide, there are more, up to this"""

    @model_validator(mode="after")
    def _check(self) -> Seeds:
        if self.most < self.least:
            raise ValueError(f"expected at least {self.least} as most, got {self.most}")
        return self


class Row(Strict):
    """A row of an evaluation."""

    title: str
    """what is judged"""
    source: Source
    question: str
    """what is asked, as a sentence"""
    unable: str | None = None
    """instead of all that follows: why the row cannot be judged yet"""
    applies: str = ""
    """what it is for, if not for every control"""
    scenario: dict[str, Any] = {}
    """keys of a scenario: bottleneck, hosts, record ..."""
    groups: dict[str, Group] = {}
    """the flows of a dumbbell"""
    cells: dict[str, Cell] = {}
    """what varies; without it, there is one cell"""
    runs: dict[Literal["main", "alone"], Variant] = {"main": Variant()}
    """the runs of a cell; `alone` is that with which `main` is compared for harm"""
    window: tuple[TimeNs, TimeNs] | None = None
    """the time that measures are of"""
    spread: TimeNs = 0
    """flows start so much later at most, by the seed: else some runs would not differ"""
    seeds: Seeds = Seeds()
    metrics: dict[str, Metric] = {}

    @model_validator(mode="after")
    def _check(self) -> Row:
        if self.unable is not None:
            if self.scenario or self.groups or self.metrics:
                raise ValueError("expected unable without scenario, groups and metrics")
            return self
        if not self.metrics:
            raise ValueError("expected metrics, or unable with the reason")
        if not self.groups and "flows" not in self.scenario:
            raise ValueError("expected groups, or flows in the scenario")
        if self.groups and not self.scenario.keys().isdisjoint(("flows", "topology")):
            raise ValueError("expected groups without flows and topology in the scenario")
        for cell_name, cell in self.cells.items():
            for name in cell.only:
                if name not in self.metrics:
                    known = ", ".join(self.metrics)
                    raise ValueError(
                        f"cells.{cell_name}.only: expected one of {known}, got {name!r}"
                    )
        for cell_name, cell in (self.cells or {"": Cell()}).items():
            for name, metric in self.metrics_of(cell).items():
                begin, end = self.window_of(cell, metric)
                if MEASURES[metric.measure].of_window and end <= begin:
                    of = f"{name} of cell {cell_name}" if cell_name else name
                    raise ValueError(f"expected a window that ends after it begins, for {of}")
        if "main" not in self.runs:
            raise ValueError("expected a run with the name main")
        if any(m.harm for m in self.metrics.values()) and "alone" not in self.runs:
            raise ValueError("expected a run with the name alone, for harm")
        for run, variant in self.runs.items():
            for name in variant.without:
                if name not in self.groups:
                    known = ", ".join(self.groups)
                    raise ValueError(f"runs.{run}.without: expected one of {known}, got {name!r}")
        return self

    def metrics_of(self, cell: Cell) -> dict[str, Metric]:
        """The metrics of a cell."""
        wanted = cell.only or list(self.metrics)
        return {name: self.metrics[name] for name in wanted}

    def window_of(self, cell: Cell, metric: Metric) -> tuple[int, int]:
        """The time that a metric is of, ns; nothing if it has none."""
        begin, end = cell.window or self.window or (0, 0)
        return (
            begin if metric.start is None else metric.start,
            end if metric.end is None else metric.end,
        )

    def chosen(self, quick: bool) -> dict[str, Cell]:
        """Its cells, or those that --quick has."""
        cells = self.cells or {"": Cell(quick=True)}
        return {name: cell for name, cell in cells.items() if cell.quick or not quick}


@dataclass(frozen=True)
class Named:
    """A row, what it is called, and its file."""

    name: str
    set: str
    row: Row
    document: Document

    @property
    def folder(self) -> Path:
        """Where its file is."""
        return Path(self.document.name).parent

    @property
    def is_ours(self) -> bool:
        """Is it one of ours, rather than of WALE_ROWS?"""
        return self.folder.parent == ROWS


def _folders() -> list[Path]:
    own = os.environ.get("WALE_ROWS")
    if own and not any(Path(own).glob("*/*.yaml")):
        raise ScenarioError(f"WALE_ROWS={own}: expected a folder of rows, SET/NAME.yaml")
    return [ROWS, *([Path(own)] if own else [])]


def row_files() -> dict[str, Path]:
    """The file of each row, by its name: ours, then the user's, which may replace ours."""
    found = {}
    for folder in _folders():
        for path in sorted(folder.glob("*/*.yaml")):
            found[path.stem] = path
    return found


def load_row(path: Path) -> Named:
    """Read and check a row; ScenarioError says what is wrong and where."""
    document = yaml_lines.load(path)
    if not isinstance(document.value, dict):
        raise ScenarioError(f"{document.name}:1: expected keys and values: title, source, ...")
    row = checked(Row, document)
    assert isinstance(row, Row)
    return Named(path.stem, path.parent.name, row, document)


def choose(wanted: Iterable[str]) -> list[Named]:
    """The rows of these names, or of sets of these names; all if there are none."""
    files = row_files()
    names: list[str] = []
    for word in wanted:
        of_set = [name for name, path in files.items() if path.parent.name == word]
        if word not in files and not of_set:
            sets = sorted({path.parent.name for path in files.values()})
            raise ScenarioError(
                f"--rows {word}: expected names of rows or of sets: {', '.join([*sets, *files])}"
            )
        names += [word] if word in files else of_set
    rows = [load_row(files[name]) for name in dict.fromkeys(names or files)]
    return sorted(rows, key=_place)


def _place(named: Named) -> tuple[bool, str, list[int], str]:
    """In the order of their documents: RFC 9743 comes first."""
    number = re.match(r"[\d.]+", named.row.source.section)
    parts = [int(part) for part in (number[0] if number else "").split(".") if part]
    return named.set != "rfc9743", named.set, parts, named.name
