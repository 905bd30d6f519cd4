# SPDX-License-Identifier: GPL-2.0
"""Networks: graphs, shapes with a name and files of others; addresses, routes, shares, drawings."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest
import yaml

from wale_lab import yaml_lines
from wale_lab.cli import main
from wale_lab.errors import ScenarioError
from wale_lab.models.max_min import max_min
from wale_lab.results.drawing import draw_topology
from wale_lab.runner import run_scenario
from wale_lab.scenario import Scenario, check_scenario, find_scenario, load_scenario
from wale_lab.studies import points
from wale_lab.topologies import graph
from wale_lab.topologies.planning import make_plan

DIAMOND = """\
name: diamond
topology:
  type: graph
  hosts: {a: {mtu: 1400}, b: {}}
  routers: [r1, r2, r3, r4]
  links:
    - {ends: [a, r1]}
    - {ends: [r1, r2], both: {rate: 10mbit, delay: 5ms}}
    - {ends: [r2, r4], name: upper, forward: {rate: 6mbit}, reverse: {rate: 1mbit}}
    - {ends: [r1, r3], both: {rate: 10mbit}}
    - {ends: [r3, r4], name: lower, both: {rate: 8mbit}}
    - {ends: [r4, b]}
flows:
  - {name: one, from: a, to: b, duration: 1s}
"""

STAR = """\
name: star
topology: {type: star, hosts: 4, link: {rate: 1mbit}}
flows:
  - {name: one, from: h1, to: h2, duration: 1s}
"""


def check(text: str, *overrides: str, folder: Path = Path()) -> Scenario:
    return check_scenario(yaml_lines.parse(text, "s.yaml"), list(overrides), folder)


def refused(text: str, *overrides: str, folder: Path = Path()) -> str:
    with pytest.raises(ScenarioError) as caught:
        check(text, *overrides, folder=folder)
    return str(caught.value)


def way(text: str, *overrides: str) -> list[str]:
    scenario = check(text, *overrides)
    return scenario.way(scenario.flows[0])


def lines_of(scenario: Scenario, name: str) -> list[str]:
    return next(ns.ip for ns in make_plan(scenario, 1).namespaces if ns.name == name)


def test_ways() -> None:
    """Of two ways as long as each other the first is taken, in both directions; then by cost."""
    assert way(DIAMOND) == ["r1-r2.forward", "upper.forward"]
    scenario = check(DIAMOND)
    back = scenario.routing.way(*scenario.routing.ends("b", "a"))
    assert back == ["r4-b.reverse", "upper.reverse", "r1-r2.reverse", "a-r1.reverse"]
    assert way(DIAMOND, "topology.links.upper.cost=2") == ["r1-r3.forward", "lower.forward"]
    said = "topology.routes=[{at: r1, to: b, via: r3}]"
    assert way(DIAMOND, said) == ["r1-r3.forward", "lower.forward"]


def test_plan_of_a_graph() -> None:
    """Addresses in the order of links, neighbours known, a default for hosts and none for routers."""
    plan = make_plan(check(DIAMOND), 1)
    assert plan.names == {
        "a": "10.0.0.1", "b": "10.0.5.2", "r1": "10.0.0.2", "r2": "10.0.1.2", "r3": "10.0.3.2",
        "r4": "10.0.2.2",
    }  # fmt: skip
    assert [link.name for link in plan.links] == [
        "r1-r2.forward", "r1-r2.reverse", "upper.forward", "upper.reverse", "r1-r3.forward",
        "r1-r3.reverse", "lower.forward", "lower.reverse",
    ]  # fmt: skip
    seeds = [link.words[link.words.index("seed") + 1] for link in plan.links]
    assert len(set(seeds)) == len(seeds)
    by_name = {ns.name: ns for ns in plan.namespaces}
    assert by_name["a"].ip == [
        "link set lo up",
        "link set eth0 arp off up",
        "address add 10.0.0.1/24 dev eth0",
        "neighbour add 10.0.0.2 lladdr 02:00:00:00:00:02 dev eth0 nud permanent",
        "route add default via 10.0.0.2",
    ]
    assert "route add 10.0.5.0/24 via 10.0.1.2" in by_name["r1"].ip
    assert not any("default" in line for line in by_name["r1"].ip)
    assert "mtu 1400" in plan.wires[0]
    (flow,) = plan.flows
    assert (flow.sender_netns, flow.receiver_netns) == ("a", "b")
    assert (flow.sender_address, flow.receiver_address) == ("10.0.0.1", "10.0.5.2")


def test_copies_and_ip6() -> None:
    plan = make_plan(check(DIAMOND, "isolate=on", "ip=6"), 1)
    assert plan.names["one.a"] == "fd00::1"
    assert plan.names["one.b"] == "fd00:0:5::2"
    assert plan.links[0].name == "one.r1-r2.forward"


def test_host_with_two_links() -> None:
    """It sends by the link of the address that it sends from; a flow has the best pair of them."""
    text = """\
