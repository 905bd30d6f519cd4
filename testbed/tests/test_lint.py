# SPDX-License-Identifier: GPL-2.0
"""What tools say of the tree: `make lint`.  A tool must find nothing and say nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.lint

#: Tracepoint headers look like nothing else in C.
TRACE_HEADER = ("OPEN_ENDED_LINE", "PARENTHESIS_ALIGNMENT")

#: kbuild's progress; everything else that it prints is a finding.
KBUILD_PROGRESS = re.compile(
    r"^(  (CC|LD|MODPOST|BTF|CHECK|GEN|Building) |make(\[\d+\])?: (Entering|Leaving) )"
    # without the kernel's own debug information there is no BTF: not ours to mend
    r"|^Skipping BTF generation"
)


def tracked(*patterns: str) -> list[str]:
    """Files that git tracks or would add, relative to the top."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.splitlines() if (TOP / name).is_file()]


def kernel_code() -> list[str]:
    """C of the modules, of the examples and of the tests, without the generated tables."""
    where = ("kmod/*.[ch]", "tcp_ratcp/*.[ch]", "Documentation/examples/*.[ch]")
    of_tests = ("testbed/tests/mistakes/*.c", "testbed/tests/controls/*.c")
    names = tracked(*where, *of_tests, "testbed/src/wale_lab/bench/module/*.c")
    return [name for name in names if "/vectors/" not in name]


def shell_scripts() -> list[str]:
    """Files whose first line names a shell."""
    found = []
    for name in tracked():
        with (TOP / name).open("rb") as file:
            if re.match(rb"#!.*[/ ](ba)?sh\b", file.readline()):
                found.append(name)
    return found


def silent(command: Iterable[str | Path], **environment: str) -> None:
    """Run a tool at the top; it must exit with 0 and print nothing."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=TOP,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert not done.returncode and not done.stdout, done.stdout or f"exit code {done.returncode}"


def test_checkpatch(kernel_tree: Path) -> None:
    script = kernel_tree / "scripts/checkpatch.pl"
    options = ["--no-tree", "--strict", "--quiet", "--terse", "--no-summary"]
    for name in kernel_code():
        # CamelCase: the kernel's own struct Qdisc
        ignored = ["CAMELCASE", *(TRACE_HEADER if name.endswith("_trace.h") else ())]
        if name.endswith("compat.h"):
            ignored.append("MACRO_ARG_UNUSED")  # that is what it hides
        if name.endswith("tcp_classic.c"):
            ignored.append("CONST_STRUCT")  # each namespace's ctl_table points to its own value
        silent(["perl", script, *options, f"--ignore={','.join(ignored)}", "--file", name])
    for cache in TOP.glob(".checkpatch-camelcase*"):
        cache.unlink()


def kbuild_findings(build: Path, kernel: Path, *arch: str, flags: str = "W=1") -> list[str]:
    """Build the modules from nothing, in a folder, and return what is no progress line."""
    done = subprocess.run(
        [TOP / "testbed/setup/build-modules", kernel, *arch],
        env={**os.environ, "WALE_BUILD": str(build), "BUILD_FLAGS": flags},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    findings = [line for line in done.stdout.splitlines() if not KBUILD_PROGRESS.match(line)]
    return findings if not done.returncode else [*findings, f"exit code {done.returncode}"]


@pytest.mark.guest
def test_gcc_w1_and_sparse(kernel_tree: Path, tmp_path: Path) -> None:
    """A kernel may need a newer sparse than there is: then the compiler's word is all."""
    findings = kbuild_findings(tmp_path, kernel_tree, "um", flags="W=1 C=2")
    without_sparse = [line for line in findings if "sparse is not available or not up to" in line]
    assert [line for line in findings if line not in without_sparse] == []
    if without_sparse:
        pytest.skip("sparse is not there, or too old for this kernel; gcc W=1 found nothing")


STOCK = sorted(
    path
    for path in Path("/usr/src").glob("linux-headers-*")
    if (path / "include/generated/utsrelease.h").exists()
)


@pytest.mark.parametrize("kernel", STOCK, ids=lambda path: path.name)
def test_stock_kernel_modules(kernel: Path, tmp_path: Path) -> None:
    assert not kbuild_findings(tmp_path, kernel)


def test_stock_kernels_are_there() -> None:
    if not STOCK:
        pytest.skip("no packaged kernel headers are installed (linux-headers-*)")


@pytest.mark.guest
def test_kernel_doc(kernel_tree: Path) -> None:
    """With each kernel: an older one reads fewer forms of C."""
    script = kernel_tree / "scripts/kernel-doc"
    options = ["-none", *(["-Wall"] if "Wall" in script.read_text() else [])]  # 6.1 has none
    silent([script, *options, *kernel_code()])


def test_kernel_versions_only_in_compat() -> None:
    pattern = re.compile(r"LINUX_VERSION_CODE|KERNEL_VERSION\(|WALE_HAVE_")
    built = tracked("kmod/*", "tcp_ratcp/*")
    named = [n for n in built if pattern.search((TOP / n).read_text())]
    assert sorted(named) == ["kmod/compat.h", "kmod/compat.mk"]


def test_clang_format() -> None:
    silent(["clang-format", "--dry-run", "--Werror", *tracked("userspace/*.[ch]")])


def test_shellcheck() -> None:
    silent(["shellcheck", *shell_scripts()])


def test_ruff() -> None:
    silent([sys.executable, "-m", "ruff", "check", "--quiet", "."])
    silent([sys.executable, "-m", "ruff", "format", "--quiet", "--check", "."])


def test_mypy() -> None:
    command = [sys.executable, "-m", "mypy", "--no-error-summary"]
    silent(command)


def test_man_pages() -> None:
    for name in tracked("userspace/man/*.[0-9]"):
        silent(["groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-z", name])


def test_licence_in_every_file() -> None:
    without_comments = re.compile(
        r"^COPYING$|\.(json|csv|png|txt|gitignore)$|^userspace/fuzz/(seeds|regressions)/"
        r"|/debian/(copyright|source/format)$|/(go\.sum|Cargo\.lock)$"
    )
    missing = []
    for name in tracked():
        if not without_comments.search(name):
            if b"SPDX-License-Identifier" not in (TOP / name).read_bytes()[:2000]:
                missing.append(name)
    assert missing == []


def test_no_file_longer_than_800_lines() -> None:
    written = re.compile(r"_gen\.|/vectors/")  # by a program
    names = [n for n in tracked("*.c", "*.h", "*.py", "*.sh") if not written.search(n)]
    long = {n: len((TOP / n).read_bytes().splitlines()) for n in names}
    assert {n: lines for n, lines in long.items() if lines > 800} == {}
