# SPDX-License-Identifier: GPL-2.0
"""A small netlink client: requests, dumps, events, and the kernel's words when it refuses.

For what runs inside a guest: the recorder, the benchmarks and the selftests.  Standard
library only, because every import costs there.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import socket
import struct
from collections.abc import Iterator, Sequence

NETLINK_ROUTE, NETLINK_GENERIC = 0, 16
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
NLM_F_REPLACE, NLM_F_EXCL, NLM_F_CREATE = 0x100, 0x200, 0x400
NLM_F_DUMP_INTR, NLM_F_ACK_TLVS = 0x10, 0x200
NLMSGERR_ATTR_MSG = 1
NLA_F_NESTED, NLA_TYPE_MASK = 0x8000, 0x3FFF
SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, NETLINK_CAP_ACK, NETLINK_EXT_ACK = 270, 1, 10, 11
SO_RCVBUFFORCE = 33
GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 16, 3
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME, CTRL_ATTR_MCAST_GROUPS = 1, 2, 7
CTRL_ATTR_MCAST_GRP_NAME, CTRL_ATTR_MCAST_GRP_ID = 1, 2
CLONE_NEWNET = 0x40000000

#: More than the kernel puts into one datagram.
LONGEST = 1 << 17
#: Messages that go into one send(), if there are many.
BATCH = 400

_libc = ctypes.CDLL(None, use_errno=True)


class Refused(OSError):
    """The kernel refused; `message` is what extack said."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(number, f"{os.strerror(number)}: {message}")
        self.message = message


