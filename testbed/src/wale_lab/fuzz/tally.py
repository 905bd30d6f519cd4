# SPDX-License-Identifier: GPL-2.0
"""What was accepted and refused, by command and attribute; and what is wrong."""

from __future__ import annotations

import errno
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from wale_lab.fuzz.wire import Message
from wale_lab.units import show_count

#: Findings that are kept; one kind is shown once, with how often there was it.
MANY = 40


class Tally:
    """Counters of a run."""

    def __init__(self, out: Path, seed: int) -> None:
        self.out = out
        self.seed = seed
        self.messages = 0
        self.number = 0  # of the message, or of the first of the batch, that is being sent
        self.origins: Counter[str] = Counter()
        self.senders: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.accepted: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.checks: Counter[str] = Counter()
        self.findings: Counter[str] = Counter()

    def saw(self, message: Message, names: Iterable[str]) -> None:
        """Count the outcome of a message for each of its parts."""
        counter = self.refused if message.refused else self.accepted
        for name in names:
            counter[name] += 1
        self.origins[message.origin] += 1
        if message.error:
            self.errors[errno.errorcode.get(message.error, str(message.error))] += 1

    def finding(
        self, target: str, what: str, messages: Sequence[Message], detail: str = ""
    ) -> None:
        """Record a failure, with the messages that reproduce it."""
        self.findings[what] += 1
        if self.findings[what] > 1 or len(self.findings) > MANY:
            return
        name = f"finding-{len(self.findings)}.json"
        print(f"FINDING {what}: seed {self.seed}, message {self.number} ({name})", flush=True)
        for line in detail.splitlines():
            print(f"    {line}", flush=True)
        case = as_case(what, target, messages)
        (self.out / name).write_text(json.dumps(case, indent=1) + "\n")

    def gaps(self, expected: Iterable[str], never: Iterable[str]) -> list[str]:
        """Return what should have been accepted and refused, or never accepted, and was not."""
        wrong = []
        for name in expected:
            for word, counter in (("accepted", self.accepted), ("refused", self.refused)):
                if not counter[name]:
                    wrong.append(f"{name} was never {word}")
        for name in never:
            if self.accepted[name]:
                wrong.append(f"{name} was accepted {show_count(self.accepted[name], 'time')}")
            if not self.refused[name]:
                wrong.append(f"{name} was never sent")
        return wrong

    def report(self) -> None:
        """Print the tables."""
        for title, counter in (
            ("messages", self.origins),
            ("senders", self.senders),
            ("errors", self.errors),
            ("checks", self.checks),
        ):
            print(f"{title}: " + ", ".join(f"{k} {v}" for k, v in sorted(counter.items())))
        print(f"{'command or attribute':40} {'accepted':>10} {'refused':>10}")
        for name in sorted(self.accepted | self.refused):
            print(f"{name:40} {self.accepted[name]:10} {self.refused[name]:10}")


def as_case(what: str, target: str, messages: Sequence[Message]) -> dict[str, object]:
    """Return messages as a file of cases/ has them."""
    return {
        "broke": what,
        "target": target,
        "messages": [bytes(message.data).hex() for message in messages],
    }
