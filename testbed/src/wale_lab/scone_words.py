# SPDX-License-Identifier: GPL-2.0
"""The option scone of a link, "share period 67s average 0", as a scenario has it."""

from __future__ import annotations

from wale_lab import options, units

EXPECTED = "link, share, or a rate from 100kbit, then period TIME and average TIME"


def _rate(word: str) -> str:
    rate = units.parse_rate_bps(word)
    if not options.SCONE_RATE_MIN <= rate // 8 <= options.RATE_MAX:
        raise ValueError(f"expected {EXPECTED}, got {word!r}")
    return f"{rate}bit"


def _time(name: str, word: str) -> str:
    time, least = units.parse_time_ns(word), options.NESTS["scone"][name].least
    if not least <= time <= options.SCONE_PERIOD_MAX:
        raise ValueError(f"expected {name} {least}ns to 600s, got {word!r}")
    return f"{time}ns"


def parse_scone(value: object) -> str:
    """Return the option as tc takes it."""
    words = str(value).split()
    which, times = words[:1], words[1:]
    names = times[::2]
    if not which or len(times) % 2 or len(set(names)) < len(names):
        raise ValueError(f"expected {EXPECTED}, got {value!r}")
    if not set(names) <= {"period", "average"}:
        raise ValueError(f"expected {EXPECTED}, got {value!r}")
    said = which[0] not in options.SCONE_OF
    if said and "average" in names:
        raise ValueError(f"expected average with link or share: a rate has none, got {value!r}")
    parts = [_rate(which[0]) if said else which[0]]
    for name, word in zip(names, times[1::2], strict=True):
        parts += [name, _time(name, word)]
    return " ".join(parts)
