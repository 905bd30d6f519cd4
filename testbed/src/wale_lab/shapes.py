# SPDX-License-Identifier: GPL-2.0
"""Networks that have a name, and what each is as a graph.

A graph is made of what the document says, so that quantities stay as somebody wrote them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from wale_lab.fields import STRICT, Or, Switch
from wale_lab.link import Link
from wale_lab.network import AdviceOf

#: A link or a graph as a document has it.
Raw = dict[str, Any]

Count = Annotated[int, Field(ge=1, le=4000)]


class Shape(BaseModel):
    """What all of them have."""

    model_config = STRICT

    advice: AdviceOf = "links"
    """as in a graph: what senders that listen are told, of links or of max-min fair shares"""


def _link(one: str, other: str, described: object = None, name: str | None = None) -> Raw:
    link: Raw = {"ends": [one, other]}
    link |= {"name": name} if name else {}
    return link | ({"both": described} if described is not None else {})


class ParkingLot(Shape):
    """Links in series: s0 sends to d0 over all of them, s1 to d1 over the first, and so on."""

    type: Literal["parking-lot"]
    """links in series, a flow over all of them, and one over each"""
    links: Annotated[
        list[Link], Field(min_length=1, max_length=100), Or(type="integer", minimum=1, maximum=100)
    ] = [Link(), Link(), Link()]
    """each direction of each link, or how many there are (3)"""
    link: Link | None = None
    """each direction of each link, if links is a number"""
    access: Link | None = None
    """each direction of the links of hosts (wires)"""

    def graph(self, raw: Raw) -> Raw:
        """The graph: link1 is between r0 and r1."""
        described = raw["links"]
        n = len(described)
        links = [_link("s0", "r0", raw.get("access"))]
        for k in range(1, n + 1):
            links.append(_link(f"r{k - 1}", f"r{k}", described[k - 1], f"link{k}"))
            links.append(_link(f"s{k}", f"r{k - 1}", raw.get("access")))
            links.append(_link(f"d{k}", f"r{k}", raw.get("access")))
        links.append(_link("d0", f"r{n}", raw.get("access")))
        hosts = [f"{end}{k}" for k in range(n + 1) for end in "sd"]
        return {"hosts": hosts, "routers": [f"r{k}" for k in range(n + 1)], "links": links}


class Star(Shape):
    """Hosts h1, h2 and so on around one router, or one switch."""

    type: Literal["star"]
    """hosts around one router or switch"""
    hosts: Count = 4
    """how many"""
    switch: Switch = False
    """a switch in the middle, not a router"""
    link: Link | None = None
    """each direction of each host's link (wires)"""

    def graph(self, raw: Raw) -> Raw:
        """The graph."""
        hosts = [f"h{k + 1}" for k in range(self.hosts)]
        middle = "switches" if self.switch else "routers"
        links = [_link(host, "hub", raw.get("link")) for host in hosts]
        return {"hosts": hosts, middle: ["hub"], "links": links}


class Chain(Shape):
    """Routers r1, r2 and so on in a row, with the hosts a and b at its ends."""

    type: Literal["chain"]
    """routers in a row between two hosts"""
    routers: Annotated[int, Field(ge=2, le=200)] = 3
    """how many"""
    link: Link | None = None
    """each direction of each link between routers (wires)"""
    access: Link | None = None
    """each direction of the links of hosts (wires)"""

    def graph(self, raw: Raw) -> Raw:
        """The graph: link1 is between r1 and r2."""
        routers = [f"r{k + 1}" for k in range(self.routers)]
        links = [
            _link(routers[k], routers[k + 1], raw.get("link"), f"link{k + 1}")
            for k in range(self.routers - 1)
        ]
        links = [
            _link("a", routers[0], raw.get("access")),
            *links,
            _link(routers[-1], "b", raw.get("access")),
        ]
        return {"hosts": ["a", "b"], "routers": routers, "links": links}


class TwoPaths(Shape):
    """Hosts a and b with two ways between them, of which each host has an address on both."""

    type: Literal["two-paths"]
    """two hosts with two ways between them"""
    first: Link | None = None
    """each direction of the link of the first way (a wire)"""
    second: Link | None = None
    """each direction of the link of the second way (a wire)"""

    def graph(self, raw: Raw) -> Raw:
        """The graph: each way has a router on either side of its link."""
        links = []
        for way in ("first", "second"):
            left, right = f"{way}-a", f"{way}-b"
            links += [_link("a", left), _link(left, right, raw.get(way), way), _link(right, "b")]
        routers = [f"{way}-{end}" for way in ("first", "second") for end in "ab"]
        return {"hosts": ["a", "b"], "routers": routers, "links": links}


class Ring(Shape):
    """Routers r1, r2 and so on in a ring, with a host at each: h1 at r1."""

    type: Literal["ring"]
    """routers in a ring, with a host at each"""
    routers: Annotated[int, Field(ge=3, le=200)] = 4
    """how many"""
    link: Link | None = None
    """each direction of each link between routers (wires)"""
    access: Link | None = None
    """each direction of the links of hosts (wires)"""

    def graph(self, raw: Raw) -> Raw:
        """The graph: link1 is between r1 and r2, the last one between the last router and r1."""
        n = self.routers
        names = [(f"r{k + 1}", f"r{(k + 1) % n + 1}", f"link{k + 1}") for k in range(n)]
        links = [_link(one, other, raw.get("link"), name) for one, other, name in names]
        links += [_link(f"h{k + 1}", f"r{k + 1}", raw.get("access")) for k in range(n)]
        hosts, routers = ([f"{kind}{k + 1}" for k in range(n)] for kind in "hr")
        return {"hosts": hosts, "routers": routers, "links": links}


def graph_of_dumbbell(pairs: Sequence[tuple[str, object]], bottleneck: Raw) -> Raw:
    """A dumbbell as a graph: pairs have a name, and the delay of their own link, if any."""
    described = {end: bottleneck.get(end, {}) for end in ("forward", "reverse")}
    links: list[Raw] = []
    for name, delay in pairs:
        for router, role in (("left", "sender"), ("right", "receiver")):
            link = _link(router, f"{name}-{role}")
            links.append(link | ({"forward": {"delay": delay}} if delay else {}))
    links.append({"ends": ["left", "right"], "name": "bottleneck", **described})
    hosts = [f"{name}-{role}" for name, _ in pairs for role in ("sender", "receiver")]
    return {"hosts": hosts, "routers": ["left", "right"], "links": links}


#: By the `type` of a topology.
SHAPES: Mapping[str, type[ParkingLot | Star | Chain | TwoPaths | Ring]] = {
    "parking-lot": ParkingLot,
    "star": Star,
    "chain": Chain,
    "two-paths": TwoPaths,
    "ring": Ring,
}
