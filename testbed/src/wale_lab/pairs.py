# SPDX-License-Identifier: GPL-2.0
"""The keys of a scenario for a dumbbell: pairs of hosts around one bottleneck."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
)

from wale_lab.fields import STRICT, Delay, Name, Or

ROLES: tuple[Literal["sender", "receiver"], ...] = ("sender", "receiver")


class Pair(BaseModel):
    """A sender and its receiver."""

    model_config = STRICT

    name: Name
    """its hosts are NAME-sender and NAME-receiver"""
    access_delay: Delay = 0
    """one-way delay of the pair's own access link, in each direction"""
    sender: Name | None = None
    """name of its sender, instead of NAME-sender"""
    receiver: Name | None = None
    """name of its receiver, instead of NAME-receiver"""

    def host(self, role: Literal["sender", "receiver"]) -> str:
        """The name of its sender or receiver."""
        return (self.sender if role == "sender" else self.receiver) or f"{self.name}-{role}"

    @model_serializer(mode="wrap")
    def _without_names(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Names that are not given are in no digest."""
        data: dict[str, Any] = handler(self)
        return {key: v for key, v in data.items() if v is not None or key not in ROLES}


class Topology(BaseModel):
    """Which hosts there are; see testbed/src/wale_lab/topologies/dumbbell.py for the drawing."""

    model_config = STRICT

    type: Literal["dumbbell"] = "dumbbell"
    """pairs of hosts around one bottleneck; others are graph, and shapes with a name"""
    pairs: Annotated[
        list[Pair],
        Field(min_length=1, max_length=200),
        Or(type="integer", minimum=1, maximum=200),
    ] = [Pair(name="pair1")]
    """how many pairs, or a list of them"""

    @field_validator("pairs", mode="before")
    @classmethod
    def _count(cls, value: object) -> object:
        if isinstance(value, int) and not isinstance(value, bool):
            if not 1 <= value <= 200:
                raise ValueError(f"expected 1 to 200 pairs, got {value}")
            return [{"name": f"pair{n + 1}"} for n in range(value)]
        return value

    def hosts(self) -> list[str]:
        """The names of the hosts."""
        return [pair.host(role) for pair in self.pairs for role in ROLES]
