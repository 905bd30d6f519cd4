# SPDX-License-Identifier: GPL-2.0
"""The host engine: the running kernel, as root, in real time.

A job runs in its own mount, network and process namespaces: its mounts, network namespaces
and processes are removed when it ends.  Modules are loaded for the job, and unloaded after it
unless they were loaded before or another job is running.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from wale_lab.engines.base import (
    EXIT_TIMEOUT,
    OUT_DIR,
    Console,
    EngineError,
    Job,
    Kernel,
    Log,
    Outcome,
    Reason,
    is_of_line,
    wanted_kernel,
)
from wale_lab.engines.processes import ended_before

#: What the kernel says of its modules.
LOADED = Path("/sys/module")

#: Modules that runs have loaded, in order; those that go on hold a shared lock.
LOADED_BY_US = Path("/run/wale-modules")

#: Runs inside the namespaces: sh -c SCRIPT sh OUT COMMAND...
_SCRIPT = f"""
set -e
mount --make-rprivate /
out=$1
shift
[ -z "$out" ] || exec 9<"$out"
mount -t tmpfs -o mode=0755 tmpfs /run
mkdir -p /run/netns /run/tmp {OUT_DIR}
mount -t sysfs sysfs /sys
[ -z "$out" ] || mount --no-canonicalize --bind /proc/self/fd/9 {OUT_DIR}
exec 9<&-
ip link set lo up
exec "$@"
"""


class HostEngine:
    """Runs jobs on the running kernel."""

    name = "host"
    virtual_time = False

    def prepare(self, kernel: str | None, log: Log) -> Kernel:
        release = os.uname().release
        kernel = wanted_kernel(kernel)
        if kernel is not None and not is_of_line(release, kernel):
            raise EngineError(
                f"the host engine runs this machine's kernel, which is {release}, not {kernel}"
            )
        if os.geteuid() != 0:
            raise EngineError("the host engine needs root: run with sudo, or use --engine uml")
        if not Path("/proc/modules").exists():
            raise EngineError(
                f"this machine's kernel ({release}) has no loadable modules "
                "(CONFIG_MODULES is off): use --engine uml"
            )
        um = "User Mode Linux" in Path("/proc/cpuinfo").read_text()
        return Kernel(
            release=release, source=f"running kernel {release}", arch="um" if um else None
        )

    def run(self, kernel: Kernel, job: Job) -> Outcome:
        if job.time == "virtual":
            raise EngineError("the host engine has no virtual time")
        if job.start is not None:
            raise EngineError(
                "the host engine does not set this machine's clock: leave out `start`"
            )
        began = time.monotonic()
        with (
            tempfile.TemporaryDirectory(prefix="wale-host-") as folder,
            _modules_loaded(job),
            _KernelLog() as log,
        ):
            run = _Run(Path(folder), job)
            try:
                timed_out = run.wait(began + job.wall_limit_s)
            finally:
                run.kill()
            return run.outcome(timed_out, log.read(), time.monotonic() - began)


@contextmanager
def _modules_loaded(job: Job) -> Iterator[None]:
    """Load the job's modules that are not loaded yet; the last of several runs unloads them.

    Runs have a lock in common, on a file that lists what they loaded.
    """
    with LOADED_BY_US.open("a+") as ours:
        fcntl.flock(ours, fcntl.LOCK_SH)
        try:
            for path in job.modules:
                _load(path, ours)
            yield
        finally:
            with suppress(BlockingIOError):  # another run goes on
                fcntl.flock(ours, fcntl.LOCK_EX | fcntl.LOCK_NB)
                ours.seek(0)
                for name in filter(_is_loaded, reversed(ours.read().split())):
                    _unload(name)
                ours.truncate(0)


def _load(path: Path, ours: IO[str]) -> None:
    """Load a module, and write that down, unless it is loaded; EngineError if that fails."""
    name = path.stem.replace("-", "_")
    if not _is_loaded(name):
        done = subprocess.run(["insmod", path], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            ours.write(f"{name}\n")
            ours.flush()
            return
        if not _is_loaded(name):  # else another run was faster
            raise EngineError(f"module {path.name} cannot be loaded: {done.stderr.strip()}")
    _refuse_another(name, path)


def _is_loaded(name: str) -> bool:
    lines = Path("/proc/modules").read_text().splitlines()
    return name in (line.split()[0] for line in lines)


def _refuse_another(name: str, path: Path) -> None:
    """EngineError if the loaded module of that name is not the one in the file."""
    try:
        build_id = Path(LOADED, name, "notes/.note.gnu.build-id").read_bytes()
    except OSError:  # this kernel does not tell
        return
    if build_id not in path.read_bytes():
        raise EngineError(
            f"the module {name} that is loaded is not {path}: unload it first (modprobe -r {name})"
        )


def _unload(name: str) -> None:
    for _ in range(20):  # namespaces go a moment after their last process
        done = subprocess.run(["rmmod", name], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
        time.sleep(0.1)
    print(f"wale-lab: the module {name} stays loaded: {done.stderr.strip()}", file=sys.stderr)


class _KernelLog:
    """What the kernel logs while a job runs."""

    def __enter__(self) -> _KernelLog:
        self.fd = -1
        with suppress(OSError):
            self.fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.lseek(self.fd, 0, os.SEEK_END)
        return self

    def __exit__(self, *_: object) -> None:
        if self.fd >= 0:
            os.close(self.fd)

    def read(self) -> str:
        """Warnings and worse since the start."""
        lines = []
        while self.fd >= 0:
            try:
                record = os.read(self.fd, 8192).decode(errors="replace")
            except BlockingIOError:
                break
            except OSError:  # records were overwritten
                continue
            head, _, text = record.partition(";")
            if int(head.split(",")[0]) & 7 <= 4:
                lines.append(text.partition("\n")[0] + "\n")
        return "".join(line for line in lines if "taints kernel" not in line)


class _Run:
    """One command in its namespaces."""

    def __init__(self, folder: Path, job: Job) -> None:
        self.job = job
        self.console = Console(folder / "console", job.on_output)
        out = str(job.out.resolve()) if job.out else ""
        env = {"HOME": "/root", "TMPDIR": "/run/tmp", "LC_ALL": "C.UTF-8", **job.env}
        command = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
        command += ["--mount-proc", "/bin/sh", "-c", _SCRIPT, "sh", out, *job.argv]
        with self.console.path.open("wb") as console:
            self.process = subprocess.Popen(
                command,
                env=env,
                cwd=job.cwd,
                stdin=None if job.interactive else subprocess.DEVNULL,
                stdout=None if job.interactive else console,
                stderr=None if job.interactive else subprocess.STDOUT,
                start_new_session=not job.interactive,
            )

    def wait(self, deadline: float) -> Reason | None:
        in_time = ended_before(self.process, lambda: deadline, self.console.show)
        return None if in_time else "timeout"

    def kill(self) -> None:
        """unshare takes its child, the first process of the namespace, and so all, with it."""
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def outcome(self, timed_out: Reason | None, kernel_log: str, wall_s: float) -> Outcome:
        console = self.console.text()
        code = self.process.returncode
        code = 128 - code if code < 0 else code
        if timed_out:
            return Outcome(EXIT_TIMEOUT, timed_out, console, kernel_log, wall_s)
        return Outcome(code, "exit" if code else "ok", console, kernel_log, wall_s)
