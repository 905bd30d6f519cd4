# SPDX-License-Identifier: GPL-2.0
"""Any emulator that tc can set up: command lines with placeholders.

    netem limit {limit} [delay {delay}] [{jitter}] [loss {loss}]

A placeholder stands for a value.  Words in brackets are left out unless the value is needed;
outside of brackets, a value that is not needed gets one without effect (NEUTRAL).  A tree of
qdiscs has a line for each, separated by ";", each the child of the one before.  A line that
begins with "class" creates the class that the next qdisc is attached to:

    htb default 1; class htb rate {rate} burst {burst}; netem limit {limit} [delay {delay}]

A line that is entirely in brackets is used only if its values are needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from wale_lab.errors import ScenarioError

#: What is asked of an emulator: placeholder to value, in the unit of PLACEHOLDERS.
Asked = Mapping[str, int | float]


def _percent(value: float) -> str:
    return f"{100 * value:.12g}%"


def _time(value_ns: float) -> str:
    """In us: not every tc knows ns."""
    return f"{value_ns / 1e3:.12g}us"


@dataclass(frozen=True)
class Placeholder:
    """A value that a template may have."""

    meaning: str
    show: Callable[[int | float], str]
    neutral: int | float


#: The values, as tc takes them. A time is in ns, a share from 0 to 1.
PLACEHOLDERS = {
    "rate": Placeholder("bit/s of the link", lambda v: f"{v}bit", 10**12),
    "delay": Placeholder("propagation delay", _time, 0),
    "limit": Placeholder("most packets in the buffer", str, 10**6),
    "limit_bytes": Placeholder("the buffer in bytes (where there is no limit)", str, 10**9),
    "child_limit": Placeholder("most packets in a qdisc instead of the buffer", str, 10**6),
    "burst": Placeholder("bytes that a token bucket lets pass at once", lambda v: f"{v}b", 1600),
    "loss": Placeholder("share of packets lost, independently", _percent, 0.0),
    "loss_correlation": Placeholder("of one loss and the next, beside loss", _percent, 0.0),
    "gemodel_p": Placeholder("of bursty loss: from good to bad", _percent, 0.0),
    "gemodel_r": Placeholder("of bursty loss: from bad to good", _percent, 1.0),
    "seed": Placeholder("of everything random", str, 1),
    "jitter": Placeholder("variation of the delay, beside delay", _time, 0),
    "jitter_correlation": Placeholder("of one jitter and the next", _percent, 0.0),
    "overhead": Placeholder("bytes of each packet beside its own, beside rate", str, 0),
    "police": Placeholder("bit/s of a policer, beside burst", lambda v: f"{v}bit", 10**12),
    "breaker": Placeholder("bit/s of a circuit breaker, beside after", lambda v: f"{v}bit", 10**12),
    "after": Placeholder("how long a flow may be above that", _time, 0),
    "reorder": Placeholder("share of packets that overtake, beside delay", _percent, 0.0),
    "duplicate": Placeholder("share of packets that come twice", _percent, 0.0),
    "corrupt": Placeholder("share of packets with an error", _percent, 0.0),
    "corrupt_fix": Placeholder("of those with one that no checksum shows", _percent, 0.0),
    "state_p13": Placeholder("of loss in four states: a burst begins", _percent, 0.0),
    "state_p31": Placeholder("and ends", _percent, 1.0),
    "state_p14": Placeholder("a packet is lost by itself", _percent, 0.0),
    "ecn": Placeholder("1: losses at random become marks", lambda v: "ecn" if v else "", 0),
    "drop_first": Placeholder("number of the first packet of those to lose", str, 0),
    "drop_last": Placeholder("and of the last", str, 0),
    "slot": Placeholder("time from slot to slot, in which packets leave", _time, 0),
    "outage": Placeholder(
        "time of each of two steps of a trace: 8 Mbit/s, and none",
        lambda v: f"{_time(v)}:8mbit,{_time(v)}:0",
        0,
    ),
    "shift": Placeholder(
        "time of each of two steps of a trace: 5 ms of delay, and 25 ms",
        lambda v: f"{_time(v)}:5ms,{_time(v)}:25ms",
        0,
    ),
    "down": Placeholder(
        "time of each of two steps of a trace: up, and down",
        lambda v: f"{_time(v)}:-,{_time(v)}:down",
        0,
    ),
    "start": Placeholder("when the trace starts, in seconds since 1970", lambda v: f"@{v}", 0),
}

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_GROUP = re.compile(r"\[([^\[\]]*)\]")


def _names(text: str) -> list[str]:
    return _PLACEHOLDER.findall(text)


@dataclass(frozen=True)
class Line:
    """A qdisc or a class of the tree."""

    text: str

    @property
    def is_class(self) -> bool:
        """Whether it makes a class."""
        return self.text.startswith("class ")

    @property
    def kind(self) -> str:
        """The kind of the qdisc, such as netem."""
        return self.text.lstrip("[").removeprefix("class ").split()[0]

    def chosen(self, asked: Asked) -> str:
        """The line without the brackets that need other values than these."""

        def group(match: re.Match[str]) -> str:
            return match[1] if all(name in asked for name in _names(match[1])) else ""

        return _GROUP.sub(group, self.text)

    def words(self, asked: Asked) -> str:
        """The same, with the values."""

        def value(match: re.Match[str]) -> str:
            placeholder = PLACEHOLDERS[match[1]]
            return placeholder.show(asked.get(match[1], placeholder.neutral))

        text = _PLACEHOLDER.sub(value, self.chosen(asked))
        return " ".join(text.removeprefix("class ").split())


@dataclass(frozen=True)
class Template:
    """The lines of an emulator, and what they can be asked for."""

    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """As it is written."""
        return "; ".join(line.text for line in self.lines)

    @property
    def placeholders(self) -> set[str]:
        """What it can be asked for."""
        return {name for line in self.lines for name in _names(line.text)}

    @property
    def kinds(self) -> list[str]:
        """The qdiscs that it consists of, the root first."""
        return [line.kind for line in self.lines if not line.is_class]

    def offers(self, name: str) -> bool:
        """Whether it can be asked for a value; a limit may be in packets or in bytes."""
        return name in self.placeholders or (name == "limit" and "limit_bytes" in self.placeholders)

    def line_of(self, name: str) -> Line | None:
        """The line that has a value: that of the qdisc whose manual says what it means."""
        wanted = [name, "limit_bytes"] if name == "limit" else [name]
        for one in wanted:
            for line in self.lines:
                if one in _names(line.text):
                    return line
        return None

    def commands(self, asked: Asked) -> list[tuple[str, str, str]]:
        """The tree as (qdisc or class, its place, its words), to add in this order."""
        parent, handle, result = "root", 0, []
        for line in self.lines:
            words = line.words(asked)
            if not words:
                continue
            if line.is_class:
                place = f"parent {handle}: classid {handle}:1"
            else:
                handle += 1
                place = f"{parent} handle {handle}:"
            result.append(("class" if line.is_class else "qdisc", place, words))
            parent = f"parent {handle}:1"
        return result


def parse(text: str) -> Template:
    """A template from its text; ScenarioError says what is wrong with it."""
    lines = tuple(Line(" ".join(line.split())) for line in text.split(";"))
    for line in lines:
        rest = _PLACEHOLDER.sub("", _GROUP.sub(r"\1", line.text))
        unknown = sorted(set(_names(line.text)) - PLACEHOLDERS.keys())
        if unknown:
            known = ", ".join(PLACEHOLDERS)
            raise ScenarioError(f"--qdisc: unknown {{{unknown[0]}}}; expected one of {known}")
        if re.search(r"[][{}]", rest):
            raise ScenarioError(f"--qdisc: {line.text!r}: a bracket without its counterpart, "
                                "or one within another")  # fmt: skip
        if not re.match(r"\[?(class )?[a-z]", line.text):
            raise ScenarioError(f"--qdisc: {line.text!r}: expected the name of a qdisc, and words")
    if lines[0].is_class or (lines[-1].is_class and len(lines) == 1):
        raise ScenarioError("--qdisc: expected a qdisc first, then a class of it")
    template = Template(lines)
    if not template.placeholders:
        raise ScenarioError(
            f"--qdisc: {text!r} has no placeholder such as {{rate}}, and no value that is known to "
            "stand for one: nothing can be asked of it; see wale-lab conform --list"
        )
    return template
