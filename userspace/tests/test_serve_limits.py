# SPDX-License-Identifier: GPL-2.0
"""Tests of `wale serve` with crowds: many at once, and more than there may be."""

from __future__ import annotations

import contextlib
import hashlib
import re
import resource
import selectors
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from transfer_harness import (
    SANITIZED,
    WAIT_S,
    WALE,
    Server,
    connect_slowly,
    get,
    get_json,
    needs_wale,
    read_all,
    read_line,
    sha256,
    wait_until,
)

pytest_plugins = ["transfer_fixtures"]
pytestmark = needs_wale

CROWD = 1000
CONNECTION_KIB_MAX = 8  # of the server's memory, each


@pytest.fixture
def many_files() -> Iterator[None]:
    """Descriptors for a crowd, here and in the server."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4 * CROWD:
        pytest.skip(f"the limit of open files is {hard}: needs {4 * CROWD}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Reader:
    """One transfer of a crowd: counts, and computes the digest of, what comes."""

    def __init__(self, server: Server, name: str) -> None:
        self.sock = connect_slowly(server)
        self.sock.sendall(b"WALE/1 GET name=" + name.encode() + b"\n")
        words = dict(word.split(b"=") for word in read_line(self.sock).split()[2:])
        self.length = int(words[b"bytes"])
        self.received = 0
        self.digest = hashlib.sha256()
        self.tail = b""
        self.sock.setblocking(False)

    def read(self, size: int) -> bool:
        """Read some; false at the end of the stream."""
        try:
            part = self.sock.recv(size)
        except BlockingIOError:
            return True
        data = part[: self.length - self.received]
        self.digest.update(data)
        self.received += len(data)
        self.tail += part[len(data) :]
        if re.search(rb"END sha256=\w+\n$", self.tail):
            self.sock.shutdown(socket.SHUT_WR)
        return bool(part)

    def is_right(self) -> bool:
        """The server's digest is that of what came, and it said DONE."""
        expected = b"WALE/1 END sha256=%s\nWALE/1 DONE " % self.digest.hexdigest().encode()
        return self.received == self.length and self.tail.startswith(expected)


def read_until(readers: list[Reader], size: int, enough: Callable[[Reader], bool]) -> None:
    """Read from all that have something, until each has enough or has ended."""
    with selectors.DefaultSelector() as selector:
        for reader in readers:
            selector.register(reader.sock, selectors.EVENT_READ, reader)
        while selector.get_map():
            ready = selector.select(WAIT_S)
            assert ready, f"{len(selector.get_map())} transfers do not move"
            for key, _ in ready:
                if not key.data.read(size) or enough(key.data):
                    selector.unregister(key.fileobj)


def read_to_the_end(readers: list[Reader]) -> None:
    for reader in readers:
        reader.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 18)
    read_until(readers, 1 << 18, lambda reader: False)


def counts(summary: str) -> tuple[int, ...]:
    """Transfers, complete, refused: what the server says at its end."""
    match = re.search(r"(\d+) transfers, (\d+) complete, .*; (\d+) requests refused", summary)
    assert match, summary
    return tuple(map(int, match.groups()))


def limit_descriptors(server: Server, most: int) -> None:
    """From now on, as when others have them all."""
    resource.prlimit(server.proc.pid, resource.RLIMIT_NOFILE, (most, most))


