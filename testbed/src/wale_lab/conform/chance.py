# SPDX-License-Identifier: GPL-2.0
"""Checks of random behaviour: loss, bursts, seeds, jitter, reordering, duplicates, errors."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

from wale_lab.conform.evidence import Evidence, Finding, Tolerance, Unmeasurable
from wale_lab.conform.experiments import (
    CORRELATION,
    DELAY_NS,
    DROP_FIRST,
    DROP_LAST,
    GEMODEL_P,
    GEMODEL_R,
    JITTER_NS,
    LOSS,
    SHARE,
    STATE_P13,
    STATE_P14,
    STATE_P31,
)
from wale_lab.conform.statistics import (
    SIGNIFICANCE,
    Steps,
    binomial_interval,
    burst_lengths,
    fits_normal,
    fits_uniform,
    four_states_hold,
    runs_test,
    two_states_hold,
)


def _share(finding: Finding, name: str, count: int, total: int, expected: float) -> bool:
    """A share, the interval that it must be in, and whether it is."""
    low, high = binomial_interval(total, expected)
    finding.add(name, 100 * count / total, "%")
    finding.add("at least", 100 * low / total, "%")
    finding.add("at most", 100 * high / total, "%")
    return low <= count <= high


def loss(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Share of losses."""
    one, finding = seen["loss"], Finding()
    finding.holds["share"] = _share(finding, "lost", sum(one.lost), len(one.lost), LOSS)
    return finding


