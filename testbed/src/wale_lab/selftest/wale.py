# SPDX-License-Identifier: GPL-2.0
"""A second rtnetlink client for wale qdiscs, written from the UAPI header alone.

It needs no tc plugin and starts no process, can send what tc would never
send, and hands back the kernel's own message (extack) when refused.
Numbers are from kmod/include/uapi/linux/pkt_sched_wale.h.
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

RTM_NEWQDISC, RTM_DELQDISC, RTM_GETQDISC = 36, 37, 38
RTM_GETTCLASS = 42
TCA_KIND, TCA_OPTIONS, TCA_STATS2, TCA_STAB = 1, 2, 7, 8
TCA_STATS_BASIC, TCA_STATS_QUEUE, TCA_STATS_APP = 1, 3, 4
TC_H_ROOT = 0xFFFFFFFF
NLM_F_ECHO = 8
WALE_CMD_TRACE_NEW, WALE_A_FD = 1, 1
TRACE_FILE_STEPS_MAX = 65536

RATE_UNLIMITED = (1 << 64) - 1
LOSS_ALWAYS = 0xFFFFFFFF

# name: (attribute, format)
OPTIONS: dict[str, tuple[int, str]] = {
    "rate": (2, "Q"),
    "delay": (3, "Q"),
    "limit_packets": (4, "I"),
    "limit_bytes": (5, "Q"),
    "loss": (6, "I"),
    "overhead": (7, "I"),
    "drops": (8, "I"),
    "seed": (9, "Q"),
    "trace": (10, "trace"),
    "trace_end": (11, "I"),
    "trace_steps": (12, "I"),
    "sessions": (13, "sessions"),
    "feedback": (14, "feedback"),
    "limit_cells": (15, "I"),
    "policy": (16, "I"),
    "threshold": (17, "Q"),
    "threshold_share": (18, "I"),
    "z": (19, "I"),
    "last": (20, "I"),
    "flows": (21, "I"),
    "input_rate": (22, "Q"),
    "mark": (23, "I"),
    "rem": (24, "rem"),
    "gemodel": (25, "gemodel"),
    "state": (26, "state"),
    "ecn": (27, "I"),
    "jitter": (28, "jitter"),
    "reorder": (29, "I"),
    "gap": (30, "I"),
    "duplicate": (31, "I"),
    "corrupt": (32, "I"),
    "drop": (33, "ranges"),
    "slot": (34, "slot"),
    "trace_fd": (35, "I"),
    "start": (36, "Q"),
    "slack": (37, "I"),
    "gso": (38, "I"),
}
TRACE_STEPS_MAX = 4000  # of a request; more come in a file
SESSIONS: dict[str, tuple[int, str]] = {
    "arrival": (2, "I"),
    "mean": (3, "Q"),
    "max": (4, "I"),
    "step": (5, "Q"),
}
FEEDBACK: dict[str, tuple[int, str]] = {"idle": (2, "Q")}
REM: dict[str, tuple[int, str]] = {
    "interval": (2, "Q"),
    "gamma": (3, "I"),
    "alpha": (4, "I"),
    "target": (5, "Q"),
    "phi": (6, "I"),
}
GEMODEL: dict[str, tuple[int, str]] = {
    name: (number, "I") for number, name in enumerate(("p", "r", "bad", "good"), start=1)
}
STATE: dict[str, tuple[int, str]] = {
    name: (number, "I") for number, name in enumerate(("p13", "p31", "p32", "p23", "p14"), start=1)
}
JITTER: dict[str, tuple[int, str]] = {
    "time": (2, "Q"),
    "table": (3, "table"),
    "name": (4, "text"),
    "reordering": (5, "I"),
}
SLOT: dict[str, tuple[int, str]] = {
    "min": (2, "Q"),
    "max": (3, "Q"),
    "packets": (4, "I"),
    "bytes": (5, "I"),
}
NESTS = {
    "sessions": SESSIONS,
    "feedback": FEEDBACK,
    "rem": REM,
    "gemodel": GEMODEL,
    "state": STATE,
    "jitter": JITTER,
    "slot": SLOT,
}
STATISTICS = (
    "offered_packets offered_bytes sent_packets sent_bytes dropped_buffer_packets "
    "dropped_buffer_bytes dropped_loss_packets dropped_loss_bytes dropped_memory_packets "
    "dropped_memory_bytes backlog_packets backlog_bytes peak_backlog_packets "
    "peak_backlog_bytes line_packets line_bytes rate sessions now_ns epoch_ns "
    "dropped_purge_packets dropped_purge_bytes active_flows uncounted_packets published attached "
    "dropped_early_packets dropped_early_bytes dropped_partial_packets dropped_partial_bytes "
    "backlog_cells peak_backlog_cells dropped_cells wasted_cells busy_flows crowded_packets "
    "marked_packets marked_bytes unmarkable_packets unmarkable_bytes price mark_probability "
    "price_next_ns duplicated_packets duplicated_bytes corrupted_packets corrupted_bytes "
    "reordered_packets reordered_bytes dropped_child_packets dropped_child_bytes "
    "dropped_line_packets dropped_line_bytes line_limit memory"
).split()
DROPPED = (
    "dropped_buffer",
    "dropped_loss",
    "dropped_memory",
    "dropped_purge",
    "dropped_early",
    "dropped_partial",
    "dropped_child",
    "dropped_line",
)
OVERHEAD = {"raw": 0, "ethernet": 1, "atm": 2}
DROPS = {"remote": 0, "local": 1}
TRACE_END = {"loop": 0, "hold": 1, "stop": 2}
POLICY = {"tail": 0, "epd": 1, "seldrop": 2, "fba": 3, "random_tail": 4, "rem": 5}


def new_trace_file() -> int:
    """Return an empty file of the family, for many steps; whoever made it closes it."""
    family = Family("wale")
    answer = dict(attributes(family.request(WALE_CMD_TRACE_NEW)[0].payload))
    family.close()
    return int(struct.unpack("I", answer[WALE_A_FD])[0])


def trace_file(data: bytes) -> int:
    """Return a file with steps, in memory if they are few; whoever made it closes it."""
    few = len(data) <= 16 * TRACE_FILE_STEPS_MAX
    file = os.memfd_create("trace") if few else new_trace_file()
    with open(file, "wb", closefd=False) as writer:
        writer.write(data)
    return file


def encode(values: Mapping[str, Any], table: Mapping[str, tuple[int, str]] = OPTIONS) -> bytes:
    """Return attributes for named values; bytes are sent as they are."""
    result = b""
    for name, value in values.items():
        number, form = table[name]
        if isinstance(value, bytes):
            payload = value
        elif form == "trace":
            payload = b"".join(struct.pack("QQ", duration, rate) for duration, rate in value)
        elif form == "ranges":
            payload = b"".join(struct.pack("III", *one) for one in value)
        elif form == "table":
            payload = struct.pack(f"{len(value)}h", *value)
        elif form == "text":
            payload = value.encode(errors="surrogateescape") + b"\0"
        elif form in NESTS:
            number |= NLA_F_NESTED
            payload = encode(value, NESTS[form])
        else:
            payload = struct.pack(form, value)
        result += attribute(number, payload)
    return result


def decode(data: bytes, table: Mapping[str, tuple[int, str]] = OPTIONS) -> dict[str, Any]:
    """Return named values of attributes."""
    names = {number: (name, form) for name, (number, form) in table.items()}
    result: dict[str, Any] = {}
    for number, payload in attributes(data):
        if number not in names:
            continue
        name, form = names[number]
        if form == "trace":
            result[name] = list(struct.iter_unpack("QQ", payload))
        elif form == "table":
            result[name] = list(struct.unpack(f"{len(payload) // 2}h", payload))
        elif form == "ranges":
            result[name] = list(struct.iter_unpack("III", payload))
        elif form == "text":
            result[name] = payload.rstrip(b"\0").decode(errors="surrogateescape")
        elif form in NESTS:
            result[name] = decode(payload, NESTS[form])
        else:
            result[name] = struct.unpack(form, payload)[0]
    return result


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
                for which, value in attributes(payload):
                    if 2 <= which < len(STATISTICS) + 2:
                        name = STATISTICS[which - 2]
                        form = "q" if name == "epoch_ns" else "Q"
                        self.stats[name] = struct.unpack(form, value)[0]

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
    """The qdiscs of the network namespace in which it is made."""

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
        """Change a qdisc (tc qdisc change); without a size table, it has none then."""
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
        """Return one qdisc, in a message of its own, which is shorter than those of a list."""
        return Qdisc(self._qdisc(RTM_GETQDISC, NLM_F_ACK | NLM_F_ECHO, dev, parent, 0, b"")[0])

    def delete(self, dev: int, parent: int = TC_H_ROOT, handle: int = 0) -> None:
        """Delete a qdisc (tc qdisc del)."""
        self._qdisc(RTM_DELQDISC, NLM_F_ACK, dev, parent, handle, b"")

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
