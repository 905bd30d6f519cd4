# SPDX-License-Identifier: GPL-2.0
"""The log of all packets: against counters, samples and models; and what it is written as."""

from __future__ import annotations

import csv
import json
import re
import shutil
import struct
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from scapy.utils import RawPcapNgReader

from wale_lab.engines.base import EngineError
from wale_lab.models.link import Config, Link, Verdict
from wale_lab.packets import log as packet_log
from wale_lab.packets import pcapng
from wale_lab.packets.log import TraceError, write_log
from wale_lab.packets.table import PACKET_COLUMNS, SCHEMA
from wale_lab.packets.trace_pages import EventFormat, Trace, page_size
from wale_lab.runner import run_scenario
from wale_lab.scenario import Scenario, load_scenario
from wale_lab.topologies import plan as plans
from wale_lab.topologies.planning import make_plan

SMALL = """\
name: small
description: a link that is small in every respect
bottleneck:
  forward: {rate: 5mbit, delay: 20ms, limit: 20p, loss: 1%}
  reverse: {rate: 1mbit, delay: 20ms}
flows:
  - {name: one, cc: cubic, size: 1MB}
  - {name: two, cc: reno, size: 500kB, start: 100ms}
record: {interval: 20ms}
"""

UNLIMITED = SMALL.replace("limit: 20p, ", "")

#: Its two flows, a buffer of cells in which those of different flows are side by side.
CELLS = [
    "bottleneck.forward.overhead=atm",
    "bottleneck.forward.limit=300 cells",
    "bottleneck.forward.input_rate=10mbit",
    "bottleneck.forward.loss=0",
    "topology.pairs=2",
    "flows.two.pair=pair2",
]

IMPAIRED = [
    "bottleneck.forward.jitter={time: 5ms}",
    "bottleneck.forward.reorder={share: 2%}",
    "bottleneck.forward.duplicate=2%",
    "bottleneck.forward.corrupt=1%",
]


def scenario_of(folder: Path, *overrides: str, text: str = SMALL) -> Scenario:
    path = folder / "scenario.yaml"
    path.write_text(text)
    return load_scenario(path, list(overrides))


class Run:
    """A run with a log, and what the log was made from."""

    def __init__(self, folder: Path, scenario: Scenario, kind: str = "parquet") -> None:
        self.folder, self.raw, self.scenario = folder / "out", folder / "raw", scenario
        self.raw.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(packet_log, "write_log", self.write_log)
            self.result = run_scenario(scenario, 1, self.folder, packets=kind)
        if kind == "parquet":
            table = pyarrow.parquet.read_table(self.folder / "packets.parquet")
            assert table.schema.names == list(PACKET_COLUMNS)
            self.rows: list[dict[str, Any]] = table.to_pylist()

    def write_log(self, folders: list[Path], *arguments: Any) -> dict[str, Any]:
        (folder,) = folders
        for name in ("trace.json", "namespaces.json", "pages.raw"):
            shutil.copy(folder / name, self.raw)
        self.counters = arguments[3]
        return write_log(folders, *arguments)

    def again(self, out: Path) -> dict[str, Any]:
        """Write the log once more."""
        out.mkdir(exist_ok=True)
        plan = make_plan(self.scenario, 1)
        return write_log([self.raw], out, "parquet", plan, self.counters, lambda _: None)

    def on(self, link: str) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["link"] == link]


def assert_counted(run: Run) -> None:
    """Each packet of each link has a row, with its fate."""
    for link in run.result["links"]:
        rows = run.on(link["name"])
        copies = [row for row in rows if row["copy"]]
        assert len(rows) - len(copies) == link["offered_packets"]
        assert len(copies) == link.get("duplicated_packets", 0)
        assert sum(row["fate"] == "delivered" for row in rows) == link["sent_packets"]
        assert sum(r["wire_bytes"] for r in rows if r["fate"] == "delivered") == link["sent_bytes"]
        for reason, count in link["dropped_packets"].items():
            assert sum(row["fate"] == reason for row in rows) == count
        corrupted = [row for row in rows if row["corrupted"] and not row["copy"]]
        assert len(corrupted) == link.get("corrupted_packets", 0)


