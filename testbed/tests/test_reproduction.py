# SPDX-License-Identifier: GPL-2.0
"""The quick form of every study: runs in guests, and what must hold of each table and figure."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import SLOWNESS
from wale_lab.studies.study import load_study, study_names
from wale_lab.studies.summary import COLUMNS

LAB = Path(__file__).resolve().parents[1] / "wale-lab"

pytestmark = pytest.mark.guest

#: What runs on a kernel with sanitizers or counters, where all of them would take hours: a study
#: for each part of the modules that has a scenario of its own.
IN_SLOW_KERNELS = (
    "altman/section4",
    "goyal/seldrop-z",
    "goyal/table3",
    "karnik-kumar/feedback",
    "karnik-kumar/fig10",
    "karnik-kumar/rem",
    "lakshman-madhow/table6",
)

RUN_HERE = study_names() if SLOWNESS == 1 else IN_SLOW_KERNELS


def studies() -> list[Any]:
    """Names of the studies; those that are not to run here have the reason."""
    reason = f"a scenario takes {SLOWNESS} times as long on this kernel: a selection runs"
    skip = pytest.mark.skip(reason=reason)
    return [name if name in RUN_HERE else pytest.param(name, marks=skip) for name in study_names()]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studies")
    command = [str(LAB), "study", *RUN_HERE, "--quick", "--results", str(folder)]
    limit_s = 3000 if SLOWNESS == 1 else 5400
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s)
    assert done.returncode in (0, 1), done.stdout + done.stderr  # 1: a check does not hold
    return folder


def test_the_selection_is_of_studies() -> None:
    assert set(IN_SLOW_KERNELS) <= set(study_names())


def about(results: Path, name: str) -> dict[str, Any]:
    path = results / name / "study.json"
    assert path.exists(), f"the runs of {name} could not be completed: see snakemake.log"
    data: dict[str, Any] = json.loads(path.read_text())
    return data


@pytest.mark.parametrize("name", studies())
def test_what_must_hold(results: Path, name: str) -> None:
    failed = [c for c in about(results, name)["checks"] if not c["passed"]]
    assert not failed, "\n".join(f"{check['text']}: {check['value']}" for check in failed)


@pytest.mark.parametrize("name", studies())
def test_every_row_is_there(results: Path, name: str) -> None:
    about(results, name)
    study = load_study(name)
    table = "curves.csv" if study.plot == "curves" else "summary.csv"
    with (results / name / table).open(newline="") as file:
        rows = list(csv.DictReader(file))
    wanted = study.quick.rows or list(study.rows())
    assert {row["row"] for row in rows} == set(wanted)
    if table == "summary.csv" and rows:
        assert list(rows[0]) == COLUMNS
        assert all(row["measured"] for row in rows)


def test_the_report_shows_every_study(results: Path) -> None:
    subprocess.run([str(LAB), "report", "--results", str(results)], check=True, timeout=300)
    page = (results / "report" / "index.html").read_text()
    for name in RUN_HERE:
        assert f"wale-lab study {name} --quick" in page
    assert (results / "report" / "summary.csv").stat().st_size > 1000
