# SPDX-License-Identifier: GPL-2.0
"""What is found once in a process that makes many runs, and each time in any other.

To look for the kernel, for modules and programs that are older than their sources, and for
the versions of tools takes some 80 ms of processor time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import TypeVar

_T = TypeVar("_T")

_found: dict[Hashable, object] = {}
_kept = threading.Event()


def keep() -> None:
    """From now on, take what was found before: whatever changes meanwhile does not count."""
    _kept.set()


def kept() -> bool:
    """Is what was found kept: is this a process that makes many runs?"""
    return _kept.is_set()


def once(key: Hashable, find: Callable[[], _T]) -> _T:
    """What `find` returns; that of the first call with this key if that is to be kept."""
    if not _kept.is_set():
        return find()
    if key not in _found:
        _found[key] = find()
    return _found[key]  # type: ignore[return-value]
