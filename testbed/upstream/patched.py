# SPDX-License-Identifier: GPL-2.0
"""A kernel with the patches applied, and a copy of this tree that runs its modules."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from commands import Commands
from fold import TOP
from linux import MODULES, LinuxSeries
from wale_lab.engines.base import EngineError, Kernel
from wale_lab.engines.kernel_build import left_out
from wale_lab.engines.kernel_source import Source

#: Folders of the kernel with what the series compiles.
COMPILED = ("net/rate_feedback", "net/sched/wale")

#: A symbol without a prompt, which allnoconfig does not turn off.
_SELECTING = """
config UML_CHECKED_MODULES
	def_tristate {value}
	select KUNIT
	select NET_CLS_ACT
	select RATE_FEEDBACK
	select NET_SCH_WALE
"""

#: KUnit tests are modules, whatever they test.
_TESTS = """
config UML_CHECKED_TESTS
	def_tristate m
	depends on KUNIT
	select RATE_FEEDBACK_KUNIT_TEST
	select NET_SCH_WALE_KUNIT_TEST
"""


def selecting(value: str) -> str:
    """Kconfig that turns on the modules, built in ("y") or as modules ("m") with their tests."""
    return _SELECTING.format(value=value) + (_TESTS if value == "m" else "")


def unpack_source(source: Source, tree: Path, keep: Sequence[str] = ()) -> None:
    """Unpack a kernel, unless the tree is of this package: what User-Mode Linux needs, and the
    folders to `keep`."""
    unpacked = tree.with_suffix(".package")
    package = " ".join([source.version, source.package, *keep])
    if tree.exists() and unpacked.exists() and unpacked.read_text() == package:
        return
    new = tree.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    kept = tuple(f"{name}/" for name in keep)
    without = [pattern for pattern in left_out() if not pattern.startswith(kept)]
    source.unpack(new, without=without)
    shutil.rmtree(tree, ignore_errors=True)
    new.rename(tree)
    unpacked.write_text(package)


class Patched:
    """Folders below `out`: the series in git, the whole source, and the copy of this tree."""

    def __init__(
        self, source: Source, series: LinuxSeries, patches: list[Path], out: Path, run: Commands
    ) -> None:
        self.source, self.made, self.patches, self.run = source, series, patches, run
        self.series, self.tree, self.checkout = out / "series", out / "linux", out / "checkout"

    def unpack(self) -> None:
        """Apply the patches with git am, in a repository of the files that they change; then
        put these into the whole source, all but what is not needed for User-Mode Linux."""
        shutil.rmtree(self.series, ignore_errors=True)
        self.made.base(self.series)
        self.run.text(["git", "tag", "base"], self.series)
        self.run.text(["git", "am", *self.patches], self.series)
        unpack_source(self.source, self.tree)
        for folder in COMPILED:
            shutil.rmtree(self.tree / folder, ignore_errors=True)
        for name in self.run.text(["git", "ls-files"], self.series).splitlines():
            self._put(name)

    def _put(self, name: str) -> None:
        """Copy a file if its content is another; the time of others stays, by which the state of
        a tree is known."""
        target, content = self.tree / name, (self.series / name).read_bytes()
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    def configure(self, value: str) -> None:
        """Have the modules built in ("y"), or as modules ("m")."""
        file = self.tree / "net/Kconfig"
        text = (self.series / "net/Kconfig").read_text() + selecting(value)
        if file.read_text() != text:
            file.write_text(text)

    def make_checkout(self, kernel: Kernel, files: list[Path]) -> int:
        """A copy of this tree with the modules of the patched kernel; their number.

        What is not in the series (tcp_ratcp and the testbed's own) is built from the tree.  So is
        what is, for that kernel, and kept beside: use_modules() chooses.
        """
        if kernel.image is None or kernel.tree is None:
            raise EngineError("the patched kernel has no image")
        made = sorted((kernel.image.parent / "modules").rglob("*.ko"))
        own = {path.stem: path for path in made if path.stem in self._expected()}
        missing = self._expected() - own.keys()
        if missing:
            raise EngineError(f"the patched kernel has no module {', '.join(sorted(missing))}")
        shutil.rmtree(self.checkout, ignore_errors=True)
        for file in files:
            target = self.checkout / file.relative_to(TOP)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
        build = [self.checkout / "testbed/setup/build-modules", kernel.tree, kernel.arch or ""]
        self.run.text(build, self.checkout, WALE_KUNIT="y")
        there = {path.stem: path for path in self.checkout.glob("build/modules/*/**/*.ko")}
        for name, path in own.items():
            shutil.copy2(there[name], there[name].with_suffix(".ko.tree"))
            shutil.copy2(path, there[name].with_suffix(".ko.patched"))
        self.use_modules("patched")
        self.run.text(["make", "-s", f"-j{os.cpu_count()}", "userspace"], self.checkout)
        return len(own)

    def use_modules(self, whose: Literal["patched", "tree"]) -> None:
        """Let the copy of this tree run the patched kernel's, or this tree's built for it."""
        for path in self.checkout.glob(f"build/modules/*/**/*.ko.{whose}"):
            shutil.copy2(path, path.with_suffix(""))

    def _expected(self) -> set[str]:
        """The modules that the series makes, with those of its tests."""
        tests = (self.series / folder / "tests" for folder in COMPILED)
        return {*MODULES.values(), *(p.stem for one in tests for p in one.glob("*_kunit.c"))}
