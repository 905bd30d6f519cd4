# SPDX-License-Identifier: GPL-2.0
"""What lies on the links of a network: tunnels, tags, bonds, and address translation."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from test_network import check, lines_of, refused, way
from wale_lab import refusal
from wale_lab.engines import kernel_build
from wale_lab.engines.base import EngineError, wanted_kernel
from wale_lab.errors import ScenarioError
from wale_lab.results.drawing import draw_topology
from wale_lab.runner import run_scenario
from wale_lab.scenario import Scenario, find_scenario, load_scenario
from wale_lab.topologies import overlays
from wale_lab.topologies.planning import make_plan

TUNNEL = """\
name: tunnel
topology:
  type: graph
  hosts: [a, b, c]
  routers: [r1, r2]
  links:
    - {ends: [a, r1]}
    - {ends: [r1, r2], name: middle, both: {rate: 10mbit, delay: 10ms, loss: 0.1%}}
    - {ends: [r2, b]}
    - {ends: [r2, c]}
  tunnels: [{name: t, kind: gre, ends: [a, b]}]
flows:
  - {name: one, from: a, to: b, duration: 2s}
  - {name: two, from: a, to: c, duration: 2s}
"""

SITES = """\
name: sites
topology:
  type: graph
  hosts: [a, b]
  routers: [ra, rb, x]
  links:
    - {ends: [a, ra]}
    - {ends: [ra, x], name: left, both: {rate: 10mbit, delay: 5ms}}
    - {ends: [x, rb], name: right, both: {rate: 10mbit, delay: 5ms}}
    - {ends: [rb, b]}
  tunnels: [{name: t, kind: wireguard, ends: [ra, rb]}]
flows: [{name: one, from: a, to: b, duration: 2s}]
"""

TAGS = """\
name: tags
topology:
  type: graph
  hosts: [a, b, c, d]
  routers: [r]
  switches: [s1, s2]
  links:
    - {ends: [a, s1], vlan: 10}
    - {ends: [b, s2], vlan: 10}
    - {ends: [c, s1], vlan: 20}
    - {ends: [s1, s2], name: trunk, both: {rate: 10mbit, delay: 2ms}}
    - {ends: [r, s2], name: stick, vlan: [10, 20], both: {rate: 20mbit}}
    - {ends: [d, r]}
flows:
  - {name: same, from: a, to: b, duration: 1s}
  - {name: routed, from: a, to: c, duration: 1s, start: 2s}
  - {name: out, from: c, to: d, duration: 1s, start: 4s}
"""

BOND = """\
name: bond
topology:
  type: graph
  hosts: [a, b]
  routers: [r]
  link: {rate: 10mbit, delay: 5ms, limit: 50kB}
  links:
    - {ends: [a, r], name: l1, bond: up}
    - {ends: [a, r], name: l2, bond: up}
    - {ends: [r, b], name: fast, both: {rate: 100mbit}}
  bonds: {up: {mode: active-backup}}
flows: [{name: one, from: a, to: b, duration: 4s}]
"""

SHARED = """\
name: shared
topology:
  type: graph
  hosts: [one, two, server]
  routers: [r]
  switches: [nic]
  macvlans: {nic: {uplink: cable}}
  links:
    - {ends: [one, nic]}
    - {ends: [two, nic]}
    - {ends: [nic, r], name: cable, both: {rate: 10mbit, delay: 5ms}}
    - {ends: [r, server]}
flows:
  - {name: out, from: one, to: server, duration: 1s}
  - {name: in, from: server, to: two, duration: 1s, start: 2s}
  - {name: beside, from: one, to: two, size: 1MB, start: 4s}
"""

NAT = """\
name: nat
topology:
  type: graph
  hosts: [in1, in2, out]
  routers: {r: {nat: {outside: up, udp: 20s, tcp: 60s, forward: [{port: 8080, to: in1, to_port: 80}]}}}
  links:
    - {ends: [in1, r]}
    - {ends: [in2, r]}
    - {ends: [r, out], name: up, both: {rate: 10mbit, delay: 5ms}}
