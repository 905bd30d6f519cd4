# SPDX-License-Identifier: GPL-2.0
"""Errors in a user's input; errors of an engine are EngineError."""

from __future__ import annotations

#: Of a message: how many lines it may have, how long each may be, and what is kept of the end of
#: one that is longer. A value that is refused may be of any length, and so may a list of them.
MAX_LINES = 20
MAX_LINE = 600
LINE_END = 100


class LabError(Exception):
    """Why something cannot be done, in words for the user: all errors of the package are one."""


class ScenarioError(LabError):
    """Errors in a scenario, a study or an option, one line each."""

    def __init__(self, text: str) -> None:
        lines = [short(line) for line in text.split("\n")]
        if len(lines) > MAX_LINES:
            lines[MAX_LINES:] = [f"... and {len(lines) - MAX_LINES} more"]
        super().__init__("\n".join(lines))


def missing_package(name: str) -> LabError:
    """A Python package is not there that a wheel does not bring of itself."""
    return LabError(f"this needs the Python package {name}: pip install 'wale-lab[studies]'")


def short(line: str) -> str:
    """A line without its middle, if that is too long."""
    left_out = len(line) - MAX_LINE
    if left_out <= 0:
        return line
    return f"{line[: MAX_LINE - LINE_END]} [... {left_out} characters ...] {line[-LINE_END:]}"


def why(error: OSError | UnicodeDecodeError) -> str:
    """Why a file cannot be read, in words."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not text in UTF-8"
    return error.strerror or str(error)
