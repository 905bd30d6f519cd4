# SPDX-License-Identifier: GPL-2.0
"""Fixtures of the tests of `wale serve` and `wale get`: the files, and the servers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from transfer_harness import Server, fill, get_json


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("served")
    fill(path)
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
