#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Requests that are cut at each byte: refused, or done as far as they go.

Each request is cut three ways: the length in its header is that of what is left; or it
is as before; or the lengths of the attributes that were cut are right as well.  What the
kernel accepts must have the effect of a whole request with the attributes that came
whole; what it refuses, or does not answer, must have none.

Topology: lib/pair.py.
"""

from __future__ import annotations

import errno
import functools
import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

from wale_lab.selftest import netlink, rate, wale
from wale_lab.selftest.every import rest
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.tap import equal, main, true

HEADER, TCMSG, GENL = 16, 20, 4
SHARED: dict[str, Any] = {
    "rate": 10**6,
    "delay": 5 * MS,
    "limit_packets": 77,
    "loss": 1 << 20,
    "overhead": 1,
    "drops": 1,
    "seed": 7,
    "sessions": {"arrival": 1 << 30, "mean": 3 << 32, "max": 9, "step": MS},
    "feedback": {"idle": 1000 * MS},
    "scone": {"of": 1, "period": 1000 * MS, "average": 9},
}
TRACED: dict[str, Any] = {
    "trace": [(MS, 10**5, 5, 7, 9), (2 * MS, 10**6, MS, 1, 1), (3 * MS, 10**4, 0, 0, 8)],
    "trace_columns": 15,
    "trace_end": 1,
    "down_drops": 1,
    "limit_bytes": 100_000,
    "delay": 6 * MS,
    "feedback": {},
    "gemodel": {"p": 1 << 28, "r": 1 << 29, "bad": 1 << 30, "good": 1 << 20},
    "ecn": 1,
    "jitter": {"time": 5, "table": [1, -2, 3], "name": "three", "reordering": 1},
    "reorder": 1 << 28,
    "gap": 5,
    "duplicate": 1 << 27,
    "corrupt": 1 << 26,
    "drop": [(0, 5, 6), (0, 9, 9)],
    "slot": {"min": 5, "max": MS, "packets": 7, "bytes": 9},
    "slack": 10_000,
}
STATES: dict[str, Any] = {
    "rate": 10**6,
    "seed": 7,
    "gso": 1,
    "state": {"p13": 1 << 28, "p31": 1 << 29, "p32": 1 << 30, "p23": 1 << 27, "p14": 1 << 26},
}
POLICIES: tuple[dict[str, Any], ...] = (
    {"policy": 3, "threshold_share": 5 * 10**5, "z": 6 * 10**5, "mark": 1, "flows": 5, "seed": 7},
    {"policy": 4, "last": 9, "line_bytes": 10**6, "seed": 7},
    {
        "policy": 5,
        "rem": {"interval": 2 * MS, "gamma": 5, "alpha": 6, "target": 7, "phi": 2 * 10**6},
    },
    {"overhead": 2, "limit_cells": 99, "input_rate": 10**6, "flows": 5, "seed": 7},
)
#: What is new in the contract is cut as well.
REST: dict[str, Any] = {
    "flows": 5,
    "seed": 7,
    "scone": {"rate": 10**6, "period": 10**9},
    **rest(SHARED, TRACED, STATES, *POLICIES),
}
BASE: dict[str, Any] = {"rate": 10**4, "delay": MS, "limit_packets": 9, "seed": 3}
FLOW = {"saddr": "10.0.0.1", "daddr": "10.0.0.2", "sport": 1000, "dport": 5001}
VALUES = {
    "rate": 10**6,
    "meaning": "link",
    "age_limit": 10**9,
    "lag": "fixed",
    "lag_time": 5,
    "beta": 7,
    "rise": "additive",
    "pace": 1,
    "base_rtt": 10**7,
    "layer": "atm",
    "swing": 50,
    "phi": 2 * 10**6,
}


def answer(sock: netlink.Socket, message: bytes) -> int | None:
    """Send bytes; return the error, 0 for none, None for no answer."""
    sock.socket.send(message)
    result: int | None = None
    while True:
        try:
            data = sock.socket.recv(1 << 17, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return result
        while data:
            length, kind = struct.unpack_from("IH", data)
            if kind == netlink.NLMSG_ERROR:
                result = -struct.unpack_from("i", data, HEADER)[0]
            elif result is None:
                result = 0
            data = data[(length + 3) & ~3 :]


def with_length(message: bytes) -> bytes:
    """Return a message with the length that it has."""
    return struct.pack("I", len(message)) + message[4:] if len(message) >= 4 else message


def mended(data: bytes) -> bytes:
    """Return attributes of which the last may be cut, each with the length that it has."""
    result = b""
    while len(data) >= 4:
        length, number = struct.unpack_from("HH", data)
        payload = data[4:length]
        if number & netlink.NLA_F_NESTED:
            payload = mended(payload)
        result += struct.pack("HH", len(payload) + 4, number) + payload
        result += b"\0" * (-len(payload) % 4 if len(data) > length else 0)
        data = data[(length + 3) & ~3 :]
    return result + data


def whole(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the attributes that are all there."""
    while len(data) >= 4:
        length, number = struct.unpack_from("HH", data)
        if not 4 <= length <= len(data):
            return
        yield number & netlink.NLA_TYPE_MASK, data[4:length]
        data = data[(length + 3) & ~3 :]


