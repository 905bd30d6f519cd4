# SPDX-License-Identifier: GPL-2.0
"""Directives that describe the testbed with its own words.

`scenario-reference` shows what a scenario may say: keys, values, defaults and
descriptions are those of the model in wale_lab/scenario.py that checks it.
`study-reference` does the same for studies (wale_lab/studies/study.py), and `study-measures`
lists what can be measured (wale_lab/results/measures.py); `evaluation-reference`,
`evaluation-measures` and `evaluation-rows` do so for the rows of evaluations.
`csv-columns:: flows` (or links, channel, sessions, delays) shows the columns of a time series, from
wale_lab/results/result.py that writes it.  Neither can differ from what `wale-lab` does.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from pydantic import BaseModel, WithJsonSchema
from pydantic.fields import FieldInfo
from sphinx.util.nodes import nested_parse_with_titles

HEADER = """\
.. list-table::
   :header-rows: 1
   :widths: 16 30 14 40

   * - Key
     - Value
     - Default
     - What
"""

PLAIN_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "on or off",
}


def inside(annotation: Any) -> Iterator[Any]:
    """An annotation such as list[Flow] or Trace | None, and all that it is made of."""
    yield annotation
    for inner in typing.get_args(annotation):
        yield from inside(inner)


def models_in(field: FieldInfo) -> list[type[BaseModel]]:
    """The models that a field holds."""
    return [
        part
        for part in inside(field.annotation)
        if isinstance(part, type) and issubclass(part, BaseModel)
    ]


def reachable(model: type[BaseModel]) -> list[type[BaseModel]]:
    """The model and all that it holds, in the order in which a reader meets them."""
    found = [model]
    for field in model.model_fields.values():
        for inner in models_in(field):
            found += [more for more in reachable(inner) if more not in found]
    return found


def quantity(field: FieldInfo) -> str | None:
    """How a number with a unit is written, such as "time: 50ms"."""
    marks = list(field.metadata)
    for part in inside(field.annotation):
        marks += getattr(part, "__metadata__", ())
    for mark in marks:
        if isinstance(mark, WithJsonSchema) and mark.json_schema:
            return str(mark.json_schema.get("quantity", "")) or None
    return None


def from_schema(schema: dict[str, Any], kind_of: str) -> str:
    """What a key takes, in words, from its JSON schema; `kind_of` document, for references."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f":ref:`{name} <{kind_of}-{name.lower()}>`"
    if "const" in schema:
        return f"``{schema['const']}``"
    if "enum" in schema:
        return ", ".join(f"``{word}``" for word in schema["enum"])
    either = schema.get("anyOf") or schema.get("oneOf")
    if either:
        kinds = [from_schema(s, kind_of) for s in either if s.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(from_schema({"type": one}, kind_of) for one in kind)
    if kind == "array":
        items = schema.get("items", {})
        return "list" if "prefixItems" in items else f"list of {from_schema(items, kind_of)}"
    if kind == "object":
        inner = schema.get("additionalProperties", {})
        return f"name to {from_schema(inner if isinstance(inner, dict) else {}, kind_of)}"
    if kind == "integer" and {"minimum", "maximum"} <= schema.keys():
        return f"{schema['minimum']} to {schema['maximum']}"
    return PLAIN_TYPES.get(str(kind), "value")


def value_text(field: FieldInfo, schema: dict[str, Any], kind_of: str) -> str:
    """What a key takes, in words."""
    written = quantity(field)
    if written and not models_in(field) and schema.get("type") != "array":
        return written
    return from_schema(schema, kind_of)


def default_text(field: FieldInfo) -> str:
    """What holds without the key."""
    from wale_lab import units

    if field.is_required():
        return "(needed)"
    default = field.get_default(call_default_factory=True)
    if isinstance(default, bool):
        return "on" if default else "off"
    if isinstance(default, float | int) and not default:
        return "0"
    if not default or isinstance(default, BaseModel):
        return ""
    if isinstance(default, list):
        return ", ".join(str(getattr(item, "name", item)) for item in default)
    if (quantity(field) or "").startswith("time"):
        return units.show_time_ns(default)
    return str(default)


def escaped(text: str) -> str:
    """Plain text, but for `words like this`, which are literal."""
    text = text.strip().replace("\\", r"\\").replace("*", r"\*").replace("|", r"\|")
    return re.sub(r"`([^`]*)`", r"``\1``", text)


def section(model: type[BaseModel], kind_of: str) -> Iterator[str]:
    """One model, in reStructuredText."""
    from wale_lab import checking

    schema = model.model_json_schema(mode="validation")
    name = model.__name__
    if "properties" not in schema:  # a model that holds itself
        schema = schema["$defs"][name]
    yield from (f".. _{kind_of}-{name.lower()}:", "", name, "-" * len(name), "")
    yield from (escaped(model.__doc__ or ""), "")
    yield from HEADER.splitlines()
    for name_inside, field in model.model_fields.items():
        key = checking.ways_to_write(name_inside, field)[0]
        yield f"   * - ``{key}``"
        yield f"     - {value_text(field, schema['properties'][key], kind_of)}"
        yield f"     - {default_text(field)}"
        yield f"     - {escaped(field.description or '')}"
    yield ""


def two_columns(title: str, meanings: dict[str, str]) -> Iterator[str]:
    """A table of names and what they mean, in reStructuredText."""
    yield from (".. list-table::", "   :header-rows: 1", "   :widths: 30 70", "")
    yield from (f"   * - {title}", "     - Meaning")
    for name, meaning in meanings.items():
        yield from (f"   * - ``{name}``", f"     - {escaped(meaning)}")
    yield ""


class FromText(Directive):
    """A directive that writes reStructuredText and has it parsed."""

    source = ""

    def lines(self) -> Iterator[str]:
        """Return the text."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """Parse it here."""
        holder = nodes.Element()
        text = StringList(list(self.lines()), source=self.source)
        nested_parse_with_titles(self.state, text, holder)
        return holder.children


class ScenarioReference(FromText):
    """A table for each part of a scenario."""

    source = "testbed/src/wale_lab/scenario.py"

    def lines(self) -> Iterator[str]:
        """One section for each model."""
        from wale_lab.scenario import Scenario

        for model in reachable(Scenario):
            yield from section(model, "scenario")


class StudyReference(FromText):
    """A table for each part of a study."""

    source = "testbed/src/wale_lab/studies/study.py"

    def lines(self) -> Iterator[str]:
        """One section for each model."""
        from wale_lab.studies.study import Study

        for model in reachable(Study):
            yield from section(model, "study")


class StudyMeasures(FromText):
    """What a study can measure."""

    source = "testbed/src/wale_lab/results/measures.py"

    def lines(self) -> Iterator[str]:
        """One table."""
        from wale_lab.results.measures import MEASURES

        yield from two_columns("Measure", MEASURES)


class EvaluationReference(FromText):
    """What a row of an evaluation may say."""

    source = "testbed/src/wale_lab/evaluation/rows.py"

    def lines(self) -> Iterator[str]:
        """Return the sections."""
        from wale_lab.evaluation.rows import Row

        for model in reachable(Row):
            yield from section(model, "evaluation")


class EvaluationMeasures(FromText):
    """What a row can measure."""

    source = "testbed/src/wale_lab/evaluation/measure.py"

    def lines(self) -> Iterator[str]:
        """One table."""
        from wale_lab.evaluation.measure import MEASURES

        yield from two_columns(
            "Measure",
            {
                name: f"{one.text}{f' ({one.unit})' if one.unit else ''}"
                for name, one in MEASURES.items()
            },
        )


class EvaluationRows(FromText):
    """The rows that come with the testbed, of the documents that they are from."""

    source = "testbed/src/wale_lab/evaluation/rows"

    def lines(self) -> Iterator[str]:
        """One table."""
        from wale_lab.evaluation.rows import ROWS, load_row

        yield from (".. list-table::", "   :header-rows: 1", "   :widths: 22 34 44", "")
        yield from ("   * - Row", "     - Source", "     - What is judged")
        for path in sorted(ROWS.glob("*/*.yaml")):
            named = load_row(path)
            source, unable = named.row.source, named.row.unable
            weight = f" ({source.weight})" if source.weight else ""
            what = f"not yet: {unable}" if unable else named.row.title
            yield f"   * - ``{named.name}``"
            yield f"     - {escaped(f'{source.document}, {source.section}{weight}')}"
            yield f"     - {escaped(what)}"
        yield ""


class CsvColumns(FromText):
    """The columns of a time series, or of the sessions."""

    source = "testbed/src/wale_lab/results/result.py"
    required_arguments = 1

    def lines(self) -> Iterator[str]:
        """One table."""
        from wale_lab.packets import table as packet_table
        from wale_lab.results import constant, result, sessions

        series = {
            "flows": result.FLOW_COLUMNS,
            "links": result.LINK_COLUMNS,
            "channel": result.CHANNEL_COLUMNS,
            "sessions": sessions.SESSION_COLUMNS,
            "delays": constant.DELAY_COLUMNS,
            "packets": {n: text for n, (_, text) in packet_table.PACKET_COLUMNS.items()},
        }
        if self.arguments[0] not in series:
            raise self.error(f"expected one of {', '.join(series)}")
        yield from two_columns("Column", series[self.arguments[0]])


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("scenario-reference", ScenarioReference)
    app.add_directive("study-reference", StudyReference)
    app.add_directive("study-measures", StudyMeasures)
    app.add_directive("evaluation-reference", EvaluationReference)
    app.add_directive("evaluation-measures", EvaluationMeasures)
    app.add_directive("evaluation-rows", EvaluationRows)
    app.add_directive("csv-columns", CsvColumns)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
