# SPDX-License-Identifier: GPL-2.0
"""The keys of a study: runs, what to measure in them, the published values, what must hold.

A study is one table or figure of a paper: papers/PAPER/NAME.yaml.  Its `runs` are
scenarios (files next to it) that are repeated for each value of x and each seed; each has
rows, which are flows of the scenario.  studies/points.py makes the scenarios, results/measures.py
the numbers of a run, studies/summary.py the table; studies/Snakefile has the dependencies.

Errors in a study are found when it is loaded, not after hours of runs.
"""

from __future__ import annotations

import csv
import math
import os
import re
import shlex
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError, model_validator

from wale_lab import yaml_lines
from wale_lab.checking import checked, show
from wale_lab.engines.modules import LAB
from wale_lab.errors import ScenarioError, why
from wale_lab.fields import STRICT
from wale_lab.papers import MODELS
from wale_lab.results.measures import MEASURES, METRIC, is_measure
from wale_lab.results.result import FLOW_COLUMNS, LINK_COLUMNS
from wale_lab.studies.results import STUDY_NAME
from wale_lab.tree import PACKAGE
from wale_lab.yaml_lines import Document, KeyPath

#: Folders of papers, with studies: those that come with the testbed, or one's own.
STUDIES = Path(os.environ.get("WALE_STUDIES") or PACKAGE / "papers").resolve()

#: A value of x: a number, or a word where x has no order.
X = float | str

Count = Annotated[int, Field(ge=1)]

#: What is wrong with a key.
Problem = tuple[KeyPath, str]


class Strict(BaseModel):
    """Unknown keys are errors."""

    model_config = STRICT


class XAxis(Strict):
    """What differs from point to point."""

    label: str
    """label in plots and tables"""
    unit: str = ""
    """of the values"""
    scale: Literal["linear", "log", "category"] = "linear"
    """category: words without an order"""
    values: list[X] = []
    """numbers, or words (none: the study measures curves)"""
    means: dict[str, list[X]] = {}
    """shown instead, in a study of scale category: the mean over this many of the values"""

    @model_validator(mode="after")
    def _check(self) -> XAxis:
        if self.means and self.scale != "category":
            raise ValueError("expected scale category with means")
        return self

    @property
    def shown(self) -> list[X]:
        """The values of x in the table."""
        return list(self.means) or self.values


class YAxis(Strict):
    """What is measured."""

    label: str
    """label in plots and tables"""
    unit: str = ""
    """of the values"""
    measure: str = ""
    """name of a measure of results/measures.py, or metrics.NAME of a program"""
    limits: tuple[float, float] | None = None
    """ends of the axis in plots (none: from 0)"""
    statistic: Literal["mean", "spread"] = "mean"
    """over the seeds: the mean, or the standard deviation in percent of it"""


class Curve(Strict):
    """A quantity of a flow against time, instead of one number: from the samples of a run."""

    source: Literal["flows", "links", "sessions"] = "flows"
    """which samples: of the flow's socket, of its forward link, or of each of its sessions"""
    column: str
    """of flows.csv or links.csv"""
    scale: float = 1.0
    """factor for the values"""
    first: int = 0
    """for sessions: number of the first one shown"""
    count: Count = 20
    """for sessions: how many are shown"""
    from_s: float = 0.0
    """time of the scenario that is 0 in the plot, seconds"""
    until_s: float | None = None
    """last time of the scenario to show, seconds"""

    @model_validator(mode="after")
    def _check(self) -> Curve:
        columns = LINK_COLUMNS if self.source == "links" else FLOW_COLUMNS
        if self.column not in columns:
            raise ValueError(_expected_one_of(columns, self.column))
        return self


