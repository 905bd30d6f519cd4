# SPDX-License-Identifier: GPL-2.0
"""Independent models of the link: what the kernel does, computed a second time."""
