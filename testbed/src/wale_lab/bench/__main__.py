# SPDX-License-Identifier: GPL-2.0
"""`make bench`: the benchmarks, as tables or as JSON, and as CSV and a page in RESULTS/bench."""

from __future__ import annotations

import argparse
import fnmatch
import json
import re
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from wale_lab.bench import acks, engine, estimate, packets, page, paths, summary, timing
from wale_lab.bench.cases import counted_cases, packet_cases
from wale_lab.bench.packets import Case
from wale_lab.bench.qdiscs import SUBJECTS
from wale_lab.bench.sheets import Sheet
from wale_lab.bench.summary import REFERENCE, Row
from wale_lab.engines import engine_names, get_engine
from wale_lab.engines.base import EngineError
from wale_lab.engines.vm import VmEngine
from wale_lab.errors import ScenarioError
from wale_lab.files import make_folder
from wale_lab.progress import Progress


@dataclass
class Bench:
    """The requested benchmarks, and the results so far."""

    args: argparse.Namespace
    progress: Progress
    rows: list[Row]  # of summary.csv

    def __post_init__(self) -> None:
        self.engine = get_engine("uml")
        self.kernel = self.engine.prepare(self.args.kernel, self.progress)

    @property
    def folder(self) -> Path:
        return Path(self.args.results, "bench")

    def rounds(self, most: int) -> int:
        """So many, if that is not too many."""
        return min(int(self.args.rounds), most)

    def wanted(self, cases: list[Case]) -> list[Case]:
        """Those cases and subjects that were asked for."""
        cases = [c for c in cases if fnmatch.fnmatch(c.name, self.args.case)]
        if not self.args.subjects:
            return cases
        subjects = {packets.BASELINE, REFERENCE, *self.args.subjects}
        return [replace(c, subjects=tuple(s for s in c.subjects if s in subjects)) for c in cases]


def _packets(bench: Bench) -> list[Sheet]:
    """Of each case; what there is so far is in the file after each."""
    memory = []
    for case in bench.wanted(packet_cases(bench.args.quick)):
        most = 3 if case.traffic.packets_in_line > 100_000 else 9
        rounds = packets.measure_rounds(
            bench.engine, bench.kernel, case, bench.rounds(most), bench.progress
        )
        bench.rows += summary.rows(case, bench.kernel.release, rounds)
        summary.sheet(bench.rows).write_csv(bench.folder)
        if case.traffic.packets_in_line >= 100_000 and not case.traffic.gso:
            memory.append((case, rounds))
    found = [summary.sheet(bench.rows)]
    return [*found, packets.memory_sheet(bench.kernel, memory)] if memory else found


def _instructions(bench: Bench) -> list[Sheet]:
    """On a stock kernel, whose processor counts; a machine that cannot do this is told why."""
    cases = bench.wanted(counted_cases())
    vm = VmEngine(counting=True)
    wanted = [(case, subject) for case in cases for subject in case.subjects]
    try:
        kernel = vm.prepare(None, bench.progress)
        bench.progress(f"instructions, on {kernel.release}")
        found = packets.measure(vm, kernel, wanted, bench.progress) if wanted else []
    except EngineError as error:
        print(f"bench: instructions are not counted: {error}", file=sys.stderr)
        return []
    for case in cases:
        of_case = [m for (c, _), m in zip(wanted, found, strict=True) if c is case]
        bench.rows += summary.rows(case, kernel.release, [of_case], instructions=True)
    return [summary.sheet(bench.rows)]


def _timing(bench: Bench) -> list[Sheet]:
    args, quick = bench.args, bench.args.quick
    default = ["uml"] if quick else ["uml", "vm"]
    places = timing.find_places(args.engines, default, args.kernel, bench.progress)
    return [
        timing.lateness(places, bench.rounds(3), quick, bench.progress),
        timing.rate_error(timing.Where(bench.engine, bench.kernel), bench.progress),
        timing.flood(places, bench.rounds(5), quick, bench.progress),
    ]


def _acks(bench: Bench) -> list[Sheet]:
    args = bench.args
    size = args.size or ("20MB" if args.quick else "100MB")
    rounds = acks.measure(args.cc, size, bench.rounds(9), args.kernel, bench.progress)
    return [acks.sheet(acks.summary(rounds))]


def _paths(bench: Bench) -> list[Sheet]:
    counts = bench.args.paths or ([1_000] if bench.args.quick else [1, 1_000, 100_000])
    found = [paths.measure(count, bench.args.kernel, bench.progress) for count in counts]
    return [paths.sheet(found)]


def _engine(bench: Bench) -> list[Sheet]:
    args = bench.args
    return [engine.measure(bench.engine, bench.kernel, args.kernel, args.quick, bench.progress)]


