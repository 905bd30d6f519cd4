# SPDX-License-Identifier: GPL-2.0
"""An hour of a link of which all moves, in steps of a ms: each packet fares as the model says."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from test_accuracy import is_refused, model_trace
from wale_lab.models.link import Change, Config, Link, Packet, TraceEnd, Verdict
from wale_lab.selftest import moving
from wale_lab.tree import guest_program

SOURCE = Path(__file__).resolve().parents[1] / "selftests" / "accuracy_hour.py"
ENQUEUE, BUFFER, LOSS, DOWN, DEQUEUE = range(1, 6)
Event = tuple[int, int, int, int, int]


def read(path: Path) -> list[Event]:
    """Return the events that the guest wrote."""
    numbers = array("Q")
    numbers.frombytes(path.read_bytes())
    return list(zip(*[iter(numbers)] * 5, strict=True))


def arrives(event: Event) -> bool:
    """Does a packet come?  It may be refused."""
    kind, arrival_ns, _, now_ns, _ = event
    return kind in (ENQUEUE, BUFFER) or (kind == DOWN and arrival_ns == now_ns)


def predicted(events: list[Event], epoch_ns: int, steps: int) -> list[Packet]:
    """Return what the model says of the arrivals."""
    trace = model_trace([list(s) for s in moving.steps(1, steps)], moving.COLUMNS, TraceEnd.LOOP)
    names = {"delay": "delay_ns"}
    values = {names.get(name, name): value for name, value in moving.OPTIONS.items()}
    config = Change(0, values).apply(Config(trace=trace, cuts=True))
    arrivals = [(arrival, length) for _, arrival, length, _, _ in filter(arrives, events)]
    return Link(config, start_ns=epoch_ns).run(arrivals)


def fates(packets: list[Packet]) -> Iterator[tuple[int, int, int, int]]:
    """Yield kind, arrival, length, and end of service or departure, of what is not refused."""
    for p in packets:
        if not is_refused(p) and p.completion_ns is not None:
            at = p.departure_ns if p.verdict is Verdict.SENT else p.completion_ns
            kind = {Verdict.SENT: DEQUEUE, Verdict.LOSS: LOSS, Verdict.DOWN: DOWN}[p.verdict]
            assert at is not None
            yield kind, p.arrival_ns, p.wire_len, at


@pytest.mark.guest
@pytest.mark.parametrize(
    ("count", "steps"),
    [
        pytest.param(10_000, 20_000, id="half-a-minute"),
        pytest.param(1_000_000, 3_600_000, id="an-hour", marks=[pytest.mark.slow]),
    ],
)
def test_each_packet(count: int, steps: int, guest: Callable[..., str], tmp_path: Path) -> None:
    """Nothing is rounded, nothing adds up: arrivals to fates, to the ns."""
    out = "/run/wale/out/events"
    guest(*guest_program(SOURCE), "1", str(steps), str(count), out, out=tmp_path, limit_s=1500)
    *events, (_, epoch_ns, *_) = read(tmp_path / "events")
    packets = predicted(events, epoch_ns, steps)
    assert len(packets) == count
    assert [is_refused(p) for p in packets] == [e[0] != ENQUEUE for e in events if arrives(e)]
    wanted = sorted(fates(packets))
    got = sorted(
        (kind, arrival, length, departure if kind == DEQUEUE else now)
        for kind, arrival, length, now, departure in events
        if kind != ENQUEUE and not arrives((kind, arrival, length, now, departure))
    )
    assert got == wanted
    departures = [e[4] for e in events if e[0] == DEQUEUE]
    assert all(a <= b for a, b in pairwise(departures))
    assert {kind for kind, *_ in got} == {LOSS, DOWN, DEQUEUE}
