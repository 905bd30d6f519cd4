# SPDX-License-Identifier: GPL-2.0
"""The keys of a scenario for a network: hosts, routers and switches, and the links between them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from wale_lab.fields import STRICT, Name, Or
from wale_lab.host_settings import SenderSettings
from wale_lab.link import Link
from wale_lab.overlays import BY_PROGRAM, Bond, Macvlan, Nat, RouterSettings, Tunnel
from wale_lab.yaml_lines import KeyPath

#: Nodes of a network, and links.
MAX_NODES = 5000
MAX_LINKS = 10_000
MAX_TUNNELS = 1000

Direction = Literal["forward", "reverse"]
#: Of what senders that listen are told.
AdviceOf = Literal["links", "max-min"]

DIRECTIONS: tuple[Direction, ...] = ("forward", "reverse")


def _one_or_more(value: object) -> object:
    return [value] if isinstance(value, int) and not isinstance(value, bool) else value


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
    vlan: Annotated[
        list[Annotated[int, Field(ge=1, le=4094)]] | None,
        BeforeValidator(_one_or_more),
        Field(min_length=1, max_length=64),
        Or(type="integer", minimum=1, maximum=4094),
    ] = None
    """packets of hosts and routers carry this 802.1Q tag; of several, each is a network of its own
    and a device of each node. Behind switches, nodes with the same tag are a subnet"""
    bond: Name | None = None
    """links between the same two nodes with the same word here are used as one (see bonds)"""

    @model_serializer(mode="wrap")
    def _without_new_ones(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A key that is newer than the others, and not given, is in no digest."""
        data: dict[str, Any] = handler(self)
        return {k: v for k, v in data.items() if v is not None or k not in ("vlan", "bond")}

    @property
    def vlans(self) -> Sequence[int | None]:
        """The tags of its networks; None: of the one that has no tag."""
        return self.vlan or [None]

    @model_validator(mode="after")
    def _check(self) -> GraphLink:
        if self.ends[0] == self.ends[1]:
            raise ValueError(f"expected ends that differ, got {self.ends[0]!r} twice")
        if self.both and (self.forward or self.reverse):
            raise ValueError("expected both without forward and reverse")
        if self.vlan is not None and len(set(self.vlan)) < len(self.vlan):
            raise ValueError("vlan: expected different tags")
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


