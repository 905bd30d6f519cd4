#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""wale link --to: links of some traffic, and what others have at the interface.

   ns "a"                                               ns "b"
+------------------------------------------+         +---------------+
| a0 egress: filter -> wale-a0   -> a0 ====|== veth =|=== b0         |
| a0 ingress: filter -> wale-a0-2 -> stack |         |  10.0.0.2/24  |
+------------------------------------------+         +---------------+
"""

from __future__ import annotations

import subprocess
from typing import Any

from common import WALE, call, done, refused
from link import link, round_trip_ms, shown, state
from wale_lab.selftest import net
from wale_lab.selftest.pair import Pair
from wale_lab.selftest.tap import equal, main, true, virtual_time


def all_of(ns: net.Namespace) -> list[Any]:
    """What is there, with filters of both hooks."""
    egress = call(ns, "tc", "-j", "filter", "show", "dev", "a0", "egress").stdout
    return [*state(ns), egress.strip() or "[]"]


@virtual_time("it asserts round-trip times")
def test_only_some_traffic() -> None:
    """Each network has a link of its own, in both directions; the rest is as it was."""
    pair = Pair()
    addresses = ["10.0.2.2/24", "10.0.3.2/24"]
    net.ip_batch([f"addr add {address} dev b0" for address in addresses], pair.b)
    net.ip_batch([f"route add {a.replace('2/24', '0/24')} dev a0" for a in addresses], pair.a)
    for ns, dev in ((pair.a, "a0"), (pair.b, "b0")):
        with ns.entered():
            for name in ("all", dev):
                net.write(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "0")
    net.ip_batch(["addr add fd00:7::2/64 dev b0 nodad"], pair.b)
    net.ip_batch(["addr add fd00:7::1/64 dev a0 nodad"], pair.a)
    done(pair.a, *"tc qdisc add dev a0 root handle 7: fq_codel".split())
    before = all_of(pair.a)
    link(pair, "add", "a0", "--to", "10.0.2.0/24", "--delay", "20ms", "--down", "--delay", "30ms")
    link(pair, "add", "a0", "--to", "10.0.3.2", "--delay", "100ms")
    link(pair, "add", "a0", "--to", "fd00:7::/64", "--delay", "5ms")
    link(pair, "add", "a0", "--to", "10.0.2.2:9999", "--delay", "400ms")
    for address, expected in (
        ("10.0.2.2", 50),
        ("10.0.3.2", 200),
        ("fd00:7::2", 10),
        ("10.0.0.2", 0),
    ):
        found = round_trip_ms(pair, address)
        true(expected <= found < expected + 1, f"{address}: {found} ms, not {expected}")
    names = [(row["interface"], row["to"]) for row in shown(pair)]
    nets = ["10.0.2.0/24", "10.0.3.2", "fd00:7::/64", "10.0.2.2:9999"]
    equal(names, [("a0", net) for net in nets], "show")
    true("a0 to 10.0.3.2 (ifb " in link(pair, "show", "a0"), "show, as text")
    stats = shown(pair, "a0", "--stats")[0]
    equal([stats[way]["stats"]["sent_packets"] for way in ("up", "down")], [4, 4], "packets")

    link(pair, "change", "a0", "--to", "10.0.3.2", "--delay", "10ms")
    found = round_trip_ms(pair, "10.0.3.2")
    true(20 <= found < 21, f"after a change: {found} ms, not 20")
    says = refused(pair.a, WALE, "link", "change", "a0", "--delay", "1ms")
    true("--to says which" in says, says)
    says = refused(pair.a, WALE, "link", "add", "a0", "--to", "10.0.3.2/32", "--delay", "1ms")
    true("--replace replaces it" in says, says)
    link(pair, "add", "a0", "--to", "10.0.3.2", "--delay", "50ms", "--replace")
    found = round_trip_ms(pair, "10.0.3.2")
    true(100 <= found < 101, f"replaced: {found} ms, not 100")
    says = refused(pair.a, WALE, "link", "add", "a0", "--delay", "1ms", "--replace")
    true("it has links to some addresses" in says, says)

    link(pair, "del", "a0", "--to", "10.0.2.0/24")
    found = round_trip_ms(pair, "10.0.2.2")
    true(found < 1, f"a link that is gone: {found} ms")
    says = refused(pair.a, WALE, "link", "del", "a0", "--to", "10.0.2.0/24")
    true("it has none to these addresses" in says, says)
    link(pair, "del", "a0")
    equal(all_of(pair.a), before, "after del")
    pair.close()


@virtual_time("it asserts a time")
def test_only_a_port() -> None:
    """A link of a port is of TCP and UDP, to it and from it, and no other port's."""
    pair = Pair()
    before = all_of(pair.a)
    link(pair, "add", "a0", "--to", "10.0.0.0/24:7000", "--delay", "150ms")
    script = (
        "import socket, sys, time\n"
        "kind = socket.SOCK_STREAM if sys.argv[2] == 'tcp' else socket.SOCK_DGRAM\n"
        "s = socket.socket(socket.AF_INET, kind)\n"
        "s.connect(('10.0.0.2', int(sys.argv[1])))\n"
        "begin = time.monotonic()\n"
        "s.send(b'x')\ns.recv(1)\nprint(time.monotonic() - begin)\n"
    )
    server = (
        "import socket, sys\n"
        "kind = socket.SOCK_STREAM if sys.argv[2] == 'tcp' else socket.SOCK_DGRAM\n"
        "s = socket.socket(socket.AF_INET, kind)\ns.bind(('', int(sys.argv[1])))\n"
        "print('ready', flush=True)\n"
        "if sys.argv[2] == 'tcp':\n"
        "    s.listen()\n    c = s.accept()[0]\n    c.send(c.recv(1))\n"
        "else:\n    s.sendto(*s.recvfrom(1))\n"
    )
    for port, kind, expected in ((7000, "tcp", 0.3), (7000, "udp", 0.3), (7001, "tcp", 0.0)):
        words = ["ip", "netns", "exec", pair.b.name, "python3", "-c", server, str(port), kind]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout and running.stdout.readline() == "ready\n"
            took = float(done(pair.a, "python3", "-c", script, str(port), kind))
        true(expected <= took < expected + 0.1, f"{kind} {port}: {took} s, not {expected}")
    link(pair, "del", "a0")
    equal(all_of(pair.a), before, "after del")
    pair.close()


