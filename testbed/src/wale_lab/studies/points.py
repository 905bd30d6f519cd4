# SPDX-License-Identifier: GPL-2.0
"""The runs that a study needs: each a scenario and a seed, under a key that covers its inputs.

A run's file is runs/KEY.json, where KEY is SHA-256 over the resolved scenario, the plan derived
from it and the seed (everything that is done in the guest), the kernel, the modules and programs
used, and the code that measures.  Existing files are therefore current, whichever study they were
made for, and studies share common runs.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from wale_lab import yaml_lines
from wale_lab.engines import get_engine
from wale_lab.engines.base import Kernel
from wale_lab.engines.modules import find_modules, find_userspace
from wale_lab.errors import ScenarioError
from wale_lab.guest.agent import PARTS
from wale_lab.progress import Progress
from wale_lab.results.result import plan_data
from wale_lab.scenario import Scenario, check_scenario
from wale_lab.studies.study import Row, Run, Study, X, load_study, paper_folder, show_x
from wale_lab.topologies.planning import make_plan
from wale_lab.tree import PACKAGE
from wale_lab.yaml_lines import Document

#: What is done with a plan, and what is made of it, follows from these; the plan is in the key.
CODE = (
    "engines/base.py", "engines/copies.py", "engines/guest_copy.c", "engines/guest_copy.h",
    "engines/guest_init.c", "engines/guest_preload.c", "engines/uml.py",
    "engines/guest_windows.c", "engines/guest_batches.c", "engines/together.py", "guests.py",
    "topologies/cut.py", "results/merge.py",
    "guest/agent.py", "guest/channel_recorder.py", *(f"guest/{part}.py" for part in PARTS),
    "guest/rtnetlink.py",
    "results/constant.py", "link.py", "host_settings.py", "checking.py",
    "results/measures.py", "netlink.py", "results/result.py", "runner.py", "scenario.py",
    "results/sessions.py", "results/trace_work.py", "studies/command.py", "models/arrivals.py",
    "models/sessions.py", "models/streams.py", "timeline.py", "topologies/dumbbell.py",
    "topologies/plan.py", "trace_files.py", "topologies/graph.py", "routing.py", "network.py",
    "network_files.py", "shapes.py", "written_out.py", "models/max_min.py", "programs.py",
    "trace_format/step.py", "trace_format/trace_file.py", "pairs.py",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One value of a study: a row at an x, with a seed."""

    row: str
    x: X
    seed: int
    flow: str


@dataclass
class Point:
    """One run."""

    key: str
    scenario: Scenario
    seed: int
    curves: dict[str, dict[str, Any]]
    cells: list[Cell] = field(default_factory=list)


@dataclass(frozen=True)
class Build:
    """The inputs of a run in addition to its scenario."""

    kernel: Kernel
    digest: str


def find_build(kernel: Kernel, progress: Progress) -> Build:
    """Have everything built, and say what it is."""
    modules = find_modules(kernel, ["sch_wale", "rate_feedback", "tcp_ratcp"], progress)
    env = find_userspace(progress)
    programs = [Path(env["PATH"].split(":")[0], "wale"), Path(env["TC_LIB_DIR"], "q_wale.so")]
    files = [*modules, *programs, *(PACKAGE / name for name in CODE)]
    digest = hashlib.sha256((kernel.release + kernel.source).encode())
    if kernel.image:
        digest.update(str(kernel.image.parent.name).encode())
    for path in files:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return Build(kernel, digest.hexdigest())


def build_of(version: str | None, progress: Progress) -> Build:
    """That of a version of the guest's kernel, which is built too if need be."""
    return find_build(get_engine("uml").prepare(version, progress), progress)


@dataclass(frozen=True)
class Draft:
    """A run, whatever it is made with."""

    scenario: Scenario
    seed: int
    curves: dict[str, dict[str, Any]]
    cells: list[Cell]


