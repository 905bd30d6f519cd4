# SPDX-License-Identifier: GPL-2.0
"""`wale-lab topology`: the network of a scenario, or a shape with a name, as a graph."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import yaml

from wale_lab import units, yaml_lines
from wale_lab.scenario import check_scenario, find_scenario
from wale_lab.shapes import SHAPES, Raw, graph_of_dumbbell
from wale_lab.written_out import write_out
from wale_lab.yaml_lines import Document


def topology_command(args: argparse.Namespace) -> int:
    """Print the graph as YAML."""
    if args.name in SHAPES:
        document = Document(args.name, {"topology": {"type": args.name}})
        for assignment in args.set:
            yaml_lines.override(document, f"topology.{assignment}")
        write_out(document, Path())
        graph = document.value["topology"]
    else:
        graph = _graph_of_scenario(find_scenario(args.name), args.set)
    print(as_yaml(graph), end="")
    return 0


def _graph_of_scenario(path: Path, overrides: list[str]) -> Raw:
    document = yaml_lines.load(path)
    scenario = check_scenario(document, overrides, path.parent)
    graph: Raw = document.value.get("topology", {})
    if scenario.graph is None:
        pairs = [
            (p.name, units.show_time_ns(p.access_delay) if p.access_delay else None)
            for p in scenario.pairs
        ]
        graph = {"type": "graph"}
        graph |= graph_of_dumbbell(pairs, document.value.get("bottleneck", {}))
    return graph


class _Dumper(yaml.SafeDumper):
    """Without anchors: what is the same in two places is written twice."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def as_yaml(graph: Raw) -> str:
    """A graph in the form used in a scenario."""
    return yaml.dump(
        {"topology": graph}, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=100
    )
