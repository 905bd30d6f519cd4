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


def offered(*words: str, device: str = "eth0") -> set[str]:
    """What bash offers for the last of these words, where there is this device."""
    script = """
        source "$1"; device=$2; shift 2
        _wale_interfaces() { printf '%s\\n' "$device"; }
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
        _wale wale "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    command = ["bash", "-c", script, "bash", COMPLETION, device, "wale", *words]
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


def test_words_of_scone() -> None:
    assert offered("scone", "") == {"dev", "show", "del", "listen", "--help"}
    assert offered("scone", "dev", "") == {"eth0"}
    assert offered("scone", "dev", "eth0", "") == {"rate", "path", "share", "period"}
    assert offered("scone", "dev", "eth0", "share", "") == {"eth0"}
    assert offered("scone", "show", "") == {"dev", "--json"}
    assert offered("scone", "del", "") == {"dev"}
    assert {"dev", "share", "--show", "--json", "--quiet"} <= offered("scone", "listen", "")
    assert offered("scone", "listen", "dev", "") == {"eth0"}


def test_values() -> None:
    assert "rem" in offered("link", "add", "eth0", "--policy", "")
    assert offered("link", "add", "eth0", "--loss", "ge") == {"gemodel"}


def test_names_of_devices_are_text() -> None:
    """A device can have the name of a command: it is offered, quoted, and not run."""
    assert offered("link", "add", "eth") == {"eth0"}
    assert offered("link", "add", "", device="$(id)*'") == {r"\$\(id\)\*\'"}