def points_of(name: str, build: Build, quick: bool = False) -> list[Point]:
    """The runs of a study, each once, with the cells that are read from it."""
    return made_with(build, drafts_of(name, quick))


def made_with(build: Build, drafts: Iterable[Draft]) -> list[Point]:
    """The same, of a study that has been read."""
    found: dict[str, Point] = {}
    for draft in drafts:
        key = point_key(draft.scenario, draft.seed, draft.curves, build)
        point = found.setdefault(key, Point(key, draft.scenario, draft.seed, draft.curves))
        point.cells += draft.cells
    return list(found.values())


def drafts_of(name: str, quick: bool = False) -> list[Draft]:
    """The runs of a study; ScenarioError if a scenario of one is wrong."""
    study = load_study(name)
    folder = paper_folder(name)
    found: list[Draft] = []
    read = cache(yaml_lines.load)
    for run_name, run in study.runs.items():
        for x, rows in product(xs(study, quick) or [""], _together(_rows(run, study, quick))):
            curves = {n: r.curve.model_dump() for n, r in rows.items() if r.curve}
            scenario = None
            for seed in _seeds(study, run, quick):
                if scenario is None or _follows_seed(run):
                    try:
                        document = copy.deepcopy(read(folder / run.scenario))
                        scenario = _scenario(study, run, rows, x, seed, document, quick)
                    except ScenarioError as error:
                        where = f"{name}: run {run_name}" + (f" at {show_x(x)}" if x != "" else "")
                        raise ScenarioError(f"{where}:\n{error}") from None
                cells = [Cell(n, x, seed, _flow(n, r, x)) for n, r in rows.items()]
                found.append(Draft(scenario, seed, curves, cells))
    return found


def xs(study: Study, quick: bool) -> list[X]:
    """The values of x of a run of the study."""
    return (quick and study.quick.x) or study.x.values


def _seeds(study: Study, run: Run, quick: bool) -> range:
    """The seeds of a run."""
    return range(1, (study.quick.seeds if quick else run.seeds or study.seeds) + 1)


def _rows(run: Run, study: Study, quick: bool) -> dict[str, Row]:
    wanted = study.quick.rows if quick else []
    return {
        name: row
        for name, row in run.rows.items()
        if row.model is None and (not wanted or name in wanted)
    }


def _together(rows: dict[str, Row]) -> list[dict[str, Row]]:
    """The rows that share a scenario."""
    shared = {name: row for name, row in rows.items() if not row.alone}
    alone = [{name: row} for name, row in rows.items() if row.alone]
    return [shared, *alone] if shared else alone


def _follows_seed(run: Run) -> bool:
    return any(isinstance(how, str) and "{seed" in how for how in run.vary.values())


def _flow(name: str, row: Row, x: X) -> str:
    """The flow of a row at an x."""
    if row.flow is None:
        return name if row.flows is None else f"{name}-1"  # their common measures are in each
    return row.flow if isinstance(row.flow, str) else row.flow[show_x(x)]


def _scenario(
    study: Study, run: Run, rows: dict[str, Row], x: X, seed: int, document: Document, quick: bool
) -> Scenario:
    """The scenario of a run at one x, made of the document of its file."""
    folder = Path(document.name).parent
    less = study.quick if quick else None
    made = {name: row for name, row in rows.items() if row.flow is None}
    if made:  # instead of what the scenario shows by itself
        if not isinstance(document.value, dict):
            check_scenario(document, [], folder)
        document.value["topology"] = {"pairs": []}
        document.value["flows"] = []
    at = dict(study.at.get(show_x(x), {}))
    count = at.pop("flows", None)
    names = []
    for name, row in made.items():
        several = row.flows and [f"{name}-{n}" for n in range(1, (count or row.flows) + 1)]
        for flow_name in several or [name]:
            _add_flow(document, flow_name, row, run.flow)
            names.append(flow_name)
    own = {key: value for row in rows.values() for key, value in row.set.items()}
    fast = {**less.set, **{f"flow.{key}": v for key, v in less.flow.items()}} if less else {}
    changes: dict[str, Any] = {}
    for some in (run.set, at, fast, _varied(run, x, seed), own):
        for key, value in some.items():
            changes |= _of_made(names, key, value)
    scenario = _checked(document, changes, folder)
    if len(run.together()) < 2 or any(row.alone for row in rows.values()):
        return scenario
    if study.shares(run):
        _refuse_copies(scenario)
        return scenario
    _refuse_others(scenario, run)
    return scenario if scenario.isolate else _checked(document, changes | {"isolate": True}, folder)


