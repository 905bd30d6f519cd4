# SPDX-License-Identifier: GPL-2.0
"""Builds the guest kernel of the uml engine from a source package (kernel_source.py).

A kernel is selected by version and flavours: "6.12", "6.12+san", or "+san" for the
newest, "+net+san" for two.  A flavour is a file kernel-FLAVOUR.config next to this one,
whose lines are added to kernel.config.  Modules of the configuration (=m) are installed in
the folder modules, and a script beside it, modprobe, loads them in a guest.

The result is kept in ${XDG_CACHE_HOME:-~/.cache}/wale/kernel/VERSION-HASH/, where
HASH covers the configuration and the recipe.  It is moved there by one rename, so
it is always complete; a lock prevents concurrent builds.  An interrupted build
leaves its directory, .VERSION-HASH.building, and the next one resumes from there.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from wale_lab.engines import kernel_source
from wale_lab.engines.base import EngineError, Kernel, Log
from wale_lab.engines.kernel_progress import POLL_S, REPORT_S, WAITING_S, KernelProgress
from wale_lab.engines.kernel_source import Source
from wale_lab.engines.processes import (
    GRACE_S,
    end_group,
    end_with_parent,
    ended_within,
    for_kbuild,
)

HERE = Path(__file__).parent

#: Counts up when what is done here changes the result.
RECIPE = "3"

#: What a build needs on the disk, source and all.
ROOM_BYTES = 3 * 10**9

#: So little is left of a disk that has become full.
FULL_BYTES = 50 * 10**6

#: What is left of a build for so long, nobody goes on with.
KEPT_S = 14 * 86400

#: Flags after those of the kernel's own makefiles, which for User-Mode Linux choose slow
#: code: every call through a register, as if the kernel were larger than 2 GB, and a call for
#: every small copy.  Not for a kernel that is to find mistakes.
FLAGS = "-mcmodel=small -fbuiltin"

#: Modules are further away from the kernel than that: they get the makefiles' own flags.
FLAGS_OF_MODULES = "-mcmodel=large -fno-builtin"

#: What the guest's kernel calls to load a module (guest_init.c).
MODPROBE = """\
#!/bin/sh
exec /sbin/modprobe -C /dev/null -d "${0%/*}/modules" "$@"
"""

#: Symbols that a version is known not to have for UML; their absence is no error.
KNOWN_ABSENT = {
    "6.1": {"DEBUG_ATOMIC_SLEEP", "FAULT_INJECTION_STACKTRACE_FILTER", "NET_SCH_DUALPI2"},
    "6.12": {"NET_SCH_DUALPI2"},
    "7.2": {"UML_NET"},  # whose devices need it no more
}

#: Parts of the source that a UML build reads only the Kconfig and Makefiles of.
_BARE = (
    "drivers/accel drivers/acpi drivers/ata drivers/bluetooth drivers/clk drivers/comedi "
    "drivers/cpufreq drivers/crypto drivers/dma drivers/edac drivers/firewire drivers/gpio "
    "drivers/gpu drivers/greybus drivers/hid drivers/hwmon drivers/hwtracing drivers/i2c "
    "drivers/iio drivers/infiniband drivers/interconnect drivers/iommu "
    "drivers/isdn drivers/leds drivers/mailbox drivers/md drivers/media drivers/memory "
    "drivers/message drivers/mfd drivers/misc drivers/mmc drivers/mtd drivers/net/can "
    "drivers/net/dsa drivers/net/ethernet drivers/net/wan drivers/net/wireless drivers/net/wwan "
    "drivers/nvme drivers/perf drivers/phy drivers/pinctrl drivers/platform "
    "drivers/power drivers/regulator drivers/scsi drivers/soc drivers/soundwire drivers/spi "
    "drivers/staging drivers/target drivers/thermal drivers/thunderbolt drivers/usb "
    "drivers/video drivers/w1 fs/bcachefs fs/btrfs fs/ceph fs/ext4 fs/f2fs fs/gfs2 fs/jfs "
    "fs/ntfs3 fs/ocfs2 fs/smb fs/ubifs fs/xfs net/bluetooth net/mac80211 sound"
).split()

#: Not read at all (Documentation and samples keep what Kconfig includes).
_LEFT_OUT = (
    "tools/perf tools/testing tools/power tools/tracing tools/verification tools/virtio "
    "drivers/gpu/drm/amd/include"
).split()
_OTHER_ARCHES = (
    "alpha arc arm arm64 csky hexagon ia64 loongarch m68k microblaze mips nios2 openrisc "
    "parisc powerpc riscv s390 sh sparc xtensa"
).split()


def left_out() -> list[str]:
    """Patterns of files and folders of a source that are not needed, in which * goes on below."""
    found = [*_LEFT_OUT]
    found += [f"{part}/*.{kind}" for part in _BARE for kind in "chS"]
    for arch in _OTHER_ARCHES:
        found += [f"arch/{arch}/{part}" for part in ("*.[chS]", "boot", "configs")]
    found += ["arch/x86/kvm/*.[ch]", "Documentation/*.rst"]
    return [*found, "Documentation/devicetree", "arch/*/boot/dts"]


@dataclass(frozen=True)
class Wanted:
    """A kernel as it is asked for."""

    version: str | None  # "6.12", or None for the newest
    flavour: str  # "", or of flavours(), joined by +

    @property
    def config(self) -> str:
        """The options added to allnoconfig."""
        text = (HERE / "kernel.config").read_text()
        if not self.flavour:
            return text
        names = self.flavour.split("+")
        more = "\n".join((HERE / f"kernel-{name}.config").read_text() for name in names)
        return f'{text}\n{more}\nCONFIG_LOCALVERSION="-{"-".join(names)}"\n'


def congestion_controls() -> set[str]:
    """Those that the guest's kernel has, built in; the kernel needs not be there yet."""
    text = (HERE / "kernel.config").read_text()
    names = re.findall(r"^CONFIG_TCP_CONG_(?!ADVANCED)(\w+)=y$", text, re.M)
    return {"reno", *(name.lower() for name in names)}


