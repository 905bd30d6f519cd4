# SPDX-License-Identifier: GPL-2.0
"""Scenarios: what is accepted, what is refused and how the message says so."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from wale_lab import yaml_lines
from wale_lab.cli import main
from wale_lab.describe import json_schema, markdown
from wale_lab.errors import ScenarioError
from wale_lab.guest.links import is_plain
from wale_lab.link import Link
from wale_lab.link_words import PLAIN, in_former_words, is_new
from wale_lab.options import ALIASES, LINK, Option
from wale_lab.pairs import ROLES
from wale_lab.scenario import Scenario, check_scenario, find_scenario, load_scenario
from wale_lab.topologies import plan as plans
from wale_lab.topologies.plan import planned_trace
from wale_lab.topologies.planning import make_plan
from wale_lab.trace_format.step import Step
from wale_lab.tree import PACKAGE

GOOD = """\
name: good
bottleneck:
  forward: {rate: 2mbit, delay: 50ms, limit: 30kB, loss: 1%}
flows:
  - name: one
    cc: reno
    size: 1MB
  - name: two
    size: 2MB
    after: one
"""


def check(text: str, *overrides: str, folder: Path = Path()) -> Scenario:
    return check_scenario(yaml_lines.parse(text, "s.yaml"), list(overrides), folder)


def refused(text: str, *overrides: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        check(text, *overrides)
    return str(caught.value).splitlines()


def test_good() -> None:
    scenario = check(GOOD)
    forward = scenario.bottleneck.forward
    assert (forward.rate, forward.delay, forward.limit) == (2_000_000, 50_000_000, "30000b")
    assert forward.loss == 0.01
    assert scenario.bottleneck.reverse.rate == "unlimited"
    assert [f.size for f in scenario.flows] == [1_000_000, 2_000_000]
    assert scenario.topology.pairs[0].name == "pair1"


def test_name_is_not_that_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(GOOD)
    assert load_scenario(tmp_path / "other.yaml").name == "good"
    said = json_schema()["properties"]["name"]["description"]
    assert said == "name in results; without --out they go to out/NAME"


SWITCH = "overhead: atm, limit: 1000 cells, policy: seldrop"


def switch(words: str) -> str:
    return GOOD.replace("limit: 30kB", words)


def test_a_switch() -> None:
    """The options of the buffer are tc's, in the units of the scenario."""
    words = f"{SWITCH}, threshold: 90%, share_factor: 0.8, flows: 15, input_rate: 155.52mbit"
    link = check(switch(words)).bottleneck.forward
    tc = " ".join(plans.wale_words(link, 1))
    assert "limit 1000 cells policy seldrop threshold 90% share_factor 0.8 flows 15 " in tc
    assert " input_rate 155520000bit " in tc
    link = check(switch("limit: 20p, policy: random_tail, victims: 5")).bottleneck.forward
    tc = " ".join(plans.wale_words(link, 1))
    assert "limit 20p policy random_tail victims 5 " in tc
    assert "policy" not in plans.wale_words(check(GOOD).bottleneck.forward, 1)


