# SPDX-License-Identifier: GPL-2.0
"""A flow of packets at a constant rate: its results."""

from __future__ import annotations

import json
from typing import Any

#: delays.csv: one row for each flow of packets and interval of the samples in which any came.
DELAY_COLUMNS = {
    "t_s": "seconds since the scenario's start, at the end of the interval",
    "flow": "name",
    "packets": "that came in the interval",
    "least_delay_s": "from when one was due to its arrival",
    "mean_delay_s": "mean of them",
    "largest_delay_s": "largest of them",
}


def _told(text: str) -> dict[str, Any]:
    """What `wale send` or `wale receive` printed; {} if nothing."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def summary(sent: dict[str, Any], came: dict[str, Any]) -> dict[str, Any]:
    """The counts of both ends; times in seconds are from when a packet was due."""
    received = int(came.get("packets", 0))
    twice = int(came.get("duplicate_packets", 0))
    return {
        "packet_bytes": sent.get("packet_bytes"),
        "sent_packets": sent.get("packets"),
        "received_packets": received,
        "lost_packets": sent["packets"] - (received - twice)
        if "packets" in sent and "packets" in came
        else None,
        "out_of_order_packets": came.get("late_packets"),
        "duplicate_packets": came.get("duplicate_packets"),
        "largest_lateness_s": _seconds(sent.get("max_late_ns")),
        "least_gap_s": _seconds(came.get("min_gap_ns")),
        "largest_gap_s": _seconds(came.get("max_gap_ns")),
        "least_delay_s": _seconds(came.get("min_delay_ns")),
        "mean_delay_s": _seconds(came.get("mean_delay_ns")),
        "largest_delay_s": _seconds(came.get("max_delay_ns")),
    }


def _seconds(ns: int | None) -> float | None:
    return None if ns is None else ns / 1e9


def delay_rows(flow: str, record: dict[str, Any], interval_ns: int) -> list[dict[str, str]]:
    """The rows of delays.csv of a flow, from the agent's counts."""
    return [
        {
            "t_s": f"{(number + 1) * interval_ns / 1e9:.6f}",
            "flow": flow,
            "packets": str(count),
            "least_delay_s": f"{least / 1e9:.9f}",
            "mean_delay_s": f"{total / count / 1e9:.9f}",
            "largest_delay_s": f"{largest / 1e9:.9f}",
        }
        for number, count, least, total, largest in record.get("delays") or []
    ]


def flow_of_packets(record: dict[str, Any], headers: int) -> dict[str, Any]:
    """The keys of a flow in result.json, from what its sender and its receiver said.

    `headers` are the bytes of IP and UDP in a packet.
    """
    sent, came = _told(record["client"]), _told(record["server"])
    counts = summary(sent, came)
    size = counts["packet_bytes"] or headers
    payload = counts["received_packets"] * (size - headers)
    seconds = sent.get("seconds")
    overflowed = came.get("overflowed_packets", 0)
    error = record["client_errors"].strip() or None
    if error is None and "packets" not in came:
        error = (
            f"the receiver told nothing: {record.get('server_errors', '').strip() or 'no errors'}"
        )
    if overflowed:  # not the link's
        error = f"the receiver had no room for {overflowed} packets"
    return {
        "cc": "none",
        "bytes": payload,
        "seconds": seconds,
        "goodput_Bps": payload / seconds if seconds else None,
        "retransmits": 0,
        "completed": record["status"] == 0 and error is None,
        "sha256": None,
        "sha256_ok": None,
        "first_byte_s": None,
        "min_rtt_us": None,
        "mss_bytes": size - headers,
        "data_segments": counts["sent_packets"],
        "error": error,
        "constant": counts,
    }
