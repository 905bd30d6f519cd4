# SPDX-License-Identifier: GPL-2.0
"""Records what TCP knows about the sockets of programs, and their owners; standard library only.

    python3 -B -P -s -S socket_recorder.py INTERVAL_NS OUT.csv NETNS...

One process for all namespaces.  It samples at whole multiples of the interval on the monotonic
clock, as `wale watch` does, and writes a last line for each socket that the kernel destroys, so
that those which live for less than an interval count too.  It ends with SIGTERM.

A socket belongs to a session of processes: each program of a scenario leads one.  The session of
a socket is read from /proc when the socket is first seen; 0 means not known.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import sys
import time
from contextlib import suppress

from wale_lab import netlink

NETLINK_SOCK_DIAG, TCPDIAG_GETSOCK = 4, 18
#: Groups of NETLINK_SOCK_DIAG: TCP sockets, of IPv4 and IPv6, that are destroyed.
DESTROYED = (1, 3)
INET_DIAG_INFO, INET_DIAG_CONG = 2, 4

STATES = {1: "ESTABLISHED", 4: "FIN_WAIT1", 5: "FIN_WAIT2", 7: "CLOSE", 8: "CLOSE_WAIT",
          9: "LAST_ACK", 10: "LISTEN", 11: "CLOSING"}  # fmt: skip
CLOSED, LISTEN = 7, 10

#: Bytes of struct inet_diag_msg: attributes follow.
MESSAGE = 72

#: Of struct tcp_info: where each number is, and of which form.
INFO = {
    "cwnd_packets": (80, "I"),
    "ssthresh_packets": (76, "I"),
    "srtt_us": (68, "I"),
    "min_rtt_us": (148, "I"),
    "rto_us": (8, "I"),
    "unacked_packets": (24, "I"),
    "lost_packets": (32, "I"),
    "retransmits_total": (100, "I"),
    "bytes_sent": (200, "Q"),
    "bytes_acked": (120, "Q"),
    "bytes_received": (128, "Q"),
    "pacing_rate_Bps": (104, "Q"),
    "delivery_rate_Bps": (160, "Q"),
    "segments_sent": (136, "I"),
    "segments_received": (140, "I"),
}
#: Values that mean that there is none.
INFINITE = {"ssthresh_packets": 0x7FFFFFFF, "pacing_rate_Bps": 2**64 - 1}
UNKNOWN = {"min_rtt_us": 0xFFFFFFFF}
COLUMNS = ["t_ns", "netns", "session", "cookie", "state", "local_port", "remote_port", "cc", *INFO]


def show(name: str, info: bytes) -> str:
    """A number of struct tcp_info as text."""
    at, form = INFO[name]
    if len(info) < at + struct.calcsize(form):  # an older kernel
        return ""
    value = struct.unpack_from(form, info, at)[0]
    if value == UNKNOWN.get(name):
        return ""
    return "inf" if value == INFINITE.get(name) else str(value)


def sessions_by_inode() -> dict[int, int]:
    """The session of the process that owns each socket."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            for file in os.listdir(f"/proc/{pid}/fd"):
                with suppress(OSError):
                    target = os.readlink(f"/proc/{pid}/fd/{file}")
                    if target.startswith("socket:["):
                        found[int(target[8:-1])] = os.getsid(int(pid))
    return found


