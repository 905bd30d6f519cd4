#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""wale rate: what is set is shown, told to who listens, and gone when it is deleted."""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from common import WALE, as_json, call, done, refused
from wale_lab.selftest import net
from wale_lab.selftest.pair import MS
from wale_lab.selftest.tap import equal, main, true, virtual_time

SECOND = 1000 * MS
DEFAULTS: dict[str, Any] = {
    "meaning": "share",
    "lag": "now",
    "age_limit_ns": 0,
    "beta": 1,
    "swing_percent": 0,
    "phi": 1.1,
    "rise": "fast",
    "pace": False,
    "base_rtt_ns": 0,
    "layer": "ip",
    "publisher": False,
    "listeners": 0,
}

#: What is typed, and how the path is shown; what is not said is as in DEFAULTS.
TYPED: list[tuple[str, str, dict[str, Any]]] = [
    ("dev d0", "10mbit", {"dev": "d0", "rate": 1_250_000}),
    ("dst 10.0.2.0/24", "2mbit lag 200ms age 1s", {"dst": "10.0.2.0/24", "rate": 250_000}),
    ("dst 2001:db8::/32", "0bit beta 0", {"dst": "2001:db8::/32", "rate": 0, "beta": 0}),
    ("dst 10.1.1.1", "unlimited", {"dst": "10.1.1.1/32", "rate": "unlimited"}),
    (
        "dst 10.2.0.0/16",
        "800kbit weight phi 1.5",
        {"rate": 100_000, "meaning": "weight", "phi": 1.5},
    ),
    (
        "flow 10.0.0.1:5000 10.0.0.2:7770",
        "8bit link lag rtt swing 50% pace rise additive base-rtt 60s layer atm",
        {
            "local": "10.0.0.1:5000",
            "peer": "10.0.0.2:7770",
            "rate": 1,
            "meaning": "link",
            "lag": "rtt",
            "swing_percent": 50,
            "pace": True,
            "rise": "additive",
            "base_rtt_ns": 60 * SECOND,
            "layer": "atm",
        },
    ),
    ("flow [::1]:1 [2001:db8::2]:65535", "1gbit", {"peer": "[2001:db8::2]:65535"}),
]
TYPED[1][2].update(lag="fixed", lag_time_ns=200 * MS, age_limit_ns=SECOND)


def stage(role: str = "rate") -> net.Namespace:
    """Return a namespace with a device."""
    ns = net.Namespace(role)
    net.ip_batch(["link add d0 type dummy", "link set d0 up"], ns)
    return ns


def rate(ns: net.Namespace, words: str) -> str:
    """Run wale rate."""
    return done(ns, WALE, "rate", *words.split())


def paths(ns: net.Namespace, key: str = "") -> list[dict[str, Any]]:
    """Return the paths, or one."""
    found: list[dict[str, Any]] = as_json(ns, WALE, "rate", "show", *key.split(), "--json")["paths"]
    return found


class Child:
    """A wale rate, or another command, that goes on until it gets a signal."""

    command = "rate"

    def __init__(self, ns: net.Namespace, *words: str) -> None:
        # files never fill up, as pipes do
        self.out = os.fdopen(os.memfd_create("out"), "w+")
        self.err = os.fdopen(os.memfd_create("err"), "w+")
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", ns.name, WALE, self.command, *words],
            stdout=self.out,
            stderr=self.err,
        )
        net.wait_for(self.waits, "a wale that waits for something to happen")
        time.sleep(0.1)

    def waits(self) -> bool:
        """Tell whether it has begun and sleeps."""
        text = Path(f"/proc/{self.process.pid}/stat").read_text()
        name, _, rest = text.partition("(")[2].rpartition(")")
        return name == "wale" and rest.split()[0] == "S"

    def printed(self) -> str:
        """Return what it printed so far."""
        return os.pread(self.out.fileno(), os.fstat(self.out.fileno()).st_size, 0).decode()

    def end(self, number: int = signal.SIGINT, status: int = 0) -> list[str]:
        """Send a signal; return the lines that were printed."""
        time.sleep(0.1)
        self.process.send_signal(number)
        return self.wait(status)

    def wait(self, status: int = 0) -> list[str]:
        """Wait until it ends by itself; return the lines that were printed."""
        self.process.wait(timeout=100)
        for file in (self.out, self.err):
            file.seek(0)
        equal(self.process.returncode, status, f"status, with {self.err.read()!r}")
        return self.out.read().splitlines()


