# SPDX-License-Identifier: GPL-2.0
"""What a scenario may say of a link's impairments, and the tc options of wale for it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, field_serializer, field_validator, model_validator

from wale_lab.fields import (
    MAX_DELAY_NS,
    MAX_U32,
    STRICT,
    Delay,
    Positive,
    Probability,
    Switch,
    TimeNs,
    quantity,
)

#: Tables of tc, and none; how many ranges of packets a link can be told (pkt_sched_wale.h).
DISTRIBUTIONS = ("uniform", "normal", "pareto", "paretonormal", "experimental")
MAX_DROP_RANGES = 32


def _packets(value: object) -> str:
    text = "".join(str(value).split())
    for part in text.split(","):
        ends = [int(word) if re.fullmatch("[0-9]+", word) else 0 for word in part.split("-")]
        if not (len(ends) <= 2 and 1 <= ends[0] <= ends[-1] <= MAX_U32):
            raise ValueError(
                "expected numbers of packets from 1 to 4294967295, and ranges of them, such as "
                f'"10,11,20-25", got {value!r}'
            )
    return text


def _percent(probability: float) -> str:
    return f"{probability * 100:.12g}%"


class Gemodel(BaseModel):
    """Losses in bursts, after Gilbert and Elliott: a chain moves once before each packet."""

    model_config = STRICT

    p: Probability
    """probability of a step from the good state to the bad one"""
    r: Probability | None = None
    """back (1 - p)"""
    bad: Probability = 1.0
    """probability that a packet is lost in the bad state: 1-h"""
    good: Probability = 0.0
    """probability that a packet is lost in the good state: 1-k"""

    def options(self) -> list[str]:
        """Return the tc options."""
        r = 1 - self.p if self.r is None else self.r
        return ["loss", "gemodel", *map(_percent, (self.p, r, self.bad, self.good))]


class FourStates(BaseModel):
    """Losses in bursts: good (1), good amid a burst (2), burst (3), single loss (4)."""

    model_config = STRICT

    p13: Probability
    """probability of a step from good to a burst"""
    p31: Probability | None = None
    """back (1 - p13)"""
    p32: Probability = 0.0
    """from a burst to good packets in it"""
    p23: Probability = 1.0
    """back"""
    p14: Probability = 0.0
    """from good to a single loss"""

    @model_validator(mode="after")
    def _check(self) -> FourStates:
        if self.p13 + self.p14 > 1 or (self.p31 or 0) + self.p32 > 1:
            raise ValueError("expected p13 + p14 and p31 + p32 of at most 1")
        return self

    def options(self) -> list[str]:
        """Return the tc options."""
        p31 = 1 - self.p13 if self.p31 is None else self.p31
        numbers = (self.p13, p31, self.p32, self.p23, self.p14)
        return ["loss", "state", *map(_percent, numbers)]


def _check_table(path: Path) -> None:
    """See that a file is a table of tc: whole numbers; the link knows the rest of its bounds."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        numbers = [int(word) for line in lines for word in line.partition("#")[0].split()]
    except (OSError, ValueError):
        numbers = []
    if not numbers:
        raise ValueError(f"expected a table of whole numbers in {path}")


class Jitter(BaseModel):
    """A random time that is added to the delay of each packet; the sum is never negative."""

    model_config = STRICT

    time: Delay
    """how much: uniform from -time to time, or time times what the table has"""
    distribution: str = "uniform"
    """uniform, or a table of tc: normal, pareto, paretonormal, experimental, or the path of one"""
    reordering: Switch = False
    """packets may overtake others"""

    @field_validator("distribution")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in DISTRIBUTIONS and not (value.startswith("/") and Path(value).is_file()):
            raise ValueError(
                f"expected one of {', '.join(DISTRIBUTIONS)}, or the path of a table, from / on, "
                f"got {value!r}"
            )
        if value.startswith("/"):
            _check_table(Path(value))
        return value

    @field_serializer("distribution", when_used="json")
    def _by_content(self, value: str) -> str:
        """What a run depends on is what is in a file, not its name."""
        if not value.startswith("/"):
            return value
        return f"{value} sha256:{hashlib.sha256(Path(value).read_bytes()).hexdigest()}"

    def options(self) -> list[str]:
        """Return the tc options."""
        words = ["jitter", f"{self.time}ns", "distribution", self.distribution]
        return words + (["reordering"] if self.reordering else [])


