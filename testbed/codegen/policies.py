# SPDX-License-Identifier: GPL-2.0
"""kmod/rate_feedback/rate_policy.c: what requests of the channel may have, from its own contract,
Documentation/netlink/specs/rate_feedback.yaml.

The kernel's generator (ynl-gen-c --mode kernel) writes operations for Linux 6.2 and later beside
policies, and policies refuse a value without saying its range.  So this has of ranges what needs
no sentence: values that have names, flags, and bounds on one side that are numbers.  Others are
checked in rate_request.c.
"""

from __future__ import annotations

from typing import Any

import yaml

from spec import TOP, macro

SPEC = TOP / "Documentation/netlink/specs/rate_feedback.yaml"
PATH = "kmod/rate_feedback/rate_policy.c"
HEADER = "kmod/rate_feedback/rate_netlink.h"
HEAD = """\
// SPDX-License-Identifier: GPL-2.0
/*
 * rate_policy.c - what requests may have
 *
 * Generated from Documentation/netlink/specs/rate_feedback.yaml by `make generate`.
 */

#include "rate_netlink.h"
"""
ADDRESS = 16

Yaml = dict[str, Any]


class Channel:
    """The contract."""

    def __init__(self) -> None:
        raw: Yaml = yaml.safe_load(SPEC.read_text(encoding="utf-8"))
        self.enums = {one["name"]: one for one in raw["definitions"] if one["type"] == "enum"}
        self.sets = {one["name"]: one["attributes"] for one in raw["attribute-sets"]}
        every = {one["name"]: one for one in raw["operations"]["list"]}
        #: What a request may have, by the name of its policy: set of attributes, their names.
        self.requests = {
            "set": ("path", every["set"]["do"]["request"]["attributes"]),
            "key": ("path", every["get"]["do"]["request"]["attributes"]),
            "flow": ("flow", every["flow-get"]["dump"]["request"]["attributes"]),
            "follow": ("follow", [one["name"] for one in self.sets["follow"]]),
        }

    def _kind(self, attribute: Yaml) -> str:
        """The initializer of an attribute's policy."""
        kind, checks = f"NLA_{attribute['type'].upper()}", attribute.get("checks", {})
        if "nested-attributes" in attribute:
            return f"NLA_POLICY_NESTED(rate_{attribute['nested-attributes']}_policy)"
        if "enum" in attribute:
            last = self.enums[attribute["enum"]]["entries"][-1]["name"]
            return f"NLA_POLICY_MAX({kind}, {macro('rate-feedback', attribute['enum'], last)})"
        if attribute.get("display-hint") == "ipv6":
            return f"{{ .type = {kind}, .len = {ADDRESS} }}"
        if len(checks) == 1:
            ((side, bound),) = checks.items()
            if isinstance(bound, int):
                return f"NLA_POLICY_{side.upper()}({kind}, {bound})"
        return f"{{ .type = {kind} }}"

    def _declaration(self, name: str) -> str:
        group, names = self.requests[name]
        last = [one["name"] for one in self.sets[group] if one["name"] in names][-1]
        bound = macro("rate-feedback-a", group, last)
        return f"const struct nla_policy\nrate_{name}_policy[{bound} + 1]"

    def policy(self, name: str) -> str:
        """The array."""
        group, names = self.requests[name]
        lines = [f"\n{self._declaration(name)} = {{"]
        for one in self.sets[group]:
            if one["name"] not in names:
                continue
            place = f"\t[{macro('rate-feedback-a', group, one['name'])}] ="
            whole = f"{place} {self._kind(one)},"
            fits = len(whole.expandtabs(8)) <= 80
            lines += [whole] if fits else [place, f"\t\t{self._kind(one)},"]
        return "\n".join([*lines, "};"]) + "\n"

    def declarations(self) -> str:
        """All of them, for the header."""
        return "".join(f"extern {self._declaration(name)};\n" for name in self.requests)


def render() -> str:
    """The file."""
    channel = Channel()
    return HEAD + "".join(channel.policy(name) for name in ("follow", "key", "set", "flow"))


def parts() -> dict[str, dict[str, str]]:
    """Parts of others."""
    return {HEADER: {"policies": Channel().declarations()}}
