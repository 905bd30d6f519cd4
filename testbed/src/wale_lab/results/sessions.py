# SPDX-License-Identifier: GPL-2.0
"""A flow of sessions that arrive at random: the results of each, and of all together.

`wale get --arrivals` reports the arrival and the duration of each session, `wale serve` its
retransmissions; both have the ends of the connection, by which they are joined.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from statistics import fmean, pstdev
from typing import Any

#: sessions.csv: one row for each session that arrived, by flow and time.
SESSION_COLUMNS = {
    "flow": "name",
    "session": "its number in the flow, from 1; its samples in flows.csv are FLOW.SESSION",
    "arrival_s": "when it arrived, seconds since the scenario's start",
    "end_s": "when its last byte came (empty: it failed)",
    "bytes": "received by the application",
    "throughput_Bps": "bytes over the time from its arrival to its last byte (empty: it failed)",
    "retransmits": "segments sent again",
    "retransmitted_bytes": "payload sent again",
    "port": "of the receiver's end of its connection (empty: there was none)",
}


@dataclass(frozen=True)
class Session:
    """One session; times on the guest's monotonic clock."""

    number: int
    arrival_ns: int
    end_ns: int | None  # None: it failed
    bytes: int
    port: int | None  # of the client's end
    client: dict[str, Any]  # what wale get said
    server: dict[str, Any] = field(default_factory=dict)  # what wale serve said

    @property
    def seconds(self) -> float | None:
        """From the arrival to the last byte."""
        return None if self.end_ns is None else (self.end_ns - self.arrival_ns) / 1e9

    @property
    def throughput_Bps(self) -> float | None:
        """Bytes over seconds."""
        return self.bytes / self.seconds if self.seconds else None