def trace_file(text: str) -> str:
    """Write a trace; return its name."""
    with tempfile.NamedTemporaryFile("w", dir="/run", delete=False) as file:
        file.write(text)
    return file.name


def test_set_show_del() -> None:
    """Every option arrives, alone and among others; del deletes one or all."""
    ns = stage()
    for count, (key, words, expected) in enumerate(TYPED, start=1):
        rate(ns, f"set {key} {words}")
        found = paths(ns, key)[0]
        wanted = {**DEFAULTS, **expected}
        equal({name: found.get(name) for name in wanted}, wanted, key)
        equal(len(paths(ns)), count, "paths")
    text = rate(ns, "show")
    true("dst 10.0.2.0/24" in text and "pace base-rtt=60s layer=atm" in text, text)
    rate(ns, f"del {TYPED[0][0]} {TYPED[4][0]}")
    equal(len(paths(ns)), len(TYPED) - 2, "paths after del")
    rate(ns, "del all")
    equal(paths(ns), [], "paths after del all")


def test_settings_alone() -> None:
    """Without a rate, set changes what is given and nothing else."""
    ns = stage()
    rate(ns, "set dev d0 10mbit link beta 3 age 5s")
    before = paths(ns)[0]
    rate(ns, "set dev d0 lag 20ms")
    after = paths(ns)[0]
    for name in ("id", "rate", "meaning", "beta", "age_limit_ns", "time_ns"):
        equal(after[name], before[name], name)
    equal((after["lag"], after["lag_time_ns"]), ("fixed", 20 * MS), "lag")
    rate(ns, "set dev d0 age none")
    equal(paths(ns)[0]["age_limit_ns"], 0, "age limit")


@virtual_time("it looks just before and after advice is too old")
def test_age() -> None:
    """Advice ages, and is marked when it is too old; time may lie in the past."""
    ns = stage()
    start = time.monotonic_ns()
    time.sleep(1)
    rate(ns, f"set dev d0 10mbit age 1s time {start}")
    equal(paths(ns)[0]["time_ns"], start, "time")
    time.sleep(0.9)
    true("stale" not in rate(ns, "show"), "not stale yet")
    time.sleep(0.2)
    true("stale" in rate(ns, "show dev d0"), "stale")
    true(1100 * MS <= paths(ns)[0]["age_ns"] < 1200 * MS, "age")


def test_follow() -> None:
    """A path has the value of another namespace's, and its own settings."""
    near, far = stage("near"), stage("far")
    rate(near, f"set dev d0 follow dev d0 netns {far.name} beta 7")
    equal("rate" in paths(near)[0], False, "a rate before there is one")
    rate(far, "set dev d0 3mbit link beta 5")
    found = paths(near)[0]
    equal(
        (found["rate"], found["meaning"], found["beta"]), (375_000, "link", 7), "what is followed"
    )
    true("follow=if" in rate(near, "show"), "show")
    refused(near, WALE, "rate", "set", "dev", "d0", "1mbit", "follow", "dev", "d0")
    words = ("rate", "set", "dev", "d0", "follow", "dev", "d1", "netns", far.name)
    said = refused(near, WALE, *words, status=2)
    true('there is no device "d1" there' in said, said)
    harmless = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    said = refused(near, *harmless, WALE, *words, status=2)
    true("cannot look into it" in said, said)


