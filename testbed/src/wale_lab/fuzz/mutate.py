# SPDX-License-Identifier: GPL-2.0
"""Damage to the bytes of a message, behind its header."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from random import Random

HEADER = 16
WORDS = (0, 1, 3, 4, 5, 8, 0x7F, 0xFF, 0x7FFF, 0x8000, 0xFFFF)


def _place(rng: Random, data: bytearray, size: int = 1) -> int:
    return rng.randrange(HEADER, max(len(data) - size + 1, HEADER + 1))


def _flip(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    for _ in range(rng.choice((1, 1, 2, 8))):
        place = _place(rng, data)
        if place < len(data):
            data[place] ^= 1 << rng.randrange(8)


def _word(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    place = _place(rng, data, 2) & ~1
    data[place : place + 2] = struct.pack("H", rng.choice(WORDS))


def _cut(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    del data[_place(rng, data) :]


def _splice(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    """Go on as another message does."""
    if others:
        other = rng.choice(others)
        data[_place(rng, data) :] = other[rng.randrange(HEADER, max(len(other), HEADER + 1)) :]


def _copy(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    begin = _place(rng, data)
    data[begin:begin] = data[begin : begin + rng.choice((1, 4, 8, 20, 60))]


def _more(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    data += rng.randbytes(rng.choice((1, 2, 3, 4, 5, 8, 16, 100)))


def _attribute_length(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    """A wrong length at a place where one may be."""
    place = HEADER + 4 + 4 * rng.randrange(max((len(data) - HEADER - 4) // 4, 1))
    if place + 2 <= len(data):
        data[place : place + 2] = struct.pack("H", rng.choice(WORDS))


_KINDS = (_flip, _flip, _word, _cut, _splice, _copy, _more, _attribute_length)


def mutate(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    """Damage a message, with parts of others."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        rng.choice(_KINDS)(rng, data, others)
    del data[8192:]


def noise(rng: Random, data: bytearray) -> None:
    """Random bytes instead of what is behind the first bytes, or instead of the attributes."""
    del data[rng.choice((HEADER, HEADER + 4, HEADER + 20)) :]
    data += rng.randbytes(rng.choice((0, 1, 4, 8, 20, 40, 200)))