def _objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects of a program that prints one on each line; a last half is left out."""
    found = []
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _port(address: str | None) -> int | None:
    return int(address.rpartition(":")[2]) if address else None


def sessions_of(record: dict[str, Any]) -> list[Session]:
    """The sessions of a flow that arrived and are over, by arrival, from what its programs said."""
    return [*_sessions(record["server"], record["client"])]


@lru_cache(maxsize=4)
def _sessions(served: str, got: str) -> tuple[Session, ...]:
    servers: dict[str, list[dict[str, Any]]] = {}
    for told in _objects(served):
        servers.setdefault(told["peer"], []).append(told)
    found = []
    clients = [c for c in _objects(got) if "session" in c]
    for client in sorted(clients, key=lambda c: int(c["session"])):
        arrival_ns = int(client["epoch_ns"]) + round(client["arrival_s"] * 1e9)
        end_ns = arrival_ns + round(client["seconds"] * 1e9) if client["completed"] else None
        # a port that was used twice: the earlier session was the earlier one there, too
        there = servers.get(client["local"], [])
        found.append(
            Session(
                client["session"],
                arrival_ns,
                end_ns,
                client["bytes"],
                _port(client["local"]),
                client,
                there.pop(0) if there else {},
            )
        )
    return tuple(found)


def _quantile(ordered: list[float], share: float) -> float:
    """The value that a share of the ordered ones is below, interpolated."""
    at = share * (len(ordered) - 1)
    below = ordered[int(at)]
    return below + (ordered[min(int(at) + 1, len(ordered) - 1)] - below) * (at - int(at))


def summary(sessions: list[Session], count: int) -> dict[str, Any]:
    """Means over the completed sessions of a flow; `count` were expected to arrive."""
    done = [s for s in sessions if s.throughput_Bps is not None]
    rates = sorted(s.throughput_Bps or 0.0 for s in done)
    told = bool(done) and all("retransmits" in s.server for s in done)  # else it would be a guess
    again = [int(s.server["retransmits"]) for s in done] if told else []
    bytes_again = [int(s.server["retransmitted_bytes"]) for s in done] if told else []
    mean = fmean(rates) if rates else None
    return {
        "count": count,
        "completed": len(done),
        "mean_throughput_Bps": mean,
        "mean_seconds": fmean(s.seconds or 0.0 for s in done) if done else None,
        "p10_throughput_Bps": _quantile(rates, 0.1) if rates else None,
        "p50_throughput_Bps": _quantile(rates, 0.5) if rates else None,
        "p90_throughput_Bps": _quantile(rates, 0.9) if rates else None,
        "throughput_cv": pstdev(rates) / mean if mean else None,
        "retransmits_per_session": fmean(again) if told else None,
        "retransmitted_bytes_per_session": fmean(bytes_again) if told else None,
        "sessions_with_retransmits": sum(n > 0 for n in again) if told else None,
    }


def _first(values: Iterable[Any]) -> Any:
    return next((value for value in values if value), None)


def flow_of_sessions(record: dict[str, Any], cc: str, count: int) -> dict[str, Any]:
    """The keys of a flow in result.json, of all its sessions together."""
    sessions = sessions_of(record)
    clients, servers = [s.client for s in sessions], [s.server for s in sessions if s.server]
    ends = [s.end_ns for s in sessions if s.end_ns is not None]
    seconds = (max(ends) - int(clients[0]["epoch_ns"])) / 1e9 if ends else None
    total = sum(s.bytes for s in sessions)
    checks = [c["sha256_ok"] for c in clients]
    errors = record["client_errors"].strip().splitlines()
    return {
        "cc": _first(c["cc"] for c in clients) or cc,
        "bytes": total,
        "seconds": seconds,
        "goodput_Bps": total / seconds if seconds else None,
        "retransmits": sum(s["retransmits"] for s in servers) if servers else None,
        "completed": record["status"] == 0 and len(ends) == count,
        "sha256": None,
        "sha256_ok": None if None in checks or not checks else all(checks),
        "first_byte_s": None,
        "min_rtt_us": min((s["min_rtt_us"] for s in servers), default=None),
        "mss_bytes": _first(s["mss_bytes"] for s in servers),
        "data_segments": sum(s["data_segments"] for s in servers) if servers else None,
        "error": errors[0] if errors else None,
        "sessions": summary(sessions, count),
    }


def rows_of(name: str, record: dict[str, Any], start_ns: int) -> list[dict[str, Any]]:
    """The rows of a flow in sessions.csv; the scenario started at `start_ns`."""

    def seconds(t_ns: int | None) -> str:
        return "" if t_ns is None else f"{(t_ns - start_ns) / 1e9:.9f}"

    return [
        {
            "flow": name,
            "session": s.number,
            "arrival_s": seconds(s.arrival_ns),
            "end_s": seconds(s.end_ns),
            "bytes": s.bytes,
            "throughput_Bps": "" if s.throughput_Bps is None else f"{s.throughput_Bps:.3f}",
            "retransmits": s.server.get("retransmits", ""),
            "retransmitted_bytes": s.server.get("retransmitted_bytes", ""),
            "port": "" if s.port is None else s.port,
        }
        for s in sessions_of(record)
    ]


class SocketNames:
    """Whose a socket is: FLOW, or of a flow of sessions FLOW.SESSION."""

    def __init__(self, name: str, sessions: list[Session] | None = None) -> None:
        self.name = name
        self.of_sessions = sessions is not None
        self.by_port: dict[int, list[Session]] = {}
        for session in sessions or []:
            if session.port is not None:
                self.by_port.setdefault(session.port, []).append(session)

    def at(self, t_ns: int, client_port: int) -> str | None:
        """The name at a time, by the client's port: that of the last session that had it."""
        if not self.of_sessions:
            return self.name
        sessions = self.by_port.get(client_port, [])
        n = bisect_right(sessions, t_ns, key=lambda s: s.arrival_ns)
        return f"{self.name}.{sessions[n - 1].number}" if n else None


def received_over_time(
    samples: list[tuple[str, float, float]], ends: list[tuple[str, float, float]]
) -> tuple[list[float], list[float]]:
    """The bytes that all sessions of a flow received until each of its times.

    `samples` and `ends` are (session, seconds, bytes of the session until then); samples count
    the lines around the data too.
    """
    whole = {session: count for session, _, count in ends}
    by_session: dict[str, list[tuple[float, float]]] = {}
    for session, t_s, count in [*samples, *ends]:
        points = by_session.setdefault(session, [(0.0, 0.0)])
        points.append((t_s, min(count, whole.get(session, count))))
    growth = [
        (t_s, count - before)
        for points in by_session.values()
        for (_, before), (t_s, count) in pairwise(sorted(points))
    ]
    times, total, counts = [], 0.0, []
    for t_s, more in sorted(growth):
        total += more
        times.append(t_s)
        counts.append(total)
    return times, counts
