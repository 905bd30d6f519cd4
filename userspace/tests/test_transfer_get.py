# SPDX-License-Identifier: GPL-2.0
"""Tests of `wale get` with servers that misbehave, and of both command lines."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from transfer_harness import (
    SANITIZED,
    WAIT_S,
    WALE,
    Server,
    get,
    get_json,
    needs_wale,
    read_line,
    sha256,
    wait_until,
)

pytest_plugins = ["transfer_fixtures"]
pytestmark = needs_wale

# ---------------------------------------------------- a server that misbehaves


@contextlib.contextmanager
def fake_server(answer: bytes, *, hold: bool = False) -> Iterator[int]:
    """Answers any request with these bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(WAIT_S)

        def serve() -> None:
            with contextlib.suppress(OSError), listener.accept()[0] as sock:
                sock.settimeout(WAIT_S)
                read_line(sock)
                sock.sendall(answer)
                if hold:
                    sock.recv(1)
                else:
                    sock.shutdown(socket.SHUT_WR)
                    sock.recv(1)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


def test_the_next_address_is_tried(tmp_path: Path) -> None:
    """Where one of a host's addresses does not answer at all."""
    mount = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"']
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 two.test\n127.0.0.2 two.test\n")
    if subprocess.run([*mount, hosts, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs root, for a name with two addresses")
    (tmp_path / "hello").write_bytes(b"hello")
    server = Server(tmp_path, "--listen", "127.0.0.2")
    with contextlib.ExitStack() as stack:
        stack.callback(server.stop)
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", server.port))
        listener.listen(0)
        for _ in range(2):  # no room for more
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", server.port))
        command = [WALE, "get", "-t", "500ms", "-p", str(server.port), "two.test:hello"]
        done = subprocess.run(
            [*mount, hosts, *command], capture_output=True, text=True, timeout=WAIT_S, check=False
        )
    assert done.returncode == 0, done.stderr


OK5 = b"WALE/1 OK bytes=5 size=5 cc=reno sha256=1\n"
SUM = sha256(b"hello").encode()
WRONG = b"0" * 64
CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")  # all but LF

MISBEHAVIOUR = {
    "wrong digest": (OK5 + b"hello" + b"WALE/1 END sha256=" + WRONG + b"\n", "damaged on the way"),
    "damaged data": (OK5 + b"hellO" + b"WALE/1 END sha256=" + SUM + b"\n", "damaged on the way"),
    "no digest": (OK5 + b"hello" + b"WALE/1 END sha256=-\n", "no SHA-256"),
    "short digest": (OK5 + b"hello" + b"WALE/1 END sha256=1234\n", "makes no sense"),
    "cut off in data": (OK5 + b"hell", "cut off after 4 of 5 bytes"),
    "cut off in the trailer": (OK5 + b"hello" + b"WALE/1 END sha", "cut off after 5 of 5 bytes"),
    "no answer": (b"", "no answer"),
    "other protocol": (b"HTTP/1.0 200 OK\r\n\r\n", "not that of 'wale serve'"),
    "endless line": (b"W" * 100_000, "not that of 'wale serve'"),
    "abort": (OK5 + b"he\nWALE/1 ABORT changed the file changed\n", "the file changed"),
    "abort after data": (
        OK5 + b"hello" + b"WALE/1 ABORT changed the file changed\n",
        "the file changed",
    ),
    "abort across the end": (
        OK5 + b"hel\nWALE/1 ABORT changed the file changed\n",
        "the file changed",
    ),
    "bad number": (b"WALE/1 OK bytes=5x size=5 cc=reno sha256=1\n", "not that of 'wale serve'"),
    "huge control": (
        b"WALE/1 OK bytes=5 size=5 cc=aaaaaaaaaaaaaaaaaaaaaaaaa sha256=1\n",
        "not that of",
    ),
    "endless fields": (b"WALE/1 OK " + b"a=1 " * 1000 + b"\n", "not that of 'wale serve'"),
    "NUL in the line": (b"WALE/1 OK bytes=5\0size=5\n" + b"hello", "cut off after 5 of 5 bytes"),
    "no fields": (b"WALE/1 OK\nWALE/1 END sha256=-\n", "not that of 'wale serve'"),
    "empty lines": (b"\n" * 1000, "not that of 'wale serve'"),
    "END at once": (b"WALE/1 END sha256=-\n", "not that of 'wale serve'"),
    "DONE for END": (OK5 + b"helloWALE/1 DONE retransmits=0\n", "makes no sense"),
    "largest number": (
        b"WALE/1 OK bytes=18446744073709551615 size=18446744073709551615 cc=reno sha256=1\nhello",
        "cut off after 5 bytes",
    ),
    "number too large": (b"WALE/1 OK bytes=18446744073709551616 size=5 cc=reno\n", "not that of"),
    "negative number": (b"WALE/1 OK bytes=-1 size=5 cc=reno sha256=1\n", "not that of"),
    "more data than said": (OK5 + b"hello, world" * 100_000, "not that of 'wale serve'"),
    "fewer data than said": (
        b"WALE/1 OK bytes=9 size=9 cc=reno sha256=1\nhelloWALE/1 END sha256=" + SUM + b"\n",
        "makes no sense",
    ),
    "controls in an abort": (
        OK5 + b"he\nWALE/1 ABORT changed \x1b]0;x\x07\xc2\x9b2J\xe2\x80\xae\r\n",
        "stopped the transfer: ?]0;x???2J????",
    ),
    "error": (
        b"WALE/1 ERROR busy try \x1b[2J\xff later\n",
        "refused by the server: try ?[2J? later",
    ),
}


@pytest.mark.parametrize("case", MISBEHAVIOUR)
def test_get_is_not_fooled(case: str, tmp_path: Path) -> None:
    answer, message = MISBEHAVIOUR[case]
    with fake_server(answer) as port:
        done = get("127.0.0.1:f", "--port", str(port), "--json", "--out", tmp_path / "copy")
    result = json.loads(done.stdout)
    assert done.returncode == 1 and result["completed"] is None
    assert message in result["error"] and message in done.stderr
    assert not CONTROLS.search(done.stdout + done.stderr)
    assert (result["sha256_ok"] is False) == (case in ("wrong digest", "damaged data"))
    assert not list(tmp_path.iterdir())


def test_get_accepts_what_is_right(tmp_path: Path) -> None:
    """Unknown fields of a later server, and no DONE, do no harm."""
    ok = OK5.replace(b" sha256", b" new=1 sha256")
    with fake_server(ok + b"hello" + b"WALE/1 END sha256=" + SUM + b" new=2\n") as port:
        done = get("127.0.0.1:f", "--port", str(port), "--out", tmp_path / "copy")
    assert done.returncode == 0 and (tmp_path / "copy").read_bytes() == b"hello"
    with fake_server(OK5.replace(b"256=1", b"256=0") + b"hello" + b"WALE/1 END sha256=-\n") as port:
        done = get("127.0.0.1:f", "--port", str(port), "--no-sha256")
    assert done.returncode == 1 and "did not confirm" in done.stderr


def test_data_that_nobody_looks_at(server: Server) -> None:
    """They are counted as others are, and an abort after them is told."""
    result = get_json(server, "big", "--no-sha256")
    assert (result["completed"], result["bytes"], result["sha256"]) == ("all", 24 << 20, None)
    ok = b"WALE/1 OK bytes=9000000 size=9000000 cc=reno sha256=0\n"
    end = b"\nWALE/1 ABORT changed the file changed\n"
    for size in (5_000_000, 5_000_001, 5_300_000):
        with fake_server(ok + b"x" * size + end) as port:
            done = get("127.0.0.1:f", "--port", str(port), "--no-sha256", "--json")
        result = json.loads(done.stdout)
        assert "stopped the transfer: the file changed" in result["error"]
        assert result["bytes"] == size
    with fake_server(ok + b"x" * 5_000_000) as port:
        done = get("127.0.0.1:f", "--port", str(port), "--no-sha256", "--json")
    assert "cut off after 5000000 of 9000000 bytes" in json.loads(done.stdout)["error"]


def test_expected_digest(server: Server, folder: Path, tmp_path: Path) -> None:
    right = sha256((folder / "mid").read_bytes())
    assert get_json(server, "mid", "--sha256", right.upper())["sha256_ok"] is True
    assert get_json(server, "mid", "--sha256", right, "--no-sha256")["sha256_ok"] is True
    result = get_json(server, "mid", "--sha256", "0" * 64, "--out", tmp_path / "copy")
    assert result["sha256_ok"] is False and "expected 0000" in result["error"]
    assert not list(tmp_path.iterdir())


def test_get_timeout(tmp_path: Path) -> None:
    for answer in (b"", OK5, OK5 + b"hel"):
        with fake_server(answer, hold=True) as port:
            done = get(
                "127.0.0.1:f", "--port", str(port), "--timeout", "0.3", "--out", tmp_path / "copy"
            )
        assert done.returncode == 1 and "nothing came for 0.3 s" in done.stderr
    assert not list(tmp_path.iterdir())


def drip(listener: socket.socket, at_once: bytes, text: bytes) -> None:
    """Answer the first client with the text, a byte every tenth of a second."""
    listener.settimeout(WAIT_S)
    with contextlib.suppress(ConnectionError), listener.accept()[0] as sock:
        read_line(sock)
        sock.sendall(at_once)
        for byte in text:
            time.sleep(0.1)
            sock.sendall(bytes([byte]))


@pytest.mark.parametrize("at_once", [b"", OK5 + b"hello"], ids=["reply", "trailer"])
def test_get_does_not_wait_for_a_line_in_drops(at_once: bytes) -> None:
    """A server cannot hold a client with one byte now and then of a line."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip, args=(listener, at_once, b"WALE/1 " * 100))
        thread.start()
        port = str(listener.getsockname()[1])
        done = get("127.0.0.1:f", "--port", port, "--timeout", "0.4")
        thread.join()
    assert done.returncode == 1 and "no whole line came for 0.4 s" in done.stderr


def test_get_waits_for_a_trickle() -> None:
    """Far fewer bytes than the receiver wants to be woken for are progress."""
    data = b"0123456789" * 1000
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        command = [WALE, "get", "127.0.0.1:f", "--port", port, "--timeout", "0.4"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as proc:
            listener.settimeout(WAIT_S)
            with listener.accept()[0] as sock:
                sock.settimeout(WAIT_S)
                read_line(sock)
                sock.sendall(b"WALE/1 OK bytes=10000 size=10000 cc=reno sha256=1\n")
                for i in range(12):
                    sock.sendall(data[i : i + 1])
                    time.sleep(0.1)
                sock.sendall(data[12:] + b"WALE/1 END sha256=" + sha256(data).encode() + b"\n")
                sock.shutdown(socket.SHUT_WR)
                assert proc.wait(WAIT_S) == 0


def test_get_nobody_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        done = get("127.0.0.1:f", "--port", str(free.getsockname()[1]))
    assert done.returncode == 1 and "cannot connect to 127.0.0.1" in done.stderr


# ---------------------------------------------------------------- the command


def test_output_file(server: Server, tmp_path: Path) -> None:
    port = str(server.port)
    (tmp_path / "old").write_bytes(b"old")
    (tmp_path / "link").symlink_to("old")
    get_json(server, "sub/file", "--out", tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "old").read_bytes() == b"below"
    get_json(server, "none", "--out", tmp_path / "old")
    assert (tmp_path / "old").read_bytes() == b"below"
    for bad in ("/dev/null", tmp_path / "none" / "x", "/proc/x"):
        assert get("127.0.0.1:small", "--port", port, "--out", bad).returncode == 1
    assert Path("/dev/null").is_char_device()
    old = os.umask(0o027)
    get_json(server, "small", "--out", tmp_path / "mode")
    os.umask(old)
    assert (tmp_path / "mode").stat().st_mode & 0o777 == 0o640
    (tmp_path / "mode").chmod(0o600)  # and that of the file that is replaced
    get_json(server, "small", "--out", tmp_path / "mode")
    assert (tmp_path / "mode").stat().st_mode & 0o777 == 0o600


def test_replaced_file_keeps_its_group(server: Server, tmp_path: Path) -> None:
    """Who could not read it before cannot now."""
    others = [gid for gid in os.getgroups() if gid != os.getegid()]
    if os.geteuid() == 0:
        others = [1234]
    if not others:
        pytest.skip("needs root, or a second group")
    old = tmp_path / "old"
    old.touch()
    os.chown(old, -1, others[0])
    old.chmod(0o660)
    get_json(server, "small", "--out", old)
    assert (old.stat().st_gid, old.stat().st_mode & 0o777) == (others[0], 0o660)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a link of another user")
def test_link_that_another_user_planted(server: Server, tmp_path: Path) -> None:
    if Path("/proc/sys/fs/protected_symlinks").read_text(encoding="ascii") != "1\n":
        pytest.skip("fs.protected_symlinks is off on this machine")
    (tmp_path / "mine").write_bytes(b"mine")
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "big").symlink_to(tmp_path / "mine")
    os.chown(shared / "big", 1234, 1234, follow_symlinks=False)
    done = get("127.0.0.1:small", "--port", str(server.port), "--out", shared / "big")
    assert done.returncode == 1 and "Permission denied" in done.stderr
    assert (tmp_path / "mine").read_bytes() == b"mine"


def test_signal_while_nobody_reads_the_output(server: Server, folder: Path) -> None:
    unread, pipe = os.pipe()
    words = [WALE, "get", "127.0.0.1:big", "--port", str(server.port), "--out", "-"]
    with subprocess.Popen(words, stdout=pipe) as client, os.fdopen(unread), os.fdopen(pipe, "w"):
        wait_until(lambda: select.select([], [pipe], [], 0) == ([], [], []))
        client.terminate()
        assert client.wait(WAIT_S) == -signal.SIGTERM
        data = os.read(unread, 1 << 20)
        assert data == (folder / "big").read_bytes()[: len(data)]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_output_full(server: Server) -> None:
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run(
            [WALE, "get", "127.0.0.1:mid", "--port", str(server.port), "--out", "-"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=WAIT_S,
            check=False,
        )
    assert done.returncode == 1 and "No space left" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("words", [[], ["--json"]], ids=["text", "json"])
def test_result_that_cannot_be_written(server: Server, words: list[str]) -> None:
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run(
            [WALE, "get", "127.0.0.1:small", "--port", str(server.port), *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=WAIT_S,
            check=False,
        )
    assert done.returncode == 1 and "wale: stdout: " in done.stderr


WRONG_USE = [
    ["get"],
    ["get", "nocolon"],
    ["get", ":name"],
    ["get", "::1:name"],
    ["get", "[::1]name"],
    ["get", "host:"],
    ["get", "host:a\nb"],
    ["get", "host:a", "--port", "0"],
    ["get", "host:a", "--port", "70000"],
    ["get", "host:a", "--bytes", "lots"],
    ["get", "host:a", "--repeat"],
    ["get", "host:a", "--duration", "0"],
    ["get", "host:a", "--duration", "-1"],
    ["get", "host:a", "--timeout", "1ns"],
    ["get", "host:a", "--cc", "a b"],
    ["get", "host:a", "--cc", "aaaaaaaaaaaaaaaa"],
    ["get", "host:a", "--sha256", "12"],
    ["get", "host:a", "host:b", "--sha256", "0" * 64],
    ["get", "host:a", "--sha256", "0" * 64, "--duration", "1"],
    ["get", "host:a", "host:b", "--out", "/none"],
    ["get", "host:a", "host:c/a", "--out", "/tmp"],
    ["get", "host:a", "--json", "--out", "-"],
    ["get", "host:a", "--nonsense"],
    ["get", "host:a", "--bytes"],
    ["get", "host:a", "-n"],
    ["get", "host:a", "-4x"],
    ["get", "host:a", "--json=3"],
    ["send", "--nonsense"],
    ["receive", "--port"],
    ["watch", "--link"],
    ["serve", "--nonsense"],
    ["get", "host:a", "--parallel", "0"],
    ["serve"],
    ["serve", ".", ".."],
    ["serve", ".", "--port", "x"],
    ["serve", ".", "--idle-timeout", "never"],
    ["serve", ".", "--once", "0"],
    ["serve", ".", "--max-transfers", "0"],
]


@pytest.mark.parametrize("arguments", WRONG_USE, ids=[" ".join(a)[:50] for a in WRONG_USE])
def test_wrong_use(arguments: list[str]) -> None:
    done = subprocess.run([WALE, *arguments], capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 2 and not done.stdout
    said = done.stderr.replace("a\nb", "a b")  # a name that is given has two lines
    assert re.fullmatch(rf"wale {arguments[0]}: .*(expected|--help).*\n", said)


@pytest.mark.skipif(SANITIZED, reason="sanitizers need more memory than is left here")
def test_not_enough_memory() -> None:
    """That is said, and nothing else happens."""
    words = ["host:a", "--arrivals", "1", "--transfers", "100000", "--mean-size", "1"]
    done = subprocess.run(
        ["prlimit", f"--as={100 << 20}", WALE, "get", *words],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "wale get: out of memory\n")


def test_serve_fails_clearly(tmp_path: Path) -> None:
    for arguments in (
        [str(tmp_path / "none")],
        [".", "--listen", "192.0.2.1"],
        [".", "--listen", "no such"],
    ):
        done = subprocess.run(
            [WALE, "serve", *arguments], capture_output=True, text=True, timeout=WAIT_S
        )
        assert done.returncode == 1 and "wale serve: " in done.stderr


@pytest.mark.parametrize("command", ["get", "serve"])
def test_help(command: str) -> None:
    done = subprocess.run(
        [WALE, command, "--help"], capture_output=True, text=True, check=True, timeout=WAIT_S
    )
    assert done.stdout.startswith(f"Usage: wale {command}") and "Examples:" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 90
