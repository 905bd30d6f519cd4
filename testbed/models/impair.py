# SPDX-License-Identifier: GPL-2.0
"""What a wale link does to packets beside delaying them: reference implementation.

Written from kmod/include/uapi/linux/pkt_sched_wale.h and not from the module.  None of
it changes when a packet's service ends: that is models/link.py, without loss and delay.
"""

from __future__ import annotations

from dataclasses import dataclass

from .streams import Purpose, Stream

ALWAYS = 0xFFFFFFFF
ONE = 1 << 32


def chance(probability: int) -> int:
    """Return how many of 2^32 draws a probability has: ALWAYS is all of them."""
    return ONE if probability == ALWAYS else probability


@dataclass(frozen=True)
class Gemodel:
    """Gilbert and Elliott: probabilities in 2^-32."""

    p: int
    r: int
    bad: int = ALWAYS
    good: int = 0

    def ways(self) -> dict[str, list[tuple[int, str]]]:
        """Return the ways out of each state, in the order in which draws fall on them."""
        return {"good": [(chance(self.p), "bad")], "bad": [(chance(self.r), "good")]}

    def lost(self, state: str) -> int:
        """Return of how many of 2^32 packets in a state are lost."""
        return chance(self.bad if state == "bad" else self.good)

    @property
    def first(self) -> str:
        """Return the state in which it begins."""
        return "good"


@dataclass(frozen=True)
class FourStates:
    """Good (1), good in a burst (2), burst (3), single loss (4): probabilities in 2^-32."""

    p13: int
    p31: int
    p32: int = 0
    p23: int = ALWAYS
    p14: int = 0

    def ways(self) -> dict[str, list[tuple[int, str]]]:
        """Return the ways out of each state, in the order in which draws fall on them."""
        return {
            "1": [(chance(self.p14), "4"), (chance(self.p13), "3")],
            "2": [(chance(self.p23), "3")],
            "3": [(chance(self.p32), "2"), (chance(self.p31), "1")],
            "4": [(ONE, "1")],
        }

    def lost(self, state: str) -> int:
        """Return of how many of 2^32 packets in a state are lost."""
        return ONE if state in "34" else 0

    @property
    def first(self) -> str:
        """Return the state in which it begins."""
        return "1"


Model = Gemodel | FourStates


class Losses:
    """Which packets that enter the buffer are lost; the n-th takes the n-th draw."""

    def __init__(self, model: Model, seed: int, drawn: int = 0) -> None:
        self.model, self.state, self.drawn = model, model.first, drawn
        self.stream = Stream(seed, Purpose.LOSS)

    def next(self) -> bool:
        """Tell whether the next packet is lost."""
        draw = self.stream.draw64(self.drawn)
        self.drawn += 1
        move, fate = draw >> 32, draw & ALWAYS
        for weight, state in self.model.ways()[self.state]:
            if move < weight:
                self.state = state
                break
            move -= weight
        return fate < self.model.lost(self.state)
