# SPDX-License-Identifier: GPL-2.0
"""`wale-lab model`: evaluates a published analysis for the user's own link."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wale_lab import units
from wale_lab.papers.altman import command as model_altman
from wale_lab.papers.lakshman_madhow import command as model_lakshman_madhow
from wale_lab.papers.options import add_parser, add_reading, answer, count, packets, parsed

if TYPE_CHECKING:
    from rich.table import Table

    from wale_lab.papers.karnik_kumar.model import Analysis, Link

_KARNIK_KUMAR = """\
examples:
  wale-lab model karnik-kumar --arrivals 0 0.05 0.1 0.2 0.5 1 2     Table I of the paper
  wale-lab model karnik-kumar --protocol ratcp --beta 4 --reading both
  wale-lab model karnik-kumar --rate 10mbit --packet 1500 --buffer 64kB --json | jq .points
"""


#: From which option each parameter of the model is.
_OPTIONS = {
    "rate_Bps": "rate",
    "packet_bytes": "packet",
    "round_trip_s": "delay",
    "buffer_packets": "buffer",
    "mean_session_bytes": "mean_size",
    "max_sessions": "max_sessions",
    "arrival_per_s": "arrivals",
    "beta": "beta",
}


def add_models(sub: argparse.ArgumentParser) -> None:
    """Add the models and their options to the subcommand."""
    models = sub.add_subparsers(dest="model", metavar="MODEL", required=True)
    _add_karnik_kumar(models)
    model_lakshman_madhow.add_model(models)
    model_altman.add_model(models)


def _add_karnik_kumar(models: Any) -> None:
    text = (
        "The throughput of one long-lived RATCP or TCP session (OldTahoe) on a link that other\n"
        "sessions come to and leave: the analysis of Karnik and Kumar (2005).  What each number\n"
        "is: Documentation/models.rst."
    )
    line = "RATCP or TCP beside sessions that come and go (2005)"
    one = add_parser(models, "karnik-kumar", (line, text, _KARNIK_KUMAR))
    one.add_argument("--protocol", choices=["ratcp", "tcp", "both"], default="both", help="(both)")
    one.add_argument("--beta", default="1", metavar="N", help="RATCP's target backlog, packets (1)")
    one.add_argument("--rate", default="800kbit", metavar="R", help="of the link (800kbit)")
    one.add_argument("--packet", default="500", metavar="SIZE", help="on the wire (500)")
    one.add_argument(
        "--delay", default="100ms", metavar="T", help="round trip, propagation (100ms)"
    )
    one.add_argument("--buffer", default="10", metavar="B", help="packets, or a size (10)")
    one.add_argument(
        "--arrivals",
        nargs="+",
        default=["0.1"],
        metavar="A",
        help="other sessions that come in a second; a line for each (0.1)",
    )
    one.add_argument("--mean-size", default="200kB", metavar="SIZE", help="they bring (200kB)")
    one.add_argument("--max-sessions", default="3", metavar="N", help="of them at a time (3)")
    add_reading(one)
    one.set_defaults(module="wale_lab.papers.command", function="karnik_kumar_command")


def _arrivals(texts: list[str]) -> list[float]:
    try:
        return [float(text) for text in texts]
    except ValueError:
        raise ValueError(f"expected sessions per second such as 0.1, got {texts!r}") from None


def _links(args: argparse.Namespace) -> list[Link]:
    """A link for each arrival rate."""
    from wale_lab.papers.karnik_kumar.model import Link

    packet = parsed(args, "packet", units.parse_size_bytes)
    values = {
        "rate_Bps": parsed(args, "rate", units.parse_rate_bps) / 8,
        "packet_bytes": packet,
        "round_trip_s": parsed(args, "delay", units.parse_time_ns) / 1e9,
        "buffer_packets": parsed(args, "buffer", lambda text: packets(text, packet)),
        "mean_session_bytes": parsed(args, "mean_size", units.parse_size_bytes),
        "max_sessions": parsed(args, "max_sessions", count),
    }
    arrivals: list[float] = parsed(args, "arrivals", _arrivals)
    return [Link(**values, arrival_per_s=arrival) for arrival in arrivals]


def _points(args: argparse.Namespace) -> list[tuple[Link, str, dict[str, Analysis]]]:
    """Each link and protocol, and its analysis by reading."""
    from wale_lab.papers.karnik_kumar.model import PROTOCOLS, READINGS, analyse

    beta = parsed(args, "beta", count)
    protocols = PROTOCOLS if args.protocol == "both" else [args.protocol]
    readings = READINGS if args.reading == "both" else [args.reading]
    return [
        (link, protocol, {name: analyse(link, protocol, beta, name) for name in readings})
        for link in _links(args)
        for protocol in protocols
    ]


def _table(points: list[tuple[Link, str, dict[str, Analysis]]]) -> Table:
    """One row for each arrival rate and protocol; readings side by side."""
    from rich.table import Table

    table = Table(header_style="bold", pad_edge=False)
    table.add_column("arrivals\n1/s", justify="right")
    table.add_column("protocol")
    table.add_column("mean fair\nrate, Mbit/s", justify="right")
    for reading in points[0][2]:
        for what in ("Mbit/s", "efficiency", "losses/s"):
            table.add_column(f"{reading}\n{what}", justify="right")
    for link, protocol, readings in points:
        cells = [f"{link.arrival_per_s:g}", protocol]
        cells.append(f"{next(iter(readings.values())).mean_fair_rate_Bps * 8 / 1e6:.4f}")
        for found in readings.values():
            cells += [f"{found.throughput_Bps * 8 / 1e6:.4f}", f"{found.efficiency:.3f}"]
            cells.append(f"{found.losses_per_s:.3f}")
        table.add_row(*cells)
    return table


def _json(points: list[tuple[Link, str, dict[str, Analysis]]], beta: int) -> str:
    link = asdict(points[0][0])
    del link["arrival_per_s"]
    lines = [
        {
            "arrival_per_s": link.arrival_per_s,
            "protocol": protocol,
            "reading": reading,
            **asdict(found),
        }
        for link, protocol, readings in points
        for reading, found in readings.items()
    ]
    return json.dumps(
        {"model": "karnik-kumar", "link": link, "beta": beta, "points": lines}, indent=2
    )


def karnik_kumar_command(args: argparse.Namespace) -> int:
    """`wale-lab model karnik-kumar`: analyse, print a table or JSON."""

    def run(args: argparse.Namespace) -> Any:
        points = _points(args)
        return _json(points, int(args.beta)) if args.json else _table(points)

    return answer(args, run, _OPTIONS)
