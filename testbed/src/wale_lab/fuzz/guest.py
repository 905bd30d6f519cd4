# SPDX-License-Identifier: GPL-2.0
"""Inside the guest: sends the messages, and looks at what became of them.

Messages are numbered from 0.  An epoch of EPOCH messages has surroundings and random numbers of
its own, so that a message can be repeated without those of the epochs before.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

from wale_lab.fuzz import mutate
from wale_lab.fuzz.channel import GENL, Channel
from wale_lab.fuzz.grammar import Grammar
from wale_lab.fuzz.link import Link
from wale_lab.fuzz.tally import Tally, as_case
from wale_lab.fuzz.wire import Lost, Message, Wire, head
from wale_lab.fuzz.world import World
from wale_lab.netlink import NETLINK_GENERIC, NETLINK_ROUTE, NLM_F_DUMP, NLMSG_DONE
from wale_lab.selftest import net, rate
from wale_lab.selftest.tap import KernelLog, kernel_warnings
from wale_lab.units import show_count

EPOCH = 10_000
SINGLES, BATCH = 16, 32
#: From so many messages on, nothing may be left out.
ENOUGH = 50_000
CHECKS = (
    "dumps while paths change",
    "links with traffic",
    "refused, unchanged",
    "round trips",
    "shown as set",
    "sockets that listen",
    "without rights",
)
OUT = Path("/run/wale/out")
KMEMLEAK = Path("/sys/kernel/debug/kmemleak")
#: The core looks at the size table of a qdisc after it has changed the rest.
CORE_CHANGES = "Size table"
#: After each message of a case, an hour: time to send, and to do what is due.
SILENCE_NS = 3600 * 10**9
MODULES = ("tcp_ratcp", "sch_wale", "rate_feedback")
Target = Channel | Link


class KernelComplained(Exception):
    """The kernel's log has a line that it must not have."""


