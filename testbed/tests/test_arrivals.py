# SPDX-License-Identifier: GPL-2.0
"""Sessions that arrive at random: the draws in C and in Python, scenarios, results, a guest."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import warnings
from collections.abc import Iterator
from decimal import Decimal, localcontext
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from wale_lab import fields, yaml_lines
from wale_lab.engines.modules import find_userspace
from wale_lab.errors import ScenarioError
from wale_lab.guest.flows import Flows
from wale_lab.guest.processes import Processes
from wale_lab.models.arrivals import FRACTION_BITS, Arrivals, exponential
from wale_lab.models.streams import splitmix64
from wale_lab.progress import Progress
from wale_lab.results import result as results
from wale_lab.results import sessions
from wale_lab.results.plot import draw
from wale_lab.results.table import print_result
from wale_lab.runner import run_scenario
from wale_lab.scenario import Scenario, check_scenario, find_scenario, load_scenario
from wale_lab.topologies import plan as plans
from wale_lab.topologies.planning import make_plan
from wale_lab.tree import SOURCES

# ------------------------------------------------------------------ the draws


def test_exponential_is_the_logarithm() -> None:
    draws = [0, 1, 2, 3, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]
    draws += list(islice(splitmix64(1), 2000))
    with localcontext() as context:
        context.prec = 60
        for bits in draws:
            u = Decimal((bits >> 1) + 1) / 2**63
            drawn = Decimal(exponential(bits)) / 2**FRACTION_BITS
            assert abs(drawn + u.ln()) < Decimal(2) ** (1 - FRACTION_BITS)


def test_mean_rate_and_sizes() -> None:
    """Within four standard errors."""
    process = Arrivals(rate=0.625, mean_bytes=200_000, seed=1)
    drawn = list(islice(process.sessions(), 20_000))
    assert drawn[-1].arrival_ns / 20_000 == pytest.approx(1.6e9, rel=0.03)
    assert sum(s.size_bytes for s in drawn) / 20_000 == pytest.approx(200_000, rel=0.03)
    assert min(s.size_bytes for s in drawn) >= 1


@pytest.fixture(scope="module")
def wale() -> str:
    folder = find_userspace(Progress(quiet=True))["PATH"].split(":")[0]
    return f"{folder}/wale"


@pytest.fixture(scope="module")
def port(wale: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The port of a `wale serve` that has a file named `file`."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "file").write_bytes(b"0123456789")
    command = [wale, "serve", "--listen", "127.0.0.1", "--port", "0", str(folder)]
    output: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **output) as server:
        assert server.stderr
        listening = re.search(r":(\d+)$", server.stderr.readline())
        assert listening
        yield listening[1]
        server.terminate()


@pytest.mark.parametrize(
    ("rate", "mean", "seed"),
    [("2000", 50, 0), ("1234.5", 1000, 7), ("1e4", 1, 2**64 - 1), ("128000", 3, 2**63)],
)
def test_c_and_python_draw_the_same(wale: str, port: str, rate: str, mean: int, seed: int) -> None:
    """To the nanosecond and to the byte."""
    command = [wale, "get", "127.0.0.1:file", "--port", port, "--json", "--arrivals", rate]
    command += ["--transfers", "300", "--mean-size", str(mean), "--seed", str(seed)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    found = sorted((json.loads(line) for line in said.splitlines()), key=lambda s: s["session"])
    for session, drawn in zip(found, Arrivals(float(rate), mean, seed).sessions(), strict=False):
        assert session["session"] == drawn.number
        assert Decimal(str(session["arrival_s"])) * 10**9 == drawn.arrival_ns
        assert session["bytes"] == drawn.size_bytes
    assert len(found) == 300


# -------------------------------------------------------------- the scenario

TEXT = """\
name: sessions
isolate: true
flows:
  - {name: one, arrivals: {rate: 0.625, sessions: 3, mean: 200kB}}
  - {name: two, arrivals: {rate: 0.625, sessions: 3, mean: 200kB}}
