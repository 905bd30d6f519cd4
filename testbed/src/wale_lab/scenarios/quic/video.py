# SPDX-License-Identifier: GPL-2.0
"""Watches a film over QUIC or TCP, and says how that was: stalls, changes of the rate, bytes.

The server is scone_server.py, or tcp_server.py. Over QUIC the client reads SCONE packets, and may
obey them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

from aioquic.asyncio import client as library
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, QuicEvent

from . import player, scone

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

Fetch = Callable[[int], Awaitable[object]]


class Client(QuicConnectionProtocol):
    """A connection of HTTP/3 that gets one segment at a time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.http = H3Connection(self._quic)
        self.done: asyncio.Future[None] | None = None

    def get(self, host: str, size: int) -> asyncio.Future[None]:
        """Done when so many bytes have come."""
        stream = self._quic.get_next_available_stream_id()
        names = {":method": "GET", ":scheme": "https", ":authority": host, ":path": f"/{size}"}
        headers = [(name.encode(), value.encode()) for name, value in names.items()]
        self.done = asyncio.get_running_loop().create_future()
        self.http.send_headers(stream, headers, end_stream=True)
        self.transmit()
        return self.done

    def quic_event_received(self, event: QuicEvent) -> None:
        """The end of a segment, or of all."""
        waiting = self.done if self.done and not self.done.done() else None
        if waiting and isinstance(event, ConnectionTerminated):
            waiting.set_exception(ConnectionError(event.reason_phrase))
        for one in self.http.handle_event(event):
            if waiting and isinstance(one, DataReceived) and one.stream_ended:
                waiting.set_result(None)


@asynccontextmanager
async def over_quic(args: argparse.Namespace, advice: scone.Advice) -> AsyncIterator[Fetch]:
    """What gets a segment."""
    configuration = QuicConfiguration(alpn_protocols=H3_ALPN, idle_timeout=600)
    configuration.load_verify_locations(args.certificate)
    scone.Connection.receiver = staticmethod(advice.heard)
    scone.extend(library)
    async with library.connect(
        args.host, args.port, configuration=configuration, create_protocol=Client
    ) as connection:
        assert isinstance(connection, Client)
        yield lambda size: connection.get(args.host, size)


@asynccontextmanager
async def over_tcp(args: argparse.Namespace, _advice: scone.Advice) -> AsyncIterator[Fetch]:
    """The same over one connection of TCP."""
    reader, writer = await asyncio.open_connection(args.host, args.port)

    async def fetch(size: int) -> None:
        writer.write(b"%d\n" % size)
        await reader.readexactly(size)

    yield fetch
    writer.close()


def over(args: argparse.Namespace, advice: scone.Advice) -> AbstractAsyncContextManager[Fetch]:
    """The transport."""
    return (over_quic if args.certificate else over_tcp)(args, advice)


async def main(args: argparse.Namespace) -> None:
    """Watch."""
    clock = asyncio.get_running_loop().time
    advice = scone.Advice(args.statistic, args.period)
    async with over(args, advice) as fetch:
        watched = player.Player(args.follow, advice.rate, clock())
        end = await player.play(watched, fetch, args.seconds)
        print(json.dumps(watched.summary(end) | {"advice": advice.count}))


def arguments() -> argparse.Namespace:
    """Of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("seconds", type=float, help="how long to watch")
    parser.add_argument("--certificate", help="of the server: over QUIC; otherwise over TCP")
    parser.add_argument("--follow", choices=["measured", "advice", "both"], default="both")
    parser.add_argument("--statistic", choices=[*scone.STATISTICS], default="min")
    parser.add_argument("--period", type=float, default=scone.PERIOD_S, metavar="SECONDS")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main(arguments()))
