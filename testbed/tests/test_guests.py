# SPDX-License-Identifier: GPL-2.0
"""A scenario in several guests: how its network is cut, what crosses, and what is refused."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from dataclasses import asdict
from itertools import combinations, pairwise, permutations
from pathlib import Path
from typing import Any

import pytest

from conftest import busy_cpus
from wale_lab import runner
from wale_lab.engines.base import EngineError, Job, Kernel, Outcome
from wale_lab.engines.together import lookahead_ns
from wale_lab.errors import ScenarioError
from wale_lab.guest import flows as guest_flows
from wale_lab.guest import processes
from wale_lab.guests import Observe, Prepare, _observed, check_shell, cut_of
from wale_lab.progress import Progress
from wale_lab.results.result import plan_data, problems
from wale_lab.runner import run_scenario
from wale_lab.scenario import Scenario, find_scenario, load_scenario
from wale_lab.topologies.cut import Cut, part_of
from wale_lab.topologies.planning import make_plan

DUMBBELL = """
name: cut
bottleneck: {{both: {{rate: 10mbit, delay: 20ms, limit: 100kB{more}}}}}
flows: {flows}
"""
PACKETS = "[{name: udp, constant: {rate: 12mbit, packet: 1000}, duration: 1s}]"
TCP = "[{name: tcp, cc: reno, size: 500kB}]"

CHAIN = """
name: chain
topology:
  type: graph
  hosts: [a, b, c]
  routers: [left, right]
  links:
    - {ends: [a, left], both: {rate: 10mbit, delay: 1ms}}
    - {ends: [b, left]}
    - {ends: [left, right], both: {rate: 5mbit, delay: 10ms}}
    - {ends: [right, c], both: {rate: 10mbit, delay: 2ms}}
flows:
  - {name: one, from: a, to: c, cc: reno, size: 200kB}
  - {name: two, from: b, to: c, cc: cubic, size: 200kB, start: 100ms}