def flavours() -> list[str]:
    """The available flavours, besides the plain one."""
    return sorted(p.stem.removeprefix("kernel-") for p in HERE.glob("kernel-*.config"))


def parse_wanted(text: str | None) -> Wanted:
    """VERSION, VERSION+FLAVOUR or +FLAVOUR; None or "" is the newest version, plain."""
    version, chosen = split_flavours(text or "")
    version, plus, flavour = version.partition("+")
    if plus:
        known = ", ".join(f"+{name}" for name in flavours())
        raise EngineError(f"there is no kernel flavour {flavour!r}; flavours here: {known}")
    return Wanted(version or None, "+".join(chosen))


def split_flavours(text: str) -> tuple[str, list[str]]:
    """What stands before the flavours of a kernel, and these in order."""
    chosen = set[str]()
    before, plus, last = text.rpartition("+")
    while plus and last in flavours():
        text = before
        chosen.add(last)
        before, plus, last = text.rpartition("+")
    return text, sorted(chosen)


def with_flavour(text: str | None, flavour: str) -> str:
    """The same kernel with a flavour, if it is not of that one."""
    kernel, chosen = split_flavours(text or "")
    return "+".join([kernel, *sorted({*chosen, flavour})])


def cache_root() -> Path:
    """Where the testbed keeps what it builds outside the checkout."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "wale"


@contextmanager
def locked(
    path: Path, waiting: Log | None = None, meanwhile: Callable[[], None] | None = None
) -> Iterator[None]:
    """Hold a lock file. While another process has it, `waiting` is told how long, and `meanwhile`
    is called each second."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _wait(file, waiting or (lambda _: None), meanwhile)
        yield


def _wait(file: IO[str], log: Log, meanwhile: Callable[[], None] | None) -> None:
    """Take a lock when another process lets go of it."""
    text = f"waiting for another process that builds the same ({file.name})"
    log(text)
    began = said = time.monotonic()
    while not _taken(file):
        time.sleep(REPORT_S if meanwhile else POLL_S)
        now = time.monotonic()
        if meanwhile:
            meanwhile()
        elif now - said >= WAITING_S:
            said = now
            log(f"{text}, {now - began:.0f} s")


