# SPDX-License-Identifier: GPL-2.0
"""Tables of measurements: columns with names, or "time Mbit/s" without.

A name says what a column is, its direction and its unit: `DL_bitrate`, `Throughput (Mbps)`,
`rtt_ms`, `Packet loss [%]`.  What a name does not say, `--column KIND=NAME:UNIT` does.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from itertools import islice

from wale_lab import units
from wale_lab.errors import ScenarioError
from wale_lab.trace_format.step import Step
from wale_lab.traces.samples import Sample
from wale_lab.traces.source import Source

KINDS = ("time", "rate", "delay", "rtt", "loss", "limit")

#: Words in the name of a column: the first kind that has one of them is the column's.
_WORDS = {
    "loss": {"loss", "pingloss", "plr", "lossrate"},
    "limit": {"limit", "queue", "buffer", "qlen"},
    "rtt": {"rtt", "ping", "pingavg", "srtt", "roundtrip"},
    "delay": {"delay", "latency", "owd"},
    "rate": {
        "bitrate", "throughput", "tput", "thput", "thp", "bandwidth", "bw", "rate", "capacity",
        "goodput", "datarate",
    },
    "time": {"time", "timestamp", "elapsed", "elapsedtime", "date", "datetime", "epoch", "t", "ts"},
}  # fmt: skip
_DOWN = {"dl", "down", "downlink", "download", "downstream", "rx"}
_UP = {"ul", "up", "uplink", "upload", "upstream", "tx"}
#: Of a quantity something else than its value.
_OTHER = {"min", "max", "std", "stdev", "stddev", "mdev", "var", "jitter", "pingmin", "pingmax"}

#: The units of a time in ns, with more words for them than a scenario has, and without those that
#: are letters of other words in the name of a column.
_TIMES_NS = {
    **{name: ns for name, ns in units.TIMES_NS.items() if name not in ("h", "d")},
    **dict.fromkeys(("second", "seconds"), 10**9),
    **dict.fromkeys(("millisecond", "milliseconds", "millis"), 10**6),
    **dict.fromkeys(("microsecond", "microseconds", "µs", "μs"), 10**3),
    **dict.fromkeys(("nanosecond", "nanoseconds"), 1),
    **dict.fromkeys(("minute", "minutes"), 60 * 10**9),
}
_RATE = re.compile(r"([kKmMgGtT]?)([Bb]its?|b|B|[Bb]ytes?)(ps|/s|/sec|)")
#: Characters of a number, of which Python reads no more than 4300 digits.
_LONGEST = 400
_MISSING = {"", "-", "--", "nan", "na", "n/a", "null", "none", "?"}
#: A time of day without its date.
_OF_DAY = re.compile(r"(\d{1,2}):(\d\d):(\d\d(?:[.,]\d{1,18})?)", re.ASCII)
_DATES = ("%Y.%m.%d_%H.%M.%S", "%Y/%m/%d %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%Y-%m-%d_%H-%M-%S")


@dataclass(frozen=True)
class Column:
    """A column that is read."""

    kind: str
    name: str
    index: int
    unit: Fraction | None  # of a value, in ns, bit/s, or 1; None: a time says itself what it is
    limit: str = ""  # of a limit: p or b


@dataclass(frozen=True)
class Choice:
    """What --column says of a kind."""

    name: str = ""  # "": the one that its name says
    unit: str = ""


def choices_of(words: Sequence[str]) -> dict[str, Choice]:
    """The options --column, each KIND=NAME[:UNIT]."""
    found = {}
    for word in words:
        kind, _, rest = word.partition("=")
        name, _, unit = rest.rpartition(":") if ":" in rest else (rest, "", "")
        if kind not in KINDS or not rest:
            raise ScenarioError(
                f"--column: expected KIND=NAME, KIND=NAME:UNIT or KIND=:UNIT, where KIND is "
                f"{', '.join(KINDS)}, got {word!r}"
            )
        found[kind] = Choice(name, unit)
    return found


def read_columns(
    source: Source, choices: dict[str, Choice], direction: str, only: Collection[str] = ()
) -> tuple[list[Sample], list[str]]:
    """The measurements of a table, and notes on what is left out of it."""
    first_line, first = next(_table(source), (0, []))
    if not first:
        raise ScenarioError(f"{source.name}: there are no measurements in it")
    if has_names := not any(_number(cell) is not None for cell in first):
        columns = _columns(source.where(first_line), first, choices, direction, only)
    elif above := _names_above(source, len(first)):
        columns = _columns(source.name, above, choices, direction, only)
    else:
        names = [str(n) for n in range(1, len(first) + 1)]
        columns = _without_names(source, names, choices, direction)
    empty = _empty(islice(_table(source), has_names, None), columns, choices)
    if len(empty) == len(columns) - 1:
        raise ScenarioError(f"{source.name}: there is no value in {_listed(empty)}")
    used = [column for column in columns if column not in empty]
    samples = [_sample(source, used, row) for row in islice(_table(source), has_names, None)]
    return samples, [f"{_listed([column])}: no value in any row, left out" for column in empty]


def _empty(
    rows: Iterable[tuple[int, list[str]]], columns: list[Column], choices: Collection[str]
) -> list[Column]:
    """Columns without a value in any row, unless the user asks for them."""
    left = [column for column in columns if column.kind not in ("time", *choices)]
    for _, cells in rows:
        left = [column for column in left if cells[column.index].lower() in _MISSING]
        if not left:
            break
    return left


def _listed(columns: list[Column]) -> str:
    return ", ".join(f"column {column.name!r}" for column in columns)


def _names_above(source: Source, width: int) -> list[str]:
    """The names in a comment above the first row, if there are as many, of a time and a value."""
    number = source.rows[0][0]
    for line in reversed(source.text.split("\n", number - 1)[: number - 1]):
        text = line.strip().lstrip("#").strip()
        delimiter = _delimiter(text)
        # a unit in brackets belongs to the name before it
        names = text.split(delimiter) if delimiter else re.split(r"\s+(?![(\[])", text)
        kinds = {_kind(_tokens(name)) for name in names} - {None}
        if len(names) == width and "time" in kinds and len(kinds) > 1:
            return [name.strip().strip('"') for name in names]
    return []


def _without_names(
    source: Source, names: list[str], choices: dict[str, Choice], direction: str
) -> list[Column]:
    if choices:
        return _columns(source.name, names, choices, direction)
    if len(names) != 2:
        raise ScenarioError(
            f"{source.name}: expected two columns without names, a time in s and a rate in "
            f"Mbit/s, got {len(names)}: --column says what they are, such as "
            "--column time=1:s --column rate=3:kbit"
        )
    return [
        Column("time", "1", 0, Fraction(10**9)),
        Column("rate", "2", 1, Fraction(10**6)),
    ]


def _delimiter(line: str) -> str | None:
    """What separates the cells of a line; None: blanks."""
    line = re.sub(r'"[^"]*("|$)', "_", line)
    for one in (";", "\t"):
        if one in line:
            return one
    words = line.split()
    if "," not in line:
        return None
    decimal = len(words) > 1 and all(_number(word, comma=True) is not None for word in words)
    return None if decimal else ","


def _cells(source: Source, delimiter: str | None) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row, and its first line: in quotation marks there may be several."""
    rows = source.rows
    if delimiter is None:
        yield from ((number, line.split()) for number, line in rows)
        return
    lines = (line + "\n" for _, line in rows)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    while (begin := reader.line_num) < len(rows):
        where = source.where(rows[begin][0])
        try:
            cells = next(reader)
        except csv.Error as error:
            raise ScenarioError(f"{where}: not a row of a table: {error}") from None
        end = reader.line_num
        if end > begin + 1 and sum(line.count('"') for _, line in rows[begin:end]) % 2:
            raise ScenarioError(f"{where}: a quotation mark is not closed")
        yield rows[begin][0], cells


