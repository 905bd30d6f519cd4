# SPDX-License-Identifier: GPL-2.0
"""Several guests in one virtual time: their clocks, what crosses between them, how they end."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any

import pytest

from conftest import SLOWNESS, busy_cpus
from wale_lab.engines import coverage, get_engine, guest_clock, together
from wale_lab.engines.base import EngineError, Job, Kernel, Outcome
from wale_lab.engines.modules import find_modules, find_userspace
from wale_lab.engines.together import Wire, run_together

pytestmark = pytest.mark.guest

#: A link of 10 ms between two guests.
LINK = Wire((0, 1), (10_000_000,) * 2, (10**9,) * 2)

SLEEPS = "import time\nfor n in range({}): time.sleep(0.001)\nprint(time.clock_gettime_ns(1))"
STAGE = "/sys/module/wale_wire/parameters/stage"


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return get_engine("uml").prepare(None, print)


@pytest.fixture(scope="module")
def older() -> Kernel:
    return get_engine("uml").prepare("6.1", print)


def job(kernel: Kernel, script: str, python: bool = False) -> tuple[Kernel, Job]:
    words = ["/usr/bin/python3", "-S", "-c"] if python else ["/bin/sh", "-ec"]
    modules = find_modules(kernel, ["sch_wale", "wale_wire"], print)
    env = find_userspace(print)
    return kernel, Job([*words, script], env=env, memory_mb=128, wall_limit_s=120, modules=modules)


def all_at(stage: int) -> str:
    """Lines of a script that go on when all guests have come as far."""
    return f"echo {stage} >{STAGE}; cat {STAGE} >/run/stage\n"


def end_of(number: int, script: str) -> str:
    """A script at an end of the link."""
    own, other = number + 1, 2 - number
    return f"""
    sysctl -qw net.ipv6.conf.all.disable_ipv6=1
    ip link set wire0 address 02:00:00:00:00:0{own} up
    ip address add 10.0.0.{own}/24 dev wire0
    ip neighbour add 10.0.0.{other} lladdr 02:00:00:00:00:0{other} dev wire0 nud permanent
    {all_at(1)}{script}
    {all_at(3)}cat /proc/uptime
    """


def both(kernels: list[Kernel], scripts: list[str], wire: Wire = LINK) -> list[Outcome | None]:
    members = [job(k, end_of(n, s)) for n, (k, s) in enumerate(zip(kernels, scripts, strict=True))]
    return run_together(members, [wire])


def consoles(outcomes: list[Outcome | None]) -> list[str]:
    for outcome in outcomes:
        assert outcome is not None and outcome.reason == "ok", outcome
        assert not outcome.complaints
    return [outcome.console for outcome in outcomes if outcome]


def test_sleeps_end_at_the_same_nanosecond(kernel: Kernel) -> None:
    members = [job(kernel, SLEEPS.format(500), python=True) for _ in range(2)]
    first, second = consoles(run_together(members))
    assert first == second and int(first) > 500_000_000


def test_one_that_sleeps_longer_goes_on_alone(kernel: Kernel) -> None:
    members = [job(kernel, SLEEPS.format(n), python=True) for n in (10, 300)]
    short, long = consoles(run_together(members))
    assert int(long) - int(short) >= 290_000_000


def test_packets_take_the_delay_exactly(kernel: Kernel, older: Kernel) -> None:
    ping = "ping -c 3 -i 0.1 10.0.0.2"
    here, _ = consoles(both([kernel, older], [ping, ":"]))
    assert "3 received" in here
    times = re.search(r"rtt min/avg/max/mdev = ([\d.]+)/[\d.]+/([\d.]+)", here)
    assert times is not None
    assert [float(t) for t in times.groups()] == pytest.approx([20, 20], abs=0.002)


def test_neither_load_nor_cores_change_anything(kernel: Kernel) -> None:
    send = "tc qdisc add dev wire0 root wale rate 10mbit delay 0 limit 100kB seed 1\n"
    send += "wale serve --listen 10.0.0.1 --port 5001 --idle-timeout 100 /bin & sleep 1\n"
    send += f"{all_at(2)}tc -s -j qdisc show dev wire0; kill $!"
    get = "sleep 2; wale get 10.0.0.1:bash --port 5001 --json --no-progress -o /run/bash\n"
    get += all_at(2)
    wanted = consoles(both([kernel] * 2, [send, get]))
    assert '"sha256"' in wanted[1]
    with busy_cpus():
        assert consoles(both([kernel] * 2, [send, get])) == wanted
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert consoles(both([kernel] * 2, [send, get])) == wanted
    finally:
        os.sched_setaffinity(0, allowed)


def test_a_guest_that_fails_ends_the_others(kernel: Kernel) -> None:
    panic = "echo here it is; echo c >/proc/sysrq-trigger 2>/dev/null || kill -9 $$"
    failed, other = both([kernel] * 2, [panic, "sleep 1000000"])
    assert failed is not None and failed.reason != "ok" and "here it is" in failed.console
    assert other is None


def test_a_busy_guest_is_told_of_among_others(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Others wait for it, and have no outcome."""
    monkeypatch.setattr(guest_clock, "CREEPS_S", 1.0)
    members = [job(kernel, script) for script in ("sleep 100", "while :; do :; done")]
    limited = [(one, replace(own, wall_limit_s=8 * SLOWNESS)) for one, own in members]
    waiting, busy = run_together(limited)
    assert waiting is None and busy is not None and busy.reason == "timeout"
    says = "in the last second, in which sh ran"
    assert says in busy.describe() and capfd.readouterr().err.count(says) == 1