def loss_runs(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Independence of losses."""
    finding = Finding()
    lost = seen["loss"].lost
    if not 0 < sum(lost) < len(lost):
        raise Unmeasurable("none was lost" if not any(lost) else "all were lost")
    p, bursts = runs_test(lost), burst_lengths(lost)
    finding.add("runs test, p", p)
    finding.add("mean burst", statistics.mean(bursts), "packets")
    finding.holds["independent"] = p >= SIGNIFICANCE
    return finding


def loss_burst(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Number and lengths of bursts; both follow from a chain of two states."""
    finding = Finding()
    lost = seen["loss_burst"].lost
    bursts = burst_lengths(lost)
    share = GEMODEL_P / (GEMODEL_P + GEMODEL_R)
    finding.add("lost", 100 * sum(lost) / len(lost), "%")
    finding.add("expected", 100 * share, "%")
    finding.add("mean burst", statistics.mean(bursts) if bursts else 0, "packets")
    finding.add("expected", 1 / GEMODEL_R, "packets")
    finding.holds["gilbert"] = two_states_hold(Steps.of(lost), GEMODEL_P, GEMODEL_R)
    return finding


def loss_correlated(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Number and lengths of bursts; both follow from the share and the correlation."""
    finding = Finding()
    lost = seen["loss_correlated"].lost
    bursts = burst_lengths(lost)
    to_loss, from_loss = ((1 - CORRELATION) * share for share in (SHARE, 1 - SHARE))
    finding.add("lost", 100 * sum(lost) / len(lost), "%")
    finding.add("expected", 100 * SHARE, "%")
    finding.add("mean burst", statistics.mean(bursts) if bursts else 0, "packets")
    finding.add("expected", 1 / from_loss, "packets")
    finding.holds["share"] = two_states_hold(Steps.of(lost), to_loss, from_loss)
    return finding


def loss_state(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Number and lengths of bursts with four states, without the second.

    What comes through in a row ends with a burst or with a loss by itself; so a row of losses
    is a burst in one case, of p13 / (p13 + p14), and a single packet in the other.
    """
    finding = Finding()
    lost = seen["loss_state"].lost
    rows = burst_lengths(lost)
    out = STATE_P13 + STATE_P14
    of_bursts = STATE_P13 / out
    mean = of_bursts / STATE_P31 + 1 - of_bursts
    finding.add("lost", 100 * sum(lost) / len(lost), "%")
    finding.add("expected", 100 * mean / (mean + 1 / out), "%")
    finding.add("mean burst", statistics.mean(rows) if rows else 0, "packets")
    finding.add("expected", mean, "packets")
    steps = Steps.of(lost)
    finding.holds["four_states"] = four_states_hold(
        steps, sum(rows[: steps.ended]), (STATE_P13, STATE_P31, STATE_P14)
    )
    return finding


def ecn(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Marks instead of losses."""
    one, finding = seen["ecn"], Finding()
    marked = sum(departure.marked for departure in one.departures)
    right = _share(finding, "marked", marked, len(one.arrivals), SHARE)
    finding.add("lost", sum(one.lost), "packets")
    finding.holds["marked"] = right and not any(one.lost)
    return finding


def drop_list(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """The packets that were to be lost, and others."""
    one, finding = seen["drop_list"], Finding()
    listed = range(DROP_FIRST - 1, DROP_LAST)
    finding.add("lost of the list", sum(one.lost[number] for number in listed), "packets")
    finding.add("others lost", sum(one.lost) - int(finding.figures[0].value or 0), "packets")
    finding.holds["exact"] = [n for n, gone in enumerate(one.lost) if gone] == list(listed)
    return finding


def _differ(one: Evidence, other: Evidence) -> int:
    """How many packets only one of two runs lost."""
    return sum(a != b for a, b in zip(one.lost, other.lost, strict=True))


def seed(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """The same losses with the same seed, and the same departures.

    In real time packets do not come at the same times, so that departures are not compared.
    """
    finding = Finding()
    first, again = seen["seed_one"], seen["seed_again"]
    same, other = (_differ(first, seen[f"seed_{name}"]) for name in ("again", "other"))
    finding.add("differ, the same seed", same, "packets")
    finding.add("differ, another seed", other, "packets")
    finding.holds["repeats"] = same == 0 < other
    if tolerance.exact and same == 0:
        apart_ns = max(
            abs((one.time_ns - first.arrivals[0]) - (again.first[n].time_ns - again.arrivals[0]))
            for n, one in first.first.items()
        )
        finding.add("departures apart at most", apart_ns / 1e3, "us")
        finding.holds["repeats"] &= apart_ns <= tolerance.late_ns
    return finding


def jitter(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Mean, deviation and distribution of delays."""
    finding = Finding()
    delays = [float(value) for value in seen["jitter"].delays_ns]
    p_uniform = fits_uniform(delays, DELAY_NS - JITTER_NS, DELAY_NS + JITTER_NS)
    p_normal = fits_normal(delays, DELAY_NS, JITTER_NS)
    finding.add("mean", statistics.mean(delays) / 1e6, "ms")
    finding.add("deviation", statistics.stdev(delays) / 1e6, "ms")
    finding.add("uniform, p", p_uniform)
    finding.add("normal, p", p_normal)
    finding.holds = {"uniform": p_uniform >= SIGNIFICANCE, "normal": p_normal >= SIGNIFICANCE}
    return finding


def jitter_correlated(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """How many delays are those before them, and the distribution of those that are not."""
    finding = Finding()
    delays = seen["jitter_correlated"].delays_ns
    new = [b for a, b in pairwise(delays) if abs(b - a) > tolerance.late_ns]
    p_uniform = fits_uniform([float(ns) for ns in new], DELAY_NS - JITTER_NS, DELAY_NS + JITTER_NS)
    same = len(delays) - 1 - len(new)
    right = _share(finding, "as before", same, len(delays) - 1, CORRELATION)
    finding.add("uniform, p", p_uniform)
    finding.add("deviation", statistics.stdev(delays) / 1e6, "ms")
    finding.holds["uniform"] = right and p_uniform >= SIGNIFICANCE
    return finding


def jitter_order(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Packets that are overtaken."""
    one, finding = seen["jitter_order"], Finding()
    finding.add("overtaken", 100 * one.overtaken / len(one.arrivals), "%")
    finding.holds["in_order"] = not one.overtaken and not any(one.lost)
    return finding


def reorder(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Packets that take less than half of the delay have overtaken."""
    one, finding = seen["reorder"], Finding()
    early = sum(delay_ns < int(one.experiment.asked["delay"]) // 2 for delay_ns in one.delays_ns)
    finding.holds["share"] = _share(finding, "overtook", early, len(one.arrivals), SHARE)
    return finding


def duplicate(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Packets that come twice."""
    one, finding = seen["duplicate"], Finding()
    times = Counter(departure.number for departure in one.departures)
    twice = sum(count == 2 for count in times.values())
    finding.holds["share"] = _share(finding, "came twice", twice, len(one.arrivals), SHARE)
    finding.add("came more often", sum(count > 2 for count in times.values()), "packets")
    return finding


def corrupt_fix(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Packets that are not as they were sent, and whose checksums are right."""
    one, finding = seen["corrupt_fix"], Finding()
    unseen = sum(departure.unseen for departure in one.departures)
    is_share = _share(finding, "damaged unseen", unseen, len(one.arrivals), SHARE)
    seen_too = sum(departure.damaged for departure in one.departures) - unseen
    finding.add("seen by a checksum", seen_too, "packets")
    finding.holds["unseen"] = is_share and not seen_too
    return finding


def corrupt(seen: Mapping[str, Evidence], tolerance: Tolerance) -> Finding:
    """Packets that are not as they were sent."""
    one, finding = seen["corrupt"], Finding()
    damaged = sum(departure.damaged for departure in one.departures)
    finding.holds["share"] = _share(finding, "damaged", damaged, len(one.arrivals), SHARE)
    finding.add("lost", len(one.arrivals) - len(one.departures), "packets")
    return finding