flows: [{name: one, from: out, to: in1, duration: 1s}]
"""


def network(text: str, name: str) -> str:
    return "\n".join(lines_of(check(text), name))


def run(scenario: Scenario, out: Path) -> dict[str, Any]:
    """In a kernel without what finds mistakes, which knows nothing of networks that matters here."""
    plain = kernel_build.split_flavours(wanted_kernel(None) or "")[0] or None
    return run_scenario(scenario, 1, out, kernel_version=plain)


def needs(*tools: str) -> pytest.MarkDecorator:
    missing = [tool for tool in tools if not shutil.which(tool)]
    return pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")


def test_tunnel_is_a_link() -> None:
    """Its ends have a subnet after those of links; what it carries takes the way below."""
    scenario = check(TUNNEL)
    assert [scenario.way(flow) for flow in scenario.flows] == [["middle.forward"]] * 2
    ends = scenario.routing.ends("a", "b")
    assert [end.address for end in ends] == ["10.0.4.1", "10.0.4.2"]
    a = network(TUNNEL, "a")
    assert "link add name t mtu 1476 type gre ttl 64 local 10.0.0.1 remote 10.0.2.2" in a
    assert "address add 10.0.4.1/24 dev t" in a
    assert make_plan(scenario, 1).names["b.t"] == "10.0.4.2"
    said = "\n".join(lines_of(check(TUNNEL, "ip=6"), "a"))
    assert "type ip6gre hoplimit 64 encaplimit none local fd00::1 remote fd00:0:2::2" in said
    costly = check(TUNNEL, "topology.tunnels.t.cost=9")
    assert costly.routing.ends("a", "b")[0].address == "10.0.0.1"


@needs("wg")
def test_tunnel_between_routers() -> None:
    """Hosts behind them use it, but not the packets that it sends itself."""
    scenario = check(SITES)
    left = lines_of(scenario, "ra")
    assert "route add 10.0.3.0/24 via 10.0.4.2" in left
    assert "route add 10.0.2.2/32 via 10.0.1.2" in left
    assert "route add 10.0.2.0/24 via 10.0.1.2" in left or "via 10.0.4.2" in "".join(left)
    (command,) = next(ns.commands for ns in make_plan(scenario, 1).namespaces if ns.name == "ra")
    assert command.argv == ["wg", "setconf", "t", "/dev/stdin"]
    assert "Endpoint = 10.0.2.2:51820\n" in command.text
    again = next(ns.commands for ns in make_plan(scenario, 1).namespaces if ns.name == "ra")
    other = next(ns.commands for ns in make_plan(scenario, 2).namespaces if ns.name == "ra")
    assert (again[0].text == command.text, other[0].text == command.text) == (True, False)


@needs("wg")
def test_one_end_begins_the_handshake() -> None:
    """With keepalive both ends have something to send at once, and would refuse each other."""
    assert not any(ns.late_commands for ns in make_plan(check(SITES), 1).namespaces)
    plan = make_plan(check(SITES, "topology.tunnels.t.keepalive=25s"), 1)
    late = {ns.name: ns.late_commands for ns in plan.namespaces if ns.late_commands}
    assert [*late] == ["ra", "rb"]
    assert late["ra"][0].argv[-2:] == ["persistent-keepalive", "25"]
    assert late["ra"][0].before_ns > late["rb"][0].before_ns > 0
    texts = [command.text for ns in plan.namespaces for command in ns.commands]
    assert len(texts) == 2 and not any("Keepalive" in text for text in texts)


def test_tags() -> None:
    """Nodes with a tag are a subnet; a router has a device for each."""
    scenario = check(TAGS)
    assert network(TAGS, "r").count("type vlan id") == 2
    assert "link add link eth0 name eth0.20 address 02:00" in network(TAGS, "r")
    assert "address add 10.0.0.1/24 dev eth0.10" in network(TAGS, "a")
    assert scenario.routing.ends("a", "b")[1].address == "10.0.0.2"
    assert scenario.way(scenario.flows[1]) == [
        "trunk.forward",
        "stick.reverse",
        "stick.forward",
    ] + ["trunk.reverse"]


def test_bond() -> None:
    """One device over two, which have a queue each."""
    assert "link add bond0 address 02:00" in network(BOND, "a")
    assert "type bond mode active-backup miimon 10" in network(BOND, "a")
    assert "link set eth1 master bond0" in network(BOND, "a")
    plan = make_plan(check(BOND), 1)
    assert [(ln.name, ln.dev) for ln in plan.links][:4] == [
        ("l1.forward", "eth0"), ("l1.reverse", "eth0"), ("l2.forward", "eth1"),
        ("l2.reverse", "eth1"),
    ]  # fmt: skip
    assert way(BOND) == ["l1.forward", "fast.forward"]


def test_macvlan() -> None:
    """Hosts have a device each over that of the uplink, in another namespace than theirs."""
    plan = make_plan(check(SHARED), 1)
    assert plan.namespaces[0].name == "nic", "the hosts' devices are made there"
    (_, *lines) = plan.namespaces[0].ip
    assert lines == [
        "link set port0 up",
        "link add link port0 name eth0 netns one address 02:00:00:00:00:01 mtu 1500 "
        "type macvlan mode bridge",
        "link add link port0 name eth0 netns two address 02:00:00:00:00:02 mtu 1500 "
        "type macvlan mode bridge",
    ]
    assert [wire.split()[2] for wire in plan.wires] == ["port0", "eth1"]
    assert way(SHARED) == ["cable.forward"]
    assert "link set eth0 arp off up" in network(SHARED, "two")
    default = SHARED.replace("  links:", "  link: {rate: 5mbit}\n  links:", 1)
    assert [link.name for link in make_plan(check(default), 1).links] == [
        "cable.forward", "cable.reverse", "r-server.forward", "r-server.reverse"
    ]  # fmt: skip


@pytest.mark.parametrize("ip", [4, 6])
def test_devices_of_programs(ip: int) -> None:
    """What tun and tap carry is sent and received by programs, in UDP."""
    for kind, mtu in (("tun", {4: 1472, 6: 1452}), ("tap", {4: 1458, 6: 1438})):
        scenario = check(TUNNEL, f"topology.tunnels.t.kind={kind}", f"ip={ip}")
        lines = lines_of(scenario, "a")
        assert f"tuntap add dev t mode {kind}" in lines
        (set_up,) = [line for line in lines if line.startswith(f"link set dev t mtu {mtu[ip]}")]
        assert ("address 02:00" in set_up) == (kind == "tap")
        assert any(line.endswith("dev t nud permanent") for line in lines) == (kind == "tap")
        assert make_plan(scenario, 1).modules == ["tun"]
    assert make_plan(check(TUNNEL), 1).modules == []


def test_nat() -> None:
    router = next(ns for ns in make_plan(check(NAT), 1).namespaces if ns.name == "r")
    (command,) = router.commands
    assert 'oifname { "eth2" } masquerade' in command.text
    assert 'iifname { "eth2" } tcp dport 8080 dnat to 10.0.0.1:80' in command.text
    assert router.late_sysctls == {
        "net.netfilter.nf_conntrack_udp_timeout": "20",
        "net.netfilter.nf_conntrack_udp_timeout_stream": "20",
        "net.netfilter.nf_conntrack_tcp_timeout_established": "60",
    }


@pytest.mark.parametrize(
    ("text", "override", "says"),
    [
        (TUNNEL, "topology.tunnels.t.kind=x", "topology.tunnels.0.kind: expected 'wireguard'"),
        (TUNNEL, "topology.tunnels.t.ends=[a, a]", "topology.tunnels.0: expected ends that differ"),
        (TUNNEL, "topology.tunnels.t.ends=[a, x]", "tunnels.0.ends: expected hosts or routers"),
        (TUNNEL, "topology.tunnels.t.name=middle", "'middle' is here twice"),
        (TUNNEL, "topology.tunnels.t.name=gre0", "expected a new name of a device"),
        (TUNNEL, "topology.tunnels.t.name=a-very-long-name", "of at most 15 characters"),
        (TUNNEL, "topology.tunnels.t.port=5", "expected port with kind wireguard or vxlan"),
        (TUNNEL, "topology.tunnels.t.keepalive=5s", "expected keepalive with kind wireguard"),
        (SITES, "topology.tunnels.t.keepalive=500ms", "keepalive: expected whole seconds"),
        (TAGS, "topology.links.trunk.vlan=5", "links.3.vlan: expected none between switches"),
        (TAGS, "topology.links.stick.vlan=[10, 10]", "vlan: expected different tags"),
        (TAGS, "topology.links.stick.vlan=4095", "expected less than or equal to 4094"),
        (BOND, "topology.links.l2.ends=[b, r]", "links.1.bond: expected the ends a and r"),
        (BOND, "topology.bonds={down: {}}", "bonds.down: expected links with bond: down"),
        (BOND, "topology.bonds.up.mode=x", "topology.bonds.up.mode: expected 'active-backup'"),
        (BOND, "topology.bonds.up.monitor=5us", "expected whole milliseconds, at least 1ms"),
        (SHARED, "topology.macvlans={r: {uplink: cable}}", "macvlans.r: expected the name of a switch"),
        (SHARED, "topology.macvlans.nic.uplink=x", "macvlans.nic.uplink: expected a link of nic, got 'x'"),
        (SHARED, "topology.macvlans.nic.mode=x", "topology.macvlans.nic.mode: expected 'bridge'"),
        (SHARED, "topology.macvlans.nic.mode=private", "one and two share the private macvlan nic"),
        (SHARED, "topology.links.0.both={rate: 1mbit}", "links.0: expected a wire without vlan"),
        (SHARED, "topology.links.0.vlan=5", "links.0: expected a wire without vlan"),
        (SHARED.replace("[nic]", "[nic, s]").replace("[two, nic]}", "[two, s]}\n    - {ends: [s, nic]}"),
         "name=x", "links.2.ends: expected a host or a router beside the macvlan nic"),
        (NAT, "topology.routers.r.nat=x", "nat.outside: expected links of r, got 'x'"),
        (NAT, "topology.routers.r.nat.udp=1.5s", "nat.udp: expected whole seconds"),
        (NAT, "topology.routers.r.nat.forward.0.to=x", "expected another host or router, got 'x'"),
        (NAT, "topology.routers.r.nat.ports=[9, 8]", "expected the first port, then the last"),
        (NAT, "flows.one={name: one, from: in1, to: out, size: 1MB}", "inside of the NAT of r"),
        (BOND.replace("[r]", "{r: {nat: l2}}"),
         "flows.one={name: one, from: b, to: a, size: 1MB}", "inside of the NAT of r"),
    ],
)  # fmt: skip
def test_refusals(text: str, override: str, says: str) -> None:
    said = refused(text, override)
    assert says in said
    assert len(said.splitlines()) == 1


def test_tools_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusal, "userspace_env", lambda: {"PATH": "/nowhere"})
    with pytest.raises(ScenarioError, match=r"nat: it needs nft: sudo apt-get install nftables"):
        refusal.check_tools(check(NAT))
    with pytest.raises(ScenarioError, match=r"kind: it needs wg: .* wireguard-tools"):
        refusal.check_tools(check(SITES))


def test_plan_without_wg(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep or an evaluation makes plans before anything runs."""
    monkeypatch.setenv("PATH", "/nowhere")
    overlays._public_key.cache_clear()
    with pytest.raises(EngineError, match=r"needs wg: sudo apt-get install wireguard-tools"):
        make_plan(check(SITES), 3)


