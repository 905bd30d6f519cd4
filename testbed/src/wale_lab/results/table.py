# SPDX-License-Identifier: GPL-2.0
"""The table at the end of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from wale_lab.results.result import OUTPUT_FILES, files_of
from wale_lab.units import show_bytes, show_goodput

_NONE = "-"


@dataclass(frozen=True)
class Column:
    """A value for each row; None is not known."""

    title: str
    values: list[Any]
    show: Callable[[Any], str] = str
    always: bool = False
    """also where all values are 0 or not known"""


def _table(title: str, names: list[str], columns: list[Column]) -> Table:
    """A row for each name, without the columns that have nothing to say."""
    table = Table(header_style="bold", pad_edge=False)
    table.add_column(title)
    shown = [column for column in columns if column.always or any(column.values)]
    for column in shown:
        text = all(isinstance(value, str) for value in column.values)
        table.add_column(column.title, justify="left" if text else "right")
    for n, name in enumerate(names):
        values = [(column, column.values[n]) for column in shown]
        table.add_row(name, *[_NONE if v is None else column.show(v) for column, v in values])
    return table


def _form(text: str) -> Callable[[Any], str]:
    return text.format


_OUTCOMES = {
    "failed": "[red]failed[/red]",
    "right": "sha256 ok",
    "wrong": "sha256 WRONG",
}


def _outcome(flow: dict[str, Any]) -> str | None:
    """What became of a flow's data."""
    if not flow["completed"]:
        return "failed"
    return {True: "right", False: "wrong", None: None}[flow.get("sha256_ok")]


