# SPDX-License-Identifier: GPL-2.0
"""The tree as patches for Linux and for iproute2: `make upstream`.

linux.yaml and iproute2.yaml say what each patch has: whole files.  Written is what `git am` takes,
for the kernel line that is asked for (default: the newest whose source is at hand), and for the
newest iproute2 of Debian.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import iproute2
from commands import show
from fold import TOP
from linux import LinuxSeries
from wale_lab.engines.base import EngineError
from wale_lab.engines.kernel_build import cache_root, find_source
from wale_lab.engines.kernel_source import newest_at_hand


def main() -> int:
    parser = argparse.ArgumentParser(prog="testbed/upstream", description=__doc__)
    parser.add_argument("--kernel", help="line of the kernel, such as 7.2")
    parser.add_argument("--out", type=Path, default=TOP / "build/upstream")
    asked = parser.parse_args()
    try:
        source = None if asked.kernel else newest_at_hand(cache_root())
        source = source or find_source(asked.kernel, show)
        patches = LinuxSeries(source, asked.out / "linux").write()
        tools = iproute2.find(cache_root(), show)
        patches += iproute2.Iproute2Series(tools, asked.out / "iproute2").write()
    except EngineError as error:
        print(f"upstream: {error}", file=sys.stderr)
        return 2
    for patch in patches:
        print(patch)
    return 0


if __name__ == "__main__":
    sys.exit(main())
