# SPDX-License-Identifier: GPL-2.0
"""Command lines with values of their own: what the suite makes of them, and what it excuses."""

from __future__ import annotations

import pytest

from wale_lab.conform.checks import CHECKS
from wale_lab.conform.command import judge
from wale_lab.conform.evidence import Evidence
from wale_lab.conform.experiments import experiments
from wale_lab.conform.guest import reason
from wale_lab.conform.promises import find_template
from wale_lab.conform.template import parse

MS = 10**6

TEMPLATES = [
    ("netem delay 20ms rate 10mbit limit 100", "netem [delay {delay}] [rate {rate}] limit {limit}"),
    (
        "tc qdisc add dev eth0 root handle 1: netem delay 20ms 5ms distribution pareto loss 1%",
        "netem [delay {delay}] [{jitter} distribution pareto] [loss {loss}]",
    ),
    (
        "tc qdisc add dev e parent 1:1 handle 2: tbf rate 1mbit buffer 32kbit latency 400ms",
        "tbf rate {rate} buffer {burst} limit {limit_bytes}",
    ),
    (
        "htb default 1; class htb rate 5mbit ceil 5mbit; pfifo limit 20",
        "htb default 1; class htb rate {rate} ceil {rate}; [pfifo limit {child_limit}]",
    ),
    (
        "wale limit 64kb rate 1mbit jitter 2ms loss gemodel 1% 10% policy fba",
        "wale limit {limit}p [rate {rate}] [jitter {jitter}] "
        "[loss gemodel {gemodel_p} {gemodel_r}] policy fba",
    ),
    ("netem limit {limit} delay 3ms", "netem limit {limit} delay 3ms"),
    # losses
    ("netem loss 1% 25% slot 1ms", "netem [loss {loss} 25%] [slot {slot}]"),
    ("netem loss random .5% ecn", "netem [loss {loss}] [{ecn}]"),
    (
        "wale loss gemodel 1% 10% 70% 0.1% delay 2ms",
        "wale [loss gemodel {gemodel_p} {gemodel_r} 70% 0.1%] [delay {delay}]",
    ),
    ("netem loss gemodel 1%", "netem [loss gemodel {gemodel_p} {gemodel_r}]"),
    ("wale loss state 1%", "wale [loss state {state_p13} {state_p31} 0% 100% {state_p14}]"),
    ("wale loss state 1% 2% 3%", "wale [loss state {state_p13} {state_p31} 3% 100% {state_p14}]"),
    (
        "netem loss state 1% 2% 3% 4% 5% limit 9",
        "netem [loss state {state_p13} {state_p31} 3% 4% {state_p14}] limit {limit}",
    ),
    (
        "wale flows 4 drop_list packets 1-3 drop_list flow 1 packets 10,11 delay 2ms",
        "wale flows 4 [drop_list packets {drop_first}-{drop_last}] [delay {delay}]",
    ),
    ("wale loss 1% loss_ecn", "wale [loss {loss}] [loss_{ecn}]"),
    # words that these options had before
    ("wale drop packets 1-3", "wale [drop_list packets {drop_first}-{drop_last}]"),
    ("wale loss 1% ecn", "wale [loss {loss}] [{ecn}]"),
    ("wale jitter 5ms reordering", "wale [jitter {jitter} reordering]"),
    # times
    ("wale slot 5ms 10ms delay 2ms", "wale [slot {slot}] [delay {delay}]"),
    ("netem slot 5ms packets 3 bytes 9", "netem [slot {slot} packets 3 bytes 9]"),
    (
        "netem slot distribution normal 5ms 1ms packets 3 delay 3ms",
        "netem [slot distribution normal {slot} 1ms packets 3] [delay {delay}]",
    ),
    (
        "netem delay 100ms 10ms 25% limit 9",
        "netem [delay {delay}] [{jitter} 25%] limit {limit}",
    ),
    (
        "netem delay 9ms 1ms slot 2ms 3ms distribution normal",
        "netem [delay {delay}] [{jitter} distribution normal] [slot {slot}]",
    ),
    (
        "wale jitter 5ms distribution normal overtaking rate 1mbit",
        "wale [jitter {jitter} distribution normal overtaking] [rate {rate}]",
    ),
    ("wale reorder 25% gap 5 delay 2ms", "wale [reorder {reorder} gap 5] [delay {delay}]"),
    (
        "netem reorder 25% 50% delay 2ms gap 5",
        "netem [reorder {reorder} 50% gap 5] [delay {delay}]",
    ),
    (
        "netem duplicate 1% 2% corrupt 3% 4%",
        "netem [duplicate {duplicate} 2%] [corrupt {corrupt} 4%]",
    ),
    # rates
    ("netem rate 5kbit 20 100 5", "netem [rate {rate} 20 100 5]"),
    ("netem rate 5kbit -14 limit 9", "netem [rate {rate} -14] limit {limit}"),
    (
        "wale trace 1s:8mbit,1s:4mbit loop start at +1s delay 2ms",
        "wale [trace {outage} start at {start}] [delay {delay}]",
    ),
    (
        "wale delay 2ms trace file /tmp/a hold",
        "wale [delay {delay}] [trace {outage} start at {start}]",
    ),
    (
        "wale rate 1mbit sessions arrival 0.02 mean 20 max 3 step 100ms delay 20ms",
        "wale [rate {rate}] [delay {delay}]",
    ),
    # limits
    (
        "wale rate 1mbit overhead atm limit 1000 cells",
        "wale [rate {rate}] overhead atm limit 1000 cells",
    ),
    (
        "wale rate 1mbit; red limit 60kB avpkt 500 burst 15 bandwidth 8mbit",
        "wale [rate {rate}]; red limit 60kB avpkt 500 burst 15 bandwidth 8mbit",
    ),
    ("cake bandwidth 20mbit rtt 50ms", "cake bandwidth {rate} rtt 50ms"),
    # others that have a rate
    (
        "wale policer rate 4mbit burst 9kb excess mark rate 1mbit flows 4 breaker rate 9mbit after 2s",
        "wale [policer rate {police} burst {burst} excess mark] [rate {rate}] flows 4 "
        "[breaker rate {breaker} after {after}]",
    ),
    ("wale policer off breaker off delay 2ms", "wale policer off breaker off [delay {delay}]"),
    ("wale corrupt 1% fix delay 2ms", "wale [corrupt {corrupt_fix} fix] [delay {delay}]"),
    ("wale corrupt 1%", "wale [corrupt {corrupt}]"),
    (
        "wale delay 2ms slot off drop off sessions off",
        "wale [delay {delay}] slot off drop off sessions off",
    ),
]


