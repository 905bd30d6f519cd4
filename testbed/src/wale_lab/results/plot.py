# SPDX-License-Identifier: GPL-2.0
"""result.png: bytes received, congestion window and queue over time, for each flow."""

from __future__ import annotations

import argparse
import csv
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from wale_lab.errors import ScenarioError
from wale_lab.results.sessions import received_over_time
from wale_lab.style import COLOURS, STYLE, plt

Series = dict[str, dict[str, list[float]]]


def read_series(path: Path, name: str, columns: list[str]) -> Series:
    """Columns of a CSV file for each flow or link; samples without a value are left out."""
    series: Series = defaultdict(lambda: defaultdict(list))
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for column in columns:
                if row[column] not in ("", "inf"):
                    series[row[name]][column].append(float(row[column]))
                    series[row[name]][f"{column} at"].append(float(row["t_s"]))
    return series


def _sums_of_sessions(folder: Path, result: dict[str, Any], flows: Series) -> Series:
    """The bytes received of flows of sessions: of all their sessions together."""
    sums: Series = {}
    if not (folder / "sessions.csv").exists():
        return sums
    with (folder / "sessions.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["end_s"]]
    for flow in (f["name"] for f in result["flows"] if f.get("sessions")):
        ends = [
            (f"{flow}.{row['session']}", float(row["end_s"]), float(row["bytes"]))
            for row in rows
            if row["flow"] == flow
        ]
        samples = [
            (name, t_s, count)
            for name in sorted({name for name, _, _ in ends} & flows.keys())
            for t_s, count in zip(
                flows[name]["bytes_received at"], flows[name]["bytes_received"], strict=True
            )
        ]
        times, counts = received_over_time(samples, ends)
        sums[flow] = {"bytes_received at": times, "bytes_received": counts}
    return sums


def _finish(axes: Axes, title: str, label: str) -> None:
    axes.set_title(title)
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    axes.margins(x=0)


def _label(flow: dict[str, Any]) -> str:
    goodput = flow["goodput_Bps"]
    control = f" ({flow['cc']})" if flow["cc"] != flow["name"] else ""
    said = f"{flow['name']}{control}"
    if goodput:
        said += f": {goodput / 1e3:.0f} kB/s"
    if flow.get("ideal_share"):
        said += f", {flow['ideal_share']:.0%} of ideal"
    return said + ("" if flow["completed"] else ", failed")


def _received(axes: Axes, result: dict[str, Any], flows: Series, colours: dict[str, str]) -> None:
    top = 0.0
    for flow in result["flows"]:
        data = flows.get(flow["name"], {})
        column = "bytes_received" if data.get("bytes_received") else "bytes_acked"
        count = [v / 1e6 for v in data.get(column, [])]
        times = list(data.get(f"{column} at", []))
        if flow["completed"] and flow.get("end_s") is not None:
            times, count = [*times, flow["end_s"]], [*count, max([*count, flow["bytes"] / 1e6])]
        axes.plot(times, count, color=colours[flow["name"]], label=_label(flow))
        top = max([top, *count])
    first = result["flows"][0]
    if first.get("ideal_goodput_Bps") and top:
        rate = first["ideal_goodput_Bps"] / 1e6
        begin = min(f.get("start_s") or 0.0 for f in result["flows"])
        length = min(top / rate, result["virtual_s"] - begin)
        line = ([begin, begin + length], [0, length * rate])
        changing = result["settings"]["bottleneck"]["forward"]["trace"]
        label = "ideal: full link, no loss" + (", on average" if changing else "")
        axes.plot(*line, color="#999999", ls="--", lw=1, label=label)
    axes.legend(loc="upper left")
    _finish(axes, "Bytes received", "MB")


def _windows(
    axes: Axes, result: dict[str, Any], flows: Series, advised: Series, colours: dict[str, str]
) -> None:
    for flow in result["flows"]:
        of_sessions = [name for name in flows if name.rpartition(".")[0] == flow["name"]]
        for name in of_sessions or [flow["name"]]:
            data = flows.get(name, {})
            axes.plot(
                data.get("cwnd_packets at", []),
                data.get("cwnd_packets", []),
                color=colours[flow["name"]],
                drawstyle="steps-post",
                lw=0.6 if of_sessions else 1.1,
            )
        heard = advised.get(flow["name"])
        if heard:
            axes.plot(
                heard["rate_window_packets at"],
                heard["rate_window_packets"],
                color=colours[flow["name"]],
                drawstyle="steps-post",
                ls=":",
                lw=1.6,
                label="rate window of " + flow["name"],
            )
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper right")
    _finish(axes, "Congestion window", "packets")


def _queue_colours(names: list[str], result: dict[str, Any], flows: dict[str, str]) -> list[str]:
    """The flow's colour for its own copy of the link, grey for a shared one."""
    return [flows.get(name.rpartition(".")[0], "#444444") for name in names]


def _queues(axes: Axes, result: dict[str, Any], links: Series, colours: dict[str, str]) -> None:
    names = [n for n in links if n.endswith("forward")]
    for name, colour in zip(names, _queue_colours(names, result, colours), strict=True):
        data = links[name]
        count = [v / 1e3 for v in data["backlog_bytes"]]
        axes.plot(data["backlog_bytes at"], count, color=colour, lw=0.9, drawstyle="steps-post")
    limit = result["settings"]["bottleneck"]["forward"].get("limit") or ""
    if names and limit.endswith("b"):
        axes.axhline(int(limit[:-1]) / 1e3, color="#999999", ls="--", lw=1)
        axes.annotate(
            "buffer", (1, int(limit[:-1]) / 1e3), xycoords=("axes fraction", "data"),
            ha="right", va="bottom", color="#777777", fontsize=8.5,
        )  # fmt: skip
    if not names:
        axes.text(0.5, 0.5, "not recorded", transform=axes.transAxes, ha="center", color="#777777")
    _finish(axes, "Queue of the forward link", "kB")


def draw(folder: Path) -> Path:
    """Draw the result in a folder."""
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    columns = ["bytes_received", "bytes_acked", "cwnd_packets"]
    flows = read_series(folder / "flows.csv", "flow", columns)
    flows |= _sums_of_sessions(folder, result, flows)
    links = read_series(folder / "links.csv", "link", ["backlog_bytes"])
    advised: Series = {}
    if (folder / "channel.csv").exists():
        advised = read_series(folder / "channel.csv", "flow", ["rate_window_packets"])
    names = [flow["name"] for flow in result["flows"]]
    colours = {name: COLOURS[n % len(COLOURS)] for n, name in enumerate(names)}
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(3, 1, figsize=(9, 8.4), sharex=True, layout="constrained")
        _received(axes[0], result, flows, colours)
        _windows(axes[1], result, flows, advised, colours)
        _queues(axes[2], result, links, colours)
        axes[2].set_xlabel(f"{result['settings']['time']} time, s")
        axes[2].set_xlim(0, max(result["virtual_s"], 0.1))
        figure.suptitle(
            f"{result['scenario']}: {link_text(result['settings']['bottleneck']['forward'])}",
            fontsize=12,
            x=0.01,
            ha="left",
        )
        about = f"seed {result['seed']}, Linux {result['kernel']}, digest {result['digest'][:12]}"
        figure.text(0.99, 0.002, about, ha="right", va="bottom", color="#999999", fontsize=7.5)
        path = folder / "result.png"
        figure.savefig(path, dpi=130, metadata={"Software": "wale-lab"})
        plt.close(figure)
    return path


def link_text(link: dict[str, Any]) -> str:
    """A link in a few words."""
    from wale_lab.units import show_rate, show_time_ns

    if link["qdisc"]:
        return str(link["qdisc"])
    words = ["changing rate" if link["trace"] else show_rate(link["rate"])]
    if link["sessions"]:
        words[0] += " shared with sessions"
    words.append(f"{show_time_ns(link['delay'])} one way")
    limit = link["limit"]
    if link.get("queue"):
        words.append(str(link["queue"]))
    elif limit.endswith("b"):
        words.append(f"{int(limit[:-1]) / 1e3:g} kB buffer")
    elif limit.endswith(" cells"):
        words.append(limit)
    else:
        words.append(f"{limit[:-1]} packets")
    if link["loss"]:
        words.append(f"{link['loss'] * 100:.3g}% loss")
    return ", ".join(words)


def plot_command(args: argparse.Namespace) -> int:
    """`wale-lab plot`: draw the files of a run again."""
    if not Path(args.folder, "result.json").is_file():
        raise ScenarioError(f"{args.folder}: expected the output folder of a run, with result.json")
    try:
        print(draw(Path(args.folder)))
    except ValueError as error:
        raise ScenarioError(f"{args.folder}: expected the files of a run: {error}") from None
    return 0
