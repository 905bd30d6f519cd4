# SPDX-License-Identifier: GPL-2.0
"""The HTTP/3 server that sends SCONE packets to clients that read them.

    scone_server.py PORT FOLDER SECONDS

FOLDER gets its certificate; SECONDS is the time from one SCONE packet to the next.
"""

import asyncio
import sys
from pathlib import Path

from aioquic.asyncio import server as library

from . import scone, server

if __name__ == "__main__":
    scone.Connection.interval_s = float(sys.argv[3])
    scone.extend(library)
    asyncio.run(server.main(int(sys.argv[1]), Path(sys.argv[2]), logger=None))
