# SPDX-License-Identifier: GPL-2.0
"""What a guest of one experiment needs on a machine, and whether two machines have the same.

A digest is that of one machine only if all machines run the same: wale-lab, kernels, modules and
programs.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from wale_lab.engines.base import Kernel, Log
from wale_lab.engines.kernel_modules import find_kernel_modules
from wale_lab.engines.modules import find_modules, find_userspace
from wale_lab.engines.uml import UmlEngine
from wale_lab.tree import PACKAGE, version

#: Programs of the machine that set up the network of a guest, and the Python of its agent.
_PROGRAMS = ("ip", "tc", "wale", "iperf3", "/usr/bin/python3")


@dataclass(frozen=True)
class Needs:
    """What a guest is to have."""

    kernel: str | None  # None: the newest
    of_kernel: Sequence[str]  # modules that come with it
    of_tree: Sequence[str]  # our own

    def find(self, log: Log) -> Ready:
        """Find or build it."""
        kernel = UmlEngine().prepare(self.kernel, log)
        modules = find_kernel_modules(kernel, list(self.of_kernel), log)
        modules += find_modules(kernel, self.of_tree, log)
        return Ready(kernel, modules, find_userspace(log))


@dataclass(frozen=True)
class Ready:
    """It is there."""

    kernel: Kernel
    modules: Sequence[Path]
    env: dict[str, str]


def _digest(*files: Path) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


@cache
def _package_digest() -> str:
    """Of wale-lab itself: what it says in which file."""
    sources = [p for p in PACKAGE.rglob("*") if p.suffix in (".py", ".c", ".h")]
    lines = [f"{p.relative_to(PACKAGE)} {_digest(p)}\n" for p in sorted(sources)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:12]


def identity(ready: Sequence[Ready]) -> dict[str, str]:
    """What shapes the results of these guests, with its version or its content."""
    found = {"wale-lab": f"{version()}, files {_package_digest()}"}
    for one in ready:
        line = one.kernel.release.split(".")
        name = ".".join(line[:2])
        assert one.kernel.image is not None
        found[f"Linux {name}"] = f"{one.kernel.release}, image {_digest(one.kernel.image)}"
        for module in one.modules:
            found[f"{module.stem} for Linux {one.kernel.release}"] = _digest(module)
        for program in _PROGRAMS:
            path = shutil.which(program, path=one.env["PATH"])
            found[program] = _digest(Path(path).resolve()) if path else "none"
    return found


def differences(here: dict[str, str], there: dict[str, str]) -> list[str]:
    """What two machines both have, and not alike, in words."""
    return [
        f"{name} ({there[name]} there, {here[name]} here)"
        for name in here
        if name in there and here[name] != there[name]
    ]