def test_marks() -> None:
    link = check(
        switch("limit: 20p, policy: rem, policy_ecn: true, rem: {target: 30kB, gamma: 0.005}")
    )
    tc = " ".join(plans.wale_words(link.bottleneck.forward, 1))
    rem = "rem interval 10000000ns gamma 0.005 alpha 0.1 target 30000b phi 1.1"
    assert f"limit 20p policy rem policy_ecn {rem} " in tc
    assert "policy_ecn" not in plans.wale_words(check(GOOD).bottleneck.forward, 1)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("limit: 1000 cells", "overhead: atm"),
        ("overhead: atm, limit: 31 cells", "which takes 32 cells, got 31 cells"),
        ("limit: 30kB, input_rate: 1mbit", "a limit in cells"),
        ("limit: 30kB, threshold: 90%", "policy epd, seldrop or fba"),
        ("limit: 30kB, policy: epd, share_factor: 0.8", "policy seldrop or fba"),
        ("limit: 30kB, victims: 5", "random_tail"),
        ("limit: 30kB, policy: epd, threshold: 20p", "in the unit of the limit"),
        (f"{SWITCH}, flows: 0", "flows"),
        (f"{SWITCH}, policy: red", "policy"),
        ("limit: 30kB, rem: {phi: 2}", "rem with policy rem"),
        ("limit: 30kB, policy_ecn: true", "policy_ecn with policy epd, seldrop, fba or rem"),
        (
            "limit: 30kB, policy: rem, rem: {interval: 2s}",
            "interval: expected a time from 1 ms to 1 s",
        ),
        (
            "limit: 30kB, policy: rem, rem: {interval: 999us}",
            "interval: expected a time from 1 ms to 1 s",
        ),
        ("limit: 30kB, policy: rem, rem: {gamma: 0}", "gamma"),
        (
            "limit: 30kB, policy: rem, rem: {target: 2TB}",
            "target: expected a size from 0 to 1099511627776 bytes",
        ),
        ("overhead: atm, limit: 5000000 cells", "limit: expected 1 to 4194304 cells"),
        (
            f"{SWITCH}, input_rate: 900B/s",
            "input_rate: expected a rate from 1000 to 53000000000 bytes/s, or unlimited",
        ),
        (
            f"{SWITCH}, input_rate: 425gbit",
            "input_rate: expected a rate from 1000 to 53000000000 bytes/s, or unlimited",
        ),
        (
            "limit: 30kB, sessions: {arrival: 1%, mean: 10, max: 3, step: 900us}",
            "step: expected a time from 1 ms to",
        ),
        ("limit: 30kB, sessions: {arrival: 1%, mean: 1e7, max: 3, step: 1s}", "mean"),
        ("limit: 30kB, sessions: {arrival: 1%, mean: 0.0001, max: 3, step: 1s}", "mean"),
    ],
)
def test_no_switch(words: str, says: str) -> None:
    assert says in refused(switch(words))[0]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("slot: {min: 3ms, max: 1ms}", "slot: expected a min of at most max"),
        ("slot: {min: 0}", "a max of 1ns to 1 day"),
        ("scone: half", "a rate"),
        ("scone: 99kbit", "link, share, or a rate from 100kbit"),
        ("scone: link period", "period TIME"),
        ("scone: link period 1ms", "period 100000000ns to 600s"),
        ("scone: 1mbit average 5s", "a rate has none"),
        ("scone: share", "expected feedback"),
        ("jitter: {time: 2d}", "jitter.time: expected a time from 0 to 1 day"),
        (
            "jitter: {time: 1ms, distribution: nosuch}",
            "distribution: expected one of uniform, normal",
        ),
        ("jitter: {time: 1ms, distribution: /nosuch}", "or the path of a table"),
        ('drop: [{packets: "5-3"}]', "drop.0.packets: expected numbers of packets from 1 to"),
        ('drop: [{packets: "4294967296"}]', "got '4294967296'"),
        ("drop: [{packets: 0}]", "got 0"),
        ('drop: [{packets: "1,2-"}]', "got '1,2-'"),
        ("drop: [" + '{packets: "1,2"},' * 17 + "]", "at most 32 packets and ranges"),
        (
            'drop_list: [{packets: "5", flow: 2}]',
            "expected flows of at least 2 with flow 2 of a drop",
        ),
        ('policy: fba, drop: [{packets: "5", flow: 1025}]', "the link tells 1024 apart"),
        ('trace: {steps: "1s:0"}', "trace.steps: expected a step with a rate above 0"),
        ('trace: {steps: "25h:1mbit"}', "trace.steps.0: expected a duration from 1us to 1 day"),
        ("trace: {steps: [" + '"24h:1mbit",' * 4001 + "]}", "a trace of at most 4000 days"),
        ('trace: {steps: "1s:1mbit"}, start: -400000d', "a start at most 19000 days ago"),
        ("limit: 4294967296p", "limit: expected 1 to 4294967295 packets"),
        ("limit: 0B", "limit: expected 1 to 2^64 - 2 bytes, got '0B'"),
        ("limit: 18446744073709551615b", "limit: expected 1 to 2^64 - 2 bytes"),
        (
            "rate: 1mbit, sessions: {arrival: 100%, mean: 0.01, max: 9, step: 10ms}",
            "at most 1 together",
        ),
        ("rate: 1mbit, sessions: {arrival: 1%, mean: 5, max: 9, step: 25h}", "from 1 ms to 1 day"),
        ('qdisc: " "', "qdisc: expected a qdisc and its options"),
    ],
)
def test_no_link(words: str, says: str) -> None:
    (line,) = refused(GOOD.replace("rate: 2mbit, delay: 50ms, limit: 30kB, loss: 1%", words))
    assert line.startswith("s.yaml:3: bottleneck.forward")
    assert says in line


