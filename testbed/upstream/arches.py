# SPDX-License-Identifier: GPL-2.0
"""Builds the modules and the userspace for other processors, and boots some: `make check-arch`.

For each architecture the kernel's source is configured like the guest's kernel, as far as the
architecture takes it, and prepared for modules.  The modules and their tests are compiled with
W=1, and with sparse where it is installed and new enough.  Every symbol that a module needs must
be one that the kernel or another module exports: a division of 64 bits on a processor of 32 would
need one that is not.  Where QEMU has a machine, the whole kernel and the tools are built, and
selftests run there on two processors; on x86, where the kernel checks its locks, more of them.

The results are printed as a table, and kept in build/arch/VERSION/arch.json.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import arch_boot
import arch_root
from arch_boot import Boot, Case, Machine
from commands import Commands, show
from fold import TOP
from objects import NO_SPARSE, is_progress
from patched import unpack_source
from wale_lab.engines.base import EngineError
from wale_lab.engines.kernel_build import Wanted, find_source
from wale_lab.engines.kernel_source import Source
from wale_lab.engines.processes import for_kbuild
from wale_lab.report.tested import circumstances, suite_of_selftest


@dataclass(frozen=True)
class Arch:
    """An architecture, with the kernel's name, its compiler, and what it needs configured."""

    name: str
    compiler: str
    about: str
    config: str = ""
    machine: Machine | None = None  # in which it is booted
    selftests: tuple[str, ...] = ("kunit", "start")


#: Checks of locks, RCU and sleeping, on two processors: User-Mode Linux has one.
_CHECKS = """\
CONFIG_PROVE_LOCKING=y
CONFIG_DEBUG_ATOMIC_SLEEP=y
CONFIG_DEBUG_NET=y
CONFIG_DEBUG_OBJECTS=y
CONFIG_DEBUG_OBJECTS_FREE=y
CONFIG_DEBUG_OBJECTS_TIMERS=y
CONFIG_DEBUG_OBJECTS_WORK=y
CONFIG_DEBUG_OBJECTS_RCU_HEAD=y
CONFIG_PROVE_RCU_LIST=y
CONFIG_RCU_EXPERT=y
CONFIG_STACKTRACE=y
CONFIG_KALLSYMS=y
CONFIG_FTRACE=y
CONFIG_ENABLE_DEFAULT_TRACERS=y
"""

ARCHES = (
    Arch(
        "arm64",
        "aarch64-linux-gnu-",
        "64 bits, little-endian",
        machine=Machine(
            ("qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a72"),
            "arch/arm64/boot/Image",
            "ttyAMA0",
            "arm64",
            "aarch64-linux-gnu",
            "CONFIG_SERIAL_AMBA_PL011=y\nCONFIG_SERIAL_AMBA_PL011_CONSOLE=y\n",
        ),
    ),
    Arch(
        "x86",
        "",
        "64 bits, with lockdep",
        _CHECKS,
        Machine(
            ("qemu-system-x86_64", "-machine", "pc", "-cpu", "max"),
            "arch/x86/boot/bzImage",
            "ttyS0",
            "amd64",
            "x86_64-linux-gnu",
            "CONFIG_SERIAL_8250=y\nCONFIG_SERIAL_8250_CONSOLE=y\n",
        ),
        ("kunit", "start", "life", "stress"),
    ),
    Arch("arm", "arm-linux-gnueabihf-", "32 bits, little-endian", "CONFIG_ARCH_MULTI_V7=y\n"),
    Arch(
        "s390",
        "s390x-linux-gnu-",
        "64 bits, big-endian",
        "CONFIG_MARCH_Z196=y\n",
        Machine(
            # without vectors: in QEMU 7.2 the kernel's checksum by these is wrong
            ("qemu-system-s390x", "-machine", "s390-ccw-virtio", "-cpu", "qemu,vx=off"),
            "arch/s390/boot/bzImage",
            "ttysclp0",
            "s390x",
            "s390x-linux-gnu",
            "CONFIG_SCLP_VT220_TTY=y\nCONFIG_SCLP_VT220_CONSOLE=y\n",
        ),
    ),
)

#: Of the kernel's source, what these need and User-Mode Linux does not.
_KEPT = ("drivers", *(f"arch/{arch.name}" for arch in ARCHES))

#: What modpost says where the list of the kernel's symbols is empty: exports() is that list here.
UNKNOWN = re.compile(
    r'WARNING: modpost: ("\w+" \[\S+\] undefined!|suppressed \d+ unresolved symbol)'
)

