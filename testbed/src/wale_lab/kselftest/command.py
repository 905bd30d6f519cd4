# SPDX-License-Identifier: GPL-2.0
"""`wale-lab kselftest`: tests of the kernel's own selftests, unmodified, each in a new guest.

Time in the guest is virtual, so that a script prints the same each time, however busy the machine.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from wale_lab.engines import get_engine
from wale_lab.engines.base import EngineError, Job, Kernel, Outcome, wanted_kernel
from wale_lab.engines.kernel_build import parse_wanted, with_flavour
from wale_lab.engines.kernel_tree import is_tree
from wale_lab.engines.modules import userspace_env
from wale_lab.errors import ScenarioError
from wale_lab.kselftest.known import why_unable
from wale_lab.kselftest.suite import Suite, build_suite, find_suite
from wale_lab.progress import Progress
from wale_lab.workers import Workers

#: What the exit codes of a test mean; all others are failures.
_MEANS = {0: "pass", 4: "skip"}

#: What a guest needs beside what it has: some scripts start many programs at once.
_MEMORY_MB = 1024


@dataclass(frozen=True)
class Result:
    """What came of a test."""

    test: str
    result: str
    """pass, skip, fail, or differs: not the same output each time"""
    why: str
    """in words, if it did not pass"""
    seconds: float
    """of wall time"""
    digest: str
    """of its output"""
    output: str


def suite_of(kernel: str | None, progress: Progress) -> Suite:
    """The tests of a kernel's source, which need not be built."""
    wanted = wanted_kernel(kernel)
    if is_tree(wanted):
        raise ScenarioError(f"--kernel {wanted}: expected a version such as 6.12")
    return find_suite(parse_wanted(wanted).version, progress)


def prepare(suite: Suite, kernel: str | None, progress: Progress) -> Kernel:
    """The kernel with all that networks have; that and the tests are built if need be."""
    built = get_engine("uml").prepare(with_flavour(wanted_kernel(kernel), "net"), progress)
    build_suite(suite, progress)
    return built


def chosen(suite: Suite, words: list[str]) -> list[str]:
    """The tests of these names or patterns; all that can run if there are none."""
    every = list(suite.tests)
    if not words:
        return [name for name in every if why_unable(name) is None]
    found: list[str] = []
    for word in words:
        fitting = [name for name in every if fnmatch.fnmatchcase(name, word)]
        if not fitting:
            raise ScenarioError(
                f"kselftest: expected tests of Linux {suite.version} such as net:altnames.sh "
                f"(`--list` has all), got {word!r}"
            )
        found += fitting
    return list(dict.fromkeys(found))


def _ended(outcome: Outcome) -> bool:
    """Did the test end by itself?"""
    return outcome.reason in ("ok", "exit")


def _why(outcome: Outcome, result: str) -> str:
    if not _ended(outcome):
        return outcome.describe()
    if outcome.complaints:
        return "the kernel complained: " + outcome.kernel_log.strip().partition("\n")[0]
    if result == "pass":
        return ""
    said = [line.strip() for line in outcome.console.splitlines() if line.strip()]
    if result == "skip":
        marked = [line for line in said if "skip" in line.lower()]
        return (marked or said or ["it does not say why"])[0].removeprefix("SKIP: ")
    return f"exit={outcome.exit_code}"


def _run_one(name: str, kernel: Kernel, suite: Suite, wall_limit_s: float) -> Result:
    test = suite.tests[name]
    env = userspace_env()
    del env["TC_LIB_DIR"]  # tc has its own tables
    job = Job(
        argv=test.argv,
        cwd=str(test.folder),
        memory_mb=_MEMORY_MB,
        wall_limit_s=wall_limit_s,
        env=env | test.env,
    )
    outcome = get_engine("uml").run(kernel, job)
    sound = _ended(outcome) and not outcome.complaints
    result = _MEANS.get(outcome.exit_code, "fail") if sound else "fail"
    output = outcome.console if _ended(outcome) else f"{outcome.console}\n{outcome.tail()}"
    digest = hashlib.sha256(output.encode()).hexdigest()
    return Result(name, result, _why(outcome, result), round(outcome.wall_s, 1), digest, output)


