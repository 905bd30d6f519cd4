# SPDX-License-Identifier: GPL-2.0
"""Several User-Mode Linux guests that run at once, in one virtual time.

guest_windows.c gives them their time, and the module wale_wire (kmod/wire) carries packets between
them, by memory that is laid out here (wire_ring.h).  Each guest is like one that runs alone: its
job, its folder, its own stream of random numbers.
"""

from __future__ import annotations

import mmap
import os
import struct
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from wale_lab.engines import coverage
from wale_lab.engines.base import GUESTS_MAX, EngineError, Job, Kernel, Outcome
from wale_lab.engines.processes import end_session, end_with_parent, ended_within
from wale_lab.engines.uml import (
    Guest,
    job_folder,
    one_cpu,
    programs_of_guests,
    write_job,
)

#: Those of wire_ring.h.
RINGS_MAX = 256
_MAGIC, _VERSION = 0x57495245, 2
_PAGE = mmap.PAGESIZE
_HEAD, _ENTRY = struct.Struct(f"=IIIIQQI{GUESTS_MAX}IIII"), struct.Struct("=QQQII")

#: A packet leaves its sender's link a little before the timer that sends it on.
_LATENESS_NS = 8192
#: Below that windows would cost more than guests that run at once gain.
LEAST_DELAY_NS = 50_000
#: What links carry in a window is multiplied by this: a link may wait with what it sends.
_ROOM = 4
_LEAST_RING, _LARGEST_RING = 1 << 20, 1 << 28
#: Without links, windows of this length.
_UNLINKED_NS = 10_000_000

#: The seeds of guests are so far apart: 2^64 by the golden ratio.
_GAMMA, _MASK = 0x9E3779B97F4A7C15, 2**64 - 1


@dataclass(frozen=True)
class Wire:
    """A link between two guests, by their numbers; it has a device wireN in each."""

    ends: tuple[int, int]
    delays_ns: tuple[int, int]  # from the first to the second, and back
    rates_bps: tuple[int | None, int | None]  # of these directions; None: unlimited

    def ring_bytes(self, direction: int) -> int:
        """How large the ring of a direction is: all of it is used, one part after another."""
        rate_bps = self.rates_bps[direction]
        if rate_bps is None:
            return _LARGEST_RING
        wanted = _ROOM * rate_bps * self.delays_ns[direction] // (8 * 10**9)
        size = _LEAST_RING
        while size < min(wanted, _LARGEST_RING):
            size *= 2
        return size


def lookahead_ns(wires: Sequence[Wire]) -> int:
    """The length of windows: what a packet takes at least from one guest to another."""
    return min((min(wire.delays_ns) - _LATENESS_NS for wire in wires), default=_UNLINKED_NS)


def seed_of(seed: int, guest: int) -> int:
    """Of a guest's random numbers: the first has that of a guest which runs alone."""
    return (seed + guest * _GAMMA) & _MASK


def run_together(
    members: Sequence[tuple[Kernel, Job]], wires: Sequence[Wire] = ()
) -> list[Outcome | None]:
    """Run each guest's job; when one of them fails, the others are ended, and have no outcome."""
    _check(members, wires)
    members = [(k, replace(job, seed=seed_of(job.seed, n))) for n, (k, job) in enumerate(members)]
    began = time.monotonic()
    with ExitStack() as stack:
        memory = stack.enter_context(_memory(len(members), wires))
        folders = [stack.enter_context(job_folder()) for _ in members]
        counting = []
        for folder, (kernel, job) in zip(folders, members, strict=True):
            job, after = coverage.counted(kernel, job)
            counting += [folder] if after else []
            write_job(folder, kernel, job, after)
            (folder / "wire").symlink_to(memory)
        windows = stack.enter_context(_windows(lookahead_ns(wires), memory, folders))
        guests: list[Guest] = []
        try:
            for number, (folder, (kernel, job)) in enumerate(zip(folders, members, strict=True)):
                cpu = stack.enter_context(one_cpu(number))
                guests.append(Guest(kernel, folder, job, cpu, number))
            outcomes = _Group(guests, windows, began).outcomes()
        finally:
            for guest in guests:
                guest.kill()
        for folder in counting:
            coverage.keep(folder / "exchange")
        return outcomes


