# SPDX-License-Identifier: GPL-2.0
"""Programs in scenarios: what may be said of them, how they run, and what is kept of them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from wale_lab import yaml_lines
from wale_lab.describe import json_schema, markdown
from wale_lab.errors import ScenarioError
from wale_lab.programs import Metric
from wale_lab.results.programs import metric_of
from wale_lab.results.result import problems
from wale_lab.runner import run_scenario
from wale_lab.scenario import Scenario, check_scenario

HEAD = """
name: programs
wall_limit: 60s
virtual_limit: 100s
bottleneck:
  forward: {rate: 10mbit, delay: 20ms, limit: 100kB}
  reverse: {rate: 10mbit, delay: 20ms}
flows:
"""
ONE = HEAD + "  - {name: one, run: 'true', host: pair1-sender}\n"
WEB = (
    HEAD
    + """\
  - name: server
    sh: head -c 1000000 /dev/zero > $WALE_FILES/big; cd $WALE_FILES; exec python3 -m http.server
    host: pair1-sender
    ready: {tcp: 8000}
    serve: on
  - name: get
    run: curl -sS -o /dev/null -w '{"time":%{time_total}}' http://pair1-sender:8000/big
    host: pair1-receiver
    after: server
    metrics: {time: {json: .time}}
  - name: ping
    run: ping -c 3 pair1-sender
    host: pair1-receiver
    after: get
    metrics: {rtt: {regex: "= [0-9.]+/([0-9.]+)/"}}
  - {name: beside, size: 100kB, cc: reno}
"""
)


def check(text: str, *overrides: str) -> Scenario:
    return check_scenario(yaml_lines.parse(text, "s.yaml"), list(overrides), Path())


def run(out: Path, text: str, *overrides: str) -> dict[str, Any]:
    return run_scenario(check(text, *overrides), 1, out)


def flows_of(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {flow["name"]: flow for flow in result["flows"]}


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("flows.one.host=moon", "host: expected one of pair1-sender, pair1-receiver, got 'moon'"),
        ("flows.one.run=''", "expected a command"),
        ("flows.one.run='a \"b'", "no closing quotation"),
        ("flows.one.sh=ls", "expected either run or sh"),
        ("flows.one.colour=red", "unknown key; expected one of after, cwd, env, exit"),
        ("flows.one.serve=on", "expected one that ends"),
        ("flows.one.ready={tcp: 0}", "ready.tcp: expected"),
        ("flows.one.ready={tcp: 1, udp: 1}", "expected one of tcp, udp, output, time, listens"),
        ("flows.one.ready={output: '('}", "expected a regular expression"),
        ("flows.one.until=never", "expected a time"),
        ("flows.one.exit=none", "expected any, or exit codes"),
        ("flows.one.exit=256", "expected any, or exit codes"),
        ("flows.one.metrics={m: {}}", "expected either json or regex"),
        ("flows.one.metrics={m: {json: 'a['}}", "expected a path such as .end.rtt"),
        ("flows.one.env={'A=': 1}", "names of environment variables"),
        ("isolate=on", "expected isolate: off with programs"),
        ("topology.pairs=[{name: a, sender: x, receiver: x}]", "different names of hosts"),
    ],
)
def test_refused(override: str, expected: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        check(ONE, override)
    assert expected in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_the_schema_has_them() -> None:
    schema = json_schema()
    assert {"run", "sh", "ready", "metrics"} <= set(schema["$defs"]["Program"]["properties"])
    assert "json" in schema["$defs"]["Metric"]["properties"]
    assert "[Program](#program)" in markdown(schema)


@pytest.mark.parametrize(
    ("metric", "text", "value"),
    [
        ({"json": ".a.b[1]"}, '{"a": {"b": [1, 2.5]}}', 2.5),
        ({"json": "a"}, 'first line\n{"a": 3}\n', 3),
        ({"json": ".a"}, "no json", None),
        ({"regex": "rate=([0-9.]+)"}, "rate=1.5\nrate=2\n", 2),
        ({"regex": "[0-9]+$"}, "7 of 8", 8),
        ({"regex": "rate=(.*)"}, "rate=fast", None),
    ],
)
def test_metric(metric: dict[str, str], text: str, value: float | None) -> None:
    assert metric_of(Metric.model_validate(metric), text) == value


@pytest.mark.guest
def test_a_server_and_its_clients(tmp_path: Path) -> None:
    result = run(tmp_path, WEB)
    assert problems(result) == []
    flows = flows_of(result)
    assert list(flows) == ["server", "get", "ping", "beside"]
    server, get, ping = flows["server"], flows["get"], flows["ping"]
    assert server["told_to_end"]
    assert 0 <= server["ready_s"] <= get["start_s"] < get["end_s"] <= ping["start_s"]
    assert get["metrics"]["time"] == pytest.approx(get["seconds"], abs=0.01)
    assert ping["metrics"]["rtt"] == pytest.approx(40.1, abs=0.2)
    assert get["sockets"]["bytes_received"] > 1_000_000
    assert server["sockets"]["bytes_acked"] > 1_000_000
    assert server["sockets"]["cc"] == "cubic"
    assert server["sockets"]["min_rtt_us"] == pytest.approx(40_100, abs=200)
    assert server["retransmits"] == server["sockets"]["retransmits"]
    assert "GET /big" in (tmp_path / "server.err").read_text()
    assert (tmp_path / "server.files/big").stat().st_size == 1_000_000
    assert not (tmp_path / "get.files").exists()
    with (tmp_path / "flows.csv").open(newline="") as file:
        names = {row["flow"] for row in csv.DictReader(file)}
    assert names == {"server", "get", "beside"}
    again = run(tmp_path / "again", WEB)
    assert again["digest"] == result["digest"]


@pytest.mark.guest
def test_in_a_network(tmp_path: Path) -> None:
    text = """