def _taken(file: IO[str]) -> bool:
    """Take a lock if it is free."""
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def cache_key(source: str, wanted: Wanted) -> str:
    """The name of a build's folder in the cache, or the beginning of it."""
    digest = hashlib.sha256(f"{RECIPE}\n{wanted.config}".encode()).hexdigest()
    return f"{source}-{digest[:12]}"


def find_source(version: str | None, log: Log) -> Source:
    """kernel_source.find(), by one process at a time."""
    cache = cache_root()
    with locked(cache / "source.lock", log):
        return kernel_source.find(version, cache, log)


def find_or_build(text: str | None, log: Log) -> Kernel:
    """The kernel that `text` asks for (see parse_wanted()), from the cache or built into it."""
    wanted = parse_wanted(text)
    cache = cache_root()
    source = kernel_source.at_hand(wanted.version, cache)
    built = [] if source else prebuilt(wanted)
    if built:
        return kernel_in(built[-1], wanted)
    if source is None:
        source = find_source(wanted.version, log)
    folder = cache / "kernel" / cache_key(source.package, wanted)
    if not (folder / "kernel.json").exists():
        progress = KernelProgress(_work(folder), source.version)
        lock = folder.with_name(folder.name + ".lock")
        with locked(lock, log, meanwhile=lambda: progress.say(log)):
            if not (folder / "kernel.json").exists():
                _build(source, wanted.config, folder, log)
    return kernel_in(folder, wanted)


def prebuilt(wanted: Wanted) -> list[Path]:
    """Builds of this configuration in the cache, the newest last.

    They do for a machine without the source package, such as a node of a cluster.
    What the distribution does not offer is there for those who ask for it.
    """
    folders = (cache_root() / "kernel").glob(cache_key("*", wanted))
    found = [folder for folder in folders if (folder / "kernel.json").exists()]
    versions = {folder: json.loads((folder / "kernel.json").read_text()) for folder in found}
    if wanted.version:
        chosen = [f for f in found if versions[f]["version"] == wanted.version]
    else:
        chosen = [f for f in found if versions[f].get("default", True)]
    return sorted(chosen, key=lambda f: kernel_source.version_key(versions[f]["release"]))


def kernel_in(folder: Path, wanted: Wanted, source: str = "") -> Kernel:
    """The kernel in a folder of the cache, built from `source`.

    Without that it is from a package, with whose version the folder's name begins.
    """
    about = json.loads((folder / "kernel.json").read_text())
    package = folder.name.removesuffix(cache_key("", wanted))
    return Kernel(
        release=about["release"],
        source=source or f"linux-source-{about['version']} {package}",
        image=folder / "linux",
        tree=folder / "src",
        arch="um",
        flavour=wanted.flavour,
    )


def _work(folder: Path) -> Path:
    """Where a build is, that becomes this folder when it is complete."""
    return folder.with_name(f".{folder.name}.building")


def _build(source: Source, config: str, folder: Path, log: Log) -> None:
    """Build into `folder`; goes on with what an interrupted build has left."""
    need_tools()
    work = _work(folder)
    work.mkdir(parents=True, exist_ok=True)
    _remove_old(work)
    need_room(work)
    build = Build(source, config, work, log)
    left = bool(build.done())
    try:
        build.everything()
    except (EngineError, OSError):
        if shutil.disk_usage(work).free < FULL_BYTES:
            raise EngineError(
                f"the disk of {work.parent} is full; what is compiled is kept, and the next build "
                "goes on with it when there is room"
            ) from None
        if build.log_path.exists():
            shutil.copy(build.log_path, folder.with_name(f"{folder.name}.failed.log"))
        shutil.rmtree(work, ignore_errors=True)
        if not left:
            raise
        log("what an interrupted build had left cannot be built: from the beginning")
        return _build(source, config, folder, log)
    except BaseException:
        log("interrupted; what is compiled is kept, and the next build goes on with it")
        raise
    work.rename(folder)
    log(f"kernel {build.release} is in {folder} ({build.elapsed():.0f} s)")
    return None


