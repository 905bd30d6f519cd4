# SPDX-License-Identifier: GPL-2.0
"""Impairments of a wale link: reference implementation.

Written from kmod/include/uapi/linux/pkt_sched_wale.h and not from the module.  None of
them changes the end of a packet's service: that is models/link.py, without loss and delay.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wale_lab.models.link import Packet, Verdict
from wale_lab.models.streams import Purpose, Stream

ALWAYS = 0xFFFFFFFF
ONE = 1 << 32
TABLE_UNIT = 8192


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


@dataclass(frozen=True)
class Independent:
    """Losses of a probability in 2^-32; a packet has the draw of the one before, or its own."""

    probability: int
    correlation: int = 0


Model = Gemodel | FourStates


class Again:
    """Draws that stay as they are with a probability."""

    def __init__(self, seed: int, purpose: Purpose, correlation: int) -> None:
        self.stream, self.correlation = Stream(seed, purpose), correlation
        self.drawn, self.last = 0, -1

    def draw(self, own: int) -> int:
        """Return the draw of the next packet, which has one of its own."""
        if self.correlation:
            stays = self.stream.draw64(self.drawn) >> 32 < chance(self.correlation)
            self.drawn += 1
            if stays and self.last >= 0:
                return self.last
        self.last = own
        return own


class IndependentLosses:
    """Which packets that enter the buffer are lost; the n-th takes the n-th draws."""

    def __init__(self, model: Independent, seed: int) -> None:
        self.model, self.drawn = model, 0
        self.stream = Stream(seed, Purpose.LOSS)
        self.again = Again(seed, Purpose.LOSS_AGAIN, model.correlation)

    def next(self) -> bool:
        """Tell whether the next packet is lost."""
        draw = self.again.draw(self.stream.draw64(self.drawn))
        self.drawn += 1
        return draw >> 32 < chance(self.model.probability)


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


def jitter_offset(jitter_ns: int, table: tuple[int, ...], draw64: int) -> int:
    """Return the addition to a delay, by the upper half of a draw; no table: uniform."""
    share = draw64 >> 32
    if not table:
        return (2 * jitter_ns + 1) * share // ONE - jitter_ns
    entry = table[len(table) * share // ONE]
    return (2 * jitter_ns * entry + TABLE_UNIT) // (2 * TABLE_UNIT)


@dataclass(frozen=True)
class Settings:
    """The impairments of a link; the defaults are those of a new qdisc."""

    seed: int = 0
    delay_ns: int = 0
    loss: Model | Independent | None = None
    jitter_ns: int = 0
    jitter_correlation: int = 0
    table: tuple[int, ...] = ()
    reordering: bool = False
    reorder: int = 0
    gap: int = 1
    duplicate: int = 0
    corrupt: int = 0
    corrupt_fix: bool = False
    drop: tuple[tuple[int, int, int], ...] = ()  # flow (0: the link), first, last
    slot: tuple[int, int, int, int] | None = None  # min, max in ns; packets, bytes, 0: any


@dataclass(frozen=True)
class Fate:
    """What became of a packet that entered the buffer."""

    lost: bool
    departures_ns: tuple[int, ...] = ()  # two of a packet that is duplicated
    bit: int | None = None  # of the IP packet, or with corrupt_fix of the data of TCP or UDP, that
    # is turned; as a share of 2^32

    @property
    def copies(self) -> int:
        """Return how many of it leave."""
        return len(self.departures_ns)


class Slots:
    """The slots in which packets leave; the n-th slot takes the n-th draw."""

    def __init__(self, settings: Settings) -> None:
        assert settings.slot
        self.least_ns, self.most_ns, self.packets, self.bytes = settings.slot
        self.stream = Stream(settings.seed, Purpose.SLOT)
        self.at_ns, self.opened = 0, 0
        self.lengths: list[int] = []  # of the packets in the last slot

    def has_room(self, length: int) -> bool:
        """Tell whether a packet fits into the last slot."""
        if self.packets and len(self.lengths) + 1 > self.packets:
            return False
        return not (self.bytes and self.lengths and sum(self.lengths) + length > self.bytes)

    def departure_ns(self, departure_ns: int, length: int) -> int:
        """Return when a packet leaves that is to leave then."""
        if departure_ns > self.at_ns or not self.has_room(length):
            spread = self.most_ns - self.least_ns + 1
            random_ns = spread * (self.stream.draw64(self.opened) >> 32) // ONE
            self.at_ns = max(self.at_ns, departure_ns) + self.least_ns + random_ns
            self.opened += 1
            self.lengths = []
        self.lengths.append(length)
        return self.at_ns


class Line:
    """What happens to packets at the end of their service; the n-th takes the n-th draws."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.last_ns = self.served = 0
        self.slots = Slots(settings) if settings.slot else None
        self.skipped = -1  # the last packet that skipped the delay
        self.again = Again(settings.seed, Purpose.JITTER_AGAIN, settings.jitter_correlation)

    def draw(self, purpose: Purpose) -> int:
        """Return the draw of the packet whose service ends."""
        return Stream(self.settings.seed, purpose).draw64(self.served)

    def skips(self) -> bool:
        """Tell whether it skips the delay."""
        settings = self.settings
        if self.draw(Purpose.REORDER) >> 32 >= chance(settings.reorder):
            return False
        if self.served - self.skipped < settings.gap:
            return False
        self.skipped = self.served
        return True

    def bit(self) -> int | None:
        """Return which of its bits is turned, as a share of 2^32; None: none."""
        draw = self.draw(Purpose.CORRUPT)
        return draw & ALWAYS if draw >> 32 < chance(self.settings.corrupt) else None

    def delay_ns(self) -> int:
        """Return the delay of the next packet."""
        settings = self.settings
        if not settings.jitter_ns:
            return settings.delay_ns
        draw = self.again.draw(self.draw(Purpose.JITTER))
        return max(settings.delay_ns + jitter_offset(settings.jitter_ns, settings.table, draw), 0)

    def serve(self, end_ns: int, lost: bool, length: int) -> Fate:
        """Return the fate of a packet whose service ends."""
        departure_ns = end_ns + self.delay_ns()
        if not (self.settings.jitter_ns and self.settings.reordering):
            departure_ns = max(departure_ns, self.last_ns)
        if self.skips():
            departure_ns = end_ns
        bit = self.bit()
        doubled = self.draw(Purpose.DUPLICATE) >> 32 < chance(self.settings.duplicate)
        self.served += 1
        if lost:
            return Fate(True)
        departures_ns = (departure_ns,) * (1 + doubled)
        if self.slots:
            departures_ns = tuple(self.slots.departure_ns(d, length) for d in departures_ns)
        self.last_ns = max(*departures_ns, self.last_ns)
        return Fate(False, departures_ns, bit)


def fates(packets: Iterable[Packet], settings: Settings) -> list[Fate | None]:
    """Return the fates of packets, given their service on a link without loss and delay.

    None is for those that do not enter the buffer.
    """
    losses: Losses | IndependentLosses | None = None
    if isinstance(settings.loss, Independent):
        losses = IndependentLosses(settings.loss, settings.seed)
    elif settings.loss:
        losses = Losses(settings.loss, settings.seed)
    line = Line(settings)
    result: list[Fate | None] = []
    for number, packet in enumerate(packets, start=1):
        if packet.verdict is not Verdict.SENT:
            result.append(None)
            continue
        assert packet.completion_ns is not None
        listed = any(first <= number <= last for flow, first, last in settings.drop if not flow)
        lost = bool(losses and losses.next())
        result.append(line.serve(packet.completion_ns, lost or listed, packet.wire_len))
    return result
