# SPDX-License-Identifier: GPL-2.0
"""Where the package is, and the sources of modules and tools that go with it.

In a checkout they are the checkout's; a wheel has a copy of them inside the package.
"""

from __future__ import annotations

from pathlib import Path

#: Scenarios, profiles, papers: data beside the code.
PACKAGE = Path(__file__).resolve().parent

#: What goes onto the path of modules of a Python that runs a file of the package.
IMPORTS = PACKAGE.parent


def _sources() -> Path:
    checkout = PACKAGE.parents[2]
    return checkout if (checkout / "kmod").is_dir() else PACKAGE / "sources"


#: kmod/, tcp_ratcp/ and what builds them.
SOURCES = _sources()

#: The program that starts wale-lab in an environment with all that it needs.
LAUNCHER = SOURCES / "testbed" / "wale-lab"


def guest_program(script: Path) -> list[str]:
    """How a guest runs a program of the package: by its own Python, which has no other packages."""
    python = ["/usr/bin/python3", "-P", "-s", "-S"]
    return ["/usr/bin/env", f"PYTHONPATH={IMPORTS}", *python, str(script)]