def test_a_qdisc_is_one_line() -> None:
    words = 'qdisc: "pfifo\\n  limit 10\\n"'
    scenario = check(GOOD.replace("rate: 2mbit, delay: 50ms, limit: 30kB, loss: 1%", words))
    assert scenario.bottleneck.forward.qdisc == "pfifo limit 10"


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "scenarios").glob("*.yaml")), ids=lambda p: p.stem
)
def test_scenarios_of_the_tree(path: Path) -> None:
    scenario = load_scenario(path)
    assert scenario.name == path.stem
    assert scenario.description
    plan = make_plan(scenario, 1)
    assert plan.flows or plan.programs


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "rate: 2mbit",
            "rate: 2mbps",
            "s.yaml:3: bottleneck.forward.rate: expected a rate such as",
        ),
        ("delay: 50ms", "delay: -1", "s.yaml:3: bottleneck.forward.delay: expected a time such as"),
        ("loss: 1%", "loss: 2", "s.yaml:3: bottleneck.forward.loss: expected a probability"),
        (
            "    cc: reno",
            "    cd: reno",
            "s.yaml:6: flows.0.cd: unknown key; expected one of after,",
        ),
        ("name: good", "nam: good", "s.yaml:1: nam: unknown key; expected one of bottleneck,"),
        (
            "    size: 1MB",
            "    duration: 0s",
            "s.yaml:5: flows.0: expected a size or duration above",
        ),
        (
            "    size: 1MB",
            "    duration: 400ms\n    tool: iperf3",
            "s.yaml:5: flows.0: expected a duration of whole seconds with tool: iperf3",
        ),
        (
            "    size: 1MB",
            "    start: 1s",
            "s.yaml:5: flows.0: expected either a size, a duration or arrivals",
        ),
        (
            "after: one",
            "after: two",
            "s.yaml:10: flows.1.after: expected a flow that stands before",
        ),
        (
            "after: one",
            "pair: pair7",
            "s.yaml:10: flows.1.pair: expected one of pair1, got 'pair7'",
        ),
        ("name: two", "name: one", "s.yaml:8: flows.1.name: expected different names, 'one' is "),
        (
            "name: good\n",
            "name: good\ntopology:\n  pairs:\n  - {name: a}\n  - {name: a}\n",
            "s.yaml:5: topology.pairs.1.name: expected different names, 'a' is here twice",
        ),
        (
            "cc: reno\n    size: 1MB",
            "constant: {packet: 4000, rate: 1mbit}\n    duration: 1s",
            "flows.0.constant.packet: expected at most 1500 bytes, the mtu of its sender, got 4000",
        ),
        (
            "name: good\n",
            "name: good\nhosts: {all: {route: {congctl: a b}}}\n",
            "s.yaml:2: hosts.all.route.congctl: ",
        ),
        ("name: two", "name: 2!", "s.yaml:8: flows.1.name: "),
        ("rate: 2mbit", "qdisc: netem", "s.yaml:3: bottleneck.forward: expected qdisc alone"),
        ("limit: 30kB", 'queue: ""', "s.yaml:3: bottleneck.forward.queue: expected a qdisc that q"),
        (
            "limit: 30kB",
            "queue: netem delay 1ms",
            "bottleneck.forward.queue: expected a qdisc that",
        ),
        ("rate: 2mbit", "queue: red", "and has its own (limit=null takes it out)"),
        ("rate: 2mbit", "overhead: tin", "bottleneck.forward.overhead: expected raw, ethernet"),
        ("rate: 2mbit", "rate: 0bit", "s.yaml:3: bottleneck.forward: expected a rate above 0"),
        ("name: good\n", "name: good\nip: 5\n", "s.yaml:2: ip: expected 4 or 6, got 5"),
        ("name: good\n", "name: good\nprofile: x\n", "s.yaml:2: profile: expected one of modern, "),
        (
            "name: good\n",
            "name: good\ntopology: {pairs: 0}\n",
            "s.yaml:2: topology.pairs: expected 1",
        ),
        ("name: good\n", "name: good\nname: better\n", "s.yaml:2: name: this key is here twice"),
        ("name: good\n", "name: [\n", "s.yaml:"),
        (
            "name: good\n",
            "name: good\nhosts: {all: {sysctls: {kernel.panic: 1}}}\n",
            "s.yaml:2: hosts.all.sysctls: expected names that begin with net., got 'kernel.panic'",
        ),
        ("delay: 50ms", "delay: 25h", "s.yaml:3: bottleneck.forward.delay: expected a time from"),
        ("rate: 2mbit", "rate: 9e15", "s.yaml:3: bottleneck.forward.rate: expected a rate from"),
        ("rate: 2mbit", "rate: 1e99999999", "s.yaml:3: bottleneck.forward.rate: expected a rate"),
        ("size: 1MB", "size: 9223372036854775808", "s.yaml:7: flows.0.size: expected a size from"),
        (
            "limit: 30kB",
            "limit: 1499B",
            "s.yaml:3: bottleneck.forward.limit: expected a buffer for at least one packet, which "
            "takes 1500 bytes, got 1499 bytes",
        ),
        ("limit: 30kB", "overhead: atm, limit: 1500B", "packet, which takes 1696 bytes"),
        (
            "name: good\n",
            "name: good\nwall_limit: 0\n",
            "s.yaml:2: wall_limit: expected a time above 0",
        ),
        ("name: good\n", "name: good\nvirtual_limit: 0s\n", "s.yaml:2: virtual_limit: expected a"),
        (
            "name: good\n",
            "name: good\nhosts: {all: {route: {initcwnd: 0}}}\n",
            "s.yaml:2: hosts.all.route.initcwnd: expected greater than or equal to 1, got 0",
        ),
        ("name: good\n", "name: good\n<<: 6\n", "s.yaml:2: <<: expected the alias of keys"),
        (
            "name: good\n",
            "name: good\nhosts: &h\n  all: *h\n",
            "s.yaml:3: hosts.all: this alias stands for something that it is itself a part of",
        ),
        (
            "name: good\n",
            "name: good\nhosts: " + "[" * 5000 + "]" * 5000 + "\n",
            "s.yaml:2: expected at most 50 levels",
        ),
        ("name: good\n", "name: good\nprofile: 0x_\n", "s.yaml:2: not valid YAML: "),
        (
            "name: good\n",
            "name: good\nstart: 2026-13-01\n",
            "s.yaml:2: start: expected a date from 1980 to 2199 such as",
        ),
        ("name: good\n", "name: good\nstart: 2026\n", "s.yaml:2: start: expected a date"),
        ("name: good\n", "name: good\nstart: tomorrow\n", "s.yaml:2: start: expected a date"),
        ("name: good\n", "name: good\nstart: 1970-01-01\n", "s.yaml:2: start: expected a date"),
        (
            "    cc: reno",
            "    start: 1h",
            "s.yaml:6: flows.0.start: expected a time before virtual_limit, 1 h, got 1 h after",
        ),
        (
            "name: good\n",
            "name: good\nrecord: 7\n",
            "s.yaml:2: record: expected keys such as flows, interval, links, got 7",
        ),
        (
            "name: good\n",
            "name: good\nrecord: {settled: 2h}\n",
            "s.yaml:2: record.settled: expected a time before virtual_limit, 1 h, got 2 h",
        ),
    ],
)
def test_refused_with_line_and_key(old: str, new: str, expected: str) -> None:
    lines = refused(GOOD.replace(old, new, 1))
    assert any(expected in line for line in lines), lines


