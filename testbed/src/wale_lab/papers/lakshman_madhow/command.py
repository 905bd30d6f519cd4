# SPDX-License-Identifier: GPL-2.0
"""`wale-lab model lakshman-madhow`: Tahoe and Reno with a small buffer and random loss."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from wale_lab import units
from wale_lab.papers.options import add_parser, add_reading, answer, number, packets, parsed

if TYPE_CHECKING:
    from rich.table import Table

    from wale_lab.papers.lakshman_madhow.model import Link

_TEXT = """\
The throughput of Tahoe and Reno where the buffer is smaller than the bandwidth-delay product, with
random loss: the analysis of Lakshman and Madhow (1997).  With several delays: what connections
get that share the link and lose together.  What each number is: Documentation/models.rst."""

_EXAMPLES = """\
examples:
  wale-lab model lakshman-madhow --beta 0.1 0.2 0.31 0.32 0.8          Table II of the paper
  wale-lab model lakshman-madhow --beta 0.8 --loss 1e-2 1e-3 1e-4 0    Table III
  wale-lab model lakshman-madhow --delay 2s 1s --buffer 80             Table V
  wale-lab model lakshman-madhow --rate 10mbit --packet 1500 --delay 200ms --buffer 100 --json
"""


#: From which option each parameter of the model is.
_OPTIONS = {
    "rate_packets_per_s": "rate",
    "delay_s": "delay",
    "delays_s": "delay",
    "buffer_packets": "buffer",
    "loss_probability": "loss",
}


def add_model(models: Any) -> None:
    """Add the word and its options."""
    line = "Tahoe and Reno with a small buffer and random loss (1997)"
    one = add_parser(models, "lakshman-madhow", (line, _TEXT, _EXAMPLES))
    one.add_argument("--tcp", choices=["tahoe", "reno", "both"], default="both", help="(both)")
    one.add_argument("--rate", default="400kbit", metavar="R", help="of the link (400kbit)")
    one.add_argument("--packet", default="500", metavar="SIZE", help="on the wire (500)")
    one.add_argument(
        "--delay",
        nargs="+",
        default=["1s"],
        metavar="T",
        help="round trip, propagation; several: connections that share the link (1s)",
    )
    size = one.add_mutually_exclusive_group()
    size.add_argument("--buffer", metavar="B", help="packets, or a size")
    size.add_argument(
        "--beta",
        nargs="+",
        metavar="X",
        help="the buffer as a part of the bandwidth-delay product; a line for each (0.8)",
    )
    one.add_argument(
        "--loss",
        nargs="+",
        default=["0"],
        metavar="Q",
        help="probability of random loss, such as 1%% or 1e-3; a line for each (0)",
    )
    add_reading(one)
    one.set_defaults(module="wale_lab.papers.lakshman_madhow.command", function="command")


def _rate(args: argparse.Namespace) -> float:
    """In packets/s."""
    packet = parsed(args, "packet", units.parse_size_bytes)
    if packet <= 0:
        raise ValueError(f"--packet: expected a size above 0, got {args.packet!r}")
    return float(parsed(args, "rate", units.parse_rate_bps) / 8 / packet)


def _delays(args: argparse.Namespace) -> list[float]:
    """In seconds."""
    return [
        ns / 1e9 for ns in parsed(args, "delay", lambda ts: [units.parse_time_ns(t) for t in ts])
    ]


def _buffer(args: argparse.Namespace) -> int:
    packet = parsed(args, "packet", units.parse_size_bytes)
    found: int = parsed(args, "buffer", lambda text: packets(text, packet))
    return found


def _names(choice: str, both: tuple[str, str]) -> tuple[str, ...]:
    return both if choice == "both" else (choice,)


def _of_beta(beta: float, rate: float, delay: float) -> Link:
    from wale_lab.papers.lakshman_madhow.model import Link

    try:
        return Link.of_beta(beta, rate, delay)
    except ValueError as error:
        field, _, why = str(error).partition(": ")
        if field != "buffer_packets":
            raise
        raise ValueError(f"--beta: of the buffer that it gives, {why}") from None


def _one_connection(args: argparse.Namespace) -> list[dict[str, Any]]:
    """A point for each buffer, loss, TCP and reading."""
    from wale_lab.papers.lakshman_madhow import chain as lakshman_madhow_chain
    from wale_lab.papers.lakshman_madhow.model import READINGS, TCPS, Link, cycle, utilisation

    rate, (delay,) = _rate(args), _delays(args)
    betas = parsed(args, "beta", lambda texts: [number(text) for text in texts or ["0.8"]])
    if args.buffer is not None:
        links = [Link(rate, delay, _buffer(args))]
    else:
        links = [_of_beta(beta, rate, delay) for beta in betas]
    losses = parsed(args, "loss", lambda texts: [units.parse_probability(t) for t in texts])
    return [
        {
            "beta": link.beta,
            "buffer_packets": link.buffer_packets,
            "loss_probability": loss,
            "tcp": tcp,
            "reading": reading,
            "formula_utilisation": utilisation(link, tcp, loss, reading),
            "chain_utilisation": lakshman_madhow_chain.analyse(
                link, tcp, loss, reading
            ).utilisation,
            "slow_starts_without_loss": cycle(link, tcp, None, reading).slow_starts,
        }
        for link in links
        for loss in losses
        for tcp in _names(args.tcp, (TCPS[0], TCPS[1]))
        for reading in _names(args.reading, READINGS)
    ]


def _sharing(args: argparse.Namespace) -> list[dict[str, Any]]:
    """A point for each connection, TCP and reading."""
    from wale_lab.papers.lakshman_madhow.model import READINGS, TCPS, sharing

    rate, delays = _rate(args), _delays(args)
    if args.buffer is None or args.loss != ["0"]:
        raise ValueError("--delay: with several, expected --buffer, and no --loss")
    found = []
    for tcp in _names(args.tcp, (TCPS[0], TCPS[1])):
        for reading in _names(args.reading, READINGS):
            shared = sharing(rate, delays, _buffer(args), tcp, reading)
            found += [
                {
                    "delay_s": delay,
                    "tcp": tcp,
                    "reading": reading,
                    "share": share,
                    "first_window_packets": window,
                    "link_always_busy": shared.large_buffer,
                }
                for delay, share, window in zip(
                    delays, shared.shares, shared.first_windows, strict=True
                )
            ]
    return found


#: Columns of the tables: title, key, format.
_COLUMNS = {
    1: [
        ("beta", "beta", ".3g"),
        ("buffer\npackets", "buffer_packets", "g"),
        ("loss", "loss_probability", "g"),
        ("TCP", "tcp", ""),
        ("reading", "reading", ""),
        ("slow starts\nin a cycle", "slow_starts_without_loss", "d"),
        ("utilisation\nformula", "formula_utilisation", ".4f"),
        ("utilisation\nMarkov chain", "chain_utilisation", ".4f"),
    ],
    2: [
        ("delay\ns", "delay_s", "g"),
        ("TCP", "tcp", ""),
        ("reading", "reading", ""),
        ("share of\nthe link", "share", ".4f"),
        ("window after a\nloss, packets", "first_window_packets", ".2f"),
        ("link always\nbusy", "link_always_busy", ""),
    ],
}


def _table(points: list[dict[str, Any]], columns: list[tuple[str, str, str]]) -> Table:
    from rich.table import Table

    table = Table(header_style="bold", pad_edge=False)
    for title, _, how in columns:
        table.add_column(title, justify="right" if how else "left")
    for point in points:
        table.add_row(*(_cell(point[key], how) for _, key, how in columns))
    return table


def _cell(value: object, how: str) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"{value:{how}}"


def _answer(args: argparse.Namespace) -> Any:
    several = len(args.delay) > 1
    points = _sharing(args) if several else _one_connection(args)
    if not args.json:
        return _table(points, _COLUMNS[2 if several else 1])
    link = {"rate_packets_per_s": _rate(args)}
    link |= {"buffer_packets": _buffer(args)} if several else {"delay_s": _delays(args)[0]}
    return json.dumps({"model": "lakshman-madhow", "link": link, "points": points}, indent=2)


def command(args: argparse.Namespace) -> int:
    """`wale-lab model lakshman-madhow`: analyse, print a table or JSON."""
    return answer(args, _answer, _OPTIONS)
