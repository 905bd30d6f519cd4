# SPDX-License-Identifier: GPL-2.0
"""`wale-lab sql`: a query over the files of runs, by DuckDB, which reads them where they are."""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
import tempfile
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wale_lab.errors import LabError, ScenarioError
from wale_lab.finished import Run
from wale_lab.results.stored import TEXT_COLUMNS
from wale_lab.tree import IN_CHECKOUT

if TYPE_CHECKING:
    import duckdb

#: What has a row in each file of a run: the table, and the file.
_FILES = {
    "flow_samples": ("flows.csv",),
    "link_samples": ("links.csv",),
    "packets": ("packets.parquet", "packets.csv"),
}
#: Why a table is not there.
_NEEDS = {
    "packets": "runs with --packets",
    "sweep": "the folder of a `wale-lab sweep`",
}
#: Of a table that no terminal shows, letters.
_WIDEST = 100_000
TABLES = ("runs", "flows", "links", *_FILES, "sweep")


def sql_command(args: argparse.Namespace) -> int:
    """The subcommand."""
    if not args.query.strip():
        raise ScenarioError(f"expected a query, got {args.query!r}")
    if Path(args.query).is_dir():
        raise ScenarioError(f"expected the query first, then folders, got the folder {args.query}")
    folders = [Path(folder) for folder in args.folders] or _folders_below(Path("out"))
    with tempfile.TemporaryDirectory(prefix="wale-sql-") as temporary:
        database = open_database(folders, Path(temporary))
        names, rows = ask(database, args.query)
    if args.format == "json":
        keys = _distinct(names)
        print(json.dumps([dict(zip(keys, map(_plain, row), strict=True)) for row in rows]))
    elif args.format == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
    else:
        _print_table(names, rows)
    return 0


def _folders_below(folder: Path) -> list[Path]:
    """The runs and sweeps of the usual place."""
    names = ("result.json", "sweep.parquet")
    found = sorted({path.parent for name in names for path in folder.glob(f"*/{name}")})
    if not found:
        raise ScenarioError(f"there is no run below {folder}; expected the folders of runs")
    return found


def open_database(folders: list[Path], temporary: Path) -> duckdb.DuckDBPyConnection:
    """A database with the tables that these folders have; ScenarioError if one has none."""
    try:
        import duckdb
    except ModuleNotFoundError:
        how = "pip install duckdb" if not IN_CHECKOUT else "start it as testbed/wale-lab"
        raise LabError(f"this needs the Python package duckdb: {how}") from None
    # a table that is not there is no variable of Python
    database = duckdb.connect(config={"python_enable_replacements": False})
    folders = list({folder.resolve(): folder for folder in reversed(folders)}.values())[::-1]
    sweeps = {str(f): f / "sweep.parquet" for f in folders if (f / "sweep.parquet").exists()}
    runs = [Run(folder) for folder in folders if str(folder) not in sweeps]
    if runs:
        for table, entries in _entries(runs).items():
            _add_entries(database, table, entries, temporary)
    for table, names in _FILES.items():
        found = {str(run.folder): _first(run.folder, names) for run in runs}
        _add_files(database, table, {run: path for run, path in found.items() if path})
    _add_files(database, "sweep", sweeps)
    return database


def _first(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in names if (folder / name).exists()), None)


def _entries(runs: list[Run]) -> dict[str, list[dict[str, Any]]]:
    """The rows of the tables that result.json is."""
    found: dict[str, list[dict[str, Any]]] = {"runs": [], "flows": [], "links": []}
    for run in runs:
        name = {"run": str(run.folder)}
        plain = {k: v for k, v in run.result.items() if not isinstance(v, list | dict)}
        found["runs"].append(name | plain)
        for table in ("flows", "links"):
            found[table] += [name | entry for entry in run.result[table]]
    return found


def _add_entries(
    database: duckdb.DuckDBPyConnection,
    table: str,
    entries: list[dict[str, Any]],
    temporary: Path,
) -> None:
    """A table of objects; what is nested is a struct: dropped_packets.buffer."""
    path = temporary / f"{table}.json"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    if entries:
        read = "read_json(?, format='newline_delimited', sample_size=-1)"
        database.execute(f"create table {table} as select * from {read}", [str(path)])


def _add_files(database: duckdb.DuckDBPyConnection, table: str, files: dict[str, Path]) -> None:
    """A view of the files of one kind; each row says which run it is of."""
    parts = [
        f"select {_quoted(run)} as run, * from {_reader(database, path)}"
        for run, path in files.items()
    ]
    if parts:
        database.execute(f"create view {table} as " + " union all by name ".join(parts))


def _reader(database: duckdb.DuckDBPyConnection, path: Path) -> str:
    """What reads a file; a column of a run has the same type in all runs, even if it is empty."""
    if path.suffix == ".parquet":
        return f"read_parquet({_quoted(str(path))})"
    source = f"{_quoted(str(path))}, sample_size=-1"
    found = database.execute(f"describe select * from read_csv({source})").fetchall()
    text = {name: "VARCHAR" for name, *_ in found if name in TEXT_COLUMNS}
    empty = {name: "DOUBLE" for name, kind, *_ in found if kind == "VARCHAR"}
    types = ", ".join(f"{_quoted(k)}: {_quoted(v)}" for k, v in (empty | text).items())
    return f"read_csv({source}, types={{{types}}})" if types else f"read_csv({source})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def ask(database: duckdb.DuckDBPyConnection, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Names of columns, and rows; ScenarioError in DuckDB's words if it cannot be asked."""
    import duckdb

    try:
        if not duckdb.extract_statements(query):
            raise ScenarioError(f"expected a query, got {query!r}")
        done = database.execute(query)
        names = [column[0] for column in done.description or ()]
        return names, done.fetchall() if names else []
    except duckdb.Error as error:
        said = str(error).strip().splitlines()
        have = {row[0] for row in database.execute("show tables").fetchall()}
        text = "\n".join([f"sql: {said[0]}", *said[1:]])
        raise ScenarioError(f"{text}\n{_tables(have)}") from None


def _tables(have: set[str]) -> str:
    """Which tables there are, and what those need that are not there."""
    text = "expected a query of " + ", ".join(name for name in TABLES if name in have)
    absent = [f"{name} needs {why}" for name, why in _NEEDS.items() if name not in have]
    return "; ".join([text, *absent])


def _distinct(names: list[str]) -> list[str]:
    """The names of columns, a second one of a name with a number."""
    found: list[str] = []
    for name in names:
        others = (f"{name}_{n}" for n in range(1, len(names) + 1))
        found.append(next(one for one in (name, *others) if one not in found))
    return found


def _plain(value: Any) -> Any:
    """A value as JSON has it: no infinity, and as text what is neither number nor text."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def _rows_shown(rows: list[tuple[Any, ...]]) -> Iterator[list[str]]:
    for row in rows:
        yield ["" if value is None else _shown(value) for value in row]


def _shown(value: object) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _print_table(names: list[str], rows: list[tuple[Any, ...]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for number, name in enumerate(names):
        numeric = any(isinstance(row[number], int | float) for row in rows)
        table.add_column(Text(name), justify="right" if numeric else "left", overflow="fold")
    for row in _rows_shown(rows):
        table.add_row(*map(Text, row))
    console = Console()
    if not console.is_terminal:  # all of it, however wide
        widest = Console(width=_WIDEST)
        console = Console(width=max(widest.measure(table).maximum, 20))
    console.print(table)