class Row(Strict):
    """One flow, from the scenario or created here with its pair; or a curve of a model."""

    label: str
    """label in plots and tables"""
    flow: str | dict[str, str] | None = None
    """a flow of the scenario, or for each x one of them"""
    curve: Curve | None = None
    """what to draw of it, in a study of curves"""
    model: dict[str, Any] | None = None
    """or a curve of the study's model: its arguments"""
    cc: str | None = None
    """or its own flow: its congestion control"""
    profile: str | None = None
    """its hosts' bundle of settings"""
    advice: dict[str, Any] = {}
    """advice for its sender, as in hosts.senders.advice"""
    sender: dict[str, Any] = {}
    """settings of its sender"""
    receiver: dict[str, Any] = {}
    """settings of its receiver"""
    flows: Count | None = None
    """this many flows that share a link, on which there is no other row, instead of one flow"""
    set: dict[str, Any] = {}
    """values of the scenario to change for this row, which then has its own run"""

    @property
    def alone(self) -> bool:
        """It shares its run with no other row."""
        return self.flows is not None or bool(self.set)

    @model_validator(mode="after")
    def _check(self) -> Row:
        if [self.flow, self.cc, self.model].count(None) != 2:
            raise ValueError(
                "expected either flow (of the scenario), cc (one of its own), or model"
            )
        if self.flows is not None and self.cc is None:
            raise ValueError("expected cc with flows: what they are")
        return self


class Run(Strict):
    """A scenario, the same for all its rows except for the settings of a row."""

    scenario: str
    """file next to the study"""
    set: dict[str, Any] = {}
    """values of the scenario to change, as with `wale-lab run --set`"""
    vary: dict[str, float | str] = {}
    """values that follow x or the seed: x times a number, or a text with {x} or {seed} in it;
    flow.KEY is that of every flow that a row creates"""
    flow: dict[str, Any] = {}
    """for every flow that a row creates: duration, size, arrivals"""
    seeds: Count | None = None
    """if different from the study's"""
    shared: bool | None = None
    """instead of the study's"""
    rows: dict[str, Row]
    """by name; a name is in only one run of the study"""

    def together(self) -> frozenset[str]:
        """The flows of those rows that have one scenario together."""
        found: list[str] = []
        for name, row in self.rows.items():
            if not row.alone and row.model is None:
                chosen = row.flow or name
                found += [chosen] if isinstance(chosen, str) else chosen.values()
        return frozenset(found)


class Model(Strict):
    """A published analysis to compare with the measurement; see models."""

    name: str
    """of the model, a key of models MODELS"""
    rows: dict[str, dict[str, Any]] = {}
    """arguments of the model for the rows that it describes"""


class Note(Strict):
    """Why a cell deviates, or another remark about it."""

    rows: list[str]
    """names of the rows"""
    x: list[X] = []
    """which cells (none: those that deviate by more than 5 %)"""
    kind: str = ""
    """next to which kind of published value (none: any)"""
    text: str
    """the reason"""