def cuts(message: bytes, fixed: int) -> Iterator[tuple[str, bytes]]:
    """Yield a message cut at each byte, each way; its attributes begin at `fixed`."""
    for length in range(1, len(message)):
        part = message[:length]
        yield f"at {length}, length as before", part
        yield f"at {length}", with_length(part)
        if length > fixed:
            yield f"at {length}, mended", with_length(part[:fixed] + mended(part[fixed:]))
    yield "whole", message


class Requests:
    """A request, in all its cuts, beside the whole requests that should do the same."""

    def __init__(
        self,
        sock: netlink.Socket,
        reset: Callable[[], Any],
        state: Callable[[], Any],
        same: Callable[[bytes], Any],
    ) -> None:
        self.sock, self.reset, self.state, self.same = sock, reset, state, same
        self.accepted = self.refused = self.silent = 0

    def effect_of_same(self, message: bytes) -> Any:
        """Do what the message still says by a whole request; return what there is then."""
        self.reset()
        try:
            self.same(message)
        except netlink.Refused as error:
            return f"refused: {error}"
        return self.state()

    def cut(self, message: bytes, fixed: int) -> None:
        """Send it, cut at each byte."""
        effects: dict[bytes, Any] = {}
        self.reset()
        before = self.state()
        for how, part in cuts(message, fixed):
            self.reset()
            error = answer(self.sock, part)
            found = self.state()
            if error == 0:
                self.accepted += 1
                if part not in effects:
                    effects[part] = self.effect_of_same(part)
                equal(found, effects[part], f"accepted, {how}")
            else:
                equal(found, before, f"error {errno.errorcode.get(error or 0)}, {how}")
                self.refused += error is not None
                self.silent += error is None
        equal(error, 0, "the whole request")

    def check(self) -> None:
        """Each of them must have happened."""
        true(self.accepted > 1, f"{self.accepted} accepted")
        true(self.refused > 10, f"{self.refused} refused")
        true(self.silent > 10, f"{self.silent} without an answer")


def link_message(sock: netlink.Socket, dev: int, flags: int, options: dict[str, Any]) -> bytes:
    """Return RTM_NEWQDISC."""
    body = struct.pack("=B3xiIII", 0, dev, 0x10000, wale.TC_H_ROOT, 0)
    body += netlink.attribute(wale.TCA_KIND, b"wale\0")
    body += netlink.attribute(wale.TCA_OPTIONS | netlink.NLA_F_NESTED, wale.encode(options))
    return sock.pack(wale.RTM_NEWQDISC, netlink.NLM_F_ACK | flags, body)


def link_values(message: bytes) -> tuple[bool, dict[str, Any] | None]:
    """Return whether a cut message names wale, and the options that are all there."""
    found = dict(whole(message[HEADER + TCMSG :]))
    named = found.get(wale.TCA_KIND, b"").rstrip(b"\0") == b"wale"
    options = found.get(wale.TCA_OPTIONS)
    return named, None if options is None else wale.decode(options)


def links(pair: Pair) -> list[dict[str, Any]]:
    """Return the options of the wale links of a0; a seed that was drawn is any."""
    found = [q.options for q in pair.control.list(pair.dev) if q.kind == "wale"]
    for options in found:
        if options["seed"] not in (BASE["seed"], SHARED["seed"]):
            options["seed"] = "drawn"
    return found