def test_published() -> None:
    """The rate of a link is its own to set; the options of its path are the user's."""
    ns = stage()
    monitor = Child(ns, "monitor", "--json")
    done(ns, "tc", "qdisc", "add", "dev", "d0", "root", "wale", "rate", "10mbit", "feedback")
    path = paths(ns, "dev d0")[0]
    found = (path["publisher"], path["rate"], path["meaning"], path["lag"])
    equal(found, (True, 1_250_000, "link", "rtt"), "the path of a link")
    rate(ns, "set dev d0 beta 3 lag 10ms")
    for words in ("1mbit", "share", "layer atm", "follow dev lo"):
        true(refused(ns, WALE, "rate", "set", "dev", "d0", *words.split()), words)
    refused(ns, WALE, "rate", "del", "dev", "d0")
    rate(ns, "del all")
    done(ns, "tc", "qdisc", "change", "dev", "d0", "root", "wale", "rate", "2mbit")
    path = paths(ns)[0]
    equal((path["rate"], path["beta"], path["lag_time_ns"]), (250_000, 3, 10 * MS), "changed")
    true("publisher" in rate(ns, "show"), "the flag")
    done(ns, "tc", "qdisc", "del", "dev", "d0", "root")
    equal(paths(ns), [], "paths without the link")
    events = [json.loads(line)["event"] for line in monitor.end()]
    equal((events[0], events[-1], len(events) > 3), ("set", "del", True), "events")


def test_flows() -> None:
    """Sockets that listen are shown, by IPv4 and by IPv6, and end with an event."""
    ns = stage()
    with ns.entered():
        net.write("/proc/sys/net/ipv6/conf/lo/disable_ipv6", "0")
    rate(ns, "set dst ::/0 1mbit")
    rate(ns, "set dev lo 2mbit link")
    monitor = Child(ns, "monitor", "--flows")
    for host in ("127.0.0.1", "::1"):
        with ns.entered():
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            server = socket.create_server((host, 7770), family=family)
            client = socket.socket(family)
        client.setsockopt(socket.IPPROTO_TCP, 13, b"ratcp")  # TCP_CONGESTION
        client.connect((host, 7770))
        client.sendall(bytes(1000))
        server.accept()[0].recv(1000)
        local = client.getsockname()[1]
        ends = f"[::1]:{local} > [::1]:7770" if ":" in host else f"{host}:{local} > {host}:7770"
        text = rate(ns, "show --flows")
        line = next(line for line in text.splitlines() if line.startswith(ends))
        path = "dst ::/0" if ":" in host else "dev lo"
        true(line.endswith(path) and " ratcp " in line, line)
        equal(len(as_json(ns, WALE, "rate", "show", *path.split(), "--flows", "-j")["flows"]), 1)
        client.close()
        server.close()
    time.sleep(1)
    events = [line.split()[1] for line in monitor.end()]
    equal([events.count(name) for name in ("flow", "flow-end")], [2, 2], "events")


def test_refused() -> None:
    """The kernel's reasons are shown; wrong words are told before it is asked."""
    ns = stage()
    for words, says in (
        ("set dev d0 beta 3", "needs rate"),
        ("set dev d0 1mbit time 5000s", "time must not"),
        ("del dev d0", "no such path"),
        ("show dst 10.0.0.0/8", "no such path"),
        ("set dev if4711 1mbit", "ifindex"),
        ("play /no/such/file dev d0", "cannot open"),
    ):
        message = refused(ns, WALE, "rate", *words.split())
        true(says in message and message.startswith("wale rate: "), f"{words}: {message}")
    for words, says in (
        ("set dev d0", "a rate or an option"),
        ("set 10mbit", "dev, dst or flow"),
        ("set dev d0 10foo", "expected a rate"),
        ("set dev d0 300bit", "the nearest are 296bit and 304bit"),
        ("share d0 --capacity 7bit", "the least is 8bit"),
        ("set dev d0 10mbit frob", 'no option "frob"'),
        ("set dst 10.0.2.1/24 1mbit", "bits behind"),
        ("del", "dev, dst or flow"),
        ("del dev d0 all", "dev, dst or flow"),
        ("frob", "no verb"),
        ("show dev d0 --frob", "what is"),
        ("monitor dev", "what is"),
        ("play", "a file"),
        ("play x", "dev, dst or flow"),
        ("play x dev d0 1mbit", "come from the trace"),
        ("share", "a device"),
        ("share d0", "--capacity was expected"),
        ("share d0 --capacity 0", "--capacity"),
        ("share d0 --capacity 1mbit --interval 2s", "third"),
        ("share d0 --capacity 1mbit --meaning link", "no option"),
    ):
        message = refused(ns, WALE, "rate", *words.split(), status=2)
        true(says in message and "--help" in message, f"{words}: {message}")
    equal(paths(ns), [], "nothing was set")