def assert_sound(run: Run) -> None:
    """What holds of any packet."""
    assert [r["arrival_ns"] for r in run.rows] == sorted(r["arrival_ns"] for r in run.rows)
    for row in run.rows:
        served = row["start_ns"] is not None
        assert served == (row["fate"] in ("delivered", "loss", "partial"))
        assert served == (row["end_ns"] is not None)
        if served:
            assert row["arrival_ns"] <= row["start_ns"] <= row["end_ns"]
        assert (row["departure_ns"] is None) == (row["fate"] != "delivered")
        assert (row["dropped_ns"] is None) == (row["fate"] == "delivered")
        assert row["departure_ns"] is None or row["departure_ns"] >= row["end_ns"]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("small")
    return Run(folder, scenario_of(folder))


@pytest.mark.guest
def test_run_is_the_same_without_a_log(small: Run, tmp_path: Path) -> None:
    without = run_scenario(small.scenario, 1, tmp_path / "out")
    assert without["digest"] == small.result["digest"]
    assert "packets" not in without
    assert small.result["packets"] == {
        "rows": len(small.rows),
        "files": ["packets.parquet", "packets.pcapng"],
    }


@pytest.mark.guest
def test_slack_is_the_same_without_a_log(tmp_path: Path) -> None:
    """What is due leaves when another packet comes, whether that is written down or not."""
    run = Run(tmp_path, scenario_of(tmp_path, "bottleneck.forward.slack=20ms"))
    without = run_scenario(run.scenario, 1, tmp_path / "without")
    assert without["digest"] == run.result["digest"]


@pytest.mark.guest
def test_log_goes_when_the_next_run_has_none(small: Run, tmp_path: Path) -> None:
    for name in small.result["packets"]["files"]:
        (tmp_path / name).write_text("old")
    run_scenario(small.scenario, 1, tmp_path)
    assert not list(tmp_path.glob("packets.*"))


@pytest.mark.guest
def test_counters(small: Run) -> None:
    assert_counted(small)
    assert_sound(small)
    assert {"buffer", "loss", "delivered"} <= {row["fate"] for row in small.rows}


@pytest.mark.guest
def test_times_are_those_of_the_model(small: Run) -> None:
    rows = small.on("forward")
    # of packets that came at once, those that found no room came last
    rows.sort(key=lambda row: (row["arrival_ns"], row["fate"] == "buffer"))
    seed = plans.link_seed(1, "forward")
    config = Config(rate=625_000, delay_ns=20_000_000, limit_packets=20, loss=42949673, seed=seed)
    packets = Link(config).run([(row["arrival_ns"], row["wire_bytes"]) for row in rows])
    fates = {Verdict.SENT: "delivered", Verdict.LOSS: "loss", Verdict.BUFFER: "buffer"}
    end = -(10**18)
    for row, packet in zip(rows, packets, strict=True):
        assert row["fate"] == fates[packet.verdict]
        assert row["end_ns"] == packet.completion_ns
        assert row["departure_ns"] == packet.departure_ns
        assert row["rate_Bps"] == 625_000
        if packet.completion_ns is not None:
            assert row["start_ns"] == max(row["arrival_ns"], end)
            end = packet.completion_ns


@pytest.mark.guest
def test_flows_and_what_their_packets_say(small: Run) -> None:
    for flow in small.result["flows"]:
        name, size = flow["name"], flow["bytes"]
        data = [r for r in small.rows if r["flow"] == name and r["link"] == "forward"]
        acks = [r for r in small.rows if r["flow"] == name and r["link"] == "reverse"]
        assert len(data) + len(acks) == sum(r["flow"] == name for r in small.rows)
        assert {(r["source"], r["target"]) for r in data} == {("10.1.1.2", "10.2.1.2")}
        assert {(r["target"], r["source"]) for r in acks} == {("10.1.1.2", "10.2.1.2")}
        assert {r["target_port"] for r in acks} == {r["source_port"] for r in data}
        assert {r["protocol"] for r in data} == {6}
        parts = {(r["seq"], r["payload_bytes"]) for r in data if r["fate"] == "delivered"}
        carried = sum(length for _, length in parts)
        assert size < carried < size + 1000  # and the lines around it
        sent_again = len([r for r in data if r["payload_bytes"]]) - len(
            {r["seq"] for r in data if r["payload_bytes"]}
        )
        assert abs(sent_again - flow["retransmits"]) <= 1
        assert all(r["tcp_flags"] & 2 for r in acks[:1])


