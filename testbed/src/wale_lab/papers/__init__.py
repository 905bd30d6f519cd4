# SPDX-License-Identifier: GPL-2.0
"""Independent models: what the kernel and the papers say, computed a second time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _karnik_kumar(measure: str, arrival_per_s: float, **arguments: Any) -> float:
    from wale_lab.papers.karnik_kumar import model as karnik_kumar

    return karnik_kumar.study_value(measure, arrival_per_s, **arguments)


def _slow_start(
    rate_packets_per_s: float, round_trip_s: float, buffer: int, ssthresh: int, value: str
) -> list[tuple[float, float]]:
    """Window or buffer against time in slow start, seconds from the first packet on."""
    from wale_lab.papers.karnik_kumar import model as karnik_kumar

    cycle_s = round_trip_s + 1 / rate_packets_per_s
    points = karnik_kumar.slow_start_evolution(rate_packets_per_s * round_trip_s, buffer, ssthresh)
    return [(p.mini_cycle * cycle_s, getattr(p, value)) for p in points]


def _lakshman_madhow(measure: str, x: float, **arguments: Any) -> float:
    from wale_lab.papers.lakshman_madhow import study as lakshman_madhow_study

    return lakshman_madhow_study.study_value(measure, x, **arguments)


def _altman(measure: str, x: float | str, **arguments: Any) -> float:
    from wale_lab.papers.altman import model as altman

    return altman.study_value(measure, x, **arguments)


def _goyal(measure: str, x: str, **arguments: Any) -> float:
    from wale_lab.papers.goyal import model as goyal

    return goyal.study_value(measure, x, **arguments)


#: Models beside a study's measurement, by name: measure, x, and a row's arguments to a number;
#: or, for curves, a row's arguments to points.
MODELS: dict[str, Callable[..., Any]] = {
    "karnik-kumar": _karnik_kumar,
    "karnik-kumar-slow-start": _slow_start,
    "lakshman-madhow": _lakshman_madhow,
    "altman": _altman,
    "goyal": _goyal,
}
