# SPDX-License-Identifier: GPL-2.0
"""A small study, for tests that change it."""

from __future__ import annotations

from wale_lab.engines.base import Kernel
from wale_lab.studies.points import Build

#: Nothing is built for it: points_of() only asks for its digest.
BUILD = Build(Kernel(release="6.12.0", source="linux-source-6.12 6.12.0-1"), "a build")

LINK = """\
name: link
description: A link.
bottleneck:
  forward: {rate: 1mbit, delay: 20ms, limit: 20 packets}
flows:
  - {name: reno, cc: reno, size: 100kB}
  - {name: cubic, cc: cubic, size: 100kB}
virtual_limit: 60s
"""

STUDY = """\
title: A study
source: nobody
order: 1
question: How fast?
x: {label: Rate, unit: Mbit/s, values: [1, 2, 4]}
y: {label: Throughput, unit: kB/s, measure: throughput_kBps}
seeds: 3
published: one.csv
panels:
  - {title: All, rows: [slow, fast]}
runs:
  only:
    scenario: link.yaml
    vary: {bottleneck.forward.rate: "{x}mbit"}
    flow: {size: 50kB}
    rows:
      slow: {label: Slow, cc: reno}
      fast: {label: Fast, cc: cubic}
notes:
  - {rows: [slow], x: [1], text: a reason}
checks:
  - {text: enough, rows: [slow], x: [1, 2], at_least: 1}
  - {text: near, rows: [slow], but: {slow: [4]}, to: analysis, each: 5, quick: null}
quick:
  x: [1]
  rows: [slow]
"""

PUBLISHED = """\
# What somebody found.
row,x,kind,value,note
slow,1,analysis,100,
slow,1,experiment,90,by hand
slow,2,analysis,200,
"""


def changed(*pairs: tuple[str, str], text: str = STUDY) -> str:
    """The study with some of its text replaced."""
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text
