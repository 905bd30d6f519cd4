# SPDX-License-Identifier: GPL-2.0
"""`make bench`: the benchmarks, as tables or as JSON."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from rich.console import Console
from rich.table import Table

from bench import acks, paths
from engines.base import EngineError
from lab.progress import Progress
from lab.yaml_lines import ScenarioError


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make bench",
        description="Measures what an ACK costs by congestion control, and what paths cost.",
    )
    parser.add_argument("--rounds", type=int, default=9, metavar="N", help="of each transfer (9)")
    parser.add_argument("--size", default="100MB", metavar="S", help="of a transfer (100MB)")
    parser.add_argument(
        "--cc",
        type=lambda text: text.split(","),
        default=["reno", "cubic", "ratcp"],
        metavar="CC,...",
        help="congestion controls, compared to the first one (reno,cubic,ratcp)",
    )
    parser.add_argument(
        "--paths", type=int, default=100_000, metavar="N", help="in the channel (100000; 0: none)"
    )
    parser.add_argument("--kernel", default=os.environ.get("WALE_KERNEL") or None, metavar="V")
    parser.add_argument("--json", action="store_true", help="print JSON, not tables")
    return parser.parse_args()


def _acks_table(rows: list[dict[str, Any]]) -> Table:
    table = Table(header_style="bold", title="Processor time for each ACK", title_justify="left")
    table.add_column("control")
    first = rows[0]["cc"]
    for title in ("ACKs", "ns", f"of {first}", "middle half"):
        table.add_column(title, justify="right")
    for row in rows:
        spread = f"{row['ratio_from']:.3f} to {row['ratio_to']:.3f}"
        cost = f"{row['per_ack_ns']:.0f}"
        table.add_row(row["cc"], str(row["acks"]), cost, f"{row['ratio']:.3f}", spread)
    return table


def _paths_table(times: dict[str, float]) -> Table:
    title = f"The channel with {times['paths']} paths"
    table = Table(header_style="bold", title=title, title_justify="left")
    table.add_column("step")
    for title in ("times", "seconds", "us each"):
        table.add_column(title, justify="right")
    for step, seconds in times.items():
        if step not in ("paths", "asked"):
            count = int(times["asked" if step == "get" else "paths"])
            table.add_row(step, str(count), f"{seconds:.3f}", f"{seconds / count * 1e6:.2f}")
    return table


def main() -> int:
    """Measure and print."""
    args = _arguments()
    found: dict[str, Any] = {}
    try:
        with Progress(quiet=False) as progress:
            rounds = acks.measure(args.cc, args.size, args.rounds, args.kernel, progress)
            found["acks"] = acks.summary(rounds)
            if args.paths:
                found["paths"] = paths.measure(args.paths, args.kernel, progress)
    except (EngineError, ScenarioError, RuntimeError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    if args.json:
        print(json.dumps(found, indent=2))
        return 0
    console = Console(highlight=False)
    console.print(_acks_table(found["acks"]))
    if args.paths:
        console.print(_paths_table(found["paths"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
