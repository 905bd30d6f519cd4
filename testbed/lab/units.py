# SPDX-License-Identifier: GPL-2.0
"""Quantities with units, as a scenario writes them: "2mbit", "50ms", "30kB", "1%".

Each parser takes text with a unit, or a plain number in the unit that its
docstring names, and gives an integer in the unit that the kernel interface has.
It raises ValueError with what was expected.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

UNLIMITED = "unlimited"

_SI = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_NUMBER = re.compile(r"^\s*([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)\s*(.*?)\s*$")
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII
)
_TIMES_NS = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86400 * 10**9,
}


def _split(value: object, expected: str) -> tuple[Fraction, str]:
    """A number and the text after it."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"expected {expected}, got {value!r}")
    match = _NUMBER.match(str(value))
    if not match:
        raise ValueError(f"expected {expected}, got {value!r}")
    return Fraction(match[1]), match[2]


def parse_time_ns(value: object) -> int:
    """Nanoseconds; a plain number is in seconds."""
    expected = 'a time such as "50ms", "1.5s", "2min" (a plain number is in seconds)'
    number, unit = _split(value, expected)
    if unit and unit not in _TIMES_NS:
        raise ValueError(f"expected {expected}, got {value!r}")
    return round(number * _TIMES_NS[unit or "s"])


def parse_date(value: object) -> datetime:
    """A date, or a date and a time, in UTC unless it says otherwise."""
    text = value.isoformat() if isinstance(value, datetime) else value
    try:
        if not isinstance(text, str) or not _DATE.fullmatch(text):
            raise ValueError
        date = datetime.fromisoformat(text)
        date = date.astimezone(UTC) if date.tzinfo else date.replace(tzinfo=UTC)
        if not 1980 <= date.year < 2200:
            raise ValueError
    except (ValueError, OverflowError):
        raise ValueError(
            'expected a date from 1980 to 2199 such as "2026-11-27" or "2026-11-27T18:30:00Z" '
            f"(UTC), got {value!r}"
        ) from None
    return date


def parse_rate_bps(value: object) -> int:
    """Bits per second; a plain number is in bit/s."""
    expected = 'a rate such as "2mbit", "1.5 Gbit/s", "250 kB/s" (a plain number is in bit/s)'
    number, unit = _split(value, expected)
    match = re.fullmatch(r"([kmgt]?)(bit|bit/s)|([kmgt]?)(b/s)|", unit.lower())
    if not match or ((match[4] or "") == "b/s" and not unit.endswith("B/s")):
        hint = " (write bit or B/s: bps means different things)" if "bps" in unit.lower() else ""
        raise ValueError(f"expected {expected}, got {value!r}{hint}")
    prefix = match[1] or match[3] or ""
    bits = number * (8 if match[4] else 1) * 1000 ** _SI[prefix]
    below = int(bits // 8) * 8
    if bits != below:
        near = f"the nearest are {below}bit and {below + 8}bit" if below else "the least is 8bit"
        raise ValueError(f"expected a whole number of bytes/s, got {value!r}; {near}")
    return below


def parse_size_bytes(value: object) -> int:
    """Bytes; a plain number is in bytes. kB is 1000, KiB is 1024."""
    expected = 'a size such as "30kB", "3MB", "64KiB" (a plain number is in bytes)'
    number, unit = _split(value, expected)
    match = re.fullmatch(r"([kKMGT]?)(i?)[Bb]|([kKMGT]?)(i?)|", unit)
    if not match:
        raise ValueError(f"expected {expected}, got {value!r}")
    prefix = (match[1] or match[3] or "").lower()
    base = 1024 if (match[2] or match[4]) else 1000
    size = number * base ** _SI[prefix]
    if size != int(size):
        raise ValueError(f"expected a whole number of bytes, got {value!r}")
    return int(size)


def parse_limit(value: object) -> str:
    """A buffer limit as tc takes it: "30000b", "20p", "90 cells"; a plain number is in packets."""
    expected = 'a buffer such as "30kB", "20p" or "1000 cells" (a plain number is in packets)'
    number, unit = _split(value, expected)
    if unit in ("", "p", "packet", "packets", "cells"):
        if number != int(number) or number < 1:
            raise ValueError(f"expected {expected}, got {value!r}")
        return f"{int(number)} cells" if unit == "cells" else f"{int(number)}p"
    try:
        return f"{parse_size_bytes(value)}b"
    except ValueError:
        raise ValueError(f"expected {expected}, got {value!r}") from None


def parse_threshold(value: object) -> str:
    """A threshold as tc takes it: a share of the limit, "90%", or a limit of its own."""
    if isinstance(value, str) and value.endswith("%"):
        share = parse_probability(value)
        if not share:
            raise ValueError(f"expected a threshold above 0%, got {value!r}")
        return f"{share * 100:.10g}%"
    return parse_limit(value)


def parse_probability(value: object) -> float:
    """A probability 0..1; a plain number is that, "1%" is 0.01."""
    expected = 'a probability such as "1%" or 0.01'
    number, unit = _split(value, expected)
    if unit not in ("", "%"):
        raise ValueError(f"expected {expected}, got {value!r}")
    share = number / 100 if unit else number
    if share > 1:
        raise ValueError(f"expected {expected}, at most 100%, got {value!r}")
    return float(share)


def show_bytes(number: float) -> str:
    """A size for people: "3.00 MB"."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(number) < 1000 or unit == "GB":
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.2f} {unit}"
        number /= 1000
    raise AssertionError


def show_time_ns(ns: int) -> str:
    """A time for people: "50 ms"."""
    for unit in ("h", "min", "s", "ms", "us"):
        if ns >= _TIMES_NS[unit] and (unit not in ("h", "min") or ns % _TIMES_NS[unit] == 0):
            return f"{ns / _TIMES_NS[unit]:g} {unit}"
    return f"{ns} ns"


def show_rate(bps: int | str) -> str:
    """A rate for people, always in the same unit: "2 Mbit/s"."""
    if isinstance(bps, str):
        return bps
    return f"{Decimal(bps) / 10**6:f} Mbit/s"


def show_goodput(bytes_per_s: float) -> str:
    """What a flow has of a link, in the unit of the link's rate: "1.208 Mbit/s"."""
    return f"{bytes_per_s * 8 / 1e6:.3f} Mbit/s"
