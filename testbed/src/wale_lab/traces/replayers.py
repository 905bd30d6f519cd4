# SPDX-License-Identifier: GPL-2.0
"""Files of other emulators: TheaterQ, LeoReplayer and CellReplay; mahimahi.py has Mahimahi's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from wale_lab import mahimahi
from wale_lab.errors import ScenarioError
from wale_lab.trace_format.step import Step
from wale_lab.trace_format.trace_file import Trace
from wale_lab.traces.samples import How, Sample
from wale_lab.traces.source import Source

#: Of a column of LeoReplayer, unless it is said: mm-delay's first argument, in its examples.
LEO_INTERVAL_NS = 10 * 10**6

_U32 = 2**32 - 1
_WHOLE = re.compile(r"-?[0-9]{1,40}")


def read_theaterq(source: Source, limit_unit: str) -> Trace:
    """KEEP us, LATENCY ns, RATE bit/s, LOSS of 2^32 - 1, LIMIT; or the extended form."""
    rows = [(n, line.strip()) for n, line in source.rows if line.strip()[0] in "0123456789"]
    left_out: set[str] = set()
    steps = [_theaterq_step(source.where(n), line, limit_unit, left_out) for n, line in rows]
    notes = []
    if left_out:
        names = " and ".join(sorted(left_out))
        notes.append(f"{names}: no column of a link's trace, left out (a link has options for it)")
    return Trace(steps, source.name, "TheaterQ", notes)


def _theaterq_step(where: str, line: str, limit_unit: str, left_out: set[str]) -> Step:
    cells = line.split(",")
    if len(cells) not in (5, 8, 9, 10):
        raise ScenarioError(
            f"{where}: expected KEEP,LATENCY,RATE,LOSS,LIMIT or the extended form with 8 to 10 "
            f"columns, got {len(cells)}"
        )
    if not all(_WHOLE.fullmatch(cell.strip()) for cell in cells):
        raise ScenarioError(f"{where}: expected whole numbers, got {line!r}")
    numbers = [int(cell) for cell in cells]
    if len(numbers) == 5:
        keep, delay, rate, loss, limit = numbers
    else:
        keep, delay, jitter, rate, loss, limit, duplicate = numbers[:7]
        left_out |= {name for name, on in (("jitter", jitter), ("duplicates", duplicate)) if on}
    if keep < 1 or delay < 0 or rate < -1 or not 0 <= loss <= _U32 or limit < 0:
        raise ScenarioError(
            f"{where}: expected KEEP from 1 on, LATENCY from 0, RATE from -1, LOSS from 0 to "
            f"{_U32}, LIMIT from 0, got {line!r}"
        )
    return Step(
        keep * 1000,
        rate_bps=None if rate < 0 else round(rate / 8) * 8,  # -1: none
        delay_ns=delay,
        loss=loss / _U32,
        limit=f"{limit or _U32}{limit_unit}",  # 0: none
    )


def read_leo_delays(source: Source, how: How) -> list[Sample]:
    """A delay in ms on each line, of one direction, at equal intervals."""
    interval = how.interval_ns or LEO_INTERVAL_NS
    samples = []
    for n, (number, line) in enumerate(source.rows):
        samples.append(Sample(number, n * interval, Step(0, delay_ns=_ms(source, number, line))))
    return samples


def read_trains(source: Source) -> list[Sample]:
    """CellReplay's first file: a time in ms, the delay in ms, and light opportunities."""
    samples = []
    for number, line in source.rows:
        words = line.split()
        if len(words) < 2:
            raise ScenarioError(
                f"{source.where(number)}: expected a time and a delay in ms, got {line!r}"
            )
        time = _ms(source, number, words[0])
        samples.append(Sample(number, time, Step(0, delay_ns=_ms(source, number, words[1]))))
    return samples


def _ms(source: Source, number: int, word: str) -> int:
    text = word.strip()
    if not re.fullmatch(r"\d{1,15}(\.\d{1,9})?", text, re.ASCII):
        raise ScenarioError(f"{source.where(number)}: expected a time in ms, got {text!r}")
    return round(Fraction(text) * 10**6)


def read_mahimahi(source: Source, step: str, packet: str, from_start: bool) -> Iterator[Step]:
    """The rate of each step of a Mahimahi trace."""
    times = mahimahi.times_of(source.name, source.text.split("\n"))
    found = mahimahi.converted(source.name, times, *mahimahi.options_of(step, packet), from_start)
    return (Step(duration * 10**6, rate_bps=rate * 8) for duration, rate in found)


def rises(source: Source) -> bool:
    """Whether a file is times that do not fall, as Mahimahi's are: a delay falls at some time."""
    last = -1
    for _, line in source.rows:
        text = line.strip()
        if not text.isdigit() or int(text) < last:
            return False
        last = int(text)
    return True


def together(rates: list[Step], delays: list[Step]) -> Iterator[Step]:
    """Rates with the delays of the same times; delays begin again until the rates end."""
    n = 0
    left = delays[0].duration_ns
    for rate in rates:
        todo = rate.duration_ns
        while todo:
            part = min(todo, left)
            delay = delays[n]
            yield Step(part, rate.rate_bps, delay.delay_ns, down=rate.down or delay.down)
            todo, left = todo - part, left - part
            if not left:
                n = (n + 1) % len(delays)
                left = delays[n].duration_ns
