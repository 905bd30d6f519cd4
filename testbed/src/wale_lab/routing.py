# SPDX-License-Identifier: GPL-2.0
"""Subnets, addresses and routes of a graph, and the way that packets take.

Subnet n (from 0) is 10.A.B.0/24, where n is 256 A + B, or fd00:0:n::/64; one with many hosts is
wider.  A link is a subnet of its own unless an end of it is a switch: all that hangs on switches
that are joined is one.  Nodes are numbered from 1 on in the order of their links.

Each attachment of a node to a subnet has a weight: its cost, times a large number, plus a power of
two of its own.  So no two ways have the same sum, and a way is the same in both directions.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import networkx as nx

from wale_lab.network import Graph

#: A way may have so many routers at most: a packet that a route sends in a circle does not arrive.
MOST_HOPS = 60


class NoWayError(Exception):
    """Why there is no way between two nodes."""


@dataclass(frozen=True)
class State:
    """What is not as the graph says at a time (events)."""

    down: frozenset[int] = frozenset()
    """links that have failed"""
    costs: Mapping[int, int] = field(default_factory=dict)
    """of links that have another cost now"""
    said: Mapping[tuple[str, str], str | None] = field(default_factory=dict)
    """by node and target: the neighbour of a route that is said now, None: it is computed"""
    tunnels: bool = True
    """are there tunnels?"""


@dataclass
class Interface:
    """A node's end of a link."""

    node: str
    device: str
    link: int
    """its number; those of tunnels come after those of links"""
    peer: str
    """the node or switch at the other end"""
    subnet: Subnet
    cost: int
    weight: int = 0
    address: str = ""
    mac: str = ""
    up: bool = True
    vlan: int | None = None
    number: int = 0
    """among those of its node"""


@dataclass
class Subnet:
    """Attachments that share addresses."""

    number: int
    switches: list[str]
    interfaces: list[Interface] = field(default_factory=list)
    prefix: str = ""
    routers: list[Interface] = field(default_factory=list)

    @property
    def length(self) -> int:
        """Of the prefix, bits."""
        return int(self.prefix.partition("/")[2])


