# SPDX-License-Identifier: GPL-2.0
"""The table of test vectors for the impairments of a link; vectors.py writes it."""

from __future__ import annotations

import random
from collections.abc import Callable

from wale_lab.models.impair import (
    ALWAYS,
    FourStates,
    Gemodel,
    Losses,
    Model,
    Settings,
    Slots,
    jitter_offset,
)

Header = Callable[[str, str, str], str]

TEXT = """
wale_vec_losses: a model of losses by its number (1 gemodel, 2 state) and its
probabilities, and which of the first packets are lost: packet n is bit n % 64 of
word n / 64.
"""

JITTER_TEXT = """
wale_vec_jitters: what a draw adds to the delay with a jitter in ns; `count` is how
many entries of wale_vec_jitter_table are the distribution, 0: it is uniform.
"""
SLOT_TEXT = """
wale_vec_slots: packets in slots of min_ns to max_ns with room for so many packets
and bytes (0: any number), drawn from a seed: when each would leave without, its
length, and when it leaves.
"""
SEED = 20050331
DAY_NS = 86_400 * 10**9
WORDS = 8
PERCENT = (1 << 32) // 100
MODELS: list[tuple[str, Model]] = [
    ("independent", Gemodel(3 * PERCENT, ALWAYS + 1 - 3 * PERCENT)),
    ("bursts", Gemodel(2 * PERCENT, 20 * PERCENT)),
    ("gilbert", Gemodel(5 * PERCENT, 10 * PERCENT, 70 * PERCENT)),
    ("gilbert and elliott", Gemodel(5 * PERCENT, 10 * PERCENT, 70 * PERCENT, 4 * PERCENT)),
    ("always", Gemodel(ALWAYS, 0)),
    ("never", Gemodel(0, ALWAYS)),
    ("to and fro", Gemodel(ALWAYS, ALWAYS)),
    ("two states", FourStates(4 * PERCENT, 25 * PERCENT)),
    ("three states", FourStates(4 * PERCENT, 10 * PERCENT, 30 * PERCENT, 40 * PERCENT)),
    ("four states", FourStates(4 * PERCENT, 10 * PERCENT, 30 * PERCENT, 40 * PERCENT, PERCENT)),
    ("single losses", FourStates(0, 0, p14=ALWAYS)),
    ("all of it", FourStates(ALWAYS, ALWAYS)),
    ("left at once", FourStates(1 << 31, 1 << 31, 1 << 31, p14=1 << 31)),
]


def _verdicts(model: Model, seed: int) -> list[int]:
    losses = Losses(model, seed)
    lost = [losses.next() for _ in range(64 * WORDS)]
    return [sum(lost[64 * w + n] << n for n in range(64)) for w in range(WORDS)]


def losses_table(header: Header) -> str:
    """Return wale_vectors_losses.h."""
    rows = []
    for number, (name, model) in enumerate(MODELS):
        kind = 1 if isinstance(model, Gemodel) else 2
        values = list(vars(model).values())
        words = [f"{word:#018x}ULL" for word in _verdicts(model, number)]
        lines = ",\n\t    ".join(", ".join(words[n : n + 3]) for n in range(0, WORDS, 3))
        numbers = ", ".join(f"{value}U" for value in values + [0] * (5 - len(values)))
        rows.append(
            f'\t{{ "{name}", {kind}, {number},\n\t  {{ {numbers} }},\n\t  {{ {lines} }} }},'
        )
    return (
        header("wale_vectors_losses.h", "losses in bursts", TEXT)
        + f"#define WALE_VEC_LOSS_WORDS {WORDS}\n\n"
        + "struct wale_vec_loss {\n\tconst char *name;\n\t__u32 kind;\n\t__u64 seed;\n"
        + "\t__u32 number[5];\n\t__u64 lost[WALE_VEC_LOSS_WORDS];\n};\n\n"
        + "static const struct wale_vec_loss wale_vec_losses[] = {\n"
        + "\n".join(rows)
        + "\n};\n"
    )


def jitter_table(header: Header) -> str:
    """Return wale_vectors_jitter.h."""
    rng = random.Random(SEED)
    table = (-32768, -8192, -1, 0, 1, 8192, 32767)
    rows = []
    for _ in range(200):
        jitter_ns = rng.choice([0, 1, 4095, 4096, 10**6, rng.randint(1, DAY_NS), DAY_NS])
        count = rng.choice([0, 0, 1, 2, len(table)])
        draw = rng.choice([0, (1 << 64) - 1, rng.getrandbits(64), rng.getrandbits(64)])
        offset = jitter_offset(jitter_ns, table[:count], draw)
        rows.append(f"\t{{ {jitter_ns}ULL, {count}, {draw:#x}ULL, {offset}LL }},\n")
    return (
        header("wale_vectors_jitter.h", "the jitter of a delay", JITTER_TEXT)
        + f"static const __s16 wale_vec_jitter_table[] = {{ {', '.join(map(str, table))} }};\n\n"
        + "struct wale_vec_jitter {\n\t__u64 jitter_ns;\n\t__u32 count;\n\t__u64 draw;\n"
        + "\t__s64 offset_ns;\n};\n\n"
        + "static const struct wale_vec_jitter wale_vec_jitters[] = {\n"
        + "".join(rows)
        + "};\n"
    )


def slot_table(header: Header) -> str:
    """Return wale_vectors_slot.h."""
    rng = random.Random(SEED)
    rows = []
    for seed, slot in enumerate(
        [(10**6, 10**6, 0, 0), (0, 1, 1, 0), (10**6, 9 * 10**6, 3, 0), (10**7, 10**7, 0, 3000)]
    ):
        slots = Slots(Settings(seed=seed, slot=slot))
        departure_ns, packets = 10**12, []
        for _ in range(40):
            departure_ns += rng.choice([0, 0, 10**5, rng.randint(1, 2 * 10**7)])
            length = rng.choice([40, 1500, rng.randint(40, 4000)])
            at_ns = slots.departure_ns(departure_ns, length)
            packets.append(f"\t\t{{ {departure_ns}ULL, {length}, {at_ns}ULL }},\n")
        numbers = ", ".join(f"{value}U" for value in slot)
        rows.append(f"\t{{ {seed}, {{ {numbers} }}, {{\n{''.join(packets)}\t}} }},\n")
    return (
        header("wale_vectors_slot.h", "departures in slots", SLOT_TEXT)
        + "#define WALE_VEC_SLOT_PACKETS 40\n\n"
        + "struct wale_vec_slot {\n\t__u64 seed;\n\tstruct wale_slot_params params;\n\tstruct {\n"
        + "\t\t__u64 departure_ns;\n\t\t__u32 len;\n\t\t__u64 at_ns;\n"
        + "\t} packet[WALE_VEC_SLOT_PACKETS];\n};\n\n"
        + "static const struct wale_vec_slot wale_vec_slots[] = {\n"
        + "".join(rows)
        + "};\n"
    )
