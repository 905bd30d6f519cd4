# SPDX-License-Identifier: GPL-2.0
"""A pytest plugin that writes down what was tested on which kernel.

It writes one JSON file for each kernel into the folder that WALE_TESTED names; without
it, nothing.  `make release-check` names one, and `make tested-table` makes Documentation/tested.rst of them.

A test with the marker `guest` runs on the kernel of the uml engine that WALE_KERNEL asks
for.  A test that runs on another one says so with the fixture `tested_on`.  All others
need no kernel: they are counted as tests of the host.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from wale_lab.engines import get_engine, kernel_build
from wale_lab.report.tested import circumstances, suite_of_selftest

#: The names of reports' categories, as pytest's last line counts them.
OUTCOMES = {
    "passed": ("passed", "subtests passed", "xfailed"),
    "failed": ("failed", "subtests failed", "error", "xpassed"),
    "skipped": ("skipped", "subtests skipped"),
}


@dataclass(frozen=True)
class Place:
    """Where a test ran."""

    engine: str
    release: str = ""  # the kernel's; "" for tests that need none
    flavour: str = ""

    @property
    def file(self) -> str:
        return "-".join(filter(None, (self.engine, self.release, self.flavour))) + ".json"


@pytest.fixture
def tested_on(record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """Say where this test runs: tested_on("vm", kernel.release) or with a flavour."""

    def say(engine: str, release: str, flavour: str = "") -> None:
        record_property("tested_on", asdict(Place(engine, release, flavour)))

    return say


def suite_of(nodeid: str) -> str:
    """The name under which a test is counted: its file's, or the kind of selftest."""
    name = Path(nodeid.partition("::")[0]).stem.removeprefix("test_")
    selftest = re.search(r"\[([\w-]+)\]$", nodeid) if name == "selftests" else None
    if selftest is None:
        return name
    return suite_of_selftest(selftest[1])


def place_of(report: pytest.TestReport) -> Place | None:
    """Where a test ran, None for the uml engine's kernel."""
    for name, value in report.user_properties:
        if name == "tested_on":
            assert isinstance(value, dict)
            return Place(**value)
    return None if "guest" in report.keywords else Place("host")


class Recorder:
    """Counts by place and suite."""

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self.config, self.folder = config, folder
        self.counts: dict[Place | None, dict[str, dict[str, int]]] = {}
        self.skips: dict[Place | None, dict[str, str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        status = self.config.hook.pytest_report_teststatus(report=report, config=self.config)
        outcome = next((o for o, names in OUTCOMES.items() if status[0] in names), None)
        if outcome is None:
            return  # set-up or tear-down that went well
        place, suite = place_of(report), suite_of(report.nodeid)
        counts = self.counts.setdefault(place, {}).setdefault(suite, dict.fromkeys(OUTCOMES, 0))
        counts[outcome] += 1
        if outcome == "skipped" and isinstance(report.longrepr, tuple):
            reason = str(report.longrepr[2]).removeprefix("Skipped: ")
            self.skips.setdefault(place, {})[report.nodeid] = reason

    def pytest_sessionfinish(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if None in self.counts:
            self.join_guest(guest_place())
        for place, suites in self.counts.items():
            assert place is not None
            record = {**asdict(place), **circumstances()}
            record |= {"suites": suites, "skips": self.skips.get(place, {})}
            file = self.folder / place.file
            file.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")

    def join_guest(self, guest: Place) -> None:
        """Count for the guest's kernel, which other tests may have named (make check SAN=1)."""
        own = self.counts.setdefault(guest, {})
        for suite, counts in self.counts.pop(None).items():
            joined = own.setdefault(suite, dict.fromkeys(OUTCOMES, 0))
            for outcome in OUTCOMES:
                joined[outcome] += counts[outcome]
        self.skips.setdefault(guest, {}).update(self.skips.pop(None, {}))


def guest_place() -> Place:
    """The kernel that tests with the marker `guest` run on."""
    text = os.environ.get("WALE_KERNEL")
    kernel = get_engine("uml").prepare(None, lambda _: None)
    return Place("uml", kernel.release, kernel_build.parse_wanted(text).flavour)


def is_worker(config: pytest.Config) -> bool:
    """Whether this is one of the processes of xdist, which report to the one that started them."""
    return hasattr(config, "workerinput")


def pytest_configure(config: pytest.Config) -> None:
    folder = os.environ.get("WALE_TESTED")
    if folder and not is_worker(config):
        config.pluginmanager.register(Recorder(config, Path(folder)))
