# SPDX-License-Identifier: GPL-2.0
"""Makes Documentation/tested.rst, from what tests/tested.py wrote down.

    python -m wale_lab.report.tested Documentation/tested RECORDS... > Documentation/tested.rst

`make tested-table` does that with the records of build/tested.  They are kept in
Documentation/tested, one for each line of kernels, engine and flavour, so that runs on
several machines make one page.  A record takes the place of the one before it, unless it
is of a part of that one's suites.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from wale_lab.tree import SOURCES

Record = dict[str, Any]

RUNS = "Kernel Engine Flavour Host Date Revision Passed Failed Skipped".split()

_INTRODUCTION = """\
.. SPDX-License-Identifier: GPL-2.0
.. Made by `make tested-table` from what test runs wrote down; do not edit.

===============
What was tested
===============

This page is made by the tests: ``make release-check`` writes down what ran on which kernel, and
``make tested-table`` makes this of it, and of what ``Documentation/tested`` has of runs
before, each kernel's last one. A kernel of the uml engine is built from the
package ``linux-source``, and so is one of the engine ``qemu``, for another processor, which QEMU
emulates (``make check-arch``); tests that need no kernel are counted once, for the host.
"""

#: Below the table of runs.
_REVISIONS = """\
A revision is git's; with ``-dirty``, there were changes that are not in it; ``unknown`` if the
tests ran in a copy without git.
"""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in reStructuredText."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([header, *rows])
    body = "".join(f"   {line}\n" for line in text.getvalue().splitlines())
    return f".. csv-table::\n   :header-rows: 1\n\n{body}"


def order(record: Record) -> tuple[object, ...]:
    """The order of columns: the host, then by engine, flavour and age of the kernel."""
    numbers = tuple(int(n) for n in record["release"].split("-")[0].split(".") if n.isdigit())
    return record["engine"] != "host", record["engine"], record["flavour"], numbers


def total(record: Record, outcome: str) -> int:
    """The tests of a record that ended so."""
    return sum(suite[outcome] for suite in record["suites"].values())


def cell(counts: dict[str, int] | None) -> str:
    """A suite's counts as shown in the table."""
    if counts is None:
        return "–"
    words = [str(counts["passed"])]
    words += [f"**{counts['failed']} failed**"] if counts["failed"] else []
    words += [f"{counts['skipped']} skipped"] if counts["skipped"] else []
    return ", ".join(words)


def run_row(record: Record) -> list[str]:
    """The line of a record in the table of runs."""
    ended = [str(total(record, outcome)) for outcome in ("passed", "failed", "skipped")]
    place = [record["release"] or "none needed", record["engine"], record["flavour"] or "plain"]
    when = [record["date"], record["revision"] or "unknown"]
    return [*place, record["host"], *when, *ended]


def function(test: str) -> str:
    """Of a test, its file and name, without the case."""
    path, _, name = test.partition("::")
    return f"{Path(path).name}::{name.partition('[')[0]}"


def places(cases: Counter[str]) -> str:
    """Where so many cases of a test were skipped."""
    return ", ".join(f"{name}: {n} cases" if n > 1 else name for name, n in cases.items())


def render(records: Iterable[Record]) -> str:
    """The page."""
    ordered = sorted(records, key=order)
    suites = sorted({suite for record in ordered for suite in record["suites"]})
    names = [" ".join(filter(None, (r["engine"], r["release"]))) for r in ordered]
    by_suite = [[s, *(cell(r["suites"].get(s)) for r in ordered)] for s in suites]
    skips: dict[str, Counter[str]] = {}
    for name, record in zip(names, ordered, strict=True):
        for test, reason in record["skips"].items():
            skips.setdefault(f"``{function(test)}``: {reason}", Counter())[name] += 1
    parts = [
        _INTRODUCTION,
        table(RUNS, [run_row(r) for r in ordered]),
        _REVISIONS,
        "Tests that passed, by suite:\n",
        table(["Suite", *names], by_suite),
    ]
    if skips:
        said = [f"* {what} ({places(where)})\n" for what, where in sorted(skips.items())]
        parts += ["What was skipped, and why:\n", "".join(said)]
    return "\n".join(parts)


def suite_of_selftest(name: str) -> str:
    """The suite in which a selftest of run.sh is counted."""
    kinds = {"kunit": "selftests: KUnit", "tdc": "selftests: tc-testing"}
    kind = "selftests: tools" if name.startswith("tool-") else "selftests: behaviour"
    return kinds.get(name, kind)


def circumstances() -> Record:
    """When, of which revision, on what host."""
    command = ["git", "-C", str(SOURCES), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    today = datetime.datetime.now(datetime.UTC).date()
    return {
        "date": today.isoformat(),
        "host": platform.freedesktop_os_release()["PRETTY_NAME"],
        "revision": done.stdout.strip(),
    }


def kept_as(record: Record) -> str:
    """The name of a record's file: by line of kernels, as each of them has many releases."""
    line = ".".join(record["release"].split(".")[:2])
    return "-".join(filter(None, (record["engine"], line, record["flavour"]))) + ".json"


def keep(folder: Path, record: Record) -> str | None:
    """Replace the record before it with a new one, or say why not."""
    file = folder / kept_as(record)
    if file.exists():
        lacks = json.loads(file.read_text())["suites"].keys() - record["suites"].keys()
        if lacks:
            return f"{file} stays: the new record has no {', '.join(sorted(lacks))}"
    file.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
    return None


def main(arguments: Sequence[str]) -> int:
    """Keep these records in the folder, and print the page made of all that it has."""
    if len(arguments) < 2:
        print("report.tested: no records; `make check` writes them", file=sys.stderr)
        return 1
    folder, *new = map(Path, arguments)
    folder.mkdir(exist_ok=True)
    for path in new:
        if refused := keep(folder, json.loads(path.read_text())):
            print(f"report.tested: {refused}", file=sys.stderr)
    print(render(json.loads(path.read_text()) for path in folder.glob("*.json")), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
