# SPDX-License-Identifier: GPL-2.0
"""How the network of a plan is cut into parts, each of which has a guest of its own.

It is cut at links whose packets take a fixed time in both directions, as windows of virtual time
are as long as that (engines/together.py).  What is joined otherwise stays together.  A link that is
cut keeps its qdisc, without the delay, which the wire between the guests has.  A sender that
follows a link of another guest is told its rate by a wire of its own (topologies/told.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from heapq import heappop, heappush
from typing import Any, Literal

import networkx as nx

from wale_lab.engines.base import GUESTS_MAX
from wale_lab.engines.together import LATENESS_NS, LEAST_DELAY_NS, RINGS_MAX, Wire, slack_ns
from wale_lab.guest.commands import client_command, server_command
from wale_lab.topologies.plan import Plan, PlannedLink
from wale_lab.topologies.told import Told, followed, following, network, way_ns

#: `guests: auto` cuts no link that is shorter: windows would eat the gain.
AUTO_DELAY_NS = 1_000_000
#: So many guests `auto` makes: it must not depend on the machine.
AUTO_GUESTS = 2

#: Options of a link that leave its delay a constant.
_FIXED = {"rate", "delay", "limit", "overhead", "drop_report", "seed", "loss", "idle"}

Guests = int | Literal["auto", "per-host"]


class CutError(Exception):
    """What was expected of a network that cannot be cut as it should be."""


@dataclass(frozen=True)
class Port:
    """The end of a wire between guests: a device that is there, and what it is to become."""

    wire: int
    netns: str
    dev: str
    mac: str
    mtu: int


@dataclass
class Cut:
    """Which namespace is in which guest, and the wires between guests."""

    guest_of: dict[str, int]
    kernels: dict[int, str] = field(default_factory=dict)  # of guests whose hosts want one
    wires: list[Wire] = field(default_factory=list)
    ports: list[Port] = field(default_factory=list)
    lines: set[str] = field(default_factory=set)  # of the plan, that those replace
    told: list[Told] = field(default_factory=list)  # by wires behind those of ports

    @property
    def guests(self) -> int:
        """How many there are."""
        return max(self.guest_of.values()) + 1

    def described(self) -> list[list[str]]:
        """The namespaces of each guest, for the result."""
        return [[n for n, at in self.guest_of.items() if at == g] for g in range(self.guests)]

    def delays_ns(self, links: Sequence[dict[str, Any]]) -> dict[str, int]:
        """The delays that wires have instead of their links, of a plan's."""
        of_wires = {
            (port.netns, port.dev): self.wires[port.wire].delays_ns[number % 2]
            for number, port in enumerate(self.ports)  # two of each wire
        }
        ends = {link["name"]: (link["netns"], link["dev"]) for link in links}
        return {name: of_wires[end] for name, end in ends.items() if end in of_wires}


@dataclass(frozen=True)
class _Veth:
    """What a line of a plan says (plan.veth)."""

    line: str
    ends: tuple[Port, Port]
    delays_ns: tuple[int, int] | None  # of a link that can be cut
    rates_bps: tuple[int | None, int | None]


_LINE = re.compile(
    r"link add (?P<dev0>\S+) netns (?P<ns0>\S+) address (?P<mac0>\S+) mtu (?P<mtu0>\d+) .*"
    r"peer (?P<dev1>\S+) netns (?P<ns1>\S+) address (?P<mac1>\S+) mtu (?P<mtu1>\d+) "
)

#: A device that a namespace makes in another one (overlays.macvlan_line).
_ELSEWHERE = re.compile(r"^link add link .* netns (\S+)")


