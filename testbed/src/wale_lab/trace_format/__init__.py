# SPDX-License-Identifier: GPL-2.0
"""The format of traces of a link (Documentation/units.rst), and how a file becomes text."""
