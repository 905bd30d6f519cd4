# SPDX-License-Identifier: GPL-2.0
"""From what the agent saw to result.json and its time series; and the digest.

The digest is SHA-256 over canonical JSON (sorted keys, no blanks, UTF-8) of

    {"settings": ..., "seed": ..., "kernel": ..., "flows": ..., "links": ...,
     "virtual_s": ..., "flows_csv": ..., "links_csv": ..., "channel_csv": ...,
     "sessions_csv": ..., "delays_csv": ...}

which is the resolved scenario (every key, and the profile's content), the seed, the
kernel's release, and everything that was observed, the CSV files as text included.  Wall times,
paths, the engine's name and the versions of programs are not in it: they do not change
what happened in virtual time.  Of a run in several guests, "cut" is in it, too: which namespaces
were in which guest (topologies/cut.py).  A whole number above 2^53 - 1 is text, here and in the file.
Options of a link have the words that they had first, whatever they are called now.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wale_lab.results import constant, programs, sessions
from wale_lab.engines.base import OUT_DIR
from wale_lab.errors import ScenarioError
from wale_lab.link import Link, wire_bytes
from wale_lab.link_words import in_former_words
from wale_lab.scenario import LISTENING_CC, Flow, Scenario
from wale_lab.results.sessions import SESSION_COLUMNS, SocketNames
from wale_lab.results.trace_work import TraceWork
from wale_lab.timeline import LEAD_NS, flows_begin_ns
from wale_lab.units import UNLIMITED
from wale_lab.topologies.plan import Plan, PlannedFlow

#: Counts up when a key changes its meaning.
FORMAT = 1

#: What a run leaves in its output folder.
OUTPUT_FILES = (
    "result.json",
    "flows.csv",
    "links.csv",
    "channel.csv",
    "sessions.csv",
    "delays.csv",
    "result.png",
    "comparison.png",
    "result.html",
    "comparison.html",
    "topology.png",
    "packets.parquet",
    "packets.csv",
    "packets.pcapng",
)

#: flows.csv: one row for each flow and sample. Cumulative counts begin with the flow.
FLOW_COLUMNS = {
    "t_s": "seconds since the scenario's start",
    "flow": "name; of a session, or of one of a program's sockets, with a dot and its number",
    "cc": "congestion control in force",
    "state": "of the sender's TCP",
    "cwnd_packets": "congestion window",
    "ssthresh_packets": "slow start threshold (inf: none yet)",
    "srtt_us": "smoothed round trip time, microseconds",
    "min_rtt_us": "least round trip time so far, microseconds",
    "rto_us": "retransmission timeout, microseconds",
    "unacked_packets": "sent and not yet acknowledged",
    "lost_packets": "believed lost now",
    "retransmits_total": "packets sent again so far",
    "bytes_sent": "by the sender's TCP so far, retransmissions included",
    "bytes_acked": "acknowledged so far",
    "bytes_received": "received in order at the receiver so far",
    "pacing_rate_Bps": "rate of pacing, bytes/s (inf: none)",
    "delivery_rate_Bps": "TCP's estimate of the delivery rate, bytes/s",
}

#: links.csv: one row for each link and sample. Packets and bytes of the wire, cumulative.
LINK_COLUMNS = {
    "t_s": "seconds since the scenario's start",
    "link": "name",
    "offered_packets": "that came to the link so far",
    "offered_bytes": "that came to the link so far",
    "sent_packets": "that left it so far",
    "sent_bytes": "that left it so far",
    "dropped_buffer_packets": "that found the buffer full",
    "dropped_loss_packets": "lost at random",
    "dropped_memory_packets": "for want of memory",
    "dropped_purge_packets": "held when the device went down, or by a child that was replaced",
    "backlog_packets": "waiting or in service now",
    "backlog_bytes": "waiting or in service now",
    "peak_backlog_packets": "largest backlog so far",
    "peak_backlog_bytes": "largest backlog so far",
    "line_packets": "on their way now, after service",
    "line_bytes": "on their way now, after service",
    "rate_Bps": "of service now, bytes/s (inf: no limit)",
    "sessions": "that share the link now, M",
    "dropped_early_packets": "that a policy refused; empty without a policy",
    "dropped_partial_packets": "that lacked cells after service; empty without a limit in cells",
    "marked_packets": "that got a mark instead of being refused or lost; empty if none can",
    "backlog_cells": "in the buffer now; empty without a limit in cells, as the next",
    "wasted_cells": "that were served, of packets dropped as partial",
    "duplicated_packets": "of which a copy was made",
    "duplicated_bytes": "of those copies",
    "corrupted_packets": "of which a bit was turned",
    "reordered_packets": "that overtook others",
    "dropped_child_packets": "that a qdisc instead of the buffer dropped",
    "dropped_line_packets": "that found the line full; a column only if there were any",
    "dropped_down_packets": "of a link that was down; a column only if there were any",
    "dropped_policer_packets": "that exceeded a policer; a column only if there were any",
    "dropped_breaker_packets": "of flows that were cut; a column only if there were any",
}

#: Columns that a run has only if they tell something.
_SELDOM = tuple(f"dropped_{reason}_packets" for reason in ("line", "down", "policer", "breaker"))

#: channel.csv: one row for each flow that listens and sample, as of its last ACK.
CHANNEL_COLUMNS = {
    "t_s": "seconds since the scenario's start",
    "flow": "name; of a session, with a dot and its number",
    "phase": "of the sender: reno (no advice), slow-start, avoidance, inactive, recovery",
    "rate_Bps": "the flow's own share as it used it last, bytes/s (inf: no limit)",
    "base_rtt_us": "base round-trip time in use, microseconds",
    "rate_window_packets": "W_rate; 0: no advice",
    "cwnd_packets": "congestion window",
    "in_flight_packets": "packets in flight",
    "packet_bytes": "a full packet, as the rate counts it",
    "bytes_acked": "acknowledged so far",
    "lost_advice": "how often advice ended or grew too old",
    "found_advice": "how often it began or came back",
}

_PHASES = ("reno", "slow-start", "avoidance", "inactive", "recovery")
_NO_LIMIT = 2**64 - 1


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def _seconds(t_ns: str | int, start_ns: int) -> str:
    return f"{(int(t_ns) - start_ns) / 1e9:.6f}"


def csv_text(columns: list[str], rows: Sequence[dict[str, Any]]) -> str:
    """A table as CSV: these columns of its rows."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def links_csv(raw: dict[str, Any], plan: Plan) -> str:
    """links.csv from the files of the routers' recorders."""
    names = {(ln.netns, ln.dev): ln.name for ln in plan.links if ln.shown}
    rows = []
    for series in raw["series"]:
        for row in _rows(series["links"]):
            name = names.get((series["netns"], row["link"]))
            if name is not None:
                t_s = _seconds(row["t_ns"], raw["start_ns"])
                rows.append({**row, "t_s": t_s, "link": name})
    rows.sort(key=lambda r: (float(r["t_s"]), r["link"]))
    empty = {c for c in _SELDOM if all(row.get(c, "0") in ("", "0") for row in rows)}
    return csv_text([c for c in LINK_COLUMNS if c not in empty], rows)


