# SPDX-License-Identifier: GPL-2.0
"""The endpoints of SCONE: what they send and believe, and the player that obeys."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aioquic.asyncio import client, serve
from aioquic.asyncio import server as server_library
from aioquic.h3.connection import H3_ALPN
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection, QuicConnectionError

from wale_lab.models import scone as draft
from wale_lab.results.result import problems
from wale_lab.runner import run_scenario
from wale_lab.scenario import find_scenario, load_scenario
from wale_lab.scenarios.quic import player, scone, server, video

NEXT = b"\x41ABCDEFGH" + bytes(20)


def test_a_packet_is_read() -> None:
    made = draft.packet(b"ABCDEFGH", b"IJKL", 21)
    assert scone.decode(made + NEXT) == (21, b"ABCDEFGH", b"IJKL", len(made))
    for length in range(len(made) + 1):
        assert scone.decode(made[:length]) is None
    assert scone.decode(bytes([made[0] & 0x7F]) + made[1:] + NEXT) is None  # a short header
    for at in range(1, 5):
        changed = bytearray(made + NEXT)
        changed[at] ^= 1
        assert scone.decode(bytes(changed)) is None  # another version


def test_advice_of_a_period() -> None:
    """The lowest counts; after a period without any there is none."""
    rates = [4e5, 1e5, 3e5, 8e5]
    expected = {"min": 1e5, "mean": 4e5, "p25": 1e5, "last": 8e5}
    for statistic in scone.STATISTICS:
        advice = scone.Advice(statistic)
        assert advice.rate(0) is None
        for second, rate in enumerate(rates):
            advice.heard(second, rate)
        assert advice.rate(3) == expected[statistic]
        assert advice.rate(3 + 66.9) == 8e5
        assert advice.rate(3 + 67) is None


def test_the_screen_counts_stalls() -> None:
    screen = player.Screen(10)
    screen.advance(11)
    screen.add(12)
    screen.advance(15)
    assert (screen.stalls, screen.buffer_s, screen.start_s) == (0, 1, 2)
    screen.advance(16)
    assert screen.stalls == 0
    screen.advance(17)
    screen.add(18)
    screen.advance(21)
    assert (screen.stalls, screen.stall_s, screen.played_s) == (1, 2, 7)


def watched(follow: player.Follow, measured: float, advised: float | None) -> player.Player:
    """It has got a segment of 150 kbit/s at a throughput."""
    made = player.Player(follow, lambda _now: advised, 0)
    made.arrived(player.LADDER[0], 0, 8 * player.size_of(player.LADDER[0]) / measured)
    return made


@pytest.mark.parametrize(
    ("follow", "measured", "advised", "chosen"),
    [
        ("measured", 1.2e6, 3e5, 900e3),  # 80 % of it
        ("measured", 1e3, 3e5, 150e3),  # the lowest there is
        ("advice", 1.2e6, 3e5, 250e3),
        ("advice", 1.2e6, 6e6, 5500e3),
        ("advice", 1.2e6, None, 900e3),
        ("both", 1.2e6, 6e6, 900e3),
        ("both", 1.2e6, 3e5, 250e3),
    ],
)
def test_the_choice(
    follow: player.Follow, measured: float, advised: float | None, chosen: float
) -> None:
    assert watched(follow, measured, advised).choose(2) == chosen


def test_requests_are_no_faster_than_advised() -> None:
    """It looks at the advice each second, so that a low one does not hold it back for long."""
    bits = 8 * player.size_of(player.LADDER[0])
    obeys = watched("both", 1e9, 3e5)
    assert obeys.wait_s(0.5) == 1
    assert obeys.wait_s(1.5) == pytest.approx(bits / 3e5 - 1.5)
    assert obeys.wait_s(bits / 3e5) == 0
    assert watched("measured", 1e9, 3e5).wait_s(0.5) == 0


@contextmanager
def extended(*modules: Any) -> Iterator[None]:
    """Modules of the library make connections with SCONE; afterwards as before."""
    for module in modules:
        scone.extend(module)
    yield
    for module in modules:
        vars(module)["QuicConnection"] = QuicConnection


class Element(asyncio.DatagramProtocol):
    """Between a client and its server; changes what the server sends, and keeps what passes."""

    def __init__(self, port: int, change: Callable[[bytes], list[bytes]]) -> None:
        self._server = ("127.0.0.1", port)
        self._change = change
        self._client: Any = None
        self.from_client: list[bytes] = []
        self.from_server: list[bytes] = []
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        if addr == self._server:
            self.from_server.append(data)
            for one in self._change(data):
                self.transport.sendto(one, self._client)
        else:
            self._client = addr
            self.from_client.append(data)
            self.transport.sendto(data, self._server)


async def fetch(
    folder: Path, change: Callable[[bytes], list[bytes]]
) -> tuple[Element, list[float]]:
    """10 kB through an element; what the client was advised."""
    certificate, key = server.make_certificate(folder)
    configuration = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN)
    configuration.load_cert_chain(certificate, key)
    serving = await serve(
        "127.0.0.1", 0, configuration=configuration, create_protocol=server.Server
    )
    port = serving._transport.get_extra_info("sockname")[1]
    loop = asyncio.get_running_loop()
    _, element = await loop.create_datagram_endpoint(
        lambda: Element(port, change), local_addr=("127.0.0.1", 0)
    )
    heard: list[float] = []
    advice = scone.Advice()
    advice.heard = lambda now, rate: heard.append(rate)  # type: ignore[method-assign]
    args = argparse.Namespace(
        host="127.0.0.1", port=element.transport.get_extra_info("sockname")[1]
    )
    async with over_quic(args, certificate, advice) as get:
        await get(10_000)
    element.transport.close()
    serving.close()
    return element, heard


def over_quic(args: argparse.Namespace, certificate: Path, advice: scone.Advice) -> Any:
    args.certificate = str(certificate)
    return video.over_quic(args, advice)


def lower(signal: int) -> Callable[[bytes], list[bytes]]:
    """An element that always tells the same."""

    def change(data: bytes) -> list[bytes]:
        return [draft.lower(data, signal)]

    return change


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificate is for the name server."""
    real = QuicConfiguration.load_verify_locations

    def named(self: QuicConfiguration, *args: Any) -> None:
        self.server_name = "server"
        real(self, *args)

    monkeypatch.setattr(QuicConfiguration, "load_verify_locations", named)