@pytest.mark.guest
def test_windows_are_those_of_the_samples(small: Run) -> None:
    with (small.folder / "flows.csv").open() as file:
        samples = [r for r in csv.DictReader(file) if r["state"] == "ESTABLISHED"]
    same = close = 0
    for sample in samples:
        sent = [
            row["cwnd_packets"]
            for row in small.on("forward")
            if row["flow"] == sample["flow"] and row["arrival_ns"] <= float(sample["t_s"]) * 1e9
        ]
        difference = abs(sent[-1] - int(sample["cwnd_packets"]))
        same += difference == 0
        close += difference <= 1
    assert same >= 0.8 * len(samples)  # an ACK without a packet lies between the others
    assert close >= 0.95 * len(samples)


@pytest.mark.guest
def test_capture_is_what_others_can_read(small: Run) -> None:
    with RawPcapNgReader(str(small.folder / "packets.pcapng")) as reader:
        found = list(reader)
    assert len(found) == len(small.rows)
    for (data, about), row in zip(found, small.rows, strict=True):
        assert about.linktype == 101
        assert about.ifname == row["link"].encode()
        assert (about.tshigh << 32 | about.tslow) == row["arrival_ns"]
        assert about.tsresol == 10**9
        assert about.wirelen == row["ip_bytes"]
        assert len(data) == min(row["ip_bytes"], 100)
        said = about.comments or [] if hasattr(about, "comments") else [about.comment]
        expected = [] if row["fate"] == "delivered" else [f"dropped: {row['fate']}".encode()]
        assert [text for text in said if text] == expected
        assert struct.unpack_from("!I", data, 24)[0] == row["seq"]


@pytest.mark.guest
def test_csv_has_the_same(small: Run, tmp_path: Path) -> None:
    run = Run(tmp_path, small.scenario, "csv")
    assert run.result["packets"]["files"][0] == "packets.csv"
    options = pyarrow.csv.ConvertOptions(
        column_types={f.name: f.type for f in SCHEMA}, strings_can_be_null=True
    )
    table = pyarrow.csv.read_csv(run.folder / "packets.csv", convert_options=options)
    assert table.to_pylist() == small.rows


@pytest.mark.guest
def test_impaired_link(tmp_path: Path) -> None:
    run = Run(tmp_path, scenario_of(tmp_path, *IMPAIRED))
    assert_counted(run)
    assert_sound(run)
    rows = run.on("forward")
    assert sum(row["copy"] for row in rows) > 5
    assert sum(row["corrupted"] for row in rows) > 2
    delays = {r["departure_ns"] - r["end_ns"] for r in rows if r["fate"] == "delivered"}
    assert len(delays) > 100
    assert 0 in delays
    without = run_scenario(run.scenario, 1, tmp_path / "without")
    assert without["digest"] == run.result["digest"]


def waits(rows: list[dict[str, Any]]) -> list[int]:
    """How long packets waited for service."""
    return [row["start_ns"] - row["arrival_ns"] for row in rows if row["start_ns"] is not None]


@pytest.mark.guest
def test_fifo_in_the_place_of_the_buffer(tmp_path: Path) -> None:
    """It has the packet in service no more; else all is as without it."""
    changes = ["bottleneck.forward.queue=pfifo limit 19", "bottleneck.forward.loss=0"]
    run = Run(tmp_path, scenario_of(tmp_path, *changes, text=UNLIMITED))
    assert_counted(run)
    assert_sound(run)
    rows = run.on("forward")
    # of packets that came at once, those that found no room came last
    rows.sort(key=lambda row: (row["arrival_ns"], row["fate"] == "child"))
    config = Config(rate=625_000, delay_ns=20_000_000, limit_packets=20)
    packets = Link(config).run([(row["arrival_ns"], row["wire_bytes"]) for row in rows])
    assert {packet.verdict for packet in packets} == {Verdict.SENT, Verdict.BUFFER}
    for row, packet in zip(rows, packets, strict=True):
        assert row["departure_ns"] == packet.departure_ns
        assert row["fate"] == ("child" if packet.verdict is Verdict.BUFFER else "delivered")
        assert row["dropped_ns"] in (None, row["arrival_ns"])
    without = run_scenario(run.scenario, 1, tmp_path / "without")
    assert without["digest"] == run.result["digest"]


