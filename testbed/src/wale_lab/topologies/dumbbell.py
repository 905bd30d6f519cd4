# SPDX-License-Identifier: GPL-2.0
"""Pairs of hosts around one bottleneck, in network namespaces joined by veth.

    pair1-sender                                                      pair1-receiver
    +----------+                                                      +----------+
    |     eth0 |---+   left                               right   +---| eth0     |
    +----------+   |   +---------------+   +---------------+      |   +----------+
    10.1.1.2       +---| access1       |   |       access1 |------+   10.2.1.2
                       |    bottleneck |---| bottleneck    |
                   +---| access2       |   |       access2 |------+
    pair2-sender   |   +---------------+   +---------------+      |   pair2-receiver
    +----------+   |     10.1.N.1               10.2.N.1          |   +----------+
    |     eth0 |---+        10.0.0.1       10.0.0.2               +---| eth0     |
    +----------+                                                      +----------+
    10.1.2.2           data  ------ forward ------>                   10.2.2.2
                       ACKs  <----- reverse -------

forward is the qdisc of bottleneck in left, reverse that of bottleneck in right.  A pair's
access delay is a qdisc of accessN in right (data) and in left (ACKs).  Nothing is queued on
the hosts' own interfaces, so no host's TCP is told about a drop or throttled by a delay.
With feedback, forward publishes its rate as the path "dev bottleneck" of left, and the path
"dev eth0" of each sender follows that one; an impaired rate is played to it.
With isolate every flow has a copy of this for itself, in namespaces FLOW.left and so on,
with no pair but its own.
For IPv6, 10.A.B.C is fd00:A:B::C.  Neighbours are static and IPv6 is off with IPv4, so that
only the flows' packets cross the links.
"""

from __future__ import annotations

from wale_lab.advice import Advice
from wale_lab.link import Link
from wale_lab.pairs import ROLES, Pair
from wale_lab.scenario import Flow, Scenario
from wale_lab.topologies.plan import (
    Namespace,
    Plan,
    PlannedAdvice,
    PlannedLink,
    chosen_offloads,
    link_seed,
    new_namespace,
    planned_flow,
    planned_link,
    route_attributes,
    route_of,
    setup_commands,
    wire,
)


def plan(scenario: Scenario, seed: int) -> Plan:
    """The plan of a scenario."""
    result = Plan()
    if not scenario.isolate:
        _Copy(scenario, seed, "", result).build(list(enumerate(scenario.transfers)))
        return result
    for number, flow in enumerate(scenario.transfers):
        _Copy(scenario, seed, f"{flow.name}.", result).build([(number, flow)])
    return result


