# SPDX-License-Identifier: GPL-2.0
"""What a finished run has left: its result.json, and which columns its tables have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wale_lab.errors import ScenarioError, why

#: Columns of a run's tables that are words, not numbers.
TEXT_COLUMNS = ("flow", "link", "cc", "state", "phase", "path", "fate", "source", "target")

#: What each result has, whichever version wrote it.
_KEYS = ("scenario", "seed", "digest", "flows", "links")


def read_result(folder: Path) -> dict[str, Any]:
    """The result of the run in a folder; ScenarioError if there is none."""
    path = folder / "result.json"
    try:
        found = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ScenarioError(
            f"{folder}: expected the output folder of a run, with result.json: {why(error)}"
        ) from None
    except ValueError:
        raise ScenarioError(f"{path}: expected what a run writes, this is no JSON") from None
    absent = [key for key in _KEYS if not isinstance(found, dict) or key not in found]
    if absent:
        raise ScenarioError(f"{path}: expected what a run writes; it has no {', '.join(absent)}")
    result: dict[str, Any] = found
    return result
