#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The tc plugin: what it prints can be given to tc again, and means the same."""

from __future__ import annotations

import json
import random
import socket
from typing import Any

from common import as_json, call, done
from wale_lab.selftest import net
from wale_lab.selftest.tap import equal, main, true

#: What is typed, and the options in JSON that it must give (seeds aside).
TYPED: list[tuple[str, dict[str, Any]]] = [
    ("", {"rate": "unlimited", "delay_ns": 0, "limit_packets": 1000, "loss": 0}),
    ("rate 10mbit delay 50ms limit 30kb loss 1%", {"rate": 1_250_000, "limit_bytes": 30720}),
    ("rate 1234568bit delay 1234567ns", {"rate": 154_321, "delay_ns": 1_234_567}),
    ("rate 8000tbit limit 5gb", {"rate": 10**15, "limit_bytes": 5 << 30}),
    ("loss 100%", {"loss": 1}),
    ("loss 0.0123%", {"loss": 0.000123}),
    (
        "overhead atm drop_report local limit 20",
        {"overhead": "atm", "drop_report": "local", "limit_packets": 20},
    ),
    ("gso keep drop_report local", {"gso": "keep", "drop_report": "local"}),
    ("gso split", {"gso": None}),
    ("seed 18446744073709551615", {"seed": str(2**64 - 1)}),
    ('seed "14411494476543054653"', {"seed": "14411494476543054653"}),  # as JSON has it
    (f"seed {2**53}", {"seed": str(2**53)}),
    (f"seed {2**53 - 1}", {"seed": 2**53 - 1}),
    (
        "trace 1s:8mbit start at @1795341600",
        {"start_ns": "1795341600000000000", "trace_steps": 1},
    ),
    (
        "trace 10s:2mbit,1s:0 hold",
        {
            "trace": [
                {"duration_ns": 10**10, "rate": 250_000},
                {"duration_ns": 10**9, "rate": 0},
            ],
            "trace_end": "hold",
            "trace_steps": 2,
        },
    ),
    (
        "rate 800kbit sessions arrival 0.2 mean 20 max 63 step 50ms",
        {"sessions": {"arrival": 0.2, "mean": 20, "max": 63, "step_ns": 50_000_000}},
    ),
    ("feedback", {"feedback": {"idle_ns": 2 * 10**9}}),
    ("feedback idle 1234567ns rate 1mbit", {"feedback": {"idle_ns": 1_234_567}, "rate": 125_000}),
    ("nofeedback", {"feedback": None}),
    (
        "limit 1000 cells overhead atm policy seldrop threshold 90% share_factor 0.8"
        " input_rate 155mbit",
        {"limit_cells": 1000, "policy": "seldrop", "threshold_share": 0.9, "share_factor": 0.8}
        | {"flows": 1024, "input_rate": 19_375_000},
    ),
    (
        "limit 40kb policy fba threshold 20kb share_factor 2 flows 15",
        {"policy": "fba", "threshold": 20480, "share_factor": 2, "flows": 15},
    ),
    ("limit 50 policy epd threshold 40", {"policy": "epd", "threshold": 40}),
    ("policy random_tail victims 5", {"policy": "random_tail", "victims": 5}),
    ("policy epd policy_ecn", {"policy": "epd", "policy_ecn": True}),
    ("nopolicy_ecn", {"policy_ecn": None}),
    (
        "policy rem policy_ecn rem gamma 0.005 target 30kb",
        {"policy": "rem", "policy_ecn": True, "share_factor": None}
        | {
            "rem": {
                "interval_ns": 10_000_000,
                "gamma": 0.005,
                "alpha": 0.1,
                "target_bytes": 30720,
                "phi": 1.1,
            }
        },
    ),
    ("policy tail", {"policy": None, "input_rate": None}),
]

#: What is refused, by tc or by the kernel, and part of what is said then.
WRONG = (
    ("help", "Usage:"),
    ("frob", '"frob" is not an option: help lists them'),
    ("rate 10 mbit", '"mbit" is not an option: write 10mbit'),
    ("rate", '"rate" is not complete'),
    ("rate 10foo", '"10foo" is wrong'),
    ("rate 1mbit rate 2mbit", '"rate" is given twice: "2mbit" is the second value'),
    ("feedback nofeedback", '"nofeedback" is given twice, or after its opposite'),
    ("loss 101%", "out of range"),
    ("rate 0", "rate must be"),
    ("feedback idle", '"idle" is not complete: expected an idle time'),
    ("feedback idle 0", "1ms to 3600s"),
    ("feedback idle 7200s", "idle of feedback must be"),
    ("feedback 2s", '"2s" is not an option, nor part of the one before it'),
)