@pytest.mark.guest
def test_aqm_in_the_place_of_the_buffer(tmp_path: Path) -> None:
    """It drops packets that waited, and keeps waits short."""
    changes = ["isolate=true", "bottleneck.forward.loss=0", "bottleneck.forward.duplicate=1%",
               "bottleneck.forward.queue=fq_codel limit 1000"]  # fmt: skip
    run = Run(tmp_path, scenario_of(tmp_path, *changes, text=UNLIMITED))
    assert_counted(run)
    assert_sound(run)
    for flow in ("one", "two"):
        rows = run.on(f"{flow}.forward")
        assert any(row["copy"] for row in rows)
        drops = [row for row in rows if row["fate"] == "child"]
        assert drops
        assert all(row["dropped_ns"] > row["arrival_ns"] + 5_000_000 for row in drops)
        assert 0 == min(waits(rows)) < max(waits(rows)) < 400_000_000
    assert {r["flow"] for r in run.on("two.forward")} == {"two"}


@pytest.mark.guest
def test_link_with_cells(tmp_path: Path) -> None:
    run = Run(tmp_path, scenario_of(tmp_path, *CELLS))
    assert_counted(run)
    assert_sound(run)
    rows = run.on("forward")
    assert {row["flow"] for row in rows} == {"one", "two"}
    assert {"delivered", "partial"} <= {row["fate"] for row in rows}
    served = [row for row in rows if row["fate"] == "delivered"]
    for row in served:
        assert row["wire_bytes"] % 53 == 0
        assert row["end_ns"] - row["start_ns"] >= row["wire_bytes"] * 1600
        assert row["departure_ns"] == row["end_ns"] + 20_000_000
    # cells of both are served in turns, and each is served once
    assert any(row["end_ns"] - row["start_ns"] > row["wire_bytes"] * 1601 for row in served)
    for flow in ("one", "two"):
        mine = sorted((r["start_ns"], r["end_ns"]) for r in served if r["flow"] == flow)
        assert all(first[1] <= then[0] for first, then in pairwise(mine))


@pytest.mark.guest
def test_copies_of_a_link_and_advice(tmp_path: Path) -> None:
    overrides = [
        "isolate=true",
        "flows.0.cc=ratcp",
        "bottleneck.forward.feedback=true",
        "bottleneck.forward.loss=0",
        "bottleneck.forward.limit=200p",
    ]
    run = Run(tmp_path, scenario_of(tmp_path, *overrides))
    assert_counted(run)
    assert {row["link"] for row in run.rows} == {
        f"{flow}.{direction}" for flow in ("one", "two") for direction in ("forward", "reverse")
    }
    for row in run.rows:
        assert row["link"].startswith(row["flow"] + ".")
        assert row["cwnd_packets"] is not None
        if row["flow"] == "two" or row["link"] == "one.reverse":
            assert row["rate_window_packets"] is None
    data = [row for row in run.on("one.forward") if row["payload_bytes"]]
    assert {row["advised_rate_Bps"] for row in data} == {625_000}
    with (run.folder / "channel.csv").open() as file:
        for sample in csv.DictReader(file):
            sent = [r for r in data if r["arrival_ns"] <= float(sample["t_s"]) * 1e9]
            if sent:
                assert sent[-1]["rate_window_packets"] == int(sample["rate_window_packets"])
    # the same addresses and ports, but each has its own window
    last = {row["flow"]: row["cwnd_packets"] for row in run.rows if row["payload_bytes"]}
    assert last["one"] != last["two"]


@pytest.mark.guest
def test_sessions_ipv6_udp_and_access_links(tmp_path: Path) -> None:
    text = SMALL.partition("flows:")[0] + (
        "ip: 6\n"
        "topology: {pairs: [{name: pair1, access_delay: 3ms}]}\n"
        "flows:\n"
        "  - {name: web, cc: reno, arrivals: {rate: 40, sessions: 60, mean: 5kB}}\n"
        "  - {name: udp, constant: {rate: 500kbit, packet: 200}, duration: 1s}\n"
    )
    run = Run(tmp_path, scenario_of(tmp_path, text=text))
    assert_counted(run)
    names = {row["flow"] for row in run.on("forward")}
    assert {f"web.{number}" for number in range(1, 61)} | {"udp"} == names
    udp = [row for row in run.on("forward") if row["flow"] == "udp"]
    assert {(r["protocol"], r["ip_bytes"], r["payload_bytes"]) for r in udp} == {(17, 200, 152)}
    assert {r["seq"] for r in udp} == {None}
    assert {r["source"] for r in run.on("forward")} == {"fd00:1:1::2"}
    access = run.on("pair1-access-data")
    assert len(access) == sum(r["fate"] == "delivered" for r in run.on("forward"))
    assert {r["departure_ns"] - r["arrival_ns"] for r in access} == {3_000_000}


