# SPDX-License-Identifier: GPL-2.0
"""The contract of a qdisc, Documentation/netlink/specs/sch_wale.yaml, as objects.

Below "option" an attribute, or a member of a struct, may have what the form of the kernel's
specifications has no keys for:

  word         of tc, and key of a scenario (default: the attribute's name)
  key          of JSON, scenarios and tests, if it is not the word
  alias        the word it had before, which is accepted as well; the tools show it no more
  form         how it is written: rate, time, size, count, percent, probability, fixed32,
               millionths, seed, enum, flag, or the name of a form of its own
  default      of a new link; not shown where it is this
  subject, noun, example, must     parts of the sentences that refuse a value
  help, help-no           the line of `tc qdisc add ... wale help`
  also         good although out of the range
  needed       a nest must have it
  dump-only    no request may have it
  struct       what an array consists of: ynl knows a struct, but no array of them
  columns      of such an array: the attribute that says which members its elements have
  column       of a member: its bit in that attribute
  extra        of a member: it is not there without that attribute
  usual        what the fuzzer sends often
  after        shown behind that attribute (default: the one with the number before)
  syntax       of a form of its own; the name comes first
  value        what stands for its value in a syntax, if not what its form has
  unsaid       [text, json]: the tools do not show it where it is the default
  kernel-from  from here on, the tools leave it to the kernel to refuse a value
  behind       the option behind whose value it is written
  part         of: the option behind whose value a word switches this flag on
  without      how a nest is written that is to be empty
  assumed      what the tools send if a nest is given without it
  text         what it does, for people, with ``literals``
  see          where there is more of it, in reStructuredText
  range, initial          in words, if they do not follow from the range and the default
  note         with what it may come, for programs
  min, max, max-elements  of members and arrays

and a constant: signed, wide (64 bits, whatever it needs).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

TOP = Path(__file__).resolve().parents[2]
PATH = TOP / "Documentation/netlink/specs/sch_wale.yaml"
BITS = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}
SIGNED = {"s16": 16, "s32": 32, "s64": 64}
NS = (("day", 86_400 * 10**9), ("hour", 3600 * 10**9), ("s", 10**9), ("ms", 10**6), ("us", 1000))


def macro(*names: str) -> str:
    """Names as one of the preprocessor."""
    return "_".join(names).replace("-", "_").upper()


@dataclass(frozen=True)
class Constant:
    """A limit, or another number that has a name."""

    name: str
    value: int
    doc: str
    signed: bool
    wide: bool

    @property
    def c_name(self) -> str:
        return macro("wale", self.name)

    @property
    def c_value(self) -> str:
        if self.value == (1 << 64) - 1:
            return "(~0ULL)"
        if self.value < 0:
            return f"({self.value})"
        suffix = "" if self.signed else "ULL" if self.wide or self.value >> 32 else "U"
        number = f"0x{self.value:x}" if self.value == (1 << 32) - 1 else str(self.value)
        return number + suffix


@dataclass(frozen=True)
class Enum:
    """Values that have words."""

    name: str
    c_name: str
    prefix: str
    doc: str
    entries: tuple[tuple[str, str], ...]  # name, doc

    @property
    def words(self) -> list[str]:
        return [name.replace("-", "_") for name, _ in self.entries]

    @property
    def end(self) -> str:
        """The number that is not one of them any more."""
        return f"__{macro('wale', self.name)}_MAX"


@dataclass(frozen=True)
class Attribute:
    """One attribute, or a member of a struct."""

    name: str
    number: int
    prefix: str
    kind: str
    doc: str
    nested: str | None
    struct: str | None
    enum: Enum | None
    minimum: int
    maximum: int
    minimum_name: str | None
    maximum_name: str | None
    longest: str  # the constant of a string's length, with its end
    option: dict[str, Any] = field(hash=False)

    @property
    def c_name(self) -> str:
        return macro(self.prefix.rstrip("-"), self.name)

    @property
    def word(self) -> str:
        return str(self.option.get("word", self.name.replace("-", "_")))

    @property
    def key(self) -> str:
        return str(self.option.get("key", self.word))

    @property
    def alias(self) -> str:
        """The word it had before, or nothing."""
        return str(self.option.get("alias", ""))

    @property
    def form(self) -> str:
        return str(self.option.get("form", ""))

    @property
    def is_number(self) -> bool:
        return self.kind in BITS or self.kind in SIGNED

    @property
    def is_bounded(self) -> bool:
        """Does its range leave something out?"""
        return self.is_number and self.range != _full(self.kind)

    @property
    def range(self) -> tuple[int, int]:
        return self.minimum, self.maximum

    @property
    def must(self) -> str:
        """Its range, as the kernel says it."""
        if "must" in self.option:
            return str(self.option["must"])
        if self.enum:
            words = self.enum.words
            numbers = "0 or 1" if len(words) == 2 else f"0 to {len(words) - 1}"
            return f"{numbers}: {', '.join(words[:-1])} or {words[-1]}"
        if self.range == (0, 1):
            return "0 or 1"
        if self.form == "time":
            return f"{duration(self.minimum)} to {duration(self.maximum)}"
        if self.form == "size":
            return f"{self.minimum} to {self.maximum} bytes"
        if self.form == "millionths":
            return f"{millionths(self.minimum)} to {millionths(self.maximum)}, in millionths"
        return f"{self.minimum} to {self.maximum}"


def _full(kind: str) -> tuple[int, int]:
    """The least and the greatest number of a type."""
    if kind in SIGNED:
        return -1 << (SIGNED[kind] - 1), (1 << (SIGNED[kind] - 1)) - 1
    return 0, (1 << BITS.get(kind, 0)) - 1


def duration(ns: int) -> str:
    """In the largest unit of which it is a whole number."""
    for unit, size in NS:
        if ns and not ns % size:
            count = ns // size
            return f"{count} {unit}{'s' if count > 1 and len(unit) > 2 else ''}"
    return f"{ns} ns" if ns else "0"


def millionths(value: int) -> str:
    """As a decimal number."""
    return f"{value / 1e6:.6f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class AttributeSet:
    """Those of one nest."""

    name: str
    prefix: str
    attributes: tuple[Attribute, ...]

    @property
    def c_max(self) -> str:
        return macro(self.prefix, "max").replace("__", "_")

    @property
    def start(self) -> str:
        """The prefix of its macros."""
        return macro(self.prefix.rstrip("-"))

    @property
    def numbers(self) -> list[Attribute]:
        return [attribute for attribute in self.attributes if attribute.is_number]


class Spec:
    """The whole contract."""

    def __init__(self, path: Path = PATH) -> None:
        self.source = path
        self._raw: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))

    def _of_type(self, kind: str) -> list[dict[str, Any]]:
        return [entry for entry in self._raw["definitions"] if entry["type"] == kind]

    @cached_property
    def constants(self) -> dict[str, Constant]:
        found = {}
        for entry in self._of_type("const"):
            option = entry.get("option", {})
            found[entry["name"]] = Constant(
                entry["name"],
                entry["value"],
                entry.get("doc", ""),
                option.get("signed", False),
                option.get("wide", False),
            )
        return found

    @cached_property
    def enums(self) -> dict[str, Enum]:
        found = {}
        for entry in self._of_type("enum"):
            name = entry["name"]
            found[name] = Enum(
                name,
                entry.get("enum-name", f"wale-{name}").replace("-", "_"),
                macro(entry.get("name-prefix", f"wale-{name}-")),
                entry.get("doc", "").strip(),
                tuple((one["name"], one.get("doc", "")) for one in entry["entries"]),
            )
        return found

    @cached_property
    def sets(self) -> dict[str, AttributeSet]:
        found = {}
        for entry in self._raw["attribute-sets"]:
            if entry["name"] in ("qdisc", "stats2"):
                continue  # rtnetlink's own
            prefix = entry["name-prefix"]
            attributes = tuple(
                self._attribute(prefix, number, one)
                for number, one in enumerate(entry["attributes"], start=1)
            )
            found[entry["name"]] = AttributeSet(entry["name"], prefix, attributes)
        return found

    @property
    def options(self) -> AttributeSet:
        return self.sets["options"]

    def nest(self, attribute: Attribute) -> AttributeSet:
        """The attributes in a nest."""
        assert attribute.nested
        return self.sets[attribute.nested]

    @property
    def nests(self) -> list[AttributeSet]:
        return [self.nest(one) for one in self.options.attributes if one.nested]

    @property
    def structs(self) -> dict[str, tuple[Attribute, ...]]:
        """The members of what is in arrays."""
        used = {one.struct for group in self.sets.values() for one in group.attributes}
        return {
            entry["name"]: tuple(
                self._attribute("", number, one)
                for number, one in enumerate(entry["members"], start=1)
                if not one.get("option", {}).get("extra")
            )
            for entry in self._of_type("struct")
            if entry["name"] in used
        }

    def constant(self, value: int | str) -> int:
        """A number, or that of a name."""
        return value if isinstance(value, int) else self.constants[value].value

    def _attribute(self, prefix: str, number: int, entry: dict[str, Any]) -> Attribute:
        kind = entry["type"]
        option = entry.get("option", {})
        checks = {**option, **entry.get("checks", {})}
        enum = self.enums[entry["enum"]] if "enum" in entry else None
        bottom, top = (0, len(enum.entries) - 1) if enum else _full(kind)
        least, most = checks.get("min", bottom), checks.get("max", top)
        return Attribute(
            entry["name"],
            number,
            prefix,
            kind,
            entry.get("doc", ""),
            entry.get("nested-attributes"),
            option.get("struct"),
            enum,
            self.constant(least),
            self.constant(most),
            least if isinstance(least, str) else None,
            most if isinstance(most, str) else None,
            str(checks.get("max-len", "")),
            option,
        )

    def default(self, attribute: Attribute) -> int | None:
        """The number of a new link, if there is one."""
        value = attribute.option.get("default")
        if value is None:
            return None
        if attribute.enum:
            return attribute.enum.words.index(str(value))
        return self.constant(value)
