# SPDX-License-Identifier: GPL-2.0
"""The output of a run: result.json, time series, and the numbers derived from them."""
