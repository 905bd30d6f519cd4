# SPDX-License-Identifier: GPL-2.0
"""A mistake is answered by one sentence in our own words, however much was given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import TESTBED
from wale_lab.cli import main
from wale_lab.errors import MAX_LINE, MAX_LINES, ScenarioError


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command that is refused says."""
    try:
        assert main([*words]) in (2, 125)
    except SystemExit as ended:
        assert ended.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("summary nosuch", "there is no study 'nosuch'; `wale-lab study --list` names those that"),
        ("summary karnik-kumar/nosuch", "there is no study 'karnik-kumar/nosuch'; "),
        ("study nosuch", "there is no study 'nosuch'; "),
        ("trace /nonexistent", "/nonexistent: cannot be read: No such file or directory\n"),
        ("trace /", "/: cannot be read: Is a directory\n"),
        ("trace /bin/true", "/bin/true: cannot be read: it is not text in UTF-8\n"),
        ("trace /nonexistent --step soon", "--step: expected a time such as"),
        ("trace /nonexistent --packet big", "--packet: expected a size such as"),
        ("run /nonexistent.yaml", "/nonexistent.yaml: there is no such file\n"),
        (
            "run",
            "wale-lab run: error: the following arguments are required: SCENARIO (`wale-lab run",
        ),
        ("run demo --seed x", "wale-lab run: error: argument --seed: expected a number from 0"),
        ("run demo --sed 1", "wale-lab run: error: no such option: '--sed' (`wale-lab run --help`"),
        ("trace a b --to c", "wale-lab trace: error: no such option: '--to' ("),
        ("run demo more", "wale-lab run: error: nothing takes this word: 'more' ("),
        ("rnu demo", "wale-lab: error: argument COMMAND: invalid choice: 'rnu'"),
        ("model erlang", "wale-lab model: error: argument MODEL: invalid choice: 'erlang'"),
    ],
)
def test_one_sentence(words: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, *words.split())
    assert text.startswith(expected)
    assert text.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "package"),
    [
        ("report", "jinja2"),
        ("model karnik-kumar --arrivals 0", "scipy"),
        ("study karnik-kumar/table1 --quick", "snakemake"),
    ],
)
def test_a_package_that_a_wheel_does_not_bring(
    words: str,
    package: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [
        n for n in sys.modules if n.startswith(("wale_lab.report", "wale_lab.p", package))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    text = said(capsys, *words.split(), "--quiet")
    package_needed = f"this needs the Python package {package}: pip install 'wale-lab[studies]'\n"
    assert text == f"wale-lab: {package_needed}"


def test_summary_without_its_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "summary", "karnik-kumar/table1", "--results", str(tmp_path / "none"))
    assert text.endswith("expected all runs of karnik-kumar/table1; `wale-lab study` makes them\n")


@pytest.mark.parametrize(
    "text",
    [
        "name: good\nprofile: {long}",
        "name: '!{long}'",
        "name: good\n{key}: 1",
        "name: good\nip: {long}",
        "name: good\nbottleneck: {{forward: {{rate: {long}}}}}",
        "name: good\nhosts: {{all: {{sysctls: {{{key}: 1}}}}}}",
        "name: good\nbottleneck: {{forward: {{trace: {{steps: '1s:1mbit,{long}'}}}}}}",
    ],
)
def test_what_is_refused_may_be_long(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is not all printed, and the end of the sentence is there."""
    path = tmp_path / "s.yaml"
    flows = "flows: [{name: one, size: 1kB}]\n"
    path.write_text(text.format(long="x" * 5000, key="x" * 1000) + f"\n{flows}")
    lines = said(capsys, "run", str(path)).splitlines()
    assert lines and max(map(len, lines)) <= MAX_LINE + 40
    assert any(" characters ...] " in line for line in lines)
    for words in (["demo", "--set", "name=" + "!" * 5000], ["x" * 5000], ["x" * 5000 + ".yaml"]):
        assert len(said(capsys, "run", *words)) <= MAX_LINE + 40


def test_many_mistakes() -> None:
    error = ScenarioError("\n".join(f"mistake {n}" for n in range(1000)))
    lines = str(error).splitlines()
    assert len(lines) == MAX_LINES + 1
    assert lines[-1] == "... and 980 more"


@pytest.mark.guest
def test_without_the_module() -> None:
    """`wale link` says what is missing, in words that say what to do."""
    script = (
        "ip link add eth0 type veth peer name far && ip link set eth0 up && "
        "wale link add eth0 --rate 10mbit"
    )
    command = [
        TESTBED / "wale-lab",
        "exec",
        "--quiet",
        "--modules",
        "none",
        "--",
        "sh",
        "-c",
        script,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr + done.stdout == (
        "wale link: cannot add a link to eth0: there is no qdisc wale; is the module sch_wale loaded?\n"
    )
