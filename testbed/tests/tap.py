# SPDX-License-Identifier: GPL-2.0
"""Programs that print TAP, as tests: each of their cases is a subtest."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence

import pytest


def tap_cases(stream: str) -> Iterator[tuple[str, str, str]]:
    """Yield title, result (ok, not ok, skip) and the text below of each case."""
    for block in re.split(r"^(?=ok |not ok )", stream, flags=re.M)[1:]:
        line, _, text = block.partition("\n")
        found = re.match(r"(ok|not ok) \d+ (?:- )?(.*?)(?:\s# SKIP (.*))?$", line)
        if found and found[3] is not None:
            yield found[2], "skip", found[3]
        elif found:
            yield found[2], found[1], text


def report_cases(stream: str, subtests: pytest.Subtests) -> list[str]:
    """Each case of a stream is a subtest; return their results."""
    results = []
    for title, result, text in tap_cases(stream):
        results.append(result)
        with subtests.test(title):
            if result == "skip":
                pytest.skip(text)
            assert result == "ok", text
    return results


def run_cases(command: Sequence[str], subtests: pytest.Subtests) -> None:
    """Run a program that prints TAP; its exit code must agree with its cases."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    results = report_cases(done.stdout, subtests)
    assert results, done.stdout + done.stderr
    assert (done.returncode == 0) == ("not ok" not in results), done.stdout + done.stderr
