# SPDX-License-Identifier: GPL-2.0
"""Studies: what one may say, and the runs that follow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from study_cases import BUILD, LINK, STUDY, changed
from wale_lab.errors import ScenarioError
from wale_lab.studies.command import wall_limit_s
from wale_lab.studies.points import CODE, Build, Point, points_of
from wale_lab.studies.study import Study, find_studies, load_published, load_study, study_names
from wale_lab.tree import PACKAGE

# What a study may say.


def test_the_example_study_is_right(paper: Path) -> None:
    one = load_study("paper/one")
    assert list(one.rows()) == ["slow", "fast"]
    assert [p.value for p in load_published("paper/one", one)] == [100, 90, 200]


def test_each_study_has_a_place_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of one table or figure may share it."""
    monkeypatch.delenv("WALE_STUDIES", raising=False)
    places: dict[tuple[str, int], str] = {}
    for name in study_names():
        paper, _, own = name.partition("/")
        of = own.partition("-")[0]
        assert places.setdefault((paper, load_study(name).order), of) == of, name


def test_what_is_known_not_to_hold_is_in_the_documentation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WALE_STUDIES", raising=False)
    page = (Path(__file__).parents[2] / "Documentation/reproduction.rst").read_text()
    said = page.partition("Some checks of the studies do not hold")[2].partition("\n\n")[0]
    known = {n for n in study_names() if any(c.known for c in load_study(n).checks)}
    assert {n for n in study_names() if re.search(rf"[\s`]{n}[,`]", said)} == known


