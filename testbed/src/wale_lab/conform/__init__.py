# SPDX-License-Identifier: GPL-2.0
"""The conformance suite: a link emulator against the promises of its manual.

`wale-lab conform` takes any tc command line (template.py, emulators.yaml), sends packets
through it in a guest (experiments.py, guest.py), judges the results (checks.py) by what the
manual says (promises.yaml), and prints a table (command.py).
"""
