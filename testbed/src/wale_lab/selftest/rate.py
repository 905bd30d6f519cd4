# SPDX-License-Identifier: GPL-2.0
"""A client of the channel (rate_feedback), and senders that listen to it.

It is written from Documentation/netlink/specs/rate_feedback.yaml; the numbers of the
attributes follow from their order there.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import resource
import socket
import struct
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wale_lab.netlink import NLA_F_NESTED, Family, Message, Refused, attribute, attributes
from wale_lab.selftest import net
from wale_lab.selftest.pair import Pair
from wale_lab.selftest.tap import Skip, equal
from wale_lab.tree import SOURCES

FAMILY = "rate_feedback"
SET, DEL, GET, FLOW_GET = 1, 2, 3, 4
PATH_NTF, PATH_DEL_NTF, FLOW_NTF, FLOW_DEL_NTF = 5, 6, 7, 8
UNLIMITED = (1 << 64) - 1
S = 10**9

MEANING = {"share": 0, "link": 1, "weight": 2}
LAG = {"now": 0, "rtt": 1, "fixed": 2}
RISE = {"fast": 0, "additive": 1}
LAYER = {"ip": 0, "ethernet": 1, "atm": 2, "payload": 3}
PHASE = {"reno": 0, "slow-start": 1, "avoidance": 2, "inactive": 3, "recovery": 4}
ENUMS: dict[str, dict[str, int]] = {
    "meaning": MEANING,
    "lag": LAG,
    "rise": RISE,
    "layer": LAYER,
    "phase": PHASE,
}

Table = dict[str, tuple[int, str]]


def table(text: str) -> Table:
    """Return {name: (number, format)} of attributes given in the order of the specification."""
    pairs = [word.split(":") for word in text.split()]
    return {name: (number, form) for number, (name, form) in enumerate(pairs, start=1)}


PATH = table(
    "ifindex:I saddr:addr daddr:addr prefix_len:I sport:port dport:port rate:Q meaning:enum time:Q"
    " age_limit:Q lag:enum lag_time:Q beta:I rise:enum pace:I base_rtt:Q layer:enum follow:follow"
    " id:I flows:I listeners:I publisher:I age:Q updates:Q swing:I phi:I"
)
FOLLOW = table("netns_fd:I ifindex:I")
FLOW = table(
    "id:I saddr:addr daddr:addr sport:port dport:port ifindex:I uid:I path:I congestion:string"
    " phase:enum rate:Q base_rtt:Q rate_window:I cwnd:I in_flight:I packet_size:I mss:I"
    " bytes_acked:Q lost_advice:Q found_advice:Q price:Q"
)
KEYS = ("ifindex", "saddr", "daddr", "prefix_len", "sport", "dport")


def _address(text: str) -> bytes:
    return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)


def encode(values: Mapping[str, Any], names: Table = PATH) -> bytes:
    """Return attributes for named values; bytes are sent as they are."""
    result = b""
    for name, value in values.items():
        number, form = names[name]
        if isinstance(value, bytes):
            payload = value
        elif form == "addr":
            payload = _address(value)
        elif form == "port":
            payload = struct.pack("!H", value)
        elif form == "enum":
            payload = struct.pack("I", ENUMS[name].get(value, value))
        elif form == "follow":
            number, payload = number | NLA_F_NESTED, encode(value, FOLLOW)
        else:
            payload = struct.pack(form, value)
        result += attribute(number, payload)
    return result


def decode(payload: bytes, names: Table = PATH) -> dict[str, Any]:
    """Return named values of attributes; an unknown one is an error."""
    known = {number: (name, form) for name, (number, form) in names.items()}
    result: dict[str, Any] = {}
    for number, data in attributes(payload):
        name, form = known[number]
        equal(name in result, False, f"{name} comes twice")
        if form == "addr":
            family = socket.AF_INET if len(data) == 4 else socket.AF_INET6
            result[name] = socket.inet_ntop(family, data)
        elif form == "port":
            result[name] = struct.unpack("!H", data)[0]
        elif form == "enum":
            value = struct.unpack("I", data)[0]
            result[name] = {v: k for k, v in ENUMS[name].items()}[value]
        elif form == "string":
            result[name] = data.rstrip(b"\0").decode()
        elif form == "follow":
            result[name] = decode(data, FOLLOW)
        else:
            result[name] = struct.unpack(form, data)[0]
    return result


class Channel(Family):
    """The channel of the network namespace in which it is made."""

    def __init__(self, receive: int = 1 << 21) -> None:
        super().__init__(FAMILY, receive=receive)

    def set(self, **values: Any) -> None:
        """Create or change a path."""
        self.request(SET, encode(values))

    def delete(self, **key: Any) -> None:
        """Delete a path, or all."""
        self.request(DEL, encode(key))

    def get(self, **key: Any) -> dict[str, Any]:
        """Return one path."""
        answers = self.request(GET, encode(key))
        equal(len(answers), 1, "answers to get")
        equal(answers[0].command, GET, "command of the answer")
        return decode(answers[0].payload)

    def paths(self) -> list[dict[str, Any]]:
        """Return all paths."""
        return [decode(m.payload) for m in self.dump(GET)]

    def flows(self, path: int | None = None) -> list[dict[str, Any]]:
        """Return the sockets that listen."""
        payload = b"" if path is None else encode({"path": path}, FLOW)
        return [decode(m.payload, FLOW) for m in self.dump(FLOW_GET, payload)]

    def flow(self, sport: int) -> dict[str, Any]:
        """Return the socket with this local port."""
        found = [flow for flow in self.flows() if flow["sport"] == sport]
        equal(len(found), 1, f"sockets with port {sport} that listen")
        return found[0]

    def news(self) -> list[tuple[int, dict[str, Any]]]:
        """Return the events since the last call, as (command, values)."""
        return [(m.command, self.understand(m)) for m in self.events()]

    @staticmethod
    def understand(message: Message) -> dict[str, Any]:
        """Return the values of an event or answer."""
        is_flow = message.command in (FLOW_GET, FLOW_NTF, FLOW_DEL_NTF)
        return decode(message.payload, FLOW if is_flow else PATH)


def channel(ns: net.Namespace | None = None, receive: int = 1 << 21) -> Channel:
    """Return the channel of a namespace."""
    if ns is None:
        return Channel(receive)
    with ns.entered():
        return Channel(receive)


def refused(expected: int, text: str, action: Any, *words: Any, **values: Any) -> None:
    """Fail unless the kernel refuses with this error and this message."""
    try:
        action(*words, **values)
    except Refused as error:
        what = f"of {values or words}"
        equal(os.strerror(error.errno or 0), os.strerror(expected), f"error {what}: {error}")
        if text not in error.message:
            raise AssertionError(f"{what}: {error.message!r} does not say {text!r}") from None
        return
    raise AssertionError(f"{words or ''} {values} was accepted")


def time_ns() -> int:
    """Return CLOCK_MONOTONIC, the time of the channel."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def module(name: str) -> str:
    """Return the path of a module for this kernel."""
    release = os.uname().release
    root = SOURCES / "build" / "modules"
    for folder in (f"{release}-um", release):
        for path in (root / folder).rglob(f"{name}.ko"):
            return str(path)
    raise Skip(f"no {name}.ko for {release}")


