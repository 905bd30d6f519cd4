# SPDX-License-Identifier: GPL-2.0
"""What a scenario may say of the bottleneck: its two directions, the options of wale qdiscs."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from wale_lab import options, units
from wale_lab.fields import (
    STRICT,
    Delay,
    Limit,
    LinkSteps,
    Or,
    Probability,
    Rate,
    Switch,
    Threshold,
    amount,
    default,
    plain,
    quantity,
)
from wale_lab.impairments import Impairments
from wale_lab.link_words import is_new
from wale_lab.models.sessions import Parameters
from wale_lab.options import DownDrops, Drops, Gso, PolicerExcess, Policy, TraceEnd
from wale_lab.scone_words import parse_scone
from wale_lab.trace_format.step import Step, as_step
from wale_lab.trace_format.trace_file import wrong_in

#: A start is a time after 1970, and a guest's clock begins in 2023.
MAX_SINCE_NS = 19_000 * 86_400 * 10**9

#: What a link's own buffer has, and a queue instead of it has not.
_OF_THE_BUFFER = ("limit", "policy", "threshold", "z", "last", "mark", "rem", "flows", "input_rate")


def now(name: str) -> str:
    """The word for a field's option."""
    return options.ALIASES.get(name, name)


def _start_ns(value: object) -> int:
    text = str(value).strip()
    if text.startswith("-"):
        return -units.parse_time_ns(text[1:])
    return units.parse_time_ns(value)


Start = Annotated[int, *quantity(_start_ns, "time: 5s, -1h; a number: seconds")]


class Strict(BaseModel):
    """Unknown keys are errors."""

    model_config = STRICT


class Trace(Strict):
    """A link that changes in steps: its rate, and its delay, loss and limit where they are given.

    What a step does not give stays as the link says beside the trace.
    """

    steps: LinkSteps = []
    """the steps, each as "DURATION:RATE", such as ["1s:2mbit", "500ms:0bit"], or with more words,
    whose unit says what they are: "5s:8mbit,20ms,0.1%,100p", "3s:down" """
    file: str | None = None
    """instead of steps: the file of a trace (units.rst), relative to the scenario's folder"""
    end: TraceEnd = "loop"
    """after the last step: start over, keep its rate, or an outage from then on"""

    @model_validator(mode="after")
    def _check(self) -> Trace:
        if bool(self.steps) == bool(self.file):
            raise ValueError("expected either steps or a file")
        return self

    @field_validator("steps")
    @classmethod
    def _check_steps(cls, steps: LinkSteps) -> LinkSteps:
        if steps and (wrong := wrong_in([as_step(step) for step in steps])):
            raise ValueError(wrong)
        return steps

    def each(self) -> list[Step]:
        """The steps, with all that they may give."""
        return [as_step(step) for step in self.steps]

    def rates(self, otherwise: int | str) -> list[tuple[int, int | str]]:
        """Durations and rates; a step without one has the link's."""
        return [
            (
                step.duration_ns,
                0 if step.down else otherwise if step.rate_bps is None else step.rate_bps,
            )
            for step in self.each()
        ]


class Sessions(Strict):
    """Short-lived sessions that share the link: rate / (M + 1), the chain M drawn from the seed."""

    arrival: Probability
    """probability that a session arrives in a step"""
    mean: Annotated[float, *plain("sessions.mean")]
    """mean size of a session, in units of rate times step"""
    max: Annotated[int, *plain("sessions.max")]
    """maximum number of concurrent sessions"""
    step: Annotated[int, *plain("sessions.step")]
    """how often sessions arrive and leave, at least 1 ms"""

    @model_validator(mode="after")
    def _check(self) -> Sessions:
        if not self.chain().fits_walk():
            raise ValueError(
                "expected probabilities of an arrival and of departures that are at most 1 "
                "together: a lower arrival, or a larger mean"
            )
        return self

    def chain(self) -> Parameters:
        """The chain as the kernel has it: probability and mean in 2^-32, to the nearest."""
        arrival = min(round(self.arrival * 2**32), 2**32 - 1)
        return Parameters(arrival, round(self.mean * 2**32), self.max, self.step)


class Feedback(Strict):
    """The link advertises its rate to senders, and how many flows are active on it."""

    idle: Annotated[int, *plain("feedback.idle")] = options.FEEDBACK_IDLE_DEFAULT
    """a flow that has sent nothing for this long is not active"""


class Rem(Strict):
    """Random exponential marking: the price p of a link, and the probability 1 - phi^-p of a mark.

    Every interval p changes by gamma (alpha (b - target) + x - c): b is in the buffer, x arrived in
    the interval, and c could be sent in it.
    """

    interval: Annotated[int, *plain("rem.interval")] = default("rem.interval")
    """from one change of the price to the next, 1 ms to 1 s"""
    gamma: Annotated[float, *plain("rem.gamma")] = default("rem.gamma")
    """change of the price for each kB (1000 bytes)"""
    alpha: Annotated[float, *plain("rem.alpha")] = default("rem.alpha")
    """weight of the backlog"""
    target: Annotated[int, *plain("rem.target")] = default("rem.target")
    """target backlog, bytes on the wire"""
    phi: Annotated[float, *plain("rem.phi")] = default("rem.phi")
    """base of the probability"""


