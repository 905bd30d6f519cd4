# SPDX-License-Identifier: GPL-2.0
"""kmod/rate_feedback/rate_policy.c: what requests of the channel may have, from its own contract,
Documentation/netlink/specs/rate_feedback.yaml.

The kernel's generator (ynl-gen-c --mode kernel) writes operations for Linux 6.2 and later beside
policies, and policies refuse a value without saying its range.  So a policy has the ranges that
need no sentence: values that have names, flags, and bounds on one side that are numbers.  Of the
others there are tables, with a sentence for each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import yaml

from module import range_entry
from spec import TOP, duration, macro, millionths

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

#: How the numbers of a range are written, and what stands behind them; the schema of the kernel's
#: contracts has no key for it.  Others are plain.
FORMS: dict[str, tuple[Callable[[int], str], str]] = {
    "age-limit": (duration, ""),
    "lag-time": (duration, ""),
    "base-rtt": (duration, ""),
    "beta": (str, " packets"),
    "swing": (str, " percent"),
    "phi": (millionths, ""),
}

#: What 0 means where it is no quantity.
ZERO = {"swing": " (off)", "base-rtt": " (what is measured)"}

LIMITS = {2147483647: "INT_MAX"}

#: The requests that have attributes with such ranges.
RANGES = ("follow", "key", "set")

Yaml = dict[str, Any]


def _needs_sentence(attribute: Yaml) -> bool:
    """Is the range one that a policy would refuse without saying it?"""
    checks = attribute.get("checks", {})
    return len(checks) > 1 or any(not isinstance(bound, int) for bound in checks.values())


class Channel:
    """The contract."""

    def __init__(self) -> None:
        raw: Yaml = yaml.safe_load(SPEC.read_text(encoding="utf-8"))
        self.enums = {one["name"]: one for one in raw["definitions"] if one["type"] == "enum"}
        self.consts = {
            one["name"]: one["value"] for one in raw["definitions"] if one["type"] == "const"
        }
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
        if checks and not _needs_sentence(attribute):
            ((side, bound),) = checks.items()
            return f"NLA_POLICY_{side.upper()}({kind}, {bound})"
        return f"{{ .type = {kind} }}"

    def _range(self, group: str, attribute: Yaml) -> list[str]:
        """The entry of an attribute in a table of ranges."""
        name, checks = attribute["name"], attribute["checks"]
        bounds = [checks.get("min", 0), checks["max"]]
        in_c = [
            LIMITS.get(bound, str(bound))
            if isinstance(bound, int)
            else macro("rate-feedback", bound)
            for bound in bounds
        ]
        form, unit = FORMS.get(name, (str, ""))
        least, most = (form(self.consts.get(bound, bound)) for bound in bounds)
        sentence = f"{name} must be {least}{ZERO.get(name, '')} to {most}{unit}"
        attr = macro("rate-feedback-a", group, name)
        return range_entry(attr, in_c[0], in_c[1], f"rate_feedback: {sentence}")

    def ranges(self, name: str) -> str:
        """The table of those of a request that a policy does not check."""
        group, names = self.requests[name]
        lines = [f"\nconst struct rate_range rate_{name}_ranges[] = {{"]
        for one in self.sets[group]:
            # what names a path is checked as such
            named = name == "set" and one["name"] in self.requests["key"][1]
            if one["name"] in names and not named and _needs_sentence(one):
                lines += self._range(group, one)
        return "\n".join([*lines, "\t{}", "};"]) + "\n"

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
        policies = [f"extern {self._declaration(name)};\n" for name in self.requests]
        ranges = [f"extern const struct rate_range rate_{name}_ranges[];\n" for name in RANGES]
        return "".join([*policies, *ranges])


def render() -> str:
    """The file."""
    channel = Channel()
    policies = [channel.policy(name) for name in ("follow", "key", "set", "flow")]
    return HEAD + "".join([*policies, *(channel.ranges(name) for name in RANGES)])


def parts() -> dict[str, dict[str, str]]:
    """Parts of others."""
    return {HEADER: {"policies": Channel().declarations()}}