def test_without_capability() -> None:
    """Who may not configure the network may look, but not set."""
    ns = stage()
    rate(ns, "set dev d0 1mbit")
    harmless = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", WALE, "rate")
    for words in ("set dev d0 2mbit", "del dev d0", "del all"):
        true("not permitted" in refused(ns, *harmless, *words.split()), words)
    true("1Mbit" in done(ns, *harmless, "show"), "show")


def test_monitor() -> None:
    """A line for each change, as text and as JSON, of this namespace alone."""
    ns, other = stage(), stage("other")
    text, lines = Child(ns, "monitor"), Child(ns, "monitor", "--json")
    rate(other, "set dev d0 1mbit")
    rate(ns, "set dev d0 2mbit beta 2")
    rate(ns, "set dev d0 beta 3")
    rate(ns, "del dev d0")
    printed = [line.split(None, 1)[1] for line in text.end(signal.SIGTERM)]
    equal([line.split()[0] for line in printed], ["set", "set", "del"], "events")
    true(printed[1].startswith("set dev d0 2Mbit share "), printed[1])
    events = [json.loads(line) for line in lines.end()]
    equal(
        [(e["event"], e["dev"], e["rate"], e["beta"]) for e in events],
        [("set", "d0", 250_000, 2), ("set", "d0", 250_000, 3), ("del", "d0", 250_000, 3)],
        "events as JSON",
    )


def test_monitor_can_be_pasted() -> None:
    """What monitor prints of a path, set reads."""
    ns = stage()
    child = Child(ns, "monitor")
    for key, words, _ in TYPED:
        rate(ns, f"set {key} {words}")
    before = {path["id"]: path for path in paths(ns)}
    lines = child.end()
    equal(len(lines), len(TYPED), "lines")
    for line in lines:
        rate(ns, line.split(None, 1)[1])
    for path in paths(ns):
        old = before[path["id"]]
        for name in ("time_ns", "age_ns", "updates"):
            old[name] = path[name]
        equal(path, old, "a path that was set again")


def test_monitor_says_what_it_lost() -> None:
    """A reader that is too slow is told, and goes on."""
    ns = stage()
    child = Child(ns, "monitor", "--json")
    child.process.send_signal(signal.SIGSTOP)
    keys = [word for n in range(4000) for word in ("dst", f"10.1.{n >> 8}.{n & 255}")]
    steps = "".join(f"1ms {n}mbit\n" for n in range(1, 7))
    done(ns, WALE, "rate", "play", trace_file(steps), *keys)
    child.process.send_signal(signal.SIGCONT)
    net.wait_for(child.waits, "a monitor that has read what there was")
    rate(ns, "set dev d0 1mbit")
    net.wait_for(lambda: '"d0"' in child.printed(), "the event of d0")
    events = [json.loads(line) for line in child.end()]
    lost = [event for event in events if event["event"] == "lost"]
    true(lost and lost[0]["times"] == 1, "an event that tells of the loss")
    equal(events[-1]["dev"], "d0", "the last event")


