# SPDX-License-Identifier: GPL-2.0
"""The settings of a scenario's hosts: sysctls, routes, interfaces; and named bundles of them."""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
)

from wale_lab import yaml_lines
from wale_lab.advice import Advice
from wale_lab.checking import checked
from wale_lab.errors import ScenarioError
from wale_lab.fields import STRICT, CongestionControl, Or, Positive, Switch, Text, TimeNs
from wale_lab.tree import PACKAGE


class Strict(BaseModel):
    """Unknown keys are errors."""

    model_config = STRICT


class Offloads(Strict):
    """Offloads of a host's interface; None leaves the kernel's default."""

    tso: Switch | None = None
    """TCP segmentation by the interface"""
    gso: Switch | None = None
    """segmentation as late as possible"""
    gro: Switch | None = None
    """joining of received packets"""


class RouteSettings(Strict):
    """Attributes of a host's route (`man ip-route`).

    Not ssthresh and reordering: Linux reads them only where it has metrics of an earlier connection
    (tcp_init_metrics()), which no host here has.
    """

    initcwnd: Positive | None = None
    """first congestion window, packets"""
    initrwnd: Positive | None = None
    """first receive window, packets"""
    rto_min: TimeNs | None = None
    """least retransmission timeout"""
    quickack: Switch | None = None
    """every segment is acknowledged at once"""
    advmss: Positive | None = None
    """segment size that is announced, bytes"""
    window: Positive | None = None
    """largest window that is announced, bytes; where segments are longer than 536 bytes, Linux 6.12
    and 7.2 take 64 kB times a power of 2 above it"""
    congctl: CongestionControl | None = None
    """congestion control of sockets that do not choose: those of receivers, as flows have a `cc`"""
    features: Literal["ecn"] | None = None
    """ECN is asked for on this route; the receiver's does it, which connects"""


def _scripts(value: object) -> object:
    scripts = [value] if isinstance(value, str) else value
    for script in scripts if isinstance(scripts, list) else []:
        if not isinstance(script, str) or not script.strip() or "\0" in script:
            raise ValueError(f"expected scripts for /bin/sh, got {script!r}")
    return scripts


class HostSettings(Strict):
    """How a host's TCP and interface are set."""

    sysctls: dict[str, Text] = {}
    """name to value, such as net.ipv4.tcp_sack: 0"""
    route: RouteSettings = RouteSettings()
    """attributes of the host's route"""
    mtu: Annotated[int, Field(ge=68, le=65535)] | None = None
    """bytes of IP in a packet, for the host's interface (1500)"""
    offloads: Offloads = Offloads()
    """segmentation and joining by the interface"""
    kernel: Annotated[str, Field(pattern=r"^\d+\.\d+(\+\w+)*$"), BeforeValidator(str)] | None = None
    """line of the kernel of its guest, such as 6.1, where a scenario has several guests"""
    setup: Annotated[list[str], BeforeValidator(_scripts), Or(type="string")] | None = None
    """scripts for /bin/sh, run in it as root when the network is there, before links have their
    rates and delays; those of more general settings first"""

    @model_serializer(mode="wrap")
    def _without_new_ones(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A key that is newer than the others, and not given, is in no digest."""
        data: dict[str, Any] = handler(self)
        newer = ("kernel", "setup")
        return {key: value for key, value in data.items() if key not in newer or value is not None}

    @field_validator("sysctls")
    @classmethod
    def _known_tree(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if not re.fullmatch(r"net(\.[A-Za-z0-9_-]+)+", name):
                raise ValueError(f"expected names that begin with net., got {name!r}")
        return value

    @field_validator("offloads", mode="before")
    @classmethod
    def _all_at_once(cls, value: object) -> object:
        if value in ("on", "off", True, False):
            return {"tso": value, "gso": value, "gro": value}
        return value

    def merged_with(self, other: HostSettings) -> HostSettings:
        """These settings, overridden by those of the other one."""

        def top(mine: BaseModel, theirs: BaseModel) -> dict[str, Any]:
            return {**mine.model_dump(exclude_none=True), **theirs.model_dump(exclude_none=True)}

        return HostSettings.model_construct(
            sysctls={**self.sysctls, **other.sysctls},
            route=RouteSettings.model_construct(**top(self.route, other.route)),
            mtu=other.mtu if other.mtu is not None else self.mtu,
            offloads=Offloads.model_construct(**top(self.offloads, other.offloads)),
            kernel=other.kernel or self.kernel,
            setup=[*(self.setup or []), *(other.setup or [])] or None,
        )


class SenderSettings(HostSettings):
    """How a sender's TCP and interface are set, and what it is advised."""

    advice: Advice | None = None
    """the rate that its sockets listen to, and how they use it"""


class PairHosts(Strict):
    """Settings of one pair's hosts."""

    profile: str | None = None
    """instead of the scenario's profile: another bundle of host settings for this pair"""
    sender: SenderSettings = SenderSettings()
    """its sender"""
    receiver: HostSettings = HostSettings()
    """its receiver"""


#: A pair of which nothing is said; nobody changes it.
NO_PAIR_HOSTS = PairHosts()


class Hosts(Strict):
    """Settings of hosts; the more special ones win."""

    all: HostSettings = HostSettings()
    """every host"""
    senders: SenderSettings = SenderSettings()
    """every sender"""
    receivers: HostSettings = HostSettings()
    """every receiver"""
    pairs: dict[str, PairHosts] = {}
    """by the name of a pair"""


class Profile(Strict):
    """A named bundle of host settings, testbed/src/wale_lab/profiles/NAME.yaml."""

    description: str
    all: HostSettings = HostSettings()
    senders: SenderSettings = SenderSettings()
    receivers: HostSettings = HostSettings()


@cache
def load_profile(name: str) -> Profile:
    """The profile of this name; do not modify."""
    folder = PACKAGE / "profiles"
    path = folder / f"{name}.yaml"
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,100}", name) or not path.exists():
        known = ", ".join(sorted(p.stem for p in folder.glob("*.yaml")))
        raise ScenarioError(f"profile: expected one of {known}, got {name!r}")
    document = yaml_lines.load(path)
    return Profile.model_validate(checked(Profile, document).model_dump(exclude_unset=True))
