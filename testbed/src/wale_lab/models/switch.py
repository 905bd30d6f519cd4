# SPDX-License-Identifier: GPL-2.0
"""The buffer of a switch, computed event by event from its definition.

Like models.link, for a limit in cells, for flows and for all policies
(models.discard): what kmod/include/uapi/linux/pkt_sched_wale.h says of them.
The configuration does not change.

What waits are items: packets, or with a limit in cells the cells of packets.
The server takes them first come, first served, and ends each at an exact
fraction of a nanosecond.

With a limit in cells:

1. A packet's cells arrive at once, or with an input rate one cell time apart,
   the first when the packet arrives or a cell time after the last cell of the
   packet of its flow ahead of it.  A cell time is rounded up to 2^-32 ns, and an
   arrival up to a nanosecond.
2. At the first cell, epd, seldrop and fba take the packet or refuse it whole:
   verdict BUFFER if the buffer is full, else EARLY.
3. A cell that finds the buffer full is dropped; with random_tail, one of the
   pool of the arrival and the last n cells that are not in service.  With epd,
   seldrop and fba so is the rest of its packet.  With tail and random_tail, if the
   last cell of a packet is dropped as it arrives and others of it were admitted,
   the next packet of the flow that has an admitted cell is merged with it.
4. A packet without a cell in the end is dropped: BUFFER; one that lacks cells or
   is merged is PARTIAL; of the others, one that is not lost at random departs when
   its last cell has been served and the delay is over.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from wale_lab.models.discard import Policy, Sharing, victim
from wale_lab.models.link import LOSS_ALWAYS, WORK_PER_BYTE, Config, Link, Packet, Verdict
from wale_lab.models.streams import Purpose, Stream

CELL = 53


def cell_time(rate: int) -> Fraction:
    """Return the time of a cell on an input link of so many bytes/s, in ns."""
    return Fraction(math.ceil(Fraction(CELL * 10**9, rate) * 2**32), 2**32)


@dataclass
class _Packet:
    """A packet of the stream, and what became of it so far."""

    arrival_ns: int
    wire_len: int
    flow: int
    verdict: Verdict | None = None
    departure_ns: int | None = None
    dropped_ns: int | None = None
    cells_left: int = 0
    dropped_cells: int = 0
    waiting: int = 0  # items of it that wait or are in service
    lost: bool = False
    merged: bool = False  # with the packet before it, whose end did not come


@dataclass(frozen=True)
class _Item:
    """A packet or a cell in the buffer."""

    packet: _Packet
    size: int
    arrival_ns: int


@dataclass
class Switch:
    """A link with a shared buffer."""

    config: Config
    sharing: Sharing = field(default_factory=Sharing)
    limit_cells: int | None = None
    input_rate: int | None = None
    start_ns: int = 0

    def __post_init__(self) -> None:
        self._schedule = Link(self.config, start_ns=self.start_ns).schedule
        self._draws = Stream(self.config.seed, Purpose.BUFFER)
        self._drawn = 0
        self._losses = Stream(self.config.seed, Purpose.LOSS)
        self._lost = 0
        self._queue: deque[_Item] = deque()  # the first is in service
        self._end: Fraction | None = None  # of the service; None: idle, or never
        self._last_departure = 0
        self._inputs: dict[int, deque[_Packet]] = {}
        self._events: list[tuple[Fraction, int, int]] = []  # (time, order, flow)
        self._order = 0
        self._endless: set[int] = set()  # flows whose last packet has no end
        self.peak = 0

    def run(self, packets: Iterable[tuple[int, int, int]]) -> list[Packet]:
        """Send (arrival_ns, wire_len, flow) in order of arrival; return their fates."""
        stream = [_Packet(*packet) for packet in packets]
        for packet in stream:
            self._advance(packet.arrival_ns)
            if self.limit_cells is None:
                self._offer(packet)
            else:
                self._enter_input(packet)
        self._advance(None)
        return [self._fate(packet) for packet in stream]

    @staticmethod
    def _fate(packet: _Packet) -> Packet:
        verdict = packet.verdict or Verdict.SENT  # not served: never
        return Packet(
            packet.arrival_ns,
            packet.wire_len,
            verdict,
            packet.dropped_ns,
            packet.departure_ns,
        )

    # Time

    def _advance(self, time_ns: int | None) -> None:
        """Let everything happen up to an instant; None: everything."""
        while True:
            end = None if self._end is None else math.ceil(self._end)
            cell = math.ceil(self._events[0][0]) if self._events else None
            if end is not None and (cell is None or end <= cell):
                if time_ns is not None and end > time_ns:
                    return
                self._finish(end)
            elif cell is not None and (time_ns is None or cell <= time_ns):
                self._input(*heapq.heappop(self._events))
            else:
                return

    def _start(self, earliest: Fraction) -> None:
        if not self._queue:
            self._end = None
            return
        item = self._queue[0]
        begin = max(earliest, Fraction(item.arrival_ns))
        self._end = self._schedule.finish(begin, item.size * WORK_PER_BYTE)

    def _finish(self, now_ns: int) -> None:
        """The service of the first item ends."""
        exact = self._end
        assert exact is not None
        item = self._queue.popleft()
        item.packet.waiting -= 1
        self._start(exact)
        self._settle(item.packet, now_ns)

    def _settle(self, packet: _Packet, now_ns: int) -> None:
        """A packet that has nothing to come and nothing that waits is through."""
        if packet.verdict or packet.waiting or packet.cells_left:
            return
        if packet.dropped_cells or packet.merged:
            whole = packet.dropped_cells * CELL == packet.wire_len
            packet.verdict = Verdict.BUFFER if whole else Verdict.PARTIAL
        elif packet.lost:
            packet.verdict = Verdict.LOSS
            packet.dropped_ns = now_ns
        else:
            packet.verdict = Verdict.SENT
            self._last_departure = max(self._last_departure, now_ns + self.config.delay_ns)
            packet.departure_ns = self._last_departure

    # Admission

    def _is_full(self, size: int) -> bool:
        if self.limit_cells is not None:
            return len(self._queue) >= self.limit_cells
        if self.config.limit_bytes is not None:
            return sum(item.size for item in self._queue) + size > self.config.limit_bytes
        assert self.config.limit_packets is not None
        return len(self._queue) >= self.config.limit_packets

    def _refuses(self, flow: int) -> bool:
        weight = 1 if self.config.limit_bytes is None else None
        held: dict[int, int] = {}
        for item in self._queue:
            held[item.packet.flow] = held.get(item.packet.flow, 0) + (weight or item.size)
        limit = self.limit_cells or self.config.limit_bytes or self.config.limit_packets
        assert limit is not None
        return self.sharing.refuses(sum(held.values()), limit, held.get(flow, 0), len(held))

    def _take(self, packet: _Packet, size: int, now_ns: int) -> None:
        self._queue.append(_Item(packet, size, now_ns))
        packet.waiting += 1
        self.peak = max(self.peak, len(self._queue))
        if len(self._queue) == 1:
            self._start(Fraction(now_ns))

    def _draw_victim(self) -> int:
        pool = min(self.sharing.last, len(self._queue) - 1)
        if pool <= 0:
            return 0
        self._drawn += 1
        return victim(self._draws.draw64(self._drawn - 1), pool)

    def _is_lost(self) -> bool:
        if not self.config.loss:
            return False
        value = self._losses.draw32(self._lost)
        self._lost += 1
        return self.config.loss == LOSS_ALWAYS or value < self.config.loss

    def _offer(self, packet: _Packet) -> None:
        """A packet arrives whole."""
        now_ns = packet.arrival_ns
        refused = not self._is_full(packet.wire_len) and self._refuses(packet.flow)
        while self._is_full(packet.wire_len):
            number = self._draw_victim() if self.sharing.policy is Policy.RANDOM_TAIL else 0
            if not number:
                packet.verdict, packet.dropped_ns = Verdict.BUFFER, now_ns
                return
            loser = self._queue[-number].packet
            del self._queue[-number]
            loser.verdict, loser.dropped_ns = Verdict.BUFFER, now_ns
        if refused:
            packet.verdict, packet.dropped_ns = Verdict.EARLY, now_ns
            return
        packet.lost = self._is_lost()
        self._take(packet, packet.wire_len, now_ns)

    # Cells

    def _enter_input(self, packet: _Packet) -> None:
        packet.cells_left = packet.wire_len // CELL
        queue = self._inputs.setdefault(packet.flow, deque())
        queue.append(packet)
        if all(flow != packet.flow for _, _, flow in self._events):
            self._input(Fraction(packet.arrival_ns), 0, packet.flow)

    def _input(self, time: Fraction, _: int, flow: int) -> None:
        """The input link of a flow has carried what it carried before."""
        queue = self._inputs[flow]
        while queue:
            self._cell(queue, math.ceil(time))
            if self.input_rate is not None:
                self._order += 1
                heapq.heappush(self._events, (time + cell_time(self.input_rate), self._order, flow))
                return

    def _cell(self, queue: deque[_Packet], now_ns: int) -> None:
        packet = queue[0]
        cells = packet.wire_len // CELL
        if packet.cells_left == cells and self.sharing.policy in (
            Policy.EPD,
            Policy.SELDROP,
            Policy.FBA,
        ):
            full = self._is_full(1)
            if full or self._refuses(packet.flow):
                packet.verdict = Verdict.BUFFER if full else Verdict.EARLY
                packet.dropped_ns = now_ns
        packet.cells_left -= 1
        if not packet.cells_left:
            queue.popleft()
        if packet.dropped_ns is not None:
            return
        admitted = self._admits(packet)
        if admitted:
            self._take(packet, CELL, now_ns)
        else:
            packet.dropped_cells += 1
        if not packet.cells_left:
            self._end_packet(packet, admitted)
        self._settle(packet, now_ns)

    def _end_packet(self, packet: _Packet, admitted: bool) -> None:
        """Its last cell came, and was admitted or not."""
        if packet.dropped_cells * CELL == packet.wire_len:
            return
        packet.merged = packet.flow in self._endless
        self._endless.discard(packet.flow)
        if not admitted and self.sharing.policy in (Policy.TAIL, Policy.RANDOM_TAIL):
            self._endless.add(packet.flow)
        if not packet.dropped_cells and not packet.merged:
            packet.lost = self._is_lost()

    def _admits(self, packet: _Packet) -> bool:
        if self.sharing.policy is Policy.TAIL:
            return not self._is_full(1)
        if self.sharing.policy is not Policy.RANDOM_TAIL:
            return not self._is_full(1) and not packet.dropped_cells
        while self._is_full(1):
            number = self._draw_victim()
            if not number:
                return False
            loser = self._queue[-number].packet
            del self._queue[-number]
            loser.dropped_cells += 1
            loser.waiting -= 1
            self._settle(loser, 0)
        return True
