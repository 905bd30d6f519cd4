# SPDX-License-Identifier: GPL-2.0
"""The host engine: what it refuses, the modules it loads, and what it leaves behind."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from wale_lab.engines import coverage, get_engine, host, kernel_build
from wale_lab.engines.base import EngineError, Job
from wale_lab.engines.modules import find_modules, find_userspace

LAB = Path(__file__).resolve().parents[1] / "wale-lab"


def test_host_engine_says_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WALE_KERNEL", raising=False)  # of make check KERNELS="..."
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(EngineError, match="needs root"):
        get_engine("host").prepare(None, print)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(EngineError, match="runs this machine's kernel"):
        get_engine("host").prepare("1.0", print)
    if not Path("/proc/modules").exists():
        with pytest.raises(EngineError, match="no loadable modules"):
            get_engine("host").prepare(None, print)


def test_runs_on_the_host_share_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last of several runs unloads what they loaded, and nothing else."""
    there, calls = ["mine"], list[str]()

    def command(words: list[str | Path], **_: Any) -> subprocess.CompletedProcess[str]:
        name = Path(words[1]).stem
        calls.append(f"{words[0]} {name}")
        there.append(name) if words[0] == "insmod" else there.remove(name)
        return subprocess.CompletedProcess([], 0, "", "")

    monkeypatch.setattr(host, "LOADED_BY_US", tmp_path / "loaded")
    monkeypatch.setattr(host, "_is_loaded", lambda name: name in there)
    monkeypatch.setattr(host, "_refuse_another", lambda *_: None)
    monkeypatch.setattr(subprocess, "run", command)
    jobs = [Job(argv=[], modules=[Path(f"{n}.ko") for n in names]) for names in ("a", "ab")]
    with ExitStack() as second:
        with host._modules_loaded(jobs[0]):
            second.enter_context(host._modules_loaded(jobs[1]))
        assert there == ["mine", "a", "b"]
    assert calls == ["insmod a", "insmod b", "rmmod b", "rmmod a"]
    with host._modules_loaded(Job(argv=[], modules=[Path("mine.ko")])):
        pass
    assert there == ["mine"]


def test_module_that_is_loaded_already(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It must be the one that was asked for, if the kernel can tell."""
    monkeypatch.setattr(host, "LOADED", tmp_path)
    file, note = tmp_path / "some.ko", tmp_path / "some/notes/.note.gnu.build-id"
    file.write_bytes(b"ELF GNU\0one ...")
    host._refuse_another("some", file)
    note.parent.mkdir(parents=True)
    note.write_bytes(b"GNU\0one")
    host._refuse_another("some", file)
    note.write_bytes(b"GNU\0two")
    with pytest.raises(EngineError, match=r"some that is loaded is not .*some.ko: unload it first"):
        host._refuse_another("some", file)


@pytest.mark.guest
def test_host_engine_inside_a_guest(tmp_path: Path) -> None:
    """A guest is a machine that takes modules: the host engine runs in it, and cleans up.

    Of logs of packets, there are that of a run that was killed, and that of one that goes on.
    """
    kernel = get_engine("uml").prepare(None, print)
    if coverage.counts(kernel):
        pytest.skip("counters of make coverage go to folders that are not writable here")
    find_modules(kernel, ["sch_wale"], print)
    find_userspace(print)
    changes = [
        "time=real",
        "flows.cubic.duration=1s",
        "flows.reno.duration=1s",
        "flows.reno.start=0",
    ]
    sets = " ".join(f"--set {change}" for change in changes)
    logs = "/sys/kernel/tracing/instances/wale-packets-"
    script = (
        "mount -t tracefs tracefs /sys/kernel/tracing; set -e; "
        f"mkdir {logs}1 {logs}2; exec 3<{logs}2/per_cpu/cpu0/trace_pipe_raw; "
        f"{shlex.quote(str(LAB))} run shared --engine host {sets} --packets csv --quiet "
        "--out /run/wale/out/r; "
        'test -z "$(ip netns)"; ! grep -q wale /proc/modules; '
        f'test "$(echo {logs}*)" = {logs}2'
    )
    cache = kernel_build.cache_root().parent
    command = [LAB, "exec", "--quiet", "--real", "--memory", "1024", "--modules", "none"]
    command += ["--out", tmp_path, "--env", f"XDG_CACHE_HOME={cache}", "--env", "WALE_NO_BUILD=1"]
    command += ["--wall-limit", "300", "--", "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((tmp_path / "r" / "result.json").read_text())
    assert (result["engine"], result["kernel"]) == ("host", kernel.release)
    assert [flow["completed"] for flow in result["flows"]] == [True, True]
    offered = sum(link["offered_packets"] for link in result["links"])
    assert result["packets"]["rows"] == offered
    assert len((tmp_path / "r/packets.csv").read_text().splitlines()) == 1 + offered
