# SPDX-License-Identifier: GPL-2.0
"""Pages of runs, distributions and trade-offs: what is in them, and that they can be drawn."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import vl_convert

from test_plot import BACK, FAILS, RECEIVED, make_run, with_events
from wale_lab.cli import main
from wale_lab.errors import ScenarioError
from wale_lab.results.compare import METRICS, distribution, tradeoff
from wale_lab.results.packet_series import PacketSeries, Points, peaks, unwrapped
from wale_lab.results.page import page_of, panels_of, write_page
from wale_lab.results.series import RunSeries, read_runs

MS, S = 1_000_000, 1_000_000_000
FIRST = 2**32 - 1500  # of sequence numbers: they begin anew after two segments

#: Of a flow: time, seq, ack, payload, what became of it, direction.
PACKETS = [
    (0 * MS, FIRST, 7, 1000, "delivered", "forward"),
    (10 * MS, FIRST + 1000, 7, 1000, "buffer", "forward"),
    (20 * MS, FIRST + 2000, 7, 1000, "delivered", "forward"),
    (21 * MS, 7, FIRST + 1000, 0, "delivered", "reverse"),
    (30 * MS, 7, FIRST + 1000, 0, "delivered", "reverse"),
    (40 * MS, FIRST + 1000, 7, 1000, "delivered", "forward"),
    (60 * MS, 7, FIRST + 3000, 0, "delivered", "reverse"),
]


def log_packets(folder: Path, packets: list[Any]) -> None:
    """A log of packets that wait 5 ms and are 10 ms on the line."""
    rows = [
        {
            "link": direction, "fate": fate, "flow": "tcp", "protocol": 6, "arrival_ns": time,
            "start_ns": time + 5 * MS if fate == "delivered" else None,
            "departure_ns": time + 15 * MS if fate == "delivered" else None, "dropped_ns": None,
            "wire_bytes": payload + 52, "ip_bytes": payload + 52, "source": "a", "source_port": 1, "seq": seq % 2**32,
            "ack": ack % 2**32, "tcp_flags": 16, "payload_bytes": payload,
        }
        for time, seq, ack, payload, fate, direction in packets
    ]  # fmt: skip
    table = pa.Table.from_pylist(rows)
    for name in ("link", "fate", "flow", "source"):
        n = table.column_names.index(name)
        table = table.set_column(n, name, table[name].dictionary_encode())
    pq.write_table(table, folder / "packets.parquet")


@pytest.fixture
def logged(tmp_path: Path) -> RunSeries:
    run = make_run(tmp_path / "logged", backlog=5000)
    log_packets(run.folder, PACKETS)
    return run


def content(html: str) -> dict[str, Any]:
    """What the page's script reads."""
    found = re.search(r'id="content">(.*?)</script>', html, re.DOTALL)
    assert found
    value: dict[str, Any] = json.loads(found[1])
    return value


def rows(kind: dict[str, Any], scale: float) -> list[dict[str, Any]]:
    """As rows() of page.js."""
    found: list[dict[str, Any]] = []
    notes = kind.get("notes")
    for curve in kind["curves"]:
        times = np.cumsum(curve["t"]) / 1e9
        values = np.cumsum(curve["d"]) / scale if "d" in curve else curve["y"]
        for t, y in zip(times.tolist(), list(values), strict=True):
            row = {"t": t, "y": None if y is None else float(y), "of": curve["of"]}
            found.append({**row, "note": notes[len(found)]} if notes else row)
    return found


def drawn(page: dict[str, Any]) -> str:
    """The charts as page.js puts them together, drawn by Vega as an SVG."""
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "params": [{"name": "from", "value": 0}, {"name": "to", "value": page["end"]}],
        "vconcat": page["charts"],
        "datasets": {
            f"{key}_{kind}": rows(curves, page["scale"].get(key, 1))
            for key, kinds in page["data"].items()
            for kind, curves in kinds.items()
        },
    }
    svg: str = vl_convert.vegalite_to_svg(spec)
    return svg


def test_sequence_numbers_go_on_after_their_end() -> None:
    numbers = np.array([FIRST, FIRST + 1000, FIRST + 2000, FIRST + 1000]) % 2**32
    assert unwrapped(numbers, FIRST).tolist() == [0, 1000, 2000, 1000]


