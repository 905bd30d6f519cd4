# SPDX-License-Identifier: GPL-2.0
"""Requests through the kernel's own netlink library, inside a guest (test_ynl.py starts it).

ynl_guest.py YNL SPEC OUT REQUESTS: the last is a JSON list of [operation,
attributes]; an operation that begins with "dump " is a dump.  Writes to OUT, for each
request, the answer or {"error": number, "message": text}.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    folder, spec, out, requests = sys.argv[1:]
    sys.path.insert(0, folder)
    from lib import NlError, YnlFamily  # of the kernel tree

    family = YnlFamily(spec, schema="")
    results = []
    for operation, attributes in json.loads(requests):
        try:
            if operation.startswith("dump "):
                results.append(family.dump(operation.removeprefix("dump "), attributes))
            else:
                results.append(family.do(operation, attributes))
        except NlError as error:
            said = error.nl_msg.extack or {}
            results.append({"error": error.error, "message": said.get("msg", "")})
    Path(out).write_text(json.dumps(results, default=bytes.hex))


if __name__ == "__main__":
    main()