"""


def check(*overrides: str) -> Scenario:
    return check_scenario(yaml_lines.parse(TEXT, "s.yaml"), list(overrides), Path())


def planned(*overrides: str, seed: int = 1) -> list[plans.PlannedArrivals]:
    return [f.arrivals for f in make_plan(check(*overrides), seed).flows if f.arrivals]


def test_copies_see_the_same_sessions() -> None:
    one, two = planned()
    assert one == two
    assert (one.rate, one.sessions, one.mean) == (0.625, 3, 200_000)
    assert one.seed != planned(seed=2)[0].seed


def test_flows_of_one_link_see_different_sessions() -> None:
    one, two = planned("isolate=false")
    assert one.seed == planned()[0].seed != two.seed
    links = [plans.link_seed(1, direction) for direction in ("forward", "reverse")]
    assert not {one.seed, two.seed} & set(links)


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("flows.one.size=1MB", "expected either a size, a duration or arrivals"),
        ("flows.one.duration=1s", "expected either a size, a duration or arrivals"),
        ("flows.one.tool=iperf3", "expected tool: wale together with arrivals, got iperf3"),
        (
            "flows.one={name: one, tool: iperf3, batch: 1MB, size: 1MB}",
            "expected tool: wale together with batch",
        ),
        ("flows.one.batch=4000", "expected a batch of 4KiB to 4MiB, got 4000"),
        ("flows.one.batch=5MB", "expected a batch of 4KiB to 4MiB, got '5MB'"),
        ("flows.one.arrivals.rate=0", "flows.0.arrivals.rate: "),
        ("flows.one.arrivals.rate=fast", "flows.0.arrivals.rate: "),
        ("flows.one.arrivals.sessions=0", "flows.0.arrivals.sessions: "),
        ("flows.one.arrivals.mean=2TB", "flows.0.arrivals.mean: expected a size from 1 byte to"),
        ("flows.one.arrivals.mean=0", "flows.0.arrivals.mean: expected a size"),
        ("flows.one.arrivals.size=1", "flows.0.arrivals.size: unknown key; expected one of mean,"),
    ],
)
def test_refused(override: str, expected: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(expected)):
        check(override)


def test_what_wale_get_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = check()
    plan = results.plan_data(make_plan(scenario, 1), scenario, 1)
    processes = Processes()
    flows = Flows(plan, processes)
    flow = plan["flows"][0]
    flows.records[flow["name"]] = {}
    told: list[str] = []

    def spawn(argv: list[str], *_: Any, **__: Any) -> tuple[int, str]:
        told.extend(argv)
        return 1, ""

    monkeypatch.setattr(processes, "spawn", spawn)
    flows.start_flow(flow)
    text = " ".join(told)
    assert f"--arrivals 0.625 --seed {planned()[0].seed} --transfers 3 --mean-size 200000" in text
    assert "--bytes" not in text and "--duration" not in text


# --------------------------------------------------------------- the results

#: The scenario started at 10 s of the guest's clock, the process 1 ms later.
START_NS = 10 * 10**9
EPOCH_NS = START_NS + 10**6


def client(number: int, arrival_s: float, seconds: float | None, size: int, port: int) -> str:
    """What wale get says of a session; seconds None: it failed."""
    return json.dumps(
        {
            "session": number,
            "arrival_s": arrival_s,
            "epoch_ns": EPOCH_NS,
            "local": f"10.2.1.2:{port}" if port else None,
            "cc": "ratcp",
            "bytes": size,
            "seconds": seconds,
            "sha256_ok": True if seconds else None,
            "completed": "all" if seconds else None,
            "error": None if seconds else "cut off",
        }
    )


def server(port: int, retransmits: int, size: int = 1460) -> str:
    """What wale serve says of a transfer."""
    return json.dumps(
        {
            "peer": f"10.2.1.2:{port}",
            "retransmits": retransmits,
            "retransmitted_bytes": retransmits * size,
            "mss_bytes": size,
            "data_segments": 100,
            "min_rtt_us": 100_000 + port,
        }
    )


#: In the order of their ends; session 4 has the port that session 1 had.
CLIENT = [
    client(2, 1.5, 0.5, 100_000, 4002),
    client(1, 0.5, 2.0, 100_000, 4001),
    client(3, 2.0, 1.0, 100_000, 4003),
    client(4, 5.0, 0.8, 100_000, 4001),
]
SERVER = [server(4002, 2), server(4001, 1), server(4003, 0), server(4001, 5)]


def record(client_lines: list[str], server_lines: list[str], **more: Any) -> dict[str, Any]:
    return {
        "client": "\n".join(client_lines),
        "server": "\n".join(server_lines),
        "client_errors": "",
        "status": 0,
        "started_ns": START_NS,
        "ended_ns": EPOCH_NS + 6 * 10**9,
        "late": None,
        **more,
    }


def test_client_and_server_are_joined() -> None:
    """By the port, and for a port that was used twice by the order."""
    found = sessions.sessions_of(record(CLIENT, SERVER))
    assert [s.number for s in found] == [1, 2, 3, 4]
    assert [s.server["retransmits"] for s in found] == [1, 2, 0, 5]
    assert [s.throughput_Bps for s in found] == [50e3, 200e3, 100e3, 125e3]
    assert [s.arrival_ns - EPOCH_NS for s in found] == [5 * 10**8, 15 * 10**8, 2 * 10**9, 5 * 10**9]


def test_flow_of_sessions() -> None:
    flow = sessions.flow_of_sessions(record(CLIENT, SERVER), "reno", 4)
    assert flow["completed"] and flow["error"] is None and flow["cc"] == "ratcp"
    assert (flow["bytes"], flow["seconds"]) == (400_000, 5.8)
    assert flow["goodput_Bps"] == pytest.approx(400_000 / 5.8)
    assert (flow["retransmits"], flow["data_segments"]) == (8, 400)
    assert (flow["mss_bytes"], flow["min_rtt_us"], flow["sha256_ok"]) == (1460, 104_001, True)
    told = flow["sessions"]
    assert (told["count"], told["completed"]) == (4, 4)
    assert told["mean_throughput_Bps"] == pytest.approx(118_750)
    assert told["mean_seconds"] == pytest.approx(4.3 / 4)
    assert told["p10_throughput_Bps"] == pytest.approx(65e3)
    assert told["p50_throughput_Bps"] == pytest.approx(112.5e3)
    assert told["p90_throughput_Bps"] == pytest.approx(177.5e3)
    assert told["throughput_cv"] == pytest.approx(0.4558, abs=1e-4)
    assert told["retransmits_per_session"] == 2
    assert told["retransmitted_bytes_per_session"] == 2 * 1460
    assert told["sessions_with_retransmits"] == 3


def test_a_session_that_failed() -> None:
    """It is not in the means; the flow did not complete, and says why."""
    said = [*CLIENT[:2], client(3, 2.0, None, 500, 4003), client(4, 3.0, None, 0, 0)]
    told = "wale get: session 3 at 2.000 s, a: cut off\nwale get: session 4 ...\n"
    broken = record(said, SERVER[:2], client_errors=told, status=1)
    flow = sessions.flow_of_sessions(broken, "reno", 4)
    assert not flow["completed"]
    assert flow["error"] == "wale get: session 3 at 2.000 s, a: cut off"
    assert (flow["sessions"]["count"], flow["sessions"]["completed"]) == (4, 2)
    assert flow["sessions"]["mean_throughput_Bps"] == pytest.approx(125e3)
    assert flow["bytes"] == 200_500 and flow["sha256_ok"] is None
    rows = sessions.rows_of("web", broken, START_NS)
    assert [r["end_s"] for r in rows] == ["2.501000000", "2.001000000", "", ""]
    assert (rows[2]["port"], rows[2]["retransmits"], rows[3]["port"]) == (4003, "", "")


@pytest.mark.parametrize("said", [[], ['{"session": 1, "arr']])
def test_no_session_came_to_its_end(said: list[str]) -> None:
    flow = sessions.flow_of_sessions(record(said, [], status=-15), "reno", 4)
    assert not flow["completed"] and flow["goodput_Bps"] is None
    assert flow["sessions"]["completed"] == 0
    assert flow["sessions"]["mean_throughput_Bps"] is None


def test_a_socket_is_of_the_last_session_that_had_its_port() -> None:
    names = sessions.SocketNames("web", sessions.sessions_of(record(CLIENT, SERVER)))
    at = [names.at(EPOCH_NS + int(t * 1e9), 4001) for t in (0.4, 0.5, 3, 5, 9)]
    assert at == [None, "web.1", "web.1", "web.4", "web.4"]
    assert names.at(EPOCH_NS + 9 * 10**9, 4009) is None
    assert sessions.SocketNames("web").at(0, 4001) == "web"


FLOWS = "t_ns,local_port,remote_port,bytes_sent,bytes_received\n"


def test_samples_are_of_single_sessions() -> None:
    plan = make_plan(check(), 1)
    at = EPOCH_NS + 1_600_000_000
    there = FLOWS + f"{at},5001,4001,100,0\n{at},5001,4002,200,0\n{at},5001,4003,7,0\n"
    here = FLOWS + f"{at},4002,5001,0,150\n{at},4001,5001,0,90\n"
    raw = {
        "start_ns": START_NS,
        "flows": {"one": record(CLIENT, SERVER), "two": record([], [])},
        "series": [
            {"netns": "one.pair1-sender", "flows": there},
            {"netns": "one.pair1-receiver", "flows": here},
        ],
    }
    rows = list(csv.DictReader(io.StringIO(results.flows_csv(raw, plan))))
    shown = [(r["flow"], r["bytes_sent"], r["bytes_received"]) for r in rows]
    assert shown == [("one.1", "100", "90"), ("one.2", "200", "150")]
    sessions_csv = results.sessions_csv(raw, plan)
    rows = list(csv.DictReader(io.StringIO(sessions_csv)))
    assert list(rows[0]) == list(sessions.SESSION_COLUMNS)
    assert [r["session"] for r in rows] == ["1", "2", "3", "4"]
    assert rows[0] == {
        "flow": "one",
        "session": "1",
        "arrival_s": "0.501000000",
        "end_s": "2.501000000",
        "bytes": "100000",
        "throughput_Bps": "50000.000",
        "retransmits": "1",
        "retransmitted_bytes": "1460",
        "port": "4001",
    }


def test_bytes_of_all_sessions_together() -> None:
    samples = [("a", 1.0, 10.0), ("b", 1.5, 5.0), ("a", 2.0, 33.0)]
    times, counts = sessions.received_over_time(samples, [("a", 2.5, 30.0), ("b", 3.0, 20.0)])
    assert times == [1.0, 1.5, 2.0, 2.5, 3.0]
    assert counts == [10.0, 15.0, 35.0, 35.0, 50.0]


# ------------------------------------------------------------------- a guest


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The scenario `web` with fewer sessions, closer together, and more samples."""
    out = tmp_path_factory.mktemp("web")
    overrides = ["flows.ratcp.arrivals.sessions=12", "flows.reno.arrivals.sessions=12"]
    overrides += ["flows.ratcp.arrivals.rate=1.2", "flows.reno.arrivals.rate=1.2"]
    overrides += ["record.interval=20ms"]
    result = run_scenario(load_scenario(find_scenario("web"), overrides), 1, out)
    assert results.problems(result) == []
    return result, out


