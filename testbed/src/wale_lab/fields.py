# SPDX-License-Identifier: GPL-2.0
"""The types of a scenario's fields: text with units in, integers of the kernel interface out."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasGenerator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import CoreSchema

from wale_lab import options, units
from wale_lab.options import Option
from wale_lab.trace_format.step import Step as LinkStep
from wale_lab.trace_format.step import column_of, parse_step

#: Of every part of a scenario: unknown keys are errors.
STRICT = ConfigDict(extra="forbid", use_attribute_docstrings=True, frozen=True)


def _ways(name: str) -> AliasChoices:
    """How a key is written: the word of now, then that which it had before."""
    return AliasChoices(options.ALIASES.get(name, name), name)


#: Of what has options of a link.  A field has the word that its option had first: settings of runs,
#: and so their digests, have it.
OPTIONS = ConfigDict(**STRICT, alias_generator=AliasGenerator(validation_alias=_ways))


def one_word(data: object) -> object:
    """Refuse an option that is given with the word of now and with its old one."""
    for old, new in options.ALIASES.items():
        if isinstance(data, dict) and old in data and new in data:
            raise ValueError(f"expected {new} once; {old} is the old word for it")
    return data


#: The highest rate of a link, how long a run may be, and what a transfer's size may be.
MAX_RATE_BPS = 8 * options.RATE_MAX
MAX_LIMIT_NS = 4000 * 86_400 * 10**9
MAX_FLOW_BYTES = 2**63 - 1
MAX_U32 = 2**32 - 1

#: What `wale get` and `wale serve` take for --batch (userspace/lib/command.h), in bytes.
BATCH_MIN = 4 << 10
BATCH_MAX = 4 << 20


def quantity(parse: Any, what: str) -> list[Any]:
    """A field type: parsed by a function of units.py, text or number in the schema."""
    schema = {"type": ["string", "number"], "quantity": what}
    return [BeforeValidator(parse), WithJsonSchema(schema)]


def _rate(value: object) -> int | str:
    if value == units.UNLIMITED:
        return units.UNLIMITED
    rate = units.parse_rate_bps(value)
    if rate > MAX_RATE_BPS:  # the parser has none between 0 and 8 bit/s
        raise ValueError(f"expected a rate from 8 bit/s to 8e15 bit/s, got {value!r}")
    return rate


def _time_limit_ns(value: object) -> int:
    limit = units.parse_time_ns(value)
    if not 1 <= limit <= MAX_LIMIT_NS:
        raise ValueError(f"expected a time above 0, of at most 4000 days, got {value!r}")
    return limit


def _flow_size(value: object) -> int:
    size = units.parse_size_bytes(value)
    if size > MAX_FLOW_BYTES:
        raise ValueError(f"expected a size from 1 to 2^63 - 1 bytes, got {value!r}")
    return size


def _batch(value: object) -> int:
    size = units.parse_size_bytes(value)
    if not BATCH_MIN <= size <= BATCH_MAX:
        raise ValueError(f"expected a batch of 4KiB to 4MiB, got {value!r}")
    return size


def _text(value: object) -> object:
    """A sysctl's value; YAML makes booleans of true, on and yes."""
    if isinstance(value, bool):
        return str(int(value))
    return str(value) if isinstance(value, int | float) else value


class Or:
    """Another way to write a field, for its JSON schema; a validator understands it."""

    def __init__(self, **schema: Any) -> None:
        self.schema = schema

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [self.schema, handler(core_schema)]}


