# SPDX-License-Identifier: GPL-2.0
"""Generic netlink, as little of it as a recorder or a benchmark needs: standard library only.

Runs inside the guest, beside agent.py, where every import costs.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from collections.abc import Iterable, Iterator

#: Forms of an attribute's value.
NUMBER, BIG16, TEXT = "number", "big16", "text"

REQUEST, ACK, DUMP = 0x1, 0x4, 0x300
_DUMP_INTERRUPTED = 0x10
_ERROR, _DONE = 2, 3
_CONTROL, _GET_FAMILY = 16, 3
_FAMILY_ID, _FAMILY_NAME = 1, 2
_TYPE_MASK = 0x3FFF
_CLONE_NEWNET = 0x40000000
_LONGEST = 1 << 16  # more than a kernel puts into a datagram of a dump

_libc = ctypes.CDLL(None, use_errno=True)


def numbers_of(header: str, prefix: str) -> dict[str, int]:
    """The enumeration whose names have this prefix, in the text of a UAPI header.

    "rate" is the number of PREFIX_RATE. The header counts from 1, and its last name is PREFIX_MAX.
    """
    words = header.partition(f"\t{prefix}")[2].partition("__")[0].split(",")
    names = [word.partition("=")[0].strip().removeprefix(prefix).lower() for word in words]
    return {name: number for number, name in enumerate(names, 1) if name}


class NetlinkError(OSError):
    """What the kernel answered."""


def attribute(number: int, value: bytes) -> bytes:
    """One attribute, padded."""
    return struct.pack("HH", 4 + len(value), number) + value + b"\0" * (-len(value) % 4)


def u32(number: int, value: int) -> bytes:
    """An attribute of 32 bits."""
    return attribute(number, struct.pack("I", value))


def u64(number: int, value: int) -> bytes:
    """An attribute of 64 bits."""
    return attribute(number, struct.pack("Q", value))


def attributes_of(data: bytes) -> dict[int, bytes]:
    """The attributes in a message."""
    result = {}
    while len(data) >= 4:
        length, number = struct.unpack_from("HH", data)
        if length < 4:
            break
        result[number & _TYPE_MASK] = data[4:length]
        data = data[length + (-length % 4) :]
    return result


def show(form: str, value: bytes) -> str:
    """An attribute's value as text."""
    if form == TEXT:
        return value.rstrip(b"\0").decode()
    return str(int.from_bytes(value, "big" if form == BIG16 else "little"))


def _messages(data: memoryview) -> Iterator[tuple[int, int, bytes]]:
    """Type, flags and content of the messages in a datagram."""
    while len(data) >= 16:
        length, kind, flags, _, _ = struct.unpack_from("IHHII", data)
        yield kind, flags, bytes(data[16:length])
        data = data[length + (-length % 4) :]


def _socket_in(netns: str | None) -> socket.socket:
    """A generic netlink socket in a named namespace; it stays there."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if netns is not None:
            there = os.open("/run/netns/" + netns, os.O_RDONLY | os.O_CLOEXEC)
            try:
                _enter(there)
            finally:
                os.close(there)
        made = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)  # NETLINK_GENERIC
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        made.bind((0, 0))
        return made
    finally:
        _enter(home)
        os.close(home)


def _enter(namespace: int) -> None:
    if _libc.setns(namespace, _CLONE_NEWNET):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


class Family:
    """A generic netlink family, seen from a namespace."""

    def __init__(self, name: str, netns: str | None = None) -> None:
        self.socket = _socket_in(netns)
        self.buffer = bytearray(_LONGEST)
        wanted = attribute(_FAMILY_NAME, name.encode() + b"\0")
        try:
            (found,) = self._ask(_CONTROL, _GET_FAMILY, REQUEST | ACK, wanted)
        except NetlinkError as error:
            raise NetlinkError(error.errno, f"family {name}: {error.strerror}") from None
        self.id = int.from_bytes(found[_FAMILY_ID], "little")

    def message(self, command: int, flags: int, content: bytes, kind: int | None = None) -> bytes:
        """A whole message; several can go into one send()."""
        body = struct.pack("BBH", command, 1, 0) + content
        kind = self.id if kind is None else kind
        return struct.pack("IHHII", 16 + len(body), kind, flags, 0, 0) + body

    def send(self, messages: Iterable[bytes]) -> None:
        """Messages that were asked to be answered by errors alone; OSError names the first."""
        self.socket.send(b"".join(messages))

    def dump(self, command: int, content: bytes = b"") -> list[dict[int, bytes]]:
        """All objects; again if they changed meanwhile."""
        for _ in range(10):
            try:
                return self._ask(self.id, command, REQUEST | DUMP, content)
            except InterruptedError:
                continue
        return []

    def do(self, command: int, content: bytes) -> list[dict[int, bytes]]:
        """One request, and what is answered before its acknowledgement."""
        return self._ask(self.id, command, REQUEST | ACK, content)

    def wait_for_ack(self) -> None:
        """Read answers up to the next acknowledgement."""
        self._answers()

    def _ask(self, kind: int, command: int, flags: int, content: bytes) -> list[dict[int, bytes]]:
        self.socket.send(self.message(command, flags, content, kind))
        return self._answers()

    def _answers(self) -> list[dict[int, bytes]]:
        result: list[dict[int, bytes]] = []
        interrupted = False
        while True:
            length = self.socket.recv_into(self.buffer)
            for kind, flags, content in _messages(memoryview(self.buffer)[:length]):
                interrupted |= bool(flags & _DUMP_INTERRUPTED)
                if kind in (_ERROR, _DONE):
                    error = -struct.unpack_from("i", content)[0]
                    if error:
                        raise NetlinkError(error, os.strerror(error))
                    if interrupted:
                        raise InterruptedError
                    return result
                result.append(attributes_of(content[4:]))
