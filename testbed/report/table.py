# SPDX-License-Identifier: GPL-2.0
"""The table at the end of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from lab.result import OUTPUT_FILES
from lab.units import show_bytes

_NONE = "-"


def _number(value: Any, text: str) -> str:
    return _NONE if value is None else text.format(value)


def flow_table(result: dict[str, Any]) -> Table:
    """One row for each flow."""
    table = Table(title=None, header_style="bold", pad_edge=False)
    table.add_column("flow")
    table.add_column("control")
    for title in ("received", "seconds", "goodput", "of ideal", "retransmits", "data"):
        table.add_column(title, justify="right")
    for flow in result["flows"]:
        check = {True: "sha256 ok", False: "sha256 WRONG", None: _NONE}[flow.get("sha256_ok")]
        goodput = flow["goodput_Bps"]
        table.add_row(
            flow["name"],
            flow["cc"],
            show_bytes(flow["bytes"]),
            _number(flow["seconds"], "{:.3f}"),
            _NONE if goodput is None else f"{goodput / 1e3:.1f} kB/s",
            _number(flow.get("ideal_share"), "{:.1%}"),
            _number(flow["retransmits"], "{}"),
            check if flow["completed"] else "[red]failed[/red]",
        )
    return table


def session_table(result: dict[str, Any]) -> Table:
    """One row for each flow of sessions: means, and how the throughputs are spread."""
    table = Table(header_style="bold", pad_edge=False)
    table.add_column("sessions of")
    for title in ("completed", "throughput", "10 %", "50 %", "90 %", "cv", "seconds", "sent again"):
        table.add_column(title, justify="right")
    for flow in result["flows"]:
        told = flow.get("sessions")
        if told:
            rates = [told[f"{which}_throughput_Bps"] for which in ("mean", "p10", "p50", "p90")]
            again = told["retransmitted_bytes_per_session"]
            table.add_row(
                flow["name"],
                f"{told['completed']} of {told['count']}",
                *[_NONE if rate is None else f"{rate / 1e3:.1f} kB/s" for rate in rates],
                _number(told["throughput_cv"], "{:.3f}"),
                _number(told["mean_seconds"], "{:.3f}"),
                _NONE if again is None else show_bytes(round(again)),
            )
    return table


def constant_table(result: dict[str, Any]) -> Table:
    """One row for each flow of packets at a constant rate."""
    table = Table(header_style="bold", pad_edge=False)
    table.add_column("packets of")
    for title in ("sent", "received", "lost", "delay: least", "mean", "largest", "late by"):
        table.add_column(title, justify="right")
    for flow in result["flows"]:
        counts = flow.get("constant")
        if counts:
            delays = [counts[f"{which}_delay_s"] for which in ("least", "mean", "largest")]
            table.add_row(
                flow["name"],
                *[
                    _number(counts[f"{which}_packets"], "{}")
                    for which in ("sent", "received", "lost")
                ],
                *[_number(delay, "{:.6f} s") for delay in delays],
                _number(counts["largest_lateness_s"], "{:.9f} s"),
            )
    return table


def link_table(result: dict[str, Any]) -> Table:
    """One row for each link."""
    table = Table(header_style="bold", pad_edge=False)
    table.add_column("link")
    reasons: list[str] = []
    for link in result["links"]:
        reasons += [r for r in link["dropped_packets"] if r not in reasons]
    titles = ["offered", "sent", *[f"dropped: {r}" for r in reasons], "held", "peak queue"]
    for title in ["used", *titles]:
        table.add_column(title, justify="right")
    for link in result["links"]:
        table.add_row(
            link["name"],
            _number(link.get("utilisation"), "{:.1%}"),
            str(link["offered_packets"]),
            str(link["sent_packets"]),
            *[str(link["dropped_packets"].get(r, _NONE)) for r in reasons],
            str(link["held_packets"]),
            _number(link["peak_backlog_packets"], "{}"),
        )
    return table


def settled_table(result: dict[str, Any]) -> Table:
    """The links again, without the start of the scenario."""
    since = result["settings"]["record"]["settled"] / 1e9
    table = Table(header_style="bold", pad_edge=False)
    table.add_column(f"link, from {since:g} s on")
    for title in ("used", "sent", "dropped", "peak queue of samples"):
        table.add_column(title, justify="right")
    for link in result["links"]:
        if link["settled"]:
            counts = link["settled"]
            table.add_row(
                link["name"],
                _number(counts["utilisation"], "{:.2%}"),
                str(counts["sent_packets"]),
                str(sum(counts["dropped_packets"].values())),
                str(counts["peak_backlog_packets"]),
            )
    return table


def print_result(result: dict[str, Any], folder: Path) -> None:
    """The tables, and what the run cost."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=120)
    console.print(flow_table(result))
    if any(flow.get("sessions") for flow in result["flows"]):
        console.print(session_table(result))
    if any(flow.get("constant") for flow in result["flows"]):
        console.print(constant_table(result))
    console.print(link_table(result))
    if result["settings"]["record"].get("settled") is not None:
        console.print(settled_table(result))
    packets = sum(link["offered_packets"] for link in result["links"])
    wall = result["wall_s"]
    speed = f"{result['virtual_s'] / wall:.1f} times real time, {packets / wall:.0f} packets/s"
    console.print(
        f"{result['virtual_s']:.2f} {result['settings']['time']} seconds in {wall:.2f} wall "
        f"seconds ({speed}), "
        f"seed {result['seed']}, kernel {result['kernel']} ({result['engine']})"
    )
    console.print(f"digest {result['digest']}", soft_wrap=True)
    files = sorted(name for name in OUTPUT_FILES if (folder / name).exists())
    console.print(f"in {folder}: {', '.join(files)}", soft_wrap=True, markup=False)