def cut(plan: Plan, guests: Guests, kernels: dict[str, str]) -> Cut:
    """Cut a plan's network; CutError if it does not fall into so many parts.

    `kernels` are those that namespaces want: each has one in its guest.
    """
    veths = _veths(plan)
    least_ns = AUTO_DELAY_NS if guests == "auto" else LEAST_DELAY_NS
    loose = [v for v in veths if v.delays_ns and min(v.delays_ns) >= least_ns]
    ways = _ways(veths)
    parts = _parts(plan, veths, loose, ways)
    links = f"links with a fixed delay of at least {least_ns // 1000} us in both directions"
    if isinstance(guests, int) and guests > len(parts):
        raise CutError(
            f"at most {len(parts)}: the network falls into so many parts at {links}, got {guests}"
        )
    wanted = {"auto": AUTO_GUESTS, "per-host": GUESTS_MAX}.get(str(guests)) or int(guests)
    of_parts = [_kernel_of(part, kernels, links) for part in parts]
    if kernels and len(parts) == 1:
        raise CutError(f"a network that {links} part, where hosts ask for kernels, got {guests}")
    guest_of = _balanced(plan, parts, _near(parts, loose), of_parts, min(wanted, len(parts)))
    result = Cut(guest_of, {guest_of[ns]: kernel for ns, kernel in kernels.items()})
    for veth in loose:
        at = tuple(guest_of[end.netns] for end in veth.ends)
        if at[0] != at[1]:
            assert veth.delays_ns is not None
            number = len(result.wires)
            result.wires.append(Wire((at[0], at[1]), veth.delays_ns, veth.rates_bps))
            result.ports += [Port(number, e.netns, e.dev, e.mac, e.mtu) for e in veth.ends]
            result.lines.add(veth.line)
    _tell(result, plan, ways)
    if 2 * len(result.wires) > RINGS_MAX:
        most = RINGS_MAX // 2
        raise CutError(
            f"at most {most} links between guests, got {len(result.wires)} with {result.guests} "
            "guests"
        )
    return result


def _tell(made: Cut, plan: Plan, ways: nx.MultiDiGraph[str]) -> None:
    """Add a wire for each link and each other guest in which senders follow it.

    It takes as long as a packet from that link to the nearest of them.
    """
    delays_ns: dict[tuple[str, str, int], int] = {}
    for advice in plan.advice:
        link, guest = followed(advice.rate), made.guest_of[advice.netns]
        if link and made.guest_of[link.netns] != guest:
            key = (link.netns, link.dev, guest)
            far_ns = way_ns(ways, link.netns, advice.netns)
            assert far_ns is not None
            delays_ns[key] = min(far_ns, delays_ns.get(key, far_ns))
    for (netns, dev, guest), delay_ns in delays_ns.items():
        made.told.append(Told(len(made.wires), netns, dev, guest))
        made.wires.append(Wire((made.guest_of[netns], guest), (delay_ns, delay_ns), (0, 0)))


def _ways(veths: Sequence[_Veth]) -> nx.MultiDiGraph[str]:
    """How long packets are on their way at least, by each veth."""
    return network(
        (veth.ends[n].netns, veth.ends[1 - n].netns, veth.delays_ns[n] if veth.delays_ns else 0)
        for veth in veths
        for n in (0, 1)
    )


def _veths(plan: Plan) -> list[_Veth]:
    links = {(link.netns, link.dev): link for link in plan.links}
    found = []
    for line in plan.wires:
        match = _LINE.match(line)
        assert match is not None, line
        ends = tuple(
            Port(-1, match[f"ns{n}"], match[f"dev{n}"], match[f"mac{n}"], int(match[f"mtu{n}"]))
            for n in (0, 1)
        )
        of = [links.get((end.netns, end.dev)) for end in ends]
        delays = [fixed_delay_ns(link) if link else None for link in of]
        rates = [_rate_bps(link) if link else None for link in of]
        both = (delays[0], delays[1]) if delays[0] and delays[1] else None
        found.append(_Veth(line, (ends[0], ends[1]), both, (rates[0], rates[1])))
    return found


def _options(link: PlannedLink) -> dict[str, str] | None:
    """The options of a link, if each has one word as its value (feedback: that of idle)."""
    words = [word for word in link.words[1:] if word != "feedback"]
    return None if len(words) % 2 else dict(zip(words[::2], words[1::2], strict=True))


def fixed_delay_ns(link: PlannedLink) -> int | None:
    """How long a link's packets are on their way, if that is always the same; else None."""
    options = _options(link)
    steady = link.trace is None or all(len(line.split()) == 2 for line in link.trace.lines)
    if link.kind != "wale" or not steady or options is None or set(options) - _FIXED:
        return None
    delay = re.fullmatch(r"(\d+)ns", options.get("delay", ""))  # tc has other units, too
    return int(delay[1]) if delay and link.words.count("delay") == 1 else None