def loaded(name: str) -> bool:
    """Is a module there?  Also if another one, or a part of the kernel, needed it."""
    return Path("/sys/module", name).exists()


def load(name: str) -> None:
    """Load a module, if it is not there."""
    if not loaded(name):
        net.run(f"insmod {module(name)}")


class Trace:
    """The tracepoint ratcp:ratcp_window, and others, while it is entered."""

    def __init__(self, *others: str, size_kb: int = 32768) -> None:
        self.events = ("ratcp/ratcp_window", *others)
        net.write(f"{net.TRACING}/tracing_on", "0")
        net.write(f"{net.TRACING}/buffer_size_kb", str(size_kb))
        self.text = ""

    def __enter__(self) -> Trace:
        net.write(f"{net.TRACING}/trace", "")
        for event in self.events:
            net.write(f"{net.TRACING}/events/{event}/enable", "1")
        net.write(f"{net.TRACING}/tracing_on", "1")
        return self

    def __exit__(self, *_: object) -> None:
        net.write(f"{net.TRACING}/tracing_on", "0")
        for event in self.events:
            net.write(f"{net.TRACING}/events/{event}/enable", "0")
        self.text = net.read(f"{net.TRACING}/trace")

    def records(self, event: str = "ratcp_window") -> Iterator[dict[str, Any]]:
        """Yield the fields of each event, numbers as such."""
        for line in self.text.splitlines():
            head, found, rest = line.partition(f" {event}: ")
            if found:
                fields = dict(word.split("=", 1) for word in rest.split() if "=" in word)
                record: dict[str, Any] = {
                    k: int(v) if re.fullmatch(r"-?\d+", v) else v for k, v in fields.items()
                }
                record["stamp"] = head.split()[-1].rstrip(":")
                yield record

    def windows(self, sport: int) -> list[dict[str, Any]]:
        """Return the window of the sender with this port at each ACK."""
        return [r for r in self.records() if r["sport"] == sport]


