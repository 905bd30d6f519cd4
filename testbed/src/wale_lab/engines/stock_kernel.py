# SPDX-License-Identifier: GPL-2.0
"""Finds the distribution's kernel for the installed packaged headers, for the vm engine.

"6.12" is the newest of this line, and "6.12-rt" of the line with that flavour of the distribution
(rt: PREEMPT_RT; cloud), which none is taken of unless it is asked for.

Its image package is unpacked into ${XDG_CACHE_HOME:-~/.cache}/wale/stock/RELEASE and
not installed: the host's boot loader and hooks are not involved.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from wale_lab.engines import debian
from wale_lab.engines.base import EngineError, Kernel, Log
from wale_lab.engines.kernel_build import cache_root, locked
from wale_lab.engines.kernel_source import version_key

HEADERS = Path("/usr/src")


#: In the name of a release: kernels that the distribution configures in another way.
_FLAVOUR = re.compile(r"-(rt|cloud)(?=-|$)")


def _flavour(name: str) -> str:
    found = _FLAVOUR.search(name)
    return found[1] if found else ""


def installed_headers(distribution_arch: str, flavour: str = "") -> list[str]:
    """Releases ("6.1.0-56-amd64") of a flavour whose headers are installed, oldest first."""
    releases = []
    for path in HEADERS.glob(f"linux-headers-*-{distribution_arch}"):
        release = path.name.removeprefix("linux-headers-")
        there = (path / "include/generated/utsrelease.h").exists()
        if there and _flavour(release) == flavour:
            releases.append(release)
    return sorted(releases, key=version_key)


def find(wanted: str | None, distribution_arch: str, log: Log) -> Kernel:
    """The newest kernel of a line, with a flavour or without, or of all; fetched if need be."""
    wanted = wanted or ""
    flavour = _flavour(wanted)
    line = wanted.removesuffix(f"-{flavour}")
    releases = installed_headers(distribution_arch, flavour)
    fitting = [r for r in releases if not line or r == line or r.startswith(f"{line}.")]
    if not fitting:
        named = f" {wanted}" if wanted else ""
        package = "-".join(filter(None, ["linux-headers", wanted, distribution_arch]))
        raise EngineError(
            f"the headers of no stock kernel{named} are installed (there are: "
            f"{', '.join(releases) or 'none'}): run `make packages-check`, or "
            f"`sudo apt-get install {package}`"
        )
    release = fitting[-1]
    folder = cache_root() / "stock" / release
    if not folder.exists():
        with locked(folder.with_name(folder.name + ".lock"), log):
            if not folder.exists():
                _fetch(release, folder, log)
    version = (folder / "version").read_text().strip()
    return Kernel(
        release=release,
        source=f"linux-image-{release} {version}",
        image=folder / "boot" / f"vmlinuz-{release}",
        tree=HEADERS / f"linux-headers-{release}",
    )


def _fetch(release: str, folder: Path, log: Log) -> None:
    """Download the image package that belongs to the headers, and unpack it."""
    work = folder.with_name(f".{release}.unpacking")
    shutil.rmtree(work, ignore_errors=True)
    try:
        version = debian.run("dpkg-query", "-W", "-f", "${Version}", f"linux-headers-{release}")
        _download(release, version, work, log)
        debian.run("depmod", "-b", str(work), release)
        (work / "version").write_text(version + "\n")
        work.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _download(release: str, version: str, folder: Path, log: Log) -> None:
    """The signed package if there is one; both have the same kernel."""
    signed, unsigned = f"linux-image-{release}", f"linux-image-{release}-unsigned"
    try:
        debian.fetch_and_unpack(f"{signed}={version}", folder, log)
    except EngineError as error:
        try:
            debian.fetch_and_unpack(f"{unsigned}={version}", folder, log)
        except EngineError:
            raise EngineError(
                f"the kernel of linux-headers-{release} {version} cannot be had (if it is no "
                f"longer offered: `apt-get update`, and upgrade the headers):\n{error}"
            ) from None
