# SPDX-License-Identifier: GPL-2.0
"""What the tests share: how to run something in a guest; the kernel's tree; a study."""

from __future__ import annotations

import multiprocessing
import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

import tested
from wale_lab.engines import get_engine, uml
from wale_lab.engines.base import Kernel

TESTBED = Path(__file__).resolve().parents[1]

# Built once, before workers that run side by side use the modules.
os.environ.setdefault("WALE_KUNIT", "y")

#: A kernel with sanitizers or counters takes so many times as long, at most.
SLOWNESS = 20 if "+" in os.environ.get("WALE_KERNEL", "") else 1

_Guest = uml.Guest

#: Files whose tests take minutes, the longest first; `make check` has files side by side.
LONGEST = (
    "test_selftests",
    "test_reproduction",
    "test_examples",
    "test_study_command",
    "test_evaluation",
    "test_ratcp",
    "test_conform",
    "test_lint",
    "test_engine",
    "test_page",
    "test_report",
    "test_machines",
    "test_serve_limits",
)


#: Marks of tests that `make test` leaves out: it is for every few minutes of a day.
NOT_FAST = ("guest", "slow", "lint", "deb", "vm", "long", "programs")


def run_in_guest(*command: str, out: Path, limit_s: int = 60) -> str:
    """Run a command in a guest with the modules; return what it prints.

    It may write to `out`, which it sees as /run/wale/out.  WALE_GUEST names
    another program than `wale-lab exec`, with the same options.
    """
    limit_s *= SLOWNESS
    default = shlex.quote(str(TESTBED / "wale-lab")) + " exec"
    launcher = shlex.split(os.environ.get("WALE_GUEST", default))
    words = [*launcher, "--out", str(out), "--wall-limit", str(limit_s), "--", *command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=limit_s + 300)
    if done.returncode:
        raise AssertionError(f"the guest ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


@pytest.fixture(scope="session")
def guest() -> Callable[..., str]:
    """Return run_in_guest()."""
    return run_in_guest


def lab_says(what: str) -> str:
    """What `wale-lab kernel --print` says of the guest's kernel."""
    command = [str(TESTBED / "wale-lab"), "kernel", "--quiet", "--print", what]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="session")
def kernel_tree() -> Path:
    """The tree of the guest's kernel, for its scripts and headers."""
    return Path(lab_says("tree"))


@pytest.fixture(scope="session")
def ynl_folder(kernel_tree: Path) -> Path:
    """The client ynl in the tree of the guest's kernel, if there is one and a guest can run it."""
    folders = [kernel_tree / f"tools/net/ynl{inside}" for inside in ("/pyynl", "")]
    found = [folder for folder in folders if (folder / "cli.py").exists()]
    if not found:
        pytest.skip("this kernel has no client ynl")
    release = lab_says("release")
    if tuple(int(number) for number in release.split(".")[:2]) < (6, 12):
        pytest.skip(f"the environment's Python does not start in a guest of {release}")
    return found[0]


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of studies with one paper, that has one study: paper/one of study_cases.py."""
    from study_cases import LINK, PUBLISHED, STUDY
    from wale_lab.studies import study

    folder = tmp_path / "studies" / "paper"
    folder.mkdir(parents=True)
    (folder / "link.yaml").write_text(LINK)
    (folder / "one.yaml").write_text(STUDY)
    (folder / "one.csv").write_text(PUBLISHED)
    monkeypatch.setattr(study, "STUDIES", folder.parent)
    return folder


@pytest.hookimpl(tryfirst=True)  # before -m is looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is fast.  Begin with the longest files: one left for the end keeps one core busy."""
    for item in items:
        if item.get_closest_marker("kunit") or not any(map(item.get_closest_marker, NOT_FAST)):
            item.add_marker("fast")
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONGEST)))


@pytest.hookimpl(tryfirst=True)  # before fixtures of whole modules
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a fast test start no guest: the KUnit tests start theirs in a process of its own."""
    setattr(uml, "Guest", _no_guest if item.get_closest_marker("fast") else _Guest)  # noqa: B010


def _no_guest(*_: object) -> NoReturn:
    raise AssertionError("this test starts a guest: expected the mark guest (@pytest.mark.guest)")


def pytest_configure(config: pytest.Config) -> None:
    """Have what is tested written down; let tests interrupt what they start."""
    config.pluginmanager.register(tested)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close with the plain line that every kind of test runner could print.

    Who adds up several runs finds it in the file WALE_LAST_LINES too.
    """
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not reporter.stats or tested.is_worker(config):
        return
    counts = {
        outcome: sum(len(reporter.stats.get(name, ())) for name in names)
        for outcome, names in tested.OUTCOMES.items()
    }
    line = "{passed} passed, {failed} failed, {skipped} skipped".format(**counts)
    print(line)
    if "WALE_LAST_LINES" in os.environ:
        with Path(os.environ["WALE_LAST_LINES"]).open("a") as file:
            print(line, file=file)


@pytest.fixture(scope="session")
def san_version() -> str:
    """The wanted kernel with sanitizers: that of WALE_KERNEL's line."""
    return os.environ.get("WALE_KERNEL", "").partition("+")[0] + "+san"


@pytest.fixture(scope="session")
def san_kernel(san_version: str) -> Kernel:
    """The guest kernel with sanitizers."""
    if san_version == "6.1+san":
        pytest.skip(
            "User-Mode Linux 6.1 walks its own maple tree without RCU when it forks "
            "(force_flush_all() in arch/um), so lockdep turns itself off at once"
        )
    return get_engine("uml").prepare(san_version, print)


@pytest.fixture
def not_on_san() -> Callable[[str], None]:
    """Skip a test where the guest's kernel has sanitizers: not_on_san(why)."""

    def say(why: str) -> None:
        if os.environ.get("WALE_KERNEL", "").endswith("+san"):
            pytest.skip(why)

    return say


@pytest.fixture
def small_guest(not_on_san: Callable[[str], None]) -> None:
    """A test with a guest of 64 MB."""
    not_on_san("a kernel with sanitizers does not boot in 64 MB")


@pytest.fixture
def on_san(san_kernel: Kernel, tested_on: Callable[..., None]) -> None:
    """Count a test as one of the kernel with sanitizers."""
    tested_on("uml", san_kernel.release, "san")


@contextmanager
def busy_cpus() -> Iterator[None]:
    """Something else that keeps every CPU busy."""
    loops = [
        multiprocessing.get_context("fork").Process(target=_spin, daemon=True)
        for _ in os.sched_getaffinity(0)
    ]
    for loop in loops:
        loop.start()
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.join()


def _spin() -> None:
    while True:
        pass
