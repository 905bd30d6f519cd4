# SPDX-License-Identifier: GPL-2.0
"""What the tests in this folder share.

They run as root where sch_wale is loaded, such as in a guest, each a program
that prints TAP.  The command and the plugin are those of the build, or $WALE
and $TC_LIB_DIR.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from wale_lab.selftest import net

TOP = Path(__file__).resolve().parents[3]

WALE = os.environ.get("WALE") or str(TOP / "build/userspace/wale/wale")
os.environ.setdefault("TC_LIB_DIR", str(TOP / "build/userspace/tc"))


def call(
    ns: net.Namespace, *words: str, text: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in a namespace, with this text on its standard input."""
    command = ["ip", "netns", "exec", ns.name, *words]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def done(ns: net.Namespace, *words: str) -> str:
    """Run a command that must succeed; return what it prints."""
    result = call(ns, *words)
    if result.returncode:
        raise AssertionError(f"{' '.join(words)}: {result.returncode}: {result.stderr.strip()}")
    return result.stdout


def refused(ns: net.Namespace, *words: str, status: int = 1) -> str:
    """Run a command that must fail with this status; return what it says."""
    result = call(ns, *words)
    if result.returncode != status:
        raise AssertionError(f"{' '.join(words)}: {result.returncode}, not {status}")
    return result.stderr


def whole(text: str) -> int:
    """Read a whole number as jq 1.6 does, into a double; it must not be rounded."""
    if int(float(text)) != int(text) or abs(int(text)) >= 2**53:
        raise AssertionError(f"{text} is not a string: a double would not be this number alone")
    return int(text)


def as_json(ns: net.Namespace, *words: str) -> Any:
    """Run a command; return the JSON that it prints."""
    return json.loads(done(ns, *words), parse_int=whole)
