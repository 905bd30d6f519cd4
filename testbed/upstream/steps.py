# SPDX-License-Identifier: GPL-2.0
"""Steps of a check, of which those that have passed are not repeated."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commands import Commands
from wale_lab.engines.base import EngineError


class Steps:
    """Results of steps, kept beside the logs for the same `key`: what the results come from."""

    def __init__(self, run: Commands, folder: Path, key: str) -> None:
        self.run, self.folder, self.key = run, folder, key
        self.results: list[dict[str, Any]] = []

    def kept(self, name: str, make: Callable[[], Any]) -> dict[str, Any]:
        """What `make` returns, and how long it took; from the file of this name if it is there."""
        file = self.folder / f"{name}.json"
        known: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        if known.get("key") != self.key:
            began = time.monotonic()
            known = {"key": self.key, "result": make()}
            known["seconds"] = round(time.monotonic() - began)
            file.write_text(json.dumps(known, indent=1) + "\n")
        return known

    def passes(self, step: Callable[[], str]) -> bool:
        """Run a step, unless it has passed before; print its line of the table."""
        name = step.__name__
        self.run.begin(name)
        row: dict[str, Any] = {"step": name}
        try:
            known = self.kept(name, step)
            row |= {"passed": True, "result": known["result"], "seconds": known["seconds"]}
        except EngineError as error:
            row |= {"passed": False, "result": str(error)}
        self.results.append(row)
        word = "passed" if row["passed"] else "FAILED"
        print(f"{name:<12}{word:<8}{row['result']}", flush=True)
        return bool(row["passed"])
