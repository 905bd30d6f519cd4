# SPDX-License-Identifier: GPL-2.0
"""The table of all packets: its columns, what they are joined with, and its files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from wale_lab.packets import heads as packet_heads
from wale_lab.packets import pcapng
from wale_lab.packets.heads import Heads
from wale_lab.packets.senders import Series
from wale_lab.results import sessions
from wale_lab.results.programs import Sockets
from wale_lab.results.sessions import SocketNames
from wale_lab.topologies.plan import Plan, PlannedFlow

#: How the table can be written.
FORMATS = ("parquet", "csv")

#: What the kernel keeps of a packet: WALE_TRACE_HEAD of kmod/wale/wale_trace.h.
HEAD_BYTES = 100

_NO_LIMIT = 2**64 - 1
_TEXT = pa.dictionary(pa.int32(), pa.string())

#: packets.parquet: one row for each packet and link, by its arrival there. Empty: there is none.
PACKET_COLUMNS: dict[str, tuple[pa.DataType, str]] = {
    "link": (_TEXT, "name; access links too"),
    "fate": (_TEXT, "delivered, or why it was dropped"),
    "arrival_ns": (pa.int64(), "when it came to the link; all times since the scenario's start"),
    "start_ns": (pa.int64(), "when its service began"),
    "end_ns": (pa.int64(), "when its service ended"),
    "departure_ns": (pa.int64(), "when it left the link: after the propagation delay"),
    "dropped_ns": (pa.int64(), "when it was dropped"),
    "wire_bytes": (pa.uint32(), "length on the wire"),
    "ip_bytes": (pa.uint32(), "length of the IP packet"),
    "rate_Bps": (pa.float64(), "of the link at end_ns or dropped_ns, bytes/s (inf: no limit)"),
    "class": (pa.uint16(), "of tc, where the link tells flows apart"),
    "copy": (pa.bool_(), "it is the second of two, by duplication"),
    "corrupted": (pa.bool_(), "a bit of it was turned"),
    "flow": (_TEXT, "name; of a session, with a dot and its number"),
    "source": (_TEXT, "address"),
    "source_port": (pa.uint16(), "of TCP or UDP"),
    "target": (_TEXT, "address"),
    "target_port": (pa.uint16(), "of TCP or UDP"),
    "protocol": (pa.uint8(), "above IP: 6 is TCP, 17 is UDP"),
    "ecn": (pa.uint8(), "ECN field of IP: 3 is a mark (CE)"),
    "seq": (pa.uint32(), "TCP's sequence number, as sent"),
    "ack": (pa.uint32(), "TCP's acknowledgment number, as sent"),
    "tcp_flags": (pa.uint8(), "TCP's flags: 1 FIN, 2 SYN, 4 RST, 8 PSH, 16 ACK, 64 ECE, 128 CWR"),
    "payload_bytes": (pa.uint32(), "of TCP or UDP"),
    "cwnd_packets": (pa.uint32(), "congestion window of the socket that sent it"),
    "rate_window_packets": (pa.uint32(), "W_rate of that socket; 0: no advice"),
    "advised_rate_Bps": (pa.float64(), "rate that this socket knew, bytes/s (inf: no limit)"),
}

SCHEMA = pa.schema([pa.field(name, kind) for name, (kind, _) in PACKET_COLUMNS.items()])


@dataclass
class Chunk:
    """Some packets, by arrival."""

    events: NDArray[Any]
    link: NDArray[np.int16]
    head: NDArray[np.uint8]
    head_len: NDArray[np.int64]
    heads: Heads
    key: NDArray[np.uint64]  # of connection and direction


def came_ns(events: NDArray[Any]) -> NDArray[np.int64]:
    """When packets came to their links; if the link does not know (0), what it knows."""
    return np.where(events["arrival"] > 0, events["arrival"], events["now"]).astype(np.int64)


@dataclass
class _Connection:
    """One direction of a connection."""

    number: int
    names: SocketNames | None  # None: of no flow
    client_port: int


@dataclass
class Connections:
    """Flows, and what senders had, by the keys of connections."""

    plan: Plan
    raw: dict[str, Any]
    tcp: Series
    windows: Series
    link_copy: NDArray[np.integer]
    known: dict[int, _Connection] = field(default_factory=dict)
    flow_names: dict[str, int] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names = {
            flow.name: SocketNames(
                flow.name,
                sessions.sessions_of(self.raw["flows"][flow.name]) if flow.arrivals else None,
            )
            for flow in self.plan.flows
        }
        self.flows: dict[tuple[str, int, int], list[PlannedFlow]] = {}
        copies = {ln.netns: int(n) for ln, n in zip(self.plan.links, self.link_copy, strict=True)}
        by_prefix = {netns.rpartition(".")[0]: copy for netns, copy in copies.items()}
        for flow in self.plan.flows:
            copy = by_prefix[flow.sender_netns.rpartition(".")[0]]
            server = flow.sender_address if flow.tool == "wale" else flow.receiver_address
            if flow.constant:
                server = flow.receiver_address
            self.flows.setdefault((server, flow.port, copy), []).append(flow)

    @cached_property
    def programs(self) -> dict[tuple[str | None, int, int], str]:
        """The program that has a socket: by the address of its host, its port, its peer's port."""
        return {
            (
                self.plan.names.get(rows[0]["netns"]),
                int(rows[0]["local_port"]),
                int(rows[0]["remote_port"]),
            ): name
            for name, sockets in Sockets(self.raw, self.plan).of.items()
            for rows in sockets.values()
        }

    def flow_and_number(self, chunk: Chunk) -> tuple[pa.Array, NDArray[np.int32]]:
        """The flow of each packet, and the number of its connection."""
        keys, first, inverse = np.unique(chunk.key, return_index=True, return_inverse=True)
        order = np.argsort(inverse, kind="stable")
        bounds = np.searchsorted(inverse[order], np.arange(len(keys) + 1))
        flow = np.full(len(chunk.key), -1, np.int32)
        number = np.zeros(len(chunk.key), np.int32)
        for which, (key, row) in enumerate(zip(keys, first, strict=True)):
            connection = self.known.get(int(key)) or self._learn(int(key), chunk, int(row))
            rows = order[bounds[which] : bounds[which + 1]]
            number[rows] = connection.number
            if connection.names is not None:
                times = came_ns(chunk.events[rows])
                flow[rows] = self._codes(connection.names, connection.client_port, times)
        # of no name at all, others could make no array
        names = pa.array(list(self.flow_names) or [""], pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(flow, mask=flow < 0), names), number

    def _codes(
        self, names: SocketNames, port: int, times: NDArray[np.int64]
    ) -> int | NDArray[np.int32]:
        """Numbers of the names of packets that come at these times."""
        if not names.of_sessions:
            return self._code(names.name)
        found = [names.at(int(time), port) for time in times]
        return np.array([self._code(n) if n else -1 for n in found], np.int32)

    def _code(self, name: str) -> int:
        return self.flow_names.setdefault(name, len(self.flow_names))

    def _learn(self, key: int, chunk: Chunk, row: int) -> _Connection:
        h = chunk.heads
        ends = [
            (packet_heads.text_of(address[row].tobytes()) if h.is_ip[row] else None, int(port[row]))
            for address, port in ((h.source, h.source_port), (h.target, h.target_port))
        ]
        copy = int(self.link_copy[chunk.link[row]])
        found = _Connection(len(self.known), None, 0)
        for (address, port), (peer, client_port) in (ends, ends[::-1]):
            for flow in self.flows.get((address or "", port, copy), []):
                if peer in (flow.sender_address, flow.receiver_address):
                    found = _Connection(found.number, self.names[flow.name], client_port)
        if found.names is None:
            found = self._of_program(found.number, ends)
        self.known[key] = found
        self.sources.append(ends[0][0] or "")
        self.targets.append(ends[1][0] or "")
        return found

    def _of_program(self, number: int, ends: list[tuple[str | None, int]]) -> _Connection:
        """A connection of programs: that one's which comes last, which is a client."""
        (one, port), (other, other_port) = ends
        found = {
            name
            for key in ((one, port, other_port), (other, other_port, port))
            if (name := self.programs.get(key))
        }
        last = [program.name for program in self.plan.programs if program.name in found]
        return _Connection(number, SocketNames(last[-1]) if last else None, 0)


