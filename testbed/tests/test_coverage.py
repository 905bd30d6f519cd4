# SPDX-License-Identifier: GPL-2.0
"""`make coverage`: what its summary says of counted lines."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import wale_lab.engines.coverage as guests

SCRIPT = Path(__file__).resolve().parents[1] / "setup" / "coverage.py"
_spec = importlib.util.spec_from_file_location("setup_coverage", SCRIPT)
assert _spec and _spec.loader
coverage = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(coverage)


def test_percent() -> None:
    assert coverage.percent({1: 3, 2: 0, 5: 1, 9: 1}) == 75
    assert coverage.percent({}) == 100


def test_a_refusal_that_never_was_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "kmod/wale/wale_netlink.c"
    source = tmp_path / name
    source.parent.mkdir(parents=True)
    source.write_text(
        "int x;\n\treturn -EINVAL;\n\treturn -ERANGE;\n\treturn 0;\n\treturn -EMSGSIZE;\n"
    )
    monkeypatch.setattr(coverage, "TREE", tmp_path)
    monkeypatch.setattr(coverage, "CONFIGURATION", (name, "other.c"))
    lines = {name: {1: 0, 2: 0, 3: 7, 4: 0, 5: 0}}
    found = coverage.never_refused(lines)
    assert found == [f"{name}:2: return -EINVAL;", "other.c: no line was counted"]


def test_an_excuse_holds_for_its_own_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "lib/trace.c"
    source = tmp_path / name
    source.parent.mkdir(parents=True)
    source.write_text(
        "int x;\n"
        "\tif (bad)\n"
        '\t\treturn error_set("a zero is no rate");\n'
        "\tif (!copy)\n"
        "\t\treturn error_set(text,\n"
        '\t\t\t"no memory");\n'
        "\tif (short) {\n"
        '\t\tNL_SET_ERR_MSG(extack, "no memory");\n'
        "\t\treturn -EINVAL;\n"
        "\t}\n"
        "\treturn -ERANGE;\n"
    )
    monkeypatch.setattr(coverage, "TREE", tmp_path)
    monkeypatch.setattr(coverage, "CONFIGURATION", (name,))
    found = coverage.never_refused({name: dict.fromkeys(range(1, 12), 0)})
    assert [line.split(":")[1] for line in found] == ["3", "11"]


def test_summary_counts_each_part() -> None:
    lines = {"kmod/wale/a.c": {1: 1, 2: 0}, "kmod/wale/b.c": {1: 1, 2: 1}, "tcp_ratcp/c.c": {7: 0}}
    _, summary = coverage.table_of(lines)
    assert summary["parts"]["kmod/wale"] == 75
    assert summary["files"] == {"kmod/wale/a.c": 50, "kmod/wale/b.c": 100, "tcp_ratcp/c.c": 0}
    assert summary["lines_percent"] == 60


def test_a_guest_that_ran_nothing_that_is_counted_adds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guests, "GUESTS", tmp_path / "guests")
    exchange = tmp_path / "exchange"
    (exchange / "gcov").mkdir(parents=True)
    guests.keep(exchange)
    assert not guests.GUESTS.exists()
    (exchange / "gcov" / "link.gcda").write_bytes(b"")
    guests.keep(exchange)
    (exchange / "gcov" / "link.gcda").unlink()
    guests.keep(exchange)
    assert [file.name for file in guests.GUESTS.iterdir()] == ["link.gcda"]