@pytest.mark.guest
def test_damaged_addresses_do_not_go_round(tmp_path: Path) -> None:
    """No checksum has the addresses of IPv6: a router refuses what it has no route for."""
    text = (
        "name: stray\n"
        "ip: 6\n"
        "bottleneck: {forward: {rate: 10mbit, delay: 10ms, limit: 100kB, corrupt: 20%}}\n"
        "flows: [{name: a, size: 500kB}]\n"
    )
    run = Run(tmp_path, scenario_of(tmp_path, text=text))
    strays = Counter((row["link"], row["target"]) for row in run.rows if not row["flow"])
    assert strays and max(strays.values()) == 1


@pytest.mark.guest
def test_real_time(tmp_path: Path) -> None:
    changes = ["time=real", "flows.one.size=300kB", "flows.two.size=100kB"]
    run = Run(tmp_path, scenario_of(tmp_path, *changes))
    assert_counted(run)
    assert_sound(run)
    assert {row["flow"] for row in run.rows} == {"one", "two"}
    assert all(row["cwnd_packets"] for row in run.rows)


@pytest.mark.guest
def test_log_that_is_not_complete_is_none(small: Run, tmp_path: Path) -> None:
    assert small.again(tmp_path / "good")["rows"] == len(small.rows)
    about = json.loads((small.raw / "trace.json").read_text())
    pages = (small.raw / "pages.raw").read_bytes()
    size = page_size(about["header"])
    try:
        (small.raw / "pages.raw").write_bytes(pages[:size] + pages[2 * size :])
        with pytest.raises(TraceError, match=r"link \w+: the log has \d+ packets .*, the link"):
            small.again(tmp_path / "short")
        (small.raw / "pages.raw").write_bytes(pages[:-10])
        with pytest.raises(TraceError, match="in the middle of a page"):
            small.again(tmp_path / "cut")
        (small.raw / "trace.json").write_text(json.dumps({**about, "lost": 7}))
        with pytest.raises(TraceError, match="no place for 7 events; give the guest more"):
            small.again(tmp_path / "lost")
    finally:
        (small.raw / "trace.json").write_text(json.dumps(about))
        (small.raw / "pages.raw").write_bytes(pages)
    assert not [path for name in ("short", "cut", "lost") for path in (tmp_path / name).iterdir()]


@pytest.mark.guest
@pytest.mark.usefixtures("small_guest")
def test_guest_without_memory_says_so(tmp_path: Path) -> None:
    # a link without rate or delay; 64 MB of memory
    changes = ["memory_mb=64", "bottleneck.forward.loss=0", "bottleneck.forward.rate=500mbit",
               "bottleneck.reverse.rate=500mbit", "bottleneck.forward.limit=3000p",
               "flows.one.size=100MB"]  # fmt: skip
    with pytest.raises(EngineError, match=r"no log of packets: .* --set memory_mb=4096"):
        run_scenario(scenario_of(tmp_path, *changes), 1, tmp_path / "out", packets="parquet")
    assert not list(tmp_path.glob("out/*"))


def test_no_link_to_log(tmp_path: Path) -> None:
    text = SMALL.replace("{rate: 5mbit, delay: 20ms, limit: 20p, loss: 1%}", "{qdisc: pfifo}")
    text = text.replace("{rate: 1mbit, delay: 20ms}", "{qdisc: pfifo}")
    with pytest.raises(EngineError, match="expected a link that is a wale qdisc"):
        run_scenario(scenario_of(tmp_path, text=text), 1, tmp_path / "out", packets="csv")


