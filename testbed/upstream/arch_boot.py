# SPDX-License-Identifier: GPL-2.0
"""Boots a kernel of another architecture under QEMU, which emulates its processors, and runs
selftests there.  The root file system is in memory: the kernel needs no driver but a console."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import arch_root
from commands import Commands, tracked
from fold import TOP
from wale_lab.engines.base import EngineError, complaints

#: What of this tree the selftests use.
_USED = ("kmod/", "tcp_ratcp/", "testbed/", "userspace/", "Documentation/netlink/")

#: Seconds until a machine must have ended.
_LIMIT_S = 5400

#: Two, so that the kernel's locks are needed.
_CPUS = 2

_CONFIG = f"""\
CONFIG_BLK_DEV_INITRD=y
CONFIG_TTY=y
CONFIG_SMP=y
CONFIG_NR_CPUS={_CPUS}
"""

#: What the guest's kernel has, takes long to compile, and the selftests that run here do not need.
_WITHOUT = (
    "AIO BPF_SYSCALL FAULT_INJECTION FTRACE IKCONFIG INOTIFY_USER INET_DIAG_DESTROY "
    "INET_UDP_DIAG IPV6 IP_ADVANCED_ROUTER MEMBARRIER MPTCP NET_CLS_BASIC NET_CLS_BPF NET_SCH_CAKE "
    "NET_SCH_CHOKE NET_SCH_CODEL NET_SCH_DRR NET_SCH_ETS NET_SCH_FQ_PIE NET_SCH_HFSC NET_SCH_HHF "
    "NET_SCH_MQPRIO NET_SCH_MULTIQ NET_SCH_PIE NET_SCH_QFQ NET_SCH_RED NET_SCH_SFB NET_SCH_SFQ "
    "POSIX_MQUEUE SYSVIPC TCP_CONG_BBR TCP_CONG_BIC TCP_CONG_DCTCP TCP_CONG_HTCP TCP_CONG_VEGAS "
    "TCP_CONG_WESTWOOD USER_NS"
).split()

_INIT = """\
#!/bin/bash
export PATH=/wale/build/userspace/wale:/usr/bin:/usr/sbin:/bin:/sbin HOME=/root LC_ALL=C.UTF-8
export TC_LIB_DIR=/wale/build/userspace/tc TDC_SOURCE=/tdc
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t debugfs debugfs /sys/kernel/debug
[ ! -d /sys/kernel/tracing ] || mount -t tracefs tracefs /sys/kernel/tracing
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /run
ip link set lo up
# not every kernel here has a driver of its machine's clock
date --utc --set=@{now} >/dev/null
cd /wale
echo "machine: $(uname -rm), $(nproc) processors"
testbed/selftests/run.sh -H {names}
echo "machine: ended with $?"
dmesg
python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x01234567)'
"""


def release(kernel: Path) -> str:
    """What a kernel that was built, or prepared for modules, calls itself."""
    return (kernel / "include/config/kernel.release").read_text().strip()


@dataclass(frozen=True)
class Machine:
    """What QEMU emulates, and what the kernel needs for it."""

    program: tuple[str, ...]
    image: str
    console: str
    debian: str  # the name of the architecture there
    triplet: str
    config: str = ""

    @property
    def all_config(self) -> str:
        """Configuration that a kernel needs to boot in it."""
        return _CONFIG + self.config + "".join(f"CONFIG_{name}=n\n" for name in _WITHOUT)


@dataclass(frozen=True)
class Case:
    """A line of run.sh."""

    result: str
    selftest: str
    title: str
    skipped: str

    @property
    def outcome(self) -> str:
        """What the page of what was tested calls the result."""
        if self.skipped:
            return "skipped"
        return "passed" if self.result == "ok" else "failed"


_CASE = re.compile(r"^(ok|not ok) \d+ ([\w-]+)(?:: (.*?))?(?: # SKIP (.*?))?\r?$", re.M)


@dataclass(frozen=True)
class Boot:
    """Folders of a machine: its kernel's, its root file system, and its modules and tools."""

    machine: Machine
    kernel: Path
    root: Path
    modules: Path
    userspace: Path

    def run(self, names: Sequence[str], tdc: Path, out: Path, run: Commands) -> list[Case]:
        """Run selftests in it; return their cases."""
        initramfs = out / "initramfs"
        self._fill(initramfs, tdc, " ".join(names))
        archive = out / "initramfs.cpio"
        pack = 'find . | cpio --quiet -o -H newc -R 0:0 > "$0"'
        run.text(["sh", "-c", pack, archive], initramfs)
        console = out / "console.log"
        words = [*self.machine.program, "-smp", f"{_CPUS},sockets={_CPUS}", "-m", "2048"]
        words += ["-display", "none", "-serial", "stdio", "-nodefaults", "-no-reboot"]
        words += ["-kernel", str(self.kernel / self.machine.image), "-initrd", str(archive)]
        kernel_line = f"console={self.machine.console} loglevel=1 log_buf_len=4M panic=-1"
        words += ["-append", kernel_line]
        run.say(f"$ {' '.join(words)} > {console}")
        with console.open("wb") as file:
            done = subprocess.run(
                ["timeout", str(_LIMIT_S), *words],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                check=False,
            )
        return cases(console.read_text(errors="replace"), done.returncode, console)

    def _fill(self, initramfs: Path, tdc: Path, names: str) -> None:
        arch_root.copy_to_boot(self.root, initramfs)
        here = initramfs / "wale"
        for file in tracked():
            name = str(file.relative_to(TOP))
            if name.startswith(_USED):
                (here / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, here / name)
        (modules,) = self.modules.iterdir()
        target = here / "build/modules" / release(self.kernel)
        target.mkdir(parents=True)
        for module in modules.rglob("*.ko"):
            shutil.copy2(module, target)
        for name in ("wale/wale", "tc/q_wale.so"):
            (here / "build/userspace" / name).parent.mkdir(parents=True)
            shutil.copy2(self.userspace / name, here / "build/userspace" / name)
        shutil.copytree(tdc, initramfs / "tdc")
        init = initramfs / "init"
        init.write_text(_INIT.format(names=names, now=int(time.time())))
        init.chmod(0o755)


def cases(said: str, code: int, console: Path) -> list[Case]:
    """The cases in what a machine printed; it must have come to its end."""
    end = re.search(r"^machine: ended with (\d+)\r?$", said, re.M)
    if not end:
        raise EngineError(f"the machine did not come to its end ({code}); see {console}")
    found = [Case(*words) for words in _CASE.findall(said[: end.start()])]
    failed = any(case.outcome == "failed" for case in found)
    if bool(int(end[1])) != failed or not found:
        raise EngineError(f"the selftests ended with {end[1]}, {len(found)} cases; see {console}")
    if wrong := complaints(said):
        raise EngineError(f"the kernel complains: {wrong[0].strip()}; see {console}")
    return found


def link_flags(root: Path, triplet: str) -> dict[str, str]:
    """Variables for make, by which the tools use what Debian's packages below `root` have."""
    libraries = [root / part / triplet for part in ("lib", "usr/lib")]
    headers = [root / "usr/include", root / "usr/include" / triplet]
    flags = " ".join(f"-L{path} -Wl,-rpath-link,{path}" for path in libraries)
    return {
        "CFLAGS": " ".join(["-O2 -g", *(f"-idirafter {path}" for path in headers)]),
        "LDFLAGS": flags,
        "NL_CFLAGS": f"-I{root}/usr/include/libnl3",
    }