def stage() -> net.Namespace:
    """Return a namespace with a device."""
    ns = net.Namespace("tc")
    net.ip_batch(["link add d0 type dummy", "link set d0 up"], ns)
    return ns


def options(ns: net.Namespace) -> tuple[str, dict[str, Any]]:
    """Return the options as text, and from JSON."""
    text = done(ns, "tc", "qdisc", "show", "dev", "d0").split("refcnt", 1)[1].split(None, 1)[1]
    return text.strip(), as_json(ns, "tc", "-j", "qdisc", "show", "dev", "d0")[0]["options"]


def pasted(ns: net.Namespace, words: str) -> tuple[str, dict[str, Any]]:
    """Make a link twice, as typed and as it was then printed; return the latter."""
    add = ("tc", "qdisc", "add", "dev", "d0", "root", "wale")
    done(ns, *add, *words.split())
    first = options(ns)
    done(ns, "tc", "qdisc", "del", "dev", "d0", "root")
    done(ns, *add, *first[0].split())
    equal(options(ns), first, f"{words}: what was printed, pasted back")
    done(ns, "tc", "qdisc", "del", "dev", "d0", "root")
    return first


def test_typed_and_pasted() -> None:
    """What users type gives the options that it says."""
    ns = stage()
    for words, expected in TYPED:
        found = pasted(ns, words)[1]
        equal({key: found.get(key) for key in expected}, expected, words)


def test_random_values() -> None:
    """Every value survives, not only round ones."""
    ns = stage()
    draw = random.Random(1)
    for _ in range(50):
        rate = 1 + draw.getrandbits(draw.randint(1, 49))
        delay = draw.getrandbits(draw.randint(1, 46))
        limit = 1500 + draw.getrandbits(draw.randint(1, 60))
        loss = draw.random() ** 8
        text, found = pasted(ns, f"rate {rate}bps delay {delay}ns limit {limit}b loss {loss:.9%}")
        limited = int(found["limit_bytes"])  # text, if it is large
        equal((found["rate"], found["delay_ns"], limited), (rate, delay, limit), text)
        true(abs(found["loss"] - loss) <= 2**-32, f"loss {loss}: {found['loss']}")


def test_drawn_seed() -> None:
    """A seed that nobody gave is a number that JavaScript and jq 1.6 have, and give back."""
    ns = stage()
    seeds = set()
    for _ in range(40):
        done(ns, "tc", "qdisc", "add", "dev", "d0", "root", "wale")
        seeds.add(options(ns)[1]["seed"])
        done(ns, "tc", "qdisc", "del", "dev", "d0", "root")
    true(len(seeds) == 40 and all(0 <= seed < 2**53 for seed in seeds), f"{seeds}")
    true(max(seeds) > 2**50, f"all 53 bits are drawn: {max(seeds)}")


def test_epoch_far_away() -> None:
    """What began long ago has a time below all that a double has."""
    ns = stage()
    words = "trace 1ms:8mbit,1ms:0 start at 1980-01-01T00:00:00Z".split()
    done(ns, "tc", "qdisc", "add", "dev", "d0", "root", "wale", *words)
    stats = as_json(ns, "tc", "-j", "-s", "qdisc", "show", "dev", "d0")[0]["stats"]
    true(isinstance(stats["epoch_ns"], str) and int(stats["epoch_ns"]) < -(2**53), f"{stats}")


def test_statistics() -> None:
    """tc -s shows every counter, as text and as JSON."""
    ns = stage()
    done(ns, "tc", "qdisc", "add", "dev", "d0", "root", "wale", "rate", "1mbit")
    stats = as_json(ns, "tc", "-j", "-s", "qdisc", "show", "dev", "d0")[0]["stats"]
    equal(stats["rate"], 125_000, "rate")
    counters = ("offered", "sent", "dropped_buffer", "dropped_loss", "dropped_memory")
    for name in (*counters, "dropped_purge", "line"):
        true(f"{name}_packets" in stats and f"{name}_bytes" in stats, name)
    text = done(ns, "tc", "-s", "qdisc", "show", "dev", "d0")
    for word in ("offered", "dropped:", "backlog", "peak", "line", "rate now 1Mbit"):
        true(word in text, word)
    true("active_flows" not in stats and "active flows" not in text, "flows without feedback")


