# SPDX-License-Identifier: GPL-2.0
"""What the suite sends through an emulator, and with which values.

An experiment is data: the values it needs, the packets, changes before some of them.  It runs
if the emulator's template has every value of `asked`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from wale_lab.conform.template import Asked, Template

US, MS, S = 10**3, 10**6, 10**9

#: Of most experiments: 1 MB/s, so that 1000 bytes take a millisecond; and a buffer.
RATE_BPS, LIMIT_PACKETS, DELAY_NS = 8 * 10**6, 20, 100 * MS
#: Bytes of IP of a packet, where all are alike, and of a segment with its headers.
PACKET = 1000
SEGMENT = PACKET - 28
#: The buffer in bytes: whether headers count or not, LIMIT_PACKETS packets fit, not one more.
LIMIT_BYTES = LIMIT_PACKETS * PACKET + PACKET * 4 // 5

LOSS, GSO_LOSS, SHARE = 0.05, 0.2, 0.1
GEMODEL_P, GEMODEL_R = 0.01, 0.25
JITTER_NS = 10 * MS
STATE_P13, STATE_P31, STATE_P14 = 0.01, 0.25, 0.02
CORRELATION, OVERHEAD = 0.5, 8
#: A policer, in the buffer's place.
POLICE_BPS, POLICE_BURST = 4 * 10**6, 5 * PACKET
#: What a circuit breaker waits for.
BREAKER_NS = 200 * MS
#: Numbers of packets to lose, from 1 on; what slots and outages take; a start long ago.
DROP_FIRST, DROP_LAST = 100, 119
SLOT_NS, OUTAGE_NS, START_S = 10 * MS, 50 * MS, 10**6
ECT = 2  # in the TOS: of a sender that understands marks

#: A packet: gap before it in ns, bytes (of IP, or data), bytes of a segment's data (0: none).
Send = list[int]


@dataclass(frozen=True)
class Change:
    """The emulator is given other values, before a packet is sent."""

    before: int
    gap_ns: int
    asked: Asked


@dataclass(frozen=True)
class Experiment:
    """Packets through an emulator that was asked for something."""

    asked: Asked
    sends: list[Send]
    changes: tuple[Change, ...] = ()
    may_ask: Asked = field(default_factory=dict)
    tos: int = 0
    checksum: bool = False  # packets have one of UDP
    show_after: int = 0  # counters are looked at after so many packets, and at the end

    def runs_on(self, template: Template) -> bool:
        """Whether an emulator can be asked for this."""
        return all(template.offers(name) for name in self.asked)

    def values(self, template: Template) -> dict[str, int | float]:
        """All that it is asked for."""
        extra = {name: value for name, value in self.may_ask.items() if template.offers(name)}
        result = dict(self.asked) | extra
        if "limit" in result:
            assert result["limit"] == LIMIT_PACKETS
            result["limit_bytes"] = LIMIT_BYTES
        return result

    def settle_ns(self, template: Template) -> int:
        """After so long everything is out, at the slowest rate and the longest delay."""
        asked = [self.values(template), *(change.asked for change in self.changes)]
        rate = min(values.get("rate", 10**9) for values in asked)
        delay = max(values.get("delay", 0) + 5 * values.get("jitter", 0) for values in asked)
        sent = sum(size + 42 * (size // segment + 1 if segment else 1)
                   for _, size, segment in self.sends)  # fmt: skip
        return int(sent * 8 * S / rate * 1.1 + delay) + 100 * MS

    def plan(self, template: Template) -> dict[str, Any]:
        """The plan for the guest."""
        values = self.values(template)
        before = template.commands(values)
        changes = []
        for change in self.changes:
            after = template.commands(values | dict(change.asked))
            commands = [new for old, new in zip(before, after, strict=True) if old != new]
            changes.append({"before": change.before, "gap_ns": change.gap_ns, "commands": commands})
        return {
            "commands": before,
            "changes": changes,
            "sends": self.sends,
            "tos": self.tos,
            "checksum": self.checksum,
            "show_after": self.show_after,
            "settle_ns": self.settle_ns(template),
        }


def _train(count: int, size: int = PACKET, gap_ns: int = 0) -> list[Send]:
    return [[gap_ns, size, 0] for _ in range(count)]


def _bursts(count: int, size: int = 200, burst: int = 100) -> list[Send]:
    """Packets in bursts, a millisecond apart."""
    return [[0 if n % burst else MS, size, 0] for n in range(count)]


def _mixed(count: int, *gaps_ns: int) -> list[Send]:
    """Sizes of all kinds and these gaps, in an order that is the same each time."""
    rng = random.Random(1)
    sizes = (100, 1500, 1500, 577)
    return [[rng.choice(gaps_ns), rng.choice(sizes), 0] for _ in range(count)]


@cache
def experiments(virtual: bool) -> dict[str, Experiment]:
    """Every experiment by name; do not modify. In real time they are shorter."""
    many, some = 10_000, 2000 if virtual else 800
    limited = {"rate": RATE_BPS, "limit": LIMIT_PACKETS}
    small_then_large = _train(1000, 300) + [[S, 1500, 0]] + _train(999, 1500)
    sends = [[60 * MS, 10 * SEGMENT, SEGMENT] for _ in range(30)]
    return {
        "delay": Experiment({"delay": DELAY_NS}, _mixed(300, 200 * US, MS, 4 * MS)),
        "rate": Experiment({"rate": RATE_BPS}, small_then_large),
        "schedule": Experiment(
            {"rate": RATE_BPS}, _mixed(some // 2, 0, 0, MS, 4 * MS), may_ask={"delay": 30 * MS}
        ),
        "rate_step": Experiment(
            {"rate": RATE_BPS},
            _train(401),
            (Change(400, 10 * MS + 500 * US, {"rate": RATE_BPS // 4}),),
        ),
        # so slow that the buffer is full before the first packet has left
        "limit": Experiment(
            {"rate": RATE_BPS // 10, "limit": LIMIT_PACKETS},
            [*_train(60), [400 * MS, PACKET, 0], *_train(39)],
        ),
        "child": Experiment(
            {"rate": RATE_BPS // 10, "child_limit": LIMIT_PACKETS},
            [*_train(60), [400 * MS, PACKET, 0], *_train(39)],
        ),
        "limit_line": Experiment(limited | {"delay": DELAY_NS}, _train(400, PACKET, 1100 * US)),
        "loss": Experiment({"loss": LOSS}, _bursts(many)),
        "counters": Experiment(
            {"rate": RATE_BPS, "limit": LIMIT_PACKETS},
            _train(100, PACKET, 600 * US),
            may_ask={"delay": 30 * MS, "loss": SHARE},
            show_after=80,
        ),
        "loss_burst": Experiment({"gemodel_p": GEMODEL_P, "gemodel_r": GEMODEL_R}, _bursts(many)),
        "gso": Experiment({"rate": RATE_BPS}, sends),
        "gso_limit": Experiment(limited, [[0, 10 * SEGMENT, SEGMENT] for _ in range(30)]),
        "gso_loss": Experiment(
            {"loss": GSO_LOSS}, [[MS, 10 * SEGMENT, SEGMENT] for _ in range(300)]
        ),
        **{
            f"seed_{name}": Experiment(
                {"seed": seed, "loss": SHARE},
                _bursts(1000),
                may_ask={"rate": RATE_BPS, "delay": DELAY_NS, "jitter": JITTER_NS},
            )
            for name, seed in (("one", 7), ("again", 7), ("other", 8))
        },
        "change_delay": Experiment(
            {"delay": DELAY_NS},
            _train(100, PACKET, MS),
            (Change(50, 0, {"delay": DELAY_NS // 5}),),
        ),
        "change_rate": Experiment(
            {"rate": RATE_BPS}, _train(100), (Change(60, 20 * MS, {"rate": RATE_BPS // 2}),)
        ),
        "jitter": Experiment(
            {"delay": DELAY_NS, "jitter": JITTER_NS}, _train(some, PACKET, 3 * JITTER_NS)
        ),
        "jitter_order": Experiment(
            {"delay": DELAY_NS, "jitter": JITTER_NS}, _train(some, PACKET, MS)
        ),
        "loss_correlated": Experiment(
            {"loss": SHARE, "loss_correlation": CORRELATION}, _bursts(many)
        ),
        "jitter_correlated": Experiment(
            {"delay": DELAY_NS, "jitter": JITTER_NS, "jitter_correlation": CORRELATION},
            _train(some, PACKET, 3 * JITTER_NS),
        ),
        "overhead_bytes": Experiment({"rate": RATE_BPS, "overhead": OVERHEAD}, small_then_large),
        "policer": Experiment(
            {"police": POLICE_BPS, "burst": POLICE_BURST}, _train(1000, PACKET, MS)
        ),
        "breaker": Experiment(
            {"breaker": POLICE_BPS, "after": BREAKER_NS}, _train(1000, PACKET, MS)
        ),
        "reorder": Experiment({"delay": 10 * MS, "reorder": SHARE}, _train(some, PACKET, 2 * MS)),
        "duplicate": Experiment({"duplicate": SHARE}, _bursts(some)),
        "corrupt": Experiment({"corrupt": SHARE}, _bursts(some)),
        "corrupt_fix": Experiment({"corrupt_fix": SHARE}, _bursts(some), checksum=True),
        "loss_state": Experiment(
            {"state_p13": STATE_P13, "state_p31": STATE_P31, "state_p14": STATE_P14},
            _bursts(many),
        ),
        "ecn": Experiment({"loss": SHARE, "ecn": 1}, _bursts(some), tos=ECT),
        "drop_list": Experiment(
            {"drop_first": DROP_FIRST, "drop_last": DROP_LAST}, _bursts(200, PACKET, 10)
        ),
        "slot": Experiment({"slot": SLOT_NS}, _train(400, PACKET, 1300 * US)),
        "start": Experiment(
            {"outage": OUTAGE_NS, "start": START_S}, _train(400, PACKET, 2300 * US)
        ),
        "moving": Experiment(
            {"shift": OUTAGE_NS, "start": START_S}, _train(400, PACKET, 2300 * US)
        ),
        "down": Experiment({"down": OUTAGE_NS, "start": START_S}, _train(400, PACKET, 2300 * US)),
    }
