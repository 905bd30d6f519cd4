# SPDX-License-Identifier: GPL-2.0
"""Where a kernel or its source comes from, without asking anybody on the network."""

from __future__ import annotations

from pathlib import Path

import pytest

from wale_lab.engines import debian, kernel_source, stock_kernel
from wale_lab.engines.base import EngineError
from wale_lab.engines.debian import Suite

#: Two mirrors of which one is meant, and the security updates, as people write them.
STANZAS = """\
# comment
Types: deb
URIs: http://one.example/debian
Suites: bookworm
Components: main
Signed-By: /usr/share/keyrings/one.gpg

# a comment of its own

Types: deb
URIs: http://two.example/debian http://three.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
signed-by:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 xyz
 -----END PGP PUBLIC KEY BLOCK-----
Architectures: amd64

Types: deb
URIs: http://four.example/debian
Suites: bookworm
Components: main
"""
LINES = """\
# deb http://no.example/debian bookworm main
deb [ arch=amd64 signed-by=/etc/one.gpg,/etc/two.gpg ] http://one.example/debian bookworm main
deb http://two.example/debian bookworm main
"""


@pytest.mark.parametrize(
    ("name", "text", "number", "field"),
    [
        ("a.sources", STANZAS, 1, "Signed-By: /usr/share/keyrings/one.gpg"),
        (
            "a.sources",
            STANZAS,
            2,
            "signed-by:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n xyz\n"
            " -----END PGP PUBLIC KEY BLOCK-----",
        ),
        ("a.sources", STANZAS, 3, ""),
        ("a.list", LINES, 2, "Signed-By: /etc/one.gpg /etc/two.gpg"),
        ("a.list", LINES, 3, ""),
    ],
)
def test_keyring_of_the_systems_sources(
    name: str, text: str, number: int, field: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    assert debian._signed_by(f"{tmp_path / name}:{number}") == field


class Apt:
    """Stands for apt's tools: what is offered where, and what was asked of it."""

    def __init__(self, targets: str, offered: dict[str, list[str]]) -> None:
        self.targets, self.packages = targets, offered
        self.asked: list[str] = []

    def __call__(self, *command: str, cwd: Path | None = None, suite: Suite | None = None) -> str:
        name = suite.name if suite else "here"
        words = [w for w in command if not w.startswith("-") and "::" not in w]
        self.asked.append(f"{name}: {' '.join(words[:2])}")
        if words[1] == "indextargets":
            return self.targets
        if words[1] == "pkgnames":
            return "\n".join(self.packages[name])
        if words[1] == "download":
            assert cwd
            (cwd / "x.deb").write_text("")
        if words[0] == "dpkg-deb" and "-x" in command:
            source = Path(command[-1], "usr/src/linux-source-7.2.tar.xz")
            source.parent.mkdir(parents=True)
            source.write_text("")
        return "7.2.13-1\n" if "-f" in command else ""


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Apt:
    """A Debian that offers 6.1 and 6.12 where 7.2 is in sid; nothing is installed."""
    (tmp_path / "debian.sources").write_text(STANZAS)
    targets = (
        f"Debian-Security|main|http://s.example/|{tmp_path}/debian.sources:3\n"
        f"Debian|contrib|http://two.example/debian/|{tmp_path}/debian.sources:2\n"
        f"Debian|main|http://one.example/debian/|{tmp_path}/debian.sources:1\n"
    )
    here = ["linux-source", "linux-source-6.1", "linux-source-6.12", "linux-source-5.10"]
    fake = Apt(targets, {"here": here, "sid": ["linux-source-7.2"]})
    monkeypatch.setattr(debian, "run", fake)
    monkeypatch.setattr(kernel_source, "INSTALLED", tmp_path / "usr")
    return fake


def test_source_that_only_sid_has(apt: Apt, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    found = kernel_source.find("7.2", cache, print)
    assert (found.version, found.package, found.origin) == ("7.2", "7.2.13-1", "sid")
    assert found.archive.exists()
    sources = (cache / "apt/sid/sources/sid.sources").read_text().splitlines()
    assert sources == [
        "Types: deb",
        "URIs: http://one.example/debian/",
        "Suites: sid",
        "Components: main",
        "Signed-By: /usr/share/keyrings/one.gpg",
    ]
    assert f'Dir::State::lists "{cache}/apt/sid/lists";' in (cache / "apt/sid/apt.conf").read_text()
    assert "sid: apt-get download" in apt.asked
    apt.asked.clear()
    assert kernel_source.find("7.2", cache, print) == found
    assert apt.asked == []  # it is there
    assert kernel_source.at_hand(None, cache) is None  # for those who ask for it
    assert [p.name for p in (cache / "source").iterdir()] == ["sid"]


def test_the_newer_package_of_a_line_is_taken(apt: Apt, tmp_path: Path) -> None:
    for package in ("6.12.9-1", "6.12.41-1", "6.12.41-1~deb12u1"):
        folder = tmp_path / f"source/distribution/linux-source-6.12_{package}/usr/src"
        folder.mkdir(parents=True)
        (folder / "linux-source-6.12.tar.xz").touch()
    found = kernel_source.at_hand("6.12", tmp_path)
    assert found is not None
    assert found.package.startswith("6.12.41-1")
    assert kernel_source.at_hand(None, tmp_path) == found


def test_source_that_nobody_has(apt: Apt, tmp_path: Path) -> None:
    message = r"no package linux-source-6\.99; there are: 6\.1, 6\.12, 7\.2$"
    with pytest.raises(EngineError, match=message):
        kernel_source.find("6.99", tmp_path, print)
    apt.targets = "Ubuntu|main|http://u.example/|/etc/x:1\n"
    with pytest.raises(EngineError, match="no lists of the Debian archive: run `sudo apt-get upd"):
        kernel_source.find("7.2", tmp_path, print)
    apt.packages["here"] = []
    with pytest.raises(EngineError, match=r"no package linux-source-6\.1 or later is installed"):
        kernel_source.find(None, tmp_path, print)


def test_failing_apt_is_quoted() -> None:
    with pytest.raises(EngineError, match=r"apt-get download no-such-package failed:\n.*Unable to"):
        debian.run("apt-get", "download", "no-such-package")
    with pytest.raises(EngineError, match="there is no no-such-tool: package files come from"):
        debian.run("no-such-tool")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "E: Failed to fetch http://deb.example/x.deb  Temporary failure resolving 'deb.example'",
            "the Debian archive cannot be reached: is there a network? (E: Failed to fetch",
        ),
        (
            "Err:1 http://deb.example bookworm\n  Could not connect to deb.example:80 (1.2.3.4).",
            "the Debian archive cannot be reached: is there a network? (Could not connect to",
        ),
        (
            "E: You don't have enough free space in /var/cache/apt/archives/.",
            "the disk is full: no package of Debian can be fetched (E: You don't have enough",
        ),
        (
            "dpkg-deb: error: failed to write: No space left on device",
            "the disk is full: no package of Debian can be fetched (dpkg-deb: error:",
        ),
        (
            "E: Failed to fetch http://deb.example/x.deb  404  Not Found [IP: 1.2.3.4 80]",
            "the Debian archive has other packages by now: run `sudo apt-get update` (E: Failed",
        ),
        ("E: Unable to locate package x", "apt-get download x failed:\nE: Unable to locate"),
    ],
)
def test_why_nothing_is_fetched(
    said: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "apt-get"
    tool.write_text(f"#!/bin/sh\ncat <<'END' >&2\n{said}\nEND\nexit 100\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(EngineError) as failed:
        debian.run("apt-get", "download", "x")
    assert str(failed.value).startswith(expected)


def test_root_of_another_architecture(apt: Apt, tmp_path: Path) -> None:
    """apt counts none of this system's packages as installed there."""
    suite = debian.Suite("bookworm", tmp_path / "s390x", arch="s390x")
    debian.update(suite, print)
    config = suite.config.read_text()
    for line in (
        'APT::Architecture "s390x";',
        'APT::Architectures { "s390x"; };',
        f'Dir::State::status "{suite.folder}/status";',
    ):
        assert line in config.splitlines()
    assert (suite.folder / "status").read_text() == ""
    debian.fetch_root(["bash"], tmp_path / "root", print, suite)
    assert "bookworm: apt-get install" in apt.asked


def test_headers_of_stock_kernels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of the installed headers those count that belong to an ordinary kernel, by version."""
    monkeypatch.setattr(stock_kernel, "HEADERS", tmp_path)
    whole = ("6.9.1-amd64", "6.12.117+deb12-amd64", "6.1.0-56-amd64", "6.1.0-9-amd64")
    for release in (*whole, "6.12.1-rt-amd64", "6.12.1-cloud-amd64", "6.13.0-arm64"):
        generated = tmp_path / f"linux-headers-{release}" / "include/generated"
        generated.mkdir(parents=True)
        (generated / "utsrelease.h").touch()
    (tmp_path / "linux-headers-6.14.0-amd64").mkdir()  # removed, not purged
    assert stock_kernel.installed_headers("amd64") == [
        "6.1.0-9-amd64",
        "6.1.0-56-amd64",
        "6.9.1-amd64",
        "6.12.117+deb12-amd64",
    ]
    assert stock_kernel.installed_headers("amd64", "rt") == ["6.12.1-rt-amd64"]
    with pytest.raises(EngineError, match=r"6\.1-rt are .*\(there are: 6\.12\.1-rt-amd64\): .*"):
        stock_kernel.find("6.1-rt", "amd64", print)
