# SPDX-License-Identifier: GPL-2.0
"""The table of test vectors for the policer; vectors.py writes it."""

from __future__ import annotations

import random

from wale_lab.models.impair_vectors import Header
from wale_lab.models.policer import NS_PER_S, Parameters, Policer

TEXT = """
wale_vec_policers: packets that arrive at a policer of this rate and burst, and whether
there are tokens for each; half way, rate and burst become others.
"""
SEED = 20261127
PACKETS = 60
START_NS = 10**15

CASES = (
    (Parameters(10**6, 3000), Parameters(2 * 10**6, 1500)),
    (Parameters(1, 1), Parameters(1, (1 << 32) - 1)),
    (Parameters(333_333, 1514), Parameters(7, 100_000)),
    (Parameters(10**15, (1 << 32) - 1), Parameters(10**15, 1)),
    (Parameters(12_345_679, 65_536), Parameters(999_999_937, 4000)),
)


def _packet(rng: random.Random, policer: Policer) -> tuple[int, int]:
    """How long after the one before it a packet comes, and its length: some just fit."""
    rate, burst = policer.parameters
    usual_ns = max(1000 * NS_PER_S // rate, 1)
    gap_ns = rng.choice([0, 1, usual_ns, rng.randrange(2 * usual_ns), 10**18 // 50])
    there = Policer(policer.parameters, policer.time_ns)
    there.tokens = policer.tokens
    there.takes(policer.time_ns + gap_ns, 0)
    exact = max(int(there.tokens) + rng.choice([0, 1]), 1)
    length = rng.choice([40, 1500, exact, rng.randint(40, 1500), min(burst, 1 << 20)])
    return gap_ns, min(length, (1 << 20) - 1)


def _case(number: int, first: Parameters, second: Parameters) -> str:
    rng, time_ns = random.Random(SEED + number), START_NS
    policer, rows = Policer(first, START_NS), []
    for packet in range(PACKETS):
        if packet == PACKETS // 2:
            policer.change(second, time_ns)
        gap_ns, length = _packet(rng, policer)
        time_ns += gap_ns
        rows.append(f"\t\t{{ {time_ns}ULL, {length}, {int(policer.takes(time_ns, length))} }},\n")
    numbers = (f"{one.rate}ULL, {one.burst}ULL" for one in (first, second))
    return "\t{ { { " + " }, { ".join(numbers) + " } }, {\n" + "".join(rows) + "\t} },\n"


def policer_table(header: Header) -> str:
    """Return wale_vectors_policer.h."""
    return (
        header("wale_vectors_policer.h", "which packets exceed a policer", TEXT)
        + f"#define WALE_VEC_POLICER_PACKETS {PACKETS}\n"
        + f"#define WALE_VEC_POLICER_START {START_NS}ULL\n\n"
        + "struct wale_vec_policer {\n\tstruct wale_policer_params params[2];\n\tstruct {\n"
        + "\t\t__u64 arrival_ns;\n\t\t__u32 len;\n\t\t__u8 takes;\n"
        + "\t} packet[WALE_VEC_POLICER_PACKETS];\n};\n\n"
        + "static const struct wale_vec_policer wale_vec_policers[] = {\n"
        + "".join(_case(number, *both) for number, both in enumerate(CASES))
        + "};\n"
    )
