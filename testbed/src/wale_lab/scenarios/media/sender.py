# SPDX-License-Identifier: GPL-2.0
"""Sends video over RTP at the rate that Google's congestion control allows.

    sender.py HOST PORT SECONDS

The receiver (receiver.py) estimates by delay what the path carries, and tells it by REMB; the
sender lowers that by the losses of receiver reports, as section 6 of draft-ietf-rmcat-gcc-02 has
it.  There is no encoder: a frame has the size that the rate of its time gives it.  At the end it
prints the mean rate and that of the end, in kbit/s, as JSON.
"""

from __future__ import annotations

import json
import select
import socket
import sys
import time
from dataclasses import dataclass

from aiortc.rtp import RtcpPacket, RtcpPsfbPacket, RtcpRrPacket, RtpPacket, unpack_remb_fci

from . import wire

#: Rates of a video call, bit/s: its first, and the limits of its encoder.
START_BPS, LEAST_BPS, MOST_BPS = 1_000_000, 50_000, 2_500_000

#: Bytes of a payload.
PAYLOAD = 1200

#: A frame leaves at so many times the rate, as WebRTC's pacer has it.
PACE = 2.5

#: Shares of lost packets: above the one the rate falls, below the other it rises.
MANY_LOST, FEW_LOST = 0.10, 0.02


@dataclass
class Control:
    """The sender's half of the control."""

    by_loss_bps: float = START_BPS
    by_delay_bps: float = MOST_BPS

    @property
    def rate_bps(self) -> float:
        """What may be sent."""
        return max(min(self.by_loss_bps, self.by_delay_bps, MOST_BPS), LEAST_BPS)

    def lost(self, share: float) -> None:
        """A receiver report has come."""
        if share > MANY_LOST:
            self.by_loss_bps = self.rate_bps * (1 - 0.5 * share)
        elif share < FEW_LOST:
            self.by_loss_bps = min(1.05 * (self.rate_bps + 1000), MOST_BPS)

    def read(self, data: bytes) -> None:
        """RTCP has come."""
        for packet in RtcpPacket.parse(data):
            if isinstance(packet, RtcpPsfbPacket) and packet.fci.startswith(b"REMB"):
                self.by_delay_bps = unpack_remb_fci(packet.fci)[0]
            elif isinstance(packet, RtcpRrPacket):
                for report in packet.reports:
                    self.lost(report.fraction_lost / 256)


class Sender:
    """A call, over a connected socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.control = Control()
        self.sequence = 0
        self.sent_bytes = 0

    def wait_until(self, due_ns: int) -> None:
        """Read what comes until then."""
        while (left := due_ns - time.monotonic_ns()) > 0:
            if select.select([self.sock], [], [], left / 1e9)[0]:
                try:
                    self.control.read(self.sock.recv(2048))
                except ConnectionRefusedError:
                    continue

    def send_frame(self, number: int, captured_ns: int) -> None:
        """A frame, packet by packet."""
        rate = self.control.rate_bps
        count, rest = divmod(max(round(rate / 8 / wire.FRAMES_PER_S), wire.Head.SIZE), PAYLOAD)
        sizes = [PAYLOAD] * count + ([max(rest, wire.Head.SIZE)] if rest else [])
        due_ns = captured_ns
        for index, size in enumerate(sizes):
            self.wait_until(due_ns)
            head = wire.Head(number, index, len(sizes), captured_ns).pack()
            packet = RtpPacket(
                payload_type=96,
                marker=int(index == len(sizes) - 1),
                sequence_number=self.sequence,
                timestamp=number * wire.CLOCK_HZ // wire.FRAMES_PER_S & 0xFFFFFFFF,
                ssrc=wire.SSRC,
                payload=head + bytes(size - len(head)),
            )
            packet.extensions.abs_send_time = wire.absolute_send_time(time.monotonic_ns())
            self.sock.send(packet.serialize(wire.EXTENSIONS))
            self.sequence = self.sequence + 1 & 0xFFFF
            self.sent_bytes += size
            due_ns += round(size * 8e9 / (PACE * rate))


def main(host: str, port: int, seconds: float) -> None:
    """Send for so long."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect((host, port))
        sender = Sender(sock)
        began_ns = time.monotonic_ns()
        for number in range(round(seconds * wire.FRAMES_PER_S)):
            captured_ns = began_ns + number * 10**9 // wire.FRAMES_PER_S
            sender.wait_until(captured_ns)
            sender.send_frame(number, captured_ns)
    told = {"mean_kbit": sender.sent_bytes * 8 / seconds, "last_kbit": sender.control.rate_bps}
    print(json.dumps({name: round(bps / 1e3, 3) for name, bps in told.items()}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
