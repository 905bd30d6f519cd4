# SPDX-License-Identifier: GPL-2.0
"""Quantities with units."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from wale_lab import units
from wale_lab.errors import ScenarioError
from wale_lab.trace_files import trace_lines
from wale_lab.trace_format.step import Step, parse_step
from wale_lab.trace_format.trace_file import read_trace as read_file

TOP = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (units.parse_time_ns, "50ms", 50_000_000),
        (units.parse_time_ns, "1.5 s", 1_500_000_000),
        (units.parse_time_ns, "2min", 120_000_000_000),
        (units.parse_time_ns, "1ns", 1),
        (units.parse_time_ns, 0.25, 250_000_000),
        (units.parse_time_ns, "1sec", 1_000_000_000),
        (units.parse_time_ns, "20MSECS", 20_000_000),
        (units.parse_time_ns, "1h", 3600 * 10**9),
        (units.parse_time_ns, ".5s", 500_000_000),
        (units.parse_time_ns, "0.5ns", 1),
        (units.parse_time_ns, "2.5ns", 3),
        (units.parse_rate_bps, "2mbit", 2_000_000),
        (units.parse_rate_bps, "1.5 Gbit/s", 1_500_000_000),
        (units.parse_rate_bps, "250 kB/s", 2_000_000),
        (units.parse_rate_bps, "0bit", 0),
        (units.parse_rate_bps, "1mibit", 1_048_576),
        (units.parse_rate_bps, "2Mbit/s", 2_000_000),
        (units.parse_rate_bps, "1KiB/s", 8192),
        (units.parse_rate_bps, "0.1mbit", 100_000),
        (units.parse_rate_bps, "12345.672kbit", 12_345_672),
        (units.parse_rate_bps, 8000, 8000),
        (units.parse_size_bytes, "30kB", 30_000),
        (units.parse_size_bytes, "64KiB", 65_536),
        (units.parse_size_bytes, "3MB", 3_000_000),
        (units.parse_size_bytes, "64Ki", 65_536),
        (units.parse_size_bytes, "1kib", 1024),
        (units.parse_size_bytes, "1500b", 1500),
        (units.parse_size_bytes, 1500, 1500),
        (units.parse_limit, "30kB", "30000b"),
        (units.parse_limit, "20p", "20p"),
        (units.parse_limit, "10 packets", "10p"),
        (units.parse_limit, 20, "20p"),
        (units.parse_limit, "1000 cells", "1000 cells"),
        (units.parse_threshold, "90%", "90%"),
        (units.parse_threshold, "33.3333%", "33.3333%"),
        (units.parse_threshold, "27kB", "27000b"),
        (units.parse_threshold, "900 cells", "900 cells"),
        (units.parse_probability, "1%", 0.01),
        (units.parse_probability, 0.5, 0.5),
        (units.parse_probability, "0%", 0.0),
    ],
)
def test_value(parse: Callable[[object], object], text: object, value: object) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (units.parse_time_ns, "50 furlongs"),
        (units.parse_time_ns, "-1s"),
        (units.parse_time_ns, True),
        (units.parse_time_ns, None),
        (units.parse_rate_bps, "2mbps"),
        (units.parse_rate_bps, "2mb/s"),
        (units.parse_rate_bps, "fast"),
        (units.parse_rate_bps, "1bit"),
        (units.parse_rate_bps, "8ibit"),
        (units.parse_size_bytes, "30 litres"),
        (units.parse_size_bytes, "0.5"),
        (units.parse_size_bytes, "5iB"),
        (units.parse_limit, "0p"),
        (units.parse_limit, "1.5p"),
        (units.parse_limit, "0 cells"),
        (units.parse_threshold, "0%"),
        (units.parse_threshold, "101%"),
        (units.parse_probability, "101%"),
        (units.parse_probability, "1 percent"),
    ],
)
def test_refused(parse: Callable[[object], object], text: object) -> None:
    with pytest.raises(ValueError, match="expected"):
        parse(text)


@pytest.mark.parametrize(
    ("parse", "text", "readings"),
    [
        (units.parse_size_bytes, "30kb", '"30kB" (30,000 bytes) or "30KiB" (30,720 bytes'),
        (units.parse_size_bytes, "30KB", '"30kB" (30,000 bytes) or "30KiB" (30,720 bytes'),
        (units.parse_size_bytes, "2k", '"2kB" (2,000 bytes) or "2KiB" (2,048 bytes'),
        (units.parse_size_bytes, "1.5Mb", '"1.5MB" (1,500,000 bytes) or "1.5MiB" (1,572,864 bytes'),
        (units.parse_limit, "30kb", '"30kB" (30,000 bytes) or "30KiB" (30,720 bytes'),
        (units.parse_threshold, "27kb", '"27kB" (27,000 bytes) or "27KiB" (27,648 bytes'),
        (units.parse_limit, "1e999k", '"1e999kB" (1.00000000000000e+1002 bytes) or'),
        (units.parse_rate_bps, "8Mbps", '"8Mbit" (bits per second) or "8MB/s" (bytes per second'),
        (units.parse_rate_bps, "2mb/s", '"2Mbit" (bits per second) or "2MB/s" (bytes per second'),
    ],
)
def test_ambiguous(parse: Callable[[object], object], text: str, readings: str) -> None:
    """What tc and other people read as another number is refused, with both readings."""
    with pytest.raises(ValueError, match=re.escape(f" such as {readings}")):
        parse(text)


#: A line of a trace file, and what it is.
STEPS = {
    "1h 8mbit": (3600 * 10**9, 8_000_000),
    "1d 250kB/s": (86_400 * 10**9, 2_000_000),
    "2min 1mibit": (120 * 10**9, 1_048_576),
    "1sec 8Mbps": (10**9, 64_000_000),
    "1.5MSEC .5KiBps": (1_500_000, 4096),
    "1001.5ns 1e-3gbit/s": (1002, 1_000_000),
    "1us 8kbit": (1000, 8000),
    "86400s 8000": (86_400 * 10**9, 8000),
}


@pytest.fixture(scope="module")
def read_trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that reads a trace with the library of tc and wale."""
    sources = [TOP / "testbed/tests/data/read_trace.c"]
    sources += [
        TOP / f"userspace/lib/{name}.c"
        for name in (
            "link_trace",
            "link_error",
            "trace_lines",
            "trace_step",
            "units",
            "json",
            "utf8",
        )
    ]
    include = [f"-I{TOP}/userspace", f"-I{TOP}/kmod/include/uapi", "-D_GNU_SOURCE"]
    program = tmp_path_factory.mktemp("trace") / "read_trace"
    subprocess.run(["cc", *include, "-o", program, *sources], check=True)
    return program


