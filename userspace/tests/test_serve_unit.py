# SPDX-License-Identifier: GPL-2.0
"""Tests of the systemd unit of `wale serve`: what systemd thinks of it, and that it works."""

from __future__ import annotations

import json
import re
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import systemd_machine
from systemd_machine import Machine
from test_transfer import BAD_NAMES
from transfer_harness import SANITIZED, TOP, WALE, fill, needs_wale, sha256

pytestmark = needs_wale

UNIT = TOP / "userspace/systemd/wale-serve@.service"
EXPOSURE_MAX = 1.5  # of 10, by systemd-analyze security; it was 1.2 with systemd 252
INSTANCE = "wale-serve@run-wale-srv.service"
DATA = bytes(range(256)) * 4000


def staged_unit(stage: Path) -> Path:
    """The unit, with the built command at the place where it will be."""
    text = UNIT.read_text()
    assert "ExecStart=wale serve " in text
    (stage / "units").mkdir()
    unit = stage / "units" / UNIT.name
    text = text.replace("ExecStart=wale ", "ExecStart=/run/wale/wale ")
    if SANITIZED:  # the filter of system calls stops the search for leaks at the end
        text = text.replace("ExecStart=", "Environment=ASAN_OPTIONS=detect_leaks=0\nExecStart=")
    unit.write_text(text)
    return unit


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine that serves /run/wale/srv by the unit."""
    if reason := systemd_machine.missing():
        pytest.skip(f"no machine with systemd: {reason}")
    stage = tmp_path_factory.mktemp("machine")
    stage.chmod(0o755)
    staged_unit(stage)
    shutil.copy(WALE, stage / "wale")
    (stage / "srv").mkdir()
    fill(stage / "srv")
    (stage / "srv" / "file").write_bytes(DATA)
    (stage / "srv" / "secret").write_bytes(b"x")
    (stage / "srv" / "secret").chmod(0o600)
    machine = Machine(stage, INSTANCE)
    yield machine
    machine.end()


#: Without openat2, which the filter of the unit does not let through, links are not followed.
LINKS = {
    **dict.fromkeys((b"link_in", b"link_out", b"link_up", b"magic", b"loop"), b"not-a-file"),
    b"dir_out/passwd": b"not-found",
}

#: Run inside: asks for each name of its input, in hexadecimal, and prints the answers.
ASK = """
import socket, sys
for line in sys.stdin:
    with socket.create_connection(("127.0.0.1", 7770), timeout=30) as sock:
        sock.sendall(b"WALE/1 GET name=" + bytes.fromhex(line) + b"\\n")
        print(sock.makefile("rb").readline().hex())
"""


def get(machine: Machine, name: str, *options: str) -> dict[str, object]:
    done = machine.run("/run/wale/wale", "get", f"127.0.0.1:{name}", "--json", *options)
    result: dict[str, object] = json.loads(done.stdout)
    return result


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze")
def test_unit_is_right_and_hardened(tmp_path: Path) -> None:
    unit = staged_unit(tmp_path)
    unit.write_text(unit.read_text().replace("=/run/wale/wale ", f"={WALE} "))
    command = ["systemd-analyze", "verify", "--man=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    command = ["systemd-analyze", "security", "--offline=yes", str(unit)]
    command += [f"--threshold={EXPOSURE_MAX * 10:.0f}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_unit_serves(machine: Machine) -> None:
    """systemd hears that it is ready, and a file comes whole."""
    machine.wait_for(INSTANCE, "active", "failed")
    assert machine.state(INSTANCE, "SubState", "NRestarts") == {
        "SubState": "running",
        "NRestarts": "0",
    }, machine.console()
    result = get(machine, "file", "--cc", "reno")
    assert result["error"] is None and result["sha256"] == sha256(DATA)
    assert result["sha256_ok"] is True


def test_unit_has_no_privilege(machine: Machine) -> None:
    machine.wait_for(INSTANCE, "active")
    pid = machine.state(INSTANCE, "MainPID")["MainPID"]
    status = machine.run("cat", f"/proc/{pid}/status").stdout
    fields = dict(line.split(":\t", 1) for line in status.splitlines())
    assert set(fields["Uid"].split()) & {"0"} == set()
    assert set(fields["Gid"].split()) & {"0"} == set()
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(fields[name], 16) == 0, name
    assert fields["NoNewPrivs"].strip() == "1" and fields["Seccomp"].strip() == "2"
    files = min(65536, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    limits = machine.run("cat", f"/proc/{pid}/limits").stdout
    assert re.search(rf"^Max open files +{files} +{files} ", limits, re.M), limits
    assert "Permission denied" in str(get(machine, "secret")["error"])


def test_unit_refuses_names(machine: Machine) -> None:
    """With the same codes as anywhere, but for links; nothing comes from outside."""
    machine.wait_for(INSTANCE, "active")
    expected = {**dict(BAD_NAMES), **LINKS}
    names = "".join(f"{name.hex()}\n" for name in expected)
    done = machine.run("/usr/bin/python3", "-c", ASK, input=names)
    answers = [bytes.fromhex(line) for line in done.stdout.split()]
    codes = [answer.split()[2] for answer in answers if answer.startswith(b"WALE/1 ERROR ")]
    assert dict(zip(expected, codes, strict=True)) == expected, done.stderr
    for name in ("sub/file", "with space and \N{LATIN SMALL LETTER E WITH ACUTE}"):
        assert get(machine, name)["sha256_ok"] is True


def test_unit_takes_options_and_stops(machine: Machine) -> None:
    """A drop-in changes the port; a stop is a clean end with a summary."""
    machine.wait_for(INSTANCE, "active")
    text = '[Service]\\nEnvironment="WALE_SERVE_OPTIONS=--port 8000 --max-per-address 1"\\n'
    folder = f"/run/wale/units/{UNIT.name}.d"
    machine.run("sh", "-c", f"mkdir {folder} && printf '{text}' > {folder}/port.conf")
    assert machine.run("systemctl", "daemon-reload").returncode == 0
    assert machine.run("systemctl", "restart", INSTANCE).returncode == 0, machine.console()
    assert get(machine, "file", "--port", "8000")["sha256_ok"] is True
    assert machine.run("systemctl", "stop", INSTANCE).returncode == 0
    shown = machine.state(INSTANCE, "Result", "ExecMainStatus", "ActiveState")
    assert shown == {"Result": "success", "ExecMainStatus": "0", "ActiveState": "inactive"}
    assert "refused" in str(get(machine, "file", "--port", "8000")["error"])