def test_time_sequence_graph(logged: RunSeries) -> None:
    graph = PacketSeries(logged.folder / "packets.parquet").time_sequence(
        "tcp", "forward", "reverse"
    )
    assert graph is not None
    assert (graph.sent.times.tolist(), graph.sent.values.tolist()) == ([0, 20 * MS], [1000, 3000])
    assert (graph.again.times.tolist(), graph.again.values.tolist()) == ([40 * MS], [2000])
    assert (graph.dropped.values.tolist(), graph.fates) == ([2000], ["buffer"])
    # without the duplicate ACK, and when they are back
    assert graph.acked.times.tolist() == [36 * MS, 75 * MS]
    assert graph.acked.values.tolist() == [1000, 3000]
    packets = PacketSeries(logged.folder / "packets.parquet")
    assert packets.time_sequence("nobody", "forward", "reverse") is None


def test_queue_of_a_flow(logged: RunSeries) -> None:
    queue = PacketSeries(logged.folder / "packets.parquet").queue("tcp", "forward")
    assert queue is not None
    assert queue.times.tolist() == [0, 5 * MS, 20 * MS, 25 * MS, 40 * MS, 45 * MS]
    assert queue.values.tolist() == [1052, 0] * 3


def test_peaks_are_kept() -> None:
    points = Points(np.arange(1000), np.where(np.arange(1000) == 617, 9, 1))
    found = peaks(points, 1000, 10)
    assert len(found) == 10 and found.values.tolist() == [1, 1, 1, 1, 1, 1, 9, 1, 1, 1]
    assert peaks(points, 1000, 1000) is points


def test_page_has_what_the_files_have(logged: RunSeries) -> None:
    page = content(page_of([logged]))
    data = {panel["key"]: page["data"][panel["key"]] for panel in page["panels"]}
    assert [panel["key"] for panel in page["panels"] if panel["shown"]] == [
        "throughput", "rtt", "delay", "cwnd", "queue", "queue_by_flow", "sequence",
    ]  # fmt: skip
    windows = rows(data["cwnd"]["line"], 1)
    assert {row["y"] for row in windows} == {10} and windows[0]["t"] == 0.5
    received = rows(data["received"]["line"], 1)
    assert [row["y"] for row in received if row["of"] == "tcp"][1:-1] == [n / 1e6 for n in RECEIVED]
    assert rows(data["sequence"]["dropped"], 1) == [
        {"t": 0.01, "y": 2000, "of": "tcp", "note": "buffer"}
    ]
    assert [entry["name"] for entry in page["series"]] == ["tcp", "probe", "the link"]


def test_each_socket_of_a_program_is_a_line(tmp_path: Path) -> None:
    """Two subflows of MPTCP, whose sum is the program's; a program without sockets has nothing."""
    run = make_run(tmp_path / "run", "flows.tcp.duration=10s", files="l")
    both = {"cwnd_packets": 10, "srtt_us": 20_000, "bytes_received": 7}
    times = np.arange(0.5, 10.1, 0.5)
    lines = [",".join(["t_s", "flow", *both, "bytes_acked"])]
    for t in times:
        for n in (1, 2):
            values = [10 * n, 20_000 * n, 7, round(n * t * 1e6)]
            lines.append(",".join(map(str, [t, f"tcp.{n}", *values])))
    (run.folder / "flows.csv").write_text("\n".join(lines) + "\n")
    sockets = {"bytes_acked": 30_000_000}
    mptcp = {**run.result["flows"][0], "goodput_Bps": None, "ideal_goodput_Bps": None, "bytes": 14}
    mptcp |= {"sockets": sockets}
    helper = {**mptcp, "name": "helper", "cc": None, "bytes": 0, "sockets": None}
    run.result["flows"][:] = [mptcp, helper]
    html = page_of([run])
    page = content(html)
    for panel, values in (("cwnd", [10, 20]), ("rtt", [20, 40])):
        curves = page["data"][panel]["line"]["curves"]
        assert [(curve["of"], set(curve["y"])) for curve in curves] == [
            ("tcp", {value}) for value in values
        ]
    throughput = [c for c in page["data"]["throughput"]["line"]["curves"] if c["of"] == "tcp"]
    assert [round(y) for y in throughput[0]["y"][:-1]] == [24] * (len(throughput[0]["y"]) - 1)
    assert [entry["name"] for entry in page["series"]] == ["tcp", "the link"]
    assert "30.00 MB" in html and "None" not in re.sub(r"<script.*?</script>", "", html, flags=re.S)
    for chart in page["charts"]:
        for layer in chart["layer"]:
            if (
                layer["mark"] if isinstance(layer["mark"], str) else layer["mark"]["type"]
            ) == "line":
                assert layer["encoding"]["detail"]["field"] == "line"


