# SPDX-License-Identifier: GPL-2.0
"""The documentation builds without a warning, and names all that it should describe."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
from functools import cache
from pathlib import Path

import pytest
import yaml

from wale_lab import cli

TOP = Path(__file__).resolve().parents[2]
DOCUMENTATION = TOP / "Documentation"

pytestmark = pytest.mark.lint


PACKAGE = ("testbed", "src", "wale_lab")


def source(*parts: str) -> str:
    """Return the text of a file of the tree."""
    return TOP.joinpath(*parts).read_text(encoding="utf-8")


@cache
def literals(page: str) -> set[str]:
    """Return the words of a page that stand in double backquotes, or in its examples."""
    text = (DOCUMENTATION / page).read_text(encoding="utf-8")
    examples = "\n".join(re.findall(r"(?m)^ {2,}\S.*$", text))
    marked = " ".join(re.findall(r"``([^`]+)``", text))
    return set(re.findall(r"[\w./-]+", f"{marked} {examples}"))


def not_in(page: str, names: set[str]) -> set[str]:
    """Return the names that a page does not have."""
    assert names, "no names were found in the source: its form has changed"
    return names - literals(page)


@pytest.mark.parametrize("form", ["html", "text"])
def test_builds_without_a_warning(form: str, tmp_path: Path) -> None:
    """The command that people are told to use, with its output elsewhere."""
    command = f"make -C Documentation {form}"
    if form == "html":
        assert f"`{command}`" in source("README.md")
    done = subprocess.run(
        command.split(),
        cwd=TOP,
        env={**os.environ, "BUILD": str(tmp_path), "MAKEFLAGS": "--no-print-directory"},
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert (done.returncode, said) == (0, f"  DOC     {tmp_path}/{form}\n"), said
    assert list((tmp_path / form).glob("index.*")), said


def qdisc_words() -> set[str]:
    """Return the options that tc has for a link, and the words that they take."""
    table = source("userspace", "lib", "link_options.c")
    syntaxes = re.findall(r'\.syntax = "(.*)",', table)
    assert syntaxes, "the form of the source has changed"
    return set(re.findall(r"[a-z_]{2,}|\bz\b", " ".join(syntaxes)))


def test_every_option_of_the_qdisc() -> None:
    missing = not_in("sch_wale.rst", qdisc_words())
    assert missing & not_in("sch_wale-impair.rst", missing) == set()


def test_every_option_of_the_qdisc_in_its_manual() -> None:
    assert qdisc_words() - man_bold("tc-wale.8") == set()


def test_every_error_of_a_transfer_in_its_manual() -> None:
    code = source("userspace", "transfer", "transfer_proto.h")
    errors = set(re.findall(r'^#define WALE_E_\w+ "([\w-]+)"', code, re.M))
    assert {"busy", "not-found"} <= errors, "the form of the source has changed"
    assert errors - man_bold("wale.1") == set()


def contract_names() -> set[str]:
    """Return the attributes that linux/pkt_sched_wale.h defines."""
    header = source("kmod", "include", "uapi", "linux", "pkt_sched_wale.h")
    names = set(re.findall(r"^\t(TCA_WALE_\w+)", header, re.M))
    return {name for name in names if not name.endswith("_UNSPEC")}


def test_every_attribute() -> None:
    """The page is made from the contract: with the prefix of its set, each is in the header."""
    assert ".. netlink-spec:: netlink/specs/sch_wale.yaml" in source(
        "Documentation", "sch_wale-uapi.rst"
    )
    spec = yaml.safe_load(source("Documentation", "netlink", "specs", "sch_wale.yaml"))
    names = {
        f"{group['name-prefix']}{one['name']}".upper().replace("-", "_")
        for group in spec["attribute-sets"]
        for one in group["attributes"]
    }
    assert contract_names() - names == set()


def test_every_statistic() -> None:
    names = {n for n in contract_names() if n.startswith("TCA_WALE_STATS_")}
    names.discard("TCA_WALE_STATS_PAD")
    assert not_in("sch_wale.rst", names) == set()
    keys = {n.removeprefix("TCA_WALE_STATS_").lower() for n in names}
    assert not_in("sch_wale.rst", keys) == set()


@pytest.mark.parametrize(
    ("header", "page"),
    [("kmod/wale/wale_trace.h", "sch_wale.rst"), ("tcp_ratcp/ratcp_trace.h", "ratcp.rst")],
)
def test_every_tracepoint_and_its_fields(header: str, page: str) -> None:
    code = source(header)
    events = set(re.findall(r"^TRACE_EVENT\((\w+),", code, re.M))
    fields = {
        field
        for text in re.findall(r'TP_printk\("([^"]*)"', code)
        for field in re.findall(r"(\w+)=%", text)
    }
    system = set(re.findall(r"^#define TRACE_SYSTEM (\w+)", code, re.M))
    assert not_in(page, system) == set()
    assert not_in(page, events) == set()
    assert not_in(page, fields) == set()


def test_what_the_trace_has_beside() -> None:
    assert not_in("sch_wale.rst", {"backlog_packets", "backlog_bytes"}) == set()


def test_every_congestion_control() -> None:
    code = "".join(source("tcp_ratcp", name) for name in ("ratcp.c", "tcp_classic.c"))
    names = set(re.findall(r'\.name\s*= "(\w[\w-]*)"', code))
    assert {"ratcp", "reno_classic"} <= names, "the form of the source has changed"
    assert not_in("ratcp.rst", names) == set()


def man_words(page: str) -> set[str]:
    """Return the words of a manual page, without the escapes of its hyphens."""
    text = source("userspace", "man", page).replace("\\-", "-").replace("\\fR", " ")
    return set(re.findall(r"[\w-]+", re.sub(r"\\f[BIR]", " ", text)))


def man_bold(page: str) -> set[str]:
    """Return the words of a manual page that are set in bold: what is typed as it stands."""
    text = source("userspace", "man", page).replace("\\-", "-")
    parts = re.findall(r"\\fB(.*?)(?:\\f[RIP]|$)", text, re.M)
    for macro, line in re.findall(r"^\.(B|BI|BR|IB|RB) (.*)$", text, re.M):
        step = slice(None) if macro == "B" else slice(macro.index("B"), None, 2)
        parts += shlex.split(line)[step]
    return set(re.findall(r"[\w-]+", " ".join(parts)))


def test_every_word_of_wale_rate() -> None:
    options = source("userspace", "lib", "rate_path.c")
    words = set(re.findall(r'\{ "([\w-]+)", RATE_PATH_\w+,', options))
    words |= set(re.findall(r'!strcmp\([^,]*, "([\w-]+)"\)', options))
    assert {"age", "follow", "nopace", "measured"} <= words, "the form of the source has changed"
    text = source("userspace", "lib", "rate_text.c")
    words |= set(re.findall(r'\[RATE_FEEDBACK_\w+\] = "([\w-]+)"', text))
    words |= set(
        re.findall(r'!strcmp\(\*argv, "(\w+)"\)', source("userspace", "lib", "rate_key.c"))
    )
    words |= set(re.findall(r'\{ "(\w+)", \w+', source("userspace", "wale", "cmd_rate.c")))
    assert words - man_words("wale-rate.1") - literals("rate_feedback.rst") == set()


def lab_commands() -> dict[str, set[str]]:
    """The commands of wale-lab, and the long options of each that are its own.

    Those of `with` that are keys of a link are told by the reference of scenarios.
    """
    found: dict[str, set[str]] = {}

    def visit(name: str, parser: argparse.ArgumentParser) -> None:
        below = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
        for action in below:
            for word, sub in action.choices.items():
                visit(f"{name} {word}".strip(), sub)
        if not below:
            words = {word for a in parser._actions for word in a.option_strings}
            found[name] = words - {"-h", "--help", "-q", "--quiet"}

    visit("", cli._parser(with_links=False))
    return found


def test_every_option_of_wale_lab() -> None:
    """Each command's synopsis in wale-lab(1) has its long options; each option is described."""
    text = source("userspace", "man", "wale-lab.1").replace("\\-", "-")
    body = text.partition(".SH COMMANDS\n")[2].partition("\n.SH ")[0]
    synopses: dict[str, set[str]] = {}
    for section in re.split(r"^\.SS ", body, flags=re.M)[1:]:
        for call in re.split(r"^\.B wale-lab ", section.partition("\n.P\n")[0], flags=re.M)[1:]:
            known = [name for name in lab_commands() if re.match(rf"{name}\b", call)]
            assert known, f"wale-lab(1) has a command that is none: {call}"
            words = re.findall(r"(?<![\w-])--?[a-z][\w-]*", call)
            synopses.setdefault(known[0], set()).update(words)  # it may have two
    # a short option stands for itself where it has no long one
    expected = {
        name: {word for word in words if word.startswith("--") or word == "-c"} - {"--limit"}
        for name, words in lab_commands().items()
    }
    assert synopses == expected
    tags = re.findall(r"^\.TP\n(.*)$", body, re.M)
    described = set(re.findall(r"--?[a-z][\w-]*", re.sub(r"\\f[BIRP]", "", " ".join(tags))))
    missing = {word for words in lab_commands().values() for word in words} - described
    assert missing - {"--markdown"} == set()  # told in the text of its command