class Fuzzer:
    """A run."""

    def __init__(self, grammars: dict[str, object], seed: int) -> None:
        self.channel = Channel(Grammar(grammars["rate_feedback"]))  # type: ignore[arg-type]
        self.link = Link(Grammar(grammars["sch_wale"]))  # type: ignore[arg-type]
        self.seed = seed
        self.tally = Tally(OUT, seed)
        self.log = KernelLog()
        self.last = os.open(OUT / "last.json", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
        self.world: World

    def listen(self) -> None:
        """Raise if the kernel complained."""
        wrong = kernel_warnings(self.log.news())
        if wrong:
            raise KernelComplained("\n".join(wrong[:20]))

    # ---- one message, or many

    def send(self, target: Target, wire: Wire, messages: Sequence[Message]) -> None:
        """Send, and check what each message must have."""
        what = f"seed {self.seed}, message {self.tally.number}"
        text = json.dumps(as_case(what, target.name, messages)).encode()
        os.pwrite(self.last, text, 0)
        os.ftruncate(self.last, len(text))
        wire.exchange(messages)
        self.listen()
        for message in messages:
            self.tally.saw(message, target.names(message))
            if message.missing():
                self.tally.finding(target.name, "not one answer", [message], str(message.went))
            if target.unexplained(message):
                what = f"error {message.error} without words"
                self.tally.finding(target.name, what, [message])
        self.tally.senders[wire.name] += len(messages)

    def singles(self, rng: Random, target: Target, wire: Wire, count: int) -> None:
        """Messages one by one: what is refused changes nothing, what is accepted is shown."""
        before = target.snapshot(wire)
        for _ in range(count):
            message = self.make(rng, target, rng.random() < 0.8)
            self.send(target, wire, [message])
            self.tally.number += 1
            if message.refused:
                after = target.snapshot(wire)
                if after != before and CORE_CHANGES not in message.text:
                    detail = f"{message.text}\n{before}\n{after}"
                    self.tally.finding(
                        target.name, "refused, but it changed something", [message], detail
                    )
                self.tally.checks["refused, unchanged"] += 1
                before = after
            else:
                if message.error == 0 and message.nodes is not None and not message.torn:
                    target.check_accepted(wire, message, self.tally)
                before = target.snapshot(wire)

    def batch(self, rng: Random, target: Target, wire: Wire, count: int) -> None:
        """Messages all at once."""
        messages = [self.make(rng, target, rng.random() < 0.3) for _ in range(count)]
        if rng.random() < 0.5:
            self.tear(rng, messages[-1])
        try:
            self.send(target, wire, messages)
        except Lost as error:
            self.tally.finding(target.name, f"answers were lost: {error}", messages)
        self.tally.number += count

    def stranger(self, rng: Random, target: Target, root: Wire, wire: Wire, count: int) -> None:
        """Messages of who may not: they change nothing."""
        before = target.snapshot(root)
        messages = [self.make(rng, target, True) for _ in range(count)]
        self.send(target, wire, messages)
        for message in messages:
            if target.is_admin(message) and not message.refused:
                self.tally.finding(target.name, f"accepted from {wire.name}", [message])
        if target.snapshot(root) != before:
            self.tally.finding(target.name, f"changed by {wire.name}", messages)
        self.tally.checks["without rights"] += count
        self.tally.number += count

    def make(self, rng: Random, target: Target, good: bool) -> Message:
        """Return the next message."""
        message = target.make(rng)
        if good:
            return message
        if rng.random() < 0.3:
            message.origin = "random"
            mutate.noise(rng, message.data)
        else:
            message.origin = "mutated"
            mutate.mutate(rng, message.data, target.recent)
        message.nodes = None
        target.repair(message.data)
        return message

    def tear(self, rng: Random, message: Message) -> None:
        """Have the length of a message be wrong; or all of it be random."""
        message.torn, message.origin, message.nodes = True, "random", None
        if rng.random() < 0.2:
            message.data = bytearray(rng.randbytes(rng.randrange(1, 100)))
            return
        size = len(message.data)
        length = rng.choice((0, 1, 15, 16, 17, size - 1, size + 1, size + 4, 0xFFFF, 0xFFFFFFFF))
        message.data[:4] = length.to_bytes(4, "little")

    # ---- an epoch

    def epoch(self, number: int, end: int) -> None:
        """Send the messages of an epoch, but not beyond the round in which the last one is."""
        rng = Random(f"{self.seed}/{number}")
        self.tally.number = number * EPOCH
        last = self.tally.number + EPOCH
        self.world = World()
        self.channel.family = self.world.family
        rounds = 0
        while self.tally.number < min(end, last):
            self.look()
            target, protocol = rng.choice(
                ((self.channel, NETLINK_GENERIC), (self.link, NETLINK_ROUTE))
            )
            self.round(rng, target, protocol, last - self.tally.number)
            self.world.happen(rng)
            rounds += 1
            if rounds % 50 == 0:
                self.verify()
            if rounds % 200 == 100:
                self.crowd(rng)
        self.finish()

    def look(self) -> None:
        """Tell the targets what there is now."""
        self.world.look()
        for target in (self.channel, self.link):
            target.pools = self.world.pools if target is self.channel else self.world.link_pools
        self.link.positions = self.world.positions

    def round(self, rng: Random, target: Target, protocol: int, left: int) -> None:
        """Some messages of one sender to one target."""
        wire = self.world.wires[protocol]
        chance = rng.random()
        if chance < 0.1:
            foreign = rng.choice(self.world.strangers[protocol])
            self.stranger(rng, target, wire, foreign, min(SINGLES, left))
        elif chance < 0.5:
            self.singles(rng, target, wire, min(SINGLES, left))
        else:
            self.batch(rng, target, wire, min(BATCH, left))

    def verify(self) -> None:
        """Look at all of it."""
        self.look()
        for target, protocol in ((self.channel, NETLINK_GENERIC), (self.link, NETLINK_ROUTE)):
            target.verify(self.world.wires[protocol], self.tally)
        self.listen()

    def crowd(self, rng: Random) -> None:
        """A dump of many paths, read while they change; or not to its end."""
        with self.world.a.entered():
            channel = rate.Channel()
        payloads = [
            rate.encode({"daddr": f"10.1.{k >> 7}.{k & 127}", "rate": k}) for k in range(400)
        ]
        channel.many(rate.SET, payloads)
        wire = self.world.slow[NETLINK_GENERIC]
        request = Message(bytearray(self._dump()), "own")
        wire.socket.send(request.data)
        ended = reads = 0
        while not ended and reads < 100:
            ended = sum(kind == NLMSG_DONE for kind, *_ in wire.replies(1))
            reads += 1
            if reads % 2:
                channel.request(rate.DEL, rate.encode({"daddr": f"10.1.0.{reads}"}))
                channel.many(rate.SET, payloads[: rng.randrange(1, 20)])
        if not ended:
            self.tally.finding("rate_feedback", "a dump does not end", [request])
        channel.socket.send(bytes(self._dump()))
        channel.close()
        self.channel.clear(self.world.wires[NETLINK_GENERIC], self.tally)
        self.tally.checks["dumps while paths change"] += 1

    def _dump(self) -> bytearray:
        body = GENL.pack(self.channel.by_name["get"].number, 1, 0)
        data = bytearray(head(self.channel.family, NLM_F_DUMP) + body)
        data[:4] = len(data).to_bytes(4, "little")
        return data

    def finish(self) -> None:
        """Take all away; nothing is left."""
        self.verify()
        self.link.clear(self.world.wires[NETLINK_ROUTE], self.tally)
        self.channel.clear(self.world.wires[NETLINK_GENERIC], self.tally)
        self.world.close()
        self.listen()

    # ---- the run

    def run(self, first: int, end: int) -> None:
        """Send the messages from one number to another."""
        for number in range(first // EPOCH, (end - 1) // EPOCH + 1):
            self.epoch(number, end)
            print(f"# {self.tally.number} messages", flush=True)

    def replay(self, files: Sequence[Path]) -> None:
        """Send the messages of the cases."""
        for file in files:
            case = json.loads(file.read_text())
            self.world = World()
            self.channel.family = self.world.family
            self.look()
            known: dict[str, tuple[Target, int]] = {
                "rate_feedback": (self.channel, NETLINK_GENERIC),
                "sch_wale": (self.link, NETLINK_ROUTE),
            }
            target, protocol = known[case["target"]]
            errors = case.get("errors") or [None] * len(case["messages"])
            for text, expected in zip(case["messages"], errors, strict=True):
                message = Message(bytearray.fromhex(text), "case")
                target.repair(message.data)
                self.send(target, self.world.wires[protocol], [message])
                if expected not in (None, message.error):
                    detail = f"{expected} was expected, not {message.error}"
                    self.tally.finding(target.name, f"{file.name}: {detail}", [message])
                self.world.pair.send(5)
                net.sleep_ns(SILENCE_NS)
            self.finish()
            print(f"# {file.name}: sent", flush=True)

    def unload(self) -> None:
        """Unload the modules; none of their memory is left."""
        for name in MODULES:
            net.wait_for(partial(_unloaded, name), f"rmmod {name}")
        if not KMEMLEAK.exists():
            print("# kmemleak: this kernel does not have it")
            return
        for _ in range(2):  # what was in a register the first time
            KMEMLEAK.write_text("scan")
        found = KMEMLEAK.read_text()
        if any(name in found for name in ("wale", "rate_", "ratcp", "classic")):
            self.tally.finding("modules", "memory is left", [], found[:4000])
        self.tally.checks["kmemleak scans"] += 1


def _unloaded(name: str) -> bool:
    return not net.run(f"rmmod {name}", check=False)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("grammars", type=Path, help="JSON: the specifications by name")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--end", type=int, required=True)
    parser.add_argument("cases", type=Path, nargs="*", help="to send first")
    return parser.parse_args()


def main() -> None:
    """Exit with 0 if nothing is wrong."""
    args = _arguments()
    with contextlib.suppress(OSError):
        net.write("/proc/sys/kernel/modprobe", "\n")  # a kind of qdisc that there is not
    fuzzer = Fuzzer(json.loads(args.grammars.read_text()), args.seed)
    try:
        fuzzer.replay(args.cases)
        fuzzer.run(args.first, args.end)
        fuzzer.unload()
    except KernelComplained as error:
        number = fuzzer.tally.number
        sys.exit(f"the kernel complained: seed {args.seed}, message {number} (last.json)\n{error}")
    except BaseException:
        print(f"seed {args.seed}, message {fuzzer.tally.number} (last.json)", flush=True)
        raise
    fuzzer.tally.report()
    gaps = []
    if args.end - args.first >= ENOUGH:
        for target in (fuzzer.channel, fuzzer.link):
            gaps += fuzzer.tally.gaps(*target.expected())
        gaps += [f"never checked: {what}" for what in CHECKS if not fuzzer.tally.checks[what]]
    for gap in gaps:
        print(f"FINDING {gap}")
    for what, count in fuzzer.tally.findings.items():
        print(f"FINDING {what}: {show_count(count, 'time')}")
    sys.exit(1 if gaps or fuzzer.tally.findings else 0)


if __name__ == "__main__":
    main()
