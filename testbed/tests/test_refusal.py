# SPDX-License-Identifier: GPL-2.0
"""What only a kernel or tc can refuse in a scenario: file, line, key, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from wale_lab import yaml_lines
from wale_lab.cli import main
from wale_lab.engines.base import EngineError, wanted_kernel
from wale_lab.errors import ScenarioError
from wale_lab.refusal import check_controls, refused
from wale_lab.scenario import Scenario, check_scenario

SCENARIO = """\
name: refused
bottleneck:
  forward: {rate: 2mbit, delay: 10ms}
  reverse: {delay: 10ms}
flows:
  - name: one
    size: 20kB
    cc: reno
hosts:
  all: {}
"""
QUEUE = ("delay: 10ms}\n  rev", "delay: 10ms, queue: %s}\n  rev")
QDISC = ("reverse: {delay: 10ms}", "reverse: {qdisc: %s}")
HOSTS = ("all: {}", "all: %s")
CC = ("cc: reno", "cc: %s")


def written(change: tuple[str, str], value: str, folder: Path) -> Path:
    old, new = change
    assert old in SCENARIO
    path = folder / "s.yaml"
    path.write_text(SCENARIO.replace(old, new % value))
    return path


def check(text: str) -> Scenario:
    return check_scenario(yaml_lines.parse(text, "s.yaml"), [], Path())


@pytest.mark.guest
@pytest.mark.parametrize(
    ("change", "value", "expected"),
    [
        (QUEUE, "nosuch", "3: bottleneck.forward.queue: tc refuses it: "),
        (
            QUEUE,
            "fq_codel limitt 5",
            '3: bottleneck.forward.queue: tc refuses it: What is "limitt"?',
        ),
        (QDISC, "nosuch", "4: bottleneck.reverse.qdisc: tc refuses it: "),
        (QDISC, "tbf rate 5mbit", '4: bottleneck.reverse.qdisc: tc refuses it: tbf: the "burst"'),
        (
            CC,
            "renoo",
            "8: flows.0.cc: expected one of bbr, bic, cubic, dctcp, htcp, oldtahoe, ratcp,",
        ),
        (HOSTS, "{route: {congctl: renoo}}", "10: hosts.all.route.congctl: expected one of bbr, "),
        (
            HOSTS,
            "{sysctls: {net.ipv4.nosuch: 1}}",
            "10: hosts.all.sysctls.net.ipv4.nosuch: this kernel has no such sysctl",
        ),
        (
            HOSTS,
            "{sysctls: {net.ipv4.tcp_sack: many}}",
            "10: hosts.all.sysctls.net.ipv4.tcp_sack: the kernel does not take 'many': Invalid",
        ),
    ],
)
def test_one_sentence_with_the_place(
    change: tuple[str, str],
    value: str,
    expected: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = written(change, value, tmp_path)
    assert main(["run", "-q", str(path), "--out", str(tmp_path / "new/out")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"{path}:{expected}")
    assert said.err.count("\n") == 1
    assert not (tmp_path / "new").exists()


@pytest.mark.guest
def test_results_of_an_earlier_run_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    words = ["run", "-q", "--out", str(out)]
    assert main([*words, str(written(CC, "reno", tmp_path))]) == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert main([*words, str(written(QUEUE, "nosuch", tmp_path))]) == 2
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_options_are_not_abbreviated(capsys: pytest.CaptureFixture[str]) -> None:
    """`exec --start` is a date, and `run --start` is not --starter."""
    with pytest.raises(SystemExit):
        main(["run", "demo", "--start", "2026-12-24"])
    assert "run: error: no such option: '--start' (" in capsys.readouterr().err


def test_congestion_controls_are_known_before_a_kernel_is_there() -> None:
    scenario = check(SCENARIO.replace("cc: reno", "cc: brr"))
    with pytest.raises(ScenarioError, match=r"s\.yaml:8: flows\.0\.cc: .* ratcp,.*, got 'brr'"):
        check_controls(scenario, {"reno", "bbr"})
    check_controls(check(SCENARIO.replace("cc: reno", "cc: ratcp")), {"reno"})
    constant = SCENARIO.replace(
        "size: 20kB\n    cc: reno", "duration: 1s\n    constant: {rate: 1mbit}"
    )
    check_controls(check(constant), {"reno"})


def test_what_an_agent_refuses() -> None:
    """Of kernels that are not known beforehand, of a profile, and of what we chose ourselves."""
    scenario = check(SCENARIO.replace("all: {}", "senders: {sysctls: {net.a: 1}}"))
    for of, expected in (
        ({"cc": "reno", "has": ["cubic"], "flow": "one"}, "s.yaml:8: flows.0.cc: expected one of"),
        (
            {"sysctl": "net.a", "host": "one.pair1-sender"},
            "s.yaml:10: hosts.senders.sysctls.net.a: why",
        ),
        ({"sysctl": "net.a", "host": "pair1-receiver"}, "s.yaml:1: profile: net.a: why"),
    ):
        error = refused(scenario, "why", of)
        assert isinstance(error, ScenarioError) and str(error).startswith(expected)
    for of in (
        {},
        {"link": "forward", "key": "qdisc", "said": "Error: no."},
        {"link": "p-access-ack", "key": "qdisc"},
    ):
        error = refused(scenario, "why", of)
        assert isinstance(error, EngineError) and str(error).endswith("could not be run: why")


@pytest.mark.parametrize("kernel", ["foo", "6", "v6.12", " "])
def test_kernel_that_is_no_version(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        EngineError, match=r"--kernel: there is no version .*; expected one such as"
    ):
        wanted_kernel(kernel)
    monkeypatch.setenv("WALE_KERNEL", kernel)
    with pytest.raises(EngineError, match=r"WALE_KERNEL: there is no version"):
        wanted_kernel(None)
    assert wanted_kernel("6.12+san") == "6.12+san"
