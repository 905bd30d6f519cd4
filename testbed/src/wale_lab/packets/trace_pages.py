# SPDX-License-Identifier: GPL-2.0
"""Pages of the kernel's trace buffer, as trace_pipe_raw gives them, turned into columns.

A page is a header (time of its first event, bytes in use) followed by events: a word with a
length and the time since the previous event, then the event's fields as described by its
`format` file in tracefs (Documentation/trace/ring-buffer-design.rst, and
include/linux/ring_buffer.h, in the kernel's tree).  The start of an event is only known from
the previous one, so numpy steps through all pages at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

#: Values of an event's length that are not one (include/linux/ring_buffer.h).
_PADDING, _TIME_EXTEND, _TIME_STAMP = 29, 30, 31
_LENGTH_BITS = 5
_DELTA_BITS = 27
#: Of a page's count of bytes: events were lost before it.
_MISSED = 1 << 31
_COUNT_MASK = (1 << 20) - 1

#: So many pages are looked at in one go.
_PAGES = 4096

_FIELD = re.compile(
    r"field:(?P<type>[^;]*?)(?P<name>\w+)(?:\[\d*\])?;\s*offset:(?P<offset>\d+);"
    r"\s*size:(?P<size>\d+);\s*signed:(?P<signed>[01]);"
)
_SYMBOL = re.compile(r'\{ *(\d+), *"([^"]*)" *\}')


class TraceError(Exception):
    """Why the recorder's files are not a complete trace."""


@dataclass(frozen=True)
class EventFormat:
    """Where the fields of an event are."""

    number: int
    fields: np.dtype[Any]  # those of a fixed place; a variable one is its place and length
    symbols: dict[int, str]  # of the one field that is shown by name

    @classmethod
    def parse(cls, text: str) -> EventFormat:
        """From the event's file `format`."""
        number = re.search(r"^ID: (\d+)$", text, re.M)
        if number is None:
            raise TraceError("expected the format of an event, with its ID")
        names, formats, offsets = [], [], []
        for field in _FIELD.finditer(text):
            size = int(field["size"])
            if "[" in field[0].partition(";")[0] and "__data_loc" not in field["type"]:
                kind = f"V{size}"
            else:
                kind = f"<{'i' if field['signed'] == '1' else 'u'}{size}"
            names.append(field["name"])
            formats.append(kind)
            offsets.append(int(field["offset"]))
        fields = np.dtype({"names": names, "formats": formats, "offsets": offsets})
        symbols = {int(n): name for n, name in _SYMBOL.findall(text)}
        return cls(int(number[1]), fields, symbols)


@dataclass(frozen=True)
class Found:
    """Events of a trace: where each begins, and when it came."""

    at: NDArray[np.int64]
    time_ns: NDArray[np.int64]


class Trace:
    """The pages of a buffer, in a file, those of each processor in their order."""

    def __init__(self, path: Path, page_size: int) -> None:
        """The file gets a page without events more, so that blocks end inside of it."""
        size = path.stat().st_size
        if size % page_size:
            raise TraceError(f"{path.name} ends in the middle of a page")
        with path.open("ab") as file:
            file.write(bytes(page_size))
        self.page_size = page_size
        self.pages = size // page_size
        self.bytes: NDArray[np.uint8] = np.memmap(path, np.uint8, "r")
        self.words = self.bytes.view("<u4")

    def find(self) -> Iterator[Found]:
        """All events, in their order."""
        for first in range(0, self.pages, _PAGES):
            yield self._find(first, min(first + _PAGES, self.pages))

    def _find(self, first: int, last: int) -> Found:
        begin = np.arange(first, last, dtype=np.int64) * (self.page_size // 4)
        time = self._long(begin).astype(np.int64)
        count = self.words[begin + 2]
        if (count & _MISSED).any():
            raise TraceError("the kernel says that events are missing")
        at = begin + 4  # words
        end = at + (count & _COUNT_MASK) // 4
        places, times = [], []
        while True:
            going = at < end
            if not going.all():
                at, end, time = at[going], end[going], time[going]
            if not at.size:
                break
            head = self.words[at].astype(np.int64)
            kind = head & ((1 << _LENGTH_BITS) - 1)
            more = self.words[np.minimum(at + 1, end - 1)].astype(np.int64)
            delta = head >> _LENGTH_BITS
            time = self._advance(time, kind, delta, more)
            small = (kind > 0) & (kind < _PADDING)
            if (event := small | (kind == 0)).any():
                places.append((at + np.where(small, 1, 2))[event])
                times.append(time[event])
            length = np.where(small, kind + 1, more // 4 + 1)
            length = np.where(kind >= _TIME_EXTEND, 2, length)
            length = np.where((kind == _PADDING) & (delta == 0), end - at, length)
            at = at + length
        if not places:
            return Found(np.zeros(0, np.int64), np.zeros(0, np.int64))
        where, when = np.concatenate(places), np.concatenate(times)
        order = np.argsort(where, kind="stable")
        return Found(where[order] * 4, when[order])

    @staticmethod
    def _advance(
        time: NDArray[np.int64],
        kind: NDArray[np.int64],
        delta: NDArray[np.int64],
        more: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """The times after an entry of a page: it has a difference, a longer one, or a time."""
        extend = (more << _DELTA_BITS) + delta
        step = np.where(kind == _TIME_EXTEND, extend, np.where(kind == _PADDING, 0, delta))
        # a time has 59 bits; the others are those of the page
        stamp = (time & ~((1 << 59) - 1)) | extend
        return np.where(kind == _TIME_STAMP, stamp, time + step)

    def _long(self, at: NDArray[np.int64]) -> NDArray[np.uint64]:
        low, high = self.words[at].astype(np.uint64), self.words[at + 1].astype(np.uint64)
        return low | high << np.uint64(32)

    def numbers(self, at: NDArray[np.int64]) -> NDArray[np.uint16]:
        """Which event each is."""
        return (self.words[at // 4] & 0xFFFF).astype(np.uint16)

    def block(self, at: NDArray[np.int64], size: int) -> NDArray[np.uint8]:
        """So many bytes from each place on."""
        found: NDArray[np.uint8] = sliding_window_view(self.bytes, size)[at]
        return found

    def fields(self, form: EventFormat, at: NDArray[np.int64]) -> NDArray[Any]:
        """The fields of events of one form."""
        return self.block(at, form.fields.itemsize).view(form.fields)[:, 0]

    def variable(
        self, at: NDArray[np.int64], place: NDArray[np.uint32], size: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """A field of varying length: its bytes, zero behind its end, and its lengths."""
        length = np.minimum((place >> 16).astype(np.int64), size)
        found = self.block(at + (place & 0xFFFF), size)
        return np.where(np.arange(size) < length[:, None], found, 0).astype(np.uint8), length


def page_size(header: str) -> int:
    """How large pages are, from the file events/header_page."""
    data = re.search(r"char data;\s*offset:(\d+);\s*size:(\d+);", header)
    if data is None:
        raise TraceError("expected the form of a page, with its data")
    if int(data[1]) != 16:
        raise TraceError(f"expected a page's data at its byte 16, not {data[1]} (64 bits)")
    return int(data[1]) + int(data[2])
