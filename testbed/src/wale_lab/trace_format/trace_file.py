# SPDX-License-Identifier: GPL-2.0
"""Files of traces: reads and writes the format of ours, and refuses what a link refuses."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wale_lab import options
from wale_lab.errors import ScenarioError
from wale_lab.trace_format.step import Header, Step, merged, parse_header, show_time
from wale_lab.trace_format.text import one_line

#: What is between blanks, which are those of tc: no others that Unicode has.
_WORD = re.compile(r"[^ \t\r\n\f\v]+")


@dataclass
class Trace:
    """The steps of one direction of a link, where they are from, and what is to be told of them."""

    steps: Iterable[Step]
    name: str  # of the file, or of what made them
    about: str = ""  # how they were read
    notes: list[str] = field(default_factory=list)  # for the user: what was left out


def read_trace(name: str, lines: Iterable[str]) -> tuple[list[Step], Any]:
    """The steps of a file, and the line of each; ScenarioError says what is wrong and where."""
    steps: list[Step] = []
    numbers = array("L")
    header: Header | None = None
    for number, line in enumerate(lines, 1):
        words = _WORD.findall(line.partition("#")[0])
        if not words:
            continue
        try:
            if header is None:
                header = parse_header(words)
                if header:
                    continue
                header = Header()
            steps.append(header.parse(words))
        except ValueError as error:
            raise ScenarioError(f"{name}:{number}: {error}") from None
        numbers.append(number)
    if wrong := wrong_in(steps):
        raise ScenarioError(f"{name}: {wrong}")
    return steps, numbers


def wrong_in(steps: list[Step]) -> str | None:
    """What is wrong with a trace as a whole, or None."""
    if not steps:
        return "the trace has no steps"
    if len(steps) > options.TRACE_FD_STEPS_MAX:
        return f"{len(steps)} steps, of {options.TRACE_FD_STEPS_MAX} that a link takes"
    if sum(step.duration_ns for step in steps) > options.TRACE_PERIOD_MAX:
        return "expected a trace of at most 4000 days"
    if all(step[1:] == (None, None, None, None, False) for step in steps):
        return "expected a step with a value"
    if not any(step.carries() for step in steps):
        return "expected a step with a rate above 0"
    if len({step.limit[-1] for step in steps if step.limit is not None}) > 1:
        return "expected the limits all in packets, or all in bytes"
    return None


def checked(trace: Trace) -> list[Step]:
    """The steps, equal neighbours as one; ScenarioError if a link would refuse them."""
    steps = list(merged(iter(trace.steps)))
    if wrong := wrong_in(steps):
        raise ScenarioError(f"{trace.name}: {wrong}")
    start_ns = 0
    for step in steps:
        if wrong := _wrong(step):
            raise ScenarioError(f"{trace.name}: at {show_time(start_ns)}: {wrong}")
        start_ns += step.duration_ns
    return steps


def _wrong(step: Step) -> str | None:
    """Why a link does not take a step that was computed, or None."""
    if step.duration_ns < options.TRACE_STEP_MIN:
        return f"a step of {step.duration_ns} ns, of at least 1 us that a link takes"
    if step.rate_bps is not None and step.rate_bps > 8 * options.RATE_MAX:
        return f"{step.rate_bps} bit/s, of {8 * options.RATE_MAX} that a link takes"
    if step.delay_ns is not None and step.delay_ns > options.TIME_MAX:
        return f"a delay of {show_time(step.delay_ns)}, of 86400 s that a link takes"
    if step.limit is not None and int(step.limit[:-1]) > 2**32 - 1 and step.limit[-1] == "p":
        return f"a limit of {step.limit}, of 4294967295 packets that a link takes"
    return None


def written(trace: Trace, steps: list[Step]) -> Iterator[str]:
    """The lines of a file."""
    made = trace.name.startswith("wale-lab ")
    origin = trace.name if made else f"from {Path(trace.name).name}"
    about = f"{origin}{': ' if trace.about else ''}{trace.about}"
    yield from (f"# {one_line(text)}\n" for text in (about, *trace.notes))
    for step in steps:
        yield " ".join(step.words()) + "\n"
