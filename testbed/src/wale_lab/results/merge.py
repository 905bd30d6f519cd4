# SPDX-License-Identifier: GPL-2.0
"""What the agents of several guests saw, as one would have seen it in one guest.

The order is that of guests and, where results are sorted later, of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

def merged(raws: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One observation."""
    kernels = list(dict.fromkeys(raw["kernel"] for raw in raws))
    return {
        "start_ns": raws[0]["start_ns"],
        "links_at_ns": max(raw["links_at_ns"] for raw in raws),
        "ended_ns": max(raw["ended_ns"] for raw in raws),
        "kernel": kernels[0] if len(kernels) == 1 else ", ".join(raw["kernel"] for raw in raws),
        "flows": _flows(raws),
        "programs": {k: v for raw in raws for k, v in raw["programs"].items()},
        # guests learn of the flows' end a delay later
        "at_end_s": {
            k: (raw["at_end_ns"] - raw["start_ns"]) / 1e9
            for raw in raws
            for k in raw["qdiscs_at_end"]
        },
        "qdiscs_at_end": {k: v for raw in raws for k, v in raw["qdiscs_at_end"].items()},
        "qdiscs": {k: v for raw in raws for k, v in raw["qdiscs"].items()},
        "series": [series for raw in raws for series in raw["series"]],
        **{name: _table([raw[name] for raw in raws]) for name in ("channel", "sockets")},
        "warnings": [warning for raw in raws for warning in raw["warnings"]],
    }


def _flows(raws: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Each flow, of which a guest has one end or both."""
    found: dict[str, dict[str, Any]] = {}
    for raw in raws:
        for name, told in raw["flows"].items():
            known = found.setdefault(name, {})
            for key, value in told.items():
                if key not in known or known[key] in (None, ""):
                    known[key] = value
    return found


def _table(texts: Sequence[str]) -> str:
    """CSV with the head of the first that has one."""
    lines = [text.splitlines() for text in texts if text]
    joined = [*(lines[0][:1] if lines else []), *(row for rows in lines for row in rows[1:])]
    return "".join(f"{line}\n" for line in joined)