WRONG = {
    "unknown key": ("seeds: 3", "seed: 3", r"one.yaml:7: seed: unknown key; expected one of .*se"),
    "no seeds": ("seeds: 3", "seeds: 0", r":7: seeds: expected greater than or equal to 1, got 0"),
    "forgotten": ("rows: [slow, fast]}", "rows: [slow]}", r":9: panels: expected every row in one; fast"),
    "interval": ("at_least: 1}", "interval: 1, value: model}", r":22: checks.0: .*a model has none"),
    "no flow": (", cc: reno}", "}", r":17: runs.only.rows.slow: expected either flow .*, cc "),
    "both": ("cc: reno}", "cc: reno, flow: reno}", r":17: runs.only.rows.slow: expected either fl"),
    "panel": ("[slow, fast]", "[slow, quick]", r":10: panels.0.rows.1: .*slow, fast, got 'quick'"),
    "note": ("rows: [slow], x: [1], text", "rows: [a], x: [1], text", r":20: notes.0.rows.0: .*'a'"),
    "note's x": ("x: [1], text", "x: [1.5], text", r":20: notes.0.x: expected one of 1, 2, 4, got"),
    "check": ("rows: [slow], x: [1, 2]", "rows: [a]", r":22: checks.0.rows.0: expected one of slow"),
    "x": ("x: [1, 2]", "x: [3]", r":22: checks.0.x: expected one of 1, 2, 4, got 3"),
    "known": ("at_least: 1}", "at_least: 1, known: {at_least: 0}}", r"expected known to say why"),
    "known as": ("at_least: 1}", "at_least: 1, known: {why: so}}", r":22: checks.0: .*different in"),
    "known x": ("at_least: 1}", "at_least: 1, known: {why: so, a: 1}}", r"known too; known.a"),
    "but": ("x: [1, 2]", "but: {a: [1]}", r":22: checks.0.but.a: expected one of slow, fast"),
    "but's x": ("x: [1, 2]", "but: {slow: [8]}", r":22: checks.0.but.slow: .* 1, 2, 4, got 8"),
    "ratio": ("x: [1, 2]", "ratio: a", r":22: checks.0.ratio: expected one of slow, fast, got 'a'"),
    "over": ("x: [1, 2]", "over: 0", r":22: checks.0.over: expected one of 1, 2, 4, got 0"),
    "no bound": (", at_least: 1", "", r":22: checks.0: expected each or mean with `to`, at_least"),
    "limit": ("to: analysis, ", "", r":23: checks.1: expected each or mean with `to`"),
    "two kinds": ("each: 5", "each: 5, at_most: 1", r":23: checks.1: expected each or mean"),
    "ratio and to": ("to: analysis", "to: analysis, ratio: slow", r":23: checks.1: expected ratio"),
    "itself": ("to: analysis", "to: measured", r":23: checks.1: expected `value: model`"),
    "interval and": (", at_least: 1", ", at_least: 1, interval: 5", r":22: checks.0: .* interval alone"),
    "kind": ("to: analysis", "to: guess", r":23: checks.1.to: .* analysis, experiment, measured"),
    "quick": ("quick: null", "quick: {best: 1}", r":23: checks.1: expected a check .*quick.best"),
    "quick's x": ("  x: [1]\n", "  x: [1.5]\n", r":25: quick.x: expected one of 1, 2, 4, got 1.5"),
    "quick's rows": ("  rows: [slow]\n", "  rows: [a]\n", r":26: quick.rows.0: .* fast, slow, got"),
    "show": ("seeds: 3", "show: [a]", r":7: show.0: expected one of fast, slow, got 'a'"),
    "measure": ("_kBps}", "}", r":6: y.measure: expected one of throughput_kBps, .*'throughput'"),
    "model": ("seeds: 3", "model: {name: a}", r":7: model.name: expected one of karnik-kumar"),
    "words": ("[1, 2, 4]", "[a, b]", r":25: quick.x: expected one of a, b, got 1"),
    "number": ('"{x}mbit"', "1e6", r":14: .*rate: expected a text with {x} or {seed}, got '1e6'"),
    "text": ('"{x}mbit"', '"{y}mbit"', r":14: runs.only.vary.bottleneck.forward.rate: .*{x} or"),
    "diagram": ("order: 1", "order: 1\nplot: diagram", r":4: plot: expected diagram, the name"),
    "curves": ("order: 1", "order: 1\nplot: curves", r":4: plot: expected a curve or a model of"),
    "column": (", cc: reno}", ", cc: reno, curve: {column: a}}", r":17: .*curve: .*, got 'a'"),
    "like": ("seeds: 3", "like: two", r":7: like: expected one of .*, got 'two'"),
    "like itself": ("seeds: 3", "like: one", r":7: like: expected one of .*, got 'one'"),
    "at": ("seeds: 3", "at: {3: {flows: 2}}", r":7: at.3: expected one of 1, 2, 4, got '3'"),
    "flows at": ("seeds: 3", "at: {1: {flows: 0}}", r":7: at.1.flows: expected a number of .*, got 0"),
    "flows of": (", cc: reno}", ", flow: a, flows: 2}", r":17: .*rows.slow: expected cc with flows"),
    "means": ("[1, 2, 4]", "[1, 2, 4], scale: category, means: {a: [1, 3]}", r"x.means.a: .* 1, 2, 4, got 3"),
    "words for means": ("[1, 2, 4]", "[1, 2, 4], means: {a: [1]}", r":5: x: expected scale category"),
    "a mean's x": ("[1, 2, 4]", "[1, 2, 4], scale: category, means: {a: [1]}", r"notes.0.x: .*one of a, got 1"),
    "file": ("one.csv", "two.csv", r"two\.csv: cannot be read"),
    "no YAML": ("x: {label", "x: [label", r"one.yaml:5: not valid YAML"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_with_its_line(paper: Path, case: str) -> None:
    old, new, message = WRONG[case]
    (paper / "one.yaml").write_text(changed((old, new)))
    with pytest.raises(ScenarioError, match=message):
        load_study("paper/one")


def test_numbers_are_wanted_of_x_where_it_is_multiplied(paper: Path) -> None:
    text = changed(
        ("[1, 2, 4]", "[a, b]"), ('"{x}mbit"', "1000000"), ("x: [1], text", "text"),
        ("x: [1, 2]", "x: [a]"), ("  x: [1]\n", "  x: [a]\n"), ("published: one.csv\n", ""),
        ("  - {text: near, rows: [slow], but: {slow: [4]}, to: analysis, each: 5, quick: null}\n", ""),
    )  # fmt: skip
    (paper / "one.yaml").write_text(text)
    with pytest.raises(ScenarioError, match=r"rate: expected numbers of x, .* got 'a'"):
        load_study("paper/one")


def test_a_row_is_in_one_run_only(paper: Path) -> None:
    text = changed(("notes:\n", "  more:\n    scenario: link.yaml\n    rows:\n      slow: "
                    "{label: Again, flow: reno}\nnotes:\n"))  # fmt: skip
    (paper / "one.yaml").write_text(text)
    with pytest.raises(ScenarioError, match=r"rows\.slow: expected a name that no other run has"):
        load_study("paper/one")


def test_a_flow_for_each_x(paper: Path) -> None:
    text = changed(("{label: Slow, cc: reno}", "{label: Slow, flow: {1: reno, 2: cubic}}"))
    (paper / "one.yaml").write_text(text)
    with pytest.raises(ScenarioError, match=r"rows\.slow\.flow: expected a flow for each x: 1, 2"):
        load_study("paper/one")
    text = text.replace("2: cubic}", "2: cubic, 4: reno}")
    text = text.replace("{label: Fast, cc: cubic}", "{label: Fast, flow: cubic}")
    (paper / "one.yaml").write_text(text)
    flows = {c.x: c.flow for p in points_of("paper/one", BUILD) for c in p.cells if c.row == "slow"}
    assert flows == {1: "reno", 2: "cubic", 4: "reno"}


def test_like_another_study(paper: Path) -> None:
    like = (
        "title: Another\nsource: nobody\norder: 2\nquestion: ''\nlike: one\nshow: [fast]\n"
        "x: {label: Rate}\ny: {label: Losses, measure: buffer_drops_per_1000}\n"
    )
    (paper / "two.yaml").write_text(like)
    two = load_study("paper/two")
    assert (two.seeds, two.x.values, list(two.rows())) == (3, [1, 2, 4], ["fast"])
    keys = [[p.key for p in points_of(f"paper/{n}", BUILD)] for n in ("one", "two")]
    assert keys[0] == keys[1]
    (paper / "two.yaml").write_text(like + "checks: [{text: t, rows: [slow], at_most: 1}]\n")
    with pytest.raises(ScenarioError, match=r"two.yaml:9: checks.0.rows.0: expected one of fast"):
        load_study("paper/two")
    (paper / "three.yaml").write_text(like.replace("like: one", "like: two"))
    with pytest.raises(ScenarioError, match=r"three.yaml:5: like: expected a study with runs"):
        load_study("paper/three")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("row,x,kind,value\nslow,1,analysis,much\n", r"one.csv:2: expected row,x,kind,value,note"),
        ("# a\nrow,x,kind\n# b\nslow,1,analysis\n", r"one.csv:4: expected row,x,kind,value,note"),
        ("row,x,kind,value\nslow,often,analysis,1\n", r"one.csv:2: expected row,x,kind,value,note"),
        ("row,x,kind,value\n\nslow,1,analysis,1\nslow,1.0,analysis,2\n", r"one.csv:4: .*not two"),
    ],
)
def test_published_values_that_are_none(paper: Path, text: str, message: str) -> None:
    (paper / "one.csv").write_text(text)
    with pytest.raises(ScenarioError, match=message):
        load_study("paper/one")