def _as_tc(step: Step) -> str:
    """A step as read_trace.c prints it."""
    values = [
        "down" if step.down else step.rate_bps,
        step.delay_ns,
        None if step.loss is None else min(round(step.loss * 2**32), 2**32 - 1),
        None if step.limit is None else step.limit[:-1],
    ]
    unit = "b" if step.limit and step.limit.endswith("b") else "p"
    return " ".join([str(step.duration_ns), *("-" if v is None else str(v) for v in values), unit])


def test_trace_file_is_the_same_to_tc(tmp_path: Path, read_trace: Path) -> None:
    """What a scenario reads in a file is what the library of tc and wale reads."""
    for line, step in STEPS.items():
        assert parse_step(line.split())[:2] == step
    trace = tmp_path / "units.trace"
    lines = list(STEPS)
    trace.write_text("".join(f"{line}\n" for line in lines))
    done = subprocess.run([read_trace, trace], capture_output=True, text=True, check=True)
    read = [tuple(int(word) for word in line.split()[:2]) for line in done.stdout.splitlines()]
    assert read == list(STEPS.values())


@pytest.mark.parametrize(
    "text",
    [
        "1s 8mbit 20ms 0.1% 100p\n1500ms 6mbit 45ms\n500ms down\n",
        "1s 20ms 100P 100% 0\n1s - 1e-3% 1us # a comment\n\n1s 8Mbps\n",
        "1s 0ns 30000b\n1s down 1.5KiB 0%\n1s 2mib 33.3%\n1s 1TiB\n1s 7Gib\n",
        "duration loss limit rate delay\n1s 5% 7p 8mbit 1ms\n1ms - - down -\n2s - - - 86400s\n",
        "# first\nduration delay\n1s 5ms\n",
        "\ufeff1s 8mbit\r\n1s\t9mbit\v\f\r\n",
        "\ufeffduration rate\n1s 8mbit",
        "1s 1e-19s 1e19B 1e-20%\n",
    ],
)
def test_columns_are_the_same_to_tc(tmp_path: Path, read_trace: Path, text: str) -> None:
    trace = tmp_path / "a.trace"
    trace.write_text(text)
    done = subprocess.run([read_trace, trace], capture_output=True, text=True, check=True)
    steps, _ = read_file(str(trace), trace_lines(trace))
    assert done.stdout.splitlines() == [_as_tc(step) for step in steps]


