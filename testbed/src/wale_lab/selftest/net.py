# SPDX-License-Identifier: GPL-2.0
"""Network namespaces, devices, packets and tracepoints for the selftests."""

from __future__ import annotations

import atexit
import contextlib
import os
import random
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence

from wale_lab.packets.udp import udp_packet
from wale_lab.selftest import netlink
from wale_lab.selftest.wale import Control

ETH_P_IP = 0x0800
UDP_SEGMENT = 103
TRACING = "/sys/kernel/tracing"


def run(command: str, ns: Namespace | None = None, check: bool = True) -> str:
    """Run a command, in a namespace; return what it prints."""
    words = command.split()
    if ns:
        words = ["ip", "netns", "exec", ns.name, *words]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout + done.stderr


def batch(program: str, lines: Sequence[str], ns: Namespace | None = None) -> None:
    """Run commands of `ip` or `tc` in one process."""
    words = [program, *(["-n", ns.name] if ns else []), "-batch", "-"]
    text = "\n".join(lines) + "\n"
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{program} -batch: {done.stderr.strip()}\n{text}")


def ip_batch(lines: Sequence[str], ns: Namespace | None = None) -> None:
    """Run `ip` commands in one process."""
    batch("ip", lines, ns)


class Namespace:
    """A network namespace with a random name, deleted when the test ends."""

    def __init__(self, role: str) -> None:
        self.name = f"{role}-{random.getrandbits(32):08x}"
        run(f"ip netns add {self.name}")
        atexit.register(self.delete)
        with self.entered():
            for knob in ("all", "default", "lo"):
                with contextlib.suppress(FileNotFoundError):
                    write(f"/proc/sys/net/ipv6/conf/{knob}/disable_ipv6", "1")
        ip_batch(["link set lo up"], self)

    def delete(self) -> None:
        """Delete the namespace, if it is still there."""
        if os.path.exists(f"/run/netns/{self.name}"):
            run(f"ip netns del {self.name}", check=False)

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Enter the namespace; sockets made inside stay in it."""
        with netlink.inside(self.name):
            yield

    def receive_in_order(self) -> None:
        """Make one CPU process everything that is received.

        A veth leaves a packet to the CPU that sent it, which may process it after another
        CPU has processed a later one.
        """
        if (os.cpu_count() or 1) > 1:
            files = "/sys/class/net/*/queues/rx-*/rps_cpus"
            script = f"for file in {files}; do [ ! -e $file ] || echo 1 >$file; done"
            words = ["ip", "netns", "exec", self.name, "sh", "-c", script]
            subprocess.run(words, check=True)

    def control(self) -> Control:
        """Return a netlink socket in the namespace."""
        with self.entered():
            return Control()

    def index(self, dev: str) -> int:
        """Return the index of a device."""
        with self.entered():
            return socket.if_nametoindex(dev)

    def packet_socket(self, dev: str) -> socket.socket:
        """Return a socket that sends IP packets out of a device, as they are."""
        with self.entered():
            sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
            sock.bind((dev, 0))
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
            return sock


def write(path: str, text: str) -> None:
    """Write to a file of /proc or /sys."""
    with open(path, "w", encoding="ascii") as knob:
        knob.write(text)


def read(path: str) -> str:
    """Read a file of /proc or /sys."""
    with open(path, encoding="utf-8", errors="replace") as knob:
        return knob.read()


def ip_packet(length: int, destination: str = "10.0.0.2", number: int = 0, tos: int = 0) -> bytes:
    """Return a UDP packet with this many IP bytes, without a UDP checksum."""
    data = struct.pack("!I", number) if length >= 32 else b""
    return udp_packet(length, "10.0.0.1", destination, data, number, tos)


PACKET_ADDRESS = (ETH_P_IP, 0, 1, b"\x02\0\0\0\0\x02")


def send(sock: socket.socket, dev: str, data: bytes) -> None:
    """Send a packet through a packet socket."""
    protocol, kind, hatype, address = PACKET_ADDRESS
    try:
        sock.sendto(data, (dev, protocol, kind, hatype, address))
    except OSError as error:
        if error.errno != 105:  # ENOBUFS: a local drop
            raise


def sleep_ns(duration: int) -> None:
    """Sleep, which costs nothing in virtual time."""
    if duration > 0:
        time.sleep(duration / 1e9)


def wait_for(condition: Callable[[], bool], what: str, limit_s: float = 100) -> None:
    """Wait until something holds, in (virtual) time."""
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {limit_s} s for {what}")
        time.sleep(0.01)


def backlog() -> int:
    """Return the number of received packets that wait for a CPU."""
    with open("/proc/net/softnet_stat", encoding="ascii") as file:
        return sum(int(line.split()[11], 16) for line in file)


def several_cpus() -> bool:
    """Tell whether there are several CPUs."""
    return len(os.sched_getaffinity(0)) > 1


class Tracing:
    """The tracepoints of wale, from on() to text()."""

    def __init__(self, size_kb: int = 65536) -> None:
        write(f"{TRACING}/tracing_on", "0")
        write(f"{TRACING}/buffer_size_kb", str(size_kb))

    def on(self) -> None:
        """Start with an empty buffer."""
        write(f"{TRACING}/trace", "")
        write(f"{TRACING}/events/wale/enable", "1")
        write(f"{TRACING}/tracing_on", "1")

    def text(self) -> str:
        """Stop; return the events as text."""
        write(f"{TRACING}/tracing_on", "0")
        write(f"{TRACING}/events/wale/enable", "0")
        return read(f"{TRACING}/trace")
