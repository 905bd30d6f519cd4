# SPDX-License-Identifier: GPL-2.0
"""The benchmarks run, on a setting so small that its numbers mean nothing."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wale_lab.bench import estimate, module, summary, timing
from wale_lab.bench.__main__ import SECTIONS, engine_list, main, section_names
from wale_lab.bench.acks import Cost
from wale_lab.bench.acks import summary as acks_summary
from wale_lab.bench.cases import LINES, SIZES, lateness_cases, packet_cases, rate_error_case
from wale_lab.bench.packets import Case, Measured, _settings
from wale_lab.bench.qdiscs import FILTERED, GSO_PAYLOAD, HEADERS, Traffic, commands
from wale_lab.engines import get_engine
from wale_lab.engines.base import EngineError
from wale_lab.engines.modules import build_folder
from wale_lab.progress import Progress

TESTBED = Path(__file__).resolve().parents[1]


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(TESTBED / "wale-lab"), "python", "-m", "wale_lab.bench", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_ratios_are_of_the_same_round() -> None:
    rounds = [
        [Cost("reno", 100, 1e6), Cost("ratcp", 100, 1.1e6)],
        [Cost("reno", 100, 2e6), Cost("ratcp", 100, 2.4e6)],  # a machine half as fast
        [Cost("reno", 100, 1e6), Cost("ratcp", 200, 2e6)],
    ]
    reno, ratcp = acks_summary(rounds)
    assert (reno["ratio"], reno["per_ack_ns"]) == (1, 10_000)
    assert ratcp["ratio"] == pytest.approx(1.1)
    assert (ratcp["ratio_from"], ratcp["ratio_to"]) == (pytest.approx(1), pytest.approx(1.2))


def measured(subject: str, busy_ns: int) -> Measured:
    """In five slices, in one of which the machine was disturbed."""
    slices = [busy_ns // 5] * 4 + [busy_ns]
    return Measured(subject, 100, slices, 0, 100, 0, 0, 0, 0)


CASE = Case("case", Traffic(1500, 1_000, 10**9), ("none", "pfifo", "netem", "wale"), 100)


def round_of(*busy_ns: int) -> list[Measured]:
    return [measured(subject, cost) for subject, cost in zip(CASE.subjects, busy_ns, strict=True)]


def test_cost_is_what_a_qdisc_adds() -> None:
    rounds = [
        round_of(10_000, 11_000, 60_000, 50_000),
        round_of(20_000, 22_000, 120_000, 95_000),  # a machine half as fast
        round_of(10_000, 11_000, 60_000, 60_000),
    ]
    rows = {row.subject: row.written for row in summary.rows(CASE, "6.12", rounds)}
    assert rows["none"] == ["case", "none", "6.12", "0", "100.0", "", "", "", ""]
    assert rows["pfifo"] == ["case", "pfifo", "6.12", "0", "10.0", "", "0.020", "0.020", "0.020"]
    assert rows["netem"][3:] == ["1000", "500.0", "", "1.000", "1.000", "1.000"]
    assert rows["wale"][3:] == ["1000", "500.0", "", "0.800", "0.750", "1.000"]


def test_who_drops_packets_is_not_counted() -> None:
    first, second = (round_of(10_000, 11_000, 60_000, 50_000) for _ in range(2))
    first[-1] = replace(first[-1], refused=7, failed=True)
    rows = summary.rows(CASE, "6.12", [first, second])
    assert rows[-1].written[4:] == ["400.0", "", "0.800", "", ""]
    assert summary.rows(CASE, "6.12", [first])[-1].written[4:] == ["", "", "", "", ""]


def test_instructions_are_counted_once() -> None:
    found = summary.rows(CASE, "6.12", [round_of(1000, 1100, 4000, 3000)], instructions=True)
    assert found[-1].written == ["case", "wale", "6.12", "1000", "", "20", "0.667", "", ""]


def test_every_size_and_length_of_the_line_is_measured() -> None:
    points = {(c.traffic.size, c.traffic.packets_in_line) for c in packet_cases(quick=False)}
    assert points >= {(size, line) for size in SIZES for line in LINES}
    assert len({c.name for c in packet_cases(quick=False)}) == len(packet_cases(quick=False))


def test_all_are_made_the_same_link() -> None:
    traffic = Traffic(500, 1_000, 10**9, loss=0.01)
    assert traffic.delay_ns == 4_211_000  # 1000 packets of 4 us, at 95 % of the rate
    netem, wale = (" ".join(commands(name, traffic)) for name in ("netem", "wale"))
    assert "limit 11000 delay 4211us loss 1% rate 1000000000bit -14" in netem
    assert "rate 1000000000bit delay 4211000ns limit 10000p loss 1%" in wale


def test_the_action_stands_before_the_same_qdisc() -> None:
    traffic = Traffic(1500, 1_000, 10**9, flows=1_000, scone=1)
    for subject, beside in (("action", "none"), ("netem+action", "netem")):
        *qdisc, action = commands(subject, traffic)
        assert qdisc == commands(beside, traffic)
        assert action == "wale scone dev wbench0 rate 100kbit period 100ms"
    (case,) = (case for case in packet_cases(quick=True) if case.name == "scone-each")
    assert (_settings(case)["udp"], _settings(case)["scone"]) == (1, 1)
    assert set(FILTERED) < set(case.subjects)


def test_gso_packets_are_counted_as_they_are_on_the_wire() -> None:
    traffic = Traffic(HEADERS + 45 * GSO_PAYLOAD, 1_000, 10**10, gso=True)
    assert (traffic.segments, traffic.wire_bytes) == (45, 45 * (GSO_PAYLOAD + HEADERS))
    assert traffic.gap_ns == pytest.approx(1488 * 8 / 10 / 0.95)


@pytest.mark.guest
def test_bench(tmp_path: Path, not_on_san: Callable[[str], None]) -> None:
    not_on_san("what a kernel with sanitizers takes says nothing; kmemleak runs out of memory")
    small = ["--quick", "--rounds", "1", "--only", "packets,timing,acks,paths,engine"]
    small += ["--case", "1500B-1gbit-*", "--subjects", "wale"]
    small += ["--size", "2MB", "--cc", "reno,ratcp", "--paths", "300"]
    done = bench("--json", "--results", str(tmp_path), *small)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    check_packets(found["summary"], tmp_path / "bench" / "summary.csv")
    check_timing(found)
    assert [row["control"] for row in found["acks"]] == ["reno", "ratcp"]
    assert all(int(row["acks"]) > 1000 for row in found["acks"])
    assert {row["paths"] for row in found["paths"]} == {"300"}
    assert [row["run"] for row in found["engine"]] == ["boot", "nothing", "transfer"]
    page = (tmp_path / "bench" / "index.html").read_text()
    assert all(f'href="{name}.csv"' in page for name in found)
    assert all((tmp_path / "bench" / f"{name}.csv").exists() for name in found)
    assert '<img src="data:image/svg+xml' in page


def check_packets(rows: list[dict[str, str]], file: Path) -> None:
    with file.open(encoding="utf-8", newline="") as lines:
        written = list(csv.reader(lines))
    assert ",".join(written[0]) == (
        "case,subject,kernel,packets_in_line,ns_per_packet,instructions_per_packet,"
        "ratio_to_netem,low,high"
    )
    assert [list(row.values()) for row in rows] == written[1:]
    assert [row["subject"] for row in rows] == ["none", "netem", "wale"]
    assert [row["packets_in_line"] for row in rows] == ["0", "1000", "1000"]


def check_timing(found: dict[str, Any]) -> None:
    """Virtual time has no noise: what links promise they keep to the clock's quantum."""
    late = {row["case"]: row for row in found["lateness"] if row["subject"] == "wale"}
    assert {row["engine"] for row in found["lateness"] + found["flood"]} == {"uml"}
    still, changing = late["lateness-100mbit-virtual"], late["lateness-100mbit-virtual-changes"]
    assert int(still["changes_per_s"]) == 0 < int(changing["changes_per_s"])
    assert int(still["p0_ns"]) >= 0 and int(changing["p0_ns"]) >= 0
    assert all(abs(float(row["error_ppm"])) < 20 for row in found["rate_error"])
    assert [row["subject"] for row in found["flood"]] == ["pfifo", "netem", "wale"]


