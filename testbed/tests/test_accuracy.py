# SPDX-License-Identifier: GPL-2.0
"""Every packet of a stream leaves a wale link when the model says, to the ns.

One guest sends all streams of accuracy_cases.py and records the tracepoints;
here each recorded arrival is given to the independent model (models/link.py),
and what it says is compared with what the kernel did.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from accuracy_cases import Case, cases
from wale_lab.conform.statistics import binomial_interval
from wale_lab.models.link import (
    DOWN,
    Buffer,
    Change,
    Config,
    Link,
    Overhead,
    Packet,
    Trace,
    TraceEnd,
    Verdict,
)
from wale_lab.models.policer import Parameters as Policer
from wale_lab.models.sessions import Parameters
from wale_lab.tree import guest_program

pytestmark = pytest.mark.guest

SOURCE = Path(__file__).resolve().parents[1] / "selftests" / "accuracy_source.py"
CASES = cases()
QUANTUM_NS = 256  # of the guest's clock
UNLIMITED = (1 << 64) - 1
SAME = UNLIMITED  # of a step: as the option says
UDP_IP = 28

EVENT = re.compile(r"wale_(enqueue|drop|dequeue): (.*)")

Guest = Callable[..., str]


@dataclass(frozen=True)
class Event:
    """One tracepoint of the device under test."""

    kind: str
    fields: dict[str, str]

    def __getitem__(self, name: str) -> int:
        return int(self.fields[name])

    @property
    def arrives(self) -> bool:
        """Does a packet come, which enters the buffer or is refused?"""
        return self.kind == "enqueue" or self.is_refusal

    @property
    def is_refusal(self) -> bool:
        """Is it refused?  A link with a rate drops others later, because it went down."""
        reason = self.fields.get("reason")
        return reason in ("buffer", "policer") or (
            reason == "down" and self.fields["arrival_ns"] == self.fields["now_ns"]
        )


def is_refused(packet: Packet) -> bool:
    """Does a packet not enter the buffer?"""
    return packet.verdict in (Verdict.BUFFER, Verdict.POLICER) or (
        packet.verdict is Verdict.DOWN and packet.completion_ns is None
    )


def read_events(path: Path) -> list[Event]:
    """Return the events of device d0 in a trace."""
    events = []
    for line in path.read_text(encoding="ascii").splitlines():
        match = EVENT.search(line)
        if not match:
            continue
        fields = dict(item.split("=", 1) for item in match[2].split())
        if fields["dev"] == "d0":
            events.append(Event(match[1], fields))
    return events


def planned_sizes(case: Case) -> list[tuple[int, int]]:
    """Return (number of the send, IP size) of each wire packet of a case."""
    if case["way"] != "gso":
        return [(number, length) for number, (_, length) in enumerate(case["packets"])]
    sizes = []
    for number, (_, data, segment) in enumerate(case["packets"]):
        whole, rest = divmod(data, segment)
        sizes += [(number, segment + UDP_IP)] * whole + [(number, rest + UDP_IP)] * (rest > 0)
    return sizes


def model_trace(steps: list[list[int]], columns: int, end: TraceEnd) -> Trace:
    """Return what steps with these columns mean."""
    places = [n for n, bits in enumerate((1, 2, 4, 8 | 16), start=1) if columns & bits]
    whole = []
    for duration_ns, *values in steps:
        step: list[int | None] = [duration_ns, None, None, None, None]
        for place, value in zip(places, values, strict=True):
            step[place] = {SAME: None, SAME - 1: DOWN}.get(value, value)
        whole.append(tuple(step))
    return Trace(tuple(whole), end, limit_in_bytes=bool(columns & 16))


def model_values(options: dict[str, Any]) -> dict[str, Any]:
    """Return what options of the plan mean in the model's words."""
    values: dict[str, Any] = {}
    for name, value in options.items():
        if name == "rate":
            values["rate"] = None if value == UNLIMITED else value
        elif name == "delay":
            values["delay_ns"] = value
        elif name == "trace":
            end = TraceEnd(options.get("trace_end", "loop"))
            values["trace"] = model_trace(value, options.get("trace_columns", 1), end)
        elif name == "down_drops":
            values["cuts"] = value == "all"
        elif name == "jitter":
            values["overtaking"] = bool(value["reordering"])
        elif name == "policer":
            values["policer"] = Policer(value["rate"], value["burst"])
        elif name == "sessions":
            values["sessions"] = (
                Parameters(value["arrival"], value["mean"], value["max"], value["step"])
                if value
                else None
            )
        elif name in ("limit_packets", "limit_bytes", "line_packets", "line_bytes", "loss", "seed"):
            values[name] = value
    return values


