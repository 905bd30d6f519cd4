# SPDX-License-Identifier: GPL-2.0
"""Opens a text file, whatever program wrote it."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from wale_lab.errors import ScenarioError, why


def one_line(text: str) -> str:
    """A text, such as a name of a file, without what would end a line or cannot be written."""
    return "".join(c if c.isprintable() else "?" for c in text)


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """A file as text: UTF-8 or UTF-16, compressed by gzip or not, with any ends of lines."""
    try:
        with path.open("rb") as raw:
            packed = raw.peek(2)[:2] == b"\x1f\x8b"
            plain: Any = gzip.GzipFile(fileobj=raw) if packed else raw
            data = io.BufferedReader(plain)
            utf16 = data.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
            yield io.TextIOWrapper(data, encoding="utf-16" if utf16 else "utf-8-sig")
    except UnicodeError:
        raise ScenarioError(f"{path}: cannot be read: it is not text in UTF-8") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise ScenarioError(f"{path}: cannot be read: its compressed data are damaged") from None
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {why(error)}") from None