@pytest.mark.guest
def test_what_cannot_be_measured_is_said(tmp_path: Path) -> None:
    done = bench("--only", "acks", "--cc", "no_such_cc", "--results", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("or --module with yours, got 'no_such_cc'")
    assert "Traceback" not in done.stderr


def test_says_at_its_start_how_long_it_takes() -> None:
    assert estimate.said(list(SECTIONS), 3, True) == (
        "takes about 73 s on a machine with little else to do"
    )
    assert estimate.said(list(SECTIONS), 5, False) == (
        "takes about 8 minutes on a machine with little else to do, and minutes more in a "
        "virtual machine"
    )
    done = bench("--quick", "--only", "acks", "--engines", "uml", "--kernel", "none")
    assert done.stderr.splitlines()[0] == f"bench: {estimate.said(['acks'], 3, True)}"


def test_an_unknown_section_is_refused() -> None:
    assert section_names("packets,acks") == ["packets", "acks"]
    with pytest.raises(ArgumentTypeError, match="no section 'colour'; known: packets, "):
        section_names("packets,colour")


def test_an_unknown_engine_is_refused() -> None:
    assert engine_list("uml,vm,host") == ["uml", "vm", "host"]
    with pytest.raises(ArgumentTypeError, match="no engine 'moon'; known: uml, vm, host"):
        engine_list("uml,moon")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "--subjects wale,netme",
            "--subjects: there is no subject 'netme'; known: none, pfifo, fq, ",
        ),
        ("--case 1500b-*", "--case: there is no case '1500b-*'; expected one of 64B-1gbit-10, "),
        ("--quick --case *-1000000", "there is no case '*-1000000'; expected one of 1500B-1gbit-1"),
        ("--rounds 0", "--rounds: expected a number from 1 on, got '0'"),
        ("--rounds -1", "--rounds: expected a number from 1 on, got '-1'"),
        ("--rounds many", "--rounds: expected a number from 1 on, got 'many'"),
        ("--paths 0", "--paths: expected a number from 1 on, got '0'"),
        ("--paths 1,,2", "--paths: expected a number from 1 on, got ''"),
    ],
)
def test_what_nobody_can_measure_is_refused(
    words: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is measured, and with what was expected."""
    monkeypatch.setattr(sys, "argv", ["bench", *words.split()])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert said in capsys.readouterr().err


def test_the_ratio_of_a_flood_is_a_median() -> None:
    """Of an even number of rounds it is between the two in the middle."""
    rates = [(100, 100), (100, 110), (100, 130), (100, 200)]
    found = [
        [
            Measured(name, 100, [1], 10**9, departed, 0, 0, 0, 0)
            for name, departed in zip(("netem", "wale"), pair, strict=True)
        ]
        for pair in rates
    ]
    assert timing.median_ratio(found, "wale", "netem") == pytest.approx(1.2)


def test_the_table_of_the_rate_says_what_was_sent() -> None:
    """200,000 packets of 12 us, a fifth more than can be sent."""
    case = rate_error_case()
    said = timing.about_rate_error(case)
    assert "has sent in 2.0 virtual seconds" in said
    assert said.endswith("is 6 ppm.")
    longer = timing.about_rate_error(replace(case, packets=2 * case.packets))
    assert "in 4.0 virtual seconds" in longer and longer.endswith("is 3 ppm.")


def test_each_place_of_a_flow_is_taken_before_it_is_measured() -> None:
    """What is measured with more flows than places takes another flow's, as it goes on to."""
    warmups = {case.name: _settings(case)["warmup"] for case in packet_cases(quick=False)}
    assert warmups["policies-100000-flows"] == 100_000
    assert warmups["policies-1000-flows"] == warmups["policies-1-flows"] == 1665
    assert warmups["1500B-1gbit-1000"] == 1665


def test_a_machine_without_virtual_time_is_timed_in_real_time() -> None:
    assert {case.time for case in lateness_cases(quick=False, virtual_time=False)} == {"real"}
    of_uml = lateness_cases(quick=False, virtual_time=True)
    assert {case.time for case in of_uml} == {"virtual", "real"}


def test_an_engine_that_was_asked_for_has_to_work(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(quiet=True) as progress:
        assert timing.find_places(None, ["vm"], "9.99", progress) == []
        assert "bench: nothing is timed in vm: " in capsys.readouterr().err
        with pytest.raises(EngineError):
            timing.find_places(["vm"], [], "9.99", progress)


@pytest.mark.lint
@pytest.mark.guest
def test_module_gcc_w1_and_sparse(tmp_path: Path) -> None:
    for source in module.sources():
        shutil.copy(source, tmp_path)
    kernel = get_engine("uml").prepare(None, print)
    done = build_folder(kernel, tmp_path, "W=1", "C=2")
    lines = [line for line in done.stdout.splitlines() if "sparse is not available" not in line]
    assert (done.returncode, lines) == (0, [])


def test_make_bench_has_help() -> None:
    assert (
        "bench"
        in subprocess.run(
            ["make", "-C", str(TESTBED.parent), "help"],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "MAKEFLAGS": ""},
        ).stdout
    )
