# SPDX-License-Identifier: GPL-2.0
"""Studies: many runs, their table, and checks."""