def _checked(document: Document, changes: dict[str, Any], folder: Path) -> Scenario:
    """The scenario with what is changed."""
    overrides = [f"{key}={json.dumps(value)}" for key, value in changes.items()]
    scenario = check_scenario(document, overrides, folder)
    if scenario.graph is not None:
        raise ScenarioError(
            f"{document.where(('topology',))}: topology: expected a dumbbell: a study measures its "
            "bottleneck"
        )
    return scenario


def _refuse_copies(scenario: Scenario) -> None:
    """Flows cannot share a link of which the scenario gives each a copy."""
    if scenario.isolate:
        raise ScenarioError(
            f"expected shared with a scenario without isolate: {scenario.name} gives each flow a "
            "copy of the link"
        )


def _refuse_others(scenario: Scenario, run: Run) -> None:
    """Traffic that no row is about would be on a link of its own, beside no row."""
    others = [flow.name for flow in scenario.flows if flow.name not in run.together()]
    if others and not scenario.isolate:
        raise ScenarioError(
            f"expected shared: true, or a row for each flow of {scenario.name}: each flow gets a "
            f"copy of the link for itself, and no row is about {', '.join(others)}"
        )


#: What `flow.KEY` and `pair.KEY` are of each flow that a row makes.
_MADE = {"flow": "flows", "pair": "topology.pairs"}


def _of_made(names: list[str], key: str, value: Any) -> dict[str, Any]:
    """A change of the scenario; of the flows that are made, one each, from a list in turn."""
    first, _, rest = key.partition(".")
    if first not in _MADE:
        return {key: value}
    several = value if isinstance(value, list) else [value]
    return {
        f"{_MADE[first]}.{name}.{rest}": several[n % len(several)] for n, name in enumerate(names)
    }


def _varied(run: Run, x: X, seed: int) -> dict[str, float | str]:
    """The values that follow x or the seed."""
    found: dict[str, float | str] = {}
    for key, how in run.vary.items():
        if isinstance(how, str):
            found[key] = how.format(x=show_x(x), seed=seed)
        else:
            assert isinstance(x, float)  # studies/study.py sees to it
            found[key] = float(f"{x * how:.12g}")
    return found


def _add_flow(document: Document, name: str, row: Row, flow: dict[str, Any]) -> None:
    """A pair of hosts and a flow, as a row describes them."""
    value = document.value
    value["topology"]["pairs"].append({"name": name})
    value["flows"].append({"name": name, "pair": name, "cc": row.cc, **copy.deepcopy(flow)})
    hosts: dict[str, Any] = copy.deepcopy({"sender": row.sender, "receiver": row.receiver})
    if row.advice:
        hosts["sender"]["advice"] = copy.deepcopy(row.advice)
    if row.profile:
        hosts["profile"] = row.profile
    value.setdefault("hosts", {}).setdefault("pairs", {})[name] = hosts


def point_key(scenario: Scenario, seed: int, curves: dict[str, Any], build: Build) -> str:
    """What identifies a run: a hash of all that goes in."""
    plan = plan_data(make_plan(scenario, seed), scenario, seed)
    data = {"scenario": scenario.resolved(), "plan": plan, "curves": curves, "build": build.digest}
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:24]