def test_which_kernel() -> None:
    """Only what lies on links takes another kernel than before."""
    assert all(check(text).needs_net() for text in (TUNNEL, SITES, TAGS, BOND, SHARED, NAT))
    assert check(TUNNEL, "topology.tunnels=null", "modprobe=[tun]").needs_net()
    plain = ["topology.tunnels=null", "topology.links.middle.both.loss=null"]
    assert not check(TUNNEL, *plain).needs_net()
    assert check(TUNNEL, *plain, "topology.links.middle.both={qdisc: skbprio}").needs_net()


def test_drawing(tmp_path: Path) -> None:
    for n, text in enumerate((SITES, TAGS, BOND, SHARED, NAT)):
        path = draw_topology(check(text).resolved(), "x", tmp_path / f"{n}.png")
        assert path.stat().st_size > 5000


def sent(folder: Path, link: str) -> dict[float, int]:
    with (folder / "links.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["link"] == link]
    return {float(row["t_s"]): int(row["sent_bytes"]) for row in rows}


def errors(result: dict[str, Any]) -> list[Any]:
    return [flow["error"] for flow in result["flows"]]


@pytest.mark.guest
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "ip"), [("gre", 4), ("gre", 6), ("vxlan", 4), ("ipip", 4), ("ipip", 6), ("vxlan", 6)]
)
def test_tunnels_carry(tmp_path: Path, kind: str, ip: int) -> None:
    """Between hosts, with segments that fit."""
    scenario = check(TUNNEL, f"topology.tunnels.t.kind={kind}", f"ip={ip}")
    result = run(scenario, tmp_path)
    assert errors(result) == [None, None]
    one, two = result["flows"]
    assert two["mss_bytes"] - one["mss_bytes"] == {
        ("gre", 4): 24, ("gre", 6): 44, ("vxlan", 4): 50, ("vxlan", 6): 70, ("ipip", 4): 20,
        ("ipip", 6): 40,
    }[kind, ip]  # fmt: skip