def _table(source: Source) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table with as many cells as the first one has, and their lines."""
    if not source.rows:
        return
    delimiter = _delimiter(source.rows[0][1])
    width = 0
    for number, found in _cells(source, delimiter):
        cells = [" ".join(cell.split()) for cell in found]
        while width and len(cells) > width and not cells[-1]:
            cells.pop()
        width = width or len(cells)
        if len(cells) != width:
            raise ScenarioError(
                f"{source.where(number)}: expected {width} columns, as in line "
                f"{source.rows[0][0]}, got {len(cells)}"
            )
        if delimiter != ",":
            cells = [re.sub(r"(?<=\d),(?=\d+(e|$))", ".", cell, count=1) for cell in cells]
        yield number, cells


def _tokens(name: str) -> list[str]:
    """The words of a name, with their case."""
    spaced = re.sub(r"(?<=[a-z]{2})(?=[A-Z])|(?<=[A-Z]{2})(?=[A-Z][a-z]{3})", " ", name)
    spaced = re.sub(r"[\s_]per[\s_]s(ec(ond)?)?(?![a-z])", "/s", spaced, flags=re.IGNORECASE)
    return re.findall(r"[A-Za-zµμ]+(?:/s(?:ec)?(?![A-Za-z]))?|%", spaced)


def _kind(tokens: list[str]) -> str | None:
    words = {token.lower() for token in tokens}
    if words & _OTHER:
        return None
    for kind, of_it in _WORDS.items():
        if words & of_it:
            return kind
    if tokens and all(token in _TIMES_NS for token in tokens):
        return "time"
    if any(_rate_unit(token) and token.endswith(("ps", "/s", "/sec")) for token in tokens):
        return "rate"
    return None


def _rate_unit(token: str) -> Fraction | None:
    """Of a rate: its unit in bit/s, if a word is one and says bits or bytes."""
    match = _RATE.fullmatch(token)
    if not match or token.lower() in ("b", "bit", "t", "g", "m", "k"):
        return None
    in_bytes = match[2] == "B" or match[2].lower().startswith("byte")
    return Fraction(1000 ** units.POWERS[match[1].lower()] * (8 if in_bytes else 1))


def _unit(kind: str, tokens: list[str], name: str) -> Fraction | None:
    """The unit that a name says, in ns, bit/s, or 1."""
    if name.lower() in ("dl_bitrate", "ul_bitrate"):
        return Fraction(1000)  # G-NetTrack, and the data sets made with it
    for token in tokens:
        if kind == "rate" and (unit := _rate_unit(token)):
            return unit
        if kind in ("time", "delay", "rtt") and token.lower() in _TIMES_NS:
            return Fraction(_TIMES_NS[token.lower()])
        if kind == "loss" and token.lower() in ("%", "percent", "pct", "pingloss"):
            return Fraction(1, 100)
        if kind == "loss" and token.lower() in ("fraction", "probability"):
            return Fraction(1)
    if kind == "rtt" and any(token.lower().startswith("ping") for token in tokens):
        return Fraction(10**6)
    return None


def _limit_unit(tokens: Sequence[str]) -> str:
    for token in tokens:
        if token.lower() in ("p", "packets", "pkts", "packet"):
            return "p"
        if token.lower() in ("b", "bytes", "byte"):
            return "b"
    return ""


def _columns(
    where: str,
    names: list[str],
    choices: dict[str, Choice],
    direction: str,
    only: Collection[str] = (),
) -> list[Column]:
    """The columns of a table that are read."""
    columns = []
    for kind in KINDS:
        if only and kind != "time" and kind.replace("rtt", "delay") not in only:
            continue
        choice = choices.get(kind, Choice())
        if choice.name:
            indices = _named(where, names, choice.name)
        else:
            indices = _by_name(kind, names, direction)
        if len(indices) > 1:
            found = ", ".join(repr(names[i]) for i in indices)
            raise ScenarioError(
                f"{where}: more than one column may be the {kind}, {found}: give "
                f"{_option(kind, names[indices[0]])}, or --direction"
            )
        for index in indices:
            columns.append(_column(where, kind, names[index], index, choice))
    kinds = {column.kind for column in columns}
    if "time" not in kinds:
        raise ScenarioError(
            f"{where}: expected a column with the time, and none of {', '.join(names)} is "
            "called so: give --column time=NAME:UNIT"
        )
    if kinds == {"time"}:
        raise ScenarioError(
            f"{where}: expected a column with a rate, delay, loss or limit, and none of "
            f"{', '.join(names)} is called so: give --column rate=NAME:UNIT"
        )
    if {"delay", "rtt"} <= kinds and "delay" not in choices and "rtt" not in choices:
        columns = [column for column in columns if column.kind != "rtt"]
    return columns


def _option(kind: str, name: str, unit: str = "") -> str:
    """The option that says what a column is, as a shell takes it."""
    return f"--column {shlex.quote(f'{kind}={name}{unit}')}"


def _named(where: str, names: list[str], name: str) -> list[int]:
    lower = [each.lower() for each in names]
    wanted = " ".join(name.lower().split())
    if wanted in lower:
        return [lower.index(wanted)]
    if name.isdigit() and 1 <= int(name) <= len(names):
        return [int(name) - 1]
    raise ScenarioError(f"{where}: expected a column {name!r}, and there are {', '.join(names)}")


def _by_name(kind: str, names: list[str], direction: str) -> list[int]:
    """Columns of a kind by their names: those of the direction, or else those of none."""
    wanted, other = (_DOWN, _UP) if direction == "down" else (_UP, _DOWN)
    mine: list[int] = []
    both: list[int] = []
    for index, name in enumerate(names):
        tokens = _tokens(name)
        words = {token.lower() for token in tokens}
        if _kind(tokens) != kind or words & other:
            continue
        (mine if words & wanted else both).append(index)
    return mine or both


def _column(where: str, kind: str, name: str, index: int, choice: Choice) -> Column:
    tokens = [choice.unit] if choice.unit else _tokens(name)
    if kind == "limit":
        if unit := _limit_unit(tokens):
            return Column(kind, name, index, Fraction(1), unit)
        example = "packets, or bytes"
    else:
        found = _unit(kind, tokens, "" if choice.unit else name)
        if found is not None or (kind == "time" and not choice.unit):
            return Column(kind, name, index, found)
        example = {
            "time": "s, ms, us or ns",
            "rate": "kbit, Mbit, Mbps or MB/s",
            "loss": "%, or fraction",
        }.get(kind, "s, ms, us or ns")
    what = f"{choice.unit!r} is no unit of a {kind}" if choice.unit else "its name has no unit"
    raise ScenarioError(
        f"{where}: column {name!r}: {what}: give {_option(kind, name, ':UNIT')}, with the unit "
        f"{example}"
    )


def _number(cell: str, comma: bool = False) -> Fraction | None:
    """A number, or None for anything else, such as nan or a date."""
    text = re.sub(r",(?=\d)", ".", cell, count=1) if comma else cell
    if len(text) > _LONGEST:
        return None
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", text, re.ASCII):
        return None
    return Fraction(text)


def _sample(source: Source, columns: list[Column], row: tuple[int, list[str]]) -> Sample:
    line, cells = row
    time_ns, missing = 0, None
    values: dict[str, int | float | str] = {}
    for column in columns:
        cell = cells[column.index]
        where = f"{source.where(line)}: column {column.name!r}"
        if column.kind == "time":
            time_ns = _time(where, cell, column.unit)
        elif cell.lower() in _MISSING:
            missing = missing or repr(column.name)
        else:
            name, value = _READ[column.kind](where, cell, column)
            values[name] = value
    return Sample(line, time_ns, Step(0, **values), missing)  # type: ignore[arg-type]


def _time(where: str, cell: str, unit: Fraction | None) -> int:
    number = _number(cell)
    if number is not None:
        return round(number * (unit or _unit_of_clock(number)))
    if of_day := _OF_DAY.fullmatch(cell):
        hours, minutes, seconds = (Fraction(part.replace(",", ".")) for part in of_day.groups())
        return round((hours * 3600 + minutes * 60 + seconds) * 10**9)
    date = _date(cell)
    if date is None:
        raise ScenarioError(f"{where}: expected a time, got {cell!r}")
    since = date - datetime(1970, 1, 1, tzinfo=UTC)
    return ((since.days * 86400 + since.seconds) * 10**6 + since.microseconds) * 1000


def _unit_of_clock(number: Fraction) -> int:
    """The unit of a time without one: s, or what makes a time of day of a large number."""
    for unit, least in ((1, 10**17), (10**3, 10**14), (10**6, 10**11)):
        if number >= least:
            return unit
    return 10**9


def _date(cell: str) -> datetime | None:
    tries: list[Callable[[str], datetime]] = [datetime.fromisoformat]
    tries += [lambda text, form=form: datetime.strptime(text, form) for form in _DATES]  # type: ignore[misc]
    for read in tries:
        try:
            date = read(cell)
        except ValueError:
            continue
        return date if date.tzinfo else date.replace(tzinfo=UTC)
    return None


def _value(where: str, cell: str, what: str) -> Fraction:
    number = _number(cell)
    if number is None or number < 0:
        raise ScenarioError(f"{where}: expected {what} from 0 on, got {cell!r}")
    return number


def _rate(where: str, cell: str, column: Column) -> tuple[str, int]:
    assert column.unit
    return "rate_bps", round(_value(where, cell, "a rate") * column.unit / 8) * 8


def _delay(where: str, cell: str, column: Column) -> tuple[str, int]:
    assert column.unit
    delay = _value(where, cell, "a delay") * column.unit
    return "delay_ns", round(delay / 2 if column.kind == "rtt" else delay)


def _loss(where: str, cell: str, column: Column) -> tuple[str, float]:
    unit = Fraction(1, 100) if cell.endswith("%") else column.unit
    assert unit
    loss = _value(where, cell.removesuffix("%").rstrip(), "a share of packets") * unit
    if loss > 1:
        raise ScenarioError(f"{where}: expected a share of packets up to all, got {cell!r}")
    return "loss", float(loss)


def _limit(where: str, cell: str, column: Column) -> tuple[str, str]:
    limit = _value(where, cell, "a buffer")
    if limit != int(limit) or limit < 1:
        raise ScenarioError(f"{where}: expected a whole number from 1 on, got {cell!r}")
    return "limit", f"{int(limit)}{column.limit}"


_READ: dict[str, Callable[[str, str, Column], tuple[str, int | float | str]]] = {
    "rate": _rate,
    "delay": _delay,
    "rtt": _delay,
    "loss": _loss,
    "limit": _limit,
}
