# SPDX-License-Identifier: GPL-2.0
"""The cost of a packet, by qdisc: processor time of a guest through which packets are sent.

The packets come from our own module (module/wale_bench.c) and go through the qdisc of its own
device.  In virtual time an idle guest takes no processor time: the processor time of the
kernel's process on the host is the computation of the kernel.  The cost of the same packets on
a device without a qdisc ("none"), in the same guest, is subtracted.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wale_lab.bench import module, qdiscs
from wale_lab.bench.qdiscs import Traffic
from wale_lab.bench.sheets import Sheet
from wale_lab.engines.base import Engine, EngineError, Job, Kernel, Time
from wale_lab.engines.modules import find_modules, find_userspace
from wale_lab.progress import Progress
from wale_lab.tree import guest_program

SCRIPT = Path(__file__).with_name("packets_guest.py")

#: What is taken off.
BASELINE = "none"


@dataclass(frozen=True)
class Case:
    """A row of the table: the traffic through each of these."""

    name: str
    traffic: Traffic
    subjects: tuple[str, ...]
    packets: int  # wire packets that are measured
    time: Time = "virtual"
    lateness: bool = False
    changes_per_s: int = 0  # of the qdisc, a wale, while packets are sent
    drops: bool = False  # may there be some, beside those that are lost at random?


@dataclass(frozen=True)
class Measured:
    """What one subject was measured to do in one round."""

    subject: str
    packets: int  # on the wire, that were sent while it was measured
    busy_ns: Sequence[int]  # of each slice of them, the generator's share included
    elapsed_ns: int
    departed: int
    refused: int
    behind_ns: int
    changes_per_s: float  # of the qdisc, while packets were sent
    used_kb: int  # more memory than before, with a full line
    lateness_ns: dict[str, float] = field(default_factory=dict)
    failed: bool = False  # it dropped packets that it should not have

    @property
    def per_packet(self) -> float:
        """Busy time for each; where instructions are counted, these.

        The first quartile of the slices: what else runs on the machine makes slices longer, and
        none shorter.
        """
        slices = sorted(self.busy_ns)
        return slices[len(slices) // 4] * len(slices) / self.packets


def _settings(case: Case) -> dict[str, int]:
    traffic = case.traffic
    fill = 1.1 * traffic.packets_in_line + 4 * traffic.burst + 500
    return {
        "packets": case.packets // traffic.segments,
        # the line is full then, and each flow has had a packet: who tells flows apart has a
        # place for each, or no place left
        "warmup": max(round(fill / traffic.segments) + 1, traffic.flows),
        "rate": round(traffic.rate_bps * traffic.load / 8),
        "link_rate": traffic.rate_bps // 8,
        "delay_ns": traffic.delay_ns,
        "size": traffic.size,
        "gso_size": qdiscs.GSO_PAYLOAD if traffic.gso else 0,
        "flows": traffic.flows,
        "burst": max(1, traffic.burst // traffic.segments),
        "lateness": int(case.lateness),
        "udp": int(traffic.scone is not None),
        "scone": traffic.scone or 0,
    }


def _step(case: Case, subject: str) -> dict[str, Any]:
    settings = {**_settings(case), "edt": int(subject == "fq")}
    step = {"commands": qdiscs.commands(subject, case.traffic), "settings": settings}
    if not case.changes_per_s:
        return step
    rate = case.traffic.rate_bps // 8
    return {**step, "change": {"per_second": case.changes_per_s, "rate": rate}}


def _memory_mb(cases: Sequence[Case]) -> int:
    """A packet takes a kB at most: its skb, and a head for its headers."""
    return 256 + max(case.traffic.packets_in_line for case in cases) // 800


def measure(
    engine: Engine, kernel: Kernel, wanted: Sequence[tuple[Case, str]], progress: Progress
) -> list[Measured]:
    """Measure these, one after the other, in one guest."""
    cases = [case for case, _ in wanted]
    plan = json.dumps([_step(case, subject) for case, subject in wanted])
    job = Job(
        argv=[*guest_program(SCRIPT), plan],
        time=cases[0].time,
        memory_mb=_memory_mb(cases),
        wall_limit_s=120 + 30 * len(wanted),
        env=find_userspace(progress),
        modules=find_modules(kernel, ["sch_wale"], progress, [module.build(kernel, progress)]),
    )
    outcome = engine.run(kernel, job)
    if outcome.reason != "ok" or outcome.complaints:
        raise EngineError(f"{cases[0].name}: the guest {outcome.describe()}\n{outcome.tail()}")
    found = json.loads(outcome.console.splitlines()[-1])
    return [_measured(*which, values) for which, values in zip(wanted, found, strict=True)]


def _measured(case: Case, subject: str, found: dict[str, Any]) -> Measured:
    wire_packets = _settings(case)["packets"] * case.traffic.segments
    failed = bool(found["refused"]) and not case.drops
    if failed:
        said = f"{case.name}: {subject} dropped {found['refused']} packets: not counted"
        print(f"bench: {said}", file=sys.stderr)
    return Measured(subject, wire_packets, failed=failed, **found)


def measure_rounds(
    engine: Engine, kernel: Kernel, case: Case, rounds: int, progress: Progress
) -> list[list[Measured]]:
    """Several rounds, each in its own guest and starting with another subject."""
    found = []
    for number in range(rounds):
        progress(f"{case.name}: round {number + 1} of {rounds}")
        first = number % len(case.subjects)
        order = [*case.subjects[first:], *case.subjects[:first]]
        found.append(measure(engine, kernel, [(case, s) for s in order], progress))
    return found


def memory_sheet(
    kernel: Kernel, found: Sequence[tuple[Case, Sequence[Sequence[Measured]]]]
) -> Sheet:
    """memory.csv: the memory of a packet on the line."""
    rows = []
    for case, rounds in found:
        for subject in filter(qdiscs.holds_packets, case.subjects):
            used = [m.used_kb for measured in rounds for m in measured if m.subject == subject]
            each = statistics.median(used) * 1024 / case.traffic.packets_in_line
            line = str(case.traffic.packets_in_line)
            rows.append([case.name, subject, kernel.release, line, f"{each:.0f}"])
    return Sheet(
        "memory",
        "Memory of a packet on the line",
        "Memory that the guest has less when the line is full, for each packet on it: the packet's "
        "skb and the head with its headers (payload is shared) and what the qdisc adds.",
        ["case", "subject", "kernel", "packets_in_line", "bytes_per_packet"],
        rows,
    )
