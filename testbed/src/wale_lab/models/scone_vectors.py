# SPDX-License-Identifier: GPL-2.0
"""The table of test vectors for SCONE packets; vectors.py writes it."""

from __future__ import annotations

import random

from wale_lab.models import scone
from wale_lab.models.impair_vectors import Header

TEXT = f"""
After {scone.DRAFT}.

WALE_VEC_SCONE_*: its numbers.
wale_vec_scone_rates: of each signal, the lowest rate that has it, in bytes/s.
wale_vec_scone_signals: rates, and their signals.
wale_vec_scone_datagrams: the payload of a datagram; does it begin with a SCONE packet
(kind 1: it is malformed, 2: it is whole); the advice of an element, and the first two
bytes when it has passed that.
"""
SEED = 20260820
RANDOM = 400
LONGEST = 24


def _rates(rng: random.Random) -> list[int]:
    """Rates near each threshold, beyond both ends, and anywhere."""
    near = [scone.rate_of(n) + more for n in range(scone.HIGHEST_SIGNAL + 1) for more in (-1, 0, 1)]
    anywhere = [int(10 ** rng.uniform(0, 12)) for _ in range(100)]
    return [0, 1, *near, *anywhere, 10**15, (1 << 64) - 2]


def _datagram(rng: random.Random) -> bytes:
    """A SCONE packet and something behind it; damaged, cut off, or of another version."""
    ids = [rng.randbytes(rng.choice([0, 0, 4, 8])) for _ in range(2)]
    signal = rng.choice([scone.UNKNOWN, rng.randrange(128)])
    data = bytearray(scone.packet(ids[0], ids[1], signal) + rng.randbytes(rng.randrange(4)))
    match rng.randrange(6):
        case 0:
            data = data[: rng.randrange(len(data) + 1)]
        case 1:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        case 2:
            data[5] = rng.randrange(256)
        case 3:
            data[0] = rng.randrange(256)
    return bytes(data[:LONGEST])


def _entry(datagram: bytes, signal: int) -> str:
    passed = scone.lower(datagram, signal)
    head = ", ".join(f"{byte:#04x}" for byte in passed[:2].ljust(2, b"\0"))
    data = ", ".join(f"{byte:#04x}" for byte in datagram) or "0"
    kind = list(scone.Kind).index(scone.kind_of(datagram))
    return f"{{ {kind}, {signal}, {{ {head} }}, {len(datagram)},\n\t  {{ {data} }} }}"


def scone_table(header: Header) -> str:
    """Return wale_vectors_scone.h."""
    rng = random.Random(SEED)
    rates = [scone.rate_of(n) for n in range(scone.HIGHEST_SIGNAL + 1)]
    signals = [f"{{ {rate:#x}ULL, {scone.signal_of(rate)} }}" for rate in _rates(rng)]
    datagrams = [_entry(_datagram(rng), rng.randrange(128)) for _ in range(RANDOM)]
    return (
        header("wale_vectors_scone.h", "SCONE packets and their signals", TEXT)
        + f"#define WALE_VEC_SCONE_VERSION {scone.VERSION:#x}\n"
        + f"#define WALE_VEC_SCONE_UNKNOWN {scone.UNKNOWN}\n"
        + f"#define WALE_VEC_SCONE_PERIOD_NS {scone.PERIOD_NS}ULL\n\n"
        + "static const __u64 wale_vec_scone_rates[] = {\n"
        + "".join(f"\t{rate}ULL,\n" for rate in rates)
        + "};\n\nstatic const struct {\n\t__u64 rate;\n\t__u8 signal;\n} "
        + "wale_vec_scone_signals[] = {\n"
        + "".join(f"\t{entry},\n" for entry in signals)
        + "};\n\nstatic const struct {\n\t__u8 kind, advice, head[2], len;\n"
        + f"\t__u8 data[{LONGEST}];\n}} wale_vec_scone_datagrams[] = {{\n"
        + "".join(f"\t{entry},\n" for entry in datagrams)
        + "};\n"
    )
