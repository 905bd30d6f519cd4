# SPDX-License-Identifier: GPL-2.0
"""Does what `ip -batch` does in a namespace, as far as networks of many hosts need it.

Running ip in each of a thousand namespaces takes longer than all the rest of the set-up.
"""

import socket
import struct

from wale_lab import netlink

_NEWLINK, _NEWADDR, _NEWROUTE, _NEWNEIGH = 16, 20, 24, 28
_IFLA_IFNAME, _IFA_ADDRESS, _IFA_LOCAL, _RTA_DST, _RTA_GATEWAY = 3, 1, 2, 1, 5
_NDA_DST, _NDA_LLADDR = 1, 2
_UP, _NOARP = 0x1, 0x80
_NODAD, _PERMANENT = 0x02, 0x80
_TABLE_MAIN, _BY_BOOT, _UNICAST = 254, 3, 1


def configure(lines: list[str]) -> bool:
    """Do what lines for `ip -batch` say, in the present namespace; False, and nothing, if one of
    them is none of those that are known here. OSError if the kernel refuses."""
    requests = []
    for words in map(str.split, lines):
        request = _request(words)
        if request is None:
            return False
        requests.append(request)
    sock = netlink.Socket(netlink.NETLINK_ROUTE)
    try:
        create = netlink.NLM_F_CREATE | netlink.NLM_F_EXCL
        sock.ask_all([(kind, 0 if kind == _NEWLINK else create, body) for kind, body in requests])
    finally:
        sock.close()
    return True


def _request(words: list[str]) -> tuple[int, bytes] | None:
    """The type and body of the request for a line."""
    match words:
        case ["link", "set", device, "up"]:
            return _NEWLINK, _link(device, _UP, _UP)
        case ["link", "set", device, "arp", "on" | "off" as arp, "up"]:
            return _NEWLINK, _link(device, _UP | (_NOARP if arp == "off" else 0), _UP | _NOARP)
        case ["address", "add", prefix, "dev", device, *rest] if rest in ([], ["nodad"]):
            family, address, length = _prefix(prefix)
            flags = _NODAD if rest else 0
            head = struct.pack("BBBBI", family, length, flags, 0, socket.if_nametoindex(device))
            local = netlink.attribute(_IFA_LOCAL, address)
            return _NEWADDR, head + local + netlink.attribute(_IFA_ADDRESS, address)
        case ["neighbour", "add", to, "lladdr", mac, "dev", device, "nud", "permanent"]:
            family, address, _ = _prefix(to)
            index = socket.if_nametoindex(device)
            head = struct.pack("BBHiHBB", family, 0, 0, index, _PERMANENT, 0, 0)
            known = netlink.attribute(_NDA_LLADDR, bytes.fromhex(mac.replace(":", "")))
            return _NEWNEIGH, head + netlink.attribute(_NDA_DST, address) + known
        case ["route", "add", to, "via", gateway]:
            family, by, _ = _prefix(gateway)
            _, target, length = (family, b"", 0) if to == "default" else _prefix(to)
            head = struct.pack(
                "BBBBBBBBI", family, length, 0, 0, _TABLE_MAIN, _BY_BOOT, 0, _UNICAST, 0
            )
            where = netlink.attribute(_RTA_DST, target) if target else b""
            return _NEWROUTE, head + where + netlink.attribute(_RTA_GATEWAY, by)
    return None


def _link(device: str, flags: int, change: int) -> bytes:
    head = struct.pack("BBHiII", 0, 0, 0, 0, flags, change)
    return head + netlink.attribute(_IFLA_IFNAME, device.encode() + b"\0")


def _prefix(text: str) -> tuple[int, bytes, int]:
    """Family, address and length of a prefix."""
    address, _, length = text.partition("/")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    packed = socket.inet_pton(family, address)
    return int(family), packed, int(length or 8 * len(packed))
