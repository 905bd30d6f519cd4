# SPDX-License-Identifier: GPL-2.0
"""Benchmarks: what an ACK costs a sender, and what a path costs the channel (`make bench`)."""
