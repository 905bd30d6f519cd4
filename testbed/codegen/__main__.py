# SPDX-License-Identifier: GPL-2.0
"""Write what follows from the contracts in Documentation/netlink/specs: `make generate`.

With --check nothing is written; the exit code is 1 if a file is not what it would be.
"""

from __future__ import annotations

import sys
from pathlib import Path

import documents
import module
import policies
import regions
import scenarios
import uapi
import userspace
from spec import TOP, Spec


def texts(spec: Spec, top: Path = TOP) -> dict[str, str]:
    """Each file that is generated, or has parts that are, as it should be."""
    partly = {uapi.PATH: uapi.parts(spec), **userspace.parts(spec), **documents.parts(spec)}
    partly |= policies.parts()
    whole = {made.PATH: made.render(spec) for made in (module, scenarios, userspace)}
    whole[policies.PATH] = policies.render()
    return whole | {
        name: regions.replace((top / name).read_text(encoding="utf-8"), parts)
        for name, parts in partly.items()
    }


def main() -> int:
    """Write the files, or compare them."""
    wrong = []
    for name, text in texts(Spec()).items():
        path = TOP / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if "--check" in sys.argv[1:]:
            wrong.append(name)
        else:
            path.write_text(text, encoding="utf-8")
            print(f"written: {name}")
    for name in wrong:
        print(f"{name} is not what `make generate` writes", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
