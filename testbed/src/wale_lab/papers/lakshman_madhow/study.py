# SPDX-License-Identifier: GPL-2.0
"""What the studies of Lakshman and Madhow measure, computed: which number of a row is its x."""

from __future__ import annotations

from collections.abc import Callable

from wale_lab.papers.lakshman_madhow import chain as lakshman_madhow_chain
from wale_lab.papers.lakshman_madhow.model import Link, sharing, utilisation

#: A data packet of Table VI.
CELLS_PER_PACKET = 12


def _one(link: Link, tcp: str, loss: float, by: str, reading: str) -> float:
    if by == "chain":
        return lakshman_madhow_chain.analyse(link, tcp, loss, reading).utilisation
    return utilisation(link, tcp, loss, reading)


def study_value(
    measure: str,
    x: float,
    of: str,
    tcp: str,
    by: str = "formula",
    reading: str = "reproducing",
    **values: float,
) -> float:
    """Return the part of the link that a connection gets (`efficiency` in results/measures.py).

    `of` says what x is: beta; loss, a probability; product, which is q (mu tau)^2; far_delay_s,
    of the first of two connections; buffer_packets or buffer_cells, of two.  `by` is formula or
    chain.  `values` are mu in packets/s, tau, beta, and for two connections far_delay_s,
    near_delay_s, buffer_packets and which (0: far, 1: near).  Raises ValueError for anything else.
    """
    if measure != "efficiency":
        raise ValueError(f"measure: expected efficiency, got {measure!r}")
    mu, tau = values.get("mu", 100.0), values.get("tau", 1.0)

    def single(beta: float, loss: float) -> float:
        return _one(Link.of_beta(beta, mu, tau), tcp, loss, by, reading)

    def double(far_s: float, buffer: float) -> float:
        delays = [far_s, values["near_delay_s"]]
        return sharing(mu, delays, buffer, tcp, reading).shares[int(values["which"])]

    ways: dict[str, Callable[[], float]] = {
        "beta": lambda: single(x, 0),
        "loss": lambda: single(values["beta"], x),
        "product": lambda: single(values["beta"], x / (mu * tau) ** 2),
        "far_delay_s": lambda: double(x, values["buffer_packets"]),
        "buffer_packets": lambda: double(values["far_delay_s"], x),
        "buffer_cells": lambda: double(values["far_delay_s"], x / CELLS_PER_PACKET),
    }
    if of not in ways:
        raise ValueError(f"of: expected one of {', '.join(ways)}, got {of!r}")
    return ways[of]()
