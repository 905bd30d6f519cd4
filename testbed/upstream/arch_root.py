# SPDX-License-Identifier: GPL-2.0
"""A root file system of Debian for another architecture: to link with, and to boot with."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from wale_lab.engines import debian

#: What the selftests call, and what the tools are linked with.
_PACKAGES = (
    *("bash", "coreutils", "dash", "findutils", "grep", "mawk", "sed"),
    *("ethtool", "iproute2", "iputils-ping", "kmod", "mount", "procps", "python3", "util-linux"),
    *("libnl-3-dev", "libnl-genl-3-dev", "libnl-route-3-dev", "nettle-dev"),
)

#: What a machine that boots needs nothing of.
_LEFT_OUT = ("include", "doc", "man", "locale", "gconv", "perl*", "*.a", "lto_plugin*", "zoneinfo")

#: Links that a script of their package makes.
_ALTERNATIVES = {"usr/bin/awk": "mawk"}


def make(folder: Path, arch: str, say: Callable[[str], None]) -> None:
    """Fetch and unpack it for what Debian calls `arch`, unless it is there."""
    if folder.exists():
        return
    new = folder.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    suite = debian.Suite(debian.release(), folder.with_suffix(".apt"), arch=arch)
    debian.update(suite, say)
    debian.fetch_root(_PACKAGES, new, say, suite)
    for name, target in _ALTERNATIVES.items():
        (new / name).symlink_to(target)
    (new / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")
    new.rename(folder)


def copy_to_boot(root: Path, target: Path) -> None:
    """What of it a machine needs."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(root, target, symlinks=True, ignore=shutil.ignore_patterns(*_LEFT_OUT))
