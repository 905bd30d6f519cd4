# SPDX-License-Identifier: GPL-2.0
"""`wale-lab with`: a command behind a link, in one line."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from conftest import SLOWNESS, TESTBED
from wale_lab import yaml_lines
from wale_lab.cli import main
from wale_lab.link import Link
from wale_lab.scenario import check_scenario
from wale_lab.with_link import _NO_OPTIONS

LAB = str(TESTBED / "wale-lab")
PING = ["--delay", "20ms", "--", "ping", "-c", "2", "server"]


def lab_with(
    folder: Path, *words: str, stdin: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [LAB, "with", *words],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=120 * SLOWNESS,
        env={**os.environ, **(env or {})},
    )


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main(["with", "--print-scenario", *words, "--", "ls", "-l"]) == 0
    text = capsys.readouterr().out
    check_scenario(yaml_lines.parse(text, "printed"), [], Path())
    data: dict[str, object] = yaml.safe_load(text)
    return data


def test_the_scenario_that_it_is(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    both = {"rate": "2mbit", "delay": "5ms"}
    words = ["--rate", "2mbit", "--delay", "5ms"]
    assert printed(capsys, *words)["bottleneck"] == {"forward": both, "reverse": both}
    trace = tmp_path / "lte.trace"
    trace.write_text("1s 2mbit\n")
    found = printed(capsys, *words, "--down", str(trace), "--up", "loss 1% rate 1mbit")
    assert found["bottleneck"] == {
        "forward": {"delay": "5ms", "trace": {"file": str(trace)}},
        "reverse": {"rate": "1mbit", "delay": "5ms", "loss": "1%"},
    }
    flows = printed(capsys, "--serve", "a b", "--serve", "c", "--ready", "{tcp: 80}")["flows"]
    assert flows == [
        {"name": "server", "sh": "a b", "host": "server", "ready": {"tcp": 80}, "serve": True},
        {"name": "server-1", "sh": "c", "host": "server", "ready": {"tcp": 80}, "serve": True,
         "after": "server"},
        {"name": "client", "run": ["ls", "-l"], "host": "client", "exit": "any",
         "after": "server-1"},
    ]  # fmt: skip
    assert printed(capsys, "--feedback", "on", "--cc", "ratcp")["bottleneck"] == {
        "forward": {"feedback": True},
        "reverse": {},
    }


def test_a_trace_without_rates_keeps_that_of_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "path.trace"
    trace.write_text("1s 20ms\n1s 8mbit 40ms\n1s down\n")
    forward = printed(capsys, "--rate", "2mbit", "--down", str(trace))["bottleneck"]["forward"]
    assert forward == {"rate": "2mbit", "trace": {"file": str(trace)}}


def test_each_key_of_a_link_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["with", "--help"])
    said = capsys.readouterr().out
    for name in set(Link.model_fields) - set(_NO_OPTIONS):
        assert f"--{name.replace('_', '-')} " in said


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--rate 10mbits", "wale-lab with: --rate: expected a rate"),
        ("--up rate", "wale-lab with: --up: expected a rate"),
        ("--up no.trace", "wale-lab with: --up: there is no file no.trace"),
        ("--up colour=1,2", "wale-lab with: --up: expected a rate"),
        ("--threshold 50%", "wale-lab with: the link: expected threshold with policy"),
        ("--jitter 5ms", "wale-lab with: --jitter: expected its keys in braces"),
        ("--cwd /nonesuch", "wale-lab with: --cwd /nonesuch: there is no such folder"),
        ("--env A", "--env A: expected NAME=VALUE"),
        ("--net", "wale-lab with: --net: expected --real too: the outside network has no virtual"),
        ("--net --real --engine vm", "wale-lab with: --net: the vm engine has no way to the outsi"),
        ("--packets", "wale-lab with: --packets: expected --out DIR"),
        ("--delay -5ms", "wale-lab with: --delay: expected a time"),
        ("--loss -.5%", "wale-lab with: --loss: expected a probability"),
        ("--cc nosuch", "wale-lab with: --cc: expected one of bbr"),
        ("--net --real --cc nosuch", "wale-lab with: --cc: expected one of bbr"),
    ],
)
def test_refused(words: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["with", *words.split(), "--", "true"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(expected)
    assert len(said.splitlines()) == 1


@pytest.mark.guest
@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--qdisc", "nosuch"], "--qdisc"),
        (["--up", "delay 1ms", "--", "wale-lab", "with", "--up", "qdisc nosuch"], "--up"),
    ],
)
def test_what_the_guest_refuses_names_an_option(
    words: list[str], named: str, tmp_path: Path
) -> None:
    done = lab_with(tmp_path, *words, "--", "true")
    assert done.returncode == 2
    assert done.stderr.startswith(f"wale-lab with: {named}: tc refuses it: ")


def test_links_in_series(capsys: pytest.CaptureFixture[str]) -> None:
    """The first is the server's, the last that of the command."""
    words = ["--delay", "1ms", "--serve", "x", "--", "testbed/wale-lab", "with", "--delay", "2ms"]
    found = printed(capsys, *words, "--up", "1mbit")
    assert found["topology"] == {
        "type": "graph",
        "hosts": ["server", "client"],
        "routers": ["router1"],
        "links": [
            {
                "name": "link1",
                "ends": ["server", "router1"],
                "forward": {"delay": "1ms"},
                "reverse": {"delay": "1ms"},
            },
            {
                "name": "link2",
                "ends": ["router1", "client"],
                "forward": {"delay": "2ms"},
                "reverse": {"delay": "2ms", "rate": "1mbit"},
            },
        ],
    }
    assert main(["with", "--", "wale-lab", "with", "--seed", "2", "--", "true"]) == 2
    assert "--seed: expected it before the first --" in capsys.readouterr().err


