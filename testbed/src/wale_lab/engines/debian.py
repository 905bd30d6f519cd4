# SPDX-License-Identifier: GPL-2.0
"""Fetches package files of Debian, without installing them and without root.

Packages that this system's apt offers are fetched directly.  For another suite, such as sid, apt
runs with sources, lists and caches in a separate directory; the archive's address and keyring are
those of the system's own sources, which are not changed.  Signatures are always checked: a
suite whose key is not in that keyring is an error, which a newer package
debian-archive-keyring fixes.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wale_lab.engines.base import EngineError, Log

#: root fetches as root: apt's own user may not look into a home folder.
_SANDBOX = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []


@dataclass(frozen=True)
class Suite:
    """A suite of the Debian archive that this system's apt need not know."""

    name: str  # "sid"
    folder: Path  # for its lists; one process at a time may use it
    kind: str = "deb"  # or "deb-src", for sources
    arch: str = ""  # as Debian calls it, if it is not this system's; then nothing is installed

    @property
    def config(self) -> Path:
        """The configuration of an apt that knows this suite alone."""
        return self.folder / "apt.conf"


def tools_path() -> str:
    """PATH with an administrator's tools, which not every user has in it."""
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def run(*command: str, cwd: Path | None = None, suite: Suite | None = None) -> str:
    """Run one of Debian's tools; return what it prints."""
    env = {**os.environ, "LC_ALL": "C", "PATH": tools_path()}
    if suite:
        env["APT_CONFIG"] = str(suite.config)
    try:
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    except FileNotFoundError:
        raise EngineError(f"there is no {command[0]}: package files come from Debian") from None
    if done.returncode:
        said = f"{done.stdout[-500:]}{done.stderr[-1500:]}"
        raise EngineError(_known(said) or f"{' '.join(command)} failed:\n{said}")
    return done.stdout


#: What apt and dpkg say where the reason is none of theirs, and what that reason is.
_REASONS = {
    r"No space left|enough free space": "the disk is full: no package of Debian can be fetched",
    r"404 +Not Found": "the Debian archive has other packages by now: run `sudo apt-get update`",
    r"resolv|Could not connect|Unable to connect|Cannot initiate|unreachable"
    r"|timed out|refused": "the Debian archive cannot be reached: is there a network?",
}


def _known(said: str) -> str | None:
    """A sentence, with what they said of it, for what is not a matter of packages."""
    for pattern, reason in _REASONS.items():
        for line in said.splitlines():
            if re.search(pattern, line):
                return f"{reason} ({' '.join(line.split())})"
    return None


def fetch_and_unpack(package: str, folder: Path, log: Log, suite: Suite | None = None) -> str:
    """Unpack a package's files below `folder`, which is created; return the package's version.

    `package` may be NAME or NAME=VERSION.  It comes from what this system's apt offers,
    or from `suite`, after update().
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".package-", dir=folder) as work:
        log(f"fetching {package}" + (f" of Debian {suite.name}" if suite else ""))
        run("apt-get", *_SANDBOX, "download", package, cwd=Path(work), suite=suite)
        (file,) = Path(work).glob("*.deb")
        run("dpkg-deb", "-x", str(file), str(folder))
        return run("dpkg-deb", "-f", str(file), "Version").strip()


def fetch_root(packages: Sequence[str], folder: Path, log: Log, suite: Suite) -> None:
    """Unpack packages and all that they depend on below `folder`.  None of their scripts runs.
    They come from `suite`, another architecture's, after update()."""
    log(f"fetching a root file system of Debian {suite.name} for {suite.arch}")
    asked = ["apt-get", *_SANDBOX, "-y", "--no-install-recommends", "--download-only", "install"]
    run(*asked, *packages, suite=suite)
    folder.mkdir(parents=True)
    for file in sorted((suite.folder / "cache/archives").glob("*.deb")):
        run("dpkg-deb", "-x", str(file), str(folder))


