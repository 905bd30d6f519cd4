# SPDX-License-Identifier: GPL-2.0
"""Messages for sch_wale, from its specification, and what must hold of its links."""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterator, Sequence
from random import Random

from wale_lab.fuzz import values
from wale_lab.fuzz.grammar import Attribute, Grammar
from wale_lab.fuzz.tally import Tally
from wale_lab.fuzz.wire import Message, Wire, head, walk
from wale_lab.netlink import (
    NLA_F_NESTED,
    NLA_TYPE_MASK,
    NLM_F_ACK,
    NLM_F_CREATE,
    NLM_F_DUMP,
    NLM_F_EXCL,
    NLM_F_REPLACE,
)
from wale_lab.selftest.wale import (
    RTM_DELQDISC,
    RTM_GETQDISC,
    RTM_NEWQDISC,
    TCA_KIND,
    TCA_OPTIONS,
    Qdisc,
)

TCMSG = struct.Struct("=B3xiIII")  # family, ifindex, handle, parent, info
BEGIN = 36  # of the attributes
#: Commands: name, type, flags, how often.
COMMANDS = (
    ("change", RTM_NEWQDISC, 0, 40),
    ("replace", RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, 18),
    ("add", RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, 14),
    ("new", RTM_NEWQDISC, NLM_F_CREATE, 5),
    ("del", RTM_DELQDISC, 0, 8),
    ("get", RTM_GETQDISC, 0, 10),
    ("dump", RTM_GETQDISC, NLM_F_DUMP, 5),
)
_WEIGHTS = [command[3] for command in COMMANDS]
_NAMES = {(kind, flags): name for name, kind, flags, _ in COMMANDS}

#: Policies of a buffer, by their numbers, and their parameters.
SWITCHES = (
    (0, ()),
    (1, ("threshold-share",)),
    (2, ("threshold-share", "z", "flows")),
    (3, ("threshold", "z")),
    (4, ("last",)),
)
ATM = 2
SPLIT = 0
#: What is not shown if it bounds nothing.
UNBOUNDED = {"line-packets": b"\xff" * 4, "line-bytes": b"\xff" * 8}
#: What is not shown if it is 0, or empty.
ONLY_IF_ON = frozenset(
    "mark loss-ecn reorder duplicate corrupt corrupt-fix slack gso drop-list down-drops mpu "
    "overhead-bytes loss-correlation jitter-correlation".split()
)

Position = tuple[int, int, int]  # ifindex, parent, handle


