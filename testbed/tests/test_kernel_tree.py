# SPDX-License-Identifier: GPL-2.0
"""A kernel from a tree of the user's own: its state, what is compiled again, and what is wrong.

The makefile of the short tests stands for the kernel's: it writes down what it compiles.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from wale_lab.engines import get_engine, kernel_build, kernel_source, kernel_tree
from wale_lab.engines.base import EngineError, Job, Kernel

MAKEFILE = """\
VERSION = 6
PATCHLEVEL = 12
all: linux
allnoconfig:
\tmkdir -p include/config
\tsed -n 's/CONFIG_LOCALVERSION="\\(.*\\)"/6.12.9\\1/p' wale.config > include/config/kernel.release
\tcat wale.config selected.config > .config
modules_install:
\tmkdir -p $(INSTALL_MOD_PATH)/lib/modules/own
\ttouch $(INSTALL_MOD_PATH)/lib/modules/own/one.ko $(INSTALL_MOD_PATH)/lib/modules/own/modules.dep
one.o two.o: %.o: %.c
\techo $@ >> ../said; grep -q broken $< && echo "$<:3:5: error: unknown type name" && exit 1; cp $< $@
linux: one.o two.o
\tcat $^ > $@; echo linked >> ../said
"""
FILES = {
    "Makefile": MAKEFILE,
    "Kconfig": "config A\n",
    "arch/um/Kconfig": "",
    "arch/um/vmlinux.lds.S": "",
    "include/linux/a.h": "",
    "selected.config": "",
    "one.c": "1\n",
    "two.c": "2\n",
    "sound/left-out.c": "",
}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(kernel_build, "need_tools", lambda: None)
    config = property(lambda _: "CONFIG_A=y\nCONFIG_OF_ANOTHER_VERSION=y\n")
    monkeypatch.setattr(kernel_build.Wanted, "config", config)
    top = tmp_path / "linux"
    for name, text in FILES.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


def git(tree: Path, *words: str) -> str:
    own = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *own, "-C", str(tree), *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(tree: Path) -> str:
    if not (tree / ".git").exists():
        git(tree, "init", "-q")
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "x")
    return git(tree, "rev-parse", "HEAD")[:12]


def build(tree: Path) -> tuple[Kernel, list[str]]:
    """The kernel, and what was compiled for it."""
    said = tree.parent / "cache/wale/kernel"
    for path in said.glob("*.work/said"):
        path.unlink()
    kernel = kernel_tree.find_or_build(str(tree), lambda _: None)
    found = [path.read_text().split() for path in said.glob("*.work/said")]
    return kernel, found[0] if found else []


def test_state_of_a_tree(tree: Path) -> None:
    """The release names the commit, and what is changed on top of it; nothing is built twice."""
    head = commit(tree)
    kernel, compiled = build(tree)
    assert kernel.release == f"6.12.9-g{head}"
    assert sorted(compiled) == ["linked", "one.o", "two.o"]
    assert kernel.image and kernel.image.read_text() == "1\n2\n"
    assert build(tree) == (kernel, [])

    (tree / "two.c").write_text("3\n")
    changed, compiled = build(tree)
    assert changed.release.startswith(f"6.12.9-g{head}-")
    assert compiled == ["two.o", "linked"]
    assert changed.image and changed.image.read_text() == "1\n3\n"

    (tree / "new.c").write_text("")  # that git does not know yet
    more, compiled = build(tree)
    assert more.release not in (changed.release, kernel.release)
    assert compiled == ["linked"]

    (tree / "new.c").unlink()
    git(tree, "checkout", "-q", "two.c")
    assert build(tree) == (kernel, [])
    assert kernel.tree and (kernel.tree / "Makefile").exists()
    assert not (kernel.tree / "one.c").exists()
    assert git(tree, "status", "--porcelain") == ""


def test_older_state_is_compiled_again(tree: Path) -> None:
    """A file as it was before is older than what was made of it, and is compiled all the same."""
    then = 1_000_000_000
    os.utime(tree / "two.c", (then, then))
    build(tree)
    (tree / "two.c").write_text("3\n")
    build(tree)
    (tree / "two.c").write_text("2\n")
    os.utime(tree / "two.c", (then - 1, then - 1))
    kernel, compiled = build(tree)
    assert compiled == ["two.o", "linked"]
    assert kernel.image and kernel.image.read_text() == "1\n2\n"


def test_tree_without_git(tree: Path) -> None:
    kernel, _ = build(tree)
    assert kernel.release.startswith("6.12.9-t")
    for name in ("one.o", "vmlinux", "vmlinux.o", ".config", "include/config/auto.conf"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("left by another build")
    assert build(tree) == (kernel, [])
    assert "arch/um/vmlinux.lds.S" in kernel_tree._tree(tree).files  # no product by its name
    (tree / "one.c").write_text("4\n")
    changed, compiled = build(tree)
    assert (changed.release != kernel.release, compiled) == (True, ["one.o", "linked"])


def test_results_that_are_kept(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_tree, "KEPT", 2)
    for n in range(4):
        (tree / "one.c").write_text(f"{n}\n")
        build(tree)
    results = (tree.parent / "cache/wale/kernel").glob("tree-*/kernel.json")
    assert len(list(results)) == 2


def test_modules_that_the_tree_selects(tree: Path) -> None:
    """They are kept for the guest's modprobe, although our configuration has none."""
    kernel, _ = build(tree)
    assert kernel.image and not (kernel.image.parent / "modules").exists()
    (tree / "selected.config").write_text("CONFIG_ONE=m\n")
    kernel, _ = build(tree)
    assert kernel.image
    assert [path.name for path in kernel.image.parent.glob("modules/**/*.ko")] == ["one.ko"]
    assert (kernel.image.parent / "modprobe").exists()


