#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""wale link: both directions of an interface, and nothing left behind.

   ns "a"                                     ns "b"
+--------------------------------+         +---------------+
| 10.0.0.1/24  -> wale -> a0 ====|== veth =|=== b0         |
|              <- wale-a0 (ifb) <|         |  10.0.0.2/24  |
+--------------------------------+         +---------------+
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from common import WALE, as_json, call, done, refused
from wale_lab.selftest import net
from wale_lab.selftest.pair import Pair
from wale_lab.selftest.tap import Skip, equal, main, true, virtual_time


def state(ns: net.Namespace) -> list[Any]:
    """Return everything that wale link could leave behind."""
    links = as_json(ns, "ip", "-j", "link")
    filters = call(ns, "tc", "-j", "filter", "show", "dev", "a0", "ingress").stdout
    return [
        [(link["ifname"], link["ifindex"]) for link in links],
        as_json(ns, "tc", "-j", "qdisc", "show"),
        filters.strip() or "[]",
    ]


def link(pair: Pair, *words: str) -> str:
    """Run wale link."""
    return done(pair.a, WALE, "link", *words)


def shown(pair: Pair, *words: str) -> Any:
    """Return what wale link show says."""
    return as_json(pair.a, WALE, "link", "show", "--json", *words)


def test_add_show_del() -> None:
    """Options reach both directions; del takes everything away."""
    pair = Pair()
    before = state(pair.a)
    options = "--rate 10mbit --delay 25ms --limit 30kb --seed 5"
    link(pair, "add", "a0", *options.split(), "--up", "--rate", "1mbit")
    common = {
        "delay_ns": 25_000_000,
        "limit_bytes": 30720,
        "loss": 0,
        "overhead": "raw",
        "drop_report": "remote",
    }
    equal(
        shown(pair),
        [
            {
                "interface": "a0",
                "ifb": "wale-a0",
                "up": {"rate": 125_000, "seed": 5, **common},
                "down": {"rate": 1_250_000, "seed": 6, **common},
            }
        ],
        "wale link show",
    )
    link(pair, "del", "a0")
    equal(state(pair.a), before, "after del")


def test_directions_differ() -> None:
    """What up or down says replaces what both have, each option with all that belongs to it."""
    pair = Pair()
    both = "--gso keep --loss 1% --jitter 5ms distribution normal --reorder 5% gap 3"
    both += " --drop_list packets 3 --overhead vlan"
    up = "--loss gemodel 2% 20% --loss_ecn --jitter 1ms --slot 1ms"
    up += " --policy rem --rem phi 1.2 --policy_ecn"
    down = "--gso split --drop_list packets 7 --drop_list packets 8 --duplicate 1% --corrupt 2%"
    down += " --overhead ethernet"
    words = f"{both} --delay 9ms --up {up} --down {down}".split()
    link(pair, "add", "a0", *words)
    found = shown(pair)[0]
    normal = {"time_ns": 5_000_000, "distribution": "normal", "overtaking": False}
    uniform = {"time_ns": 1_000_000, "distribution": "uniform", "overtaking": False}
    gemodel = {"p": 0.02, "r": 0.2, "1-h": 1, "1-k": 0}
    wanted: dict[str, dict[str, Any]] = {
        "up": {
            "loss": None,
            "loss_gemodel": gemodel,
            "loss_ecn": True,
            "jitter": uniform,
            "slot": {"min_ns": 1_000_000, "max_ns": 1_000_000, "packets": 0, "bytes": 0},
            "reorder_gap": 3,
            "drop_list": [{"flow": 0, "first": 3, "last": 3}],
            "duplicate": None,
            "policy_ecn": True,
            "gso": "keep",
            "overhead": "ethernet",
            "overhead_bytes": 4,
        },
        "down": {
            "loss": 0.01,
            "loss_gemodel": None,
            "loss_ecn": None,
            "jitter": normal,
            "slot": None,
            "reorder": 0.05,
            "drop_list": [{"flow": 0, "first": k, "last": k} for k in (7, 8)],
            "duplicate": 0.01,
            "corrupt": 0.02,
            "policy_ecn": None,
            "gso": None,
            "overhead": "ethernet",
            "overhead_bytes": None,
        },
    }
    for direction, options in wanted.items():
        got = {name: found[direction].get(name) for name in options}
        equal(got, options, direction)
    equal(found["up"]["rem"]["phi"], 1.2, "a parameter of rem")
    link(pair, "del", "a0")
    pair.close()


