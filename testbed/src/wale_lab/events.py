# SPDX-License-Identifier: GPL-2.0
"""The keys of a scenario for what happens to its network at a time: links fail, routes change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, Field, model_validator

from wale_lab.fields import STRICT, Or, TimeNs, quantity
from wale_lab.network import Graph, GraphRoute, some
from wale_lab.units import parse_time_ns


def _reroute(value: object) -> object:
    """A time; YAML makes a boolean of off."""
    return None if value is False or value in ("off", None) else parse_time_ns(value)


class NoRoute(BaseModel):
    """A route that is computed again from now on."""

    model_config = STRICT

    at: str
    """the node whose route it was"""
    to: str
    """the node that packets go to"""


class Event(BaseModel):
    """One change of a network. What is on its way in a link that fails is lost.

    The addresses of nodes stay, and so do those that a flow is between.
    """

    model_config = STRICT

    at: TimeNs
    """time after the scenario's start"""
    link: str | None = None
    """the name of the link that changes; with state or cost"""
    state: Literal["down", "up"] | None = None
    """down: its devices are off at both ends, as if the cable were pulled; or up again"""
    cost: Annotated[int, Field(ge=1, le=65_535)] | None = None
    """another cost, by which routes are computed"""
    reroute: Annotated[int | None, *quantity(_reroute, "a time: 50ms, 1.5s, or off"), Or(
        type="boolean"
    )] = 0  # fmt: skip
    """how long after it all nodes have the routes that follow (at once), or off: never"""
    route: GraphRoute | None = None
    """instead of a link: a route that is said from now on"""
    computed: NoRoute | None = None
    """instead of a link: a route that was said, and is computed again"""

    @model_validator(mode="after")
    def _check(self) -> Event:
        given = [w for w in (self.link, self.route, self.computed) if w is not None]
        if len(given) != 1:
            raise ValueError("expected one of link, route and computed")
        if self.link is not None and (self.state is None) == (self.cost is None):
            raise ValueError("expected either state or cost, with a link")
        if self.link is None and (self.state or self.cost):
            raise ValueError("expected state and cost with a link")
        if self.link is None and "reroute" in self.model_fields_set:
            raise ValueError("expected reroute with a link")
        return self


def in_order(events: Sequence[Event]) -> list[int]:
    """The numbers of events by their time, those at the same time as they are listed."""
    return sorted(range(len(events)), key=lambda n: events[n].at)


def check_events(graph: Graph | None, events: Sequence[Event]) -> None:
    """ValueError, which begins with the key, for what does not fit to the network."""
    if events and graph is None:
        raise ValueError("events: expected a topology that is a graph, or a shape with a name")
    if graph is None:
        return
    down: set[str] = set()
    for n in in_order(events):
        event, where = events[n], f"events.{n}"
        if event.link is not None and event.link not in graph.link_names:
            known = some(graph.link_names)
            raise ValueError(f"{where}.link: expected one of {known}, got {event.link!r}")
        if event.state is not None:
            assert event.link is not None
            if (event.state == "down") == (event.link in down):
                raise ValueError(f"{where}.state: expected a change, {event.link} is {event.state}")
            down ^= {event.link}
        said = event.route or event.computed
        for key, name in (said.model_dump() if said else {}).items():
            if name not in graph.nodes:
                which = "route" if event.route else "computed"
                raise ValueError(
                    f"{where}.{which}.{key}: expected a host or a router, got {name!r}"
                )
