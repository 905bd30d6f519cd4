# SPDX-License-Identifier: GPL-2.0
"""QUIC beside TCP: the libraries' own programs, in virtual time."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
from scapy.utils import PcapReader

from conftest import TESTBED, busy_cpus
from wale_lab.engines.modules import userspace_env
from wale_lab.results.result import problems
from wale_lab.runner import run_scenario
from wale_lab.scenario import find_scenario, load_scenario

#: Scenarios of programs that `make programs` builds, and those programs.
BUILT = {
    "quic-go": "quic-go-transfer",
    "quic-quinn": "quinn-transfer",
    "quic-quiche": "quiche-transfer",
}

#: How often `make check-programs` runs each.
REPEATS = int(os.environ.get("WALE_REPEATS", "20"))

#: A link of 1 Gbit/s, and less of the TCP flow.
GIGABIT = [
    "bottleneck.forward.rate=1gbit",
    "bottleneck.reverse.rate=1gbit",
    "bottleneck.forward.limit=5MB",
    "flows.client.start=100ms",
    "flows.tcp.duration=500ms",
]


def run(name: str, out: Path, *overrides: str, **options: Any) -> dict[str, Any]:
    result = run_scenario(load_scenario(find_scenario(name), [*overrides]), 1, out, **options)
    assert problems(result) == []
    return result


def events(folder: Path) -> list[dict[str, Any]]:
    """Of the only qlog in a folder, in either of its two forms."""
    (path,) = [one for one in folder.iterdir() if one.suffix in (".qlog", ".sqlog")]
    text = path.read_text()
    if path.suffix == ".qlog":
        (trace,) = json.loads(text)["traces"]
        found: list[dict[str, Any]] = trace["events"]
        return found
    _head, *rest = [json.loads(line) for line in text.replace("\x1e", "").splitlines() if line]
    return rest


def check_transfer(result: dict[str, Any], out: Path) -> None:
    """Both got a share of the link, and the logs of both ends tell of it."""
    flows = {flow["name"]: flow for flow in result["flows"]}
    assert json.loads((out / "client.out").read_text())["bytes"] == 4_000_000
    assert 2 < flows["client"]["metrics"]["mbit"] < 8
    assert 5 < flows["tcp"]["goodput_Bps"] * 8e-6 < 9.5
    for end in ("server", "client"):
        names = [event["name"] for event in events(out / f"{end}.files")]
        assert sum("packet_sent" in name for name in names) > 500
        assert sum("packet_received" in name for name in names) > 500


def check_again(name: str, tmp_path: Path, digest: str, times: int) -> None:
    """Further runs give the same, every other one on a busy machine."""
    for number in range(times):
        out = tmp_path / f"again-{number}"
        if number % 2:
            assert run(name, out)["digest"] == digest
        else:
            with busy_cpus():
                assert run(name, out)["digest"] == digest


@pytest.mark.guest
@pytest.mark.slow
def test_aioquic(tmp_path: Path, not_on_san: Any) -> None:
    not_on_san("two programs in Python would take many minutes")
    out = tmp_path / "first"
    result = run("quic-aioquic", out)
    check_transfer(result, out)
    check_again("quic-aioquic", tmp_path, result["digest"], 1)


@pytest.mark.guest
@pytest.mark.slow
def test_aioquic_at_a_gigabit(tmp_path: Path, not_on_san: Any) -> None:
    """With every packet: those of QUIC and of TCP are told apart, and can be seen by Wireshark."""
    not_on_san("two programs in Python would take many minutes")
    result = run("quic-aioquic", tmp_path, *GIGABIT, packets="csv")
    client, tcp = result["flows"][1:]
    assert client["metrics"]["mbit"] > 50
    assert tcp["goodput_Bps"] * 8e-6 > 100
    assert next(tmp_path.glob("*.pcapng")).stat().st_size > 100_000


@pytest.mark.parametrize("crate", ["quinn", "quiche"])
def test_all_that_a_crate_needs_is_pinned(crate: str) -> None:
    """Cargo.lock has a version and a checksum of each package, and cargo takes no other."""
    folder = TESTBED / "programs" / crate
    wanted = tomllib.loads((folder / "Cargo.toml").read_text())
    locked = tomllib.loads((folder / "Cargo.lock").read_text())["package"]
    (own,) = [package for package in locked if "source" not in package]
    assert (own["name"], {*own["dependencies"]}) == (f"{crate}-transfer", {*wanted["dependencies"]})
    for package in locked:
        if package is not own:
            assert package["source"] == "registry+https://github.com/rust-lang/crates.io-index"
            assert package["checksum"]
    assert (
        "cargo build --quiet --release --locked" in (TESTBED / "setup/build-programs").read_text()
    )


@pytest.mark.programs
@pytest.mark.parametrize("name", BUILT)
def test_built_program(name: str, tmp_path: Path) -> None:
    assert shutil.which(BUILT[name], path=userspace_env()["PATH"]), "make programs builds it"
    out = tmp_path / "first"
    result = run(name, out)
    check_transfer(result, out)
    check_again(name, tmp_path, result["digest"], REPEATS - 1)


@pytest.mark.programs
@pytest.mark.parametrize("name", BUILT)
def test_built_program_at_a_gigabit(name: str, tmp_path: Path) -> None:
    client, tcp = run(name, tmp_path, *GIGABIT)["flows"][1:]
    assert client["metrics"]["mbit"] > 50
    assert tcp["goodput_Bps"] * 8e-6 > 100


#: Programs of scenarios that Debian has, and their packages; numbers that come out, and how near.
PACKAGED: dict[str, tuple[dict[str, str], dict[str, tuple[float, float]]]] = {
    "nginx": ({"nginx": "nginx-light", "curl": "curl"}, {"bytes": (4e6, 0), "seconds": (6.5, 1.5)}),
    "dns": (
        {
            "dnsmasq": "dnsmasq-base",
            "dig": "bind9-dnsutils",
            "ping": "iputils-ping",
            "tcpdump": "tcpdump",
        },
        {"rtt_ms": (41.4, 1), "lost_percent": (19, 12)},
    ),
    "rtp": ({"ffmpeg": "ffmpeg"}, {"frames": (250, 0), "received": (240, 10)}),
}


def skip_without(programs: dict[str, str]) -> None:
    for program, package in programs.items():
        if shutil.which(program, path=userspace_env()["PATH"]) is None:
            pytest.skip(f"{program} is not installed (package {package})")


@pytest.mark.guest
@pytest.mark.parametrize("name", PACKAGED)
def test_packaged_programs(name: str, tmp_path: Path) -> None:
    programs, expected = PACKAGED[name]
    skip_without(programs)
    result = run(name, tmp_path / "first")
    metrics = {k: v for flow in result["flows"] for k, v in flow.get("metrics", {}).items()}
    for key, (value, tolerance) in expected.items():
        assert metrics[key] == pytest.approx(value, abs=tolerance)
    with busy_cpus():
        assert run(name, tmp_path / "again")["digest"] == result["digest"]
    if name == "dns":
        capture = tmp_path / "first/capture.files/dns.pcap"
        assert len(list(PcapReader(str(capture)))) > 80


@pytest.mark.programs
@pytest.mark.parametrize("name", [*PACKAGED, "iperf3", "quic-aioquic"])
def test_repeated(name: str, tmp_path: Path) -> None:
    if name in PACKAGED:
        skip_without(PACKAGED[name][0])
    check_again(name, tmp_path, run(name, tmp_path / "first")["digest"], REPEATS - 1)


@pytest.mark.guest
@pytest.mark.slow
def test_a_browser_loads_a_page(tmp_path: Path, not_on_san: Any) -> None:
    """In real time."""
    not_on_san("a browser would take many minutes")
    skip_without({"chromium": "chromium"})
    result = run("page", tmp_path)
    assert result["flows"][1]["metrics"]["objects"] == 10
