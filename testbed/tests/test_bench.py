# SPDX-License-Identifier: GPL-2.0
"""The benchmarks run, on a setting so small that its numbers mean nothing."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from bench.acks import Cost, summary

TESTBED = Path(__file__).resolve().parents[1]


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(TESTBED / "wale-lab"), "python", "-m", "bench", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_ratios_are_of_the_same_round() -> None:
    rounds = [
        [Cost("reno", 100, 1e6), Cost("ratcp", 100, 1.1e6)],
        [Cost("reno", 100, 2e6), Cost("ratcp", 100, 2.4e6)],  # a machine half as fast
        [Cost("reno", 100, 1e6), Cost("ratcp", 200, 2e6)],
    ]
    reno, ratcp = summary(rounds)
    assert (reno["ratio"], reno["per_ack_ns"]) == (1, 10_000)
    assert ratcp["ratio"] == pytest.approx(1.1)
    assert (ratcp["ratio_from"], ratcp["ratio_to"]) == (pytest.approx(1), pytest.approx(1.2))


@pytest.mark.guest
def test_bench() -> None:
    small = ["--rounds", "1", "--size", "2MB", "--cc", "reno,ratcp", "--paths", "300"]
    done = bench("--json", *small)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [row["cc"] for row in found["acks"]] == ["reno", "ratcp"]
    assert all(row["acks"] > 1000 for row in found["acks"])
    assert found["paths"]["paths"] == 300
    assert found["paths"]["set"] > 0


@pytest.mark.guest
def test_what_cannot_be_measured_is_said() -> None:
    done = bench("--rounds", "1", "--size", "2MB", "--cc", "no_such_cc", "--paths", "0")
    assert done.returncode == 1
    assert "this kernel has no congestion control 'no_such_cc'; it has " in done.stderr
    assert "Traceback" not in done.stderr


def test_make_bench_has_help() -> None:
    assert (
        "bench"
        in subprocess.run(
            ["make", "-C", str(TESTBED.parent), "help"],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "MAKEFLAGS": ""},
        ).stdout
    )
