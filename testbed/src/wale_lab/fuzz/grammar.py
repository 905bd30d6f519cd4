# SPDX-License-Identifier: GPL-2.0
"""Attributes and operations as a netlink specification has them (YAML, read as JSON)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

SIZES = {"u8": 1, "u16": 2, "s16": 2, "s32": 4, "u32": 4, "u64": 8, "s64": 8}


@dataclass(frozen=True)
class Attribute:
    """One attribute, or a member of a struct."""

    name: str
    number: int
    kind: str  # u8 to u64, s16, s64, binary, string, nest, struct (an array), pad
    order: str  # of bytes: little or big
    least: int
    greatest: int
    also: tuple[int, ...]  # good although out of the range
    usual: tuple[int, ...]
    inner: tuple[Attribute, ...]  # attributes of a nest, members of a struct
    most: int  # elements of an array
    dump_only: bool  # no request may have it
    columns: str  # of an array: the attribute that says which members there are
    column: int  # of such a member: its bit there; 0: it always is
    extra: bool  # it is not without that attribute

    @property
    def size(self) -> int:
        """Length of the number, in bytes; 0 if it is none."""
        return SIZES.get(self.kind, 0)

    def allows(self, value: int) -> bool:
        """Tell whether a number is in the documented range."""
        return self.least <= value <= self.greatest or value in self.also

    def pack(self, value: int) -> bytes:
        """Return the payload for a number; bits that do not fit are lost."""
        bits = 8 * self.size
        return (value & ((1 << bits) - 1)).to_bytes(self.size, "big" if self.big else "little")

    def unpack(self, payload: bytes) -> int:
        """Return the number of a payload."""
        return int.from_bytes(payload, "big" if self.big else "little", signed=self.kind == "s32")

    def with_columns(self, bits: int | None) -> Attribute:
        """Return an array whose elements have the members of these columns; None: the usual."""
        if not self.columns:
            return self
        members = (
            a
            for a in self.inner
            if (not a.extra if bits is None else not a.column or a.column & bits)
        )
        return replace(self, inner=tuple(members), columns="")

    @property
    def big(self) -> bool:
        """Tell whether the most significant byte comes first."""
        return self.order == "big"


@dataclass(frozen=True)
class Operation:
    """One command: with which attributes it may come."""

    name: str
    number: int
    attributes: tuple[Attribute, ...]  # of the set, by number - 1
    do: frozenset[str] | None  # names of attributes of the request; None: not such a request
    dump: frozenset[str] | None


class Grammar:
    """A specification."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._definitions = {entry["name"]: entry for entry in spec["definitions"]}
        self._plain = {entry["name"]: entry["attributes"] for entry in spec["attribute-sets"]}
        self.sets = {name: self._set(name) for name in self._plain}
        self.operations = tuple(
            self._operation(number, entry)
            for number, entry in enumerate(spec["operations"]["list"], start=1)
        )

    def _set(self, name: str) -> tuple[Attribute, ...]:
        return tuple(self._attribute(n, e) for n, e in enumerate(self._plain[name], start=1))

    def _constant(self, value: int | str) -> int:
        return value if isinstance(value, int) else int(self._definitions[value]["value"])

    def _attribute(self, number: int, entry: Mapping[str, Any]) -> Attribute:
        kind: str = entry["type"]
        inner: tuple[Attribute, ...] = ()
        if "nested-attributes" in entry:
            inner = self._set(entry["nested-attributes"])
        option = entry.get("option", {})  # what specifications have no keys for
        if "struct" in option:
            kind = "struct"
            members = self._definitions[option["struct"]]["members"]
            inner = tuple(self._attribute(n, e) for n, e in enumerate(members, start=1))
        checks = {**option, **entry.get("checks", {})}
        greatest = checks.get("max", (1 << 8 * SIZES.get(kind, 0)) - 1)
        if "enum" in entry:
            greatest = len(self._definitions[entry["enum"]]["entries"]) - 1
        return Attribute(
            name=entry["name"],
            number=number,
            kind=kind,
            order="big" if entry.get("byte-order") == "big-endian" else "little",
            least=self._constant(checks.get("min", 0)),
            greatest=self._constant(greatest),
            also=tuple(map(self._constant, option.get("also", ()))),
            usual=tuple(option.get("usual", ())),
            inner=inner,
            most=self._constant(option.get("max-elements", 1)),
            dump_only=option.get("dump-only", False),
            columns=option.get("columns", ""),
            column=self._constant(option.get("column", 0)),
            extra=option.get("extra", False),
        )

    def _operation(self, number: int, entry: Mapping[str, Any]) -> Operation:
        attributes = self.sets[entry["attribute-set"]] if "attribute-set" in entry else ()
        requests: list[frozenset[str] | None] = []
        for way in ("do", "dump"):
            words = entry[way].get("request", {}).get("attributes", ()) if way in entry else None
            requests.append(None if words is None else frozenset(words))
        return Operation(entry["name"], number, attributes, *requests)
