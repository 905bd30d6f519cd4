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

from transfer_harness import WAIT_S, WALE, Server, get_json, needs_wale

pytest_plugins = ["transfer_fixtures"]
pytestmark = needs_wale
needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")

#: Beside that of the user, where both were built.
OF_GUESTS = Path(WALE).parents[1] / "guest/wale"

SESSIONS = 200
PROCESS = ["--arrivals", "2000", "--transfers", str(SESSIONS), "--mean-size", "10000"]


def counted(summary: Path) -> list[str]:
    """The beginning of a command whose system calls are counted."""
    return ["strace", "--summary-only", "--output", str(summary)]


def calls(summary: Path) -> dict[str, float]:
    """How many there were of each, and together, for each session."""
    rows = [line.split() for line in summary.read_text().splitlines()]
    return {row[-1]: int(row[3]) / SESSIONS for row in rows if len(row) >= 5 and row[3].isdigit()}


def count(folder: Path, tmp_path: Path, *batch: str) -> tuple[dict[str, float], dict[str, float]]:
    """The system calls of both ends for each session."""
    of_server, of_client = tmp_path / "server", tmp_path / "client"
    options = ["--listen", "127.0.0.1", "--once", str(SESSIONS), *batch]
    server = Server(folder, *options, prefix=counted(of_server))
    client = [WALE, "get", "127.0.0.1:big", "--port", str(server.port), "--json", *PROCESS]
    done = subprocess.run(
        [*counted(of_client), *client, "--no-sha256", "--cc", "reno", *batch],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
    )
    assert done.returncode == 0, done
    assert server.proc.wait(WAIT_S) == 0
    server.stop()
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["completed"] for one in found] == ["all"] * SESSIONS
    return calls(of_server), calls(of_client)


@needs_strace
def test_a_session_asks_little_of_the_kernel(folder: Path, tmp_path: Path) -> None:
    served, got = count(folder, tmp_path)
    assert served["total"] < 27, served
    # how often data come is the path's affair
    assert got["total"] - got["recvfrom"] - got["epoll_wait"] < 12.5, got


@needs_strace
def test_a_batch_is_read_at_once(folder: Path, tmp_path: Path) -> None:
    served, got = count(folder, tmp_path, "--batch", "1mb")
    assert served["sendfile"] < 1.1, served
    assert got["recvfrom"] < 3.5, got  # the data, what is left of them, and the last line
    assert got.get("getsockopt", 0) < 0.1, got


@needs_strace
@pytest.mark.skipif(not OF_GUESTS.exists(), reason=f"{OF_GUESTS} is not there")
def test_wale_of_guests_looks_for_what_the_loader_does(tmp_path: Path) -> None:
    """That takes virtual time, so a run is the same with either."""
    said = []
    for program in (WALE, str(OF_GUESTS)):
        log = tmp_path / "log"
        trace = ["strace", "-e", "trace=access", "-e", "signal=none", "-o", str(log)]
        subprocess.run([*trace, program, "--version"], check=True, capture_output=True)
        said.append([line for line in log.read_text().splitlines() if "access" in line])
    assert said[0] == said[1] and "/etc/ld.so.preload" in said[0][0]


@pytest.mark.parametrize("size", ["4kb", "100kb", "4mb"])
def test_a_batch_changes_no_data(server: Server, folder: Path, tmp_path: Path, size: str) -> None:
    for name in ("empty", "small", "mid", "big"):
        out = tmp_path / name
        found = get_json(server, name, "--batch", size, "--out", out)
        assert found["completed"] == "all" and found["sha256_ok"], found
        assert out.read_bytes() == (folder / name).read_bytes()
    endless = get_json(server, "small", "--batch", size, "--repeat", "--duration", "0.2")
    assert endless["completed"] == "duration" and endless["bytes"] > 0
    assert get_json(server, "none", "--batch", size)["error"].startswith("refused by the server")


@pytest.mark.parametrize("size", ["0", "4095", "4194305", "5mb", "x", "-1", ""])
@pytest.mark.parametrize("command", ["get", "serve"])
def test_a_batch_out_of_range_is_refused(command: str, size: str) -> None:
    done = subprocess.run([WALE, command, "--batch", size, "x"], capture_output=True, text=True)
    expected = f"wale {command}: --batch '{size}': expected a size from 4kb to 4mb"
    assert done.returncode == 2 and expected in done.stderr, done
