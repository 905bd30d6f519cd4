# SPDX-License-Identifier: GPL-2.0
"""Failing allocations: the n-th of a task, or those below one call in a module.

A kernel with FAULT_INJECTION_STACKTRACE_FILTER (flavour san) lets an allocation fail
only if its stack has an address of a given range.  The return address of a call in a
module is such a range, so each call below which memory is allocated can be made to
fail by itself, whether a task, a worker or a softirq makes it.
"""

from __future__ import annotations

import errno
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wale_lab.selftest import net
from wale_lab.selftest.tap import Skip, true

DEBUGFS = Path("/sys/kernel/debug")
FAILSLAB = DEBUGFS / "failslab"
FAIL_PAGE = DEBUGFS / "fail_page_alloc"
NO_LIMIT = 1 << 30
REFUSALS = (errno.ENOMEM, errno.ENOBUFS)

#: Functions of the kernel, called by modules, that allocate memory.
ALLOCATES = re.compile(
    r"alloc|memdup|strdup|asprintf|rhashtable_(init|insert_slow)|bucket_nested_insert"
    r"|block_get|idr_create|anon_inode_getfile|gso_segment|skb_clone|skb_ensure_writable"
    r"|(^|_)register_(?!globals)|netlink_(broadcast|unicast)|request_module|kvfree_call_rcu"
)


class Failing:
    """Makes the n-th allocation of this task fail, by /proc/thread-self/fail-nth."""

    def __init__(self) -> None:
        if not FAILSLAB.exists():
            raise Skip("no fault injection in this kernel")
        net.write(str(FAILSLAB / "ignore-gfp-wait"), "N")
        net.write(str(FAILSLAB / "verbose"), "0")
        self.knob = os.open("/proc/thread-self/fail-nth", os.O_RDWR)

    def attempt(self, number: int, action: Callable[[], object]) -> tuple[int, bool]:
        """Act with one failing allocation; return (allocations reached, whether it was refused)."""
        refused = False
        os.pwrite(self.knob, str(number).encode(), 0)
        try:
            action()
        except OSError as error:
            refused = True
            code = error.errno
        left = int(os.pread(self.knob, 20, 0).rstrip(b"\0"))
        os.pwrite(self.knob, b"0", 0)
        if refused:
            true(code in REFUSALS, f"refused for another reason: {code}")
        return number - left, refused

    def sweep(self, action: Callable[[], None], after: Callable[[bool], None]) -> int:
        """Make the 1st, 2nd, ... allocation fail until there are no more; return their number."""
        for number in range(1, 300):
            met, refused = self.attempt(number, action)
            after(refused)
            if met < number:
                return number - 1
        raise AssertionError("allocations without end")


@dataclass(frozen=True)
class Site:
    """A call in a module below which memory is allocated."""

    module: str
    function: str
    callee: str
    section: str
    place: int  # of the instruction after the call, within the section

    def __str__(self) -> str:
        return f"{self.module} {self.function}: {self.callee}"

    @property
    def once(self) -> bool:
        """Tell whether it runs only while the module is loaded."""
        registers = re.match(r"(genl_)?register_(?!net_sysctl)", self.callee)
        return self.section == ".init.text" or bool(registers)

    def text(self) -> tuple[int, int]:
        """Return the range of addresses that is on the stack only below this call."""
        if self.once:  # the address is known too late: all of the callee
            return function_text(self.callee)
        base = int(net.read(f"/sys/module/{self.module}/sections/{self.section}"), 16)
        return base + self.place, base + self.place + 1