SECTIONS: dict[str, Callable[[Bench], list[Sheet]]] = {
    "packets": _packets,
    "instructions": _instructions,
    "timing": _timing,
    "acks": _acks,
    "paths": _paths,
    "engine": _engine,
}


def _words(text: str) -> list[str]:
    return text.split(",")


def _names(text: str, what: str, known: Collection[str]) -> list[str]:
    """Words that are all known; ArgumentTypeError if one is not."""
    unknown = [name for name in _words(text) if name not in known]
    if unknown:
        said = f"there is no {what} {unknown[0]!r}; known: {', '.join(known)}"
        raise argparse.ArgumentTypeError(said)
    return _words(text)


def section_names(text: str) -> list[str]:
    """Names of sections, as they are given; ArgumentTypeError if there is none of that name."""
    return _names(text, "section", SECTIONS)


def subject_names(text: str) -> list[str]:
    """Names of subjects, as they are given; ArgumentTypeError if there is none of that name."""
    return _names(text, "subject", SUBJECTS)


def count(text: str) -> int:
    """A number from 1 on; ArgumentTypeError if it is none."""
    if not re.fullmatch(r"0*[1-9][0-9]{0,8}", text):
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, got {text!r}")
    return int(text)


def _counts(text: str) -> list[int]:
    return [count(word) for word in _words(text)]


def _cases(args: argparse.Namespace) -> list[Case]:
    """All that the sections that were asked for could measure."""
    cases = packet_cases(args.quick) if "packets" in args.only else []
    counted = "instructions" in args.only and not args.quick
    return cases + (counted_cases() if counted else [])


def engine_list(text: str) -> list[str]:
    """Names of engines, as they are given; ArgumentTypeError if there is none of that name."""
    return _names(text, "engine", engine_names())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make bench",
        description="Measures what a packet costs by qdisc, how exact links are in time, what "
        "an ACK costs by congestion control, what paths cost, and how fast the engine is.",
    )
    add = parser.add_argument
    names = ",".join(SECTIONS)
    add("--only", type=section_names, default=list(SECTIONS), metavar="SECTION,...", help=names)
    add("--quick", action="store_true", help="fewer cases, fewer rounds, no instructions")
    add("--case", default="*", metavar="PATTERN", help="packets: such as '1500B-*'")
    add(
        "--subjects", type=subject_names, metavar="QDISC,...", help="packets: beside none and netem"
    )
    add("--rounds", type=count, metavar="N", help="of each, at most (5; quick: 3)")
    add("--engines", type=engine_list, metavar="NAME,...",
        help="timing: uml,vm (quick: uml), and host, which loads the modules here")  # fmt: skip
    add("--size", metavar="S", help="acks: of a transfer (100MB; quick: 20MB)")
    controls = ["reno", "cubic", "bbr", "ratcp"]
    add("--cc", type=_words, default=controls, metavar="CC,...", help="acks: " + ",".join(controls))
    add("--paths", type=_counts, metavar="N,...",
        help="paths: how many (1,1000,100000; quick: 1000)")  # fmt: skip
    add("--kernel", metavar="V")
    add("--results", default="results", metavar="DIR", help="DIR/bench gets the files (results)")
    add("--json", action="store_true", help="print JSON, not tables")
    args = parser.parse_args()
    cases = list(dict.fromkeys(case.name for case in _cases(args)))
    if cases and not fnmatch.filter(cases, args.case):
        parser.error(f"--case: there is no case {args.case!r}; expected one of {', '.join(cases)}")
    args.rounds = args.rounds or (3 if args.quick else 5)
    return args


def _measure(bench: Bench) -> dict[str, Sheet]:
    """Run the sections; a later sheet of the same name is a longer one."""
    found: dict[str, Sheet] = {}
    for name, section in SECTIONS.items():
        if name not in bench.args.only or (name == "instructions" and bench.args.quick):
            continue
        for sheet in section(bench):
            found[sheet.name] = sheet
            sheet.write_csv(bench.folder)
    return found


def main() -> int:
    """Measure and print."""
    args = _arguments()
    print(
        f"bench: {estimate.said(args.only, args.rounds, args.quick)}", file=sys.stderr, flush=True
    )
    try:
        with Progress(quiet=False) as progress:
            bench = Bench(args, progress, [])
            make_folder(bench.folder, "--results")
            found = _measure(bench)
            index = page.write(bench.folder, list(found.values()), bench.rows)
    except (EngineError, ScenarioError, RuntimeError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    if args.json:
        print(json.dumps({name: sheet.records() for name, sheet in found.items()}, indent=2))
        return 0
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 160
    for sheet in found.values():
        console.print(sheet.table())
    console.print(index)
    return 0


if __name__ == "__main__":
    sys.exit(main())
