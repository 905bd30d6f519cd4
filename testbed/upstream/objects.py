# SPDX-License-Identifier: GPL-2.0
"""Compiles what each patch brings, as it is after that patch."""

from __future__ import annotations

import os
import re
from pathlib import Path

from commands import Commands
from patched import COMPILED, Patched
from wale_lab.engines.base import EngineError, Kernel
from wale_lab.engines.processes import for_kbuild

#: What kbuild prints when nothing is wrong.
_PROGRESS = re.compile(
    r"^(  (CC|LD|MODPOST|BTF|CHECK|GEN|Building)\b|make(\[\d+\])?: |Skipping BTF generation|$)"
)

#: Said instead of running sparse.
NO_SPARSE = "sparse is not available or not up to date"


def is_progress(line: str) -> bool:
    """Is it a line that kbuild prints when nothing is wrong?"""
    return bool(_PROGRESS.match(line))


def compile_each(kernel: Kernel, patched: Patched, run: Commands) -> str:
    """Compile the new objects of each patch; what kbuild says of them is an error."""
    git = ["git", "-C", str(patched.series)]
    commits = run.text([*git, "rev-list", "--reverse", "base..series"]).split()
    count, sparse = 0, True
    try:
        for commit in commits:
            run.text([*git, "checkout", "--quiet", commit])
            changed = run.text([*git, "show", "--format=", "--name-only", commit]).split()
            for folder in COMPILED:
                names = [
                    n.removeprefix(f"{folder}/") for n in changed if n.startswith(f"{folder}/")
                ]
                objects = [f"{name[:-2]}.o" for name in names if name.endswith(".c")]
                if objects:
                    sparse &= _compile(kernel, patched.series, folder, objects, run)
                count += len(objects)
    finally:
        run.text([*git, "checkout", "--quiet", "--force", "series"])
    word = "W=1 and sparse" if sparse else "W=1 (sparse is not there, or too old for this kernel)"
    return f"{count} objects, {word}, no warning"


def _compile(kernel: Kernel, top: Path, folder: str, objects: list[str], run: Commands) -> bool:
    """Compile some objects by themselves: until its last patch no module has them.  Tell whether
    sparse has read them, too."""
    kbuild = top / folder / "Kbuild"
    kbuild.write_text(f"obj-m := {' '.join(objects)}\nccflags-y := -I$(src)\n")
    flags = f"KCFLAGS=-I{top}/include -I{top}/include/uapi"
    words = ["make", f"-j{os.cpu_count()}", "-C", str(kernel.tree), f"M={top / folder}", flags]
    words += [f"ARCH={kernel.arch}", "W=1", "C=2", *objects]
    try:
        said = run.text(words, inherited=for_kbuild(), both=True)
    finally:
        kbuild.unlink()
    lines = said.splitlines()
    wrong = [line for line in lines if not is_progress(line) and NO_SPARSE not in line]
    if wrong:
        raise EngineError("; ".join(wrong[:3]))
    return not any(NO_SPARSE in line for line in lines)
