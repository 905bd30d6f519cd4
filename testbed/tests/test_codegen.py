# SPDX-License-Identifier: GPL-2.0
"""What follows from the contract of the qdisc is as `make generate` writes it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from wale_lab.tree import SOURCES

pytestmark = pytest.mark.lint

#: What each file would be with another contract: how often it has the name of an option.
SCRIPT = """
import runpy, sys
from pathlib import Path
sys.path.insert(0, "testbed/codegen")
made = runpy.run_path("testbed/codegen/__main__.py", run_name="generate")
for name, text in made["texts"](made["Spec"](Path(sys.argv[1]))).items():
    print(name, text.lower().count("linger"))
"""


def test_generated_files_are_current() -> None:
    done = subprocess.run(
        [sys.executable, "testbed/codegen", "--check"],
        cwd=SOURCES,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_plain_option_is_written_everywhere(tmp_path: Path) -> None:
    """One that the contract gets needs no other place: neither numbers, nor words, nor pages."""
    contract = yaml.safe_load(
        (SOURCES / "Documentation/netlink/specs/sch_wale.yaml").read_text(encoding="utf-8")
    )
    options = next(one for one in contract["attribute-sets"] if one["name"] == "options")
    text = {"word": "linger", "form": "time", "default": 0, "text": "Packets linger, as guests."}
    options["attributes"].append(
        {"name": "linger", "type": "u32", "checks": {"max": 5000000}, "option": text}
    )
    changed = tmp_path / "sch_wale.yaml"
    changed.write_text(yaml.safe_dump(contract, sort_keys=False), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, changed],
        cwd=SOURCES,
        capture_output=True,
        text=True,
        check=True,
    )
    named = dict(line.split() for line in done.stdout.splitlines())
    assert len(named) >= 9
    without = [name for name, times in named.items() if times == "0"]
    others = ["kmod/rate_feedback/rate_policy.c", "kmod/rate_feedback/rate_netlink.h"]
    nests = "userspace/lib/link_options.h"  # of which the names of nests are made
    assert sorted(without) == sorted([*others, nests])
