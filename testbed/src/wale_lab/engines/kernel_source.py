# SPDX-License-Identifier: GPL-2.0
"""Finds the source of a kernel: packages linux-source-VERSION of Debian.

It uses one that is installed or was fetched before, or else fetches it: from what this system's
apt offers, or from Debian sid, which has the newest kernels.  Fetched packages are not
installed; they stay in ${XDG_CACHE_HOME:-~/.cache}/wale/source/ORIGIN until they are removed
by hand.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from wale_lab.engines import debian
from wale_lab.engines.base import EngineError, Log

INSTALLED = Path("/usr/src")

#: Where packages are looked for that the distribution does not offer.
NEWEST_SUITE = "sid"

#: The oldest kernel that the modules are for.
OLDEST = (6, 1)

_PACKAGE = r"linux-source-\d+\.\d+"


@dataclass(frozen=True)
class Source:
    """The source of a kernel."""

    version: str  # "6.12"
    package: str  # version of the package
    archive: Path
    origin: str = "distribution"  # or the suite it was fetched from

    @property
    def is_default(self) -> bool:
        """May it be taken when no version is asked for?"""
        return self.origin == "distribution"

    def unpack(self, folder: Path, only: Iterable[str] = (), without: Iterable[str] = ()) -> None:
        """Unpack it into a folder that is there: `only` these parts of it, or all but those
        `without`, which are patterns in which * goes on below."""
        top = f"linux-source-{self.version}"
        words: list[str | Path] = ["tar", "-xJf", self.archive, "-C", folder]
        words += ["--strip-components=1", *(f"--exclude={top}/{part}" for part in without)]
        words += [f"{top}/{part}" for part in only]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise EngineError(f"unpacking {self.archive} failed: {done.stderr.strip()[-500:]}")


def version_key(name: str) -> tuple[int, ...]:
    """To sort versions."""
    return tuple(int(n) for n in re.findall(r"\d+", name))


def _usable(packages: list[str]) -> list[str]:
    """The versions of these packages, those that the modules are for, oldest first."""
    versions = [name.removeprefix("linux-source-") for name in packages]
    return sorted((v for v in versions if version_key(v) >= OLDEST), key=version_key)


def _installed() -> list[Source]:
    found = []
    for path in INSTALLED.glob("linux-source-*.tar.xz"):
        package = path.name.removesuffix(".tar.xz")
        command = ["dpkg-query", "-W", "-f", "${Version}", package]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0 and re.fullmatch(_PACKAGE, package):
            found += [Source(version, done.stdout, path) for version in _usable([package])]
    return found


def _fetched(cache: Path) -> list[Source]:
    found = []
    for path in sorted(cache.glob("source/*/linux-source-*/usr/src/linux-source-*.tar.xz")):
        folder = path.parents[2]
        package, _, package_version = folder.name.partition("_")
        version = package.removeprefix("linux-source-")
        found.append(Source(version, package_version, path, folder.parent.name))
    return found


def at_hand(wanted: str | None, cache: Path) -> Source | None:
    """What need not be fetched: the version asked for, or the newest of the distribution."""
    have = [*_installed(), *_fetched(cache)]
    return _newest(s for s in have if (s.version == wanted if wanted else s.is_default))


def newest_at_hand(cache: Path) -> Source | None:
    """The newest that need not be fetched, wherever it is from."""
    return _newest([*_installed(), *_fetched(cache)])


def _newest(sources: Iterable[Source]) -> Source | None:
    return max(
        sources,
        key=lambda s: (version_key(s.version), s.is_default, version_key(s.package)),
        default=None,
    )


def find(wanted: str | None, cache: Path, log: Log) -> Source:
    """The source asked for, or the newest that there is; fetched below `cache` if need be."""
    if wanted and version_key(wanted) < OLDEST:
        raise EngineError(f"Linux {wanted} is too old: the modules are for 6.1 and later")
    return at_hand(wanted, cache) or _fetch(wanted, cache, log)


def _fetch(wanted: str | None, cache: Path, log: Log) -> Source:
    offered = _usable(debian.offered(_PACKAGE))
    version = wanted or (offered[-1] if offered else None)
    if version is None:
        raise EngineError(
            "no kernel source: no package linux-source-6.1 or later is installed or offered "
            "(`sudo apt-get update` first?)"
        )
    suite = None
    if version not in offered:
        suite = debian.Suite(NEWEST_SUITE, cache / "apt" / NEWEST_SUITE)
        debian.update(suite, log)
        newer = _usable(debian.offered(_PACKAGE, suite))
        if version not in newer:
            known = ", ".join(sorted({*offered, *newer}, key=version_key)) or "none"
            raise EngineError(f"there is no package linux-source-{version}; there are: {known}")
    origin = suite.name if suite else "distribution"
    package = f"linux-source-{version}"
    work = cache / "source" / f".{package}.fetching"
    shutil.rmtree(work, ignore_errors=True)
    try:
        package_version = debian.fetch_and_unpack(package, work, log, suite)
        folder = cache / "source" / origin / f"{package}_{package_version}"
        folder.parent.mkdir(exist_ok=True)
        work.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    archive = folder / "usr/src" / f"{package}.tar.xz"
    return Source(version, package_version, archive, origin)
