# SPDX-License-Identifier: GPL-2.0
"""Tests of `wale get --arrivals`: sessions that arrive at random, over the loopback."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from transfer_harness import WAIT_S, WALE, Server, get, needs_wale, read_line, sha256

pytest_plugins = ["transfer_fixtures"]
pytestmark = needs_wale

#: 20 sessions in 0.2 s, each of some 30 kB of a file that has 17 bytes.
PROCESS = ["--arrivals", "100", "--transfers", "20", "--mean-size", "30000"]


def sessions(port: int, *options: str | Path) -> list[dict[str, Any]]:
    """The sessions of a process that completes, in the order of their numbers."""
    done = get("127.0.0.1:small", "--port", str(port), "--json", *PROCESS, *options)
    assert done.returncode == 0 and not done.stderr, done
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return sorted(found, key=lambda s: int(s["session"]))


def drawn(found: list[dict[str, Any]]) -> list[tuple[int, float, int]]:
    """What follows from the seed."""
    return [(s["session"], s["arrival_s"], s["bytes"]) for s in found]


def test_every_session_is_a_whole_transfer(server: Server, folder: Path) -> None:
    found = sessions(server.port, "--seed", "5")
    assert [s["session"] for s in found] == list(range(1, 21))
    assert {s["seed"] for s in found} == {5}
    assert len({s["epoch_ns"] for s in found}) == 1
    arrivals = [s["arrival_s"] for s in found]
    assert arrivals == sorted(arrivals) and len(set(arrivals)) == 20
    content = (folder / "small").read_bytes()
    for session in found:
        size = session["bytes"]
        assert size >= 1 and session["completed"] == "all" and session["sha256_ok"]
        assert session["sha256"] == sha256((content * (size // len(content) + 1))[:size])
        assert session["seconds"] > session["data_s"] >= 0


def test_server_and_client_can_be_joined(server: Server) -> None:
    """Both name both ends of the connection; the server counts what was sent again.

    A busy host may send a segment again (a tail loss probe), also after what the client was told.
    """
    for session in sessions(server.port):
        record = server.wait_record(lambda r, local=session["local"]: r["peer"] == local)
        assert record["local"] == session["remote"]
        assert record["bytes"] == session["bytes"]
        assert record["retransmits"] >= session["retransmits"] >= 0
        assert (record["retransmits"] == 0) == (record["retransmitted_bytes"] == 0)


def test_the_seed_says_it_all(server: Server) -> None:
    first = sessions(server.port)
    again = sessions(server.port, "--seed", str(first[0]["seed"]))
    assert drawn(first) == drawn(again)
    assert drawn(first) != drawn(sessions(server.port))


def test_a_seed_survives_json(server: Server) -> None:
    """One that is drawn is a number that a double has; a larger one that is given is text."""
    for _ in range(5):
        assert 0 <= sessions(server.port, "--transfers", "1")[0]["seed"] < 2**53
    large = sessions(server.port, "--transfers", "3", "--seed", str(2**64 - 1))
    assert {s["seed"] for s in large} == {str(2**64 - 1)}
    assert drawn(large) == drawn(
        sessions(server.port, "--transfers", "3", "--seed", f'"{2**64 - 1}"')
    )


def test_another_rate_brings_the_same_files(server: Server) -> None:
    once = sessions(server.port, "--seed", "9")
    twice = sessions(server.port, "--seed", "9", "--arrivals", "200")
    assert [s["bytes"] for s in once] == [s["bytes"] for s in twice]
    for slow, fast in zip(once, twice, strict=True):
        assert fast["arrival_s"] == pytest.approx(slow["arrival_s"] / 2, abs=1e-7)


def test_text(server: Server) -> None:
    done = get("127.0.0.1:small", "--port", str(server.port), *PROCESS, "--seed", "5")
    lines = done.stdout.splitlines()
    assert len(lines) == 22 and not done.stderr
    pattern = r"session (\d+) at 0\.\d+ s, 127\.0\.0\.1:small: .*, SHA-256 right$"
    ended = [re.match(pattern, line) for line in lines[:20]]  # in the order of their ends
    assert {int(match[1]) for match in ended if match} == set(range(1, 21))
    assert re.match(r"20 of 20 sessions, .* in [\d.]+ s, seed 5$", lines[20])
    pattern = r"throughput of a session: mean .*; 10 % below .*, half below .*, 90 % below .*"
    assert re.match(pattern, lines[21])


def test_progress(own: Any) -> None:
    options = ["--arrivals", "8", "--transfers", "10", "--mean-size", "1", "--progress"]
    done = get("127.0.0.1:small", "--port", str(own().port), "--seed", "1", *options)
    assert re.search(r"\d+ of 10 sessions, \d+ active \[", done.stderr)


class Together:
    """Answers nobody until `wanted` clients are there; refuses those with odd numbers."""

    def __init__(self, wanted: int) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.port = int(self.listener.getsockname()[1])
        self.all_here = threading.Barrier(wanted)
        self.accepted_ns: list[int] = []
        self.threads: list[threading.Thread] = []

    def run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                sock = self.listener.accept()[0]
                self.accepted_ns.append(time.clock_gettime_ns(time.CLOCK_MONOTONIC))
                arguments = (sock, len(self.accepted_ns))
                self.threads.append(threading.Thread(target=self.serve, args=arguments))
                self.threads[-1].start()

    def serve(self, sock: socket.socket, number: int) -> None:
        with sock, contextlib.suppress(OSError, threading.BrokenBarrierError):
            sock.settimeout(WAIT_S)
            request = read_line(sock)
            self.all_here.wait(WAIT_S)
            if number % 2:
                sock.sendall(b"WALE/1 ERROR busy try later\n")
                return
            size = int(re.search(rb"bytes=(\d+)", request)[1])  # type: ignore[index]
            data = b"x" * size
            sock.sendall(b"WALE/1 OK bytes=%d size=1 cc=reno sha256=1\n" % size + data)
            sock.sendall(b"WALE/1 END sha256=" + sha256(data).encode() + b"\n")
            sock.shutdown(socket.SHUT_WR)
            sock.recv(1)


@contextlib.contextmanager
def together(wanted: int) -> Iterator[Together]:
    server = Together(wanted)
    thread = threading.Thread(target=server.run)
    thread.start()
    yield server
    server.all_here.abort()
    server.listener.shutdown(socket.SHUT_RDWR)
    server.listener.close()
    for one in [thread, *server.threads]:
        one.join(WAIT_S)


def test_all_run_at_once_when_they_arrive_and_fail_alone() -> None:
    with together(20) as server:
        done = get("127.0.0.1:small", "--port", str(server.port), "--json", *PROCESS)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1 and len(found) == 20
    failed = [s for s in found if s["completed"] is None]
    assert len(failed) == 10
    for session in failed:
        assert session["error"] == "refused by the server: try later"
        said = f"session {session['session']} at {session['arrival_s']:.3f} s, 127.0.0.1:small: "
        assert f"wale get: {said}{session['error']}" in done.stderr
    # none too early, and what was late did not make the next one late
    epoch_ns = found[0]["epoch_ns"]
    found.sort(key=lambda s: int(s["session"]))
    for session, accepted_ns in zip(found, sorted(server.accepted_ns), strict=True):
        late_s = (accepted_ns - epoch_ns) / 1e9 - session["arrival_s"]
        assert 0 <= late_s < 1
    for session in found:
        if session["completed"]:
            assert session["seconds"] >= found[-1]["arrival_s"] - session["arrival_s"]


def test_interrupted(server: Server) -> None:
    command = [WALE, "get", "127.0.0.1:small", "--port", str(server.port), "--seed", "1"]
    command += ["--arrivals", "0.001", "--transfers", "3", "--mean-size", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as proc:
        time.sleep(0.2)
        proc.send_signal(signal.SIGTERM)
        assert proc.wait(WAIT_S) == -signal.SIGTERM
        assert proc.stdout and proc.stdout.read() == "0 of 3 sessions, 0 B, seed 1\n"


def test_nobody_there() -> None:
    done = get("no.such.host.invalid:small", *PROCESS)
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.count("has no address") == 1


ALONE = ["get", "host:a", "--arrivals", "1", "--transfers", "2", "--mean-size", "1kb"]
WRONG_USE = {
    "rate": (["get", "host:a", "--arrivals", "fast"], "a number per second from 0.001 to 1000000"),
    "rate of 0": (["get", "host:a", "--arrivals", "0"], "a number per second from 0.001"),
    "no sizes": (ALONE[:-2], "--transfers and --mean-size with it"),
    "no number": ([*ALONE[:4], "--mean-size", "1kb"], "--transfers and --mean-size with it"),
    "number of 0": ([*ALONE, "--transfers", "0"], "a number from 1 to 100000"),
    "size of 0": ([*ALONE, "--mean-size", "0"], "a size from 1 to 1024gb"),
    "seed": ([*ALONE, "--seed", "-1"], "a number from 0 to 18446744073709551615"),
    "parallel": ([*ALONE, "--parallel", "1"], "no --parallel with it"),
    "bytes": ([*ALONE, "--bytes", "1"], "no --bytes, --duration or --sha256 with it"),
    "duration": ([*ALONE, "--duration", "1"], "no --bytes, --duration or --sha256 with it"),
    "digest": ([*ALONE, "--sha256", "0" * 64], "no --bytes, --duration or --sha256 with it"),
    "out": ([*ALONE, "--out", "/tmp"], "no --out with it"),
    "names": ([*ALONE, "host:b"], "only one HOST:NAME"),
    "ports": ([*ALONE, "--local-port", "65535"], "a lower number"),
    "alone": (["get", "host:a", "--transfers", "2"], "--arrivals with them"),
    "seed alone": (["get", "host:a", "--seed", "2"], "--arrivals with them"),
}


@pytest.mark.parametrize("case", WRONG_USE)
def test_wrong_use(case: str) -> None:
    arguments, expected = WRONG_USE[case]
    done = subprocess.run([WALE, *arguments], capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 2 and not done.stdout
    assert f"expected {expected}" in done.stderr
    assert done.stderr.startswith("wale get: --") and "''" not in done.stderr
