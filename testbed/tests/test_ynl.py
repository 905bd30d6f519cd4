# SPDX-License-Identifier: GPL-2.0
"""The specification of the channel: the kernel's own client, ynl, works with it, and the header
and the module's policies are what it says."""

from __future__ import annotations

import ast
import errno
import ipaddress
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

TOP = Path(__file__).resolve().parents[2]
LAB = TOP / "testbed/wale-lab"
SPEC = TOP / "Documentation/netlink/specs/rate_feedback.yaml"
HEADER = TOP / "kmod/include/uapi/linux/rate_feedback.h"
GUEST = Path(__file__).with_name("ynl_guest.py")
LO = 1

pytestmark = pytest.mark.guest


def in_guest(out: Path, *command: str | Path, modules: str = "rate_feedback") -> str:
    """Run a command in a guest with modules; return what it prints."""
    launcher = [LAB, "exec", "--quiet", "--modules", modules, "--out", out]
    words = [*launcher, "--wall-limit", "100", "--", *command]
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=False, timeout=400
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def for_client(ynl: Path, attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes as the client takes them: that of 6.12 wants addresses in hexadecimal."""
    if ynl.name == "pyynl":
        return attributes
    ends = {name: attributes[name] for name in ("saddr", "daddr") if name in attributes}
    packed = {name: ipaddress.ip_address(text).packed.hex() for name, text in ends.items()}
    return attributes | packed


def requests(ynl: Path, out: Path, asked: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    """Send requests through the library of ynl; return the answers."""
    words = [sys.executable, GUEST, ynl, SPEC]
    told = json.dumps([(operation, for_client(ynl, values)) for operation, values in asked])
    in_guest(out, *words, "/run/wale/out/answers", told)
    answers: list[Any] = json.loads((out / "answers").read_text())
    assert len(answers) == len(asked)
    return answers


def specification() -> dict[str, Any]:
    spec: dict[str, Any] = yaml.safe_load(SPEC.read_text())
    return spec


def attributes_of(name: str) -> list[dict[str, Any]]:
    sets = {s["name"]: s["attributes"] for s in specification()["attribute-sets"]}
    attributes: list[dict[str, Any]] = sets[name]
    return attributes


def constant(value: int | str) -> int:
    """A number, or the constant of that name."""
    if isinstance(value, int):
        return value
    named = {d["name"]: d for d in specification()["definitions"]}
    number: int = named[value]["value"]
    return number


def ranges(name: str) -> Iterator[tuple[str, int, int]]:
    """The attributes of a set that have a range: name, least, greatest."""
    enums = {d["name"]: d for d in specification()["definitions"] if d["type"] == "enum"}
    settable = {
        a
        for operation in specification()["operations"]["list"]
        if operation["name"] == "set"
        for a in operation["do"]["request"]["attributes"]
    }
    for attribute in attributes_of(name):
        checks = attribute.get("checks", {})
        if name == "path" and attribute["name"] not in settable:
            continue
        if "enum" in attribute:
            yield attribute["name"], 0, len(enums[attribute["enum"]]["entries"]) - 1
        elif checks:
            least, greatest = checks.get("min", 0), checks.get("max", (1 << 32) - 1)
            yield attribute["name"], constant(least), constant(greatest)


def test_the_header_is_generated(kernel_tree: Path, tmp_path: Path) -> None:
    if not (kernel_tree / "tools/net/ynl/ynl-gen-c.py").exists():
        pytest.skip("this kernel's generator is not that of 6.12, whose schema allows the name")
    made = tmp_path / "rate_feedback.h"
    subprocess.run([TOP / "testbed/setup/netlink-header", kernel_tree, made], check=True)
    assert made.read_text() == HEADER.read_text()


def test_the_client(ynl_folder: Path, tmp_path: Path) -> None:
    """cli.py sets, gets, dumps, hears, deletes, and says what is refused."""
    ynl = f"{sys.executable} {ynl_folder}/cli.py --spec {SPEC} --no-schema --output-json"
    flow = {"saddr": "fd00::1", "daddr": "fd00::2"}
    whole: dict[str, Any] = {**flow, "sport": 80, "dport": 4000, "rate": 2000, "meaning": "link"}
    whole |= {"age-limit": 10**9, "lag": "fixed", "lag-time": 2 * 10**8, "beta": 4, "pace": 1}
    whole |= {"rise": "additive", "base-rtt": 10**8, "layer": "atm", "swing": 50, "phi": 10**9}
    prefix = {"daddr": "10.0.2.0", "prefix-len": 24, "follow": {"ifindex": LO}}
    steps = [
        f"--do set --json '{json.dumps({'ifindex': LO, 'rate': 1250000})}'",
        f"--do set --json '{json.dumps(for_client(ynl_folder, whole))}'",
        f"--do set --json '{json.dumps(for_client(ynl_folder, prefix))}'",
        f"--do get --json '{json.dumps({'ifindex': LO})}'",
        "--dump get",
        "--dump flow-get",
        f"--do set --json '{json.dumps({'ifindex': LO, 'rate': 1, 'time': 1})}'",
        f"--do del --json '{json.dumps({'ifindex': LO})}'",
        "--do del",
        "--dump get",
    ]
    said = in_guest(tmp_path, "sh", "-c", "; ".join(f"{ynl} {step}; echo ===" for step in steps))
    made, made2, made3, got, dump, flows, refused, gone, gone2, empty = (
        text.strip() for text in said.split("===")[:-1]
    )
    assert (made, made2, made3, gone, gone2) == ("null",) * 5, said
    assert json.loads(got)["rate"] == 1250000
    paths = json.loads(dump)
    assert [path["id"] for path in paths] == [1, 2, 3]
    assert {name: paths[1][name] for name in whole} == whole
    assert (paths[2]["daddr"], paths[2]["follow"]) == ("10.0.2.0", {"ifindex": LO})
    assert paths[2]["rate"] == 1250000
    assert json.loads(flows) == []
    assert "must not lie in the future, nor before the last change" in refused
    assert json.loads(empty) == []


def test_every_attribute_is_shown(ynl_folder: Path, tmp_path: Path) -> None:
    """A dump decodes, with no attribute that the specification does not have."""
    flow = {"saddr": "10.0.0.1", "daddr": "10.0.0.2", "sport": 1, "dport": 2, "rate": 1}
    fixed = {"lag": "fixed", "lag-time": 1}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("set", {"ifindex": LO, "rate": 1}),
        ("set", {"daddr": "10.0.2.0", "prefix-len": 24, "follow": {"ifindex": LO}}),
        ("set", {**flow, **fixed}),
        ("dump get", {}),
    ]
    *_, paths = requests(ynl_folder, tmp_path, asked)
    shown = {name for path in paths for name in path}
    assert shown == {attribute["name"] for attribute in attributes_of("path")}


def edge_cases() -> list[tuple[str, dict[str, Any], bool]]:
    """(what, request, accepted) for each edge of each range in the specification."""
    lo = {"ifindex": LO}
    with_key: dict[str, dict[str, Any]] = {
        "prefix-len": {"daddr": "::", "rate": 1},
        "ifindex": {"rate": 1},
    }
    extra = {"lag": {"lag-time": 1}, "age-limit": {}, "lag-time": {"lag": "fixed"}, "base-rtt": {}}
    limits = [*ranges("path"), ("age-limit", 0, constant("time-max"))]
    limits += [("lag-time", 0, constant("time-max")), ("base-rtt", 0, constant("rtt-max"))]
    cases = []

    def edges(least: int, greatest: int) -> list[tuple[int, bool]]:
        return [(least, True), (least - 1, False), (greatest, True), (greatest + 1, False)]

    for name, least, greatest in limits:
        for value, good in edges(least, greatest):
            if value < 0:
                continue
            request = {**with_key.get(name, lo), name: value}
            if not (name == "lag" and value != greatest):
                request |= extra.get(name, {})
            cases.append((f"{name} {value}", request, good))
    for name, least, greatest in ranges("follow"):
        for value, good in edges(least, greatest):
            request = {"daddr": "10.0.0.3", "follow": {name: value}}
            cases.append((f"follow {name} {value}", request, good))
    return cases


def test_edges(ynl_folder: Path, tmp_path: Path) -> None:
    """The edge of each range is accepted; one beyond is refused, with a word about it."""
    cases = edge_cases()
    names = {what.rpartition(" ")[0] for what, _, _ in cases}
    assert {
        "beta",
        "swing",
        "phi",
        "pace",
        "meaning",
        "lag",
        "rise",
        "layer",
        "prefix-len",
    } <= names
    asked = [("set", {"ifindex": LO, "rate": 1}), *(("set", request) for _, request, _ in cases)]
    _, *answers = requests(ynl_folder, tmp_path, asked)
    wrong = []
    for (what, _, good), answer in zip(cases, answers, strict=True):
        error = (answer or {}).get("error", 0)
        # the greatest number of a device is one that there is not
        accepted = error == 0 or ("ifindex 2147483647" in what and error == errno.ENODEV)
        if accepted != good:
            wrong.append(f"{what}: {'accepted' if accepted else answer}")
        elif not good and (error != errno.ERANGE or not answer["message"]):
            wrong.append(f"{what}: refused with {os.strerror(error)} and {answer['message']!r}")
    assert wrong == []


def test_what_only_the_kernel_sets_is_refused(ynl_folder: Path, tmp_path: Path) -> None:
    settable = {name for name, *_ in ranges("path")}
    kernel = ("id", "flows", "listeners", "publisher", "age", "updates")
    assert not settable & set(kernel)
    names = [attribute["name"] for attribute in attributes_of("path")]
    assert set(kernel) <= set(names)
    asked = [("set", {"ifindex": LO, "rate": 1, name: 1}) for name in kernel]
    answers = requests(ynl_folder, tmp_path, [*asked, ("dump get", {})])
    assert [answer["error"] for answer in answers[:-1]] == [errno.EINVAL] * len(kernel)
    assert answers[-1] == []


def test_the_numbers_of_the_selftests() -> None:
    """lib/rate.py, which the selftests use, has the attributes in the same order."""
    source = (TOP / "testbed/src/wale_lab/selftest/rate.py").read_text()
    tables = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            called = node.value.func
            if isinstance(called, ast.Name) and called.id == "table":
                assert isinstance(node.targets[0], ast.Name)
                text = ast.literal_eval(node.value.args[0])
                tables[node.targets[0].id] = [word.split(":")[0] for word in text.split()]
    for name in ("path", "follow", "flow"):
        expected = [attribute["name"].replace("-", "_") for attribute in attributes_of(name)]
        assert tables[name.upper()] == expected
