# SPDX-License-Identifier: GPL-2.0
"""A step of a trace, as numbers and as words (Documentation/units.rst has the format)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from wale_lab import options, units

#: The columns of a trace beside the duration.
COLUMNS = ("rate", "delay", "loss", "limit")

_PACKETS = re.compile(r"([0-9]+)p", re.IGNORECASE)
_BYTES = re.compile(r"[0-9.]+(e[+-]?[0-9]+)?([kmgt]i|)b?", re.IGNORECASE | re.ASCII)
_PERCENT = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?%")
_RATE_UNITS = re.compile(r"[kmgt]?i?(bit|bit/s|b/s|bps)", re.IGNORECASE | re.ASCII)
_MAX_RATE_BPS = 8 * options.RATE_MAX

#: So many words of each kind are not read again: a trace says most of them often.
_WORDS_KEPT = 4096


class Step(NamedTuple):
    """What a link is like for a while; None is as the link's options say."""

    duration_ns: int
    rate_bps: int | None = None
    delay_ns: int | None = None
    loss: float | None = None
    limit: str | None = None  # "100p" or "30000b", as units.parse_limit() gives it
    down: bool = False  # instead of a rate

    def words(self) -> list[str]:
        """The step as a line of a file has it: the unit of a word says what it is."""
        values = {
            "rate": "down" if self.down else _with(self.rate_bps, "bit"),
            "delay": None if self.delay_ns is None else show_time(self.delay_ns),
            "loss": None if self.loss is None else f"{self.loss * 100:.12g}%",
            "limit": None if self.limit is None else self.limit.replace("b", "B"),
        }
        given = [value for value in values.values() if value is not None]
        return [show_time(self.duration_ns), *(given or ["-"])]

    def carries(self) -> bool:
        """Whether packets pass in this step."""
        return not self.down and self.rate_bps != 0


def _with(number: int | None, unit: str) -> str | None:
    return None if number is None else f"{number}{unit}"


