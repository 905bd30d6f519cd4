# SPDX-License-Identifier: GPL-2.0
"""The programs of a scenario: how they ended, their metrics, and what TCP knew of their sockets."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wale_lab.programs import Metric, Program
from wale_lab.topologies.plan import Plan

Row = dict[str, str]

#: Of the end of what a program said: lines in a message, and bytes that are looked at.
LAST_LINES = 5
_LAST_BYTES = 4096

#: Of sockets.csv: counts that grow, by their name in a result.
_COUNTS = {
    "bytes_sent": "bytes_sent",
    "bytes_acked": "bytes_acked",
    "bytes_received": "bytes_received",
    "segments_sent": "segments_sent",
    "segments_received": "segments_received",
    "retransmits": "retransmits_total",
}


def last_words(path: Path) -> str:
    """The last lines of a file."""
    if not path.exists():
        return ""
    text = path.read_bytes()[-_LAST_BYTES:].decode(errors="replace")
    return "\n".join(text.strip().splitlines()[-LAST_LINES:])


class Sockets:
    """The records of the sockets of programs."""

    def __init__(self, raw: dict[str, Any], plan: Plan) -> None:
        self.of: dict[str, dict[str, list[Row]]] = {}  # by program and socket
        records = raw.get("programs", {})
        by_session = {str(record["pid"]): name for name, record in records.items()}
        on_host: dict[str, list[str]] = {}
        for program in plan.programs:
            on_host.setdefault(program.netns, []).append(program.name)
        for flow in plan.flows:
            for end in (flow.sender_netns, flow.receiver_netns):
                on_host.setdefault(end, []).append(flow.name)
        rows: dict[tuple[str, str], list[Row]] = {}
        table: list[Row] = list(csv.DictReader(io.StringIO(raw.get("sockets", ""))))
        for row in table:
            rows.setdefault((row["netns"], row["cookie"]), []).append(row)
        for (netns, cookie), those in rows.items():
            sessions = {row["session"] for row in those} - {"0"}
            name = by_session.get(min(sessions, default=""), "")
            if not sessions and len(on_host.get(netns, [])) == 1:
                name = on_host[netns][0]  # nobody else could have had it
            if name in records:
                self.of.setdefault(name, {})[cookie] = those

    def named(self, program: str) -> dict[str, list[Row]]:
        """The sockets of a program, by their names in flows.csv."""
        found = list(self.of.get(program, {}).values())
        if len(found) == 1:
            return {program: found[0]}
        return {f"{program}.{n}": rows for n, rows in enumerate(found, 1)}

    def summary(self, program: str) -> dict[str, Any] | None:
        """The counts of all sockets of a program together; None if it had none."""
        last = [rows[-1] for rows in self.of.get(program, {}).values()]
        if not last:
            return None
        counts = {
            name: sum(int(row[column] or 0) for row in last) for name, column in _COUNTS.items()
        }
        busiest = max(last, key=lambda row: int(row["bytes_sent"] or 0))
        least = [int(row["min_rtt_us"]) for row in last if row["min_rtt_us"]]
        return {
            "count": len(last),
            **counts,
            "min_rtt_us": min(least, default=None),
            "srtt_us": int(busiest["srtt_us"] or 0) or None,
            "cwnd_packets": int(busiest["cwnd_packets"] or 0) or None,
            "cc": busiest["cc"] or _first_cc(self.of[program]),
        }


def _first_cc(sockets: dict[str, list[Row]]) -> str | None:
    return next((row["cc"] for rows in sockets.values() for row in rows if row["cc"]), None)


def sample_rows(
    raw: dict[str, Any], plan: Plan, seconds: Callable[[str, int], str]
) -> list[dict[str, str]]:
    """The rows of programs in flows.csv."""
    sockets = Sockets(raw, plan)
    return [
        {**row, "flow": name, "t_s": seconds(row["t_ns"], raw["start_ns"])}
        for program in plan.programs
        for name, rows in sockets.named(program.name).items()
        for row in rows
    ]


def _number(value: Any) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
        value = int(value) if value.is_integer() and abs(value) < 2**53 else value
    return value if abs(value) < float("inf") else None


def metric_of(metric: Metric, text: str) -> float | int | None:
    """A metric's number in a program's output; None if it is not there."""
    if metric.expression is None:
        assert metric.regex is not None
        found = list(re.finditer(metric.regex, text, re.M))
        return _number(found[-1][1 if found[-1].re.groups else 0]) if found else None
    import jmespath  # few scenarios need it

    value = None
    for candidate in (text, text.strip().rpartition("\n")[2]):
        try:
            value = json.loads(candidate)
            break
        except json.JSONDecodeError:
            continue
    return _number(jmespath.search(metric.expression, value))


def _metrics(program: Program, folder: Path) -> dict[str, float | int | None]:
    texts = {}
    for stream in {metric.stream for metric in program.metrics.values()}:
        path = folder / f"{program.name}.{stream}"
        texts[stream] = path.read_text("utf-8", "replace") if path.exists() else ""
    return {name: metric_of(m, texts[m.stream]) for name, m in program.metrics.items()}


def _error(
    record: dict[str, Any], program: Program, folder: Path, failed: str | None
) -> str | None:
    """Why a program is not a good one, in a sentence; None if it is."""
    said = last_words(folder / f"{program.name}.err")
    told = f"; it said: {said}" if said else ""
    what = f"`{program.command}` on {program.host}"
    if record["error"]:
        return f"{what}: {record['error']}{told}"
    if record["late"]:
        return f"{what} still ran at the scenario's virtual_limit{told}"
    if record["failed"]:
        code = record["status"]
        how = f"exit code {code}" if code >= 0 else f"signal {-code}"
        return f"{what} ended with {how}{told}"
    if failed is not None and failed != program.name and record["told_ns"] and not program.serve:
        return f"{what} was ended because {failed} failed"
    return None


def flow_of_program(
    raw: dict[str, Any], program: Program, folder: Path, sockets: Sockets
) -> dict[str, Any]:
    """A program as one of the flows of result.json; times in s."""
    record = raw["programs"].get(program.name)
    failed = next((name for name, r in raw["programs"].items() if r["failed"]), None)
    known = sockets.summary(program.name)
    found: dict[str, Any] = {
        "name": program.name,
        "tool": "program",
        "cc": known["cc"] if known else None,
        "bytes": known["bytes_received"] if known else 0,
        "seconds": None,
        "goodput_Bps": None,
        "retransmits": known["retransmits"] if known else None,
        "completed": False,
        "sha256": None,
        "error": None,
        "host": program.host,
        "command": program.command,
        "exit_code": None,
        "metrics": dict.fromkeys(program.metrics),
        "sockets": known,
    }
    if record is None:
        why = f"because {failed} failed" if failed else "the flow before it was never there"
        return found | {"error": f"`{program.command}` was never started: {why}"}
    times = {key: record[f"{key}_ns"] for key in ("started", "ready", "ended")}
    start_s, ready_s, end_s = (
        None if t is None else round((t - raw["start_ns"]) / 1e9, 9) for t in times.values()
    )
    code = record["status"]
    error = _error(record, program, folder, failed)
    return found | {
        "seconds": round((record["ended_ns"] - record["started_ns"]) / 1e9, 9),
        "completed": error is None,
        "error": error,
        "exit_code": None if code is None else code if code >= 0 else 128 - code,
        "told_to_end": record["told_ns"] is not None,
        "metrics": _metrics(program, folder),
        "start_s": start_s,
        "ready_s": ready_s,
        "end_s": end_s,
    }


def missing_metrics(flow: dict[str, Any]) -> list[str]:
    """Errors in the metrics of a program that ended successfully."""
    if not flow["completed"]:
        return []
    return [
        f"flow {flow['name']}: metric {name}: no such number in what it printed"
        for name, value in flow["metrics"].items()
        if value is None
    ]