def test_udp_of_programs(tmp_path: Path) -> None:
    """QUIC's packets, of which no flow is known, have a throughput and a queue."""
    run = make_run(tmp_path / "run")
    log_packets(
        run.folder,
        [*PACKETS, *((n * 10 * MS, 0, 0, 1250, "delivered", "forward") for n in range(1000))],
    )
    table = pq.read_table(run.folder / "packets.parquet")
    of_udp = np.arange(len(table)) >= len(PACKETS)
    flows = [None if udp else "tcp" for udp in of_udp]
    table = table.set_column(
        table.column_names.index("flow"), "flow", pa.array(flows).dictionary_encode()
    )
    numbers = pa.array([17 if udp else 6 for udp in of_udp])
    table = table.set_column(table.column_names.index("protocol"), "protocol", numbers)
    pq.write_table(table, run.folder / "packets.parquet")
    page = content(page_of([run]))
    throughput = [c for c in page["data"]["throughput"]["line"]["curves"] if c["of"] == "UDP"]
    assert {round(y, 6) for y in throughput[0]["y"][1:-2]} == {1.0}
    queues = page["data"]["queue_by_flow"]["line"]["curves"]
    assert [curve["of"] for curve in queues] == ["tcp", "UDP"]


def test_capacity_is_not_added_up_at_a_step(tmp_path: Path) -> None:
    run = make_run(
        tmp_path / "run", "bottleneck.forward={trace: {steps: ['2s:8mbit', '1s:2mbit']}}"
    )
    page = content(page_of([run]))
    area = next(
        layer["encoding"]["y"]
        for chart in page["charts"] if chart["name"] == "throughput"
        for layer in chart["layer"] if layer["mark"]["type"] == "area"
    )  # fmt: skip
    assert area["stack"] is None
    capacity = page["data"]["throughput"]["capacity"]["curves"][0]["y"]
    assert {round(y, 6) for y in capacity} == {8.0, 2.0}


def test_events_are_marked_in_all_charts(tmp_path: Path) -> None:
    found = content(page_of([with_events(tmp_path, FAILS, BACK)]))
    assert (
        found["data"]["throughput"]["event names"]["curves"][0]["of"] == "upper fails; new routes"
    )
    for panel in found["panels"]:
        events = rows(found["data"][panel["key"]]["events"], 1)
        assert [(e["of"], e["t"]) for e in events] == [
            ("upper fails", 3.0),
            ("new routes", 3.2),
            ("upper is back", 6.0),
        ]
    assert "upper fails" not in [series["name"] for series in found["series"]]
    assert (
        "event names" not in content(page_of([make_run(tmp_path / "quiet")]))["data"]["throughput"]
    )


def test_charts_stand_below_each_other(logged: RunSeries) -> None:
    """Labels of any usual length take the same room, and a tick at 10 s is no 1e+1."""
    html = page_of([logged])
    axes = [
        layer["encoding"]
        for chart in content(html)["charts"]
        for layer in chart["layer"]
        if "y" in layer["encoding"]
    ]
    assert {e["y"]["axis"]["minExtent"] for e in axes} == {42}
    assert {e["x"]["axis"]["format"] for e in axes} == {".12~g"}
    assert re.search(r'<p class="soft">[^a-z]', html)  # the sentence on the link


def test_page_needs_no_network_and_is_whole(logged: RunSeries) -> None:
    html = page_of([logged])
    outside = re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)
    assert not re.findall(r"""(?:src|href)=["']?\w+:""", outside)
    assert html.count("<script") == html.count("</script>") == 3
    assert "digest <code" in html and page_of([logged]) == html


