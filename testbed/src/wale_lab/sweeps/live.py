# SPDX-License-Identifier: GPL-2.0
"""What a sweep says while its runs are made: how long it takes, and what came out so far."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wale_lab.errors import ScenarioError
from wale_lab.programs import Program
from wale_lab.scenario import Scenario
from wale_lab.studies.schedule import show_span
from wale_lab.sweeps.points import Point
from wale_lab.sweeps.results import Results
from wale_lab.units import UNLIMITED, show_count

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

#: Between two lines that say how far it is, where there is no terminal, seconds.
_SAY_EACH_S = 15
#: Tables and picture are written anew after this, seconds, and take at most this share of the time.
_REFRESH_EACH_S = 5
_REFRESH_SHARE = 0.05
#: Lines of the table in a terminal.
_ROWS = 16

#: What a run takes of a core: its set-up, as long as none was measured, and each packet of data
#: with what answers it, seconds.
_SETUP_S = 0.45
_PACKET_S = 12e-6
_PACKET_BYTES = 1500


def expected_s(packets: list[float], jobs: int) -> float:
    """How long runs with so many packets of data will take, roughly, before any has been made."""
    total = _SETUP_S * len(packets) + _PACKET_S * sum(packets)
    return total / max(min(jobs, len(packets), os.cpu_count() or 1), 1)


def left_s(elapsed_s: float, jobs: int, done: list[float], left: list[float]) -> float:
    """How long the other runs will take, if some took so long together.

    Of each run, the packets of data that are expected are given.  What those that are done took
    beside their packets was set-up, which is the same for each; if they took less than that, each
    packet takes less.
    """
    spent_s = elapsed_s * jobs
    packet_s = min(_PACKET_S, spent_s / max(sum(done), 1))
    setup_s = (spent_s - packet_s * sum(done)) / len(done)
    return (setup_s * len(left) + packet_s * sum(left)) / jobs


def packets_of(points: list[Point]) -> list[float]:
    """The packets of data that are expected of each run; many runs have the same scenario."""
    known: dict[int, float] = {}
    for point in points:
        if id(point.scenario) not in known:
            known[id(point.scenario)] = _packets(point.scenario)
    return [known[id(point.scenario)] for point in points]


def _packets(scenario: Scenario) -> float:
    """The packets of data that flows would send that fill their links."""
    links, found = scenario.links(), 0.0
    busiest: dict[str, float] = {}
    for flow in scenario.flows:
        if isinstance(flow, Program):
            continue
        if flow.size:
            found += flow.size / _PACKET_BYTES
            continue
        way = scenario.way(flow)
        rates = [links[name][1].rate for name in way if links[name][1].rate != UNLIMITED]
        seconds = (flow.duration or 0) / 1e9
        packets = min(map(float, rates), default=0.0) / 8 / _PACKET_BYTES * seconds
        key = "" if scenario.isolate else way[0] if way else ""
        if scenario.isolate:
            found += packets
        else:
            busiest[key] = max(busiest.get(key, 0.0), packets)
    return found + sum(busiest.values())


class Live:
    """What is shown while runs are made, and the files that show what came out so far."""

    def __init__(self, results: Results, out: Path, quiet: bool) -> None:
        self.results = results
        self.out = out
        self.quiet = quiet
        self.total = len(results.points)
        self.there = self.total - len(results.missing())
        self.said = time.monotonic()
        self.refresh_at = self.said + _REFRESH_EACH_S
        self.shown = False  # files with first results are there
        self.first: tuple[float, int] | None = None  # when the first were done, and how many
        self.packets: list[float] = []  # of the missing runs, in the order in which they are made
        self.jobs = 1
        self.screen: Any = None

    def begin(self, missing: list[Point], jobs: int) -> None:
        """Say what is to be done, in this order, and how long that takes."""
        if self.quiet:
            return
        self.packets = packets_of(missing)
        self.jobs = min(jobs, len(missing) or 1)
        text = f"{show_count(self.total, 'run')}, {self.there} done"
        if missing:
            text += f", {self.jobs} at once, about {show_span(expected_s(self.packets, jobs))}"
        print(f"wale-lab: {text}", file=sys.stderr, flush=True)

    @contextmanager
    def running(self) -> Iterator[Live]:
        """While runs are made: a table and a bar in a terminal."""
        self.said = time.monotonic()
        if self.quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
            yield self
            return
        with _Screen(self.total, self.there) as self.screen:
            yield self
        self.screen = None

    def tell(self, done: int) -> None:
        """So many of those that were missing were made, or failed."""
        now = time.monotonic()
        if self.screen is not None:
            self.screen.advance(self.there + done)
        elif not self.quiet and done and now - self.said >= _SAY_EACH_S:
            self.said = now
            text = f"{self.there + done} of {show_count(self.total, 'run')}{self._left(now, done)}"
            print(f"wale-lab: {text}", file=sys.stderr, flush=True)
        self.refresh()

    def _left(self, now: float, done: int) -> str:
        """How long the others take, once there are some beside the first, which take longer."""
        if self.first is None:
            self.first = now, done
        began, before = self.first
        if done == before:
            return ""
        these, others = self.packets[before:done], self.packets[done:]
        return f", about {show_span(left_s(now - began, self.jobs, these, others))} left"

    def refresh(self) -> None:
        """Write what is known so far, if that is due."""
        began = time.monotonic()
        if began < self.refresh_at:
            return
        self.results.take(self.results.missing())
        files = self.results.write(self.out, all_of_it=False)
        with suppress(ScenarioError):  # the measure of the picture: a run to come may have it
            files += self.results.draw(self.out)
        if self.screen is not None and (means := self.results.means()) is not None:
            self.screen.show(means, self.results)
        if files and not self.shown and not self.quiet and self.screen is None:
            self.shown = True
            print(f"wale-lab: first results in {files[-1]}", file=sys.stderr, flush=True)
        took = time.monotonic() - began
        self.refresh_at = began + took + max(_REFRESH_EACH_S, took / _REFRESH_SHARE)


class _Screen:
    """The table of what came out so far, and a bar, in a terminal."""

    def __init__(self, total: int, there: int) -> None:
        from rich.console import Console, Group
        from rich.live import Live as RichLive
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._group = Group
        self.bar = Progress(*columns)
        self.task = self.bar.add_task("runs", total=total, completed=there)
        self.live = RichLive(self.bar, console=Console(stderr=True), transient=True)

    def __enter__(self) -> _Screen:
        self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()

    def advance(self, done: int) -> None:
        """So many are there."""
        self.bar.update(self.task, completed=done)

    def show(self, means: pd.DataFrame, results: Results) -> None:
        """The means so far, above the bar."""
        self.live.update(self._group(table_of(means, results), self.bar))


def table_of(means: pd.DataFrame, results: Results) -> Table:
    """The means of the measure of the picture, the first of them."""
    from rich.table import Table

    chosen = means[(means.kind == results.kind) & (means.measure == results.y)]
    names = list(results.grid.dimensions)
    found = Table(caption=f"{len(chosen) - _ROWS} more" if len(chosen) > _ROWS else None)
    for name in (*names, results.kind):
        found.add_column(name)
    for name in (results.y, "± 95 %", "runs"):
        found.add_column(name, justify="right")
    for row in chosen.head(_ROWS).to_dict("records"):
        width = "" if row["ci95"] != row["ci95"] else f"{row['ci95']:.4g}"
        cells = [*(str(row[name]) for name in names), row["name"]]
        found.add_row(*cells, f"{row['mean']:.6g}", width, str(row["count"]))
    return found
