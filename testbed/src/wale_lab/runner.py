# SPDX-License-Identifier: GPL-2.0
"""`wale-lab run` and `wale-lab shell`: a scenario on an engine."""

from __future__ import annotations

import argparse
import errno
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from wale_lab.engines import bpf, get_engine, kernel_build
from wale_lab.engines.base import (
    HUNG_AFTER_S,
    OUT_DIR,
    Engine,
    EngineError,
    Job,
    Kernel,
    Outcome,
    TimedOut,
    wanted_kernel,
)
from wale_lab.engines.kernel_modules import find_kernel_modules
from wale_lab.engines.machine_needs import Needs
from wale_lab.engines.machines import SSH, Fleet
from wale_lab.engines.modules import find_modules, find_userspace
from wale_lab.errors import ScenarioError
from wale_lab.execute import write_through
from wale_lab.files import make_folder, output_folder
from wale_lab.guest import packet_recorder
from wale_lab.guest.commands import server_command
from wale_lab.guests import Elsewhere, check_shell, cut_of, folder_of, run_guests
from wale_lab.once import once
from wale_lab.progress import Progress
from wale_lab.refusal import check_controls, check_tools, refused
from wale_lab.results import result as results
from wale_lab.scenario import Scenario, find_scenario, load_scenario
from wale_lab.terminal import Terminal
from wale_lab.topologies.cut import Cut
from wale_lab.topologies.plan import Plan
from wale_lab.topologies.planning import make_plan
from wale_lab.tree import IN_CHECKOUT, PACKAGE, SOURCES, guest_program, version

#: In the guest as on the host: the distribution's Python, without site packages.
AGENT = guest_program(PACKAGE / "guest/agent.py")


def versions(kernel: Kernel, modules: list[Path], env: dict[str, str]) -> dict[str, str]:
    """The programs used, for result.json: by version, or by content if built here."""
    tools = {"python": platform.python_version(), "kernel_source": kernel.source}
    describe = ["git", "-C", str(SOURCES), "describe", "--always", "--dirty"]
    if not IN_CHECKOUT:
        tools["tree"] = f"installed, wale {version()}"
    else:
        with suppress(OSError):  # no git here
            git = subprocess.run(describe, capture_output=True, text=True, check=False)
            if git.returncode == 0:
                tools["tree"] = git.stdout.strip()
    wale = shutil.which("wale", path=env["PATH"])
    for path in [*modules, *([Path(wale)] if wale else [])]:
        tools[path.stem] = "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    for name, option in (("tc", "-V"), ("iperf3", "--version")):
        try:
            said = subprocess.run([name, option], capture_output=True, text=True, check=False)
        except OSError:
            continue
        tools[name] = said.stdout.partition("\n")[0].strip()
    return tools


def start(
    scenario: Scenario,
    engine: Engine,
    kernel_version: str | None,
    progress: Progress,
    module_files: Sequence[Path] = (),
) -> tuple[Kernel, list[Path], dict[str, str]]:
    """Everything that has to be there before a scenario can run."""
    if scenario.time == "virtual" and not engine.virtual_time:
        raise EngineError(f"the {engine.name} engine has no virtual time: run with --set time=real")
    if scenario.leads_outside and engine.name != "uml":
        raise EngineError(
            f"the {engine.name} engine has no way to the outside network (topology.outside): "
            "expected the uml engine, with time: real"
        )
    if engine.name == "uml" and not module_files:
        check_controls(scenario, kernel_build.congestion_controls())
    check_tools(scenario)
    if engine.name == "uml":
        kernel_version = guest_kernel(scenario, kernel_version)
    kernel = once(
        ("kernel", engine.name, kernel_version), lambda: engine.prepare(kernel_version, progress)
    )
    return kernel, *_programs(scenario, kernel, progress, module_files)


def guest_kernel(scenario: Scenario, version: str | None) -> str | None:
    """The version that a scenario's guests have, where a caller wants this one."""
    version = wanted_kernel(version)
    return kernel_build.with_flavour(version, "net") if scenario.needs_net() else version


def _programs(
    scenario: Scenario, kernel: Kernel, progress: Progress, module_files: Sequence[Path]
) -> tuple[list[Path], dict[str, str]]:
    """The modules of a scenario, in the order to load them, and the environment of programs."""
    own, ours = scenario.kernel_modules(), scenario.modules()
    module_files = [file for file in module_files if not bpf.is_bpf(file)]

    def find() -> tuple[list[Path], dict[str, str]]:
        modules = find_kernel_modules(kernel, own, progress)
        modules += find_modules(kernel, ours, progress, module_files)
        return modules, find_userspace(progress)

    modules, env = once(("programs", kernel, *own, *ours, *module_files), find)
    return list(modules), dict(env)


