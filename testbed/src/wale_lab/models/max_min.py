# SPDX-License-Identifier: GPL-2.0
"""Max-min fair shares of links: no share can be raised without lowering a smaller one.

Bertsekas and Gallager, Data Networks (1992), section 6.5.2: all shares grow together; when a link
is full, those of the flows that cross it stay as they are, and the others continue to grow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Share:
    """The share of a flow."""

    rate: float
    link: str | None
    """that is full because of it; None: no link on its way is ever full"""


def max_min(
    capacities: Mapping[str, float],
    ways: Mapping[str, Sequence[str]],
    fixed: Mapping[str, float] | None = None,
) -> dict[str, Share]:
    """The shares of flows, by name; `fixed` are rates of flows that take what they take."""
    left = dict(capacities)
    for name, rate in (fixed or {}).items():
        for link in ways[name]:
            if link in left:
                left[link] = max(left[link] - rate, 0.0)
    shares = {name: Share(rate, None) for name, rate in (fixed or {}).items()}
    growing = [name for name in ways if name not in shares]
    while growing:
        crossing = {ln: [n for n in growing if ln in ways[n]] for ln in left}
        full = min(
            (ln for ln in left if crossing[ln]),
            key=lambda ln: left[ln] / len(crossing[ln]),
            default=None,
        )
        if full is None:
            return shares | {name: Share(float("inf"), None) for name in growing}
        rate = left[full] / len(crossing[full])
        for name in crossing[full]:
            shares[name] = Share(rate, full)
            for link in {*ways[name]} & left.keys():
                left[link] -= rate
        del left[full]
        growing = [name for name in growing if name not in shares]
    return shares
