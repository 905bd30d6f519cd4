# SPDX-License-Identifier: GPL-2.0
"""wale-lab trace make and plot: traces from models, samples, and pictures."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from wale_lab import cli
from wale_lab.link import Link
from wale_lab.trace_format.step import Step
from wale_lab.trace_format.trace_file import read_trace
from wale_lab.traces.make import USUAL
from wale_lab.tree import PACKAGE

SAMPLES = sorted((PACKAGE / "scenarios/traces").glob("*.trace"))
SECOND = 10**9


def made(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, list[Step]]:
    """The text of a trace that is made, and its steps."""
    assert cli.main(["trace", "make", *words]) == 0, capsys.readouterr().err
    text = capsys.readouterr().out
    return text, read_trace("made", text.split("\n"))[0]


@pytest.mark.parametrize("model", USUAL)
def test_models(capsys: pytest.CaptureFixture[str], model: str) -> None:
    """As long as wanted, with the mean rate while it is up, and the same for the same seed."""
    words = (model, "--seconds", "300", "--mean", "7mbit", "--delay", "10ms..20ms")
    text, steps = made(capsys, *words, "--seed", "5")
    assert sum(step.duration_ns for step in steps) == 300 * SECOND
    up = [(step.duration_ns, step.rate_bps or 0) for step in steps if not step.down]
    mean = sum(time * rate for time, rate in up) / sum(time for time, _ in up)
    assert mean == pytest.approx(7e6, rel=1e-3)
    assert all(10**7 <= (step.delay_ns or 0) <= 2 * 10**7 for step in steps)
    assert made(capsys, *words, "--seed", "5")[0] == text
    assert made(capsys, *words, "--seed", "6")[0].split("\n")[1:] != text.split("\n")[1:]
    assert Link.model_validate({"trace": {"steps": [step.words() for step in steps]}}).trace


def test_a_satellite_each_15_s(capsys: pytest.CaptureFixture[str]) -> None:
    """A break and losses when the path changes, and at no other time; delays are those of a path."""
    _, steps = made(capsys, "leo", "--seconds", "120", "--seed", "2")
    start = 0
    downs, losses, delays = [], [], list[set[int]]()
    for step in steps:
        if start % (15 * SECOND) == 0:
            delays.append(set())
        delays[-1].add(step.delay_ns or 0)
        if step.down:
            downs.append(start // SECOND)
        if step.loss:
            losses.append(start // SECOND)
        start += step.duration_ns
    assert downs == losses == [15, 30, 45, 60, 75, 90, 105]
    assert all(max(path) - min(path) <= 3_010_000 for path in delays)
    assert all(25 * 10**6 <= delay <= 60 * 10**6 for path in delays for delay in path)
    assert len({min(path) for path in delays}) == 8


def test_outages_of_3_s_each_minute(capsys: pytest.CaptureFixture[str]) -> None:
    _, steps = made(capsys, "gnss-outage", "--seconds", "600", "--seed", "9")
    assert sum(step.duration_ns for step in steps if step.down) == 30 * SECOND
    assert [step.duration_ns for step in steps if step.down] == [3 * SECOND] * 10


def test_losses_of_a_station_come_in_bursts(capsys: pytest.CaptureFixture[str]) -> None:
    """Gilbert and Elliott: 2 s good and 0.3 s bad on average, 5 % or more of losses in the bad."""
    _, steps = made(capsys, "wifi", "--seconds", "3600")
    bad = sum(step.duration_ns for step in steps if (step.loss or 0) >= 0.05)
    assert bad / (3600 * SECOND) == pytest.approx(0.3 / 2.3, rel=0.15)


def test_samples() -> None:
    assert [path.stem for path in SAMPLES] == sorted(USUAL)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_is_what_its_command_makes(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    _, command, *rest = path.read_text("utf-8").split("\n")
    words = shlex.split(command.removeprefix("# "))
    assert words[:3] == ["wale-lab", "trace", "make"]
    assert made(capsys, *words[3:])[0] == "\n".join([command, *rest])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("make", "trace make: expected one of leo, lte, wifi, gnss-outage"),
        ("make geo", "trace make: expected one of"),
        ("make leo --seconds 0", "--seconds: expected 1 to 86400, got 0"),
        ("make leo --mean fast", "--mean: expected a rate such as"),
        ("make leo --mean 1kbit", "--mean: expected a rate from 10 kbit/s"),
        ("make leo --delay 9ms..5ms", "--delay: expected LEAST..MOST"),
        ("make leo --gaps hold", "--gaps: expected it with files of other tools alone"),
        ("FILE --seconds 5", "--seconds: expected it with trace make alone"),
        ("plot FILE --mean 5mbit", "--mean: expected it with trace make alone"),
        ("plot", "trace plot: expected a file"),
        (
            "plot FILE --out a.gif",
            "--out: expected a name that ends in .png, .svg, .pdf, got a.gif",
        ),
    ],
)
def test_refused(capsys: pytest.CaptureFixture[str], words: str, says: str) -> None:
    assert cli.main(["trace", *words.replace("FILE", str(SAMPLES[0])).split()]) == 2
    assert capsys.readouterr().err.startswith(says)


def test_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same trace gives the same bytes; one of a million steps is drawn too."""
    pictures = [tmp_path / f"{n}.png" for n in range(len(SAMPLES) + 1)]
    for path, picture in zip([SAMPLES[0], *SAMPLES], pictures, strict=True):
        assert cli.main(["trace", "plot", str(path), "--out", str(picture)]) == 0
    assert capsys.readouterr().out.split() == list(map(str, pictures))
    assert pictures[0].read_bytes() == pictures[1].read_bytes() != pictures[2].read_bytes()
    long = tmp_path / "long.trace"
    long.write_text("1ms 8mbit 10ms\n1ms 16mbit 20p\n1ms down\n" * 30_000)
    assert cli.main(["trace", "plot", str(long), "--out", str(tmp_path / "long.svg")]) == 0
    assert (tmp_path / "long.svg").stat().st_size < 5_000_000


def test_odd_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The name of a file is no formula of a picture, and ends no comment of a trace."""
    for name in (b"$\\fracx$", b"two\nlines", b"no \xff UTF-8"):
        path = tmp_path / os.fsdecode(name)
        path.write_text("1s 8mbit\n")
        assert cli.main(["trace", "plot", str(path), "--out", str(tmp_path / "odd.png")]) == 0
        for text in ("1s 8mbit\n", "1\n1000\n"):
            path.write_text(text)
            out = tmp_path / "out"
            assert cli.main(["trace", str(path), "--out", str(out)]) == 0
            with out.open() as lines:
                assert sum(step.duration_ns for step in read_trace("out", lines)[0]) == 10**9
    capsys.readouterr()
