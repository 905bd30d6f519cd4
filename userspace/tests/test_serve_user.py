# SPDX-License-Identifier: GPL-2.0
"""Tests of `wale serve --user`: root opens the port, and is gone."""

from __future__ import annotations

import grp
import os
import pwd
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from transfer_harness import WAIT_S, WALE, Server, get_json, needs_wale

pytest_plugins = ["transfer_fixtures"]
pytestmark = [needs_wale, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]

USER = "nobody"


@pytest.fixture
def public(own: Callable[..., Server]) -> Iterator[Path]:
    """A folder that everybody may enter, with a file that only root may read."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        (path / "small").write_bytes(b"public\n")
        (path / "secret").write_bytes(b"secret\n")
        (path / "secret").chmod(0o600)
        yield path


def test_everything_is_given_up(public: Path, own: Callable[..., Server]) -> None:
    user = pwd.getpwnam(USER)
    status = own("--user", USER, folder=public).status()
    assert status["Uid"] == [str(user.pw_uid)] * 4
    assert status["Gid"] == [str(user.pw_gid)] * 4
    assert status["Groups"] == [str(user.pw_gid)]
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(status[name][0], 16) == 0, name
    assert status["NoNewPrivs"] == ["1"]


def test_group(public: Path, own: Callable[..., Server]) -> None:
    group = grp.getgrnam("daemon")
    (public / "secret").chmod(0o640)
    os.chown(public / "secret", 0, group.gr_gid)
    server = own("--user", f"{USER}:daemon", folder=public)
    assert server.status()["Gid"] == [str(group.gr_gid)] * 4
    assert server.status()["Groups"] == [str(group.gr_gid)]
    assert get_json(server, "secret")["completed"] == "all"


def test_files_are_those_of_the_user(public: Path, own: Callable[..., Server]) -> None:
    server = own("--user", USER, folder=public)
    assert get_json(server, "small")["completed"] == "all"
    assert "Permission denied" in get_json(server, "secret")["error"]
    assert get_json(own(folder=public), "secret")["completed"] == "all"


def test_privileged_port(public: Path, own: Callable[..., Server]) -> None:
    """What needs root is done before."""
    port = 0
    for port in range(1023, 600, -1):
        with socket.socket() as sock:
            try:
                sock.bind(("127.0.0.1", port))
                break
            except OSError:
                continue
    server = own("--user", USER, "--listen", "127.0.0.1", folder=public, port=port)
    assert server.port == port and get_json(server, "small")["completed"] == "all"


def fails(folder: Path, *options: str, prefix: tuple[str, ...] = ()) -> str:
    """A server that must not start; what it says."""
    command = [*prefix, WALE, "serve", "--port", "0", *options, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert done.returncode == 1 and "serving" not in done.stderr, done
    return done.stderr


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ("no such", "expected a user of this host"),
        ("", "expected a user of this host"),
        (":", "expected a user of this host"),
        (":daemon", "expected a user of this host"),
        (f"{USER}:no such", "expected a group of this host"),
        (f"{USER}:", "expected a group of this host"),
        ("root", "expected a user other than root"),
        ("root:daemon", "expected a user other than root"),
    ],
)
def test_wrong_user(public: Path, user: str, expected: str) -> None:
    assert expected in fails(public, "--user", user)


LESS_THAN_ROOT = {
    "another user": ("--reuid=65534", "--clear-groups", "--regid=65534"),
    "no CAP_SETUID": ("--bounding-set=-setuid", "--inh-caps=-setuid"),
    "no CAP_SETGID": ("--bounding-set=-setgid", "--inh-caps=-setgid"),
}


@pytest.mark.parametrize("less", LESS_THAN_ROOT)
def test_all_or_nothing(public: Path, less: str) -> None:
    """Who may not do all of it does not serve with a part of it."""
    prefix = ("setpriv", *LESS_THAN_ROOT[less])
    said = fails(public, "--user", "daemon", prefix=prefix)
    assert "cannot become user 'daemon'" in said and "started as root" in said


def test_folder_that_the_user_may_not_read(public: Path) -> None:
    public.chmod(0o700)
    assert "expected a folder that can be read: Permission" in fails(public, "--user", USER)


def test_root_is_told(public: Path, own: Callable[..., Server]) -> None:
    """Without --user there is a warning, unless it shall be quiet."""
    assert "warning: it runs as root" in own(folder=public).stop()
    assert "warning" not in own("--user", USER, folder=public).stop()
