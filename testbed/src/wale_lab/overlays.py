# SPDX-License-Identifier: GPL-2.0
"""The keys of a graph for what lies on its links: tunnels, bonds, and address translation."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from wale_lab.fields import STRICT, Name, Or, TimeNs
from wale_lab.host_settings import HostSettings

#: The longest name of a device.
MAX_DEVICE = 15

#: Devices that there are without a tunnel of ours, some of them in each namespace.
_TAKEN = re.compile(
    r"lo|bridge|(eth|bond|port)\d+|(gre|gretap|erspan|tunl|ip6tnl|ip6gre|sit|ip_vti|ip6_vti)0"
)

Port = Annotated[int, Field(ge=1, le=65535)]
Kind = Literal["wireguard", "gre", "vxlan", "ipip", "tun", "tap"]

#: Tunnels whose packets a program carries.
BY_PROGRAM: tuple[Kind, ...] = ("tun", "tap")

#: Tunnels whose ends have Ethernet addresses.
ETHERNET: tuple[Kind, ...] = ("vxlan", "tap")


def _whole_seconds(value: int | None) -> int | None:
    if value is not None and (value < 10**9 or value % 10**9):
        raise ValueError("expected whole seconds, at least 1s")
    return value


class Tunnel(BaseModel):
    """A link that two nodes have over the others: a device of its name at both.

    It has a subnet of its own. Packets of the tunnel take the way that there is without tunnels. In
    programs, NODE.NAME is the address of a node in it.
    """

    model_config = STRICT

    name: Name
    """name of its devices, at most 15 characters"""
    kind: Kind
    """what carries the packets: of tun and tap, a program of yours at each end, which opens the
    device of that name (tun has packets of IP, tap has Ethernet frames)"""
    ends: Annotated[list[str], Field(min_length=2, max_length=2)]
    """the names of two hosts or routers"""
    cost: Annotated[int, Field(ge=0, le=65_535)] = 0
    """as that of a link; 0 is preferred to any link"""
    mtu: Annotated[int, Field(ge=576, le=65_535)] | None = None
    """bytes of IP inside (what the mtu of its ends leaves; 1420 for wireguard over 1500, 1472 for
    tun, in UDP)"""
    port: Port | None = None
    """of wireguard and vxlan: the UDP port at both ends (51820, 4789)"""
    keepalive: TimeNs | None = None
    """of wireguard: each end sends something so long after the last packet, in seconds"""
    id: Annotated[int, Field(ge=1, le=2**24 - 1)] | None = None
    """of vxlan: the number of the network (1)"""

    @field_validator("name")
    @classmethod
    def _device(cls, value: str) -> str:
        if len(value) > MAX_DEVICE or _TAKEN.fullmatch(value):
            raise ValueError(
                f"expected a new name of a device, of at most {MAX_DEVICE} characters, "
                f"got {value!r}"
            )
        return value

    @field_validator("keepalive")
    @classmethod
    def _seconds(cls, value: int | None) -> int | None:
        return _whole_seconds(value)

    @model_validator(mode="after")
    def _check(self) -> Tunnel:
        if self.ends[0] == self.ends[1]:
            raise ValueError(f"expected ends that differ, got {self.ends[0]!r} twice")
        kinds = {"port": ("wireguard", "vxlan"), "keepalive": ("wireguard",), "id": ("vxlan",)}
        for key, fitting in kinds.items():
            if getattr(self, key) is not None and self.kind not in fitting:
                raise ValueError(f"expected {key} with kind {' or '.join(fitting)}")
        return self


class Bond(BaseModel):
    """How the links between two nodes that have its name in `bond` are used as one."""

    model_config = STRICT

    mode: Literal["active-backup", "balance-rr", "balance-xor", "802.3ad", "broadcast"] = (
        "active-backup"
    )
    """as in Linux: the first link that works, packets in turn, flows by their hash (LACP does that
    too, with the links that the other end agrees to), or each packet over all"""
    hash: Literal["layer2", "layer2+3", "layer3+4"] = "layer3+4"
    """of balance-xor and 802.3ad: what chooses the link of a flow"""
    monitor: TimeNs = 10_000_000
    """how often the state of the links is looked at, whole ms"""

    @field_validator("monitor")
    @classmethod
    def _ms(cls, value: int) -> int:
        if value < 10**6 or value % 10**6:
            raise ValueError("expected whole milliseconds, at least 1ms")
        return value


class Macvlan(BaseModel):
    """A switch that is one interface, which hosts share by a macvlan device each."""

    model_config = STRICT

    uplink: str
    """the link of the switch that is the interface, by name; its others are wires to the hosts"""
    mode: Literal["bridge", "private"] = "bridge"
    """do the hosts reach each other?"""


class Forward(BaseModel):
    """A port of the outside that leads to a node inside."""

    model_config = STRICT

    port: Port
    """of the router's address outside"""
    to: str
    """the node inside"""
    to_port: Port | None = None
    """its port there (the same)"""
    protocol: Literal["tcp", "udp"] = "tcp"
    """TCP or UDP"""


def _links(value: object) -> object:
    return [value] if isinstance(value, str) else value


class Nat(BaseModel):
    """Packets that leave by a link outside have the router's address there, and a port of it.

    Connections that begin outside are dropped, but for ports that are forwarded. A mapping that no
    packet has used for its time-out is forgotten. Times are whole seconds.
    """

    model_config = STRICT

    outside: Annotated[list[str], BeforeValidator(_links), Field(min_length=1), Or(type="string")]
    """names of links of the router"""
    udp: TimeNs | None = None
    """time-out of UDP (30 s, and 120 s where both sides send)"""
    tcp: TimeNs | None = None
    """time-out of TCP connections (5 days)"""
    icmp: TimeNs | None = None
    """time-out of pings (30 s)"""
    ports: Annotated[list[Port], Field(min_length=2, max_length=2)] | None = None
    """the first and last port that TCP and UDP get outside (the one they have, if it is free)"""
    forward: list[Forward] = []
    """ports of the outside that lead inside"""

    @field_validator("udp", "tcp", "icmp")
    @classmethod
    def _seconds(cls, value: int | None) -> int | None:
        return _whole_seconds(value)

    @model_validator(mode="after")
    def _check(self) -> Nat:
        if self.ports is not None and self.ports[0] > self.ports[1]:
            raise ValueError("expected the first port, then the last")
        used = set()
        for n, one in enumerate(self.forward):
            if (one.protocol, one.port) in used:
                raise ValueError(f"forward.{n}: expected different ports, {one.port} is here twice")
            used.add((one.protocol, one.port))
        return self


def _nat(value: object) -> object:
    return {"outside": value} if isinstance(value, str | list) else value


class RouterSettings(HostSettings):
    """How a router's TCP and interfaces are set, and whether it translates addresses."""

    nat: Annotated[Nat | None, BeforeValidator(_nat), Or(type="string")] = None
    """the router translates addresses; the name of the link outside alone will do"""

    @model_serializer(mode="wrap")
    def _without_new_ones(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A key that is newer than the others, and not given, is in no digest."""
        data: dict[str, Any] = handler(self)
        new = ("nat", "setup")
        return {key: value for key, value in data.items() if key not in new or value is not None}
