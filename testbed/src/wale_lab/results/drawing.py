# SPDX-License-Identifier: GPL-2.0
"""Draws the network of a run or a scenario: nodes, links, and how fast and long each is."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import matplotlib.patheffects
import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from numpy.typing import NDArray

from wale_lab.shapes import graph_of_dumbbell
from wale_lab.style import COLOURS, FAINT, INK, PICTURE, rc_context, save_picture
from wale_lab.units import show_rate, show_time_ns

#: Where nodes are.
Places = dict[str, NDArray[np.float64]]

#: With more nodes, those with one link have no names, and neither have links.
MOST_LABELS = 60

_LOOKS = {"hosts": ("o", COLOURS[0]), "routers": ("s", COLOURS[1]), "switches": ("D", COLOURS[2])}


def graph_of(settings: dict[str, Any]) -> dict[str, Any]:
    """The graph in the settings of a run, as they are in result.json."""
    topology: dict[str, Any] = settings["topology"]
    if topology["type"] == "graph":
        return topology
    pairs = [(pair["name"], pair["access_delay"]) for pair in topology["pairs"]]
    return graph_of_dumbbell(pairs, settings["bottleneck"])


def layout(graph: nx.Graph[str]) -> Places:
    """Where the nodes are: what has several links in a row, in a ring or by springs, the rest
    around its neighbour. The same graph gives the same places."""
    core = graph.subgraph([n for n in graph if graph.degree(n) > 1] or list(graph))
    ends = [n for n in core if core.degree(n) == 1]
    connected = nx.is_connected(core)
    if len(core) == 1:
        places = {n: np.zeros(2) for n in core}
    elif connected and len(ends) == 2 and max(dict(core.degree()).values()) == 2:
        row = nx.shortest_path(core, *ends)
        places = {name: np.array([2.2 * n, 0.0]) for n, name in enumerate(row)}
    elif connected and all(core.degree(n) == 2 for n in core):
        ring: Any = nx.Graph()
        ring.add_nodes_from(nx.dfs_preorder_nodes(core, next(iter(core))))
        places = nx.circular_layout(ring, scale=0.5 + 0.35 * len(core))
    else:
        scale = 1.2 * math.sqrt(len(core))
        places = nx.spring_layout(core, seed=1, iterations=300, scale=scale, method="force")
    centre = np.mean(list(places.values()), axis=0)
    for name in core:
        leaves = [n for n in graph.neighbors(name) if n not in core]
        away = places[name] - centre
        middle = math.atan2(away[1], away[0]) if math.hypot(*away) > 0.1 else math.pi / 2
        wide = min(2 * math.pi * (1 - 1 / max(len(leaves), 1)), 0.7 * len(leaves))
        if len(leaves) > 6 or math.hypot(*away) <= 0.1:
            wide = 2 * math.pi * (1 - 1 / len(leaves)) if leaves else 0
        for n, leaf in enumerate(leaves):
            turn = middle + wide * (n / max(len(leaves) - 1, 1) - 0.5)
            far = 1.2 if len(leaves) < 40 else 1.2 + 0.5 * (n % 3)
            places[leaf] = places[name] + far * np.array([math.cos(turn), math.sin(turn)])
    return places


def link_label(link: dict[str, Any], default: dict[str, Any] | None) -> str:
    """A link's name, and its rate and delay; of each direction where they differ."""
    both = link.get("both") or (None if link.get("forward") or link.get("reverse") else default)
    texts = [_described(link.get(end) or both) for end in ("forward", "reverse")]
    if texts[0] == texts[1] or not texts[1]:
        return texts[0]
    return f"{texts[0]}\n{texts[1] or 'a wire'} back"


def _described(link: dict[str, Any] | None) -> str:
    if link is None:
        return ""
    if link.get("qdisc"):
        return str(link["qdisc"])
    rate = "changing rate" if link.get("trace") else ""
    if not rate and link.get("rate") != "unlimited":
        rate = show_rate(link["rate"])
    delay = show_time_ns(link["delay"]) if link.get("delay") else ""
    return ", ".join(word for word in (rate, delay) if word)


def figure_of_topology(settings: dict[str, Any], title: str) -> Figure:
    """The drawing of a network."""
    described = graph_of(settings)
    graph: nx.Graph[str] = nx.Graph()
    kinds = {name: kind for kind in _LOOKS for name in described.get(kind) or []}
    graph.add_nodes_from(kinds)
    graph.add_edges_from((link["ends"][0], link["ends"][1]) for link in described["links"])
    places = layout(graph)
    where = np.array(list(places.values()))
    size = np.clip(1.5 + np.ptp(where, axis=0) * 0.95, (5.0, 2.6), 16.0)
    with rc_context(PICTURE):
        figure = Figure(figsize=(float(size[0]), float(size[1])), layout="constrained")
        axes = figure.subplots()
        _draw_links(axes, described, places, labels=len(graph) <= MOST_LABELS)
        _draw_tunnels(axes, described, places)
        _draw_nodes(axes, graph, kinds, places)
        _name_nats(axes, described, places)
        axes.set_title(title, loc="left", color=INK)
        axes.set_axis_off()
        axes.set_aspect("equal", adjustable="datalim")
        axes.margins(0.12)
    return figure


