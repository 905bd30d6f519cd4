# SPDX-License-Identifier: GPL-2.0
"""What follows from the contract of the qdisc is as `make generate` writes it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from wale_lab.tree import SOURCES

pytestmark = pytest.mark.lint


def test_generated_files_are_current() -> None:
    done = subprocess.run(
        [sys.executable, "testbed/codegen", "--check"],
        cwd=SOURCES,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
