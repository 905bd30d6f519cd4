# SPDX-License-Identifier: GPL-2.0
"""The numbers that studies take from a run, by name.

MEASURES says what each is.  A persistent session's throughput counts packets as Karnik and
Kumar do: whole IP packets that arrived in order, 500 bytes each where the MTU is 500.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from wale_lab.link import wire_bytes
from wale_lab.results.result import full_packet_bytes
from wale_lab.scenario import Scenario
from wale_lab.timeline import LEAD_NS
from wale_lab.models import sessions
from wale_lab.topologies.plan import link_seed

_MEASURED = {
    "throughput_kBps": "IP packets that arrived in order, kB/s (1 kB = 1000 bytes)",
    "throughput_packets_per_s": "the same in full packets of the sender, packets/s",
    "available_fraction": "throughput over the capacity that flows of constant rate leave",
    "mean_round_trip_s": "for a flow of constant rate: mean delay of its packets plus the "
    "propagation back, s",
    "mean_fair_rate_kBps": "stationary mean of the flow's fair rate, in full packets of IP, kB/s",
    "fair_rate_kBps": "mean of that rate while the flow ran, kB/s",
    "efficiency": "throughput over the mean fair rate while the flow ran",
    "adjusted_throughput_kBps": "efficiency times the stationary mean fair rate, kB/s: the "
    "throughput without the randomness of the sessions (a ratio estimate)",
    "retransmits_per_1000": "retransmitted packets, of 1000 sent",
    "buffer_drops_per_1000": "packets that found the buffer full, of 1000 that arrived at the link",
    "drops_per_1000": "packets that the link dropped for any reason, of 1000 that arrived at it; "
    "of a program",
    "buffer_drops_per_1000_s": "packets that found the buffer full in 1000 s",
    "total_throughput_kBps": "payload of all flows on the link, kB/s",
    "total_efficiency": "payload of all flows on the link over the capacity with full packets",
    "fairness_index": "(sum of throughputs)^2 / (number times sum of their squares), of all flows "
    "on the link (Jain)",
    "peak_backlog_packets": "most packets in the buffer of the link",
    "peak_backlog_cells": "most ATM cells in the buffer of the link, with a limit in cells",
    "mean_backlog_packets": "packets in the buffer of the link, mean of the samples from "
    "record.settled on",
    "settled_utilisation": "bytes sent over the capacity of the link, from record.settled on",
    "session_throughput_kBps": "mean over sessions of payload bytes over time, kB/s",
    "session_throughput_cv": "standard deviation of a session's throughput over its mean",
    "retransmitted_kB_per_session": "retransmitted payload, mean over sessions, kB",
    "sessions_completed": "number of sessions that got all of their bytes",
}

#: What the metrics of a program begin with: METRIC + NAME is a measure of its flow.
METRIC = "metrics."

#: What a study may measure.  Rates, which runs have in kB/s, are there in the unit of links too.
MEASURES = _MEASURED | {
    name.replace("_kBps", "_Mbps"): text.replace("kB/s (1 kB = 1000 bytes)", "Mbit/s").replace(
        "kB/s", "Mbit/s"
    )
    for name, text in _MEASURED.items()
    if name.endswith("_kBps")
}


def is_measure(name: str) -> bool:
    """Is there such a measure?  Of metrics, each scenario has its own."""
    return name in MEASURES or name.startswith(METRIC)


def value_of(measured: dict[str, float], name: str) -> float:
    """A measure of a flow, of those that a run has; KeyError if there is none."""
    if name in measured or not name.endswith("_Mbps"):
        return measured[name]
    return measured[name.replace("_Mbps", "_kBps")] * 8 / 1e3


def measure(result: dict[str, Any], scenario: Scenario, seed: int) -> dict[str, dict[str, float]]:
    """The measures of each flow of a run, those that there are."""
    links = {link["name"]: link for link in result["links"]}
    found = {}
    for flow in result["flows"]:
        if not flow["completed"]:
            raise ValueError(f"flow {flow['name']}: {flow.get('error')}")
        prefix = f"{flow['name']}." if scenario.isolate else ""
        if "metrics" in flow:
            found[flow["name"]] = _program(flow, links[prefix + "forward"])
            continue
        found[flow["name"]] = {
            **_throughput(flow, links[prefix + "forward"], scenario, seed),
            **_losses(flow, links[prefix + "forward"]),
            **_sessions(flow),
            **_constant(flow, scenario),
            **_backlog(links[prefix + "forward"]),
            **_total([flow] if scenario.isolate else result["flows"]),
        }
    return found


def _epoch_s(link: dict[str, Any], scenario: Scenario) -> float:
    """When the sessions of the forward link began: as it says, or as it was to if it says nothing.

    In real time a link begins a little before or after that, so what it says counts.
    """
    start_ns = scenario.bottleneck.forward.start
    planned_ns = -LEAD_NS[scenario.time] if start_ns is None else start_ns
    return float(link.get("epoch_s", planned_ns / 1e9))


def _throughput(
    flow: dict[str, Any], result_link: dict[str, Any], scenario: Scenario, seed: int
) -> dict[str, float]:
    settings = next(f for f in scenario.transfers if f.name == flow["name"])
    mtu = full_packet_bytes(scenario, flow, settings)
    mss = flow.get("mss_bytes") or mtu - 40
    rate_kBps = flow["goodput_Bps"] * mtu / mss / 1e3
    found = {"throughput_kBps": rate_kBps, "throughput_packets_per_s": rate_kBps * 1e3 / mtu}
    found |= _beside_constant(rate_kBps, scenario)
    link = scenario.bottleneck.forward
    if not isinstance(link.rate, int) or link.qdisc or link.trace:
        return found
    rate_kBps = link.rate / 8e3 * mtu / wire_bytes(link, mtu)  # of IP, if it is full packets
    mean = now = rate_kBps
    if link.sessions:
        chain = link.sessions.chain()
        mean = rate_kBps * sessions.mean_share(chain)
        ago_s = -_epoch_s(result_link, scenario)
        begin_s, end_s = flow["start_s"] + ago_s, flow["end_s"] + ago_s
        seed = link_seed(seed, "forward")
        now = rate_kBps * sessions.realised_share(chain, seed, begin_s, end_s)
    found["mean_fair_rate_kBps"], found["fair_rate_kBps"] = mean, now
    found["efficiency"] = found["throughput_kBps"] / now
    found["adjusted_throughput_kBps"] = found["efficiency"] * mean
    return found


def _beside_constant(rate_kBps: float, scenario: Scenario) -> dict[str, float]:
    """What a flow has of the rate that flows of constant rate leave, on a link that all share."""
    if scenario.isolate:
        return {}
    link = scenario.bottleneck.forward
    others = [flow.constant.bits_per_s() for flow in scenario.transfers if flow.constant]
    if not others or not isinstance(link.rate, int) or link.rate <= sum(others):
        return {}
    return {"available_fraction": rate_kBps * 8e3 / (link.rate - sum(others))}


def _constant(flow: dict[str, Any], scenario: Scenario) -> dict[str, float]:
    counts = flow.get("constant")
    if not counts or counts["mean_delay_s"] is None:
        return {}
    settings = next(f for f in scenario.transfers if f.name == flow["name"])
    pairs = scenario.pairs
    pair = next(p for p in pairs if p.name == (settings.pair or pairs[0].name))
    back_ns = scenario.bottleneck.reverse.delay + pair.access_delay
    return {"mean_round_trip_s": counts["mean_delay_s"] + back_ns / 1e9}


def _losses(flow: dict[str, Any], link: dict[str, Any]) -> dict[str, float]:
    dropped, offered = link["dropped_packets"].get("buffer", 0), link["offered_packets"]
    again, sent = flow["retransmits"], flow.get("data_segments")
    found = {}
    if again is not None:  # the server left word of them
        if sent is None:
            sent = again + flow["bytes"] / (flow.get("mss_bytes") or 1460)
        found["retransmits_per_1000"] = 1e3 * again / max(sent, 1)
    return found | {
        "buffer_drops_per_1000": 1e3 * dropped / max(offered, 1),
        "buffer_drops_per_1000_s": 1e3 * dropped / max(flow["end_s"] - flow["start_s"], 1e-9),
    }


def _program(flow: dict[str, Any], link: dict[str, Any]) -> dict[str, float]:
    """What a program said, and what the link did to its packets, which have no other."""
    said = {METRIC + name: value for name, value in flow["metrics"].items() if value is not None}
    dropped = sum(link["dropped_packets"].values())
    return said | {
        "drops_per_1000": 1e3 * dropped / max(link["offered_packets"], 1),
        **_backlog(link),
    }


def _backlog(link: dict[str, Any]) -> dict[str, float]:
    if link.get("peak_backlog_packets") is None:
        return {}
    found = {"peak_backlog_packets": link["peak_backlog_packets"]}
    if late := link.get("settled"):
        found["mean_backlog_packets"] = late["mean_backlog_packets"]
        if late["utilisation"] is not None:
            found["settled_utilisation"] = late["utilisation"]
    if "peak_backlog_cells" in link:
        found["peak_backlog_cells"] = link["peak_backlog_cells"]
    return found


def _total(flows: list[dict[str, Any]]) -> dict[str, float]:
    """Of all flows that share a link: efficiency and fairness as Goyal and others (1998) have
    them, section 3.2, with equal shares."""
    each = [flow["goodput_Bps"] or 0.0 for flow in flows]
    squares = sum(x * x for x in each)
    found = {"total_throughput_kBps": sum(each) / 1e3}
    if squares:
        found["fairness_index"] = sum(each) ** 2 / (len(each) * squares)
    if ideal := flows[0].get("ideal_goodput_Bps"):
        found["total_efficiency"] = sum(each) / ideal
    return found


def _sessions(flow: dict[str, Any]) -> dict[str, float]:
    told = flow.get("sessions")
    if not told:
        return {}
    if told["retransmitted_bytes_per_session"] is None:
        raise ValueError(f"flow {flow['name']}: the server has no record of some sessions")
    return {
        "session_throughput_kBps": told["mean_throughput_Bps"] / 1e3,
        "session_throughput_cv": told["throughput_cv"],
        "retransmitted_kB_per_session": told["retransmitted_bytes_per_session"] / 1e3,
        "sessions_completed": told["completed"],
    }


def curves(
    folder: Path, flow: str, curve: dict[str, Any], prefix: str
) -> dict[str, list[list[float]]]:
    """Points (seconds, value) of a flow's samples, by the name of a curve."""
    source = curve["source"]
    name = f"{prefix}forward" if source == "links" else flow
    key, file = ("link", "links.csv") if source == "links" else ("flow", "flows.csv")
    found: dict[str, list[list[float]]] = {}
    with (folder / file).open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            value = row.get(curve["column"], "0")  # no column: it was never anything else
            if value in ("", "inf") or not _belongs(row[key], name, source, curve):
                continue
            time = float(row["t_s"])
            if curve["from_s"] <= time and (curve["until_s"] is None or time <= curve["until_s"]):
                point = [round(time - curve["from_s"], 9), float(value) * curve["scale"]]
                found.setdefault(row[key], []).append(point)
    if not found:
        raise ValueError(
            f"flow {flow}: expected samples of {curve['column']} in {file}, found none"
        )
    return found


def _belongs(name: str, wanted: str, source: str, curve: dict[str, Any]) -> bool:
    if source != "sessions":
        return name == wanted
    flow, _, number = name.rpartition(".")
    first = curve["first"]
    return flow == wanted and number.isdigit() and first <= int(number) < first + curve["count"]
