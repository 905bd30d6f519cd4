# SPDX-License-Identifier: GPL-2.0
"""UDP packets as bytes: their checksums."""

from __future__ import annotations

import random

import pytest

from wale_lab.packets.udp import udp_is_right, udp_packet


def packet(data: bytes, *, checksum: bool = True) -> bytes:
    return udp_packet(28 + len(data), "10.0.0.1", "10.0.0.2", data, 7, checksum=checksum)


def test_checksum_by_hand() -> None:
    words = [0x0A00, 0x0001, 0x0A00, 0x0002, 17, 12, 4000, 9, 12, 0x7761, 0x6C65]
    total = sum(words)
    total = (total & 0xFFFF) + (total >> 16)
    assert int.from_bytes(packet(b"wale")[26:28], "big") == ~total & 0xFFFF


@pytest.mark.parametrize("size", [0, 1, 2, 999, 1472])
def test_a_bit_that_flips_is_seen(size: int) -> None:
    data = random.Random(size).randbytes(size)
    good = packet(data)
    assert udp_is_right(good)
    for bit in range(0, 8 * len(good), 37):
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        assert not udp_is_right(bytes(bad)), bit


def test_without_a_checksum() -> None:
    assert packet(b"wale", checksum=False)[26:28] == b"\0\0"
    assert not udp_is_right(packet(b"wale", checksum=False))