def _draw_links(axes: Axes, described: dict[str, Any], places: Places, labels: bool) -> None:
    behind = [matplotlib.patheffects.withStroke(linewidth=3, foreground="white")]
    for link in described["links"]:
        one, other = (places[end] for end in link["ends"])
        label = link_label(link, None if _is_shared(link, described) else described.get("link"))
        axes.plot(*np.array([one, other]).T, color="#8a8a8a", lw=1.8 if label else 0.8, zorder=1)
        if label and labels:
            text = f"{link['name']}\n{label}" if link.get("name") else label
            text = "\n".join([text, *_over(link)])
            x, y = (one + other) / 2
            axes.text(
                x, y, text, ha="center", va="center", fontsize=7.5, color=INK,
                path_effects=behind, zorder=3,
            )  # fmt: skip


def _is_shared(link: dict[str, Any], described: dict[str, Any]) -> bool:
    """Is it a wire to a macvlan?"""
    name = link.get("name") or "-".join(link["ends"])
    macvlans = described.get("macvlans") or {}
    return any(name != macvlans[end]["uplink"] for end in link["ends"] if end in macvlans)


def _over(link: dict[str, Any]) -> list[str]:
    """What more there is to say of a link: its tags, and with which others it is one."""
    tags = link.get("vlan") or []
    found = [f"VLAN {', '.join(map(str, tags if isinstance(tags, list) else [tags]))}"] * bool(tags)
    return [*found, *([f"bond {link['bond']}"] if link.get("bond") else [])]


def _draw_tunnels(axes: Axes, described: dict[str, Any], places: Places) -> None:
    """Curves beside the links, as none of them follows one link only."""
    for tunnel in described.get("tunnels") or []:
        one, other = (places[end] for end in tunnel["ends"])
        arc = FancyArrowPatch(
            (float(one[0]), float(one[1])), (float(other[0]), float(other[1])), arrowstyle="-", linestyle=(0, (4, 2)),
            color=COLOURS[3], connectionstyle="arc3,rad=-0.25", zorder=1, shrinkA=6, shrinkB=6,
        )  # fmt: skip
        axes.add_patch(arc)
        along = other - one
        x, y = (one + other) / 2 + 0.125 * np.array([-along[1], along[0]])
        axes.text(
            x, y, f"{tunnel['name']}\n{tunnel['kind']}", ha="center", va="center", fontsize=7.5,
            color=COLOURS[3], zorder=3,
            path_effects=[matplotlib.patheffects.withStroke(linewidth=3, foreground="white")],
        )  # fmt: skip


def _draw_nodes(axes: Axes, graph: nx.Graph[str], kinds: dict[str, str], places: Places) -> None:
    small = len(graph) > MOST_LABELS
    for kind, (marker, colour) in _LOOKS.items():
        names = [name for name in kinds if kinds[name] == kind]
        if names:
            at = np.array([places[name] for name in names])
            axes.scatter(
                at[:, 0], at[:, 1], s=20 if small else 110, marker=marker, color=colour, zorder=2
            )
            axes.scatter([], [], s=40, marker=marker, color=colour, label=kind)
    for name, kind in kinds.items():
        if not small or graph.degree(name) > 1:
            axes.annotate(
                name, (places[name][0], places[name][1]), xytext=(0, -9), textcoords="offset points", ha="center",
                va="top", fontsize=8, color=INK if kind == "hosts" else FAINT, zorder=4,
            )  # fmt: skip
    axes.legend(loc="best", fontsize=8, frameon=False)


def _name_nats(axes: Axes, described: dict[str, Any], places: Places) -> None:
    """Say which routers translate addresses."""
    routers = described.get("routers") or {}
    for name in routers:
        if isinstance(routers, dict) and (routers[name] or {}).get("nat"):
            axes.annotate(
                "NAT", (places[name][0], places[name][1]), xytext=(0, 9), ha="center",
                textcoords="offset points", fontsize=7.5, color=COLOURS[3], zorder=4,
            )  # fmt: skip


def draw_topology(settings: dict[str, Any], title: str, path: Path) -> Path:
    """Write the drawing; the same network gives the same bytes."""
    figure = figure_of_topology(settings, title)
    save_picture(figure, path)
    return path
