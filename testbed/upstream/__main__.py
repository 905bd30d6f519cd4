# SPDX-License-Identifier: GPL-2.0
"""The tree as patches for Linux: `make upstream`.

linux.yaml says what each patch has.  A patch brings whole files; headers that they include come
with the first patch that needs them.  Written is what `git am` takes, for the kernel line that
is asked for (default: the newest whose source is at hand).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fold import TOP
from series import Series
from wale_lab.engines.base import EngineError
from wale_lab.engines.kernel_build import cache_root
from wale_lab.engines.kernel_source import find, newest_at_hand


def main() -> int:
    parser = argparse.ArgumentParser(prog="testbed/upstream", description=__doc__)
    parser.add_argument("--kernel", help="line of the kernel, such as 7.2")
    parser.add_argument("--out", type=Path, default=TOP / "build/upstream")
    asked = parser.parse_args()
    try:
        source = None if asked.kernel else newest_at_hand(cache_root())
        source = source or find(asked.kernel, cache_root(), lambda said: print(said, flush=True))
        patches = Series(source, asked.out / "linux").write()
    except EngineError as error:
        print(f"upstream: {error}", file=sys.stderr)
        return 2
    for patch in patches:
        print(patch)
    return 0


if __name__ == "__main__":
    sys.exit(main())