def test_directions_start_together() -> None:
    """Traces of both have one start, without one being asked for; a constant rate has none."""
    pair = Pair()
    trace = "--trace 10ms:8mbit,10ms:0"
    link(pair, "add", "a0", *trace.split(), "--down", "--trace", "5ms:8mbit,1s:0")
    (found,) = shown(pair, "--stats")
    up, down = found["up"], found["down"]
    equal(up["start_ns"], down["start_ns"], "the start")
    equal(up["stats"]["epoch_ns"], down["stats"]["epoch_ns"], "the epoch")
    link(pair, "del", "a0")

    start = "--start at @1000000000.5"
    link(pair, "add", "a0", *f"{trace} {start}".split(), "--down", "--rate", "1mbit")
    (found,) = shown(pair)
    equal((found["up"]["start_ns"], found["down"].get("start_ns")), (str(10**18 + 5 * 10**8), None))
    text = done(pair.a, WALE, "link", "show")
    true("start at 2001-09-09T01:46:40.5Z" in text, text)
    link(pair, "del", "a0")

    link(pair, "add", "a0", *trace.split(), "--down", "--rate", "1mbit")
    (found,) = shown(pair)
    true("start_ns" not in found["up"], "a start that nobody asked for")
    link(pair, "del", "a0")
    says = refused(pair.a, WALE, "link", "add", "a0", "--rate", "1mbit", *start.split())
    true("there must be one" in says, says)
    pair.close()


def test_sessions_off_leave_the_trace() -> None:
    """A direction that says that it has no sessions keeps the trace of both."""
    pair = Pair()
    words = "--trace 10ms:8mbit,10ms:0 --up --sessions off --down --delay 1ms".split()
    link(pair, "add", "a0", *words)
    (found,) = shown(pair)
    for way in ("up", "down"):
        rates = [step["rate"] for step in found[way].get("trace", [])]
        equal(rates, [1_000_000, 0], f"the trace of {way}")
    link(pair, "del", "a0")
    words = "--rate 8mbit --sessions arrival 0.2 mean 20 max 63 step 50ms".split()
    link(pair, "add", "a0", *words, "--down", "--sessions", "off")
    (found,) = shown(pair)
    equal(["sessions" in found[way] for way in ("up", "down")], [True, False], "sessions")
    equal(found["down"]["rate"], 1_000_000, "the rate that up's sessions share")
    link(pair, "del", "a0")
    pair.close()


def test_a_long_trace() -> None:
    """One of more steps than a request, or a file in memory, has room for; in both directions."""
    pair = Pair()
    for count in (20_000, 70_000):
        with tempfile.NamedTemporaryFile("w", suffix=".trace", dir="/run") as file:
            file.writelines(f"1ms {8 * n}bit\n" for n in range(1, count + 1))
            file.flush()
            link(pair, "add", "a0", "--trace", "file", file.name)
            add = f"tc qdisc add dev lo root wale trace file {file.name}"
            done(pair.a, *add.split())
        (found,) = shown(pair, "a0")
        equal([found[way]["trace_steps"] for way in ("up", "down")], [count] * 2, "steps")
        (by_tc,) = as_json(pair.a, "tc", "-j", "qdisc", "show", "dev", "lo")
        equal(by_tc["options"]["trace_steps"], count, "steps by tc")
        link(pair, "del", "a0")
        done(pair.a, "tc", "qdisc", "del", "dev", "lo", "root")
    pair.close()


