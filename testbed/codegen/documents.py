# SPDX-License-Identifier: GPL-2.0
"""Parts of the documentation: the tables of options and statistics in sch_wale.rst; in
tc-wale(8) the synopsis, and each option that has no paragraph there by hand."""

from __future__ import annotations

import re
from itertools import takewhile

from spec import TOP, Attribute, Spec
from userspace import TIMES, Option, Table, decimal

PAGE = "Documentation/sch_wale.rst"
MANUAL = "userspace/man/tc-wale.8"
COLUMNS = 100


def text_of(attribute: Attribute) -> str:
    """What an option does, for people."""
    if "text" not in attribute.option:
        raise KeyError(f"{attribute.name} has no text, of what it does, below its option")
    text = str(attribute.option["text"])
    if not attribute.alias:
        return text
    return f"{text.removesuffix('.')}. The old word ``{attribute.alias}`` is still accepted."


def limits(one: Option) -> str:
    """The range of a value, in words."""
    attribute = one.attribute
    option, form = attribute.option, attribute.form
    if "range" in option:
        return str(option["range"])
    if form == "amount":
        return " or ".join(each.must for each in one.group)
    if form == "percent":
        return "0 to 100 %"
    if form == "millionths":
        return f"{decimal(attribute.minimum / 10**6)} to {decimal(attribute.maximum / 10**6)}"
    if form == "flag" or attribute.nested:
        return ""
    words = attribute.enum.words if attribute.enum else []
    return ", ".join(f"``{word}``" for word in words) or attribute.must


def initial(spec: Spec, attribute: Attribute) -> str:
    """What a new link has."""
    if "initial" in attribute.option:
        return str(attribute.option["initial"])
    value = spec.default(attribute)
    if value is None:
        return "none"
    if attribute.enum:
        return f"``{attribute.enum.words[value]}``"
    if attribute.form == "flag":
        return f"``{'' if value else 'no'}{attribute.word}``"
    if attribute.form == "rate":
        return "``unlimited``" if value == spec.constant("rate-unlimited") else f"{value} bytes/s"
    if attribute.form == "millionths":
        return decimal(value / 10**6)
    if attribute.form == "size":
        return f"{value} bytes"
    if attribute.form == "time" and value:
        return next(f"{value // size} {unit}" for unit, size in TIMES if not value % size)
    unit = f" {attribute.name.rpartition('-')[2]}" if attribute.form == "amount" else ""
    return f"{value}{unit}"


def rows(table: Table) -> dict[str, list[Option]]:
    """The ways to write an option that stand in one row, by the first of them."""
    found: dict[str, list[Option]] = {}
    for one in table.options:
        bare = one.form in ("word", "off")
        same = next((k for k, had in found.items() if had[0].attribute is one.attribute), None)
        if bare and same:
            found[same].append(one)
        else:
            found[one.syntax] = [one]
    return found


def named(one: Option) -> list[str]:
    """The words with which it begins, in any case."""
    first, *more = one.syntax.split(" ")
    return [first, *takewhile(lambda word: re.fullmatch("[a-z]+", word), more)]


def written(one: Option) -> str:
    """A way to write an option, in short: its words, and what stands for its value."""
    words = named(one)
    values = one.syntax.split(" ")[len(words) :]
    text = f"``{' '.join(words)}``"
    if not values:
        return text
    if one.attribute.enum:
        return f"{text} NAME"
    rest = " ".join(values)
    if "[" in rest or one.form == "nest" or "off|" in rest:
        first = values[0] if values[0].isupper() else ""
        return " ".join(filter(None, (text, first, "...")))
    rest = re.sub(r"\b([a-z]+)\b", r"``\1``", rest.replace("|", " or "))
    return text + " " + rest.replace("``or``", "or")


def rst(text: str) -> str:
    """Text with powers."""
    return re.sub(r"(\d)\^(-?\d+)", r"\1\\ :sup:`\2`", text)


def cells(spec: Spec, options: list[Option]) -> list[str]:
    """The row of an option."""
    one = options[0].attribute
    members = [x for x in spec.nest(one).attributes if x.form] if options[0].form == "nest" else []
    value, first = limits(options[0]), initial(spec, one)
    if one.form == "words":
        value = ""
    if members and not value:
        value = ", ".join(f"``{member.word}``" for member in members)
        value += "; or ``off``" if one.option.get("without") == f"{one.word} off" else ""
        if "initial" not in one.option:
            first = ", ".join(initial(spec, member) for member in members)
    text, see = text_of(one), one.option.get("see")
    if see:
        text = f"{text} See {see}." if ". " in text else f"{text.removesuffix('.')}: {see}."
    names = ", ".join(written(option) for option in options)
    return [names, rst(value), rst(first), rst(text)]


