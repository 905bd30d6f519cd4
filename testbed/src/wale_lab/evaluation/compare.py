# SPDX-License-Identifier: GPL-2.0
"""`wale-lab compare`: what differs between two kernels, or which commit made it differ."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

from wale_lab.errors import ScenarioError
from wale_lab.evaluation.bisect import bisect_command
from wale_lab.evaluation.kernels import (
    Difference,
    cells,
    differences,
    records_of,
    shared,
    wanted_of,
)
from wale_lab.files import make_folder
from wale_lab.progress import Progress
from wale_lab.units import show_count


def compare_command(args: argparse.Namespace) -> int:
    """The subcommand."""
    if args.scenario == "evaluation":
        raise ScenarioError(
            "compare: expected a scenario; rows of an evaluation are compared by "
            "`wale-lab evaluate CC --kernel A --against CC --kernel B`"
        )
    wanted = wanted_of(args)
    out = Path(args.out or f"out/compare-{Path(args.scenario).stem}")
    if args.bisect:
        return bisect_command(args, wanted, out)
    for option in ("tree", "number"):
        if getattr(args, option) is not None:
            raise ScenarioError(f"--{option}: expected it with --bisect only")
    if len(args.kernel) != 2 or args.kernel[0] == args.kernel[1] or "" in args.kernel:
        raise ScenarioError("--kernel: expected it twice, with two different kernels")
    make_folder(out / "runs")
    with Progress(quiet=args.quiet) as progress:
        records = records_of(wanted, args.kernel, out, args.jobs, progress)
    half = len(records) // 2
    numbers = cells(records)
    different = differences(numbers[:half], numbers[half:])
    _tell(args, different, records)
    for record, one in zip(records, wanted * 2, strict=True):
        for problem in record["problems"]:
            said = f"Linux {record['kernel']}, seed {one.seed}: {problem}"
            print(f"wale-lab: {said}", file=sys.stderr)
    return 1 if different else 0


def _tell(args: argparse.Namespace, found: list[Difference], records: list[dict[str, Any]]) -> None:
    """A line for each number that differs."""
    count = len(shared(cells(records)))
    seeds = len(records) // 2
    if args.json:
        data = {
            "scenario": args.scenario,
            "kernels": [records[0]["kernel"], records[-1]["kernel"]],
            "seeds": seeds,
            "compared": count,
            "different": [one.data() for one in found],
        }
        print(json.dumps(data, indent=2))
        return
    print(
        f"{args.scenario}: {len(found)} of {count} numbers differ between {args.kernel[0]} and "
        f"{args.kernel[1]} ({show_count(seeds, 'seed')})"
    )
    for one in found:
        kind, name, measure = one.cell
        width = "" if one.difference.count == 1 else f" ± {one.difference.half:.4g}"
        share = f", {one.percent:+.3g} %" if math.isfinite(one.percent) else ""
        print(
            f"  {kind} {name} {measure}: {one.before:.6g} to {one.after:.6g} "
            f"({one.difference.mean:+.4g}{width}{share})"
        )