def planned(
    scenario: Scenario, seed: int, module_files: Sequence[Path], progress: Progress
) -> Plan:
    """The plan of a scenario, with its congestion controls in BPF."""
    plan = make_plan(scenario, seed)
    plan.bpf = [str(bpf.find_object(f, progress)) for f in module_files if bpf.is_bpf(f)]
    for flow in plan.flows:
        if bpf.is_bpf(flow.cc):
            flow.cc = str(bpf.find_object(scenario.folder / flow.cc, progress))
            plan.bpf += [flow.cc] if flow.cc not in plan.bpf else []
    return plan


def shared_part(data: dict[str, Any]) -> str | None:
    """What the agent uses of its plan before the guest may be copied (guest/agent.py, set_up).

    None: the runs of such plans share nothing.
    """
    if data["programs"]:
        return None
    early = {key: value for key, value in data.items() if key not in ("links", "record")}
    early["flows"] = [(flow["name"], server_command(flow)) for flow in data["flows"]]
    return json.dumps(early, sort_keys=True)


def run_scenario(
    scenario: Scenario,
    seed: int,
    out: Path,
    engine_name: str = "uml",
    kernel_version: str | None = None,
    progress: Progress | None = None,
    module_files: Sequence[Path] = (),
    packets: str | None = None,
    wall_limit_s: float | None = None,
    terminal: Terminal | None = None,
    fleet: Fleet | None = None,
) -> dict[str, Any]:
    """Run a scenario, write the files of `out`, return result.json's content.

    `packets`: log all of them, as a table of this form.  `wall_limit_s`: instead of the
    scenario's wall_limit.  `terminal`: what its programs share with that of the user.
    `fleet`: the machines of its guests, instead of this one.
    """
    progress = progress or Progress(quiet=True)
    engine = get_engine(engine_name)
    with output_folder(out):
        kernel, modules, env = start(scenario, engine, kernel_version, progress, module_files)
        plan = planned(scenario, seed, module_files, progress)
        if packets and not any(link.kind == "wale" for link in plan.links):
            raise EngineError("expected a link that is a wale qdisc for a log of packets: none is")
        with (
            tempfile.TemporaryDirectory(prefix=".wale-run-", dir=out) as exchange,
            results.replacing(out, Path(exchange, "earlier")),
        ):
            folder = Path(exchange)
            made = cut_of(scenario, plan, engine.name)
            if fleet:
                _check_fleet(fleet, made, module_files, plan)
            data = results.plan_data(
                plan,
                scenario,
                seed,
                packets=OUT_DIR if packets else None,
                terminal=terminal.plan() if terminal else None,
            )
            with _written_in(out):
                (folder / "plan.json").write_text(json.dumps(data))
            progress(f"running {scenario.name} in {scenario.time} time on {kernel.release}")
            job = Job(
                argv=[*AGENT, f"{OUT_DIR}/plan.json", f"{OUT_DIR}/raw.json"],
                out=folder,
                seed=seed,
                time=scenario.time,
                start=scenario.start,
                memory_mb=scenario.memory_mb,
                wall_limit_s=wall_limit_s or scenario.wall_limit / 1e9,
                hung_after_s=HUNG_AFTER_S + scenario.virtual_limit / 1e9,
                shared=shared_part(data),
                env=env,
                modules=modules,
                outside=scenario.leads_outside,
            )
            if made:
                raw, outcome = _in_guests(
                    scenario, made, data, job, out, kernel_version, progress, module_files, fleet
                )
            else:
                raw, outcome = _in_one(scenario, engine, kernel, job, out, packets, terminal)
            folders = [folder_of(folder, n) for n in range(made.guests)] if made else [folder]
            logged = _log_packets(folders, out, packets, plan, raw, progress) if packets else None
            about = {
                "engine": engine.name,
                "versions": once(
                    ("versions", kernel, *modules), lambda: versions(kernel, modules, env)
                ),
                "wall_s": round(outcome.wall_s, 3),
                "warnings": [f"kernel: {line}" for line in outcome.complaints],
            }
            result, series = results.make_result(raw, scenario, plan, seed, about, folder)
            if logged:
                result["packets"] = logged
            with _written_in(out):
                _keep_files(folder, out, scenario)
                results.write(out, result, series)
    return result