def _split_steps(value: object) -> object:
    """Steps as pairs, from a list of "DURATION:RATE" or one text with commas."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        raise ValueError('expected a list of steps such as ["1s:2mbit", "500ms:0bit"]')
    steps = []
    for step in value:
        parts = step.split(":") if isinstance(step, str) else step
        if not isinstance(parts, list | tuple) or len(parts) != 2:
            raise ValueError(f'expected a step such as "1s:2mbit", got {step!r}')
        steps.append((parts[0], parts[1]))
    return steps


def _split_link_steps(value: object) -> object:
    """Steps with their words, from a list of "DURATION:WORD,..." or one text with all of them."""
    if isinstance(value, str):
        value = re.split(r"[,\s]+(?=[\d.][\w.+-]*\s*[A-Za-z]*\s*:)", value.strip())
    if not isinstance(value, list):
        raise ValueError('expected a list of steps such as ["1s:2mbit", "500ms:0bit"]')
    steps: list[tuple[Any, ...]] = []
    for step in value:
        duration, colon, words = step.partition(":") if isinstance(step, str) else ("", "", "")
        parts = (duration, *(w.strip() for w in words.split(","))) if colon else step
        if not isinstance(parts, list | tuple) or len(parts) < 2 or ":" in words:
            raise ValueError(f'expected a step such as "1s:2mbit" or "1s:2mbit,20ms", got {step!r}')
        steps.append(tuple(parts))
    return steps


def _with_columns(value: Any, pair: Callable[[Any], Any]) -> Any:
    """A step with more than a rate as a Step; with a rate alone it stays a pair, as in old runs."""
    if isinstance(value, LinkStep):
        return value
    words = [str(word) for word in value]
    if len(words) == 2 and column_of(words[1]) == "rate" and words[1] not in ("down", "-"):
        return pair(value)
    return parse_step([f"{units.parse_time_ns(value[0])}ns", *words[1:]])


def _write_step(step: Any) -> Any:
    """A step as it can be read again."""
    if not isinstance(step, LinkStep):
        return step
    return f"{step.duration_ns}ns:{','.join(step.words()[1:])}"


def _step(step: tuple[int, int | str]) -> tuple[int, int | str]:
    if not step[0]:
        raise ValueError("expected a duration above 0")
    if step[1] == units.UNLIMITED:
        raise ValueError("expected a finite rate")
    return step


def _link_step(step: tuple[int, int | str]) -> tuple[int, int | str]:
    if not options.TRACE_STEP_MIN <= step[0] <= options.TIME_MAX:
        raise ValueError(f"expected a duration from 1us to 1 day, got {step[0]} ns")
    return _step(step)


def _option(path: str) -> Option:
    """An option of a link, such as delay, or rem.gamma."""
    nest, _, name = path.rpartition(".")
    return (options.NESTS[nest] if nest else options.LINK)[name]


def _within(option: Option, parse: Any, scale: int = 1) -> Any:
    """A parser for numbers in the range of an option."""

    def read(value: object) -> Any:
        number = parse(value)
        if not option.least * scale <= number <= option.most * scale:
            raise ValueError(f"expected a {option.form} from {option.must}, got {value!r}")
        return number

    def read_rate(value: object) -> Any:
        return value if value == units.UNLIMITED else read(value)

    return read_rate if option.form == "rate" else read


def _number(value: float) -> int | float:
    """A bound as people write it."""
    rounded = float(f"{value:.6g}")
    return int(rounded) if rounded.is_integer() else rounded


def plain(path: str) -> list[Any]:
    """A field type: a plain option of a link, in its range."""
    option = _option(path)
    if option.form == "time":
        parse = _within(option, units.parse_time_ns)
        return quantity(parse, f"time: {option.example}; a number: seconds")
    if option.form == "size":
        parse = _within(option, units.parse_size_bytes)
        return quantity(parse, "size: 3MB, 64KiB; a number: bytes")
    if option.form == "rate":
        return quantity(_within(option, units.parse_rate_bps, 8), _RATE)
    if option.form in ("percent", "probability"):
        return quantity(units.parse_probability, "probability: 1%, 0.01")
    unit = {"millionths": 10**6, "fixed32": 2**32}.get(option.form)
    if unit:
        return [Field(ge=_number(option.least / unit), le=_number(option.most / unit))]
    return [Field(ge=option.least, le=option.most)]


def default(path: str) -> Any:
    """The value on a new link."""
    option = _option(path)
    assert option.default is not None
    if option.form in ("percent", "probability"):
        return 1.0 if option.default == options.LOSS_ALWAYS else option.default / 2**32
    return option.default / 10**6 if option.form == "millionths" else option.default


def amount(word: str, what: str) -> list[Any]:
    """A field type: so many packets, bytes or cells, as far as an option has these units."""
    units_of = {
        name.rpartition("_")[2]: option
        for name, option in options.LINK.items()
        if option.word == word
    }

    def read(value: object) -> str:
        text = units.parse_limit(value)
        number, unit = units.split_limit(text)
        if unit not in units_of:
            raise ValueError(f"expected {' or '.join(units_of)}, got {value!r}")
        if not units_of[unit].least <= number <= units_of[unit].most:
            raise ValueError(f"expected {units_of[unit].must}, got {value!r}")
        return text

    return quantity(read, f"{what}; a number: packets")


_RATE = "rate: 2mbit, 250kB/s, unlimited; a number: bit/s"
TimeNs = Annotated[int, *quantity(units.parse_time_ns, "time: 50ms, 1.5s; a number: seconds")]
Delay = Annotated[int, *plain("delay")]
TimeLimit = Annotated[int, *quantity(_time_limit_ns, "time: 5s, 2min; a number: seconds")]
Rate = Annotated[int | str, *quantity(_rate, _RATE)]
Date = Annotated[
    datetime,
    BeforeValidator(units.parse_date),
    WithJsonSchema({"type": "string", "quantity": "date: 2026-11-27, 2026-11-27T18:30:00Z"}),
]
Batch = Annotated[int, *quantity(_batch, "size: 4KiB to 4MiB; a number: bytes")]
FlowSize = Annotated[int, *quantity(_flow_size, "size: 3MB, 64KiB; a number: bytes")]
Limit = Annotated[str, *amount("limit", "buffer: 30kB, 20p, 1000 cells")]
Threshold = Annotated[
    str, *quantity(units.parse_threshold, "share of the buffer, or part of it: 90%, 27kB, 18p")
]
Probability = Annotated[float, *quantity(units.parse_probability, "probability: 1%, 0.01")]
Text = Annotated[
    str,
    BeforeValidator(_text),
    WithJsonSchema({"type": ["string", "number", "boolean"], "quantity": "string or number"}),
]
Step = Annotated[
    tuple[TimeNs, Rate],
    Or(type="string", pattern="^[^:]+:[^:]+$", quantity='"DURATION:RATE"'),
]
_STEPS = (BeforeValidator(_split_steps), Or(type="string", quantity='"DURATION:RATE,..."'))
Steps = Annotated[list[Annotated[Step, AfterValidator(_step)]], *_STEPS]
_LINK_STEP = {
    "anyOf": [
        {"type": "string", "pattern": "^[^:]+:[^:]+$", "quantity": '"DURATION:RATE,DELAY,..."'},
        {"type": "array", "items": {"type": ["string", "number"]}, "minItems": 2},
    ]
}
LinkSteps = Annotated[
    list[
        Annotated[
            Step,
            AfterValidator(_link_step),
            WrapValidator(_with_columns),
            PlainSerializer(_write_step),
            WithJsonSchema(_LINK_STEP),
        ]
    ],
    BeforeValidator(_split_link_steps),
    Or(type="string", quantity='"DURATION:RATE,..."'),
]
Positive = Annotated[int, Field(ge=1, le=MAX_U32)]
Switch = Annotated[
    bool,
    BeforeValidator(lambda v: {"on": True, "off": False}.get(v, v) if isinstance(v, str) else v),
]
CongestionControl = Annotated[str, Field(pattern=r"^[a-z0-9_]{1,15}$")]
#: Of a flow: a name, or the file of a control in BPF.
ControlOrFile = Annotated[str, Field(pattern=r"^([a-z0-9_]{1,15}|.*\.bpf\.[co])$")]
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,30}$")]