def _check(members: Sequence[tuple[Kernel, Job]], wires: Sequence[Wire]) -> None:
    """EngineError for what cannot run together."""
    if len(members) > GUESTS_MAX:
        raise EngineError(f"expected at most {GUESTS_MAX} guests, got {len(members)}")
    if 2 * len(wires) > RINGS_MAX:
        most = RINGS_MAX // 2
        raise EngineError(f"expected at most {most} links between guests, got {len(wires)}")
    for _, job in members:
        if job.time != "virtual" or job.interactive:
            raise EngineError("expected virtual time, and no terminal, for guests that run at once")
    for wire in wires:
        if min(wire.delays_ns) < LEAST_DELAY_NS:
            raise EngineError(
                f"expected a delay of at least {LEAST_DELAY_NS // 1000} us on a link between "
                f"guests, got {min(wire.delays_ns)} ns"
            )


@contextmanager
def _memory(guests: int, wires: Sequence[Wire]) -> Iterator[Path]:
    """The memory that guests share, as a file that goes with us, however we end."""
    entries, at = b"", -(-(_HEAD.size + RINGS_MAX * _ENTRY.size) // _PAGE) * _PAGE
    for wire in wires:
        for direction, ends in enumerate((wire.ends, wire.ends[::-1])):
            size = wire.ring_bytes(direction)
            entries += _ENTRY.pack(at, size, wire.delays_ns[direction], *ends)
            at += _PAGE + size
    head = _HEAD.pack(_MAGIC, _VERSION, guests, 2 * len(wires), 0, 0, 0, *[0] * (GUESTS_MAX + 3))
    fd = os.memfd_create("wale-wire")
    try:
        os.truncate(fd, at)
        os.pwrite(fd, head + entries, 0)
        yield Path(f"/proc/{os.getpid()}/fd/{fd}")
    finally:
        os.close(fd)


@contextmanager
def _windows(
    window_ns: int, memory: Path, folders: Sequence[Path]
) -> Iterator[subprocess.Popen[bytes]]:
    """The program that gives guests their time, ready for them."""
    command = [str(programs_of_guests() / "guest_windows"), str(window_ns), str(memory)]
    process = subprocess.Popen(
        [*command, *map(str, folders)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=end_with_parent,
    )
    assert process.stdout and process.stderr
    try:
        if process.stdout.readline() != b"ready\n":
            said = process.stderr.read().decode().strip()
            raise EngineError(f"guests cannot run together: {said}")
        yield process
    finally:
        end_session(process)
        process.stdout.close()
        process.stderr.close()


class _Group:
    """Guests that run."""

    def __init__(
        self, guests: Sequence[Guest], windows: subprocess.Popen[bytes], began: float
    ) -> None:
        self.guests, self.windows, self.began = guests, windows, began

    def outcomes(self) -> list[Outcome | None]:
        """How each of them ended by itself; EngineError if what connects them failed."""
        deadline = self.began + max(guest.job.wall_limit_s for guest in self.guests)
        left = list(self.guests)
        ended: dict[int, Outcome] = {}
        while left and not self._failed(ended):
            late = time.monotonic() > deadline
            for guest in left[:]:
                if guest.process.poll() is not None or late:
                    left.remove(guest)
                    wall_s = time.monotonic() - self.began
                    outcome = guest.outcome("timeout" if late else None, wall_s)
                    ended[guest.number or 0] = outcome
            if self.windows.poll():
                assert self.windows.stderr
                raise EngineError(self.windows.stderr.read().decode().strip())
            if left:
                self._pause(left)
        return [ended.get(number) for number in range(len(self.guests))]

    @staticmethod
    def _failed(ended: dict[int, Outcome]) -> bool:
        return any(outcome.reason != "ok" for outcome in ended.values())

    @staticmethod
    def _pause(left: Sequence[Guest]) -> None:
        """Until a guest has ended, or a moment has passed."""
        for guest in left:
            guest.console.show()
        ended_within(left[0].process, 0.05)
