# SPDX-License-Identifier: GPL-2.0
"""A player of a film in segments, each of which there is at several rates.

It asks for one segment after the other, while its buffer has room. The rate of the next is the
highest on the ladder that the last segments' throughput allows, or advice of the network, or both.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Literal

#: bit/s
LADDER = (150e3, 250e3, 400e3, 600e3, 900e3, 1400e3, 2200e3, 3500e3, 5500e3)

#: Seconds of film in a segment, and in a full buffer.
SEGMENT_S = 4.0
BUFFER_S = 24.0

#: Share of the throughput of the last segments that is used, and how many these are.
_SHARE = 0.8
_LAST = 3

#: While it waits because of advice, it looks at it so often.
_LOOK_S = 1.0

#: What the choice obeys: throughput that was measured, advice, or the lower of the two.  Without
#: advice it is what was measured.
Follow = Literal["measured", "advice", "both"]


class Screen:
    """What is seen: film in the buffer, and when it is empty."""

    def __init__(self, now: float) -> None:
        self._began = self._now = now
        self._shown = self._stalled = False
        self.buffer_s = self.stall_s = self.start_s = self.played_s = 0.0
        self.stalls = 0

    def advance(self, now: float) -> None:
        """Time passes."""
        passed = now - self._now
        self._now = now
        if self._shown and self.buffer_s > 0:
            played = min(passed, self.buffer_s)
            self.buffer_s -= played
            self.played_s += played
            passed -= played
        if self._shown and passed > 0:
            self.stalls += not self._stalled
            self._stalled = True
            self.stall_s += passed

    def add(self, now: float) -> None:
        """Another segment is there."""
        self.advance(now)
        if not self._shown:
            self._shown = True
            self.start_s = now - self._began
        self._stalled = False
        self.buffer_s += SEGMENT_S


class Player:
    """Chooses, and counts."""

    def __init__(
        self, follow: Follow, advised: Callable[[float], float | None], now: float
    ) -> None:
        self.screen = Screen(now)
        self._follow = follow
        self._advised = advised
        self._rates: deque[float] = deque(maxlen=_LAST)
        self._chosen: list[float] = []
        self._asked: tuple[float, int] | None = None  # when for the last segment, and its bits
        self.bytes = 0

    def may(self, now: float) -> float:
        """The rate that the next segment may have at most."""
        measured = _SHARE * len(self._rates) / sum(1 / r for r in self._rates) if self._rates else 0
        advised = self._advised(now) if self._follow != "measured" else None
        if advised is None:
            return measured
        return min(measured, advised) if self._follow == "both" and self._rates else advised

    def choose(self, now: float) -> float:
        """The rate of the next segment; the lowest if there is nothing to go by."""
        may = self.may(now)
        return max((rate for rate in LADDER if rate <= may), default=LADDER[0])

    def wait_s(self, now: float) -> float:
        """How long until it asks for the next: the buffer has room, and advice allows it."""
        self.screen.advance(now)
        return max(self.screen.buffer_s + SEGMENT_S - BUFFER_S, self._advised_wait_s(now), 0)

    def _advised_wait_s(self, now: float) -> float:
        """Until the last segment is no faster than advised, from its request to the next."""
        advised = self._advised(now) if self._follow != "measured" else None
        if advised is None or self._asked is None:
            return 0
        asked, bits = self._asked
        return min(asked + bits / advised - now, _LOOK_S)

    def arrived(self, rate: float, asked: float, now: float) -> None:
        """A segment of this rate."""
        size = size_of(rate)
        self.bytes += size
        self._chosen.append(rate)
        self._rates.append(8 * size / max(now - asked, 1e-3))
        self._asked = asked, 8 * size
        self.screen.add(now)

    def summary(self, now: float) -> dict[str, float]:
        """What came of it."""
        self.screen.advance(now)
        chosen, screen = self._chosen, self.screen
        return {
            "segments": len(chosen),
            "bytes": self.bytes,
            "mean_kbit": sum(chosen) / len(chosen) / 1e3 if chosen else 0,
            "switches": sum(a != b for a, b in itertools.pairwise(chosen)),
            "stalls": screen.stalls,
            "stall_s": round(screen.stall_s, 6),
            "start_s": round(screen.start_s, 6),
            "played_s": round(screen.played_s, 6),
        }


def size_of(rate: float) -> int:
    """The bytes of a segment."""
    return round(rate * SEGMENT_S / 8)


async def play(player: Player, fetch: Callable[[int], Awaitable[object]], seconds: float) -> float:
    """Watch for so long; the time when it ended."""
    clock = asyncio.get_running_loop().time
    end = clock() + seconds
    while (now := clock()) < end:
        if wait := player.wait_s(now):
            await asyncio.sleep(min(wait, end - now))
            continue
        rate = player.choose(now)
        try:
            await asyncio.wait_for(fetch(size_of(rate)), end - now)
        except TimeoutError:
            break
        player.arrived(rate, now, clock())
    return end
