# SPDX-License-Identifier: GPL-2.0
"""The seeded random streams of a wale link, in integer arithmetic.

The generator is splitmix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast
splittable pseudorandom number generators", OOPSLA 2014; constants of the
public-domain splitmix64.c by S. Vigna), used in counter form: the n-th value
is a hash of a key and of n, so that a stream needs no state but its counter.

    GAMMA        = 0x9e3779b97f4a7c15
    key(purpose) = mix(seed + (purpose + 1) * GAMMA)
    draw64(n)    = mix(key + (n + 1) * GAMMA),  n = 0, 1, 2 ...
    draw32(n)    = draw64(n) >> 32

all modulo 2^64.  Purposes have streams of their own, so that what one draws
does not depend on how often another did.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

MASK64 = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15

# First outputs of splitmix64.c for the state 1234567, a published check.
KNOWN_SEED = 1234567
KNOWN_ANSWER = (
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
)


#: Purposes outside of a link have numbers from here on: one seed may then serve both.
FIRST_OF_USER_SPACE = 32


class Purpose(enum.IntEnum):
    """The purpose of a stream of a link."""

    LOSS = 0
    SESSIONS = 1
    BUFFER = 2
    MARK = 4
    JITTER = 5
    REORDER = 6
    DUPLICATE = 7
    CORRUPT = 8
    SLOT = 9
    LOSS_AGAIN = 10
    JITTER_AGAIN = 11


def mix(value: int) -> int:
    """Return the finalizer of splitmix64 of a 64-bit value."""
    z = value & MASK64
    z ^= z >> 30
    z = z * 0xBF58476D1CE4E5B9 & MASK64
    z ^= z >> 27
    z = z * 0x94D049BB133111EB & MASK64
    return z ^ (z >> 31)


def splitmix64(state: int) -> Iterator[int]:
    """Yield the values of splitmix64 from a starting state, as splitmix64.c does."""
    while True:
        state = (state + GAMMA) & MASK64
        yield mix(state)


class Stream:
    """One stream: values are addressed by their number."""

    def __init__(self, seed: int, purpose: int) -> None:
        self.key = mix(seed + (purpose + 1) * GAMMA)

    def draw64(self, n: int) -> int:
        """Return the n-th 64-bit value, n = 0, 1, ..."""
        return mix(self.key + (n + 1) * GAMMA)

    def draw32(self, n: int) -> int:
        """Return the n-th 32-bit value: the upper half of the 64-bit one."""
        return self.draw64(n) >> 32

    def draws64(self, count: int) -> Any:
        """Return the first 64-bit values, as draw64() has them, as a numpy array of uint64."""
        import numpy

        # Arrays of uint64 wrap, which is the arithmetic modulo 2^64 of mix().
        z = numpy.arange(1, count + 1, dtype=numpy.uint64)
        z *= numpy.uint64(GAMMA)
        z += numpy.uint64(self.key)
        z ^= z >> numpy.uint64(30)
        z *= numpy.uint64(0xBF58476D1CE4E5B9)
        z ^= z >> numpy.uint64(27)
        z *= numpy.uint64(0x94D049BB133111EB)
        return z ^ (z >> numpy.uint64(31))
