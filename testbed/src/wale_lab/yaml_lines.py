# SPDX-License-Identifier: GPL-2.0
"""Reads YAML into plain values and remembers the line of every key, for error messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from wale_lab.errors import ScenarioError, why

#: Where a value is in a document: keys and list indices from the top.
KeyPath = tuple[str | int, ...]

#: How many keys and lists may be within one another.
MAX_DEPTH = 50

#: How many values a document may have: a few lines of aliases would have millions.
MAX_VALUES = 100_000

#: The tag of the key "<<".
MERGE = "tag:yaml.org,2002:merge"

#: The tag of what looks like a date.
DATE = "tag:yaml.org,2002:timestamp"


@dataclass
class Part:
    """A list that a document has from another file, and the line of each item there."""

    name: str
    lines: Sequence[int]

    def where(self, path: KeyPath) -> str:
        """ "file:line" of an item or of what is in it; "file" of all."""
        item = path[0] if path else None
        return f"{self.name}:{self.lines[item]}" if isinstance(item, int) else self.name


@dataclass
class Document:
    """A YAML file's values, and where they came from."""

    name: str
    value: Any
    lines: dict[KeyPath, int] = field(default_factory=dict)
    values: int = 0  # read so far
    parts: dict[KeyPath, Part] = field(default_factory=dict)

    def where(self, path: KeyPath) -> str:
        """ "file:line" of this key, or of the nearest one above it."""
        if part := self.part(path):
            return part[0].where(path[part[1] :])
        while path and path not in self.lines:
            path = path[:-1]
        line = self.lines.get(path, 1)
        return f"{self.name}: --set" if line == 0 else f"{self.name}:{line}"

    def part(self, path: KeyPath) -> tuple[Part, int] | None:
        """The part that this key is in, and how much of the path leads to it."""
        for above, part in self.parts.items():
            if path[: len(above)] == above:
                return part, len(above)
        return None


def show_path(path: KeyPath) -> str:
    """A key path as --set takes it: "flows.0.cc"."""
    return ".".join(str(part) for part in path)


def load(path: Path) -> Document:
    """Read one YAML file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path}: cannot be read: {why(error)}") from None
    return parse(text, str(path))


def parse(text: str, name: str) -> Document:
    """Read YAML text; `name` stands for it in messages."""
    try:
        return _read(text, name)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise ScenarioError(f"{name}{line}: not valid YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise ScenarioError(f"{name}: not valid YAML: {error}") from None


def _read(text: str, name: str) -> Document:
    _check_depth(text, name)
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    document = Document(name, None)
    if node is not None:
        document.value = _value(node, (), document, ())
    return document


def _check_depth(text: str, name: str) -> None:
    """Refuse what would exhaust the stack of the functions that walk a document."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise ScenarioError(_too_deep(f"{name}:{line}"))


def _too_deep(where: str) -> str:
    return f"{where}: expected at most {MAX_DEPTH} levels of keys and lists within one another"


def _value(
    node: yaml.Node, path: KeyPath, document: Document, around: tuple[yaml.Node, ...]
) -> Any:
    """What a node says; `around` are those that it is a part of."""
    if any(node is outer for outer in around):
        raise ScenarioError(
            f"{document.where(path)}: {show_path(path)}: this alias stands for something that "
            "it is itself a part of"
        )
    if len(around) > MAX_DEPTH:  # with the help of aliases
        raise ScenarioError(_too_deep(document.where(path)))
    document.values += 1
    if document.values > MAX_VALUES:
        raise ScenarioError(
            f"{document.where(path)}: expected at most {MAX_VALUES} values, aliases written out"
        )
    around = (*around, node)
    document.lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        merged = _merged(node, path, document, around)
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == MERGE:
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                raise ScenarioError(f"{document.name}:{line}: expected a key that is a plain word")
            key = str(key_node.value)
            if key in result:
                raise ScenarioError(
                    f"{document.name}:{line}: {show_path((*path, key))}: this key is here twice"
                )
            document.lines[(*path, key)] = line
            result[key] = _value(value_node, (*path, key), document, around)
        return merged | result
    if isinstance(node, yaml.SequenceNode):
        return [_value(child, (*path, n), document, around) for n, child in enumerate(node.value)]
    if isinstance(node, yaml.ScalarNode):
        if node.tag == DATE:
            return node.value  # the field knows what it expects: 2026-13-01 is none
        try:
            constructed = yaml.SafeLoader("").construct_object(node)
        except ValueError as error:  # a number such as 0x_
            where = f"{document.name}:{node.start_mark.line + 1}"
            raise ScenarioError(f"{where}: not valid YAML: {node.value!r}: {error}") from None
        simple = isinstance(constructed, str | int | float | bool) or constructed is None
        return constructed if simple else node.value
    raise ScenarioError(f"{document.name}: unknown kind of YAML node {node!r}")


