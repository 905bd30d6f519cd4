# SPDX-License-Identifier: GPL-2.0
"""Guests of one virtual time on several machines: `wale-lab run --hosts`.

A command of the user starts `wale-lab machine` (machine.py) on each machine.  This launcher tells
all of them what to do and collects what they found; their controllers (guest_batches.c) talk to
each other without it.
"""

from __future__ import annotations

import secrets
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from wale_lab.engines import coverage
from wale_lab.engines.base import EngineError, Job, Log, Outcome, TimedOut
from wale_lab.engines.machine import COUNTS, PROTOCOL, job_to
from wale_lab.engines.machine_frames import FrameError, Frames
from wale_lab.engines.machine_links import SECRET_BYTES
from wale_lab.engines.machine_needs import Needs, Ready, differences, identity
from wale_lab.engines.processes import end_session
from wale_lab.engines.together import Lost, Wire, check_together
from wale_lab.tree import LAUNCHER, version

_T = TypeVar("_T")

#: This machine, as the name of a host: nothing is needed to start wale-lab there.
HERE = "local"
SSH = "ssh -o BatchMode=yes {host}"

#: A machine says every 5 s that it is alive.
PATIENCE_S = 60.0
#: When one machine has failed the others are given so long to say what they know.
_GRACE_S = 10.0
#: What a machine may take beyond the wall limit of its guests, to start and to end them.
_AROUND_S = 60.0


@dataclass(frozen=True)
class Host:
    """A machine, and the address at which the others reach it."""

    name: str
    address: str


