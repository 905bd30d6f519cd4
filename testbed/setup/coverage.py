# SPDX-License-Identifier: GPL-2.0
"""`make coverage`: which lines of the kernel modules and of the C programs the tests reach.

    testbed/wale-lab python testbed/setup/coverage.py [--fail-under PERCENT] [WORDS FOR PYTEST]

Runs the tests in a copy of the tree, build/coverage/tree: the guest kernel is of the
flavour "coverage", which has gcov count the lines of the modules (engines/coverage.py),
and the programs are compiled with --coverage.  Then prints a table of files, the lines
that refuse a configuration and were never reached, and writes the same as HTML.
Exit code 1: less than the percentage, or an error path of the configuration not reached.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from wale_lab.engines.processes import without_make

TOP = Path(__file__).resolve().parents[2]
WORK = TOP / "build" / "coverage"
TREE = WORK / "tree"
HTML = WORK / "html" / "index.html"
PARTS = ("kmod/wale", "kmod/rate_feedback", "tcp_ratcp", "userspace/lib", "userspace/tc")
PARTS = (*PARTS, "userspace/wale", "userspace/transfer")

#: The tests that run code: not those that look at it, nor those of packages and stock kernels.
TESTS = "not lint and not deb and not vm and not long and not programs"

#: Who reads configurations: each line there that refuses one must be reached.
CONFIGURATION = tuple(
    str(path.relative_to(TOP))
    for pattern in (
        "kmod/wale/wale_netlink*.c",
        "kmod/rate_feedback/rate_request.c",
        "userspace/lib/link_*.c",
        "userspace/lib/rate_key.c",
        "userspace/lib/rate_path.c",
        "userspace/lib/rate_trace.c",
        "userspace/lib/units.c",
    )
    for path in sorted(TOP.glob(pattern))
)
#: Refusals that no test can cause, by what they say.
UNCAUSED = {
    "the namespace to follow is going": "its descriptor is closed while the request is served",
    "netns: cannot return": "the way into a namespace was open a moment ago, the way back not",
    "became shorter while it was read": "its size was asked for a moment ago",
    "no memory": "for some bytes",
    "more than %u steps": "16 million lines",
}
#: A dump that is full, and memory that is not there, refuse nothing.
REFUSAL = re.compile(
    r"SET_ERR|BAD_ATTR|(return|err =) -E(?!MSGSIZE|NOMEM)[A-Z]+;|error_set\("
    r"|return (link_)?parse_failed\("
)


def copy_tree() -> None:
    """The tree as it is now, without what is built."""
    shutil.rmtree(WORK, ignore_errors=True)
    TREE.mkdir(parents=True)
    left_out = shutil.ignore_patterns("build", "out", "results", ".git", "__pycache__", "*.pyc")
    shutil.copytree(TOP, TREE, ignore=left_out, dirs_exist_ok=True)


def run_tests(words: list[str]) -> int:
    """The tests, in the copy; exit code of pytest."""
    env = without_make()
    version = env.get("WALE_KERNEL", "").partition("+")[0]
    env |= {"WALE_KERNEL": f"{version}+coverage", "CFLAGS": "-O0 -g --coverage -fprofile-abs-path"}
    env |= {"LDFLAGS": "--coverage", "GCOV_PREFIX": str(WORK / "host")}
    subprocess.run(["make", "-s", "-C", TREE, "userspace"], check=True, env=env)
    command = [TREE / "testbed/wale-lab", "python", "-m", "pytest", "-m", TESTS, *words]
    return subprocess.run(command, cwd=TREE, env=env, check=False).returncode


def gather() -> Path:
    """What the compiler noted, with the counters of this machine and of guests beside it."""
    folders = {"none": None, "host": WORK / "host", "guests": TREE / "build/coverage/guests"}
    for notes in TREE.rglob("*.gcno"):
        for kind, counters in folders.items():
            counted = counters and counters / notes.with_suffix(".gcda").relative_to("/")
            if counted and not counted.exists():
                continue
            target = WORK / "objects" / kind / notes.relative_to(TREE)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(notes, target)
            if counted:
                shutil.copy(counted, target.with_suffix(".gcda"))
    return WORK / "objects"


def summarise(objects: Path) -> dict[str, dict[int, int]]:
    """Times that each line of each file ran, by gcovr; writes the HTML."""
    HTML.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "gcovr", "--root", TREE, "--gcov-ignore-parse-errors", "all"]
    command += ["--merge-mode-functions", "separate"]
    command += ["--json", WORK / "lines.json", "--html-details", HTML, objects]
    done = subprocess.run(command, cwd=TREE, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"coverage: gcovr failed:\n{done.stderr[-2000:]}")
    lines: dict[str, dict[int, int]] = {}
    for file in json.loads((WORK / "lines.json").read_text())["files"]:
        name = Path(file["file"])
        part = next((p for p in PARTS if name.parent.as_posix().endswith(p)), None)
        if part is None:
            continue  # a test, or a header of the kernel
        counted = lines.setdefault(f"{part}/{name.name}", {})
        for line in file["lines"]:
            if not line.get("gcovr/noncode"):
                number = line["line_number"]
                counted[number] = counted.get(number, 0) + line["count"]
    return dict(sorted(lines.items()))


def what_is_said(text: list[str], index: int) -> str:
    """The statement of a line; of a mere return also the statement before it."""

    def beginning(at: int) -> int:
        while at and not text[at - 1].rstrip().endswith((";", "{", "}")):
            at -= 1
        return at

    first = beginning(index)
    if first == index and text[index].lstrip().startswith("return -"):
        first = beginning(max(0, index - 1))
    last = index
    while last < len(text) - 1 and not text[last].rstrip().endswith((";", "}")):
        last += 1
    return " ".join(line.strip() for line in text[first : last + 1])


def never_refused(lines: dict[str, dict[int, int]]) -> list[str]:
    """Lines that refuse a configuration and never did, though a test could have them do so."""
    found = []
    for name in CONFIGURATION:
        if name not in lines:
            found.append(f"{name}: no line was counted")
            continue
        text = (TREE / name).read_text().splitlines()
        for number, count in sorted(lines[name].items()):
            if count or not REFUSAL.search(text[number - 1]):
                continue
            words = what_is_said(text, number - 1)
            if not any(said in words for said in UNCAUSED):
                found.append(f"{name}:{number}: {text[number - 1].strip()}")
    return found


def percent(counted: dict[int, int]) -> float:
    """Lines reached, of 100."""
    return 100 * sum(1 for n in counted.values() if n) / len(counted) if counted else 100.0


def table_of(lines: dict[str, dict[int, int]]) -> tuple[Table, dict[str, Any]]:
    """A row for each file and part, and the same for machines."""
    table = Table(header_style="bold", title="Lines that the tests reach", title_justify="left")
    table.add_column("file")
    for title in ("lines", "reached", "percent"):
        table.add_column(title, justify="right")
    summary: dict[str, Any] = {"parts": {}, "files": {}}
    everything: dict[int, int] = {}
    for part in PARTS:
        whole: dict[int, int] = {}
        for name in (n for n in lines if n.rpartition("/")[0] == part):
            counted = lines[name]
            summary["files"][name] = round(percent(counted), 1)
            whole |= {len(whole) + i: n for i, n in enumerate(counted.values())}
            reached = sum(1 for n in counted.values() if n)
            table.add_row(f"  {name}", str(len(counted)), str(reached), f"{percent(counted):.1f}")
        everything |= {len(everything) + i: n for i, n in whole.items()}
        summary["parts"][part] = round(percent(whole), 1)
        reached = sum(1 for n in whole.values() if n)
        words = (part, str(len(whole)), str(reached), f"{percent(whole):.1f}")
        table.add_row(*words, style="bold", end_section=True)
    summary["lines_percent"] = round(percent(everything), 1)
    return table, summary


def main() -> int:
    """Run the tests, print what they reach."""
    parser = argparse.ArgumentParser(prog="make coverage", description=str(__doc__).splitlines()[0])
    parser.add_argument("--fail-under", type=float, default=90, metavar="PERCENT")
    parser.add_argument("--report-only", action="store_true", help="of what was counted before")
    args, words = parser.parse_known_args()
    failed = 0
    if not args.report_only:
        copy_tree()
        failed = run_tests(words)
    lines = summarise(gather())
    table, summary = table_of(lines)
    Console().print(table)
    missing = never_refused(lines)
    for line in missing:
        print(f"never refused: {line}")
    summary["never_refused"] = missing
    (WORK / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    print(
        f"coverage: {summary['lines_percent']} % of lines, {len(missing)} error paths of the "
        f"configuration not reached; every line: {HTML}"
    )
    return 1 if failed or missing or summary["lines_percent"] < args.fail_under else 0


if __name__ == "__main__":
    sys.exit(main())
