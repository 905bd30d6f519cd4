# SPDX-License-Identifier: GPL-2.0
"""The checks: what each measures, in which experiments, and what a manual may promise of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from wale_lab.conform import buffer, chance, segments, timing
from wale_lab.conform.evidence import Evidence, Finding, Tolerance

Judge = Callable[[Mapping[str, Evidence], Tolerance], Finding]


@dataclass(frozen=True)
class Check:
    """A check; the promise is that of the qdisc that is given `subject`."""

    name: str
    measures: str
    subject: str
    judge: Judge
    experiments: tuple[str, ...]
    expectations: Mapping[str, str]  # name: what must hold


def _all() -> list[Check]:
    return [
        Check("delay", "from arrival to departure, without a rate", "delay", timing.delay,
              ("delay",), {"exact": "each packet leaves after the delay"}),
        Check("rate", "bits of packets per second, from the times of small and large ones",
              "rate", timing.rate, ("rate",), {"exact": "the rate is the one asked for"}),
        Check("overhead", "bytes that a packet is charged beyond those of IP", "rate",
              timing.overhead, ("rate",),
              {"ip": "none", "ethernet": "the 14 bytes of the Ethernet header"}),
        Check("overhead_bytes", "the same, with 8 bytes of overhead asked for", "overhead",
              timing.overhead_bytes, ("overhead_bytes",),
              {"added": "these 8", "beside": "these 8 and the 14 bytes of the Ethernet header"}),
        Check("schedule", "departures against rate and delay, computed from the arrivals",
              "rate", timing.schedule, ("rate", "schedule"),
              {"exact": "each packet leaves when the arithmetic says"}),
        Check("rate_step", "the rate falls to a quarter while packets wait", "rate",
              timing.rate_step, ("rate", "rate_step"),
              {"applies_to_waiting": "packets that wait or are in service go on at the new rate"}),
        Check("limit", "packets held, of 60 at once with a limit of 20", "limit", buffer.limit,
              ("limit",), {"exact": "20 are held, and packets are dropped only then"}),
        Check("limit_line", "a buffer of 20 packets on a link with 100 on their way", "limit",
              buffer.limit_line, ("limit_line",),
              {"line_apart": "none is dropped, there is no queue",
               "held_at_most": "no more are held than the limit"}),
        Check("child", "packets held, of 60 at once, with a pfifo of 20 as the child qdisc",
              "rate", buffer.child, ("child",),
              {"buffer": "20 wait, one is in service, and packets are dropped only then"}),
        Check("drop_told", "who sends a packet that does not fit into the buffer is told (ENOBUFS)",
              "limit", buffer.told, ("limit",),
              {"remote": "nobody is told", "local": "everybody is told"}),
        Check("counters", "packets offered, and what tc -s shows: in the middle, at the end",
              "limit", buffer.counters, ("counters",),
              {"balance": "offered = sent + dropped + held",
               "own_balance": "so in the counters that the qdisc has of its own"}),
        Check("change_delay", "the delay falls from 100 to 20 ms while packets are inside",
              "delay", buffer.change, ("change_delay",),
              {"none_lost": "none is lost", "in_order": "none is lost, and none overtakes"}),
        Check("change_rate", "the rate is halved while packets are inside", "rate",
              buffer.change, ("change_rate",),
              {"none_lost": "none is lost", "in_order": "none is lost, and none overtakes"}),
        Check("loss", "share of packets lost at random", "loss", chance.loss, ("loss",),
              {"share": "the share is the one asked for"}),
        Check("loss_runs", "whether losses are independent (runs test)", "loss",
              chance.loss_runs, ("loss",), {"independent": "they are"}),
        Check("loss_told", "who sends a packet that is lost at random is told (ENOBUFS)", "loss",
              buffer.told, ("loss",),
              {"remote": "nobody is told", "local": "everybody is told"}),
        Check("loss_burst", "share and lengths of bursts of a simple Gilbert model", "gemodel_p",
              chance.loss_burst, ("loss_burst",),
              {"gilbert": "p / (p + r) of the packets are lost, in bursts of 1 / r"}),
        Check("loss_correlated", "share and lengths of bursts, with a correlation of 50 %",
              "loss_correlation", chance.loss_correlated, ("loss_correlated",),
              {"share": "the share is the one asked for, half of it shares the fate before it"}),
        Check("gso", "how ten segments that the sender hands over as one packet leave", "rate",
              segments.spacing, ("gso",),
              {"one_by_one": "each by itself, as far apart as the rate says"}),
        Check("gso_limit", "segments held, with a limit of 20 packets", "limit",
              segments.limit, ("gso_limit",), {"counted": "each segment counts as a packet"}),
        Check("gso_loss", "what a loss at random takes away", "loss", segments.loss,
              ("gso_loss",), {"one_by_one": "segments, each by itself"}),
        Check("seed", "losses of two runs with one seed, and of a third with another", "seed",
              chance.seed, ("seed_one", "seed_again", "seed_other"),
              {"repeats": "the first two are alike, the third differs"}),
        Check("jitter", "distribution of the delays, sent far apart", "jitter", chance.jitter,
              ("jitter",), {"uniform": "it is uniform", "normal": "it is normal"}),
        Check("jitter_correlated", "distribution of the delays, with a correlation of 50 %",
              "jitter_correlation", chance.jitter_correlated, ("jitter_correlated",),
              {"uniform": "half of the packets have the delay before them, and it is uniform"}),
        Check("jitter_order", "packets that are overtaken where the delay varies", "jitter",
              chance.jitter_order, ("jitter_order",), {"in_order": "none"}),
        Check("reorder", "share of packets that overtake", "reorder", chance.reorder,
              ("reorder",), {"share": "the share is the one asked for"}),
        Check("duplicate", "share of packets that come twice", "duplicate", chance.duplicate,
              ("duplicate",), {"share": "the share is the one asked for"}),
        Check("corrupt", "share of packets with an error", "corrupt", chance.corrupt,
              ("corrupt",), {"share": "the share is the one asked for"}),
        Check("corrupt_fix", "share of packets with an error, by their checksums", "corrupt_fix",
              chance.corrupt_fix, ("corrupt_fix",),
              {"unseen": "the share is the one asked for, and no checksum shows it"}),
        Check("loss_state", "share and lengths of bursts of a model of four states", "state_p13",
              chance.loss_state, ("loss_state",),
              {"four_states": "bursts of 1 / p31 begin with p13, losses by themselves with p14"}),
        Check("ecn", "packets of senders that understand marks, where losses become marks", "ecn",
              chance.ecn, ("ecn",),
              {"marked": "none is lost, and the share of marks is that of losses"}),
        Check("drop_list", "packets lost, of 200 of which 20 are to be", "drop_first",
              chance.drop_list, ("drop_list",), {"exact": "those, and no others"}),
        Check("slot", "from one instant at which packets leave to the next", "slot", timing.slot,
              ("slot",), {"apart": "at least the time of a slot"}),
        Check("policer", "what a policer of 4 Mbit/s lets pass of 8 Mbit/s", "police",
              timing.policer, ("policer",), {"tokens": "the burst and the rate, to a packet"}),
        Check("breaker", "packets of a flow of 8 Mbit/s until one of 4 Mbit/s after 0.2 s cuts it",
              "breaker", timing.breaker, ("breaker",),
              {"cut": "those until then, and none later"}),
        Check("start", "departures, while a trace with a start long ago has a rate, and none",
              "start", timing.start, ("start",),
              {"in_step": "packets leave only while it has one"}),
        Check("moving", "delay of each packet, while a trace shifts it by 20 ms", "shift",
              timing.moving, ("moving",),
              {"by_step": "that of the step, and packets keep their order"}),
        Check("down", "packets that get through, while a trace has the link down and up", "down",
              timing.down, ("down",), {"drops": "those that come while it is up, and no others"}),
    ]  # fmt: skip


#: Those that an emulator may fail because the machine is late.
TIMED = {"delay", "rate", "overhead", "overhead_bytes", "schedule", "rate_step", "limit",
         "limit_line", "child", "gso", "gso_limit", "jitter", "jitter_correlated", "jitter_order",
         "reorder", "slot", "start", "moving", "down", "policer", "breaker"}  # fmt: skip

#: By name, in the order of the table.
CHECKS = {check.name: check for check in _all()}
