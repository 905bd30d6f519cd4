# SPDX-License-Identifier: GPL-2.0
"""The way from a guest to the outside network, tried with this machine's loopback alone."""

from __future__ import annotations

import functools
import http.server
import json
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import TESTBED
from test_with import lab_with
from wale_lab import yaml_lines
from wale_lab.engines import outside
from wale_lab.engines.base import EngineError
from wale_lab.errors import ScenarioError
from wale_lab.progress import Progress
from wale_lab.refusal import check_tools
from wale_lab.runner import get_engine, run_scenario, start
from wale_lab.scenario import Scenario, check_scenario
from wale_lab.topologies.planning import make_plan

CHAIN = """
name: chain
time: real
topology:
  type: graph
  hosts: [client, other]
  routers: [out, middle, near]
  outside: out
  links:
    - {ends: [out, middle]}
    - {ends: [middle, near]}
    - {ends: [near, client]}
    - {ends: [middle, other]}
    - {ends: [near, other]}
flows:
  - {name: one, run: ls, host: client}
"""


def scenario(*changes: str) -> Scenario:
    return check_scenario(yaml_lines.parse(CHAIN, "s.yaml"), list(changes), Path())


def test_each_node_has_a_route_that_leads_outside() -> None:
    plan = make_plan(scenario(), 1)
    via = {
        space.name: [ln.split()[4] for ln in space.ip if ln.startswith("route add default")]
        for space in plan.namespaces
    }
    assert via["out"] == [outside.GATEWAY]
    assert via["middle"] == ["10.0.0.1"]
    assert via["near"] == ["10.0.1.1"]
    assert via["client"] == ["10.0.2.1"]
    assert via["other"] == ["10.0.3.1", "10.0.4.1", "10.0.3.1"]  # two in tables of an address
    assert f"link set {outside.DEVICE} netns out" in plan.wires
    assert plan.names[outside.OWN_NAME] == outside.GATEWAY


def test_without_a_way_outside_routers_have_no_default() -> None:
    plan = make_plan(scenario("topology.outside=null"), 1)
    routers = [space for space in plan.namespaces if space.name in ("out", "middle", "near")]
    assert not [line for space in routers for line in space.ip if "default" in line]
    assert plan.name_server is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("topology.outside=client", "outside: expected one of out, middle, near, got 'client'"),
        ("time=virtual", "time: expected real with topology.outside, got virtual"),
        ("ip=6", "ip: expected 4 with topology.outside, got 6"),
    ],
)
def test_what_cannot_lead_outside(change: str, said: str) -> None:
    with pytest.raises(ScenarioError) as error:
        scenario(change)
    assert said in str(error.value)


@pytest.mark.parametrize("engine", ["vm", "host"])
def test_other_engines_refuse(engine: str) -> None:
    with pytest.raises(EngineError, match=f"the {engine} engine has no way to the outside network"):
        start(scenario(), get_engine(engine), None, Progress(quiet=True))


def test_without_passt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(ScenarioError, match=r"s.yaml:8: topology.outside: it needs passt: sudo ap"):
        check_tools(scenario())


def test_a_passt_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passt = tmp_path / "passt"
    passt.write_text("#!/bin/sh\necho 'no interface with a default route' >&2\nexit 1\n")
    passt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with (
        pytest.raises(EngineError, match=r"outside network, ended: no interface with a default"),
        outside.leads_outside(Path("/bin/true")),
    ):
        pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """A folder that this machine serves on 127.0.0.1, and the port."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nothing."""

        def do_PUT(self) -> None:
            (folder / "got").write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(201)
            self.end_headers()

    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield folder, server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.mark.guest
def test_down_and_up_through_the_link(tmp_path: Path, served: tuple[Path, int]) -> None:
    folder, port = served
    data = os.urandom(1_000_000)
    (folder / "big").write_bytes(data)
    url = f"http://{outside.OWN_NAME}:{port}"
    script = f"curl -sS -o down {url}/big && curl -sS -T down {url}/got"
    words = ["--real", "--net", "--json", "--rate", "20mbit", "--delay", "5ms"]
    done = lab_with(tmp_path, *words, "--", "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "down").read_bytes() == data
    assert (folder / "got").read_bytes() == data
    result = json.loads(done.stderr)
    for link in result["links"]:  # each way the data, and little more
        assert 1_000_000 < link["sent_bytes"] < 1_200_000
    assert result["wall_s"] > 0.8  # 2 MB at 20 Mbit/s


@pytest.mark.guest
def test_several_hosts_at_once(tmp_path: Path, served: tuple[Path, int]) -> None:
    """passt sends everything to the address that it has seen last: there is one only."""
    folder, port = served
    (folder / "big").write_bytes(bytes(300_000))
    url = f"http://{outside.OWN_NAME}:{port}/big"
    flows = [
        f"{{name: {h}, host: {h}, run: curl -sS -m 20 -o /dev/null {url}}}"
        for h in ("client", "other")
    ]
    several = scenario("topology.link={rate: 5mbit, limit: 1MB}", f"flows=[{', '.join(flows)}]")
    result = run_scenario(several, 1, tmp_path)
    assert [flow["error"] for flow in result["flows"]] == [None, None]


@pytest.mark.guest
def test_names_and_pings(tmp_path: Path) -> None:
    """In namespaces of its own, whose only server of names is ours, and whose users may ping."""
    (tmp_path / "resolv.conf").write_text("nameserver 127.0.0.1\n")
    (tmp_path / "names.py").write_text(
        textwrap.dedent("""\
        import socket
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
            server.bind(("127.0.0.1", 53))
            while True:
                asked, who = server.recvfrom(512)
                wanted = asked[12:-4].split(b"\\x07example")[0], asked[-4:]
                found = wanted == (b"\\x04wale", b"\\0\\1\\0\\1")
                head = asked[:2] + b"\\x81\\x80\\0\\1" + bytes([0, found]) + bytes(4)
                answer = b"\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\x3c\\0\\4" + bytes([192, 0, 2, 7])
                server.sendto(head + asked[12:] + answer * found, who)
        """)
    )
    script = f"""
        ip link set lo up && ip link add away type veth peer far && ip link set far up &&
        ip address add 192.0.2.1/24 dev away && ip link set away up &&
        ip route add default via 192.0.2.9 &&
        echo 0 0 >/proc/sys/net/ipv4/ping_group_range &&
        mount --bind {tmp_path}/resolv.conf $(realpath /etc/resolv.conf) || exit 99
        {sys.executable} {tmp_path}/names.py & trap "kill $!" EXIT
        {TESTBED}/wale-lab with -q --real --net -- \\
            sh -c 'getent ahostsv4 wale.example && ping -c 2 -i 0.2 192.0.2.1'
    """
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "--net", "sh", "-c", script],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "192.0.2.7" in done.stdout
    assert "2 received" in done.stdout