_EXPORT = re.compile(r"\b(EXPORT_\w*SYMBOL\w*)\(([^,)]+)")

#: Folders of a kernel in which there is something that the modules use.
_EXPORTERS = "block crypto drivers/base drivers/char fs include kernel lib mm net security".split()

_OF_TRACEPOINTS = ("__tracepoint_", "__traceiter_", "__SCK__tp_func_", "__SCT__tp_func_")

#: Made by kbuild for each module, and names that a macro puts together.
_ELSEWHERE = {
    "__this_module",
    *(f"get_random_u{bits}" for bits in (8, 16, 32, 64)),
    *(f"generic_atomic64_{op}{ret}" for op in ("add", "sub") for ret in ("", "_return")),
}


class ArchCheck:
    """The build for one architecture, below a folder of its own."""

    def __init__(self, arch: Arch, tree: Path, out: Path, run: Commands) -> None:
        self.arch, self.tree, self.out, self.run = arch, tree, out, run
        self.kernel, self.root = out / "kernel", out / "root"
        self.env = {"ARCH": arch.name, "CROSS_COMPILE": arch.compiler}

    def prepare(self) -> None:
        """Configure the kernel, and build it if it is to boot; else only what modules need."""
        self.kernel.mkdir(parents=True, exist_ok=True)
        wanted = self.out / "wanted.config"
        machine = self.arch.machine
        more = machine.all_config if machine else ""
        more += f'{self.arch.config}CONFIG_LOCALVERSION="-{self.arch.name}"\n'
        wanted.write_text(Wanted(None, "").config + more)
        self._make("allnoconfig", KCONFIG_ALLCONFIG=str(wanted))
        if machine:
            self._make(Path(machine.image).name, "modules")
        else:
            self._make("modules_prepare")
            (self.kernel / "Module.symvers").touch()

    def _make(self, *targets: str, **env: str) -> None:
        words = ["make", f"-j{os.cpu_count()}", "-C", self.tree, f"O={self.kernel}", *targets]
        self.run.text(words, inherited=for_kbuild(), both=True, **self.env, **env)

    def modules(self) -> str:
        """Compile the modules and their tests, and look for the symbols that they need."""
        build = self.out / "build"
        shutil.rmtree(build, ignore_errors=True)
        said = self.run.text(
            [TOP / "testbed/setup/build-modules", self.kernel, self.arch.name],
            both=True,
            CROSS_COMPILE=self.arch.compiler,
            WALE_BUILD=str(build),
            BUILD_FLAGS="W=1 C=2",
            KBUILD_MODPOST_WARN="1",
        )
        lines = [line for line in said.splitlines() if not UNKNOWN.search(line)]
        wrong = [line for line in lines if not is_progress(line) and NO_SPARSE not in line]
        made = list(build.rglob("*.ko"))
        wrong += [f"nothing exports {name}" for name in sorted(self._unknown(made))]
        if wrong or not made:
            raise EngineError("; ".join(wrong[:3]) or "no modules were built")
        word = "W=1" if any(NO_SPARSE in line for line in lines) else "W=1 and sparse"
        return f"{len(made)} modules, {word}"

    def _unknown(self, modules: list[Path]) -> set[str]:
        """The symbols that these modules need, and that nothing exports."""
        needed, ours = set[str](), set[str]()
        for module in modules:
            listed = self.run.text([f"{self.arch.compiler}nm", module])
            needed |= set(re.findall(r"^ +U (\w+)$", listed, re.M))
            ours |= set(re.findall(r"__ksymtab_(\w+)$", listed, re.M))
        return needed - ours - exports(self.tree, self.arch.name)

    def userspace(self) -> str:
        """Build the tools, with the libraries that Debian has for the architecture."""
        machine = self.arch.machine
        if not machine:
            return "not built: its compiler has no __int128"
        arch_root.make(self.root, machine.debian, self.run.say)
        shutil.rmtree(self.out / "userspace", ignore_errors=True)
        words = ["make", f"-j{os.cpu_count()}", "-C", str(TOP / "userspace")]
        flags = {"CC": f"{self.arch.compiler}gcc", "BUILD": str(self.out / "userspace")}
        flags |= arch_boot.link_flags(self.root, machine.triplet)
        self.run.text([*words, *(f"{name}={value}" for name, value in flags.items())], both=True)
        return "built"

    def selftests(self, names: Sequence[str], tdc: Path) -> list[Case]:
        """Boot the kernel, if there is a machine for it, and run selftests."""
        machine = self.arch.machine
        if not machine:
            return []
        modules, userspace = self.out / "build/modules", self.out / "userspace"
        boot = Boot(machine, self.kernel, self.root, modules, userspace)
        return boot.run(names, tdc, self.out, self.run)


