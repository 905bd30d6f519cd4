# SPDX-License-Identifier: GPL-2.0
"""Builds the guest kernel of the uml engine from a source tree of the user's own.

`--kernel DIR` is a tree of any version from 6.1 on, with git or without; `DIR+net` has a flavour.
The tree itself is only read.  Its files are copied into the cache when they have changed, and
are built there with kernel.config, so that the next build compiles only what depends on the
changes.  A result is a folder of the cache for each state of the tree: its commit and what is
changed on top of it, or without git, size and time of each file.  The release names the state.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from wale_lab.engines import kernel_build, kernel_source
from wale_lab.engines.base import EngineError, Kernel, Log
from wale_lab.engines.kernel_build import Build, Wanted, cache_root, locked
from wale_lab.engines.kernel_source import Source, version_key
from wale_lab.errors import why
from wale_lab.units import show_count

#: Results of one tree that are kept.
KEPT = 5

#: What a tree without git may have that is no source.
_PRODUCTS = re.compile(
    r"\.(o|a|ko|mod|mod\.c|order|symvers|dtb|gz|xz)$|^(\..*\.cmd|\.tmp_.*|vmlinux(\.(o|a|map|symvers|unstripped))?|linux|System\.map"
    r"|\.config.*|\.git.*|modules\.builtin.*|Module\.symvers)$"
)
_MADE = ("include/config", "include/generated", "arch/*/include/generated", ".git")

_COMPILER = re.compile(r"^(\S+?:\d+(?::\d+)?: )(?:fatal )?(error: .*)")


def is_tree(text: str | None) -> bool:
    """Is a kernel asked for by a path?"""
    return "/" in (text or "")


def find_or_build(text: str | None, log: Log) -> Kernel:
    """The kernel of a path, or that of a version (kernel_build.py)."""
    if text is None or not is_tree(text):
        return kernel_build.find_or_build(text, log)
    path, flavours = kernel_build.split_flavours(text)
    tree = _tree(Path(path).expanduser())
    own = Wanted(tree.version, "+".join(flavours))
    config = own.config.replace('CONFIG_LOCALVERSION="', f'CONFIG_LOCALVERSION="-{tree.state}')
    if not flavours:
        config += f'\nCONFIG_LOCALVERSION="-{tree.state}"\n'
    place = hashlib.sha256(str(tree.path).encode()).hexdigest()[:12]
    key = kernel_build.cache_key(f"tree-{place}", own)
    folder = cache_root() / "kernel" / f"{key}-{tree.state}"
    if not (folder / "kernel.json").exists():
        work = folder.with_name(f"{key}.work")
        with locked(work.with_suffix(".lock"), log):
            if not (folder / "kernel.json").exists():
                _TreeBuild(tree, config, work, folder, log).build()
    return kernel_build.kernel_in(folder, own, f"{tree.path} {tree.described}")


@dataclass(frozen=True)
class Tree:
    """A source tree in a state."""

    path: Path
    version: str  # "6.12"
    state: str  # "g0123456789ab", and more if it is changed; for names
    described: str  # for people
    files: tuple[str, ...]


def _tree(path: Path) -> Tree:
    """What is there; EngineError if it is no kernel that can be built."""
    if not path.is_dir():
        what = "this is no folder" if path.exists() else "there is no such folder"
        raise EngineError(f"--kernel {path}: {what}")
    path = path.resolve()
    try:
        head = (path / "Makefile").read_text(errors="replace")
    except OSError as error:
        raise EngineError(
            f"--kernel {path}: expected the source of a kernel, its Makefile cannot be read: "
            f"{why(error)}"
        ) from None
    numbers = dict(re.findall(r"^(VERSION|PATCHLEVEL) *= *(\d+)$", head, re.M))
    if len(numbers) < 2 or not (path / "Kconfig").exists():
        raise EngineError(f"--kernel {path}: expected the source of a kernel, this is another one")
    version = f"{numbers['VERSION']}.{numbers['PATCHLEVEL']}"
    if version_key(version) < kernel_source.OLDEST:
        raise EngineError(
            f"--kernel {path}: Linux {version} is too old: the modules are for 6.1 and later"
        )
    if not (path / "arch/um/Kconfig").exists():
        raise EngineError(f"--kernel {path}: expected all of a kernel's source, arch/um is missing")
    return _by_git(path, version) or _by_files(path, version)


def _git(path: Path, *words: str) -> bytes | None:
    """What git says; None if this is no tree of git."""
    env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    command = ["git", "-c", "core.quotePath=off", "-C", str(path), *words]
    try:
        done = subprocess.run(command, capture_output=True, check=False, env=env)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def _by_git(path: Path, version: str) -> Tree | None:
    top = _git(path, "rev-parse", "--show-toplevel")
    head = _git(path, "rev-parse", "HEAD")
    if top is None or head is None or Path(os.fsdecode(top).strip()) != path:
        return None
    changed = _git(path, "diff", "HEAD", "--binary", "--no-ext-diff") or b""
    new = (_git(path, "ls-files", "-z", "-o", "--exclude-standard") or b"").split(b"\0")
    files = _wanted(os.fsdecode(_git(path, "ls-files", "-z", "-c") or b"").split("\0"))
    more = _wanted(os.fsdecode(b"\0".join(new)).split("\0"))
    state = "g" + head.decode().strip()[:12]
    if changed or more:
        digest = hashlib.sha256(changed)
        for name in more:
            digest.update(os.fsencode(name) + b"\0" + _content(path / name))
        state += f"-{digest.hexdigest()[:8]}"
    said = f"{state[1:13]}, changed" if changed or more else state[1:]
    return Tree(path, version, state, said, (*files, *more))


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _by_files(path: Path, version: str) -> Tree:
    names = _wanted(_walk(path))
    digest = hashlib.sha256()
    for name in names:
        about = (path / name).lstat()
        digest.update(f"{name}\0{about.st_size}\0{about.st_mtime_ns}\0".encode())
    state = digest.hexdigest()[:12]
    return Tree(path, version, f"t{state}", f"state {state}", tuple(names))


def _walk(top: Path) -> Iterator[str]:
    """The files of a tree without git, and not what a build in it has left."""
    for base, folders, files in os.walk(top):
        inside = Path(base).relative_to(top)
        own = [str(inside / name) for name in folders]
        folders[:] = [n for n, name in zip(folders, own, strict=True) if not _matches(name, _MADE)]
        yield from (str(inside / name) for name in files if not _PRODUCTS.search(name))


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _wanted(names: Iterable[str]) -> list[str]:
    """Those of a tree's files that a build for User-Mode Linux reads."""
    translated = (fnmatch.translate(p) for p in _patterns())
    unneeded = re.compile("|".join(translated))
    return sorted(name for name in names if name and not unneeded.match(name))