def _programs(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [flow for flow in result["flows"] if flow["tool"] == "program"]


def flow_table(result: dict[str, Any]) -> Table:
    """One row for each flow that is no program."""
    flows = [flow for flow in result["flows"] if flow["tool"] != "program"]

    def of(key: str) -> list[Any]:
        return [flow.get(key) for flow in flows]

    columns = [
        Column("control", of("cc"), always=True),
        Column("received", of("bytes"), show_bytes, always=True),
        Column("seconds", of("seconds"), _form("{:.3f}"), always=True),
        Column("goodput", of("goodput_Bps"), show_goodput, always=True),
        Column("of ideal", of("ideal_share"), _form("{:.1%}")),
        Column("retransmits", of("retransmits")),
        Column("data", [_outcome(flow) for flow in flows], _OUTCOMES.__getitem__),
    ]
    return _table("flow", of("name"), columns)


def program_table(result: dict[str, Any]) -> Table:
    """One row for each program: how it ended, its metrics, and what its sockets had."""
    flows = _programs(result)

    def of(key: str) -> list[Any]:
        return [flow.get(key) for flow in flows]

    def of_sockets(key: str) -> list[Any]:
        return [(flow["sockets"] or {}).get(key) for flow in flows]

    names = dict.fromkeys(name for flow in flows for name in flow["metrics"])
    columns = [
        Column("host", of("host"), always=True),
        Column("exit code", of("exit_code"), always=True),
        Column("seconds", of("seconds"), _form("{:.3f}"), always=True),
        Column("sockets", of_sockets("count")),
        Column("control", of_sockets("cc")),
        Column("sent", of_sockets("bytes_acked"), show_bytes),
        Column("received", of_sockets("bytes_received"), show_bytes),
        Column("retransmits", of_sockets("retransmits")),
        Column("least RTT", of_sockets("min_rtt_us"), lambda us: f"{us / 1e3:.3f} ms"),
        *[
            Column(name, [flow["metrics"].get(name) for flow in flows], _form("{:g}"))
            for name in names
        ],
    ]
    return _table("program", of("name"), columns)


def session_table(result: dict[str, Any]) -> Table:
    """One row for each flow of sessions: means, and how the throughputs are spread."""
    flows = [flow for flow in result["flows"] if flow.get("sessions")]

    def of(key: str) -> list[Any]:
        return [flow["sessions"][key] for flow in flows]

    completed = [f"{done} of {n}" for done, n in zip(of("completed"), of("count"), strict=True)]
    rates = {"throughput": "mean", "10 %": "p10", "50 %": "p50", "90 %": "p90"}
    columns = [
        Column("completed", completed, always=True),
        *[Column(title, of(f"{key}_throughput_Bps"), show_goodput) for title, key in rates.items()],
        Column("cv", of("throughput_cv"), _form("{:.3f}")),
        Column("seconds", of("mean_seconds"), _form("{:.3f}")),
        Column("sent again", of("retransmitted_bytes_per_session"), lambda v: show_bytes(round(v))),
    ]
    return _table("sessions of", [flow["name"] for flow in flows], columns)


def constant_table(result: dict[str, Any]) -> Table:
    """One row for each flow of packets at a constant rate."""
    flows = [flow for flow in result["flows"] if flow.get("constant")]

    def of(key: str) -> list[Any]:
        return [flow["constant"].get(key) for flow in flows]

    delays = {"delay: least": "least", "mean": "mean", "largest": "largest"}
    columns = [
        Column("sent", of("sent_packets"), always=True),
        Column("received", of("received_packets"), always=True),
        Column("lost", of("lost_packets")),
        *[Column(title, of(f"{k}_delay_s"), _form("{:.6f} s")) for title, k in delays.items()],
        Column("late by", of("largest_lateness_s"), _form("{:.9f} s")),
    ]
    return _table("packets of", [flow["name"] for flow in flows], columns)


def link_table(result: dict[str, Any]) -> Table:
    """One row for each link."""
    links = result["links"]
    reasons = list(dict.fromkeys(r for link in links for r in link["dropped_packets"]))

    def of(key: str) -> list[Any]:
        return [link.get(key) for link in links]

    columns = [
        Column("used", of("utilisation"), _form("{:.1%}")),
        Column("offered", of("offered_packets"), always=True),
        Column("sent", of("sent_packets"), always=True),
        *[Column(f"dropped: {r}", [ln["dropped_packets"].get(r) for ln in links]) for r in reasons],
        Column("held", of("held_packets")),
        Column("peak queue", of("peak_backlog_packets")),
    ]
    return _table("link", of("name"), columns)


def settled_table(result: dict[str, Any]) -> Table:
    """The links again, without the start of the scenario."""
    since = result["settings"]["record"]["settled"] / 1e9
    links = [link for link in result["links"] if link["settled"]]

    def of(key: str) -> list[Any]:
        return [link["settled"][key] for link in links]

    columns = [
        Column("used", of("utilisation"), _form("{:.2%}")),
        Column("sent", of("sent_packets"), always=True),
        Column("dropped", [sum(dropped.values()) for dropped in of("dropped_packets")]),
        Column("peak queue of samples", of("peak_backlog_packets")),
    ]
    return _table(f"link, from {since:g} s on", [link["name"] for link in links], columns)


def _overlap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Did two flows run at the same time?  One that was never started has no times."""
    if "start_s" not in one or "start_s" not in other:
        return False
    return bool(one["start_s"] < other["end_s"] and other["start_s"] < one["end_s"])


def sharing(result: dict[str, Any]) -> str | None:
    """A line on the flows that competed for one link; None if there are none."""
    alone = result["settings"]["isolate"] or result["settings"]["topology"]["type"] == "graph"
    flows = [] if alone else result["flows"]
    flows = [flow for flow in flows if flow["tool"] != "program"]  # which may talk to each other
    names = [f["name"] for f in flows if any(f is not g and _overlap(f, g) for g in flows)]
    if not names:
        return None
    who = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) <= 6 else f"{len(names)} flows"
    return f"{who} share the link; with `isolate: true` each has a copy of it for itself"


def print_result(result: dict[str, Any], folder: Path | None, stderr: bool = False) -> None:
    """The tables, the cost of the run, and the files in its folder, if that is kept."""
    console = Console(highlight=False, stderr=stderr)
    if not console.is_terminal:
        console = Console(highlight=False, stderr=stderr, width=120)
    programs = _programs(result)
    if len(programs) < len(result["flows"]):
        console.print(flow_table(result))
    if programs:
        console.print(program_table(result))
    if any(flow.get("sessions") for flow in result["flows"]):
        console.print(session_table(result))
    if any(flow.get("constant") for flow in result["flows"]):
        console.print(constant_table(result))
    console.print(link_table(result))
    if result["settings"]["record"].get("settled") is not None:
        console.print(settled_table(result))
    if line := sharing(result):
        console.print(line, soft_wrap=True, markup=False)
    packets = sum(link["offered_packets"] for link in result["links"])
    wall = result["wall_s"]
    speed = f"{result['virtual_s'] / wall:.1f} times real time, {packets / wall:.0f} packets/s"
    console.print(
        f"{result['virtual_s']:.2f} {result['settings']['time']} seconds in {wall:.2f} wall "
        f"seconds ({speed}), "
        f"seed {result['seed']}, kernel {result['kernel']} ({result['engine']})"
    )
    console.print(f"digest {result['digest']}", soft_wrap=True)
    if folder is None:
        return
    names = [*OUTPUT_FILES, *[file for program in programs for file in files_of(program["name"])]]
    files = sorted(name for name in names if (folder / name).exists())
    console.print(f"in {folder}: {', '.join(files)}", soft_wrap=True, markup=False)
