# SPDX-License-Identifier: GPL-2.0
"""The unit tests of the tools in C (userspace/tests/test_*.c)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tap import run_cases

TOP = Path(__file__).resolve().parents[2]


def test_userspace_units(subtests: pytest.Subtests) -> None:
    """Each case of their TAP streams is a subtest."""
    run_cases(["make", "--no-print-directory", "-C", str(TOP / "userspace"), "test"], subtests)
