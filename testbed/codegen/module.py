# SPDX-License-Identifier: GPL-2.0
"""kmod/wale/wale_options.c: types and ranges of the attributes, and the refusals."""

from __future__ import annotations

from collections.abc import Iterable

from spec import BITS, Attribute, AttributeSet, Spec, macro

PATH = "kmod/wale/wale_options.c"
HEAD = """\
// SPDX-License-Identifier: GPL-2.0
/*
 * wale_options.c - the attributes of a link: types, ranges, and what refuses others
 *
 * Generated from Documentation/netlink/specs/sch_wale.yaml by `make generate`.
 */

#include "wale_netlink_attr.h"
"""
TYPES = {"pad": "NLA_BINARY", "binary": "NLA_BINARY", "nest": "NLA_NESTED", "u32": "NLA_U32",
         "u64": "NLA_U64", "s32": "NLA_S32"}  # fmt: skip


def _policy(attribute: Attribute) -> list[str]:
    if attribute.kind == "string":
        most = macro("wale", attribute.longest)
        return [f"\t[{attribute.c_name}] = {{", "\t\t.type = NLA_NUL_STRING,",
                f"\t\t.len = {most} - 1,", "\t},"]  # fmt: skip
    if attribute.option.get("dump-only"):
        message = f'\t\t.reject_message = "wale: {attribute.word} is only shown",'
        return [f"\t[{attribute.c_name}] = {{", "\t\t.type = NLA_REJECT,", message, "\t},"]
    return [f"\t[{attribute.c_name}] = {{ .type = {TYPES[attribute.kind]} }},"]


def _bound(attribute: Attribute, name: str | None, value: int) -> str:
    if name:
        return macro("wale", name)
    if attribute.enum and value:
        return f"{attribute.enum.end} - 1"
    return {0: "0", (1 << 32) - 1: "U32_MAX", (1 << 64) - 1: "U64_MAX"}.get(value, str(value))


def range_entry(
    attr: str, least: str, most: str, refusal: str, also: Iterable[str] = ()
) -> list[str]:
    """The entry of an attribute in a table of ranges; all in C, but the sentence."""
    return [
        "\t{",
        f"\t\t.attr = {attr},",
        f"\t\t.min = {least},",
        f"\t\t.max = {most},",
        *(f"\t\t.also = {name}," for name in also),
        *_string("refusal", refusal),
        "\t},",
    ]


def _range(attribute: Attribute, nest: AttributeSet) -> list[str]:
    least = _bound(attribute, attribute.minimum_name, attribute.minimum)
    most = _bound(attribute, attribute.maximum_name, attribute.maximum)
    also = [macro("wale", name) for name in attribute.option.get("also", ())]
    refusal = f"wale: {_refusal(attribute, nest)}"
    return range_entry(attribute.c_name, least, most, refusal, also)


def _string(member: str, sentence: str) -> list[str]:
    line = f'\t\t.{member} = "{sentence}",'
    if len(line.expandtabs(8)) <= 80:
        return [line]
    return [f"\t\t.{member} =", f'\t\t\t"{sentence}",']


def _refusal(attribute: Attribute, nest: AttributeSet) -> str:
    if "subject" in attribute.option:
        return f"{attribute.option['subject']} must be {attribute.must}"
    whose = (
        "" if nest.name in ("options", attribute.word) or " of " in attribute.word else nest.name
    )
    return f"{attribute.word}{whose and f' of {whose}'} must be {attribute.must}"


def _needs(attributes: AttributeSet) -> list[str]:
    needed = [one for one in attributes.attributes if one.option.get("needed")]
    if not needed:
        return []
    words = [one.word for one in needed]
    listed = words[0] if len(words) == 1 else f"all of {', '.join(words[:-1])} and {words[-1]}"
    bits = [f"BIT({one.c_name})" for one in needed]
    return [
        "\t.needed = " + " |\n\t\t  ".join(bits) + ",",
        f'\t.needs = "wale: {attributes.name} needs {listed}",',
    ]


def _set(attributes: AttributeSet) -> str:
    name = f"wale_{attributes.name}"
    start = attributes.start
    bounded = [one for one in attributes.attributes if one.is_bounded and one.kind in BITS]
    lines = ["", f"static const struct nla_policy {name}_policy[{start}_MAX + 1] = {{"]
    for attribute in attributes.attributes:
        lines += _policy(attribute)
    lines += ["};", ""]
    if bounded:
        lines.append(f"static const struct wale_range {name}_ranges[] = {{")
        for attribute in bounded:
            lines += _range(attribute, attributes)
        lines += ["};", ""]
    lines += [f"const struct wale_nest {name}_nest = {{", f"\t.policy = {name}_policy,",
              f"\t.max = {start}_MAX,"]  # fmt: skip
    if bounded:
        lines += [f"\t.ranges = {name}_ranges,", f"\t.n_ranges = ARRAY_SIZE({name}_ranges),"]
    lines += [*_needs(attributes), "};"]
    return "\n".join(lines) + "\n"


def render(spec: Spec) -> str:
    """The file."""
    for attributes in [spec.options, *spec.nests]:
        assert all(one.kind in BITS or one.kind in TYPES or one.kind == "string"
                   for one in attributes.attributes)  # fmt: skip
    return HEAD + "".join(_set(attributes) for attributes in [spec.options, *spec.nests])
