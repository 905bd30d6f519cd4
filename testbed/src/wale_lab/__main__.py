# SPDX-License-Identifier: GPL-2.0
"""`python -m wale_lab`: what testbed/wale-lab runs in its environment."""

import signal
import sys

try:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # the launcher blocked it
    from wale_lab.cli import main

    sys.exit(main())
except KeyboardInterrupt:
    print("wale-lab: interrupted", file=sys.stderr)
    sys.exit(130)
