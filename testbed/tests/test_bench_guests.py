# SPDX-License-Identifier: GPL-2.0
"""The benchmark of several guests: its cases, and the model that is fitted to what they took."""

from __future__ import annotations

import pytest

from wale_lab.bench import guests
from wale_lab.bench.guests import CASES, PRICES, Case, Run
from wale_lab.guests import cut_of
from wale_lab.topologies.planning import make_plan

REAL = [0.4, 12e-6, 2.5e-6, 3e-6, 0.5, 40e-6]


def run_of(case: Case) -> Run:
    """One that took exactly what the model says."""
    packets = 300_000 // case.flows
    run = Run(case, 1, 1, 0.6 + case.delay_us / 1e6, packets, packets * (case.guests > 1))
    return Run(case, 1, guests.predicted_s(run, REAL), run.virtual_s, run.packets, run.crossed)


def test_each_case_has_so_many_guests() -> None:
    for case in CASES:
        scenario = case.scenario()
        cut = cut_of(scenario, make_plan(scenario, 1), "uml")
        assert (cut.guests if cut else 1) == case.guests
        assert not cut or {min(wire.delays_ns) for wire in cut.wires} == {case.delay_us * 1000}


def test_prices_are_found_again() -> None:
    assert len(PRICES) == len(REAL)
    assert guests.prices([run_of(case) for case in CASES]) == pytest.approx(REAL, rel=1e-6)


def test_the_table_has_all_cases_and_prices() -> None:
    lines = guests.table([run_of(case) for case in CASES]).splitlines()
    assert lines[1].split("  ")[0].startswith("Guests Machines Windows us")
    assert len(lines) == len(CASES) + 6
    assert "2.50 us for each packet on a link" in lines[-1]


def test_packets_cross_where_the_ends_of_a_link_are_apart() -> None:
    guest_of = {"a": 0, "r1": 0, "r2": 1}
    assert not guests._parted("a-r1.forward", guest_of)
    assert guests._parted("r1-r2.reverse", guest_of)
