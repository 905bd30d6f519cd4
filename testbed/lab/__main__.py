# SPDX-License-Identifier: GPL-2.0
"""`python -m lab`: what testbed/wale-lab runs in its environment."""

import sys

from lab.cli import main

sys.exit(main())
