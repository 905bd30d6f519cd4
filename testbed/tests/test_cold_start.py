# SPDX-License-Identifier: GPL-2.0
"""A first start that is interrupted: no process is left, and the next one goes on.

The launcher is the real one, with the builder beside it; pip asks a server that never answers,
the kernel is the one of test_kernel_build.py, and the programs are built by a sleep.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import TESTBED
from test_kernel_build import archive, said, wait_for

__all__ = ["archive"]

#: What Python runs first in the builder: where the source of a kernel is, and how to build.
SITE = """
import os, sys
from pathlib import Path
if "wale_lab.engines.ahead" in sys.orig_argv:
    from wale_lab.engines import kernel_build, kernel_source, modules
    source = kernel_source.Source("6.99", "6.99.1-1", Path(os.environ["TEST_ARCHIVE"]))
    kernel_source.at_hand = lambda version, cache: source
    kernel_build._need_tools = modules.check_places = lambda: None
    kernel_build.Wanted.config = "CONFIG_A=y\\n"
    modules.BUILD = Path(os.environ["XDG_CACHE_HOME"], "programs")
    modules._stale = lambda *words: True
    modules._userspace_key = lambda: None
    modules._make_userspace = lambda: ["make", "-f", os.environ["TEST_PROGRAMS"]]
"""
PROGRAMS = "all:\n\ttouch $(XDG_CACHE_HOME)/began; sleep 1000\n"

#: The signals, and what a shell says of a command that they end.
ENDS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]


@pytest.fixture
def cold(tmp_path: Path, archive: Path) -> Iterator[dict[str, str]]:
    """The environment of a launcher with an empty cache, in a tree of its own."""
    tree = tmp_path / "testbed"
    (tree / "src").mkdir(parents=True)
    for path in [TESTBED / "wale-lab", *TESTBED.glob("requirements*.txt")]:
        shutil.copy(path, tree)
    (tree / "setup").symlink_to(TESTBED / "setup")
    (tree / "src/wale_lab").symlink_to(TESTBED / "src/wale_lab")
    (tree / "src/sitecustomize.py").write_text(SITE)
    (tmp_path / "programs.mk").write_text(PROGRAMS)
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield {
            **{k: v for k, v in os.environ.items() if not k.startswith("PIP_")},
            "XDG_CACHE_HOME": str(tmp_path),
            "TEST_ARCHIVE": str(archive),
            "TEST_PROGRAMS": str(tmp_path / "programs.mk"),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_CACHE_DIR": "1",
            "PIP_INDEX_URL": f"http://127.0.0.1:{server.getsockname()[1]}/simple",
        }


def started(env: dict[str, str], **more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, f"{env['XDG_CACHE_HOME']}/testbed/wale-lab", "run", "demo"]
    return subprocess.Popen(
        command, env={**env, **more}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def left(env: dict[str, str]) -> list[str]:
    """The processes that have this cache in their environment."""
    mark = f"XDG_CACHE_HOME={env['XDG_CACHE_HOME']}\0".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            pass
    return found


def nothing_is_left(env: dict[str, str]) -> None:
    for _ in range(200):
        if not left(env):
            return
        time.sleep(0.05)
    assert left(env) == []


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), ENDS)
def test_nothing_is_left_and_the_next_goes_on(
    number: signal.Signals, code: int, cold: dict[str, str]
) -> None:
    cache = Path(cold["XDG_CACHE_HOME"])
    process = started(cold, WAIT_two="sleep 1000;")

    def is_building() -> bool:
        """All three are on their way: packages, programs, and the kernel's second file."""
        assert process.poll() is None
        works = list(cache.glob("wale/kernel/.*.building"))
        return (
            any("pip install" in line for line in left(cold))
            and (cache / "began").exists()
            and any((w / "src/one.kept").exists() and (w / "src/two.o").exists() for w in works)
        )

    wait_for(is_building)
    process.send_signal(number)
    assert process.wait(20) == code
    nothing_is_left(cold)
    (work,) = cache.glob("wale/kernel/.*.building")
    assert not (work / "src/two.o").exists()  # make removes what is half done

    process = started(cold)
    try:
        wait_for(lambda: not work.exists())
    finally:
        process.terminate()
        process.wait(20)
    (folder,) = cache.glob("wale/kernel/*/")
    assert said(folder) == ["configured", "one.o", "two.o", "two.o", "linked"]
    nothing_is_left(cold)
    assert not list(cache.glob("wale/venv-*/complete-*"))
