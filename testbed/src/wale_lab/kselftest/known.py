# SPDX-License-Identifier: GPL-2.0
"""Which of the kernel's tests cannot run in a guest, and why: kselftest/unable.yaml."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from wale_lab import yaml_lines


@cache
def _unable() -> dict[str, str]:
    """The reasons, by name."""
    value = yaml_lines.load(Path(__file__).with_name("unable.yaml")).value
    assert isinstance(value, dict)
    return {name: why for why, names in value.items() for name in names}


def listed() -> list[str]:
    """The tests that cannot run."""
    return list(_unable())


def why_unable(name: str) -> str | None:
    """Why a test such as net:gro.sh cannot run; None if it can."""
    return _unable().get(name)
