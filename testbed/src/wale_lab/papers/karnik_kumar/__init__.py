# SPDX-License-Identifier: GPL-2.0
"""Karnik and Kumar (2005): Rate Adaptive TCP."""