topology: {type: two-paths, first: {rate: 1mbit}, second: {rate: 2mbit}}
name: two
flows: [{name: one, from: a, to: b, size: 1MB}]
"""
    scenario = check(text)
    ip = lines_of(scenario, "a")
    assert "rule add from 10.0.0.1 table 100" in ip
    assert "rule add from 10.0.3.1 table 101" in ip
    assert "route add default via 10.0.3.2 dev eth1 table 101" in ip
    assert way(text) == ["first.forward"]


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        (["topology.links.0.ends=[a, x]"], "topology.links.0.ends: expected two of a, b, r1"),
        (["topology.links.0.ends=[a, a]"], "topology.links.0: expected ends that differ"),
        (["topology.links.0.ends=[a]"], "topology.links.0.ends: expected at least 2 items, got 1"),
        (["topology.links.0.speed=1"], "unknown key; expected one of bond, both, cost, ends"),
        (["topology.links.upper.name=lower"], "'lower' is here twice"),
        (["topology.links.0.both={rate: 1x}"], "topology.links.0.both.rate: expected a rate"),
        (["topology.links.upper.both={}"], "expected both without forward and reverse"),
        (["topology.links.0.cost=0"], "topology.links.0.cost: expected greater than or equal to 1"),
        (["topology.routers=[r1, r2, r3, r4, a]"], "topology.routers: expected different names"),
        (["topology.routers=[r1, r2, r3, r4, c]"], "expected a link of each node, c has none"),
        (["topology.routes=[{at: r1, to: b, via: b}]"], "expected a neighbour of r1, got 'b'"),
        (
            ["topology.routes=[{at: r1, to: b, via: r2}, {at: r2, to: b, via: r1}]"],
            "flows.0: expected a way from a to b, got one that does not arrive",
        ),
        (
            ["topology.type=rng"],
            "topology: expected a type that is one of dumbbell, graph, parking-lot",
        ),
        (["topology.pairs=2"], "topology.pairs: unknown key; expected one of advice, bonds, file"),
        (["bottleneck={}"], "expected no bottleneck: the links of a graph are in its topology"),
        (["flows.0.to=x"], "flows.0.to: expected one of a, b, r1, r2, r3, r4, got 'x'"),
        (["flows.0.to=a"], "flows.0.to: expected another node than 'a'"),
        (["flows.0.pair=a"], "flows.0.pair: expected from and to, in a graph"),
        (["hosts.pairs.a={}"], "hosts.pairs: expected settings in topology.hosts"),
        (["topology.links.lower.both.limit=1kB"], "topology.links.4.both.limit: expected a buffer"),
        (["topology.hosts.a.advice={beta: 2}"], "topology.hosts.a.advice: expected a rate, steps"),
    ],
)
def test_refusals(overrides: list[str], says: str) -> None:
    said = refused(DIAMOND, *overrides)
    assert says in said
    assert len(said.splitlines()) == 1


def test_no_way() -> None:
    apart = ["topology.routers=[r1, r2, r3, r4, r5]", "topology.links.5.ends=[b, r5]"]
    said = refused(DIAMOND, *apart)
    assert said == "s.yaml:14: flows.0: expected a way from a to b, there is none"


def test_dumbbell_has_no_ends() -> None:
    text = "name: x\nflows:\n  - {name: one, from: a, to: b, size: 1MB}\n"
    assert "flows.0.from: expected a pair, this topology is no graph" in refused(text)


@pytest.mark.parametrize(
    "shape",
    [
        "{type: parking-lot, links: 4, link: {rate: 1mbit}, access: {delay: 1ms}}",
        "{type: star, hosts: 5, link: {rate: 1mbit, delay: 2ms}}",
        "{type: star, hosts: 5, switch: on}",
        "{type: chain, routers: 4, link: {loss: 1%}}",
        "{type: two-paths, first: {rate: 1mbit}, second: {rate: 2mbit}}",
        "{type: ring, routers: 5, link: {delay: 1ms}}",
    ],
)
def test_shapes_are_graphs(shape: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is printed of a shape is the same network."""
    value = yaml.safe_load(shape)
    overrides = [f"--set={k}={json.dumps(v)}" for k, v in value.items() if k != "type"]
    assert main(["topology", value["type"], *overrides]) == 0
    printed = yaml.safe_load(capsys.readouterr().out)["topology"]
    hosts = printed["hosts"][:2]
    flows = f"name: s\nflows: [{{name: f, from: {hosts[0]}, to: {hosts[1]}, size: 1MB}}]\n"
    one = check(f"{flows}topology: {shape}\n")
    other = check(f"{flows}topology: {json.dumps(printed)}\n")
    assert one.resolved() == other.resolved()
    assert make_plan(one, 1) == make_plan(other, 1)


