# SPDX-License-Identifier: GPL-2.0
"""A server of bytes over TCP: a line with a number gets so many.

tcp_server.py PORT
"""

import asyncio
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


async def main(port: int) -> None:
    """Serve until the end."""
    async with await asyncio.start_server(answer, port=port) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