def congestion_of(sock: socket.socket) -> str:
    """Return a socket's congestion control."""
    name = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    return name.partition(b"\0")[0].decode()


class Sender:
    """A TCP connection from a to b whose sender always has something to send.

    The data waits in the sender's buffer, and the receiver's application reads it
    in step(), so a test needs no other process, and time passes only there.  With
    buffer 0, the stack sizes the buffers.
    """

    def __init__(
        self,
        pair: Pair,
        congestion: str | None = "ratcp",
        port: int = 5001,
        family: int = socket.AF_INET,
        addresses: tuple[str, str] = ("10.0.0.1", "10.0.0.2"),
        connect: bool = True,
        buffer: int = 1 << 24,
    ) -> None:
        # A buffer must not bring a small guest under TCP memory pressure, in which 6.1
        # keeps the receive window below 64 kB.
        net.write("/proc/sys/net/ipv4/tcp_mem", "262144 262144 262144")
        with pair.b.entered():
            self.listener = socket.socket(family)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if buffer:
            self.listener.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, buffer)
        self.listener.bind((addresses[1], port))
        self.listener.listen(16)
        with pair.a.entered():
            self.socket = socket.socket(family)
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, buffer)
        self.socket.bind((addresses[0], 0))
        if congestion:
            self.use(congestion)
        self.sport = self.socket.getsockname()[1]
        self.there = (addresses[1], port)
        self.peer: socket.socket | None = None
        self.received = 0
        self.chunk = bytes(1 << 16)
        if connect:
            self.connect()

    def connect(self) -> None:
        """Connect."""
        self.socket.connect(self.there)
        self.socket.setblocking(False)
        self.peer, _ = self.listener.accept()
        self.peer.setblocking(False)

    def use(self, congestion: str) -> None:
        """Choose the congestion control."""
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())

    def congestion(self) -> str:
        """Return which one it is."""
        return congestion_of(self.socket)

    def fill(self) -> None:
        """Fill the sender's buffer."""
        with contextlib.suppress(BlockingIOError):
            while True:
                self.socket.send(self.chunk)

    def drain(self) -> None:
        """Read what has arrived."""
        assert self.peer
        with contextlib.suppress(BlockingIOError):
            while data := self.peer.recv(1 << 20):
                self.received += len(data)

    def step(self, seconds: float) -> None:
        """Send for this long."""
        step([self], seconds)

    def info(self) -> tuple[int, ...]:
        """Return the first words of struct tcp_info, as (state, ca_state, u32 ...)."""
        data = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        return struct.unpack_from("BB6x24I", data)

    @property
    def cwnd(self) -> int:
        """The congestion window, packets."""
        return self.info()[2 + 18]

    def close(self) -> None:
        """Close both ends at once, with RST."""
        for sock in (self.socket, self.peer, self.listener):
            if sock:
                with contextlib.suppress(OSError):
                    linger = struct.pack("ii", 1, 0)
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                sock.close()


SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33


def step(senders: list[Sender], seconds: float, grain: float = 0.5) -> None:
    """Let all of them send for this long."""
    left = seconds
    while left > 1e-9:
        for sender in senders:
            sender.fill()
        net.sleep_ns(int(min(left, grain) * S))
        left -= grain
        for sender in senders:
            sender.drain()


def slow_link(pair: Pair, rate: int = 10**5, delay_ms: int = 50, **more: Any) -> None:
    """Put a link on a's device: rate in bytes/s, room for any window in these tests."""
    pair.add(rate=rate, delay=delay_ms * 10**6, **{"limit_packets": 100_000, "seed": 1, **more})


def prepare(pair: Pair, **sysctls: str) -> None:
    """Set sysctls (dots as __) of IPv4 in both namespaces."""
    values = {"tcp_no_metrics_save": "1", **sysctls}
    for ns in (pair.a, pair.b):
        with ns.entered():
            for name, value in values.items():
                net.write(f"/proc/sys/net/ipv4/{name}", value)


V6 = ("fd00::1", "fd00::2")


def ipv6(pair: Pair) -> None:
    """Give both ends an IPv6 address."""
    macs = ("02:00:00:00:00:01", "02:00:00:00:00:02")
    for end, (ns, dev) in enumerate(((pair.a, "a0"), (pair.b, "b0"))):
        with ns.entered():
            net.write(f"/proc/sys/net/ipv6/conf/{dev}/disable_ipv6", "0")
        there = 1 - end
        net.ip_batch(
            [
                f"addr add {V6[end]}/64 dev {dev} nodad",
                f"neigh replace {V6[there]} lladdr {macs[there]} dev {dev}",
            ],
            ns,
        )


class Crowd:
    """Many connections from a to b, over the bare veth or a link."""

    def __init__(self, pair: Pair, count: int, port: int = 5001) -> None:
        limit = (4 * count + 1000, 4 * count + 1000)
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
        with pair.b.entered():
            self.listener = socket.create_server(("10.0.0.2", port), backlog=4096)
        self.pairs: list[tuple[socket.socket, socket.socket]] = []
        with pair.a.entered():
            net.write("/proc/sys/net/ipv4/ip_local_port_range", "1024 65001")
            for _ in range(count):
                sock = socket.socket()
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"ratcp")
                sock.connect(("10.0.0.2", port))
                sock.setblocking(False)
                peer, _ = self.listener.accept()
                self.pairs.append((sock, peer))

    def ports(self) -> list[int]:
        """Return the ports of the senders."""
        return [sock.getsockname()[1] for sock, _ in self.pairs]

    def send_each(self, size: int = 100) -> None:
        """Let each of them send a little, and wait for it."""
        data = bytes(size)
        for sock, _ in self.pairs:
            sock.send(data)
        for _, peer in self.pairs:
            left = size
            while left:
                left -= len(peer.recv(left))
        net.sleep_ns(S // 5)  # delayed ACKs

    def close(self) -> None:
        """Close all at once, with RST."""
        linger = struct.pack("ii", 1, 0)
        for ends in self.pairs:
            for sock in ends:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                sock.close()
        self.listener.close()


def disconnect(sock: socket.socket) -> None:
    """Disconnect (AF_UNSPEC): the socket can be used again."""
    libc = ctypes.CDLL(None, use_errno=True)
    nothing = struct.pack("H14x", socket.AF_UNSPEC)
    if libc.connect(sock.fileno(), nothing, len(nothing)):
        raise OSError(ctypes.get_errno(), "disconnect")
