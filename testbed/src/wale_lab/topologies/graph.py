# SPDX-License-Identifier: GPL-2.0
"""A network of any form, in network namespaces joined by veth.

Each host, router and switch is a namespace.  The devices of a host or router are eth0, eth1 and so
on, in the order of its links; those of a switch are port0 and so on, of its bridge.  One direction
of a link is the qdisc of the device that packets leave by.  Neighbours are static, so that only the
flows' packets cross the links; where a switch joins more than MOST_NEIGHBOURS nodes, hosts know
routers and the other ends of their flows, and ask for the rest.
A host with several links sends by the link of the address that it sends from (IPv4: IPv6 takes
the shortest way).  With isolate every flow has a copy of everything, in namespaces FLOW.NODE.
"""

from __future__ import annotations

from wale_lab.advice import Advice
from wale_lab.engines import outside
from wale_lab.link import wire_bytes
from wale_lab.models.max_min import Share, max_min
from wale_lab.overlays import ETHERNET, Bond, Tunnel
from wale_lab.routing import Interface, Routing, Subnet
from wale_lab.scenario import Flow, Scenario
from wale_lab.topologies.overlays import (
    bond_lines,
    inner_mtu,
    macvlan_line,
    nat_rules,
    nat_sysctls,
    outside_rules,
    tunnel_lines,
    vlan_line,
    wireguard,
    wireguard_keepalive,
)
from wale_lab.topologies.plan import (
    Command,
    Namespace,
    Plan,
    PlannedAdvice,
    chosen_offloads,
    draw,
    new_namespace,
    planned_flow,
    planned_link,
    route_attributes,
    route_of,
    setup_commands,
    veth,
)
from wale_lab.topologies.routes import FIRST_TABLE, Changes, entries, has_rules

#: Behind a switch, each knows the others if they are so many at most.
MOST_NEIGHBOURS = 64

#: The seed of direction n of a link is this draw plus n; those before are of flows.
_FIRST_DRAW = 1 << 32


def plan(scenario: Scenario, seed: int) -> Plan:
    """The plan of a scenario."""
    result = Plan()
    if not scenario.isolate:
        _Copy(scenario, seed, "", result).build(list(enumerate(scenario.transfers)))
    else:
        for number, flow in enumerate(scenario.transfers):
            _Copy(scenario, seed, f"{flow.name}.", result).build([(number, flow)])
    return result


def shares(scenario: Scenario) -> dict[str, Share]:
    """The max-min fair shares of a scenario's flows, as if all ran at once, in bit/s of IP."""
    ways = {flow.name: scenario.way(flow) for flow in scenario.transfers}
    fixed = {f.name: f.constant.bits_per_s() for f in scenario.transfers if f.constant}
    packet = max(min(scenario.mtus(flow)) for flow in scenario.transfers)
    capacities = {}
    for name, (_, link) in scenario.links().items():
        steps = [rate for _, rate in link.trace.rates(link.rate)] if link.trace else [link.rate]
        rates = [rate for rate in steps if isinstance(rate, int)]
        if rates and not link.qdisc:
            capacities[name] = max(rates) * packet / wire_bytes(link, packet)
    return max_min(capacities, ways, fixed)


