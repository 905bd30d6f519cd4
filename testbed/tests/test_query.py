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


def test_types_do_not_follow_from_values(tmp_path: Path) -> None:
    """A column that is empty in one run, whole numbers that come late, and a flow called t."""
    head = {"scenario": "s", "seed": 1, "digest": "d", "flows": [{"name": "t"}], "links": [{}]}
    late = "0.1,t,,1\n" * 30_000 + "0.2,t,10,2.5\n"
    for name, lines in (("one", "0.1,t,,1\n"), ("other", "0.1,t,9,2\n"), ("late", late)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.json").write_text(json.dumps(head))
        (tmp_path / name / "flows.csv").write_text("t_s,flow,srtt_us,x\n" + lines)
    query = "select max(srtt_us) a, max(x) b, any_value(flow) c from flow_samples"
    assert answer(tmp_path, query, "one", "other", "late") == [{"a": 10, "b": 2.5, "c": "t"}]
    assert answer(tmp_path, query, "one") == [{"a": None, "b": 1, "c": "t"}]


def test_a_folder_that_is_given_twice_counts_once(runs: Path) -> None:
    assert answer(runs, "select count(*) n from flows", *["out/it's 1"] * 2) == [{"n": 1}]


def test_json_has_all_columns_and_is_json(runs: Path) -> None:
    query = "select 1 as a, 2 as a, 1.5 as b, 'nan'::double as c, [1.5, null] as d, date '2026-01-02' as e"
    assert answer(runs, query) == [
        {"a": 1, "a_1": 2, "b": 1.5, "c": None, "d": [1.5, None], "e": "2026-01-02"}
    ]


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
        (["; -- nothing"], "expected a query, got '; -- nothing'"),
        (["select * from query"], "Table with name query does not exist"),
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