def _in_one(
    scenario: Scenario,
    engine: Engine,
    kernel: Kernel,
    job: Job,
    out: Path,
    packets: str | None,
    terminal: Terminal | None,
) -> tuple[dict[str, Any], Outcome]:
    """Run a scenario in one guest, or on the host; what the agent saw, and how it ended."""
    assert job.out is not None
    try:
        with terminal.attached(job.out) if terminal else nullcontext():
            outcome = engine.run(kernel, job)
    finally:
        if packets and engine.name == "host":  # its kernel is there afterwards
            packet_recorder.tidy()
    with _written_in(out):
        return _observed(job.out / "raw.json", outcome, scenario), outcome


def _in_guests(
    scenario: Scenario,
    made: Cut,
    data: dict[str, Any],
    job: Job,
    out: Path,
    kernel_version: str | None,
    progress: Progress,
    module_files: Sequence[Path],
    fleet: Fleet | None = None,
) -> tuple[dict[str, Any], Outcome]:
    """The same in several guests, of which each may have a kernel of its own."""

    def prepare(version: str | None) -> tuple[Kernel, list[Path], dict[str, str]]:
        version = version or kernel_version
        uml = get_engine("uml")
        kernel, modules, env = start(scenario, uml, version, progress, module_files)
        wire = once(("wire", kernel), lambda: find_modules(kernel, ["wale_wire"], progress))
        return kernel, [*modules, *wire], env

    def observe(path: Path, outcome: Outcome) -> dict[str, Any]:
        with _written_in(out):
            return _observed(path, outcome, scenario)

    def needs(version: str | None) -> Needs:
        wanted = guest_kernel(scenario, version or kernel_version)
        return Needs(wanted, scenario.kernel_modules(), [*scenario.modules(), "wale_wire"])

    elsewhere = Elsewhere(fleet, needs, progress) if fleet else None
    return run_guests(made, data, job, prepare, observe, elsewhere)


def _check_fleet(fleet: Fleet, made: Cut | None, module_files: Sequence[Path], plan: Plan) -> None:
    """Refuse what several machines do not have."""
    if made is None:
        raise EngineError("--hosts: expected a scenario that runs in several guests (guests)")
    if module_files or plan.bpf:
        raise EngineError(
            "--hosts: expected no --module and no .bpf.c: they are files of one machine"
        )
    fleet.shares(made.guests)


@contextmanager
def _written_in(out: Path) -> Iterator[None]:
    """Say which folder cannot be written to: its disk may be full."""
    try:
        yield
    except OSError as error:
        raise EngineError(f"cannot write the result in {out}: {error.strerror}") from None


def _keep_files(folder: Path, out: Path, scenario: Scenario) -> None:
    """Move what programs printed, and the files that they left, to the results."""
    for program in scenario.programs:
        for name in results.files_of(program.name):
            path = folder / name
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
            elif path.exists():
                path.rename(out / name)


def _log_packets(
    folders: Sequence[Path], out: Path, kind: str, plan: Plan, raw: dict[str, Any], log: Progress
) -> dict[str, Any]:
    """Write the log of all packets; EngineError if it would not be complete."""
    from wale_lab.packets.log import TraceError, write_log  # pyarrow takes time to load

    try:
        return write_log(folders, out, kind, plan, raw, log)
    except TraceError as error:
        raise EngineError(f"no log of packets: {error}") from None


def _observed(path: Path, outcome: Outcome, scenario: Scenario) -> dict[str, Any]:
    """What the agent wrote; ScenarioError if the kernel refuses the scenario, EngineError if
    there is nothing, OSError if it could not write."""
    if outcome.exit_code == os.EX_IOERR:
        raise OSError(errno.EIO, outcome.console.splitlines()[-1])
    raw: dict[str, Any] = {}
    if path.exists():
        try:
            raw = json.loads(path.read_text())
        except json.JSONDecodeError:
            raw = {}
    if "error" in raw:
        raise refused(scenario, raw["error"], raw.get("of", {}))
    if outcome.reason != "ok" or not raw:
        kind = TimedOut if outcome.reason in ("timeout", "hung") else EngineError
        raise kind(f"the run failed: {outcome.describe()}\n{outcome.tail(30)}")
    return raw