"""


def scenario(folder: Path, text: str, *overrides: str) -> Scenario:
    path = folder / "scenario.yaml"
    path.write_text(text)
    return load_scenario(path, list(overrides))


def graph(folder: Path, *parts: list[str] | str) -> Scenario:
    """Of hosts, routers, links and flows; then what is set."""
    lists, overrides = [", ".join(part) for part in parts[:4]], [str(part) for part in parts[4:]]
    text = "topology: {type: graph, hosts: [%s], routers: [%s], links: [%s]}\nflows: [%s]\n"
    return scenario(folder, "name: shape\n" + text % tuple(lists), *overrides)


def dumbbell(folder: Path, flows: str, *overrides: str, more: str = "") -> Scenario:
    text = DUMBBELL.format(flows=flows, more=more).replace("both:", "forward: &link", 1)
    return scenario(folder, text.replace("}}\nflows", "}, reverse: *link}\nflows"), *overrides)


def cut_in(made: Scenario) -> Cut | None:
    return cut_of(made, make_plan(made, 1), "uml")


def guests_of(made: Scenario) -> list[list[str]]:
    cut = cut_in(made)
    return cut.described() if cut else []


def test_one_guest_is_as_before(tmp_path: Path) -> None:
    made = dumbbell(tmp_path, TCP)
    assert cut_in(made) is None
    assert "guests" not in made.resolved()


def test_a_dumbbell_is_cut_at_its_bottleneck(tmp_path: Path) -> None:
    halves = [["left", "pair1-sender"], ["right", "pair1-receiver"]]
    for guests in ("2", "auto", "per-host"):
        assert guests_of(dumbbell(tmp_path, TCP, f"guests={guests}")) == halves


def test_each_direction_has_room_by_its_own_rate(tmp_path: Path) -> None:
    """More would be touched in turn: each page that is new costs more than its packets."""
    open_back = "bottleneck={forward: {rate: 1gbit, delay: 10ms}, reverse: {delay: 10ms}}"
    for override, megabytes in (("name=n", (1, 1)), (open_back, (8, 256))):
        made = dumbbell(tmp_path, TCP, "guests=2", override)
        cut = cut_in(made)
        assert cut is not None
        (wire,) = cut.wires
        assert tuple(wire.ring_bytes(n) >> 20 for n in (0, 1)) == megabytes


def test_one_timer_sends_many_packets_on(tmp_path: Path) -> None:
    """A timer for each at both ends of a wire would cost much of what a second guest gains."""
    plan = make_plan(dumbbell(tmp_path, TCP, "guests=2"), 1)
    made = cut_of(dumbbell(tmp_path, TCP, "guests=2"), plan, "uml")
    assert made is not None
    data = {"programs": [], "advice": [], "changes": [], "flows": [], "ports": [], "wires": []}
    data |= {"namespaces": [], "links": [asdict(link) for link in plan.links]}
    data |= {"record": {"namespaces": {}, "channel": [], "sockets": []}}
    for guest in range(2):
        (link,) = part_of(data, made, guest)["links"]
        assert " delay 0ns " in " ".join(link["words"])
        assert link["words"][-2:] == ["slack", "400000ns"]
    assert lookahead_ns(made.wires) < 20_000_000 - 400_000


def test_a_graph_is_cut_where_packets_take_time(tmp_path: Path) -> None:
    assert guests_of(scenario(tmp_path, CHAIN, "guests=per-host")) == [
        ["a"], ["b", "left"], ["c"], ["right"],
    ]  # fmt: skip
    two = guests_of(scenario(tmp_path, CHAIN, "guests=2"))
    assert len(two) == 2 and ["b" in part for part in two] == ["left" in part for part in two]


TOLD = """
name: told
topology:
  type: graph
  hosts: [a, b, c]
  routers: [left, right]
  links:
    - {ends: [a, left], both: {rate: 100mbit, delay: 4ms}}
    - {ends: [b, left], both: {rate: 100mbit, delay: 14ms}}
    - ends: [left, right]
      forward:
        trace: {steps: ["2s:8mbit", "1s:3mbit", "2s:12mbit"], end: hold}
        delay: 10ms
        limit: 300 packets
        feedback: true
      reverse: {delay: 10ms}
    - {ends: [right, c]}
flows:
  - {name: near, cc: ratcp, from: a, to: c, duration: 5s}
  - {name: far, cc: ratcp, from: b, to: c, start: 1s, duration: 3s}