#: Keys that are in no digest unless they are given.
_NEWER = ("tunnels", "bonds", "macvlans", "outside")

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
    routers: Annotated[dict[Name, RouterSettings], Field(max_length=MAX_NODES), _NODES] = {}
    """nodes that pass packets on, flows may be from and to them too; names, or with settings"""
    switches: list[Name] = []
    """nodes that are bridges: all that hangs on one is one subnet"""
    links: Annotated[list[GraphLink], Field(max_length=MAX_LINKS)] = []
    """between two nodes each"""
    link: Link | None = None
    """each direction of the links that say nothing themselves (they are wires)"""
    routes: list[GraphRoute] = []
    """that are said, on top of those that are computed"""
    tunnels: Annotated[list[Tunnel], Field(max_length=MAX_TUNNELS)] = []
    """links that lie over the others"""
    bonds: dict[Name, Bond] = {}
    """how links that are used as one are, by the word in their `bond`"""
    macvlans: dict[Name, Macvlan] = {}
    """switches that are one interface, which their hosts share by a macvlan device each"""
    outside: str | None = None
    """a router that leads on to the outside network, by passt: in real time, in the uml engine.
    There `host.outside` is the machine itself, with what listens on its 127.0.0.1"""
    advice: AdviceOf = "links"
    """what senders that listen to links with feedback are told: the rate of that link on their way
    that leaves them least, or the max-min fair shares of all flows, computed beforehand"""

    @model_serializer(mode="wrap")
    def _without_new_ones(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A key that is newer than the others, and not given, is in no digest."""
        data: dict[str, Any] = handler(self)
        return {k: v for k, v in data.items() if v or k not in _NEWER}

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
        if self.outside is not None and self.outside not in self.routers:
            known = some(self.routers) or "the routers, of which there is none"
            raise ValueError(f"outside: expected one of {known}, got {self.outside!r}")
        self._check_tunnels(names)
        self._check_tags_and_bonds()
        self._check_macvlans()
        self._check_nat()
        return self

    def _check_tunnels(self, names: set[str]) -> None:
        for n, tunnel in enumerate(self.tunnels):
            for end in tunnel.ends:
                if end not in self.hosts and end not in self.routers:
                    raise ValueError(f"tunnels.{n}.ends: expected hosts or routers, got {end!r}")
            if tunnel.name in names:
                raise ValueError(
                    f"tunnels.{n}.name: expected different names, {tunnel.name!r} is here twice"
                )
            names.add(tunnel.name)

    def _check_tags_and_bonds(self) -> None:
        ends: dict[str, set[str]] = {}
        for n, link in enumerate(self.links):
            at = [end for end in link.ends if end in self.switches]
            if link.vlan and len(at) == 2:
                raise ValueError(f"links.{n}.vlan: expected none between switches: all tags cross")
            if link.bond is None:
                continue
            if at:
                raise ValueError(f"links.{n}.bond: expected hosts or routers, got {at[0]!r}")
            first = self.links[self.members(link.bond)[0]]
            if ends.setdefault(link.bond, {*link.ends}) != {*link.ends}:
                raise ValueError(f"links.{n}.bond: expected the ends {' and '.join(first.ends)}")
            if (link.vlan, link.cost) != (first.vlan, first.cost):
                raise ValueError(f"links.{n}: expected vlan and cost of the bond's first link")
        for name in self.bonds:
            if name not in ends:
                raise ValueError(f"bonds.{name}: expected links with bond: {name}")

    def _check_macvlans(self) -> None:
        for name, macvlan in self.macvlans.items():
            if name not in self.switches:
                raise ValueError(f"macvlans.{name}: expected the name of a switch")
            own = [n for n, link in enumerate(self.links) if name in link.ends]
            if macvlan.uplink not in [self.link_names[n] for n in own]:
                raise ValueError(
                    f"macvlans.{name}.uplink: expected a link of {name}, got {macvlan.uplink!r}"
                )
            for n in own:
                link = self.links[n]
                if self.link_names[n] == macvlan.uplink:
                    if len({*link.ends} & self.macvlans.keys()) > 1:
                        raise ValueError(f"links.{n}: expected one end that is a macvlan")
                elif not {*link.ends} - {name} <= {*self.nodes}:
                    raise ValueError(
                        f"links.{n}.ends: expected a host or a router beside the macvlan {name}"
                    )
                elif link.both or link.forward or link.reverse or link.vlan:
                    raise ValueError(
                        f"links.{n}: expected a wire without vlan: {name} is a macvlan, and only "
                        "its uplink has a rate or a delay"
                    )

    def _check_nat(self) -> None:
        for name, router in self.routers.items():
            if router.nat is None:
                continue
            where = f"routers.{name}.nat"
            own = [n for n in range(len(self.links)) if name in self.links[n].ends]
            for link in router.nat.outside:
                if link not in [self.link_name(n) for n in own]:
                    raise ValueError(f"{where}.outside: expected links of {name}, got {link!r}")
            for n, forward in enumerate(router.nat.forward):
                if forward.to not in self.nodes or forward.to == name:
                    raise ValueError(
                        f"{where}.forward.{n}.to: expected another host or router, "
                        f"got {forward.to!r}"
                    )

    def members(self, bond: str) -> list[int]:
        """The numbers of the links that are used as one."""
        return [n for n, link in enumerate(self.links) if link.bond == bond]

    def is_outside(self, nat: Nat, n: int) -> bool:
        """Is a link, or one that is used as one with it, outside of a router?"""
        bond = self.links[n].bond
        same = self.members(bond) if bond else [n]
        return any(self.link_names[k] in nat.outside for k in same)

    @property
    def is_plain(self) -> bool:
        """Nothing but hosts, routers, switches and links: what each kernel has."""
        more = any(link.vlan or link.bond for link in self.links)
        more = more or self.outside is not None or bool(self.macvlans)
        return not (more or self.tunnels or any(r.nat for r in self.routers.values()))

    def link_name(self, n: int) -> str:
        """The name of a link."""
        return self.link_names[n]

    @cached_property
    def link_names(self) -> list[str]:
        """The names of all links, in order."""
        return [link.name or "-".join(link.ends) for link in self.links]

    def many_outside(self, running: Iterable[str]) -> bool:
        """May several nodes use the outside network: hosts, and routers with programs?"""
        return self.outside is not None and len({*self.hosts, *running}) > 1

    @property
    def device_modules(self) -> list[str]:
        """Modules of the kernel with a file in /dev, which the kernel does not load by itself."""
        return ["tun"] if any(tunnel.kind in BY_PROGRAM for tunnel in self.tunnels) else []

    @cached_property
    def shared(self) -> dict[int, str]:
        """Links by which hosts have a macvlan device, by number: the switch."""
        return {
            n: end
            for n, link in enumerate(self.links)
            for end in link.ends
            if end in self.macvlans and self.link_names[n] != self.macvlans[end].uplink
        }

    @cached_property
    def nodes(self) -> list[str]:
        """Hosts and routers: the nodes with addresses."""
        return [*self.hosts, *self.routers]

    def direction(self, n: int, direction: Direction) -> tuple[KeyPath, Link] | None:
        """Where one direction of a link is described, below the graph, and how."""
        link = self.links[n]
        if n in self.shared:
            return None
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


def check_outside(graph: Graph | None, time: str, ip: int, isolate: bool) -> None:
    """What leads to the outside network is one device, with an IPv4 address, in real time."""
    if graph is None or graph.outside is None:
        return
    if time != "real":
        raise ValueError("time: expected real with topology.outside, got virtual")
    if ip != 4:
        raise ValueError("ip: expected 4 with topology.outside, got 6")
    if isolate:
        raise ValueError("isolate: expected off with topology.outside, got on")
