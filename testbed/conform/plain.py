# SPDX-License-Identifier: GPL-2.0
"""A tc command line with values of its own, made a template: the checks choose the values.

    netem delay 20ms rate 10mbit limit 100

becomes

    netem [delay {delay}] [rate {rate}] limit {limit}

What has a placeholder is replaced where it stands with its value; all else stays as it is.
"""

from __future__ import annotations

import re

_PREFIX = re.compile(
    r"^(?:tc )?(?P<what>qdisc|class) (?:add|replace) dev \S+"
    r"(?: root| parent \S+| handle \S+| classid \S+)+ "
)
#: A value by itself: none of the values that some words take more of follows it.
_VALUE = r"\d\S*(?!\S)(?! \d)"
_SPREAD = r"(?P<more>(?: distribution \S+)?)"

_LINK = (
    (rf"rate {_VALUE}", "[rate {rate}]"),
    (rf"loss (?:random )?{_VALUE}", "[loss {loss}]"),
    (rf"loss gemodel \d\S* {_VALUE}", "[loss gemodel {gemodel_p} {gemodel_r}]"),
    (r"ecn(?!\S)", "[{ecn}]"),
    (rf"reorder {_VALUE}", "[reorder {reorder}]"),
    (rf"duplicate {_VALUE}", "[duplicate {duplicate}]"),
    (rf"corrupt {_VALUE}", "[corrupt {corrupt}]"),
    (rf"slot {_VALUE}", "[slot {slot}]"),
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
_KINDS = {
    "wale": (
        (rf"limit {_VALUE}", "limit {limit}p"),
        (rf"jitter {_VALUE}{_SPREAD}", r"[jitter {jitter}\g<more>]"),
        *_LINK,
    ),
    "netem": (
        _PACKETS,
        (rf"delay \d\S* {_VALUE}{_SPREAD}", r"[delay {delay}] [{jitter}\g<more>]"),
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
    return ("class " if text.startswith("class ") else "") + kind + space + words


def to_template(text: str) -> str:
    """The template that a command line comes to; itself, if it has a placeholder."""
    if "{" in text:
        return text
    return "; ".join(_line(line, not number) for number, line in enumerate(text.split(";")))
