# SPDX-License-Identifier: GPL-2.0
"""SCONE on aioquic (draft-ietf-scone-protocol): rate advice that the network writes into QUIC.

A sender puts a SCONE packet first in some of its datagrams, if its peer has said that it reads
them. An element on the path lowers the rate in it; the receiver counts what arrives, if the rest of
the datagram is genuine. The library knows nothing of this, so its connection is extended here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from aioquic._buffer import Buffer
from aioquic.quic.connection import NetworkAddress, QuicConnection, QuicConnectionError
from aioquic.quic.packet import QuicErrorCode, QuicFrameType

from wale_lab.models import scone as draft

PERIOD_S = draft.PERIOD_NS / 1e9
#: The transport parameter scone_supported: its number as QUIC writes it, and no value.
_SAID = (0x4000 | draft.TRANSPORT_PARAMETER).to_bytes(2, "big") + b"\0"

#: So many datagrams of a connection have a SCONE packet whatever the interval is.
_FIRST = 5


class Packet(NamedTuple):
    """What is in a SCONE packet."""

    signal: int
    destination: bytes
    source: bytes
    length: int


def decode(data: bytes) -> Packet | None:
    """The SCONE packet at the beginning of a datagram; None if there is no whole one."""
    if draft.kind_of(data) is not draft.Kind.SCONE:
        return None
    destination, source = _identifiers(data)
    length = 7 + len(destination) + len(source)
    return Packet(draft.read(data), destination, source, length)


def _identifiers(datagram: bytes) -> tuple[bytes, bytes]:
    """Both connection identifiers of a long header."""
    at = 6 + datagram[5]
    return datagram[6:at], datagram[at + 1 : at + 1 + datagram[at]]


def _addressed(rest: bytes, destination: bytes) -> bool:
    """Is this packet of QUIC for the connection identifier?"""
    if rest[:1] and rest[0] & 0x80:
        destination = bytes([len(destination)]) + destination
        return rest[5 : 5 + len(destination)] == destination
    return len(rest) > len(destination) and rest[1 : 1 + len(destination)] == destination


def _parameter(data: bytes) -> bytes | None:
    """The value of scone_supported among transport parameters."""
    buffer = Buffer(data=data)
    while not buffer.eof():
        number = buffer.pull_uint_var()
        value = buffer.pull_bytes(buffer.pull_uint_var())
        if number == draft.TRANSPORT_PARAMETER:
            return value
    return None


class Connection(QuicConnection):
    """A connection that sends SCONE packets at an interval; a client's says that it reads them."""

    interval_s = 5.0
    """of all connections of this process; the draft asks for two in 67 s at least"""
    receiver: Callable[[float, float], None] | None = None
    """called with the time and the rate in bit/s, when advice arrives"""

    _peer_reads = False
    _answered = False
    _processed = False
    _count = 0
    _next = 0.0

    def _serialize_transport_parameters(self) -> bytes:
        said: bytes = super()._serialize_transport_parameters()
        return said + _SAID if self._is_client else said

    def _parse_transport_parameters(self, data: bytes, from_session_ticket: bool = False) -> None:
        super()._parse_transport_parameters(data, from_session_ticket)
        if from_session_ticket:
            return  # it has to be said on each connection
        value = _parameter(data)
        if value:
            raise QuicConnectionError(
                error_code=QuicErrorCode.TRANSPORT_PARAMETER_ERROR,
                frame_type=QuicFrameType.CRYPTO,
                reason_phrase=f"scone_supported has {len(value)} bytes, expected none",
            )
        self._peer_reads = value is not None

    def datagrams_to_send(self, now: float) -> list[tuple[bytes, NetworkAddress]]:
        """As the library has them; one may begin with a SCONE packet."""
        sent = super().datagrams_to_send(now)
        if self._is_client and not self._answered:
            return [(data + draft.INDICATION, address) for data, address in sent]
        if not sent or not self._peer_reads or (self._count >= _FIRST and now < self._next):
            return sent
        (data, address), *others = sent
        packet = draft.packet(
            *(_identifiers(data) if data[0] & draft.LONG_HEADER else (self._peer_cid.cid, b""))
        )
        path = self._network_paths[0]
        if not path.is_validated:
            if not path.can_send(len(packet)):
                return sent
            path.bytes_sent += len(packet)
        self._count += 1
        self._next = now + self.interval_s
        return [(packet + data, address), *others]

    def receive_datagram(self, data: bytes, addr: NetworkAddress, now: float) -> None:
        """Take the SCONE packet off; what it advises counts if the library accepts the rest."""
        self._answered = True
        packet = decode(data)
        rest = data[packet.length :] if packet else data
        self._processed = False
        super().receive_datagram(rest, addr, now)
        if not packet or not self._processed or not _addressed(rest, packet.destination):
            return
        if packet.signal != draft.UNKNOWN and self.receiver:
            self.receiver(now, 8 * draft.rate_of(packet.signal))

    def _payload_received(self, *args: Any, **kwargs: Any) -> tuple[bool, bool]:
        self._processed = True
        found: tuple[bool, bool] = super()._payload_received(*args, **kwargs)
        return found


def extend(module: ModuleType) -> None:
    """Let a module of the library make these connections instead of its own."""
    vars(module)["QuicConnection"] = Connection


#: What a receiver makes of the advice of one period; the draft has it that the lowest counts.
STATISTICS: dict[str, Callable[[list[float]], float]] = {
    "min": min,
    "mean": lambda rates: sum(rates) / len(rates),
    "p25": lambda rates: sorted(rates)[(len(rates) - 1) // 4],
    "last": lambda rates: rates[-1],
}


class Advice:
    """What has arrived in the last period."""

    def __init__(self, statistic: str = "min", period_s: float = PERIOD_S) -> None:
        self._of = STATISTICS[statistic]
        self._period_s = period_s
        self._heard: deque[tuple[float, float]] = deque()
        self.count = 0

    def heard(self, now: float, rate: float) -> None:
        """Another one."""
        self._heard.append((now, rate))
        self.count += 1

    def rate(self, now: float) -> float | None:
        """In bit/s; None if there was none in the period."""
        while self._heard and self._heard[0][0] <= now - self._period_s:
            self._heard.popleft()
        return self._of([rate for _, rate in self._heard]) if self._heard else None
