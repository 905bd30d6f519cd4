# SPDX-License-Identifier: GPL-2.0
"""Inside the guest: packets through one qdisc after the other, by the module wale_bench.

python3 -P -s -S packets_guest.py PLAN, a JSON list of {commands, settings, change}
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from array import array
from pathlib import Path
from typing import Any

from wale_lab.selftest.wale import Control

FILES = Path("/sys/kernel/debug/wale_bench")
DEVICE = "wbench0"


def _ticks() -> tuple[int, int]:
    """Of the CPU that we are on, so far: idle ones, and all."""
    cpu = os.sched_getaffinity(0).pop()
    for line in Path("/proc/stat").read_text().splitlines():
        name, *fields = line.split()
        if name == f"cpu{cpu}":
            ticks = [int(field) for field in fields[:8]]
            return ticks[3], sum(ticks)
    raise SystemExit(f"/proc/stat has no cpu{cpu}")


def _wait_until_idle(times: int = 1) -> None:
    """What else runs in the guest would be taken for a cost."""
    calm = 0
    for _ in range(200):
        idle, total = _ticks()
        time.sleep(0.5)
        idle_after, total_after = _ticks()
        calm = calm + 1 if idle_after - idle >= 0.97 * (total_after - total) else 0
        if calm == times:
            return
    raise SystemExit("this guest does not come to rest")


def _free_kb() -> int:
    """Memory that nobody uses."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("MemFree:"))


def _lateness() -> dict[str, float]:
    """How late packets came out, ns."""
    late = array("i", (FILES / "lateness_ns").read_bytes())
    if not late:
        return {}
    ordered = sorted(late)
    places = {"p0": 0, "p50": 0.5, "p99": 0.99, "p99.9": 0.999, "p100": 1}
    found = {name: ordered[round(share * (len(late) - 1))] for name, share in places.items()}
    return {**found, "mean": sum(late) / len(late)}


def _set_up() -> None:
    """Nothing but what is sent is to be on the device."""
    ipv6 = Path(f"/proc/sys/net/ipv6/conf/{DEVICE}/disable_ipv6")
    if ipv6.exists():
        ipv6.write_text("1")
    subprocess.run(["ip", "link", "set", DEVICE, "up"], check=True)
    os.sched_setaffinity(0, {0})


def _command(words: str) -> None:
    """Run a command; what it prints is shown if it fails."""
    done = subprocess.run(words.split(), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{words}: {done.stdout}{done.stderr}")


def _clear() -> None:
    """Take off the qdisc, and filters."""
    _command(f"tc qdisc replace dev {DEVICE} root noqueue")
    subprocess.run(
        ["tc", "qdisc", "del", "dev", DEVICE, "clsact"], stderr=subprocess.DEVNULL, check=False
    )


def _load(plan: list[dict[str, Any]]) -> None:
    """Make each qdisc once: a kernel that has to load a module for it is busy for a while."""
    for commands in {tuple(step["commands"]) for step in plan}:
        for command in commands:
            _command(command)
        _clear()


class _Run(threading.Thread):
    """The module sends; everything else goes on."""

    def run(self) -> None:
        (FILES / "run").write_text("1")


def _change_meanwhile(change: dict[str, int]) -> float:
    """Send, and meanwhile change and ask for the qdisc over and over; return changes/s.

    The changes: the same rate again, and another limit, which nothing comes near.
    """
    control, device = Control(), socket.if_nametoindex(DEVICE)
    sending = _Run()
    sending.start()
    changes = 0
    begun_s = time.monotonic()
    while sending.is_alive():
        limit = 10_000 + changes % 2
        control.change(device, {"rate": change["rate"], "limit_packets": limit})
        control.get(device)
        changes += 1
        # From the beginning, so that what a change takes and a late timer add up to nothing.
        due_s = begun_s + changes / change["per_second"]
        time.sleep(max(0, due_s - time.monotonic()))
    return changes / (time.monotonic() - begun_s)


def _measure(step: dict[str, Any]) -> dict[str, Any]:
    """One qdisc: make it, send, see what it took."""
    for command in step["commands"]:
        _command(command)
    for name, value in step["settings"].items():
        (FILES / name).write_text(str(value))
    _wait_until_idle()
    free_kb = _free_kb()
    changes_per_s = 0.0
    if step.get("change"):
        changes_per_s = _change_meanwhile(step["change"])
    else:
        (FILES / "run").write_text("1")
    used_kb = free_kb - _free_kb()
    result: dict[str, Any] = {}
    for line in (FILES / "result").read_text().splitlines():
        name, *values = line.split()
        result[name] = [int(value) for value in values]
        if name != "busy_ns":
            (result[name],) = result[name]
    _clear()
    return {
        "changes_per_s": changes_per_s,
        "used_kb": used_kb,
        "lateness_ns": _lateness(),
        **result,
    }


def main() -> None:
    """Print a JSON list, a result for each step."""
    plan = json.loads(sys.argv[1])
    _set_up()
    _load(plan)
    _wait_until_idle(times=3)
    print(json.dumps([_measure(step) for step in plan]))


if __name__ == "__main__":
    main()