def test_windows_that_are_killed_are_named(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    def kill(group: Any, _left: object) -> None:
        group.windows.kill()
        group.windows.wait()

    monkeypatch.setattr(together._Group, "_pause", kill)
    with pytest.raises(EngineError, match=r"^guest_windows, which .*, ended with signal 9$"):
        run_together([job(kernel, "while sleep 1; do :; done")])


def test_a_ring_that_is_full_ends_the_run(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "_LEAST_RING", 4096)
    flood = "ping -q -c 50 -l 50 -s 1000 10.0.0.2"
    with pytest.raises(EngineError, match=r"guest 0 to guest 1 failed at [\d.]+ s: it is full"):
        both([kernel] * 2, [flood, ":"], Wire((0, 1), (10_000_000,) * 2, (10**6,) * 2))


FLOOD = """
import socket
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
wire.bind(("wire0", 0))
for n in range(3000): wire.send(bytes.fromhex("020000000002020000000001ffff") + bytes(60000))
"""


def test_what_is_on_its_way_needs_no_memory_of_its_receiver(kernel: Kernel) -> None:
    """180 MB of packets that arrive in one window, in a guest of 128 MB."""
    up = "ip link set wire0 mtu 65000\n"
    send = f"{up}cat >/run/flood <<'END'{FLOOD}END\npython3 -S /run/flood"
    count = f"{up}sleep 4; cat /sys/class/net/wire0/statistics/rx_packets"
    wire = Wire((0, 1), (2_000_000_000,) * 2, (10**9,) * 2)
    _, there = consoles(both([kernel] * 2, [send, count], wire))
    assert "\n3000\n" in f"\n{there}"


ROUND_THE_QDISC = """
import socket
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.setsockopt(263, 20, 1)  # PACKET_QDISC_BYPASS
wire.bind(("wire0", 0))
for n in range(9): wire.send(bytes.fromhex("020000000002020000000001ffff") + bytes(60))
"""


def test_what_goes_round_the_qdisc_leaves_at_once(kernel: Kernel) -> None:
    send = "tc qdisc add dev wire0 root wale rate 1mbit delay 0 limit 100kB seed 1\n"
    send += f"cat >/run/send <<'END'{ROUND_THE_QDISC}END\npython3 -S /run/send"
    count = "sleep 1; cat /sys/class/net/wire0/statistics/rx_packets"
    _, there = consoles(both([kernel] * 2, [send, count]))
    assert "\n9\n" in f"\n{there}"


def test_a_device_that_is_down_gets_nothing(kernel: Kernel) -> None:
    ping = "sleep 0.1; ping -q -c 3 -i 0.1 -W 1 10.0.0.2 || :"
    down = "ip link set wire0 down; sleep 2; cat /sys/class/net/wire0/statistics/rx_packets"
    down += "; ethtool -k wire0"
    here, there = consoles(both([kernel] * 2, [ping, down]))
    assert "3 packets transmitted, 0 received" in here
    assert "\n0\n" in f"\n{there}"
    # what is a list of packets would arrive as one that is none
    assert "tx-gso-list: off [fixed]" in there and "tx-sctp-segmentation: off [fixed]" in there


def test_what_all_guests_count_is_kept(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[str] = []
    monkeypatch.setattr(coverage, "counts", lambda _: True)
    monkeypatch.setattr(coverage, "AFTER", "echo after >>/run/wale/job/counts")
    monkeypatch.setattr(
        coverage, "keep", lambda folder: kept.append((folder / "counts").read_text())
    )
    count = "echo $GCOV_PREFIX >/run/wale/job/counts"
    consoles(run_together([job(kernel, count) for _ in range(2)]))
    assert kept == ["/run/wale/job/gcov\nafter\n"] * 2


def test_links_that_are_too_short_are_refused(kernel: Kernel) -> None:
    with pytest.raises(EngineError, match="a delay of at least 50 us on a link between guests"):
        both([kernel] * 2, [":", ":"], Wire((0, 1), (10_000_000, 49_999), (None, None)))


def test_what_guests_share_goes_with_the_launcher() -> None:
    with together._memory(2, [LINK]) as path:
        assert str(path.readlink()).startswith("/memfd:")
        assert path.stat().st_size > LINK.ring_bytes(0) + LINK.ring_bytes(1)
    assert not path.exists()
