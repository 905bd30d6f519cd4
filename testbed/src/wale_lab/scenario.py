# SPDX-License-Identifier: GPL-2.0
"""The keys of a scenario: the model that its YAML is checked against.

Quantities become integers in the unit of their kernel interface here (units.py);
missing keys get their default, so that a dumped Scenario is complete.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Discriminator,
    Field,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    Tag,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from wale_lab import units, yaml_lines
from wale_lab.advice import Advice, Impair
from wale_lab.checking import checked, show, union_tag
from wale_lab.engines.base import GUESTS_MAX, RELEASED
from wale_lab.errors import ScenarioError
from wale_lab.events import Event, check_events
from wale_lab.fields import (
    STRICT,
    Batch,
    ControlOrFile,
    Date,
    FlowSize,
    Name,
    Rate,
    Switch,
    TimeLimit,
    TimeNs,
)
from wale_lab.host_settings import (
    NO_PAIR_HOSTS,
    Hosts,
    HostSettings,
    PairHosts,
    Profile,
    SenderSettings,
    load_profile,
)
from wale_lab.link import Bottleneck, Link, wire_bytes
from wale_lab.network import Graph, check_outside, some
from wale_lab.pairs import ROLES, Pair, Topology
from wale_lab.programs import PROGRAM, TRANSFER, Program, kind_of_flow
from wale_lab.routing import NoWayError, Routing, State
from wale_lab.shapes import SHAPES, Chain, ParkingLot, Ring, Star, TwoPaths
from wale_lab.trace_files import inline_traces
from wale_lab.tree import PACKAGE
from wale_lab.written_out import write_out
from wale_lab.yaml_lines import Document, KeyPath

#: Congestion controls of this tree, and those of them that listen to advice.
CLASSIC_CC = {"oldtahoe", "vanilla", "tahoe", "reno_classic", "reno_rfc2001"}
LISTENING_CC = {"ratcp", "ratcp_ecn", "ratcp_oldtahoe"}
OWN_CC = CLASSIC_CC | LISTENING_CC

#: Queueing disciplines that a guest's kernel has with more of networks only.
NET_QDISCS = {"cbs", "etf", "gred", "plug", "skbprio", "taprio", "teql0"}

#: Of an impaired rate, in a run.
MAX_ANNOUNCEMENTS = 1_000_000


class Strict(BaseModel):
    """Unknown keys are errors."""

    model_config = STRICT


def _kind_of_topology(value: object) -> str | None:
    """The tag of a topology's model, by its `type`."""
    kind = value.get("type", "dumbbell") if isinstance(value, dict) else getattr(value, "type", "")
    found = _TOPOLOGIES.get(kind) if isinstance(kind, str) else None
    return union_tag(found) if found else None


_TOPOLOGIES: dict[str, type[BaseModel]] = {"dumbbell": Topology, "graph": Graph, **SHAPES}

AnyTopology = Annotated[
    Annotated[Topology, Tag(union_tag(Topology))]
    | Annotated[Graph, Tag(union_tag(Graph))]
    | Annotated[ParkingLot, Tag(union_tag(ParkingLot))]
    | Annotated[Star, Tag(union_tag(Star))]
    | Annotated[Chain, Tag(union_tag(Chain))]
    | Annotated[TwoPaths, Tag(union_tag(TwoPaths))]
    | Annotated[Ring, Tag(union_tag(Ring))],
    Discriminator(
        _kind_of_topology,
        custom_error_type="topology",
        custom_error_message=f"expected a type that is one of {', '.join(_TOPOLOGIES)}",
    ),
]


class Arrivals(Strict):
    """Sessions that arrive in a Poisson process; each transfers a file, on its own connection.

    Times and sizes follow from the run's seed, and are the same in every copy of an isolated
    topology (testbed/src/wale_lab/models/arrivals.py).
    """

    rate: Annotated[float, Field(ge=0.001, le=1e6)]
    """sessions per second"""
    sessions: Annotated[int, Field(ge=1, le=100_000)]
    """how many arrive"""
    mean: FlowSize
    """mean size; sizes are exponential"""

    @field_validator("mean")
    @classmethod
    def _not_too_large(cls, value: int) -> int:
        if not 1 <= value <= 2**40:
            raise ValueError(f"expected a size from 1 byte to 1 TiB, got {value} bytes")
        return value