def exports(tree: Path, arch: str) -> set[str]:
    """The symbols that a kernel's source exports on an architecture."""
    folders = [tree / part for part in (f"arch/{arch}", *_EXPORTERS)]
    command = ["grep", "-rhE", r"EXPORT_\w*SYMBOL\w*\(", "--include=*.[chS]", *map(str, folders)]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = set[str]()
    for kind, name in _EXPORT.findall(listed):
        if "TRACEPOINT" in kind:
            found |= {f"{start}{name}" for start in _OF_TRACEPOINTS}
        else:
            found.add(name.strip())
    return found | _ELSEWHERE


def keep_record(arch: str, release: str, cases: Sequence[Case]) -> None:
    """Write down what ran on a kernel, for `make tested-table`, which has one of each flavour."""
    suites: dict[str, dict[str, int]] = {}
    skips: dict[str, str] = {}
    for case in cases:
        suite = suites.setdefault(suite_of_selftest(case.selftest), dict.fromkeys(_OUTCOMES, 0))
        suite[case.outcome] += 1
        if case.skipped:
            skips[f"run.sh::{case.selftest}[{case.title}]"] = case.skipped
    about = {"engine": "qemu", "release": release, "flavour": arch}
    record = {**about, **circumstances(), "suites": suites, "skips": skips}
    file = TOP / f"build/tested/qemu-{release}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")


_OUTCOMES = ("passed", "failed", "skipped")


def main() -> int:
    parser = argparse.ArgumentParser(prog="testbed/upstream/arches.py", description=__doc__)
    parser.add_argument("--kernel", help="line of the kernel, such as 6.12")
    parser.add_argument("--out", type=Path, default=TOP / "build/arch")
    known = ", ".join(arch.name for arch in ARCHES)
    parser.add_argument("--selftest", action="append", help="of run.sh, to run instead")
    parser.add_argument("arches", nargs="*", help=f"of {known}")
    asked = parser.parse_args()
    if unknown := {*asked.arches} - {arch.name for arch in ARCHES}:
        parser.error(f"unknown architecture {min(unknown)!r}; expected some of {known}")

    try:
        source = find_source(asked.kernel, show)
        results = check(source, asked.out.resolve(), asked.arches, asked.selftest or ())
    except EngineError as error:
        print(f"check-arch: {error}", file=sys.stderr)
        return 2
    return 0 if all(row["passed"] for row in results) else 1


def check(
    source: Source, out: Path, names: Sequence[str], selftests: Sequence[str] = ()
) -> list[dict[str, object]]:
    """Build for these architectures, or for all; print and keep what came of it."""
    out = out / source.version
    run = Commands(out / "log")
    run.begin("source")
    tree = out / "linux"
    unpack_source(source, tree, keep=_KEPT)
    tdc = Path(run.text([TOP / "testbed/selftests/run.sh", "-t"]).strip())
    results: list[dict[str, object]] = []
    for arch in ARCHES:
        if names and arch.name not in names:
            continue
        began = time.monotonic()
        run.begin(arch.name)
        one = ArchCheck(arch, tree, out / arch.name, run)
        row: dict[str, object] = {"arch": arch.name, "about": arch.about, "passed": True}
        try:
            one.prepare()
            row |= {"modules": one.modules(), "userspace": one.userspace()}
            said = f"{row['modules']}; userspace {row['userspace']}"
            if cases := one.selftests(selftests or arch.selftests, tdc):
                keep_record(arch.name, arch_boot.release(one.kernel), cases)
                row["selftests"] = counts = Counter(case.outcome for case in cases)
                row["passed"] = not counts["failed"]
                said += "; selftests " + ", ".join(f"{n} {word}" for word, n in counts.items())
        except EngineError as error:
            said = f"FAILED {error}"
            row |= {"passed": False, "error": str(error)}
        row["seconds"] = round(time.monotonic() - began)
        print(f"{arch.name:<7}{arch.about:<24}{said}", flush=True)
        results.append(row)
    text = json.dumps({"kernel": source.package, "arches": results}, indent=1)
    (out / "arch.json").write_text(f"{text}\n")
    return results


if __name__ == "__main__":
    sys.exit(main())
