# SPDX-License-Identifier: GPL-2.0
"""The routes of a graph's nodes, as words for ip; what happens to them at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from wale_lab.engines import outside
from wale_lab.events import Event, in_order
from wale_lab.network import Graph
from wale_lab.routing import Interface, Routing, State
from wale_lab.scenario import Scenario
from wale_lab.topologies.plan import Namespace, PlannedChange, route_attributes, route_of

#: Table n plus this has the routes of what is sent from the address of interface n.
FIRST_TABLE = 100


@dataclass(frozen=True)
class Entry:
    """A route, by the device that it goes with it: ip takes it back with its first words."""

    device: str
    words: str
    verb: str = "add"


def has_rules(graph: Graph, ip: int, name: str, routing: Routing) -> bool:
    """Does a host send by the link of the address that it sends from?"""
    return ip == 4 and name in graph.hosts and len(routing.interfaces[name]) > 1


def entries(scenario: Scenario, name: str, routing: Routing) -> dict[str, Entry]:
    """The routes of a node to subnets other than its own, by the words that take them back."""
    graph, ip = routing.graph, scenario.ip
    length = 32 if ip == 4 else 128
    attributes = route_attributes(route_of(name, scenario.node_settings(name), scenario))
    found: dict[str, Entry] = {}

    def add(target: str, hop: tuple[Interface, Interface], verb: str = "add") -> None:
        own, gateway = hop
        found[target] = Entry(own.device, f"{target} via {gateway.address}{attributes}", verb)

    for prefix, hop in _table(graph, name, routing).items():
        add(prefix, hop)
    for n, own in enumerate(routing.interfaces[name]):
        if has_rules(graph, ip, name, routing) and own.up:
            table = f"table {FIRST_TABLE + n}"
            key = f"{own.subnet.prefix} {table}"
            direct = f"{own.subnet.prefix} dev {own.device} {table}{attributes}"
            found[key] = Entry(own.device, direct)
            if own.subnet.routers:
                via = f"via {own.subnet.routers[0].address} dev {own.device}"
                words = f"default {via} {table}{attributes}"
                found[f"default {table}"] = Entry(own.device, words)
    for target, hop in _below_tunnels(graph, name, routing).items():
        add(f"{target}/{length}", hop)
    if graph.outside == name:
        found["default"] = Entry(outside.DEVICE, f"default via {outside.GATEWAY}")
    elif graph.outside is not None and (way := _hop_to(name, graph.outside, routing)):
        add("default", way)
    for at, to in routing.said:
        said = routing.said_hop(at, to) if at == name else None
        if said is not None and said[0].up:
            for i in routing.interfaces[to]:
                add(f"{i.address}/{length}", said, "replace")
    return found


def _table(graph: Graph, name: str, routing: Routing) -> dict[str, tuple[Interface, Interface]]:
    """The next routers of a node, by prefix; a host with one router has a default alone.

    Routers have none but one that leads outside: a packet with a damaged address would go to and
    fro.
    """
    interfaces = routing.interfaces[name]
    routers = [(i, r) for i in interfaces if i.up for r in i.subnet.routers if r.node != name]
    if name in graph.hosts and len(routers) <= 1:
        return {"default": routers[0]} if routers else {}
    found = {}
    for subnet in routing.subnets:
        if all(i.subnet is not subnet for i in interfaces):
            hop = routing.next_hop(name, subnet)
            if hop is not None:
                found[subnet.prefix] = hop
    return found


def _hop_to(name: str, router: str, routing: Routing) -> tuple[Interface, Interface] | None:
    """How a node hands on what goes to a router."""
    for end in routing.interfaces[router]:
        direct = [i for i in routing.interfaces[name] if i.subnet is end.subnet and i.up]
        hop = (direct[0], end) if direct and end.up else routing.next_hop(name, end.subnet)
        if hop is not None:
            return hop
    return None


def _below_tunnels(
    graph: Graph, name: str, routing: Routing
) -> dict[str, tuple[Interface, Interface]]:
    """The ends of tunnels are reached by the way that there is without tunnels."""
    found = {}
    for tunnel in graph.tunnels:
        for end in routing.over[tunnel.name]:
            with_tunnels = routing.next_hop(name, routing.interfaces[end.node][end.number].subnet)
            below = routing.under.next_hop(name, end.subnet)
            own = any(i.subnet is end.subnet for i in routing.under.interfaces[name])
            if below is None or own or end.node == name or with_tunnels is None:
                continue
            if with_tunnels[1].address != below[1].address:
                found[end.address] = below
    return found


class Changes:
    """What the events of a scenario do in one copy of its network."""

    def __init__(
        self, scenario: Scenario, spaces: dict[str, Namespace], ports: dict[tuple[str, int], str]
    ) -> None:
        assert scenario.graph is not None
        self.scenario, self.graph = scenario, scenario.graph
        self.spaces, self.ports = spaces, ports
        self.routing = scenario.routing
        self.wanted = {n: entries(scenario, n, self.routing) for n in self.graph.nodes}
        self.there = {n: dict(of) for n, of in self.wanted.items()}
        self.state = State()
        self.found: list[PlannedChange] = []

    def plan(self) -> list[PlannedChange]:
        """All changes, in the order of their times."""
        events = self.scenario.events
        steps: list[tuple[int, int, Event, bool]] = []  # time, serial, event, routes follow it
        for serial, n in enumerate(in_order(events)):
            event = events[n]
            steps.append((event.at, 2 * serial, event, False))
            if event.reroute is not None:
                steps.append((event.at + event.reroute, 2 * serial + 1, event, True))
        seen = State()
        for at, _, event, routes in sorted(steps, key=lambda step: step[:2]):
            if routes:
                seen = self.after(seen, event)
                self.reroute(at, seen)
            elif event.state is not None:
                self.switch(at, event)
        return self.found

    def after(self, state: State, event: Event) -> State:
        """What routes are computed by after an event."""
        if event.route is not None:
            pair = (event.route.at, event.route.to)
            return replace(state, said={**state.said, pair: event.route.via})
        if event.computed is not None:
            pair = (event.computed.at, event.computed.to)
            return replace(state, said={**state.said, pair: None})
        n = self.number(event)
        if event.cost is not None:
            return replace(state, costs={**state.costs, n: event.cost})
        return replace(state, down=state.down - {n} if event.state == "up" else state.down | {n})

    def number(self, event: Event) -> int:
        """Of its link."""
        assert event.link is not None
        return self.graph.link_names.index(event.link)

    def switch(self, at: int, event: Event) -> None:
        """The devices of a link go down, or up: there the kernel forgets what lay on them."""
        n = self.number(event)
        for end in self.graph.links[n].ends:
            if self.graph.shared.get(n) == end:
                continue
            device = self.ports.get((end, n)) or self.routing.devices[end, n]
            lines = [f"link set {device} {event.state}"]
            if end in self.graph.nodes and not self.graph.links[n].bond:
                for name in self.above(end, n):
                    lines += self.back(end, name) if event.state == "up" else []
                    if event.state == "down":
                        there = self.there[end].items()
                        self.there[end] = {k: e for k, e in there if e.device != name}
            self.change(at, end, lines)

    def above(self, node: str, n: int) -> list[str]:
        """The devices of a node that stop working with a link."""
        return [i.device for i in self.routing.interfaces[node] if i.link == n]

    def back(self, node: str, device: str) -> list[str]:
        """What the set-up has laid on a device: neighbours, and routes that go by it."""
        own = f" dev {device} "
        lines = [line for line in self.spaces[node].ip if own in f"{line} "]
        again = [
            line.replace(" add ", " replace ", 1)
            for line in lines
            if line.startswith(("neighbour add ", "route replace ", "address add "))
        ]
        if self.scenario.ip == 4:  # where addresses stay
            again = [line for line in again if not line.startswith("address")]
        up = [f"link set {device} up"] if "." in device else []
        lost = {k: e for k, e in self.wanted[node].items() if e.device == device}
        missing = {k: e for k, e in lost.items() if k not in self.there[node]}
        self.there[node] |= missing
        return [*up, *again, *(f"route replace {entry.words}" for entry in missing.values())]

    def reroute(self, at: int, state: State) -> None:
        """All nodes have the routes that follow from a state."""
        routing = Routing(self.graph, self.scenario.ip, state)
        for node in self.graph.nodes:
            wanted, there = entries(self.scenario, node, routing), self.there[node]
            lines = [
                f"route replace {entry.words}"
                for key, entry in wanted.items()
                if key not in there or there[key].words != entry.words
            ]
            lines += [f"route del {key}" for key in there if key not in wanted]
            self.wanted[node], self.there[node] = wanted, dict(wanted)
            self.change(at, node, lines)

    def change(self, at: int, node: str, lines: list[str]) -> None:
        """Lines for a node, if there are any."""
        if lines:
            self.found.append(PlannedChange(at, self.spaces[node].name, lines))