def test_keys_of_another_mapping_are_merged() -> None:
    text = "one: &one\n  a: 1\n  b: 2\ntwo:\n  b: 3\n  <<: *one\n"
    document = yaml_lines.parse(text, "s.yaml")
    assert document.value == {"one": {"a": 1, "b": 2}, "two": {"b": 3, "a": 1}}
    assert document.where(("two", "b")) == "s.yaml:5"
    for wrong, says in (
        ("<<: {<<: 6}\n", "s.yaml:1: <<: expected the alias of keys"),
        ("a: &a {<<: *a}\n", "s.yaml:1: a: this alias stands for something that it is itself"),
        ("a: &a {b: 1}\nc:\n  <<: *a\n  <<: *a\n", "s.yaml:4: <<: this key is here twice"),
    ):
        with pytest.raises(ScenarioError) as caught:
            yaml_lines.parse(wrong, "s.yaml")
        assert says in str(caught.value)


@pytest.mark.parametrize("level", ["{k: *%s, l: *%s}", "{<<: *%s, k: *%s}"])
def test_aliases_do_not_multiply_without_end(level: str) -> None:
    names = [f"n{number}" for number in range(25)]
    lines = ["n0: &n0 {k: 1}"]
    lines += [f"{b}: &{b} {level % (a, a)}" for a, b in pairwise(names)]
    with pytest.raises(ScenarioError, match=r"s\.yaml:\d+: expected at most 100000 values"):
        yaml_lines.parse("\n".join(lines), "s.yaml")


def test_ranges_include_their_ends() -> None:
    scenario = check(
        GOOD,
        "bottleneck.forward={rate: 8e15, delay: 1d, limit: 540B}",
        "bottleneck.reverse={rate: 8bit, delay: 0, limit: 1p}",
        "hosts.all={mtu: 540, sysctls: {net.a: true, net.b: off, net.c: 3}}",
        "flows.one.size=9223372036854775807",
    )
    assert scenario.bottleneck.forward.rate == 8 * 10**15
    assert scenario.hosts.all.sysctls == {"net.a": "1", "net.b": "0", "net.c": "3"}


