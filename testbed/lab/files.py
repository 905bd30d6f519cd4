# SPDX-License-Identifier: GPL-2.0
"""Files that others read while they are written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file that others see whole or not at all; its folder is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=path.parent) as folder:
        partial = Path(folder, path.name)
        with partial.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())  # else a crash of the machine may leave an empty one
        partial.replace(path)
