# SPDX-License-Identifier: GPL-2.0
"""`wale-lab list`: what comes with the testbed.

It only reads the files: the tests check that they are right, because loading the model that checks
a scenario takes longer than everything here.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import yaml

from wale_lab.tree import PACKAGE


def _each(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The name and the content of each file of a folder."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for path in sorted((PACKAGE / kind).glob("*.yaml")):
        yield path.stem, yaml.load(path.read_text(encoding="utf-8"), Loader=loader)


def list_command(_args: argparse.Namespace) -> int:
    """The scenarios and profiles that come with the testbed."""
    for name, scenario in _each("scenarios"):
        time = scenario.get("time", "virtual")
        flows = ", ".join(flow["name"] for flow in scenario["flows"])
        print(f"{name}  ({time} time; flows: {flows})\n    {scenario.get('description', '')}")
    print("\nprofiles:")
    for name, profile in _each("profiles"):
        print(f"    {name}: {profile['description']}")
    return 0