def test_feedback_is_of_up() -> None:
    """Feedback for both directions, or for up, is of up; down alone has no use for it."""
    pair = Pair()
    before = state(pair.a)
    for words in ("--feedback idle 3s", "--up --feedback idle 3s"):
        link(pair, "add", "a0", "--rate", "1mbit", *words.split())
        found = shown(pair, "a0", "--stats")[0]
        equal(found["up"]["feedback"], {"idle_ns": 3 * 10**9}, words)
        true("active_flows" in found["up"]["stats"], "statistics of up")
        true("feedback" not in found["down"], "feedback of down")
        true("feedback idle 3s" in link(pair, "show", "a0"), "wale link show")
        link(pair, "del", "a0")
    link(pair, "add", "a0", "--feedback", "--rate", "1mbit", "--up", "--nofeedback")
    true("feedback" not in shown(pair)[0]["up"], "nofeedback of up")
    link(pair, "del", "a0")
    words = "--rate 1mbit --down --feedback"
    message = refused(pair.a, WALE, "link", "add", "a0", *words.split(), status=2)
    true("--feedback to up" in message, message)
    equal(state(pair.a), before, words)


def test_warnings_are_shown() -> None:
    """What the kernel warns of, though it does it, goes to the user."""
    pair = Pair()
    missing = "Warning: wale: rate_feedback is not loaded: "
    if os.path.exists("/sys/module/rate_feedback"):  # by a kernel of which it is a part
        missing = ""
    for words, text in (("--rate 1mbit", ""), ("--rate 1mbit --feedback", missing)):
        added = call(pair.a, WALE, "link", "add", "a0", *words.split())
        equal((added.returncode, added.stdout), (0, ""), words)
        true(added.stderr.startswith(text), f"{words}: {added.stderr}")
        equal(added.stderr.count("\n"), 1 if text else 0, f"lines of {added.stderr!r}")
        link(pair, "del", "a0")


@virtual_time("it asserts a round-trip time")
def test_both_directions_are_delayed() -> None:
    """A round trip takes both delays, and both directions count it."""
    pair = Pair()
    link(pair, "add", "a0", "--delay", "20ms", "--down", "--delay", "30ms")
    out = done(pair.a, "ping", "-c", "5", "-i", "0.2", "-q", "10.0.0.2")
    average = float(out.rsplit("=", 1)[1].split("/")[1])
    true(50 <= average < 51, f"the round trip took {average} ms, not 50")
    for direction in ("up", "down"):
        stats = shown(pair, "a0", "--stats")[0][direction]["stats"]
        equal(stats["sent_packets"], 5, direction)
        equal(stats["sent_bytes"], 5 * 84, direction)


def test_failures_change_nothing() -> None:
    """Whichever step is refused, all is as before, and the reason is told."""
    pair = Pair()
    before = state(pair.a)
    for words, why in (
        ("--rate 0", "rate must be"),
        ("--up --limit 0", "limit must be"),
        ("--down --limit 0", "limit must be"),
        ("--sessions arrival 0.5", "sessions needs"),
        ("--feedback idle 7200s", "idle of feedback must be"),
    ):
        message = refused(pair.a, WALE, "link", "add", "a0", *words.split())
        true(why in message, f"{words}: {message}")
        equal(state(pair.a), before, words)
    for words in ("--rate", "--rate 10foo", "--rate 1mbit --rate 2mbit", "--frob 1", "rate 1mbit"):
        refused(pair.a, WALE, "link", "add", "a0", *words.split(), status=2)
        equal(state(pair.a), before, words)


def test_others_qdiscs_are_respected() -> None:
    """Without --replace, what somebody put there stays."""
    pair = Pair()
    for words in ("root pfifo", "ingress", "clsact"):
        done(pair.a, "tc", "qdisc", "add", "dev", "a0", *words.split())
        before = state(pair.a)
        message = refused(pair.a, WALE, "link", "add", "a0", "--rate", "1mbit")
        true("--replace" in message, message)
        refused(pair.a, WALE, "link", "del", "a0")
        equal(state(pair.a), before, words)
        place = words.split()[0]
        done(pair.a, "tc", "qdisc", "del", "dev", "a0", place)
    done(pair.a, "tc", "qdisc", "add", "dev", "a0", "root", "pfifo")
    link(pair, "add", "a0", "--rate", "1mbit", "--replace")
    refused(pair.a, WALE, "link", "add", "a0", "--rate", "2mbit")
    link(pair, "add", "a0", "--rate", "2mbit", "--replace")
    equal(shown(pair)[0]["down"]["rate"], 250_000, "the replaced rate")
    link(pair, "del", "a0")