class Routing:
    """Where everything is in a graph."""

    def __init__(self, graph: Graph, ip: int, state: State | None = None) -> None:
        self.graph, self.ip, self.state = graph, ip, state or State()
        self.devices: dict[tuple[str, int], str] = {}
        """of hosts and routers, by link: what packets leave by; a bond or a tag lies over it"""
        self.interfaces: dict[str, list[Interface]] = {name: [] for name in graph.nodes}
        self.subnets: list[Subnet] = []
        self._routers = set(graph.routers)
        self._attach()
        self._number()
        said = {(r.at, r.to): r.via for r in graph.routes} | dict(self.state.said)
        self.said = {pair: via for pair, via in said.items() if via is not None}
        """routes that are said: by node and target, the neighbour that packets are handed to"""

    # Subnets and addresses

    def _attach(self) -> None:
        switches: nx.Graph[str] = nx.Graph()
        switches.add_nodes_from(self.graph.switches)
        for n, link in enumerate(self.graph.links):
            one, other = link.ends
            if one in switches and other in switches:
                if nx.has_path(switches, one, other):
                    raise NoWayError(
                        f"expected no ring of switches, {self.graph.link_name(n)} closes one"
                    )
                switches.add_edge(one, other, link=n)
        self._switches = switches
        domain: dict[tuple[str, int | None], Subnet] = {}
        count = Counter[str]()
        for n, link in enumerate(self.graph.links):
            at = [end for end in link.ends if end in switches]
            for end in link.ends:
                if end not in switches:
                    self.devices[end, n] = f"eth{count[end]}"
                    count[end] += 1
            if link.bond is None or n == self.graph.members(link.bond)[0]:
                for vlan in link.vlans:
                    self._attach_link(n, self._subnet(at, vlan, domain), vlan)
        if self.state.tunnels:
            for n, tunnel in enumerate(self.graph.tunnels, len(self.graph.links)):
                subnet = self._subnet([], None, domain)
                for end, peer in (tunnel.ends, tunnel.ends[::-1]):
                    up = self._reaches(*tunnel.ends)
                    self._add(Interface(end, tunnel.name, n, peer, subnet, tunnel.cost, up=up))

    def _subnet(
        self, at: list[str], vlan: int | None, domain: dict[tuple[str, int | None], Subnet]
    ) -> Subnet:
        """That of a link's network, which is at these switches; of those joined there is one."""
        if at and (at[0], vlan) in domain:
            return domain[at[0], vlan]
        joined = nx.node_connected_component(self._switches, at[0]) if at else set()
        subnet = Subnet(len(self.subnets), [s for s in self.graph.switches if s in joined])
        self.subnets.append(subnet)
        domain |= {(switch, vlan): subnet for switch in joined}
        return subnet

    def _attach_link(self, n: int, subnet: Subnet, vlan: int | None) -> None:
        link, state = self.graph.links[n], self.state
        over = self.graph.members(link.bond) if link.bond else [n]
        cost = state.costs.get(n, link.cost) * (2 if subnet.switches else 1)
        up = not state.down.issuperset(over)
        for end, peer in (link.ends, link.ends[::-1]):
            if end not in self._switches:
                device = self.bond_device(end, n) or self.devices[end, n]
                device += f".{vlan}" if vlan else ""
                self._add(Interface(end, device, n, peer, subnet, cost, up=up, vlan=vlan))

    def _add(self, new: Interface) -> None:
        new.number = len(self.interfaces[new.node])
        self.interfaces[new.node].append(new)
        new.subnet.interfaces.append(new)
        if new.node in self._routers and new.up:
            new.subnet.routers.append(new)

    def bond_device(self, node: str, n: int) -> str | None:
        """The device that joins several of a node's links, of which this is one."""
        bond = self.graph.links[n].bond
        if bond is None:
            return None
        names = [link.bond for link in self.graph.links if link.bond and node in link.ends]
        return f"bond{[*dict.fromkeys(names)].index(bond)}"

    @cached_property
    def under(self) -> Routing:
        """The same without tunnels, whose packets go by it."""
        return Routing(self.graph, self.ip, replace(self.state, tunnels=False))

    @cached_property
    def over(self) -> dict[str, tuple[Interface, Interface]]:
        """The addresses that each tunnel is between, which do not change."""
        first = Routing(self.graph, self.ip, State(tunnels=False))
        return {tunnel.name: first.ends(*tunnel.ends) for tunnel in self.graph.tunnels}

    def _reaches(self, one: str, other: str) -> bool:
        if self.state == State():
            return True
        with suppress(NoWayError):
            self.under.ends(one, other)
            return True
        return False

    def _number(self) -> None:
        every = [i for subnet in self.subnets for i in subnet.interfaces]
        for n, interface in enumerate(every):
            interface.weight = (interface.cost << len(every)) | (1 << n)
        begin = 0  # of the next subnet, in units of a /24
        for subnet in self.subnets:
            blocks = 1
            while blocks * 256 < len(subnet.interfaces) + 2:
                blocks *= 2
            begin = -(-begin // blocks) * blocks
            first: ipaddress.IPv4Address | ipaddress.IPv6Address
            if self.ip == 4:
                first = ipaddress.IPv4Address((10 << 24) + begin * 256)
                subnet.prefix = f"{first}/{24 - blocks.bit_length() + 1}"
            else:
                first = ipaddress.IPv6Address((0xFD00 << 112) + (begin << 80))
                subnet.prefix = f"{first}/64"
            for n, interface in enumerate(subnet.interfaces, 1):
                interface.address = str(first + n)
                number = (begin << 8) + n
                interface.mac = "02:00:" + number.to_bytes(4, "big").hex(":")
            begin += blocks
        if begin > 2**16:
            raise NoWayError("expected at most 65536 subnets of 254 nodes")

    def address(self, node: str) -> str:
        """The address of a node that its name stands for: that of its first link."""
        return self.interfaces[node][0].address

    # Ways

    @cached_property
    def _distances(self) -> dict[str, dict[str, int]]:
        """Between routers."""
        core: nx.Graph[str] = nx.Graph()
        core.add_nodes_from(self.graph.routers)
        for subnet in self.subnets:
            for a in subnet.routers:
                for b in subnet.routers:
                    weight = a.weight + b.weight
                    known = core.get_edge_data(a.node, b.node)
                    if a.node < b.node and (known is None or weight < known["weight"]):
                        core.add_edge(a.node, b.node, weight=weight)
        return {name: _lengths(core, name) for name in core}

    def distance(self, node: str, subnet: Subnet) -> int | None:
        """From a router, or a node of the subnet, to that subnet; None: there is no way."""
        own = [i.weight for i in self.interfaces[node] if i.subnet is subnet and i.up]
        if own:
            return min(own)
        if node not in self._routers:
            return None
        known = self._distances[node]
        ends = [i for i in subnet.routers if i.node in known]
        return min((known[i.node] + i.weight for i in ends), default=None)

    def next_hops(self, node: str, subnet: Subnet) -> list[tuple[int, Interface, Interface]]:
        """Ways to a subnet that a node is not in: distance, own interface, and the router's."""
        found = []
        for own in (i for i in self.interfaces[node] if i.up):
            for other in own.subnet.routers:
                if other.node != node:
                    rest = self.distance(other.node, subnet)
                    if rest is not None:
                        found.append((own.weight + other.weight + rest, own, other))
        return found

    def next_hop(self, node: str, subnet: Subnet) -> tuple[Interface, Interface] | None:
        """The best of them."""
        found = min(self.next_hops(node, subnet), key=lambda hop: hop[0], default=None)
        return None if found is None else found[1:]

    def said_hop(self, node: str, to: str) -> tuple[Interface, Interface] | None:
        """The next hop of a route that is said; NoWayError if they have no link in common."""
        via = self.said.get((node, to))
        if via is None:
            return None
        for own in self.interfaces[node]:
            for other in own.subnet.interfaces:
                if other.node == via and via != node:
                    return own, other
        raise NoWayError(f"expected a neighbour of {node}, got {via!r}")

    def ends(self, sender: str, receiver: str) -> tuple[Interface, Interface]:
        """The addresses that a flow is between: those of the shortest way."""
        best: tuple[int, Interface, Interface] | None = None
        for own in self.interfaces[sender]:
            for other in self.interfaces[receiver]:
                far = self._between(own, other)
                if far is not None and (best is None or far < best[0]):
                    best = far, own, other
        if best is None:
            raise NoWayError(f"expected a way from {sender} to {receiver}, there is none")
        return best[1:]

    def _between(self, own: Interface, other: Interface) -> int | None:
        """From one interface to another, over routers."""
        if own.subnet is other.subnet:
            return own.weight + other.weight if own.up and other.up else None
        hops = self.next_hops(own.node, other.subnet)
        far = [distance for distance, out, _ in hops if out is own]
        return min(far) + other.weight if far else None

    def way(self, start: Interface, end: Interface) -> list[str]:
        """The directions of links that packets cross, by their names in results."""
        here, found = start.node, list[str]()
        for hop in range(MOST_HOPS):
            said = self.said_hop(here, end.node)
            if said is None:
                direct = [i for i in self.interfaces[here] if i.subnet is end.subnet and i.up]
                best = min(direct, key=lambda i: i.weight, default=None)
                next_hop = (best, end) if best else self.next_hop(here, end.subnet)
                if not hop and not best:  # it leaves by the interface of its address
                    hops = [h for h in self.next_hops(here, end.subnet) if h[1] is start]
                    next_hop = min(hops, key=lambda h: h[0])[1:] if hops else next_hop
            else:
                next_hop = said
            if next_hop is None:
                break
            found += self._across(*next_hop)
            here = next_hop[1].node
            if here == end.node:
                return found
        raise NoWayError(
            f"expected a way from {start.node} to {end.node}, got one that does not arrive"
        )

    def blocked(self, start: Interface, end: Interface) -> str | None:
        """The router that drops a connection from outside of its NAT to inside, if one does."""
        if self.graph.tunnels:  # by which it may go
            return None
        numbers = {name: n for n, name in enumerate(self.graph.link_names)}
        way = [name.rpartition(".") for name in self.way(start, end)]
        for (into, _, direction), (out, _, _) in pairwise(way):
            node = self.graph.links[numbers[into]].ends[1 if direction == "forward" else 0]
            nat = self.graph.routers[node].nat if node in self._routers else None
            if nat is None or not self.graph.is_outside(nat, numbers[into]):
                continue
            if not self.graph.is_outside(nat, numbers[out]):
                return node
        return None

    def _across(self, out: Interface, into: Interface) -> list[str]:
        """The directions of links between two neighbours."""
        if out.link >= len(self.graph.links):
            return self.under.way(*self.under.ends(out.node, into.node))
        if out.link == into.link:
            return [self._direction(out.link, out.node)]
        tree = self._switches
        of = self.graph.shared.get(out.link)
        if of == self.graph.shared.get(into.link) and of in self.graph.macvlans:
            if self.graph.macvlans[of].mode == "private":
                raise NoWayError(
                    f"expected hosts that reach each other, {out.node} and {into.node} share the "
                    f"private macvlan {of}"
                )
        switches = nx.shortest_path(tree, out.peer, into.peer) if out.peer != into.peer else []
        inner = [self._direction(tree[a][b]["link"], a) for a, b in pairwise(switches)]
        return [
            self._direction(out.link, out.node), *inner, self._direction(into.link, into.peer)
        ]  # fmt: skip

    def ports_to(self, interface: Interface) -> list[tuple[str, int]]:
        """Of each switch of its subnet: the link by which a node is reached."""
        found = []
        for switch in interface.subnet.switches:
            if switch == interface.peer:
                found.append((switch, interface.link))
            else:
                way = nx.shortest_path(self._switches, switch, interface.peer)
                found.append((switch, self._switches[switch][way[1]]["link"]))
        return found

    def _direction(self, link: int, start: str) -> str:
        end = "forward" if self.graph.links[link].ends[0] == start else "reverse"
        return f"{self.graph.link_name(link)}.{end}"


def _lengths(graph: nx.Graph[str], start: str) -> dict[str, int]:
    """From a node to all others; the sums of large numbers stay exact."""
    found: Any = nx.single_source_dijkstra_path_length(graph, start)
    return dict(found)