def run_command(args: argparse.Namespace) -> int:
    """The subcommand `run`."""
    if args.starter and not args.hosts:
        raise ScenarioError("wale-lab run: --starter: expected --hosts too, the machines it is for")
    scenario = load_scenario(find_scenario(args.scenario), args.set)
    out = Path(args.out or os.environ.get("WALE_OUT") or f"out/{scenario.name}")
    with Progress(quiet=args.quiet) as progress:
        result = run_scenario(
            scenario,
            args.seed,
            out,
            args.engine,
            args.kernel,
            progress,
            args.module_files,
            args.packets,
            fleet=Fleet(args.hosts, args.starter or SSH) if args.hosts else None,
        )
        if scenario.graph is not None:
            progress("drawing the network")
            from wale_lab.results.drawing import draw_topology

            draw_topology(scenario.resolved(), scenario.name, out / "topology.png")
        if args.plot:
            progress("drawing")
            from wale_lab.results.plot import draw

            draw([out])
        if args.html or args.open:
            progress("writing result.html")
            from wale_lab.results.page import open_page, write_page

            page = write_page([out])
    if args.open:
        open_page(page)
    if args.json:
        print(json.dumps(result, indent=2))
    elif not args.quiet:
        from wale_lab.results.table import print_result

        print_result(result, out)
    trouble = results.problems(result)
    for line in trouble:
        print(f"wale-lab: {line}", file=sys.stderr)
    return 1 if trouble else 0


def shell_command(args: argparse.Namespace) -> int:
    """The subcommand `shell`."""
    overrides = [*args.set, "time=real"]
    if args.start:
        overrides.append(f"start={args.start.isoformat()}")
    scenario = load_scenario(find_scenario(args.scenario), overrides)
    commands = _commands(args)
    engine = get_engine(args.engine)
    if args.out:
        make_folder(Path(args.out))
    with Progress(quiet=args.quiet) as progress:
        kernel, modules, env = start(scenario, engine, args.kernel, progress, args.module_files)
        plan = planned(scenario, args.seed, args.module_files, progress)
    check_shell(scenario, plan)
    interactive = commands is None
    with (
        tempfile.TemporaryDirectory(prefix="wale-shell-") as own,
        tempfile.TemporaryDirectory(prefix=".wale-shell-", dir=args.out or own) as hidden,
    ):
        exchange = Path(hidden)
        inside = f"{OUT_DIR}/{exchange.name}"
        startup = PACKAGE / "guest/shell.bashrc"
        command = ["/bin/bash", "--rcfile", str(startup), "-i"]
        if commands is not None:
            (exchange / "commands").write_bytes(commands)
            command = ["/bin/bash", "-c", f'. "$0"; . {inside}/commands', str(startup)]
        data = results.plan_data(plan, scenario, args.seed, shell=command)
        (exchange / "plan.json").write_text(json.dumps(data))
        size = os.get_terminal_size() if interactive and os.isatty(1) else None
        terminal = os.environ.get("TERM", "dumb") if os.isatty(1) else "dumb"
        env |= {"TERM": terminal, "WALE_SCENARIO": scenario.name}
        env |= {"WALE_NAMESPACES": " ".join(ns.name for ns in plan.namespaces)}
        if size:
            env |= {"WALE_ROWS": str(size.lines), "WALE_COLUMNS": str(size.columns)}
        job = Job(
            argv=[*AGENT, f"{inside}/plan.json", f"{inside}/raw.json"],
            out=exchange.parent,
            seed=args.seed,
            time="real",
            start=scenario.start,
            memory_mb=scenario.memory_mb,
            wall_limit_s=7 * 86400 if interactive else scenario.wall_limit / 1e9,
            env=env,
            modules=modules,
            interactive=interactive,
            outside=scenario.leads_outside,
            on_output=None if interactive else write_through,
        )
        outcome = engine.run(kernel, job)
        if (exchange / "raw.json").exists():  # not by the shell
            _observed(exchange / "raw.json", outcome, scenario)
    if outcome.reason not in ("ok", "exit"):
        raise EngineError(f"{outcome.describe()}\n{outcome.tail()}")
    return outcome.exit_code


def _commands(args: argparse.Namespace) -> bytes | None:
    """What a shell is to do: that of -c, or what comes in by no terminal; None: it has a prompt."""
    if args.command_line is not None:
        return os.fsencode(args.command_line)
    if sys.stdin is None:  # closed
        return b""
    return None if sys.stdin.isatty() else sys.stdin.buffer.read()
