# SPDX-License-Identifier: GPL-2.0
"""Inside the guest: many paths, set, changed, asked for, shown and deleted, with times.

python3 -P -s -S paths_guest.py COUNT
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import time
from collections.abc import Callable

from wale_lab import netlink
from wale_lab.tree import SOURCES

_HEADER = (SOURCES / "kmod/include/uapi/linux/rate_feedback.h").read_text(encoding="utf-8")
_COMMANDS = netlink.numbers_of(_HEADER, "RATE_FEEDBACK_CMD_")
_PATH = netlink.numbers_of(_HEADER, "RATE_FEEDBACK_A_PATH_")


def key(number: int) -> bytes:
    """The path of one address in 10.0.0.0/8."""
    return netlink.attribute(_PATH["daddr"], struct.pack(">I", 0x0A000000 + number))


def set_all(channel: netlink.Family, count: int, rate: int) -> None:
    """Set each path's rate, many messages at a time."""
    form = struct.Struct("Q")
    channel.many(
        _COMMANDS["set"],
        [
            key(number) + netlink.attribute(_PATH["rate"], form.pack(rate + number))
            for number in range(count)
        ],
    )


def get_some(channel: netlink.Family, count: int, step: int) -> None:
    """Ask for paths all over the table."""
    for number in range(0, count, step):
        channel.request(_COMMANDS["get"], key(number))


def main() -> None:
    """Print a JSON object: step, seconds."""
    count = int(sys.argv[1])
    channel = netlink.Family("rate_feedback")
    asked = max(1, count // 10_000)

    def show() -> None:
        done = subprocess.run(["wale", "rate", "show"], stdout=subprocess.PIPE, check=True)
        lines = done.stdout.count(b"\n")
        if lines < count:
            raise SystemExit(f"expected {count} paths, `wale rate show` has {lines} lines")

    steps: dict[str, Callable[[], object]] = {
        "set": lambda: set_all(channel, count, 1000),
        "set again": lambda: set_all(channel, count, 2000),
        "get": lambda: get_some(channel, count, asked),
        "wale rate show": show,
        "delete all": lambda: channel.request(_COMMANDS["del"]),
    }
    result: dict[str, float] = {}
    for name, step in steps.items():
        began = time.perf_counter()
        step()
        result[name] = time.perf_counter() - began
    result["paths"], result["asked"] = count, len(range(0, count, asked))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