class Check(Strict):
    """A condition that must hold, or `make report` and `make check` fail."""

    text: str
    """the condition, in words"""
    rows: list[str] = []
    """the rows that it applies to (none: all)"""
    x: list[X] = []
    """their cells (none: all)"""
    but: dict[str, list[X]] = {}
    """cells that are left out, by row"""
    value: Literal["measured", "model"] = "measured"
    """what is compared"""
    to: str | None = None
    """compare with published values of this kind; or the model with the `measured` ones"""
    each: float | None = None
    """largest deviation of a cell, percent"""
    mean: float | None = None
    """largest mean absolute deviation of a row, percent"""
    all_but: int = 0
    """this many cells may deviate by more than `each`"""
    interval: float | None = None
    """largest half width of the 95 % interval of a cell, percent of the mean"""
    at_least: float | None = None
    """bound of the value (of a curve its highest), or of its ratio to the row of `ratio`"""
    at_most: float | None = None
    """bound of the value (of a curve its highest), or of its ratio to the row of `ratio`"""
    ratio: str | None = None
    """row by which values are divided before they are compared with a bound"""
    over: X | None = None
    """value of x: the cell of the same row by which cells are divided before the comparison"""
    known: dict[str, Any] | None = None
    """a known failure in full runs: `why`, and what to change for a check that does hold
    (such as another bound). The study fails if that does not hold either, or if
    the check itself holds again"""
    quick: dict[str, Any] | None = {}
    """what to change in a quick run; null: not checked there, it needs longer runs"""

    @model_validator(mode="after")
    def _check(self) -> Check:
        self.in_quick()
        self.as_known()
        if self.interval is not None:
            if self.value != "measured":
                raise ValueError("expected an interval of what is measured: a model has none")
            others = (self.to, self.each, self.mean, self.at_least, self.at_most)
            if any(value is not None for value in (*others, self.ratio, self.over)):
                raise ValueError("expected an interval alone, without other bounds")
            return self
        if (self.at_least or -math.inf) > (math.inf if self.at_most is None else self.at_most):
            raise ValueError("expected at_least not above at_most")
        if self.ratio is not None and self.over is not None:
            raise ValueError("expected either ratio or over")
        if self.to and (self.ratio, self.over) != (None, None):
            raise ValueError("expected ratio or over with at_least or at_most, not with `to`")
        if self.to == self.value:
            raise ValueError("expected `value: model` with `to: measured`: else all are equal")
        limits, bounds = (self.each, self.mean), (self.at_least, self.at_most)
        wanted, other = (limits, bounds) if self.to else (bounds, limits)
        if all(value is None for value in wanted) or any(value is not None for value in other):
            raise ValueError(
                "expected each or mean with `to`, at_least or at_most without it, or an interval"
            )
        return self

    def in_quick(self) -> Check | None:
        """The check of a quick run; ValueError if it is not a check."""
        if not self.quick and self.known is None:
            return None if self.quick is None else self
        return None if self.quick is None else self._changed("quick", self.quick)

    def as_known(self) -> Check | None:
        """What holds instead, of a check that is known not to; ValueError if it is no check."""
        if self.known is None:
            return None
        different = {key: value for key, value in self.known.items() if key != "why"}
        if not different or not str(self.known.get("why") or "").strip():
            raise ValueError("expected known to say why, and what is different in what holds")
        return self._changed("known", different)

    def _changed(self, name: str, different: dict[str, Any]) -> Check:
        """With other values: those of a key of it."""
        try:
            return Check(**{**self.model_dump(exclude={"quick", "known"}), **different})
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in (name, *first["loc"]))
            message = first["msg"].removeprefix("Value error, ")
            raise ValueError(f"expected a check with {name} too; {where}: {message}") from None


class Quick(Strict):
    """What to reduce in a quick run."""

    x: list[X] = []
    """only these values of x (none: all)"""
    seeds: Count = 1
    """number of seeds"""
    rows: list[str] = []
    """only these rows (none: all)"""
    flow: dict[str, Any] = {}
    """of every flow that a row makes"""
    set: dict[str, Any] = {}
    """values of the scenarios"""


class Panel(Strict):
    """One of several plots side by side."""

    title: str
    """title above it"""
    rows: list[str]
    """rows in it"""


class Study(Strict):
    """A table or figure."""

    title: str
    """heading in the report"""
    source: str
    """paper and number of table or figure"""
    order: int
    """place in the report"""
    question: str
    """the question, in a sentence"""
    finding: str = ""
    """the finding: what agrees with the paper, what does not and why"""
    x: XAxis
    """what differs from point to point"""
    y: YAxis
    """what is measured"""
    plot: Literal["lines", "bars", "curves", "diagram", "table"] = "lines"
    """how it is drawn"""
    diagram: str | None = None
    """for plot diagram: a function of report/diagrams.py"""
    panels: list[Panel] = []
    """several plots side by side (none: one with all rows)"""
    seeds: Count = 1
    """runs of each point, with seeds 1, 2, ..."""
    runs: dict[str, Run] = {}
    """by name"""
    shared: bool = False
    """the flows of a run share the link; otherwise each has its own copy"""
    like: str | None = None
    """another study of the same paper, whose runs, x values, seeds and notes are used"""
    show: list[str] = []
    """rows to show (none: all)"""
    published: str | None = None
    """CSV next to the study: row, x, kind, value, note"""
    model: Model | None = None
    """the analysis to compare with"""
    notes: list[Note] = []
    """on single cells"""
    checks: list[Check] = []
    """what must hold"""
    at: dict[str, dict[str, Any]] = {}
    """for an x: values of the scenario to change there; flow.KEY is that of every flow that
    a row creates, pair.KEY that of its hosts (a list: one for each flow, in turn), `flows` how many
    a row with `flows` has there"""
    quick: Quick = Quick()
    """what to reduce in a quick run"""

    def rows(self) -> dict[str, Row]:
        """The rows that are shown, of all runs, by name."""
        rows = {name: row for run in self.runs.values() for name, row in run.rows.items()}
        return {n: row for n, row in rows.items() if not self.show or n in self.show}

    def shares(self, run: Run) -> bool:
        """Do the flows of a run compete for one link?"""
        return self.shared if run.shared is None else run.shared