def cpu_seconds(server: Server) -> float:
    fields = Path(f"/proc/{server.proc.pid}/stat").read_text().rsplit(")")[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


# ------------------------------------------------------------------ many at once


def test_1000_transfers_at_once(many_files: None, own: Callable[..., Server], folder: Path) -> None:
    """Every one moves while all are open, every one ends right, and the books agree."""
    server = own()
    readers = [Reader(server, "mid") for _ in range(CROWD)]
    read_until(readers, 1000, lambda reader: reader.received >= 5000)
    assert all(5000 <= reader.received < reader.length for reader in readers)
    assert not server.log
    read_to_the_end(readers)
    assert all(reader.is_right() for reader in readers)
    assert {reader.digest.hexdigest() for reader in readers} == {
        sha256((folder / "mid").read_bytes())
    }
    for reader in readers:
        reader.sock.close()
    assert counts(server.stop()) == (CROWD, CROWD, 0)
    assert sum(record["bytes"] for record in server.records()) == CROWD * 300_000
    assert {record["status"] for record in server.records()} == {"complete"}


def bad_company(server: Server, stack: contextlib.ExitStack) -> None:
    """Connections that say nothing, half a request, nonsense, or read nothing."""
    alone = server.wait_descriptors(bool)
    crowd = [stack.enter_context(connect_slowly(server)) for _ in range(CROWD)]
    server.wait_descriptors(lambda count: count >= alone + CROWD)
    for i, sock in enumerate(crowd):
        sock.sendall((b"", b"WALE/1 GET na", b"\0\r\n", b"WALE/1 GET name=big\n")[i % 4])


def test_a_crowd_disturbs_nobody(many_files: None, own: Callable[..., Server]) -> None:
    """Another transfer is complete, in bounded memory, which the next crowd uses again."""
    server = own()
    alone = server.wait_descriptors(bool)
    get_json(server, "big")
    peak = []
    for _ in range(4):
        server.wait_descriptors(lambda count: count <= alone)
        before = int(server.status()["VmHWM"][0])
        with contextlib.ExitStack() as stack:
            bad_company(server, stack)
            assert get_json(server, "big")["completed"] == "all"
        peak.append(int(server.status()["VmHWM"][0]) - before)
    if not SANITIZED:
        assert peak[0] <= CROWD * CONNECTION_KIB_MAX
        # a crowd whose memory is lost adds as much each time; Linux counts pages in batches a CPU
        assert min(peak[1:]) <= 64, "KiB: memory of connections that are gone is used again"
    transfers, complete, refused = counts(server.stop())
    records = server.records()
    assert transfers == sum(record["status"] != "refused" for record in records)
    assert complete == sum(record["status"] == "complete" for record in records) == 1 + len(peak)
    # besides the nonsense, half requests that were cut off or stopped count as refused
    assert refused == len(records) - transfers >= len(peak) * CROWD // 4


# ------------------------------------------------------------- more than may be


def test_busy(own: Callable[..., Server]) -> None:
    server = own("--max-transfers", "2")
    readers = [Reader(server, "big") for _ in range(2)]
    assert "maximum of 2 transfers" in get_json(server, "small")["error"]
    readers[0].sock.close()
    server.wait_record(lambda r: r["status"] == "stopped")
    while get_json(server, "small")["completed"] is None:
        time.sleep(0.01)
    readers[1].sock.close()


def test_busy_for_one_address(own: Callable[..., Server]) -> None:
    """One address cannot take everything; what it gave back it may have again."""
    server = own("--max-per-address", "3")
    readers = [Reader(server, "mid") for _ in range(3)]
    assert "your address has its maximum of 3" in get_json(server, "small")["error"]
    with connect_slowly(server, source="127.0.0.2") as sock:
        sock.sendall(b"WALE/1 GET name=small\n")
        assert b" OK " in read_line(sock)
    read_to_the_end(readers)
    assert all(reader.is_right() for reader in readers)
    while get_json(server, "small")["completed"] is None:
        time.sleep(0.01)


def test_an_aborted_transfer_counts_until_it_is_gone(own: Callable[..., Server]) -> None:
    """A client that makes the server abort, and reads on slowly, has not got its place back."""
    server = own("--max-per-address", "1", "--idle-timeout", "30")
    with server.connect() as sock:
        sock.sendall(b"WALE/1 GET name=big\n")
        assert b" OK " in read_line(sock)
        time.sleep(0.2)  # until the socket is full
        sock.sendall(b"x")
        time.sleep(0.2)  # until the server has aborted it
        assert "your address has its maximum of 1" in get_json(server, "small")["error"]
    while get_json(server, "small")["completed"] is None:
        time.sleep(0.01)


def test_refused_clients_that_stay(own: Callable[..., Server]) -> None:
    """Those whose request was refused, and who do not go, keep nobody out."""
    server = own("--max-transfers", "8")
    with contextlib.ExitStack() as stack:
        for _ in range(400):
            sock = stack.enter_context(server.connect())
            sock.sendall(b"nonsense\n")
        server.wait_record(lambda r: len(server.log) >= 400)
        reader = Reader(server, "big")
        for _ in range(8):
            stack.enter_context(server.connect())
        assert "maximum of 8 transfers" in get_json(server, "small")["error"]
        read_to_the_end([reader])
        assert reader.is_right()
        reader.sock.close()


def test_who_stays_is_not_slower(own: Callable[..., Server]) -> None:
    """A client that has everything, and does not close: that is no part of its transfer."""
    server = own("--idle-timeout", "2")
    with server.connect() as sock:
        sock.sendall(b"WALE/1 GET name=small\n")
        read_all(sock)
        record = server.wait_record(lambda r: r["status"] == "complete")
    assert record["seconds"] < 1, record


def test_transfers_have_their_descriptors(own: Callable[..., Server], tmp_path: Path) -> None:
    """The limit of open files makes a limit of transfers: all that begin get their file."""
    for i in range(100):
        (tmp_path / f"f{i}").write_bytes(bytes(1 << 20))
    server = own(folder=tmp_path, prefix=["prlimit", "--nofile=200"])
    answers = []
    with contextlib.ExitStack() as stack:
        for i in range(100):
            sock = stack.enter_context(connect_slowly(server))
            sock.sendall(b"WALE/1 GET name=f%d\n" % i)
            answers.append(read_line(sock).split()[1:3])
    granted = [answer for answer in answers if answer[0] == b"OK"]
    assert answers[: len(granted)] == granted and 40 <= len(granted) <= 68
    assert {tuple(answer) for answer in answers[len(granted) :]} == {(b"ERROR", b"busy")}


def test_no_descriptors_left(own: Callable[..., Server], folder: Path) -> None:
    """Who comes is told; who is there goes on; the server does not spin."""
    server = own()
    limit_descriptors(server, 40)
    reader = Reader(server, "big")
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(server.connect()) for _ in range(60)]
        assert "no descriptors left" in get_json(server, "small")["error"]
        assert b"ERROR busy" in read_all(crowd[-1])
        before = cpu_seconds(server)
        time.sleep(0.5)
        assert cpu_seconds(server) - before < 0.25
        read_to_the_end([reader])
        assert reader.is_right()
        reader.sock.close()
    while get_json(server, "small")["completed"] is None:
        time.sleep(0.01)


