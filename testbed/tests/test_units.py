# SPDX-License-Identifier: GPL-2.0
"""Quantities with units."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lab import units


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (units.parse_time_ns, "50ms", 50_000_000),
        (units.parse_time_ns, "1.5 s", 1_500_000_000),
        (units.parse_time_ns, "2min", 120_000_000_000),
        (units.parse_time_ns, "1ns", 1),
        (units.parse_time_ns, 0.25, 250_000_000),
        (units.parse_rate_bps, "2mbit", 2_000_000),
        (units.parse_rate_bps, "1.5 Gbit/s", 1_500_000_000),
        (units.parse_rate_bps, "250 kB/s", 2_000_000),
        (units.parse_rate_bps, "0bit", 0),
        (units.parse_rate_bps, "0.1mbit", 100_000),
        (units.parse_rate_bps, "12345.672kbit", 12_345_672),
        (units.parse_rate_bps, 8000, 8000),
        (units.parse_size_bytes, "30kB", 30_000),
        (units.parse_size_bytes, "64KiB", 65_536),
        (units.parse_size_bytes, "3MB", 3_000_000),
        (units.parse_size_bytes, "2k", 2_000),
        (units.parse_size_bytes, 1500, 1500),
        (units.parse_limit, "30kB", "30000b"),
        (units.parse_limit, "20p", "20p"),
        (units.parse_limit, "10 packets", "10p"),
        (units.parse_limit, 20, "20p"),
        (units.parse_limit, "1000 cells", "1000 cells"),
        (units.parse_threshold, "90%", "90%"),
        (units.parse_threshold, "33.3333%", "33.3333%"),
        (units.parse_threshold, "27kB", "27000b"),
        (units.parse_threshold, "900 cells", "900 cells"),
        (units.parse_probability, "1%", 0.01),
        (units.parse_probability, 0.5, 0.5),
        (units.parse_probability, "0%", 0.0),
    ],
)
def test_value(parse: Callable[[object], object], text: object, value: object) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (units.parse_time_ns, "50 furlongs"),
        (units.parse_time_ns, "-1s"),
        (units.parse_time_ns, True),
        (units.parse_time_ns, None),
        (units.parse_rate_bps, "2mbps"),
        (units.parse_rate_bps, "2mb/s"),
        (units.parse_rate_bps, "fast"),
        (units.parse_rate_bps, "1bit"),
        (units.parse_size_bytes, "30 litres"),
        (units.parse_size_bytes, "0.5"),
        (units.parse_limit, "0p"),
        (units.parse_limit, "1.5p"),
        (units.parse_limit, "0 cells"),
        (units.parse_threshold, "0%"),
        (units.parse_threshold, "101%"),
        (units.parse_probability, "101%"),
        (units.parse_probability, "1 percent"),
    ],
)
def test_refused(parse: Callable[[object], object], text: object) -> None:
    with pytest.raises(ValueError, match="expected"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("12345678bit", "the nearest are 12345672bit and 12345680bit"),
        ("300bit", "the nearest are 296bit and 304bit"),
        ("1.0005 B/s", "the nearest are 8bit and 16bit"),
        ("0.29kbit", "the nearest are 288bit and 296bit"),
        ("7bit", "the least is 8bit"),
        (1e-9, "the least is 8bit"),
    ],
)
def test_rate_between_two_bytes(text: object, near: str) -> None:
    """A rate that no link can have is refused with those that one can have, as tc does."""
    with pytest.raises(ValueError, match=f"a whole number of bytes/s, got {text!r}; {near}$"):
        units.parse_rate_bps(text)


def test_shown() -> None:
    assert units.show_rate(2_000_000) == "2 Mbit/s"
    assert units.show_rate(12_345_678) == "12.345678 Mbit/s"
    assert units.show_rate(8) == "0.000008 Mbit/s"
    assert units.show_rate(10 * 10**9) == "10000 Mbit/s"
    assert units.show_goodput(151_000) == "1.208 Mbit/s"
    assert units.show_time_ns(50_000_000) == "50 ms"
    assert units.show_bytes(4_000_000) == "4.00 MB"