def test_networks_that_are_none() -> None:
    """What is no network is refused, in a sentence that says what was expected."""
    pair = Pair()
    before = all_of(pair.a)
    for text, says in (
        ("10.0.2.5/24", "expected 10.0.2.0/24"),
        ("[fd00::7/64]:80", "expected [fd00::/64]:80"),
        ("10.0.2.0/33", 'got "10.0.2.0/33"'),
        ("10.0.2.0:0", 'got "10.0.2.0:0"'),
        ("10.0.2.0:65536", 'got "10.0.2.0:65536"'),
        ("[fd00::1", 'got "[fd00::1"'),
        ("server", 'got "server"'),
        ("", 'got ""'),
    ):
        message = refused(pair.a, WALE, "link", "add", "a0", "--to", text, status=2)
        true(says in message and message.count("\n") == 1, message)
    for words in ("--to", "--to 10.0.0.2 --to 10.0.0.2/32", "--to 10.0.0.2 --feedback"):
        refused(pair.a, WALE, "link", "add", "a0", *words.split(), status=2)
    refused(pair.a, WALE, "link", "add", "a0", "--to", "10.0.0.2", "--limit", "0")
    equal(all_of(pair.a), before, "what is left")
    pair.close()


def test_an_ifb_of_some_traffic_that_somebody_deletes() -> None:
    """Its filter would drop packets: del takes that away too."""
    for name in ("ifb_up", "ifb"):
        pair = Pair()
        before = all_of(pair.a)
        link(pair, "add", "a0", "--to", "10.0.0.2:80", "--rate", "10mbit")
        done(pair.a, "ip", "link", "del", shown(pair)[0][name])
        true("missing" in link(pair, "show", "a0"), "show")
        says = refused(pair.a, WALE, "link", "change", "a0", *"--to 10.0.0.2:80 --delay 1s".split())
        true("one of its directions is missing" in says, says)
        link(pair, "del", "a0", "--to", "10.0.0.2:80")
        equal(all_of(pair.a), before, f"after del, without {name}")
        pair.close()


