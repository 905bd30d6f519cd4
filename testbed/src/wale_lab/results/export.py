# SPDX-License-Identifier: GPL-2.0
"""`wale-lab export`: a run in formats that other tools read.

flent: version 4 of its data file, gzipped JSON, as a run of its test tcp_nup: what each flow
received is "TCP upload::N", the smoothed round-trip time of the flows is "Ping (ms) ICMP".

qlog: draft-ietf-quic-qlog-main-schema, version 0.4, as JSON: a trace for each flow, with the samples
of its socket as recovery:metrics_updated and, if there is a log of packets, transport:packet_sent
and transport:packet_dropped.  Packets are numbered from 0 on, in the order in which they came to
the link.

csv: all samples as one tidy table: kind, name, t_s, measure, value.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from wale_lab.errors import ScenarioError
from wale_lab.files import write_whole
from wale_lab.results.series import Curve, RunSeries, bin_of, read_runs
from wale_lab.results.stored import TEXT_COLUMNS

#: In which events of qlog the samples of a socket stand, by column of flows.csv.
_METRICS: dict[str, tuple[str, float]] = {
    "cwnd_packets": ("congestion_window", 1),  # times the segment size
    "ssthresh_packets": ("ssthresh", 1),
    "srtt_us": ("smoothed_rtt", 1e-3),
    "min_rtt_us": ("min_rtt", 1e-3),
    "unacked_packets": ("packets_in_flight", 1),
    "pacing_rate_Bps": ("pacing_rate", 8),
}
_IN_SEGMENTS = {"cwnd_packets", "ssthresh_packets"}


def _began(run: RunSeries) -> datetime:
    """When the scenario's clock was 0."""
    text = run.result["settings"].get("start") or "1970-01-01T00:00:00Z"
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)


# flent


def _resampled(curve: Curve | None, times: np.ndarray[Any, Any]) -> list[float | None]:
    """The values at some times; None before the first and after the last."""
    if curve is None or not len(curve[0]):
        return [None] * len(times)
    values = np.interp(times, curve[0], curve[1])
    inside = (times >= curve[0][0]) & (times <= curve[0][-1])
    return [float(f"{v:.7g}") if there else None for v, there in zip(values, inside, strict=True)]


def _mean(columns: list[list[float | None]]) -> list[float | None]:
    rows = ([value for value in row if value is not None] for row in zip(*columns, strict=True))
    return [sum(row) / len(row) if row else None for row in rows]


def flent_of(run: RunSeries) -> dict[str, Any]:
    """The contents of a flent data file."""
    step_s = bin_of([run])
    times = np.arange(0, run.end_s + step_s / 2, step_s)
    began = _began(run)
    results: dict[str, list[float | None]] = {}
    about: dict[str, dict[str, Any]] = {}
    round_trips = []
    for n, flow in enumerate(run.flows, 1):
        name = f"TCP upload::{n}"
        results[name] = _resampled(run.throughput(flow, step_s), times)
        about[name] = {
            "UNITS": "Mbits/s",
            "NAME": flow["name"],
            "CONG_CONTROL": flow["cc"],
            "MEAN_VALUE": (flow["goodput_Bps"] or 0) * 8e-6,
        }
        round_trips += [
            _resampled(run.round_trip(sampled), times) for sampled in run.samples_of(flow["name"])
        ]
    flows = [results[name] for name in results]
    sums = [sum(v for v in row if v is not None) for row in zip(*flows, strict=True)]
    results |= {
        "TCP upload sum": list(sums),
        "TCP upload avg": _mean(flows),
        "Ping (ms) ICMP": _mean(round_trips) if round_trips else [None] * len(times),
    }
    about["Ping (ms) ICMP"] = {"UNITS": "ms"}
    zero = began.timestamp()
    raw = {
        name: [
            {"t": round(zero + t, 6), "val": v}
            for t, v in zip(times.tolist(), values, strict=True)
            if v is not None
        ]
        for name, values in results.items()
        if name in about
    }
    when = began.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    settings = run.result["settings"]
    return {
        "version": 4,
        "x_values": [round(t, 9) for t in times.tolist()],
        "results": results,
        "raw_values": raw,
        "metadata": {
            "NAME": "tcp_nup",
            "TITLE": f"{settings['name']} {run.result['digest'][:12]}",
            "NOTE": settings["description"],
            "TIME": when,
            "T0": when,
            "BATCH_TIME": None,
            "BATCH_NAME": None,
            "BATCH_TITLE": None,
            "LENGTH": round(run.end_s),
            "TOTAL_LENGTH": round(run.end_s),
            "STEP_SIZE": step_s,
            "HOST": "receiver",
            "HOSTS": ["receiver"],
            "LOCAL_HOST": "sender",
            "IP_VERSION": settings["ip"],
            "KERNEL_NAME": "Linux",
            "KERNEL_RELEASE": run.result["kernel"],
            "FLENT_VERSION": "wale-lab",
            "DATA_FILENAME": f"{settings['name']}.flent.gz",
            "TEST_PARAMETERS": {"upload_streams": str(len(run.flows))},
            "SERIES_META": about,
            "FAILED_RUNNERS": 0,
            "REMOTE_METADATA": {},
        },
    }