def _rate_bps(link: PlannedLink) -> int | None:
    rate = re.fullmatch(r"(\d+)bit", (_options(link) or {}).get("rate", ""))
    return int(rate[1]) if rate and link.trace is None else None


def _parts(
    plan: Plan, veths: Sequence[_Veth], loose: Sequence[_Veth], ways: nx.MultiDiGraph[str]
) -> list[list[str]]:
    """The namespaces that stay together, in the order of the plan.

    They are joined by wires that are not `loose`, by devices that one makes in another, and by
    advice that is read younger than a wire could bring it.
    """
    part = {ns.name: {ns.name} for ns in plan.namespaces}
    joins = [tuple(end.netns for end in veth.ends) for veth in veths if veth not in loose]
    joins += [
        (ns.name, of[1]) for ns in plan.namespaces for of in map(_ELSEWHERE.search, ns.ip) if of
    ]
    for advice in plan.advice:
        link = followed(advice.rate)
        if link and link.netns != advice.netns:
            far_ns = way_ns(ways, link.netns, advice.netns)
            if far_ns is None or far_ns + LATENESS_NS > link.lag_ns:
                joins.append((advice.netns, link.netns))
    for one, other in joins:
        if part[one] is not part[other]:
            part[one] |= part[other]
            for name in part[other]:
                part[name] = part[one]
    order = [ns.name for ns in plan.namespaces]
    unique = {id(names): names for names in part.values()}
    return sorted(
        (sorted(names, key=order.index) for names in unique.values()),
        key=lambda names: order.index(names[0]),
    )


def _kernel_of(part: Sequence[str], kernels: dict[str, str], links: str) -> str | None:
    """The kernel that the namespaces of a part want; None: any.  `links` are those to cut at."""
    wanted = sorted({kernels[name] for name in part if name in kernels})
    if len(wanted) > 1:
        got = " and ".join(wanted)
        raise CutError(f"one kernel for {', '.join(part)}, which no {links} part, got {got}")
    return wanted[0] if wanted else None


def _near(parts: Sequence[Sequence[str]], loose: Sequence[_Veth]) -> list[dict[int, int]]:
    """The neighbours of each part, with the delay of the shortest link to them, in ns."""
    part_of_name = {name: number for number, part in enumerate(parts) for name in part}
    near: list[dict[int, int]] = [{} for _ in parts]
    for veth in loose:
        one, other = (part_of_name[end.netns] for end in veth.ends)
        assert veth.delays_ns is not None
        if one != other:
            delay_ns = min(*veth.delays_ns, near[one].get(other, veth.delays_ns[0]))
            near[one][other] = near[other][one] = delay_ns
    return near


def _walk(near: Sequence[dict[int, int]], start: int) -> list[int]:
    """All parts, each time the one that is nearest to those before (Prim's order).

    Of several, one that leads to few others, so that little is left behind.
    """
    order: dict[int, None] = {}
    for first in (start, *range(len(near))):  # the network may fall into several
        reached = [(0, 0, first)]
        while reached:
            *_, part = heappop(reached)
            if part not in order:
                order[part] = None
                for other, delay_ns in near[part].items():
                    heappush(reached, (delay_ns, len(near[other]), other))
    return list(order)


