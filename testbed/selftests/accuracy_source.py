#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Sends planned streams of packets through wale links and keeps the evidence.

usage: accuracy_source.py PLAN.json OUT

Runs inside a guest; testbed/tests/test_accuracy.py writes the plan and
compares what is found with the model.  Each case of the plan has a link of
its own:

  way "local":   socket -> wale on a dummy device
  way "routed":  socket -> gate on v0 -> v1 -> forwarding -> wale on a dummy
                 The gate is a wale link that opens for a microsecond each
                 millisecond, so that packets arrive together, in softirq.
  way "gso":     UDP socket with UDP_SEGMENT -> wale on a dummy device

OUT/NAME.trace gets the tracepoints of the device, OUT/NAME.json the rest.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Any

from wale_lab.selftest import net, wale

GATE = {"trace": [(999_000, 0), (1000, 10**15)], "trace_end": 0, "limit_packets": 1 << 20}


def options(values: dict[str, Any]) -> dict[str, Any]:
    """Return netlink options from the plan's."""
    result = dict(values)
    if len(result.get("trace", ())) > wale.TRACE_STEPS_MAX:
        steps = result.pop("trace")
        data = b"".join(struct.pack(f"{len(one)}Q", *one) for one in steps)
        result["trace_fd"] = wale.trace_file(data, result.get("trace_columns"))
    if "start" in result:  # in the plan, from now
        result["start"] += time.clock_gettime_ns(time.CLOCK_REALTIME)
    for name, table in (
        ("overhead", wale.OVERHEAD),
        ("drops", wale.DROPS),
        ("trace_end", wale.TRACE_END),
        ("down_drops", wale.DOWN_DROPS),
    ):
        if name in result:
            result[name] = table[result[name]]
    return result


class Stage:
    """The devices that all cases share."""

    def __init__(self) -> None:
        self.host = net.Namespace("host")
        self.router = net.Namespace("router")
        net.ip_batch(
            [
                f"link add v0 type veth peer name v1 netns {self.router.name}",
                "link set v0 address 02:00:00:00:00:01 up",
                "link add d0 type dummy",
                "addr add 10.0.0.1/24 dev d0",
                "link set d0 up",
                "neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev d0",
            ],
            self.host,
        )
        net.ip_batch(
            [
                "link set v1 address 02:00:00:00:00:02 up",
                "addr add 10.1.0.1/24 dev v1",
                "link add d0 type dummy",
                "link set d0 up",
                "addr add 10.2.0.1/24 dev d0",
                "neigh add 10.2.0.2 lladdr 02:00:00:00:00:02 dev d0",
            ],
            self.router,
        )
        with self.router.entered():
            net.write("/proc/sys/net/ipv4/ip_forward", "1")
            for conf in ("all", "v1"):
                net.write(f"/proc/sys/net/ipv4/conf/{conf}/rp_filter", "0")
        self.control = {"local": self.host.control(), "routed": self.router.control()}
        self.control["gso"] = self.control["local"]
        self.index = {"local": self.host.index("d0"), "routed": self.router.index("d0")}
        self.index["gso"] = self.index["local"]
        self.gate = self.host.index("v0")
        self.control["local"].add(self.gate, GATE)
        self.sockets = {
            "local": self.host.packet_socket("d0"),
            "routed": self.host.packet_socket("v0"),
        }
        with self.host.entered():
            self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.udp.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 26)
            self.udp.connect(("10.0.0.2", 9))
        self.tracing = net.Tracing()

    def send(self, way: str, number: int, length: int, segment: int = 0) -> None:
        """Send one planned packet of so many IP bytes; "gso": of so much data."""
        if way == "gso":
            self.udp.setsockopt(socket.IPPROTO_UDP, net.UDP_SEGMENT, segment)
            self.udp.send(bytes(length))
        elif way == "local":
            net.send(self.sockets[way], "d0", net.ip_packet(length, number=number))
        else:
            data = net.ip_packet(length, destination="10.2.0.2", number=number)
            net.send(self.sockets[way], "v0", data)

    def drained(self, way: str) -> bool:
        """Tell whether all packets are through the gate and the link."""
        links = [(self.control[way], self.index[way])]
        if way == "routed":
            links.append((self.control["local"], self.gate))
        for control, index in links:
            stats = control.get(index).stats
            if stats["backlog_packets"] + stats["line_packets"]:
                return False
        return True

    def run(self, case: dict[str, Any]) -> dict[str, Any]:
        """Run one case; return the evidence but the trace."""
        way = case["way"]
        control, index = self.control[way], self.index[way]
        self.tracing.on()
        asked = options(case["options"])
        early_ns = time.monotonic_ns()
        control.add(index, asked)
        if "trace_fd" in asked:
            os.close(asked["trace_fd"])
        first = control.get(index)
        start = asked.get("start")
        changes = []
        todo = list(case.get("changes", []))
        for number, (gap_ns, *sizes) in enumerate(case["packets"]):
            while todo and todo[0]["before"] == number:
                change = todo.pop(0)
                net.sleep_ns(change.get("gap_ns", 0))
                early = time.monotonic_ns()
                control.change(index, options(change["options"]))
                late = time.monotonic_ns()
                epoch = control.get(index).stats.get("epoch_ns")
                changes.append({"early_ns": early, "late_ns": late, "epoch_ns": epoch})
            net.sleep_ns(gap_ns)
            self.send(way, number, *sizes)
        if case.get("wait_s"):
            time.sleep(case["wait_s"])
        else:
            net.wait_for(lambda: self.drained(way), case["name"], 10**6)
        last = control.get(index)
        control.delete(index)
        real_ns = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns()
        return {
            "early_ns": early_ns,
            "start_asked_ns": start,
            "start_ns": start and start - real_ns,
            "epoch_ns": first.stats.get("epoch_ns"),
            "options": first.options,
            "options_end": last.options,
            "stats": last.stats,
            "qlen": last.qlen,
            "backlog": last.backlog,
            "bytes": last.bytes,
            "packets": last.packets,
            "drops": last.drops,
            "imbalance": [last.imbalance(), last.imbalance_bytes()],
            "changes": changes,
        }


def main() -> None:
    """Run every case of the plan."""
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    out = Path(sys.argv[2])
    stage = Stage()
    for case in plan:
        evidence = stage.run(case)
        (out / f"{case['name']}.trace").write_text(stage.tracing.text(), encoding="ascii")
        (out / f"{case['name']}.json").write_text(json.dumps(evidence), encoding="ascii")
        print(case["name"], evidence["stats"]["offered_packets"], flush=True)


if __name__ == "__main__":
    main()
