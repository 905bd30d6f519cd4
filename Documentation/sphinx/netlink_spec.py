# SPDX-License-Identifier: GPL-2.0
"""A directive that describes a netlink family with its own specification.

`netlink-spec:: FILE.yaml` shows the operations, attributes, enumerations and constants
of a specification of the kernel's kind, from which the UAPI header is generated and
which netlink clients read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml
from testbed_reference import FromText, escaped

Yaml = dict[str, Any]


def words(text: object) -> str:
    """Text of a specification on one line."""
    return escaped(" ".join(str(text or "").split()))


def title(text: str, line: str = "-") -> Iterator[str]:
    """A heading."""
    yield from ("", text, line * len(text), "")


def table(header: list[str], widths: str, rows: Iterable[list[str]]) -> Iterator[str]:
    """A list-table."""
    yield from ("", ".. list-table::", "   :header-rows: 1", f"   :widths: {widths}", "")
    for row in (header, *rows):
        for number, cell in enumerate(row):
            yield f"     - {cell}" if number else f"   * - {cell}"
    yield ""


def attribute_type(family: str, attribute: Yaml) -> str:
    """Type and range of an attribute."""
    what, option = str(attribute["type"]), attribute.get("option", {})
    for word in ("enum", "nested-attributes"):
        if word in attribute:
            name = attribute[word]
            return f"{what}: :ref:`{name} <netlink-{family}-{name}>`"
    if "struct" in option:
        return f"array of ``{option['struct']}``"
    checks = attribute.get("checks", {})
    if "max" in checks or "min" in checks:
        bits = what[1:]
        most = checks.get("max", f"2\\ :sup:`{bits}` - 1" if bits.isdigit() else "")
        also = "".join(f", or {name}" for name in option.get("also", ()))
        return f"{what}, {checks.get('min', 0)} to {most}{also}"
    order = attribute.get("byte-order")
    return f"{what}, {order}" if order else what


def meaning(attribute: Yaml) -> str:
    """What an attribute is, and with what it may come."""
    note = attribute.get("option", {}).get("note")
    doc = None if note and "nested-attributes" in attribute else attribute.get("doc")
    return words("; ".join(str(part).removesuffix(", or") for part in (doc, note) if part))


def attribute_sets(spec: Yaml) -> Iterator[str]:
    """A table for each set of attributes."""
    family = spec["name"]
    for group in spec["attribute-sets"]:
        yield from ("", f".. _netlink-{family}-{group['name']}:")
        yield from title(f"Attributes of {group['name']}")
        rows = (
            [f"``{one['name']}``", attribute_type(family, one), meaning(one)]
            for one in group["attributes"]
        )
        yield from table(["Attribute", "Type", "Meaning"], "18 24 58", rows)


def values(spec: Yaml) -> Iterator[str]:
    """A table for each enumeration, and one of the constants."""
    every = spec.get("definitions", [])
    for enum in (one for one in every if one["type"] == "enum"):
        yield from ("", f".. _netlink-{spec['name']}-{enum['name']}:")
        yield from title(f"Values of {enum['name']}")
        yield words(enum.get("doc"))
        entries = enumerate(enum["entries"])
        rows = ([f"``{one['name']}``", str(n), words(one.get("doc"))] for n, one in entries)
        yield from table(["Name", "Value", "Meaning"], "20 10 70", rows)
    yield from title("Constants")
    consts = (one for one in every if one["type"] == "const")
    rows = ([f"``{c['name']}``", str(c["value"]), words(c.get("doc"))] for c in consts)
    yield from table(["Name", "Value", "Meaning"], "20 25 55", rows)


def operations(spec: Yaml) -> Iterator[str]:
    """Requests and events, with what they carry."""
    seen: dict[tuple[str, ...], str] = {}
    for one in spec["operations"]["list"]:
        yield from title(one["name"])
        yield words(one.get("doc"))
        if "notify" in one:
            yield from ("", f"Carries what the reply of ``{one['notify']}`` does.")
        for what in ("do request", "do reply", "dump request", "dump reply", "event"):
            message = one
            for word in what.split():
                message = message.get(word, {})
            names = tuple(message.get("attributes", ()))
            text = ", ".join(f"``{name}``" for name in names)
            yield from ("", f"*{what}:* {seen.get(names, text)}") if names else ()
            seen.setdefault(names, f"as *{what}* of ``{one['name']}``")
        yield from ("", f"Multicast group ``{one['mcgrp']}``.") if "mcgrp" in one else ()


class NetlinkSpec(FromText):
    """All of a specification, as three sections."""

    required_arguments = 1

    def lines(self) -> Iterator[str]:
        """Return the text."""
        env = self.state.document.settings.env
        name, path = env.relfn2path(self.arguments[0])
        env.note_dependency(name)
        spec = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        yield from (*title("Operations", "="), *operations(spec))
        yield from (*title("Attributes", "="), *attribute_sets(spec))
        yield from (*title("Values", "="), *values(spec))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("netlink-spec", NetlinkSpec)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
