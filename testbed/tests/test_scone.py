# SPDX-License-Identifier: GPL-2.0
"""SCONE packets: the model against the draft, and the link against the model."""

from __future__ import annotations

import re
import struct

import pytest

from wale_lab.models import scone
from wale_lab.models.scone import Kind
from wale_lab.tree import SOURCES

#: "Rate Signals", the table of examples: kbit/s to as many digits as it has
EXAMPLES = {
    0: "100",
    1: "112",
    2: "126",
    3: "141",
    20: "1000",
    21: "112e1",
    40: "10000",
    41: "112e2",
    60: "1e5",
    61: "112e3",
    80: "1e6",
    81: "112e4",
    100: "1e7",
    101: "112e5",
    120: "1e8",
    121: "112e6",
    126: "1995e5",
}


@pytest.mark.parametrize(("signal", "rate"), EXAMPLES.items())
def test_rates_of_the_draft(signal: int, rate: str) -> None:
    kbit = scone.rate_of(signal) * 8 / 1000
    assert abs(kbit - float(rate)) < float(rate) * 0.005
    assert scone.signal_of(scone.rate_of(signal)) == signal
    assert scone.signal_of(scone.rate_of(signal) - 1) == max(signal - 1, 0)


def test_a_packet_of_an_endpoint() -> None:
    datagram = scone.packet(b"\1\2\3\4\5\6\7\x08") + b"\x40short header"
    assert datagram.hex().startswith("ffef7dc0fd080102030405060708" + "00" + "40")
    assert scone.kind_of(datagram) is Kind.SCONE and scone.read(datagram) == scone.UNKNOWN
    assert scone.lower(datagram, scone.UNKNOWN) == datagram
    advised = scone.lower(datagram, 60)
    assert advised.hex().startswith("de6f7dc0fd08") and advised[5:] == datagram[5:]
    assert scone.lower(advised, 61) == advised and scone.read(scone.lower(advised, 59)) == 59


def test_a_packet_of_picoquic() -> None:
    """Recorded behind a link that tells 1500 kbit/s; it was sent with the signal 127."""
    recorded = "cbef7dc0fd089831204127a117490846c8497e2eb90c297c9831204127a11749d4287d9c29"
    datagram = bytes.fromhex(recorded)
    assert scone.kind_of(datagram) is Kind.SCONE
    assert scone.read(datagram) == scone.signal_of(1_500_000 // 8) == 23
    sent = b"\xff" + datagram[1:]
    assert scone.read(sent) == scone.UNKNOWN and scone.lower(sent, 23) == datagram


@pytest.mark.parametrize("end", range(14))
def test_what_is_cut_off_is_malformed(end: int) -> None:
    datagram = scone.packet(b"12345678")[:end]
    assert scone.kind_of(datagram) is (Kind.OTHER if end < 5 else Kind.MALFORMED)
    assert scone.lower(datagram, 0) == datagram


def test_a_checksum_is_replaced() -> None:
    assert scone.replace_checksum(0, 0xFFEF, 0xDE6F) == 0
    for checksum in (1, 0x1234, 0xFFFF):
        after = scone.replace_checksum(checksum, 0xFFEF, 0xDE6F)
        assert after and (after - checksum - 0xFFEF + 0xDE6F) % 0xFFFF == 0


def test_only_whole_datagrams_are_changed() -> None:
    payload = scone.packet() + b"\x40"
    udp = struct.pack("!HHHH", 1000, 443, 8 + len(payload), 0x1234) + payload
    head = struct.pack("!BBHHHBBHII", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, 1, 2)
    packet = head + udp
    lowered = scone.lower_packet(packet, 40)
    checksum = scone.replace_checksum(0x1234, 0xFFEF, 0xD46F)
    assert lowered[26:28] == checksum.to_bytes(2, "big") and scone.read(lowered[28:]) == 40
    assert lowered[:26] + lowered[30:] == packet[:26] + packet[30:]
    assert scone.lower_packet(packet[:-1], 40) == packet[:-1]
    for field, value in ((6, 0x20), (9, 6), (0, 0x44)):  # a fragment, TCP, a bad header
        other = packet[:field] + bytes((value,)) + packet[field + 1 :]
        assert scone.lower_packet(other, 40) == other


def test_one_place_names_the_version_of_the_draft() -> None:
    """The model; the vectors are made from it, and the documentation has its name from there."""
    found: dict[str, set[str]] = {}
    for folder in ("kmod", "testbed", "userspace", "Documentation"):
        for file in (SOURCES / folder).rglob("*"):
            if file.suffix in (".c", ".h", ".py", ".rst", ".yaml", ".1", ".8"):
                text = file.read_text(encoding="utf-8").replace("\\-", "-")
                versions = set(re.findall(r"draft-ietf-scone-protocol-\d+", text))
                found |= {file.name: versions} if versions else {}
    assert found == {name: {scone.DRAFT} for name in ("scone.py", "wale_vectors_scone.h")}
