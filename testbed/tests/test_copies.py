# SPDX-License-Identifier: GPL-2.0
"""Copies of a guest: what they do is what a guest of its own does."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wale_lab import runner
from wale_lab.engines import copies
from wale_lab.engines.base import TimedOut
from wale_lab.errors import ScenarioError
from wale_lab.runner import run_scenario
from wale_lab.scenario import load_scenario

pytestmark = pytest.mark.guest

TEXT = """\
name: small
bottleneck:
  forward: {rate: 10mbit, delay: 5ms, limit: 50kB}
flows:
  - {name: tcp, cc: reno, duration: 2s}
  - {name: probe, constant: {packets_per_second: 10, packet: 100}, duration: 100ms}
record: {interval: 100ms}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(TEXT)
    return path


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[copies.Copy]]:
    """Have this process make copies; those that it has made."""
    found: list[copies.Copy] = []
    original_copy = copies._Original.copy

    def copy(self: copies._Original, cpu: int, folder: Path) -> copies.Copy | None:
        one = original_copy(self, cpu, folder)
        found.extend([one] if one else [])
        return one

    monkeypatch.setattr(copies, "kept", lambda: True)
    monkeypatch.setattr(copies._Original, "copy", copy)
    monkeypatch.setattr(copies, "_seen", dict[str, int]())
    monkeypatch.setattr(copies, "_never", set[str]())
    yield found
    copies.end_originals()
    assert list(Path(tempfile.gettempdir()).glob(f"wale-guest-{os.getpid()}-*")) == []


def run(path: Path, out: Path, *words: str, seed: int = 1, **more: Any) -> str:
    digest: str = run_scenario(load_scenario(path, words), seed, out, **more)["digest"]
    return digest


def test_digests_of_copies_and_of_runs_alone(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: list[copies.Copy]
) -> None:
    points = [
        ([f"flows.tcp.cc={cc}", f"bottleneck.forward.loss={loss}%"], seed)
        for seed in (1, 2)
        for cc in ("reno", "bbr")
        for loss in (0, 0.5, 1, 2, 5)
    ]
    copied = [run(scenario, tmp_path / "out", *words, seed=seed) for words, seed in points]
    assert len(made) == 20
    monkeypatch.setattr(copies, "kept", lambda: False)
    alone = [run(scenario, tmp_path / "out", *words, seed=seed) for words, seed in points]
    assert copied == alone
    assert len(set(copied)) == 20


def test_packets_of_a_copy(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: list[copies.Copy]
) -> None:
    outs = [tmp_path / name for name in ("one", "two", "alone")]
    digests = {run(scenario, out, packets="csv") for out in outs[:2]}
    monkeypatch.setattr(copies, "kept", lambda: False)
    digests.add(run(scenario, outs[2], packets="csv"))
    assert len(made) == 2 and len(digests) == 1
    assert len({(out / "packets.csv").read_bytes() for out in outs}) == 1


def test_a_control_that_is_not_there(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: list[copies.Copy]
) -> None:
    """Another guest says so, since it may have to load it first."""
    monkeypatch.setattr(runner, "check_controls", lambda *_: None)
    out = tmp_path / "out"
    digests = {run(scenario, out) for _ in range(2)}
    with pytest.raises(ScenarioError, match="nosuch"):
        run(scenario, out, "flows.tcp.cc=nosuch")
    digests.add(run(scenario, out))
    assert len(made) == 4 and len(digests) == 1


def test_which_jobs_are_worth_an_original(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those of a sweep over nothing but seeds."""
    monkeypatch.setattr(copies, "_seen", dict[str, int]())
    found = [copies._comes_again(key) for key in "aabcdddee"]
    assert found == [True, True, True, False, False, True, True, True, True]


def test_copies_and_originals_that_end_early(
    scenario: Path, tmp_path: Path, made: list[copies.Copy]
) -> None:
    out = tmp_path / "out"
    digests = {run(scenario, out) for _ in range(2)}
    assert Path(f"/proc/{made[-1].pid}").exists()  # no other process can have its number yet
    with pytest.raises(TimedOut, match="killed at its wall limit"):
        run(scenario, out, wall_limit_s=0.05)
    digests.add(run(scenario, out))
    assert len(made) == 4
    (original,) = copies._originals.values()
    os.kill(original.process.pid, signal.SIGKILL)
    original.process.wait()
    digests.add(run(scenario, out))
    assert len(made) == 4 and len(digests) == 1


def test_a_copy_that_cannot_be_made(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: list[copies.Copy]
) -> None:
    """A guest of its own does the job instead."""
    out = tmp_path / "out"
    digests = {run(scenario, out)}
    no_such_cpu = 1000
    copy = copies._Original.copy
    monkeypatch.setattr(copies._Original, "copy", lambda one, _, to: copy(one, no_such_cpu, to))
    digests |= {run(scenario, out) for _ in range(2)}
    assert len(made) == 1 and len(digests) == 1
