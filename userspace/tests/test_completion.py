# SPDX-License-Identifier: GPL-2.0
"""Completion by bash: it offers the options that the help of a command lists."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
COMPLETION = TOP / "userspace" / "completion" / "wale.bash"
WALE = TOP / "build" / "userspace" / "wale" / "wale"


def offered(*words: str) -> set[str]:
    """What bash offers for the last of these words."""
    script = """
        source "$1"; shift
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
        _wale wale "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    command = ["bash", "-c", script, "bash", COMPLETION, "wale", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "words", ["link add eth0", "watch", "serve", "send", "receive", "get"], ids=str
)
def test_options_of_the_help(words: str) -> None:
    verb = words.split()[:2] if words.startswith("link") else words.split()
    help_text = subprocess.run(
        [WALE, *verb, "--help"], capture_output=True, text=True, check=True
    ).stdout
    listed = " ".join(re.findall(r"^ +-.*", help_text, re.MULTILINE))
    options = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", listed)) - {"--help"}
    assert options
    assert options - offered(*words.split(), "--") == set()


def test_values() -> None:
    assert "rem" in offered("link", "add", "eth0", "--policy", "")
    assert offered("link", "add", "eth0", "--loss", "ge") == {"gemodel"}
