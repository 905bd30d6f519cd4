# SPDX-License-Identifier: GPL-2.0
"""The tree has one version, and all that is built from it tells the same one."""

from __future__ import annotations

import re
import subprocess

import pytest

from conftest import TESTBED
from wale_lab.engines import get_engine
from wale_lab.engines.modules import find_modules, find_userspace
from wale_lab.tree import SOURCES, version


def said(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_the_commands() -> None:
    assert said(str(TESTBED / "wale-lab"), "--version") == f"wale-lab {version()}\n"
    programs = find_userspace(print)["PATH"].split(":")[0]
    for word in ("--version", "-V", "version"):
        assert said(f"{programs}/wale", word) == f"wale {version()}\n"


@pytest.mark.guest
def test_the_modules() -> None:
    kernel = get_engine("uml").prepare(None, print)
    modules = find_modules(kernel, ["rate_feedback", "sch_wale", "tcp_ratcp"], print)
    assert len(modules) == 3
    for module in modules:
        assert said("/sbin/modinfo", "-F", "version", str(module)) == f"{version()}\n", module


def test_the_changelog() -> None:
    """It has a section for this version, below the one of what comes next."""
    text = (SOURCES / "CHANGELOG.md").read_text("utf-8")
    sections = re.findall(r"^## \[(.*)\](?: - \d{4}-\d\d-\d\d)?$", text, re.M)
    assert sections[:2] == ["Unreleased", version()]
