# SPDX-License-Identifier: GPL-2.0
"""What depends on what: nothing in a circle."""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
from pathlib import Path

import pytest

from conftest import TESTBED, lab_says
from wale_lab.engines.modules import BUILD
from wale_lab.guest import agent
from wale_lab.tree import IMPORTS, PACKAGE

TOP = Path(__file__).resolve().parents[2]

MODULES = {
    ".".join(path.relative_to(IMPORTS).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


def imports_of(path: Path) -> set[str]:
    """The modules of the package that a file imports, wherever it does."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: an import that is relative"
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else node.module for name in inside}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & set(MODULES)


def room(module: str) -> str:
    """A folder of the package, or a module beside the folders."""
    return ".".join(module.split(".")[:2])


def test_no_module_depends_on_itself() -> None:
    graph = {module: imports_of(path) - {module} for module, path in MODULES.items()}
    list(graphlib.TopologicalSorter(graph).static_order())  # CycleError names them


def test_no_folder_depends_on_itself() -> None:
    graph: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        others = {room(other) for other in imports_of(path)} - {room(module)}
        graph.setdefault(room(module), set()).update(others)
    list(graphlib.TopologicalSorter(graph).static_order())


def test_parts_of_the_agent_are_loaded_in_their_order() -> None:
    """Without an import that they take along: what a guest imports moves its clock."""
    allowed = {"ctypes", "fcntl", "json", "os", "signal", "struct", "sys", "time"}
    known = set[str]()
    for part in agent.PARTS:
        tree = ast.parse((PACKAGE / f"guest/{part}.py").read_text("utf-8"))
        for node in tree.body:  # not what is for mypy, or waits in a function
            if isinstance(node, ast.Import):
                assert {alias.name for alias in node.names} <= allowed, part
            elif isinstance(node, ast.ImportFrom):
                assert node.module in known, part
        known.add(f"wale_lab.guest.{part}")
    assert imports_of(Path(agent.__file__)) == known - {
        "wale_lab.guest.commands",
        "wale_lab.guest.namespaces",
    }


#: A function that other files may call: its type begins a line, and so does its body.
DEFINED = re.compile(r"^(?!static|typedef)[a-z][\w \t*]*?\b(\w+)\([^;{}]*\)\n\{", re.M)

#: What is no code: comments and strings.
NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"", re.S)


@pytest.mark.parametrize("folder", ["userspace/lib", "userspace/wale", "userspace/transfer"])
def test_no_file_of_c_calls_itself_through_others(folder: str) -> None:
    texts = {
        path.stem: NO_CODE.sub(" ", path.read_text(encoding="utf-8"))
        for path in sorted((TOP / folder).glob("*.c"))
    }
    of = {name: stem for stem, text in texts.items() for name in DEFINED.findall(text)}
    assert len(of) > len(texts)
    graph = {
        stem: {of[word] for word in set(re.findall(r"\w+", text)) & set(of)} - {stem}
        for stem, text in texts.items()
    }
    list(graphlib.TopologicalSorter(graph).static_order())


def cross_calls(objects: list[Path]) -> dict[str, set[str]]:
    """Which object files use what another one of them defines, if only by a macro or inline."""
    defined: dict[str, str] = {}
    used: dict[str, set[str]] = {}
    for path in objects:
        command = ["nm", "--format=posix", str(path)]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for name, kind, *_ in map(str.split, listed.splitlines()):
            if kind == "U":
                used.setdefault(path.stem, set()).add(name)
            elif kind.isupper():
                defined[name] = path.stem
    return {
        file: {defined[name] for name in names if name in defined} - {file}
        for file, names in used.items()
    }


@pytest.fixture(scope="session")
def built_modules() -> Path:
    """The folder in which the modules of the guest's kernel are built, with what they are of."""
    command = [str(TESTBED / "wale-lab"), "exec", "--quiet", "--modules=sch_wale,tcp_ratcp"]
    subprocess.run([*command, "--", "true"], check=True)
    return BUILD / "modules" / lab_says("modules")


@pytest.mark.guest
@pytest.mark.parametrize("folder", ["kmod/wale", "kmod/rate_feedback", "tcp_ratcp"])
def test_no_c_file_of_a_module_depends_on_itself(built_modules: Path, folder: str) -> None:
    sources = {path.stem for path in (TOP / folder).glob("*.c")}
    objects = [p for p in (built_modules / folder).glob("*.o") if p.stem in sources]
    assert {path.stem for path in objects} == sources
    list(graphlib.TopologicalSorter(cross_calls(objects)).static_order())
