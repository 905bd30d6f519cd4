#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""How a flow of ratcp begins: with a connection, and with nothing that others left behind.

The stack leaves .init and .release out where a congestion control is chosen before the SYN is
sent and the route asks for another one.  A deferred connect() of TCP Fast Open lets a program
do so.  Topology: lib/pair.py.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Callable

from wale_lab.selftest import net, rate
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.rate import S, channel, congestion_of
from wale_lab.selftest.tap import Skip, equal, main, true

TCP_FASTOPEN_CONNECT, TCP_FASTOPEN_NO_COOKIE = 30, 34
TCP_REPAIR, TCP_REPAIR_QUEUE, TCP_QUEUE_SEQ, TCP_REPAIR_OPTIONS = 19, 20, 21, 22
THERE = ("10.0.0.2", 5001)
IPV4 = "/proc/sys/net/ipv4"
OURS = "ratcp ratcp_ecn ratcp_oldtahoe oldtahoe vanilla tahoe reno_classic reno_rfc2001".split()
RATE = 10**6


def advised_pair(**sysctls: str) -> tuple[Pair, rate.Channel]:
    """Return two hosts with 20 ms between them, and a's channel, which has a path."""
    pair = Pair()
    rate.prepare(pair, **sysctls)
    rate.slow_link(pair, rate=RATE * 5 // 4, delay_ms=10, limit_packets=100)
    ch = channel(pair.a)
    ch.set(ifindex=pair.dev, rate=RATE)
    return pair, ch


def listen(pair: Pair) -> socket.socket:
    """Return a's peer's socket that takes connections."""
    with pair.b.entered():
        return socket.create_server(THERE, backlog=64)


def deferred(congestion: str) -> socket.socket:
    """Return a socket of this namespace whose connect() waits for data, and then choose."""
    sock = socket.socket()
    sock.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
    sock.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, 1)
    sock.connect(THERE)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    return sock


def route(pair: Pair, congestion: str) -> None:
    """Have a's route ask for a congestion control."""
    net.ip_batch([f"route change 10.0.0.0/24 dev a0 congctl {congestion}"], pair.a)


def in_child(work: Callable[[], None], uid: int = 1000) -> None:
    """Do this as a user without rights; fail if it fails."""
    pid = os.fork()
    if not pid:
        status = 1
        try:
            os.setgroups([])
            os.setresuid(uid, uid, uid)
            work()
            status = 0
        except BaseException as error:
            print(f"# {error!r}", flush=True)
        os._exit(status)
    equal(os.waitpid(pid, 0)[1], 0, "status of the user's process")


def foreign() -> list[str]:
    """Return congestion controls of others that have something in their private state."""
    there = net.read(f"{IPV4}/tcp_available_congestion_control").split()
    return [name for name in ("bbr", "htcp", "cubic") if name in there]


def talk(sock: socket.socket, peer: socket.socket) -> None:
    """Send for a second, and have it read."""
    sock.setblocking(False)
    peer.setblocking(False)
    for _ in range(200):
        with contextlib.suppress(BlockingIOError):
            sock.send(bytes(30_000))
        with contextlib.suppress(BlockingIOError):
            while peer.recv(1 << 20):
                pass
        net.sleep_ns(5 * MS)


def test_route_takes_over() -> None:
    """The bytes of the congestion control that was chosen are not taken for one's own."""
    pair, ch = advised_pair(tcp_sack="0")
    listener = listen(pair)
    for chosen in foreign() + OURS:
        for ours in OURS:
            if chosen == ours:
                continue
            route(pair, ours)
            with pair.a.entered():
                sock = deferred(chosen)
            sock.send(bytes(100))
            what = f"{chosen} before, route {ours}"
            peer, _ = listener.accept()
            talk(sock, peer)
            # ratcp_ecn is ratcp where it is not known what the other end says to ECN
            equal(congestion_of(sock) in (ours, "ratcp"), True, what)
            if ours.startswith("ratcp"):
                flow = ch.flow(sock.getsockname()[1])
                equal(flow["congestion"] in (ours, "ratcp"), True, f"flow: {what}")
                equal(flow["rate"], RATE, f"rate: {what}")
                true(0 < flow["cwnd"] <= flow["rate_window"], f"{flow['cwnd']}: {what}")
            sock.close()
            peer.close()
    listener.close()
    net.sleep_ns(10 * S)
    equal(ch.flows(), [], "flows in the end")
    pair.close()


def test_route_takes_over_and_nobody_answers() -> None:
    """The socket goes with the state that others left."""
    pair, ch = advised_pair()
    for chosen in foreign() + OURS:
        for ours in OURS:
            route(pair, ours)
            with pair.a.entered():
                sock = deferred(chosen)
            with contextlib.suppress(ConnectionRefusedError):
                sock.send(bytes(100))
            sock.close()
    equal(ch.flows(), [], "flows in the end")
    pair.close()


