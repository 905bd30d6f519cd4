# SPDX-License-Identifier: GPL-2.0
"""Fuzzing of the modules' interfaces: 50,000 messages in the kernel with sanitizers.

`make fuzz-kernel` sends many more.  What a message once broke is in testbed/src/wale_lab/fuzz/cases and is
sent first.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from wale_lab.fuzz import mutate, values
from wale_lab.fuzz.__main__ import SPECIFICATIONS
from wale_lab.fuzz.grammar import Grammar
from wale_lab.fuzz.wire import walk
from wale_lab.netlink import numbers_of
from wale_lab.tree import PACKAGE, SOURCES

HEADER = SOURCES / "kmod/include/uapi/linux/pkt_sched_wale.h"
MESSAGES = 50_000


def grammar(name: str) -> Grammar:
    return Grammar(yaml.safe_load(SPECIFICATIONS[name].read_text()))


def fuzz(out: Path, *words: str | int, limit_s: int = 1800) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "wale_lab.fuzz", "--out", out, *words]
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        check=False,
        timeout=limit_s,
        cwd=SOURCES,
    )


@pytest.mark.guest
@pytest.mark.usefixtures("on_san")
def test_messages(tmp_path: Path, san_version: str) -> None:
    done = fuzz(tmp_path, "--messages", MESSAGES, "--kernel", san_version)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kmemleak scans 1" in done.stdout


@pytest.mark.guest
def test_a_seed_is_repeated(tmp_path: Path) -> None:
    """The same messages are sent, and have the same fate."""
    said = []
    for run in ("one", "two"):
        done = fuzz(tmp_path / run, "--seed", 7, "--from", 10_000, "--count", 1000, "--kernel", "")
        assert done.returncode == 0, done.stdout + done.stderr
        said.append(done.stdout.partition("fuzz: ")[0])
        said.append((tmp_path / run / "last.json").read_text())
    assert said[:2] == said[2:]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--from", 60_000, "--messages", 50_000], "expected --messages above --from 60000"),
        (["--from", 60_000, "--count", 0], "expected --messages above --from 60000"),
        (["--case", "no-such-file"], "there is no such file"),
    ],
)
def test_nothing_to_send(words: list[str | int], said: str, tmp_path: Path) -> None:
    done = fuzz(tmp_path, *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_case_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "last.json").write_text("mine")
    done = fuzz(tmp_path, "--case", str(tmp_path / "last.json"), "--messages", 0)
    assert done.returncode == 2
    assert "expected another --out" in done.stderr
    assert (tmp_path / "last.json").read_text() == "mine"


@pytest.mark.guest
def test_what_is_wrong_is_found(tmp_path: Path) -> None:
    """A specification that promises less than the module accepts."""
    spec = yaml.safe_load(SPECIFICATIONS["sch_wale"].read_text())
    for attribute in spec["attribute-sets"][0]["attributes"]:
        if attribute["name"] == "delay64":
            attribute["checks"]["max"] = 0
    changed = tmp_path / "sch_wale.yaml"
    changed.write_text(yaml.safe_dump(spec))
    done = fuzz(tmp_path, "--messages", 2000, "--kernel", "", "--sch-wale", changed)
    assert done.returncode == 1
    assert "FINDING delay64 is shown out of its range" in done.stdout


def enumeration(prefix: str) -> list[str]:
    names = numbers_of(re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S), prefix)
    return [name.replace("_", "-") for name in names if name != "unspec"]


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("options", "TCA_WALE_"),
        ("sessions", "TCA_WALE_SESSIONS_"),
        ("feedback", "TCA_WALE_FEEDBACK_"),
    ],
)
def test_options_are_those_of_the_header(name: str, prefix: str) -> None:
    attributes = grammar("sch_wale").sets[name]
    assert [attribute.name for attribute in attributes] == enumeration(prefix)


def constants() -> dict[str, int]:
    found = re.findall(
        r"^#define (WALE_\w+)\s+\(?(~?)(\w+?)(?:ULL|U)?\)?\s", HEADER.read_text(), re.M
    )
    return {n: int(v, 0) ^ ((1 << 64) - 1 if inverted else 0) for n, inverted, v in found}


def test_ranges_are_those_of_the_header() -> None:
    known, sets = constants(), grammar("sch_wale").sets
    options = {a.name: a for a in sets["options"]}
    sessions = {a.name: a for a in sets["sessions"]}
    (idle,) = (a for a in sets["feedback"] if a.name == "idle")
    duration, rate, *_ = options["trace"].inner
    assert (options["rate64"].greatest, rate.greatest) == (known["WALE_RATE_MAX"],) * 2
    assert options["rate64"].also == (known["WALE_RATE_UNLIMITED"],)
    assert options["delay64"].greatest == known["WALE_TIME_MAX"]
    assert options["trace"].most == known["WALE_TRACE_STEPS_MAX"]
    assert duration.least == known["WALE_TRACE_STEP_MIN"]
    assert duration.greatest == known["WALE_TIME_MAX"]
    assert sessions["limit"].greatest == known["WALE_SESSIONS_MAX"]
    assert sessions["mean"].least == known["WALE_SESSIONS_MEAN_MIN"]
    assert sessions["mean"].greatest == known["WALE_SESSIONS_MEAN_MAX"]
    assert sessions["step"].least == known["WALE_SESSIONS_STEP_MIN"]
    assert sessions["step"].greatest == known["WALE_TIME_MAX"]
    assert (idle.least, idle.greatest) == (
        known["WALE_FEEDBACK_IDLE_MIN"],
        known["WALE_FEEDBACK_IDLE_MAX"],
    )
    for name in ("overhead", "drops", "gso", "trace-end"):
        count = len(enumeration(f"WALE_{name.upper().replace('-END', '')}_"))
        assert options[name].greatest == count - 1


@pytest.mark.parametrize("name", SPECIFICATIONS)
def test_values(name: str) -> None:
    """What is called good is in its range; both edges and what is beyond come soon."""
    rng = Random(1)
    for attribute in (a for some in grammar(name).sets.values() for a in some if a.size):
        good = {attribute.unpack(values.good(rng, attribute, {})) for _ in range(300)}
        assert all(map(attribute.allows, good)), attribute.name
        assert {attribute.least, attribute.greatest} <= good, attribute.name
        top = (1 << 8 * attribute.size) - 1
        if attribute.least > 0 or attribute.greatest < top:
            wrong = {attribute.unpack(values.wrong_number(rng, attribute)) for _ in range(100)}
            assert not all(map(attribute.allows, wrong)), attribute.name


def test_an_attribute_that_is_new_is_sent() -> None:
    """From the specification alone."""
    from wale_lab.fuzz.channel import Channel

    spec: dict[str, Any] = yaml.safe_load(SPECIFICATIONS["rate_feedback"].read_text())
    spec["attribute-sets"][0]["attributes"].append({"name": "news", "type": "u32"})
    operations = {operation["name"]: operation for operation in spec["operations"]["list"]}
    operations["set"]["do"]["request"]["attributes"].append("news")
    channel = Channel(Grammar(spec))
    rng = Random(1)
    sent = {name for _ in range(500) for name in channel.names(channel.make(rng))}
    assert "rate_feedback news" in sent
    assert "rate_feedback news" in channel.expected()[0]


def test_damage_to_bytes() -> None:
    """Headers stay, and a message does not grow without end."""
    rng = Random(1)
    data = bytearray(range(60))
    for _ in range(2000):
        mutate.mutate(rng, data, [bytes(100)])
        assert len(data) <= 8192
        data[:16] = bytes(range(16))
        assert all(first <= last for _, first, last in walk(data, 16, len(data)))


@pytest.mark.parametrize(
    "file", sorted((PACKAGE / "fuzz/cases").glob("*.json")), ids=lambda p: p.stem
)
def test_case_says_what_it_broke(file: Path) -> None:
    case = json.loads(file.read_text())
    assert case["broke"] and case["target"] in SPECIFICATIONS
    assert all(bytes.fromhex(message) for message in case["messages"])
