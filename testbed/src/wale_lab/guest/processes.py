# SPDX-License-Identifier: GPL-2.0
"""The programs that the agent starts: their namespace, output and end."""

import os
import signal

from wale_lab.guest.namespaces import Namespaces
from wale_lab.guest.shared import WORK, AgentError, read, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Processes:
    """The running programs."""

    def __init__(self) -> None:
        self.netns = Namespaces()
        self.children: dict[int, str] = {}  # pid: name
        self.on_exit: dict[int, Callable[[int], None]] = {}  # pid: function(status)
        self.warnings: list[str] = []
        self._serial = 0

    def spawn(
        self,
        argv: list[str],
        netns: str | None = None,
        out: str | None = None,
        text: str | None = None,
        on_exit: "Callable[[int], None] | None" = None,
        source: str = "/dev/null",
    ) -> tuple[int, str]:
        """Start a program; its output goes to files OUT.1 and OUT.2. Return its PID and OUT."""
        out = out or self.new_out()
        if text is not None:
            source = out + ".in"
            write(source, text)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, source, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, out + ".1", flags, 0o644),
            (os.POSIX_SPAWN_OPEN, 2, out + ".2", flags, 0o644),
        ]
        self.netns.enter(netns)
        pid = os.posix_spawnp(
            argv[0], argv, os.environ, file_actions=actions, setsigmask=[],
            setsigdef=[signal.SIGPIPE],
        )  # fmt: skip
        self.children[pid] = argv[0]
        if on_exit:
            self.on_exit[pid] = on_exit
        return pid, out

    def spawn_to_talk(self, argv: list[str], netns: str | None) -> tuple[int, str, int, int]:
        """Start a program that reads what we write, and the other way round.

        Return its PID, OUT, and our descriptors: to write to, and to read from.
        """
        out = self.new_out()
        os.mkfifo(out + ".in")
        os.mkfifo(out + ".1")
        to = os.open(out + ".in", os.O_RDWR | os.O_CLOEXEC)  # to write alone, we would wait for it
        answers = os.open(out + ".1", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        pid, _ = self.spawn(argv, netns, out, source=out + ".in")
        os.set_blocking(answers, True)
        return pid, out, to, answers

    def new_out(self) -> str:
        """An OUT that no program had."""
        self._serial += 1
        return f"{WORK}/{self._serial}"

    def run(
        self,
        argv: list[str],
        netns: str | None = None,
        text: str | None = None,
        of_lines: "Sequence[dict[str, str]]" = (),
    ) -> str:
        """Run a program to its end, and return its output. An error ends the scenario.

        `of_lines`: what each line of the text belongs to, for an error of a -batch.
        """
        pid, out = self.spawn(argv, netns, text=text)
        _, status = os.waitpid(pid, 0)
        del self.children[pid]
        said = read(out + ".1")
        if status:
            raise failed(argv, netns, read(out + ".2") + said, of_lines)
        return said

    def take_ended(self) -> bool:
        """Note one process that has ended; False if none has."""
        if not self.children:
            return False
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return False
        name = self.children.pop(pid, "?")
        if pid in self.on_exit:
            self.on_exit.pop(pid)(status)
        elif status:
            self.warnings.append(f"{name} ended early with status {status}")
        return True

    def stop(self, pid: int, number: int = signal.SIGTERM) -> int | None:
        """End one of our processes and return its status.

        None if it has been waited for already: its PID may belong to another process then.
        """
        if self.children.pop(pid, None) is None:
            return None
        self.on_exit.pop(pid, None)
        os.kill(pid, number)
        return os.waitpid(pid, 0)[1]


def failed(
    argv: list[str], netns: str | None, said: str, of_lines: "Sequence[dict[str, str]]" = ()
) -> AgentError:
    """The error of a program that has failed, from what it said."""
    where, said = f" in {netns}" if netns else "", said.strip()
    line = 1 if len(of_lines) == 1 else _failed_line(said)  # a script has batches of its own
    of = dict(of_lines[line - 1], said=said) if of_lines and line else {}
    return AgentError(f"{' '.join(argv)}{where} failed: {said}", **of)


def _failed_line(said: str) -> int:
    """The number of the input line at which a program with -batch failed, or 0."""
    words = said.rpartition("Command failed -:")[2].split()
    return int(words[0]) if words and words[0].isdigit() else 0
