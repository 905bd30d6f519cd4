# SPDX-License-Identifier: GPL-2.0
"""`wale-lab compare`: numbers that differ between kernels, and what is refused."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from wale_lab.cli import main
from wale_lab.engines.base import EngineError, Kernel
from wale_lab.evaluation import kernels
from wale_lab.evaluation.kernels import differences
from wale_lab.studies.points import Build
from wale_lab.workers import Workers


def test_numbers_that_differ_between_kernels() -> None:
    rate, loss, other = ("flow", "x", "rate"), ("link", "f", "loss"), ("link", "f", "other")
    before = [{rate: 10.0, loss: 5.0, other: 1.0}, {rate: 20.0, loss: 5.0}, {rate: 30.0, loss: 5.0}]
    after = [{rate: 10.1, loss: 1.0}, {rate: 20.1, loss: 9.0}, {rate: 30.11, loss: 6.0}]
    (one,) = differences(before, after)  # pairs tell 0.1; losses go up and down
    assert one.cell == rate and one.difference.mean == pytest.approx(0.1033, abs=1e-3)
    assert one.percent == pytest.approx(0.5167, abs=1e-3)
    assert differences(before, before) == []
    assert {d.cell for d in differences(before[:1], after[:1])} == {rate, loss}  # of one seed: all


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["demo", "--kernel", "6.12"], "--kernel: expected it twice, with two different kernels"),
        (["demo", "--kernel", "6.12", "--kernel", "6.12"], "--kernel: expected it twice"),
        (["demo", "--kernel", "6.12", "--kernel", ""], "--kernel: expected it twice"),
        (
            ["demo", "--kernel", "6.1", "--kernel", "6.12", "--spread", "much"],
            "--spread much: expected",
        ),
        (["demo", "--kernel", "6.1", "--kernel", "6.12", "--seeds", "0"], "--seeds 0: expected"),
        (["demo", "--kernel", "6.1", "--kernel", "6.12", "--set", "x=1"], "x: unknown key"),
        (["demo", "--kernel", "6.1", "--kernel", "6.12", "--out", __file__], "is a file; expected"),
        (["evaluation"], "wale-lab evaluate CC --kernel A --against CC --kernel B"),
    ],
)
def test_wrong_words_of_compare(
    words: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernels, "build_of", None)  # they are told before
    assert main(["compare", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_comparison_says_what_did_not_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And counts what both kernels have."""

    def made(words: list[str], _path: Path, _workers: Workers) -> dict[str, Any]:
        kernel = next(word for word in words if word.startswith("--kernel=")).partition("=")[2]
        measures = [["flow", "x", "rate", 1.0]]
        if kernel == "6.1":
            return {
                "kernel": kernel,
                "problems": [],
                "measures": [*measures, ["flow", "x", "y", 2.0]],
            }
        return {"kernel": kernel, "problems": ["flow x did not complete"], "measures": measures}

    monkeypatch.setattr(
        kernels, "build_of", lambda version, _: Build(Kernel(version, "a"), version)
    )
    monkeypatch.setattr(kernels, "_run", made)
    words = ["--kernel", "6.1", "--kernel", "6.12", "--seeds", "1", "--out", str(tmp_path), "-q"]
    assert main(["compare", "demo", *words]) == 0
    said = capsys.readouterr()
    assert "0 of 1 numbers differ" in said.out
    assert said.err == "wale-lab: Linux 6.12, seed 1: flow x did not complete\n"


def test_a_run_that_fails_ends_a_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    orders = [([], tmp_path / str(number)) for number in range(40)]
    begun: list[str] = []

    def fail(_words: list[str], path: Path, _workers: Workers) -> dict[str, Any]:
        begun.append(path.name)
        time.sleep(0.1)
        raise EngineError(f"run {path.name} failed")

    monkeypatch.setattr(kernels, "_orders", lambda *_: iter(orders))
    monkeypatch.setattr(kernels, "_run", fail)
    assert main(["compare", "demo", "--kernel", "6.1", "--kernel", "6.12", "-j", "1"]) == 125
    assert capsys.readouterr().err == "wale-lab: run 0 failed\n"
    assert len(begun) < 5
