# SPDX-License-Identifier: GPL-2.0
"""Keeps modules and programs that were built, so that another checkout of the same need not.

They are in ${XDG_CACHE_HOME:-~/.cache}/wale/products/KEY/.  KEY covers the contents of the
sources, what they are built against, and the compiler.  A folder is filled under another name and
then renamed, so nobody finds it half full.  Those unused for longest are removed.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from wale_lab.engines.base import Log
from wale_lab.engines.kernel_build import cache_root, locked

#: Counts up when what is done here changes what is kept.
RECIPE = "1"

#: So much is kept: a build of all modules with the programs takes 2 to 4 MB.
MOST_BYTES = 200 * 10**6

#: A build takes a minute; a lock file that is older than this is nobody's.
KEPT_LOCK_S = 86400

#: Flags of the user's: what they make is not for others.
_FLAGS = set("CC CFLAGS CPPFLAGS LDFLAGS LDLIBS KCFLAGS KCPPFLAGS BUILD_FLAGS LLVM".split())


def _root() -> Path:
    return cache_root() / "products"


def key_of(sources: Iterable[Path], top: Path, against: Sequence[str]) -> str | None:
    """The name for what these sources become; None if it should not be kept."""
    compiler = _compiler()
    if compiler is None or not _FLAGS.isdisjoint(os.environ) or not _is_writable():
        return None
    words = [RECIPE, platform.machine(), compiler, *against]
    digest = hashlib.sha256("\0".join(words).encode())
    for path in sorted(sources):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"\0{path.relative_to(top)}\0{content}".encode())
    return digest.hexdigest()[:24]


def _is_writable() -> bool:
    with suppress(OSError):
        _root().mkdir(parents=True, exist_ok=True)
    return os.access(_root(), os.W_OK)


@functools.cache
def _compiler() -> str | None:
    """What the compiler says it is."""
    with suppress(OSError):
        said = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=False)
        return said.stdout.partition("\n")[0] or None
    return None


def fill(folder: Path, key: str | None, build: Callable[[], Sequence[Path]], log: Log) -> None:
    """Have the products in a folder: those that are kept under this name, or else newly built.

    `build` returns what should be kept; two processes do not build the same at once.
    """
    if key is None:
        build()
    elif not _restore(key, folder):
        with locked(_root() / f"{key}.lock", log):
            if not _restore(key, folder):
                _keep(key, folder, build())


def _restore(key: str, folder: Path) -> bool:
    """Copy what is kept under this name into a folder; tell whether there was any."""
    kept = _root() / key
    try:
        os.utime(kept)  # it was used
        for path in [path for path in kept.rglob("*") if path.is_file()]:
            _copy(path, folder / path.relative_to(kept))
    except OSError:
        return False  # it is not there, or was removed at this moment
    return True


def _copy(path: Path, to: Path) -> None:
    """Replace a file by one rename: a guest may have the old one open."""
    to.parent.mkdir(parents=True, exist_ok=True)
    new = to.with_name(f".{to.name}.{os.getpid()}")
    shutil.copy(path, new)
    new.replace(to)


def _keep(key: str, folder: Path, products: Sequence[Path]) -> None:
    """Keep these files of a folder under this name; a full disk is no reason to fail."""
    work = Path(tempfile.mkdtemp(prefix=".new-", dir=_root()))
    with suppress(OSError):
        for path in products:
            _copy(path, work / path.relative_to(folder))
        work.chmod(0o755)
        if products:
            work.rename(_root() / key)
    shutil.rmtree(work, ignore_errors=True)
    _remove_old()


def _remove_old() -> None:
    """Remove those that were not used for longest, until the others take at most MOST_BYTES."""
    when = {path: path.stat().st_mtime for path in _root().iterdir()}
    total = 0
    for path in sorted(when, key=lambda path: when[path], reverse=True):
        if path.suffix == ".lock":
            if time.time() - when[path] > KEPT_LOCK_S:
                path.unlink(missing_ok=True)
            continue
        total += sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        if total > MOST_BYTES:
            shutil.rmtree(path, ignore_errors=True)