def test_set_cannot_nest_without_end() -> None:
    assert "at most 50 levels" in refused(GOOD, "hosts=" + "{a: " * 5000 + "}" * 5000)[0]
    assert "it is itself a part of" in refused(GOOD, "hosts=&h {all: *h}")[0]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run", "demo", "--seed", "abc"], "--seed: expected a number from 0 to 2^64 - 1"),
        (["run", "demo", "--seed", "-1"], "--seed: expected a number from 0 to 2^64 - 1"),
        (["run", "demo", "--out", ""], "--out: expected a folder, got ''"),
        (["exec", "--wall-limit", "0", "--", "true"], "expected a number of seconds above 0"),
        (["exec", "--wall-limit", "nan", "--", "true"], "expected a number of seconds above 0"),
        (["exec", "--memory", "63", "--", "true"], "--memory: expected 64 to 65536 MB, got '63'"),
    ],
)
def test_options_refused(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert expected in capsys.readouterr().err


def test_every_error_is_a_line() -> None:
    lines = refused(GOOD.replace("50ms", "x").replace("1MB", "y").replace("2MB", "z"))
    assert [line.split(" ")[0] for line in lines] == ["s.yaml:3:", "s.yaml:7:", "s.yaml:9:"]


def test_start_after_another_flow() -> None:
    """That of the other one counts too; what is just before the limit is none."""
    starts = ["flows.one.start=59min", "virtual_limit=1h"]
    assert check(GOOD, *starts, "flows.two.start=59s")
    (said,) = refused(GOOD, *starts, "flows.two.start=1min")
    assert said.startswith("s.yaml: --set: flows.1.start: expected a time before virtual_limit")


def test_missing_key() -> None:
    assert refused("name: a\n") == ["s.yaml:1: flows: expected this key, it is missing"]
    assert refused("- 1\n") == ["s.yaml:1: expected keys and values: name, flows, ..."]


def test_set() -> None:
    scenario = check(
        GOOD,
        "bottleneck.forward.loss=2%",
        "flows.0.cc=bbr",
        "flows.two.size=5MB",
        "topology.pairs=3",
        "hosts.senders.sysctls.net.ipv4.tcp_sack=0",
    )
    assert scenario.bottleneck.forward.loss == 0.02
    assert scenario.flows[0].cc == "bbr"
    assert scenario.flows[1].size == 5_000_000
    assert len(scenario.topology.pairs) == 3
    assert scenario.hosts.senders.sysctls == {"net.ipv4.tcp_sack": "0"}


def test_what_is_set_to_null_is_taken_out() -> None:
    """A queue instead of the limit that the scenario has."""
    limit, queue = "bottleneck.forward.limit=null", "bottleneck.forward.queue=fq_codel"
    assert check(GOOD, limit).bottleneck.forward.limit == "1000p"
    assert check(GOOD, limit, queue).bottleneck.forward.queue == "fq_codel"
    assert check(GOOD, limit, "bottleneck.forward.policy=null").resolved() == (
        check(GOOD, "bottleneck.forward.limit=1000p").resolved()
    )


@pytest.mark.parametrize(
    ("assignment", "expected"),
    [
        ("flows.0.cc", "expected KEY=VALUE"),
        ("flows.².cc=reno", "flows has no item '²'"),
        ("wall_limit=1e999", "wall_limit: expected a time above 0, of at most 4000 days"),
        ("flows.7.cc=reno", "flows has no item '7'; expected an index from 0 to 1 or a name"),
        ("name.x=1", "name is a plain value, it has no key 'x'"),
        ("bottleneck.forward.rate=fast", "s.yaml: --set: bottleneck.forward.rate: expected a rate"),
        ("flows.0.speed=1", "s.yaml: --set: flows.0.speed: unknown key"),
    ],
)
def test_set_refused(assignment: str, expected: str) -> None:
    assert expected in refused(GOOD, assignment)[0]


def test_table_of_jitter(tmp_path: Path) -> None:
    """What a run depends on is what is in it, not its name."""
    table = tmp_path / "table.dist"
    assignment = f"bottleneck.forward.jitter={{time: 1ms, distribution: {table}}}"
    table.write_text("1 2 3  # a table\n")
    first = check(GOOD, assignment)
    assert first.resolved() == first.resolved()
    before = first.resolved()
    table.write_text("1 2 4\n")
    assert first.resolved() != before
    for text in ("", "one two", "# 1"):
        table.write_text(text)
        assert "expected a table of whole numbers in" in refused(GOOD, assignment)[0]


def test_trace_file(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("# a mobile link\n1s 2mbit\n\n500ms 0bit # tunnel\n")
    text = GOOD.replace("rate: 2mbit", "trace: {file: t, end: stop}")
    scenario = check(text, folder=tmp_path)
    assert scenario.bottleneck.forward.trace is not None
    assert scenario.bottleneck.forward.trace.steps == [(10**9, 2_000_000), (500_000_000, 0)]


@pytest.mark.parametrize(
    "trace",
    [
        '{steps: "5s:8mbit,20ms,0.1%,100p 1s:down"}',
        '{steps: ["5s:8mbit,20ms, 0.1%,100p", "1s:down"]}',
        "{steps: [[5s, 8mbit, 0.1%, 100p, 20ms], [1s, down]]}",
        "{file: t}",
        "{file: named}",
    ],
)
def test_columns_of_a_trace(tmp_path: Path, trace: str) -> None:
    """A step has more than a rate, in a value as in a file, and can be read again."""
    (tmp_path / "t").write_text("5s 8mbit 20ms 0.1% 100p\n1s down\n")
    named = "duration loss rate delay limit\n5s 0.1% 8mbit 20ms 100p\n1s - down - -\n"
    (tmp_path / "named").write_text(named)
    text = GOOD.replace("rate: 2mbit", f"trace: {trace}")
    link = check(text, folder=tmp_path).bottleneck.forward
    steps = [Step(5 * 10**9, 8_000_000, 20 * 10**6, 0.001, "100p"), Step(10**9, down=True)]
    assert link.trace
    assert link.trace.steps == steps
    dumped = link.model_dump(mode="json")["trace"]
    assert dumped["steps"] == ["5000000000ns:8000000bit,20ms,0.1%,100p", "1000000000ns:down"]
    assert Link.model_validate({"trace": dumped}).trace == link.trace
    lines = planned_trace(link)
    assert lines and lines.lines == ["5000000000ns 8000000bit 20ms 0.1% 100p", "1000000000ns down"]
    assert link.trace.rates(link.rate) == [(5 * 10**9, 8_000_000), (10**9, 0)]


def test_a_trace_without_rates_has_that_of_the_link() -> None:
    text = GOOD.replace("rate: 2mbit", 'trace: {steps: "1s:20ms 1s:down"}, rate: 2mbit')
    link = check(text).bottleneck.forward
    assert link.trace
    assert link.trace.rates(link.rate) == [(10**9, 2_000_000), (10**9, 0)]
    for trace in ('"1s:8mbit,20ms"', '"1s:8mbit 1s:down"'):
        with_rate = GOOD.replace("rate: 2mbit", f"trace: {{steps: {trace}}}, rate: 2mbit")
        with pytest.raises(ScenarioError, match="expected trace without rate"):
            check(with_rate)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1s\n", "t:1: expected `DURATION RATE`, got '1s'"),
        ("1s 8Mbps # bytes, as to tc\n1s\n", "t:2: expected `DURATION RATE`, got '1s'"),
        ("2000 8mbit\n", "t:1: expected a time with a unit, such as \"10ms\", got '2000'"),
        ("# a\n# b\n1s 8mbit\n1s 7xbit\n", "t:4: expected a rate such as"),
        ("1s 8mbit\n\n1x 8mbit\n", "t:3: expected a time such as"),
        ("1s 8mbit\n1s 300bit\n", "t:2: expected a whole number of bytes/s, got '300bit'"),
        ("1s 8mbit\n1s 9000tbit\n", "t:2: expected a rate from 8 bit/s to 8e15 bit/s"),
        ("1s 8mbit\n1s unlimited\n", "t:2: expected a rate such as"),
        ("1s 8mbit\n0s 8mbit\n", "t:2: expected a duration from 1us to 1 day, got 0 ns"),
        ("1s 8mbit\n\n25h 8mbit\n", "t:3: expected a duration from 1us to 1 day, got"),
        ("24h 1mbit\n" * 4001, "t: expected a trace of at most 4000 days"),
        ("1s 0bit\n", "t: expected a step with a rate above 0"),
        ("", "t: the trace has no steps"),
        ("# nothing\n", "t: the trace has no steps"),
        ("1s 8mbit\n1s 8mbit 20ms 30ms\n", "t:2: expected one delay, got '20ms' and '30ms'"),
        ("1s 8mbit\n1s 30kB\n", "t:2: expected a limit such as"),
        ("duration rate delay\n1s 8mbit\n", "t:2: expected 3 words, duration rate delay, got 2"),
        ("1s 8mbit 10p\n1s 8mbit 30KiB\n", "t: expected the limits all in packets, or all in"),
    ],
)
def test_mistakes_in_a_trace_file(tmp_path: Path, text: str, says: str) -> None:
    """The file and its line are named, not the scenario's and the number of a step."""
    (tmp_path / "t").write_text(text)
    with pytest.raises(ScenarioError) as refusal:
        check(GOOD.replace("rate: 2mbit", "trace: {file: t}"), folder=tmp_path)
    assert str(refusal.value).startswith(f"{tmp_path}/{says}")


