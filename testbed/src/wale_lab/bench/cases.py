# SPDX-License-Identifier: GPL-2.0
"""What is measured: which packets, through which links."""

from __future__ import annotations

from dataclasses import replace

from wale_lab.bench.packets import BASELINE, Case
from wale_lab.bench.qdiscs import GSO_PAYLOAD, HEADERS, POLICIES, Traffic
from wale_lab.engines.base import Time

#: What is compared at each point.
SUBJECTS = (BASELINE, "pfifo", "fq", "netem", "tbf+netem", "htb+netem", "wale", "wale slack")

#: And with GSO packets.
GSO_SUBJECTS = (*SUBJECTS, "wale keep")

SIZES = (64, 500, 1500)
LINES = (10, 1_000, 100_000, 1_000_000)
GBIT = 10**9

#: As large as a GSO packet can be that an IP header can describe.
GSO_SIZE = HEADERS + 45 * GSO_PAYLOAD

LOSS = 0.01

#: Changes of a qdisc in a second, and as many dumps, while packets are timed.
CHANGES = 10_000

#: Wire packets that are measured, in each round.
PACKETS = 100_000

#: Of those in GSO packets, so many times more: one of 45 costs some qdiscs what one costs.
GSO_PACKETS = 20


def _name_rate(rate_bps: int) -> str:
    gbit = rate_bps / GBIT
    return f"{gbit:g}gbit" if gbit >= 1 else f"{rate_bps / 1e6:g}mbit"


def _case(size: int, line: int, rate_bps: int, packets: int) -> Case:
    gso = size == GSO_SIZE
    name = f"{'gso64k' if gso else f'{size}B'}-{_name_rate(rate_bps)}-{line}"
    traffic = Traffic(size, line, rate_bps, gso=gso, loss=LOSS)
    if gso:
        return Case(name, traffic, GSO_SUBJECTS, GSO_PACKETS * packets)
    return Case(name, traffic, SUBJECTS, packets)


def _policy_case(flows: int, packets: int) -> Case:
    """A link that gets a fifth more than it can send, so that policies have to choose."""
    traffic = Traffic(1500, 1_000, GBIT, load=1.2, flows=flows)
    subjects = (BASELINE, "netem", "wale", *POLICIES)
    return Case(f"policies-{flows}-flows", traffic, subjects, packets, drops=True)


def _scone_case(name: str, scone: int | None, packets: int) -> Case:
    """What looks for SCONE packets, among packets that are none or are."""
    subjects = (BASELINE, "action", "netem", "netem+pass", "netem+action", "wale", "wale scone")
    traffic = Traffic(1500, 1_000, GBIT, flows=1_000, scone=scone)
    return Case(f"scone-{name}", traffic, subjects, packets)


#: Among these: TCP; UDP; UDP with a SCONE packet in each hundredth datagram, and in each.
_SCONE = {"tcp": None, "udp": 0, "hundredth": 100, "each": 1}


def _scone_cases(packets: int) -> list[Case]:
    return [_scone_case(name, scone, packets) for name, scone in _SCONE.items()]


def _trace_case(packets: int) -> Case:
    """A link of which the rate, or all, follows a trace."""
    subjects = (BASELINE, "netem", "wale", "wale rates", "wale columns")
    return Case("trace-1500B-1gbit", Traffic(1500, 1_000, GBIT, loss=LOSS), subjects, packets)


def packet_cases(quick: bool) -> list[Case]:
    """Sizes and lengths of the line at one rate; then rates; then GSO; policies; SCONE; traces."""
    packets = PACKETS // 2 if quick else PACKETS
    sizes, lines = ((1500,), (1_000,)) if quick else (SIZES, LINES)
    rates = (10**10,) if quick else (10**7, 10**8, 10**10, 10**11)
    flows = (1_000,) if quick else (1, 1_000, 100_000)
    cases = [_case(size, line, GBIT, packets) for size in sizes for line in lines]
    cases += [_case(1500, 1_000, rate, packets) for rate in rates]
    cases += [_case(GSO_SIZE, line, 10 * GBIT, packets) for line in lines]
    cases += [_policy_case(count, packets) for count in flows]
    cases += _scone_cases(packets)
    return [*cases, _trace_case(packets)]


def counted_cases() -> list[Case]:
    """
    Those whose instructions are counted.

    The processor executes 10^9 instructions a second there: a packet is to have more of them
    than it needs.
    """
    packets = 5_000
    cases = [_case(size, 1_000, rate, packets) for size, rate in ((64, 5 * 10**7), (1500, GBIT))]
    cases += _scone_cases(packets)
    return [replace(case, time="real") for case in cases]


def lateness_cases(quick: bool, virtual_time: bool) -> list[Case]:
    """Links whose packets are timed; without loss, so that it is known when each is due."""
    rates = (10**8,) if quick else (10**8, GBIT)
    packets = PACKETS // 20 if quick else PACKETS // 5
    times: tuple[Time, ...] = ("virtual", "real") if virtual_time else ("real",)
    cases = [
        Case(
            f"lateness-{_name_rate(rate)}-{time}",
            Traffic(1500, 1_000, rate),
            ("fq", "netem", "wale", "wale slack"),
            packets,
            time,
            lateness=True,
            drops=time == "real",  # of a guest that has to wait for a processor
        )
        for rate in rates
        for time in times
    ]
    changing = [c for c in cases if c.traffic.rate_bps == 10**8]
    return cases + [
        replace(case, name=f"{case.name}-changes", subjects=("wale",), changes_per_s=CHANGES)
        for case in changing
    ]


def rate_error_case() -> Case:
    """A link that never idles: how much does it send in the end?"""
    traffic = Traffic(1500, 1_000, GBIT, load=1.2)
    subjects = ("netem", "tbf+netem", "htb+netem", "wale")
    return Case("rate-error", traffic, subjects, 2 * PACKETS, drops=True)


def flood_cases(quick: bool) -> list[Case]:
    """More than any processor can send, through a link that is not what limits it."""
    case = Case(
        "flood-1500B",
        Traffic(1500, 100_000, 10**12),
        ("pfifo", "netem", "wale"),
        PACKETS if quick else 3 * PACKETS,
        "real",
        drops=True,
    )
    small = replace(case, name="flood-64B", traffic=replace(case.traffic, size=64))
    return [case] if quick else [case, small]
