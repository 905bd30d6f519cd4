# SPDX-License-Identifier: GPL-2.0
"""The report: what it shows of studies whose results are made by hand here."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from wale_lab.cli import main as wale_lab
from wale_lab.report import figures
from wale_lab.report.page import build
from wale_lab.report.tables import NO_REASON, matrices
from wale_lab.studies import compare
from wale_lab.studies.results import Point, ResultError, read_studies, read_study

HEADER = "row,x,published,published_kind,measured,ci95,model,unit,note"

TABLE = """
beta1,0.0,99.60,analysis,99.98,0.0,98.86,kB/s,
beta1,0.0,99.52,experiment,99.98,0.0,98.86,kB/s,
beta1,0.1,74.75,analysis,76.35,0.214,74.55,kB/s,
beta1,0.1,69.24,experiment,76.35,0.214,74.55,kB/s,one packet of backlog
beta1,2,24.70,analysis,26.16,0.0004,24.96,kB/s,
beta1,2,23.97,experiment,,,24.96,kB/s,
tcp,0.0,86.34,analysis,82.30,0.1,86.01,kB/s,
tcp,0.0,82.44,experiment,82.30,0.1,86.01,kB/s,
tcp,0.1,68.75,analysis,65.77,0.1,,kB/s,
tcp,0.1,59.52,experiment,65.77,0.1,,kB/s,unlucky & <low>
tcp,2,24.37,analysis,24.61,0.1,24.43,kB/s,
tcp,2,24.24,experiment,24.61,0.1,24.43,kB/s,
delayed,0.1,,,70.55,,,kB/s,
delayed,2,,,22.39,,,kB/s,
"""

ABOUT: dict[str, Any] = {
    "source": "Someone (2005)",
    "question": "How much?",
    "finding": "First paragraph.\n\nSecond paragraph.",
    "plot": "lines",
    "command": "wale-lab study",
    "digest": "ab" * 32,
    "seeds": [1, 2, 3, 7],
    "kernel": "6.12.117",
    "virtual_s": 7500,
    "wall_s": 60.5,
    "runs": 12,
}

STUDIES: dict[str, dict[str, Any]] = {
    "paper/table1": {
        "title": "Table I <of> numbers & more",
        "order": 10,
        "x": {"label": "Arrival rate", "unit": "1/s", "scale": "log"},
        "y": {"label": "Throughput", "unit": "kB/s"},
        "rows": {
            "beta1": {"label": "RATCP, β = 1"},
            "tcp": {"label": "TCP"},
            "delayed": {"label": "RATCP, delayed ACKs", "kind": "variant"},
        },
        "panels": [
            {"title": "Published", "rows": ["beta1", "tcp"]},
            {"title": "Ours", "rows": ["delayed"], "ylim": [0, 120]},
        ],
        "checks": [
            {"text": "rows are near", "passed": True, "value": "3.1 %"},
            {"text": "cells are near", "passed": False, "value": "5.9 %"},
            {"text": "rows differ", "passed": False, "known": "a reason", "value": "9 %"},
            {"text": "asked of full runs", "passed": None},
        ],
    },
    "paper/fig8": {
        "title": "Fig. 8",
        "order": 20,
        "plot": "bars",
        "quick": True,
        "x": {"label": "Sessions", "scale": "category"},
        "y": {"label": "Throughput", "unit": "kB/s"},
        "rows": {"near": {"label": "100 ms"}, "far": {"label": "200 ms"}},
    },
    "paper/fig12": {
        "title": "Fig. 12",
        "order": 30,
        "plot": "curves",
        "x": {"label": "Time", "unit": "s"},
        "y": {"label": "Bytes", "unit": "kB"},
        "rows": {"tcp": {"label": "TCP"}},
    },
    "paper/fig1": {
        "title": "Fig. 1",
        "order": 1,
        "plot": "diagram",
        "diagram": "queueing_model",
        "runs": 0,
    },
    "paper/long": {
        "title": "Many values",
        "order": 40,
        "plot": "table",
        "x": {"label": "Load"},
        "y": {"label": "Sent again", "unit": "byte"},
        "rows": {"tcp": {"label": "TCP"}},
    },
}

SUMMARIES = {
    "paper/table1": TABLE.strip(),
    "paper/fig8": "near,RATCP,,,49.90,0.3,,kB/s,\nfar,RATCP,,,48.90,0.3,,kB/s,\n"
    "near,TCP,60,experiment,64.50,0.3,,kB/s,\nfar,TCP,,,26.40,0.3,50,kB/s,",
    "paper/long": "\n".join(f"tcp,{n / 16},,,{1000 * n},,,byte," for n in range(1, 15)),
}

CURVES = "row,curve,x,y\ntcp,1,0,0\ntcp,1,1,60\ntcp,2,0.5,0\ntcp,2,2.5,240\n"


def write_study(results: Path, study: str, **changes: Any) -> Path:
    """Write one of the studies above, with changes to its study.json."""
    folder = results / study
    folder.mkdir(parents=True, exist_ok=True)
    about = {**ABOUT, "name": study, **STUDIES[study], **changes}
    (folder / "study.json").write_text(json.dumps(about), encoding="utf-8")
    if study in SUMMARIES:
        (folder / "summary.csv").write_text(f"{HEADER}\n{SUMMARIES[study]}\n", encoding="utf-8")
    if study == "paper/fig12":
        (folder / "curves.csv").write_text(CURVES, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of all studies above."""
    folder = tmp_path_factory.mktemp("results")
    for name in STUDIES:
        write_study(folder, name)
    return folder


