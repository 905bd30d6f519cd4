# SPDX-License-Identifier: GPL-2.0
"""How long the benchmarks take, as announced at their start."""

from __future__ import annotations

from collections.abc import Collection

#: Seconds of one round of a section, quick and in full, on a machine with two processors and
#: little else to do (2026-11-27); and how many rounds it has at most.
_A_ROUND = {"packets": (13, 70, 9), "timing": (7, 19, 3), "acks": (3, 5, 9)}

#: Of those without rounds.
_ONCE = {"paths": (1, 3), "engine": (3, 36)}

#: Whose time depends most on the machine: how fast it is as a virtual one.
_IN_VM = ("instructions", "timing")


def seconds(sections: Collection[str], rounds: int, quick: bool) -> int:
    """About so many, without those in a virtual machine."""
    column = 0 if quick else 1
    each = [r[column] * min(rounds, r[2]) for name, r in _A_ROUND.items() if name in sections]
    return sum(each) + sum(once[column] for name, once in _ONCE.items() if name in sections)


def said(sections: Collection[str], rounds: int, quick: bool) -> str:
    """The time in words."""
    total = seconds(sections, rounds, quick)
    time = f"{total} s" if total < 120 else f"{total / 60:.0f} minutes"
    in_vm = not quick and any(name in sections for name in _IN_VM)
    more = ", and minutes more in a virtual machine" if in_vm else ""
    return f"takes about {time} on a machine with little else to do{more}"
