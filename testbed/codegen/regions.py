# SPDX-License-Identifier: GPL-2.0
"""Files of which a part is generated: what is between two lines that say so."""

from __future__ import annotations

import re

#: The line before a generated part, and that behind it, within any kind of comment.
_REGION = re.compile(r"^(?P<begin>[^\n]*\bgenerated: (?P<name>[\w-]+)\b[^\n]*\n)"
                     r"(?P<inside>.*?)(?P<end>^[^\n]*\bgenerated: end\b)", re.M | re.S)  # fmt: skip


def replace(text: str, parts: dict[str, str]) -> str:
    """The text with these parts between their lines; KeyError for a part that has no lines."""
    left = dict(parts)

    def inside(match: re.Match[str]) -> str:
        return match["begin"] + left.pop(match["name"]) + match["end"]

    result = _REGION.sub(inside, text)
    if left:
        raise KeyError(f"no line 'generated: {next(iter(left))}'")
    return result
