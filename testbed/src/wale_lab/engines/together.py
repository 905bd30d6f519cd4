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
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from wale_lab.engines import coverage, guest_clock
from wale_lab.engines.base import GUESTS_MAX, EngineError, Job, Kernel, Outcome, Reason
from wale_lab.engines.processes import end_session, end_with_parent, ended_within
from wale_lab.engines.uml import (
    Guest,
    job_folder,
    one_cpu,
    programs_of_guests,
    tell_of,
    write_job,
)

#: Those of wire_ring.h.
RINGS_MAX = 256
_MAGIC, _VERSION = 0x57495245, 3
_PAGE = mmap.PAGESIZE
_HEAD, _ENTRY = struct.Struct(f"=IIIIQQI{GUESTS_MAX}IIII"), struct.Struct("=QQQII")

#: A packet leaves its sender's link a little before the timer that sends it on, and longer before
#: that if one timer sends all on that left in this part of the wire's delay.
LATENESS_NS, _SLACK_PART = 8192, 50
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


@dataclass(frozen=True)
class Peer:
    """Another machine with guests of the same virtual time, and the connection to it."""

    name: str
    guests: range
    fd: int


@dataclass(frozen=True)
class Place:
    """Which of all guests are on this machine: those from `first` on."""

    first: int
    guests: int  # on all machines
    peers: Sequence[Peer] = field(default=())


#: Exit code of guest_windows when another machine has left.
_EXIT_LOST = 2


class Lost(EngineError):
    """The connection with another machine broke: that machine knows better why."""


def slack_ns(delay_ns: int) -> int:
    """How late packets may go to a wire of this delay, which knows when they left their link."""
    return delay_ns // _SLACK_PART


def lookahead_ns(wires: Sequence[Wire]) -> int:
    """The length of windows: what a packet takes at least from one guest to another."""
    delays_ns = [delay_ns for wire in wires for delay_ns in wire.delays_ns]
    return min((ns - slack_ns(ns) - LATENESS_NS for ns in delays_ns), default=_UNLINKED_NS)


def seed_of(seed: int, guest: int) -> int:
    """Of a guest's random numbers: the first has that of a guest which runs alone."""
    return (seed + guest * _GAMMA) & _MASK


def run_together(
    members: Sequence[tuple[Kernel, Job]],
    wires: Sequence[Wire] = (),
    place: Place | None = None,
    keep_counts: Callable[[Path], None] | None = None,
) -> list[Outcome | None]:
    """Run each guest's job; when one of them fails, the others are ended, and have no outcome.

    `members` are the guests of this machine, `wires` those of all.  `keep_counts` gets the folder
    in which a guest that counts lines has left what it counted (coverage.keep).
    """
    place = place or Place(0, len(members))
    check_together([job for _, job in members], place.guests, wires)
    members = [
        (kernel, replace(job, seed=seed_of(job.seed, number)))
        for number, (kernel, job) in enumerate(members, place.first)
    ]
    began = time.monotonic()
    with ExitStack() as stack:
        memory = stack.enter_context(_memory(place.guests, wires))
        folders = [stack.enter_context(job_folder()) for _ in members]
        counting = []
        for folder, (kernel, job) in zip(folders, members, strict=True):
            job, after = coverage.counted(kernel, job)
            counting += [folder] if after else []
            write_job(folder, kernel, job, after)
            (folder / "wire").symlink_to(memory)
        windows = stack.enter_context(_windows(lookahead_ns(wires), memory, folders, place))
        guests: list[Guest] = []
        try:
            ready = zip(folders, members, strict=True)
            for number, (folder, (kernel, job)) in enumerate(ready, place.first):
                cpu = stack.enter_context(one_cpu(number))
                guests.append(Guest(kernel, folder, job, cpu, number))
            outcomes = _Group(guests, windows, began, place).outcomes()
        finally:
            for guest in guests:
                guest.kill()
        for folder in counting:
            (keep_counts or coverage.keep)(folder / "exchange")
        return outcomes


def check_together(jobs: Sequence[Job], guests: int, wires: Sequence[Wire]) -> None:
    """EngineError for what cannot run together."""
    if guests > GUESTS_MAX:
        raise EngineError(f"expected at most {GUESTS_MAX} guests, got {guests}")
    if 2 * len(wires) > RINGS_MAX:
        most = RINGS_MAX // 2
        raise EngineError(f"expected at most {most} links between guests, got {len(wires)}")
    for job in jobs:
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
    window_ns: int, memory: Path, folders: Sequence[Path], place: Place
) -> Iterator[subprocess.Popen[bytes]]:
    """The program that gives guests their time, ready for them."""
    command = [str(programs_of_guests() / "guest_windows"), "-f", str(place.first)]
    for peer in place.peers:
        command += ["-p", f"{peer.fd}:{peer.guests.start}:{len(peer.guests)}:{peer.name}"]
    process = subprocess.Popen(
        [*command, str(window_ns), str(memory), *map(str, folders)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=end_with_parent,
        pass_fds=[peer.fd for peer in place.peers],
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
        self,
        guests: Sequence[Guest],
        windows: subprocess.Popen[bytes],
        began: float,
        place: Place,
    ) -> None:
        self.guests, self.windows, self.place = guests, windows, place
        self.began = began
        self.deadline = began + max(guest.job.wall_limit_s for guest in guests)
        self.watch = guest_clock.Watch([guest.clock for guest in guests])

    def outcomes(self) -> list[Outcome | None]:
        """How each of them ended by itself; EngineError if what connects them failed."""
        left = list(self.guests)
        ended: dict[int, Outcome] = {}
        while left and not self._failed(ended):
            for guest in left[:]:
                if guest.process.poll() is not None:
                    left.remove(guest)
                    ended[guest.number or 0] = self._outcome(guest, None)
            self._check_windows()
            if left and time.monotonic() > self.deadline:
                number, said = guest_clock.look([guest.clock for guest in left])
                left[number].busy = said
                ended[left[number].number or 0] = self._outcome(left[number], "timeout")
            elif left:
                self._pause(left)
        if self.place.peers and not self._failed(ended):
            self._wait_for_others()
        return [ended.get(guest.number or 0) for guest in self.guests]

    def _outcome(self, guest: Guest, timed_out: Reason | None) -> Outcome:
        return guest.outcome(timed_out, time.monotonic() - self.began)

    def _check_windows(self) -> None:
        """EngineError if the program that gives them their time has failed."""
        if code := self.windows.poll():
            assert self.windows.stderr
            said = self.windows.stderr.read().decode(errors="replace").strip()
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            said = said or f"guest_windows, which gives guests their time, ended with {how}"
            raise (Lost if code == _EXIT_LOST else EngineError)(said)

    def _wait_for_others(self) -> None:
        """The guests of other machines need our part of each window until they have ended."""
        while self.windows.poll() is None:
            if time.monotonic() > self.deadline:
                raise Lost("the guests of other machines did not end before the wall limit")
            ended_within(self.windows, 0.05)
        self._check_windows()

    @staticmethod
    def _failed(ended: dict[int, Outcome]) -> bool:
        return any(outcome.reason != "ok" for outcome in ended.values())

    def _pause(self, left: Sequence[Guest]) -> None:
        """Until a guest has ended, or a moment has passed."""
        for guest in left:
            guest.console.show()
        tell_of(self.watch)
        ended_within(left[0].process, 0.05)
