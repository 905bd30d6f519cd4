#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The TCPs of the papers: oldtahoe, vanilla, tahoe, both Renos and ratcp_oldtahoe.

Topology: lib/pair.py; TCP from a to b over the link of Karnik and Kumar (2005):
200 packets/s (0.8 Mbit/s with packets of 500 bytes), 100 ms, a buffer of 10
packets.  Each window that fills the buffer loses one packet, so that what a TCP
does about it shows in the throughput.

The throughput is that of 500-byte packets as the paper counts them, as if each
were all payload: acknowledged packets * 500 / seconds.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wale_lab.selftest import net
from wale_lab.selftest.pair import MAC_A, MAC_B, MS, Pair
from wale_lab.selftest.tap import Skip, equal, main, true

CLASSIC = ("oldtahoe", "vanilla", "tahoe", "reno_classic", "reno_rfc2001", "ratcp_oldtahoe")
PORT = 5001
TCP_INFO, TCP_CONGESTION = 11, 13
# IPv6 has no path with an MTU below 1280
MTU = {socket.AF_INET: 500, socket.AF_INET6: 1280}
ADDRESS = {
    socket.AF_INET: ("10.0.0.1", "10.0.0.2"),
    socket.AF_INET6: ("fd00::1", "fd00::2"),
}
PACKETS_PER_SECOND = 200
TCP_CA_OPEN, TCP_CA_DISORDER, TCP_CA_LOSS = 0, 1, 4
SYSCTLS = {
    "tcp_sack": "0",
    "tcp_timestamps": "0",
    "tcp_no_metrics_save": "1",
    "tcp_moderate_rcvbuf": "0",
    "tcp_rmem": "4096 4194304 4194304",
    "tcp_wmem": "4096 4194304 4194304",
}


class Path:
    """A pair of hosts with the paper's link between them."""

    def __init__(
        self,
        family: int = socket.AF_INET,
        loss: float = 0,
        feedback: bool = False,
        **sysctls: str,
    ) -> None:
        self.pair = Pair()
        self.family = family
        self.mtu = MTU[socket.AddressFamily(family)]
        self.local, self.remote = ADDRESS[socket.AddressFamily(family)]
        for ns in (self.pair.a, self.pair.b):
            with ns.entered():
                for name, value in (SYSCTLS | sysctls).items():
                    net.write(f"/proc/sys/net/ipv4/{name}", value)
        self._addresses()
        options: dict[str, Any] = {"rate": PACKETS_PER_SECOND * self.mtu, "delay": 100 * MS}
        if loss:
            options |= {"loss": int(loss * (1 << 32)), "seed": 1}
        if feedback:
            options["feedback"] = {"idle": 2000 * MS}
        self.pair.add(limit_packets=10, **options)

    def _addresses(self) -> None:
        """Set the MTU, one ACK for each segment, and addresses of IPv6."""
        for ns, dev, own, other, mac in (
            (self.pair.a, "a0", self.local, self.remote, MAC_B),
            (self.pair.b, "b0", self.remote, self.local, MAC_A),
        ):
            lines = [f"link set {dev} mtu {self.mtu}"]
            if self.family == socket.AF_INET6:
                with ns.entered():
                    net.write(f"/proc/sys/net/ipv6/conf/{dev}/disable_ipv6", "0")
                    net.write(f"/proc/sys/net/ipv6/conf/{dev}/accept_dad", "0")
                lines += [
                    f"addr add {own}/64 dev {dev} nodad",
                    f"neigh replace {other} lladdr {mac} dev {dev}",
                    f"route change fd00::/64 dev {dev} metric 256 quickack 1",
                ]
            else:
                lines += [f"route change 10.0.0.0/24 dev {dev} src {own} quickack 1"]
            net.ip_batch(lines, ns)

    def counters(self) -> dict[str, int]:
        """Return the counters of TCP and TcpExt of the sender's namespace."""
        with self.pair.a.entered():
            text = net.read("/proc/thread-self/net/snmp") + net.read(
                "/proc/thread-self/net/netstat"
            )
        rows = text.splitlines()
        return {
            name: int(value)
            for head, values in zip(rows[::2], rows[1::2], strict=True)
            if head.startswith(("Tcp:", "TcpExt:"))
            for name, value in zip(head.split()[1:], values.split()[1:], strict=True)
        }

    def close(self) -> None:
        """Delete it."""
        self.pair.close()