class _Copy:
    """One copy of the topology."""

    def __init__(self, scenario: Scenario, seed: int, prefix: str, into: Plan) -> None:
        self.scenario, self.seed, self.prefix, self.into = scenario, seed, prefix, into
        self.left = self.namespace("left", router=True)
        self.right = self.namespace("right", router=True)

    def build(self, flows: list[tuple[int, Flow]]) -> None:
        self.bottleneck()
        used = {flow.pair or self.scenario.pairs[0].name for _, flow in flows}
        for number, pair in enumerate(self.scenario.pairs, 1):
            if not self.prefix or pair.name in used:
                self.pair(number, pair)
        for number, flow in flows:
            self.flow(number, flow)

    def address(self, net: int, number: int, host: int) -> str:
        if self.scenario.ip == 4:
            return f"10.{net}.{number}.{host}"
        return f"fd00:{net}:{number}::{host}"

    def subnet(self, net: int, number: int) -> str:
        return self.address(net, number, 0) + ("/24" if self.scenario.ip == 4 else "/64")

    def namespace(self, name: str, router: bool = False) -> Namespace:
        result = new_namespace(self.prefix + name, self.scenario.ip, router)
        self.into.namespaces.append(result)
        return result

    def bottleneck(self) -> None:
        mtu = self.largest_mtu()
        self.into.wires += wire(
            self.scenario.ip,
            [
                (self.left, "bottleneck", self.address(0, 0, 1), "02:00:00:00:00:01"),
                (self.right, "bottleneck", self.address(0, 0, 2), "02:00:00:00:00:02"),
            ],
            [mtu, mtu],
        )
        links = self.scenario.bottleneck
        self.link("forward", self.left, links.forward)
        self.link("reverse", self.right, links.reverse)

    def largest_mtu(self) -> int:
        pairs = [pair.name for pair in self.scenario.pairs]
        return max(1500, *(self.scenario.mtu(name, role) for name in pairs for role in ROLES))

    def link(self, direction: str, ns: Namespace, link: Link) -> None:
        seed = link_seed(self.seed, direction)
        name = self.prefix + direction
        self.into.links.append(planned_link(name, ns.name, "bottleneck", link, seed))

    def pair(self, number: int, pair: Pair) -> None:
        name, access_delay_ns = pair.name, pair.access_delay
        routers = ((self.left, self.right), (self.right, self.left))
        for role, net, (router, other) in zip(ROLES, (1, 2), routers, strict=True):
            settings = self.scenario.host_settings(name, role)
            host = self.namespace(pair.host(role))
            self.into.names[pair.host(role)] = self.address(net, number, 2)
            host.sysctls.update(settings.sysctls)
            mac = f"02:00:00:{net:02x}:{number:02x}"
            gateway = self.address(net, number, 1)
            mtu = self.scenario.mtu(name, role)
            self.into.wires += wire(
                self.scenario.ip,
                [
                    (host, "eth0", self.address(net, number, 2), f"{mac}:02"),
                    (router, f"access{number}", gateway, f"{mac}:01"),
                ],
                [mtu, max(mtu, 1500)],
            )
            route = route_of(pair.host(role), settings, self.scenario)
            host.ip.append(f"route add default via {gateway}{route_attributes(route)}")
            # no defaults of the routers: a packet with a damaged address would go to and fro
            across = self.address(0, 0, net)
            other.ip.append(f"route add {self.subnet(net, number)} via {across}")
            host.offloads |= chosen_offloads("eth0", settings)
            host.commands = setup_commands(settings)
            if role == "sender":
                self.advice(host, name)
            if access_delay_ns:
                self.into.links.append(
                    PlannedLink(
                        name=f"{self.prefix}{name}-access-{'data' if net == 2 else 'ack'}",
                        netns=router.name,
                        dev=f"access{number}",
                        words=[
                            *("wale", "delay", f"{access_delay_ns}ns"),
                            *("limit", "1000000p", "seed", str(number)),
                        ],
                        shown=False,
                    )
                )

    def advice(self, host: Namespace, pair: str) -> None:
        """A path of the sender's own namespace, which follows that of the link."""
        advice = self.scenario.advice(pair)
        if advice is not None:
            if advice.impair:
                advice = self.impaired(advice)
            words = advice.words(follow=f"dev bottleneck netns {self.left.name}")
            trace = advice.trace()
            play = advice.play_options() if trace else []
            self.into.advice.append(PlannedAdvice(host.name, ["dev", "eth0"], words, trace, play))

    def impaired(self, advice: Advice) -> Advice:
        """The announcements of a poor channel for the forward link, as steps."""
        from wale_lab.impaired_advice import impaired  # numpy takes time to load

        link, seed = self.scenario.bottleneck.forward, link_seed(self.seed, "forward")
        return impaired(advice, link, seed, self.scenario.ends_by())

    def flow(self, number: int, flow: Flow) -> None:
        names = [p.name for p in self.scenario.pairs]
        index = names.index(flow.pair or names[0]) + 1
        pair = self.scenario.pairs[index - 1]
        # the first one in every copy, so that copies differ in nothing but the flow
        here = 0 if self.prefix else number
        ends = (
            (self.prefix + pair.host("sender"), self.address(1, index, 2)),
            (self.prefix + pair.host("receiver"), self.address(2, index, 2)),
        )
        self.into.flows.append(planned_flow(flow, self.scenario, self.seed, here, ends))
