# SPDX-License-Identifier: GPL-2.0
"""What happens to a network at a time: links fail and come back, costs and routes change."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from test_network import DIAMOND, check, refused
from wale_lab.runner import run_scenario
from wale_lab.topologies.plan import PlannedChange
from wale_lab.topologies.planning import make_plan


def changes(*events: str, more: tuple[str, ...] = ()) -> list[PlannedChange]:
    return make_plan(check(DIAMOND, f"events=[{', '.join(events)}]", *more), 1).changes


def test_a_link_fails() -> None:
    """Its devices go down; later, where the way changes, routes are replaced."""
    plan = changes("{at: 3s, link: upper, state: down, reroute: 200ms}")
    assert [(c.at_ns, c.netns) for c in plan] == [
        (3_000_000_000, "r2"),
        (3_000_000_000, "r4"),
        *((3_200_000_000, name) for name in ("r1", "r2", "r3", "r4")),
    ]
    assert plan[0].ip == ["link set eth1 down"]
    # what is lost with the device needs not be taken back
    assert "route replace 10.0.5.0/24 via 10.0.3.2" in plan[2].ip
    assert plan[3].ip == [
        "route replace 10.0.4.0/24 via 10.0.1.1",
        "route replace 10.0.5.0/24 via 10.0.1.1",
    ]
    assert not any("del" in line for line in plan[3].ip if "10.0.5.0" in line)


def test_a_link_comes_back() -> None:
    """What the kernel has forgotten is laid again: neighbours, and the routes by the device."""
    plan = changes(
        "{at: 1s, link: upper, state: down, reroute: off}",
        "{at: 2s, link: upper, state: up, reroute: off}",
    )
    assert [change.netns for change in plan] == ["r2", "r4", "r2", "r4"]
    assert plan[2].ip == [
        "link set eth1 up",
        "neighbour replace 10.0.2.2 lladdr 02:00:00:00:02:02 dev eth1 nud permanent",
        "route replace 10.0.4.0/24 via 10.0.2.2",
        "route replace 10.0.5.0/24 via 10.0.2.2",
    ]
    both = changes("{at: 2s, link: upper, state: up}", "{at: 1s, link: upper, state: down}")
    assert [line for c in both[-4:] for line in c.ip if " del " in line] == []
    six = changes(
        "{at: 1s, link: upper, state: down}", "{at: 2s, link: upper, state: up}", more=("ip=6",)
    )
    back = next(c.ip for c in six if "link set eth1 up" in c.ip)
    assert "address replace fd00:0:2::1/64 dev eth1 nodad" in back


def test_costs_and_routes_that_are_said() -> None:
    plan = changes("{at: 1s, link: upper, cost: 5}", "{at: 2s, link: upper, cost: 1}")
    first = {c.netns: c.ip for c in plan if c.at_ns == 1_000_000_000}
    second = {c.netns: c.ip for c in plan if c.at_ns == 2_000_000_000}
    assert "route replace 10.0.5.0/24 via 10.0.3.2" in first["r1"]
    assert "route replace 10.0.5.0/24 via 10.0.1.2" in second["r1"]
    plan = changes(
        "{at: 1s, route: {at: r1, to: b, via: r3}}", "{at: 2s, computed: {at: r1, to: b}}"
    )
    assert [c.ip for c in plan] == [
        ["route replace 10.0.5.2/32 via 10.0.3.2"],
        ["route del 10.0.5.2/32"],
    ]


def test_nothing_changes_without_events() -> None:
    scenario = check(DIAMOND)
    assert make_plan(scenario, 1).changes == []
    assert "events" not in scenario.resolved()


@pytest.mark.parametrize(
    ("event", "says"),
    [
        ("{at: 1s}", "events.0: expected one of link, route and computed"),
        ("{at: 1s, link: x, state: down}", "events.0.link: expected one of a-r1, r1-r2, upper"),
        ("{at: 1s, link: upper}", "events.0: expected either state or cost, with a link"),
        ("{at: 1s, link: upper, state: up}", "events.0.state: expected a change, upper is up"),
        ("{at: 1s, link: upper, state: off}", "events.0.state: expected 'down' or 'up'"),
        ("{at: 1s, link: upper, cost: 0}", "events.0.cost: expected greater than or equal to 1"),
        ("{at: 1s, route: {at: r1, to: b, via: b}}", "expected a neighbour of r1, got 'b'"),
        ("{at: 1s, route: {at: q, to: b, via: b}}", "events.0.route.at: expected a host or a"),
        ("{at: 1s, computed: {at: r1, to: x}}", "events.0.computed.to: expected a host or a"),
        ("{at: 1s, computed: {at: r1, to: b}, reroute: 1s}", "expected reroute with a link"),
        ("{at: 2h, link: upper, cost: 2}", "events.0.at: expected a time before virtual_limit"),
        ("{at: 1x, link: upper, cost: 2}", "events.0.at: expected a time"),
    ],
)
def test_refusals(event: str, says: str) -> None:
    said = refused(DIAMOND, f"events=[{event}]")
    assert says in said
    assert len(said.splitlines()) == 1


def test_a_dumbbell_has_no_events() -> None:
    text = "name: x\nflows: [{name: f, size: 1MB}]\nevents: [{at: 1s, link: x, state: down}]\n"
    assert "events: expected a topology that is a graph, or a shape" in refused(text)


@pytest.mark.guest
@pytest.mark.parametrize("ip", [4, 6])
def test_traffic_goes_another_way(tmp_path: Path, ip: int) -> None:
    """The flow takes the lower way while the upper link is down, and then the upper one again."""
    events = (
        "events=[{at: 1s, link: upper, state: down, reroute: 100ms}, "
        "{at: 2s, link: upper, state: up}, {at: 3s, link: r1-r2, cost: 9}]"
    )
    scenario = check(DIAMOND, events, f"ip={ip}", "flows.one.duration=4s")
    result = run_scenario(scenario, 1, tmp_path)
    assert result["flows"][0]["error"] is None
    sent: dict[str, dict[float, int]] = {"upper.forward": {}, "lower.forward": {}}
    with (tmp_path / "links.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["link"] in sent:
                sent[row["link"]][float(row["t_s"])] = int(row["sent_bytes"])
    upper, lower = sent["upper.forward"], sent["lower.forward"]
    assert lower[1.0] == 0 < upper[1.0]
    assert upper[1.9] == upper[1.1] and lower[1.9] > 100_000
    assert lower[2.9] - lower[2.1] < 1500 and upper[2.9] > upper[2.1] + 100_000
    assert upper[3.9] - upper[3.2] < 1500 and lower[3.9] > lower[3.2] + 100_000
