# SPDX-License-Identifier: GPL-2.0
"""The flavour san of the guest kernel: each kind of mistake makes a guest fail.

The mistakes are made by a module (mistakes/mistakes.c), one at a time, each in a guest
of its own: the kernel is silent after the first report of some kinds.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from wale_lab.engines import get_engine
from wale_lab.engines.base import Job, Kernel, Outcome
from wale_lab.engines.modules import build_folder

MISTAKES = {
    "read-beyond-slab": "BUG: KASAN: slab-out-of-bounds",
    "read-freed": "BUG: KASAN: (slab-)?use-after-free",
    "read-beyond-vmalloc": "BUG: KASAN: vmalloc-out-of-bounds",
    "read-beyond-global": "BUG: KASAN: global-out-of-bounds",
    "shift-too-far": "UBSAN: shift-out-of-bounds",
    "index-beyond-array": "UBSAN: array-index-out-of-bounds",
    "take-locks-in-both-orders": "WARNING: possible circular locking dependency detected",
    "leave-softirqs-on": "WARNING: inconsistent lock state",
    "use-lock-without-init": "INFO: trying to register non-static key",
    "sleep-with-spinlock": "BUG: sleeping function called from invalid context",
    "read-rcu-unprotected": "WARNING: suspicious RCU usage",
    "free-active-timer": "ODEBUG: free active",
    "count-from-zero": "refcount_t: addition on 0; use-after-free",
    "delete-twice": "list_del corruption",
    "keep-reference": "ref_tracker: (mistakes|leaked reference)",
    "forget-memory": "kmemleak: unreferenced object",
}

pytestmark = [pytest.mark.guest, pytest.mark.usefixtures("on_san")]


@pytest.fixture(scope="module")
def module(san_kernel: Kernel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """mistakes.ko for this kernel."""
    folder = tmp_path_factory.mktemp("mistakes")
    shutil.copytree(Path(__file__).with_name("mistakes"), folder, dirs_exist_ok=True)
    done = build_folder(san_kernel, folder, "W=1")
    assert (done.returncode, done.stdout) == (0, "")
    return folder / "mistakes.ko"


def load(san_kernel: Kernel, module: Path, name: str) -> Outcome:
    words = ["insmod", str(module), f"name={name}"]
    job = Job(argv=words, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, wall_limit_s=60)
    return get_engine("uml").run(san_kernel, job)


@pytest.mark.parametrize(("name", "report"), MISTAKES.items(), ids=MISTAKES)
def test_mistake_is_found(san_kernel: Kernel, module: Path, name: str, report: str) -> None:
    config = (san_kernel.tree / ".config").read_text()
    if name == "sleep-with-spinlock" and "CONFIG_DEBUG_ATOMIC_SLEEP=y" not in config:
        pytest.skip("DEBUG_ATOMIC_SLEEP is not for User-Mode Linux in this kernel")
    outcome = load(san_kernel, module, name)
    found = [line for line in outcome.complaints if re.search(report, line)]
    assert found, outcome.kernel_log[:2000]


def test_without_a_mistake_there_is_no_complaint(san_kernel: Kernel, module: Path) -> None:
    outcome = load(san_kernel, module, "none")
    assert (outcome.reason, outcome.complaints) == ("ok", [])


def test_every_mistake_is_tried() -> None:
    source = Path(__file__).with_name("mistakes") / "mistakes.c"
    named = [line.split('"')[1] for line in source.read_text().splitlines() if '\t{ "' in line]
    assert named == [*MISTAKES, "none"]
