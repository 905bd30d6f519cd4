# SPDX-License-Identifier: GPL-2.0
"""The uml engine: a User-Mode Linux kernel, as an ordinary process, in virtual or real time.

Virtual time makes a run repeatable to the bit, with five measures: computation takes
no time and idle time is skipped (time-travel=inf-cpu), the clock starts at a fixed
date, the kernel's random numbers depend on the seed, bytecode of the testbed's own Python
is hidden (both guest_preload.c), and the memory layout is always the same
(ADDR_NO_RANDOMIZE, norandmaps).  The consoles are files,
which never make the kernel wait, so no host event affects the run.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import math
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO

from wale_lab.engines import (
    copies,
    coverage,
    guest_clock,
    kernel_build,
    kernel_source,
    kernel_tree,
    outside,
)
from wale_lab.engines.base import (
    EXIT_PANIC,
    EXIT_TIMEOUT,
    RELEASED,
    WHEN_BUSY,
    Console,
    EngineError,
    Job,
    Kernel,
    Log,
    Outcome,
    Reason,
    ns_since_1970,
    wanted_kernel,
)
from wale_lab.engines.kernel_modules import loads_modules
from wale_lab.engines.modules import check_places
from wale_lab.engines.processes import Process, end_session, ended_before
from wale_lab.tree import PACKAGE, SOURCES

_ADDR_NO_RANDOMIZE = 0x0040000

#: OpenSSL and what descends from it (BoringSSL, AWS-LC) mix the processor's own random numbers,
#: which no seed reaches, into those of the kernel, unless RDRAND and RDSEED are taken from the
#: features that they see.
_NO_RANDOM_OF_PROCESSOR = {"OPENSSL_ia32cap": "~0x4000000000000000:~0x40000"}
_NOISE = (
    "Core dump limits",
    "\tsoft - ",
    "\thard - ",
    "Checking ",
    "Using a channel type",
    "setup_one_line failed",
    "epollctl add err",
    "This architecture does not have kernel memory protection",
    "BogoMIPS",
    "loading out-of-tree module taints kernel",
    "reboot: Power down",
    "reboot: System halted",
    "Warning: tempdir",
    "WARNING: tempdir",
    # a kernel with lockdep
    "Lock dependency validator: ",
    "... MAX_LOCK",
    "... CLASSHASH_SIZE",
    "... CHAINHASH_SIZE",
    "memory used by lock dependency info",
    "memory used for stack traces",
    "per task-struct memory footprint",
)


class UmlEngine:
    """Runs jobs in User-Mode Linux guests."""

    name = "uml"
    virtual_time = True

    def prepare(self, kernel: str | None, log: Log) -> Kernel:
        kernel = wanted_kernel(kernel)
        check_places()  # before minutes of building
        return kernel_tree.find_or_build(kernel, log)

    def run(self, kernel: Kernel, job: Job) -> Outcome:
        if job.interactive and not os.isatty(0):
            raise EngineError("expected a terminal as standard input of an interactive job")
        outcome = self._run(kernel, job)
        if outcome.exit_code == os.EX_TEMPFAIL and job.shared is not None:  # of a copy
            return self._run(kernel, replace(job, shared=None))
        return outcome

    def _run(self, kernel: Kernel, job: Job) -> Outcome:
        began = time.monotonic()
        job, after = coverage.counted(kernel, job)
        way_out = (
            outside.leads_outside(programs_of_guests() / "outside_frames")
            if job.outside
            else nullcontext(None)
        )
        with job_folder() as folder, one_cpu() as cpu, way_out as frames_socket:
            write_job(folder, kernel, job, after)
            deadline = began + job.wall_limit_s
            start = partial(_original, kernel, job, cpu)
            copied = copies.copy_for(kernel, job, start, cpu, folder, deadline)
            guest = Guest(kernel, folder, job, cpu, outside_socket=frames_socket, copied=copied)
            try:
                timed_out = guest.wait(deadline)
            finally:
                guest.kill()
            if after:
                coverage.keep(folder / "exchange")
            return guest.outcome(timed_out, time.monotonic() - began)


@contextmanager
def _original(kernel: Kernel, job: Job, cpu: int, control: socket.socket) -> Iterator[Process]:
    """A guest to be copied, which begins as one that does this job."""
    with job_folder() as folder:
        write_job(folder, kernel, job, after=None)
        guest = Guest(kernel, folder, job, cpu, control=control)
        try:
            yield guest.process
        finally:
            guest.kill()


#: What is compiled for guests: flags of the compiler and sources, by the name of the program.
_PROGRAMS = {
    "guest_init": (["-static"], ["guest_init.c"]),
    "guest_preload.so": (["-shared", "-fPIC"], ["guest_preload.c", "guest_copy.c"]),
    "guest_windows": ([], ["guest_windows.c", "guest_batches.c"]),
    "outside_frames": (["-pthread"], ["outside_frames.c"]),
}


def programs_of_guests() -> Path:
    """The folder of these programs, compiled once for each state of their sources."""
    here, include = Path(__file__).parent, SOURCES / "kmod/wire"
    read = [here / name for _, names in _PROGRAMS.values() for name in names]
    read += [here / "guest_copy.h", here / "guest_batches.h", include / "wire_ring.h"]
    digest = hashlib.sha256(b"".join(s.read_bytes() for s in read)).hexdigest()[:12]
    folder = kernel_build.cache_root() / f"guest-{digest}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".guest-", dir=folder.parent))
        for name, (flags, sources) in _PROGRAMS.items():
            command = ["gcc", "-O2", "-Wall", f"-I{include}", *flags, "-o", str(work / name)]
            command += [*(str(here / source) for source in sources), "-ldl"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                shutil.rmtree(work)
                raise EngineError(f"compiling {name} failed:\n{done.stderr}")
        work.chmod(0o755)
        try:
            work.rename(folder)
        except OSError:  # somebody else was faster
            shutil.rmtree(work)
    return folder


def _temp_base() -> Path:
    """A folder for temporary files whose path can stand on a kernel command line."""
    base = tempfile.gettempdir()
    return Path(base if len(base) < 60 and not set(base) & set(" \t,\"'=") else "/tmp")


@contextmanager
def job_folder() -> Iterator[Path]:
    base = _temp_base()
    for old in base.glob("wale-guest-*-*"):
        _remove_if_left(old)
    folder, lock = _locked_folder(base)
    try:
        with lock:
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _locked_folder(base: Path) -> tuple[Path, IO[str]]:
    """A new folder, and the lock that says that its launcher lives.

    Before it is locked another launcher may take it for one that was left, and remove it.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"wale-guest-{os.getpid()}-", dir=base))
        with suppress(FileNotFoundError):
            lock = (folder / "lock").open("w")
            fcntl.flock(lock, fcntl.LOCK_EX)
            if (folder / "lock").exists():
                return folder, lock
            lock.close()


