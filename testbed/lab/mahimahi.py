# SPDX-License-Identifier: GPL-2.0
"""`wale-lab trace`: a Mahimahi trace as steps of a rate, `DURATION RATE` on each line.

A line of a Mahimahi trace is a time in ms at which one packet can be delivered; after the
last one the trace begins again.  Step k has the packets of ((k - 1) step, k step]; those of
time 0 count in the first one.  The last step ends where the trace does.
"""

from __future__ import annotations

import argparse
import sys
from itertools import groupby
from pathlib import Path

from lab import units
from lab.yaml_lines import ScenarioError

#: That a link's trace may have (linux/pkt_sched_wale.h).
MAX_STEPS = 4000


def read_times_ms(path: Path) -> list[int]:
    """The times of a trace; ScenarioError says what is wrong and where."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"cannot read the trace: {error}") from None
    times: list[int] = []
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        if not text.isascii() or not text.isdigit():
            raise ScenarioError(f"{path}:{number}: expected a time in whole ms, got {line!r}")
        if times and int(text) < times[-1]:
            raise ScenarioError(f"{path}:{number}: expected a time from {times[-1]} on, got {text}")
        times.append(int(text))
    if not times or times[-1] == 0:
        raise ScenarioError(
            f"{path}: expected a time above 0: the last one is when it begins again"
        )
    return times


def steps(times_ms: list[int], step_ms: int, packet_bytes: int) -> list[tuple[int, int]]:
    """Each step as (duration in ms, rate in bytes/s, rounded down); equal neighbours are one."""
    end = times_ms[-1]
    packets = [0] * -(-end // step_ms)
    for time in times_ms:
        packets[max(0, -(-time // step_ms) - 1)] += 1
    result: list[tuple[int, int]] = []
    for index, count in enumerate(packets):
        duration = min(step_ms, end - index * step_ms)
        result.append((duration, count * packet_bytes * 1000 // duration))
    merged = [(rate, list(group)) for rate, group in groupby(result, key=lambda step: step[1])]
    return [(sum(duration for duration, _ in group), rate) for rate, group in merged]


def convert(path: Path, step: str, packet: str) -> str:
    """A trace file of ours from one of Mahimahi's."""
    try:
        step_ns = units.parse_time_ns(step)
        packet_bytes = units.parse_size_bytes(packet)
    except ValueError as error:
        raise ScenarioError(str(error)) from None
    if step_ns < 10**6 or step_ns % 10**6:
        raise ScenarioError(f"--step: expected whole ms, at least one, got {step!r}")
    if packet_bytes < 1:
        raise ScenarioError(f"--packet: expected a size above 0, got {packet!r}")
    found = steps(read_times_ms(path), step_ns // 10**6, packet_bytes)
    if len(found) > MAX_STEPS:
        raise ScenarioError(
            f"{path}: {len(found)} steps, of {MAX_STEPS} that a link takes: give a longer --step"
        )
    lines = [f"# from {path.name}: packets of {packet_bytes} bytes, steps of {step}"]
    lines += [f"{duration}ms {rate * 8}bit" for duration, rate in found]
    return "\n".join(lines) + "\n"


def trace_command(args: argparse.Namespace) -> int:
    """The subcommand."""
    sys.stdout.write(convert(args.file, args.step, args.packet))
    return 0
