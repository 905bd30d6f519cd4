# SPDX-License-Identifier: GPL-2.0
"""The contract of the qdisc is a specification of the kernel's kind: its schema allows it, and
the kernel's own client, ynl, makes, changes, shows and deletes a link with it."""

from __future__ import annotations

import errno
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from test_ynl import GUEST, LO, in_guest
from wale_lab.tree import SOURCES

SPEC = SOURCES / "Documentation/netlink/specs/sch_wale.yaml"
PLACE = {"family": 0, "ifindex": LO, "handle": 0x10000, "parent": 0xFFFFFFFF, "info": 0}
WALE: dict[str, Any] = {**PLACE, "kind": "wale"}
ALL = {"family": 0, "ifindex": 0, "handle": 0, "parent": 0, "info": 0}
RATE, DELAY_NS = 1_250_000, 50_000_000

pytestmark = pytest.mark.guest


def without_options(part: Any) -> Any:
    """The specification without what only this project has in it."""
    if isinstance(part, dict):
        return {key: without_options(value) for key, value in part.items() if key != "option"}
    return [without_options(one) for one in part] if isinstance(part, list) else part


def test_the_schema_of_the_kernel_allows_it(kernel_tree: Path) -> None:
    path = kernel_tree / "Documentation/netlink/netlink-raw.yaml"
    if not path.exists():
        pytest.skip("this kernel has no schema for raw netlink")
    validator = Draft7Validator(yaml.safe_load(path.read_text()))
    spec = without_options(yaml.safe_load(SPEC.read_text()))
    wrong = [f"{list(e.absolute_path)}: {e.message}" for e in validator.iter_errors(spec)]
    assert wrong == []


def answers(ynl: Path, out: Path, asked: list[tuple[str, dict[str, Any]]]) -> Any:
    """Send requests through the library of ynl; return the answers."""
    program: list[str | Path] = [
        sys.executable,
        GUEST,
        ynl,
        SPEC,
        "/run/wale/out/answers",
        json.dumps(asked),
    ]
    program.append("--process-unknown")  # the client of 6.12 knows no padding, which 7.2's skips
    up = ["sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    in_guest(out, *up, *program, modules="sch_wale")
    return json.loads((out / "answers").read_text())


def test_the_client_makes_and_shows_a_link(ynl_folder: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "rate64": RATE,
        "delay64": DELAY_NS,
        "limit-packets": 20,
        "policy": "rem",
        "rem": {"gamma": 5000},
        "overhead": "ethernet",
        "seed": 7,
        "sessions": {"arrival": 0, "mean": 10 << 32, "limit": 3, "step": 10**7},
    }
    asked: list[tuple[str, dict[str, Any]]] = [
        ("create newqdisc", {**WALE, "options": options}),
        ("send", {"packets": 3, "bytes": 1000}),
        ("dump getqdisc", dict(ALL)),
        ("newqdisc", {**WALE, "options": {"delay64": 1, "sessions": {}}}),
        ("dump getqdisc", dict(ALL)),
        ("delqdisc", {**PLACE}),
        ("dump getqdisc", dict(ALL)),
    ]
    made, _, shown, changed, after, gone, none = answers(ynl_folder, tmp_path, asked)
    assert (made, changed, gone) == (None, None, None)
    (link,) = (qdisc for qdisc in shown if qdisc["kind"] == "wale")
    for name, value in options.items():
        if isinstance(value, dict):
            assert value.items() <= link["options"][name].items()
        else:
            assert link["options"][name] == value
    counted = link["stats2"]["app"]
    assert counted["offered-packets"] == counted["sent-packets"] == 3
    assert counted["offered-bytes"] == counted["sent-bytes"] == 3 * (1000 + 38)
    assert counted["rate"] == RATE
    assert counted["epoch-ns"] <= counted["now-ns"]
    (link,) = (qdisc for qdisc in after if qdisc["kind"] == "wale")
    assert (link["options"]["rate64"], link["options"]["delay64"]) == (RATE, 1)
    assert "sessions" not in link["options"]
    assert [qdisc for qdisc in none if qdisc["kind"] == "wale"] == []


def test_the_client_says_what_is_refused(ynl_folder: Path, tmp_path: Path) -> None:
    if ynl_folder.name != "pyynl":
        pytest.skip(
            "the client of 6.12 stops at a refusal that names an attribute of a qdisc's own"
        )
    request = ("create newqdisc", {**WALE, "options": {"rate64": 0}})
    (refused,) = answers(ynl_folder, tmp_path, [request])
    assert refused["error"] == errno.ERANGE
    assert "1 to 10^15 bytes/s" in refused["message"]
