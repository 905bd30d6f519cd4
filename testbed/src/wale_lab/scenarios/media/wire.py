# SPDX-License-Identifier: GPL-2.0
"""What the ends of a video call share: RTP with the time of sending, and the head of a payload."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from aiortc.rtcrtpparameters import RTCRtpHeaderExtensionParameters, RTCRtpParameters
from aiortc.rtp import HeaderExtensionsMap

#: Frames that are captured in a second.
FRAMES_PER_S = 30

#: The clock of RTP's timestamps for video (RFC 3551).
CLOCK_HZ = 90_000

#: The stream's name in RTP, and the receiver's in RTCP.
SSRC, SSRC_OF_RECEIVER = 0x77616C65, 0x6C616221

_ABSOLUTE = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"

#: The header extension that the estimator of the receiver goes by.
EXTENSIONS = HeaderExtensionsMap()
EXTENSIONS.configure(
    RTCRtpParameters(headerExtensions=[RTCRtpHeaderExtensionParameters(id=3, uri=_ABSOLUTE)])
)


def absolute_send_time(now_ns: int) -> int:
    """That extension's value: seconds with 18 bits of fraction, 24 bits in all."""
    return (now_ns << 18) // 10**9 & 0xFFFFFF


@dataclass(frozen=True)
class Head:
    """The head of a packet's payload; both ends have one clock, that of their machine."""

    frame: int
    """number, from 0"""
    index: int
    """of the packet in its frame"""
    count: int
    """packets of the frame"""
    captured_ns: int
    """time of CLOCK_MONOTONIC"""

    _FORMAT = struct.Struct("!LHHQ")
    SIZE = _FORMAT.size

    def pack(self) -> bytes:
        """Its bytes."""
        return self._FORMAT.pack(self.frame, self.index, self.count, self.captured_ns)

    @classmethod
    def parse(cls, payload: bytes) -> Head:
        """From a payload."""
        return cls(*cls._FORMAT.unpack_from(payload))