class _Copy:
    """One copy of the network."""

    def __init__(self, scenario: Scenario, seed: int, prefix: str, into: Plan) -> None:
        assert scenario.graph is not None
        self.scenario, self.graph, self.seed = scenario, scenario.graph, seed
        self.prefix, self.into, self.ip = prefix, into, scenario.ip
        self.routing: Routing = scenario.routing
        self.settings = {name: scenario.node_settings(name) for name in self.graph.nodes}
        self.mtu = max(1500, *(s.mtu or 0 for s in self.settings.values()))
        self.spaces: dict[str, Namespace] = {}
        self.ports: dict[tuple[str, int], str] = {}  # of switches, by link
        self.peers: dict[str, set[str]] = {}  # that flows are between

    def build(self, flows: list[tuple[int, Flow]]) -> None:
        for name in self.graph.nodes:
            space = new_namespace(self.prefix + name, self.ip, name in self.graph.routers)
            space.sysctls.update(self.settings[name].sysctls)
            self.spaces[name] = space
        for name in self.graph.switches:
            self.spaces[name] = new_namespace(self.prefix + name, self.ip)
            if name not in self.graph.macvlans:
                line = "link add bridge type bridge forward_delay 0 ageing_time 0"
                self.spaces[name].ip.append(line)
        # those that make devices of others come first
        first = [self.spaces[name] for name in self.graph.macvlans]
        self.into.namespaces += first
        self.into.namespaces += [space for space in self.spaces.values() if space not in first]
        for _, flow in flows:
            assert flow.from_ and flow.to
            self.peers.setdefault(flow.from_, set()).add(flow.to)
            self.peers.setdefault(flow.to, set()).add(flow.from_)
        self.wires()
        self.macvlans()
        for name in self.graph.switches:
            if name not in self.graph.macvlans:
                self.spaces[name].ip.append("link set bridge up")
        for name in self.graph.nodes:
            self.over_links(name)
        for number, tunnel in enumerate(self.graph.tunnels):
            self.tunnel(number, tunnel)
        if self.graph.outside is not None:
            self.outside(self.spaces[self.graph.outside])
        for subnet in self.routing.subnets:
            self.neighbours(subnet)
            for interface in subnet.interfaces:
                for switch, link in self.routing.ports_to(interface):
                    if switch in self.graph.macvlans:
                        continue
                    port = self.ports[switch, link]
                    self.spaces[switch].bridge.append(
                        f"fdb add {interface.mac} dev {port} master static"
                    )
        for name in self.graph.nodes:
            self.routes(name)
        self.links()
        for number, flow in flows:
            self.flow(number, flow)
        self.advice(flows)
        for name in self.graph.nodes:
            self.commands(name)
        if self.scenario.events:
            self.into.changes += Changes(self.scenario, self.spaces, self.ports).plan()
        self.into.names |= {self.prefix + n: self.routing.address(n) for n in self.graph.nodes}

    def wires(self) -> None:
        """A pair of devices for each link, with their addresses if they have some."""
        at = {(i.node, i.device): i for node in self.routing.interfaces.values() for i in node}
        for n, link in enumerate(self.graph.links):
            if n in self.graph.shared:
                continue
            mtus = [self.end_mtu(name) for name in link.ends]
            if all(mtus):
                mtus = [max(mtus) if name in self.graph.routers else mtus[k] or self.mtu
                        for k, name in enumerate(link.ends)]  # fmt: skip
            ends = []
            for k, name in enumerate(link.ends):
                space = self.spaces[name]
                mac = "02:01:" + (2 * n + k).to_bytes(4, "big").hex(":")
                if name in self.graph.switches:
                    count = sum(1 for switch, _ in self.ports if switch == name)
                    device = self.ports[name, n] = f"port{count}"
                    master = "" if name in self.graph.macvlans else " master bridge"
                    space.ip.append(f"link set {device}{master} up")
                else:
                    device = self.routing.devices[name, n]
                    if own := at.get((name, device)):
                        mac = own.mac
                        self.up(own)
                ends.append((space.name, device, mac, mtus[k] or self.mtu))
            self.into.wires.append(veth(ends[0], ends[1]))

    def macvlans(self) -> None:
        """The devices by which hosts share an interface."""
        for n, switch in self.graph.shared.items():
            parent = next(port for (name, _), port in self.ports.items() if name == switch)
            (name,) = {*self.graph.links[n].ends} - {switch}
            own = next(i for i in self.routing.interfaces[name] if i.link == n)
            line = macvlan_line(
                parent, self.spaces[name].name, own.device, own.mac,
                self.end_mtu(name) or self.mtu, self.graph.macvlans[switch],
            )  # fmt: skip
            self.spaces[switch].ip.append(line)
            self.up(own)

    def over_links(self, name: str) -> None:
        """The bonds of a node and its devices with a tag."""
        lines, made = self.spaces[name].ip, set[str]()
        for own in self.routing.interfaces[name]:
            if own.link >= len(self.graph.links):
                continue
            link = self.graph.links[own.link]
            lower = self.routing.bond_device(name, own.link) or self.routing.devices[name, own.link]
            if link.bond and lower not in made:
                members = [self.routing.devices[name, n] for n in self.graph.members(link.bond)]
                bond = self.graph.bonds.get(link.bond, Bond())
                mtu = self.end_mtu(name) or self.mtu
                lines += bond_lines(lower, members, bond, own.mac, mtu)
            if own.vlan:
                if lower not in made:
                    lines.append(f"link set {lower} arp off up")
                lines.append(vlan_line(lower, own))
            made.add(lower)
            if own.vlan or link.bond:
                self.up(own)

    def tunnel(self, number: int, tunnel: Tunnel) -> None:
        """The two ends of a tunnel."""
        over = self.routing.over[tunnel.name]
        mtu = min(self.scenario.node_mtu(name) for name in tunnel.ends)
        inner = inner_mtu(tunnel, self.ip, mtu)
        for k, name in enumerate(tunnel.ends):
            own = next(i for i in self.routing.interfaces[name] if i.device == tunnel.name)
            addresses = (over[k].address, over[1 - k].address)
            space = self.spaces[name]
            space.ip += tunnel_lines(tunnel, self.ip, inner, addresses, own.mac)
            self.up(own)
            if tunnel.kind == "wireguard":
                space.commands.append(wireguard(tunnel, k, number, self.seed, addresses[1]))
                space.late_commands += wireguard_keepalive(tunnel, k, number, self.seed)
            self.into.names[f"{self.prefix}{name}.{tunnel.name}"] = own.address

    def outside(self, space: Namespace) -> None:
        """The device that leads to the outside network."""
        self.into.wires.append(f"link set {outside.DEVICE} netns {space.name}")
        space.ip += [
            f"link set {outside.DEVICE} up",
            f"address add {outside.GUEST}/{outside.BITS} dev {outside.DEVICE}",
        ]
        if self.graph.many_outside(program.host for program in self.scenario.programs):
            space.commands.append(Command(["nft", "-f", "/dev/stdin"], outside_rules()))
        self.into.names[outside.OWN_NAME] = outside.GATEWAY
        self.into.name_server = outside.NAMES

    def commands(self, name: str) -> None:
        """What is run in a node when the network is there: its own scripts last."""
        space = self.spaces[name]
        nat = self.graph.routers[name].nat if name in self.graph.routers else None
        if nat is not None:
            outside = [
                i.device
                for i in self.routing.interfaces[name]
                if i.link < len(self.graph.links) and self.graph.is_outside(nat, i.link)
            ]
            targets = [self.routing.address(forward.to) for forward in nat.forward]
            rules = nat_rules(nat, self.ip, outside, targets)
            space.commands.append(Command(["nft", "-f", "/dev/stdin"], rules))
            space.late_sysctls |= nat_sysctls(nat)
        space.commands += setup_commands(self.settings[name])

    def end_mtu(self, name: str) -> int:
        """Of a host's devices; 0: what the other end has is what counts."""
        if name in self.graph.hosts:
            return self.settings[name].mtu or 1500
        return 0 if name in self.graph.switches else self.settings[name].mtu or 1500

    def up(self, own: Interface) -> None:
        """A device with its address."""
        space, nodad = self.spaces[own.node], "" if self.ip == 4 else " nodad"
        arp = "off" if len(own.subnet.interfaces) <= MOST_NEIGHBOURS else "on"
        name = own.device if own.link < len(self.graph.links) else f"dev {own.device}"
        space.ip += [
            f"link set {name} arp {arp} up",
            f"address add {own.address}/{own.subnet.length} dev {own.device}{nodad}",
        ]
        space.offloads |= chosen_offloads(own.device, self.settings[own.node])

    def neighbours(self, subnet: Subnet) -> None:
        """What each node of a subnet knows of the others; and by which port a switch has them."""
        tunnel = subnet.interfaces[0].link - len(self.graph.links) if subnet.interfaces else -1
        if tunnel >= 0 and self.graph.tunnels[tunnel].kind not in ETHERNET:
            return
        few = len(subnet.interfaces) <= MOST_NEIGHBOURS
        for own in subnet.interfaces:
            wanted = self.peers.get(own.node, set()) | {i.node for i in subnet.routers}
            lines = self.spaces[own.node].ip
            for other in subnet.interfaces:
                known = few or own in subnet.routers or other.node in wanted
                if other is not own and known:
                    lines.append(
                        f"neighbour add {other.address} lladdr {other.mac} dev {own.device} "
                        "nud permanent"
                    )

    def routes(self, name: str) -> None:
        """Routes of a node to subnets other than its own."""
        lines, interfaces = self.spaces[name].ip, self.routing.interfaces[name]
        route = route_of(name, self.settings[name], self.scenario)
        attributes = route_attributes(route)
        if attributes:
            kind = "proto kernel scope link src {}" if self.ip == 4 else "proto kernel metric 256"
            for i in interfaces:
                of = kind.format(i.address)
                lines.append(f"route replace {i.subnet.prefix} dev {i.device} {of}{attributes}")
        for n, own in enumerate(interfaces):
            if has_rules(self.graph, self.ip, name, self.routing):
                lines.append(f"rule add from {own.address} table {FIRST_TABLE + n}")
        for entry in entries(self.scenario, name, self.routing).values():
            lines.append(f"route {entry.verb} {entry.words}")

    def links(self) -> None:
        """The qdiscs."""
        for n, direction, _, link in self.graph.directions():
            ends = self.graph.links[n].ends
            start = ends[0] if direction == "forward" else ends[1]
            name = f"{self.prefix}{self.graph.link_name(n)}.{direction}"
            seed = draw(self.seed, _FIRST_DRAW + 2 * n + (direction == "reverse"))
            self.into.links.append(
                planned_link(name, self.spaces[start].name, self.device(start, n), link, seed)
            )

    def device(self, node: str, link: int) -> str:
        """By which a node's packets enter a link."""
        if (node, link) in self.ports:
            return self.ports[node, link]
        return self.routing.devices[node, link]

    def flow(self, number: int, flow: Flow) -> None:
        assert flow.from_ and flow.to
        ends = self.routing.ends(flow.from_, flow.to)
        here = 0 if self.prefix else number
        planned = tuple((self.prefix + end.node, end.address) for end in ends)
        self.into.flows.append(planned_flow(flow, self.scenario, self.seed, here, planned))

    def advice(self, flows: list[tuple[int, Flow]]) -> None:
        """A path of each sender for each of its receivers, which follows that of a link."""
        told = self.scenario.told()
        if not told:
            return
        fair = shares(self.scenario)
        places = {ln.name: (ln.dev, ln.netns) for ln in self.into.links}
        for pair in dict.fromkeys((flow.from_, flow.to) for _, flow in flows):
            advice = told.get(pair)  # type: ignore[arg-type]
            if advice is None:
                continue
            flow = next(flow for _, flow in flows if (flow.from_, flow.to) == pair)
            share = fair[flow.name]
            if not advice.has_rate and self.graph.advice == "max-min":
                own = Advice.model_construct(rate=round(share.rate), layer="ip", meaning="share")
                advice = advice.merged_with(own)
            links = self.scenario.links()
            telling = [ln for ln in self.scenario.way(flow) if links[ln][1].feedback]
            tightest = share.link if share.link in telling else (telling or [""])[0]
            dev, netns = places.get(self.prefix + tightest, ("", ""))
            receiver = self.routing.ends(*pair)[1].address  # type: ignore[arg-type]
            path = ["dst", f"{receiver}/{32 if self.ip == 4 else 128}"]
            words = advice.words(follow=f"dev {dev} netns {netns}")
            trace = advice.trace()
            play = advice.play_options() if trace else []
            self.into.advice.append(
                PlannedAdvice(self.spaces[flow.from_ or ""].name, path, words, trace, play)
            )