def test_the_outside_network(capsys: pytest.CaptureFixture[str]) -> None:
    """The server's end of the link is the router there, of one link or of several."""
    found = printed(capsys, "--real", "--net", "--rate", "1mbit", "--up", "2mbit")["topology"]
    forward, reverse = {"rate": "1mbit"}, {"rate": "2mbit"}
    link = {"name": "link", "ends": ["server", "client"], "forward": forward, "reverse": reverse}
    assert found == {
        "type": "graph",
        "hosts": ["client"],
        "routers": ["server"],
        "outside": "server",
        "links": [link],
    }
    found = printed(capsys, "--real", "--net", "--", "wale-lab", "with")["topology"]
    assert isinstance(found, dict)
    assert (found["routers"], found["outside"]) == (["server", "router1"], "server")


def test_one_in_a_guest_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WALE_INSIDE", "1")
    assert main(["with", "--", "true"]) == 2
    assert "it cannot run inside a guest" in capsys.readouterr().err


@pytest.mark.guest
def test_two_links(tmp_path: Path) -> None:
    inner = ["wale-lab", "with", "--delay", "5ms", "--", "ping", "-c", "1", "server"]
    done = lab_with(tmp_path, "--delay", "20ms", "--", *inner)
    assert done.returncode == 0
    assert "time=50.0 ms" in done.stdout
    assert "link1.down" in done.stderr


@pytest.mark.guest
def test_a_transfer(tmp_path: Path) -> None:
    """It reads and writes the current folder, and is repeatable; the summary is on stderr."""
    (tmp_path / "big.bin").write_bytes(os.urandom(300_000))
    words = ["--rate", "10mbit", "--delay", "40ms", "--loss", "1%", "--packets", "csv"]
    words += ["--serve", "python3 -m http.server 8000", "--out", "out", "--"]
    words += ["curl", "-sS", "-o", "got", "-w", "%{size_download}", "http://server:8000/big.bin"]
    digests = set()
    for _ in range(3):
        done = lab_with(tmp_path, *words)
        assert (done.returncode, done.stdout) == (0, "300000"), done.stderr
        assert (tmp_path / "got").read_bytes() == (tmp_path / "big.bin").read_bytes()
        digests.add(json.loads((tmp_path / "out/result.json").read_text())["digest"])
    assert len(digests) == 1
    for word in ("client", "server", "down", "up", "cubic", "digest"):
        assert word in done.stderr
    assert (tmp_path / "out/packets.pcapng").exists()
    with (tmp_path / "out/packets.csv").open(newline="") as file:
        assert {row["flow"] for row in csv.DictReader(file)} == {"client"}


