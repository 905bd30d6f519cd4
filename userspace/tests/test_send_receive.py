# SPDX-License-Identifier: GPL-2.0
"""`wale send` and `wale receive` over the loopback interface: counts, order, what is refused."""

from __future__ import annotations

import csv
import json
import re
import signal
import socket
import struct
import subprocess
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from transfer_harness import UNINTERRUPTED, WAIT_S, WALE, has_ipv6, needs_wale, wait_until

pytestmark = needs_wale


class Receiver:
    """A `wale receive` on a free port."""

    def __init__(self, *options: str, prefix: tuple[str, ...] = ()) -> None:
        self.proc = subprocess.Popen(
            [*prefix, WALE, "receive", "--port", "0", "--json", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.proc.stderr
        line = self.proc.stderr.readline()
        match = re.search(r" on .*:(\d+)$", line)
        assert match, line
        self.port = int(match[1])

    def told(self, end: signal.Signals | None = None) -> tuple[int, dict[str, Any]]:
        """Exit status and counts, at its own end or after a signal."""
        if end:
            self.proc.send_signal(end)
        out, _ = self.proc.communicate(timeout=WAIT_S)
        return self.proc.returncode, json.loads(out)


def send(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([WALE, "send", *options], capture_output=True, text=True, timeout=WAIT_S)


def datagram(number: int, due_ns: int = 0) -> bytes:
    """The begin of a packet."""
    return struct.pack("!8sQQ", b"wale udp", number, due_ns)


@pytest.mark.parametrize(
    ("host", "headers"),
    [
        ("127.0.0.1", 28),
        pytest.param("::1", 48, marks=pytest.mark.skipif(not has_ipv6(), reason="no IPv6")),
    ],
)
def test_all_packets_come(host: str, headers: int, tmp_path: Path) -> None:
    path = tmp_path / "packets.csv"
    receiver = Receiver("--packets", "200", "--packets-csv", str(path))
    done = send("-f", "2000", "-s", "300", "-n", "200", "-p", str(receiver.port), "--json", host)
    assert done.returncode == 0, done
    sent = json.loads(done.stdout)
    status, came = receiver.told()
    assert status == 0
    assert sent["packets"] == came["packets"] == 200
    assert sent["packet_bytes"] == 300
    assert came["bytes"] == 200 * 300
    assert came["missing_packets"] == came["late_packets"] == came["foreign_packets"] == 0
    with path.open(newline="") as file:
        rows = [{key: int(value) for key, value in row.items()} for row in csv.DictReader(file)]
    assert [row["number"] for row in rows] == list(range(200))
    # due at multiples of 0.5 ms, whatever the machine did in between
    assert {b["due_ns"] - a["due_ns"] for a, b in pairwise(rows)} == {500_000}
    assert all(row["arrived_ns"] >= row["due_ns"] for row in rows)
    assert sent["max_late_ns"] > 0


def test_rate_is_of_ip_packets() -> None:
    """80 kbit/s in packets of 100 bytes are 100 packets/s: 20 in 200 ms."""
    receiver = Receiver()
    done = send("-r", "80kbit", "-s", "100", "-d", "200ms", "-p", str(receiver.port), "::1"
                if has_ipv6() else "127.0.0.1")  # fmt: skip
    assert done.returncode == 0, done
    assert done.stdout.startswith("20 packets of 100 bytes in 0.2")
    status, came = receiver.told(signal.SIGTERM)
    assert (status, came["packets"]) == (0, 20)
    assert 0.15 < came["seconds"] < 5


def test_missing_late_and_foreign_packets_are_told() -> None:
    receiver = Receiver()
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
    ):
        to = ("127.0.0.1", receiver.port)
        for number in (0, 1, 4, 3, 4, 6):
            sock.sendto(datagram(number), to)
        other.sendto(datagram(7), to)
        sock.sendto(b"something else", to)
        sock.sendto(b"", to)
        status, came = receiver.told(signal.SIGINT)
    assert status == 0
    assert came["packets"] == 6
    assert came["late_packets"] == 1  # 3
    assert came["duplicate_packets"] == 1  # 4
    assert came["missing_packets"] == 2  # 2 and 5
    assert came["foreign_packets"] == 3


def test_delays_of_a_sender_without_a_clock_are_null() -> None:
    receiver = Receiver("--packets", "1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(datagram(0, 2**63), ("127.0.0.1", receiver.port))
        _, came = receiver.told()
    assert came["min_delay_ns"] is None
    assert came["min_gap_ns"] is None


def test_nothing_came() -> None:
    status, came = Receiver("--idle-timeout", "50ms").told()
    assert status == 1
    assert came["packets"] == 0


def test_what_is_foreign_does_not_keep_it_up() -> None:
    receiver = Receiver("--idle-timeout", "100ms")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        until = time.monotonic() + WAIT_S
        while receiver.proc.poll() is None and time.monotonic() < until:
            sock.sendto(b"something else", ("127.0.0.1", receiver.port))
            time.sleep(0.02)
    assert receiver.proc.poll() == 1, "it still runs"
    status, came = receiver.told()
    assert (status, came["packets"]) == (1, 0)
    assert came["foreign_packets"] > 0


def test_nobody_listens() -> None:
    """The sender goes on, and counts what was refused."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    done = send("-f", "1000", "-s", "100", "-n", "20", "-p", str(port), "--json", "127.0.0.1")
    assert done.returncode == 0, done
    told = json.loads(done.stdout)
    assert told["packets"] == 20
    assert told["refused_packets"] > 0


def test_a_schedule_of_the_past_is_made_up_for() -> None:
    """All are due already: they leave at once, none is left out."""
    receiver = Receiver("--packets", "50")
    done = send("-f", "1000", "-n", "50", "-s", "100", "--at", "1ns", "-p", str(receiver.port),
                "--json", "127.0.0.1")  # fmt: skip
    assert done.returncode == 0, done
    assert json.loads(done.stdout)["start_ns"] == 1
    assert receiver.told()[1]["packets"] == 50


def test_a_signal_ends_a_sender_with_a_summary() -> None:
    receiver = Receiver("--packets", "1")
    sender = subprocess.Popen(
        [WALE, "send", "-f", "50", "-s", "100", "-p", str(receiver.port), "--json", "127.0.0.1"],
        stdout=subprocess.PIPE,
        text=True,
    )
    receiver.told()  # it runs
    sender.terminate()
    out, _ = sender.communicate(timeout=WAIT_S)
    assert sender.returncode == 0
    assert json.loads(out)["packets"] >= 1


def test_signals_that_are_ignored_stay_so() -> None:
    """As nohup wants it, and a script of what it has in the background."""
    receiver = Receiver("--packets", "60", prefix=UNINTERRUPTED)
    words = ["-f", "100", "-s", "100", "-n", "60", "-p", str(receiver.port), "--json", "127.0.0.1"]
    with subprocess.Popen(
        [*UNINTERRUPTED, WALE, "send", *words], stdout=subprocess.PIPE, text=True
    ) as sender:
        wait_until(lambda: Path(f"/proc/{sender.pid}/comm").read_text() == "wale\n")
        time.sleep(0.2)  # of 0.6 s
        for number in (signal.SIGHUP, signal.SIGINT):
            receiver.proc.send_signal(number)
            sender.send_signal(number)
        out, _ = sender.communicate(timeout=WAIT_S)
    assert sender.returncode == 0
    assert json.loads(out)["packets"] == 60
    assert receiver.told()[1]["packets"] == 60


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("send 127.0.0.1", "expected either --rate or --packets-per-second"),
        ("send -f 1 -r 1mbit 127.0.0.1", "expected either --rate or --packets-per-second"),
        ("send -f 1", "expected one HOST"),
        ("send -f 1 a b", "expected one HOST"),
        ("send -f 0 127.0.0.1", "--packets-per-second '0': expected a number such as"),
        ("send -f -1 127.0.0.1", "--packets-per-second '-1': expected a number such as"),
        ("send -r unlimited 127.0.0.1", "--rate 'unlimited': expected a rate such as 1mbit"),
        ("send -r 1mbit -s 51 127.0.0.1", "--size 51: expected at least 52 bytes"),
        ("send -r 1mbit -s 65536 127.0.0.1", "--size '65536': expected a size of at most"),
        ("send -r 1mbit -n 0 127.0.0.1", "--packets '0': expected a number from 1 on"),
        ("send -r 1mbit -d 0 127.0.0.1", "--duration '0': expected a time such as"),
        ("send -r 1mbit -p 0 127.0.0.1", "--port '0': expected a number from 1 to 65535"),
        ("receive -p 65536", "--port '65536': expected a number from 0 to 65535"),
        ("receive -n none", "--packets 'none': expected a number from 1 on"),
        ("receive -t soon", "--idle-timeout 'soon': expected a time such as 5s"),
        ("receive more", "wale receive: what is 'more'? See 'wale receive --help'\n"),
    ],
)
def test_wrong_usage(words: str, expected: str) -> None:
    done = subprocess.run([WALE, *words.split()], capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 2, done
    assert expected in done.stderr
    assert done.stdout == ""


def test_what_cannot_be_done() -> None:
    done = send("-f", "1", "-n", "1", "host.invalid")
    assert done.returncode == 1
    assert "host.invalid: " in done.stderr
    taken = Receiver()
    second = subprocess.run(
        [WALE, "receive", "--port", str(taken.port)], capture_output=True, text=True, timeout=WAIT_S
    )
    assert second.returncode == 1
    assert "cannot listen: Address already in use" in second.stderr
    taken.told(signal.SIGTERM)


@pytest.mark.parametrize("command", ["send", "receive"])
def test_help(command: str) -> None:
    done = subprocess.run([WALE, command, "--help"], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith(f"Usage: wale {command} ")
    assert all(len(line) <= 100 for line in done.stdout.splitlines())
