# SPDX-License-Identifier: GPL-2.0
"""What Goyal and others (1998), sections 3.2 and 3.3.1, compute: cells of windows, and on the way.

The paper says in words that windows less what the link has cleared must find a place; here are the
numbers.
"""

from __future__ import annotations

from wale_lab.models.link import Overhead
from wale_lab.models.switch import CELL

#: Of IP and TCP.
HEADER_BYTES = 40


def segment_cells(data_bytes: int) -> int:
    """Return how many cells a segment is in AAL5, padded to whole cells."""
    return Overhead.ATM.wire_length(data_bytes + HEADER_BYTES) // CELL


def largest_efficiency(data_bytes: int = 512) -> float:
    """Return the part of the link that data is at most (section 3.2: 0.805)."""
    return data_bytes / (segment_cells(data_bytes) * CELL)


def zero_loss_cells(
    sources: int,
    window_bytes: int,
    round_trip_s: float,
    rate_bit_per_s: float = 155.52e6,
    data_bytes: int = 512,
) -> float:
    """Return the largest queue of an endless buffer, cells (section 3.3.1).

    All windows, in whole segments, less what is on the way in a round trip of `round_trip_s`.
    Raises ValueError unless all are positive and a segment fits into a window.
    """
    given = (sources, window_bytes, round_trip_s, rate_bit_per_s, data_bytes)
    if min(given) <= 0 or window_bytes < data_bytes:
        raise ValueError(f"expected positive values and a window of a segment or more, got {given}")
    windows = sources * (window_bytes // data_bytes) * segment_cells(data_bytes)
    on_the_way = rate_bit_per_s * round_trip_s / (8 * CELL)
    return max(windows - on_the_way, 0.0)


def study_value(measure: str, x: str, windows: dict[str, int], delays_s: dict[str, float]) -> float:
    """Return `peak_backlog_cells` (results/measures.py) for an x such as "LAN 5".

    `windows` (bytes) and `delays_s` (a round trip) are by network.  ValueError for other measures.
    """
    if measure != "peak_backlog_cells":
        raise ValueError(f"measure: expected peak_backlog_cells, got {measure!r}")
    network, sources = x.split()
    return zero_loss_cells(int(sources), windows[network], delays_s[network])
