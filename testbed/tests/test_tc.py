# SPDX-License-Identifier: GPL-2.0
"""The tc that shows the qdiscs of a namespace: it starts once, or ends after each look."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wale_lab.guest import processes, tc
from wale_lab.guest.processes import Processes
from wale_lab.guest.shared import AgentError
from wale_lab.guest.tc import Tc

#: Answers each line with how many there were, and fails at the third.
FAKE = """\
#!/bin/bash
echo started >>"$STARTS"
while read -r line; do
    [ $((++n)) -lt 3 ] || { echo 'Cannot talk to rtnetlink' >&2; exit 2; }
    printf '[{"kind":"wale","words":"%s",' "$line"
    printf '"n":%s}]\\n' "$n"
done
"""


@pytest.fixture
def starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tc of our own, which writes down here that it was started."""
    program, file = tmp_path / "tc", tmp_path / "starts"
    program.write_text(FAKE)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("STARTS", str(file))
    monkeypatch.setattr(processes, "WORK", str(tmp_path))
    monkeypatch.setattr(processes.Namespaces, "enter", lambda *_: None)
    return file


def test_one_start_for_all_looks(starts: Path) -> None:
    running = Processes()
    asked = Tc(running, ["here", "here"])
    assert asked.namespaces == ["here"]
    found = [asked.qdiscs("here") for _ in range(2)]
    assert found == [[{"kind": "wale", "words": "qdisc show", "n": n}] for n in (1, 2)]
    assert starts.read_text() == "started\n"
    with pytest.raises(AgentError, match="batch - in here failed: Cannot talk to rtnetlink"):
        asked.qdiscs("here")
    assert not running.children


def test_with_many_namespaces_none_is_kept(starts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tc, "_KEPT", 1)
    running = Processes()
    asked = Tc(running, ["one", "two"])
    assert [asked.qdiscs(name)[0]["n"] for name in ("one", "two", "one")] == [1, 1, 1]
    assert starts.read_text() == 3 * "started\n" and not running.children


def test_a_tc_that_was_killed(starts: Path) -> None:
    running = Processes()
    asked = Tc(running, ["here"])
    asked.qdiscs("here")
    (pid,) = running.children
    os.kill(pid, 9)
    with pytest.raises(AgentError, match="in here failed"):
        asked.qdiscs("here")
    assert starts.read_text() == "started\n"


def test_a_script_may_fail_in_a_batch_of_its_own() -> None:
    error = processes.failed(["sh"], None, "Command failed -:3", [{"setup": "tc -batch ..."}])
    assert error.of["setup"] == "tc -batch ..."
