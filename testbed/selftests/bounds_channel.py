#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What a user without rights may ask of the channel takes no longer the more there is.

He is root of a user namespace and of network namespaces of his own.  Times are compared with
those of the same request where there is little.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import socket
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from feedback import RST, SYN, ipv4, tcp
from wale_lab.selftest import bounds, net, netlink, rate
from wale_lab.selftest.tap import equal, main, true
from wale_lab.selftest.wale import Control

FEW, MANY = 30, 300_000
NUMBERS = "/proc/self/net/dev_snmp6/"
RTM_DELLINK = 17
DEFAULT_LIMIT = 1 << 20
PATHS, CONNECTIONS = 50_000, 2000
SLACK = 200_000  # bytes: what others take, and slabs that are kept though they are empty
#: So much longer a request may take where there is much: caches, and luck.
RATIO = 10
#: So long leaving a namespace may take, as a part of what deleting its paths takes.
PART_OF_DELETING = 1 / 4


def prefix(number: int) -> dict[str, object]:
    """Return the key of the n-th path."""
    return {"daddr": f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", "prefix_len": 32}


def add_devices(*names: str) -> None:
    """Make devices."""
    net.ip_batch([f"link add {name} type dummy" for name in names])


def index(name: str) -> int:
    """Return the number of a device."""
    return int(net.read(NUMBERS + name).split()[1])


def delete_device(ifindex: int) -> None:
    """Delete a device, without starting a program for that."""
    body = struct.pack("BxHiII", 0, 0, ifindex, 0, 0)
    netlink.Socket(netlink.NETLINK_ROUTE).ask(RTM_DELLINK, netlink.NLM_F_ACK, body)


@contextmanager
def new_namespace() -> Iterator[int]:
    """Be in a new network namespace; give the one before, as an open file."""
    before = os.open("/proc/self/ns/net", os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).unshare(bounds.CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    yield before
    netlink.enter(before)


def follow(channel: rate.Channel, count: int, *ifindices: int) -> None:
    """Make so many paths that follow devices of the namespace in turn."""
    follows = [rate.encode({"follow": {"ifindex": ifindex}}) for ifindex in ifindices]
    paths = [rate.encode(prefix(n)) + follows[n % len(follows)] for n in range(count)]
    channel.many(rate.SET, paths)


def compare(what: str, times: Callable[[int], dict[str, float]]) -> None:
    """Fail if any of what is done takes much longer with MANY than with FEW."""
    bounds.needs_real_time()
    few = bounds.as_user(lambda: times(FEW))
    many = bounds.as_user(lambda: times(MANY))
    for name, shortest in few.items():
        print(f"# {what}: {name}: {shortest * 1e3:.3f} ms, and {many[name] * 1e3:.3f} ms")
    slow = {name: many[name] / few[name] for name in few if many[name] > few[name] * RATIO}
    equal(slow, {}, f"times as long with {MANY} as with {FEW}")


def devices_go(followers: int) -> dict[str, float]:
    """Delete devices that others follow, beside so many followers of another device."""
    leads = [f"lead{n}" for n in range(5)]
    devices = followers // 1000 or 3  # that follow each of the leads
    add_devices(*leads)
    indices = [index(name) for name in leads]
    channel = rate.Channel()
    for lead in indices:
        channel.set(ifindex=lead, rate=1000)
    with new_namespace() as home:
        there = os.open("/proc/self/ns/net", os.O_RDONLY)
        add_devices(*leads, *(f"d{n}" for n in range(devices * len(leads))))
        far, own = rate.Channel(), [index(name) for name in leads]
        follow(far, followers, *own)
        followers_of_lead = [index(f"d{n}") for n in range(devices * len(leads))]
        for n, ifindex in enumerate(followers_of_lead):
            lead = {"netns_fd": home, "ifindex": indices[n % len(leads)]}
            far.set(ifindex=ifindex, follow=lead)
        equal(far.get(ifindex=followers_of_lead[-1])["rate"], 1000, "rate of what follows")
    gone = iter(indices)
    followed = bounds.least_s(lambda: delete_device(next(gone)), len(leads))
    true("follow" not in far.get(ifindex=followers_of_lead[-1]), "still follows a lead")
    netlink.enter(there)
    gone = iter(own)
    last = bounds.least_s(lambda: delete_device(next(gone)), len(own))
    true("follow" not in far.get(**prefix(followers - 1)), "still follows")
    return {"that few follow": followed, "that many follow": last}


def test_devices_go() -> None:
    """A device goes that many paths follow, or few beside many: RTNL is held meanwhile."""
    compare("delete a device", devices_go)


def test_others_go_on_beside_many_followers() -> None:
    """`ip link add` in another namespace, while a device goes that many paths follow."""
    bounds.others_go_on(lambda: devices_go(MANY))


def requests(followers: int) -> dict[str, float]:
    """Set, delete and follow the path of a device that so many paths follow."""
    add_devices("lead", "other")
    lead, other = index("lead"), index("other")
    channel = rate.Channel()
    follow(channel, followers, lead)
    rates = iter(range(1, 1000))

    def refused() -> None:
        try:
            channel.set(ifindex=lead, follow={"ifindex": other})
        except netlink.Refused as error:
            true("others follow" in error.message, error.message)

    def joined() -> None:
        channel.set(daddr="11.0.0.1", follow={"ifindex": lead})
        channel.delete(daddr="11.0.0.1")

    def made() -> None:
        channel.set(ifindex=lead, rate=next(rates))
        channel.delete(ifindex=lead)

    result = {"make and delete": bounds.least_s(made, 9)}
    channel.set(ifindex=lead, rate=next(rates))
    result["set"] = bounds.least_s(lambda: channel.set(ifindex=lead, rate=next(rates)), 9)
    result["be refused"] = bounds.least_s(refused, 9)
    result["join"] = bounds.least_s(joined, 9)
    last = rate.Channel().get(**prefix(followers - 1))
    equal(last["rate"], channel.get(ifindex=lead)["rate"], "rate of the last follower")
    return result


def test_requests() -> None:
    """A request about a path that many follow."""
    compare("requests", requests)


def test_all_are_told() -> None:
    """Who looks is told of each follower, in the end of how it is in the end."""
    ns, count = net.Namespace("told"), 3000
    net.ip_batch(["link add lead type dummy"], ns)
    lead = ns.index("lead")
    channel, ear = rate.channel(ns), rate.channel(ns, receive=1 << 26)  # only root may
    follow(channel, count, lead)
    ear.join("paths")
    told: dict[object, Any] = {}
    for value in range(1, 6):
        channel.set(ifindex=lead, rate=value)

    def heard() -> bool:
        told.update({path.get("daddr"): path.get("rate") for _, path in ear.news()})
        return len(told) == count + 1 and set(told.values()) == {5}

    def lost() -> bool:
        told.update({path.get("daddr"): path.get("follow") for _, path in ear.news()})
        return set(told.values()) == {None}

    net.wait_for(heard, f"{count} followers to be told of", limit_s=60)
    told = dict.fromkeys(told, 5)
    with ns.entered():
        delete_device(lead)
    del told[None]
    net.wait_for(lost, f"{count} followers to be told of, which follow no longer", limit_s=60)
    ns.delete()


def leave_s(paths: list[bytes]) -> float:
    """Leave a namespace with these paths, then an empty one; return how long both took.

    One is left when its end of a veth is gone.
    """
    holders = []
    for here, requests in (("full", paths), ("empty", [])):
        with new_namespace():
            channel = rate.Channel()
            channel.many(rate.SET, requests)
            channel.close()
            holders.append(subprocess.Popen(["sleep", "1000"]))
        net.run(f"ip link add {here} type veth peer name there netns {holders[-1].pid}")

    def leave(here: str) -> None:
        holder = holders.pop(0)
        holder.kill()
        holder.wait()
        net.wait_for(lambda: not os.path.exists(NUMBERS + here), "the namespace to go")

    return bounds.least_s(lambda: (leave("full"), leave("empty")), 1)


def namespace_ends() -> tuple[float, float]:
    """Return how long leaving two namespaces takes, and how long deleting many paths does."""
    paths = [rate.encode({**prefix(n), "rate": n}) for n in range(MANY)]
    channel = rate.Channel()
    channel.many(rate.SET, paths)
    deleted, left = bounds.least_s(channel.delete, 1), float("inf")
    for _ in range(9):  # a grace period takes some ticks, where the machine is busy
        left = min(left, leave_s(paths))
        if left < deleted * PART_OF_DELETING:
            break
    return left, deleted


def test_namespace_ends() -> None:
    """Namespaces go without waiting for the paths of one of them."""
    bounds.needs_real_time()
    left, deleted = bounds.as_user(namespace_ends)
    text = f"{left * 1e3:.3f} ms; deleting as many paths takes {deleted * 1e3:.3f} ms"
    print(f"# leave a namespace with {MANY} paths, and another: {text}")
    true(left < deleted * PART_OF_DELETING, text)


def limit(name: str, value: int | None = None) -> int:
    """Return a limit of the namespace; set it first."""
    path = f"/proc/sys/net/rate_feedback/{name}"
    if value is not None:
        with open(path, "w", encoding="ascii") as file:
            file.write(str(value))
    return int(net.read(path))


def refuse_paths() -> None:
    """Have as many paths as there may be."""
    channel, text = rate.Channel(), "as many paths as its net.rate_feedback.max_paths allows"
    equal(limit("max_paths"), DEFAULT_LIMIT, "default")
    equal(limit("max_paths", 3), 3, "limit")
    for number in range(3):
        channel.set(**prefix(number), rate=number)
    rate.refused(errno.ENOSPC, text, channel.set, **prefix(3), rate=3)
    rate.refused(errno.ENOSPC, text, channel.set, **prefix(3), follow={"ifindex": 1})
    channel.set(**prefix(2), rate=7)
    equal([path["rate"] for path in channel.paths()], [0, 1, 7], "rates")
    channel.delete(**prefix(0))
    channel.set(**prefix(3), rate=3)
    limit("max_paths", 0)
    channel.delete(**prefix(3))
    rate.refused(errno.ENOSPC, text, channel.set, **prefix(3), rate=3)
    equal([path["rate"] for path in channel.paths()], [1, 7], "rates above the limit")
    limit("max_paths", DEFAULT_LIMIT)
    channel.set(**prefix(3), rate=3)


def refuse_links() -> None:
    """A link that publishes needs a path, too."""
    add_devices("wire")
    link = {"feedback": {"idle": rate.S}}
    limit("max_paths", 0)
    control = Control()
    rate.refused(errno.ENOSPC, "max_paths allows", control.add, index("wire"), link)
    equal([q for q in control.list(index("wire")) if q.kind == "wale"], [], "links")
    limit("max_paths", DEFAULT_LIMIT)
    control.add(index("wire"), link)
    equal(rate.Channel().get(ifindex=index("wire"))["publisher"], 1, "publisher")


def refuse_followers() -> None:
    """Have as many followers as a namespace may have, from another one."""
    add_devices("one", "two")
    one, two = index("one"), index("two")
    limit("max_followers", 2)
    with new_namespace() as home:
        far, text = rate.Channel(), "its net.rate_feedback.max_followers allows"
        lead: list[dict[str, int]] = [{"netns_fd": home, "ifindex": n} for n in (one, two)]
        equal(limit("max_followers"), DEFAULT_LIMIT, "of another namespace")
        for number in range(2):
            far.set(**prefix(number), follow=lead[0])
        rate.refused(errno.ENOSPC, text, far.set, **prefix(2), follow=lead[1])
        far.set(**prefix(2), follow={"ifindex": 1})
        rate.refused(errno.ENOSPC, text, far.set, **prefix(2), follow=lead[1])
        far.set(**prefix(1), follow=lead[1])
        far.set(**prefix(0), beta=7)
        far.set(**prefix(0), rate=7)
        far.set(**prefix(2), follow=lead[1])
        rate.refused(errno.ENOSPC, text, far.set, **prefix(0), follow=lead[0])
    delete_device(two)  # which both followed
    for number in range(2):
        far.set(**prefix(number), follow=lead[0])
    rate.refused(errno.ENOSPC, text, far.set, **prefix(2), follow=lead[0])
    far.delete()
    far.set(**prefix(2), follow=lead[0])


def refuse_more() -> None:
    """The user may lower a limit, and raise it to that of the initial namespace."""
    for name in ("max_paths", "max_followers"):
        limit(name, 5)
        equal(limit(name, DEFAULT_LIMIT), DEFAULT_LIMIT, "raised again")
        for value, error in ((DEFAULT_LIMIT + 1, PermissionError), (1 << 31, OSError)):
            try:
                limit(name, value)
                raise AssertionError(f"{name} is {value}")
            except error:
                equal(limit(name), DEFAULT_LIMIT, f"{name} after {value} was refused")


def test_limits() -> None:
    """A namespace has so many paths and followers, and who made it does not decide on that."""
    for case in (refuse_paths, refuse_links, refuse_followers, refuse_more):
        bounds.as_user(case)


def test_limits_of_the_initial_namespace() -> None:
    """Root may raise the limits of any namespace; a new one has those of the initial one."""
    ns = net.Namespace("limits")
    with ns.entered():
        equal(limit("max_paths", DEFAULT_LIMIT + 1), DEFAULT_LIMIT + 1, "raised by root")
    limit("max_paths", 4)
    try:
        equal(bounds.as_user(lambda: limit("max_paths")), 4, "of a new namespace")
        with ns.entered():
            equal(limit("max_paths"), DEFAULT_LIMIT + 1, "of one that was there")
    finally:
        limit("max_paths", DEFAULT_LIMIT)
    ns.delete()


def a_channel() -> tuple[rate.Channel, list[bytes], list[bytes]]:
    """Return a channel, and requests for paths that follow, and for others with a history."""
    add_devices("lead")
    lead = rate.encode({"follow": {"ifindex": index("lead")}})
    followers = [rate.encode(prefix(n)) + lead for n in range(PATHS)]
    keys = [rate.encode({"daddr": f"11.0.{n >> 8}.{n & 255}", "lag": "rtt"}) for n in range(PATHS)]
    return rate.Channel(), followers, keys


def make_paths(made: tuple[rate.Channel, list[bytes], list[bytes]]) -> None:
    """Have these paths."""
    channel, followers, keys = made
    channel.many(rate.SET, followers)
    for step in range(4):
        value = rate.encode({"rate": step})
        for begin in range(0, PATHS, 1000):
            channel.many(rate.SET, [key + value for key in keys[begin : begin + 1000]])


def connections(congestion: bytes) -> list[socket.socket]:
    """Have connections with themselves, over which both ends have sent something."""
    net.ip_batch(["link set lo up"])
    listener = socket.socket()
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion)
    listener.bind(("127.0.0.1", 0))
    listener.listen(16)
    kept = [listener]
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    for _ in range(CONNECTIONS):
        kept.append(socket.socket())
        kept[-1].setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion)
        kept[-1].connect(listener.getsockname())
        kept.append(listener.accept()[0])
        for here, there in (kept[-2:], kept[:-3:-1]):
            here.send(b"x")
            there.recv(1)
    return kept


