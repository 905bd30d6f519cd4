# SPDX-License-Identifier: GPL-2.0
"""The keys of a scenario for a program: a flow that is the user's own command."""

from __future__ import annotations

import re
import shlex
from typing import Annotated, Any, Literal

import jmespath
from jmespath.exceptions import JMESPathError
from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from wale_lab.fields import STRICT, Name, Or, Switch, Text, TimeLimit, TimeNs, quantity
from wale_lab.units import parse_time_ns

_READY = ("tcp", "udp", "output", "time", "listens")


class Strict(BaseModel):
    """Unknown keys are errors."""

    model_config = STRICT


def _words(value: object) -> object:
    """A command as words, from a list of them or from one text as a shell splits it."""
    if isinstance(value, str):
        try:
            value = shlex.split(value)
        except ValueError as error:
            raise ValueError(f"expected a command, got {value!r}: {str(error).lower()}") from None
    if not isinstance(value, list) or not value or not str(value[0]):
        raise ValueError(f"expected a command, such as 'ping -c 3 server', got {value!r}")
    if any(isinstance(word, dict | list) or word is None for word in value):
        raise ValueError(f"expected a command as a list of words, got {value!r}")
    words = [str(word) for word in value]
    if any("\0" in word for word in words):
        raise ValueError("expected a command without NUL characters")
    return words


def _codes(value: object) -> object:
    """Exit codes: one, several, or any."""
    if value == "any":
        return value
    codes = value if isinstance(value, list) else [value]
    if not codes or not all(type(code) is int and 0 <= code <= 255 for code in codes):
        raise ValueError(f"expected any, or exit codes from 0 to 255 such as [0, 3], got {value!r}")
    return codes


def _until(value: object) -> object:
    return value if value == "exit" else parse_time_ns(value)


def _expression(path: str) -> str:
    """A path as jq has it is one of JMESPath, but for the dot that it begins with."""
    return path[1:] if path.startswith(".") else path


Command = Annotated[
    list[str],
    BeforeValidator(_words),
    WithJsonSchema({"type": ["string", "array"], "quantity": "a command, or a list of its words"}),
]
Port = Annotated[int, Field(ge=1, le=65535)]


class Ready(Strict):
    """When a program is ready for those that come after it."""

    tcp: Port | None = None
    """when something on its host listens on this TCP port"""
    udp: Port | None = None
    """when a UDP socket of its host is bound to this port"""
    output: str | None = None
    """when a line that it prints matches this regular expression"""
    time: TimeNs | None = None
    """so long after its start; `ready: 2s` says the same"""
    listens: Switch = False
    """when it listens on any port; `ready: listens` says the same"""
    within: TimeLimit = 60_000_000_000
    """the run fails if it is not ready by then"""

    @field_validator("output")
    @classmethod
    def _regex(cls, value: str | None) -> str | None:
        return None if value is None else _compiled(value)

    @model_validator(mode="after")
    def _check(self) -> Ready:
        given = [name for name in _READY if getattr(self, name) not in (None, False)]
        if len(given) != 1:
            raise ValueError(f"expected one of {', '.join(_READY)}")
        return self


def _compiled(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"expected a regular expression, got {pattern!r}: {error}") from None
    return pattern


class Metric(Strict):
    """A number extracted from a program's output."""

    path: Annotated[str | None, Field(alias="json")] = None
    """JMESPath of the number in a JSON text, such as .end.rtt (jmespath.org)"""
    regex: str | None = None
    """regular expression; its first group is the number, and the last match counts"""
    stream: Literal["out", "err"] = "out"
    """standard output, or standard error"""

    @field_validator("path")
    @classmethod
    def _valid_path(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                jmespath.compile(_expression(value))
            except JMESPathError as error:
                first = str(error).partition("\n")[0]
                raise ValueError(
                    f"expected a path such as .end.rtt, got {value!r}: {first}"
                ) from None
        return value

    @field_validator("regex")
    @classmethod
    def _valid_regex(cls, value: str | None) -> str | None:
        return None if value is None else _compiled(value)

    @model_validator(mode="after")
    def _check(self) -> Metric:
        if (self.path is None) == (self.regex is None):
            raise ValueError("expected either json or regex")
        return self

    @property
    def expression(self) -> str | None:
        """The path as JMESPath."""
        return None if self.path is None else _expression(self.path)


def _ready(value: object) -> object:
    """A time, or the word listens."""
    if value == "listens":
        return {"listens": True}
    if value is None or isinstance(value, dict | Ready):
        return value
    return {"time": value}


class Program(Strict):
    """A flow that is a program, run on one of the hosts.

    It finds the other hosts by their names. Its sockets have cubic, unless its host's route has
    another `congctl` or it chooses one itself. What it prints is kept as NAME.out and NAME.err,
    and what it leaves in the folder $WALE_FILES as NAME.files.
    """

    name: Name
    """in tables, plots and results"""
    run: Command | None = None
    """the command; a text is split into words as a shell does"""
    sh: str | None = None
    """or a script for /bin/sh"""
    host: str
    """the name of the host that it runs on"""
    start: TimeNs = 0
    """after the scenario's start, or after the flow in `after`"""
    after: str | None = None
    """name of the flow that has to end first, or that has to be ready if it says when it is"""
    ready: Annotated[Ready | None, BeforeValidator(_ready), Or(type=["string", "number"])] = None
    """when flows that come after it may start (when it has ended)"""
    until: Annotated[Literal["exit"] | int, *quantity(_until, "exit, or a time: 50ms, 1.5s")] = (
        "exit"
    )
    """it ends by itself, or is told to (SIGTERM) so long after its start"""
    grace: TimeNs = 5_000_000_000
    """how long after SIGTERM it is killed"""
    serve: Switch = False
    """it is told to end when all others have ended"""
    exit: Annotated[Literal["any"] | list[int], *quantity(_codes, "any, or a list of numbers")] = [
        0
    ]
    """exit codes that are good; that of a program which was told to end does not count"""
    env: dict[str, Text] = {}
    """environment variables"""
    cwd: str | None = None
    """working directory, relative to the scenario's folder (that folder)"""
    stdin: str | None = None
    """file that it reads as standard input, relative to the scenario's folder (empty)"""
    metrics: dict[Name, Metric] = {}
    """numbers by name, from what it printed"""

    @field_validator("env")
    @classmethod
    def _names_of_variables(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if not name or set(name) & set("=\0"):
                raise ValueError(f"expected names of environment variables, got {name!r}")
        return value

    @model_validator(mode="after")
    def _check(self) -> Program:
        if (self.run is None) == (self.sh is None):
            raise ValueError("expected either run or sh")
        if self.serve and self.until != "exit":
            raise ValueError("expected either serve or until")
        if self.until == 0:
            raise ValueError("expected until with a time above 0")
        return self

    @property
    def argv(self) -> list[str]:
        """The words of its command."""
        return ["/bin/sh", "-c", self.sh] if self.sh is not None else list(self.run or [])

    @property
    def command(self) -> str:
        """Its command for people."""
        return self.sh if self.sh is not None else shlex.join(self.run or [])


def kind_of_flow(value: Any) -> str:
    """Which model a flow is checked by."""
    is_program = isinstance(value, Program) or (
        isinstance(value, dict) and bool({"run", "sh"} & set(value))
    )
    return PROGRAM if is_program else TRANSFER


#: The tags of flows in the paths of errors (checking.py).
TRANSFER, PROGRAM = "[Flow]", "[Program]"
