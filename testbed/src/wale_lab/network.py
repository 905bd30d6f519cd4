# SPDX-License-Identifier: GPL-2.0
"""The keys of a scenario for a network: hosts, routers and switches, and the links between them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Annotated, Literal

from pydantic import BaseModel, Field, field_validator, model_validator

from wale_lab.fields import STRICT, Name, Or
from wale_lab.host_settings import HostSettings, SenderSettings
from wale_lab.link import Link
from wale_lab.yaml_lines import KeyPath

#: Nodes of a network, and links.
MAX_NODES = 5000
MAX_LINKS = 10_000

Direction = Literal["forward", "reverse"]
#: Of what senders that listen are told.
AdviceOf = Literal["links", "max-min"]

DIRECTIONS: tuple[Direction, ...] = ("forward", "reverse")


class GraphLink(BaseModel):
    """A link between two nodes, with a description for each direction or one for both.

    Without any it is a wire: packets cross it at once, and nothing is counted.
    """

    model_config = STRICT

    ends: Annotated[list[str], Field(min_length=2, max_length=2)]
    """the names of two nodes"""
    name: Name | None = None
    """in results: NAME.forward and NAME.reverse (the names of the two nodes, with a - between)"""
    both: Link | None = None
    """each direction"""
    forward: Link | None = None
    """instead of both: from the first node to the second"""
    reverse: Link | None = None
    """instead of both: from the second node to the first"""
    cost: Annotated[int, Field(ge=1, le=65_535)] = 1
    """packets take the way whose links have the least sum of this"""

    @model_validator(mode="after")
    def _check(self) -> GraphLink:
        if self.ends[0] == self.ends[1]:
            raise ValueError(f"expected ends that differ, got {self.ends[0]!r} twice")
        if self.both and (self.forward or self.reverse):
            raise ValueError("expected both without forward and reverse")
        return self


class GraphRoute(BaseModel):
    """A route that is said, and not computed."""

    model_config = STRICT

    at: str
    """the node whose route it is"""
    to: str
    """the node that packets go to"""
    via: str
    """the node that they are handed to, at the other end of a link or behind the same switch"""


def _listed(value: object) -> object:
    """Names in a list are nodes without settings of their own."""
    if not isinstance(value, list):
        return value
    for n, name in enumerate(value):
        if not isinstance(name, str):
            raise ValueError(f"expected a list of names, or names with settings, got {name!r}")
        if name in value[:n]:
            raise ValueError(f"expected different names, {name!r} is here twice")
    return {name: {} for name in value}


_NODES = Or(type="array", items={"type": "string"})


class Graph(BaseModel):
    """A network of any form. Addresses follow from the order of its links, routes from their cost.

    A node with several links has an address for each. Where two ways have the same cost, the one
    whose links come first in the list is taken, in both directions.
    """

    model_config = STRICT

    type: Literal["graph"] = "graph"
    """any network"""
    file: str | None = None
    """instead of nodes and links: a .gml or .graphml file, or that of containerlab (.clab.yml),
    relative to the scenario's folder"""
    hosts: Annotated[dict[Name, SenderSettings], Field(max_length=MAX_NODES), _NODES] = {}
    """nodes that flows are between: a list of names, or names with settings"""
    routers: Annotated[dict[Name, HostSettings], Field(max_length=MAX_NODES), _NODES] = {}
    """nodes that pass packets on, flows may be from and to them too; names, or with settings"""
    switches: list[Name] = []
    """nodes that are bridges: all that hangs on one is one subnet"""
    links: Annotated[list[GraphLink], Field(max_length=MAX_LINKS)] = []
    """between two nodes each"""
    link: Link | None = None
    """each direction of the links that say nothing themselves (they are wires)"""
    routes: list[GraphRoute] = []
    """that are said, on top of those that are computed"""
    advice: AdviceOf = "links"
    """what senders that listen to links with feedback are told: the rate of that link on their way
    that leaves them least, or the max-min fair shares of all flows, computed beforehand"""

    @field_validator("hosts", "routers", mode="before")
    @classmethod
    def _names(cls, value: object) -> object:
        return _listed(value)

    @model_validator(mode="after")
    def _check(self) -> Graph:
        if self.file is not None:
            raise ValueError("file: expected a file that is read with the scenario, not here")
        kinds: dict[str, str] = {}
        for kind in ("hosts", "routers", "switches"):
            for name in getattr(self, kind):
                if name in kinds:
                    raise ValueError(f"{kind}: expected different names, {name!r} is here twice")
                kinds[name] = kind
        if not self.links:
            raise ValueError("expected at least one link")
        names: set[str] = set()
        for n, link in enumerate(self.links):
            for end in link.ends:
                if end not in kinds:
                    known = some(kinds)
                    raise ValueError(f"links.{n}.ends: expected two of {known}, got {end!r}")
            name = self.link_name(n)
            if name in names:
                raise ValueError(
                    f"links.{n}: expected different names, {name!r} is here twice; give it a name"
                )
            names.add(name)
        used = {end for link in self.links for end in link.ends}
        if idle := [name for name in kinds if name not in used]:
            raise ValueError(f"{kinds[idle[0]]}: expected a link of each node, {idle[0]} has none")
        for n, route in enumerate(self.routes):
            for key in ("at", "to", "via"):
                name = getattr(route, key)
                if kinds.get(name) not in ("hosts", "routers"):
                    raise ValueError(f"routes.{n}.{key}: expected a host or a router, got {name!r}")
        return self

    def link_name(self, n: int) -> str:
        """The name of a link."""
        return self._link_names[n]

    @cached_property
    def _link_names(self) -> list[str]:
        return [link.name or "-".join(link.ends) for link in self.links]

    @cached_property
    def nodes(self) -> list[str]:
        """Hosts and routers: the nodes with addresses."""
        return [*self.hosts, *self.routers]

    def direction(self, n: int, direction: Direction) -> tuple[KeyPath, Link] | None:
        """Where one direction of a link is described, below the graph, and how."""
        link = self.links[n]
        own: Link | None = getattr(link, direction)
        if own is not None:
            return ("links", n, direction), own
        if link.both is not None:
            return ("links", n, "both"), link.both
        if self.link is not None and not (link.forward or link.reverse):
            return ("link",), self.link
        return None

    def directions(self) -> Iterator[tuple[int, Direction, KeyPath, Link]]:
        """Each direction of each link that is more than a wire."""
        for n in range(len(self.links)):
            for direction in DIRECTIONS:
                found = self.direction(n, direction)
                if found is not None:
                    yield n, direction, *found

    @cached_property
    def described(self) -> dict[str, tuple[KeyPath, Link]]:
        """The same, by the name of the direction in results."""
        return {
            f"{self.link_name(n)}.{direction}": (path, link)
            for n, direction, path, link in self.directions()
        }


def some(names: Collection[str]) -> str:
    """Names in a message, the first of many."""
    shown = list(names)[:20]
    return ", ".join(shown) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
