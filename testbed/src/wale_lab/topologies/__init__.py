# SPDX-License-Identifier: GPL-2.0
"""Topologies: what namespaces, links, addresses and qdiscs a scenario needs, as a plan."""