@dataclass(frozen=True)
class Info:
    """What of struct tcp_info is looked at."""

    state: int
    cwnd: int
    ssthresh: int
    unacked: int


class Connection:
    """A sender that always has data, and a receiver that takes them."""

    def __init__(self, path: Path, sender: socket.socket, receiver: socket.socket) -> None:
        self.path = path
        self.socket = sender
        self.children = [self._child(self._receive, receiver), self._child(self._send, sender)]
        receiver.close()

    @classmethod
    def open(cls, path: Path, cc: str, late: bool = False) -> Connection:
        """Connect, with this congestion control from the beginning; or once the SYN was sent."""
        with path.pair.b.entered():
            listener = socket.create_server((path.remote, PORT), family=path.family)
        with path.pair.a.entered():
            sender = socket.socket(path.family, socket.SOCK_STREAM)
        sender.setblocking(not late)
        if not late:
            sender.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, cc.encode())
        with contextlib.suppress(BlockingIOError):
            sender.connect((path.remote, PORT))
        sender.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, cc.encode())
        sender.setblocking(True)
        receiver, _ = listener.accept()
        listener.close()
        return cls(path, sender, receiver)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        """Abort it; its path goes with it."""
        for child in self.children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()
        self.path.close()

    @staticmethod
    def _child(work: Callable[[socket.socket], None], sock: socket.socket) -> int:
        child = os.fork()
        if child == 0:
            with contextlib.suppress(OSError):
                work(sock)
            os._exit(0)
        return child

    @staticmethod
    def _send(sock: socket.socket) -> None:
        data = bytes(1 << 20)
        while True:
            sock.sendall(data)

    @staticmethod
    def _receive(sock: socket.socket) -> None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 32768)
        while sock.recv(1 << 20):
            pass

    def choose(self, cc: str) -> None:
        """Set the congestion control."""
        self.socket.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, cc.encode())

    def chosen(self) -> str:
        """Return the congestion control."""
        return self.socket.getsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, 16).rstrip(b"\0").decode()

    def info(self) -> Info:
        """Return what the kernel tells of it."""
        data = self.socket.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 104)
        words = struct.unpack_from("24I", data, 8)
        return Info(state=data[1], cwnd=words[18], ssthresh=words[17], unacked=words[4])

    def packets(self) -> float:
        """Return how many full packets have been acknowledged."""
        data = self.socket.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 136)
        acked = struct.unpack_from("Q", data, 120)[0]
        mss = struct.unpack_from("I", data, 16)[0]
        return acked / mss

    def throughput(self, seconds: float, skip: float = 0) -> float:
        """Return kB/s of 500-byte packets, over so many seconds after some others."""
        time.sleep(skip)
        before, start = self.packets(), time.monotonic()
        time.sleep(seconds)
        return (self.packets() - before) * 0.5 / (time.monotonic() - start)


def near(got: float, expected: float, tolerance: float, what: str) -> None:
    """Fail unless a number is as expected, within a fraction of it."""
    if abs(got - expected) > tolerance * expected:
        raise AssertionError(f"{what}: got {got:.2f}, expected {expected} within {tolerance:.1%}")


def test_restricted() -> None:
    """All are there, and none is free for all users."""
    available = net.read("/proc/sys/net/ipv4/tcp_available_congestion_control").split()
    allowed = net.read("/proc/sys/net/ipv4/tcp_allowed_congestion_control").split()
    for cc in CLASSIC:
        true(cc in available, f"{cc} is not available: {available}")
        true(cc not in allowed, f"{cc} is allowed to all")


# The published experiment has 82.44 kB/s, a trial in virtual time had 82.3.  It
# needs the timer of Linux 2.2: with the same timeout counted from the last ACK it
# is 78.0, with today's 74.0; with limited transmit less still.
OLDTAHOE_KBPS = 82.3


