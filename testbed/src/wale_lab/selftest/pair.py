# SPDX-License-Identifier: GPL-2.0
"""The topology of most selftests: a sender, a receiver, and wale in between.

        ns "a"                                        ns "b"
     +-----------------------------+         +----------------------+
     |  10.0.0.1/24                |         |        10.0.0.2/24   |
     |  packets -> [wale] -> a0 ===|== veth =|=== b0 -> UDP port 9  |
     +-----------------------------+         +----------------------+

Packets carry a number, so that the receiver sees which are missing or out of
order.  Neighbours are static and IPv6 is off, so nothing else is on the wire.
"""

from __future__ import annotations

import contextlib
import errno
import socket
import struct
from typing import Any

from wale_lab.selftest import net
from wale_lab.selftest.wale import Qdisc

MS = 10**6
MAC_A, MAC_B = "02:00:00:00:00:01", "02:00:00:00:00:02"


class Pair:
    """Two namespaces, a veth between them, and a packet source."""

    def __init__(self, queues: int = 1) -> None:
        self.a = net.Namespace("a")
        self.b = net.Namespace("b")
        count = f"numtxqueues {queues} numrxqueues {queues}"
        net.ip_batch(
            [
                f"link add a0 address {MAC_A} {count} type veth"
                f" peer name b0 address {MAC_B} {count} netns {self.b.name}",
                "addr add 10.0.0.1/24 dev a0",
                "link set a0 up",
                f"neigh add 10.0.0.2 lladdr {MAC_B} dev a0",
            ],
            self.a,
        )
        net.ip_batch(
            [
                "addr add 10.0.0.2/24 dev b0",
                "link set b0 up",
                f"neigh add 10.0.0.1 lladdr {MAC_A} dev b0",
            ],
            self.b,
        )
        self.b.receive_in_order()
        self.control = self.a.control()
        self.dev = self.a.index("a0")
        self.socket = self.a.packet_socket("a0")
        with self.b.entered():
            self.sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.sink.setsockopt(socket.SOL_SOCKET, 33, 1 << 27)  # SO_RCVBUFFORCE
            self.sink.bind(("10.0.0.2", 9))
            self.sink.setblocking(False)
        with self.a.entered():
            self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.udp.setsockopt(socket.SOL_SOCKET, 32, 1 << 27)  # SO_SNDBUFFORCE
            self.udp.connect(("10.0.0.2", 9))
        self.sent = 0

    def add(self, **options: Any) -> None:
        """Add wale as the root qdisc of a0."""
        self.control.add(self.dev, options)

    def change(self, **options: Any) -> None:
        """Change it."""
        self.control.change(self.dev, options)

    def get(self) -> Qdisc:
        """Return the wale qdisc of a0."""
        return self.control.get(self.dev)

    def stats(self) -> dict[str, int]:
        """Return its statistics."""
        return self.get().stats

    def delete(self) -> None:
        """Delete the root qdisc."""
        self.control.delete(self.dev)

    def send(self, count: int, length: int = 1000, gap_ns: int = 0, tos: int = 0) -> None:
        """Send numbered packets with this many IP bytes."""
        for _ in range(count):
            net.send(self.socket, "a0", net.ip_packet(length, number=self.sent, tos=tos))
            self.sent += 1
            net.sleep_ns(gap_ns)

    def send_errors(self, count: int, length: int = 1000) -> int:
        """Send packets; return how often the sender was told about a drop."""
        errors = 0
        protocol, kind, hatype, address = net.PACKET_ADDRESS
        for _ in range(count):
            data = net.ip_packet(length, number=self.sent)
            try:
                self.socket.sendto(data, ("a0", protocol, kind, hatype, address))
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                errors += 1
            self.sent += 1
        return errors

    def send_gso(self, segments: int, segment: int = 1000) -> None:
        """Send one UDP GSO packet."""
        self.udp.setsockopt(socket.IPPROTO_UDP, net.UDP_SEGMENT, segment)
        with contextlib.suppress(BlockingIOError):
            data = b"".join(
                struct.pack("!I", self.sent + k).ljust(segment, b"\0") for k in range(segments)
            )
            self.udp.send(data)
        self.sent += segments

    def payloads(self) -> list[bytes]:
        """Return the data of the packets that arrived since the last call."""
        found = []
        with contextlib.suppress(BlockingIOError):
            while True:
                found.append(self.sink.recv(2048))
        return found

    def received(self) -> list[int]:
        """Return the numbers of these packets."""
        return [struct.unpack_from("!I", data)[0] for data in self.payloads()]

    def held(self) -> int:
        """Return the number of packets in the link."""
        stats = self.stats()
        return stats["backlog_packets"] + stats["line_packets"]

    def drain(self, limit_s: float = 200) -> None:
        """Wait until the link is empty and the last packet has reached its socket."""
        net.wait_for(lambda: self.held() == net.backlog() == 0, "an empty link", limit_s)
        net.sleep_ns(MS)

    def close(self) -> None:
        """Delete both namespaces."""
        for sock in (self.socket, self.sink, self.udp):
            sock.close()
        self.control.close()
        self.a.delete()
        self.b.delete()
