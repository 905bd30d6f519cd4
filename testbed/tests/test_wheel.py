# SPDX-License-Identifier: GPL-2.0
"""The wheel: what is in it, and that an environment with nothing else runs a scenario."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from conftest import TESTBED
from wale_lab.engines import kernel_build, modules
from wale_lab.engines.base import EngineError
from wale_lab.tree import version

TOP = TESTBED.parent

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder]
    subprocess.run([*pip, TOP], check=True)
    (built,) = folder.glob("*.whl")
    return built


def test_it_has_what_make_install_installs(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([TESTBED / "setup/install-lab", "install", "/usr", tmp_path], check=True)
    root = tmp_path / "usr/share/wale-lab/testbed/src"
    installed = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        modes = {name: archive.getinfo(name).external_attr >> 16 & 0o111 for name in names}
    assert names == installed
    assert {n for n in names if modes[n]} == {n for n in names if os.access(root / n, os.X_OK)}
    assert not [name for name in names if "/tests/" in name]


@pytest.mark.guest
def test_a_fresh_environment_runs_the_demo(wheel: Path, tmp_path: Path) -> None:
    """Modules and tools are built in the cache; the result is that of the checkout."""
    subprocess.run(["/usr/bin/python3", "-m", "venv", tmp_path / "venv"], check=True)
    programs = tmp_path / "venv/bin"
    subprocess.run([programs / "pip", "install", "--quiet", wheel], check=True)
    cache = tmp_path / "cache/wale"
    cache.mkdir(parents=True)
    for name in ("kernel", "source"):  # not built again
        (cache / name).symlink_to(kernel_build.cache_root() / name)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "WALE_NO"))}
    env["XDG_CACHE_HOME"] = str(cache.parent)

    def lab(*words: str | Path, program: Path = programs / "wale-lab") -> str:
        done = subprocess.run(
            [program, *words], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert lab("--version") == f"wale-lab {version()}\n"
    assert "demo  (virtual time; flows: reno, cubic, bbr)" in lab("list")
    words = ["run", "demo", "--json", "--quiet", "--out"]
    run = json.loads(lab(*words, tmp_path / "out"))
    (build,) = cache.glob("build-*")
    assert (build / "userspace/wale/wale").exists()
    assert run["versions"]["tree"] == f"installed, wale {version()}"
    here = json.loads(lab(*words, tmp_path / "here", program=TESTBED / "wale-lab"))
    assert run["digest"] == here["digest"]
    script = "import wale_lab; r = wale_lab.run('demo'); print(r.digest, len(r.flows), r.plot())"
    assert lab("-c", script, program=programs / "python").split()[:2] == [run["digest"], "3"]


def test_what_is_missing_to_build_the_tools_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modules.shutil, "which", lambda _: None)
    with pytest.raises(EngineError) as refused:
        modules._need_libraries()
    assert str(refused.value).startswith(
        "to build tc's plugin and wale, install: sudo apt-get install gcc make pkg-config libnl-3"
    )
