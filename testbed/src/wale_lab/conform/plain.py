# SPDX-License-Identifier: GPL-2.0
"""Turns a tc command line with values into a template: the checks choose the values.

    netem delay 20ms rate 10mbit limit 100

becomes

    netem [delay {delay}] [rate {rate}] limit {limit}

Words that have a placeholder are replaced together with their value, and options that act on
packets are left out of experiments that do not need them; everything else stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_PREFIX = re.compile(
    r"^(?:tc )?(?P<what>qdisc|class) (?:add|replace) dev \S+"
    r"(?: root| parent \S+| handle \S+| classid \S+)+ "
)
#: Qdiscs that drop packets of their own accord, in whosever place they queue.
AQM = {"cake", "choke", "codel", "dualpi2", "fq_codel", "fq_pie", "gred", "hhf", "pie", "red",
       "sfb", "sfq"}  # fmt: skip

_NUMBER = r"[\d.]\S*(?!\S)"
#: A value by itself: none of the values that some words take more of follows it.
_VALUE = rf"{_NUMBER}(?! -?[\d.])"
_SPREAD = r"(?: distribution \S+)?"
_ORDER = r"(?: (?:no)?(?:overtaking|reordering))?"
_EXCESS = r"(?: excess \S+)?"
_ROOM = r"(?: (?:packets|bytes) \S+)*"
_LIST = r"drop(?:_list)? (?:flow \S+ )?packets \S+"


def _rest(most: int, words: str = "") -> str:
    """What follows the value that the checks choose, and stays as it is: values, then words."""
    return rf"(?P<rest>(?: -?{_NUMBER}){{0,{most}}}{words})(?!\S)(?! -?[\d.])"


def _states(match: re.Match[str]) -> str:
    """Loss in four states: the checks choose all but P32 and P23, which are 0% and 100%."""
    given = match["values"].split()[2:4]
    p32, p23 = given + ["0%", "100%"][len(given) :]
    return f"[loss state {{state_p13}} {{state_p31}} {p32} {p23} {{state_p14}}]"


def _beside(first: str, word: str) -> tuple[str, str]:
    """A word of netem that may stand apart from what it is of, put beside it."""
    values, word = rf"(?: {_NUMBER})+(?! [\d.])", rf"(?<!slot)(?P<word> {word} \S+)"
    return rf"(?P<first>{first}{values})(?P<between> .*?){word}", r"\g<first>\g<word>\g<between>"


_LINK = (
    (rf"loss (?:random )?{_NUMBER}{_rest(1)}", r"[loss {loss}\g<rest>]"),
    (
        rf"loss gemodel {_NUMBER}(?: {_NUMBER})?{_rest(2)}",
        r"[loss gemodel {gemodel_p} {gemodel_r}\g<rest>]",
    ),
    (rf"loss state(?P<values>(?: {_NUMBER}){{1,5}})", _states),
    (r"ecn(?!\S)", "[{ecn}]"),
    (r"loss_ecn(?!\S)", "[loss_{ecn}]"),
    (rf"reorder {_NUMBER}{_rest(1, r'(?: gap [0-9]+)?')}", r"[reorder {reorder}\g<rest>]"),
    (rf"duplicate {_NUMBER}{_rest(1)}", r"[duplicate {duplicate}\g<rest>]"),
    (rf"corrupt {_NUMBER}{_rest(1)}", r"[corrupt {corrupt}\g<rest>]"),
    (rf"slot {_NUMBER}(?: {_NUMBER})?{_rest(0, _ROOM)}", r"[slot {slot}\g<rest>]"),
    (rf"seed {_VALUE}", "[seed {seed}]"),
    (rf"delay {_VALUE}", "[delay {delay}]"),
)
_SHAPER = (
    (rf"(?P<word>rate|ceil|bandwidth) {_VALUE}", r"\g<word> {rate}"),
    (rf"(?P<word>c?burst|c?buffer|maxburst) {_VALUE}", r"\g<word> {burst}"),
)
_PACKETS = (rf"limit {_VALUE}", "limit {limit}")
_BYTES = (rf"(?:limit|latency) {_VALUE}", "limit {limit_bytes}")

#: Kind of qdisc: what is replaced by what. Kinds that are not here: _SHAPER.
_KINDS: dict[str, tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...]] = {
    **dict.fromkeys(AQM - {"cake"}, ()),
    "wale": (
        (rf"limit {_VALUE}(?! cells)", "limit {limit}p"),
        (
            rf"policer rate {_NUMBER} burst {_NUMBER}{_rest(0, _EXCESS)}",
            r"[policer rate {police} burst {burst}\g<rest>]",
        ),
        (rf"breaker rate {_NUMBER} after {_VALUE}", "[breaker rate {breaker} after {after}]"),
        (rf"corrupt {_NUMBER} fix(?!\S)", "[corrupt {corrupt_fix} fix]"),
        (rf"rate {_VALUE}", "[rate {rate}]"),
        (
            rf"jitter {_NUMBER}{_rest(0, rf'{_SPREAD}{_ORDER}{_SPREAD}')}",
            r"[jitter {jitter}\g<rest>]",
        ),
        # no check has a use for where a trace ends, nor for sessions
        (r"(?:loop|hold|stop)(?!\S)|start at \S+|sessions(?: (?:arrival|mean|max|step) \S+)+", ""),
        (r"trace (?:file )?\S+", "[trace {outage} start at {start}]"),
        (rf"{_LIST}(?: {_LIST})*", "[drop_list packets {drop_first}-{drop_last}]"),
        *_LINK,
    ),
    "netem": (
        _PACKETS,
        _beside("delay", "distribution"),
        _beside("reorder", "gap"),
        (rf"rate {_NUMBER}{_rest(3)}", r"[rate {rate}\g<rest>]"),
        (
            rf"delay {_NUMBER} {_NUMBER}{_rest(1, _SPREAD)}",
            r"[delay {delay}] [{jitter}\g<rest>]",
        ),
        (
            rf"slot (?P<name>distribution \S+) {_NUMBER}{_rest(1, _ROOM)}",
            r"[slot \g<name> {slot}\g<rest>]",
        ),
        *_LINK,
    ),
    "tbf": (_BYTES, *_SHAPER),
    "pfifo": (_PACKETS,),
    "bfifo": (_BYTES,),
}


def _line(text: str, first: bool) -> str:
    text = _PREFIX.sub(lambda m: "class " if m["what"] == "class" else "", " ".join(text.split()))
    kind, space, words = text.removeprefix("class ").partition(" ")
    if kind == "pfifo" and not first:
        return re.sub(rf"^pfifo limit {_VALUE}$", "[pfifo limit {child_limit}]", text)
    for pattern, replacement in _KINDS.get(kind, _SHAPER):
        words = re.sub(rf"(?<!\S){pattern}", replacement, words)
    line = ("class " if text.startswith("class ") else "") + kind + space + words
    return " ".join(line.split())


def to_template(text: str) -> str:
    """The template of a command line; the line itself, if it has a placeholder."""
    if "{" in text:
        return text
    return "; ".join(_line(line, not number) for number, line in enumerate(text.split(";")))
