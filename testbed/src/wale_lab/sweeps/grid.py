# SPDX-License-Identifier: GPL-2.0
"""The points of a sweep: all combinations of the values of `--set KEY=V1,V2,...`, and seeds."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from wale_lab.errors import ScenarioError

#: Columns of the tables behind the parameters, of all numbers and of their means.
COLUMNS = ("seed", "kind", "name", "measure", "value")
MEANS = ("mean", "ci95", "count")

#: More than anybody waits for; a slip such as --seeds 1-100000000 is told at once.
MOST_RUNS = 1_000_000


@dataclass(frozen=True)
class Order:
    """A run that is to be made."""

    parameters: dict[str, str]
    """what varies"""
    seed: int


@dataclass(frozen=True)
class Grid:
    """The parameters that vary, and those that are the same for all."""

    settings: list[tuple[str, list[str]]]
    """keys and their values, in their order: a later one overrides those before"""
    seeds: list[int]

    @property
    def dimensions(self) -> dict[str, list[str]]:
        """The keys with several values."""
        return {key: values for key, values in self.settings if len(values) > 1}

    def overrides(self, order: Order) -> list[str]:
        """A run's settings, as `wale-lab run --set` takes them."""
        return [f"{key}={order.parameters.get(key, values[0])}" for key, values in self.settings]

    def __len__(self) -> int:
        count = len(self.seeds)
        for values in self.dimensions.values():
            count *= len(values)
        return count

    def __iter__(self) -> Iterator[Order]:
        """The seed changes fastest."""
        dimensions = self.dimensions
        for values in itertools.product(*dimensions.values()):
            for seed in self.seeds:
                yield Order(dict(zip(dimensions, values, strict=True)), seed)


def split_values(text: str) -> list[str]:
    """Split at commas outside of brackets and quotes; quotes around a whole value go."""
    found, depth, quote, last = [], 0, "", 0
    for n, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{(":
            depth += 1
        elif letter in "]})":
            depth -= 1
        elif letter == "," and not depth:
            found.append(text[last:n])
            last = n + 1
    return [value.strip() for value in [*found, text[last:]]]


def parse_seeds(text: str) -> list[int]:
    """`10` is 1 to 10; `3-5` and `1,7,9` are those."""
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,20})(?:\s*-\s*(\d{1,20}))?\s*", part)
        if not match:
            raise ScenarioError(
                f"--seeds {text}: expected how many (10), a range (3-5) or a list (1,7,9)"
            )
        first = int(match[1])
        last = int(match[2] or first)
        if last >= 2**64:
            raise ScenarioError(f"--seeds {text}: expected seeds from 0 to 2^64 - 1")
        if last - first >= MOST_RUNS or last < first:
            raise ScenarioError(f"--seeds {text}: expected a range of 1 to {MOST_RUNS} seeds")
        found += range(first, last + 1)
    if re.fullmatch(r"\s*\d+\s*", text):
        if not 1 <= found[0] <= MOST_RUNS:
            raise ScenarioError(f"--seeds {text}: expected 1 to {MOST_RUNS} seeds")
        return list(range(1, found[0] + 1))
    return list(dict.fromkeys(found))


def parse_grid(assignments: list[str], seeds: str) -> Grid:
    """The grid of some `--set` and of `--seeds`; ScenarioError if it is none."""
    settings: list[tuple[str, list[str]]] = []
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals or not key:
            raise ScenarioError(
                f"--set {assignment}: expected KEY=VALUE or KEY=V1,V2,..., such as cc=reno,cubic"
            )
        values = split_values(text)
        several = len(values) > 1
        if several and ("" in values or len(set(values)) < len(values)):
            raise ScenarioError(
                f"--set {assignment}: expected different values, none of them empty"
            )
        if any(key == one and (several or len(others) > 1) for one, others in settings):
            raise ScenarioError(f"--set {assignment}: {key} has values already")
        if several and key in (*COLUMNS, *MEANS):
            raise ScenarioError(
                f"--set {assignment}: expected another key: {key} is a column of the tables"
            )
        settings.append((key, values if several else [text]))
    grid = Grid(settings, parse_seeds(seeds))
    if len(grid) > MOST_RUNS:
        raise ScenarioError(f"expected at most {MOST_RUNS} runs, got {len(grid)}")
    return grid
