# SPDX-License-Identifier: GPL-2.0
"""wale-lab trace: files of other tools as traces of a link."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from wale_lab import cli
from wale_lab.errors import ScenarioError
from wale_lab.trace_format.step import Step
from wale_lab.trace_format.trace_file import read_trace

MS, SECOND = 10**6, 10**9


def put(folder: Path, text: str | bytes, name: str = "log") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def run(capsys: pytest.CaptureFixture[str], *words: object) -> list[Step]:
    """The steps that `wale-lab trace` writes, as everything else reads them."""
    assert cli.main(["trace", *map(str, words)]) == 0, capsys.readouterr().err
    return read_trace("out", capsys.readouterr().out.split("\n"))[0]


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What is said of a file that is refused, in one line, with nothing written."""
    assert cli.main(["trace", *map(str, words)]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    return err.replace(str(words[0]), "log")


def rates(*pairs: tuple[int, int]) -> list[Step]:
    return [Step(duration, rate_bps=rate) for duration, rate in pairs]


TWO = rates((SECOND, 5_000_000), (SECOND, 6_000_000))


@pytest.mark.parametrize(
    "text",
    [
        "0 5\n1 6\n",
        "# time Mbit/s\n0\t5.0\n1\t6e0\n",
        "0,5\n1,6\n",
        "0, 5\n1, 6\n",
        "0;5,0\n1;6,0\n",
        "0,0 5,0\n1,0 6,0\n",
        "\ufeff0 5\r\n1 6\r\n",
        "time_s,throughput_mbps\n0,5\n1,6\n",
        "Time (ms);Throughput [kbit/s]\n0;5000\n1000;6000,0\n",
        '"elapsed","DL_bitrate","UL_bitrate"\n0,5000,1\n1,6000,2\n',
        "t,rtt_max,tx MB/s,rx kB/s\n0,9,1,625\n1,9,1,750\n",
        "1 5\n2 6\n",
        "#time_ms,rate_kbps\n# of a bus\n\n0,5000\n1000,6000\n",
        "t;MBit/s\n0;5\n1;6\n",
        "Time;DL KByte/s;UL kBytes/sec\n0;625;1\n1;750;1\n",
        "# Time (ms)  Rate (kbit/s)\n0 5000\n1000 6000\n",
        "# a drive\n# rate in Mbit/s\n0 5\n1 6\n",
        "sep=;\r\nt [s];rate [Mbit/s]\r\n0;5,0\r\n1;6\r\n",
        '"t","rate; in\nMbps","note"\n0,5,"a,\n""b"""\n1,6,\n',
        "t,megabytes,bits_per_second\n0,1,5e6\n1,1,6e6\n",
        "Time\tBytes per second\n00:00:00\t625000\n00:00:01,0\t750000\n",
    ],
)
def test_time_and_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert run(capsys, put(tmp_path, text)) == TWO


def test_encodings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "0 5\n1 6\n"
    assert run(capsys, put(tmp_path, gzip.compress(text.encode()))) == TWO
    assert run(capsys, put(tmp_path, text.encode("utf-16"))) == TWO
    assert "compressed data are damaged" in refused(capsys, put(tmp_path, b"\x1f\x8b\x08rest"))
    assert "not text in UTF-8" in refused(capsys, put(tmp_path, b"0 5\n\xff\xfe 6\n"))


def test_period_and_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is written lasts as long and carries as much as what was read, to a byte/s a step."""
    rows = [(n * 250, (n * n * 37) % 9000) for n in range(400)]
    text = "time_ms,rate_kbps\n" + "".join(f"{t},{r}\n" for t, r in rows)
    steps = run(capsys, put(tmp_path, text))
    assert sum(step.duration_ns for step in steps) == 100 * SECOND
    carried = sum(step.duration_ns * (step.rate_bps or 0) for step in steps) // 8 // SECOND
    assert carried == sum(rate * 1000 // 8 * 250 for _, rate in rows) // 1000
    written = tmp_path / "out"
    assert cli.main(["trace", str(tmp_path / "log"), "--out", str(written)]) == 0
    assert run(capsys, written) == steps


UCC = """\
Timestamp,Longitude,Latitude,Speed,NetworkMode,CQI,DL_bitrate,UL_bitrate,State,PINGAVG,PINGMIN,PINGLOSS
2019.12.16_13.40.04,1,2,5,5G,9,20000,100,D,30,1,0
2019.12.16_13.40.04,1,2,5,5G,9,30000,100,D,30,1,0
2019.12.16_13.40.05,1,2,5,5G,9,-,200,D,40,1,5
"""


def test_a_drive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Named columns of 5G drive tests: a clock, two rows in a second, a value that is missing."""
    path = put(tmp_path, UCC)
    assert "log:2: expected times from the start" in refused(capsys, path)
    assert "--gaps hold" in refused(capsys, path, "--from-start")
    found = run(capsys, path, "--from-start", "--gaps", "hold")
    assert found == [
        Step(SECOND // 2, 20_000_000, 15 * MS, 0.0),
        Step(SECOND // 2, 30_000_000, 15 * MS, 0.0),
        Step(SECOND, 30_000_000, 20 * MS, 0.05),
    ]
    found = run(capsys, path, "--from-start", "--direction", "up", "--only", "rate")
    assert found == rates((SECOND, 100_000), (SECOND, 200_000))
    found = run(capsys, path, "--from-start", "--gaps", "down", "--only", "rate")
    assert found[-1] == Step(SECOND, down=True)


def test_columns_without_a_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A column that is empty in all rows is left out, and told; one that is asked for is not."""
    head, *rows = UCC.replace("-,200", "400,200").splitlines()
    cells = [row.split(",") for row in rows]
    rows = [",".join([*row[:9], "-", "-", "-"]) for row in cells]
    path = put(tmp_path, "\n".join([head, *rows]))
    assert cli.main(["trace", str(path), "--from-start"]) == 0
    out, err = capsys.readouterr()
    assert read_trace("out", out.split("\n"))[0][-1] == Step(SECOND, 400_000)
    assert "column 'PINGAVG': no value in any row, left out" in err
    said = refused(capsys, path, "--from-start", "--column", "rtt=PINGAVG:ms")
    assert "log:2: no value of 'PINGAVG'" in said
    path = put(tmp_path, "t,mbps\n0,-\n1,5\n2,6\n")
    assert "or choose columns with --only" in refused(capsys, path, "--gaps", "hold")


def test_times_of_a_day(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(
        tmp_path, "Date,Time,mbps,loss_fraction\nMay,9:59:59.5,5,0.5%\nMay,10:00:00.5,6,0.5\n"
    )
    assert "more than one column may be the time" in refused(capsys, path)
    found = run(capsys, path, "--column", "time=Time", "--from-start")
    assert found == [Step(SECOND, 5 * MS, loss=0.005), Step(SECOND, 6 * MS, loss=0.5)]


def test_columns_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(tmp_path, "a b c d\n0 5 20 30\n100 6 40 60\n")
    assert "give --column time=NAME:UNIT" in refused(capsys, path)
    words = "time=a:ms rate=b:Mbit rtt=c:ms limit=d:packets".split()
    options = [word for column in words for word in ("--column", column)]
    first, second = run(capsys, path, *options)
    assert first == Step(100 * MS, 5_000_000, 10 * MS, limit="30p")
    assert second == Step(100 * MS, 6_000_000, 20 * MS, limit="60p")
    path = put(tmp_path, "0 5 20\n100 6 40\n")
    assert "--column time=1:s" in refused(capsys, path)
    assert len(run(capsys, path, "--column", "time=1:ms", "--column", "delay=3:ms")) == 2
    assert "no unit of a rate" in refused(
        capsys, path, "--column", "time=1:s", "--column", "rate=2:apples"
    )
    assert "expected KIND=NAME" in refused(capsys, path, "--column", "speed=2:s")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0 5\n1\n", "log:2: expected 2 columns, as in line 1, got 1"),
        ("0 5\n1 6 7\n", "log:2: expected 2 columns, as in line 1, got 3"),
        ("0 5\n1 nan\n", "log:2: no value of '2'"),
        ("0 5\n1 inf\n", "log:2: column '2': expected a rate from 0 on, got 'inf'"),
        ("0 5\n1 -6\n", "log:2: column '2': expected a rate from 0 on, got '-6'"),
        ("0 5\nx 6\n", "log:2: column '1': expected a time, got 'x'"),
        ("0 5\n2 6\n1 7\n", "log:3: expected times that do not fall, and 1s comes after 2s"),
        (
            "0 5\n1 6\n2 6\n90 7\n",
            "log:4: 88s after the row before, where 1s is usual: --gaps hold",
        ),
        ("1575331420.5 5\n1575331421.5 6\n", "looks like a time of day: --from-start subtracts it"),
        ("1575331420500 5\n1575331421500 6\n", "looks like a time of day: --from-start"),
        ("100 5\n101 6\n", "the first one is 100 s: --from-start subtracts it"),
        ("0 5\n0 6\n", "all rows have the same time"),
        ("0 0\n1 0\n", "expected a step with a rate above 0"),
        ("0 5\n1e300 6\n", "expected a trace of at most 4000 days"),
        ("1" + "0" * 30 + ",5,6,7,8\n", "expected a trace of at most 4000 days"),
        ("0 5\n1 1e15\n", "at 1s: 1000000000000000000000 bit/s, of 8000000000000000 that"),
        ("time,rate\n0,5\n", "its name has no unit: give --column rate=rate:UNIT"),
        ("time,a_mbps,b_mbps\n0,5,6\n", "more than one column may be the rate, 'a_mbps', 'b_mbps'"),
        ("time,speed\n0,5\n", "expected a column with a rate, delay, loss or limit"),
        ("time,loss_%\n0,120\n1,0\n", "expected a share of packets up to all, got '120'"),
        ("", "the trace has no steps"),
        ("!?\n", "its format is not known: --from says it, one of wale, mahimahi"),
        ('{"a": 1}', "its format is not known"),
        ('{"intervals": [', "not valid JSON"),
        ('{"intervals": []}', "expected intervals with a rate, and there are none"),
        ('{"intervals": 7}', "intervals: expected a list"),
        ('{"intervals": [{"sum": {"seconds": 1}}]}', "expected intervals[0].sum.bits_per_second"),
        ('{"start": {}, "intervals": [], "error": "no route"}', "iperf3 failed: no route"),
        ('{"round_trips": [{"seqno": 1}]}', "expected round_trips[0].lost"),
        (
            "PING a\nFrom a icmp_seq=1 Destination Host Unreachable\n",
            "expected replies to ping with their time, got none",
        ),
        ("1000,5,6,7\n", "expected two columns without names"),
        ("1000,5,6,7,9\n1000,5,6_0,7,9\n", "log:2: expected whole numbers, got '1000,5,6_0,7,9'"),
        ('time,mbps,note\n0,5,"on\n1,6,off\n', "log:2: a quotation mark is not closed"),
        ("time,mbps\n0,-\n1,\n", "log: there is no value in column 'mbps'"),
        ("t,a mbps,b mbps\n0,5,6\n", "give --column 'rate=a mbps', or --direction"),
        ("0,5,6,7,1\n", "expected KEEP from 1 on"),
        ("1000,5,6,7,8\n1000,5\n", "log:2: expected KEEP,LATENCY,RATE,LOSS,LIMIT"),
        ("1s 8mbit\n1s\n", "log:2: expected `DURATION RATE`, got '1s' (a DELAY"),
    ],
)
def test_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, says: str) -> None:
    assert says in refused(capsys, put(tmp_path, text))


def test_long_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for before, digits, after, says in (
        ("time,mbps\n0,", 5000, "\n", "log:2: column 'mbps': expected a rate from 0 on, got '999"),
        ("time,mbps\n0,", 200_000, "\n", "log:2: not a row of a table: field larger"),
        ('{"intervals": [', 5000, "]}", "log: not valid JSON: a number is too long"),
    ):
        assert says in refused(capsys, put(tmp_path, before + "9" * digits + after))


def test_gaps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(tmp_path, "0 5\n1 6\n2 6\n90 7\n")
    found = run(capsys, path, "--gaps", "hold")
    assert found == rates((SECOND, 5 * MS), (89 * SECOND, 6 * MS), (SECOND, 7 * MS))
    found = run(capsys, path, "--gaps", "down")
    assert found[1:3] == [Step(2 * SECOND, 6 * MS), Step(87 * SECOND, down=True)]
    assert sum(step.duration_ns for step in found) == 91 * SECOND


def test_theaterq(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "KEEP\n1000000,20000000,8000000,4294967295,100\n500,25,-1,0,50\n"
    assert run(capsys, put(tmp_path, text.replace("KEEP", "KEEP,LATENCY,RATE,LOSS,LIMIT"))) == [
        Step(SECOND, 8_000_000, 20 * MS, 1.0, "100p"),
        Step(500_000, None, 25, 0.0, "50p"),
    ]
    path = put(tmp_path, "1000000,20000000,5,8000000,0,30000,0,0,1\n")
    assert cli.main(["trace", str(path), "--limit-unit", "bytes"]) == 0
    out, err = capsys.readouterr()
    assert "1s 8000000bit 20ms 0% 30000B" in out
    assert "jitter: no column of a link's trace, left out" in err
    no_limit = run(capsys, put(tmp_path, "1000000,20000000,8000000,0,0\n"))
    assert no_limit == [Step(SECOND, 8_000_000, 20 * MS, 0.0, "4294967295p")]


def test_leoreplayer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The bandwidth is Mahimahi's; delays, one for each 10 ms, begin again until it ends."""
    bandwidth = put(tmp_path, "".join(f"{ms}\n" for ms in range(1, 41)), "bw")
    delay = put(tmp_path, "12\r\n16\r\n14.0\r\n", "delay")
    found = run(capsys, bandwidth, delay, "--step", "10ms")
    assert [(step.duration_ns // MS, step.delay_ns) for step in found] == [
        (10, 12 * MS),
        (10, 16 * MS),
        (10, 14 * MS),
        (10, 12 * MS),
    ]
    assert {step.rate_bps for step in found} == {12_000_000}
    assert run(capsys, delay, bandwidth, "--step", "10ms") == found
    assert run(capsys, bandwidth, delay, "--only", "rate") == rates((40 * MS, 12_000_000))
    found = run(capsys, bandwidth, delay, "--from", "leoreplayer", "--interval", "20ms")
    assert [step.duration_ns // MS for step in found] == [20, 20]
    assert "expected a second file" in refused(capsys, bandwidth, "--from", "leoreplayer")


def test_mahimahi_up_and_down(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    up, down = put(tmp_path, "10\n20\n", "up"), put(tmp_path, "5\n10\n15\n20\n", "down")
    assert "expected --out NAME" in refused(capsys, up, down)
    out = tmp_path / "phone"
    assert cli.main(["trace", str(up), str(down), "--out", str(out), "--step", "10ms"]) == 0
    for way, rate in (("up", 1_200_000), ("down", 2_400_000)):
        assert run(capsys, tmp_path / f"phone.{way}") == rates((20 * MS, rate))
    clock = put(tmp_path, "1575331420000\n1575331420010\n1575331420020\n", "clock")
    assert "--from-start" in refused(capsys, clock)
    assert run(capsys, clock, "--from-start", "--step", "10ms")[0].duration_ns == 10 * MS


def test_cellreplay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train = put(tmp_path, "0 20 0 1 2\n1000 25 0 1\n2000 30 0\n", "train")
    pdo = put(tmp_path, "".join(f"{ms}\n" for ms in range(1, 3001)), "pdo")
    for words, rate in (([], 11_200_000), (["--packet", "1500"], 12_000_000)):
        steps = [Step(SECOND, rate, delay * MS) for delay in (20, 25, 30)]
        assert run(capsys, train, pdo, *words) == steps
    out = tmp_path / "cell"
    files = [str(path) for path in (train, train, pdo, pdo)]
    assert cli.main(["trace", *files, "--packet", "1500", "--out", str(out)]) == 0
    assert run(capsys, tmp_path / "cell.up") == run(capsys, tmp_path / "cell.down") == steps
    assert [step.delay_ns for step in run(capsys, train)] == [20 * MS, 25 * MS, 30 * MS]


def _interval(start: float, seconds: float, bps: float, **more: Any) -> dict[str, Any]:
    return {"start": start, "seconds": seconds, "bits_per_second": bps, "omitted": False, **more}


def test_iperf3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sums = [
        {"sum": _interval(0, 1.0, 9e9, omitted=True)},
        {"sum": _interval(0, 1.000123, 8_000_000.4)},
        {"sum": _interval(1.000123, 0.999877, 9e6)},
    ]
    path = put(tmp_path, json.dumps({"start": {}, "intervals": sums, "end": {}}))
    wanted = rates((1_000_123_000, 8_000_000), (999_877_000, 9_000_000))
    assert run(capsys, path) == wanted
    events = [{"event": "start", "data": {}}]
    events += [{"event": "interval", "data": each} for each in sums]
    stream = "".join(json.dumps(event) + "\n" for event in events)
    assert run(capsys, put(tmp_path, stream)) == wanted
    both = _interval(0, 1, 8e6, sender=True)
    other = _interval(0, 1, 2e6, sender=False)
    data = {"intervals": [{"sum": both, "sum_bidir_reverse": other}]}
    path = put(tmp_path, json.dumps(data))
    assert run(capsys, path) == rates((SECOND, 2_000_000))
    assert run(capsys, path, "--direction", "up") == rates((SECOND, 8_000_000))


@pytest.mark.parametrize("stream", [False, True])
def test_iperf3_that_was_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], stream: bool
) -> None:
    """What was measured until an interrupt is a trace; an error before any of it is not."""
    error = "interrupt - the client has terminated"
    for intervals in ([{"sum": _interval(0, 0.5, 8e6)}], []):
        text = json.dumps({"start": {}, "intervals": intervals, "error": error})
        if stream:
            events = [("start", {}), *(("interval", each) for each in intervals), ("error", error)]
            text = "\n".join(json.dumps({"event": kind, "data": data}) for kind, data in events)
        path = put(tmp_path, text)
        if intervals:
            assert cli.main(["trace", str(path)]) == 0
            out, err = capsys.readouterr()
            assert read_trace("out", out.split("\n"))[0] == rates((SECOND // 2, 8_000_000))
            assert f"iperf3 ended with an error, {error}: the trace ends there" in err
        else:
            assert f"iperf3 failed: {error}" in refused(capsys, path)


def test_ping(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Half of the round trip, with the time of -D, of the number, or of the interval."""

    def reply(number: int, ms: str, clock: str = "") -> str:
        return f"{clock}64 bytes from 192.0.2.1: icmp_seq={number} ttl=64 time={ms} ms\n"

    head = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"
    text = head + reply(1, "20") + reply(2, "24.5") + reply(2, "99").replace("ms", "ms (DUP!)")
    text += "no answer yet for icmp_seq=3\n" + reply(4, "30") + "--- statistics ---\n"
    wanted = [Step(SECOND, delay_ns=10 * MS), Step(2 * SECOND, delay_ns=12_250_000)]
    assert run(capsys, put(tmp_path, text)) == [*wanted, Step(SECOND, delay_ns=15 * MS)]
    short = run(capsys, tmp_path / "log", "--interval", "200ms")
    assert [step.duration_ns // MS for step in short] == [200, 400, 200]
    clocks = [f"[1575331420.{tenths}00000] " for tenths in (1, 3, 5)]
    timed = "".join(reply(n, str(20 + n), clock) for n, clock in enumerate(clocks))
    assert [step.duration_ns // MS for step in run(capsys, put(tmp_path, timed))] == [200] * 3
    wraps = reply(65535, "20") + reply(0, "22") + reply(1, "24")
    assert len(run(capsys, put(tmp_path, wraps))) == 3
    late = reply(65534, "20") + reply(0, "22") + reply(65535, "24") + reply(1, "26")
    found = run(capsys, put(tmp_path, late))
    assert [step.delay_ns for step in found] == [10 * MS, 12 * MS, 11 * MS, 13 * MS]


@pytest.mark.parametrize(
    ("reply", "lost"),
    [
        ("Reply from 192.0.2.1: bytes=32 time=12ms TTL=54", "Request timed out."),
        ("Antwort von 192.0.2.1: Bytes=32 Zeit=12ms TTL=54", "Zielhost nicht erreichbar."),
    ],
)
def test_ping_of_windows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], reply: str, lost: str
) -> None:
    """Its packets have no number: each has a line, lost or not."""
    assert run(capsys, put(tmp_path, reply), "--interval", "1s") == [Step(SECOND, delay_ns=6 * MS)]
    lines = ["", reply, lost, lost, reply.replace("12", "14"), reply, "", "Lost = 2 (40% loss)"]
    assert run(capsys, put(tmp_path, "\r\n".join(lines))) == [
        Step(3 * SECOND, delay_ns=6 * MS),
        Step(SECOND, delay_ns=7 * MS),
        Step(SECOND, delay_ns=6 * MS),
    ]


def test_irtt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trips = [
        {
            "seqno": n,
            "lost": "true" if n == 1 else "false",
            "timestamps": {
                "client": {"send": {"wall": 10**18, "monotonic": 5 * MS + n * 200 * MS}}
            },
            "delay": {} if n == 1 else {"rtt": (20 + n) * MS},
        }
        for n in range(4)
    ]
    path = put(tmp_path, json.dumps({"version": {"irtt": "0.9.1"}, "round_trips": trips}))
    assert run(capsys, path) == [
        Step(400 * MS, delay_ns=10 * MS),
        Step(200 * MS, delay_ns=11 * MS),
        Step(200 * MS, delay_ns=11_500_000),
    ]


def test_our_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of ours is read with columns and without, and its equal neighbours are one step."""
    text = "1s 8mbit 20ms 0.1% 100p\n1s 100p 0.1% 20ms 8mbit # the same\n500ms down\n1s - 30ms\n"
    found = [
        Step(2 * SECOND, 8_000_000, 20 * MS, 0.001, "100p"),
        Step(SECOND // 2, down=True),
        Step(SECOND, delay_ns=30 * MS),
    ]
    assert run(capsys, put(tmp_path, text)) == found
    named = (
        "duration delay rate loss limit\n2s 20ms 8mbit 0.1% 100p\n500ms - down - -\n1s 30ms - - -\n"
    )
    assert run(capsys, put(tmp_path, named)) == found


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["1s 8mbit 2mbit"], "out:1: expected one rate, got '8mbit' and '2mbit'"),
        (["1s 8mbit down"], "out:1: expected one rate"),
        (["1s 30kB"], "out:1: expected a limit such as"),
        (["1s 0p"], "out:1: expected a limit of"),
        (["1s 101%"], "out:1: expected a loss from 0% to 100%"),
        (["1s 86401s"], "out:1: expected a delay from 0ns to 86400s"),
        (["1 8mbit"], "out:1: expected a time with a unit"),
        (["100ns 8mbit"], "out:1: expected a duration from 1us to 1 day"),
        (["1s 8mbit 20"], "out:1: expected one rate"),
        (["1s unlimited"], "out:1: expected a rate"),
        (["1s 10p", "1s 10B"], "out: expected the limits all in packets, or all in bytes"),
        (["1s -"], "out: expected a step with a value"),
        (["1s down", "1s 0bit"], "out: expected a step with a rate above 0"),
        (["duration rate rate"], "out:1: expected each column once"),
        (["duration speed"], "out:1: expected rate, delay, loss, limit as names of columns"),
        (["duration"], "out:1: expected names of columns behind duration"),
        (
            ["duration rate delay", "1s 8mbit"],
            "out:2: expected 3 words, duration rate delay, got 2",
        ),
        (["duration rate delay", "1s 20ms 8mbit"], "out:2: expected a rate"),
        (["duration delay", "1s 20"], "out:2: expected a delay with a unit"),
        (["# nothing"], "out: the trace has no steps"),
    ],
)
def test_a_file_that_a_link_refuses(lines: list[str], says: str) -> None:
    with pytest.raises(ScenarioError) as error:
        read_trace("out", lines)
    assert str(error.value).startswith(says)