def test_no_descriptor_for_the_file(own: Callable[..., Server], tmp_path: Path) -> None:
    """A connection that was taken, whose file cannot be opened for that reason, is told so."""
    for i in range(30):
        (tmp_path / f"f{i}").write_bytes(bytes(4 << 20))
    server = own(folder=tmp_path)
    limit_descriptors(server, 24)
    codes = set()
    with contextlib.ExitStack() as stack:
        for i in range(20):
            sock = stack.enter_context(connect_slowly(server))
            sock.sendall(b"WALE/1 GET name=f%d\n" % i)
            words = read_line(sock).split()
            codes.add(words[2] if words[1] == b"ERROR" else words[1])
    assert codes == {b"OK", b"busy"}


@pytest.mark.parametrize("descriptors", [12, 16, 30, 64])
def test_few_descriptors(own: Callable[..., Server], tmp_path: Path, descriptors: int) -> None:
    """A crowd at once: some are served, the others told that it is busy."""
    (tmp_path / "file").write_bytes(bytes(4 << 20))
    server = own(folder=tmp_path, prefix=["prlimit", f"--nofile={descriptors}"])
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(connect_slowly(server)) for _ in range(100)]
        for sock in crowd:
            sock.sendall(b"WALE/1 GET name=file\n")
        answers = [tuple(read_line(sock).split()[1:3]) for sock in crowd]
    granted = [answer for answer in answers if answer[0] == b"OK"]
    assert granted
    assert set(answers) - set(granted) == {(b"ERROR", b"busy")}