def test_settings_of_hosts() -> None:
    scenario = check(
        GOOD,
        "profile=newreno",
        "hosts.all.mtu=600",
        "hosts.senders.sysctls.net.ipv4.tcp_sack=1",
        "hosts.pairs={pair1: {receiver: {mtu: 700, route: {quickack: off}}}}",
    )
    sender = scenario.host_settings("pair1", "sender")
    receiver = scenario.host_settings("pair1", "receiver")
    assert sender.sysctls["net.ipv4.tcp_sack"] == "1"
    assert receiver.sysctls["net.ipv4.tcp_sack"] == "0"
    assert (sender.mtu, receiver.mtu) == (600, 700)
    assert [scenario.mtu("pair1", role) for role in ROLES] == [600, 700]
    assert sender.offloads.gso is False
    assert receiver.route.quickack is False


def test_profile_of_a_pair() -> None:
    pairs = "topology.pairs=[{name: old}, {name: new}]"
    scenario = check(GOOD, pairs, "hosts.pairs.old.profile=oldtahoe")
    old, new = (scenario.host_settings(name, "sender") for name in ("old", "new"))
    assert old.sysctls["net.ipv4.tcp_sack"] == "0"
    assert "net.ipv4.tcp_sack" not in new.sysctls
    assert scenario.resolved()["hosts"]["pairs"]["old"]["profile"]["all"]["sysctls"]
    with pytest.raises(ScenarioError, match=r"hosts.pairs.old.profile|expected one of"):
        check(GOOD, pairs, "hosts.pairs.old.profile=nosuch")


