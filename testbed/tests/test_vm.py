# SPDX-License-Identifier: GPL-2.0
"""Stock kernels: the modules as they are built for them, in a machine with two CPUs.

`make check-vm` runs these, for each kernel of WALE_VM_KERNELS ("6.1 6.12").
"""

from __future__ import annotations

import csv
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tap import report_cases
from wale_lab.engines import get_engine
from wale_lab.engines.base import Job, Kernel, Outcome
from wale_lab.engines.modules import find_modules, find_userspace
from wale_lab.results.result import problems
from wale_lab.runner import run_scenario
from wale_lab.scenario import find_scenario, load_scenario

pytestmark = pytest.mark.vm

TOP = Path(__file__).resolve().parents[2]
RUN = TOP / "testbed/selftests/run.sh"
MODULES = ["rate_feedback", "tcp_ratcp", "sch_wale"]
KERNELS = os.environ.get("WALE_VM_KERNELS", "6.1 6.12").split()
STRESS_S = 60

Run = Callable[..., Outcome]


@pytest.fixture(scope="module", params=KERNELS)
def kernel(request: pytest.FixtureRequest) -> Kernel:
    """A stock kernel, with userspace and modules built."""
    kernel = get_engine("vm").prepare(request.param, print)
    find_modules(kernel, MODULES, print)
    return kernel


@pytest.fixture(autouse=True)
def place(kernel: Kernel, tested_on: Callable[..., None]) -> None:
    """Count each test as one of this kernel."""
    tested_on("vm", kernel.release)


def run(kernel: Kernel, script: str, limit_s: float = 300, **options: Any) -> Outcome:
    """Run a script in a machine; whatever it is about, the kernel must not complain."""
    modules = find_modules(kernel, options.pop("modules", []), print)
    job = Job(
        argv=["/bin/bash", "-c", script],
        time="real",
        memory_mb=1024,
        wall_limit_s=limit_s,
        env=find_userspace(print),
        cwd=str(TOP),
        modules=modules,
        **options,
    )
    outcome = get_engine("vm").run(kernel, job)
    assert not outcome.complaints, outcome.kernel_log
    return outcome


def test_a_machine_with_two_cpus(kernel: Kernel, tmp_path: Path) -> None:
    """The contract of an engine: what a job sees, may write to, and how its end is told."""
    script = "uname -r; nproc; id -u; echo $HELLO; touch /usr/no || touch /run/wale/out/yes; exit 3"
    outcome = run(kernel, f"export HELLO; {script}", out=tmp_path)
    release, cpus, user, *_ = outcome.console.splitlines()
    assert (release, cpus, user) == (kernel.release, "2", "0")
    assert "Read-only file system" in outcome.console
    assert [path.name for path in tmp_path.iterdir()] == ["yes"]
    assert (outcome.reason, outcome.exit_code) == ("exit", 3)


def test_wall_limit_ends_the_machine(kernel: Kernel) -> None:
    outcome = run(kernel, "echo begun; sleep 1000", limit_s=60)  # to start takes a while
    assert (outcome.reason, outcome.exit_code) == ("timeout", 124)
    assert outcome.console == "begun\n"


def test_panic_and_complaints_are_told(kernel: Kernel) -> None:
    job = Job(argv=["sh", "-c", "echo c > /proc/sysrq-trigger"], time="real", wall_limit_s=300)
    outcome = get_engine("vm").run(kernel, job)
    assert outcome.reason == "panic"
    assert any("Kernel panic" in line for line in outcome.complaints)


def test_modules_are_loaded_and_removed_by_modprobe(kernel: Kernel) -> None:
    """As an administrator does it, by name: nothing is left but the kernel's own modules."""
    files = " ".join(str(path) for path in find_modules(kernel, MODULES, print))
    script = f"""
        set -e
        folder=/run/tmp/root/lib/modules/$(uname -r)
        mkdir -p $folder
        cp {files} $folder
        depmod -b /run/tmp/root
        modprobe -d /run/tmp/root -a sch_wale tcp_ratcp
        sysctl -n net.ipv4.tcp_available_congestion_control | grep -w ratcp
        tc qdisc add dev lo root wale rate 10mbit delay 1ms feedback
        ping -c 2 -q 127.0.0.1
        wale rate show dev lo
        ! modprobe -r -d /run/tmp/root sch_wale
        tc qdisc del dev lo root
        modprobe -r -d /run/tmp/root tcp_ratcp sch_wale
        ! grep -E 'sch_wale|tcp_ratcp|rate_feedback' /proc/modules
    """
    outcome = run(kernel, script)
    assert outcome.reason == "ok", outcome.console


def test_selftests(kernel: Kernel, subtests: pytest.Subtests) -> None:
    """The selftests and tc-testing; what needs virtual time is skipped by them, with its reason."""
    where = subprocess.run([RUN, "-t"], capture_output=True, text=True, check=True).stdout.strip()
    outcome = run(kernel, f"TDC_SOURCE={where} {RUN} -H", limit_s=3600)
    results = report_cases(outcome.console, subtests)
    assert results.count("ok") > 50, outcome.console
    assert outcome.exit_code == ("not ok" in results)


def test_iperf3(kernel: Kernel, tmp_path: Path) -> None:
    """An unchanged program over the link: a scenario with the engine vm, with all its packets."""
    scenario = load_scenario(find_scenario("iperf3"), ["time=real"])
    result = run_scenario(scenario, 1, tmp_path, "vm", kernel.release, packets="csv")
    assert problems(result) == []
    assert (result["engine"], result["kernel"]) == ("vm", kernel.release)
    (link, *_) = result["links"]
    assert link["balanced"] is True
    with (tmp_path / "packets.csv").open(encoding="utf-8", newline="") as file:
        packets = [row for row in csv.DictReader(file) if row["link"] == link["name"]]
    assert len(packets) == link["offered_packets"]
    delivered = sum(row["fate"] == "delivered" for row in packets)
    assert delivered == link["sent_packets"]


def test_ratcp_uses_advice(kernel: Kernel, tmp_path: Path) -> None:
    """A RATCP transfer whose window is what the advised rate says; it never falls back to Reno."""
    changes = ["time=real", "flows.ratcp.duration=20s"]
    scenario = load_scenario(find_scenario("ratcp"), changes)
    result = run_scenario(scenario, 1, tmp_path, "vm", kernel.release)
    assert problems(result) == []
    with (tmp_path / "channel.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["flow"] == "ratcp"]
    later = [row for row in rows if float(row["t_s"]) > 2]
    assert len(later) > 50
    assert {row["phase"] for row in later} <= {"avoidance", "inactive", "slow-start", "recovery"}
    assert result["flows"][0]["goodput_Bps"] > 50_000


def test_stress(kernel: Kernel) -> None:
    """Everything at once on both CPUs; see selftests/stress.py."""
    script = f"PYTHONPATH=testbed/src python3 testbed/selftests/stress.py --seconds {STRESS_S}"
    outcome = run(kernel, script, limit_s=STRESS_S + 600, modules=MODULES)
    print(outcome.console)
    assert outcome.reason == "ok", outcome.console
