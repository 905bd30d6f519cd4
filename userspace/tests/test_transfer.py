# SPDX-License-Identifier: GPL-2.0
"""Tests of `wale serve`, with `wale get` and with requests made by hand."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from transfer_harness import (
    UNINTERRUPTED,
    WAIT_S,
    WALE,
    Server,
    connect_slowly,
    controls,
    get,
    get_json,
    has_ipv6,
    needs_wale,
    read_all,
    read_exactly,
    read_line,
    sha256,
    wait_until,
)

pytest_plugins = ["transfer_fixtures"]
pytestmark = needs_wale

# ------------------------------------------------------------ good transfers


def test_whole_file(server: Server, folder: Path, tmp_path: Path) -> None:
    data = (folder / "big").read_bytes()
    result = get_json(server, "big", "--out", tmp_path / "copy", "--cc", "reno")
    assert (tmp_path / "copy").read_bytes() == data
    assert [entry.name for entry in tmp_path.iterdir()] == ["copy"]
    assert result["sha256"] == sha256(data) and result["sha256_ok"] is True
    assert result["bytes"] == len(data) and result["completed"] == "all"
    assert result["cc"] == "reno" and result["error"] is None
    assert 0 < result["first_byte_s"] <= result["seconds"]
    assert result["data_s"] <= result["seconds"]
    assert result["goodput_Bps"] == pytest.approx(len(data) / result["seconds"], rel=1e-3)
    assert result["retransmits"] >= 0 and result["min_rtt_us"] >= 0
    assert result["remote"] == f"127.0.0.1:{server.port}"
    record = server.wait_record(lambda r: r["peer"] == result["local"])
    assert record["name"] == "big" and record["cc"] == "reno"
    assert record["status"] == "complete" and record["bytes"] == len(data)
    assert record["peer"].startswith("127.0.0.1:") and record["seconds"] > 0


@pytest.mark.parametrize("name", ["small", "empty", "sub/file", "link_in", "with space and é"])
def test_names(server: Server, folder: Path, tmp_path: Path, name: str) -> None:
    get_json(server, name, "--out", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == (folder / name).read_bytes()


@pytest.mark.parametrize("cc", controls())
def test_each_control(server: Server, cc: str) -> None:
    assert get_json(server, "small", "--cc", cc)["cc"] == cc


def test_range_and_repeat(server: Server, folder: Path, tmp_path: Path) -> None:
    data = (folder / "mid").read_bytes()
    out = tmp_path / "copy"
    get_json(server, "mid", "--offset", "1000", "--bytes", "5000", "--out", out)
    assert out.read_bytes() == data[1000:6000]
    get_json(server, "mid", "--offset", "299000", "--bytes", "1mb", "--repeat", "--out", out)
    assert out.read_bytes() == (data * 5)[299000 : 299000 + (1 << 20)]
    for options in (
        ["--offset", "300001"],
        ["--bytes", "300001"],
        ["--offset", "1", "--bytes", "300000"],
    ):
        assert "bytes" in get_json(server, "mid", *options)["error"]
    assert "empty" in get_json(server, "empty", "--bytes", "1", "--repeat")["error"]


def test_duration(server: Server) -> None:
    result = get_json(server, "big", "--repeat", "--duration", "300ms")
    assert result["completed"] == "duration" and result["bytes"] > 0
    assert 0.29 < result["data_s"] < 5
    assert result["sha256_ok"] is None
    record = server.wait_record(lambda r: r["peer"] == result["local"])
    assert record["status"] == "stopped" and record["error_code"] == "closed"
    assert record["bytes"] >= result["bytes"]


def test_many_names(server: Server, folder: Path, tmp_path: Path) -> None:
    names = [f"127.0.0.1:{name}" for name in ("small", "mid", "sub/file")]
    done = get(*names, "--port", str(server.port), "--parallel", "3", "--out", tmp_path)
    assert done.returncode == 0 and done.stdout.count("SHA-256 right") == 3
    assert (tmp_path / "file").read_bytes() == b"below"
    assert (tmp_path / "mid").read_bytes() == (folder / "mid").read_bytes()
    done = get(*names, "127.0.0.1:none", "--port", str(server.port))
    assert done.returncode == 1 and "127.0.0.1:none: refused by the server" in done.stderr


def test_standard_output(server: Server, folder: Path) -> None:
    done = subprocess.run(
        [WALE, "get", "127.0.0.1:mid", "--port", str(server.port), "--out", "-"],
        capture_output=True,
        timeout=WAIT_S,
        check=True,
    )
    assert done.stdout == (folder / "mid").read_bytes()


@pytest.mark.skipif(not has_ipv6(), reason="no IPv6")
def test_ipv6(server: Server, own: Callable[..., Server]) -> None:
    assert get("[::1]:small", "--port", str(server.port)).returncode == 0
    only4 = own("--listen", "127.0.0.1")
    assert get("127.0.0.1:small", "--port", str(only4.port)).returncode == 0
    done = get("[::1]:small", "--port", str(only4.port))
    assert done.returncode == 1 and "cannot connect to ::1" in done.stderr
    only6 = own("--listen", "::1")
    assert get("[::1]:small", "--port", str(only6.port)).returncode == 0
    only6.wait_record(lambda r: r["peer"].startswith("[::1]:"))


def test_local_port(server: Server) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    get_json(server, "mid", "--local-port", str(port))
    server.wait_record(lambda r: r["peer"] == f"127.0.0.1:{port}")


def test_200_at_once(server: Server, folder: Path) -> None:
    digest = sha256((folder / "mid").read_bytes())
    done = get(*["127.0.0.1:mid"] * 200, "--port", str(server.port), "--parallel", "200", "--json")
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and len(results) == 200
    assert all(result["sha256"] == digest and result["sha256_ok"] for result in results)


def on_terminal(command: list[str], **env: str) -> bytes:
    """What a command that ends well writes to a terminal as its standard error."""
    master, slave = pty.openpty()
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=slave, env={**os.environ, **env}
    ) as proc:
        os.close(slave)
        text = b""
        with contextlib.suppress(OSError):  # EIO at the end
            while part := os.read(master, 4096):
                text += part
        assert proc.wait(WAIT_S) == 0
    os.close(master)
    return text


def test_progress_only_on_a_terminal(server: Server) -> None:
    command = [
        WALE,
        "get",
        "127.0.0.1:big",
        "--port",
        str(server.port),
        "--repeat",
        "--duration",
        "1.3",
    ]
    assert (
        "\r"
        not in subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=WAIT_S
        ).stderr
    )
    assert b"\r" not in on_terminal(command, TERM="dumb")
    text = on_terminal(command, TERM="xterm")
    assert re.search(rb"\rbig|\[Kbig", b"\r" + text) and b" Mbit/s" in text


# ---------------------------------------------------------- refused requests

TOO_LONG = b"WALE/1 GET name=" + b"a" * 5000 + b"\n"

BAD_NAMES = [
    (b"../outside", b"bad-name"),
    (b"..", b"bad-name"),
    (b".", b"bad-name"),
    (b"sub/../small", b"bad-name"),
    (b"sub/../../outside", b"bad-name"),
    (b"sub/./file", b"bad-name"),
    (b"sub//file", b"bad-name"),
    (b"sub/", b"bad-name"),
    (b"/etc/passwd", b"bad-name"),
    (b"//etc/passwd", b"bad-name"),
    (b"", b"bad-name"),
    (b"small\0", b"bad-name"),
    (b"small\r", b"bad-name"),
    (b"\x1b[2J", b"bad-name"),
    (b"small\xc2\x9b2J", b"bad-name"),  # CSI of C1, as UTF-8
    (b"small\xc2\x80", b"bad-name"),
    (b"\xff\xfe", b"bad-name"),
    (b"\xc0\xae\xc0\xae/outside", b"bad-name"),  # over-long UTF-8 of ".."
    (b"\xed\xa0\x80", b"bad-name"),  # a surrogate
    (b"a" * 4095, b"bad-name"),
    (b"a" * 256, b"bad-name"),
    (b"%2e%2e/outside", b"not-found"),
    (b"..%2foutside", b"not-found"),
    (b"%252e%252e/outside", b"not-found"),
    (b"..%c0%afoutside", b"not-found"),
    (b"..\\outside", b"not-found"),
    (b"..\xc2\xa0/outside", b"not-found"),  # a space that is none
    (b"\xef\xbc\x8e\xef\xbc\x8e/outside", b"not-found"),  # full-width dots
    (b"..\xef\xbc\x8foutside", b"not-found"),  # a full-width slash
    (b"\xe2\x80\xa5/outside", b"not-found"),  # one character of two dots
    (b".../outside", b"not-found"),
    (b"small.", b"not-found"),
    (b"small ", b"not-found"),
    (b"~root", b"not-found"),
    (b"file:///etc/passwd", b"bad-name"),
    (b"C:\\outside", b"not-found"),
    (b"\xe0\x80\xae\xe0\x80\xae/outside", b"bad-name"),  # over-long in three bytes
    (b"\xf0\x80\x80\xae/outside", b"bad-name"),  # and in four
    (b"\xc0\xaf", b"bad-name"),  # over-long "/"
    (b"small/x", b"not-found"),
    (b"none", b"not-found"),
    (b" small", b"not-found"),
    (b"link_out", b"outside"),
    (b"link_up", b"outside"),
    (b"dir_out/passwd", b"outside"),
    (b"magic", b"outside"),
    (b"loop", b"outside"),
    (b"sub", b"not-a-file"),
    (b"fifo", b"not-a-file"),
    (b"socket", b"not-a-file"),
]


@pytest.mark.parametrize(("name", "code"), BAD_NAMES, ids=[str(name)[:40] for name, _ in BAD_NAMES])
def test_bad_name(server: Server, name: bytes, code: bytes) -> None:
    answer = server.ask(b"WALE/1 GET name=" + name + b"\n")
    assert re.fullmatch(rb"WALE/1 ERROR " + code + rb" [^\n]{10,}\n", answer)
    answer.decode()


BAD_REQUESTS = [
    b"\n",
    b"GET / HTTP/1.0\r\n\r\n",
    b"WALE/2 GET name=small\n",
    b"WALE/1 GET\n",
    b"WALE/1 GET small\n",
    b"WALE/1 GET cc=reno\n",
    b"WALE/1 GET bytes=-1 name=small\n",
    b"WALE/1 GET bytes=1e3 name=small\n",
    b"WALE/1 GET bytes= name=small\n",
    b"WALE/1 GET bytes=99999999999999999999 name=small\n",
    b"WALE/1 GET offset=18446744073709551615 name=small\n",
    b"WALE/1 GET bytes=1 bytes=2 name=small\n",
    b"WALE/1 GET repeat=2 name=small\n",
    b"WALE/1 GET sha256=yes name=small\n",
    b"WALE/1 GET cc= name=small\n",
    b"WALE/1 GET cc=0123456789abcdef name=small\n",
    b"WALE/1 GET cc=\x1b[2J name=small\n",
    b"WALE/1 GET cc=\xc2\x9b2J name=small\n",
    b"WALE/1 GET cc=r\xe9no name=small\n",
    b"WALE/1 GET colour=blue name=small\n",
    b"WALE/1 GET  name=small\n",
    b"WALE/1 GET cc=re\0no name=small\n",
    b"WALE/1 GET bytes=18446744073709551616 name=small\n",
    b"WALE/1 GET bytes=4611686018427387905 name=small\n",
    b"WALE/1 GET bytes=+1 name=small\n",
    b"WALE/1 GET bytes=0x10 name=small\n",
    b"WALE/1 GET =1 name=small\n",
    b"wale/1 get name=small\n",
    b"WALE/1 GET name=small\nmore",
    b"WALE/1 GET name=small\nWALE/1 GET name=small\n",
    TOO_LONG,
    b"x" * 100_000,
    bytes(range(256)) * 30,
]


@pytest.mark.parametrize("request_", BAD_REQUESTS, ids=[str(r)[2:50] for r in BAD_REQUESTS])
def test_bad_request(server: Server, request_: bytes) -> None:
    answer = server.ask(request_)
    assert re.fullmatch(rb"WALE/1 ERROR bad-request [^\n]{10,}\n", answer)


def test_truncated_request(server: Server) -> None:
    request = b"WALE/1 GET name=small"
    for size in range(1, len(request) + 1):
        answer = server.ask(request[:size], close=True)
        assert b"ERROR bad-request the request was cut off" in answer
    assert server.ask(b"", close=True) == b""


def test_request_in_pieces(server: Server, folder: Path) -> None:
    with server.connect() as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in b"WALE/1 GET cc=reno name=small\n":
            sock.sendall(bytes([byte]))
        data = (folder / "small").read_bytes()
        assert read_line(sock) == b"WALE/1 OK bytes=%d size=%d cc=reno sha256=1\n" % (
            len(data),
            len(data),
        )
        assert read_exactly(sock, len(data)) == data
        assert read_line(sock) == b"WALE/1 END sha256=%s\n" % sha256(data).encode()
        sock.shutdown(socket.SHUT_WR)
        assert re.fullmatch(rb"WALE/1 DONE retransmits=\d+ min_rtt_us=\d+ .*\n", read_all(sock))


def test_more_after_the_request(server: Server) -> None:
    """Something sent in the middle of the data ends the transfer."""
    with server.connect() as sock:
        sock.sendall(b"WALE/1 GET name=big\n")
        read_line(sock)
        sock.sendall(b"hello?\n")
        assert re.search(rb"\nWALE/1 ABORT bad-request [^\n]+\n$", read_all(sock))


def test_unknown_control(server: Server) -> None:
    error = get_json(server, "small", "--cc", "nonsense")["error"]
    assert "no congestion control 'nonsense'" in error
    assert all(cc in error for cc in controls())


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to drop privileges")
def test_control_not_allowed(own: Callable[..., Server], tmp_path: Path) -> None:
    allowed = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text().split()
    others = [cc for cc in controls() if cc not in allowed]
    if not others:
        pytest.skip("every control is allowed to everybody here")
    (tmp_path / "f").write_bytes(b"x")
    prefix = ["setpriv", "--inh-caps=-all", "--bounding-set=-net_admin"]
    server = own(folder=tmp_path, prefix=prefix)
    error = get_json(server, "f", "--cc", others[0])["error"]
    assert "tcp_allowed_congestion_control" in error and allowed[0] in error
    assert get_json(server, "f", "--cc", allowed[0])["cc"] == allowed[0]


# -------------------------------------------------------- trouble on the way


def test_slow_request_times_out(own: Callable[..., Server]) -> None:
    """One byte now and then does not keep a request alive."""
    server = own("--idle-timeout", "0.4")
    start = time.monotonic()
    with server.connect() as sock:
        for byte in b"WALE/1 GET name=" + b"a" * 1000:
            if select.select([sock], [], [], 0.1)[0]:
                break
            sock.sendall(bytes([byte]))
        answer = read_all(sock)
    assert b"ERROR timeout no complete request" in answer
    assert 0.3 < time.monotonic() - start < 5
    assert get_json(server, "small")["completed"] == "all"


def test_reader_that_stops_times_out(own: Callable[..., Server]) -> None:
    server = own("--idle-timeout", "0.4")
    with server.connect() as sock:
        sock.sendall(b"WALE/1 GET name=big\n")
        record = server.wait_record(lambda r: r["name"] == "big")
    assert record["status"] == "timeout" and record["error_code"] == "timeout"
    assert record["bytes"] < 24 << 20


def test_slow_reader_does_not_time_out(own: Callable[..., Server]) -> None:
    server = own("--idle-timeout", "0.4")
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(("127.0.0.1", server.port))
        sock.settimeout(WAIT_S)
        sock.sendall(b"WALE/1 GET sha256=0 name=mid\n")
        size = int(read_line(sock).split()[2].removeprefix(b"bytes="))
        for _ in range(15):
            size -= len(read_exactly(sock, 4000))
            time.sleep(0.1)
        read_exactly(sock, size)
        assert read_line(sock) == b"WALE/1 END sha256=-\n"


def test_client_that_keeps_the_connection(own: Callable[..., Server]) -> None:
    server = own("--idle-timeout", "0.4")
    with server.connect() as sock:
        sock.sendall(b"WALE/1 GET name=small\n")
        record = server.wait_record(lambda r: r["name"] == "small")
        assert record["status"] == "complete"


def slow_big_transfer(server: Server, name: str) -> socket.socket:
    """Ask for a file, and read no more than its first line."""
    sock = connect_slowly(server)
    sock.sendall(b"WALE/1 GET name=" + name.encode() + b"\n")
    read_line(sock)
    return sock


HARMLESS = ["replaced", "deleted", "unreadable"]  # the old file is sent, whole


@pytest.mark.parametrize("how", ["written", "touched", "longer", "shorter", "empty", *HARMLESS])
def test_file_changes(own: Callable[..., Server], tmp_path: Path, how: str) -> None:
    size = 24 << 20
    path = tmp_path / "f"
    path.write_bytes(b"a" * size)
    os.utime(path, (1e9, 1e9))
    server = own(folder=tmp_path)
    with slow_big_transfer(server, "f") as sock:
        if how == "written":
            with path.open("r+b") as file:
                file.seek(size - 10)
                file.write(b"b")
        elif how == "touched":
            path.touch()
        elif how == "longer":
            with path.open("ab") as file:
                file.write(b"b")
        elif how == "shorter":
            os.truncate(path, size // 2)
        elif how == "empty":
            os.truncate(path, 0)
        elif how == "unreadable":
            path.chmod(0)
        elif how == "deleted":
            path.unlink()
        else:
            path.unlink()
            path.write_bytes(b"b" * size)
        answer = read_all_and_finish(sock)
    if how in HARMLESS:
        assert sha256(b"a" * size).encode() in answer
        return
    assert b"WALE/1 ABORT changed the file" in answer[-100:]
    record = server.wait_record(lambda r: r["name"] == "f")
    assert record["status"] == "changed"
    os.utime(path)
    assert get_json(server, "f")["sha256_ok"] is True


def read_all_and_finish(sock: socket.socket) -> bytes:
    """Everything up to END or the end of the stream."""
    data = bytearray()
    while part := sock.recv(1 << 20):
        data += part
        if re.search(rb"WALE/1 END [^\n]*\n$", data[-200:]):
            sock.shutdown(socket.SHUT_WR)
    return bytes(data)


def test_get_sees_a_shorter_file(own: Callable[..., Server], tmp_path: Path) -> None:
    path = tmp_path / "f"
    with path.open("wb") as file:
        file.truncate(4 << 30)
    server = own(folder=tmp_path)
    out = tmp_path / "copy"
    with subprocess.Popen(
        [
            WALE,
            "get",
            "127.0.0.1:f",
            "--port",
            str(server.port),
            "--json",
            "--rcvbuf",
            "5000",
            "--no-sha256",
            "--out",
            str(out),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as proc:
        while not any(entry.stat().st_size for entry in tmp_path.glob(".copy.wale-*")):
            time.sleep(0.01)
        os.truncate(path, 1000)
        stdout, _ = proc.communicate(timeout=WAIT_S)
    result = json.loads(stdout)
    assert proc.returncode == 1 and result["completed"] is None
    assert "the file became shorter while it was sent" in result["error"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_digest_is_not_stale(own: Callable[..., Server], tmp_path: Path) -> None:
    """Same size, same time of change, other data, within a moment."""
    path = tmp_path / "f"
    server = own(folder=tmp_path)
    for i in range(20):
        path.write_bytes(b"%06d" % i * 1000)
        result = get_json(server, "f")
        assert result["sha256"] == sha256(b"%06d" % i * 1000)
        assert result["sha256_ok"] is True


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_client_is_killed(server: Server, tmp_path: Path, number: signal.Signals) -> None:
    out = tmp_path / "copy"
    with subprocess.Popen(
        [
            WALE,
            "get",
            "127.0.0.1:big",
            "--port",
            str(server.port),
            "--bytes",
            "40gb",
            "--repeat",
            "--out",
            str(out),
            "--rcvbuf",
            "5000",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as proc:
        while not any(entry.stat().st_size for entry in tmp_path.glob(".copy.wale-*")):
            time.sleep(0.01)
        before = len(server.log)
        proc.send_signal(number)
        assert proc.wait(WAIT_S) == -number
    server.wait_record(lambda r: r["status"] == "stopped", since=before)
    if number != signal.SIGKILL:
        assert not list(tmp_path.iterdir())


def test_signals_that_are_ignored_stay_so(own: Callable[..., Server], tmp_path: Path) -> None:
    """Both ends go on; what is not ignored ends them as ever."""
    server = own(prefix=UNINTERRUPTED)
    words = ["127.0.0.1:big", "--bytes", "40gb", "--repeat", "--out", tmp_path / "copy"]
    with subprocess.Popen(
        [*UNINTERRUPTED, WALE, "get", "--port", str(server.port), *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as proc:
        wait_until(lambda: [e for e in tmp_path.glob(".copy.wale-*") if e.stat().st_size])
        for number in (signal.SIGHUP, signal.SIGINT):
            proc.send_signal(number)
            server.proc.send_signal(number)
        assert get_json(server, "small")["completed"] == "all"
        assert proc.poll() is None
        proc.terminate()
        assert proc.wait(WAIT_S) == -signal.SIGTERM
    server.stop()


def test_server_stops(own: Callable[..., Server], tmp_path: Path) -> None:
    server = own()
    with subprocess.Popen(
        [
            WALE,
            "get",
            "127.0.0.1:big",
            "--port",
            str(server.port),
            "--bytes",
            "40gb",
            "--repeat",
            "--json",
            "--out",
            str(tmp_path / "copy"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as proc:
        while not any(entry.stat().st_size for entry in tmp_path.glob(".copy.wale-*")):
            time.sleep(0.01)
        assert "1 transfers, 0 complete" in server.stop()
        stdout, _ = proc.communicate(timeout=WAIT_S)
    assert proc.returncode == 1 and json.loads(stdout)["error"]
    assert server.records()[-1]["status"] == "aborted"
    assert not list(tmp_path.iterdir())


def test_once(own: Callable[..., Server]) -> None:
    server = own("--once", "2")
    assert get_json(server, "none")["completed"] is None
    get_json(server, "small")
    get_json(server, "small")
    assert server.proc.wait(WAIT_S) == 0
    server.reader.join()


def test_port_in_use(server: Server, folder: Path) -> None:
    command = [WALE, "serve", str(folder), "--port", str(server.port)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 1
    assert f"port {server.port}: Address already in use" in done.stderr


@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_service_manager_is_told(tmp_path: Path, own: Callable[..., Server], kind: str) -> None:
    """That the port is open, and that it ends: the protocol of sd_notify(3)."""
    name = str(tmp_path / "n") if kind == "path" else f"@wale-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.settimeout(WAIT_S)
        manager.bind(name.replace("@", "\0"))
        environment: dict[str, Any] = {"env": {**os.environ, "NOTIFY_SOCKET": name}}
        server = own(**environment)
        assert manager.recv(100) == b"READY=1"
        assert get("127.0.0.1:small", "--port", str(server.port)).returncode == 0
        server.stop()
        assert manager.recv(100) == b"STOPPING=1"
