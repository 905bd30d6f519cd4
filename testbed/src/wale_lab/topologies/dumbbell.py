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

import shlex
from dataclasses import dataclass, field

from wale_lab.advice import Advice
from wale_lab.impairments import OfItsOwn
from wale_lab.link import Link
from wale_lab.link_words import place, plain_option, plain_words
from wale_lab.scenario import ROLES, Flow, RouteSettings, Scenario

#: Flow number n listens on this port plus n.
FIRST_PORT = 5001

#: Packets of a flow at a constant rate that are written down, for each MB of the guest's memory,
#: where each takes some 50 bytes.
LOGGED_PER_MB = 1000

#: Options of a link that its words name though a new link has the same.
_ALWAYS = ("delay", "limit", "overhead", "drops", "seed")

_GAMMA = 0x9E3779B97F4A7C15
_MASK = 2**64 - 1


def link_seed(seed: int, direction: str) -> int:
    """The seed of one direction's qdisc, the same in every copy."""
    return _draw(seed, ("forward", "reverse").index(direction))


def arrivals_seed(seed: int, flow: int) -> int:
    """The seed of a flow's sessions, by the number of the flow in its copy of the topology."""
    return _draw(seed, 2 + flow)


def _draw(seed: int, n: int) -> int:
    """Draw n of the splitmix64 sequence of a run's seed."""
    z = (seed + (1 + n) * _GAMMA) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


@dataclass
class Namespace:
    """One host or router: what to do in it."""

    name: str
    sysctls: dict[str, str] = field(default_factory=dict)
    ip: list[str] = field(default_factory=list)  # lines for `ip -batch` inside
    offloads: dict[str, dict[str, bool]] = field(default_factory=dict)  # device: {tso: False}


@dataclass
class PlannedTrace:
    """The steps of a rate."""

    lines: list[str]  # of a trace file
    end: str  # what comes after the last


@dataclass
class PlannedLink:
    """One qdisc to install when the scenario starts."""

    name: str
    netns: str
    dev: str
    words: list[str]  # the end of a `tc qdisc add dev DEV root` line: the kind, its options
    trace: PlannedTrace | None = None
    starts: bool = False  # a trace or sessions, which begin at a time
    start_ns: int | None = None  # from the scenario's start on; None: with the links
    shown: bool = True  # in the results
    queue: list[str] | None = None  # the end of a `tc qdisc add dev DEV parent 1:1` line, if any

    @property
    def kind(self) -> str:
        """Wale, or another."""
        return self.words[0]

    @property
    def text(self) -> str:
        """The words for people; TRACE and START stand for what is known in the guest alone."""
        words = [*self.words, *(["trace", "file", "TRACE", self.trace.end] if self.trace else [])]
        return " ".join([*words, *(["start", "at", "START"] if self.starts else [])])


@dataclass
class PlannedAdvice:
    """The rate that the sockets of a sender's namespace listen to."""

    netns: str
    dev: str
    rate: list[str]  # what `wale rate set dev DEV` is told
    trace: list[str] = field(default_factory=list)  # then played, from the start on
    play: list[str] = field(default_factory=list)  # options of `wale rate play`


@dataclass
class PlannedArrivals:
    """The sessions of a flow."""

    rate: float  # per second
    sessions: int
    mean: int  # bytes
    seed: int


@dataclass
class PlannedConstant:
    """Packets at a constant rate."""

    rate: list[str]  # options of wale send
    packet: int  # bytes of IP
    logged: bool  # the receiver writes down each one


@dataclass
class PlannedFlow:
    """One transfer, sessions that arrive at random, or packets at a constant rate."""

    name: str
    tool: str
    cc: str
    sender_netns: str
    receiver_netns: str
    sender_address: str
    receiver_address: str
    port: int
    size: int | None
    duration_ns: int | None
    arrivals: PlannedArrivals | None
    constant: PlannedConstant | None
    start_ns: int
    after: str | None
    sha256: bool


@dataclass
class Plan:
    """Everything that the agent needs to know."""

    namespaces: list[Namespace] = field(default_factory=list)
    wires: list[str] = field(default_factory=list)  # `ip -batch` lines outside: veth pairs
    links: list[PlannedLink] = field(default_factory=list)
    advice: list[PlannedAdvice] = field(default_factory=list)
    flows: list[PlannedFlow] = field(default_factory=list)