def _flent(run: RunSeries) -> bytes:
    text = json.dumps(flent_of(run), separators=(",", ":"))
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", mtime=0) as file:
        file.write(text.encode())
    return packed.getvalue()


# qlog


def _samples(run: RunSeries) -> Iterator[dict[str, str]]:
    path = run.folder / "flows.csv"
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)


def _metrics(row: dict[str, str], mss: float) -> dict[str, float]:
    """The data of a recovery:metrics_updated: ms, bytes, bit/s."""
    data = {}
    for column, (name, factor) in _METRICS.items():
        if row.get(column, "") in ("", "inf"):
            continue
        value = float(row[column]) * factor * (mss if column in _IN_SEGMENTS else 1)
        data[name] = int(value) if value.is_integer() else round(value, 6)
    return data


def _packet_events(run: RunSeries, flow: str) -> Iterator[tuple[float, str, dict[str, Any]]]:
    """Each packet of a flow at its forward link: time in ms, name, data."""
    path = run.folder / "packets.parquet"
    if not path.exists():
        return
    import pyarrow.parquet as pq

    columns = ["link", "flow", "fate", "arrival_ns", "ip_bytes", "payload_bytes"]
    table = pq.read_table(path, columns=columns)
    rows = {name: table[name].to_numpy() for name in columns}
    chosen = (rows["flow"] == flow) & (rows["payload_bytes"] > 0)
    chosen &= np.isin(rows["link"].astype(str), run.forward_links)
    arrivals, fates, sizes = (rows[name][chosen] for name in ("arrival_ns", "fate", "ip_bytes"))
    for number, (time, fate, size) in enumerate(zip(arrivals, fates, sizes, strict=True)):
        about = {"header": {"packet_number": number}, "raw": {"length": int(size)}}
        yield float(time) / 1e6, "transport:packet_sent", about
        if fate != "delivered":
            yield float(time) / 1e6, "transport:packet_dropped", {**about, "trigger": str(fate)}


def _trace(run: RunSeries, flow: dict[str, Any]) -> dict[str, Any]:
    """The trace of a flow, its events in their order."""
    name, mss = flow["name"], float(flow.get("mss_bytes") or 1)
    events = [
        (float(row["t_s"]) * 1e3, "recovery:metrics_updated", _metrics(row, mss))
        for row in _samples(run)
        if row["flow"] == name
    ]
    events += _packet_events(run, name)
    return {
        "title": name,
        "vantage_point": {"name": name, "type": "server"},
        "common_fields": {
            "time_format": "relative",
            "reference_time": _began(run).timestamp() * 1e3,
            "protocol_type": ["TCP"],
        },
        "events": [
            {"time": round(time, 6), "name": kind, "data": data}
            for time, kind, data in sorted(events, key=lambda event: event[0])
        ],
    }


def qlog_of(run: RunSeries) -> dict[str, Any]:
    """The contents of a qlog file."""
    return {
        "qlog_version": "0.4",
        "qlog_format": "JSON",
        "title": run.result["scenario"],
        "description": run.result["settings"]["description"],
        "traces": [_trace(run, flow) for flow in run.flows],
    }


def _qlog(run: RunSeries) -> bytes:
    return json.dumps(qlog_of(run), separators=(",", ":")).encode()


# csv

#: Columns that are no measures.
_NO_MEASURES = ("t_s", *TEXT_COLUMNS)


def tidy_samples(run: RunSeries) -> Iterator[tuple[str, str, str, str, str]]:
    """Each number of each sample: kind, name, t_s, measure, value."""
    for kind, file_name in (
        ("flow", "flows.csv"),
        ("link", "links.csv"),
        ("advice", "channel.csv"),
    ):
        path = run.folder / file_name
        if not path.exists():
            continue
        named = "link" if kind == "link" else "flow"
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                for measure, value in row.items():
                    if measure not in _NO_MEASURES and value:
                        yield kind, row[named], row["t_s"], measure, value


def _csv(run: RunSeries) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["kind", "name", "t_s", "measure", "value"])
    writer.writerows(tidy_samples(run))
    return text.getvalue().encode()


#: By the name of a format: how it is made, and how its files end.
FORMATS: dict[str, tuple[Callable[[RunSeries], bytes], str]] = {
    "flent": (_flent, ".flent.gz"),
    "qlog": (_qlog, ".qlog"),
    "csv": (_csv, ".csv"),
}


def export(run: RunSeries, kind: str, path: Path | None = None) -> Path:
    """Write a run in another format; by default into its folder."""
    make, suffix = FORMATS[kind]
    path = path or run.folder / f"{run.result['scenario']}{suffix}"
    write_whole(path, make(run))
    return path


def export_command(args: argparse.Namespace) -> int:
    """The subcommand."""
    (run,) = read_runs([Path(args.folder)])
    try:
        print(export(run, args.to, Path(args.out) if args.out else None))
    except (ValueError, KeyError) as error:
        raise ScenarioError(f"{args.folder}: expected the files of a run: {error}") from None
    return 0
