# SPDX-License-Identifier: GPL-2.0
"""What a launcher and the machines that it starts say to each other, over pipes.

A frame is a head, with the version, the kind of the frame and the length of what follows.  Each
side checks all three, so that neither takes what a shell prints on login, or half a frame, for
an answer.
"""

from __future__ import annotations

import io
import json
import os
import select
import struct
import tarfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wale_lab.engines.base import EngineError

_MAGIC = b"WALELAB1"
_HEAD = struct.Struct(">8sBI")
_MESSAGE, _FILES = 1, 2
#: No frame is longer; files are sent in pieces.
FRAME_MAX = 1 << 28
_PIECE = 1 << 20


class FrameError(EngineError):
    """What the other side sent is not what it should be."""


class Frames:
    """Both directions of a conversation; `name` is the other side."""

    def __init__(self, name: str, incoming: int, outgoing: int, patience_s: float | None) -> None:
        self.name, self.incoming, self.outgoing = name, incoming, outgoing
        self.patience_s = patience_s  # so long may it be silent, or take nothing
        self._sending = threading.Lock()
        if patience_s is not None and outgoing >= 0:
            os.set_blocking(outgoing, False)  # a large write would wait for all of it

    def say(self, message: dict[str, Any]) -> None:
        """Send a message."""
        self._send(_MESSAGE, json.dumps(message).encode())

    def hear(self) -> dict[str, Any]:
        """The next message."""
        try:
            message = json.loads(self._receive(_MESSAGE))
        except ValueError as error:
            raise FrameError(f"{self.name}: a message is not JSON: {error}") from None
        if not isinstance(message, dict):
            raise FrameError(f"{self.name}: expected an object as a message")
        return message

    def send_files(self, folder: Path, names: Sequence[str]) -> None:
        """Send files and folders that are in a folder."""
        with (
            io.BufferedWriter(_Pieces(self), _PIECE) as pieces,
            tarfile.open(mode="w|", fileobj=pieces) as tar,
        ):
            for name in names:
                tar.add(folder / name, arcname=name, filter=_kept)
        self._send(_FILES, b"")

    def receive_files(self, folder: Path) -> None:
        """Put what the other side sends into a folder; nothing outside it is written.

        EOFError if it leaves before the end.
        """
        sent = io.BufferedReader(_Files(self), _PIECE)
        try:
            with tarfile.open(mode="r|", fileobj=sent) as tar:
                tar.extractall(folder, members=(_checked(info, folder) for info in tar))
            while sent.read(_PIECE):  # up to the frame that ends them
                pass
        except tarfile.TarError as error:
            raise FrameError(f"{self.name}: its files are damaged: {error}") from None

    def _send(self, kind: int, payload: bytes | memoryview) -> None:
        if len(payload) > FRAME_MAX:
            raise FrameError(f"{self.name}: a message of {len(payload)} bytes is too long")
        with self._sending:
            for part in (memoryview(_HEAD.pack(_MAGIC, kind, len(payload))), memoryview(payload)):
                while part:
                    part = part[self._write(part) :]

    def _write(self, part: memoryview) -> int:
        """Send the beginning of it; how much that was."""
        _, ready, _ = select.select([], [self.outgoing], [], self.patience_s)
        if not ready:
            raise FrameError(
                f"{self.name}: it took nothing of what is sent to it for {self.patience_s:g} s"
            )
        return os.write(self.outgoing, part)

    def _receive(self, wanted: int) -> bytes:
        """What a frame of this kind has."""
        head = self._bytes(_HEAD.size, "a frame")
        magic, kind, length = _HEAD.unpack(head)
        if magic != _MAGIC:
            raise FrameError(f"{self.name}: expected wale-lab to answer, got {self._text(head)!r}")
        if kind != wanted or length > FRAME_MAX:
            raise FrameError(f"{self.name}: a frame of kind {kind} with {length} bytes is damaged")
        return self._bytes(length, f"a frame of {length} bytes")

    def _text(self, begun: bytes) -> str:
        """What it printed instead of a frame, for a message."""
        ready, _, _ = select.select([self.incoming], [], [], 1)
        more = os.read(self.incoming, 200) if ready else b""
        return (begun + more).decode(errors="replace").strip().partition("\n")[0]

    def _bytes(self, count: int, of: str) -> bytes:
        parts: list[bytes] = []
        left = count
        while left:
            ready, _, _ = select.select([self.incoming], [], [], self.patience_s)
            if not ready:
                raise FrameError(f"{self.name}: it was silent for {self.patience_s:g} s")
            part = os.read(self.incoming, min(left, _PIECE))
            if not part:
                got = b"".join(parts)
                if got and not got.startswith(_MAGIC[: len(got)]) and of == "a frame":
                    raise FrameError(
                        f"{self.name}: expected wale-lab to answer, got "
                        f"{got.decode(errors='replace').strip()!r}"
                    )
                raise EOFError(f"{count - left} of the {count} bytes of {of}" if parts else "")
            parts.append(part)
            left -= len(part)
        return b"".join(parts)


def _kept(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """No sockets, FIFOs and devices: they mean nothing elsewhere."""
    inside = info.issym() and not info.linkname.startswith("/")
    return info if info.isfile() or info.isdir() or inside else None


def _checked(info: tarfile.TarInfo, folder: Path) -> tarfile.TarInfo:
    """An entry that stays in the folder, with the links that are there by now, and is ours."""
    places = [info.name]
    if info.issym():
        places.append(str(Path(info.name).parent / info.linkname))
    elif not (info.isfile() or info.isdir()):
        raise tarfile.TarError(f"{info.name} is neither a file nor a folder")
    top = Path(os.path.realpath(folder))
    if not all(Path(os.path.realpath(top / place)).is_relative_to(top) for place in places):
        raise tarfile.TarError(f"{info.name} leads out of its folder")
    info.uid, info.gid, info.uname, info.gname = os.getuid(), os.getgid(), "", ""
    return info


class _Pieces(io.RawIOBase):
    """A file whose content becomes frames."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = memoryview(data)
        self._frames._send(_FILES, piece)
        return len(piece)


class _Files(io.RawIOBase):
    """A file whose content comes in frames; one without any ends it."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._left = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._left and not self._ended:
            self._left = self._frames._receive(_FILES)
            self._ended = not self._left
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count
