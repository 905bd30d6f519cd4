# SPDX-License-Identifier: GPL-2.0
"""The options of a link as the tools have them: userspace/lib/link_options.c, and the parts of
other files that name them all (the header's nests, the fuzzer's words, bash's completion)."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from spec import BITS, SIGNED, Attribute, AttributeSet, Spec, macro

PATH = "userspace/lib/link_options.c"
HEADER = "userspace/lib/link_options.h"
WORDS = "userspace/fuzz/dict/link_words.dict"
COMPLETION = "userspace/completion/wale.bash"

#: Forms that link_value.c reads and writes, and what stands for a value in a syntax.
PLAIN = {
    "rate": "RATE",
    "time": "TIME",
    "size": "SIZE",
    "count": "N",
    "percent": "PERCENT",
    "probability": "PROB",
    "fixed32": "M",
    "millionths": "",
    "seed": "N",
    "gap": "N",  # a count behind the value of another
    "enum": "",
}
RATES = (("tbit", 10**12), ("gbit", 10**9), ("mbit", 10**6), ("kbit", 1000), ("bit", 1))
TIMES = (("s", 10**9), ("ms", 10**6), ("us", 1000), ("ns", 1))
SIZES = (("gb", 1 << 30), ("mb", 1 << 20), ("kb", 1 << 10), ("b", 1))


@dataclass(frozen=True)
class Option:
    """A way to write one, as a line of the help."""

    syntax: str
    help: str
    attribute: Attribute
    form: str
    group: tuple[Attribute, ...]  # of which a link has one
    bare: bool = False  # complete without a value
    value: int = 0  # that the word says by itself

    @property
    def word(self) -> str:
        return self.syntax.split(" ")[0]


def shown(attributes: AttributeSet) -> list[Attribute]:
    """In the order of help and output: behind the one before it, or that which is named."""
    order: list[Attribute] = []
    before = ""
    for one in attributes.attributes:
        after = one.option.get("after", before)
        names = [other.name for other in order]
        order.insert(names.index(after) + 1 if after else 0, one)
        before = one.name
    return order


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _in_units(value: int, units: tuple[tuple[str, int], ...]) -> str:
    unit, size = next((name, size) for name, size in units if not value % size)
    return f"{value // size}{unit}" if value else "0"


def decimal(value: Fraction | float) -> str:
    """A number as people write it."""
    return f"{float(value):.6f}".rstrip("0").rstrip(".")


def _number(form: str, value: int) -> str:
    """A value as it can be typed."""
    match form:
        case "rate":
            return _in_units(8 * value, RATES)
        case "time":
            return _in_units(value, TIMES)
        case "size":
            return _in_units(value, SIZES)
        case "millionths":
            return decimal(Fraction(value, 10**6))
        case "fixed32":
            return decimal(Fraction(value, 1 << 32))
        case "percent" | "probability":
            one = Fraction(value + (value == (1 << 32) - 1), 1 << 32)
            return decimal(100 * one) + "%" if form == "percent" else decimal(one)
    return str(value)


def _list(words: list[str], last: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _word(attribute: Attribute) -> str:
    """What is typed: of what stands behind another option, without that."""
    return attribute.key if "of" in attribute.word.split() else attribute.word


def _expected(attribute: Attribute) -> str:
    """The sentence that refuses a value, behind "expected"."""
    option, form, word = attribute.option, attribute.form, _word(attribute)
    if attribute.enum:
        words = attribute.enum.words
        if len(words) == 2:
            return f"{word} {words[0]} or {word} {words[1]}"
        return f"{_with_article(word)}: {_list(words, 'or')}"
    text = _with_article(str(option.get("noun", word)))
    text += f" from {_number(form, attribute.minimum)} to {_number(form, attribute.maximum)}"
    if "example" in option:
        text += f", such as {option['example']}"
    return text + (", or unlimited" if "also" in option else "")


def _unit(attribute: Attribute) -> str:
    return attribute.name.rsplit("-", 1)[-1]


def _amount(group: tuple[Attribute, ...]) -> tuple[str, str]:
    """Syntax of an amount in one of several units, and its sentence."""
    found = {_unit(one): one for one in group}
    forms, parts = [], []
    if "bytes" in found:
        forms.append("SIZE")
        noun = found["bytes"].option.get("noun", "size")
        parts.append(f"a {noun}, such as {found['bytes'].option['example']}")
    if "packets" in found:
        forms.append("PACKETS")
        most = found["packets"].maximum
        parts.insert(0, f"from {found['packets'].minimum}p to {most}p (packets)")
    if "cells" in found:
        forms.append("N cells")
        parts.append("1000 cells")
    if any("also" in one.option for one in group):
        forms.append("unlimited")
        parts.append("unlimited")
    return "|".join(forms), f"{_with_article(group[0].word)} {', or '.join(parts)}"


def _value(attribute: Attribute) -> str:
    """What stands for its value."""
    if attribute.enum:
        return "|".join(attribute.enum.words)
    default = PLAIN[attribute.form] or attribute.word.upper()
    return str(attribute.option.get("value", default))


def _member(attribute: Attribute) -> str:
    text = f"{attribute.word} {_value(attribute)}"
    needed = attribute.option.get("needed") and "assumed" not in attribute.option
    return text if needed else f"[{text}]"


class Table:
    """What is known of all."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.order = shown(spec.options)
        self.options = list(self._options())

    def _group(self, attribute: Attribute) -> tuple[Attribute, ...]:
        """Those that are written with the same word."""

        def first(one: Attribute) -> str:
            return str(one.option.get("syntax", one.word)).split(" ")[0]

        return tuple(
            one
            for one in self.order
            if one.form
            and (
                one.option.get("behind") == attribute.name
                if "behind" in one.option
                else first(one) == first(attribute)
            )
        )

    def _options(self) -> Iterator[Option]:
        seen: set[str] = set()
        for one in self.order:
            if not one.form or "behind" in one.option:
                continue
            group = self._group(one)
            own = [other.form for other in group if other.form not in PLAIN]
            syntax, text = one.option.get("syntax"), one.option.get("help", "")
            form = own[0] if own else one.form
            if one.form in ("amount", "threshold") and one.word in seen:
                continue
            seen.add(one.word)
            if one.form == "words":
                assert one.enum
                for value, (name, doc) in enumerate(one.enum.entries):
                    yield Option(name, f"{text} {doc}", one, "word", group, True, value)
            elif one.form == "flag":
                yield Option(one.word, text, one, "word", group, True, 1)
                yield Option(f"no{one.word}", one.option["help-no"], one, "word", group, True)
            elif one.form == "nest":
                yield from self._nest(one, group)
            elif one.form == "amount":
                yield Option(f"{one.word} {_amount(group)[0]}", self._help(group), one, form, group)
            else:
                behind = [f" [{_word(x)} {_value(x)}]" for x in group if "behind" in x.option]
                behind += [f" [{x.option['part']['word']}]" for x in self._parts(one)]
                syntax = syntax or f"{one.word} {_value(one)}{''.join(behind)}"
                yield Option(syntax, text or self._help(group[:1]), one, form, group)

    def _parts(self, attribute: Attribute) -> Iterator[Attribute]:
        """The flags that a word behind its value switches on."""
        for one in self.order:
            if one.option.get("part", {}).get("of") == attribute.name:
                yield one

    @staticmethod
    def _help(group: tuple[Attribute, ...]) -> str:
        return next((str(one.option["help"]) for one in group if "help" in one.option), "")

    def _nest(self, one: Attribute, group: tuple[Attribute, ...]) -> Iterator[Option]:
        members = [x for x in self.spec.nest(one).attributes if x.form]
        off = str(one.option.get("without", ""))
        text = " ".join(_member(member) for member in members)
        if off == f"{one.word} off":
            text = f"off|{text}"
        bare = all("assumed" in member.option for member in members)
        yield Option(f"{one.word} {text}", one.option.get("help", ""), one, "nest", group, bare)
        if off and " " not in off:
            yield Option(off, one.option["help-no"], one, "off", group, True)

    @property
    def aliases(self) -> list[tuple[str, str]]:
        """Words that options had before, with those of now."""
        found: list[tuple[str, str]] = []
        for one in (x for nest in (self.spec.options, *self.spec.nests) for x in nest.attributes):
            if one.alias:
                no = ("", "no") if one.form == "flag" else ("",)
                found += [(prefix + one.alias, prefix + _word(one)) for prefix in no]
        return found

    def json_key(self, attribute: Attribute) -> str:
        """That of the JSON which the tools write."""
        by_word = attribute.form in {*PLAIN, "flag", "drop"}
        name = attribute.name.removesuffix("64").replace("-", "_")
        if by_word and "behind" not in attribute.option:
            name = attribute.key
        unit = {"time": "_ns", "start": "_ns", "size": "_bytes"}.get(attribute.form, "")
        return name + unit

    def expected(self, attribute: Attribute) -> str | None:
        """The sentence, or what is said instead for several values together."""
        option = next((x for x in self.options if attribute in x.group), None)
        if attribute.form == "amount" and option:
            return _amount(option.group)[1]
        if attribute.form == "nest":
            members = [x for x in self.spec.nest(attribute).attributes if x.form]
            if all("assumed" in x.option for x in members):
                return None
            needed = all(x.option.get("needed") for x in members)
            words = _list([x.word for x in members], "and" if needed else "or")
            off = attribute.option.get("without") == f"{attribute.word} off"
            return f"off, or {words}" if off else words
        if attribute.form in PLAIN:
            return _expected(attribute)
        return None

    def row(self, attribute: Attribute) -> str:
        """The entry of an attribute."""
        names, numbers = self._names(attribute), self._numbers(attribute)
        expected = self.expected(attribute)
        lines = [names, {"expected": _quoted(expected)} if expected else {}, numbers]
        text = ",\n\t\t".join(
            ", ".join(f".{name} = {value}" for name, value in line.items())
            for line in lines
            if line
        )
        return f"\t[{attribute.c_name}] = {{\n\t\t{text} }},\n" if text else ""

    def _names(self, attribute: Attribute) -> dict[str, str]:
        option, fields = attribute.option, {}
        if attribute.form:
            form = "count" if "behind" in option else attribute.form  # its form is its place
            fields["form"] = f"LINK_{macro(form)}"
            fields["word"] = _quoted(_word(attribute))
            fields["key"] = _quoted(self.json_key(attribute))
        if attribute.enum:
            fields["names"] = f"{attribute.enum.name.replace('-', '_')}_names"
        if attribute.form == "amount":
            fields["unit"] = f"LINK_{macro(_unit(attribute))}"
        if attribute.nested:
            fields["nest"] = f"&{attribute.nested}_set"
            fields["index"] = self._nest_name(attribute)
        if "behind" in option:
            fields["behind"] = macro(self.spec.options.start, option["behind"])
        if "part" in option:
            fields["part_of"] = macro(self.spec.options.start, option["part"]["of"])
            fields["part"] = _quoted(option["part"]["word"])
        return fields

    def _numbers(self, attribute: Attribute) -> dict[str, str]:
        option, fields = attribute.option, {}
        if attribute.is_number:
            width = {**BITS, **SIGNED}[attribute.kind]
            checked = max(attribute.minimum, 0), attribute.maximum
            if "kernel-from" in option:
                checked = option["kernel-from"], (1 << width) - 1
            fields = {"width": str(width // 8), "min": str(checked[0]), "max": f"{checked[1]}ULL"}
        if "also" in option:
            fields["also"] = f"{self.spec.constant(option['also'][0])}ULL"
        if self.spec.default(attribute):
            fields["usual"] = f"{self.spec.default(attribute)}ULL"
        if "assumed" in option:
            fields["assumed"] = f"{self.spec.constant(option['assumed'])}ULL"
        for where in option.get("unsaid", []):
            fields[f"unsaid_in_{where}"] = "true"
        return fields

    @staticmethod
    def _nest_name(attribute: Attribute) -> str:
        return macro("link-nest", str(attribute.nested))

    def table(self, attributes: AttributeSet) -> str:
        """The attributes of one nest, or of the link."""
        name, most = attributes.name, f"{attributes.start}_MAX"
        whole = attributes is self.spec.options
        return (
            f"static const struct link_attribute {name}_attributes[{most} + 1] = {{\n"
            + "".join(self.row(one) for one in attributes.attributes)
            + "};\n\n"
            + ("" if whole else "static ")
            + f"const struct link_set {'link_' if whole else ''}{name}_set = {{\n"
            + f"\t{name}_attributes, {most}\n}};\n"
        )

    def text(self) -> str:
        """The whole file."""
        parts = [HEAD]
        every = [x for each in (*self.spec.nests, self.spec.options) for x in each.attributes]
        for enum in dict.fromkeys(x.enum for x in every if x.enum):
            names = ", ".join(_quoted(word) for word in enum.words)
            name = enum.name.replace("-", "_")
            parts.append(f"static const char *const {name}_names[] = {{ {names}, NULL }};\n")
        parts += [self.table(nest) for nest in self.spec.nests]
        parts.append(self.table(self.spec.options))
        numbers = [one.c_name for one in self.order if one.form]
        parts.append(
            "const unsigned char link_order[] = {\n"
            + "".join(f"\t{name},\n" for name in numbers)
            + "\t0,\n};\n"
        )
        lines = [self._line(one) for one in self.options]
        parts.append(
            "const struct link_option link_options[] = {\n" + "".join(lines) + "\t{},\n};\n"
        )
        parts.append(
            "const struct link_former_word link_former_words[] = {\n"
            + "".join(f"\t{{ {_quoted(old)}, {_quoted(new)} }},\n" for old, new in self.aliases)
            + "\t{},\n};\n"
        )
        stats = self.spec.sets["stats"]
        parts.append(
            "const char *const link_stats_names[TCA_WALE_STATS_MAX + 1] = {\n"
            + "".join(
                f"\t[{x.c_name}] = {_quoted(x.name.replace('-', '_'))},\n" for x in stats.numbers
            )
            + "};\n"
        )
        parts.append("/* clang-format on */\n")
        return "\n".join(parts)

    @staticmethod
    def _line(one: Option) -> str:
        """The entry of an option."""
        bits = " |\n\t\t\t".join(f"LINK_BIT({x.c_name})" for x in one.group)
        fields = [f".syntax = {_quoted(one.syntax)}"]
        fields += [f".help = {_quoted(one.help)}"] if one.help else []
        kind = f".type = {one.attribute.c_name}, .form = LINK_{macro(one.form)}"
        kind += f", .value = {one.value}" if one.value else ""
        kind += ", .bare = true" if one.bare else ""
        return "\t{ " + ",\n\t\t".join([*fields, kind, f".bits = {bits}"]) + " },\n"

    def nests(self) -> str:
        """The names of the nests, for the header."""
        names = [self._nest_name(x) for x in self.spec.options.attributes if x.nested]
        most = max(nest.attributes[-1].number for nest in self.spec.nests)
        room = max(most, self.spec.options.attributes[-1].number)
        assert room < 64, "a bit for each"
        return "".join(f"\t{name},\n" for name in [*names, "LINK_NESTS"])

    @staticmethod
    def _behind(one: Option) -> list[str]:
        """The words that may stand behind its name, and not behind another of them."""
        syntax = one.syntax.removeprefix(one.word)
        found = re.findall(r"(?<![a-z_] )(?<=[ |\[])[a-z_]{2,}(?![^ |\]])", syntax)
        return [*found, "unlimited"] if "also" in one.attribute.option else found

    def words(self) -> str:
        """What the fuzzer puts together."""
        found = [word for one in self.options for word in (one.word, *self._behind(one))]
        found += [old for old, _ in self.aliases]
        return "".join(f'"{word} "\n' for word in dict.fromkeys(found))

    def completion(self) -> str:
        """The options, for bash."""
        names = dict.fromkeys(f"--{one.word}" for one in self.options)
        text = textwrap.fill(
            " ".join(names), 80, break_long_words=False, break_on_hyphens=False
        ).replace("\n", " \\\n\t\t")
        return f"\techo {text}\n"

    def values(self) -> str:
        """What follows each option that needs a value, or may have one, for bash."""
        behind: dict[str, list[str]] = {}
        for one in self.options:
            if not one.bare or self._behind(one):
                behind.setdefault(one.word, []).extend(self._behind(one))
        bare = {one.word for one in self.options if one.bare}
        text = ""
        for name, words in behind.items():
            if words:
                text += f"\t--{name})\n\t\techo {' '.join(dict.fromkeys(words))}\n"
                if name in bare:
                    text += "\t\t[[ -n $cur ]] || _wale_link_options\n"
                text += "\t\t;;\n"
        numbers = " | ".join(f"--{name}" for name, words in behind.items() if not words)
        return f"{text}\t{numbers}) ;;\n"


HEAD = """\
// SPDX-License-Identifier: GPL-2.0
/*
 * link_options.c - the options of a link, as words, attributes and JSON
 *
 * Written by `make generate` from Documentation/netlink/specs/sch_wale.yaml.
 */
#include "link_options.h"

/* clang-format off */
"""


def render(spec: Spec) -> str:
    """The file as a whole."""
    return Table(spec).text()


def parts(spec: Spec) -> dict[str, dict[str, str]]:
    """Parts of others."""
    table = Table(spec)
    return {
        HEADER: {"nests": table.nests()},
        WORDS: {"words": table.words()},
        COMPLETION: {"options": table.completion(), "values": table.values()},
    }
