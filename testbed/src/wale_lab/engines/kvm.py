# SPDX-License-Identifier: GPL-2.0
"""Whether KVM works here: tested by booting a kernel with it, and remembered.

That /dev/kvm can be opened is not enough: inside some virtual machines QEMU starts
with it, but no kernel boots.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from wale_lab.engines.base import Log
from wale_lab.engines.kernel_build import cache_root

#: A kernel without a root file system panics within 2 s of KVM time, and QEMU ends.
PROBE_LIMIT_S = 30


def usable(qemu: str, image: Path, log: Log) -> bool:
    """Tell whether KVM boots this kernel; the first time of each boot of the host by trying."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    note = cache_root() / f"kvm-{os.uname().nodename}.json"  # machines may share a cache
    try:
        known = json.loads(note.read_text())
    except (OSError, json.JSONDecodeError):
        known = {}
    if known.get("boot_id") != boot:
        log(f"trying KVM (at most {PROBE_LIMIT_S} s, once for each boot of this machine)")
        known = {"boot_id": boot, "works": _boots(qemu, image)}
        note.parent.mkdir(parents=True, exist_ok=True)
        new = note.with_name(f".{note.name}.{os.getpid()}")
        new.write_text(json.dumps(known) + "\n")
        new.replace(note)
    if not known["works"]:
        log("/dev/kvm is there and does not boot a kernel: emulating the processors (TCG)")
    return bool(known["works"])


def _boots(qemu: str, image: Path) -> bool:
    """Boot a kernel with nothing to run; tell whether it got as far as to panic about that."""
    command = [qemu, "-accel", "kvm", "-cpu", "host", "-smp", "2", "-m", "512", "-nodefaults"]
    command += ["-no-user-config", "-display", "none", "-serial", "stdio", "-no-reboot"]
    command += ["-kernel", str(image), "-append", "console=ttyS0 panic=-1"]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=PROBE_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return b"Unable to mount root fs" in done.stdout
