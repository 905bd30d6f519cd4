# SPDX-License-Identifier: GPL-2.0
"""The programs of a scenario: the user's commands on its hosts, until they end or are ended."""

import os
import signal

from wale_lab.guest.shared import WORK, AgentError, now, read, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from wale_lab.guest.processes import Processes
    from wale_lab.guest.shared import Plan

    #: function(when, function, arguments...)
    At = Callable[..., None]
    Told = Callable[[str, int], None]

#: Between two looks at whether a program is ready.
LOOK_NS = 10_000_000
#: Between two looks at whether the user has hit Ctrl-C.
LISTEN_NS = 100_000_000
#: The state of a socket that listens, and the peer of one that has none, in /proc/net.
_LISTEN, _NO_PEER = "0A", ":0000"
#: What the agent itself was started with, and no program of the user's is to have.
_OURS = ("PYTHONPATH",)

MS_BIND = 4096


class Programs:
    """The programs of a plan and their state."""

    def __init__(
        self, plan: "Plan", processes: "Processes", at: "At", on_ready: "Told", on_end: "Told"
    ) -> None:
        self.plans: dict[str, Plan] = {one["name"]: one for one in plan["programs"]}
        self.folder: str = plan["files"]
        self.terminal: Plan | None = plan["terminal"]  # terminal.py
        self.processes = processes
        self.at = at
        self.records: dict[str, dict[str, Any]] = {}
        self.failed: str | None = None  # the name of the first that went wrong
        self.on_ready, self.on_end = on_ready, on_end  # called with its name and the time

    def attach(self) -> None:
        """Share the user's terminal."""
        if self.terminal is None:
            return
        writable = self.terminal["writable"]
        if writable:
            mount("hostfs", writable, "hostfs", writable)
        for knob in ("dirty_writeback_centisecs", "dirty_expire_centisecs"):
            if self.terminal["flush_cs"]:  # what they print is in files of the host
                write(f"/proc/sys/vm/{knob}", str(self.terminal["flush_cs"]))
        self._listen()

    def _listen(self) -> None:
        """Pass on Ctrl-C, which a file signals."""
        assert self.terminal is not None
        record = self.records.get(self.terminal["program"], {})
        if os.path.exists(f"{self.folder}/{self.terminal['interrupt']}"):
            if "ended_ns" not in record and "pid" in record:
                os.killpg(record["pid"], signal.SIGINT)
            else:
                self.fail(self.terminal["program"])
            return
        self.at(now() + LISTEN_NS, self._listen)

    def output(self, name: str, which: str) -> str:
        """The file that keeps an output of a program."""
        return f"{self.folder}/{name}.{which}"

    def start(self, name: str) -> None:
        """Start a program; one that cannot be started has failed."""
        plan = self.plans[name]
        record: dict[str, Any] = {"started_ns": now()}
        self.records[name] = record
        if plan["ready"] is not None and plan["ready"]["listens"]:
            record["ports"] = self._ports(plan["netns"])  # those of others
        try:
            self._spawn(plan, record)
        except OSError as error:
            record["status"] = 127 if isinstance(error, FileNotFoundError) else 126
            record["error"] = error.strerror
            self._ended(name)
            return
        if plan["until_ns"] is not None:
            when = record["started_ns"] + plan["until_ns"]
            self.at(when, self.tell, name)
        ready = plan["ready"]
        if ready is None:
            return
        if ready["time_ns"] is not None:
            self.at(record["started_ns"] + ready["time_ns"], self._is_ready, name)
        else:
            self._look(name)

    def _spawn(self, plan: "Plan", record: "dict[str, Any]") -> None:
        files = f"{self.folder}/{plan['name']}.files"
        os.makedirs(files, exist_ok=True)
        env = {k: v for k, v in os.environ.items() if k not in _OURS}
        env |= {"PYTHONUNBUFFERED": "1", **(self.terminal or {}).get("environment", {})}
        env |= {"WALE_FILES": files, **plan["env"]}
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        name = plan["name"]
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, plan["stdin"] or "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, self.output(name, "out"), flags, 0o644),
            (os.POSIX_SPAWN_OPEN, 2, self.output(name, "err"), flags, 0o644),
        ]
        for which in ("out", "err"):
            write(self.output(name, which), "")
        try:
            os.chdir(plan["cwd"])
        except OSError as error:
            error.strerror = f"its folder {plan['cwd']}: {error.strerror}"
            raise
        try:
            path = _found(plan["argv"][0], env.get("PATH", ""))
            self.processes.netns.enter(plan["netns"])
            pid = os.posix_spawn(
                path, plan["argv"], env, file_actions=actions, setsigmask=[], setsid=True,
                setsigdef=range(1, 32),
            )  # fmt: skip
        finally:
            os.chdir("/")
        record["pid"] = pid
        self.processes.children[pid] = plan["argv"][0]
        self.processes.on_exit[pid] = lambda status: self._exited(name, status)

    def _exited(self, name: str, status: int) -> None:
        self.records[name]["status"] = os.waitstatus_to_exitcode(status)
        self._ended(name)

    def _ended(self, name: str) -> None:
        record, plan = self.records[name], self.plans[name]
        record["ended_ns"] = now()
        good = plan["exit"] is None or record["status"] in plan["exit"]
        if "error" in record or (not good and "told_ns" not in record):
            self.fail(name)
        elif plan["ready"] is not None and "ready_ns" not in record and "told_ns" not in record:
            record["error"] = "it ended before it was ready"
            self.fail(name)
        self.on_end(name, record["ended_ns"])

    def fail(self, name: str) -> None:
        """Note that this program ends the run, unless another one did before."""
        self.failed = self.failed or name

    def running(self) -> list[str]:
        """The programs that have not ended."""
        return [name for name, record in self.records.items() if "ended_ns" not in record]

    def tell(self, name: str, number: int = signal.SIGTERM) -> None:
        """Ask a program and all that it started to end, and kill what does not."""
        record = self.records[name]
        if "ended_ns" in record:
            return
        if "told_ns" not in record:
            record["told_ns"] = now()
            when = record["told_ns"] + self.plans[name]["grace_ns"]
            self.at(when, self.tell, name, signal.SIGKILL)
        try:
            os.killpg(record["pid"], number)
        except ProcessLookupError:
            return

    def report(self) -> "dict[str, Any]":
        """How each that was started ended."""
        keys = ("started_ns", "ready_ns", "told_ns", "ended_ns", "status", "error", "late", "pid")
        return {
            name: {**{key: record.get(key) for key in keys}, "failed": name == self.failed}
            for name, record in self.records.items()
        }

    # Is it ready?

    def _look(self, name: str) -> None:
        """Check whether a program is ready, and again a little later if it is not."""
        record, ready = self.records[name], self.plans[name]["ready"]
        if "ended_ns" in record:
            return
        if self._has_become_ready(name):
            self._is_ready(name)
        elif now() >= record["started_ns"] + ready["within_ns"]:
            record["error"] = f"it was not ready within {ready['within_ns'] / 1e9:g} s"
            self.fail(name)
            self.tell(name)
        else:
            self.at(now() + LOOK_NS, self._look, name)

    def _is_ready(self, name: str) -> None:
        record = self.records[name]
        if "ended_ns" not in record:
            record["ready_ns"] = now()
            self.on_ready(name, record["ready_ns"])

    def _has_become_ready(self, name: str) -> bool:
        record, ready = self.records[name], self.plans[name]["ready"]
        if ready["output"] is not None:
            import re  # only this needs it

            said = read(self.output(name, "out")) + "\n" + read(self.output(name, "err"))
            return re.search(ready["output"], said, re.M) is not None
        found = self._ports(self.plans[name]["netns"])
        for kind in ("tcp", "udp"):
            if ready[kind] is not None:
                return (kind, ready[kind]) in found
        again, record["seen"] = record.get("seen", set()) & found, found
        # a UDP socket may be that of a question to a server of names: it has to stay
        new = {one for one in found - record["ports"] if one[0] == "tcp" or one in again}
        return bool(new)

    def _ports(self, netns: str) -> set[tuple[str, int]]:
        """The ports that something listens on at a host."""
        self.processes.netns.enter(netns)
        found = set()
        for kind in ("tcp", "udp"):
            for version in ("", "6"):
                for line in read(f"/proc/self/net/{kind}{version}").splitlines()[1:]:
                    _, local, peer, state, *_ = line.split()
                    if state == _LISTEN if kind == "tcp" else peer.endswith(_NO_PEER):
                        found.add((kind, int(local.rpartition(":")[2], 16)))
        return found


