# SPDX-License-Identifier: GPL-2.0
"""From a row of an evaluation to scenarios: one for each cell, run, control and seed."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

import yaml

from wale_lab import yaml_lines
from wale_lab.checking import checked
from wale_lab.errors import ScenarioError
from wale_lab.evaluation.measure import SERVER
from wale_lab.evaluation.rows import CONTROL, Cell, Group, Named, Strict
from wale_lab.units import parse_time_ns
from wale_lab.yaml_lines import Document


@dataclass(frozen=True)
class Subject:
    """What is judged, or compared with: a control, or programs instead of it."""

    label: str
    control: str = ""
    kernel: str | None = None
    program: str | None = None
    """a command that receives from the server, for the receiving host"""
    serve: str | None = None
    """the command of its server, for the sending host"""

    @property
    def is_program(self) -> bool:
        """A transport of the user's?"""
        return self.program is not None


def slug(text: str) -> str:
    """A text as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-")


def _filled(value: Any, control: str) -> Any:
    """With the control instead of {cc}, wherever it is."""
    if isinstance(value, dict):
        return {key: _filled(one, control) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, control) for one in value]
    return value.replace(CONTROL, control) if isinstance(value, str) else value


def delayed(seed: int, flow: str, spread_ns: int) -> int:
    """By how much a flow begins later with a seed, the same for each control, in ns."""
    if not spread_ns:
        return 0
    drawn = hashlib.sha256(f"{seed} {flow}".encode()).digest()
    return int.from_bytes(drawn[:8], "big") % spread_ns // 1000 * 1000


def _names(name: str, group: Group) -> list[str]:
    return [name] if group.count == 1 else [f"{name}-{n + 1}" for n in range(group.count)]


def _time_ns(flow: dict[str, Any], key: str, where: str) -> int:
    """A time of a flow, or 0; ScenarioError if it is none."""
    try:
        return parse_time_ns(flow.get(key, 0))
    except (ValueError, TypeError, AttributeError) as error:
        raise ScenarioError(f"{where}: flow {flow['name']}: {key}: {error}") from None


def _add_group(value: dict[str, Any], name: str, group: Group, where: str) -> None:
    """The pairs, flows and hosts of a group."""
    for number, flow in enumerate(_names(name, group)):
        delay = group.access_delay[number % len(group.access_delay)]
        value["topology"]["pairs"].append({"name": flow, "access_delay": delay})
        made = {"name": flow, "pair": flow, **copy.deepcopy(group.flow)}
        if group.every:
            made["start"] = f"{_time_ns(made, 'start', where) + number * group.every}ns"
        value["flows"].append(made)
        if group.sender or group.receiver:
            hosts = value.setdefault("hosts", {}).setdefault("pairs", {}).setdefault(flow, {})
            hosts |= copy.deepcopy({"sender": group.sender, "receiver": group.receiver})


def _override(target: Document, key: str, value: Any) -> None:
    yaml_lines.override(target, f"{key}={json.dumps(value)}")


class _Parts(Strict):
    """What scenarios are made of."""

    scenario: dict[str, Any]
    groups: dict[str, Group]


def _with_cell(
    named: Named, cell_name: str, cell: Cell, run: str
) -> tuple[dict[str, Any], dict[str, Group]]:
    """What is in the row's `scenario` and `groups` for a cell and a run."""
    row = named.row
    raw = named.document.value
    both = {
        "scenario": copy.deepcopy(raw.get("scenario", {})),
        "groups": copy.deepcopy(raw.get("groups", {})),
    }
    where = named.document.name + (f", cell {cell_name}" if cell_name else "")
    document = Document(where, both, dict(named.document.lines))
    for key, value in {**cell.set, **row.runs[run].set}.items():  # type: ignore[index]
        first = key.partition(".")[0]
        if first not in both:
            raise ScenarioError(
                f"{named.document.name}: set: expected keys that begin with scenario. or groups., "
                f"got {key!r}"
            )
        _override(document, key, value)
    parts = checked(_Parts, document)
    assert isinstance(parts, _Parts)
    left_out = row.runs[run].without  # type: ignore[index]
    groups = {name: one for name, one in parts.groups.items() if name not in left_out}
    return parts.scenario, groups


def scene(named: Named, cell_name: str, cell: Cell, run: str, subject: Subject, seed: int) -> str:
    """The scenario, as the text of a YAML file."""
    where = named.document.name
    scenario, groups = _with_cell(named, cell_name, cell, run)
    value: dict[str, Any] = {
        "name": "-".join(filter(None, [named.name, slug(cell_name), "" if run == "main" else run])),
        "description": named.row.question,
        **scenario,
    }
    if groups:
        value["topology"] = {"pairs": []}
        value["flows"] = []
        for name, group in groups.items():
            _add_group(value, name, group, where)
    flows = value.get("flows")
    if not isinstance(flows, list) or not all(isinstance(f, dict) and "name" in f for f in flows):
        raise ScenarioError(f"{where}: run {run}: expected groups, or flows that each have a name")
    tested = {flow["name"] for flow in value["flows"] if flow.get("cc") == CONTROL}
    value = _filled(value, subject.control)
    for flow in value["flows"]:
        late = delayed(seed, flow["name"], named.row.spread)
        if late:
            flow["start"] = f"{_time_ns(flow, 'start', where) + late}ns"
    if subject.is_program:
        value["flows"] = [
            one
            for flow in value["flows"]
            for one in (_programs(flow, subject, where) if flow["name"] in tested else [flow])
        ]
    head = f"# Row {named.name} of an evaluation" + (f", {cell_name}" if cell_name else "")
    return f"{head}; seed {seed}.\n" + yaml.safe_dump(value, sort_keys=False, width=100)


def _programs(flow: dict[str, Any], subject: Subject, where: str) -> list[dict[str, Any]]:
    """A server and a client of the user's instead of a flow of the control under test."""
    pair = flow.get("pair")
    if pair is None or "arrivals" in flow:
        raise ScenarioError(f"{where}: the row's flows cannot be programs")
    names = {"server": f"{pair}-sender", "client": f"{pair}-receiver"}
    duration_ns = _time_ns(flow, "duration", where)

    def command(text: str) -> str:
        size = str(flow.get("size", ""))
        for word, told in {**names, "seconds": f"{duration_ns / 1e9:g}", "size": size}.items():
            text = text.replace("{" + word + "}", told)
        return text

    server = f"{SERVER}{flow['name']}"
    client: dict[str, Any] = {
        "name": flow["name"], "host": names["client"], "sh": command(subject.program or ""),
        "start": flow.get("start", 0), "exit": "any",
    }  # fmt: skip
    if duration_ns:
        client["until"] = f"{duration_ns}ns"
    if subject.serve is None:
        return [client]
    serving = {
        "name": server, "host": names["server"], "sh": command(subject.serve), "serve": True,
        "ready": "listens",
    }  # fmt: skip
    return [serving, client | {"after": server}]
