# SPDX-License-Identifier: GPL-2.0
"""The selftests (selftests/run.sh), each in its guest: KUnit, behaviour, tc-testing."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.guest

RUN = Path(__file__).resolve().parents[1] / "selftests" / "run.sh"
NAMES = subprocess.run([RUN, "-l"], capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize("name", NAMES)
def test_selftest(name: str, subtests: pytest.Subtests) -> None:
    """Each case of the selftest's TAP stream is a subtest."""
    done = subprocess.run([RUN, name], capture_output=True, text=True, check=False)
    cases = list(tap_cases(done.stdout))
    for title, result, text in cases:
        with subtests.test(title):
            if result == "skip":
                pytest.skip(text)
            assert result == "ok", text
    assert cases, done.stdout + done.stderr
    assert done.returncode == (1 if any(r == "not ok" for _, r, _ in cases) else 0), done.stderr


def tap_cases(stream: str) -> Iterator[tuple[str, str, str]]:
    """Yield title, result (ok, not ok, skip) and the comments of each case."""
    for block in re.split(r"^(?=ok |not ok )", stream, flags=re.M)[1:]:
        line, _, text = block.partition("\n")
        found = re.match(r"(ok|not ok) \d+ (?:- )?(.*?)(?:\s# SKIP (.*))?$", line)
        if found and found[3] is not None:
            yield found[2], "skip", found[3]
        elif found:
            yield found[2], found[1], text
