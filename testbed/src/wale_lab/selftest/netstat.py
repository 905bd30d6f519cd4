# SPDX-License-Identifier: GPL-2.0
"""Counters of IP, TCP and UDP of a network namespace."""

from __future__ import annotations

from wale_lab.selftest import net


def netstat(name: str, group: str = "IpExt") -> int:
    """Return a counter of the namespace in which it is called."""
    lines = (net.read("/proc/net/netstat") + net.read("/proc/net/snmp")).splitlines()
    names, numbers = (line.split() for line in lines if line.startswith(f"{group}:"))
    return int(dict(zip(names, numbers, strict=True))[name])