def _balanced(
    plan: Plan,
    parts: Sequence[Sequence[str]],
    near: Sequence[dict[int, int]],
    kernels: Sequence[str | None],
    guests: int,
) -> dict[str, int]:
    """A guest for each part: that of neighbours, until it has its share of the ends of flows.

    Before, each kernel has its first part.  The walk begins at an end of the network, so that few
    links are cut, and goes on to what is near, so that those are long.
    """
    ends = [end for flow in plan.flows for end in (flow.sender_netns, flow.receiver_netns)]
    ends += [program.netns for program in plan.programs]
    weight = [1 + 10 * sum(end in part for end in ends) for part in parts]
    heaviest_last = sorted(range(len(parts)), key=lambda n: (weight[n], -n))
    firsts = {kernels[n]: n for n in heaviest_last if kernels[n]}
    if len(firsts) > guests:
        raise CutError(f"at least {len(firsts)}, one for each kernel, got {guests}")
    order = _walk(near, _walk(near, 0)[-1])
    order.sort(key=lambda n: n not in firsts.values())
    share = sum(weight) / guests
    loads = [0] * guests
    chosen: dict[int, int] = {}
    kernel_of: list[str | None] = [None] * guests
    for n in order:
        fit = [g for g in range(guests) if not loads[g] or kernels[n] in (None, kernel_of[g])]
        beside = {chosen[other] for other in near[n] if other in chosen}
        room = [g for g in fit if g in beside and loads[g] + weight[n] / 2 <= share]
        if len(parts) - len(chosen) == loads.count(0):  # each guest has one
            room = [g for g in fit if not loads[g]]
        chosen[n] = min(room or fit, key=lambda g: (loads[g], g))
        loads[chosen[n]] += weight[n]
        kernel_of[chosen[n]] = kernel_of[chosen[n]] or kernels[n]
    numbers: dict[int, int] = {}
    for n in range(len(parts)):  # numbered in the order of the plan
        numbers.setdefault(chosen[n], len(numbers))
    return {name: numbers[chosen[n]] for n, part in enumerate(parts) for name in part}


def part_of(data: dict[str, Any], made: Cut, guest: int) -> dict[str, Any]:
    """What the agent of a guest is to do, of what is planned for all (plan_data)."""

    def is_here(netns: str) -> bool:
        return made.guest_of[netns] == guest

    return {
        **data,
        "guests": made.guests,
        "namespaces": [ns for ns in data["namespaces"] if is_here(ns["name"])],
        "wires": [ln for ln in data["wires"] if ln not in made.lines and is_here(_netns(ln))],
        "ports": [asdict(port) for port in made.ports if is_here(port.netns)],
        "links": [_at_ends(ln, made) for ln in data["links"] if is_here(ln["netns"])],
        "advice": [_told(one, made, guest) for one in data["advice"] if is_here(one["netns"])],
        "told": [asdict(one) for one in made.told if is_here(one.netns)],
        "telling": [one.wire for one in made.told if one.guest == guest],
        "programs": [one for one in data["programs"] if is_here(one["netns"])],
        "watched": bool(data["programs"]),
        "changes": [change for change in data["changes"] if is_here(change["netns"])],
        "flows": [here for flow in data["flows"] if (here := _flow_here(flow, is_here))],
        "record": {
            **data["record"],
            "namespaces": {k: v for k, v in data["record"]["namespaces"].items() if is_here(k)},
            **{k: [n for n in data["record"][k] if is_here(n)] for k in ("channel", "sockets")},
        },
    }


def _netns(line: str) -> str:
    """That of the first end of a line of plan.veth()."""
    match = _LINE.match(line)
    assert match is not None, line
    return match["ns0"]


def _at_ends(link: dict[str, Any], made: Cut) -> dict[str, Any]:
    """A link; of one that is cut, the wire has the delay, and takes packets late, many at once.

    One that publishes its rate does not let its timer wait: the rate would be late, too.
    """
    delay_ns = made.delays_ns([link]).get(link["name"])
    if delay_ns is None:
        return link
    words = list(link["words"])
    words[words.index("delay") + 1] = "0ns"
    if "feedback" not in words:
        words += ["slack", f"{slack_ns(delay_ns)}ns"]
    return {**link, "words": words}


def _told(advice: dict[str, Any], made: Cut, guest: int) -> dict[str, Any]:
    """Advice that follows a link, or the wire that tells this guest about it."""
    link = followed(advice["rate"])
    wires = {(one.netns, one.dev): one.wire for one in made.told if one.guest == guest}
    if not link or (link.netns, link.dev) not in wires:
        return advice
    return {**advice, "rate": following(wires[link.netns, link.dev], advice["rate"])}


def _flow_here(flow: dict[str, Any], is_here: Callable[[str], bool]) -> dict[str, Any] | None:
    """A flow, with its ends that are in a guest; None if none is."""
    ends = {"server": server_command(flow)[1], "client": client_command(flow, 0, 0)[1]}
    here = [end for end, netns in ends.items() if is_here(netns)]
    return {**flow, "here": here} if here else None
