# SPDX-License-Identifier: GPL-2.0
"""Pages of the documentation as pages of Documentation/networking."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_ROLE = re.compile(r":(doc|ref):`(?:([^`<]+?) <)?([^`<>]+)>?`")
_LABEL = re.compile(r"^\.\. _([^:]+):", re.M)
_HEADER = re.compile(r"^(\.\. literalinclude:: )\.\./kmod/", re.M)


def labels_of(pages: Iterable[Path]) -> set[str]:
    """The labels that these pages define."""
    return {label for page in pages for label in _LABEL.findall(page.read_text(encoding="utf-8"))}


def render(page: Path, with_pages: Iterable[Path]) -> str:
    """A page whose references lead to the pages that come with it; others are plain words."""
    there = list(with_pages)
    names = {one.stem for one in there}
    labels = labels_of(there)

    def role(match: re.Match[str]) -> str:
        kind, words, target = match.groups()
        if target in (names if kind == "doc" else labels):
            return match[0]
        return words or f"*{target.rpartition('/')[2]}*"

    text = _ROLE.sub(role, page.read_text(encoding="utf-8"))
    text = _HEADER.sub(r"\1../../", text)
    return re.sub(r"^\.\. generated: .*\n\n?", "", text, flags=re.M)