def test_memory_is_charged() -> None:
    """Who has paths, and sockets that listen, is charged for the memory of them."""
    bounds.needs_plain_memory()
    taken, charged = bounds.taken_and_charged(a_channel, make_paths)
    print(f"# {PATHS * 2} paths: {taken >> 10} kB taken, {charged >> 10} kB charged")
    true(taken > PATHS * 700, f"{taken} bytes taken by {PATHS} paths with a history")
    # not charged: the array of the hash table, and who is charged for each object
    true(charged > taken * 0.85, f"{charged} bytes charged of {taken}")
    reno = bounds.taken_and_charged(lambda: b"reno", connections)[1]
    ratcp = bounds.taken_and_charged(lambda: b"ratcp", connections)[1]
    each = (ratcp - reno) / (2 * CONNECTIONS)
    print(f"# a socket that listens: {each:.0f} bytes charged")
    # one end of each connection is opened by a softirq, without knowing whose it will be
    true(each > 200, f"{each} bytes charged for a socket that listens")


def links(count: int) -> tuple[Control, list[int]]:
    """Have so many links."""
    add_devices(*(f"d{n}" for n in range(count)))
    devices = [index(f"d{n}") for n in range(count)]
    control = Control()
    for dev in devices:
        control.add(dev, {"rate": 10**6})
    return control, devices


