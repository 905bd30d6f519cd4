# SPDX-License-Identifier: GPL-2.0
"""Modules of the kernel's own that few scenarios need, built for a guest kernel on first use.

They are not in its configuration, so that they cost no time where nothing needs them.  Their
sources are unpacked from the same package and built against the tree that is kept for other
modules; what they know of the configuration is on the command line.  They are kept beside the
kernel.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from wale_lab.engines import kernel_source
from wale_lab.engines.base import EngineError, Kernel, Log
from wale_lab.engines.kernel_build import cache_root, locked
from wale_lab.engines.modules import build_folder, in_load_order


@dataclass(frozen=True)
class Module:
    """Where a module and what it needs are in the kernel's source, and their configuration."""

    folders: tuple[str, ...]
    config: tuple[str, ...]


MODULES = {
    "bridge": Module(("net/llc", "net/802", "net/bridge"), ("LLC", "STP", "BRIDGE")),
}


def loads_modules(kernel: Kernel) -> bool:
    """Does a kernel that is built here have modules that it can load (kernel_build.py)?"""
    return kernel.image is not None and (kernel.image.parent / "modprobe").exists()


def find_kernel_modules(kernel: Kernel, names: list[str], log: Log) -> list[Path]:
    """The .ko files of these modules and of those they need, to load in order.

    None for a kernel that loads its own when they are asked for.
    """
    found: list[Path] = []
    for name in names:
        if kernel.arch != "um" or kernel.image is None or loads_modules(kernel):
            continue
        folder = kernel.image.parent / "modules" / name
        if not folder.exists():
            with locked(kernel.image.parent / "modules.lock", log):
                if not folder.exists():
                    _build(kernel, name, folder, log)
        have = {path.stem: path for path in folder.glob("*.ko")}
        found += [path for path in in_load_order([name], have) if path not in found]
    return found


def _build(kernel: Kernel, name: str, folder: Path, log: Log) -> None:
    """Build a module into a folder, which appears when all of it is there."""
    module = MODULES[name]
    version = kernel.source.split()[0].removeprefix("linux-source-")
    source = kernel_source.at_hand(version, cache_root())
    if source is None:
        raise EngineError(f"the module {name} is built from linux-source-{version}: install it")
    log(f"building the kernel's module {name}, once (half a minute)")
    work = folder.with_name(f".{name}.building")
    shutil.rmtree(work, ignore_errors=True)
    # <trace/events/bridge.h> includes "../../../net/bridge/br_private.h", as seen from there
    (work / "include/trace/events").mkdir(parents=True)
    source.unpack(work, only=module.folders)
    (work / "Kbuild").write_text(f"obj-m += {' '.join(f'{part}/' for part in module.folders)}\n")
    # NOTRACE: the kernel defines the tracepoints of modules that it is configured with alone
    flags = [f"-I{work}/include/trace/events", "-DNOTRACE"]
    flags += [f"-DCONFIG_{option}_MODULE" for option in module.config]
    options = [f"CONFIG_{option}=m" for option in module.config]
    built = build_folder(kernel, work, *options, f"KCFLAGS={' '.join(flags)}")
    if built.returncode:
        raise EngineError(f"building the module {name} failed:\n{built.stdout[-3000:]}")
    ready = work / "ready"
    ready.mkdir()
    for path in work.glob("net/**/*.ko"):
        path.rename(ready / path.name)
    ready.rename(folder)
    shutil.rmtree(work)
