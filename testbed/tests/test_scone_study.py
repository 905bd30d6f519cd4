# SPDX-License-Identifier: GPL-2.0
"""The study of SCONE (Documentation/examples/scone): what the page says of advice."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from unittest.mock import Mock

import pytest

from wale_lab.engines.base import Kernel
from wale_lab.scenario import load_scenario
from wale_lab.studies import study as studies
from wale_lab.studies.points import Build, points_of

TOP = Path(__file__).resolve().parents[2]
FOLDER = TOP / "Documentation/examples/scone"


def forecast() -> dict[str, dict[str, tuple[float, float]]]:
    """Of each kind of advice and each link: percent used, percent of moments that it is too much."""
    command = [sys.executable, str(FOLDER / "forecast.py"), "--hours", "2"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    head, _, *lines = said.splitlines()
    found = {}
    for line in lines:
        numbers = [float(word) for word in line[32:].split()]
        pairs = list(zip(numbers[::4], numbers[2::4], strict=True))
        found[line[:32].strip()] = dict(zip(head.split(), pairs, strict=True))
    return found


@pytest.mark.slow
def test_forecast() -> None:
    table = forecast()
    draft, plain = table["mean 67 s, lowest of 67 s"], table["80 % of the last 12 s"]
    for name, (used, over) in table["exact, lowest of 10 s"].items():
        if name in ("slow", "policy"):  # more, and less often too much, than with the mean of 67 s
            assert used > draft[name][0] and over < draft[name][1]
            assert used > plain[name][0] + 10
    assert draft["policy"][1] > 2 * plain["policy"][1]  # a fall is told too late
    for name in ("lte", "leo"):  # the lowest of a minute of exact rates says nothing
        assert table["exact, lowest of 67 s"][name][0] < 15
    for kind in ("mean 67 s, last", "mean 67 s, lowest of 67 s"):  # two means tell too much
        assert table[kind]["series"][1] > table[kind]["lte"][1] + 5
    for name in ("markov", "lte", "leo"):  # trusted, it is too much every third time
        assert table["mean 67 s, last"][name][1] > 33


@pytest.fixture(scope="module")
def study() -> ModuleType:
    spec = importlib.util.spec_from_file_location("scone_study", FOLDER / "study.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_run_of_the_study_can_be_done(study: ModuleType, tmp_path: Path) -> None:
    for model in ("lte", "leo"):
        (tmp_path / f"{model}.trace").write_text("1s 1mbit\n")
    for link, client in study.cells():
        scenario = load_scenario(*study.scenario_of(link, client, tmp_path, 20, 1))
        flows = [flow.name for flow in scenario.flows]
        assert flows == ["server", "video"] + ["download"] * (link == "shared")
    assert {client for _, client in study.cells()} == set(study.STUDY["clients"])
    assert {link for link, _ in study.cells()} == set(study.STUDY["links"])


def test_seeds_of_the_study_differ(study: ModuleType, tmp_path: Path) -> None:
    for link in ("policy", "policer", "series"):
        client = next(client for name, client in study.cells() if name == link)
        made = {str(study.scenario_of(link, client, tmp_path, 20, seed)) for seed in range(1, 6)}
        assert len(made) == 5


def test_differences_are_of_the_same_seeds(
    study: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seeds that differ much do not hide that a client is always 10 kbit/s better."""
    rates = {"QUIC, no advice": [100.0, 900.0], "told": [110.0, 910.0]}
    study.show({("lte", c): [{"mean_kbit": v} for v in vs] for c, vs in rates.items()})
    *_, last = capsys.readouterr().out.splitlines()
    assert last.split() == "mean_kbit 510 +- 5.08e+03 differs by 10 +- 0".split()


def test_studies_for_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three views of the same films, each of which can be made."""
    monkeypatch.setattr(studies, "STUDIES", TOP / "Documentation/examples/studies")
    build = Build(Mock(spec=Kernel), "digest")
    keys = []
    for name in ("scone/film", "scone/film-lost", "scone/film-switches"):
        points = points_of(name, build)
        assert {cell.flow for point in points for cell in point.cells} == {"video"}
        assert {cell.x for cell in points_of(name, build, quick=True)[0].cells} == {"nothing"}
        keys.append({point.key for point in points})
    assert len(keys[0]) == 18 and keys[0] == keys[1] == keys[2]


@pytest.mark.guest
@pytest.mark.slow
def test_a_run_of_the_study(study: ModuleType, tmp_path: Path) -> None:
    numbers = study.run("policy", "TCP ratcp", tmp_path, 20, 1)
    assert numbers["mean_kbit"] > 150
    assert numbers["advice"] == numbers["buffer_loss_%"] == numbers["policer_loss_%"] == 0
    assert numbers["queue_p95_ms"] < 100
