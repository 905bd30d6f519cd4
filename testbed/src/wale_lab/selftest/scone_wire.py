# SPDX-License-Identifier: GPL-2.0
"""Packets with and without SCONE, and a wire on which they are compared with the model."""

from __future__ import annotations

import contextlib
import itertools
import random
import socket
import struct

from wale_lab.models import scone
from wale_lab.selftest import net
from wale_lab.selftest.pair import MAC_A, MAC_B, Pair

ETHERNET = 14
ETH_P_ALL = 3


def ones_sum(data: bytes) -> int:
    """Return the sum of 16-bit words, with the carries."""
    total: int = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def udp(payload: bytes, ports: tuple[int, int], pseudo: bytes, checksum: bool = True) -> bytes:
    """Return a UDP datagram."""
    length = 8 + len(payload)
    head = struct.pack("!HHH", *ports, length)
    total = ones_sum(pseudo + struct.pack("!HH", 17, length) + head + b"\0\0" + payload)
    return head + struct.pack("!H", (~total & 0xFFFF or 0xFFFF) if checksum else 0) + payload


def ipv4(
    payload: bytes, source: bytes, protocol: int = 17, fragment: int = 0, options: int = 0
) -> bytes:
    """Return an IPv4 packet."""
    head = struct.pack(
        "!BBHHHBBH", 0x45 + options // 4, 0, 20 + options + len(payload), 7, fragment, 64,
        protocol, 0,
    )  # fmt: skip
    return head + source + bytes((10, 0, 0, 2)) + b"\1" * options + payload


def ipv6(payload: bytes, source: bytes, extensions: list[int], fragment: int = 0) -> bytes:
    """Return an IPv6 packet with these extension headers."""
    chain, kinds = b"", [*extensions, 17]
    for kind, after in itertools.pairwise(kinds):
        chain += bytes((after, 0)) + (struct.pack("!HI", fragment, 9) if kind == 44 else bytes(6))
    body = chain + payload
    return struct.pack("!IHBB", 6 << 28, len(body), kinds[0], 64) + source + bytes(16) + body


def datagram(rng: random.Random) -> bytes:
    """Return the payload of a datagram: mostly a SCONE packet, whole or not."""
    to, source = (rng.randbytes(rng.choice([0, 0, 8, 8, 20, 255])) for _ in range(2))
    signal = rng.choice([scone.UNKNOWN, scone.UNKNOWN, rng.randrange(128)])
    data = bytearray(scone.packet(to, source, signal) + rng.randbytes(rng.choice([0, 1, 30, 900])))
    match rng.randrange(10):
        case 0:
            data = data[: rng.randrange(len(data) + 1)]
        case 1:
            data[rng.randrange(min(len(data), 8))] ^= 1 << rng.randrange(8)
        case 2:
            data = bytearray(rng.randbytes(rng.randrange(100)))
        case 3:
            data = bytearray(b"\x40" + rng.randbytes(50))
    return bytes(data)


def packet(rng: random.Random) -> bytes:
    """Return an IP packet of any kind."""
    payload = datagram(rng)
    ports = rng.randrange(1024, 65536), rng.choice([443, 9])
    checksum = rng.random() < 0.8
    fragment = rng.choice([0, 0, 0, 0, 0, 0x2000, 0x0001, 0x4000])
    if rng.random() < 0.5:
        source = rng.randbytes(4)
        pseudo = source + bytes((10, 0, 0, 2))
        body = udp(payload, ports, pseudo, checksum)
        protocol = rng.choice([17, 17, 17, 17, 6])
        made = ipv4(body, source, protocol, fragment, rng.choice([0, 0, 8]))
    else:
        source = rng.randbytes(16)
        body = udp(payload, ports, source + bytes(16), checksum)
        extensions = rng.choice([[], [], [], [0], [60, 43], [44]])
        made = ipv6(body, source, extensions, rng.choice([0, 1, 8]))
    if rng.random() < 0.05:
        made = made[: rng.randrange(20, len(made) + 1)]
    if rng.random() < 0.05:
        made += bytes(rng.randrange(1, 20))  # padding of Ethernet
    if rng.random() < 0.02:
        at = 2 if made[0] >> 4 == 4 else 4
        made = made[:at] + rng.choice([b"\0\0", rng.randbytes(2)]) + made[at + 2 :]  # the length
    return made


class Wire:
    """Frames go in at one end of a pair, and come out at the other."""

    def __init__(self, pair: Pair) -> None:
        self.source = self._socket(pair.a, "a0")
        self.sink = self._socket(pair.b, "b0")
        self.sink.setsockopt(socket.SOL_SOCKET, 33, 1 << 27)  # SO_RCVBUFFORCE
        self.sink.setblocking(False)

    @staticmethod
    def _socket(space: net.Namespace, dev: str) -> socket.socket:
        with space.entered():
            sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        sock.bind((dev, ETH_P_ALL))
        return sock

    def send(self, packets: list[bytes]) -> None:
        """Send IP packets."""
        addresses = bytes.fromhex((MAC_B + MAC_A).replace(":", ""))
        for one in packets:
            ethertype = b"\x86\xdd" if one[0] >> 4 == 6 else b"\x08\0"
            self.source.send(addresses + ethertype + one)

    def receive(self) -> list[bytes]:
        """Return the IP packets that have arrived."""
        found = []
        with contextlib.suppress(BlockingIOError):
            while True:
                found.append(self.sink.recv(2048)[ETHERNET:])
        return found

    def close(self) -> None:
        """Close both ends."""
        self.source.close()
        self.sink.close()
