# SPDX-License-Identifier: GPL-2.0
"""A small generic netlink client: requests, dumps in steps, events, extended errors."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import struct
from collections.abc import Iterator, Sequence

from .wale import (
    NETLINK_CAP_ACK,
    NETLINK_EXT_ACK,
    NLM_F_ACK,
    NLM_F_ACK_TLVS,
    NLM_F_DUMP,
    NLM_F_REQUEST,
    NLMSG_DONE,
    NLMSG_ERROR,
    NLMSGERR_ATTR_MSG,
    SOL_NETLINK,
    Refused,
    attribute,
    attributes,
)

NETLINK_GENERIC = 16
NETLINK_ADD_MEMBERSHIP = 1
NLM_F_DUMP_INTR = 0x10
NLMSGERR_ATTR_OFFS = 2
GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 16, 3
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME, CTRL_ATTR_MCAST_GROUPS = 1, 2, 7
CTRL_ATTR_MCAST_GRP_NAME, CTRL_ATTR_MCAST_GRP_ID = 1, 2
SO_RCVBUFFORCE = 33


class Message:
    """One message of a family: its command, its attributes as bytes, its flags."""

    def __init__(self, flags: int, body: bytes) -> None:
        self.flags = flags
        self.command = body[0]
        self.payload = body[4:]

    @property
    def interrupted(self) -> bool:
        """Tell whether the kernel says that the dump may be inconsistent."""
        return bool(self.flags & NLM_F_DUMP_INTR)


def _split(data: bytes) -> Iterator[tuple[int, int, int, bytes]]:
    while data:
        length, kind, flags, sequence, _ = struct.unpack_from("IHHII", data)
        yield kind, flags, sequence, data[16:length]
        data = data[(length + 3) & ~3 :]


def _refusal(body: bytes, flags: int, skip: int = 20) -> Refused | None:
    error = -struct.unpack_from("i", body)[0]
    if error == 0:
        return None
    text = ""
    if flags & NLM_F_ACK_TLVS:
        # after the error and, but for a dump, the header of the request
        for number, payload in attributes(body[skip:]):
            if number == NLMSGERR_ATTR_MSG:
                text = payload.rstrip(b"\0").decode()
    return Refused(error, text)


class Client:
    """A netlink socket of one family, in the network namespace in which it is made."""

    def __init__(self, family: str, version: int = 1, receive: int = 1 << 21) -> None:
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.socket.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self.socket.setsockopt(SOL_NETLINK, NETLINK_CAP_ACK, 1)
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, receive)
        except PermissionError:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        self.socket.bind((0, 0))
        self.version = version
        self.sequence = 0
        self.family = GENL_ID_CTRL
        self.groups: dict[str, int] = {}
        name = attribute(CTRL_ATTR_FAMILY_NAME, family.encode() + b"\0")
        self._describe(self.request(CTRL_CMD_GETFAMILY, name)[0].payload)

    def _describe(self, payload: bytes) -> None:
        for number, data in attributes(payload):
            if number == CTRL_ATTR_FAMILY_ID:
                self.family = struct.unpack("H", data)[0]
            elif number == CTRL_ATTR_MCAST_GROUPS:
                for _, group in attributes(data):
                    found = dict(attributes(group))
                    name = found[CTRL_ATTR_MCAST_GRP_NAME].rstrip(b"\0").decode()
                    self.groups[name] = struct.unpack("I", found[CTRL_ATTR_MCAST_GRP_ID])[0]

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    def message(self, command: int, payload: bytes, flags: int) -> bytes:
        """Return a request as bytes; several may be sent at once."""
        self.sequence += 1
        body = struct.pack("BBH", command, self.version, 0) + payload
        head = (16 + len(body), self.family, NLM_F_REQUEST | flags, self.sequence, 0)
        return struct.pack("IHHII", *head) + body

    def request(self, command: int, payload: bytes = b"", flags: int = 0) -> list[Message]:
        """Send one request; return what answers it, or raise Refused."""
        self.socket.send(self.message(command, payload, flags | NLM_F_ACK))
        answers: list[Message] = []
        while True:
            for kind, flags_in, sequence, body in _split(self.socket.recv(1 << 16)):
                if sequence != self.sequence:
                    continue
                if kind == NLMSG_ERROR:
                    refused = _refusal(body, flags_in)
                    if refused:
                        raise refused
                    return answers
                answers.append(Message(flags_in, body))

    def many(self, command: int, payloads: Sequence[bytes], flags: int = 0) -> None:
        """Send requests, many at once, without asking for answers; raise the first error."""
        for begin in range(0, len(payloads), 400):
            some = [self.message(command, p, flags) for p in payloads[begin : begin + 400]]
            self.socket.send(b"".join(some))
            with contextlib.suppress(BlockingIOError):
                data = self.socket.recv(1 << 16, socket.MSG_DONTWAIT)
                for kind, flags_in, _, body in _split(data):
                    refused = _refusal(body, flags_in) if kind == NLMSG_ERROR else None
                    if refused:
                        raise refused

    def dump_steps(self, command: int, payload: bytes = b"") -> Iterator[list[Message]]:
        """Dump; yield the messages of each read, between which others may act.

        The last of them is the end of the dump, as a message without attributes.
        """
        self.socket.send(self.message(command, payload, NLM_F_DUMP))
        expected = self.sequence
        while True:
            messages: list[Message] = []
            for kind, flags, sequence, body in _split(self.socket.recv(1 << 16)):
                if sequence != expected:
                    continue
                if kind == NLMSG_ERROR or (kind == NLMSG_DONE and body[:4] != bytes(4)):
                    skip = 20 if kind == NLMSG_ERROR else 4
                    raise _refusal(body, flags, skip) or AssertionError("an error without one")
                if kind == NLMSG_DONE:
                    yield [*messages, Message(flags, bytes(4))]
                    return
                messages.append(Message(flags, body))
            yield messages

    def dump(self, command: int, payload: bytes = b"") -> list[Message]:
        """Dump all at once, without the end."""
        return [m for step in self.dump_steps(command, payload) for m in step][:-1]

    def join(self, group: str) -> None:
        """Join a multicast group."""
        self.socket.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, self.groups[group])

    def events(self) -> list[Message]:
        """Return the events that have come since the last call; fail if any was lost."""
        found: list[Message] = []
        while True:
            try:
                data = self.socket.recv(1 << 16, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return found
            except OSError as error:
                if error.errno == errno.ENOBUFS:
                    raise AssertionError(
                        "events were lost: " + os.strerror(errno.ENOBUFS)
                    ) from None
                raise
            for kind, flags, _, body in _split(data):
                if kind == self.family:
                    found.append(Message(flags, body))
