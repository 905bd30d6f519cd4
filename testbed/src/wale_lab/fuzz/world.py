# SPDX-License-Identifier: GPL-2.0
"""Where the messages go: namespaces, devices, links, sockets that listen, and traffic.

    ns "a"                                              ns "b"        ns "c"
    a0  veth, wale as root, TCP of ratcp and UDP   ==   b0            c0  dummy
    d0  dummy, wale as root
    d1  dummy, prio with wale in two classes
    d2  dummy, tbf with wale inside; comes and goes

Everything is made anew for each epoch (guest.py).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import struct
import time
from random import Random

from wale_lab import netlink
from wale_lab.fuzz.link import Position
from wale_lab.fuzz.wire import NOBODY, Wire
from wale_lab.netlink import (
    NETLINK_GENERIC,
    NETLINK_ROUTE,
    NLM_F_ACK,
    NLM_F_CREATE,
    NLM_F_EXCL,
    Family,
    Socket,
)
from wale_lab.selftest import net, rate
from wale_lab.selftest.pair import Pair
from wale_lab.selftest.wale import TC_H_ROOT, TRACE_STEPS_MAX, new_trace_file, trace_file

CLONE_NEWUSER = 0x10000000
RTM_NEWLINK, RTM_DELLINK = 16, 17
IFLA_IFNAME, IFLA_LINKINFO, IFLA_INFO_KIND = 3, 18, 1
IFF_UP = 1
IFINFOMSG = struct.Struct("=BxHiII")
PRIO, TBF = 0x10000, 0x10000
#: What can be the buffer of a link; nothing: its own.
CHILDREN = (
    *("", "", "", "pfifo limit 5", "fq_codel limit 20", "sfq limit 20", "prio", "fq", "cake"),
    *("red limit 60kB min 5kB max 15kB avpkt 500 burst 15", "tbf rate 1mbit burst 3kB limit 9kB"),
)
TBF_WORDS = "tbf rate 100mbit burst 10kb limit 100kb"
CONTROLS = ("ratcp", "ratcp_oldtahoe")


def _addresses(*texts: str) -> list[int | bytes]:
    family = {True: socket.AF_INET6, False: socket.AF_INET}
    return [socket.inet_pton(family[":" in text], text) for text in texts]


def _foreign(namespace: str, protocol: int) -> socket.socket:
    """A netlink socket in a network namespace, made by who has no rights there.

    It is made by a child that is root in a user namespace of its own.
    """
    mine, its = socket.socketpair()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(Exception):
            netlink.enter(os.open(f"/run/netns/{namespace}", os.O_RDONLY))
            if ctypes.CDLL(None).unshare(CLONE_NEWUSER) == 0:
                made = Socket(protocol)
                socket.send_fds(its, [b"."], [made.socket.fileno()])
        os._exit(0)
    its.close()
    _, files, _, _ = socket.recv_fds(mine, 1, 1)
    mine.close()
    os.waitpid(child, 0)
    return socket.socket(fileno=files[0])


class World:
    """One epoch's surroundings."""

    def __init__(self) -> None:
        self.pair = Pair()
        self.a = self.pair.a
        self.c = net.Namespace("c")
        net.ip_batch(["link add c0 type dummy", "link set c0 up"], self.c)
        for dev in ("d0", "d1", "d2"):
            self._add_device(dev)
        self._add_parent("d1", "prio")
        self._add_parent("d2", TBF_WORDS)
        self.files = [os.open(f"/run/netns/{ns.name}", os.O_RDONLY) for ns in (self.c, self.pair.b)]
        step = struct.pack("QQ", 10**6, 10**6)
        self.traces = [
            trace_file(data)
            for data in (step * 3, step * (TRACE_STEPS_MAX + 1), b"", step + b"odd", b"\xff" * 16)
        ]
        self.long_trace = new_trace_file()
        self.files += [*self.traces, self.long_trace]
        self.senders = [
            rate.Sender(self.pair, name, 5001 + k, buffer=1 << 16)
            for k, name in enumerate(CONTROLS)
        ]
        self.dummy = self.a.packet_socket("d0")
        with self.a.entered():
            family = Family("rate_feedback")
            sockets = {NETLINK_GENERIC: family, NETLINK_ROUTE: Socket(NETLINK_ROUTE)}
            others = {protocol: Socket(protocol) for protocol in sockets}
        self.family = family.id
        self.wires = {p: Wire(client.socket) for p, client in sockets.items()}
        self.slow = {p: Wire(client.socket, "slow") for p, client in others.items()}
        self.strangers = {
            p: [
                Wire(client.socket, "without rights", NOBODY),
                Wire(_foreign(self.a.name, p), "foreign"),
            ]
            for p, client in sockets.items()
        }

    # ---- devices

    def _link(self, kind: int, flags: int, index: int, up: int, change: int, rest: bytes) -> None:
        body = IFINFOMSG.pack(0, 0, index, up, change) + rest
        with contextlib.suppress(OSError):
            self.pair.control.ask(kind, NLM_F_ACK | flags, body)

    def _add_device(self, dev: str) -> None:
        kind = netlink.attribute(IFLA_INFO_KIND, b"dummy\0")
        rest = netlink.attribute(IFLA_IFNAME, dev.encode() + b"\0")
        rest += netlink.attribute(IFLA_LINKINFO, kind)
        self._link(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, 0, IFF_UP, IFF_UP, rest)

    def _add_parent(self, dev: str, words: str) -> None:
        net.run(f"tc -n {self.a.name} qdisc del dev {dev} root", check=False)
        net.run(f"tc -n {self.a.name} qdisc add dev {dev} root handle 1: {words}")

    def index(self, dev: str) -> int:
        """Return the index of a device, 0 if it is gone."""
        try:
            return self.a.index(dev)
        except OSError:
            return 0

    def look(self) -> None:
        """Learn which devices there are now."""
        a0, d0, d1, d2 = (self.index(dev) for dev in ("a0", "d0", "d1", "d2"))
        self.positions: list[Position] = [
            (a0, TC_H_ROOT, 0x10000),
            (a0, TC_H_ROOT, 0x10000),
            (d0, TC_H_ROOT, 0x10000),
            (d1, PRIO + 1, 0x20000),
            (d1, PRIO + 2, 0x30000),
            (d2, TBF + 1, 0x20000),
        ]
        self.positions = [position for position in self.positions if position[0]]
        devices: list[int | bytes] = [p[0] for p in self.positions]
        texts = ("10.0.0.2", "10.0.0.0", "10.0.0.1", "0.0.0.0", "fd00::", "::ffff:10.0.0.2", "::")
        ports: list[int | bytes] = [9, 5001, self.senders[0].sport if self.senders else 1, 0]
        now = time.monotonic_ns()
        self.pools: dict[str, list[int | bytes]] = {
            "ifindex": [*devices, 1, 9999],
            "saddr": _addresses("10.0.0.1", "10.0.0.1", "fd00::1"),
            "daddr": _addresses(*texts),
            "prefix-len": [0, 8, 24, 32, 96, 104, 128],
            "sport": ports[1:],
            "dport": [5001, 5002, 0],
            "time": [0, 1, now, now - 10**9, now + 10**9],
            "rate": [0, 1, 10**5, 10**7, (1 << 64) - 1],
            "netns-fd": [*self.files, *self.files, 0, 9999],
        }
        day = time.time_ns()
        self.link_pools: dict[str, list[int | bytes]] = {
            "trace-fd": [*self.traces[:2], self.long_trace, *self.files, 0, 9999],
            "start": [day, day - 10**9, day + 10**9, day - 3600 * 10**9],
        }

    # ---- what happens between messages

    def happen(self, rng: Random) -> None:
        """Let something happen, and some time pass."""
        event = rng.choices(
            (
                *(self._packets, self._gso, self._dummy_packets, self._tcp),
                *(self._flap, self._replug, self._graft, self._fill),
            ),
            (30, 5, 20, 30, 2, 2, 4, 4),
        )[0]
        with contextlib.suppress(OSError):
            event(rng)
        net.sleep_ns(int(10 ** rng.uniform(3, 8)))
        if rng.random() < 0.01:
            net.sleep_ns(10**10)

    def _packets(self, rng: Random) -> None:
        self.pair.send(rng.randint(1, 8), rng.choice((32, 100, 1000, 1500)))
        self.pair.payloads()  # without a number, where a length was corrupted

    def _gso(self, rng: Random) -> None:
        self.pair.send_gso(rng.randint(1, 20))

    def _dummy_packets(self, rng: Random) -> None:
        for _ in range(rng.randint(1, 8)):
            net.send(self.dummy, "d0", net.ip_packet(rng.choice((28, 500, 1500))))

    def _tcp(self, rng: Random) -> None:
        for sender in list(self.senders):
            try:
                sender.fill()
                sender.drain()
            except OSError:  # a link that held it up for too long
                sender.close()
                self.senders.remove(sender)

    def _flap(self, rng: Random) -> None:
        index = self.index(rng.choice(("a0", "d0", "d1")))
        for up in (0, IFF_UP):
            self._link(RTM_NEWLINK, 0, index, up, IFF_UP, b"")
        if index == self.pair.dev:  # its neighbours went
            net.ip_batch(["neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev a0"], self.a)

    def _replug(self, rng: Random) -> None:
        """Take d2 away with its link and its path, or bring it back; have d1 be as it was."""
        self._add_parent("d1", "prio")
        index = self.index("d2")
        if index:
            self._link(RTM_DELLINK, 0, index, 0, 0, b"")
        else:
            self._add_device("d2")
            self._add_parent("d2", TBF_WORDS)

    def _fill(self, rng: Random) -> None:
        """Have more steps in the file of the family, which is empty once a link has them."""
        step = struct.pack("QQ", rng.randint(0, 10**8), rng.randint(0, 10**8))
        os.write(self.long_trace, step * rng.choice((1, 3, 5000)))

    def _graft(self, rng: Random) -> None:
        """Have another qdisc be the buffer of a link, or none, if there is a link that takes it."""
        dev, words = rng.choice(("a0", "a0", "d0")), rng.choice(CHILDREN)
        verb = "replace" if words else "del"
        net.run(f"tc -n {self.a.name} qdisc {verb} dev {dev} parent 1:1 {words}", check=False)

    def close(self) -> None:
        """Take everything away."""
        for sender in self.senders:
            sender.close()
        for file in self.files:
            os.close(file)
        for wires in (*self.strangers.values(), self.wires.values(), self.slow.values()):
            for wire in wires:
                wire.socket.close()
        self.dummy.close()
        self.pair.close()
        self.c.delete()
