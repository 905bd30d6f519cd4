# SPDX-License-Identifier: GPL-2.0
"""A second rtnetlink client for wale qdiscs, from their contract alone (wale_lab/options.py).

It needs no tc plugin and starts no process, can send what tc would never
send, and returns the kernel's own message (extack) when refused.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from wale_lab.netlink import (
    NETLINK_ROUTE,
    NLA_F_NESTED,
    NLM_F_ACK,
    NLM_F_CREATE,
    NLM_F_DUMP,
    NLM_F_EXCL,
    NLM_F_REPLACE,
    Family,
    Socket,
    attribute,
    attributes,
)
from wale_lab.options import DOWN_DROPS as DOWN_DROPS
from wale_lab.options import DROPS as DROPS
from wale_lab.options import (
    LINK,
    NESTS,
    STATISTICS,
    STRUCTS,
    TRACE_FILE_STEPS_MAX,
    TRACE_RATE,
    Option,
)
from wale_lab.options import LOSS_ALWAYS as LOSS_ALWAYS
from wale_lab.options import OVERHEAD as OVERHEAD
from wale_lab.options import POLICY as POLICY
from wale_lab.options import RATE_UNLIMITED as RATE_UNLIMITED
from wale_lab.options import TRACE_END as TRACE_END
from wale_lab.options import TRACE_STEPS_MAX as TRACE_STEPS_MAX

RTM_NEWQDISC, RTM_DELQDISC, RTM_GETQDISC = 36, 37, 38
RTM_GETTCLASS = 42
RTM_NEWACTION, RTM_DELACTION, RTM_GETACTION = 48, 49, 50
TCA_KIND, TCA_OPTIONS, TCA_STATS2, TCA_STAB = 1, 2, 7, 8
TCA_STATS_BASIC, TCA_STATS_QUEUE, TCA_STATS_APP = 1, 3, 4
TCA_ACT_TAB = 1
TCA_ACT_KIND, TCA_ACT_OPTIONS, TCA_ACT_INDEX = 1, 2, 3
TCA_SCONE_PARMS, TCA_SCONE_RATE = 3, 6
TC_H_ROOT = 0xFFFFFFFF
NLM_F_ECHO = 8
WALE_CMD_TRACE_NEW, WALE_A_FD, WALE_A_COLUMNS = 1, 1, 2

Table = Mapping[str, Option]
DROPPED = tuple(
    name.removesuffix("_packets")
    for name in STATISTICS
    if name.startswith("dropped_") and name.endswith("_packets")
)


def new_trace_file(columns: int | None = None) -> int:
    """Return an empty trace file of the family, for many steps; the caller closes it."""
    family = Family("wale")
    asked = attribute(WALE_A_COLUMNS, struct.pack("I", columns)) if columns else b""
    answer = dict(attributes(family.request(WALE_CMD_TRACE_NEW, asked)[0].payload))
    family.close()
    return int(struct.unpack("I", answer[WALE_A_FD])[0])


def trace_file(data: bytes, columns: int | None = None) -> int:
    """Return a file with steps, in memory if they are few; the caller closes it."""
    size = 8 * (1 + (columns or TRACE_RATE).bit_count())
    few = len(data) <= size * TRACE_FILE_STEPS_MAX
    file = os.memfd_create("trace") if few else new_trace_file(columns)
    with open(file, "wb", closefd=False) as writer:
        writer.write(data)
    return file


def scone_action(index: int, rate: int) -> bytes:
    """Return the options of an action scone that tells a rate, in bytes/s."""
    return attribute(TCA_SCONE_PARMS, struct.pack("=5I", index, 0, 0, 0, 0)) + attribute(
        TCA_SCONE_RATE, struct.pack("=Q", rate)
    )


def _payload(value: Any, form: str) -> bytes:
    """Return the payload of an attribute."""
    if isinstance(value, bytes):
        return value
    if form in NESTS:
        return encode(value, NESTS[form])
    if form == "string":
        return bytes(value.encode(errors="surrogateescape") + b"\0")
    if form not in STRUCTS:
        return struct.pack(form, value)
    if form == "trace-step":  # as long as its columns say
        return b"".join(struct.pack(f"{len(one)}Q", *one) for one in value)
    entries = value if len(STRUCTS[form]) > 1 else ((one,) for one in value)
    return b"".join(struct.pack(STRUCTS[form], *one) for one in entries)


def _value(payload: bytes, form: str) -> Any:
    """Return the value of a payload."""
    if form in NESTS:
        return decode(payload, NESTS[form])
    if form == "string":
        return payload.rstrip(b"\0").decode(errors="surrogateescape")
    if form not in STRUCTS:
        return struct.unpack(form, payload)[0]
    if form == "trace-step":
        return struct.unpack(f"{len(payload) // 8}Q", payload)
    entries = list(struct.iter_unpack(STRUCTS[form], payload))
    return entries if len(STRUCTS[form]) > 1 else [one for (one,) in entries]


def encode(values: Mapping[str, Any], table: Table = LINK) -> bytes:
    """Return attributes for named values; bytes are sent as they are."""
    result = b""
    for name, value in values.items():
        number, form, *_ = table[name]
        flag = NLA_F_NESTED if form in NESTS and not isinstance(value, bytes) else 0
        result += attribute(number | flag, _payload(value, form))
    return result


def decode(data: bytes, table: Table = LINK) -> dict[str, Any]:
    """Return named values of attributes."""
    names = {option.number: (name, option.format) for name, option in table.items()}
    known = [(names[number], payload) for number, payload in attributes(data) if number in names]
    values = {name: _value(payload, form) for (name, form), payload in known}
    if table is LINK and "trace" in values:
        width = 1 + values.get("trace_columns", TRACE_RATE).bit_count()
        values["trace"] = list(zip(*[iter(values["trace"])] * width, strict=True))
    return values


def size_table(sizes: Sequence[int] = (), **spec: int) -> bytes:
    """Return a size table (tc-stab(8)): fields of struct tc_sizespec, and its slots."""
    names = ("cell_log", "size_log", "cell_align", "overhead", "linklayer", "mpu", "mtu")
    fields = struct.pack("BBhiIIII", *(spec.get(name, 0) for name in names), len(sizes))
    slots = attribute(2, struct.pack(f"{len(sizes)}H", *sizes)) if sizes else b""
    return attribute(TCA_STAB | NLA_F_NESTED, attribute(1, fields) + slots)


class Qdisc:
    """One qdisc of a device, or one class of it, as the kernel shows it."""

    def __init__(self, message: bytes) -> None:
        _, self.ifindex, self.handle, self.parent, _ = struct.unpack_from("=B3xiIII", message)
        self.kind = ""
        self.options: dict[str, Any] = {}
        self.stats: dict[str, int] = {}
        self.bytes = self.packets = 0
        self.qlen = self.backlog = self.drops = 0
        for number, payload in attributes(message[20:]):
            if number == TCA_KIND:
                self.kind = payload.rstrip(b"\0").decode()
            elif number == TCA_OPTIONS and self.kind == "wale":
                self.options = decode(payload)
            elif number == TCA_STATS2:
                self._read_stats(payload)

    def _read_stats(self, data: bytes) -> None:
        for number, payload in attributes(data):
            if number == TCA_STATS_BASIC:
                self.bytes, self.packets = struct.unpack_from("QI", payload)
            elif number == TCA_STATS_QUEUE:
                self.qlen, self.backlog, self.drops = struct.unpack_from("III", payload)
            elif number == TCA_STATS_APP and self.kind == "wale":
                counted = dict(attributes(payload))
                for name, (which, form) in STATISTICS.items():
                    if which in counted:
                        self.stats[name] = struct.unpack(form, counted[which])[0]

    def imbalance(self) -> int:
        """Return offered + duplicated - (sent + dropped + backlog + line), in packets."""
        s = self.stats
        dropped = sum(s[f"{reason}_packets"] for reason in DROPPED)
        held = s["backlog_packets"] + s["line_packets"]
        came = s["offered_packets"] + s["duplicated_packets"]
        return came - s["sent_packets"] - dropped - held

    def imbalance_bytes(self) -> int:
        """Return the same in bytes."""
        s = self.stats
        dropped = sum(s[f"{reason}_bytes"] for reason in DROPPED)
        held = s["backlog_bytes"] + s["line_bytes"]
        came = s["offered_bytes"] + s["duplicated_bytes"]
        return came - s["sent_bytes"] - dropped - held


class Control(Socket):
    """The qdiscs of the network namespace in which this is made."""

    def __init__(self) -> None:
        super().__init__(NETLINK_ROUTE)

    def _qdisc(
        self, kind: int, flags: int, dev: int, parent: int, handle: int, rest: bytes
    ) -> list[bytes]:
        body = struct.pack("=B3xiIII", socket.AF_UNSPEC, dev, handle, parent, 0)
        return [message.body for message in self.ask(kind, flags, body + rest)]

    def add(
        self,
        dev: int,
        options: Mapping[str, Any],
        parent: int = TC_H_ROOT,
        handle: int = 0x10000,
        flags: int = NLM_F_CREATE | NLM_F_EXCL,
        kind: str = "wale",
        stab: bytes = b"",
    ) -> None:
        """Create a qdisc (tc qdisc add)."""
        rest = attribute(TCA_KIND, kind.encode() + b"\0")
        rest += attribute(TCA_OPTIONS | NLA_F_NESTED, encode(options)) + stab
        self._qdisc(RTM_NEWQDISC, NLM_F_ACK | flags, dev, parent, handle, rest)

    def change(
        self,
        dev: int,
        options: Mapping[str, Any],
        parent: int = TC_H_ROOT,
        handle: int = 0x10000,
        stab: bytes = b"",
    ) -> None:
        """Change a qdisc (tc qdisc change); without a size table, it loses the one it had."""
        self.add(dev, options, parent, handle, 0, stab=stab)

    def replace(
        self,
        dev: int,
        options: Mapping[str, Any],
        parent: int = TC_H_ROOT,
        handle: int = 0x10000,
        kind: str = "wale",
    ) -> None:
        """Create or change a qdisc (tc qdisc replace)."""
        self.add(dev, options, parent, handle, NLM_F_CREATE | NLM_F_REPLACE, kind)

    def ask_for(self, dev: int, parent: int = TC_H_ROOT) -> Qdisc:
        """Return one qdisc, by a message of its own, which is shorter than that of a list."""
        return Qdisc(self._qdisc(RTM_GETQDISC, NLM_F_ACK | NLM_F_ECHO, dev, parent, 0, b"")[0])

    def delete(self, dev: int, parent: int = TC_H_ROOT, handle: int = 0) -> None:
        """Delete a qdisc (tc qdisc del)."""
        self._qdisc(RTM_DELQDISC, NLM_F_ACK, dev, parent, handle, b"")

    def _action(self, verb: int, flags: int, kind: str, rest: bytes = b"") -> list[bytes]:
        action = attribute(TCA_ACT_KIND, kind.encode() + b"\0") + rest
        body = attribute(TCA_ACT_TAB | NLA_F_NESTED, attribute(1 | NLA_F_NESTED, action))
        return [message.body for message in self.ask(verb, flags, bytes(4) + body)]

    def add_action(self, kind: str, options: bytes) -> None:
        """Create an action of its own, which no filter has (tc action add)."""
        rest = attribute(TCA_ACT_OPTIONS | NLA_F_NESTED, options)
        self._action(RTM_NEWACTION, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, kind, rest)

    def delete_action(self, kind: str, index: int) -> None:
        """Delete an action (tc action del)."""
        rest = attribute(TCA_ACT_INDEX, struct.pack("=I", index))
        self._action(RTM_DELACTION, NLM_F_ACK, kind, rest)

    def actions(self, kind: str) -> list[bytes]:
        """Return the messages that list the actions of a kind."""
        return self._action(RTM_GETACTION, NLM_F_DUMP, kind)

    def list(self, dev: int) -> list[Qdisc]:
        """Return all qdiscs of a device, with statistics."""
        answers = self._qdisc(RTM_GETQDISC, NLM_F_DUMP, 0, 0, 0, b"")
        return [qdisc for qdisc in map(Qdisc, answers) if qdisc.ifindex == dev]

    def classes(self, dev: int) -> dict[int, Qdisc]:
        """Return the classes of the wale qdiscs of a device by minor number, with statistics."""
        answers = self._qdisc(RTM_GETTCLASS, NLM_F_DUMP, dev, 0, 0, b"")
        classes = [one for one in map(Qdisc, answers) if one.kind == "wale"]
        return {one.handle & 0xFFFF: one for one in classes}

    def get(self, dev: int, kind: str = "wale") -> Qdisc:
        """Return the first qdisc of a kind on a device."""
        for qdisc in self.list(dev):
            if qdisc.kind == kind:
                return qdisc
        raise LookupError(f"no {kind} on device {dev}")
