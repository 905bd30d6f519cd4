# SPDX-License-Identifier: GPL-2.0
"""Every example of the manual pages, the tutorial and the how-to pages is run, in their order.

Commands of root run in one guest for each page, the others on the host, in a folder
that looks like the top of the tree.  What stands in no table below is run as it is; what
cannot be run here stands in NOT_RUN, with the reason.

On the kernel that a page says it was made with, its numbers are compared with what comes out.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import lab_says
from examples import (
    Example,
    Number,
    files_of_page,
    literal_blocks,
    measured,
    of_man_page,
    of_page,
)

TOP = Path(__file__).resolve().parents[2]
MAN = TOP / "userspace/man"
DOCUMENTATION = TOP / "Documentation"

MAN_PAGES = sorted(MAN.glob("*.[1-8]"))
PAGES = [
    DOCUMENTATION / "tutorial.rst",
    *sorted((DOCUMENTATION / "howto").glob("*.rst")),
    *sorted((DOCUMENTATION / "labs").glob("[!i]*.rst")),
]

#: Examples that are not run, by a part of their text.
NOT_RUN = {
    "make modules userspace": "test_install.py installs and uninstalls",
    "make programs": "make check-programs builds and runs them",
    "wale-lab evaluate gentle ": "all rows take minutes; test_evaluation.py runs one with --module",
    "wale-lab evaluate cubic --kernel 6.1": "all rows, on kernels that may not be built",
    "wale-lab evaluate --program": "test_evaluation.py evaluates a program that there is",
    "wale-lab run --seed=1 scenarios/bufferbloat": "needs an evaluation of before",
    "wale-lab compare shared --kernel": "test_compare.py has its arithmetic; this needs 20 runs",
    "wale-lab compare shared --bisect": "test_bisect.py; a kernel's history is not here",
    "--engine vm --set time=real --set cc=bpf_gentle": "test_bpf.py runs it (make check-vm)",
    "with --real --net": "it needs a network; test_outside.py has loopback alone",
    "pip install -r testbed/requirements-cluster.txt": "there is no cluster here",
    "wale-lab study karnik-kumar -j 100": "there is no cluster here",
    "salloc -N 2": "there is no cluster here; test_machines.py has two network namespaces",
    "wale-lab study karnik-kumar/fig9 --quick -j 2": "there is no cluster here",
}

#: Of the flows of scenarios that a page shows, instead of what is said there, on other kernels
#: than that of the page.
DURATION = "4s"

#: Runs whose numbers a page shows that has no examples.
_RATCP = (
    "ratcp",
    "ratcp --set flows.ratcp.cc=reno",
    "ratcp-loss",
    "ratcp-fairness",
    "ratcp-fairness --set flows.near.cc=reno --set flows.far.cc=reno",
    "ratcp-steps",
)
RUNS = {
    TOP / "README.md": ("demo",),
    DOCUMENTATION / "ratcp.rst": _RATCP,
    DOCUMENTATION / "sch_wale-child.rst": (
        "bufferbloat",
        "bufferbloat --set bottleneck.forward.queue=fq_codel",
    ),
}

#: Commands that end only when they are told to, and after how many seconds they are.
ENDLESS = {
    "cat /sys/kernel/tracing/trace_pipe": 1,
    "wale watch --flows --json": 1,
    "wale rate monitor --flows": 1,
    "wale rate play day.txt dev eth0 age 5s --loop --delete": 40,
    "wale rate share eth0 --capacity 10mbit --beta 2": 3,
    "wale scone listen --show": 1,
    "wale scone listen dev eth0 share": 1,
    "python3 Documentation/examples/weights.py 1250000": 12,
}


@dataclass(frozen=True)
class Guest:
    """What the examples of a page find in their guest, beside what SETUP makes."""

    address: str = "192.0.2.2"
    peer: str = "192.0.2.1"
    more: str = ""
    before: tuple[tuple[str, str], ...] = ()  # (part of an example, commands before it)
    inside: tuple[tuple[str, str], ...] = ()  # (part of an example, namespace that it is run in)


#: Two hosts, eth0 here and in the namespace "client"; what examples expect of a machine.
#: modprobe: a guest has its modules from the start.
SETUP = """
mkdir -p /run/bin /run/work && cd /run/work
mount -t tmpfs tmpfs /srv && mkdir /srv/files && head -c 4M /dev/urandom > /srv/files/big.bin
printf '127.0.0.1 localhost\\n192.0.2.1 server\\n' > /run/hosts && mount --bind /run/hosts /etc/hosts
printf '#!/bin/sh\\nexec grep -qw "$1" /proc/modules\\n' > /run/bin/modprobe
printf '#!/bin/sh\\nexec "$@"\\n' > /run/bin/sudo
chmod +x /run/bin/*
PATH=/run/bin:$PATH
ip netns add client
ip link add eth0 type veth peer eth0 netns client
ip address add {address}/24 dev eth0
ip -n client address add {peer}/24 dev eth0
for within in "" "-n client"; do ip $within link set lo up; ip $within link set eth0 up; done
ip netns exec client wale serve --quiet /srv/files &
ip netns exec client iperf3 --server > /dev/null 2>&1 &
sleep 1
"""

_NO_QDISC = "tc qdisc del dev eth0 root"

GUESTS = {
    "tc-wale.8": Guest(
        before=(
            ("trace 10s:2mbit", _NO_QDISC),
            ("fq_codel", _NO_QDISC),
            ("sessions arrival", _NO_QDISC),
            ("limit 1000 cells", _NO_QDISC),
            ("trace 10s:8mbit", _NO_QDISC),
        )
    ),
    "wale-rate.1": Guest(
        more="""
ip netns add router
ip link add a0 type veth peer bottleneck netns router
ip -n router link set bottleneck up
ip link set a0 up
tc -n router qdisc add dev bottleneck root wale rate 10mbit feedback
""",
        before=(("wale rate share", "wale rate del all"),),
    ),
    "ratcp.7": Guest(
        address="192.0.2.1",
        peer="192.0.2.2",
        inside=(("wale get 192.0.2.1", "client"),),
    ),
    "controller.rst": Guest(
        address="192.0.2.1",
        peer="192.0.2.2",
        inside=(("--local-port 5001", "client"),),
    ),
}

#: Pages whose examples need the kernel's netlink client, beside SETUP.
YNL = """
mkdir -p /run/work/tools/net
ln -s {ynl} /run/work/tools/net/ynl
ln -s /run/work /run/work/TREE
ln -s {top}/Documentation /run/work/Documentation
export SPEC={top}/Documentation/netlink/specs/rate_feedback.yaml
PATH={python}:$PATH
"""
YNL_PAGES = ("rate_feedback.7", "controller.rst")

pytestmark = pytest.mark.guest


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder that looks like the top of the tree, for what examples write."""
    folder = tmp_path / "tree"
    folder.mkdir()
    for entry in TOP.iterdir():
        if entry.name not in ("build", "dist", "out", "results", ".git"):
            (folder / entry.name).symlink_to(entry)
    return folder


def script_of(example: Example) -> str:
    """The commands, given one after the other by somebody who waits a moment after each `&`."""
    lines = []
    for line in example.lines:
        if line in ENDLESS:
            line = f"timeout -s INT {ENDLESS[line]} {line} || test $? = 124"
        lines.append(line + ("\nsleep 1" if line.endswith("&") else ""))
    return "\n".join(lines)


def guest_script(page: str, examples: list[Example], more: str) -> str:
    """All examples of a page in one shell, which ends at one that fails."""
    guest = GUESTS.get(page, Guest())
    parts = ["set -e", SETUP.format(address=guest.address, peer=guest.peer), guest.more, more]
    for example in examples:
        parts += [commands for part, commands in guest.before if part in example.text]
        parts.append(f"echo '=== {example.where}'")
        script = script_of(example)
        for part, namespace in guest.inside:
            if part in example.text:
                script = f"ip netns exec {namespace} bash -ec {shlex.quote(script)}"
        parts.append(script)
    return "\n".join([*parts, "echo '=== end'", "exit 0"])


def run(command: list[str | Path], folder: Path, what: str) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, f"{what}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def run_in_guest(page: str, examples: list[Example], tree: Path, more: str) -> str:
    """All examples of root of a page, in one guest, after more commands; return what they print."""
    if not examples:
        return ""
    command: list[str | Path] = ["testbed/wale-lab", "exec", "--quiet", "--wall-limit", "120"]
    command += [
        "--modules",
        "sch_wale,tcp_ratcp",
        "--",
        "bash",
        "-c",
        guest_script(page, examples, more),
    ]
    said = run(command, tree, page)
    assert said.rstrip().endswith("=== end"), said[-4000:]
    return said


def run_on_host(examples: list[Example], tree: Path, path: str = "") -> list[str]:
    """Examples of a user, and of the prompts of wale-lab shell; return what each prints."""
    said = []
    for example in examples:
        script = f"set -e\n{path}{script_of(example)}"
        if example.who != "$":
            typed = "; ".join(line for line in example.lines if line != "exit")
            typed = re.sub(r"&; ", "& sleep 1; ", typed)
            words: list[str | Path] = ["testbed/wale-lab", "shell", example.who, "--quiet"]
            words += ["-c", f"set -e; {typed}"]
            said.append(run(words, tree, f"{example.where}\n{typed}"))
        else:
            said.append(run(["bash", "-c", script], tree, f"{example.where}\n{script}"))
    return said


def to_run(examples: list[Example]) -> list[Example]:
    """Those that are run here."""
    return [e for e in examples if not any(part in e.text for part in NOT_RUN)]


@pytest.fixture
def client(page: Path, request: pytest.FixtureRequest) -> str:
    """Commands that give a page's guest the kernel's netlink client, if it needs it."""
    if page.name not in YNL_PAGES:
        return ""
    folder: Path = request.getfixturevalue("ynl_folder")
    if folder.name == "pyynl":
        pytest.skip("the examples have addresses as the client of Linux 6.12 takes them")
    return YNL.format(ynl=folder, top=TOP, python=Path(sys.executable).parent)


def lines_of(said: str) -> list[list[str]]:
    """The words of each line, without the borders of tables and what clears a line."""
    plain = said.replace("│", " ").replace("\x1b[K", "")
    return [line.split() for line in plain.splitlines()]


def about(names: tuple[str, ...], said: list[list[str]]) -> list[list[str]]:
    """What a run prints about flows of such a name or congestion control, and about all flows."""
    flows = {line[0]: line[1] for line in said if any(word == "Mbit/s" for word in line)}
    others = {flow for flow, control in flows.items() if not {flow, control} & set(names)}
    if flows.keys() == others:
        return []
    return [line for line in said if line and line[0].split(".")[0] not in others]


def is_among(number: str, lines: list[list[str]]) -> bool:
    """Was this number printed, as it is?"""
    text = "\n".join(" ".join(line) for line in lines)
    return number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)", text)


def compare_numbers(numbers: list[Number], outputs: list[str]) -> None:
    """What a page gives as measured is what came out."""
    runs = [lines_of(said) for said in outputs]
    for number in numbers:
        of_these = [line for run in runs for line in about(number.of, run)]
        everything = [line for run in runs for line in run]
        assert is_among(number.text, of_these or everything), f"{number} did not come out"


def compare_output(examples: list[Example], outputs: list[str]) -> None:
    """Each line that a page shows was printed; "..." is anything."""
    printed = [" ".join(line) for said in outputs for line in lines_of(said)]
    for example in examples:
        for line in example.output:
            pattern = ".*".join(re.escape(part) for part in " ".join(line.split()).split("..."))
            shown = any(re.fullmatch(pattern, other) for other in printed)
            assert shown, f"{example.where}: did not come out: {line}\n" + "\n".join(printed)


@pytest.mark.parametrize("page", MAN_PAGES, ids=lambda page: page.name)
def test_manual_page(page: Path, tree: Path, client: str) -> None:
    examples = to_run(of_man_page(page))
    assert examples, "the page has no example, or its form has changed"
    if page.name == "wale-lab.1":
        run_on_host(
            [Example(e.where, "$", e.lines) for e in examples], tree, "PATH=testbed:$PATH\n"
        )
    else:
        run_in_guest(page.name, examples, tree, client)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page: Path, tree: Path, client: str) -> None:
    kernel, numbers = measured(page)
    comparable = kernel == lab_says("release")
    for name, text in files_of_page(page).items():
        short = re.sub(r"\bduration: \d+s", f"duration: {DURATION}", text)
        (tree / name).write_text(text if comparable else short)
    examples = to_run(of_page(page))
    assert examples, "the page has no example, or its form has changed"
    said = run_on_host([e for e in examples if e.who != "#"], tree)
    said.append(run_in_guest(page.name, [e for e in examples if e.who == "#"], tree, client))
    if comparable:
        compare_numbers(numbers, said)
        compare_output(examples, said)


@pytest.mark.parametrize("page", RUNS, ids=lambda page: page.name)
def test_numbers(page: Path, tree: Path) -> None:
    kernel, numbers = measured(page)
    assert numbers, "the page has no number, or its form has changed"
    if kernel != lab_says("release"):
        pytest.skip("the page has the numbers of another kernel")
    runs = [Example(page.name, "$", [f"testbed/wale-lab run {what}"]) for what in RUNS[page]]
    compare_numbers(numbers, run_on_host(runs, tree))


def every_example() -> list[Example]:
    return [e for page in MAN_PAGES for e in of_man_page(page)] + [
        e for page in PAGES for e in of_page(page)
    ]


def test_the_tables_name_examples() -> None:
    """What is said of an example here is said of one that there is."""
    texts = [example.text for example in every_example()]
    assert {part for part in NOT_RUN if not any(part in text for text in texts)} == set()
    lines = [line for example in every_example() for line in example.lines]
    assert {line for line in ENDLESS if line not in lines} == set()
    pages: dict[str, Callable[[Path], list[Example]]] = {p.name: of_man_page for p in MAN_PAGES}
    pages |= {p.name: of_page for p in PAGES}
    paths = {p.name: p for p in [*MAN_PAGES, *PAGES]}
    for name, guest in GUESTS.items():
        own = [example.text for example in pages[name](paths[name])]
        for part, _ in (*guest.before, *guest.inside):
            assert sum(part in text for text in own) == 1, f"{name}: {part}"


def test_no_command_hides_in_another_block() -> None:
    """A command stands in a console, where it is found; in a manual page, under EXAMPLES."""
    command = re.compile(r"([$#] )?(testbed/wale-lab|make|sudo|tc|wale|ip|python3) ")
    hidden = [
        f"{page.name}:{number}: {line}"
        for page in PAGES
        for number, line in literal_blocks(page)
        if command.match(line)
    ]
    for page in MAN_PAGES:
        text = page.read_text(encoding="utf-8")
        elsewhere = text.replace(text.partition(".SH EXAMPLES\n")[2].partition("\n.SH ")[0], "")
        hidden += [
            f"{page.name}: {line}"
            for block in re.findall(r"^\.EX\n(.*?)^\.EE$", elsewhere, re.M | re.S)
            for line in block.splitlines()
            if command.match(line)
        ]
    assert hidden == []