class Evidence:
    """What the guest found out about one case."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.case = case
        found = json.loads((folder / f"{case['name']}.json").read_text(encoding="ascii"))
        self.found: dict[str, Any] = found
        self.stats: dict[str, int] = found["stats"]
        self.events = read_events(folder / f"{case['name']}.trace")
        self.arrivals = [
            (event["now_ns"] if event.kind == "enqueue" else event["arrival_ns"], event["len"])
            for event in self.events
            if event.arrives
        ]
        self.departures = [event for event in self.events if event.kind == "dequeue"]
        self.losses = self._dropped("loss")
        self.overflows = self._dropped("line")
        self.cuts = self._dropped("down")

    def _dropped(self, reason: str) -> list[tuple[int, int, int]]:
        """Arrival, length and end of service of the packets that vanished then."""
        return [
            (event["arrival_ns"], event["len"], event["now_ns"])
            for event in self.events
            if event.fields.get("reason") == reason and not event.is_refusal
        ]

    @functools.cached_property
    def prediction(self) -> list[Packet]:
        """Return what the model says about the recorded arrivals."""
        config = Change(0, model_values(self.case["options"])).apply(Config())
        start_ns = self.found["epoch_ns"] or 0
        changes: list[Change] = []
        if self.found["start_ns"] is not None:
            # the clocks are read one after the other
            assert abs(start_ns - self.found["start_ns"]) <= QUANTUM_NS
            begin = model_values(self.case["options"]) | {"start_ns": start_ns}
            changes.append(Change(self.found["early_ns"], begin))
            start_ns = 0
        old_epoch = self.found["epoch_ns"]
        for plan, found in zip(self.case.get("changes", []), self.found["changes"], strict=True):
            values = model_values(plan["options"])
            epoch = found["epoch_ns"]
            if epoch is not None and epoch != old_epoch:
                assert found["early_ns"] <= epoch <= found["late_ns"]
                changes.append(Change(epoch, values))
            elif "rate" in values or values.get("sessions", "") is None:
                changes.append(self._instant(config, start_ns, changes, found, values))
            else:
                self._assert_idle(found, Link(config, changes, start_ns))
                changes.append(Change(found["late_ns"], values))
            old_epoch = epoch
        return Link(config, changes, start_ns).run(self.arrivals)

    def _assert_idle(self, found: dict[str, int], link: Link) -> None:
        """Make sure that no service ends while it is unknown whether the change was made."""
        for packet in link.run(self.arrivals):
            completion = packet.completion_ns or 0
            assert not found["early_ns"] <= completion <= found["late_ns"], "plan other gaps"

    def _instant(
        self,
        config: Config,
        start_ns: int,
        before: list[Change],
        found: dict[str, int],
        values: dict[str, Any],
    ) -> Change:
        """Find when the rate changed, from the departure of the packet in service.

        The end of its service moves steadily with the instant, so that a
        bisection finds it; all other packets are then checked against it.
        """
        early, late = found["early_ns"], found["late_ns"]

        arrivals = [entry for entry in self.arrivals if entry[0] <= late]

        unchanged = [
            p for p in Link(config, before, start_ns).run(arrivals) if p.verdict is Verdict.SENT
        ]
        served = [p.completion_ns is None or p.completion_ns > early for p in unchanged]
        if True not in served:
            return Change(late, values)  # the server was idle
        number = served.index(True)

        def error(time_ns: int) -> int | None:
            link = Link(config, [*before, Change(time_ns, values)], start_ns)
            sent = [p for p in link.run(arrivals) if p.verdict is Verdict.SENT]
            departure_ns = sent[number].departure_ns
            if departure_ns is None:
                return None
            return departure_ns - self.departures[number]["departure_ns"]

        for time_ns in self._bisect(error, early, late):
            if error(time_ns) == 0:
                return Change(time_ns, values)
        raise AssertionError(f"no instant of the change explains the departures: {found}")

    @staticmethod
    def _bisect(error: Callable[[int], int | None], early: int, late: int) -> list[int]:
        """Return the instants where an error that grows or falls steadily is zero."""
        first = error(early)
        if not first:
            return [early]
        low, high = early, late
        while high - low > 4:
            middle = (low + high) // 2
            found = error(middle)
            if found is None:
                break
            if (found < 0) == (first < 0) and found != 0:
                low = middle
            else:
                high = middle
        return list(range(low, min(high + 4, late) + 1))


@pytest.fixture(scope="session")
def evidence(guest: Guest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Evidence]:
    """Run every case in one guest."""
    folder = tmp_path_factory.mktemp("accuracy")
    (folder / "plan.json").write_text(json.dumps(CASES), encoding="ascii")
    out = "/run/wale/out"
    guest(*guest_program(SOURCE), f"{out}/plan.json", out, out=folder, limit_s=180)
    return {case["name"]: Evidence(case, folder) for case in CASES}


@pytest.fixture(params=[case["name"] for case in CASES])
def one(request: pytest.FixtureRequest, evidence: dict[str, Evidence]) -> Evidence:
    """Return the evidence of one case."""
    return evidence[request.param]


def overhead_at(case: Case, number: int) -> Overhead:
    """Return the overhead in force for a planned send."""
    name = case["options"].get("overhead", "raw")
    for change in case.get("changes", []):
        if change["before"] <= number:
            name = change["options"].get("overhead", name)
    return Overhead(name)


def test_wire_lengths(one: Evidence) -> None:
    """What arrived is what was sent, in order, with the overhead."""
    expected = [
        overhead_at(one.case, number).wire_length(size) for number, size in planned_sizes(one.case)
    ]
    assert [length for _, length in one.arrivals] == expected


def test_every_packet_is_where_the_model_says(one: Evidence) -> None:
    """Verdicts, ends of service of lost packets and departures are the model's."""
    packets = one.prediction
    assert [is_refused(p) for p in packets] == [
        event.kind == "drop" for event in one.events if event.arrives
    ]
    sent = [
        (p.arrival_ns, p.wire_len, p.departure_ns)
        for p in packets
        if p.verdict is Verdict.SENT and p.departure_ns is not None
    ]
    got = [(e["arrival_ns"], e["len"], e["departure_ns"]) for e in one.departures]
    if "jitter" in one.case["options"]:  # with overtaking, they leave in another order
        sent.sort(key=lambda packet: packet[2])
    assert got == sent
    lost, overflowed, cut = (
        [
            (p.arrival_ns, p.wire_len, p.completion_ns)
            for p in packets
            if p.verdict is verdict and not is_refused(p)
        ]
        for verdict in (Verdict.LOSS, Verdict.LINE, Verdict.DOWN)
    )
    assert one.overflows == overflowed
    assert one.cuts == cut
    if one.case["options"].get("loss") != UNLIMITED >> 32:
        assert one.losses[: len(lost)] == lost[: len(one.losses)]
        assert len(lost) - len(one.losses) <= 1


