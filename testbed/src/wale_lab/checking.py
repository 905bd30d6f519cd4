# SPDX-License-Identifier: GPL-2.0
"""Checks a YAML document against a model, and reports errors in words and with the line."""

from __future__ import annotations

import re
from typing import Any

from pydantic import AliasChoices, BaseModel, ValidationError
from pydantic.fields import FieldInfo

from wale_lab import yaml_lines
from wale_lab.errors import ScenarioError
from wale_lab.yaml_lines import Document, KeyPath

#: A message of a validator that names what below its own place is wrong.
_NAMED = re.compile(
    r"^((?:flows|hosts|topology|links|routes)\.[\w.-]+|routers|switches|hosts|file): (.*)$"
)


def checked(model: type[BaseModel], document: Document) -> BaseModel:
    """A document as a model; ScenarioError says what is wrong and where."""
    try:
        return model.model_validate(document.value)
    except ValidationError as error:
        lines = [_explain(model, document, item) for item in error.errors()]
        raise ScenarioError("\n".join(lines)) from None


def _explain(model: type[BaseModel], document: Document, item: Any) -> str:
    """One error: file, line, key path, and what was expected."""
    path: KeyPath = tuple(p for p in item["loc"] if _in_document(p))
    message = item["msg"].removeprefix("Value error, ")
    if named := _NAMED.match(message):
        below = tuple(int(w) if w.isdigit() else w for w in named[1].split("."))
        path = below if named[1].startswith("topology.") else (*path, *below)
        message = named[2]
    if item["type"] == "extra_forbidden":
        message = f"unknown key; expected one of {', '.join(_keys_at(model, item['loc'][:-1]))}"
    elif item["type"] == "missing":
        message = "expected this key, it is missing"
    elif item["type"] == "model_type" and (keys := _keys_at(model, item["loc"])):
        message = f"expected keys such as {', '.join(list(keys)[:3])}, got {item['input']!r}"
    elif items := re.match(r"List should have (at \w+ \d+ items?) after .*, not (\d+)", message):
        message = f"expected {items[1]}, got {items[2]}"
    elif not message.startswith("expected"):
        message = message.replace("Input should", "expected to", 1).replace("to be", "", 1)
        message = re.sub(r"\s+", " ", message.replace("expected to", "expected", 1))
        if not isinstance(item.get("input"), dict | list):
            message += f", got {item.get('input')!r}"
    key = "" if document.part(path) else show(path)
    return f"{document.where(path)}: {key}{message}"


def show(path: KeyPath) -> str:
    """A key path before a message."""
    return f"{yaml_lines.show_path(path)}: " if path else ""


def _in_document(part: str | int) -> bool:
    """Pydantic adds the names of validators and union members to a path."""
    return isinstance(part, int) or not re.search(r"[\[\](]", part)


def _keys_at(model: type[BaseModel], path: KeyPath) -> list[str]:
    """The keys that a model has at a path, in which a program has its tag."""
    here: Any = model
    for part in path:
        fields = getattr(_inner_model(here), "model_fields", {})
        name = next((name for name in fields if part in ways_to_write(name, fields[name])), None)
        if name is not None:
            here = fields[name].annotation
        elif not _in_document(part):
            here = _member(here, str(part)) or here
    of = getattr(_inner_model(here), "model_fields", {})
    return sorted(ways_to_write(name, field)[0] for name, field in of.items())


def ways_to_write(name: str, field: FieldInfo) -> list[str]:
    """How a key may be written, first the way that is shown."""
    ways = field.validation_alias or field.alias or name
    return [str(way) for way in ways.choices] if isinstance(ways, AliasChoices) else [str(ways)]


def union_tag(model: type[BaseModel]) -> str:
    """The name of a member of a union in the path of an error: no key has such a name."""
    return f"[{model.__name__}]"


def _member(annotation: Any, tag: str) -> Any:
    """The member of a union with a tag, in what annotates a field."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation if union_tag(annotation) == tag else None
    inner = (_member(one, tag) for one in getattr(annotation, "__args__", ()))
    return next((found for found in inner if found is not None), None)


def _inner_model(annotation: Any) -> Any:
    """The model in an annotation such as list[Flow] or Trace | None."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        found = _inner_model(inner)
        if found is not None:
            return found
    return None
