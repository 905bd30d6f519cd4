# SPDX-License-Identifier: GPL-2.0
"""Writes sources as they would be for one kernel alone: without compat.h.

The preprocessor says what compat.h comes to with the headers of that kernel; names that it
defines are replaced by what they stand for there.  Code that is aligned with an opening
parenthesis is aligned again.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
COMPAT = TOP / "kmod/compat.h"
PROBES = TOP / "kmod/compat.mk"

TAB = 8

#: What a source that gets these headers from compat.h uses of them.
_USES = {
    "linux/hrtimer.h": r"\bhrtimer_",
    "linux/slab.h": r"\b(k[vmz]+alloc\w*|kv?free|kmem_cache_\w+)\(",
    "net/gso.h": r"\bskb_gso_segment\(",
}

_PROBE = re.compile(r"call compat-probe,(\w+),(.*),([^,]+)\)\n")
_INCLUDE = re.compile(r"^#include <(\S+)>\n", re.M)
_OWN_INCLUDE = re.compile(r'^#include "(?:\.\./)*(?:kmod/)?compat\.h"\n', re.M)
_FUNCTION = re.compile(r"^static inline void (\w+)\(([^)]*)\)\n\{\n(.*?)^\}\n", re.M | re.S)
_MACRO = re.compile(r"^#define (\w+)(?:\(([^)]*)\))? ?(.*)$", re.M)


@dataclass
class Compat:
    """What compat.h is for one kernel."""

    macros: dict[str, tuple[list[str] | None, str]] = field(default_factory=dict)
    functions: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)
    headers: list[str] = field(default_factory=list)


def probes() -> list[tuple[str, str, str]]:
    """What compat.mk looks for: a macro, a text and the header which has it."""
    found = _PROBE.findall(PROBES.read_text())
    return [(macro, text.replace("$(comma)", ","), header) for macro, text, header in found]


def of_kernel(read: Callable[[str], str]) -> Compat:
    """`read` returns the text of a header of the kernel, "" if there is none."""
    defined = [
        f"-D{macro}" for macro, text, header in probes() if text in read(f"include/{header}")
    ]
    if "#define kzalloc_obj(" in read("include/linux/slab.h"):
        defined.append("-Dkzalloc_obj")
    source = _INCLUDE.sub(r"@include \1\n", COMPAT.read_text())
    text = _preprocess(source, *defined)
    compat = Compat(headers=re.findall(r"^@include (\S+)", text, re.M))
    for name, parameters, body in _FUNCTION.findall(text):
        names = [one.split()[-1].lstrip("*") for one in parameters.split(",")]
        compat.functions[name] = (names, [line.strip() for line in body.splitlines()])
    for name, given, value in _MACRO.findall(_preprocess(source, "-dM", *defined)):
        if not name.startswith(("_", "WALE_HAVE_")) and value not in ("", "1"):
            listed = [one.strip() for one in given.split(",")] if given else None
            compat.macros[name] = (listed, value)
    return compat


def _preprocess(text: str, *words: str) -> str:
    command = ["gcc", "-E", "-P", "-C", "-undef", "-nostdinc", "-x", "c", *words, "-"]
    if "-dM" in words:
        command.remove("-C")
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def fold(text: str, compat: Compat) -> str:
    """A source without compat.h, versions and what a generator wrote into its lines."""
    text = re.sub(r"^MODULE_VERSION\(.*\n", "", text, flags=re.M)
    text = _without_generator(text)
    for name, (parameters, lines) in compat.functions.items():
        text = _inline(text, name, parameters, lines)
    for name, (listed, value) in compat.macros.items():
        text = _expand(text, name, listed, value)
    if _OWN_INCLUDE.search(text):
        text = _own_headers(_OWN_INCLUDE.sub("", text), compat.headers)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n"


def _without_generator(text: str) -> str:
    """Without the lines around generated parts, and the paragraph that explains them."""
    text = re.sub(r"^[^\n]*\bgenerated: [\w-]+[^\n]*\n", "", text, flags=re.M)
    text = re.sub(r"^ \*\n \* Generated from .* by `make generate`\.\n", "", text, flags=re.M)
    return re.sub(
        r"^ \* What is between \"generated\" lines.*?\n(?: \*\n|(?= \*/))",
        "",
        text,
        flags=re.M | re.S,
    )


def _arguments(text: str, begin: int) -> tuple[list[str], int]:
    """The arguments of a call whose parenthesis opens at `begin`, and where it ends."""
    found, depth, start = [], 0, begin + 1
    for at in range(begin, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
        if (text[at] == "," and depth == 1) or depth == 0:
            found.append(" ".join(text[start:at].split()))
            start = at + 1
        if depth == 0:
            return found, at + 1
    raise ValueError(f"no end of the call at {text[begin : begin + 40]!r}")


def _substitute(body: str, parameters: list[str], given: list[str]) -> str:
    for name, value in zip(parameters, given, strict=True):
        body = re.sub(rf"(?<!->)(?<!\.)\b{name}\b", lambda _, value=value: str(value), body)  # type: ignore[misc]
    return body


def _inline(text: str, name: str, parameters: list[str], lines: list[str]) -> str:
    """Calls of a function of compat.h, each a statement, become its statements."""
    while match := re.search(rf"^(\t+){name}(?=\()", text, re.M):
        if text[: match.start()].rstrip()[-1] not in ";{}":
            raise ValueError(f"{name}() is to stand between braces: it becomes several statements")
        given, end = _arguments(text, match.end())
        body = [match[1] + _substitute(line, parameters, given) for line in lines if line]
        text = text[: match.start()] + "\n".join(body) + text[end + 1 :]
    return text


def _expand(text: str, name: str, listed: list[str] | None, value: str) -> str:
    """Uses of a macro become its value, and what follows on aligned lines moves with it."""
    while match := re.search(rf"\b{name}\b(?=\()" if listed else rf"\b{name}\b", text):
        end, body = match.end(), value
        if listed:
            given, end = _arguments(text, match.end())
            body = _bare(_substitute(value, listed, given))
        moved = len(body) - (end - match.start())
        line_end = text.index("\n", end)
        behind = body + text[end:line_end]
        depth = behind.count("(") - behind.count(")")
        text = text[: match.start()] + behind + _aligned(text[line_end:], depth, moved)
    return text


def _bare(value: str) -> str:
    """An expression without the parentheses that only a macro needs."""
    value = re.sub(r"(?<!\w)\((\w+)\)(?=->)", r"\1", value)
    return re.sub(r"^\(([^ ]+)\)$", r"\1", value)


def _aligned(rest: str, depth: int, moved: int) -> str:
    """The lines that go on within `depth` parentheses, moved by so many columns."""
    lines = rest.split("\n")
    for number in range(1, len(lines)):
        if depth <= 0:
            break
        line = lines[number]
        depth += line.count("(") - line.count(")")
        code = line.lstrip()
        column = len(line[: len(line) - len(code)].expandtabs(TAB)) + moved
        lines[number] = "\t" * (column // TAB) + " " * (column % TAB) + code
    return "\n".join(lines)


def _own_headers(text: str, headers: list[str]) -> str:
    """With those headers of compat.h that the source uses and does not include."""
    there = _INCLUDE.findall(text)
    for header in headers:
        if header in there or not re.search(_USES.get(header, r"(?!)"), text):
            continue
        before = [m for m in _INCLUDE.finditer(text) if m[1] < header]
        first = re.search(r"^#include ", text, re.M)
        at = before[-1].end() if before else first.start() if first else 0
        text = f"{text[:at]}#include <{header}>\n{text[at:]}"
    return text
