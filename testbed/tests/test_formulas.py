# SPDX-License-Identifier: GPL-2.0
"""The page that compares formulas with measurements (report/formulas.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wale_lab.report import formulas
from wale_lab.report.formulas import Formula, Range
from wale_lab.studies.results import ResultError
from wale_lab.studies.study import load_study
from wale_lab.tree import PACKAGE

TOP = Path(__file__).resolve().parents[2]

HEADER = "row,x,published,published_kind,measured,ci95,model,unit,note\n"

#: Table II: the formula gives 0.4906 for Tahoe with beta = 0.1.
FORMULA = Formula(
    name="One",
    source="A paper, (1)",
    code="models/one.py",
    ranges=[Range(where="small", study="lakshman-madhow/table2", rows=["tahoe"], x=[0.1, 0.8])],
    trust="Trust it.",
)


def write_results(folder: Path, summary: str, **changed: Any) -> Path:
    about = {
        "name": "lakshman-madhow/table2",
        "title": "t",
        "source": "s",
        "question": "q",
        "plot": "lines",
        "command": "c",
        "kernel": "6.12.9",
        "rows": {"tahoe": {"label": "Tahoe"}, "reno": {"label": "Reno"}},
        **changed,
    }
    (folder / about["name"]).mkdir(parents=True)
    (folder / about["name"] / "study.json").write_text(json.dumps(about))
    (folder / about["name"] / "summary.csv").write_text(HEADER + summary)
    return folder


def test_deviations_of_model_and_authors(tmp_path: Path) -> None:
    model = formulas.computed(FORMULA.ranges[0])
    at_small, at_large = model["tahoe", "0.1"], model["tahoe", "0.8"]
    summary = (
        f"tahoe,0.1,0.5,simulation,{at_small / 1.2},,,,\n"
        f"tahoe,0.1,0.4,analysis,{at_small / 1.2},,,,\n"
        f"tahoe,0.8,,,{at_large / 0.95},,,,\n"
    )
    page = formulas.render([FORMULA], write_results(tmp_path, summary))
    line = "   small,2,12.5 %,+20.0 %,1,20.0 %,−20.0 %,``lakshman-madhow/table2``"
    assert line in page.splitlines()
    assert page.endswith("Trust it.\n")
    assert "6.12.9" in page


def test_other_arguments_than_the_study_s() -> None:
    chain = Range(where="", study="lakshman-madhow/table3", rows=["tahoe_08"], x=[0.001])
    arguments = {"tahoe_08": {"of": "loss", "tcp": "tahoe", "beta": 0.8, "by": "formula"}}
    formula = chain.model_copy(update={"rows": arguments})
    (cell,) = formulas.computed(chain)
    assert formulas.computed(chain)[cell] != formulas.computed(formula)[cell]


@pytest.mark.parametrize(
    ("summary", "changed", "message"),
    [
        ("tahoe,0.1,,,0.5,,,,\n", {"quick": True}, "in full, got those of --quick"),
        ("tahoe,0.1,,,0.5,,,,\n", {}, "tahoe at 0.8: expected a measured value"),
    ],
)
def test_results_that_cannot_be_compared(
    tmp_path: Path, summary: str, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(ResultError, match=message):
        formulas.render([FORMULA], write_results(tmp_path, summary, **changed))


def test_no_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert formulas.main([str(tmp_path)]) == 1
    assert "wale-lab study" in capsys.readouterr().err
    assert formulas.main([]) == 2


def test_a_row_without_a_model() -> None:
    with pytest.raises(ResultError, match="expected a row with a model, got 'tahoo'"):
        formulas.computed(Range(where="", study="lakshman-madhow/table2", rows=["tahoo"]))


@pytest.mark.slow
def test_every_formula_names_what_is_there() -> None:
    for formula in formulas.load_formulas():
        assert (PACKAGE / formula.code).exists(), formula.code
        assert formula.trust.strip(), formula.name
        for of in formula.ranges:
            assert set(of.x) <= {*load_study(of.study).x.values, *load_study(of.study).x.means}
            assert formulas.computed(of)


def test_page_of_the_tree_is_made_so() -> None:
    page = (TOP / "Documentation/formulas.rst").read_text()
    found = formulas.load_formulas()
    assert [f.name for f in found if f"\n{f.name}\n===" not in page] == []
    words = " ".join(page.split())
    assert [f.name for f in found if " ".join(f.trust.split()) not in words] == []
    assert page.count(",``") == sum(len(f.ranges) for f in found)
