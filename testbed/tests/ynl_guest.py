# SPDX-License-Identifier: GPL-2.0
"""Requests through the kernel's own netlink library, inside a guest (test_ynl.py starts it).

ynl_guest.py YNL SPEC OUT REQUESTS [--process-unknown]: REQUESTS is a JSON list of [operation,
attributes]; an operation that begins with "dump " is a dump, one that begins with "create "
must make something new, and "send" sends {"packets": N, "bytes": LENGTH} to itself, of IP, over
lo.  Writes to OUT, for each request, the answer or {"error": number, "message": text}.
"""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path

NLM_F_CREATE_EXCL = [0x400, 0x200]
HEADERS = 28  # of IP and UDP


def send(packets: int, length: int) -> None:
    """Send datagrams over lo, and take them."""
    with (
        socket.socket(type=socket.SOCK_DGRAM) as receiver,
        socket.socket(type=socket.SOCK_DGRAM) as s,
    ):
        receiver.bind(("127.0.0.1", 0))
        for _ in range(packets):
            s.sendto(bytes(length - HEADERS), receiver.getsockname())
        for _ in range(packets):
            receiver.recv(length)


def main() -> None:
    folder, spec, out, requests, *more = sys.argv[1:]
    sys.path.insert(0, folder)
    from lib import NlError, YnlFamily  # of the kernel tree

    family = YnlFamily(spec, schema="", process_unknown="--process-unknown" in more)
    results = []
    for operation, attributes in json.loads(requests):
        try:
            if operation == "send":
                results.append(send(attributes["packets"], attributes["bytes"]))
            elif operation.startswith("dump "):
                results.append(family.dump(operation.removeprefix("dump "), attributes))
            elif operation.startswith("create "):
                name = operation.removeprefix("create ")
                results.append(family.do(name, attributes, flags=NLM_F_CREATE_EXCL))
            else:
                results.append(family.do(operation, attributes))
        except NlError as error:
            said = error.nl_msg.extack or {}
            results.append({"error": error.error, "message": said.get("msg", "")})
    Path(out).write_text(json.dumps(results, default=bytes.hex))


if __name__ == "__main__":
    main()
