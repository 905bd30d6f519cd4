#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Divide a link among the flows that listen; those to port 5001 get twice as much.

A controller as small as can be.  From the top of the tree, KERNEL being the source of a
kernel, as root in the senders' namespace:

    PYTHONPATH=KERNEL/tools/net/ynl python3 Documentation/examples/weights.py BYTES_PER_SECOND
"""

import ipaddress
import select
import signal
import sys

from lib import YnlFamily

if len(sys.argv) != 2 or not sys.argv[1].isdecimal():
    print("usage: weights.py BYTES_PER_SECOND, a number such as 1250000", file=sys.stderr)
    sys.exit(2)
capacity = int(sys.argv[1])
signal.signal(signal.SIGINT, lambda *_: sys.exit(130))  # Ctrl-C

spec = "Documentation/netlink/specs/rate_feedback.yaml"
channel, events = YnlFamily(spec, schema=""), YnlFamily(spec, schema="")
events.ntf_subscribe("flows")


def key(flow):
    """Return what names the flow's own path, addresses in hexadecimal (6.12)."""
    ends = {end: ipaddress.ip_address(flow[end]).packed.hex() for end in ("saddr", "daddr")}
    return ends | {port: flow[port] for port in ("sport", "dport")}


known = {}
while True:
    flows = {flow["id"]: flow for flow in channel.dump("flow-get", {})}
    weights = {number: 2 if flow["dport"] == 5001 else 1 for number, flow in flows.items()}
    for number, weight in weights.items():
        rate = capacity * weight // sum(weights.values())
        channel.do("set", key(flows[number]) | {"rate": rate, "age-limit": 3 * 10**9})
        print(flows[number]["daddr"], flows[number]["dport"], rate, flush=True)
    for number in known.keys() - flows.keys():
        channel.do("del", key(known[number]))
    known = flows
    select.select([events.sock], [], [], 1)  # until a flow comes or goes, 1 s at most
    events.check_ntf()
