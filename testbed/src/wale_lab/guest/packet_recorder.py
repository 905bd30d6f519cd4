# SPDX-License-Identifier: GPL-2.0
"""Records the tracepoints of packets; standard library only.

The events go to an instance of tracefs with a buffer of its own, even where several runs share a
kernel.  When told to stop, the recorder copies the raw pages to pages.raw (packets/trace_pages.py
parses them), and writes the formats of the events and the number of lost ones to trace.json.

A run in virtual time must be the same with a log as without one.  Anything else that runs
meanwhile would change it: another process or thread takes time, each reading of the clock moves
it, and the kernel's randomness depends on the times of interrupts.  So nothing is copied before
the end: the buffer is large, and the only times in the trace are those in the events.  In real
time, a thread copies the buffer whenever the kernel reports that it is half full.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

TRACING = Path("/sys/kernel/tracing")

#: What the names of instances begin with.
NAME = "wale-packets-"

#: The first must be there, the others come with modules that may not be loaded.
EVENTS = (
    "wale/wale_packet", "wale/wale_release", "tcp/tcp_probe", "ratcp/ratcp_window",
    "wale_wire/wire_arrival",
)  # fmt: skip

#: And these, where a link has another qdisc instead of its buffer.
EVENTS_OF_CHILD = ("wale/wale_child_drop", "skb/kfree_skb")

#: Of all processors together, in real time: far more than what comes while nobody reads.
BUFFER_KB = 32768

#: In virtual time, the share of the guest's memory that is free at the beginning.
SHARE = 0.3

#: So many are written at once.
PAGES = 256

#: Counters of a buffer that say that events are missing.
LOSSES = ("overrun", "commit overrun", "dropped events")


def buffer_kb(virtual: bool) -> int:
    """The size of the buffer."""
    if not virtual:
        return BUFFER_KB
    memory = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    return int(SHARE * next(int(words[1]) for words in memory if words[0] == "MemAvailable:"))


@contextmanager
def tidy_instances() -> Iterator[Path]:
    """The folder of instances, locked, after removing what killed runs have left there."""
    instances = TRACING / "instances"
    lock = os.open(instances, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in instances.glob(NAME + "*"):
            with suppress(OSError):  # a run that goes on reads it
                left.rmdir()
        yield instances
    finally:
        os.close(lock)


def tidy() -> None:
    """Remove what killed runs have left behind."""
    with suppress(OSError), tidy_instances():
        pass


def make_instance() -> tuple[Path, list[int]]:
    """Make an instance, and open its buffer for reading, with a file per processor.

    While one of these files is open, nobody can remove the instance.
    """
    with tidy_instances() as instances:
        instance = instances / f"{NAME}{Path('/proc/self/ns/net').stat().st_ino}"
        instance.mkdir()
        flags = os.O_RDONLY | os.O_NONBLOCK
        cpus = sorted(instance.glob("per_cpu/cpu*"))
        return instance, [os.open(cpu / "trace_pipe_raw", flags) for cpu in cpus]


def enable(events: tuple[str, ...], virtual: bool) -> tuple[Path, list[int]]:
    """Make tracepoints write to a new buffer; OSError if they cannot."""
    if not (TRACING / "events").exists():
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACING], check=False)
    if not (TRACING / "events" / events[0]).exists():
        raise FileNotFoundError(f"there is no tracepoint {events[0]} at {TRACING}/events")
    instance, sources = make_instance()
    (instance / "trace_clock").write_text("counter" if virtual else "mono")
    (instance / "options/overwrite").write_text("0")
    (instance / "buffer_size_kb").write_text(str(buffer_kb(virtual) // len(sources)))
    for event in events:
        if (instance / "events" / event).exists():
            (instance / "events" / event / "enable").write_text("1")
    return instance, sources


def lost(folder: Path) -> int:
    """The number of events that did not fit into a processor's buffer."""
    lines = (line.partition(":") for line in (folder / "stats").read_text().splitlines())
    return sum(int(count) for name, _, count in lines if name in LOSSES)


def copy_pages(source: int, target: int) -> None:
    """Copy a processor's buffer: one page per read, many per write."""
    pages: list[bytes] = []
    while True:
        try:
            page = os.read(source, 65536)
        except BlockingIOError:
            page = b""
        if page:
            pages.append(page)
        if pages and (len(pages) == PAGES or not page):
            os.write(target, b"".join(pages))
            pages.clear()
        if not page:
            return


class Recorder:
    """Records events from now on, and finally writes them to files; OSError if that fails."""

    def __init__(self, folder: str, virtual: bool, has_child: bool) -> None:
        self.events = EVENTS + EVENTS_OF_CHILD * has_child
        self.instance, self.sources = enable(self.events, virtual)
        self.folder, self.virtual = folder, virtual
        self.target = os.open(folder + "/pages.raw", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        self.stopped, self.stopper = os.pipe()
        self.error: OSError | None = None
        self.thread = None if virtual else threading.Thread(target=self._run, daemon=True)
        if self.thread:
            self.thread.start()

    def _run(self) -> None:
        poll = select.poll()
        for source in (self.stopped, *self.sources):
            poll.register(source, select.POLLIN)
        try:
            while not any(fd == self.stopped for fd, _ in poll.poll()):
                self._copy()
        except OSError as error:
            self.error = error

    def _copy(self) -> None:
        """Copy what is in the buffers."""
        for source in self.sources:
            copy_pages(source, self.target)

    def stop(self) -> None:
        """Copy what is left, and describe the pages."""
        (self.instance / "events/enable").write_text("0")
        if self.thread:
            os.write(self.stopper, b"x")
            self.thread.join()
        if self.error:
            raise self.error
        self._copy()
        for file in (*self.sources, self.target):
            os.close(file)
        about = {
            "has_times": not self.virtual,
            "lost": sum(map(lost, self.instance.glob("per_cpu/cpu*"))),
            "header": (TRACING / "events/header_page").read_text(),
            "formats": {
                event.rpartition("/")[2]: (self.instance / "events" / event / "format").read_text()
                for event in self.events
                if (self.instance / "events" / event).exists()
            },
        }
        self.instance.rmdir()
        Path(self.folder, "trace.json").write_text(json.dumps(about))