def study_names() -> list[str]:
    """PAPER/NAME of every study."""
    return sorted(
        f"{paper}/{path.stem}"
        for paper in _papers()
        for path in paper_folder(paper).glob("*.yaml")
        if _is_study(path)
    )


def _papers() -> list[str]:
    """The papers that have studies; a folder that is a Python package has no - in its name."""
    folders = [path for path in STUDIES.iterdir() if path.is_dir()]
    return [p.name.replace("_", "-") if (p / "studies").is_dir() else p.name for p in folders]


def paper_folder(name: str) -> Path:
    """The folder with the studies of a paper: PAPER, or PAPER/NAME of one of them."""
    paper = name.partition("/")[0]
    package = STUDIES / paper.replace("-", "_") / "studies"
    return package if package.is_dir() else STUDIES / paper


def _study_path(name: str) -> Path:
    return paper_folder(name) / f"{name.partition('/')[2]}.yaml"


def _is_study(path: Path) -> bool:
    """Scenarios of a paper lie beside its studies; a study has a title."""
    return any(line.startswith(b"title:") for line in path.read_bytes().splitlines())


def find_studies(names: list[str]) -> list[str]:
    """The studies that are meant: PAPER/NAME, a whole PAPER, or all."""
    known = study_names()
    found: list[str] = []
    for name in names:
        name = name.strip("/")
        chosen = [k for k in known if name in ("all", k, k.partition("/")[0])]
        if not chosen:
            raise no_study(name)
        found += [k for k in chosen if k not in found]
    return found


def no_study(name: str) -> ScenarioError:
    """What is wrong with a name that no study has."""
    return ScenarioError(
        f"there is no study {name!r}; `wale-lab study --list` names those that there are"
    )


def load_study(name: str) -> Study:
    """Read and check a study; ScenarioError says what is wrong and where."""
    path = _study_path(name)
    if not path.is_file():
        raise no_study(name)
    document = yaml_lines.load(path)
    if not re.fullmatch(STUDY_NAME, name):
        raise ScenarioError(
            f"{document.name}: expected names of the folder and the file that have small letters, "
            "digits, _ and -, and begin with a letter or digit"
        )
    study = checked(Study, document)
    assert isinstance(study, Study)
    if study.like is not None:
        study = _with_shared(name, study, document)
    _refuse(document, problems(study))
    kinds = {value.kind for value in load_published(name, study)}
    _refuse(document, _unknown_kinds(study, kinds))
    return study


def _with_shared(name: str, study: Study, document: Document) -> Study:
    """The study with what it takes from the one that it is like."""
    paper, _, own = name.partition("/")
    names = [known.partition("/")[2] for known in study_names() if known.startswith(f"{paper}/")]
    if study.like == own or study.like not in names:
        names = [known for known in names if known != own]
        _refuse(document, [(("like",), _expected_one_of(names, study.like))])
    other = checked(Study, yaml_lines.load(_study_path(f"{paper}/{study.like}")))
    assert isinstance(other, Study)
    if other.like is not None:
        _refuse(document, [(("like",), f"expected a study with runs of its own; {study.like} is "
                            f"like {other.like}")])  # fmt: skip
    shared = {key: getattr(other, key) for key in ("seeds", "runs", "shared", "at", "quick")}
    shared = {key: value for key, value in shared.items() if key not in study.model_fields_set}
    if not study.x.values:
        shared["x"] = study.x.model_copy(update={"values": other.x.values})
    study = study.model_copy(update=shared)
    if not study.notes and study.published is not None:
        kinds = {value.kind for value in load_published(name, study)}
        shown = [_of_rows(note, study.rows()) for note in other.notes if note.kind in {"", *kinds}]
        study = study.model_copy(update={"notes": [note for note in shown if note.rows]})
    return study


