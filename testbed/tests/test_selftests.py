# SPDX-License-Identifier: GPL-2.0
"""The selftests (selftests/run.sh), each in its guest: KUnit, behaviour, tc-testing, tools."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tap import run_cases, tap_cases

pytestmark = pytest.mark.guest

RUN = Path(__file__).resolve().parents[1] / "selftests" / "run.sh"
NAMES = subprocess.run([RUN, "-l"], capture_output=True, text=True, check=True).stdout.split()
LAB = RUN.parents[1] / "wale-lab"
NEED_SANITIZERS = {"truncation", "faults", "bounds-charge"}  # run.sh gives them such a kernel


TDC_CASE = {
    "id": "0001", "name": "a case", "category": ["qdisc"], "setup": ["/bin/true"],
    "cmdUnderTest": "/bin/true", "expExitCode": "0", "verifyCmd": "/bin/true",
    "matchPattern": "x", "matchCount": "0", "teardown": ["/bin/false"],
}  # fmt: skip


def test_a_case_of_tc_testing_that_cannot_be_torn_down_fails(tmp_path: Path) -> None:
    """And so do those behind it, which the kernel's runner calls skipped."""
    source = subprocess.run([RUN, "-t"], capture_output=True, text=True, check=True).stdout.strip()
    if not source:
        pytest.skip("no package linux-source is installed")
    folder = tmp_path / "kmod/wale/tests/tdc"
    folder.mkdir(parents=True)
    cases = [TDC_CASE, {**TDC_CASE, "id": "0002", "teardown": ["/bin/true"]}]
    (folder / "cases.json").write_text(json.dumps(cases))
    script = tmp_path / "testbed/selftests/tdc.sh"
    script.parent.mkdir(parents=True)
    shutil.copy(RUN.with_name("tdc.sh"), script)
    runner = RUN.parent.with_name("src") / "wale_lab/kselftest/tdc.sh"
    copy = tmp_path / "testbed/src/wale_lab/kselftest/tdc.sh"
    copy.parent.mkdir(parents=True)
    shutil.copy(runner, copy)
    words = [LAB, "exec", "--quiet", "--modules", "none", "--env", f"TDC_SOURCE={source}", "--"]
    done = subprocess.run([*words, "sh", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "1..2" in done.stdout.splitlines()
    assert [result for _, result, _ in tap_cases(done.stdout)] == ["not ok"] * 2, done.stdout


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.kunit) if n == "kunit" else n for n in NAMES]
)
def test_selftest(name: str, subtests: pytest.Subtests, request: pytest.FixtureRequest) -> None:
    """Each case of the selftest's TAP stream is a subtest."""
    if name in NEED_SANITIZERS:
        request.getfixturevalue("on_san")
    run_cases([str(RUN), name], subtests)