def sites(module: str, path: str) -> list[Site]:
    """Return the calls in a module file that lead to allocations, in the order of its text."""
    words = ["objdump", "--disassemble", "--reloc", "--wide", "--no-show-raw-insn", path]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found = []
    section = function = ""
    loaded: dict[str, str] = {}  # what a register points to: calls are indirect in UML
    pending = ""
    for line in text.splitlines():
        instruction = re.match(r" *([0-9a-f]+):\t(\S+)\s*([^\t]*)(?:\t.*\sR_\w+\s+([\w.]+))?", line)
        if line.startswith("Disassembly of section "):
            section = line.split()[3].rstrip(":")
        elif name := re.match(r"[0-9a-f]+ <(.+)>:$", line):
            function, loaded = name[1], {}
        elif instruction:
            place, operation, operands, symbol = instruction.groups()
            if pending:
                found.append(Site(module, function, pending, section, int(place, 16)))
                pending = ""
            if operation == "movabs" and symbol:
                loaded[operands.split(",%")[-1].strip()] = symbol
            elif operation.startswith("call"):
                callee = symbol or loaded.get(operands.strip().removeprefix("*%"), "")
                pending = callee if ALLOCATES.search(callee) else ""
    return found


def function_text(name: str) -> tuple[int, int]:
    """Return the address of a kernel function."""
    addresses = []
    start = 0
    for line in net.read("/proc/kallsyms").splitlines():
        address, _, symbol = line.split()[:3]
        addresses.append(int(address, 16))
        if symbol == name:
            start = addresses[-1]
    true(start, f"/proc/kallsyms has no {name}")
    return start, min(address for address in addresses if address > start)


def module_text(module: str) -> tuple[int, int]:
    """Return the address of the text of a loaded module."""
    for line in net.read("/proc/modules").splitlines():
        name, size, *_, address = [word for word in line.split() if not word.startswith("(")]
        if name == module:
            return int(address, 16), int(address, 16) + int(size)
    raise AssertionError(f"{module} is not loaded")


class Faults(Failing):
    """Makes allocations fail whose stack has an address in a range."""

    KNOBS = (FAILSLAB, FAIL_PAGE)

    def __init__(self) -> None:
        super().__init__()
        if not all((knobs / "require-start").exists() for knobs in self.KNOBS):
            raise Skip("no filter of faults by their stack: +san has it, from 6.12 on")
        net.write(str(FAIL_PAGE / "min-order"), "0")
        net.write(str(FAIL_PAGE / "ignore-gfp-wait"), "N")
        self._set("verbose", 0)
        self._set("stacktrace-depth", 32)

    def _set(self, name: str, value: int) -> None:
        for knobs in self.KNOBS:
            net.write(str(knobs / name), str(value))

    @contextmanager
    def below(self, text: tuple[int, int]) -> Iterator[None]:
        """Allow only allocations below this text to fail."""
        self._set("require-start", text[0])
        self._set("require-end", text[1])
        try:
            yield
        finally:
            self._set("require-start", 0)
            self._set("require-end", (1 << 64) - 1)

    @contextmanager
    def but_below(self, module: str) -> Iterator[None]:
        """Exclude those that are below this module as well."""
        if module:
            begin, end = module_text(module)
            self._set("reject-start", begin)
            self._set("reject-end", end)
        try:
            yield
        finally:
            self._set("reject-start", 0)
            self._set("reject-end", 0)

    def count(self, text: tuple[int, int], action: Callable[[], object]) -> int:
        """Act without a failure; return the number of allocations below this text."""
        with self.below(text):
            met, refused = self.attempt(NO_LIMIT, action)
        true(not refused, "refused without a failure")
        return met

    def all_fail(self, text: tuple[int, int], action: Callable[[], object]) -> tuple[int, bool]:
        """Act while all allocations below fail; return (their number, whether it was refused)."""
        refused = False
        with self.below(text):
            self._set("times", NO_LIMIT)
            self._set("probability", 100)
            try:
                action()
            except OSError as error:
                true(error.errno in REFUSALS, f"refused for another reason: {error}")
                refused = True
            finally:
                self._set("probability", 0)
        left = [int(net.read(str(knobs / "times"))) for knobs in self.KNOBS]
        self._set("times", -1)
        return sum(NO_LIMIT - number for number in left), refused
