# SPDX-License-Identifier: GPL-2.0
"""The links of a scenario: their qdiscs, from set-up until they have drained."""

import time

from wale_lab.guest.shared import WORK, joined, now, write
from wale_lab.guest.tc import Tc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wale_lab.guest.processes import Processes
    from wale_lab.guest.shared import Plan

#: How long the links may take to drain at the end.
DRAIN_NS = 60_000_000_000
#: The longest time between two looks at them.
MAX_PAUSE_S = 5


class Links:
    """The links of a plan."""

    def __init__(self, plan: "Plan", processes: "Processes") -> None:
        self.links: list[Plan] = plan["links"]
        self.virtual: bool = plan["virtual"]
        self.processes = processes
        self._tc = Tc(processes, [link["netns"] for link in self.links if link["shown"]])

    def install(self, begin: int, start: int) -> None:
        """Install all qdiscs, with one tc per namespace; traces and sessions `begin` together.

        Times are those of this clock; a link's count from `start`.  tc takes the time of day.
        """
        before, day_ns = now(), time.clock_gettime_ns(time.CLOCK_REALTIME)
        day_ns -= (before + now()) // 2  # a clock of virtual time moves when it is read
        lines: dict[str, list[list[str]]] = {}
        of_lines: dict[str, list[dict[str, str]]] = {}
        for number, link in enumerate(self.links):
            at = begin if link["start_ns"] is None else start + link["start_ns"]
            words = _words_of_qdisc(link, f"{WORK}/trace{number}", at + day_ns)
            batch = lines.setdefault(link["netns"], [])
            of = of_lines.setdefault(link["netns"], [])
            of.append({"link": link["name"], "key": "qdisc"})
            place = ["qdisc", "replace", "dev", link["dev"]]
            if link["queue"]:
                batch.append([*place, "root", "handle", "1:", *words])
                batch.append([*place, "parent", "1:1", *link["queue"]])
                of.append({"link": link["name"], "key": "queue"})
            else:
                batch.append([*place, "root", *words])
        for netns, batch in lines.items():
            self._run_tc(netns, batch, of_lines[netns])

    def _run_tc(self, netns: str, batch: list[list[str]], of_lines: list[dict[str, str]]) -> None:
        """Run tc in a namespace: in one batch, if lines can have the words as they are."""
        if all(is_plain(word) for words in batch for word in words):
            text = joined(map(" ".join, batch))
            self.processes.run(["tc", "-batch", "-"], netns, text, of_lines)
            return
        for words, whose in zip(batch, of_lines, strict=True):
            self.processes.run(["tc", *words], netns, of_lines=[whose])

    def statistics(self) -> "dict[str, Any]":
        """The statistics of every link, as tc shows them."""
        found: dict[tuple[str, str, str], dict[str, Any]] = {}
        for netns in self._tc.namespaces:
            for qdisc in self._tc.qdiscs(netns):
                found[netns, qdisc["dev"], "" if qdisc.get("root") else qdisc["parent"]] = qdisc
        result = {}
        for link in self.links:
            if link["shown"]:
                shown = result[link["name"]] = found[link["netns"], link["dev"], ""]
                if link["queue"]:
                    shown["queue"] = found[link["netns"], link["dev"], "1:1"]
        return result

    def drained_statistics(self) -> "dict[str, Any]":
        """The statistics once no link holds a packet that can still leave it."""
        end = now() + DRAIN_NS
        time.sleep(1 if self.virtual else 0.2)
        links = {link["name"]: link for link in self.links}
        pause = 0.05 if self.virtual else 0.2
        while True:
            result = self.statistics()
            moving = [
                name
                for name, qdisc in result.items()
                if _held_packets(qdisc) and not _closed_for_ever(links[name], qdisc)
            ]
            if not moving or now() > end:
                return result
            time.sleep(pause)
            pause = min(pause * 1.5, MAX_PAUSE_S)


def _words_of_qdisc(link: "Plan", trace_path: str, start_at: int) -> list[str]:
    """The tc words for a link; writes its trace to a file. `start_at`: the time of day."""
    words = list(link["words"])
    if link["trace"]:
        write(trace_path, joined(link["trace"]["lines"]))
        words += ["trace", "file", trace_path, link["trace"]["end"]]
    if link["starts"]:
        words += ["start", "at", "@{}.{:09d}".format(*divmod(start_at, 10**9))]
    return words


def is_plain(word: str) -> bool:
    """Can this word stand in a line for tc -batch as it is, without quotes?"""
    return bool(word) and not set(word) & set("\"'#\\ \t\r\n")


def _held_packets(qdisc: "dict[str, Any]") -> int:
    options = qdisc.get("stats") or qdisc
    if "line_packets" in options:
        return int(options["backlog_packets"] + options["line_packets"])
    return int(qdisc.get("qlen", 0))


def _closed_for_ever(link: "Plan", qdisc: "dict[str, Any]") -> bool:
    """Will nothing more leave this link, because its trace says rate 0 from now on?"""
    stats = qdisc.get("stats") or qdisc
    if stats.get("rate") != 0 or stats.get("line_packets") != 0 or not link["trace"]:
        return False
    steps = [line.split() for line in link["trace"]["lines"]]
    if all(rate == "0bit" for _, rate in steps):
        return True
    how_it_ends = link["trace"]["end"]
    if how_it_ends == "loop" or (how_it_ends == "hold" and steps[-1][1] != "0bit"):
        return False
    length = sum(int(duration.removesuffix("ns")) for duration, _ in steps)
    # a number above 2^53 is text
    return "epoch_ns" in stats and int(stats["now_ns"]) >= int(stats["epoch_ns"]) + length
