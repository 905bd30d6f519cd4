# SPDX-License-Identifier: GPL-2.0
"""What is kept of each run of a sweep, and the tables of all: tidy, and means with intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from wale_lab.finished import Run
from wale_lab.results.compare import METRICS, PERCENTILES
from wale_lab.results.series import RunSeries
from wale_lab.sweeps.grid import COLUMNS, MEANS

#: Units in the names of measures.
_UNITS = {"Mbit/s": "Mbps", "ms": "ms"}
#: Distributions whose percentiles are measures; throughput has its mean as goodput_Bps.
_DISTRIBUTIONS = ("rtt", "queueing_delay", "one_way_delay")


def record_of(folder: Path) -> dict[str, Any]:
    """The record of a run."""
    run = Run(folder)
    series = RunSeries(folder, "")
    measures = [list(measure) for measure in run.measures()]
    for flow in series.flows:
        name = flow["name"]
        if flow.get("data_segments"):
            share = (flow.get("retransmits") or 0) / flow["data_segments"]
            measures.append(["flow", name, "retransmitted_share", share])
        for key in _DISTRIBUTIONS:
            values = METRICS[key].values(series, name)
            if not len(values):
                continue
            unit = _UNITS[METRICS[key].unit]
            for percent, value in zip(PERCENTILES, np.percentile(values, PERCENTILES), strict=True):
                measures.append(["flow", name, f"{key}_p{percent}_{unit}", float(f"{value:.9g}")])
    return {
        "digest": run.digest,
        "kernel": run.result["kernel"],
        "problems": run.problems,
        "measures": measures,
    }


def tidy(points: list[tuple[dict[str, str], int, dict[str, Any]]]) -> pd.DataFrame:
    """A line for each measure of each run."""
    names = list(points[0][0]) if points else []
    rows = [
        (*parameters.values(), seed, *measure)
        for parameters, seed, record in points
        for measure in record["measures"]
    ]
    return pd.DataFrame(rows, columns=[*names, *COLUMNS])


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Over the seeds: mean, and half the width of Student's 95 % interval of it."""
    keys = [name for name in table.columns if name not in ("seed", "value")]
    grouped = table.groupby(keys, sort=False, observed=True)["value"]
    found = grouped.agg(["mean", "std", "count"]).reset_index()
    count = found["count"]
    width = stats.t.ppf(0.975, np.maximum(count - 1, 1)) * found["std"] / np.sqrt(count)
    found["ci95"] = np.where(count > 1, width, np.nan)
    return found.drop(columns="std")[[*keys, *MEANS]]
