# SPDX-License-Identifier: GPL-2.0
"""Plain options of a link as tc's words: those that are fully described by their form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wale_lab import units
from wale_lab.options import ALIASES, LINK, NESTS, Option

#: The order in which plans have always had them; any that is newer follows, by its number.
ORDER = tuple(
    "rate delay limit policy threshold z last flows mark rem input_rate loss loss_gemodel "
    "loss_state ecn jitter slot reorder drop duplicate corrupt overhead drops seed gso slack "
    "feedback sessions".split()
)


def in_former_words(qdisc: str) -> str:
    """A wale qdisc and its options, spelled as when digests began to cover them."""
    former = {now: old for old, now in ALIASES.items()}
    words = qdisc.split(" ")
    return " ".join(former.get(word, word) for word in words) if words[0] == "wale" else qdisc


def percent(probability: float) -> str:
    """A probability as tc takes it."""
    return f"{probability * 100:.12g}%"


#: How a value is written, by the form of its option.
_WRITTEN: dict[str, Callable[[Any], str]] = {
    "rate": lambda rate: rate if rate == units.UNLIMITED else f"{rate}bit",
    "time": "{}ns".format,
    "size": "{}b".format,
    "percent": percent,
    "probability": percent,
    "millionths": "{:.10g}".format,
    "fixed32": "{:.12g}".format,
    **dict.fromkeys(("amount", "threshold", "count", "enum", "seed", "overhead", "scone"), str),
}
PLAIN = frozenset(_WRITTEN) | {"flag", "nest"}


def plain_option(name: str) -> Option | None:
    """The link option of a scenario's key, if it is a plain one."""
    named = [LINK[name]] if name in LINK else [o for o in LINK.values() if o.word == name]
    return named[0] if named and named[0].form in PLAIN else None


def is_new(name: str) -> bool:
    """Is a key of a link an option that plans have not always had?"""
    return name not in ORDER and plain_option(name) is not None


def plain_words(option: Option, value: Any) -> list[str]:
    """An option and its value."""
    if option.form == "flag":
        return [option.word if value else f"no{option.word}"]
    if option.form != "nest":
        return [option.word, *_WRITTEN[option.form](value).split()]
    words = [option.word]
    for name, inner in NESTS[option.format].items():
        words += plain_words(inner, getattr(value, name))
    return words


def place(name: str) -> tuple[int, int]:
    """The position of a key's words among those of others."""
    option = plain_option(name)
    return (ORDER.index(name), 0) if name in ORDER else (len(ORDER), option.number if option else 0)
