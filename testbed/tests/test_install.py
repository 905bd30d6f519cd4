# SPDX-License-Identifier: GPL-2.0
"""make install and make uninstall, into folders (DESTDIR) and below several PREFIXes."""

from __future__ import annotations

import os
import shutil
import signal
import string
import subprocess
import time
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


@pytest.mark.slow  # compiles modules
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
    for specification in (TOP / "Documentation/netlink/specs").glob("*.yaml"):
        expected.add(f"{below}/share/ynl/specs/{specification.name}")
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
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("words", [["DESTDIR=stage"], ["PREFIX=usr"], ["DESTDIR=a b", "PREFIX=/"]])
def test_no_folder_that_depends_on_where_one_is(words: list[str]) -> None:
    for target in ("install", "uninstall"):
        command = ["make", "-n", "-C", TOP, target, *words]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 2
        assert "expected a path from / on" in done.stderr


#: Characters that are not letters or digits, and stand in no way.
PLAIN = "._+@~-\u00fc\u5c71"
ODD = sorted({*string.punctuation, " ", "\t", "\n", "\x01"} - {*PLAIN, "/"})


def tree_of_makefiles(folder: Path) -> None:
    """The makefiles that one can start with, alone."""
    for name in ("", "userspace", "userspace/fuzz", "Documentation"):
        (folder / name).mkdir(parents=True)
        (folder / name / "Makefile").symlink_to(TOP / name / "Makefile")
    (folder / "testbed").symlink_to(TOP / "testbed")


def said(*command: str | Path, code: int = 2) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == code, (command, done.stdout, done.stderr)
    return done.stderr


def test_make_refuses_a_folder_that_it_would_take_for_something_else(tmp_path: Path) -> None:
    """Of a name with a space it takes two, and `clean` deletes the first; in a$b it builds in a."""
    for number, odd in enumerate([*ODD, " at the end"]):
        folder = tmp_path / f"{number}" / (f"a{odd}b" if len(odd) == 1 else "a ")
        tree_of_makefiles(folder)
        names = ("", "userspace", "userspace/fuzz", "Documentation")
        for name in names if odd in "$'" else names[number % 4 :][:1]:
            error = said("make", "-C", folder / name, "-n")
            assert "make cannot build in /" in error
            assert error.rstrip().endswith("/ . _ + @ ~ - only.  Stop.")


def test_make_builds_in_a_folder_with_letters_and_some_signs(tmp_path: Path) -> None:
    """And sees there that a header has changed."""
    folder = tmp_path / f"a{PLAIN}b"
    shutil.copytree(TOP / "userspace", folder / "userspace")
    for name in ("Makefile", "kmod", "testbed"):
        (folder / name).symlink_to(TOP / name)
    make = ("make", "-C", folder / "userspace", folder / "build/userspace/obj/lib/units.o")
    said(*make, code=0)
    said(*make, "-q", code=0)
    (folder / "userspace/lib/units.h").touch()
    said(*make, "-q", code=1)


def test_make_refuses_odd_words_for_folders() -> None:
    """DESTDIR may have spaces: the unit, and the kernel's makefiles, bear none in the others."""
    for odd in [*ODD, "$(HOME)", "$$"]:
        for word in (f"DESTDIR=/x{odd}y", f"PREFIX=/x{odd}y", f"KDIR=/x{odd}y"):
            if word != "DESTDIR=/x y":
                error = said("make", "-n", "-C", TOP, "uninstall", word)
                assert "/ . _ + @ ~ - only.  Stop." in error
    for odd in "$'":
        for word in (f"DESTDIR=/x{odd}y", f"MANDIR=/x{odd}y"):
            assert "- only.  Stop." in said("make", "-n", "-C", TOP / "userspace", "install", word)
        assert "- only.  Stop." in said("make", "-n", "-C", TOP, "modules", f"KDIR=/x{odd}y")


@pytest.mark.parametrize("odd", "$,")
def test_modules_are_not_built_in_odd_folders(odd: str, tmp_path: Path) -> None:
    """Also when not make, but the testbed starts it."""
    script = TOP / "testbed/setup/build-modules"
    header = tmp_path / f"a{odd}b" / "include/generated/utsrelease.h"
    header.parent.mkdir(parents=True)
    header.write_text('#define UTS_RELEASE "6.12"\n')
    error = said(script, header.parents[2])
    assert error.startswith(f"build-modules: {tmp_path}/a{odd}b: expected a path of ")


def test_a_build_of_modules_that_was_killed_is_not_gone_on_with(tmp_path: Path) -> None:
    """The kernel's make would stop at what is half written, each time."""
    kernel, build = tmp_path / "kernel", tmp_path / "build"
    (kernel / "include/generated").mkdir(parents=True)
    (kernel / "include/generated/utsrelease.h").write_text('#define UTS_RELEASE "6.99"\n')
    (kernel / "include/generated/autoconf.h").touch()
    steps = "\t@echo made >> $(M)/half; test -z $(HANG) || sleep 60; exit $(CODE)\n"
    (kernel / "Makefile").write_text(f"modules:\n{steps}")
    half = build / "modules/6.99/half"
    words = [TOP / "testbed/setup/build-modules", kernel]

    def started(**env: str) -> subprocess.Popen[bytes]:
        env = {**os.environ, "WALE_BUILD": str(build), "HANG": "", "CODE": "0", **env}
        return subprocess.Popen(words, env=env, start_new_session=True)

    assert started(CODE="1").wait(30) == 2
    assert started().wait(30) == 0
    assert half.read_text() == "made\n" * 2  # what failed, or ended, is gone on with
    process = started(HANG="yes")
    while half.read_text() != "made\n" * 3:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert started().wait(30) == 0
    assert half.read_text() == "made\n"


def test_uninstall_leaves_what_others_put_there(tmp_path: Path) -> None:
    """Files of others in the same folders stay, and folders of others."""
    others = [tmp_path / "usr/bin/other", tmp_path / "usr/share/man/man1/other.1"]
    others += [tmp_path / "usr/include/linux/tcp.h", tmp_path / "usr/share/ynl/specs/tc.yaml"]
    others += [tmp_path / TC_PLUGINS.lstrip("/") / "q_other.so"]
    for path in others:
        path.parent.mkdir(parents=True)
        path.write_text("other\n")
    empty = tmp_path / "usr/share/other"
    empty.mkdir()
    words = [f"DESTDIR={tmp_path}", "PREFIX=/usr", "KDIR=/nonexistent"]
    make("install", *words)
    make("uninstall", *words)
    assert files(tmp_path) == {str(path.relative_to(tmp_path)) for path in others}
    assert empty.exists()


@pytest.mark.parametrize("destdir", ["", "/", "//", "/usr/.."])
def test_uninstall_without_a_destdir_removes_no_folder_of_the_system(
    destdir: str, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    subprocess.run([TOP / "testbed/setup/remove-empty", destdir, tmp_path / "bin"], check=True)
    assert (tmp_path / "bin").exists()


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
