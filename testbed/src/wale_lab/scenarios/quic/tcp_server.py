# SPDX-License-Identifier: GPL-2.0
"""A server of bytes over TCP: a line with a number gets so many.

tcp_server.py PORT CONGESTION
"""

import asyncio
import socket
import sys


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Each line of a connection."""
    try:
        while line := await reader.readline():
            writer.write(bytes(int(line)))
            await writer.drain()
    except ConnectionError:
        pass  # it has seen enough
    finally:
        writer.close()


async def main(port: int, congestion: str) -> None:
    """Serve until the end."""
    listener = socket.create_server(("", port))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    async with await asyncio.start_server(answer, sock=listener) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