class Constant(Strict):
    """UDP packets at a constant rate, regardless of losses: traffic without congestion control.

    Packet n (from 1) leaves n intervals after the flow's start, to the ns of the clock.
    """

    rate: Rate | None = None
    """rate of IP packets with their headers, bit/s; or give packets_per_second"""
    packets_per_second: Annotated[float, Field(ge=0.001, le=1e6)] | None = None
    """instead of a rate"""
    packet: FlowSize = 500
    """size of an IP packet in bytes, headers included"""

    @model_validator(mode="after")
    def _check(self) -> Constant:
        if (self.rate is None) == (self.packets_per_second is None):
            raise ValueError("expected either a rate or packets_per_second")
        if self.rate == units.UNLIMITED or self.rate == 0:
            raise ValueError(f"expected a rate above 0 and below unlimited, got {self.rate}")
        if not 72 <= self.packet <= 65_535:
            raise ValueError(f"expected a packet of 72 to 65535 bytes, got {self.packet}")
        return self

    def bits_per_s(self) -> float:
        """What it sends, as IP packets."""
        if self.packets_per_second is not None:
            return self.packets_per_second * self.packet * 8
        assert isinstance(self.rate, int)
        return self.rate


class Flow(Strict):
    """One transfer from a pair's sender to its receiver, sessions, or packets at constant rate."""

    name: Name
    """name in tables, plots and results"""
    cc: ControlOrFile = "cubic"
    """congestion control of the sender's socket; or, relative to the scenario's folder, a file with
    one in BPF: NAME.bpf.c or NAME.bpf.o"""
    pair: str | None = None
    """name of the pair (default: the first)"""
    from_: Annotated[str | None, Field(alias="from")] = None
    """in a graph, instead of a pair: the host or router that sends"""
    to: str | None = None
    """in a graph, instead of a pair: the host or router that receives"""
    size: FlowSize | None = None
    """amount to send; or give a duration, or arrivals"""
    duration: TimeNs | None = None
    """how long to send"""
    arrivals: Arrivals | None = None
    """many transfers that arrive at random, instead of one"""
    constant: Constant | None = None
    """UDP packets at a constant rate, instead of TCP; with a duration"""
    start: TimeNs = 0
    """time after the scenario's start, or after the end of the flow in `after`"""
    after: str | None = None
    """name of the flow that has to end first"""
    tool: Literal["wale", "iperf3"] = "wale"
    """wale serve and wale get, or iperf3 (which takes more wall time)"""
    sha256: Switch = True
    """for transfers with a size: both ends compute it, and it is compared; off is faster"""
    batch: Batch | None = None
    """programs give data to TCP, and take them from it, so much at a time: for many flows"""

    @model_serializer(mode="wrap")
    def _without_new_ones(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A key that is newer than the others, and not given, is in no digest."""
        data: dict[str, Any] = handler(self)
        ends = {"from": data.pop("from_", data.pop("from", None)), "to": data.pop("to", None)}
        ends["batch"] = data.pop("batch", None)
        return data | {name: end for name, end in ends.items() if end is not None}

    @model_validator(mode="after")
    def _check(self) -> Flow:
        given = [what for what in (self.size, self.duration, self.arrivals) if what is not None]
        if len(given) != 1:
            raise ValueError("expected either a size, a duration or arrivals")
        for key in ("arrivals", "batch"):
            if getattr(self, key) is not None and self.tool != "wale":
                raise ValueError(f"expected tool: wale together with {key}, got {self.tool}")
        if self.constant is not None:
            wrong = sorted({"cc", "tool", "batch"} & self.model_fields_set)
            if self.duration is None or wrong:
                raise ValueError("expected constant with a duration and without cc, tool and batch")
        if self.size == 0 or self.duration == 0:
            raise ValueError("expected a size or duration above 0")
        if self.tool == "iperf3" and (self.duration or 0) % 10**9:
            raise ValueError("expected a duration of whole seconds with tool: iperf3")
        return self


AnyFlow = Annotated[
    Annotated[Flow, Tag(TRANSFER)] | Annotated[Program, Tag(PROGRAM)], Discriminator(kind_of_flow)
]


class Record(Strict):
    """What is recorded over time."""

    interval: TimeNs = 100_000_000
    """time between two samples"""
    links: bool = True
    """links.csv: buffers, rates and counters"""
    flows: bool = True
    """flows.csv: bytes, windows, round-trip times; channel.csv, for flows that listen"""
    settled: TimeNs | None = None
    """from this time on, links are counted a second time, from their samples: without the start"""

    @field_validator("interval")
    @classmethod
    def _not_too_fine(cls, value: int) -> int:
        if value < 1_000_000:
            raise ValueError("expected an interval of at least 1ms")
        return value

    @model_validator(mode="after")
    def _check(self) -> Record:
        if self.settled is not None and not self.links:
            raise ValueError("expected links: on together with settled")
        return self


def _module(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]*", name):
        raise ValueError(f"expected names of kernel modules, got {name!r}")
    return name


def _guests(value: object) -> object:
    number = type(value) is int and 1 <= value <= GUESTS_MAX
    if not number and value not in ("auto", "per-host"):
        raise ValueError(f"expected 1 to {GUESTS_MAX}, auto or per-host, got {value!r}")
    return value


class Scenario(Strict):
    """An experiment: topology, links, hosts, flows, and what to record."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    """name in results; without --out they go to out/NAME"""
    description: str = ""
    """what it shows, in a sentence or two"""
    time: Literal["virtual", "real"] = "virtual"
    """virtual: repeatable to the bit, idle time is skipped; real: as on a real machine"""
    start: Annotated[Date | None, Field(validate_default=True)] = None
    """initial time of the guest's clock (virtual time: the day of the release; real: now)"""
    reseed: bool = False
    """in virtual time: once flows begin, the kernel's random numbers follow from the seed alone"""
    wall_limit: TimeLimit = 600_000_000_000
    """wall time after which the guest is killed"""
    virtual_limit: TimeLimit = 3_600_000_000_000
    """time of the scenario after which flows that are still running have failed"""
    memory_mb: Annotated[int, Field(ge=64, le=65536)] = 2048
    """memory of the guest, MB; TCP keeps windows small when socket buffers hold a 16th of it"""
    guests: Annotated[
        Annotated[int, Field(ge=1, le=GUESTS_MAX)] | Literal["auto", "per-host"],
        BeforeValidator(_guests),
    ] = 1
    """guests of the uml engine that it runs in, in one virtual time; auto: two if the delay allows;
    per-host: as many as the network falls into at links with a fixed delay"""
    ip: Literal[4, 6] = 4
    """version of IP"""
    profile: str = "modern"
    """name of a bundle of host settings in testbed/src/wale_lab/profiles"""
    topology: AnyTopology = Topology()
    """which hosts there are"""
    bottleneck: Bottleneck = Bottleneck()
    """of a dumbbell: the link between them, a qdisc for each direction"""
    hosts: Hosts = Hosts()
    """settings in addition to the profile's"""
    flows: Annotated[list[AnyFlow], Field(min_length=1)]
    """the transfers, and the programs"""
    events: Annotated[list[Event], Field(max_length=10_000)] = []
    """what happens to the links and routes of a graph, and when"""
    modprobe: list[Annotated[str, AfterValidator(_module)]] = []
    """kernel modules that commands of the scenario need, such as tun or geneve"""
    isolate: bool = False
    """each flow in its own copy of the topology, with the same seed, at the same time"""
    record: Record = Record()
    """what is recorded over time"""

    _document: Document | None = PrivateAttr(None)
    _folder: Path = PrivateAttr(Path())

    @property
    def document(self) -> Document | None:
        """The YAML that it was read from, which knows the lines."""
        return self._document

    @property
    def folder(self) -> Path:
        """Where its file is."""
        return self._folder

    @property
    def transfers(self) -> list[Flow]:
        """The flows that are not programs."""
        return [flow for flow in self.flows if isinstance(flow, Flow)]

    @property
    def programs(self) -> list[Program]:
        """The flows that are programs."""
        return [flow for flow in self.flows if isinstance(flow, Program)]

    @field_validator("start", mode="before")
    @classmethod
    def _day_of_release(cls, value: object, info: ValidationInfo) -> object:
        return RELEASED if value is None and info.data.get("time") == "virtual" else value

    @model_validator(mode="after")
    def _check_names(self) -> Scenario:
        pairs = [p.name for p in self.pairs]
        flows = [f.name for f in self.flows]
        if self.graph is not None and "bottleneck" in self.model_fields_set:
            raise ValueError("expected no bottleneck: the links of a graph are in its topology")
        for where, names in (("topology.pairs", pairs), ("flows", flows)):
            for n, name in enumerate(names):
                if name in names[:n]:
                    raise ValueError(
                        f"{where}.{n}.name: expected different names, {name!r} is here twice"
                    )
        for name in self.hosts.pairs:
            if self.graph is not None:
                raise ValueError("hosts.pairs: expected settings in topology.hosts, not of pairs")
            if name not in pairs:
                raise ValueError(f"hosts.pairs: expected one of {', '.join(pairs)}, got {name!r}")
        for n, flow in enumerate(self.flows):
            if isinstance(flow, Flow):
                self._check_ends(n, flow)
            if flow.after is not None and flow.after not in flows[:n]:
                raise ValueError(
                    f"flows.{n}.after: expected a flow that stands before it, got {flow.after!r}"
                )
        self._check_hosts()
        check_events(self.graph, self.events)
        return self

    def _check_hosts(self) -> None:
        hosts = self.host_names
        for n, name in enumerate(hosts):
            if name in hosts[:n]:
                raise ValueError(
                    f"topology.pairs: expected different names of hosts, {name!r} is here twice"
                )
        if self.programs and self.isolate:
            raise ValueError("expected isolate: off with programs, which have one topology")
        for n, flow in enumerate(self.flows):
            if isinstance(flow, Program) and flow.host not in hosts:
                raise ValueError(
                    f"flows.{n}.host: expected one of {', '.join(hosts)}, got {flow.host!r}"
                )
        check_outside(self.graph, self.time, self.ip, self.isolate)
        if not self.transfers and all(program.serve for program in self.programs):
            raise ValueError("flows: expected one that ends: all are told to when the others have")

    def _check_ends(self, n: int, flow: Flow) -> None:
        """A flow is between nodes of a graph, or of a pair."""
        pairs = [pair.name for pair in self.pairs]
        if self.graph is None and flow.pair is not None and flow.pair not in pairs:
            raise ValueError(
                f"flows.{n}.pair: expected one of {', '.join(pairs)}, got {flow.pair!r}"
            )
        for key, end in (("from", flow.from_), ("to", flow.to)):
            if self.graph is None and end is not None:
                raise ValueError(f"flows.{n}.{key}: expected a pair, this topology is no graph")
            if self.graph is not None and end not in self.graph.nodes:
                known = some(self.graph.nodes)
                raise ValueError(f"flows.{n}.{key}: expected one of {known}, got {end!r}")
        if self.graph is not None and flow.pair is not None:
            raise ValueError(f"flows.{n}.pair: expected from and to, in a graph")
        if flow.from_ is not None and flow.from_ == flow.to:
            raise ValueError(f"flows.{n}.to: expected another node than {flow.from_!r}")

    @property
    def graph(self) -> Graph | None:
        """The network; None: it is a dumbbell."""
        return self.topology if isinstance(self.topology, Graph) else None

    @property
    def leads_outside(self) -> bool:
        """Has it a way to the outside network?"""
        return self.graph is not None and self.graph.outside is not None

    @property
    def pairs(self) -> list[Pair]:
        """The pairs of a dumbbell."""
        return self.topology.pairs if isinstance(self.topology, Topology) else []

    @property
    def host_names(self) -> list[str]:
        """Where programs may run."""
        if self.graph is not None:
            return self.graph.nodes
        assert isinstance(self.topology, Topology)
        return self.topology.hosts()

    @cached_property
    def routing(self) -> Routing:
        """Addresses and ways of a graph."""
        assert self.graph is not None
        return Routing(self.graph, self.ip)

    def links(self) -> dict[str, tuple[KeyPath, Link]]:
        """Each direction of each link, by its name in results: where it is described, and how."""
        if self.graph is None:
            named = {name: getattr(self.bottleneck, name) for name in ("forward", "reverse")}
            return {name: (("bottleneck", name), link) for name, link in named.items()}
        described = self.graph.described.items()
        return {name: (("topology", *path), link) for name, (path, link) in described}

    def copy_of(self, link: str) -> str:
        """What the name of a link begins with: that of its copy of the topology, or nothing."""
        return link.partition(".")[0] + "." if self.isolate else ""

    def link_named(self, name: str) -> Link:
        """How a link of a result is described."""
        return self.links()[name.removeprefix(self.copy_of(name))][1]

    def way(self, flow: Flow) -> list[str]:
        """The directions of links that a flow's data crosses, by name, those that are described."""
        if self.graph is None:
            return ["forward"]
        assert flow.from_ and flow.to  # _check_ends() sees to it
        links = self.links()
        way = self.routing.way(*self.routing.ends(flow.from_, flow.to))
        return [name for name in way if name in links]

    def node_settings(self, name: str) -> SenderSettings:
        """The settings of a node of a graph: profile, all, its part in flows, its own."""
        assert self.graph is not None
        profile = load_profile(self.profile)
        own = self.graph.hosts.get(name) or self.graph.routers[name]
        parts = [profile.all, self.hosts.all, own]
        if any(flow.from_ == name for flow in self.transfers):
            parts[1:1], parts[-1:-1] = [profile.senders], [self.hosts.senders]
        if any(flow.to == name for flow in self.transfers):
            parts[1:1], parts[-1:-1] = [profile.receivers], [self.hosts.receivers]
        result, advice = HostSettings(), Advice()
        for part in parts:
            result = result.merged_with(part)
            advice = advice.merged_with(getattr(part, "advice", None))
        return SenderSettings.model_construct(**dict(result), advice=advice)

    def node_mtu(self, name: str) -> int:
        """Bytes of IP in the largest packet that a node sends."""
        return self.node_settings(name).mtu or 1500

    def mtus(self, flow: Flow) -> tuple[int, int]:
        """Those of its sender and its receiver."""
        if self.graph is not None:
            assert flow.from_ and flow.to
            return self.node_mtu(flow.from_), self.node_mtu(flow.to)
        pair = flow.pair or self.pairs[0].name
        return self.mtu(pair, "sender"), self.mtu(pair, "receiver")

    def advice(self, pair: str) -> Advice | None:
        """The advice for a pair's sender, from its link or otherwise; None: none."""
        result = self.profile_of(pair).senders.advice or Advice()
        own = self._pair_hosts(pair).sender.advice
        result = result.merged_with(self.hosts.senders.advice).merged_with(own)
        published = self.bottleneck.forward.feedback is not None
        return result if published or result.has_rate else None

    def told(self) -> dict[tuple[str, str], Advice]:
        """What senders of a graph are advised, by sender and receiver."""
        found = {}
        for flow in self.transfers:
            assert flow.from_ and flow.to
            advice = self.node_settings(flow.from_).advice or Advice()
            links = [self.links()[name][1] for name in self.way(flow)]
            if advice.has_rate or any(link.feedback for link in links):
                found[flow.from_, flow.to] = advice
        return found

    def profile_of(self, pair: str) -> Profile:
        """The bundle of settings that a pair's hosts begin with."""
        return load_profile(self._pair_hosts(pair).profile or self.profile)

    def _pair_hosts(self, pair: str) -> PairHosts:
        """What is said of a pair's hosts."""
        return self.hosts.pairs.get(pair, NO_PAIR_HOSTS)

    def ends_by(self) -> int:
        """A time of the scenario, ns, by which its flows have ended."""
        ends = [f.start + f.duration for f in self.transfers if f.duration and f.after is None]
        known = len(ends) == len(self.flows)
        return min(max(ends), self.virtual_limit) if known else self.virtual_limit

    def modules(self) -> list[str]:
        """The kernel modules of this tree that it needs."""
        result = ["sch_wale"]
        if self.graph is not None:
            hosts: list[HostSettings] = [self.node_settings(name) for name in self.graph.nodes]
            told = bool(self.told()) or any(ln.feedback for _, ln in self.links().values())
        else:
            hosts = [self.host_settings(p.name, role) for p in self.pairs for role in ROLES]
            told = any(self.advice(pair.name) for pair in self.pairs)
        if told:
            result.append("rate_feedback")
        chosen = {flow.cc for flow in self.transfers} | {host.route.congctl for host in hosts}
        if chosen & OWN_CC:
            result.append("tcp_ratcp")
        return result

    def kernel_modules(self) -> list[str]:
        """Modules of the kernel's own that it needs beside what all have."""
        return ["bridge"] if self.graph is not None and self.graph.switches else []

    def needs_net(self) -> bool:
        """Does it need a guest's kernel with more of networks than all have (kernel-net.config)?"""
        links = [link for _, link in self.links().values()]
        qdiscs = {(link.qdisc or link.queue or "wale").split()[0] for link in links}
        plain = self.graph is None or self.graph.is_plain
        return bool(not plain or self.modprobe or qdiscs & NET_QDISCS)

    def host_settings(self, pair: str, role: Literal["sender", "receiver"]) -> HostSettings:
        """The settings of a host."""
        result, *special = self._host_layers(pair, role)
        for more in special:
            result = result.merged_with(more)
        return result

    def mtu(self, pair: str, role: Literal["sender", "receiver"]) -> int:
        """Bytes of IP in the largest packet that a host sends."""
        layers = self._host_layers(pair, role)
        return next((layer.mtu for layer in reversed(layers) if layer.mtu), 1500)

    def _host_layers(
        self, pair: str, role: Literal["sender", "receiver"]
    ) -> tuple[HostSettings, ...]:
        """What makes up a host's settings, each before what overrides it."""
        profile, hosts, own = self.profile_of(pair), self.hosts, self._pair_hosts(pair)
        if role == "sender":
            return profile.all, profile.senders, hosts.all, hosts.senders, own.sender
        return profile.all, profile.receivers, hosts.all, hosts.receivers, own.receiver

    def packet_bytes(self, pair: str) -> int:
        """Bytes of IP in the largest packet that both ends of a pair let by."""
        return min(self.mtu(pair, role) for role in ROLES)

    def resolved(self) -> dict[str, Any]:
        """Everything that the run depends on, as plain data: the digest covers it."""
        data = self.model_dump(mode="json")
        data["profile"] = load_profile(self.profile).model_dump(mode="json")
        if self.graph is not None:
            del data["bottleneck"]
        for newer, usual in (("events", []), ("modprobe", []), ("reseed", False), ("guests", 1)):
            if data[newer] == usual:
                del data[newer]
        for name, pair in self.hosts.pairs.items():
            if pair.profile is not None:
                profile = load_profile(pair.profile)
                data["hosts"]["pairs"][name]["profile"] = profile.model_dump(mode="json")
        return data


def find_scenario(name: str) -> Path:
    """The file of a scenario: a path, or the name of one in testbed/src/wale_lab/scenarios."""
    path = Path(name)
    ours = PACKAGE / "scenarios" / f"{name}.yaml"
    is_a_path = path.suffix in (".yaml", ".yml") or "/" in name
    if not is_a_path and ours.is_file():
        return ours
    if name and path.is_dir():
        raise ScenarioError(f"{name}: expected a YAML file, this is a folder")
    if name and path.exists():
        return path
    if is_a_path:
        raise ScenarioError(f"{name}: there is no such file")
    known = ", ".join(sorted(p.stem for p in ours.parent.glob("*.yaml")))
    raise ScenarioError(
        f"there is no scenario {name!r}; in testbed/src/wale_lab/scenarios: {known}"
    )


def load_scenario(path: Path, overrides: list[str] | None = None) -> Scenario:
    """Read, override and check a scenario; ScenarioError says what is wrong and where."""
    return check_scenario(yaml_lines.load(path), overrides or [], path.parent)


def check_scenario(document: Document, overrides: list[str], folder: Path) -> Scenario:
    """Check a scenario that has been read."""
    if not isinstance(document.value, dict):
        raise ScenarioError(f"{document.name}:1: expected keys and values: name, flows, ...")
    for assignment in overrides:
        yaml_lines.override(document, assignment)
    write_out(document, folder)
    inline_traces(document, folder)
    scenario = checked(Scenario, document)
    assert isinstance(scenario, Scenario)
    scenario._document, scenario._folder = document, folder
    chosen: list[tuple[KeyPath, str | None]] = [(("profile",), scenario.profile)]
    for name, pair in scenario.hosts.pairs.items():
        chosen.append((("hosts", "pairs", name, "profile"), pair.profile))
    for path, profile in chosen:
        try:
            load_profile(profile or scenario.profile)
        except ScenarioError as error:
            raise ScenarioError(f"{document.where(path)}: {error}") from None
    _check_ways(scenario, document)
    _check_packets(scenario, document)
    _check_limits(scenario, document)
    _check_times(scenario, document)
    _check_advice(scenario, document)
    return scenario


def _check_packets(scenario: Scenario, document: Document) -> None:
    """Refuse constant flows whose packets do not fit into their sender's interface."""
    for n, flow in enumerate(scenario.flows):
        if isinstance(flow, Program):
            continue
        mtu, _ = scenario.mtus(flow)
        if flow.constant and flow.constant.packet > mtu:
            path = ("flows", n, "constant", "packet")
            raise ScenarioError(
                f"{document.where(path)}: {show(path)}expected at most {mtu} bytes, the mtu of "
                f"its sender, got {flow.constant.packet}"
            )


def _check_limits(scenario: Scenario, document: Document) -> None:
    """Refuse a buffer that no full packet fits into: no flow would ever end."""
    largest = max(
        [scenario.packet_bytes(pair.name) for pair in scenario.pairs]
        or [min(scenario.mtus(flow)) for flow in scenario.transfers],
        default=1500,
    )
    for where, link in scenario.links().values():
        if link.qdisc is not None or link.limit.endswith("p"):
            continue
        least, unit = wire_bytes(link, largest), "bytes"
        size = int(link.limit.removesuffix("b").removesuffix(" cells"))
        if link.limit.endswith(" cells"):
            least, unit = least // 53, "cells"
        if size < least:
            path = (*where, "limit")
            raise ScenarioError(
                f"{document.where(path)}: {show(path)}expected a buffer for at least one packet, "
                f"which takes {least} {unit}, got {size} {unit}"
            )


def _check_times(scenario: Scenario, document: Document) -> None:
    """Refuse what would begin when the run is over."""
    begins: dict[str, int] = {}
    times: list[tuple[KeyPath, int]] = [(("record", "settled"), scenario.record.settled or 0)]
    for where, link in scenario.links().values():
        times.append(((*where, "start"), link.start or 0))
    for n, flow in enumerate(scenario.flows):
        begins[flow.name] = flow.start + (begins[flow.after] if flow.after else 0)
        times.append((("flows", n, "start"), begins[flow.name]))
    times += [(("events", n, "at"), event.at) for n, event in enumerate(scenario.events)]
    for path, time in times:
        if time >= scenario.virtual_limit:
            limit, at = (units.show_time_ns(ns) for ns in (scenario.virtual_limit, time))
            raise ScenarioError(
                f"{document.where(path)}: {show(path)}expected a time before virtual_limit, "
                f"{limit}, got {at} after the scenario's start"
            )


def _check_advice(scenario: Scenario, document: Document) -> None:
    """Refuse feedback that nobody can hear, and settings of advice that nobody gives."""

    def refuse(path: KeyPath, why: str) -> None:
        raise ScenarioError(f"{document.where(path)}: {show(path)}expected {why}")

    if scenario.graph is not None:
        _check_advice_of_graph(scenario, refuse)
        return
    if scenario.bottleneck.reverse.feedback is not None:
        where = ("bottleneck", "reverse", "feedback")
        refuse(where, "feedback on the forward link alone: no flow sends on the reverse one")
    hosts = scenario.hosts
    told = [p.name for p in scenario.pairs if scenario.advice(p.name)]
    if hosts.senders.advice is not None and not told:
        refuse(("hosts", "senders", "advice"), "a rate, steps, or feedback on the forward link")
    for name, pair in hosts.pairs.items():
        if pair.sender.advice is not None and name not in told:
            refuse(
                ("hosts", "pairs", name, "sender", "advice"),
                "a rate, steps, or feedback on the forward link",
            )
    for name in told:
        advice = scenario.advice(name)
        if advice and advice.impair and (why := _no_impair(scenario, advice.impair)):
            own = hosts.pairs.get(name, NO_PAIR_HOSTS).sender.advice
            whose: KeyPath = ("pairs", name, "sender") if own and own.impair else ("senders",)
            refuse(("hosts", *whose, "advice", "impair"), why)


def _check_advice_of_graph(scenario: Scenario, refuse: Callable[[KeyPath, str], None]) -> None:
    """The same, where several links may tell their rates."""
    assert scenario.graph is not None
    told, senders = scenario.told(), {flow.from_ for flow in scenario.transfers}
    for name, settings in scenario.graph.hosts.items():
        path: KeyPath = ("topology", "hosts", name, "advice")
        if settings.advice is not None and name not in {sender for sender, _ in told}:
            what = "a rate, steps, or feedback on the way of its flows"
            refuse(path, what if name in senders else "a host that a flow is from")
    if scenario.hosts.senders.advice is not None and not told:
        refuse(("hosts", "senders", "advice"), "a rate, steps, or feedback on the way of a flow")
    if any(advice.impair for advice in told.values()):
        refuse(("hosts",), "no impair of advice: it is for a dumbbell, whose one link is told")
    if scenario.graph.advice == "max-min":
        for name in {name for flow in scenario.transfers for name in scenario.way(flow)}:
            where, link = scenario.links()[name]
            if link.trace or link.sessions or link.qdisc:
                refuse(where, "a rate that does not change, with advice: max-min")


def _check_ways(scenario: Scenario, document: Document) -> None:
    """Refuse flows that no packet of arrives, and routes to where there is no link."""
    if scenario.graph is None:
        return
    path: KeyPath = ("topology",)
    try:
        routing = scenario.routing
        for n, route in enumerate(scenario.graph.routes):
            path = ("topology", "routes", n, "via")
            routing.said_hop(route.at, route.to)
        for n, tunnel in enumerate(scenario.graph.tunnels):
            path = ("topology", "tunnels", n)
            routing.under.ends(*tunnel.ends)
        for n, event in enumerate(scenario.events):
            path = ("events", n, "route", "via")
            if event.route is not None:
                pair = (event.route.at, event.route.to)
                Routing(scenario.graph, scenario.ip, State(said={pair: event.route.via})).said_hop(
                    *pair
                )
        for n, flow in enumerate(scenario.flows):
            if isinstance(flow, Program):
                continue
            path = ("flows", n)
            assert flow.from_ and flow.to
            ends = routing.ends(flow.from_, flow.to)
            routing.way(*ends)
            routing.way(*ends[::-1])
            connects = ends if flow.constant or flow.tool == "iperf3" else ends[::-1]
            if router := routing.blocked(*connects):
                raise NoWayError(
                    f"expected {connects[0].node}, which connects, inside of the NAT of {router}: "
                    f"what begins outside is dropped"
                )
    except NoWayError as error:
        raise ScenarioError(f"{document.where(path)}: {show(path)}{error}") from None


def _no_impair(scenario: Scenario, impair: Impair) -> str | None:
    """What was expected, if the rate of the forward link cannot be told poorly."""
    link = scenario.bottleneck.forward
    if not (link.sessions or link.trace):
        return "sessions or a trace on the forward link: its rate is told, and has to change"
    if link.start is not None:
        return "no start of the forward link: what is told begins with it"
    if scenario.time == "real":
        return "time: virtual, where it is known beforehand when the link starts"
    step = min(impair.interval, link.sessions.step if link.sessions else impair.interval)
    if scenario.ends_by() > MAX_ANNOUNCEMENTS * step:
        length, shortest = (units.show_time_ns(ns) for ns in (scenario.ends_by(), step))
        return (
            f"at most {MAX_ANNOUNCEMENTS} steps: flows may last {length}, a step {shortest} "
            "(give flows a duration, or a lower virtual_limit)"
        )
    return None