def _of_rows(note: Note, rows: Collection[str]) -> Note:
    """A note, of those of its rows that there are."""
    return note.model_copy(update={"rows": [row for row in note.rows if row in rows]})


def _refuse(document: Document, found: Iterable[Problem]) -> None:
    lines = [f"{document.where(path)}: {show(path)}{message}" for path, message in found]
    if lines:
        raise ScenarioError("\n".join(lines))


def _expected_one_of(names: Iterable[object], got: object) -> str:
    return f"expected one of {', '.join(str(name) for name in names)}, got {got!r}"


def problems(study: Study) -> Iterator[Problem]:
    """What cannot be meant: names that nothing has, parts that do not go together."""
    yield from _wrong_plot(study)
    yield from _unknown_rows(study)
    yield from _unknown_x(study)
    yield from _wrong_at(study)
    for name, run in study.runs.items():
        yield from _wrong_run(study, name, run)


def _wrong_plot(study: Study) -> Iterator[Problem]:
    if study.plot == "diagram":
        if study.diagram is None:
            yield ("plot",), "expected diagram, the name of one"
        return
    if not study.runs:
        yield (), "expected runs, or like"
    drawn = {row for panel in study.panels for row in panel.rows}
    for name in (n for n in study.rows() if study.panels and n not in drawn):
        yield ("panels",), f"expected every row in one; {name} is in none"
    if study.plot == "curves":
        for name in (n for n, r in study.rows().items() if r.curve is None and r.model is None):
            yield ("plot",), f"expected a curve or a model of row {name}"
    elif not is_measure(study.y.measure):
        yield ("y", "measure"), _expected_one_of([*MEASURES, f"{METRIC}NAME"], study.y.measure)
    if study.model is not None and study.model.name not in MODELS:
        yield ("model", "name"), _expected_one_of(MODELS, study.model.name)


def _unknown_rows(study: Study) -> Iterator[Problem]:
    """Names of rows that there are none of; quick and show choose from all, the others from
    those that are shown."""
    everything = {name for run in study.runs.values() for name in run.rows}
    named: list[tuple[KeyPath, str]] = [(("show", n), r) for n, r in enumerate(study.show)]
    named += [(("quick", "rows", n), row) for n, row in enumerate(study.quick.rows)]
    for path, row in named:
        if row not in everything:
            yield path, _expected_one_of(sorted(everything), row)
    shown = study.rows()
    named = [(("notes", n, "rows", m), row) for n, note in enumerate(study.notes)
             for m, row in enumerate(note.rows)]  # fmt: skip
    for n, panel in enumerate(study.panels):
        named += [(("panels", n, "rows", m), row) for m, row in enumerate(panel.rows)]
    for n, check in enumerate(study.checks):
        named += [(("checks", n, "rows", m), row) for m, row in enumerate(check.rows)]
        named += [(("checks", n, "but", row), row) for row in check.but]
        named += [(("checks", n, "ratio"), check.ratio)] if check.ratio else []
    if study.model:
        named += [(("model", "rows", row), row) for row in study.model.rows]
    for path, row in named:
        if row not in shown:
            yield path, _expected_one_of(shown, row)


def _unknown_x(study: Study) -> Iterator[Problem]:
    """Values of x that the study does not have."""
    of_runs: list[tuple[KeyPath, X]] = [(("quick", "x"), x) for x in study.quick.x]
    of_runs += [(("x", "means", mean), x) for mean, xs in study.x.means.items() for x in xs]
    named: list[tuple[KeyPath, X]] = []
    for n, note in enumerate(study.notes):
        named += [(("notes", n, "x"), x) for x in note.x]
    for n, check in enumerate(study.checks):
        named += [(("checks", n, "x"), x) for x in check.x]
        named += [(("checks", n, "but", row), x) for row, xs in check.but.items() for x in xs]
        named += [(("checks", n, "over"), check.over)] if check.over is not None else []
    for known, some in ((study.x.values, of_runs), (study.x.shown, named)):
        for path, x in some:
            if x not in known:
                yield path, _expected_one_of(map(show_x, known), x)


