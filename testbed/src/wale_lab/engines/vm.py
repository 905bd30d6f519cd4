# SPDX-License-Identifier: GPL-2.0
"""The vm engine: a kernel of the distribution, as it is packaged, booted by virtme-ng.

QEMU has two processors, with KVM if that works, else emulated (TCG).  The root file
system is the host's, read only, over 9p; directories that a job may write to are mounted over it.
Time is real.  virtme-ng's own init mounts what programs expect and starts
vm_guest.sh, which runs the job.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wale_lab.engines import debian, kvm, stock_kernel
from wale_lab.engines.base import (
    EXIT_PANIC,
    EXIT_TIMEOUT,
    OUT_DIR,
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
from wale_lab.engines.modules import needs
from wale_lab.engines.processes import end_session, ended_before
from wale_lab.errors import missing_package

#: Two, so that the kernel's locks are needed.
CPUS = 2

#: Less than this, and a stock kernel has no room for its modules.
MEMORY_MIN_MB = 768

#: Booting takes 2 s with KVM and 20 s without, on an idle host.
BOOT_LIMIT_S = 600.0

#: Without KVM, so often: of some 30 kernels that QEMU emulates with two processors, one dies in
#: its own code while it boots (patched code that the other processor runs).
BOOTS = 2

#: Where a guest finds what engines/vm.py wrote for vm_guest.sh.
_JOB_DIR = "/run/wale/job"

#: Where it has the host's files with a cache; any folder that every host has.
_ROOT_DIR = "/mnt"

#: What vm_guest.sh writes into the kernel's log; before it is the boot.
_BEGIN = "wale: the job begins"

#: What it prints behind the job's own output.  QEMU may get output later than it learns that the
#: machine is off, and leaves it then: the guest waits until it is told that this came.
_END = b"\x1ewale: the job has ended\x1e"

_GUEST = Path(__file__).with_name("vm_guest.sh")

#: Hardware that a guest has no use for; probing it takes a third of the boot time.
_LEFT_OUT = (
    "acpi_cpufreq ahci button ccp evdev i2c_i801 i6300esb iTCO_wdt kvm kvm_amd kvm_intel libata "
    "lpc_ich pcspkr powernow_k8 psmouse qemu_fw_cfg serio_raw sg sr_mod"
).split()

#: Lines of the kernel that are no news: our modules are neither signed nor in its tree.
_NOISE = ("taints kernel", "module verification failed", "is blacklisted", "reboot: Power down")


@dataclass(frozen=True)
class _Machine:
    """What the engine calls by another name on each architecture."""

    distribution_arch: str
    qemu: str
    qemu_package: str


#: By what uname -m says.
_MACHINES = {"x86_64": _Machine("amd64", "qemu-system-x86_64", "qemu-system-x86")}


def _machine() -> _Machine:
    name = platform.machine()
    if name not in _MACHINES:
        raise EngineError(f"the vm engine is made for {', '.join(_MACHINES)} hosts, not for {name}")
    return _MACHINES[name]


def _need_tools(machine: _Machine) -> None:
    tools = {machine.qemu: machine.qemu_package, "busybox": "busybox-static", "file": "file"}
    tools |= {"udevadm": "udev", "insmod": "kmod", "depmod": "kmod", "setpriv": "util-linux"}
    path = debian.tools_path()
    missing = {package for tool, package in tools.items() if not shutil.which(tool, path=path)}
    if missing:
        raise EngineError(
            "for the vm engine, install: sudo apt-get install " + " ".join(sorted(missing))
        )


class VmEngine:
    """Runs jobs on a distribution's kernel, in a virtual machine.

    With `counting` its clock counts instructions: one for each ns, on one processor.
    """

    name = "vm"
    virtual_time = False

    def __init__(self, counting: bool = False) -> None:
        self.counting = counting
        self._log: Log = lambda _text: None

    def prepare(self, kernel: str | None, log: Log) -> Kernel:
        self._log = log
        machine = _machine()
        _need_tools(machine)
        kernel = wanted_kernel(kernel)
        if kernel is not None and "/" in kernel:
            raise EngineError(
                f"--kernel {kernel}: the vm engine boots packaged kernels; one of your own runs in "
                "the uml engine"
            )
        return stock_kernel.find(kernel, machine.distribution_arch, log)

    def run(self, kernel: Kernel, job: Job) -> Outcome:
        if job.time == "virtual":
            raise EngineError("the vm engine has no virtual time")
        if job.interactive:
            raise EngineError(
                "the vm engine has no terminal for a job: give it commands (`shell -c`, `exec`)"
            )
        assert kernel.image
        fast = not self.counting and kvm.usable(_machine().qemu, kernel.image, self._log)
        began = time.monotonic()
        boots_left = 1 if fast else BOOTS
        while True:
            boots_left -= 1
            with _job_folder() as folder:
                _write_job(folder, job)
                guest = _Guest(kernel.image, folder, job, fast, self.counting)
                try:
                    in_time = guest.wait()
                finally:
                    guest.kill()
                if guest.booted or not in_time or not boots_left:
                    return guest.outcome(in_time, time.monotonic() - began)
            self._log(f"{kernel.release} died while it booted, before it had to do with us: again")


@contextmanager
def _job_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="wale-vm-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "exchange").mkdir()
        yield folder


def _write_job(folder: Path, job: Job) -> None:
    """What vm_guest.sh reads."""
    ours = {path.stem for path in job.modules}
    lines: list[str] = []
    for path in job.modules:
        lines += [name for name in needs(path.read_bytes()) if name not in ours]
        lines.append(str(path))
    exchange = folder / "exchange"
    (exchange / "modules").write_text("".join(f"{line}\n" for line in lines))
    env = {"HOME": "/run/tmp", "TMPDIR": "/run/tmp", "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    env |= {"PYTHONDONTWRITEBYTECODE": "1", "TZ": "UTC", **job.env}
    words = ["env", "-i", f"--chdir={job.cwd}", *(f"{k}={v}" for k, v in env.items()), *job.argv]
    (exchange / "command").write_text(f"exec {shlex.join(words)}\n")
    if job.start is not None:
        seconds, ns = divmod(ns_since_1970(job.start), 10**9)
        (exchange / "start").write_text(f"@{seconds}.{ns:09}\n")


class _Guest:
    """One running virtual machine."""

    def __init__(self, image: Path, folder: Path, job: Job, fast: bool, counting: bool) -> None:
        self.job = job
        self.counting = counting
        self.began = time.monotonic()
        self.job_began: float | None = None
        self.exchange = folder / "exchange"
        self.console = Console(folder / "console", job.on_output, _END)
        self.log_path = folder / "kernel-log"
        script = f"{shlex.quote(str(_GUEST))} {_JOB_DIR} {_ROOT_DIR}"
        command = (
            _bounded(BOOT_LIMIT_S + job.wall_limit_s)
            + self._virtme(image, fast)
            + ["--script-sh", script]
            + self._machine_options()
        )
        with self.console.path.open("wb") as console, self.log_path.open("wb") as log:
            self.process = subprocess.Popen(
                command,
                env={**os.environ, "TMPDIR": str(folder)},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=log,
                start_new_session=True,
            )

    def _virtme(self, image: Path, fast: bool) -> list[str]:
        program = Path(sys.executable).with_name("virtme-run")
        if not program.exists():
            raise missing_package("virtme-ng")
        words = [
            str(program),
            "--kimg",
            str(image),
            "--mods",
            "auto",
            "--cpus",
            "1" if self.counting else str(CPUS),
            "--user",
            "root",
            "--force-9p",
        ]
        words += ["--memory", str(max(self.job.memory_mb, MEMORY_MIN_MB)), "--show-boot-console"]
        words += ["--rwdir", f"{_JOB_DIR}={self.exchange}"]
        words += ["--rodir", f"{_ROOT_DIR}=/"]
        if self.job.out is not None:
            words += ["--rwdir", f"{OUT_DIR}={self.job.out.resolve()}"]
        if not fast:
            words.append("--disable-kvm")
        return [*words, "--kopt", "module_blacklist=" + ",".join(_LEFT_OUT)]

    def _machine_options(self) -> list[str]:
        """What virtme-run hands to QEMU; its last words."""
        return ["--qemu-opts", "-icount", "shift=0,sleep=off"] if self.counting else []

    @property
    def booted(self) -> bool:
        """Did the job begin, with the loading of its modules?"""
        return (self.exchange / "begun").exists()

    def _deadline(self) -> float:
        """The limit of a job begins with it; before, there is one for booting."""
        if self.job_began is None and self.booted:
            self.job_began = time.monotonic()
        if self.job_began is None:
            return self.began + BOOT_LIMIT_S
        return self.job_began + self.job.wall_limit_s

    def wait(self) -> bool:
        """Wait for the end; tell whether it came in time."""
        return ended_before(self.process, self._deadline, self._listen)

    def _listen(self) -> None:
        self.console.show()
        if self.console.complete:
            (self.exchange / "heard").touch()

    def kill(self) -> None:
        """End every process of the machine."""
        end_session(self.process)

    def outcome(self, in_time: bool, wall_s: float) -> Outcome:
        console = self.console.text()
        text = self.log_path.read_bytes().decode(errors="replace").replace("\r", "")
        boot, begun, since = text.partition(_BEGIN)
        kernel_log = "".join(
            line
            for line in (since if begun else boot).splitlines(True)
            if line.strip() and not any(noise in line for noise in _NOISE)
        )
        status = self.exchange / "status"
        word, _, rest = (status.read_text() if status.exists() else "").partition(" ")
        if word == "error":
            raise EngineError(f"the guest could not {rest.strip()}\n{console[-2000:]}".strip())
        reason: Reason
        if not in_time:
            reason, code = "timeout", EXIT_TIMEOUT
        elif word == "exit":
            code = int(rest)
            reason = "exit" if code else "ok"
        else:
            reason, code = "panic", EXIT_PANIC
        return Outcome(code, reason, console, kernel_log, wall_s)


def _bounded(limit_s: float) -> list[str]:
    """The beginning of a command that ends when this process does, and when its time is over."""
    return ["setpriv", "--pdeathsig", "TERM", "timeout", "-s", "KILL", f"{limit_s + 60:.0f}"]
