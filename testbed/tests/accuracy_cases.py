# SPDX-License-Identifier: GPL-2.0
"""The streams and links of test_accuracy.py: what is sent, through what.

A case is data: a way for packets to come (see selftests/accuracy_source.py),
the link's options in the units of the netlink attributes, the gaps and IP
sizes of the packets, and changes of the link before some of them.  Everything
random comes from fixed seeds.
"""

from __future__ import annotations

import random
from typing import Any

Case = dict[str, Any]

MS = 10**6
TWO32 = 1 << 32
HALF = 1 << 31
PERCENT = TWO32 // 100

SESSIONS = {"arrival": TWO32 // 5, "mean": 4 * TWO32, "max": 5, "step": 7 * MS}
TABLE_I = {"arrival": TWO32 // 20, "mean": 20 * TWO32, "max": 3, "step": 100 * MS}
TRACE = [(3 * MS, 10**6), (1_234_567, 0), (5 * MS, 77_777), (1000, 10**9), (2 * MS, 3 * 10**6)]


def stream(seed: int, count: int, mean_gap_ns: int) -> list[list[int]]:
    """Return packets [gap_ns, IP bytes]: single ones, bursts and pauses."""
    rng = random.Random(seed)
    packets = []
    for _ in range(count):
        size = rng.choice([40, 1500, 1500, rng.randint(40, 1500), rng.randint(40, 100)])
        gap = rng.choice([0, 0, 0, mean_gap_ns, rng.randint(0, 4 * mean_gap_ns)])
        packets.append([gap, size])
    return packets


def gso_stream(seed: int, count: int, mean_gap_ns: int) -> list[list[int]]:
    """Return sends [gap_ns, data bytes, segment bytes] of UDP_SEGMENT."""
    rng = random.Random(seed)
    sends = []
    for _ in range(count):
        segment = rng.choice([100, 536, 1472, rng.randint(12, 1472)])
        data = rng.randint(1, min(64 * segment, 65000))
        sends.append([rng.choice([0, mean_gap_ns, 5 * mean_gap_ns]), data, segment])
    return sends


def _case(
    name: str, way: str, packets: list[list[int]], options: dict[str, Any], **rest: Any
) -> Case:
    return {"name": name, "way": way, "packets": packets, "options": {"seed": 1} | options} | rest


def _constant() -> list[Case]:
    cases = []
    rates = [1000, 125_000, 1_234_567, 428_571_428, 10**15, (1 << 64) - 1]
    for number, rate in enumerate(rates):
        for way in ("local", "routed"):
            gap = max(min(10**12 // rate, 10**9), 2000)
            options: dict[str, Any] = {"rate": rate, "limit_packets": 20}
            if number % 2:
                options = {"rate": rate, "limit_bytes": 15_000, "delay": 50 * MS + number}
            cases.append(_case(f"constant-{number}-{way}", way, stream(number, 400, gap), options))
    return cases


def _overhead() -> list[Case]:
    return [
        _case(
            f"overhead-{overhead}-{limit}",
            "routed",
            stream(len(overhead), 300, 900_000),
            {"rate": 10**6, "overhead": overhead, f"limit_{limit}": size, "delay": 3 * MS},
        )
        for overhead in ("raw", "ethernet", "atm")
        for limit, size in (("packets", 7), ("bytes", 9000))
    ]


def _trace() -> list[Case]:
    cases = [
        _case(
            f"trace-{end}-{way}",
            way,
            stream(11 + len(way), 400, 1 * MS),
            {"trace": TRACE, "trace_end": end, "limit_bytes": 20_000, "delay": 20 * MS},
        )
        for end in ("loop", "hold")
        for way in ("local", "routed")
    ]
    stop = {"trace": TRACE, "trace_end": "stop", "limit_packets": 9, "delay": MS}
    cases.append(_case("trace-stop", "local", stream(5, 60, MS // 2), stop, wait_s=3))
    cases += _long_traces()
    fine = {"trace": [(1000 + k, 10**8 * (k % 3)) for k in range(4000)], "limit_packets": 50}
    cases.append(_case("trace-fine", "local", stream(6, 200, 20_000), fine))
    return cases


def _phone(seconds: int, step_ns: int) -> list[tuple[int, int]]:
    """Return the steps of a link of a phone, with outages, of odd rates."""
    rng = random.Random(seconds)
    steps = []
    for _ in range(seconds * 10**9 // step_ns):
        rate = rng.choice([0, rng.randint(1000, 10**6), rng.randint(10**5, 10**6)])
        steps.append((step_ns, rate))
    return [*steps, (step_ns, 10**5)]  # which can be held


def _bursts(seed: int, count: int, pause_ns: int) -> list[list[int]]:
    """Return packets in bursts, with pauses between."""
    rng = random.Random(seed)
    gaps = [rng.randint(1, 2 * pause_ns) if n % 10 == 0 else 0 for n in range(count)]
    return [[gap, rng.choice([40, 1500, rng.randint(40, 1500)])] for gap in gaps]


def _long_traces() -> list[Case]:
    """Return traces that are hours long, or looped for hours; and those that began long ago."""
    short, hours = _phone(180, 100 * MS), _phone(4 * 3600, 100 * MS)
    limit = {"limit_packets": 9, "delay": 20 * MS}
    looped = {"trace": short, "trace_end": "loop"} | limit
    long = {"trace": hours, "trace_end": "loop"} | limit
    pause_ns = 12 * 60 * 10**9
    result = [
        _case("trace-10-hours-of-3-minutes", "local", _bursts(1, 500, pause_ns), looped),
        _case("trace-10-hours-of-4-hours", "local", _bursts(2, 500, pause_ns), long),
    ]
    for name, start in (
        ("past", -7 * 3600 * 10**9 - 12_345_678),
        ("now", 0),
        ("future", 20 * 10**9 + 7),
    ):
        packets = stream(31, 300, 200 * MS)
        result += [
            _case(
                f"trace-{end}-start-{name}",
                "local",
                packets,
                looped | {"start": start, "trace_end": end},
            )
            for end in ("loop", "hold")
        ]
        result.append(
            _case(
                f"sessions-start-{name}",
                "local",
                stream(32, 300, 20 * MS),
                {
                    "rate": 10**6,
                    "sessions": TABLE_I,
                    "start": max(start, -(2 * 3600 * 10**9)),
                    **limit,
                },
            )
        )
    return result


def _slack() -> list[Case]:
    """Return links that may release packets late.

    Of the dense ones, the first departs when all are sent: the sender's timers would ring others.
    """
    dense = {"rate": 5 * 10**7, "delay": 500 * MS, "limit_packets": 10**6}
    sparse = {"rate": 125_000, "delay": 50 * MS, "limit_packets": 9, "loss": 1 << 28}
    return [
        _case("slack-joins", "local", stream(41, 2000, 1500), dense | {"slack": 300_000}),
        _case("slack-sparse", "routed", stream(42, 300, 9 * MS), sparse | {"slack": MS}),
    ]


def _sessions() -> list[Case]:
    return [
        _case(
            f"sessions-{number}-{way}",
            way,
            stream(number, 500, 4 * MS),
            {
                "rate": rate,
                "sessions": sessions,
                "limit_packets": 30,
                "delay": 100 * MS,
                "seed": 1000 + number,
            },
        )
        for number, (rate, sessions, way) in enumerate(
            [
                (10**6, SESSIONS, "local"),
                (10**6, SESSIONS, "routed"),
                (100_000, TABLE_I, "local"),
                (10**5, SESSIONS | {"max": 63, "step": 1 * MS, "mean": 30 * TWO32}, "routed"),
            ]
        )
    ]


def _loss() -> list[Case]:
    many = {"rate": 1_234_567, "loss": PERCENT, "limit_packets": 1 << 20, "seed": 77}
    half = {"rate": 10**6, "loss": HALF, "limit_packets": 4, "delay": 9 * MS, "seed": 5}
    every = {"rate": 10**6, "loss": TWO32 - 1, "limit_packets": 4}
    none = {"rate": 2_345_678, "limit_packets": 1 << 20, "delay": 50 * MS}
    return [
        _case("loss-1-percent", "local", [[0, 1000]] * 20_000, many),
        _case("loss-half", "routed", stream(21, 600, MS), half),
        _case("loss-always", "local", stream(22, 100, MS), every, wait_s=1),
        _case("long-run", "local", stream(23, 20_000, 0), none),
    ]


def _gso() -> list[Case]:
    return [
        _case(
            "gso-packets",
            "gso",
            gso_stream(31, 60, 10 * MS),
            {"rate": 10**6, "limit_packets": 40, "delay": 30 * MS, "loss": 3 * PERCENT},
        ),
        _case(
            "gso-bytes",
            "gso",
            gso_stream(32, 60, 10 * MS),
            {"rate": 10**6, "limit_bytes": 60_000, "overhead": "ethernet"},
        ),
        _case("gso-unlimited", "gso", gso_stream(33, 40, MS), {"delay": 5 * MS}),
        _case(
            "gso-trace",
            "gso",
            gso_stream(34, 60, 10 * MS),
            {"trace": TRACE, "limit_packets": 100, "overhead": "atm"},
        ),
    ]


def _line() -> list[Case]:
    """More is served within the delay than may be on the line; some services end with a delay."""
    long = {"rate": 125_000, "limit_packets": 50, "delay": 80 * MS}
    packets = stream(51, 300, 5 * MS)
    even = [[8 * MS, 1000]] * 60
    return [
        _case("line-packets", "local", packets, {**long, "line_packets": 5}),
        _case("line-bytes", "routed", packets, {**long, "line_bytes": 6000, "loss": 5 * PERCENT}),
        _case("line-instants", "local", even, {**long, "line_packets": 10, "seed": 1}),
        _case(
            "line-change",
            "local",
            packets,
            {**long, "line_packets": 4},
            changes=[
                _change(60, line_bytes=9000),
                _change(120, line_packets=1),
                _change(180, delay=MS),
                _change(240, line_bytes=TWO32**2 - 1),
            ],
        ),
        _case("line-gso", "gso", gso_stream(52, 40, 10 * MS), {**long, "line_packets": 12}),
    ]


def _change(before: int, **options: Any) -> dict[str, Any]:
    return {"before": before, "options": options}


def _changes() -> list[Case]:
    slow = {"rate": 125_000, "limit_packets": 25, "delay": 30 * MS}
    packets = stream(41, 240, 3 * MS)
    trace = [(40 * MS, 10**5), (10 * MS, 10**6)]
    return [
        _case(
            "change-limit",
            "local",
            packets,
            slow,
            changes=[
                _change(60, limit_packets=3),
                _change(120, limit_bytes=4000),
                _change(180, limit_packets=50),
            ],
        ),
        _case(
            "change-delay",
            "local",
            packets,
            slow,
            changes=[_change(60, delay=200 * MS), _change(120, delay=MS), _change(180, delay=0)],
        ),
        _case(
            "change-loss",
            "local",
            packets,
            slow,
            changes=[
                _change(60, loss=HALF),
                _change(100, loss=0),
                _change(140, loss=HALF),
                _change(180, seed=99),
            ],
        ),
        _case(
            "change-rate",
            "local",
            packets,
            slow,
            changes=[
                _change(60, rate=30_000),
                _change(120, rate=500_000),
                _change(180, rate=77_777),
                _change(200, rate=10**6),
            ],
        ),
        _case(
            "change-rate-unlimited",
            "local",
            packets,
            slow,
            changes=[_change(100, rate=(1 << 64) - 1), _change(140, rate=50_000)],
        ),
        _case(
            "change-overhead",
            "local",
            packets,
            slow,
            changes=[_change(80, overhead="atm"), _change(160, overhead="ethernet")],
        ),
        _case(
            "change-trace",
            "local",
            packets,
            slow,
            changes=[
                _change(50, trace=trace, trace_end="loop", delay=100 * MS),
                _change(100, trace=trace[::-1], trace_end="hold", limit_bytes=20_000),
                _change(150, rate=60_000),
                _change(190, trace=trace, trace_end="stop"),
                _change(230, rate=10**6),
            ],
        ),
        _case(
            "change-sessions",
            "local",
            packets,
            slow,
            changes=[
                _change(40, sessions=SESSIONS),
                _change(90, rate=400_000),
                _change(130, seed=4242),
                _change(170, sessions=SESSIONS | {"max": 2}),
                _change(210, sessions={}),
            ],
        ),
    ]


SAME = (1 << 64) - 1  # of a step of a trace: as the option says
LINK_DOWN = SAME - 1


def _random_columns(rng: random.Random, packet_ns: int) -> dict[str, Any]:
    """Return a trace whose steps have any of rate, delay, loss and limit."""
    columns = rng.choice([2, 3, 7, 15, 23, rng.randint(1, 15), 16 | rng.randint(0, 7)])
    scale = 1500 * 10**9 // packet_ns

    def value(bit: int) -> int:
        if rng.random() < 0.25:
            return SAME
        if bit == 1:
            return rng.choice([LINK_DOWN, 0, scale, 2 * scale, rng.randint(1, 5 * scale)])
        if bit == 2:
            return rng.choice([0, packet_ns, rng.randint(1, 20 * packet_ns)])
        if bit == 4:
            return rng.choice([0, HALF, rng.randint(0, TWO32 - 1)])
        return rng.randint(1, 20) if bit == 8 else rng.randint(1500, 30_000)

    bits = [bit for bit in (1, 2, 4, 8, 16) if columns & bit]
    steps = [
        [max(rng.randint(1, 4 * packet_ns), 1000), *(value(bit) for bit in bits)]
        for _ in range(rng.choice([1, 3, 70, 200]))
    ]
    steps.append([max(packet_ns, 1000), *(scale if bit == 1 else SAME for bit in bits)])
    values: dict[str, Any] = {"trace": steps, "trace_end": rng.choice(["loop", "hold"])}
    if columns != 1:
        values["trace_columns"] = columns
    if any(step[1] == SAME for step in steps) or not columns & 1:
        values["rate"] = scale
    return values


def _columns() -> list[Case]:
    """Return links whose delay, loss and limit move, and that go down, at random."""
    result = []
    for number in range(36):
        rng = random.Random(7000 + number)
        way = rng.choice(["local", "routed", "gso"])
        packet_ns = int(1500 * 10**9 / 10 ** rng.uniform(4, 8))
        options: dict[str, Any] = {"limit_packets": 12, "delay": rng.choice([0, 5 * packet_ns])}
        options |= {"loss": rng.choice([0, HALF]), "seed": rng.getrandbits(64)}
        options |= _random_columns(rng, packet_ns)
        if rng.random() < 0.5:
            options["down_drops"] = "all"
        if rng.random() < 0.4:
            options["jitter"] = {"time": 0, "reordering": 1}
        make = gso_stream if way == "gso" else stream
        packets = make(number, 40 if way == "gso" else 250, min(packet_ns, 10**8))
        result.append(_case(f"columns-{number}", way, packets, options))
    return result


def _policer() -> list[Case]:
    """Return links with a policer, instead of a buffer or before it."""
    result = []
    for number in range(12):
        rng = random.Random(8000 + number)
        way = rng.choice(["local", "routed", "gso"])
        rate = int(10 ** rng.uniform(4, 8))
        burst = rng.choice([1500, 3000, rng.randint(1500, 40_000)])
        policer = {"rate": rate, "burst": burst, "excess": 0}
        options: dict[str, Any] = {"policer": policer, "delay": MS}
        options |= {"loss": rng.choice([0, HALF]), "seed": rng.getrandbits(64)}
        if rng.random() < 0.5:
            options |= {"rate": 2 * rate, "limit_packets": rng.randint(1, 9)}
        make = gso_stream if way == "gso" else stream
        gap_ns = min(1500 * 10**9 // rate, 10**8)
        packets = make(number, 40 if way == "gso" else 250, gap_ns)
        result.append(_case(f"policer-{number}", way, packets, options))
    return result


def _random_rate(rng: random.Random) -> dict[str, Any]:
    """Return options of a rate: constant, a trace, or with sessions."""
    scale = 10 ** rng.uniform(4, 8)
    kind = rng.choice(["constant", "trace", "sessions"])
    if kind == "constant":
        return {"rate": int(scale)}
    packet_ns = int(1500 * 10**9 / scale)
    if kind == "sessions":
        chain = {
            "arrival": rng.randint(1, TWO32 // 3),
            "mean": rng.randint(4 * TWO32, 40 * TWO32),
            "max": rng.choice([1, 3, 9, 63]),
            "step": max(rng.randint(1, 5) * packet_ns, MS),
        }
        return {"rate": int(scale), "sessions": chain}
    steps = [
        (max(rng.randint(1, 3 * packet_ns), 1000), rng.choice([0, 1, 2, 5]) * int(scale))
        for _ in range(rng.randint(1, 9))
    ]
    steps.append((max(packet_ns, 1000), int(scale)))
    return {"trace": steps, "trace_end": rng.choice(["loop", "hold"])}


def _random_rest(rng: random.Random) -> dict[str, Any]:
    """Return some of the other options."""
    limit = rng.choice(
        [{"limit_packets": rng.randint(1, 40)}, {"limit_bytes": rng.randint(3000, 60000)}]
    )
    rest = {
        "delay": rng.choice([0, rng.randint(1, 10**6), rng.randint(1, 10**8)]),
        "loss": rng.choice([0, HALF, PERCENT]),
        "overhead": rng.choice(["raw", "ethernet", "atm"]),
        "seed": rng.getrandbits(64),
    }
    chosen = {name: value for name, value in rest.items() if rng.random() < 0.6}
    return chosen | (limit if rng.random() < 0.8 else {})


def _random() -> list[Case]:
    """Return links and changes at random: what nobody thought of."""
    result = []
    for number in range(40):
        rng = random.Random(1000 + number)
        way = rng.choice(["local", "local", "routed", "gso"])
        options = {"limit_packets": 25} | _random_rate(rng)
        rest = _random_rest(rng)
        if "limit_bytes" in rest:
            options.pop("limit_packets")
        gap = 1500 * 10**9 // options.get("rate", 10**6)
        make = gso_stream if way == "gso" else stream
        packets = make(number, 30 if way == "gso" else 150, min(gap, 10**8))
        changes: list[dict[str, Any]] = []
        # A change amid packets in softirq would have an order that nobody sees.
        for before in sorted(rng.sample(range(1, len(packets)), rng.choice([0, 2, 4]))):
            if way == "routed":
                break
            values = _random_rate(rng) if rng.random() < 0.7 else {}
            if "rate" in values and "sessions" not in values:
                values["sessions"] = {}
            change = _change(before, **values, **_random_rest(rng))
            # When a rate changed is found from the packet then in service, which
            # must have left before the next change: at 10 kB/s within 0.17 s.
            if changes and changes[-1]["options"].get("sessions") == {}:
                change["gap_ns"] = 200 * MS
            changes.append(change)
        case = _case(f"random-{number}", way, packets, options | rest, changes=changes)
        result.append(case | {"wait_s": 0})
    return result


def _not_plain(case: Case) -> Case:
    """The same case on a link that is not plain: with a bound of its line that nothing meets.

    A plain link has a path of its own, through the code, for its packets.
    """
    options = case["options"] | {"line_packets": (1 << 32) - 2}
    return case | {"name": f"{case['name']}-general", "options": options}


def cases() -> list[Case]:
    """Return every case, with names of its own; those of a plain link both ways."""
    result = [*_constant(), *_overhead(), *_trace(), *_sessions(), *_loss(), *_gso()]
    result += [*_changes(), *_random()]
    result += [*map(_not_plain, result), *_line(), *_slack(), *_columns(), *_policer()]
    assert len({case["name"] for case in result}) == len(result)
    return result