def test_several_networks_at_once() -> None:
    """Each --to of one command is a link of its own; if one fails, none is left."""
    pair = Pair()
    before = all_of(pair.a)
    nets = ["10.0.2.0/24", "10.0.3.0/24:443", "fd00:7::/64"]
    words = [word for net_of in nets for word in ("--to", net_of)]
    link(pair, "add", "a0", *words, "--rate", "8mbit", "--seed", "7")
    equal([row["to"] for row in shown(pair)], nets, "show")
    seeds = [[row[way]["seed"] for way in ("up", "down")] for row in shown(pair)]
    equal(seeds, [[7, 8], [9, 10], [11, 12]], "seeds")
    link(pair, "del", "a0")
    equal(all_of(pair.a), before, "after del")
    link(pair, "add", "a0", "--to", "10.0.3.0/24", "--rate", "8mbit")
    kept = all_of(pair.a)
    both = "--to 10.0.2.0/24 --to 10.0.3.0/24".split()
    says = refused(pair.a, WALE, "link", "add", "a0", *both, "--rate", "1mbit")
    true("--replace replaces it" in says, says)
    equal(all_of(pair.a), kept, "what is left")
    for verb in ("change", "del"):
        refused(pair.a, WALE, "link", verb, "a0", *both, status=2)
    link(pair, "del", "a0")
    pair.close()


def test_beside_filters_of_others() -> None:
    """Links go before or after what others have at clsact, as is said, and leave it there."""
    pair = Pair()
    done(pair.a, *"tc qdisc add dev a0 clsact".split())
    match = "protocol ip flower dst_ip 10.9.9.9 action drop"
    for hook in ("ingress", "egress"):
        done(pair.a, *f"tc filter add dev a0 {hook} prio 2000 {match}".split())
    before = all_of(pair.a)
    for to in ([], ["--to", "10.0.0.0/24"]):
        says = refused(pair.a, WALE, "link", "add", "a0", *to, "--rate", "8mbit")
        true("--order" in says, says)
        for order in ("first", "last"):
            link(pair, "add", "a0", *to, "--rate", "8mbit", "--order", order)
            done(pair.a, "ping", "-c", "1", "10.0.0.2")
            stats = shown(pair, "--stats")[0]
            sent = [stats[way]["stats"]["sent_packets"] for way in ("up", "down")]
            true(min(sent) >= 1, f"{order}: {sent}")
            shows = done(pair.a, *"tc filter show dev a0 ingress".split())
            prios = [
                row.split("pref ")[1].split()[0] for row in shows.splitlines() if "pref" in row
            ]
            equal(prios[0] == "2000", order == "last", f"{order}: {prios}")
            link(pair, "del", "a0")
            equal(all_of(pair.a), before, f"after del, {order}")
    done(pair.a, *"tc qdisc del dev a0 clsact".split())
    done(pair.a, *"tc qdisc add dev a0 ingress".split())
    before = all_of(pair.a)
    says = refused(pair.a, WALE, "link", "add", "a0", "--to", "10.0.0.2", "--rate", "8mbit")
    true("ingress qdisc, beside which there can be no clsact" in says, says)
    link(pair, "add", "a0", "--rate", "8mbit", "--order", "last")
    link(pair, "del", "a0")
    equal(all_of(pair.a), before, "after del, of ingress")
    pair.close()


if __name__ == "__main__":
    main()
