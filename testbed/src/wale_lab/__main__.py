# SPDX-License-Identifier: GPL-2.0
"""`python -m wale_lab`: what testbed/wale-lab runs in its environment, and wale-lab of a wheel."""

import signal
import sys


def main() -> int:
    """The command, from its first import on."""
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # the launcher blocked it
        from wale_lab import cli

        return cli.main()
    except KeyboardInterrupt:
        print("wale-lab: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
