#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Everything at once, on all CPUs: who configures, who sends, who listens, who goes away.

    stress.py [--seconds S] [--seed N]

Each worker below is a process that does one kind of thing, drawn from its own
stream of the seed, as fast as it can, without regard for the others.  The kernel
may refuse any of it.  It must not complain, and when all is over nothing may be
left.  Where there is one CPU only, it tests less.

     two pairs of namespaces (lib/pair.py), both ends with links that change

        links  channel  follow  listener  flows     configure, advise, look
        sockets (2)  packets                        send
        visitors                                    namespaces that come and go
        modules  tracing                            what is beneath all of them
"""

from __future__ import annotations

import argparse
import contextlib
import json
import mmap
import os
import random
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Callable, Sequence

from wale_lab.selftest import net, netlink, rate
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.rate import S, channel
from wale_lab.selftest.tap import equal, main
from wale_lab.selftest.wale import TC_H_ROOT

CONGESTIONS = ("ratcp", "ratcp_oldtahoe", "oldtahoe", "vanilla", "tahoe", "reno", "cubic")
MODULES = ("rate_feedback", "tcp_ratcp", "sch_wale")
PORT = 5001


def namespaces() -> set[str]:
    """The names of network namespaces that there are."""
    return {name["name"] for name in json.loads(net.run("ip -j netns list") or "[]")}


#: Those that are not of this test.
NAMESPACES = namespaces()

#: What a worker calls again and again.
Act = Callable[[], None]


def link_options(draw: random.Random) -> dict[str, object]:
    """Draw options of a link; some of them are refused together."""
    options: dict[str, object] = {"rate": draw.choice((10**4, 10**6, 10**8, 10**10))}
    options["delay"] = draw.choice((0, MS, 20 * MS))
    if draw.random() < 0.3:
        options["loss"] = draw.choice((0, 1 << 28, 1 << 31))
    if draw.random() < 0.3:
        options[draw.choice(("limit_packets", "limit_bytes"))] = draw.choice((3, 2000, 10**6))
    if draw.random() < 0.2:
        options["drops"] = draw.randrange(2)
    if draw.random() < 0.2:
        del options["rate"]
        options["trace"] = [(draw.randrange(1, 5) * MS, draw.randrange(10**7)) for _ in range(50)]
    if draw.random() < 0.3:
        arrival, mean = draw.randrange(1 << 31), 1 << draw.randrange(30, 36)
        options["sessions"] = {"arrival": arrival, "mean": mean, "max": 15, "step": MS}
    if draw.random() < 0.5:
        options["feedback"] = draw.choice(({}, {"idle": MS}, {"idle": S}))
    return options


def prepare(pair: Pair) -> None:
    """Have sockets that were closed with data on their way end soon, and their modules be free."""
    rate.prepare(pair, tcp_orphan_retries="1")


def path_key(draw: random.Random, pair: Pair) -> dict[str, object]:
    """Draw the name of a path; a few of them, so that they meet."""
    return draw.choice(
        (
            {"ifindex": pair.dev},
            {"daddr": "10.0.0.0", "prefix_len": 24},
            {"daddr": "10.0.0.2"},
            {"daddr": f"10.0.{draw.randrange(8)}.1"},
        )
    )


def links(draw: random.Random, pair: Pair) -> Act:
    """Add, change, replace, delete and dump links at both ends; as root or below mq.

    A child replaces the buffer of one that is the root, and taken away.
    """
    ends = []
    for ns, dev in ((pair.a, "a0"), (pair.b, "b0")):
        ends.append((ns.control(), ns.index(dev)))

    def act() -> None:
        control, dev = draw.choice(ends)
        parent, handle = draw.choice(((TC_H_ROOT, 0x10000), (0x100001, 0), (0x100002, 0)))
        step = draw.randrange(14)
        if step < 2:
            control.add(dev, link_options(draw), parent, handle)
        elif step < 6:
            control.change(dev, link_options(draw), parent, handle)
        elif step < 8:
            control.replace(dev, link_options(draw), parent, handle)
        elif step == 8:
            control.delete(dev, parent)
        elif step == 9:
            control.add(dev, {}, TC_H_ROOT, 0x100000, kind="mq")
        elif step == 10:
            kind = draw.choice(("fq_codel", "fq", "codel"))
            control.add(dev, {}, 0x10001, 0, netlink.NLM_F_CREATE | netlink.NLM_F_REPLACE, kind)
        elif step == 11:
            control.delete(dev, 0x10001)
        else:
            control.list(dev)

    return act


def channels(draw: random.Random, pair: Pair) -> Act:
    """Set, delete and dump paths."""
    ch = channel(pair.a)

    def act() -> None:
        step = draw.randrange(10)
        if step < 6:
            more = draw.choice(
                ({}, {"lag": "rtt"}, {"lag": "fixed", "lag_time": MS}, {"age_limit": MS})
            )
            values = {"rate": draw.choice((0, 10**4, 10**6, rate.UNLIMITED)), "beta": 2, **more}
            ch.set(
                meaning=draw.randrange(2), pace=draw.randrange(2), **values, **path_key(draw, pair)
            )
        elif step < 8:
            ch.delete(**path_key(draw, pair))
        elif step == 8:
            ch.delete()
        else:
            ch.paths()

    return act


def follow(draw: random.Random, pair: Pair) -> Act:
    """Let paths of b follow the link of a, those of a their own, and let go again."""
    home = os.open(f"/run/netns/{pair.a.name}", os.O_RDONLY)
    near, far = channel(pair.a), channel(pair.b)

    def act() -> None:
        step = draw.randrange(6)
        if step < 2:
            far.set(daddr="10.0.0.1", follow={"netns_fd": home, "ifindex": pair.dev})
        elif step < 4:
            near.set(**path_key(draw, pair), follow={"ifindex": pair.dev})
        elif step == 4:
            far.delete()
        else:
            far.paths()

    return act


def listener(draw: random.Random, pair: Pair) -> Act:
    """Join the groups, read some events or none, and leave."""

    def act() -> None:
        ear = channel(pair.a, receive=draw.choice((4096, 1 << 20)))
        for group in ("paths", "flows"):
            ear.join(group)
        time.sleep(draw.random() / 20)
        with contextlib.suppress(AssertionError):  # events were lost
            ear.events()
        ear.close()

    return act


def flows(draw: random.Random, pair: Pair) -> Act:
    """Dump the senders, and ask TCP for the state of each (as ss does)."""
    ch = channel(pair.a)

    def act() -> None:
        if draw.random() < 0.8:
            ch.flows(draw.choice((None, 1, 2)))
        else:
            net.run("ss -tin", pair.a)

    return act


def _finish(draw: random.Random, ends: Sequence[socket.socket]) -> None:
    """Close the ends of a connection: in order, with RST, or for another use of the socket."""
    way = draw.randrange(3)
    for sock in ends:
        if way == 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif way == 1:
            with contextlib.suppress(OSError):
                rate.disconnect(sock)
        sock.close()


def sockets(draw: random.Random, pair: Pair) -> Act:
    """Connect, send, change the congestion control in mid-connection, close."""
    port = PORT + draw.randrange(1000)
    with pair.b.entered():
        server = socket.create_server(("10.0.0.2", port), backlog=64)
    server.setblocking(False)
    net_a = os.open(f"/run/netns/{pair.a.name}", os.O_RDONLY)
    netlink.enter(net_a)  # this process is a sender of a
    data = bytes(1 << 16)

    def use(sock: socket.socket) -> None:
        name = draw.choice(CONGESTIONS).encode()
        with contextlib.suppress(OSError):  # its module is away
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name)

    def act() -> None:
        with contextlib.suppress(BlockingIOError):
            while True:  # what is left of connections that were given up
                server.accept()[0].close()
        senders = [socket.socket() for _ in range(draw.randrange(1, 6))]
        peers = []
        for sock in senders:
            use(sock)
            sock.settimeout(0.2)
            with contextlib.suppress(OSError):
                sock.connect(("10.0.0.2", port))
            with contextlib.suppress(OSError):
                peers.append(server.accept()[0])
                peers[-1].setblocking(False)
        for _ in range(draw.randrange(1, 20)):
            sock = draw.choice(senders)
            sock.setblocking(False)
            with contextlib.suppress(OSError):
                sock.send(data)
            for peer in peers:
                with contextlib.suppress(OSError):
                    peer.recv(1 << 20)
            if draw.random() < 0.4:
                use(sock)
        _finish(draw, senders + peers)

    return act


def packets(draw: random.Random, pair: Pair) -> Act:
    """Send packets and GSO packets from both ends."""
    back = pair.b.packet_socket("b0")

    def act() -> None:
        pair.send(draw.randrange(20), length=draw.choice((64, 1000, 1500)))
        with contextlib.suppress(OSError):
            pair.send_gso(draw.randrange(1, 30))
        for number in range(draw.randrange(20)):
            net.send(back, "b0", net.ip_packet(500, "10.0.0.1", number))
        pair.received()

    return act


def visitors(draw: random.Random, pair: Pair) -> Act:
    """Namespaces with links, paths, followers and senders go, or lose their device."""
    follower = channel(pair.b)

    def live(guest: Pair) -> None:
        with contextlib.suppress(OSError):  # a module is away
            guest.add(rate=10**6, delay=5 * MS, feedback={"idle": MS})
            channel(guest.a).set(ifindex=guest.dev, rate=10**6)
            home = os.open(f"/run/netns/{guest.a.name}", os.O_RDONLY)
            follower.set(daddr="10.9.0.1", follow={"netns_fd": home, "ifindex": guest.dev})
            os.close(home)
        sender = rate.Sender(guest, None, buffer=1 << 18)
        with contextlib.suppress(OSError):
            sender.use(draw.choice(CONGESTIONS))
        sender.fill()
        guest.send(50)
        time.sleep(draw.random() / 50)
        if draw.random() < 0.5:
            net.run(f"ip -n {guest.a.name} link set a0 netns {guest.b.name}", check=False)
            time.sleep(draw.random() / 50)
        sender.socket.close()

    def act() -> None:
        guest = Pair(queues=2)
        prepare(guest)
        try:
            live(guest)
        finally:
            guest.close()

    return act


def modules(draw: random.Random, pair: Pair) -> Act:
    """Try to unload modules, which mostly are in use, and load what was unloaded."""

    def act() -> None:
        time.sleep(draw.random() / 5)
        name = draw.choice(MODULES)
        if not net.run(f"rmmod {name}", check=False):
            time.sleep(draw.random() / 50)
        for other in MODULES:
            if not os.path.exists(f"/sys/module/{other}"):
                net.run(f"insmod {rate.module(other)}", check=False)

    return act


def trace_all() -> None:
    """Have the tracepoints on of what modules there are.

    They are on before anything runs, they are not switched off again, and names of tasks are not
    recorded: all of that patches code that runs, which an emulated second processor (QEMU 7.2,
    TCG) may see half done.  The kernel then dies of an int3 in its scheduler, where none of
    ours is, or one processor stays at the patched instruction for ever.
    """
    for system in ("wale", "ratcp"):
        with contextlib.suppress(OSError):
            net.write(f"{net.TRACING}/events/{system}/enable", "1")


def tracing(draw: random.Random, pair: Pair) -> Act:
    """Have the tracepoints on, also those of modules that came back, and throw records away."""

    def act() -> None:
        trace_all()
        time.sleep(draw.random() / 10)
        if draw.random() < 0.2:
            net.write(f"{net.TRACING}/trace", "")

    return act


#: Each with the number of its pair.
WORKERS = (
    *((links, 0), (links, 1), (channels, 0), (channels, 1), (follow, 0), (listener, 0)),
    *((flows, 0), (flows, 1), (sockets, 0), (sockets, 1), (packets, 0), (packets, 1)),
    *((visitors, 1), (modules, 0), (tracing, 0)),
)


class Tally:
    """How often each worker did something, was refused, or went wrong; shared by processes."""

    def __init__(self) -> None:
        self.map = mmap.mmap(-1, 24 * len(WORKERS))

    def counts(self, worker: int) -> tuple[int, ...]:
        """Return (done, refused, wrong)."""
        return struct.unpack_from("3Q", self.map, 24 * worker)

    def add(self, worker: int, what: int) -> None:
        """Count one more."""
        place = 24 * worker + 8 * what
        struct.pack_into("Q", self.map, place, struct.unpack_from("Q", self.map, place)[0] + 1)


def work(worker: int, pairs: Sequence[Pair], tally: Tally, seed: int, end: float) -> None:
    """Be a worker until the end of time."""
    make, number = WORKERS[worker]
    draw = random.Random(seed * 1000 + worker)
    act: Act | None = None
    while time.monotonic() < end:
        try:
            act = act or make(draw, pairs[number])
            act()
            tally.add(worker, 0)
        except (OSError, RuntimeError, LookupError):  # the kernel, or `ip`, said no
            tally.add(worker, 1)
            time.sleep(0.001)
        except BaseException:
            tally.add(worker, 2)
            traceback.print_exc(file=sys.stdout)
            break
    sys.stdout.flush()
    os._exit(0)


def start(worker: int, pairs: Sequence[Pair], tally: Tally) -> int:
    """Start a worker; return its process."""
    child = os.fork()
    if not child:
        work(worker, pairs, tally, ARGS.seed, time.monotonic() + ARGS.seconds)
    return child


def wait_for_all(children: Sequence[int], limit_s: float) -> list[int]:
    """Wait until the workers have ended; kill and return those that have not in time."""
    end = time.monotonic() + limit_s
    left = list(children)
    while left and time.monotonic() < end:
        left = [child for child in left if not os.waitpid(child, os.WNOHANG)[0]]
        time.sleep(0.05)
    for child in left:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return left


def test_everything_at_once() -> None:
    """All workers, for so many seconds."""
    print(f"# {ARGS.seconds} s on {os.cpu_count()} CPUs, --seed {ARGS.seed}")
    pairs = [Pair(queues=2), Pair(queues=2)]
    for pair in pairs:
        prepare(pair)
    net.write(f"{net.TRACING}/options/record-cmd", "0")
    trace_all()
    tally = Tally()
    sys.stdout.flush()
    children = [start(worker, pairs, tally) for worker in range(len(WORKERS))]
    late = wait_for_all(children, ARGS.seconds + 60)
    counts = [tally.counts(worker) for worker in range(len(WORKERS))]
    for (make, number), (done, refused, wrong) in zip(WORKERS, counts, strict=True):
        print(f"# {make.__name__} {number}: {done} done, {refused} refused, {wrong} wrong")
    equal([WORKERS[children.index(child)][0].__name__ for child in late], [], "workers that hang")
    equal([w[0].__name__ for w, c in zip(WORKERS, counts, strict=True) if not c[0]], [], "idle")
    equal(sum(wrong for _, _, wrong in counts), 0, "workers that went wrong")
    for pair in pairs:
        pair.close()


def test_nothing_is_left() -> None:
    """All modules can be unloaded: nothing holds them, and nothing of theirs is about."""
    for system in ("wale", "ratcp"):
        net.write(f"{net.TRACING}/events/{system}/enable", "0")
    for name in sorted(namespaces() - NAMESPACES):
        net.run(f"ip netns del {name}")
    for name in ("sch_wale", "tcp_ratcp", "rate_feedback"):
        net.wait_for(
            lambda name=name: not net.run(f"rmmod {name}", check=False), f"rmmod {name}", 300
        )
    for name in MODULES:
        net.run(f"insmod {rate.module(name)}")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    return parser.parse_args()


ARGS = arguments()

if __name__ == "__main__":
    main()
