# SPDX-License-Identifier: GPL-2.0
"""Decodes the first bytes of many packets: addresses, ports, TCP's numbers; with numpy.

IPv4 addresses are mapped into IPv6, as in the tracepoints of TCP.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TCP, UDP = 6, 17
_IPV4, _IPV6 = 0x0800, 0x86DD
_MAPPED = np.frombuffer(bytes(10) + b"\xff\xff", np.uint8)

Bytes = NDArray[np.uint8]


@dataclass
class Heads:
    """A column for each field, zero where a packet has none."""

    is_ip: NDArray[np.bool_]
    source: Bytes  # 16 bytes each
    target: Bytes
    protocol: Bytes
    ecn: Bytes
    has_ports: NDArray[np.bool_]
    source_port: NDArray[np.uint32]
    target_port: NDArray[np.uint32]
    is_tcp: NDArray[np.bool_]
    seq: NDArray[np.uint32]
    ack: NDArray[np.uint32]
    flags: Bytes
    payload: NDArray[np.int64]  # of TCP and UDP, bytes


def parse(head: Bytes, head_len: NDArray[np.int64], ethertype: NDArray[np.uint16]) -> Heads:
    """Heads begin with the IP header, and are zero behind their end."""
    n = len(head)
    v4 = (ethertype == _IPV4) & (head_len >= 20) & (head[:, 0] >> 4 == 4)
    v6 = (ethertype == _IPV6) & (head_len >= 40) & (head[:, 0] >> 4 == 6)
    source, target = np.zeros((n, 16), np.uint8), np.zeros((n, 16), np.uint8)
    for address, at4, at6 in ((source, 12, 8), (target, 16, 24)):
        address[v4, :12] = _MAPPED
        address[v4, 12:] = head[v4, at4 : at4 + 4]
        address[v6] = head[v6, at6 : at6 + 16]
    protocol = np.where(v4, head[:, 9], np.where(v6, head[:, 6], 0)).astype(np.uint8)
    ecn = np.where(v4, head[:, 1] & 3, np.where(v6, head[:, 1] >> 4 & 3, 0)).astype(np.uint8)
    # a later fragment has no ports
    whole = v6 | (v4 & (_number(head, 6, 2) & 0x1FFF == 0))
    above = np.where(v4, (head[:, 0] & 15).astype(np.int64) * 4, 40)
    is_tcp = whole & (protocol == TCP) & (head_len >= above + 20)
    is_udp = whole & (protocol == UDP) & (head_len >= above + 8)
    inner = _from(head, above)
    ip_bytes = np.where(v4, _number(head, 2, 2), _number(head, 4, 2) + 40).astype(np.int64)
    data = np.where(is_tcp, (inner[:, 12] >> 4).astype(np.int64) * 4, 8)
    has_ports = is_tcp | is_udp
    return Heads(
        is_ip=v4 | v6,
        source=source,
        target=target,
        protocol=protocol,
        ecn=ecn,
        has_ports=has_ports,
        source_port=np.where(has_ports, _number(inner, 0, 2), 0).astype(np.uint32),
        target_port=np.where(has_ports, _number(inner, 2, 2), 0).astype(np.uint32),
        is_tcp=is_tcp,
        seq=np.where(is_tcp, _number(inner, 4, 4), 0).astype(np.uint32),
        ack=np.where(is_tcp, _number(inner, 8, 4), 0).astype(np.uint32),
        flags=np.where(is_tcp, inner[:, 13], 0).astype(np.uint8),
        payload=np.where(has_ports, np.maximum(ip_bytes - above - data, 0), 0),
    )


def _number(head: Bytes, at: int, size: int) -> NDArray[np.uint32]:
    value = np.zeros(len(head), np.uint32)
    for byte in range(at, at + size):
        value = (value << 8 | head[:, byte]).astype(np.uint32)
    return value


def _from(head: Bytes, at: NDArray[np.int64]) -> Bytes:
    """The 20 bytes from a place on, which is one of few."""
    found = np.zeros((len(head), 20), np.uint8)
    for place in np.unique(at):
        here = at == place
        found[here] = head[here, place : place + 20]
    return found


def connection_keys(
    source: Bytes,
    target: Bytes,
    source_port: NDArray[np.integer],
    target_port: NDArray[np.integer],
    protocol: NDArray[np.integer],
) -> NDArray[np.uint64]:
    """A number for each connection and direction, of 64 bits: equal ones are not to be expected."""
    ends = source_port.astype(np.uint64) << np.uint64(16) | target_port.astype(np.uint64)
    key = np.full(len(source), 0x9E3779B97F4A7C15, np.uint64)
    for word in (*_words(source), *_words(target), ends, protocol.astype(np.uint64)):
        key = _mixed(key, word)
    return key


def keys_in_copies(key: NDArray[np.uint64], copy: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Such numbers, where copies of a topology have connections that are otherwise the same."""
    return _mixed(key, copy.astype(np.uint64))


def _mixed(key: NDArray[np.uint64], word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    product = (key ^ word) * np.uint64(0xBF58476D1CE4E5B9)
    return product ^ product >> np.uint64(29)


def _words(address: Bytes) -> list[NDArray[np.uint64]]:
    words = np.ascontiguousarray(address).view("<u8")
    return [words[:, 0], words[:, 1]]


def sockaddr_address(sockaddr: Bytes) -> Bytes:
    """The addresses of struct sockaddr_in6, or sockaddr_in in its place."""
    inet = sockaddr[:, 0] == 2
    address = np.array(sockaddr[:, 8:24], order="C")
    address[inet, :12] = _MAPPED
    address[inet, 12:] = sockaddr[inet, 4:8]
    return address


def text_of(address: bytes) -> str:
    """An address as people write it."""
    found = ipaddress.IPv6Address(address)
    return str(found.ipv4_mapped or found)
