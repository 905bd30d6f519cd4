# SPDX-License-Identifier: GPL-2.0
"""Congestion controls in BPF: objects (.bpf.o), or C (.bpf.c) that clang compiles."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from wale_lab.engines.base import EngineError, Log
from wale_lab.engines.kernel_build import cache_root
from wale_lab.errors import why

_FLAGS = ("-O2", "-g", "-target", "bpf", "-Wall")

_ELF_OF_BPF = (b"\x7fELF\x02", b"\xf7\x00")


def is_bpf(name: str | Path) -> bool:
    """Is a file a control in BPF, by its name?"""
    return str(name).endswith((".bpf.c", ".bpf.o"))


def find_object(file: Path, log: Log) -> Path:
    """The object of a file; EngineError if there is none."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise EngineError(f"{file}: cannot be read: {why(error)}") from None
    if file.name.endswith(".bpf.o"):
        magic, machine = _ELF_OF_BPF
        if not content.startswith(magic) or content[18:20] != machine:
            raise EngineError(f"{file}: expected an object that is compiled for BPF")
        return file.resolve()
    clang = shutil.which("clang")
    if clang is None:
        raise EngineError(f"{file}: to compile it, install: sudo apt-get install clang libbpf-dev")
    words: list[str | Path] = [clang, *_FLAGS, *_include_of_machine(), f"-I{file.resolve().parent}"]
    seen = subprocess.run([*words, "-E", file], capture_output=True, text=True, check=False)
    if seen.returncode:
        raise _error(file, seen.stderr)
    digest = hashlib.sha256("\0".join([*map(str, words), seen.stdout]).encode()).hexdigest()
    found = cache_root() / "bpf" / f"{file.name.removesuffix('.c')}-{digest[:12]}.o"
    if not found.exists():
        log(f"compiling {file}")
        found.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=found.parent) as work:
            made = Path(work, "made.o")
            command: list[str | Path] = [*words, "-c", file, "-o", made]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise _error(file, done.stderr)
            made.rename(found)
    return found


def _include_of_machine() -> list[str]:
    """Where asm/types.h is, which clang does not look for when it compiles for BPF."""
    said = subprocess.run(
        ["gcc", "-print-multiarch"], capture_output=True, text=True, check=False
    ).stdout.strip()
    return [f"-I/usr/include/{said}"] if said else []


def _error(file: Path, said: str) -> EngineError:
    """The compiler's first error, with its line; and what is missing if that is known."""
    if "bpf/bpf_helpers.h' file not found" in said:
        return EngineError(f"{file}: it needs libbpf's headers: sudo apt-get install libbpf-dev")
    found = re.search(r"^\S+?:\d+:\d+: (?:fatal )?error: .*$", said, re.M)
    return EngineError(found[0] if found else f"{file}: clang fails: {said.strip()[-500:]}")
