# SPDX-License-Identifier: GPL-2.0
"""make install and make uninstall, into a folder (DESTDIR)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
STOCK = sorted(Path("/usr/src").glob("linux-headers-*/include/generated/utsrelease.h"))


def test_install_and_uninstall(tmp_path: Path) -> None:
    """Everything lands where the system looks, and uninstall leaves nothing."""
    if not STOCK:
        pytest.skip("no packaged kernel headers are installed (linux-headers-*)")
    kernel = STOCK[-1].parents[2]
    words = [f"DESTDIR={tmp_path}", "PREFIX=/usr", f"KDIR={kernel}"]
    subprocess.run(["make", "-C", TOP, "install", *words], check=True, capture_output=True)
    names = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    modules = {"sch_wale.ko", "rate_feedback.ko", "tcp_ratcp.ko"}
    assert modules | {"q_wale.so", "wale", "wale.1", "tc-wale.8", "wale-serve@.service"} <= {
        name.removesuffix(".gz") for name in names
    }
    module = next(tmp_path.rglob("sch_wale.ko"))
    assert module.relative_to(tmp_path).parts[:2] == ("lib", "modules")
    unit = tmp_path / "usr/lib/systemd/system/wale-serve@.service"
    assert "\nExecStart=/usr/bin/wale serve " in unit.read_text()
    subprocess.run(["make", "-C", TOP, "uninstall", *words], check=True, capture_output=True)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