def test_find() -> None:
    assert find_scenario("demo").name == "demo.yaml"
    with pytest.raises(ScenarioError, match=r"there is no scenario 'nosuch'; .* demo,"):
        find_scenario("nosuch")
    with pytest.raises(ScenarioError, match=r"there is no scenario ''; .* demo,"):
        find_scenario("")
    with pytest.raises(ScenarioError, match="expected a YAML file, this is a folder"):
        find_scenario(str(PACKAGE))
    with pytest.raises(ScenarioError, match="there is no such file"):
        find_scenario("./nosuch.yaml")


def test_schema_and_reference() -> None:
    schema = json_schema()
    json.dumps(schema)
    assert schema["properties"]["wall_limit"]["default"] == "10min"
    parts = schema["$defs"]
    kinds = [k["type"] for k in parts["Topology"]["properties"]["pairs"]["anyOf"]]
    assert kinds == ["integer", "array"]
    steps = parts["Trace"]["properties"]["steps"]["anyOf"]
    assert [k["type"] for k in steps] == ["string", "array"]
    assert [k["type"] for k in steps[1]["items"]["anyOf"]] == ["string", "array"]
    sysctls = parts["HostSettings"]["properties"]["sysctls"]["additionalProperties"]
    assert sysctls["type"] == ["string", "number", "boolean"]
    text = markdown(schema)
    for word in ("`flows`", "`access_delay`", "`initcwnd`", "## links.csv", "`t_s`"):
        assert word in text


def test_plan_of_a_dumbbell() -> None:
    scenario = check(
        GOOD,
        "isolate=true",
        "topology.pairs=[{name: near}, {name: far, access_delay: 10ms}]",
        "flows.two.pair=far",
    )
    plan = make_plan(scenario, 1)
    names = [ns.name for ns in plan.namespaces]
    assert len(names) == len(set(names)) == 8  # a copy has no pair but its flow's
    assert {"one.near-sender", "two.far-sender"} < set(names)
    shown = [link for link in plan.links if link.shown]
    assert [link.name for link in shown] == [
        "one.forward",
        "one.reverse",
        "two.forward",
        "two.reverse",
    ]
    # every copy sees the same draws, each direction its own
    seeds = [link.words[-1] for link in shown]
    assert seeds[0] == seeds[2] != seeds[1] == seeds[3]
    assert len([link for link in plan.links if not link.shown]) == 2  # far has an access delay
    assert {flow.port for flow in plan.flows} == {plans.FIRST_PORT}
    assert all(len(ns.name) < 64 for ns in plan.namespaces)


def test_link_options() -> None:
    scenario = check(GOOD)
    words = plans.wale_words(scenario.bottleneck.forward, 5)
    assert " ".join(words) == (
        "wale rate 2000000bit delay 50000000ns limit 30000b loss 1% overhead raw drop_report remote seed 5"
    )
    assert plans.planned_trace(scenario.bottleneck.forward) is None


FORMER = (
    "policy: seldrop, z: 0.5, mark: on, drops: local, ecn: on, drop: [{packets: 3}], "
    "jitter: {time: 1ms, reordering: on}"
)


