# SPDX-License-Identifier: GPL-2.0
"""Writes pcapng capture files, many packets at a time.

The format is that of draft-ietf-opsawg-pcapng: a section header, a description of each
interface, then a block for each packet.  Packets begin with their IP header
(LINKTYPE_RAW), times are ns.  We do not use a library because those that write such files
take tens of microseconds per packet, longer than the kernel takes to send it; the
tests read the files back with a library.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_MAGIC = 0x1A2B3C4D
_LINKTYPE_RAW = 101
# options of any block, of the section, of an interface
_COMMENT, _APPLICATION, _NAME, _RESOLUTION, _OFFSET = 1, 4, 2, 9, 14
_NANOSECONDS = 9
#: The fixed part of a packet's block: its type and length, and its five numbers.
_HEAD_WORDS = 7


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value)


def _block(kind: int, body: bytes, options: Sequence[bytes]) -> bytes:
    body += b"".join(options) + (bytes(4) if options else b"")
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


class Writer:
    """A capture file."""

    def __init__(
        self, file: BinaryIO, interfaces: Sequence[str], snap_len: int, offset_s: int = 0
    ) -> None:
        """`offset_s` is added to all times, which cannot be below 0 in the file."""
        self.file = file
        body = struct.pack("<IHHq", _MAGIC, 1, 0, -1)
        file.write(_block(_SECTION, body, [_option(_APPLICATION, b"wale-lab")]))
        for name in interfaces:
            options = [_option(_NAME, name.encode()), _option(_RESOLUTION, bytes([_NANOSECONDS]))]
            if offset_s:
                options.append(_option(_OFFSET, struct.pack("<q", offset_s)))
            body = struct.pack("<HHI", _LINKTYPE_RAW, 0, snap_len)
            file.write(_block(_INTERFACE, body, options))
        self.offset_ns = offset_s * 10**9

    def write(
        self,
        interface: NDArray[np.integer],
        time_ns: NDArray[np.int64],
        length: NDArray[np.integer],
        head: NDArray[np.uint8],
        head_len: NDArray[np.int64],
        comment: NDArray[np.integer],
        comments: Sequence[str],
    ) -> None:
        """Packets: the first `head_len` bytes of each, of `length`; the number of its comment.

        An empty comment is none.
        """
        options = [
            _option(_COMMENT, words.encode()) + bytes(4) if words else b"" for words in comments
        ]
        option_len = np.array([len(text) for text in options], np.int64)[comment]
        padded = head_len + -head_len % 4
        size = 4 * _HEAD_WORDS + padded + option_len + 4
        end = np.cumsum(size)
        begin = end - size
        out = np.zeros(int(end[-1]) if len(end) else 0, np.uint8)
        words = out.view("<u4")
        stamp = (time_ns - self.offset_ns).astype(np.uint64)
        columns = (
            np.full(len(size), _PACKET),
            size,
            interface,
            stamp >> np.uint64(32),
            stamp & np.uint64(0xFFFFFFFF),
            head_len,
            length,
        )
        for number, column in enumerate(columns):
            words[begin // 4 + number] = column
        words[end // 4 - 1] = size
        inside = np.arange(head.shape[1]) < head_len[:, None]
        place = begin[:, None] + 4 * _HEAD_WORDS + np.arange(head.shape[1])
        out[place[inside]] = head[inside]
        self._comment(out, begin + 4 * _HEAD_WORDS + padded, comment, options)
        self.file.write(out.tobytes())

    @staticmethod
    def _comment(
        out: NDArray[np.uint8],
        at: NDArray[np.int64],
        comment: NDArray[np.integer],
        options: Sequence[bytes],
    ) -> None:
        for number, option in enumerate(options):
            if option:
                place = at[comment == number][:, None] + np.arange(len(option))
                out[place] = np.frombuffer(option, np.uint8)