class Output:
    """The files, from the first chunk to the last."""

    def __init__(
        self,
        folder: Path,
        kind: str,
        plan: Plan,
        fates: dict[int, str],
        connections: Connections,
        start_ns: int,
    ) -> None:
        self.folder, self.kind, self.plan, self.fates = folder, kind, plan, fates
        self.connections, self.start_ns = connections, start_ns
        self.delivered = next(number for number, name in fates.items() if name == "delivered")
        self.stack = ExitStack()
        self.capture: pcapng.Writer | None = None

    def __enter__(self) -> Output:
        path = self.folder / f"packets.{self.kind}"
        if self.kind == "csv":
            self.schema = pa.schema(
                [(f.name, pa.string() if f.type == _TEXT else f.type) for f in SCHEMA]
            )
            self.table: Any = pa.csv.CSVWriter(path, self.schema)
        else:
            self.schema = SCHEMA
            self.table = pa.parquet.ParquetWriter(path, SCHEMA, compression="zstd")
        self.stack.enter_context(self.table)
        self.file = self.stack.enter_context((self.folder / "packets.pcapng").open("wb"))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        if self.capture is None and error is None:
            self._begin_capture(0)
        self.stack.close()

    def write(self, chunk: Chunk) -> None:
        """Packets that came after all that were written so far."""
        self.table.write_table(pa.table(self._columns(chunk), SCHEMA).cast(self.schema))
        times = came_ns(chunk.events) - self.start_ns
        if self.capture is None:
            self._begin_capture(int(min(times[0] // 10**9, 0)))
        self._capture(chunk, times)

    def _begin_capture(self, offset_s: int) -> None:
        names = [link.name for link in self.plan.links]
        self.capture = pcapng.Writer(self.file, names, HEAD_BYTES, offset_s)

    def _capture(self, chunk: Chunk, times: NDArray[np.int64]) -> None:
        assert self.capture is not None
        ip = chunk.heads.is_ip
        events = chunk.events[ip]
        comments = [_comment(name, n) for name in self._fates() for n in range(4)]
        comment = events["fate"].astype(np.int64) * 4 + events["copy"] * 2 + events["corrupted"]
        self.capture.write(
            chunk.link[ip],
            times[ip],
            events["ip_len"],
            chunk.head[ip],
            chunk.head_len[ip],
            comment,
            comments,
        )

    def _fates(self) -> list[str]:
        return [self.fates.get(number, "") for number in range(max(self.fates) + 1)]

    def _columns(self, chunk: Chunk) -> dict[str, pa.Array]:
        events, heads = chunk.events, chunk.heads
        flow, number = self.connections.flow_and_number(chunk)
        delivered = events["fate"] == self.delivered
        served = events["start"] > 0
        columns = {
            "link": _by_name(chunk.link, [link.name for link in self.plan.links]),
            "fate": _by_name(events["fate"], self._fates()),
            "arrival_ns": self._time(events["arrival"], events["arrival"] > 0),
            "start_ns": self._time(events["start"], served),
            "end_ns": self._time(events["now"], served),
            "departure_ns": self._time(events["departure"], delivered),
            "dropped_ns": self._time(events["now"], ~delivered & (events["now"] > 0)),
            "wire_bytes": pa.array(events["len"]),
            "ip_bytes": pa.array(events["ip_len"]),
            "rate_Bps": _rate(events["rate"]),
            "class": pa.array(events["class"], mask=events["class"] == 0),
            "copy": pa.array(events["copy"] > 0),
            "corrupted": pa.array(events["corrupted"] > 0),
            "flow": flow,
            "source": _by_name(number, self.connections.sources, ~heads.is_ip),
            "target": _by_name(number, self.connections.targets, ~heads.is_ip),
            "protocol": pa.array(heads.protocol, mask=~heads.is_ip),
            "ecn": pa.array(heads.ecn, mask=~heads.is_ip),
            "payload_bytes": _some(heads.payload, heads.has_ports, pa.uint32()),
            "source_port": _some(heads.source_port, heads.has_ports, pa.uint16()),
            "target_port": _some(heads.target_port, heads.has_ports, pa.uint16()),
            "seq": _some(heads.seq, heads.is_tcp, pa.uint32()),
            "ack": _some(heads.ack, heads.is_tcp, pa.uint32()),
            "tcp_flags": _some(heads.flags, heads.is_tcp, pa.uint8()),
        }
        columns |= self._senders(chunk)
        return {name: columns[name] for name in PACKET_COLUMNS}

    def _time(self, clock_ns: NDArray[np.uint64], there: NDArray[np.bool_]) -> pa.Array:
        return pa.array(clock_ns.astype(np.int64) - self.start_ns, mask=~there)

    def _senders(self, chunk: Chunk) -> dict[str, pa.Array]:
        """What the sockets of the packets had when these came to the link."""
        time_ns = came_ns(chunk.events)
        tcp, windows = self.connections.tcp, self.connections.windows
        at, has_cwnd = tcp.find(chunk.key, time_ns, after=True)
        cwnd = _picked(tcp.values[0], at)
        at, has_window = windows.find(chunk.key, time_ns, after=False)
        window, rate = (_picked(values, at) for values in windows.values)
        return {
            "cwnd_packets": _some(cwnd, has_cwnd, pa.uint32()),
            "rate_window_packets": _some(window, has_window, pa.uint32()),
            "advised_rate_Bps": _rate(rate, ~(has_window & (rate > 0))),
        }


def _comment(fate: str, flags: int) -> str:
    """What a capture says of a packet beside its bytes."""
    words = [] if fate == "delivered" else [f"dropped: {fate}"]
    words += ["copy"] if flags & 2 else []
    words += ["corrupted"] if flags & 1 else []
    return ", ".join(words)


def _by_name(
    numbers: NDArray[np.integer], names: Sequence[str], mask: NDArray[np.bool_] | None = None
) -> pa.Array:
    index = pa.array(numbers.astype(np.int32), mask=mask)
    return pa.DictionaryArray.from_arrays(index, pa.array(names, pa.string()))


def _some(values: NDArray[Any], there: NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    return pa.array(values.astype(kind.to_pandas_dtype()), kind, mask=~there)


def _rate(rate: NDArray[np.integer], mask: NDArray[np.bool_] | None = None) -> pa.Array:
    unlimited = rate.astype(np.uint64) == _NO_LIMIT
    return pa.array(np.where(unlimited, np.inf, rate.astype(np.float64)), mask=mask)


def _picked(values: NDArray[Any], at: NDArray[np.int64]) -> NDArray[Any]:
    return values[at] if len(values) else np.zeros(len(at), np.int64)