def test_former_words_of_options() -> None:
    """They are taken as those of now, give the same digest, and are shown no more."""
    now = FORMER
    for old, new in ALIASES.items():
        now = re.sub(rf"\b{old}:", f"{new}:", now)
    before, after = (
        check(GOOD.replace("loss: 1%", f"loss: 1%, {words}")) for words in (FORMER, now)
    )
    assert before.resolved() == after.resolved()
    qdisc = " ".join(plans.wale_words(after.bottleneck.forward, 5))
    assert set(qdisc.split()) & set(ALIASES) == set()
    assert in_former_words(qdisc) == (
        "wale rate 2000000bit delay 50000000ns limit 30000b policy seldrop z 0.5 mark loss 1% ecn "
        "jitter 1000000ns distribution uniform reordering drop flow 0 packets 3 overhead raw "
        "drops local seed 5"
    )
    assert in_former_words("netem loss_ecn") == "netem loss_ecn"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("z: 1, share_factor: 1", "expected share_factor once; z is the old word for it"),
        ("drop_list: [{paket: 3}]", "unknown key; expected one of flow, packets"),
        ("markt: on", "unknown key; .*policy_ecn, .*victims"),
        ("policy: epd, z: 1", "expected share_factor with policy seldrop or fba"),
        ("queue: fq, last: 3", "expected queue without victims"),
        ("drops: nobody", "drops: expected 'remote' or 'local'"),
    ],
)
def test_former_words_in_messages(words: str, says: str) -> None:
    with pytest.raises(ScenarioError, match=says):
        check(GOOD.replace("limit: 30kB", words))


def test_every_plain_option_is_a_key() -> None:
    """What the contract has for a link, a scenario can say, and its words name it."""
    plain = {option.word for option in LINK.values() if option.form in PLAIN}
    keys = {ALIASES.get(name, name) for name in Link.model_fields}
    assert plain - {"seed"} <= keys
    new = [Link.model_fields[name] for name in Link.model_fields if is_new(name)]
    assert [field.default for field in new] == [None] * len(new)  # so that no digest has it


def test_an_option_that_is_new_changes_nothing_unless_it_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is in the words by its number, behind all others, and in no digest without a value."""
    given = {"rate": "2mbit", "delay": "50ms", "limit": "30kB"}
    link = Link.model_validate(given)
    before = link.model_dump(mode="json")

    class Newer(Link):
        line: str | None = None

    option = Option(39, "I", "line", "amount", 1, 1000, None, "1 to 1000 packets", "")
    monkeypatch.setitem(LINK, "line_packets", option)
    assert Newer.model_validate(given).model_dump(mode="json") == before
    newer = Newer.model_validate({**given, "line": "5p"})
    assert newer.model_dump(mode="json") == before | {"line": "5p"}
    words = plans.wale_words(link, 5)
    assert plans.wale_words(newer, 5) == [*words, "line", "5p"]


def test_a_plan_has_words_as_they_are() -> None:
    """No word of a user's is taken for one that the guest fills in, or for two."""
    qdisc = "netem delay 10ms distribution '/my START/TRACE.dist'"
    plan = make_plan(
        check(
            GOOD.replace(
                "{rate: 2mbit, delay: 50ms, limit: 30kB, loss: 1%}", f'{{qdisc: "{qdisc}"}}'
            )
        ),
        1,
    )
    link = next(link for link in plan.links if link.name == "forward")
    assert link.words == ["netem", "delay", "10ms", "distribution", "/my START/TRACE.dist"]
    assert not is_plain(link.words[-1]) and is_plain("1:1")
    assert link.trace is None and not link.starts


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("--help", 0, "wale-lab run demo"),
        ("run --help", 0, "125 if the engine cannot run it"),
        ("run", 2, "the following arguments are required: SCENARIO"),
        ("run demo --seed soon", 2, "expected a number from 0 to 2^64 - 1"),
        ("run nosuch", 2, "there is no scenario 'nosuch'"),
        ("exec --env FOO -- true", 2, "--env FOO: expected NAME=VALUE"),
        ("run demo --set colour=red", 2, "colour: unknown key"),
        ("plot nowhere", 2, "nowhere: expected the output folder of a run"),
    ],
)
def test_exit_status(
    words: str, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Help is no error; what is wrong with the words of a command is 2."""
    try:
        found = main(words.split())
    except SystemExit as end:
        found = int(end.code or 0)
    assert found == status
    assert said in "".join(capsys.readouterr())


def test_a_packet_of_sessions_is_the_papers() -> None:
    """Karnik and Kumar's packets have 500 bytes, as in the studies."""
    scenario = load_scenario(find_scenario("sessions"))
    assert scenario.host_settings("pair1", "sender").mtu == 500