class Host:
    """The sockets of one namespace."""

    def __init__(self, netns: str) -> None:
        self.netns = netns
        self.dumps = netlink.Socket(NETLINK_SOCK_DIAG, netns)
        self.events = netlink.Socket(NETLINK_SOCK_DIAG, netns)
        for group in DESTROYED:
            self.events.socket.setsockopt(
                netlink.SOL_NETLINK, netlink.NETLINK_ADD_MEMBERSHIP, group
            )
        self.sessions: dict[int, int] = {}  # by the cookie of a socket
        self.listening: dict[int, int] = {}  # by port

    def sample(self, t_ns: int) -> list[str]:
        """Write a line for each existing socket."""
        states = sum(1 << state for state in STATES if state != CLOSED)
        wanted = 1 << INET_DIAG_INFO - 1 | 1 << INET_DIAG_CONG - 1
        body = struct.pack("BBBB48xII", socket.AF_INET, 0, 0, wanted, states, 0)
        found = self.dumps.ask(TCPDIAG_GETSOCK, netlink.NLM_F_DUMP, body)
        self._learn([message.body for message in found])
        return [line for message in found if (line := self._line(t_ns, message.body))]

    def destroyed(self, t_ns: int) -> list[str]:
        """Write a line for each socket destroyed since the last call."""
        bodies: list[bytes] = []
        while True:
            try:
                bodies.append(self.events.socket.recv(netlink.LONGEST, socket.MSG_DONTWAIT)[16:])
            except BlockingIOError:
                break
            except OSError:  # too many at once
                continue
        if any(self._session(body) == 0 for body in bodies):
            self.sample(t_ns)  # who listens on its port?
        return [line for body in bodies if (line := self._line(t_ns, body))]

    def _session(self, body: bytes) -> int:
        """The session that owns a socket; 0: not known."""
        if len(body) < MESSAGE:
            return 0
        port, cookie = struct.unpack_from(">H", body, 4)[0], struct.unpack_from("Q", body, 44)[0]
        return self.sessions.get(cookie) or self.listening.get(port, 0)

    def _learn(self, messages: list[bytes]) -> None:
        """Find the owners of new sockets."""
        new = {}
        for body in messages:
            cookie, inode = (
                struct.unpack_from("Q", body, 44)[0],
                struct.unpack_from("I", body, 68)[0],
            )
            if cookie not in self.sessions and inode:
                new[cookie] = inode, body[1], struct.unpack_from(">H", body, 4)[0]
        if not new:
            return
        by_inode = sessions_by_inode()
        for cookie, (inode, state, port) in new.items():
            session = self.sessions[cookie] = by_inode.get(inode, 0)
            if state == LISTEN:
                self.listening[port] = session

    def _line(self, t_ns: int, body: bytes) -> str | None:
        if len(body) < MESSAGE or body[1] == LISTEN or body[1] not in STATES:
            return None
        local, remote = struct.unpack_from(">HH", body, 4)
        cookie = struct.unpack_from("Q", body, 44)[0]
        known = dict(netlink.attributes(body[MESSAGE:]))
        info = known.get(INET_DIAG_INFO)
        if info is None or not remote:
            return None
        cc = known.get(INET_DIAG_CONG, b"").rstrip(b"\0").decode()
        values = [str(t_ns), self.netns, str(self._session(body)), str(cookie), STATES[body[1]]]
        values += [str(local), str(remote), cc, *[show(name, info) for name in INFO]]
        return ",".join(values) + "\n"


class Recorder:
    """Samples until the end."""

    def __init__(self, interval_ns: int, path: str, names: list[str]) -> None:
        self.interval_ns = interval_ns
        self.out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        self.hosts = {host.events.socket.fileno(): host for host in map(Host, names)}
        self.write([",".join(COLUMNS) + "\n"])

    def write(self, lines: list[str]) -> None:
        """Write lines at once."""
        if lines:
            os.write(self.out, "".join(lines).encode())

    def run(self) -> None:
        """Sample, and listen, until SIGTERM."""
        clock = time.CLOCK_MONOTONIC
        ended = os.pipe()
        os.set_blocking(ended[1], False)
        signal.set_wakeup_fd(ended[1], warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, lambda *_: None)
        poll = select.poll()
        for file in (ended[0], *self.hosts):
            poll.register(file, select.POLLIN)
        interval = self.interval_ns
        due = -(-time.clock_gettime_ns(clock) // interval) * interval
        while True:
            wait = due - time.clock_gettime_ns(clock)
            for file, _ in poll.poll(max(-(-wait // 10**6), 0)):
                now = time.clock_gettime_ns(clock)
                if file == ended[0]:
                    for host in self.hosts.values():
                        self.write(host.destroyed(now) + host.sample(now))
                    return
                self.write(self.hosts[file].destroyed(now))
            late = time.clock_gettime_ns(clock) - due
            if late >= 0:
                for host in self.hosts.values():
                    self.write(host.sample(due))
                due += max(1, -(-late // interval)) * interval


if __name__ == "__main__":
    Recorder(int(sys.argv[1]), sys.argv[2], sys.argv[3:]).run()
