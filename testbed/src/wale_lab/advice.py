# SPDX-License-Identifier: GPL-2.0
"""The rate that senders are advised of, and how they use it: the options of `wale rate`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator

from wale_lab import units
from wale_lab.fields import STRICT, Probability, Rate, Steps, Switch, TimeNs, quantity

#: What the channel takes at most.
MAX_TIME_NS = 86_400 * 10**9
MAX_BASE_RTT_NS = 60 * 10**9

_MEANING = Literal["share", "link", "weight"]
_LAYER = Literal["ip", "ethernet", "atm", "payload"]


def _time(value: object, most_ns: int, words: tuple[str, ...]) -> int | str:
    """A time up to a limit, or one of some words."""
    if isinstance(value, str) and value in words:
        return value
    choice = " or ".join(words)
    try:
        time = units.parse_time_ns(value)
    except ValueError:
        raise ValueError(f'expected {choice} or a time such as "200ms", got {value!r}') from None
    if time > most_ns:
        most = units.show_time_ns(most_ns)
        raise ValueError(f"expected {choice} or a time up to {most}, got {value!r}")
    return time


def _lag(value: object) -> int | str:
    return _time(value, MAX_TIME_NS, ("now", "rtt")) or "now"


def _age(value: object) -> int | str:
    return _time(value, MAX_TIME_NS, ("none",)) or "none"


def _base_rtt(value: object) -> int | str:
    return _time(value, MAX_BASE_RTT_NS, ("measured",)) or "measured"


def _swing(value: object) -> float:
    expected = 'whole percents from 0% to 100%, such as "50%" or 0.5'
    try:
        share = units.parse_probability(value)
    except ValueError:
        raise ValueError(f"expected {expected}, got {value!r}") from None
    if round(100 * share) != round(100 * share, 6):
        raise ValueError(f"expected {expected}, got {value!r}")
    return share


class Impair(BaseModel):
    """A poor channel between the link and its senders; at least one of these.

    It announces the rate at intervals. The rate is averaged, then rounded, and then may be
    lost: the sender uses the last announcement that arrived.
    """

    model_config = STRICT

    levels_per_decade: Annotated[int, Field(ge=1, le=1000)] | None = None
    """rates are rounded down to this many levels per decade, from 100 kbit/s (SCONE: 20)"""
    average: TimeNs | None = None
    """the mean rate over this time is announced, not the current one (SCONE: 67 s)"""
    loss: Probability = 0.0
    """probability that an announcement is lost; the first one never is"""
    interval: TimeNs = 100_000_000
    """time between announcements, at least 1 ms; the first is at the link's start"""

    @model_validator(mode="after")
    def _check(self) -> Impair:
        if not self.model_fields_set:
            raise ValueError(f"expected at least one of {', '.join(Impair.model_fields)}")
        if self.average == 0:
            raise ValueError("expected an average over a time above 0")
        if self.interval < 1_000_000:
            raise ValueError("expected an interval of at least 1ms")
        return self