def test_a_handle_is_not_enough() -> None:
    """Somebody's qdisc that has the handle of ours is not ours."""
    pair = Pair()
    done(pair.a, *"tc qdisc add dev a0 root handle 7a1e: pfifo".split())
    before = state(pair.a)
    refused(pair.a, WALE, "link", "del", "a0")
    refused(pair.a, WALE, "link", "add", "a0", "--rate", "1mbit")
    equal(state(pair.a), before, "the qdisc")
    link(pair, "add", "a0", "--rate", "1mbit", "--replace")
    link(pair, "del", "a0")
    pair.close()


def test_others_filters_stay() -> None:
    """A filter that somebody added to the ingress qdisc survives del."""
    pair = Pair()
    link(pair, "add", "a0", "--rate", "1mbit")
    words = "filter add dev a0 ingress prio 5 protocol ip u32 match ip dst 1.2.3.4 action drop"
    done(pair.a, "tc", *words.split())
    link(pair, "del", "a0")
    left = done(pair.a, "tc", "filter", "show", "dev", "a0", "ingress")
    true("u32" in left and "matchall" not in left, left)
    equal([row["ifname"] for row in as_json(pair.a, "ip", "-j", "link")][-1], "a0", "links")


def test_names() -> None:
    """A long name is cut; a name that is taken gets a number."""
    pair = Pair()
    link_commands = (
        "set a0 down",
        "set a0 name averylongname01",
        "add wale-averylongn type dummy",
        "set averylongname01 up",
    )
    net.ip_batch([f"link {command}" for command in link_commands], pair.a)
    link(pair, "add", "averylongname01", "--rate", "1mbit")
    equal(shown(pair)[0]["ifb"], "wale-averylon-2", "name of the ifb")
    done(pair.a, "ip", "link", "del", "averylongname01")
    link(pair, "del", "averylongname01")
    names = [row["ifname"] for row in as_json(pair.a, "ip", "-j", "link")]
    equal(names, ["lo", "wale-averylongn"], "links")


def test_an_interface_gets_another_name() -> None:
    """Its link is its own all the same, whoever gets the old name."""
    pair = Pair()
    before = state(pair.a)
    link(pair, "add", "a0", "--rate", "1mbit")
    net.ip_batch(["link set a0 down", "link set a0 name a1", "link set a1 up"], pair.a)
    for words in ("show a0", "del a0"):
        message = refused(pair.a, WALE, "link", *words.split())
        true("no such interface; what had this name is now a1" in message, message)
    for words in ([], ["a1"]):
        (found,) = shown(pair, *words)
        equal((found["interface"], found["ifb"]), ("a1", "wale-a0"), "the link")
        equal([found[way]["rate"] for way in ("up", "down")], [125_000] * 2, "the rates")
    message = refused(pair.a, WALE, "link", "add", "a1", "--rate", "2mbit")
    true("--replace" in message, message)

    net.ip_batch(["link add a0 type dummy", "link set a0 up"], pair.a)
    message = refused(pair.a, WALE, "link", "del", "a0")
    true("it has none; what had this name is now a1" in message, message)
    link(pair, "add", "a0", "--rate", "2mbit")
    (found,) = shown(pair, "a0")
    equal((found["ifb"], found["up"]["rate"]), ("wale-a0-2", 250_000), "the other's link")
    link(pair, "add", "a1", "--rate", "4mbit", "--replace")
    equal([row["up"]["rate"] for row in shown(pair)], [250_000, 500_000], "both")
    link(pair, "del", "a1")
    equal([row["interface"] for row in shown(pair)], ["a0"], "what is left")
    link(pair, "del", "a0")

    done(pair.a, "ip", "link", "del", "a0")
    net.ip_batch(["link set a1 down", "link set a1 name a0", "link set a0 up"], pair.a)
    equal(state(pair.a), before, "after del")
    pair.close()


