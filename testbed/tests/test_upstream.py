# SPDX-License-Identifier: GPL-2.0
"""`make upstream`: the tree as patches for Linux, which apply, and have all of the modules."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from wale_lab.tree import SOURCES

UPSTREAM = SOURCES / "testbed/upstream"
sys.path.insert(0, str(UPSTREAM))

import fold  # noqa: E402
import pages  # noqa: E402
import specs  # noqa: E402
from checkpatch import findings  # noqa: E402
from linux import LinuxSeries  # noqa: E402
from wale_lab.engines.kernel_build import cache_root  # noqa: E402
from wale_lab.engines.kernel_source import newest_at_hand  # noqa: E402

pytestmark = pytest.mark.lint


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """A repository in which `git am` has applied the patches, and these."""
    source = newest_at_hand(cache_root())
    if source is None:
        pytest.skip("there is no source of a kernel: no package linux-source is installed")
    folder = tmp_path_factory.mktemp("upstream")
    made = LinuxSeries(source, folder / "linux")
    patches = made.write()
    made.base(folder / "tree")
    command = ["git", "am", "--quiet", *map(str, patches[1:])]
    done = subprocess.run(command, cwd=folder / "tree", capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder / "tree", patches


def test_the_patched_tree_has_all_of_the_modules(series: tuple[Path, list[Path]]) -> None:
    tree, _ = series
    for ours, theirs in (
        ("kmod/wale", "net/sched/wale"),
        ("kmod/rate_feedback", "net/rate_feedback"),
    ):
        here = {str(p.relative_to(SOURCES / ours)) for p in (SOURCES / ours).rglob("*.[ch]")}
        assert here == {str(p.relative_to(tree / theirs)) for p in (tree / theirs).rglob("*.[ch]")}
        listed = re.findall(r"(\S+)\.o\b", (tree / theirs / "Makefile").read_text())
        objects = [
            name for name in listed if not name.startswith(("sch_", "rate_feedback", "CFLAGS"))
        ]
        assert sorted(objects) == sorted(p[:-2] for p in here if p.endswith(".c"))


def test_nothing_of_the_other_kernels_is_left(series: tuple[Path, list[Path]]) -> None:
    tree, _ = series
    wrong = re.compile(r"wale_compat|WALE_HAVE_|WALE_VERSION|compat\.h|generated: |make generate")
    files = [
        *(tree / "net/sched/wale").rglob("*.[ch]"),
        *(tree / "net/rate_feedback").rglob("*.[ch]"),
    ]
    files += (tree / "include").rglob("*.h")
    assert [str(f.relative_to(tree)) for f in files if wrong.search(f.read_text())] == []


def test_checkpatch_finds_nothing(series: tuple[Path, list[Path]], kernel_tree: Path) -> None:
    _, patches = series
    script = kernel_tree / "scripts/checkpatch.pl"
    assert [line for patch in patches[1:] for line in findings(script, patch)] == []


COMPAT = fold.Compat(
    macros={
        "wale_compat_setup": (None, "setup"),
        "wale_compat_attrs": (["cb"], "(info(cb)->attrs)"),
        "wale_compat_table": (None, "const struct table"),
    },
    functions={"wale_compat_len": (["skb", "len"], ["cb(skb)->len = len;", "cb(skb)->n = 1;"])},
    headers=["linux/slab.h"],
)


@pytest.mark.parametrize(
    "before, after",
    [
        ("\twale_compat_setup(timer,\n\t\t\t  clock);\n", "\tsetup(timer,\n\t      clock);\n"),
        ("\tf(wale_compat_setup,\n\t  clock);\n", "\tf(setup,\n\t  clock);\n"),
        ("\tx = wale_compat_attrs(a->b);\n", "\tx = info(a->b)->attrs;\n"),
        ("\tf();\n\twale_compat_len(s, g(s, 1));\n", "\tf();\n\tcb(s)->len = g(s, 1);\n\tcb(s)->n = 1;\n"),
        ('#include <linux/mm.h>\n\n#include "../compat.h"\n#include "a.h"\n\tkfree(x);\n', '#include <linux/mm.h>\n#include <linux/slab.h>\n\n#include "a.h"\n\tkfree(x);\n'),
        ('#include <linux/mm.h>\n\n#include "../compat.h"\n#include "a.h"\n', '#include <linux/mm.h>\n\n#include "a.h"\n'),
        ('MODULE_LICENSE("GPL");\nMODULE_VERSION(WALE_VERSION);\n', 'MODULE_LICENSE("GPL");\n'),
        ("/* generated: options */\nint x;\n/* generated: end */\n", "int x;\n"),
    ],
)  # fmt: skip
def test_fold(before: str, after: str) -> None:
    assert fold.fold(before, COMPAT) == after


def test_what_becomes_several_statements_must_have_braces() -> None:
    with pytest.raises(ValueError, match=r"wale_compat_len\(\) is to stand between braces"):
        fold.fold("\tif (x)\n\t\twale_compat_len(s, 1);\n", COMPAT)


def test_pages_refer_only_to_each_other(tmp_path: Path) -> None:
    one, other = tmp_path / "one.rst", tmp_path / "other.rst"
    one.write_text("See :doc:`other`, :doc:`howto/far`, :ref:`near`, :ref:`Far <far>`.\n")
    other.write_text(".. _near:\n")
    assert pages.render(one, [one, other]) == "See :doc:`other`, *far*, :ref:`near`, Far.\n"


def test_names_in_tc_yaml_are_those_of_the_qdisc() -> None:
    parts = specs.in_tc(SOURCES / "Documentation/netlink/specs/sch_wale.yaml")
    names = re.findall(r"^    name: (\S+)$|^  - name: (\S+)$", parts["attribute-sets"], re.M)
    assert {a or b for a, b in names} >= {"wale-attrs", "wale-stats-attrs", "wale-slot-attrs"}
    assert "max: wale-rate-max" in parts["attribute-sets"]
    assert "option:" not in parts["attribute-sets"] + parts["definitions"]
