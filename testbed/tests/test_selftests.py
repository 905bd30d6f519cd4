# SPDX-License-Identifier: GPL-2.0
"""The selftests (selftests/run.sh), each in its guest: KUnit, behaviour, tc-testing, tools."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tap import run_cases

pytestmark = pytest.mark.guest

RUN = Path(__file__).resolve().parents[1] / "selftests" / "run.sh"
NAMES = subprocess.run([RUN, "-l"], capture_output=True, text=True, check=True).stdout.split()
NEED_SANITIZERS = {"truncation", "faults"}  # run.sh gives them such a kernel


@pytest.mark.parametrize("name", NAMES)
def test_selftest(name: str, subtests: pytest.Subtests, request: pytest.FixtureRequest) -> None:
    """Each case of the selftest's TAP stream is a subtest."""
    if name in NEED_SANITIZERS:
        request.getfixturevalue("on_san")
    run_cases([str(RUN), name], subtests)