name: network
record: {interval: 10ms}
topology:
  type: graph
  hosts: [a, b]
  routers: [r]
  links:
    - {ends: [a, r], both: {delay: 10ms}}
    - {ends: [r, b], both: {delay: 5ms}}
flows:
  - {name: ping, run: ping -c 1 a, host: b}
  - {name: get, run: wale get a:data, host: b, after: server, cwd: /run/tmp}
"""
    server = "  - {name: server, sh: 'cd $WALE_FILES; echo x > data; exec wale serve .', host: a,"
    server += " ready: listens, serve: on}\n"
    text = text.replace("  - {name: get", server + "  - {name: get")
    result = run(tmp_path, text)
    assert problems(result) == []
    assert "time=30.0 ms" in (tmp_path / "ping.out").read_text()
    assert flows_of(result)["get"]["sockets"]["min_rtt_us"] == pytest.approx(30_000, abs=100)


@pytest.mark.guest
def test_sockets_between_two_samples_count(tmp_path: Path) -> None:
    result = run(tmp_path, WEB, "record.interval=20s")
    assert flows_of(result)["get"]["sockets"]["bytes_received"] > 1_000_000
    assert flows_of(result)["server"]["sockets"]["bytes_acked"] > 1_000_000


@pytest.mark.guest
@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("sh='echo bad >&2; exit 3'", "`echo bad >&2; exit 3` on pair1-sender ended with exit code"
         " 3; it said: bad"),
        ("run=nonesuch", "there is no program 'nonesuch' in PATH"),
        ("run=/usr/include/stdio.h", "/usr/include/stdio.h is not executable"),
        ("cwd=/nonesuch", "its folder /nonesuch: No such file or directory"),
        ("ready={tcp: 99}", "it ended before it was ready"),
        ("sh='kill -9 $$'", "ended with signal 9"),
    ],
)  # fmt: skip
def test_one_that_fails_ends_the_run(override: str, expected: str, tmp_path: Path) -> None:
    text = ONE + "  - {name: other, run: sleep 50, host: pair1-receiver, start: 1s}\n"
    kind = override.partition("=")[0]
    sets = ["flows.one.run=null"] if kind == "sh" else []
    result = run(tmp_path, text, *sets, f"flows.one.{override}")
    assert result["virtual_s"] < 1
    first, second = problems(result)
    assert first.startswith("flow one did not complete: `")
    assert expected in first
    assert "was never started: because one failed" in second


@pytest.mark.guest
@pytest.mark.parametrize("code", ["any", "3", "[0, 3]"])
def test_exit_codes_that_are_good(code: str, tmp_path: Path) -> None:
    result = run(tmp_path, ONE, "flows.one.run=[sh, -c, exit 3]", f"flows.one.exit={code}")
    assert problems(result) == []
    assert result["flows"][0]["exit_code"] == 3


@pytest.mark.guest
@pytest.mark.parametrize(
    ("flow", "end_s", "problem"),
    [
        ("run: sleep 50, until: 2s", 2, None),
        ("sh: 'trap \"\" TERM; sleep 50', until: 1s, grace: 3s", 4, None),
        ("run: sleep 90, ready: {udp: 99, within: 5s}", 5, "it was not ready within 5 s"),
        ("run: sleep 200", 100, "still ran at the scenario's virtual_limit"),
    ],
)
def test_when_it_ends(flow: str, end_s: float, problem: str | None, tmp_path: Path) -> None:
    result = run(tmp_path, HEAD + f"  - {{name: one, {flow}, host: pair1-sender}}\n")
    assert result["flows"][0]["end_s"] == pytest.approx(end_s, abs=0.02)
    assert bool(problems(result)) == bool(problem)
    assert problem is None or problem in problems(result)[0]


@pytest.mark.guest
@pytest.mark.parametrize(
    ("ready", "ready_s"),
    [("1.5s", 1.5), ("{output: '^up$'}", 2), ("listens", 3), ("{udp: 53}", 3)],
)
def test_ready(ready: str, ready_s: float, tmp_path: Path) -> None:
    script = "import socket, time; time.sleep(2); print('up'); time.sleep(1); "
    script += "s = socket.socket(type=socket.SOCK_DGRAM); s.bind(('', 53)); time.sleep(5)"
    text = ONE + "  - {name: two, run: 'true', host: pair1-receiver, after: one}\n"
    command = f'flows.one.run=[python3, -c, "{script}"]'
    result = run(tmp_path, text, command, f"flows.one.ready={ready}")
    assert problems(result) == []
    one, two = result["flows"]
    assert one["ready_s"] == pytest.approx(ready_s, abs=0.05)
    assert two["start_s"] == pytest.approx(one["ready_s"], abs=0.001)


@pytest.mark.guest
def test_a_metric_that_is_not_there(tmp_path: Path) -> None:
    result = run(tmp_path, ONE, "flows.one.metrics={n: {regex: '[0-9]+'}}")
    assert problems(result) == ["flow one: metric n: no such number in what it printed"]


@pytest.mark.guest
def test_what_it_finds_around_it(tmp_path: Path) -> None:
    """Its folder, its environment, fine timers, and nothing of what the testbed is started with."""
    (tmp_path / "data").mkdir()
    script = "pwd; echo $A $PYTHONPATH; getent hosts pair1-receiver | cut -d' ' -f1;"
    script += " python3 -c 'import time; print(time.clock_getres(time.CLOCK_MONOTONIC))'"
    text = HEAD + f'  - {{name: one, sh: "{script}", host: pair1-sender, cwd: data, env: {{A: 1}}}}'
    (tmp_path / "s.yaml").write_text(text)
    scenario = check_scenario(yaml_lines.load(tmp_path / "s.yaml"), [], tmp_path)
    assert problems(run_scenario(scenario, 1, tmp_path / "out")) == []
    said = (tmp_path / "out/one.out").read_text().splitlines()
    assert said == [str(tmp_path / "data"), "1", "10.2.1.2", "1e-09"]
