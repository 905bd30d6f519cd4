# SPDX-License-Identifier: GPL-2.0
"""How Sphinx builds this documentation; `make -C Documentation html` does it."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent

# Our directives, and the package that they describe.
sys.path[:0] = [str(HERE / "sphinx"), str(TOP / "testbed/src")]
sys.dont_write_bytecode = True

from wale_lab.engines.base import RELEASED  # noqa: E402
from wale_lab.models import scone  # noqa: E402

project = "WALE"
author = "WALE maintainers"
project_copyright = author

extensions = ["testbed_reference", "netlink_spec"]
exclude_patterns = ["sphinx"]

rst_prolog = f"""
.. |released| replace:: {RELEASED:%Y-%m-%d}
.. |SCONE draft| replace:: ``{scone.DRAFT}``
"""

primary_domain = "c"
highlight_language = "none"

# What looks like a reference and leads nowhere is an error, with -W.
nitpicky = True

html_theme = "alabaster"
html_theme_options = {
    "description": "A wide-area link as a qdisc, and the real Linux TCP on it",
    "page_width": "74rem",
    "body_max_width": "none",
    "sidebar_width": "15rem",
    "fixed_sidebar": True,
}
html_copy_source = False
html_show_copyright = False
smartquotes = False