def show_time(ns: int) -> str:
    """A time in the largest unit in which it is a whole number."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if ns and ns % size == 0:
            return f"{ns // size}{unit}"
    return f"{ns}ns"


def only(step: Step, columns: Collection[str]) -> Step:
    """A step without the other columns; down is a rate."""
    rate, delay, loss, limit = (name in columns for name in COLUMNS)
    return Step(
        step.duration_ns,
        step.rate_bps if rate else None,
        step.delay_ns if delay else None,
        step.loss if loss else None,
        step.limit if limit else None,
        step.down and rate,
    )


def column_of(word: str) -> str:
    """Which column a word is a value of, by its unit."""
    unit = word.lstrip("0123456789.")
    unit = re.sub(r"^[eE][+-]?[0-9]+", "", unit)
    if word == "down" or _RATE_UNITS.fullmatch(unit) or not unit:
        return "rate"
    if unit == "%":
        return "loss"
    if unit.lower() in units.TIMES_NS:
        return "delay"
    return "limit" if unit[:1] in "pPkKmMgGtTbBc" and unit else "rate"


def parse_step(words: Sequence[str]) -> Step:
    """A line of a trace file without named columns."""
    duration_ns = parse_duration(words[0])
    if len(words) < 2:
        raise ValueError(
            f"expected `DURATION RATE`, got {words[0]!r} (a DELAY, LOSS, LIMIT, down or - will do)"
        )
    found: dict[str, str] = {}
    for word in words[1:]:
        if word == "-":
            continue
        column = column_of(word)
        if column in found:
            raise ValueError(f"expected one {column}, got {found[column]!r} and {word!r}")
        found[column] = word
    return step_of(duration_ns, found)


def step_of(duration_ns: int, values: dict[str, str]) -> Step:
    """A step with the values of its columns as text; - is one that is not given."""
    given = {name: word for name, word in values.items() if word != "-"}
    down = given.get("rate") == "down"
    rate, delay, loss, limit = (given.get(name) for name in COLUMNS)
    return Step(
        duration_ns,
        None if rate is None or down else _rate_bps(rate),
        None if delay is None else _delay_ns(delay),
        None if loss is None else _loss(loss),
        None if limit is None else _limit(limit),
        down,
    )


@lru_cache(_WORDS_KEPT)
def parse_duration(word: str) -> int:
    """A duration in ns, with a unit: tc would take ns without one, and a scenario s."""
    duration_ns = units.parse_time_ns(word)
    if duration_ns and word[-1:] in "0123456789.":
        raise ValueError(f'expected a time with a unit, such as "10ms", got {word!r}')
    if not options.TRACE_STEP_MIN <= duration_ns <= options.TIME_MAX:
        raise ValueError(f"expected a duration from 1us to 1 day, got {duration_ns} ns")
    return duration_ns


@lru_cache(_WORDS_KEPT)
def _rate_bps(word: str) -> int:
    rate = units.parse_rate_bps(word, bps_are_bytes=True)
    if rate > _MAX_RATE_BPS:
        raise ValueError(f"expected a rate from 8 bit/s to 8e15 bit/s, got {word!r}")
    return rate


@lru_cache(_WORDS_KEPT)
def _delay_ns(word: str) -> int:
    delay_ns = units.parse_time_ns(word)
    if word[-1:] in "0123456789.":
        raise ValueError(f'expected a delay with a unit, such as "20ms", got {word!r}')
    if delay_ns > options.TIME_MAX:
        raise ValueError(f"expected a delay from 0ns to 86400s, got {word!r}")
    return delay_ns


@lru_cache(_WORDS_KEPT)
def _loss(word: str) -> float:
    if not _PERCENT.fullmatch(word) or Fraction(word[:-1]) > 100:
        raise ValueError(f"expected a loss from 0% to 100%, got {word!r}")
    return float(Fraction(word[:-1]) / 100)


@lru_cache(_WORDS_KEPT)
def _limit(word: str) -> str:
    packets = _PACKETS.fullmatch(word)
    if not packets and not _BYTES.fullmatch(word):
        raise ValueError(f'expected a limit such as "100p", "30000B" or "30KiB", got {word!r}')
    option = options.LINK["limit_packets" if packets else "limit_bytes"]
    number = int(packets[1]) if packets else units.parse_size_bytes(word)
    if not option.least <= number <= option.most:
        raise ValueError(f"expected a limit of {option.must}, got {word!r}")
    return f"{number}{'p' if packets else 'b'}"


def as_step(step: Any) -> Step:
    """A step as a scenario or its result has it: a pair of duration and rate, or words."""
    if isinstance(step, Step):
        return step
    if isinstance(step, str):
        duration, _, words = step.partition(":")
        return parse_step([duration, *words.split(",")])
    duration_ns, rate_bps = step
    return Step(duration_ns, rate_bps)


@dataclass
class Header:
    """The first line of a file that names its columns."""

    columns: list[str] = field(default_factory=list)  # [] without one

    def parse(self, words: Sequence[str]) -> Step:
        """A line, with the columns of this header or without."""
        if not self.columns:
            return parse_step(words)
        if len(words) != len(self.columns):
            raise ValueError(
                f"expected {len(self.columns)} words, {' '.join(self.columns)}, got {len(words)}"
            )
        values = dict(zip(self.columns[1:], words[1:], strict=True))
        return step_of(parse_duration(words[0]), values)


def parse_header(words: Sequence[str]) -> Header | None:
    """The names of columns, or None if a line is a step."""
    if words[0] != "duration":
        return None
    for n, name in enumerate(words[1:], 1):
        if name not in COLUMNS:
            raise ValueError(f"expected {', '.join(COLUMNS)} as names of columns, got {name!r}")
        if name in words[1:n]:
            raise ValueError(f"expected each column once, got {name!r} twice")
    if len(words) < 2:
        raise ValueError("expected names of columns behind duration")
    return Header(list(words))


def merged(steps: Iterator[Step]) -> Iterator[Step]:
    """Equal neighbours as one, as far as a step of a link may be so long."""
    held: Step | None = None
    for step in steps:
        if held is not None and held[1:] == step[1:]:
            held = held._replace(duration_ns=held.duration_ns + step.duration_ns)
        else:
            if held is not None:
                yield from _split(held)
            held = step
    if held is not None:
        yield from _split(held)


def _split(step: Step) -> Iterator[Step]:
    left = step.duration_ns
    if left > options.TRACE_PERIOD_MAX:
        yield step  # which no link takes, in however many parts
        return
    while left > options.TIME_MAX:
        # what is left over must be long enough to be a step
        spare = 0 if left >= options.TIME_MAX + options.TRACE_STEP_MIN else options.TRACE_STEP_MIN
        yield step._replace(duration_ns=options.TIME_MAX - spare)
        left -= options.TIME_MAX - spare
    yield step._replace(duration_ns=left)
