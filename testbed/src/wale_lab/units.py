# SPDX-License-Identifier: GPL-2.0
"""Quantities with units, as a scenario writes them: "2mbit", "50ms", "30kB", "1%".

Each parser takes text with a unit, or a plain number in the unit that its
docstring names, and returns an integer in the unit of the kernel interface.
It raises ValueError with what was expected.  The units are those of
Documentation/units.rst; userspace/lib/units.c reads them for tc.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

UNLIMITED = "unlimited"

#: Of 1000 or 1024, by the letter of a prefix.
POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_NUMBER = re.compile(
    r"\s*((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*(.*?)\s*", re.DOTALL
)
_RATE = re.compile(r"([kmgt]?)((?<=[kmgt])i|)(bit|bit/s|b/s|bps)", re.IGNORECASE | re.ASCII)
_SIZE = re.compile(r"([kmgt]?)((?<=[kmgt])i|)(b?)", re.IGNORECASE | re.ASCII)
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII
)
#: The units of a time, in ns.
TIMES_NS = {
    **dict.fromkeys(("ns", "nsec", "nsecs"), 1),
    **dict.fromkeys(("us", "usec", "usecs"), 10**3),
    **dict.fromkeys(("ms", "msec", "msecs"), 10**6),
    **dict.fromkeys(("s", "sec", "secs"), 10**9),
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86400 * 10**9,
}


def _split(value: object, expected: str) -> tuple[Fraction, str]:
    """A number and the text after it."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"expected {expected}, got {value!r}")
    match = _NUMBER.fullmatch(str(value))
    if not match:
        raise ValueError(f"expected {expected}, got {value!r}")
    return Fraction(match[1]), match[2]


def _scale(prefix: str, binary: str) -> int:
    """What a prefix stands for: k, M, G, T, or Ki, Mi, Gi, Ti."""
    return int((1024 if binary else 1000) ** POWERS[prefix.lower()])


def _written(prefix: str, binary: str) -> str:
    """A prefix as it is written: k, M, Ki, Mi."""
    letter = prefix.upper()
    return "k" if letter == "K" and not binary else letter + binary.lower()


def _with(value: object, unit: str, other: str) -> str:
    """A quantity with another unit."""
    return str(value).strip().removesuffix(unit).strip() + other


def _show(number: Fraction) -> str:
    """A number for people, of any size."""
    return f"{Decimal(number.numerator) / number.denominator:,.15g}"


def parse_time_ns(value: object) -> int:
    """Nanoseconds; a plain number is in seconds."""
    expected = 'a time such as "50ms", "1.5s", "2min" (a plain number is in seconds)'
    number, unit = _split(value, expected)
    if unit and unit.lower() not in TIMES_NS:
        raise ValueError(f"expected {expected}, got {value!r}")
    return int(number * TIMES_NS[unit.lower() or "s"] + Fraction(1, 2))


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


def parse_rate_bps(value: object, bps_are_bytes: bool = False) -> int:
    """Bits per second; a plain number is in bit/s."""
    expected = 'a rate such as "2mbit", "1.5 Gbit/s", "250 kB/s" (a plain number is in bit/s)'
    number, unit = _split(value, expected)
    match = _RATE.fullmatch(unit or "bit")
    if not match:
        raise ValueError(f"expected {expected}, got {value!r}")
    kind, scale = match[3].lower(), _scale(match[1], match[2])
    if match[3][:2] == "b/" or (kind == "bps" and not bps_are_bytes):
        prefix = _written(match[1], match[2])
        one, other = (_with(value, unit, prefix + of) for of in ("bit", "B/s"))
        raise ValueError(
            f'expected a rate such as "{one}" (bits per second) or "{other}" (bytes per second'
            f"{', as tc reads it' if kind == 'bps' else ''}), got {value!r}"
        )
    bits = number * scale * (8 if kind in ("b/s", "bps") else 1)
    below = int(bits // 8) * 8
    if bits != below:
        near = f"the nearest are {below}bit and {below + 8}bit" if below else "the least is 8bit"
        raise ValueError(f"expected a whole number of bytes/s, got {value!r}; {near}")
    return below


def parse_size_bytes(
    value: object,
    expected: str = 'a size such as "30kB", "3MB", "64KiB" (a plain number is in bytes)',
) -> int:
    """Bytes; a plain number is in bytes. kB is 1000, KiB is 1024.

    Other spellings, such as kb, are more than one number: tc takes 1024 for them.
    """
    number, unit = _split(value, expected)
    match = _SIZE.fullmatch(unit)
    if not match:
        raise ValueError(f"expected {expected}, got {value!r}")
    prefix, binary = match[1], match[2]
    if prefix and not binary and unit not in ("kB", "MB", "GB", "TB"):
        sizes = [(_written(prefix, i), number * _scale(prefix, i)) for i in ("", "i")]
        both = [f'"{_with(value, unit, name)}B" ({_show(size)} bytes' for name, size in sizes]
        what = expected.partition(" such as ")[0]
        raise ValueError(
            f"expected {what} such as {both[0]}) or {both[1]}, as tc reads it), got {value!r}"
        )
    size = number * _scale(prefix, binary)
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
    return f"{parse_size_bytes(value, expected)}b"


def split_limit(text: str) -> tuple[int, str]:
    """A limit as parse_limit() gives it: how many, and of what."""
    for end, unit in ((" cells", "cells"), ("p", "packets"), ("b", "bytes")):
        if text.endswith(end):
            return int(text.removesuffix(end)), unit
    raise AssertionError(text)


#: Layers that have names of their own.
_OVERHEADS = {"pppoe": "ethernet 8", "vlan": "ethernet 4"}


def parse_overhead(value: object) -> str:
    """What a packet takes on the wire: "raw", "ethernet 8", "-4": a layer, bytes, or both."""
    text = _OVERHEADS.get(str(value).strip(), str(value).strip())
    match = re.fullmatch(r"(raw|ethernet|atm)?\s*([+-]?[0-9]{1,4})?", text)
    size = int((match and match[2]) or 0)
    if isinstance(value, bool) or not text or not match or abs(size) > 4096:
        raise ValueError(
            "expected raw, ethernet, atm, pppoe, vlan, a number of bytes from -4096 to 4096, or a "
            f'layer and bytes such as "ethernet 8", got {value!r}'
        )
    layer = match[1] or "raw"
    if not size:
        return layer
    return str(size) if layer == "raw" else f"{layer} {size}"


def split_overhead(text: str) -> tuple[str, int]:
    """An overhead as parse_overhead() gives it: the layer, and how many bytes more."""
    layer, _, size = text.rpartition(" ")
    if text[-1:].isdigit():
        return layer or "raw", int(size)
    return text, 0


def parse_threshold(value: object) -> str:
    """A threshold as tc takes it: a share of the limit, "90%", or an amount like a limit."""
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


def show_count(count: int, noun: str) -> str:
    """How many there are of something, for people: "1 run", "2 runs"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


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
        if ns >= TIMES_NS[unit] and (unit not in ("h", "min") or ns % TIMES_NS[unit] == 0):
            return f"{ns / TIMES_NS[unit]:g} {unit}"
    return f"{ns} ns"


def show_rate(bps: int | str) -> str:
    """A rate for people, always in the same unit: "2 Mbit/s"."""
    if isinstance(bps, str):
        return bps
    return f"{Decimal(bps) / 10**6:f} Mbit/s"


def show_goodput(bytes_per_s: float) -> str:
    """A flow's goodput, in the unit of a link's rate: "1.208 Mbit/s"."""
    return f"{bytes_per_s * 8 / 1e6:.3f} Mbit/s"
