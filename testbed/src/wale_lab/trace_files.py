# SPDX-License-Identifier: GPL-2.0
"""Files of traces that a scenario names: their steps become a part of the scenario."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wale_lab.errors import ScenarioError, why
from wale_lab.trace_format.step import Step
from wale_lab.trace_format.trace_file import read_trace
from wale_lab.yaml_lines import Document, KeyPath, Part


def _traces(document: Document) -> Iterator[tuple[KeyPath, dict[str, Any]]]:
    """What a document says of traces of links, and where."""
    todo: list[tuple[KeyPath, Any]] = [
        ((key,), document.value.get(key)) for key in ("bottleneck", "topology")
    ]
    for path, value in todo:  # which grows
        if isinstance(value, dict):
            if isinstance(value.get("trace"), dict):
                yield (*path, "trace"), value["trace"]
            todo += [((*path, key), inner) for key, inner in value.items() if key != "trace"]
        elif isinstance(value, list):
            todo += [((*path, n), inner) for n, inner in enumerate(value)]


def _raw(step: Step) -> tuple[str, ...]:
    """A step as a scenario may write it."""
    return f"{step.duration_ns}ns", *step.words()[1:]


def trace_lines(path: Path) -> list[str]:
    """The lines of a file, as tc has them: a line ends with a line feed."""
    return path.read_bytes().decode("utf-8-sig").split("\n")


def inline_traces(document: Document, folder: Path) -> None:
    """Replace `trace: {file: F}` by its steps, so that the scenario says everything."""
    for key, trace in _traces(document):
        if not isinstance(trace.get("file"), str) or "steps" in trace:
            continue
        path = folder / trace["file"]
        try:
            lines = trace_lines(path)
        except (OSError, UnicodeDecodeError) as error:
            where = document.where((*key, "file"))
            raise ScenarioError(f"{where}: cannot read the trace {path}: {why(error)}") from None
        steps, numbers = read_trace(str(path), lines)
        del trace["file"]
        trace["steps"] = [_raw(step) for step in steps]
        document.parts[(*key, "steps")] = Part(str(path), numbers)