def test_statistics_of_feedback() -> None:
    """Those of feedback are there with it, and gone with it."""
    ns = stage()
    said = call(ns, "tc", "qdisc", "add", "dev", "d0", "root", "wale", "feedback").stderr
    stats = as_json(ns, "tc", "-j", "-s", "qdisc", "show", "dev", "d0")[0]["stats"]
    equal((stats["active_flows"], stats["uncounted_packets"]), (0, 0), "flows")
    true(stats["attached"] in (0, 1) and stats["published"] >= stats["attached"], "published")
    text = done(ns, "tc", "-s", "qdisc", "show", "dev", "d0")
    true("active flows 0 uncounted 0p published" in text, text)
    equal("(rate_feedback is not there)" in text, not stats["attached"], text)
    equal("Warning: wale: rate_feedback is not loaded" in said, not stats["attached"], said)
    done(ns, "tc", "qdisc", "change", "dev", "d0", "root", "wale", "nofeedback")
    true("active" not in done(ns, "tc", "-s", "qdisc", "show", "dev", "d0"), "after nofeedback")


def test_classes() -> None:
    """tc -s class show has the flows."""
    ns = stage()
    net.ip_batch(
        ["addr add 10.0.0.1/24 dev d0", "neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev d0"], ns
    )
    words = "limit 1000 cells overhead atm flows 9 rate 10kbit"
    done(ns, *"tc qdisc add dev d0 root handle 1: wale".split(), *words.split())
    with ns.entered(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for _ in range(3):
            sock.sendto(bytes(1000), ("10.0.0.2", 9))
    text = done(ns, "tc", "-s", "class", "show", "dev", "d0")
    for word in ("class wale 1:1 parent 1:", "offered 3p 3498b", "cells: backlog"):
        true(word in text, text)
    true("rate now" not in text, text)
    text = done(ns, "tc", "-j", "-s", "class", "show", "dev", "d0")
    if text.startswith("["):  # an older tc has classes as text alone
        stats = json.loads(text)[0]["stats"]
        equal((stats["offered_packets"], stats["offered_bytes"]), (3, 3498), "offered")
        true("rate" not in stats and stats["peak_backlog_cells"] > 0, f"statistics {stats}")
    text = done(ns, "tc", "-s", "qdisc", "show", "dev", "d0")
    true("busy flows 1 crowded 0p" in text, text)


def test_wrong_words() -> None:
    """tc says what is wrong, and help what is right."""
    ns = stage()
    for words, says in WRONG:
        result = call(ns, "tc", "qdisc", "add", "dev", "d0", "root", "wale", *words.split())
        true(result.returncode and says in result.stderr, f"{words}: {result.stderr}")
        if words != "help":
            equal(result.stderr.count("\n"), 1, f"lines about {words}: {result.stderr}")


def test_batch_goes_on() -> None:
    """tc -force -batch goes on behind whatever the plugin refuses, as with other qdiscs."""
    ns = stage()
    refused = (
        "delay xx",
        "delay",
        "delay 1ms delay 2ms",
        "frob",
        "help",
        "trace file /nonexistent/x",
        "jitter 1ms distribution nosuch",
        "rate 0",
    )
    done(ns, "tc", "qdisc", "add", "dev", "d0", "root", "wale")
    change = "qdisc change dev d0 root wale"
    for number, words in enumerate(refused, 1):
        batch = f"{change} {words}\n{change} delay {number}ms\n"
        result = call(ns, "tc", "-force", "-batch", "-", text=batch)
        true(result.returncode, f"{words}: the batch as a whole failed")
        true("Command failed -:1" in result.stderr, f"{words}: {result.stderr}")
        true("Command failed -:2" not in result.stderr, f"{words}: {result.stderr}")
        equal(options(ns)[1]["delay_ns"], number * 10**6, f"the line behind {words}")


if __name__ == "__main__":
    main()
