# SPDX-License-Identifier: GPL-2.0
"""Opens a file of measurements, whatever program wrote it, and says what it looks like."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wale_lab.errors import ScenarioError
from wale_lab.trace_format.text import open_text

#: So much is looked at to tell a format by.
_HEAD = 65_536

#: The word for the round trip in ping's languages.
PING_TIME = "time|Zeit|temps|tiempo"

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*|,\d+)?|\.\d+)([eE][+-]?\d+)?")
_DURATION = re.compile(r"[\d.]+(e[+-]?\d+)?(n|u|m|)s(ecs?)?|[\d.]+(min|h|d)", re.IGNORECASE)
_PING = re.compile(rf"\b({PING_TIME})[=<]\s*[\d.,]+ ?ms|bytes from .*seq=|^PING ", re.MULTILINE)
#: What spreadsheets read first in a file.
_SEPARATOR = re.compile(r"sep=.", re.IGNORECASE)


@dataclass
class Source:
    """A file and its text."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        """For messages."""
        return str(self.path)

    def where(self, number: int) -> str:
        """A line, for messages."""
        return f"{self.path}:{number}"

    @cached_property
    def rows(self) -> list[tuple[int, str]]:
        """Lines that are neither blank nor comments, with their numbers."""
        first, *rest = self.text.split("\n")
        lines = enumerate(["" if _SEPARATOR.fullmatch(first.strip()) else first, *rest], 1)
        return [(n, line) for n, line in lines if line.strip() and line.lstrip()[0] != "#"]

    @cached_property
    def json(self) -> Any:
        """What a file in JSON says."""
        try:
            return json.loads(self.text)
        except json.JSONDecodeError as error:
            where = self.where(error.lineno)
            raise ScenarioError(f"{where}: not valid JSON: {error.msg}") from None
        except ValueError:
            raise ScenarioError(f"{self.path}: not valid JSON: a number is too long") from None
        except RecursionError:
            raise ScenarioError(f"{self.path}: not valid JSON: too deep") from None


def read_source(path: Path) -> Source:
    """A whole file."""
    with open_text(path) as file:
        return Source(path, file.read())


def looks_like(path: Path) -> str | None:
    """The format of a file by how it begins, or None."""
    with open_text(path) as file:
        head = file.read(_HEAD)
    if len(head) == _HEAD and "\n" in head:
        head = head[: head.rindex("\n")]  # without a line that is cut
    return _format_of(Source(path, head))


def _cells(line: str) -> list[str]:
    return [cell for cell in re.split(r"[\s,;]+", line.strip()) if cell]


def _whole(cells: list[str]) -> bool:
    return all(re.fullmatch(r"-?\d+", cell) for cell in cells)


def _format_of(source: Source) -> str | None:
    head = source.text
    if _PING.search(head):
        return "ping"
    if head.lstrip()[:1] in ("{", "["):
        return _json_format(head)
    if not source.rows:
        return "mahimahi"  # whose reader says what is missing
    first = source.rows[0][1]
    cells = _cells(first)
    if not cells:
        return None
    if cells[0] == "duration" or _DURATION.fullmatch(cells[0]):
        return "wale"
    return _table_format(source, first, cells)


def _table_format(source: Source, first: str, cells: list[str]) -> str | None:
    numbers = all(_NUMBER.fullmatch(cell) for cell in re.split(r"[\s;]+", first.strip()))
    if len(cells) == 1:
        return "mahimahi" if cells[0][0].isdigit() else None
    if "," in first and ";" not in first and len(cells) in (5, 8, 9, 10) and _whole(cells):
        return "theaterq"
    if cells[0].lower() == "keep":
        return "theaterq"
    if _trains(source):
        return "cellreplay"
    if numbers or all(_NUMBER.fullmatch(cell) for cell in cells):
        return "columns"
    return "csv" if any(re.search("[A-Za-z]", cell) for cell in cells) else None


def _trains(source: Source) -> bool:
    """Whether a file is CellReplay's: a time, a delay, and when packets arrived, from 0 on."""
    rows = [line.split() for _, line in source.rows[:100]]
    return all(len(row) > 2 and row[2] == "0" and _whole(row) for row in rows)


def _json_format(head: str) -> str | None:
    if '"round_trips"' in head or '"irtt"' in head:
        return "irtt"
    # one object for each event: iperf3 --json-stream
    if any(f'"{key}"' in head for key in ("intervals", "event", "bits_per_second")):
        return "iperf3"
    return None