def _socket_names(raw: dict[str, Any], plan: Plan) -> dict[str, SocketNames]:
    """How the sockets of each flow are called."""
    return {
        flow.name: SocketNames(
            flow.name, sessions.sessions_of(raw["flows"][flow.name]) if flow.arrivals else None
        )
        for flow in plan.flows
    }


def _name_of(
    row: dict[str, str], flow: PlannedFlow, names: SocketNames, at_sender: bool
) -> str | None:
    """What a socket is called if it is one of the flow's; its server listens on the flow's port."""
    server_here = at_sender == (flow.tool == "wale")
    server, client = ("local", "remote") if server_here else ("remote", "local")
    if int(row[f"{server}_port"]) != flow.port:
        return None
    return names.at(int(row["t_ns"]), int(row[f"{client}_port"]))


def _by_name(
    rows: list[dict[str, str]], flow: PlannedFlow, names: SocketNames, column: str
) -> dict[str, dict[str, str]]:
    """The flow's sockets of a sample: those with most in the column, which the sender counts or
    the receiver. iperf3 has one for control beside that for data."""
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        name = _name_of(row, flow, names, at_sender=column == "bytes_sent")
        if name and (name not in found or int(row[column] or 0) > int(found[name][column] or 0)):
            found[name] = row
    return found