@pytest.mark.parametrize(
    ("topology", "says"),
    [
        ("{type: star, hosts: 0}", "s.yaml:2: topology.hosts: expected greater than or equal to 1"),
        ("{type: star, hots: 3}", "topology.hots: unknown key; expected one of advice, hosts"),
        ("{type: parking-lot, links: 0}", "topology.links: expected 1 to 100 links, got 0"),
        ("{type: parking-lot, links: [{rate: x}]}", "topology.links.0.rate: expected a rate"),
        ("{type: parking-lot, links: [{}], link: {}}", "expected links to be a number"),
    ],
)
def test_shapes_refuse(topology: str, says: str) -> None:
    assert says in refused(f"name: s\ntopology: {topology}\nflows: [{{name: f, size: 1MB}}]\n")


def test_dumbbell_as_a_graph(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topology", "round-trip-times"]) == 0
    printed = yaml.safe_load(capsys.readouterr().out)
    flows = [{"name": "f", "from": "far-sender", "to": "far-receiver", "size": "1MB"}]
    scenario = check(json.dumps({"name": "s", "flows": flows, **printed}))
    assert scenario.way(scenario.flows[0]) == ["bottleneck.forward", "right-far-receiver.forward"]


GML = """\
graph [
  node [ id 0 label "Oslo" ]
  node [ id 1 label "New York" ]
  node [ id 2 label "Rome" ]
  edge [ source 0 target 1 rate "10mbit" delay "40ms" ]
  edge [ source 1 target 2 rate "5mbit" cost 3 ]
]
"""

GRAPHML = """\
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d" for="edge" attr.name="delay" attr.type="string"/>
  <graph edgedefault="undirected">
    <node id="a"/><node id="r"/><node id="b"/>
    <edge source="a" target="r"><data key="d">5ms</data></edge><edge source="r" target="b"/>
  </graph>
</graphml>
"""

CLAB = """\
name: lab
topology:
  nodes:
    pc1: {kind: linux, image: alpine}
    pc2: {kind: linux}
    sw: {kind: bridge}
    r: {kind: nokia_srlinux}
    pc3: {kind: linux}
  links:
    - endpoints: ["pc1:eth1", "sw:p1"]
    - endpoints: ["pc2:eth1", "sw:p2"]
    - endpoints: ["r:e1-1", "sw:p3"]
    - endpoints: ["r:e1-2", "pc3:eth1"]
"""


def of_file(name: str, one: str, other: str, more: str = "") -> str:
    flow = f"{{name: f, from: {one}, to: {other}, size: 1MB}}"
    return f"name: s\ntopology: {{type: graph, file: {name}{more}}}\nflows: [{flow}]\n"


def test_files_of_networks(tmp_path: Path) -> None:
    (tmp_path / "net.gml").write_text(GML)
    scenario = check(of_file("net.gml", "Oslo", "Rome"), folder=tmp_path)
    assert scenario.graph
    assert list(scenario.graph.routers) == ["New-York"]
    assert scenario.way(scenario.flows[0]) == ["Oslo-New-York.forward", "New-York-Rome.forward"]
    (_, link), cost = scenario.links()["Oslo-New-York.forward"], scenario.graph.links[1].cost
    assert (link.rate, link.delay, cost) == (10_000_000, 40_000_000, 3)

    (tmp_path / "net.graphml").write_text(GRAPHML)
    scenario = check(of_file("net.graphml", "a", "b", ", link: {rate: 1mbit}"), folder=tmp_path)
    assert scenario.links()["a-r.forward"][1].delay == 5_000_000
    assert scenario.links()["r-b.reverse"][1].rate == 1_000_000

    (tmp_path / "lab.clab.yml").write_text(CLAB)
    scenario = check(of_file("lab.clab.yml", "pc1", "pc3"), folder=tmp_path)
    assert scenario.graph
    assert (list(scenario.graph.routers), scenario.graph.switches) == (["r"], ["sw"])
    assert list(scenario.graph.hosts) == ["pc1", "pc2", "pc3"]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("net.txt", "", "s.yaml:2: topology.file: expected a name that ends with .gml"),
        ("none.gml", None, "s.yaml:2: cannot read the network"),
        ("net.gml", "graph [ node", "net.gml: expected GML:"),
        ("net.graphml", "<graphml", "net.graphml: expected GRAPHML:"),
        ("net.gml", GML.replace('"Rome"', '"Oslo"'), "node 2: expected different names, 'Oslo'"),
        ("net.gml", GML.replace('"Rome"', '"Rome" kind "x"'), "node Rome: expected kind host"),
        ("net.gml", GML.replace('"5mbit"', '"5x"'), "net.gml: link New-York to Rome: rate:"),
        ("l.yml", CLAB.replace('"r:e1-2"', '"q:1"'), "l.yml:13: topology.links.3: expected one of"),
        ("l.yml", "name: x\n", "l.yml:1: topology: expected nodes by name"),
        (
            "l.yml",
            CLAB.replace('["pc1:eth1", "sw:p1"]', "3"),
            "l.yml:10: topology.links.0: expected",
        ),
    ],
)
def test_files_refuse(tmp_path: Path, name: str, text: str | None, says: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    assert says in refused(of_file(name, "Oslo", "Rome"), folder=tmp_path)


def test_studies_have_a_bottleneck(tmp_path: Path) -> None:
    """A study of a network of any form is refused, and its runs are not made in vain."""
    (tmp_path / "diamond.yaml").write_text(DIAMOND)
    with pytest.raises(ScenarioError, match=r"diamond.yaml:2: topology: expected a dumbbell"):
        points._checked(yaml_lines.load(tmp_path / "diamond.yaml"), {}, tmp_path)


def test_max_min() -> None:
    """The shares of the textbook's example: each flow has a link that is full because of it."""
    ways = {"a": ["1"], "b": ["1"], "c": ["1", "2"], "d": ["2", "3"], "e": ["4"]}
    found = max_min({"1": 1.0, "2": 1.0, "3": 1.0}, ways)
    assert [round(found[n].rate, 9) for n in "abc"] == [round(1 / 3, 9)] * 3
    assert (round(found["d"].rate, 9), found["d"].link) == (round(2 / 3, 9), "2")
    assert found["e"].rate == float("inf")
    found = max_min({"1": 1.0}, {"udp": ["1"], "a": ["1"], "b": ["1"]}, {"udp": 0.4})
    assert [found[n].rate for n in ("udp", "a", "b")] == [0.4, 0.3, 0.3]


@pytest.mark.guest
def test_shares_of_the_parking_lot() -> None:
    scenario = load_scenario(find_scenario("parking-lot"))
    rates = {name: share.rate for name, share in graph.shares(scenario).items()}
    assert rates == {"long": 3e6, "first": 7e6, "second": 3e6, "third": 5e6}
    advice = {a.netns: " ".join([*a.path, *a.rate]) for a in make_plan(scenario, 1).advice}
    assert advice["s0"] == "dst 10.0.10.1/32 3000000bit share layer ip beta 2"
    follows = load_scenario(find_scenario("parking-lot"), ["topology.advice=links"])
    advice = {a.netns: " ".join([*a.path, *a.rate]) for a in make_plan(follows, 1).advice}
    assert advice["s0"] == "dst 10.0.10.1/32 follow dev eth2 netns r1 lag rtt beta 2"


def test_drawing(tmp_path: Path) -> None:
    """The same network gives the same bytes, whatever it is."""
    for text in (DIAMOND, STAR, STAR.replace("hosts: 4", "hosts: 70, switch: on")):
        settings = check(text).resolved()
        pictures = [draw_topology(settings, "x", tmp_path / f"{n}.png") for n in range(2)]
        assert pictures[0].read_bytes() == pictures[1].read_bytes()
    assert main(["plot", "--topology", "shared", "--out", str(tmp_path / "s.svg")]) == 0
    assert (tmp_path / "s.svg").stat().st_size > 1000


@pytest.fixture(scope="module")
def parking_lot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parking-lot")
    run_scenario(load_scenario(find_scenario("parking-lot")), 1, folder)
    return folder


@pytest.mark.guest
def test_parking_lot_has_max_min_shares(parking_lot: Path) -> None:
    """Each RATCP flow has its share within 2 %, and nothing is lost."""
    scenario = load_scenario(find_scenario("parking-lot"))
    result = json.loads((parking_lot / "result.json").read_text())
    for name, share in graph.shares(scenario).items():
        flow = next(flow for flow in result["flows"] if flow["name"] == name)
        payload = share.rate / 8 * flow["mss_bytes"] / 1500
        assert flow["goodput_Bps"] == pytest.approx(payload, rel=0.02)
    assert all(not sum(link["dropped_packets"].values()) for link in result["links"])
    assert {link["name"] for link in result["links"]} == set(scenario.links())


@pytest.mark.guest
def test_reno_is_not_fair_to_the_long_flow(tmp_path: Path) -> None:
    names = ("long", "first", "second", "third")
    reno = [f"flows.{name}.cc=reno" for name in names]
    flows = [f"flows.{name}.duration=30s" for name in names]
    scenario = load_scenario(find_scenario("parking-lot"), [*reno, *flows])
    result = run_scenario(scenario, 1, tmp_path)
    long, _, second, _ = (flow["goodput_Bps"] for flow in result["flows"])
    share = graph.shares(scenario)["long"].rate / 8
    assert long < 0.8 * share
    assert second > 1.2 * long


@pytest.mark.guest
def test_files_of_a_run(parking_lot: Path) -> None:
    """Samples of links by their names; the picture, and the settings with the whole graph."""
    rows = (parking_lot / "links.csv").read_text().splitlines()
    assert {row.split(",")[1] for row in rows[1:]} == {
        f"link{n}.{direction}" for n in (1, 2, 3) for direction in ("forward", "reverse")
    }
    settings = json.loads((parking_lot / "result.json").read_text())["settings"]
    assert settings["topology"]["type"] == "graph"
    assert len(settings["topology"]["links"]) == 11
    assert "bottleneck" not in settings
    assert main(["plot", str(parking_lot)]) == 0
    assert main(["plot", "--topology", str(parking_lot)]) == 0
    assert (parking_lot / "topology.png").exists()


def thousand_hosts() -> str:
    hosts = {f"h{n}": f"r{n // 100}" for n in range(1000)}
    links = [{"ends": [*ends]} for ends in hosts.items()]
    core = {"rate": "100mbit", "delay": "2ms"}
    links += [{"ends": [f"r{n}", f"r{n + 1}"], "both": core} for n in range(9)]
    routers = [f"r{n}" for n in range(10)]
    flows = [
        {"name": f"f{n}", "from": f"h{n}", "to": f"h{999 - n}", "duration": "1s"} for n in range(3)
    ]
    network = {"type": "graph", "hosts": [*hosts], "routers": routers, "links": links}
    return json.dumps({"name": "thousand", "topology": network, "flows": flows})


@pytest.mark.guest
@pytest.mark.usefixtures("parking_lot")  # the modules are built by then
def test_a_thousand_hosts(tmp_path: Path) -> None:
    """Set up in less than 20 s of the processors, and 2 GB of the guest are enough for it."""
    scenario = check(thousand_hosts())
    before = os.times()
    result = run_scenario(scenario, 1, tmp_path)
    after = os.times()
    used_s = sum(after[:4]) - sum(before[:4])
    assert [flow["error"] for flow in result["flows"]] == [None] * 3
    assert all(flow["start_s"] < 0.01 and flow["end_s"] < 1.5 for flow in result["flows"])
    assert scenario.memory_mb <= 2048
    assert used_s < 20


SWITCHES = """\
name: switches
topology:
  type: graph
  hosts: [a, b, c]
  routers: [r]
  switches: [s1, s2]
  links:
    - {ends: [a, s1], name: access, both: {rate: 8mbit, delay: 5ms}}
    - {ends: [s1, s2], name: trunk, both: {rate: 4mbit, delay: 5ms, limit: 30kB}}
    - {ends: [b, s2]}
    - {ends: [r, s2]}
    - {ends: [c, r]}
flows:
  - {name: across, from: a, to: b, duration: 3s}
  - {name: out, from: a, to: c, duration: 3s, start: 4s}
"""


@pytest.mark.guest
def test_switches(tmp_path: Path) -> None:
    """Hosts behind joined switches are one subnet; each packet goes to its own port alone."""
    scenario = check(SWITCHES)
    assert [scenario.way(flow) for flow in scenario.flows] == [
        ["access.forward", "trunk.forward"]
    ] * 2
    result = run_scenario(scenario, 1, tmp_path)
    assert [flow["error"] for flow in result["flows"]] == [None, None]
    assert all(flow["ideal_share"] > 0.9 for flow in result["flows"])
    links = {link["name"]: link for link in result["links"]}
    sent = links["access.forward"]["sent_packets"]
    assert links["trunk.forward"]["offered_packets"] == sent
    assert links["trunk.reverse"]["sent_packets"] == links["access.reverse"]["sent_packets"]


def test_ring_of_switches() -> None:
    more = "topology.links.access={ends: [a, s1]}"
    ring = SWITCHES.replace("[b, s2]}", "[b, s2]}\n    - {ends: [s2, s1], name: second}")
    said = refused(ring, more)
    assert said == "s.yaml:2: topology: expected no ring of switches, second closes one"


@pytest.mark.guest
def test_mptcp_goes_on_over_the_other_way(tmp_path: Path) -> None:
    """It uses both links, and when the fast one fails all that is left comes over the slow one."""
    result = run_scenario(load_scenario(find_scenario("mptcp")), 1, tmp_path)
    transfer = next(flow for flow in result["flows"] if flow["name"] == "transfer")
    assert transfer["error"] is None
    assert transfer["metrics"]["bytes"] == 8_000_000
    assert transfer["metrics"]["seconds"] < 30
    with (tmp_path / "links.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    sent = {
        (row["link"], float(row["t_s"])): int(row["sent_bytes"])
        for row in rows
        if row["link"].endswith(".forward")
    }
    assert sent["first.forward", 4.9] > 3_000_000
    assert sent["second.forward", 4.9] > 500_000
    assert sent["first.forward", 12.0] == sent["first.forward", 5.1]
    assert sent["second.forward", 12.0] > sent["second.forward", 6.0] + 1_000_000
