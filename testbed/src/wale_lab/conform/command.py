# SPDX-License-Identifier: GPL-2.0
"""`wale-lab conform`: the checks of an emulator, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wale_lab.conform.checks import CHECKS, TIMED, Check
from wale_lab.conform.evidence import Evidence, Figure, Finding, Tolerance, Unmeasurable
from wale_lab.conform.experiments import experiments
from wale_lab.conform.plain import AQM
from wale_lab.conform.promises import Promise, find_template, load_emulators, load_promises
from wale_lab.conform.statistics import percentile
from wale_lab.conform.template import PLACEHOLDERS, Template
from wale_lab.engines import get_engine
from wale_lab.engines.base import OUT_DIR, Engine, EngineError, Job, Kernel
from wale_lab.engines.modules import find_modules, find_userspace, userspace_env
from wale_lab.errors import ScenarioError
from wale_lab.progress import Progress
from wale_lab.tree import guest_program

GUEST = guest_program(Path(__file__).with_name("guest.py"))
WALL_LIMIT_S = 900
#: Words with a value that no check has chosen, which change when packets leave, or lose some.
_VALUE = r"(?: [a-z]\S*){0,2} [\d.]*[1-9]\S*"
MOVES = re.compile(
    rf"(?<!\S)(?:(?:slot|sessions|jitter|reorder|duplicate)(?! off){_VALUE}"
    r"|delay \S+ [\d.]*[1-9]\S*|trace [^{\s]\S*)"
)
LOSES = re.compile(
    rf"(?<!\S)(?:(?:loss|drop|corrupt)(?! off){_VALUE}|limit \d\S*(?: cells)?"
    r"|policy (?!tail(?!\S))\S+)"
)
STYLES = {
    "pass": "green",
    "fail": "bold red",
    "figure": "",
    "not offered": "dim",
    "refused": "yellow",
}


@dataclass
class Row:
    """The result of a check."""

    check: str
    verdict: str  # pass, fail, figure (no promise), not offered, or refused (by tc)
    figures: list[Figure] = field(default_factory=list)
    expected: str = ""  # what had to hold
    says: str = ""  # the promise, or why the emulator refused
    source: str = ""


def needs(template: Template, kernel: Kernel, log: Progress) -> tuple[list[Path], dict[str, str]]:
    """The modules and the environment for tc; without wale, tc has its own tables and plugins."""
    if "wale" in template.kinds:
        return find_modules(kernel, ["sch_wale"], log), find_userspace(log)
    env = userspace_env()
    del env["TC_LIB_DIR"]
    return [], env


def run_guest(
    engine: Engine,
    kernel: Kernel,
    template: Template,
    plan: dict[str, Any],
    args: argparse.Namespace,
    log: Progress,
) -> dict[str, Any]:
    """The observations of the guest in each experiment of the plan."""
    modules, env = needs(template, kernel, log)
    with tempfile.TemporaryDirectory(prefix="wale-conform-") as exchange:
        folder = Path(exchange)
        (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        log(f"sending through {args.qdisc} in {args.time} time on {kernel.release}")
        job = Job(
            argv=[*GUEST, f"{OUT_DIR}/plan.json", f"{OUT_DIR}/found.json"],
            out=folder,
            seed=args.seed,
            time=args.time,
            memory_mb=1024,
            wall_limit_s=WALL_LIMIT_S,
            env=env,
            modules=modules,
        )
        outcome = engine.run(kernel, job)
        if outcome.reason != "ok" or outcome.complaints:
            raise EngineError(f"the guest {outcome.describe()}\n{outcome.tail(30)}")
        found: dict[str, Any] = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    return found


def judge(check: Check, template: Template, seen: dict[str, Evidence], virtual: bool) -> Row:
    """A row of the table, from the guest's observations."""
    if not all(name in seen for name in check.experiments):
        return Row(check.name, "not offered")
    mine = {name: seen[name] for name in check.experiments}
    refused = [one.refused for one in mine.values() if one.refused is not None]
    if refused:
        return Row(check.name, "refused", says=refused[0])
    promise, tolerance = promised(check, template, mine), Tolerance.of(virtual)
    try:
        if not all(one.first for one in mine.values()):
            raise Unmeasurable("nothing came out")
        finding = check.judge(mine, tolerance)
    except Unmeasurable as reason:
        finding = Finding([Figure(str(reason), None)])
    if promise is None:
        return Row(check.name, "figure", finding.figures)
    held = finding.holds.get(promise.expect, False)
    why = None if held else excuse(template, mine)
    if not held and check.name in TIMED:
        why = why or too_late(mine, tolerance)
    if why:
        return Row(check.name, "figure", [*finding.figures, Figure(why, None)])
    expected = check.expectations[promise.expect]
    verdict = "pass" if held else "fail"
    return Row(check.name, verdict, finding.figures, expected, promise.says, promise.source)


def excuse(template: Template, seen: dict[str, Evidence]) -> str | None:
    """Why it may not be the emulator's fault that a promise is not held."""
    lost = any(any(one.lost) for one in seen.values())
    droppers = sorted(set(template.kinds) & AQM)
    if lost and droppers:
        why = f"nobody can say whose: {', '.join(droppers)} drops as it sees fit"
        return f"some were lost, and {why}"
    told = [line.chosen(one.experiment.values(template))
            for line in template.lines for one in seen.values()]  # fmt: skip
    own = [match[0] for pattern in ([MOVES, LOSES] if lost else [MOVES])
           for words in told for match in pattern.finditer(words)]  # fmt: skip
    if not own:
        return None
    return f"nobody can say why: the command line has {', '.join(dict.fromkeys(own))} of its own"


