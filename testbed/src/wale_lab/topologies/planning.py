# SPDX-License-Identifier: GPL-2.0
"""The plan of a scenario, whatever its topology is."""

from __future__ import annotations

from wale_lab.scenario import Scenario
from wale_lab.topologies import dumbbell, graph
from wale_lab.topologies.plan import Plan, planned_program


def make_plan(scenario: Scenario, seed: int) -> Plan:
    """The plan of a scenario."""
    topology = dumbbell if scenario.graph is None else graph
    result: Plan = topology.plan(scenario, seed)
    by_itself = () if scenario.graph is None else scenario.graph.device_modules
    result.modules = [*dict.fromkeys((*scenario.modprobe, *by_itself))]
    result.programs = [planned_program(program, scenario) for program in scenario.programs]
    return result
