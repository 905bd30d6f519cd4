# SPDX-License-Identifier: GPL-2.0
"""Congestion controls in BPF: compiled, loaded into a stock kernel, and refused by others."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conftest import TESTBED
from test_network import check
from wale_lab.engines import bpf
from wale_lab.engines.base import EngineError
from wale_lab.runner import run_scenario

EXAMPLE = TESTBED.parent / "Documentation/examples/bpf_gentle/gentle.bpf.c"

FLOWS = f"""\
name: gentle
time: real
bottleneck: {{forward: {{rate: 4mbit, delay: 20ms, limit: 30kB, loss: 1%}}}}
flows:
  - {{name: by-file, cc: {EXAMPLE}, size: 1MB}}
  - {{name: reno, cc: reno, size: 1MB}}
"""

no_compiler = pytest.mark.skipif(
    not (shutil.which("clang") and Path("/usr/include/bpf/bpf_helpers.h").exists()),
    reason="needs clang and libbpf-dev",
)


@no_compiler
def test_compiled_once() -> None:
    said: list[str] = []
    found = bpf.find_object(EXAMPLE, said.append)
    assert found == bpf.find_object(EXAMPLE, said.append)
    assert len(said) <= 1
    assert found.name.startswith("gentle.bpf-") and found.suffix == ".o"


@no_compiler
def test_errors_of_the_compiler(tmp_path: Path) -> None:
    file = tmp_path / "my.bpf.c"
    file.write_text("int x = y;\n")
    with pytest.raises(EngineError, match=r"my\.bpf\.c:1:9: error: use of undeclared .* 'y'$"):
        bpf.find_object(file, print)
    file.write_text('#include "vmlinux.h"\n')
    with pytest.raises(EngineError, match=r"my\.bpf\.c:1:10: fatal error: 'vmlinux\.h' file not"):
        bpf.find_object(file, print)


def test_files_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EngineError, match=r"none\.bpf\.o: cannot be read: No such file"):
        bpf.find_object(tmp_path / "none.bpf.o", print)
    (tmp_path / "my.bpf.o").write_bytes(Path("/bin/sh").read_bytes()[:200])
    with pytest.raises(EngineError, match=r"expected an object that is compiled for BPF"):
        bpf.find_object(tmp_path / "my.bpf.o", print)
    (tmp_path / "my.bpf.c").write_text("")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(EngineError, match=r"to compile it, install: .* clang libbpf-dev"):
        bpf.find_object(tmp_path / "my.bpf.c", print)


@no_compiler
@pytest.mark.guest
@pytest.mark.parametrize("by", ["cc", "module"])
def test_uml_has_none(tmp_path: Path, by: str) -> None:
    """What the kernel says, and what it lacks."""
    files = [EXAMPLE] if by == "module" else []
    overrides = ["flows.by-file.cc=bpf_gentle"] if by == "module" else []
    with pytest.raises(EngineError) as caught:
        run_scenario(check(FLOWS, *overrides), 1, tmp_path, module_files=files)
    said = str(caught.value)
    assert "the kernel does not load it: No such process" in said
    assert "CONFIG_DEBUG_INFO_BTF" in said and "CONFIG_BPF_JIT" in said and "--engine vm" in said


@no_compiler
@pytest.mark.vm
def test_stock_kernel_has_it(tmp_path: Path) -> None:
    """By its file and by its name; a loss costs less than Reno's."""
    result = run_scenario(check(FLOWS, "isolate=on"), 1, tmp_path / "file", "vm", "6.12")
    assert [flow["error"] for flow in result["flows"]] == [None, None]
    gentle, reno = (flow["goodput_Bps"] for flow in result["flows"])
    assert gentle > reno
    named = check(FLOWS, "flows.by-file.cc=bpf_gentle")
    result = run_scenario(named, 1, tmp_path / "name", "vm", "6.12", module_files=[EXAMPLE])
    assert [flow["error"] for flow in result["flows"]] == [None, None]
