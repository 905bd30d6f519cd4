# SPDX-License-Identifier: GPL-2.0
"""Altman and others (1995): TCP/IP with random loss."""
