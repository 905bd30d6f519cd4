# SPDX-License-Identifier: GPL-2.0
"""What checkpatch.pl of a kernel says of a patch of the series."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

#: Not asked for: names such as struct Qdisc are the kernel's own; MAINTAINERS is changed by the
#: first patch of each part; tables of a network namespace point to its values.
_IGNORED = ("CAMELCASE", "FILE_PATH_CHANGES", "CONST_STRUCT")

#: The tables of tests are generated; events of tracing look like nothing else in C.
_TABLES = re.compile(r"^\S*/tests/vectors/")
_EVENTS = re.compile(
    r"^\S*_trace\.h:.*(Alignment should match open parenthesis|Lines should not end with a '\(')"
)

#: Not asked for in a program, which has the types, functions and attributes of the C library, and
#: whose lines clang-format breaks.
OF_PROGRAMS = (
    *("PREFER_KERNEL_TYPES", "NEW_TYPEDEFS", "STRCPY", "ARRAY_SIZE"),
    *("PREFER_DEFINED_ATTRIBUTE_MACRO", "OPEN_ENDED_LINE", "LONG_LINE", "SPLIT_STRING"),
)

OPTIONS = ("--no-tree", "--strict", "--terse", "--showfile", "--no-summary")


def findings(script: Path, patch: Path, *ignored: str) -> list[str]:
    """Its complaints; [] for a patch that has none."""
    command = [
        "perl",
        str(script),
        *OPTIONS,
        f"--ignore={','.join([*_IGNORED, *ignored])}",
        str(patch),
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=patch.parent)
    for cache in patch.parent.glob(".checkpatch-camelcase*"):
        cache.unlink()
    lines = done.stdout.splitlines()
    return [line for line in lines if line and not _TABLES.match(line) and not _EVENTS.match(line)]