def check_oldtahoe(cc: str, path: Path, expected_kBps: float = OLDTAHOE_KBPS) -> None:
    """Losses are found by timeout alone, at the published throughput."""
    with Connection.open(path, cc) as connection:
        near(connection.throughput(400), expected_kBps, 0.02, "kB/s")
        equal(connection.chosen(), cc, "congestion control")
        counters = path.counters()
        drops = path.pair.stats()["dropped_buffer_packets"]
        true(drops > 100, f"only {drops} drops")
        near(counters["TCPTimeouts"], drops, 0.2, "timeouts for the drops")
        for name in ("TCPFastRetrans", "TCPRenoRecovery", "TCPLossProbes"):
            equal(counters[name], 0, name)


def test_oldtahoe() -> None:
    """The published throughput; no fast retransmit."""
    check_oldtahoe("oldtahoe", Path())


def test_oldtahoe_ipv6() -> None:
    """The same over IPv6."""
    check_oldtahoe("oldtahoe", Path(socket.AF_INET6))


def test_vanilla() -> None:
    """The same with today's timer, which counts from the last ACK."""
    check_oldtahoe("vanilla", Path(), 74.0)


def enqueued_after_silence(trace: str, silence_s: float) -> list[float]:
    """Times of packets that came to the link after nothing did for so long."""
    found = re.findall(r"([\d.]+): wale_enqueue:", trace)
    times = [float(text) for text in found]
    return [b for a, b in itertools.pairwise(times) if b - a > silence_s]


def test_a_clock_that_ticks_seldom() -> None:
    """A timeout is at the end of a tick, and at the second one at the earliest."""
    for cc in ("vanilla", "tahoe", "reno_classic", "reno_rfc2001"):
        path = Path(loss=0.02, tcp_classic_tick_ms="500")
        tracing = net.Tracing()
        with Connection.open(path, cc) as connection:
            time.sleep(3)
            tracing.on()
            time.sleep(300)
            # a round trip is 105 ms at least; what is sent again comes from the timer
            resumed = enqueued_after_silence(tracing.text(), 0.4)
            true(len(resumed) > 20, f"{cc}: only {len(resumed)} timeouts")
            # above 0.64 s the kernel's timers are exact to 80 ms; at random it were one in five
            late = [t % 0.5 for t in resumed]
            on_tick = sum(rest < 0.1 for rest in late)
            true(on_tick > 0.95 * len(late), f"{cc}: {on_tick} of {len(late)} at a tick: {late}")
            equal(connection.chosen(), cc, "congestion control")
    with Connection.open(Path(loss=0.02, tcp_classic_tick_ms="500"), "oldtahoe") as connection:
        slow = connection.throughput(100)
    with Connection.open(Path(loss=0.02), "oldtahoe") as connection:
        near(connection.throughput(100), slow, 0.03, "oldtahoe, which has the timer of Linux 2.2")


def test_ratcp_oldtahoe_without_advice() -> None:
    """Without advice it is oldtahoe."""
    check_oldtahoe("ratcp_oldtahoe", Path())


def test_ratcp_oldtahoe_with_advice() -> None:
    """With the rate of the link it fills it, without a loss."""
    path = Path(feedback=True)
    with Connection.open(path, "ratcp_oldtahoe") as connection:
        near(connection.throughput(400, skip=2), 100, 0.002, "kB/s")
        equal(path.counters()["RetransSegs"], 0, "retransmissions")
        # floor(200 packets/s * 105 ms) + beta
        equal(connection.info().cwnd, 22, "window, packets")