def publish(made: tuple[Control, list[int]]) -> None:
    """Have all of them publish."""
    control, devices = made
    for dev in devices:
        control.change(dev, {"feedback": {"idle": 1000 * rate.S}})


def links_that_publish(count: int) -> int:
    """Return the bytes that so many links take more when they publish."""
    made = links(count)
    free = bounds.memory("MemFree")
    publish(made)
    return free - bounds.memory("MemFree")


class Counting:
    """A link that publishes, and a socket that sends into it."""

    def __init__(self) -> None:
        net.ip_batch(["link add wire arp off type dummy", "link set wire up"])
        self.dev, self.control = index("wire"), Control()
        self.control.add(self.dev, {"feedback": {"idle": 1000 * rate.S}})
        self.wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.wire.bind(("wire", net.ETH_P_IP))

    def send(self, flags: int, flows: int) -> None:
        """Send a segment of so many flows."""
        for number in range(flows):
            host, port = divmod(number, 60_000)
            packet = ipv4(tcp(flags, port=port + 1))
            packet = packet[:16] + bytes((10, 0, 1, host)) + packet[20:]
            self.wire.send(bytes(12) + struct.pack("!H", net.ETH_P_IP) + packet)

    def flows(self) -> int:
        """Return how many flows it counts."""
        return self.control.get(self.dev).stats["active_flows"]