def test_advice_arrives(tmp_path: Path, quiet: None) -> None:
    with extended(client, server_library):
        element, heard = asyncio.run(fetch(tmp_path, lower(20)))
    packets = [packet for data in element.from_server if (packet := scone.decode(data))]
    assert len(packets) == len(heard) == 5  # of so many datagrams, whatever the interval is
    assert {packet.signal for packet in packets} == {draft.UNKNOWN}
    assert set(heard) == {1e6}
    first, *rest = element.from_client
    assert first.endswith(draft.INDICATION) and len(first) == 1202
    assert rest and not any(data.endswith(draft.INDICATION) for data in rest)
    for data in element.from_server:
        if packet := scone.decode(data):
            following = data[packet.length :]
            if following[0] & 0x80:  # its source is that of the packet behind it
                assert following[5:].startswith(data[5 : packet.length])
            else:
                assert not packet.source


def test_unknown_is_no_advice(tmp_path: Path, quiet: None) -> None:
    with extended(client, server_library):
        _, heard = asyncio.run(fetch(tmp_path, lower(127)))
    assert heard == []


def test_a_client_that_does_not_read_gets_none(
    tmp_path: Path, quiet: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with extended(server_library):
        monkeypatch.setattr(scone, "extend", lambda module: None)
        element, heard = asyncio.run(fetch(tmp_path, lower(20)))
    assert heard == []
    assert not any(scone.decode(data) for data in element.from_server)


def test_what_was_not_sent_by_the_server_is_no_advice(tmp_path: Path, quiet: None) -> None:
    """Before each datagram comes a forgery: other packets, or another connection's."""

    def forge(data: bytes) -> list[bytes]:
        packet = scone.decode(data)
        if not packet:
            return [data]
        rest = data[packet.length :]
        others = draft.packet(b"another!", packet.source, 3) + rest
        damaged = draft.packet(packet.destination, packet.source, 3) + rest[:-1] + b"x"
        return [others, damaged, data]

    with extended(client, server_library):
        _, heard = asyncio.run(fetch(tmp_path, forge))
    assert heard == []


def test_the_parameter_has_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QuicConnection, "_parse_transport_parameters", lambda *args: None)
    configuration = QuicConfiguration(is_client=True, alpn_protocols=H3_ALPN)
    connection = scone.Connection(configuration=configuration)
    connection.connect(("127.0.0.1", 1), now=0.0)
    said = connection._serialize_transport_parameters()
    assert said.endswith(b"\x61\x9e\x00")
    with pytest.raises(QuicConnectionError, match="scone_supported has 1 bytes, expected none"):
        connection._parse_transport_parameters(said[:-1] + b"\x01x")


@pytest.mark.guest
@pytest.mark.slow
def test_scenario(tmp_path: Path, not_on_san: Any) -> None:
    not_on_san("two programs in Python would take many minutes")
    results = []
    for out in (tmp_path / "first", tmp_path / "again"):
        results.append(run_scenario(load_scenario(find_scenario("scone")), 1, out))
        assert problems(results[-1]) == []
    assert results[0]["digest"] == results[1]["digest"]
    metrics = results[0]["flows"][1]["metrics"]
    assert metrics["advice"] > 30
    assert metrics["mean_kbit"] > 300
    assert metrics["stall_s"] < 10
