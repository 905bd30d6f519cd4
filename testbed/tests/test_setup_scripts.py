# SPDX-License-Identifier: GPL-2.0
"""Scripts that are run on a host when the network is there, and what is said if one fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from test_network import DIAMOND, check, refused
from wale_lab.errors import ScenarioError
from wale_lab.runner import run_scenario

PING = "flows=[{name: ping, run: ip route show 10.9.0.0/16, host: a}]"


@pytest.mark.guest
def test_scripts_of_a_host(tmp_path: Path) -> None:
    """More general ones first; each sees the whole network."""
    scenario = check(
        DIAMOND,
        PING,
        "hosts.all.setup=ip route add blackhole 10.9.0.0/16",
        "topology.hosts.a={setup: [ip route del 10.9.0.0/16, ip route add 10.9.0.0/16 dev eth0]}",
    )
    result = run_scenario(scenario, 1, tmp_path)
    assert result["flows"][0]["error"] is None
    assert (tmp_path / "ping.out").read_text().startswith("10.9.0.0/16 dev eth0")


@pytest.mark.guest
def test_a_script_fails(tmp_path: Path) -> None:
    """Its line in the scenario, and what it said."""
    for key, value in (("topology.hosts.a", "{setup: false}"), ("hosts.all.setup", "nonesuch")):
        scenario = check(DIAMOND, PING, f"{key}={value.replace('false', '[ip link set eth7 up]')}")
        with pytest.raises(ScenarioError) as caught:
            run_scenario(scenario, 1, tmp_path)
        said = str(caught.value)
        assert "setup: it failed: " in said and len(said.splitlines()) == 1
        assert ("eth7" in said) == ("topology.hosts.a." in said)


def test_refusals() -> None:
    assert "topology.hosts.a.setup: expected scripts" in refused(
        DIAMOND, "topology.hosts.a={setup: ['']}"
    )
    assert "modprobe.0: expected names of kernel modules" in refused(DIAMOND, "modprobe=['a b']")


def test_they_are_in_no_digest_if_there_are_none() -> None:
    data = check(DIAMOND).resolved()
    assert "setup" not in data["hosts"]["all"] and "modprobe" not in data
    assert "setup" not in data["topology"]["hosts"]["a"]
    assert {"tunnels", "bonds"}.isdisjoint(data["topology"])
    assert {"vlan", "bond"}.isdisjoint(data["topology"]["links"][0])
