#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""wale serve with clients that vanish: the link goes down, and neither FIN nor RST comes.

client c0 10.0.0.2 -------- 1 MB/s, 10 ms -------- 10.0.0.1 s0 server
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import select
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from common import WALE, done
from wale_lab.selftest import net
from wale_lab.selftest.tap import equal, main, true

IDLE_S = 60  # as is the default
DATA = hashlib.shake_128(b"wale serve").digest(1 << 19)
REQUEST = b"WALE/1 GET name=file\n"


class Service:
    """A server, its client's namespace, and the link between them."""

    def __init__(self) -> None:
        self.server, self.client = net.Namespace("server"), net.Namespace("client")
        net.ip_batch(
            [
                f"link add s0 netns {self.server.name} type veth"
                f" peer name c0 netns {self.client.name}",
            ]
        )
        net.ip_batch(["addr add 10.0.0.1/24 dev s0", "link set s0 up"], self.server)
        net.ip_batch(["addr add 10.0.0.2/24 dev c0", "link set c0 up"], self.client)
        done(self.server, WALE, "link", "add", "s0", "--rate", "8mbit", "--delay", "10ms")
        self.folder = tempfile.mkdtemp()
        (Path(self.folder) / "file").write_bytes(DATA)
        command = ["ip", "netns", "exec", self.server.name, WALE, "serve", "--json", self.folder]
        self.proc = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.proc.stderr
        true("serving" in self.proc.stderr.readline(), "it listens")
        self.idle_descriptors = self.descriptors()

    def descriptors(self) -> int:
        """How many the server has open."""
        return len(os.listdir(f"/proc/{self.proc.pid}/fd"))

    def connect(self, *said: bytes) -> socket.socket:
        """A connection that said this."""
        with self.client.entered():
            sock = socket.socket()
        sock.settimeout(IDLE_S)
        sock.connect(("10.0.0.1", 7770))
        for text in said:
            sock.sendall(text)
        return sock

    def link(self, state: str) -> None:
        """The client's end of the link goes up or down."""
        net.run(f"ip link set c0 {state}", self.client)

    def get(self) -> dict[str, Any]:
        """One transfer by wale get."""
        result: dict[str, Any] = json.loads(
            done(self.client, WALE, "get", "10.0.0.1:file", "--json")
        )
        return result

    def end(self) -> tuple[list[dict[str, Any]], str]:
        """Stop the server; its records and its summary."""
        self.proc.terminate()
        out, err = self.proc.communicate(timeout=IDLE_S)
        return [json.loads(line) for line in out.splitlines()], err


def read_some(sock: socket.socket, end: bytes) -> bytes:
    """Read until what came ends with something."""
    data = b""
    while not data.endswith(end):
        part = sock.recv(1 << 16)
        true(part, f"the stream goes on after {len(data)} bytes")
        data += part
    return data


def test_clients_that_vanish() -> None:
    """Every state ends after the idle timeout, with its status; nothing is left."""
    service = Service()
    sockets = [
        service.connect(),  # no request
        service.connect(b"WALE/1 GET na"),  # half a request
        service.connect(b"nonsense\n"),  # refused
        service.connect(REQUEST),  # has everything but does not close
        service.connect(REQUEST),  # in the middle of its data
    ]
    true(b" ERROR " in read_some(sockets[2], b"\n"), "refused")
    whole = read_some(sockets[3], b"END sha256=%s\n" % hashlib.sha256(DATA).hexdigest().encode())
    true(DATA in whole, "all the data came")
    time.sleep(0.1)  # the last acknowledgment arrives
    true(sockets[4].recv(1000), "the data come")
    equal(service.descriptors() - service.idle_descriptors, len(sockets) + 1, "sockets, and a file")

    sockets.append(service.connect(REQUEST))  # no answer yet
    service.link("down")
    time.sleep(IDLE_S * 2)
    equal(service.descriptors(), service.idle_descriptors, "nothing is left open")
    service.link("up")
    true(service.get()["sha256_ok"], "the next client is served")
    records, summary = service.end()
    found = sorted((record["status"], record["error_code"]) for record in records)
    expected = [
        ("complete", None),  # by wale get
        ("complete", None),  # it had everything
        ("refused", "bad-request"),
        ("refused", "timeout"),
        ("refused", "timeout"),
        ("timeout", "timeout"),
        ("timeout", "timeout"),
    ]
    equal(found, sorted(expected, key=str), "how they ended")
    true(re.search(r"4 transfers, 2 complete, .*; 3 requests refused", summary), summary)


def test_link_that_comes_back() -> None:
    """A pause shorter than the idle timeout ends nothing."""
    service = Service()
    sock = service.connect(REQUEST)
    true(sock.recv(1000), "the data come")
    service.link("down")
    time.sleep(IDLE_S / 3)
    service.link("up")
    digest = hashlib.sha256(DATA).hexdigest().encode()
    read_some(sock, b"END sha256=%s\n" % digest)
    sock.shutdown(socket.SHUT_WR)
    true(b"DONE retransmits=" in sock.recv(1000), "it is told so")
    records, _ = service.end()
    equal([record["status"] for record in records], ["complete"], "how it ended")


def test_slowest_requests() -> None:
    """One byte per second: the request has one deadline, however it drips."""
    service = Service()
    drips = [service.connect() for _ in range(5)]
    began = time.monotonic()
    for byte in b"WALE/1 GET name=" + b"a" * IDLE_S * 2:
        for sock in drips:
            sock.send(bytes([byte]))
        time.sleep(1)
        if len(select.select(drips, [], [], 0)[0]) == len(drips):
            break
        if int(time.monotonic() - began) == IDLE_S // 2:
            true(service.get()["sha256_ok"], "others are served")
    true(IDLE_S <= time.monotonic() - began <= IDLE_S * 2, "they have the idle timeout, not more")
    for sock in drips:
        true(b" ERROR timeout " in sock.recv(1000), "they are told why")
    records, _ = service.end()
    equal([record["status"] for record in records].count("refused"), len(drips), "refused")


if __name__ == "__main__":
    main()