def test_ratcp_oldtahoe_follows_the_rate() -> None:
    """The window falls and rises with the rate, without a timeout."""
    path = Path(feedback=True)
    path.pair.change(limit_packets=100)
    with Connection.open(path, "ratcp_oldtahoe") as connection:
        time.sleep(10)
        for share, window in ((2, 11), (10, 3), (1, 22), (4, 6), (1, 22)):
            path.pair.change(rate=PACKETS_PER_SECOND * path.mtu // share)
            # what is on its way first, at the new rate
            time.sleep(3)
            equal(connection.info().cwnd, window, f"window, packets, at 1/{share} of the rate")
            true(connection.info().unacked <= window, "more outstanding than the window")
        equal(path.counters()["TCPTimeouts"], 0, "timeouts")


def test_oldtahoe_later_additions() -> None:
    """Timestamps, F-RTO, RACK and ECN are on: neither a fast retransmit nor an undo."""
    path = Path(tcp_timestamps="1", tcp_frto="2", tcp_recovery="1", tcp_ecn="1")
    with Connection.open(path, "oldtahoe") as connection:
        near(connection.throughput(400), OLDTAHOE_KBPS, 0.03, "kB/s")
        counters = path.counters()
        true(counters["TCPTimeouts"] > 100, f"{counters['TCPTimeouts']} timeouts")
        for name in ("TCPFastRetrans", "TCPLossUndo", "TCPFullUndo", "TCPSpuriousRTOs"):
            equal(counters[name], 0, name)


def test_oldtahoe_sends_nothing_for_duplicates() -> None:
    """From the first duplicate ACK to the timeout nothing is sent."""
    with Connection.open(Path(), "oldtahoe") as connection:
        time.sleep(20)
        outstanding, seen = 0, 0
        for _ in range(4000):
            time.sleep(0.005)
            info = connection.info()
            if info.state != TCP_CA_DISORDER:
                outstanding = 0
                continue
            seen += 1
            if outstanding:
                equal(info.unacked, outstanding, "packets outstanding after a duplicate ACK")
            outstanding = info.unacked
        true(seen > 50, f"seen {seen} times in state Disorder")


def check_tahoe(path: Path) -> None:
    """Losses are found by duplicate ACKs, the window begins at 1 again."""
    with Connection.open(path, "tahoe") as connection:
        time.sleep(20)
        least = min((time.sleep(0.01), connection.info().cwnd)[1] for _ in range(1000))
        equal(least, 1, "least window, packets")
        near(connection.throughput(400), 82.6, 0.02, "kB/s")
        counters = path.counters()
        true(counters["TCPFastRetrans"] > 100, f"{counters['TCPFastRetrans']} fast retransmits")
        true(counters["TCPTimeouts"] < 5, f"{counters['TCPTimeouts']} timeouts")


def test_tahoe() -> None:
    """Fast retransmit, then slow start from 1."""
    check_tahoe(Path())


def test_tahoe_ipv6() -> None:
    """The same over IPv6."""
    check_tahoe(Path(socket.AF_INET6))


def check_reno(cc: str, path: Path) -> None:
    """Losses are found by duplicate ACKs, the window is halved."""
    with Connection.open(path, cc) as connection:
        # after the first slow start, which loses many packets of one window
        near(connection.throughput(400, skip=20), 93.9, 0.02, "kB/s")
        before = path.counters()
        least = min((time.sleep(0.01), connection.info().ssthresh)[1] for _ in range(2000))
        near(least, 15, 0.1, "half the window at a loss, packets")
        near(connection.throughput(200), 93.9, 0.02, "kB/s")
        after = path.counters()
        true(after["TCPFastRetrans"] > before["TCPFastRetrans"] + 50, "too few fast retransmits")
        equal(after["TCPTimeouts"], before["TCPTimeouts"], "timeouts")


def test_reno_classic() -> None:
    """Fast retransmit and fast recovery, at the throughput of the trial."""
    check_reno("reno_classic", Path())


def test_reno_classic_ipv6() -> None:
    """The same over IPv6."""
    check_reno("reno_classic", Path(socket.AF_INET6))


def test_reno_rfc2001() -> None:
    """The same where a window loses one packet."""
    check_reno("reno_rfc2001", Path())


def thresholds_after_timeout(cc: str) -> list[int]:
    """Values of the threshold from the first timeout on, until all before it is acknowledged.

    The first slow start loses many packets of one window: a timeout ends it.
    """
    path = Path()
    with Connection.open(path, cc) as connection:
        net.wait_for(lambda: connection.info().state == TCP_CA_LOSS, "a timeout", 30)
        timeouts = path.counters()["TCPTimeouts"]
        seen = []
        while (info := connection.info()).state == TCP_CA_LOSS:
            seen.append(info.ssthresh)
            time.sleep(0.002)
        equal(path.counters()["TCPTimeouts"], timeouts, "timeouts meanwhile")
    return [value for value, _ in itertools.groupby(seen)]


def test_duplicates_of_what_is_sent_again() -> None:
    """After a timeout RFC 2001 takes three for a loss, again and again; later Renos do not."""
    later = thresholds_after_timeout("reno_classic")
    equal(len(later), 1, f"thresholds of reno_classic, {later}")
    found = thresholds_after_timeout("reno_rfc2001")
    equal(found[0], later[0], "threshold after the timeout")
    true(len(found) > 1, "no threshold was halved again")
    equal(found, sorted(found, reverse=True), "thresholds, falling")
    true(all(value >= 2 for value in found), f"thresholds, packets: {found}")


def test_one_percent_loss() -> None:
    """Fig. 7 of the paper, one point for each; means of 1000 s differ by some per cent."""
    expected = {"oldtahoe": 43.0, "ratcp_oldtahoe": 53.3, "reno_classic": 51.2}
    for cc, kbps in expected.items():
        with Connection.open(Path(loss=0.01, feedback=cc == "ratcp_oldtahoe"), cc) as connection:
            near(connection.throughput(1000), kbps, 0.08, f"{cc}, kB/s")


def test_accepted_socket() -> None:
    """A socket that was accepted has its listener's, and begins as any other."""
    path = Path()
    with path.pair.a.entered():
        listener = socket.create_server((path.local, PORT))
    listener.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, b"oldtahoe")
    with path.pair.b.entered():
        receiver = socket.create_connection((path.local, PORT))
    sender, _ = listener.accept()
    listener.close()
    with Connection(path, sender, receiver) as connection:
        equal(connection.chosen(), "oldtahoe", "congestion control")
        near(connection.throughput(400), OLDTAHOE_KBPS, 0.02, "kB/s")
        equal(path.counters()["TCPFastRetrans"], 0, "fast retransmits")


