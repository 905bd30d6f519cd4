# SPDX-License-Identifier: GPL-2.0
"""What runs inside a guest: standard library only."""