class Link:
    """One of the two interfaces under test (the other is channel.Channel)."""

    name = "sch_wale"

    def __init__(self, grammar: Grammar) -> None:
        self.options = grammar.sets["options"]
        self.settable = tuple(a for a in self.options if a.kind != "pad" and not a.dump_only)
        self.nested = {a.name for a in self.options if a.kind == "nest"}
        self.number = {attribute.name: attribute.number for attribute in self.options}
        self.positions: Sequence[Position] = ()
        self.pools: values.Pools = {}
        self.recent: list[bytes] = []

    def expected(self) -> tuple[list[str], list[str]]:
        """Return what must be accepted and refused, and what must be refused only."""
        both = [f"{self.name} {name}" for name, *_ in COMMANDS if name != "dump"]
        never: list[str] = []
        for attribute in self.options:
            if attribute.kind == "pad":
                continue
            names = [f"{self.name} {attribute.name}"]
            inner = [a.name for a in attribute.inner if attribute.kind == "nest"]
            names += [f"{names[0]}.{name}" for name in inner if name != "pad"]
            (both if attribute in self.settable else never).extend(names)
        return both, never

    # ---- messages

    def make(self, rng: Random) -> Message:
        """Return a message of the grammar: good, or damaged in one place or a few."""
        _, kind, flags, _ = rng.choices(COMMANDS, _WEIGHTS)[0]
        nodes = self._request(rng, kind)
        chance = rng.random()
        if chance < 0.35 and kind == RTM_NEWQDISC and len(nodes) > 1:
            assert isinstance(nodes[1].payload, list)
            values.damage(rng, nodes[1].payload, self.options)
            while rng.random() < 0.2:
                values.damage(rng, nodes[1].payload, self.options)
        elif chance < 0.4:
            values.damage(rng, nodes, ())
        flags |= NLM_F_ACK if rng.random() < 0.95 else 0
        flags ^= rng.choice((0x100, 0x200, 0x400, 0x800, 8)) if rng.random() < 0.05 else 0
        data = bytearray(head(kind, flags)) + self._place(rng) + values.encode(nodes)
        if rng.random() < 0.02:
            self.recent = [*self.recent[-50:], bytes(data)]
        return Message(data, "grammar", nodes)

    def _place(self, rng: Random) -> bytes:
        ifindex, parent, handle = rng.choice(self.positions)
        if rng.random() < 0.05:
            odd = (0, 1, 0x10000, 0x1FFFF, 0xFFFF0000, 0xFFFFFFF1, 0xFFFFFFF2, rng.getrandbits(32))
            parent, handle = rng.choice(((rng.choice(odd), handle), (parent, rng.choice(odd))))
        if rng.random() < 0.02:
            ifindex = rng.choice((0, -1, 9999))
        return TCMSG.pack(0, ifindex, handle, parent, 0)

    def _request(self, rng: Random, kind: int) -> list[values.Node]:
        name = b"wale\0"
        if rng.random() < 0.02:
            name = rng.choice((b"", b"wale", b"wal\0", b"pfifo\0", b"w" * 15, b"w" * 40))
        if kind != RTM_NEWQDISC:
            return [values.Node(TCA_KIND, name)] if rng.random() < 0.2 else []
        flag = NLA_F_NESTED if rng.random() < 0.5 else 0
        if rng.random() < 0.1:
            return [values.Node(TCA_KIND, name), values.Node(TCA_OPTIONS | flag, self._switch(rng))]
        count = rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 6))
        chosen = rng.sample(self.settable, count)
        if rng.random() < 0.8:
            chosen = [a for a in chosen if not self._excluded(a.name, [c.name for c in chosen])]
        if any(a.name == "trace" for a in chosen) and rng.random() < 0.5:
            chosen += [a for a in self.settable if a.name == "trace-columns" and a not in chosen]
        options = [values.node(rng, attribute, self.pools) for attribute in chosen]
        values.fit_columns(rng, options, self.options, self.pools)
        return [values.Node(TCA_KIND, name), values.Node(TCA_OPTIONS | flag, options)]

    def _switch(self, rng: Random) -> list[values.Node]:
        """Return options of a buffer that is shared: chance seldom has them together."""
        policy, parameters = rng.choice(SWITCHES)
        names = ["limit-cells", "input-rate64"] if rng.random() < 0.7 else ["limit-packets"]
        names += rng.sample(parameters, rng.randint(0, len(parameters)))
        known = {attribute.name: attribute for attribute in self.settable}
        nodes = [values.node(rng, known[name], self.pools) for name in names]
        fixed = {"policy": policy, "overhead": ATM, "gso": SPLIT}
        return nodes + [values.Node(self.number[n], struct.pack("I", v)) for n, v in fixed.items()]

    @staticmethod
    def _excluded(name: str, others: Sequence[str]) -> bool:
        """Tell whether an option cannot come with, or without, others."""
        timed = ("trace", "trace-fd", "sessions")
        if name == "start":
            return not any(other in others for other in timed)
        if name in ("trace", "trace-fd"):
            return any(other in others for other in ("rate64", *timed) if other != name)
        if name in ("trace-end", "trace-columns"):
            some = "trace" in others or "trace-fd" in others
            return not some or "rate64" in others or "sessions" in others
        if name == "limit-cells":
            return "overhead" not in others
        if name == "gso":
            return "limit-cells" in others or "corrupt" in others
        losses = ("loss", "loss-gemodel", "loss-state")
        if name in losses:
            return any(other in others for other in losses[: losses.index(name)])
        if name == "threshold-share":
            return "threshold" in others
        limits = ("limit-cells", "limit-packets")
        return name in ("limit-bytes", "limit-packets") and any(
            limit in others for limit in limits if limit != name
        )

    def repair(self, data: bytearray) -> None:
        """Have a mutated message go to the qdiscs of the devices that are there for it."""
        if len(data) >= 6:
            kind = struct.unpack_from("H", data, 4)[0]
            if kind not in (RTM_NEWQDISC, RTM_DELQDISC, RTM_GETQDISC):
                struct.pack_into("H", data, 4, RTM_NEWQDISC)
        if len(data) >= 24:
            (ifindex,) = struct.unpack_from("i", data, 20)
            if ifindex not in [position[0] for position in self.positions]:
                struct.pack_into("i", data, 20, self.positions[ifindex % len(self.positions)][0])

    # ---- what a message was

    def is_admin(self, message: Message) -> bool:
        """Tell whether a message needs CAP_NET_ADMIN."""
        return message.kind in (RTM_NEWQDISC, RTM_DELQDISC)

    def names(self, message: Message) -> Iterator[str]:
        """Yield the command and the options of a message, for the tally."""
        if message.torn or len(message.data) < BEGIN:
            return
        mask = NLM_F_CREATE | NLM_F_EXCL | NLM_F_REPLACE
        known = _NAMES.get((message.kind, message.flags & mask))
        if known:
            yield f"{self.name} {known}"
        if message.kind != RTM_NEWQDISC:
            return
        for number, begin, end in walk(message.data, BEGIN, len(message.data)):
            if number & NLA_TYPE_MASK == TCA_OPTIONS:
                yield from self._inside(message.data, begin, end, self.options, self.name + " ")

    def _inside(
        self, data: bytearray, begin: int, end: int, known: tuple[Attribute, ...], prefix: str
    ) -> Iterator[str]:
        for number, first, last in walk(data, begin, end):
            if 1 <= number & NLA_TYPE_MASK <= len(known):
                attribute = known[(number & NLA_TYPE_MASK) - 1]
                yield prefix + attribute.name
                if attribute.kind == "nest":
                    name = f"{prefix}{attribute.name}."
                    yield from self._inside(data, first, last, attribute.inner, name)

    def unexplained(self, message: Message) -> bool:
        """Tell whether a refusal lacks the words that it owes."""
        if message.kind != RTM_NEWQDISC or message.text or message.nodes is None:
            return False
        if b"wale\0" not in message.data:  # another qdisc refuses as it likes
            return False
        return message.error in (errno.EINVAL, errno.ERANGE)

    # ---- what is there

    def qdiscs(self, wire: Wire) -> list[tuple[Position, str, bytes, Qdisc]]:
        """Return place, kind, options and statistics of each qdisc of the devices under test."""
        devices = {position[0] for position in self.positions}
        result = []
        for part in wire.dump(RTM_GETQDISC, TCMSG.pack(0, 0, 0, 0, 0)):
            qdisc = Qdisc(part)
            options = b""
            for number, begin, end in walk(part, 20, len(part)):
                if number & NLA_TYPE_MASK == TCA_OPTIONS:
                    options = part[begin:end]
            if qdisc.ifindex in devices:
                place = (qdisc.ifindex, qdisc.parent, qdisc.handle)
                result.append((place, qdisc.kind, options, qdisc))
        return result

    def snapshot(self, wire: Wire) -> dict[Position, tuple[str, bytes]]:
        """Return what only a request changes."""
        return {place: (kind, options) for place, kind, options, _ in self.qdiscs(wire)}

    def _decode(self, data: bytes) -> dict[str, bytes]:
        found = {}
        for number, begin, end in walk(data, 0, len(data)):
            if 1 <= number & NLA_TYPE_MASK <= len(self.options):
                found[self.options[(number & NLA_TYPE_MASK) - 1].name] = data[begin:end]
        return found

    def check_accepted(self, wire: Wire, message: Message, tally: Tally) -> None:
        """What was accepted is what is shown."""
        if message.kind != RTM_NEWQDISC or message.nodes is None:
            return
        given: dict[str, bytes] = {}
        for number, begin, end in walk(message.data, BEGIN, len(message.data)):
            if number & NLA_TYPE_MASK == TCA_OPTIONS:
                given = self._decode(bytes(message.data[begin:end]))
        _, ifindex, handle, parent, _ = TCMSG.unpack_from(message.data, 16)
        for place, (kind, options) in self.snapshot(wire).items():
            asked = place[1] == parent if parent else place[2] == handle
            if place[0] != ifindex or not asked or kind != "wale":
                continue
            shown = self._decode(options)
            for name in given.keys() - self.nested - {"pad", "trace", "trace-fd", "trace-columns"}:
                off = name in ONLY_IF_ON and not any(given[name])  # and is not shown then
                off |= name == "reorder-gap" and "reorder" not in shown
                off |= given[name] == UNBOUNDED.get(name)
                if shown.get(name) != (None if off else given[name]):
                    what = f"{name} was accepted as another value than is shown"
                    detail = f"{given[name]!r}, {shown.get(name)!r}"
                    tally.finding(self.name, what, [message], detail)
            tally.checks["shown as set"] += 1

    def _in_range(self, data: bytes, known: tuple[Attribute, ...]) -> Iterator[str]:
        """Yield what is shown out of its range."""
        columns: int | None = None  # which come before what has them
        for number, begin, end in walk(data, 0, len(data)):
            attribute = known[(number & NLA_TYPE_MASK) - 1]
            payload = data[begin:end]
            if attribute.name == "trace-columns":
                columns = attribute.unpack(payload)
            if attribute.kind == "nest":
                yield from self._in_range(payload, attribute.inner)
            elif attribute.kind == "struct":
                attribute = attribute.with_columns(columns)
                sizes = [member.size for member in attribute.inner]
                for place in range(0, len(payload), sum(sizes)):
                    for member, size in zip(attribute.inner, sizes, strict=True):
                        if not member.allows(member.unpack(payload[place : place + size])):
                            yield f"{attribute.name}.{member.name}"
                        place += size
            elif attribute.size and not attribute.allows(attribute.unpack(payload)):
                yield attribute.name

    def verify(self, wire: Wire, tally: Tally) -> None:
        """All is in its range, is accepted when it is sent back, and packets add up."""
        before = [entry for entry in self.qdiscs(wire) if entry[1] == "wale"]
        for place, _, options, qdisc in before:
            for name in self._in_range(options, self.options):
                tally.finding(self.name, f"{name} is shown out of its range", [], options.hex())
            if qdisc.imbalance() or qdisc.imbalance_bytes():
                tally.finding(self.name, "packets do not add up", [], f"{place} {qdisc.stats}")
            self._send_back(wire, place, options, tally)
            tally.checks["round trips"] += 1
            tally.checks["links with traffic"] += qdisc.stats["offered_packets"] > 0

    def _send_back(self, wire: Wire, place: Position, options: bytes, tally: Tally) -> None:
        known = self._decode(options)
        known.pop("trace-steps", None)  # only shown
        if "sessions" in known and "start" in known:  # by now it may be too long ago
            return
        if "trace" not in known:  # a long one is not
            known.pop("trace-end", None)
            known.pop("trace-columns", None)
        nodes = [values.Node(self.number[name], data) for name, data in known.items()]
        body = TCMSG.pack(0, place[0], place[2], place[1], 0)
        body += values.encode([values.Node(TCA_KIND, b"wale\0"), values.Node(TCA_OPTIONS, nodes)])
        message = wire.ask(RTM_NEWQDISC, 0, body)
        if message.error:
            tally.finding(self.name, "a link is refused when sent back", [message], message.text)
        elif self.snapshot(wire).get(place) != ("wale", options):
            tally.finding(self.name, "sent back, a link is another", [message], options.hex())

    def clear(self, wire: Wire, tally: Tally) -> None:
        """Delete all links."""
        for (ifindex, parent, _), kind, _, _ in self.qdiscs(wire):
            if kind == "wale":
                wire.ask(RTM_DELQDISC, 0, TCMSG.pack(0, ifindex, 0, parent, 0))
        left = [place for place, kind, _, _ in self.qdiscs(wire) if kind == "wale"]
        if left:
            tally.finding(self.name, "links are left after all were deleted", [], str(left))
