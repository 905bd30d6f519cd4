# SPDX-License-Identifier: GPL-2.0
"""make install and make uninstall, into folders (DESTDIR) and below several PREFIXes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
STOCK = sorted(Path("/usr/src").glob("linux-headers-*/include/generated/utsrelease.h"))
TC_PLUGINS = subprocess.run(
    [TOP / "userspace/tc/plugin-dir"], capture_output=True, text=True
).stdout.strip()


def make(target: str, *words: str) -> None:
    subprocess.run(["make", "-C", TOP, target, *words], check=True, capture_output=True)


def files(folder: Path) -> set[str]:
    """All that is not a folder, relative to this one."""
    found = (Path(base) / name for base, _, names in os.walk(folder) for name in names)
    return {str(path.relative_to(folder)) for path in found} | {
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_symlink()
    }


@pytest.mark.parametrize(
    ("prefix", "folder"), [("/usr", "plain"), ("/usr/local", "with a space"), ("/opt/some", "opt")]
)
def test_install_and_uninstall(prefix: str, folder: str, tmp_path: Path) -> None:
    """Everything lands where the system looks, nothing elsewhere, and uninstall leaves nothing."""
    if not STOCK:
        pytest.skip("no packaged kernel headers are installed (linux-headers-*)")
    kernel = STOCK[-1].parents[2]
    release = kernel.name.removeprefix("linux-headers-")
    root = tmp_path / folder
    words = [f"DESTDIR={root}", f"PREFIX={prefix}", f"KDIR={kernel}"]
    make("install", *words)
    there = files(root)
    below = prefix.lstrip("/")
    expected = {f"{below}/bin/wale", f"{below}/bin/wale-lab"}
    expected |= {f"{below}/share/bash-completion/completions/wale"}
    expected |= {f"{TC_PLUGINS.lstrip('/')}/q_wale.so"}
    for page in (TOP / "userspace/man").glob("*.[1-8]"):
        expected.add(f"{below}/share/man/man{page.suffix[1:]}/{page.name}")
    for module in ("sch_wale", "rate_feedback", "tcp_ratcp"):
        expected.add(f"lib/modules/{release}/updates/wale/{module}.ko")
    for header in ("pkt_sched_wale.h", "rate_feedback.h"):
        expected.add(f"{below}/include/linux/{header}")
    expected.add(f"{below}/share/ynl/specs/rate_feedback.yaml")
    for unit in (TOP / "userspace/systemd").iterdir():
        expected.add(f"{below}/lib/systemd/system/{unit.name}")
    assert expected <= there
    assert {n for n in there - expected if not n.startswith(f"{below}/share/wale-lab/")} == set()

    unit = root / below / "lib/systemd/system/wale-serve@.service"
    assert f"\nExecStart={prefix}/bin/wale serve " in unit.read_text()
    version = subprocess.run([root / below / "bin/wale", "--version"], capture_output=True)
    assert version.stdout.startswith(b"wale ")
    listed = subprocess.run([root / below / "bin/wale-lab", "list"], capture_output=True, text=True)
    assert "demo" in listed.stdout, listed.stderr
    assert files(root) == there  # using it leaves nothing beside it

    make("uninstall", *words)
    assert files(root) == set()
    assert list(root.rglob("wale*")) == []


@pytest.mark.parametrize("words", [["DESTDIR=stage"], ["PREFIX=usr"], ["DESTDIR=a b", "PREFIX=/"]])
def test_no_folder_that_depends_on_where_one_is(words: list[str]) -> None:
    for target in ("install", "uninstall"):
        command = ["make", "-n", "-C", TOP, target, *words]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 2
        assert "expected a path from / on" in done.stderr


def test_make_refuses_a_folder_with_spaces(tmp_path: Path) -> None:
    """It would take the name for two; `clean` would delete the first."""
    folder = tmp_path / "my project"
    (folder / "userspace").mkdir(parents=True)
    for name in ("Makefile", "userspace/Makefile"):
        (folder / name).symlink_to(TOP / name)
        command = ["make", "-C", (folder / name).parent, "clean"]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 2
        assert "cannot build in a folder with spaces" in done.stderr


def test_uninstall_leaves_what_others_put_there(tmp_path: Path) -> None:
    """Files of others in the same folders stay."""
    others = [tmp_path / "usr/bin/other", tmp_path / "usr/share/man/man1/other.1"]
    others += [tmp_path / "usr/include/linux/tcp.h", tmp_path / "usr/share/ynl/specs/tc.yaml"]
    others += [tmp_path / TC_PLUGINS.lstrip("/") / "q_other.so"]
    for path in others:
        path.parent.mkdir(parents=True)
        path.write_text("other\n")
    words = [f"DESTDIR={tmp_path}", "PREFIX=/usr", "KDIR=/nonexistent"]
    make("install", *words)
    make("uninstall", *words)
    assert files(tmp_path) == {str(path.relative_to(tmp_path)) for path in others}


def test_packages_that_can_be_done_without_need_no_root(tmp_path: Path) -> None:
    """Of a distribution that does not offer them, for a user who may not install them."""
    stubs = {
        "id": "echo 1000",
        "sudo": "exit 1",
        "apt-cache": "exit 1",
        "dpkg-query": '[ "$4" = there ] && echo "ii "',
    }
    for name, script in stubs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    packages = tmp_path / "packages.txt"
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for text, code in (("there\nelsewhere?\n", 0), ("there\nmissing\n", 1)):
        packages.write_text(text)
        words = [TOP / "testbed/setup/install-packages", packages]
        done = subprocess.run(words, check=False, capture_output=True, text=True, env=env)
        assert done.returncode == code, done.stdout + done.stderr