def too_late(seen: dict[str, Evidence], tolerance: Tolerance) -> str | None:
    """In real time: whether a plain timer was later than a departure may be."""
    late_ns = max(percentile(one.timers_ns or [0], 0.99) for one in seen.values())
    if late_ns <= tolerance.late_ns:
        return None
    return f"the machine was too late to tell: its timers were, p99 {late_ns / 1e6:.3g} ms"


def promised(check: Check, template: Template, seen: dict[str, Evidence]) -> Promise | None:
    """The manual's promise for the qdisc that is given the subject of the check."""
    line = template.line_of(check.subject)
    if line is None:
        return None
    promise = load_promises().get((line.kind, check.name))
    told = [line.words(one.experiment.values(template)) for one in seen.values()]
    return promise if promise is not None and promise.is_of(told) else None


def find_checks(names: list[str] | None) -> list[Check]:
    """The checks of these names, or all."""
    for name in names or ():
        if name not in CHECKS:
            raise ScenarioError(f"--check {name}: expected one of {', '.join(CHECKS)}")
    return [check for check in CHECKS.values() if names is None or check.name in names]


def conform(
    args: argparse.Namespace, template: Template, log: Progress
) -> tuple[list[Row], str | None]:
    """The rows of all checks that are wanted; the kernel, if there was something to run."""
    checks = find_checks(args.check)
    virtual = args.time == "virtual"
    engine = get_engine(args.engine)
    if virtual and not engine.virtual_time:
        raise EngineError(f"the {engine.name} engine has no virtual time: use --time real")
    known = experiments(virtual)
    wanted = {name for check in checks for name in check.experiments}
    able = {name: one for name, one in known.items() if name in wanted and one.runs_on(template)}
    found, release = {}, None
    if able:
        kernel = engine.prepare(args.kernel, log)
        release = kernel.release
        watch = {"watch_timers": not virtual}
        plan = {name: one.plan(template) | watch for name, one in able.items()}
        found = run_guest(engine, kernel, template, plan, args, log)
    seen = {name: Evidence(one, found[name], one.values(template)) for name, one in able.items()}
    refused = [one.refused for one in seen.values() if one.refused is not None]
    if refused and len(refused) == len(seen):
        raise ScenarioError(f"--qdisc {args.qdisc}: tc refuses it: {refused[0]}")
    return [judge(check, template, seen, virtual) for check in checks], release


def show_figure(figure: Figure) -> str:
    """A figure with its unit, short."""
    if figure.value is None:
        return figure.name
    value = f"{figure.value:.0f}" if abs(figure.value) >= 1e4 else f"{round(figure.value, 9):.4g}"
    return f"{figure.name} {value}" + (f" {figure.unit}" if figure.unit else "")


def table(rows: list[Row]) -> Table:
    """The rows for people."""
    result = Table(header_style="bold", pad_edge=False)
    for title in ("check", "verdict", "found", "promised"):
        result.add_column(title)
    for row in rows:
        promise = f"{row.says}" + (f" - {row.source}" if row.source else "")
        result.add_row(
            row.check,
            f"[{STYLES[row.verdict]}]{row.verdict}[/]" if STYLES[row.verdict] else row.verdict,
            ", ".join(map(show_figure, row.figures)),
            escape(promise),
        )
    return result


def list_json() -> str:
    """`--list --json`: the same as the tables, a list for each."""
    emulators = [
        {"name": name, "about": emulator.about, "tc": emulator.tc}
        for name, emulator in load_emulators().items()
    ]
    values = [{"name": name, "meaning": one.meaning} for name, one in PLACEHOLDERS.items()]
    checks = [
        {"name": name, "measures": check.measures, "promises": dict(check.expectations)}
        for name, check in CHECKS.items()
    ]
    return json.dumps({"emulators": emulators, "placeholders": values, "checks": checks}, indent=2)


def list_command(as_json: bool) -> int:
    """`--list`: the emulators, the placeholders and the checks."""
    if as_json:
        print(list_json())
        return 0
    emulators, checks, values = (Table(header_style="bold", pad_edge=False) for _ in range(3))
    for title in ("emulator", "what it is", "tc command line"):
        emulators.add_column(title)
    for name, emulator in load_emulators().items():
        emulators.add_row(name, emulator.about, escape(emulator.tc))
    values.add_column("placeholder")
    values.add_column("meaning")
    for name, placeholder in PLACEHOLDERS.items():
        values.add_row(f"{{{name}}}", placeholder.meaning)
    for title in ("check", "what is measured", "a promise may be"):
        checks.add_column(title)
    for check in CHECKS.values():
        what = "; ".join(f"{name}: {text}" for name, text in check.expectations.items())
        checks.add_row(check.name, check.measures, what)
    console = _console()
    for one in (emulators, values, checks):
        console.print(one)
    return 0


def _console() -> Console:
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=140)


def main(args: argparse.Namespace) -> int:
    """The subcommand; 1 if a check failed."""
    if args.list:
        return list_command(args.json)
    template = find_template(args.qdisc)
    with Progress(quiet=args.quiet) as log:
        rows, kernel = conform(args, template, log)
    if args.json:
        about = {name: getattr(args, name) for name in ("qdisc", "engine", "time", "seed")}
        about["template"] = template.text
        checks = [asdict(row) for row in rows]
        print(json.dumps(about | {"kernel": kernel, "checks": checks}, indent=2))
    else:
        console = _console()
        console.print(table(rows))
        if args.qdisc not in load_emulators() and "{" not in args.qdisc:
            console.print(
                "the values were chosen by the checks, as if given:", escape(template.text)
            )
        counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in STYLES}
        console.print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return int(any(row.verdict == "fail" for row in rows))
