# SPDX-License-Identifier: GPL-2.0
"""Runs Snakemake for the missing runs of studies: shows its progress, stops it when interrupted."""

from __future__ import annotations

import ctypes
import fcntl
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from wale_lab.errors import LabError, missing_package
from wale_lab.files import write_whole
from wale_lab.progress import Progress
from wale_lab.tree import LAUNCHER
from wale_lab.units import show_count

SNAKEFILE = Path(__file__).with_name("Snakefile")

#: Of Snakemake's output, on a failure that no run explains.
_TAIL = 15

#: So long Snakemake may take to end its runs, or to cancel them on a cluster, seconds.
_STOP_S = 60

_PR_SET_PDEATHSIG = 1


def needs(memory_mb: int, wall_limit_ns: float) -> dict[str, int]:
    """What a run asks of a cluster: the guest and its programs; its limit, and some minutes."""
    return {"mem_mb": memory_mb + 512, "minutes": math.ceil(wall_limit_ns / 60e9) + 5}


def check() -> None:
    """LabError if there is no Snakemake."""
    if find_spec("snakemake") is None:
        raise missing_package("snakemake")


def options_of_cluster(name: str | None) -> list[str]:
    """The options of Snakemake for `--cluster`; LabError if the plugin for it is not there."""
    if name is None:
        return []
    if find_spec(f"snakemake_executor_plugin_{name}") is None:
        raise LabError(
            f"--cluster {name}: the plugin snakemake-executor-plugin-{name} is not installed; "
            f"install it with {LAUNCHER[0]} python -m pip install -r "
            "testbed/requirements-cluster.txt"
        )
    return ["--executor", name]


def make(
    results: Path,
    config: dict[str, Any],
    jobs: int,
    options: list[str],
    quiet: bool,
    meanwhile: Callable[[], None] = lambda: None,
) -> bool:
    """Do the missing runs of studies, then their tables; False if anything failed.

    `config` is what the Snakefile expects, `options` are more for Snakemake.  Why a run failed
    stands beside its file (`failure_of`), what Snakemake said in snakemake.log.  `meanwhile` is
    called twice a second.
    """
    keys = {key for runs in config["studies"].values() for key in runs}
    wanted = [results / "runs" / f"{key}.json" for key in sorted(keys)]
    # Both below the working directory: executors without a shared file system want it so.
    snakefile, config_file = results / "Snakefile", results / "config.json"
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(snakefile)]
    command += ["--configfile", str(config_file), "--directory", str(results)]
    command += ["--cores", str(jobs), "--jobs", str(jobs), "--nolock", "--rerun-triggers", "mtime"]
    command += ["--scheduler", "greedy"]  # all runs are alike: there is nothing to optimise
    command += ["--forcerun", "summary", "--keep-going"]
    command += ["--ignore-incomplete", *options]  # files appear whole: what is there is complete
    log_path = results / "snakemake.log"
    with _alone(results, quiet) as lock, log_path.open("w", encoding="utf-8") as log:
        write_whole(snakefile, SNAKEFILE.read_text(encoding="utf-8"))
        write_whole(config_file, json.dumps(config, indent=1) + "\n")
        _remove_damaged(wanted)
        missing = [path for path in wanted if not path.exists()]
        for path in wanted:
            failure_of(path).unlink(missing_ok=True)
        complete = False
        try:
            with _started(command, log, lock) as process:
                _watch(process, missing, len(wanted), quiet, meanwhile)
            complete = not process.returncode and all(path.exists() for path in wanted)
        finally:
            for name in config["studies"] if config["tables"] and not complete else ():
                _remove_older(results / name / "study.json", config_file)
    if not complete:
        _explain(wanted, log_path, named=config["tables"])
    return complete


def _remove_damaged(runs: list[Path]) -> None:
    """What a crash of the machine or a full disk left of a run's file is made again."""
    for path in runs:
        if path.exists() and not path.read_bytes().endswith(b"}\n"):
            print(f"wale-lab: {path} is not whole: that run is made again", file=sys.stderr)
            path.unlink()


def _remove_older(table: Path, begin: Path) -> None:
    """A table from before these runs is not what a report is to show as theirs."""
    if table.exists() and table.stat().st_mtime_ns < begin.stat().st_mtime_ns:
        table.unlink()


def failure_of(path: Path) -> Path:
    """Where a run writes why it failed; the Snakefile says so too."""
    return path.with_suffix(".failed")