def test_names_of_studies(paper: Path) -> None:
    (paper / "two.yaml").write_text(STUDY)
    assert study_names() == ["paper/one", "paper/two"]  # link.yaml is a scenario
    assert find_studies(["paper/two", "paper/"]) == ["paper/two", "paper/one"]
    assert find_studies(["all"]) == ["paper/one", "paper/two"]
    with pytest.raises(ScenarioError, match=r"no study 'pape'; .wale-lab study --list. names"):
        find_studies(["pape"])
    (paper / "Three.yaml").write_text(STUDY)
    with pytest.raises(ScenarioError, match=r"Three.yaml: expected names .* small letters"):
        load_study("paper/Three")
    (paper / "four.yaml").write_bytes(b"title: \xff\n")
    with pytest.raises(ScenarioError, match=r"four.yaml"):
        load_study("paper/four")


# The runs.


def runs_of(name: str = "paper/one", quick: bool = False, build: Build = BUILD) -> list[Point]:
    return points_of(name, build, quick)


def test_a_slow_kernel_gets_more_time(paper: Path) -> None:
    point = runs_of()[0]
    assert wall_limit_s(point, BUILD) == point.scenario.wall_limit / 1e9 == 600
    kernel = replace(BUILD.kernel, flavour="san")
    assert wall_limit_s(point, replace(BUILD, kernel=kernel)) == 2400


def test_points(paper: Path) -> None:
    found = runs_of()
    assert [(p.cells[0].x, p.seed) for p in found] == [(x, s) for x in (1, 2, 4) for s in (1, 2, 3)]
    assert len({p.key for p in found}) == 9
    assert [(c.row, c.flow) for c in found[0].cells] == [("slow", "slow"), ("fast", "fast")]
    scenario = found[0].scenario
    assert [pair.name for pair in scenario.topology.pairs] == ["slow", "fast"]
    assert [(f.name, f.cc, f.size) for f in scenario.flows] == [
        ("slow", "reno", 50_000),
        ("fast", "cubic", 50_000),
    ]
    assert [p.scenario.bottleneck.forward.rate for p in found[::3]] == [10**6, 2 * 10**6, 4 * 10**6]


