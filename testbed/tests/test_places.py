# SPDX-License-Identifier: GPL-2.0
"""Folders in which make cannot build are refused before anything is built."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import TESTBED
from wale_lab.engines import get_engine, kernel_build, modules
from wale_lab.engines.base import EngineError


@pytest.mark.parametrize("which", ["the cache", "the checkout"])
def test_refused_before_a_kernel_is_built(
    which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_build, "find_or_build", lambda *_: pytest.fail("it was built"))
    place = tmp_path / which
    if which == "the cache":
        monkeypatch.setattr(modules, "cache_root", lambda: place)
    else:
        (place / "testbed").mkdir(parents=True)
        (place / "testbed/setup").symlink_to(TESTBED / "setup")
        monkeypatch.setattr(modules, "SOURCES", place)
    with pytest.raises(EngineError) as refused:
        get_engine("uml").prepare(None, print)
    assert str(refused.value).startswith(
        f"make cannot build in {place}: expected a path of letters"
    )


def test_refused_before_packages_are_installed(tmp_path: Path) -> None:
    """By the launcher, of a checkout and of a cache."""
    checkout = tmp_path / "a b"
    (checkout / "testbed/setup").mkdir(parents=True)
    lists = [path.name for path in TESTBED.glob("requirements*.txt")]
    for name in ("wale-lab", *lists, "setup/plain-path"):
        shutil.copy(TESTBED / name, checkout / "testbed" / name)
    (checkout / "Makefile").touch()
    for lab, cache in ((TESTBED / "wale-lab", "c d"), (checkout / "testbed/wale-lab", "cd")):
        env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / cache)}
        done = subprocess.run([lab, "list"], env=env, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"wale-lab: make cannot build in {tmp_path}/")
        assert done.stderr.count("\n") == 1
        assert not list((tmp_path / cache).rglob("venv-*/bin"))