def _wrong_at(study: Study) -> Iterator[Problem]:
    known = [show_x(x) for x in study.x.values]
    for x, changes in study.at.items():
        if x not in known:
            yield ("at", x), _expected_one_of(known, x)
        flows = changes.get("flows", 1)
        if not isinstance(flows, int) or isinstance(flows, bool) or flows < 1:
            yield ("at", x, "flows"), f"expected a number of flows from 1 on, got {flows!r}"


def _wrong_run(study: Study, name: str, run: Run) -> Iterator[Problem]:
    path: KeyPath = ("runs", name)
    others = {row for other, r in study.runs.items() if other != name for row in r.rows}
    for row in sorted(others & run.rows.keys()):
        yield (*path, "rows", row), "expected a name that no other run has"
    values = study.x.values
    for row, about in run.rows.items():
        if isinstance(about.flow, dict) and set(about.flow) != {show_x(x) for x in values}:
            texts = ", ".join(show_x(x) for x in values)
            yield (*path, "rows", row, "flow"), f"expected a flow for each x: {texts}"
    for key, how in run.vary.items():
        if not isinstance(how, str) and not all(isinstance(x, float) for x in values or [""]):
            got = next((repr(x) for x in values if isinstance(x, str)), "no values")
            yield (*path, "vary", key), f"expected numbers of x, to be multiplied, got {got}"
        if isinstance(how, str) and not _is_template(how):
            yield (*path, "vary", key), f"expected a text with {{x}} or {{seed}}, got {how!r}"
        if key.startswith("flow.") and not any(about.cc for about in run.rows.values()):
            yield (*path, "vary", key), "expected a row with cc: only its flow is made here"


def _is_template(text: str) -> bool:
    """Does it change with x or the seed?"""
    try:
        return text.format(x="", seed=1) != text
    except (LookupError, ValueError):
        return False


def _unknown_kinds(study: Study, kinds: set[str]) -> Iterator[Problem]:
    """Kinds of published values that checks and notes name, and that there are none of."""
    named: list[tuple[KeyPath, str]] = [
        (("notes", n, "kind"), note.kind) for n, note in enumerate(study.notes) if note.kind
    ]
    named += [
        (("checks", n, "to"), check.to)
        for n, check in enumerate(study.checks)
        if check.to not in (None, "measured")
    ]
    for path, kind in named:
        if kind not in kinds:
            yield path, _expected_one_of([*sorted(kinds), "measured"], kind)


class Published(Strict):
    """One published value."""

    row: str
    x: X
    kind: str
    value: float
    note: str = ""


def load_published(name: str, study: Study) -> list[Published]:
    """The published values of a study; ScenarioError says what is wrong and where."""
    if study.published is None:
        return []
    path = paper_folder(name) / study.published
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path}: cannot be read: {why(error)}") from None
    numbered = [(n, line) for n, line in enumerate(lines, 1) if line and not line.startswith("#")]
    reader = csv.DictReader(line for _, line in numbered)
    found: dict[tuple[str, X, str], Published] = {}
    for (number, _), line in zip(numbered[1:], reader, strict=True):
        value = _published(line, study, f"{path}:{number}")
        if found.setdefault((value.row, value.x, value.kind), value) is not value:
            raise ScenarioError(
                f"{path}:{number}: expected one value of a row, x and kind, not two"
            )
    return list(found.values())


def _published(line: dict[str, Any], study: Study, where: str) -> Published:
    try:
        return Published(
            row=line["row"],
            x=line["x"] if study.x.scale == "category" else float(line["x"]),
            kind=line["kind"],
            value=float(line["value"]),
            note=line.get("note") or "",
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ScenarioError(f"{where}: expected row,x,kind,value,note: {error}") from None


def options_of(quick: bool, kernel: str | None) -> list[str]:
    """The options of a command that say which runs of a study are meant."""
    return (["--quick"] if quick else []) + (["--kernel", kernel] if kernel else [])


def repeat(*words: str) -> str:
    """A command of wale-lab, with what it needs to know the same studies."""
    own = STUDIES != PACKAGE / "papers"
    env = ["env", f"WALE_STUDIES={STUDIES}"] if own else []
    return shlex.join([*env, LAB, *words])


def show_x(x: X) -> str:
    """A value of x as text."""
    return x if isinstance(x, str) else f"{x:.12g}"
