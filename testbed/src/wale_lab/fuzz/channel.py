# SPDX-License-Identifier: GPL-2.0
"""Messages for the family rate_feedback, from its specification, and what must hold of it."""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterator
from random import Random

from wale_lab.fuzz import values
from wale_lab.fuzz.grammar import Attribute, Grammar, Operation
from wale_lab.fuzz.tally import Tally
from wale_lab.fuzz.wire import Message, Wire, head, walk
from wale_lab.netlink import NLM_F_ACK, NLM_F_DUMP

GENL = struct.Struct("BBH")
BEGIN = 20  # of the attributes
#: What names a path, in each way.
KEYS = (("ifindex",), ("daddr",), ("daddr", "prefix-len"), ("saddr", "daddr", "sport", "dport"))
#: What changes without a request.
VOLATILE = ("age", "updates", "flows", "listeners")
#: What is another's, of a path that a link publishes or that follows.
VALUE = ("rate", "meaning", "time", "layer")
#: Errors that come with words, if the request got as far as the family.
EXPLAINED = (errno.EINVAL, errno.ERANGE, errno.ENOENT, errno.ELOOP, errno.ENODEV, errno.EBADF)


class Channel:
    """One of the two interfaces under test (the other is link.Link)."""

    name = "rate_feedback"
    admin = ("set", "del")

    def __init__(self, grammar: Grammar) -> None:
        self.family = 0  # known when the family is
        self.operations = grammar.operations
        self.by_name = {operation.name: operation for operation in grammar.operations}
        self.path = grammar.sets["path"]
        self.number = {attribute.name: attribute.number for attribute in self.path}
        settable = self.by_name["set"].do or frozenset()
        self.settable = tuple(a for a in self.path if a.name in settable)
        self.key_names = frozenset(name for key in KEYS for name in key)
        self.pools: values.Pools = {}
        self.recent: list[bytes] = []

    def expected(self) -> tuple[list[str], list[str]]:
        """Return what must be accepted and rejected, and what must only be rejected."""
        both: list[str] = []
        never: list[str] = []
        for operation in self.operations:
            for way, request in (("do", operation.do), ("dump", operation.dump)):
                (never if request is None else both).append(f"{self.name} {operation.name} {way}")
        for attribute in self.path:
            names = [f"{self.name} {attribute.name}"]
            names += [f"{names[0]}.{inner.name}" for inner in attribute.inner]
            (both if attribute in self.settable else never).extend(names)
        return both, never

    # ---- messages

    def make(self, rng: Random) -> Message:
        """Return a message of the grammar: good, or damaged in one place or a few."""
        name = rng.choices(
            ("set", "del", "get", "get dump", "flow-get dump", "any"), (60, 8, 14, 8, 5, 5)
        )[0]
        operation = self.by_name.get(name.split()[0]) or rng.choice(self.operations)
        flags = NLM_F_DUMP if name.endswith("dump") else 0
        nodes = self._request(rng, operation, bool(flags))
        while rng.random() < 0.25:
            values.damage(rng, nodes, operation.attributes)
        flags |= NLM_F_ACK if rng.random() < 0.95 else 0
        flags |= rng.choice((0x100, 0x200, 0x400, 0x800, 8, 0x300)) if rng.random() < 0.05 else 0
        command = operation.number if rng.random() < 0.99 else rng.randrange(256)
        version = 1 if rng.random() < 0.98 else rng.randrange(256)
        reserved = 0 if rng.random() < 0.99 else rng.getrandbits(16)
        data = bytearray(head(self.family, flags))
        data += GENL.pack(command, version, reserved) + values.encode(nodes)
        message = Message(data, "grammar", nodes)
        if rng.random() < 0.02:
            self.recent = [*self.recent[-50:], bytes(data)]
        return message

    def _request(self, rng: Random, operation: Operation, dump: bool) -> list[values.Node]:
        names = operation.dump if dump else operation.do
        if names is None:
            names = frozenset()
        by_name = {a.name: a for a in operation.attributes}
        chosen: list[str] = []
        if not dump and self.key_names <= names and rng.random() < 0.99:
            chosen += rng.choice(KEYS)
        others = sorted(names - self.key_names)
        if "rate" in others and rng.random() < 0.75:
            chosen.append("rate")
        more = rng.sample(others, min(len(others), rng.choice((0, 1, 1, 2, 2, 3, 5))))
        chosen += [name for name in more if name not in chosen]
        if "rate" in chosen and "follow" in chosen and rng.random() < 0.9:
            chosen.remove(rng.choice(("rate", "follow")))
        return [values.node(rng, by_name[name], self.pools) for name in chosen]

    def repair(self, data: bytearray) -> None:
        """Have a mutated message go to the family."""
        if len(data) >= 6:
            struct.pack_into("H", data, 4, self.family)

    # ---- what a message was

    def operation(self, message: Message) -> Operation | None:
        """Return the command of a message, if there is one."""
        if len(message.data) < BEGIN or message.kind != self.family:
            return None
        number = message.data[16]
        return self.operations[number - 1] if 1 <= number <= len(self.operations) else None

    def is_admin(self, message: Message) -> bool:
        """Tell whether a message needs CAP_NET_ADMIN."""
        operation = self.operation(message)
        dump = message.flags & NLM_F_DUMP == NLM_F_DUMP
        return operation is not None and operation.name in self.admin and not dump

    def names(self, message: Message) -> Iterator[str]:
        """Yield the command and the attributes of a message, for the tally."""
        operation = self.operation(message)
        if operation is None or message.torn:
            return
        dump = message.flags & NLM_F_DUMP == NLM_F_DUMP
        yield f"{self.name} {operation.name} {'dump' if dump else 'do'}"
        if operation.attributes is not self.path:
            return
        for attribute, begin, end in self._found(message.data, BEGIN, len(message.data), self.path):
            name = f"{self.name} {attribute.name}"
            yield name
            for inner, _, _ in self._found(message.data, begin, end, attribute.inner):
                yield f"{name}.{inner.name}"

    @staticmethod
    def _found(
        data: bytes | bytearray, begin: int, end: int, known: tuple[Attribute, ...]
    ) -> Iterator[tuple[Attribute, int, int]]:
        for number, first, last in walk(data, begin, end) if known else ():
            if 1 <= number & 0x3FFF <= len(known):
                yield known[(number & 0x3FFF) - 1], first, last

    def unexplained(self, message: Message) -> bool:
        """Tell whether a refusal lacks the words that it owes."""
        operation = self.operation(message)
        if operation is None or message.torn or message.text or message.error not in EXPLAINED:
            return False
        dump = message.flags & NLM_F_DUMP == NLM_F_DUMP
        return (operation.dump if dump else operation.do) is not None

    # ---- what is there

    def paths(self, wire: Wire) -> list[dict[str, bytes]]:
        """Return the attributes of each path, as they are shown."""
        parts = wire.dump(self.family, GENL.pack(self.by_name["get"].number, 1, 0))
        return [self._shown(part) for part in parts]

    def _shown(self, part: bytes) -> dict[str, bytes]:
        shown = {}
        for number, begin, end in walk(part, 4, len(part)):
            shown[self.path[(number & 0x3FFF) - 1].name] = part[begin:end]
        return shown

    def snapshot(self, wire: Wire) -> dict[bytes, dict[str, bytes]]:
        """Return what only a request changes."""
        result = {}
        for shown in self.paths(wire):
            volatile: tuple[str, ...] = VOLATILE
            if "follow" in shown or shown.get("publisher", b"\0")[0]:
                volatile += (*VALUE, "publisher")
            result[shown["id"]] = {k: v for k, v in shown.items() if k not in volatile}
        return result

    def check_accepted(self, wire: Wire, message: Message, tally: Tally) -> None:
        """Accepted settings are shown as they are."""
        operation = self.operation(message)
        if not operation or operation.name != "set" or message.nodes is None:
            return
        if message.flags & NLM_F_DUMP == NLM_F_DUMP:
            return
        given = {}
        for attribute, begin, end in self._found(message.data, BEGIN, len(message.data), self.path):
            given[attribute.name] = bytes(message.data[begin:end])
        key = b"".join(
            values.encode([values.Node(self.number[name], given[name])])
            for name in given
            if name in self.key_names
        )
        get = wire.ask(self.family, 0, GENL.pack(self.by_name["get"].number, 1, 0) + key)
        if get.error or len(get.parts) != 1:
            tally.finding(self.name, "a path that was set is not found", [message], get.text)
            return
        shown = self._shown(get.parts[0])
        for name in given.keys() - self.key_names - {"follow"}:
            got = shown.get(name, b"")
            if name == "time" and got[::-1] < given[name][::-1]:
                continue  # the rate was the same before: it holds since then
            if got != given[name]:
                what = f"{name} was accepted as another value than is shown"
                tally.finding(self.name, what, [message], f"{given[name]!r}, {got!r}")
        tally.checks["shown as set"] += 1

    def verify(self, wire: Wire, tally: Tally) -> None:
        """All that is shown is in its range, and is accepted when it is sent back."""
        before = self.paths(wire)
        flows = wire.dump(self.family, GENL.pack(self.by_name["flow-get"].number, 1, 0))
        tally.checks["sockets that listen"] += len(flows)
        for shown in before:
            for name, payload in shown.items():
                attribute = self.path[self.number[name] - 1]
                if attribute.size and not attribute.allows(attribute.unpack(payload)):
                    tally.finding(self.name, f"{name} is shown out of its range", [], str(payload))
        stable = self.snapshot(wire)
        for shown in before:
            if not shown.get("publisher", b"\0")[0]:
                self._send_back(wire, shown, tally)
        after = self.snapshot(wire)
        if after != stable:
            tally.finding(self.name, "sent back, paths are others", [], f"{stable}\n{after}")
        tally.checks["round trips"] += len(before)

    def _send_back(self, wire: Wire, shown: dict[str, bytes], tally: Tally) -> None:
        skip = {"follow", *VALUE} if "follow" in shown else {"follow"}
        body = GENL.pack(self.by_name["set"].number, 1, 0)
        for attribute in self.settable:
            if attribute.name in shown and attribute.name not in skip:
                body += values.encode([values.Node(attribute.number, shown[attribute.name])])
        message = wire.ask(self.family, 0, body)
        if message.error:
            tally.finding(self.name, "a path is refused when sent back", [message], message.text)

    def clear(self, wire: Wire, tally: Tally) -> None:
        """Delete all; nothing is left, but for what links publish."""
        done = wire.ask(self.family, 0, GENL.pack(self.by_name["del"].number, 1, 0))
        left = [p for p in self.paths(wire) if not p.get("publisher", b"\0")[0]]
        if done.error or left:
            tally.finding(self.name, "paths are left after all were deleted", [done], str(left))
