# SPDX-License-Identifier: GPL-2.0
"""A finished run: its results as pandas data frames, and as a plot.

Columns have their unit in the name: `_s` and `_us` are times, `_Bps` is bytes per second, then
`_bytes` and `_packets`. `seconds` is the duration of a flow and `bytes` the amount transferred;
`ideal_share` and `utilisation` are shares of 1. Times count from the scenario's start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wale_lab.errors import ScenarioError
from wale_lab.results.stored import TEXT_COLUMNS, read_result

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class Run:
    """A run, read from the folder written by `wale-lab run --out FOLDER` or wale_lab.run()."""

    def __init__(
        self, folder: Path | str, parameters: Mapping[str, object] | None = None, number: int = 0
    ) -> None:
        self.folder = Path(folder)
        #: What the scenario's values were set to.
        self.parameters = dict(parameters or {})
        #: Its place in a sweep, from 0 on.
        self.number = number
        #: What result.json says.
        self.result = read_result(self.folder)

    def __repr__(self) -> str:
        name, digest = self.result["scenario"], self.digest[:12]
        return f"<Run of {name}, seed {self.seed}, digest {digest}>"

    @property
    def seed(self) -> int:
        """The seed of every random draw."""
        return int(self.result["seed"])  # a large one is text in JSON

    @property
    def digest(self) -> str:
        """SHA-256 of the results: the same for the same scenario, seed and kernel."""
        return str(self.result["digest"])

    @property
    def problems(self) -> list[str]:
        """Why `wale-lab run` would exit with 1: flows that did not complete, and warnings."""
        from wale_lab.results.result import problems

        return problems(self.result)

    @cached_property
    def flows(self) -> pd.DataFrame:
        """A row for each flow: goodput_Bps, seconds, retransmits, min_rtt_us and more."""
        return _table(self.result["flows"])

    @cached_property
    def links(self) -> pd.DataFrame:
        """A row for each link: sent_packets, dropped_packets.buffer, utilisation and more."""
        return _table(self.result["links"])

    @cached_property
    def flow_samples(self) -> pd.DataFrame:
        """Each flow's socket over time (flows.csv): t_s, flow, cwnd_packets, srtt_us and more."""
        return self._samples("flows.csv")

    @cached_property
    def link_samples(self) -> pd.DataFrame:
        """Each link over time (links.csv): t_s, link, backlog_bytes, rate_Bps and more."""
        return self._samples("links.csv")

    @cached_property
    def packets(self) -> pd.DataFrame:
        """A row for each packet at each link: link, fate, arrival_ns, flow, seq and more.

        ScenarioError if the run has no log: it is written with packets=True.
        """
        import pandas as pd

        path = self.folder / "packets.parquet"
        if not path.exists():
            raise ScenarioError(
                f"{self.folder} has no log of packets; expected a run with packets=True"
            )
        return pd.read_parquet(path)

    def plot(self) -> Figure:
        """The plot that `wale-lab run --plot` draws."""
        from wale_lab.results.plot import figure_of
        from wale_lab.results.series import RunSeries

        return figure_of([RunSeries(self.folder, self.result["scenario"])])

    def page(self, path: Path | str | None = None) -> Path:
        """Write the interactive page that `wale-lab run --html` writes, and return its path."""
        from wale_lab.results.page import write_page

        return write_page([self.folder], None if path is None else Path(path))

    def measures(self) -> Iterator[tuple[str, str, str, float]]:
        """All numbers of flows and links: kind, name, measure, value; true is 1."""
        for kind in ("flow", "link"):
            for entry in self.result[f"{kind}s"]:
                for measure, value in _numbers(entry):
                    yield kind, entry["name"], measure, value

    def _samples(self, name: str) -> pd.DataFrame:
        import pandas as pd

        path = self.folder / name
        if not path.exists():
            return pd.DataFrame()
        # a flow may be called NA or true
        text = dict.fromkeys(TEXT_COLUMNS, str)
        return pd.read_csv(path, dtype=text, keep_default_na=False, na_values=[""])


def _table(entries: list[dict[str, Any]]) -> pd.DataFrame:
    """A row for each entry; nested values have columns with a dot in the name."""
    import pandas as pd

    return pd.json_normalize(entries)


def _numbers(entry: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """The numbers in an entry of result.json, named as in _table()."""
    for key, value in entry.items():
        if isinstance(value, dict):
            yield from _numbers(value, f"{before}{key}.")
        elif isinstance(value, int | float):
            yield f"{before}{key}", float(value)
