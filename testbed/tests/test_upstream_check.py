# SPDX-License-Identifier: GPL-2.0
"""`make check-upstream` and `make check-arch`: what they go by, without building a kernel."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from wale_lab.engines.base import EngineError
from wale_lab.engines.kernel_source import Source
from wale_lab.tree import SOURCES

sys.path.insert(0, str(SOURCES / "testbed/upstream"))

import arch_boot
import arches
import check
from commands import Commands
from objects import is_progress
from patched import selecting, unpack_source
from steps import Steps


def test_a_step_that_passed_is_not_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unless what its result comes from is another."""
    ran = []

    def compiles() -> str:
        ran.append("compiles")
        return "2 objects"

    def boots() -> str:
        ran.append("boots")
        raise EngineError("no console")

    for key in ("a", "a", "b"):
        steps = Steps(Commands(tmp_path), tmp_path, key)
        assert [steps.passes(compiles), steps.passes(boots)] == [True, False]
    assert ran == ["compiles", "boots", "boots", "compiles", "boots"]
    assert capsys.readouterr().out.splitlines()[:2] == [
        "compiles    passed  2 objects",
        "boots       FAILED  no console",
    ]
    assert steps.results[1] == {"step": "boots", "passed": False, "result": "no console"}


@pytest.mark.parametrize(
    "name, decides",
    [
        ("kmod/wale/wale_link.c", True),
        ("testbed/setup/build-modules", True),
        ("testbed/upstream/objects.py", True),
        ("testbed/tests/test_lint.py", False),
        ("pyproject.toml", False),
        ("Documentation/scone.rst", False),
    ],
)
def test_files_that_decide_what_steps_give(name: str, decides: bool) -> None:
    assert (SOURCES / name).is_file()
    assert check._decides(SOURCES / name) is decides


def test_a_command_that_fails_names_its_log(tmp_path: Path) -> None:
    run = Commands(tmp_path)
    run.begin("each")
    with pytest.raises(EngineError, match=r"sh -c .* failed; its output is in .*/each\.log"):
        run.text(["sh", "-c", "echo one; echo two >&2; exit 1"])
    assert {"one", "two"} <= set((tmp_path / "each.log").read_text().splitlines())


@pytest.mark.parametrize(
    "line, progress",
    [
        ("  CC [M]  wale_size.o", True),
        ("  CHECK   wale_size.c", True),
        ("make[1]: Entering directory '/tmp'", True),
        ("wale_size.c:3:1: warning: no previous prototype for 'f'", False),
        ("WARNING: modpost: missing MODULE_DESCRIPTION() in sch_wale.o", False),
    ],
)
def test_warnings_are_no_progress(line: str, progress: bool) -> None:
    assert is_progress(line) is progress


def test_selftests_are_those_of_the_script() -> None:
    names = Commands(None).text([SOURCES / "testbed/selftests/run.sh", "-l"]).split()
    assert {check.BUILT_IN, *check.WITH_SANITIZERS} <= {*names}
    script = (SOURCES / "testbed/selftests/run.sh").read_text()
    with_sanitizers = script.partition('+san")')[0].rpartition("\tcase $name in\n")[2]
    assert all(name in with_sanitizers for name in check.WITH_SANITIZERS)


@pytest.mark.parametrize("value, tests", [("y", False), ("m", True)])
def test_the_kernel_has_the_modules(value: str, tests: bool) -> None:
    text = selecting(value)
    assert f"\tdef_tristate {value}\n" in text
    assert "select NET_SCH_WALE\n" in text
    assert ("NET_SCH_WALE_KUNIT_TEST" in text) is tests


def test_a_source_is_unpacked_anew_if_its_package_is_another(tmp_path: Path) -> None:
    tree = tmp_path / "linux"
    for version, package in (("6.12", "6.12.1-1"), ("7.2", "7.2.1-1"), ("7.2", "7.2.2-1")):
        archive = tmp_path / f"{package}.tar.xz"
        top = tmp_path / f"linux-source-{version}"
        top.mkdir(exist_ok=True)
        (top / "Makefile").write_text(package)
        subprocess.run(["tar", "-cJf", archive, "-C", tmp_path, top.name], check=True)
        for _ in range(2):
            unpack_source(Source(version, package, archive), tree)
            assert (tree / "Makefile").read_text() == package
            archive.unlink(missing_ok=True)  # it is not needed twice


def test_an_architecture_that_is_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would pass, with nothing built."""
    monkeypatch.setattr(sys, "argv", ["arches.py", "arm", "arm65"])
    monkeypatch.setattr(arches, "check", lambda *_: [])
    with pytest.raises(SystemExit, match="2"):
        arches.main()
    expected = "error: unknown architecture 'arm65'; expected some of arm64, x86, arm, s390\n"
    assert capsys.readouterr().err.endswith(expected)


def test_what_a_kernel_exports(tmp_path: Path) -> None:
    for name, text in {
        "net/core/a.c": "EXPORT_SYMBOL_GPL(dev_get);\nEXPORT_TRACEPOINT_SYMBOL(fib);\n",
        "arch/arm/lib.S": "EXPORT_SYMBOL(__aeabi_uidiv)\n",
        "arch/s390/b.c": 'EXPORT_SYMBOL_NS_GPL(diag, "S390");\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    found = arches.exports(tmp_path, "arm")
    assert found >= {"dev_get", "__aeabi_uidiv", "__tracepoint_fib", "__SCK__tp_func_fib"}
    assert not found & {"__aeabi_uldivmod", "diag"}


@pytest.mark.parametrize(
    "line, tolerated",
    [
        ('WARNING: modpost: "__udivdi3" [kmod/wale/sch_wale.ko] undefined!', True),
        ("WARNING: modpost: suppressed 356 unresolved symbol warnings because", True),
        ("WARNING: modpost: missing MODULE_LICENSE() in sch_wale.o", False),
        ("wale_size.c:3:1: warning: right shift count >= width of type", False),
    ],
)
def test_only_unknown_symbols_are_tolerated(line: str, tolerated: bool) -> None:
    """They are looked for among those that the kernel exports instead."""
    assert bool(arches.UNKNOWN.search(line)) is tolerated


CONSOLE = """\
machine: 6.12.117-s390 s390x, 2 processors\r
ok 1 kunit: wale_gso\r
not ok 2 kunit: wale_rem\r
ok 3 tcp # SKIP needs virtual time: it asserts times\r
# 1 passed, 1 failed, 1 skipped\r
machine: ended with 1\r
ok 4 kernel: a line of its log\r
"""


def test_cases_of_a_machine(tmp_path: Path) -> None:
    """They end where the machine says so, and agree with its exit code."""
    cases = arch_boot.cases(CONSOLE, 0, tmp_path)
    told = [(case.selftest, case.title, case.outcome) for case in cases]
    assert told == [
        ("kunit", "wale_gso", "passed"),
        ("kunit", "wale_rem", "failed"),
        ("tcp", "", "skipped"),
    ]
    for wrong in (CONSOLE[:100], CONSOLE.replace("ended with 1", "ended with 0")):
        with pytest.raises(EngineError, match="see "):
            arch_boot.cases(wrong, 0, tmp_path)
    log = "[    9.1] WARNING: possible circular locking dependency detected\r\n"
    with pytest.raises(EngineError, match=r"^the kernel complains: \[ .* detected; see "):
        arch_boot.cases(CONSOLE + log, 0, tmp_path)
