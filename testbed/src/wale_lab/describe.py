# SPDX-License-Identifier: GPL-2.0
"""`wale-lab schema`: the keys of a scenario."""

from __future__ import annotations

import argparse
import json
from typing import Any

from wale_lab.results.constant import DELAY_COLUMNS
from wale_lab.results.result import CHANNEL_COLUMNS, FLOW_COLUMNS, LINK_COLUMNS
from wale_lab.results.sessions import SESSION_COLUMNS
from wale_lab.scenario import Scenario
from wale_lab.units import show_time_ns


def json_schema() -> dict[str, Any]:
    """The schema of a scenario, with defaults as one would write them."""
    schema = Scenario.model_json_schema()
    for part in (schema, *schema["$defs"].values()):
        for entry in part.get("properties", {}).values():
            if entry.get("quantity", "").startswith("time") and "default" in entry:
                entry["default"] = show_time_ns(entry["default"]).replace(" ", "")
            elif isinstance(entry.get("default"), dict | list):
                del entry["default"]  # what its own keys have as defaults
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def schema_command(args: argparse.Namespace) -> int:
    """The JSON schema, or a reference in Markdown."""
    schema = json_schema()
    if args.markdown:
        print(markdown(schema))
    else:
        print(json.dumps(schema, indent=2))
    return 0


def _kind(entry: dict[str, Any]) -> tuple[str, str | None]:
    """A type in words, and the model that it refers to."""
    if "quantity" in entry:
        return str(entry["quantity"]), None
    if "$ref" in entry:
        name = entry["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})", name
    if "anyOf" in entry:
        kinds = [_kind(e) for e in entry["anyOf"] if e.get("type") != "null"]
        return " or ".join(k for k, _ in kinds), next((n for _, n in kinds if n), None)
    if "oneOf" in entry:
        return _kind({"anyOf": entry["oneOf"]})
    if "enum" in entry:
        return " or ".join(f"`{v}`" for v in entry["enum"]), None
    if "const" in entry:
        return f"`{entry['const']}`", None
    if "prefixItems" in entry:
        kinds = [_kind(e) for e in entry["prefixItems"]]
        return f"[{', '.join(kind.partition(':')[0] for kind, _ in kinds)}]", None
    if entry.get("type") == "array":
        inner, name = _kind(entry.get("items", {}))
        return f"list of {inner or 'values'}", name
    if entry.get("type") == "object" and isinstance(entry.get("additionalProperties"), dict):
        inner, name = _kind(entry["additionalProperties"])
        return f"name to {inner}", name
    return str(entry.get("type", "")), None


def _default(entry: dict[str, Any], required: bool) -> str:
    if required:
        return "needed"
    value = entry.get("default")
    if value is None or value == "":
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def markdown(schema: dict[str, Any]) -> str:
    """A table for each part of a scenario, and of the recorded files."""
    parts = [_section("Scenario", schema)]
    parts += [_section(name, part) for name, part in schema.get("$defs", {}).items()]
    series = {
        "flows": FLOW_COLUMNS,
        "links": LINK_COLUMNS,
        "channel": CHANNEL_COLUMNS,
        "sessions": SESSION_COLUMNS,
        "delays": DELAY_COLUMNS,
    }
    for file, columns in series.items():
        rows = [f"| `{name}` | {text} |" for name, text in columns.items()]
        head = [f"## {file}.csv", "", "| column | meaning |", "|---|---|"]
        parts.append("\n".join([*head, *rows, ""]))
    return "\n".join(parts)


def _section(name: str, part: dict[str, Any]) -> str:
    lines = [f"## {name}", "", part.get("description", ""), ""]
    lines += ["| key | value | default | meaning |", "|---|---|---|---|"]
    for key, entry in part.get("properties", {}).items():
        kind, _ = _kind(entry)
        default = _default(entry, key in part.get("required", []))
        meaning = entry.get("description", "").replace("\n", " ").replace("|", "\\|")
        lines.append(f"| `{key}` | {kind} | {default} | {meaning} |")
    return "\n".join([*lines, ""])