@pytest.mark.guest
@pytest.mark.slow
@needs("wg")
@pytest.mark.parametrize("ip", [4, 6])
def test_wireguard_between_routers(tmp_path: Path, ip: int) -> None:
    result = run(check(SITES, f"ip={ip}"), tmp_path)
    assert errors(result) == [None]
    assert result["flows"][0]["goodput_Bps"] > 800_000


@pytest.mark.guest
@pytest.mark.slow
def test_tagged_packets_cross_switches(tmp_path: Path) -> None:
    result = run(check(TAGS), tmp_path)
    assert errors(result) == [None] * 3
    assert all(flow["goodput_Bps"] > 300_000 for flow in result["flows"])


@pytest.mark.guest
@pytest.mark.slow
def test_bond_fails_over(tmp_path: Path) -> None:
    events = "events=[{at: 1s, link: l1, state: down}, {at: 3s, link: l1, state: up}]"
    result = run(check(BOND, events), tmp_path)
    assert errors(result) == [None]
    one, two = sent(tmp_path, "l1.forward"), sent(tmp_path, "l2.forward")
    assert one[1.0] > 500_000 and two[1.0] < 10_000
    assert two[2.0] > 200_000 and one[2.0] == one[1.1]


@pytest.mark.guest
@pytest.mark.slow
def test_bond_in_turn_has_the_rate_of_both(tmp_path: Path) -> None:
    mode = "topology.bonds.up.mode=balance-rr"
    result = run(check(BOND, mode, "flows.one.duration=3s"), tmp_path)
    assert errors(result) == [None]
    assert result["flows"][0]["goodput_Bps"] > 1_500_000


