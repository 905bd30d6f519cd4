# SPDX-License-Identifier: GPL-2.0
"""Runs from Python: wale_lab.run() and wale_lab.sweep(), and the notebook that shows them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pandas as pd
import pytest
from matplotlib.figure import Figure

import wale_lab
from conftest import TESTBED
from test_imports import HEAVY
from wale_lab.tree import version

NOTEBOOK = TESTBED.parent / "Documentation/notebook.ipynb"
SMALL = {f"flows.{name}.size": "60kB" for name in ("reno", "cubic", "bbr")}


def test_an_import_loads_little() -> None:
    code = "import sys, wale_lab; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {*HEAVY, "pandas"}


def test_names() -> None:
    assert wale_lab.__version__ == version()
    assert set(wale_lab.__all__) <= set(dir(wale_lab))
    assert all(getattr(wale_lab, name).__doc__ for name in wale_lab.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nosuch'"):
        wale_lab.nosuch  # noqa: B018


@pytest.mark.guest
def test_a_run_is_that_of_the_command(tmp_path: Path) -> None:
    said: list[str] = []
    values: dict[str, object] = {**SMALL, "bottleneck.forward.loss": 0.02}
    run = wale_lab.run("demo", seed=3, set=values, packets=True, log=said.append)
    words = [f"--set={key}={value}" for key, value in values.items()]
    command = [str(TESTBED / "wale-lab"), "run", "demo", "--seed", "3", *words, "--json", "--quiet"]
    command += ["--out", str(tmp_path / "out")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert run.digest == json.loads(printed)["digest"]
    assert any(line.startswith("running demo in virtual time") for line in said)
    assert (run.seed, run.parameters, run.problems) == (3, values, [])

    assert list(run.flows.name) == ["reno", "cubic", "bbr"]
    assert (run.flows.goodput_Bps > 0).all()
    assert {"sent_packets", "dropped_packets.loss", "utilisation"} <= set(run.links)
    assert {"t_s", "flow", "cwnd_packets"} <= set(run.flow_samples)
    assert {"t_s", "link", "backlog_bytes"} <= set(run.link_samples)
    lost = run.packets[run.packets.fate == "loss"]
    assert len(lost) == run.links["dropped_packets.loss"].sum()
    assert isinstance(run.plot(), Figure)
    assert wale_lab.Run(tmp_path / "out").flows.equals(run.flows)

    folder = run.folder
    assert folder.exists()
    del run
    assert not folder.exists()


@pytest.mark.guest
def test_a_sweep_is_one_tidy_table() -> None:
    ended: list[wale_lab.Run] = []
    losses = ["0%", "2%"]
    table = wale_lab.sweep(
        "demo",
        {"bottleneck.forward.loss": losses},
        seeds=range(2),
        jobs=2,
        set=SMALL,
        each=ended.append,
    )
    columns = ["bottleneck.forward.loss", "seed", "kind", "name", "measure", "value"]
    assert list(table) == columns
    runs = table.drop_duplicates(columns[:2])[columns[:2]]
    assert runs.values.tolist() == [["0%", 0], ["0%", 1], ["2%", 0], ["2%", 1]]
    assert len(table) == len(table.drop_duplicates(columns[:5]))
    assert sorted(run.number for run in ended) == [0, 1, 2, 3]
    loss = table[table.measure == "dropped_packets.loss"].groupby(columns[0]).value.sum()
    assert loss["0%"] == 0 < loss["2%"]
    again = wale_lab.run("demo", seed=1, set={**SMALL, "bottleneck.forward.loss": "2%"})
    chosen = table[(table.seed == 1) & (table[columns[0]] == "2%")]
    of_flows = chosen[(chosen.kind == "flow") & (chosen.measure == "goodput_Bps")]
    assert list(of_flows.value) == list(again.flows.goodput_Bps)


@pytest.mark.guest
def test_a_sweep_ends_with_whoever_listens(tmp_path: Path) -> None:
    runs = wale_lab.sweep_runs("demo", {}, seeds=range(4), jobs=1, set=SMALL, out=tmp_path)
    first = next(runs)
    assert first.folder == tmp_path / str(first.number)
    runs.close()  # type: ignore[attr-defined]
    assert threading.active_count() == 1
    assert len(list(tmp_path.glob("*/result.json"))) < 4


WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: wale_lab.run("nosuch"), "there is no scenario 'nosuch'; "),
    (lambda: wale_lab.run("demo", seed=-1), "seed: expected a number from 0 to 2^64 - 1, got -1"),
    (lambda: wale_lab.run("demo", seed=1.5), "seed: expected a number from 0 to 2^64 - 1, got 1.5"),  # type: ignore[arg-type]
    (lambda: wale_lab.run("demo", set={"nosuch": 1}), "--set: nosuch: unknown key; expected one"),
    (lambda: wale_lab.run("demo", set=["a=1"]), "expected values by their keys, such as"),  # type: ignore[arg-type]
    (lambda: wale_lab.run("demo", set={"a": object()}), "a: expected a text, a number, a list or"),
    (lambda: wale_lab.run("--help"), "there is no scenario '--help'; "),
    (lambda: wale_lab.sweep("demo", {"flows.reno.cc": "bbr"}), "flows.reno.cc: expected a list of"),
    (lambda: wale_lab.sweep("demo", {"ip": [4, 5]}), "--set: ip: expected"),
    (lambda: wale_lab.sweep("demo", {}, seeds=3), "seeds: expected a list of values, got 3"),  # type: ignore[arg-type]
    (lambda: wale_lab.sweep("demo", {}, jobs=0), "jobs: expected a number from 1 on, got 0"),
    (lambda: wale_lab.Run("/nosuch"), "/nosuch: expected the output folder of a run, with result."),
]


@pytest.mark.parametrize(("do", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_is_wrong_is_one_sentence(do: Callable[[], Any], said: str) -> None:
    with pytest.raises(wale_lab.ScenarioError) as refused:
        do()
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_an_engine_cannot_do() -> None:
    with pytest.raises(wale_lab.EngineError) as refused:
        wale_lab.run("demo", kernel="2.4")
    assert "2.4" in str(refused.value) and "Traceback" not in str(refused.value)
    assert isinstance(refused.value, wale_lab.LabError)


def test_packets_of_a_run_without_a_log(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(
        json.dumps({"scenario": "s", "seed": 1, "digest": "d", "flows": [], "links": []})
    )
    run = wale_lab.Run(tmp_path)
    with pytest.raises(wale_lab.ScenarioError, match="expected a run with packets=True"):
        _ = run.packets
    assert isinstance(run.flow_samples, pd.DataFrame)


@pytest.mark.guest
@pytest.mark.slow
def test_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is kept without outputs, and runs from top to end."""
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.delenv("MPLBACKEND", raising=False)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells)
    nbclient.NotebookClient(
        notebook, timeout=600, resources={"metadata": {"path": os.fspath(tmp_path)}}
    ).execute()
    pictures = [o for cell in cells for o in cell.outputs if "image/png" in o.get("data", {})]
    assert len(pictures) == 3
