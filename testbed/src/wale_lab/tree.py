# SPDX-License-Identifier: GPL-2.0
"""Where the package is, the sources of modules and tools that go with it, and their version.

In a checkout they are the checkout's; an installed package has a copy of them inside.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

#: Scenarios, profiles, papers: data beside the code.
PACKAGE = Path(__file__).resolve().parent

#: What goes onto the path of modules of a Python that runs a file of the package.
IMPORTS = PACKAGE.parent


IN_CHECKOUT = not (PACKAGE / "sources").is_dir()

#: kmod/, tcp_ratcp/, userspace/ and what builds them.
SOURCES = PACKAGE.parents[2] if IN_CHECKOUT else PACKAGE / "sources"

_PROGRAM = IMPORTS.parent / "wale-lab"

#: What starts wale-lab with all the packages that it needs: a program, unless pip installed them.
LAUNCHER = [str(_PROGRAM)] if _PROGRAM.exists() else [sys.executable, "-m", "wale_lab"]

#: Where the program wale is that `make install` put there with this package.
INSTALLED_PROGRAMS = None if IN_CHECKOUT or not _PROGRAM.exists() else IMPORTS.parents[3] / "bin"


def version() -> str:
    """The version of the tree: of modules, tools and package."""
    found = re.search(r"^VERSION := (\S+)$", (SOURCES / "Makefile").read_text("utf-8"), re.M)
    assert found is not None
    return found[1]


def guest_program(script: Path) -> list[str]:
    """How a guest runs a program of the package: by its own Python, which has no other packages."""
    python = ["/usr/bin/python3", "-P", "-s", "-S"]
    return ["/usr/bin/env", f"PYTHONPATH={IMPORTS}", *python, str(script)]
