# SPDX-License-Identifier: GPL-2.0
"""papers/goyal/model.py against what the paper prints."""

from __future__ import annotations

import pytest

from wale_lab.papers import MODELS
from wale_lab.papers.goyal import model as goyal


def test_printed_numbers() -> None:
    assert goyal.segment_cells(512) == 12
    assert goyal.largest_efficiency() == pytest.approx(0.805, abs=5e-4)


@pytest.mark.parametrize(
    ("sources", "window", "round_trip_s", "printed"),
    [
        (5, 65535, 30e-6, 7591),
        (15, 65535, 30e-6, 22831),
        (5, 600_000, 30e-3, 59211),
        (15, 600_000, 30e-3, 196203),
    ],
)
def test_table_3(sources: int, window: int, round_trip_s: float, printed: int) -> None:
    cells = goyal.zero_loss_cells(sources, window, round_trip_s)
    assert cells == pytest.approx(printed, rel=0.02)


def test_a_window_that_is_all_on_the_way_needs_no_buffer() -> None:
    assert goyal.zero_loss_cells(1, 5120, 1.0) == 0


@pytest.mark.parametrize("bad", [(0, 65535, 1.0), (5, 511, 1.0), (5, 65535, -1.0)])
def test_bad_values(bad: tuple[int, int, float]) -> None:
    with pytest.raises(ValueError, match="expected positive values"):
        goyal.zero_loss_cells(*bad)


def test_studies_know_it() -> None:
    values = {"windows": {"LAN": 65535}, "delays_s": {"LAN": 30e-6}}
    assert MODELS["goyal"]("peak_backlog_cells", "LAN 5", **values) == pytest.approx(7609, abs=1)
    with pytest.raises(ValueError, match="expected peak_backlog_cells"):
        MODELS["goyal"]("efficiency", "LAN 5", **values)
