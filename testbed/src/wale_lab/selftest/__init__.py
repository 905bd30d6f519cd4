# SPDX-License-Identifier: GPL-2.0
"""What the selftests share; standard library only, so that it runs in any guest."""

import sys
from pathlib import Path

# a selftest is started from its own folder
sys.path.append(str(Path(__file__).resolve().parents[2]))

from wale_lab import netlink as netlink