def test_ifb_that_somebody_deletes() -> None:
    """del takes the rest away, so that a link can be added again."""
    pair = Pair()
    before = state(pair.a)
    link(pair, "add", "a0", "--rate", "10mbit")
    net.run("ip link del wale-a0", pair.a)
    link(pair, "del", "a0")
    equal(state(pair.a), before, "what is left")
    link(pair, "add", "a0", "--rate", "10mbit")
    link(pair, "del", "a0")
    pair.close()


def test_threshold_in_another_unit() -> None:
    """One for both directions, and a limit of its own in another unit."""
    pair = Pair()
    before = state(pair.a)
    words = "--rate 1mbit --limit 1000 --policy epd --threshold 900 --up --limit 30kb"
    message = refused(pair.a, WALE, "link", "add", "a0", *words.split(), status=2)
    true("unit of the limit" in message, message)
    equal(state(pair.a), before, "what is left")
    pair.close()


def test_what_is_left_of_an_interface() -> None:
    """An ifb whose interface is gone goes with its name, also if another has that now."""
    pair = Pair()
    link(pair, "add", "a0", "--rate", "1mbit")
    net.ip_batch(["link del a0", "link add a0 type dummy", "link set a0 up"], pair.a)
    message = refused(pair.a, WALE, "link", "add", "a0", "--rate", "1mbit")
    true("--replace" in message, message)
    link(pair, "del", "a0")
    refused(pair.a, WALE, "link", "del", "a0")
    link(pair, "add", "a0", "--rate", "1mbit")
    # of a wale that wrote the name alone
    done(pair.a, "ip", "link", "set", "wale-a0", "alias", "wale link of a0")
    equal(shown(pair)[0]["ifb"], "wale-a0", "the link")
    link(pair, "del", "a0")
    names = [row["ifname"] for row in as_json(pair.a, "ip", "-j", "link")]
    equal(names, ["lo", "a0"], "links")
    pair.close()


def warned(pair: Pair, *words: str) -> str:
    """Run wale link, which must succeed; return what it warns of."""
    result = call(pair.a, WALE, "link", *words)
    equal(result.returncode, 0, f"{words}: {result.stderr}")
    return result.stderr


def test_limit_below_the_mtu() -> None:
    """Where no large packet fits into the buffer, add and show say so."""
    pair = Pair()
    equal(warned(pair, "add", "a0", "--limit", "3000b"), "", "a packet fits")
    true("warnings" not in shown(pair, "a0")[0], "nothing to warn of")
    net.run("ip link set a0 mtu 9000", pair.a)
    text = link(pair, "show", "a0")
    for way in ("up", "down"):
        expected = f"{way}: a packet of the MTU, 9000 bytes, takes 9000 bytes on the wire and"
        true(f"  warning: {expected} the limit is 3000" in text, text)
    equal(len(shown(pair, "a0")[0]["warnings"]), 2, "warnings in JSON")
    link(pair, "del", "a0")
    words = "--up --limit 9037b --overhead raw --down --limit 9037b --overhead ethernet"
    text = warned(pair, "add", "a0", *words.split())
    true("warning: a0: down: a packet of the MTU, 9000 bytes, takes 9038 bytes" in text, text)
    equal(text.count("\n"), 1, "warnings of add")
    link(pair, "del", "a0")
    words = "--overhead atm --limit 10016b"  # 188 cells; with 20 bytes more, 189
    equal(warned(pair, "add", "a0", *words.split()), "", words)
    link(pair, "del", "a0")
    words = "--up --limit 9200b --down --overhead atm 20 --limit 10016b"
    text = warned(pair, "add", "a0", *words.split())
    true("down: a packet of the MTU, 9000 bytes, takes 10017 bytes" in text, text)
    equal(text.count("\n"), 1, words)
    link(pair, "del", "a0")
    pair.close()


