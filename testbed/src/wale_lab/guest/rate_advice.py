# SPDX-License-Identifier: GPL-2.0
"""The advice for senders: before the start, and while the scenario runs."""

from wale_lab.guest.shared import PUBLISH, TELL, WORK, joined, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wale_lab.guest.processes import Processes
    from wale_lab.guest.shared import Plan


def carry_rates(plan: "Plan", processes: "Processes") -> None:
    """Have wires tell other guests what links here publish, and devices what wires tell us."""
    for link in plan.get("told", []):
        processes.netns.enter(link["netns"])
        write(TELL, f"{link['wire']} {link['dev']}")
    for wire in plan.get("telling", []):
        write(PUBLISH, str(wire))


def set_advice(plan: "Plan", processes: "Processes") -> None:
    """Set the advice that holds from the start; links have published theirs by now."""
    for advice in plan["advice"]:
        argv = ["wale", "rate", "set", *advice["path"], *advice["rate"]]
        processes.run(argv, advice["netns"])


def play_advice(plan: "Plan", processes: "Processes") -> list[int]:
    """Play advice that changes with time, from now on; its settings stay.

    Returns the PIDs of the players.
    """
    players = []
    for number, advice in enumerate(plan["advice"]):
        if not advice["trace"]:
            continue
        path = f"{WORK}/advice{number}"
        write(path, joined(advice["trace"]))
        argv = ["wale", "rate", "play", path, *advice["path"], *advice["play"], "--quiet"]
        pid, _ = processes.spawn(argv, advice["netns"])
        players.append(pid)
    return players
