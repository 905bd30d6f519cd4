# SPDX-License-Identifier: GPL-2.0
"""Test Anything Protocol, as the kernel's selftests print it."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Callable, Sequence

PASS, FAIL, SKIP = 0, 1, 4


class Skip(Exception):
    """Raised by a test that cannot run here; the text says why."""


def in_virtual_time() -> bool:
    """Tell whether no time passes between two requests."""
    with open("/proc/cmdline", encoding="ascii", errors="replace") as file:
        return "time-travel" in file.read()


def virtual_time(why: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Mark a test that needs virtual time, with the reason; it is skipped in real time."""

    def mark(test: Callable[[], None]) -> Callable[[], None]:
        @functools.wraps(test)
        def skipped() -> None:
            raise Skip(f"needs virtual time: {why}")

        return test if in_virtual_time() else skipped

    return mark


def equal(got: object, expected: object, what: str = "") -> None:
    """Fail unless two things are equal."""
    if got != expected:
        raise AssertionError(f"{what or 'value'}: got {got!r}, expected {expected!r}")


def true(condition: object, what: str) -> None:
    """Fail unless a condition holds."""
    if not condition:
        raise AssertionError(what)


#: Parents say once of a link that it is not work-conserving, as they say of netem and tbf.
NOT_WORK_CONSERVING = ": wale qdisc "


def kernel_warnings(lines: Sequence[str]) -> list[str]:
    """Return the lines of the kernel log that report trouble."""
    signs = ["WARNING", "BUG", "Call Trace", "Oops", "refcount", "leak", "sch_wale"]
    signs += ["unregister_netdevice", "non-work-conserving", "scheduling while atomic"]
    signs += ["sleeping function"]
    harmless = ("loading out-of-tree module", "module verification failed", NOT_WORK_CONSERVING)
    return [
        line
        for line in lines
        if any(sign in line for sign in signs) and not any(word in line for word in harmless)
    ]


class KernelLog:
    """What the kernel logs from now on, even if its ring is full."""

    def __init__(self) -> None:
        self.file = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.file, 0, os.SEEK_END)

    def news(self) -> list[str]:
        """Return what was logged since the last call."""
        lines = []
        while True:
            try:
                lines.append(os.read(self.file, 8192).decode(errors="replace").rstrip())
            except BlockingIOError:
                return lines
            except BrokenPipeError:  # it was too fast for us
                continue


def tests_here() -> list[Callable[[], None]]:
    """The functions test_* of the running program, in their order."""
    return [
        thing
        for name, thing in vars(sys.modules["__main__"]).items()
        if name.startswith("test_") and thing.__module__ == "__main__"
    ]


def main(
    tests: Sequence[Callable[[], None]] | None = None,
    warnings: Callable[[Sequence[str]], list[str]] = kernel_warnings,
) -> None:
    """Run these tests, or all that the program has, print TAP, exit 0 if none failed."""
    tests = tests or tests_here()
    print("TAP version 13")
    print(f"1..{len(tests)}")
    failed = 0
    log = KernelLog()
    for number, test in enumerate(tests, start=1):
        name = test.__name__.removeprefix("test_")
        log.news()
        try:
            test()
            news = warnings(log.news())
            true(not news, "the kernel logged: " + " | ".join(news[:5]))
            print(f"ok {number} {name}")
        except Skip as reason:
            print(f"ok {number} {name} # SKIP {reason}")
        except Exception as error:  # every failure is a result
            failed += 1
            print(f"not ok {number} {name}")
            print(f"# {type(error).__name__}: {error}")
            for line in traceback.format_exc().splitlines()[1:-1]:
                print(f"# {line}")
        sys.stdout.flush()
    sys.exit(FAIL if failed else PASS)
