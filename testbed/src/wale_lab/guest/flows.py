# SPDX-License-Identifier: GPL-2.0
"""The flows of a scenario: their file, servers and clients, and how they ended."""

import os
import signal
import time

from wale_lab.guest.commands import DATA, client_command, packets_log, server_command
from wale_lab.guest.programs import Programs
from wale_lab.guest.shared import OVER, STAGE, WORK, joined, now, read, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from wale_lab.guest.processes import Processes
    from wale_lab.guest.shared import Plan


class Flows:
    """The flows of a plan and their state."""

    def __init__(self, plan: "Plan", processes: "Processes") -> None:
        self.plan = plan
        self.processes = processes
        self.records: dict[str, dict[str, Any]] = {}  # by the name of the flow
        self._ended: set[str] = set()
        self._timers: list[tuple[int, int, Callable[..., None], tuple[Any, ...]]] = []
        self._serial = 0  # of timers: of two at one time, the first comes first
        self.programs = Programs(plan, processes, self._at, self._start_after, self._program_ended)
        servers = {one["name"] for one in plan["programs"] if one["serve"]}
        begun_here = [flow for flow in plan["flows"] if _is_here(flow, "client")]
        names = {one["name"] for one in (*begun_here, *plan["programs"])}
        self._awaited = names - servers
        self._over = False  # nothing more is started
        self._watch: int | None = None  # waits for another guest to end all before the time
        self._others_ended = plan.get("guests", 1) == 1

    def make_file(self) -> None:
        """Make the file that is sent; the seed determines its bytes."""
        from hashlib import shake_128

        os.makedirs(DATA)
        left, number = self.plan["file_bytes"], 0
        with open(DATA + "/file", "wb") as file:
            while left:  # piece by piece: a guest pays for every page of memory
                piece = shake_128(b"wale %d %d" % (self.plan["seed"], number))
                left -= file.write(piece.digest(min(left, 2**16)))
                number += 1

    def start_servers(self) -> None:
        """Start the waiting ends of all flows."""
        for flow in self.plan["flows"]:
            self.records[flow["name"]] = record = {"flow": flow}
            if _is_here(flow, "server"):
                argv, netns = server_command(flow)
                out = f"{WORK}/server.{flow['name']}"
                record["server"], _ = self.processes.spawn(argv, netns, out)

    def take_servers(self, earlier: "Flows") -> None:
        """Use the servers that were started for the same flows of another plan."""
        for flow in self.plan["flows"]:
            self.records[flow["name"]] = {
                "server": earlier.records[flow["name"]]["server"], "flow": flow
            }  # fmt: skip

    def stop_servers(self) -> None:
        """Stop them."""
        for record in self.records.values():
            if "server" in record:
                self.processes.stop(record["server"])

    def start_flow(self, flow: "Plan", at: int | None = None) -> None:
        """Start the beginning end of a flow."""
        record = self.records[flow["name"]]
        record["started_ns"] = now()
        argv, netns = client_command(flow, at or record["started_ns"], self.plan["file_bytes"])
        out = f"{WORK}/client.{flow['name']}"
        record["client"], _ = self.processes.spawn(
            argv, netns, out, on_exit=lambda status: self._flow_ended(flow, status)
        )

    def _flow_ended(self, flow: "Plan", status: int) -> None:
        record = self.records[flow["name"]]
        record["ended_ns"] = now()
        record["status"] = os.waitstatus_to_exitcode(status)
        self._ended.add(flow["name"])
        self._start_after(flow["name"], record["ended_ns"])

    def _start_after(self, name: str, when: int) -> None:
        """Start the flows that wait for another one to end."""
        if self._over:
            return
        for other in self.plan["flows"]:
            if other["after"] == name and _is_here(other, "client"):
                self._at(when + other["start_ns"], self.start_flow, other)
        for other in self.plan["programs"]:
            if other["after"] == name:
                self._at(when + other["start_ns"], self.programs.start, other["name"])

    def _program_ended(self, name: str, when: int) -> None:
        self._ended.add(name)
        if self.programs.plans[name]["ready"] is None:
            self._start_after(name, when)

    def _at(self, when: int, function: "Callable[..., None]", *arguments: "Any") -> None:
        self._serial += 1
        self._timers.append((when, self._serial, function, arguments))
        self._timers.sort(key=lambda t: t[:2])

    def run(self, start: int) -> None:
        """Start each flow at its time, and return when all have ended."""
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        for flow in self.plan["flows"]:
            if flow["after"] is None and _is_here(flow, "client"):
                at = start + flow["start_ns"]
                self._at(at, self.start_flow, flow, at)
        for program in self.plan["programs"]:
            if program["after"] is None:
                self._at(start + program["start_ns"], self.programs.start, program["name"])
        for change in self.plan["changes"]:
            self._at(start + change["at_ns"], self._change, change)
        self.programs.attach()
        if self.plan.get("watched"):
            self._watch, _ = self.processes.spawn(["cat", OVER], on_exit=lambda _: None)
        deadline = start + self.plan["virtual_limit_ns"]
        while not self._all_ended():
            if now() >= deadline:
                self.end_late()
                break
            self._wait_until(deadline)
        self._wait_for_others()
        if self.plan["programs"]:
            self._end_programs()
        if self._watch is not None:
            self.processes.stop(self._watch)

    def _wait_for_others(self) -> None:
        """Of several guests, go on until the flows of all have ended: servers may be here."""
        if self._others_ended:
            return
        if self._has_failed():
            self._end_flows("cut")
        write(STAGE, "1")
        self.processes.spawn(["cat", STAGE], on_exit=self._all_are_there)
        told = False
        while not self._others_ended:
            if self.programs.failed and not told:
                write(OVER, "1")
                told = True
            if not self.processes.take_ended():
                self._wait_until(now() + 10**9)

    def _all_are_there(self, _status: int) -> None:
        self._others_ended = True

    def _has_failed(self) -> bool:
        """Has a program failed, here or in another guest?"""
        told = self._watch is not None and self._watch not in self.processes.children
        return told or self.programs.failed is not None

    def _change(self, change: "Plan") -> None:
        """What happens to the network now."""
        self.processes.run(["ip", "-batch", "-"], change["netns"], joined(change["ip"]))

    def _wait_until(self, deadline: int) -> None:
        """Do what is due now; else wait until something is, a process ends, or the deadline."""
        timers = self._timers
        next_at = min(timers[0][0] if timers else deadline, deadline)
        wait = next_at - now()
        if wait > 0:
            signal.sigtimedwait([signal.SIGCHLD], wait / 1e9)
            return
        if timers and timers[0][0] <= now():
            _, _, function, arguments = timers.pop(0)
            function(*arguments)

    def _all_ended(self) -> bool:
        """Note the processes that have ended; True if all flows have, or a program failed."""
        while self._awaited - self._ended and not self._has_failed():
            if not self.processes.take_ended():
                return False
        return True

    def _end_programs(self) -> None:
        """End the programs that serve others, or all of them if one has failed."""
        self._over = True
        self._timers = [timer for timer in self._timers if timer[2] == self.programs.tell]
        if self._has_failed():
            self._end_flows("cut")
        for name in self.programs.running():
            self.programs.tell(name)
        while self.programs.running():
            if not self.processes.take_ended():
                self._wait_until(now() + 10**9)

    def end_late(self) -> None:
        """End those that are still running."""
        self._end_flows("late")
        for name in self.programs.running():
            if name in self._awaited:
                self.programs.records[name]["late"] = True

    def _end_flows(self, why: str) -> None:
        for record in self.records.values():
            if "client" in record and "ended_ns" not in record:
                status = self.processes.stop(record["client"])
                record["ended_ns"] = now()
                record["status"] = None if status is None else os.waitstatus_to_exitcode(status)
                record[why] = True

    def ended_ns(self) -> int:
        """The time when the last one ended."""
        ends = [r["ended_ns"] for r in self.records.values() if "ended_ns" in r]
        programs = self.programs.records.items()
        ends += [r["ended_ns"] for name, r in programs if name in self._awaited]
        return max(ends, default=now())

    def report(self, start: int) -> "dict[str, Any]":
        """How each of them ended, and what its programs printed."""
        flows = {}
        for name, record in self.records.items():
            told = {
                key: record.get(key) for key in ("started_ns", "ended_ns", "status", "late", "cut")
            }
            for side in ("server", "client"):
                told[side] = read(f"{WORK}/{side}.{name}.1")
                told[side + "_errors"] = read(f"{WORK}/{side}.{name}.2")
            flow = record["flow"]
            if flow["constant"] and flow["constant"]["logged"] and "server" in record:
                begin = start + time.time_ns() - now()  # by the clock of the log
                interval = self.plan["record"]["interval_ns"]
                told["delays"] = delays(packets_log(flow), begin, interval)
            flows[name] = told
        return flows


def _is_here(flow: "Plan", end: str) -> bool:
    """Is this end of a flow, server or client, in this guest?  Of several, a guest has a part."""
    return end in flow.get("here", ("server", "client"))


def delays(path: str, start: int, interval: int) -> list[list[int]]:
    """For each interval with arrivals: its number, the number of packets, and their delays.

    Minimum, sum and maximum in ns, from the log of `wale receive`.
    """
    found: dict[int, list[int]] = {}
    with open(path, encoding="ascii") as file:
        next(file)
        for line in file:
            _, due, came = map(int, line.split(","))
            delay = came - due
            entry = found.setdefault((came - start) // interval, [0, delay, 0, delay])
            entry[0] += 1
            entry[1] = min(entry[1], delay)
            entry[2] += delay
            entry[3] = max(entry[3], delay)
    return [[number, *found[number]] for number in sorted(found)]
