# SPDX-License-Identifier: GPL-2.0
"""Records what the channel reports about listening sockets, as CSV; standard library only.

    python3 -B -P -s -S channel_recorder.py INTERVAL_NS OUT.csv NETNS...

One process for all namespaces, with a netlink socket in each; a sample is one dump of
`flow-get` of the family rate_feedback.  It samples at whole multiples of the interval on
the monotonic clock, as `wale watch` does, and ends with SIGTERM.
"""

from __future__ import annotations

import os
import signal
import sys
import time

from wale_lab import netlink
from wale_lab.tree import SOURCES

HEADER = SOURCES / "kmod/include/uapi/linux/rate_feedback.h"

#: Forms of an attribute's value.
NUMBER, PORT, TEXT = "number", "port", "text"

#: Column: name and form of the attribute.
COLUMNS = {
    "local_port": ("sport", PORT),
    "remote_port": ("dport", PORT),
    "cc": ("congestion", TEXT),
    "phase": ("phase", NUMBER),
    "rate": ("rate", NUMBER),
    "base_rtt_ns": ("base_rtt", NUMBER),
    "rate_window_packets": ("rate_window", NUMBER),
    "cwnd_packets": ("cwnd", NUMBER),
    "in_flight_packets": ("in_flight", NUMBER),
    "packet_bytes": ("packet_size", NUMBER),
    "bytes_acked": ("bytes_acked", NUMBER),
    "lost_advice": ("lost_advice", NUMBER),
    "found_advice": ("found_advice", NUMBER),
}


def show(form: str, value: bytes) -> str:
    """An attribute's value as text."""
    if form == TEXT:
        return value.rstrip(b"\0").decode()
    return str(int.from_bytes(value, "big" if form == PORT else "little"))


def row(netns: str, t_ns: int, numbers: dict[str, int], attributes: dict[int, bytes]) -> str:
    """One line of the CSV."""
    values = [
        show(form, attributes[numbers[name]]) if numbers[name] in attributes else ""
        for name, form in COLUMNS.values()
    ]
    return ",".join([str(t_ns), netns, *values]) + "\n"


def record(interval_ns: int, out: int, names: list[str]) -> None:
    """Sample until the end."""
    header = HEADER.read_text(encoding="utf-8")
    numbers = netlink.numbers_of(header, "RATE_FEEDBACK_A_FLOW_")
    flow_get = netlink.numbers_of(header, "RATE_FEEDBACK_CMD_")["flow_get"]
    sockets = {name: netlink.Family("rate_feedback", name) for name in names}
    os.write(out, (",".join(["t_ns", "netns", *COLUMNS]) + "\n").encode())
    clock = time.CLOCK_MONOTONIC
    due = -(-time.clock_gettime_ns(clock) // interval_ns) * interval_ns
    while True:
        wait = due - time.clock_gettime_ns(clock)
        if wait > 0:
            time.sleep(wait / 1e9)
        lines = [
            row(name, due, numbers, dict(netlink.attributes(message.payload)))
            for name, family in sockets.items()
            for message in family.dump(flow_get)
        ]
        os.write(out, "".join(lines).encode())
        late = time.clock_gettime_ns(clock) - due
        due += max(1, -(-late // interval_ns)) * interval_ns


def main() -> None:
    """Parse the arguments and record."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    out = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    record(int(sys.argv[1]), out, sys.argv[3:])


if __name__ == "__main__":
    main()