@contextmanager
def _alone(results: Path, quiet: bool) -> Iterator[int]:
    """Hold the folder's lock, a descriptor: two schedulers would delete each other's files."""
    with (results / ".lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with Progress(quiet) as progress:
                progress(f"waiting for another wale-lab that makes studies in {results}")
                fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def _in_child() -> None:
    """Snakemake hears interrupts, whoever started us, and hears one if we are killed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)


@contextmanager
def _started(command: list[str], log: IO[str], lock: int) -> Iterator[subprocess.Popen[bytes]]:
    """Snakemake in a process group with its runs; it keeps the lock if it outlives us.

    It takes what is built now: whoever changes the sources meanwhile does not change the runs.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env={**os.environ, "WALE_NO_BUILD": "1"},
        pass_fds=[lock],
        start_new_session=True,
        preexec_fn=_in_child,
    )
    try:
        yield process
    except BaseException:
        _stop(process)
        raise


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End Snakemake and its runs, wherever they are; at once on a second interrupt."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(_STOP_S)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _watch(
    process: subprocess.Popen[bytes],
    missing: list[Path],
    total: int,
    quiet: bool,
    meanwhile: Callable[[], None],
) -> None:
    """Show how many of the missing files, of one folder, are there, until the process ends."""
    if quiet:
        process.wait()
        return
    began = last = time.monotonic()
    done = 0
    live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    with _Bar(len(missing)) if live else _Lines(len(missing), total) as display:
        folder = missing[0].parent if missing else None
        while True:
            ended = process.poll() is not None
            now = time.monotonic()
            count = len(set(missing).intersection(folder.iterdir())) if folder else 0
            if count != done:
                done, last = count, now
            display.show(done, now - began, left_s(len(missing), done, last - began, now - began))
            if ended:
                return
            meanwhile()
            time.sleep(0.5)


def left_s(total: int, done: int, last_s: float, now_s: float) -> float | None:
    """Seconds until the end, if the others take as long as those that were done at `last_s`.

    None if nothing is known: none is done, or the last takes longer than the others.
    """
    if not done:
        return None
    each_s = max(last_s / done, now_s / (done + 1))  # the next one may be late
    left = total * each_s - now_s
    return max(left, 0.0) if left > 0 or done == total else None


def _counted(done: int, total: int) -> str:
    return f"{done} of {show_count(total, 'run')} done, {total - done} left"


def show_span(seconds: float) -> str:
    """A time that is known roughly, in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _expected(left: float | None) -> str:
    """When the end is expected, in words; nothing if it is not known, or now."""
    if not left:
        return ""
    span = show_span(left)
    clock = time.strftime("%H:%M:%S" if left < 90 else "%H:%M", time.localtime(time.time() + left))
    return f"about {span} more, until {clock}"


class _Lines:
    """Plain lines, a few in a minute."""

    def __init__(self, missing: int, total: int) -> None:
        self.missing, self.said_s = missing, 0.0
        todo = show_count(missing, "run")
        print(f"{todo} to do, {total - missing} done", file=sys.stderr, flush=True)

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, done: int, elapsed_s: float, left: float | None) -> None:
        if elapsed_s - self.said_s < 15:
            return
        self.said_s = elapsed_s
        text = f"{_counted(done, self.missing)}, {_expected(left)}".removesuffix(", ")
        print(f"[{elapsed_s:6.1f} s] {text}", file=sys.stderr, flush=True)


class _Bar:
    """A bar in the last line of a terminal."""

    def __init__(self, missing: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self.bar: Any = Progress(
            BarColumn(bar_width=24),
            TextColumn("{task.fields[counted]},"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[expected]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self.missing = missing
        self.task = self.bar.add_task("", total=missing, counted="", expected="")

    def __enter__(self) -> _Bar:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def show(self, done: int, _elapsed_s: float, left: float | None) -> None:
        counted = _counted(done, self.missing)
        self.bar.update(self.task, completed=done, counted=counted, expected=_expected(left))


def _explain(wanted: list[Path], log_path: Path, *, named: bool) -> None:
    """Say why it failed: what the runs said, or the end of the log if it was none of them.

    `named`: what the runs said names them, as that of studies does; a sweep tells it itself.
    """
    failures = [failure_of(path) for path in wanted]
    said = [path.read_text(encoding="utf-8").strip() for path in failures if path.exists()]
    if said and not named:
        return
    if not said:
        said = log_path.read_text(encoding="utf-8", errors="replace").splitlines()[-_TAIL:]
    print("\n".join(said), file=sys.stderr)
    print(f"wale-lab: the runs could not be completed: see {log_path}", file=sys.stderr)
