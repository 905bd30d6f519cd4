# SPDX-License-Identifier: GPL-2.0
"""The TCP connections between the controllers of several machines, one for each two of them.

Each machine listens on its address until all are connected.  Of two machines the one with the
higher number connects.  Both then send a greeting with a secret of the run, which the launcher gave
to both: what anybody else sends is not heard.
"""

from __future__ import annotations

import hmac
import socket
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from wale_lab.engines.base import EngineError
from wale_lab.engines.together import Lost

SECRET_BYTES = 32
_GREETING = struct.Struct(f">8s{SECRET_BYTES}sI")
_MAGIC = b"WALEWIN1"

#: How long all may take to connect.
CONNECT_S = 30.0
#: In seconds: a connection that waits is tried after so long, and so often before it breaks.
_IDLE_S, _PROBE_S, _PROBES = 5, 5, 3


@dataclass(frozen=True)
class Address:
    """Where the controller of a machine listens."""

    name: str
    host: str
    port: int


def listen(host: str) -> socket.socket:
    """A socket that others connect to, on an address of this machine."""
    try:
        family = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, 0), family=family)
    except OSError as error:
        why = error.strerror or str(error)
        raise EngineError(f"cannot listen on {host}: {why}: expected an address of it") from None


def connect_all(
    listener: socket.socket, machines: Sequence[Address], number: int, secret: bytes
) -> dict[int, socket.socket]:
    """The connections of machine `number`, by the number of the other one; closes the listener."""
    deadline = time.monotonic() + CONNECT_S
    links: dict[int, socket.socket] = {}
    with listener:
        for other in range(number):
            links[other] = _connected(machines[other], number, other, secret, deadline)
        while len(links) < len(machines) - 1:
            missing = [m.name for n, m in enumerate(machines) if n != number and n not in links]
            link, other = _accepted(listener, number, secret, deadline, missing)
            if number < other < len(machines) and other not in links:
                links[other] = link
            else:
                link.close()
    for link in links.values():
        _set_options(link)
    return links


def _connected(
    to: Address, number: int, other: int, secret: bytes, deadline: float
) -> socket.socket:
    try:
        link = socket.create_connection((to.host, to.port), deadline - time.monotonic())
    except OSError as error:
        why = error.strerror or str(error)
        raise Lost(f"cannot connect to {to.name} ({to.host} port {to.port}): {why}") from None
    link.sendall(_GREETING.pack(_MAGIC, secret, number))
    if _greeting(link, secret, deadline) != other:
        raise Lost(f"{to.name} ({to.host} port {to.port}) is no machine of this run")
    return link


def _accepted(
    listener: socket.socket, number: int, secret: bytes, deadline: float, missing: Sequence[str]
) -> tuple[socket.socket, int]:
    """The next machine that connects, and its number; strangers are not heard."""
    while (left := deadline - time.monotonic()) > 0:
        listener.settimeout(left)
        with suppress(TimeoutError):
            link, _ = listener.accept()
            other = _greeting(link, secret, deadline)
            if other is not None:
                link.sendall(_GREETING.pack(_MAGIC, secret, number))
                return link, other
            link.close()
    raise Lost(f"{' and '.join(missing)} did not connect within {CONNECT_S:g} s")


def _greeting(link: socket.socket, secret: bytes, deadline: float) -> int | None:
    """The number that a machine of this run says; None: it is not one."""
    data = b""
    with suppress(OSError):
        while len(data) < _GREETING.size:
            link.settimeout(max(0.001, min(5.0, deadline - time.monotonic())))
            part = link.recv(_GREETING.size - len(data))
            if not part:
                break
            data += part
    if len(data) < _GREETING.size:
        return None
    magic, theirs, number = _GREETING.unpack(data)
    good = magic == _MAGIC and hmac.compare_digest(theirs, secret)
    return int(number) if good else None


def _set_options(link: socket.socket) -> None:
    """A window waits for each batch, and a machine that is gone is to be noticed."""
    link.settimeout(None)
    for level, option, value in (
        (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
        (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _IDLE_S),
        (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _PROBE_S),
        (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _PROBES),
    ):
        link.setsockopt(level, option, value)
