# SPDX-License-Identifier: GPL-2.0
"""Reads networks from files of other programs: GML and GraphML, and those of containerlab.

A node is a router, a host or a switch if its attribute `kind` says so (of containerlab: `bridge`
and `ovs-bridge` are switches); else it is a host if it has one link, and a router if it has more.
Names are made of letters, digits, - and _; other characters become -.  Of a link's attributes,
those that a link has here count (rate, delay, loss, limit, and so on; cost or name).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import networkx as nx

from wale_lab import yaml_lines
from wale_lab.checking import checked
from wale_lab.errors import ScenarioError, why
from wale_lab.link import Link
from wale_lab.shapes import Raw
from wale_lab.yaml_lines import Document

_KINDS = ("host", "router", "switch")
_BRIDGES = ("bridge", "ovs-bridge")

#: Of a link itself, not of its two directions.
_OF_LINKS = ("name", "cost")


def read_network(path: Path, where: str) -> Raw:
    """The nodes and links of a file; `where` the scenario names it."""
    try:
        if path.suffix in (".yml", ".yaml"):
            return _containerlab(path)
        if path.suffix == ".gml":
            graph = nx.read_gml(path, label="id")
        elif path.suffix == ".graphml":
            graph = nx.read_graphml(path)
        else:
            raise ScenarioError(
                f"{where}: topology.file: expected a name that ends with .gml, .graphml, .yml or "
                f".yaml, got {path.name!r}"
            )
    except OSError as error:
        raise ScenarioError(f"{where}: cannot read the network {path}: {why(error)}") from None
    except ScenarioError:
        raise
    except Exception as error:  # whatever parsers of others raise
        what = str(error) or type(error).__name__
        raise ScenarioError(f"{path}: expected {path.suffix[1:].upper()}: {what}") from None
    return _from_graph(graph, path)


def _from_graph(graph: Any, path: Path) -> Raw:
    """A graph of networkx; a link that is there for each direction counts once."""
    names: dict[Any, str] = {}
    for node, about in graph.nodes(data=True):
        label = about.get("label", about.get("name", node))
        names[node] = _name(label, f"{path}: node {node}", names.values())
    links, seen = [], set()
    for one, other, about in graph.edges(data=True):
        where = f"{path}: link {names[one]} to {names[other]}"
        if one == other:
            raise ScenarioError(f"{where}: expected a link between two nodes")
        if graph.is_directed():
            if (other, one) in seen:
                continue
            seen.add((one, other))
        links.append(_link(names[one], names[other], about, where))
    kinds = {}
    for node, about in graph.nodes(data=True):
        kind = about.get("kind")
        if kind is not None and kind not in _KINDS:
            known = ", ".join(_KINDS)
            raise ScenarioError(f"{path}: node {names[node]}: expected kind {known}, got {kind!r}")
        kinds[names[node]] = kind
    return _network(kinds, links, f"{path}")


def _containerlab(path: Path) -> Raw:
    """`topology.nodes`, and `topology.links` with their `endpoints`."""
    document = yaml_lines.load(path)
    topology = document.value.get("topology") if isinstance(document.value, dict) else None

    def refuse(key: yaml_lines.KeyPath, text: str) -> ScenarioError:
        return ScenarioError(f"{document.where(key)}: {yaml_lines.show_path(key)}: {text}")

    nodes = topology.get("nodes") if isinstance(topology, dict) else None
    if not isinstance(topology, dict) or not isinstance(nodes, dict) or not nodes:
        raise refuse(("topology",), "expected nodes by name, and links, as containerlab has them")
    names: dict[str, str] = {}
    kinds: dict[str, str | None] = {}
    for node, about in nodes.items():
        where = document.where(("topology", "nodes", node))
        names[node] = _name(node, f"{where}: node {node}", names.values())
        kind = (about or {}).get("kind") if isinstance(about, dict | None) else None
        kinds[names[node]] = "switch" if kind in _BRIDGES else None
    links = []
    for n, link in enumerate(topology.get("links") or []):
        key: yaml_lines.KeyPath = ("topology", "links", n)
        ends = link.get("endpoints") if isinstance(link, dict) else None
        if not isinstance(ends, list) or len(ends) != 2:
            raise refuse(key, 'expected endpoints: ["NODE:INTERFACE", "NODE:INTERFACE"]')
        known = [str(end).partition(":")[0] for end in ends]
        for name in known:
            if name not in names:
                raise refuse(key, f"expected one of {', '.join(names)}, got {name!r}")
        links.append({"ends": [names[name] for name in known]})
    return _network(kinds, links, document.where(("topology",)))


def _name(label: object, where: str, taken: Iterable[str]) -> str:
    """What a node is called here."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", str(label)).strip("-")
    name = name if re.match(r"[A-Za-z]", name) else f"n{name}"
    if len(name) > 31:
        raise ScenarioError(f"{where}: expected a name of at most 31 characters, got {name!r}")
    if name in taken:
        raise ScenarioError(f"{where}: expected different names, {name!r} is here twice")
    return name


def _link(one: str, other: str, about: Mapping[str, Any], where: str) -> Raw:
    """A link with those of its attributes that a link has here."""
    known = {key: value for key, value in about.items() if key in Link.model_fields}
    own = {key: about[key] for key in _OF_LINKS if key in about}
    if isinstance(own.get("cost"), float) and own["cost"].is_integer():
        own["cost"] = int(own["cost"])  # GraphML has but doubles
    if "name" in own:
        own["name"] = _name(own["name"], where, ())
    try:
        checked(Link, Document(where, known))
    except ScenarioError as error:
        raise ScenarioError(str(error).replace(f"{where}:1: ", f"{where}: ")) from None
    return {"ends": [one, other], **own, **({"both": known} if known else {})}


def _network(kinds: Mapping[str, str | None], links: list[Raw], where: str) -> Raw:
    """Nodes by kind; links between the same two get different names."""
    degree = Counter(end for link in links for end in link["ends"])
    found: dict[str, list[str]] = {"hosts": [], "routers": [], "switches": []}
    for name, kind in kinds.items():
        if not degree[name]:
            raise ScenarioError(f"{where}: node {name}: expected a link of each node, it has none")
        kind = kind or ("host" if degree[name] == 1 else "router")
        found["switches" if kind == "switch" else f"{kind}s"].append(name)
    names = Counter[str]()
    for link in links:
        name = link.get("name", "-".join(link["ends"]))
        names[name] += 1
        if names[name] > 1 or len(name) > 31:
            link["name"] = f"{name[:27]}-{names[name]}"
    return {**{key: value for key, value in found.items() if value}, "links": links}
