# SPDX-License-Identifier: GPL-2.0
"""Writes a topology that has a name, or is in a file of its own, out as the graph that it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model

from wale_lab.checking import checked, show
from wale_lab.errors import ScenarioError
from wale_lab.shapes import SHAPES, Raw
from wale_lab.yaml_lines import Document


def write_out(document: Document, folder: Path) -> None:
    """Replace a scenario's `topology` by its hosts, routers, switches and links."""
    topology = document.value.get("topology")
    if not isinstance(topology, dict):
        return
    kind = topology.get("type")
    if isinstance(kind, str) and kind in SHAPES:
        document.value["topology"] = {"type": "graph", **_graph_of_shape(document, topology, kind)}
    elif kind == "graph" and isinstance(topology.get("file"), str):
        from wale_lab.network_files import read_network

        if given := sorted({"hosts", "routers", "switches", "links"} & topology.keys()):
            where = document.where(("topology", given[0]))
            raise ScenarioError(f"{where}: topology.file: expected no {given[0]} beside a file")
        read = read_network(folder / topology.pop("file"), document.where(("topology", "file")))
        document.value["topology"] = {**topology, **read}


def _graph_of_shape(document: Document, topology: dict[str, Any], kind: str) -> Raw:
    """A shape as a graph, once it has been checked."""
    only: type[BaseModel] = create_model(
        "Only", __config__=ConfigDict(extra="ignore"), topology=(SHAPES[kind], ...)
    )
    raw: Raw = dict(topology)
    if kind == "parking-lot":
        raw.setdefault("links", 3)
    if isinstance(raw.get("links"), int) and not isinstance(raw["links"], bool):
        if not 1 <= raw["links"] <= 100:
            path = ("topology", "links")
            raise ScenarioError(
                f"{document.where(path)}: {show(path)}expected 1 to 100 links, got {raw['links']}"
            )
        raw["links"] = [raw.get("link", {})] * raw["links"]
    elif "link" in raw and kind == "parking-lot":
        path = ("topology", "link")
        raise ScenarioError(
            f"{document.where(path)}: {show(path)}expected links to be a number, together with link"
        )
    checked_copy = Document(document.name, {"topology": raw}, document.lines)
    shape: Any = checked(only, checked_copy).topology  # type: ignore[attr-defined]
    found: Raw = shape.graph(raw)
    return {**found, "advice": shape.advice}
