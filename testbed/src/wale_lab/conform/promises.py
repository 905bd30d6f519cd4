# SPDX-License-Identifier: GPL-2.0
"""The promises of manuals (promises.yaml), and the named emulators (emulators.yaml)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from wale_lab import yaml_lines
from wale_lab.checking import checked
from wale_lab.conform import template
from wale_lab.conform.plain import to_template
from wale_lab.conform.template import Template
from wale_lab.errors import ScenarioError
from wale_lab.link import Strict

HERE = Path(__file__).resolve().parent
Text = Annotated[str, Field(min_length=1)]


def _words(pattern: str) -> str:
    """A pattern of unless, if it is one."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"expected a regular expression, got {pattern!r}: {error}") from None
    return pattern


class Promise(Strict):
    """What the manual of a qdisc promises about a check."""

    qdisc: Text
    """its kind, such as netem"""
    check: Text
    """name of the check"""
    says: Text
    """the manual's words, or what they come to"""
    source: Annotated[str, Field(pattern=r"^[a-z-]+\([1-8]\)$")]
    """the manual page"""
    expect: Text
    """what must hold for it, one of the check's expectations"""
    unless: list[Annotated[Text, AfterValidator(_words)]] = Field(default=[])
    """regular expressions of whole words: a qdisc that tc tells such words is asked for something
    else, of which this says nothing"""

    def is_of(self, commands: Iterable[str]) -> bool:
        """Whether it is promised of a qdisc that tc told all of this, one time or another."""
        return not any(
            re.search(rf"(?<!\S)(?:{pattern})(?!\S)", words)
            for words in commands
            for pattern in self.unless
        )


class Promises(Strict):
    """The file."""

    promises: list[Promise]


class Emulator(Strict):
    """An emulator that has a name."""

    about: Text
    """what it is"""
    tc: Text
    """its template"""


class Emulators(Strict):
    """The file."""

    emulators: dict[str, Emulator]


@cache
def load_promises(path: Path = HERE / "promises.yaml") -> dict[tuple[str, str], Promise]:
    """The promises by qdisc and check; ScenarioError says what is wrong with the file."""
    file = checked(Promises, yaml_lines.load(path))
    assert isinstance(file, Promises)
    result: dict[tuple[str, str], Promise] = {}
    for promise in file.promises:
        if (promise.qdisc, promise.check) in result:
            raise ScenarioError(f"{path}: {promise.qdisc}, {promise.check}: promised twice")
        result[promise.qdisc, promise.check] = promise
    return result


@cache
def load_emulators(path: Path = HERE / "emulators.yaml") -> dict[str, Emulator]:
    """The emulators by name."""
    file = checked(Emulators, yaml_lines.load(path))
    assert isinstance(file, Emulators)
    return file.emulators


def find_template(text: str) -> Template:
    """The template of an emulator's name, or of a tc command line, with placeholders or without."""
    known = load_emulators()
    if text in known:
        return template.parse(known[text].tc)
    if len(text.split()) == 1:
        raise ScenarioError(
            f"--qdisc {text}: expected one of {', '.join(known)}, or a tc command line such as "
            "'netem limit {limit} rate {rate}'"
        )
    return template.parse(to_template(text))
