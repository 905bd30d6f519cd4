# SPDX-License-Identifier: GPL-2.0
"""Finds the distribution's kernel for the installed packaged headers, for the vm engine.

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


def installed_headers(distribution_arch: str) -> list[str]:
    """Releases ("6.1.0-56-amd64") whose headers are installed, oldest first."""
    releases = []
    for path in HEADERS.glob(f"linux-headers-*-{distribution_arch}"):
        release = path.name.removeprefix("linux-headers-")
        flavoured = re.search(r"-(rt|cloud)-", release)
        if (path / "include/generated/utsrelease.h").exists() and not flavoured:
            releases.append(release)
    return sorted(releases, key=version_key)


def find(wanted: str | None, distribution_arch: str, log: Log) -> Kernel:
    """The newest kernel of a version line ("6.12"), or of all; fetched if need be."""
    releases = installed_headers(distribution_arch)
    fitting = [r for r in releases if wanted is None or r == wanted or r.startswith(f"{wanted}.")]
    if not fitting:
        line = f" {wanted}" if wanted else ""
        raise EngineError(
            f"the headers of no stock kernel{line} are installed (there are: "
            f"{', '.join(releases) or 'none'}): run `make packages-check`, or "
            f"`sudo apt-get install linux-headers-{wanted or distribution_arch}...`"
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
