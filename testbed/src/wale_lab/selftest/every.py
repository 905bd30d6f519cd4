# SPDX-License-Identifier: GPL-2.0
"""Requests that have every option of the contract, those that are new as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wale_lab.options import LINK, NESTS, Option

#: Options that stand in for another one, or need a link of another kind: a request that is to
#: have them names them.
APART = frozenset(
    "limit_packets limit_bytes limit_cells input_rate policy threshold threshold_share z last mark "
    "rem flows sessions feedback scone gemodel state jitter drop gso line_packets line_bytes start "
    "trace trace_end trace_steps trace_fd trace_columns down_drops".split()
)


def _value(option: Option) -> Any:
    """Return a value that a new link does not have, and not the largest."""
    if option.format in NESTS:
        return {name: _value(inner) for name, inner in NESTS[option.format].items()}
    usual = option.default or 0
    return next(
        value
        for value in (7, 1, 100_000, option.least, option.most)
        if value != usual and option.least <= value <= option.most
    )


def rest(*requests: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options that none of the requests has, with values, but for those apart."""
    named = APART.union(*requests)
    return {name: _value(option) for name, option in LINK.items() if name not in named}


def none_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what makes a link have these options no more."""
    return {name: {} if LINK[name].format in NESTS else LINK[name].default or 0 for name in options}
