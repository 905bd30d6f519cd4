# SPDX-License-Identifier: GPL-2.0
"""The log of all packets of a run: a table, and a capture."""
