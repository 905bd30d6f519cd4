# SPDX-License-Identifier: GPL-2.0
"""A machine of namespaces whose first process is systemd (systemd_boot.sh), for tests of units."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

SYSTEMD = Path("/lib/systemd/systemd")
BOOT = Path(__file__).with_name("systemd_boot.sh")
UNSHARE = ["unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--cgroup"]
WAIT_S = 30.0

# What the units that are tested refer to, with nothing in it.
TARGETS = ["basic", "sysinit", "shutdown", "umount", "network-online", "multi-user"]
EMPTY_TARGET = "[Unit]\nDescription=Nothing\nDefaultDependencies=no\n"


def missing() -> str:
    """Why there can be no machine; empty if there can."""
    if os.geteuid() != 0:
        return "needs root"
    if not SYSTEMD.exists():
        return f"no {SYSTEMD}"
    if not cgroup_root():
        return "no cgroup2 is mounted"
    done = subprocess.run([*UNSHARE, "--fork", "true"], capture_output=True, text=True, check=False)
    return done.stderr.strip()


def cgroup_root() -> Path | None:
    """Our own cgroup of the unified hierarchy."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup2" and "rw" in options.split(","):
            own = Path("/proc/self/cgroup").read_text().split("0::")[1].strip()
            return Path(where + own)
    return None


class Machine:
    """Started with the units in `stage`/units; `stage` is /run/wale inside."""

    def __init__(self, stage: Path, *wants: str) -> None:
        for name in TARGETS:
            (stage / "units" / f"{name}.target").write_text(EMPTY_TARGET)
        target = "[Unit]\nDescription=Test\n" + "".join(f"Wants={unit}\n" for unit in wants)
        (stage / "units" / "test.target").write_text(target)
        parent = cgroup_root()
        assert parent
        self.cgroup = Path(tempfile.mkdtemp(prefix="wale-test-", dir=parent))
        self.said = b""
        self.master, console = pty.openpty()
        procs = str(self.cgroup / "cgroup.procs")
        self.proc = subprocess.Popen(
            # it joins the cgroup before it is given that as the root of all
            ["sh", "-c", 'echo $$ > "$0" && exec "$@"', procs, *UNSHARE, "--fork", "--kill-child"]
            + [str(BOOT), str(stage), os.ttyname(console)],
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=console,
            start_new_session=True,
        )
        os.close(console)
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self) -> None:
        try:
            while part := os.read(self.master, 4096):
                self.said += part
        except OSError:  # EIO: nobody has the terminal open
            pass

    def _first_process(self) -> str:
        children = f"/proc/{self.proc.pid}/task/{self.proc.pid}/children"
        return Path(children).read_text().strip()

    def run(self, *command: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a command as root inside."""
        words = ["nsenter", "--all", "--target", self._first_process(), "--", *command]
        options = {"capture_output": True, "text": True, "timeout": WAIT_S, **options}
        return subprocess.run(words, check=False, **options)

    def state(self, unit: str, *properties: str) -> dict[str, str]:
        """Properties of a unit, as systemctl show has them."""
        shown = self.run("systemctl", "show", "--property", ",".join(properties), unit).stdout
        return dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)

    def wait_for(self, unit: str, *states: str) -> str:
        """Wait until the unit is in one of the states, such as active."""
        end = time.monotonic() + WAIT_S
        found = ""
        while time.monotonic() < end and self.proc.poll() is None:
            if (found := self.state(unit, "ActiveState").get("ActiveState", "")) in states:
                return found
            time.sleep(0.05)
        raise AssertionError(f"{unit} is {found!r}; the console said:\n{self.console()}")

    def console(self) -> str:
        return self.said.decode(errors="replace").replace("\r", "")

    def end(self) -> None:
        """End every process of it, and remove its cgroups."""
        os.killpg(self.proc.pid, signal.SIGKILL)
        self.proc.wait(WAIT_S)
        self.reader.join(WAIT_S)
        os.close(self.master)
        end = time.monotonic() + WAIT_S
        while "populated 1" in (self.cgroup / "cgroup.events").read_text():
            assert time.monotonic() < end, f"processes are left in {self.cgroup}"
            time.sleep(0.01)
        for folder, _, _ in os.walk(self.cgroup, topdown=False):
            os.rmdir(folder)
