# SPDX-License-Identifier: GPL-2.0
"""index.html: results of the benchmarks, as plots and tables, on a self-contained page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from matplotlib.figure import Figure

from wale_lab.bench.cases import packet_cases
from wale_lab.bench.packets import BASELINE, Case
from wale_lab.bench.sheets import Sheet
from wale_lab.bench.summary import Row
from wale_lab.style import COLOURS, LINES, MARKERS, PAPER, data_uri, rc_context, save

HERE = Path(__file__).parent

#: What is drawn: title of a panel, title and value of its x axis, and which cases it has.
_Panel = tuple[str, str, dict[str, float]]


def _panels(cases: Sequence[Case]) -> list[_Panel]:
    """One for each size of packet, over the length of the line; and one over the rate."""
    panels: list[_Panel] = []
    plain = [case for case in cases if not case.name.startswith("policies-")]
    usual = next((c.traffic.rate_bps for c in plain), 0)
    for size in sorted({c.traffic.size for c in plain}):
        of_size = [c for c in plain if c.traffic.size == size]
        lines = [c for c in of_size if c.traffic.gso or c.traffic.rate_bps == usual]
        title = "64 kB, GSO" if lines[0].traffic.gso else f"{size} bytes"
        x = {c.name: float(c.traffic.packets_in_line) for c in lines}
        panels.append((title, "packets in the line", x))
        rates = [c for c in of_size if not c.traffic.gso and c.traffic.packets_in_line == 1_000]
        if len(rates) > 1:
            x = {c.name: c.traffic.rate_bps / 1e9 for c in rates}
            panels.append((f"{size} bytes, 1000 packets in the line", "rate, Gbit/s", x))
    return panels


def _draw_panel(axes: Any, panel: _Panel, rows: Sequence[Row], subjects: Sequence[str]) -> None:
    title, label, x = panel
    for number, subject in enumerate(subjects):
        points = sorted(
            (x[row.case], row.ns_per_packet)
            for row in rows
            if row.subject == subject and row.case in x and row.ns_per_packet is not None
        )
        if points:
            axes.plot(
                *zip(*points, strict=True),
                label=subject,
                color=COLOURS[number % len(COLOURS)],
                marker=MARKERS[number % len(MARKERS)],
                linestyle=LINES[number % len(LINES)],
                markersize=4,
            )
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_title(title)
    axes.set_xlabel(label)
    axes.set_ylabel("ns for each packet on the wire")


def draw(rows: Sequence[Row]) -> Figure | None:
    """The cost of a packet, by qdisc; None if there is nothing to draw."""
    measured = {row.case for row in rows if row.ns_per_packet is not None}
    cases = [c for quick in (False, True) for c in packet_cases(quick) if c.name in measured]
    subjects = list(dict.fromkeys(row.subject for row in rows if row.subject != BASELINE))
    subjects = [s for s in subjects if not s.startswith("wale ")]
    panels = _panels(cases)
    if not panels:
        return None
    with rc_context(PAPER):
        lines = -(-len(panels) // 2)
        figure = Figure(figsize=(9, 3.1 * lines), layout="constrained")
        grid = figure.subplots(lines, 2, squeeze=False)
        for axes, panel in zip(grid.flat, panels, strict=False):
            _draw_panel(axes, panel, rows, subjects)
        for axes in list(grid.flat)[len(panels) :]:
            axes.set_visible(False)
        handles, labels = grid.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _image(rows: Sequence[Row], folder: Path) -> str | None:
    """The plot as a data: address; and in files of its own."""
    figure = draw(rows)
    if figure is None:
        return None
    svg, _ = save(figure, folder / "packets")
    return data_uri(svg.read_bytes())


def write(folder: Path, sheets: Sequence[Sheet], rows: Sequence[Row]) -> Path:
    """Write the page, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = Environment(
        loader=FileSystemLoader([HERE, HERE.parent / "report"]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    text = environment.get_template("bench.html.j2").render(
        sheets=sheets, image=_image(rows, folder)
    )
    path = folder / "index.html"
    path.write_text(text, encoding="utf-8")
    return path