def attribute(number: int, payload: bytes) -> bytes:
    """Return one netlink attribute."""
    return struct.pack("HH", len(payload) + 4, number) + payload + b"\0" * (-len(payload) % 4)


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (number, payload) of each attribute."""
    while len(data) >= 4:
        length, number = struct.unpack_from("HH", data)
        if length < 4:
            return
        yield number & NLA_TYPE_MASK, data[4:length]
        data = data[(length + 3) & ~3 :]


def numbers_of(header: str, prefix: str) -> dict[str, int]:
    """Return the enumeration whose names have this prefix, in the text of a UAPI header.

    "rate" is the number of PREFIX_RATE. The header counts from 1, and its last name is PREFIX_MAX.
    """
    words = header.partition(f"\t{prefix}")[2].partition("__")[0].split(",")
    names = [word.partition("=")[0].strip().removeprefix(prefix).lower() for word in words]
    return {name: number for number, name in enumerate(names, 1) if name}


def enter(namespace: int) -> None:
    """Have this process be in a network namespace, an open file."""
    if _libc.setns(namespace, CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@contextlib.contextmanager
def inside(netns: str | None) -> Iterator[None]:
    """Be in a named network namespace; sockets that are made there stay in it."""
    if netns is None:
        yield
        return
    home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        there = os.open("/run/netns/" + netns, os.O_RDONLY | os.O_CLOEXEC)
        try:
            enter(there)
        finally:
            os.close(there)
        yield
    finally:
        enter(home)
        os.close(home)


class Message:
    """One message: its type, its flags, and what follows its header."""

    def __init__(self, kind: int, flags: int, sequence: int, body: bytes) -> None:
        self.kind = kind
        self.flags = flags
        self.sequence = sequence
        self.body = body

    @property
    def interrupted(self) -> bool:
        """Tell whether the kernel says that the dump may be inconsistent."""
        return bool(self.flags & NLM_F_DUMP_INTR)

    @property
    def command(self) -> int:
        """The command, of generic netlink."""
        return self.body[0]

    @property
    def payload(self) -> bytes:
        """The attributes, of generic netlink."""
        return self.body[4:]

    def check(self) -> None:
        """Raise Refused if this is the end of a request that failed."""
        error = -struct.unpack_from("i", self.body)[0]
        if error == 0:
            return
        # behind the error there is, but for a dump, the header of the request
        rest = self.body[20 if self.kind == NLMSG_ERROR else 4 :]
        known = dict(attributes(rest)) if self.flags & NLM_F_ACK_TLVS else {}
        raise Refused(error, known.get(NLMSGERR_ATTR_MSG, b"").rstrip(b"\0").decode())


def _split(data: bytes) -> Iterator[Message]:
    while data:
        length, kind, flags, sequence, _ = struct.unpack_from("IHHII", data)
        yield Message(kind, flags, sequence, data[16:length])
        data = data[(length + 3) & ~3 :]


class Socket:
    """A netlink socket, in a named network namespace or in that of the process."""

    def __init__(self, protocol: int, netns: str | None = None, receive: int = 1 << 21) -> None:
        with inside(netns):
            self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        self.socket.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self.socket.setsockopt(SOL_NETLINK, NETLINK_CAP_ACK, 1)
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, receive)
        except PermissionError:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        self.socket.bind((0, 0))
        self.sequence = 0

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    def pack(self, kind: int, flags: int, body: bytes) -> bytes:
        """Return a request as bytes; several may be sent at once."""
        self.sequence += 1
        head = (16 + len(body), kind, NLM_F_REQUEST | flags, self.sequence, 0)
        return struct.pack("IHHII", *head) + body

    def steps(self, kind: int, flags: int, body: bytes) -> Iterator[list[Message]]:
        """Send a request; yield the messages of each read, between which others may act.

        The last of them is the end: an acknowledgment, or that of a dump.
        """
        self.socket.send(self.pack(kind, flags, body))
        expected = self.sequence
        while True:
            messages = []
            for message in _split(self.socket.recv(LONGEST)):
                if message.sequence != expected:
                    continue
                messages.append(message)
                if message.kind in (NLMSG_ERROR, NLMSG_DONE):
                    message.check()
                    yield messages
                    return
            yield messages

    def ask(self, kind: int, flags: int, body: bytes) -> list[Message]:
        """Send one request; return what answers it, or raise Refused."""
        return [message for step in self.steps(kind, flags, body) for message in step][:-1]

    def ask_all(self, requests: Sequence[tuple[int, int, bytes]]) -> None:
        """Send requests that only change something, many at once; raise the first error."""
        for begin in range(0, len(requests), BATCH):
            some = requests[begin : begin + BATCH]
            packed = [self.pack(kind, flags, body) for kind, flags, body in some[:-1]]
            kind, flags, body = some[-1]
            packed.append(self.pack(kind, flags | NLM_F_ACK, body))
            self.socket.send(b"".join(packed))
            last = False
            while not last:
                for message in _split(self.socket.recv(LONGEST)):
                    message.check()
                    last = message.sequence == self.sequence


class Family(Socket):
    """A family of generic netlink."""

    def __init__(self, name: str, netns: str | None = None, receive: int = 1 << 21) -> None:
        super().__init__(NETLINK_GENERIC, netns, receive)
        self.id = GENL_ID_CTRL
        self.groups: dict[str, int] = {}
        wanted = attribute(CTRL_ATTR_FAMILY_NAME, name.encode() + b"\0")
        for number, data in attributes(self.request(CTRL_CMD_GETFAMILY, wanted)[0].payload):
            if number == CTRL_ATTR_FAMILY_ID:
                self.id = struct.unpack("H", data)[0]
            elif number == CTRL_ATTR_MCAST_GROUPS:
                for _, group in attributes(data):
                    found = dict(attributes(group))
                    text = found[CTRL_ATTR_MCAST_GRP_NAME].rstrip(b"\0").decode()
                    self.groups[text] = struct.unpack("I", found[CTRL_ATTR_MCAST_GRP_ID])[0]

    @staticmethod
    def _body(command: int, payload: bytes) -> bytes:
        return struct.pack("BBH", command, 1, 0) + payload

    def request(self, command: int, payload: bytes = b"", flags: int = 0) -> list[Message]:
        """Send one request; return what answers it, or raise Refused."""
        return self.ask(self.id, flags | NLM_F_ACK, self._body(command, payload))

    def many(self, command: int, payloads: Sequence[bytes], flags: int = 0) -> None:
        """Send requests, many at once, without asking for answers; raise the first error."""
        for begin in range(0, len(payloads), BATCH):
            some = [
                self.pack(self.id, flags, self._body(command, payload))
                for payload in payloads[begin : begin + BATCH]
            ]
            self.socket.send(b"".join(some))
            with contextlib.suppress(BlockingIOError):
                for message in _split(self.socket.recv(LONGEST, socket.MSG_DONTWAIT)):
                    if message.kind == NLMSG_ERROR:
                        message.check()

    def dump_steps(self, command: int, payload: bytes = b"") -> Iterator[list[Message]]:
        """Dump, as in steps()."""
        return self.steps(self.id, NLM_F_DUMP, self._body(command, payload))

    def dump(self, command: int, payload: bytes = b"") -> list[Message]:
        """Dump all at once, without the end."""
        return self.ask(self.id, NLM_F_DUMP, self._body(command, payload))

    def join(self, group: str) -> None:
        """Join a multicast group."""
        self.socket.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, self.groups[group])

    def events(self) -> list[Message]:
        """Return the events that have come since the last call; fail if any was lost."""
        found: list[Message] = []
        while True:
            try:
                data = self.socket.recv(LONGEST, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return found
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                raise AssertionError("events were lost: " + os.strerror(errno.ENOBUFS)) from None
            found += [message for message in _split(data) if message.kind == self.id]