def test_fallback_with_sack() -> None:
    """With SACK it is Reno, which is said once for each TCP."""
    expected = {
        "oldtahoe": "oldtahoe-reno",
        "vanilla": "vanilla-reno",
        "tahoe": "tahoe-reno",
        "reno_classic": "classic-reno",
        "reno_rfc2001": "rfc2001-reno",
        "ratcp_oldtahoe": "ratcp_old-reno",
    }
    for cc, fallback in expected.items():
        with Connection.open(Path(tcp_sack="1"), cc) as connection:
            equal(connection.chosen(), fallback, "congestion control")
            # as the kernel's Reno with SACK
            near(connection.throughput(60, skip=20), 94, 0.03, f"{cc}, kB/s")
        with Connection.open(Path(tcp_sack="1"), cc) as connection:
            equal(connection.chosen(), fallback, "congestion control")
    said = [line for line in net.run("dmesg").splitlines() if "tcp_ratcp: " in line]
    for cc in expected:
        lines = [line for line in said if f" {cc} cannot work" in line]
        equal(len(lines), 1, f"lines about {cc} in the log")


def test_chosen_before_the_answer() -> None:
    """Chosen when the SYN is on its way: whether there is SACK is known when it is answered."""
    for cc in CLASSIC:
        for sack in ("0", "1"):
            path = Path(loss=0.02, tcp_sack=sack)
            with Connection.open(path, cc, late=True) as connection:
                time.sleep(100)
                equal(connection.chosen().endswith("-reno"), sack == "1", f"{cc}: fallback")
                true(path.counters()["RetransSegs"] > 20, "nothing was lost")


def test_one_end_without_sack() -> None:
    """SACK is off at the receiver alone: no SACK, no fallback."""
    path = Path()
    with path.pair.a.entered():
        net.write("/proc/sys/net/ipv4/tcp_sack", "1")
    with Connection.open(path, "oldtahoe") as connection:
        equal(connection.chosen(), "oldtahoe", "congestion control")