def test_what_a_row_says_of_its_hosts(paper: Path) -> None:
    row = "{label: Slow, cc: ratcp, profile: sack, advice: {rate: 1mbit, beta: 2}, receiver: {mtu: 600}}"
    (paper / "one.yaml").write_text(changed(("{label: Slow, cc: reno}", row)))
    scenario = runs_of()[0].scenario
    slow = scenario.hosts.pairs["slow"]
    assert slow.profile == "sack"
    assert slow.sender.advice is not None
    assert slow.sender.advice.beta == 2
    assert scenario.host_settings("slow", "receiver").mtu == 600
    assert scenario.host_settings("fast", "receiver").mtu != 600


def test_vary(paper: Path) -> None:
    vary = """
      bottleneck.forward.loss: 0.001
      bottleneck.forward.delay: "{x}{seed}ms"
      flow.start: 0.1"""
    (paper / "one.yaml").write_text(changed((' {bottleneck.forward.rate: "{x}mbit"}', vary)))
    found = runs_of()
    scenario = found[-1].scenario  # x = 4, seed 3
    assert scenario.bottleneck.forward.loss == pytest.approx(0.004, rel=1e-9)
    assert scenario.bottleneck.forward.delay == 43 * 10**6
    assert [f.start for f in scenario.flows] == [4 * 10**8, 4 * 10**8]


def test_flows_that_share_the_link(paper: Path) -> None:
    """A row of several flows, or with settings of its own, is alone in its runs."""
    slow = "{label: Slow, cc: reno, flows: 3, set: {bottleneck.forward.loss: 0.5}}"
    at = "{2: {flows: 4, flow.size: 9kB, bottleneck.forward.loss: 0.1, bottleneck.forward.delay: 3ms}}"
    (paper / "one.yaml").write_text(
        changed(("{label: Slow, cc: reno}", slow), ("seeds: 3", f"seeds: 1\nat: {at}"))
    )
    found = runs_of()
    assert [[c.row for c in p.cells] for p in found] == [["fast"], ["slow"]] * 3
    assert [len(p.scenario.flows) for p in found] == [1, 3, 1, 4, 1, 3]
    fast, slow_too = found[2].scenario, found[3].scenario
    assert [f.name for f in slow_too.flows] == ["slow-1", "slow-2", "slow-3", "slow-4"]
    assert len(slow_too.topology.pairs) == 4
    assert [f.size for f in (*slow_too.flows, *fast.flows)] == [9000] * 5
    assert found[0].scenario.flows[0].size == 50_000
    assert found[3].cells[0].flow == "slow-1"
    assert (fast.bottleneck.forward.loss, slow_too.bottleneck.forward.loss) == (0.1, 0.5)
    assert {s.bottleneck.forward.delay for s in (fast, slow_too)} == {3 * 10**6}
    assert found[1].scenario.bottleneck.forward.delay == 2 * 10**7


SHARED = ("seeds: 3", "shared: true\nseeds: 3")


def test_each_row_has_the_link_for_itself(paper: Path) -> None:
    """Unless the study, or the run, says that they share it; in a quick run as in a full one."""
    assert all(p.scenario.isolate for p in runs_of() + runs_of(quick=True))
    (paper / "one.yaml").write_text(changed(SHARED))
    assert not any(p.scenario.isolate for p in runs_of() + runs_of(quick=True))
    run = ("    flow: {size: 50kB}", "    flow: {size: 50kB}\n    shared: false")
    (paper / "one.yaml").write_text(changed(SHARED, run))
    assert all(p.scenario.isolate for p in runs_of())
    alone = (("    rows:\n      slow: {label: Slow, cc: reno}\n", "    rows:\n"),)
    text = changed(*alone).replace("slow, fast", "fast").replace("slow", "fast")
    (paper / "one.yaml").write_text(text)
    assert not any(p.scenario.isolate for p in runs_of())