def test_never_early_and_at_most_two_quanta_late(one: Evidence) -> None:
    """The release follows the scheduled departure at once, but for the slack."""
    late = [event["now_ns"] - event["departure_ns"] for event in one.departures]
    if late:
        assert 0 <= min(late)
        assert max(late) <= one.case["options"].get("slack", 0) + 2 * QUANTUM_NS


@pytest.mark.guest
def test_slack_joins_releases(evidence: dict[str, Evidence]) -> None:
    """Packets that depart within the slack leave at once, with the timer of the first."""
    one = evidence["slack-joins"]
    slack_ns = one.case["options"]["slack"]
    groups: dict[int, list[int]] = {}
    for event in one.departures:
        groups.setdefault(event["now_ns"], []).append(event["departure_ns"])
    assert len(one.departures) > 5 * len(groups) > 50
    for due in groups.values():
        assert due[-1] - due[0] <= slack_ns + 2 * QUANTUM_NS
    firsts = [due[0] for due in groups.values()]
    # a timer of something else may ring the alarm, too, and does now and then
    assert sum(b - a > slack_ns for a, b in pairwise(firsts)) > 0.8 * len(groups)


def test_statistics_are_those_of_the_model(one: Evidence) -> None:
    """Counters, peak and balance at the end."""
    packets = one.prediction
    stats = one.stats
    assert one.found["imbalance"] == [0, 0]
    assert stats["offered_packets"] == len(packets)
    assert stats["offered_bytes"] == sum(p.wire_len for p in packets)
    now = stats["now_ns"]
    count = dict.fromkeys(Verdict, 0)
    for p in packets:
        done = is_refused(p) or (p.departure_ns or p.completion_ns or math.inf) <= now
        count[p.verdict] += done
    assert stats["sent_packets"] == count[Verdict.SENT]
    assert stats["dropped_buffer_packets"] == count[Verdict.BUFFER]
    assert stats["dropped_loss_packets"] == count[Verdict.LOSS]
    assert stats["dropped_line_packets"] == count[Verdict.LINE]
    assert stats["dropped_down_packets"] == count[Verdict.DOWN]
    assert stats["dropped_policer_packets"] == count[Verdict.POLICER]
    assert stats["dropped_memory_packets"] == 0
    backlog = [e["backlog_packets"] for e in one.events if e.kind == "enqueue"]
    assert stats["peak_backlog_packets"] == max(backlog, default=0)
    assert one.found["packets"] == stats["sent_packets"]


