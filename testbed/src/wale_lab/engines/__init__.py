# SPDX-License-Identifier: GPL-2.0
"""Engines: where a scenario's kernel runs, and how to select one by name."""

from __future__ import annotations

from wale_lab.engines.base import Engine, EngineError


def engine_names() -> list[str]:
    """The names that `--engine` takes."""
    return ["uml", "vm", "host"]


def get_engine(name: str) -> Engine:
    """The engine of this name; imported late, so that one engine's needs are not another's."""
    if name == "uml":
        from wale_lab.engines.uml import UmlEngine

        return UmlEngine()
    if name == "vm":
        from wale_lab.engines.vm import VmEngine

        return VmEngine()
    if name == "host":
        from wale_lab.engines.host import HostEngine

        return HostEngine()
    known = ", ".join(engine_names())
    raise EngineError(f"there is no engine {name!r}; engines here: {known}")
