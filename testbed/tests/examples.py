# SPDX-License-Identifier: GPL-2.0
"""The examples of manual pages and documentation, as test_examples.py runs them.

Manual pages: each .EX block of the section EXAMPLES is an example, of commands.

reStructuredText: each `code-block:: console` is an example, in which a line belongs to

    $ COMMAND              a user, at the top of the tree
    # COMMAND              root, in a guest
    SCENARIO: # COMMAND    the prompt of `wale-lab shell SCENARIO`

and every other line is output.  A line that ends with a backslash goes on.  A
`code-block::` with a :caption: is the file of that name.

Where a page says "kernel X, seed 1", what it shows was measured so: what is of the
form 12.3 % or 1.234 Mbit/s in that paragraph, and the cells that begin with a number of the table
there or after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from docutils import nodes
from docutils.core import publish_doctree

_MEASURED = re.compile(r"[Kk]ernel\s+(\d+\.\d+\.\d+),\s+seed\s+1\b")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_INLINE = re.compile(r"\d+\.\d+(?=\s%)|\d+\.\d{3}(?=(?:\sand\s\d+\.\d{3})?\sMbit/s)")
_PROMPT = re.compile(r"(?P<shell>[\w-]+: )?(?P<who>[$#]) (?P<command>.*)")


@dataclass
class Example:
    """Commands that belong together, who gives them ("$", "#" or a scenario), what they print."""

    where: str
    who: str
    lines: list[str] = field(default_factory=list)
    output: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def _plain(roff: str) -> str:
    """A line of an .EX block as it is shown."""
    for escape, text in (("\\-", "-"), ("\\(aq", "'"), ("\\(dq", '"'), ("\\(ti", "~")):
        roff = roff.replace(escape, text)
    return roff.replace("\\&", "").replace("\\e", "\\")


def of_man_page(page: Path) -> list[Example]:
    """The examples of a manual page."""
    text = page.read_text(encoding="utf-8")
    section = text.partition(".SH EXAMPLES\n")[2].partition("\n.SH ")[0]
    first = text[: text.find(section)].count("\n") + 1
    found = []
    for block in re.finditer(r"^\.EX\n(.*?)^\.EE$", section, re.M | re.S):
        line = first + section[: block.start()].count("\n")
        lines = [_plain(line) for line in block[1].splitlines()]
        found.append(Example(f"{page.name}:{line}", "#", lines))
    return found


def _directives(text: str) -> Iterator[tuple[int, str, dict[str, str], list[str]]]:
    """Each code-block: line number, language, options, content without its indent."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        head = re.fullmatch(r"( *)\.\. code-block:: *(\w*)", line)
        if not head:
            continue
        body: list[str] = []
        for later in lines[number:]:
            if later.strip() and not later.startswith(head[1] + "  "):
                break
            body.append(later)
        options: dict[str, str] = {}
        while body and (option := re.fullmatch(r" +:(\w+): *(.*)", body[0])):
            options[option[1]] = option[2]
            body.pop(0)
        while body and not body[0].strip():
            body.pop(0)
        while body and not body[-1].strip():
            body.pop()
        indent = len(body[0]) - len(body[0].lstrip()) if body else 0
        yield number, head[2], options, [part[indent:] for part in body]


def _without_shells(block: list[Example]) -> list[Example]:
    """The examples of a console, without the command that opens a prompt that follows."""
    for before, prompt in pairwise(block):
        if before.lines[-1] == f"testbed/wale-lab shell {prompt.who}":
            before.lines.pop()
    return [example for example in block if example.lines]


def of_page(page: Path) -> list[Example]:
    """The examples of a page of the documentation."""
    found: list[Example] = []
    for number, language, _, body in _directives(page.read_text(encoding="utf-8")):
        if language != "console":
            continue
        block: list[Example] = []
        goes_on = False
        for line in body:
            prompt = _PROMPT.fullmatch(line)
            if goes_on:
                block[-1].lines.append(line)
            elif prompt:
                who = (prompt["shell"] or prompt["who"]).removesuffix(": ")
                if not block or block[-1].who != who:
                    block.append(Example(f"{page.name}:{number}", who))
                block[-1].lines.append(prompt["command"])
            else:
                if block and line:
                    block[-1].output.append(line)
                continue
            goes_on = block[-1].lines[-1].endswith("\\")
        assert block, f"{page.name}:{number}: no line of this console has a prompt"
        found += _without_shells(block)
    return found


def files_of_page(page: Path) -> dict[str, str]:
    """The files that a page shows, by name."""
    return {
        options["caption"]: "\n".join(body) + "\n"
        for _, _, options, body in _directives(page.read_text(encoding="utf-8"))
        if "caption" in options
    }


@dataclass(frozen=True)
class Number:
    """A number that a page gives as measured, and what it is of: headings of row and column."""

    text: str
    of: tuple[str, ...] = ()


def _blocks(page: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """Each paragraph, without rows, and each table of a page."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".md":
        for block in text.split("\n\n"):
            lines = [line.strip("| ").split(" | ") for line in block.splitlines()]
            yield block, [lines[0], *lines[2:]] if block.startswith("|") else []
        return
    quiet = {"report_level": 5, "file_insertion_enabled": False}  # directives are Sphinx's
    for node in publish_doctree(text, str(page), settings_overrides=quiet).findall():
        if isinstance(node, nodes.table):
            rows = [[cell.astext() for cell in row.children] for row in node.findall(nodes.row)]
            yield node.astext(), rows
        elif isinstance(node, nodes.paragraph) and not isinstance(node.parent, nodes.entry):
            yield node.astext(), []


def _of_table(rows: list[list[str]]) -> Iterator[Number]:
    """Those of cells that begin with one."""
    head = rows[0]
    for first, *cells in rows[1:]:
        for above, cell in zip(head[-len(cells) :], cells, strict=True):
            if cell[:1].isdigit():
                for number in _NUMBER.findall(cell):
                    yield Number(number.replace(",", ""), (first, above))


def measured(page: Path) -> tuple[str, list[Number]]:
    """The kernel with which a page was made, and its numbers."""
    kernel, before = "", ""
    found: list[Number] = []
    for text, rows in _blocks(page):
        said = _MEASURED.search(text) or (_MEASURED.search(before) if rows else None)
        before = text
        if said:
            kernel = said[1]
            found += _of_table(rows) if rows else [Number(n) for n in _INLINE.findall(text)]
    return kernel, found


def literal_blocks(page: Path) -> Iterator[tuple[int, str]]:
    """Each line of a plain literal block (`::`), with its number."""
    indent: int | None = None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        depth = len(line) - len(line.lstrip())
        if indent is not None and line.strip():
            if depth > indent:
                yield number, line.strip()
                continue
            indent = None
        if line.rstrip().endswith("::") and not line.lstrip().startswith(".. "):
            indent = depth
