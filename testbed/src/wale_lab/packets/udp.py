# SPDX-License-Identifier: GPL-2.0
"""UDP packets as bytes, for what sends them from packet sockets inside a guest."""

from __future__ import annotations

import socket
import struct


def udp_packet(
    length: int, source: str, target: str, data: bytes, number: int = 0, tos: int = 0
) -> bytes:
    """Return a UDP packet of so many IP bytes, without checksum of its data."""
    addresses = (socket.inet_aton(source), socket.inet_aton(target))
    fields = (0x45, tos, length, number & 0xFFFF, 0, 64, 17, 0, *addresses)
    header = struct.pack("!BBHHHBBH4s4s", *fields)
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    header = header[:10] + struct.pack("!H", ~total & 0xFFFF) + header[12:]
    udp = struct.pack("!HHHH", 4000, 9, max(length - 20, 8), 0)
    return (header + udp + data).ljust(length, b"\0")[:length]
