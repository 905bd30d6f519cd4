# SPDX-License-Identifier: GPL-2.0
"""`wale-lab compare --bisect`: find the commit of a kernel's tree that changed a number of a run.

The steps are those of `git bisect`, in a worktree of its own below the cache: the user's checkout
stays as it is, and as the worktree has the same path each time, each step compiles only what
differs from the one before.  A commit counts as bad if the number is nearer to what it is with the
bad commit than to what it is with the good one.  One that does not build, or whose run fails, is
skipped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from wale_lab.engines.base import EngineError
from wale_lab.engines.kernel_build import cache_root, locked, split_flavours
from wale_lab.errors import LabError, ScenarioError
from wale_lab.evaluation.kernels import (
    Cell,
    Difference,
    Wanted,
    cells,
    differences,
    records_of,
)
from wale_lab.files import make_folder
from wale_lab.progress import Progress
from wale_lab.units import show_count

#: What a step says of a commit, as words of `git bisect`.
_GOOD, _BAD, _SKIP = "good", "bad", "skip"

#: Variables by which git, whose hook may have started us, names another repository.
_OF_ANOTHER = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR")

#: What `git bisect` says at the end; the second form if only commits are left that it skipped.
_FIRST = re.compile(r"^([0-9a-f]{40,64}) is the first '?bad'? commit$", re.M)
_ONLY_SKIPPED = re.compile(r"first '?bad'? commit could be any of:\n((?:[0-9a-f]{40,64}\n)+)")


@dataclass(frozen=True)
class Step:
    """A commit that was tried."""

    commit: str
    word: str
    value: float | None
    why: str = ""
    """it was skipped"""


@dataclass
class Search:
    """A search in a worktree: what was tried, and what is left."""

    work: Path
    steps: list[Step] = field(default_factory=list)

    def git(self, *words: str) -> str:
        """What git prints; EngineError has its last words if it fails."""
        done = _git(self.work, *words)
        if done.returncode and not _ONLY_SKIPPED.search(done.stdout):
            raise EngineError(f"git {words[0]}: {_last_words(done)}")
        return done.stdout

    def run(self, good: str, bad: str, try_one: Callable[[str], Step]) -> list[str]:
        """The first bad commit; or several, if those between could not be tried."""
        said = self.git("bisect", "start", bad, good)
        while True:
            if first := _FIRST.search(said):
                return [first[1]]
            if several := _ONLY_SKIPPED.search(said):
                return several[1].split()
            step = try_one(self.git("rev-parse", "HEAD").strip())
            self.steps.append(step)
            said = self.git("bisect", step.word)


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    own = {key: value for key, value in os.environ.items() if key not in _OF_ANOTHER}
    env = {**own, "LC_ALL": "C"}
    command = ["git", "-C", str(folder), *words]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, env=env
        )
    except OSError as error:
        raise EngineError(f"--bisect needs git: {error.strerror}") from None


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    """Why git failed, in a line."""
    said = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
    return said[-1].strip()


def _commit(tree: Path, name: str) -> str:
    """The whole name of a commit."""
    if _git(tree, "rev-parse", "--git-dir").returncode:
        raise ScenarioError(f"--tree {tree}: expected a git repository with a kernel's source")
    done = _git(tree, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if done.returncode:
        raise ScenarioError(f"--bisect {name}: expected a commit of {tree}; it has none so called")
    commit = done.stdout.strip()
    if _git(tree, "cat-file", "-e", f"{commit}:Kconfig").returncode:
        raise ScenarioError(f"--tree {tree}: expected a kernel's source; {name} has no Kconfig")
    return commit


@contextmanager
def _worktree(tree: Path, commit: str, progress: Progress) -> Iterator[Path]:
    """A worktree of the repository, at the path that it always has; removed in the end."""
    place = hashlib.sha256(str(tree.resolve()).encode()).hexdigest()[:12]
    path = cache_root() / "bisect" / place
    with locked(path.with_suffix(".lock"), progress):
        _git(tree, "worktree", "remove", "--force", str(path))  # of one that was killed
        _git(tree, "worktree", "prune")
        progress(f"checking out {commit[:12]} of {tree}")
        done = _git(tree, "worktree", "add", "--detach", "--force", str(path), commit)
        if done.returncode:
            raise EngineError(f"git worktree: {_last_words(done)}")
        try:
            yield path
        finally:
            _git(path, "bisect", "reset", commit)
            _git(tree, "worktree", "remove", "--force", str(path))


def _cell(text: str | None, found: list[Difference]) -> Difference:
    """The number to go by: the one asked for, or that which differs most."""
    if text is None:
        return found[0]
    for one in found:
        if " ".join(one.cell) == " ".join(text.split()):
            return one
    known = ", ".join(repr(" ".join(one.cell)) for one in found[:10])
    raise ScenarioError(f"--number {text}: expected one of those that differ: {known}")


@dataclass
class _Kernels:
    """Runs of the scenario with the commits of a tree."""

    wanted: list[Wanted]
    jobs: int
    out: Path
    work: Path
    flavours: list[str]
    progress: Progress

    def runs_at(self, commit: str) -> list[dict[Cell, float]]:
        """The numbers of each seed, with the kernel of a commit."""
        done = _git(self.work, "checkout", "--quiet", "--detach", commit)
        if done.returncode:
            raise EngineError(f"git checkout {commit[:12]}: {_last_words(done)}")
        return self.runs()

    def runs(self) -> list[dict[Cell, float]]:
        """Those of what is checked out."""
        kernel = "+".join([str(self.work), *self.flavours])
        return cells(records_of(self.wanted, [kernel], self.out, self.jobs, self.progress))

    def step(self, number: Difference) -> Callable[[str], Step]:
        """What tries the commit that git has checked out."""

        def try_one(commit: str) -> Step:
            try:
                values = [run[number.cell] for run in self.runs()]
            except (LabError, KeyError) as error:
                why = "the number is not there" if isinstance(error, KeyError) else str(error)
                self.progress(f"{commit[:12]} is skipped: {why.splitlines()[0]}")
                return Step(commit, _SKIP, None, why.splitlines()[0])
            value = fmean(values)
            nearer = abs(value - number.after) < abs(value - number.before)
            word = _BAD if nearer else _GOOD
            self.progress(f"{commit[:12]} is {word}: {' '.join(number.cell)} is {value:.6g}")
            return Step(commit, word, value)

        return try_one


def bisect_command(args: argparse.Namespace, wanted: list[Wanted], out: Path) -> int:
    """`compare --bisect GOOD BAD --tree DIR`."""
    if args.tree is None:
        raise ScenarioError("--bisect: expected --tree with it, the repository of the kernel")
    if args.kernel:
        raise ScenarioError("--kernel: expected it without --bisect, whose kernels are of --tree")
    name, flavours = split_flavours(args.tree)
    tree = Path(name).expanduser()
    if args.number is not None and len(args.number.split()) != 3:
        raise ScenarioError(
            f"--number {args.number}: expected kind, name and measure, such as "
            "'flow reno goodput_Bps'"
        )
    good, bad = (_commit(tree, one) for one in args.bisect)
    if not _git(tree, "merge-base", "--is-ancestor", bad, good).returncode:
        raise ScenarioError(
            f"--bisect {' '.join(args.bisect)}: expected GOOD BAD, of which BAD is the later one"
        )
    make_folder(out / "runs")
    with Progress(quiet=args.quiet) as progress, _worktree(tree, good, progress) as work:
        own = _Kernels(wanted, args.jobs, out, work, flavours, progress)
        before = own.runs_at(good)
        found = differences(before, own.runs_at(bad))
        if not found:
            _tell_none(args, good, bad)
            return 0
        number = _cell(args.number, found)
        search = Search(work)
        first = search.run(good, bad, own.step(number))
        about = [_git(tree, "log", "-1", "--format=%h %s", one).stdout.strip() for one in first]
    _tell(args, number, search.steps, dict(zip(first, about, strict=True)))
    return 1


def _tell_none(args: argparse.Namespace, good: str, bad: str) -> None:
    if args.json:
        print(json.dumps({"scenario": args.scenario, "good": good, "bad": bad, "first": []}))
        return
    print(f"{args.scenario}: no number differs between {good[:12]} and {bad[:12]}")


def _tell(
    args: argparse.Namespace, number: Difference, steps: list[Step], first: dict[str, str]
) -> None:
    """The commit, or those of which it is one."""
    if args.json:
        data: dict[str, Any] = {
            "scenario": args.scenario,
            "number": number.data(),
            "first": list(first),
            "steps": [vars(step) for step in steps],
        }
        print(json.dumps(data, indent=2))
        return
    skipped = sum(step.word == _SKIP for step in steps)
    print(
        f"{args.scenario}: {' '.join(number.cell)}: {number.before:.6g} to {number.after:.6g}, "
        f"{show_count(len(steps), 'commit')} tried"
        + (f", {skipped} of them skipped" if skipped else "")
    )
    print("  changed by " + ("" if len(first) == 1 else "one of"))
    for about in first.values():
        print(f"    {about}")
