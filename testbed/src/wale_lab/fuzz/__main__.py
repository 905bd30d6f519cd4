# SPDX-License-Identifier: GPL-2.0
"""`make fuzz-kernel`: fuzzes the modules in a guest; says what the kernel did not like."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

import yaml

from wale_lab.engines import get_engine
from wale_lab.engines.base import EngineError, Job
from wale_lab.engines.modules import find_modules, find_userspace
from wale_lab.execute import tell, write_through
from wale_lab.progress import Progress
from wale_lab.tree import SOURCES, guest_program

HERE = Path(__file__).resolve().parent
SPECIFICATIONS = {
    name: SOURCES / f"Documentation/netlink/specs/{name}.yaml"
    for name in ("rate_feedback", "sch_wale")
}
#: Messages that have surroundings of their own: see guest.py.
EPOCH = 10_000
MODULES = ("rate_feedback", "tcp_ratcp", "sch_wale")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m wale_lab.fuzz",
        description="Sends messages, good and bad, to sch_wale and rate_feedback in a guest.",
    )
    parser.add_argument("--messages", type=int, metavar="N", help="(50000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="all follows from it (1)")
    parser.add_argument(
        "--from",
        type=int,
        default=0,
        dest="first",
        metavar="N",
        help="begin with the ten thousand messages that message N is in",
    )
    parser.add_argument(
        "--count", type=int, metavar="M", help="end with message N + M (of those ten thousand)"
    )
    parser.add_argument(
        "--case",
        type=Path,
        action="append",
        help="sent first (all); with it, what is wrong is in out/fuzz-kernel/again",
    )
    parser.add_argument("--sch-wale", type=Path, metavar="YAML", help="other options of the qdisc")
    parser.add_argument("--kernel", default=os.environ.get("WALE_KERNEL") or "+san", metavar="V")
    parser.add_argument("--out", type=Path, metavar="DIR", help="(out/fuzz-kernel)")
    parser.add_argument("--wall-limit", type=float, metavar="SECONDS")
    args = parser.parse_args()
    if args.count is not None:
        args.end = args.first + args.count
    elif args.first and args.messages is None:
        args.end = (args.first // EPOCH + 1) * EPOCH
    else:
        args.end = 50_000 if args.messages is None else args.messages
    if args.end < args.first or (args.end == args.first and args.first):
        parser.error(f"expected --messages above --from {args.first}, or --count")
    args.out = (args.out or Path("out/fuzz-kernel", "again" if args.case else "")).resolve()
    for case in args.case or ():
        if not case.is_file():
            parser.error(f"--case {case}: there is no such file")
        if case.resolve() == args.out / "last.json":
            parser.error(f"--case {case}: expected another --out, where it is not written to")
    return args


def main() -> int:
    """Run it; the exit code is that of `wale-lab exec`."""
    args = _arguments()
    end, out = args.end, args.out
    out.mkdir(parents=True, exist_ok=True)
    files = SPECIFICATIONS | ({"sch_wale": args.sch_wale} if args.sch_wale else {})
    grammars = {name: yaml.safe_load(path.read_text()) for name, path in files.items()}
    (out / "grammars.json").write_text(json.dumps(grammars))
    words = [f"--seed={args.seed}", f"--first={args.first}", f"--end={end}"]
    cases = [str(path.resolve()) for path in args.case or sorted((HERE / "cases").glob("*.json"))]
    with Progress() as progress:
        engine = get_engine("uml")
        kernel = engine.prepare(args.kernel, progress)
        job = Job(
            argv=[
                *guest_program(HERE / "guest.py"),
                *words,
                "/run/wale/out/grammars.json",
                *cases,
            ],
            out=out,
            seed=args.seed,
            wall_limit_s=args.wall_limit or 300 + (end - args.first // EPOCH * EPOCH) / 50,
            memory_mb=1024,
            env=find_userspace(progress),
            modules=find_modules(kernel, MODULES, progress),
            on_output=write_through,
        )
    began = time.monotonic()
    outcome = engine.run(kernel, job)
    code = tell(outcome)
    print(
        f"fuzz: seed {args.seed}, messages {args.first} to {end}: {outcome.describe()}, "
        f"{time.monotonic() - began:.0f} s; {out}"
    )
    return code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except EngineError as error:
        sys.exit(f"fuzz: {error}")