class Drop(BaseModel):
    """Packets that are lost, by their numbers."""

    model_config = STRICT

    packets: Annotated[str, *quantity(_packets, 'numbers: "10,11,20-25", or 10')]
    """such as "10,11,20-25", counted from 1 as they arrive"""
    flow: Annotated[int, Field(ge=0, le=65535)] = 0
    """of the flow of this class; 0: of the whole link"""

    def options(self) -> list[str]:
        """Return the tc options."""
        return ["drop", "flow", str(self.flow), "packets", self.packets]


class Reorder(BaseModel):
    """Some packets skip the propagation delay, and so overtake others."""

    model_config = STRICT

    share: Probability
    """of the packets"""
    gap: Positive = 1
    """but only the n-th since the last that did"""

    def options(self) -> list[str]:
        """Return the tc options."""
        return ["reorder", _percent(self.share), "gap", str(self.gap)]


class Slot(BaseModel):
    """Packets leave in slots: what waits for one leaves there, as far as it has room."""

    model_config = STRICT

    min: TimeNs
    """least time from one to the next"""
    max: TimeNs | None = None
    """most (min)"""
    packets: Annotated[int, Field(ge=0, le=MAX_U32)] = 0
    """room of a slot; 0: any number"""
    bytes: Annotated[int, Field(ge=0, le=MAX_U32)] = 0
    """room of a slot, in bytes of the wire; 0: any number"""

    @model_validator(mode="after")
    def _check(self) -> Slot:
        most = self.min if self.max is None else self.max
        if not self.min <= most <= MAX_DELAY_NS or not most:
            raise ValueError("expected a min of at most max, and a max of 1ns to 1 day")
        return self

    def options(self) -> list[str]:
        """Return the tc options."""
        most = self.min if self.max is None else self.max
        words = ["slot", f"{self.min}ns", f"{most}ns"]
        return [*words, "packets", str(self.packets), "bytes", str(self.bytes)]


class Impairments(BaseModel):
    """Part of a link's options."""

    model_config = STRICT

    loss: Probability = 0.0
    """probability that a packet is lost after service"""
    loss_gemodel: Gemodel | None = None
    """instead: losses in bursts"""
    loss_state: FourStates | None = None
    """instead: losses in bursts, by a chain of four states"""
    ecn: Switch = False
    """packets of senders with ECN are marked in the place of being lost at random"""
    jitter: Jitter | None = None
    """how the delay varies from packet to packet"""
    drop: list[Drop] = []
    """packets that are lost, by their numbers"""
    slot: Slot | None = None
    """slots in which packets leave"""
    reorder: Reorder | None = None
    """packets that overtake others"""
    duplicate: Probability = 0.0
    """probability that two of a packet leave"""
    corrupt: Probability = 0.0
    """probability that a bit of a packet is turned"""

    @model_validator(mode="after")
    def _check_losses(self) -> Impairments:
        if bool(self.loss) + bool(self.loss_gemodel) + bool(self.loss_state) > 1:
            raise ValueError("expected one of loss, loss_gemodel and loss_state")
        if sum(one.packets.count(",") + 1 for one in self.drop) > MAX_DROP_RANGES:
            raise ValueError(f"expected at most {MAX_DROP_RANGES} packets and ranges to drop")
        return self

    def impairment_options(self) -> list[str]:
        """Return the tc options."""
        words = ["loss", _percent(self.loss)] if self.loss else []
        for model in (self.loss_gemodel, self.loss_state):
            words += model.options() if model else []
        words += ["ecn"] if self.ecn else []
        for impairment in (self.jitter, self.slot, self.reorder, *self.drop):
            words += impairment.options() if impairment else []
        for name, share in (("duplicate", self.duplicate), ("corrupt", self.corrupt)):
            words += [name, _percent(share)] if share else []
        return words
