# SPDX-License-Identifier: GPL-2.0
"""Tests of `wale serve` with requests and folders that are made to do harm."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from transfer_harness import (
    Server,
    connect_slowly,
    get_json,
    needs_wale,
    read_line,
    sha256,
)

pytest_plugins = ["transfer_fixtures"]
pytestmark = needs_wale

CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")  # all but LF
REORDERING = re.compile("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def test_fifo_is_not_touched(server: Server, folder: Path) -> None:
    """Who waits to write into a FIFO of the folder does not hear of a request for it."""
    with subprocess.Popen(["sh", "-c", f"echo whole > '{folder}/fifo'"]) as writer:
        time.sleep(0.1)  # it waits by now, or else the test shows less
        for _ in range(20):
            assert b"ERROR not-a-file" in server.ask(b"WALE/1 GET name=fifo\n")
        assert writer.poll() is None
        assert (folder / "fifo").read_bytes() == b"whole\n"
        assert writer.wait() == 0


def test_name_that_changes_its_meaning(own: Callable[..., Server], tmp_path: Path) -> None:
    """A name that is a file, a link out of the folder, a folder and a FIFO in turn."""
    folder = tmp_path / "served"
    folder.mkdir()
    (tmp_path / "outside").write_bytes(b"secret")
    server = own(folder=folder)
    stop = threading.Event()

    def change() -> None:
        new = folder / "new"
        while not stop.is_set():
            new.write_bytes(b"public")
            new.replace(folder / "f")
            new.symlink_to("../outside")
            new.replace(folder / "f")
            os.mkfifo(new)
            new.replace(folder / "f")

    thread = threading.Thread(target=change)
    thread.start()
    answers = [server.ask(b"WALE/1 GET name=f\n", close=True) for _ in range(400)]
    stop.set()
    thread.join()
    assert not any(b"secret" in answer for answer in answers)
    refusals = {answer.split()[2] for answer in answers if b" ERROR " in answer}
    assert refusals <= {b"outside", b"not-a-file", b"not-found"}
    (folder / "g").write_bytes(b"public")
    assert get_json(server, "g")["completed"] == "all"


def test_huge_sparse_file(own: Callable[..., Server], tmp_path: Path) -> None:
    """As large as the file system takes it: its end, and an offset beyond."""
    path = tmp_path / "f"
    with path.open("wb") as file:
        for power in range(62, 40, -1):
            with contextlib.suppress(OSError):
                file.truncate(size := (1 << power) - 1)
                break
        file.seek(size - 5)
        file.write(b"hello")
    server = own(folder=tmp_path)
    result = get_json(server, "f", "--offset", str(size - 5))
    assert result["bytes"] == 5 and result["sha256"] == sha256(b"hello")
    result = get_json(server, "f", "--offset", str(size - 5), "--bytes", "10", "--repeat")
    assert result["sha256"] == sha256(b"hello" + bytes(5))
    assert get_json(server, "f", "--offset", str(size))["bytes"] == 0
    assert b"ERROR bad-range" in server.ask(b"WALE/1 GET offset=%d name=f\n" % (size + 1))
    with connect_slowly(server) as sock:
        sock.sendall(b"WALE/1 GET name=f\n")
        assert b"bytes=%d size=%d " % (size, size) in read_line(sock)


@pytest.mark.parametrize("words", [b"bytes=%d repeat=1" % (1 << 62), b"repeat=1 sha256=0"])
def test_endless(own: Callable[..., Server], words: bytes) -> None:
    """The largest transfer that there is begins, and ends with its client."""
    server = own()
    with connect_slowly(server) as sock:
        sock.sendall(b"WALE/1 GET offset=17 " + words + b" name=small\n")
        assert b"bytes=%d " % (1 << 62) in read_line(sock)
        assert sock.recv(34) == b"hello, wide area\n" * 2
    assert server.wait_record(lambda r: True)["status"] == "stopped"


def test_nothing_strange_is_printed(own: Callable[..., Server], tmp_path: Path) -> None:
    """Neither in answers nor in the log, whatever a request or a file is called."""
    name = "a\u202eb\u2028c\u2066d"
    (tmp_path / name).write_bytes(b"x")
    server = own(folder=tmp_path, json=False)
    strange = b"\x1b]0;title\x07\x9b\xc2\x9b2J\xe2\x80\xae\r"
    answers = b""
    for request in (
        strange + b"\n",
        b"WALE/1 GET cc=" + strange[:10] + b" name=a\n",
        b"WALE/1 GET bytes=" + strange + b" name=a\n",
        strange + b"=" + strange + b" name=a\n",
        b"WALE/1 GET " + strange + b"=1 name=a\n",
        b"WALE/1 GET name=" + strange + b"\n",
        b"WALE/1 GET name=none" + name.encode() + b"\n",
    ):
        answers += server.ask(request)
    assert get_json(server, name)["completed"] == "all"
    server.stop()
    assert answers.count(b"\n") == 7 and len(server.log) == 8
    for text in [answers.decode(), *server.log]:
        assert not CONTROLS.search(text) and not REORDERING.search(text), ascii(text)
    assert "a???b???c???d: complete" in server.log[-1]


def test_json_has_no_controls(own: Callable[..., Server], tmp_path: Path) -> None:
    """A record says the name as it is, in characters that no terminal obeys."""
    server = own(folder=tmp_path)
    server.ask(b"WALE/1 GET cc=\x1b[2J name=a\n")
    server.ask("WALE/1 GET name=\u202e\n".encode())
    server.stop()
    assert len(server.log) == 2 and not any(map(CONTROLS.search, server.log))
