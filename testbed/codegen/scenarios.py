# SPDX-License-Identifier: GPL-2.0
"""wale_lab/options.py: the contract as literals, for scenarios and for programs in a guest."""

from __future__ import annotations

from collections import Counter

from spec import BITS, Attribute, AttributeSet, Enum, Spec, macro
from userspace import Table

PATH = "testbed/src/wale_lab/options.py"
COLUMNS = 100
LETTERS = {"u16": "H", "s16": "h", "u32": "I", "u64": "Q", "s32": "i", "s64": "q"}

HEAD = '''\
# SPDX-License-Identifier: GPL-2.0
"""What a link can be told, and what it tells: numbers, formats and ranges.

Written by `make generate` from Documentation/netlink/specs/sch_wale.yaml.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class Option(NamedTuple):
    """One attribute."""

    number: int
    format: str
    """as struct has it; or a name in NESTS or STRUCTS; or "string" """
    word: str
    """of tc"""
    form: str
    """how the word's value is written"""
    least: int
    most: int
    default: int | None
    """of a new link"""
    must: str
    """the range, in words"""
    example: str
    """a value as it is written"""


'''


def name(attribute: Attribute, attributes: AttributeSet) -> str:
    """Its key, or its own name where several have the key, or the key is no name.

    Where the word is new, the former one: the settings of runs, and so their digests, have it.
    """
    if attribute.alias:
        return attribute.alias
    own = attribute.name.removesuffix("64").replace("-", "_")
    taken = Counter(one.key for one in attributes.attributes)[attribute.key]
    return attribute.key if taken == 1 and attribute.key.isidentifier() else own


def text(value: object) -> str:
    """A literal, with quotes as a formatter has them."""
    if isinstance(value, str) and '"' not in value:
        return f'"{value}"'
    return repr(value)


def entry(key: str, values: list[str], indent: str) -> list[str]:
    """An Option as an entry of a dict, as a formatter breaks its line."""
    head = f"{indent}{text(key)}: Option("
    inside = ", ".join(values)
    if len(f"{head}{inside}),") <= COLUMNS:
        return [f"{head}{inside}),"]
    if len(f"{indent}    {inside}") <= COLUMNS:
        return [head, f"{indent}    {inside}", f"{indent}),"]
    return [head, *(f"{indent}    {value}," for value in values), f"{indent}),"]


def option(spec: Spec, attribute: Attribute) -> list[str]:
    """The fields of an Option."""
    form = LETTERS.get(attribute.kind) or attribute.nested or attribute.struct or attribute.kind
    fields = (
        attribute.number,
        form,
        attribute.word,
        attribute.form,
        attribute.minimum,
        attribute.maximum,
        spec.default(attribute),
        attribute.must if attribute.kind in BITS else "",
        attribute.option.get("example", ""),
    )
    return [text(value) for value in fields]


def table(spec: Spec, attributes: AttributeSet, indent: str) -> list[str]:
    """The attributes of a set, as entries of a dict."""
    lines = []
    for one in attributes.attributes:
        if one.kind != "pad":
            lines += entry(name(one, attributes), option(spec, one), indent)
    return lines


def aliases(spec: Spec) -> list[str]:
    """Former words, with those of now."""
    found = Table(spec).aliases
    return [f"    {text(old)}: {text(new)}," for old, new in found]


def statistics(spec: Spec) -> list[str]:
    """Names, numbers and formats of what a link has counted."""
    lines = []
    for one in spec.sets["stats"].attributes:
        if one.kind != "pad":
            key = one.name.replace("-", "_")
            lines.append(f'    "{key}": ({one.number}, "{LETTERS[one.kind]}"),')
    return lines


def choice(enum: Enum) -> list[str]:
    """The words of an enum, as a type and by number."""
    words = ", ".join(f'"{word}"' for word in enum.words)
    numbers = ", ".join(f'"{word}": {number}' for number, word in enumerate(enum.words))
    title = "".join(part.title() for part in enum.name.split("-"))
    return [f"{title} = Literal[{words}]", f"{macro(enum.name)} = {{{numbers}}}"]


def render(spec: Spec) -> str:
    """The whole file."""
    lines = [f"{macro(one.name)} = {one.value}" for one in spec.constants.values()]
    lines.append("")
    for enum in spec.enums.values():
        lines += choice(enum)
    lines += ["", "STRUCTS = {"]
    for struct, members in spec.structs.items():
        lines.append(f'    "{struct}": "{"".join(LETTERS[one.kind] for one in members)}",')
    lines += ["}", "LINK = {", *table(spec, spec.options, "    "), "}", "NESTS = {"]
    for nest in spec.nests:
        lines += [f'    "{nest.name}": {{', *table(spec, nest, "        "), "    },"]
    lines += ["}", "ALIASES = {", *aliases(spec), "}"]
    lines += ["STATISTICS = {", *statistics(spec), "}"]
    return HEAD + "\n".join(lines) + "\n"
