# SPDX-License-Identifier: GPL-2.0
"""The command line of `wale-lab trace`."""

from __future__ import annotations

import argparse
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


#: Options, by what they are an argument of, that mean nothing to the others.
READING = {
    "--from": "format",
    "--step": "step",
    "--packet": "packet",
    "--column": "column",
    "--direction": "direction",
    "--only": "only",
    "--from-start": "from_start",
    "--gaps": "gaps",
    "--interval": "interval",
    "--limit-unit": "limit_unit",
}
MAKING = {"--seed": "seed", "--seconds": "seconds", "--mean": "mean", "--delay": "delay"}


def given(args: argparse.Namespace, options: dict[str, str]) -> str | None:
    """One of these options that is there, with another value than it has without being given."""
    usual = argparse.ArgumentParser()
    add_arguments(usual)
    others = (o for o, name in options.items() if getattr(args, name) != usual.get_default(name))
    return next(others, None)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, got {text!r}") from None


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """The options of `wale-lab trace`."""
    sub.add_argument("words", nargs="+", metavar="FILE", help="files; or make MODEL; or plot FILE")
    sub.add_argument(
        "--from", dest="format", choices=list(FORMATS), help="the format, instead of by content"
    )
    sub.add_argument("--out", metavar="NAME", type=Path, help="a file, instead of standard output")
    reading = sub.add_argument_group("files of other tools")
    reading.add_argument("--step", default="100ms", metavar="T", help="of Mahimahi's (100ms)")
    reading.add_argument("--packet", default="1500", metavar="SIZE",
                         help="that a line of Mahimahi's stands for (1500)")  # fmt: skip
    reading.add_argument("--column", action="append", default=[], metavar="KIND=NAME[:UNIT]",
                         help="what a column is: KIND is time, rate, delay, rtt, loss or limit; "
                         "may be given several times")  # fmt: skip
    reading.add_argument("--direction", choices=["down", "up"], default="down",
                         help="of a file that has both (down)")  # fmt: skip
    reading.add_argument("--only", action="append", choices=["rate", "delay", "loss", "limit"],
                         default=[], help="this column; may be given several times")  # fmt: skip
    reading.add_argument("--from-start", action="store_true", help="subtract the first time")
    reading.add_argument("--gaps", choices=["refuse", "hold", "down"], default="refuse",
                         help="where nothing was measured: hold, or an outage")  # fmt: skip
    reading.add_argument("--interval", metavar="T", help="of rows without a time (ping 1s, "
                         "LeoReplayer 10ms)")  # fmt: skip
    reading.add_argument("--limit-unit", choices=["packets", "bytes"], default="packets",
                         help="of TheaterQ's limit (packets)")  # fmt: skip
    making = sub.add_argument_group("make MODEL: leo, lte, wifi, gnss-outage")
    making.add_argument("--seed", type=_whole, default=1, metavar="N", help="of every draw (1)")
    making.add_argument("--seconds", type=_whole, default=60, metavar="S", help="its length (60)")
    making.add_argument("--mean", metavar="RATE", help="mean rate while the link is up")
    making.add_argument("--delay", metavar="T[..T]", help="the one-way delay, or its range")
