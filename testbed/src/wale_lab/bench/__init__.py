# SPDX-License-Identifier: GPL-2.0
"""Benchmarks (`make bench`): what packets, ACKs and paths cost, how exact links are in time."""