def _remove_if_left(folder: Path) -> None:
    """Remove the folder of a launcher that was killed: it holds no lock, on any machine."""
    with suppress(OSError), (folder / "lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if folder.stat().st_uid == os.getuid():
            shutil.rmtree(folder, ignore_errors=True)


def write_job(folder: Path, kernel: Kernel, job: Job, after: str | None) -> None:
    """What guest_init reads: pairs of NUL-terminated strings; `after` is a script to run last."""
    programs = programs_of_guests()
    (folder / "init").symlink_to(programs / "guest_init")
    (folder / "shim.so").symlink_to(programs / "guest_preload.so")
    (folder / "exchange").mkdir()
    (folder / "uml").mkdir()
    env = {"HOME": "/run/tmp", "TMPDIR": "/run/tmp", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
    if job.time == "virtual":
        env |= _NO_RANDOM_OF_PROCESSOR
    env |= {"PYTHONDONTWRITEBYTECODE": "1", "TZ": "UTC", "TERM": "dumb", **job.env}
    # From the kernel's working directory, since a copy has another one.
    pairs = [("job", "/proc/self/cwd/exchange"), ("tty", "1" if job.interactive else "0")]
    if job.out is not None:
        (folder / "out").symlink_to(job.out.resolve())
        pairs.append(("out", "/proc/self/cwd/out/."))
    pairs += [("module", str(path)) for path in job.modules]
    pairs += [("env", f"{key}={value}") for key, value in env.items()]
    pairs += [("cwd", job.cwd)]
    if after:
        pairs.append(("after", after))
    if kernel.image is not None and loads_modules(kernel):
        pairs.append(("modprobe", str(kernel.image.with_name("modprobe"))))
    if job.time == "virtual":
        pairs.append(("limit", str(math.ceil(job.hung_after_s))))
    elif job.start is not None:
        pairs.append(("start", str(ns_since_1970(job.start))))
    pairs += [("arg", word) for word in job.argv]
    data = b"".join(os.fsencode(k) + b"\0" + os.fsencode(v) + b"\0" for k, v in pairs)
    (folder / "job").write_bytes(data)


def _cpu_ticks() -> dict[int, int]:
    """Busy ticks of each CPU so far."""
    ticks = {}
    for line in Path("/proc/stat").read_text().splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name[3:].isdigit():
            user, nice, system, _idle, _iowait, irq, softirq, *_ = map(int, fields)
            ticks[int(name[3:])] = user + nice + system + irq + softirq
    return ticks


_TICKS_AT_START = _cpu_ticks()


@contextmanager
def one_cpu(else_number: int = 0) -> Iterator[int]:
    """The least loaded CPU that we may use and that no other guest of ours holds; if others hold
    all of them, one by number."""
    ticks = _cpu_ticks()
    allowed = sorted(
        os.sched_getaffinity(0), key=lambda c: (ticks.get(c, 0) - _TICKS_AT_START.get(c, 0), c)
    )
    folder = kernel_build.cache_root()
    folder.mkdir(parents=True, exist_ok=True)
    for cpu in allowed:
        # Machines may share the cache, not their CPUs.
        file = (folder / f"cpu-{os.uname().nodename}-{cpu}.lock").open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            continue
        with file:
            yield cpu
        return
    yield allowed[else_number % len(allowed)]


def _memory_folder(megabytes: int, otherwise: Path) -> str:
    """Where the guest's memory file lives: in RAM, if it has room."""
    try:
        room = os.statvfs("/dev/shm")
    except OSError:
        return str(otherwise)
    enough = room.f_bavail * room.f_frsize > megabytes * 2**20
    executable = not room.f_flag & os.ST_NOEXEC
    writable = os.access("/dev/shm", os.W_OK)
    return "/dev/shm" if enough and executable and writable else str(otherwise)


def tell_of(watch: guest_clock.Watch) -> None:
    """Tell early of guests that get nowhere."""
    if said := watch.step():
        print(f"wale-lab: {said} ({WHEN_BUSY})", file=sys.stderr, flush=True)


class Guest:
    """One running User-Mode Linux kernel.

    `number` is that of a guest whose time goes on together with that of others (together.py).
    `copied` is the process of one that is a copy; `control` is what one to be copied listens to.
    `outside_socket` carries the frames of a device that leads outside (outside.py).
    """

    def __init__(
        self,
        kernel: Kernel,
        folder: Path,
        job: Job,
        cpu: int,
        number: int | None = None,
        copied: Process | None = None,
        control: socket.socket | None = None,
        outside_socket: int | None = None,
    ) -> None:
        self.folder, self.job, self.image, self.number = folder, job, kernel.image, number
        self.outside_socket = outside_socket
        self.busy = ""  # what it did when it had to be ended
        self.version = kernel_source.version_key(kernel.release)[:2]
        self.console = Console(folder / "console", job.on_output)
        self.log_path = folder / "kernel-log"
        self.terminal = termios.tcgetattr(0) if job.interactive and os.isatty(0) else None
        self.process = copied or self._start(cpu, control)
        alone = job.time == "virtual" and number is None
        self.clock = guest_clock.Clock(self.image, self.process.pid)
        self.watch = guest_clock.Watch([self.clock] if alone else [])

    def _start(self, cpu: int, control: socket.socket | None) -> subprocess.Popen[bytes]:
        job, folder = self.job, self.folder
        virtual = job.time == "virtual"
        env = {"LD_PRELOAD": str(folder / "shim.so"), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
        env["TMPDIR"] = _memory_folder(job.memory_mb, folder)
        if virtual:
            env["WALE_SEED"] = str(job.seed)
            env["WALE_SOURCES"] = str(PACKAGE)
            if self.version >= (6, 2):  # Linux 6.1 loses the sleeps that guest_preload.c makes
                env["WALE_SPINS"] = "1"
        if self.number is not None:
            env["WALE_WIRE"] = str(self.number)
        if control is not None:
            env["WALE_COPIES"] = str(control.fileno())
        inherited = (control.fileno() if control else None, self.outside_socket)
        libc = ctypes.CDLL(None)

        def in_child() -> None:
            libc.personality(_ADDR_NO_RANDOMIZE)
            os.sched_setaffinity(0, {cpu})
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        with self.console.path.open("wb") as console, self.log_path.open("wb") as log:
            return subprocess.Popen(
                [str(self.image), *self._command_line(virtual)],
                env=env,
                cwd=folder,
                stdin=None if job.interactive else subprocess.DEVNULL,
                stdout=None if job.interactive else console,
                stderr=log,
                start_new_session=True,
                preexec_fn=in_child,
                pass_fds=[fd for fd in inherited if fd is not None],
            )

    def _command_line(self, virtual: bool) -> list[str]:
        # No path that differs between runs: the kernel mixes its command line into its
        # randomness. /proc is still the host's when init starts: cwd is the job's folder.
        words = [f"mem={self.job.memory_mb}M", "root=/dev/root", "rootfstype=hostfs"]
        words += ["rootflags=/", "ro", "init=/proc/self/cwd/init", "uml_dir=uml/"]
        words += ["umid=guest", "con=null", "con1=null,fd:2", "console=tty1", "ssl=null"]
        words += ["con0=fd:0,fd:1" if self.job.interactive else "con0=null,fd:1"]
        words += ["loglevel=5", "norandmaps"]
        if self.version < (6, 2):  # where getrandom() waits else for randomness that never comes
            words += ["random.trust_cpu=1"]
        if self.version >= (6, 14):  # where KUnit tests wait else until somebody starts them
            words += ["kunit.autorun=1"]
        if self.outside_socket is not None:
            words += [outside.kernel_word(self.outside_socket)]
        if virtual:
            start_ns = ns_since_1970(self.job.start or RELEASED)
            mode = "inf-cpu" if self.number is None else "ext:time"
            words += [f"time-travel={mode}", f"time-travel-start={start_ns}"]
        return words

    def wait(self, deadline: float) -> Reason | None:
        """Wait for the end; "timeout" if it has to be ended."""
        in_time = ended_before(self.process, lambda: deadline, self._meanwhile)
        if not in_time and self.job.time == "virtual":
            _, self.busy = guest_clock.look([self.clock])
        return None if in_time else "timeout"

    def _meanwhile(self) -> None:
        """Pass output on, and tell early of a guest that gets nowhere."""
        self.console.show()
        tell_of(self.watch)

    def kill(self) -> None:
        """End every process of the guest and wait until none is left."""
        end_session(self.process)
        if self.terminal is not None:
            termios.tcsetattr(0, termios.TCSADRAIN, self.terminal)

    def outcome(self, timed_out: Reason | None, wall_s: float) -> Outcome:
        console = self.console.text()
        kernel_log = "".join(
            line.replace("\r", "")
            for line in self.log_path.read_bytes().decode(errors="replace").splitlines(True)
            if line.strip() and not any(noise in line for noise in _NOISE)
        )
        status = self.folder / "exchange" / "status"
        word, _, rest = (status.read_text() if status.exists() else "").partition(" ")
        if word == "error":
            raise EngineError(f"the guest could not {rest.strip()}\n{kernel_log[-2000:]}".strip())
        reason: Reason
        if timed_out:
            reason, code = timed_out, EXIT_TIMEOUT
        elif word.strip() == "hung":
            reason, code = "hung", EXIT_TIMEOUT
        elif word == "exit":
            code = int(rest)
            reason = "exit" if code else "ok"
        else:
            reason, code = "panic", EXIT_PANIC
        virtual = self.job.time == "virtual"
        return Outcome(code, reason, console, kernel_log, wall_s, virtual, self.busy)


if __name__ == "__main__":
    sys.exit("engines/uml.py is part of wale-lab: run `testbed/wale-lab --help`")