def cut_links(flags: int, reset: Callable[[Pair], None]) -> None:
    """Cut requests for links, with these flags."""
    pair = Pair()
    with pair.a.entered():
        sock = netlink.Socket(netlink.NETLINK_ROUTE)

    def same(message: bytes) -> None:
        named, options = link_values(message)
        if named if flags else options is not None:  # or else it says nothing
            pair.control.add(pair.dev, options or {}, flags=flags)

    for options in (SHARED, TRACED, STATES, REST, *POLICIES):
        requests = Requests(sock, lambda: reset(pair), functools.partial(links, pair), same)
        requests.cut(link_message(sock, pair.dev, flags, options), HEADER + TCMSG)
        requests.check()
    pair.close()


def no_link(pair: Pair) -> None:
    """Have no link."""
    if links(pair):
        pair.delete()


def old_link(pair: Pair) -> None:
    """Have a link as it was, with nothing of what the request gives it."""
    no_link(pair)
    pair.add(**BASE)


def test_new_links() -> None:
    """A link is made from what is whole of a request, or not."""
    cut_links(netlink.NLM_F_CREATE | netlink.NLM_F_EXCL, no_link)


def test_changed_links() -> None:
    """A link is changed by what is whole of a request, or stays as it is."""
    cut_links(0, old_link)


def paths(channel: rate.Channel) -> list[dict[str, Any]]:
    """Return the paths, but for their age and number."""
    hidden = ("age", "id", "time")
    return [{k: v for k, v in path.items() if k not in hidden} for path in channel.paths()]


def cut_paths(commands: dict[int, list[dict[str, Any]]], flags: int = netlink.NLM_F_ACK) -> None:
    """Cut requests about paths: for each command, those with these values."""
    pair = Pair()
    channel, raw = rate.channel(pair.a), rate.channel(pair.a)
    there: list[dict[str, Any]] = [FLOW, {"daddr": "10.0.0.0", "prefix_len": 8}, {"ifindex": 1}]

    def reset() -> None:
        channel.delete()
        for key in there:
            channel.set(**key, rate=5)

    for command, wanted in commands.items():

        def same(message: bytes, command: int = command) -> None:
            payload = message[HEADER + GENL :]
            equal(
                [n for n, _ in netlink.attributes(payload)],
                [n for n, _ in whole(payload)],
                "attributes",
            )
            channel.request(command, payload)

        requests = Requests(raw, reset, functools.partial(paths, channel), same)
        for values in wanted:
            body = struct.pack("BBH", command, 1, 0) + rate.encode(values)
            requests.cut(raw.pack(raw.id, flags, body), HEADER + GENL)
        true(requests.accepted >= len(wanted), f"command {command}: too few accepted")
        true(requests.refused > 10, f"command {command}: too few refused")
        true(requests.silent > 10, f"command {command}: too few without an answer")
    channel.close()
    raw.close()
    pair.close()


def test_paths() -> None:
    """Paths are set, got and deleted by what is whole of a request, or not."""
    prefix = {"daddr": "fd00::", "prefix_len": 16}
    mapped = {"daddr": "::ffff:10.0.0.9"}
    keys: list[dict[str, Any]] = [FLOW, prefix, mapped, {"ifindex": 1}]
    cut_paths(
        {
            rate.SET: [*({**key, **VALUES} for key in keys), {**prefix, "follow": {"ifindex": 1}}],
            rate.DEL: [FLOW, {"daddr": "10.0.0.0", "prefix_len": 8}, {"ifindex": 1}],
            rate.GET: [FLOW, {"daddr": "10.0.0.0", "prefix_len": 8}, {"ifindex": 1}],
        }
    )


def test_dumps() -> None:
    """A dump says something of the paths, or that it was not understood; no more."""
    pair = Pair()
    channel, raw = rate.channel(pair.a), rate.channel(pair.a)
    channel.set(**FLOW, rate=5)
    before = paths(channel)
    for command, payload in (
        (rate.GET, b""),
        (rate.FLOW_GET, rate.encode({"path": 1}, rate.FLOW)),
        (rate.GET, rate.encode(FLOW)),
    ):
        body = struct.pack("BBH", command, 1, 0) + payload
        for _, part in cuts(raw.pack(raw.id, netlink.NLM_F_DUMP, body), HEADER + GENL):
            answer(raw, part)
            equal(paths(channel), before, "paths")
    channel.close()
    raw.close()
    pair.close()


if __name__ == "__main__":
    main()
