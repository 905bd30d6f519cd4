#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Sends packets through a link of which all moves, and keeps what became of each.

usage: accuracy_hour.py SEED STEPS PACKETS OUT

Runs inside a guest, for testbed/tests/test_accuracy_hour.py; wale_lab/selftest/moving.py
has the link and the packets.  OUT gets events, each as five numbers of 64 bits: what it
is (index in KINDS), when the packet arrived, its length, when it happened, and when the
packet departs; and a last one: 0, the epoch, and the end of the trace, 0 and 0.
"""

from __future__ import annotations

import os
import re
import sys
from array import array
from itertools import islice
from pathlib import Path

from wale_lab.selftest import moving, net, wale

KINDS = ("", "enqueue", "buffer", "loss", "down", "dequeue")
EVENT = re.compile(r" wale_(enqueue|drop|dequeue): (.*)")
AT_ONCE = 5000


def events(text: str) -> array[int]:
    """Return what the trace says, as numbers."""
    found = array("Q")
    for kind, rest in EVENT.findall(text):
        fields = dict(item.split("=", 1) for item in rest.split())
        name = fields["reason"] if kind == "drop" else kind
        now = int(fields["now_ns"])
        arrival = now if kind == "enqueue" else int(fields["arrival_ns"])
        departure = int(fields.get("departure_ns", 0))
        found.extend((KINDS.index(name), arrival, int(fields["len"]), now, departure))
    return found


def trace_of(seed: int, count: int) -> int:
    """Return a file with the steps, for the link."""
    file = wale.new_trace_file(moving.COLUMNS)
    whole = moving.steps(seed, count)
    while some := array("Q", (number for step in islice(whole, 10_000) for number in step)):
        data = memoryview(some.tobytes())
        while data:
            data = data[os.write(file, data) :]
    return file


def main() -> None:
    """Send all packets, and wait for the last one."""
    seed, steps, packets = map(int, sys.argv[1:4])
    host = net.Namespace("host")
    commands = ["link add d0 type dummy", "addr add 10.0.0.1/24 dev d0", "link set d0 up"]
    net.ip_batch([*commands, "neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev d0"], host)
    control, index, socket = host.control(), host.index("d0"), host.packet_socket("d0")
    file = trace_of(seed, steps)
    asked = {**moving.OPTIONS, "trace_fd": file, "trace_columns": moving.COLUMNS, "down_drops": 1}
    control.add(index, asked)
    os.close(file)
    epoch_ns = control.get(index).stats["epoch_ns"]
    tracing = net.Tracing()
    sending = moving.packets(seed, packets)
    with Path(sys.argv[4]).open("wb") as out:
        while some := list(islice(sending, AT_ONCE)):
            tracing.on()
            for number, (gap_ns, length) in enumerate(some):
                net.sleep_ns(gap_ns)
                net.send(socket, "d0", net.ip_packet(length, number=number))
            net.sleep_ns(200 * moving.MS)  # for what is on its way, mostly
            events(tracing.text()).tofile(out)
        tracing.on()
        net.wait_for(lambda: not control.get(index).qlen, "the last packet", 10**6)
        events(tracing.text()).tofile(out)
        array("Q", (0, epoch_ns, 0, 0, 0)).tofile(out)
    control.delete(index)


if __name__ == "__main__":
    main()
