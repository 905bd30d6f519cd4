# SPDX-License-Identifier: GPL-2.0
"""Tables and plots: read results, run nothing."""