def test_every_fate_has_its_name() -> None:
    """Those of the counters, by which the log is checked."""
    reasons = re.search(r"enum wale_drop_reason \{(.*?)\};", source("wale_counts.h"), re.S)
    event = re.search(r"TRACE_EVENT\(wale_packet,.*?\n\);", source("wale_trace.h"), re.S)
    assert reasons and event
    names = re.findall(r"^\t(?:__)?WALE_DROP_(\w+)", reasons[1], re.M)
    shown = re.findall(r'\{ (?:__)?WALE_DROP_(\w+),\s*"(\w+)" \}', event[0])
    assert shown == [(name, "delivered" if name == "MAX" else name.lower()) for name in names]
    defined = re.findall(r"TRACE_DEFINE_ENUM\((?:__)?WALE_DROP_(\w+)\)", source("wale_trace.h"))
    assert defined == names


def source(name: str) -> str:
    return (Path(__file__).resolve().parents[2] / "kmod/wale" / name).read_text()


# The trace, made by hand

HEADER = (
    "field: u64 timestamp; offset:0; size:8;\n field: char data; offset:16; size:112; signed:1;"
)
FORM = """\
name: thing
ID: 5
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;

\tfield:u32 value;\toffset:4;\tsize:4;\tsigned:0;
\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:1;
\tfield:__u8 where[3];\toffset:12;\tsize:3;\tsigned:0;

print fmt: "%s", __print_symbolic(REC->value, { 0, "none" }, { 7, "seven" })
"""


def entry(kind: int, delta: int, data: bytes = b"") -> bytes:
    return struct.pack("<I", kind | delta << 5) + data


def event(value: int, name: bytes) -> bytes:
    data = struct.pack("<HHIHH", 5, 0, value, 16, len(name)) + b"abc\0" + name
    return data + bytes(-len(data) % 4)


def page(time: int, *entries: bytes, flags: int = 0) -> bytes:
    data = b"".join(entries)
    return (struct.pack("<QQ", time, len(data) | flags) + data).ljust(128, b"\xee")


def test_trace_pages(tmp_path: Path) -> None:
    short = event(7, b"ab")
    long = event(8, b"0123456789ab")
    pages = [
        page(
            1000,
            entry(len(short) // 4, 3, short),
            entry(30, 5, struct.pack("<I", 2)),  # the time goes on by 2 * 2^27 + 5
            entry(0, 1, struct.pack("<I", len(long) + 4) + long),
            entry(29, 0),
        ),
        page(5000),
        page(2**60, entry(31, 9, struct.pack("<I", 1)), entry(len(short) // 4, 1, short)),
    ]
    path = tmp_path / "pages.raw"
    path.write_bytes(b"".join(pages))
    trace, form = Trace(path, page_size(HEADER)), EventFormat.parse(FORM)
    (found,) = trace.find()
    late = 1000 + 3 + 5 + 2 * 2**27 + 1
    assert found.time_ns.tolist() == [1003, late, 2**60 + 2**27 + 10]
    assert set(trace.numbers(found.at)) == {form.number} == {5}
    fields = trace.fields(form, found.at)
    assert fields["value"].tolist() == [7, 8, 7]
    assert fields["where"][1].tobytes() == b"abc"
    assert form.symbols == {0: "none", 7: "seven"}
    names, lengths = trace.variable(found.at, fields["name"], 8)
    assert [name.tobytes() for name in names] == [b"ab" + bytes(6), b"01234567", b"ab" + bytes(6)]
    assert lengths.tolist() == [2, 8, 2]


def test_trace_with_a_hole(tmp_path: Path) -> None:
    path = tmp_path / "pages.raw"
    path.write_bytes(page(1) + page(2, entry(3, 0, event(1, b"")), flags=1 << 31))
    with pytest.raises(TraceError, match="events are missing"):
        list(Trace(path, 128).find())


def test_capture_before_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    heads = np.arange(24, dtype=np.uint8).reshape(2, 12)
    with path.open("wb") as file:
        capture = pcapng.Writer(file, ["a", "bc"], 100, offset_s=-2)
        times, zero = np.array([-1_500_000_000, 5]), np.zeros(2, np.int64)
        capture.write(zero + 1, times, zero + 50, heads, np.array([11, 12]), zero, ["why"])
    with RawPcapNgReader(str(path)) as reader:
        found = list(reader)
    assert [data for data, _ in found] == [heads[0, :11].tobytes(), heads[1].tobytes()]
    assert [about.tshigh << 32 | about.tslow for _, about in found] == [500_000_000, 2_000_000_005]
    assert {about.ifname for _, about in found} == {b"bc"}
