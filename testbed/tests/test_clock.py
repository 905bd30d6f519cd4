# SPDX-License-Identifier: GPL-2.0
"""The clock of a guest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

FINE = """\
import asyncio, time
print(time.clock_getres(time.CLOCK_MONOTONIC))
async def main():
    before = time.monotonic_ns()
    await asyncio.sleep(0.003)
    print((time.monotonic_ns() - before) // 1000000)
asyncio.run(main())
"""


@pytest.mark.guest
def test_timers_are_fine_from_the_first_one_on(guest: Callable[..., str], tmp_path: Path) -> None:
    script = (
        "ip link set lo up; tc qdisc add dev lo root wale delay 1ms; ping -c 4 -i 0.02 127.0.0.1"
    )
    said = guest("sh", "-c", script, out=tmp_path)
    assert said.count("time=2.00 ms") == 4
    assert guest("python3", "-c", FINE, out=tmp_path).split() == ["1e-09", "3"]
    read = "import time; print(time.clock_getres(time.CLOCK_REALTIME))"
    assert guest("python3", "-c", read, out=tmp_path) == "1e-09\n"
