# SPDX-License-Identifier: GPL-2.0
"""Files that others read while they are written, and the folders that results go to."""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from wale_lab.errors import ScenarioError


@contextmanager
def errors_name(path: Path) -> Iterator[None]:
    """Have errors of writing a file name it: a full disk names none, others a temporary file."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # a message alone
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file that others see whole or not at all; its folder is made if need be."""
    with replaced(path) as partial, partial.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())  # else a crash of the machine may leave an empty one


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A file to write, which then takes the place of another; its folder is made if need be."""
    make_parent(path)
    with errors_name(path), tempfile.TemporaryDirectory(prefix=".new-", dir=path.parent) as folder:
        partial = Path(folder, path.name)
        yield partial
        partial.replace(path)


def make_parent(path: Path) -> None:
    """Make the folder of a file, if need be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from error


def make_folder(folder: Path, option: str = "--out") -> None:
    """Make an output folder, that of an option; ScenarioError if it cannot be written to."""
    for path in (folder, *folder.parents):
        if path.exists() and not path.is_dir():
            where = "" if path == folder else f"{path} "
            raise ScenarioError(f"{option} {folder}: {where}is a file; expected a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = f"cannot be made ({error.strerror})"
        raise ScenarioError(
            f"{option} {folder}: {reason}; expected a folder that can be written to"
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ScenarioError(f"{option} {folder}: expected a folder that can be written to")


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """No other run writes to the folder meanwhile; ScenarioError if one does."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ScenarioError(
                f"--out {folder}: another run writes to it; expected a folder for each"
            ) from None
        except OSError:  # a file system that locks no folders
            pass
        yield
    finally:
        os.close(handle)


@contextmanager
def output_folder(folder: Path) -> Iterator[None]:
    """A folder for one run alone; if the run fails, nothing is left of it that is empty."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    make_folder(folder)
    try:
        with alone(folder):
            yield
    except BaseException:
        with suppress(OSError):  # it has something in it
            for path in new:
                path.rmdir()
        raise