@pytest.fixture(scope="module")
def out(results: Path) -> Path:
    """The folder of the report on them."""
    build(results, results / "report")
    return results / "report"


VOID = {"meta", "img", "br", "link", "hr", "input"}


@dataclass
class Element:
    """An element of a page."""

    name: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    def all(self, name: str) -> Iterator[Element]:
        """Elements of a name below this one."""
        for child in self.children:
            if isinstance(child, Element):
                if child.name == name:
                    yield child
                yield from child.all(name)

    @property
    def text(self) -> str:
        """What it says, with single, common spaces."""
        parts = [child if isinstance(child, str) else child.text for child in self.children]
        return " ".join(" ".join(parts).split())

    @property
    def rows(self) -> list[list[str]]:
        """The cells of a table."""
        cells = [[c for c in row.children if isinstance(c, Element)] for row in self.all("tr")]
        return [[cell.text for cell in row] for row in cells]


class Page(HTMLParser):
    """Parses a page; an end without its beginning, or the other way round, is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.root = Element("page", {})
        self._open = [self.root]
        self.feed(text)
        self.close()
        assert self._open == [self.root], f"never closed: {self._open[-1].name}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute twice: {tag} {names}"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].name == tag, f"</{tag}> at line {self.getpos()[0]}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)


@pytest.fixture(scope="module")
def page(out: Path) -> Element:
    return Page((out / "index.html").read_text(encoding="utf-8")).root


def section(page: Element, name: str) -> Element:
    """The part of the page on a study, or its overview."""
    return next(s for s in page.all("section") if s.attributes["id"] == name)


def table_of(part: Element, css: str) -> Element:
    return next(t for t in part.all("table") if t.attributes.get("class") == css)


# What is on the page


def test_every_number_of_every_summary(page: Element, results: Path) -> None:
    for study in read_studies(results):
        if not study.points:
            continue
        head, *rows = table_of(section(page, study.slug), "list").rows
        assert len(rows) == len(study.points)
        lines = [dict(zip(head, row, strict=True)) for row in rows]
        shown = {(*list(line.values())[:2], line.get("kind", "")): line for line in lines}
        for point in study.points:
            kind = point.kind if point.published is not None else ""
            line = shown[study.label(point.row), point.x, kind]
            for name in ("published", "measured", "model"):
                value = getattr(point, name)
                text = line.get(name, "–").replace(" ", "")
                if value is None:
                    assert text == "–"
                else:
                    assert float(text) == pytest.approx(value, abs=0.006)
            assert point.note in line["note"]


def test_a_study_with_nothing_published(tmp_path: Path) -> None:
    """What was measured is counted, and no comparison spoken of."""
    write_study(tmp_path, "paper/long", checks=[])
    index = build(tmp_path, tmp_path / "report")
    (root,) = Page(index.read_text(encoding="utf-8")).root.all("body")
    assert [title.text for title in root.all("h1")] == ["Measured"]
    assert "numbers measured 14 in 1 study" in root.text
    for word in ("compared", "ublished", "agree", "checks 0", "make report"):
        assert word not in root.text
    table = table_of(section(root, "overview"), "overview").rows
    assert [len(row) for row in table] == [3, 3]
    assert table[1][1] == "14 points measured"
    assert "testbed/wale-lab report makes this page" in root.text


def test_a_line_of_the_list(page: Element) -> None:
    lines = table_of(section(page, "paper-table1"), "list").rows
    assert lines[4] == [
        "RATCP, β = 1", "0.1", "69.24", "experiment", "76.35", "0.21", "▲ +10.3",
        "74.55", "▲ +7.7", "kB/s", "one packet of backlog",
    ]  # fmt: skip


def test_matrix_has_published_over_measured_over_deviation(page: Element) -> None:
    tables = [t for t in section(page, "paper-table1").all("table") if "class" not in t.attributes]
    assert len(tables) == 3  # analysis, experiment, and what was not published
    head, *rows = tables[0].rows
    assert head == ["", "", "0", "0.1", "2", "mean, absolute"]
    assert rows[0] == ["RATCP, β = 1", "published", "99.60", "74.75", "24.70", ""]
    assert rows[1] == ["measured", "99.98", "76.35", "26.16", ""]
    assert rows[2] == ["± 95 %", "0.00", "0.21", "<0.01", ""]
    assert rows[3] == ["deviation, %", "+0.4", "+2.1", "▲ +5.9 a", "2.8"]
    assert rows[4] == ["model", "98.86", "74.55", "24.96", ""]
    assert rows[5] == ["its deviation, %", "−0.7", "−0.3", "+1.1", "0.7"]
    assert tables[2].rows[1:] == [
        ["RATCP, delayed ACKs variant", "measured", "–", "70.55", "22.39"]
    ]


def test_gaps_stay_gaps(page: Element, results: Path) -> None:
    tables = [t for t in section(page, "paper-table1").all("table") if "class" not in t.attributes]
    measured, _, deviations, model = tables[1].rows[2:6]
    assert measured == ["measured", "99.98", "76.35", "–", ""]
    assert deviations == ["deviation, %", "+0.5", "▲ +10.3 a", "–", "5.4"]
    assert model[0] == "model"
    assert tables[0].rows[11][:4] == ["model", "86.01", "–", "24.43"]
    figure = figures.draw(read_study(results / "paper/table1"))
    assert figure is not None
    lines = [line.get_ydata() for line in figure.axes[0].get_lines()]
    assert any(len(y) == 3 and math.isnan(y[1]) and y[0] == 86.01 for y in lines)


def test_beyond_the_band_is_marked_and_has_its_reason(page: Element) -> None:
    part = section(page, "paper-table1")
    notes = [note.text for note in part.all("li") if note.attributes.get("id", "").startswith("p")]
    assert notes == [f"a {NO_REASON}", "a one packet of backlog", "b unlucky & <low>"]
    marked = [s.text for s in part.all("span") if s.attributes.get("class") == "beyond"]
    assert "▲ +10.3" in marked
    assert not any("+4." in text for text in marked)
    assert "2 without a reason" in page.text


def test_overview(page: Element) -> None:
    overview = section(page, "overview")
    rows = table_of(overview, "overview").rows
    analysis = next(row for row in rows if "Table I <of> numbers & more" in row[0])
    assert analysis[1:7] == ["analysis", "6", "3.1", "+5.9", "RATCP, β = 1 at 2", "4 of 5"]
    assert analysis[7:9] == ["1", "1"]
    experiment = rows[rows.index(analysis) + 1]
    assert experiment[:4] == ["experiment", "5", "4.6", "+10.5"]
    assert [row[0] for row in rows if "diagram" in row] == ["Fig. 1 Someone (2005)"]
    assert "2 curves measured" in overview.text
    assert "14 points measured, no numbers published" in overview.text


@pytest.mark.parametrize(
    ("published", "measured", "agrees"),
    [
        ({"simulation": 100}, 110, True),
        ({"simulation": 100}, 110.1, False),
        ({"simulation": 100, "analysis": 130}, 75, True),  # as near as the authors' own
        ({"experiment": 100, "analysis": 130}, 131, False),
        ({"analysis": 100}, 111, False),
        ({"analysis": 100}, 91, True),
        ({"": 100}, 91, True),
        ({"simulation": 0}, 1, None),
        ({"simulation": 100}, None, None),
        ({}, 100, None),
    ],
)
def test_a_cell_agrees(
    published: dict[str, float], measured: float | None, agrees: bool | None
) -> None:
    def point(kind: str, value: float | None) -> Point:
        return Point("row", "1", value, kind, measured, None, None, "", "", ())

    points = [point(kind, value) for kind, value in published.items()] or [point("", None)]
    assert compare.cell_agrees(points) is agrees


def test_failing_checks_are_seen(page: Element) -> None:
    alarms = [p.text for p in page.all("p") if p.attributes.get("class") == "alarm"]
    assert alarms == [
        "✗ 1 of 3 checks failed: Table I <of> numbers & more .",
        "✗ 1 of 3 checks failed , see below.",
    ]
    items = [li.text for li in section(page, "paper-table1").all("li")]
    assert items[-4:] == [
        "✓ passed rows are near 3.1 %",
        "✗ failed cells are near 5.9 %",
        "○ known not to hold rows differ 9 % a reason",
        "not asked asked of full runs",
    ]
    assert "✗ 1 failed" in section(page, "overview").text


def test_a_page_without_failures_has_no_alarm(tmp_path: Path) -> None:
    write_study(tmp_path, "paper/fig8")
    page = Page(build(tmp_path, tmp_path / "report").read_text(encoding="utf-8")).root
    assert not [p for p in page.all("p") if p.attributes.get("class") == "alarm"]


def test_quick_studies_are_labelled(page: Element) -> None:
    assert "1 of 5 studies ran in quick form" in page.text
    assert "quick" in section(page, "paper-fig8").text
    assert "quick" not in section(page, "paper-table1").text


def test_how_to_repeat_it(page: Element) -> None:
    text = section(page, "paper-table1").text
    for words in ("wale-lab study", "12 , seeds 1 to 3, 7", "Linux 6.12.117", "ab" * 32):
        assert words.replace(" ,", ",") in text.replace(" ,", ",")
    assert "2 h 5 min virtual, 60.5 s of wall time" in text
    assert [p.text for p in section(page, "paper-table1").all("p")][2:4] == [
        "First paragraph.",
        "Second paragraph.",
    ]


def test_many_values_of_x_are_listed_alone(page: Element) -> None:
    part = section(page, "paper-long")
    assert [t.attributes.get("class") for t in part.all("table")] == ["list"]
    assert "open" in next(part.all("details")).attributes
    assert "open" not in next(section(page, "paper-table1").all("details")).attributes
    assert "14 000" in part.text


def test_order_of_studies(page: Element) -> None:
    names = [s.attributes["id"] for s in page.all("section")]
    assert names == "overview paper-fig1 paper-table1 paper-fig8 paper-fig12 paper-long".split()


# The page as a document


def test_loads_nothing(page: Element, out: Path) -> None:
    text = (out / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"https?:|//\w+\.\w|@import|url\(", text)
    for name in ("script", "link", "iframe", "object"):
        assert not list(page.all(name))
    for image in page.all("img"):
        assert image.attributes["src"].startswith("data:image/svg+xml;base64,")
        assert image.attributes["alt"]
    links = [a.attributes["href"] for a in page.all("a")]
    for link in links:
        assert link.startswith("#") or (out / link).is_file(), link
    assert "paper-table1.csv" in links


def test_identifiers(page: Element) -> None:
    def below(element: Element) -> Iterator[Element]:
        for child in element.children:
            if isinstance(child, Element):
                yield child
                yield from below(child)

    named = [e.attributes["id"] for e in below(page) if "id" in e.attributes]
    assert len(named) == len(set(named))
    wanted = {a.attributes["href"][1:] for a in page.all("a") if a.attributes["href"][0] == "#"}
    assert wanted - set(named) == set()


def test_same_results_give_same_bytes(results: Path, out: Path, tmp_path: Path) -> None:
    build(results, tmp_path)
    names = sorted(path.name for path in out.iterdir())
    assert names == sorted(path.name for path in tmp_path.iterdir())
    assert [n for n in names if (out / n).read_bytes() != (tmp_path / n).read_bytes()] == []


def test_files(out: Path) -> None:
    drawn = ["deviations", "paper-fig1", "paper-fig12", "paper-fig8", "paper-table1"]
    assert sorted(p.stem for p in out.glob("*.svg")) == drawn
    assert sorted(p.stem for p in out.glob("*.png")) == drawn
    for name in drawn:
        svg = (out / f"{name}.svg").read_text(encoding="utf-8")
        width_in = float(re.findall(r'width="([\d.]+)pt"', svg)[0]) / 72
        width = int.from_bytes((out / f"{name}.png").read_bytes()[16:20], "big")
        assert width == pytest.approx(width_in * 200, abs=1.1)
        assert "<dc:date>" not in svg


def test_csv(out: Path) -> None:
    with (out / "summary.csv").open(encoding="utf-8", newline="") as file:
        everything = list(csv.DictReader(file))
    assert {line["study"] for line in everything} == set(SUMMARIES)
    assert len(everything) == 14 + 4 + 14
    line = everything[3]
    assert (line["row"], line["x"], line["published"]) == ("beta1", "0.1", "69.24")
    assert float(line["deviation_percent"]) == pytest.approx(100 * (76.35 / 69.24 - 1), abs=1e-3)
    assert float(line["model_deviation_percent"]) == pytest.approx(7.669, abs=1e-3)
    assert everything[5]["deviation_percent"] == ""
    with (out / "paper-table1.csv").open(encoding="utf-8", newline="") as file:
        assert [{"study": "paper/table1", **row} for row in csv.DictReader(file)] == everything[:14]
    assert (out / "paper-fig12-curves.csv").read_text().splitlines()[-1] == "tcp,2,2.5,240.0"


# Plots


def test_rows_differ_without_colour(results: Path) -> None:
    figure = figures.draw(read_study(results / "paper/table1"))
    assert figure is not None
    axes = figure.axes[0]
    looks = {(h.get_marker(), h.get_linestyle()) for h in axes.get_legend().legend_handles}
    assert len(looks) == 2
    marks = [line for line in axes.get_lines() if line.get_markerfacecolor() == "none"]
    assert {line.get_marker() for line in marks} == {"o", "s"}  # published: open
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == [
        "published analysis",
        "published experiment",
        "measured, 95 % interval",
        "model",
        "no model: marks joined",
    ]
    assert axes.get_ylabel() == "Throughput, kB/s"
    assert axes.get_xlabel() == "Arrival rate, 1/s"


def test_zero_on_a_logarithmic_axis(results: Path, tmp_path: Path) -> None:
    figure = figures.draw(read_study(results / "paper/table1"))
    assert figure is not None
    assert figure.axes[0].get_xscale() == "symlog"
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()] == ["0", "0.1", "2"]
    folder = write_study(tmp_path, "paper/table1")
    lines = [line for line in TABLE.split() if ",0.0," not in line]
    (folder / "summary.csv").write_text("\n".join([HEADER, *lines[:2]]) + "\n")
    figure = figures.draw(read_study(folder))
    assert figure is not None
    assert figure.axes[0].get_xscale() == "log"


def test_limits_of_a_panel(results: Path) -> None:
    figure = figures.draw(read_study(results / "paper/table1"))
    assert figure is not None
    assert figure.axes[1].get_ylim() == (0, 120)
    low, high = figure.axes[0].get_ylim()
    assert low == 0
    assert 100 < high < 110


# Numbers


@pytest.mark.parametrize(
    ("value", "published", "percent"),
    [(110, 100, 10), (90, 100, -10), (-9, -10, 10), (1, 0, None), (None, 1, None), (1, None, None)],
)
def test_deviation(value: float | None, published: float | None, percent: float | None) -> None:
    assert compare.deviation(value, published) == (percent and pytest.approx(percent))


def test_band() -> None:
    assert not compare.beyond(5.0)
    assert compare.beyond(-5.01)
    assert not compare.beyond(None)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (82.3, 2, "82.30"),
        (-4.25, 1, "−4.2"),
        (0.0, 2, "0.00"),
        (0.012345, 2, "0.012"),
        (1234.5, 0, "1234"),
        (12345.6, 1, "12\N{NARROW NO-BREAK SPACE}345.6"),
    ],
)
def test_number(value: float, digits: int, text: str) -> None:
    assert compare.number(value, digits) == text


def test_places() -> None:
    assert compare.places([100, 27, 52, None]) == 2
    assert compare.places([0.93, 0.87, 1.0]) == 4
    assert compare.places([12_000, 800, 90_000]) == 0
    assert compare.places([None, 0.0]) == 0


def test_percentage() -> None:
    assert [compare.percentage(v) for v in (3.04, -8.06, 0.04, -0.04)] == [
        "+3.0",
        "−8.1",
        "0.0",
        "0.0",
    ]


def test_footnotes_beyond_the_alphabet(tmp_path: Path) -> None:
    folder = write_study(tmp_path, "paper/long")
    lines = [f"tcp,{n},10,analysis,10,,,byte,note {n}" for n in range(10)]
    lines += [f"tcp,{n},10,experiment,10,,,byte,note {n + 10}" for n in range(10)]
    (folder / "summary.csv").write_text("\n".join([HEADER, *lines]) + "\n")
    first, second = matrices(read_study(folder))
    assert list(first.notes.values()) == list("abcdefghij")
    assert list(second.notes) == [f"note {n}" for n in range(10, 20)]


# What is wrong is said


def wrong(tmp_path: Path, study: str = "paper/table1", **changes: Any) -> str:
    """What is said of results with changes."""
    write_study(tmp_path, study, **changes)
    with pytest.raises(ResultError) as error:
        build(tmp_path, tmp_path / "report")
    return str(error.value)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nobody,1,1,analysis,1,,,kB/s,", "row: expected one of study.json's, got 'nobody'"),
        ("tcp,fast,1,analysis,1,,,kB/s,", "x: expected a number or nothing, got 'fast'"),
        ("tcp,,1,analysis,1,,,kB/s,", "x: expected a number"),
        ("tcp,1,1,analysis,much,,,kB/s,", "measured: expected a number or nothing, got 'much'"),
        ("tcp,1,1,analysis,inf,,,kB/s,", "measured: expected a number or nothing, got 'inf'"),
        ("tcp,2,1,analysis,1,,,kB/s,", "a second line for row 'tcp', x '2', kind 'analysis'"),
        ("tcp,1", "expected 9 columns"),
    ],
)
def test_wrong_lines(tmp_path: Path, line: str, said: str) -> None:
    folder = write_study(tmp_path, "paper/table1")
    with (folder / "summary.csv").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(ResultError, match=re.escape(f"summary.csv, line 16: {said}")):
        read_study(folder)


def test_missing_column(tmp_path: Path) -> None:
    folder = write_study(tmp_path, "paper/table1")
    (folder / "summary.csv").write_text("row,x,published\n")
    with pytest.raises(ResultError, match=r"expected the columns row,x,.*; no published_kind"):
        read_study(folder)


def test_wrong_study(tmp_path: Path) -> None:
    assert "plot: Input should be 'lines', 'bars'" in wrong(tmp_path, plot="pie")
    assert "name: expected paper/table1" in wrong(tmp_path, name="paper/other")
    rows = [{"rows": ["tcp", "beta1"]}]
    assert "panels: expected every row in one, 'delayed' is in none" in wrong(tmp_path, panels=rows)
    assert "panels: expected names of rows, got 'x'" in wrong(tmp_path, panels=[{"rows": ["x"]}])
    (tmp_path / "paper/table1/study.json").write_text("{")
    with pytest.raises(ResultError, match=r"study\.json: expected JSON"):
        read_studies(tmp_path)


def test_unknown_diagram(tmp_path: Path) -> None:
    said = wrong(tmp_path, "paper/fig1", diagram="cat")
    assert said == "diagram: expected one of queueing_model, got 'cat'"


def test_command(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert wale_lab(["report", "--results", str(results), "--out", str(tmp_path / "page")]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/page/index.html\n"
    assert (tmp_path / "page/index.html").is_file()
    assert wale_lab(["report", "--results", str(tmp_path)]) == 2
    assert "expected results of studies, PAPER/STUDY/study.json" in capsys.readouterr().err
