# SPDX-License-Identifier: GPL-2.0
"""Independent models: what the kernel and the papers say, computed a second time."""
