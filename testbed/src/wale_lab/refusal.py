# SPDX-License-Identifier: GPL-2.0
"""Settings that a kernel or its tools reject: their line in the scenario, and what was expected.

A scenario is checked when it is read, but only a kernel knows its sysctls, and only tc the words
of a qdisc.  The agent says which part of the plan was rejected (AgentError), and this finds the
line.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any, Literal

from wale_lab.checking import show
from wale_lab.engines.base import EngineError
from wale_lab.engines.bpf import is_bpf
from wale_lab.engines.modules import userspace_env
from wale_lab.errors import ScenarioError
from wale_lab.host_settings import NO_PAIR_HOSTS, HostSettings
from wale_lab.pairs import ROLES
from wale_lab.scenario import OWN_CC, Flow, Scenario
from wale_lab.topologies.overlays import INSTALL, WG_PACKAGE
from wale_lab.yaml_lines import KeyPath


def refused(scenario: Scenario, error: str, of: dict[str, Any]) -> Exception:
    """What to raise when the agent could not set the scenario up."""
    if "cc" in of:
        return _no_control(scenario, _path_of_control(scenario, of), of["cc"], {*of["has"]})
    if "sysctl" in of:
        path = _path_of_setting(scenario, of["host"], "sysctls", of["sysctl"])
        error = f"{of['sysctl']}: {error}" if path == ("profile",) else error
        return _at(scenario, path, error)
    if "bpf" in of:
        return EngineError(f"{of['bpf']}: {error}")
    if "module" in of:
        path = ("modprobe", scenario.modprobe.index(of["module"]))
        return _at(scenario, path, f"the kernel has no such module: {_first_sentence(of['said'])}")
    if of.get("setup"):
        path = _path_of_setup(scenario, of["host"], of["setup"])
        return _at(scenario, path, f"it failed: {_last_sentence(of['said'])}")
    if "line" in of:
        said = _first_sentence(of["said"])
        return EngineError(f"`ip {of['line']}` failed in {of['host']}: {said}")
    if "command" in of:
        said = _first_sentence(of["said"])
        return EngineError(f"{of['command']} failed in {of['host']}: {said}")
    if "link" in of:
        name = of["link"].removeprefix(scenario.copy_of(of["link"]))
        where, link = scenario.links().get(name, ((), None))
        if link is not None and getattr(link, of["key"]):
            path = (*where, of["key"])
            return _at(scenario, path, f"tc refuses it: {_first_sentence(of['said'])}")
    return EngineError(f"the scenario could not be run: {error}")


def _no_control(scenario: Scenario, path: KeyPath, name: str, has: set[str]) -> ScenarioError:
    """A congestion control that is neither one of those that a kernel has nor one of ours."""
    return _at(scenario, path, _expected(name, has))


def _expected(name: str, has: set[str]) -> str:
    known = ", ".join(sorted(has | OWN_CC))
    return f"expected one of {known}, or --module with yours, got {name!r}"


def check_tools(scenario: Scenario) -> None:
    """Refuse what a program is missing for on this machine."""
    graph = scenario.graph
    if graph is None:
        return
    wanted: list[tuple[KeyPath, str, str]] = []
    for n, tunnel in enumerate(graph.tunnels):
        if tunnel.kind == "wireguard":
            wanted.append((("topology", "tunnels", n, "kind"), "wg", WG_PACKAGE))
    if graph.outside is not None:
        wanted.append((("topology", "outside"), "passt", "passt"))
        if graph.many_outside(program.host for program in scenario.programs):
            wanted.append((("topology", "outside"), "nft", "nftables"))
    for name, router in graph.routers.items():
        if router.nat is not None:
            wanted.append((("topology", "routers", name, "nat"), "nft", "nftables"))
    for path, tool, package in wanted:
        if not shutil.which(tool, path=userspace_env()["PATH"]):
            raise _at(scenario, path, f"it needs {tool}: {INSTALL} {package}")


def check_control(name: str, has: set[str], option: str) -> None:
    """Refuse a congestion control of the command line that a kernel with these will not have."""
    if name not in has | OWN_CC and not is_bpf(name):
        raise ScenarioError(f"{option}: {_expected(name, has)}")


def check_controls(scenario: Scenario, has: set[str]) -> None:
    """Refuse a congestion control that a kernel with these will not have."""
    for path, name in _controls(scenario):
        if name not in has | OWN_CC and not is_bpf(name):
            raise _no_control(scenario, path, name, has)


def _controls(scenario: Scenario) -> Iterator[tuple[KeyPath, str]]:
    """Each congestion control that the scenario names, and where."""
    for number, flow in enumerate(scenario.flows):
        if isinstance(flow, Flow) and not flow.constant:
            yield ("flows", number, "cc"), flow.cc
    for pair in scenario.pairs:
        for role in ROLES:
            name = scenario.host_settings(pair.name, role).route.congctl
            if name is not None:
                yield _path_of_host(scenario, pair.name, role, "route", "congctl"), name
    for node in scenario.graph.nodes if scenario.graph else []:
        name = scenario.node_settings(node).route.congctl
        if name is not None:
            yield _path_of_setting(scenario, node, "route", "congctl"), name


def _path_of_control(scenario: Scenario, of: dict[str, Any]) -> KeyPath:
    if "flow" in of:
        names = [flow.name for flow in scenario.flows]
        return ("flows", names.index(of["flow"]), "cc")
    return _path_of_setting(scenario, of["host"], "route", "congctl")


def _path_of_setting(scenario: Scenario, namespace: str, group: str, key: str) -> KeyPath:
    """Where the setting of a host stands, by the name of its namespace."""
    if scenario.graph is None:
        return _path_of_host(scenario, *_host(scenario, namespace), group, key)
    name, graph = namespace.rpartition(".")[2], scenario.graph
    places: dict[KeyPath, HostSettings] = {}
    for kind, nodes in (("hosts", graph.hosts), ("routers", graph.routers)):
        if name in nodes:
            places["topology", kind, name] = nodes[name]
    for part in ("receivers", "senders", "all"):
        places["hosts", part] = getattr(scenario.hosts, part)
    for place, settings in places.items():
        if dict(getattr(settings, group)).get(key) is not None:
            return (*place, group, key)
    return ("profile",)


def _path_of_setup(scenario: Scenario, namespace: str, script: str) -> KeyPath:
    """Where a script of a host stands, the most special place if it is at several."""
    name = namespace.rpartition(".")[2]
    places: dict[KeyPath, HostSettings] = {}
    if scenario.graph is not None:
        kind = "hosts" if name in scenario.graph.hosts else "routers"
        places["topology", kind, name] = getattr(scenario.graph, kind)[name]
    else:
        pair, role = _host(scenario, namespace)
        own = scenario.hosts.pairs.get(pair, NO_PAIR_HOSTS)
        places["hosts", "pairs", pair, role] = getattr(own, role)
    for part in ("receivers", "senders", "all"):
        places["hosts", part] = getattr(scenario.hosts, part)
    for place, settings in places.items():
        if script in (settings.setup or []):
            return (*place, "setup")
    return ("profile",)


def _host(scenario: Scenario, namespace: str) -> tuple[str, Literal["sender", "receiver"]]:
    """The pair and the role of a host, by the name of its namespace."""
    name = namespace.rpartition(".")[2]
    return next(
        (pair.name, role) for pair in scenario.pairs for role in ROLES if pair.host(role) == name
    )


def _path_of_host(
    scenario: Scenario, pair: str, role: Literal["sender", "receiver"], group: str, key: str
) -> KeyPath:
    """Where the setting of a host stands: the most special place wins, the profile is the last."""
    hosts = scenario.hosts
    places = {
        ("pairs", pair, role): getattr(hosts.pairs.get(pair, NO_PAIR_HOSTS), role),
        (f"{role}s",): getattr(hosts, f"{role}s"),
        ("all",): hosts.all,
    }
    for place, settings in places.items():
        found = dict(getattr(settings, group))
        if found.get(key) is not None:
            return ("hosts", *place, group, key)
    return ("profile",)


def _at(scenario: Scenario, path: KeyPath, text: str) -> ScenarioError:
    where = f"{scenario.document.where(path)}: " if scenario.document else ""
    return ScenarioError(f"{where}{show(path)}{text}")


def _last_sentence(said: str) -> str:
    """What a script said last."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return (lines or ["it does not say why"])[-1]


def _first_sentence(said: str) -> str:
    """What tc says, without its usage and the number of the line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(("Usage:", "Command failed"))]
    return (lines or ["it does not say why"])[0].removeprefix("Error: ")
