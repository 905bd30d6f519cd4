# SPDX-License-Identifier: GPL-2.0
"""Fixtures of the tests of `wale serve` and `wale get`: the files, and the servers."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from transfer_harness import Server, get_json


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("served")
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
    return path


@pytest.fixture(scope="module")
def shared(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    yield server
    summary = server.stop()
    assert re.search(r"\d+ transfers, \d+ complete, .*; \d+ requests refused", summary)


@pytest.fixture
def server(shared: Server) -> Iterator[Server]:
    """The server of all tests; it must live on after each."""
    yield shared
    assert shared.proc.poll() is None
    assert get_json(shared, "small")["sha256_ok"] is True


@pytest.fixture
def own(folder: Path) -> Iterator[Callable[..., Server]]:
    """Make servers that end with the test."""
    servers: list[Server] = []

    def make(*options: str, **popen: Any) -> Server:
        servers.append(Server(popen.pop("folder", folder), *options, **popen))
        return servers[-1]

    yield make
    for one in servers:
        if one.proc.poll() is None:
            one.stop()
