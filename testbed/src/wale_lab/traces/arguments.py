# SPDX-License-Identifier: GPL-2.0
"""The command line of `wale-lab trace`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

#: What --from takes, and what it is.
FORMATS = {
    "wale": "the format that is written",
    "mahimahi": "times of deliveries in ms; one file, or up and down",
    "columns": "a time in s and a rate in Mbit/s, without names",
    "csv": "columns with names, such as those of drive tests",
    "theaterq": "TheaterQ's CSV",
    "leoreplayer": "a bandwidth file and a delay file",
    "cellreplay": "delay files and heavy-PDO files: DELAY PDO, or UP DOWN UP-PDO DOWN-PDO",
    "iperf3": "JSON of iperf3 -J, or --json-stream",
    "irtt": "JSON of irtt client -o",
    "ping": "output of ping, with -D or without",
}


#: How a parser, or a group of its options, adds one.
Add = Callable[..., argparse.Action]


def given(args: argparse.Namespace, options: Callable[[Add], list[argparse.Action]]) -> str | None:
    """One of these options that is there, with another value than it has without being given."""
    actions = options(argparse.ArgumentParser().add_argument)
    others = (a.option_strings[0] for a in actions if getattr(args, a.dest) != a.default)
    return next(others, None)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, got {text!r}") from None


def reading(add: Add) -> list[argparse.Action]:
    """Options that mean nothing to `trace make`."""
    return [
        add("--from", dest="format", choices=list(FORMATS),
            help="the format, instead of by content"),
        add("--step", default="100ms", metavar="T", help="of Mahimahi's (100ms)"),
        add("--packet", metavar="SIZE",
            help="that a line of Mahimahi's stands for (1500; of CellReplay's, 1400)"),
        add("--column", action="append", default=[], metavar="KIND=NAME[:UNIT]",
            help="what a column is: KIND is time, rate, delay, rtt, loss or limit; "
            "may be given several times"),
        add("--direction", choices=["down", "up"], default="down",
            help="of a file that has both (down)"),
        add("--only", action="append", choices=["rate", "delay", "loss", "limit"], default=[],
            help="this column; may be given several times"),
        add("--from-start", action="store_true", help="subtract the first time"),
        add("--gaps", choices=["refuse", "hold", "down"], default="refuse",
            help="where nothing was measured: hold, or an outage"),
        add("--interval", metavar="T",
            help="of rows without a time (ping 1s, LeoReplayer 10ms)"),
        add("--limit-unit", choices=["packets", "bytes"], default="packets",
            help="of TheaterQ's limit (packets)"),
    ]  # fmt: skip


def making(add: Add) -> list[argparse.Action]:
    """Options that mean nothing without `trace make`."""
    return [
        add("--seed", type=_whole, default=1, metavar="N", help="of every draw (1)"),
        add("--seconds", type=_whole, default=60, metavar="S", help="its length (60)"),
        add("--mean", metavar="RATE", help="mean rate while the link is up"),
        add("--delay", metavar="T[..T]", help="the one-way delay, or its range"),
    ]


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """The options of `wale-lab trace`."""
    sub.add_argument("words", nargs="+", metavar="FILE", help="files; or make MODEL; or plot FILE")
    sub.add_argument("--out", metavar="NAME", type=Path, help="a file, instead of standard output")
    reading(sub.add_argument_group("files of other tools").add_argument)
    making(sub.add_argument_group("make MODEL: leo, lte, wifi, gnss-outage").add_argument)