def _remove_old(work: Path) -> None:
    """Remove what other builds left long ago."""
    for other in work.parent.glob(".*.building"):
        if other != work and time.time() - other.stat().st_mtime > KEPT_S:
            shutil.rmtree(other, ignore_errors=True)


def need_room(work: Path) -> None:
    """EngineError if the disk has no room for all of a build, of which a part may be there."""
    there = sum(path.lstat().st_blocks * 512 for path in work.rglob("*"))
    free = shutil.disk_usage(work).free
    if free + there < ROOM_BYTES:
        raise EngineError(
            f"building the guest kernel takes {ROOM_BYTES / 1e9:g} GB in {work.parent}, where "
            f"{free / 1e9:.1f} GB are free; XDG_CACHE_HOME=DIR puts the cache elsewhere"
        )


def need_tools() -> None:
    needs = {"gcc": "gcc", "make": "make", "flex": "flex", "bison": "bison", "bc": "bc"}
    needs |= {"xz": "xz-utils", "tar": "tar", "ld": "binutils"}
    missing = [package for tool, package in needs.items() if not shutil.which(tool)]
    if missing:
        raise EngineError(
            "to build the guest kernel, install: sudo apt-get install " + " ".join(missing)
        )


class Build:
    """One build of one kernel in a folder of its own."""

    def __init__(self, source: Source, config: str, work: Path, log: Log) -> None:
        self.source, self.version = source, source.version
        self.name = f"linux-source-{source.version}"
        self.work, self.log = work, log
        self.config = config
        self.tree = work / "src"
        self.log_path = work / "build.log"
        self.progress = KernelProgress(work, source.version)
        self.release = ""
        self.began = time.monotonic()

    def elapsed(self) -> float:
        return time.monotonic() - self.began

    def done(self) -> set[str]:
        """The steps that are behind us, of this build or of one that was interrupted."""
        steps = self.work / "steps"
        return set(steps.read_text().split()) if steps.exists() else set()

    def everything(self) -> None:
        done = self.done()
        for step in (self.unpack, self.configure, self.compile):
            if step.__name__ not in done:
                step()
                with (self.work / "steps").open("a") as file:
                    file.write(f"{step.__name__}\n")
        self.release = (self.tree / "include/config/kernel.release").read_text().strip()
        self.prune()
        about = {"release": self.release, "version": self.version, "build_s": self.elapsed()}
        about |= {"default": self.source.is_default}
        (self.work / "kernel.json").write_text(json.dumps(about, indent=1) + "\n")

    def unpack(self) -> None:
        self.log(f"unpacking {self.source.archive}")
        shutil.rmtree(self.tree, ignore_errors=True)
        self.tree.mkdir()
        self.source.unpack(self.tree, without=left_out())

    def make(self, *targets: str) -> None:
        command = ["make", "ARCH=um", f"-j{os.cpu_count() or 1}", *targets]
        env = for_kbuild()
        env |= {"KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970"}
        env |= {"KBUILD_BUILD_USER": "wale", "KBUILD_BUILD_HOST": "wale", "LC_ALL": "C"}
        with self.log_path.open("a") as file:  # a pipe to us would end make before it tidies up
            begin = file.tell()
            process = subprocess.Popen(
                command,
                cwd=self.tree,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=end_with_parent,
            )
        try:
            while not ended_within(process, REPORT_S):
                self.progress.say(self.log)
        except BaseException:  # interrupted: make removes what is half done, and ends
            end_group(process, GRACE_S)
            raise
        if process.returncode:
            what = f"make {' '.join(targets)}".strip()
            raise self.failed(what, self._said(begin))

    def failed(self, what: str, lines: list[str]) -> EngineError:
        """What to raise when make has printed this and failed."""
        wrong = [line for line in lines if "error" in line or "No rule to make" in line]
        said = "".join([*wrong[:10], *lines[-15:]])
        return EngineError(f"{what} failed for {self.name}:\n{said}")

    def _said(self, begin: int) -> list[str]:
        """The lines that a make printed that began at this place of the log."""
        with self.log_path.open(errors="replace") as file:
            file.seek(begin)
            return file.readlines()

    def configure(self) -> None:
        self.log(f"configuring {self.version} for User-Mode Linux")
        (self.tree / "wale.config").write_text(self.config)
        self.make("KCONFIG_ALLCONFIG=wale.config", "allnoconfig")
        (self.tree / "wale.config").unlink()
        have = (self.tree / ".config").read_text()
        lost = []
        for name, value in re.findall(r"^CONFIG_(\w+)=(\S+)$", self.config, re.M):
            absent = f"CONFIG_{name}=" not in have
            took = absent if value == "n" else f"CONFIG_{name}={value}\n" in have
            if not took and not self.may_lack(name):
                lost.append(f"{name}={value}")
        if lost:
            raise EngineError(
                f"{self.name} does not take these lines of the configuration: " + ", ".join(lost)
            )

    def may_lack(self, symbol: str) -> bool:
        """Is a symbol known not to be there?"""
        return symbol in KNOWN_ABSENT.get(self.version, ())

    def compile(self) -> None:
        self.log("compiling it (2 to 4 minutes on two cores)")
        flags = "" if "CONFIG_KASAN=y" in self.config else FLAGS
        self.make(f"KCFLAGS={flags}", *([f"CFLAGS_MODULE={FLAGS_OF_MODULES}"] if flags else []))
        if "=m\n" in (self.tree / ".config").read_text():
            self.install_modules()
        (self.tree / "linux").rename(self.work / "linux")
        subprocess.run(["strip", "--strip-debug", self.work / "linux"], check=False)
        shutil.copy(self.tree / ".config", self.work / "config")

    def install_modules(self) -> None:
        """Those of the configuration, where modprobe of the guest finds them."""
        folder = self.work / "modules"
        shutil.rmtree(folder, ignore_errors=True)
        words = [f"INSTALL_MOD_PATH={folder}", "INSTALL_MOD_STRIP=1", "DEPMOD=/sbin/depmod"]
        self.make("modules_install", *words)
        if not list(folder.glob("lib/modules/*/modules.dep")):
            raise EngineError("to install modules of the guest kernel: sudo apt-get install kmod")
        for link in folder.glob("lib/modules/*/build"):
            link.unlink()
        script = self.work / "modprobe"
        script.write_text(MODPROBE)
        script.chmod(0o755)

    def prune(self) -> None:
        """Keep of the tree what modules are built against: headers, scripts, makefiles.

        And what netlink clients are made from: tools/net/ynl and its schemas.
        """
        self.log("pruning the tree")
        prune(self.tree)