def test_another_takes_over() -> None:
    """Nothing stays behind where ratcp was chosen, and the route has another one."""
    pair, ch = advised_pair()
    net.write(f"{IPV4}/tcp_allowed_congestion_control", f"reno {' '.join(OURS)}")
    listener = listen(pair)
    route(pair, "reno")

    def choose_and_send() -> None:
        for name in 5 * OURS:  # less than the backlog
            sock = deferred(name)
            sock.send(bytes(100))
            equal(congestion_of(sock), "reno", f"{name} was chosen")
            sock.close()

    with pair.a.entered():
        in_child(choose_and_send)
    equal(ch.flows(), [], "flows")
    equal(ch.paths()[0]["listeners"], 0, "listeners")
    listener.close()
    pair.close()


def test_chosen_before_the_syn() -> None:
    """Nothing of the connection is known then; all of it is, when it begins."""
    pair, ch = advised_pair()
    listener = listen(pair)
    for _ in range(16):  # each with another initial sequence number
        with pair.a.entered():
            sock = deferred("ratcp")
        sock.send(bytes(100))
        peer, _ = listener.accept()
        talk(sock, peer)
        flow = ch.flow(sock.getsockname()[1])
        equal(flow["phase"], "avoidance", "phase")
        equal(flow["base_rtt"] // 100_000, 112, "base RTT, 100 us: delay and service")
        equal(flow["cwnd"], flow["rate_window"], "window")
        sock.close()
        peer.close()
    listener.close()
    pair.close()


def test_chosen_behind_the_syn() -> None:
    """The first window is one packet, as where it was chosen before."""
    pair, ch = advised_pair()
    listener = listen(pair)
    for name in ("ratcp", "ratcp_oldtahoe"):
        rate.prepare(pair, tcp_sack="1" if name == "ratcp" else "0")
        with pair.a.entered():
            sock = socket.socket()
        sock.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            sock.connect(THERE)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        equal(ch.flows(), [], f"flows of {name} without a connection")
        peer, _ = listener.accept()
        net.sleep_ns(30 * MS)
        flow = ch.flow(sock.getsockname()[1])
        equal((flow["congestion"], flow["cwnd"], flow["rate"]), (name, 1, RATE), "in the beginning")
        sock.close()
        peer.close()
        net.sleep_ns(5 * S)
    listener.close()
    pair.close()


def restored(pair: Pair, listener: socket.socket, name: str) -> tuple[socket.socket, ...]:
    """Return a connection whose sender is restored as CRIU does it: it has SACK behind .init."""
    tcp = socket.IPPROTO_TCP
    with pair.a.entered():
        before = socket.create_connection(THERE)
        peer, _ = listener.accept()
        here = before.getsockname()
        before.setsockopt(tcp, TCP_REPAIR, 1)
        numbers = {}
        for queue in (1, 2):
            before.setsockopt(tcp, TCP_REPAIR_QUEUE, queue)
            numbers[queue] = before.getsockopt(tcp, TCP_QUEUE_SEQ)
        before.close()
        sock = socket.socket()
        sock.setsockopt(tcp, TCP_REPAIR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for queue, number in numbers.items():
            sock.setsockopt(tcp, TCP_REPAIR_QUEUE, queue)
            sock.setsockopt(tcp, TCP_QUEUE_SEQ, struct.pack("I", number & 0xFFFFFFFF))
        sock.bind(here)
        sock.setsockopt(tcp, socket.TCP_CONGESTION, name.encode())
        sock.connect(THERE)
    # maximum segment size, window scale, SACK
    options = struct.pack("6I", 2, 1448, 3, 7 | 7 << 16, 4, 0)
    sock.setsockopt(tcp, TCP_REPAIR_OPTIONS, options)
    sock.setsockopt(tcp, TCP_REPAIR, 0)
    return sock, peer


def test_restored_with_sack() -> None:
    """The TCPs that do not know SACK fall back to Reno with it, however late it comes."""
    for name in OURS:
        pair, _ = advised_pair()
        listener = listen(pair)
        sock, peer = restored(pair, listener, name)
        talk(sock, peer)
        falls_back = name not in ("ratcp", "ratcp_ecn")
        equal(congestion_of(sock).endswith("-reno"), falls_back, f"{name} is {congestion_of(sock)}")
        for one in (sock, peer, listener):
            one.close()
        pair.close()


def test_owner_of_an_accepted_socket() -> None:
    """It is that of who accepted it, as ss has it, not of who listens."""
    if os.getuid():
        raise Skip("needs root, to be another user")
    pair = Pair()
    rate.prepare(pair, tcp_congestion_control="ratcp")
    net.write(f"{IPV4}/tcp_allowed_congestion_control", "reno ratcp")
    listener = listen(pair)
    with pair.a.entered():
        client = socket.create_connection(THERE)

    def serve() -> None:
        sock, _ = listener.accept()
        sock.send(bytes(20_000))
        net.sleep_ns(S)
        equal([flow["sport"] for flow in channel().flows()], [THERE[1]], "what the user sees")

    with pair.b.entered():
        in_child(serve)
        uids = {flow["uid"] for flow in channel().flows()}
    true(uids <= {1000}, f"owners {uids}")
    client.close()
    listener.close()
    pair.close()


if __name__ == "__main__":
    main()
