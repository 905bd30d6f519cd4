# SPDX-License-Identifier: GPL-2.0
"""What a run writes: result.json, time series, and the numbers that follow from them."""