#: Of a tree that is built: sources, products, and what is large.
_SOURCE = re.compile(r".*\.(c|S|o|a|order|modinfo|lds|rst|dts|dtsi|txt)$|^\..*\.cmd$")
_LARGE = re.compile(r"^(vmlinux|\.tmp_|System\.map)")


def is_needed(folder: tuple[str, ...], name: str) -> bool:
    """Are modules, or netlink clients, made from a file of a tree that is built?"""
    top = folder[:1]
    if top in (("LICENSES",), ("samples",), ("rust",), ("sound",)):
        return False
    if top == ("Documentation",):
        return folder[1:2] == ("netlink",)
    if top in (("scripts",), ("include",)) or name == "module.lds":
        return True
    header = name.endswith(".h") and top not in (("arch",), ("tools",))
    return not (_SOURCE.match(name) or header or _LARGE.match(name))


def prune(tree: Path) -> None:
    """Remove the rest."""
    for base, folders, files in os.walk(tree, topdown=False):
        inside = Path(base).relative_to(tree).parts
        for name in files:
            if not is_needed(inside, name):
                Path(base, name).unlink()
        for name in folders:
            path = Path(base, name)
            if inside[:1] in ((), ("Documentation",)) and not path.is_symlink():
                with suppress(OSError):  # something is in it
                    path.rmdir()
