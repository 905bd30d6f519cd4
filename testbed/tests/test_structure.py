# SPDX-License-Identifier: GPL-2.0
"""What depends on what: nothing in a circle."""

from __future__ import annotations

import ast
import graphlib
import re
from pathlib import Path

import pytest

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
    of_others = {"wale_lab.guest.commands", "wale_lab.guest.tc"}
    assert imports_of(Path(agent.__file__)) == known - of_others


#: What is no code: comments and strings.
NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"", re.S)

#: What other files may use: a function whose body begins a line, or data; and trace events.
DEFINED = re.compile(
    r"^(?!static|typedef|extern|return)[A-Za-z][\w \t*]*[\s*]((?!__)\w+)"
    r"(?:\([^;{}]*\)\n\{|(?:\[[^\]]*\])* =|(?: __\w+)?;)",
    re.M,
)
MUTEX = re.compile(r"^DEFINE_MUTEX\((\w+)\)", re.M)
EVENT = re.compile(r"^TRACE_EVENT\((\w+)", re.M)

#: What a header puts into the files that use it: a function or a macro with its body.
IN_HEADER = (
    re.compile(r"^static (?:__always_)?inline\s[^(;]*?(\w+)\([^;{}]*\)\n\{(.*?)^\}", re.M | re.S),
    re.compile(r"^#\s*define\s+(\w+)((?:[^\n]*\\\n)*[^\n]*)", re.M),
)


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def code_of(folder: Path, pattern: str) -> dict[str, str]:
    """The files of a folder without comments and strings."""
    paths = sorted(folder.glob(pattern))
    return {path.name: NO_CODE.sub(" ", path.read_text(encoding="utf-8")) for path in paths}


def defined_by(files: dict[str, str]) -> dict[str, str]:
    """Which file has what others may use."""
    return {
        name: file
        for file, text in files.items()
        for name in (*DEFINED.findall(text), *MUTEX.findall(text))
    }


def uses_of_files(folder: Path) -> dict[str, set[str]]:
    """Which C files use what another one of them defines, if only by a macro or inline."""
    files, headers = code_of(folder, "*.c"), code_of(folder, "*.h")
    defined = defined_by(files)
    for file, text in files.items():
        if "CREATE_TRACE_POINTS" in text:
            (events,) = (text for name, text in headers.items() if name.endswith("_trace.h"))
            files[file] += events
            defined |= {f"trace_{name}": file for name in EVENT.findall(events)}
    bodies = {
        name: words(body)
        for text in headers.values()
        for pattern in IN_HEADER
        for name, body in pattern.findall(text)
    }
    graph = {}
    for file, text in files.items():
        seen: set[str] = set()
        new = words(text)
        while new:
            seen |= new
            new = set().union(*(bodies.get(word, set()) for word in new)) - seen
        graph[file] = {defined[name] for name in seen & set(defined)} - {file}
    return graph


@pytest.mark.parametrize(
    "folder",
    [
        "kmod/wale",
        "kmod/rate_feedback",
        "tcp_ratcp",
        "userspace/lib",
        "userspace/wale",
        "userspace/transfer",
    ],
)
def test_no_file_of_c_depends_on_itself(folder: str) -> None:
    graph = uses_of_files(TOP / folder)
    assert sum(map(bool, graph.values())) >= len(graph) / 2
    list(graphlib.TopologicalSorter(graph).static_order())  # CycleError names them


def test_circles_of_c_are_found(tmp_path: Path) -> None:
    """By a call, by an inline function, by a macro, by data, by a trace event."""
    (tmp_path / "a.c").write_text("int a(void)\n{\n\treturn b_inline();\n}\n")
    (tmp_path / "b.c").write_text("int b(void)\n{\n\treturn C_MACRO(1); /* a */\n}\n")
    (tmp_path / "c.c").write_text('int c(void)\n{\n\tprintf("a()");\n\treturn d_table[0];\n}\n')
    (tmp_path / "d.c").write_text(
        "const int d_table[2] = {\n\t1,\n};\nvoid d(void)\n{\n\ttrace_e(1);\n}\n"
    )
    (tmp_path / "e_trace.c").write_text("#define CREATE_TRACE_POINTS\n")
    (tmp_path / "e_trace.h").write_text("TRACE_EVENT(e,\n\tTP_fast_assign(a();)\n);\n")
    (tmp_path / "x.h").write_text(
        "static inline int b_inline(void)\n{\n\treturn b();\n}\n#define C_MACRO(x) \\\n\tc()\n"
    )
    assert uses_of_files(tmp_path) == {
        "a.c": {"b.c"},
        "b.c": {"c.c"},
        "c.c": {"d.c"},
        "d.c": {"e_trace.c"},
        "e_trace.c": {"a.c"},
    }


#: Memory of messages and packets, which is not charged (rate_message.c makes no other), and
#: what charges memory that is there.
OTHERS = {"genlmsg_new", "skb_clone", "wale_compat_charge"}


def test_memory_that_stays_is_charged() -> None:
    """What a user can ask of the modules, the user's control group pays for (bounds.rst)."""
    charged = 0
    for folder in ("kmod/wale", "kmod/rate_feedback", "tcp_ratcp"):
        files = code_of(TOP / folder, "*.c")
        files.pop("rate_message.c", None)
        for file, text in files.items():
            for statement in re.split("[;{}]", text):
                if re.search(r"\bGFP_(KERNEL|ATOMIC)", statement):
                    accounts = "ACCOUNT" in statement
                    assert accounts or OTHERS & words(statement), f"{folder}/{file}: {statement}"
                    charged += accounts
    assert charged >= 20
