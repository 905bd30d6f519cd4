# SPDX-License-Identifier: GPL-2.0
"""A tc for each namespace, which shows its qdiscs whenever it is asked.

For a guest, the start of a program costs far more than what tc does then.
"""

import json
import os

from wale_lab.guest.processes import failed
from wale_lab.guest.shared import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wale_lab.guest.processes import Processes

_COMMAND = ["tc", "-s", "-j", "-batch", "-"]
_QUESTION = "qdisc show\n"
#: With more namespaces than this, none keeps its tc: each takes memory and open files.
_KEPT = 16


class Tc:
    """The tc of each of these namespaces, from the first time that it is needed."""

    def __init__(self, processes: "Processes", namespaces: list[str]) -> None:
        self.processes = processes
        self.namespaces = list(dict.fromkeys(namespaces))
        self._kept = len(self.namespaces) <= _KEPT
        self._running: dict[str, tuple[int, str, int, int]] = {}  # spawn_to_talk()

    def qdiscs(self, netns: str) -> "list[dict[str, Any]]":
        """All qdiscs of a namespace, with their statistics."""
        answer = self._ask(netns) if self._kept else self.processes.run(_COMMAND, netns, _QUESTION)
        found: list[dict[str, Any]] = json.loads(answer)
        return found

    def _ask(self, netns: str) -> str:
        """What the tc of a namespace answers; it is started if need be."""
        if netns not in self._running:
            self._running[netns] = self.processes.spawn_to_talk(_COMMAND, netns)
        _, out, to_tc, from_tc = self._running[netns]
        answer = b""
        os.write(to_tc, _QUESTION.encode())
        while not answer.endswith(b"\n"):
            piece = os.read(from_tc, 2**16)
            if not piece:
                self._end(netns)
                raise failed(_COMMAND, netns, read(out + ".2"))
            answer += piece
        return answer.decode()

    def _end(self, netns: str) -> None:
        pid, _, to_tc, from_tc = self._running.pop(netns)
        os.close(to_tc)
        os.close(from_tc)
        os.waitpid(pid, 0)
        del self.processes.children[pid]
