# SPDX-License-Identifier: GPL-2.0
"""Runs from Python: wale_lab.run(), wale_lab.sweep() and wale_lab.sweep_runs().

Each run is a `wale-lab run` in another process, with the same options, so that results are the
same, several can run in parallel, and no guest runs in a notebook's process.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wale_lab.engines.base import EXIT_ENGINE, EngineError
from wale_lab.errors import ScenarioError
from wale_lab.finished import Run
from wale_lab.workers import Done, Workers, python_environment

if TYPE_CHECKING:
    import pandas as pd

#: What is done with a line of progress, or with a run that has ended.
Log = Callable[[str], object]

_PROGRESS = re.compile(r"\[ *[\d.]+ s\] ")


@dataclass(frozen=True)
class _Order:
    """A run to be done."""

    scenario: str
    seed: int
    parameters: dict[str, object]
    options: list[str]
    folder: Path | None
    number: int = 0

    @property
    def overrides(self) -> list[str]:
        """As `wale-lab run --set` takes them."""
        return [f"{key}={_word(key, value)}" for key, value in self.parameters.items()]

    def command(self, folder: Path) -> list[str]:
        """The words of `wale-lab`."""
        words = ["run", "--json", f"--seed={self.seed}"]
        words += [f"--set={override}" for override in self.overrides]
        return [*words, *self.options, f"--out={folder}", "--", self.scenario]


def run(
    scenario: str | os.PathLike[str],
    *,
    seed: int = 1,
    set: Mapping[str, object] | None = None,
    packets: bool = False,
    engine: str = "uml",
    kernel: str | None = None,
    modules: Iterable[str | os.PathLike[str]] = (),
    out: str | os.PathLike[str] | None = None,
    log: Log | None = None,
) -> Run:
    """Run a scenario, a YAML file or a name from `wale-lab list`, and return its results.

    `set` changes values, by keys such as "bottleneck.forward.loss". `packets` logs all packets.
    `modules` are files of modules of your own. The files of the run are in the folder `out`, or
    in one that goes with the Run. `log` is called with each line of progress, such as print.

    ScenarioError says what is wrong with the scenario, EngineError why it could not be run. If a
    flow did not complete, or there is a warning, Run.problems says so.
    """
    order = _Order(
        os.fspath(scenario),
        _seed(seed),
        _parameters(set),
        _options(packets, engine, kernel, modules),
        None if out is None else Path(out),
    )
    return _make(order, lambda words: _alone(words, log))


def sweep_runs(
    scenario: str | os.PathLike[str],
    parameters: Mapping[str, Iterable[object]],
    seeds: Iterable[int] = (1,),
    *,
    jobs: int | None = None,
    set: Mapping[str, object] | None = None,
    packets: bool = False,
    engine: str = "uml",
    kernel: str | None = None,
    modules: Iterable[str | os.PathLike[str]] = (),
    out: str | os.PathLike[str] | None = None,
) -> Iterator[Run]:
    """Run a scenario with all combinations of values and seeds, `jobs` at a time (all cores).

    Each Run comes when it has ended; Run.parameters, seed and number say which it is. What is
    wrong with any of the scenarios is said before the first run. The other words are those of
    run(); with `out`, each run has a folder of its number there. Whoever stops listening ends
    the runs.
    """
    if jobs is not None and (not isinstance(jobs, int) or jobs < 1):
        raise ScenarioError(f"jobs: expected a number from 1 on, got {jobs!r}")
    options = _options(packets, engine, kernel, modules)
    fixed = _parameters(set)
    orders = [
        _Order(
            os.fspath(scenario),
            seed,
            fixed | values,
            options,
            None if out is None else Path(out, str(number)),
            number,
        )
        for number, (values, seed) in enumerate(_grid(parameters, seeds))
    ]
    _check(orders)
    return _as_they_end(orders, jobs or os.cpu_count() or 1)


def sweep(
    scenario: str | os.PathLike[str],
    parameters: Mapping[str, Iterable[object]],
    seeds: Iterable[int] = (1,),
    *,
    each: Callable[[Run], object] | None = None,
    **words: Any,
) -> pd.DataFrame:
    """As sweep_runs(), but return one tidy table, in the order of the parameters and seeds.

    A row is one number of one flow or link of one run: a column for each parameter, then seed,
    kind ("flow" or "link"), name, measure (a column of Run.flows or Run.links) and value.
    `each` is called with each Run when it has ended, such as print.
    """
    import pandas as pd

    parameters = {key: _values(key, values) for key, values in _mapping(parameters).items()}
    found: dict[int, list[tuple[object, ...]]] = {}
    for ended in sweep_runs(scenario, parameters, seeds, **words):
        which = [*(ended.parameters[key] for key in parameters), ended.seed]
        found[ended.number] = [(*which, *measure) for measure in ended.measures()]
        if each is not None:
            each(ended)
    rows = [row for number in sorted(found) for row in found[number]]
    return pd.DataFrame(rows, columns=[*parameters, "seed", "kind", "name", "measure", "value"])


def _as_they_end(orders: list[_Order], jobs: int) -> Iterator[Run]:
    """Do the runs, this many at a time."""
    workers = Workers()
    with ThreadPoolExecutor(jobs) as pool:
        pending = {pool.submit(_make, order, workers.do) for order in orders}
        try:
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                while done:  # without keeping those that were handed out
                    yield done.pop().result()
        finally:
            for future in pending:
                future.cancel()
            workers.end()


def _make(order: _Order, do: Callable[[list[str]], Done]) -> Run:
    """One run, from its start to its end."""
    folder = order.folder or Path(tempfile.mkdtemp(prefix="wale-run-"))
    try:
        _raise_what_is_wrong(do(order.command(folder)))
        made = Run(folder, order.parameters, order.number)
    except BaseException:
        if order.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if order.folder is None:
        weakref.finalize(made, shutil.rmtree, folder, ignore_errors=True)
    return made


def _alone(words: list[str], log: Log | None) -> Done:
    """Run a command in its own process, which ends with the caller; progress goes to `log`."""
    said: list[str] = []
    with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        child = subprocess.Popen(
            [sys.executable, "-m", "wale_lab", *words],
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=python_environment(),
        )
        assert child.stderr is not None
        try:
            with child.stderr:
                for line in child.stderr:
                    said.append(line)
                    if log is not None and _PROGRESS.match(line):
                        log(_PROGRESS.sub("", line.rstrip()))
            code = child.wait()
        except BaseException:
            child.terminate()
            child.wait()
            raise
        printed.seek(0)
        return Done(code, printed.read(), "".join(said))


def _raise_what_is_wrong(done: Done) -> None:
    """ScenarioError or EngineError, with what the command said."""
    if done.code in (0, 1) and done.printed.rstrip().endswith("}"):
        return
    lines = [line for line in done.said.splitlines() if not _PROGRESS.match(line)]
    said = [line.rstrip().removeprefix("wale-lab: ") for line in lines]
    if done.code == 2:
        raise ScenarioError("\n".join(said))
    if done.code != EXIT_ENGINE:
        said = [f"wale-lab run ended with {done.code}: {said[-1] if said else 'it said nothing'}"]
    raise EngineError("\n".join(said))


def _check(orders: list[_Order]) -> None:
    """ScenarioError if one of the scenarios is wrong."""
    from wale_lab.scenario import find_scenario, load_scenario

    for overrides in dict.fromkeys((order.scenario, *order.overrides) for order in orders):
        name, *words = overrides
        load_scenario(find_scenario(name), words)


def _grid(
    parameters: Mapping[str, Iterable[object]], seeds: Iterable[int]
) -> Iterator[tuple[dict[str, object], int]]:
    """All combinations; the seed changes fastest."""
    lists = {key: _values(key, values) for key, values in _mapping(parameters).items()}
    numbers = [_seed(seed) for seed in _values("seeds", seeds)]
    for values in itertools.product(*lists.values()):
        for seed in numbers:
            yield dict(zip(lists, values, strict=True)), seed


def _values(key: str, values: object) -> list[object]:
    """The values of one parameter."""
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise ScenarioError(f"{key}: expected a list of values, got {values!r}")
    return list(values)


def _mapping(parameters: object) -> Mapping[str, Any]:
    """Values by their keys."""
    if isinstance(parameters, Mapping) and all(isinstance(key, str) for key in parameters):
        return parameters
    raise ScenarioError(
        "expected values by their keys, such as {'bottleneck.forward.loss': '2%'}, "
        f"got {parameters!r}"
    )


def _parameters(values: Mapping[str, object] | None) -> dict[str, object]:
    """The settings, checked before anything runs."""
    found = dict(_mapping(values or {}))
    for key, value in found.items():
        _word(key, value)
    return found


def _word(key: str, value: object) -> str:
    """A value as YAML, which `--set` takes; a text is YAML as it is."""
    if isinstance(value, str):
        return value
    plain = value.item() if hasattr(value, "item") else value  # of numpy
    try:
        return json.dumps(plain)
    except TypeError:
        raise ScenarioError(
            f"{key}: expected a text, a number, a list or a dict, got {value!r}"
        ) from None


def _seed(seed: object) -> int:
    value = int(seed) if isinstance(seed, Integral) else -1
    if not 0 <= value < 2**64:
        raise ScenarioError(f"seed: expected a number from 0 to 2^64 - 1, got {seed!r}")
    return value


def _options(
    packets: bool,
    engine: str,
    kernel: str | None,
    modules: Iterable[str | os.PathLike[str]],
) -> list[str]:
    """What else there is to say."""
    words = [f"--engine={engine}", *(f"--module={os.fspath(module)}" for module in modules)]
    words += [f"--kernel={kernel}"] if kernel is not None else []
    return words + (["--packets"] if packets else [])
