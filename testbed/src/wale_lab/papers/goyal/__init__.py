# SPDX-License-Identifier: GPL-2.0
"""Goyal and others (1998): TCP over ATM-UBR."""