@pytest.mark.parametrize(
    "text",
    [
        "1s\n", "1s 8mbit 9mbit\n", "1s 8mbit down\n", "1s 20ms 30ms\n", "1s 20\n1s 8mbit 20\n",
        "1s 101%\n", "1s -1%\n", "1s 1%%\n", "1s 86401s\n", "1s 0p\n", "1s 4294967296p\n", "1s 1.5p\n",
        "1s 30kB\n", "1s 30k\n", "1s 0B\n", "1s 16777216TiB\n", "1s 1.3B\n", "1s 8mbit x\n",
        "1s Down\n", "1s unlimited\n", "1s 10p\n1s 10B\n", "1s -\n", "1s down\n1s 0bit\n", "",
        "duration\n1s\n", "duration rate rate\n1s 1mbit 1mbit\n", "duration speed\n1s 1mbit\n",
        "duration rate delay\n1s 8mbit\n", "duration rate\n1s 8mbit 20ms\n",
        "duration rate delay\n1s 20ms 8mbit\n", "duration delay\n1s 20\n", "duration delay\n1s down\n",
        "1s 8mbit\nduration rate\n", "999ns 8mbit\n", "86401s 8mbit\n", "5 8mbit\n", "0 8mbit\n",
        "1s 1e1000bit\n", "1s 1e-1000s\n", "1s 8mbit\0 20ms\n", "1s 8mbit\r1s 9mbit\r", "1s\u00a08mbit\n", "1s 8mbit\x1c20ms\n", "1s \u0661p\n",
        "1s 1\u212aiB\n", "1s 1\u212abit\n", "1s 8mbit\n\ufeff1s 8mbit\n",
    ],
)  # fmt: skip
def test_what_a_scenario_refuses_tc_refuses(tmp_path: Path, read_trace: Path, text: str) -> None:
    trace = tmp_path / "a.trace"
    trace.write_text(text)
    assert subprocess.run([read_trace, trace], capture_output=True, check=False).returncode == 1
    with pytest.raises(ScenarioError):
        read_file(str(trace), trace_lines(trace))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("2000 8mbit", "a time with a unit"),
        ("1e-3 8mbit", "a time with a unit"),
        ("1e3 8mbit", "a time with a unit"),
        ("1s 7bit", "the least is 8bit"),
        ("1s 2mb/s", "bits per second"),
        ("1s unlimited", "a rate such as"),
    ],
)
def test_step_refused(line: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_step(line.split())


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("12345678bit", "the nearest are 12345672bit and 12345680bit"),
        ("300bit", "the nearest are 296bit and 304bit"),
        ("1.0005 B/s", "the nearest are 8bit and 16bit"),
        ("0.29kbit", "the nearest are 288bit and 296bit"),
        ("7bit", "the least is 8bit"),
        (1e-9, "the least is 8bit"),
    ],
)
def test_rate_between_two_bytes(text: object, near: str) -> None:
    """A rate that no link can have is refused with those that one can have, as tc does."""
    with pytest.raises(ValueError, match=f"a whole number of bytes/s, got {text!r}; {near}$"):
        units.parse_rate_bps(text)


def test_shown() -> None:
    assert [units.show_count(n, "run") for n in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]
    assert units.show_rate(2_000_000) == "2 Mbit/s"
    assert units.show_rate(12_345_678) == "12.345678 Mbit/s"
    assert units.show_rate(8) == "0.000008 Mbit/s"
    assert units.show_rate(10 * 10**9) == "10000 Mbit/s"
    assert units.show_goodput(151_000) == "1.208 Mbit/s"
    assert units.show_time_ns(50_000_000) == "50 ms"
    assert units.show_bytes(4_000_000) == "4.00 MB"
