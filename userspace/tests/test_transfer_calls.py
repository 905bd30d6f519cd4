# SPDX-License-Identifier: GPL-2.0
"""Tests of how much `wale serve` and `wale get` ask of the kernel for a short session.

A system call is what a session costs in a guest in virtual time.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from transfer_harness import WAIT_S, WALE, Server, needs_wale

pytest_plugins = ["transfer_fixtures"]
pytestmark = [
    needs_wale,
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed"),
]

SESSIONS = 200
PROCESS = ["--arrivals", "2000", "--transfers", str(SESSIONS), "--mean-size", "10000"]


def counted(summary: Path) -> list[str]:
    """The beginning of a command whose system calls are counted."""
    return ["strace", "--summary-only", "--output", str(summary)]


def calls(summary: Path) -> dict[str, float]:
    """How many there were of each, and together, for each session."""
    rows = [line.split() for line in summary.read_text().splitlines()]
    return {row[-1]: int(row[3]) / SESSIONS for row in rows if len(row) >= 5 and row[3].isdigit()}


def test_a_session_asks_little_of_the_kernel(folder: Path, tmp_path: Path) -> None:
    of_server, of_client = tmp_path / "server", tmp_path / "client"
    options = ["--listen", "127.0.0.1", "--once", str(SESSIONS)]
    server = Server(folder, *options, prefix=counted(of_server))
    client = [WALE, "get", "127.0.0.1:big", "--port", str(server.port), "--json", *PROCESS]
    done = subprocess.run(
        [*counted(of_client), *client, "--no-sha256", "--cc", "reno"],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
    )
    assert done.returncode == 0, done
    assert server.proc.wait(WAIT_S) == 0
    server.stop()
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["completed"] for one in found] == ["all"] * SESSIONS
    served, got = calls(of_server), calls(of_client)
    assert served["total"] < 27, served
    # how often data come is the path's affair
    assert got["total"] - got["recvfrom"] - got["epoll_wait"] < 12.5, got