def test_flows_of_a_scenario_that_has_other_traffic(paper: Path) -> None:
    """It would be on a link of its own, where it does nothing to the rows."""
    rows = (
        ("{label: Slow, cc: reno}", "{label: Slow, flow: reno}"),
        ("{label: Fast, cc: cubic}", "{label: Fast, flow: cubic}"),
    )
    (paper / "one.yaml").write_text(changed(*rows))
    assert all(p.scenario.isolate for p in runs_of())
    other = "  - {name: other, constant: {rate: 100kbit}, duration: 1s}\n"
    (paper / "link.yaml").write_text(LINK.replace("virtual_limit", f"{other}virtual_limit"))
    says = r"paper/one: run only at 1:\nexpected shared: true, or a row for each .* is about other"
    with pytest.raises(ScenarioError, match=says):
        runs_of()
    (paper / "one.yaml").write_text(changed(*rows, SHARED))
    assert [len(p.scenario.flows) for p in runs_of()] == [3] * 9
    (paper / "link.yaml").write_text(LINK + "isolate: true\n")
    with pytest.raises(ScenarioError, match=r"expected shared with a scenario without isolate: "):
        runs_of()


def test_values_of_x_that_are_flows(paper: Path) -> None:
    flow = '{label: Both, flow: {"1": reno, "2": cubic, "4": cubic}}'
    text = changed(
        ("{label: Slow, cc: reno}", flow), ("      fast: {label: Fast, cc: cubic}\n", "")
    )
    (paper / "one.yaml").write_text(text.replace("[slow, fast]", "[slow]"))
    assert all(p.scenario.isolate for p in runs_of())


def test_flows_that_are_made_have_values_in_turn(paper: Path) -> None:
    slow = "{label: Slow, cc: reno, flows: 3}"
    at = "{2: {pair.access_delay: [0ms, 20ms], flow.start: [1s, 2s]}}"
    (paper / "one.yaml").write_text(
        changed(("{label: Slow, cc: reno}", slow), ("seeds: 3", f"seeds: 1\nat: {at}"))
    )
    scenario = runs_of()[3].scenario
    assert [p.access_delay for p in scenario.topology.pairs] == [0, 20_000_000, 0]
    assert [f.start for f in scenario.flows] == [10**9, 2 * 10**9, 10**9]


def test_what_is_changed_at_an_x_is_changed_there_only(paper: Path) -> None:
    """Of each flow by itself, however deep it is, and of its hosts."""
    slow = "{label: Slow, cc: reno, receiver: {route: {initcwnd: 4}}}"
    flow = "{arrivals: {sessions: 3, mean: 9kB, rate: 2}}"
    change = "{flow.arrivals.rate: [1, 5], hosts.pairs.slow.receiver.route.initcwnd: 9}"
    (paper / "one.yaml").write_text(
        changed(
            ("{label: Slow, cc: reno}", slow),
            ("{size: 50kB}", flow),
            ("seeds: 3", f'seeds: 1\nat: {{"2": {change}}}'),
        )
    )
    found = [p.scenario for p in runs_of()]
    rates = [[f.arrivals.rate for f in s.flows if f.arrivals] for s in found]
    assert rates == [[2, 2], [1, 5], [2, 2]]
    routes = [s.host_settings("slow", "receiver").route for s in found]
    assert [r and r.initcwnd for r in routes] == [4, 9, 4]


def test_quick_is_less(paper: Path) -> None:
    more = "  flow: {size: 20kB}\n  set: {bottleneck.forward.delay: 10ms}\n"
    (paper / "one.yaml").write_text(STUDY + more)
    (only,) = runs_of(quick=True)
    assert [(c.row, c.x, c.seed) for c in only.cells] == [("slow", 1, 1)]
    assert [f.size for f in only.scenario.flows] == [20_000]
    assert only.scenario.bottleneck.forward.delay == 10**7
    assert runs_of()[0].scenario.bottleneck.forward.delay == 2 * 10**7


def test_quick_leaves_what_x_varies(paper: Path) -> None:
    forward = "{rate: 9mbit, delay: 10ms, limit: 20 packets}"
    text = changed(("  x: [1]\n", "  x: [1, 2]\n"))
    (paper / "one.yaml").write_text(text + f"  set: {{bottleneck.forward: {forward}}}\n")
    found = {p.cells[0].x: p.scenario.bottleneck.forward for p in runs_of(quick=True)}
    assert {x: (link.rate, link.delay) for x, link in found.items()} == {
        1: (10**6, 10**7),
        2: (2 * 10**6, 10**7),
    }


def test_seeds_of_a_run(paper: Path) -> None:
    (paper / "one.yaml").write_text(changed(("    flow: {size", "    seeds: 5\n    flow: {size")))
    assert len(runs_of()) == 15