def filled(first: str, text: str) -> list[str]:
    """Text behind a mark, in lines of the same indentation."""
    lines, current, indent = [], first, " " * len(first)
    for word in text.split():
        if len(current) + 1 + len(word) > COLUMNS and current.strip("*- "):
            lines.append(current.rstrip())
            current = indent
        current += word if current in (first, indent) else f" {word}"
    return [*lines, current.rstrip()]


def list_table(widths: str, *every: list[str]) -> str:
    """A table, of which the first row is the heading."""
    lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {widths}", ""]
    for row in every:
        for number, cell in enumerate(row):
            lines += filled("     - " if number else "   * - ", cell)
    return "\n" + "\n".join(lines) + "\n\n"


def options_of(spec: Spec, table: Table) -> str:
    """The table of options."""
    every = [cells(spec, options) for options in rows(table).values()]
    heading = ["Option", "Value", "A new link has", "Meaning"]
    return list_table("22 16 18 44", heading, *every)


def statistics(spec: Spec) -> str:
    """The table of what a link counts; bytes stand with their packets."""
    every: list[list[str]] = []
    for one in spec.sets["stats"].attributes:
        if one.kind == "pad":
            continue
        names = [f"``{one.name.replace('-', '_')}``", f"``{one.c_name}``"]
        text = str(one.option.get("text", one.doc))
        if text or not every:
            every.append([*names, rst(text)])
        else:
            pairs = zip(every[-1], names, strict=False)
            every[-1] = [*(f"{had}, {name}" for had, name in pairs), every[-1][2]]
    return list_table("26 40 34", ["In JSON", "Attribute", "Meaning"], *every)


def roff(text: str) -> str:
    """Text with literals in bold."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace(" %", "%")
    return re.sub(r"``(.*?)``", r"\\fB\1\\fP", text)


def syntax(text: str) -> str:
    """A syntax with its words in bold, and what stands for values in italics."""
    text = re.sub(r"^\w+|\b[a-z][a-z_]+\b", r"<B\g<0>>", text)
    text = re.sub(r"(?<![<\w])[A-Z0-9][A-Z0-9-]*\b", r"<I\g<0>>", text)
    return re.sub(r"<([BI])(.*?)>", r"\\f\1\2\\fP", text.replace("-", "\\-"))


def synopsis(table: Table) -> str:
    """All options, those of one group in one bracket."""
    groups: dict[tuple[Attribute, ...], list[str]] = {}
    for one in table.options:
        groups.setdefault(one.group, []).append(syntax(one.syntax))
    return "\n".join(f"[{' | '.join(ways)}]" for ways in groups.values()) + "\n"


def paragraph(spec: Spec, options: list[Option]) -> str:
    """The paragraph of an option."""
    one = options[0].attribute
    names = " | ".join(syntax(option.syntax) for option in options)
    text = re.sub(r"(?<=[.]) ", "\n", roff(text_of(one)))
    value, first = limits(options[0]), initial(spec, one)
    parts = [f"From {value}." if value[:1].isdigit() else "", f"Default: {first}."]
    return f".TP\n{names}\n{text}\n" + "".join(f"{roff(part)}\n" for part in parts if part)


def manual(spec: Spec, table: Table, page: str) -> dict[str, str]:
    """The synopsis; paragraphs, each where the page has lines for it, or all together."""
    result = {"synopsis": synopsis(table), "options-others": ""}
    regions = set(re.findall(r"generated: ([\w-]+)", page))
    section = page.partition(".SH OPTIONS\n")[2].partition("\n.SH ")[0]
    by_hand = re.sub(r"(?ms)^\.\\\" generated:.*?^\.\\\" generated: end", "", section)
    by_hand = re.sub(r'\\f[BIRP]|"', "", by_hand)
    for options in rows(table).values():
        name = " ".join(named(options[0]))
        region = f"option-{name.replace(' ', '-')}"
        if region in regions:
            result[region] = paragraph(spec, options)
        elif not re.search(rf"(?m)^\.TP\n(\.[BIR]+ )?{name}\b", by_hand):
            result["options-others"] += paragraph(spec, options)
    return result


def parts(spec: Spec) -> dict[str, dict[str, str]]:
    """What is between the lines."""
    table = Table(spec)
    page = (TOP / MANUAL).read_text(encoding="utf-8")
    tables = {"options": options_of(spec, table), "statistics": statistics(spec)}
    return {PAGE: tables, MANUAL: manual(spec, table, page)}
