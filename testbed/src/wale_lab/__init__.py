# SPDX-License-Identifier: GPL-2.0
"""The testbed: scenarios in, results out.

For notebooks and scripts::

    import wale_lab

    run = wale_lab.run("demo", seed=3, set={"bottleneck.forward.loss": "2%"})
    run.flows[["name", "goodput_Bps"]]
    run.plot()
    wale_lab.sweep("demo", {"bottleneck.forward.loss": ["0%", "1%"]}, seeds=range(3))

Nothing else is loaded until one of these names is used: the command wale-lab starts fast.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes time to load, in a guest too
if TYPE_CHECKING:
    from typing import Any

    from wale_lab.engines.base import EngineError
    from wale_lab.errors import LabError, ScenarioError
    from wale_lab.finished import Run
    from wale_lab.notebook import run, sweep, sweep_runs

    __version__: str

__all__ = ["EngineError", "LabError", "Run", "ScenarioError", "run", "sweep", "sweep_runs"]

_HOMES = {
    "EngineError": "wale_lab.engines.base",
    "LabError": "wale_lab.errors",
    "Run": "wale_lab.finished",
    "ScenarioError": "wale_lab.errors",
    "run": "wale_lab.notebook",
    "sweep": "wale_lab.notebook",
    "sweep_runs": "wale_lab.notebook",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from wale_lab.tree import version

        return version()
    if name not in _HOMES:
        raise AttributeError(f"module 'wale_lab' has no attribute {name!r}")
    return getattr(__import__(_HOMES[name], fromlist=[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
