# SPDX-License-Identifier: GPL-2.0
"""An HTTP/3 client on aioquic: gets bytes once, and says how many and how fast.

    client.py HOST PORT BYTES CERTIFICATE FOLDER

FOLDER gets its qlog.
"""

import asyncio
import json
import sys
import time
from typing import Any

from aioquic.asyncio.client import connect
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, QuicEvent
from aioquic.quic.logger import QuicFileLogger


class Client(QuicConnectionProtocol):
    """The connection, with one request."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.http = H3Connection(self._quic)
        self.count = 0
        self.done = asyncio.get_running_loop().create_future()

    def get(self, host: str, path: str) -> asyncio.Future[int]:
        """How many bytes come, when all have."""
        stream = self._quic.get_next_available_stream_id()
        names = {":method": "GET", ":scheme": "https", ":authority": host, ":path": path}
        headers = [(name.encode(), value.encode()) for name, value in names.items()]
        self.http.send_headers(stream, headers, end_stream=True)
        self.transmit()
        return self.done

    def quic_event_received(self, event: QuicEvent) -> None:
        """Count what comes."""
        if isinstance(event, ConnectionTerminated) and not self.done.done():
            self.done.set_exception(ConnectionError(event.reason_phrase))
        for one in self.http.handle_event(event):
            if isinstance(one, DataReceived):
                self.count += len(one.data)
                if one.stream_ended and not self.done.done():
                    self.done.set_result(self.count)


async def main(host: str, port: int, size: int, certificate: str, folder: str) -> None:
    """Get them."""
    configuration = QuicConfiguration(alpn_protocols=H3_ALPN, quic_logger=QuicFileLogger(folder))
    configuration.load_verify_locations(certificate)
    async with connect(
        host, port, configuration=configuration, create_protocol=Client
    ) as connection:
        assert isinstance(connection, Client)
        began = time.monotonic()
        count = await connection.get(host, f"/{size}")
        took = time.monotonic() - began
    print(json.dumps({"bytes": count, "seconds": took, "mbit": count * 8e-6 / took}))
    if count != size:
        sys.exit(f"expected {size} bytes, got {count}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:6]))
