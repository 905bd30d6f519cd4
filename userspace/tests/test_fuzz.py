# SPDX-License-Identifier: GPL-2.0
"""The fuzz targets (userspace/fuzz): what broke something once, and some inputs at random.

With the sanitizers; the seed is fixed, so that every run is the same.  `make fuzz` goes on
from there.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
FUZZ = TOP / "userspace/fuzz"
PROGRAMS = TOP / "build/userspace/fuzz"
TARGETS = sorted(path.stem.removeprefix("fuzz_") for path in FUZZ.glob("fuzz_*.c"))

#: Some seconds each.
RUNS = 10_000

#: Run a command as a child of a small process: libFuzzer bounds the peak of its memory, and Linux
#: counts in that what its parent had when it began, in a long run of tests more than the bound.
IN_CHILD = ["sh", "-c", '"$@"; exit $?', "sh"]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the targets; return their folder."""
    if not shutil.which("clang"):
        pytest.skip("clang is missing: no fuzz targets")
    nothing = tmp_path_factory.mktemp("probe") / "nothing.c"
    nothing.write_text("int LLVMFuzzerTestOneInput(void) { return 0; }\n")
    probe = ["clang", "-fsanitize=fuzzer", "-o", nothing.with_suffix(""), nothing]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("clang has no libFuzzer (package libclang-rt-14-dev): no fuzz targets")
    if subprocess.run(["pkg-config", "--exists", "yajl"], check=False).returncode:
        pytest.skip("yajl is missing (package libyajl-dev): no fuzz targets")
    command = ["make", "--no-print-directory", "-C", str(FUZZ)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return PROGRAMS


def known(target: str) -> list[str]:
    """Words that give a target its dictionary, seeds and regressions, as far as it has them."""
    dictionary = FUZZ / "dict" / f"{target}.dict"
    folders = [FUZZ / "seeds" / target, FUZZ / "regressions" / target]
    return [
        *([f"-dict={dictionary}"] if dictionary.exists() else []),
        *(str(folder) for folder in folders if folder.is_dir()),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_target(programs: Path, target: str, tmp_path: Path) -> None:
    found = tmp_path / "found"
    found.mkdir()
    command = [*IN_CHILD, str(programs / target), "-seed=1", f"-runs={RUNS}", "-max_len=4096"]
    command += ["-timeout=60", f"-artifact_prefix={tmp_path}/", str(found), *known(target)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stderr[-8000:]


def test_folders_are_of_targets() -> None:
    """A seed or a regression of a target that is not there would never run."""
    folders = {path.name for name in ("seeds", "regressions") for path in (FUZZ / name).iterdir()}
    dictionaries = {path.stem for path in (FUZZ / "dict").iterdir()}
    assert folders | dictionaries <= set(TARGETS)
