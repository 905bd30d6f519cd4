# SPDX-License-Identifier: GPL-2.0
"""The clock of a guest: how fine it is, where it begins, and what that changes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from conftest import TESTBED, lab_says
from wale_lab import yaml_lines
from wale_lab.cli import main
from wale_lab.engines import get_engine, vm
from wale_lab.engines.base import RELEASED, EngineError, Job, Kernel, ns_since_1970
from wale_lab.runner import run_scenario
from wale_lab.scenario import Scenario, check_scenario

SCENARIO = """
name: clock
bottleneck: {forward: {rate: 2mbit, delay: 10ms}}
flows: [{name: one, size: 20kB}]
"""
FINE = """\
import asyncio, time
print(time.clock_getres(time.CLOCK_MONOTONIC))
async def main():
    before = time.monotonic_ns()
    await asyncio.sleep(0.003)
    print((time.monotonic_ns() - before) // 1000000)
asyncio.run(main())
"""


SPIN = """\
import signal, time
began, rang = time.monotonic(), []
signal.signal(signal.SIGALRM, lambda *_: rang.append(time.monotonic() - began))
signal.setitimer(signal.ITIMER_REAL, 0.25)
while time.monotonic() < began + {0}:
    pass
print(time.monotonic() - began, *rang)
"""


def check(*overrides: str) -> Scenario:
    return check_scenario(yaml_lines.parse(SCENARIO, "s.yaml"), list(overrides), Path())


def lab(*words: str) -> subprocess.CompletedProcess[str]:
    command = [str(TESTBED / "wale-lab"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.guest
def test_timers_are_fine_from_the_first_one_on(guest: Callable[..., str], tmp_path: Path) -> None:
    script = (
        "ip link set lo up; tc qdisc add dev lo root wale delay 1ms; ping -c 4 -i 0.02 127.0.0.1"
    )
    said = guest("sh", "-c", script, out=tmp_path)
    assert said.count("time=2.00 ms") == 4
    assert guest("python3", "-c", FINE, out=tmp_path).split() == ["1e-09", "3"]
    read = "import time; print(time.clock_getres(time.CLOCK_REALTIME))"
    assert guest("python3", "-c", read, out=tmp_path) == "1e-09\n"


@pytest.mark.guest
@pytest.mark.parametrize(("wait_s", "most_s"), [(0.0001, 0.000102), (0.001, 0.0012), (20, 20.03)])
def test_a_loop_that_reads_the_clock(
    wait_s: float, most_s: float, guest: Callable[..., str], tmp_path: Path
) -> None:
    """It sleeps now and then, and ends hardly later; signals come in between, and it is repeatable.

    Without that, 20 s take some 80 million readings, and most of an hour.
    """
    if lab_says("release").startswith("6.1."):
        pytest.skip("User-Mode Linux 6.1 loses the sleeps that guest_preload.c makes")
    said = guest("python3", "-c", SPIN.format(wait_s), out=tmp_path, limit_s=60)
    took, *rang = map(float, said.split())
    assert wait_s <= took < most_s
    assert (rang == []) if wait_s < 0.25 else (0.25 <= rang[0] < 0.27)
    assert guest("python3", "-c", SPIN.format(wait_s), out=tmp_path, limit_s=60) == said


@pytest.mark.guest
def test_where_the_clock_begins(guest: Callable[..., str], tmp_path: Path) -> None:
    assert guest("date", "+%F %H:%M:%S %Z", out=tmp_path) == f"{RELEASED:%F %H:%M:%S} UTC\n"
    for time in ("--virtual", "--real"):
        said = lab("exec", "-q", time, "--start", "2031-02-03T04:05:06", "--", "date", "+%FT%H:%M")
        assert (said.stdout, said.stderr) == ("2031-02-03T04:05\n", "")
    said = lab("shell", "-q", "demo", "--start", "2031-02-03", "-c", "date +%F")
    assert said.stdout == "2031-02-03\n"


@pytest.mark.guest
def test_certificate_made_just_now(tmp_path: Path) -> None:
    words = "openssl req -x509 -newkey ed25519 -nodes -subj /CN=now -days 1".split()
    files = ["-keyout", tmp_path / "key", "-out", tmp_path / "now.pem"]
    subprocess.run([*words, *files], check=True, capture_output=True)
    now = datetime.now(UTC) + timedelta(seconds=1)
    verify = ["openssl", "verify", "-CAfile", str(tmp_path / "now.pem"), str(tmp_path / "now.pem")]
    said = lab("exec", "-q", "--start", f"{now:%FT%TZ}", "--", *verify)
    assert said.stdout == f"{tmp_path / 'now.pem'}: OK\n"
    said = lab("exec", "-q", "--start", f"{now - timedelta(days=1):%FT%TZ}", "--", *verify)
    assert "certificate is not yet valid" in said.stdout


@pytest.mark.guest
def test_start_is_a_part_of_the_result(tmp_path: Path) -> None:
    def run(name: str, *overrides: str) -> dict[str, object]:
        return run_scenario(check(*overrides), 1, tmp_path / name)

    first, same = run("first"), run("same", f"start={RELEASED:%F}")
    other, again = run("other", "start=2026-12-24"), run("again", "start=2026-12-24T00:00:00Z")
    assert first["settings"]["start"] == "2026-11-27T00:00:00Z"  # type: ignore[index]
    assert other["settings"]["start"] == "2026-12-24T00:00:00Z"  # type: ignore[index]
    assert first["digest"] == same["digest"] != other["digest"] == again["digest"]


def test_start_is_in_utc() -> None:
    for text, expected in (
        ("2026-12-24", "2026-12-24T00:00:00+00:00"),
        ("2026-12-24 18:30:00", "2026-12-24T18:30:00+00:00"),
        ("2026-12-24T18:30:00.25Z", "2026-12-24T18:30:00.250000+00:00"),
        ("2026-12-24T18:30+01:00", "2026-12-24T17:30:00+00:00"),
    ):
        start = check(f"start={text}").start
        assert start is not None and start.isoformat() == expected
    assert check().start == check("start=null").start == RELEASED
    assert check("time=real").start is None  # the clock of this machine


@pytest.mark.parametrize(
    "text", ["", "now", "2026", "2026-02-30", "2026-12-24T25:00", "1979-12-31"]
)
def test_start_that_is_no_date(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["exec", "--start", text, "--", "true"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("wale-lab exec: error: argument --start: expected a date from 1980 to")
    assert said.endswith(f"got {text!r} (`wale-lab exec --help` says more)\n")


def test_start_on_the_other_engines(tmp_path: Path) -> None:
    job = Job(argv=["true"], time="real", start=datetime(2026, 12, 24, tzinfo=UTC))
    with pytest.raises(EngineError, match="does not set this machine's clock"):
        get_engine("host").run(Kernel("6.12", "none"), job)
    (tmp_path / "exchange").mkdir()
    vm._write_job(tmp_path, job)
    assert (tmp_path / "exchange/start").read_text() == "@1798070400.000000000\n"
    assert ns_since_1970(RELEASED) == 1_795_737_600_000_000_000
