# SPDX-License-Identifier: GPL-2.0
"""Inside the guest: sends packets through an emulator, and notes when each came and left.

python3 -P -s -S guest.py PLAN.json OUT.json

A veth pair, each end in a network namespace of its own; the emulator is the qdisc of the
first.  The kernel says when a packet is handed to the qdisc (SOF_TIMESTAMPING_TX_SCHED), and
when it comes out of the other end (SO_TIMESTAMPNS): no program's delay is in the numbers.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from wale_lab.netlink import inside
from wale_lab.packets.udp import udp_is_right, udp_packet

SENDER, RECEIVER = (f"conform-{role}-{os.getpid()}" for role in ("sender", "receiver"))
DEVICE = "wire"
MACS = (b"\x02\0\0\0\0\x01", b"\x02\0\0\0\0\x02")
ADDRESSES = ("10.0.0.1", "10.0.0.2")
ETH_P_ALL, ETH_P_IP, ETHERNET_HEADER, UDP_IP = 3, 0x0800, 14, 28
#: Numbers of the kernel's interface that the socket module does not have.
SO_SNDBUFFORCE, SO_RCVBUFFORCE, SO_TIMESTAMPNS, SO_TIMESTAMPING = 32, 33, 35, 37
IP_RECVERR, UDP_SEGMENT = 11, 103
TX_SCHED, TX_SOFTWARE_REPORT, OPT_ID, OPT_TSONLY = 1 << 8, 1 << 4, 1 << 7, 1 << 11
#: Memory for what waits to be read; and after so many packets it is read.
QUEUE_BYTES, DRAIN_EVERY = 1 << 27, 50
NS, TIMER_STEP_NS = 10**9, 10**6
CE = 3  # in the TOS: the mark of ECN


def run(*words: str) -> str:
    """Run a command; what it prints, or RuntimeError with what it says."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(reason(done.stderr or done.stdout) or f"exit code {done.returncode}")
    return done.stdout


def reason(said: str) -> str:
    """Of what a command says as it fails: what is before its usage, or else the last line."""
    lines = said.partition("Usage:")[0].strip().splitlines() or said.strip().splitlines()[-1:]
    return "; ".join(lines)


def lay_wire() -> None:
    """Make the namespaces, and the veth pair between them."""
    for name in (SENDER, RECEIVER):
        run("ip", "netns", "add", name)
        with inside(name):
            for knob in ("all", "default"):
                path = Path(f"/proc/sys/net/ipv6/conf/{knob}/disable_ipv6")
                if path.exists():
                    path.write_text("1")
    queues = ["numtxqueues", "1", "numrxqueues", "1"]
    ends = [[DEVICE, "netns", name, *queues] for name in (SENDER, RECEIVER)]
    run("ip", "link", "add", *ends[0], "type", "veth", "peer", *ends[1])
    for name, mac in ((SENDER, MACS[0]), (RECEIVER, MACS[1])):
        run("ip", "-n", name, "link", "set", DEVICE, "arp", "off", "address", mac.hex(":"), "up")
    run("ip", "-n", SENDER, "address", "add", f"{ADDRESSES[0]}/24", "dev", DEVICE)
    neighbour = ["lladdr", MACS[1].hex(":"), "dev", DEVICE, "nud", "permanent"]
    run("ip", "-n", SENDER, "neighbour", "add", ADDRESSES[1], *neighbour)


def content(number: int, segment: int, length: int) -> bytes:
    """The data of a packet, which names it."""
    return struct.pack("!IH", number, segment).ljust(length, b"\xa5")[:length]


class Sender:
    """Two sockets that send: whole packets, and UDP data that the kernel cuts into segments."""

    def __init__(self) -> None:
        with inside(SENDER):
            self.packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
            self.packets.bind((DEVICE, 0))
            self.data = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.data.connect((ADDRESSES[1], 9))
        self.data.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)  # be told of drops
        self.arrivals: dict[int, int] = {}
        self.ids: dict[socket.socket, list[int]] = {}
        for sock in (self.packets, self.data):
            for option in (SO_SNDBUFFORCE, SO_RCVBUFFORCE):
                sock.setsockopt(socket.SOL_SOCKET, option, QUEUE_BYTES)
            wanted = TX_SCHED | TX_SOFTWARE_REPORT | OPT_ID | OPT_TSONLY
            sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, wanted)
            self.ids[sock] = []

    def send(self, number: int, size: int, segment: int, tos: int, checksum: bool) -> bool:
        """Send a packet of so many bytes of IP, or data in segments; tell if it was refused."""
        sock = self.data if segment else self.packets
        self.ids[sock].append(number)
        try:
            if segment:
                sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, segment)
                parts = range(0, size, segment)
                data = [content(number, n, min(segment, size - at)) for n, at in enumerate(parts)]
                sock.send(b"".join(data))
            else:
                whole = content(number, 0, size - UDP_IP)
                packet = udp_packet(size, *ADDRESSES, whole, number, tos, checksum)
                sock.sendto(packet, (DEVICE, ETH_P_IP, 0, 1, MACS[1]))
        except OSError as error:
            if error.errno != errno.ENOBUFS:
                raise
            return True
        return False

    def drain(self) -> None:
        """Read when the packets were handed to the qdisc."""
        for sock, numbers in self.ids.items():
            while True:
                try:
                    _, control, _, _ = sock.recvmsg(
                        0, 512, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT
                    )
                except BlockingIOError:
                    break
                stamp, which = None, None
                for level, kind, value in control:
                    if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPING):
                        seconds, nanoseconds = struct.unpack_from("qq", value)
                        stamp = seconds * NS + nanoseconds
                    elif level != socket.SOL_SOCKET:
                        which = struct.unpack_from("IBBBBII", value)[6]
                if stamp is not None and which is not None:
                    self.arrivals[numbers[which]] = stamp


