# SPDX-License-Identifier: GPL-2.0
"""Common options of `wale-lab model`: how they are read, and how results are shown."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from wale_lab import units

if TYPE_CHECKING:
    from rich.table import Table


def parsed(args: argparse.Namespace, name: str, parse: Callable[[Any], Any]) -> Any:
    """An option's value; ValueError says which option is wrong."""
    try:
        return parse(getattr(args, name))
    except ValueError as error:
        raise ValueError(f"--{name.replace('_', '-')}: {error}") from None


def count(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"expected a number, got {text!r}") from None


def packets(text: str, packet_bytes: int) -> int:
    """A buffer in packets, from packets or a size."""
    limit = units.parse_limit(text)
    if limit.endswith(" cells"):
        raise ValueError(f"expected a buffer in packets or bytes, got {text!r}")
    return int(limit[:-1]) if limit.endswith("p") else int(limit[:-1]) // max(1, packet_bytes)


def number(text: str) -> float:
    """A number without a unit."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"expected a number, got {text!r}") from None


def add_parser(models: Any, name: str, about: tuple[str, str, str]) -> argparse.ArgumentParser:
    """A model's word; `about` is its line in the list, its description, and examples."""
    line, text, examples = about
    one: argparse.ArgumentParser = models.add_parser(
        name,
        help=line,
        description=text,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    one.add_argument(
        *("--quiet", "-q"),
        action="store_true",
        default=argparse.SUPPRESS,  # what was said before the model's name stays
        help="no progress on stderr",
    )
    return one


def add_reading(one: argparse.ArgumentParser) -> None:
    """The options that all models have."""
    one.add_argument(
        "--reading",
        choices=["reproducing", "printed", "both"],
        default="reproducing",
        help="what gives the published numbers, or the algebra as printed (reproducing)",
    )
    one.add_argument("--json", action="store_true", help="not the table")


def print_table(table: Table) -> None:
    """Print it as wide as the terminal, or for a file."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=120)
    console.print(table)


def in_options(text: str, args: argparse.Namespace, options: Mapping[str, str]) -> str:
    """A model's errors about its parameters, in terms of the options that they come from."""
    field, _, rest = text.partition(": ")
    if field in options:
        typed = getattr(args, options[field])
        typed = " ".join(typed) if isinstance(typed, list) else typed
        rest = re.sub(r", got [^\s:]+", lambda _: f", got {typed!r}", rest, count=1)
        text = f"{field}: {rest}"
    for field, option in options.items():
        text = re.sub(rf"(?<![-'\w]){field}\b", f"--{option.replace('_', '-')}", text)
    return text


def answer(
    args: argparse.Namespace,
    run: Callable[[argparse.Namespace], Any],
    options: Mapping[str, str],
) -> int:
    """Print a model's result: `run` returns JSON text or a table; exit status 2 if it cannot.

    `options` says from which option each parameter of the model is.
    """
    try:
        found = run(args)
    except (ValueError, ArithmeticError) as error:
        print(f"wale-lab: {in_options(str(error), args, options)}", file=sys.stderr)
        return 2
    if args.json:
        print(found)
    else:
        print_table(found)
    return 0
