# SPDX-License-Identifier: GPL-2.0
"""Which files make which traces: one format's reader each, and pairs of files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from wale_lab.errors import ScenarioError
from wale_lab.trace_format.step import only
from wale_lab.trace_format.trace_file import Trace, read_trace
from wale_lab.traces.arguments import FORMATS
from wale_lab.traces.columns import Choice, read_columns
from wale_lab.traces.replayers import (
    read_leo_delays,
    read_mahimahi,
    read_theaterq,
    read_trains,
    rises,
    together,
)
from wale_lab.traces.samples import How, steps_of
from wale_lab.traces.source import Source, looks_like, read_source
from wale_lab.traces.tools import read_iperf3, read_irtt, read_ping

_LIGHT = "its light opportunities: no column of a link's trace, left out"

#: What an opportunity of each emulator delivers (PACKET_SIZE in its source), less what TUN adds.
PACKETS = {"mahimahi": "1500", "leoreplayer": "1500", "cellreplay": "1400"}


@dataclass(frozen=True)
class Options:
    """What the user says of the files."""

    format: str | None = None
    step: str = "100ms"
    packet: str | None = None  # as usual for the format
    direction: str = "down"
    limit_unit: str = "p"
    choices: dict[str, Choice] = field(default_factory=dict)
    how: How = field(default_factory=How)
    only: frozenset[str] = frozenset()  # columns of a trace; none are all


def format_of(path: Path, options: Options) -> str:
    """The format of a file: what the user says, or its content."""
    found = options.format or ("csv" if options.choices else looks_like(path))
    if found is None:
        raise ScenarioError(
            f"{path}: its format is not known: --from says it, one of {', '.join(FORMATS)}"
        )
    return found


def import_files(paths: list[Path], options: Options) -> dict[str, Trace]:
    """The traces in files, by their direction; "" if there is one for either."""
    traces = _import(paths, options)
    for trace in traces.values():
        if options.only:
            trace.steps = (only(step, options.only) for step in trace.steps)
    return traces


def _import(paths: list[Path], options: Options) -> dict[str, Trace]:
    if len(paths) == 1:
        return {"": _one(paths[0], format_of(paths[0], options), options)}
    kinds = [looks_like(path) for path in paths]
    train = options.format == "cellreplay" or "cellreplay" in kinds
    if len(paths) == 4 and train:
        up, down, up_rates, down_rates = map(read_source, paths)
        return {"up": _cell(up, up_rates, options), "down": _cell(down, down_rates, options)}
    if len(paths) == 2 and train:
        return {"": _cell(read_source(paths[0]), read_source(paths[1]), options)}
    if len(paths) == 2 and (options.format == "leoreplayer" or kinds == ["mahimahi"] * 2):
        return _two(read_source(paths[0]), read_source(paths[1]), options)
    raise ScenarioError(
        f"{paths[1]}: expected one file, or Mahimahi's up and down, LeoReplayer's bandwidth and "
        "delay, CellReplay's DELAY PDO or UP DOWN UP-PDO DOWN-PDO"
    )


def _two(first: Source, second: Source, options: Options) -> dict[str, Trace]:
    """Mahimahi's up and down; or LeoReplayer's bandwidth and delay, of which that falls."""
    if options.format is None and not rises(first) and rises(second):
        first, second = second, first
    if options.format == "mahimahi" or (options.format is None and rises(second)):
        return {"up": _mahimahi(first, options), "down": _mahimahi(second, options)}
    rates = _mahimahi(first, options, "leoreplayer")
    how = options.how
    delays = list(steps_of(second.name, read_leo_delays(second, how), how))
    about = f"LeoReplayer, {rates.about}, delays of {second.path.name}"
    return {"": Trace(together(list(rates.steps), delays), first.name, about)}


def _cell(train: Source, pdo: Source, options: Options) -> Trace:
    rates = _mahimahi(pdo, options, "cellreplay")
    delays = list(steps_of(train.name, read_trains(train), options.how))
    about = f"CellReplay, heavy opportunities of {pdo.path.name}, {rates.about}"
    return Trace(together(list(rates.steps), delays), train.name, about, [_LIGHT])


def _mahimahi(source: Source, options: Options, emulator: str = "mahimahi") -> Trace:
    packet = options.packet or PACKETS[emulator]
    steps = read_mahimahi(source, options.step, packet, options.how.from_start)
    about = f"packets of {packet} bytes, steps of {options.step}"
    return Trace(steps, source.name, about)


def _one(path: Path, name: str, options: Options) -> Trace:
    source = read_source(path)
    how = options.how
    if name == "theaterq":
        return read_theaterq(source, options.limit_unit)
    if name == "mahimahi":
        return _mahimahi(source, options)
    if name == "leoreplayer":
        raise ScenarioError(f"{path}: expected a second file, with LeoReplayer's delays")
    if name == "wale":
        return Trace(read_trace(source.name, source.text.split("\n"))[0], source.name)
    if name == "iperf3":
        return read_iperf3(source, options.direction)
    about, notes = "", []
    if name == "irtt":
        samples, about = read_irtt(source), "irtt, half of each round trip"
    elif name == "ping":
        samples, about = read_ping(source, how), "ping, half of each round trip"
    elif name == "cellreplay":
        samples, about, notes = read_trains(source), "CellReplay, delays alone", [_LIGHT]
    else:
        samples, notes = read_columns(source, options.choices, options.direction, options.only)
    return Trace(list(steps_of(source.name, samples, how)), source.name, about, notes)