@dataclass(frozen=True)
class Fleet:
    """The machines of a run, and the command that starts a program there."""

    hosts: Sequence[Host]
    starter: str = SSH

    def shares(self, guests: int) -> list[range]:
        """Which guests are on which machine: about as many on each, in a row."""
        count = len(self.hosts)
        if guests < count:
            raise EngineError(
                f"--hosts: expected at most {guests} machines, one for each guest, got {count}"
            )
        return [range(n * guests // count, (n + 1) * guests // count) for n in range(count)]

    def command(self, host: Host) -> list[str]:
        """What starts wale-lab on a machine."""
        words = [] if host.name == HERE else shlex.split(self.starter)
        return [*(word.replace("{host}", host.name) for word in words), *LAUNCHER, "machine"]


def parse_starter(text: str) -> str:
    """The command of `--starter`; ValueError if it is none."""
    with suppress(ValueError):  # a quote that is not closed
        if shlex.split(text):
            return text
    raise ValueError(f"expected a command, with closed quotes, got {text!r}")


def parse_hosts(text: str) -> list[Host]:
    """The machines of `--hosts`: NAME or NAME=ADDRESS, with commas between; ValueError if not."""
    hosts = []
    for word in text.split(","):
        name, equals, address = word.strip().partition("=")
        if not name or name.startswith("-") or bool(equals) != bool(address) or ":" in name:
            raise ValueError(f"expected NAME or NAME=ADDRESS, with commas between, got {word!r}")
        default = "127.0.0.1" if name == HERE else name.rpartition("@")[2]
        hosts.append(Host(name, address or default))
    names = [host.name for host in hosts if host.name != HERE]
    if len(set(names)) < len(names):
        raise ValueError(f"expected each machine once, got {text!r}")
    if names and any(host == Host(HERE, "127.0.0.1") for host in hosts):
        raise ValueError(f"expected {HERE}=ADDRESS, an address that the other machines reach")
    return hosts


class _Died(Lost):
    """A machine has left without a word: why the others have lost it."""


@dataclass
class _Machine:
    """A machine on which wale-lab was started."""

    host: Host
    guests: range
    process: subprocess.Popen[bytes]
    frames: Frames
    errors: IO[bytes]

    def hear(self, wanted: str, log: Log) -> dict[str, Any]:
        """The message that is waited for."""
        while True:
            with self.hearing() as frames:
                message = frames.hear()
            if "log" in message:
                log(f"{self.host.name}: {message['log']}")
            elif "error" in message:
                kinds = {"lost": Lost, "timeout": TimedOut}
                kind = kinds.get(message.get("kind", ""), EngineError)
                raise kind(f"{self.host.name}: {message['error']}")
            elif wanted in message:
                return message
            elif "alive" not in message:
                raise FrameError(f"{self.host.name}: expected {wanted!r}, got {sorted(message)}")

    @contextmanager
    def telling(self) -> Iterator[Frames]:
        """Its frames, to send; if it has left, what it said before, or its end, is heard next."""
        with suppress(BrokenPipeError):
            yield self.frames

    @contextmanager
    def hearing(self) -> Iterator[Frames]:
        """Its frames, to receive, with an error of our own if it has left."""
        try:
            yield self.frames
        except EOFError as error:
            raise _Died(self._left(str(error))) from None

    def _left(self, within: str) -> str:
        """That it ended without an answer, and what it said last."""
        try:
            code = self.process.wait(5)
        except subprocess.TimeoutExpired:
            code = None
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        how = "closed its output" if code is None else f"ended with exit code {code}"
        part = f", after {within}" if within else ""
        said = f": {lines[-1]}" if lines else ""
        return f"{self.host.name}: wale-lab {how} without a result{part}{said}"


@dataclass(frozen=True)
class Work:
    """What all guests are to do; guest N finds its plan in the folder guestN of `folder`."""

    needs: Sequence[Needs]
    ready: Sequence[Ready]  # the same, here
    job: Job
    wires: Sequence[Wire]
    folder: Path


def run_on_machines(fleet: Fleet, work: Work, log: Log) -> list[Outcome | None]:
    """As run_together, on several machines; the files of all guests come back to the folder."""
    shares = fleet.shares(len(work.needs))
    check_together([work.job], len(work.needs), work.wires)
    with ExitStack() as stack:
        machines = [
            stack.enter_context(_started(fleet, host, guests))
            for host, guests in zip(fleet.hosts, shares, strict=True)
        ]
        talk = _Talk(stack.enter_context(ThreadPoolExecutor(len(machines))), machines)
        stack.callback(talk.end_all)  # before the threads are waited for
        ports = talk.all(lambda machine: _prepared(machine, work, log), None)
        limit_s = work.job.wall_limit_s + _AROUND_S
        said = _work_said(work, machines, ports)
        ended = talk.all(lambda machine: _done(machine, said, work, log), limit_s)
    _keep_counts(work.folder)
    parts = zip(ended, shares, strict=True)
    return [outcome for part, guests in parts for outcome in part or [None] * len(guests)]


@contextmanager
def _started(fleet: Fleet, host: Host, guests: range) -> Iterator[_Machine]:
    command = fleet.command(host)
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineError(f"{host.name}: cannot start {command[0]}: {error.strerror}") from None
        assert process.stdin and process.stdout
        fds = process.stdout.fileno(), process.stdin.fileno()
        machine = _Machine(host, guests, process, Frames(host.name, *fds, PATIENCE_S), errors)
        try:
            yield machine
        finally:
            _end(machine)
            process.stdout.close()


def _end(machine: _Machine) -> None:
    """Wait until it has ended by itself, since its input has ended; not for long."""
    _end_input(machine)
    with suppress(subprocess.TimeoutExpired):
        machine.process.wait(_GRACE_S)
    end_session(machine.process)


def _end_input(machine: _Machine) -> None:
    """What ends wale-lab there, and what it runs."""
    assert machine.process.stdin
    with suppress(OSError):
        machine.process.stdin.close()


class _Talk:
    """Conversations with all machines at once."""

    def __init__(self, pool: ThreadPoolExecutor, machines: Sequence[_Machine]) -> None:
        self.pool, self.machines = pool, machines

    def end_all(self) -> None:
        """None of them is needed any more."""
        for machine in self.machines:
            _end_input(machine)
        for machine in self.machines:
            _end(machine)

    def all(self, talk: Callable[[_Machine], _T], limit_s: float | None) -> list[_T | None]:
        """What each said; None: it had not when another machine had a guest that failed."""
        futures = [self.pool.submit(talk, machine) for machine in self.machines]
        deadline = time.monotonic() + limit_s if limit_s else None
        left: set[Future[_T]] = set(futures)
        while left and (deadline is None or time.monotonic() < deadline):
            done, left = wait(left, 1, FIRST_COMPLETED)
            if any(map(_failed, done)):
                grace = time.monotonic() + _GRACE_S
                deadline = min(grace, deadline or grace)
        self._raise_best(futures, limit_s)
        return [None if not f.done() or f.exception() else f.result() for f in futures]

    def _raise_best(self, futures: Sequence[Future[_T]], limit_s: float | None) -> None:
        """The error that says most, unless a guest has failed, which says more."""
        errors = [error for f in futures if f.done() and (error := f.exception())]
        if any(f.done() and not f.exception() and _failed(f) for f in futures):
            errors = [error for error in errors if not isinstance(error, Lost)]
        elif not errors and not all(f.done() for f in futures):
            pairs = zip(self.machines, futures, strict=True)
            silent = [machine.host.name for machine, f in pairs if not f.done()]
            errors.append(TimedOut(f"{', '.join(silent)}: no result within {limit_s:g} s"))
        if errors:
            raise min(errors, key=_rank)


def _failed(future: Future[Any]) -> bool:
    """Did a conversation fail, or tell of a guest that did?"""
    if future.exception():
        return True
    said = future.result()
    return isinstance(said, list) and any(one is None or one.reason != "ok" for one in said)


def _rank(error: BaseException) -> int:
    """Errors that explain others come first."""
    if isinstance(error, _Died):
        return 1
    if isinstance(error, Lost):
        return 3
    return 2 if isinstance(error, TimedOut) else 0


def _prepared(machine: _Machine, work: Work, log: Log) -> int:
    """Have it find or build what its guests need; the port of its controller."""
    hello = machine.hear("protocol", log)
    if (hello["protocol"], hello.get("version")) != (PROTOCOL, version()):
        raise EngineError(
            f"{machine.host.name}: expected wale-lab {version()}, got {hello.get('version')} "
            f"(protocol {hello['protocol']}, here {PROTOCOL})"
        )
    guests = machine.guests
    wanted = [asdict(work.needs[guest]) for guest in guests]
    with machine.telling() as frames:
        frames.say({"address": machine.host.address, "guests": wanted})
    said = machine.hear("ready", log)["ready"]
    here = identity([work.ready[guest] for guest in guests])
    if other := differences(here, said["identity"]):
        raise EngineError(
            f"{machine.host.name}: expected the same as here, for the same digest, got another "
            + ", another ".join(other)
        )
    return int(said["port"])


def _work_said(work: Work, machines: Sequence[_Machine], ports: Sequence[Any]) -> dict[str, Any]:
    """What all machines are told alike."""
    return {
        "machines": [
            {"name": m.host.name, "host": m.host.address, "port": port}
            for m, port in zip(machines, ports, strict=True)
        ],
        "guests": [[m.guests.start, m.guests.stop] for m in machines],
        "secret": secrets.token_hex(SECRET_BYTES),
        "wires": [astuple(wire) for wire in work.wires],
        "job": job_to(work.job),
    }


def _done(machine: _Machine, said: dict[str, Any], work: Work, log: Log) -> list[Outcome | None]:
    """Have it run its guests; how they ended, and their files."""
    number = [ends[0] for ends in said["guests"]].index(machine.guests.start)
    with machine.telling() as frames:
        frames.say({**said, "number": number})
        frames.send_files(work.folder, [f"guest{guest}" for guest in machine.guests])
    outcomes = machine.hear("outcomes", log)["outcomes"]
    with machine.hearing() as frames:
        frames.receive_files(work.folder)
    return [Outcome(**one) if one else None for one in outcomes]


def _keep_counts(folder: Path) -> None:
    """Add what guests elsewhere have counted to what those here have."""
    for counts in sorted(folder.glob(f"{COUNTS}-*")):
        coverage.keep(counts)
        shutil.rmtree(counts)
