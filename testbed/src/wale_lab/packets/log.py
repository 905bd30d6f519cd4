# SPDX-License-Identifier: GPL-2.0
"""The log of all packets of a run: from the kernels' traces to Parquet or CSV, and pcapng.

The trace is read twice.  The first pass finds the events that are packets, and their arrival
times at the links: it keeps 18 bytes for each packet, to sort them, and the state of senders.
The counts must match those of the links.  The second pass reads the packets in that order, some
ten thousand at a time, joins them with the state of their senders, and writes them.  Of several
guests each has left a trace; their packets are in the order of time, guest, and place in the trace.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wale_lab.packets import heads as packet_heads
from wale_lab.packets.child import ChildPackets, Fates, places_in
from wale_lab.packets.heads import Heads, connection_keys, keys_in_copies
from wale_lab.packets.senders import Senders, Series
from wale_lab.packets.table import FORMATS, HEAD_BYTES, Chunk, Connections, Output, came_ns
from wale_lab.packets.trace_pages import EventFormat, Trace, TraceError, page_size
from wale_lab.results.result import wale_counters
from wale_lab.topologies.plan import Plan

__all__ = ["FORMATS", "TraceError", "write_log"]

#: So many packets are in memory with all that is written of them.
_CHUNK = 65536

_DEVICE_BYTES = 16

#: Events that say when and where packets go on.
_RELEASES = ("wale_release", "wire_arrival")

Log = Callable[[str], None]


@dataclass(frozen=True)
class _Ordered:
    """Packets by arrival."""

    at: NDArray[np.int64]
    arrival_ns: NDArray[np.int64]
    link: NDArray[np.int16]


@dataclass
class _Packets:
    """Where the trace has packets, and on which link each was."""

    at: list[NDArray[np.int64]] = field(default_factory=list)
    arrival_ns: list[NDArray[np.int64]] = field(default_factory=list)
    link: list[NDArray[np.int16]] = field(default_factory=list)
    counts: Counter[tuple[int, str]] = field(default_factory=Counter)

    def ordered(self, fates: Fates) -> _Ordered:
        """By arrival; of two at the same time, that is first whose fate was known first."""
        at = np.concatenate([np.zeros(0, np.int64), *self.at])
        arrival_ns = np.concatenate([np.zeros(0, np.int64), *self.arrival_ns])
        link = np.concatenate([np.zeros(0, np.int16), *self.link])
        here, known = places_in(fates.back, at)
        arrival_ns[here] = np.where(
            fates.arrival_ns[known] > 0, fates.arrival_ns[known], arrival_ns[here]
        )
        order = np.argsort(arrival_ns, kind="stable")
        order = order[~np.isin(at[order], fates.told_again)]
        return _Ordered(at[order], arrival_ns[order], link[order])


class _Log:
    """What the recorder of a guest left."""

    def __init__(self, folder: Path, plan: Plan, wires_ns: dict[str, int]) -> None:
        """`wires_ns`: the delays of links whose packets have them on the wire to another guest."""
        about = json.loads((folder / "trace.json").read_text())
        if about["lost"]:
            what = f"the kernel's buffer had no place for {about['lost']:,} events"
            if not about["has_times"]:
                what += "; give the guest more memory, such as --set memory_mb=4096"
            raise TraceError(what)
        self.plan = plan
        self.forms = {name: EventFormat.parse(text) for name, text in about["formats"].items()}
        self.trace = Trace(folder / "pages.raw", page_size(about["header"]))
        self.cookies: dict[str, int] = json.loads((folder / "namespaces.json").read_text())
        prefixes = _prefixes(plan)
        self.copies = {
            cookie: prefixes.index(_prefix(name)) for name, cookie in self.cookies.items()
        }
        self.links = {
            (self.cookies[link.netns], link.dev.encode()): number
            for number, link in enumerate(plan.links)
            if link.netns in self.cookies
        }
        self.wire_ns = np.array([wires_ns.get(link.name, 0) for link in plan.links], np.uint64)
        self.packets = _Packets()
        self.child = ChildPackets(about["has_times"])
        self.senders = Senders(self.copies, about["has_times"])

    @property
    def form(self) -> EventFormat:
        return self.forms["wale_packet"]

    def scan(self, log: Log) -> None:
        """The first reading."""
        for found in self.trace.find():
            number = self.trace.numbers(found.at)
            which = {name: np.flatnonzero(number == f.number) for name, f in self.forms.items()}
            events = {
                name: self.trace.fields(self.forms[name], found.at[here])
                for name, here in which.items()
            }
            places = {name: (found.at[here], found.time_ns[here]) for name, here in which.items()}
            self._scan_packets(*places["wale_packet"], events["wale_packet"])
            if "kfree_skb" in which:
                self.child.add_freed(*places["kfree_skb"], events["kfree_skb"])
                self._scan_missing(*places["wale_child_drop"], events["wale_child_drop"])
            if "tcp_probe" in which:
                where, releases = _releases(which, events)
                before = np.searchsorted(where, which["tcp_probe"])
                times = found.time_ns[which["tcp_probe"]]
                self.senders.add_probes(events["tcp_probe"], times, releases, before)
            if "ratcp_window" in which:
                self.senders.add_windows(events["ratcp_window"])
            log(f"packets: found {sum(map(len, self.packets.at)):,}")
        self.fates = self.child.fates()
        self._count_drops_of_child()

    def _scan_packets(
        self, at: NDArray[np.int64], time_ns: NDArray[np.int64], events: NDArray[Any]
    ) -> None:
        link = self._links(at, events)
        known = link >= 0
        at, time_ns, events, link = at[known], time_ns[known], events[known], link[known]
        came = events["fate"] == _number(self.form.symbols, "child")
        of_child = came | (events["arrival"] == 0)
        if of_child.any():
            self.child.add_packets(
                at[of_child], time_ns[of_child], events[of_child], came[of_child], link[of_child]
            )
        self.packets.at.append(at)
        self.packets.arrival_ns.append(came_ns(events))
        self.packets.link.append(link)
        link, events = link[~came], events[~came]
        fates = self.form.symbols
        from_line = (events["departure"] > 0) & (events["fate"] == _number(fates, "purge"))
        cases = link.astype(np.int64) << 16 | events["fate"].astype(np.int64) << 8
        cases |= events["copy"] << 1 | from_line
        for case, count in zip(*np.unique(cases, return_counts=True), strict=True):
            number, fate, copy, was_on_line = case >> 16, case >> 8 & 255, case >> 1 & 1, case & 1
            name = "purge from line" if was_on_line else fates[int(fate)]
            self.packets.counts[int(number), name] += int(count)
            self.packets.counts[int(number), "copies"] += int(count) * bool(copy > was_on_line)

    def _scan_missing(
        self, at: NDArray[np.int64], time_ns: NDArray[np.int64], events: NDArray[Any]
    ) -> None:
        self.child.add_missing(at, time_ns, events, self._links(at, events))

    def _count_drops_of_child(self) -> None:
        for link, dropped_ns in zip(self.fates.dropped_on, self.fates.dropped_ns, strict=True):
            self.packets.counts[int(link), "child" if dropped_ns else "purge"] += 1

    def _links(self, at: NDArray[np.int64], events: NDArray[Any]) -> NDArray[np.int16]:
        """The number of each packet's link; -1: it is not of this run."""
        names, _ = self.trace.variable(at, events["dev"], _DEVICE_BYTES)
        key = np.zeros(len(at), [("cookie", "u8"), ("device", f"S{_DEVICE_BYTES}")])
        key["cookie"] = events["netns_cookie"]
        key["device"] = names.view(f"S{_DEVICE_BYTES}")[:, 0]
        keys, inverse = np.unique(key, return_inverse=True)
        number = [self.links.get((int(cookie), bytes(device)), -1) for cookie, device in keys]
        return np.array(number, np.int16)[inverse]

    def check(self, qdiscs: dict[str, Any]) -> None:
        """Check that the log matches the links' counters; otherwise packets are missing."""
        for number in self.links.values():
            link = self.plan.links[number]
            if link.kind != "wale" or link.name not in qdiscs:
                continue
            told = wale_counters(qdiscs[link.name])
            if told is None:
                raise TraceError(f"link {link.name} does not tell what it counted")
            found = {name: n for (which, name), n in self.packets.counts.items() if which == number}
            for name, (here, there) in _comparison(found, told).items():
                if here != there:
                    raise TraceError(
                        f"link {link.name}: the log has {here} packets {name}, "
                        f"the link counted {there}"
                    )

    def ordered(self) -> _Ordered:
        """Its packets by arrival."""
        return self.packets.ordered(self.fates)

    def read(
        self, at: NDArray[np.int64], link: NDArray[np.int16]
    ) -> tuple[NDArray[Any], NDArray[np.uint8], NDArray[np.int64]]:
        """Of packets by their places: the events, their first bytes, and how many those are."""
        events = self.trace.fields(self.form, at)
        events["departure"] += np.where(events["departure"] > 0, self.wire_ns[link], 0)
        here, known = places_in(self.fates.back, at)
        events["arrival"][here] = self.fates.arrival_ns[known]
        here, known = places_in(self.fates.dropped, at)
        events["now"][here] = self.fates.dropped_ns[known]
        purged = here[self.fates.dropped_ns[known] == 0]
        events["fate"][purged] = _number(self.form.symbols, "purge")
        return events, *self.trace.variable(at, events["head"], HEAD_BYTES)