@pytest.mark.guest
@pytest.mark.parametrize("also", ["true", "wale get server:data --out /run/tmp/got"])
def test_packets_of_no_socket_can_be_drawn(also: str, tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes(30_000))
    script = f"ping -c 2 server && {also}"
    words = ["-q", "--packets", "--out", "out", "--delay", "20ms", "--serve", "wale serve -q ."]
    done = lab_with(tmp_path, *words, "--", "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    for more in (["--cdf", "--out", "cdf.png"], ["--out", "page.html"]):
        drawn = [LAB, "plot", "-q", "out", *more]
        done = subprocess.run(drawn, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr


def test_a_pipe_in_which_nothing_comes() -> None:
    """It is waited for, as its end is not known, but not without a word."""
    code = "from wale_lab.terminal import standard_input; print(standard_input())"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as reader:  # fmt: skip
        assert reader.stderr and reader.stderr.readline().startswith(
            "wale-lab: reading standard input to its end"
        )
        assert reader.communicate("late") == ("b'late'\n", "")


@pytest.mark.guest
def test_streams_and_exit_code(tmp_path: Path) -> None:
    script = "cat; echo problem >&2; echo $MINE; pwd; ls -d /run/wale/out/*.files; exit 7"
    done = lab_with(tmp_path, "-q", "--", "sh", "-c", script, stdin="in\n", env={"MINE": "own"})
    assert done.returncode == 7
    assert done.stdout == f"in\nown\n{tmp_path}\n/run/wale/out/client.files\n"
    assert done.stderr == "problem\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.guest
def test_json_and_cc(tmp_path: Path) -> None:
    done = lab_with(tmp_path, "--json", "--cc", "reno", "--serve", "wale serve -q .", "--", "true")
    result = json.loads(done.stderr)
    assert [flow["name"] for flow in result["flows"]] == ["server", "client"]
    assert result["settings"]["hosts"]["all"]["route"]["congctl"] == "reno"


@pytest.mark.guest
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--", "nonesuch"], 127, "there is no program 'nonesuch' in PATH"),
        (["--", "sh", "-c", "kill -9 $$"], 137, ""),
        (["--serve", "exit 3", "--", "true"], 125, "ended with exit code 3"),
        (["--serve", "sleep 99", "--ready", "{tcp: 1, within: 1s}", "--", "true"], 125,
         "was not ready within 1 s"),
        (["--wall-limit", "3", "--", "sh", "-c", "while :; do :; done"], 124,
         "in the last second, in which sh ran"),
    ],
)  # fmt: skip
def test_how_it_ends(words: list[str], code: int, said: str, tmp_path: Path) -> None:
    done = lab_with(tmp_path, "-q", *words)
    assert done.returncode == code
    assert said in done.stderr


@pytest.mark.guest
def test_real_time(tmp_path: Path) -> None:
    began = time.monotonic()
    done = lab_with(tmp_path, "-q", "--real", *PING)
    assert done.returncode == 0
    assert "2 received" in done.stdout
    assert time.monotonic() - began > 1


@pytest.mark.guest
@pytest.mark.parametrize("mode", [["--real"], []])
def test_ctrl_c_is_the_commands(mode: list[str], tmp_path: Path) -> None:
    words = [LAB, "with", "-q", *mode, "--delay", "20ms", "--", "ping", "server"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(2):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        said = process.stdout.read()
    assert process.returncode == 0
    assert "ping statistics" in said


@pytest.mark.guest
def test_ctrl_c_before_the_command_starts(tmp_path: Path) -> None:
    words = [LAB, "with", "-q", "--real", "--serve", "touch began; sleep 1000", "--", "true"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while not (tmp_path / "began").exists():
            assert process.poll() is None
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert (process.returncode, said) == (130, "wale-lab: interrupted\n")


@pytest.mark.guest
def test_a_reader_that_goes(tmp_path: Path) -> None:
    script = f"{LAB} with -q --delay 20ms -- ping server | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[1] == "141"
    assert done.stderr == ""
