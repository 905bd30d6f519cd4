# SPDX-License-Identifier: GPL-2.0
"""Checks the patches for Linux: `make check-upstream`.

The patches are applied with `git am` and read by checkpatch.  What each of them brings is compiled
as it is after that patch.  The whole kernel is then built twice for User-Mode Linux, with the
modules built in and as modules, and boots with both.  In the second the selftests must pass with
the same cases as the modules of this tree in the kernel as it is, and scenarios must give the
digests that they give there with the modules of this tree.

Each step writes log/STEP.log below the output.  A step that passed is not repeated while the
patches, the tree and the kernel are the same, so that a check goes on where it was interrupted.
The results are printed as a table, and kept in check.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

import checkpatch
from commands import Commands, show, tracked
from fold import TOP
from linux import LinuxSeries
from objects import compile_each
from patched import Patched
from steps import Steps
from wale_lab.engines import kernel_build, kernel_source, kernel_tree
from wale_lab.engines.base import EngineError, Kernel
from wale_lab.engines.kernel_source import Source

#: Scenarios whose digests are compared.
SCENARIOS = ("demo", "shared")

#: Selftests that build a kernel of their own, with sanitizers.
WITH_SANITIZERS = {"truncation", "faults", "bounds-charge"}

#: What of this tree the results come from.
RESULTS_COME_FROM = (
    *("kmod/", "tcp_ratcp/", "userspace/", "testbed/src/", "testbed/selftests/"),
    *("testbed/setup/", "testbed/upstream/", "testbed/wale-lab"),
)

#: The selftest that runs with the modules built in.
BUILT_IN = "start"


class Check:
    """The steps, and their results."""

    def __init__(self, source: Source, kernel: Kernel, out: Path, selftests: list[str]) -> None:
        self.kernel, self.out = kernel, out
        self.run = Commands(out / "log")
        self.series = LinuxSeries(source, out / "linux")
        self.patches = self.series.write()[1:]
        self.patched = Patched(source, self.series, self.patches, out / "check", self.run)
        self.selftests = selftests or self._all_selftests()
        digest = hashlib.sha256(f"{kernel.release} {self.selftests}".encode())
        for file in (*self.patches, *filter(_decides, tracked())):
            digest.update(file.read_bytes())
        self.steps = Steps(self.run, out / "log", digest.hexdigest())

    def _all_selftests(self) -> list[str]:
        listed = self.run.text([TOP / "testbed/selftests/run.sh", "-l"]).split()
        return [name for name in listed if name not in WITH_SANITIZERS]

    def all(self) -> bool:
        """All steps, up to the first that fails."""
        steps: tuple[Callable[[], str], ...] = (
            *(self.apply, self.checkpatch, self.each, self.built_in),
            *(self.modules, self.in_guests, self.digests),
        )
        passed = all(map(self.steps.passes, steps))
        about = {"source": self.kernel.source, "complete": passed, "steps": self.steps.results}
        (self.out / "check.json").write_text(json.dumps(about, indent=1) + "\n")
        return passed

    def apply(self) -> str:
        """Apply the patches, and unpack the kernel that they are for."""
        self.patched.unpack()
        added = self.run.text(["git", "diff", "--shortstat", "base", "series"], self.patched.series)
        return f"{len(self.patches)} patches: {added.strip()}"

    def checkpatch(self) -> str:
        script = self.patched.tree / "scripts/checkpatch.pl"
        found = [line for one in self.patches for line in checkpatch.findings(script, one)]
        if found:
            raise EngineError(f"{len(found)} findings, the first: {found[0]}")
        return f"{len(self.patches)} patches, --strict, no finding"

    def each(self) -> str:
        """Compile what each patch brings, as it is after that patch."""
        return compile_each(self.kernel, self.patched, self.run)

    def built_in(self) -> str:
        """Build the kernel with the modules in it, and run a selftest there."""
        self.patched.configure("y")
        self._build()
        script = TOP / f"testbed/selftests/{BUILT_IN}.py"
        words = [TOP / "testbed/wale-lab", "exec", "--quiet", "--kernel", self.patched.tree]
        words += ["--wall-limit", "600", "--modules="]
        words += ["--env", f"PYTHONPATH={TOP}/testbed/src", "--", "python3", script]
        said = self.run.text(list(map(str, words)))
        passed = sum(line.startswith("ok ") for line in said.splitlines())
        return f"boots, {passed} cases of the selftest {BUILT_IN}"

    def modules(self) -> str:
        """Build the kernel with modules, and a copy of this tree that runs these."""
        self.patched.configure("m")
        kernel = self._build()
        count = self.patched.make_checkout(kernel, tracked())
        return f"{count} modules of the patched kernel {kernel.release}"

    def _build(self) -> Kernel:
        return kernel_tree.find_or_build(str(self.patched.tree), self.run.say)

    def in_guests(self) -> str:
        """Run the selftests in the patched kernel, and with this tree's modules in its own."""
        cases = [case for name in self.selftests for case in self._selftest(name)]
        skipped = sum("# SKIP" in case for case in cases)
        text = f"{len(cases)} cases of {len(self.selftests)} selftests, {skipped} skipped"
        return f"{text}, 0 failed; the same with this tree's modules"

    def _selftest(self, name: str) -> list[str]:
        """The cases of one, which pass in both kernels; kept for a check that is interrupted."""
        return list(self.steps.kept(f"in_guests-{name}", lambda: self._compared(name))["result"])

    def _compared(self, name: str) -> list[str]:
        checkout, tree = self.patched.checkout, str(self.patched.tree)
        theirs = self._cases(name, checkout, tree, WALE_NO_BUILD="1")
        ours = self._cases(name, TOP, self.series.version)
        if ours != theirs:
            one = next(a or b for a, b in zip_longest(ours, theirs) if a != b)
            raise EngineError(f"{name} has other cases with this tree's modules, such as {one}")
        return theirs

    def _cases(self, name: str, top: Path, kernel: str, **env: str) -> list[str]:
        """Run a selftest; its cases, without their numbers."""
        words = [str(top / "testbed/selftests/run.sh"), name]
        said = self.run.text(words, top, WALE_KERNEL=kernel, **env)
        return [line.split(" ", 2)[2] for line in said.splitlines() if line.startswith("ok ")]

    def digests(self) -> str:
        """Compare what scenarios give with its modules and with this tree's, built for it.

        The kernel and the programs are the same, since random numbers, and with them BBR's
        phase, are others in each kernel.
        """
        theirs = self._digests()
        self.patched.use_modules("tree")
        ours = self._digests()
        self.patched.use_modules("patched")
        if ours != theirs:
            raise EngineError(f"{theirs}; with this tree's modules {ours}")
        return f"{theirs}; the same with this tree's modules"

    def _digests(self) -> str:
        return ", ".join(f"{name} {self._digest(name)}" for name in SCENARIOS)

    def _digest(self, scenario: str) -> str:
        checkout, tree = self.patched.checkout, str(self.patched.tree)
        words = [str(checkout / "testbed/wale-lab"), "run", scenario, "--kernel", tree, "--json"]
        words += ["--out", str(self.out / "check/run")]
        return str(json.loads(self.run.text(words, checkout, WALE_NO_BUILD="1"))["digest"])[:8]


def _decides(file: Path) -> bool:
    """Does a file of this tree decide what the steps give?"""
    name = str(file.relative_to(TOP))
    return name.startswith(RESULTS_COME_FROM)


def main() -> int:
    parser = argparse.ArgumentParser(prog="testbed/upstream/check.py", description=__doc__)
    parser.add_argument("--kernel", help="line of the kernel, such as 7.2")
    parser.add_argument("--out", type=Path, default=TOP / "build/upstream")
    parser.add_argument("selftests", nargs="*", help="names of testbed/selftests/run.sh")
    asked = parser.parse_args()

    try:
        source = None if asked.kernel else kernel_source.newest_at_hand(kernel_build.cache_root())
        source = source or kernel_build.find_source(asked.kernel, show)
        kernel = kernel_build.find_or_build(source.version, show)
        passed = Check(source, kernel, asked.out.resolve(), asked.selftests).all()
    except EngineError as error:
        print(f"check-upstream: {error}", file=sys.stderr)
        return 2
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
