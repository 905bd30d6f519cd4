# SPDX-License-Identifier: GPL-2.0
"""Rate advice in QUIC packets, as the IETF's SCONE has it: the reference for the kernel.

All numbers are those of the draft named by DRAFT, and for Python they are only here; for C they
are in kmod/include/net/scone.h.  Rates are whole bytes/s, arithmetic is exact.

A SCONE packet is the first packet of a UDP datagram:

    1 L . H H H H H   long header bit, a reserved bit, the six high bits of the signal
    version           0x6f7dc0fd; its most significant bit is the low bit of the signal
    length, DCID      destination connection ID
    length, SCID      source connection ID
    ...               at least one other packet
"""

from __future__ import annotations

from enum import Enum
from functools import cache

DRAFT = "draft-ietf-scone-protocol-08"
#: "SCONE Packet": the version without the bit that belongs to the signal
VERSION = 0x6F7DC0FD
#: "Rate Signals": n is 100 kbit/s * 10^(n / 20); what an endpoint sends
LOWEST_RATE = 12_500
SIGNALS_PER_DECADE = 20
HIGHEST_SIGNAL = 126
UNKNOWN = 127
#: "Monitoring Period"
PERIOD_NS = 67 * 10**9
#: "Negotiating SCONE": scone_supported, which is empty
TRANSPORT_PARAMETER = 0x219E
#: "Indicating Support on New Flows": the end of the first datagrams of a client
INDICATION = b"\xc8\x13"

LONG_HEADER = 0x80
SHORTEST = 7  # both connection IDs empty


class Kind(Enum):
    """What a UDP datagram is to a network element."""

    OTHER = "other"
    MALFORMED = "malformed"  # the version is SCONE's, the rest is not whole
    SCONE = "scone"


@cache
def rate_of(signal: int) -> int:
    """Return the lowest rate that has this signal, or is above it by less than a byte/s."""
    if not 0 <= signal <= HIGHEST_SIGNAL:
        raise ValueError(f"expected a signal from 0 to {HIGHEST_SIGNAL}, got {signal}")
    # rate^20 >= LOWEST^20 * 10^signal, in whole numbers
    least = LOWEST_RATE**SIGNALS_PER_DECADE * 10**signal
    low, high = 0, LOWEST_RATE * 10 ** (signal // SIGNALS_PER_DECADE + 1)
    while low < high:
        middle = (low + high) // 2
        if middle**SIGNALS_PER_DECADE >= least:
            high = middle
        else:
            low = middle + 1
    return low


def signal_of(rate: int | None) -> int:
    """Return the signal of a rate, rounded down; the lowest one below all; UNKNOWN for None."""
    if rate is None:
        return UNKNOWN
    found = 0
    while found < HIGHEST_SIGNAL and rate_of(found + 1) <= rate:
        found += 1
    return found


def kind_of(datagram: bytes) -> Kind:
    """Return what the payload of a UDP datagram is."""
    if len(datagram) < 5 or not datagram[0] & LONG_HEADER:
        return Kind.OTHER
    if int.from_bytes(datagram[1:5], "big") & 0x7FFFFFFF != VERSION:
        return Kind.OTHER
    at = 5
    for _ in range(2):
        if at >= len(datagram):
            return Kind.MALFORMED
        at += 1 + datagram[at]
    return Kind.SCONE if at < len(datagram) else Kind.MALFORMED


def read(datagram: bytes) -> int:
    """Return the signal of a SCONE packet."""
    return (datagram[0] & 0x3F) << 1 | datagram[1] >> 7


def write(datagram: bytes, signal: int) -> bytes:
    """Return the datagram with another signal in its SCONE packet."""
    head = bytes(((datagram[0] & 0xC0) | signal >> 1, (datagram[1] & 0x7F) | (signal & 1) << 7))
    return head + datagram[2:]


def lower(datagram: bytes, signal: int) -> bytes:
    """Return what an element with this advice makes of a datagram: it never raises a signal."""
    if kind_of(datagram) is Kind.SCONE and signal < read(datagram):
        return write(datagram, signal)
    return datagram


def packet(dcid: bytes = b"", scid: bytes = b"", signal: int = UNKNOWN) -> bytes:
    """Return a SCONE packet as an endpoint sends it; another packet must follow."""
    version = (VERSION | (signal & 1) << 31).to_bytes(4, "big")
    ids = bytes((len(dcid),)) + dcid + bytes((len(scid),)) + scid
    return bytes((0xC0 | signal >> 1,)) + version + ids


def replace_checksum(checksum: int, before: int, after: int) -> int:
    """Return a UDP checksum after one of its 16-bit words was replaced; 0: there is none."""
    if not checksum:
        return 0
    total = (~checksum & 0xFFFF) + (~before & 0xFFFF) + after
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF or 0xFFFF


# ---- whole frames

_EXTENSIONS = {0: 8, 43: 8, 60: 8, 51: 4}  # IPv6: units of the length
_FRAGMENT, _UDP = 44, 17


def _transport_ipv4(packet: bytes) -> tuple[int, int, int] | None:
    """Return protocol, offset and length of what an IPv4 packet carries, whole."""
    ihl, total = (packet[0] & 0xF) * 4, int.from_bytes(packet[2:4], "big")
    if packet[0] >> 4 != 4 or ihl < 20 or int.from_bytes(packet[6:8], "big") & 0x3FFF:
        return None
    return packet[9], ihl, total - ihl


def _transport_ipv6(packet: bytes) -> tuple[int, int, int] | None:
    """Return the same of an IPv6 packet."""
    if packet[0] >> 4 != 6:
        return None
    kind, at = packet[6], 40
    end = at + int.from_bytes(packet[4:6], "big")
    while kind in _EXTENSIONS or kind == _FRAGMENT:
        if at + 8 > len(packet):
            return None
        if kind == _FRAGMENT and packet[at + 2 : at + 4] != b"\0\0":
            return None
        after = packet[at]
        if kind == _FRAGMENT:
            at += 8
        elif kind == 51:
            at += (packet[at + 1] + 2) * 4
        else:
            at += (packet[at + 1] + 1) * 8
        kind = after
    return kind, at, end - at


def _datagram(packet: bytes) -> tuple[int, int] | None:
    """Return offset and length of the UDP datagram that is whole in an IP packet."""
    if len(packet) < 20 or (packet[0] >> 4 == 6 and len(packet) < 40):
        return None
    found = _transport_ipv6(packet) if packet[0] >> 4 == 6 else _transport_ipv4(packet)
    if not found or found[0] != _UDP:
        return None
    _, at, room = found
    if at + 8 > len(packet) or room > len(packet) - at:
        return None
    length = int.from_bytes(packet[at + 4 : at + 6], "big") or room
    return (at, length) if 8 <= length <= room else None


def lower_packet(packet: bytes, signal: int) -> bytes:
    """Return what an element with this advice makes of an IP packet."""
    place = _datagram(packet)
    if not place:
        return packet
    at, length = place
    payload = packet[at + 8 : at + length]
    lowered = lower(payload, signal)
    if lowered == payload:
        return packet
    given, before, after = (
        int.from_bytes(one, "big") for one in (packet[at + 6 : at + 8], payload[:2], lowered[:2])
    )
    checksum = replace_checksum(given, before, after)
    head = packet[: at + 6] + checksum.to_bytes(2, "big")
    return head + lowered + packet[at + length :]
