# SPDX-License-Identifier: GPL-2.0
"""`wale-lab model altman`: Tahoe competing with constant-rate traffic."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wale_lab import units
from wale_lab.papers.options import add_parser, add_reading, answer, packets, parsed

if TYPE_CHECKING:
    from rich.table import Table

    from wale_lab.papers.altman.model import Analysis, Link

_TEXT = """\
The throughput of one Tahoe connection on a link that constant-rate traffic shares: the analysis of
Altman and others (1995).  What each number is: Documentation/models.rst."""

_EXAMPLES = """\
examples:
  wale-lab model altman --rate 368640 --packet 576 --delay 1s --buffer 20 --exogenous 147456
                                                                 section 4 of the paper, case 2
  wale-lab model altman --exogenous 0 100kbit 200kbit 300kbit --reading both
  wale-lab model altman --rate 10mbit --packet 1500 --delay 100ms --buffer 50 \\
      --exogenous 2mbit --timeout 250ms --json
"""


#: From which option each parameter of the model is.
_OPTIONS = {
    "rate_packets_per_s": "rate",
    "exogenous_packets_per_s": "exogenous",
    "delay_s": "delay",
    "buffer_packets": "buffer",
    "timeout_s": "timeout",
}


def add_model(models: Any) -> None:
    """Add the word and its options."""
    line = "Tahoe beside constant-rate traffic (1995)"
    one = add_parser(models, "altman", (line, _TEXT, _EXAMPLES))
    one.add_argument("--rate", default="368640bit", metavar="R", help="of the link (368640bit)")
    one.add_argument("--packet", default="576", metavar="SIZE", help="on the wire (576)")
    one.add_argument("--delay", default="1s", metavar="T", help="round trip, propagation (1s)")
    one.add_argument("--buffer", default="20", metavar="B", help="packets, or a size (20)")
    one.add_argument(
        "--exogenous",
        nargs="+",
        default=["147456bit"],
        metavar="R",
        help="rate of the other traffic; a line for each (147456bit)",
    )
    one.add_argument(
        "--timeout",
        metavar="T",
        help="losses are found by a timer of this length, Remark 2 (at once)",
    )
    add_reading(one)
    one.set_defaults(module="wale_lab.papers.altman.command", function="command")


def _links(args: argparse.Namespace) -> list[Link]:
    """A link for each rate of the exogenous traffic."""
    from wale_lab.papers.altman.model import Link

    packet = parsed(args, "packet", units.parse_size_bytes)
    if packet <= 0:
        raise ValueError(f"--packet: expected a size above 0, got {args.packet!r}")
    rates = parsed(args, "exogenous", lambda texts: [units.parse_rate_bps(t) for t in texts])
    all_of_it = parsed(args, "rate", units.parse_rate_bps)
    if 0 < all_of_it <= max(rates):
        text = args.exogenous[rates.index(max(rates))]
        raise ValueError(f"--exogenous: expected less than --rate, {args.rate}, got {text!r}")
    return [
        Link(
            rate_packets_per_s=all_of_it / 8 / packet,
            exogenous_packets_per_s=rate / 8 / packet,
            delay_s=parsed(args, "delay", units.parse_time_ns) / 1e9,
            buffer_packets=parsed(args, "buffer", lambda text: packets(text, packet)),
        )
        for rate in rates
    ]


def _points(args: argparse.Namespace) -> list[tuple[Link, str, Analysis]]:
    """Each link and reading, and its analysis."""
    from wale_lab.papers.altman.model import READINGS, analyse

    timeout = None
    if args.timeout is not None:
        timeout = parsed(args, "timeout", units.parse_time_ns) / 1e9
    readings = READINGS if args.reading == "both" else [args.reading]
    return [
        (link, name, analyse(link, name, timeout)) for link in _links(args) for name in readings
    ]


def _table(points: list[tuple[Link, str, Analysis]]) -> Table:
    from rich.table import Table

    table = Table(header_style="bold", pad_edge=False)
    for title in (
        "exogenous\npackets/s",
        "reading",
        "slow starts\nin a cycle",
        "largest\nwindow",
        "overflow in slow\nstart at window",
        "throughput\npackets/s",
        "part of what\nis available",
        "mean round\ntrip, s",
    ):
        table.add_column(title, justify="left" if title == "reading" else "right")
    for link, reading, found in points:
        table.add_row(
            f"{link.exogenous_packets_per_s:g}",
            reading,
            f"{found.slow_starts}",
            f"{found.largest_window:.1f}",
            f"{found.overflow_window:.1f}",
            f"{found.throughput_packets_per_s:.2f}",
            f"{found.available_fraction:.3f}",
            f"{found.mean_round_trip_s:.3f}",
        )
    return table


def _answer(args: argparse.Namespace) -> Any:
    points = _points(args)
    if not args.json:
        return _table(points)
    link = asdict(points[0][0])
    del link["exogenous_packets_per_s"]
    lines = [
        {
            "exogenous_packets_per_s": link.exogenous_packets_per_s,
            "reading": reading,
            **found._asdict(),
        }
        for link, reading, found in points
    ]
    return json.dumps({"model": "altman", "link": link, "points": lines}, indent=2)


def command(args: argparse.Namespace) -> int:
    """`wale-lab model altman`: analyse, print a table or JSON."""
    return answer(args, _answer, _OPTIONS)