def flows_come_and_go(count: int) -> tuple[int, int, int]:
    """Return how many flows a link counts, and the bytes that they take, and that are left."""
    link = Counting()
    link.send(SYN, 10)
    link.send(RST, 10)
    before = bounds.memory("SUnreclaim")
    link.send(SYN, count)
    taken = bounds.memory("SUnreclaim") - before
    counted = link.flows()
    link.send(RST, count)
    equal(link.flows(), 0, "flows in the end")
    return counted, taken, bounds.memory("SUnreclaim") - before


def test_feedback_takes_what_its_flows_need() -> None:
    """A link that publishes takes little, more with its flows, and no more than for 16,384."""
    bounds.needs_plain_memory()
    more = bounds.as_user(lambda: links_that_publish(1000))
    print(f"# a link that publishes: {more / 1000:.0f} bytes more")
    true(more < 1000 * 12_000, f"{more} bytes for 1000 links that publish")
    for flows in (1000, 100_000):
        counted, taken, left = bounds.as_user(lambda flows=flows: flows_come_and_go(flows))
        print(f"# {counted} flows of {flows}: {taken} bytes, and {left} when they are gone")
        equal(counted, min(flows, 16_384), "flows counted")
        true(taken < counted * 32 + SLACK, f"{taken} bytes for {counted} flows")
        true(left < SLACK, f"{left} bytes left when {counted} flows are gone")


def test_feedback_is_charged() -> None:
    """Who has links is charged for their flows, though it is softirqs that count these."""
    bounds.needs_plain_memory()
    taken, charged = bounds.taken_and_charged(lambda: links(1000), publish)
    print(f"# 1000 links: {taken} bytes taken, {charged} bytes charged")
    true(charged > taken * 0.9, f"{charged} bytes charged of {taken} for links")
    charged = bounds.taken_and_charged(Counting, lambda link: link.send(SYN, 16_384))[1]
    print(f"# 16,384 flows: {charged} bytes charged")
    true(charged > 16_384 * 20, f"{charged} bytes charged for 16,384 flows")


if __name__ == "__main__":
    main()