def flows_csv(raw: dict[str, Any], plan: Plan) -> str:
    """flows.csv from the files of the senders' and receivers' recorders."""
    samples: dict[str, dict[str, list[dict[str, str]]]] = {}
    for series in raw["series"]:
        by_time: dict[str, list[dict[str, str]]] = {}
        for row in _rows(series["flows"]):
            by_time.setdefault(row["t_ns"], []).append(row)
        samples[series["netns"]] = by_time
    result = []
    sockets = _socket_names(raw, plan)
    for flow in plan.flows:
        names = sockets[flow.name]
        received = samples.get(flow.receiver_netns, {})
        for t_ns, rows in samples.get(flow.sender_netns, {}).items():
            there = _by_name(received.get(t_ns, []), flow, names, "bytes_received")
            for name, row in _by_name(rows, flow, names, "bytes_sent").items():
                count = there[name]["bytes_received"] if name in there else ""
                t_s = _seconds(t_ns, raw["start_ns"])
                result.append({**row, "bytes_received": count, "t_s": t_s, "flow": name})
    result += programs.sample_rows(raw, plan, _seconds)
    result.sort(key=lambda r: (float(r["t_s"]), r["flow"]))
    return csv_text(list(FLOW_COLUMNS), result)


def channel_csv(raw: dict[str, Any], plan: Plan) -> str:
    """channel.csv from the file of the channel's recorder; empty if no flow listened."""
    result: dict[tuple[str, str], dict[str, str]] = {}
    flows: dict[str, list[PlannedFlow]] = {}
    for flow in plan.flows:
        flows.setdefault(flow.sender_netns, []).append(flow)
    sockets = _socket_names(raw, plan)
    for row in _rows(raw.get("channel", "")):
        for flow in flows[row["netns"]]:
            name = _name_of(row, flow, sockets[flow.name], at_sender=True)
            best = result.get((row["t_ns"], name or ""), {"bytes_acked": "-1"})
            if name and int(row["bytes_acked"] or 0) > int(best["bytes_acked"] or 0):
                result[row["t_ns"], name] = {**row, "flow": name}
    rows = [_channel_row(row, raw["start_ns"]) for row in result.values()]
    rows.sort(key=lambda r: (float(r["t_s"]), r["flow"]))
    return csv_text(list(CHANNEL_COLUMNS), rows) if rows else ""