class Receiver:
    """What comes out of the other end."""

    def __init__(self) -> None:
        with inside(RECEIVER):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            self.socket.bind((DEVICE, ETH_P_ALL))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, QUEUE_BYTES)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.frames: list[tuple[int, bytes]] = []

    def drain(self) -> None:
        """Read what there is."""
        while True:
            try:
                frame, control, _, _ = self.socket.recvmsg(1 << 17, 512, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            for level, kind, value in control:
                if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
                    seconds, nanoseconds = struct.unpack_from("qq", value)
                    self.frames.append((seconds * NS + nanoseconds, frame))

    def left(self, sends: list[list[int]], tos: int, checksum: bool) -> list[list[int]]:
        """Each frame: when it left, number, segment, bytes of IP, if it was damaged, or marked,
        and if its checksums do not show the damage."""
        result = []
        for when, frame in self.frames:
            data = frame[ETHERNET_HEADER + UDP_IP :]
            number, segment = struct.unpack_from("!IH", data.ljust(6, b"\0"))
            known, marked = number < len(sends) and segment < 1 << 10, False
            if known and not sends[number][2]:
                size = sends[number][1]
                whole = content(number, 0, size - UDP_IP)
                head = MACS[1] + MACS[0] + struct.pack("!H", ETH_P_IP)
                sent, with_mark = (
                    head + udp_packet(size, *ADDRESSES, whole, number, bits, checksum)
                    for bits in (tos, tos | CE)
                )
                marked = bool(tos) and frame == with_mark
                known = marked or frame == sent
            size = len(frame) - ETHERNET_HEADER
            unseen = checksum and not known and udp_is_right(frame[ETHERNET_HEADER:])
            result.append([when, number, segment, size, int(not known), int(marked), int(unseen)])
        return result


def apply(verb: str, commands: list[list[str]]) -> None:
    """Add or change the qdiscs and classes of a tree."""
    for what, place, words in commands:
        run("tc", "-n", SENDER, what, verb, "dev", DEVICE, *place.split(), *words.split())


def counters() -> dict[str, Any]:
    """What tc shows of the root: the counters that all have, and its own."""
    shown = json.loads(run("tc", "-n", SENDER, "-s", "-j", "qdisc", "show", "dev", DEVICE))
    root = next(qdisc for qdisc in shown if qdisc.get("root"))
    names = ("bytes", "packets", "drops", "overlimits", "backlog", "qlen")
    own = {"own": root["stats"]} if "stats" in root else {}
    return {name: root[name] for name in names if name in root} | own


def remove() -> None:
    """Take the tree away, as far as it is there."""
    words = ["tc", "-n", SENDER, "qdisc", "del", "dev", DEVICE, "root"]
    subprocess.run(words, capture_output=True, check=False)


def rest(duration_ns: int, timers_ns: list[int] | None) -> None:
    """Sleep; where a list is given, in steps, each noted there: how late its timer was."""
    if timers_ns is None:
        time.sleep(duration_ns / NS)
        return
    end = time.monotonic_ns() + duration_ns
    while (now := time.monotonic_ns()) < end:
        step = min(end - now, TIMER_STEP_NS)
        time.sleep(step / NS)
        timers_ns.append(time.monotonic_ns() - now - step)


def send_all(plan: dict[str, Any], sender: Sender, receiver: Receiver) -> dict[str, Any]:
    """Send the packets, make the changes, look at the counters."""
    told, changes, shown = [], [], []
    timers_ns: list[int] | None = [] if plan["watch_timers"] else None
    todo = list(plan["changes"])
    for number, (gap_ns, size, segment) in enumerate(plan["sends"]):
        if todo and todo[0]["before"] == number:
            change = todo.pop(0)
            rest(change["gap_ns"], timers_ns)
            early = time.time_ns()
            apply("change", change["commands"])
            changes.append([early, time.time_ns()])
        if gap_ns:
            rest(gap_ns, timers_ns)
        if sender.send(number, size, segment, plan["tos"], plan["checksum"]):
            told.append(number)
        if number % DRAIN_EVERY == DRAIN_EVERY - 1:
            sender.drain()
            receiver.drain()
            time.sleep(1e-6)  # the kernel's own threads want the processor too
        if number + 1 == plan["show_after"]:
            shown.append({"sends": number + 1, **counters()})
    rest(plan["settle_ns"], timers_ns)
    shown.append({"sends": len(plan["sends"]), **counters()})
    return {"told": told, "changes": changes, "shown": shown, "timers_ns": timers_ns or []}


def experiment(plan: dict[str, Any]) -> dict[str, Any]:
    """Run one experiment; what was seen, or what tc says that does not take it."""
    sender, receiver = Sender(), Receiver()
    try:
        apply("add", plan["commands"])
        found = send_all(plan, sender, receiver)
    except RuntimeError as error:
        return {"refused": str(error)}
    finally:
        remove()
    sender.drain()
    receiver.drain()
    count = len(plan["sends"])
    if len(sender.arrivals) != count:
        sys.exit(f"the kernel stamped {len(sender.arrivals)} of {count} packets")
    arrivals = [sender.arrivals[number] for number in range(count)]
    left = receiver.left(plan["sends"], plan["tos"], plan["checksum"])
    return found | {"arrivals": arrivals, "left": left}


def main() -> None:
    """Run every experiment of the plan."""
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    found = {}
    try:
        lay_wire()
        for name, one in plan.items():
            print(name, flush=True)
            found[name] = experiment(one)
    finally:
        for name in (SENDER, RECEIVER):
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
    Path(sys.argv[2]).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