def _merged(
    node: yaml.MappingNode, path: KeyPath, document: Document, around: tuple[yaml.Node, ...]
) -> dict[str, Any]:
    """The keys of another mapping that "<<: *name" puts into this one."""
    merges = [(key, value) for key, value in node.value if key.tag == MERGE]
    if not merges:
        return {}
    line = merges[-1][0].start_mark.line + 1
    if len(merges) > 1:
        raise ScenarioError(f"{document.name}:{line}: <<: this key is here twice")
    other = merges[0][1]
    if not isinstance(other, yaml.MappingNode):
        raise ScenarioError(f"{document.name}:{line}: <<: expected the alias of keys, <<: *name")
    result: dict[str, Any] = _value(other, path, document, around)
    return result


def _items(document: Document, key: str, assignment: str) -> list[tuple[str, Any]]:
    """What is in a list or a mapping at a key, by index or name."""
    here = document.value
    for part in key.split("."):
        here = here.get(part) if isinstance(here, dict) else None
    if isinstance(here, dict):
        return list(here.items())
    if not isinstance(here, list) or not here:
        raise ScenarioError(f"--set {assignment}: {key} is no list with items")
    return [(str(n), item) for n, item in enumerate(here)]


def override(document: Document, assignment: str) -> None:
    """Apply one `--set key.path=value`; a list item is named by its index or its name.

    A key that is null is taken out, so that it has its default.  `*` is each item of a list, and
    `cc` is that of all flows that have one.
    """
    key, equals, text = assignment.partition("=")
    if not equals or not key:
        raise ScenarioError(f"--set {assignment}: expected KEY=VALUE, such as flows.0.cc=cubic")
    before, star, behind = ("flows.*.cc" if key == "cc" else key).partition(".*.")
    if star:
        for name, item in _items(document, before, assignment):
            if key == "cc" and isinstance(item, dict) and "constant" in item:
                continue
            override(document, f"{before}.{name}.{behind}={text}")
        return
    path: KeyPath = ()
    here = document.value
    words = key.split(".")
    if words[0] != "hosts" and "sysctls" not in words:
        parts = words
    else:  # the names of sysctls have dots themselves
        at = words.index("sysctls") if "sysctls" in words else len(words)
        parts = words[: at + 1] + ([".".join(words[at + 1 :])] if words[at + 1 :] else [])
    for n, part in enumerate(parts):
        last = n == len(parts) - 1
        if isinstance(here, list):
            index = _list_index(here, part)
            if index is None:
                raise ScenarioError(
                    f"--set {assignment}: {show_path(path)} has no item {part!r}; "
                    f"expected an index from 0 to {len(here) - 1} or a name"
                )
            path = (*path, index)
            if last:
                here[index] = _parse_value(text, assignment)
            else:
                here = here[index]
        elif isinstance(here, dict):
            path = (*path, part)
            if last:
                here[part] = _parse_value(text, assignment)
                if here[part] is None:
                    del here[part]
            else:
                here = here.setdefault(part, {})
                if here is None:
                    raise ScenarioError(f"--set {assignment}: {show_path(path)} is empty")
        else:
            raise ScenarioError(
                f"--set {assignment}: {show_path(path)} is a plain value, it has no key {part!r}"
            )
    for known in [p for p in document.lines if p[: len(path)] == path]:
        del document.lines[known]
    document.lines[path] = 0


def _list_index(items: list[Any], part: str) -> int | None:
    if part.isdecimal() and len(part) < 10 and int(part) < len(items):
        return int(part)
    for n, item in enumerate(items):
        if isinstance(item, dict) and str(item.get("name")) == part:
            return n
    return None


def _parse_value(text: str, assignment: str) -> Any:
    try:
        return _read(text, f"--set {assignment}").value
    except yaml.YAMLError:
        raise ScenarioError(f"--set {assignment}: {text!r} is not a valid YAML value") from None
