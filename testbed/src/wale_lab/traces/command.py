# SPDX-License-Identifier: GPL-2.0
"""`wale-lab trace`: files of other tools as traces of ours; makes traces, and draws them."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

from wale_lab import mahimahi, units
from wale_lab.errors import ScenarioError
from wale_lab.files import errors_name
from wale_lab.trace_format.text import one_line
from wale_lab.trace_format.trace_file import Trace, checked, written
from wale_lab.traces.arguments import given, making, reading
from wale_lab.traces.columns import choices_of
from wale_lab.traces.imports import PACKETS, Options, format_of, import_files
from wale_lab.traces.samples import How

#: What a picture may be, by the end of its name.
_PICTURES = (".png", ".svg", ".pdf")


def trace_command(args: argparse.Namespace) -> int:
    """The subcommand."""
    verb = _VERBS.get(args.words[0], _convert)
    makes = verb is _make
    if option := given(args, reading if makes else making):
        what = "files of other tools" if makes else "trace make"
        raise ScenarioError(f"{option}: expected it with {what} alone")
    return verb(args)


def _time(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        time_ns = units.parse_time_ns(text)
    except ValueError as error:
        raise ScenarioError(f"{name}: {error}") from None
    if not time_ns:
        raise ScenarioError(f"{name}: expected a time above 0, got {text!r}")
    return time_ns


def _options(args: argparse.Namespace) -> Options:
    return Options(
        format=args.format,
        step=args.step,
        packet=args.packet,
        direction=args.direction,
        limit_unit=args.limit_unit[0],
        choices=choices_of(args.column),
        how=How(args.from_start, args.gaps, _time("--interval", args.interval)),
        only=frozenset(args.only),
    )


def _convert(args: argparse.Namespace) -> int:
    paths = [Path(word) for word in args.words]
    packet = args.packet or PACKETS["mahimahi"]
    mahimahi.options_of(args.step, packet)
    options = _options(args)
    if len(paths) == 1 and not args.only and format_of(paths[0], options) == "mahimahi":
        # as lines, one by one: millions of them are usual
        _write(args.out, mahimahi.convert(paths[0], args.step, packet, args.from_start))
        return 0
    traces = import_files(paths, options)
    if len(traces) > 1 and args.out is None:
        what = "" if args.format else " (if the second file is delays, --from leoreplayer)"
        raise ScenarioError(f"two directions: expected --out NAME, for NAME.up and NAME.down{what}")
    found = {way: (trace, checked(trace)) for way, trace in traces.items()}
    for way, (trace, steps) in found.items():
        _tell(trace, args)
        out = args.out if not way else args.out.with_name(f"{args.out.name}.{way}")
        _write(out, written(trace, steps))
    return 0


def _tell(trace: Trace, args: argparse.Namespace) -> None:
    for note in trace.notes:
        if not args.quiet:
            print(f"wale-lab: {trace.name}: {note}", file=sys.stderr)


def _write(out: Path | None, lines: Iterable[str]) -> None:
    if out is None:
        sys.stdout.writelines(lines)
        return
    with errors_name(out), out.open("w", encoding="utf-8") as file:
        file.writelines(lines)


def _make(args: argparse.Namespace) -> int:
    """`trace make MODEL`."""
    from wale_lab.traces.make import USUAL, Wish, make_trace

    if len(args.words) != 2 or args.words[1] not in USUAL:
        raise ScenarioError(f"trace make: expected one of {', '.join(USUAL)}")
    model = args.words[1]
    mean_bps, delay_ns = USUAL[model]
    words = [model, "--seed", str(args.seed), "--seconds", str(args.seconds)]
    if args.mean is not None:
        mean_bps = _mean(args.mean)
        words += ["--mean", args.mean]
    if args.delay is not None:
        delay_ns = _delays(args.delay)
        words += ["--delay", args.delay]
    if not 1 <= args.seconds <= 86400:
        raise ScenarioError(f"--seconds: expected 1 to 86400, got {args.seconds}")
    trace = make_trace(Wish(model, args.seed, args.seconds, mean_bps, delay_ns))
    trace.name = f"wale-lab trace make {shlex.join(words)}"
    _write(args.out, written(trace, checked(trace)))
    return 0


def _mean(text: str) -> int:
    try:
        rate = units.parse_rate_bps(text)
    except ValueError as error:
        raise ScenarioError(f"--mean: {error}") from None
    if not 10**4 <= rate <= 10**12:
        raise ScenarioError(f"--mean: expected a rate from 10 kbit/s to 1 Tbit/s, got {text!r}")
    return rate


def _delays(text: str) -> tuple[int, int]:
    """A range of delays."""
    low, dots, high = text.partition("..")
    try:
        found = units.parse_time_ns(low), units.parse_time_ns(high if dots else low)
    except ValueError as error:
        raise ScenarioError(f"--delay: {error}") from None
    if not found[0] <= found[1] <= 10 * 10**9:
        raise ScenarioError(f"--delay: expected LEAST..MOST of at most 10s, got {text!r}")
    return found


def _plot(args: argparse.Namespace) -> int:
    """`trace plot FILE`."""
    from wale_lab.traces.picture import draw

    if len(args.words) != 2:
        raise ScenarioError("trace plot: expected a file")
    path = Path(args.words[1])
    out = args.out or Path(f"{path.name}.png")
    if out.suffix not in _PICTURES:
        raise ScenarioError(
            f"--out: expected a name that ends in {', '.join(_PICTURES)}, got {out}"
        )
    traces = import_files([path], _options(args))
    draw(path.name, checked(traces[""]), out)
    if not args.quiet:
        print(one_line(str(out)))
    return 0


_VERBS = {"make": _make, "plot": _plot}