def _run_several(names: list[str], args: argparse.Namespace) -> list[Result]:
    """Their results, in their order; each in a worker, so that an interrupt ends all guests."""
    workers = Workers()
    results: dict[int, Result] = {}
    shown = 0
    words = ["kselftest", "--quiet", "--json", f"--wall-limit={args.wall_limit}"]
    words += [f"--kernel={args.kernel}"] if args.kernel else []

    def run(number: int) -> None:
        try:
            done = workers.do([*words, "--", names[number]])
            why = "" if done.code in (0, 1) else done.why
        except EngineError as error:  # its worker is gone
            why = str(error)
        if why:  # it costs this test alone
            digest = hashlib.sha256(why.encode()).hexdigest()
            results[number] = Result(names[number], "fail", why.splitlines()[0], 0.0, digest, why)
            return
        (found,) = json.loads(done.printed)
        results[number] = Result(**found)

    def tell(_: Any) -> None:
        nonlocal shown
        while shown in results:
            if not args.json and args.times == 1:
                _tell(shown + 1, results[shown])
            shown += 1

    workers.do_all(range(len(names)), run, args.jobs, tell)
    return [results[number] for number in range(len(names))]


def _tell(number: int, result: Result) -> None:
    """A test as the kernel's runner writes it, in TAP."""
    for line in result.output.splitlines():
        print(f"# {line}".rstrip())
    collection, _, script = result.test.partition(":")
    text = f"selftests: {collection}: {script}"
    if result.result == "skip":
        print(f"ok {number} {text} # SKIP {result.why}", flush=True)
    elif result.result == "pass":
        print(f"ok {number} {text}", flush=True)
    else:
        print(f"not ok {number} {text} # {result.why}", flush=True)


def together(results: list[Result]) -> Result:
    """One result of several runs of a test."""
    first, digests = results[0], {one.digest for one in results}
    failed = [one for one in results if one.result == "fail"]
    if failed or len(digests) == 1:
        return (failed or results)[0]
    why = f"{len(digests)} different outputs in {len(results)} runs"
    return Result(first.test, "differs", why, first.seconds, first.digest, first.output)


def _list(args: argparse.Namespace) -> int:
    """`--list`: the tests, and why some cannot run."""
    with Progress(quiet=args.quiet) as progress:
        suite = suite_of(args.kernel, progress)
    names = chosen(suite, args.tests or ["*"])
    if args.json:
        print(json.dumps([{"test": name, "unable": why_unable(name)} for name in names], indent=2))
        return 0
    for name in names:
        why = why_unable(name)
        print(f"{name:44} cannot run: {why}" if why else name)
    return 0


def kselftest_command(args: argparse.Namespace) -> int:
    """The subcommand."""
    if args.list:
        return _list(args)
    with Progress(quiet=args.quiet) as progress:
        suite = suite_of(args.kernel, progress)
        names = chosen(suite, args.tests)
        kernel = prepare(suite, args.kernel, progress)
    if not args.json:
        print(f"TAP version 13\n1..{len(names)}", flush=True)
    if len(names) == args.times == 1:
        results = [_run_one(names[0], kernel, suite, args.wall_limit)]
    else:
        results = _run_several([name for name in names for _ in range(args.times)], args)
    if args.times > 1:
        runs = range(0, len(results), args.times)
        results = [together(results[begin : begin + args.times]) for begin in runs]
    if args.json:
        print(json.dumps([asdict(one) for one in results], indent=2))
    else:
        if len(names) == 1 or args.times > 1:
            for number, one in enumerate(results, 1):
                _tell(number, one)
        count = {word: sum(one.result == word for one in results) for word in ("pass", "skip")}
        failed = len(results) - sum(count.values())
        print(f"# {count['pass']} passed, {failed} failed, {count['skip']} skipped")
    return 1 if any(one.result in ("fail", "differs") for one in results) else 0