class Advice(BaseModel):
    """The rate that a sender listens to, and how it uses it; None: the channel's default.

    The rate is that of the forward link if this has `feedback`, unless `rate`, `steps` or
    `impair` is given here.
    """

    model_config = STRICT

    rate: Rate | None = None
    """advised before the start, whatever the link does"""
    steps: Steps = []
    """instead of rate: ["1s:2mbit", "500ms:0bit"], from the scenario's start"""
    end: Literal["hold", "loop", "delete"] = "hold"
    """after the last step: keep its rate, start over, or no advice"""
    impair: Impair | None = None
    """instead of following the link: its rate (shared by the sender's flows), announced poorly"""
    meaning: _MEANING | None = None
    """what rate or steps mean: each flow's share; the link's rate, divided by its flows; or a
    flow's rate at price 1, where links mark packets to signal their price (policy rem)"""
    phi: Annotated[float, Field(ge=1.001, le=1000)] | None = None
    """base of the probability of those marks"""
    layer: _LAYER | None = None
    """which bytes of a packet rate or steps count"""
    beta: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    """target backlog, packets"""
    swing: Annotated[float, *quantity(_swing, "whole percents: 50%, 0.5")] | None = None
    """share of the rate window's gap to its peak of the last minute that is added to beta"""
    lag: Annotated[int | str, *quantity(_lag, "now, rtt, or a time: 200ms")] | None = None
    """which rate is read: the current one, or that of a base round-trip time or a given time ago"""
    rise: Literal["fast", "additive"] | None = None
    """how a window grows when the rate rises"""
    pace: Switch | None = None
    """packets are paced at the rate"""
    base_rtt: Annotated[int | str, *quantity(_base_rtt, "measured, or a time: 100ms")] | None = None
    """base round-trip time to use instead of the measured one"""
    age: Annotated[int | str, *quantity(_age, "none, or a time: 1s")] | None = None
    """advice that has not been renewed for this long expires; each step renews it"""

    @model_validator(mode="after")
    def _check(self) -> Advice:
        if self.rate is not None and self.steps:
            raise ValueError("expected either a rate or steps")
        own = self.rate is not None or bool(self.steps)
        if own and self.impair:
            raise ValueError("expected either impair or a rate or steps")
        for key in ("meaning", "layer"):
            if getattr(self, key) is not None and not own:
                raise ValueError(f"expected {key} together with rate or steps, not the link's")
        if "end" in self.model_fields_set and not self.steps:
            raise ValueError("expected end together with steps")
        return self

    @property
    def has_rate(self) -> bool:
        """Does it set its own rate, or one derived from the link's?"""
        return self.rate is not None or bool(self.steps) or self.impair is not None

    def merged_with(self, other: Advice | None) -> Advice:
        """This advice, overridden by the settings of the other one."""
        if other is None:
            return self
        mine = self._said()
        if other.has_rate:
            for key in ("rate", "steps", "end", "meaning", "layer", "impair"):
                mine.pop(key, None)
        return Advice.model_construct(**mine | other._said())

    def _said(self) -> dict[str, Any]:
        """What is not left to the channel."""
        values = {name: getattr(self, name) for name in self.model_fields_set}
        return {name: value for name, value in values.items() if value is not None}

    def words(self, follow: str) -> list[str]:
        """The arguments of `wale rate set dev DEV`: the value, then the settings."""
        if not self.has_rate:
            words = ["follow", *follow.split(), "lag", _show(self.lag or "rtt")]
        else:
            words = [_show_rate(self.steps[0][1] if self.steps else self.rate or 0)]
            words += [self.meaning] if self.meaning else []
            words += ["layer", self.layer] if self.layer else []
            words += ["lag", _show(self.lag)] if self.lag is not None else []
        for name, value in (("age", self.age), ("beta", self.beta), ("rise", self.rise)):
            words += [name, _show(value, plain=name == "beta")] if value is not None else []
        if self.phi is not None:
            words += ["phi", f"{self.phi:.10g}"]
        if self.swing is not None:
            words += ["swing", f"{round(100 * self.swing)}%"]
        if self.pace is not None:
            words.append("pace" if self.pace else "nopace")
        if self.base_rtt is not None:
            words += ["base-rtt", _show(self.base_rtt)]
        return words

    def trace(self) -> list[str]:
        """The lines of the file that `wale rate play` reads; none without steps."""
        return [f"{duration}ns {_show_rate(rate)}" for duration, rate in self.steps]

    def play_options(self) -> list[str]:
        """The arguments of `wale rate play` in addition to the file and the settings."""
        return {"hold": [], "loop": ["--loop"], "delete": ["--delete"]}[self.end]


def _show_rate(rate: int | str) -> str:
    return rate if isinstance(rate, str) else f"{rate}bit"


def _show(value: int | str, plain: bool = False) -> str:
    """A word, or a number: a time unless it is plain."""
    return str(value) if plain or isinstance(value, str) else f"{value}ns"