def fetch_source(package: str, folder: Path, log: Log, suite: Suite) -> str:
    """Unpack the source of a package into `folder`, with the distribution's patches; return its
    version.  It comes from `suite`, after update()."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".source-", dir=folder.parent) as work:
        log(f"fetching the source of {package} of Debian {suite.name}")
        asked = ["apt-get", *_SANDBOX, "source", "--download-only", package]
        run(*asked, cwd=Path(work), suite=suite)
        (described,) = Path(work).glob("*.dsc")
        run("dpkg-source", "--no-check", "-x", str(described), str(folder))
        version = re.search(r"^Version: (\S+)$", described.read_text(), re.M)
    return version[1] if version else "0"


def offered(pattern: str, suite: Suite | None = None) -> list[str]:
    """The names of offered packages that a regular expression matches wholly."""
    names = run("apt-cache", "pkgnames", suite=suite).splitlines()
    return sorted(name for name in names if re.fullmatch(pattern, name))


def release() -> str:
    """The suite that runs here, such as bookworm."""
    found = re.search(r"^VERSION_CODENAME=(\w+)$", Path("/etc/os-release").read_text(), re.M)
    return found[1] if found else "stable"


def _main_archive() -> tuple[str, str]:
    """The address of the Debian archive that apt uses, and where that is said (FILE:NUMBER)."""
    form = "$(LABEL)|$(COMPONENT)|$(REPO_URI)|$(SOURCESENTRY)"
    for line in run("apt-get", "indextargets", "--format", form).splitlines():
        label, component, uri, entry = line.split("|")
        if (label, component) == ("Debian", "main"):
            return uri, entry
    raise EngineError(
        "apt has no lists of the Debian archive: run `sudo apt-get update` (on another "
        "distribution than Debian: only kernels that it offers itself can be built)"
    )


def _signed_by(entry: str) -> str:
    """The Signed-By field, as deb822 has it, of entry FILE:NUMBER of the sources, or ""."""
    file, _, number = entry.rpartition(":")
    text = Path(file).read_text()
    if file.endswith(".sources"):  # the number is that of the stanza
        stanzas = [s for s in re.split(r"\n[ \t]*\n", text) if re.search(r"(?mi)^Types:", s)]
        field = re.search(r"(?mi)^Signed-By:.*(?:\n[ \t].*)*", stanzas[int(number) - 1])
        return field[0] if field else ""
    option = re.search(r"\[[^]]*\bsigned-by=([^] \t]+)", text.splitlines()[int(number) - 1])
    return "Signed-By: " + option[1].replace(",", " ") if option else ""


def update(suite: Suite, log: Log) -> None:
    """Make the lists of a suite current."""
    for name in ("lists/partial", "cache/archives/partial", "sources"):
        (suite.folder / name).mkdir(parents=True, exist_ok=True)
    other = ""
    if suite.arch:
        (suite.folder / "status").touch()
        other = (
            f'APT::Architecture "{suite.arch}";\nAPT::Architectures {{ "{suite.arch}"; }};\n'
            f'Dir::State::status "{suite.folder}/status";\n'
        )
    uri, entry = _main_archive()
    fields = [f"Types: {suite.kind}", f"URIs: {uri}", f"Suites: {suite.name}", "Components: main"]
    source = "\n".join([*fields, _signed_by(entry)]).strip()
    (suite.folder / "sources" / f"{suite.name}.sources").write_text(source + "\n")
    suite.config.write_text(
        f'Dir::Etc::sourcelist "/dev/null";\nDir::Etc::sourceparts "{suite.folder}/sources";\n'
        f'Dir::State::lists "{suite.folder}/lists";\nDir::Cache "{suite.folder}/cache";\n'
        'Acquire::Languages "none";\nAcquire::AllowInsecureRepositories "false";\n'
        'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";\n'
        'APT::Get::AllowUnauthenticated "false";\n' + other
    )
    log(f"reading the package lists of Debian {suite.name} at {uri}")
    run("apt-get", *_SANDBOX, "update", "--error-on=any", suite=suite)
