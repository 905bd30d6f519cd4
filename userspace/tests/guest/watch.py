#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""wale watch: samples of links and flows, when they are due.

Topology: testbed/src/wale_lab/selftest/pair.py.
"""

from __future__ import annotations

import csv
import itertools
import json
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from common import WALE, done, refused
from wale_lab.selftest import net
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.tap import equal, main, true
from wale_lab.selftest.wale import POLICY


def rows(text: str) -> list[dict[str, str]]:
    """Return the records of some CSV; each must have all fields."""
    table = list(csv.DictReader(text.splitlines()))
    for row in table:
        true(None not in row and None not in row.values(), f"fields of {row}")
    return table


def watch(pair: Pair, *words: str) -> str:
    """Run wale watch."""
    return done(pair.a, WALE, "watch", *words)


def test_links_are_sampled() -> None:
    """Samples lie at multiples of the interval, and agree with tc."""
    pair = Pair()
    pair.add(rate=10**5, delay=10 * MS, limit_packets=5, seed=1)
    pair.send(20)
    table = rows(watch(pair, "--interval", "10ms", "--count", "20"))
    equal(len(table), 20, "samples")
    times = [int(row["t_ns"]) for row in table]
    equal([t % (10 * MS) for t in times], [0] * 20, "times modulo the interval")
    equal([b - a for a, b in itertools.pairwise(times)], [10 * MS] * 19, "steps")
    pair.drain()
    last = rows(watch(pair, "--count", "1", "--link", "a0"))[0]
    stats = pair.stats()
    names = list(last)
    for name in names[2 : names.index("rate_Bps")]:
        equal(int(last[name]), stats[name], name)
    equal((last["link"], last["rate_Bps"], last["sessions"]), ("a0", "100000", ""), "link")
    equal([last[name] for name in SWITCH], [""] * 5, "what a switch counts")


def test_times_without_a_unit_are_seconds() -> None:
    """As ping -i and watch -n have it, and the other commands of wale."""
    pair = Pair()
    pair.add(rate=10**5)
    times = [int(row["t_ns"]) for row in rows(watch(pair, "-i", "0.5", "-d", "2"))]
    equal([b - a for a, b in itertools.pairwise(times)], [500 * MS] * 4, "steps")
    pair.close()


SWITCH = (
    "dropped_early_packets",
    "dropped_partial_packets",
    "marked_packets",
    "backlog_cells",
    "wasted_cells",
)


def test_what_a_switch_counts() -> None:
    """Early drops and marks are there with a policy, and cells with a limit in cells."""
    for options, there in (
        ({"limit_packets": 20, "policy": POLICY["epd"], "threshold": 10}, SWITCH[0:3:2]),
        (
            {"limit_packets": 20, "policy": POLICY["epd"], "threshold": 10, "mark": 1},
            SWITCH[0:3:2],
        ),
        ({"limit_cells": 130, "overhead": 2, "input_rate": 10**7}, (SWITCH[1], *SWITCH[3:])),
    ):
        pair = Pair()
        pair.add(rate=10**5, seed=1, **options)
        pair.send(40, tos=2)  # ECT
        net.sleep_ns(100 * MS)  # some is served
        row = rows(watch(pair, "--count", "1"))[0]
        stats = pair.stats()
        expected = {name: str(stats[name]) if name in there else "" for name in SWITCH}
        equal({name: row[name] for name in SWITCH}, expected, f"of {options}")
        true(any(int(row[name]) for name in there), f"nothing to count: {row}")
        pair.close()


def test_what_happens_to_packets_is_counted() -> None:
    """Copies, damage and overtaking: each has a column."""
    pair = Pair()
    half = 1 << 31
    pair.add(rate=10**6, delay=10 * MS, seed=1, duplicate=half, corrupt=half, reorder=half)
    pair.send(40)
    pair.drain()
    row = rows(watch(pair, "--count", "1"))[0]
    stats = pair.stats()
    for name in ("duplicated_packets", "corrupted_packets", "reordered_packets"):
        true(stats[name] > 0, f"no {name}")
        equal(int(row[name]), stats[name], name)
    pair.close()


def test_names_are_escaped() -> None:
    """The kernel takes nearly any name for an interface; CSV and JSON are what they are."""
    pair = Pair()
    name = 'a"b,\\c'
    net.ip_batch(["link add dummy0 type dummy"], pair.a)
    done(pair.a, "ip", "link", "set", "dummy0", "name", name)
    done(pair.a, "ip", "link", "set", name, "up")
    done(pair.a, "tc", "qdisc", "add", "dev", name, "root", "wale", "rate", "1mbit")
    equal(rows(watch(pair, "--count", "1"))[0]["link"], name, "in CSV")
    lines = watch(pair, "--count", "1", "--json").splitlines()
    equal([json.loads(line)["link"] for line in lines], [name], "in JSON")
    pair.close()


def test_drops_of_a_child_are_counted() -> None:
    """A qdisc instead of the buffer refuses some; without one, none are."""
    pair = Pair()
    pair.add(rate=10**5, delay=10 * MS)
    equal(rows(watch(pair, "--count", "1"))[0]["dropped_child_packets"], "0", "without a child")
    done(pair.a, "tc", "qdisc", "add", "dev", "a0", "parent", "1:1", "pfifo", "limit", "5")
    pair.send(20)
    row = rows(watch(pair, "--count", "1"))[0]
    true(int(row["dropped_child_packets"]) > 0, "the child dropped none")
    equal(int(row["dropped_child_packets"]), pair.stats()["dropped_child_packets"], "drops")
    pair.drain()


def test_counters_add_up() -> None:
    """What a link was offered is in the other columns, also what it held when it went down."""
    pair = Pair()
    pair.add(rate=10**5, delay=10 * MS, limit_packets=10, loss=1 << 30, seed=1)
    for _ in range(2):
        pair.send(20)
        row = rows(watch(pair, "--count", "1"))[0]
        parts = (
            "sent",
            "backlog",
            "line",
            *(f"dropped_{why}" for why in ("buffer", "loss", "memory", "purge")),
        )
        total = sum(int(row[f"{part}_packets"]) for part in parts)
        equal(int(row["offered_packets"]), total, "offered")
        done(pair.a, "ip", "link", "set", "a0", "down")
        row = rows(watch(pair, "--count", "1"))[0]
        done(pair.a, "ip", "link", "set", "a0", "up")
    true(int(row["dropped_purge_packets"]) > 0, "none dropped when it went down")


def test_children_and_unlimited() -> None:
    """A wale qdisc below another is named by its class; no limit is inf."""
    pair = Pair()
    done(pair.a, "tc", "qdisc", "add", "dev", "a0", "root", "handle", "1:", "prio")
    done(pair.a, "tc", "qdisc", "add", "dev", "a0", "parent", "1:2", "wale")
    row = rows(watch(pair, "--count", "1"))[0]
    equal((row["link"], row["rate_Bps"]), ("a0/1:2", "inf"), "the child")


def test_flows_are_sampled() -> None:
    """A TCP connection is there, with its addresses, state and congestion control."""
    pair = Pair()
    with pair.b.entered():
        server = socket.create_server(("10.0.0.2", 7000))
    with pair.a.entered():
        client = socket.socket()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        client.connect(("10.0.0.2", 7000))
    client.sendall(b"x" * 100)
    time.sleep(0.1)
    row = rows(watch(pair, "--no-links", "--flows", "--count", "1"))[0]
    equal(row["local"], "10.0.0.1", "local")
    equal((row["remote"], row["remote_port"]), ("10.0.0.2", "7000"), "remote")
    equal((row["cc"], row["state"]), ("cubic", "ESTABLISHED"), "cc, state")
    equal((row["bytes_acked"], row["ssthresh_packets"]), ("101", "inf"), "tcp_info")
    client.close()
    server.close()


def test_files_and_json() -> None:
    """Links and flows have files of their own; stdout can be JSON; mixed CSV is marked."""
    pair = Pair()
    pair.add(rate=10**5)
    with tempfile.TemporaryDirectory(dir="/run") as folder:
        links, flows = Path(folder, "links"), Path(folder, "flows")
        watch(pair, "--count", "3", "--links-csv", str(links), "--flows-csv", str(flows))
        equal(len(rows(links.read_text(encoding="ascii"))), 3, "links")
        equal(len(flows.read_text(encoding="ascii").splitlines()), 1, "flows: a header alone")
    objects = [json.loads(line) for line in watch(pair, "--json", "--count", "2").splitlines()]
    equal(
        [(o["kind"], o["rate_Bps"], o["sessions"]) for o in objects], [("link", 100_000, None)] * 2
    )
    heads = [line.split(",")[0] for line in watch(pair, "--flows", "--count", "1").splitlines()]
    equal(heads, ["kind", "kind", "link"], "first fields")


def test_signal_ends_it_well() -> None:
    """SIGTERM: a last sample, everything written, status 0."""
    pair = Pair()
    pair.add(rate=10**5)
    for number in (signal.SIGTERM, signal.SIGINT):
        child = subprocess.Popen(
            ["ip", "netns", "exec", pair.a.name, WALE, "watch", "--interval", "100ms"],
            stdout=subprocess.PIPE,
            text=True,
        )
        time.sleep(1.05)
        child.send_signal(number)
        out = child.communicate()[0]
        equal(child.returncode, 0, "status")
        times = [int(row["t_ns"]) for row in rows(out)]
        true(times[-1] % 10**8 and not times[-2] % 10**8, "a last sample out of turn")


def test_wrong_usage() -> None:
    """What cannot be is refused, in words."""
    pair = Pair()
    for words, says in (
        ("--interval 0", '"0" is not an interval, such as 100ms'),
        ("--interval 5x", '"5x" is not an interval'),
        ("--duration 0", '"0" is not a duration, such as 10s'),
        ("--count 0", "not a number of samples"),
        ("--no-links", "nothing to watch"),
        ("frob", 'what is "frob"?'),
        ("--frob", "--frob"),
        ("--link a0 --no-links --flows", "--link cannot be had with --no-links"),
        ("-L --flows --links-csv /run/l", "--links-csv cannot be had with --no-links"),
        ("--links-csv /run/x --flows-csv /run/x", 'cannot both go to "/run/x"'),
        ("--links-csv /run/l --json", "--json is of standard output, and nothing goes there"),
        ("-L --flows-csv /run/f --json", "--json is of standard output, and nothing goes there"),
        ("--links-csv /run/l --flows-csv /run/f --json", "nothing goes there"),
    ):
        message = refused(pair.a, WALE, "watch", *words.split(), status=2)
        true(says in message, f"{words}: {message}")
    with tempfile.TemporaryDirectory(dir="/run") as folder:
        flows = str(Path(folder, "flows"))
        watch(pair, "--count", "1", "--flows-csv", flows, "--json")  # the links are JSON
    true("no such" in refused(pair.a, WALE, "watch", "--link", "nosuch"), "--link nosuch")


if __name__ == "__main__":
    main()