def test_every_command() -> None:
    lab = set(re.findall(r'\badd\(\s*"(\w+)"', source(*PACKAGE, "cli.py")))
    assert not_in("testbed.rst", lab) == set()
    wale = set(re.findall(r'\{ "(\w+)", cmd_\w+,', source("userspace", "wale", "main.c")))
    pages = ("tutorial.rst", "transfer.rst", "scone.rst")
    everywhere = {word for page in pages for word in literals(page)}
    assert wale
    assert wale <= everywhere


def test_every_key_of_a_result() -> None:
    code = source(*PACKAGE, "results", "result.py")
    keys: set[str] = set()
    for function in ("_wale_flow", "flow_results", "link_results", "settled", "make_result"):
        body = re.search(rf"^def {function}\(.*?(?=^def |\Z)", code, re.M | re.S)
        assert body, f"result.py has no function {function}"
        keys |= set(re.findall(r'^ +"(\w+)":', body[0], re.M))
    summary = re.search(
        r"^def summary\(.*?(?=^def )", source(*PACKAGE, "results", "sessions.py"), re.M | re.S
    )
    assert summary
    keys |= set(re.findall(r'^ +"(\w+)":', summary[0], re.M))
    assert not_in("testbed.rst", keys) == set()


def test_every_key_of_the_results_of_a_study() -> None:
    columns = re.search(r'^COLUMNS = "([\w,]+)"', source(*PACKAGE, "studies", "summary.py"), re.M)
    assert columns
    keys = set(columns[1].split(","))
    for file, function in (("summary.py", "_about"), ("command.py", "_record")):
        body = re.search(
            rf"^def {function}\(.*?(?=^def |\Z)", source(*PACKAGE, "studies", file), re.M | re.S
        )
        assert body, f"{file} has no function {function}"
        keys |= set(re.findall(r'^ +"(\w+)":', body[0], re.M))
    assert not_in("studies.rst", keys) == set()


def test_pages_name_files_that_exist() -> None:
    missing = []
    pattern = re.compile(r"`((?:kmod|userspace|testbed|Documentation)/[\w./-]+)`")
    for page in [*DOCUMENTATION.glob("*.rst"), TOP / "README.md"]:
        for name in pattern.findall(page.read_text(encoding="utf-8")):
            if not (TOP / name).exists():
                missing.append(f"{page.name}: {name}")
    assert missing == []


def test_maintainers_of_every_folder() -> None:
    lines = source("MAINTAINERS").splitlines()
    named = [line.partition("\t")[2] for line in lines if line.startswith("F:")]
    gone = [n for n in named if "*" not in n and not (TOP / n).exists()]
    assert gone == []
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout
    folders = {name.partition("/")[0] + "/" for name in listed.splitlines() if "/" in name}
    assert {f for f in folders if f not in named and not f.startswith(".")} == set()
    rest = lines[lines.index("THE REST") :]
    for letter, purpose in (("B", "where bugs are reported"), ("P", "what a patch needs")):
        assert any(line.startswith(f"{letter}:\t") for line in rest), purpose