def _channel_row(row: dict[str, str], start_ns: int) -> dict[str, str]:
    """A row with the words and units of people."""
    rate = row["rate"]
    return {
        **row,
        "t_s": _seconds(row["t_ns"], start_ns),
        "phase": _PHASES[int(row["phase"])] if row["phase"] else "",
        "rate_Bps": "inf" if rate and int(rate) == _NO_LIMIT else rate,
        "base_rtt_us": str(int(row["base_rtt_ns"]) // 1000) if row["base_rtt_ns"] else "",
    }


def sessions_csv(raw: dict[str, Any], plan: Plan) -> str:
    """sessions.csv from the output of the flows of sessions; empty if there are none."""
    rows = [
        row
        for flow in plan.flows
        if flow.arrivals
        for row in sessions.rows_of(flow.name, raw["flows"][flow.name], raw["start_ns"])
    ]
    return csv_text(list(SESSION_COLUMNS), rows) if any(f.arrivals for f in plan.flows) else ""


def delays_csv(raw: dict[str, Any], scenario: Scenario, plan: Plan) -> str:
    """delays.csv from what receivers of packets wrote down; no text if none did."""
    rows = [
        row
        for flow in plan.flows
        for row in constant.delay_rows(flow.name, raw["flows"][flow.name], scenario.record.interval)
    ]
    rows.sort(key=lambda row: (float(row["t_s"]), row["flow"]))
    return csv_text(list(constant.DELAY_COLUMNS), rows) if rows else ""


def _last_json(text: str) -> dict[str, Any]:
    """The last JSON object of a program's output, {} if there is none."""
    for candidate in (text, text.strip().rpartition("\n")[2]):
        try:
            value = json.loads(candidate)
        except json.JSONDecodeError:
            continue
        if isinstance(value, dict):
            return value
    return {}


def _wale_flow(record: dict[str, Any], flow: PlannedFlow) -> dict[str, Any]:
    """What wale get and wale serve said."""
    client, server = _last_json(record["client"]), _last_json(record["server"])
    bytes_here = client.get("bytes") or 0
    errors = [client.get("error"), record["client_errors"].strip() or None]
    completed = record["status"] == 0 and not client.get("error")
    if flow.size is not None and bytes_here != flow.size:
        completed = False
    return {
        "cc": client.get("cc") or server.get("cc") or flow.cc,
        "bytes": bytes_here,
        "seconds": client.get("seconds"),
        "goodput_Bps": client.get("goodput_Bps"),
        "retransmits": server.get("retransmits", client.get("retransmits")),
        "completed": completed,
        "sha256": client.get("sha256"),
        "sha256_ok": client.get("sha256_ok"),
        "first_byte_s": client.get("first_byte_s"),
        "min_rtt_us": server.get("min_rtt_us", client.get("min_rtt_us")),
        "mss_bytes": server.get("mss_bytes"),
        "data_segments": server.get("data_segments"),
        "error": next((e for e in errors if e), None),
    }


def _iperf_flow(record: dict[str, Any], flow: PlannedFlow) -> dict[str, Any]:
    """What iperf3 said."""
    said = _last_json(record["client"])
    end = said.get("end", {})
    received, sent = end.get("sum_received", {}), end.get("sum_sent", {})
    stream = (end.get("streams") or [{}])[0].get("sender", {})
    seconds = received.get("seconds")
    count = received.get("bytes")
    error = said.get("error") or record["client_errors"].strip() or None
    return {
        "cc": end.get("sender_tcp_congestion") or flow.cc,
        "bytes": count or 0,
        "seconds": seconds,
        "goodput_Bps": count / seconds if count and seconds else None,
        "retransmits": sent.get("retransmits"),
        "completed": record["status"] == 0 and error is None and bool(count),
        "sha256": None,
        "sha256_ok": None,
        "first_byte_s": None,
        "min_rtt_us": stream.get("min_rtt"),
        "mss_bytes": said.get("start", {}).get("tcp_mss_default"),
        "data_segments": None,
        "error": error,
    }


def ideal_goodput_Bps(
    link: Link,
    packet_bytes: int,
    mss: int | None,
    t0_s: float,
    t1_s: float,
    epoch_s: float | None = None,
) -> float | None:
    """What full packets could carry from t0 to t1 over a link without loss; None: no bound.

    A full packet has `packet_bytes` of IP; the link's trace began at `epoch_s`.
    """
    rate_bps = _mean_rate_bps(link, t0_s, t1_s, epoch_s)
    if rate_bps is None:
        return None
    wire = wire_bytes(link, packet_bytes)
    return rate_bps / 8 * (mss if mss else packet_bytes - 40) / wire


def full_packet_bytes(scenario: Scenario, flow: dict[str, Any], settings: Flow) -> int:
    """Bytes of IP of a full packet of a flow: its own size, or what both of its ends let by."""
    if flow.get("constant") and flow["constant"]["packet_bytes"]:
        return int(flow["constant"]["packet_bytes"])
    return min(scenario.mtus(settings))


def _epoch_s(raw: dict[str, Any], counters: dict[str, Any] | None) -> float | None:
    """When a link's trace or sessions began, on the scenario's clock; None if it has neither."""
    epoch_ns = (counters or {}).get("epoch_ns")
    return None if epoch_ns is None else (int(epoch_ns) - raw["start_ns"]) / 1e9


def _mean_rate_bps(link: Link, t0_s: float, t1_s: float, epoch_s: float | None) -> float | None:
    """The mean rate of a link between two times; None if the settings do not tell."""
    if link.trace is not None:
        start_s = (link.start or 0) / 1e9 if epoch_s is None else epoch_s
        if any(rate == UNLIMITED for _, rate in link.trace.rates(link.rate)):
            return None
        return TraceWork(link.trace, link.rate, start_s).mean_bps(t0_s, t1_s)
    if isinstance(link.rate, int) and link.sessions is None and link.qdisc is None:
        return link.rate
    return None


def utilisation(
    link: Link, sent_bytes: int, t0_s: float, t1_s: float, epoch_s: float | None = None
) -> float | None:
    """What left a link, as a share of what it could carry from t0 to t1; None if unknown."""
    rate_bps = _mean_rate_bps(link, t0_s, t1_s, epoch_s)
    return sent_bytes * 8 / (rate_bps * (t1_s - t0_s)) if rate_bps and t1_s > t0_s else None


def settled(
    link: Link,
    rows: list[dict[str, str]],
    t0_s: float,
    t1_s: float,
    epoch_s: float | None = None,
) -> dict[str, Any]:
    """The counts of a link from t0 to t1, from its samples; {} if there are fewer than two."""
    rows = [row for row in rows if t0_s <= float(row["t_s"]) <= t1_s]
    if len(rows) < 2:
        return {}
    first, last = rows[0], rows[-1]
    from_s, until_s = float(first["t_s"]), float(last["t_s"])

    def growth(column: str) -> int:
        return int(last[column]) - int(first[column] or 0)

    # a copy takes none of the link's rate
    served_bytes = growth("sent_bytes")
    if last["duplicated_bytes"]:
        served_bytes -= growth("duplicated_bytes")
    happened = ("duplicated_packets", "corrupted_packets", "reordered_packets")
    dropped = [c for c in last if c.startswith("dropped_") and c.endswith("_packets") and last[c]]
    return {
        "from_s": from_s,
        "until_s": until_s,
        "sent_packets": growth("sent_packets"),
        "sent_bytes": growth("sent_bytes"),
        "utilisation": utilisation(link, served_bytes, from_s, until_s, epoch_s),
        "dropped_packets": {c[len("dropped_") : -len("_packets")]: growth(c) for c in dropped},
        **{name: growth(name) for name in happened if last.get(name) and growth(name)},
        "peak_backlog_packets": max(int(row["backlog_packets"]) for row in rows),
        "mean_backlog_packets": sum(int(row["backlog_packets"]) for row in rows) / len(rows),
    }


def flow_results(
    raw: dict[str, Any], scenario: Scenario, plan: Plan, folder: Path = Path()
) -> list[dict[str, Any]]:
    """The `flows` of result.json, in the order of the scenario."""
    sockets = programs.Sockets(raw, plan)
    found = transfer_results(raw, scenario, plan)
    found += [
        programs.flow_of_program(raw, program, folder, sockets) for program in scenario.programs
    ]
    order = [flow.name for flow in scenario.flows]
    return sorted(found, key=lambda flow: order.index(flow["name"]))


def transfer_results(raw: dict[str, Any], scenario: Scenario, plan: Plan) -> list[dict[str, Any]]:
    """Those flows that are not programs."""
    results = []
    for flow in plan.flows:
        record = raw["flows"][flow.name]
        if record["started_ns"] is None:
            found: dict[str, Any] = {"cc": flow.cc, "bytes": 0, "completed": False}
            found |= dict.fromkeys(("seconds", "goodput_Bps", "retransmits", "sha256"))
            found["error"] = "it was never started: the flow before it did not end"
            results.append({"name": flow.name, "tool": flow.tool, **found})
            continue
        if flow.constant:
            found = constant.flow_of_packets(record, 28 if scenario.ip == 4 else 48)
        elif flow.arrivals:
            found = sessions.flow_of_sessions(record, flow.cc, flow.arrivals.sessions)
        else:
            found = (_wale_flow if flow.tool == "wale" else _iperf_flow)(record, flow)
        start_s = (record["started_ns"] - raw["start_ns"]) / 1e9
        end_s = (record["ended_ns"] - raw["start_ns"]) / 1e9
        if record.get("late"):
            found["completed"] = False
            found["error"] = "it still ran at the scenario's virtual_limit"
        elif record.get("cut"):
            found["completed"] = False
            found["error"] = "it was ended because a program failed"
        if not found["completed"] and not found["error"]:
            found["error"] = f"{flow.tool} ended with status {record['status']}"
        settings = next(of for of in scenario.transfers if of.name == flow.name)
        ideals = [
            ideal_goodput_Bps(
                scenario.links()[name][1],
                full_packet_bytes(scenario, found, settings),
                found["mss_bytes"],
                start_s,
                end_s,
                _epoch_s(raw, wale_counters(raw["qdiscs"][_prefix(flow) + name])),
            )
            for name in scenario.way(settings)
        ]
        ideal = min((value for value in ideals if value is not None), default=None)
        found["ideal_goodput_Bps"] = ideal
        goodput = found["goodput_Bps"]
        found["ideal_share"] = goodput / ideal if goodput and ideal else None
        times = {"start_s": round(start_s, 9), "end_s": round(end_s, 9)}
        results.append({"name": flow.name, "tool": flow.tool, **found, **times})
    return results


def _prefix(flow: PlannedFlow) -> str:
    """What the names of the flow's copy of the topology begin with."""
    return "".join(flow.sender_netns.rpartition(".")[:2])


def wale_counters(qdisc: dict[str, Any]) -> dict[str, Any] | None:
    """The statistics of a wale qdisc in tc's output, wherever they are nested."""
    if "offered_packets" in qdisc:
        return qdisc
    for value in qdisc.values():
        if isinstance(value, dict) and (found := wale_counters(value)):
            return found
    return None


def link_results(
    raw: dict[str, Any], scenario: Scenario, plan: Plan, links_text: str
) -> list[dict[str, Any]]:
    """The `links` of result.json, each with a check that no packet is missing."""
    results = []
    samples: dict[str, list[dict[str, str]]] = {}
    for row in _rows(links_text):
        samples.setdefault(row["link"], []).append(row)
    for link in plan.links:
        if not link.shown:
            continue
        qdisc = raw["qdiscs"][link.name]
        counters = wale_counters(qdisc)
        epoch_s = _epoch_s(raw, counters)
        if counters is None:  # not wale: what every qdisc counts
            sent, dropped, held = qdisc["packets"], qdisc["drops"], qdisc["qlen"]
            found: dict[str, Any] = {
                "offered_packets": sent + dropped + held,
                "sent_packets": sent,
                "sent_bytes": qdisc["bytes"],
                "dropped_packets": {"qdisc": dropped},
                "held_packets": held,
                "peak_backlog_packets": None,
                "balanced": None,
            }
        else:
            dropped_by = {
                reason: counters[f"dropped_{reason}_packets"]
                for reason in ("buffer", "loss", "memory", "purge")
                if f"dropped_{reason}_packets" in counters
            }
            dropped_by |= {
                reason: counters[f"dropped_{reason}_packets"]
                for reason in ("early", "partial", "child", "line", "down", "policer", "breaker")
                if counters.get(f"dropped_{reason}_packets")
            }
            held = counters["backlog_packets"] + counters["line_packets"]
            found = {
                "offered_packets": counters["offered_packets"],
                "offered_bytes": counters["offered_bytes"],
                "sent_packets": counters["sent_packets"],
                "sent_bytes": counters["sent_bytes"],
                "dropped_packets": dropped_by,
                "held_packets": held,
                "peak_backlog_packets": counters["peak_backlog_packets"],
                "peak_backlog_bytes": counters["peak_backlog_bytes"],
                "balanced": counters["offered_packets"] + counters.get("duplicated_packets", 0)
                == counters["sent_packets"] + sum(dropped_by.values()) + held,
            }
            if epoch_s is not None:
                found["epoch_s"] = epoch_s
            happened = ("duplicated_packets", "corrupted_packets", "reordered_packets")
            found |= {name: counters[name] for name in happened if counters.get(name)}
            cells = ("peak_backlog_cells", "dropped_cells", "wasted_cells")
            found |= {name: counters[name] for name in cells if name in counters}
        settings = scenario.link_named(link.name)
        begin_s, end_s = _times_of_use(raw, plan, scenario.copy_of(link.name))
        end_s = raw.get("at_end_s", {}).get(link.name, end_s)
        served_bytes = _served_bytes(raw["qdiscs_at_end"][link.name])
        found["utilisation"] = utilisation(settings, served_bytes, begin_s, end_s, epoch_s)
        if scenario.record.settled is not None:
            begin_s = scenario.record.settled / 1e9
            rows = samples.get(link.name, [])
            found["settled"] = settled(settings, rows, begin_s, end_s, epoch_s)
        if link.queue is not None:
            counts = {k: v for k, v in qdisc["queue"].items() if type(v) is int}
            found["queue"] = {"qdisc": " ".join(link.queue), **counts}
        results.append({"name": link.name, "qdisc": link.text, **found})
    return results


def _served_bytes(qdisc: dict[str, Any]) -> int:
    """What left a link, but for copies that it made: they take none of its rate."""
    counters = wale_counters(qdisc)
    if counters is None:
        return int(qdisc["bytes"])
    return int(counters["sent_bytes"] - counters.get("duplicated_bytes", 0))


def _times_of_use(raw: dict[str, Any], plan: Plan, prefix: str) -> tuple[float, float]:
    """When the first flow of a copy of the topology began, and when the last one ended."""
    flows = [raw["flows"][f.name] for f in plan.flows if f.sender_netns.startswith(prefix)]
    records = raw.get("programs", {})
    flows += [records[p.name] for p in plan.programs if p.name in records and not p.serve]
    begins = [f["started_ns"] for f in flows if f["started_ns"] is not None]
    ends = [f["ended_ns"] for f in flows if f["ended_ns"] is not None]
    begin_ns, end_ns = min(begins, default=raw["start_ns"]), max(ends, default=raw["ended_ns"])
    return (begin_ns - raw["start_ns"]) / 1e9, (end_ns - raw["start_ns"]) / 1e9


def digest_of(result: dict[str, Any], series: dict[str, str]) -> str:
    """The digest, as the top of this file defines it."""
    keys = ("settings", "seed", "kernel", "flows", "links", "virtual_s")
    covered = {key: result[key] for key in keys}
    covered["links"] = [{**ln, "qdisc": in_former_words(ln["qdisc"])} for ln in result["links"]]
    covered |= {name.replace(".", "_"): text for name, text in series.items()}
    covered |= {"cut": result["cut"]} if "cut" in result else {}
    text = json.dumps(covered, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _exact(value: Any) -> Any:
    """As JSON that loses nothing to a reader whose numbers are doubles, such as jq 1.6."""
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_exact(item) for item in value]
    return str(value) if isinstance(value, int) and abs(value) >= 2**53 else value


def make_result(
    raw: dict[str, Any],
    scenario: Scenario,
    plan: Plan,
    seed: int,
    about: dict[str, Any],
    folder: Path = Path(),
) -> tuple[dict[str, Any], dict[str, str]]:
    """result.json, and the CSV files by name; `about` has engine, versions, wall_s.

    `folder` has what programs printed.
    """
    series = {
        "flows.csv": flows_csv(raw, plan),
        "links.csv": links_csv(raw, plan),
        "channel.csv": channel_csv(raw, plan),
        "sessions.csv": sessions_csv(raw, plan),
    }
    if text := delays_csv(raw, scenario, plan):  # in the digest of no other run
        series["delays.csv"] = text
    result: dict[str, Any] = {
        "format": FORMAT,
        "scenario": scenario.name,
        "settings": scenario.resolved(),
        "seed": seed,
        "kernel": raw["kernel"],
        "engine": about["engine"],
        "versions": about["versions"],
        "digest": "",
        "virtual_s": (raw["ended_ns"] - raw["start_ns"]) / 1e9,
        "wall_s": about["wall_s"],
        "flows": flow_results(raw, scenario, plan, folder),
        "links": link_results(raw, scenario, plan, series["links.csv"]),
        "warnings": raw["warnings"] + about["warnings"],
    }
    if "cut" in raw:
        result["cut"] = raw["cut"]
    result = _exact(result)
    result["digest"] = digest_of(result, series)
    return result, series


def problems(result: dict[str, Any]) -> list[str]:
    """Why a run is not a good one; empty if it is."""
    found = [
        f"flow {f['name']} did not complete: {f['error']}"
        for f in result["flows"]
        if not f["completed"]
    ]
    for flow in result["flows"]:
        if flow["tool"] == "program":
            found += programs.missing_metrics(flow)
    found += [
        f"link {ln['name']}: offered {ln['offered_packets']} packets, and duplicates, are not "
        "sent + dropped + held"
        for ln in result["links"]
        if ln["balanced"] is False
    ]
    return found + list(result["warnings"])


def write(folder: Path, result: dict[str, Any], series: dict[str, str]) -> None:
    """The files of an output folder; result.json comes last, and whole."""
    for name, text in series.items():
        if text:
            (folder / name).write_text(text, encoding="utf-8")
    text = json.dumps(result, indent=2, ensure_ascii=False) + "\n"
    unfinished = folder / ".result.json.new"
    unfinished.unlink(missing_ok=True)
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(folder / "result.json")


@contextmanager
def replacing(folder: Path, aside: Path) -> Iterator[None]:
    """Move the results of an earlier run `aside`, so that they are not taken for this run's.

    It comes back if the scenario is refused.
    """
    aside.mkdir()
    own = {*OUTPUT_FILES, *_files_of_programs(folder)}
    earlier = [path.name for path in folder.iterdir() if path.name in own]
    for name in earlier:
        (folder / name).rename(aside / name)
    try:
        yield
    except ScenarioError:
        for name in earlier:
            (aside / name).rename(folder / name)
        raise


def files_of(program: str) -> list[str]:
    """The files that a run keeps of a program: its output, and what it left in its own folder."""
    return [f"{program}.{kind}" for kind in ("out", "err", "files")]


def _files_of_programs(folder: Path) -> list[str]:
    """Those that an earlier run left in its folder."""
    try:
        flows = json.loads((folder / "result.json").read_text("utf-8"))["flows"]
        names = [flow["name"] for flow in flows if flow["tool"] == "program"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [file for name in names for file in files_of(name)]


def plan_data(
    plan: Plan,
    scenario: Scenario,
    seed: int,
    shell: list[str] | None = None,
    packets: str | None = None,
    terminal: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The plan as the agent reads it; `packets` is the folder of the recorder of packets,
    `terminal` what programs share with that of the user (guest/programs.py, Terminal)."""
    recorded: dict[str, dict[str, Any]] = {}
    if scenario.record.links:
        for link in plan.links:
            if link.shown and link.kind == "wale":
                entry = recorded.setdefault(link.netns, {"links": [], "flows": False})
                entry["links"].append(link.dev)
    if scenario.record.flows:
        for flow in plan.flows:
            for netns in (flow.sender_netns, flow.receiver_netns):
                recorded.setdefault(netns, {"links": [], "flows": False})["flows"] = True
    listening = {flow.sender_netns for flow in plan.flows if flow.cc in LISTENING_CC}
    hosts = {program.netns for program in plan.programs}
    largest = max([flow.size or 0 for flow in plan.flows], default=0)
    return {
        **asdict(plan),
        "virtual": scenario.time == "virtual",
        "flows_ns": flows_begin_ns(len(plan.wires)),
        "lead_ns": LEAD_NS[scenario.time],
        "virtual_limit_ns": scenario.virtual_limit,
        "seed": seed,
        **({"reseed": True} if scenario.reseed else {}),
        "file_bytes": min(max(largest, 2**20), 2**24),
        "record": {
            "interval_ns": scenario.record.interval,
            "namespaces": recorded,
            "channel": sorted(listening) if scenario.record.flows else [],
            "sockets": sorted(hosts) if scenario.record.flows else [],
            "packets": packets,
        },
        "files": OUT_DIR,
        "terminal": terminal,
        "shell": shell,
    }
