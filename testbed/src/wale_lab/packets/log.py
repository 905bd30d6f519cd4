# SPDX-License-Identifier: GPL-2.0
"""The log of all packets of a run: from the kernel's trace to Parquet or CSV, and pcapng.

The trace is read twice.  The first pass finds the events that are packets, and their arrival
times at the links: it keeps 18 bytes for each packet, to sort them, and the state of senders.
The counts must match those of the links.  The second pass reads the packets in that order, some
ten thousand at a time, joins them with the state of their senders, and writes them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wale_lab.packets import heads as packet_heads
from wale_lab.packets.child import ChildPackets, Fates, places_in
from wale_lab.packets.heads import Heads, connection_keys, keys_in_copies
from wale_lab.packets.senders import Senders
from wale_lab.packets.table import FORMATS, HEAD_BYTES, Chunk, Connections, Output, came_ns
from wale_lab.packets.trace_pages import EventFormat, Trace, TraceError, page_size
from wale_lab.results.result import wale_counters
from wale_lab.topologies.plan import Plan

__all__ = ["FORMATS", "TraceError", "write_log"]

#: So many packets are in memory with all that is written of them.
_CHUNK = 65536

_DEVICE_BYTES = 16

Log = Callable[[str], None]


@dataclass
class _Packets:
    """Where the trace has packets, and on which link each was."""

    at: list[NDArray[np.int64]] = field(default_factory=list)
    arrival_ns: list[NDArray[np.int64]] = field(default_factory=list)
    link: list[NDArray[np.int16]] = field(default_factory=list)
    counts: Counter[tuple[int, str]] = field(default_factory=Counter)

    def ordered(self, fates: Fates) -> tuple[NDArray[np.int64], NDArray[np.int16]]:
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
        return at[order], link[order]


class _Log:
    """What the recorder left of one run."""

    def __init__(self, folder: Path, plan: Plan) -> None:
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
        prefixes = sorted({_prefix(ns.name) for ns in plan.namespaces})
        # a copy of the topology is a number, 0 if there is but one
        self.copies = {
            self.cookies[ns.name]: prefixes.index(_prefix(ns.name)) for ns in plan.namespaces
        }
        self.link_copy = np.array([self.copies[self.cookies[ln.netns]] for ln in plan.links])
        self.links = {
            (self.cookies[link.netns], link.dev.encode()): number
            for number, link in enumerate(plan.links)
        }
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
                before = np.searchsorted(which["wale_release"], which["tcp_probe"])
                times = found.time_ns[which["tcp_probe"]]
                self.senders.add_probes(events["tcp_probe"], times, events["wale_release"], before)
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
        for number, link in enumerate(self.plan.links):
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

    def chunks(self) -> tuple[int, Any]:
        """How many packets there are, and the second reading."""
        at, link = self.packets.ordered(self.fates)
        return len(at), (
            self._chunk(at[begin : begin + _CHUNK], link[begin : begin + _CHUNK])
            for begin in range(0, len(at), _CHUNK)
        )

    def _chunk(self, at: NDArray[np.int64], link: NDArray[np.int16]) -> Chunk:
        events = self.trace.fields(self.form, at)
        here, known = places_in(self.fates.back, at)
        events["arrival"][here] = self.fates.arrival_ns[known]
        here, known = places_in(self.fates.dropped, at)
        events["now"][here] = self.fates.dropped_ns[known]
        purged = here[self.fates.dropped_ns[known] == 0]
        events["fate"][purged] = _number(self.form.symbols, "purge")
        head, head_len = self.trace.variable(at, events["head"], HEAD_BYTES)
        heads = packet_heads.parse(head, head_len, events["protocol"])
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
    raw_folder: Path, out: Path, kind: str, plan: Plan, raw: dict[str, Any], log: Log
) -> dict[str, Any]:
    """Write packets.parquet or .csv, and packets.pcapng; say in a few words what they are.

    TraceError if it would not be complete; no file is left then.
    """
    found = _Log(raw_folder, plan)
    log("packets: reading the trace")
    found.scan(log)
    found.check(raw["qdiscs"])
    connections = Connections(
        plan,
        raw,
        found.senders.windows_of_tcp(),
        found.senders.rate_windows(),
        found.link_copy,
    )
    count, chunks = found.chunks()
    names = [f"packets.{kind}", "packets.pcapng"]
    try:
        done = 0
        with Output(out, kind, plan, found.form.symbols, connections, raw["start_ns"]) as output:
            for chunk in chunks:
                output.write(chunk)
                done += len(chunk.link)
                log(f"packets: wrote {done:,} of {count:,} ({100 * done // count} %)")
    except BaseException:
        for name in names:
            (out / name).unlink(missing_ok=True)
        raise
    return {"rows": count, "files": names}
