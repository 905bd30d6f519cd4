# SPDX-License-Identifier: GPL-2.0
"""What a topology is for the agent: namespaces, wires, qdiscs, advice and flows."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wale_lab.host_settings import HostSettings, RouteSettings
from wale_lab.impairments import OfItsOwn
from wale_lab.link import Link
from wale_lab.link_words import place, plain_option, plain_words
from wale_lab.programs import Program
from wale_lab.scenario import Flow, Scenario

#: Flow number n listens on this port plus n.
FIRST_PORT = 5001

#: Of sockets of programs, which choose none: what flows have that say nothing.
DEFAULT_CC = Flow.model_fields["cc"].default

#: Packets of a flow at a constant rate that are written down, for each MB of the guest's memory,
#: where each takes some 50 bytes.
LOGGED_PER_MB = 1000

#: Options of a link that its words name though a new link has the same.
_ALWAYS = ("delay", "limit", "overhead", "drops", "seed")

_GAMMA = 0x9E3779B97F4A7C15
_MASK = 2**64 - 1


@dataclass
class Command:
    """A program to run in a namespace when the network is there."""

    argv: list[str]
    text: str = ""  # its standard input
    setup: str | None = None  # the script of the scenario that it is


@dataclass
class LateCommand(Command):
    """A program to run at a time, when all other commands of all namespaces are done."""

    before_ns: int = 0  # so long before the flows begin


@dataclass
class Namespace:
    """One host or router: what to do in it."""

    name: str
    sysctls: dict[str, str] = field(default_factory=dict)
    ip: list[str] = field(default_factory=list)  # lines for `ip -batch` inside
    bridge: list[str] = field(default_factory=list)  # then for `bridge -batch`
    offloads: dict[str, dict[str, bool]] = field(default_factory=dict)  # device: {tso: False}
    commands: list[Command] = field(default_factory=list)  # when all namespaces are there
    late_sysctls: dict[str, str] = field(default_factory=dict)  # then
    late_commands: list[LateCommand] = field(default_factory=list)


@dataclass
class PlannedTrace:
    """The steps of a link."""

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
        """The words for people; TRACE and START stand for values only known in the guest."""
        words = [*self.words, *(["trace", "file", "TRACE", self.trace.end] if self.trace else [])]
        return " ".join([*words, *(["start", "at", "START"] if self.starts else [])])


@dataclass
class PlannedAdvice:
    """The rate that the sockets of a sender's namespace listen to."""

    netns: str
    path: list[str]  # its key: dev DEV, or dst PREFIX
    rate: list[str]  # what `wale rate set PATH` is told
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
    batch: int | None


@dataclass
class PlannedProgram:
    """A command of the user's on a host."""

    name: str
    host: str
    netns: str
    argv: list[str]
    env: dict[str, str]
    cwd: str
    stdin: str | None
    start_ns: int
    after: str | None
    ready: dict[str, Any] | None  # programs.py, Ready; times in ns
    until_ns: int | None
    grace_ns: int
    serve: bool
    exit: list[int] | None  # codes that are good; None: any


@dataclass
class PlannedChange:
    """What happens to the network at a time: lines for `ip -batch` in a namespace."""

    at_ns: int  # from the scenario's start on
    netns: str
    ip: list[str]


@dataclass
class Plan:
    """Everything that the agent needs to know."""

    namespaces: list[Namespace] = field(default_factory=list)
    wires: list[str] = field(default_factory=list)  # `ip -batch` lines outside: veth pairs
    links: list[PlannedLink] = field(default_factory=list)
    advice: list[PlannedAdvice] = field(default_factory=list)
    flows: list[PlannedFlow] = field(default_factory=list)
    programs: list[PlannedProgram] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)  # of hosts: their addresses
    modules: list[str] = field(default_factory=list)  # of the kernel, that the user asks for
    bpf: list[str] = field(default_factory=list)  # objects with congestion controls
    name_server: str | None = None  # that programs ask; None: there is none
    changes: list[PlannedChange] = field(default_factory=list)  # in the order of their times


def link_seed(seed: int, direction: str) -> int:
    """The seed of one direction's qdisc, the same in every copy."""
    return draw(seed, ("forward", "reverse").index(direction))


def arrivals_seed(seed: int, flow: int) -> int:
    """The seed of a flow's sessions, by the number of the flow in its copy of the topology."""
    return draw(seed, 2 + flow)


def draw(seed: int, n: int) -> int:
    """Draw n of the splitmix64 sequence of a run's seed."""
    z = (seed + (1 + n) * _GAMMA) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def new_namespace(name: str, ip: int, router: bool = False) -> Namespace:
    """A host or a router that sends no packets of its own accord."""
    result = Namespace(name)
    if ip == 4:
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
    return result