@pytest.mark.guest
@pytest.mark.slow
def test_macvlans_carry(tmp_path: Path) -> None:
    """Out of the shared interface, into it, and between those that share it."""
    result = run(check(SHARED), tmp_path)
    assert errors(result) == [None] * 3
    out, into, beside = (flow["goodput_Bps"] for flow in result["flows"])
    assert out > 800_000 and into > 800_000 and beside > 2_000_000


#: Copies packets between a device and UDP: the first word is its kind.
CARRIER = """
import fcntl, os, select, socket, struct, sys
kind, device, own, peer = sys.argv[1:]
tun = os.open("/dev/net/tun", os.O_RDWR)
flags = {"tun": 0x1001, "tap": 0x1002}[kind]
fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22x", device.encode(), flags))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind((own, 7000))
while True:
    ready, _, _ = select.select([tun, udp], [], [])
    if tun in ready:
        udp.sendto(os.read(tun, 2000), (peer, 7000))
    if udp in ready:
        os.write(tun, udp.recv(2000))
"""


@pytest.mark.guest
@pytest.mark.slow
@needs("ping")
@pytest.mark.parametrize("kind", ["tun", "tap"])
def test_programs_carry(tmp_path: Path, kind: str) -> None:
    """What the link in between adds to a ping is the delay of the way below."""
    (tmp_path / "carrier.py").write_text(CARRIER)
    words = f"python3 {tmp_path}/carrier.py {kind} t"
    flows = (
        f"flows=[{{name: at-a, host: a, serve: on, ready: 100ms, run: {words} 10.0.0.1 10.0.2.2}},"
        f" {{name: at-b, host: b, serve: on, ready: 100ms, run: {words} 10.0.2.2 10.0.0.1}},"
        " {name: ping, host: a, after: at-b, run: ping -c 3 -i 0.2 b.t}]"
    )
    plain = "topology.links.middle.both.loss=null"
    (tmp_path / "out").mkdir()
    result = run(check(TUNNEL, f"topology.tunnels.t.kind={kind}", plain, flows), tmp_path / "out")
    assert errors(result) == [None] * 3, (tmp_path / "out/at-a.err").read_text()
    said = (tmp_path / "out/ping.out").read_text()
    assert "3 received" in said and said.count("time=20") == 3, said


PROGRAMS = """\
flows:
  - name: web
    host: in1
    serve: on
    ready: {tcp: 80}
    run: python3 -m http.server 80
  - name: inside
    host: in2
    after: web
    run: python3 -c 'import socket; print(socket.create_connection(("out", 9), 3))'
    exit: any
  - name: forwarded
    host: out
    after: web
    run: >-
      python3 -c 'import urllib.request as u; print(u.urlopen("http://10.0.2.1:8080/", None, 9).status)'
  - name: dropped
    host: out
    after: web
    run: python3 -c 'import socket; socket.create_connection(("10.0.0.1", 80), 3)'
    exit: [1]
"""