def test_line_and_policer_below_the_mtu() -> None:
    """Where no large packet fits on the line, or into the burst of the policer, it is said."""
    pair = Pair()
    words = "--line 1499b --policer rate 1mbit burst 1500b"
    text = warned(pair, "add", "a0", *words.split())
    for way in ("up", "down"):
        true(
            f"{way}: a packet of the MTU, 1500 bytes, takes 1500 bytes on the wire and" in text,
            text,
        )
    true("the limit of the line is 1499: all such packets are dropped (line)" in text, text)
    equal(text.count("\n"), 2, words)
    words = "--up --line unlimited --policer rate 1mbit burst 1kb"
    text = warned(pair, "change", "a0", *words.split())
    up, down = shown(pair, "a0")[0]["warnings"]
    equal(text, "".join(f"wale link: warning: a0: {each}\n" for each in (up, down)), "change")
    true(
        "up: a packet" in up
        and up.endswith("burst of the policer is 1024: all such packets exceed it"),
        up,
    )
    true("down: a packet" in down and "limit of the line is 1499" in down, down)
    link(pair, "del", "a0")
    words = "--trace 1s:8mbit,1600b 1s:9mbit,3000b"
    equal(warned(pair, "add", "a0", *words.split()), "", words)
    net.run("ip link set a0 mtu 2000", pair.a)
    true("warnings" not in shown(pair, "a0")[0], "some packets fit, at times")
    net.run("ip link set a0 mtu 4000", pair.a)
    equal(len(shown(pair, "a0")[0]["warnings"]), 2, "warnings in JSON")
    link(pair, "del", "a0")
    pair.close()


def test_change_keeps_the_rest() -> None:
    """Only what is given changes, in the direction that it is given for; a refusal changes none."""
    pair = Pair()
    before = state(pair.a)
    link(pair, "add", "a0", *"--rate 10mbit --delay 25ms --limit 30kb --seed 5".split())
    (first,) = shown(pair)
    link(pair, "change", "a0", "--delay", "40ms", "--up", "--rate", "1mbit", "--loss", "1%")
    (second,) = shown(pair)
    first["up"] |= {"delay_ns": 40_000_000, "rate": 125_000, "loss": 0.01}
    first["down"] |= {"delay_ns": 40_000_000}
    equal(second, first, "after a change")
    for words, why in (
        ("--up --rate 2mbit --down --limit 0", "limit must be"),
        ("--delay 50ms --down --rate 0", "rate must be"),
    ):
        message = refused(pair.a, WALE, "link", "change", "a0", *words.split())
        true(why in message, f"{words}: {message}")
        equal(shown(pair), [second], words)
    for words in ("", "--replace --delay 1ms", "--order last --delay 1ms", "--frob 1"):
        refused(pair.a, WALE, "link", "change", "a0", *words.split(), status=2)
    link(pair, "change", "a0", "--trace", "1s:8mbit,1s:0")
    equal([len(shown(pair)[0][way]["trace"]) for way in ("up", "down")], [2, 2], "traces")
    link(pair, "change", "a0", "--delay", "10ms")
    equal([len(shown(pair)[0][way]["trace"]) for way in ("up", "down")], [2, 2], "kept")
    link(pair, "del", "a0")
    equal(state(pair.a), before, "after del")
    says = refused(pair.a, WALE, "link", "change", "a0", "--delay", "10ms")
    true("it has none" in says, says)
    pair.close()