@virtual_time("it asserts when a program is done")
def test_play_is_exact() -> None:
    """Every step holds from the nanosecond on that the trace says; play ends with it."""
    ns = stage()
    steps = [(3 * MS, 8), (1, 16), (700_001, 0), (2 * SECOND + 7, 24), (5 * MS, 32)]
    name = trace_file("".join(f"{ns_}ns {rate_}bit # x\n" for ns_, rate_ in steps))
    child = Child(ns, "monitor", "--json")
    start = time.monotonic_ns()
    rate(ns, f"play {name} dev d0 dst 10.0.0.0/8 beta 5")
    took = time.monotonic_ns() - start
    total = sum(duration for duration, _ in steps)
    true(total <= took < total + 50 * MS, f"it took {took} ns, not {total}")
    events = [json.loads(line) for line in child.end()]
    equal({event["beta"] for event in events}, {5}, "options")
    for key in ("dev", "dst"):
        mine = [event for event in events if key in event]
        equal([event["rate"] for event in mine], [bits // 8 for _, bits in steps], "rates")
        times = [event["time_ns"] for event in mine]
        gaps = [b - a for a, b in itertools.pairwise(times)]
        equal(gaps, [duration for duration, _ in steps[:-1]], "durations")
        equal([e["t_ns"] - e["time_ns"] < MS for e in mine], [True] * len(mine), "in time")
    equal(paths(ns, "dev d0")[0]["rate"], 4, "the last rate stays")
    os.unlink(name)


@virtual_time("it asserts times of a program")
def test_play_at_loop_delete() -> None:
    """Absolute times; again and again, until a signal; nothing is left behind."""
    ns = stage()
    name = trace_file("at 100ms 8bit\nat 250ms 16bit\nat 1s end\n")
    monitor = Child(ns, "monitor", "--json")
    player = Child(ns, "play", name, "dev", "d0", "--loop", "--delete")
    time.sleep(2.1)
    player.end(signal.SIGTERM)
    equal(paths(ns), [], "paths after --delete")
    events = [json.loads(line) for line in monitor.end()]
    equal([event["event"] for event in events], ["set"] * 6 + ["del"], "events")
    times = [event["time_ns"] - events[0]["time_ns"] for event in events[:-1]]
    equal(times, [n * MS for n in (0, 150, 1000, 1150, 2000, 2150)], "times")
    bad = trace_file("1s 1mbit\n1s 1foo\n")
    message = refused(ns, WALE, "rate", "play", bad, "dev", "d0")
    true(f"{bad}:2:" in message, message)
    message = refused(ns, WALE, "rate", "play", trace_file("at 0 8bit"), "dev", "d0", "--loop",
                      status=2)  # fmt: skip
    true("at 60s end" in message, message)
    equal(paths(ns), [], "a bad trace sets nothing")


@virtual_time("it samples the age of advice")
def test_play_keeps_advice_young() -> None:
    """A step longer than the age limit is renewed, from the same time on."""
    ns = stage()
    player = Child(ns, "play", trace_file("10s 8bit\n"), "dev", "d0", "age", "600ms")
    first = paths(ns)[0]["time_ns"]
    for _ in range(20):
        time.sleep(0.157)
        path = paths(ns)[0]
        true(path["age_ns"] <= 210 * MS, f"age {path['age_ns']}")
        equal(path["time_ns"], first, "since when the rate holds")
    player.end(signal.SIGKILL, -signal.SIGKILL)
    time.sleep(1)
    true("stale" in rate(ns, "show"), "the advice of a killed player")


def test_many_paths() -> None:
    """100,000 paths: all are shown, once."""
    ns = stage()
    name = trace_file("at 0s 8mbit\n")
    for part in range(10):
        hosts = range(part * 10_000, (part + 1) * 10_000)
        keys = [w for n in hosts for w in ("dst", f"10.{n >> 16}.{(n >> 8) & 255}.{n & 255}")]
        done(ns, WALE, "rate", "play", name, *keys)
    lines = rate(ns, "show").splitlines()[1:]
    equal(len(lines), 100_000, "paths")
    equal(len({line.split(None, 2)[1] for line in lines}), 100_000, "different ones")
    rate(ns, "del all")
    equal(paths(ns), [], "after del all")


def test_show_under_change() -> None:
    """What exists throughout a dump is in it once, whatever comes and goes."""
    ns = stage()
    keys = [word for n in range(3000) for word in ("dst", f"10.2.{n >> 8}.{n & 255}")]
    done(ns, WALE, "rate", "play", trace_file("at 0s 8mbit\n"), *keys)
    churn = [word for n in range(500) for word in ("dst", f"10.3.{n >> 8}.{n & 255}")]
    # sets all, then deletes all
    script = f'while :; do {WALE} rate play "$0" "$@" --delete; done'
    child = subprocess.Popen(
        ["ip", "netns", "exec", ns.name, "sh", "-c", script, trace_file("1ms 8mbit\n"), *churn],
        stderr=subprocess.DEVNULL,
    )
    for _ in range(5):
        result = call(ns, WALE, "rate", "show", "--json")
        equal(result.returncode, 0, "status")
        found = [path["dst"] for path in json.loads(result.stdout)["paths"]]
        stable = [dst for dst in found if dst.startswith("10.2.")]
        equal((len(stable), len(set(stable))), (3000, 3000), "paths that stay")
        time.sleep(0.0007)
    child.terminate()
    child.wait()


if __name__ == "__main__":
    main()
