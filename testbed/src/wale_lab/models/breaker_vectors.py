# SPDX-License-Identifier: GPL-2.0
"""The table of test vectors for the circuit breaker; vectors.py writes it."""

from __future__ import annotations

import random

from wale_lab.models.breaker import NS_PER_S, Breaker, Parameters
from wale_lab.models.impair_vectors import Header

TEXT = """
wale_vec_breakers: packets of three flows that arrive at a circuit breaker: the flow, the
length, and whether the flow is cut; and how many are cut in the end.
"""
SEED = 20261128
PACKETS = 120
START_NS = 10**15

CASES = (
    Parameters(10**6, 20 * 10**6),
    Parameters(1000, 10**9),
    Parameters(333_333, 1),
    Parameters(10**15, 5),
    Parameters(7, 86_400 * 10**9),
)


def _case(number: int, parameters: Parameters) -> str:
    rng, time_ns = random.Random(SEED + number), START_NS
    breaker, rows = Breaker(parameters), []
    least_ns = max(1000 * NS_PER_S // parameters.rate, 1)
    for _ in range(PACKETS):
        time_ns += rng.choice([0, 1, least_ns // 3, least_ns // 2, rng.randint(0, 2 * least_ns)])
        flow = rng.choice([1, 1, 1, 2, 2, 3])
        length = rng.choice([40, 1000, 1500]) // (1, 2, 8)[flow - 1]
        cut = int(breaker.cut(flow, time_ns, length))
        rows.append(f"\t\t{{ {time_ns}ULL, {length}, {flow}, {cut} }},\n")
    numbers = f"{{ {parameters.rate}ULL, {parameters.after}ULL }}"
    return f"\t{{ {numbers}, {breaker.cuts}, {{\n" + "".join(rows) + "\t} },\n"


def breaker_table(header: Header) -> str:
    """Return wale_vectors_breaker.h."""
    return (
        header("wale_vectors_breaker.h", "which flows a circuit breaker cuts", TEXT)
        + f"#define WALE_VEC_BREAKER_PACKETS {PACKETS}\n\n"
        + "struct wale_vec_breaker {\n\tstruct wale_breaker_params params;\n\t__u64 cuts;\n"
        + "\tstruct {\n\t\t__u64 arrival_ns;\n\t\t__u32 len;\n\t\t__u8 flow;\n\t\t__u8 cut;\n"
        + "\t} packet[WALE_VEC_BREAKER_PACKETS];\n};\n\n"
        + "static const struct wale_vec_breaker wale_vec_breakers[] = {\n"
        + "".join(_case(number, one) for number, one in enumerate(CASES))
        + "};\n"
    )
