# SPDX-License-Identifier: GPL-2.0
"""Messages to the kernel as they are, right or wrong, and what it answers to each."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Iterator, Sequence

from wale_lab.fuzz.values import Node
from wale_lab.netlink import (
    LONGEST,
    NLM_F_ACK,
    NLM_F_ACK_TLVS,
    NLM_F_DUMP,
    NLMSG_DONE,
    NLMSG_ERROR,
    NLMSGERR_ATTR_MSG,
    attributes,
)

NLMSGERR_ATTR_OFFS = 2
NLM_F_REQUEST = 1
HEADER = struct.Struct("IHHII")
NOBODY = 65534
SO_SNDBUFFORCE = 32
#: For a batch, of which a few messages may be as long as they can be.
ROOM = 1 << 22


class Message:
    """One request, and what became of it."""

    __slots__ = ("data", "error", "nodes", "offset", "origin", "parts", "text", "torn", "went")

    def __init__(self, data: bytearray, origin: str, nodes: list[Node] | None = None) -> None:
        self.data = data
        self.origin = origin  # grammar, mutated, random
        self.nodes = nodes  # attributes, of a message of the grammar
        self.torn = False  # its own length is wrong: nobody knows who answers
        self.error: int | None = None  # 0 is success; None: no answer
        self.text = ""
        self.offset = 0  # of the attribute that the kernel blames
        self.parts: list[bytes] = []  # other answers, without their netlink headers
        self.went = 0  # how often it ended

    @property
    def kind(self) -> int:
        """The type, of netlink; 0 of what is too short to have one."""
        return int.from_bytes(self.data[4:6], "little")

    @property
    def flags(self) -> int:
        """The flags, of netlink."""
        return int.from_bytes(self.data[6:8], "little")

    @property
    def refused(self) -> bool:
        """Tell whether there was an error; who asked for no ACK hears of errors only."""
        return bool(self.error)

    def missing(self) -> bool:
        """Tell whether the kernel owes an answer, or has given more than one."""
        if self.torn:
            return False
        return self.went != 1 if self.flags & NLM_F_ACK else self.went > 1

    def answered(self, kind: int, flags: int, body: bytes) -> None:
        """Take one message of the kernel."""
        if kind not in (NLMSG_ERROR, NLMSG_DONE):
            self.parts.append(body)
            return
        self.went += 1
        self.error = -struct.unpack_from("i", body)[0] if len(body) >= 4 else 0
        if self.error and flags & NLM_F_ACK_TLVS:
            known = dict(attributes(body[20 if kind == NLMSG_ERROR else 4 :]))
            self.text = known.get(NLMSGERR_ATTR_MSG, b"").rstrip(b"\0").decode()
            if NLMSGERR_ATTR_OFFS in known:
                self.offset = struct.unpack("I", known[NLMSGERR_ATTR_OFFS])[0]


def head(kind: int, flags: int) -> bytes:
    """Return the header of a request; its length and number are filled in when it goes."""
    return HEADER.pack(0, kind, NLM_F_REQUEST | flags, 0, 0)


def walk(
    data: bytes | bytearray | memoryview, begin: int, end: int
) -> Iterator[tuple[int, int, int]]:
    """Yield (number with flags, begin, end of the payload), as far as the lengths go."""
    while begin + 4 <= end:
        length, number = struct.unpack_from("HH", data, begin)
        if length < 4 or begin + length > end:
            return
        yield number, begin + 4, begin + length
        begin += (length + 3) & ~3


class Lost(Exception):
    """The kernel had no room for its answers."""


class Wire:
    """A netlink socket, and as whom to send."""

    def __init__(self, sock: socket.socket, name: str = "root", uid: int = 0) -> None:
        self.socket = sock
        sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, ROOM)
        self.name = name
        self.uid = uid
        self.sequence = 0
        self._buffer = bytearray(LONGEST)

    @contextlib.contextmanager
    def _sender(self) -> Iterator[None]:
        if self.uid:
            os.seteuid(self.uid)  # without root's effective capabilities
        try:
            yield
        finally:
            if self.uid:
                os.seteuid(0)

    def exchange(self, messages: Sequence[Message]) -> None:
        """Send messages, all at once, and take the answers to each."""
        waiting = {}
        stream = bytearray()
        for message in messages:
            self.sequence += 1
            waiting[self.sequence] = message
            if len(message.data) >= HEADER.size:
                if not message.torn:
                    struct.pack_into("I", message.data, 0, len(message.data))
                struct.pack_into("II", message.data, 8, self.sequence, 0)
            stream += message.data
            stream += bytes(-len(message.data) % 4)
        with self._sender():
            self.socket.send(stream)
            for kind, flags, sequence, body in self.replies():
                if sequence in waiting:
                    waiting[sequence].answered(kind, flags, body)

    def replies(self, reads: int = 1 << 30) -> Iterator[tuple[int, int, int, bytes]]:
        """Yield (type, flags, number, body) of what is there now, of so many reads at most."""
        buffer = self._buffer
        for _ in range(reads):
            try:
                size = self.socket.recv_into(buffer, 0, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except OSError as error:
                raise Lost(str(error)) from error
            begin = 0
            while begin + HEADER.size <= size:
                length, kind, flags, sequence, _ = HEADER.unpack_from(buffer, begin)
                yield kind, flags, sequence, bytes(buffer[begin + HEADER.size : begin + length])
                begin += (length + 3) & ~3

    def ask(self, kind: int, flags: int, body: bytes) -> Message:
        """Send one good request; return it with its answers."""
        message = Message(bytearray(head(kind, NLM_F_ACK | flags) + body), "own")
        self.exchange([message])
        return message

    def dump(self, kind: int, body: bytes) -> list[bytes]:
        """Return the bodies of a dump."""
        message = self.ask(kind, NLM_F_DUMP, body)
        if message.error != 0:
            raise Lost(f"a dump failed with {message.error}: {message.text}")
        return message.parts
