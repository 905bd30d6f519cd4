# SPDX-License-Identifier: GPL-2.0
"""Pictures of runs: what their curves are, and which panels and lines there are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from test_network import DIAMOND, check
from wale_lab import yaml_lines
from wale_lab.cli import main
from wale_lab.results.plot import draw, figure_of
from wale_lab.results.series import RunSeries, bin_of, read_runs
from wale_lab.scenario import check_scenario

TEXT = """\
name: two
topology: {pairs: [{name: a}, {name: b}]}
bottleneck:
  forward: {rate: 8mbit, delay: 10ms, limit: 100kB}
flows:
  - {name: tcp, cc: reno, pair: a, duration: 10s}
  - {name: probe, pair: b, constant: {packets_per_second: 2, packet: 100}, duration: 10s}
record: {interval: 500ms}
"""

#: A second of the link is 1 MB; from 4 to 6 s TCP waits for a lost packet, what follows is there.
RECEIVED = [min(t, 4.0) * 1e6 if t < 6 else t * 1e6 for t in np.arange(0.5, 10.1, 0.5)]


def series(columns: dict[str, Any], key: str, name: str) -> str:
    """A CSV file of a flow or link, with a sample each 0.5 s."""
    times = np.arange(0.5, 10.1, 0.5)
    lines = [f"t_s,{key},{','.join(columns)}"]
    for n, t_s in enumerate(times):
        values = [v[n] if isinstance(v, list) else v for v in columns.values()]
        lines.append(f"{t_s},{name},{','.join(map(str, values))}")
    return "\n".join(lines) + "\n"


def make_run(folder: Path, *overrides: str, backlog: float = 0, files: str = "fld") -> RunSeries:
    """A folder as a run leaves it; `files` are flows.csv, links.csv, delays.csv by their letters."""
    scenario = check_scenario(yaml_lines.parse(TEXT, "s.yaml"), list(overrides), Path())
    common = {"start_s": 0.0, "end_s": 10.0, "completed": True, "error": None, "sessions": None}
    rate = {"goodput_Bps": 1e6, "ideal_goodput_Bps": 1e6, "ideal_share": 1.0, "mss_bytes": 72}
    tcp = {"name": "tcp", "cc": "reno", "bytes": 10_000_000, "constant": None, **common, **rate}
    probe = {**tcp, "name": "probe", "cc": "none", "bytes": 20 * 72, "constant": {"sent": 20}}
    result = {
        "scenario": "two", "settings": scenario.resolved(), "seed": 1, "kernel": "6.12.1",
        "digest": "d" * 64, "virtual_s": 10.0, "flows": [tcp, probe],
        "links": [{"name": "forward", "epoch_s": 0.0}],
    }  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result.json").write_text(json.dumps(result))
    flows = {"bytes_received": RECEIVED, "bytes_acked": 0, "cwnd_packets": 10, "srtt_us": 20_000}
    links = {"backlog_bytes": backlog, "rate_Bps": 1e6}
    delays = {"packets": 1, "least_delay_s": 0.01, "mean_delay_s": 0.02, "largest_delay_s": 0.03}
    for letter, key, name, columns in (
        ("f", "flow", "tcp", flows), ("l", "link", "forward", links), ("d", "flow", "probe", delays)
    ):  # fmt: skip
        if letter in files:
            file = {"f": "flows.csv", "l": "links.csv", "d": "delays.csv"}[letter]
            (folder / file).write_text(series(columns, key, name))
    return read_runs([folder])[0]


def titles(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


# Curves


def test_what_came_behind_a_lost_packet_counts_when_it_came(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    found = run.throughput(run.flows[0], 0.5)
    assert found is not None
    assert found[1] == pytest.approx(8)  # Mbit/s all the time, with the gap of two seconds
    unlimited = make_run(tmp_path / "u", "bottleneck.forward.rate=unlimited", files="f")
    gap = unlimited.throughput(unlimited.flows[0], 0.5)
    assert gap is not None
    assert (gap[1].min(), gap[1].max()) == pytest.approx((0, 32))


def test_packets_at_a_constant_rate_have_a_throughput(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    found = run.throughput(run.flows[1], 1.0)
    assert found is not None
    assert found[1] == pytest.approx(2 * 72 * 8 / 1e6)
    without = make_run(tmp_path / "without", files="")
    mean = without.throughput(without.flows[0], 0.5)
    assert mean is not None
    assert mean[1].tolist() == [8, 8]  # of the whole flow


def test_a_flow_that_never_started(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    assert run.throughput({"name": "tcp", "goodput_Bps": None}, 0.5) is None


def test_delay_behind_the_queue(tmp_path: Path) -> None:
    """100 kB at 1 MB/s and 10 ms of propagation, seen at the arrival."""
    found = make_run(tmp_path, backlog=100_000).crossing("forward")
    assert found is not None
    assert found[1] == pytest.approx(110)
    assert found[0][0] == pytest.approx(0.5 + 0.11)
    empty = make_run(tmp_path / "empty").crossing("forward")
    assert empty is not None
    assert empty[1] == pytest.approx(10)


OUTAGE = "bottleneck.forward.rate=null", "bottleneck.forward.trace={steps: [2s:8mbit, 2s:0bit]}"


def test_delay_over_an_outage(tmp_path: Path) -> None:
    """From 2 to 4 s nothing leaves: what waits at 2.5 s leaves 50 ms after that."""
    found = make_run(tmp_path, *OUTAGE, backlog=50_000).crossing("forward")
    assert found is not None
    took = dict(zip(np.arange(0.5, 10.1, 0.5), found[1], strict=True))
    assert took[0.5] == pytest.approx(60, abs=0.1)
    assert took[2.5] == pytest.approx(1500 + 60, abs=0.1)
    stopped = (*OUTAGE[:1], OUTAGE[1].replace("]}", "], end: stop}"))
    never = make_run(tmp_path / "stop", *stopped, backlog=50_000).crossing("forward")
    assert never is not None
    assert np.isnan(never[1][8])  # 4.5 s


def test_capacity(tmp_path: Path) -> None:
    times, rates = make_run(tmp_path).capacity(0.5) or ([], [])
    assert (list(times), list(rates)) == ([0, 10], [8, 8])
    times, rates = make_run(tmp_path, *OUTAGE).capacity(0.5) or ([], [])
    assert list(times) == [0, 2, 4, 6, 8, 10]
    assert list(rates) == pytest.approx([8, 0, 8, 0, 8, 8])
    fine = "bottleneck.forward.trace={steps: [1ms:8mbit, 1ms:0bit]}"
    times, rates = make_run(tmp_path, OUTAGE[0], fine).capacity(1.0) or ([], [])
    assert len(times) == 11  # too fine to be seen: means
    assert list(rates) == pytest.approx([4] * 11, rel=0.01)
    assert make_run(tmp_path / "u", "bottleneck.forward.rate=unlimited").capacity(1.0) is not None
    assert (
        make_run(tmp_path / "v", "bottleneck.forward.rate=unlimited", files="").capacity(1) is None
    )


def test_throughput_is_averaged_over_whole_intervals(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / "a"), make_run(tmp_path / "b", "record.interval=30ms")]
    assert bin_of(runs) == 0.5
    assert bin_of(runs[1:]) == pytest.approx(0.09)


# Figures


def test_panels_of_a_run(tmp_path: Path) -> None:
    figure = figure_of([make_run(tmp_path, backlog=50_000)])
    assert titles(figure) == [
        "Throughput, means over 500 ms",
        "Round-trip time, smoothed by the sender",
        "One-way delay: packets of probe; and behind the queue",
        "Congestion window",
        "Queue of the forward link",
    ]
    assert [axes.get_ylabel() for axes in figure.axes] == ["Mbit/s", "ms", "ms", "packets", "kB"]
    assert legend(figure) == [
        "tcp (reno), 8.000 Mbit/s, 100% of ideal",
        "probe, 8.000 Mbit/s",
        "the link that they share",
        "capacity of the link",
    ]
    title = figure.legends[0].get_title().get_text()
    assert title == "two: 8 Mbit/s, 10 ms one way, 100 kB buffer"


def test_a_panel_without_anything_is_left_out(tmp_path: Path) -> None:
    figure = figure_of([make_run(tmp_path, files="f")])
    assert [title.partition(",")[0] for title in titles(figure)] == [
        "Throughput",
        "Round-trip time",
        "Congestion window",
    ]


def test_a_capacity_that_changes_is_drawn_where_it_does(tmp_path: Path) -> None:
    figure = figure_of([make_run(tmp_path, *OUTAGE)])
    (line,) = [ln for ln in figure.axes[0].get_lines() if ln.get_linestyle() == "--"]
    assert list(np.asarray(line.get_ydata())) == pytest.approx([8, 0, 8, 0, 8, 8])


def test_runs_over_each_other(tmp_path: Path) -> None:
    """Each has a colour; the same flow of both the same kind of line; one capacity, not two."""
    queue = "bottleneck.forward.limit=null", "bottleneck.forward.queue=fq_codel"
    make_run(tmp_path / "deep", backlog=90_000)
    make_run(tmp_path / "aqm", *queue)
    figure = figure_of(read_runs([tmp_path / "deep", tmp_path / "aqm"]))
    assert [entry.partition(",")[0] for entry in legend(figure)] == [
        "deep: tcp (reno)",
        "deep: probe",
        "aqm: tcp (reno)",
        "aqm: probe",
        "capacity of the link",
    ]
    title = figure.legends[0].get_title().get_text()
    assert title.splitlines() == [
        "deep: 8 Mbit/s, 10 ms one way, 100 kB buffer",
        "aqm: 8 Mbit/s, 10 ms one way, fq_codel",
    ]
    windows = figure.axes[3].get_lines()
    assert len({str(line.get_color()) for line in windows}) == 2
    assert len({line.get_linestyle() for line in windows}) == 1
    assert len([ln for ln in figure.axes[0].get_lines() if ln.get_linestyle() == "--"]) == 3


def test_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for parent in ("a", "b"):
        make_run(tmp_path / parent / "run")
    runs = read_runs([tmp_path / "a/run", tmp_path / "b/run"])
    assert [run.label for run in runs] == [str(tmp_path / "a/run"), str(tmp_path / "b/run")]


def test_many_flows_do_not_fill_the_legend(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    run.result["flows"] = [{**run.flows[0], "name": f"tcp{n}"} for n in range(40)]
    figure = figure_of([run])
    assert legend(figure)[13] == "and 27 more"


# The command


def test_plot_writes_where_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    make_run(Path(one))
    make_run(Path(other))
    assert main(["plot", one]) == 0
    assert main(["plot", one, other]) == 0
    svg = str(tmp_path / "both.svg")
    assert main(["plot", one, other, "--out", svg]) == 0
    first = Path(svg).read_bytes()
    assert main(["plot", one, other, "--out", svg]) == 0
    assert Path(svg).read_bytes() == first
    paths = capsys.readouterr().out.split()
    assert paths == [f"{one}/result.png", f"{one}/comparison.png", svg, svg]
    assert all(Path(path).stat().st_size > 5000 for path in paths)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{one}", "{none}"], "none: expected the output folder of a run, with result.json"),
        (["{one}", "--out", "x.jpg"], "--out x.jpg: expected a name that ends with one of .png, "),
        (["{one}", "{one}/../one"], "one: expected different runs, this one is given twice"),
        (["{list}"], "it has no scenario, seed, digest, flows, links"),
        (["{cut}"], "flows.csv:8: this line is not whole"),
    ],
)
def test_plot_refuses(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(tmp_path / "one")
    make_run(tmp_path / "cut")
    samples = tmp_path / "cut/flows.csv"
    samples.write_text("".join(samples.read_text().splitlines(keepends=True)[:7]) + "0.5,")
    (tmp_path / "list").mkdir()
    (tmp_path / "list/result.json").write_text("[]")
    places = {name: str(tmp_path / name) for name in ("one", "none", "list", "cut")}
    assert main(["plot", *[word.format(**places) for word in words]]) == 2
    assert message in capsys.readouterr().err


def test_names_are_drawn_as_they_are(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    """A dollar begins no formula, and a letter that the font lacks is a box without a word."""
    names = [
        make_run(tmp_path / name).folder for name in ("a$b_c$d", "\N{CJK UNIFIED IDEOGRAPH-4E2D}")
    ]
    assert draw(names, tmp_path / "new/both.svg").exists()
    assert not [str(warning.message) for warning in recwarn]


# Events


def with_events(folder: Path, *events: str) -> RunSeries:
    """A run to whose network this happened."""
    run = make_run(folder)
    resolved = check(DIAMOND, f"events=[{', '.join(events)}]").resolved()
    run.result["settings"]["events"] = resolved["events"]
    return run


FAILS = "{at: 3s, link: upper, state: down, reroute: 200ms}"
BACK = "{at: 6s, link: upper, state: up, reroute: off}"


def test_events_in_words(tmp_path: Path) -> None:
    others = (
        "{at: 7s, link: upper, cost: 9}, {at: 8s, route: {at: r1, to: b, via: r3}}, "
        "{at: 9s, computed: {at: r1, to: b}}, {at: 30s, link: upper, cost: 2}"
    )
    run = with_events(tmp_path, BACK, FAILS, others)
    assert run.events == [
        (3.0, "upper fails"),
        (3.2, "new routes"),
        (6.0, "upper is back"),
        (7.0, "cost of upper: 9"),
        (8.0, "r1 sends to b by way of r3"),
        (9.0, "r1 sends to b by the computed route"),
    ]  # and none after the run
    assert run.event_names()[:2] == [(3.0, "upper fails; new routes"), (6.0, "upper is back")]


def test_events_are_drawn(tmp_path: Path) -> None:
    figure = figure_of([with_events(tmp_path, FAILS, BACK)])
    for axes in figure.axes:
        at = [line.get_xdata()[0] for line in axes.get_lines() if len(line.get_xdata()) == 2]
        assert {3.0, 3.2, 6.0} <= set(at)
    names = [text.get_text() for text in figure.axes[0].texts]
    assert names == ["upper fails; new routes", "upper is back"]
    quiet = figure_of([make_run(tmp_path / "quiet")])
    assert not quiet.axes[0].texts
