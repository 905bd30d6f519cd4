#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A TCP sender with the link on its own egress is not the wiser for it.

Topology: lib/pair.py; TCP from 10.0.0.1 to 10.0.0.2, so that the sender's own
stack hands its GSO packets to the link.  It must neither be slowed down by the
limit on packets below the socket (TCP small queues) nor be told of drops.
"""

from __future__ import annotations

import os
import socket
import time

from wale_lab.selftest import net
from wale_lab.selftest.pair import MS, Pair
from wale_lab.selftest.tap import equal, main, true

MSS = 1448


def counter(pair: Pair, name: str) -> int:
    """Return a counter of TCP or TcpExt of the sender's namespace."""
    with pair.a.entered():
        lines = net.read("/proc/thread-self/net/snmp") + net.read("/proc/thread-self/net/netstat")
    rows = lines.splitlines()
    for head, values in zip(rows[::2], rows[1::2], strict=True):
        names = head.split()
        if name in names and names[0] in ("Tcp:", "TcpExt:"):
            return int(values.split()[names.index(name)])
    raise LookupError(name)


def transfer(pair: Pair, size: int, limit_s: float = 600) -> float:
    """Send so many bytes from a to b; return the seconds that it took."""
    with pair.b.entered():
        listener = socket.create_server(("10.0.0.2", 5001))
    with pair.a.entered():
        sender = socket.socket()
    child = os.fork()
    if child == 0:
        sender.connect(("10.0.0.2", 5001))
        sender.sendall(bytes(size))
        sender.shutdown(socket.SHUT_WR)
        sender.recv(1)
        os._exit(0)
    sender.close()
    start = time.monotonic()
    peer, _ = listener.accept()
    peer.settimeout(limit_s)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 65536)
    left = size
    while left:
        data = peer.recv(1 << 20)
        true(data, f"the connection ended with {left} bytes missing")
        left -= len(data)
    end = time.monotonic()
    peer.close()
    listener.close()
    os.waitpid(child, 0)
    return end - start


def prepare(pair: Pair) -> None:
    """Give the sockets room for any window of these tests."""
    for ns in (pair.a, pair.b):
        with ns.entered():
            net.write("/proc/sys/net/ipv4/tcp_rmem", "4096 8000000 16000000")
            net.write("/proc/sys/net/ipv4/tcp_wmem", "4096 8000000 16000000")
            net.write("/proc/sys/net/ipv4/tcp_no_metrics_save", "1")


def test_not_throttled_by_small_queues() -> None:
    """One connection fills a link with a bandwidth-delay product of 500 packets."""
    pair = Pair()
    prepare(pair)
    pair.add(rate=10 * 10**6, delay=75 * MS, limit_packets=10_000)
    seconds = transfer(pair, 20 * 10**6)
    rate = 20 * 10**6 / seconds
    true(rate > 0.75 * 10 * 10**6, f"{rate:.0f} bytes/s through a link of 10,000,000")
    equal(counter(pair, "RetransSegs"), 0, "retransmissions")
    pair.close()


def test_no_rate_limit_only_delay() -> None:
    """Delay alone: the window, not the qdisc, bounds the throughput."""
    pair = Pair()
    prepare(pair)
    pair.add(delay=50 * MS, limit_packets=1000)
    seconds = transfer(pair, 10 * 10**6)
    true(seconds < 1.5, f"10 MB took {seconds} s")
    pair.close()


def test_wire_packets_on_egress() -> None:
    """The sender's GSO packets are counted as wire packets: none above the MTU."""
    pair = Pair()
    prepare(pair)
    pair.add(rate=10**6, delay=10 * MS, limit_packets=100)
    tracing = net.Tracing(4096)
    tracing.on()
    transfer(pair, 500_000)
    lengths = [
        int(line.split("len=")[1].split()[0])
        for line in tracing.text().splitlines()
        if "wale_enqueue:" in line and "dev=a0" in line
    ]
    true(max(lengths) <= 1500, f"a packet of {max(lengths)} bytes")
    segments = -(-500_000 // MSS)
    true(lengths.count(1500) >= segments - 1, f"{lengths.count(1500)} full packets of {segments}")
    pair.close()


def test_remote_drops_are_losses() -> None:
    """drops remote: the sender finds out like anybody, and retransmits."""
    pair = Pair()
    prepare(pair)
    pair.add(rate=10**6, delay=20 * MS, limit_packets=10, drops=0)
    seconds = transfer(pair, 2 * 10**6)
    stats = pair.stats()
    drops = stats["dropped_buffer_packets"]
    true(drops > 0, "no drop in this test")
    retransmitted = counter(pair, "RetransSegs")
    true(retransmitted >= drops, f"{drops} drops, {retransmitted} retransmissions")
    true(seconds < 4, f"2 MB took {seconds} s")
    equal(pair.get().imbalance(), 0, "imbalance")
    pair.close()


def test_local_drops_are_told() -> None:
    """drops local: the ordinary answer; the connection gets through all the same."""
    pair = Pair()
    prepare(pair)
    pair.add(rate=10**6, delay=20 * MS, limit_packets=10, drops=1)
    transfer(pair, 2 * 10**6)
    true(pair.stats()["dropped_buffer_packets"] > 0, "no drop in this test")
    equal(pair.get().imbalance(), 0, "imbalance")
    pair.close()


def test_answer_to_the_sender() -> None:
    """A UDP sender hears of local drops (ENOBUFS) and not of remote ones."""
    pair = Pair()
    for drops, expected in ((0, 0), (1, 5)):
        pair.add(rate=10**5, limit_packets=5, drops=drops)
        errors = 0
        with pair.a.entered():
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.setsockopt(socket.IPPROTO_IP, 11, 1)  # IP_RECVERR: local drops are told
        udp.connect(("10.0.0.2", 9))
        for _ in range(10):
            try:
                udp.send(bytes(1000))
            except OSError:
                errors += 1
        equal(pair.stats()["dropped_buffer_packets"], 5, "drops")
        equal(errors, expected, f"errors with drops {drops}")
        udp.close()
        pair.delete()
    pair.close()


def test_random_loss_is_never_told() -> None:
    """Random loss happens far away, also with drops local."""
    pair = Pair()
    prepare(pair)
    pair.add(rate=10**6, delay=20 * MS, limit_packets=1000, drops=1, loss=(1 << 32) // 50, seed=1)
    transfer(pair, 10**6)
    lost = pair.stats()["dropped_loss_packets"]
    true(lost > 0, "no loss in this test")
    true(counter(pair, "RetransSegs") >= lost, "lost packets were not retransmitted")
    pair.close()


if __name__ == "__main__":
    main()
