# SPDX-License-Identifier: GPL-2.0
"""A scenario in several guests of the uml engine, which run at once in one virtual time."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from wale_lab.checking import show
from wale_lab.engines.base import EngineError, Job, Kernel, Log, Outcome
from wale_lab.engines.machine_needs import Needs, Ready
from wale_lab.engines.machines import Fleet, Work, run_on_machines
from wale_lab.engines.together import run_together
from wale_lab.errors import ScenarioError
from wale_lab.guest.commands import client_command
from wale_lab.pairs import ROLES
from wale_lab.results.merge import merged
from wale_lab.results.result import files_of
from wale_lab.scenario import Scenario
from wale_lab.topologies.cut import Cut, CutError, cut, part_of
from wale_lab.topologies.plan import Plan
from wale_lab.yaml_lines import KeyPath

#: A kernel, the modules to load, and the environment of programs, for a line of kernels.
Prepare = Callable[[str | None], tuple[Kernel, list[Path], dict[str, str]]]
#: What an agent saw, from its file and how its guest ended.
Observe = Callable[[Path, Outcome], dict[str, Any]]


def cut_of(scenario: Scenario, plan: Plan, engine: str) -> Cut | None:
    """How a scenario's network is cut; None: it runs in one guest."""
    kernels = _kernels(scenario, plan)
    if scenario.guests == 1:
        if kernels:
            _refuse(scenario, ("guests",), "more than one, where hosts ask for kernels")
        return None
    _check(scenario, engine)
    try:
        made = cut(plan, scenario.guests, kernels)
    except CutError as error:
        _refuse(scenario, ("guests",), str(error))
    if made.guests == 1:
        return None
    for n, flow in enumerate(scenario.flows):
        if flow.after is not None and _beginner(plan, flow.name, made) != _beginner(
            plan, flow.after, made
        ):
            _refuse(scenario, ("flows", n, "after"), "a flow that begins in the same guest")
    return made


def check_shell(scenario: Scenario, plan: Plan) -> None:
    """Refuse what a shell, which is in one guest, does not have."""
    if scenario.guests != 1:
        _refuse(scenario, ("guests",), "1 for a shell (--set guests=1)")
    if _kernels(scenario, plan):
        _refuse(scenario, ("hosts",), "no kernels of their own for a shell")


def _kernels(scenario: Scenario, plan: Plan) -> dict[str, str]:
    """The kernels that hosts ask for, by namespace."""
    found: dict[str, str | None] = {}
    for name in scenario.graph.nodes if scenario.graph else ():
        found[name] = scenario.node_settings(name).kernel
    for pair in scenario.pairs:
        for role in ROLES:
            found[pair.host(role)] = scenario.host_settings(pair.name, role).kernel
    wanted = {name: kernel for name, kernel in found.items() if kernel}
    bare = {ns.name: ns.name.rpartition(".")[2] if scenario.isolate else ns.name
            for ns in plan.namespaces}  # fmt: skip
    return {ns: wanted[name] for ns, name in bare.items() if name in wanted}


def _check(scenario: Scenario, engine: str) -> None:
    """Refuse what several guests do not have."""
    if engine != "uml" or scenario.time != "virtual":
        _refuse(scenario, ("guests",), "the uml engine and virtual time with several guests")


def _refuse(scenario: Scenario, path: KeyPath, why: str) -> NoReturn:
    where = f"{scenario.document.where(path)}: " if scenario.document else ""
    raise ScenarioError(f"{where}{show(path)}expected {why}")


def _beginner(plan: Plan, name: str, made: Cut) -> int:
    """The guest in which a flow begins, or a program runs."""
    for program in plan.programs:
        if program.name == name:
            return made.guest_of[program.netns]
    flow = next(flow for flow in plan.flows if flow.name == name)
    return made.guest_of[client_command(asdict(flow), 0, 0)[1]]


def folder_of(out: Path, guest: int) -> Path:
    """The folder of a guest within that of the run."""
    return out / f"guest{guest}"


@dataclass(frozen=True)
class Elsewhere:
    """Machines to run guests on, and what a guest with a line of kernels needs there."""

    fleet: Fleet
    needs: Callable[[str | None], Needs]
    log: Log


def run_guests(
    made: Cut,
    data: dict[str, Any],
    job: Job,
    prepare: Prepare,
    observe: Observe,
    elsewhere: Elsewhere | None = None,
) -> tuple[dict[str, Any], Outcome]:
    """Run it; return what all agents saw, and an outcome with what all kernels complained of.

    `data` is the plan of all, `job` what each guest is to do but for its part of that.
    """
    assert job.out is not None
    members, folders = [], []
    for guest in range(made.guests):
        folder = folder_of(job.out, guest)
        folder.mkdir()
        (folder / "plan.json").write_text(json.dumps(part_of(data, made, guest)))
        kernel, modules, env = prepare(made.kernels.get(guest))
        members.append((kernel, replace(job, out=folder, modules=modules, env=env)))
        folders.append(folder)
    if elsewhere:
        ended = run_on_machines(
            elsewhere.fleet, _work(made, job, members, elsewhere), elsewhere.log
        )
    else:
        ended = run_together(members, made.wires)
    raws = _observed(folders, ended, observe)
    _collect_files(folders, data["programs"], job.out)
    outcomes = [outcome for outcome in ended if outcome]
    log = "".join(outcome.kernel_log for outcome in outcomes)
    about = {"cut": made.described(), "wires_ns": made.delays_ns(data["links"])}
    return merged(raws) | about, replace(outcomes[0], kernel_log=log)


def _work(made: Cut, job: Job, members: Sequence[tuple[Kernel, Job]], elsewhere: Elsewhere) -> Work:
    """What the machines are to do."""
    assert job.out is not None
    return Work(
        [elsewhere.needs(made.kernels.get(guest)) for guest in range(made.guests)],
        [Ready(kernel, one.modules, one.env) for kernel, one in members],
        job,
        made.wires,
        job.out,
    )


def _collect_files(folders: Sequence[Path], programs: Sequence[dict[str, Any]], out: Path) -> None:
    """What programs printed and left, from the folders of their guests."""
    for folder in folders:
        for program in programs:
            for name in files_of(program["name"]):
                if (folder / name).exists():
                    (folder / name).rename(out / name)


def _observed(
    folders: Sequence[Path], ended: Sequence[Outcome | None], observe: Observe
) -> list[dict[str, Any]]:
    """What each agent saw; the error of the first guest that failed."""
    raws = []
    for guest, (folder, outcome) in enumerate(zip(folders, ended, strict=True)):
        if outcome is None:
            continue
        try:
            raws.append(observe(folder / "raw.json", outcome))
        except EngineError as error:
            raise type(error)(f"guest {guest}: {error}") from None
    return raws
