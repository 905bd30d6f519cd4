# SPDX-License-Identifier: GPL-2.0
"""The keys of a scenario for a link's impairments, and the tc options of wale for them."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, field_serializer, field_validator, model_validator

from wale_lab.fields import (
    MAX_U32,
    OPTIONS,
    STRICT,
    Probability,
    Switch,
    TimeNs,
    default,
    one_word,
    plain,
    quantity,
)
from wale_lab.link_words import percent
from wale_lab.options import CLASS_CROWD, DROP_RANGES_MAX, TIME_MAX

#: Tables of tc, and none.
DISTRIBUTIONS = ("uniform", "normal", "pareto", "paretonormal", "experimental")


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


class OfItsOwn(BaseModel):
    """An option whose words only it knows."""

    model_config = STRICT

    def options(self) -> list[str]:
        """Return the tc options."""
        raise NotImplementedError


class Gemodel(OfItsOwn):
    """Bursty losses by the Gilbert-Elliott model: a chain moves once before each packet."""

    p: Probability
    """probability of a step from the good state to the bad one"""
    r: Probability | None = None
    """probability of the reverse step (1 - p)"""
    bad: Probability = default("gemodel.bad")
    """probability that a packet is lost in the bad state: 1-h"""
    good: Probability = default("gemodel.good")
    """probability that a packet is lost in the good state: 1-k"""

    def options(self) -> list[str]:
        r = 1 - self.p if self.r is None else self.r
        return ["loss", "gemodel", *map(percent, (self.p, r, self.bad, self.good))]


class FourStates(OfItsOwn):
    """Bursty losses: good (1), good within a burst (2), burst (3), single loss (4)."""

    p13: Probability
    """probability of a step from good to a burst"""
    p31: Probability | None = None
    """probability of the reverse step (1 - p13)"""
    p32: Probability = default("state.p32")
    """probability of a step from a burst to good packets in it"""
    p23: Probability = default("state.p23")
    """probability of the reverse step"""
    p14: Probability = default("state.p14")
    """probability of a step from good to a single loss"""

    @model_validator(mode="after")
    def _check(self) -> FourStates:
        if self.p13 + self.p14 > 1 or (self.p31 or 0) + self.p32 > 1:
            raise ValueError("expected p13 + p14 and p31 + p32 of at most 1")
        return self

    def options(self) -> list[str]:
        p31 = 1 - self.p13 if self.p31 is None else self.p31
        numbers = (self.p13, p31, self.p32, self.p23, self.p14)
        return ["loss", "state", *map(percent, numbers)]


def _check_table(path: Path) -> None:
    """See that a file is a table of tc: whole numbers; the link knows the rest of its bounds."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        numbers = [int(word) for line in lines for word in line.partition("#")[0].split()]
    except (OSError, ValueError):
        numbers = []
    if not numbers:
        raise ValueError(f"expected a table of whole numbers in {path}")


class Jitter(OfItsOwn):
    """A random time that is added to the delay of each packet; the sum is never negative."""

    time: Annotated[int, *plain("jitter.time")]
    """amount: uniform from -time to time, or time multiplied by entries of the table"""
    distribution: str = "uniform"
    """uniform, or a table of tc: normal, pareto, paretonormal, experimental, or the path of one"""
    reordering: Switch = False
    """packets may overtake others"""

    model_config = OPTIONS

    @model_validator(mode="before")
    @classmethod
    def _one_word(cls, value: object) -> object:
        return one_word(value)

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
        words = ["jitter", f"{self.time}ns", "distribution", self.distribution]
        return words + (["overtaking"] if self.reordering else [])


class Drop(OfItsOwn):
    """Packets that are lost, listed by number."""

    packets: Annotated[str, *quantity(_packets, 'numbers: "10,11,20-25", or 10')]
    """such as "10,11,20-25", counted from 1 as they arrive"""
    flow: Annotated[int, Field(ge=0, le=CLASS_CROWD)] = 0
    """of the flow with this class; 0: of the whole link"""

    def options(self) -> list[str]:
        return ["drop_list", "flow", str(self.flow), "packets", self.packets]


class Reorder(OfItsOwn):
    """Some packets skip the propagation delay, and so overtake others."""

    share: Probability
    """share of packets"""
    gap: Annotated[int, *plain("gap")] = default("gap")
    """at most one in this many packets"""

    def options(self) -> list[str]:
        return ["reorder", percent(self.share), "gap", str(self.gap)]


class Slot(OfItsOwn):
    """Packets leave in slots: those that wait for a slot leave in it, as far as it has room."""

    min: TimeNs
    """minimum time between slots"""
    max: TimeNs | None = None
    """maximum time (default: min)"""
    packets: Annotated[int, *plain("slot.packets")] = default("slot.packets")
    """room in a slot; 0: any number"""
    bytes: Annotated[int, *plain("slot.bytes")] = default("slot.bytes")
    """room in a slot, in bytes on the wire; 0: any number"""

    @model_validator(mode="after")
    def _check(self) -> Slot:
        most = self.min if self.max is None else self.max
        if not self.min <= most <= TIME_MAX or not most:
            raise ValueError("expected a min of at most max, and a max of 1ns to 1 day")
        return self

    def options(self) -> list[str]:
        most = self.min if self.max is None else self.max
        words = ["slot", f"{self.min}ns", f"{most}ns"]
        return [*words, "packets", str(self.packets), "bytes", str(self.bytes)]


class Impairments(BaseModel):
    """Part of a link's options."""

    model_config = OPTIONS

    @model_validator(mode="before")
    @classmethod
    def _one_word(cls, value: object) -> object:
        return one_word(value)

    loss: Probability = default("loss")
    """probability that a packet is lost after service"""
    loss_gemodel: Gemodel | None = None
    """instead: bursty losses"""
    loss_state: FourStates | None = None
    """instead: bursty losses, by a chain with four states"""
    ecn: Switch = False
    """packets that support ECN are marked instead of being lost at random"""
    jitter: Jitter | None = None
    """how the delay varies from packet to packet"""
    drop: list[Drop] = []
    """packets that are lost, listed by number"""
    slot: Slot | None = None
    """slots in which packets leave"""
    reorder: Reorder | None = None
    """packets that overtake others"""
    duplicate: Probability = default("duplicate")
    """probability that a packet is duplicated"""
    corrupt: Probability = default("corrupt")
    """probability that a bit of a packet is flipped"""
    corrupt_fix: Switch | None = None
    """it is one of the data of TCP or UDP, and the checksum is made right again (off)"""
    loss_correlation: Probability | None = None
    """probability that a packet shares the fate that the one before it drew for loss (0)"""
    jitter_correlation: Probability | None = None
    """probability that a packet has the jitter of the one before it (0)"""

    @model_validator(mode="after")
    def _check_losses(self) -> Impairments:
        if bool(self.loss) + bool(self.loss_gemodel) + bool(self.loss_state) > 1:
            raise ValueError("expected one of loss, loss_gemodel and loss_state")
        if sum(one.packets.count(",") + 1 for one in self.drop) > DROP_RANGES_MAX:
            raise ValueError(f"expected at most {DROP_RANGES_MAX} packets and ranges to drop")
        return self
