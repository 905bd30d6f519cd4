# SPDX-License-Identifier: GPL-2.0
"""Fuzzing of the modules' interfaces: the options of sch_wale and the family rate_feedback.

`python -m wale_lab.fuzz` (on the host, __main__.py) starts guest.py in a guest.  A message
depends only on the seed and its number.

    grammar.py   attributes, from the specifications
    values.py    trees of attributes, valid and damaged
    mutate.py    damage to bytes
    wire.py      many messages at once, and the kernel's replies
    channel.py   messages for rate_feedback, and what must hold
    link.py      messages for sch_wale, and what must hold
    world.py     namespaces, devices, traffic
    tally.py     what was accepted and rejected, and failures
"""