def test_backlog_seen_by_each_arrival(one: Evidence) -> None:
    """The tracepoint's backlog is what the model's buffer holds after the arrival."""
    buffer = Buffer()
    expected = []
    for packet in one.prediction:
        buffer.advance(packet.arrival_ns)
        if not is_refused(packet):
            buffer.enter(packet.completion_ns, packet.wire_len)
        expected.append((buffer.packets, buffer.bytes))
    got = [
        (event["backlog_packets"], event["backlog_bytes"]) for event in one.events if event.arrives
    ]
    options = one.case["options"]
    if options.get("rate", UNLIMITED) == UNLIMITED and "trace" not in options:
        # A packet that needs no time is in the buffer or past it when traced.
        got = [(max(packets, 0), size) for packets, size in got]
        pairs = zip(got, expected, strict=True)
        assert all(abs(g[0] - e[0]) <= 1 for g, e in pairs)
    else:
        assert got == expected


def test_loss_is_in_the_binomial_interval(evidence: dict[str, Evidence]) -> None:
    """20,000 packets at 1 %: 99.99 % of seeds give a count in here."""
    stats = evidence["loss-1-percent"].stats
    low, high = binomial_interval(stats["offered_packets"], 0.01)
    assert low <= stats["dropped_loss_packets"] <= high


def test_long_run_rate_within_1_ppm(evidence: dict[str, Evidence]) -> None:
    """Bytes after the first departure, over the time that they took."""
    one = evidence["long-run"]
    first, last = one.departures[0], one.departures[-1]
    size = sum(event["len"] for event in one.departures[1:])
    rate = size * 1e9 / (last["now_ns"] - first["now_ns"])
    assert rate == pytest.approx(one.case["options"]["rate"], rel=1e-6)


def test_configuration_is_what_was_asked_for(one: Evidence) -> None:
    """The dump of a new link has the options of the plan."""
    wanted = dict(one.case["options"])
    if "start" in wanted:  # in the plan, from then on
        assert one.found["start_asked_ns"] == one.found["options"]["start"]
        del wanted["start"]
    got = one.found["options"]
    names = {"raw": 0, "ethernet": 1, "atm": 2, "loop": 0, "hold": 1, "stop": 2}
    names["all"] = 1
    for name, value in wanted.items():
        if name == "trace":
            assert got["trace_steps"] == len(value)
            if len(value) <= 100:
                assert [tuple(step) for step in got["trace"]] == [tuple(s) for s in value]
        elif name == "jitter":
            assert got[name]["reordering"] == value["reordering"]
        elif name == "rate" and "trace" in wanted and "rate" not in got:
            raise AssertionError("a rate beside a trace that leaves it open")
        else:
            assert got.get(name) == (names[value] if isinstance(value, str) else value), name


def test_policers_drop_and_let_pass(evidence: dict[str, Evidence]) -> None:
    """Policers at random, instead of a buffer and before one."""
    links = [one for name, one in evidence.items() if name.startswith("policer-")]
    fates = [packet.verdict for one in links for packet in one.prediction]
    wanted = Verdict.SENT, Verdict.BUFFER, Verdict.POLICER
    assert min(fates.count(verdict) for verdict in wanted) > 50


def test_columns_have_every_fate(evidence: dict[str, Evidence]) -> None:
    """Traces at random with delay, loss, limit and down meet all that can happen to a packet."""
    packets = [
        packet
        for name, one in evidence.items()
        if name.startswith("columns-")
        for packet in one.prediction
    ]
    refused = [p.verdict for p in packets if is_refused(p)]
    assert min(refused.count(Verdict.BUFFER), refused.count(Verdict.DOWN)) > 100
    fates = [p.verdict for p in packets if not is_refused(p)]
    assert min(fates.count(v) for v in (Verdict.SENT, Verdict.LOSS, Verdict.DOWN)) > 50
    overtook = sum(
        one.stats["reordered_packets"] for n, one in evidence.items() if n.startswith("columns-")
    )
    assert overtook > 100