def _patterns() -> Iterator[str]:
    for pattern in kernel_build.left_out():
        yield pattern
        yield f"{pattern}/*"


class _TreeBuild(Build):
    """A build in a folder that is kept for the next state of the tree."""

    def __init__(self, tree: Tree, config: str, work: Path, folder: Path, log: Log) -> None:
        work.mkdir(parents=True, exist_ok=True)
        super().__init__(Source(tree.version, tree.state, tree.path), config, work, log)
        self.own, self.folder = tree, folder
        self.name = str(tree.path)
        self.lacking: list[str] = []

    def build(self) -> None:
        """All of it; what is compiled stays for the next time, even if this fails."""
        kernel_build.need_tools()
        kernel_build.need_room(self.work)
        (self.work / "steps").unlink(missing_ok=True)
        self.log_path.unlink(missing_ok=True)
        copied = self.mirror()
        self.log(f"new or changed in {self.own.path}: {show_count(copied, 'file')}")
        self.configure()
        if self.lacking:
            self.log(f"this kernel has no {', '.join(self.lacking)}: left out")
        (self.work / "steps").write_text("configure\n")
        self.compile()
        self.release = (self.tree / "include/config/kernel.release").read_text().strip()
        self.keep()
        self.log(f"kernel {self.release} is in {self.folder} ({self.elapsed():.0f} s)")

    def mirror(self) -> int:
        """Copy what has changed, and remove what is no more; how many files were copied."""
        listed, there, copied = self.work / "files", self.tree, 0
        known = set(listed.read_text().split("\0")) if listed.exists() else set[str]()
        for name in known - set(self.own.files):
            (there / name).unlink(missing_ok=True)
        listed.parent.mkdir(exist_ok=True)
        listed.write_text("\0".join(sorted(known | set(self.own.files))))
        for name in self.own.files:
            copied += _copy(self.own.path / name, there / name)
        listed.write_text("\0".join(self.own.files))
        return copied

    def may_lack(self, symbol: str) -> bool:
        """Another version may not have it at all."""
        if symbol in self.symbols:
            return super().may_lack(symbol)
        self.lacking.append(symbol)
        return True

    @cached_property
    def symbols(self) -> set[str]:
        """What the tree can be configured with."""
        names = (name for name in self.own.files if Path(name).name.startswith("Kconfig"))
        texts = ((self.tree / name).read_text(errors="replace") for name in names)
        found = re.compile(r"^[ \t]*(?:menu)?config[ \t]+(\w+)", re.M)
        return {symbol for text in texts for symbol in found.findall(text)}

    def failed(self, what: str, lines: list[str]) -> EngineError:
        """The compiler's errors with their files and lines, or the last words of make."""
        errors = [found for line in lines if (found := _COMPILER.match(line))]
        if not errors:
            return super().failed(what, lines)
        log = self.folder.with_name(f"{self.folder.name}.failed.log")
        shutil.copy(self.log_path, log)
        first = "".join(errors[0].groups())
        more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
        return EngineError(f"{self.name} does not compile: {first}{more} (all of it: {log})")

    def keep(self) -> None:
        """Put the result into its folder, which is complete when it is there."""
        new = self.folder.with_name(f".{self.folder.name}.new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        for base, _, files in os.walk(self.tree):
            inside = Path(base).relative_to(self.tree)
            for name in files:
                if kernel_build.is_needed(inside.parts, name):
                    _copy(Path(base, name), new / "src" / inside / name)
        for name in ("linux", "config", "build.log", "modules", "modprobe"):
            if (self.work / name).exists():
                (self.work / name).rename(new / name)
        about = {"release": self.release, "version": self.version, "build_s": self.elapsed()}
        (new / "kernel.json").write_text(json.dumps({**about, "default": False}, indent=1) + "\n")
        new.rename(self.folder)
        self.remove_old()

    def remove_old(self) -> None:
        """Keep the newest results of this tree."""
        start = self.work.name.removesuffix(".work")
        results = [p for p in self.folder.parent.glob(f"{start}-*") if p.is_dir()]
        for path in sorted(results, key=lambda p: p.stat().st_mtime)[:-KEPT]:
            shutil.rmtree(path, ignore_errors=True)


def _copy(source: Path, target: Path) -> bool:
    """Copy a file or a link if size or time differ; a file that changes gets the time of now,
    which make goes by: an older state of a tree may have older files."""
    if source.is_symlink():
        if target.is_symlink() and target.readlink() == source.readlink():
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.symlink_to(source.readlink())
        return True
    try:
        now = source.stat()
    except FileNotFoundError:  # removed, and git is not told yet
        target.unlink(missing_ok=True)
        return False
    if target.exists():
        had = target.stat()
        if had.st_size == now.st_size and had.st_mtime_ns == now.st_mtime_ns:
            return False
        if source.read_bytes() == target.read_bytes():
            return False
    target.parent.mkdir(parents=True, exist_ok=True)
    again = target.exists()
    shutil.copy2(source, target)
    if again:
        stamp = time.time()
        os.utime(target, (stamp, stamp))
    return True
