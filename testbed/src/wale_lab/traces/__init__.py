# SPDX-License-Identifier: GPL-2.0
"""Traces of links: files of other tools, generators, pictures, and the one format of ours."""
