# SPDX-License-Identifier: GPL-2.0
"""The testbed: scenarios in, results out."""