@pytest.mark.parametrize(("text", "expected"), TEMPLATES)
def test_a_plain_command_line_becomes_a_template(text: str, expected: str) -> None:
    assert find_template(text).text == expected


def late(lost: bool) -> dict[str, Evidence]:
    """Of the check delay: packets that leave 1 ms late, or of which one never does."""
    one = experiments(True)["delay"]
    times = range(0, len(one.sends) * MS, MS)
    left = [[when + 101 * MS, n, 0, one.sends[n][1], 0] for n, when in enumerate(times)]
    found = {"arrivals": list(times), "left": left[lost:], "told": [], "changes": [], "shown": []}
    return {"delay": Evidence(one, found, one.asked)}


OWN = [
    # words, what of them may be why packets are late, or why one is lost
    ("wale delay {delay} loss 1%", "", "loss 1%"),
    ("wale delay {delay} loss gemodel 0.1% 10%", "", "loss gemodel 0.1%"),
    ("wale [delay {delay} jitter 5ms]", "jitter 5ms", "jitter 5ms"),
    ("netem delay {delay} 5ms", "delay {delay} 5ms", "delay {delay} 5ms"),
    ("wale delay {delay} drop flow 1 packets 3", "", "drop flow 1"),
    ("netem delay {delay} slot distribution normal 5ms 1ms", "slot distribution normal 5ms",
     "slot distribution normal 5ms"),
    ("wale delay {delay} trace file /a", "trace file", "trace file"),
    ("wale delay {delay} sessions arrival 0.02 mean 2", "sessions arrival 0.02",
     "sessions arrival 0.02"),
    ("wale delay {delay} policy rem", "", "policy rem"),
    ("wale delay {delay} limit 10 cells", "", "limit 10 cells"),
    ("wale delay {delay}; fq_codel", "", "fq_codel drops as it sees fit"),
    # nothing special
    ("wale delay {delay} limit {limit}p policy tail rate unlimited", "", ""),
    ("wale delay {delay} loss 0% jitter 0 slot off drop off sessions off", "", ""),
    ("wale [delay {delay}] [jitter {jitter} overtaking] [loss gemodel {gemodel_p} 10%]", "", ""),
    ("netem delay {delay} {jitter} distribution normal loss {loss} 25%", "", ""),
    ("wale delay {delay} [slot 5ms packets {reorder}] [trace {outage} start at {start}]", "", ""),
    ("wale delay {delay} overhead atm drop_report local seed 3 flows 4", "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("words", "of_late", "of_lost"), OWN)
def test_what_the_command_line_does_by_itself(words: str, of_late: str, of_lost: str) -> None:
    """It is not held against the emulator, and all else is."""
    for lost, own in ((False, of_late), (True, of_lost)):
        row = judge(CHECKS["delay"], parse(words), late(lost), virtual=True)
        assert row.verdict == ("figure" if own else "fail")
        assert own in row.figures[-1].name


def test_a_machine_that_is_too_late() -> None:
    """A plain timer tells, in real time, of what depends on time."""
    seen, plain = late(lost=True), parse("wale delay {delay}")
    for early, verdict in ((98, "figure"), (99, "fail")):
        seen["delay"].timers_ns = [60_000] * early + [3 * MS] * (100 - early)
        row = judge(CHECKS["delay"], plain, seen, virtual=False)
        assert row.verdict == verdict
        assert ("timers were, p99 3 ms" in row.figures[-1].name) == (verdict == "figure")
    seen["duplicate"] = seen["delay"]  # none comes twice, which is no matter of time
    seen["duplicate"].timers_ns = [3 * MS]
    row = judge(CHECKS["duplicate"], parse("wale [duplicate {duplicate}]"), seen, virtual=False)
    assert row.verdict == "fail"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ('What is "x"?\nUsage: ... netem [ limit PACKETS ]\n  [ delay ]\n', 'What is "x"?'),
        ('Usage: ... wale [OPTION]...\n\n  rate RATE\nWhat is "reordering"?\n',
         'What is "reordering"?'),
        ("Error: a.\nWe have an error\n", "Error: a.; We have an error"),
        ("", ""),
    ],
)  # fmt: skip
def test_why_tc_refuses(said: str, expected: str) -> None:
    assert reason(said) == expected