record: {interval: 5ms}
"""


def test_senders_are_told_of_links_in_other_guests(tmp_path: Path) -> None:
    """By a wire for each guest, as long as the way from the link to them."""
    made = scenario(tmp_path, TOLD, "guests=per-host")
    plan, cut = make_plan(made, 1), cut_in(made)
    assert cut is not None
    assert cut.described() == [["a"], ["b"], ["c", "right"], ["left"]]
    assert [(one.netns, one.dev, one.guest) for one in cut.told] == [
        ("left", "eth2", 0), ("left", "eth2", 1),
    ]  # fmt: skip
    wires = [cut.wires[one.wire] for one in cut.told]
    assert [wire.delays_ns[0] for wire in wires] == [4_000_000, 14_000_000]
    assert [wire.ends for wire in wires] == [(3, 0), (3, 1)]
    assert wires[0].ring_bytes(0) == 1 << 20
    data = plan_data(plan, made, 1)
    parts = [part_of(data, cut, guest) for guest in range(4)]
    for guest, one in enumerate(cut.told):
        (advice,) = parts[guest]["advice"]
        assert " ".join(advice["rate"]) == f"follow dev wire{one.wire} netns 1 lag rtt"
        assert parts[guest]["telling"] == [one.wire]
    assert [len(part["told"]) for part in parts] == [0, 0, 0, 2]
    (link,) = (link for link in parts[3]["links"] if "feedback" in link["words"])
    assert "slack" not in link["words"]
    assert lookahead_ns(cut.wires) > 3_900_000


@pytest.mark.parametrize(
    ("advice", "together"),
    [
        ("{beta: 2}", False),
        ("{lag: 20ms}", False),
        ("{lag: 14ms}", True),
        ("{lag: now}", True),
        ("{base_rtt: 10ms}", True),
        ("{base_rtt: 30ms}", False),
        ("{rate: 1mbit}", False),
    ],
)
def test_advice_that_is_read_at_once_is_not_cut(
    tmp_path: Path, advice: str, together: bool
) -> None:
    made = scenario(tmp_path, TOLD, "guests=per-host", f"topology.hosts={{a: {{}}, c: {{}}, "
                    f"b: {{advice: {advice}}}}}")  # fmt: skip
    assert (["b", "left"] in guests_of(made)) == together


NODES = [f"n{n}" for n in range(8)]
EDGES = {
    "chain": list(pairwise(NODES)),
    "ring": [*pairwise(NODES), ("n7", "n0")],
    "tree": [
        ("n3", "n1"),
        ("n3", "n5"),
        *((f"n{n}", f"n{1 + n // 4 * 4}") for n in (0, 2, 4, 6, 7)),
    ],
}


@pytest.mark.parametrize(
    ("shape", "guests", "wires"),
    [("chain", 2, 1), ("chain", 4, 3), ("ring", 2, 2), ("tree", 2, 1), ("chain", 8, 7)],
)
def test_few_links_are_cut(tmp_path: Path, shape: str, guests: int, wires: int) -> None:
    links = [f"{{ends: [{one}, {two}], both: {{delay: 1ms}}}}" for one, two in EDGES[shape]]
    links += [f"{{ends: [host-{node}, {node}]}}" for node in NODES]
    hosts = [f"host-{node}" for node in NODES]
    flows = [
        f"{{name: {one}-{two}, from: {one}, to: {two}, cc: reno, size: 1kB}}"
        for one, two in permutations(hosts, 2)
    ]
    cut = cut_in(graph(tmp_path, hosts, NODES, links, flows, f"guests={guests}"))
    assert cut is not None
    assert len(cut.wires) == wires
    sizes = [len(part) for part in cut.described()]
    assert len(sizes) == guests and max(sizes) <= 10 // guests * 2


def test_links_between_guests_are_not_too_many(tmp_path: Path) -> None:
    hosts = [f"h{n}" for n in range(17)]
    links = [
        f"{{ends: [{one}, {two}], both: {{delay: 1ms}}}}" for one, two in combinations(hosts, 2)
    ]
    flow = "{name: f, from: h0, to: h1, cc: reno, size: 1kB}"
    made = graph(tmp_path, hosts, [], links, [flow], "guests=per-host")
    with pytest.raises(ScenarioError, match="at most 128 links between guests, got 136 with 17"):
        cut_in(made)


def test_long_links_are_cut_before_short_ones(tmp_path: Path) -> None:
    ends = [(f"s{n}", "left") for n in range(4)] + [("right", f"r{n}") for n in range(4)]
    links = [f"{{ends: [{one}, {two}], both: {{delay: 1ms}}}}" for one, two in ends]
    links.append("{ends: [left, right], both: {delay: 20ms}}")
    flows = [f"{{name: f{n}, from: s{n}, to: r{n}, cc: reno, size: 1kB}}" for n in range(4)]
    hosts = [f"{side}{n}" for n in range(4) for side in "sr"]
    cut = cut_in(graph(tmp_path, hosts, ["left", "right"], links, flows, "guests=2"))
    assert cut is not None
    assert [wire.delays_ns for wire in cut.wires] == [(20_000_000, 20_000_000)]


@pytest.mark.parametrize(
    "link",
    [
        "rate: 1mbit, delay: 9ms, jitter: {time: 1ms}",
        "trace: {file: steps}",
        "rate: 1mbit, delay: 9ms, duplicate: 1%",
        "rate: 1mbit, delay: 9ms, gso: keep",
    ],
)
def test_a_delay_that_varies_is_not_cut(tmp_path: Path, link: str) -> None:
    (tmp_path / "steps").write_text("1s 1mbit 10ms\n1s 2mbit 20ms\n")
    text = f"name: n\nbottleneck: {{forward: {{{link}}}, reverse: {{{link}}}}}\nflows: {TCP}\n"
    with pytest.raises(ScenarioError, match="guests: expected at most 1: the network falls"):
        cut_in(scenario(tmp_path, text, "guests=2"))


@pytest.mark.parametrize("qdisc", ["wale rate 1mbit delay 9ms", "wale rate 1mbit", "fq_codel"])
def test_a_link_in_words_of_tc_is_not_cut(tmp_path: Path, qdisc: str) -> None:
    links = [f"{{ends: [a, r], both: {{qdisc: {qdisc}}}}}", "{ends: [r, b], both: {delay: 1ms}}"]
    flow = "{name: f, from: a, to: b, cc: reno, size: 1kB}"
    assert guests_of(graph(tmp_path, ["a", "b"], ["r"], links, [flow], "guests=2")) == [
        ["a", "r"], ["b"],
    ]  # fmt: skip


def test_hosts_that_share_an_interface_stay_together(tmp_path: Path) -> None:
    links = ["{ends: [a, s]}", "{ends: [b, s]}", "{ends: [s, r], both: {delay: 1ms}}"]
    flow = "{name: f, from: a, to: r, cc: reno, size: 1kB}"
    shared = ("topology.switches=[s]", "topology.macvlans={s: {uplink: s-r}}")
    made = graph(tmp_path, ["a", "b"], ["r"], links, [flow], *shared, "guests=2")
    assert sorted(map(sorted, guests_of(made))) == [["a", "b", "s"], ["r"]]


def test_auto_cuts_no_short_link(tmp_path: Path) -> None:
    short = ("bottleneck.forward.delay=900us", "bottleneck.reverse.delay=900us")
    assert cut_in(dumbbell(tmp_path, TCP, "guests=auto", *short)) is None
    assert len(guests_of(dumbbell(tmp_path, TCP, "guests=2", *short))) == 2


@pytest.mark.parametrize(
    ("overrides", "why"),
    [
        (["guests=0"], "guests: expected 1 to 32, auto or per-host, got 0"),
        (["guests=many"], "guests: expected 1 to 32, auto or per-host, got 'many'"),
        (["guests=3"], "guests: expected at most 2: the network falls into so many parts"),
        (["hosts.senders.kernel=6.1"], "guests: expected more than one, where hosts ask"),
        (["guests=2", "hosts.all.kernel=new"], "kernel"),
        (
            ["guests=auto", "hosts.all.kernel=6.1", "bottleneck.reverse.delay=900us"],
            "guests: expected a network that links with a fixed delay of at least 1000 us in both "
            "directions part, where hosts ask for kernels, got auto",
        ),
        (["guests=2", "time=real"], "guests: expected the uml engine and virtual time"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, overrides: list[str], why: str) -> None:
    with pytest.raises(ScenarioError, match=why):
        cut_in(dumbbell(tmp_path, TCP, *overrides))


@pytest.mark.parametrize(
    ("override", "why"),
    [
        ("guests=2", r"--set: guests: expected 1 for a shell \(--set guests=1\)"),
        ("guests=auto", "--set: guests: expected 1 for a shell"),
        ("hosts.senders.kernel=6.1", "hosts: expected no kernels of their own for a shell"),
    ],
)
def test_a_shell_is_in_one_guest(tmp_path: Path, override: str, why: str) -> None:
    made = dumbbell(tmp_path, TCP, override, "time=real")
    with pytest.raises(ScenarioError, match=why):
        check_shell(made, make_plan(made, 1))


def test_hosts_that_are_together_have_one_kernel(tmp_path: Path) -> None:
    kernels = ("topology.hosts.a.kernel=6.1", "topology.hosts.b.kernel=6.12")
    text = CHAIN.replace("hosts: [a, b, c]", "hosts: {a: {}, b: {}, c: {}}")
    made = cut_in(scenario(tmp_path, text, "guests=2", *kernels))
    assert made and {made.kernels[made.guest_of[n]] for n in "ab"} == {"6.1", "6.12"}
    text = text.replace("[a, left], both: {rate: 10mbit, delay: 1ms}", "[a, left]")
    with pytest.raises(ScenarioError, match=r"one kernel for a, b, left, .* got 6.1 and 6.12"):
        cut_in(scenario(tmp_path, text, "guests=2", *kernels))


def test_each_guest_loads_the_modules_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = dumbbell(tmp_path, TCP, "guests=2")
    cut = cut_in(made)
    assert cut is not None
    kernel, files = Kernel("6.12", "linux-source-6.12"), [tmp_path / "own.ko"]
    started: list[tuple[Any, ...]] = []

    def start(*given: Any) -> tuple[Kernel, list[Path], dict[str, str]]:
        started.append(given[2:])
        return kernel, list(given[4]), {}

    def run_guests(_made: Cut, _data: object, _job: Job, prepare: Prepare, *_: object) -> Any:
        return [prepare(version)[1] for version in ("6.1", None)]

    monkeypatch.setattr(runner, "start", start)
    monkeypatch.setattr(runner, "find_modules", lambda *_: [Path("wale_wire.ko")])
    monkeypatch.setattr(runner, "run_guests", run_guests)
    quiet = Progress(quiet=True)
    found: Any = runner._in_guests(made, cut, {}, Job([]), tmp_path, "6.12", quiet, files)
    assert found == [[*files, Path("wale_wire.ko")]] * 2
    assert started == [("6.1", quiet, files), ("6.12", quiet, files)]


def test_a_guest_with_a_full_disk_names_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = Outcome(os.EX_IOERR, "exit", "No space left on device", "", 0.1)

    def run_guests(
        _made: Cut, _data: object, _job: Job, _: Prepare, observe: Observe, *__: object
    ) -> Any:
        return _observed([tmp_path], [full], observe)

    made = dumbbell(tmp_path, TCP, "guests=2")
    cut = cut_in(made)
    assert cut is not None
    monkeypatch.setattr(runner, "run_guests", run_guests)
    says = r"^guest 0: cannot write the result in out: No space left on device$"
    with pytest.raises(EngineError, match=says):
        runner._in_guests(made, cut, {}, Job([]), Path("out"), None, Progress(quiet=True), [])


def result_of(made: Scenario, out: Path) -> dict[str, Any]:
    return run_scenario(made, 1, out)


#: Six intervals of PACKETS are five times of service: some come just as another one leaves.
A_GRAIN = (
    "the clocks of its guests differ by a grain, which decides for what comes as a packet leaves"
)


@pytest.mark.guest
def test_packets_have_the_same_fate_in_one_guest_and_in_two(
    tmp_path: Path, not_on_san: Callable[[str], None]
) -> None:
    not_on_san(A_GRAIN)
    results = [
        result_of(dumbbell(tmp_path, PACKETS, f"guests={n}", more=", loss: 1%"), tmp_path / str(n))
        for n in (1, 2)
    ]
    one, two = ({**r["flows"][0], "links": r["links"]} for r in results)
    assert one["completed"] and one["bytes"] == two["bytes"]
    for key in ("sent_packets", "received_packets", "lost_packets"):
        assert one["constant"][key] == two["constant"][key] > 0
    for key in ("offered_packets", "sent_packets", "dropped_packets", "peak_backlog_packets"):
        assert [ln[key] for ln in one["links"]] == [ln[key] for ln in two["links"]]
    lines = [(tmp_path / n / "delays.csv").read_text().splitlines()[1:] for n in ("1", "2")]
    assert len(lines[0]) == len(lines[1]) > 9
    for alone, across in zip(*lines, strict=True):
        pairs = list(zip(alone.split(",")[2:], across.split(",")[2:], strict=True))
        # to two grains of the clock
        assert all(abs(float(a) - float(b)) <= 512e-9 for a, b in pairs), (alone, across)


def channel_of(out: Path) -> dict[tuple[str, str], dict[str, str]]:
    """The samples of channel.csv, by their time and flow."""
    with (out / "channel.csv").open() as file:
        return {(row["t_s"], row["flow"]): row for row in csv.DictReader(file)}


@pytest.mark.guest
def test_advice_is_the_same_in_one_guest_and_in_many(tmp_path: Path) -> None:
    """Rates and flows of a link change; its senders are in guests of their own."""
    results = [
        result_of(scenario(tmp_path, TOLD, f"guests={n}"), tmp_path / n) for n in ("1", "per-host")
    ]
    one, many = (channel_of(tmp_path / n) for n in ("1", "per-host"))
    assert len(results[1]["cut"]) == 4
    both = one.keys() & many.keys()
    assert len(both) > 1500 and len(one.keys() ^ many.keys()) <= 6  # as a flow ends
    assert {row["rate_Bps"] for row in one.values()} == {row["rate_Bps"] for row in many.values()}
    other = [key for key in sorted(both) if one[key]["rate_Bps"] != many[key]["rate_Bps"]]
    assert len(other) <= 6, other  # between a change and the ACK that reads it
    for alone, across in zip(results[0]["flows"], results[1]["flows"], strict=True):
        assert across["bytes"] == pytest.approx(alone["bytes"], rel=0.01)
    with busy_cpus():
        again = result_of(scenario(tmp_path, TOLD, "guests=per-host"), tmp_path / "again")
    assert again["digest"] == results[1]["digest"]


@pytest.mark.guest
def test_the_digest_depends_on_the_cut_alone(tmp_path: Path) -> None:
    made = dumbbell(tmp_path, TCP, "guests=2")
    first = result_of(made, tmp_path / "first")
    assert first["flows"][0]["completed"] and first["flows"][0]["sha256_ok"]
    assert first["cut"] == [["left", "pair1-sender"], ["right", "pair1-receiver"]]
    with busy_cpus():
        assert result_of(made, tmp_path / "busy")["digest"] == first["digest"]


@pytest.mark.guest
def test_a_guest_may_have_nothing_to_do_yet(tmp_path: Path) -> None:
    quiet = ("record.flows=off", "record.links=off", "flows.tcp.start=1s")
    result = result_of(dumbbell(tmp_path, TCP, "guests=2", *quiet), tmp_path / "out")
    assert result["flows"][0]["completed"]


@pytest.mark.guest
def test_each_host_may_have_its_kernel(tmp_path: Path) -> None:
    kernels = ("hosts.senders.kernel=6.1", "hosts.receivers.kernel=6.12")
    result = result_of(dumbbell(tmp_path, TCP, "guests=2", *kernels), tmp_path / "out")
    assert [k.split(".")[1] for k in result["kernel"].split(", ")] == ["1", "12"]
    assert result["flows"][0]["sha256_ok"] and not result["warnings"]


@pytest.mark.guest
def test_a_chain_of_guests(tmp_path: Path) -> None:
    result = result_of(scenario(tmp_path, CHAIN, "guests=per-host"), tmp_path / "out")
    assert [flow["completed"] for flow in result["flows"]] == [True, True]
    assert all(link["balanced"] for link in result["links"])


SERVED = """[
  {name: server, host: pair1-sender, serve: on, ready: {tcp: 8000},
   sh: 'cd /; exec python3 -m http.server'},
  {name: get, host: pair1-receiver, start: 2s, exit: any,
   sh: 'curl -sSo /dev/null -w "%{http_code}" http://pair1-sender:8000/etc/passwd'},
  {name: long, host: pair1-sender, start: 2s, run: sleep SECONDS}
]"""


@pytest.mark.guest
def test_programs_are_in_the_guests_of_their_hosts(tmp_path: Path) -> None:
    made = dumbbell(tmp_path, SERVED.replace("SECONDS", "5"), "guests=2")
    result = result_of(made, tmp_path / "out")
    assert [flow["completed"] for flow in result["flows"]] == [True] * 3
    long = result["flows"][2]
    assert long["end_s"] - long["start_s"] == pytest.approx(5, abs=0.1)
    assert (tmp_path / "out/get.out").read_text() == "200"  # the server was there until the end


def test_a_guest_without_programs_stops_waiting_for_those_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = tmp_path / "over"
    os.mkfifo(over)
    monkeypatch.setattr(guest_flows, "OVER", str(over))
    monkeypatch.setattr(processes, "WORK", str(tmp_path))
    plan = {"flows": [], "programs": [], "changes": [], "files": "", "terminal": None}
    running = processes.Processes()
    guest_flows.Flows(plan | {"watched": True, "virtual_limit_ns": 1}, running).run(0)
    assert not running.children


@pytest.mark.guest
def test_a_program_that_fails_ends_those_of_all_guests(tmp_path: Path) -> None:
    text = SERVED.replace("exit: any", "ready: {time: 1s}").replace("curl", "false; exit 3; curl")
    made = dumbbell(tmp_path, text.replace("SECONDS", "500"), "guests=2")
    result = result_of(made, tmp_path / "out")
    trouble = problems(result)
    assert any("get" in line and "3" in line for line in trouble), trouble
    assert all((flow.get("end_s") or 0) < 10 for flow in result["flows"])


LINKS = """
events: [{at: 200ms, link: left-right, state: down}, {at: 500ms, link: left-right, state: up}]
"""


@pytest.mark.guest
def test_a_link_between_guests_fails_and_comes_back(tmp_path: Path) -> None:
    udp = "{name: udp, from: a, to: c, constant: {rate: 800kbit, packet: 1000}, duration: 1s}"
    text = CHAIN[: CHAIN.index("flows:")] + f"flows: [{udp}]\n{LINKS}"
    text = text.replace("{ends: [left, right]", "{name: left-right, ends: [left, right]")
    lost = [
        result_of(scenario(tmp_path, text, f"guests={n}"), tmp_path / str(n))["flows"][0][
            "constant"
        ]["lost_packets"]
        for n in (1, "per-host")
    ]
    # 0.3 s, of 10 ms for each packet; and what was on its way
    assert lost[0] == lost[1] >= 30


def packets_of(made: Scenario, out: Path) -> tuple[dict[str, Any], list[dict[str, str]]]:
    result = run_scenario(made, 1, out, packets="csv")
    with (out / "packets.csv").open() as file:
        return result, list(csv.DictReader(file))


@pytest.mark.guest
def test_a_log_has_the_packets_of_all_guests(
    tmp_path: Path, not_on_san: Callable[[str], None]
) -> None:
    not_on_san(A_GRAIN)
    one, two = (
        packets_of(dumbbell(tmp_path, PACKETS, f"guests={n}", more=", loss: 1%"), tmp_path / str(n))
        for n in (1, 2)
    )
    assert len(one[1]) == len(two[1]) == two[0]["packets"]["rows"] > 1000
    for alone, across in zip(one[1], two[1], strict=True):
        for key, value in alone.items():
            if key.endswith("_ns") and value:  # two grains of the clock
                assert abs(int(value) - int(across[key])) <= 512
            elif key != "source_port":  # of the guest's random numbers
                assert value == across[key]


@pytest.mark.guest
def test_a_log_changes_nothing_and_knows_senders(tmp_path: Path) -> None:
    made = dumbbell(tmp_path, TCP, "guests=2")
    result, rows = packets_of(made, tmp_path / "logged")
    assert result["digest"] == result_of(made, tmp_path / "out")["digest"]
    times = [int(row["arrival_ns"]) for row in rows]
    assert times == sorted(times)
    assert {row["link"] for row in rows} == {"forward", "reverse"}
    data = [row for row in rows if row["link"] == "forward" and int(row["payload_bytes"] or 0)]
    windows = [int(row["cwnd_packets"]) for row in data if row["cwnd_packets"]]
    assert len(windows) == len(data) and len(set(windows)) > 5


def test_shared_has_both_ends(tmp_path: Path) -> None:
    made = load_scenario(find_scenario("shared"), ["guests=2"])
    assert guests_of(made)[0][0] == "left"
