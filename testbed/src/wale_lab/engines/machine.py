# SPDX-License-Identifier: GPL-2.0
"""`wale-lab machine`: the part of a run that is on this machine, for a launcher elsewhere.

Everything comes through standard input, and every answer goes to standard output, in frames
(machine_frames.py): what the guests need; that it is there; what they are to do; how they ended,
and their files.
"""

from __future__ import annotations

import argparse
import os
import select
import shutil
import signal
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from wale_lab.engines.base import Job, Outcome, TimedOut
from wale_lab.engines.machine_frames import Frames
from wale_lab.engines.machine_links import Address, connect_all, listen
from wale_lab.engines.machine_needs import Needs, Ready, identity
from wale_lab.engines.together import Lost, Peer, Place, Wire, run_together
from wale_lab.engines.uml import job_folder
from wale_lab.errors import LabError
from wale_lab.tree import version

#: What it says first: a launcher of another version is told so at once.
PROTOCOL = 1

#: So often it says that it is alive, in seconds.
ALIVE_S = 5.0

#: How the folders with what guests have counted begin, among those that go back.
COUNTS = "counts"


def machine_command(_args: argparse.Namespace) -> int:
    """The subcommand `machine`."""
    answers = os.dup(1)
    os.dup2(2, 1)  # what others print is no answer
    frames = Frames("the launcher", 0, answers, None)
    try:
        with job_folder() as folder:
            frames.say({"protocol": PROTOCOL, "version": version()})
            with _alive(frames):
                outcomes = _serve(frames, folder / "files")
            frames.say({"outcomes": [asdict(one) if one else None for one in outcomes]})
            names = sorted(path.name for path in (folder / "files").iterdir())
            frames.send_files(folder / "files", names)
    except EOFError:
        return 1  # the launcher has left
    except (LabError, OSError) as error:
        with suppress(OSError):
            frames.say({"error": str(error), "kind": _kind(error)})
    return 0


def _kind(error: Exception) -> str:
    kinds = {Lost: "lost", TimedOut: "timeout"}
    return next((word for kind, word in kinds.items() if isinstance(error, kind)), "error")


@contextmanager
def _alive(frames: Frames) -> Iterator[None]:
    """Say meanwhile that this machine is alive; nothing is between frames of files later."""
    ended = threading.Event()
    saying = threading.Thread(target=_say_alive, args=(frames, ended), daemon=True)
    saying.start()
    try:
        yield
    finally:
        ended.set()
        saying.join()


def _say_alive(frames: Frames, ended: threading.Event) -> None:
    while not ended.wait(ALIVE_S):
        try:
            frames.say({"alive": True})
        except OSError:
            os.kill(os.getpid(), signal.SIGTERM)
            return


@contextmanager
def _ends_with_launcher() -> Iterator[None]:
    """Nothing more is to come meanwhile: if the input ends, the launcher has left."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.is_set():
            ready, _, _ = select.select([0], [], [], 0.5)
            if ready and not ended.is_set():
                os.kill(os.getpid(), signal.SIGTERM)
                return

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()


def _serve(frames: Frames, folder: Path) -> list[Outcome | None]:
    wanted = frames.hear()
    listener = listen(wanted["address"])
    ready = [Needs(**one).find(_log_to(frames)) for one in wanted["guests"]]
    port = listener.getsockname()[1]
    frames.say({"ready": {"port": port, "identity": identity(ready)}})
    work = frames.hear()
    frames.receive_files(folder)
    with _ends_with_launcher():
        machines = [Address(**one) for one in work["machines"]]
        links = connect_all(listener, machines, work["number"], bytes.fromhex(work["secret"]))
        guests = [range(*ends) for ends in work["guests"]]
        peers = [Peer(machines[n].name, guests[n], link.fileno()) for n, link in links.items()]
        place = Place(guests[work["number"]].start, guests[-1].stop, peers)
        try:
            return _run(work, place, ready, folder, _keep_in(folder))
        finally:
            for link in links.values():
                link.close()


def _log_to(frames: Frames) -> Callable[[str], None]:
    return lambda text: frames.say({"log": str(text)})


def _run(
    work: dict[str, Any],
    place: Place,
    ready: Sequence[Ready],
    folder: Path,
    keep_counts: Callable[[Path], None],
) -> list[Outcome | None]:
    members = []
    for number, one in enumerate(ready, place.first):
        job = job_from(work["job"])
        job.out, job.env, job.modules = folder / f"guest{number}", one.env, one.modules
        members.append((one.kernel, job))
    wires = [Wire(*(tuple(part) for part in wire)) for wire in work["wires"]]
    return run_together(members, wires, place, keep_counts)


def _keep_in(folder: Path) -> Callable[[Path], None]:
    """What keeps the counts of guests for the launcher, which adds them up."""

    def keep(exchange: Path) -> None:
        if (exchange / "gcov").exists():
            shutil.copytree(exchange / "gcov", folder / f"{COUNTS}-{uuid.uuid4().hex}" / "gcov")

    return keep


#: What of a job is said to a machine; the rest is found there.
_SAID = ("argv", "seed", "time", "memory_mb", "wall_limit_s", "hung_after_s", "cwd")


def job_to(job: Job) -> dict[str, Any]:
    """A job, as a launcher says it."""
    said = {name: getattr(job, name) for name in _SAID}
    return said | {"start": job.start.isoformat() if job.start else None}


def job_from(said: dict[str, Any]) -> Job:
    """The same, as a machine has it."""
    start = datetime.fromisoformat(said["start"]) if said["start"] else None
    return Job(**{name: said[name] for name in _SAID}, start=start)