def _found(word: str, path: str) -> str:
    """Find the file of a program; OSError if there is none that can be run."""
    places = [word] if "/" in word else [f"{p or '.'}/{word}" for p in path.split(":")]
    found = [place for place in places if os.path.isfile(place)]
    for place in found:
        if os.stat(place).st_mode & 0o111:
            return place
    if found:
        raise PermissionError(13, f"{found[0]} is not executable")
    where = "" if "/" in word else " in PATH"
    raise FileNotFoundError(2, f"there is no program {word!r}{where}")


def mount(source: str, target: str, kind: str | None, data: str | None, flags: int = 0) -> None:
    """mount(2)."""
    import ctypes

    words = [None if word is None else word.encode() for word in (source, target, kind, data)]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(*words[:3], ctypes.c_ulong(flags), words[3]):
        raise AgentError(f"{target}: cannot be mounted: {os.strerror(ctypes.get_errno())}")


def name_hosts(names: dict[str, str]) -> None:
    """Make the hosts of the scenario known by name, in this mount namespace's /etc/hosts."""
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    lines += [f"{address} {name}" for name, address in names.items()]
    write(WORK + "/hosts", "\n".join(lines) + "\n")
    mount(WORK + "/hosts", "/etc/hosts", None, None, MS_BIND)


def ask_for_names(server: "str | None") -> None:
    """Have programs ask this server of names, if there is one, by this namespace's resolv.conf."""
    if server is None:
        return
    write(WORK + "/resolv.conf", f"nameserver {server}\n")
    place = os.path.realpath("/etc/resolv.conf")
    if not os.path.exists(place):  # a link to a file of the host's /run
        os.makedirs(os.path.dirname(place), exist_ok=True)
        write(place, "")
    mount(WORK + "/resolv.conf", place, None, None, MS_BIND)