def _releases(
    which: dict[str, NDArray[np.int64]], events: dict[str, NDArray[Any]]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """When and where packets go on from a link, by their places: also those of other guests."""
    kinds = [name for name in _RELEASES if name in which]
    where = np.concatenate([which[name] for name in kinds])
    order = np.argsort(where, kind="stable")
    releases = np.zeros(len(where), [("netns_cookie", "u8"), ("now", "u8")])
    for key in ("netns_cookie", "now"):
        releases[key] = np.concatenate([events[name][key] for name in kinds])[order]
    return where[order], releases


def _prefixes(plan: Plan) -> list[str]:
    """Of copies of the topology, of which each is a number here, 0 if there is but one."""
    return sorted({_prefix(ns.name) for ns in plan.namespaces})


def _copies_of_links(plan: Plan) -> NDArray[np.integer]:
    """The copy of the topology that each link is in."""
    prefixes = _prefixes(plan)
    return np.array([prefixes.index(_prefix(link.netns)) for link in plan.links])


class _Merged:
    """The packets of all guests: by arrival, guest, and place in its trace."""

    def __init__(self, logs: Sequence[_Log], link_copy: NDArray[np.integer]) -> None:
        self.logs, self.link_copy = logs, link_copy
        parts = [log.ordered() for log in logs]
        self.at = np.concatenate([part.at for part in parts])
        self.link = np.concatenate([part.link for part in parts])
        self.guest = np.repeat(np.arange(len(parts)), [len(part.at) for part in parts])
        arrival_ns = np.concatenate([part.arrival_ns for part in parts])
        self.order = np.argsort(arrival_ns, kind="stable")

    def chunks(self) -> Iterator[Chunk]:
        """The second reading."""
        for begin in range(0, len(self.order), _CHUNK):
            yield self._chunk(self.order[begin : begin + _CHUNK])

    def _chunk(self, rows: NDArray[np.int64]) -> Chunk:
        places, parts = [], []
        for guest in np.unique(self.guest[rows]):
            places.append(np.flatnonzero(self.guest[rows] == guest))
            mine = rows[places[-1]]
            parts.append(self.logs[guest].read(self.at[mine], self.link[mine]))
        order = np.argsort(np.concatenate(places))
        events, head, head_len = (np.concatenate(of)[order] for of in zip(*parts, strict=True))
        heads = packet_heads.parse(head, head_len, events["protocol"])
        link = self.link[rows]
        key = keys_in_copies(_keys_of(heads), self.link_copy[link])
        return Chunk(events, link, head, head_len, heads, key)


def _prefix(netns: str) -> str:
    """Of the copy of the topology that a namespace is of."""
    return netns.rpartition(".")[0]


def _number(symbols: dict[int, str], name: str) -> int:
    return next(number for number, symbol in symbols.items() if symbol == name)


def _keys_of(heads: Heads) -> NDArray[np.uint64]:
    return connection_keys(
        heads.source, heads.target, heads.source_port, heads.target_port, heads.protocol
    )


def _comparison(found: dict[str, int], told: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Counts of the log and of the link that must be the same, by what they count."""
    from_line = found.pop("purge from line", 0)
    copies = found.pop("copies", 0)
    sent = found.pop("delivered", 0)
    drops = {
        key.removeprefix("dropped_").removesuffix("_packets"): told[key]
        for key in told
        if key.startswith("dropped_") and key.endswith("_packets")
    }
    found["purge"] = found.get("purge", 0) + from_line
    compared = {
        f"dropped ({name})": (found.get(name, 0), drops.get(name, 0)) for name in {*found, *drops}
    }
    compared["that left"] = (sent - from_line, told["sent_packets"] + told["line_packets"])
    compared["duplicated"] = (copies, told.get("duplicated_packets", 0))
    return compared


def write_log(
    raw_folders: Sequence[Path], out: Path, kind: str, plan: Plan, raw: dict[str, Any], log: Log
) -> dict[str, Any]:
    """Write packets.parquet or .csv, and packets.pcapng; say in a few words what they are.

    `raw_folders`: of each guest, what its recorder left.  TraceError if it would not be complete;
    no file is left then.
    """
    found = [_Log(folder, plan, raw.get("wires_ns", {})) for folder in raw_folders]
    log("packets: reading the trace")
    for one in found:
        one.scan(log)
        one.check(raw["qdiscs"])
    link_copy = _copies_of_links(plan)
    connections = Connections(
        plan,
        raw,
        Series.joined([one.senders.windows_of_tcp() for one in found]),
        Series.joined([one.senders.rate_windows() for one in found]),
        link_copy,
    )
    packets = _Merged(found, link_copy)
    count = len(packets.order)
    names = [f"packets.{kind}", "packets.pcapng"]
    try:
        done = 0
        with Output(out, kind, plan, found[0].form.symbols, connections, raw["start_ns"]) as output:
            for chunk in packets.chunks():
                output.write(chunk)
                done += len(chunk.link)
                log(f"packets: wrote {done:,} of {count:,} ({100 * done // count} %)")
    except BaseException:
        for name in names:
            (out / name).unlink(missing_ok=True)
        raise
    return {"rows": count, "files": names}
