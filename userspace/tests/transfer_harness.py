# SPDX-License-Identifier: GPL-2.0
"""Servers, files and requests for the tests of `wale serve` and `wale get`.

The tests run the built command over the loopback interface: $WALE, or
build/userspace/wale/wale at the top of the tree.  They need nothing but pytest
and the standard library.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).resolve().parents[2]
WALE = os.environ.get("WALE") or str(TOP / "build/userspace/wale/wale")
WAIT_S = 30.0  # for anything that must happen

#: Built with the sanitizers (make SANITIZE=1), which need memory of their own.
SANITIZED = os.access(WALE, os.R_OK) and b"__asan_init" in Path(WALE).read_bytes()

needs_wale = pytest.mark.skipif(not os.access(WALE, os.X_OK), reason=f"no {WALE}: make userspace")


# The tools obey what they inherit: with the tests in the background of a script, an
# interrupt that is ignored.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

#: Starts a program as nohup does, and a shell what runs in the background of a script.
UNINTERRUPTED = ("env", "--ignore-signal=HUP,INT")


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as sock:
            sock.bind(("::1", 0))
        return True
    except OSError:
        return False


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def controls() -> list[str]:
    return Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()


def fill(path: Path) -> None:
    """Put files of every kind into a folder, some of which must never be served."""
    (path / "small").write_bytes(b"hello, wide area\n")
    (path / "empty").write_bytes(b"")
    (path / "mid").write_bytes(os.urandom(300_000))
    (path / "big").write_bytes(os.urandom(1 << 20) * 24)
    (path / "with space and \N{LATIN SMALL LETTER E WITH ACUTE}").write_bytes(b"name")
    (path / "sub").mkdir()
    (path / "sub" / "file").write_bytes(b"below")
    (path / "link_in").symlink_to("sub/file")
    (path / "link_out").symlink_to("/etc/passwd")
    (path / "link_up").symlink_to("../outside")
    (path / "dir_out").symlink_to("/etc")
    (path / "magic").symlink_to("/proc/self/exe")
    (path / "loop").symlink_to("loop")
    (path.parent / "outside").write_bytes(b"secret")
    os.mkfifo(path / "fifo")
    with socket.socket(socket.AF_UNIX) as sock:
        old = os.getcwd()
        os.chdir(path)
        sock.bind("socket")
        os.chdir(old)


def wait_until(found: Callable[[], Any], missing: Callable[[], str] = str) -> Any:
    """What is found, which must be true in time; else it is said what is missing."""
    end = time.monotonic() + WAIT_S
    while not (value := found()):
        assert time.monotonic() < end, missing()
        time.sleep(0.01)
    return value


class Server:
    """A `wale serve` of a folder on a free port."""

    def __init__(self, folder: Path, *options: str, **popen: Any) -> None:
        self.log: list[str] = []
        self.proc = subprocess.Popen(
            [
                *popen.pop("prefix", []),
                WALE,
                "serve",
                str(folder),
                "--port",
                str(popen.pop("port", 0)),
                *(["--json"] if popen.pop("json", True) else []),
                *options,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **popen,
        )
        assert self.proc.stderr
        line = self.proc.stderr.readline()
        match = re.search(r" on .*:(\d+)$", line)
        assert match, f"{line!r} then {self.proc.stderr.read()}"
        self.port = int(match[1])
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self) -> None:
        assert self.proc.stdout
        for line in self.proc.stdout:
            self.log.append(line)

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log]

    def wait_record(
        self, wanted: Callable[[dict[str, Any]], bool], since: int = 0
    ) -> dict[str, Any]:
        """The first transfer of this kind, after the first `since` ones."""
        record: dict[str, Any] = wait_until(
            lambda: next(filter(wanted, self.records()[since:]), None),
            lambda: f"no such record in {self.log}",
        )
        return record

    def status(self) -> dict[str, list[str]]:
        """What the kernel says of the process: the words of each field."""
        text = Path(f"/proc/{self.proc.pid}/status").read_text()
        return {key: value.split() for key, value in re.findall(r"^(\w+):(.*)$", text, re.M)}

    def wait_descriptors(self, enough: Callable[[int], bool]) -> int:
        """How many it has open, once there are enough, or few enough."""
        folder = f"/proc/{self.proc.pid}/fd"
        wait_until(
            lambda: enough(len(os.listdir(folder))),
            lambda: f"the server has {len(os.listdir(folder))} descriptors open",
        )
        return len(os.listdir(folder))

    def stop(self) -> str:
        """End it; returns the rest of its standard error."""
        self.proc.send_signal(signal.SIGTERM)
        assert self.proc.wait(WAIT_S) == 0
        self.reader.join()
        assert self.proc.stdout and self.proc.stderr
        text: str = self.proc.stderr.read()
        self.proc.stdout.close()
        self.proc.stderr.close()
        return text

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)

    def ask(self, request: bytes, *, close: bool = False) -> bytes:
        """Send bytes, return everything that comes back."""
        with self.connect() as sock:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                sock.sendall(request)
                if close:
                    sock.shutdown(socket.SHUT_WR)
            return read_all(sock)


def connect_slowly(server: Server, source: str = "") -> socket.socket:
    """A connection with room for little: what is not read fills the server's side."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(WAIT_S)
    if source:
        sock.bind((source, 0))
    sock.connect(("127.0.0.1", server.port))
    return sock


def read_all(sock: socket.socket) -> bytes:
    parts = []
    with contextlib.suppress(ConnectionResetError):
        while part := sock.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


def read_line(sock: socket.socket) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        byte = sock.recv(1)
        assert byte, f"end of stream after {line!r}"
        line += byte
    return line


def read_exactly(sock: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = sock.recv(min(1 << 16, size - len(data)))
        assert part, f"end of stream after {len(data)} of {size} bytes"
        data += part
    return bytes(data)


def get(*arguments: str | Path, timeout: float = WAIT_S) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [WALE, "get", *map(str, arguments)], capture_output=True, text=True, timeout=timeout
    )


def get_json(server: Server, name: str, *options: str | Path) -> dict[str, Any]:
    done = get(f"127.0.0.1:{name}", "--port", str(server.port), "--json", *options)
    result: dict[str, Any] = json.loads(done.stdout)
    assert (done.returncode == 0) == (result["completed"] is not None), done
    assert bool(result["error"]) == (done.returncode == 1), done
    if result["error"]:
        assert result["error"] in done.stderr
    return result