def wire(ip: int, ends: list[tuple[Namespace, str, str, str]], mtus: list[int]) -> list[str]:
    """A veth pair; each end is namespace, device, address, MAC. Neighbours are static."""
    (ns_a, dev_a, _, mac_a), (ns_b, dev_b, _, mac_b) = ends
    length = 24 if ip == 4 else 64
    for (ns, dev, address, _), (_, _, peer, peer_mac) in (ends, ends[::-1]):
        nodad = "" if ip == 4 else " nodad"
        ns.ip += [
            f"link set {dev} arp off up",
            f"address add {address}/{length} dev {dev}{nodad}",
            f"neighbour add {peer} lladdr {peer_mac} dev {dev} nud permanent",
        ]
    return [veth((ns_a.name, dev_a, mac_a, mtus[0]), (ns_b.name, dev_b, mac_b, mtus[1]))]


def veth(one: tuple[str, str, str, int], other: tuple[str, str, str, int]) -> str:
    """The line that makes a pair of devices; an end is namespace, device, MAC, MTU."""
    queues = "numtxqueues 1 numrxqueues 1"
    (ns_a, dev_a, mac_a, mtu_a), (ns_b, dev_b, mac_b, mtu_b) = one, other
    return (
        f"link add {dev_a} netns {ns_a} address {mac_a} mtu {mtu_a} {queues} type veth "
        f"peer {dev_b} netns {ns_b} address {mac_b} mtu {mtu_b} {queues}"
    )


def chosen_offloads(dev: str, settings: HostSettings) -> dict[str, dict[str, bool]]:
    """The offload settings of a host's device: none where the kernel's default is kept."""
    chosen = {k: v for k, v in dict(settings.offloads).items() if v is not None}
    return {dev: chosen} if chosen else {}


def setup_commands(settings: HostSettings) -> list[Command]:
    """The scripts of a host."""
    scripts = settings.setup or []
    return [Command(["/bin/sh", "-e", "-c", script], setup=script) for script in scripts]


def planned_link(name: str, netns: str, dev: str, link: Link, seed: int) -> PlannedLink:
    """One direction of a link, at a device."""
    return PlannedLink(
        name,
        netns,
        dev,
        wale_words(link, seed) if link.qdisc is None else shlex.split(link.qdisc),
        planned_trace(link),
        starts=bool(link.trace or link.sessions),
        start_ns=link.start,
        queue=None if link.queue is None else shlex.split(link.queue),
    )


def planned_flow(
    flow: Flow, scenario: Scenario, seed: int, number: int, ends: tuple[tuple[str, str], ...]
) -> PlannedFlow:
    """A flow between a sender and a receiver, each a namespace and its address."""
    (sender_netns, sender_address), (receiver_netns, receiver_address) = ends
    return PlannedFlow(
        name=flow.name,
        tool=flow.tool,
        cc="none" if flow.constant else flow.cc,
        sender_netns=sender_netns,
        receiver_netns=receiver_netns,
        sender_address=sender_address,
        receiver_address=receiver_address,
        port=FIRST_PORT + number,
        size=flow.size,
        duration_ns=flow.duration,
        arrivals=planned_arrivals(flow, seed, number),
        constant=planned_constant(flow, scenario),
        start_ns=flow.start,
        after=flow.after,
        sha256=flow.sha256,
        batch=flow.batch,
    )


def planned_program(program: Program, scenario: Scenario) -> PlannedProgram:
    """A program in the plan for the agent."""
    ready, stdin = None, program.stdin
    if program.ready:
        data = program.ready.model_dump()
        times = {f"{key}_ns": data.pop(key) for key in ("time", "within")}
        ready = {**data, **times}
    return PlannedProgram(
        name=program.name,
        host=program.host,
        netns=program.host,
        argv=program.argv,
        env=program.env,
        cwd=str(Path(scenario.folder, program.cwd or "").absolute()),
        stdin=None if stdin is None else str(Path(scenario.folder, stdin).absolute()),
        start_ns=program.start,
        after=program.after,
        ready=ready,
        until_ns=program.until if isinstance(program.until, int) else None,
        grace_ns=program.grace,
        serve=program.serve,
        exit=None if program.exit == "any" else program.exit,
    )


def route_of(host: str, settings: HostSettings, scenario: Scenario) -> RouteSettings:
    """The attributes of a host's route: sockets of programs have a congestion control by it."""
    has_programs = any(program.host == host for program in scenario.programs)
    if not has_programs or settings.route.congctl is not None:
        return settings.route
    return settings.route.model_copy(update={"congctl": DEFAULT_CC})


def planned_arrivals(flow: Flow, seed: int, number: int) -> PlannedArrivals | None:
    """The sessions of a flow, if it is of sessions."""
    if flow.arrivals is None:
        return None
    a = flow.arrivals
    return PlannedArrivals(a.rate, a.sessions, a.mean, arrivals_seed(seed, number))


def planned_constant(flow: Flow, scenario: Scenario) -> PlannedConstant | None:
    """The arguments of `wale send` for a flow of packets, and whether each is logged."""
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
    """The steps of a link, if it has any."""
    if link.trace is None:
        return None
    lines = [f"{step.duration_ns}ns {' '.join(step.words()[1:])}" for step in link.trace.each()]
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
