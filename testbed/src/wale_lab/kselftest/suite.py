# SPDX-License-Identifier: GPL-2.0
"""The kernel's selftests: unpacked from the source of the guest's kernel, and built.

They are in the cache, in a folder for each version of the source, whose file "built" tells that
they are built, too.  A helper that cannot be built,
as this system lacks a header, is left out: the test that needs it says so.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from wale_lab.engines.base import EngineError, Log
from wale_lab.engines.kernel_build import cache_root, find_source, locked
from wale_lab.engines.kernel_source import Source
from wale_lab.engines.processes import without_make

#: Where the tests are in a kernel's source.
SELFTESTS = "tools/testing/selftests"

#: The collections whose scripts run here, of those that the source has.
COLLECTIONS = ("net", "net/mptcp", "net/netfilter")

#: The collection of cases for tdc.py: each file of them is a test.
TC_TESTING = "tc-testing"

_SCRIPT = Path(__file__).with_name("script.sh")
_TDC = Path(__file__).with_name("tdc.sh")

#: What tests are built from, below the top of the source; ARCH is the machine's.
_PARTS = (
    "Makefile", "scripts", "include/uapi", "arch/ARCH", "tools/include", "tools/scripts",
    "tools/build", "tools/arch", f"{SELFTESTS}/*.h", f"{SELFTESTS}/lib.mk",
    f"{SELFTESTS}/kselftest", f"{SELFTESTS}/lib", f"{SELFTESTS}/net", f"{SELFTESTS}/tc-testing",
)  # fmt: skip

#: What the kernel calls a machine.
_ARCH = {"x86_64": "x86", "aarch64": "arm64", "ppc64le": "powerpc", "s390x": "s390"}

#: In a Makefile: lists of the tests of a collection.
_PROGS = re.compile(r"^TEST_PROGS\s*[:+]?=((?:.*\\\n)*.*)", re.M)


@dataclass(frozen=True)
class Test:
    """How a guest runs a test."""

    argv: list[str]
    folder: Path
    env: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Suite:
    """The tests of a kernel's source."""

    version: str
    folder: Path
    """the top of the source"""

    def collection(self, name: str) -> Path:
        """The folder of a collection."""
        return self.folder / SELFTESTS / name

    def _has(self, collection: str) -> bool:
        return (self.collection(collection) / "Makefile").exists()

    @cached_property
    def tests(self) -> dict[str, Test]:
        """The tests of all collections, by their names such as net:altnames.sh."""
        found, top = {}, self.folder / SELFTESTS
        for collection in filter(self._has, COLLECTIONS):
            for name in _listed(self.collection(collection)):
                argv = ["sh", str(_SCRIPT), collection, name]
                found[f"{collection}:{name}"] = Test(argv, top)
        folder = self.collection(TC_TESTING)
        cases = folder / "tc-tests"
        for path in sorted(cases.glob("*/*.json")):
            name = str(path.relative_to(cases).with_suffix(""))
            env = {"TDC_SOURCE": str(folder)}
            found[f"{TC_TESTING}:{name}"] = Test(["sh", str(_TDC), str(path)], folder, env)
        return found


def _listed(folder: Path) -> Iterator[str]:
    """What the Makefile of a collection calls its tests, as far as it is there."""
    text = (folder / "Makefile").read_text(encoding="utf-8")
    names = {name for found in _PROGS.findall(text) for name in found.replace("\\", " ").split()}
    yield from sorted(name for name in names if (folder / name).is_file())


def find_suite(version: str | None, log: Log) -> Suite:
    """The tests of a kernel's version, or of the newest; unpacked if need be."""
    source = find_source(version, log)
    built = hashlib.sha256(repr((_PARTS, COLLECTIONS)).encode()).hexdigest()[:8]
    folder = cache_root() / "kselftest" / f"{source.version}_{source.package}_{built}"
    if not folder.exists():
        with locked(folder.with_name(f"{folder.name}.lock"), log):
            if not folder.exists():
                new = folder.with_name(f".{folder.name}.new")
                _unpack(source, new, log)
                new.rename(folder)
    return Suite(source.version, folder)


def build_suite(suite: Suite, log: Log) -> None:
    """The headers of that kernel, and the helpers of its tests, if that is not done."""
    done = suite.folder / "built"
    if not done.exists():
        with locked(suite.folder.with_name(f"{suite.folder.name}.lock"), log):
            if not done.exists():
                _build(suite, log)
                done.touch()


def _arch() -> str:
    machine = platform.machine()
    return _ARCH.get(machine, machine)


def _unpack(source: Source, folder: Path, log: Log) -> None:
    """The parts of the source that the tests are built from."""
    log(f"unpacking the selftests of Linux {source.version}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    parts = [f"linux-source-*/{part.replace('ARCH', _arch())}" for part in _PARTS]
    command = ["tar", "-xf", str(source.archive), "-C", str(folder), "--strip-components=1"]
    command += ["--wildcards", *parts]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not (folder / SELFTESTS / "net/Makefile").exists():
        said = done.stderr.strip().splitlines() or ["it has no selftests"]
        raise EngineError(f"unpacking {source.archive} failed: {said[-1]}")


def _make(folder: Path, log_path: Path, *words: str) -> int:
    command = ["make", f"ARCH={_arch()}", f"-j{os.cpu_count() or 1}", *words]
    with log_path.open("a", encoding="utf-8") as file:
        return subprocess.run(
            command, cwd=folder, env={**without_make(), "LC_ALL": "C"}, stdin=subprocess.DEVNULL,
            stdout=file, stderr=subprocess.STDOUT, check=False,
        ).returncode  # fmt: skip


def _build(suite: Suite, log: Log) -> None:
    log(f"building the selftests of Linux {suite.version} (a minute)")
    log_path = suite.folder / "build.log"
    if _make(suite.folder, log_path, "headers"):
        raise EngineError(f"the headers of Linux {suite.version} cannot be built: see {log_path}")
    for collection in COLLECTIONS:
        _make(suite.collection(collection), log_path, "--keep-going")
