# SPDX-License-Identifier: GPL-2.0
"""UDP packets as bytes, for what sends them from packet sockets inside a guest."""

from __future__ import annotations

import socket
import struct


def _folded(data: bytes) -> int:
    """The ones' complement sum of 16-bit words (RFC 1071)."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data[: len(data) & ~1]))
    total += data[-1] << 8 if len(data) & 1 else 0
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def _pseudo(packet: bytes) -> bytes:
    """What the checksum of UDP covers, of a packet without options: RFC 768."""
    return packet[12:20] + struct.pack("!HH", 17, len(packet) - 20) + packet[20:]


def udp_is_right(packet: bytes) -> bool:
    """Whether a packet without options has the checksums that belong to it."""
    return _folded(packet[:20]) == _folded(_pseudo(packet)) == 0xFFFF


def udp_packet(
    length: int,
    source: str,
    target: str,
    data: bytes,
    number: int = 0,
    tos: int = 0,
    checksum: bool = False,
) -> bytes:
    """Return a UDP packet of so many IP bytes, with or without a checksum of its data."""
    addresses = (socket.inet_aton(source), socket.inet_aton(target))
    fields = (0x45, tos, length, number & 0xFFFF, 0, 64, 17, 0, *addresses)
    header = struct.pack("!BBHHHBBH4s4s", *fields)
    header = header[:10] + struct.pack("!H", ~_folded(header) & 0xFFFF) + header[12:]
    udp = struct.pack("!HHHH", 4000, 9, max(length - 20, 8), 0)
    packet = (header + udp + data).ljust(length, b"\0")[:length]
    if checksum:
        right = ~_folded(_pseudo(packet)) & 0xFFFF or 0xFFFF
        packet = packet[:26] + struct.pack("!H", right) + packet[28:]
    return packet