@pytest.mark.guest
@pytest.mark.slow
@needs("nft")
def test_nat_forwards_and_drops(tmp_path: Path) -> None:
    text = NAT[: NAT.index("flows:")] + PROGRAMS
    result = run(check(text), tmp_path)
    assert errors(result) == [None] * 4
    assert (tmp_path / "forwarded.out").read_text() == "200\n"
    assert "timed out" in (tmp_path / "dropped.err").read_text()
    assert "refused" in (tmp_path / "inside.err").read_text()


@pytest.mark.guest
@pytest.mark.slow
@needs("nft")
def test_shipped_nat(tmp_path: Path) -> None:
    """A mapping is forgotten after its time-out, unless something is sent; twice the same."""
    results = [run(load_scenario(find_scenario("nat")), tmp_path / name) for name in ("1", "2")]
    (tmp_path / "3").mkdir()
    longer = load_scenario(find_scenario("nat"), ["topology.routers.home.nat.udp=60s"])
    heard = []
    for result in (*results, run(longer, tmp_path / "3")):
        assert errors(result) == [None] * 4
        by_name = {flow["name"]: flow for flow in result["flows"]}
        heard.append([by_name[n]["metrics"]["heard"] for n in ("silent", "keepalive")])
    assert heard == [[0, 1], [0, 1], [1, 1]]
    assert results[0]["digest"] == results[1]["digest"]
    seen = (tmp_path / "1/news.out").read_text()
    assert "10.0.0." not in seen and "hello from 10.0.1.1" in seen


@pytest.mark.guest
@pytest.mark.slow
@needs("wg", "ping")
def test_shipped_wireguard(tmp_path: Path) -> None:
    """All packets of the link are of the tunnel; twice the same; without it packets are larger."""
    scenario = load_scenario(find_scenario("wireguard"))
    first, again = (run(scenario, tmp_path / name) for name in ("1", "2"))
    assert errors(first) == [None, None]
    assert first["digest"] == again["digest"]
    download, ping = first["flows"]
    assert ping["metrics"]["received"] >= 15 and ping["metrics"]["rtt_ms"] >= 40
    begin = (tmp_path / "1/ping.out").read_text().splitlines()[1]
    assert "icmp_seq=1 " in begin and "time=40" in begin, "the tunnel is there when flows begin"
    without = load_scenario(find_scenario("wireguard"), ["topology.tunnels.wg.cost=100"])
    plain = run(without, tmp_path / "3")["flows"][0]
    assert plain["mss_bytes"] == download["mss_bytes"] + 80


@pytest.mark.guest
@pytest.mark.slow
def test_modules_that_commands_need(tmp_path: Path) -> None:
    """They are loaded, and those that ip asks for; a name that there is not has its line."""
    flows = (
        "flows=[{name: show, host: a, sh: 'ls /dev/net/tun; "
        "ip link add link eth0 name mv0 type macvlan mode bridge; ip tuntap add dev q mode tun; "
        "ip link show mv0; ip link show q'}]"
    )
    base = ["topology.tunnels=null", flows]
    result = run(check(TUNNEL, *base, "modprobe=[geneve, tun]"), tmp_path)
    assert errors(result) == [None], (tmp_path / "show.err").read_text()
    said = (tmp_path / "show.out").read_text()
    assert "mv0@eth0" in said and ": q: " in said
    with pytest.raises(
        ScenarioError, match=r"modprobe.0: the kernel has no such module: .*nonesuch"
    ):
        run(check(TUNNEL, *base, "modprobe=[nonesuch]"), tmp_path)


@pytest.mark.guest
@pytest.mark.slow
def test_any_qdisc(tmp_path: Path) -> None:
    """A transfer of some bytes: without a rate, time would stand still for what lasts a time."""
    flows = "flows=[{name: one, from: a, to: c, size: 1MB}]"
    qdisc = "topology.links.middle.both={qdisc: skbprio}"
    result = run(check(TUNNEL, "topology.tunnels=null", qdisc, flows), tmp_path)
    assert errors(result) == [None]


def test_kernel_without_a_kind() -> None:
    """What ip says, with its line."""
    said = "Error: Unknown device type.\nCommand failed -:3"
    of = {"host": "a", "line": "link add t type gre", "said": said}
    error = refusal.refused(check(TUNNEL), "", of)
    assert isinstance(error, EngineError)
    assert str(error) == "`ip link add t type gre` failed in a: Unknown device type."
    assert json.dumps(of)