def rows_of(out: Path, name: str) -> list[dict[str, str]]:
    with (out / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.guest
def test_sessions_are_those_that_were_drawn(web: tuple[dict[str, Any], Path]) -> None:
    """In every copy of the topology, and at their times, to a millisecond."""
    result, out = web
    seed = plans.arrivals_seed(1, 0)
    drawn = list(islice(Arrivals(1.2, 200_000, seed).sessions(), 12))
    starts = {flow["name"]: flow["start_s"] for flow in result["flows"]}
    for flow, start_s in starts.items():
        rows = [row for row in rows_of(out, "sessions.csv") if row["flow"] == flow]
        assert [int(row["bytes"]) for row in rows] == [s.size_bytes for s in drawn]
        for row, session in zip(rows, drawn, strict=True):
            late_s = float(row["arrival_s"]) - start_s - session.arrival_ns / 1e9
            assert 0 <= late_s < 1e-3
            assert float(row["end_s"]) > float(row["arrival_s"]) + 0.2  # two round trips
    assert [flow["sessions"]["completed"] for flow in result["flows"]] == [12, 12]
    assert result["flows"][0]["bytes"] == sum(s.size_bytes for s in drawn)


@pytest.mark.guest
def test_ratcp_shares_from_the_first_ack_on(web: tuple[dict[str, Any], Path]) -> None:
    """Each session hears C / n, n sessions having been there a round trip ago; none loses."""
    result, out = web
    ratcp, reno = (flow["sessions"] for flow in result["flows"])
    assert ratcp["retransmits_per_session"] == 0 < reno["retransmits_per_session"]
    times = [
        (float(row["arrival_s"]), float(row["end_s"]))
        for row in rows_of(out, "sessions.csv")
        if row["flow"] == "ratcp"
    ]
    samples = [row for row in rows_of(out, "channel.csv") if row["bytes_acked"] != "0"]
    assert "reno" not in {row["phase"] for row in samples}
    right = 0
    for row in samples:
        then = float(row["t_s"]) - int(row["base_rtt_us"]) / 1e6
        there = sum(begin <= then < end for begin, end in times)
        right += round(250_000 / int(row["rate_Bps"])) == max(there, 1)
    # a sample is of the last ACK, which may be of before a session came or went
    assert right > 0.9 * len(samples) > 0


@pytest.mark.guest
def test_samples_names_table_and_plot(
    web: tuple[dict[str, Any], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    result, out = web
    ends = {
        f"{row['flow']}.{row['session']}": float(row["end_s"])
        for row in rows_of(out, "sessions.csv")
    }
    samples = rows_of(out, "flows.csv")
    assert {row["flow"] for row in samples} == set(ends)
    for name in ends:
        mine = [row["bytes_received"] for row in samples if row["flow"] == name]
        counts = [int(count) for count in mine if count]  # at the end there is no receiver
        assert counts == sorted(counts) and counts[-1] > 0
    print_result(result, out)
    said = capsys.readouterr().out
    assert "sessions of" in said and "12 of 12" in said and "sessions.csv" in said
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert draw([out]).read_bytes().startswith(b"\x89PNG")


@pytest.mark.guest
def test_without_samples_of_flows(tmp_path: Path) -> None:
    """Nothing is sampled, every session is told; the digest has them all."""
    overrides = ["flows.ratcp.arrivals.sessions=2", "flows.reno.arrivals.sessions=2"]
    overrides += ["record.flows=off", "record.links=off"]
    scenario = load_scenario(find_scenario("web"), overrides)
    result = run_scenario(scenario, 1, tmp_path)
    assert len(rows_of(tmp_path, "sessions.csv")) == 4
    assert rows_of(tmp_path, "flows.csv") == []
    series = {
        name: (tmp_path / name).read_text() if (tmp_path / name).exists() else ""
        for name in ("flows.csv", "links.csv", "channel.csv", "sessions.csv")
    }
    assert results.digest_of(result, series) == result["digest"]
    series["sessions.csv"] += "ratcp,3,1,2,3,1.5,0,0,4000\n"
    assert results.digest_of(result, series) != result["digest"]


def test_a_batch_is_what_the_programs_take() -> None:
    header = (SOURCES / "userspace/lib/command.h").read_text(encoding="utf-8")
    limits = re.findall(r"#define BATCH_(MIN|MAX) \((\d+) << (\d+)\)", header)
    found = {end: int(number) << int(bits) for end, number, bits in limits}
    assert found == {"MIN": fields.BATCH_MIN, "MAX": fields.BATCH_MAX}


@pytest.mark.guest
def test_a_batch_is_part_of_the_digest(tmp_path: Path) -> None:
    """With one, the same sessions get the same bytes."""
    digests, sizes = [], []
    for number, batch in enumerate(("4KiB", "4KiB", "1MB")):
        overrides = ["isolate=false", "record.flows=off", "record.links=off"]
        for flow in ("ratcp", "reno"):
            overrides += [f"flows.{flow}.arrivals.sessions=2", f"flows.{flow}.batch={batch}"]
        folder = tmp_path / str(number)
        result = run_scenario(load_scenario(find_scenario("web"), overrides), 1, folder)
        assert results.problems(result) == []
        assert [flow["sessions"]["completed"] for flow in result["flows"]] == [2, 2]
        digests.append(result["digest"])
        sizes.append([flow["bytes"] for flow in result["flows"]])
    assert digests[0] == digests[1] != digests[2]
    assert sizes[0] == sizes[1] == sizes[2]