def plan(scenario: Scenario, seed: int) -> Plan:
    """The plan of a scenario."""
    result = Plan()
    if not scenario.isolate:
        _Copy(scenario, seed, "", result).build(list(enumerate(scenario.flows)))
        return result
    for number, flow in enumerate(scenario.flows):
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
        used = {flow.pair or self.scenario.topology.pairs[0].name for _, flow in flows}
        for number, pair in enumerate(self.scenario.topology.pairs, 1):
            if not self.prefix or pair.name in used:
                self.pair(number, pair.name, pair.access_delay)
        for number, flow in flows:
            self.flow(number, flow)

    def address(self, net: int, number: int, host: int) -> str:
        if self.scenario.ip == 4:
            return f"10.{net}.{number}.{host}"
        return f"fd00:{net}:{number}::{host}"

    def subnet(self, net: int, number: int) -> str:
        return self.address(net, number, 0) + ("/24" if self.scenario.ip == 4 else "/64")

    def namespace(self, name: str, router: bool = False) -> Namespace:
        result = Namespace(self.prefix + name)
        if self.scenario.ip == 4:
            result.sysctls = {
                "net.ipv6.conf.all.disable_ipv6": "1",
                "net.ipv6.conf.default.disable_ipv6": "1",
            }
            if router:
                result.sysctls["net.ipv4.ip_forward"] = "1"
        else:
            result.sysctls = {
                "net.ipv6.conf.default.accept_dad": "0",
                "net.ipv6.conf.default.accept_ra": "0",
                "net.ipv6.conf.default.router_solicitations": "0",
                "net.ipv6.conf.default.addr_gen_mode": "1",
            }
            if router:
                result.sysctls["net.ipv6.conf.all.forwarding"] = "1"
                result.sysctls["net.ipv6.conf.default.forwarding"] = "1"
        if router:
            # a look for a socket of its own, with each packet
            result.sysctls["net.ipv4.ip_early_demux"] = "0"
        result.ip.append("link set lo up")
        self.into.namespaces.append(result)
        return result

    def wire(self, ends: list[tuple[Namespace, str, str, str]], mtus: list[int]) -> None:
        """A veth pair; each end is namespace, device, address, MAC."""
        (ns_a, dev_a, _, mac_a), (ns_b, dev_b, _, mac_b) = ends
        queues = "numtxqueues 1 numrxqueues 1"
        self.into.wires.append(
            f"link add {dev_a} netns {ns_a.name} address {mac_a} mtu {mtus[0]} {queues} type veth "
            f"peer {dev_b} netns {ns_b.name} address {mac_b} mtu {mtus[1]} {queues}"
        )
        length = 24 if self.scenario.ip == 4 else 64
        for (ns, dev, ip, _), (_, _, peer_ip, peer_mac) in (ends, ends[::-1]):
            nodad = "" if self.scenario.ip == 4 else " nodad"
            ns.ip += [
                f"link set {dev} arp off up",
                f"address add {ip}/{length} dev {dev}{nodad}",
                f"neighbour add {peer_ip} lladdr {peer_mac} dev {dev} nud permanent",
            ]

    def bottleneck(self) -> None:
        mtu = self.largest_mtu()
        self.wire(
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
        pairs = [pair.name for pair in self.scenario.topology.pairs]
        return max(1500, *(self.scenario.mtu(name, role) for name in pairs for role in ROLES))

    def link(self, direction: str, ns: Namespace, link: Link) -> None:
        if link.qdisc is not None:
            words = shlex.split(link.qdisc)
        else:
            words = wale_words(link, link_seed(self.seed, direction))
        planned = PlannedLink(
            self.prefix + direction,
            ns.name,
            "bottleneck",
            words,
            planned_trace(link),
            starts=bool(link.trace or link.sessions),
            start_ns=link.start,
            queue=None if link.queue is None else shlex.split(link.queue),
        )
        self.into.links.append(planned)

    def pair(self, number: int, name: str, access_delay_ns: int) -> None:
        routers = ((self.left, self.right), (self.right, self.left))
        for role, net, (router, other) in zip(ROLES, (1, 2), routers, strict=True):
            settings = self.scenario.host_settings(name, role)
            host = self.namespace(f"{name}-{role}")
            host.sysctls.update(settings.sysctls)
            mac = f"02:00:00:{net:02x}:{number:02x}"
            gateway = self.address(net, number, 1)
            mtu = self.scenario.mtu(name, role)
            self.wire(
                [
                    (host, "eth0", self.address(net, number, 2), f"{mac}:02"),
                    (router, f"access{number}", gateway, f"{mac}:01"),
                ],
                [mtu, max(mtu, 1500)],
            )
            host.ip.append(f"route add default via {gateway}{route_attributes(settings.route)}")
            # no defaults of the routers: a packet with a damaged address would go to and fro
            across = self.address(0, 0, net)
            other.ip.append(f"route add {self.subnet(net, number)} via {across}")
            chosen = {k: v for k, v in dict(settings.offloads).items() if v is not None}
            if chosen:
                host.offloads["eth0"] = chosen
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
            self.into.advice.append(PlannedAdvice(host.name, "eth0", words, trace, play))

    def impaired(self, advice: Advice) -> Advice:
        """What a poor channel tells of the forward link, as steps."""
        from wale_lab.impaired_advice import impaired  # numpy takes time to load

        link, seed = self.scenario.bottleneck.forward, link_seed(self.seed, "forward")
        return impaired(advice, link, seed, self.scenario.ends_by())

    def flow(self, number: int, flow: Flow) -> None:
        names = [p.name for p in self.scenario.topology.pairs]
        pair = flow.pair or names[0]
        index = names.index(pair) + 1
        # the first one in every copy, so that copies differ in nothing but the flow
        here = 0 if self.prefix else number
        self.into.flows.append(
            PlannedFlow(
                name=flow.name,
                tool=flow.tool,
                cc="none" if flow.constant else flow.cc,
                sender_netns=f"{self.prefix}{pair}-sender",
                receiver_netns=f"{self.prefix}{pair}-receiver",
                sender_address=self.address(1, index, 2),
                receiver_address=self.address(2, index, 2),
                port=FIRST_PORT + here,
                size=flow.size,
                duration_ns=flow.duration,
                arrivals=self.arrivals(flow, here),
                constant=planned_constant(flow, self.scenario),
                start_ns=flow.start,
                after=flow.after,
                sha256=flow.sha256,
            )
        )

    def arrivals(self, flow: Flow, number: int) -> PlannedArrivals | None:
        if flow.arrivals is None:
            return None
        a = flow.arrivals
        return PlannedArrivals(a.rate, a.sessions, a.mean, arrivals_seed(self.seed, number))


def planned_constant(flow: Flow, scenario: Scenario) -> PlannedConstant | None:
    """How `wale send` is told what a flow of packets is, and whether each is written down."""
    c = flow.constant
    if c is None:
        return None
    assert flow.duration is not None  # Flow sees to it
    packets = c.bits_per_s() / 8 / c.packet * flow.duration / 1e9
    logged = scenario.record.flows and packets <= LOGGED_PER_MB * scenario.memory_mb
    if c.rate is not None:
        rate = ["--rate", f"{c.rate}bit"]
    else:
        rate = ["--packets-per-second", f"{c.packets_per_second:.12g}"]
    return PlannedConstant(rate, c.packet, logged)


def planned_trace(link: Link) -> PlannedTrace | None:
    """The steps of a link's rate, if it has any."""
    if link.trace is None:
        return None
    lines = [f"{duration}ns {rate}bit" for duration, rate in link.trace.steps]
    return PlannedTrace(lines, link.trace.end)


def wale_words(link: Link, seed: int) -> list[str]:
    """A link as tc's words for wale, without its trace and when it begins."""
    defaults = {name: of.default for name, of in Link.model_fields.items()}
    given = {**dict(link), "seed": seed}
    words = ["wale"]
    for name in sorted(given, key=place):
        value, option = given[name], plain_option(name)
        if name == "limit" and link.queue is not None:
            continue
        if value == defaults.get(name) and name not in _ALWAYS:
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, OfItsOwn):
                words += one.options()
            elif option:
                words += plain_words(option, one)
    return words


def route_attributes(route: RouteSettings) -> str:
    """A route's attributes as `ip route` takes them."""
    words = ""
    for name, value in dict(route).items():
        if value is None:
            continue
        if name == "rto_min":
            value = f"{value / 1e6:g}ms"
        elif name == "quickack":
            value = int(value)
        words += f" {name} {value}"
    return words
