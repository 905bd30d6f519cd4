# SPDX-License-Identifier: GPL-2.0
"""The programs that run inside a guest; standard library only."""
