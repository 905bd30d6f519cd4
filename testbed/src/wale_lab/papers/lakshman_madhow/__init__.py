# SPDX-License-Identifier: GPL-2.0
"""Lakshman and Madhow (1997): high bandwidth-delay products and random loss."""