def test_keys_say_what_goes_in(paper: Path) -> None:
    before = {p.key for p in runs_of()}
    assert {p.key for p in runs_of()} == before
    assert {p.key for p in runs_of(build=Build(BUILD.kernel, "another"))}.isdisjoint(before)
    (paper / "one.yaml").write_text(
        changed(("title: A study", "title: The same"), ("[1, 2, 4]", "[1, 2, 4, 8]"))
    )
    assert before < {p.key for p in runs_of()}
    (paper / "link.yaml").write_text(LINK.replace("20ms", "21ms"))
    assert {p.key for p in runs_of()}.isdisjoint(before)


def test_curves_are_part_of_a_run(paper: Path) -> None:
    before = {p.key for p in runs_of()}
    curve = "cc: reno, curve: {column: bytes_received}}"
    (paper / "one.yaml").write_text(changed(("cc: reno}", curve)))
    found = runs_of()
    assert {p.key for p in found}.isdisjoint(before)
    assert list(found[0].curves) == ["slow"]


def test_scenarios_that_cannot_be(paper: Path) -> None:
    (paper / "one.yaml").write_text(changed(("{size: 50kB}", "{size: much}")))
    with pytest.raises(ScenarioError, match=r"paper/one: run only at 1:\n.*flows.0.size: expected"):
        runs_of()
    (paper / "one.yaml").write_text(changed(("link.yaml", "none.yaml")))
    with pytest.raises(ScenarioError, match=r"none.yaml: cannot be read"):
        runs_of()
    (paper / "one.yaml").write_text(STUDY)
    (paper / "link.yaml").write_text("")
    with pytest.raises(ScenarioError, match=r"paper/one: run only at 1:\n.*link.yaml"):
        runs_of()


def test_code_that_makes_the_numbers_is_in_the_key() -> None:
    """Whatever these modules import from the testbed is in the key too, or in a scenario or plan."""
    in_the_plan = {
        "engines", "advice.py", "fields.py", "scone_words.py", "impaired_advice.py", "impairments.py", "link_words.py",
        "options.py", "errors.py", "tree.py", "units.py", "yaml_lines.py", "models/feedback.py",
        "papers/__init__.py",
    }  # fmt: skip
    starts = [
        "guest/agent.py",
        "guest/channel_recorder.py",
        "results/measures.py",
        "results/result.py",
    ]
    found, todo = set[str](), list(starts)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += imports_of(name)
    assert found - set(CODE) - in_the_plan == set()
    assert [name for name in CODE if not (PACKAGE / name).is_file()] == []


def imports_of(name: str) -> Iterator[str]:
    """Files of the testbed that one of its modules imports."""
    text = (PACKAGE / name).read_text()
    folder = str(Path(name).parent).replace("/", ".").strip(".")
    for dots, module, names in re.findall(
        r"^\s*from (\.?)([\w.]*) import \(?([\w, \n]+)", text, re.M
    ):
        package = f"{folder}.{module}".strip(".") if dots else module
        for part in (package, *(f"{package}.{word.strip()}" for word in names.split(","))):
            file = part.removeprefix("wale_lab.").replace(".", "/") + ".py"
            if (PACKAGE / file).is_file():
                yield file


# The studies of the tree.


@pytest.fixture(scope="module")
def points() -> Callable[[str, Study], list[list[Point]]]:
    """The points of a study, in full and quick: made once for all that have the same runs."""
    made: dict[str, list[list[Point]]] = {}

    def points(name: str, one: Study) -> list[list[Point]]:
        runs = one.model_dump_json(include={"runs", "seeds", "shared", "at", "quick", "x"})
        key = f"{name.partition('/')[0]} {runs}"
        if key not in made:
            made[key] = [points_of(name, BUILD), points_of(name, BUILD, quick=True)]
        return made[key]

    return points


@pytest.mark.slow
@pytest.mark.parametrize("name", study_names())
def test_studies_of_the_tree(name: str, points: Callable[[str, Study], list[list[Point]]]) -> None:
    one = load_study(name)
    full, quick = points(name, one)
    measured = {row for row, about in one.rows().items() if about.model is None}
    for found in (full, quick):
        rows = {cell.row for point in found for cell in point.cells}
        assert rows & measured or one.plot == "diagram"
    assert {cell.row for point in full for cell in point.cells} >= measured
    assert len(quick) < len(full) or len(full) <= 1
    values = load_published(name, one)
    assert [p for p in values if p.row in one.rows() and p.x not in one.x.shown] == []


# The numbers of a run.
