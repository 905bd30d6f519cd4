# SPDX-License-Identifier: GPL-2.0
"""What the selftests share; standard library only, so that it runs in any guest."""

from wale_lab import netlink as netlink
