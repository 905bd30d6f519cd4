# SPDX-License-Identifier: GPL-2.0
"""The types of a scenario's fields: text with units in, integers of the kernel interface out."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    WithJsonSchema,
)
from pydantic_core import CoreSchema

from wale_lab import units

#: Of every part of a scenario: unknown keys are errors.
STRICT = ConfigDict(extra="forbid", use_attribute_docstrings=True, frozen=True)

#: What the qdisc takes at least and at most, what a transfer's size may be, and how long a run.
MIN_STEP_NS = 1000
MAX_DELAY_NS = 86_400 * 10**9
MAX_LIMIT_NS = 4000 * 86_400 * 10**9
MAX_TRACE_NS = 4000 * 86_400 * 10**9
MAX_RATE_BPS = 8 * 10**15
MAX_FLOW_BYTES = 2**63 - 1
MAX_U32 = 2**32 - 1


def quantity(parse: Any, what: str) -> Any:
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


def _delay_ns(value: object) -> int:
    delay = units.parse_time_ns(value)
    if delay > MAX_DELAY_NS:
        raise ValueError(f"expected a delay from 0 to 1 day, got {value!r}")
    return delay


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


def _step(step: tuple[int, int | str]) -> tuple[int, int | str]:
    if not step[0]:
        raise ValueError("expected a duration above 0")
    if step[1] == units.UNLIMITED:
        raise ValueError("expected a finite rate")
    return step


def _link_step(step: tuple[int, int | str]) -> tuple[int, int | str]:
    if not MIN_STEP_NS <= step[0] <= MAX_DELAY_NS:
        raise ValueError(f"expected a duration from 1us to 1 day, got {step[0]} ns")
    return _step(step)


TimeNs = Annotated[int, *quantity(units.parse_time_ns, "time: 50ms, 1.5s; a number: seconds")]
Delay = Annotated[int, *quantity(_delay_ns, "time: 50ms, 1.5s; a number: seconds")]
TimeLimit = Annotated[int, *quantity(_time_limit_ns, "time: 5s, 2min; a number: seconds")]
Rate = Annotated[int | str, *quantity(_rate, "rate: 2mbit, 250kB/s, unlimited; a number: bit/s")]
Date = Annotated[
    datetime,
    BeforeValidator(units.parse_date),
    WithJsonSchema({"type": "string", "quantity": "date: 2026-11-27, 2026-11-27T18:30:00Z"}),
]
FlowSize = Annotated[int, *quantity(_flow_size, "size: 3MB, 64KiB; a number: bytes")]
Limit = Annotated[
    str, *quantity(units.parse_limit, "buffer: 30kB, 20p, 1000 cells; a number: packets")
]
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
LinkSteps = Annotated[list[Annotated[Step, AfterValidator(_link_step)]], *_STEPS]
Positive = Annotated[int, Field(ge=1, le=MAX_U32)]
Switch = Annotated[
    bool,
    BeforeValidator(lambda v: {"on": True, "off": False}.get(v, v) if isinstance(v, str) else v),
]
CongestionControl = Annotated[str, Field(pattern=r"^[a-z0-9_]{1,15}$")]
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,30}$")]
