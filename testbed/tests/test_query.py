# SPDX-License-Identifier: GPL-2.0
"""`wale-lab sql`: queries over the files of runs and sweeps."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

LAB = Path(__file__).resolve().parents[1] / "wale-lab"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs, of which one has a log of packets, and a sweep."""
    for seed in (1, 2):
        folder = tmp_path / f"out/it's {seed}"
        folder.mkdir(parents=True)
        flow = {"name": "tcp", "goodput_Bps": 1e6 * seed, "sha256_ok": True}
        link = {"name": "forward", "dropped_packets": {"loss": seed, "buffer": 0}}
        result = {"scenario": "s", "seed": seed, "digest": "d", "flows": [flow], "links": [link]}
        (folder / "result.json").write_text(json.dumps(result))
        (folder / "flows.csv").write_text(f"t_s,flow,cwnd_packets\n0.1,tcp,{10 * seed}\n0.2,tcp,\n")
    (tmp_path / "out/it's 1/packets.csv").write_text("link,fate,arrival_ns\nforward,sent,5\n")
    (tmp_path / "out/sweep-s").mkdir()
    values = {"cc": ["reno", "bbr"], "measure": ["m", "m"], "value": [1.5, 2.5]}
    pd.DataFrame(values).to_parquet(tmp_path / "out/sweep-s/sweep.parquet")
    return tmp_path


def sql(where: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [str(LAB), "sql", *words]
    return subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)


def answer(where: Path, *words: str) -> Any:
    done = sql(where, "--format", "json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_folder_before_the_query(runs: Path) -> None:
    done = sql(runs, "out/it's 1", "select 1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "expected the query first, then folders, got the folder out/it's 1" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_tables(runs: Path) -> None:
    query = (
        "select run, seed, goodput_Bps g, dropped_packets.loss n from runs join flows using (run)"
    )
    query += " join links using (run) order by seed"
    assert answer(runs, query) == [
        {"run": f"out/it's {seed}", "seed": seed, "g": 1e6 * seed, "n": seed} for seed in (1, 2)
    ]
    assert answer(runs, "select sum(cwnd_packets) s, count(*) n from flow_samples") == [
        {"s": 30, "n": 4}
    ]
    assert answer(runs, "select run, fate from packets") == [{"run": "out/it's 1", "fate": "sent"}]
    assert answer(runs, "select cc from sweep where value > 2") == [{"cc": "bbr"}]
    assert answer(runs, "select count(*) n from runs", "out/it's 2") == [{"n": 1}]


def test_formats(runs: Path) -> None:
    query = "select name, goodput_Bps from flows order by 2"
    assert sql(runs, query, "--format", "csv").stdout == (
        "name,goodput_Bps\ntcp,1000000.0\ntcp,2000000.0\n"
    )
    lines = sql(runs, "select run, repeat('x', 200) as wide from runs").stdout.splitlines()
    assert len(lines) == 6 and "x" * 200 in lines[3]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["selct 1"], "syntax error"),
        ([" "], "expected a query, got ' '"),
        (["select nosuch from flows"], '"nosuch" not found'),
        (["select * from packets", "out/it's 2"], "packets needs runs with --packets"),
        (["select * from sweep", "out/it's 2"], "expected a query of runs, flows, links, flow_"),
        (["select 1", "nowhere"], "nowhere: expected the output folder of a run"),
    ],
)
def test_what_cannot_be_asked(words: list[str], said: str, runs: Path) -> None:
    done = sql(runs, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and "Traceback" not in done.stderr


def test_no_runs(tmp_path: Path) -> None:
    done = sql(tmp_path, "select 1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "there is no run below out; expected the folders of runs\n"
