# SPDX-License-Identifier: GPL-2.0
"""Receives the video of sender.py until SIGTERM, and tells its sender what the path carries.

    receiver.py PORT FOLDER

The estimate by delay is that of aiortc, an implementation of draft-ietf-rmcat-gcc-02, where the
receiver makes it and tells it by REMB.  FOLDER gets frames.csv: for each frame when it was
captured (`at_s`, s after the receiver's start), how much later its last packet came (`delay_ms`,
empty if one is missing), and its `bytes`.  It prints a summary as JSON.
"""

from __future__ import annotations

import csv
import json
import signal
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, quantiles

from aiortc.rate import RemoteBitrateEstimator
from aiortc.rtcrtpreceiver import StreamStatistics
from aiortc.rtp import RtcpPsfbPacket, RtcpReceiverInfo, RtcpRrPacket, RtpPacket, pack_remb_fci

from . import wire

#: Between two receiver reports.
REPORT_NS = 10**9

#: The type of feedback that REMB is (RFC 4585: of the application).
_APPLICATION = 15


@dataclass
class Frame:
    """What has come of a frame."""

    missing: int
    bytes: int = 0
    delay_ns: int = 0


class Receiver:
    """A call, over a bound socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.estimator = RemoteBitrateEstimator()
        self.counts = StreamStatistics(wire.CLOCK_HZ)
        self.frames: dict[int, Frame] = {}
        self.first_ns = 0
        self.report_ns = 0

    def take(self, data: bytes, peer: tuple[str, int]) -> None:
        """A packet has come."""
        now_ns = time.monotonic_ns()
        packet = RtpPacket.parse(data, wire.EXTENSIONS)
        head = wire.Head.parse(packet.payload)
        self.first_ns = head.captured_ns - head.frame * 10**9 // wire.FRAMES_PER_S
        frame = self.frames.setdefault(head.frame, Frame(head.count))
        frame.missing -= 1
        frame.bytes += len(packet.payload)
        frame.delay_ns = now_ns - head.captured_ns
        self.counts.add(packet)
        told = self.estimator.add(
            now_ns // 10**6, packet.extensions.abs_send_time or 0, len(packet.payload), packet.ssrc
        )
        if told is not None:
            remb = pack_remb_fci(int(told[0]), told[1])
            about = RtcpPsfbPacket(_APPLICATION, wire.SSRC_OF_RECEIVER, 0, remb)
            self.sock.sendto(bytes(about), peer)
        if now_ns >= self.report_ns:
            self.report_ns = now_ns + REPORT_NS
            self.sock.sendto(bytes(self.report()), peer)

    def report(self) -> RtcpRrPacket:
        """What was lost since the last one."""
        counts = self.counts
        highest = counts.cycles + (counts.max_seq or 0)
        lost, jitter = counts.packets_lost, counts.jitter
        info = RtcpReceiverInfo(wire.SSRC, counts.fraction_lost, lost, highest, jitter, 0, 0)
        return RtcpRrPacket(wire.SSRC_OF_RECEIVER, [info])

    def rows(self, began_ns: int) -> list[tuple[float, float | None, int]]:
        """Those of frames.csv, also of frames of which nothing came."""
        found = []
        for number in range(max(self.frames, default=-1) + 1):
            frame = self.frames.get(number, Frame(1))
            at_ns = self.first_ns + number * 10**9 // wire.FRAMES_PER_S - began_ns
            delay = None if frame.missing else frame.delay_ns / 1e6
            found.append((at_ns / 1e9, delay, frame.bytes))
        return found


def summary(rows: list[tuple[float, float | None, int]]) -> dict[str, float | int | None]:
    """Numbers for people."""
    delays = [delay for _, delay, _ in rows if delay is not None]
    return {
        "frames": len(rows),
        "incomplete": len(rows) - len(delays),
        "delay_ms": round(fmean(delays), 3) if delays else None,
        "delay_p95_ms": round(quantiles(delays, n=20)[-1], 3) if len(delays) > 1 else None,
        "kbit": round(sum(size for _, _, size in rows) * 8e-3 * wire.FRAMES_PER_S / len(rows), 3)
        if rows
        else None,
    }


def main(port: int, folder: Path) -> None:
    """Receive until SIGTERM."""
    began_ns = time.monotonic_ns()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        receiver = Receiver(sock)
        sock.bind(("", port))
        try:
            while True:
                receiver.take(*sock.recvfrom(2048))
        except KeyboardInterrupt:
            rows = receiver.rows(began_ns)
    with (folder / "frames.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("at_s", "delay_ms", "bytes"), *rows])
    print(json.dumps(summary(rows)))


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
