# SPDX-License-Identifier: GPL-2.0
"""Builds wale_bench.ko (module/), which sends the packets of the benchmarks, for one kernel."""

from __future__ import annotations

import shutil
from pathlib import Path

from wale_lab.engines.base import EngineError, Kernel, Log
from wale_lab.engines.kernel_build import locked
from wale_lab.engines.modules import BUILD, build_folder
from wale_lab.tree import SOURCES


def sources() -> list[Path]:
    """Its files, and of kmod the differences between kernels and the numbers of SCONE."""
    own = sorted(Path(__file__).with_name("module").iterdir())
    of_kmod = ("compat.h", "compat.mk", "include/net/scone.h")
    return [*own, *(SOURCES / "kmod" / name for name in of_kmod)]


def build(kernel: Kernel, log: Log) -> Path:
    """The module's file; kbuild decides what needs building."""
    tree = kernel.tree.parent.name if kernel.tree else "host"
    folder = BUILD / "bench" / tree / kernel.module_folder
    folder.mkdir(parents=True, exist_ok=True)
    with locked(BUILD / "bench.lock", log):
        for source in sources():
            there = folder / source.name
            if not there.exists() or there.read_bytes() != source.read_bytes():
                shutil.copyfile(source, there)
        done = build_folder(kernel, folder)
    if done.returncode:
        raise EngineError(f"building wale_bench failed:\n{done.stdout}")
    return folder / "wale_bench.ko"