def test_switch_in_mid_connection() -> None:
    """Any TCP after any other, in the middle of recoveries; data flow with each."""
    others = ("reno", "cubic", "bbr")
    for family in ADDRESS:
        with Connection.open(Path(family, loss=0.02, feedback=True), "reno") as connection:
            for step in range(60):
                cc = CLASSIC[step // 2 % len(CLASSIC)] if step % 2 else others[step // 2 % 3]
                connection.choose(cc)
                equal(connection.chosen(), cc, "congestion control")
                before = connection.packets()
                time.sleep(1.7 + step / 100)
                # a timeout may have just doubled
                net.wait_for(lambda b=before: connection.packets() > b, f"data with {cc}", 30)


def test_switch_leaves_the_stack_as_it_was() -> None:
    """After oldtahoe, Reno's fast retransmits are back, and the window is kept."""
    path = Path()
    with Connection.open(path, "oldtahoe") as connection:
        time.sleep(60)
        equal(path.counters()["TCPFastRetrans"], 0, "fast retransmits of oldtahoe")
        net.wait_for(lambda: connection.info().state == TCP_CA_OPEN, "state Open")
        window = connection.info().cwnd
        connection.choose("reno")
        equal(connection.info().cwnd, window, "window after the change")
        near(connection.throughput(200, skip=20), 93.9, 0.02, "kB/s")
        true(path.counters()["TCPFastRetrans"] > 30, "too few fast retransmits of reno")
        connection.choose("oldtahoe")
        true(connection.info().cwnd > 1, "a connection that changes began again")


def test_local_congestion() -> None:
    """Drops in the sender's own queue are told, and halve the window."""
    for cc in CLASSIC:
        path = Path()
        path.pair.change(drops=1)
        # TCP is told of its own packet alone, not of a segment of a larger one
        net.ip_batch(["link set a0 gso_max_segs 1"], path.pair.a)
        with Connection.open(path, cc) as connection:
            near(connection.throughput(100, skip=10), 93.5, 0.02, f"{cc}, kB/s")
            true(path.pair.stats()["dropped_buffer_packets"] > 25, "too few drops")
            equal(path.counters()["RetransSegs"], 0, f"retransmissions of {cc}")


def test_route_attribute() -> None:
    """`ip route ... congctl` chooses one for sockets that do not."""
    path = Path()
    change = "route change 10.0.0.0/24 dev a0 src 10.0.0.1 congctl tahoe"
    net.ip_batch([change], path.pair.a)
    with path.pair.b.entered():
        listener = socket.create_server(("10.0.0.2", PORT))
    with path.pair.a.entered():
        client = socket.create_connection(("10.0.0.2", PORT))
    name = client.getsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, 16).rstrip(b"\0")
    equal(name, b"tahoe", "congestion control")
    client.close()
    listener.close()
    path.close()


def refused_to_nobody(cc: str) -> bool:
    """Tell if a user without capabilities is refused a congestion control."""
    child = os.fork()
    if child == 0:
        os.setresuid(65534, 65534, 65534)
        with socket.socket() as sock:
            try:
                sock.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, cc.encode())
            except PermissionError:
                os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def test_unprivileged() -> None:
    """Users without CAP_NET_ADMIN have those of tcp_allowed_congestion_control."""
    knob = "/proc/sys/net/ipv4/tcp_allowed_congestion_control"
    allowed = net.read(knob)
    for cc in CLASSIC:
        true(refused_to_nobody(cc), f"{cc} is not refused")
    net.write(knob, "reno tahoe oldtahoe")
    refused = [cc for cc in CLASSIC if refused_to_nobody(cc)]
    net.write(knob, allowed)
    equal(refused, [cc for cc in CLASSIC if cc not in ("tahoe", "oldtahoe")], "refused")


def test_unload() -> None:
    """The module stays while a socket uses it, and goes after that."""
    if not os.path.exists("/sys/module/tcp_ratcp"):
        raise Skip("tcp_ratcp is not a module here")
    for cc in CLASSIC:
        with Connection.open(Path(tcp_sack="1" if cc == "tahoe" else "0"), cc):
            done = subprocess.run(["rmmod", "tcp_ratcp"], capture_output=True, check=False)
            true(done.returncode, f"removed under a socket with {cc}")
    net.run("rmmod tcp_ratcp")
    true(not os.path.exists("/sys/module/tcp_ratcp"), "not removed")


if __name__ == "__main__":
    main()