def test_too_few_descriptors(tmp_path: Path) -> None:
    words = [WALE, "serve", str(tmp_path), "--port", "0", "--listen", "127.0.0.1"]
    done = subprocess.run(
        ["prlimit", "--nofile=11", *words], capture_output=True, text=True, timeout=WAIT_S
    )
    assert done.returncode == 1
    assert "11 open files are allowed (ulimit -n): expected at least 12" in done.stderr


@contextlib.contextmanager
def unread_server(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server whose records nobody reads, for the time being; and its port."""
    words = [WALE, "serve", str(folder), "--port", "0", *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True) as server:
        assert server.stderr
        yield server, int(server.stderr.readline().rpartition(":")[2])
        server.kill()


def ask_nonsense(port: int, count: int) -> None:
    """So many requests, which are refused, and make a record each."""
    for _ in range(count):
        with socket.create_connection(("127.0.0.1", port), WAIT_S) as client:
            client.sendall(b"no request\n")
            assert b"ERROR" in read_all(client)


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_nobody_reads_the_records(folder: Path, options: list[str]) -> None:
    """More of them than a pipe has room for: transfers go on, and a late reader gets all."""
    with unread_server(folder, *options) as (server, port):
        ask_nonsense(port, 1500)
        assert get("127.0.0.1:small", "--port", str(port)).returncode == 0
        server.terminate()
        out, err = server.communicate(timeout=WAIT_S)
    assert server.returncode == 0, err
    assert len(out.splitlines()) == 1501
    assert "not written" not in err


def test_records_are_lost(folder: Path) -> None:
    """What nobody reads, not at the end either, is counted, and is a failure."""
    with unread_server(folder) as (server, port):
        ask_nonsense(port, 1500)
        server.terminate()
        assert server.wait(WAIT_S) == 1
        out, err = server.communicate()
    lost = re.search(r"(\d+) records were not written to standard output: nobody", err)
    assert lost and int(lost[1]) + len(out.splitlines()) == 1500
    assert out.endswith("\n"), "the last one is whole"


def test_records_have_an_end(folder: Path) -> None:
    """Those for which there is no memory are lost; the server goes on in what it has."""
    with unread_server(folder, "--json") as (server, port):
        ask_nonsense(port, 3000)
        assert get("127.0.0.1:small", "--port", str(port)).returncode == 0
        server.terminate()
        out, err = server.communicate(timeout=WAIT_S)
    lost = re.search(r"(\d+) records were not written", err)
    assert lost and server.returncode == 1
    assert int(lost[1]) + len(out.splitlines()) == 3001
    assert all(line.endswith("}") for line in out.splitlines())


@pytest.mark.parametrize("closed", [">&-", "<&- >&-", "<&- >&- 2>&-"])
def test_closed_streams(tmp_path: Path, closed: str) -> None:
    """They are not those of the server: no record is written into a socket or an epoll."""
    (tmp_path / "small").write_bytes(b"hello")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = f"exec {WALE} serve {tmp_path} --listen 127.0.0.1 --port {port} {closed}"
    with subprocess.Popen(["sh", "-c", words]) as server:
        for _ in range(3):
            wait_until(lambda: get("127.0.0.1:small", "--port", str(port)).returncode == 0)
        server.terminate()
        assert server.wait(WAIT_S) == 1


def test_once(own: Callable[..., Server]) -> None:
    server = own("--once", "2")
    assert get_json(server, "none")["completed"] is None
    get_json(server, "small")
    get_json(server, "small")
    assert server.proc.wait(WAIT_S) == 0
    server.reader.join()
    assert get("127.0.0.1:small", "--port", str(server.port)).returncode == 1
