# SPDX-License-Identifier: GPL-2.0
"""Files of traces that a scenario names: their steps become a part of the scenario."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wale_lab import units
from wale_lab.errors import ScenarioError, why
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


def inline_traces(document: Document, folder: Path) -> None:
    """Replace `trace: {file: F}` by its steps, so that the scenario says everything."""
    for key, trace in _traces(document):
        if not isinstance(trace.get("file"), str) or "steps" in trace:
            continue
        path = folder / trace["file"]
        try:
            lines = path.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            where = document.where((*key, "file"))
            raise ScenarioError(f"{where}: cannot read the trace {path}: {why(error)}") from None
        steps, numbers = [], array("L")
        for number, line in enumerate(lines, 1):
            words = line.partition("#")[0].split()
            if not words:
                continue
            if len(words) != 2:
                raise ScenarioError(f"{path}:{number}: expected `DURATION RATE`, got {line!r}")
            try:
                duration_ns, rate_bps = units.parse_step(*words)
            except ValueError as error:
                raise ScenarioError(f"{path}:{number}: {error}") from None
            steps.append((f"{duration_ns}ns", f"{rate_bps}bit"))
            numbers.append(number)
        if not steps:
            raise ScenarioError(f"{path}: the trace has no steps")
        del trace["file"]
        trace["steps"] = steps
        document.parts[(*key, "steps")] = Part(str(path), numbers)
