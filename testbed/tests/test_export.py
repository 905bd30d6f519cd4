# SPDX-License-Identifier: GPL-2.0
"""Runs in formats of other tools: what is in the files, and that flent opens its own."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from test_page import log_packets
from test_plot import RECEIVED, make_run
from wale_lab.cli import main
from wale_lab.results.export import FORMATS, export, flent_of
from wale_lab.results.series import RunSeries

MS = 1_000_000


@pytest.fixture
def run(tmp_path: Path) -> RunSeries:
    made = make_run(tmp_path / "run", backlog=5000)
    packets = [(n * 100 * MS, n * 1000, 7, 1000, "delivered", "forward") for n in range(5)]
    packets.append((450 * MS, 5000, 7, 1000, "loss", "forward"))
    log_packets(made.folder, packets)
    return made


def test_flent_has_the_throughput(run: RunSeries) -> None:
    data = flent_of(run)
    assert data["version"] == 4 and len(data["x_values"]) == len(data["results"]["TCP upload::1"])
    edges = zip(data["x_values"], data["results"]["TCP upload::1"], strict=True)
    assert all(value == pytest.approx(8) for t, value in edges if t < 4)
    assert set(filter(None, data["results"]["Ping (ms) ICMP"])) == {20}
    assert data["metadata"]["TEST_PARAMETERS"] == {"upload_streams": "2"}


def test_flent_opens_it(run: RunSeries) -> None:
    path = export(run, "flent")
    assert path.read_bytes() == export(run, "flent").read_bytes()  # no date of today
    command = [str(Path(sys.executable).with_name("flent")), "-p", "totals", "-f", "summary", path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = {line.partition(":  ")[0].strip(): line.split() for line in done.stdout.splitlines()}
    assert float(rows["TCP upload::1"][4]) == pytest.approx(8, abs=0.2), done.stdout
    assert "20.00" in rows["Ping (ms) ICMP"], done.stdout


def test_qlog(run: RunSeries) -> None:
    log = json.loads(export(run, "qlog").read_text())
    assert [trace["title"] for trace in log["traces"]] == ["tcp", "probe"]
    events = log["traces"][0]["events"]
    assert [event["time"] for event in events] == sorted(event["time"] for event in events)
    names = [event["name"] for event in events]
    assert names.count("recovery:metrics_updated") == len(RECEIVED)
    assert names.count("transport:packet_sent") == 6
    (dropped,) = [event for event in events if event["name"] == "transport:packet_dropped"]
    assert (dropped["time"], dropped["data"]["trigger"]) == (450.0, "loss")
    assert dropped["data"]["header"] == {"packet_number": 5}
    sample = next(event["data"] for event in events if event["name"] == "recovery:metrics_updated")
    assert sample["congestion_window"] == 10 * 72 and sample["smoothed_rtt"] == 20


def test_csv(run: RunSeries) -> None:
    with export(run, "csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    received = [float(r["value"]) for r in rows if r["measure"] == "bytes_received"]
    assert received == RECEIVED
    assert {r["kind"] for r in rows} == {"flow", "link"}
    assert all(float(r["value"]) >= 0 for r in rows)


@pytest.mark.parametrize("kind", FORMATS)
def test_command(kind: str, run: RunSeries, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(run.folder), "--to", kind]) == 0
    assert capsys.readouterr().out.strip() == str(run.folder / f"two{FORMATS[kind][1]}")


def test_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(tmp_path), "--to", "csv"]) == 2
    assert "expected the output folder of a run" in capsys.readouterr().err
