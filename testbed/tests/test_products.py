# SPDX-License-Identifier: GPL-2.0
"""What is built is kept in the cache, and another checkout of the same sources builds nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest

from conftest import TESTBED
from wale_lab.engines import products

TOP = TESTBED.parent


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an empty cache; no flags in the environment."""
    for name in products._FLAGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "cache/wale/products"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    for name in ("a.c", "b.c"):
        (folder / name).write_text(name)
    return folder


def key(sources: Path, *against: str) -> str | None:
    return products.key_of(sources.iterdir(), sources, against)


def built(folder: Path, name: str, text: str = "built") -> list[Path]:
    (folder / "sub").mkdir(parents=True, exist_ok=True)
    (folder / "sub" / name).write_text(text)
    return [folder / "sub" / name]


def test_name_covers_what_decides(
    kept: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {key(sources), key(sources, "6.1"), key(sources, "6.12")}
    copy = shutil.copytree(sources, sources.with_name("another"))
    assert key(copy) == key(sources)
    os.utime(copy / "a.c", (1, 1))
    assert key(copy) == key(sources)
    (copy / "a.c").write_text("changed")
    names.add(key(copy))
    (copy / "a.c").write_text("a.c")
    (copy / "b.c").rename(copy / "c.c")
    names.add(key(copy))
    monkeypatch.setattr(products, "_compiler", lambda: "another")
    names.add(key(sources))
    assert len(names) == 6 and None not in names


def test_nothing_is_kept_of_flags(
    kept: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KCFLAGS", "-O0")
    assert key(sources) is None
    products.fill(sources, None, lambda: built(sources, "x.ko"), print)
    assert not list(kept.iterdir())


def test_cache_that_cannot_be_written(
    tmp_path: Path, sources: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert key(sources) is None


def test_second_folder_is_filled_from_the_first(kept: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    products.fill(one, "key", lambda: built(one, "x.ko"), print)
    (one / "sub/x.ko").write_text("changed later")
    built(two, "x.ko", "old")
    old = (two / "sub/x.ko").open()
    products.fill(two, "key", lambda: pytest.fail("built again"), print)
    assert (two / "sub/x.ko").read_text() == "built"
    assert old.read() == "old"  # a guest that has it open goes on with it
    old.close()
    assert [path.name for path in (two / "sub").iterdir()] == ["x.ko"]


def test_what_changed_meanwhile_is_not_kept(kept: Path, tmp_path: Path) -> None:
    products.fill(tmp_path, "key", list, print)
    assert [path.name for path in kept.iterdir()] == ["key.lock"]


def test_failed_build_leaves_nothing(kept: Path, tmp_path: Path) -> None:
    def fail() -> list[Path]:
        raise ValueError

    with pytest.raises(ValueError):
        products.fill(tmp_path, "key", fail, print)
    assert [path.name for path in kept.iterdir()] == ["key.lock"]
    products.fill(tmp_path, "key", lambda: built(tmp_path, "x"), print)
    assert (kept / "key/sub/x").exists()


def test_two_at_once_build_once(kept: Path, tmp_path: Path) -> None:
    began: list[str] = []
    said: list[str] = []

    def fill(name: str) -> None:
        def build() -> list[Path]:
            began.append(name)
            time.sleep(0.5)
            return built(tmp_path / name, "x.ko")

        products.fill(tmp_path / name, "key", build, said.append)

    threads = [threading.Thread(target=fill, args=(f"clone{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(began) == 1
    assert {(tmp_path / f"clone{n}/sub/x.ko").read_text() for n in range(4)} == {"built"}
    assert "waiting for another process that builds the same" in said[0]


def test_those_unused_for_longest_are_removed(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "MOST_BYTES", 2500)

    def fill(name: str, to: str) -> None:
        products.fill(tmp_path / to, name, lambda: built(tmp_path / to, "x", "1" * 1000), print)

    for days, name in ((4, "one"), (3, "two")):
        fill(name, "here")
        then = time.time() - days * 86400
        for path in (kept / name, kept / f"{name}.lock"):
            os.utime(path, (then, then))
    fill("one", "there")
    fill("three", "here")
    assert {path.name for path in kept.iterdir()} == {"one", "three", "three.lock"}


@pytest.mark.guest
def test_second_checkout_builds_nothing(tmp_path: Path) -> None:
    if not products._FLAGS.isdisjoint(os.environ):
        pytest.skip("the compiler's flags are in the environment")
    listed = ["git", "-C", str(TOP), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split("\0")
    for clone in (tmp_path / "one", tmp_path / "two"):
        for name in names:
            if (TOP / name).is_file():
                (clone / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(TOP / name, clone / name)
        command = [clone / "testbed/wale-lab", "exec", "--modules", "sch_wale,tcp_ratcp", "--"]
        command += ["tc", "qdisc", "add", "dev", "lo", "root", "wale", "rate", "1mbit"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "running make" not in done.stderr
    assert list(clone.rglob("*.ko")) and not list(clone.rglob("*.o"))
    modules = {path.relative_to(clone): path for path in clone.rglob("*.ko")}
    assert all(str(tmp_path).encode() not in path.read_bytes() for path in modules.values())