def test_compiler_is_quoted(tree: Path) -> None:
    """The first error with its file and line; what is compiled stays for the next time."""
    build(tree)
    (tree / "two.c").write_text("broken\n")
    with pytest.raises(EngineError) as caught:
        build(tree)
    said = str(caught.value)
    assert said.startswith(f"{tree} does not compile: two.c:3:5: error: unknown type name (all of")
    assert Path(said.rpartition("all of it: ")[2].rstrip(")")).exists()
    (tree / "two.c").write_text("5\n")
    assert build(tree)[1] == ["two.o", "linked"]


@pytest.mark.parametrize(
    ("remove", "says"),
    [
        ("Makefile", "expected the source of a kernel, its Makefile cannot be read"),
        ("Kconfig", "expected the source of a kernel, this is another one"),
        ("arch/um/Kconfig", "expected all of a kernel's source, arch/um is missing"),
    ],
)
def test_what_is_no_kernel(tree: Path, remove: str, says: str) -> None:
    (tree / remove).unlink()
    with pytest.raises(EngineError, match=says):
        build(tree)


def test_what_cannot_be(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"--kernel .*/none: there is no such folder"):
        kernel_tree.find_or_build(str(tmp_path / "none"), print)
    with pytest.raises(EngineError, match=r"--kernel .*/Makefile: this is no folder"):
        kernel_tree.find_or_build(str(tree / "Makefile"), print)
    (tree / "Makefile").write_text(MAKEFILE.replace("VERSION = 6", "VERSION = 4"))
    with pytest.raises(EngineError, match=r"Linux 4\.12 is too old: the modules are for 6\.1 and"):
        build(tree)
    with pytest.raises(EngineError, match=r"expected one such as 6\.12, .* the path of a kernel's"):
        get_engine("uml").prepare("linux", print)


def test_flavours_of_a_path() -> None:
    assert kernel_build.split_flavours("/src/a+b+san+net") == ("/src/a+b", ["net", "san"])
    assert kernel_build.with_flavour("/src/linux", "net") == "/src/linux+net"
    assert kernel_build.with_flavour("6.12+san", "net") == "6.12+net+san"
    assert kernel_build.with_flavour(None, "net") == "+net"


@pytest.mark.long
def test_a_change_of_tcp(tmp_path: Path) -> None:
    """A kernel's source with another default is built, and then only what depends on a change."""
    source = kernel_source.at_hand("6.12", kernel_build.cache_root())
    assert source is not None
    top = tmp_path / "linux"
    top.mkdir()
    source.unpack(top)
    engine = get_engine("uml")
    engine.prepare(str(top), print)
    file = top / "net/ipv4/tcp.c"
    text = file.read_text()
    file.write_text(
        text.replace("tcp_metrics_init();", 'pr_warn("changed\\n"); tcp_metrics_init();')
    )
    kernel = engine.prepare(str(top), print)
    said = engine.run(kernel, Job(["dmesg"])).console
    assert "changed" in said
    log = (kernel.image or top).with_name("build.log").read_text()
    assert log.count("  CC ") < 20
