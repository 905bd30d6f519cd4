# SPDX-License-Identifier: GPL-2.0
"""The generated parts of linux/pkt_sched_wale.h: limits, values and numbers of attributes."""

from __future__ import annotations

from spec import Attribute, AttributeSet, Constant, Enum, Spec, macro

PATH = "kmod/include/uapi/linux/pkt_sched_wale.h"
COLUMNS = 96
TAB = 8


def _with_comment(line: str, comment: str, column: int) -> list[str]:
    """A line and its comment, behind it or, if there is no room, before it."""
    if not comment:
        return [line]
    width = len(line.expandtabs(TAB))
    tabs = "\t" * max(1, -(-(column - width) // TAB))
    behind = f"{line}{tabs}/* {comment} */"
    if len(behind.expandtabs(TAB)) <= COLUMNS:
        return [behind]
    indent = line[: len(line) - len(line.lstrip("\t"))]
    return [*_comment(comment, indent), line]


def _comment(text: str, indent: str = "") -> list[str]:
    """A comment of its own."""
    words, lines, current = text.split(" "), [], ""
    room = COLUMNS - len(indent.expandtabs(TAB)) - 3
    if "\n" not in text and len(text) + 3 <= room:
        return [f"{indent}/* {text} */"]
    if "\n" in text:
        lines = text.split("\n")
    else:
        for word in words:
            if current and len(current) + 1 + len(word) > room:
                lines.append(current)
                current = word
            else:
                current = f"{current} {word}" if current else word
        lines.append(current)
    return [f"{indent}/*", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"]


def _constant(constant: Constant) -> list[str]:
    name = f"#define {constant.c_name}"
    tabs = "\t" * max(1, -(-(40 - len(name)) // TAB))
    return _with_comment(f"{name}{tabs}{constant.c_value}", constant.doc, 64)


def _enum(enum: Enum) -> list[str]:
    lines = ["", *_comment(enum.doc), f"enum {enum.c_name} {{"]
    for name, doc in enum.entries:
        lines += _with_comment(f"\t{enum.prefix}{macro(name)},", doc, 40)
    return [*lines, f"\t{enum.end}", "};"]


def _attribute(attribute: Attribute) -> list[str]:
    kind = attribute.kind if attribute.is_number else ""
    doc = ", ".join(part for part in (kind, attribute.doc) if part)
    if attribute.is_bounded and not attribute.enum:
        if attribute.maximum_name or attribute.minimum_name:
            least = macro("wale", attribute.minimum_name) if attribute.minimum_name else ""
            most = macro("wale", attribute.maximum_name or "")
            doc += f"; {least or attribute.minimum} .. {most}"
    return _with_comment(f"\t{attribute.c_name},", doc, 40)


def _set(attributes: AttributeSet) -> str:
    start = attributes.start
    lines = ["enum {", f"\t{start}_UNSPEC,"]
    for attribute in attributes.attributes:
        lines += _attribute(attribute)
    lines += [f"\t__{start}_MAX", "};", "", f"#define {start}_MAX (__{start}_MAX - 1)"]
    return "\n".join(lines) + "\n"


def parts(spec: Spec) -> dict[str, str]:
    """What is between the lines."""
    result = {name: _set(attributes) for name, attributes in spec.sets.items()}
    lines = [line for constant in spec.constants.values() for line in _constant(constant)]
    result["constants"] = "\n".join(lines) + "\n"
    lines = [line for enum in spec.enums.values() for line in _enum(enum)]
    result["enums"] = "\n".join(lines[1:]) + "\n\n"
    return result
