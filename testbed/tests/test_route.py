# SPDX-License-Identifier: GPL-2.0
"""The attributes of routes that scenarios offer: what each changes."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from wale_lab import yaml_lines
from wale_lab.host_settings import RouteSettings
from wale_lab.runner import run_scenario
from wale_lab.scenario import check_scenario

pytestmark = pytest.mark.guest

#: 206 segments with a round trip of 100 ms, the same for every pair but for one attribute.
TEXT = """\
name: route
isolate: true
topology: {pairs: [{name: plain}, {name: initcwnd}, {name: initrwnd}, {name: rto_min},
                   {name: quickack}, {name: advmss}, {name: window}, {name: congctl}]}
bottleneck:
  forward: {rate: 100mbit, delay: 50ms}
  reverse: {delay: 50ms}
hosts:
  pairs:
    initcwnd: {sender: {route: {initcwnd: 42}}}
    initrwnd: {receiver: {route: {initrwnd: 4}}}
    rto_min: {sender: {route: {rto_min: 20ms}}}
    quickack: {receiver: {route: {quickack: on}}}
    advmss: {receiver: {route: {advmss: 600}}}
    window: {sender: {mtu: 552}, receiver: {mtu: 552, route: {window: 4380}}}
    congctl: {sender: {route: {congctl: reno}}}
flows:
  - {name: plain, pair: plain, size: 300kB}
  - {name: initcwnd, pair: initcwnd, size: 300kB}
  - {name: initrwnd, pair: initrwnd, size: 300kB}
  - {name: rto_min, pair: rto_min, size: 300kB}
  - {name: quickack, pair: quickack, size: 300kB}
  - {name: advmss, pair: advmss, size: 300kB}
  - {name: window, pair: window, size: 300kB}
  - {name: congctl, pair: congctl, size: 300kB}
record: {interval: 10ms}
"""

ECN = """\
name: ecn
isolate: true
topology: {pairs: [{name: plain}, {name: ecn}]}
bottleneck:
  forward: {rate: 100mbit, delay: 5ms, loss: 5%, loss_ecn: on}
hosts: {pairs: {ecn: {receiver: {route: {features: ecn}}}}}
flows:
  - {name: plain, pair: plain, size: 1MB}
  - {name: ecn, pair: ecn, size: 1MB}
record: {links: off, flows: off}
"""


def run(text: str, out: Path) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Flows and links of a run, by name."""
    result = run_scenario(check_scenario(yaml_lines.parse(text, "s.yaml"), [], Path()), 1, out)
    assert all(flow["completed"] for flow in result["flows"])
    return tuple({part["name"]: part for part in result[key]} for key in ("flows", "links"))


def test_what_each_attribute_changes(tmp_path: Path) -> None:
    flows, links = run(TEXT, tmp_path)
    with (tmp_path / "flows.csv").open(newline="") as file:
        last = {row["flow"]: row for row in csv.DictReader(file)}
    seconds = {name: flow["seconds"] for name, flow in flows.items()}
    acks = {name: links[f"{name}.reverse"]["sent_packets"] for name in flows}

    assert set(RouteSettings.model_fields) == {*flows, "features"} - {"plain"}
    assert seconds["initcwnd"] < seconds["plain"] - 0.15  # three round trips for five
    assert seconds["initrwnd"] > seconds["plain"] + 0.05
    assert int(last["rto_min"]["rto_us"]) < 300_000 <= int(last["plain"]["rto_us"])
    assert acks["quickack"] >= flows["quickack"]["data_segments"]
    assert acks["plain"] < acks["quickack"]
    assert flows["advmss"]["mss_bytes"] <= 600 < flows["plain"]["mss_bytes"]
    assert seconds["window"] > 300_000 / 4380 * 0.1  # a window in a round trip
    assert last["congctl"]["cc"] == "cubic"  # the flow's own choice stands


def test_ecn_of_a_route(tmp_path: Path) -> None:
    """What is lost at random of the one is marked of the other."""
    flows, links = run(ECN, tmp_path)
    assert links["plain.forward"]["dropped_packets"]["loss"] > 0
    assert links["ecn.forward"]["dropped_packets"]["loss"] == 0
    assert flows["ecn"]["retransmits"] == 0 < flows["plain"]["retransmits"]
