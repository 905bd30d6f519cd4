# SPDX-License-Identifier: GPL-2.0
"""A clean Debian in a folder, of the release and the archive of this machine, to install things in.

What is expensive is kept in the cache of the testbed: the unpacked minimal system as one
archive, and the packages that were fetched.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from wale_lab.engines.kernel_build import cache_root, locked

#: Of the host's repositories, those of the distribution itself, as lines of a sources.list.
SOURCES = ["apt-get", "indextargets", "--format", "deb $(REPO_URI) $(RELEASE) $(COMPONENT)"]
SOURCES += ["Created-By: Packages", "Origin: Debian"]

#: No initial ramdisk for kernels that nobody boots.
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", "INITRD": "No"}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PROXIES = ("http_proxy", "https_proxy", "no_proxy")


def output(*command: str | Path, **environment: str) -> str:
    """What a command on the host prints."""
    env = {**os.environ, **environment}
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=env).stdout


def _base(cache: Path) -> Path:
    """The archive of a minimal system; made on first use."""
    codename = re.search(r"^VERSION_CODENAME=(\w+)$", Path("/etc/os-release").read_text(), re.M)
    lines = sorted(set(output(*SOURCES).splitlines()))
    if not codename or not lines:
        pytest.skip("not a Debian: no distribution to make a clean copy of (apt-get update?)")
    archive = cache / f"{codename[1]}.tar"
    with locked(cache / "lock"):
        if not archive.exists():
            begun = archive.with_name("begun.tar")
            subprocess.run(
                ["mmdebstrap", "--variant=minbase", "--quiet", codename[1], begun, "-"],
                input="\n".join(lines) + "\n",
                text=True,
                check=True,
            )
            begun.rename(archive)
    return archive


class CleanDebian:
    """A Debian in a folder; commands in it leave no process and no mount behind."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.before: set[str] = set()  # its files, before what is tested came
        cache = cache_root() / "debian"
        (cache / "packages" / "partial").mkdir(parents=True, exist_ok=True)
        root.mkdir()
        subprocess.run(["tar", "-xf", _base(cache), "-C", root], check=True)
        # a copy that lives for minutes need not survive a crash, and boots no kernel; what is
        # fetched is kept
        settings = "force-unsafe-io\npath-exclude=/lib/modules/*/kernel/*\n"
        (root / "etc/dpkg/dpkg.cfg.d/short-lived").write_text(settings)
        (root / "etc/apt/apt.conf.d/80keep").write_text('APT::Keep-Downloaded-Packages "true";\n')
        proxies = output("apt-config", "dump", "--no-empty", "Acquire::http::Proxy")
        (root / "etc/apt/apt.conf.d/80proxy").write_text(proxies)
        (root / "etc/resolv.conf").write_bytes(Path("/etc/resolv.conf").read_bytes())
        self.binds = {cache / "packages": "/var/cache/apt/archives"}
        self.run("apt-get", "-q", "update")

    def run(
        self,
        *command: str,
        user: str = "root",
        binds: Mapping[Path, str] | None = None,
        limit_s: int = 900,
    ) -> str:
        """Run a command in it; return what it prints.  `binds`: folders of the host, inside."""
        home = "/root" if user == "root" else f"/home/{user}"
        env = {**ENVIRONMENT, "PATH": PATH, "HOME": home}
        env |= {name: os.environ[name] for name in PROXIES if name in os.environ}
        script = ["set -e", "mount --make-rprivate /", 'mount -t sysfs -o ro sysfs "$0/sys"']
        script.append('mount --rbind /dev "$0/dev"')
        for folder, inside in {**self.binds, **(binds or {})}.items():
            script.append(f'mount --bind {shlex.quote(str(folder))} "$0"{shlex.quote(inside)}')
        script.append(f'exec chroot --userspec={user} "$0" "$@"')
        isolated = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
        isolated += [f"--mount-proc={self.root}/proc", "sh", "-c", "\n".join(script)]
        done = subprocess.run(
            [*isolated, str(self.root), *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            env=env,
            timeout=limit_s,
        )
        if done.returncode:
            raise AssertionError(f"{' '.join(command)}: {done.returncode}\n{done.stdout[-5000:]}")
        return done.stdout

    def install(self, *packages: str) -> str:
        """Install packages, by name or by path inside, and what they need."""
        return self.run("apt-get", "-q", "-y", "--no-install-recommends", "install", *packages)

    def files(self) -> set[str]:
        """Every path in it, but those that any use of a system changes."""
        changing = ("tmp", "var/cache", "var/log", "var/lib/apt", "var/lib/dpkg")
        found = set()
        for base, folders, names in os.walk(self.root):
            inside = os.path.relpath(base, self.root)
            folders[:] = [d for d in folders if os.path.normpath(f"{inside}/{d}") not in changing]
            found |= {os.path.normpath(f"{inside}/{name}") for name in [*folders, *names]}
        return found
