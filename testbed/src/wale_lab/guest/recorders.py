# SPDX-License-Identifier: GPL-2.0
"""What is recorded during a run: samples of links, sockets and the channel; all packets."""

import json
import os
import sys

from wale_lab.guest.namespaces import netns_cookie
from wale_lab.guest.shared import WORK, AgentError, read, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wale_lab.guest.packet_recorder import Recorder
    from wale_lab.guest.processes import Processes
    from wale_lab.guest.shared import Plan

_CHANNEL = WORK + "/channel.csv"
_SOCKETS = WORK + "/sockets.csv"


class Recorders:
    """The recorders of a plan."""

    def __init__(self, plan: "Plan", processes: "Processes") -> None:
        self.plan = plan
        self.record: Plan = plan["record"]
        self.processes = processes
        self._samplers: list[dict[str, Any]] = []
        self._packets: Recorder | None = None

    def start(self) -> None:
        """Start sampling."""
        interval = self.record["interval_ns"]
        for number, (netns, what) in enumerate(self.record["namespaces"].items()):
            argv = ["wale", "watch", "--interval", f"{interval}ns"]
            for device in what["links"]:
                argv += ["--link", device]
            if what["links"]:
                argv += ["--links-csv", f"{WORK}/links.{number}.csv"]
            else:
                argv += ["--no-links"]
            if what["flows"]:
                argv += ["--flows", "--flows-csv", f"{WORK}/flows.{number}.csv"]
            self._start_sampler(argv, netns, number)
        own = {"channel": _CHANNEL, "sockets": _SOCKETS}
        for what, path in own.items():
            if self.record[what]:
                argv = [sys.executable, "-B", "-P", "-s", "-S"]  # -B: the host engine is root here
                argv += [f"{os.path.dirname(__file__)}/{what.removesuffix('s')}_recorder.py"]
                argv += [str(interval), path, *self.record[what]]
                self._start_sampler(argv, None, None)

    def _start_sampler(self, argv: list[str], netns: str | None, number: int | None) -> None:
        pid, out = self.processes.spawn(argv, netns)
        self._samplers.append({"pid": pid, "out": out, "netns": netns, "number": number})

    def stop(self) -> None:
        """Stop sampling."""
        for sampler in self._samplers:
            self.processes.stop(sampler["pid"])

    def start_packets(self) -> None:
        """Start the log of all packets, if it is wanted."""
        folder = self.record["packets"]
        if not folder:
            return
        from wale_lab.guest import packet_recorder

        try:
            has_child = any(link["queue"] for link in self.plan["links"])
            self._packets = packet_recorder.Recorder(folder, self.plan["virtual"], has_child)
        except OSError as error:
            raise AgentError(f"packets cannot be logged: {error}") from None

    def stop_packets(self) -> None:
        """Write the rest of that log, and the names of the namespaces beside it."""
        if self._packets is None:
            return
        try:
            self._packets.stop()
        except OSError as error:
            raise AgentError(f"packets cannot be logged: {error}") from None
        cookies = {}
        for ns in self.plan["namespaces"]:
            self.processes.netns.enter(ns["name"])
            cookies[ns["name"]] = netns_cookie()
        write(self.record["packets"] + "/namespaces.json", json.dumps(cookies))

    def report(self) -> "dict[str, Any]":
        """All samples, and the errors of the samplers."""
        series = []
        for sampler in self._samplers:
            number, errors = sampler["number"], read(sampler["out"] + ".2")
            if errors:
                self.processes.warnings.append(f"recorder: {errors.strip()}")
            if number is None:
                continue
            series.append(
                {
                    "netns": sampler["netns"],
                    "links": read(f"{WORK}/links.{number}.csv"),
                    "flows": read(f"{WORK}/flows.{number}.csv"),
                    "errors": errors,
                }
            )
        return {"series": series, "channel": read(_CHANNEL), "sockets": read(_SOCKETS)}
