# SPDX-License-Identifier: GPL-2.0
"""Fuzzing of what the modules hear: the options of sch_wale and the family rate_feedback.

`python -m wale_lab.fuzz` (on the host, __main__.py) starts guest.py in a guest.  What is sent
follows from the seed and the number of the message alone.

    grammar.py   attributes, as the specifications have them
    values.py    trees of attributes, good and damaged
    mutate.py    damage to bytes
    wire.py      many messages at once, and what the kernel answers
    channel.py   messages for rate_feedback, and what must hold
    link.py      messages for sch_wale, and what must hold
    world.py     namespaces, devices, traffic
    tally.py     what was accepted and refused, and what is wrong
"""
