# SPDX-License-Identifier: GPL-2.0
"""The qdiscs that are compared, and the tc commands that make each the same link."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

DEVICE = "wbench0"

#: Bytes of a frame that are not IP.
ETHERNET = 14

#: Packets that can wait.
BUFFER = 10_000

#: TCP segments of a GSO packet carry so much.
GSO_PAYLOAD = 1448
HEADERS = 40


@dataclass(frozen=True)
class Traffic:
    """The link, and the traffic through it."""

    size: int  # of a packet, bytes of IP; of a GSO packet, all its payload and 40 bytes
    packets_in_line: int  # wire packets, as many as rate times delay are
    rate_bps: int
    gso: bool = False
    loss: float = 0.0
    load: float = 0.95  # of the link's rate
    burst: int = 16  # packets that arrive together
    flows: int = 1
    scone: int | None = None  # UDP: each so manyth packet begins with a SCONE packet; 0: none does

    @property
    def segments(self) -> int:
        """Wire packets in one packet."""
        return -(-(self.size - HEADERS) // GSO_PAYLOAD) if self.gso else 1

    @property
    def wire_bytes(self) -> int:
        """IP bytes of all wire packets of one packet."""
        return self.size + (self.segments - 1) * HEADERS

    @property
    def wire_size(self) -> int:
        """IP bytes of a wire packet."""
        return GSO_PAYLOAD + HEADERS if self.gso else self.size

    @property
    def gap_ns(self) -> float:
        """From one wire packet to the next, on average."""
        return self.wire_bytes / self.segments * 8e9 / (self.rate_bps * self.load)

    @property
    def delay_ns(self) -> int:
        """Such that this many packets are on their way.

        In whole microseconds: tc forgets the rest of what netem is to delay.
        """
        return 1000 * math.ceil(self.packets_in_line * self.gap_ns / 1000)

    @property
    def limit(self) -> int:
        """Packets, for what counts those on their way."""
        return self.packets_in_line + BUFFER


def _frame_rate(traffic: Traffic) -> int:
    """The rate for a qdisc that counts the Ethernet header, such that it is as fast."""
    frame = traffic.wire_size + ETHERNET
    return round(traffic.rate_bps * frame / traffic.wire_size)


def _loss(traffic: Traffic) -> str:
    return f" loss {traffic.loss * 100:g}%" if traffic.loss else ""


def _netem(traffic: Traffic) -> str:
    return f"netem limit {traffic.limit} delay {traffic.delay_ns // 1000}us{_loss(traffic)}"


def _tbf_netem(traffic: Traffic) -> list[str]:
    burst = max(2 * (traffic.wire_size + ETHERNET), traffic.rate_bps // 8 * 2 // 10**6)
    tbf = f"tbf rate {_frame_rate(traffic)}bit burst {burst}b limit 100mb"
    return [f"root handle 1: {_netem(traffic)}", f"parent 1:1 handle 2: {tbf}"]


def _htb_netem(traffic: Traffic) -> list[str]:
    return [
        "root handle 1: htb default 1",
        f"class parent 1: classid 1:1 htb rate {_frame_rate(traffic)}bit",
        f"parent 1:1 handle 2: {_netem(traffic)}",
    ]


def _wale(traffic: Traffic, limit: int = BUFFER, more: str = "") -> str:
    rate = f"rate {traffic.rate_bps}bit delay {traffic.delay_ns}ns"
    return f"root handle 1: wale {rate} limit {limit}p{_loss(traffic)} seed 1{more}"


def _policy(name: str, more: str = "") -> Callable[[Traffic], list[str]]:
    return lambda traffic: [_wale(traffic, 1_000, f" policy {name}{more}")]


_FLOWS = " flows 65534"

#: The policies of wale that look at more than whether a packet fits.
POLICIES = {
    "wale epd": _policy("epd"),
    "wale seldrop": _policy("seldrop", _FLOWS),
    "wale fba": _policy("fba", _FLOWS),
}


#: The lowest of all signals, and a period in which most packets of a thousand flows may be changed.
_ADVICE = "100kbit", "period 100ms"


def _scone(traffic: Traffic) -> list[str]:
    return [_wale(traffic, more=f" scone {' '.join(_ADVICE)}")]


def _trace(traffic: Traffic, columns: bool) -> list[str]:
    """The same link on average, which changes each ms: its rate, or its delay and loss as well."""
    steps = []
    for sign in (1, -1):
        step = f"1ms:{traffic.rate_bps + sign * traffic.rate_bps // 100}bit"
        if columns:
            step += f",{traffic.delay_ns + sign * 10_000}ns,{traffic.loss * 100:g}%"
        steps.append(step)
    fixed = "" if columns else f" delay {traffic.delay_ns}ns{_loss(traffic)}"
    return [f"root handle 1: wale trace {' '.join(steps)} limit {BUFFER}p{fixed} seed 1"]


#: What each is, as words of `tc qdisc add dev DEVICE` (or of `tc class add`).
SUBJECTS: dict[str, Callable[[Traffic], list[str]]] = {
    "none": lambda _: ["root noqueue"],
    "pfifo": lambda t: [f"root pfifo limit {t.limit}"],
    "fq": lambda t: [f"root fq limit {t.limit} flow_limit {t.limit} horizon 60s"],
    "netem": lambda t: [f"root {_netem(t)} rate {t.rate_bps}bit -{ETHERNET}"],
    "tbf+netem": _tbf_netem,
    "htb+netem": _htb_netem,
    "wale": lambda t: [_wale(t)],
    "wale slack": lambda t: [_wale(t, more=" slack 10us")],
    "wale scone": _scone,
    "wale rates": lambda t: _trace(t, columns=False),
    "wale columns": lambda t: _trace(t, columns=True),
    "wale keep": lambda t: [_wale(t, more=" gso keep")],
    **POLICIES,
}


_ACTION = (f"wale scone dev {DEVICE} rate {' '.join(_ADVICE)}",)
_PASS = (
    f"tc qdisc add dev {DEVICE} clsact",
    f"tc filter add dev {DEVICE} egress matchall action pass",
)

#: With a filter at egress in front, whose action is scone, or does nothing: beside which qdisc, and
#: the commands of the filter.
FILTERED = {
    "action": ("none", _ACTION),
    "netem+pass": ("netem", _PASS),
    "netem+action": ("netem", _ACTION),
}


def commands(subject: str, traffic: Traffic) -> list[str]:
    """The words of the commands of tc, or of wale, that make it."""
    if subject in FILTERED:
        beside, filtering = FILTERED[subject]
        return [*commands(beside, traffic), *filtering]
    lines = []
    for words in SUBJECTS[subject](traffic):
        kind = "class" if words.startswith("class ") else "qdisc"
        verb = "replace" if kind == "qdisc" else "add"
        lines.append(f"tc {kind} {verb} dev {DEVICE} {words.removeprefix('class ')}")
    return lines


def holds_packets(subject: str) -> bool:
    """Is there a delay line?"""
    qdisc = FILTERED[subject][0] if subject in FILTERED else subject
    return qdisc not in ("none", "pfifo")