def outside(*words: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run wale link in the namespace of the test itself."""
    env = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"} if path else None
    return subprocess.run(
        [WALE, "link", *words], capture_output=True, text=True, check=False, env=env
    )


@contextlib.contextmanager
def process_in(ns: net.Namespace) -> Iterator[int]:
    """A process in a namespace."""
    sleeper = subprocess.Popen(["ip", "netns", "exec", ns.name, "sleep", "1000"])
    try:
        while os.stat(f"/proc/{sleeper.pid}/ns/net") == os.stat("/proc/self/ns/net"):
            time.sleep(0.01)
        yield sleeper.pid
    finally:
        sleeper.kill()
        sleeper.wait()


def test_in_another_namespace() -> None:
    """By its name and by a process, for each verb; what is not there is said."""
    pair = Pair()
    before = state(pair.a)
    with process_in(pair.a) as pid:
        for where in (pair.a.name, str(pid)):
            added = outside("add", "--netns", where, "a0", "--rate", "8mbit")
            equal((added.returncode, added.stderr), (0, ""), where)
            equal(shown(pair)[0]["up"]["rate"], 1_000_000, where)
            changed = outside("change", "a0", "--delay", "5ms", "--netns", where)
            equal((changed.returncode, changed.stderr), (0, ""), "change")
            found = json.loads(outside("show", "--netns", where, "--json").stdout)
            equal(found, shown(pair), "show")
            equal(outside("del", "--netns", where, "a0").returncode, 0, "del")
            equal(state(pair.a), before, "after del")
    for words, status, says in (
        ("add --netns nowhere a0 --rate 8mbit", 1, "expected a name of 'ip netns' or a process"),
        ("add a0 --netns", 2, "a name must follow --netns"),
        ("add a0 --netns a --container b", 2, "expected once, and alone"),
        ("add --netns ../a a0 --rate 8mbit", 1, "expected a name"),
    ):
        done_so = outside(*words.split())
        equal(done_so.returncode, status, words)
        true(says in done_so.stderr and done_so.stderr.count("\n") == 1, done_so.stderr)
    pair.close()


FAKE = """#!/bin/sh
[ "$1" = inspect ] || { echo "no command $1" >&2; exit 125; }
for last; do :; done
case $last in
%s) echo %s ;;
stopped) echo 0 ;;
*) echo "Error: no such container: $last" >&2; exit 1 ;;
esac
"""


def test_in_a_container() -> None:
    """By the process that docker or podman reports, fakes of which are in the PATH."""
    pair = Pair()
    before = state(pair.a)
    with process_in(pair.a) as pid, tempfile.TemporaryDirectory(dir="/run") as folder:
        for program, name in (("docker", "web"), ("podman", "db")):
            path = f"{folder}/{program}"
            with open(path, "w") as file:
                file.write(FAKE % (name, pid))
            os.chmod(path, 0o755)
        for name in ("web", "db"):
            added = outside("add", "--container", name, "a0", "--rate", "8mbit", path=folder)
            equal((added.returncode, added.stderr), (0, ""), name)
            equal(shown(pair)[0]["up"]["rate"], 1_000_000, name)
            equal(outside("del", "--container", name, "a0", path=folder).returncode, 0, name)
            equal(state(pair.a), before, "after del")
        for name, says in (
            ("none", "no such container: none"),
            ("stopped", "it does not run"),
        ):
            failed = outside("add", "--container", name, "a0", "--rate", "1mbit", path=folder)
            equal(failed.returncode, 1, name)
            true(says in failed.stderr and failed.stderr.count("\n") == 1, failed.stderr)
        with open(f"{folder}/docker", "w") as file:
            file.write(FAKE % ("host", os.getpid()))
        failed = outside("add", "--container", "host", "lo", "--rate", "1mbit", path=folder)
        true("it has the network of the host" in failed.stderr, failed.stderr)
    pair.close()


def round_trip_ms(pair: Pair, address: str, *words: str) -> float:
    """The time that ping measures, after a first packet that looks for the other end."""
    done(pair.a, "ping", "-c", "1", address)
    out = done(pair.a, "ping", "-c", "3", "-i", "0.2", "-q", *words, address)
    return float(out.rsplit("=", 1)[1].split("/")[0])


def bpf(command: int, attributes: bytes) -> int:
    """Call bpf(2); return what it returns."""
    libc = ctypes.CDLL(None, use_errno=True)
    room = ctypes.create_string_buffer(attributes.ljust(144, b"\0"), 144)
    result = libc.syscall(321, command, room, 144)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"bpf {command}")
    return int(result)


def attach_tcx(pair: Pair, attach_type: int) -> int:
    """Attach a program to a0 that returns 0, TC_ACT_OK; return its descriptor."""
    program = struct.pack("<BBhiBBhi", 0xB7, 0, 0, 0, 0x95, 0, 0, 0)
    code, gpl = ctypes.create_string_buffer(program), ctypes.create_string_buffer(b"GPL")
    addresses = (ctypes.addressof(code), ctypes.addressof(gpl))
    loaded = bpf(5, struct.pack("<IIQQ", 3, 2, *addresses))
    with pair.a.entered():
        bpf(8, struct.pack("<IIII", pair.dev, loaded, attach_type, 0))
    return loaded


def tcx_pair(attach_type: int) -> Pair:
    """A pair with a program of tcx, if there are any."""
    pair = Pair()
    try:
        attach_tcx(pair, attach_type)
    except OSError as error:
        pair.close()
        raise Skip(f"no tcx programs in this kernel: {error}") from None
    return pair


def tcx_count(pair: Pair) -> int:
    """How many programs are at ingress."""
    room = ctypes.create_string_buffer(struct.pack("<IIIIQI", pair.dev, 46, 0, 0, 0, 0), 144)
    with pair.a.entered():
        result = ctypes.CDLL(None, use_errno=True).syscall(321, 16, room, 144)
    equal(result, 0, "the question for programs")
    return int(struct.unpack_from("<I", room, 24)[0])


def test_tcx_program_at_egress() -> None:
    """A tcx program comes before the link: add and show warn, and nobody else does."""
    pair = tcx_pair(47)
    says = "up: a tcx program at"
    text = warned(pair, "add", "a0", "--delay", "50ms")
    true(f"wale link: warning: a0: {says}" in text and text.count("\n") == 1, text)
    true(f"  warning: {says}" in link(pair, "show", "a0"), "show")
    equal(len(shown(pair, "a0")[0]["warnings"]), 1, "warnings in JSON")
    pair.close()


@virtual_time("it asserts round-trip times")
def test_tcx_program_at_ingress() -> None:
    """Half a link is refused; before the program it is a whole one, and the program stays."""
    pair = tcx_pair(46)
    before = state(pair.a)
    for to in ([], ["--to", "10.0.0.0/24"]):
        says = refused(pair.a, WALE, "link", "add", "a0", *to, "--delay", "50ms")
        true("--order first or last says which" in says, says)
    words = "--delay 50ms --order first --order last"
    says = refused(pair.a, WALE, "link", "add", "a0", *words.split(), status=2)
    true("expected it once: --order" in says, says)
    equal(state(pair.a), before, "what is left")

    text = warned(pair, "add", "a0", "--delay", "50ms", "--order", "last")
    true("warning: a0: down: a tcx program at ingress" in text, text)
    found = round_trip_ms(pair, "10.0.0.2")
    true(50 <= found < 51, f"after the program: {found} ms")
    link(pair, "del", "a0")

    equal(warned(pair, "add", "a0", "--delay", "50ms", "--order", "first"), "", "warnings")
    equal(tcx_count(pair), 2, "programs")
    found = round_trip_ms(pair, "10.0.0.2")
    true(100 <= found < 101, f"before the program: {found} ms")
    true("warnings" not in shown(pair, "a0")[0], "show")
    link(pair, "change", "a0", "--delay", "10ms")
    link(pair, "add", "a0", "--delay", "30ms", "--order", "first", "--replace")
    equal(tcx_count(pair), 2, "programs, replaced")
    found = round_trip_ms(pair, "10.0.0.2")
    true(60 <= found < 61, f"replaced: {found} ms")
    link(pair, "del", "a0")
    equal(tcx_count(pair), 1, "programs after del")
    equal(state(pair.a), before, "after del")
    says = refused(pair.a, WALE, "link", "add", "a0", *"--to 10.0.0.2 --order first".split())
    true("before which no filter can come: --order last" in says, says)
    pair.close()


if __name__ == "__main__":
    main()
