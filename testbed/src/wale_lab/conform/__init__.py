# SPDX-License-Identifier: GPL-2.0
"""The conformance suite: an emulator of a link against what its manual promises.

`wale-lab conform` takes any tc command line (template.py, emulators.yaml), sends packets
through it in a guest (experiments.py, guest.py), judges what came out (checks.py) by what the
manual says (promises.yaml), and prints a table (command.py).
"""
