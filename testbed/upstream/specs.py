# SPDX-License-Identifier: GPL-2.0
"""Netlink specifications in the form that the kernel's own schemas allow."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import yaml

LICENSE = "# SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)\n---\n"

#: Where rtnetlink has its own description of what these two sets describe here.
_OF_RTNETLINK = ("qdisc", "stats2")

#: Keys whose value is the name of a set, of a definition, or of a constant.
_SETS = ("nested-attributes", "attribute-set")
_DEFINITIONS = ("enum", "struct", "min", "max", "max-len", "min-len", "len")


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and lists as the kernel's files have them."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        del indentless
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def without_options(part: Any) -> Any:
    """The specification without what only this project has in it."""
    if isinstance(part, dict):
        return {key: without_options(value) for key, value in part.items() if key != "option"}
    return [without_options(one) for one in part] if isinstance(part, list) else part


def _dump(data: Any) -> str:
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=79)


def plain(path: Path) -> str:
    """A specification of this tree, as a file of the kernel."""
    return LICENSE + _dump(without_options(yaml.safe_load(path.read_text())))


def in_tc(path: Path) -> dict[str, str]:
    """The parts of tc.yaml that describe the qdisc "wale", by the list that they belong to."""
    spec = without_options(yaml.safe_load(path.read_text()))
    sets = [one for one in spec["attribute-sets"] if one["name"] not in _OF_RTNETLINK]
    names = {one["name"]: _set_name(one["name"]) for one in sets}
    constants = {one["name"]: f"wale-{one['name']}" for one in spec["definitions"]}
    parts = {"definitions": spec["definitions"], "attribute-sets": sets}
    written = {}
    for key, entries in parts.items():
        kept = names if key == "attribute-sets" else constants
        renamed = [_renamed(one, names, constants) | {"name": kept[one["name"]]} for one in entries]
        written[key] = textwrap.indent(_dump(renamed), "  ")
    for key, name in (("options-msg", "options"), ("tca-stats-app-msg", "stats")):
        written[key] = f"      -\n        value: wale\n        attribute-set: {names[name]}\n"
    return written


def _set_name(name: str) -> str:
    return "wale-attrs" if name == "options" else f"wale-{name}-attrs"


def _renamed(part: Any, sets: dict[str, str], constants: dict[str, str]) -> Any:
    """With references to what has another name in tc.yaml."""
    if isinstance(part, list):
        return [_renamed(one, sets, constants) for one in part]
    if not isinstance(part, dict):
        return part
    done = {}
    for key, value in part.items():
        known = sets if key in _SETS else constants if key in _DEFINITIONS else {}
        done[key] = (
            known[value]
            if isinstance(value, str) and value in known
            else _renamed(value, sets, constants)
        )
    return done