class Policer(Strict):
    """A bucket of tokens before the buffer: packets that exceed its rate and burst do not pass."""

    rate: Annotated[int, *plain("policer.rate")]
    """rate at which tokens come"""
    burst: Annotated[int, *plain("policer.burst")]
    """the most tokens, bytes on the wire"""
    excess: PolicerExcess = "drop"
    """what exceeds them is dropped, or marked (ECN) if it can be"""


class Breaker(Strict):
    """A circuit breaker: flows that stay above a rate for a time are cut off."""

    rate: Annotated[int, *plain("breaker.rate")]
    """rate that a flow may have"""
    after: Annotated[int, *plain("breaker.after")]
    """for how long it may have more"""


class Link(Impairments):
    """One direction of a link: the options of the wale qdisc, or another qdisc instead."""

    rate: Rate = units.UNLIMITED
    """bit/s"""
    delay: Delay = default("delay")
    """one-way propagation delay, after service"""
    limit: Limit = "1000p"
    """buffer: packets, bytes or (with overhead atm) cells that are queued or in service"""
    line: Annotated[str, *amount("line", "bound: 30kB, 20p")] | None = None
    """the most that may be in flight after service, packets or bytes (unlimited)"""
    policy: Policy = "tail"
    """which packets the buffer drops"""
    threshold: Threshold | None = None
    """for epd, seldrop and fba: R, above which they drop (90%)"""
    z: Annotated[float, *plain("z")] | None = None
    """for seldrop and fba: Z, how many times its fair share a flow may take (0.8)"""
    last: Annotated[int, *plain("last")] | None = None
    """for random_tail: how many packets at the tail of the queue may be the victim (1)"""
    mark: Switch = False
    """packets that support ECN are marked instead of being dropped early"""
    rem: Rem | None = None
    """for rem: how its price changes"""
    policer: Policer | None = None
    """what may come at all: before the buffer, or with an unlimited rate instead of it"""
    flows: Annotated[int, *plain("flows")] | None = None
    """how many flows are told apart (1024 if a policy or cells need it, else none)"""
    breaker: Breaker | None = None
    """which flows are cut off, of those that are told apart"""
    input_rate: Annotated[int | str, *plain("input_rate")] | None = None
    """rate of each flow's input link, on which cells arrive one by one (all at once)"""
    queue: str | None = None
    """instead of the buffer: any qdisc as tc takes it, such as "fq_codel limit 1000 ecn" """
    overhead: Annotated[str, *quantity(units.parse_overhead, "overhead: ethernet, pppoe, 8")] = (
        "raw"
    )
    """bytes on the wire in addition to those of IP: raw, ethernet, atm, pppoe or vlan, a number of
    bytes, or a layer and a number, such as "ethernet 8" """
    mpu: Annotated[int, *plain("mpu")] | None = None
    """bytes that a packet has at least, before its layer adds to them"""
    drops: Drops = "remote"
    """who is told of a packet that does not fit into the buffer"""
    gso: Gso = "split"
    """is a GSO packet split into those on the wire, or served, counted and lost in one piece?"""
    trace: Trace | None = None
    """a rate that changes in steps, instead of rate"""
    down_drops: DownDrops | None = None
    """what a link that is down drops: what arrives, or all that is on its way, too (arrivals)"""
    sessions: Sessions | None = None
    """sessions that share the rate"""
    start: Start | None = None
    """when trace or sessions begin, from the scenario's start on; those of all links begin together
    without it, just before the flows. Before the start, the rate is that of the first step"""
    slack: Annotated[int, *plain("slack")] = default("slack")
    """packets may leave this much late, so that the kernel needs fewer timers"""
    feedback: Annotated[Feedback | None, Or(type="boolean")] = None
    """true: the link publishes its rate for senders that listen, such as ratcp"""
    scone: Annotated[str, *quantity(parse_scone, "rate: share period 67s average 0")] | None = None
    """the rate that the link writes into SCONE packets of QUIC: its own (link), its share by active
    flows (share, with feedback), or one that is said; then the period and the time of its mean"""
    qdisc: str | None = None
    """instead of all others: any qdisc as tc takes it, such as "netem delay 50ms rate 2mbit" """

    @model_serializer(mode="wrap")
    def _without_new_ones(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """An option that is newer than the others, and not given, is in no digest."""
        data: dict[str, Any] = handler(self)
        return {name: v for name, v in data.items() if v is not None or not is_new(name)}

    @field_validator("feedback", mode="before")
    @classmethod
    def _on_or_off(cls, value: object) -> object:
        if value in (True, "on"):
            return {}
        return None if value in (False, "off") else value

    @field_validator("qdisc")
    @classmethod
    def _words_of_a_qdisc(cls, value: str | None) -> str | None:
        if value is not None and not value.split():
            raise ValueError(f"expected a qdisc and its options, as tc takes them, got {value!r}")
        return value

    @field_validator("qdisc", "queue")
    @classmethod
    def _one_line(cls, value: str | None) -> str | None:
        """A second one would be a command of its own."""
        return " ".join(value.split()) if value is not None else None

    @field_validator("queue")
    @classmethod
    def _words_of_a_queue(cls, value: str | None) -> str | None:
        words = value.split() if value is not None else ["none"]
        if not words or words[0] in ("wale", "netem", "noqueue"):
            raise ValueError(
                f"expected a qdisc that queues, such as fq_codel, with its options, got {value!r}"
            )
        return value

    @model_validator(mode="after")
    def _check(self) -> Link:
        others = sorted(self.model_fields_set - {"qdisc"})
        if self.qdisc is not None and others:
            raise ValueError(f"expected qdisc alone, it comes with {', '.join(map(now, others))}")
        with_rate = self.trace and any(s.rate_bps is None and not s.down for s in self.trace.each())
        if self.trace and (self.sessions or ("rate" in self.model_fields_set and not with_rate)):
            raise ValueError("expected trace without rate and sessions")
        if self.sessions and self.rate == units.UNLIMITED:
            raise ValueError("expected a rate that the sessions share")
        if self.start is not None and not (self.trace or self.sessions):
            raise ValueError("expected start with trace or sessions, whose start it is")
        if self.start is not None and self.start > options.START_AHEAD_MAX:
            raise ValueError("expected a start at most 366 days ahead")
        if self.start is not None and -self.start > MAX_SINCE_NS:
            raise ValueError("expected a start at most 19000 days ago")
        if self.start is not None and self.sessions:
            if self.start > 0 or -self.start > options.START_MOVES_MAX * self.sessions.step:
                raise ValueError("expected a start of sessions 0 to 100000 of their steps ago")
        if (self.scone or "").startswith("share") and not self.feedback:
            raise ValueError("expected feedback with scone: share, which counts the flows")
        self._check_buffer()
        if self.rate == 0:
            raise ValueError('expected a rate above 0 (an outage is a step of a trace: "1s:0bit")')
        return self

    def _check_buffer(self) -> None:
        own = sorted(self.model_fields_set & set(_OF_THE_BUFFER))
        if self.queue is not None and own:
            raise ValueError(
                f"expected queue without {', '.join(map(now, own))}: the queue is the buffer, and "
                f"has its own ({now(own[0])}=null takes it out)"
            )
        cells = self.limit.endswith(" cells")
        by_flow = self.policy in ("seldrop", "fba")
        if self.gso == "keep" and (cells or self.corrupt):
            raise ValueError("expected gso: split with a limit in cells and with corrupt")
        if cells and units.split_overhead(self.overhead)[0] != "atm":
            raise ValueError("expected overhead: atm with a limit in cells")
        if self.input_rate is not None and not cells:
            raise ValueError("expected a limit in cells with input_rate, which is that of cells")
        if self.threshold is not None and not (by_flow or self.policy == "epd"):
            raise ValueError("expected threshold with policy epd, seldrop or fba")
        if self.z is not None and not by_flow:
            raise ValueError("expected share_factor with policy seldrop or fba")
        if self.last is not None and self.policy != "random_tail":
            raise ValueError("expected victims with policy random_tail")
        if self.rem is not None and self.policy != "rem":
            raise ValueError("expected rem with policy rem")
        told_apart = self.flows or (options.FLOWS_DEFAULT if cells or by_flow else 0)
        for drop in self.drop:
            if drop.flow > told_apart and not (told_apart and drop.flow == options.CLASS_CROWD):
                raise ValueError(
                    f"expected flows of at least {drop.flow} with flow {drop.flow} of a drop_list: "
                    f"the link tells {told_apart} apart"
                )
        if self.mark and self.policy in ("tail", "random_tail"):
            raise ValueError("expected policy_ecn with policy epd, seldrop, fba or rem")
        if self.threshold and self.threshold[-1] not in ("%", self.limit[-1]):
            raise ValueError("expected a threshold that is a share, or in the unit of the limit")


class Bottleneck(Strict):
    """The link that all pairs share."""

    forward: Link = Link()
    """from the senders to the receivers: the direction of the data"""
    reverse: Link = Link()
    """from the receivers to the senders: the direction of the ACKs"""


def wire_bytes(link: Link, size: int) -> int:
    """The length on a link of an IP packet of this many bytes."""
    layer, more = units.split_overhead(link.overhead)
    size = max(size + more, link.mpu or 0, 0)
    if layer == "ethernet":
        return max(size + 38, 84)
    return 53 * ((size + 16 + 47) // 48) if layer == "atm" else max(size, 1)