def test_names_cannot_leave_the_script(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    path = run.folder / "result.json"
    result = json.loads(path.read_text())
    name = "</script><!-- <b>x"
    result["flows"][0]["name"] = name
    path.write_text(json.dumps(result))
    html = page_of(read_runs([run.folder]))
    assert name not in html and "&lt;/script&gt;&lt;!-- &lt;b&gt;x" in html
    assert content(html)["series"][0]["name"] == name


@pytest.mark.parametrize("files", ["fld", "f", "l", ""])
def test_charts_can_be_drawn(files: str, tmp_path: Path) -> None:
    one = make_run(tmp_path / "one", backlog=5000, files=files)
    log_packets(one.folder, PACKETS)
    other = make_run(tmp_path / "other", files=files)
    svg = drawn(content(page_of([one, other])))
    assert "Throughput, means" in svg and "Time-sequence" in svg


def test_log_is_read_once(logged: RunSeries, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is drawn of it, for however many flows."""
    reads = []

    def read(*args: Any, **options: Any) -> Any:
        reads.append(args)
        return pq.read_table(*args, **options)

    monkeypatch.setattr("wale_lab.results.packet_series.pq", SimpleNamespace(read_table=read))
    logged.result["flows"] = [logged.flows[0], {**logged.flows[0], "name": "other"}]
    assert list(METRICS["queueing_delay"].values(logged, "tcp")) == [5.0] * 3
    assert list(METRICS["one_way_delay"].values(logged, "tcp")) == [15.0] * 3
    distribution([logged], ["queueing_delay", "one_way_delay"])
    panels_of([logged])
    assert len(reads) == 1


def test_many_packets_are_thinned_and_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wale_lab.results.page._MOST_PACKETS", 100)
    run = make_run(tmp_path / "run")
    log_packets(
        run.folder, [(n * MS, n * 1000, 7, 1000, "delivered", "forward") for n in range(250)]
    )
    page = content(page_of([run]))
    assert len(rows(page["data"]["sequence"]["sent"], 1)) == 84
    assert [p["title"] for p in page["panels"] if p["key"] == "sequence"] == [
        "Time-sequence graph, from the log of packets (tcp: one new packet in 3)"
    ]


def test_a_minute_of_packets_is_small(tmp_path: Path) -> None:
    """10 Mbit/s for 60 s: 50,000 packets, and an ACK for each."""
    run = make_run(tmp_path / "run")
    data = [(n * 1_200_000, n * 1448, 7, 1448, "delivered", "forward") for n in range(50_000)]
    acks = [(t + 20 * MS, 7, seq + 1448, 0, "delivered", "reverse") for t, seq, *_ in data]
    log_packets(run.folder, sorted(data + acks))
    assert write_page([run.folder]).stat().st_size < 5_000_000


def test_in_a_browser(logged: RunSeries, tmp_path: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("there is no Chromium on this machine")
    path = write_page([logged.folder])
    command = [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += [f"--user-data-dir={tmp_path}/profile", "--enable-logging=stderr"]
    command += ["--virtual-time-budget=60000", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert 'data-drawn="7"' in done.stdout
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line]


# Distributions


def test_metrics_of_a_flow(logged: RunSeries) -> None:
    assert METRICS["queueing_delay"].values(logged, "tcp").tolist() == [5, 5, 5]
    assert METRICS["one_way_delay"].values(logged, "tcp").tolist() == [15, 15, 15]
    assert set(METRICS["rtt"].values(logged, "tcp")) == {20}
    assert not len(METRICS["rtt"].values(logged, "probe"))


def test_delays_without_a_log_are_those_of_the_link(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", backlog=5000)
    assert METRICS["queueing_delay"].values(run, "tcp") == pytest.approx(5)
    assert METRICS["one_way_delay"].values(run, "tcp") == pytest.approx(15)
    assert set(METRICS["one_way_delay"].values(run, "probe")) == {20}  # its packets were timed


def test_distribution(logged: RunSeries) -> None:
    figure = distribution([logged], ["queueing_delay", "rtt"])
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "Queueing delay", "Round-trip time, smoothed by the sender",
    ]  # fmt: skip
    assert figure.axes[0].get_legend_handles_labels()[1][0] == "tcp\np50 5, p95 5, p99 5"


def test_tradeoff(logged: RunSeries) -> None:
    (axes,) = tradeoff([logged]).axes
    points = {tuple(line.get_xydata()[0]) for line in axes.get_lines()}  # type: ignore[index]
    assert points == {(15.0, 8.0), (20.0, 8.0)}


@pytest.mark.parametrize(
    "words", ["--cdf", "--tradeoff", "--metric rtt,queueing-delay", "--out {}/p.html"]
)
def test_plot_command(words: str, logged: RunSeries, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", str(logged.folder), *words.format(logged.folder).split()]) == 0
    assert Path(capsys.readouterr().out.strip()).stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--metric rtt,jitter", "--metric: expected some of throughput, rtt, "),
        ("--cdf --metric cwnd", "--metric: expected some of throughput, rtt, queueing_delay"),
        ("--cdf --out x.html", "expected a page, or --cdf"),
        ("--metric=", "--metric: expected some of throughput, rtt, "),
        ("--tradeoff --metric rtt", "--metric: expected it without --tradeoff"),
        ("--topology --cdf", "--topology: expected it without options of other pictures"),
        ("--topology --out x.html", "--topology: expected it without options of other pictures"),
    ],
)
def test_plot_command_refuses(
    words: str, said: str, logged: RunSeries, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", str(logged.folder), *words.split()]) == 2
    assert said in capsys.readouterr().err


def test_nothing_to_draw_is_said(tmp_path: Path) -> None:
    from wale_lab.results.plot import figure_of

    run = make_run(tmp_path / "run", files="f")
    with pytest.raises(ScenarioError, match="nothing to draw for queue"):
        figure_of([run], ["queue"])
